//===- FormulaText.cpp - Reading and writing formulas ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   sum     ::= product (('+' | '-') product)*
//   product ::= factor (('*' | 'floordiv' | 'ceildiv' | 'mod') factor)*
//   factor  ::= integer | '-' factor | symbol | '(' sum ')'
//             | ('min' | 'max') '(' sum ',' sum ')' | 'select' '(' sum ',' sum ',' sum ')'
//   symbol  ::= 's' digits
//
// That is what results of affine maps look like, and three functions. It is written with more
// parentheses than it is read with: of two products in one another the inner one has them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/FormulaText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace xc::plan {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Where a formula stands: as it is, or as an operand that an op would take apart.
enum class Binding { Loose, Tight };

static void write(llvm::raw_ostream &os, FormulaAttr formula, Binding binding);

/// The number in `formula * number` where that is below 0, so that a sum subtracts.
static std::optional<int64_t> getNegativeFactor(FormulaAttr formula) {
  std::optional<int64_t> factor =
      formula.getKind() == FormulaKind::Mul ? formula.getRHS().asConstant() : std::nullopt;
  return factor && *factor < 0 && *factor != INT64_MIN ? factor : std::nullopt;
}

static Binding getBindingInSum(FormulaAttr formula) {
  return formula.getKind() == FormulaKind::Add ? Binding::Tight : Binding::Loose;
}

static void writeSum(llvm::raw_ostream &os, FormulaAttr left, FormulaAttr right) {
  write(os, left, Binding::Loose);
  std::optional<int64_t> number = right.asConstant(), factor = getNegativeFactor(right);
  if (number && *number < 0 && *number != INT64_MIN) {
    os << " - " << -*number;
  } else if (factor == -1) {
    os << " - ";
    write(os, right.getLHS(), getBindingInSum(right.getLHS()));
  } else if (factor) {
    os << " - ";
    write(os, right.getLHS(), Binding::Tight);
    os << " * " << -*factor;
  } else {
    os << " + ";
    write(os, right, getBindingInSum(right));
  }
}

static StringRef getSign(FormulaKind kind) {
  return kind == FormulaKind::Mul ? "*" : stringifyFormulaKind(kind);
}

static void writeBinary(llvm::raw_ostream &os, FormulaAttr formula) {
  FormulaKind kind = formula.getKind();
  if (kind == FormulaKind::Add)
    return writeSum(os, formula.getLHS(), formula.getRHS());
  if (kind == FormulaKind::Mul && formula.getRHS().asConstant() == -1) {
    os << "-";
    return write(os, formula.getLHS(), Binding::Tight);
  }
  write(os, formula.getLHS(), Binding::Tight);
  os << " " << getSign(kind) << " ";
  write(os, formula.getRHS(), Binding::Tight);
}

static void write(llvm::raw_ostream &os, FormulaAttr formula, Binding binding) {
  switch (formula.getKind()) {
  case FormulaKind::Constant:
    os << formula.getValue();
    return;
  case FormulaKind::Symbol:
    os << "s" << formula.getValue();
    return;
  case FormulaKind::Min:
  case FormulaKind::Max:
  case FormulaKind::Select:
    os << stringifyFormulaKind(formula.getKind()) << "(";
    llvm::interleaveComma(formula.getOperands(), os,
                          [&](FormulaAttr operand) { write(os, operand, Binding::Loose); });
    os << ")";
    return;
  default:
    if (binding == Binding::Tight)
      os << "(";
    writeBinary(os, formula);
    if (binding == Binding::Tight)
      os << ")";
  }
}

void FormulaAttr::printText(llvm::raw_ostream &os) const { write(os, *this, Binding::Loose); }

void FormulaAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printText(printer.getStream());
  printer << ">";
}

void printFormula(AsmPrinter &printer, FormulaAttr formula) {
  formula.printText(printer.getStream());
}

void printFormulas(AsmPrinter &printer, ArrayRef<FormulaAttr> formulas) {
  printer << "[";
  llvm::interleaveComma(formulas, printer.getStream(),
                        [&](FormulaAttr formula) { printFormula(printer, formula); });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

// Each returns null where it has said what is wrong.

static FormulaAttr parseSum(AsmParser &parser);

/// `count` formulas in parentheses, behind the name of a function.
static ParseResult parseOperands(AsmParser &parser, unsigned count,
                                 SmallVectorImpl<FormulaAttr> &operands) {
  SMLoc loc = parser.getCurrentLocation();
  auto parseOperand = [&] {
    return success(static_cast<bool>(operands.emplace_back(parseSum(parser))));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOperand))
    return failure();
  if (operands.size() != count)
    return parser.emitError(loc, "expected ") << count << " formulas, got " << operands.size();
  return success();
}

/// What begins with a word: a symbol or a function.
static FormulaAttr parseWord(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  (void)parser.parseOptionalKeyword(&word); // without one the word is empty
  StringRef digits = word;
  unsigned position;
  if (digits.consume_front("s") && !digits.getAsInteger(10, position))
    return FormulaAttr::getSymbol(parser.getContext(), position);
  auto kind = llvm::StringSwitch<std::optional<FormulaKind>>(word)
                  .Case("min", FormulaKind::Min)
                  .Case("max", FormulaKind::Max)
                  .Case("select", FormulaKind::Select)
                  .Default(std::nullopt);
  if (!kind) {
    parser.emitError(loc, "expected a number, a symbol such as 's0', or one of 'min', 'max' and "
                          "'select'");
    return {};
  }
  SmallVector<FormulaAttr> operands;
  if (parseOperands(parser, kind == FormulaKind::Select ? 3 : 2, operands))
    return {};
  return FormulaAttr::get(parser.getContext(), *kind, /*value=*/0, operands);
}

static FormulaAttr parseFactor(AsmParser &parser) {
  if (succeeded(parser.parseOptionalMinus())) {
    FormulaAttr factor = parseFactor(parser);
    return factor ? factor * -1 : factor;
  }
  if (succeeded(parser.parseOptionalLParen())) {
    FormulaAttr sum = parseSum(parser);
    return sum && succeeded(parser.parseRParen()) ? sum : FormulaAttr();
  }
  int64_t number;
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (!parsed.has_value())
    return parseWord(parser);
  return succeeded(*parsed) ? FormulaAttr::getConstant(parser.getContext(), number) : FormulaAttr();
}

static std::optional<FormulaKind> parseSign(AsmParser &parser) {
  if (succeeded(parser.parseOptionalStar()))
    return FormulaKind::Mul;
  for (FormulaKind kind : {FormulaKind::FloorDiv, FormulaKind::CeilDiv, FormulaKind::Mod})
    if (succeeded(parser.parseOptionalKeyword(stringifyFormulaKind(kind))))
      return kind;
  return std::nullopt;
}

static FormulaAttr parseProduct(AsmParser &parser) {
  FormulaAttr product = parseFactor(parser);
  while (product) {
    std::optional<FormulaKind> kind = parseSign(parser);
    if (!kind)
      break;
    FormulaAttr factor = parseFactor(parser);
    if (!factor)
      return {};
    product = FormulaAttr::get(parser.getContext(), *kind, /*value=*/0, {product, factor});
  }
  return product;
}

static FormulaAttr parseSum(AsmParser &parser) {
  FormulaAttr sum = parseProduct(parser);
  while (sum) {
    bool isPlus = succeeded(parser.parseOptionalPlus());
    if (!isPlus && failed(parser.parseOptionalMinus()))
      break;
    FormulaAttr term = parseProduct(parser);
    if (!term)
      return {};
    sum = isPlus ? sum + term : sum - term;
  }
  return sum;
}

Attribute FormulaAttr::parse(AsmParser &parser, Type) {
  FormulaAttr formula;
  if (parser.parseLess() || parseFormula(parser, formula) || parser.parseGreater())
    return {};
  return formula;
}

ParseResult parseFormula(AsmParser &parser, FormulaAttr &formula) {
  formula = parseSum(parser);
  return success(static_cast<bool>(formula));
}

ParseResult parseFormulas(AsmParser &parser, SmallVector<FormulaAttr> &formulas) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parseFormula(parser, formulas.emplace_back()); });
}

ParseResult parseFormulas(AsmParser &parser, ArrayAttr &formulas) {
  SmallVector<FormulaAttr> parsed;
  if (parseFormulas(parser, parsed))
    return failure();
  formulas =
      ArrayAttr::get(parser.getContext(), SmallVector<Attribute>(parsed.begin(), parsed.end()));
  return success();
}

} // namespace xc::plan
