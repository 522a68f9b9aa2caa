/*===- cpu_kernel_abi.h - How the runtime calls a compiled CPU kernel -------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Every export of a SharedObject executable has this signature. One call runs
 * one workgroup (x, y, z) of the grid that the variant's launch values give;
 * workgroups are independent and may run on any thread in any order. A kernel
 * allocates nothing, calls nothing outside its image, and keeps its stack use
 * under 128 KiB; what it needs beyond that comes through `scratch`.
 *
 *===----------------------------------------------------------------------===*/

#ifndef XC_SCHEMAS_CPU_KERNEL_ABI_H
#define XC_SCHEMAS_CPU_KERNEL_ABI_H

#include <stdint.h>

/* bindings: addresses of the dispatch's bindings, in order.
 * scalars: values of the variant's scalars, in order.
 * scratch: Export.scratch bytes, 64-byte aligned, private to this call; NULL where 0. */
typedef void (*xc_cpu_kernel_t)(void *const *bindings, const int64_t *scalars, void *scratch,
                                int64_t x, int64_t y, int64_t z);

#endif /* XC_SCHEMAS_CPU_KERNEL_ABI_H */
