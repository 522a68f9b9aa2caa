//===- fill_pattern.h - Filling memory with a pattern --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_FILL_PATTERN_H
#define XC_RUNTIME_HAL_CPU_FILL_PATTERN_H

#include <cstdint>

namespace xc::cpu {

/// Repeats \p pattern, \p patternSize bytes long; any alignment.
void fillPattern(void *target, uint64_t size, uint64_t pattern, uint8_t patternSize);

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_FILL_PATTERN_H
