//===- EmitScatter.cpp - Updates in order, without atomics ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result has to be the same on every run, so each element has one owner, which applies its
// updates in order: a block owns `rows` rows of the destination and `threads` places of the window,
// a thread one place in each of those rows. It copies its elements of the destination, then walks
// over all updates and applies those that go to its rows. All threads of a block look at the same
// index vector at the same time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Emit/KernelFrame.h"
#include "compiler/Codegen/CUDA/Emit/PointScatter.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITSCATTER
#include "compiler/Codegen/CUDA/Passes.h.inc"

static LogicalResult emitScatter(const KernelInfo &kernel, ScatterAttr config) {
  auto op = kernel.outputs.front().tensor.getDefiningOp<kernel::ScatterOp>();
  plan::BindingOp output = kernel.outputs.front().binding;
  KernelFrame frame(kernel, config.getThreads());
  PointEmitter &points = frame.points;
  IndexBuilder &index = points.index;
  ScatterRows rows(op, points);
  SmallVector<Value> sizes = points.getSizes(output);
  Value window = index.product(rows.windowSizes), rowCount = index.product(rows.rowSizes);
  Value blocksAcross = index.ceilDiv(window, index.constant(config.getThreads()));
  Value block = frame.getBlockId(), one = index.constant(1);
  Value firstRow = index.mul(index.div(block, blocksAcross), config.getRows());
  Value endRow = index.min(index.add(firstRow, config.getRows()), rowCount);
  Value place = index.add(index.mul(index.rem(block, blocksAcross), config.getThreads()),
                          frame.getThreadId());

  points.emitIf(index.isLess(place, window), [&] {
    SmallVector<Value> windowCoords = index.delinearize(place, rows.windowSizes);
    auto getPosition = [&](Value row) {
      SmallVector<Coord> coords =
          rows.joinCoords(index.delinearize(row, rows.rowSizes), windowCoords);
      return points.linearize(coords, sizes, 1);
    };
    points.emitLoop(firstRow, endRow, one, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
      Point point{rows.joinCoords(index.delinearize(row, rows.rowSizes), windowCoords), {}, 1, {}};
      points.store(output, getPosition(row), points.emit(op.getDest(), point), 1);
      return {};
    });
    points.emitLoop(index.constant(0), index.product(rows.batchSizes), one, {},
                    [&](Value update, ValueRange) -> SmallVector<Value> {
                      std::pair<Value, Value> target = rows.getTarget(update);
                      Value row = target.first, inside = target.second;
                      Value mine =
                          index.both(index.isAtLeast(row, firstRow), index.isLess(row, endRow));
                      points.emitIf(index.both(inside, mine), [&] {
                        Coord position = getPosition(row);
                        Value old = points.load(output, position, 1);
                        points.store(output, position,
                                     rows.combine(old, rows.emitUpdate(update, windowCoords)), 1);
                      });
                      return {};
                    });
  });
  return frame.finish(
      index.mul(blocksAcross, index.ceilDiv(rowCount, index.constant(config.getRows()))));
}

namespace {

struct EmitScatter final : impl::EmitScatterBase<EmitScatter> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<ScatterAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    if (kernel->outputs.size() != 1 ||
        !kernel->outputs.front().tensor.getDefiningOp<kernel::ScatterOp>()) {
      getOperation().emitOpError("expected one output, the result of kernel.scatter, for ")
          << config;
      return signalPassFailure();
    }
    if (failed(emitScatter(*kernel, config)))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
