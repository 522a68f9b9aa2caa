//===- GradientRows.cpp - Attention's gradient by loops of threads --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes one element of a gradient by the sums that kernel.attention_gradient is defined
// by. It is there for sizes that the fused kernels leave out, above all no keys or no queries.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionRows.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <functional>

using namespace mlir;

namespace xc::cuda {

namespace {

/// Places are indices of batch dims, the head and the query or key.
class GradientRowEmitter {
public:
  GradientRowEmitter(const KernelInfo &kernel, kernel::AttentionGradientOp op,
                     AttentionRowsAttr config)
      : kernel(kernel), op(op), config(config), frame(kernel, config.getThreads()),
        points(frame.points), index(points.index), builder(points.builder), loc(points.loc),
        dim(op.getQueryType().getRank() - 2) {}

  LogicalResult run();

private:
  using Place = SmallVector<Value>;

  Value f32(double value) { return makeF32(builder, loc, value); }
  Value multiply(Value lhs, Value rhs) { return arith::MulFOp::create(builder, loc, lhs, rhs); }
  /// The sum of what `body` has for indices below `end`.
  Value sumUp(Value end, llvm::function_ref<Value(Value)> body);
  Value load(Value tensor, ArrayRef<Value> place);
  Value loadAt(Value tensor, const Place &place, Value element);
  /// The product of the vectors at two places.
  Value multiplyRows(Value lhs, const Place &left, Value rhs, const Place &right);
  Value loadMask(const Place &query, Value key);
  /// i1; null where all keys are seen.
  Value isVisible(Value query, Value key);
  Value emitScore(const Place &query, const Place &key);
  /// The weight of the key for the query, which has `score`.
  Value emitWeight(const Place &query, const Place &key, Value score);
  /// What flows to the score.
  Value emitFlow(const Place &query, const Place &key);
  /// What the query and the key add to element `element` of the gradient of `operand`.
  Value emitTerm(unsigned operand, const Place &query, const Place &key, Value element);
  Value emitElement(unsigned operand, Place place, Value element);
  /// Of the mask's gradient: what all heads that share its element `place` add.
  Value emitMaskElement(ArrayRef<Value> place);

  const KernelInfo &kernel;
  kernel::AttentionGradientOp op;
  AttentionRowsAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  int64_t dim; // of lengths
  Value queries, keys;
  Value offset; // what a causal attention's queries see beyond their own position
};

} // namespace

Value GradientRowEmitter::sumUp(Value end, llvm::function_ref<Value(Value)> body) {
  return points
      .emitLoop(index.constant(0), end, index.constant(1), f32(0),
                [&](Value number, ValueRange carried) -> SmallVector<Value> {
                  return {arith::AddFOp::create(builder, loc, carried.front(), body(number))};
                })
      .front();
}

Value GradientRowEmitter::load(Value tensor, ArrayRef<Value> place) {
  SmallVector<Coord> coords = llvm::map_to_vector(place, Coord::uniform);
  Value stored = points.emit(tensor, Point{coords, {}, 1, {}});
  if (!isa<FloatType>(stored.getType()) || stored.getType().isF32())
    return stored;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), stored);
}

Value GradientRowEmitter::loadAt(Value tensor, const Place &place, Value element) {
  Place whole(place);
  whole.push_back(element);
  return load(tensor, whole);
}

Value GradientRowEmitter::multiplyRows(Value lhs, const Place &left, Value rhs,
                                       const Place &right) {
  int64_t width = cast<ShapedType>(lhs.getType()).getShape().back();
  return sumUp(index.constant(width), [&](Value element) {
    return multiply(loadAt(lhs, left, element), loadAt(rhs, right, element));
  });
}

Value GradientRowEmitter::loadMask(const Place &query, Value key) {
  return load(op.getMask(), placeInMask(points, op.getMask(), query, key));
}

Value GradientRowEmitter::isVisible(Value query, Value key) {
  if (!op.getCausal())
    return {};
  Value latest = index.add(query, offset);
  Value visible = index.isAtLeast(latest, key);
  if (!op.getWindow())
    return visible;
  Value window = index.constant(static_cast<int64_t>(*op.getWindow()));
  return index.both(visible, index.isLess(index.sub(latest, window), key));
}

/// The scaled score; where scores are limited, the tangent that it is a multiple of.
Value GradientRowEmitter::emitScore(const Place &query, const Place &key) {
  Value product = multiplyRows(op.getQuery(), query, op.getKey(), key);
  double scale = op.getScale().convertToDouble();
  if (!op.getSoftcap())
    return multiply(product, f32(scale));
  Value share = multiply(product, f32(scale / op.getSoftcap()->convertToDouble()));
  return math::TanhOp::create(builder, loc, share);
}

Value GradientRowEmitter::emitWeight(const Place &query, const Place &key, Value score) {
  if (op.getSoftcap())
    score = multiply(score, f32(op.getSoftcap()->convertToDouble()));
  Value visible = isVisible(query.back(), key.back());
  if (op.getMask()) {
    Value stored = loadMask(query, key.back());
    if (isa<FloatType>(stored.getType())) {
      score = arith::AddFOp::create(builder, loc, score, stored);
    } else {
      Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored.getType()));
      Value seen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, stored, none);
      visible = visible ? index.both(visible, seen) : seen;
    }
  }
  // Minus infinity of a query that sees no key: it must not be subtracted from itself.
  Value logsumexp = load(op.getLogsumexp(), query);
  Value lowest = f32(-std::numeric_limits<double>::infinity());
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, logsumexp, lowest);
  Value base = arith::SelectOp::create(builder, loc, isNone, f32(0), logsumexp);
  Value weight =
      math::ExpOp::create(builder, loc, arith::SubFOp::create(builder, loc, score, base));
  return visible ? arith::SelectOp::create(builder, loc, visible, weight, f32(0)) : weight;
}

Value GradientRowEmitter::emitFlow(const Place &query, const Place &key) {
  Value flow = multiplyRows(op.getCotangent(), query, op.getValue(), key);
  return arith::SubFOp::create(builder, loc, flow, load(op.getDelta(), query));
}

Value GradientRowEmitter::emitTerm(unsigned operand, const Place &query, const Place &key,
                                   Value element) {
  Value score = emitScore(query, key), weight = emitWeight(query, key, score);
  if (operand == 2)
    return multiply(weight, loadAt(op.getCotangent(), query, element));
  Value other =
      operand == 0 ? loadAt(op.getKey(), key, element) : loadAt(op.getQuery(), query, element);
  Value toScore = multiply(weight, emitFlow(query, key));
  if (op.getSoftcap())
    toScore =
        multiply(toScore, arith::SubFOp::create(builder, loc, f32(1), multiply(score, score)));
  return multiply(toScore, other);
}

Value GradientRowEmitter::emitElement(unsigned operand, Place place, Value element) {
  Place other(place);
  Value &head = other[dim - 1];
  Value sum;
  if (operand == 0) {
    head = index.div(head, op.getGroupSize());
    sum = sumUp(keys, [&](Value key) {
      other.back() = key;
      return emitTerm(operand, place, other, element);
    });
  } else {
    // All queries of all heads that share the key's.
    Value first = index.mul(head, op.getGroupSize());
    sum = sumUp(index.constant(op.getGroupSize()), [&](Value number) {
      head = index.add(first, number);
      return sumUp(queries, [&](Value query) {
        other.back() = query;
        return emitTerm(operand, other, place, element);
      });
    });
  }
  return operand == 2 ? sum : multiply(sum, f32(op.getScale().convertToDouble()));
}

Value GradientRowEmitter::emitMaskElement(ArrayRef<Value> place) {
  ArrayRef<int64_t> mask = cast<ShapedType>(op.getMask().getType()).getShape();
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  int64_t missing = dim + 2 - static_cast<int64_t>(mask.size());
  Place query(dim + 1);
  std::function<Value(int64_t)> sumFrom = [&](int64_t i) -> Value {
    if (i == dim + 1) {
      Place key(query);
      key[dim - 1] = index.div(key[dim - 1], op.getGroupSize());
      key[dim] = place.back();
      Value weight = emitWeight(query, key, emitScore(query, key));
      return multiply(weight, emitFlow(query, key));
    }
    if (i >= missing && mask[i - missing] != 1) {
      query[i] = place[i - missing];
      return sumFrom(i + 1);
    }
    return sumUp(sizes[i], [&](Value position) {
      query[i] = position;
      return sumFrom(i + 1);
    });
  };
  return sumFrom(0);
}

LogicalResult GradientRowEmitter::run() {
  queries = points.getSizes(op.getQuery())[dim];
  keys = points.getSizes(op.getKey())[dim];
  if (op.getCausal())
    offset = index.sub(keys, queries);
  if (op.getOffset()) {
    Value stored = points.emit(op.getOffset(), Point{{}, Coord::uniform(index.constant(0)), 1, {}});
    offset = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored);
  }
  Value thread = index.add(index.mul(frame.getBlockId(), config.getThreads()), frame.getThreadId());
  // Elements of one result follow those of the other.
  Value total = index.constant(0);
  for (const KernelOutput &output : kernel.outputs) {
    SmallVector<Value> sizes = points.getSizes(output.tensor);
    Value count = index.product(sizes), element = index.sub(thread, total);
    Value isOwn = index.both(index.isAtLeast(thread, total), index.isLess(element, count));
    total = index.add(total, count);
    points.emitIf(isOwn, [&] {
      SmallVector<unsigned> order;
      auto result = cast<OpResult>(getPermuted(output.tensor, order));
      Place place(cast<ShapedType>(result.getType()).getRank(), index.constant(0));
      for (auto [dim, coord] : llvm::zip_equal(order, index.delinearize(element, sizes)))
        place[dim] = coord;
      unsigned operand = op.getWanted()[result.getResultNumber()];
      Value column = place.back();
      Value sum = operand == 3 ? emitMaskElement(place)
                               : emitElement(operand, Place(ArrayRef(place).drop_back()), column);
      Type type = getElementTypeOrSelf(output.tensor.getType());
      if (!type.isF32())
        sum = arith::TruncFOp::create(builder, loc, type, sum);
      points.store(output.binding, Coord::uniform(element), sum, 1);
    });
  }
  return frame.finish(index.ceilDiv(total, index.constant(config.getThreads())));
}

LogicalResult emitGradientRows(const KernelInfo &kernel, kernel::AttentionGradientOp op,
                               AttentionRowsAttr config) {
  if (op.isWhole())
    return op.emitOpError("expected one gradient or two for ") << config;
  return GradientRowEmitter(kernel, op, config).run();
}

} // namespace xc::cuda
