//===- cuda_fill.cpp - Fills on a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_fill.h"

#include "runtime/hal/cuda/fill_kernel.h"

using namespace xc;
using namespace xc::cuda;

/// A pattern of equal bytes is one of single bytes, which fits every address.
static uint32_t effectivePatternSize(uint64_t pattern, uint32_t patternSize) {
  uint64_t mask = patternSize == 8 ? UINT64_MAX : (uint64_t(1) << (8 * patternSize)) - 1;
  uint64_t repeated = (pattern & 0xff) * 0x0101010101010101u;
  return (pattern & mask) == (repeated & mask) ? 1 : patternSize;
}

bool FillLaunch::needsKernel(uint64_t target, uint64_t bytes, uint64_t pattern,
                             uint32_t patternSize) {
  patternSize = effectivePatternSize(pattern, patternSize);
  return patternSize == 8 || target % patternSize != 0 || bytes % patternSize != 0;
}

Status FillLaunch::prepare(CudaDevice &device, uint64_t target, uint64_t bytes, uint64_t pattern,
                           uint32_t patternSize) {
  isKernel = needsKernel(target, bytes, pattern, patternSize);
  patternSize = effectivePatternSize(pattern, patternSize);
  if (!isKernel) {
    memset = {};
    memset.dst = target;
    uint64_t mask = (uint64_t(1) << (8 * patternSize)) - 1;
    memset.value = static_cast<unsigned>(pattern & mask);
    memset.elementSize = patternSize;
    memset.width = bytes / patternSize;
    memset.height = 1;
    return Status();
  }
  XCR_RETURN_IF_ERROR(device.getFillKernel(&function));
  arguments[0] = target;
  arguments[1] = bytes;
  // Eight bytes of it, whatever its size.
  for (uint32_t size = patternSize; size < 8; size *= 2) {
    pattern &= (uint64_t(1) << (8 * size)) - 1;
    pattern |= pattern << (8 * size);
  }
  arguments[2] = pattern;
  constexpr uint64_t perBlock = uint64_t(kFillThreads) * kFillBytes;
  uint64_t blocks = (bytes + perBlock - 1) / perBlock;
  grid = static_cast<unsigned>(blocks < 65535 ? blocks : 65535);
  return Status();
}

CUDA_KERNEL_NODE_PARAMS FillLaunch::getKernelParams(void **pointers) const {
  for (int i = 0; i < 3; ++i)
    pointers[i] = const_cast<uint64_t *>(&arguments[i]);
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = function;
  params.gridDimX = grid;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = kFillThreads;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = pointers;
  return params;
}

Status FillLaunch::launch(CudaDevice &device, CUstream stream) const {
  if (isKernel) {
    void *pointers[3];
    CUDA_KERNEL_NODE_PARAMS params = getKernelParams(pointers);
    return XCR_CUDA_CALL(device, cuLaunchKernel, params.func, grid, 1, 1, kFillThreads, 1, 1, 0,
                         stream, params.kernelParams, nullptr);
  }
  switch (memset.elementSize) {
  case 1:
    return XCR_CUDA_CALL(device, cuMemsetD8Async, memset.dst,
                         static_cast<unsigned char>(memset.value), memset.width, stream);
  case 2:
    return XCR_CUDA_CALL(device, cuMemsetD16Async, memset.dst,
                         static_cast<unsigned short>(memset.value), memset.width, stream);
  default:
    return XCR_CUDA_CALL(device, cuMemsetD32Async, memset.dst, memset.value, memset.width, stream);
  }
}
