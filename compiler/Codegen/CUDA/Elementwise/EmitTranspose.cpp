//===- EmitTranspose.cpp - Transpose tiles in shared memory ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For elementwise kernels with inputs whose neighbours in memory lie along another dim (`outer`)
// than those of the outputs (`inner`). A block owns a square of these two dims:
//
//   load the square of each such input, threads along `outer`, into shared memory; barrier
//   compute the outputs, threads along `inner`, reading those inputs from shared memory
//
// The other inputs are read where they are needed, as in an elementwise kernel.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStrategy.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITTRANSPOSE
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

class TransposeEmitter {
public:
  TransposeEmitter(const KernelInfo &kernel, const TransposedInputs &transposed,
                   TransposeAttr config)
      : kernel(kernel), transposed(transposed), config(config), frame(kernel, config.getThreads()),
        points(frame.points), index(points.index), builder(points.builder), loc(points.loc) {}

  LogicalResult run();

private:
  /// A row of threads covers `tile` elements; there are this many rows of threads.
  int64_t getThreadsAcross() const { return config.getTile() / config.getVector(); }
  int64_t getThreadRows() const { return config.getThreads() / getThreadsAcross(); }
  int64_t getIterations() const { return config.getTile() / getThreadRows(); }
  /// A tile in shared memory has a line along `outer` for each element along `inner`.
  int64_t getSkew(Type elementType) const {
    return getTransposeSkew(elementType, config.getVector());
  }
  int64_t getTileSize(Type elementType) const {
    return countTransposeElements(elementType, config.getTile(), config.getVector());
  }
  /// Where element `along` of `line` is, the line being one of those of `group`.
  Value getPlace(Type elementType, Value line, Value group, Value along) {
    return index.add(index.add(index.mul(line, config.getTile()), along),
                     index.mul(group, getSkew(elementType)));
  }

  void loadTiles();
  void emitOutputs();
  /// A place in the output, and whether it is there; null if it always is.
  struct Spot {
    SmallVector<Coord> coords;
    Value inside;
  };
  /// The one at these offsets into the square; `lanes` neighbours along dim `along`.
  Spot makeSpot(Value outerOffset, Value innerOffset, unsigned along);
  SmallVector<Value> getSizes(ArrayRef<unsigned> dims);
  void placeSquare();

  const KernelInfo &kernel;
  const TransposedInputs &transposed;
  TransposeAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  SmallVector<Value> sizes, start; // of the output; where the block's square lies in other dims
  Value outerStart, innerStart;    // where it begins
  Value blocks;
  Value across, down;       // of this thread
  SmallVector<Value> tiles; // in shared memory, one for each transposed input
};

} // namespace

SmallVector<Value> TransposeEmitter::getSizes(ArrayRef<unsigned> dims) {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
}

TransposeEmitter::Spot TransposeEmitter::makeSpot(Value outerOffset, Value innerOffset,
                                                  unsigned along) {
  Spot spot{llvm::map_to_vector(start, &Coord::uniform), {}};
  auto advance = [&](ArrayRef<unsigned> dims, Value from, Value offset) {
    Value position = index.add(from, offset);
    SmallVector<Value> own = getSizes(dims);
    Value size = index.product(own);
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || *known % config.getTile() != 0)
      spot.inside = index.both(spot.inside, index.isLess(position, size));
    SmallVector<Value> parts =
        dims.size() == 1 ? SmallVector<Value>{position} : index.delinearize(position, own);
    for (auto [dim, part] : llvm::zip_equal(dims, parts))
      spot.coords[dim].values.front() = part;
    if (dims.back() == along && config.getVector() > 1)
      spot.coords[along].kind = Coord::Kind::Consecutive;
  };
  advance(transposed.outerDims, outerStart, outerOffset);
  advance(transposed.innerDims, innerStart, innerOffset);
  return spot;
}

void TransposeEmitter::loadTiles() {
  int64_t lanes = config.getVector();
  for (const Access &input : transposed.inputs) {
    Type elementType = getElementTypeOrSelf(input.tensor);
    tiles.push_back(frame.allocateShared(elementType, getTileSize(elementType)));
  }
  // All loads first, so that they are under way together.
  SmallVector<std::pair<Value, Value>> loaded; // place in the tile, value
  for (int64_t iteration = 0; iteration < getIterations(); ++iteration) {
    Value line = index.add(down, iteration * getThreadRows()), along = index.mul(across, lanes);
    Spot spot = makeSpot(along, line, transposed.outer);
    for (const Access &input : transposed.inputs) {
      Point point{{}, {}, lanes, spot.inside};
      for (AffineExpr expr : input.coords)
        point.coords.push_back(points.apply(expr, spot.coords, lanes));
      Value group = index.div(line, lanes);
      loaded.push_back({getPlace(getElementTypeOrSelf(input.tensor), line, group, along),
                        splatTo(builder, loc, points.emit(input.tensor, point), lanes)});
    }
  }
  for (auto [number, entry] : llvm::enumerate(loaded)) {
    auto [to, value] = entry;
    Value buffer = tiles[number % tiles.size()];
    if (lanes == 1)
      memref::StoreOp::create(builder, loc, value, buffer, to);
    else
      vector::StoreOp::create(
          builder, loc, value, buffer, to, /*nontemporal=*/false,
          llvm::MaybeAlign(lanes * getElementBytes(getElementTypeOrSelf(value))));
  }
}

void TransposeEmitter::emitOutputs() {
  int64_t lanes = config.getVector();
  for (int64_t iteration = 0; iteration < getIterations(); ++iteration) {
    Value line = index.add(down, iteration * getThreadRows()), along = index.mul(across, lanes);
    Spot spot = makeSpot(line, along, transposed.inner);
    ArrayRef<Coord> coords = spot.coords;
    points.emitIf(spot.inside, [&] {
      for (auto [input, buffer] : llvm::zip_equal(transposed.inputs, tiles)) {
        SmallVector<Value> values;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          Value from =
              getPlace(getElementTypeOrSelf(input.tensor), index.add(along, lane), across, line);
          values.push_back(memref::LoadOp::create(builder, loc, buffer, from));
        }
        points.provide(input.tensor, fromLanes(builder, loc, values));
      }
      // All loads before all stores: a result may be in the memory of an input.
      SmallVector<Value> values;
      for (const KernelOutput &output : kernel.outputs)
        values.push_back(points.emit(output.tensor, Point{spot.coords, {}, lanes, {}}));
      Coord flat = points.linearize(coords, sizes, lanes);
      for (auto [output, value] : llvm::zip_equal(kernel.outputs, values))
        points.store(output.binding, flat, value, lanes);
    });
  }
}

/// The grid: squares along `inner` fastest, then along `outer`, then all other dims.
void TransposeEmitter::placeSquare() {
  Value tile = index.constant(config.getTile()), one = index.constant(1);
  auto countSquares = [&](ArrayRef<unsigned> dims) {
    return index.ceilDiv(index.product(getSizes(dims)), tile);
  };
  SmallVector<Value> counts = sizes;
  for (ArrayRef<unsigned> dims : {ArrayRef(transposed.outerDims), ArrayRef(transposed.innerDims)})
    for (unsigned dim : dims)
      counts[dim] = one;
  Value outer = countSquares(transposed.outerDims), inner = countSquares(transposed.innerDims);
  counts.append({outer, inner});
  SmallVector<Value> places = index.delinearize(frame.getBlockId(), counts);
  innerStart = index.mul(places.pop_back_val(), tile);
  outerStart = index.mul(places.pop_back_val(), tile);
  start = std::move(places);
  blocks = index.product(counts);
}

LogicalResult TransposeEmitter::run() {
  plan::BindingOp output = kernel.outputs.front().binding;
  sizes = points.getSizes(output);
  placeSquare();
  Value thread = frame.getThreadId();
  across = index.rem(thread, getThreadsAcross());
  down = index.div(thread, getThreadsAcross());
  loadTiles();
  frame.barrier();
  emitOutputs();
  return frame.finish(blocks);
}

namespace {

struct EmitTranspose final : impl::EmitTransposeBase<EmitTranspose> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<TransposeAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    std::optional<TransposedInputs> transposed = findTransposedInputs(*kernel);
    if (!transposed) {
      getOperation().emitOpError(
          "expected an input that is read along another dim than the outputs are written, for ")
          << config;
      return signalPassFailure();
    }
    if (failed(TransposeEmitter(*kernel, *transposed, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
