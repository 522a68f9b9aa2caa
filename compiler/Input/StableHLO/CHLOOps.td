//===- CHLOOps.td - Ops that clients of StableHLO emit -----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_CHLOOPS_TD
#define XC_INPUT_STABLEHLO_CHLOOPS_TD

include "compiler/Input/StableHLO/StableHLOBase.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::xc::chlo";
  let summary = "CHLO, to be read";
  let description = "What JAX leaves to compilers where StableHLO has no op of its own: special functions and top_k.";
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
  }];
}

/// `chlo.erf %x : tensor<4xf32> -> tensor<4xf32>`
class CHLO_UnaryOp<string mnemonic> : Read_Op<CHLO_Dialect, mnemonic,
    "%y = chlo." # mnemonic # " %x : tensor<4xf32> -> tensor<4xf32>", [Pure, SameOperandsAndResultShape]> {
  let arguments = (ins StableHLO_Tensor:$operand, OptionalAttr<AnyAttr>:$result_accuracy);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class CHLO_BinaryOp<string mnemonic> : Read_Op<CHLO_Dialect, mnemonic,
    "%y = chlo." # mnemonic # " %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def CHLO_AcosOp : CHLO_UnaryOp<"acos">;
def CHLO_AcoshOp : CHLO_UnaryOp<"acosh">;
def CHLO_AsinOp : CHLO_UnaryOp<"asin">;
def CHLO_AsinhOp : CHLO_UnaryOp<"asinh">;
def CHLO_AtanOp : CHLO_UnaryOp<"atan">;
def CHLO_AtanhOp : CHLO_UnaryOp<"atanh">;
def CHLO_BesselI1eOp : CHLO_UnaryOp<"bessel_i1e">;
def CHLO_ConjOp : CHLO_UnaryOp<"conj">;
def CHLO_CoshOp : CHLO_UnaryOp<"cosh">;
def CHLO_DigammaOp : CHLO_UnaryOp<"digamma">;
def CHLO_ErfInvOp : CHLO_UnaryOp<"erf_inv">;
def CHLO_ErfOp : CHLO_UnaryOp<"erf">;
def CHLO_ErfcOp : CHLO_UnaryOp<"erfc">;
def CHLO_IsInfOp : CHLO_UnaryOp<"is_inf">;
def CHLO_IsNegInfOp : CHLO_UnaryOp<"is_neg_inf">;
def CHLO_IsPosInfOp : CHLO_UnaryOp<"is_pos_inf">;
def CHLO_LgammaOp : CHLO_UnaryOp<"lgamma">;
def CHLO_SinhOp : CHLO_UnaryOp<"sinh">;
def CHLO_SquareOp : CHLO_UnaryOp<"square">;
def CHLO_TanOp : CHLO_UnaryOp<"tan">;
def CHLO_MulhiOp : CHLO_BinaryOp<"mulhi">;
def CHLO_NextAfterOp : CHLO_BinaryOp<"next_after">;
def CHLO_PolygammaOp : CHLO_BinaryOp<"polygamma">;
def CHLO_ZetaOp : CHLO_BinaryOp<"zeta">;

def CHLO_TopKOp : Read_Op<CHLO_Dialect, "top_k",
    "%v, %i = chlo.top_k(%x, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$k, OptionalAttr<BoolAttr>:$is_stable);
  let results = (outs StableHLO_Tensor:$values, StableHLO_Tensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` custom<Number>($k) (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

def CHLO_RaggedDotOp : Read_GenericOp<CHLO_Dialect, "ragged_dot",
    (ins OptionalAttr<AnyAttr>:$ragged_dot_dimension_numbers, OptionalAttr<AnyAttr>:$precision_config)>;

def CHLO_ScanOp : Read_Op<CHLO_Dialect, "scan", [{%y, %last = chlo.scan(%x) inits(%zero) dimension=0 {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c, %c : tensor<i32>, tensor<i32>
    } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>) }],
    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$inits, StableHLO_Integer:$dimension,
                       OptionalAttr<StableHLO_Integer>:$scan_dim_size, OptionalAttr<BoolAttr>:$is_reverse,
                       OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs, Variadic<StableHLO_Tensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // XC_INPUT_STABLEHLO_CHLOOPS_TD
