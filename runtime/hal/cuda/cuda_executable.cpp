//===- cuda_executable.cpp - Kernels of a module on a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_executable.h"

using namespace xc;
using namespace xc::cuda;

/// Dynamic shared memory that needs no opt-in.
static constexpr uint32_t kPlainSharedBytes = 48 * 1024;

Status CudaExecutable::load(CudaDevice &device, const fb::Executable &code,
                            Span<const uint8_t> image, Ref<hal::Executable> *out) {
  auto executable = Ref<CudaExecutable>::adopt(device.allocator.create<CudaExecutable>(device));
  if (!executable)
    return outOfHostMemory(sizeof(CudaExecutable));
  ContextScope scope(device);
  XCR_RETURN_IF_ERROR(scope.status());
  XCR_RETURN_IF_ERROR(executable->loadModule(code, image));
  if (code.exports()) {
    XCR_RETURN_IF_ERROR(executable->kernels.reserve(code.exports()->size()));
    for (const fb::Export *description : *code.exports())
      XCR_RETURN_IF_ERROR(executable->addKernel(*description));
  }
  *out = std::move(executable);
  return Status();
}

/// Whether the driver has no use for an image, which another one may be better at.
static bool isRefused(CUresult result) {
  switch (result) {
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    return true;
  default:
    return false;
  }
}

Status CudaExecutable::loadModule(const fb::Executable &code, Span<const uint8_t> image) {
  const HostAllocator &allocator = device.allocator;
  // PTX is text to the driver, and needs its end marked.
  Vector<char> text(allocator);
  XCR_RETURN_IF_ERROR(text.resize(image.size + 1));
  if (image.size)
    memcpy(text.data(), image.data, image.size);
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  CUresult result = device.cu.cuModuleLoadDataEx(&module, text.data(), 2, options, values);
  if (result == CUDA_SUCCESS)
    return Status();
  log[sizeof(log) - 1] = 0;
  if (isRefused(result))
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "cannot load the code for %s: cuModuleLoadDataEx on device %s: %s (%s)%s%s",
                      code.arch()->c_str(), device.info.uri.c_str(), device.cu.nameOf(result),
                      device.cu.textOf(result), log[0] ? "; the driver's log: " : "", log);
  return addContext(device.check(result, "cuModuleLoadDataEx"), allocator,
                    "cannot load the code for %s%s%s: ", code.arch()->c_str(),
                    log[0] ? "; the driver's log: " : "", log);
}

static CUtensorMapDataType getMapType(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::I16:
  case fb::DType::U16:
    return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  case fb::DType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case fb::DType::U32:
    return CU_TENSOR_MAP_DATA_TYPE_UINT32;
  case fb::DType::I64:
    return CU_TENSOR_MAP_DATA_TYPE_INT64;
  case fb::DType::U64:
    return CU_TENSOR_MAP_DATA_TYPE_UINT64;
  case fb::DType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case fb::DType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case fb::DType::F32:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case fb::DType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  default: // single bytes; the verifier lets no other type through
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

/// The counts were verified; the driver checks the values when it encodes them.
static TensorMapSpec readTensorMap(const fb::TensorMap &map) {
  auto valueOf = [](const fb::Value *value) {
    return value ? TensorMapValue{value->formula(), value->literal()} : TensorMapValue();
  };
  TensorMapSpec spec;
  spec.binding = map.binding();
  spec.rank = map.rank();
  spec.isIm2col = map.mode() == fb::TensorMapMode::Im2col;
  spec.type = map.round_tf32() && map.dtype() == fb::DType::F32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                                                : getMapType(map.dtype());
  spec.offset = valueOf(map.offset());
  for (uint32_t i = 0; i < spec.rank; ++i) {
    spec.dims[i] = valueOf(map.dims()->Get(i));
    if (i + 1 < spec.rank)
      spec.strides[i] = valueOf(map.strides()->Get(i));
    if (!spec.isIm2col)
      spec.box[i] = map.box()->Get(i);
    spec.elementStrides[i] = map.element_strides()->Get(i);
  }
  for (uint32_t i = 0; spec.isIm2col && i + 2 < spec.rank; ++i) {
    spec.lowerCorner[i] = map.lower_corner()->Get(i);
    bool hasScalars = map.upper_scalars() && map.upper_scalars()->size() > 0;
    int32_t scalar = hasScalars ? map.upper_scalars()->Get(i) : -1;
    spec.upperCorner[i] = {scalar, map.upper_corner()->Get(i)};
  }
  spec.channels = map.channels();
  spec.pixels = map.pixels();
  spec.interleave = static_cast<CUtensorMapInterleave>(map.interleave());
  spec.swizzle = static_cast<CUtensorMapSwizzle>(map.swizzle());
  spec.l2Promotion = static_cast<CUtensorMapL2promotion>(map.l2_promotion());
  spec.oobFill = static_cast<CUtensorMapFloatOOBfill>(map.oob_fill());
  return spec;
}

static size_t sizeOf(fb::ParameterKind kind) {
  switch (kind) {
  case fb::ParameterKind::ScalarI32:
    return sizeof(int32_t);
  case fb::ParameterKind::TensorMap:
    return sizeof(CUtensorMap);
  default:
    return sizeof(uint64_t);
  }
}

/// Compares what a launch passes with what the code takes, where the driver tells that: it copies
/// as many bytes from as many places as the code says, and puts them where the code wants them.
Status CudaExecutable::checkParameters(const Kernel &kernel, const char *name) const {
  if (!device.cu.cuFuncGetParamInfo)
    return Status();
  const size_t count = kernel.parameters.size();
  for (size_t i = 0;; ++i) {
    size_t offset = 0, bytes = 0;
    CUresult result = device.cu.cuFuncGetParamInfo(kernel.function, i, &offset, &bytes);
    const bool isEnd = result == CUDA_ERROR_INVALID_VALUE;
    if (isEnd && i == count)
      return Status();
    if (!isEnd)
      XCR_RETURN_IF_ERROR(device.check(result, "cuFuncGetParamInfo"));
    if (isEnd || i == count)
      return makeStatus(device.allocator, XCR_STATUS_CORRUPT,
                        "kernel '%s': the module describes %zu parameters, the code has %s%zu",
                        name, count, isEnd ? "" : "more than ", i);
    if (size_t size = sizeOf(kernel.parameters[i].kind); bytes != size)
      return makeStatus(device.allocator, XCR_STATUS_CORRUPT,
                        "kernel '%s': the module describes parameter %zu as %zu bytes, the code "
                        "takes %zu (at byte %zu)",
                        name, i, size, bytes, offset);
  }
}

Status CudaExecutable::addKernel(const fb::Export &description) {
  Kernel kernel(device.allocator);
  const char *name = description.name()->c_str();
  CUresult result = device.cu.cuModuleGetFunction(&kernel.function, module, name);
  if (result == CUDA_ERROR_NOT_FOUND)
    return makeStatus(device.allocator, XCR_STATUS_CORRUPT, "the code has no kernel '%s'", name);
  XCR_RETURN_IF_ERROR(device.check(result, "cuModuleGetFunction"));
  for (uint32_t i = 0; i < 3; ++i) {
    if (description.block() && i < description.block()->size())
      kernel.block[i] = description.block()->Get(i);
    if (description.cluster() && i < description.cluster()->size())
      kernel.cluster[i] = description.cluster()->Get(i);
  }
  kernel.sharedBytes = description.dynamic_shared_memory();
  kernel.isProgrammatic = description.programmatic_launch();
  kernel.readsInputsEarly = description.reads_inputs_early();
  if (description.parameters())
    for (const fb::Parameter *parameter : *description.parameters())
      XCR_RETURN_IF_ERROR(kernel.parameters.push({parameter->kind(), parameter->operand()}));
  XCR_RETURN_IF_ERROR(checkParameters(kernel, name));
  if (description.tensor_maps())
    for (const fb::TensorMap *map : *description.tensor_maps())
      XCR_RETURN_IF_ERROR(kernel.maps.push(readTensorMap(*map)));
  if (kernel.sharedBytes > kPlainSharedBytes)
    XCR_RETURN_IF_ERROR(XCR_CUDA_CALL(device, cuFuncSetAttribute, kernel.function,
                                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(kernel.sharedBytes)));
  return kernels.push(std::move(kernel));
}

void CudaExecutable::destroy() {
  HostAllocator allocator = device.allocator;
  {
    ContextScope scope(device, ContextScope::kRelease);
    if (module)
      device.cu.cuModuleUnload(module);
  }
  allocator.destroy(this);
}
