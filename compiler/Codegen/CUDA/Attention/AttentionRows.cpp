//===- AttentionRows.cpp - Attention by loops of threads ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes one element of the result by the loops that kernel.attention is defined by. It
// is there for sizes that the fused kernel leaves out, above all no keys.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionRows.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Dialect/Kernel/IR/AttentionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace xc::cuda {

SmallVector<Value> placeInMask(PointEmitter &points, Value mask, ArrayRef<Value> query, Value key) {
  IndexBuilder &index = points.index;
  SmallVector<Value> all(query), sizes = points.getSizes(mask), place;
  all.push_back(key);
  for (auto [position, size] : llvm::zip_equal(ArrayRef(all).take_back(sizes.size()), sizes))
    place.push_back(index.min(position, index.sub(size, index.constant(1))));
  return place;
}

namespace {

/// The query of a thread, and where its operands are.
class AttentionRowEmitter {
public:
  AttentionRowEmitter(kernel::AttentionOp op, PointEmitter &points, ArrayRef<Value> place)
      : op(op), points(points), place(place), shared(place.drop_back()) {
    shared.back() = points.index.div(shared.back(), op.getGroupSize());
  }

  kernel::AttentionLoops makeLoops();

private:
  Value load(Value tensor, ArrayRef<Value> prefix, ValueRange rest) {
    PointEmitter::Scope scope(points);
    SmallVector<Coord> coords;
    for (Value position : prefix)
      coords.push_back(Coord::uniform(position));
    for (Value position : rest)
      coords.push_back(Coord::uniform(position));
    return points.emit(tensor, Point{coords, {}, 1, {}});
  }
  Value loadMask(Value key);
  Value buildLatest();
  Value loadIndex(Value tensor, ArrayRef<Value> at);
  /// Element `rest[1]` of place `rest[0]` of the sequence.
  Value loadPaged(Value tensor, ValueRange rest);

  kernel::AttentionOp op;
  PointEmitter &points;
  SmallVector<Value> place, shared; // batch dims, head and query; the same without the query
  Value pages, pageSize;            // how many there are, and places of each
};

} // namespace

Value AttentionRowEmitter::loadMask(Value key) {
  PointEmitter::Scope scope(points);
  SmallVector<Coord> coords =
      llvm::map_to_vector(placeInMask(points, op.getMask(), place, key), Coord::uniform);
  return points.emit(op.getMask(), Point{coords, {}, 1, {}});
}

Value AttentionRowEmitter::loadIndex(Value tensor, ArrayRef<Value> at) {
  return arith::IndexCastOp::create(points.builder, points.loc, points.builder.getIndexType(),
                                    load(tensor, at, {}));
}

Value AttentionRowEmitter::loadPaged(Value tensor, ValueRange rest) {
  PointEmitter::Scope scope(points);
  IndexBuilder &index = points.index;
  Value entry = index.div(rest[0], pageSize);
  Value page = loadIndex(op.getTable(), {place.front(), entry});
  page = index.max(index.min(page, index.sub(pages, index.constant(1))), index.constant(0));
  return load(tensor,
              {page, shared.back(), index.sub(rest[0], index.mul(entry, pageSize)), rest[1]}, {});
}

Value AttentionRowEmitter::buildLatest() {
  IndexBuilder &index = points.index;
  size_t dim = place.size() - 1;
  if (op.isPaged())
    return index.add(place.back(), index.sub(loadIndex(op.getLengths(), place.front()),
                                             points.getSizes(op.getQuery())[dim]));
  if (!op.getOffset())
    return index.add(place.back(), index.sub(points.getSizes(op.getKey())[dim],
                                             points.getSizes(op.getQuery())[dim]));
  Value stored = points.emit(op.getOffset(), Point{{}, Coord::uniform(index.constant(0)), 1, {}});
  Value offset =
      arith::IndexCastOp::create(points.builder, points.loc, points.builder.getIndexType(), stored);
  return index.add(place.back(), offset);
}

kernel::AttentionLoops AttentionRowEmitter::makeLoops() {
  kernel::AttentionLoops loops;
  loops.keys = points.getSizes(op.getKey())[place.size() - 1];
  loops.vectorSize = points.index.constant(op.getQueryType().getShape().back());
  // Sizes are where all loops see them.
  if (op.isPaged()) {
    SmallVector<Value> sizes = points.getSizes(op.getKey());
    pages = sizes[0];
    pageSize = sizes[2];
    loops.keys = points.index.mul(loops.keys, points.getSizes(op.getTable())[1]);
  }
  if (op.isBounded())
    loops.latest = buildLatest();
  // The loops build where they are; so do points.
  auto inside = [this](OpBuilder &b, llvm::function_ref<Value()> build) {
    OpBuilder::InsertionGuard guard(points.builder);
    points.builder.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    return build();
  };
  loops.query = [=](OpBuilder &b, ValueRange rest) {
    return inside(b, [&] { return load(op.getQuery(), place, rest); });
  };
  loops.key = [=](OpBuilder &b, ValueRange rest) {
    return inside(b, [&] {
      return op.isPaged() ? loadPaged(op.getKey(), rest) : load(op.getKey(), shared, rest);
    });
  };
  loops.value = [=](OpBuilder &b, ValueRange rest) {
    return inside(b, [&] {
      return op.isPaged() ? loadPaged(op.getValue(), rest) : load(op.getValue(), shared, rest);
    });
  };
  if (op.getMask())
    loops.mask = [=](OpBuilder &b, ValueRange rest) {
      return inside(b, [&] { return loadMask(rest.front()); });
    };
  if (op.getSinks())
    loops.sink = [=](OpBuilder &b, ValueRange) {
      return inside(b, [&] { return load(op.getSinks(), place[place.size() - 2], {}); });
    };
  return loops;
}

LogicalResult emitAttentionRows(const KernelInfo &kernel, kernel::AttentionOp op,
                                AttentionRowsAttr config) {
  KernelFrame frame(kernel, config.getThreads());
  PointEmitter &points = frame.points;
  IndexBuilder &index = points.index;
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  sizes.back() = index.constant(op.getValueType().getShape().back());
  Value count = index.product(sizes);
  Value element =
      index.add(index.mul(frame.getBlockId(), config.getThreads()), frame.getThreadId());
  points.emitIf(index.isLess(element, count), [&] {
    SmallVector<Value> place = index.delinearize(element, sizes);
    SmallVector<Value> outputPlace, outputSizes;
    for (unsigned dim : getResultOrder(kernel.outputs.front())) {
      outputPlace.push_back(place[dim]);
      outputSizes.push_back(sizes[dim]);
    }
    Value column = place.pop_back_val();
    AttentionRowEmitter emitter(op, points, place);
    kernel::AttentionLoops loops = emitter.makeLoops();
    auto softmax = loops.buildSoftmax(op, points.builder, points.loc);
    Value result = loops.buildResult(op, points.builder, points.loc, softmax, column);
    Value narrow = kernel::AttentionLoops::narrow(points.builder, points.loc, result,
                                                  op.getQueryType().getElementType());
    points.store(kernel.outputs.front().binding,
                 Coord::uniform(index.linearize(outputPlace, outputSizes)), narrow, 1);
    if (!op.hasLogsumexp() || kernel.outputs.size() < 2)
      return; // or nobody needs it
    points.emitIf(index.isEqual(column, index.constant(0)), [&] {
      Value logarithm = loops.buildLogsumexp(points.builder, points.loc, softmax);
      Value row = index.div(element, sizes.back());
      points.store(kernel.outputs[1].binding, Coord::uniform(row), logarithm, 1);
    });
  });
  return frame.finish(index.ceilDiv(count, index.constant(config.getThreads())));
}

} // namespace xc::cuda
