//===- Placement.cpp - Where tensors lie in the loops of a reduction ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/Placement.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;

namespace xc::codegen {

using Exprs = Placement::Exprs;

Placement::Placement(ArrayRef<Operation *> ops, linalg::LinalgOp root)
    : ops(ops), root(root), context(root.getContext()) {
  Exprs dims;
  for (unsigned dim = 0; dim < root.getNumLoops(); ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  placeOp(root, dims);
}

bool Placement::place(Value tensor, Exprs coords) {
  for (AffineExpr &coord : coords)
    coord = simplifyAffineExpr(coord, root.getNumLoops(), 0);
  return tensors.try_emplace(tensor, std::move(coords)).second;
}

void Placement::placeOp(linalg::LinalgOp op, Exprs opLoops) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      place(operand.get(),
            llvm::map_to_vector(op.getMatchingIndexingMap(&operand).getResults(),
                                [&](AffineExpr expr) { return expr.replaceDims(opLoops); }));
  for (OpResult result : op->getResults())
    place(result, llvm::map_to_vector(op.getIndexingMapMatchingResult(result).getResults(),
                                      [&](AffineExpr expr) { return expr.replaceDims(opLoops); }));
  loops[op] = std::move(opLoops);
}

bool Placement::visit(linalg::LinalgOp op) {
  if (loops.contains(op))
    return false;
  Exprs opLoops(op.getNumLoops());
  auto learn = [&](Value tensor, AffineMap map) {
    if (const Exprs *coords = find(tensor))
      for (auto [coord, expr] : llvm::zip_equal(*coords, map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          // Two loops of one index would go over a diagonal of what the op computes.
          if (!opLoops[dim.getPosition()] &&
              (isa<AffineConstantExpr>(coord) || !llvm::is_contained(opLoops, coord)))
            opLoops[dim.getPosition()] = coord;
  };
  for (OpResult result : op->getResults())
    learn(result, op.getIndexingMapMatchingResult(result));
  // What a reduction feeds has one place; an input may be read at several: x + x * w of squares.
  for (bool isFed : {true, false})
    for (OpOperand &operand : op->getOpOperands())
      // An empty tensor may initialise ops of different places.
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !operand.get().getDefiningOp<tensor::EmptyOp>() &&
          dependsOnReduction(operand.get()) == isFed)
        learn(operand.get(), op.getMatchingIndexingMap(&operand));
  // A loop of one iteration has but one index.
  for (auto [loop, range] : llvm::zip_equal(opLoops, op.getStaticLoopRanges()))
    if (!loop && range == 1)
      loop = getAffineConstantExpr(0, context);
  if (llvm::is_contained(opLoops, AffineExpr()))
    return false;
  placeOp(op, std::move(opLoops));
  return true;
}

/// Row-major position of `coords` in `shape`, whose sizes but the first have to be static; null if
/// not.
static AffineExpr linearize(ArrayRef<AffineExpr> coords, ArrayRef<int64_t> shape,
                            MLIRContext *context) {
  AffineExpr position = getAffineConstantExpr(0, context);
  for (auto [index, coord] : llvm::enumerate(coords)) {
    if (index > 0 && ShapedType::isDynamic(shape[index]))
      return nullptr;
    position = (index > 0 ? position * shape[index] : position) + coord;
  }
  return position;
}

static bool delinearize(AffineExpr position, ArrayRef<int64_t> shape, Exprs &coords) {
  size_t start = coords.size();
  coords.resize(start + shape.size());
  for (size_t i = shape.size(); i > 0; --i) {
    if (i > 1 && ShapedType::isDynamic(shape[i - 1]))
      return false;
    coords[start + i - 1] = i > 1 ? position % shape[i - 1] : position;
    if (i > 1)
      position = position.floorDiv(shape[i - 1]);
  }
  // A leading dim of size 1 has index 0 whatever its expression says.
  for (auto [coord, size] : llvm::zip_equal(MutableArrayRef(coords).drop_front(start), shape))
    if (size == 1)
      coord = getAffineConstantExpr(0, position.getContext());
  return true;
}

static Exprs collapse(ArrayRef<AffineExpr> coords, ArrayRef<int64_t> shape,
                      ArrayRef<ReassociationIndices> groups, MLIRContext *context) {
  Exprs result;
  for (const ReassociationIndices &group : groups) {
    AffineExpr position = linearize(coords.slice(group.front(), group.size()),
                                    shape.slice(group.front(), group.size()), context);
    if (!position)
      return {};
    result.push_back(position);
  }
  return result;
}

static Exprs expand(ArrayRef<AffineExpr> coords, ArrayRef<int64_t> shape,
                    ArrayRef<ReassociationIndices> groups) {
  Exprs result;
  for (auto [coord, group] : llvm::zip_equal(coords, groups)) {
    // Where only one size is not 1, that dim is the whole group, whatever its size.
    SmallVector<int64_t> sizes(shape.slice(group.front(), group.size()));
    if (llvm::count_if(sizes, [](int64_t size) { return size != 1; }) == 1) {
      for (int64_t size : sizes)
        result.push_back(size == 1 ? getAffineConstantExpr(0, coord.getContext()) : coord);
    } else if (!delinearize(coord, sizes, result)) {
      return {};
    }
  }
  return result;
}

bool Placement::placeBesideRoot() {
  for (Operation *op : ops) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumReductionLoops() == 0 || loops.contains(op) ||
        linalgOp.getIteratorTypesArray() != root.getIteratorTypesArray() ||
        linalgOp.getIndexingMapsArray() != root.getIndexingMapsArray() ||
        linalgOp.getStaticLoopRanges() != root.getStaticLoopRanges() ||
        llvm::is_contained(root.getStaticLoopRanges(), ShapedType::kDynamic))
      continue;
    placeOp(linalgOp, loops[root]);
    return true;
  }
  return false;
}

bool Placement::visit(tensor::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (groups.empty())
    return false;
  if (const Exprs *source = find(op.getSrc()); source && !find(op.getResult()))
    if (Exprs coords = expand(*source, shape, groups); !coords.empty())
      return place(op.getResult(), coords);
  if (const Exprs *result = find(op.getResult()); result && !find(op.getSrc()))
    if (Exprs coords = collapse(*result, shape, groups, context); !coords.empty())
      return place(op.getSrc(), coords);
  return false;
}

bool Placement::visit(tensor::CollapseShapeOp op) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (groups.empty())
    return false;
  if (const Exprs *source = find(op.getSrc()); source && !find(op.getResult()))
    if (Exprs coords = collapse(*source, shape, groups, context); !coords.empty())
      return place(op.getResult(), coords);
  if (const Exprs *result = find(op.getResult()); result && !find(op.getSrc()))
    if (Exprs coords = expand(*result, shape, groups); !coords.empty())
      return place(op.getSrc(), coords);
  return false;
}

bool Placement::dependsOnReduction(Value tensor) {
  if (auto known = dependent.find(tensor); known != dependent.end())
    return known->second;
  Operation *op = tensor.getDefiningOp();
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  bool result = linalgOp && linalgOp.getNumReductionLoops() > 0;
  if (op && !result)
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          result |= dependsOnReduction(operand);
    });
  return dependent[tensor] = result;
}

bool Placement::isConsistent(linalg::LinalgOp op) {
  auto agrees = [&](Value tensor, AffineMap map) {
    const Exprs *coords = find(tensor);
    return coords && llvm::all_of(llvm::zip_equal(*coords, map.getResults()), [&](auto pair) {
             auto [coord, expr] = pair;
             return coord == simplifyAffineExpr(expr.replaceDims(loops[op]), root.getNumLoops(), 0);
           });
  };
  bool gathers = false;
  op.getBlock()->walk(
      [&](tensor::ExtractOp extract) { gathers |= dependsOnReduction(extract.getTensor()); });
  if (gathers)
    return false;
  for (OpResult result : op->getResults())
    if (dependsOnReduction(result) && !agrees(result, op.getIndexingMapMatchingResult(result)))
      return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return !isa<RankedTensorType>(operand.get().getType()) || !dependsOnReduction(operand.get()) ||
           agrees(operand.get(), op.getMatchingIndexingMap(&operand));
  });
}

LogicalResult Placement::run(std::string &reason) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : ops) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        changed |= visit(linalgOp);
      else if (auto expandOp = dyn_cast<tensor::ExpandShapeOp>(op))
        changed |= visit(expandOp);
      else if (auto collapseOp = dyn_cast<tensor::CollapseShapeOp>(op))
        changed |= visit(collapseOp);
    }
    changed = changed || placeBesideRoot();
  }
  for (Operation *op : ops) {
    if (op->getNumResults() == 0 || !dependsOnReduction(op->getResult(0)))
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isView = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) && find(op->getResult(0));
    if (!isView && (!linalgOp || !loops.contains(op) || !isConsistent(linalgOp))) {
      reason = ("'" + op->getName().getStringRef() +
                "' does not fit the iteration space of the reduction")
                   .str();
      return failure();
    }
  }
  return success();
}

} // namespace xc::codegen
