//===- ExecFloat.h - Floating-point decoding shared by files ----*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opcodes such as `add` serve integers and floats: the integer file takes the
// type and hands over. The type is taken already in all of these.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_EXECFLOAT_H
#define PTXSIM_LIB_EXECFLOAT_H

#include "Exec.h"

namespace xc::ptxsim {

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

/// |result| of an f64 operation; if it is NaN, what hardware returns: the last
/// operand that is NaN, made quiet, or else the negative NaN without a payload. (The
/// host would often take the first, and compilers swap operands.)
template <typename... Operands> double nanOr(double result, Operands... operands) {
  constexpr uint64_t kQuiet = 0x0008000000000000ull;
  uint64_t nan = 0xfff8000000000000ull;
  ((nan = operands != operands ? bitCast<uint64_t>(operands) | kQuiet : nan), ...);
  return result != result ? bitCast<double>(nan) : result;
}

/// Takes .rn, .rz, .rm or .rp; |otherwise| if there is none.
Rounding takeRounding(InstDecoder &decoder, Rounding otherwise = Rounding::NearestEven);

bool decodeFloatAdd(InstDecoder &decoder, Type type);
bool decodeFloatSub(InstDecoder &decoder, Type type);
bool decodeFloatMul(InstDecoder &decoder, Type type);
bool decodeFloatFma(InstDecoder &decoder, Type type);
bool decodeFloatDiv(InstDecoder &decoder, Type type);
bool decodeFloatMinMax(InstDecoder &decoder, Type type, bool isMin);
bool decodeFloatAbsNeg(InstDecoder &decoder, Type type, bool isAbs);

// Types of 16 bits and their pairs (ExecHalf.cpp).
inline bool isHalf(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 || type == Type::BF16x2;
}
enum class HalfOp : uint8_t { Add, Sub, Mul, Fma };
bool decodeHalfArithmetic(InstDecoder &decoder, Type type, HalfOp op);
bool decodeHalfMinMax(InstDecoder &decoder, Type type, bool isMin);
bool decodeHalfAbsNeg(InstDecoder &decoder, Type type, bool isAbs);
/// ex2 and tanh: |plain| and |ftz| are the f32 forms.
bool decodeExponential(InstDecoder &decoder, ExecFn plain, ExecFn ftz, bool isTanh);

// The condition code (ExecBits.cpp).
bool decodeCarry(InstDecoder &decoder);
bool decodeMadCarry(InstDecoder &decoder, bool hi);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_EXECFLOAT_H
