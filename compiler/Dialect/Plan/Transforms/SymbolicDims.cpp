//===- SymbolicDims.cpp - Sizes as formulas over a function's symbols ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/Clamps.h"
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
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::plan {

static constexpr StringLiteral kDimRangeAttr = "array.dim_range";

SymbolicDims::SymbolicDims(func::FuncOp func, UnifySizes unifySizes)
    : func(func), context(func.getContext()) {
  nameArgumentSymbols();
  if (unifySizes == UnifySizes::Yes)
    func.walk([&](linalg::LinalgOp op) { unifyLoopSizes(op); });
  numberSymbols();
  // What was cached while symbols were being merged speaks of the candidates.
  exprCache.clear();
  dimCache.clear();
  definitions.clear();
  definedSymbols.clear();
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
  auto ranges = func->getAttrOfType<DictionaryAttr>(kDimRangeAttr);
  for (auto [index, argument] : llvm::enumerate(func.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto names = func.getArgAttrOfType<ArrayAttr>(index, "array.dims");
    auto argumentName = func.getArgAttrOfType<StringAttr>(index, "array.name");
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
      finalExpr.push_back(getAffineSymbolExpr(candidate, context));
    }
  }
}

void SymbolicDims::unifyLoopSizes(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  SmallVector<AffineExpr> sizes(linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      FailureOr<AffineExpr> size = getDim(operand.get(), dim);
      if (failed(size))
        continue;
      AffineExpr &known = sizes[loop.getPosition()];
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

void SymbolicDims::unify(AffineExpr a, AffineExpr b) {
  auto first = dyn_cast<AffineSymbolExpr>(a), second = dyn_cast<AffineSymbolExpr>(b);
  if (!first || !second)
    return;
  if (first.getPosition() >= parent.size() || second.getPosition() >= parent.size())
    return; // a definition
  unsigned x = findRoot(parent, first.getPosition()), y = findRoot(parent, second.getPosition());
  if (x != y)
    parent[std::max(x, y)] = std::min(x, y);
}

void SymbolicDims::numberSymbols() {
  SmallVector<SymbolDefinition> kept;
  for (unsigned candidate = 0; candidate < symbols.size(); ++candidate) {
    unsigned root = findRoot(parent, candidate);
    if (root == candidate) {
      finalExpr[candidate] = getAffineSymbolExpr(kept.size(), context);
      kept.push_back(symbols[candidate]);
      continue;
    }
    finalExpr[candidate] = finalExpr[root];
    SymbolDefinition &symbol = kept[cast<AffineSymbolExpr>(finalExpr[candidate]).getPosition()];
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

/// `combine` of two bounds, where both are known and nothing overflows.
template <typename Combine>
static std::optional<int64_t> both(std::optional<int64_t> a, std::optional<int64_t> b,
                                   Combine combine) {
  return a && b ? combine(*a, *b) : std::nullopt;
}

static FormulaBounds multiply(const FormulaBounds &a, const FormulaBounds &b) {
  auto times = [](int64_t x, int64_t y) { return llvm::checkedMul(x, y); };
  FormulaBounds result;
  result.divisor = times(a.divisor, b.divisor).value_or(1);
  bool isPositive = a.low.value_or(-1) >= 0 && b.low.value_or(-1) >= 0;
  if (isPositive) {
    result.low = both(a.low, b.low, times);
    result.high = both(a.high, b.high, times);
  } else if (b.low == b.high && b.low.value_or(0) < 0) {
    result.low = both(a.high, b.low, times);
    result.high = both(a.low, b.low, times);
  }
  return result;
}

FormulaBounds SymbolicDims::computeBounds(AffineExpr expr) const {
  if (std::optional<AffineExpr> clamped = getClamped(expr)) {
    FormulaBounds bounds = computeBounds(*clamped);
    bounds.low = std::max<int64_t>(bounds.low.value_or(0), 0);
    if (bounds.high)
      bounds.high = std::max<int64_t>(*bounds.high, 0);
    return bounds;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue(), std::abs(constant.getValue())};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    if (symbol.getPosition() >= symbols.size())
      return definitions[symbol.getPosition() - symbols.size()].bounds;
    const SizeRange &range = symbols[symbol.getPosition()].range;
    return {range.min, range.max < 0 ? std::nullopt : std::optional(range.max), range.divisor};
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  FormulaBounds a = computeBounds(binary.getLHS()), b = computeBounds(binary.getRHS());
  auto plus = [](int64_t x, int64_t y) { return llvm::checkedAdd(x, y); };
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {both(a.low, b.low, plus), both(a.high, b.high, plus), std::gcd(a.divisor, b.divisor)};
  case AffineExprKind::Mul:
    return multiply(a, b);
  default:
    break;
  }
  bool isFloor = expr.getKind() == AffineExprKind::FloorDiv;
  if ((isFloor || expr.getKind() == AffineExprKind::CeilDiv) && a.low.value_or(-1) >= 0 &&
      b.low.value_or(0) >= 1 && b.low != b.high) {
    auto quotient = [&](int64_t x, int64_t y) -> std::optional<int64_t> {
      return isFloor ? x / y : llvm::divideCeilSigned(x, y);
    };
    return {both(a.low, b.high, quotient).value_or(0), both(a.high, b.low, quotient), 1};
  }
  // Else what divides is a constant above 0, or nothing is known.
  if (b.low != b.high || b.low.value_or(0) < 1)
    return {};
  int64_t divisor = *b.low;
  auto divide = [&](std::optional<int64_t> bound, auto rounded) -> std::optional<int64_t> {
    return bound ? std::optional(rounded(*bound, divisor)) : std::nullopt;
  };
  int64_t rest = a.divisor % divisor == 0 ? a.divisor / divisor : 1;
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return {divide(a.low, llvm::divideFloorSigned<int64_t, int64_t>),
            divide(a.high, llvm::divideFloorSigned<int64_t, int64_t>), rest};
  case AffineExprKind::CeilDiv:
    return {divide(a.low, llvm::divideCeilSigned<int64_t, int64_t>),
            divide(a.high, llvm::divideCeilSigned<int64_t, int64_t>), rest};
  case AffineExprKind::Mod:
    return {0, divisor - 1, std::gcd(a.divisor, divisor)};
  default:
    return {};
  }
}

SizeRange SymbolicDims::getRange(AffineExpr expr) const {
  FormulaBounds bounds = computeBounds(expr);
  // Sizes are not negative.
  return {std::max<int64_t>(bounds.low.value_or(0), 0),
          std::max<int64_t>(bounds.high.value_or(-1), -1), std::max<int64_t>(bounds.divisor, 1)};
}

bool SymbolicDims::isNeverNegative(AffineSymbolExpr symbol) const {
  return computeBounds(symbol).low.value_or(-1) >= 0;
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
  if (auto given = func->getAttrOfType<DictionaryAttr>(kDimRangeAttr))
    for (NamedAttribute range : given)
      if (!givenNames.contains(range.getName()))
        ranges.append(range);
  for (const SymbolDefinition &symbol : symbols)
    if (!symbol.range.isTrivial())
      ranges.set(symbol.name, builder.getI64ArrayAttr(
                                  {symbol.range.min, symbol.range.max, symbol.range.divisor}));
  return ranges.empty() ? DictionaryAttr() : ranges.getDictionary(context);
}

AffineMap SymbolicDims::getMap(ArrayRef<AffineExpr> results) const {
  return AffineMap::get(/*dimCount=*/0, getSymbolCount(), results, context);
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

/// Symbols, constants and operations in a term that has no symbol of its own. A program of it needs
/// no deeper stack than the runtime has.
static constexpr unsigned kMostParts = 48;
/// In a sum of such terms, of which differences are to be seen through.
static constexpr unsigned kMostPartsOfSum = 512;
/// In what a clamp names twice, so that a clamp is never taken apart.
static constexpr unsigned kMostPartsOfClamp = 20;

/// Takes the parts of `expr` off `room`; false where there are more.
static bool fits(AffineExpr expr, unsigned &room) {
  if (room == 0)
    return false;
  --room;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (fits(binary.getLHS(), room) && fits(binary.getRHS(), room));
}

static bool isLong(AffineExpr expr, unsigned mostParts) { return !fits(expr, mostParts); }

static bool isSum(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return expr.getKind() == AffineExprKind::Add ||
         (expr.getKind() == AffineExprKind::Mul && isa<AffineConstantExpr>(binary.getRHS()));
}

AffineExpr SymbolicDims::define(AffineExpr expr) {
  AffineExpr &symbol = definedSymbols[expr];
  if (!symbol) {
    symbol = getAffineSymbolExpr(getSymbolCount(), context);
    definitions.push_back({expr, computeBounds(expr)});
  }
  return symbol;
}

AffineExpr SymbolicDims::shortenTo(AffineExpr expr, unsigned mostParts) {
  if (!isLong(expr, mostParts))
    return expr;
  // So that the same parts have symbols here and where the formula is read from what
  // materialize() has made.
  auto binary = cast<AffineBinaryOpExpr>(expr);
  expr = getAffineBinaryOpExpr(expr.getKind(), shorten(binary.getLHS()), shorten(binary.getRHS()));
  return isLong(expr, mostParts) ? define(expr) : expr;
}

AffineExpr SymbolicDims::shorten(AffineExpr expr) {
  return shortenTo(expr, isSum(expr) ? kMostPartsOfSum : kMostParts);
}

/// What of two numbers `kind` makes, by an op that affine maps are not composed across.
static Value combine(OpBuilder &builder, Location loc, AffineExprKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return arith::RemSIOp::create(builder, loc, lhs, rhs);
  default:
    llvm_unreachable("a definition has parts");
  }
}

Value SymbolicDims::materializeDefinition(unsigned index, Location loc) {
  if (Value known = definitions[index].value)
    return known;
  auto formula = cast<AffineBinaryOpExpr>(definitions[index].formula);
  // Those that it names first: they stand before it.
  formula.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (symbol && symbol.getPosition() >= symbols.size())
      materializeDefinition(symbol.getPosition() - symbols.size(), loc);
  });
  OpBuilder builder = OpBuilder::atBlockBegin(&func.front());
  if (lastDefinition)
    builder.setInsertionPointAfter(lastDefinition);
  Value lhs = materialize(builder, loc, formula.getLHS(), firstSymbolValues),
        rhs = materialize(builder, loc, formula.getRHS(), firstSymbolValues),
        value = combine(builder, loc, formula.getKind(), lhs, rhs);
  lastDefinition = value.getDefiningOp();
  definitions[index].value = value;
  return value;
}

Value SymbolicDims::materialize(OpBuilder &builder, Location loc, AffineExpr expr,
                                SmallVectorImpl<Value> &symbolValues) {
  if (symbolValues.empty())
    for (const SymbolDefinition &symbol : symbols)
      symbolValues.push_back(
          tensor::DimOp::create(builder, loc, func.getArgument(symbol.input), symbol.dim));
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  // Of the definitions the map has those that it names.
  SmallVector<Value> operands(symbolValues.begin(), symbolValues.end());
  llvm::DenseMap<AffineExpr, AffineExpr> used;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (!symbol || symbol.getPosition() < symbols.size())
      return;
    if (used.try_emplace(symbol, getAffineSymbolExpr(operands.size(), context)).second)
      operands.push_back(materializeDefinition(symbol.getPosition() - symbols.size(), loc));
  });
  expr = expr.replace(used);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[symbol.getPosition()];
  return affine::AffineApplyOp::create(
      builder, loc, AffineMap::get(/*dimCount=*/0, operands.size(), expr), operands);
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Clamps are made anew: what is known there may say which one is larger.
AffineExpr FormulaTranslation::translate(AffineExpr expr) {
  if (std::optional<AffineExpr> clamped = getClamped(expr)) {
    AffineExpr inner = translate(*clamped);
    return inner ? to.makeMax(inner, getAffineConstantExpr(0, expr.getContext())) : inner;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = translate(binary.getLHS()), rhs = translate(binary.getRHS());
  return lhs && rhs ? getAffineBinaryOpExpr(expr.getKind(), lhs, rhs) : AffineExpr();
}

AffineExpr FormulaTranslation::operator()(AffineExpr expr) {
  auto translateShort = [&](AffineExpr part) {
    AffineExpr result = translate(part);
    return result ? to.shorten(result) : result;
  };
  while (symbols.size() < from.getSymbolCount())
    symbols.push_back(translateShort(from.getDefinition(symbols.size())));
  return translateShort(expr);
}

//===----------------------------------------------------------------------===//
// Formulas of values
//===----------------------------------------------------------------------===//

FailureOr<AffineExpr> SymbolicDims::getExpr(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  return getExpr(cast<Value>(index));
}

FailureOr<AffineExpr> SymbolicDims::getExpr(Value index) {
  auto it = exprCache.find(index);
  if (it != exprCache.end())
    return it->second;
  FailureOr<AffineExpr> expr = computeExpr(index);
  if (succeeded(expr))
    exprCache[index] = *expr = shorten(*expr);
  return expr;
}

AffineExpr SymbolicDims::makeMax(AffineExpr lhs, AffineExpr rhs) {
  if (isa<AffineConstantExpr>(lhs))
    std::swap(lhs, rhs);
  AffineExpr difference = collectTerms(lhs - rhs);
  FormulaBounds bounds = computeBounds(difference);
  if (bounds.low.value_or(-1) >= 0)
    return lhs;
  if (bounds.high.value_or(1) <= 0)
    return rhs;
  return collectTerms(makeClamp(shortenTo(difference, kMostPartsOfClamp)) + rhs);
}

FailureOr<AffineExpr> SymbolicDims::computeExpr(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  Operation *op = index.getDefiningOp();
  if (!op)
    return failure();

  auto binary = [&](auto combine) -> FailureOr<AffineExpr> {
    FailureOr<AffineExpr> lhs = getExpr(op->getOperand(0)), rhs = getExpr(op->getOperand(1));
    if (failed(lhs) || failed(rhs))
      return failure();
    return combine(*lhs, *rhs);
  };
  return llvm::TypeSwitch<Operation *, FailureOr<AffineExpr>>(op)
      .Case([&](tensor::DimOp dim) -> FailureOr<AffineExpr> {
        std::optional<int64_t> position = dim.getConstantIndex();
        if (!position)
          return failure();
        return getDim(dim.getSource(), *position);
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>([&](auto cast) { return getExpr(cast.getOperand()); })
      .Case([&](arith::AddIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return collectTerms(a + b); });
      })
      .Case([&](arith::SubIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return collectTerms(a - b); });
      })
      .Case([&](arith::MulIOp) { return binary([](AffineExpr a, AffineExpr b) { return a * b; }); })
      // Sizes are not negative, so truncating and flooring division agree.
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return binary([](AffineExpr a, AffineExpr b) { return a.floorDiv(b); }); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return binary([](AffineExpr a, AffineExpr b) { return a.ceilDiv(b); }); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) {
        return binary(
            [&](AffineExpr a, AffineExpr b) { return collectTerms(a + b - makeMax(a, b)); });
      })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return binary([&](AffineExpr a, AffineExpr b) { return makeMax(a, b); }); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return binary([](AffineExpr a, AffineExpr b) { return a % b; }); })
      .Case([&](affine::AffineApplyOp apply) -> FailureOr<AffineExpr> {
        SmallVector<AffineExpr> dims, syms;
        for (auto [position, operand] : llvm::enumerate(apply.getMapOperands())) {
          FailureOr<AffineExpr> expr = getExpr(operand);
          if (failed(expr))
            return failure();
          (position < apply.getAffineMap().getNumDims() ? dims : syms).push_back(*expr);
        }
        return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(dims, syms);
      })
      .Default([](Operation *) -> FailureOr<AffineExpr> { return failure(); });
}

FailureOr<SmallVector<AffineExpr>> SymbolicDims::getShape(Value tensor) {
  SmallVector<AffineExpr> shape;
  for (int64_t dim = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); dim < rank;
       ++dim) {
    FailureOr<AffineExpr> expr = getDim(tensor, dim);
    if (failed(expr))
      return failure();
    shape.push_back(*expr);
  }
  return shape;
}

FailureOr<AffineExpr> SymbolicDims::getDim(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), context);
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (argument.getOwner()->getParentOp() != func)
      return failure();
    return finalExpr[argumentSymbol.at({argument.getArgNumber(), static_cast<unsigned>(dim)})];
  }
  auto it = dimCache.find({tensor, dim});
  if (it != dimCache.end())
    return it->second;
  FailureOr<AffineExpr> expr = computeDim(cast<OpResult>(tensor), dim);
  if (succeeded(expr))
    dimCache[{tensor, dim}] = *expr = shorten(*expr);
  return expr;
}

/// The operand among `dims` (the dynamic sizes of all of an op's results) that is `dim` of
/// `result`.
static Value selectDynamicSize(OpResult result, int64_t dim, ValueRange dims) {
  unsigned position = 0;
  for (OpResult other : result.getOwner()->getResults()) {
    auto type = cast<RankedTensorType>(other.getType());
    if (other == result)
      return dims[position + type.getDynamicDimIndex(dim)];
    position += type.getNumDynamicDims();
  }
  llvm_unreachable("the result is one of its owner's");
}

/// Both regions give results of one shape (-xc-build-plan refuses others), so the first one tells.
FailureOr<AffineExpr> SymbolicDims::computeBranchDim(OpResult result, int64_t dim) {
  auto branch = cast<BranchOp>(result.getOwner());
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(branch, branch.getThenAttr());
  if (!callee)
    return failure();
  SymbolicDims inside(callee);
  auto ret = cast<func::ReturnOp>(callee.getBody().front().getTerminator());
  FailureOr<AffineExpr> expr = inside.getDim(ret.getOperand(result.getResultNumber()), dim);
  if (failed(expr))
    return failure();
  SmallVector<AffineExpr> around;
  for (const SymbolDefinition &symbol : inside.getSymbols()) {
    FailureOr<AffineExpr> size = getDim(branch.getCaptures()[symbol.input], symbol.dim);
    if (failed(size))
      return failure();
    around.push_back(*size);
  }
  return FormulaTranslation(inside, *this, std::move(around))(*expr);
}

FailureOr<AffineExpr> SymbolicDims::computeDim(OpResult result, int64_t dim) {
  Operation *op = result.getOwner();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return getExpr(empty.getDynamicSize(dim));
  if (auto region = dyn_cast<RegionOp>(op))
    return getExpr(selectDynamicSize(result, dim, region.getDims()));
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return getExpr(selectDynamicSize(result, dim, dispatch.getDims()));
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return getDim(cast.getSource(), dim);
  if (auto loop = dyn_cast<LoopOp>(op))
    return getDim(loop.getInits()[result.getResultNumber()], dim);
  if (isa<BranchOp>(op))
    return computeBranchDim(result, dim);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t position = 0;
    for (auto [source, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(source) && position++ == dim)
        return getExpr(size);
    return failure();
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getExpr(expand.getMixedOutputShape()[dim]);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    AffineExpr product = getAffineConstantExpr(1, context);
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    for (int64_t source : groups[dim]) {
      FailureOr<AffineExpr> size = getDim(collapse.getSrc(), source);
      if (failed(size))
        return failure();
      product = product * *size;
    }
    return product;
  }
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return getDim(destination.getTiedOpOperand(result)->get(), dim);
  auto reify = dyn_cast<ReifyRankedShapedTypeOpInterface>(op);
  if (!reify)
    return failure();
  OpBuilder builder(op);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reify.reifyResultShapes(builder, shapes)))
    return failure();
  return getExpr(shapes[result.getResultNumber()][dim]);
}

} // namespace xc::plan
