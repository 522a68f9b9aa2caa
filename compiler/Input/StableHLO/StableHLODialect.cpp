//===- StableHLODialect.cpp - Dialects, attributes and types --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/StableHLO.h"
#include "compiler/Input/StableHLO/StableHLOAssembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::stablehlo;

#include "compiler/Input/StableHLO/CHLOOpsDialect.cpp.inc"
#include "compiler/Input/StableHLO/StableHLOOpsDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Input/StableHLO/StableHLOOpsAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/Input/StableHLO/StableHLOOpsTypes.cpp.inc"

void StableHLODialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Input/StableHLO/StableHLOOpsAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/Input/StableHLO/StableHLOOpsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Input/StableHLO/StableHLOOps.cpp.inc"
      >();
}

void xc::chlo::CHLODialect::initialize() {
  // Its attributes are those of StableHLO.
  getContext()->loadDialect<xc::stablehlo::StableHLODialect>();
  addOperations<
#define GET_OP_LIST
#include "compiler/Input/StableHLO/CHLOOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

namespace xc::stablehlo {

static bool isDenseOf(Attribute attribute, unsigned width, int64_t rank) {
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute);
  return dense && dense.getElementType().isSignlessInteger(width) &&
         dense.getType().getRank() == rank;
}

bool isNumbers(Attribute attribute) {
  return isa_and_present<DenseI64ArrayAttr>(attribute) || isDenseOf(attribute, 64, 1);
}

bool isNumberTable(Attribute attribute) { return isDenseOf(attribute, 64, 2); }

bool isFlags(Attribute attribute) {
  return isa_and_present<DenseBoolArrayAttr>(attribute) || isDenseOf(attribute, 1, 1);
}

bool isWord(Attribute attribute, StringRef kind) {
  auto word = dyn_cast_or_null<WordAttr>(attribute);
  return word && word.getKind() == kind;
}

bool isMark(Operation *op) {
  return isa<CustomCallOp>(op) && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

bool isRecord(Attribute attribute, StringRef kind) {
  auto record = dyn_cast_or_null<RecordAttr>(attribute);
  return record && record.getKind() == kind;
}

SmallVector<int64_t> getNumbers(Attribute attribute) {
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return llvm::to_vector(list.asArrayRef());
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute))
    return llvm::to_vector(dense.getValues<int64_t>());
  return {};
}

SmallVector<int64_t> getNumbers(Attribute attribute, size_t count, int64_t otherwise) {
  return attribute ? getNumbers(attribute) : SmallVector<int64_t>(count, otherwise);
}

SmallVector<bool> getFlags(Attribute attribute) {
  if (auto list = dyn_cast_or_null<DenseBoolArrayAttr>(attribute))
    return SmallVector<bool>(list.asArrayRef().begin(), list.asArrayRef().end());
  SmallVector<bool> flags;
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute))
    llvm::append_range(flags, dense.getValues<bool>());
  return flags;
}

ArrayRef<int64_t> RecordAttr::getList(StringRef name) const {
  auto list = getFields().getAs<DenseI64ArrayAttr>(name);
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

int64_t RecordAttr::getNumber(StringRef name, int64_t otherwise) const {
  auto number = getFields().getAs<IntegerAttr>(name);
  return number ? number.getInt() : otherwise;
}

} // namespace xc::stablehlo

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `[1, 2]`, a number, a type or any other attribute.
static ParseResult parseField(DialectAsmParser &parser, NamedAttrList &fields) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  Attribute value;
  SmallVector<int64_t> numbers;
  auto parseNumber = [&] { return parser.parseInteger(numbers.emplace_back()); };
  if (succeeded(parser.parseOptionalLSquare())) {
    if (failed(parser.parseOptionalRSquare()) &&
        (parser.parseCommaSeparatedList(parseNumber) || parser.parseRSquare()))
      return failure();
    value = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  } else if (parser.parseAttribute(value)) {
    return failure();
  }
  if (fields.set(name, value))
    return parser.emitError(loc, "field '") << name << "' is given twice";
  return success();
}

static Attribute parseRecord(DialectAsmParser &parser, StringRef kind) {
  NamedAttrList fields;
  if (failed(parser.parseOptionalGreater()) && (parser.parseCommaSeparatedList([&] {
        return parseField(parser, fields);
      }) || parser.parseGreater()))
    return {};
  return RecordAttr::get(parser.getContext(), kind, fields.getDictionary(parser.getContext()));
}

static Attribute parseDialectAttribute(DialectAsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef kind, value;
  if (parser.parseKeyword(&kind))
    return {};
  if (kind == "bounds" || kind == "type_extensions") {
    parser.emitError(loc, "bounded dimensions (#stablehlo.") << kind << ") are not supported";
    return {};
  }
  if (succeeded(parser.parseOptionalLess())) {
    if (kind != "conv")
      return parseRecord(parser, kind);
    ConvAttr dims;
    if (parseConvDims(parser, dims) || parser.parseGreater())
      return {};
    return dims;
  }
  if (parser.parseKeyword(&value))
    return {};
  return WordAttr::get(parser.getContext(), kind, value);
}

Attribute StableHLODialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return parseDialectAttribute(parser);
}

Attribute xc::chlo::CHLODialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return parseDialectAttribute(parser);
}

void StableHLODialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (auto word = dyn_cast<WordAttr>(attribute)) {
    printer << word.getKind() << ' ' << word.getValue();
  } else if (auto dims = dyn_cast<ConvAttr>(attribute)) {
    printer << "conv<";
    printConvDims(printer, dims);
    printer << '>';
  } else {
    auto record = cast<RecordAttr>(attribute);
    printer << record.getKind() << '<';
    llvm::interleaveComma(record.getFields(), printer, [&](NamedAttribute field) {
      printer << field.getName().getValue() << " = ";
      if (auto list = dyn_cast<DenseI64ArrayAttr>(field.getValue())) {
        printer << '[';
        llvm::interleaveComma(list.asArrayRef(), printer);
        printer << ']';
      } else {
        printer << field.getValue();
      }
    });
    printer << '>';
  }
}

Type StableHLODialect::parseType(DialectAsmParser &parser) const {
  if (parser.parseKeyword("token"))
    return {};
  return TokenType::get(getContext());
}

void StableHLODialect::printType(Type, DialectAsmPrinter &printer) const { printer << "token"; }
