//===- npy_header.h - The header of a .npy file --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_NPY_HEADER_H
#define XC_RUNTIME_MODULE_NPY_HEADER_H

#include "runtime/module/parameter_file.h"

namespace xc {

/// Whether a file begins as .npy files do.
/// Bytes that say how long the header is.
inline constexpr size_t kNpyPrefix = 12;

bool isNpy(Span<const uint8_t> bytes);

/// Bytes of the header by the first ones of the file; the file may have fewer.
uint64_t npyHeaderSize(Span<const uint8_t> prefix);

/// Reads the header: NumPy's format 1.0 to 3.0, little-endian, row-major.
Status parseNpyHeader(const HostAllocator &allocator, Span<const uint8_t> bytes, uint64_t fileSize,
                      ParameterEntry *out);

} // namespace xc

#endif // XC_RUNTIME_MODULE_NPY_HEADER_H
