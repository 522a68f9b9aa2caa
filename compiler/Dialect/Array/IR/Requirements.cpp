//===- Requirements.cpp - What array ops require of sizes ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Requirements.h"

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

using namespace mlir;

#include "compiler/Dialect/Array/IR/RequirementInterface.cpp.inc"

namespace xc::array {

OpFoldResult isNotEmpty(SizeBuilder &sizeBuilder, ArrayRef<OpFoldResult> sizes) {
  // Each on its own: loops may have more rounds together than a tensor has elements.
  OpFoldResult result = sizeBuilder.constant(1);
  for (OpFoldResult size : sizes)
    result =
        sizeBuilder.mul(result, sizeBuilder.ceilDiv(size, sizeBuilder.constant(kMostElements)));
  return result;
}

static bool isKnownToHold(OpFoldResult left, plan::Comparison comparison, OpFoldResult right) {
  if (left == right)
    return true;
  std::optional<int64_t> a = getConstantIntValue(left), b = getConstantIntValue(right);
  switch (comparison) {
  case plan::Comparison::Equal:
    return a && a == b;
  case plan::Comparison::AtMost:
    return a && (*a == 0 || (b && *a <= *b));
  case plan::Comparison::OneOrEqual:
    return a && (*a == 1 || a == b);
  case plan::Comparison::AtLeast:
    return a && b && *a >= *b;
  }
  llvm_unreachable("unknown comparison");
}

void RequirementBuilder::require(OpFoldResult left, plan::Comparison comparison, OpFoldResult right,
                                 const Twine &what) {
  add(left, comparison, right, (getOriginName(op) + ": " + what).str());
}

void RequirementBuilder::add(OpFoldResult left, plan::Comparison comparison, OpFoldResult right,
                             std::string what, bool isAgreement) {
  // What an analysis cannot tell is null.
  if (!left || !right || isKnownToHold(left, comparison, right))
    return;
  if (isAsked())
    return take({left, comparison, right, std::move(what), isAgreement});
  plan::RequireOp::create(*builder, op->getLoc(), sizes.value(left), comparison, sizes.value(right),
                          what);
}

void RequirementBuilder::requireEqualDims(Value left, int64_t leftDim, Value right,
                                          int64_t rightDim) {
  std::string what;
  llvm::raw_string_ostream(what) << "expected dim " << leftDim << " of " << left.getType()
                                 << " to be dim " << rightDim << " of " << right.getType();
  require(sizes.size(left, leftDim), plan::Comparison::Equal, sizes.size(right, rightDim), what);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void RequirementBuilder::requireOfLoop(OpFoldResult left, Type leftType, OpFoldResult right,
                                       Type rightType) {
  if (!isAsked())
    return;
  std::string what;
  llvm::raw_string_ostream(what) << "expected operands that agree in a dim: " << leftType << " and "
                                 << rightType;
  add(left, plan::Comparison::Equal, right, std::move(what), /*isAgreement=*/true);
}

static bool isStaticDim(Value value, int64_t dim) {
  return !cast<RankedTensorType>(value.getType()).isDynamicDim(dim);
}

void RequirementBuilder::requireAgreement(Value left, int64_t leftDim, Value right,
                                          int64_t rightDim) {
  bool isStatic = isStaticDim(left, leftDim) && isStaticDim(right, rightDim);
  if (isAsked() && !isStatic)
    requireOfLoop(sizes.size(left, leftDim), left.getType(), sizes.size(right, rightDim),
                  right.getType());
}

void RequirementBuilder::requireAgreementWithResult(Value operand, int64_t operandDim,
                                                    int64_t resultDim, int64_t number) {
  Value result = op->getResult(number);
  if (isAsked() && !runtimeSizes->contains(operand, operandDim) &&
      !isStaticDim(operand, operandDim) && isStaticDim(result, resultDim)) {
    int64_t known = cast<RankedTensorType>(result.getType()).getDimSize(resultDim);
    requireOfLoop(sizes.size(operand, operandDim), operand.getType(), sizes.constant(known),
                  result.getType());
  }
}

void RequirementBuilder::requireAgreementWithSize(Value operand, int64_t operandDim,
                                                  OpFoldResult size) {
  if (isAsked())
    requireOfLoop(sizes.size(operand, operandDim), operand.getType(), size,
                  op->getResult(0).getType());
}

void RequirementBuilder::requireShapeOfResult(Value operand) {
  for (int64_t dim = 0, rank = cast<RankedTensorType>(operand.getType()).getRank(); dim < rank;
       ++dim)
    requireAgreementWithResult(operand, dim, dim);
}

void RequirementBuilder::requireBroadcastDims(ValueRange operands, int64_t dimCount,
                                              int64_t trailing, bool withResult) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  for (int64_t dim = 0; dim < dimCount; ++dim) {
    Value known;
    int64_t knownDim = 0;
    for (Value operand : operands) {
      auto type = cast<RankedTensorType>(operand.getType());
      int64_t operandDim = dim - (dimCount + trailing - type.getRank());
      bool isRepeated =
          operandDim < 0 || (type.getDimSize(operandDim) == 1 && result.getDimSize(dim) != 1);
      if (isRepeated)
        continue;
      if (known) {
        requireAgreement(known, knownDim, operand, operandDim);
        continue;
      }
      known = operand;
      knownDim = operandDim;
    }
    if (known && withResult)
      requireAgreementWithResult(known, knownDim, dim);
  }
}

/// Of every elementwise op: operands agree in what is not broadcast.
static void requireBroadcast(Operation *op, RequirementBuilder &requirements) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  bool isComposite = isa<ArrayDecomposableOpInterface>(op);
  requirements.requireBroadcastDims(op->getOperands(), rank, /*trailing=*/0, !isComposite);
  if (isComposite)
    requirements.requireResultTypes();
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

void RequirementBuilder::requireSizeOfType(OpFoldResult size, RankedTensorType from, int64_t dim,
                                           RankedTensorType to) {
  if (!isAsked() || !from.isDynamicDim(dim) || to.isDynamicDim(dim))
    return;
  std::string what;
  llvm::raw_string_ostream(what) << "expected dim " << dim << " of " << from << " to be that of "
                                 << to;
  add(size, plan::Comparison::Equal, sizes.constant(to.getDimSize(dim)), std::move(what),
      /*isAgreement=*/true);
}

bool RequirementBuilder::isRuntimeSize(int64_t number, int64_t dim) {
  if (!isAsked() || !runtimeSizes->containsAnyOf(op->getOperands()))
    return false;
  SizeBuilder ofOperands(*runtimeSizes, op->getLoc(), SizeBuilder::KnownSizes::OfOperands);
  ReifiedRankedShapedTypeDims shapes;
  auto shaped = dyn_cast<ArrayShapeOpInterface>(op);
  return shaped && succeeded(shaped.reifySizes(ofOperands, shapes)) &&
         runtimeSizes->isRuntime(shapes[number][dim]);
}

void RequirementBuilder::requireResultTypes() {
  auto inferable = dyn_cast<InferTypeOpInterface>(op);
  auto shaped = dyn_cast<ArrayShapeOpInterface>(op);
  if (!isAsked() || !inferable || !shaped)
    return;
  SmallVector<Type> inferred;
  SizeBuilder ofOperands(*sizes.getAnalysis(), op->getLoc(), SizeBuilder::KnownSizes::OfOperands);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(inferable.inferReturnTypes(op->getContext(), std::nullopt, op->getOperands(),
                                        op->getDiscardableAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), inferred)) ||
      failed(shaped.reifySizes(ofOperands, shapes)))
    return;
  for (auto [number, type] : llvm::enumerate(inferred)) {
    auto to = cast<RankedTensorType>(op->getResult(number).getType());
    RankedTensorType from = cast<RankedTensorType>(type).clone(to.getElementType());
    for (auto [dim, size] : llvm::enumerate(shapes[number]))
      if (!isRuntimeSize(number, dim))
        requireSizeOfType(size, from, dim, to);
  }
}

void RequirementBuilder::requireElementCount(Value operand, ArrayRef<OpFoldResult> to) {
  auto type = cast<RankedTensorType>(operand.getType());
  OpFoldResult left = sizes.constant(1), right = left;
  Dims shape;
  for (OpFoldResult size : sizes.sizes(operand))
    left = sizes.mul(left, size);
  for (OpFoldResult size : to) {
    right = sizes.mul(right, size);
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  }
  std::string what;
  llvm::raw_string_ostream(what) << "expected as many elements in " << type << " as in "
                                 << type.clone(shape);
  require(left, plan::Comparison::Equal, right, what);
}

//===----------------------------------------------------------------------===//
// Results and elements
//===----------------------------------------------------------------------===//

void RequirementBuilder::requireResultSizes(ArrayRef<OpFoldResult> resultSizes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (auto [dim, size] : llvm::enumerate(resultSizes)) {
    if (type.isDynamicDim(dim) || isRuntimeSize(0, dim))
      continue;
    std::string what;
    llvm::raw_string_ostream(what)
        << "expected dim " << dim << " of the result to be that of " << type;
    require(size, plan::Comparison::Equal, sizes.constant(type.getDimSize(dim)), what);
  }
}

void RequirementBuilder::requireCounted(OpFoldResult count, Type counter) {
  // No tensor has more elements than an i64 counts.
  if (counter.isInteger(64))
    return;
  int64_t most = llvm::maxIntN(counter.getIntOrFloatBitWidth());
  std::string what;
  llvm::raw_string_ostream(what) << "expected at most " << most << " elements to count in "
                                 << counter;
  require(count, plan::Comparison::AtMost, sizes.constant(most), what);
}

void RequirementBuilder::requireElement(ArrayRef<OpFoldResult> resultSizes, Value operand,
                                        int64_t dim, StringRef purpose) {
  if (auto requirement = op->getAttrOfType<StringAttr>(kRequirementAttr))
    return requireElementFor(resultSizes, operand, dim, requirement.getValue());
  requireElementFor(resultSizes, operand, dim,
                    "expected an element in dim " + Twine(dim) + " of the operand" + purpose);
}

void RequirementBuilder::requireElementFor(ArrayRef<OpFoldResult> resultSizes, Value operand,
                                           int64_t dim, const Twine &what) {
  int64_t size = cast<RankedTensorType>(operand.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size) && size > 0)
    return;
  require(isNotEmpty(sizes, resultSizes), plan::Comparison::AtMost, sizes.size(operand, dim), what);
}

void RequirementBuilder::requireBox(Value operand, ArrayRef<OpFoldResult> boxSizes) {
  for (auto [dim, box] : llvm::enumerate(boxSizes))
    require(box, plan::Comparison::AtMost, sizes.size(operand, dim),
            "expected a box that fits into dim " + Twine(dim) + " of the operand");
}

void RequirementBuilder::requireLength(Value operand, int64_t axis, int64_t least) {
  require(sizes.constant(least), plan::Comparison::AtMost, sizes.size(operand, axis),
          "expected at least " + Twine(least) + " elements in dim " + Twine(axis) +
              " of the operand");
}

void RequirementBuilder::requirePositions(Value operand, int64_t dim, int64_t resultDim,
                                          OpFoldResult windowSize, OpFoldResult positions,
                                          int64_t known) {
  bool isStatic = isStaticDim(operand, dim) && getConstantIntValue(windowSize);
  if (isStatic || ShapedType::isDynamic(known) || isRuntimeSize(0, resultDim))
    return;
  OpFoldResult wanted = sizes.constant(known);
  if (op->hasAttr(kFirstPlacesAttr))
    return require(sizes.mul(wanted, isNotEmpty(sizes, windowSize)), plan::Comparison::AtMost,
                   positions,
                   "expected at least as many positions of the window along dim " + Twine(dim) +
                       " of the operand as the result has");
  require(positions, plan::Comparison::Equal, wanted,
          "expected as many positions of the window along dim " + Twine(dim) +
              " of the operand as the result has");
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {

struct ElementwiseModel : RequirementOpInterface::FallbackModel<ElementwiseModel> {
  void reifyRequirements(Operation *op, RequirementBuilder &requirements) const {
    requireBroadcast(op, requirements);
  }
};

/// Ops along an axis whose result is like their operand.
template <typename Op>
struct AlongAxisModel : RequirementOpInterface::ExternalModel<AlongAxisModel<Op>, Op> {
  void reifyRequirements(Operation *op, RequirementBuilder &requirements) const {
    if (auto least = op->getAttrOfType<IntegerAttr>(kLeastSizeAttr))
      requirements.requireLength(op->getOperand(0), cast<Op>(op).getAxis(), least.getInt());
    requirements.requireShapeOfResult(op->getOperand(0));
  }
};

/// Composites of one operand, or whose verifier compares all others.
struct CompositeModel : RequirementOpInterface::FallbackModel<CompositeModel> {
  void reifyRequirements(Operation *op, RequirementBuilder &requirements) const {
    requirements.requireResultTypes();
  }
};

template <typename Op> struct OpModel : RequirementOpInterface::ExternalModel<OpModel<Op>, Op> {
  void reifyRequirements(Operation *op, RequirementBuilder &requirements) const {
    array::reifyRequirements(cast<Op>(op), requirements);
  }
};

} // namespace

template <template <typename> class Model, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

void attachRequirements(MLIRContext *context) {
  attach<OpModel, ClampOp>(context);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == ArrayDialect::getDialectNamespace() &&
        name.hasInterface<ArrayElementwiseOpInterface>() &&
        !name.hasInterface<RequirementOpInterface>())
      name.attachInterface<ElementwiseModel>();
  attach<AlongAxisModel, CumMaxOp, CumMinOp, CumProdOp, CumSumOp, LogCumSumExpOp, SortOp>(context);
  attach<OpModel, AppendOp, ArgMaxOp, ArgMinOp, ArgSortOp, BroadcastInDimOp, ConcatenateOp, ConvOp,
         CustomKernelOp, DotGeneralOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp, IotaOp,
         MatMulOp, PadOp, PadToBoundOp, ReduceOp, ReduceWindowOp, ReduceWithOp, ReshapeOp,
         ReverseOp, ScatterOp, SearchSortedOp, SelectAndScatterOp, SliceOp, TakeAlongAxisOp, TakeOp,
         TopKOp, TransposeOp>(context);
  attach<OpModel, AttentionOp, AttentionGradientOp, BatchNormInferenceOp, BatchNormTrainingOp,
         CompressOp, ExpandDimsOp, GroupNormOp, GroupedMatMulOp, LayerNormOp, MaskedScatterOp,
         NonzeroOp, PagedAttentionOp, PartitionOp, RandomBernoulliOp, ResizeOp, RmsNormOp, RopeOp,
         SplitOp, SqueezeOp>(context);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == ArrayDialect::getDialectNamespace() &&
        name.hasInterface<ArrayDecomposableOpInterface>() &&
        !name.hasInterface<RequirementOpInterface>())
      name.attachInterface<CompositeModel>();
}

} // namespace xc::array
