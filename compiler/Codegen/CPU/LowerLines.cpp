//===- LowerLines.cpp - Sorts and scans over workgroups -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op moves from tensors to memory and is tiled there, a line at a time; a workgroup loops over
// its share of the lines. What the op does to a line is left to `-xc-lower-kernel-ops-to-loops`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/LineKernel.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERLINES
#include "compiler/Codegen/CPU/Passes.h.inc"

/// The loops over `dims` of `sizes`.
static SmallVector<LoopDim> getLoops(ArrayRef<unsigned> dims, ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return LoopDim{{dim}, sizes[dim]}; });
}

/// Puts the tile of `op` that is the line at `point` at the builder's place.
static LogicalResult emitLine(OpBuilder &builder, Operation *op, ArrayRef<LoopDim> lines,
                              ArrayRef<LaneIndex> point) {
  SmallVector<OpFoldResult> offsets, sizes(lines.size(), builder.getIndexAttr(1));
  for (const LoopDim &line : lines)
    offsets.push_back(point[line.dims.front()].base);
  return cast<TilingInterface>(op).getTiledImplementation(builder, offsets, sizes);
}

static LogicalResult lower(func::FuncOp function, LinesAttr config) {
  std::string why;
  FailureOr<LineKernel> kernel = matchLineKernel(function, why);
  if (failed(kernel))
    return function.emitError("the lines strategy does not take kernel '")
           << function.getName() << "': " << why;
  OpBuilder builder(function.getBody().front().getTerminator());
  Location loc = kernel->op->getLoc();
  SmallVector<OpFoldResult> sizes = getSizes(builder, kernel->memory.front());
  SmallVector<unsigned> lineDims(kernel->lineDims.begin(), kernel->lineDims.end()), rest;
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (!llvm::is_contained(lineDims, dim))
      rest.push_back(dim);
  SmallVector<LoopDim> lines = getLoops(lineDims, sizes);
  OpFoldResult one = builder.getIndexAttr(1),
               length = getProduct(builder, loc, getLoops(rest, sizes));
  // Lines of unknown length may be long: each has a workgroup.
  if (!getConstantIntValue(length))
    length = builder.getIndexAttr(config.getTile());
  FailureOr<Spread> shares =
      spread(kernel->op, getProduct(builder, loc, lines), /*columns=*/one, /*work=*/length,
             /*chunk=*/1, config.getTile(), /*columnAlignment=*/1);
  if (failed(shares))
    return failure();

  Operation *onMemory = mlir::clone(builder, kernel->op, TypeRange(), kernel->memory);
  SmallVector<LaneIndex> point(sizes.size());
  LogicalResult result = success();
  emitLinearLoop(builder, loc, shares->getRows(builder, loc, shares->gridX), lines, point,
                 [&](OpBuilder &inner) { result = emitLine(inner, onMemory, lines, point); });
  onMemory->erase();
  for (Root &root : kernel->roots)
    root.op.erase();
  kernel->op->erase();
  setLaunch(function, {shares->gridX});
  return result;
}

namespace {

struct LowerLines final : impl::LowerLinesBase<LowerLines> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto config = dyn_cast_or_null<LinesAttr>(function->getAttr(plan::kConfigAttr)))
        if (failed(verifyKernelFunction(function)) || failed(lower(function, config)))
          return signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
