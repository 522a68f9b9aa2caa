//===- PlanReductionAttrs.td - How a reduction is split ---*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PLAN_REDUCTION_ATTRS_TD
#define XC_PLAN_REDUCTION_ATTRS_TD

include "compiler/Dialect/Plan/IR/PlanAttrs.td"

def Plan_Split : I32EnumAttr<"Split", "which iterations of a reduced loop make a partial result", [
    I32EnumAttrCase<"Slices", 0, "slices">, I32EnumAttrCase<"Rest", 1, "rest">,
    I32EnumAttrCase<"Cyclic", 2, "cyclic">, I32EnumAttrCase<"Columns", 3, "columns">,
    I32EnumAttrCase<"Rows", 4, "rows">]> {
  let cppNamespace = "::xc::plan";
}

def Plan_PartialAttr : Plan_Attr<"Partial", "partial"> {
  let summary = "A reduction to partial results, which a later one combines";
  let description = [{
    On a linalg op as `plan.partial`. `split` says which iterations each partial result is of:

    - `slices`: of a slice of the loop; a parallel loop of the op counts the slices.
    - `rest`: of the iterations that slices of equal length leave over.
    - `cyclic`: of every `number`-th iteration. Each result is indexed by one reduced loop modulo `number`.
    - `columns`: of `number` neighbouring columns of a row. The op reduces its last loop alone, and its only
      result has the quotient of that loop by `number` for its last index.
    - `rows`: of `number` neighbouring rows of a column. The op reduces all loops but its last one, and its only
      result has the quotient of their row-major position by `number` for its first index. That is not affine
      where a size inside the outermost one is symbolic: the quotient of the sum of indices stands for it,
      `(d0 + d1 + d2) floordiv 64`. An op that computes
      something of each such partial result, for another such op to read, has the same attribute.

    Such an op may share a kernel with ops that each work on one of the rows that it reduces, and one by
    `columns` or `rows` with the matrix product that computes them. Example: `#plan.partial<cyclic, 132>`.
  }];
  let parameters = (ins EnumParameter<Plan_Split>:$split, DefaultValuedParameter<"int64_t", "0">:$number);
  let assemblyFormat = "`<` $split (`,` $number^)? `>`";
  let genVerifyDecl = 1;
}

#endif // XC_PLAN_REDUCTION_ATTRS_TD
