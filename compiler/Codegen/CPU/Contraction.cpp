//===- Contraction.cpp - Matrix products in kernels -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Contraction.h"

#include "compiler/Codegen/Common/Placement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {

std::optional<plan::MultiplyAdd> matchMultiplyAdd(linalg::GenericOp op) {
  std::optional<plan::MultiplyAdd> body = plan::matchMultiplyAdd(op);
  if (!body || !body->hasOnlyCasts<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp,
                                   arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp>())
    return std::nullopt;
  return body;
}

/// True if neighbours in memory of both operands and of the result are of different products, as
/// those of channels that are convolved one by one: then lanes go along these.
static bool isBatchInnermost(linalg::GenericOp op, ArrayRef<unsigned> batch) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    for (AffineExpr expr : llvm::reverse(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || ranges[loop.getPosition()] != 1)
        return loop && llvm::is_contained(batch, loop.getPosition());
    }
    return false;
  });
}

FailureOr<ContractionLoops> matchContraction(linalg::GenericOp op) {
  std::optional<plan::ProductLoops> roles = plan::matchProduct(op);
  if (!roles || !matchMultiplyAdd(op) || roles->m.empty() || roles->n.empty() || roles->k.empty())
    return failure();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[2].isProjectedPermutation() || isBatchInnermost(op, roles->batch))
    return failure();
  ContractionLoops loops{*roles};
  // Lanes go along the columns, so these are what lies side by side in the result.
  if (llvm::any_of(loops.m, [&](unsigned loop) {
        return maps[2].getResults().back().isFunctionOfDim(loop);
      })) {
    std::swap(loops.m, loops.n);
    std::swap(loops.lhs, loops.rhs);
  }
  loops.m = plan::orderByUse(loops.m, maps[2]);
  loops.n = plan::orderByUse(loops.n, maps[2]);
  loops.k = plan::orderByUse(loops.k, maps[loops.lhs]);
  return loops;
}

/// The ops on tensors of |kernel|, which all serve its results; an update only says where a result
/// goes.
static SmallVector<Operation *> collectTensorOps(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front())
    if (!isa<kernel::UpdateOp>(op) &&
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
      ops.push_back(&op);
  return ops;
}

/// Finds which dim of the product each dim of |root| is, by where the root's elements lie in the
/// product's loops.
static FailureOr<ContractionRoot> analyzeRoot(const Root &root, linalg::GenericOp op,
                                              codegen::Placement &placement, std::string &why) {
  AffineMap map = op.getIndexingMapsArray().back();
  const auto *coords = placement.find(root.value);
  if (!coords || !placement.dependsOnReduction(root.value) ||
      coords->size() != map.getNumResults()) {
    why = "a result does not use the product once, element for element";
    return failure();
  }
  ContractionRoot result{root, SmallVector<unsigned>(map.getNumResults(), map.getNumResults())};
  for (auto [productDim, loop] : llvm::enumerate(map.getResults())) {
    auto dim = llvm::find(*coords, loop);
    if (dim == coords->end()) {
      why = "a result uses the product at indices that are not its own dims";
      return failure();
    }
    result.productDims[dim - coords->begin()] = productDim;
  }
  return result;
}

FailureOr<ContractionKernel> analyzeContraction(func::FuncOp kernel, std::string &why) {
  ContractionKernel result;
  for (auto op : kernel.getOps<linalg::GenericOp>()) {
    if (op.getNumReductionLoops() == 0)
      continue;
    if (result.op) {
      why = "it has more than one reduction";
      return failure();
    }
    result.op = op;
  }
  FailureOr<ContractionLoops> loops = failure();
  if (result.op)
    loops = matchContraction(result.op);
  if (failed(loops)) {
    why = "it has no matrix product";
    return failure();
  }
  result.loops = *loops;
  Value product = result.op->getResult(0);
  codegen::Placement placement(collectTensorOps(kernel), result.op);
  if (failed(placement.run(why)))
    return failure();
  for (const Root &root : collectRoots(kernel)) {
    FailureOr<ContractionRoot> analyzed = analyzeRoot(root, result.op, placement, why);
    if (failed(analyzed))
      return failure();
    result.roots.push_back(std::move(*analyzed));
  }

  MLIRContext *context = kernel.getContext();
  auto summarizeAt = [&](Value value, AffineMap map, AccessSummary &summary) {
    summarize(value, map.getResults(), {}, summary);
    if (summary.unsupported)
      why = llvm::formatv("what feeds the product contains {0}", summary.unsupported->getName());
    return success(!summary.unsupported);
  };
  unsigned numLoops = result.op.getNumLoops(),
           rank = cast<RankedTensorType>(product.getType()).getRank();
  SmallVector<AffineMap> maps = result.op.getIndexingMapsArray();
  result.lhs = result.rhs = AccessSummary(numLoops);
  result.results = AccessSummary(rank);
  unsigned lhs = result.loops.lhs, rhs = result.loops.rhs;
  if (failed(summarizeAt(result.op.getDpsInputs()[lhs], maps[lhs], result.lhs)) ||
      failed(summarizeAt(result.op.getDpsInputs()[rhs], maps[rhs], result.rhs)) ||
      failed(summarizeAt(result.op.getDpsInits()[0],
                         AffineMap::getMultiDimIdentityMap(rank, context), result.results)))
    return failure();
  for (const ContractionRoot &root : result.roots) {
    SmallVector<AffineExpr> dims = llvm::map_to_vector(
        root.productDims, [&](unsigned dim) { return getAffineDimExpr(dim, context); });
    summarize(root.root.value, dims, {product}, result.results);
  }
  if (Operation *op = result.results.unsupported) {
    why = llvm::formatv("what follows the product contains {0}", op->getName());
    return failure();
  }
  return result;
}

AffineMap getPanelMap(ArrayRef<unsigned> batch, unsigned column, ArrayRef<unsigned> reduced,
                      int64_t width, unsigned numLoops, MLIRContext *context) {
  auto dim = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  SmallVector<AffineExpr> exprs = llvm::map_to_vector(batch, dim);
  exprs.push_back(dim(column).floorDiv(width));
  llvm::append_range(exprs, llvm::map_range(reduced, dim));
  exprs.push_back(dim(column) % width);
  return AffineMap::get(numLoops, 0, exprs, context);
}

std::optional<int64_t> getPanelColumns(const ContractionKernel &contraction) {
  linalg::GenericOp op = contraction.op;
  const ContractionLoops &loops = contraction.loops;
  auto memory = op.getDpsInputs()[loops.rhs].getDefiningOp<bufferization::ToTensorOp>();
  AffineMap map = op.getIndexingMapsArray()[loops.rhs];
  if (!memory || loops.n.size() != 1 || map.getNumResults() < 2 ||
      !cast<RankedTensorType>(memory.getType()).hasStaticShape())
    return std::nullopt;
  int64_t width = cast<RankedTensorType>(memory.getType()).getShape().back();
  SmallVector<unsigned> batch = plan::orderByUse(loops.batch, map);
  if (width < 1 ||
      map != getPanelMap(batch, loops.n[0], loops.k, width, op.getNumLoops(), op.getContext()))
    return std::nullopt;
  return width;
}

} // namespace xc::cpu
