//===- StableHLOOps.td - Ops of StableHLO ------------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_STABLEHLOOPS_TD
#define XC_INPUT_STABLEHLO_STABLEHLOOPS_TD

include "compiler/Input/StableHLO/StableHLOBase.td"

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

class StableHLO_UnaryOp<string mnemonic>
    : Read_UnaryOp<StableHLO_Dialect, mnemonic, [Pure, StableHLO_SameType]>;
class StableHLO_BinaryOp<string mnemonic>
    : Read_BinaryOp<StableHLO_Dialect, mnemonic, [Pure, StableHLO_SameType]>;
/// Keeps the shape, but not the element type.
class StableHLO_ChangeOp<string mnemonic>
    : Read_UnaryOp<StableHLO_Dialect, mnemonic, [Pure, SameOperandsAndResultShape]>;

def StableHLO_AbsOp : StableHLO_ChangeOp<"abs">;
def StableHLO_CbrtOp : StableHLO_UnaryOp<"cbrt">;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil">;
def StableHLO_ConvertOp : StableHLO_ChangeOp<"convert">;
def StableHLO_CosineOp : StableHLO_UnaryOp<"cosine">;
def StableHLO_CountLeadingZerosOp : StableHLO_UnaryOp<"count_leading_zeros">;
def StableHLO_ExpOp : StableHLO_UnaryOp<"exponential">;
def StableHLO_Expm1Op : StableHLO_UnaryOp<"exponential_minus_one">;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor">;
def StableHLO_ImagOp : StableHLO_ChangeOp<"imag">;
def StableHLO_IsFiniteOp : StableHLO_ChangeOp<"is_finite">;
def StableHLO_LogOp : StableHLO_UnaryOp<"log">;
def StableHLO_Log1pOp : StableHLO_UnaryOp<"log_plus_one">;
def StableHLO_LogisticOp : StableHLO_UnaryOp<"logistic">;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate">;
def StableHLO_NotOp : StableHLO_UnaryOp<"not">;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt">;
def StableHLO_RealOp : StableHLO_ChangeOp<"real">;
def StableHLO_RoundAwayOp : StableHLO_UnaryOp<"round_nearest_afz">;
def StableHLO_RoundEvenOp : StableHLO_UnaryOp<"round_nearest_even">;
def StableHLO_RsqrtOp : StableHLO_UnaryOp<"rsqrt">;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign">;
def StableHLO_SineOp : StableHLO_UnaryOp<"sine">;
def StableHLO_SqrtOp : StableHLO_UnaryOp<"sqrt">;
def StableHLO_TanOp : StableHLO_UnaryOp<"tan">;
def StableHLO_TanhOp : StableHLO_UnaryOp<"tanh">;
def StableHLO_UniformDequantizeOp : StableHLO_ChangeOp<"uniform_dequantize">;
def StableHLO_UniformQuantizeOp : StableHLO_ChangeOp<"uniform_quantize">;

def StableHLO_AddOp : StableHLO_BinaryOp<"add">;
def StableHLO_AndOp : StableHLO_BinaryOp<"and">;
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2">;
def StableHLO_ComplexOp : StableHLO_Op<"complex", "%z = stablehlo.complex %a, %b : tensor<4xcomplex<f32>>",
                                       [Pure, SameOperandsAndResultShape]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<ComplexTypes>(type($lhs), type($rhs), type($result))";
}
def StableHLO_DivOp : StableHLO_BinaryOp<"divide">;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum">;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum">;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply">;
def StableHLO_OrOp : StableHLO_BinaryOp<"or">;
def StableHLO_PowOp : StableHLO_BinaryOp<"power">;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder">;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left">;
def StableHLO_ShiftRightArithmeticOp : StableHLO_BinaryOp<"shift_right_arithmetic">;
def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical">;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract">;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor">;

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert",
    "%y = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xui32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ClampOp : StableHLO_Op<"clamp", "%y = stablehlo.clamp %a, %x, %b : tensor<4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<Types>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_CompareOp : StableHLO_Op<"compare",
    "%p = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
    [Pure, SameTypeOperands, SameOperandsAndResultShape]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
                       StableHLO_Word<"comparison_direction">:$comparison_direction,
                       OptionalAttr<StableHLO_Word<"comparison_type">>:$compare_type);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<Word>($comparison_direction) `,` $lhs `,` $rhs (`,` custom<Word>($compare_type)^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_ReducePrecisionOp : StableHLO_Op<"reduce_precision",
    "%y = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>", [Pure, StableHLO_SameType]> {
  let arguments = (ins StableHLO_Tensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<Types>(type($operand), type($result))
  }];
}

def StableHLO_SelectOp : StableHLO_Op<"select",
    "%y = stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sources, shapes and movement
//===----------------------------------------------------------------------===//

def StableHLO_ConstantOp : StableHLO_Op<"constant", "%c = stablehlo.constant dense<1.0> : tensor<4xf32>", [Pure]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota", "%y = stablehlo.iota dim = 0 : tensor<4xi32>", [Pure]> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = "`dim` `=` custom<Number>($iota_dimension) attr-dict `:` type($output)";
}

class StableHLO_DimsOp<string mnemonic, string attribute, string example, string format> : StableHLO_Op<mnemonic, example, [Pure]> {
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` custom<Numbers>($" # attribute # ") attr-dict `:` " # format;
}
def StableHLO_BroadcastInDimOp : StableHLO_DimsOp<"broadcast_in_dim", "broadcast_dimensions",
    "%y = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>",
    "functional-type(operands, results)"> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Numbers:$broadcast_dimensions);
}
def StableHLO_TransposeOp : StableHLO_DimsOp<"transpose", "permutation",
    "%y = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>",
    "functional-type(operands, results)"> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Numbers:$permutation);
}
def StableHLO_ReverseOp : StableHLO_DimsOp<"reverse", "dimensions",
    "%y = stablehlo.reverse %x, dims = [1] : tensor<4x8xf32>", "custom<Types>(type($operand), type($result))"> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Numbers:$dimensions);
}
def StableHLO_BroadcastOp : StableHLO_Op<"broadcast",
    "%y = stablehlo.broadcast %x, sizes = [4] : (tensor<8xf32>) -> tensor<4x8xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Numbers:$broadcast_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` custom<Numbers>($broadcast_sizes) attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape",
    "%y = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def StableHLO_SliceOp : StableHLO_Op<"slice",
    "%y = stablehlo.slice %x [0:2, 1:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Numbers:$start_indices,
                       StableHLO_Numbers:$limit_indices, StableHLO_Numbers:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<Ranges>($start_indices, $limit_indices, $strides) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_PadOp : StableHLO_Op<"pad",
    "%y = stablehlo.pad %x, %v, low = [1], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
    [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$padding_value,
                       StableHLO_Numbers:$edge_padding_low, StableHLO_Numbers:$edge_padding_high,
                       StableHLO_Numbers:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` custom<Numbers>($edge_padding_low) `,`
    `high` `=` custom<Numbers>($edge_padding_high) `,` `interior` `=` custom<Numbers>($interior_padding)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ConcatenateOp : StableHLO_Op<"concatenate",
    "%y = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>", [Pure]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<OperandList>($inputs) `dim` `=` custom<Number>($dimension) attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicSliceOp : StableHLO_Op<"dynamic_slice",
    "%y = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, Variadic<StableHLO_Tensor>:$start_indices,
                       StableHLO_Numbers:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandList>($start_indices) `sizes` `=` custom<Numbers>($slice_sizes) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DynamicUpdateSliceOp : StableHLO_Op<"dynamic_update_slice",
    "%y = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$update,
                       Variadic<StableHLO_Tensor>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_GatherOp : StableHLO_Op<"gather", [{%y = "stablehlo.gather"(%x, %i) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
                                            index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>}], [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$start_indices,
                       StableHLO_Record<"gather">:$dimension_numbers, StableHLO_Numbers:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_ScatterOp : StableHLO_Op<"scatter", [{%y = "stablehlo.scatter"(%x, %i, %u) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
                                                     scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<4x8xf32>}]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs,
                       StableHLO_Record<"scatter">:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products and windows
//===----------------------------------------------------------------------===//

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general",
    "%y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>",
    [Pure]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StableHLO_Record<"dot">:$dot_dimension_numbers,
                       OptionalAttr<ArrayAttr>:$precision_config,
                       OptionalAttr<StableHLO_Record<"dot_algorithm">>:$algorithm);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDims>($dot_dimension_numbers) `` custom<PrecisionAndAlgorithm>($precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DotOp : StableHLO_Op<"dot",
    "%y = stablehlo.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<Precision>($precision_config) attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [{%y = stablehlo.convolution(%x, %w)
      dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x8x4xf32>}], [Pure]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, OptionalAttr<StableHLO_Numbers>:$window_strides,
                       OptionalAttr<StableHLO_Window>:$padding, OptionalAttr<StableHLO_Numbers>:$lhs_dilation,
                       OptionalAttr<StableHLO_Numbers>:$rhs_dilation, OptionalAttr<StableHLO_Flags>:$window_reversal,
                       StableHLO_ConvDims:$dimension_numbers, I64Attr:$feature_group_count,
                       I64Attr:$batch_group_count, OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvDims>($dimension_numbers) `,` `window` `=` `{`
    custom<ConvWindow>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ReduceOp : StableHLO_Op<"reduce",
    "%y = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
    [Pure, SameVariadicOperandSize]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
                       StableHLO_Numbers:$dimensions);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

class StableHLO_WindowOp<string mnemonic> : StableHLO_Op<mnemonic,
    "%y = \"stablehlo." # mnemonic # "\"(%x, %z) <{window_dimensions = array<i64: 2>}> ({...}) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>"> {
  let hasVerifier = 1;
}
def StableHLO_ReduceWindowOp : StableHLO_WindowOp<"reduce_window"> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_Numbers:$window_dimensions,
                       OptionalAttr<StableHLO_Numbers>:$window_strides,
                       OptionalAttr<StableHLO_Numbers>:$base_dilations,
                       OptionalAttr<StableHLO_Numbers>:$window_dilations, OptionalAttr<StableHLO_Window>:$padding);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
}
def StableHLO_SelectAndScatterOp : StableHLO_WindowOp<"select_and_scatter"> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$source, StableHLO_Tensor:$init_value,
                       OptionalAttr<StableHLO_Numbers>:$window_dimensions,
                       OptionalAttr<StableHLO_Numbers>:$window_strides, OptionalAttr<StableHLO_Window>:$padding);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
}

//===----------------------------------------------------------------------===//
// Control, order and calls
//===----------------------------------------------------------------------===//

def StableHLO_ReturnOp : StableHLO_Op<"return", "stablehlo.return %x : tensor<f32>", [Pure, Terminator]> {
  let arguments = (ins Variadic<StableHLO_Any>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def StableHLO_WhileOp : StableHLO_Op<"while", [{%y = stablehlo.while(%a = %x) : tensor<i32> cond {
      %p = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b = stablehlo.add %a, %one : tensor<i32>
      stablehlo.return %b : tensor<i32>
    } }]> {
  let arguments = (ins Variadic<StableHLO_Any>:$inputs);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_CaseOp : StableHLO_Op<"case",
    "%y = \"stablehlo.case\"(%i) ({ stablehlo.return %a : tensor<f32> }, { stablehlo.return %b : tensor<f32> }) : (tensor<i32>) -> tensor<f32>"> {
  let arguments = (ins StableHLO_Tensor:$index);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
}

def StableHLO_IfOp : StableHLO_Op<"if",
    "%y = \"stablehlo.if\"(%p) ({ stablehlo.return %a : tensor<f32> }, { stablehlo.return %b : tensor<f32> }) : (tensor<i1>) -> tensor<f32>"> {
  let arguments = (ins StableHLO_Tensor:$pred);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasVerifier = 1;
}

def StableHLO_SortOp : StableHLO_Op<"sort", [{%y = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>}]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<StableHLO_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
}

def StableHLO_MapOp : StableHLO_Op<"map",
    "%y = \"stablehlo.map\"(%x) <{dimensions = array<i64: 0>}> ({...}) : (tensor<4xf32>) -> tensor<4xf32>"> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_Numbers:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

def StableHLO_OptimizationBarrierOp : StableHLO_Op<"optimization_barrier",
    "%y = stablehlo.optimization_barrier %x : tensor<4xf32>", [Pure]> {
  let arguments = (ins Variadic<StableHLO_Any>:$inputs);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let assemblyFormat = "attr-dict ($inputs^ `:` custom<SameTypeList>(type($inputs), type($outputs))):(`(` `)`)?";
  let hasVerifier = 1;
}

def StableHLO_CustomCallOp : StableHLO_Op<"custom_call",
    "%y = stablehlo.custom_call @Sharding(%x) : (tensor<4xf32>) -> tensor<4xf32>"> {
  let arguments = (ins Variadic<StableHLO_Any>:$inputs, StrAttr:$call_target_name,
                       OptionalAttr<BoolAttr>:$has_side_effect, OptionalAttr<AnyAttr>:$backend_config,
                       OptionalAttr<I32Attr>:$api_version, OptionalAttr<ArrayAttr>:$called_computations,
                       OptionalAttr<ArrayAttr>:$operand_layouts, OptionalAttr<ArrayAttr>:$result_layouts,
                       OptionalAttr<ArrayAttr>:$output_operand_aliases);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let assemblyFormat = [{
    custom<Target>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CompositeOp : StableHLO_Op<"composite",
    "%y = stablehlo.composite \"lib.op\" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>"> {
  let arguments = (ins Variadic<StableHLO_Any>:$inputs, StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes, FlatSymbolRefAttr:$decomposition,
                       OptionalAttr<I32Attr>:$version);
  let results = (outs Variadic<StableHLO_Any>:$outputs);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Random numbers and linear algebra
//===----------------------------------------------------------------------===//

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator",
    "%s, %y = stablehlo.rng_bit_generator %k, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)"> {
  let arguments = (ins StableHLO_Word<"rng_algorithm">:$rng_algorithm, StableHLO_Tensor:$initial_state);
  let results = (outs StableHLO_Tensor:$output_state, StableHLO_Tensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` custom<Word>($rng_algorithm) attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_RngOp : StableHLO_Op<"rng",
    "%y = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>"> {
  let arguments = (ins StableHLO_Tensor:$a, StableHLO_Tensor:$b, StableHLO_Tensor:$shape,
                       StableHLO_Word<"rng_distribution">:$rng_distribution);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` custom<Word>($rng_distribution) attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_FftOp : StableHLO_Op<"fft",
    "%y = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Word<"fft_type">:$fft_type, StableHLO_Numbers:$fft_length);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` custom<Word>($fft_type) `,` `length` `=` custom<Numbers>($fft_length) attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_CholeskyOp : StableHLO_Op<"cholesky", "%y = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<Types>(type($a), type($result))
  }];
}

def StableHLO_TriangularSolveOp : Read_GenericOp<StableHLO_Dialect, "triangular_solve",
    (ins OptionalAttr<AnyAttr>:$left_side, OptionalAttr<AnyAttr>:$lower, OptionalAttr<AnyAttr>:$unit_diagonal,
         OptionalAttr<AnyAttr>:$transpose_a)>;

defvar StableHLO_NormAttributes = (ins OptionalAttr<AnyAttr>:$epsilon, OptionalAttr<AnyAttr>:$feature_index);
def StableHLO_BatchNormGradOp : Read_GenericOp<StableHLO_Dialect, "batch_norm_grad", StableHLO_NormAttributes>;
def StableHLO_BatchNormInferenceOp : Read_GenericOp<StableHLO_Dialect, "batch_norm_inference", StableHLO_NormAttributes>;
def StableHLO_BatchNormTrainingOp : Read_GenericOp<StableHLO_Dialect, "batch_norm_training", StableHLO_NormAttributes>;

//===----------------------------------------------------------------------===//
// Dynamic shapes
//===----------------------------------------------------------------------===//

def StableHLO_GetDimensionSizeOp : StableHLO_Op<"get_dimension_size",
    "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` custom<Number>($dimension) attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size",
    "%y = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$size, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` custom<Number>($dimension) attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_DynamicIotaOp : StableHLO_Op<"dynamic_iota",
    "%y = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` custom<Number>($iota_dimension) attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_DynamicBroadcastInDimOp : StableHLO_Op<"dynamic_broadcast_in_dim",
    "%y = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (tensor<8xf32>, tensor<2xi32>) -> tensor<?x8xf32>",
    [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$output_dimensions,
                       StableHLO_Numbers:$broadcast_dimensions,
                       OptionalAttr<StableHLO_Numbers>:$known_expanding_dimensions,
                       OptionalAttr<StableHLO_Numbers>:$known_nonexpanding_dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` custom<Numbers>($broadcast_dimensions) attr-dict
    `:` functional-type(operands, results)
  }];
}
class StableHLO_DynamicOp<string mnemonic> : StableHLO_Op<mnemonic,
    "%y = stablehlo." # mnemonic # " %x, %shape : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>", [Pure]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def StableHLO_DynamicReshapeOp : StableHLO_DynamicOp<"dynamic_reshape">;
def StableHLO_DynamicPadOp : StableHLO_DynamicOp<"dynamic_pad">;
def StableHLO_RealDynamicSliceOp : StableHLO_DynamicOp<"real_dynamic_slice">;
def StableHLO_DynamicGatherOp : Read_GenericOp<StableHLO_Dialect, "dynamic_gather",
    (ins OptionalAttr<AnyAttr>:$dimension_numbers, OptionalAttr<AnyAttr>:$indices_are_sorted)>;
def StableHLO_DynamicConvOp : Read_GenericOp<StableHLO_Dialect, "dynamic_conv",
    (ins OptionalAttr<AnyAttr>:$window_strides, OptionalAttr<AnyAttr>:$padding, OptionalAttr<AnyAttr>:$lhs_dilation,
         OptionalAttr<AnyAttr>:$rhs_dilation, OptionalAttr<AnyAttr>:$window_reversal,
         OptionalAttr<AnyAttr>:$dimension_numbers, OptionalAttr<AnyAttr>:$feature_group_count,
         OptionalAttr<AnyAttr>:$batch_group_count, OptionalAttr<AnyAttr>:$precision_config)>;

//===----------------------------------------------------------------------===//
// What needs other devices, the host or tuples
//===----------------------------------------------------------------------===//

defvar StableHLO_GroupAttributes = (ins OptionalAttr<AnyAttr>:$replica_groups, OptionalAttr<AnyAttr>:$channel_handle,
    OptionalAttr<AnyAttr>:$use_global_device_ids, OptionalAttr<AnyAttr>:$all_gather_dim,
    OptionalAttr<AnyAttr>:$scatter_dimension, OptionalAttr<AnyAttr>:$split_dimension,
    OptionalAttr<AnyAttr>:$concat_dimension, OptionalAttr<AnyAttr>:$split_count,
    OptionalAttr<AnyAttr>:$source_target_pairs);
class StableHLO_GroupOp<string mnemonic> : Read_GenericOp<StableHLO_Dialect, mnemonic, StableHLO_GroupAttributes>;
def StableHLO_AllGatherOp : StableHLO_GroupOp<"all_gather">;
def StableHLO_AllReduceOp : StableHLO_GroupOp<"all_reduce">;
def StableHLO_AllToAllOp : StableHLO_GroupOp<"all_to_all">;
def StableHLO_CollectiveBroadcastOp : StableHLO_GroupOp<"collective_broadcast">;
def StableHLO_CollectivePermuteOp : StableHLO_GroupOp<"collective_permute">;
def StableHLO_CrossReplicaSumOp : StableHLO_GroupOp<"cross-replica-sum">;
def StableHLO_ReduceScatterOp : StableHLO_GroupOp<"reduce_scatter">;

defvar StableHLO_HostAttributes = (ins OptionalAttr<AnyAttr>:$infeed_config, OptionalAttr<AnyAttr>:$outfeed_config,
    OptionalAttr<AnyAttr>:$channel_handle, OptionalAttr<AnyAttr>:$is_host_transfer, OptionalAttr<AnyAttr>:$layout,
    OptionalAttr<AnyAttr>:$source_target_pairs);
class StableHLO_HostOp<string mnemonic> : Read_GenericOp<StableHLO_Dialect, mnemonic, StableHLO_HostAttributes>;
def StableHLO_InfeedOp : StableHLO_HostOp<"infeed">;
def StableHLO_OutfeedOp : StableHLO_HostOp<"outfeed">;
def StableHLO_RecvOp : StableHLO_HostOp<"recv">;
def StableHLO_SendOp : StableHLO_HostOp<"send">;
def StableHLO_AsyncStartOp : StableHLO_HostOp<"async_start">;
def StableHLO_AsyncDoneOp : StableHLO_HostOp<"async_done">;

class StableHLO_NumberOp<string mnemonic, string typed> : StableHLO_Op<mnemonic, "%n = stablehlo." # mnemonic # " : " # typed> {
  let results = (outs StableHLO_Any:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def StableHLO_PartitionIdOp : StableHLO_NumberOp<"partition_id", "tensor<ui32>">;
def StableHLO_ReplicaIdOp : StableHLO_NumberOp<"replica_id", "tensor<ui32>">;
def StableHLO_CreateTokenOp : StableHLO_NumberOp<"create_token", "!stablehlo.token">;
def StableHLO_AfterAllOp : StableHLO_Op<"after_all", "%t = stablehlo.after_all %a : !stablehlo.token"> {
  let arguments = (ins Variadic<StableHLO_Any>:$inputs);
  let results = (outs StableHLO_Any:$result);
  let assemblyFormat = "$inputs attr-dict `:` custom<ListTypes>(ref($inputs), type($inputs), type($result))";
}
def StableHLO_TupleOp : StableHLO_Op<"tuple", "%t = stablehlo.tuple %a : tuple<tensor<4xf32>>", [Pure]> {
  let arguments = (ins Variadic<StableHLO_Any>:$val);
  let results = (outs StableHLO_Any:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleType>(type($val), type($result))";
}
def StableHLO_GetTupleElementOp : StableHLO_Op<"get_tuple_element",
    "%x = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>", [Pure]> {
  let arguments = (ins StableHLO_Any:$operand, StableHLO_Integer:$index);
  let results = (outs StableHLO_Any:$result);
  let assemblyFormat = "$operand `[` custom<Number>($index) `]` attr-dict `:` functional-type(operands, results)";
}

def StableHLO_EinsumOp : Read_GenericOp<StableHLO_Dialect, "einsum", (ins OptionalAttr<AnyAttr>:$einsum_config)>;
def StableHLO_UnaryEinsumOp : Read_GenericOp<StableHLO_Dialect, "unary_einsum", (ins OptionalAttr<AnyAttr>:$einsum_config)>;
def StableHLO_TorchIndexSelectOp : Read_GenericOp<StableHLO_Dialect, "torch_index_select",
    (ins OptionalAttr<AnyAttr>:$dim, OptionalAttr<AnyAttr>:$batch_dims)>;

#endif // XC_INPUT_STABLEHLO_STABLEHLOOPS_TD
