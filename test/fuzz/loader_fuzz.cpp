//===- loader_fuzz.cpp - Feeds the loader with hostile bytes ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every input is loaded twice: as it is, and with a header whose sizes and
// checksums are right, so that the fuzzer gets past them.
//
//===----------------------------------------------------------------------===//

#include "schemas/module_header.h"
#include "test/fuzz/UseModule.h"
#include "test/runtime/ModuleBuilder.h"

#include <cstring>

using namespace xc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::useModule(data, size);
  if (size < sizeof(ModuleHeader) + 8)
    return 0;
  std::vector<uint8_t> bytes(data, data + size);
  ModuleHeader header;
  memcpy(&header, data, sizeof(header));
  memcpy(header.magic, ModuleHeader::kMagic, sizeof(header.magic));
  header.major = ModuleHeader::kMajor;
  header.fileSize = size;
  header.reserved = 0;
  header.tablesOffset = sizeof(ModuleHeader);
  uint32_t prefix;
  memcpy(&prefix, data + sizeof(ModuleHeader), sizeof(prefix));
  header.tablesSize = uint64_t(prefix) + sizeof(prefix);
  memcpy(bytes.data(), &header, sizeof(header));
  test::fixChecksums(bytes);
  test::useModule(bytes.data(), bytes.size());
  return 0;
}
