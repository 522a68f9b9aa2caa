//===- SymbolsTest.cpp - Loading of the CUDA driver -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_symbols.h"

#include "ptxsim/control.h"

#include "gtest/gtest.h"

#include <dlfcn.h>
#include <string>

namespace xc::cuda {
namespace {

/// Loads the driver stand-in after it was told what to be.
class SymbolsTest : public ::testing::Test {
protected:
  Status open(const char *path) { return openSymbols(HostAllocator(), path, &symbols); }
  Status openStandIn(const char *settings) {
    void *library = dlopen(XC_TEST_CUDA_LIBRARY, RTLD_NOW);
    auto *configure = reinterpret_cast<decltype(&ptxsimConfigure)>(
        library ? dlsym(library, "ptxsimConfigure") : nullptr);
    EXPECT_NE(nullptr, configure) << "cannot open " XC_TEST_CUDA_LIBRARY;
    if (configure) {
      EXPECT_EQ(0, configure(settings));
    }
    return open(XC_TEST_CUDA_LIBRARY);
  }
  static void expectFailure(const Status &status, xcr_status_code_t code, const char *part) {
    std::string message(status.message().data, status.message().size);
    EXPECT_EQ(code, status.code()) << message;
    EXPECT_NE(std::string::npos, message.find(part)) << message;
  }

  Symbols symbols;
};

TEST_F(SymbolsTest, AllSymbolsOfANewDriver) {
  Status status = openStandIn("driver_version=12080");
  ASSERT_TRUE(status.succeeded()) << status.message().data;
  EXPECT_EQ(12080, symbols.driverVersion);
#define XCR_CUDA_SYMBOL(name, symbol, params) EXPECT_NE(nullptr, symbols.name) << #symbol;
#include "cuda_abi/cuda_symbols.inl"
  EXPECT_STREQ("CUDA_ERROR_OUT_OF_MEMORY", symbols.nameOf(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_STREQ("out of memory", symbols.textOf(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_NE(nullptr, symbols.nameOf(static_cast<CUresult>(54321)));
}

TEST_F(SymbolsTest, OptionalSymbolsNeedTheirDriver) {
  Status status = openStandIn("driver_version=12020");
  ASSERT_TRUE(status.succeeded()) << status.message().data;
  EXPECT_EQ(nullptr, symbols.cuGraphAddNode);
  EXPECT_EQ(nullptr, symbols.cuFuncGetParamInfo);
  EXPECT_NE(nullptr, symbols.cuGraphAddKernelNode);
}

TEST_F(SymbolsTest, MissingDriver) {
  expectFailure(open("/nowhere/libcuda.so.1"), XCR_STATUS_NOT_FOUND,
                "XCR_CUDA_LIBRARY names: /nowhere/libcuda.so.1");
}

TEST_F(SymbolsTest, LibraryThatIsNoDriver) {
  expectFailure(open("libm.so.6"), XCR_STATUS_INCOMPATIBLE, "'libm.so.6' is not a CUDA driver");
}

TEST_F(SymbolsTest, OldDriver) {
  expectFailure(openStandIn("driver_version=11080"), XCR_STATUS_INCOMPATIBLE,
                "the CUDA driver is too old: expected CUDA 12.2 or newer, got 11.8");
}

TEST_F(SymbolsTest, NoDevice) {
  expectFailure(openStandIn("devices=0"), XCR_STATUS_NOT_FOUND, "the CUDA driver finds no device");
}

TEST_F(SymbolsTest, DriverThatCannotInitialise) {
  expectFailure(openStandIn("fault=cuInit:1=804"), XCR_STATUS_FAILED_PRECONDITION,
                "cuInit returned CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE");
}

} // namespace
} // namespace xc::cuda
