//===- ArrayCustomOps.td - Kernels that the program brings -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYCUSTOMOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYCUSTOMOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_CustomKernelOp : Array_Op<"custom_kernel", [AttrSizedOperandSegments, Pure, Array_Shape,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A kernel that the program brings, as PTX";
  let description = [{
    Runs the kernel `entry` of the PTX text `ptx`, or of the text in `file`, a path relative to the model, which is read when the
    model is compiled. Its parameters are pointers to the inputs, then to the results, then the scalars:

    - Pointers are to contiguous, row-major elements as they are stored (`i1` as one byte, 0 or 1), aligned to 16 bytes; that of
      an input that is a slice of an array only to the input's elements. Results do not overlap anything, but result
      `i` may be in the memory of input `reuse[i]` where that is not -1, if nothing else needs that input: then the kernel has to be
      right in both cases.
    - `scalars` are sizes, or computed from sizes by index arithmetic, never negative. `as` says what each is: a parameter
      of type `i64` or `i32` (sizes that do not fit are refused when inputs are bound), or `index`, which is no parameter and only there
      for the grid.

    `grid` maps the scalars (its symbols, in order) to the blocks along x, y and z; where one of them is 0 the kernel is not launched.
    `block` are the threads of a block, `shared` the bytes of its dynamic shared memory. `sizes` holds one size for each `?` of
    the result types, in order.

    The kernel is the user's own code: nothing keeps it within its arrays. It must write every element of its results, give the same on the same
    inputs, and touch nothing else. It is not launched before everything in front of it has ended. It cannot be differentiated.

    The text's `.target` and `.version` are at most those of the target (docs/architecture.md), since it becomes a part of one PTX module with all other
    kernels; names that clash are changed.

    PTX runs on CUDA targets only. `else @function` names a function of the module with the same arguments and results
    that computes the same in array ops: what CPU targets run, and what says what the kernel means. It has no control, no
    variables and no custom kernels. Without it CPU targets are refused. A public one is an entry point of its own, to compare with.

    Example:
    ```mlir
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %c = array.custom_kernel "vadd"(%a, %b) scalars(%n) as [i32] sizes(%n)
           grid = affine_map<()[n] -> (n ceildiv 256, 1, 1)> block = [256, 1, 1] else @vadd_reference {file = "vadd.ptx"}
           : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$entry, Variadic<Array_Tensor>:$inputs, Variadic<Index>:$scalars,
                       OptionalAttr<TypeArrayAttr>:$scalar_types, Variadic<Index>:$sizes, AffineMapAttr:$grid,
                       DenseI64ArrayAttr:$block, DefaultValuedAttr<I64Attr, "0">:$shared,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reuse,
                       OptionalAttr<FlatSymbolRefAttr>:$reference, OptionalAttr<StrAttr>:$ptx,
                       OptionalAttr<StrAttr>:$file);
  let results = (outs Variadic<Array_Tensor>:$outputs);
  let assemblyFormat = [{
    $entry `(` $inputs `)` (`scalars` `(` $scalars^ `)` `as` $scalar_types)? (`sizes` `(` $sizes^ `)`)?
    `grid` `=` $grid `block` `=` $block (`shared` `=` $shared^)? (`reuse` `=` $reuse^)? (`else` $reference^)? attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYCUSTOMOPS_TD
