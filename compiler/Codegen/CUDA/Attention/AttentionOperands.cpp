//===- AttentionOperands.cpp - What attention reads, and its rings --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To the copies, queries, keys and values are tensors of heads of batches, the length and the
// vector, wherever that is in memory. Boxes are panels of 128 bytes; what lies behind a vector or a
// length is zero. Queries have a ring of one stage, keys and values a ring each: keys of a block
// are needed, and given back, before its values.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

/// Of boxes of `rows` rows.
Value AttentionEmitter::makeMap(const AttentionOperand &operand, tile::SharedType type,
                                int64_t rows) {
  MLIRContext *context = builder.getContext();
  unsigned scalars = countScalars(kernel.getFunction());
  auto getMap = [&](ArrayRef<AffineExpr> formulas) {
    return AffineMapAttr::get(AffineMap::get(0, scalars, formulas, context));
  };
  SmallVector<AffineExpr> sizes;
  for (Value size : operand.sizes)
    sizes.push_back(getScalarFormula(size, context));
  SmallVector<int64_t> box(sizes.size() - 2, 1);
  box.append({rows, type.getPanelColumns()});
  auto mapType = tile::TensorMapType::get(context, box, type.getElementType(), type.getLineBytes());
  bool isWhole = operand.offset == getAffineConstantExpr(0, context);
  return tile::TensorMapOp::create(builder, loc, mapType, points.getMemory(operand.binding),
                                   getMap(sizes), getMap(operand.strides),
                                   isWhole ? AffineMapAttr() : getMap(operand.offset), UnitAttr());
}

AttentionEmitter::Source AttentionEmitter::makeSource(Value tensor, int64_t rows, int64_t stages,
                                                      int64_t sharers) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  // Whole panels, so that one map brings all of them.
  int64_t columns = llvm::alignTo(tensorType.getShape().back(), 64);
  auto type =
      tile::SharedType::get(builder.getContext(), rows, columns, tensorType.getElementType());
  AttentionOperand operand = *matchAttentionOperand(tensor, points);
  Source source{
      makeMap(operand, type, rows / sharers), Value(), type, stages, sharers, operand.sizes};
  auto ring = tile::RingType::get(builder.getContext(), stages, {type});
  source.ring =
      tile::RingOp::create(builder, loc, ring, /*arrivals=*/1, config.getWarpgroups() * sharers,
                           IntegerAttr(), IntegerAttr());
  points.emitIf(index.isEqual(frame.getThreadId(), index.constant(0)),
                [&] { tile::PrefetchOp::create(builder, loc, source.map); });
  return source;
}

void AttentionEmitter::makeSources() {
  querySource = makeSource(op.getQuery(), config.getWarpgroups() * tile::kWarpgroupRows,
                           config.getQueryStages(), /*sharers=*/1);
  keySource = makeSource(op.getKey(), config.getKeys(), config.getStages(), config.getCluster());
  valueSource =
      makeSource(op.getValue(), config.getKeys(), config.getStages(), config.getCluster());
}

/// Where offsets are data: between what hides all keys and what hides none, so that sums fit.
void AttentionEmitter::loadOffset() {
  if (!op.getCausal())
    return;
  if (!op.getOffset()) {
    offset = index.sub(keys, queries);
    return;
  }
  Value stored = points.emit(op.getOffset(), Point{{}, Coord::uniform(index.constant(0)), 1, {}});
  Type i64 = builder.getI64Type();
  if (stored.getType() != i64)
    stored = arith::ExtSIOp::create(builder, loc, i64, stored);
  int64_t window = op.getWindow() ? static_cast<int64_t>(*op.getWindow()) : 0;
  Value most = arith::IndexCastOp::create(builder, loc, i64, index.add(keys, window)),
        least =
            arith::IndexCastOp::create(builder, loc, i64, index.sub(index.constant(0), queries));
  stored = arith::MinSIOp::create(builder, loc, stored, most);
  stored = arith::MaxSIOp::create(builder, loc, stored, least);
  offset = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored);
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

AttentionEmitter::RingState AttentionEmitter::advance(RingState state, int64_t stages) {
  Value zero = index.constant(0), one = index.constant(1);
  Value flipped = arith::XOrIOp::create(builder, loc, state.phase, one);
  if (stages == 1)
    return {zero, flipped};
  Value next = index.add(state.stage, one);
  Value wraps = index.isEqual(next, index.constant(stages));
  return {arith::SelectOp::create(builder, loc, wraps, zero, next),
          arith::SelectOp::create(builder, loc, wraps, flipped, state.phase)};
}

Value AttentionEmitter::getSlot(const Source &source, RingState state) {
  return tile::SlotOp::create(builder, loc, source.type, source.ring, state.stage, 0);
}

void AttentionEmitter::waitFull(const Source &source, RingState state) {
  tile::WaitFullOp::create(builder, loc, source.ring, state.stage, state.phase);
}

/// One thread stands for the warpgroup: wgmma's completion is the warpgroup's. In a cluster one for
/// each block that fetches a part.
void AttentionEmitter::release(const Source &source, RingState state, Value token) {
  points.emitIf(index.isLess(threadInWarpgroup, index.constant(source.sharers)), [&] {
    if (source.sharers == 1)
      tile::ReleaseOp::create(builder, loc, source.ring, state.stage, token);
    else
      tile::ReleaseInOp::create(builder, loc, source.ring, state.stage, threadInWarpgroup, token);
  });
}

void AttentionEmitter::fetch(const Source &source, RingState state, Value head, Value row) {
  tile::WaitEmptyOp::create(builder, loc, source.ring, state.stage, state.phase);
  tile::PublishOp::create(builder, loc, source.ring, state.stage, source.type.getBytes());
  SmallVector<Value> coords = index.delinearize(head, ArrayRef(source.sizes).drop_back(2));
  Value slot = getSlot(source, state);
  if (source.sharers == 1) {
    coords.append({row, index.constant(0)});
    tile::LoadOp::create(builder, loc, source.map, coords, slot, source.ring, state.stage);
    return;
  }
  Value part = index.mul(rank, source.type.getRows() / source.sharers);
  coords.append({index.add(row, part), index.constant(0)});
  Value blocks = index.constant((int64_t(1) << source.sharers) - 1);
  tile::MulticastOp::create(builder, loc, source.map, coords, slot, part, blocks, source.ring,
                            state.stage);
}

} // namespace xc::cuda
