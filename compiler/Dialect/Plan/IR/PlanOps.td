//===- PlanOps.td - Operations of the plan dialect --------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PLAN_OPS_TD
#define XC_PLAN_OPS_TD

include "compiler/Dialect/Plan/IR/PlanReductionAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// On tensors: which ops make one kernel
//===----------------------------------------------------------------------===//

def Plan_RegionOp : Plan_Op<"region", [AttrSizedOperandSegments, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Ops that become one kernel";
  let description = [{
    Formed by `-xc-form-dispatches`. The body sees values from above; `dims` gives the dynamic sizes of the
    results, in order. Where `reuse` is not empty, result i may be written into the memory of
    `reusable[i]` (a value used here for the
    last time, read only at the element that is written); -1 means no such value is known. Example:
    ```mlir
    %y = plan.region -> (tensor<?x64xf32>) dims(%n) {
      %e = linalg.exp ins(%x : tensor<?x64xf32>) outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
      plan.yield %e : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$dims, Variadic<AnyRankedTensor>:$reusable, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reuse);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `->` `(` type($outputs) `)` (`dims` `(` $dims^ `)`)? (`reusable` `(` $reusable^ `:` type($reusable) `)`)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Plan_YieldOp : Plan_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"RegionOp">]> {
  let summary = "Results of a region";
  let description = [{
    Ends the body of a `plan.region`. Example:
    ```mlir
    plan.yield %e : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
}

def Plan_DispatchOp : Plan_Op<"dispatch", [AttrSizedOperandSegments, Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Run a kernel on tensors";
  let description = [{
    Runs the kernel module `kernel` (a nested `builtin.module` with `plan.kernel`). Its bindings are
    the
    operands, then the results; its scalars are `scalars`. `dims` are the dynamic sizes of the results, in
    order. `reuse[i]` is the operand whose memory result i may take over, or -1.

    The kernel writes only a part of result `updated[j]`: the rest is what `inits[j]` holds, which is no binding. So the result's memory is
    that of the init, or the init is copied there before. Example:
    ```mlir
    %y = plan.dispatch @exp(%x : tensor<?x64xf32>) scalars(%n) -> (tensor<?x64xf32>) dims(%n) reuse [-1]
    %c = plan.dispatch @update(%row, %i : tensor<1x64xf32>, tensor<i32>) -> (tensor<8x64xf32>) reuse [-1]
       updates [0] inits(%cache : tensor<8x64xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs, Variadic<Index>:$scalars,
                       Variadic<Index>:$dims, DenseI64ArrayAttr:$reuse,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$updated, Variadic<AnyRankedTensor>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` ($inputs^ `:` type($inputs))? `)` (`scalars` `(` $scalars^ `)`)?
    `->` `(` type($outputs) `)` (`dims` `(` $dims^ `)`)? `reuse` $reuse
    (`updates` $updated^ `inits` `(` $inits `:` type($inits) `)`)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// What result `index` is but for the part that the kernel writes; null if it writes all of it.
    ::mlir::Value getInit(unsigned index);
  }];
  let hasVerifier = 1;
}

def Plan_BranchOp : Plan_Op<"branch", [Pure]> {
  let summary = "One of two functions on tensors, as data or sizes say";
  let description = [{
    Calls `then` where `condition` (a truth value as i8) is not 0, else `otherwise`, with `captures`. The functions are private to
    the module and used nowhere else; `-xc-build-plan` puts their commands into regions of a `plan.control`. A condition that is an
    index, 0 or 1, follows from sizes: the host chooses when inputs are bound, and the regions are those of a `plan.choose`. Example:
    ```mlir
    %y = plan.branch %p then @main_if0_then otherwise @main_if0_else(%x) : (tensor<i8>, tensor<4xf32>) -> tensor<4xf32>
    %z = plan.branch %few then @main_if1_then otherwise @main_if1_else(%u) : (index, tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, Index]>:$condition, Variadic<AnyRankedTensor>:$captures,
                       FlatSymbolRefAttr:$then, FlatSymbolRefAttr:$otherwise);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $condition `then` $then `otherwise` $otherwise `(` $captures `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Plan_LoopOp : Plan_Op<"loop", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "A function on tensors called again and again, as data says";
  let description = [{
    The values start as `inits`. While `condition`, called with the values and `captures`, returns a truth value (as i8) that is not
    0, `body`, called with the same, returns the next ones. Result i has the shape of init i. As for `plan.branch` the functions
    become regions of a `plan.control`. Example:
    ```mlir
    %n, %y = plan.loop condition @main_while0_condition body @main_while0_body inits(%zero, %x : tensor<i32>, tensor<4xf32>)
        captures(%limit : tensor<i32>) -> tensor<i32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$condition, FlatSymbolRefAttr:$body, Variadic<AnyRankedTensor>:$inits,
                       Variadic<AnyRankedTensor>:$captures);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    `condition` $condition `body` $body `inits` `(` $inits `:` type($inits) `)`
    (`captures` `(` $captures^ `:` type($captures) `)`)? attr-dict `->` type($outputs)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What sizes must be like
//===----------------------------------------------------------------------===//

def Plan_RequireOp : Plan_Op<"require"> {
  let summary = "Require that two sizes agree";
  let description = [{
    Refuses a call whose inputs have other shapes than an op can work with, where that is not known before: `left` and
    `right` must be `equal`, `left` must be `at_most` `right`, or 1 or equal to it (`one_or_equal`). Sizes are taken to be 0 or more;
    a `left` that may be negative, an offset, must be `at_least` `right`, a constant. `what` says what was
    expected; the runtime appends both numbers and the sizes that they come from. Made where array ops
    become linalg, and by `-xc-outline-dispatches` for operands of one op that must agree in a dim; that pass drops what it can prove, and
    `-xc-build-plan` lists the others as `requirements` of the plan. Example:
    ```mlir
    plan.require %n equal %m, "array.reshape: expected equally many elements in operand and result"
    ```
  }];
  let arguments = (ins Index:$left, Plan_Comparison:$comparison, Index:$right, StrAttr:$what);
  let assemblyFormat = "$left $comparison $right `,` $what attr-dict";
}

//===----------------------------------------------------------------------===//
// Inside a kernel: what it gets from outside
//===----------------------------------------------------------------------===//

def Plan_BindingOp : Plan_Op<"binding", [Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Memory that the dispatch binds to the kernel";
  let description = [{
    Binding `ordinal`, contiguous and row-major, `alignment` bytes aligned, as a memref whose
    dynamic sizes are
    `sizes`. Bindings do not overlap, except that one marked `may_alias` may be the same memory as
    another one
    so marked, element for element. Lowers to a pointer argument (CUDA) or an entry of the pointer
    table (CPU).
    Example:
    ```mlir
    %x = plan.binding 0 read align 64 sizes(%n) : memref<?x64xf32>
    ```
  }];
  let arguments = (ins I64Attr:$ordinal, Plan_Access:$access, I64Attr:$alignment, UnitAttr:$may_alias,
                       Variadic<Index>:$sizes);
  let results = (outs AnyMemRef:$memory);
  let assemblyFormat = [{
    $ordinal $access `align` $alignment (`may_alias` $may_alias^)? (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($memory)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Plan_ScalarOp : Plan_Op<"scalar", [Pure]> {
  let summary = "A number that the dispatch gives to the kernel";
  let description = [{
    Scalar `ordinal` of the dispatch: a symbolic size, or a formula over such. Never negative; `max` is the
    largest value it can have, where known (so that 32-bit indices can be proven). Example:
    ```mlir
    %n = plan.scalar 0 : index
    %m = plan.scalar 1 max 4096 : index
    ```
  }];
  let arguments = (ins I64Attr:$ordinal, OptionalAttr<I64Attr>:$max);
  let results = (outs Index:$value);
  let assemblyFormat = "$ordinal (`max` $max^)? attr-dict `:` type($value)";
}

def Plan_WorkgroupIdOp : Plan_Op<"workgroup_id", [Pure]> {
  let summary = "Position of this workgroup in the grid";
  let description = [{
    Along one axis. CUDA: the block's index. Example:
    ```mlir
    %i = plan.workgroup_id x : index
    ```
  }];
  let arguments = (ins Plan_Axis:$axis);
  let results = (outs Index:$id);
  let assemblyFormat = "$axis attr-dict `:` type($id)";
}

//===----------------------------------------------------------------------===//
// The plan: commands on buffers
//===----------------------------------------------------------------------===//

def Plan_FunctionOp : Plan_Op<"function", [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol, NoRegionArguments]> {
  let summary = "The plan of one function on one target";
  let description = [{
    A block of commands whose edges say what must have ended before. `symbols`,
    `inputs`, `outputs`: a list of one dictionary each, as `-xc-build-plan` writes them; `arena` is a formula over the symbols: the
    bytes of scratch memory that a call needs. The attribute `requirements`, where there is one, lists what sizes must
    be like (`plan.require`): a comparison, two formulas, what is expected and where; `arena_max` is the most that `arena` can be,
    where ranges bound all symbols in it; `definitions` has the formulas, each over the symbols before it, of symbols that stand for long
    formulas, behind those of `symbols`. Example:
    ```mlir
    plan.function @main symbols [...] inputs [...] outputs [...] arena s0 * 256 {
      plan.launch @exp [#plan.range<...>, #plan.range<...>] scalars [s0] after []
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$symbols, ArrayAttr:$inputs, ArrayAttr:$outputs,
                       Plan_FormulaAttr:$arena);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `symbols` $symbols `inputs` $inputs `outputs` $outputs `arena` custom<Formula>($arena)
    attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// The formulas of the symbols behind those of `symbols`, each over the symbols before it.
    ::mlir::ArrayAttr getDefinitions() { return (*this)->getAttrOfType<::mlir::ArrayAttr>("definitions"); }
  }];
  let hasVerifier = 1;
}

class Plan_Command<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, traits # [ParentOneOf<["FunctionOp", "ControlOp", "ChooseOp"]>]>;

def Plan_LaunchOp : Plan_Command<"launch"> {
  let summary = "Launch a kernel";
  let description = [{
    `bindings` are the kernel's bindings, `scalars` its scalars, formulas over the function's symbols. `after` are
    the positions, within the function, of the commands that must have ended. Example:
    ```mlir
    plan.launch @exp [#plan.range<...>] scalars [s0, s0 * 4] after [0, 2]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Plan_RangeArrayAttr:$bindings, Plan_FormulaArrayAttr:$scalars,
                       DenseI64ArrayAttr:$after);
  let assemblyFormat = "$kernel $bindings `scalars` custom<Formulas>($scalars) `after` $after attr-dict";
}

def Plan_CopyOp : Plan_Command<"copy"> {
  let summary = "Copy bytes between buffers";
  let description = [{
    The ranges have equal length and do not overlap. Example:
    ```mlir
    plan.copy <read, ...> to <write, ...> after [1]
    ```
  }];
  let arguments = (ins Plan_RangeAttr:$source, Plan_RangeAttr:$target, DenseI64ArrayAttr:$after);
  let assemblyFormat = "$source `to` $target `after` $after attr-dict";
}

def Plan_ControlOp : Plan_Command<"control", [NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "Run commands that depend on data";
  let description = [{
    `condition` is one byte. Without `loop`: runs the first region where the byte is not 0, else the second. With `loop`: runs the
    first region, and while the byte is then not 0, the second and the first again. In a region `after` counts its own commands.
    Example:
    ```mlir
    plan.control loop <read, arena, 0 at 0 length 1> after [0] {
      plan.launch @less [...] scalars [] after []
    } {
      plan.launch @step [...] scalars [] after []
    }
    ```
  }];
  let arguments = (ins Plan_RangeAttr:$condition, UnitAttr:$loop, DenseI64ArrayAttr:$after);
  let regions = (region SizedRegion<1>:$first, SizedRegion<1>:$second);
  let assemblyFormat = [{
    (`loop` $loop^)? $condition `after` $after attr-dict-with-keyword $first $second
  }];
}

def Plan_ChooseOp : Plan_Command<"choose", [NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "Run commands that depend on sizes";
  let description = [{
    `condition` is a formula over the function's symbols that is 0 or 1. Runs the first region where that is 1, else the second. Which one is known
    when inputs are bound, so what is launched has the commands of that region in the place of this one, and nothing of the other.
    In a region `after` counts its own commands. Example:
    ```mlir
    plan.choose 1 floordiv (s0 floordiv 1024 + 1) after [0] {
      plan.launch @at_once [...] scalars [s0] after []
    } {
      plan.launch @in_parts [...] scalars [s0] after []
    }
    ```
  }];
  let arguments = (ins Plan_FormulaAttr:$condition, DenseI64ArrayAttr:$after);
  let regions = (region SizedRegion<1>:$first, SizedRegion<1>:$second);
  let assemblyFormat = [{
    custom<Formula>($condition) `after` $after attr-dict-with-keyword $first $second
  }];
}

def Plan_FillOp : Plan_Command<"fill"> {
  let summary = "Fill a buffer with a pattern";
  let description = [{
    Repeats the low `pattern_size` (1, 2, 4 or 8) bytes of `pattern`. Example:
    ```mlir
    plan.fill <write, ...> with 0 size 4 after []
    ```
  }];
  let arguments = (ins Plan_RangeAttr:$target, I64Attr:$pattern, I64Attr:$pattern_size, DenseI64ArrayAttr:$after);
  let assemblyFormat = "$target `with` $pattern `size` $pattern_size `after` $after attr-dict";
}

#endif // XC_PLAN_OPS_TD
