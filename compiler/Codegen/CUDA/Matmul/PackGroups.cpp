//===- PackGroups.cpp - Convolutions of small groups in larger groups -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution in groups is a product for each group, and groups of few channels leave most of a
// tensor core's tile empty. So some neighbouring groups become one, whose filter has zeros where a
// feature does not read a channel:
//
//   y[n, p, g, f]     += x[n, p + r, g, c]     * w[g, r, f, c]                     32 groups of 4
//   y[n, p, G, (i f)] += x[n, p + r, G, (j c)] * (i == j ? w[(G i), r, f, c] : 0)  2 groups of 64
//
// (i f) is one dim of all features of the groups i in a pack, and (G i) is g.
//
// Images keep their places in memory: groups and channels are neighbours there. Only the filter is
// copied, of parameters once an instance (-xc-hoist-parameters). A gradient to the image is such a
// product too. Of a gradient to the filter, the blocks on the diagonal are what was asked for.
//
// Three tensors take part, whichever of them is the result. Two have lines: a group's channels, or
// its features, inside of the groups. The third is the filter, which has both.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_PACKGROUPS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Channels beyond which zeros take longer than groups by themselves.
static constexpr int64_t kMostPackedChannels = 256;

namespace {

/// A dim of a filter as loops that are apart: their numbers and sizes.
struct SplitDim {
  SmallVector<unsigned, 2> loops;
  SmallVector<int64_t, 2> sizes;
};

/// All dims of a filter, each as loops that are apart.
struct SplitDims {
  SmallVector<SplitDim> dims;

  SmallVector<unsigned> getLoops() const;
  SmallVector<int64_t> getSizes() const;
  SmallVector<ReassociationIndices> getReassociation() const;
  /// `tensor`, which has the dims, with the loops for dims, and the other way round.
  Value split(OpBuilder &builder, Location loc, Value tensor) const;
  Value merge(OpBuilder &builder, Location loc, Value tensor) const;
};

class GroupPacker {
public:
  explicit GroupPacker(linalg::GenericOp op)
      : op(op), builder(op), loc(op.getLoc()), ranges(op.getStaticLoopRanges()) {}

  void run();

private:
  bool match();
  std::optional<unsigned> findGroupDim(AffineMap map) const;
  std::optional<unsigned> findLine(AffineMap map) const;
  bool hasBothLines(AffineMap map) const;
  bool isFilter(AffineMap map) const;
  bool hasPlainLines(Value operand, AffineMap map) const;
  bool isWindowed();
  bool chooseCount();

  RankedTensorType getPackedType(AffineMap map, Type type) const;
  Value reshapeLines(Value tensor, unsigned dim, int64_t groups);
  Value packLines(Value tensor, unsigned dim);
  Value packFilter(Value filter, AffineMap map);
  Value unpackFilter(Value packed, AffineMap map);
  Value makeInit(AffineMap map);
  void replace(Value packed, AffineMap map);
  SplitDims splitPacked(AffineMap map);
  SplitDims splitUnpacked(AffineMap map);

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  SmallVector<int64_t> ranges;
  unsigned group = 0;
  SmallVector<unsigned, 2> lines; // loops of channels and of features
  std::array<bool, 3> hasFilter{};
  int64_t count = 1; // groups that become one
};

} // namespace

/// The dim of groups, if the one behind it is a loop's, too, and no other dim has either loop.
std::optional<unsigned> GroupPacker::findGroupDim(AffineMap map) const {
  ArrayRef<AffineExpr> exprs = map.getResults();
  AffineExpr outer = getAffineDimExpr(group, map.getContext());
  const auto *found = llvm::find(exprs, outer);
  if (found == exprs.end() || std::next(found) == exprs.end() || !isa<AffineDimExpr>(found[1]))
    return std::nullopt;
  unsigned line = cast<AffineDimExpr>(found[1]).getPosition();
  auto isOther = [&](const AffineExpr &expr) {
    return &expr != found && &expr != found + 1 &&
           (expr.isFunctionOfDim(group) || expr.isFunctionOfDim(line));
  };
  if (llvm::any_of(exprs, isOther))
    return std::nullopt;
  return found - exprs.begin();
}

/// The loop of the dim behind that of groups.
std::optional<unsigned> GroupPacker::findLine(AffineMap map) const {
  std::optional<unsigned> dim = findGroupDim(map);
  if (!dim)
    return std::nullopt;
  return map.getDimPosition(*dim + 1);
}

bool GroupPacker::hasBothLines(AffineMap map) const {
  return llvm::all_of(lines, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
}

/// Whether the tensor has the group and both lines, and no windows; all of known sizes.
bool GroupPacker::isFilter(AffineMap map) const {
  return map.isProjectedPermutation() && map.isFunctionOfDim(group) && hasBothLines(map) &&
         llvm::none_of(map.getResults(), [&](AffineExpr expr) {
           return ShapedType::isDynamic(ranges[cast<AffineDimExpr>(expr).getPosition()]);
         });
}

/// Whether the operand's padding, if it has any, is a constant around other dims than lines.
bool GroupPacker::hasPlainLines(Value operand, AffineMap map) const {
  auto pad = operand.getDefiningOp<tensor::PadOp>();
  if (!pad)
    return true;
  std::optional<unsigned> dim = findGroupDim(map);
  llvm::SmallBitVector padded = pad.getPaddedDims();
  return dim && pad.getConstantPaddingValue() && !padded[*dim] && !padded[*dim + 1];
}

bool GroupPacker::isWindowed() {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    return !op.getMatchingIndexingMap(operand).isProjectedPermutation() ||
           operand->get().getDefiningOp<tensor::PadOp>();
  });
}

bool GroupPacker::match() {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  if (!loops || op.hasIndexSemantics() || !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>() ||
      !isWindowed())
    return false;
  for (Value input : op.getDpsInputs())
    if (Type element = getElementTypeOrSelf(input); !element.isF16() && !element.isBF16())
      return false;
  llvm::erase_if(loops->batch, [&](unsigned loop) { return ranges[loop] == 1; });
  if (loops->batch.size() != 1)
    return false;
  group = loops->batch.front();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // A filter, too, may have the group and a line innermost.
  llvm::SmallSetVector<unsigned, 3> found;
  for (AffineMap map : maps)
    if (std::optional<unsigned> line = findLine(map))
      found.insert(*line);
  if (found.size() != 2)
    return false;
  lines = {found[0], found[1]};
  int64_t inputs = op.getNumDpsInputs();
  for (auto [number, map] : llvm::enumerate(maps)) {
    hasFilter[number] = isFilter(map);
    if (!hasFilter[number] && (!findLine(map) || hasBothLines(map)))
      return false;
    if (static_cast<int64_t>(number) < inputs && !hasPlainLines(op.getDpsInputs()[number], map))
      return false;
  }
  return llvm::count(hasFilter, true) == 1;
}

/// As many groups as give both lines whole steps of channels; all where those are few.
bool GroupPacker::chooseCount() {
  int64_t groups = ranges[group], channels = ranges[lines[0]], features = ranges[lines[1]];
  if (ShapedType::isDynamic(groups) || ShapedType::isDynamic(channels) ||
      ShapedType::isDynamic(features) || std::min(channels, features) >= kPanelChannels)
    return false;
  for (count = 2; count < groups; ++count)
    if (groups % count == 0 && channels * count % kPanelChannels == 0 &&
        features * count % kPanelChannels == 0)
      break;
  return count * std::max(channels, features) <= kMostPackedChannels;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The type of a tensor when groups are packed.
RankedTensorType GroupPacker::getPackedType(AffineMap map, Type type) const {
  auto ranked = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(ranked.getShape());
  for (auto [size, expr] : llvm::zip_equal(shape, map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && dim.getPosition() == group)
      size /= count;
    else if (dim && llvm::is_contained(lines, dim.getPosition()))
      size *= count;
  }
  return ranked.clone(shape);
}

/// Dim `dim` and the one behind it as `groups` groups.
Value GroupPacker::reshapeLines(Value tensor, unsigned dim, int64_t groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t line = type.getShape()[dim] * type.getShape()[dim + 1]; // in range: of one tensor
  SmallVector<ReassociationIndices> dims;
  for (int64_t number = 0; number < type.getRank(); ++number) {
    if (number != dim + 1)
      dims.emplace_back();
    dims.back().push_back(number);
  }
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  sizes[dim] = builder.getIndexAttr(groups);
  sizes[dim + 1] = builder.getIndexAttr(line / groups);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = groups;
  shape[dim + 1] = line / groups;
  Value flat = tensor::CollapseShapeOp::create(builder, loc, tensor, dims);
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), flat, dims, sizes);
}

/// The image with its groups packed, in front of its padding.
Value GroupPacker::packLines(Value tensor, unsigned dim) {
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  if (!pad)
    return reshapeLines(tensor, dim, ranges[group] / count);
  Value source = packLines(pad.getSource(), dim);
  ArrayRef<int64_t> packed = cast<RankedTensorType>(source.getType()).getShape();
  SmallVector<int64_t> shape(pad.getResultType().getShape());
  llvm::copy(packed.slice(dim, 2), shape.begin() + dim);
  return tensor::PadOp::create(builder, loc, pad.getResultType().clone(shape), source,
                               pad.getMixedLowPad(), pad.getMixedHighPad(),
                               pad.getConstantPaddingValue());
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

SmallVector<unsigned> SplitDims::getLoops() const {
  SmallVector<unsigned> loops;
  for (const SplitDim &dim : dims)
    llvm::append_range(loops, dim.loops);
  return loops;
}

SmallVector<int64_t> SplitDims::getSizes() const {
  SmallVector<int64_t> sizes;
  for (const SplitDim &dim : dims)
    llvm::append_range(sizes, dim.sizes);
  return sizes;
}

SmallVector<ReassociationIndices> SplitDims::getReassociation() const {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const SplitDim &dim : dims) {
    groups.emplace_back();
    for (size_t i = 0; i < dim.loops.size(); ++i)
      groups.back().push_back(next++);
  }
  return groups;
}

Value SplitDims::split(OpBuilder &builder, Location loc, Value tensor) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(getSizes()), tensor,
                                       getReassociation());
}

Value SplitDims::merge(OpBuilder &builder, Location loc, Value tensor) const {
  return tensor::CollapseShapeOp::create(builder, loc, tensor, getReassociation());
}

/// The dims of a packed filter. Which group of a pack a line belongs to is said by loops behind the
/// op's own, one for each line.
SplitDims GroupPacker::splitPacked(AffineMap map) {
  SplitDims split;
  for (unsigned place = 0; place < map.getNumResults(); ++place) {
    unsigned loop = map.getDimPosition(place);
    SplitDim &dim = split.dims.emplace_back();
    if (const unsigned *line = llvm::find(lines, loop); line != lines.end()) {
      dim.loops.push_back(op.getNumLoops() + (line - lines.begin()));
      dim.sizes.push_back(count);
    }
    dim.loops.push_back(loop);
    dim.sizes.push_back(loop == group ? ranges[group] / count : ranges[loop]);
  }
  return split;
}

/// The same of the filter as it was: the group in a pack is that of the first line.
SplitDims GroupPacker::splitUnpacked(AffineMap map) {
  SplitDims split;
  for (unsigned place = 0; place < map.getNumResults(); ++place) {
    unsigned loop = map.getDimPosition(place);
    if (loop == group)
      split.dims.push_back({{group, op.getNumLoops()}, {ranges[group] / count, count}});
    else
      split.dims.push_back({{loop}, {ranges[loop]}});
  }
  return split;
}

/// The map of a tensor with dims `loops` over the loops `all`.
static AffineMap mapLoops(ArrayRef<unsigned> loops, ArrayRef<unsigned> all, MLIRContext *context) {
  SmallVector<AffineExpr> exprs = llvm::map_to_vector(loops, [&](unsigned loop) {
    return getAffineDimExpr(llvm::find(all, loop) - all.begin(), context);
  });
  return AffineMap::get(all.size(), 0, exprs, context);
}

/// The filter with zeros between channels and features of different groups.
Value GroupPacker::packFilter(Value filter, AffineMap map) {
  SplitDims packed = splitPacked(map), unpacked = splitUnpacked(map);
  SmallVector<unsigned> loops = packed.getLoops();
  MLIRContext *context = op.getContext();
  Type element = getElementTypeOrSelf(filter);
  Value empty = tensor::EmptyOp::create(builder, loc, packed.getSizes(), element);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  unsigned first = op.getNumLoops(), second = first + 1;
  auto build = [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
    auto number = [&](unsigned loop) {
      return linalg::IndexOp::create(b, bodyLoc, llvm::find(loops, loop) - loops.begin());
    };
    Value isOwn =
        arith::CmpIOp::create(b, bodyLoc, arith::CmpIPredicate::eq, number(first), number(second));
    Value own = arith::SelectOp::create(b, bodyLoc, isOwn, args[0], zero);
    linalg::YieldOp::create(b, bodyLoc, own);
  };
  SmallVector<utils::IteratorType> iterators(loops.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), unpacked.split(builder, loc, filter), empty,
      {mapLoops(unpacked.getLoops(), loops, context), mapLoops(loops, loops, context)}, iterators,
      build);
  return packed.merge(builder, loc, generic.getResult(0));
}

/// The blocks on the diagonal of a packed filter.
Value GroupPacker::unpackFilter(Value filter, AffineMap map) {
  SplitDims packed = splitPacked(map), unpacked = splitUnpacked(map);
  SmallVector<unsigned> loops = unpacked.getLoops(), read = packed.getLoops();
  llvm::replace(read, op.getNumLoops() + 1, op.getNumLoops());
  Value empty =
      tensor::EmptyOp::create(builder, loc, unpacked.getSizes(), getElementTypeOrSelf(filter));
  Value diagonal = plan::createCopy(builder, loc, packed.split(builder, loc, filter), empty,
                                    mapLoops(read, loops, op.getContext()));
  return unpacked.merge(builder, loc, diagonal);
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// The initial value of a result with packed groups.
Value GroupPacker::makeInit(AffineMap map) {
  Value init = op.getDpsInits()[0];
  auto fill = init.getDefiningOp<linalg::FillOp>();
  RankedTensorType type = getPackedType(map, init.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, init);
  for (auto [size, number] : llvm::zip_equal(sizes, type.getShape()))
    if (!ShapedType::isDynamic(number))
      size = builder.getIndexAttr(number);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::FillOp::create(builder, loc, fill.value(), empty).getResult(0);
}

/// The op that alone reads `value` and converts each element, or null.
static linalg::GenericOp findConversion(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  auto user = dyn_cast<linalg::GenericOp>(*value.user_begin());
  bool isConversion =
      user && user.getNumDpsInputs() == 1 && user.getNumResults() == 1 &&
      user.getDpsInputs()[0] == value && user.getNumParallelLoops() == user.getNumLoops() &&
      llvm::all_of(user.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
  return isConversion && !user.hasIndexSemantics() ? user : nullptr;
}

/// Puts the result in the place of the op's. What converts it follows it with packed groups, so
/// that no reshape parts the two.
void GroupPacker::replace(Value packed, AffineMap map) {
  if (hasFilter.back()) {
    op.getResult(0).replaceAllUsesWith(unpackFilter(packed, map));
    op.erase();
    return;
  }
  linalg::GenericOp last = op;
  if (linalg::GenericOp conversion = findConversion(op.getResult(0))) {
    builder.setInsertionPoint(conversion);
    Value init = conversion.getDpsInits()[0];
    RankedTensorType type = getPackedType(map, init.getType());
    Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, packed),
                                          type.getElementType());
    auto converted = linalg::GenericOp::create(builder, conversion.getLoc(), type, packed, empty,
                                               conversion.getIndexingMapsArray(),
                                               conversion.getIteratorTypesArray());
    converted.getRegion().takeBody(conversion.getRegion());
    packed = converted.getResult(0);
    last = conversion;
  }
  last.getResult(0).replaceAllUsesWith(reshapeLines(packed, *findGroupDim(map), ranges[group]));
  last.erase();
  if (last != op)
    op.erase();
}

void GroupPacker::run() {
  if (!match() || !chooseCount())
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs;
  for (auto [number, input] : llvm::enumerate(op.getDpsInputs()))
    inputs.push_back(hasFilter[number] ? packFilter(input, maps[number])
                                       : packLines(input, *findGroupDim(maps[number])));
  Value init = makeInit(maps.back());
  auto product = linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps,
                                           op.getIteratorTypesArray());
  builder.cloneRegionBefore(op.getRegion(), product.getRegion(), product.getRegion().begin());
  replace(product.getResult(0), maps.back());
}

namespace {

struct PackGroups final : impl::PackGroupsBase<PackGroups> {
  using PackGroupsBase::PackGroupsBase;

  void runOnOperation() override {
    const Target *target = findTarget(getOperation());
    if (!target || !target->hasWGMMA || !wgmma)
      return;
    // What converts a product's result may be the next op, and goes with it.
    SmallVector<linalg::GenericOp> reductions;
    for (auto op : getOperation().getOps<linalg::GenericOp>())
      if (op.getNumReductionLoops() > 0)
        reductions.push_back(op);
    for (linalg::GenericOp op : reductions)
      GroupPacker(op).run();
  }
};

} // namespace

} // namespace xc::cuda
