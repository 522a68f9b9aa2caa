//===- classifier.cpp - Trains a PyTorch module, without Python ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: classifier step.vmfb digits.csv losses.txt checkpoint.safetensors [device] [steps]
//
// A step takes a batch and a learning rate and gives the loss before it; the weights are variables
// with the keys of the PyTorch module's state_dict(), so torch reads the checkpoint that this
// writes at the end. Losses are written one a line.
//
//===----------------------------------------------------------------------===//

#include "../digits.h"

#include <xcr/xcr.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {
constexpr size_t kBatch = 64;
constexpr float kRate = 2e-3f;
using Digits = Images<int64_t>;
} // namespace

/// How many of 100 images are recognised, of those that fill whole batches.
static double accuracy(const xcr::Instance &model, const Digits &images) {
  xcr::Call evaluate = model.call("evaluate");
  size_t right = 0, seen = 0;
  for (; seen + kBatch <= images.labels.size(); seen += kBatch) {
    const Digits batch = takeBatch(images, seen, kBatch);
    evaluate.setInput("images", batch.pixels, {int64_t(kBatch), int64_t(kPixels)});
    evaluate.setInput("labels", batch.labels, {int64_t(kBatch)});
    evaluate.run();
    const std::vector<int64_t> digits = evaluate.output("digits").read<int64_t>();
    for (size_t i = 0; i < kBatch; ++i)
      right += digits[i] == batch.labels[i];
  }
  return 100.0 * double(right) / double(seen);
}

int main(int argc, char **argv) try {
  Digits images;
  if (argc < 5 || !readImages(argv[2], images)) {
    std::fprintf(stderr, "usage: classifier step.vmfb digits.csv losses.txt checkpoint.safetensors "
                         "[device] [steps]\n");
    return 1;
  }
  const int steps = argc > 6 ? std::atoi(argv[6]) : 200;
  xcr::Device device = xcr::Device::open(argc > 5 ? argv[5] : "auto");
  std::printf("device: %s\n", std::string(device.description()).c_str());
  xcr::Instance model = xcr::Instance::create(device, xcr::Module::load(argv[1]));

  std::ofstream losses(argv[3]);
  losses.precision(9);
  xcr::Call step = model.call("train_step");
  step.setInput("rate", std::vector<float>{kRate}, {});
  for (int number = 0; number < steps; ++number) {
    const Digits batch = takeBatch(images, size_t(number) * kBatch, kBatch);
    step.setInput("images", batch.pixels, {int64_t(kBatch), int64_t(kPixels)});
    step.setInput("labels", batch.labels, {int64_t(kBatch)});
    step.run();
    const float loss = step.output("loss").read<float>()[0];
    losses << loss << '\n';
    if (number % 100 == 0 || number == steps - 1)
      std::printf("step %d: loss %.6f\n", number, double(loss));
  }
  std::printf("accuracy: %.1f %%\n", accuracy(model, images));
  model.saveVariables(argv[4]);
  return 0;
} catch (const xcr::Error &error) {
  std::fprintf(stderr, "classifier: %s\n", error.what());
  return 1;
}
