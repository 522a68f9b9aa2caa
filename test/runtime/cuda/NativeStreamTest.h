//===- NativeStreamTest.h - Tests with a stream of the program's ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_RUNTIME_CUDA_NATIVESTREAMTEST_H
#define XC_TEST_RUNTIME_CUDA_NATIVESTREAMTEST_H

#include "runtime/hal/cuda/cuda_symbols.h"
#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

namespace xc::test {

/// A program that made a stream with the driver itself, and plans with ifs and whiles.
class NativeStreamTest : public HalTest {
protected:
  void SetUp() override {
    HalTest::SetUp();
    if (IsSkipped())
      return;
    ASSERT_TRUE(ok(cuda::loadSymbols(HostAllocator(), &cu)));
    ASSERT_EQ(cu->cuDevicePrimaryCtxRetain(&context, cudaOrdinal()), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuCtxPushCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuStreamCreateWithPriority(&native, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    values = upload(iota(256));
    sum = upload(std::vector<float>(256));
    test = allocate(4);
  }
  void TearDown() override {
    if (!native)
      return;
    letGo();
    EXPECT_EQ(cu->cuStreamDestroy(native), CUDA_SUCCESS);
    cu->cuCtxPopCurrent(&context);
    cu->cuDevicePrimaryCtxRelease(cudaOrdinal());
  }
  /// Gives up what uses the stream, before it is destroyed.
  virtual void letGo() = 0;

  const cuda::Symbols *cu = nullptr;
  CUcontext context = nullptr;
  CUstream native = nullptr;
  Ref<hal::Memory> values, sum, test;
};

} // namespace xc::test

#endif // XC_TEST_RUNTIME_CUDA_NATIVESTREAMTEST_H
