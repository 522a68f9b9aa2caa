//===- cnn.cpp - Trains with a step that JAX wrote, without Python ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: cnn step.vmfb digits.csv losses.txt checkpoint.safetensors [device] [steps]
//
// Weights, moments and the count of steps are variables of the module, so a step takes a batch and
// gives a loss. Losses are written one a line, and at the end all variables as a checkpoint.
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
using Digits = Images<int32_t>;
} // namespace

int main(int argc, char **argv) try {
  Digits images;
  if (argc < 5 || !readImages(argv[2], images)) {
    std::fprintf(stderr, "usage: cnn step.vmfb digits.csv losses.txt checkpoint.safetensors "
                         "[device] [steps]\n");
    return 1;
  }
  const int steps = argc > 6 ? std::atoi(argv[6]) : 1000;
  xcr::Device device = xcr::Device::open(argc > 5 ? argv[5] : "auto");
  std::printf("device: %s\n", std::string(device.description()).c_str());
  xcr::Instance model = xcr::Instance::create(device, xcr::Module::load(argv[1]));

  std::ofstream losses(argv[3]);
  losses.precision(9);
  xcr::Call step = model.call("main");
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
  model.saveVariables(argv[4]);
  return 0;
} catch (const xcr::Error &error) {
  std::fprintf(stderr, "cnn: %s\n", error.what());
  return 1;
}
