//===- cuda_executable.h - Kernels of a module on a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_EXECUTABLE_H
#define XC_RUNTIME_HAL_CUDA_CUDA_EXECUTABLE_H

#include "runtime/hal/cuda/cuda_device.h"

namespace xc::cuda {

/// One parameter of a kernel, see fb::Parameter.
struct KernelParameter {
  fb::ParameterKind kind = fb::ParameterKind::BindingPointer;
  uint32_t operand = 0;
};

/// A number of a tensor map: a scalar of the dispatch, or, where `scalar` < 0, a literal.
struct TensorMapValue {
  int32_t scalar = -1;
  int64_t literal = 0;
};

inline constexpr uint32_t kMaxMapRank = 5;

/// A TMA descriptor to encode when a dispatch is bound; dims from the innermost on, as the driver
/// counts them.
struct TensorMapSpec {
  uint32_t binding = 0, rank = 0;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  TensorMapValue dims[kMaxMapRank], strides[kMaxMapRank - 1], offset;
  bool isIm2col = false;
  cuuint32_t box[kMaxMapRank] = {};            // of a tiled map
  int lowerCorner[kMaxMapRank - 2] = {};       // of an im2col map
  TensorMapValue upperCorner[kMaxMapRank - 2]; // of an im2col map
  cuuint32_t channels = 0, pixels = 0;         // of an im2col map
  cuuint32_t elementStrides[kMaxMapRank] = {};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion l2Promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill oobFill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

struct Kernel {
  explicit Kernel(const HostAllocator &allocator) : parameters(allocator), maps(allocator) {}
  CUfunction function = nullptr;
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  bool isProgrammatic = false;
  bool readsInputsEarly = false;
  Vector<KernelParameter> parameters;
  Vector<TensorMapSpec> maps;

  bool hasCluster() const { return cluster[0] * cluster[1] * cluster[2] > 1; }
};

/// PTX, compiled by the driver, or machine code. Unloaded with the last reference.
class CudaExecutable final : public hal::Executable {
public:
  /// Where the driver refuses the image, the status holds its log.
  static Status load(CudaDevice &device, const fb::Executable &code, Span<const uint8_t> image,
                     Ref<hal::Executable> *out);

  const Kernel &kernel(uint32_t ordinal) const { return kernels[ordinal]; }

private:
  friend class xc::HostAllocator;
  explicit CudaExecutable(CudaDevice &device) : device(device), kernels(device.allocator) {}
  ~CudaExecutable() override = default;
  void destroy() override;
  Status loadModule(const fb::Executable &code, Span<const uint8_t> image);
  Status addKernel(const fb::Export &description);
  Status checkParameters(const Kernel &kernel, const char *name) const;

  CudaDevice &device;
  CUmodule module = nullptr;
  Vector<Kernel> kernels;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_EXECUTABLE_H
