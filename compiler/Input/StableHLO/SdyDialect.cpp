//===- SdyDialect.cpp - Shardings, to be read and dropped -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/Sdy.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::sdy;

#include "compiler/Input/StableHLO/SdyOpsDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Input/StableHLO/SdyOpsAttrs.cpp.inc"

void SdyDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Input/StableHLO/SdyOpsAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Input/StableHLO/SdyOps.cpp.inc"
      >();
}

// The parser has found where the attribute ends, and goes on from there.
Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return TextAttr::get(getContext(), parser.getFullSymbolSpec());
}

void SdyDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  printer << cast<TextAttr>(attribute).getText();
}

namespace xc::sdy {

/// One word or sign that may stand in angle brackets; `depth` counts what is open.
static ParseResult skipToken(OpAsmParser &parser, int64_t &depth) {
  auto is = [](ParseResult result) { return succeeded(result); };
  std::string text;
  int64_t number;
  StringAttr name;
  StringRef word;
  if (is(parser.parseOptionalLess()) || is(parser.parseOptionalLSquare()) ||
      is(parser.parseOptionalLBrace()) || is(parser.parseOptionalLParen())) {
    ++depth;
    return success();
  }
  if (is(parser.parseOptionalGreater()) || is(parser.parseOptionalRSquare()) ||
      is(parser.parseOptionalRBrace()) || is(parser.parseOptionalRParen())) {
    --depth;
    return success();
  }
  if (is(parser.parseOptionalComma()) || is(parser.parseOptionalEqual()) ||
      is(parser.parseOptionalColon()) || is(parser.parseOptionalQuestion()) ||
      is(parser.parseOptionalString(&text)) || is(parser.parseOptionalSymbolName(name)) ||
      is(parser.parseOptionalKeyword(&word)))
    return success();
  if (OptionalParseResult found = parser.parseOptionalInteger(number); found.has_value())
    return *found;
  return parser.emitError(parser.getCurrentLocation(), "expected the end of a sharding");
}

/// What stands in angle brackets.
static ParseResult parseHint(OpAsmParser &parser) {
  if (parser.parseLess())
    return failure();
  for (int64_t depth = 1; depth > 0;)
    if (skipToken(parser, depth))
      return failure();
  return success();
}

/// `@mesh = <["x"=2]>`
static ParseResult parseMesh(OpAsmParser &parser, StringAttr &name) {
  return failure(parser.parseSymbolName(name) || parser.parseEqual() || parseHint(parser));
}

static void printMesh(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printSymbolName(name.getValue());
  printer << " = <>";
}

/// `<@mesh, [{"x"}]> : tensor<4xf32>`
static ParseResult parseConstraint(OpAsmParser &parser, Type &input, Type &result) {
  if (parseHint(parser) || parser.parseColonType(input))
    return failure();
  result = input;
  return success();
}

static void printConstraint(OpAsmPrinter &printer, Operation *, Type, Type result) {
  printer << "<> : " << result;
}

} // namespace xc::sdy

#define GET_OP_CLASSES
#include "compiler/Input/StableHLO/SdyOps.cpp.inc"
