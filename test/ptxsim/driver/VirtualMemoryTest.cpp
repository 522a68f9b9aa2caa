//===- VirtualMemoryTest.cpp - Reserved addresses and mappings ------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

namespace xc {
namespace {

class VirtualMemoryTest : public DriverTest {
protected:
  static constexpr size_t kGranule = size_t(2) << 20;

  VirtualMemoryTest() : DriverTest("memory=64M") {
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access_.location = properties_.location;
    access_.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }

  CUmemGenericAllocationHandle create(size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuMemCreate(&handle, bytes, &properties_, 0));
    return handle;
  }
  CUdeviceptr reserve(size_t bytes) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAddressReserve(&pointer, bytes, 0, 0, 0));
    return pointer;
  }

  CUmemAllocationProp properties_ = {};
  CUmemAccessDesc access_ = {};
};

TEST_F(VirtualMemoryTest, GrowsInPlace) {
  size_t granularity = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemGetAllocationGranularity(&granularity, &properties_,
                                                           CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  ASSERT_EQ(kGranule, granularity);
  CUdeviceptr base = reserve(4 * kGranule);
  EXPECT_EQ(0u, base % kGranule);
  CUmemGenericAllocationHandle first = create(kGranule), second = create(kGranule);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemMap(base, kGranule, 0, first, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32(base, 1, 1))
      << "mapped, but access was not granted";
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemSetAccess(base, kGranule, &access_, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(base, 1, kGranule / 4));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemMap(base + kGranule, kGranule, 0, second, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemSetAccess(base + kGranule, kGranule, &access_, 1));
  // One fill across the seam of the two mappings.
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(base + kGranule - 4, 2, 2));
  EXPECT_EQ((std::vector<uint32_t>{1, 2, 2}), read(base + kGranule - 8, 3));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD8(base + 2 * kGranule, 0, 1))
      << "reserved, not mapped";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressFree(base, 4 * kGranule)) << "still mapped";
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemUnmap(base, 2 * kGranule));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemRelease(first));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemRelease(second));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressFree(base, kGranule));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAddressFree(base, 4 * kGranule));
}

TEST_F(VirtualMemoryTest, ContentsBelongToThePhysicalMemory) {
  CUdeviceptr base = reserve(2 * kGranule);
  CUmemGenericAllocationHandle handle = create(kGranule);
  for (CUdeviceptr place : {base, base + kGranule}) {
    ASSERT_EQ(CUDA_SUCCESS, cu.cuMemMap(place, kGranule, 0, handle, 0));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuMemSetAccess(place, kGranule, &access_, 1));
    if (place == base) {
      ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(place, 42, 4));
    }
    EXPECT_EQ(std::vector<uint32_t>(4, 42), read(place, 4));
    ASSERT_EQ(CUDA_SUCCESS, cu.cuMemUnmap(place, kGranule));
  }
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAddressFree(base, 2 * kGranule));
}

TEST_F(VirtualMemoryTest, MemoryLivesUntilItsLastMapping) {
  CUdeviceptr base = reserve(kGranule);
  CUmemGenericAllocationHandle handle = create(kGranule);
  size_t free = 0, total = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemMap(base, kGranule, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_ALREADY_MAPPED, cu.cuMemMap(base, kGranule, 0, handle, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemRelease(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemRelease(handle));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(total - kGranule, free);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemUnmap(base, kGranule));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, free);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAddressFree(base, kGranule));
}

TEST_F(VirtualMemoryTest, SizesMustBeGranules) {
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressReserve(&base, kGranule + 4096, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemCreate(&handle, 4096, &properties_, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemCreate(&handle, size_t(128) << 20, &properties_, 0));
  base = reserve(kGranule);
  handle = create(2 * kGranule);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(base, 2 * kGranule, 0, handle, 0))
      << "runs past the reservation";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemUnmap(base, kGranule));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemSetAccess(base, kGranule, &access_, 1));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAddressFree(base, kGranule));
}

TEST_F(VirtualMemoryTest, KernelsUseMappedMemoryOnly) {
  CUfunction add = kernel("add");
  CUdeviceptr base = reserve(2 * kGranule);
  CUmemGenericAllocationHandle handle = create(kGranule);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemMap(base, kGranule, 0, handle, 0));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemSetAccess(base, kGranule, &access_, 1));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(base, 1, 32));
  ASSERT_EQ(CUDA_SUCCESS, launch(add, 32, nullptr, base, 2u));
  EXPECT_EQ(std::vector<uint32_t>(32, 3), read(base, 32));
  ASSERT_EQ(CUDA_SUCCESS, launch(add, 32, nullptr, base + kGranule, 2u));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
  expectLost = true;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemUnmap(base, kGranule));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAddressFree(base, 2 * kGranule));
}

} // namespace
} // namespace xc
