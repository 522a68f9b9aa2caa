//===- FixedOps.cpp - What depends on parameters and constants alone ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/FixedOps.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace xc::plan {

bool isConstantTensor(Operation *op) {
  DenseElementsAttr elements;
  return op->hasTrait<OpTrait::ConstantLike>() &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         !(matchPattern(op, m_Constant(&elements)) && elements.isSplat());
}

/// Ops that compute the same whenever they run. Kernels of the program's own are left where the
/// program has them.
static bool isMovable(Operation *op) {
  bool isKnown =
      isa<linalg::LinalgOp, tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
          tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::PadOp, tensor::CastOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>() ||
      (isa_and_present<kernel::KernelDialect>(op->getDialect()) && !isa<kernel::CustomOp>(op));
  return isKnown && isMemoryEffectFree(op) && llvm::all_of(op->getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return !isa<TensorType>(type) || (tensor && tensor.hasStaticShape());
         });
}

SmallVector<Value> getOperandsAndCaptures(Operation *op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, captured);
  return values;
}

bool FixedOps::isRoot(Operation *op) {
  return isa<array::ParameterOp, PackedOp>(op) || isConstantTensor(op);
}

FixedOps::FixedOps(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isRoot(&op)) {
      fixed[&op].insert(op.getResult(0));
      continue;
    }
    if (!isMovable(&op))
      continue;
    Roots roots;
    bool isFixed = llvm::all_of(getOperandsAndCaptures(&op), [&](Value operand) {
      Operation *definition = operand.getDefiningOp();
      auto it = definition ? fixed.find(definition) : fixed.end();
      if (it == fixed.end())
        return false;
      roots.insert_range(it->second);
      return true;
    });
    if (isFixed)
      fixed[&op] = std::move(roots);
  }
}

} // namespace xc::plan
