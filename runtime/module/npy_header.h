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
bool isNpy(Span<const uint8_t> bytes);

/// Reads the header: NumPy's format 1.0 to 3.0, little-endian, row-major.
Status parseNpyHeader(const HostAllocator &allocator, Span<const uint8_t> bytes,
                      ParameterEntry *out);

} // namespace xc

#endif // XC_RUNTIME_MODULE_NPY_HEADER_H
