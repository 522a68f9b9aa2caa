/*===- user.c - A user's program against an installed runtime ---------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * usage: user MODULE.vmfb; prints the sum of [1, 2, 3] and [10, 20, 30] as the
 * module's function `main` computes it.
 *
 *===----------------------------------------------------------------------===*/

#include <xcr/xcr.h>

#include <stdio.h>

static int check(xcr_status_t status) {
  if (xcr_is_ok(status))
    return 1;
  fprintf(stderr, "user: %s\n", xcr_status_message(status).data);
  xcr_status_release(status);
  return 0;
}

int main(int argc, char **argv) {
  const int64_t shape[] = {3};
  const float a[] = {1, 2, 3}, b[] = {10, 20, 30};
  float sum[3];
  xcr_device_t *device = NULL;
  xcr_module_t *module = NULL;
  xcr_instance_t *instance = NULL;
  xcr_buffer_t *inputs[2] = {NULL, NULL}, *output = NULL;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  int good;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = shape;
  good = argc == 2 && check(xcr_device_create(xcr_string("cpu"), NULL, &device)) &&
         check(xcr_module_load_file(xcr_string(argv[1]), NULL, &module)) &&
         check(xcr_instance_create(device, module, NULL, &instance)) &&
         check(xcr_buffer_create_from_host(device, &options, a, sizeof(a), &inputs[0])) &&
         check(xcr_buffer_create_from_host(device, &options, b, sizeof(b), &inputs[1])) &&
         check(xcr_invoke(instance, xcr_string("main"), 2, inputs, 1, &output)) &&
         check(xcr_buffer_read(output, 0, sum, sizeof(sum)));
  if (good)
    printf("%u: %g %g %g\n", (unsigned)xcr_version(), sum[0], sum[1], sum[2]);
  xcr_buffer_release(inputs[0]);
  xcr_buffer_release(inputs[1]);
  xcr_buffer_release(output);
  xcr_instance_release(instance);
  xcr_module_release(module);
  xcr_device_release(device);
  return good ? 0 : 1;
}
