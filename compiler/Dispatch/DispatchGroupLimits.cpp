//===- DispatchGroupLimits.cpp - How large a group of ops may become ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchGroupLimits.h"

#include "compiler/Dialect/Array/IR/Sizes.h"

using namespace mlir;

namespace xc::plan {

/// Elements that one workgroup may have to go through alone when a group has no rows left.
static constexpr int64_t kMaxSerialElements = 16384;

unsigned getCost(ArrayRef<Operation *> ops) {
  unsigned cost = 0;
  for (Operation *op : ops)
    cost += getBodyCost(op);
  return cost;
}

SmallVector<Value> getUsedValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          values.push_back(operand);
    });
  return values;
}

bool isElementwise(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumParallelLoops() == linalgOp.getNumLoops();
}

bool isSmall(linalg::LinalgOp op, llvm::function_ref<bool(unsigned)> isShared) {
  int64_t count = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (isShared(loop))
      continue;
    if (ShapedType::isDynamic(size))
      return false;
    count = array::multiplyKnown({count, size});
  }
  return count <= kMaxSerialElements;
}

bool isSmallBeside(const DispatchGroup &group, llvm::function_ref<bool(int)> isKept) {
  return llvm::all_of(group.ops, [&](Operation *op) {
    auto rows = group.rowOfLoop.find(op);
    return isSmall(cast<linalg::LinalgOp>(op), [&](unsigned loop) {
      return rows != group.rowOfLoop.end() && rows->second[loop] >= 0 && isKept(rows->second[loop]);
    });
  });
}

bool reducesInnermost(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() == 0)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  bool seenReduction = false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return false;
    bool isReduction = iterators[loop.getPosition()] == utils::IteratorType::reduction;
    if (seenReduction && !isReduction)
      return false;
    seenReduction |= isReduction;
  }
  return true;
}

} // namespace xc::plan
