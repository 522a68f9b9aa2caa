//===- NarrowFormats.h - Numbers of few bits in wider ones ------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableHLO has integers of 2 and 4 bits, floats of 4 to 8 bits and quantized numbers, which array
// ops do not have. Each is held in a type that has all its values, its carrier: i8 or ui8, bf16,
// and the storage type of quantized numbers. So products of 8-bit floats are exact products of
// bf16.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_NARROWFORMATS_H
#define XC_INPUT_STABLEHLO_NARROWFORMATS_H

#include "compiler/Input/StableHLO/ImportStableHLO.h"

namespace xc::stablehlo_import {

/// Whether numbers of type `element` are held in another type.
bool isNarrow(mlir::Type element);
/// Whether `element` is a quantized type.
bool isQuantized(mlir::Type element);

/// What holds numbers of type `element`, and what arithmetic on them is done in.
mlir::Type getCarrier(mlir::Type element);
mlir::Type getArithmeticType(mlir::Type element);

/// The width of an element of any type.
unsigned getWidth(mlir::Type element);

/// Why numbers of type `element` are not supported; null if they are.
const char *whyNotNarrow(mlir::Type element);

/// Carriers of `element` in the type that arithmetic is done in.
mlir::Value widen(array::ExpressionBuilder &e, mlir::Value carrier, mlir::Type element);
/// The nearest numbers of `element` as carriers: integers wrap, floats round to even. Floats may be
/// f64, too.
mlir::Value narrow(array::ExpressionBuilder &e, mlir::Value value, mlir::Type element);

/// The bits of carriers of `element`, as ui8 or an unsigned storage type; those above its width are
/// 0. And back.
mlir::Value toBits(array::ExpressionBuilder &e, mlir::Value carrier, mlir::Type element);
mlir::Value fromBits(array::ExpressionBuilder &e, mlir::Value bits, mlir::Type element);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_NARROWFORMATS_H
