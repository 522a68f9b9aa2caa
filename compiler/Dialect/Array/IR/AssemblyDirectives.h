//===- AssemblyDirectives.h - Custom pieces of the ops' textual form -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ASSEMBLYDIRECTIVES_H
#define XC_DIALECT_ARRAY_IR_ASSEMBLYDIRECTIVES_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

namespace xc::array {

/// `T` where all operands and the result have type T, else `(A, B) -> R`
/// (`A -> R` for one operand).
mlir::ParseResult parseElementwiseTypeList(mlir::OpAsmParser &parser,
                                           llvm::ArrayRef<mlir::Type *> types);
void printElementwiseTypeList(mlir::OpAsmPrinter &printer, mlir::TypeRange types);

// Called by generated code, with a `Type &` or `Type` for each operand and the result.
template <typename... Types>
mlir::ParseResult parseElementwiseTypes(mlir::OpAsmParser &parser, Types &...types) {
  return parseElementwiseTypeList(parser, {&types...});
}
template <typename... Types>
void printElementwiseTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Types... types) {
  mlir::Type list[] = {types...};
  printElementwiseTypeList(printer, list);
}

/// `[0:4, 1:8:2, :]`.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &starts,
                                   mlir::DenseI64ArrayAttr &limits,
                                   mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *,
                      mlir::DenseI64ArrayAttr starts, mlir::DenseI64ArrayAttr limits,
                      mlir::DenseI64ArrayAttr strides);

/// `"scope"::"key" : T`, or `"scope" : T`.
mlir::ParseResult parseTypedParameter(mlir::OpAsmParser &parser, ParameterAttr &parameter,
                                      mlir::Type &type);
void printTypedParameter(mlir::OpAsmPrinter &printer, mlir::Operation *, ParameterAttr parameter,
                         mlir::Type type);

/// `: T`, or `: T = dense<...>`, the elements without a type of their own.
mlir::ParseResult parseVariableType(mlir::OpAsmParser &parser, mlir::TypeAttr &type,
                                    mlir::Attribute &initialValue);
void printVariableType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::TypeAttr type,
                       mlir::Attribute initialValue);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_ASSEMBLYDIRECTIVES_H
