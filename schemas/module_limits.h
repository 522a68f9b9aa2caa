//===- module_limits.h - What a module can have at most ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loader refuses a module that passes one of these numbers, and the compiler refuses to write
// one. docs/threat-model.md lists them with their reasons.
//
//===----------------------------------------------------------------------===//

#ifndef XC_SCHEMAS_MODULE_LIMITS_H
#define XC_SCHEMAS_MODULE_LIMITS_H

#include <cstdint>

namespace xc {

struct ModuleLimits {
  /// Some checks look at every target for every plan.
  static constexpr uint32_t kTargets = 256;
  /// Dims of an argument, constant, parameter or variable: XCR_MAX_RANK.
  static constexpr uint32_t kRank = 16;
  /// Alignment of data and arguments, in bytes.
  static constexpr uint32_t kAlignment = 1u << 16;
  /// Ifs, whiles and choices inside one another: what runs a plan calls itself for each.
  static constexpr uint32_t kRegionDepth = 32;
  /// Operands that a formula holds at a time: its stack lies on the processor's.
  static constexpr uint32_t kFormulaDepth = 32;
  /// Of one kernel. No device takes more; sums of them do not overflow.
  static constexpr uint32_t kBindings = 4096;
  static constexpr uint32_t kScalars = 4096;
  static constexpr uint32_t kScratchBytes = 1u << 28;
  /// Dims of a tensor map: what the hardware has.
  static constexpr uint32_t kTensorMapRank = 5;
  /// The oldest driver that the runtime works with, whatever the code needs: CUDA 12.2 (R535), as
  /// cuDriverGetVersion counts.
  static constexpr uint32_t kMinCudaDriver = 12020;
  /// Bytes of a fill's pattern.
  static constexpr uint32_t kPatternBytes = 8;

  /// Tables inside one another: the schema nests five deep.
  static constexpr uint32_t kTableDepth = 16;
  /// Bytes of the tables: offsets in a FlatBuffer are signed 32-bit numbers.
  static constexpr uint64_t kTablesSize = (uint64_t(1) << 31) - 2;
  /// A table or a string takes this many bytes or more, with the offset that names it: a file has
  /// no more of them than its bytes give. Long strings and vectors count as several tables:
  /// schemas/verify_parts.h.
  static constexpr uint32_t kMinTableBytes = 8;
  /// Tables may share parts, and what shares them looks at them again: so many parts are looked at
  /// for each byte of the tables, and so many whatever the bytes. Compilers share few: formulas
  /// within others, the scalars of variants.
  static constexpr uint64_t kVisitsPerByte = 32;
  static constexpr uint64_t kLeastVisits = 1u << 20;
  /// As above for the commands that wait for one another because a choice stands between them, per
  /// command and edge of the plan.
  static constexpr uint64_t kEdgesPerPart = 32;
  static constexpr uint64_t kLeastEdges = 1u << 20;
};

} // namespace xc

#endif // XC_SCHEMAS_MODULE_LIMITS_H
