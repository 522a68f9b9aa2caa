//===- EmitElementwise.cpp - Kernels whose elements do not meet -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For kernels whose threads need nothing of each other: a thread computes a few vectors of
// neighbouring elements. Other kernels are left alone; -xc-cuda-emit-pointwise shares this code.
//
// Outputs of one shape are computed together; each further shape has blocks of its own, behind
// those of the shapes before. A block's elements are (u = 0 .. unroll - 1, t = thread):
//
//   block * threads * vector * unroll + u * threads * vector + t * vector + (0 .. vector - 1)
//
// so that a warp reads and writes 32 neighbouring vectors at a time. If all of a thread's vectors
// are inside, it computes them without any test; else vector by vector, and the last one element by
// element.
//
// The output of a `kernel.update` has the box as its shape: only that is computed, and stored where
// the box begins.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Elementwise/EmitElementwise.h"

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/OutputStores.h"
#include "compiler/Codegen/CUDA/Common/WorkLimits.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITELEMENTWISE
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

class ElementwiseEmitter {
public:
  ElementwiseEmitter(const KernelInfo &kernel, ElementwiseShape shape)
      : kernel(kernel), shape(shape), frame(kernel, shape.threads), points(frame.points) {}

  LogicalResult run();

private:
  struct Segment {
    Value count;
    SmallVector<KernelOutput> outputs;
  };

  SmallVector<Segment> formSegments();
  /// Where the elements of `output` at `flat` are in its binding.
  Coord getPosition(const KernelOutput &output, const Coord &flat, int64_t lanes);
  void emitSegment(const Segment &segment, Value block);
  void emitBlock(const Segment &segment, Value block);
  /// i1: block `block` of the segment has something to compute; null if it always has.
  Value isNeeded(const Segment &segment, Value block);
  /// Computes the vectors of `lanes` elements at `firsts`, then stores them all.
  void emitVectors(const Segment &segment, ArrayRef<Value> firsts, int64_t lanes);
  void emitTail(const Segment &segment, Value first, Value count);

  const KernelInfo &kernel;
  ElementwiseShape shape;
  KernelFrame frame;
  PointEmitter &points;
  /// For outputs that are boxes: where those begin.
  llvm::DenseMap<Operation *, SmallVector<Value>> starts;
  bool storesZeros = false;
};

} // namespace

SmallVector<ElementwiseEmitter::Segment> ElementwiseEmitter::formSegments() {
  SmallVector<Segment> segments;
  SmallVector<SmallVector<Value>> shapes;
  for (const KernelOutput &output : kernel.outputs) {
    SmallVector<Value> sizes = points.getSizes(output);
    if (output.update)
      starts[output.binding] = points.getStarts(output);
    auto same = llvm::find(shapes, sizes);
    if (same == shapes.end()) {
      shapes.push_back(sizes);
      segments.push_back({points.index.product(sizes), {output}});
    } else {
      segments[same - shapes.begin()].outputs.push_back(output);
    }
  }
  return segments;
}

Coord ElementwiseEmitter::getPosition(const KernelOutput &output, const Coord &flat,
                                      int64_t lanes) {
  if (!output.update)
    return flat;
  SmallVector<Coord> coords = points.delinearize(flat, points.getSizes(output.tensor), lanes);
  for (auto [coord, start] : llvm::zip_equal(coords, starts.lookup(output.binding)))
    coord = points.add(coord, Coord::uniform(start), lanes);
  return points.linearize(coords, points.getSizes(output.binding), lanes);
}

void ElementwiseEmitter::emitVectors(const Segment &segment, ArrayRef<Value> firsts,
                                     int64_t lanes) {
  SmallVector<std::pair<Coord, Value>> values;
  for (Value first : firsts)
    for (const KernelOutput &output : segment.outputs) {
      Coord flat = lanes == 1 ? Coord::uniform(first) : Coord::consecutive(first);
      Type element = getElementTypeOrSelf(output.tensor.getType());
      values.push_back({flat, storesZeros
                                  ? points.zero(element)
                                  : points.emit(output.tensor, Point{{}, flat, lanes, {}})});
    }
  for (auto [index, value] : llvm::enumerate(values)) {
    const KernelOutput &output = segment.outputs[index % segment.outputs.size()];
    if (output.spread) {
      Point point{{}, value.first, lanes, {}};
      Coord flat = getStoredPosition(points, output, point);
      storeElements(points, output, point, flat, value.second);
      continue;
    }
    points.store(output.binding, getPosition(output, value.first, lanes), value.second, lanes);
  }
}

void ElementwiseEmitter::emitTail(const Segment &segment, Value first, Value count) {
  IndexBuilder &index = points.index;
  Value stride = index.constant(shape.threads * shape.vector);
  points.emitLoop(index.constant(0), index.constant(shape.unroll), index.constant(1), {},
                  [&](Value step, ValueRange) -> SmallVector<Value> {
                    Value start = index.add(first, index.mul(step, stride));
                    Value end = index.min(index.add(start, shape.vector), count);
                    points.emitLoop(start, end, index.constant(1), {},
                                    [&](Value element, ValueRange) -> SmallVector<Value> {
                                      emitVectors(segment, element, 1);
                                      return {};
                                    });
                    return {};
                  });
}

Value ElementwiseEmitter::isNeeded(const Segment &segment, Value block) {
  IndexBuilder &index = points.index;
  BlockRange range;
  range.sizes = points.getSizes(segment.outputs.front());
  range.dims = llvm::to_vector(llvm::seq<unsigned>(0, range.sizes.size()));
  SmallVector<AffineExpr> coords;
  for (unsigned dim : range.dims)
    coords.push_back(points.builder.getAffineDimExpr(dim));
  SmallVector<LimitedOutput> outputs;
  for (const KernelOutput &output : segment.outputs)
    outputs.push_back({output.tensor, coords});
  if (!haveLimits(outputs))
    return {};
  range.first = index.mul(block, shape.perBlock());
  range.last = index.sub(index.min(index.add(range.first, shape.perBlock()), segment.count),
                         index.constant(1));
  return emitIsNeeded(points, outputs, range);
}

void ElementwiseEmitter::emitSegment(const Segment &segment, Value block) {
  emitIfNeeded(
      points, isNeeded(segment, block), [&] { emitBlock(segment, block); },
      [&] {
        storesZeros = true;
        emitBlock(segment, block);
        storesZeros = false;
      });
}

void ElementwiseEmitter::emitBlock(const Segment &segment, Value block) {
  IndexBuilder &index = points.index;
  Value first =
      index.add(index.mul(block, shape.perBlock()), index.mul(frame.getThreadId(), shape.vector));
  SmallVector<Value> firsts;
  for (int64_t step = 0; step < shape.unroll; ++step)
    firsts.push_back(index.add(first, step * shape.threads * shape.vector));
  std::optional<int64_t> count = getConstantIntValue(segment.count);
  if (count && *count % shape.perBlock() == 0)
    return emitVectors(segment, firsts, shape.vector);

  Value allInside = index.isLess(index.add(firsts.back(), shape.vector - 1), segment.count);
  if (shape.vector == 1 && shape.unroll == 1)
    return points.emitIf(allInside, [&] { emitVectors(segment, firsts, 1); });
  auto branch = scf::IfOp::create(points.builder, points.loc, allInside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(points.builder);
  {
    points.builder.setInsertionPointToStart(branch.thenBlock());
    PointEmitter::Scope scope(points);
    emitVectors(segment, firsts, shape.vector);
  }
  points.builder.setInsertionPointToStart(branch.elseBlock());
  PointEmitter::Scope scope(points);
  emitTail(segment, first, segment.count);
}

LogicalResult ElementwiseEmitter::run() {
  IndexBuilder &index = points.index;
  SmallVector<Segment> segments = formSegments();
  Value block = frame.getBlockId();
  Value blocksBefore = index.constant(0);
  for (const Segment &segment : segments) {
    Value blocks = index.ceilDiv(segment.count, index.constant(shape.perBlock()));
    Value blocksUpToHere = index.add(blocksBefore, blocks);
    if (segments.size() == 1) {
      emitSegment(segment, block);
    } else {
      Value relative = index.sub(block, blocksBefore);
      Value here =
          index.both(index.isLess(block, blocksUpToHere), index.isAtLeast(block, blocksBefore));
      points.emitIf(here, [&] { emitSegment(segment, relative); });
    }
    blocksBefore = blocksUpToHere;
  }
  return frame.finish(blocksBefore);
}

LogicalResult emitElementwise(const KernelInfo &kernel, ElementwiseShape shape) {
  return ElementwiseEmitter(kernel, shape).run();
}

namespace {

struct EmitElementwise final : impl::EmitElementwiseBase<EmitElementwise> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<ElementwiseAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    ElementwiseShape shape{config.getThreads(), config.getVector(), config.getUnroll()};
    if (failed(kernel) || failed(emitElementwise(*kernel, shape)))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
