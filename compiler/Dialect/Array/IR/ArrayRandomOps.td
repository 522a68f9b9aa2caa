//===- ArrayRandomOps.td - Numbers from a key --------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYRANDOMOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYRANDOMOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_RandomAlgorithm : Array_Enum<"RandomAlgorithm", "which block cipher makes random bits", [
  I32EnumAttrCase<"Threefry", 0, "threefry">, I32EnumAttrCase<"Philox", 1, "philox">]>;
def Array_RandomAlgorithmAttr : Array_EnumAttr<Array_RandomAlgorithm, "random_algorithm">;
defvar Array_Algorithm =
    DefaultValuedAttr<Array_RandomAlgorithmAttr, "::xc::array::RandomAlgorithm::Threefry">;

def Array_KeyTensor : StaticShapeTensorOf<[UI32]>;

def Array_RandomBitsOp : Array_SizedOp<"random_bits", [AttrSizedOperandSegments]> {
  let summary = "Uniformly distributed unsigned integers from a key";
  let description = [{
    Counter-based generators of Salmon et al., "Parallel random numbers: as easy as
    1, 2, 3" (SC'11). A block of words is a function of `key`, which has two words, and
    of the block's number alone, and element number `i`, counted row-major, is made of
    some words of block `i / n + counter`, `n` being how many elements a block makes
    and `counter` 0 where none is given. So results are the same on every device and
    however a program is split into kernels. To go on where a result of `m` elements
    ended, add `ceil(m / n)` to the counter, which wraps at `2**64`.

    `threefry` is Threefry-2x32 with 20 rounds on the 64-bit number, its high word
    first. Every element has a block of its own (`n` is 1): of its words, a `ui64` is
    `w0 * 2**32 + w1`, a `ui32` is `w0 ^ w1`, and narrower elements are the low bits of
    that. So these are the bits of `jax.random.bits` with `jax_threefry_partitionable`.

    `philox` is Philox-4x32 with 10 rounds on the number, its low word first, and two
    words of zero. A `ui32` is word `i % 4` of its block, and narrower elements are the
    low bits of that (`n` is 4); a `ui64` is `w0 * 2**32 + w1` for even `i` and
    `w2 * 2**32 + w3` for odd `i` (`n` is 2). Where neighbours are computed by one
    thread, they share the work, so this is the faster of the two.

    Example:
    ```mlir
    %b = array.random_bits %key : tensor<2xui32> -> tensor<4x8xui32>
    %c = array.random_bits %key counter(%n : tensor<ui64>) sizes(%m) algorithm = philox
       : tensor<2xui32> -> tensor<?xui64>
    ```
  }];
  let arguments = (ins Array_KeyTensor:$key, Optional<Array_ScalarOf<UI64>>:$counter,
                       Variadic<Index>:$sizes, Array_Algorithm:$algorithm);
  let results = (outs Array_TensorOf<Array_UInt>:$result);
  let assemblyFormat = [{
    $key (`counter` `(` $counter^ `:` type($counter) `)`)? (`sizes` `(` $sizes^ `)`)?
    (`algorithm` `=` `` $algorithm^)? attr-dict `:` type($key) `->` type($result)
  }];
}

def Array_RandomSplitOp : Array_InferredOp<"random_split", [Array_Decomposable]> {
  let summary = "New keys from a key";
  let description = [{
    As `jax.random.split`: row `i` of the result holds the two words, the high one first,
    of element `i` of `array.random_bits` of `ui64`. The keys, and the numbers made from them, are independent of each
    other; do not use the key that was split for anything else.

    Example:
    ```mlir
    %keys = array.random_split %key num = 3 : tensor<2xui32> -> tensor<3x2xui32>
    ```
  }];
  let arguments = (ins Array_KeyTensor:$key, I64Attr:$num, Array_Algorithm:$algorithm);
  let results = (outs RankedTensorOf<[UI32]>:$result);
  let assemblyFormat = [{
    $key `num` `=` $num (`algorithm` `=` `` $algorithm^)? attr-dict `:` type($key) `->` type($result)
  }];
}

/// A distribution that the result's shape and a key determine.
class Array_DistributionOp<string mnemonic> : Array_SizedOp<mnemonic, [Array_Decomposable]>;

def Array_RandomUniformOp : Array_DistributionOp<"random_uniform"> {
  let summary = "Floats evenly distributed in an interval";
  let description = [{
    `low + u * (high - low)` with `u` in `[0, 1)`: as many random bits as the type has
    digits, times a power of two, so every `u` is a multiple of that and 1 is never
    reached. `low` is 0 and `high` is 1 unless given. Where rounding would give
    `high`, the number below it comes out.

    Example:
    ```mlir
    %u = array.random_uniform %key : tensor<2xui32> -> tensor<4x8xf32>
    %v = array.random_uniform %key low = -1.0 high = 1.0 sizes(%n) : tensor<2xui32> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Array_KeyTensor:$key, Variadic<Index>:$sizes,
                       DefaultValuedAttr<F64Attr, "0.0">:$low, DefaultValuedAttr<F64Attr, "1.0">:$high,
                       Array_Algorithm:$algorithm);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $key (`low` `=` $low^)? (`high` `=` $high^)? (`sizes` `(` $sizes^ `)`)?
    (`algorithm` `=` `` $algorithm^)? attr-dict `:` type($key) `->` type($result)
  }];
}

class Array_PlainDistributionOp<string mnemonic> : Array_DistributionOp<mnemonic> {
  let arguments = (ins Array_KeyTensor:$key, Variadic<Index>:$sizes, Array_Algorithm:$algorithm);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $key (`sizes` `(` $sizes^ `)`)? (`algorithm` `=` `` $algorithm^)? attr-dict
    `:` type($key) `->` type($result)
  }];
}

def Array_RandomNormalOp : Array_PlainDistributionOp<"random_normal"> {
  let summary = "Normally distributed floats of mean 0 and variance 1";
  let description = [{
    As `jax.random.normal`: `sqrt(2) * erfinv(u)` with `u` uniform in `(-1, 1)`.
    Computed in `f32` for 16-bit floats.

    Example:
    ```mlir
    %z = array.random_normal %key : tensor<2xui32> -> tensor<4x8xf32>
    ```
  }];
}

def Array_RandomGumbelOp : Array_PlainDistributionOp<"random_gumbel"> {
  let summary = "Gumbel-distributed floats";
  let description = [{
    As `jax.random.gumbel`: `-log(-log(u))` with `u` uniform in `(0, 1)`. Computed in
    `f32` for 16-bit floats.

    Example:
    ```mlir
    %g = array.random_gumbel %key : tensor<2xui32> -> tensor<4x8xf32>
    ```
  }];
}

def Array_RandomTruncatedNormalOp : Array_DistributionOp<"random_truncated_normal"> {
  let summary = "Normally distributed floats within bounds";
  let description = [{
    As `jax.random.truncated_normal`: the normal distribution of mean 0 and variance 1,
    given that the number lies in `[lower, upper]`. Computed in `f32` for 16-bit floats.

    Example:
    ```mlir
    %z = array.random_truncated_normal %key lower = -2.0 upper = 2.0 : tensor<2xui32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Array_KeyTensor:$key, Variadic<Index>:$sizes, F64Attr:$lower, F64Attr:$upper,
                       Array_Algorithm:$algorithm);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $key `lower` `=` $lower `upper` `=` $upper (`sizes` `(` $sizes^ `)`)?
    (`algorithm` `=` `` $algorithm^)? attr-dict `:` type($key) `->` type($result)
  }];
}

def Array_RandomBernoulliOp : Array_DistributionOp<"random_bernoulli"> {
  let summary = "Truth values that are true with a given probability";
  let description = [{
    As `jax.random.bernoulli`: true where a number uniform in `[0, 1)` is below
    `probability`, which broadcasts to the result's shape. A dropout mask is this with
    the probability to keep; it is computed where it is used.

    Example:
    ```mlir
    %m = array.random_bernoulli %key, %p : (tensor<2xui32>, tensor<f32>) -> tensor<4x8xi1>
    ```
  }];
  let arguments = (ins Array_KeyTensor:$key, Array_FloatTensor:$probability, Variadic<Index>:$sizes,
                       Array_Algorithm:$algorithm);
  let results = (outs Array_BoolTensor:$result);
  let assemblyFormat = [{
    $key `,` $probability (`sizes` `(` $sizes^ `)`)? (`algorithm` `=` `` $algorithm^)? attr-dict
    `:` `(` type($key) `,` type($probability) `)` `->` type($result)
  }];
}

def Array_RandomCategoricalOp : Array_InferredOp<"random_categorical", [Array_Decomposable]> {
  let summary = "Indices drawn with given log-probabilities";
  let description = [{
    As `jax.random.categorical`: along `axis`, index `i` with a probability
    proportional to `exp(logits[i])`, as the argmax of the logits plus Gumbel noise.
    The result counts in `i32` or `i64`, as its type says.

    Example:
    ```mlir
    %i = array.random_categorical %key, %logits axis = 1
       : (tensor<2xui32>, tensor<4x50xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Array_KeyTensor:$key, Array_FloatTensor:$logits, I64Attr:$axis,
                       Array_Algorithm:$algorithm);
  let results = (outs RankedTensorOf<[I32, I64]>:$result);
  let assemblyFormat = [{
    $key `,` $logits `axis` `=` $axis (`algorithm` `=` `` $algorithm^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYRANDOMOPS_TD
