//===- checkpoints.cpp - State that outlives the process ---------------------- ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: checkpoints embedding.vmfb device checkpoint.safetensors
//
//===----------------------------------------------------------------------===//

#include <xcr/xcr.hpp>

#include <cstdio>

static void observe(const xcr::Instance &model, float value) {
  xcr::Call call = model.call("observe");
  call.setInput("x", std::vector<float>(8, value), {2, 4});
  call.run();
  std::printf("mean %g\n", call.output("mean").read<float>()[0]);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 1;
  const char *checkpoint = argv[3];
  {
    xcr::Instance model = xcr::Instance::load(argv[1], argv[2]);
    observe(model, 1);
    observe(model, 3);
    model.saveVariables(checkpoint);
    observe(model, 1000); // what no checkpoint has seen is lost
  }
  // As after a restart: variables begin with their initial values, then get those of the file.
  xcr::Instance model = xcr::Instance::load(argv[1], argv[2]);
  model.restoreVariables(checkpoint);
  observe(model, 5);
  // A variable is a buffer: read it, write it.
  model.variable("count").write(std::vector<float>{0});
  model.variable("sum").write(std::vector<float>(4, 0));
  observe(model, 7);
}
