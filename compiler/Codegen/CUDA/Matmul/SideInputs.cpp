//===- SideInputs.cpp - What each output has an element of ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Model and emission ask here which inputs of an epilogue are as large as the outputs, and which of
// them may come through the ring (WGMMASideInputs.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/SideInputs.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::cuda {

/// The op that reads `value` element by element, each at the place of its own result: the only one
/// beside reductions of rows or columns in parts, which read it at the same places. Null if there
/// is none.
static Operation *getReader(Value value, const ReductionGroup &group) {
  Operation *reader = nullptr;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto op = dyn_cast<linalg::LinalgOp>(user);
    auto isOf = [&](const auto &part) { return part.member.combiner.getOp() == user; };
    bool isPart = llvm::any_of(group.rowParts, isOf) || llvm::any_of(group.columnParts, isOf);
    if (isPart && op.getMatchingIndexingMap(&use).isIdentity())
      continue;
    bool isView = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user);
    bool isElementwise =
        op && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
        op.getMatchingIndexingMap(&use) == op.getIndexingMapMatchingResult(op->getResult(0));
    if (reader || !(isView || isElementwise))
      return nullptr;
    reader = user;
  }
  return reader;
}

/// Whether elements of `tensor` are for the outputs at their own places alone: a tensor plus its
/// transpose is read at two.
static bool isReadInPlace(Value tensor, Value output, const ReductionGroup &group) {
  while (tensor != output) {
    Operation *reader = getReader(tensor, group);
    if (!reader)
      return false;
    tensor = reader->getResult(0);
  }
  return true;
}

bool isSideInput(const Contraction &contraction, const ReductionGroup::Input &input) {
  ArrayRef<ReductionGroup::Result> results = contraction.group.results;
  if (results.empty())
    return false;
  auto uses = [](ArrayRef<AffineExpr> coords, unsigned dim) {
    return llvm::any_of(coords, [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
  };
  SmallVector<int64_t> ranges = contraction.getOp().getStaticLoopRanges();
  for (auto [dim, range] : llvm::enumerate(ranges))
    if (range != 1 && uses(results.front().coords, dim) && !uses(input.coords, dim))
      return false;
  return true;
}

std::optional<TiledAccess> matchSideInput(const Contraction &contraction,
                                          const ReductionGroup::Input &input, KernelSizes &sizes) {
  const ReductionGroup &group = contraction.group;
  std::string reason;
  std::optional<TiledAccess> access = matchTiledInput(contraction, input, sizes, reason);
  Type operandType = getElementTypeOrSelf(contraction.a.operand->get());
  if (!access || access->dims.back().group != TiledAccess::Group::N ||
      input.coords != group.results.front().coords ||
      input.getMemoryType().getElementType() != operandType ||
      !isReadInPlace(input.tensor, group.results.front().output.tensor, group))
    return std::nullopt;
  return access;
}

void describeSideInputs(MatmulProblem &problem, const Contraction &contraction,
                        KernelSizes &sizes) {
  problem.sideBytes = problem.sideInputs = 0;
  for (const ReductionGroup::Input &input : contraction.group.reducedInputs) {
    if (!isSideInput(contraction, input))
      continue;
    problem.sideBytes += getElementBytes(input.getMemoryType().getElementType());
    problem.sideInputs += problem.isStaged && problem.elementBytes == 2 && problem.isKContiguousA &&
                          !problem.isByThreads() &&
                          matchSideInput(contraction, input, sizes).has_value();
  }
}

} // namespace xc::cuda
