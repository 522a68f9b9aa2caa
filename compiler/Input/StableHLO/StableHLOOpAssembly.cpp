//===- StableHLOOpAssembly.cpp - Ops whose syntax is written out ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of `constant`, `reduce`, `while` and `chlo.scan`, which no format in StableHLOOps.td can
// say.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/StableHLOAssembly.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace xc::stablehlo {

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getShapedType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The body of `applies stablehlo.add`.
static ParseResult buildBody(OpAsmParser &parser, SMLoc loc, StringRef name, Type element,
                             Region &body) {
  Builder &builder = parser.getBuilder();
  auto scalar = RankedTensorType::get({}, element);
  Location location = parser.getEncodedSourceLoc(loc);
  Block &block = body.emplaceBlock();
  block.addArguments({scalar, scalar}, {location, location});
  OperationName combiner(name, builder.getContext());
  if (!combiner.isRegistered() || !combiner.getStringRef().starts_with("stablehlo."))
    return parser.emitError(loc, "'") << name << "' is not an op that combines two elements";
  OpBuilder inner(builder.getContext()); // the region has no op yet
  inner.setInsertionPointToEnd(&block);
  OperationState state(location, combiner);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  Operation *op = inner.create(state);
  ReturnOp::create(inner, location, TypeRange(), op->getResults());
  return success();
}

/// `(%a: t, %b: t) (%i: u, %j: u) {...}`: for each input what is combined so far and an element.
static ParseResult parseReducer(OpAsmParser &parser, size_t count, Region &body) {
  SmallVector<OpAsmParser::Argument> accumulated, elements;
  for (size_t i = 0; i < count; ++i)
    if (parser.parseLParen() ||
        parser.parseArgument(accumulated.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(elements.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  llvm::append_range(accumulated, elements);
  if (parser.parseOptionalLocationSpecifier(accumulated.front().sourceLoc))
    return failure();
  return parser.parseRegion(body, accumulated);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands, inits;
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  size_t count = operands.size();
  llvm::append_range(operands, inits);

  StringRef combiner;
  SMLoc combinerLoc = parser.getCurrentLocation();
  FailureOr<OperationName> name = failure();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    combinerLoc = parser.getCurrentLocation();
    name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    combiner = name->getStringRef();
  }
  Attribute dims;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseNumbers(parser, dims) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  result.addAttribute("dimensions", dims);
  result.addTypes(type.getResults());
  if (parser.resolveOperands(operands, type.getInputs(), combinerLoc, result.operands))
    return failure();
  Region *body = result.addRegion();
  if (!combiner.empty()) {
    auto tensor = dyn_cast<RankedTensorType>(type.getInput(0));
    if (!tensor || count != 1)
      return parser.emitError(combinerLoc, "expected one tensor to reduce");
    return buildBody(parser, combinerLoc, combiner, tensor.getElementType(), *body);
  }
  return failure(parser.parseKeyword("reducer") || parseReducer(parser, count, *body));
}

/// The one op of a body that combines both arguments in order; null if it holds more.
static Operation *getCombiner(ReduceOp op) {
  Block &block = op.getBody().front();
  if (op.getInputs().size() != 1 || block.getOperations().size() != 2)
    return nullptr;
  Operation &combiner = block.front(), &end = block.back();
  bool isPlain = combiner.getNumResults() == 1 && combiner.getAttrDictionary().empty() &&
                 isa<StableHLODialect>(combiner.getDialect()) &&
                 llvm::equal(combiner.getOperands(), block.getArguments()) &&
                 combiner.getNumRegions() == 0 &&
                 llvm::equal(end.getOperands(), combiner.getResults());
  return isPlain ? &combiner : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer, [&](auto pair) {
    printer << '(' << std::get<0>(pair) << " init: " << std::get<1>(pair) << ')';
  });
  Operation *combiner = getCombiner(*this);
  if (combiner)
    printer << " applies " << combiner->getName();
  printer << " across dimensions = ";
  printNumbers(printer, *this, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (combiner)
    return;
  printer.printNewline();
  printer << " reducer";
  Block &block = getBody().front();
  size_t count = getInputs().size();
  for (size_t i = 0; i < count && i + count < block.getNumArguments(); ++i) {
    printer << '(';
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(count + i));
    printer << ") ";
  }
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseValue = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseValue))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(loc, "expected a type for each of ")
           << operands.size() << " values, got " << types.size();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  result.addTypes(types);
  if (parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseKeyword("cond") ||
      parser.parseRegion(*result.addRegion(), arguments) || parser.parseKeyword("do") ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
  if (getNumOperands() != 0)
    printer << " : " << getOperandTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << " cond ";
  // Both regions are printed with the names of the first one's arguments.
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

} // namespace xc::stablehlo

//===----------------------------------------------------------------------===//
// chlo.scan
//===----------------------------------------------------------------------===//

namespace xc::chlo {

/// `(%x) inits(%zero) dimension=0 attributes {...} { body } : (...) -> (...)`, where results are
/// outputs and then what each init has become.
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  SMLoc loc = parser.getCurrentLocation();
  int64_t dim;
  FunctionType type;
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() || parser.parseInteger(dim) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()) || parser.parseColonType(type))
    return failure();
  if (type.getNumResults() < inits.size())
    return parser.emitError(loc, "expected a result for each of ")
           << inits.size() << " inits, got " << type.getNumResults();
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.dimension = builder.getI64IntegerAttr(dim);
  properties.operandSegmentSizes = {static_cast<int32_t>(inputs.size()),
                                    static_cast<int32_t>(inits.size())};
  properties.resultSegmentSizes = {static_cast<int32_t>(type.getNumResults() - inits.size()),
                                   static_cast<int32_t>(inits.size())};
  result.addTypes(type.getResults());
  llvm::append_range(inputs, inits);
  return parser.resolveOperands(inputs, type.getInputs(), loc, result.operands);
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits(" << getInits()
          << ") dimension=" << getDimension().getInt();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

} // namespace xc::chlo
