//===- ArrayInterfaces.td - What array ops promise to passes --*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYINTERFACES_TD
#define XC_DIALECT_ARRAY_IR_ARRAYINTERFACES_TD

include "mlir/IR/OpBase.td"

def ArrayElementwiseOpInterface : OpInterface<"ArrayElementwiseOpInterface"> {
  let cppNamespace = "::xc::array";
  let description = [{
    The one place that says "this op computes elementwise": element `i` of the
    only result depends on element `i` of each operand, after the operands have
    been broadcast against each other (see the dialect's broadcasting rules).
    Has no methods: the shape rule is the same for every such op, and the
    computation is the op itself.
  }];
}

def ArrayShapeOpInterface : OpInterface<"ArrayShapeOpInterface"> {
  let cppNamespace = "::xc::array";
  let description = [{
    The shape function of an op: the sizes of its results, made of those of its
    operands. One function serves who wants values (MLIR's
    `ReifyRankedShapedTypeOpInterface`, which every such op has by it) and who
    wants formulas, for which no op is built.
  }];
  let methods = [
    InterfaceMethod<
      "Appends the sizes of each result, made with `sizes`, to `shapes`.",
      "::llvm::LogicalResult", "reifySizes",
      (ins "::xc::array::SizeBuilder &":$sizes,
           "::mlir::ReifiedRankedShapedTypeDims &":$shapes)>
  ];
}

def ArrayDecomposableOpInterface : OpInterface<"ArrayDecomposableOpInterface"> {
  let cppNamespace = "::xc::array";
  let description = [{
    A composite op: one that simpler array ops can express. Conversions that
    have no kernel of their own for a composite ask for its decomposition, as
    `-xc-array-decompose` does.
  }];
  let methods = [
    InterfaceMethod<
      [{
        Builds the op's results from simpler array ops at the builder's insertion
        point and returns one value per result, each of exactly the result's
        type. Does not erase or replace the op. Fails, with nothing emitted and
        nothing reported, where this instance has no decomposition.
      }],
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def ArrayVjpOpInterface : OpInterface<"ArrayVjpOpInterface"> {
  let cppNamespace = "::xc::array";
  let description = [{
    Reverse-mode differentiation: the vector-Jacobian product of an op.

    Given the cotangent of each result (what the loss changes by, per unit of
    that result), the op builds the cotangent of each operand. Rules:

    - a cotangent has exactly the type of the value it belongs to; an operand
      that was broadcast gets the sum over what it was broadcast along;
    - a result that the loss does not depend on has a null cotangent, which
      counts as zero; at least one is not null;
    - an operand through which nothing flows (integers, indices, predicates, what
      is rounded to a step) gets a null value;
    - results of the op itself may be used (`exp` multiplies by its own
      result), so the op must stay alive.

    A composite without this interface, or that fails, is differentiated through
    its decomposition. Any other such op has no gradient, and differentiation
    through it is an error at its location.
  }];
  let methods = [
    InterfaceMethod<
      [{
        Builds the operands' cotangents at the builder's insertion point; one
        entry per operand, null where there is none.
      }],
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents)>,
    InterfaceMethod<
      [{
        The same where nobody asks for the cotangents of operands that `isWanted`
        does not hold for: those may be null.
      }],
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildWantedVjp",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
           "::llvm::function_ref<bool(::mlir::Value)>":$isWanted),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op.buildVjp(builder, cotangents);
      }]>
  ];
}

def ArraySizedOpInterface : OpInterface<"ArraySizedOpInterface"> {
  let cppNamespace = "::xc::array";
  let description = [{
    An op whose result shape is chosen freely rather than inferred: the result
    type gives it, and `sizes` holds one `index` for each `?` of that type, in
    order.
  }];
  let methods = [
    InterfaceMethod<"The sizes of the result's dynamic dims, in order.",
      "::mlir::OperandRange", "getSizes">,
    InterfaceMethod<"The sizes, to be changed.",
      "::mlir::MutableOperandRange", "getSizesMutable">,
    InterfaceMethod<"Checks that the op could have a result of this type.",
      "::mlir::LogicalResult", "checkResultType",
      (ins "const ::xc::array::RuleContext &":$rule, "::mlir::RankedTensorType":$type)>
  ];
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYINTERFACES_TD
