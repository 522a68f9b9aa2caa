//===- Passes.td - Passes over the array dialect ------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_PASSES_TD
#define XC_DIALECT_ARRAY_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def FixDims : Pass<"xc-array-fix-dims", "::mlir::func::FuncOp"> {
  let summary = "Give dims that can have one size only that size";
  let description = [{
    Casts each argument of which `array.dim_range` leaves a `?` one size to that
    size, and back for its users, so that `-xc-array-infer-shapes` finds it. The
    function's type stays: the size is one that the runtime checks.

    Example:
    ```mlir
    func.func @f(%x: tensor<?xf32> {array.dims = ["n"]})                            // input
        attributes {array.dim_range = {n = [5, 12, 8]}} {
      "use"(%x) : (tensor<?xf32>) -> ()
    func.func @f(%x: tensor<?xf32> {array.dims = ["n"]})                            // output
        attributes {array.dim_range = {n = [5, 12, 8]}} {
      %0 = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
      %1 = tensor.cast %0 : tensor<8xf32> to tensor<?xf32>
      "use"(%1) : (tensor<?xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def InferShapes : Pass<"xc-array-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Replace dynamic dims by static ones wherever they can be derived";
  let description = [{
    Runs every array op's shape inference on the operand types it has, and gives
    its results the most static type; sizes that fold to constants go into the
    result type. What is learnt crosses functions: a function's results become
    what all its returns agree on, and the arguments of a private function what
    all its calls agree on. The arguments of public functions stay as they are,
    as do results that `array.alias` ties to one.

    Where a refined value meets an op outside the dialect, a `tensor.cast` gives
    it the type that the op expects. A contradiction that comes to light (4 + ?
    elements where the `?` turns out to be 5) is an error at the op.

    Example:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {           // input
      %0 = array.exp %x : tensor<4x8xf32> -> tensor<?x8xf32>
      return %0 : tensor<?x8xf32>
    }
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {           // output
      %0 = array.exp %x : tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def Decompose : Pass<"xc-array-decompose"> {
  let summary = "Replace composite ops by the simpler array ops they consist of";
  let description = [{
    Asks each op that implements `ArrayDecomposableOpInterface` for its
    decomposition, and again for composites in what comes out. Ops named in `keep`
    stay as they are, as do ops that refuse and those that `array.whole` marks.

    Example:
    ```mlir
    %y = array.square %x : tensor<4xf32>                              // input
    %y = array.mul %x, %x : tensor<4xf32>                             // output
    ```
  }];
  let options = [ListOption<"keep", "keep", "std::string",
                            "Composite ops to leave, without the dialect's name: softmax,gelu">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def KeepAttention : Pass<"xc-array-keep-attention", "::mlir::ModuleOp"> {
  let summary = "Keep attention whole where a target may have a kernel for it";
  let description = [{
    Marks attention that a target may have one kernel for as `array.whole`. `-xc-array-decompose` then leaves it, and it becomes a kernel
    op. Whether a target takes it is decided where targets are known. Marked are:
    - each `array.attention` of f16, bf16 or f32 and vectors of known sizes. In a module with bounded dynamic dims all
      sizes must be known, but for the number of keys of fewer than 16 queries that are causal, or of one;
    - each `array.paged_attention` of f16, bf16 or f32 and vectors of known sizes;
    - each `array.attention_gradient` of such operands. In a module with bounded dynamic dims all sizes must be
      known. It gets more operands: the logsumexp of the attention that it is the gradient of, and the sums of products of its result and
      the cotangent.

    Example:
    ```mlir
    %y = array.attention %q, %k, %v scale = 0.125 : ...                 // input
    %y = array.attention %q, %k, %v scale = 0.125 {array.whole} : ...   // output
    ```
  }];
  let options = [Option<"mma", "mma", "bool", /*default=*/"true",
                        "Whether some target has kernels of matrix instructions. They take f16, bf16, f32, and gradients">,
                 Option<"blocks", "blocks", "bool", /*default=*/"false",
                        "Whether some target has one for 16 queries or more that takes f32, too">];
}

def NarrowWeights : Pass<"xc-array-narrow-weights", "::mlir::ModuleOp"> {
  let summary = "Hold and multiply weights of f32 in a type of 16 bits";
  let description = [{
    A weight is a parameter or constant of f32, of rank 2 or more and at least 4 KiB, that an `array.matmul`, `array.dot_general`,
    `array.grouped_matmul`, `array.conv` or `array.take` reads, directly or through ops that only move elements. It becomes one of `type`,
    rounded to nearest. Such products round their other operand to the type, too, and give f32, as does a lookup. Whatever else reads a
    weight reads it in f32. Everything that is no weight stays as it is.

    A constant with a number that `type` has no finite one for is an error.

    Example:
    ```mlir
    %w = array.parameter "weights"::"w" : tensor<64x64xf32>                                    // input
    %y = array.matmul %x, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %w = array.parameter "weights"::"w" : tensor<64x64xbf16>                                   // output
    %n = array.convert %x : tensor<?x64xf32> -> tensor<?x64xbf16>
    %y = array.matmul %n, %w : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xf32>
    ```
  }];
  let options = [Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "The type of weights: bf16 or f16">];
}

def Recognize : Pass<"xc-array-recognize", "::mlir::ModuleOp"> {
  let summary = "Replace small ops by the composite that they spell out";
  let description = [{
    Exporters write attention, norms and the like in small ops, of which there are no kernels as good as those of the ops. A table of
    recognizers finds:

    - softmax: `exp(x - m) / sum(exp(x - m))` or times the inverse, where `m` is a maximum;
    - attention: a product, scales, masks, softmax, a product. Dims may be in any order, with dims of size 1 among them; scales may be on
      the scores or on an operand; masks may be added, or chosen by `array.select` (of -infinity, or a number of at most -1000);
    - gradients of attention that come with a program, of 16-bit floats and, for targets with matrix instructions, of f32: products for
      what queries, keys and values get through the softmax, whose gradient is found in terms of its exponentials, too, and written by
      its weights;
    - shared heads: keys and values that are repeated for each query head;
    - causal masks: positions that are compared, or a constant, make `causal` and `window`; masks that hide nothing go;
    - transposes of heads: a transpose between two reshapes, of which the second merges what the first has split;
    - rotations: halves of the last dim that rotary embeddings join again become a dim of their own;
    - gathers and scatters of one element for each row, whose index vectors count the rows: `array.take_along_axis`, and `array.select`;
    - pools: the gradient of a maximum over an image that was padded before;
    - sums of multiples of something whose own sum is there: multiples of that;
    - sums of distances from a mean, times a number for each row, which are 0: what gradients of a variance have;
    - layer and RMS norms, then their scales and biases;
    - GELU and SiLU, by the values of an expression and not by its ops.

    Scores are then computed in `f32` and not rounded in between. Queries that see no key give 0 where -infinity gave NaN. Nothing is
    recognized of which something in between is used elsewhere. What has been found, and how often, is in the module's attribute
    `array.recognized`. Example:
    ```mlir
    %m = array.reduce max, %x axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>         // input
    %s = array.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    %e = array.exp %s : tensor<4x8xf32>
    %t = array.reduce sum, %e axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
    %y = array.div %e, %t : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    %y = array.softmax %x axis = 1 : tensor<4x8xf32>                                           // output
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"mma", "mma", "bool", /*default=*/"true",
                        "Whether some target has kernels of matrix instructions, which gradients of attention of f32 are worth">];
}

def ResolveExtents : Pass<"xc-array-resolve-extents", "::mlir::func::FuncOp"> {
  let summary = "Compute with bounded dynamic dims on arrays of their bounds";
  let description = [{
    Finds by forward dataflow which dims of which values are bounded dynamic dims (see the dialect's
    description), and what holds their extents: from `array.set_extent` on, through ops, ifs and
    whiles, whose values carry an extent beside the array. Then a tensor is an array of the bounds'
    sizes and nothing else is left of the extents than where an op's meaning needs them: what lies
    behind an extent is replaced by the neutral element where dims are reduced, contracted, sorted
    or scanned towards their begin; indices are kept below it; sizes that data needs (the divisor of
    a mean) become data. `array.within` says where kernels need not compute what lies behind.

    An op that has no rule for bounded dynamic dims is an error, as are dims of an op that have to be
    equal and have different extents, a size that the host would have to know, and an operand or
    result of a function. Must run after `-xc-array-decompose`.

    Example:
    ```mlir
    %y = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>   // input
    %s = array.reduce sum, %y axes = [0] : tensor<?xf32> -> tensor<f32>
    %i = array.iota axis = 0 : tensor<64xi64>                                                // output
    %m = array.compare lt, %i, %extent : (tensor<64xi64>, tensor<i64>) -> tensor<64xi1>
    %z = array.select %m, %x, %zero : (tensor<64xi1>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    %s = array.reduce sum, %z axes = [0] : tensor<64xf32> -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def Differentiate : Pass<"xc-array-differentiate", "::mlir::ModuleOp"> {
  let summary = "Add the gradient of a function as another function";
  let description = [{
    Adds `NAME_vjp` beside the function NAME: it takes the inputs of NAME and then a cotangent of each result that holds
    floats (what a loss changes by, per unit of that result; 1 for the loss itself), and returns the cotangents of the
    inputs that `arguments` names, by number or `array.name`; without `arguments` of all inputs that hold floats. New
    inputs and results are called `d_` and what they are the cotangents of. The gradients are those of
    `ArrayVjpOpInterface`, or of an op's decomposition.

    Where the module declares `NAME_vjp`, a private function without a body, that one is given the gradient as its
    body, so that other functions may call it. Its type has to be that of the gradient; sizes of results may be
    `?` that the gradient knows.

    Errors at their place: an op without a gradient that a wanted input's influence on a result passes through
    (`array.while`, `array.if`, `linalg.generic`, ...); an assignment of what depends on a wanted input. Ops that do not
    depend on the wanted inputs need no gradient.

    Example, with `function=f`:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {                // input, which stays
      %y = array.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @f_vjp(%x: tensor<4xf32>, %d: tensor<4xf32> {array.name = "d_output0"})
        -> (tensor<4xf32> {array.name = "d_input0"}) {                // added
      %y = array.exp %x : tensor<4xf32>
      %0 = array.mul %d, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "", "The function's name">,
    ListOption<"arguments", "arguments", "std::string", "Inputs whose cotangents are wanted (default: all of floats)">
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def TestOpenDims : Pass<"xc-array-test-open-dims", "::mlir::ModuleOp"> {
  let summary = "Make sizes of a program's inputs known at run time only, for tests";
  let description = [{
    Gives the arguments of functions that nobody calls `?` instead of static dims other
    than 1 (which broadcast), and results of array ops what is inferred of them. An op that does not take such operands
    gets casts to the types they had, and so do ops with regions and those of other
    dialects; ops that say the sizes of their results keep them. Arguments with
    `array.dims`, and those that a result is an alias of, stay as they are.

    Example:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {            // input
      %y = array.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
      return %y : tensor<8x4xf32>
    }
    func.func @f(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {            // output
      %y = array.transpose %x permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
      return %y : tensor<?x?xf32>
    }
    ```
  }];
  let options = [Option<"onlyFirst", "only-first", "bool", "false", "Only the first dim of each argument">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TestVjp : Pass<"xc-array-test-vjp", "::mlir::func::FuncOp"> {
  let summary = "Return the cotangents of one op's operands, for tests";
  let description = [{
    Asks the function's op that carries the attribute `vjp` for its gradient, with the
    op's own results as cotangents, and makes the function return what comes out. A
    composite that has none of its own is differentiated through its decomposition.
    An operand that gets no cotangent is left out. An op that has no gradient is an
    error.

    Example:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {                // input
      %y = array.exp %x {vjp} : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {                // output
      %y = array.exp %x {vjp} : tensor<4xf32>
      %0 = array.mul %y, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

#endif // XC_DIALECT_ARRAY_TRANSFORMS_PASSES_TD
