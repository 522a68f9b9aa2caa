//===- StableHLOAssembly.cpp - The ops' own syntax ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The directives that the formats in StableHLOOps.td name. Ops whose text no format can say are in
// StableHLOOpAssembly.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/StableHLOAssembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace xc::stablehlo {

using Operands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// `tensor<4xf32>` for all of `types`, or `(...) -> ...`, which give the last of them last.
static ParseResult parseTypeList(OpAsmParser &parser, ArrayRef<Type *> types) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *each : types)
      *each = type;
    return success();
  }
  if (function.getNumInputs() != types.size() - 1 || function.getNumResults() != 1)
    return parser.emitError(loc, "expected a function type with ")
           << types.size() - 1 << " operands and one result, got " << function;
  for (auto [each, input] : llvm::zip_equal(types.drop_back(), function.getInputs()))
    *each = input;
  *types.back() = function.getResult(0);
  return success();
}

static void printTypeList(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.back();
  else
    printer.printFunctionalType(types.drop_back(), types.take_back());
}

template <typename... Types> static ParseResult parseTypes(OpAsmParser &parser, Types &...types) {
  return parseTypeList(parser, {&types...});
}
template <typename... Types>
static void printTypes(OpAsmPrinter &printer, Operation *, Types... types) {
  printTypeList(printer, {types...});
}

/// The type of the complex result, whose parts the operands are.
static ParseResult parseComplexTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  if (parseTypes(parser, lhs, rhs, result))
    return failure();
  auto tensor = lhs == result ? dyn_cast<RankedTensorType>(result) : nullptr;
  if (auto number = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : nullptr)
    lhs = rhs = tensor.clone(number.getElementType());
  return success();
}

static void printComplexTypes(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs,
                              Type result) {
  auto tensor = dyn_cast<RankedTensorType>(result);
  auto number = tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : nullptr;
  if (lhs == rhs && number && lhs == tensor.clone(number.getElementType()))
    printer << result;
  else
    printer.printFunctionalType(op);
}

/// `tensor<4xi1>, tensor<4xf32>`: that of the predicate, and that of all others.
static ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse,
                                    Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(pred))
    return failure();
  auto function = dyn_cast<FunctionType>(pred);
  if (!function) {
    if (parser.parseComma() || parser.parseType(onTrue))
      return failure();
    onFalse = result = onTrue;
    return success();
  }
  if (function.getNumInputs() != 3 || function.getNumResults() != 1)
    return parser.emitError(loc, "expected a function type with 3 operands and one result, got ")
           << function;
  pred = function.getInput(0);
  onTrue = function.getInput(1);
  onFalse = function.getInput(2);
  result = function.getResult(0);
  return success();
}

static void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue,
                             Type onFalse, Type result) {
  if (onTrue == onFalse && onTrue == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(op);
}

static ParseResult parseSameTypeList(OpAsmParser &parser, SmallVectorImpl<Type> &inputs,
                                     SmallVectorImpl<Type> &outputs) {
  if (parser.parseTypeList(inputs))
    return failure();
  outputs.assign(inputs.begin(), inputs.end());
  return success();
}

static void printSameTypeList(OpAsmPrinter &printer, Operation *, TypeRange inputs, TypeRange) {
  llvm::interleaveComma(inputs, printer);
}

/// All operands have the type of the result.
static ParseResult parseListTypes(OpAsmParser &parser, const Operands &operands,
                                  SmallVectorImpl<Type> &inputs, Type &result) {
  if (parser.parseType(result))
    return failure();
  inputs.assign(operands.size(), result);
  return success();
}

static void printListTypes(OpAsmPrinter &printer, Operation *, OperandRange, TypeRange,
                           Type result) {
  printer << result;
}

static ParseResult parseTupleType(OpAsmParser &parser, SmallVectorImpl<Type> &inputs,
                                  Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  auto tuple = dyn_cast<TupleType>(result);
  if (!tuple)
    return parser.emitError(loc, "expected a tuple type, got ") << result;
  inputs.assign(tuple.begin(), tuple.end());
  return success();
}

static void printTupleType(OpAsmPrinter &printer, Operation *, TypeRange, Type result) {
  printer << result;
}

//===----------------------------------------------------------------------===//
// Numbers and words
//===----------------------------------------------------------------------===//

/// An integer attribute, written as a number.
static ParseResult parseNumber(OpAsmParser &parser, IntegerAttr &number) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printNumber(OpAsmPrinter &printer, Operation *, IntegerAttr number) {
  printer << number.getValue().getSExtValue();
}

static ParseResult parseList(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); });
}

static void printList(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

ParseResult parseNumbers(OpAsmParser &parser, Attribute &numbers) {
  SmallVector<int64_t> list;
  if (parseList(parser, list))
    return failure();
  numbers = parser.getBuilder().getDenseI64ArrayAttr(list);
  return success();
}

void printNumbers(OpAsmPrinter &printer, Operation *, Attribute numbers) {
  printList(printer, getNumbers(numbers));
}

/// The attribute's kind follows from what the op calls it.
static StringRef getWordKind(StringRef word) {
  for (StringRef type : {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", "NOTYPE"})
    if (word == type)
      return "comparison_type";
  for (StringRef direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
    if (word == direction)
      return "comparison_direction";
  for (StringRef algorithm : {"DEFAULT", "THREE_FRY", "PHILOX"})
    if (word == algorithm)
      return "rng_algorithm";
  for (StringRef distribution : {"UNIFORM", "NORMAL"})
    if (word == distribution)
      return "rng_distribution";
  for (StringRef fft : {"FFT", "IFFT", "RFFT", "IRFFT"})
    if (word == fft)
      return "fft_type";
  return {};
}

static ParseResult parseWord(OpAsmParser &parser, WordAttr &attribute) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  StringRef kind = getWordKind(word);
  if (kind.empty())
    return parser.emitError(loc, "'") << word << "' is not known here";
  attribute = WordAttr::get(parser.getContext(), kind, word);
  return success();
}

static void printWord(OpAsmPrinter &printer, Operation *, WordAttr word) {
  printer << word.getValue();
}

/// `e5m10`
static ParseResult parseFloatFormat(OpAsmParser &parser, IntegerAttr &exponent,
                                    IntegerAttr &mantissa) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  StringRef rest = word;
  int32_t exponentBits, mantissaBits;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) ||
      !rest.consume_front("m") || rest.getAsInteger(10, mantissaBits))
    return parser.emitError(loc, "expected a format such as e5m10, got '") << word << "'";
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}

static void printFloatFormat(OpAsmPrinter &printer, Operation *, IntegerAttr exponent,
                             IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

/// `[0:2, 1:8:2]`
static ParseResult parseRanges(OpAsmParser &parser, Attribute &starts, Attribute &limits,
                               Attribute &strides) {
  SmallVector<int64_t> lists[3];
  auto parseRange = [&]() -> ParseResult {
    int64_t &stride = lists[2].emplace_back(1);
    if (parser.parseInteger(lists[0].emplace_back()) || parser.parseColon() ||
        parser.parseInteger(lists[1].emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride) : success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(lists[0]);
  limits = parser.getBuilder().getDenseI64ArrayAttr(lists[1]);
  strides = parser.getBuilder().getDenseI64ArrayAttr(lists[2]);
  return success();
}

static void printRanges(OpAsmPrinter &printer, Operation *, Attribute starts, Attribute limits,
                        Attribute strides) {
  printer << '[';
  // Not `zip_equal`: an op that does not verify is printed, too.
  llvm::interleaveComma(llvm::zip(getNumbers(starts), getNumbers(limits), getNumbers(strides)),
                        printer, [&](auto range) {
                          auto [start, limit, stride] = range;
                          printer << start << ':' << limit;
                          if (stride != 1)
                            printer << ':' << stride;
                        });
  printer << ']';
}

/// Operands, each with a comma behind it, before a keyword.
static ParseResult parseOperandList(OpAsmParser &parser, Operands &operands) {
  OpAsmParser::UnresolvedOperand operand;
  for (OptionalParseResult next = parser.parseOptionalOperand(operand); next.has_value();
       next = parser.parseOptionalOperand(operand)) {
    if (failed(*next) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
  return success();
}

static void printOperandList(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  for (Value operand : operands)
    printer << operand << ", ";
}

static ParseResult parseTarget(OpAsmParser &parser, StringAttr &name) {
  return parser.parseSymbolName(name);
}

static void printTarget(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printSymbolName(name.getValue());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static ParseResult parsePair(OpAsmParser &parser, StringRef what, NamedAttrList &fields) {
  SmallVector<int64_t> lhs, rhs;
  if (parser.parseEqual() || parseList(parser, lhs) || parser.parseKeyword("x") ||
      parseList(parser, rhs))
    return failure();
  Builder &builder = parser.getBuilder();
  fields.set(("lhs_" + what + "_dimensions").str(), builder.getDenseI64ArrayAttr(lhs));
  fields.set(("rhs_" + what + "_dimensions").str(), builder.getDenseI64ArrayAttr(rhs));
  return success();
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
static ParseResult parseDotDims(OpAsmParser &parser, RecordAttr &dims) {
  NamedAttrList fields;
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) &&
      (parsePair(parser, "batching", fields) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(parser, "contracting", fields))
    return failure();
  MLIRContext *context = parser.getContext();
  dims = RecordAttr::get(context, "dot", fields.getDictionary(context));
  return success();
}

static void printDotDims(OpAsmPrinter &printer, Operation *, RecordAttr dims) {
  auto printPair = [&](StringRef what) {
    printer << what << "_dims = ";
    printList(printer, dims.getList(("lhs_" + what + "_dimensions").str()));
    printer << " x ";
    printList(printer, dims.getList(("rhs_" + what + "_dimensions").str()));
  };
  if (!dims.getList("lhs_batching_dimensions").empty() ||
      !dims.getList("rhs_batching_dimensions").empty()) {
    printPair("batching");
    printer << ", ";
  }
  printPair("contracting");
}

static ParseResult parsePrecisionList(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> words;
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    words.push_back(WordAttr::get(parser.getContext(), "precision", word));
    return success();
  };
  if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  precision = parser.getBuilder().getArrayAttr(words);
  return success();
}

/// `, precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, ...>`
static ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision,
                                              RecordAttr &algorithm) {
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parsePrecisionList(parser, precision))
        return failure();
      continue;
    }
    NamedAttrList fields;
    auto parseOne = [&]() -> ParseResult {
      StringRef name;
      Attribute value;
      if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseAttribute(value))
        return failure();
      fields.set(name, value);
      return success();
    };
    if (parser.parseKeyword("algorithm") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
      return failure();
    MLIRContext *context = parser.getContext();
    algorithm = RecordAttr::get(context, "dot_algorithm", fields.getDictionary(context));
  }
  return success();
}

static void printPrecisionList(OpAsmPrinter &printer, ArrayAttr precision) {
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer, [&](Attribute word) {
    if (auto known = dyn_cast<WordAttr>(word))
      printer << known.getValue();
    else
      printer << word;
  });
  printer << ']';
}

static void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *, ArrayAttr precision,
                                       RecordAttr algorithm) {
  if (precision)
    printPrecisionList(printer, precision);
  if (!algorithm)
    return;
  printer << ", algorithm = <";
  llvm::interleaveComma(algorithm.getFields(), printer, [&](NamedAttribute field) {
    printer << field.getName().getValue() << " = " << field.getValue();
  });
  printer << '>';
}

static ParseResult parsePrecision(OpAsmParser &parser, ArrayAttr &precision) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("precision") || parsePrecisionList(parser, precision));
}

static void printPrecision(OpAsmPrinter &printer, Operation *, ArrayAttr precision) {
  if (precision)
    printPrecisionList(printer, precision);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static ParseResult parseConvDims(OpAsmParser &parser, ConvAttr &dims) {
  return parseConvDims(static_cast<AsmParser &>(parser), dims);
}

static void printConvDims(OpAsmPrinter &printer, Operation *, ConvAttr dims) {
  printConvDims(static_cast<AsmPrinter &>(printer), dims);
}

/// `[[1, 1], [0, 2]]`
static ParseResult parseTable(OpAsmParser &parser, Attribute &table) {
  SmallVector<int64_t> numbers;
  int64_t rows = 0;
  SMLoc loc = parser.getCurrentLocation();
  auto parseRow = [&] {
    ++rows;
    return parseList(parser, numbers);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow))
    return failure();
  if (static_cast<int64_t>(numbers.size()) != 2 * rows)
    return parser.emitError(loc, "expected two numbers for each spatial dim");
  Builder &builder = parser.getBuilder();
  table = DenseElementsAttr::get(RankedTensorType::get({rows, 2}, builder.getI64Type()),
                                 ArrayRef<int64_t>(numbers));
  return success();
}

static ParseResult parseFlags(OpAsmParser &parser, Attribute &flags) {
  SmallVector<bool> values;
  auto parseFlag = [&]() -> ParseResult {
    bool isTrue = succeeded(parser.parseOptionalKeyword("true"));
    int64_t number;
    values.push_back(isTrue);
    if (isTrue || succeeded(parser.parseOptionalKeyword("false")))
      return success();
    if (parser.parseInteger(number))
      return failure();
    values.back() = number != 0;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFlag))
    return failure();
  flags = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

static ParseResult parseConvWindow(OpAsmParser &parser, Attribute &strides, Attribute &padding,
                                   Attribute &lhsDilation, Attribute &rhsDilation,
                                   Attribute &reversal) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef key;
  while (succeeded(parser.parseOptionalKeyword(
      &key, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}))) {
    Attribute &place = key == "stride"       ? strides
                       : key == "pad"        ? padding
                       : key == "lhs_dilate" ? lhsDilation
                       : key == "rhs_dilate" ? rhsDilation
                                             : reversal;
    if (place)
      return parser.emitError(loc, "'") << key << "' is given twice";
    if (parser.parseEqual() || (key == "pad"       ? parseTable(parser, place)
                                : key == "reverse" ? parseFlags(parser, place)
                                                   : parseNumbers(parser, place)))
      return failure();
    if (failed(parser.parseOptionalComma()))
      break;
  }
  return success();
}

static void printConvWindow(OpAsmPrinter &printer, Operation *op, Attribute strides,
                            Attribute padding, Attribute lhsDilation, Attribute rhsDilation,
                            Attribute reversal) {
  StringRef separator = "";
  auto start = [&](StringRef key) {
    printer << separator << key << " = ";
    separator = ", ";
  };
  auto print = [&](StringRef key, Attribute numbers) {
    if (!numbers)
      return;
    start(key);
    printNumbers(printer, op, numbers);
  };
  print("stride", strides);
  if (padding) {
    start("pad");
    SmallVector<int64_t> numbers = getNumbers(padding);
    printer << '[';
    for (size_t row = 0; row + 1 < numbers.size(); row += 2) {
      printer << (row ? ", " : "");
      printList(printer, ArrayRef(numbers).slice(row, 2));
    }
    printer << ']';
  }
  print("lhs_dilate", lhsDilation);
  print("rhs_dilate", rhsDilation);
  if (reversal) {
    start("reverse");
    printer << '[';
    llvm::interleaveComma(getFlags(reversal), printer,
                          [&](bool flag) { printer << (flag ? "true" : "false"); });
    printer << ']';
  }
}

} // namespace xc::stablehlo

using namespace xc::stablehlo;
#define GET_OP_CLASSES
#include "compiler/Input/StableHLO/StableHLOOps.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/Input/StableHLO/CHLOOps.cpp.inc"
