//===- ConvOp.cpp - Convolution: dims, shapes, simpler forms -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/SpreadConv.h"
#include "compiler/Dialect/Array/IR/WinogradConv.h"
#include "mlir/IR/DialectImplementation.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// #array.conv_dims
//===----------------------------------------------------------------------===//

static constexpr std::pair<StringLiteral, int64_t> kLabels[] = {{"b", ConvDimsAttr::kBatch},
                                                                {"f", ConvDimsAttr::kFeature},
                                                                {"i", ConvDimsAttr::kFilterInput},
                                                                {"o", ConvDimsAttr::kFilterOutput}};

static std::string formatLabels(ArrayRef<int64_t> labels) {
  std::string text = "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(labels, stream, [&](int64_t label) {
    for (auto [name, value] : kLabels)
      if (label == value)
        stream << name;
    if (label >= 0)
      stream << label;
  });
  return text + "]";
}

LogicalResult ConvDimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> input, ArrayRef<int64_t> filter,
                                   ArrayRef<int64_t> output) {
  auto check = [&](ArrayRef<int64_t> labels, StringRef what, Label first,
                   Label second) -> LogicalResult {
    SmallVector<int64_t> wanted = {first, second};
    for (int64_t dim = 0; dim + 2 < static_cast<int64_t>(input.size()); ++dim)
      wanted.push_back(dim);
    if (std::is_permutation(labels.begin(), labels.end(), wanted.begin(), wanted.end()))
      return success();
    return emitError() << "expected each of " << formatLabels(wanted)
                       << " once for the dims of the " << what << ", got " << formatLabels(labels);
  };
  return failure(failed(check(input, "input", kBatch, kFeature)) ||
                 failed(check(filter, "filter", kFilterInput, kFilterOutput)) ||
                 failed(check(output, "result", kBatch, kFeature)));
}

static ParseResult parseLabels(AsmParser &parser, SmallVectorImpl<int64_t> &labels) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      labels.push_back(number);
      return *parsed;
    }
    for (auto [name, value] : kLabels)
      if (succeeded(parser.parseOptionalKeyword(name))) {
        labels.push_back(value);
        return success();
      }
    return parser.emitError(parser.getCurrentLocation(),
                            "expected b, f, i, o or the number of a spatial dim");
  });
}

Attribute ConvDimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> input, filter, output;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseLabels(parser, input) || parser.parseKeyword("x") ||
      parseLabels(parser, filter) || parser.parseArrow() || parseLabels(parser, output) ||
      parser.parseGreater())
    return {};
  return ConvDimsAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                                  ArrayRef<int64_t>(input), ArrayRef<int64_t>(filter),
                                  ArrayRef<int64_t>(output));
}

void ConvDimsAttr::print(AsmPrinter &printer) const {
  printer << '<' << formatLabels(getInput()) << " x " << formatLabels(getFilter()) << " -> "
          << formatLabels(getOutput()) << '>';
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

template <typename OpOrAdaptor> static WindowAttrs windowAttrs(OpOrAdaptor op) {
  return {op.getStridesAttr(), op.getLowAttr(), op.getHighAttr(), op.getInputDilationAttr(),
          op.getFilterDilationAttr()};
}

static SmallVector<int64_t> filterSizes(ConvDimsAttr dims, RankedTensorType filter) {
  SmallVector<int64_t> sizes;
  for (int64_t spatial = 0; spatial < dims.getSpatialRank(); ++spatial)
    sizes.push_back(filter.getDimSize(dims.filterDim(spatial)));
  return sizes;
}

SmallVector<WindowDim> ConvOp::getWindow() {
  return makeWindow(filterSizes(getDims(), getFilter().getType()), windowAttrs(*this));
}

LogicalResult ConvOp::verify() {
  if (getAlgorithm() == ConvAlgorithm::Winograd && failed(verifyWinograd(*this)))
    return failure();
  return verifyProduct(*this, getAllowTf32());
}

/// Checks that `size`, where it is known, splits into `groups`; `size` is of `what`.
static LogicalResult checkGroups(const RuleContext &rule, int64_t size, StringRef what,
                                 int64_t groups) {
  if (!ShapedType::isDynamic(size) && size % groups != 0)
    return rule.error("expected ", what, " to be a multiple of ", groups, " groups, got ", size);
  return success();
}

static LogicalResult checkFeatures(const RuleContext &rule, ConvDimsAttr dims,
                                   RankedTensorType input, RankedTensorType filter,
                                   int64_t featureGroups, int64_t batchGroups) {
  if (featureGroups < 1 || batchGroups < 1 || (featureGroups != 1 && batchGroups != 1))
    return rule.error("expected groups of features or of the batch, got ", featureGroups, " and ",
                      batchGroups);
  int64_t features = input.getDimSize(dims.inputDim(ConvDimsAttr::kFeature));
  int64_t batch = input.getDimSize(dims.inputDim(ConvDimsAttr::kBatch));
  int64_t filterInput = filter.getDimSize(dims.filterDim(ConvDimsAttr::kFilterInput));
  int64_t filterOutput = filter.getDimSize(dims.filterDim(ConvDimsAttr::kFilterOutput));
  if (failed(checkGroups(rule, features, "the input's features", featureGroups)) ||
      failed(checkGroups(rule, batch, "the batch", batchGroups)) ||
      failed(checkGroups(rule, filterOutput, "the filter's output features",
                         std::max(featureGroups, batchGroups))))
    return failure();
  if (!ShapedType::isDynamic(features) && !ShapedType::isDynamic(filterInput) &&
      mulSizes(filterInput, featureGroups) != features)
    return rule.error("expected the filter to have ", features / featureGroups,
                      " input features, those of a group of ", input, ", got ", filterInput, " in ",
                      filter);
  return success();
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto filter = cast<RankedTensorType>(adaptor.getFilter().getType());
  ConvDimsAttr dims = adaptor.getDims();
  int64_t rank = dims.getSpatialRank() + 2;
  if (failed(checkSameElementType(rule, adaptor.getOperands())))
    return failure();
  if (input.getRank() != rank || filter.getRank() != rank)
    return rule.error("expected operands of rank ", rank, " as the dims say, got ", input, " and ",
                      filter);
  if (failed(checkWindow(rule, rank - 2, "spatial dim", windowAttrs(adaptor),
                         /*allowNegativePadding=*/true)) ||
      failed(checkFeatures(rule, dims, input, filter, adaptor.getFeatureGroups(),
                           adaptor.getBatchGroups())))
    return failure();
  Dims shape(rank);
  int64_t batch = input.getDimSize(dims.inputDim(ConvDimsAttr::kBatch));
  shape[dims.outputDim(ConvDimsAttr::kBatch)] =
      ShapedType::isDynamic(batch) ? batch : batch / static_cast<int64_t>(adaptor.getBatchGroups());
  shape[dims.outputDim(ConvDimsAttr::kFeature)] =
      filter.getDimSize(dims.filterDim(ConvDimsAttr::kFilterOutput));
  for (auto [spatial, window] :
       llvm::enumerate(makeWindow(filterSizes(dims, filter), windowAttrs(adaptor)))) {
    int64_t size = input.getDimSize(dims.inputDim(spatial));
    shape[dims.outputDim(spatial)] = countPlaces(size, window);
  }
  inferred.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult ConvOp::reifySizes(SizeBuilder &sizes, ReifiedRankedShapedTypeDims &shapes) {
  ConvDimsAttr dims = getDims();
  SmallVector<OpFoldResult> result(getType().getRank());
  OpFoldResult batch = sizes.size(getInput(), dims.inputDim(ConvDimsAttr::kBatch));
  if (getBatchGroups() != 1)
    batch = sizes.floorDiv(batch, sizes.constant(getBatchGroups()));
  result[dims.outputDim(ConvDimsAttr::kBatch)] = batch;
  result[dims.outputDim(ConvDimsAttr::kFeature)] =
      sizes.size(getFilter(), dims.filterDim(ConvDimsAttr::kFilterOutput));
  for (auto [spatial, window] : llvm::enumerate(getWindow()))
    result[dims.outputDim(spatial)] =
        countPlaces(sizes, sizes.size(getInput(), dims.inputDim(spatial)),
                    sizes.size(getFilter(), dims.filterDim(spatial)), window);
  return reifyAs(getType(), std::move(result), sizes, shapes);
}

/// Requires that dim `dim` of `tensor` divides into `groups`.
static void requireMultiple(Value tensor, int64_t dim, int64_t groups,
                            RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  std::string whole;
  llvm::raw_string_ostream(whole) << "expected dim " << dim << " of " << tensor.getType()
                                  << " to be a multiple of " << groups << " groups";
  OpFoldResult size = sizes.size(tensor, dim), count = sizes.constant(groups);
  requirements.require(size, plan::Comparison::Equal, sizes.mul(sizes.floorDiv(size, count), count),
                       whole);
}

/// Requires that the groups of a grouped convolution are whole, and of the filter's size.
static void requireGroups(ConvOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  ConvDimsAttr dims = op.getDims();
  Value input = op.getInput(), filter = op.getFilter();
  int64_t feature = dims.inputDim(ConvDimsAttr::kFeature),
          filterInput = dims.filterDim(ConvDimsAttr::kFilterInput);
  int64_t featureGroups = op.getFeatureGroups(), batchGroups = op.getBatchGroups();
  int64_t groups = std::max(featureGroups, batchGroups); // one of them is 1
  std::string what;
  llvm::raw_string_ostream text(what);
  text << "expected dim " << feature << " of " << input.getType() << " to be ";
  if (featureGroups != 1)
    text << featureGroups << " groups of ";
  text << "dim " << filterInput << " of " << filter.getType();
  requirements.require(sizes.size(input, feature), plan::Comparison::Equal,
                       sizes.mul(sizes.size(filter, filterInput), sizes.constant(featureGroups)),
                       what);
  if (batchGroups != 1)
    requireMultiple(input, dims.inputDim(ConvDimsAttr::kBatch), batchGroups, requirements);
  if (groups != 1)
    requireMultiple(filter, dims.filterDim(ConvDimsAttr::kFilterOutput), groups, requirements);
}

void reifyRequirements(ConvOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  ConvDimsAttr dims = op.getDims();
  requireGroups(op, requirements);
  SmallVector<WindowDim> window = op.getWindow();
  for (int64_t label : dims.getOutput()) {
    if (label == ConvDimsAttr::kBatch || label == ConvDimsAttr::kFeature)
      continue;
    OpFoldResult size = sizes.size(op.getFilter(), dims.filterDim(label)),
                 count = countPlaces(sizes, sizes.size(op.getInput(), dims.inputDim(label)), size,
                                     window[label]);
    requirements.requirePositions(op.getInput(), dims.inputDim(label), dims.outputDim(label), size,
                                  count, op.getType().getDimSize(dims.outputDim(label)));
  }
  if (op.getBatchGroups() == 1)
    requirements.requireAgreementWithResult(op.getInput(), dims.inputDim(ConvDimsAttr::kBatch),
                                            dims.outputDim(ConvDimsAttr::kBatch));
  requirements.requireAgreementWithResult(op.getFilter(),
                                          dims.filterDim(ConvDimsAttr::kFilterOutput),
                                          dims.outputDim(ConvDimsAttr::kFeature));
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// The first elements of `value`, as many as `sizes` says.
static Value takeFirst(ExpressionBuilder &e, Value value, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  Values dynamic, starts(sizes.size(), e.integer(0, e.getBuilder().getI64Type()));
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return e.make<DynamicSliceOp>(type, value, starts, dynamic);
}

/// `value` without the last `counts` elements of each dim, nothing of one that has fewer. A slice
/// knows no limit from the end.
static Value cutEnds(ExpressionBuilder &e, Value value, ArrayRef<int64_t> counts) {
  if (llvm::all_of(counts, [](int64_t count) { return count == 0; }))
    return value;
  SizeBuilder sizeBuilder(e.getBuilder(), value.getLoc());
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(value);
  for (auto [size, count] : llvm::zip_equal(sizes, counts))
    if (count != 0)
      size = sizeBuilder.max(sizeBuilder.sub(size, sizeBuilder.constant(count)),
                             sizeBuilder.constant(0));
  return takeFirst(e, value, sizes);
}

/// `value` with its spatial dims, whose positions are `positions`, spread, padded and cut as
/// `window` says of the input.
static Value spreadAndPad(ExpressionBuilder &e, Value value, ArrayRef<WindowDim> window,
                          ArrayRef<int64_t> positions) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0), starts(rank, 0),
      limits(rank, ShapedType::kDynamic), ones(rank, 1), cut(rank, 0);
  for (auto [dim, position] : llvm::zip_equal(window, positions)) {
    int64_t size = type.getDimSize(position);
    low[position] = std::max<int64_t>(dim.low, 0);
    high[position] = std::max<int64_t>(dim.high, 0);
    interior[position] = dim.inputDilation - 1;
    starts[position] = std::max<int64_t>(-dim.low, 0);
    if (ShapedType::isDynamic(size)) {
      // There is as much to cut off at the beginning, and at the end what was added for it.
      high[position] += starts[position];
      cut[position] = starts[position] + std::max<int64_t>(-dim.high, 0);
      continue;
    }
    int64_t spread = size == 0 ? 0 : (size - 1) * dim.inputDilation + 1;
    limits[position] = std::max<int64_t>(low[position] + spread + dim.high, 0);
    starts[position] = std::min(starts[position], limits[position]);
  }
  value = e.make<PadOp>(value, e.scalar(0, value), low, high,
                        e.getBuilder().getDenseI64ArrayAttr(interior));
  return cutEnds(e, e.make<SliceOp>(value, starts, limits, ones), cut);
}

/// True if the result's type has a size where those that it follows from are known, and no others.
static bool knowsWhatOperandsKnow(ConvOp op) {
  ConvDimsAttr dims = op.getDims();
  return llvm::all_of(llvm::enumerate(dims.getOutput()), [&](auto dim) {
    bool isFeature = dim.value() == ConvDimsAttr::kFeature;
    RankedTensorType from = isFeature ? op.getFilter().getType() : op.getInput().getType();
    int64_t place =
        isFeature ? dims.filterDim(ConvDimsAttr::kFilterOutput) : dims.inputDim(dim.value());
    return from.isDynamicDim(place) == op.getType().isDynamicDim(dim.index());
  });
}

namespace {

/// A convolution of a spread input whose outputs are zeros but for those at every g-th place of a
/// spatial dim, which are a convolution of their own:
///
///   y[g * i + low mod g] = y'[i]
///
/// g is what the input's spread and the filter's dilation have in common. Along a filter of one
/// element that is all of the spread, and what such a filter gives is padded instead of the input.
class SparseConv {
public:
  SparseConv(ConvOp op, ExpressionBuilder &e) : op(op), e(e), sizes(e.getBuilder(), op.getLoc()) {
    for (const WindowDim &dim : op.getWindow())
      addDim(dim);
  }

  /// False if no dim has such a g.
  bool isSparse() const {
    return llvm::any_of(outer, [](const WindowDim &dim) { return dim.inputDilation != 1; });
  }
  Value build();

private:
  void addDim(const WindowDim &dim);
  Value makeInner();

  ConvOp op;
  ExpressionBuilder &e;
  SizeBuilder sizes;
  /// Of each spatial dim, the window that is left, and how what it gives is spread and padded.
  SmallVector<WindowDim> inner, outer;
};

} // namespace

void SparseConv::addDim(const WindowDim &dim) {
  WindowDim &left = inner.emplace_back(dim), &around = outer.emplace_back();
  if (dim.stride != 1)
    return;
  if (dim.size == 1) {
    around = dim;
    left = WindowDim();
    return;
  }
  int64_t factor = std::gcd(dim.inputDilation, dim.dilation);
  left.inputDilation /= factor;
  left.dilation /= factor;
  left.low = llvm::divideFloorSigned(dim.low, factor);
  left.high = llvm::divideFloorSigned(dim.high, factor);
  around.inputDilation = factor;
  around.low = dim.low - left.low * factor;
  around.high = dim.high - left.high * factor;
}

Value SparseConv::makeInner() {
  auto list = [&](int64_t WindowDim::*member) {
    auto values = llvm::map_to_vector(inner, [&](const WindowDim &dim) { return dim.*member; });
    return llvm::all_equal(values) && values.front() == WindowDim().*member
               ? DenseI64ArrayAttr()
               : e.getBuilder().getDenseI64ArrayAttr(values);
  };
  Value conv = e.make<ConvOp>(op.getInput(), op.getFilter(), op.getDims(), list(&WindowDim::stride),
                              list(&WindowDim::low), list(&WindowDim::high),
                              list(&WindowDim::inputDilation), list(&WindowDim::dilation),
                              op.getFeatureGroups(), op.getBatchGroups(), op.getAllowTf32());
  // Sums may be kept wider than operands.
  conv.setType(cast<RankedTensorType>(conv.getType()).clone(op.getType().getElementType()));
  conv.getDefiningOp<ConvOp>().setAlgorithm(op.getAlgorithm());
  return conv;
}

Value SparseConv::build() {
  Value conv = makeInner();
  auto type = cast<RankedTensorType>(conv.getType());
  SmallVector<int64_t> positions;
  SmallVector<std::pair<int64_t, OpFoldResult>> places;
  for (auto [spatial, dim] : llvm::enumerate(op.getWindow())) {
    positions.push_back(op.getDims().outputDim(spatial));
    WindowDim &around = outer[spatial];
    int64_t size = type.getDimSize(positions.back());
    if (around.inputDilation == 1 || dim.size == 1)
      continue;
    if (!ShapedType::isDynamic(size)) {
      around.high = op.getType().getDimSize(positions.back()) - around.low -
                    spreadKnown(size, around.inputDilation);
      continue;
    }
    // Between the last place of an image or its padding and the end there is less than a step more.
    around.high += around.inputDilation - 1;
    OpFoldResult elements = sizes.size(op.getInput(), op.getDims().inputDim(spatial)),
                 taps = sizes.size(op.getFilter(), op.getDims().filterDim(spatial));
    places.push_back({positions.back(), countPlaces(sizes, elements, taps, dim)});
  }
  Value result = spreadAndPad(e, conv, outer, positions);
  if (places.empty())
    return result;
  SmallVector<OpFoldResult> taken = sizes.sizes(result);
  for (auto [dim, count] : places)
    taken[dim] = count;
  return takeFirst(e, result, taken);
}

/// Spreads, pads and cuts the spatial dims of the input as an op of its own, so that what remains
/// only pads; that becomes products if the op's algorithm says so and their sizes are known. Where
/// most outputs are zeros, the others are a convolution that is spread instead. A convolution whose
/// phases are computed apart stays as it is.
FailureOr<Values> ConvOp::decompose(OpBuilder &builder) {
  SmallVector<WindowDim> window = getWindow();
  if (llvm::none_of(window, [](const WindowDim &dim) {
        return dim.inputDilation != 1 || dim.low < 0 || dim.high < 0;
      })) {
    if (getAlgorithm() == ConvAlgorithm::Winograd && hasWinogradSizes(*this))
      return Values{buildWinogradConv(*this, builder)};
    return failure();
  }
  ExpressionBuilder e(builder, getLoc());
  SparseConv sparse(*this, e);
  if (sparse.isSparse() && knowsWhatOperandsKnow(*this) && !(*this)->hasAttr(kFirstPlacesAttr))
    return Values{sparse.build()};
  if (matchSpreadConv(*this))
    return failure();
  ConvDimsAttr dims = getDims();
  SmallVector<int64_t> inputDims;
  for (int64_t spatial = 0; spatial < dims.getSpatialRank(); ++spatial)
    inputDims.push_back(dims.inputDim(spatial));
  auto conv =
      ConvOp::create(builder, getLoc(), getType(), spreadAndPad(e, getInput(), window, inputDims),
                     getFilter(), dims, getStridesAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
                     DenseI64ArrayAttr(), getFilterDilationAttr(), getFeatureGroupsAttr(),
                     getBatchGroupsAttr(), getAllowTf32Attr(), getAlgorithmAttr());
  conv->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  return Values{conv};
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

/// True for a constant 0 of any sign.
static bool isZero(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isZero();
  return splat.getSplatValue<APInt>().isZero();
}

/// conv(pad(x)) -> conv(x) with the padding, and with what was put between elements: of zeros, in
/// spatial dims.
LogicalResult ConvOp::canonicalize(ConvOp op, PatternRewriter &rewriter) {
  auto pad = op.getInput().getDefiningOp<PadOp>();
  if (!pad || !isZero(pad.getValue()))
    return rewriter.notifyMatchFailure(op, "the input is not padded by zeros");
  ConvDimsAttr dims = op.getDims();
  auto interiorOf = [&](int64_t dim) { return pad.getInterior() ? (*pad.getInterior())[dim] : 0; };
  for (int64_t label : {ConvDimsAttr::kBatch, ConvDimsAttr::kFeature}) {
    int64_t dim = dims.inputDim(label);
    if (pad.getLow()[dim] != 0 || pad.getHigh()[dim] != 0 || interiorOf(dim) != 0)
      return rewriter.notifyMatchFailure(op, "the batch or the features are padded");
  }
  SmallVector<int64_t> low, high, dilation;
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t dim = dims.inputDim(spatial);
    if (mulSizes(window.inputDilation, interiorOf(dim) + 1).value_or(kMostAmount) >= kMostAmount)
      return rewriter.notifyMatchFailure(op, "the dilation is too large");
    if (window.inputDilation != 1 &&
        (pad.getLow()[dim] != 0 || pad.getHigh()[dim] != 0 || interiorOf(dim) != 0))
      return rewriter.notifyMatchFailure(op, "the padding itself is spread");
    low.push_back(window.low + pad.getLow()[dim]);
    high.push_back(window.high + pad.getHigh()[dim]);
    dilation.push_back(*mulSizes(window.inputDilation, interiorOf(dim) + 1));
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(pad.getOperand());
    op.setLow(low);
    op.setHigh(high);
    op.setInputDilation(dilation);
  });
  return success();
}

} // namespace xc::array
