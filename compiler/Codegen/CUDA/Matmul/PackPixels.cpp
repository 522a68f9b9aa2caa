//===- PackPixels.cpp - Convolutions of images with few channels ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first layer of a network reads images of three channels or so: too few for a line of a tile,
// and pixels of 6 bytes are nothing that the copy engine finds. But what a row of the window reads
// lies side by side in a row of the image. So the image gets a channel or more of zeros, until the
// windows' steps along a row are multiples of 16 bytes, and a row of the window becomes the
// channels of a convolution without taps along the row, whose pixels overlap:
//
//   y[n, p, q, f] += x[n, 2 * p + r, 2 * q + s, c] * w[f, r, s, c]        7 x 7 taps, 3 channels
//   y[n, p, q, f] += x'[n, 2 * p + r, 8 * q + l]   * w'[f, r, l]          7 taps, 32 channels
//
// x' is x with its padding and 4 channels, and w' has zeros wherever l is no tap or no channel. So
// it is for the gradient to the filter, of which a part is the result. One copy of the image is
// what this costs; it is read once for all of it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/ProductParts.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_PACKPIXELS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// What steps of tiles are multiples of.
static constexpr int64_t kChannelStep = 16;
/// Positions below which the copy takes longer than it saves.
static constexpr int64_t kFewestPositions = 1 << 13;
/// Elements of a row of a window that threads load as fast as the copy engine brings a pixel: on an
/// H200 a 7 x 7 window over 3 channels took 114 us by threads and 76 so, one of 3 x 3 taps 27
/// and 37.
static constexpr int64_t kFewestElements = 16;

namespace {

class PixelPacker {
public:
  explicit PixelPacker(linalg::GenericOp op)
      : op(op), builder(op), loc(op.getLoc()), maps(op.getIndexingMapsArray()),
        ranges(op.getStaticLoopRanges()) {}

  void run();

private:
  bool match();
  bool matchImage(unsigned operand);
  bool isFilterLoop(unsigned loop);
  bool matchRow(AffineExpr expr);
  bool chooseSizes();
  bool isGradient() { return filter == op.getNumDpsInputs(); }

  OpFoldResult countMorePixels(OpFoldResult size);
  Value packImage();
  Value packFilter(Value tensor);
  Value unpackFilter(Value packed);
  Value makeInit();
  AffineMap mapPacked(ArrayRef<AffineExpr> exprs);
  AffineMap mapPackedImage();
  AffineMap mapPackedFilter();
  SmallVector<int64_t> orderImage() const;
  SmallVector<int64_t> orderFilter() const;

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> ranges;
  unsigned image = 0, filter = 0;      // numbers of the maps
  unsigned rowDim = 0, channelDim = 0; // the image's
  unsigned position = 0, tap = 0;      // loops along a row of the image
  unsigned channel = 0;                // their loop
  int64_t step = 1;                    // from a position to the next
  int64_t channels = 0;                // of the packed image
  int64_t behind = 0;                  // pixels that a line of the last window reads beyond it
  int64_t line = 0;                    // elements of a row of a window
};

} // namespace

//===----------------------------------------------------------------------===//
// Which convolutions
//===----------------------------------------------------------------------===//

/// The dim along a row: `position * step + tap`.
bool PixelPacker::matchRow(AffineExpr expr) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  AffineExpr moving = sum.getLHS(), still = sum.getRHS();
  if (auto dim = dyn_cast<AffineDimExpr>(moving);
      dim && maps[filter].isFunctionOfDim(dim.getPosition()))
    std::swap(moving, still);
  step = 1;
  if (auto product = dyn_cast<AffineBinaryOpExpr>(moving)) {
    auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (product.getKind() != AffineExprKind::Mul || !factor)
      return false;
    step = factor.getValue();
    moving = product.getLHS();
  }
  auto outer = dyn_cast<AffineDimExpr>(moving), inner = dyn_cast<AffineDimExpr>(still);
  if (!outer || !inner || step < 1)
    return false;
  position = outer.getPosition();
  tap = inner.getPosition();
  // Images are to their results what channels are to a filter: the filter is the smaller one.
  return maps[filter].isFunctionOfDim(tap) && !maps[filter].isFunctionOfDim(position) &&
         !ShapedType::isDynamic(ranges[tap]) &&
         (ShapedType::isDynamic(ranges[position]) || ranges[tap] < ranges[position]);
}

/// The last dim that windows move along.
static std::optional<unsigned> findRow(AffineMap map) {
  for (unsigned dim = map.getNumResults(); dim > 0; --dim)
    if (!isa<AffineDimExpr, AffineConstantExpr>(map.getResult(dim - 1)))
      return dim - 1;
  return std::nullopt;
}

/// Whether `loop` has few steps, and one map besides the image's, which is the filter's then.
bool PixelPacker::isFilterLoop(unsigned loop) {
  unsigned count = 0;
  for (unsigned number = 0; number < maps.size(); ++number)
    if (number != image && maps[number].isFunctionOfDim(loop)) {
      filter = number;
      ++count;
    }
  return count == 1 && !ShapedType::isDynamic(ranges[loop]) &&
         ranges[loop] < (isGradient() ? kPanelChannels : plan::kPackedStep);
}

/// An image whose channels are one dim, that the filter has, too.
bool PixelPacker::matchImage(unsigned operand) {
  image = operand;
  AffineMap map = maps[image];
  std::optional<unsigned> row = findRow(map);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      continue;
    channel = loop.getPosition();
    channelDim = dim;
    if (isFilterLoop(channel) && row && maps[filter].isProjectedPermutation() &&
        matchRow(map.getResult(*row))) {
      rowDim = *row;
      return true;
    }
  }
  return false;
}

bool PixelPacker::match() {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  if (!loops || op.hasIndexSemantics() || !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>() ||
      llvm::any_of(loops->batch, [&](unsigned loop) { return ranges[loop] != 1; }))
    return false;
  for (Value input : op.getDpsInputs())
    if (Type element = getElementTypeOrSelf(input); !element.isF16() && !element.isBF16())
      return false;
  return matchImage(0) || matchImage(1);
}

/// So many channels that steps along a row are multiples of 16 bytes.
bool PixelPacker::chooseSizes() {
  int64_t taps = ranges[tap];
  bool hasOpenFilter = llvm::any_of(maps[filter].getResults(), [&](AffineExpr expr) {
    return ShapedType::isDynamic(ranges[cast<AffineDimExpr>(expr).getPosition()]);
  });
  if (hasOpenFilter || taps < 2 ||
      (!isGradient() && multiplyRanges(ranges, {tap, channel}) < kFewestElements))
    return false;
  channels = llvm::alignTo(ranges[channel], plan::kPackedStep);
  for (int64_t few = llvm::PowerOf2Ceil(ranges[channel]); few < channels; few *= 2)
    if (step * few % plan::kPackedStep == 0)
      channels = few;
  line = llvm::alignTo(taps * channels, isGradient() ? kPanelChannels : kChannelStep);
  // The same image for the convolution and for its gradient.
  behind = llvm::divideCeil(llvm::alignTo(taps * channels, kPanelChannels), channels) - taps;
  SmallVector<int64_t> known(ranges);
  llvm::replace(known, ShapedType::kDynamic, kFewestPositions);
  SmallVector<unsigned> positionLoops;
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (maps[image].isFunctionOfDim(loop) && !maps[filter].isFunctionOfDim(loop))
      positionLoops.push_back(loop);
  return multiplyRanges(known, positionLoops) >= kFewestPositions;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// A copy of `tensor` whose dims are those of `order`, or the tensor if they are already.
static Value permute(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> order) {
  if (isIdentityPermutation(order))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  applyPermutationToVector(sizes, order);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  AffineMap written = AffineMap::getPermutationMap(order, builder.getContext());
  return plan::createCopy(builder, loc, tensor, empty, inversePermutation(written));
}

/// `tensor` with so many zeros around it.
static Value padBy(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> low,
                   ArrayRef<OpFoldResult> high) {
  if (llvm::all_of(low, [](int64_t size) { return size == 0; }) &&
      llvm::all_of(high, [](OpFoldResult size) { return isZeroInteger(size); }))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, before, behind] : llvm::zip_equal(shape, low, high)) {
    std::optional<int64_t> number = getConstantIntValue(behind);
    if (!ShapedType::isDynamic(size)) // those of a padded operand, and up to `kPanel` more
      size = number ? size + before + *number : ShapedType::kDynamic;
  }
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(builder, loc, type.clone(shape), tensor,
                               getAsIndexOpFoldResult(builder.getContext(), low), high, zero);
}

/// All dims of `rank` ones by themselves but the last two.
static SmallVector<ReassociationIndices> groupLast(int64_t rank) {
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    dims.push_back({dim});
  dims.back().push_back(rank - 1);
  return dims;
}

static Value mergeLast(OpBuilder &builder, Location loc, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groupLast(rank));
}

/// The image's dims: images, rows, pixels of a row, channels.
SmallVector<int64_t> PixelPacker::orderImage() const {
  SmallVector<int64_t> images, rows;
  for (auto [dim, expr] : llvm::enumerate(maps[image].getResults()))
    if (dim != rowDim && dim != channelDim)
      (isa<AffineDimExpr>(expr) ? images : rows).push_back(dim);
  llvm::append_range(images, rows);
  images.append({rowDim, channelDim});
  return images;
}

/// The pixels that a row of `size` pixels has more when it is packed: those that a line of the last
/// window reads beyond it, and whatever rounds rows up.
OpFoldResult PixelPacker::countMorePixels(OpFoldResult size) {
  AffineExpr all = builder.getAffineSymbolExpr(0);
  AffineExpr packed = (all + behind).ceilDiv(plan::kPackedStep) * plan::kPackedStep;
  return affine::makeComposedFoldedAffineApply(builder, loc, packed - all, {size});
}

/// The image with all its padding, channels innermost; null if its padding is not of known zeros.
Value PixelPacker::packImage() {
  Value source = op.getDpsInputs()[image];
  int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  OpFoldResult more = countMorePixels(tensor::getMixedSize(builder, loc, source, rowDim));
  if (auto pad = source.getDefiningOp<tensor::PadOp>()) {
    Value value = pad.getConstantPaddingValue();
    if (!value || !matchPattern(value, m_PosZeroFloat()) || !pad.getLow().empty() ||
        !pad.getHigh().empty())
      return nullptr;
    low.assign(pad.getStaticLow().begin(), pad.getStaticLow().end());
    high.assign(pad.getStaticHigh().begin(), pad.getStaticHigh().end());
    source = pad.getSource();
  }
  high[channelDim] += channels - ranges[channel];
  SmallVector<int64_t> order = orderImage();
  applyPermutationToVector(low, order);
  applyPermutationToVector(high, order);
  SmallVector<OpFoldResult> behindAll = getAsIndexOpFoldResult(builder.getContext(), high);
  OpFoldResult &behindRow = behindAll[rank - 2];
  AffineExpr sum = builder.getAffineSymbolExpr(0) + high[rank - 2];
  behindRow = affine::makeComposedFoldedAffineApply(builder, loc, sum, {more});
  Value ordered = permute(builder, loc, source, order);
  return mergeLast(builder, loc, padBy(builder, loc, ordered, low, behindAll));
}

/// The filter's dims: features, the taps of other dims than rows, those of a row, channels.
SmallVector<int64_t> PixelPacker::orderFilter() const {
  SmallVector<int64_t> features, taps;
  int64_t tapDim = 0, lastDim = 0;
  for (unsigned dim = 0; dim < maps[filter].getNumResults(); ++dim) {
    unsigned loop = maps[filter].getDimPosition(dim);
    if (loop == tap)
      tapDim = dim;
    else if (loop == channel)
      lastDim = dim;
    else
      (maps[image].isFunctionOfDim(loop) ? taps : features).push_back(dim);
  }
  llvm::append_range(features, taps);
  features.append({tapDim, lastDim});
  return features;
}

/// The filter with zeros for taps and channels that there are not. Lines are whole pixels: of fewer
/// than 8 channels there are a power of two. Behind padding the dims become one, so that kernels
/// find it in memory.
Value PixelPacker::packFilter(Value tensor) {
  Value ordered = permute(builder, loc, tensor, orderFilter());
  size_t rank = maps[filter].getNumResults();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high[rank - 2] = line / channels - ranges[tap];
  high[rank - 1] = channels - ranges[channel];
  return mergeLast(
      builder, loc,
      padBy(builder, loc, ordered, low, getAsIndexOpFoldResult(op.getContext(), high)));
}

/// What the filter has of a packed one: taps of a row are `channels` elements apart.
Value PixelPacker::unpackFilter(Value packed) {
  auto type = cast<RankedTensorType>(op.getDpsInits()[0].getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> order = orderFilter();
  SmallVector<AffineExpr> read = llvm::map_to_vector(
      order, [&](int64_t dim) { return getAffineDimExpr(dim, op.getContext()); });
  AffineExpr last = read.pop_back_val();
  read.back() = read.back() * channels + last;
  Value empty =
      tensor::EmptyOp::create(builder, loc, type.getShape(), getElementTypeOrSelf(packed));
  return plan::createCopy(builder, loc, packed, empty,
                          AffineMap::get(rank, 0, read, op.getContext()));
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// A map over the packed product's loops: those of channels are gone, and those of taps along a row
/// are elements of a line.
AffineMap PixelPacker::mapPacked(ArrayRef<AffineExpr> exprs) {
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(getAffineDimExpr(loop - (loop > channel), op.getContext()));
  SmallVector<AffineExpr> packed =
      llvm::map_to_vector(exprs, [&](AffineExpr expr) { return expr.replaceDims(loops); });
  return AffineMap::get(op.getNumLoops() - 1, 0, packed, op.getContext());
}

AffineMap PixelPacker::mapPackedImage() {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : ArrayRef(orderImage()).drop_back(2))
    exprs.push_back(maps[image].getResult(dim));
  exprs.push_back(getAffineDimExpr(position, op.getContext()) * (step * channels) +
                  getAffineDimExpr(tap, op.getContext()));
  return mapPacked(exprs);
}

AffineMap PixelPacker::mapPackedFilter() {
  SmallVector<AffineExpr> exprs =
      llvm::map_to_vector(orderFilter(), [&](int64_t dim) { return maps[filter].getResult(dim); });
  exprs.pop_back();
  return mapPacked(exprs);
}

/// The initial value of the packed product.
Value PixelPacker::makeInit() {
  Value init = op.getDpsInits()[0];
  if (!isGradient())
    return init;
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<int64_t> shape(type.getShape());
  applyPermutationToVector(shape, orderFilter());
  shape.pop_back();
  shape.back() = line;
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  Value zero = init.getDefiningOp<linalg::FillOp>().value();
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

void PixelPacker::run() {
  if (!match() || !chooseSizes())
    return;
  Value packedImage = packImage();
  if (!packedImage)
    return;
  SmallVector<Value> inputs(op.getDpsInputs());
  SmallVector<AffineMap> packedMaps =
      llvm::map_to_vector(maps, [&](AffineMap map) { return mapPacked(map.getResults()); });
  inputs[image] = packedImage;
  packedMaps[image] = mapPackedImage();
  packedMaps[filter] = mapPackedFilter();
  if (!isGradient())
    inputs[filter] = packFilter(inputs[filter]);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.erase(iterators.begin() + channel);
  Value init = makeInit();
  auto product =
      linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, packedMaps, iterators);
  builder.cloneRegionBefore(op.getRegion(), product.getRegion(), product.getRegion().begin());
  Value result = product.getResult(0);
  op.getResult(0).replaceAllUsesWith(isGradient() ? unpackFilter(result) : result);
  op.erase();
}

namespace {

struct PackPixels final : impl::PackPixelsBase<PackPixels> {
  using PackPixelsBase::PackPixelsBase;

  void runOnOperation() override {
    const Target *target = findTarget(getOperation());
    if (!target || !target->hasWGMMA || !wgmma)
      return;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
      PixelPacker(op).run();
  }
};

} // namespace

} // namespace xc::cuda
