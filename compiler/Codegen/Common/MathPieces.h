//===- MathPieces.h - Parts that families of math functions share ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_MATHPIECES_H
#define XC_CODEGEN_COMMON_MATHPIECES_H

#include "compiler/Codegen/Common/MathBuilder.h"

namespace xc::codegen {

/// ln(2) in two parts, the first of which has enough trailing zeros for a
/// product with an exponent to be exact (the splits of Cephes and of fdlibm).
inline constexpr double kLn2HeadF32 = 0.693359375;
inline constexpr double kLn2TailF32 = -2.12194440054690583e-4;
inline constexpr double kLn2HeadF64 = 6.93147180369123816490e-01;
inline constexpr double kLn2TailF64 = 1.90821492927058770002e-10;

/// pi/2 and pi to twice the precision of f64.
inline constexpr double kHalfPiHi = 1.57079632679489661923;
inline constexpr double kHalfPiLo = 6.12323399573676603587e-17;

/// e^(hi + lo), rounded once or nearly so; any magnitude, finite.
mlir::Value expandExpPair(MathBuilder &b, Pair x);

/// |x| modulo pi/2: |x| = 4 m (pi/2) + quadrant (pi/2) + r, |r| <= pi/4 and a
/// little. `lo` of r is null where the type does not need it. The upper bits of
/// `quadrant` (an integer) are of no use. NaN for infinity and NaN.
struct TrigReduction {
  Pair r;
  mlir::Value quadrant;
};
using ReducedFunction =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(MathBuilder &, const TrigReduction &)>;

/// What `function` builds of that reduction: twice, since huge arguments have a branch of their
/// own.
llvm::SmallVector<mlir::Value> mapModuloHalfPi(MathBuilder &b, mlir::Value magnitude,
                                               ReducedFunction function);

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_MATHPIECES_H
