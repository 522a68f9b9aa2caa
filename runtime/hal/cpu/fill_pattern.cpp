//===- fill_pattern.cpp - Filling memory with a pattern ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/fill_pattern.h"

#include <cstring>

void xc::cpu::fillPattern(void *target, uint64_t size, uint64_t pattern, uint8_t patternSize) {
  char *bytes = static_cast<char *>(target);
  if (patternSize == 1) {
    memset(bytes, static_cast<int>(pattern & 0xff), size);
    return;
  }
  if (size < patternSize)
    return;
  // Doubling what is there keeps this free of alignment rules.
  memcpy(bytes, &pattern, patternSize);
  for (uint64_t done = patternSize; done < size;) {
    uint64_t step = done < size - done ? done : size - done;
    memcpy(bytes + done, bytes, step);
    done += step;
  }
}
