//===- ArrayScanOps.td - Running totals along a dim --------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYSCANOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYSCANOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

/// An op on each line of its operand along dim `axis`, whose result is like the operand.
class Array_AlongAxisOp<string mnemonic, list<Trait> traits = []>
    : Array_InferredOp<mnemonic, traits> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::xc::array::inferAlongAxis({location, getOperationName()}, adaptor.getOperand(),
                                         adaptor.getAxis(), inferred);
    }
    ::llvm::LogicalResult $cppClass::reifySizes(
        ::xc::array::SizeBuilder &sizes, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::xc::array::reifyAs(getType(), sizes.sizes(getOperand()), sizes, shapes);
    }
  }];
}

class Array_ScanOp<string mnemonic, Type tensor, string what, string semantics, string neutral,
                   list<Trait> traits = []> : Array_AlongAxisOp<mnemonic, traits> {
  let summary = "Running " # what # " along a dim";
  let description = semantics # " Element `i` combines the elements up to and including `i`; with `exclusive` "
      "those before it, so that the first one is " # neutral # "; with `reverse` counted from the end. The work is "
      "linear in the number of elements, and floats are combined in an order that is not specified but the same on "
      "every run. 16-bit floats accumulate in `f32`.\n\nExample:\n```mlir\n%y = array." # mnemonic #
      " %x axis = 1 exclusive : tensor<4x8xf32> -> tensor<4x8xf32>\n%z = array." # mnemonic #
      " %x axis = 0 reverse : tensor<4x8xf32> -> tensor<4x8xf32>\n```\n";
  let arguments = (ins tensor:$operand, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict
    `:` type($operand) `->` type($result)
  }];
}

def Array_CumSumOp : Array_ScanOp<"cumsum", Array_NumberTensor, "sum",
    "As `numpy.cumsum`; integers wrap.", "0", [Array_Vjp]>;
def Array_CumProdOp : Array_ScanOp<"cumprod", Array_NumberTensor, "product",
    "As `numpy.cumprod`; integers wrap.", "1", [Array_Vjp]>;
def Array_CumMaxOp : Array_ScanOp<"cummax", Array_NumberTensor, "maximum",
    "As `numpy.maximum.accumulate`: once there was a NaN, all is NaN.",
    "the lowest number, or -infinity", [Array_Vjp]>;
def Array_CumMinOp : Array_ScanOp<"cummin", Array_NumberTensor, "minimum",
    "As `numpy.minimum.accumulate`: once there was a NaN, all is NaN.",
    "the highest number, or infinity", [Array_Vjp]>;
def Array_LogCumSumExpOp : Array_ScanOp<"logcumsumexp", Array_FloatTensor, "logarithm of the sum of exponentials",
    "As `numpy.logaddexp.accumulate`: no intermediate value overflows.", "-infinity", [Array_Vjp]>;

#endif // XC_DIALECT_ARRAY_IR_ARRAYSCANOPS_TD
