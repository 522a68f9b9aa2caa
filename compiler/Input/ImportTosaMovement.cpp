//===- ImportTosaMovement.cpp - TOSA ops that move elements ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

/// `list` where every number is at least `least`.
static FailureOr<SmallVector<int64_t>> getList(Operation *op, Value shape, StringRef name,
                                               int64_t least) {
  SmallVector<int64_t> list = getShape(shape);
  for (int64_t number : list)
    if (number < least)
      return op->emitError() << "'" << op->getName() << "' has the " << name << " " << number
                             << "; expected at least " << least;
  return list;
}

static Result convertPad(tosa::PadOp op, ExpressionBuilder &e) {
  FailureOr<SmallVector<int64_t>> padding = getList(op, op.getPadding(), "padding", 0);
  if (failed(padding))
    return failure();
  SmallVector<int64_t> low, high;
  for (size_t i = 0; i < padding->size(); i += 2) {
    low.push_back((*padding)[i]);
    high.push_back((*padding)[i + 1]);
  }
  Value value = reshapeTo(e, op.getPadConst(), {});
  return SmallVector<Value>{e.make<PadOp>(op.getInput1(), value, low, high, DenseI64ArrayAttr())};
}

/// The result's type says all sizes, or all but one, which the number of elements gives.
static Result convertReshape(tosa::ReshapeOp op, ExpressionBuilder &e) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<SmallVector<int64_t>> shape = getList(op, op.getShape(), "shape", -1);
  if (failed(shape))
    return failure();
  for (int64_t &size : *shape)
    if (size == -1)
      size = ShapedType::kDynamic;
  auto wanted = RankedTensorType::get(*shape, type.getElementType());
  if (type.hasStaticShape())
    wanted = type;
  return SmallVector<Value>{e.make<ReshapeOp>(wanted, op.getInput1(), ValueRange())};
}

static Result convertSlice(tosa::SliceOp op, ExpressionBuilder &e) {
  FailureOr<SmallVector<int64_t>> starts = getList(op, op.getStart(), "start", 0);
  FailureOr<SmallVector<int64_t>> sizes = getList(op, op.getSize(), "size", 0);
  if (failed(starts) || failed(sizes))
    return failure();
  SmallVector<int64_t> limits;
  for (auto [start, size] : llvm::zip_equal(*starts, *sizes))
    limits.push_back(start + size);
  SmallVector<int64_t> strides(starts->size(), 1);
  return SmallVector<Value>{e.make<SliceOp>(op.getInput1(), *starts, limits, strides)};
}

static Result convertTile(tosa::TileOp op, ExpressionBuilder &e) {
  FailureOr<SmallVector<int64_t>> multiples = getList(op, op.getMultiples(), "multiples", 0);
  if (failed(multiples))
    return failure();
  return SmallVector<Value>{e.make<TileOp>(op.getInput1(), *multiples)};
}

static Value convertTranspose(tosa::TransposeOp op, ExpressionBuilder &e) {
  return e.make<TransposeOp>(op.getInput1(), SmallVector<int64_t>(op.getPerms()));
}

/// From `indices` of shape N x W pairs of the batch and the index, N x W x 2.
static Value pairWithBatch(ExpressionBuilder &e, Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  auto wide =
      RankedTensorType::get({type.getDimSize(0), type.getDimSize(1), 1}, type.getElementType());
  Value batch = e.make<IotaOp>(wide, ValueRange(e.dynamicSizes(indices)), uint64_t(0));
  Value index = e.make<ExpandDimsOp>(indices, ArrayRef<int64_t>{2});
  return e.make<ConcatenateOp>(ValueRange{batch, index}, uint64_t(2));
}

static constexpr int64_t kBatchAndRow[] = {0, 1};

Replacement convertMovement(Operation *op, ExpressionBuilder &e) {
  bool isKnown = true;
  Result result =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](tosa::PadOp o) { return convertPad(o, e); })
          .Case([&](tosa::ReshapeOp o) { return convertReshape(o, e); })
          .Case([&](tosa::SliceOp o) { return convertSlice(o, e); })
          .Case([&](tosa::TileOp o) { return convertTile(o, e); })
          .Case([&](tosa::TransposeOp o) { return SmallVector<Value>{convertTranspose(o, e)}; })
          .Case([&](tosa::ReverseOp o) {
            return SmallVector<Value>{
                e.make<ReverseOp>(o.getInput1(), ArrayRef<int64_t>(int64_t(o.getAxis())))};
          })
          .Case([&](tosa::ConcatOp o) {
            return SmallVector<Value>{
                e.make<ConcatenateOp>(ValueRange(o.getInput1()), uint64_t(o.getAxis()))};
          })
          .Case([&](tosa::GatherOp o) {
            return SmallVector<Value>{e.make<GatherOp>(
                o.getValues(), pairWithBatch(e, o.getIndices()), ArrayRef(kBatchAndRow))};
          })
          .Case([&](tosa::ScatterOp o) {
            return SmallVector<Value>{e.make<ScatterOp>(
                ScatterKind::Set, o.getValuesIn(), pairWithBatch(e, o.getIndices()), o.getInput(),
                ArrayRef(kBatchAndRow), /*unique=*/true)};
          })
          .Default([&](Operation *) {
            isKnown = false;
            return failure();
          });
  return isKnown ? Replacement(std::move(result)) : std::nullopt;
}

} // namespace xc::tosa_import
