//===- parameter_file_fuzz.cpp - Feeds the readers of .npy and .safetensors with hostile files ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/parameter_file.h"

#include <cstdlib>

using namespace xc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ParameterFile file((HostAllocator()));
  if (ParameterFile::parse(HostAllocator(), {data, size}, &file).failed())
    return 0;
  for (const ParameterEntry &entry : file.arrays()) {
    ByteRange bytes;
    Status status = file.find(entry.key, entry.dtype, {entry.shape, entry.rank}, &bytes);
    // What is listed can be found, and lies in the file.
    if (status.failed() || bytes.size > size || bytes.begin > size - bytes.size)
      abort();
  }
  return 0;
}
