//===- module_header.h - The first 64 bytes of a module ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What compiler and runtime agree on before the tables can be read. All fields
// are little-endian. The tables (a size-prefixed FlatBuffer, schemas/module.fbs)
// follow at `tablesOffset`, blobs after them, each at a multiple of 64 bytes.
// Bytes that belong to none of these are zero.
//
//===----------------------------------------------------------------------===//

#ifndef XC_SCHEMAS_MODULE_HEADER_H
#define XC_SCHEMAS_MODULE_HEADER_H

#include <cstdint>

namespace xc {

struct ModuleHeader {
  static constexpr char kMagic[8] = {'\x89', 'X', 'C', 'M', 'O', 'D', '\r', '\n'};
  static constexpr uint32_t kMajor = 1;
  static constexpr uint32_t kMinor = 0;
  static constexpr uint64_t kAlignment = 64;

  char magic[8];
  uint32_t major;
  uint32_t minor;
  uint64_t fileSize;
  uint64_t tablesOffset;
  uint64_t tablesSize;     // with the 4-byte size prefix
  uint64_t tablesChecksum; // XXH3-64, seed 0, of the tables
  uint64_t reserved;       // 0
  uint64_t headerChecksum; // XXH3-64, seed 0, of the 56 bytes before
};
static_assert(sizeof(ModuleHeader) == 64, "the header is part of the format");

} // namespace xc

#endif // XC_SCHEMAS_MODULE_HEADER_H
