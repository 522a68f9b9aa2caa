//===- ImportMovement.cpp - StableHLO ops that move elements --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Result types are those that the program says: the array ops' verifiers look at them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

static Result convertBroadcast(shlo::BroadcastInDimOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> dims = shlo::getNumbers(op.getBroadcastDimensions());
  auto type = typeOf(op.getResult()), from = typeOf(op.getOperand());
  if (const char *reason = whyNotBroadcast(from, dims, type))
    return Result::refuse(reason);
  return broadcastTo(e, op.getOperand(), dims, type.getShape());
}

static Result convertBroadcast(shlo::BroadcastOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> shape = shlo::getNumbers(op.getBroadcastSizes());
  int64_t added = shape.size();
  auto from = typeOf(op.getOperand());
  llvm::append_range(shape, from.getShape());
  if (typeOf(op.getResult()).getShape() != ArrayRef(shape))
    return Result::refuse("its result has not the sizes that are added to the operand's");
  return broadcastTo(e, op.getOperand(), llvm::to_vector(llvm::seq<int64_t>(added, shape.size())),
                     shape);
}

static Result convertTranspose(shlo::TransposeOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> permutation = shlo::getNumbers(op.getPermutation());
  int64_t rank = typeOf(op.getOperand()).getRank();
  if (static_cast<int64_t>(permutation.size()) != rank || !areDims(permutation, rank))
    return Result::refuse("its dims are no permutation of the operand's");
  return transpose(e, op.getOperand(), permutation);
}

static Result convertReverse(shlo::ReverseOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> dims = shlo::getNumbers(op.getDimensions());
  if (!areDims(dims, typeOf(op.getOperand()).getRank()))
    return Result::refuse("its dims are no different dims of the operand");
  llvm::sort(dims);
  return dims.empty() ? Result(op.getOperand()) : Result(e.make<ReverseOp>(op.getOperand(), dims));
}

static Result convertIota(shlo::IotaOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getOutput());
  uint64_t dim = op.getIotaDimension();
  if (dim >= static_cast<uint64_t>(type.getRank()))
    return Result::refuse("its dim is none of the result's");
  if (type.getElementType().isInteger(1))
    return Result::refuse("it counts in truth values");
  return iota(e, type.getShape(), type.getElementType(), dim);
}

static Result convertReshape(shlo::ReshapeOp op, ExpressionBuilder &e) {
  auto from = typeOf(op.getOperand()), to = typeOf(op.getResult());
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return Result::refuse("its result has other elements than its operand");
  return reshapeTo(e, op.getOperand(), to.getShape());
}

static Result convertSlice(shlo::SliceOp op, ExpressionBuilder &e) {
  SmallVector<int64_t> starts = shlo::getNumbers(op.getStartIndices()),
                       limits = shlo::getNumbers(op.getLimitIndices()),
                       strides = shlo::getNumbers(op.getStrides());
  for (auto [start, limit, size] :
       llvm::zip_equal(starts, limits, typeOf(op.getOperand()).getShape()))
    if (start > limit || limit > size)
      return Result::refuse("its bounds are not those of a part of the operand");
  return slice(e, op.getOperand(), starts, limits, strides);
}

static Result convertConcatenate(shlo::ConcatenateOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getResult());
  int64_t dim = op.getDimension(), total = 0;
  if (op.getInputs().empty() || dim < 0 || dim >= type.getRank())
    return Result::refuse("its dim is none of the result's");
  for (Value input : op.getInputs()) {
    auto each = typeOf(input);
    SmallVector<int64_t> shape(each.getShape());
    if (each.getRank() != type.getRank() || each.getElementType() != type.getElementType())
      return Result::refuse("its operands differ in rank or element type");
    if (ShapedType::isDynamic(shape[dim]) && !type.isDynamicDim(dim))
      return Result::refuse("its result has a size that its operands have not");
    total += ShapedType::isDynamic(shape[dim]) ? 0 : shape[dim];
    shape[dim] = type.getDimSize(dim);
    if (ArrayRef(shape) != type.getShape())
      return Result::refuse("its operands differ in more than the size of one dim");
  }
  if (!type.isDynamicDim(dim) && total != type.getDimSize(dim))
    return Result::refuse("its result has not the size of all operands");
  return e.make<ConcatenateOp>(type, op.getInputs(), uint64_t(dim));
}

/// Starts of a box are one type of integers of rank 0.
static bool areStarts(ValueRange starts) {
  return llvm::all_of(starts, [](Value start) {
    return typeOf(start).getRank() == 0 && isa<IntegerType>(elementOf(start)) && !isTruth(start);
  });
}

static Result convertDynamicSlice(shlo::DynamicSliceOp op, ExpressionBuilder &e) {
  if (!areStarts(op.getStartIndices()))
    return Result::refuse("its start indices are no integers of rank 0");
  for (auto [size, whole] :
       llvm::zip_equal(typeOf(op.getResult()).getShape(), typeOf(op.getOperand()).getShape()))
    if (size > whole)
      return Result::refuse("its sizes are larger than the operand's");
  if (typeOf(op.getOperand()).getRank() == 0)
    return Result(op.getOperand());
  return e.make<DynamicSliceOp>(op.getResult().getType(), op.getOperand(), op.getStartIndices(),
                                ValueRange());
}

static Result convertDynamicUpdate(shlo::DynamicUpdateSliceOp op, ExpressionBuilder &e) {
  auto type = typeOf(op.getOperand()), update = typeOf(op.getUpdate());
  if (!areStarts(op.getStartIndices()) ||
      static_cast<int64_t>(op.getStartIndices().size()) != type.getRank())
    return Result::refuse("its start indices are no integer of rank 0 for each dim");
  if (update.getRank() != type.getRank() || update.getElementType() != type.getElementType())
    return Result::refuse("its update differs from the operand in rank or element type");
  for (auto [size, whole] : llvm::zip_equal(update.getShape(), type.getShape()))
    if (size > whole)
      return Result::refuse("its update is larger than the operand");
  if (type.getRank() == 0)
    return Result(op.getUpdate());
  return e.make<DynamicUpdateSliceOp>(op.getOperand(), op.getUpdate(), op.getStartIndices());
}

Replacement convertMovement(Operation *op, ExpressionBuilder &e) {
  bool isKnown = true;
  Result result =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](shlo::ConstantOp o) { return Result(e.make<ConstantOp>(o.getValue())); })
          .Case([&](shlo::BroadcastInDimOp o) { return convertBroadcast(o, e); })
          .Case([&](shlo::BroadcastOp o) { return convertBroadcast(o, e); })
          .Case([&](shlo::TransposeOp o) { return convertTranspose(o, e); })
          .Case([&](shlo::ReverseOp o) { return convertReverse(o, e); })
          .Case([&](shlo::IotaOp o) { return convertIota(o, e); })
          .Case([&](shlo::ReshapeOp o) { return convertReshape(o, e); })
          .Case([&](shlo::SliceOp o) { return convertSlice(o, e); })
          .Case([&](shlo::PadOp o) {
            return Result(padAndCut(e, o.getOperand(), o.getPaddingValue(),
                                    shlo::getNumbers(o.getEdgePaddingLow()),
                                    shlo::getNumbers(o.getEdgePaddingHigh()),
                                    shlo::getNumbers(o.getInteriorPadding())));
          })
          .Case([&](shlo::ConcatenateOp o) { return convertConcatenate(o, e); })
          .Case([&](shlo::DynamicSliceOp o) { return convertDynamicSlice(o, e); })
          .Case([&](shlo::DynamicUpdateSliceOp o) { return convertDynamicUpdate(o, e); })
          .Default([&](Operation *) {
            isKnown = false;
            return Result::refuse("");
          });
  return isKnown ? Replacement(std::move(result)) : std::nullopt;
}

} // namespace xc::stablehlo_import
