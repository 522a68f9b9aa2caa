//===- ImportSizes.cpp - StableHLO ops of sizes that are open -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In StableHLO sizes are data: what get_dimension_size gives, sums and products of that, put side
// by side. Array ops take sizes that the host knows before anything runs. So such data, which has
// been converted already, is followed back to where it comes from, and becomes arithmetic on
// indices.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

namespace {

/// Follows integers back to sizes.
class SizeTrace {
public:
  explicit SizeTrace(ExpressionBuilder &e) : e(e) {}

  /// The elements of a tensor of rank 0 or 1 as indices; nothing where it is no arithmetic on
  /// sizes.
  std::optional<SmallVector<Value>> follow(Value value);

private:
  /// Values that are used often are followed often: more steps than these no program needs.
  static constexpr unsigned kMostSteps = 4096;

  ExpressionBuilder &e;
  unsigned numSteps = 0;

  std::optional<SmallVector<Value>> followArithmetic(Operation *op);
  std::optional<SmallVector<Value>> followConstant(ConstantOp op);
};

} // namespace

std::optional<SmallVector<Value>> SizeTrace::followConstant(ConstantOp op) {
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!elements)
    return std::nullopt;
  SmallVector<Value> sizes;
  for (const APInt &number : elements.getValues<APInt>())
    sizes.push_back(arith::ConstantIndexOp::create(e.getBuilder(), op.getLoc(),
                                                   number.sextOrTrunc(64).getSExtValue()));
  return sizes;
}

std::optional<SmallVector<Value>> SizeTrace::followArithmetic(Operation *op) {
  std::optional<SmallVector<Value>> lhs = follow(op->getOperand(0)), rhs;
  if (lhs)
    rhs = follow(op->getOperand(1));
  if (!rhs || lhs->size() != 1 || rhs->size() != 1)
    return std::nullopt;
  OpBuilder &builder = e.getBuilder();
  Location loc = op->getLoc();
  Value a = lhs->front(), b = rhs->front();
  if (isa<AddOp>(op))
    return SmallVector<Value>{arith::AddIOp::create(builder, loc, a, b)};
  if (isa<SubOp>(op))
    return SmallVector<Value>{arith::SubIOp::create(builder, loc, a, b)};
  if (isa<MulOp>(op))
    return SmallVector<Value>{arith::MulIOp::create(builder, loc, a, b)};
  if (isa<MaxOp>(op))
    return SmallVector<Value>{arith::MaxSIOp::create(builder, loc, a, b)};
  return SmallVector<Value>{arith::MinSIOp::create(builder, loc, a, b)};
}

std::optional<SmallVector<Value>> SizeTrace::follow(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || typeOf(value).getRank() > 1 || !isa<IntegerType>(elementOf(value)) ||
      ++numSteps > kMostSteps)
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return followConstant(constant);
  if (auto size = dyn_cast<FromIndexOp>(op))
    return SmallVector<Value>{size.getOperand()};
  if (isa<ConvertOp, ReshapeOp>(op))
    return isa<RankedTensorType>(op->getOperand(0).getType()) ? follow(op->getOperand(0))
                                                              : std::nullopt;
  if (auto all = dyn_cast<ConcatenateOp>(op)) {
    SmallVector<Value> sizes;
    for (Value part : all.getOperands()) {
      std::optional<SmallVector<Value>> some = follow(part);
      if (!some)
        return std::nullopt;
      sizes.append(*some);
    }
    return sizes;
  }
  if (isa<AddOp, SubOp, MulOp, MaxOp, MinOp>(op))
    return followArithmetic(op);
  return std::nullopt;
}

/// The sizes of the open dims of `type`, whose sizes the tensor `shape` holds.
static std::optional<SmallVector<Value>> getOpenSizes(ExpressionBuilder &e, Value shape,
                                                      RankedTensorType type) {
  std::optional<SmallVector<Value>> all = SizeTrace(e).follow(shape);
  if (!all || static_cast<int64_t>(all->size()) != type.getRank())
    return std::nullopt;
  SmallVector<Value> open;
  for (auto [value, size] : llvm::zip_equal(*all, type.getShape()))
    if (ShapedType::isDynamic(size))
      open.push_back(value);
  return open;
}

static Result refuseSizes() {
  return Result::refuse("its sizes are not sums and products of sizes that are known before "
                        "anything runs");
}

static Result convertBroadcast(shlo::DynamicBroadcastInDimOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> dims = shlo::getNumbers(op.getBroadcastDimensions());
  auto type = typeOf(op.getResult()), from = typeOf(op.getOperand());
  if (const char *reason = whyNotBroadcast(from, dims, type))
    return Result::refuse(reason);
  std::optional<SmallVector<Value>> sizes = getOpenSizes(e, op.getOutputDimensions(), type);
  if (!sizes)
    return refuseSizes();
  return broadcastTo(e, op.getOperand(), dims, type.getShape(), *sizes);
}

static Result convertIota(shlo::DynamicIotaOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getResult());
  uint64_t dim = op.getIotaDimension();
  if (dim >= static_cast<uint64_t>(type.getRank()))
    return Result::refuse("its dim is none of the result's");
  if (type.getElementType().isInteger(1))
    return Result::refuse("it counts in truth values");
  std::optional<SmallVector<Value>> sizes = getOpenSizes(e, op.getOutputShape(), type);
  if (!sizes)
    return refuseSizes();
  return Result(e.make<IotaOp>(type, *sizes, dim));
}

static Result convertReshape(shlo::DynamicReshapeOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getResult());
  if (op.getInputs().size() != 2 || elementOf(op.getInputs()[0]) != type.getElementType())
    return Result::refuse("it has not an operand of the result's elements and a shape");
  std::optional<SmallVector<Value>> sizes = getOpenSizes(e, op.getInputs()[1], type);
  if (!sizes)
    return refuseSizes();
  return Result(e.make<ReshapeOp>(type, op.getInputs()[0], *sizes));
}

static Result convertSize(shlo::GetDimensionSizeOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getOperand());
  uint64_t dim = op.getDimension();
  if (dim >= static_cast<uint64_t>(type.getRank()))
    return Result::refuse("its dim is none of the operand's");
  if (!type.isDynamicDim(dim))
    return Result(e.integer(type.getDimSize(dim), elementOf(op.getResult())));
  Value size = e.make<DimOp>(op.getOperand(), dim);
  return Result(e.make<FromIndexOp>(typeOf(op.getResult()), size));
}

Replacement convertSizes(Operation *op, ExpressionBuilder &e) {
  if (auto broadcast = dyn_cast<shlo::DynamicBroadcastInDimOp>(op))
    return convertBroadcast(broadcast, e);
  if (auto iota = dyn_cast<shlo::DynamicIotaOp>(op))
    return convertIota(iota, e);
  if (auto reshape = dyn_cast<shlo::DynamicReshapeOp>(op))
    return convertReshape(reshape, e);
  if (auto size = dyn_cast<shlo::GetDimensionSizeOp>(op))
    return convertSize(size, e);
  return std::nullopt;
}

bool takesOpenSizes(Operation *op) {
  return op->hasTrait<OpTrait::SameOperandsAndResultShape>() ||
         op->hasTrait<shlo::SameTypeButScales>() ||
         isa<shlo::ClampOp, shlo::CompareOp, shlo::ConcatenateOp, shlo::DotGeneralOp, shlo::DotOp,
             shlo::DynamicBroadcastInDimOp, shlo::DynamicIotaOp, shlo::DynamicReshapeOp,
             shlo::GetDimensionSizeOp, shlo::OptimizationBarrierOp, shlo::ReduceOp, shlo::ReverseOp,
             shlo::SelectOp, shlo::TransposeOp>(op);
}

} // namespace xc::stablehlo_import
