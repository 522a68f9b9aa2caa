//===- AlignOperands.cpp - Give operands of products aligned rows ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copy engine takes rows whose distance is a multiple of 16 bytes. An operand whose rows are
// not would have to be brought to shared memory element by element, as often as there are tiles of
// the other operand. Where the product is large, one copy into wider rows costs less: the product
// then reads the first part of each. The length of rows must be known for that, their number need
// not be. Copies of parameters are made once an instance (-xc-hoist-parameters) and cost calls
// nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_ALIGNOPERANDS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// What distances of rows must be multiples of, and what copies are fastest from: whole lines of
/// the cache.
static constexpr int64_t kRowBytes = 16, kLineBytes = 128;
/// Rows from which on a line more costs little.
static constexpr int64_t kLongRowBytes = 1024;
/// Nanoseconds that wgmma saves for each operation: what it does in one and what replaces it does
/// (700 and 330 TFLOP/s on an H200; mma.sync in TF32, and plain instructions for i8).
static constexpr double kHalfGain = 1 / 330e3 - 1 / 700e3, kSingleGain = 1 / 165e3 - 1 / 350e3,
                        kByteGain = 1 / 25e3 - 1 / 1200e3;
/// Bytes a nanosecond of a copy, and the nanoseconds of another launch.
static constexpr double kCopyRate = 2000, kLaunchTime = 2000;

/// Nanoseconds an operation that wgmma saves; 0 if it does not know the types.
static double getGain(linalg::ContractOp op) {
  Type lhs = getElementTypeOrSelf(op.getDpsInputOperand(0)->get()),
       rhs = getElementTypeOrSelf(op.getDpsInputOperand(1)->get());
  if (lhs != rhs)
    return 0;
  if (lhs.isF16() || lhs.isBF16())
    return kHalfGain;
  if (lhs.isF32() && op->hasAttr(plan::kAllowTF32Attr))
    return kSingleGain;
  bool isSigned = op.getCast() == linalg::TypeFn::cast_signed;
  return lhs.isSignlessInteger(8) && isSigned ? kByteGain : 0;
}

static int64_t getElementBytes(RankedTensorType type) { return type.getElementTypeBitWidth() / 8; }

/// The sizes of the loops; symbolic ones are guessed as for the choice of tiles
/// (SelectProductStrategy.cpp).
static SmallVector<double> getSizes(linalg::ContractOp op) {
  constexpr double outer = 4096, summed = 1024;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<double> sizes;
  for (auto [dim, range] : llvm::enumerate(op.getStaticLoopRanges())) {
    bool isBatch =
        llvm::all_of(maps, [loop = dim](AffineMap map) { return map.isFunctionOfDim(loop); });
    double guess = isBatch ? 1 : iterators[dim] == utils::IteratorType::reduction ? summed : outer;
    sizes.push_back(ShapedType::isDynamic(range) ? guess : static_cast<double>(range));
  }
  return sizes;
}

/// The bytes of the operand if its rows need other distances; 0 if they do not, or it has no rows.
static double getUnalignedBytes(linalg::ContractOp op, OpOperand *operand) {
  auto type = cast<RankedTensorType>(operand->get().getType());
  int64_t elementBytes = getElementBytes(type);
  if (type.getRank() < 2 || ShapedType::isDynamic(type.getShape().back()) ||
      type.getShape().back() * elementBytes % kRowBytes == 0)
    return 0;
  SmallVector<double> sizes = getSizes(op);
  double bytes = static_cast<double>(elementBytes);
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
    bytes *= sizes[cast<AffineDimExpr>(expr).getPosition()];
  return bytes;
}

/// Whether threads of the kernel transpose operand A, whose rows then need no alignment: wgmma
/// takes 16 bits across k, other types only along it (see MatmulTile).
static bool turnsFirst(linalg::ContractOp op) {
  if (getElementTypeOrSelf(op.getDpsInputOperand(0)->get()).getIntOrFloatBitWidth() == 16)
    return false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  return llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    auto last = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(operand).getResults().back());
    return !last || iterators[last.getPosition()] == utils::IteratorType::reduction;
  });
}

/// Whether `tensor` is a parameter, or computed of such once an instance.
static bool isFixed(Value tensor) {
  while (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
      tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return isa_and_present<array::ParameterOp, plan::PackedOp>(tensor.getDefiningOp());
}

static double countFlops(linalg::ContractOp op) {
  double flops = 2;
  for (double size : getSizes(op))
    flops *= size;
  return flops;
}

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
    if (!target || !target->hasWGMMA || !wgmma)
      return;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
      align(op);
  }

  void align(linalg::ContractOp op) {
    double gain = getGain(op);
    if (gain == 0)
      return;
    auto operands = op.getDpsInputOperands();
    if (turnsFirst(op)) {
      // Words are transposed: four bytes, or one number of 32 bits; and only of known sizes.
      auto type = cast<RankedTensorType>(operands.front()->get().getType());
      if (llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) ||
          type.getShape().back() * getElementBytes(type) % 4 != 0)
        return;
      operands.erase(operands.begin());
    }
    SmallVector<OpOperand *> found;
    double cost = 0;
    for (OpOperand *operand : operands)
      if (double bytes = getUnalignedBytes(op, operand)) {
        found.push_back(operand);
        if (!isFixed(operand->get()))
          cost += 2 * bytes / kCopyRate + kLaunchTime;
      }
    if (found.empty() || countFlops(op) * gain < cost)
      return;
    OpBuilder builder(op);
    for (OpOperand *operand : found)
      operand->set(alignRows(builder, op.getLoc(), operand->get()));
  }
};

} // namespace

} // namespace xc::cuda
