//===- WorkLimits.cpp - What a block need not compute ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/WorkLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cuda {

namespace {
/// What lies behind `extent`, a value in the body of `op`, along dim (or loop) `dim` is not
/// specified.
struct Limit {
  int64_t dim;
  linalg::LinalgOp op;
  Value extent;
};

/// Finds the limits of tensors: those that end in `kernel.within`, and what is computed of them.
class LimitFinder {
public:
  SmallVector<Limit> find(Value tensor);

private:
  /// Those of `value` in the body of `op`, along its loops.
  void findInBody(linalg::LinalgOp op, Value value, SmallVectorImpl<Limit> &limits);

  SmallPtrSet<const void *, 8> visited;
};
} // namespace

/// Whether the result is not specified where an operand is not. Choices may be made to replace
/// that, as logic and products of integers may be.
static bool spreadsUnspecified(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()))
    return true;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::AddIOp, arith::SubIOp, arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
             arith::FPToUIOp, arith::BitcastOp, kernel::ElementOp>(op);
}

void LimitFinder::findInBody(linalg::LinalgOp op, Value value, SmallVectorImpl<Limit> &limits) {
  if (!visited.insert(value.getAsOpaquePointer()).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock())
      return;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (op.isDpsInit(operand) || !isa<RankedTensorType>(operand->get().getType()))
      return;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (Limit &limit : find(operand->get()))
      if (auto loop = dyn_cast<AffineDimExpr>(map.getResult(limit.dim)))
        limits.push_back({loop.getPosition(), limit.op, limit.extent});
    return;
  }
  Operation *definition = value.getDefiningOp();
  if (definition->getBlock() != op.getBlock())
    return;
  if (auto within = dyn_cast<kernel::WithinOp>(definition)) {
    if (auto index = within.getIndex().getDefiningOp<linalg::IndexOp>())
      limits.push_back({static_cast<int64_t>(index.getDim()), op, within.getExtent()});
    return findInBody(op, within.getValue(), limits);
  }
  if (spreadsUnspecified(definition))
    for (Value operand : definition->getOperands())
      findInBody(op, operand, limits);
}

SmallVector<Limit> LimitFinder::find(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !visited.insert(tensor.getAsOpaquePointer()).second)
    return {};
  SmallVector<Limit> inLoops, limits;
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  findInBody(op, op.getBlock()->getTerminator()->getOperand(number), inLoops);
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(tensor));
  for (Limit &limit : inLoops) {
    AffineExpr loop = getAffineDimExpr(limit.dim, op.getContext());
    if (std::optional<unsigned> dim = map.getResultPosition(loop))
      limits.push_back({*dim, limit.op, limit.extent});
  }
  return limits;
}

bool haveLimits(ArrayRef<LimitedOutput> outputs) {
  return llvm::all_of(outputs, [](const LimitedOutput &output) {
    return !LimitFinder().find(output.tensor).empty();
  });
}

/// The value in the body of `op` outside of it; null where it is not the same at all points.
static Value emitScalar(PointEmitter &points, linalg::LinalgOp op, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock())
      return value;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type)
      return operand->get();
    if (type.getRank() != 0 || op.isDpsInit(operand))
      return {};
    Point point;
    point.flat = Coord::uniform(points.index.constant(0));
    return points.emit(operand->get(), point);
  }
  Operation *definition = value.getDefiningOp();
  if (definition->getBlock() != op.getBlock())
    return value;
  bool isArithmetic = isa<arith::ArithDialect>(definition->getDialect());
  if (!isArithmetic || definition->getNumResults() != 1)
    return {};
  IRMapping mapping;
  for (Value operand : definition->getOperands()) {
    Value outside = emitScalar(points, op, operand);
    if (!outside)
      return {};
    mapping.map(operand, outside);
  }
  return points.builder.clone(*definition, mapping)->getResult(0);
}

/// Whether a point of `range` lies before `extent` along the dim at `place` of it. Where the range
/// begins and ends in different slices along the dims outside of it, it holds the first of one.
static Value emitIsBefore(PointEmitter &points, const BlockRange &range, size_t place,
                          Value extent) {
  IndexBuilder &index = points.index;
  ArrayRef<Value> sizes = range.sizes;
  Value inner = index.product(sizes.drop_front(place + 1));
  Value first = index.div(range.first, inner);
  std::optional<int64_t> outer = getConstantIntValue(index.product(sizes.take_front(place)));
  if (outer && *outer == 1)
    return index.isLess(first, extent);
  Value last = index.div(range.last, inner), size = sizes[place];
  Value isBefore = index.isLess(index.rem(first, size), extent);
  Value isSame = index.isEqual(index.div(first, size), index.div(last, size));
  Value truth = points.constant(points.builder.getBoolAttr(true));
  Value isOther = arith::XOrIOp::create(points.builder, points.loc, isSame, truth);
  return arith::OrIOp::create(points.builder, points.loc, isBefore, isOther);
}

/// i1: a point of the block is of interest in `output`; null if that is not known.
static Value emitIsNeeded(PointEmitter &points, const LimitedOutput &output,
                          ArrayRef<BlockRange> ranges) {
  Value needed;
  for (const Limit &limit : LimitFinder().find(output.tensor)) {
    auto dim = dyn_cast<AffineDimExpr>(output.coords[limit.dim]);
    if (!dim)
      continue;
    for (const BlockRange &range : ranges) {
      const auto *place = llvm::find(range.dims, dim.getPosition());
      if (place == range.dims.end())
        continue;
      Value extent = emitScalar(points, limit.op, limit.extent);
      if (!extent)
        continue;
      Value isBefore = emitIsBefore(points, range, place - range.dims.begin(), extent);
      needed = points.index.both(needed, isBefore);
    }
  }
  return needed;
}

Value emitIsNeeded(PointEmitter &points, ArrayRef<LimitedOutput> outputs,
                   ArrayRef<BlockRange> ranges) {
  Value needed;
  for (const LimitedOutput &output : outputs) {
    Value own = emitIsNeeded(points, output, ranges);
    if (!own)
      return {};
    needed = needed ? arith::OrIOp::create(points.builder, points.loc, needed, own) : own;
  }
  return needed;
}

void emitIfNeeded(PointEmitter &points, Value needed, llvm::function_ref<void()> compute,
                  llvm::function_ref<void()> skip) {
  if (!needed)
    return compute();
  auto branch = scf::IfOp::create(points.builder, points.loc, needed, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(points.builder);
  for (auto [block, build] :
       {std::pair(branch.thenBlock(), compute), std::pair(branch.elseBlock(), skip)}) {
    points.builder.setInsertionPointToStart(block);
    PointEmitter::Scope scope(points);
    build();
  }
}

} // namespace xc::cuda
