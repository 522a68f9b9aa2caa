//===- ArrayPrinter.h - Prints arrays the way NumPy does ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_ARRAYPRINTER_H
#define XC_TOOLS_COMMON_ARRAYPRINTER_H

#include "tools/common/HostArray.h"

namespace xc::tools {

struct PrintOptions {
  int64_t threshold = 1000; // more elements than this are summarised
  int64_t edgeItems = 3;    // then so many are shown at both ends of a dimension
  int precision = 8;        // digits after the point
  size_t lineWidth = 75;
};

/// What str(array) gives in NumPy with its default options.
std::string printArray(const HostArray &array, const PrintOptions &options = {});

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_ARRAYPRINTER_H
