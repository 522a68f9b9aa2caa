//===- ArrayWindowOps.td - Convolution and pooling ---------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYWINDOWOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYWINDOWOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_ConvDimsAttr : AttrDef<Array_Dialect, "ConvDims"> {
  let mnemonic = "conv_dims";
  let summary = "What each dim of a convolution's operands and result stands for";
  let description = [{
    For each of input, filter and result a list with a label per dim: `b` batch, `f`
    feature, `i` and `o` input and output feature of the filter, and the spatial dims by
    their number from 0. `<[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>` is what is called
    NHWC with HWIO, `<[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]>` NCHW with OIHW.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$input, ArrayRefParameter<"int64_t">:$filter,
                        ArrayRefParameter<"int64_t">:$output);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Labels that are not a spatial dim's number.
    enum Label : int64_t { kBatch = -1, kFeature = -2, kFilterInput = -3, kFilterOutput = -4 };

    /// Which dim has the label.
    int64_t inputDim(int64_t label) const { return find(getInput(), label); }
    int64_t filterDim(int64_t label) const { return find(getFilter(), label); }
    int64_t outputDim(int64_t label) const { return find(getOutput(), label); }
    int64_t getSpatialRank() const { return getInput().size() - 2; }

  private:
    static int64_t find(::llvm::ArrayRef<int64_t> labels, int64_t label) {
      return ::llvm::find(labels, label) - labels.begin();
    }

  public:
  }];
}

def Array_ConvOp : Array_InferredOp<"conv", [Array_Decomposable, Array_Vjp]> {
  let summary = "Convolution over any number of spatial dims";
  let description = [{
    As `stablehlo.convolution`, which correlates (the filter is not flipped). `dims`
    says what each dim is. Per spatial dim: the input is spread by `input_dilation` (zeros
    between neighbours: a transposed convolution), then padded by `low` and `high` zeros
    (negative: cut), and the filter, spread by `filter_dilation`, steps over it by
    `strides`. What is left out is 1, or 0 for the padding.

    `feature_groups` splits input features and filters into as many independent
    convolutions; with as many as input features it is depthwise. `batch_groups` splits
    the batch and the filters in the same way, which gradients of the former need. One of
    the two is 1. The filter's dim `i` holds the input features of one group.

    Element types and accumulation as in `array.matmul`. A filter wider than the padded
    input gives an empty result.

    `algorithm = winograd` computes places in blocks of two along each spatial dim, with
    four products where there are six (S. Winograd, Arithmetic Complexity of Computations,
    1980; A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015:
    F(2x2, 3x3)): 2.25 times fewer multiplications of images, and rounding errors a few
    times larger. It is for `f32` and `f64`, filters of 3 in each of 1 to 3 spatial dims,
    strides, filter dilation and groups of 1. Where sizes other than the batch are `?` the
    same sums are computed directly.

    Example:
    ```mlir
    %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
         strides = [2, 2] low = [1, 1] high = [1, 1]
       : (tensor<?x32x32x16xf32>, tensor<3x3x16x32xf32>) -> tensor<?x16x16x32xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$input, Array_NumberTensor:$filter, Array_ConvDimsAttr:$dims,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$low,
                       OptionalAttr<DenseI64ArrayAttr>:$high,
                       OptionalAttr<DenseI64ArrayAttr>:$input_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$filter_dilation,
                       DefaultValuedAttr<I64Attr, "1">:$feature_groups,
                       DefaultValuedAttr<I64Attr, "1">:$batch_groups, UnitAttr:$allow_tf32,
                       DefaultValuedAttr<Array_ConvAlgorithmAttr,
                                         "::xc::array::ConvAlgorithm::Direct">:$algorithm);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter `dims` `=` $dims (`strides` `=` $strides^)? (`low` `=` $low^)?
    (`high` `=` $high^)? (`input_dilation` `=` $input_dilation^)?
    (`filter_dilation` `=` $filter_dilation^)? (`feature_groups` `=` $feature_groups^)?
    (`batch_groups` `=` $batch_groups^)? (`allow_tf32` $allow_tf32^)?
    (`algorithm` `=` `` $algorithm^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes # [{
    /// The window of each spatial dim, by its number.
    ::llvm::SmallVector<::xc::array::WindowDim> getWindow();
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

// What all windows look like, in every op that has one.
defvar Array_WindowFormat = [{
  `window` `=` $window (`strides` `=` $strides^)? (`low` `=` $low^)? (`high` `=` $high^)?
  (`dilation` `=` $dilation^)?
}];

class Array_WindowOp<string mnemonic, list<Trait> traits = []>
    : Array_InferredOp<mnemonic, traits> {
  let extraClassDeclaration = compatibleTypes # [{
    /// The window of each dim of the operand.
    ::llvm::SmallVector<::xc::array::WindowDim> getWindowDims();
  }];
}

def Array_ReduceWindowOp : Array_WindowOp<"reduce_window", [Array_Vjp]> {
  let summary = "Reduces a window that slides over the operand";
  let description = [{
    As `stablehlo.reduce_window` with these bodies. `window` has a size for each dim;
    along each, the window, whose elements are `dilation` apart, steps by `strides` over
    the operand between `low` and `high` elements of padding, which count as nothing. What
    is left out is 1, or 0 for the padding. Kinds, types and the value of nothing as in
    `array.reduce`.

    Example:
    ```mlir
    %y = array.reduce_window max, %x window = [1, 3, 3, 1] strides = [1, 2, 2, 1]
         low = [0, 1, 1, 0] high = [0, 1, 1, 0] : tensor<?x32x32x16xf32> -> tensor<?x16x16x16xf32>
    ```
  }];
  let arguments = (ins Array_ReduceKindAttr:$kind, Array_Tensor:$operand, DenseI64ArrayAttr:$window,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$low,
                       OptionalAttr<DenseI64ArrayAttr>:$high, OptionalAttr<DenseI64ArrayAttr>:$dilation);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = !strconcat(
      "`` $kind `,` $operand ", Array_WindowFormat, "attr-dict `:` type($operand) `->` type($result)");
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Array_AvgPoolOp : Array_WindowOp<"avg_pool", [Array_Decomposable, Array_Vjp]> {
  let summary = "Mean over a window that slides over the operand";
  let description = [{
    As `torch.nn.AvgPool2d`, with the window of `array.reduce_window`: the sum divided by
    the number of elements of the operand in the window, or with `count_include_pad` by
    that of the window. A window over nothing gives NaN. Computed in `f32` for 16-bit
    floats.

    Example:
    ```mlir
    %y = array.avg_pool %x window = [1, 2, 2, 1] strides = [1, 2, 2, 1]
       : tensor<?x32x32x16xf32> -> tensor<?x16x16x16xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, DenseI64ArrayAttr:$window,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$low,
                       OptionalAttr<DenseI64ArrayAttr>:$high, OptionalAttr<DenseI64ArrayAttr>:$dilation,
                       UnitAttr:$count_include_pad);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = !strconcat("$operand ", Array_WindowFormat, [{
    (`count_include_pad` $count_include_pad^)? attr-dict `:` type($operand) `->` type($result)
  }]);
}

def Array_SelectAndScatterOp : Array_WindowOp<"select_and_scatter", [Array_Vjp]> {
  let summary = "Adds each source element to what its window selects";
  let description = [{
    As `stablehlo.select_and_scatter` with addition: the window of `array.reduce_window
    max` (or `min`) over `operand` gives one element of `source` each; it is added to where
    the window has its first maximum (or minimum; NaN wins). The result has the operand's
    shape, and 0 where no window selects. It is the gradient of that pooling. 16-bit floats
    accumulate in `f32`. No atomic operation takes part: the order of additions is fixed. Its own
    gradient is what `source` places get back of what they selected; nothing flows to `operand`.

    Example:
    ```mlir
    %dx = array.select_and_scatter max, %x, %dy window = [1, 2, 2, 1] strides = [1, 2, 2, 1]
        : (tensor<?x8x8x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x8x4xf32>
    ```
  }];
  let arguments = (ins Array_ReduceKindAttr:$kind, Array_FloatTensor:$operand, Array_FloatTensor:$source,
                       DenseI64ArrayAttr:$window, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$low, OptionalAttr<DenseI64ArrayAttr>:$high,
                       OptionalAttr<DenseI64ArrayAttr>:$dilation);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = !strconcat(
      "`` $kind `,` $operand `,` $source ", Array_WindowFormat, "attr-dict `:` functional-type(operands, results)");
  let hasVerifier = 1;
}

def Array_PoolKind : Array_Enum<"PoolKind", "what a pool makes of its window", [
  I32EnumAttrCase<"Avg", 0, "avg">, I32EnumAttrCase<"Max", 1, "max">]>;
def Array_PoolKindAttr : Array_EnumAttr<Array_PoolKind, "pool_kind">;

def Array_AdaptivePoolOp : Array_InferredOp<"adaptive_pool", [Array_Decomposable, Array_Vjp]> {
  let summary = "Mean or maximum over windows that divide a dim into a number of parts";
  let description = [{
    As `torch.nn.AdaptiveAvgPool2d` and `AdaptiveMaxPool2d`: each of `axes` (strictly
    increasing, not empty) comes out with the size in `sizes`, a number or a value of type
    `index`; its element
    `o` is made of the elements from `floor(o * in / out)` up to
    `ceil((o + 1) * in / out)`. Windows differ in size and overlap where `out` does not
    divide `in`. NaN wins in a maximum. Computed in `f32` for 16-bit floats. Of equal
    elements that are a window's maximum each gets the same share of its gradient.
    Decomposes into `array.avg_pool` or `array.reduce_window` where all windows are of one
    size, else into gathers.

    Example:
    ```mlir
    %y = array.adaptive_pool avg, %x axes = [1, 2] sizes = [7, 7]
       : tensor<?x30x40x16xf32> -> tensor<?x7x7x16xf32>
    %z = array.adaptive_pool max, %x axes = [1, 2] sizes = [%h, 7]
       : tensor<?x30x40x16xf32> -> tensor<?x?x7x16xf32>
    ```
  }];
  let arguments = (ins Array_PoolKindAttr:$kind, Array_FloatTensor:$operand,
                       Variadic<Index>:$dynamic_sizes, DenseI64ArrayAttr:$axes,
                       DenseI64ArrayAttr:$sizes);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    `` $kind `,` $operand `axes` `=` $axes
    `sizes` `=` custom<DynamicIndexList>($dynamic_sizes, $sizes) attr-dict `:` type($operand) `->` type($result)
  }];
  let hasCanonicalizeMethod = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYWINDOWOPS_TD
