//===- RearrangeOps.cpp - Elements in other places -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// A slice along dim `axis` only; the limit may be absent (`ShapedType::kDynamic`).
static Value sliceAlong(ExpressionBuilder &e, Value x, int64_t axis, int64_t start, int64_t limit,
                        int64_t stride = 1) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  SmallVector<int64_t> starts(rank, 0), limits(rank, ShapedType::kDynamic), strides(rank, 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return e.make<SliceOp>(x, starts, limits, strides);
}

/// Numbers from 0 along dim 0 of shape [size(x, axis), 1, ...] with `ones` dims of size 1.
static Value numbersAlong(ExpressionBuilder &e, OpBuilder &builder, Value x, int64_t axis,
                          int64_t ones) {
  return e.iota(SizeBuilder(builder, x.getLoc()).size(x, axis), builder.getI64Type(), ones);
}

//===----------------------------------------------------------------------===//
// Roll
//===----------------------------------------------------------------------===//

LogicalResult RollOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  if (adaptor.getShifts().size() != adaptor.getAxes().size())
    return rule.error("expected a shift for each of axes ", formatDims(adaptor.getAxes()), ", got ",
                      formatDims(adaptor.getShifts()));
  return checkAxes(rule, adaptor.getAxes(), type.getRank());
}

LogicalResult RollOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

static Value rollAxis(ExpressionBuilder &e, OpBuilder &builder, Value x, int64_t shift,
                      int64_t axis) {
  int64_t size = cast<RankedTensorType>(x.getType()).getDimSize(axis);
  if (ShapedType::isDynamic(size)) {
    Value numbers = numbersAlong(e, builder, x, axis, /*ones=*/0);
    Value count = e.count(numbers, 0);
    Value source = e.make<ModOp>(e.add(numbers, -static_cast<double>(shift)), count);
    return e.make<TakeOp>(x, source, axis);
  }
  int64_t moved = size == 0 ? 0 : ((shift % size) + size) % size;
  if (moved == 0)
    return x;
  Values parts{sliceAlong(e, x, axis, size - moved, size), sliceAlong(e, x, axis, 0, size - moved)};
  return e.make<ConcatenateOp>(parts, axis);
}

FailureOr<Values> RollOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = getOperand();
  for (auto [shift, axis] : llvm::zip_equal(getShifts(), getAxes()))
    x = rollAxis(e, builder, x, shift, axis);
  return Values{e.finish(x, getType())};
}

//===----------------------------------------------------------------------===//
// Tile and repeat
//===----------------------------------------------------------------------===//

static LogicalResult checkRepeats(const RuleContext &rule, ArrayRef<int64_t> repeats) {
  for (int64_t count : repeats)
    if (count < 0)
      return rule.error("expected counts that are not negative, got ", formatDims(repeats));
  return success();
}

/// Makes `size` that of a dim whose elements are there `count` times.
static LogicalResult repeatSize(const RuleContext &rule, int64_t &size, int64_t count) {
  if (count == 0)
    size = 0;
  if (ShapedType::isDynamic(size))
    return success();
  std::optional<int64_t> repeated = mulSizes(size, count);
  if (!repeated || *repeated > kMostElements)
    return rule.error("expected at most ", kMostElements, " elements, got ", count, " times ",
                      size);
  size = *repeated;
  return success();
}

/// `x` with dim `d` repeated `counts[d]` times: as a whole, or each element where `each` says so.
static Value repeatDims(ExpressionBuilder &e, OpBuilder &builder, Value x, ArrayRef<int64_t> counts,
                        bool each, RankedTensorType result) {
  SizeBuilder sizeBuilder(builder, x.getLoc());
  auto type = cast<RankedTensorType>(x.getType());
  Dims shape;
  SmallVector<int64_t> axes;
  Values sizes;
  for (auto [dim, count] : llvm::enumerate(counts)) {
    if (count != 1 && !each)
      shape.push_back(count);
    axes.push_back(shape.size());
    shape.push_back(type.getDimSize(dim));
    if (count != 1 && each)
      shape.push_back(count);
    if (type.isDynamicDim(dim) && result.isDynamicDim(dim))
      sizes.push_back(sizeBuilder.value(
          sizeBuilder.mul(sizeBuilder.size(x, dim), sizeBuilder.constant(count))));
    else if (result.isDynamicDim(dim))
      sizes.push_back(
          sizeBuilder.value(sizeBuilder.constant(*mulSizes(type.getDimSize(dim), count))));
  }
  auto spread = RankedTensorType::get(shape, type.getElementType());
  Value repeated = e.make<BroadcastInDimOp>(spread, x, e.dynamicSizes(x), axes);
  return e.make<ReshapeOp>(result, repeated, sizes);
}

LogicalResult TileOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> repeats = adaptor.getRepeats();
  if (static_cast<int64_t>(repeats.size()) != type.getRank())
    return rule.error("expected a count for each dim of ", type, ", got ", formatDims(repeats));
  if (failed(checkRepeats(rule, repeats)))
    return failure();
  Dims shape(type.getShape());
  for (auto [size, count] : llvm::zip_equal(shape, repeats))
    if (failed(repeatSize(rule, size, count)))
      return failure();
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult TileOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  for (auto [size, count] : llvm::zip_equal(sizes, getRepeats()))
    size = sizeBuilder.mul(size, sizeBuilder.constant(count));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

FailureOr<Values> TileOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  return Values{repeatDims(e, builder, getOperand(), getRepeats(), /*each=*/false, getType())};
}

LogicalResult RepeatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t axis = adaptor.getAxis(), count = adaptor.getRepeats();
  if (failed(checkAxis(rule, axis, type.getRank())) || failed(checkRepeats(rule, count)))
    return failure();
  Dims shape(type.getShape());
  if (failed(repeatSize(rule, shape[axis], count)))
    return failure();
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult RepeatOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  OpFoldResult &size = sizes[getAxis()];
  size = sizeBuilder.mul(size, sizeBuilder.constant(getRepeats()));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

FailureOr<Values> RepeatOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  SmallVector<int64_t> counts(getType().getRank(), 1);
  counts[getAxis()] = getRepeats();
  return Values{repeatDims(e, builder, getOperand(), counts, /*each=*/true, getType())};
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

static LogicalResult checkMatrices(const RuleContext &rule, RankedTensorType type) {
  if (type.getRank() < 2)
    return rule.error("expected matrices, got ", type);
  return success();
}

/// The number of elements [i, i + offset] of a matrix.
static int64_t diagonalSize(int64_t rows, int64_t columns, int64_t offset) {
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns))
    return ShapedType::kDynamic;
  return std::max<int64_t>(
      0, std::min(rows + std::min<int64_t>(offset, 0), columns - std::max<int64_t>(offset, 0)));
}

static OpFoldResult diagonalSize(SizeBuilder &sizes, Value matrices, int64_t offset) {
  int64_t rank = cast<RankedTensorType>(matrices.getType()).getRank();
  OpFoldResult rows = sizes.size(matrices, rank - 2), columns = sizes.size(matrices, rank - 1);
  if (offset < 0)
    rows = sizes.sub(rows, sizes.constant(-offset));
  else
    columns = sizes.sub(columns, sizes.constant(offset));
  return sizes.max(sizes.min(rows, columns), sizes.constant(0));
}

LogicalResult DiagonalOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (failed(checkMatrices(rule, type)))
    return failure();
  ArrayRef<int64_t> matrix = type.getShape().take_back(2);
  Dims shape(type.getShape().drop_back(2));
  shape.push_back(diagonalSize(matrix[0], matrix[1], adaptor.getOffset()));
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult DiagonalOp::reifySizes(SizeBuilder &sizeBuilder,
                                     ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  sizes.pop_back();
  sizes.back() = diagonalSize(sizeBuilder, getOperand(), getOffset());
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

/// Matrices with their rows behind each other.
static Value flattenMatrices(ExpressionBuilder &e, Value matrices) {
  SizeBuilder sizes(e.getBuilder(), matrices.getLoc());
  auto type = cast<RankedTensorType>(matrices.getType());
  SmallVector<OpFoldResult> flat = sizes.sizes(matrices);
  OpFoldResult columns = flat.pop_back_val();
  flat.back() = sizes.mul(flat.back(), columns);
  Dims shape;
  Values dynamic;
  for (OpFoldResult size : flat) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      dynamic.push_back(sizes.value(size));
  }
  return e.make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), matrices, dynamic);
}

/// A slice has static limits, so what lies on a diagonal of unknown size is taken.
static Value takeDiagonal(ExpressionBuilder &e, Value matrices, int64_t offset) {
  OpBuilder &builder = e.getBuilder();
  SizeBuilder sizes(builder, matrices.getLoc());
  int64_t rank = cast<RankedTensorType>(matrices.getType()).getRank();
  Type i64 = builder.getI64Type();
  Value columns = e.sizeLess(matrices, rank - 1, 0, i64);
  Value row = e.iota(diagonalSize(sizes, matrices, offset), i64);
  Value column = row;
  if (offset < 0)
    row = e.add(row, e.integer(-offset, i64));
  else if (offset > 0)
    column = e.add(column, e.integer(offset, i64));
  Value place = e.add(e.mul(row, columns), column);
  return e.make<TakeOp>(flattenMatrices(e, matrices), place, static_cast<uint64_t>(rank - 2));
}

FailureOr<Values> DiagonalOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  int64_t rank = type.getRank(), rows = type.getDimSize(rank - 2),
          columns = type.getDimSize(rank - 1);
  int64_t offset = getOffset(), size = diagonalSize(rows, columns, offset);
  if (ShapedType::isDynamic(size))
    return Values{e.finish(takeDiagonal(e, getOperand(), offset), getType())};
  Value x = flattenMatrices(e, getOperand());
  int64_t start =
      size == 0 ? 0 : std::max<int64_t>(-offset, 0) * columns + std::max<int64_t>(offset, 0);
  int64_t limit = size == 0 ? 0 : start + (size - 1) * (columns + 1) + 1;
  return Values{e.finish(sliceAlong(e, x, rank - 2, start, limit, columns + 1), getType())};
}

LogicalResult DiagOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  if (type.getRank() < 1)
    return rule.error("expected vectors, got ", type);
  Dims shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() += std::abs(static_cast<int64_t>(adaptor.getOffset()));
  shape.push_back(shape.back());
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult DiagOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  sizes.back() = sizeBuilder.add(sizes.back(),
                                 sizeBuilder.constant(std::abs(static_cast<int64_t>(getOffset()))));
  sizes.push_back(sizes.back());
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

/// Vectors of unknown size along all rows or columns, and 0 beside the diagonal.
static Value selectDiagonal(ExpressionBuilder &e, Value vectors, int64_t offset) {
  OpBuilder &builder = e.getBuilder();
  Value zero = e.scalar(0, vectors);
  int64_t rank = cast<RankedTensorType>(vectors.getType()).getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high.back() = std::abs(offset);
  Value x = e.make<PadOp>(vectors, zero, low, high, DenseI64ArrayAttr());
  Value row = numbersAlong(e, builder, x, rank - 1, /*ones=*/1);
  Value column = numbersAlong(e, builder, x, rank - 1, /*ones=*/0);
  Value isOn =
      e.compare(CompareDirection::Eq, column, e.add(row, e.integer(offset, builder.getI64Type())));
  // Above the main diagonal each row has its element, below each column.
  Value spread = e.make<ExpandDimsOp>(x, offset < 0 ? rank - 1 : rank);
  return e.select(isOn, spread, zero);
}

FailureOr<Values> DiagOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  int64_t rank = type.getRank(), count = type.getShape().back(), offset = getOffset();
  if (ShapedType::isDynamic(count))
    return Values{e.finish(selectDiagonal(e, getOperand(), offset), getType())};
  int64_t size = count + std::abs(offset);
  Value zero = e.scalar(0, getOperand());
  Dims shape(type.getShape().drop_back());
  shape.append({size, size});
  auto square = RankedTensorType::get(shape, type.getElementType());
  Values sizes = e.dynamicSizes(getOperand());
  if (count == 0)
    return Values{
        e.finish(e.make<BroadcastInDimOp>(square, zero, sizes, ArrayRef<int64_t>()), getType())};
  // Neighbours on the diagonal have a row, less one element, between them.
  int64_t above = std::max<int64_t>(offset, 0), below = std::max<int64_t>(-offset, 0);
  int64_t start = below * size + above; // in range: the square is a type's
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
  low.back() = start;
  interior.back() = size;
  high.back() = size * size - (start + (count - 1) * (size + 1) + 1); // in range: likewise
  Value flat = e.make<PadOp>(getOperand(), zero, low, high, builder.getDenseI64ArrayAttr(interior));
  return Values{e.finish(e.make<ReshapeOp>(square, flat, sizes), getType())};
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

LogicalResult TrilOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return checkMatrices({location, getOperationName()}, type);
}

LogicalResult TrilOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

LogicalResult TriuOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return checkMatrices({location, getOperationName()}, type);
}

LogicalResult TriuOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

static FailureOr<Values> keepTriangle(OpBuilder &builder, Operation *op, int64_t offset,
                                      CompareDirection direction) {
  ExpressionBuilder e(builder, op->getLoc());
  Value x = op->getOperand(0);
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Value row = numbersAlong(e, builder, x, rank - 2, /*ones=*/1);
  Value column = numbersAlong(e, builder, x, rank - 1, /*ones=*/0);
  Value kept = e.compare(direction, column, e.add(row, static_cast<double>(offset)));
  return Values{e.finish(e.select(kept, x, e.scalar(0, x)), op->getResult(0).getType())};
}

FailureOr<Values> TrilOp::decompose(OpBuilder &builder) {
  return keepTriangle(builder, *this, getOffset(), CompareDirection::Le);
}

FailureOr<Values> TriuOp::decompose(OpBuilder &builder) {
  return keepTriangle(builder, *this, getOffset(), CompareDirection::Ge);
}

} // namespace xc::array
