//===- OrderOperands.cpp - Weights in the order that products read --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product on a CPU packs vectors of neighbouring columns. Where the operand of the columns is a
// parameter that lies along the reduced dim (`x * w^T`, filters of one tap), it is transposed here,
// and the transpose hoisted to the init plan afterwards.
//
// Products of one row stay as they are: each of their sums reads a row of memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_ORDEROPERANDS
#include "compiler/Codegen/CPU/Passes.h.inc"

/// A parameter or constant, or a view of one.
static bool isFixed(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op &&
         (isa<array::ParameterOp, plan::PackedOp>(op) || op->hasTrait<OpTrait::ConstantLike>());
}

/// The order of the dims of |operand| with those of |columns| last; nothing where that is so
/// already, or an index is not one loop.
static SmallVector<int64_t> orderDims(AffineMap map, ArrayRef<unsigned> columns) {
  SmallVector<int64_t> order, last;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return {};
    (llvm::is_contained(columns, loop.getPosition()) ? last : order).push_back(dim);
  }
  bool isOrdered = !last.empty() && last.back() == static_cast<int64_t>(map.getNumResults()) - 1;
  if (isOrdered || last.empty())
    return {};
  llvm::append_range(order, last);
  return order;
}

/// |from| with dim `order[i]` as dim i.
static Value transpose(OpBuilder &builder, Location loc, Value from, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(from.getType());
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), order);
  Value init = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, from, init, order).getResult()[0];
}

/// The input of |op| that belongs to the columns, and the loops of these: those of the result's
/// last dim. Nothing for products of one row.
static std::optional<std::pair<OpOperand *, SmallVector<unsigned>>>
findColumns(linalg::GenericOp op) {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  if (!loops || loops->m.empty() || loops->n.empty())
    return std::nullopt;
  AffineExpr last = op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults().back();
  bool isSwapped =
      llvm::any_of(loops->m, [&](unsigned loop) { return last.isFunctionOfDim(loop); });
  if (isSwapped)
    std::swap(loops->m, loops->n);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::all_of(loops->m, [&](unsigned loop) { return ranges[loop] == 1; }))
    return std::nullopt;
  return std::pair(op.getDpsInputOperand(isSwapped ? 0 : 1), loops->n);
}

static void orderOperand(linalg::GenericOp op) {
  auto found = findColumns(op);
  if (!found)
    return;
  auto [operand, columns] = *found;
  auto type = cast<RankedTensorType>(operand->get().getType());
  SmallVector<int64_t> order = orderDims(op.getMatchingIndexingMap(operand), columns);
  if (order.empty() || !type.hasStaticShape() || !isFixed(operand->get()))
    return;
  OpBuilder builder(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[operand->getOperandNumber()];
  map = AffineMap::get(map.getNumDims(), 0, applyPermutation(map.getResults(), order),
                       op.getContext());
  operand->set(transpose(builder, op.getLoc(), operand->get(), order));
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

namespace {

struct OrderOperands final : impl::OrderOperandsBase<OrderOperands> {
  using OrderOperandsBase::OrderOperandsBase;

  void runOnOperation() override {
    plan::TargetAttr target = plan::getTarget(getOperation());
    if (!target || !target.isCPU())
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (plan::matchProduct(op))
        products.push_back(op);
    });
    for (linalg::LinalgOp op : products) {
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> general = linalg::generalizeNamedOp(rewriter, op);
        if (failed(general))
          continue;
        generic = *general;
      }
      orderOperand(generic);
    }
  }
};

} // namespace
} // namespace xc::cpu
