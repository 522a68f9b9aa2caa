//===- StableHLOConvDims.cpp - How dims of convolutions are written -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, in an op's own syntax and as an attribute.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/StableHLOAssembly.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace xc::stablehlo {

/// Labels of a list: spatial dims by their number, `first` as -1, `second` as -2. Each is there
/// once.
static ParseResult parseLabels(AsmParser &parser, StringRef first, StringRef second,
                               SmallVectorImpl<int64_t> &labels) {
  SMLoc loc = parser.getCurrentLocation();
  auto parseLabel = [&]() -> ParseResult {
    int64_t &label = labels.emplace_back();
    if (OptionalParseResult number = parser.parseOptionalInteger(label); number.has_value())
      return *number;
    if (succeeded(parser.parseOptionalKeyword(first)))
      label = -1;
    else if (parser.parseKeyword(second))
      return failure();
    else
      label = -2;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseLabel))
    return failure();
  SmallVector<int64_t> sorted = llvm::to_vector(labels);
  llvm::sort(sorted);
  for (auto [index, label] : llvm::enumerate(sorted))
    if (label != static_cast<int64_t>(index) - 2)
      return parser.emitError(loc, "expected labels ")
             << first << ", " << second << " and the numbers from 0, each once";
  if (sorted.size() < 2)
    return parser.emitError(loc, "expected labels ") << first << " and " << second;
  return success();
}

ParseResult parseConvDims(AsmParser &parser, ConvAttr &dims) {
  SmallVector<int64_t> input, filter, output;
  SMLoc loc = parser.getCurrentLocation();
  if (parseLabels(parser, "b", "f", input))
    return failure();
  // `x[` is one word to the lexer only where a digit follows.
  if (parser.parseKeyword("x") || parseLabels(parser, "o", "i", filter) || parser.parseArrow() ||
      parseLabels(parser, "b", "f", output))
    return failure();
  if (input.size() != filter.size() || input.size() != output.size())
    return parser.emitError(loc, "expected three lists of one length, got ")
           << input.size() << ", " << filter.size() << " and " << output.size() << " labels";
  dims = ConvAttr::get(parser.getContext(), input, filter, output);
  return success();
}

void printConvDims(AsmPrinter &printer, ConvAttr dims) {
  auto printLabels = [&](ArrayRef<int64_t> labels, char first, char second) {
    printer << '[';
    llvm::interleaveComma(labels, printer, [&](int64_t label) {
      if (label < 0)
        printer << (label == -1 ? first : second);
      else
        printer << label;
    });
    printer << ']';
  };
  printLabels(dims.getInput(), 'b', 'f');
  printer << 'x';
  printLabels(dims.getFilter(), 'o', 'i');
  printer << "->";
  printLabels(dims.getOutput(), 'b', 'f');
}

} // namespace xc::stablehlo
