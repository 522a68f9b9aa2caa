//===- AttentionMath.cpp - Scores, softmax and results of a tile ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax goes over blocks of keys: with m the largest score of a row so far, and b that of the
// block too, sums so far are multiplied by exp(m - b), and the block's weights are exp(score - b).
// Exponentials are powers of 2. Where a row has seen no key, b is minus infinity, and 0 is taken in
// its place: an infinity must not be subtracted from itself.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionEmitter.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::pair<Value, Value> AttentionEmitter::startScores(Value keys) {
  int64_t k = alignToStep(vector, op.getQueryType().getElementType());
  if (heldQueries)
    return startProduct(scoreType, heldQueries, /*row=*/Value(), keys, /*sums=*/Value(), k,
                        /*transposed=*/false);
  Value row = index.mul(warpgroup, tile::kWarpgroupRows);
  return startProduct(scoreType, queryTile, row, keys, /*sums=*/Value(), k, /*transposed=*/false);
}

std::pair<Value, Value> AttentionEmitter::startOutput(Value weights, Value output, Value values) {
  return startProduct(outputType, weights, /*row=*/Value(), values, output, config.getKeys(),
                      /*transposed=*/true);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value AttentionEmitter::firstRow(const Tile &tile) {
  return index.add(tile.firstQuery, index.mul(warpgroup, tile::kWarpgroupRows));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// What exponents are relative to: the maximum times the factor; 0 where no key has been seen.
Value AttentionEmitter::getBase(Value maximum) {
  return map(rowsType, maximum, [&](ValueRange arguments) {
    Value lowest = f32(-std::numeric_limits<double>::infinity());
    Value isNone =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, arguments[0], lowest);
    Value scaled = arith::MulFOp::create(builder, loc, arguments[0], f32(factor));
    return arith::SelectOp::create(builder, loc, isNone, f32(0), scaled).getResult();
  });
}

Value AttentionEmitter::emitSoftmax(Value scores, Softmax &softmax, Value &rescale) {
  auto power = [&](ValueRange arguments) -> Value {
    Value negated = arith::NegFOp::create(builder, loc, arguments[1]);
    return exp2(math::FmaOp::create(builder, loc, arguments[0], f32(factor), negated));
  };
  // Each of the four threads of a row begins with what all of them know.
  Value before = map(partsType, softmax.maximum, [](ValueRange arguments) { return arguments[0]; });
  Value part = tile::ReduceRowsOp::create(builder, loc, tile::Combine::Max, scores, before);
  Value maximum = tile::CombineRowsOp::create(builder, loc, rowsType, tile::Combine::Max, part);
  Value base = getBase(maximum);
  rescale = map(rowsType, {softmax.maximum, base}, power);
  Value weights = map(scoreType, {scores, base}, power);
  Value sum = map(partsType, {softmax.sum, rescale}, [&](ValueRange arguments) {
    return arith::MulFOp::create(builder, loc, arguments[0], arguments[1]).getResult();
  });
  softmax.maximum = maximum;
  softmax.sum = tile::ReduceRowsOp::create(builder, loc, tile::Combine::Add, weights, sum);
  return weights;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void AttentionEmitter::storeOutput(const Tile &tile, Value output) {
  storeHead(kernel.outputs.front(), output, points.getSizes(op.getQuery()), tile.head,
            firstRow(tile));
}

void AttentionEmitter::storeLogsumexp(const Tile &tile, Value logarithms) {
  plan::BindingOp binding = kernel.outputs[1].binding;
  auto each = tile::EachOp::create(builder, loc, logarithms, firstRow(tile), index.constant(0));
  fill(each.getBody(), {builder.getF32Type(), builder.getIndexType()}, [&](Block &block) {
    Value row = block.getArgument(1);
    points.emitIf(index.isLess(row, queries), [&] {
      Value place = index.add(index.mul(tile.head, queries), row);
      points.store(binding, Coord::uniform(place), block.getArgument(0), 1);
    });
    tile::YieldOp::create(builder, loc, ValueRange());
  });
}

void AttentionEmitter::emitOutput(const Tile &tile, Value output, Softmax softmax) {
  Value sum = tile::CombineRowsOp::create(builder, loc, rowsType, tile::Combine::Add, softmax.sum);
  Value base = getBase(softmax.maximum);
  if (op.getSinks()) {
    // One more key, whose value is 0.
    Value head = index.rem(tile.head, heads);
    Value sink = points.emit(op.getSinks(), Point{{}, Coord::uniform(head), 1, {}});
    if (!sink.getType().isF32())
      sink = arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink);
    sum = map(rowsType, {sum, base}, [&](ValueRange arguments) {
      Value negated = arith::NegFOp::create(builder, loc, arguments[1]);
      Value power = exp2(math::FmaOp::create(builder, loc, sink, f32(kLog2E), negated));
      return arith::AddFOp::create(builder, loc, arguments[0], power).getResult();
    });
  }
  Value inverse = map(rowsType, sum, [&](ValueRange arguments) {
    Value isNone =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, arguments[0], f32(0));
    Value divisor = arith::SelectOp::create(builder, loc, isNone, f32(1), arguments[0]);
    return arith::DivFOp::create(builder, loc, f32(1), divisor).getResult();
  });
  storeOutput(tile, map(outputType, {output, inverse}, [&](ValueRange arguments) {
                return arith::MulFOp::create(builder, loc, arguments[0], arguments[1]).getResult();
              }));
  if (!op.hasLogsumexp() || kernel.outputs.size() < 2)
    return; // or nobody needs it
  storeLogsumexp(tile, map(rowsType, {sum, base}, [&](ValueRange arguments) {
                   Value scaled = arith::MulFOp::create(builder, loc, arguments[1], f32(kLog2));
                   Value logarithm = math::LogOp::create(builder, loc, arguments[0]);
                   return arith::AddFOp::create(builder, loc, logarithm, scaled).getResult();
                 }));
}

} // namespace xc::cuda
