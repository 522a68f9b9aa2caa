//===- cpu_executable.h - A shared object loaded from a module -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_EXECUTABLE_H
#define XC_RUNTIME_HAL_CPU_CPU_EXECUTABLE_H

#include "runtime/base/vector.h"
#include "runtime/hal/executable.h"
#include "schemas/cpu_kernel_abi.h"
#include "schemas/module_generated.h"

namespace xc::cpu {

struct Kernel {
  xc_cpu_kernel_t function = nullptr;
  /// Bytes for each workgroup.
  uint32_t scratch = 0;
};

/// The image is written to a file in memory that the dynamic linker opens, so
/// nothing touches the disk. Unloaded with the last reference.
class CpuExecutable final : public hal::Executable {
public:
  /// INCOMPATIBLE for an image of another machine, CORRUPT for one that is no
  /// shared object or lacks a kernel.
  static Status load(const HostAllocator &allocator, const fb::Executable &code,
                     Span<const uint8_t> image, Ref<hal::Executable> *out);

  const Kernel &kernel(uint32_t ordinal) const { return kernels[ordinal]; }

private:
  friend class xc::HostAllocator;
  explicit CpuExecutable(const HostAllocator &allocator)
      : allocator(allocator), kernels(allocator) {}
  ~CpuExecutable() override;
  void destroy() override { allocator.destroy(this); }
  Status open(Span<const uint8_t> image);

  const HostAllocator allocator;
  Vector<Kernel> kernels;
  int fd = -1;
  void *library = nullptr;
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_EXECUTABLE_H
