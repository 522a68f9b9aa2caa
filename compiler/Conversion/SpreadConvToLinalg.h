//===- SpreadConvToLinalg.h - Convolutions of spread inputs -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_SPREADCONVTOLINALG_H
#define XC_CONVERSION_SPREADCONVTOLINALG_H

#include "mlir/Transforms/DialectConversion.h"

namespace xc {

/// Converts convolutions whose phases are computed together (array::matchSpreadConv).
void populateSpreadConvPatterns(const mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);

} // namespace xc

#endif // XC_CONVERSION_SPREADCONVTOLINALG_H
