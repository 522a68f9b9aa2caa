//===- dynamic_batch.cpp - A model for any number of rows ---------------- ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: dynamic_batch embedding.vmfb device
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <xcr/xcr.hpp>

int main(int argc, char **argv) {
  xcr::Call softmax = xcr::Instance::load(argv[1], argv[argc - 1]).call("main");
  for (int64_t batch : {1, 3, 1024}) {
    std::vector<float> x(size_t(batch) * 4, 0.5f);
    softmax.setInput("x", x, {batch, 4});
    softmax.run();
    std::vector<float> y = softmax.output("y").read<float>();
    std::printf("%zu numbers, the last is %g\n", y.size(), y.back());
  }
}
