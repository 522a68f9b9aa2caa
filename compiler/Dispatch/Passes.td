//===- Passes.td - Passes of dispatch formation ------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_PASSES_TD
#define XC_DISPATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def CloneForTargets : Pass<"xc-clone-for-targets", "::mlir::ModuleOp"> {
  let summary = "Give every target its own copy of the program";
  let description = [{
    Moves the program into one nested module for each entry of `targets` ("cpu:x86-64-v3", "cuda:sm_90a"), named `target_N`, with
    `plan.target`. From here on fusion, layouts and plans may differ between targets. Example:
    ```mlir
    module { func.func @main ... }                                                            // input
    module { module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} { func.func @main ... } }  // output
    ```
  }];
  let options = [ListOption<"targets", "targets", "std::string", "Targets as kind:arch">];
  let dependentDialects = ["::xc::plan::PlanDialect"];
}

def ChooseLayouts : Pass<"xc-choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "Choose layouts: store images with their channels last";
  let description = [{
    Convolutions are fast where channels lie next to one another: images with channels last, filters with taps first and features last. This
    pass turns tensors to that order: the images of convolutions, their filters, their results, and what elementwise ops,
    pools, padding, slices, concatenations and reshapes between them make of those. Where anything else makes or uses such a tensor it is
    transposed, once. All tensors that hang together are transposed, or none: the estimated gain has to be more than the elements
    that are transposed. Parameters and constants cost nothing, as they are transposed once an instance. On a GPU an image and a result
    may differ; a convolution on tensor cores gains more if both are transposed. One of a single tap is a product of matrices in any
    order: there it gains by that alone, and nothing on the CPU. What was done is in `plan.layouts` of the function, which `--report`
    prints. Runs on functions of a target's module. Example:
    ```mlir
    %y = linalg.generic {conv, maps (n, c, y + r, x + s), (f, c, r, s), (n, f, y, x)} ins(%x, %w)   // input
    %a = linalg.generic {transpose} ins(%x)   %b = linalg.generic {transpose} ins(%w)                // output
    %c = linalg.generic {conv, maps (n, y + r, x + s, c), (r, s, c, f), (n, y, x, f)} ins(%a, %b)
    %y = linalg.generic {transpose} ins(%c)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def HoistParameters : Pass<"xc-hoist-parameters", "::mlir::ModuleOp"> {
  let summary = "Move what depends on parameters alone to an init function";
  let description = [{
    Moves ops whose operands are external parameters and constants alone, or computed of such, into a private function with `plan.init`. Its
    plan runs once, before the first call; functions read its results by `plan.packed`. Variables are none of these: the host or a call may
    write them. A result is kept only where it takes no more memory than what it is computed of (twice as much, up to 64 KiB, where that
    saves a math function): broadcasts and widening conversions stay in the kernels that use them, as do views, and what no data goes into. Ops that
    two functions share are computed once. May run again behind passes that make more such ops; results that nothing reads any more go. Example:
    ```mlir
    %v = array.parameter "m"::"v" : tensor<64xf32>                        // input
    %r = linalg.generic ... ins(%v) { math.rsqrt } -> tensor<64xf32>
    %r = plan.packed 0 : tensor<64xf32>                                   // output, and a function that computes %r
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::xc::plan::PlanDialect"];
}

def FuseElementwise : Pass<"xc-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise producers into the generics that use them";
  let description = [{
    Merges a `linalg.generic` whose iterators are all parallel into the one generic that uses its result, where the user
    reads each element once. What several generics read is computed in each of them, and is in no memory at all. For that all of them must be
    able to, its body costs 12 at most, and its inputs of its size are no wider than its result. Inputs as wide must have other readers. A producer that a broadcast would compute again for each element is merged only where it is cheap: no
    `math` op and at most four ops. A body grows to a cost of 256 at most, where an `arith` op counts 1 and a `math` op up to 32
    (a sine), so that compile time stays linear. Where a body reads, with `tensor.extract`, what an elementwise generic makes, that generic's body is
    computed there, of elements of its inputs; and so on for those. Left alone is a producer that is needed elsewhere, unless at most an eighth of its elements
    are read, and one of fewer elements than are read, unless its body is an instruction or two. Runs before `-xc-form-dispatches`, which then sees whole chains as one op. Example:
    ```mlir
    %a = linalg.generic {...identity maps...} ins(%x) outs(%e) { math.exp }        // input
    %b = linalg.generic {...identity maps...} ins(%a, %y) outs(%e) { arith.addf }
    %b = linalg.generic {...identity maps...} ins(%x, %y) outs(%e) { math.exp, arith.addf }  // output
    ```
  }];
  let options = [Option<"fuse", "fuse", "bool", /*default=*/"true",
    "Merge ops; without it only initial values and constants become plain, as later passes expect them">];
  let dependentDialects = ["::xc::plan::PlanDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def MergeProducts : Pass<"xc-merge-products", "::mlir::func::FuncOp"> {
  let summary = "Merge products that share operand A";
  let description = [{
    Products of one tensor and several parameters or constants, as those that make queries, keys and values, become one whose second
    operand is the parameters side by side, and slices of its result. The elementwise op behind each comes along where all are alike: then what
    is added to each, a parameter too, is put side by side as well. Concatenations of parameters are made once an instance
    (`-xc-hoist-parameters`). Done for CUDA, where all readers of the results can read slices. A reshape of a slice becomes a slice of a reshape, which attention reads where it is. Example:
    ```mlir
    %q = linalg.contract ins(%x, %wq) ...   %k = linalg.contract ins(%x, %wk) ...           // input
    %w = insert %wq, insert %wk                                                              // output
    %r = linalg.contract ins(%x, %w) ...   %q = extract_slice %r ...   %k = extract_slice %r ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def NarrowResults : Pass<"xc-narrow-results", "::mlir::func::FuncOp"> {
  let summary = "Store results that end in a widening conversion in the narrow type";
  let description = [{
    A `linalg.generic` that ends in a conversion to a wider float type, and whose result only generics read, yields what it converts
    instead; those convert what they read. The values are the same, and memory moves half the bytes. Fusion makes such ops: the
    conversion at the start of a norm goes into the residual sum in front of it. And a product whose sums are rounded first by an op that shares a
    kernel with a later product, as the sum of two convolutions does, rounds them itself. So do sums over windows that a kernel of its own
    transposes. Example:
    ```mlir
    %s = linalg.generic ... { %t = arith.truncf %a ...   %w = arith.extf %t ...   linalg.yield %w : f32 } -> tensor<8x64xf32>  // input
    %m = linalg.generic ... ins(%s) { arith.addf %out, %in }
    %s = linalg.generic ... { %t = arith.truncf %a ...   linalg.yield %t : bf16 } -> tensor<8x64xbf16>                       // output
    %m = linalg.generic ... ins(%s) { %w = arith.extf %in ...   arith.addf %out, %w }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ComputePlaces : Pass<"xc-compute-places", "::mlir::func::FuncOp"> {
  let summary = "Compute the places that gathers read at instead of looking them up";
  let description = [{
    Where a `tensor.extract` in the body of a `linalg.generic` reads at places that a constant lists, one for each index of a loop, and these go
    up evenly, as those of a resize do, they become arithmetic on the index: a loop's index times a number, plus one, divided by
    one, within the operand. The list is not read any more. Other lists stay. Only for targets whose kernels gain
    (`DispatchTarget::computesPlaces`): strategies then know which results read the same elements. Runs behind fusion. Example:
    ```mlir
    %c = arith.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi64>                                     // input
    %y = linalg.generic ... ins(%c) { %i = arith.index_cast %in ...   tensor.extract %x[%i] : tensor<3xf32> }
    %y = linalg.generic ... { %j = linalg.index 0   %i = arith.divui %j, %c2   tensor.extract %x[%i] }  // output
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
}

def AllowTF32 : Pass<"xc-allow-tf32", "::mlir::func::FuncOp"> {
  let summary = "Let f32 products round their operands to TF32";
  let description = [{
    Gives every product of f32 operands, and attention of f32 and its gradient, `plan.allow_tf32`, as the ops of the array dialect that say
    so themselves have it. Example:
    ```mlir
    %c = linalg.contract ... ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) ...                 // input
    %c = linalg.contract ... {plan.allow_tf32} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) ...  // output
    ```
  }];
}

def FoldProductUnitDims : Pass<"xc-fold-product-unit-dims", "::mlir::func::FuncOp"> {
  let summary = "Drop dims of size 1 from matrix products";
  let description = [{
    Drops the loops of a `linalg.contract` that name a batch of one, and those of rows and columns that have others beside them, with reshapes of its
    operands. Upstream's folding of unit dims does so for generic ops; where the product kept them, it would share no kernel with what follows. Rows or
    columns that are one in all stay, and so does a product of which nothing would be left. Example:
    ```mlir
    %c = linalg.contract ... ins(%a, %b : tensor<1x64x32xf32>, tensor<1x32x64xf32>) outs(%i : tensor<1x64x64xf32>)  // input
    %c = linalg.contract ... ins(%x, %y : tensor<64x32xf32>, tensor<32x64xf32>) outs(%z : tensor<64x64xf32>)        // output
    %d = tensor.expand_shape %c [[0, 1], [2]] ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::xc::plan::PlanDialect"];
}

def PromoteVariables : Pass<"xc-promote-variables", "::mlir::func::FuncOp"> {
  let summary = "Read variables first, assign them last";
  let description = [{
    Gives every use of a variable the value that was assigned last, keeps at most one read of each variable, at the start of the
    function, and one assignment, at its end. After it the order of the ops in between is theirs alone. Example:
    ```mlir
    array.variable.assign @w, %a   %r = array.variable.read @w   array.variable.assign @w, %b   // input
    array.variable.assign @w, %b                                    // output; %a stands for %r
    ```
  }];
}

def PlaceUpdates : Pass<"xc-place-updates", "::mlir::func::FuncOp"> {
  let summary = "Decide which updates of a part of an array are done in place";
  let description = [{
    A `kernel.update` touches its box only, and a `kernel.scatter` that this pass marks `in_place` the rows that it updates only;
    `-xc-build-plan` gives their results the memory of the destination, or copies the destination first. A scatter is marked where its
    destination is not read later, and is a variable, donated, carried by a loop, or computed by an op of another kind than
    elementwise. On CUDA its updates must also be few (64) or `unique`. Many that are `unique` are marked there whatever the
    destination is, since they would be sorted otherwise. An update whose destination's memory cannot be taken, and that
    would fuse with what makes the destination or reads the result, becomes an elementwise op on all of the destination. Runs
    behind `-xc-promote-variables`, on functions of a target's module. Example:
    ```mlir
    %r = kernel.update %row at [%i, %zero] into %x : ... -> tensor<8x4xf32>  // input; %x is an argument that is not donated
    %s = linalg.generic ... ins(%r) { math.exp }
    %r = linalg.generic ... ins(%x, %i, %zero) { select, tensor.extract %row }  // output
    %s = linalg.generic ... ins(%r) { math.exp }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FoldScales : Pass<"xc-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply filters with what scales the features of a product";
  let description = [{
    For products of which one operand depends on parameters and constants alone, and whose result meets scales and shifts that do so too,
    such as those of a batch norm. The operand is multiplied instead of the result, and the shifts become one.
    `-xc-hoist-parameters`, which has to come next, computes both once. Operands of another type than the product's stay: 16-bit filters would be
    rounded anew. Must run before elementwise ops are fused. Example:
    ```mlir
    (linalg.contract(%x, %w) - %mean) * %scale + %bias                         // input, in generics of one op each
    linalg.contract(%x, %w * %scale) + (%bias - %mean * %scale)  // output
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FormDispatches : Pass<"xc-form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Group the ops that become one kernel";
  let description = [{
    Puts every op that computes into a `plan.region`. Ops share a region if they iterate over the same rows: each dim of the region's
    row space is a parallel loop of every op in it, so that a workgroup that owns some rows never waits for another one.
    A softmax or a layer norm thus becomes one region; a contraction takes in its elementwise consumers and cheap producers. Views
    (reshapes, contiguous slices) stay outside; the bodies of a region cost 512 at most (see `-xc-fuse-elementwise`); other slices are cloned into their users. With `fuse=false` every op
    gets a region of its own. With `explain` a region has `plan.fusion`, which lists its joins and refusals for reports (ExplainGroups.h). Example:
    ```mlir
    %m = linalg.generic {iterators parallel, reduction} ...     // input: max of a row
    %e = linalg.generic {iterators parallel, parallel} ...      // exp(x - max)
    %e = plan.region -> (tensor<8x64xf32>) { ... plan.yield %r : tensor<8x64xf32> }  // output
    ```
  }];
  let options = [Option<"fuse", "fuse", "bool", /*default=*/"true", "Put several ops into one region where that is possible">,
                 Option<"explain", "explain", "bool", /*default=*/"false", "Say on each region why its ops are together, and apart from others">];
  let dependentDialects = ["::xc::plan::PlanDialect", "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
}

def PlaceParts : Pass<"xc-place-parts", "::mlir::func::FuncOp"> {
  let summary = "Let kernels store parts of a tensor where these are joined";
  let description = [{
    A region that only puts tensors side by side (`array.concatenate`) would copy them. The region that makes such a part stores it as a
    box of the whole instead, by a `kernel.update` as its last op: elementwise ops, and on CUDA products, convolutions and reductions. What
    something else needs as well is stored twice, by elementwise regions. The rest is copied by one region, with all that lies
    between. Such results are marked `plan.parts`: they touch what the others leave alone, so that no kernel waits for another. Runs behind
    `-xc-form-dispatches`. Example:
    ```mlir
    %a = plan.region -> (tensor<8x48xf32>) { ... plan.yield %p : tensor<8x48xf32> }  // input
    %c = plan.region -> (tensor<8x64xf32>) {
      %e = tensor.empty() : tensor<8x64xf32>
      %0 = tensor.insert_slice %a into %e[0, 0] [8, 48] [1, 1] ...
      %1 = tensor.insert_slice %x into %0[0, 48] [8, 16] [1, 1] ...
      plan.yield %1 : tensor<8x64xf32>
    }
    %a = plan.region -> (tensor<8x64xf32>) attributes {plan.parts = array<i64: 0>} {  // output
      ...
      %0 = kernel.update %p at [%zero, %zero] into %e : ...
      plan.yield %0 : tensor<8x64xf32>
    }
    %c = plan.region -> (tensor<8x64xf32>) attributes {plan.parts = array<i64: 0>} {
      %1 = kernel.update %x at [%zero, %c48] into %a : ...
      plan.yield %1 : tensor<8x64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::xc::kernel::KernelDialect"];
}

def SpreadResults : Pass<"xc-spread-results", "::mlir::func::FuncOp"> {
  let summary = "Let products and other reductions store their elements apart, with the zeros between them";
  let description = [{
    A region that only spreads a product, as the gradient of a strided convolution of one tap to its input does, would read the
    product and write the whole. On CUDA the product's region yields the spread tensor instead: its kernel stores each element and the
    places beside it. So do other reductions, as the sum of a product's parts; and a region that only copies a slice of what is computed
    becomes a part of that, too. Leaves what something else reads, wholes that begin or end with more than that, and symbolic sizes
    of which this is not known. Runs behind `-xc-form-dispatches`. Example:
    ```mlir
    %p = plan.region -> (tensor<8x14x64xf16>) { ... plan.yield %m : tensor<8x14x64xf16> }  // input
    %g = plan.region -> (tensor<8x28x64xf16>) {
      ...
      %0 = tensor.insert_slice %p into %zeros[0, 0, 0] [8, 14, 64] [1, 2, 1] ...
      plan.yield %0 : tensor<8x28x64xf16>
    }
    %g = plan.region -> (tensor<8x28x64xf16>) {  // output
      ...
      %0 = tensor.insert_slice %m into %zeros[0, 0, 0] [8, 14, 64] [1, 2, 1] ...
      plan.yield %0 : tensor<8x28x64xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def TestVerifyGroups : Pass<"xc-plan-test-verify-groups", "::mlir::func::FuncOp"> {
  let summary = "Check that a group which a test describes has each element that its ops need";
  let description = [{
    Runs the check of `-xc-form-dispatches` on one group: the ops of the function with `test.loops`, which numbers their loops, rows
    first. An op that reads what another row, or another thread, makes is an error. Ops with `test.closed` are a closed group, of which the
    last one goes over loops of its own and has to be able to compute the others where it needs their elements. Only for tests. Example:
    ```mlir
    func.func @spread(...) attributes {test.rows = 1 : i64} {           // input
      %m = linalg.generic {... test.loops = array<i32: 0, 1>} ...       // row i: the maximum over k of x[i, k]
      %y = linalg.generic {... test.loops = array<i32: 0, 0>} ...       // error: point (0, 0) alone is of row 0
    ```
  }];
}

def OutlineDispatches : Pass<"xc-outline-dispatches", "::mlir::ModuleOp"> {
  let summary = "Move each region's body into a kernel module";
  let description = [{
    Replaces every `plan.region` by a `plan.dispatch` of a new nested module that holds one kernel function. Tensors that the
    body uses from above become bindings, dynamic sizes and other index values become scalars (equal formulas are one scalar), constants
    that are scalars or splats are cloned. Runs on a target's module, which must have `plan.target`. Example:
    ```mlir
    %y = plan.region -> (tensor<8xf32>) { %e = linalg.exp ins(%x) ...; plan.yield %e }   // input
    %y = plan.dispatch @main_k0_exp(%x : tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]    // output
    ```
  }];
  let dependentDialects = ["::xc::plan::PlanDialect", "::mlir::bufferization::BufferizationDialect"];
}

def DedupKernels : Pass<"xc-dedup-kernels", "::mlir::ModuleOp"> {
  let summary = "Keep one of several identical kernel modules";
  let description = [{
    Kernel modules that differ only in their name and in source locations are merged; dispatches name the first of them. Example: the
    twelve layers of an encoder share one set of kernels.
    ```mlir
    %a = plan.dispatch @k0(...)   %b = plan.dispatch @k1(...)   // input, @k0 and @k1 alike
    %a = plan.dispatch @k0(...)   %b = plan.dispatch @k0(...)   // output
    ```
  }];
}

def AnnotateCost : Pass<"xc-annotate-cost", "::mlir::ModuleOp"> {
  let summary = "Say what each kernel moves and computes";
  let description = [{
    Sets on each kernel module what reports, benchmarks and debuggers read. Two are maps over the kernel's scalars:

    - `plan.bytes`, the fewest bytes that one run must move: each binding once. Of one that is only read at computed places no more
      elements count than are taken, where that number is known.
    - `plan.flops`, the arithmetic ops of its bodies times their iterations. A fused multiply-add counts two, any `math` op one.

    The others: `plan.locations` has the source locations of its ops, `plan.counts` how many bindings and scalars a dispatch brings, and
    `plan.operands` the element type and dims of each binding. Example:

    ```mlir
    module @k attributes {plan.kernel, plan.bytes = affine_map<()[s0] -> (s0 * 8)>, plan.flops = affine_map<()[s0] -> (s0)>, ...}
    ```
  }];
}

#endif // XC_DISPATCH_PASSES_TD
