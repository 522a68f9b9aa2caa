//===- LowerAttention.cpp - Attention, a block of keys at a time ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup computes the results of one block of queries, which are the lanes of all vectors:
//
//   queries[d] = vectors of the block's queries, times the scale
//   for each block of keys:
//     scores[j] = sum over d of key[j, d] * queries[d]        in registers, several j at a time
//     the maximum of all scores so far, and by how much the sums of before shrink
//     weights[j] = exp(scores[j] - maximum)
//     sums[e] = shrunk sums[e] + sum over j of value[j, e] * weights[j]     in registers
//   result = sums / the sum of the weights
//
// So maxima and sums over keys need no step across lanes, and elements of keys and values are read
// as they lie, one at a time for all queries. No more scores exist than those of one block. Keys
// that causality or a window hides from all queries of a block are not visited.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/AttentionLowering.h"
#include "compiler/Codegen/CPU/FewQueriesLowering.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/Common/ScalarFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERATTENTION
#include "compiler/Codegen/CPU/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Vectors of queries
//===----------------------------------------------------------------------===//

Lanes AttentionLowering::load(OpBuilder &b, Value memory, Value row) {
  Lanes values;
  for (int64_t v = 0; v < vectors; ++v)
    values.push_back(
        vector::LoadOp::create(b, loc, vectorType(), memory, ValueRange{row, index(b, v * lanes)}));
  return values;
}

void AttentionLowering::store(OpBuilder &b, const Lanes &values, Value memory, Value row) {
  for (auto [v, value] : llvm::enumerate(values))
    vector::StoreOp::create(b, loc, value, memory,
                            ValueRange{row, index(b, static_cast<int64_t>(v) * lanes)});
}

Lanes AttentionLowering::map(const Lanes &a, const Lanes &b,
                             function_ref<Value(Value, Value)> body) {
  Lanes results;
  for (auto [x, y] : llvm::zip_equal(a, b))
    results.push_back(body(x, y));
  return results;
}

/// A loop from 0 to |end| that carries some vectors.
Lanes AttentionLowering::loop(OpBuilder &b, Value end, Lanes carried,
                              function_ref<Lanes(OpBuilder &, Value, const Lanes &)> body) {
  auto loop =
      scf::ForOp::create(b, loc, index(b, 0), end, index(b, 1), carried,
                         [&](OpBuilder &inner, Location, Value position, ValueRange values) {
                           scf::YieldOp::create(inner, loc, body(inner, position, Lanes(values)));
                         });
  return Lanes(loop.getResults());
}

/// Adds to |height| rows of |memory| from |row| on, which start as |start|, the products of
/// elements and rows of |panel| up to |end|. The sums are in registers meanwhile.
void AttentionLowering::addProducts(OpBuilder &b, Value row, int64_t height, Value end,
                                    SmallVector<Value> start, Value panel, Value memory,
                                    LoadElement loadElement) {
  Lanes results = loop(b, end, std::move(start), [&](OpBuilder &in, Value k, const Lanes &carried) {
    Lanes columns = load(in, panel, k), next;
    for (int64_t r = 0; r < height; ++r) {
      Value element = spread(in, loadElement(in, at(in, row, r), k));
      for (int64_t v = 0; v < vectors; ++v)
        next.push_back(math::FmaOp::create(in, loc, element, columns[v], carried[r * vectors + v]));
    }
    return next;
  });
  for (int64_t r = 0; r < height; ++r)
    store(b, Lanes(ArrayRef<Value>(results).slice(r * vectors, vectors)), memory, at(b, row, r));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool AttentionLowering::isMaskPerQuery() {
  auto type = cast<ShapedType>(op.getMask().getType());
  return type.getRank() > 1 && type.getDimSize(type.getRank() - 2) != 1;
}

Value AttentionLowering::evaluateMask(OpBuilder &b, Value query, Value key) {
  return makeAdded(b, evaluate(b, op.getMask(), maskPoint(b, head, {query}, {key})));
}

void AttentionLowering::emitQueries() {
  Lanes zero = spreadAll(builder, scalar(builder, 0));
  Value scale = getQueryScale(builder);
  auto clear = [&](Value memory, Value rows) {
    emitLoop(builder, loc, {index(builder, 0), rows}, 1,
             [&](OpBuilder &b, Location, Value row) { store(b, zero, memory, row); });
  };
  clear(queryRows, vectorSize);
  clear(sums, valueSize);
  if (bias)
    clear(bias, index(builder, config.getTile()[1]));
  emitLoop(builder, loc, {index(builder, 0), queries}, 1, [&](OpBuilder &b, Location, Value lane) {
    Value query = arith::AddIOp::create(b, loc, begin, lane);
    emitLoop(b, loc, {index(b, 0), vectorSize}, 1, [&](OpBuilder &in, Location, Value d) {
      Value element = widen(in, evaluate(in, op.getQuery(), queryPoint(head, query, {d})));
      memref::StoreOp::create(in, loc, arith::MulFOp::create(in, loc, element, scale), queryRows,
                              ValueRange{d, lane});
    });
  });
}

/// Whether the mask has no memory of its own: ops of the kernel make it.
bool AttentionLowering::isMaskComputed() {
  Value mask = op.getMask();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(mask.getDefiningOp()))
    mask = mask.getDefiningOp()->getOperand(0);
  return isa_and_nonnull<linalg::LinalgOp>(mask.getDefiningOp());
}

/// Whether all lanes are queries, and the mask has a number for each of them.
Value AttentionLowering::hasAllQueries(OpBuilder &b) {
  auto isEqual = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  };
  auto value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); };
  Value all = isEqual(queries, index(b, config.getTile()[0]));
  SmallVector<OpFoldResult> maskSizes = getSizes(builder, op.getMask());
  OpFoldResult rows = maskSizes[maskSizes.size() - 2];
  if (getConstantIntValue(rows))
    return all;
  return arith::AndIOp::create(b, loc, all,
                               isEqual(value(rows), value(sizes[op.getBatchRank() + 1])));
}

/// The mask of a block, one query after the other, as it lies.
void AttentionLowering::emitBias(OpBuilder &b, Value first, Value length) {
  if (!isMaskComputed())
    return emitBiasOfEach(b, first, length);
  scf::IfOp::create(
      b, loc, hasAllQueries(b),
      [&](OpBuilder &in, Location) {
        emitBiasOfLanes(in, first, length);
        scf::YieldOp::create(in, loc);
      },
      [&](OpBuilder &in, Location) {
        emitBiasOfEach(in, first, length);
        scf::YieldOp::create(in, loc);
      });
}

void AttentionLowering::emitBiasOfEach(OpBuilder &b, Value first, Value length) {
  emitLoop(b, loc, {index(b, 0), queries}, 1, [&](OpBuilder &outer, Location, Value lane) {
    Value query = arith::AddIOp::create(outer, loc, begin, lane);
    emitLoop(outer, loc, {index(outer, 0), length}, 1, [&](OpBuilder &in, Location, Value row) {
      Value key = arith::AddIOp::create(in, loc, first, row);
      memref::StoreOp::create(in, loc, evaluateMask(in, query, key), bias, ValueRange{row, lane});
    });
  });
}

/// What is computed, for all queries of the block at a time.
void AttentionLowering::emitBiasOfLanes(OpBuilder &b, Value first, Value length) {
  emitLoop(b, loc, {index(b, 0), length}, 1, [&](OpBuilder &in, Location, Value row) {
    Value key = arith::AddIOp::create(in, loc, first, row);
    Lanes masks;
    for (int64_t v = 0; v < vectors; ++v) {
      Environment environment;
      PointEvaluator evaluator(in, environment, lanes);
      LaneIndex queriesOfLanes{at(in, begin, v * lanes), /*stride=*/1};
      Value stored = evaluator.evaluate(op.getMask(), maskPoint(in, head, queriesOfLanes, {key}));
      masks.push_back(makeAdded(in, evaluator.toLanes(loc, stored)));
    }
    store(in, masks, bias, row);
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult AttentionLowering::planGrid() {
  MLIRContext *context = builder.getContext();
  int64_t rank = op.getBatchRank();
  AffineExpr batches = countBatches(), heads = codegen::getScalarFormula(sizes[rank], context),
             count = codegen::getScalarFormula(sizes[rank + 1], context);
  if (!batches || !heads || !count)
    return op.emitOpError("has a size that is not a formula over the kernel's scalars");
  setLaunch(function, {count.ceilDiv(config.getTile()[0]), heads, batches});
  return success();
}

/// Which queries of which head this workgroup has, and its memory.
void AttentionLowering::place() {
  head = getId(plan::Axis::Y);
  placeBatch(arith::DivUIOp::create(builder, loc, head, index(builder, op.getGroupSize())));
  Value block = index(builder, config.getTile()[0]);
  begin = arith::MulIOp::create(builder, loc, getId(plan::Axis::X), block);
  Value all = getValueOrCreateConstantIndexOp(builder, loc, sizes[op.getBatchRank() + 1]);
  queries =
      arith::MinSIOp::create(builder, loc, block, arith::SubIOp::create(builder, loc, all, begin));
  int64_t width = op.getQueryType().getShape().back(),
          valueWidth = op.getValueType().getShape().back();
  int64_t queryCount = config.getTile()[0], keyCount = config.getTile()[1];
  queryRows = allocate(width, queryCount);
  scores = allocate(keyCount, queryCount);
  sums = allocate(valueWidth, queryCount);
  // An element is read for all queries at a time: not where its page has to be looked up each time.
  if (!op.getKeyType().getElementType().isF32() || op.isPaged()) {
    keyRows = allocate(keyCount, width);
    valueRows = allocate(keyCount, valueWidth);
  }
  if (op.getMask() && isMaskPerQuery())
    bias = allocate(keyCount, queryCount);
}

/// Stores |value| as the result of the query in |lane|; |element| is null where a query has one.
void AttentionLowering::storeLane(OpBuilder &b, const AttentionRoot &root, Value lane,
                                  Value element, Value value) {
  Value query = arith::AddIOp::create(b, loc, begin, lane);
  memref::StoreOp::create(b, loc, narrow(b, root, value), root.root.memory,
                          placeResult(b, root, head, query, element));
}

void AttentionLowering::emitResults(const Lanes &maximum, const Lanes &sum) {
  Value zero = spread(builder, scalar(builder, 0)), one = spread(builder, scalar(builder, 1));
  Lanes divisor, logarithm;
  for (auto [most, total] : llvm::zip_equal(maximum, sum)) {
    Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, total, zero);
    divisor.push_back(arith::SelectOp::create(builder, loc, isNone, one, total));
    if (op.hasLogsumexp())
      logarithm.push_back(arith::AddFOp::create(
          builder, loc, math::LogOp::create(builder, loc, total), replaceInfinity(builder, most)));
  }
  emitLoop(builder, loc, {index(builder, 0), valueSize}, 1, [&](OpBuilder &b, Location, Value e) {
    store(b,
          map(load(b, sums, e), divisor,
              [&](Value a, Value c) -> Value { return arith::DivFOp::create(b, loc, a, c); }),
          sums, e);
  });
  if (op.hasLogsumexp())
    store(builder, logarithm, scores, index(builder, 0));
  emitLoop(builder, loc, {index(builder, 0), queries}, 1, [&](OpBuilder &b, Location, Value lane) {
    for (const AttentionRoot &root : kernel.roots) {
      if (root.result == 1) {
        Value row = index(b, 0);
        storeLane(b, root, lane, {}, memref::LoadOp::create(b, loc, scores, ValueRange{row, lane}));
        continue;
      }
      emitLoop(b, loc, {index(b, 0), valueSize}, 1, [&](OpBuilder &in, Location, Value e) {
        storeLane(in, root, lane, e, memref::LoadOp::create(in, loc, sums, ValueRange{e, lane}));
      });
    }
  });
}

LogicalResult AttentionLowering::run() {
  vectors = config.getTile()[0] / lanes;
  sizes = getSizes(builder, op.getQuery());
  if (failed(planGrid()))
    return failure();
  place();
  emitQueries();
  std::pair<Value, Value> seen = getSeenKeys(begin, queries);
  Value first = seen.first, end = seen.second;
  auto [start, weight] = getStart(builder, head);
  Lanes carried = spreadAll(builder, start);
  llvm::append_range(carried, spreadAll(builder, weight));
  Value step = index(builder, config.getTile()[1]);
  auto blocks = scf::ForOp::create(builder, loc, first, end, step, carried,
                                   [&](OpBuilder &b, Location, Value block, ValueRange values) {
                                     Lanes maximum(values.take_front(vectors)),
                                         sum(values.drop_front(vectors));
                                     Value rest = arith::SubIOp::create(b, loc, end, block);
                                     Value length = arith::MinSIOp::create(b, loc, step, rest);
                                     emitBlock(b, block, length, maximum, sum);
                                     llvm::append_range(maximum, sum);
                                     scf::YieldOp::create(b, loc, maximum);
                                   });
  emitResults(Lanes(blocks.getResults().take_front(vectors)),
              Lanes(blocks.getResults().drop_front(vectors)));
  eraseKernelOps();
  return success();
}

namespace {

struct LowerAttention final : impl::LowerAttentionBase<LowerAttention> {
  using LowerAttentionBase::LowerAttentionBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Attribute config = function->getAttr(plan::kConfigAttr);
      if (isa_and_nonnull<AttentionAttr, FewQueriesAttr>(config) && failed(lower(function, config)))
        return signalPassFailure();
    }
  }

  static LogicalResult lower(func::FuncOp function, Attribute config) {
    if (failed(verifyKernelFunction(function)))
      return failure();
    std::string why;
    FailureOr<AttentionKernel> kernel = matchAttentionKernel(function, why);
    if (failed(kernel))
      return function.emitError("the attention strategy does not fit kernel '")
             << function.getName() << "': " << why;
    if (auto few = dyn_cast<FewQueriesAttr>(config))
      return FewQueriesLowering(function, std::move(*kernel), few).run();
    return AttentionLowering(function, std::move(*kernel), cast<AttentionAttr>(config)).run();
  }
};

} // namespace
} // namespace xc::cpu
