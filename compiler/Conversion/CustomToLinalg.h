//===- CustomToLinalg.h - Kernels that the program brings ----------------- -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_CUSTOMTOLINALG_H
#define XC_CONVERSION_CUSTOMTOLINALG_H

#include "mlir/Transforms/DialectConversion.h"

namespace xc {

void populateCustomPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

} // namespace xc

#endif // XC_CONVERSION_CUSTOMTOLINALG_H
