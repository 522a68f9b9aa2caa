//===- DlpackTest.cpp - Tensors of other libraries on the CPU -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/XcrTest.h"

using namespace xc::test;

/// As dlpack.h has it.
struct DLManagedTensor {
  void *data;
  int32_t deviceType, deviceId, rank;
  uint8_t typeCode, typeBits;
  uint16_t typeLanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
  void *context;
  void (*deleter)(DLManagedTensor *self);
};

namespace {

struct DlpackTest : public ::testing::Test {
  DlpackTest() {
    tensor.data = data;
    tensor.deviceType = 1;
    tensor.rank = 2;
    tensor.typeCode = 2;
    tensor.typeBits = 32;
    tensor.typeLanes = 1;
    tensor.shape = shape;
    tensor.byteOffset = 4;
    tensor.context = this;
    tensor.deleter = [](DLManagedTensor *self) {
      ++static_cast<DlpackTest *>(self->context)->deleted;
    };
  }
  void expectRefused(const char *part) {
    xcr_buffer_t *buffer = nullptr;
    XCR_EXPECT_FAILS(xcr_buffer_from_dlpack(device.get(), &tensor, &buffer),
                     XCR_STATUS_INVALID_ARGUMENT, part);
    EXPECT_EQ(buffer, nullptr);
    EXPECT_EQ(deleted, 0);
  }

  Device device = makeDevice();
  float data[7] = {9, 1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  int deleted = 0;
  DLManagedTensor tensor = {};
};

TEST_F(DlpackTest, TensorsAreUsedInPlaceAndDeletedOnce) {
  xcr_buffer_t *object = nullptr;
  XCR_ASSERT_OK(xcr_buffer_from_dlpack(device.get(), &tensor, &object));
  Buffer buffer(object);
  EXPECT_EQ(read<float>(object), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  float seven = 7;
  XCR_EXPECT_OK(xcr_buffer_write(object, 4, &seven, 4));
  EXPECT_EQ(data[2], 7);
  EXPECT_EQ(deleted, 0);
  buffer.reset();
  EXPECT_EQ(deleted, 1);
}

TEST_F(DlpackTest, StridesAreKept) {
  tensor.strides = strides;
  xcr_buffer_t *object = nullptr;
  XCR_ASSERT_OK(xcr_buffer_from_dlpack(device.get(), &tensor, &object));
  Buffer buffer(object);
  xcr_buffer_info_t info = XCR_BUFFER_INFO_INIT;
  xcr_buffer_get_info(object, &info);
  EXPECT_FALSE(info.is_contiguous);
  EXPECT_EQ(info.strides[0], 1);
  EXPECT_EQ(info.strides[1], 2);
}

TEST_F(DlpackTest, WhatDoesNotFitIsNamed) {
  tensor.deviceType = 2;
  expectRefused("device type 2");
  tensor.deviceType = 1;
  tensor.typeLanes = 4;
  expectRefused("4 lanes");
  tensor.typeLanes = 1;
  tensor.typeBits = 24;
  expectRefused("24 bits");
  tensor.typeBits = 32;
  tensor.rank = -1;
  expectRefused("got -1");
  tensor.rank = 2;
  tensor.data = nullptr;
  expectRefused("data");
}

TEST_F(DlpackTest, ATensorKeepsItsBuffer) {
  DLManagedTensor *out = nullptr;
  {
    Buffer buffer = makeBuffer(device, {2, 3}, iota(6));
    XCR_ASSERT_OK(xcr_buffer_to_dlpack(buffer.get(), &out));
  }
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->deviceType, 1);
  EXPECT_EQ(out->rank, 2);
  EXPECT_EQ(out->shape[1], 3);
  EXPECT_EQ(out->strides[0], 3);
  EXPECT_EQ(out->typeCode, 2);
  EXPECT_EQ(out->typeBits, 32);
  EXPECT_EQ(static_cast<float *>(out->data)[5], 5.0f);
  out->deleter(out);
}

} // namespace
