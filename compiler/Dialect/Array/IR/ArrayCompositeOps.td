//===- ArrayCompositeOps.td - Ops that others could express -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYCOMPOSITEOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYCOMPOSITEOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

class Array_SoftmaxLikeOp<string mnemonic, string formula, string peer>
    : Array_InferredOp<mnemonic, [Array_Decomposable, Array_Vjp]> {
  let summary = formula # " along a dim";
  let description = "As `" # peer # "`: the maximum is taken out first, so that nothing overflows. NaN anywhere "
      "along the dim makes all of it NaN, as does +infinity, or -infinity throughout. Computed in `f32` for "
      "16-bit floats.\n\nExample:\n```mlir\n%y = array." # mnemonic # " %x axis = 1 : tensor<4x?xf32>\n```\n";
  let arguments = (ins Array_FloatTensor:$operand, I64Attr:$axis);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis attr-dict `:` custom<ElementwiseTypes>(type($operand), type($result))
  }];
}

def Array_SoftmaxOp : Array_SoftmaxLikeOp<"softmax", "`exp(x) / sum(exp(x))`", "scipy.special.softmax">;
def Array_LogSoftmaxOp : Array_SoftmaxLikeOp<"log_softmax", "`x - log(sum(exp(x)))`",
                                             "scipy.special.log_softmax">;

def Array_LayerNormOp : Array_InferredOp<"layer_norm", [AttrSizedOperandSegments, Array_Decomposable, Array_Vjp]> {
  let summary = "Normalises to mean 0 and variance 1 over the trailing dims";
  let description = [{
    As `torch.nn.functional.layer_norm`, and ONNX's LayerNormalization: over the
    dims from `axis` on, `(x - mean) / sqrt(var + epsilon) * scale + bias`, with the
    variance divided by the number of elements. `scale` and `bias` have the shape of
    the normalised dims; either may be left out. Computed in `f32` for 16-bit floats.

    Example:
    ```mlir
    %y = array.layer_norm %x scale(%g : tensor<64xf32>) bias(%b : tensor<64xf32>)
         axis = 1 epsilon = 1.0e-5 : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, Optional<Array_FloatTensor>:$scale,
                       Optional<Array_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`scale` `(` $scale^ `:` type($scale) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    `axis` `=` $axis `epsilon` `=` $epsilon attr-dict `:`
    custom<ElementwiseTypes>(type($operand), type($result))
  }];
}

def Array_RmsNormOp : Array_InferredOp<"rms_norm", [Array_Decomposable, Array_Vjp]> {
  let summary = "Divides by the root of the mean square over the trailing dims";
  let description = [{
    As `mlx.fast.rms_norm` and `torch.nn.RMSNorm`: over the dims from `axis` on,
    `x / sqrt(mean(x * x) + epsilon) * scale`. `scale` has the shape of the
    normalised dims and may be left out. Computed in `f32` for 16-bit floats.

    Example:
    ```mlir
    %y = array.rms_norm %x scale(%g : tensor<64xf32>) axis = 1 epsilon = 1.0e-6 : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, Optional<Array_FloatTensor>:$scale,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`scale` `(` $scale^ `:` type($scale) `)`)?
    `axis` `=` $axis `epsilon` `=` $epsilon attr-dict `:`
    custom<ElementwiseTypes>(type($operand), type($result))
  }];
}

def Array_BatchNormInferenceOp : Array_InferredOp<"batch_norm_inference", [Array_Decomposable, Array_Vjp]> {
  let summary = "Normalises each feature with given statistics";
  let description = [{
    As `stablehlo.batch_norm_inference`: `(x - mean) / sqrt(variance + epsilon) *
    scale + bias`, the four being vectors over the dim `axis`. Computed in `f32` for
    16-bit floats.

    Example:
    ```mlir
    %y = array.batch_norm_inference %x, %scale, %bias, %mean, %variance axis = 3 epsilon = 1.0e-5
       : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> tensor<?x8x8x16xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, Array_FloatTensor:$scale, Array_FloatTensor:$bias,
                       Array_FloatTensor:$mean, Array_FloatTensor:$variance, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $scale `,` $bias `,` $mean `,` $variance `axis` `=` $axis `epsilon` `=` $epsilon
    attr-dict `:` functional-type(operands, results)
  }];
}

def Array_BatchNormTrainingOp : Array_InferredOp<"batch_norm_training", [Array_Decomposable, Array_Vjp]> {
  let summary = "Normalises each feature with the batch's own statistics";
  let description = [{
    As `stablehlo.batch_norm_training`: mean and variance (divided by the number of
    elements) over all dims but `axis`, then as in `batch_norm_inference`. Both
    statistics are results, for running averages.

    Example:
    ```mlir
    %y, %mean, %variance = array.batch_norm_training %x, %scale, %bias axis = 1 epsilon = 1.0e-5
       : (tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> (tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, Array_FloatTensor:$scale, Array_FloatTensor:$bias,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Array_FloatTensor:$result, Array_FloatTensor:$mean, Array_FloatTensor:$variance);
  let assemblyFormat = [{
    $operand `,` $scale `,` $bias `axis` `=` $axis `epsilon` `=` $epsilon
    attr-dict `:` functional-type(operands, results)
  }];
}

def Array_GroupNormOp : Array_InferredOp<"group_norm", [Array_Decomposable, Array_Vjp]> {
  let summary = "Normalises groups of features of each sample";
  let description = [{
    As `torch.nn.functional.group_norm`: dim 0 is the batch and dim `axis` holds the
    features, in `groups` groups of neighbours. Each group of each sample, with all other
    dims, is normalised to mean 0 and variance 1 as in `layer_norm`; `scale` and `bias` are
    vectors over the features. With as many groups as features it is the instance norm.
    Features that are `?` are checked to be a multiple of `groups` at run time.
    Computed in `f32` for 16-bit floats.

    Example:
    ```mlir
    %y = array.group_norm %x, %scale, %bias axis = 3 groups = 4 epsilon = 1.0e-5
       : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, Array_FloatTensor:$scale, Array_FloatTensor:$bias,
                       I64Attr:$axis, I64Attr:$groups, F64Attr:$epsilon);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $scale `,` $bias `axis` `=` $axis `groups` `=` $groups `epsilon` `=` $epsilon
    attr-dict `:` functional-type(operands, results)
  }];
}

def Array_RopeOp : Array_InferredOp<"rope", [Array_Decomposable, Array_Vjp]> {
  let summary = "Rotary position embedding";
  let description = [{
    As `mlx.fast.rope`: pairs of features of the last dim, which has an even
    size D, are rotated by `position * base ** (-2 i / D)` for pair `i`. Pair `i` is
    the features `i` and `i + D / 2`, or with `interleaved` `2 i` and `2 i + 1`
    (MLX's `traditional`). `positions` are numbers, data on the device like any
    other, that broadcast to the operand's other dims; they get no gradient. Computed
    in `f32`; in `f64` for `f64`.

    Example:
    ```mlir
    %y = array.rope %q, %positions base = 1.0e4
       : (tensor<1x8x?x64xf16>, tensor<?xi32>) -> tensor<1x8x?x64xf16>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, Array_NumberTensor:$positions, F64Attr:$base,
                       UnitAttr:$interleaved);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $positions `base` `=` $base (`interleaved` $interleaved^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Array_SinusoidalOp : Array_InferredOp<"sinusoidal", [Array_Decomposable]> {
  let summary = "Sines and cosines of positions, as embeddings of them";
  let description = [{
    As in "Attention Is All You Need": a new last dim of even size D holds, for pair `i` of
    D / 2, the sine and the cosine of `position * base ** (-2 i / D)`: all sines before all
    cosines, or with `interleaved` the sine at `2 i` and the cosine at `2 i + 1`, as the
    paper writes it. Positions are numbers, data on the device like any other; nothing
    flows back to them. The result type names the element type; computed in `f32`, in `f64`
    for `f64`.

    Example:
    ```mlir
    %e = array.sinusoidal %positions size = 64 base = 1.0e4 : tensor<?xi32> -> tensor<?x64xf16>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$positions, I64Attr:$size, F64Attr:$base, UnitAttr:$interleaved);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $positions `size` `=` $size `base` `=` $base (`interleaved` $interleaved^)? attr-dict
    `:` type($positions) `->` type($result)
  }];
  let extraClassDeclaration = compatibleShapes;
}

def Array_AlibiOp : Array_InferredOp<"alibi", [Array_Decomposable]> {
  let summary = "Linear biases of attention by distance";
  let description = [{
    As in "Train Short, Test Long" (ALiBi): `[heads, Q, K]` with
    `-slope(head) * |query position - key position|`, for vectors of positions `[Q]` and
    `[K]`, data on the device like any other; a `mask` for `array.attention`. For a power of
    two of heads the slopes are `2 ** (-8 (h + 1) / heads)`; else those of the next lower
    power of two, and then every second one of twice as many. The result type names the
    element type; computed in `f32`, in `f64` for `f64`.

    Example:
    ```mlir
    %bias = array.alibi %q, %k heads = 12 : (tensor<?xi32>, tensor<?xi32>) -> tensor<12x?x?xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$query, Array_NumberTensor:$key, I64Attr:$heads);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `heads` `=` $heads attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes;
}

def Array_ResizeOp : Array_InferredOp<"resize", [Array_Decomposable]> {
  let summary = "Resamples dims to other sizes";
  let description = [{
    As ONNX's Resize, along `axes` (strictly increasing, not empty) to `sizes`, numbers
    or values of type `index`.
    Position `o` of the result lies at `(o + 0.5) * in / out - 0.5` of the operand,
    or with `align_corners` at `o * (in - 1) / (out - 1)` (at 0 where `out` is 1).
    Outside of the operand its edge goes on. `nearest` takes the element there,
    rounded to nearest with ties up, of any element type; `linear` interpolates
    between the two neighbours; `cubic` weighs four by cubic convolution with
    a = -0.75, as ONNX and PyTorch do. Both take floats, and compute in `f32` for
    16-bit ones.

    Example:
    ```mlir
    %y = array.resize linear, %x axes = [1, 2] sizes = [16, 16]
       : tensor<?x8x8x3xf32> -> tensor<?x16x16x3xf32>
    %z = array.resize nearest, %x axes = [1, 2] sizes = [16, %w]
       : tensor<?x8x8x3xf32> -> tensor<?x16x?x3xf32>
    ```
  }];
  let arguments = (ins Array_ResizeModeAttr:$mode, Array_Tensor:$operand,
                       Variadic<Index>:$dynamic_sizes, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$sizes, UnitAttr:$align_corners);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    `` $mode `,` $operand `axes` `=` $axes `sizes` `=` custom<DynamicIndexList>($dynamic_sizes, $sizes) (`align_corners` $align_corners^)?
    attr-dict `:` type($operand) `->` type($result)
  }];
  let hasCanonicalizeMethod = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYCOMPOSITEOPS_TD
