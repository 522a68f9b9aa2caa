//===- AttentionOperands.cpp - Operands and results of attention ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/AttentionOperands.h"

#include "compiler/Codegen/Common/ScalarFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace xc::cpu {

//===----------------------------------------------------------------------===//
// Values of all kinds
//===----------------------------------------------------------------------===//

Type AttentionOperands::likeOf(Type type, Value like) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? VectorType::get(vector.getShape(), type) : type;
}

Value AttentionOperands::widen(OpBuilder &b, Value value) {
  unsigned width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  Type type = likeOf(b.getF32Type(), value);
  if (width > 32)
    return arith::TruncFOp::create(b, loc, type, value);
  return width == 32 ? value : arith::ExtFOp::create(b, loc, type, value).getResult();
}

Value AttentionOperands::replaceInfinity(OpBuilder &b, Value maximum) {
  Value none = spreadLike(b, lowest(b), maximum), zero = spreadLike(b, scalar(b, 0), maximum);
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, maximum, none);
  return arith::SelectOp::create(b, loc, isNone, zero, maximum);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

AffineExpr AttentionOperands::countBatches() {
  AffineExpr batches = builder.getAffineConstantExpr(1);
  for (OpFoldResult size : ArrayRef(sizes).take_front(op.getBatchRank())) {
    AffineExpr count = codegen::getScalarFormula(size, builder.getContext());
    batches = batches && count ? batches * count : AffineExpr();
  }
  return batches;
}

Value AttentionOperands::getId(plan::Axis axis) {
  return plan::WorkgroupIdOp::create(builder, loc, builder.getIndexType(), axis);
}

void AttentionOperands::placeBatch(Value sharedHead) {
  auto value = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  };
  int64_t rank = op.getBatchRank();
  SmallVector<LoopDim> loops;
  for (unsigned dim = 0; dim < rank; ++dim)
    loops.push_back({{dim}, sizes[dim]});
  batch.resize(rank);
  setLinearIndex(builder, loc, getId(plan::Axis::Z), loops, batch);
  keyHead = sharedHead;
  SmallVector<OpFoldResult> keySizes = getSizes(builder, op.getKey());
  numKeys = value(keySizes[rank + 1]);
  if (op.isPaged()) {
    pages = value(keySizes[0]);
    pageSize = numKeys;
    Value perSequence = value(getSizes(builder, op.getTable())[1]);
    numKeys = arith::MulIOp::create(builder, loc, pageSize, perSequence);
  }
  vectorSize = index(builder, op.getQueryType().getShape().back());
  valueSize = index(builder, op.getValueType().getShape().back());
}

Value AttentionOperands::allocate(int64_t rows, int64_t columns) {
  return memref::AllocOp::create(builder, loc,
                                 MemRefType::get({rows, columns}, builder.getF32Type()));
}

void AttentionOperands::eraseKernelOps() {
  for (AttentionRoot &root : kernel.roots)
    root.root.op.erase();
  // What moved the results, then the op itself.
  for (Operation &dead : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (&dead == op || isOpTriviallyDead(&dead))
      dead.erase();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value AttentionOperands::evaluate(OpBuilder &b, Value tensor, ArrayRef<LaneIndex> point) {
  Environment environment;
  return PointEvaluator(b, environment, /*lanes=*/1).evaluate(tensor, point);
}

/// Of a sequence in pages: the table says which one. Numbers of pages are clamped.
SmallVector<LaneIndex> AttentionOperands::keyPoint(OpBuilder &b, Value row) {
  if (!op.isPaged()) {
    SmallVector<LaneIndex> point = batch;
    point.append({{keyHead}, {row}});
    return point;
  }
  Value entry = arith::DivUIOp::create(b, loc, row, pageSize),
        place = arith::RemUIOp::create(b, loc, row, pageSize);
  Value page = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                          evaluate(b, op.getTable(), {batch.front(), {entry}}));
  page = arith::MinSIOp::create(b, loc, page, at(b, pages, -1));
  page = arith::MaxSIOp::create(b, loc, page, index(b, 0));
  return {{page}, {keyHead}, {place}};
}

SmallVector<LaneIndex> AttentionOperands::keyPoint(OpBuilder &b, Value row, Value element) {
  SmallVector<LaneIndex> point = keyPoint(b, row);
  point.push_back({element});
  return point;
}

SmallVector<LaneIndex> AttentionOperands::queryPoint(Value head, Value query, LaneIndex element) {
  SmallVector<LaneIndex> point = batch;
  point.append({{head}, {query}, element});
  return point;
}

void AttentionOperands::widenBlock(OpBuilder &b, Value tensor, Value into, Value first,
                                   Value length) {
  Value width = tensor == op.getKey() ? vectorSize : valueSize;
  SmallVector<int64_t> widths = getWidths(lanes, lanes, 1);
  emitLoop(b, loc, {index(b, 0), length}, 1, [&](OpBuilder &outer, Location, Value row) {
    Value key = arith::AddIOp::create(outer, loc, first, row);
    SmallVector<LaneIndex> point = keyPoint(outer, key);
    emitLaneLoops(outer, loc, {index(outer, 0), width}, widths,
                  [&](OpBuilder &in, Value element, int64_t numLanes) {
                    Environment environment;
                    PointEvaluator evaluator(in, environment, numLanes);
                    LaneIndex elements{element, numLanes == 1 ? 0 : 1};
                    SmallVector<LaneIndex> own = point;
                    own.push_back(elements);
                    Value stored = evaluator.evaluate(tensor, own);
                    evaluator.store(loc, widen(in, evaluator.toLanes(loc, stored)), Buffer{into},
                                    {{row}, elements});
                  });
  });
}

Value AttentionOperands::getQueryScale(OpBuilder &b) {
  double limit = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 1;
  return scalar(b, op.getScale().convertToDouble() / limit);
}

Value AttentionOperands::limit(OpBuilder &b, Value multiples) {
  Value most = spreadLike(b, scalar(b, op.getSoftcap()->convertToDouble()), multiples);
  return arith::MulFOp::create(b, loc, math::TanhOp::create(b, loc, multiples), most);
}

SmallVector<LaneIndex> AttentionOperands::maskPoint(OpBuilder &b, Value head, LaneIndex query,
                                                    LaneIndex key) {
  SmallVector<LaneIndex> all = batch;
  all.append({{head}, query, key});
  SmallVector<OpFoldResult> maskSizes = getSizes(builder, op.getMask());
  SmallVector<LaneIndex> point(ArrayRef(all).take_back(maskSizes.size()));
  for (auto [position, size] : llvm::zip_equal(point, maskSizes)) {
    if (isConstantIntValue(size, 1)) {
      position = {index(b, 0)};
    } else if (!getConstantIntValue(size) && position.isUniform()) {
      Value last =
          arith::SubIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, size), index(b, 1));
      position = {arith::MinSIOp::create(b, loc, position.base, last)};
    }
  }
  return point;
}

Value AttentionOperands::makeAdded(OpBuilder &b, Value stored) {
  if (!isMaskBytes())
    return widen(b, stored);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored.getType()));
  Value seen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero);
  Value shown = spreadLike(b, scalar(b, 0), stored), hidden = spreadLike(b, lowest(b), stored);
  return arith::SelectOp::create(b, loc, seen, shown, hidden);
}

std::pair<Value, Value> AttentionOperands::getStart(OpBuilder &b, Value head) {
  Value none = lowest(b), zero = scalar(b, 0);
  if (!op.getSinks())
    return {none, zero};
  Value sink = widen(b, evaluate(b, op.getSinks(), {{head}}));
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sink, none);
  return {sink, arith::SelectOp::create(b, loc, isNone, zero, scalar(b, 1))};
}

std::pair<Value, Value> AttentionOperands::getSeenKeys(Value begin, Value count) {
  Value zero = index(builder, 0);
  if (!op.isBounded())
    return {zero, numKeys};
  auto asIndex = [&](Value stored) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored);
  };
  Value queries = getValueOrCreateConstantIndexOp(builder, loc, sizes[op.getBatchRank() + 1]);
  Value offset;
  if (op.isPaged())
    offset = arith::SubIOp::create(
        builder, loc, asIndex(evaluate(builder, op.getLengths(), {batch.front()})), queries);
  else if (op.getOffset())
    offset = asIndex(evaluate(builder, op.getOffset(), {}));
  else
    offset = arith::SubIOp::create(builder, loc, numKeys, queries);
  latest = arith::AddIOp::create(builder, loc, begin, offset);
  Value end = arith::AddIOp::create(builder, loc, latest, count);
  end = arith::MinSIOp::create(builder, loc, numKeys, end);
  if (!op.getWindow())
    return {zero, end};
  Value hidden = index(builder, static_cast<int64_t>(*op.getWindow()) - 1);
  Value first = arith::SubIOp::create(builder, loc, latest, hidden);
  return {arith::MaxSIOp::create(builder, loc, zero, first), end};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionOperands::placeResult(OpBuilder &b, const AttentionRoot &root,
                                                  Value head, Value query, Value element) {
  SmallVector<Value> point = llvm::map_to_vector(batch, [](LaneIndex at) { return at.base; });
  point.append({head, query});
  if (element)
    point.push_back(element);
  return llvm::map_to_vector(
      root.dims, [&](std::optional<unsigned> dim) { return dim ? point[*dim] : index(b, 0); });
}

Value AttentionOperands::narrow(OpBuilder &b, const AttentionRoot &root, Value value) {
  Type element = cast<MemRefType>(root.root.memory.getType()).getElementType();
  return element.isF32()
             ? value
             : arith::TruncFOp::create(b, loc, likeOf(element, value), value).getResult();
}

} // namespace xc::cpu
