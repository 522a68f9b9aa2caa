//===- logistic_regression.cpp - Trains 100 weights on 10,000 rows --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: logistic_regression logistic_regression.vmfb [device] [iterations]
//
// The rows are random and labelled by hidden weights. They are bound to the
// call once; each iteration then is one launch. A second instance trains in one
// call, whose loop runs on the device.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

static constexpr int64_t kRows = 10000, kFeatures = 100;

/// Ends the program with the library's message when something failed.
static void check(xcr_status_t status) {
  if (xcr_is_ok(status))
    return;
  xcr_string_view_t message = xcr_status_message(status);
  fprintf(stderr, "logistic_regression: %.*s\n", int(message.size), message.data);
  xcr_status_release(status);
  exit(1);
}

static xcr_buffer_t *fromHost(xcr_device_t *device, int64_t columns,
                              const std::vector<float> &values) {
  int64_t shape[] = {kRows, columns};
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 2;
  options.shape = shape;
  xcr_buffer_t *buffer;
  check(xcr_buffer_create_from_host(device, &options, values.data(), values.size() * sizeof(float),
                                    &buffer));
  return buffer;
}

/// Binds x and y to a new call of |function|.
static xcr_call_t *makeCall(xcr_instance_t *instance, const char *function, xcr_buffer_t *x,
                            xcr_buffer_t *y) {
  xcr_call_t *call;
  check(xcr_call_create(instance, xcr_string(function), nullptr, &call));
  check(xcr_call_set_input(call, 0, x));
  check(xcr_call_set_input(call, 1, y));
  return call;
}

static xcr_buffer_t *makeScalar(xcr_device_t *device, int32_t value) {
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_I32;
  xcr_buffer_t *buffer;
  check(xcr_buffer_create_from_host(device, &options, &value, sizeof(value), &buffer));
  return buffer;
}

static float readScalar(xcr_buffer_t *buffer) {
  float value;
  check(xcr_buffer_read(buffer, 0, &value, sizeof(value)));
  return value;
}

/// Trains in one call from the start and prints what comes of it.
static void trainInOneCall(xcr_device_t *device, xcr_module_t *module, xcr_buffer_t *x,
                           xcr_buffer_t *y, long iterations) {
  xcr_instance_t *instance;
  check(xcr_instance_create(device, module, nullptr, &instance));
  xcr_buffer_t *none = makeScalar(device, 0);
  xcr_buffer_t *steps = makeScalar(device, int32_t(iterations));
  xcr_call_t *train = makeCall(instance, "train", x, y);
  xcr_call_t *evaluate = makeCall(instance, "evaluate", x, y);
  // No iteration: the call is recorded.
  check(xcr_call_set_input(train, 2, none));
  check(xcr_call_run(train));
  check(xcr_call_set_input(train, 2, steps));
  auto begin = std::chrono::steady_clock::now();
  check(xcr_call_run(train));
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  check(xcr_call_run(evaluate));
  printf("one call: loss %.5f, %.0f it/s\n", readScalar(xcr_call_output(evaluate, 0)),
         double(iterations) / elapsed.count());
  xcr_call_release(train);
  xcr_call_release(evaluate);
  xcr_buffer_release(none);
  xcr_buffer_release(steps);
  xcr_instance_release(instance);
}

int main(int argc, char **argv) {
  long iterations = argc > 3 ? atol(argv[3]) : 1000;
  if (argc < 2 || argc > 4 || iterations < 1) {
    fprintf(stderr, "usage: logistic_regression logistic_regression.vmfb "
                    "[device] [iterations]\n");
    return 1;
  }
  xcr_device_t *device;
  xcr_module_t *module;
  xcr_instance_t *instance;
  check(xcr_device_create(xcr_string(argc > 2 ? argv[2] : "auto"), nullptr, &device));
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(device, &info);
  printf("device: %.*s\n", int(info.description.size), info.description.data);
  check(xcr_module_load_file(xcr_string(argv[1]), nullptr, &module));
  check(xcr_instance_create(device, module, nullptr, &instance));

  // The generator's numbers are fixed by the standard, the distributions' are
  // not; uniform numbers are made by hand so that every machine trains on the
  // same rows.
  std::mt19937 random(1);
  auto uniform = [&] { return float(double(random()) / 2147483648.0 - 1); };
  std::vector<float> hidden(kFeatures), x(kRows * kFeatures), y(kRows);
  for (float &weight : hidden)
    weight = uniform();
  for (int64_t row = 0; row < kRows; ++row) {
    float score = 0;
    for (int64_t i = 0; i < kFeatures; ++i) {
      x[size_t(row * kFeatures + i)] = uniform();
      score += x[size_t(row * kFeatures + i)] * hidden[size_t(i)];
    }
    y[size_t(row)] = score + uniform() > 0;
  }
  xcr_buffer_t *xBuffer = fromHost(device, kFeatures, x);
  xcr_buffer_t *yBuffer = fromHost(device, 1, y);
  xcr_call_t *step = makeCall(instance, "step", xBuffer, yBuffer);
  xcr_call_t *evaluate = makeCall(instance, "evaluate", xBuffer, yBuffer);
  xcr_stream_t *stream;
  check(xcr_stream_create(device, nullptr, &stream));
  check(xcr_call_prepare(step, stream));

  // Launches are queued; only the end is waited for.
  auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < iterations; ++i)
    check(xcr_call_launch(step, stream));
  check(xcr_stream_synchronize(stream));
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;

  check(xcr_call_run(evaluate));
  printf("loss: %.5f\naccuracy: %.2f %%\n%.0f it/s\n", readScalar(xcr_call_output(evaluate, 0)),
         100 * readScalar(xcr_call_output(evaluate, 1)), double(iterations) / elapsed.count());

  trainInOneCall(device, module, xBuffer, yBuffer, iterations);

  xcr_call_release(step);
  xcr_call_release(evaluate);
  xcr_stream_release(stream);
  xcr_buffer_release(xBuffer);
  xcr_buffer_release(yBuffer);
  xcr_instance_release(instance);
  xcr_module_release(module);
  xcr_device_release(device);
  return 0;
}
