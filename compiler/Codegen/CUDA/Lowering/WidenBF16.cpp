//===- WidenBF16.cpp - bf16 to f32 by one instruction each ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bf16 is the upper half of an f32. Of two that share a register one is shifted up, and the other
// has what is below it cleared. ptxas first takes the halves apart, which is a third instruction
// for each pair.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_WIDENBF16
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// True if `op` widens pairs that are in registers as such, not put together of single numbers.
static bool widensPairs(arith::ExtFOp op) {
  auto type = dyn_cast<VectorType>(op.getIn().getType());
  if (!type || type.getRank() != 1 || type.isScalable() || type.getNumElements() % 2 != 0)
    return false;
  return type.getElementType().isBF16() && getElementTypeOrSelf(op.getType()).isF32() &&
         !op.getIn().getDefiningOp<vector::BroadcastOp>() &&
         !op.getIn().getDefiningOp<vector::FromElementsOp>();
}

static Value widen(OpBuilder &builder, Location loc, Value pairs, VectorType type) {
  int64_t count = type.getNumElements() / 2;
  auto words = VectorType::get(count, builder.getI32Type()),
       halves = VectorType::get(count, type.getElementType());
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(words, value));
  };
  Value both = vector::BitCastOp::create(builder, loc, words, pairs);
  Value lower = arith::ShLIOp::create(builder, loc, both, constant(16));
  Value upper =
      arith::AndIOp::create(builder, loc, both, constant(static_cast<int32_t>(0xffff0000u)));
  return vector::InterleaveOp::create(builder, loc,
                                      arith::BitcastOp::create(builder, loc, halves, lower),
                                      arith::BitcastOp::create(builder, loc, halves, upper));
}

namespace {

struct WidenBF16 final : impl::WidenBF16Base<WidenBF16> {
  void runOnOperation() override {
    getOperation().walk([](arith::ExtFOp op) {
      if (!widensPairs(op))
        return;
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          widen(builder, op.getLoc(), op.getIn(), cast<VectorType>(op.getType())));
      op.erase();
    });
  }
};

} // namespace

} // namespace xc::cuda
