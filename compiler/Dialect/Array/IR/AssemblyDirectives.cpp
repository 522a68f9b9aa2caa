//===- AssemblyDirectives.cpp - Custom pieces of the ops' textual form -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AssemblyDirectives.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Types of elementwise ops
//===----------------------------------------------------------------------===//

ParseResult parseElementwiseTypeList(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type first;
  if (parser.parseType(first))
    return failure();
  ArrayRef<Type *> operands = types.drop_back();
  if (auto function = dyn_cast<FunctionType>(first)) {
    if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
      return parser.emitError(loc, "expected ")
             << operands.size() << " operand types and one result type, got " << function;
    for (auto [type, input] : llvm::zip_equal(operands, function.getInputs()))
      *type = input;
    *types.back() = function.getResult(0);
    return success();
  }
  for (Type *type : types)
    *type = first;
  if (operands.size() == 1 && succeeded(parser.parseOptionalArrow()))
    return parser.parseType(*types.back());
  return success();
}

void printElementwiseTypeList(OpAsmPrinter &printer, TypeRange types) {
  if (llvm::all_equal(types)) {
    printer << types.front();
    return;
  }
  TypeRange operands = types.drop_back();
  if (operands.size() == 1)
    printer << operands.front() << " -> " << types.back();
  else
    printer.printFunctionalType(operands, types.take_back());
}

//===----------------------------------------------------------------------===//
// Slice ranges
//===----------------------------------------------------------------------===//

/// Parses a number into `value` where there is one.
static ParseResult parseBound(OpAsmParser &parser, int64_t &value) {
  OptionalParseResult result = parser.parseOptionalInteger(value);
  return result.has_value() ? *result : success();
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits, DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> startList, limitList, strideList;
  auto parseRange = [&]() -> ParseResult {
    int64_t start = 0, limit = ShapedType::kDynamic, stride = 1;
    if (parseBound(parser, start) || parser.parseColon() || parseBound(parser, limit))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(stride))
      return failure();
    startList.push_back(start);
    limitList.push_back(limit);
    strideList.push_back(stride);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRange))
    return failure();
  MLIRContext *context = parser.getContext();
  starts = DenseI64ArrayAttr::get(context, startList);
  limits = DenseI64ArrayAttr::get(context, limitList);
  strides = DenseI64ArrayAttr::get(context, strideList);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts,
                      DenseI64ArrayAttr limits, DenseI64ArrayAttr strides) {
  printer << '[';
  // Not `zip_equal`: an op that does not verify is printed, too.
  llvm::interleaveComma(llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()),
                        printer, [&](auto range) {
                          auto [start, limit, stride] = range;
                          if (start != 0)
                            printer << start;
                          printer << ':';
                          if (!ShapedType::isDynamic(limit))
                            printer << limit;
                          if (stride != 1)
                            printer << ':' << stride;
                        });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Parameters and variables
//===----------------------------------------------------------------------===//

ParseResult parseTypedParameter(OpAsmParser &parser, ParameterAttr &parameter, Type &type) {
  std::string scope, key;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&scope) || parser.parseColon())
    return failure();
  // A second colon makes it `::`, which a key follows; a single one starts the type.
  if (succeeded(parser.parseOptionalColon()) && (parser.parseString(&key) || parser.parseColon()))
    return failure();
  parameter =
      parser.getChecked<ParameterAttr>(loc, parser.getContext(), StringRef(scope), StringRef(key));
  return parameter ? parser.parseType(type) : failure();
}

void printTypedParameter(OpAsmPrinter &printer, Operation *, ParameterAttr parameter, Type type) {
  printer.printString(parameter.getScope());
  if (!parameter.getKey().empty()) {
    printer << "::";
    printer.printString(parameter.getKey());
  }
  printer << " : " << type;
}

ParseResult parseVariableType(OpAsmParser &parser, TypeAttr &type, Attribute &initialValue) {
  Type tensor;
  if (parser.parseColonType(tensor))
    return failure();
  type = TypeAttr::get(tensor);
  if (failed(parser.parseOptionalEqual()))
    return success();
  return parser.parseAttribute(initialValue, tensor);
}

void printVariableType(OpAsmPrinter &printer, Operation *, TypeAttr type, Attribute initialValue) {
  printer << ": " << type.getValue();
  if (initialValue) {
    printer << " = ";
    printer.printAttributeWithoutType(initialValue);
  }
}

} // namespace xc::array
