//===- digits.cpp - Trains and runs a classifier of handwritten digits ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: digits digits.vmfb digits.csv [--device=auto] [--seed=1] [--epochs=30]
//               [--print-steps]
//
// Every third image is held out; the others train the network that the module
// holds. The weights are variables of the instance, so the same instance
// classifies what was held out. Given one seed, every run does the same.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {
constexpr int64_t kPixels = 64, kHidden = 128, kClasses = 10, kBatch = 64;
constexpr float kFirstRate = 0.1f;

struct Options {
  std::string module, data, device = "auto";
  uint64_t seed = 1;
  int epochs = 30;
  bool printSteps = false;
};

struct Images {
  std::vector<uint8_t> pixels; // kPixels for each image, 0 to 16
  std::vector<int32_t> labels;
  size_t size() const { return labels.size(); }
};

/// SplitMix64: small, and the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Uniform in [-limit, limit).
  float uniform(double limit) { return float(limit * (2 * (double(next() >> 11) * 0x1p-53) - 1)); }

private:
  uint64_t state;
};

/// What one run needs of the runtime. The process ends with the run, so only
/// the error paths leave objects behind.
struct Session {
  xcr_device_t *device = nullptr;
  xcr_module_t *module = nullptr;
  xcr_instance_t *instance = nullptr;
};
} // namespace

/// Ends the program with the library's message when something failed.
static void check(xcr_status_t status) {
  if (xcr_is_ok(status))
    return;
  xcr_string_view_t message = xcr_status_message(status);
  fprintf(stderr, "digits: %.*s\n", int(message.size), message.data);
  xcr_status_release(status);
  exit(1);
}

[[noreturn]] static void fail(const std::string &message) {
  fprintf(stderr, "digits: %s\n", message.c_str());
  exit(1);
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--device")
      options.device = value;
    else if (name == "--seed")
      options.seed = strtoull(value.c_str(), nullptr, 10);
    else if (name == "--epochs")
      options.epochs = atoi(value.c_str());
    else if (name == "--print-steps")
      options.printSteps = true;
    else if (name.compare(0, 2, "--") == 0)
      fail("unknown option '" + name + "'; known are --device, --seed, --epochs, --print-steps");
    else
      files.push_back(argument);
  }
  if (files.size() != 2 || options.epochs < 1)
    fail("usage: digits digits.vmfb digits.csv [--device=auto] [--seed=1] "
         "[--epochs=30] [--print-steps]");
  options.module = files[0];
  options.data = files[1];
  return options;
}

/// Reads the images and deals every third one to |heldOut|.
static void readImages(const std::string &path, Images &training, Images &heldOut) {
  FILE *file = fopen(path.c_str(), "r");
  if (!file)
    fail("cannot open '" + path + "'");
  size_t row = 0;
  for (char line[512]; fgets(line, sizeof(line), file); ++row) {
    Images &images = row % 3 == 0 ? heldOut : training;
    char *at = line;
    for (int64_t i = 0; i <= kPixels; ++i) {
      char *end;
      long number = strtol(at, &end, 10);
      if (end == at || number < 0 || number > 16)
        fail("'" + path + "', line " + std::to_string(row + 1) +
             ": expected 65 numbers from 0 to 16");
      if (i < kPixels)
        images.pixels.push_back(uint8_t(number));
      else
        images.labels.push_back(int32_t(number));
      at = *end == ',' ? end + 1 : end;
    }
  }
  fclose(file);
  if (training.size() == 0)
    fail("'" + path + "' holds no images");
}

static xcr_buffer_options_t describe(xcr_dtype_t dtype, const std::vector<int64_t> &shape) {
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = dtype;
  options.rank = uint32_t(shape.size());
  options.shape = shape.data();
  return options;
}

static xcr_buffer_t *makeBuffer(const Session &session, xcr_dtype_t dtype,
                                const std::vector<int64_t> &shape) {
  xcr_buffer_options_t options = describe(dtype, shape);
  xcr_buffer_t *buffer;
  check(xcr_buffer_create(session.device, &options, &buffer));
  return buffer;
}

/// The first |count| rows of |buffer|.
static xcr_buffer_t *viewRows(xcr_buffer_t *buffer, xcr_dtype_t dtype, std::vector<int64_t> shape,
                              size_t count) {
  shape[0] = int64_t(count);
  xcr_buffer_options_t options = describe(dtype, shape);
  xcr_buffer_t *view;
  check(xcr_buffer_view(buffer, &options, 0, &view));
  return view;
}

/// Uniform weights whose variance keeps the activations' (He et al., 2015).
static void initialise(const Session &session, const char *name, int64_t inputs, int64_t outputs,
                       Random &random) {
  std::vector<float> weights(size_t(inputs * outputs));
  double limit = std::sqrt(6.0 / double(inputs));
  for (float &weight : weights)
    weight = random.uniform(limit);
  xcr_buffer_t *variable;
  check(xcr_instance_get_variable(session.instance, xcr_string(name), &variable));
  check(xcr_buffer_write(variable, 0, weights.data(), weights.size() * sizeof(float)));
}

static void train(const Session &session, const Images &images, const Options &options) {
  Random random(options.seed);
  initialise(session, "w1", kPixels, kHidden, random);
  initialise(session, "w2", kHidden, kClasses, random);

  xcr_call_t *step;
  check(xcr_call_create(session.instance, xcr_string("train_step"), nullptr, &step));
  xcr_buffer_t *pixels = makeBuffer(session, XCR_DTYPE_U8, {kBatch, kPixels});
  xcr_buffer_t *labels = makeBuffer(session, XCR_DTYPE_I32, {kBatch});
  xcr_buffer_t *rate = makeBuffer(session, XCR_DTYPE_F32, {});
  xcr_buffer_t *loss = makeBuffer(session, XCR_DTYPE_F32, {});
  check(xcr_call_set_input(step, 2, rate));
  check(xcr_call_set_output(step, 0, loss));

  std::vector<size_t> order(images.size());
  std::iota(order.begin(), order.end(), 0);
  size_t steps = (images.size() + kBatch - 1) / kBatch;
  std::vector<uint8_t> batchPixels;
  std::vector<int32_t> batchLabels;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.next() % i]);
    double total = 0;
    for (size_t s = 0; s < steps; ++s) {
      batchPixels.clear();
      batchLabels.clear();
      size_t end = std::min(images.size(), (s + 1) * kBatch);
      for (size_t i = s * kBatch; i < end; ++i) {
        auto image = images.pixels.begin() + std::ptrdiff_t(order[i] * kPixels);
        batchPixels.insert(batchPixels.end(), image, image + kPixels);
        batchLabels.push_back(images.labels[order[i]]);
      }
      // The rate falls to zero along a line.
      size_t done = size_t(epoch) * steps + s;
      float rateNow = kFirstRate * (1 - float(done) / float(options.epochs * steps));
      check(xcr_buffer_write(pixels, 0, batchPixels.data(), batchPixels.size()));
      check(xcr_buffer_write(labels, 0, batchLabels.data(), batchLabels.size() * sizeof(int32_t)));
      check(xcr_buffer_write(rate, 0, &rateNow, sizeof(rateNow)));
      xcr_buffer_t *pixelRows =
          viewRows(pixels, XCR_DTYPE_U8, {kBatch, kPixels}, batchLabels.size());
      xcr_buffer_t *labelRows = viewRows(labels, XCR_DTYPE_I32, {kBatch}, batchLabels.size());
      check(xcr_call_set_input(step, 0, pixelRows));
      check(xcr_call_set_input(step, 1, labelRows));
      check(xcr_call_run(step));
      float lossNow;
      check(xcr_buffer_read(loss, 0, &lossNow, sizeof(lossNow)));
      xcr_buffer_release(pixelRows);
      xcr_buffer_release(labelRows);
      if (options.printSteps)
        printf("step %zu: loss %.9g\n", done + 1, lossNow);
      total += lossNow;
    }
    if (epoch == 0 || (epoch + 1) % 5 == 0 || epoch + 1 == options.epochs)
      printf("epoch %2d: loss %.4f\n", epoch + 1, total / double(steps));
  }
  xcr_buffer_release(pixels);
  xcr_buffer_release(labels);
  xcr_buffer_release(rate);
  xcr_buffer_release(loss);
  xcr_call_release(step);
}

/// The share of |images| that are recognised.
static double classify(const Session &session, const Images &images) {
  xcr_buffer_options_t options = describe(XCR_DTYPE_U8, {});
  int64_t shape[] = {int64_t(images.size()), kPixels};
  options.rank = 2;
  options.shape = shape;
  xcr_buffer_t *input, *output = nullptr;
  check(xcr_buffer_create_from_host(session.device, &options, images.pixels.data(),
                                    images.pixels.size(), &input));
  check(xcr_invoke(session.instance, xcr_string("classify"), 1, &input, 1, &output));
  std::vector<int32_t> digits(images.size());
  check(xcr_buffer_read(output, 0, digits.data(), digits.size() * sizeof(int32_t)));
  size_t right = 0;
  for (size_t i = 0; i < images.size(); ++i)
    right += digits[i] == images.labels[i];
  xcr_buffer_release(input);
  xcr_buffer_release(output);
  return double(right) / double(images.size());
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  Images training, heldOut;
  readImages(options.data, training, heldOut);

  Session session;
  check(xcr_device_create(xcr_string(options.device.c_str()), nullptr, &session.device));
  xcr_device_info_t info = XCR_DEVICE_INFO_INIT;
  xcr_device_get_info(session.device, &info);
  printf("device: %.*s\n", int(info.description.size), info.description.data);
  check(xcr_module_load_file(xcr_string(options.module.c_str()), nullptr, &session.module));
  check(xcr_instance_create(session.device, session.module, nullptr, &session.instance));

  printf("training on %zu images, %zu are held out\n", training.size(), heldOut.size());
  train(session, training, options);
  printf("accuracy: %.1f %%\n", 100 * classify(session, heldOut));

  xcr_instance_release(session.instance);
  xcr_module_release(session.module);
  xcr_device_release(session.device);
  return 0;
}
