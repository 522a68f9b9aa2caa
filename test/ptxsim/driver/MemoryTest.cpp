//===- MemoryTest.cpp - Allocation, pools, pinning, copies, fills ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <numeric>

namespace xc {
namespace {

class MemoryTest : public DriverTest {
protected:
  MemoryTest() : DriverTest("memory=64M") {}

  template <typename T> T attribute(CUdeviceptr pointer, CUpointer_attribute which) {
    T value{};
    EXPECT_EQ(CUDA_SUCCESS, cu.cuPointerGetAttribute(&value, which, pointer));
    return value;
  }
  cuuint64_t poolBytes(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    EXPECT_EQ(CUDA_SUCCESS, cu.cuMemPoolGetAttribute(pool, which, &value));
    return value;
  }
};

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, AlignmentIsThePromisedOneAndNoBetter) {
  for (size_t bytes : {1, 100, 5000}) {
    CUdeviceptr pointer = allocate(bytes);
    EXPECT_EQ(0u, pointer % 512);
    EXPECT_NE(0u, pointer % 1024);
  }
}

TEST_F(MemoryTest, FullDeviceIsOutOfMemory) {
  size_t free = 0, total = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(size_t(64) << 20, total);
  EXPECT_EQ(total, free);
  CUdeviceptr first = allocate(size_t(40) << 20), second = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(size_t(24) << 20, free);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc(&second, size_t(25) << 20));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&second, size_t(24) << 20));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFree(second));
  EXPECT_NE(first, second);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemAlloc(&second, 0));
}

TEST_F(MemoryTest, OnlyWhatIsAllocatedCanBeFreed) {
  CUdeviceptr pointer = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&pointer, 1024));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree(pointer + 512));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFree(pointer));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree(pointer));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFree(0));
}

TEST_F(MemoryTest, AddressesAreNotReusedSoon) {
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&first, 1024));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFree(first));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAlloc(&second, 1024));
  EXPECT_NE(first, second);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFree(second));
}

TEST_F(MemoryTest, FreshMemoryHoldsOnes) {
  start("checks=-uninitialised");
  EXPECT_EQ(std::vector<uint32_t>(4, ~0u), read(allocate(16), 4));
}

TEST_F(MemoryTest, CopiesOfWhatNobodyWroteToTheHostAreFound) {
  CUdeviceptr pointer = allocate(64), other = allocate(64);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(pointer, 7, 12));
  EXPECT_EQ(std::vector<uint32_t>(12, 7), read(pointer, 12));
  // A copy on the device takes along what is not there; the host may not have it.
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemcpyDtoD(other, pointer, 64));
  std::vector<uint32_t> values(16);
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cu.cuMemcpyDtoH(values.data(), other, 64));
  EXPECT_NE(std::string::npos, report().find("byte at offset 48 of cuMemAlloc")) << report();
  EXPECT_NE(std::string::npos, report().find("was never written")) << report();
  expectLost = true;
}

TEST_F(MemoryTest, PointerAttributes) {
  CUdeviceptr pointer = allocate(1000);
  CUdeviceptr inside = pointer + 100;
  EXPECT_EQ(unsigned(CU_MEMORYTYPE_DEVICE),
            attribute<unsigned>(inside, CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
  EXPECT_EQ(context, attribute<CUcontext>(inside, CU_POINTER_ATTRIBUTE_CONTEXT));
  EXPECT_EQ(0, attribute<int>(inside, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
  EXPECT_EQ(pointer, attribute<CUdeviceptr>(inside, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR));
  EXPECT_EQ(1000u, attribute<size_t>(inside, CU_POINTER_ATTRIBUTE_RANGE_SIZE));
  unsigned type = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer + 1000));
  int onTheStack = 0;
  auto host = reinterpret_cast<uintptr_t>(&onTheStack);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host));
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void *values[] = {&type};
  EXPECT_EQ(CUDA_SUCCESS, cu.cuPointerGetAttributes(1, names, values, host));
  EXPECT_EQ(0u, type);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetAddressRange(&base, &bytes, inside));
  EXPECT_EQ(pointer, base);
  EXPECT_EQ(1000u, bytes);
}

//===----------------------------------------------------------------------===//
// Pinned memory
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, PinnedMemory) {
  void *pinned = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_PORTABLE));
  auto address = reinterpret_cast<uintptr_t>(pinned);
  EXPECT_EQ(unsigned(CU_MEMORYTYPE_HOST),
            attribute<unsigned>(address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
  CUdeviceptr mapped = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemHostGetDevicePointer(&mapped, pinned, 0));
  unsigned flags = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemHostGetFlags(&flags, pinned));
  EXPECT_EQ(unsigned(CU_MEMHOSTALLOC_PORTABLE), flags);
  PtxsimLive live;
  cu.getLive(&live);
  EXPECT_EQ(1u, live.hostAllocations);
  EXPECT_EQ(64u, live.hostBytes);
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu.cuMemHostUnregister(pinned));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFreeHost(pinned));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeHost(pinned));
}

TEST_F(MemoryTest, RegisteredMemory) {
  std::vector<uint32_t> host(64);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemHostRegister(host.data(), 256, 0));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cu.cuMemHostRegister(host.data() + 1, 4, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeHost(host.data()));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemHostUnregister(host.data()));
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, CopiesInEveryDirection) {
  std::vector<uint32_t> values(100), back(100);
  std::iota(values.begin(), values.end(), 5);
  CUdeviceptr first = allocate(400), second = allocate(400);
  write(first, values);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpyDtoD(second, first, 400));
  EXPECT_EQ(values, read(second, 100));
  // Unified: the directions follow from the pointers.
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemsetD8(first, 0, 400));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpy(first, reinterpret_cast<uintptr_t>(values.data()), 400));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpy(reinterpret_cast<uintptr_t>(back.data()), first, 400));
  EXPECT_EQ(values, back);
}

TEST_F(MemoryTest, CopiesOutsideAllocationsAreRefused) {
  CUdeviceptr pointer = allocate(16);
  char host[32] = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD(pointer, host, 17));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH(host, pointer + 8, 9));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuMemcpyHtoD(reinterpret_cast<uintptr_t>(host), host + 16, 4))
      << "a host pointer is no device pointer";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32(pointer, 0, 5));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32(pointer + 2, 0, 1)) << "a misaligned fill";
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpyHtoD(pointer, host, 0));
}

TEST_F(MemoryTest, FillsOfEveryWidth) {
  CUdeviceptr pointer = allocate(16);
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemsetD8(pointer, 0xAB, 16));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemsetD16(pointer + 4, 0x1234, 3));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemsetD32(pointer + 12, 0xDEADBEEF, 1));
  EXPECT_EQ((std::vector<uint32_t>{0xABABABAB, 0x12341234, 0xABAB1234, 0xDEADBEEF}),
            read(pointer, 4));
}

TEST_F(MemoryTest, TwoAndThreeDimensionalCopies) {
  std::vector<uint32_t> source(4 * 6 * 2), back(4 * 6 * 2, 0);
  std::iota(source.begin(), source.end(), 0);
  CUdeviceptr pointer = allocate(512);
  CUDA_MEMCPY2D flat = {};
  flat.srcMemoryType = CU_MEMORYTYPE_HOST;
  flat.srcHost = source.data();
  flat.srcPitch = 24;
  flat.srcXInBytes = 4;
  flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.dstDevice = pointer;
  flat.dstPitch = 64;
  flat.WidthInBytes = 16;
  flat.Height = 3;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpy2DAsync(&flat, nullptr));
  EXPECT_EQ((std::vector<uint32_t>{13, 14, 15, 16}), read(pointer + 128, 4));
  CUDA_MEMCPY3D solid = {};
  solid.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  solid.srcDevice = pointer;
  solid.srcPitch = 64;
  solid.srcHeight = 3;
  solid.dstMemoryType = CU_MEMORYTYPE_HOST;
  solid.dstHost = back.data();
  solid.dstPitch = 24;
  solid.dstHeight = 4;
  solid.dstY = 1;
  solid.WidthInBytes = 16;
  solid.Height = 3;
  solid.Depth = 1;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemcpy3DAsync(&solid, nullptr));
  EXPECT_EQ(7u, back[6 * 2]);
  EXPECT_EQ(0u, back[0]);
  solid.srcPitch = 8;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpy3DAsync(&solid, nullptr));
  solid.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cu.cuMemcpy3DAsync(&solid, nullptr));
}

TEST_F(MemoryTest, PageableSourceIsReadByTheCall) {
  CUstream stream = createStream();
  CUdeviceptr pointer = allocate(16);
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(stream, Gate::waitFor, &gate));
  std::vector<uint32_t> values = {1, 2, 3, 4};
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemcpyHtoDAsync(pointer, values.data(), 16, stream));
  values.assign(4, 0);
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
  EXPECT_EQ((std::vector<uint32_t>{1, 2, 3, 4}), read(pointer, 4));
}

TEST_F(MemoryTest, PinnedSourceIsReadByTheOperation) {
  CUstream stream = createStream();
  CUdeviceptr pointer = allocate(16);
  std::vector<uint32_t> values = {1, 2, 3, 4};
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemHostRegister(values.data(), 16, 0));
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(stream, Gate::waitFor, &gate));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemcpyHtoDAsync(pointer, values.data(), 16, stream));
  values[0] = 9;
  gate.open = true;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
  EXPECT_EQ((std::vector<uint32_t>{9, 2, 3, 4}), read(pointer, 4));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemHostUnregister(values.data()));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, StreamOrderedMemory) {
  CUstream stream = createStream();
  CUdeviceptr pointer = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&pointer, 16, stream));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(pointer, 3, 4, stream));
  CUdeviceptr result = allocate(16);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemcpyDtoDAsync(result, pointer, 16, stream));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFreeAsync(pointer, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeAsync(pointer, stream));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuStreamSynchronize(stream));
  EXPECT_EQ(std::vector<uint32_t>(4, 3), read(result, 4));
}

TEST_F(MemoryTest, UseBeforeStreamOrderedAllocationIsFound) {
  CUstream first = createStream(), second = createStream();
  Gate &gate = createGate();
  ASSERT_EQ(CUDA_SUCCESS, cu.cuLaunchHostFunc(first, Gate::waitFor, &gate));
  CUdeviceptr pointer = 0;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&pointer, 16, first));
  // Nothing orders the second stream after the allocation.
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemsetD32Async(pointer, 3, 4, second));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamSynchronize(second));
  EXPECT_NE(std::string::npos, report().find("fill of 16 bytes")) << report();
  gate.open = true;
  expectLost = true;
  cu.cuMemFree(pointer);
}

TEST_F(MemoryTest, PoolKeepsMemoryUpToItsThreshold) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuDeviceGetDefaultMemPool(&pool, 0));
  CUdeviceptr pointer = 0;
  const size_t bytes = size_t(4) << 20;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&pointer, bytes, nullptr));
  EXPECT_EQ(bytes, poolBytes(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFreeAsync(pointer, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  EXPECT_EQ(0u, poolBytes(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT))
      << "the default threshold is zero";
  cuuint64_t threshold = ~cuuint64_t(0);
  ASSERT_EQ(CUDA_SUCCESS,
            cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemAllocAsync(&pointer, bytes, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemFreeAsync(pointer, nullptr));
  ASSERT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  EXPECT_EQ(bytes, poolBytes(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_EQ(0u, poolBytes(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_EQ(bytes, poolBytes(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
  size_t free = 0, total = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(total - bytes, free);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemPoolTrimTo(pool, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, free);
}

TEST_F(MemoryTest, PoolsOfTheProgram) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.maxSize = size_t(8) << 20;
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cu.cuMemPoolCreate(&pool, &properties));
  CUdeviceptr first = 0, second = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemAllocFromPoolAsync(&first, size_t(6) << 20, pool, nullptr));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY,
            cu.cuMemAllocFromPoolAsync(&second, size_t(3) << 20, pool, nullptr));
  EXPECT_EQ(pool, attribute<CUmemoryPool>(first, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceSetMemPool(0, pool));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemPoolDestroy(pool));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemPoolDestroy(pool));
  CUmemoryPool current = nullptr, standard = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetMemPool(&current, 0));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuDeviceGetDefaultMemPool(&standard, 0));
  EXPECT_EQ(standard, current);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cu.cuMemPoolDestroy(standard));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemFreeAsync(first, nullptr));
  EXPECT_EQ(CUDA_SUCCESS, cu.cuCtxSynchronize());
  size_t free = 0, total = 0;
  EXPECT_EQ(CUDA_SUCCESS, cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, free) << "the last allocation takes its pool with it";
}

} // namespace
} // namespace xc
