//===- safetensors_header.h - The header of a .safetensors file ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_SAFETENSORS_HEADER_H
#define XC_RUNTIME_MODULE_SAFETENSORS_HEADER_H

#include "runtime/module/parameter_file.h"

namespace xc {

/// Bytes that say how long the header is.
inline constexpr size_t kSafetensorsPrefix = 8;

/// Bytes of the header by the first ones of the file; the file may have fewer.
uint64_t safetensorsHeaderSize(Span<const uint8_t> prefix);

/// Reads the header. Keys point into the file, or into \p names where they are
/// written with escapes.
Status parseSafetensorsHeader(const HostAllocator &allocator, Span<const uint8_t> bytes,
                              Vector<ParameterEntry> *entries, Vector<String> *names);

/// Writes the header, prefix included, of a file whose data is that of \p entries, one behind the
/// other; sets where each begins in the file. Data is aligned to its elements where entries with
/// wider ones come first.
Status formatSafetensorsHeader(Span<ParameterEntry> entries, String *out);

} // namespace xc

#endif // XC_RUNTIME_MODULE_SAFETENSORS_HEADER_H
