//===- WinogradConv.cpp - Convolution by fewer products -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// F(2, 3) along each spatial dim: two places y of a filter g over four elements d are
//
//   y = A ((G g) * (B d)),   B = 1  0 -1  0   G = 1    0   0     A = 1 1  1  0
//                                0  1  1  0       1/2  1/2 1/2       0 1 -1 -1
//                                0 -1  1  0       1/2 -1/2 1/2
//                                0  1  0 -1       0    0   1
//
// (A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015). Several dims are
// transformed one after the other; the products at each of the 4, 16 or 64 points, summed over the
// features, are one matrix product of a batch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/WinogradConv.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

static constexpr int64_t kTaps = 3;   // of a filter, along a dim
static constexpr int64_t kPlaces = 2; // of a block of the result
static constexpr int64_t kPoints = 4; // of a block of the input

LogicalResult verifyWinograd(ConvOp op) {
  RankedTensorType input = op.getInput().getType();
  ConvDimsAttr dims = op.getDims();
  if (!isa<Float32Type, Float64Type>(input.getElementType()))
    return op.emitOpError("expected f32 or f64 for Winograd's algorithm, got ")
           << input.getElementType();
  if (dims.getSpatialRank() < 1 || dims.getSpatialRank() > 3)
    return op.emitOpError("expected 1 to 3 spatial dims for Winograd's algorithm, got ")
           << dims.getSpatialRank();
  if (op.getFeatureGroups() != 1 || op.getBatchGroups() != 1)
    return op.emitOpError("expected one group for Winograd's algorithm, got ")
           << op.getFeatureGroups() * op.getBatchGroups();
  for (auto [spatial, window] : llvm::enumerate(op.getWindow()))
    if ((window.size != kTaps && !ShapedType::isDynamic(window.size)) || window.stride != 1 ||
        window.dilation != 1)
      return op.emitOpError("expected a filter of 3 without strides and dilation for Winograd's "
                            "algorithm, got size ")
             << formatDim(window.size) << ", stride " << window.stride << " and dilation "
             << window.dilation << " in spatial dim " << spatial;
  return success();
}

bool canUseWinograd(ConvOp op) {
  int64_t rank = op.getDims().getSpatialRank();
  return isa<Float32Type, Float64Type>(op.getInput().getType().getElementType()) && rank >= 1 &&
         rank <= 3 && op.getFeatureGroups() == 1 && op.getBatchGroups() == 1 &&
         llvm::all_of(op.getWindow(), [](const WindowDim &window) {
           return window.size == kTaps && window.stride == 1 && window.dilation == 1;
         });
}

bool hasWinogradSizes(ConvOp op) {
  ArrayRef<int64_t> input = op.getInput().getType().getShape();
  int64_t batch = op.getDims().inputDim(ConvDimsAttr::kBatch);
  return op.getFilter().getType().hasStaticShape() &&
         !ShapedType::isDynamicShape(input.take_front(batch)) &&
         !ShapedType::isDynamicShape(input.drop_front(batch + 1));
}

namespace {

/// Works on the batch, the spatial dims and the features, in this order.
class WinogradBuilder {
public:
  WinogradBuilder(ConvOp op, OpBuilder &builder)
      : op(op), e(builder, op.getLoc()), dims(op.getDims()), rank(dims.getSpatialRank()) {}

  Value build();

private:
  Value slice(Value value, int64_t dim, int64_t start, int64_t limit, int64_t stride);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  /// The input, padded to whole blocks, at least one.
  Value padInput();
  Value orderFilter();
  Value transformInput(Value padded, int64_t point, SmallVector<int64_t> starts);
  Values transformFilter(Value value, int64_t dim);
  Value transformProducts(ArrayRef<Value> products, int64_t place, int64_t point, int64_t dim);
  /// Elements of `even` and `odd` in turn along `dim`.
  Value interleave(Value even, Value odd, int64_t dim);
  Value orderResult(Value value);

  ConvOp op;
  ExpressionBuilder e;
  ConvDimsAttr dims;
  int64_t rank; ///< of spatial dims
  SmallVector<int64_t> blocks;
};

} // namespace

Value WinogradBuilder::slice(Value value, int64_t dim, int64_t start, int64_t limit,
                             int64_t stride) {
  int64_t count = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<int64_t> starts(count, 0), limits(count, ShapedType::kDynamic), strides(count, 1);
  starts[dim] = start;
  limits[dim] = limit;
  strides[dim] = stride;
  return e.make<SliceOp>(value, starts, limits, strides);
}

Value WinogradBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  Type element = getElementTypeOrSelf(value.getType());
  return e.make<ReshapeOp>(RankedTensorType::get(shape, element), value, ValueRange());
}

Value WinogradBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  return e.make<TransposeOp>(value, permutation);
}

Value WinogradBuilder::padInput() {
  SmallVector<int64_t> permutation = {dims.inputDim(ConvDimsAttr::kBatch)};
  SmallVector<int64_t> low(rank + 2, 0), high(rank + 2, 0);
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t size = op.getInput().getType().getDimSize(dims.inputDim(spatial));
    int64_t places = op.getType().getDimSize(dims.outputDim(spatial));
    blocks.push_back(std::max<int64_t>(llvm::divideCeil(places, kPlaces), 1));
    permutation.push_back(dims.inputDim(spatial));
    low[spatial + 1] = window.low;
    high[spatial + 1] = kPlaces * blocks.back() + (kPoints - kPlaces) - size - window.low;
  }
  permutation.push_back(dims.inputDim(ConvDimsAttr::kFeature));
  Value x = transpose(op.getInput(), permutation);
  return e.make<PadOp>(x, e.scalar(0, x), low, high, DenseI64ArrayAttr());
}

Value WinogradBuilder::orderFilter() {
  SmallVector<int64_t> permutation;
  for (int64_t spatial = 0; spatial < rank; ++spatial)
    permutation.push_back(dims.filterDim(spatial));
  permutation.push_back(dims.filterDim(ConvDimsAttr::kFilterInput));
  permutation.push_back(dims.filterDim(ConvDimsAttr::kFilterOutput));
  return transpose(op.getFilter(), permutation);
}

/// What the input's blocks are at point number `point`, from the spatial dim on that `starts` does
/// not say yet. Points share what is summed up along the last dim; sums along the first belong to
/// one of them, so that they are made where points are put beside each other.
Value WinogradBuilder::transformInput(Value padded, int64_t point, SmallVector<int64_t> starts) {
  int64_t spatial = starts.size();
  if (spatial == rank) {
    SmallVector<int64_t> from(rank + 2, 0), limits(rank + 2, ShapedType::kDynamic),
        strides(rank + 2, 1);
    for (auto [dim, start] : llvm::enumerate(starts)) {
      from[dim + 1] = start;
      limits[dim + 1] = start + kPlaces * (blocks[dim] - 1) + 1; // from first block to last
      strides[dim + 1] = kPlaces;
    }
    return e.make<SliceOp>(padded, from, limits, strides);
  }
  // Rows of B: the elements that are added or subtracted.
  static constexpr struct {
    int64_t first, second;
    bool isSum;
  } rows[kPoints] = {{0, 2, false}, {1, 2, true}, {2, 1, false}, {1, 3, false}};
  const auto &row = rows[point >> (2 * (rank - 1 - spatial)) & (kPoints - 1)];
  auto get = [&](int64_t start) {
    SmallVector<int64_t> further = starts;
    further.push_back(start);
    return transformInput(padded, point, further);
  };
  Value first = get(row.first), second = get(row.second);
  return row.isSum ? e.add(first, second) : e.sub(first, second);
}

Values WinogradBuilder::transformFilter(Value value, int64_t dim) {
  Values g;
  for (int64_t tap = 0; tap < kTaps; ++tap)
    g.push_back(slice(value, dim, tap, tap + 1, 1));
  Value outer = e.add(g[0], g[2]);
  return {g[0], e.mul(e.add(outer, g[1]), 0.5), e.mul(e.sub(outer, g[1]), 0.5), g[2]};
}

/// Place number `place` of each block, of `products` at all points; from spatial dim `dim` on,
/// where `point` has the points of those before.
Value WinogradBuilder::transformProducts(ArrayRef<Value> products, int64_t place, int64_t point,
                                         int64_t dim) {
  if (dim == rank)
    return products[point];
  auto get = [&](int64_t next) {
    return transformProducts(products, place, point * kPoints + next, dim + 1);
  };
  // Rows of A.
  if ((place >> (rank - 1 - dim) & 1) == 0)
    return e.add(e.add(get(0), get(1)), get(2));
  return e.sub(e.sub(get(1), get(2)), get(3));
}

Value WinogradBuilder::interleave(Value even, Value odd, int64_t dim) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(even.getType()).getShape());
  SmallVector<int64_t> split = shape;
  split.insert(split.begin() + dim + 1, 1);
  shape[dim] *= kPlaces;
  Values parts = {reshape(even, split), reshape(odd, split)};
  return reshape(e.make<ConcatenateOp>(parts, dim + 1), shape);
}

Value WinogradBuilder::orderResult(Value value) {
  SmallVector<int64_t> permutation;
  for (int64_t label : dims.getOutput())
    permutation.push_back(label == ConvDimsAttr::kBatch     ? 0
                          : label == ConvDimsAttr::kFeature ? rank + 1
                                                            : label + 1);
  for (int64_t spatial = 0; spatial < rank; ++spatial)
    value = slice(value, spatial + 1, 0, op.getType().getDimSize(dims.outputDim(spatial)), 1);
  return transpose(value, permutation);
}

Value WinogradBuilder::build() {
  Value padded = padInput();
  Values inputs, filters = {orderFilter()};
  for (int64_t point = 0; point < int64_t(1) << (2 * rank); ++point)
    inputs.push_back(transformInput(padded, point, {}));
  for (int64_t spatial = 0; spatial < rank; ++spatial) {
    Values next;
    for (Value value : filters)
      llvm::append_range(next, transformFilter(value, spatial));
    filters = std::move(next);
  }
  auto block = cast<RankedTensorType>(inputs.front().getType());
  auto filter = cast<RankedTensorType>(filters.front().getType());
  int64_t rows =
      mulSizes(block.getDimSize(0), multiplyKnown(blocks)).value_or(ShapedType::kDynamic);
  for (Value &value : inputs)
    value = reshape(value, {1, rows, block.getShape().back()});
  for (Value &value : filters)
    value = reshape(value, {1, filter.getDimSize(rank), filter.getDimSize(rank + 1)});
  Value product = e.make<MatMulOp>(e.make<ConcatenateOp>(inputs, 0),
                                   e.make<ConcatenateOp>(filters, 0), /*transpose_a=*/false,
                                   /*transpose_b=*/false, op.getAllowTf32());
  // What was said of the convolution is of its products.
  if (Attribute note = op->getAttr(plan::kNoteAttr))
    product.getDefiningOp()->setAttr(plan::kNoteAttr, note);
  SmallVector<int64_t> shape(block.getShape());
  shape.back() = filter.getShape().back();
  Values products, places;
  for (size_t point = 0; point < inputs.size(); ++point)
    products.push_back(reshape(slice(product, 0, point, point + 1, 1), shape));
  for (int64_t place = 0; place < int64_t(1) << rank; ++place)
    places.push_back(transformProducts(products, place, 0, 0));
  for (int64_t spatial = rank; spatial > 0; --spatial) {
    Values merged;
    for (size_t i = 0; i < places.size(); i += kPlaces)
      merged.push_back(interleave(places[i], places[i + 1], spatial));
    places = std::move(merged);
  }
  return orderResult(places.front());
}

Value buildWinogradConv(ConvOp op, OpBuilder &builder) {
  ExpressionBuilder e(builder, op.getLoc());
  return e.finish(WinogradBuilder(op, builder).build(), op.getType());
}

} // namespace xc::array
