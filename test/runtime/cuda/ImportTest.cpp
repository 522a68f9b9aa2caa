//===- ImportTest.cpp - Contexts, streams and memory of somebody else's ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/buffer.h"
#include "runtime/hal/cuda/cuda_symbols.h"
#include "test/runtime/cuda/CudaKernels.h"
#include "test/runtime/hal/HalTest.h"

using namespace xc;
using namespace xc::test;

namespace {

/// What another library in the process would do with the driver.
class ImportTest : public HalTest {
protected:
  void SetUp() override {
    HalTest::SetUp();
    if (!IsSkipped())
      ASSERT_TRUE(ok(cuda::loadSymbols(HostAllocator(), &cu)));
  }
  /// The device's context, which the C API does not tell.
  void enterPrimaryContext() {
    CUcontext context = nullptr;
    ASSERT_EQ(cu->cuDevicePrimaryCtxRetain(&context, cudaOrdinal()), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuCtxPushCurrent(context), CUDA_SUCCESS);
  }
  void leavePrimaryContext() {
    CUcontext context = nullptr;
    ASSERT_EQ(cu->cuCtxPopCurrent(&context), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuDevicePrimaryCtxRelease(cudaOrdinal()), CUDA_SUCCESS);
  }
  xcr_status_t createStream(void *native, Stream &out) {
    xcr_stream_options_t options = XCR_STREAM_OPTIONS_INIT;
    options.native_stream = native;
    xcr_stream_t *object = nullptr;
    xcr_status_t status = xcr_stream_create(device.get(), &options, &object);
    out.reset(object);
    return status;
  }

  const cuda::Symbols *cu = nullptr;
};

} // namespace
INSTANTIATE_TEST_SUITE_P(Cuda, ImportTest, ::testing::ValuesIn(backends()), backendName);

TEST_P(ImportTest, WorkIsInOrderWithTheStreamsOwner) {
  enterPrimaryContext();
  CUstream native = nullptr;
  ASSERT_EQ(cu->cuStreamCreateWithPriority(&native, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  Ref<hal::Memory> value = upload(std::vector<int64_t>(1)), copy = allocate(8);
  {
    Stream queue;
    XCR_ASSERT_OK(createStream(native, queue));
    TestPlan plan;
    plan.dispatch(code.get(), kWork, {value->address()}, {1000000});
    ASSERT_TRUE(ok(queue->launch(record(plan), 0, hal::LaunchMode::Asynchronous)));
    ASSERT_EQ(cu->cuMemcpyDtoDAsync(copy->address(), value->address(), 8, native), CUDA_SUCCESS);
    ASSERT_EQ(cu->cuStreamSynchronize(native), CUDA_SUCCESS);
  }
  EXPECT_EQ(download<int64_t>(*copy, 1)[0], 1);
  // It is still its owner's.
  EXPECT_EQ(cu->cuStreamQuery(native), CUDA_SUCCESS);
  EXPECT_EQ(cu->cuStreamDestroy(native), CUDA_SUCCESS);
  leavePrimaryContext();
}

TEST_P(ImportTest, DeviceMemoryIsUsedInPlaceAndGivenBack) {
  enterPrimaryContext();
  CUdeviceptr pointer = 0;
  ASSERT_EQ(cu->cuMemAlloc(&pointer, 64), CUDA_SUCCESS);
  int64_t shape = 16;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  options.dtype = XCR_DTYPE_F32;
  options.rank = 1;
  options.shape = &shape;
  bool isReleased = false;
  xcr_buffer_t *object = nullptr;
  XCR_ASSERT_OK(xcr_buffer_wrap(
      device.get(), &options, reinterpret_cast<void *>(pointer), 64,
      [](void *flag) { *static_cast<bool *>(flag) = true; }, &isReleased, &object));
  std::vector<float> data = iota(16);
  XCR_EXPECT_OK(xcr_buffer_write(object, 0, data.data(), 64));
  std::vector<float> seen(16);
  EXPECT_EQ(cu->cuMemcpyDtoHAsync(seen.data(), pointer, 64, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu->cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(seen, data);
  EXPECT_FALSE(isReleased);
  xcr_buffer_release(object);
  EXPECT_TRUE(isReleased);
  // Memory of the host is none of the device.
  XCR_EXPECT_FAILS(
      xcr_buffer_wrap(device.get(), &options, seen.data(), 64, nullptr, nullptr, &object),
      XCR_STATUS_INVALID_ARGUMENT, "expected device memory");
  // Nor is what lies behind the end.
  shape = int64_t(1) << 45;
  XCR_EXPECT_FAILS(xcr_buffer_wrap(device.get(), &options, reinterpret_cast<void *>(pointer),
                                   uint64_t(4) << 45, nullptr, nullptr, &object),
                   XCR_STATUS_INVALID_ARGUMENT, "ends before that");
  EXPECT_EQ(cu->cuMemFree(pointer), CUDA_SUCCESS);
  leavePrimaryContext();
}

TEST_P(ImportTest, MemoryIsAsLongAsItWasAskedFor) {
  if (!standIn())
    GTEST_SKIP() << "other drivers do not say how much was asked for";
  enterPrimaryContext();
  int hasPools = 0;
  ASSERT_EQ(cu->cuDeviceGetAttribute(&hasPools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                     cudaOrdinal()),
            CUDA_SUCCESS);
  Ref<hal::Memory> memory = allocate(100);
  size_t size = 0;
  ASSERT_EQ(cu->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory->address()),
            CUDA_SUCCESS);
  // So that a tool sees an access to the byte behind. Without a pool, blocks are used again.
  EXPECT_EQ(size, hasPools ? 100u : 256u);
  leavePrimaryContext();
}

TEST_P(ImportTest, ADeviceWorksInAContextOfTheCallers) {
  enterPrimaryContext();
  CUcontext context = nullptr;
  ASSERT_EQ(cu->cuCtxGetCurrent(&context), CUDA_SUCCESS);
  xcr_device_options_t options = XCR_DEVICE_OPTIONS_INIT;
  options.native_context = context;
  xcr_device_t *object = nullptr;
  XCR_ASSERT_OK(xcr_device_create(xcr_string(GetParam().uri), &options, &object));
  {
    Device guest(object);
    EXPECT_EQ(read<float>(makeBuffer(guest, iota(10)).get()), iota(10));
  }
  CUcontext after = nullptr;
  EXPECT_EQ(cu->cuCtxGetCurrent(&after), CUDA_SUCCESS);
  EXPECT_EQ(after, context);
  leavePrimaryContext();
  XCR_EXPECT_FAILS(xcr_device_create(xcr_string("cpu"), &options, &object),
                   XCR_STATUS_INVALID_ARGUMENT, "options.native_context");
}

TEST_P(ImportTest, DlpackGoesOutAndIn) {
  Device borrowed(device.get());
  xcr_device_retain(device.get());
  uint64_t before = device->counter.bytesInUse();
  DLManagedTensor *tensor = nullptr;
  uint64_t address = 0;
  {
    Buffer buffer = makeBuffer(borrowed, {3, 4}, iota(12));
    address = buffer->address();
    XCR_ASSERT_OK(xcr_buffer_to_dlpack(buffer.get(), &tensor));
  }
  xcr_buffer_t *object = nullptr;
  XCR_ASSERT_OK(xcr_buffer_from_dlpack(device.get(), tensor, &object));
  Buffer again(object);
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(object, &info);
  EXPECT_EQ(info.address, address);
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.shape[1], 4);
  EXPECT_EQ(info.dtype, XCR_DTYPE_F32);
  EXPECT_EQ(read<float>(object), iota(12));
  again.reset();
  EXPECT_EQ(device->counter.bytesInUse(), before);
}
