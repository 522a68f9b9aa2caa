//===- AlignOperands.cpp - Give operands of products aligned rows ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy engine takes rows whose distance is a multiple of 16 bytes. An operand whose rows are
// not would have to be brought to shared memory element by element, as often as there are tiles of
// the other operand. Where one copy into wider rows costs less (OperandAlignment.cpp), the product
// reads the first part of each. The length of rows must be known for that, their number need
// not be. Copies of parameters are made once an instance (-xc-hoist-parameters) and cost calls
// nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
#include "compiler/Codegen/CUDA/Matmul/OperandAlignment.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_ALIGNOPERANDS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Rows from which on a line more costs little.
static constexpr int64_t kLongRowBytes = 1024;

static int64_t getElementBytes(RankedTensorType type) { return type.getElementTypeBitWidth() / 8; }

/// Copies `tensor` into rows of aligned distance; returns the first part of each.
static Value alignRows(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t elementBytes = getElementBytes(type), bytes = type.getShape().back() * elementBytes;
  int64_t unit = bytes < kLongRowBytes ? kRowBytes : kLineBytes;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = llvm::alignTo(bytes, unit) / elementBytes;
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)),
      high = low, ones(type.getRank(), builder.getIndexAttr(1));
  high.back() = builder.getIndexAttr(shape.back() - type.getShape().back());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  auto wide = RankedTensorType::get(shape, type.getElementType());
  Value padded = tensor::PadOp::create(builder, loc, wide, tensor, low, high, zero);
  return tensor::ExtractSliceOp::create(builder, loc, type, padded, low,
                                        tensor::getMixedSizes(builder, loc, tensor), ones);
}

namespace {

struct AlignOperands final : impl::AlignOperandsBase<AlignOperands> {
  using AlignOperandsBase::AlignOperandsBase;

  void runOnOperation() override {
    const Target *target = findTarget(getOperation());
    if (!target || !wgmma)
      return;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
      align(op, *target);
  }

  static void align(linalg::ContractOp op, const Target &target) {
    OpBuilder builder(op);
    for (OpOperand *operand : chooseOperandsToAlign(op, target))
      operand->set(alignRows(builder, op.getLoc(), operand->get()));
  }
};

} // namespace

} // namespace xc::cuda
