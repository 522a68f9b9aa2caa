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
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/Common/ScalarFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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
    values.push_back(vector::LoadOp::create(b, loc, vectorType(), memory,
                                            ValueRange{row, index(b, v * config.getLanes())}));
  return values;
}

void AttentionLowering::store(OpBuilder &b, const Lanes &values, Value memory, Value row) {
  for (auto [v, value] : llvm::enumerate(values))
    vector::StoreOp::create(b, loc, value, memory,
                            ValueRange{row, index(b, static_cast<int64_t>(v) * config.getLanes())});
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

Value AttentionLowering::evaluate(OpBuilder &b, Value tensor, ArrayRef<LaneIndex> point) {
  Environment environment;
  return PointEvaluator(b, environment, /*lanes=*/1).evaluate(tensor, point);
}

SmallVector<LaneIndex> AttentionLowering::keyPoint(Value row, Value element) {
  SmallVector<LaneIndex> point = batch;
  point.append({{keyHead}, {row}, {element}});
  return point;
}

bool AttentionLowering::isMaskPerQuery() {
  auto type = cast<ShapedType>(op.getMask().getType());
  return type.getRank() > 1 && type.getDimSize(type.getRank() - 2) != 1;
}

/// Where the mask has what it says of `query`, which may be several ones, and `key`. A dim of one
/// element is the same for all.
SmallVector<LaneIndex> AttentionLowering::maskPoint(OpBuilder &b, LaneIndex query, Value key) {
  SmallVector<LaneIndex> all = batch;
  all.append({{head}, query, {key}});
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

/// What the mask stores as what is added to a score, f32: minus infinity where a byte hides a key.
Value AttentionLowering::makeAdded(OpBuilder &b, Value stored) {
  Type type = b.getF32Type();
  auto vector = dyn_cast<VectorType>(stored.getType());
  if (vector)
    type = VectorType::get(vector.getShape(), type);
  unsigned width = getElementTypeOrSelf(stored).getIntOrFloatBitWidth();
  if (!isMaskBytes())
    return width > 32   ? arith::TruncFOp::create(b, loc, type, stored).getResult()
           : width < 32 ? arith::ExtFOp::create(b, loc, type, stored).getResult()
                        : stored;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored.getType()));
  Value seen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero);
  Value shown = scalar(b, 0), hidden = lowest(b);
  if (vector)
    return arith::SelectOp::create(b, loc, seen, spread(b, shown), spread(b, hidden));
  return arith::SelectOp::create(b, loc, seen, shown, hidden);
}

Value AttentionLowering::evaluateMask(OpBuilder &b, Value query, Value key) {
  return makeAdded(b, evaluate(b, op.getMask(), maskPoint(b, {query}, key)));
}

void AttentionLowering::emitQueries() {
  Lanes zero = spreadAll(builder, scalar(builder, 0));
  // Scores that are limited are so many times the limit, in the first place.
  double limit = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 1;
  Value scale = scalar(builder, op.getScale().convertToDouble() / limit);
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
      SmallVector<LaneIndex> point = batch;
      point.append({{head}, {query}, {d}});
      Value element = widen(in, evaluate(in, op.getQuery(), point));
      memref::StoreOp::create(in, loc, arith::MulFOp::create(in, loc, element, scale), queryRows,
                              ValueRange{d, lane});
    });
  });
}

/// Keys or values of a block in f32.
void AttentionLowering::widenBlock(OpBuilder &b, Value tensor, Value into, Value first,
                                   Value length) {
  Value width = tensor == op.getKey() ? vectorSize : valueSize;
  SmallVector<int64_t> widths = getWidths(config.getLanes(), config.getLanes(), 1);
  emitLoop(b, loc, {index(b, 0), length}, 1, [&](OpBuilder &outer, Location, Value row) {
    Value key = arith::AddIOp::create(outer, loc, first, row);
    emitLaneLoops(outer, loc, {index(outer, 0), width}, widths,
                  [&](OpBuilder &in, Value element, int64_t numLanes) {
                    Environment environment;
                    PointEvaluator evaluator(in, environment, numLanes);
                    SmallVector<LaneIndex> point = keyPoint(key, element);
                    point.back().stride = numLanes == 1 ? 0 : 1;
                    Value stored = evaluator.evaluate(tensor, point);
                    Type type = in.getF32Type();
                    if (numLanes != 1)
                      type = VectorType::get({numLanes}, type);
                    evaluator.store(loc, arith::ExtFOp::create(in, loc, type, stored), Buffer{into},
                                    {{row}, point.back()});
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
      PointEvaluator evaluator(in, environment, config.getLanes());
      LaneIndex lanes{at(in, begin, v * config.getLanes()), /*stride=*/1};
      Value stored = evaluator.evaluate(op.getMask(), maskPoint(in, lanes, key));
      masks.push_back(makeAdded(in, evaluator.toLanes(loc, stored)));
    }
    store(in, masks, bias, row);
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The keys that any query of this block may see: the first one, and the one behind the last. Sets
/// `latest`.
std::pair<Value, Value> AttentionLowering::getSeenKeys() {
  Value zero = index(builder, 0);
  if (!op.getCausal())
    return {zero, numKeys};
  Value offset;
  if (op.getOffset())
    offset = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        evaluate(builder, op.getOffset(), {}));
  else
    offset = arith::SubIOp::create(
        builder, loc, numKeys,
        getValueOrCreateConstantIndexOp(builder, loc, sizes[op.getBatchRank() + 1]));
  latest = arith::AddIOp::create(builder, loc, begin, offset);
  Value end = arith::AddIOp::create(builder, loc, latest, queries);
  end = arith::MinSIOp::create(builder, loc, numKeys, end);
  if (!op.getWindow())
    return {zero, end};
  Value hidden = index(builder, static_cast<int64_t>(*op.getWindow()) - 1);
  Value first = arith::SubIOp::create(builder, loc, latest, hidden);
  return {arith::MaxSIOp::create(builder, loc, zero, first), end};
}

LogicalResult AttentionLowering::planGrid() {
  MLIRContext *context = builder.getContext();
  int64_t rank = op.getBatchRank();
  AffineExpr batchCount = builder.getAffineConstantExpr(1);
  for (OpFoldResult size : ArrayRef(sizes).take_front(rank)) {
    AffineExpr count = codegen::getScalarFormula(size, context);
    batchCount = batchCount && count ? batchCount * count : AffineExpr();
  }
  AffineExpr heads = codegen::getScalarFormula(sizes[rank], context),
             count = codegen::getScalarFormula(sizes[rank + 1], context);
  if (!batchCount || !heads || !count)
    return op.emitOpError("has a size that is not a formula over the kernel's scalars");
  setLaunch(function, {count.ceilDiv(config.getTile()[0]), heads, batchCount});
  return success();
}

/// Which queries of which head this workgroup has, and its memory.
void AttentionLowering::place() {
  auto value = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  };
  auto id = [&](plan::Axis axis) -> Value {
    return plan::WorkgroupIdOp::create(builder, loc, builder.getIndexType(), axis);
  };
  int64_t rank = op.getBatchRank();
  SmallVector<LoopDim> loops;
  for (unsigned dim = 0; dim < rank; ++dim)
    loops.push_back({{dim}, sizes[dim]});
  batch.resize(rank);
  setLinearIndex(builder, loc, id(plan::Axis::Z), loops, batch);
  head = id(plan::Axis::Y);
  keyHead = arith::DivUIOp::create(builder, loc, head, index(builder, op.getGroupSize()));
  Value block = index(builder, config.getTile()[0]);
  begin = arith::MulIOp::create(builder, loc, id(plan::Axis::X), block);
  Value rest = arith::SubIOp::create(builder, loc, value(sizes[rank + 1]), begin);
  queries = arith::MinSIOp::create(builder, loc, block, rest);
  numKeys = value(getSizes(builder, op.getKey())[rank + 1]);
  int64_t width = op.getQueryType().getShape().back(),
          valueWidth = op.getValueType().getShape().back();
  vectorSize = index(builder, width);
  valueSize = index(builder, valueWidth);

  auto allocate = [&](int64_t rows, int64_t columns) -> Value {
    return memref::AllocOp::create(builder, loc,
                                   MemRefType::get({rows, columns}, builder.getF32Type()));
  };
  int64_t queryCount = config.getTile()[0], keyCount = config.getTile()[1];
  queryRows = allocate(width, queryCount);
  scores = allocate(keyCount, queryCount);
  sums = allocate(valueWidth, queryCount);
  if (!op.getKeyType().getElementType().isF32()) {
    keyRows = allocate(keyCount, width);
    valueRows = allocate(keyCount, valueWidth);
  }
  if (op.getMask() && isMaskPerQuery())
    bias = allocate(keyCount, queryCount);
}

/// Stores |value| as the result of the query in |lane|; |element| is null where a query has one.
void AttentionLowering::storeLane(OpBuilder &b, const AttentionRoot &root, Value lane,
                                  Value element, Value value) {
  SmallVector<Value> point = llvm::map_to_vector(batch, [](LaneIndex at) { return at.base; });
  point.append({head, arith::AddIOp::create(b, loc, begin, lane)});
  if (element)
    point.push_back(element);
  auto type = cast<MemRefType>(root.root.memory.getType());
  if (!type.getElementType().isF32())
    value = arith::TruncFOp::create(b, loc, type.getElementType(), value);
  SmallVector<Value> indices = llvm::map_to_vector(
      root.dims, [&](std::optional<unsigned> dim) { return dim ? point[*dim] : index(b, 0); });
  memref::StoreOp::create(b, loc, value, root.root.memory, indices);
}

void AttentionLowering::emitResults(const Lanes &maximum, const Lanes &sum) {
  Value zero = spread(builder, scalar(builder, 0)), one = spread(builder, scalar(builder, 1)),
        none = spread(builder, lowest(builder));
  Lanes divisor, logarithm;
  for (auto [most, total] : llvm::zip_equal(maximum, sum)) {
    Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, total, zero);
    divisor.push_back(arith::SelectOp::create(builder, loc, isNone, one, total));
    if (op.hasLogsumexp())
      logarithm.push_back(arith::AddFOp::create(builder, loc,
                                                math::LogOp::create(builder, loc, total),
                                                replaceInfinity(builder, loc, most, none, zero)));
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
  vectors = config.getTile()[0] / config.getLanes();
  sizes = getSizes(builder, op.getQuery());
  if (failed(planGrid()))
    return failure();
  place();
  emitQueries();
  std::pair<Value, Value> seen = getSeenKeys();
  Value first = seen.first, end = seen.second;
  Value start = lowest(builder), weight = scalar(builder, 0);
  if (op.getSinks()) {
    // A sink is a key that was seen already, whose value is 0.
    start = widen(builder, evaluate(builder, op.getSinks(), {{head}}));
    Value isNone =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, start, lowest(builder));
    weight = arith::SelectOp::create(builder, loc, isNone, weight, scalar(builder, 1));
  }
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
  for (AttentionRoot &root : kernel.roots)
    root.root.op.erase();
  // What moved the results, then the op itself.
  for (Operation &dead : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (&dead == op || isOpTriviallyDead(&dead))
      dead.erase();
  return success();
}

namespace {

struct LowerAttention final : impl::LowerAttentionBase<LowerAttention> {
  using LowerAttentionBase::LowerAttentionBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto config = dyn_cast_or_null<AttentionAttr>(function->getAttr(plan::kConfigAttr)))
        if (failed(lower(function, config)))
          return signalPassFailure();
  }

  static LogicalResult lower(func::FuncOp function, AttentionAttr config) {
    if (failed(verifyKernelFunction(function)))
      return failure();
    std::string why;
    FailureOr<AttentionKernel> kernel = matchAttentionKernel(function, why);
    if (failed(kernel))
      return function.emitError("the attention strategy does not fit kernel '")
             << function.getName() << "': " << why;
    return AttentionLowering(function, std::move(*kernel), config).run();
  }
};

} // namespace
} // namespace xc::cpu
