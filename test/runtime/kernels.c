/*===- kernels.c - Kernels that the tests of the runtime run ----------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Built as a shared object without a C library, as the compiler's own are.
 *
 *===----------------------------------------------------------------------===*/

#include "schemas/cpu_kernel_abi.h"

#define KERNEL(name)                                                                               \
  __attribute__((visibility("default"))) void name(void *const *bindings, const int64_t *scalars,  \
                                                   void *scratch, int64_t x, int64_t y, int64_t z)

enum { TILE = 256 };

/* c = a + b over scalars[0] elements, TILE a workgroup. */
KERNEL(add) {
  const float *a = bindings[0], *b = bindings[1];
  float *c = bindings[2];
  int64_t end = (x + 1) * TILE < scalars[0] ? (x + 1) * TILE : scalars[0];
  for (int64_t i = x * TILE; i < end; ++i)
    c[i] = a[i] + b[i];
}

/* b = a * scalars[1] + scalars[2] over scalars[0] elements. */
KERNEL(scale) {
  const float *a = bindings[0];
  float *b = bindings[1];
  int64_t end = (x + 1) * TILE < scalars[0] ? (x + 1) * TILE : scalars[0];
  for (int64_t i = x * TILE; i < end; ++i)
    b[i] = a[i] * (float)scalars[1] + (float)scalars[2];
}

/* One element for each workgroup of a grid scalars[0] x scalars[1] x any. */
KERNEL(ids) {
  int64_t *out = bindings[0];
  out[(z * scalars[1] + y) * scalars[0] + x] = x + 1000 * y + 1000000 * z;
}

/* a += b; writes in place. */
KERNEL(accumulate) {
  float *a = bindings[0];
  const float *b = bindings[1];
  int64_t end = (x + 1) * TILE < scalars[0] ? (x + 1) * TILE : scalars[0];
  for (int64_t i = x * TILE; i < end; ++i)
    a[i] += b[i];
}

/* Reverses scalars[0] <= 64 floats in each row, by way of the scratch. */
KERNEL(reverse) {
  const float *a = (const float *)bindings[0] + x * scalars[0];
  float *b = (float *)bindings[1] + x * scalars[0];
  float *line = scratch;
  for (int64_t i = 0; i < scalars[0]; ++i)
    line[i] = a[i];
  for (int64_t i = 0; i < scalars[0]; ++i)
    b[i] = line[scalars[0] - 1 - i];
}

/* Copies by way of the workspace, which is the binding behind the others. */
KERNEL(through_workspace) {
  const float *a = bindings[0];
  float *b = bindings[1], *workspace = bindings[2];
  for (int64_t i = 0; i < scalars[0]; ++i)
    workspace[i] = a[i];
  for (int64_t i = 0; i < scalars[0]; ++i)
    b[i] = workspace[i] + 1;
}

/* Which variant ran: out[0] = scalars[0]. */
KERNEL(tell) {
  int64_t *out = bindings[0];
  out[0] = scalars[0];
}

/* Keeps a processor busy for scalars[0] steps, then adds one to out[x]. */
KERNEL(work) {
  int64_t *out = bindings[0];
  volatile int64_t step;
  for (step = 0; step < scalars[0]; ++step)
    ;
  out[x] += 1;
}
