//===- Convolution.cpp - Convolutions as products of columns of pixels ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of a convolution has output positions for rows. Under one tap of the filter, what they
// read are pixels of the image at equal distances: a column that the copy engine brings by itself,
// from image to image, with zeros for padding. So the sum over taps and channels is that of a
// product, in steps of some channels under one tap each:
//
//   y[n, p, q, f] += x[n, p * stride + r * dilation - padding, ..., c] * w[r, s, c, f]
//
// The gradient to the filter sums up positions: a step of the sum is a column of pixels, and one
// of y's gradient. Neither operand runs along k.
//
//   w'[r, s, c, f] += x[n, p * stride + r * dilation - padding, ..., c] * y'[n, p, q, f]
//
// Windows may be gone through backwards (x[p + 2 - r]), as gradients to the input do.
//
// Groups are products of a batch. Their channels are neighbours, and whole steps of a tile, so that
// no column reads another group's.
//
// Refused, with a reason: images whose channels are not innermost in memory or are no multiple of
// 16 bytes, positions that are not in the image's order, symbolic windows, groups of other numbers
// of channels, and what cuTensorMapEncodeIm2col does not take. Where an image's sizes are symbolic,
// so is the corner where its last windows end; a guard keeps it within what the map can hold.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/Guards.h"

#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"

using namespace mlir;

namespace xc::cuda {

/// PTX ISA, "im2col mode": tensors of 3 to 5 dims, strides and channels of multiples of 16 bytes,
/// steps of at most 8 elements.
static constexpr size_t kLeastRank = 3, kMostRank = 5;
static constexpr int64_t kPixelBytes = 16, kMostStep = 8;

/// Bits of a corner, and of an offset, along each of `spatial` dims.
static int64_t countBits(size_t spatial) { return spatial == 1 ? 16 : spatial == 2 ? 8 : 5; }

/// Corners are from minus this on, and below it.
static int64_t getCornerLimit(size_t spatial) { return int64_t(1) << (countBits(spatial) - 1); }

/// The product of `sizes`; kDynamic if one is symbolic.
static int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1; // of a tensor's sizes
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return ShapedType::kDynamic;
    product *= size;
  }
  return product;
}

namespace {

class ConvolutionMatcher {
public:
  ConvolutionMatcher(const Contraction &contraction, std::string &reason)
      : contraction(contraction), reason(reason), ranges(contraction.getRanges()) {}

  std::optional<Convolution> match();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  /// The loops that count positions, and those of taps and channels.
  ArrayRef<unsigned> getPositionLoops() const {
    return image.isAcross ? contraction.k : contraction.m;
  }
  ArrayRef<unsigned> getFilterLoops() const {
    return !image.isAcross ? contraction.k : image.isB ? contraction.n : contraction.m;
  }
  void chooseSide();
  bool findSource();
  bool findTerms();
  bool isWindowed() const;
  bool addSpatial(const LoopSum &terms, unsigned dim, int64_t size);
  bool addLine(const LoopSum &terms, int64_t size);
  bool matchGroup();
  bool goesOverAll(unsigned loop, int64_t size) const;
  bool placeDims();
  bool checkLimits();
  bool separateTaps();
  bool separateOwnTaps();
  /// Those of `loops` that have more than one step.
  SmallVector<unsigned> getLong(ArrayRef<unsigned> loops) const {
    return llvm::filter_to_vector(loops, [&](unsigned loop) { return ranges[loop] != 1; });
  }

  const Contraction &contraction;
  std::string &reason;
  SmallVector<int64_t> ranges;
  ElementSource source;
  SmallVector<LoopSum> dims; // of the source's coordinates
  WindowedImage image;
  std::optional<unsigned> channel;
  Contraction product;
};

} // namespace

std::optional<ElementSource> findElementSource(const Contraction &contraction,
                                               const Contraction::Side &side, std::string &reason) {
  auto refuse = [&](const char *why) {
    reason = why;
    return std::nullopt;
  };
  ElementSource source;
  source.coords =
      llvm::to_vector(contraction.getOp().getMatchingIndexingMap(side.operand).getResults());
  Value tensor = side.operand->get();
  while (!getSourceBinding(tensor)) {
    Operation *op = tensor.getDefiningOp();
    if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
      Value value = pad.getConstantPaddingValue();
      if (!value || !(matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero())))
        return refuse("the image is padded by other numbers than zero");
      for (auto [coord, low] : llvm::zip_equal(source.coords, pad.getMixedLowPad())) {
        std::optional<int64_t> number = getConstantIntValue(low);
        if (!number)
          return refuse("the image's padding is symbolic");
        coord = coord - *number;
      }
      source.isPadded = true;
      tensor = pad.getSource();
      continue;
    }
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    bool isOrder = generic && generic.getNumDpsInputs() == 1 &&
                   generic.getIndexingMapsArray()[0].isPermutation();
    if (!op || (source.isPadded && !isOrder) || !(tensor = getCopied(op, source.coords)))
      return refuse("the image is computed, or a part of a tensor that is padded");
  }
  source.binding = getSourceBinding(tensor);
  return source;
}

bool ConvolutionMatcher::findSource() {
  std::optional<ElementSource> found =
      findElementSource(contraction, image.isB ? contraction.b : contraction.a, reason);
  if (found)
    source = std::move(*found);
  return found.has_value();
}

/// Loops of one step are left out: they are zero.
bool ConvolutionMatcher::findTerms() {
  dims.clear();
  for (AffineExpr coord : source.coords) {
    std::optional<LoopSum> terms = matchLoopSum(coord);
    if (!terms)
      return refuse("the image's indices are no sums of loops");
    llvm::erase_if(terms->loops, [&](auto term) { return ranges[term.first] == 1; });
    dims.push_back(std::move(*terms));
  }
  return true;
}

/// True if plain boxes do not have the operand's rows: taps move positions, or padding or strides
/// part them.
bool ConvolutionMatcher::isWindowed() const {
  bool isStrided = llvm::any_of(dims, [](const LoopSum &terms) {
    return terms.loops.size() > 1 || (terms.loops.size() == 1 && terms.loops[0].second != 1);
  });
  return source.isPadded || (isStrided && getLong(getPositionLoops()).size() > 1) ||
         llvm::any_of(dims, [](const LoopSum &terms) { return terms.loops.size() > 1; });
}

bool ConvolutionMatcher::addSpatial(const LoopSum &terms, unsigned dim, int64_t size) {
  ArrayRef<int64_t> shape = cast<MemRefType>(source.binding.getMemory().getType()).getShape();
  int64_t distance = multiply(shape.drop_front(dim + 1));
  WindowedImage::Spatial spatial{{}, {}, dim, 1, size, distance, 1, 1, terms.constant, 0};
  for (auto [loop, step] : terms.loops) {
    bool isPosition = llvm::is_contained(getPositionLoops(), loop);
    std::optional<unsigned> &found = isPosition ? spatial.position : spatial.tap;
    if (found || step == 0 || (isPosition && step < 0) ||
        (!isPosition && !llvm::is_contained(getFilterLoops(), loop)))
      return refuse("the image's indices are not those of windows");
    found = loop;
    spatial.isBackward |= step < 0;
    (isPosition ? spatial.stride : spatial.dilation) = std::abs(step);
  }
  if (spatial.tap && ShapedType::isDynamic(ranges[*spatial.tap]))
    return refuse("the windows' sizes are symbolic");
  if (spatial.position)
    spatial.positions = ranges[*spatial.position];
  // Taps are counted from the one that reads first.
  if (spatial.isBackward)
    spatial.lower -= (ranges[*spatial.tap] - 1) * spatial.dilation;
  // The box ends at the last position, whatever else of the image there is.
  bool isSymbolic = ShapedType::isDynamic(size) || ShapedType::isDynamic(spatial.positions);
  spatial.upper = isSymbolic ? ShapedType::kDynamic
                             : spatial.lower + (spatial.positions - 1) * spatial.stride + 1 - size;
  image.spatial.push_back(spatial);
  return true;
}

/// The innermost dim: channels, or lines of them that begin at multiples of a position.
bool ConvolutionMatcher::addLine(const LoopSum &terms, int64_t size) {
  bool isOne = terms.loops.size() == 1, isTwo = terms.loops.size() == 2;
  auto isChannel = [&](const std::pair<unsigned, int64_t> &term) {
    return term.second == 1 && llvm::is_contained(getFilterLoops(), term.first);
  };
  const auto *inner = llvm::find_if(terms.loops, isChannel);
  if (inner == terms.loops.end() || (!isOne && !isTwo) || terms.constant < 0)
    return refuse("the image's channels are not innermost in memory");
  channel = inner->first;
  image.channels = ranges[*channel];
  image.firstChannel = terms.constant;
  if (ShapedType::isDynamic(image.channels) || (isOne && ShapedType::isDynamic(size)))
    return refuse("the number of channels is symbolic");
  if (isOne)
    return true;
  const auto &[position, step] = terms.loops[inner == terms.loops.begin()];
  int64_t positions = ranges[position];
  if (!llvm::is_contained(getPositionLoops(), position) || step < 1 || terms.constant != 0)
    return refuse("the image's channels are not innermost in memory");
  unsigned dim = dims.size() - 1;
  image.spatial.push_back({position, {}, dim, positions, positions, step, 1, 1, 0, 0});
  return true;
}

/// True if there are as many places along `loop` as the dim of memory has: no padding is behind it.
bool ConvolutionMatcher::goesOverAll(unsigned loop, int64_t size) const {
  if (!ShapedType::isDynamic(ranges[loop]) && !ShapedType::isDynamic(size))
    return ranges[loop] <= size;
  if (!source.isPadded)
    return true;
  OpOperand *operand = (image.isB ? contraction.b : contraction.a).operand;
  auto pad = operand->get().getDefiningOp<tensor::PadOp>();
  AffineMap map = contraction.getOp().getMatchingIndexingMap(operand);
  std::optional<unsigned> dim = map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  return pad && dim && isConstantIntValue(pad.getMixedLowPad()[*dim], 0) &&
         isConstantIntValue(pad.getMixedHighPad()[*dim], 0);
}

/// Which dims of memory have images, positions and channels.
bool ConvolutionMatcher::placeDims() {
  ArrayRef<int64_t> shape = cast<MemRefType>(source.binding.getMemory().getType()).getShape();
  for (auto [dim, terms] : llvm::enumerate(dims)) {
    bool isLast = dim + 1 == dims.size();
    bool isPlain = terms.loops.size() == 1 && terms.loops[0].second == 1;
    if (isLast) {
      if (!addLine(terms, shape[dim]))
        return false;
      continue;
    }
    bool isImage = dim == 0 && terms.constant == 0 &&
                   (terms.loops.empty() ||
                    (isPlain && llvm::is_contained(getPositionLoops(), terms.loops[0].first) &&
                     goesOverAll(terms.loops[0].first, shape[dim])));
    // Where images are one dim of several, the others are spatial ones.
    if (isImage && dims.size() > kLeastRank - 1) {
      image.imageDim = dim;
      if (!terms.loops.empty())
        image.images = terms.loops[0].first;
      continue;
    }
    if (shape[dim] == 1 && terms.loops.empty() && terms.constant == 0)
      continue;
    bool isGroup = isPlain && image.group && terms.loops[0].first == *image.group;
    if (isGroup && dim + 2 == dims.size() && terms.constant == 0)
      continue;
    if (!addSpatial(terms, dim, shape[dim]))
      return false;
  }
  return true;
}

/// Groups are the one long loop of the op's batch. Partial sums have a loop behind those.
bool ConvolutionMatcher::matchGroup() {
  SmallVector<unsigned> batch = getLong(contraction.batch);
  llvm::erase_if(batch, [&](unsigned loop) { return loop >= contraction.getOp().getNumLoops(); });
  if (batch.empty())
    return true;
  if (batch.size() > 1 || ShapedType::isDynamic(ranges[batch[0]]))
    return refuse("it is a batch of convolutions with filters of their own");
  image.group = batch[0];
  return true;
}

/// What the tensor map's fields hold.
bool ConvolutionMatcher::checkLimits() {
  auto type = cast<MemRefType>(source.binding.getMemory().getType());
  size_t spatial = image.spatial.size(), rank = spatial + 2;
  if (rank < kLeastRank || rank > kMostRank)
    return refuse("the image has " + Twine(spatial) + " spatial dims, not 1 to 3");
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (image.group && (image.channels % kPanelChannels != 0 || image.firstChannel != 0 ||
                      image.channels != type.getShape().back()))
    return refuse("a group has " + Twine(image.channels) + " channels, no multiple of " +
                  Twine(kPanelChannels));
  // Lines of packed pixels may be of symbolic length: describePixels sees to those.
  int64_t innermost = type.getShape().back();
  if ((!ShapedType::isDynamic(innermost) && innermost * bytes % kPixelBytes != 0) ||
      image.firstChannel * bytes % kPixelBytes != 0 || source.binding.getAlignment() < kPixelBytes)
    return refuse("the image's pixels are not aligned to 16 bytes");
  int64_t corner = getCornerLimit(spatial), offset = int64_t(1) << countBits(spatial);
  for (const WindowedImage::Spatial &dim : image.spatial) {
    // What is symbolic is a multiple of a pixel.
    if (!ShapedType::isDynamic(dim.distance) && dim.distance * bytes % kPixelBytes != 0)
      return refuse("neighbouring pixels are not multiples of 16 bytes apart");
    int64_t taps = dim.tap ? ranges[*dim.tap] : 1;
    if (dim.stride > kMostStep)
      return refuse("a stride of " + Twine(dim.stride) + " is more than " + Twine(kMostStep));
    bool isSymbolic = ShapedType::isDynamic(dim.upper); // then a guard sees to it
    if (dim.lower < -corner || dim.lower >= corner ||
        (!isSymbolic && (dim.upper < -corner || dim.upper >= corner)))
      return refuse("windows begin at " + Twine(dim.lower) + " and end " + Twine(dim.upper) +
                    " behind the image, which is not from " + Twine(-corner) + " to " +
                    Twine(corner - 1));
    if ((taps - 1) * dim.dilation >= offset)
      return refuse("a window of " + Twine((taps - 1) * dim.dilation + 1) +
                    " elements is wider than " + Twine(offset));
  }
  return true;
}

/// Takes taps out of the sum's loops; positions must be rows in the image's order.
bool ConvolutionMatcher::separateTaps() {
  SmallVector<unsigned> positions;
  if (image.images)
    positions.push_back(*image.images);
  for (const WindowedImage::Spatial &dim : image.spatial) {
    if (dim.position)
      positions.push_back(*dim.position);
    if (dim.tap)
      image.taps.push_back(*dim.tap);
  }
  if (positions != getLong(getPositionLoops()))
    return refuse("positions are not in the image's order");
  product = contraction;
  if (image.isAcross)
    return separateOwnTaps();
  if (contraction.partial)
    return refuse("its results are partial sums, which steps go through tap after tap");
  SmallVector<unsigned> sum = getLong(contraction.k);
  if (sum.size() != image.taps.size() + 1)
    return refuse("the sum has other loops than taps and channels");
  product.k = {*channel};
  image.taps = llvm::filter_to_vector(
      sum, [&](unsigned loop) { return llvm::is_contained(image.taps, loop); });
  product.taps = image.taps;
  return true;
}

/// Of columns that are taps and channels: they are in this order, and panels of channels are whole,
/// or else taps are products of their own.
bool ConvolutionMatcher::separateOwnTaps() {
  SmallVector<unsigned> own = image.taps;
  own.push_back(*channel);
  if (own != getLong(getFilterLoops()))
    return refuse("the filter's gradient has other dims than taps and channels, in this order");
  image.hasWholePanels = image.channels % kPanelChannels == 0;
  if (image.hasWholePanels)
    return true;
  llvm::append_range(product.batch, image.taps);
  (image.isB ? product.n : product.m) = {*channel};
  return true;
}

/// Where neither operand runs along k, positions are k; then the image may be either one.
void ConvolutionMatcher::chooseSide() {
  image.isAcross =
      contraction.hasHalfOperands() && !contraction.a.isKContiguous && !contraction.b.isKContiguous;
  if (!image.isAcross)
    return;
  image.isB = true;
  image.isB = findSource() && findTerms() && isWindowed();
}

std::optional<Convolution> ConvolutionMatcher::match() {
  chooseSide();
  if (!findSource() || !findTerms())
    return std::nullopt;
  if (!isWindowed()) {
    refuse("no window moves over it");
    return std::nullopt;
  }
  if (contraction.beginsWithB()) {
    refuse("the filter does not run along channels, as elements of other than 16 bits must");
    return std::nullopt;
  }
  image.binding = source.binding;
  if (!matchGroup() || !placeDims() || !checkLimits() || !separateTaps())
    return std::nullopt;
  return Convolution{product, image};
}

std::optional<Convolution> matchConvolution(const Contraction &contraction, std::string &reason) {
  return ConvolutionMatcher(contraction, reason).match();
}

//===----------------------------------------------------------------------===//
// Sizes that may be symbolic
//===----------------------------------------------------------------------===//

std::optional<PixelFormulas> describePixels(const WindowedImage &image,
                                            const Contraction &contraction, KernelSizes &sizes) {
  plan::BindingOp binding = image.binding;
  SmallVector<plan::FormulaAttr> loops = getProductSizes(contraction, sizes),
                                 shape = sizes.getSizes(binding.getMemory());
  PixelFormulas formulas;
  bool isKnown = true;
  auto append = [&](SmallVectorImpl<AffineExpr> &to, plan::FormulaAttr number) {
    to.push_back(sizes.toAffine(number));
    isKnown &= static_cast<bool>(to.back());
  };
  int64_t bytes = getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  auto appendStride = [&](plan::FormulaAttr elements) {
    append(formulas.strides, elements);
    isKnown &= sizes.getDivisor(elements) * bytes % kPixelBytes == 0;
  };
  auto getNumber = [&](int64_t number, llvm::function_ref<plan::FormulaAttr()> symbolic) {
    return ShapedType::isDynamic(number) ? symbolic() : sizes.constant(number);
  };
  // Of the dims from `dim` on, the elements.
  auto count = [&](unsigned dim) { return sizes.product(ArrayRef(shape).drop_front(dim)); };
  append(formulas.sizes, image.images ? loops[*image.images] : sizes.constant(1));
  appendStride(count(image.imageDim ? *image.imageDim + 1 : 0));
  for (const WindowedImage::Spatial &dim : image.spatial) {
    plan::FormulaAttr positions = getNumber(dim.positions, [&] { return loops[*dim.position]; });
    bool isLine = dim.dim + 1 == shape.size(); // then there are no pixels but those of positions
    plan::FormulaAttr size =
        isLine ? positions : getNumber(dim.size, [&] { return shape[dim.dim]; });
    append(formulas.sizes, size);
    appendStride(getNumber(dim.distance, [&] { return count(dim.dim + 1); }));
    append(formulas.corners, (positions - 1) * dim.stride - size + (dim.lower + 1));
  }
  append(formulas.sizes, image.group ? count(shape.size() - 2) : sizes.constant(image.channels));
  append(formulas.strides, sizes.constant(1));
  return isKnown ? std::optional(formulas) : std::nullopt;
}

void addCornerGuards(const KernelInfo &kernel) {
  std::string reason;
  FailureOr<Contraction> contraction = matchContraction(kernel, reason);
  std::optional<Convolution> convolution;
  if (succeeded(contraction))
    convolution = matchConvolution(*contraction, reason);
  if (!convolution)
    return;
  KernelSizes sizes = makeSizes(kernel);
  std::optional<PixelFormulas> formulas =
      describePixels(convolution->image, convolution->product, sizes);
  int64_t limit = getCornerLimit(convolution->image.spatial.size());
  for (AffineExpr corner : formulas->corners)
    if (!isa<AffineConstantExpr>(corner))
      addRangeGuard(kernel, corner, -limit, limit - 1);
}

} // namespace xc::cuda
