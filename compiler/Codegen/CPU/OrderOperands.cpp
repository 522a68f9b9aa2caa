//===- OrderOperands.cpp - Weights in the order that products read --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product on a CPU packs vectors of neighbouring columns. Where the operand of the columns is a
// parameter that lies along the reduced dim (`x * w^T`, filters of one tap), it is transposed here,
// and the transpose hoisted to the init plan afterwards. Where whole panels of columns fit, they
// are put side by side, as the product's inner loops read them: it then packs nothing on a call.
//
// Products of one row stay as they are: each of their sums reads a row of memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/MatmulTiles.h"
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

namespace {

/// The operand of a product that has its columns.
struct Columns {
  OpOperand *operand;
  plan::ProductLoops loops; // columns: n
  unsigned other;           // the number of the other input
};

} // namespace

/// The input of |op| that belongs to the columns: those of the result's last dim. Nothing for
/// products of one row.
static std::optional<Columns> findColumns(linalg::GenericOp op) {
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
  return Columns{op.getDpsInputOperand(isSwapped ? 0 : 1), *loops, isSwapped ? 1U : 0U};
}

/// Makes |op| read |tensor| by |map| as |operand|.
static void replaceOperand(linalg::GenericOp op, OpOperand *operand, Value tensor, AffineMap map) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand->getOperandNumber()] = map;
  operand->set(tensor);
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

/// The columns that the operand's map has last.
static void orderOperand(linalg::GenericOp op, const Columns &columns) {
  OpOperand *operand = columns.operand;
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<int64_t> order = orderDims(map, columns.loops.n);
  if (order.empty())
    return;
  OpBuilder builder(op);
  Value ordered = transpose(builder, op.getLoc(), operand->get(), order);
  replaceOperand(op, operand, ordered,
                 AffineMap::get(map.getNumDims(), 0, applyPermutation(map.getResults(), order),
                                op.getContext()));
}

/// |from|, read by |map| over the loops of |op|, in the order of |panelMap|.
static Value makePanels(linalg::GenericOp op, Value from, AffineMap map, AffineMap panelMap,
                        int64_t width, unsigned column) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
  // Another operand may know less of the same loops.
  for (auto [expr, size] :
       llvm::zip_equal(map.getResults(), cast<RankedTensorType>(from.getType()).getShape()))
    ranges[cast<AffineDimExpr>(expr).getPosition()] = size;
  // The loops of the copy: the dims of the panels.
  SmallVector<AffineExpr> indexOf(op.getNumLoops());
  unsigned rank = panelMap.getNumResults();
  for (auto [dim, expr] : llvm::enumerate(panelMap.getResults())) {
    AffineExpr index = builder.getAffineDimExpr(dim);
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      indexOf[loop.getPosition()] = index;
      shape.push_back(ranges[loop.getPosition()]);
      continue;
    }
    bool isLast = dim + 1 == rank;
    shape.push_back(isLast ? width : ranges[column] / width);
    indexOf[column] = isLast ? indexOf[column] + index : index * width;
  }
  SmallVector<AffineExpr> read = llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return indexOf[cast<AffineDimExpr>(expr).getPosition()];
  });
  Type element = cast<RankedTensorType>(from.getType()).getElementType();
  Value init = tensor::EmptyOp::create(builder, loc, shape, element);
  SmallVector<AffineMap> maps = {AffineMap::get(rank, 0, read, builder.getContext()),
                                 builder.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto copy =
      linalg::GenericOp::create(builder, loc, init.getType(), from, init, maps, iterators,
                                [](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
                                  linalg::YieldOp::create(body, bodyLoc, arguments[0]);
                                });
  return copy.getResult(0);
}

/// Puts the columns of the operand, which are its last dim, side by side in panels, where these are
/// whole and nothing converts its elements.
static void putIntoPanels(linalg::GenericOp op, const Columns &columns, const Arch &arch) {
  OpOperand *operand = columns.operand;
  AffineMap map = op.getMatchingIndexingMap(operand);
  auto type = cast<RankedTensorType>(operand->get().getType());
  Type element = type.getElementType();
  if (columns.loops.n.size() != 1 || !map.isProjectedPermutation() ||
      element != cast<RankedTensorType>(op->getResult(0).getType()).getElementType())
    return;
  unsigned column = columns.loops.n[0];
  int64_t count = type.getShape().back(),
          width = choosePanelColumns(getLanes(arch, element), count);
  if (count == 0 || count % width != 0)
    return;
  SmallVector<unsigned> reduced = plan::orderByUse(
      columns.loops.k, op.getMatchingIndexingMap(op.getDpsInputOperand(columns.other)));
  AffineMap panelMap = getPanelMap(plan::orderByUse(columns.loops.batch, map), column, reduced,
                                   width, op.getNumLoops(), op.getContext());
  Value panels = makePanels(op, operand->get(), map, panelMap, width, column);
  replaceOperand(op, operand, panels, panelMap);
}

namespace {

struct OrderOperands final : impl::OrderOperandsBase<OrderOperands> {
  using OrderOperandsBase::OrderOperandsBase;

  void runOnOperation() override {
    plan::TargetAttr target = plan::getTarget(getOperation());
    if (!target || !target.isCPU())
      return;
    FailureOr<Arch> arch = lookupArch(target.getArch(), [&] { return getOperation().emitError(); });
    if (failed(arch))
      return signalPassFailure();
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
      std::optional<Columns> columns = findColumns(generic);
      if (!columns || !isFixed(columns->operand->get()) ||
          !cast<RankedTensorType>(columns->operand->get().getType()).hasStaticShape())
        continue;
      orderOperand(generic, *columns);
      putIntoPanels(generic, *columns, *arch);
    }
  }
};

} // namespace
} // namespace xc::cpu
