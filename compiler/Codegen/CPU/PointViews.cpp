//===- PointViews.cpp - Elements of views, and of what is put together ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view only moves the point: its element is one of its source at other indices. Of a tensor that
// is padded, or that a slice was put into, the point says which of two it is an element of.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/IndexMath.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/PointEvaluator.h"
#include "compiler/Codegen/Common/ViewIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cpu {

/// The arithmetic of ViewIndices.h on lanes.
struct PointEvaluator::LaneArithmetic {
  using Index = LaneIndex;

  LaneIndex get(OpFoldResult number) {
    return {getValueOrCreateConstantIndexOp(builder, loc, number)};
  }
  // What is merged into the next dim counts there.
  LaneIndex add(const LaneIndex &lhs, const LaneIndex &rhs) {
    return lhs.absorbed ? rhs : evaluator.combine(loc, AffineExprKind::Add, lhs, rhs);
  }
  LaneIndex scale(const LaneIndex &index, OpFoldResult factor) {
    return index.absorbed ? index : evaluator.combine(loc, AffineExprKind::Mul, index, get(factor));
  }
  SmallVector<LaneIndex> split(LaneIndex position, ArrayRef<OpFoldResult> sizes) {
    SmallVector<LaneIndex> indices(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 1;) {
      LaneIndex size = get(sizes[dim]);
      indices[dim] = evaluator.combine(loc, AffineExprKind::Mod, position, size);
      position = evaluator.combine(loc, AffineExprKind::FloorDiv, position, size);
    }
    indices.front() = position;
    return indices;
  }
  SmallVector<OpFoldResult> getSizes(Value tensor) { return cpu::getSizes(builder, tensor); }

  PointEvaluator &evaluator;
  OpBuilder &builder;
  Location loc;
};

Value PointEvaluator::evaluateView(Operation *view, ArrayRef<LaneIndex> indices) {
  LaneArithmetic arithmetic{*this, builder, view->getLoc()};
  return evaluate(view->getOperand(0), codegen::getSourceIndices(arithmetic, view, indices));
}

/// |then| at |thenIndices| where |condition| holds, else |otherwise| (a scalar, or a tensor at
/// |otherwiseIndices|).
Value PointEvaluator::evaluateIf(Location loc, Value condition, Value then,
                                 ArrayRef<LaneIndex> thenIndices, Value otherwise,
                                 ArrayRef<LaneIndex> otherwiseIndices) {
  // Values computed inside a branch are not visible after it, nor is their width known before: make
  // them all lanes.
  auto emitBranch = [&](Value value, ArrayRef<LaneIndex> indices) {
    return [&, value, indices](OpBuilder &branchBuilder, Location branchLoc) {
      PointEvaluator nested(branchBuilder, environment, numLanes);
      Value result = isa<ShapedType>(value.getType()) ? nested.evaluate(value, indices) : value;
      scf::YieldOp::create(branchBuilder, branchLoc, nested.toLanes(branchLoc, result));
    };
  };
  auto ifOp = scf::IfOp::create(builder, loc, condition, emitBranch(then, thenIndices),
                                emitBranch(otherwise, otherwiseIndices));
  return ifOp.getResult(0);
}

Value PointEvaluator::evaluatePad(tensor::PadOp op, ArrayRef<LaneIndex> indices) {
  Location loc = op.getLoc();
  bool isAllInside = environment.insidePads.contains(op);
  Value condition = arith::ConstantIntOp::create(builder, loc, 1, 1);
  SmallVector<LaneIndex> source;
  SmallVector<OpFoldResult> sizes = getSizes(builder, op.getSource());
  for (auto [dim, index, lowPad, highPad] :
       llvm::enumerate(indices, op.getMixedLowPad(), op.getMixedHighPad())) {
    if (isZeroInteger(lowPad) && isZeroInteger(highPad)) {
      source.push_back(index);
      continue;
    }
    assert(index.isUniform() && "the summary says that this dim is guarded");
    Value low = getValueOrCreateConstantIndexOp(builder, loc, lowPad);
    source.push_back({builder.createOrFold<arith::SubIOp>(loc, index.base, low)});
    if (isAllInside)
      continue;
    Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
    condition = builder.createOrFold<arith::AndIOp>(loc, condition,
                                                    isInside(builder, loc, index.base, low, size));
  }
  if (isAllInside)
    return evaluate(op.getSource(), source);
  return evaluateIf(loc, condition, op.getSource(), source, op.getConstantPaddingValue(), {});
}

Value PointEvaluator::evaluateInsertSlice(tensor::InsertSliceOp op, ArrayRef<LaneIndex> indices) {
  Location loc = op.getLoc();
  Value condition = arith::ConstantIntOp::create(builder, loc, 1, 1);
  SmallVector<LaneIndex> source;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [dim, index] : llvm::enumerate(indices)) {
    assert(index.isUniform() && "the summary says that this dim is guarded");
    Value low = getValueOrCreateConstantIndexOp(builder, loc, op.getMixedOffsets()[dim]);
    Value size = getValueOrCreateConstantIndexOp(builder, loc, op.getMixedSizes()[dim]);
    Value stride = getValueOrCreateConstantIndexOp(builder, loc, op.getMixedStrides()[dim]);
    Value distance = builder.createOrFold<arith::SubIOp>(loc, index.base, low);
    Value position = distance;
    if (!isConstantIntValue(stride, 1)) {
      position = arith::DivUIOp::create(builder, loc, distance, stride);
      Value rest = arith::RemUIOp::create(builder, loc, distance, stride);
      Value hit = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                                        arith::ConstantIndexOp::create(builder, loc, 0));
      condition = builder.createOrFold<arith::AndIOp>(loc, condition, hit);
    }
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, size);
    condition = builder.createOrFold<arith::AndIOp>(loc, condition, inside);
    if (!dropped[dim])
      source.push_back({position});
  }
  return evaluateIf(loc, condition, op.getSource(), source, op.getDest(), indices);
}

} // namespace xc::cpu
