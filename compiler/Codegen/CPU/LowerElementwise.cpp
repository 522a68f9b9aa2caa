//===- LowerElementwise.cpp - Elementwise kernels to vector loops ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results of equal shape share one loop nest; each nest is spread over the whole grid. In a nest,
// neighbouring dims that all accesses agree on are merged, the last loop is the vectorised one, and
// the loops before it are one loop over rows. The result of a `kernel.update` has the box as its
// shape, and is stored where that begins:
//
//   for row in this workgroup's rows:
//     for j in this workgroup's columns, 32, then 8, then 1 at a time:
//       store each result of the nest at (row, j)
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERELEMENTWISE
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

/// Results that are computed in the same loops.
struct Nest {
  SmallVector<Root> roots;
  SmallVector<OpFoldResult> sizes;
  SmallVector<LoopDim> rows;
  LoopDim columns;
  Spread spread;
};

/// Lowers one kernel function.
class ElementwiseLowering {
public:
  ElementwiseLowering(func::FuncOp kernel, ElementwiseAttr config, const Arch &arch)
      : kernel(kernel), config(config), arch(arch),
        builder(kernel.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  std::vector<Nest> formNests();
  LogicalResult planLoops(Nest &nest);
  Buffer getTarget(const Root &root);
  void emitNest(Nest &nest, AffineExpr totalX, AffineExpr totalY);

  func::FuncOp kernel;
  ElementwiseAttr config;
  const Arch &arch;
  OpBuilder builder;
};

} // namespace

std::vector<Nest> ElementwiseLowering::formNests() {
  std::vector<Nest> nests;
  for (const Root &root : collectRoots(kernel)) {
    SmallVector<OpFoldResult> sizes = getSizes(builder, root.update ? root.value : root.memory);
    auto nest = llvm::find_if(
        nests, [&](Nest &other) { return isEqualConstantIntOrValueArray(other.sizes, sizes); });
    if (nest == nests.end()) {
      nest = nests.emplace(nest);
      nest->sizes = sizes;
    }
    nest->roots.push_back(root);
  }
  return nests;
}

LogicalResult ElementwiseLowering::planLoops(Nest &nest) {
  unsigned rank = nest.sizes.size();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(builder.getAffineDimExpr(dim));
  std::vector<AccessSummary> summaries(1, AccessSummary(rank));
  for (const Root &root : nest.roots) {
    summarize(root.value, dims, {}, summaries[0]);
    // Rows of a box are not next to each other.
    if (root.update)
      summaries[0].readAsIndex.set();
  }
  Location loc = nest.roots[0].op.getLoc();
  SmallVector<LoopDim> loops =
      mergeDims(builder, loc, llvm::to_vector(llvm::seq(rank)), nest.sizes,
                findMergeableDims(builder, nest.sizes, /*boundary=*/rank, summaries));
  if (loops.empty())
    loops.push_back({{}, builder.getIndexAttr(1)}); // a result without dims
  nest.columns = loops.pop_back_val();
  nest.rows = std::move(loops);
  FailureOr<Spread> result =
      spread(nest.roots[0].op, getProduct(builder, loc, nest.rows), nest.columns.size,
             /*work=*/builder.getIndexAttr(1), config.getChunk(), config.getTile(),
             std::max<int64_t>(config.getLanes(), 64));
  if (failed(result))
    return failure();
  nest.spread = *result;
  return success();
}

/// Where the tensor that `root` stores is in memory.
Buffer ElementwiseLowering::getTarget(const Root &root) {
  Buffer target{root.memory};
  kernel::UpdateOp update = root.update;
  if (!update)
    return target;
  Location loc = update.getLoc();
  Environment environment;
  PointEvaluator evaluator(builder, environment, /*lanes=*/1);
  SmallVector<OpFoldResult> sizes = getSizes(builder, root.memory),
                            box = getSizes(builder, root.value);
  for (auto [dim, start] : llvm::enumerate(update.getStarts())) {
    if (update.isWhole(dim)) {
      target.origins.push_back(Value());
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
    Value last = arith::SubIOp::create(builder, loc, size,
                                       getValueOrCreateConstantIndexOp(builder, loc, box[dim]));
    Value first = update.clampStart(builder, loc, dim, evaluator.evaluate(start, {}), last);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    target.origins.push_back(arith::SubIOp::create(builder, loc, zero, first));
  }
  return target;
}

void ElementwiseLowering::emitNest(Nest &nest, AffineExpr totalX, AffineExpr totalY) {
  Location loc = nest.roots[0].op.getLoc();
  Range rows = nest.spread.getRows(builder, loc, totalX);
  Range columns = nest.spread.getColumns(builder, loc, totalY);
  SmallVector<LaneIndex> point(nest.sizes.size());
  SmallVector<int64_t> widths =
      getWidths(config.getLanes(), arch.vectorBytes / getElementBytes(kernel), columns.divisor);
  Environment environment;
  SmallVector<Buffer> targets;
  for (const Root &root : nest.roots)
    targets.push_back(getTarget(root));
  emitLinearLoop(builder, loc, rows, nest.rows, point, [&](OpBuilder &rowBuilder) {
    emitLaneLoops(rowBuilder, loc, columns, widths,
                  [&](OpBuilder &inner, Value index, int64_t lanes) {
                    if (!nest.columns.dims.empty())
                      nest.columns.setIndex(point, {index, lanes == 1 ? 0 : 1});
                    PointEvaluator evaluator(inner, environment, lanes);
                    SmallVector<Value> values;
                    // All loads before all stores: a result may be in the memory of an input.
                    for (const Root &root : nest.roots)
                      values.push_back(evaluator.evaluate(root.value, point));
                    for (auto [root, value, target] : llvm::zip_equal(nest.roots, values, targets))
                      evaluator.store(root.op.getLoc(), value, target, point);
                  });
  });
}

LogicalResult ElementwiseLowering::run() {
  std::vector<Nest> nests = formNests();
  AffineExpr totalX = builder.getAffineConstantExpr(0), totalY = totalX;
  for (Nest &nest : nests) {
    if (failed(planLoops(nest)))
      return failure();
    totalX = totalX + nest.spread.gridX;
    totalY = totalY + nest.spread.gridY;
  }
  for (Nest &nest : nests)
    emitNest(nest, totalX, totalY);
  for (Nest &nest : nests)
    for (Root &root : nest.roots) {
      root.op.erase();
      // Nothing else makes loops of it.
      if (root.update)
        root.update.erase();
    }
  setLaunch(kernel, {totalX, totalY});
  return success();
}

namespace {

struct LowerElementwise final : impl::LowerElementwiseBase<LowerElementwise> {
  using LowerElementwiseBase::LowerElementwiseBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (auto config = dyn_cast_or_null<ElementwiseAttr>(kernel->getAttr(plan::kConfigAttr)))
        if (failed(verifyKernelFunction(kernel)) ||
            failed(ElementwiseLowering(kernel, config, *arch).run()))
          return signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
