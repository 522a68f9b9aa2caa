//===- generator.cpp - Text from a prompt, in one call ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: generator generator.vmfb prompt [device] [seed] [temperature]
//
// Reads the prompt and takes token after token from the model's distribution, on the device: the
// host waits once. Prints the tokens, which are bytes. Weights are in generator.safetensors beside
// the module.
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
constexpr size_t kPrompt = 16;
} // namespace

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: generator generator.vmfb prompt [device] [seed] [temperature]\n");
    return 1;
  }
  std::string prompt = argv[2];
  prompt.resize(kPrompt, ' ');
  const std::vector<int32_t> bytes(prompt.begin(), prompt.end());
  const int32_t seed = argc > 4 ? std::atoi(argv[4]) : 7;
  const float temperature = argc > 5 ? std::strtof(argv[5], nullptr) : 0.8f;

  xcr::Device device = xcr::Device::open(argc > 3 ? argv[3] : "auto");
  std::printf("device: %s\n", std::string(device.description()).c_str());
  xcr::Instance model = xcr::Instance::create(device, xcr::Module::load(argv[1]));
  xcr::Call generate = model.call("main");
  generate.setInput("prompt", bytes, {int64_t(kPrompt)});
  generate.setInput("seed", std::vector<int32_t>{seed}, {});
  generate.setInput("temperature", std::vector<float>{temperature}, {});
  const auto begin = std::chrono::steady_clock::now();
  generate.run();
  const std::vector<int32_t> tokens = generate.output("tokens").read<int32_t>();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  std::printf("tokens:");
  for (int32_t token : tokens)
    std::printf(" %d", token);
  std::printf("\n%.0f tokens/s\n", double(tokens.size() - kPrompt) / seconds.count());
  return 0;
} catch (const xcr::Error &error) {
  std::fprintf(stderr, "generator: %s\n", error.what());
  return 1;
}
