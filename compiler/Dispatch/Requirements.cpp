//===- Requirements.cpp - What sizes must be like -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Requirements.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

namespace {

/// Makes the requires of one function.
class RequirementBuilder {
public:
  RequirementBuilder(func::FuncOp func, SymbolicDims &dims, bool isChosenBySizes, bool onlyNumbers)
      : func(func), dims(dims), isChosenBySizes(isChosenBySizes), onlyNumbers(onlyNumbers),
        // Behind what ops themselves require, whose words say more.
        builder(onlyNumbers ? OpBuilder::atBlockTerminator(&func.getBody().front())
                            : OpBuilder::atBlockBegin(&func.getBody().front())) {}

  LogicalResult run();
  /// What linalg ops and casts require.
  LogicalResult addImplied();

private:
  LogicalResult checkRanges();
  LogicalResult add(Location loc, FormulaAttr left, Comparison comparison, FormulaAttr right,
                    StringRef what);

  func::FuncOp func;
  SymbolicDims &dims;
  const bool isChosenBySizes;
  /// Whether what two formulas require of each other is left for later.
  const bool onlyNumbers;
  OpBuilder builder;
  llvm::DenseSet<std::tuple<FormulaAttr, FormulaAttr, unsigned>> known;
};

} // namespace

/// `left - right`, where that is the same number for any symbols.
static std::optional<int64_t> getDifference(FormulaAttr left, FormulaAttr right) {
  llvm::DenseMap<FormulaAttr, unsigned> leaves;
  AffineExpr difference = (left - right).toAffine([&](FormulaAttr leaf) {
    unsigned position = leaves.try_emplace(leaf, leaves.size()).first->second;
    return getAffineSymbolExpr(position, leaf.getContext());
  });
  auto constant = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(difference, /*numDims=*/0, /*numSymbols=*/leaves.size()));
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

/// Whether the comparison holds, or not, for any symbols; nothing where that depends on them.
static std::optional<bool> evaluate(FormulaAttr left, Comparison comparison, FormulaAttr right) {
  if (left == right || (comparison == Comparison::OneOrEqual && left.asConstant() == 1))
    return true;
  std::optional<int64_t> difference = getDifference(left, right);
  if (!difference)
    return std::nullopt;
  if (comparison == Comparison::AtMost)
    return *difference <= 0;
  if (comparison == Comparison::AtLeast)
    return *difference >= 0;
  if (*difference == 0)
    return true;
  // A symbol that must be 1 may be.
  bool mayBeOne = comparison == Comparison::OneOrEqual && !left.isConstant();
  return mayBeOne ? std::nullopt : std::optional<bool>(false);
}

/// "12", "1 to 64" or "at least 8, a multiple of 8".
static std::string describe(SizeRange range) {
  if (range.min == range.max)
    return std::to_string(range.min);
  std::string text = range.max < 0 ? "at least " + std::to_string(range.min)
                                   : std::to_string(range.min) + " to " + std::to_string(range.max);
  return range.divisor == 1 ? text : text + ", a multiple of " + std::to_string(range.divisor);
}

/// Whether all numbers of `range` are below those of `other`.
static bool isBelow(SizeRange range, SizeRange other) {
  return range.max >= 0 && range.max < other.min;
}

/// Whether no size is in both.
static bool areDisjoint(SizeRange left, SizeRange right) {
  auto divides = [](SizeRange range, SizeRange number) {
    return number.min != number.max || number.min % range.divisor == 0;
  };
  return isBelow(left, right) || isBelow(right, left) || !divides(left, right) ||
         !divides(right, left);
}

/// Whether the comparison holds for no sizes in these ranges.
static bool isRefuted(SizeRange left, Comparison comparison, SizeRange right) {
  switch (comparison) {
  case Comparison::Equal:
    return areDisjoint(left, right);
  case Comparison::AtMost:
    return isBelow(right, left);
  case Comparison::OneOrEqual:
    return areDisjoint(left, right) && areDisjoint(left, {1, 1, 1});
  case Comparison::AtLeast:
    return false; // ranges are those of sizes, and what is compared may be negative
  }
  llvm_unreachable("unknown comparison");
}

/// Whether the comparison holds for all sizes in these ranges.
static bool isProved(SizeRange left, Comparison comparison, SizeRange right) {
  if (comparison == Comparison::AtMost)
    return left.max >= 0 && left.max <= right.min;
  if (comparison == Comparison::AtLeast)
    return false;
  auto isNumber = [](SizeRange range) { return range.min == range.max; };
  return isNumber(left) && isNumber(right) && left.min == right.min;
}

/// Refuses ranges that no size is in, as those of two names for one size may be.
LogicalResult RequirementBuilder::checkRanges() {
  for (const SymbolDefinition &symbol : dims.getSymbols()) {
    if (symbol.range.isEmpty())
      return func.emitError() << "expected dim '" << symbol.name << "' of '" << func.getName()
                              << "' to have a size, got ranges that leave none: "
                              << describe(symbol.range)
                              << "; several names are one size where an op requires it";
  }
  return success();
}

LogicalResult RequirementBuilder::add(Location loc, FormulaAttr left, Comparison comparison,
                                      FormulaAttr right, StringRef what) {
  if (onlyNumbers && !left.isConstant() && !right.isConstant())
    return success();
  std::optional<bool> holds = evaluate(left, comparison, right);
  // What the user says of sizes is checked already.
  SizeRange leftRange = dims.getRange(left), rightRange = dims.getRange(right);
  if (!holds && isProved(leftRange, comparison, rightRange))
    holds = true;
  if (holds == true || !known.insert({left, right, static_cast<unsigned>(comparison)}).second)
    return success();
  if (holds == false && comparison == Comparison::AtLeast && left.isConstant())
    return emitError(loc) << what << ", got " << *left.asConstant();
  if (holds == false && left.isConstant() && right.isConstant())
    return emitError(loc) << what << ", got " << *left.asConstant() << " and "
                          << *right.asConstant();
  if (!holds && !isChosenBySizes && isRefuted(leftRange, comparison, rightRange))
    return emitError(loc) << what << ", got " << describe(leftRange) << " and "
                          << describe(rightRange) << " by the ranges of the function's dims";
  // What fails for all sizes fails when it is called, with their values, as does what fails for
  // those with which a region is chosen.
  SmallVector<Value> symbolValues;
  Value leftValue = dims.materialize(builder, loc, left, symbolValues),
        rightValue = dims.materialize(builder, loc, right, symbolValues);
  RequireOp::create(builder, loc, leftValue, comparison, rightValue, what);
  return success();
}

/// All operands whose dim is a loop must say the same of its size.
static LogicalResult visitLoops(linalg::LinalgOp op, SymbolicDims &dims, RequirementVisitor visit) {
  SmallVector<std::pair<FormulaAttr, OpOperand *>> sizes(op.getNumLoops(),
                                                         {FormulaAttr(), nullptr});
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      FailureOr<FormulaAttr> size = dims.getDim(operand.get(), dim);
      if (failed(size))
        continue;
      auto &[knownSize, from] = sizes[loop.getPosition()];
      if (!knownSize) {
        knownSize = *size;
        from = &operand;
        continue;
      }
      if (knownSize == *size)
        continue;
      Requirement requirement{op.getLoc(), knownSize, Comparison::Equal, *size, ""};
      llvm::raw_string_ostream(requirement.what)
          << "expected operands that agree in a dim: " << from->get().getType() << " and " << type;
      if (failed(visit(requirement)))
        return failure();
    }
  }
  return success();
}

/// A `?` that is cast to a number is that number.
static LogicalResult visitCast(tensor::CastOp op, SymbolicDims &dims, RequirementVisitor visit) {
  auto to = dyn_cast<RankedTensorType>(op.getType());
  if (!to || !isa<RankedTensorType>(op.getSource().getType()))
    return success();
  for (auto [dim, size] : llvm::enumerate(to.getShape())) {
    FailureOr<FormulaAttr> from = dims.getDim(op.getSource(), dim);
    if (ShapedType::isDynamic(size) || failed(from))
      continue;
    FormulaAttr number = FormulaAttr::getConstant(op.getContext(), size);
    if (*from == number)
      continue;
    Requirement requirement{op.getLoc(), *from, Comparison::Equal, number, ""};
    llvm::raw_string_ostream(requirement.what)
        << "expected dim " << dim << " of " << op.getSource().getType() << " to be that of " << to;
    if (failed(visit(requirement)))
      return failure();
  }
  return success();
}

LogicalResult visitImpliedRequirements(Operation *op, SymbolicDims &dims,
                                       RequirementVisitor visit) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitLoops(linalgOp, dims, visit);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return visitCast(cast, dims, visit);
  return success();
}

LogicalResult RequirementBuilder::run() {
  SmallVector<RequireOp> given(func.getBody().getOps<RequireOp>());
  if (failed(checkRanges()))
    return failure();
  for (RequireOp op : given) {
    FailureOr<FormulaAttr> left = dims.getFormula(op.getLeft()),
                           right = dims.getFormula(op.getRight());
    if (failed(left) || failed(right))
      return op.emitError(op.getWhat())
             << "; it depends on sizes that are no formulas over the dynamic dims of the "
                "function's inputs, so that it cannot be checked";
    if (failed(add(op.getLoc(), *left, op.getComparison(), *right, op.getWhat())))
      return failure();
    op.erase();
  }
  return addImplied();
}

LogicalResult RequirementBuilder::addImplied() {
  WalkResult walk = func.walk([&](Operation *op) {
    LogicalResult visited = visitImpliedRequirements(op, dims, [&](const Requirement &requirement) {
      return add(requirement.loc, requirement.left, requirement.comparison, requirement.right,
                 requirement.what);
    });
    return failed(visited) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

llvm::DenseSet<Operation *> findChosenRegions(ModuleOp module) {
  llvm::DenseSet<Operation *> found;
  SymbolTable symbols(module);
  // Functions of regions stand before those that they are in.
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp func : llvm::reverse(functions)) {
    if (func.isExternal())
      continue;
    bool isFound = found.contains(func);
    auto add = [&](FlatSymbolRefAttr callee, bool isChosen) {
      if (Operation *region = symbols.lookup(callee.getAttr()); region && (isFound || isChosen))
        found.insert(region);
    };
    for (auto branch : func.getOps<BranchOp>())
      for (FlatSymbolRefAttr callee : {branch.getThenAttr(), branch.getOtherwiseAttr()})
        add(callee, branch.getCondition().getType().isIndex());
    for (auto loop : func.getOps<LoopOp>())
      for (FlatSymbolRefAttr callee : {loop.getConditionAttr(), loop.getBodyAttr()})
        add(callee, /*isChosen=*/false);
  }
  return found;
}

LogicalResult listRequirements(func::FuncOp func, SymbolicDims &dims, bool isChosenBySizes) {
  return RequirementBuilder(func, dims, isChosenBySizes, /*onlyNumbers=*/false).run();
}

LogicalResult requireStaticSizes(ModuleOp module) {
  llvm::DenseSet<Operation *> chosen = findChosenRegions(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    bool isChosenBySizes = chosen.contains(func);
    SymbolicDims dims(func);
    if (isChosenBySizes)
      dims.dropEmptyRanges();
    if (failed(RequirementBuilder(func, dims, isChosenBySizes, /*onlyNumbers=*/true).addImplied()))
      return failure();
  }
  return success();
}

} // namespace xc::plan
