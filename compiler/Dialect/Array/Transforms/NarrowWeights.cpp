//===- NarrowWeights.cpp - Weights of f32 as bf16 or f16 ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. A weight is a parameter or constant of f32 that a product, a convolution or a lookup reads, as
// it is or moved. Which parameters are, the whole module decides: each has one type in its file.
// 2. Each weight becomes narrow, and a conversion back to f32 of it.
// 3. Conversions move down, behind what only moves elements and behind lookups, so that these move
// half as many bytes.
// 4. Products that conversions reach take the narrow weight, their other operand rounded to its
// type, and keep their result of f32.
//
// Masks, norms' scales, biases and tables that are added are no weights in this sense and stay.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/Transforms/NarrowFloats.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_NARROWWEIGHTS
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// Weights of fewer bytes save nothing.
static constexpr int64_t kLeastBytes = 4096;

static bool isCandidate(Operation *op) {
  if (!isa<ParameterOp, ConstantOp>(op))
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.getElementType().isF32() || type.getRank() < 2 ||
      type.getNumElements() * int64_t(sizeof(float)) < kLeastBytes)
    return false;
  auto constant = dyn_cast<ConstantOp>(op);
  return !constant || !isa<SplatElementsAttr>(constant.getValue());
}

/// Ops whose results are elements of operand 0, each unchanged.
static bool isMovement(OpOperand &use) {
  return use.getOperandNumber() == 0 &&
         isa<TransposeOp, ReshapeOp, ExpandDimsOp, SqueezeOp, SliceOp, ReverseOp, BroadcastInDimOp,
             SplitOp, TakeOp, tensor::CastOp>(use.getOwner());
}

/// Winograd's algorithm computes with sums of weights, which want more places than these have.
static bool isProduct(OpOperand &use) {
  auto conv = dyn_cast<ConvOp>(use.getOwner());
  if (conv && conv.getAlgorithm() != ConvAlgorithm::Direct)
    return false;
  bool isKnown = conv || isa<MatMulOp, DotGeneralOp, GroupedMatMulOp>(use.getOwner());
  return isKnown && use.getOperandNumber() < 2 &&
         cast<RankedTensorType>(use.getOwner()->getResult(0).getType()).getElementType().isF32();
}

/// Whether a product or a lookup reads `root`, as it is or moved.
static bool isWeight(Value root) {
  SmallVector<Value> worklist = {root};
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      if (isProduct(use) || (isMovement(use) && isa<TakeOp>(use.getOwner())))
        return true;
      if (isMovement(use))
        llvm::append_range(worklist, use.getOwner()->getResults());
    }
  return false;
}

static ArrayRef<char> getBytes(ElementsAttr elements) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.getRawData();
  AsmResourceBlob *blob = cast<DenseResourceElementsAttr>(elements).getRawHandle().getBlob();
  return blob ? blob->getData() : ArrayRef<char>();
}

namespace {

struct NarrowWeights final : impl::NarrowWeightsBase<NarrowWeights> {
  using NarrowWeightsBase::NarrowWeightsBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (type != "bf16" && type != "f16")
      return emitError(UnknownLoc::get(context))
             << "expected bf16 or f16 as the type of weights, got '" << type << "'";
    narrow = type == "bf16" ? FloatType(BFloat16Type::get(context)) : Float16Type::get(context);
    return success();
  }

  void runOnOperation() override {
    products.clear();
    SmallVector<ConvertOp> conversions;
    for (Operation *weight : collect()) {
      FailureOr<Value> replaced = replace(weight);
      if (failed(replaced))
        return signalPassFailure();
      conversions.push_back(widen(*replaced, weight->getResult(0)));
      weight->erase();
    }
    while (!conversions.empty())
      moveDown(conversions.pop_back_val(), conversions);
    for (Operation *product : products)
      narrowOperands(product);
  }

private:
  SmallVector<Operation *> collect();
  FailureOr<Value> replace(Operation *weight);
  ConvertOp widen(Value value, Value replaced);
  void moveDown(ConvertOp conversion, SmallVectorImpl<ConvertOp> &more);
  void narrowOperands(Operation *product);
  RankedTensorType getNarrow(Type tensor) {
    return cast<RankedTensorType>(cast<RankedTensorType>(tensor).clone(narrow));
  }

  FloatType narrow;
  llvm::SetVector<Operation *> products;
};

} // namespace

SmallVector<Operation *> NarrowWeights::collect() {
  SmallVector<Operation *> candidates, weights;
  llvm::DenseSet<Attribute> parameters;
  getOperation().walk([&](Operation *op) {
    if (!isCandidate(op))
      return;
    candidates.push_back(op);
    auto parameter = dyn_cast<ParameterOp>(op);
    if (parameter && isWeight(parameter))
      parameters.insert(parameter.getParameterAttr());
  });
  for (Operation *op : candidates) {
    auto parameter = dyn_cast<ParameterOp>(op);
    if (parameter ? parameters.contains(parameter.getParameterAttr()) : isWeight(op->getResult(0)))
      weights.push_back(op);
  }
  return weights;
}

/// The weight in the narrow type.
FailureOr<Value> NarrowWeights::replace(Operation *weight) {
  OpBuilder builder(weight);
  RankedTensorType type = getNarrow(weight->getResult(0).getType());
  if (auto parameter = dyn_cast<ParameterOp>(weight))
    return Value(
        ParameterOp::create(builder, parameter.getLoc(), type, parameter.getParameterAttr()));
  std::string problem;
  SmallVector<uint16_t, 0> elements =
      narrowFloats(getBytes(cast<ConstantOp>(weight).getValue()),
                   narrow.isBF16() ? NarrowType::BF16 : NarrowType::F16, problem);
  if (!problem.empty())
    return weight->emitError("expected a weight that ") << narrow << " can hold: " << problem;
  ArrayRef<char> bytes(reinterpret_cast<const char *>(elements.data()),
                       elements.size() * sizeof(uint16_t));
  auto attr = DenseResourceElementsAttr::get(
      type, "weight", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, sizeof(uint16_t)));
  return Value(ConstantOp::create(builder, weight->getLoc(), attr));
}

/// Gives users of `replaced` the narrow `value` in f32.
ConvertOp NarrowWeights::widen(Value value, Value replaced) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(value);
  auto conversion =
      ConvertOp::create(builder, value.getLoc(),
                        cast<RankedTensorType>(value.getType()).clone(builder.getF32Type()), value);
  replaced.replaceAllUsesExcept(conversion, conversion);
  return conversion;
}

/// Behind what only moves elements. Products are noted.
void NarrowWeights::moveDown(ConvertOp conversion, SmallVectorImpl<ConvertOp> &more) {
  for (OpOperand &use : llvm::make_early_inc_range(conversion->getUses())) {
    Operation *user = use.getOwner();
    if (isProduct(use))
      products.insert(user);
    if (!isMovement(use))
      continue;
    use.set(conversion.getOperand());
    for (Value result : user->getResults()) {
      result.setType(getNarrow(result.getType()));
      more.push_back(widen(result, result));
    }
  }
  if (conversion->use_empty())
    conversion.erase();
}

void NarrowWeights::narrowOperands(Operation *product) {
  OpBuilder builder(product);
  for (OpOperand &operand : product->getOpOperands().take_front(2)) {
    Value value = operand.get();
    auto conversion = value.getDefiningOp<ConvertOp>();
    if (conversion && conversion.getOperand().getType() == getNarrow(value.getType()))
      operand.set(conversion.getOperand());
    else
      operand.set(ConvertOp::create(builder, product->getLoc(), getNarrow(value.getType()), value));
    if (conversion && conversion->use_empty())
      conversion.erase();
  }
  product->removeAttr("allow_tf32");
}

} // namespace xc::array
