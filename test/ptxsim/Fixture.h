//===- Fixture.h - Running PTX in tests -------------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_FIXTURE_H
#define XC_TEST_PTXSIM_FIXTURE_H

#include "ptxsim/ptxsim.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace xc::ptxsim {

/// A kernel's parameter buffer.
class Params {
public:
  template <typename T> Params &add(T value) {
    size_t offset = (bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes.resize(offset + sizeof(T));
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
    return *this;
  }
  template <typename T> Params &add(const std::vector<T> &buffer) {
    return add(reinterpret_cast<uint64_t>(buffer.data()));
  }
  std::vector<uint8_t> bytes;
};

class PtxTest : public testing::Test {
protected:
  PtxTest() { reset(Options()); }

  void reset(Options options) {
    module.reset();
    simulator = std::make_unique<Simulator>(options);
  }

  /// Loads PTX with the module's head in front of |body|.
  void load(const std::string &body, const char *target = "sm_80") {
    ParseError error;
    module = tryLoad(head(target) + body, error);
    ASSERT_NE(module, nullptr) << error.str();
  }

  /// The number of lines that head() puts in front: reports count from the module's start.
  static constexpr unsigned kHeadLines = 3;
  static std::string head(const char *target) {
    return std::string(".version 8.0\n.target ") + target + "\n.address_size 64\n";
  }

  std::unique_ptr<Module> tryLoad(const std::string &text, ParseError &error) {
    return simulator->load(text.data(), text.size(), error);
  }

  /// Makes the elements of |buffer| device memory.
  template <typename T> void map(std::vector<T> &buffer, bool initialised = true) {
    simulator->memory().registerRange(reinterpret_cast<uint64_t>(buffer.data()),
                                      buffer.size() * sizeof(T), "buffer", initialised);
  }
  template <typename T> void unmap(std::vector<T> &buffer) {
    simulator->memory().unregisterRange(reinterpret_cast<uint64_t>(buffer.data()));
  }

  LaunchResult launch(const Params &params, Dim3 grid, Dim3 block, uint32_t dynamicShared = 0,
                      const char *name = "k") {
    const Kernel *kernel = module ? module->findKernel(name) : nullptr;
    EXPECT_NE(kernel, nullptr);
    LaunchResult result;
    if (!kernel)
      return result;
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.dynamicSharedBytes = dynamicShared;
    config.params = params.bytes.data();
    config.paramBytes = params.bytes.size();
    return simulator->launch(*kernel, config);
  }

  std::unique_ptr<Simulator> simulator;
  std::unique_ptr<Module> module;
};

/// The head of a kernel with one pointer parameter; %o is it, %t the thread, %b the block.
inline std::string kernel(const std::string &body) {
  return ".visible .entry k(.param .u64 p)\n"
         "{ .reg .pred %p<8>; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b64 %rd<16>; .reg .b16 "
         "%h<8>;\n"
         "  .reg .b32 %t, %b; .reg .b64 %o;\n"
         "  ld.param.u64 %o, [p]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n" +
         body + "\n  ret;\n}\n";
}

} // namespace xc::ptxsim

#endif // XC_TEST_PTXSIM_FIXTURE_H
