//===- EmitElementwiseStrips.cpp - Neighbours that read the same elements -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread computes a vector of elements along the innermost dim at some neighbouring positions
// along one or two outer dims. All are built in one scope: what several read is loaded once, since
// its index is the same value (RegularIndices.h), and what is computed of equal values is equal.
// Where a strip ends beyond the last position, those inside are computed one by one.
//
// Left to other strategies: what matchElementwiseStrips refuses.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/OutputStores.h"
#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStrips.h"
#include "compiler/Codegen/CUDA/IR/StripsConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITELEMENTWISESTRIPS
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

class StripsEmitter {
public:
  StripsEmitter(const KernelInfo &kernel, const ElementwiseStrips &strips,
                ElementwiseStripsAttr config)
      : kernel(kernel), strips(strips), config(config), frame(kernel, config.getThreads()),
        points(frame.points), index(points.index), sizes(points.getSizes(kernel.outputs.front())),
        extents(strips.getExtents({config.getVector(), config.getStrip(), config.getRows()})) {}

  LogicalResult run();

private:
  using Position = SmallVector<Value>; // an index for each dim

  void emitThread(Value number);
  void emitPositions(ArrayRef<Position> positions);
  /// The positions from `first` on, as far as there are such along dims from `dim` on.
  void emitInside(Position first, unsigned dim);

  const KernelInfo &kernel;
  const ElementwiseStrips &strips;
  ElementwiseStripsAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  SmallVector<Value> sizes;
  SmallVector<int64_t> extents;
};

} // namespace

void StripsEmitter::emitPositions(ArrayRef<Position> positions) {
  int64_t lanes = config.getVector();
  // All loads before all stores: a result may be in the memory of an input.
  SmallVector<std::pair<Coord, Value>> values;
  for (const Position &position : positions)
    for (const KernelOutput &output : kernel.outputs) {
      Point point{llvm::map_to_vector(position, &Coord::uniform), {}, lanes, {}};
      if (lanes > 1)
        point.coords[strips.channel].kind = Coord::Kind::Consecutive;
      Coord flat = getStoredPosition(points, output, point);
      values.push_back({flat, points.emit(output.tensor, point)});
    }
  for (auto [number, value] : llvm::enumerate(values))
    points.store(kernel.outputs[number % kernel.outputs.size()].binding, value.first, value.second,
                 lanes);
}

void StripsEmitter::emitInside(Position first, unsigned dim) {
  if (dim == strips.channel)
    return emitPositions(first);
  if (extents[dim] == 1)
    return emitInside(std::move(first), dim + 1);
  Value end = index.min(index.add(first[dim], extents[dim]), sizes[dim]);
  points.emitLoop(first[dim], end, index.constant(1), {},
                  [&](Value place, ValueRange) -> SmallVector<Value> {
                    first[dim] = place;
                    emitInside(first, dim + 1);
                    return {};
                  });
}

void StripsEmitter::emitThread(Value number) {
  SmallVector<Value> counts;
  for (auto [size, extent] : llvm::zip_equal(sizes, extents))
    counts.push_back(index.ceilDiv(size, index.constant(extent)));
  Position first = index.delinearize(number, counts);
  Value inside;
  for (auto [place, size, extent] : llvm::zip_equal(first, sizes, extents)) {
    place = index.mul(place, extent);
    std::optional<int64_t> known = getConstantIntValue(size);
    if (extent > 1 && (!known || *known % extent != 0))
      inside = index.both(inside, index.isLess(index.add(place, extent - 1), size));
  }
  SmallVector<Position> positions{first};
  for (unsigned dim : llvm::seq(strips.channel)) {
    SmallVector<Position> longer;
    for (const Position &position : positions)
      for (int64_t step = 0; step < extents[dim]; ++step) {
        longer.push_back(position);
        longer.back()[dim] = index.add(position[dim], step);
      }
    positions = std::move(longer);
  }
  if (!inside)
    return emitPositions(positions);
  points.emitIf(inside, [&] { emitPositions(positions); }, [&] { emitInside(first, 0); });
}

LogicalResult StripsEmitter::run() {
  Value total = index.constant(1);
  for (auto [size, extent] : llvm::zip_equal(sizes, extents))
    total = index.mul(total, index.ceilDiv(size, index.constant(extent)));
  return frame.finishThreads(total, [&](Value number) { emitThread(number); });
}

namespace {

struct EmitElementwiseStrips final : impl::EmitElementwiseStripsBase<EmitElementwiseStrips> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<ElementwiseStripsAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    std::string reason;
    std::optional<ElementwiseStrips> strips = matchElementwiseStrips(*kernel, reason);
    if (!strips) {
      getOperation().emitOpError("expected neighbours that read the same elements for ")
          << config << ": " << reason;
      return signalPassFailure();
    }
    int64_t channels = strips->getShape()[strips->channel];
    if (channels % config.getVector() != 0) {
      getOperation().emitOpError("expected a multiple of ")
          << config.getVector() << " elements along the innermost dim for " << config << ", got "
          << channels;
      return signalPassFailure();
    }
    if (failed(StripsEmitter(*kernel, *strips, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
