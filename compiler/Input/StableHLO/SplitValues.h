//===- SplitValues.h - Complex numbers and tuples as several values -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Array ops have neither complex elements nor tuples. Before ops are imported one by one, each
// complex value becomes two, its real and its imaginary part, and each tuple its elements.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_SPLITVALUES_H
#define XC_INPUT_STABLEHLO_SPLITVALUES_H

#include "compiler/Input/StableHLO/ImportStableHLO.h"
#include "compiler/Input/Unsupported.h"

#include "mlir/IR/BuiltinOps.h"

namespace xc::stablehlo_import {

/// The parts of complex numbers: two values of one type.
struct Complex {
  mlir::Value re, im;
};

/// Splits all complex values and tuples of `module`. A public function has one argument, or result,
/// for a complex one: its last dim, of size 2, holds the parts. Ops that are not supported on them
/// are added to `unsupported`; whether all that they leave are zeros.
bool splitValues(mlir::ModuleOp module, UnsupportedOps &unsupported);

/// Whether `type` is a tensor of complex numbers.
bool isComplex(mlir::Type type);
/// The type of the parts of complex numbers.
mlir::RankedTensorType getPartType(mlir::Type type);

/// What an op on elements computes of parts: `operands` has a `Complex` for each operand, without
/// an imaginary part where the operand is real. Nothing where it is no such op. A real result is
/// one value, a complex one two.
Replacement computeComplex(mlir::Operation *op, array::ExpressionBuilder &e,
                           llvm::ArrayRef<Complex> operands);

/// Arithmetic for other ops on complex numbers.
Complex multiply(array::ExpressionBuilder &e, Complex lhs, Complex rhs);
Complex divide(array::ExpressionBuilder &e, Complex lhs, Complex rhs);

/// Factorizations and triangular solutions of complex matrices. Nothing where it is no such op.
Replacement computeFactors(mlir::Operation *op, array::ExpressionBuilder &e,
                           llvm::ArrayRef<Complex> operands);

/// The discrete Fourier transform of the last dims of `operand`, which may be real.
Result computeFft(stablehlo::FftOp op, array::ExpressionBuilder &e, Complex operand);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_SPLITVALUES_H
