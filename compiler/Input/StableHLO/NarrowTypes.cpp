//===- NarrowTypes.cpp - Programs without numbers of few bits -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All values get the type of their carriers at once, and what they stood for is kept aside. Then,
// in program order, there are three kinds of ops:
// - what moves elements, compares them, or passes them on does the same to carriers;
// - products of floats take carriers, and what they give is rounded;
// - what computes is done in a wider type: its operands are widened, its results rounded.
//
// Integers wrap, so most arithmetic on carriers is right but for their upper bits. What reads upper
// bits sees zeros there: logical shifts to the right and counts of bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/NarrowTypes.h"

#include "compiler/Input/StableHLO/NarrowFormats.h"
#include "compiler/Input/StableHLO/Sdy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

static Type getNarrowElement(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isNarrow(tensor.getElementType()) ? tensor.getElementType() : Type();
}

static Type toCarrier(Type type) {
  Type element = getNarrowElement(type);
  return element ? cast<RankedTensorType>(type).clone(getCarrier(element)) : type;
}

/// The type at the boundary of a module: bits of floats, numbers of others.
static Type toPort(Type type) {
  Type element = getNarrowElement(type);
  if (!isa_and_present<FloatType>(element))
    return toCarrier(type);
  return cast<RankedTensorType>(type).clone(
      IntegerType::get(type.getContext(), 8, IntegerType::Unsigned));
}

/// Ops that do to carriers what they do to numbers; their bodies are looked at op by op.
static bool passesOn(Operation *op) {
  return isa<func::CallOp, func::ReturnOp, shlo::ReturnOp, shlo::WhileOp, shlo::IfOp, shlo::CaseOp,
             shlo::OptimizationBarrierOp, shlo::CompositeOp, shlo::SortOp, shlo::ReduceOp,
             shlo::ReduceWindowOp, shlo::ScatterOp, shlo::SelectAndScatterOp, shlo::MapOp,
             shlo::BroadcastInDimOp, shlo::TransposeOp, shlo::ReverseOp, shlo::BroadcastOp,
             shlo::ReshapeOp, shlo::SliceOp, shlo::PadOp, shlo::ConcatenateOp, shlo::DynamicSliceOp,
             shlo::DynamicUpdateSliceOp, shlo::GatherOp, shlo::SelectOp, shlo::DynamicGatherOp,
             shlo::DynamicBroadcastInDimOp, shlo::DynamicReshapeOp, shlo::DynamicPadOp,
             shlo::RealDynamicSliceOp, shlo::TorchIndexSelectOp, shlo::GetDimensionSizeOp,
             sdy::ShardingConstraintOp, chlo::TopKOp>(op);
}

/// Ops that do to numbers of one type what they do to carriers, since these are in the same order.
static bool comparesOnly(Operation *op) {
  return isa<shlo::CompareOp, shlo::MaxOp, shlo::MinOp, shlo::ClampOp>(op);
}

namespace {

class Widener {
public:
  Widener(ModuleOp module, UnsupportedOps &unsupported)
      : module(module), unsupported(unsupported) {}

  /// Whether all ops are supported.
  bool run();

private:
  bool collect();
  void convertFunction(func::FuncOp func);
  void convert(Operation *op);
  Result compute(Operation *op, ExpressionBuilder &e);
  Result convertConstant(shlo::ConstantOp op, ExpressionBuilder &e);
  Result convertBitcast(shlo::BitcastConvertOp op, ExpressionBuilder &e);
  Result computeWide(Operation *op, ExpressionBuilder &e);
  Value widenOperand(Operation *op, ExpressionBuilder &e, Value operand);
  /// Whether carriers do: the quantized numbers of `op` are all of one type.
  bool areOfOneScale(Operation *op) const;
  /// The element type that `value` had, where that is narrow.
  Type getElement(Value value) const { return elements.lookup(value); }
  bool isConcerned(Operation *op) const;

  ModuleOp module;
  UnsupportedOps &unsupported;
  DenseMap<Value, Type> elements;
  SmallVector<Operation *> ops;
};

} // namespace

/// Finds ops and values, and gives values their carriers' types; whether there are any.
bool Widener::collect() {
  auto add = [&](Value value) {
    if (Type element = getNarrowElement(value.getType()))
      elements[value] = element;
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          add(argument);
    ops.push_back(op);
  });
  for (auto [value, element] : elements)
    value.setType(toCarrier(value.getType()));
  return !elements.empty();
}

bool Widener::isConcerned(Operation *op) const {
  auto isNarrowed = [&](Value value) { return elements.contains(value); };
  return llvm::any_of(op->getOperands(), isNarrowed) || llvm::any_of(op->getResults(), isNarrowed);
}

bool Widener::areOfOneScale(Operation *op) const {
  Type first;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults())) {
    Type element = getElement(value);
    if (!element || !isQuantized(element))
      continue;
    // An axis may be another one afterwards: its numbers stay.
    if (auto axes = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
      element = quant::UniformQuantizedPerAxisType::get(
          axes.getFlags(), axes.getStorageType(), axes.getExpressedType(), axes.getScales(),
          axes.getZeroPoints(), 0, axes.getStorageTypeMin(), axes.getStorageTypeMax());
    if (first && element != first)
      return false;
    first = element;
  }
  return true;
}

/// The numbers of a constant in the type of their carriers.
Result Widener::convertConstant(shlo::ConstantOp op, ExpressionBuilder &e) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  Type element = getElement(op.getResult());
  if (!dense)
    return Result::refuse("its elements are not in the text");
  auto type = dense.getType().clone(getCarrier(element));
  auto asFloat = [](APFloat value) {
    bool isLossy = false;
    value.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &isLossy);
    return value.bitcastToAPInt();
  };
  bool isFloat = isa<FloatType>(element), isUnsigned = type.getElementType().isUnsignedInteger();
  unsigned width = type.getElementTypeBitWidth();
  auto asInteger = [&](const APInt &value) {
    return isUnsigned ? value.zextOrTrunc(width) : value.sextOrTrunc(width);
  };
  DenseElementsAttr carriers =
      isFloat ? DenseElementsAttr(cast<DenseFPElementsAttr>(dense).mapValues(
                    type.getElementType(), [&](const APFloat &value) { return asFloat(value); }))
              : DenseElementsAttr(cast<DenseIntElementsAttr>(dense).mapValues(
                    type.getElementType(), [&](const APInt &value) { return asInteger(value); }));
  return e.make<ConstantOp>(cast<ElementsAttr>(carriers));
}

/// Between element types of any widths: what is wide is split into a last dim, lowest bits first.
Result Widener::convertBitcast(shlo::BitcastConvertOp op, ExpressionBuilder &e) {
  Value operand = op.getOperand();
  Type from = getElement(operand), to = getElement(op.getResult());
  Type fromType = from ? from : elementOf(operand), toType = to ? to : elementOf(op.getResult());
  ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape();
  unsigned width = getWidth(fromType), target = getWidth(toType);
  if (isa<ComplexType>(fromType) || isa<ComplexType>(toType) || fromType.isInteger(1) ||
      toType.isInteger(1))
    return Result::refuse("it reads the bits of complex numbers, or of truth values");
  auto as = [&](Value value, Type element) {
    return elementOf(value) == element ? value
                                       : e.make<BitcastOp>(typeOf(value).clone(element), value);
  };
  Value bits = from ? toBits(e, operand, from) : as(operand, getUnsigned(e, width));
  auto finish = [&](Value value) {
    value = e.convert(value, getUnsigned(e, std::max(8u, target)));
    return to ? fromBits(e, value, to) : as(value, toType);
  };
  if (width == target)
    return finish(bits);
  unsigned wide = std::max(width, target), less = std::min(width, target);
  ArrayRef<int64_t> split = width > target ? shape : typeOf(operand).getShape(),
                    whole = width > target ? typeOf(operand).getShape() : shape;
  if (split.empty() || split.drop_back() != whole ||
      split.back() != static_cast<int64_t>(wide / less))
    return Result::refuse("its shapes do not differ by a last dim of size " + Twine(wide / less));
  Type word = getUnsigned(e, std::max(8u, wide));
  SmallVector<int64_t> ones(whole.size(), 1);
  ones.push_back(split.back());
  Value shifts = e.mul(iota(e, ones, word, whole.size()), e.integer(less, word));
  if (width < target) {
    Value shifted = e.make<ShiftLeftOp>(e.convert(bits, word), shifts);
    return finish(e.reduce(ReduceKind::Sum, shifted, static_cast<int64_t>(whole.size()),
                           /*keepdims=*/false));
  }
  SmallVector<int64_t> column(whole);
  column.push_back(1);
  Value parts = e.make<ShiftRightLogicalOp>(reshapeTo(e, bits, column), shifts);
  Value mask = e.integer(static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(less)), word);
  return finish(e.make<AndOp>(parts, mask));
}

/// An operand as `op` takes it in a wider type.
Value Widener::widenOperand(Operation *op, ExpressionBuilder &e, Value operand) {
  Type element = getElement(operand);
  if (!element)
    return operand;
  // Products of bf16 are exact in f32.
  bool isProduct = isa<shlo::DotGeneralOp, shlo::DotOp, shlo::ConvolutionOp>(op);
  if (isProduct && !isQuantized(element))
    return operand;
  bool readsUpperBits =
      isa<shlo::ShiftRightLogicalOp, shlo::PopulationCountOp, shlo::CountLeadingZerosOp>(op);
  if (!readsUpperBits || !isa<IntegerType>(element) || operand != op->getOperand(0))
    return widen(e, operand, element);
  Value bits = toBits(e, operand, element);
  return e.make<BitcastOp>(typeOf(operand), bits);
}

Result Widener::computeWide(Operation *op, ExpressionBuilder &e) {
  if (op->getNumRegions() != 0 || isa<shlo::CustomCallOp>(op))
    return Result::refuse("it works on numbers of few bits, or quantized ones");
  Operation *wide = e.getBuilder().clone(*op);
  for (OpOperand &operand : wide->getOpOperands()) {
    // Before the op, whose place the builder is at.
    OpBuilder::InsertionGuard guard(e.getBuilder());
    e.getBuilder().setInsertionPoint(wide);
    operand.set(widenOperand(op, e, op->getOperand(operand.getOperandNumber())));
  }
  bool isDouble = isa<shlo::ConvertOp>(op) && elementOf(op->getOperand(0)).isF64();
  SmallVector<Value> results;
  for (auto [result, old] : llvm::zip_equal(wide->getResults(), op->getResults())) {
    Type element = getElement(old);
    if (!element) {
      results.push_back(result);
      continue;
    }
    Type type = getArithmeticType(element);
    if (isDouble && isa<FloatType>(element))
      type = Float64Type::get(element.getContext());
    result.setType(typeOf(result).clone(type));
    Value value = result;
    if (isa<shlo::CountLeadingZerosOp>(op))
      value = e.sub(value, e.integer(8 - getWidth(element), elementOf(value)));
    results.push_back(narrow(e, value, element));
  }
  return results;
}

Result Widener::compute(Operation *op, ExpressionBuilder &e) {
  if (auto constant = dyn_cast<shlo::ConstantOp>(op))
    return convertConstant(constant, e);
  if (auto bitcast = dyn_cast<shlo::BitcastConvertOp>(op))
    return convertBitcast(bitcast, e);
  if (isa<shlo::UniformQuantizeOp, shlo::UniformDequantizeOp>(op)) {
    Value value = widenOperand(op, e, op->getOperand(0));
    Type element = getElement(op->getResult(0));
    return element ? narrow(e, value, element) : e.convert(value, elementOf(op->getResult(0)));
  }
  return computeWide(op, e);
}

void Widener::convert(Operation *op) {
  if (!isConcerned(op))
    return;
  bool isSame = areOfOneScale(op);
  if ((passesOn(op) || shlo::isMark(op) || comparesOnly(op)) && isSame)
    return;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (Type element = getElement(value))
      if (const char *why = whyNotNarrow(element))
        return unsupported.add(op->getName().getStringRef(), op->getLoc(), why);
  OpBuilder builder(op);
  ExpressionBuilder e(builder, op->getLoc());
  Result result = passesOn(op) && op->getNumResults() != 1
                      ? Result::refuse("it works on quantized numbers of several scales")
                      : compute(op, e);
  if (result.isRefused())
    return unsupported.add(op->getName().getStringRef(), op->getLoc(), result.getReason().str());
  for (auto [from, to] : llvm::zip_equal(op->getResults(), result.getValues())) {
    if (Type element = getElement(from))
      elements[to] = element;
    from.replaceAllUsesWith(to);
    // A later value may lie where this one was.
    elements.erase(from);
  }
  op->erase();
}

/// Bits at the boundary of public functions.
void Widener::convertFunction(func::FuncOp func) {
  auto convertType = [&](Type type) { return func.isPublic() ? toPort(type) : toCarrier(type); };
  FunctionType type = func.getFunctionType();
  auto arguments = llvm::map_to_vector(type.getInputs(), convertType);
  auto results = llvm::map_to_vector(type.getResults(), convertType);
  func.setType(FunctionType::get(func.getContext(), arguments, results));
  if (!func.isPublic() || func.isExternal())
    return;
  Block &block = func.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  ExpressionBuilder e(builder, func.getLoc());
  for (BlockArgument argument : block.getArguments()) {
    Type element = getElement(argument);
    if (!isa_and_present<FloatType>(element))
      continue;
    argument.setType(arguments[argument.getArgNumber()]);
    Value carrier = fromBits(e, argument, element);
    SmallPtrSet<Operation *, 8> own;
    for (Operation &op : block) {
      if (&op == &*builder.getInsertionPoint())
        break;
      own.insert(&op);
    }
    argument.replaceAllUsesExcept(carrier, own);
    elements.erase(argument);
    elements[carrier] = element;
  }
}

bool Widener::run() {
  if (!collect())
    return true;
  for (Operation *op : ops) {
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      convertFunction(func);
      continue;
    }
    auto end = dyn_cast<func::ReturnOp>(op);
    if (!end || !end->getParentOfType<func::FuncOp>().isPublic()) {
      convert(op);
      continue;
    }
    OpBuilder builder(op);
    ExpressionBuilder e(builder, op->getLoc());
    for (OpOperand &operand : end->getOpOperands())
      if (Type element = getElement(operand.get()); isa_and_present<FloatType>(element))
        operand.set(toBits(e, operand.get(), element));
  }
  return unsupported.empty();
}

bool widenNarrowTypes(ModuleOp module, UnsupportedOps &unsupported) {
  return Widener(module, unsupported).run();
}

} // namespace xc::stablehlo_import
