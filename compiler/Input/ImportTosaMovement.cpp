//===- ImportTosaMovement.cpp - TOSA ops that move elements ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

/// The numbers of `shape`, where those that are known lie in [least, most].
static FailureOr<Numbers> getList(Operation *op, ExpressionBuilder &e, Value shape, StringRef name,
                                  int64_t least, int64_t most = kMostElements) {
  FailureOr<Numbers> numbers = getNumbers(e, shape);
  if (failed(numbers))
    return failure();
  for (OpFoldResult number : *numbers) {
    std::optional<int64_t> known = getConstantIntValue(number);
    if (!known || (*known >= least && *known <= most))
      continue;
    InFlightDiagnostic error = op->emitError()
                               << "'" << op->getName() << "' has the " << name << " " << *known;
    return *known < least ? error << "; expected at least " << least
                          : error << "; expected at most " << most;
  }
  return numbers;
}

/// A type of sizes, and those of them that it does not know.
static RankedTensorType getType(ArrayRef<OpFoldResult> sizes, Type element,
                                SmallVectorImpl<Value> &dynamic) {
  SmallVector<int64_t> shape;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return RankedTensorType::get(shape, element);
}

static Value broadcast(ExpressionBuilder &e, Value value, ArrayRef<OpFoldResult> sizes,
                       ArrayRef<int64_t> axes) {
  SmallVector<Value> dynamic;
  RankedTensorType type = getType(sizes, elementOf(value), dynamic);
  return e.make<BroadcastInDimOp>(type, value, dynamic, axes);
}

static Value reshape(ExpressionBuilder &e, Value value, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  RankedTensorType type = getType(sizes, elementOf(value), dynamic);
  return e.make<ReshapeOp>(type, value, dynamic);
}

/// MLIR's verifier takes a padding of constants only.
static Result convertPad(tosa::PadOp op, ExpressionBuilder &e) {
  FailureOr<Numbers> padding = getList(op, e, op.getPadding(), "padding", 0, kMostAmount);
  if (failed(padding))
    return failure();
  FailureOr<SmallVector<int64_t>> known = getConstants(op, e, op.getPadding(), "padding");
  if (failed(known))
    return failure();
  Value value = reshapeTo(e, op.getPadConst(), {});
  SmallVector<int64_t> low, high;
  for (size_t i = 0; i < known->size(); i += 2) {
    low.push_back((*known)[i]);
    high.push_back((*known)[i + 1]);
  }
  return SmallVector<Value>{e.make<PadOp>(op.getInput1(), value, low, high, DenseI64ArrayAttr())};
}

/// The result's type says all sizes, or the shape does: all, or all but one, which the number of
/// elements gives.
static Result convertReshape(tosa::ReshapeOp op, ExpressionBuilder &e) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<Numbers> sizes = getList(op, e, op.getShape(), "shape", -1);
  if (failed(sizes))
    return failure();
  if (type.hasStaticShape())
    return SmallVector<Value>{e.make<ReshapeOp>(type, op.getInput1(), ValueRange())};
  auto isInferred = [](OpFoldResult size) { return getConstantIntValue(size) == -1; };
  int64_t inferred = llvm::count_if(*sizes, isInferred);
  if (inferred > 1)
    return op.emitError("'tosa.reshape' has a shape with ")
           << inferred << " sizes of -1; expected at most one";
  // One size that is not known is array.reshape's to infer.
  std::optional<SmallVector<int64_t>> known = getConstantIntValues(*sizes);
  if (inferred && known) {
    llvm::replace(*known, int64_t(-1), ShapedType::kDynamic);
    auto wanted = RankedTensorType::get(*known, type.getElementType());
    return SmallVector<Value>{e.make<ReshapeOp>(wanted, op.getInput1(), ValueRange())};
  }
  if (inferred) {
    SizeBuilder sizeBuilder(e.getBuilder(), op.getLoc());
    OpFoldResult count = sizeBuilder.constant(1), others = count;
    for (OpFoldResult size : sizeBuilder.sizes(op.getInput1()))
      count = sizeBuilder.mul(count, size);
    for (OpFoldResult size : *sizes)
      others = isInferred(size) ? others : sizeBuilder.mul(others, size);
    *llvm::find_if(*sizes, isInferred) = sizeBuilder.floorDiv(count, others);
  }
  return SmallVector<Value>{reshape(e, op.getInput1(), *sizes)};
}

/// Requires that the slice lies in its operand: array.dynamic_slice would move it there.
static void requireWithin(tosa::SliceOp op, ExpressionBuilder &e, ArrayRef<OpFoldResult> starts,
                          ArrayRef<OpFoldResult> sizes) {
  SizeBuilder builder(e.getBuilder(), op.getLoc());
  auto require = [&](OpFoldResult left, plan::Comparison comparison, OpFoldResult right,
                     const Twine &what) {
    plan::RequireOp::create(e.getBuilder(), op.getLoc(), builder.value(left), comparison,
                            builder.value(right), ("tosa.slice: expected " + what).str());
  };
  OpFoldResult zero = builder.constant(0);
  for (auto [dim, start, size] : llvm::enumerate(starts, sizes)) {
    if (!getConstantIntValue(start))
      require(start, plan::Comparison::AtLeast, zero, "a start of at least 0 in dim " + Twine(dim));
    if (!getConstantIntValue(size))
      require(size, plan::Comparison::AtLeast, zero, "a size of at least 0 in dim " + Twine(dim));
    require(builder.add(start, size), plan::Comparison::AtMost, builder.size(op.getInput1(), dim),
            "a slice within dim " + Twine(dim) + " of the operand");
  }
}

/// A size of -1 is all that is left of a dim, as tosa's shape inference says.
static constexpr int64_t kRest = -1;

static Result convertSlice(tosa::SliceOp op, ExpressionBuilder &e) {
  FailureOr<Numbers> starts = getList(op, e, op.getStart(), "start", 0);
  if (failed(starts))
    return failure();
  FailureOr<Numbers> sizes = getList(op, e, op.getSize(), "size", kRest);
  if (failed(sizes))
    return failure();
  std::optional<SmallVector<int64_t>> first = getConstantIntValues(*starts),
                                      count = getConstantIntValues(*sizes);
  if (first && count) {
    SmallVector<int64_t> limits;
    for (auto [dim, start, size] : llvm::enumerate(*first, *count)) {
      // Neither is more than kMostElements.
      int64_t limit = *addSizes(start, size == kRest ? 0 : size);
      int64_t room = cast<RankedTensorType>(op.getInput1().getType()).getDimSize(dim);
      if (!ShapedType::isDynamic(room) && limit > room)
        return op.emitError("'tosa.slice' expected a slice within dim ")
               << dim << " of " << op.getInput1().getType() << ", got start " << start
               << " and size " << size;
      limits.push_back(size == kRest ? ShapedType::kDynamic : limit);
    }
    SmallVector<int64_t> strides(first->size(), 1);
    return SmallVector<Value>{e.make<SliceOp>(op.getInput1(), *first, limits, strides)};
  }
  SizeBuilder sizeBuilder(e.getBuilder(), op.getLoc());
  for (auto [dim, start, size] : llvm::enumerate(*starts, *sizes))
    if (getConstantIntValue(size) == kRest)
      size = sizeBuilder.sub(sizeBuilder.size(op.getInput1(), dim), start);
  requireWithin(op, e, *starts, *sizes);
  Type word = e.getBuilder().getI64Type();
  SmallVector<Value> places, dynamic;
  for (OpFoldResult start : *starts) {
    std::optional<int64_t> known = getConstantIntValue(start);
    places.push_back(
        known ? e.integer(*known, word)
              : e.make<FromIndexOp>(RankedTensorType::get({}, word), sizeBuilder.value(start)));
  }
  RankedTensorType type = getType(*sizes, elementOf(op.getInput1()), dynamic);
  return SmallVector<Value>{e.make<DynamicSliceOp>(type, op.getInput1(), places, dynamic)};
}

static Result convertTile(tosa::TileOp op, ExpressionBuilder &e) {
  FailureOr<Numbers> multiples = getList(op, e, op.getMultiples(), "multiples", 0, kMostAmount);
  if (failed(multiples))
    return failure();
  if (std::optional<SmallVector<int64_t>> known = getConstantIntValues(*multiples))
    return SmallVector<Value>{e.make<TileOp>(op.getInput1(), *known)};
  // A dim of copies before each.
  SizeBuilder sizeBuilder(e.getBuilder(), op.getLoc());
  Numbers spread, whole;
  SmallVector<int64_t> axes;
  for (auto [multiple, size] : llvm::zip_equal(*multiples, sizeBuilder.sizes(op.getInput1()))) {
    spread.append({multiple, size});
    whole.push_back(sizeBuilder.mul(multiple, size));
    axes.push_back(spread.size() - 1);
  }
  return SmallVector<Value>{reshape(e, broadcast(e, op.getInput1(), spread, axes), whole)};
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
