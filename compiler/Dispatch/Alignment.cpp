//===- Alignment.cpp - Where tensors begin in memory ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers begin at multiples of kBufferAlignment; what begins elsewhere is a slice. Two questions
// are asked: how a view that is bound is aligned, for which formulas of sizes are known, and
// whether rows that a kernel reads through slices of its own are, before there are formulas.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Alignment.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::plan {

int64_t getAlignment(Value tensor, SymbolicDims &dims) {
  int64_t alignment = kBufferAlignment;
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isView(op))
      break;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      auto type = slice.getSourceType();
      int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      FailureOr<SmallVector<FormulaAttr>> shape = dims.getShape(slice.getSource());
      FormulaAttr offset = FormulaAttr::getConstant(op->getContext(), 0);
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        FailureOr<FormulaAttr> start = dims.getFormula(slice.getMixedOffsets()[dim]);
        if (failed(start) || failed(shape))
          return bytes;
        offset = offset * (*shape)[dim] + *start;
      }
      offset = offset * bytes;
      if (offset != FormulaAttr::getConstant(op->getContext(), 0))
        alignment = std::min(alignment, powerOfTwoIn(dims.getRange(offset).divisor));
    }
    tensor = op->getOperand(0);
  }
  // What a region captures may be a view itself.
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      if (auto known = func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kAlignmentAttr))
        alignment = std::min<int64_t>(alignment, known.getInt());
  return alignment;
}

/// Elements of 16 bits in as many bytes as buffers are aligned to.
static constexpr int64_t kStep = kBufferAlignment / 2;

/// Whether `slice` begins a multiple of `kStep` elements behind its source. A part of a view is
/// bound at any place; one that kernels read themselves has to be where they know.
static bool isAligned(tensor::ExtractSliceOp slice) {
  bool isView = isContiguousSlice(slice);
  int64_t stride = 1; // modulo the step
  for (int64_t dim = slice.getSourceType().getRank(); dim-- > 0;) {
    int64_t offset = slice.getStaticOffsets()[dim], size = slice.getSourceType().getDimSize(dim);
    if (ShapedType::isDynamic(offset) && (!isView || stride != 0))
      return false;
    int64_t place = offset % kStep * stride; // in range: both are below the step
    if (!ShapedType::isDynamic(offset) && place % kStep != 0)
      return false;
    if (!ShapedType::isDynamic(size))
      stride = size % kStep * stride % kStep; // in range: both are below the step
  }
  return true;
}

bool hasAlignedRows(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (slice && !isAligned(slice))
      return false;
    if (!slice && !isView(op))
      break;
    tensor = op->getOperand(0);
  }
  return true;
}

} // namespace xc::plan
