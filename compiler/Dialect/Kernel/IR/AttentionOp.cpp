//===- AttentionOp.cpp - kernel.attention ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/AttentionLoops.h"
#include "compiler/Dialect/Kernel/IR/AttentionSupport.h"
#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::kernel {

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Leading dims, heads, lengths and vectors of the operands agree.
static LogicalResult verifyShapes(AttentionOp op) {
  ShapedType query = op.getQueryType(), key = op.getKeyType(), value = op.getValueType();
  int64_t rank = query.hasRank() ? query.getRank() : 0;
  if (rank < 3 || !key.hasRank() || key.getRank() != rank || !value.hasRank() ||
      value.getRank() != rank)
    return op.emitOpError("expected query, key and value of one rank of at least 3, got ")
           << query << ", " << key << " and " << value;
  bool fits = agree(query.getDimSize(rank - 1), key.getDimSize(rank - 1)) &&
              agree(key.getDimSize(rank - 2), value.getDimSize(rank - 2)) &&
              key.getDimSize(rank - 3) == value.getDimSize(rank - 3);
  for (int64_t dim = 0; dim < rank - 3; ++dim)
    fits &= agree(query.getDimSize(dim), key.getDimSize(dim)) &&
            agree(key.getDimSize(dim), value.getDimSize(dim));
  int64_t heads = query.getDimSize(rank - 3), groups = key.getDimSize(rank - 3);
  if (!fits || heads < 1 || groups < 1 || heads % groups != 0)
    return op.emitOpError("expected queries, keys and values that belong together, got ")
           << query << ", " << key << " and " << value;
  Type element = query.getElementType();
  if ((!element.isF16() && !element.isBF16() && !element.isF32()) ||
      key.getElementType() != element || value.getElementType() != element)
    return op.emitOpError("expected one float type of 16 or 32 bits, got ")
           << query << ", " << key << " and " << value;
  return success();
}

static LogicalResult verifyDests(AttentionOp op) {
  ShapedType query = op.getQueryType();
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = op.getValueType().getShape().back();
  if (op.getDests().empty() || op.getDests().size() > 2)
    return op.emitOpError("expected one or two destinations, got ") << op.getDests().size();
  for (auto [number, dest] : llvm::enumerate(op.getDests())) {
    auto type = cast<ShapedType>(dest.getType());
    if (number == 1)
      shape.pop_back();
    bool isRight = type.hasRank() && llvm::equal(shape, type.getShape(), agree) &&
                   (number == 0 ? type.getElementType() == query.getElementType()
                                : type.getElementType().isF32());
    if (!isRight)
      return op.emitOpError("expected the result's shape and type, or f32 for each query, got ")
             << type;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyShapes(*this)) || failed(verifyDests(*this)) || failed(verifySeenKeys(*this)))
    return failure();
  if (getOpenEnd() && !getOffset())
    return emitOpError("expected an offset beside an open end");
  return verifyTensorsOrMemrefs(*this);
}

//===----------------------------------------------------------------------===//
// Effects, shapes, buffers
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addMemoryEffects(*this, effects);
}

LogicalResult AttentionOp::reifyResultShapes(OpBuilder &builder,
                                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromInits(*this, builder, shapes);
}

bool AttentionOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool AttentionOp::bufferizesToMemoryWrite(OpOperand &operand,
                                          const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
AttentionOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  return getAliasOfInit(*this, operand);
}

LogicalResult AttentionOp::bufferize(RewriterBase &rewriter,
                                     const bufferization::BufferizationOptions &options,
                                     bufferization::BufferizationState &state) {
  return bufferizeKernelOp(*this, rewriter, options, state);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Where a mask has the score of `query` (batch dims, head, position) and `key`: a dim of one
/// element is the same for all.
static SmallVector<Value> placeInMask(OpBuilder &b, Location loc, Value mask, ValueRange query,
                                      Value key) {
  SmallVector<Value> all(query);
  all.push_back(key);
  int64_t rank = cast<ShapedType>(mask.getType()).getRank();
  SmallVector<Value> place(ArrayRef(all).take_back(rank));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [dim, position] : llvm::enumerate(place)) {
    Value last = arith::SubIOp::create(b, loc, sizeValueOf(b, loc, mask, dim), one);
    position = arith::MinSIOp::create(b, loc, position, last);
  }
  return place;
}

/// The last key that query `position` sees.
static Value buildLatest(AttentionOp op, OpBuilder &b, Location loc, Value position) {
  int64_t dim = op.getQueryType().getRank() - 2;
  Value offset;
  if (op.getOffset()) {
    Value stored = memref::LoadOp::create(b, loc, op.getOffset(), ValueRange());
    offset = arith::IndexCastOp::create(b, loc, b.getIndexType(), stored);
  } else {
    offset = arith::SubIOp::create(b, loc, sizeValueOf(b, loc, op.getKey(), dim),
                                   sizeValueOf(b, loc, op.getQuery(), dim));
  }
  return arith::AddIOp::create(b, loc, position, offset);
}

static AttentionLoops makeLoops(AttentionOp op, OpBuilder &b, Location loc, ValueRange query) {
  int64_t dim = op.getQueryType().getRank() - 2;
  SmallVector<Value> place(query), shared(query.drop_back());
  Value group = arith::ConstantIndexOp::create(b, loc, op.getGroupSize());
  shared.back() = arith::DivUIOp::create(b, loc, shared.back(), group);
  auto loadFrom = [loc](Value memory, SmallVector<Value> prefix) {
    return [=](OpBuilder &in, ValueRange rest) -> Value {
      SmallVector<Value> at(prefix);
      llvm::append_range(at, rest);
      return memref::LoadOp::create(in, loc, memory, at);
    };
  };
  AttentionLoops loops;
  loops.keys = sizeValueOf(b, loc, op.getKey(), dim);
  loops.vectorSize = sizeValueOf(b, loc, op.getQuery(), dim + 1);
  if (op.getCausal())
    loops.latest = buildLatest(op, b, loc, place.back());
  loops.query = loadFrom(op.getQuery(), place);
  loops.key = loadFrom(op.getKey(), shared);
  loops.value = loadFrom(op.getValue(), shared);
  if (Value mask = op.getMask())
    loops.mask = [=](OpBuilder &in, ValueRange key) -> Value {
      return memref::LoadOp::create(in, loc, mask, placeInMask(in, loc, mask, place, key.front()));
    };
  if (op.getSinks())
    loops.sink = loadFrom(op.getSinks(), {place[place.size() - 2]});
  return loops;
}

void AttentionOp::buildLoopNest(OpBuilder &builder) {
  Location loc = getLoc();
  int64_t rank = getQueryType().getRank();
  SmallVector<int64_t> queries = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  loopOverDims(builder, loc, getQuery(), queries, [&](OpBuilder &b, Location, ValueRange query) {
    AttentionLoops loops = makeLoops(*this, b, loc, query);
    AttentionLoops::Softmax softmax = loops.buildSoftmax(*this, b, loc);
    Value result = getDests()[0], zero = arith::ConstantIndexOp::create(b, loc, 0),
          one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(b, loc, zero, sizeValueOf(b, loc, result, rank - 1), one);
    OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody(), b.getListener());
    Value value = loops.buildResult(*this, inner, loc, softmax, loop.getInductionVar());
    SmallVector<Value> place(query);
    place.push_back(loop.getInductionVar());
    Value narrow = AttentionLoops::narrow(inner, loc, value, getQueryType().getElementType());
    memref::StoreOp::create(inner, loc, narrow, result, place);
    if (hasLogsumexp())
      memref::StoreOp::create(b, loc, loops.buildLogsumexp(b, loc, softmax), getDests()[1], query);
  });
}

} // namespace xc::kernel
