//===- InputSpec.h - Arrays as the command line gives them ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   [name=]@x.npy                  the array in a file
//   [name=]2x3xf32=1 2 3 4 5 6     literal values; one value fills the array
//   [name=]random:2x3xf32:7        uniform, reproducible from the seed
//   [name=]random:2x3xi32:7:0:10   uniform in [0, 10)
//   [name=]zeros:2x3xf32
//
// Without a range, random floats are in [-1, 1), signed integers in [-8, 8) and
// unsigned ones in [0, 16).
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_INPUTSPEC_H
#define XC_TOOLS_COMMON_INPUTSPEC_H

#include "tools/common/HostArray.h"

#include <optional>

namespace xc::tools {

struct InputSpec {
  enum class Kind { File, Literal, Random, Zeros };

  std::string name; // empty: the next argument in order
  Kind kind = Kind::Zeros;
  std::string path;                // File
  DType dtype = XCR_DTYPE_NONE;    // the others
  std::vector<int64_t> dims;       // the others
  std::string values;              // Literal
  uint64_t seed = 0;               // Random
  std::optional<double> low, high; // Random
};

/// Understands the text after `--input=`. Reads no file.
Result<InputSpec> parseInputSpec(const std::string &text);

/// Makes or reads the array.
Result<HostArray> makeArray(const InputSpec &spec);

/// Fills a new array with reproducible numbers.
Result<HostArray> makeRandomArray(DType dtype, std::vector<int64_t> dims, uint64_t seed,
                                  std::optional<double> low = std::nullopt,
                                  std::optional<double> high = std::nullopt);

/// Takes bits that NumPy can hold for the type that an argument has: u16 (and
/// two-byte voids) for bf16 and f16, u8 for fp8. Leaves all else alone.
void adoptType(HostArray &array, DType wanted);

/// Parses "2x3xf32" or "f32".
Error parseShapeAndType(std::string_view text, DType &dtype, std::vector<int64_t> &dims);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_INPUTSPEC_H
