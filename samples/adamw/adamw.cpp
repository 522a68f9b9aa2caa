//===- adamw.cpp - Trains with AdamW, stops, and goes on -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: adamw classifier.vmfb digits.csv checkpoint.safetensors [device] [epochs]
//
// Trains for all epochs and saves a checkpoint half-way. Then a second instance goes on from the
// checkpoint, as a program does that was restarted, and gets to the same loss.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace {
constexpr int64_t kPixels = 64, kHidden = 32, kClasses = 10, kBatch = 64;

struct Images {
  std::vector<float> pixels; // kPixels for each image, 0 to 1
  std::vector<int32_t> labels;
  int64_t size() const { return int64_t(labels.size()); }
};
} // namespace

/// Every third image is held out.
static bool readImages(const char *path, Images &training, Images &heldOut) {
  std::ifstream file(path);
  std::string line;
  for (int row = 0; std::getline(file, line); ++row) {
    Images &images = row % 3 == 0 ? heldOut : training;
    std::istringstream numbers(line);
    std::string number;
    for (int64_t i = 0; i <= kPixels && std::getline(numbers, number, ','); ++i)
      if (i < kPixels)
        images.pixels.push_back(std::strtof(number.c_str(), nullptr) / 16);
      else
        images.labels.push_back(int32_t(std::atoi(number.c_str())));
  }
  return training.size() > 0 && int64_t(training.pixels.size()) == training.size() * kPixels;
}

static void initialise(const xcr::Instance &model) {
  std::mt19937 random(1);
  auto fill = [&](const char *name, int64_t inputs, int64_t outputs) {
    const float limit = std::sqrt(6.0f / float(inputs + outputs));
    std::vector<float> weights(size_t(inputs * outputs));
    for (float &weight : weights)
      weight = limit * (float(random() >> 8) * 0x1p-23f - 1);
    model.variable(name).write(weights);
  };
  fill("w1", kPixels, kHidden);
  fill("w2", kHidden, kClasses);
}

/// The mean loss of the last epoch.
static float train(const xcr::Instance &model, const Images &images, int begin, int end) {
  xcr::Call step = model.call("train_step");
  step.setInput("rate", std::vector<float>{0.01f}, {});
  float mean = 0;
  for (int epoch = begin; epoch < end; ++epoch) {
    float sum = 0;
    int steps = 0;
    for (int64_t first = 0; first < images.size(); first += kBatch, ++steps) {
      // The last batch is smaller.
      const int64_t count = std::min(kBatch, images.size() - first);
      step.setInput(
          "images",
          xcr::Span<const float>(&images.pixels[size_t(first * kPixels)], size_t(count * kPixels)),
          {count, kPixels});
      step.setInput("labels",
                    xcr::Span<const int32_t>(&images.labels[size_t(first)], size_t(count)),
                    {count});
      step.run();
      sum += step.output("loss").read<float>()[0];
    }
    mean = sum / float(steps);
    std::printf("epoch %d: loss %.6f\n", epoch + 1, double(mean));
  }
  return mean;
}

/// How many of 100 images are recognised.
static double accuracy(const xcr::Instance &model, const Images &images) {
  xcr::Call classify = model.call("classify");
  classify.setInput("images", images.pixels, {images.size(), kPixels});
  classify.run();
  std::vector<int32_t> digits = classify.output("digits").read<int32_t>();
  int right = 0;
  for (size_t i = 0; i < digits.size(); ++i)
    right += digits[i] == images.labels[i];
  return 100.0 * right / double(digits.size());
}

int main(int argc, char **argv) try {
  Images training, heldOut;
  if (argc < 4 || !readImages(argv[2], training, heldOut)) {
    std::fprintf(stderr, "usage: adamw classifier.vmfb digits.csv checkpoint.safetensors [device] "
                         "[epochs]\n");
    return 1;
  }
  const int epochs = argc > 5 ? std::atoi(argv[5]) : 20;
  xcr::Device device = xcr::Device::open(argc > 4 ? argv[4] : "auto");
  std::printf("device: %s\n", std::string(device.description()).c_str());
  xcr::Module module = xcr::Module::load(argv[1]);

  xcr::Instance first = xcr::Instance::create(device, module);
  initialise(first);
  train(first, training, 0, epochs / 2);
  first.saveVariables(argv[3]);
  const float whole = train(first, training, epochs / 2, epochs);
  std::printf("accuracy: %.1f %%\n", accuracy(first, heldOut));

  xcr::Instance second = xcr::Instance::create(device, module);
  second.restoreVariables(argv[3]);
  const float resumed = train(second, training, epochs / 2, epochs);
  std::printf("resumed: %s loss\n", resumed == whole ? "the same" : "another");
  return resumed == whole ? 0 : 1;
} catch (const xcr::Error &error) {
  std::fprintf(stderr, "adamw: %s\n", error.what());
  return 1;
}
