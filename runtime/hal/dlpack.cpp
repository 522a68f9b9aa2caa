//===- dlpack.cpp - Tensors shared with other libraries -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/hal/buffer.h"

using namespace xc;
using namespace xc::hal;

//===----------------------------------------------------------------------===//
// DLPack's own declarations
//===----------------------------------------------------------------------===//

namespace {

enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
enum DLTypeCode : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8E4M3FN = 10,
  kDLFloat8E5M2 = 12
};
struct DLDevice {
  int32_t type, id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t rank;
  DLDataType dtype;
  int64_t *shape, *strides; // elements; strides may be null for row-major
  uint64_t byteOffset;
};

struct TypeEntry {
  xcr_dtype_t dtype;
  uint8_t code, bits;
};
constexpr TypeEntry kTypes[] = {
    {XCR_DTYPE_I1, kDLBool, 8},          {XCR_DTYPE_I8, kDLInt, 8},
    {XCR_DTYPE_I16, kDLInt, 16},         {XCR_DTYPE_I32, kDLInt, 32},
    {XCR_DTYPE_I64, kDLInt, 64},         {XCR_DTYPE_U8, kDLUInt, 8},
    {XCR_DTYPE_U16, kDLUInt, 16},        {XCR_DTYPE_U32, kDLUInt, 32},
    {XCR_DTYPE_U64, kDLUInt, 64},        {XCR_DTYPE_F16, kDLFloat, 16},
    {XCR_DTYPE_BF16, kDLBfloat, 16},     {XCR_DTYPE_F32, kDLFloat, 32},
    {XCR_DTYPE_F64, kDLFloat, 64},       {XCR_DTYPE_F8E4M3, kDLFloat8E4M3FN, 8},
    {XCR_DTYPE_F8E5M2, kDLFloat8E5M2, 8}};

} // namespace

struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *self);
};

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

static Status checkPlace(const Device &device, const DLDevice &place) {
  bool isCuda = strcmp(device.info.driver, "cuda") == 0;
  bool isFine = isCuda ? (place.type == kDLCUDA || place.type == kDLCUDAManaged) &&
                             place.id == static_cast<int32_t>(device.info.ordinal)
                       : place.type == kDLCPU || place.type == kDLCUDAHost;
  return isFine ? Status()
                : makeStatus(device.allocator, XCR_STATUS_INVALID_ARGUMENT,
                             "tensor: expected memory of device %s, got that of DLPack device "
                             "type %d, number %d",
                             device.info.uri.c_str(), place.type, place.id);
}

static Status readTensor(const Device &device, const DLTensor &tensor, Layout *layout) {
  const HostAllocator &allocator = device.allocator;
  XCR_RETURN_IF_ERROR(checkPlace(device, tensor.device));
  xcr_dtype_t dtype = XCR_DTYPE_NONE;
  for (const TypeEntry &entry : kTypes)
    if (entry.code == tensor.dtype.code && entry.bits == tensor.dtype.bits)
      dtype = entry.dtype;
  if (dtype == XCR_DTYPE_NONE || tensor.dtype.lanes != 1)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "tensor: no element type for DLPack code %u with %u bits and %u lanes",
                      tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  if (tensor.rank < 0 || tensor.rank > XCR_MAX_RANK)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "tensor: expected a rank from 0 to %d, got %d",
                      static_cast<int>(XCR_MAX_RANK), tensor.rank);
  if (tensor.rank)
    XCR_RETURN_IF_ERROR(requireArgument(tensor.shape, "tensor: shape"));
  return Layout::create(allocator, dtype, static_cast<uint32_t>(tensor.rank), tensor.shape,
                        tensor.strides, layout);
}

static Status fromTensor(xcr_device_t *device, DLManagedTensor *managed, Ref<Buffer> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(device, "device"));
  XCR_RETURN_IF_ERROR(requireArgument(managed, "tensor"));
  const DLTensor &tensor = managed->tensor;
  Layout layout;
  XCR_RETURN_IF_ERROR(readTensor(*device, tensor, &layout));
  auto release = [](void *data) {
    auto *managed = static_cast<DLManagedTensor *>(data);
    if (managed->deleter)
      managed->deleter(managed);
  };
  Ref<Memory> memory;
  if (layout.byteLength == 0) {
    // There may be no memory to import.
    XCR_RETURN_IF_ERROR(device->allocate(0, &memory));
  } else {
    XCR_RETURN_IF_ERROR(requireArgument(tensor.data, "tensor: data"));
    XCR_RETURN_IF_ERROR(device->import(static_cast<char *>(tensor.data) + tensor.byteOffset,
                                       layout.byteLength, &memory));
  }
  XCR_RETURN_IF_ERROR(Buffer::adopt(Ref<Device>::share(device), memory, 0, layout, out));
  // The caller keeps the tensor if anything fails, so this comes last.
  memory->onRelease(release, managed);
  return Status();
}

xcr_status_t xcr_buffer_from_dlpack(xcr_device_t *device, struct DLManagedTensor *tensor,
                                    xcr_buffer_t **out_buffer) {
  XCR_REQUIRE(out_buffer);
  *out_buffer = nullptr;
  Ref<Buffer> buffer;
  Status status = fromTensor(device, tensor, &buffer);
  if (status.succeeded())
    *out_buffer = buffer.take();
  return status.release();
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

static void dropTensor(DLManagedTensor *managed) {
  auto *buffer = static_cast<xcr_buffer_t *>(managed->context);
  HostAllocator allocator = buffer->device->allocator;
  allocator.destroy(managed);
  buffer->release();
}

static Status toTensor(xcr_buffer_t *buffer, DLManagedTensor **out) {
  XCR_RETURN_IF_ERROR(requireArgument(buffer, "buffer"));
  XCR_RETURN_IF_ERROR(
      buffer->checkHost("xcr_buffer_to_dlpack", 0, buffer->layout.byteLength, false));
  const Device &device = *buffer->device;
  bool isCuda = strcmp(device.info.driver, "cuda") == 0;
  DLManagedTensor *managed = device.allocator.create<DLManagedTensor>();
  if (!managed)
    return outOfHostMemory(sizeof(DLManagedTensor));
  DLTensor &tensor = managed->tensor;
  tensor.data = isCuda ? reinterpret_cast<void *>(buffer->address())
                       : static_cast<char *>(buffer->memory->host()) + buffer->offset;
  tensor.device = {isCuda ? kDLCUDA : kDLCPU, static_cast<int32_t>(device.info.ordinal)};
  tensor.rank = static_cast<int32_t>(buffer->layout.rank);
  for (const TypeEntry &entry : kTypes)
    if (entry.dtype == buffer->layout.dtype)
      tensor.dtype = {entry.code, entry.bits, 1};
  // The buffer is immutable, and kept; nobody writes through these.
  tensor.shape = const_cast<int64_t *>(buffer->layout.shape);
  tensor.strides = const_cast<int64_t *>(buffer->layout.strides);
  tensor.byteOffset = 0;
  buffer->retain();
  managed->context = buffer;
  managed->deleter = dropTensor;
  *out = managed;
  return Status();
}

xcr_status_t xcr_buffer_to_dlpack(xcr_buffer_t *buffer, struct DLManagedTensor **out_tensor) {
  XCR_REQUIRE(out_tensor);
  *out_tensor = nullptr;
  return toTensor(buffer, out_tensor).release();
}
