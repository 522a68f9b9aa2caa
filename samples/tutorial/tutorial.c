/*===- tutorial.c - The runtime's C API in a hundred lines ------------------===
 *
 * Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * usage: tutorial tutorial.vmfb [device]
 *
 *===----------------------------------------------------------------------===*/

#include <xcr/xcr.h>

#include <stdio.h>
#include <stdlib.h>

/* A status is NULL, or a message that is ours to release. */
static void check(xcr_status_t status) {
  if (xcr_is_ok(status))
    return;
  xcr_string_view_t message = xcr_status_message(status);
  fprintf(stderr, "tutorial: %.*s\n", (int)message.size, message.data);
  xcr_status_release(status);
  exit(1);
}

static xcr_buffer_t *from_host(xcr_device_t *device, uint32_t rank, const int64_t *shape,
                               const float *values, size_t size) {
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  xcr_buffer_t *buffer;
  options.dtype = XCR_DTYPE_F32;
  options.rank = rank;
  options.shape = shape;
  check(xcr_buffer_create_from_host(device, &options, values, size, &buffer));
  return buffer;
}

/* xcr_invoke: the one-line form. It makes the outputs that are NULL. */
static void add(xcr_instance_t *instance) {
  const int64_t shape[] = {2, 2};
  const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
  float sum[4];
  xcr_buffer_t *inputs[2], *output = NULL;
  xcr_device_t *device = xcr_instance_device(instance);
  inputs[0] = from_host(device, 2, shape, a, sizeof(a));
  inputs[1] = from_host(device, 2, shape, b, sizeof(b));
  check(xcr_invoke(instance, xcr_string("scaled_sum"), 2, inputs, 1, &output));
  check(xcr_buffer_read(output, 0, sum, sizeof(sum)));
  printf("(a + b) / 2 = [[%g, %g], [%g, %g]]\n", sum[0], sum[1], sum[2], sum[3]);
  xcr_buffer_release(inputs[0]);
  xcr_buffer_release(inputs[1]);
  xcr_buffer_release(output);
}

/* xcr_call: buffers are bound once, then launched again and again. Here the
 * call follows the gradient downhill; each launch writes what the next reads.
 */
static void descend(xcr_instance_t *instance) {
  const int64_t shape[] = {3};
  float x[] = {1, -2, 3}, value, gradient[3];
  xcr_call_t *call;
  xcr_buffer_t *input;
  int step, i;
  check(xcr_call_create(instance, xcr_string("square_sum"), NULL, &call));
  input = from_host(xcr_instance_device(instance), 1, shape, x, sizeof(x));
  check(xcr_call_set_input(call, 0, input));
  for (step = 0; step < 3; ++step) {
    check(xcr_call_run(call));
    check(xcr_buffer_read(xcr_call_output(call, 0), 0, &value, sizeof(value)));
    check(xcr_buffer_read(xcr_call_output(call, 1), 0, gradient, sizeof(gradient)));
    printf("f([%g, %g, %g]) = %g, gradient [%g, %g, %g]\n", x[0], x[1], x[2], value, gradient[0],
           gradient[1], gradient[2]);
    for (i = 0; i < 3; ++i)
      x[i] -= 0.25f * gradient[i];
    check(xcr_buffer_write(input, 0, x, sizeof(x)));
  }
  xcr_buffer_release(input);
  xcr_call_release(call);
}

/* Variables belong to the instance and keep their values between calls. */
static void count(xcr_instance_t *instance) {
  int64_t calls;
  int i;
  xcr_buffer_t *output = NULL, *variable;
  for (i = 0; i < 3; ++i)
    check(xcr_invoke(instance, xcr_string("count"), 0, NULL, 1, &output));
  check(xcr_instance_get_variable(instance, xcr_string("calls"), &variable));
  check(xcr_buffer_read(variable, 0, &calls, sizeof(calls)));
  printf("counted %lld calls\n", (long long)calls);
  xcr_buffer_release(output);
}

int main(int argc, char **argv) {
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_t *device;
  xcr_module_t *module;
  xcr_instance_t *instance;
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: tutorial tutorial.vmfb [device]\n");
    return 1;
  }
  check(xcr_device_create(xcr_string(argc > 2 ? argv[2] : "auto"), NULL, &device));
  xcr_device_get_info(device, &info);
  printf("device: %.*s\n", (int)info.description.size, info.description.data);
  check(xcr_module_load_file(xcr_string(argv[1]), NULL, &module));
  check(xcr_instance_create(device, module, NULL, &instance));

  add(instance);
  descend(instance);
  count(instance);

  xcr_instance_release(instance);
  xcr_module_release(module);
  xcr_device_release(device);
  return 0;
}
