//===- ArrayFunctionOps.td - Less common elementwise functions -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYFUNCTIONOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYFUNCTIONOPS_TD

include "compiler/Dialect/Array/IR/ArrayElementwiseOps.td"

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def Array_AsinOp : Array_FloatUnaryOp<"asin", "arc sine", "As `numpy.arcsin`: NaN outside of [-1, 1].", [Array_Vjp]>;
def Array_AcosOp : Array_FloatUnaryOp<"acos", "arc cosine", "As `numpy.arccos`: NaN outside of [-1, 1].", [Array_Vjp]>;
def Array_AtanOp : Array_FloatUnaryOp<"atan", "arc tangent", "As `numpy.arctan`.", [Array_Vjp]>;
def Array_SinhOp : Array_FloatUnaryOp<"sinh", "hyperbolic sine", "As `numpy.sinh`.", [Array_Vjp]>;
def Array_CoshOp : Array_FloatUnaryOp<"cosh", "hyperbolic cosine", "As `numpy.cosh`.", [Array_Vjp]>;
def Array_AsinhOp : Array_FloatUnaryOp<"asinh", "inverse hyperbolic sine", "As `numpy.arcsinh`.", [Array_Vjp]>;
def Array_AcoshOp : Array_FloatUnaryOp<"acosh", "inverse hyperbolic cosine", "As `numpy.arccosh`: NaN below 1.", [Array_Vjp]>;
def Array_AtanhOp : Array_FloatUnaryOp<"atanh", "inverse hyperbolic tangent",
  "As `numpy.arctanh`: infinity of the same sign for 1 and -1, NaN beyond.", [Array_Vjp]>;
def Array_CbrtOp : Array_FloatUnaryOp<"cbrt", "cube root", "As `stablehlo.cbrt`, of negative numbers too.", [Array_Vjp]>;
def Array_ErfInvOp : Array_FloatUnaryOp<"erfinv", "inverse of the error function",
  "As `scipy.special.erfinv`: infinity of the same sign for 1 and -1, NaN beyond.", [Array_Vjp]>;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

def Array_Atan2Op : Array_BinaryOp<"atan2", Array_FloatTensor, "angle of the point (rhs, lhs)",
  "As `stablehlo.atan2` and `numpy.arctan2`: in [-pi, pi], the signs of zeros count.", [Array_Vjp]>;
def Array_LogAddExpOp : Array_BinaryOp<"logaddexp", Array_FloatTensor, "`log(exp(a) + exp(b))`",
  "As `numpy.logaddexp`: no intermediate value overflows.", [Commutative, Array_Vjp]>;
def Array_NextAfterOp : Array_BinaryOp<"nextafter", Array_FloatTensor, "the number beside `a` towards `b`",
  "As `numpy.nextafter` and C's: `b` where both are equal, NaN where one is; denormals count as numbers.">;
def Array_FloorDivOp : Array_BinaryOp<"floor_div", Array_NumberTensor, "quotient rounded down",
  "As `numpy.floor_divide`: rounds towards -infinity. For floats it is what is left of the exact quotient "
  "when `array.mod` is taken out, so `floor_div(a, b) * b + mod(a, b)` is `a` but for rounding. Dividing an "
  "integer by zero gives all bits set, as in `array.div`.", [Array_Vjp]>;
def Array_ModOp : Array_BinaryOp<"mod", Array_NumberTensor, "remainder, with the sign of the divisor",
  "As `numpy.mod` and Python's `%`; a zero has the divisor's sign. The remainder of an integer by zero is the "
  "dividend, as in `array.rem`; a float's is NaN.", [Array_Vjp]>;

class Array_ShiftOp<string mnemonic, string formula, string semantics>
    : Array_BinaryOp<mnemonic, Array_IntTensor, formula, semantics, [], "i32">;
def Array_ShiftLeftOp : Array_ShiftOp<"shift_left", "`a << b`",
  "As `stablehlo.shift_left`: zeros come in; 0 where `b` is negative or not below the width.">;
def Array_ShiftRightLogicalOp : Array_ShiftOp<"shift_right_logical", "`a >> b`, zeros coming in",
  "As `stablehlo.shift_right_logical`, on signed integers too; 0 where `b` is negative or not below the width.">;
def Array_ShiftRightArithmeticOp : Array_ShiftOp<"shift_right_arithmetic", "`a >> b`, copies of the top bit coming in",
  "As `stablehlo.shift_right_arithmetic`, on unsigned integers too; all bits are copies of the top bit where `b` is "
  "negative or not below the width.">;

#endif // XC_DIALECT_ARRAY_IR_ARRAYFUNCTIONOPS_TD
