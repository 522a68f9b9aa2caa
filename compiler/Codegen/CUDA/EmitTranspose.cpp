//===- EmitTranspose.cpp - Turn tiles around in shared memory -------------===//
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

#include "compiler/Codegen/CUDA/Analysis/Accesses.h"
#include "compiler/Codegen/CUDA/Emit/KernelFrame.h"
#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
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
  int64_t getRounds() const { return config.getTile() / getThreadRows(); }
  /// Length of a line of a tile in shared memory: a line along `outer` for each element along
  /// `inner`.
  int64_t getPitch() const { return config.getTile() + config.getVector(); }

  void loadTiles();
  void emitOutputs();
  /// The place in the output at these offsets into the square; `lanes` neighbours along dim
  /// `along`.
  SmallVector<Coord> makeCoords(Value outerOffset, Value innerOffset, unsigned along);
  Value isInside(ArrayRef<Coord> coords);

  const KernelInfo &kernel;
  const TransposedInputs &transposed;
  TransposeAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  SmallVector<Value> sizes, start; // of the output; where the block's square begins
  Value across, down;              // of this thread
  SmallVector<Value> tiles;        // in shared memory, one for each transposed input
};

} // namespace

SmallVector<Coord> TransposeEmitter::makeCoords(Value outerOffset, Value innerOffset,
                                                unsigned along) {
  SmallVector<Coord> coords = llvm::map_to_vector(start, &Coord::uniform);
  auto advance = [&](unsigned dim, Value offset) {
    coords[dim].values.front() = index.add(start[dim], offset);
    if (dim == along && config.getVector() > 1)
      coords[dim].kind = Coord::Kind::Consecutive;
  };
  advance(transposed.outer, outerOffset);
  advance(transposed.inner, innerOffset);
  return coords;
}

Value TransposeEmitter::isInside(ArrayRef<Coord> coords) {
  Value inside;
  for (unsigned dim : {transposed.outer, transposed.inner}) {
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    if (!size || *size % config.getTile() != 0)
      inside = index.both(inside, index.isLess(coords[dim].first(), sizes[dim]));
  }
  return inside;
}

void TransposeEmitter::loadTiles() {
  int64_t lanes = config.getVector();
  for (const Access &input : transposed.inputs) {
    Type elementType = getElementTypeOrSelf(input.tensor);
    tiles.push_back(frame.allocateShared(elementType, config.getTile() * getPitch()));
  }
  // All loads first, so that they are under way together.
  SmallVector<std::pair<Value, Value>> loaded; // place in the tile, value
  for (int64_t round = 0; round < getRounds(); ++round) {
    Value line = index.add(down, round * getThreadRows()), along = index.mul(across, lanes);
    SmallVector<Coord> coords = makeCoords(along, line, transposed.outer);
    Value inside = isInside(coords);
    for (const Access &input : transposed.inputs) {
      Point point{{}, {}, lanes, inside};
      for (AffineExpr expr : input.coords)
        point.coords.push_back(points.apply(expr, coords, lanes));
      loaded.push_back({index.add(index.mul(line, getPitch()), along),
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
  for (int64_t round = 0; round < getRounds(); ++round) {
    Value line = index.add(down, round * getThreadRows()), along = index.mul(across, lanes);
    SmallVector<Coord> coords = makeCoords(line, along, transposed.inner);
    points.emitIf(isInside(coords), [&] {
      for (auto [input, buffer] : llvm::zip_equal(transposed.inputs, tiles)) {
        SmallVector<Value> values;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          Value from = index.add(index.mul(index.add(along, lane), getPitch()), line);
          values.push_back(memref::LoadOp::create(builder, loc, buffer, from));
        }
        points.provide(input.tensor, fromLanes(builder, loc, values));
      }
      // All loads before all stores: a result may be in the memory of an input.
      SmallVector<Value> values;
      for (const KernelOutput &output : kernel.outputs)
        values.push_back(points.emit(output.tensor, Point{coords, {}, lanes, {}}));
      Coord flat = points.linearize(coords, sizes, lanes);
      for (auto [output, value] : llvm::zip_equal(kernel.outputs, values))
        points.store(output.binding, flat, value, lanes);
    });
  }
}

LogicalResult TransposeEmitter::run() {
  plan::BindingOp output = kernel.outputs.front().binding;
  sizes = points.getSizes(output);
  Value tile = index.constant(config.getTile());
  // The grid: squares along `inner` fastest, then along `outer`, then all other dims.
  SmallVector<Value> counts = sizes;
  counts[transposed.outer] = index.ceilDiv(sizes[transposed.outer], tile);
  counts[transposed.inner] = index.ceilDiv(sizes[transposed.inner], tile);
  start = index.delinearize(frame.getBlockId(), counts);
  start[transposed.outer] = index.mul(start[transposed.outer], tile);
  start[transposed.inner] = index.mul(start[transposed.inner], tile);
  Value thread = frame.getThreadId();
  across = index.rem(thread, getThreadsAcross());
  down = index.div(thread, getThreadsAcross());
  loadTiles();
  frame.barrier();
  emitOutputs();
  return frame.finish(index.product(counts));
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
