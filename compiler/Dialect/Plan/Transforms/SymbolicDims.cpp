//===- SymbolicDims.cpp - Sizes as formulas over a function's symbols ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/IR/FormulaValues.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <numeric>

using namespace mlir;

namespace xc::plan {

SymbolicDims::SymbolicDims(func::FuncOp func, UnifySizes unifySizes,
                           array::RuntimeSizes *runtimeSizes)
    : SizeFormulas(func.getContext()), func(func), runtimeSizes(runtimeSizes) {
  nameArgumentSymbols();
  if (unifySizes == UnifySizes::Yes)
    func.walk([&](linalg::LinalgOp op) { unifyLoopSizes(op); });
  numberSymbols();
  // What was cached while symbols were being merged speaks of the candidates.
  forgetValues();
  definitions.clear();
  definedSymbols.clear();
  unknownDims.clear();
}

/// The range in `ranges`, an `array.dim_range`, of a dim.
static SizeRange lookUpRange(DictionaryAttr ranges, StringRef name) {
  auto bounds = ranges ? ranges.getAs<ArrayAttr>(name) : ArrayAttr();
  if (!bounds)
    return {};
  auto number = [&](unsigned index) { return cast<IntegerAttr>(bounds[index]).getInt(); };
  return {number(0), number(1), number(2)};
}

void SymbolicDims::nameArgumentSymbols() {
  llvm::StringMap<unsigned> byName;
  auto ranges = func->getAttrOfType<DictionaryAttr>(array::kDimRangeAttr);
  for (auto [index, argument] : llvm::enumerate(func.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto names = func.getArgAttrOfType<ArrayAttr>(index, array::kDimsAttr);
    auto argumentName = func.getArgAttrOfType<StringAttr>(index, array::kNameAttr);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      StringRef given;
      if (names && dim < static_cast<int64_t>(names.size()))
        if (auto string = dyn_cast<StringAttr>(names[dim]))
          given = string.getValue();
      unsigned candidate = symbols.size();
      if (!given.empty()) {
        givenNames.insert(given);
        auto [it, isNew] = byName.try_emplace(given, candidate);
        argumentSymbol[{index, dim}] = it->second;
        if (!isNew)
          continue;
      } else {
        argumentSymbol[{index, dim}] = candidate;
      }
      std::string base =
          argumentName ? argumentName.getValue().str() : ("arg" + std::to_string(index));
      symbols.push_back({given.empty() ? base + "." + std::to_string(dim) : given.str(),
                         static_cast<unsigned>(index), static_cast<unsigned>(dim), !given.empty(),
                         lookUpRange(ranges, given)});
      parent.push_back(candidate);
      finalFormula.push_back(FormulaAttr::getSymbol(context, candidate));
    }
  }
}

void SymbolicDims::unifyLoopSizes(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  SmallVector<FormulaAttr> sizes(linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      FailureOr<FormulaAttr> size = getDim(operand.get(), dim);
      if (failed(size))
        continue;
      FormulaAttr &known = sizes[loop.getPosition()];
      if (known)
        unify(known, *size);
      else
        known = *size;
    }
  }
}

static unsigned findRoot(ArrayRef<unsigned> parent, unsigned symbol) {
  while (parent[symbol] != symbol)
    symbol = parent[symbol];
  return symbol;
}

void SymbolicDims::unify(FormulaAttr a, FormulaAttr b) {
  std::optional<unsigned> first = a.asSymbol(), second = b.asSymbol();
  if (!first || !second)
    return;
  if (*first >= parent.size() || *second >= parent.size())
    return; // a definition
  unsigned x = findRoot(parent, *first), y = findRoot(parent, *second);
  if (x != y)
    parent[std::max(x, y)] = std::min(x, y);
}

void SymbolicDims::numberSymbols() {
  SmallVector<SymbolDefinition> kept;
  for (unsigned candidate = 0; candidate < symbols.size(); ++candidate) {
    unsigned root = findRoot(parent, candidate);
    if (root == candidate) {
      finalFormula[candidate] = FormulaAttr::getSymbol(context, kept.size());
      kept.push_back(symbols[candidate]);
      continue;
    }
    finalFormula[candidate] = finalFormula[root];
    SymbolDefinition &symbol = kept[*finalFormula[candidate].asSymbol()];
    symbol.range = SizeRange::intersect(symbol.range, symbols[candidate].range);
    if (!symbol.isNamed && symbols[candidate].isNamed) {
      symbol.name = symbols[candidate].name;
      symbol.isNamed = true;
    }
  }
  symbols = std::move(kept);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

SizeRange SizeRange::intersect(SizeRange a, SizeRange b) {
  int64_t max = a.max < 0 ? b.max : b.max < 0 ? a.max : std::min(a.max, b.max);
  // Divisors that are too much together leave the one that is known.
  std::optional<int64_t> divisor =
      llvm::checkedMul(a.divisor / std::gcd(a.divisor, b.divisor), b.divisor);
  return {std::max(a.min, b.min), max, divisor.value_or(a.divisor)};
}

FormulaBounds SymbolicDims::getSymbolBounds(unsigned symbol) const {
  if (symbol >= symbols.size())
    return definitions[symbol - symbols.size()].bounds;
  const SizeRange &range = symbols[symbol].range;
  return {range.min, range.max < 0 ? std::nullopt : std::optional(range.max), range.divisor};
}

FormulaBounds SymbolicDims::getBounds(FormulaAttr formula) const {
  return computeBounds(formula, [&](unsigned symbol) { return getSymbolBounds(symbol); });
}

SizeRange SymbolicDims::getRange(FormulaAttr formula) const {
  FormulaBounds bounds = getBounds(formula);
  // Sizes are not negative.
  return {std::max<int64_t>(bounds.low.value_or(0), 0),
          std::max<int64_t>(bounds.high.value_or(-1), -1), std::max<int64_t>(bounds.divisor, 1)};
}

bool SymbolicDims::isNeverNegative(unsigned symbol) const {
  return getSymbolBounds(symbol).low.value_or(-1) >= 0;
}

void SymbolicDims::dropEmptyRanges() {
  for (SymbolDefinition &symbol : symbols)
    if (symbol.range.isEmpty())
      symbol.range = {};
}

DictionaryAttr SymbolicDims::getRanges() const {
  Builder builder(context);
  NamedAttrList ranges;
  // Of dims that only results name, nothing has changed.
  if (auto given = func->getAttrOfType<DictionaryAttr>(array::kDimRangeAttr))
    for (NamedAttribute range : given)
      if (!givenNames.contains(range.getName()))
        ranges.append(range);
  for (const SymbolDefinition &symbol : symbols)
    if (!symbol.range.isTrivial())
      ranges.set(symbol.name, builder.getI64ArrayAttr(
                                  {symbol.range.min, symbol.range.max, symbol.range.divisor}));
  return ranges.empty() ? DictionaryAttr() : ranges.getDictionary(context);
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

/// Symbols, constants and operations in a term that has no symbol of its own. A program of it needs
/// no deeper stack than the runtime has.
static constexpr unsigned kMostParts = 48;
/// In a sum of such terms, of which differences are to be seen through.
static constexpr unsigned kMostPartsOfSum = 512;

/// Takes the parts of `formula` off `room`; false where there are more.
static bool fits(FormulaAttr formula, unsigned &room) {
  if (room == 0)
    return false;
  --room;
  return llvm::all_of(formula.getOperands(),
                      [&](FormulaAttr operand) { return fits(operand, room); });
}

static bool isSum(FormulaAttr formula) {
  return formula.getKind() == FormulaKind::Add ||
         (formula.getKind() == FormulaKind::Mul && formula.getRHS().isConstant());
}

static bool isLong(FormulaAttr formula) {
  unsigned room = isSum(formula) ? kMostPartsOfSum : kMostParts;
  return !fits(formula, room);
}

FormulaAttr SymbolicDims::define(FormulaAttr formula) {
  FormulaAttr &symbol = definedSymbols[formula];
  if (!symbol) {
    symbol = FormulaAttr::getSymbol(context, getSymbolCount());
    definitions.push_back({formula, getBounds(formula)});
  }
  return symbol;
}

FormulaAttr SymbolicDims::shorten(FormulaAttr formula) {
  if (!isLong(formula))
    return formula;
  // So that the same parts have symbols here and where the formula is read from what
  // materialize() has made.
  SmallVector<FormulaAttr> operands = llvm::map_to_vector(
      formula.getOperands(), [&](FormulaAttr operand) { return shorten(operand); });
  formula = formula.withOperands(operands);
  return isLong(formula) ? define(formula) : formula;
}

Value SymbolicDims::materializeSymbol(OpBuilder &builder, Location loc, unsigned symbol) {
  const SymbolDefinition &definition = symbols[symbol];
  return tensor::DimOp::create(builder, loc, func.getArgument(definition.input), definition.dim);
}

/// By an op that affine maps are not composed across.
Value SymbolicDims::materializeDefinition(unsigned index, Location loc) {
  if (Value known = definitions[index].value)
    return known;
  FormulaAttr formula = definitions[index].formula;
  // Those that it names first: they stand before it.
  formula.forEachSymbol([&](unsigned symbol) {
    if (symbol >= symbols.size())
      materializeDefinition(symbol - symbols.size(), loc);
  });
  OpBuilder builder = OpBuilder::atBlockBegin(&func.front());
  if (lastDefinition)
    builder.setInsertionPointAfter(lastDefinition);
  SmallVector<Value> operands;
  for (FormulaAttr operand : formula.getOperands())
    operands.push_back(materialize(builder, loc, operand, firstSymbolValues));
  Value value = emitFormulaOp(builder, loc, formula.getKind(), operands);
  lastDefinition = value.getDefiningOp();
  definitions[index].value = value;
  return value;
}

Value SymbolicDims::materialize(OpBuilder &builder, Location loc, FormulaAttr formula,
                                SmallVectorImpl<Value> &symbolValues) {
  if (symbolValues.empty())
    for (unsigned symbol = 0; symbol < symbols.size(); ++symbol)
      symbolValues.push_back(materializeSymbol(builder, loc, symbol));
  return emitFormula(builder, loc, formula, symbolValues, [&](unsigned symbol) {
    return materializeDefinition(symbol - symbols.size(), loc);
  });
}

Value SymbolicDims::materialize(OpBuilder &builder, Location loc, FormulaAttr formula) {
  return emitFormula(builder, loc, formula, {}, [&](unsigned symbol) {
    return symbol < symbols.size() ? materializeSymbol(builder, loc, symbol)
                                   : materializeDefinition(symbol - symbols.size(), loc);
  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Minima and maxima are made anew: what is known there may say which one is larger.
FormulaAttr FormulaTranslation::translate(FormulaAttr formula) {
  if (std::optional<unsigned> symbol = formula.asSymbol())
    return symbols[*symbol];
  if (formula.isConstant())
    return formula;
  SmallVector<FormulaAttr> operands = llvm::map_to_vector(
      formula.getOperands(), [&](FormulaAttr operand) { return translate(operand); });
  if (llvm::is_contained(operands, FormulaAttr()))
    return {};
  switch (formula.getKind()) {
  case FormulaKind::Min:
    return to.makeMin(operands[0], operands[1]);
  case FormulaKind::Max:
    return to.makeMax(operands[0], operands[1]);
  default:
    return formula.withOperands(operands);
  }
}

FormulaAttr FormulaTranslation::operator()(FormulaAttr formula) {
  auto translateShort = [&](FormulaAttr part) {
    FormulaAttr result = translate(part);
    return result ? to.shorten(result) : result;
  };
  while (symbols.size() < from.getSymbolCount())
    symbols.push_back(translateShort(from.getDefinition(symbols.size())));
  return translateShort(formula);
}

//===----------------------------------------------------------------------===//
// Formulas of values
//===----------------------------------------------------------------------===//

FormulaAttr SymbolicDims::makeMax(FormulaAttr lhs, FormulaAttr rhs) {
  FormulaBounds difference = getBounds(collectTerms(lhs - rhs));
  if (difference.low.value_or(-1) >= 0)
    return lhs;
  return difference.high.value_or(1) <= 0 ? rhs : FormulaAttr::getMax(lhs, rhs);
}

FormulaAttr SymbolicDims::makeMin(FormulaAttr lhs, FormulaAttr rhs) {
  FormulaBounds difference = getBounds(collectTerms(lhs - rhs));
  if (difference.low.value_or(-1) >= 0)
    return rhs;
  return difference.high.value_or(1) <= 0 ? lhs : FormulaAttr::getMin(lhs, rhs);
}

FailureOr<FormulaAttr> SymbolicDims::computeArgumentDim(BlockArgument argument, int64_t dim) {
  // What a loop carries has the sizes that it begins with.
  if (auto loop = dyn_cast_if_present<array::WhileOp>(argument.getOwner()->getParentOp()))
    return getDim(loop.getInits()[argument.getArgNumber()], dim);
  if (argument.getOwner()->getParentOp() != func)
    return failure();
  return finalFormula[argumentSymbol.at({argument.getArgNumber(), static_cast<unsigned>(dim)})];
}

/// Both regions give results of one shape (-xc-build-plan refuses others), so the first one tells.
FailureOr<FormulaAttr> SymbolicDims::computeBranchDim(OpResult result, int64_t dim) {
  auto branch = cast<BranchOp>(result.getOwner());
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(branch, branch.getThenAttr());
  if (!callee)
    return failure();
  SymbolicDims inside(callee);
  auto ret = cast<func::ReturnOp>(callee.getBody().front().getTerminator());
  FailureOr<FormulaAttr> formula = inside.getDim(ret.getOperand(result.getResultNumber()), dim);
  if (failed(formula))
    return failure();
  SmallVector<FormulaAttr> around;
  for (const SymbolDefinition &symbol : inside.getSymbols()) {
    FailureOr<FormulaAttr> size = getDim(branch.getCaptures()[symbol.input], symbol.dim);
    if (failed(size))
      return failure();
    around.push_back(*size);
  }
  return FormulaTranslation(inside, *this, std::move(around))(*formula);
}

/// By the shape functions of array ops.
FailureOr<FormulaAttr> SymbolicDims::computeArrayDim(OpResult result, int64_t dim) {
  auto shaped = dyn_cast<array::ArrayShapeOpInterface>(result.getOwner());
  if (!shaped || unknownDims.contains({result, dim}))
    return failure();
  array::SizeBuilder sizes(*this, result.getLoc());
  ReifiedRankedShapedTypeDims shapes;
  FailureOr<FormulaAttr> formula = failure();
  if (succeeded(shaped.reifySizes(sizes, shapes)))
    formula = getFormula(shapes[result.getResultNumber()][dim]);
  if (failed(formula))
    unknownDims.insert({result, dim});
  return formula;
}

/// Whether dim `dim` of the result counts the positions of a window whose size only the device
/// knows: the smaller it is, the more there are, and the bound is not that of the operands' bounds.
static bool isOfOpenWindow(array::ConvOp op, int64_t dim, array::RuntimeSizes &runtimeSizes) {
  array::ConvDimsAttr dims = op.getDims();
  for (int64_t spatial = 0; spatial < dims.getSpatialRank(); ++spatial)
    if (dims.outputDim(spatial) == dim)
      return runtimeSizes.contains(op.getFilter(), dims.filterDim(spatial));
  return false;
}

FailureOr<FormulaAttr> SymbolicDims::computeDim(OpResult result, int64_t dim) {
  Operation *op = result.getOwner();
  if (isa<BranchOp>(op))
    return computeBranchDim(result, dim);
  if (auto branch = dyn_cast<array::IfOp>(op)) {
    // As of plan.branch.
    auto yield = cast<array::YieldOp>(branch.getThenRegion().front().getTerminator());
    return getDim(yield.getValues()[result.getResultNumber()], dim);
  }
  if (auto loop = dyn_cast<array::WhileOp>(op))
    return getDim(loop.getInits()[result.getResultNumber()], dim);
  if (auto conv = dyn_cast<array::ConvOp>(op);
      conv && runtimeSizes && isOfOpenWindow(conv, dim, *runtimeSizes))
    return failure();
  // Bounds stay what they are.
  if (isa<array::SetExtentOp, array::CompressOp, array::AppendOp, array::PadToBoundOp,
          array::WithinOp>(op))
    return getDim(op->getOperand(0), dim);
  if (isa_and_present<array::ArrayDialect>(op->getDialect()))
    return computeArrayDim(result, dim);
  return SizeFormulas::computeDim(result, dim);
}

} // namespace xc::plan
