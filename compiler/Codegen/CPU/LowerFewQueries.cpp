//===- LowerFewQueries.cpp - Attention of few queries ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few queries leave lanes idle that stand for queries, and what they do takes as long as to read
// keys and values. So lanes are elements of a key or a value, which lie side by side. A workgroup
// has some rows, queries of heads that share a head of keys:
//
//   for each block of keys, for each row:
//     for as many keys as there are lanes:
//       sums[key] = sum over elements of key[elements] * query[elements]     in registers
//       scores = lane by lane the sums of the lanes of sums
//     the maximum of all scores so far; by how much the sums of before shrink
//     weights = exp(scores - maximum)
//     sums[elements] = shrunk sums[elements] + sum over keys of weights[key] * value[elements]
//   result = sums / the sum of the weights
//
// A block of keys stays in the first cache for all rows. Keys and values are read where they are,
// in pages too: a page is looked up once for a key. Those of 16 bits are widened in registers, or
// where many rows need them a block at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/FewQueriesLowering.h"
#include "compiler/Codegen/Common/ScalarFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cpu {

/// Rows that make it worth while to widen a block of keys before all of them read it.
static constexpr int64_t kRowsOfWidened = 3;
/// Rows that are computed side by side, and keys that a query is multiplied with: memory is read in
/// as many runs, which are few where one query alone waits for it.
static constexpr int64_t kRowsAtATime = 2, kKeysOfRows = 4, kKeysOfRow = 2;

//===----------------------------------------------------------------------===//
// The kernel's rows
//===----------------------------------------------------------------------===//

Value FewQueriesLowering::loadVector(OpBuilder &b, Value memory, Value row, Value column) {
  return vector::LoadOp::create(b, loc, vectorType(), memory, ValueRange{row, column});
}

void FewQueriesLowering::storeVector(OpBuilder &b, Value value, Value memory, Value row,
                                     Value column) {
  vector::StoreOp::create(b, loc, value, memory, ValueRange{row, column});
}

void FewQueriesLowering::forEachRow(OpBuilder &b, Value count, Body body) {
  emitLoop(b, loc, {index(b, 0), count}, 1,
           [&](OpBuilder &in, Location, Value row) { body(in, row); });
}

/// Two rows at a time, and one if their number is odd.
void FewQueriesLowering::forEachRows(OpBuilder &b,
                                     function_ref<void(OpBuilder &, ValueRange)> body) {
  int64_t count = config.getTile()[0], paired = count / kRowsAtATime * kRowsAtATime;
  if (paired)
    emitLoop(b, loc, {index(b, 0), index(b, paired)}, kRowsAtATime,
             [&](OpBuilder &in, Location, Value row) { body(in, {row, at(in, row, 1)}); });
  if (paired < count)
    body(b, index(b, paired));
}

/// There are as many rows as the configuration says; those behind the last one are like that.
std::pair<Value, Value> FewQueriesLowering::getQuery(OpBuilder &b, Value row) {
  Value queries = index(b, op.getQueryType().getShape().drop_back().back());
  int64_t last = op.getGroupSize() * op.getQueryType().getShape().drop_back().back() - 1;
  Value all = arith::AddIOp::create(b, loc, firstRow, row);
  all = arith::MinSIOp::create(b, loc, all, index(b, last));
  Value head = arith::MulIOp::create(b, loc, keyHead, index(b, op.getGroupSize()));
  head = arith::AddIOp::create(b, loc, head, arith::DivUIOp::create(b, loc, all, queries));
  return {head, arith::RemUIOp::create(b, loc, all, queries)};
}

LogicalResult FewQueriesLowering::planGrid() {
  MLIRContext *context = builder.getContext();
  int64_t queries = op.getQueryType().getShape().drop_back().back();
  AffineExpr batches = countBatches(),
             heads = codegen::getScalarFormula(
                 getSizes(builder, op.getKey())[op.isPaged() ? 1 : op.getBatchRank()], context);
  if (!batches || !heads)
    return op.emitOpError("has a size that is not a formula over the kernel's scalars");
  AffineExpr blocks = getAffineConstantExpr(
      llvm::divideCeil(op.getGroupSize() * queries, config.getTile()[0]), context);
  setLaunch(function, {blocks, heads, batches});
  return success();
}

void FewQueriesLowering::place() {
  placeBatch(getId(plan::Axis::Y));
  int64_t most = config.getTile()[0], keyCount = config.getTile()[1];
  int64_t all = op.getGroupSize() * op.getQueryType().getShape().drop_back().back();
  firstRow = arith::MulIOp::create(builder, loc, getId(plan::Axis::X), index(builder, most));
  Value rest = arith::SubIOp::create(builder, loc, index(builder, all), firstRow);
  rows = arith::MinSIOp::create(builder, loc, index(builder, most), rest);
  int64_t width = llvm::alignTo(op.getQueryType().getShape().back(), lanes),
          valueWidth = llvm::alignTo(op.getValueType().getShape().back(), lanes);
  queryRows = allocate(most, width);
  scores = allocate(most, llvm::alignTo(keyCount, lanes));
  sums = allocate(most, valueWidth);
  maximum = allocate(most, 1);
  total = allocate(most, 1);
  if (!op.getKeyType().getElementType().isF32() && most >= kRowsOfWidened) {
    keyRows = allocate(keyCount, width);
    valueRows = allocate(keyCount, valueWidth);
  }
}

/// Queries times the scale, with zeros behind them, and sums of nothing.
void FewQueriesLowering::emitQueries() {
  Value scale = getQueryScale(builder);
  auto clear = [&](OpBuilder &b, Value memory, Value row) {
    int64_t columns = cast<MemRefType>(memory.getType()).getDimSize(1);
    emitLoop(b, loc, {index(b, 0), index(b, columns)}, lanes,
             [&](OpBuilder &in, Location, Value column) {
               storeVector(in, spread(in, scalar(in, 0)), memory, row, column);
             });
  };
  forEachRow(builder, index(builder, config.getTile()[0]), [&](OpBuilder &b, Value row) {
    clear(b, queryRows, row);
    clear(b, sums, row);
    auto [head, query] = getQuery(b, row);
    std::pair<Value, Value> place{head, query};
    auto [most, weight] = getStart(b, head);
    memref::StoreOp::create(b, loc, most, maximum, ValueRange{row, index(b, 0)});
    memref::StoreOp::create(b, loc, weight, total, ValueRange{row, index(b, 0)});
    emitLoop(b, loc, {index(b, 0), vectorSize}, 1, [&](OpBuilder &in, Location, Value d) {
      Value element =
          widen(in, evaluate(in, op.getQuery(), queryPoint(place.first, place.second, {d})));
      memref::StoreOp::create(in, loc, arith::MulFOp::create(in, loc, element, scale), queryRows,
                              ValueRange{row, d});
    });
  });
  // Behind widened keys, which meet zeros, may be no NaN.
  if (keyRows)
    emitLoop(builder, loc, {index(builder, 0), index(builder, config.getTile()[1])}, 1,
             [&](OpBuilder &b, Location, Value key) { clear(b, keyRows, key); });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Elements of a key or a value from `element` on: `count` of them, and zeros. `key` says where it
/// is, of `widened` in rows of that.
Value FewQueriesLowering::loadElements(OpBuilder &b, Value tensor, Value widened,
                                       ArrayRef<LaneIndex> key, Value element, int64_t count) {
  if (widened)
    return loadVector(b, widened, key.back().base, element);
  Environment environment;
  if (count < lanes)
    environment.mask = vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()),
                                                    ValueRange{index(b, count)});
  PointEvaluator evaluator(b, environment, lanes);
  SmallVector<LaneIndex> point(key);
  point.push_back({element, /*stride=*/1});
  return widen(b, evaluator.toLanes(loc, evaluator.evaluate(tensor, point)));
}

/// A vector of the sums of each vector's lanes. Neighbours are added, of two vectors at a time:
/// first within four lanes, which takes no step between halves of a register, then fours.
Value FewQueriesLowering::joinLanes(OpBuilder &b, Vectors sums) {
  int64_t inner = std::min<int64_t>(lanes, 4);
  for (int64_t level = 1; static_cast<int64_t>(sums.size()) > 1; level *= 2) {
    SmallVector<int64_t> even, odd;
    // Of units of this many lanes, those of both vectors follow each other within a group.
    int64_t unit = level < inner ? 1 : inner, group = level < inner ? inner : lanes;
    for (int64_t begin = 0; begin < lanes; begin += group)
      for (int64_t vector : {int64_t(0), lanes})
        for (int64_t at = 0; at < group; at += 2 * unit)
          for (int64_t lane = 0; lane < unit; ++lane) {
            even.push_back(vector + begin + at + lane);
            odd.push_back(vector + begin + at + unit + lane);
          }
    Vectors next;
    for (size_t pair = 0; pair < sums.size(); pair += 2) {
      auto pick = [&](ArrayRef<int64_t> order) -> Value {
        return vector::ShuffleOp::create(b, loc, sums[pair], sums[pair + 1], order);
      };
      next.push_back(arith::AddFOp::create(b, loc, pick(even), pick(odd)));
    }
    sums = std::move(next);
  }
  return sums.front();
}

/// Sums of products of the rows' queries with some keys, over elements of each lane's number: of
/// all keys for one row after the other.
FewQueriesLowering::Vectors
FewQueriesLowering::emitProducts(OpBuilder &b, ValueRange rows,
                                 ArrayRef<SmallVector<LaneIndex>> keys) {
  int64_t width = op.getQueryType().getShape().back(), whole = width / lanes * lanes;
  auto add = [&](OpBuilder &in, Value element, int64_t count, ValueRange sums) {
    Vectors elements, next;
    for (const SmallVector<LaneIndex> &key : keys)
      elements.push_back(loadElements(in, op.getKey(), keyRows, key, element, count));
    for (Value row : rows) {
      Value query = loadVector(in, queryRows, row, element);
      for (Value own : elements)
        next.push_back(math::FmaOp::create(in, loc, own, query, sums[next.size()]));
    }
    return next;
  };
  Vectors none(rows.size() * keys.size(), spread(b, scalar(b, 0)));
  auto loop = scf::ForOp::create(b, loc, index(b, 0), index(b, whole), index(b, lanes), none,
                                 [&](OpBuilder &in, Location, Value element, ValueRange sums) {
                                   scf::YieldOp::create(in, loc, add(in, element, lanes, sums));
                                 });
  Vectors results(loop.getResults());
  return whole < width ? add(b, index(b, whole), width - whole, results) : results;
}

/// The scores of some rows, minus infinity behind the last key. As many keys as there are lanes are
/// summed up at a time; in the place of those that are not there the last one is.
void FewQueriesLowering::emitScores(OpBuilder &b, ValueRange rows, Value first, Value length) {
  Value last = at(b, length, -1);
  auto step = vector::StepOp::create(b, loc, VectorType::get({lanes}, b.getIndexType()));
  emitLoop(b, loc, {index(b, 0), length}, lanes, [&](OpBuilder &in, Location, Value begin) {
    SmallVector<SmallVector<LaneIndex>> keys;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value key = arith::MinSIOp::create(in, loc, at(in, begin, lane), last);
      if (keyRows)
        keys.push_back({{key}});
      else
        keys.push_back(keyPoint(in, arith::AddIOp::create(in, loc, first, key)));
    }
    size_t atATime = std::min(rows.size() > 1 ? kKeysOfRows : kKeysOfRow, lanes);
    SmallVector<Vectors> results(rows.size());
    for (size_t number = 0; number < keys.size(); number += atATime) {
      Vectors products = emitProducts(in, rows, ArrayRef(keys).slice(number, atATime));
      for (auto [row, own] : llvm::enumerate(results))
        llvm::append_range(own, ArrayRef(products).slice(row * atATime, atATime));
    }
    Value places = arith::AddIOp::create(in, loc, spread(in, begin), step);
    Value isThere =
        arith::CmpIOp::create(in, loc, arith::CmpIPredicate::slt, places, spread(in, length));
    for (auto [row, own] : llvm::zip_equal(rows, results)) {
      Value joined =
          arith::SelectOp::create(in, loc, isThere, joinLanes(in, own), spread(in, lowest(in)));
      storeVector(in, joined, scores, row, begin);
    }
  });
}

/// `score`, or scores of keys from `key` on; minus infinity where the query does not see them.
Value FewQueriesLowering::emitVisible(OpBuilder &b, Value query, Value key, Value score) {
  Value newest = arith::AddIOp::create(b, loc, latest, query), none = lowest(b);
  if (isa<VectorType>(score.getType())) {
    auto indices = VectorType::get({lanes}, b.getIndexType());
    key = arith::AddIOp::create(b, loc, spread(b, key), vector::StepOp::create(b, loc, indices));
    newest = spread(b, newest);
    none = spread(b, none);
  }
  Value seen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, key, newest);
  if (op.getWindow()) {
    Value window = spreadLike(b, index(b, static_cast<int64_t>(*op.getWindow())), score);
    Value before = arith::SubIOp::create(b, loc, newest, window);
    Value later = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, key, before);
    seen = arith::AndIOp::create(b, loc, seen, later);
  }
  return arith::SelectOp::create(b, loc, seen, score, none);
}

/// Leaves scores as they are seen: limited, with what a mask adds, and none of hidden keys.
void FewQueriesLowering::emitSeen(OpBuilder &b, Value row, Value first, Value length) {
  // One query sees all keys of its blocks.
  bool hides = op.isBounded() && op.getQueryType().getShape().drop_back().back() > 1;
  if (!op.getSoftcap() && !op.getMask() && !hides)
    return;
  std::pair<Value, Value> place = getQuery(b, row);
  emitLaneLoops(b, loc, {index(b, 0), length}, getWidths(lanes, lanes, 1),
                [&](OpBuilder &in, Value column, int64_t count) {
                  bool isOne = count == 1;
                  Value score =
                      isOne ? memref::LoadOp::create(in, loc, scores, ValueRange{row, column})
                            : loadVector(in, scores, row, column);
                  if (op.getSoftcap())
                    score = limit(in, score);
                  Value key = arith::AddIOp::create(in, loc, first, column);
                  if (op.getMask()) {
                    Environment environment;
                    PointEvaluator evaluator(in, environment, count);
                    SmallVector<LaneIndex> point =
                        maskPoint(in, place.first, {place.second}, {key, isOne ? 0 : 1});
                    Value stored = evaluator.evaluate(op.getMask(), point);
                    score = arith::AddFOp::create(in, loc, score,
                                                  makeAdded(in, evaluator.toLanes(loc, stored)));
                  }
                  if (hides)
                    score = emitVisible(in, place.second, key, score);
                  if (isOne)
                    memref::StoreOp::create(in, loc, score, scores, ValueRange{row, column});
                  else
                    storeVector(in, score, scores, row, column);
                });
}

//===----------------------------------------------------------------------===//
// Weights and sums
//===----------------------------------------------------------------------===//

/// Replaces scores by weights relative to the largest score so far. Returns how much the sums of
/// before shrink.
Value FewQueriesLowering::emitWeights(OpBuilder &b, Value row, Value length) {
  auto over = [&](Value start, function_ref<Value(OpBuilder &, Value, Value)> body) -> Value {
    return scf::ForOp::create(b, loc, index(b, 0), length, index(b, lanes), start,
                              [&](OpBuilder &in, Location, Value column, ValueRange carried) {
                                scf::YieldOp::create(in, loc, body(in, column, carried.front()));
                              })
        .getResult(0);
  };
  Value zero = index(b, 0);
  Value before = memref::LoadOp::create(b, loc, maximum, ValueRange{row, zero});
  Value most = over(spread(b, lowest(b)), [&](OpBuilder &in, Value column, Value carried) -> Value {
    return arith::MaximumFOp::create(in, loc, carried, loadVector(in, scores, row, column));
  });
  most = vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXIMUMF, most, before);
  Value finite = replaceInfinity(b, most);
  Value base = spread(b, finite);
  Type element = op.getValueType().getElementType();
  Value sum =
      over(spread(b, scalar(b, 0)), [&](OpBuilder &in, Value column, Value carried) -> Value {
        Value away = arith::SubFOp::create(in, loc, loadVector(in, scores, row, column), base);
        Value weight = math::ExpOp::create(in, loc, away), rounded = weight;
        // As the value's type has them.
        if (!element.isF32())
          rounded = widen(in, arith::TruncFOp::create(in, loc, likeOf(element, weight), weight));
        storeVector(in, rounded, scores, row, column);
        return arith::AddFOp::create(in, loc, carried, weight);
      });
  Value shrink = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, before, finite));
  Value old = memref::LoadOp::create(b, loc, total, ValueRange{row, zero});
  old = arith::MulFOp::create(b, loc, old, shrink);
  sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, sum, old);
  memref::StoreOp::create(b, loc, most, maximum, ValueRange{row, zero});
  memref::StoreOp::create(b, loc, sum, total, ValueRange{row, zero});
  return shrink;
}

/// Adds the values of a block times the rows' weights, as many vectors of elements at a time as
/// registers hold. `shrinks` says by how much each row's sums of before shrink.
void FewQueriesLowering::emitSums(OpBuilder &b, ValueRange rows, Value first, Value length,
                                  ValueRange shrinks) {
  int64_t width = op.getValueType().getShape().back();
  int64_t most = std::max<int64_t>(config.getRegisters() / rows.size(), 1) * lanes;
  for (int64_t begin = 0; begin < width; begin += most) {
    int64_t columns = std::min(most, width - begin);
    auto forEachSum = [&](OpBuilder &in, function_ref<void(size_t, Value, Value)> body) {
      for (auto [number, row] : llvm::enumerate(rows))
        for (int64_t column = 0; column < columns; column += lanes)
          body(number, row, index(in, begin + column));
    };
    Vectors starts;
    forEachSum(b, [&](size_t number, Value row, Value column) {
      starts.push_back(arith::MulFOp::create(b, loc, loadVector(b, sums, row, column),
                                             spread(b, shrinks[number])));
    });
    auto loop = scf::ForOp::create(
        b, loc, index(b, 0), length, index(b, 1), starts,
        [&](OpBuilder &in, Location, Value key, ValueRange carried) {
          SmallVector<LaneIndex> point{{key}};
          if (!valueRows)
            point = keyPoint(in, arith::AddIOp::create(in, loc, first, key));
          Vectors elements, next;
          for (int64_t column = 0; column < columns; column += lanes)
            elements.push_back(loadElements(in, op.getValue(), valueRows, point,
                                            index(in, begin + column),
                                            std::min(lanes, columns - column)));
          for (Value row : rows) {
            Value weight =
                spread(in, memref::LoadOp::create(in, loc, scores, ValueRange{row, key}));
            for (Value own : elements)
              next.push_back(math::FmaOp::create(in, loc, weight, own, carried[next.size()]));
          }
          scf::YieldOp::create(in, loc, next);
        });
    size_t next = 0;
    forEachSum(b, [&](size_t, Value row, Value column) {
      storeVector(b, loop.getResult(next++), sums, row, column);
    });
  }
}

void FewQueriesLowering::emitBlock(OpBuilder &b, Value first, Value length) {
  if (keyRows) {
    widenBlock(b, op.getKey(), keyRows, first, length);
    widenBlock(b, op.getValue(), valueRows, first, length);
  }
  forEachRows(b, [&](OpBuilder &in, ValueRange rows) {
    emitScores(in, rows, first, length);
    Vectors shrinks;
    for (Value row : rows) {
      emitSeen(in, row, first, length);
      shrinks.push_back(emitWeights(in, row, length));
    }
    emitSums(in, rows, first, length, shrinks);
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void FewQueriesLowering::emitResults() {
  int64_t last = op.getQueryType().getRank() - 1;
  forEachRow(builder, rows, [&](OpBuilder &b, Value row) {
    std::pair<Value, Value> place = getQuery(b, row);
    Value zero = index(b, 0), sum = memref::LoadOp::create(b, loc, total, ValueRange{row, zero});
    Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, scalar(b, 0));
    Value divisor = arith::SelectOp::create(b, loc, isNone, scalar(b, 1), sum);
    for (const AttentionRoot &root : kernel.roots) {
      Value memory = root.root.memory;
      if (root.result == 1) {
        Value most = memref::LoadOp::create(b, loc, maximum, ValueRange{row, zero});
        Value logarithm = arith::AddFOp::create(b, loc, math::LogOp::create(b, loc, sum),
                                                replaceInfinity(b, most));
        memref::StoreOp::create(b, loc, narrow(b, root, logarithm), memory,
                                placeResult(b, root, place.first, place.second, {}));
        continue;
      }
      bool isRun = !root.dims.empty() && root.dims.back() == std::optional<unsigned>(last);
      emitLaneLoops(
          b, loc, {zero, valueSize}, getWidths(isRun ? lanes : 1, isRun ? lanes : 1, 1),
          [&](OpBuilder &in, Value element, int64_t count) {
            SmallVector<Value> indices = placeResult(in, root, place.first, place.second, element);
            if (count == 1) {
              Value value = memref::LoadOp::create(in, loc, sums, ValueRange{row, element});
              value = arith::DivFOp::create(in, loc, value, divisor);
              memref::StoreOp::create(in, loc, narrow(in, root, value), memory, indices);
              return;
            }
            Value value = arith::DivFOp::create(in, loc, loadVector(in, sums, row, element),
                                                spread(in, divisor));
            vector::StoreOp::create(in, loc, narrow(in, root, value), memory, indices);
          });
    }
  });
}

LogicalResult FewQueriesLowering::run() {
  sizes = getSizes(builder, op.getQuery());
  if (failed(planGrid()))
    return failure();
  place();
  emitQueries();
  Value queries = index(builder, op.getQueryType().getShape().drop_back().back());
  std::pair<Value, Value> seen = getSeenKeys(index(builder, 0), queries);
  end = seen.second;
  int64_t step = config.getTile()[1];
  emitLoop(builder, loc, {seen.first, end}, step, [&](OpBuilder &b, Location, Value first) {
    Value rest = arith::SubIOp::create(b, loc, end, first);
    emitBlock(b, first, arith::MinSIOp::create(b, loc, index(b, step), rest));
  });
  emitResults();
  eraseKernelOps();
  return success();
}

} // namespace xc::cpu
