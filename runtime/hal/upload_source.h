//===- upload_source.h - Bytes that a device asks for ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_UPLOAD_SOURCE_H
#define XC_RUNTIME_HAL_UPLOAD_SOURCE_H

#include "runtime/base/status.h"

#include <cstdint>

namespace xc::hal {

/// Bytes for a device, which asks for them in order, part by part, and says where they go: into the
/// memory itself, or into memory that it transfers from. One thread at a time.
class UploadSource {
public:
  /// Fills the next \p size bytes at \p into, all of them if it succeeds.
  virtual Status read(void *into, uint64_t size) = 0;

protected:
  ~UploadSource() = default;
};

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_UPLOAD_SOURCE_H
