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
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::kernel {

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Leading dims, heads, lengths and vectors of the operands agree.
static LogicalResult verifyShapes(AttentionOp op) {
  ShapedType query = op.getQueryType(), key = op.getKeyType(), value = op.getValueType();
  int64_t rank = query.hasRank() ? query.getRank() : 0;
  if (op.isPaged() && rank != 4)
    return op.emitOpError("expected queries of rank 4 beside pages, got ") << query;
  if (rank < 3 || !key.hasRank() || key.getRank() != rank || !value.hasRank() ||
      value.getRank() != rank)
    return op.emitOpError("expected query, key and value of one rank of at least 3, got ")
           << query << ", " << key << " and " << value;
  bool fits = agree(query.getDimSize(rank - 1), key.getDimSize(rank - 1)) &&
              agree(key.getDimSize(rank - 2), value.getDimSize(rank - 2)) &&
              key.getDimSize(rank - 3) == value.getDimSize(rank - 3);
  for (int64_t dim = 0; dim < rank - 3; ++dim)
    fits &= (op.isPaged() || agree(query.getDimSize(dim), key.getDimSize(dim))) &&
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
  if (failed(verifyShapes(*this)) || failed(verifyDests(*this)) || failed(verifySeenKeys(*this)) ||
      failed(verifyPages(*this)))
    return failure();
  if (getOpenEnd() && !getOffset())
    return emitOpError("expected an offset beside an open end");
  return verifyTensorsOrMemrefs(*this);
}

int64_t AttentionOp::getKeyLength() {
  int64_t length = getKeyType().getDimSize(getBatchRank() + 1);
  if (!isPaged() || ShapedType::isDynamic(length))
    return length;
  int64_t pages = cast<ShapedType>(getTable().getType()).getDimSize(1);
  // More than arithmetic has room for is not known either.
  int64_t all;
  return ShapedType::isDynamic(pages) || llvm::MulOverflow(length, pages, all)
             ? ShapedType::kDynamic
             : all;
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

/// An element of a row of integers, as an index.
static Value loadIndex(OpBuilder &b, Location loc, Value memory, ValueRange place) {
  Value stored = memref::LoadOp::create(b, loc, memory, place);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), stored);
}

/// The last place of its sequence that query `position` sees.
static Value buildLatestPlace(AttentionOp op, OpBuilder &b, Location loc, Value sequence,
                              Value position) {
  Value length = loadIndex(b, loc, op.getLengths(), sequence);
  Value before = arith::SubIOp::create(b, loc, length, sizeValueOf(b, loc, op.getQuery(), 2));
  return arith::AddIOp::create(b, loc, position, before);
}

/// Where `place` of sequence `sequence` is in pages like `pages`: its page, and its place there.
static std::pair<Value, Value> findPage(AttentionOp op, OpBuilder &b, Location loc, Value pages,
                                        Value sequence, Value place) {
  Value size = sizeValueOf(b, loc, pages, 2), zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  Value entry = arith::DivUIOp::create(b, loc, place, size);
  Value page = loadIndex(b, loc, op.getTable(), {sequence, entry});
  Value last = arith::SubIOp::create(b, loc, sizeValueOf(b, loc, pages, 0), one);
  page = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, page, last), zero);
  return {page, arith::RemUIOp::create(b, loc, place, size)};
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
  if (op.isPaged()) {
    auto loadPaged = [=](Value pages) {
      return [=](OpBuilder &in, ValueRange rest) -> Value {
        auto [page, row] = findPage(op, in, loc, pages, place.front(), rest.front());
        return memref::LoadOp::create(in, loc, pages,
                                      ValueRange{page, shared.back(), row, rest[1]});
      };
    };
    loops.keys = arith::MulIOp::create(b, loc, loops.keys, sizeValueOf(b, loc, op.getTable(), 1));
    loops.latest = buildLatestPlace(op, b, loc, place.front(), place.back());
    loops.key = loadPaged(op.getKey());
    loops.value = loadPaged(op.getValue());
  }
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
