//===- ArrayElementwiseOps.td - One element out of one element in -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYELEMENTWISEOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYELEMENTWISEOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

/// Shape rule, reification, and constant folding of every elementwise op.
class Array_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Array_Op<mnemonic, traits # [Pure, ArrayElementwiseOpInterface, Array_Shape]> {
  code inferSameElement = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes) {
      return ::xc::array::inferElementwiseType(
          getOperationName(), location, operands, inferredReturnTypes);
    }
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::xc::array::areCompatibleTypes(lhs, rhs);
    }
  }];
  code inferTruthValue = [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes) {
      return ::xc::array::inferElementwiseTruthType(
          getOperationName(), location, operands, inferredReturnTypes);
    }
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::xc::array::areCompatibleTypes(lhs, rhs);
    }
  }];
  let hasFolder = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifySizes(
        ::xc::array::SizeBuilder &sizes, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::xc::array::reifyElementwiseShape(*this, sizes, shapes);
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::xc::array::foldElementwise(*this, adaptor.getOperands());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Array_UnaryOp<string mnemonic, Type tensor, string formula, string semantics,
                    list<Trait> traits = [], string element = "f32">
    : Array_ElementwiseOp<mnemonic, traits # [Array_InferenceVerified, InferTypeOpInterface]> {
  let summary = "Elementwise " # formula;
  let description = semantics # "\n\nExample:\n```mlir\n%y = array." # mnemonic #
      " %x : tensor<4x?x" # element # ">\n```\n";
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<ElementwiseTypes>(type($operand), type($result))
  }];
  let extraClassDeclaration = inferSameElement;
}

class Array_FloatUnaryOp<string mnemonic, string formula, string semantics, list<Trait> traits = []>
    : Array_UnaryOp<mnemonic, Array_FloatTensor, formula, semantics, traits>;
class Array_NumberUnaryOp<string mnemonic, string formula, string semantics, list<Trait> traits = []>
    : Array_UnaryOp<mnemonic, Array_NumberTensor, formula, semantics, traits>;

class Array_ClassifyOp<string mnemonic, string formula, string semantics>
    : Array_ElementwiseOp<mnemonic, [Array_InferenceVerified, InferTypeOpInterface]> {
  let summary = "Elementwise " # formula;
  let description = semantics # "\n\nExample:\n```mlir\n%y = array." # mnemonic #
      " %x : tensor<4xf32> -> tensor<4xi1>\n```\n";
  let arguments = (ins Array_FloatTensor:$operand);
  let results = (outs Array_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let extraClassDeclaration = inferTruthValue;
}

def Array_AbsOp : Array_NumberUnaryOp<"abs", "absolute value",
  "As `stablehlo.abs`: clears the sign of a float, NaN's too; wraps for the lowest signed integer; "
  "the identity on unsigned integers.", [Array_Vjp]>;
def Array_NegOp : Array_NumberUnaryOp<"neg", "negation",
  "As `stablehlo.negate`: flips the sign of a float (NaN and zero included); integers wrap.", [Array_Vjp]>;
def Array_SignOp : Array_NumberUnaryOp<"sign", "sign: -1, 0 or 1",
  "As `stablehlo.sign`: -0 gives -0 and NaN gives NaN.", [Array_Vjp]>;
def Array_SquareOp : Array_NumberUnaryOp<"square", "`x * x`",
  "As `numpy.square`; rounds once, integers wrap. Decomposes into `array.mul`.",
  [Array_Decomposable, Array_Vjp]>;
def Array_SqrtOp : Array_FloatUnaryOp<"sqrt", "square root",
  "As `stablehlo.sqrt`, correctly rounded; NaN for numbers below zero, and -0 gives -0.", [Array_Vjp]>;
def Array_RsqrtOp : Array_FloatUnaryOp<"rsqrt", "`1 / sqrt(x)`",
  "As `stablehlo.rsqrt`: infinity of the same sign for zero, NaN for numbers below zero.", [Array_Vjp]>;
def Array_ReciprocalOp : Array_FloatUnaryOp<"reciprocal", "`1 / x`",
  "As `numpy.reciprocal` of floats, correctly rounded; infinity of the same sign for zero. "
  "Decomposes into `array.div`.", [Array_Decomposable, Array_Vjp]>;
def Array_ExpOp : Array_FloatUnaryOp<"exp", "exponential",
  "As `stablehlo.exponential`.", [Array_Vjp]>;
def Array_Exp2Op : Array_FloatUnaryOp<"exp2", "`2 ** x`", "As `numpy.exp2`.", [Array_Vjp]>;
def Array_Expm1Op : Array_FloatUnaryOp<"expm1", "`exp(x) - 1`",
  "As `stablehlo.exponential_minus_one`: exact near zero, where `exp(x) - 1` cancels.", [Array_Vjp]>;
def Array_LogOp : Array_FloatUnaryOp<"log", "natural logarithm",
  "As `stablehlo.log`: -infinity for zero, NaN for numbers below zero.", [Array_Vjp]>;
def Array_Log2Op : Array_FloatUnaryOp<"log2", "logarithm to base 2",
  "As `numpy.log2`: -infinity for zero, NaN for numbers below zero.", [Array_Vjp]>;
def Array_Log1pOp : Array_FloatUnaryOp<"log1p", "`log(1 + x)`",
  "As `stablehlo.log_plus_one`: exact near zero; -infinity for -1, NaN below.", [Array_Vjp]>;
def Array_FloorOp : Array_FloatUnaryOp<"floor", "the largest integer not above `x`", "As `stablehlo.floor`.", [Array_Vjp]>;
def Array_CeilOp : Array_FloatUnaryOp<"ceil", "the smallest integer not below `x`", "As `stablehlo.ceil`.", [Array_Vjp]>;
def Array_RoundOp : Array_FloatUnaryOp<"round", "the nearest integer, ties to even",
  "As `stablehlo.round_nearest_even` and `numpy.round`.", [Array_Vjp]>;
def Array_SinOp : Array_FloatUnaryOp<"sin", "sine of an angle in radians",
  "As `stablehlo.sine`: NaN for infinities.", [Array_Vjp]>;
def Array_CosOp : Array_FloatUnaryOp<"cos", "cosine of an angle in radians",
  "As `stablehlo.cosine`: NaN for infinities.", [Array_Vjp]>;
def Array_TanOp : Array_FloatUnaryOp<"tan", "tangent of an angle in radians",
  "As `stablehlo.tan`: NaN for infinities.", [Array_Vjp]>;
def Array_TanhOp : Array_FloatUnaryOp<"tanh", "hyperbolic tangent", "As `stablehlo.tanh`.", [Array_Vjp]>;
def Array_ErfOp : Array_FloatUnaryOp<"erf", "error function", "As `chlo.erf` and `scipy.special.erf`.", [Array_Vjp]>;
def Array_SigmoidOp : Array_FloatUnaryOp<"sigmoid", "`1 / (1 + exp(-x))`",
  "As `stablehlo.logistic`; small values keep their digits. Computed in `f32` for 16-bit floats.", [Array_Decomposable, Array_Vjp]>;
def Array_SiluOp : Array_FloatUnaryOp<"silu", "`x * sigmoid(x)`",
  "As `torch.nn.SiLU` and `mlx.nn.silu`; the product of -infinity and 0 makes the value there NaN.",
  [Array_Decomposable, Array_Vjp]>;
def Array_ReluOp : Array_NumberUnaryOp<"relu", "`max(x, 0)`",
  "As `torch.nn.ReLU`: NaN stays NaN.", [Array_Decomposable, Array_Vjp]>;

def Array_LogicalNotOp : Array_UnaryOp<"logical_not", Array_BoolTensor, "negation of a truth value",
  "As `numpy.logical_not` on truth values. Compare with zero to use it on numbers.", [], "i1">;
def Array_BitwiseNotOp : Array_UnaryOp<"bitwise_not", Array_IntTensor, "flip of every bit",
  "As `stablehlo.not` on integers.", [], "i32">;

def Array_IsNanOp : Array_ClassifyOp<"is_nan", "test for NaN", "As `numpy.isnan`.">;
def Array_IsFiniteOp : Array_ClassifyOp<"is_finite", "test for neither NaN nor infinity",
  "As `stablehlo.is_finite`.">;

def Array_GeluOp : Array_ElementwiseOp<"gelu", [Array_InferenceVerified, InferTypeOpInterface, Array_Decomposable, Array_Vjp]> {
  let summary = "Elementwise Gaussian error linear unit";
  let description = [{
    `0.5 * x * (1 + erf(x / sqrt(2)))`, or with `approximate = tanh`
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`, as
    `torch.nn.GELU` has both. NaN stays NaN.

    Example:
    ```mlir
    %y = array.gelu %x : tensor<4x?xf32>
    %z = array.gelu %x approximate = tanh : tensor<4x?xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand,
      DefaultValuedAttr<Array_GeluFormAttr, "::xc::array::GeluForm::Erf">:$approximate);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`approximate` `=` `` $approximate^)? attr-dict `:`
    custom<ElementwiseTypes>(type($operand), type($result))
  }];
  let extraClassDeclaration = inferSameElement;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class Array_BinaryOp<string mnemonic, Type tensor, string formula, string semantics,
                     list<Trait> traits = [], string element = "f32">
    : Array_ElementwiseOp<mnemonic, traits # [Array_InferenceVerified, InferTypeOpInterface]> {
  let summary = "Elementwise " # formula;
  let description = semantics # "\n\nExample:\n```mlir\n%c = array." # mnemonic #
      " %a, %b : tensor<4x?x" # element # ">\n%d = array." # mnemonic # " %a, %s : (tensor<4x?x" #
      element # ">, tensor<" # element # ">) -> tensor<4x?x" # element # ">\n```\n";
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
    custom<ElementwiseTypes>(type($lhs), type($rhs), type($result))
  }];
  let extraClassDeclaration = inferSameElement;
}

def Array_AddOp : Array_BinaryOp<"add", Array_NumberTensor, "sum",
  "As `stablehlo.add`; integers wrap.", [Commutative, Array_Vjp]>;
def Array_SubOp : Array_BinaryOp<"sub", Array_NumberTensor, "difference",
  "As `stablehlo.subtract`; integers wrap.", [Array_Vjp]>;
def Array_MulOp : Array_BinaryOp<"mul", Array_NumberTensor, "product",
  "As `stablehlo.multiply`; integers wrap.", [Commutative, Array_Vjp]>;
def Array_DivOp : Array_BinaryOp<"div", Array_NumberTensor, "quotient",
  "As `stablehlo.divide`: floats follow IEEE 754; integers round towards zero. Integer division never "
  "traps: dividing by zero gives all bits set (-1, or the largest unsigned number), and the lowest "
  "signed number divided by -1 gives itself.", [Array_Vjp]>;
def Array_RemOp : Array_BinaryOp<"rem", Array_NumberTensor, "remainder, with the sign of the dividend",
  "As `stablehlo.remainder` and C's `fmod`; exact for floats, NaN for a zero divisor or an infinite "
  "dividend. The remainder of an integer by zero is the dividend; that of the lowest signed number by -1 is 0.",
  [Array_Vjp]>;
def Array_PowOp : Array_BinaryOp<"pow", Array_NumberTensor, "power",
  "As `stablehlo.power` and C's `pow` for floats. Integers wrap; a negative exponent gives 1 / x ** -y "
  "rounded towards zero, so 0 unless x is 1 or -1, and all bits set where x is 0.", [Array_Vjp]> {
  let hasCanonicalizeMethod = 1;
}
def Array_MaxOp : Array_BinaryOp<"max", Array_NumberTensor, "maximum",
  "As `stablehlo.maximum`: NaN if either is NaN; +0 is above -0.", [Commutative, Array_Vjp]>;
def Array_MinOp : Array_BinaryOp<"min", Array_NumberTensor, "minimum",
  "As `stablehlo.minimum`: NaN if either is NaN; -0 is below +0.", [Commutative, Array_Vjp]>;
def Array_AndOp : Array_BinaryOp<"and", Array_LogicalTensor, "bitwise and",
  "As `stablehlo.and`; the logical and of truth values.", [Commutative], "i1">;
def Array_OrOp : Array_BinaryOp<"or", Array_LogicalTensor, "bitwise or",
  "As `stablehlo.or`; the logical or of truth values.", [Commutative], "i1">;
def Array_XorOp : Array_BinaryOp<"xor", Array_LogicalTensor, "bitwise exclusive or",
  "As `stablehlo.xor`; inequality of truth values.", [Commutative], "i1">;

def Array_CompareOp : Array_ElementwiseOp<"compare", [Array_InferenceVerified, InferTypeOpInterface]> {
  let summary = "Elementwise comparison";
  let description = [{
    As `stablehlo.compare`: `eq`, `ne`, `lt`, `le`, `gt` or `ge`. A comparison
    with NaN is false, but `ne` is true. -0 equals +0. Truth values order false
    before true.

    Example:
    ```mlir
    %p = array.compare lt, %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Array_CompareDirectionAttr:$direction, Array_Tensor:$lhs, Array_Tensor:$rhs);
  let results = (outs Array_BoolTensor:$result);
  let assemblyFormat = [{
    `` $direction `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = inferTruthValue;
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

def Array_SelectOp : Array_ElementwiseOp<"select", [Array_InferenceVerified, Array_Vjp,
    DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes"]>]> {
  let summary = "Elementwise choice between two values";
  let description = [{
    As `stablehlo.select` and `numpy.where`: the element of `on_true` where
    `predicate` is true, else that of `on_false`. All three broadcast. The value
    not chosen does not matter, NaN or not.

    Example:
    ```mlir
    %y = array.select %p, %a, %zero
       : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Array_BoolTensor:$predicate, Array_Tensor:$on_true, Array_Tensor:$on_false);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $predicate `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::xc::array::areCompatibleTypes(lhs, rhs);
    }
  }];
}

def Array_ClampOp : Array_ElementwiseOp<"clamp", [Array_InferenceVerified, InferTypeOpInterface, Array_Decomposable, Array_Vjp]> {
  let summary = "Elementwise limit to a range";
  let description = [{
    As `stablehlo.clamp`: `min(max(operand, low), high)`. NaN in any of the three
    gives NaN; where `low` is above `high` the value is `high`.

    Example:
    ```mlir
    %y = array.clamp %low, %x, %high
       : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$low, Array_NumberTensor:$operand, Array_NumberTensor:$high);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $low `,` $operand `,` $high attr-dict `:`
    custom<ElementwiseTypes>(type($low), type($operand), type($high), type($result))
  }];
  let extraClassDeclaration = inferSameElement;
}

def Array_FmaOp : Array_ElementwiseOp<"fma", [Array_InferenceVerified, InferTypeOpInterface, Array_Vjp]> {
  let summary = "Elementwise `a * b + c`, rounded once";
  let description = [{
    As C's `fma`: the product is not rounded before the addition.

    Example:
    ```mlir
    %y = array.fma %a, %b, %c : tensor<4xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$a, Array_FloatTensor:$b, Array_FloatTensor:$c);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $c attr-dict `:`
    custom<ElementwiseTypes>(type($a), type($b), type($c), type($result))
  }];
  let extraClassDeclaration = inferSameElement;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

def Array_ConvertOp : Array_ElementwiseOp<"convert", [Array_Vjp]> {
  let summary = "Elementwise conversion between element types";
  let description = [{
    Between any two element types. To a float: rounds to nearest, ties to even;
    what is too large becomes infinity. Float to integer: rounds towards zero and
    saturates; NaN gives 0. Integer to integer: keeps the low bits, extends by the
    source's sign. To a truth value: `x != 0` (NaN is true). From a truth value:
    0 or 1. (NumPy's `astype`, made total by saturation.)

    Example:
    ```mlir
    %y = array.convert %x : tensor<4xf32> -> tensor<4xbf16>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Array_BitcastOp : Array_ElementwiseOp<"bitcast"> {
  let summary = "Elementwise reinterpretation of the bits";
  let description = [{
    As `stablehlo.bitcast_convert` between element types of equal width. Not for
    truth values.

    Example:
    ```mlir
    %y = array.bitcast %x : tensor<4xf32> -> tensor<4xui32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$operand);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYELEMENTWISEOPS_TD
