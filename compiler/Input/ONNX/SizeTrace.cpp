//===- SizeTrace.cpp - Where the size of a dim comes from -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models ask for the shapes of values far from the inputs, and compare and divide what they get.
// Followed back through ops that keep a dim, equal sizes are one value, and cancel.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// A dim of a value, or the size itself where an op was given it.
using Source = std::optional<DimSource>;

static Source dimOf(Value value, int64_t dim) { return DimSource{value, dim, {}}; }

/// The operand in `sizes(...)` for a `?` of the result.
static Source givenSize(RankedTensorType type, int64_t dim, ValueRange sizes) {
  size_t index = llvm::count_if(type.getShape().take_front(dim),
                                [](int64_t size) { return ShapedType::isDynamic(size); });
  if (index >= sizes.size())
    return std::nullopt;
  return DimSource{{}, 0, sizes[index]};
}

/// Of operands that broadcast, the first one whose dim is not known either.
static Source broadcastSource(Operation *op, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t aligned = dim - (rank - type.getRank());
    if (aligned >= 0 && type.isDynamicDim(aligned))
      return dimOf(operand, aligned);
  }
  return std::nullopt;
}

static Source productSource(MatMulOp op, int64_t dim) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  int64_t rank = op.getType().getRank(), rankA = lhs.getRank();
  if (dim == rank - 2)
    return dimOf(op.getLhs(), op.getTransposeA() ? rankA - 1 : rankA - 2);
  int64_t aligned = dim - (rank - rankA);
  if (dim < rank - 2 && aligned >= 0 && lhs.isDynamicDim(aligned))
    return dimOf(op.getLhs(), aligned);
  return std::nullopt;
}

static Source concatenationSource(ConcatenateOp op, int64_t dim) {
  if (dim == int64_t(op.getAxis()))
    return std::nullopt;
  for (Value operand : op.getOperands())
    if (cast<RankedTensorType>(operand.getType()).isDynamicDim(dim))
      return dimOf(operand, dim);
  return std::nullopt;
}

/// Of a slice, where it takes the whole dim.
static Source sliceSource(SliceOp op, int64_t dim) {
  bool isWhole = op.getStarts()[dim] == 0 && ShapedType::isDynamic(op.getLimits()[dim]) &&
                 op.getStrides()[dim] == 1;
  return isWhole ? dimOf(op.getOperand(), dim) : std::nullopt;
}

/// Dims of size 1 at `axes`, which the operand has and the result has not.
static Source squeezeSource(SqueezeOp op, int64_t dim) {
  auto axes = llvm::to_vector(op.getAxes());
  llvm::sort(axes);
  for (int64_t axis : axes)
    dim += axis <= dim;
  return dimOf(op.getOperand(), dim);
}

/// The other way around.
static Source expandSource(ExpandDimsOp op, int64_t dim) {
  int64_t before = llvm::count_if(op.getAxes(), [&](int64_t axis) { return axis < dim; });
  return dimOf(op.getOperand(), dim - before);
}

static Source sourceOf(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  if (isa<ArrayElementwiseOpInterface>(op))
    return broadcastSource(op, dim);
  return llvm::TypeSwitch<Operation *, Source>(op)
      .Case<ReshapeOp, BroadcastInDimOp, IotaOp, DynamicSliceOp>(
          [&](auto sized) { return givenSize(type, dim, sized.getSizes()); })
      .Case<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RmsNormOp, GroupNormOp, BatchNormInferenceOp,
            CumSumOp, ReverseOp, tensor::CastOp>(
          [&](Operation *same) { return dimOf(same->getOperand(0), dim); })
      .Case([&](TransposeOp transpose) {
        return dimOf(transpose.getOperand(), transpose.getPermutation()[dim]);
      })
      .Case([&](TakeOp take) -> Source {
        int64_t axis = take.getAxis();
        int64_t added = cast<RankedTensorType>(take.getIndices().getType()).getRank();
        if (dim < axis)
          return dimOf(take.getOperand(), dim);
        return dim < axis + added ? dimOf(take.getIndices(), dim - axis)
                                  : dimOf(take.getOperand(), dim - added + 1);
      })
      .Case([&](SliceOp slice) { return sliceSource(slice, dim); })
      .Case([&](SqueezeOp squeeze) { return squeezeSource(squeeze, dim); })
      .Case([&](ExpandDimsOp expand) { return expandSource(expand, dim); })
      .Case([&](MatMulOp product) { return productSource(product, dim); })
      .Case([&](ConcatenateOp parts) { return concatenationSource(parts, dim); })
      .Default([](Operation *) { return std::nullopt; });
}

DimSource traceSize(Value value, int64_t dim) {
  DimSource source{value, dim, {}};
  while (Source next = sourceOf(source.value, source.dim)) {
    if (next->size)
      return *next;
    // A dim that an op knows better than its result is no `?`.
    if (!cast<RankedTensorType>(next->value.getType()).isDynamicDim(next->dim))
      return source;
    source = *next;
  }
  return source;
}

} // namespace xc::onnx
