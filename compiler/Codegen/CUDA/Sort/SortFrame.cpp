//===- SortFrame.cpp - What kernels of kernel.sort share ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Sort/SortFrame.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

SortFrame::SortFrame(const KernelInfo &kernel, const LineKernel &lines, int64_t threads)
    : op(cast<kernel::SortOp>(lines.op)), values(lines.results[0]), indices(lines.results[1]),
      frame(kernel, threads), points(frame.points), index(points.index), builder(points.builder),
      loc(points.loc), shape(getLineShape(op, points)),
      elementType(cast<ShapedType>(op.getKeys().getType()).getElementType()),
      indexType(cast<ShapedType>(op.getIndices().getType()).getElementType()) {}

void SortFrame::loop(Value from, Value to, int64_t step, function_ref<void(Value)> body) {
  points.emitLoop(from, to, index.constant(step), {}, [&](Value number, ValueRange) {
    body(number);
    return SmallVector<Value>();
  });
}

Value SortFrame::toWord(Value number) {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
}

Value SortFrame::toIndex(Value word) {
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), word);
}

SortLine SortFrame::getLine(Value number) {
  SortLine line;
  line.line = index.div(number, shape.segments);
  line.segment = index.rem(number, shape.segments);
  line.begin = index.mul(line.segment, shape.segment);
  line.length = index.min(shape.segment, index.sub(shape.length, line.begin));
  line.length = arith::SelectOp::create(builder, loc, index.isLess(number, countLines()),
                                        line.length, index.constant(0));
  return line;
}

Value SortFrame::getKey(Value element) {
  return kernel::buildOrderKey(builder, loc, element, op.getUnsignedElements(), op.getDescending());
}

Value SortFrame::emitInput(Value position, int64_t lanes) {
  Coord flat = lanes == 1 ? Coord::uniform(position) : Coord::consecutive(position);
  return points.emit(op.getKeys(), Point{{}, flat, lanes, {}});
}

SmallVector<Value> SortFrame::loadKeys(const SortLine &line, ArrayRef<Value> places, int64_t lanes,
                                       bool isInside) {
  Value start = index.add(index.mul(line.line, shape.length), line.begin);
  SmallVector<Value> elements, keys;
  auto makeKeys = [&] {
    for (Value element : elements)
      for (int64_t lane = 0; lane < lanes; ++lane)
        keys.push_back(getKey(getLane(builder, loc, element, lane)));
    return keys;
  };
  if (isInside) {
    for (Value place : places)
      elements.push_back(emitInput(index.add(start, place), lanes));
    return makeKeys();
  }
  // All loads are under way before the first is waited for: none has a condition of its own.
  return points.emitIfOrZeros(index.isLess(index.constant(0), line.length), [&] {
    Value last = index.sub(line.length, index.constant(lanes));
    for (Value place : places)
      elements.push_back(emitInput(index.add(start, index.min(place, last)), lanes));
    return makeKeys();
  });
}

Value SortFrame::countResults(const SortLine &line) {
  if (op.getKeep() == 0)
    return line.length;
  Value kept = index.constant(op.getKeep());
  // A shorter segment keeps all of its elements.
  if (op.getSegment() != 0)
    return arith::SelectOp::create(builder, loc, index.isLess(line.length, shape.segment),
                                   line.length, index.min(kept, line.length));
  // All of a result is written, also where the line is too short for it.
  return arith::SelectOp::create(builder, loc, index.isLess(line.line, shape.outer), kept,
                                 index.constant(0));
}

void SortFrame::storeResults(const SortLine &line, ValueRange places, ValueRange positions) {
  Value count = countResults(line), zero = index.constant(0), target = line.begin;
  if (op.getKeep() != 0)
    target = index.mul(line.segment, index.min(index.constant(op.getKeep()), shape.segment));
  Value size = points.getSizes(values).back();
  Value first = index.add(index.mul(line.line, size), target);
  SmallVector<Value> found =
      points.emitIfOrZeros(index.isLess(zero, line.length), [&]() -> SmallVector<Value> {
        Value start = index.add(index.mul(line.line, shape.length), line.begin);
        Value last = index.sub(line.length, index.constant(1));
        SmallVector<Value> read;
        for (Value position : positions) {
          Value source = index.add(start, index.min(toIndex(position), last));
          read.push_back(emitInput(source));
          if (op.getPayload())
            read.push_back(points.emit(op.getPayload(), Point{{}, Coord::uniform(source), 1, {}}));
        }
        return read;
      });
  unsigned stride = op.getPayload() ? 2 : 1;
  Value noIndex = points.constant(builder.getIntegerAttr(indexType, -1));
  for (auto [number, place] : llvm::enumerate(places)) {
    Value position = toIndex(positions[number]);
    Value isThere = index.isLess(position, line.length);
    Value value = found[number * stride], payload;
    if (op.getPayload())
      payload = found[number * stride + 1];
    else
      payload =
          arith::IndexCastOp::create(builder, loc, indexType, index.add(line.begin, position));
    // A line without elements has found zeros.
    if (op.getKeep() != 0 && op.getSegment() == 0) {
      value = arith::SelectOp::create(builder, loc, isThere, value, points.zero(elementType));
      payload = arith::SelectOp::create(builder, loc, isThere, payload, noIndex);
    }
    Value mask = index.isLess(place, count);
    Coord flat = Coord::uniform(index.add(first, place));
    points.store(values, flat, value, 1, mask);
    points.store(indices, flat, payload, 1, mask);
  }
}

} // namespace xc::cuda
