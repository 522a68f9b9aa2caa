//===- AttentionGradientOp.cpp - kernel.attention_gradient ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.cpp.inc"

namespace xc::kernel {

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyOperands(AttentionGradientOp op) {
  ShapedType query = op.getQueryType(), key = op.getKeyType(), value = op.getValueType();
  int64_t rank = query.hasRank() ? query.getRank() : 0;
  Type element = query.getElementType();
  if (rank < 3 || !(element.isF16() || element.isBF16() || element.isF32()))
    return op.emitOpError("expected queries of rank 3 at least and floats of 16 or 32 bits, got ")
           << query;
  SmallVector<int64_t> shape(query.getShape());
  bool isOfRank =
      key.hasRank() && value.hasRank() && key.getRank() == rank && value.getRank() == rank;
  int64_t groups = isOfRank ? key.getDimSize(rank - 3) : 0;
  if (isOfRank) {
    shape[rank - 3] = groups;
    shape[rank - 2] = key.getDimSize(rank - 2);
  }
  bool fits = isOfRank && hasShape(op.getKey(), shape, element);
  if (isOfRank)
    shape[rank - 1] = value.getDimSize(rank - 1);
  fits = fits && hasShape(op.getValue(), shape, element);
  int64_t heads = query.getDimSize(rank - 3);
  if (!fits || groups < 1 || heads < 1 || heads % groups != 0)
    return op.emitOpError("expected queries, keys and values that belong together, got ")
           << query << ", " << key << " and " << value;
  shape.assign(query.getShape().begin(), query.getShape().end());
  shape.back() = value.getShape().back();
  if (!hasShape(op.getCotangent(), shape, element))
    return op.emitOpError("expected the cotangent of the result, got ")
           << op.getCotangent().getType();
  shape.pop_back();
  for (Value row : {op.getLogsumexp(), op.getDelta()})
    if (!hasShape(row, shape, Float32Type::get(op.getContext())))
      return op.emitOpError("expected an f32 for each query, got ") << row.getType();
  return success();
}

SmallVector<unsigned> AttentionGradientOp::getWanted() {
  if (getOnlyKeys())
    return {1};
  if (getOnlyValues())
    return {2};
  if (getOnlyMask())
    return {3};
  unsigned first = getDests().size() == 2 ? 1 : 0;
  return llvm::to_vector(llvm::seq(first, first + static_cast<unsigned>(getDests().size())));
}

bool AttentionGradientOp::hasMaskOfKeys() {
  ArrayRef<int64_t> shape = cast<ShapedType>(getMask().getType()).getShape();
  return shape.size() > 1 && shape.drop_back().back() == 1;
}

int64_t AttentionGradientOp::countProductElements() {
  int64_t vector = getQueryType().getShape().back(), result = getValueType().getShape().back(),
          elements = vector;
  SmallVector<unsigned> wanted = getWanted();
  for (unsigned operand : wanted)
    elements += operand == 3 ? 0 : operand == 2 ? result : vector;
  // What flows to the weights.
  return wanted.front() == 2 ? elements : elements + result; // in range: sizes of vectors
}

LogicalResult AttentionGradientOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  int only = getOnlyKeys() + getOnlyValues() + getOnlyMask();
  if (only > 1 || (only == 1 && getDests().size() != 1))
    return emitOpError("expected one destination beside one of 'only_keys', 'only_values' and "
                       "'only_mask', got ")
           << getDests().size();
  bool hasMask = getMask() && isa<FloatType>(getElementTypeOrSelf(getMask()));
  size_t most = hasMask ? 4 : 3;
  if (getDests().empty() || getDests().size() > most)
    return emitOpError("expected one destination, two or three, got ") << getDests().size();
  if (getOnlyMask() && !hasMask)
    return emitOpError("expected a mask of floats beside 'only_mask'");
  SmallVector<Value> operands{getQuery(), getKey(), getValue(), getMask()};
  for (auto [dest, operand] : llvm::zip_equal(getDests(), getWanted()))
    if (auto type = cast<ShapedType>(operands[operand].getType());
        !hasShape(dest, type.getShape(), type.getElementType()))
      return emitOpError("expected a destination like ") << type << ", got " << dest.getType();
  if (getSinks()) {
    auto sinks = cast<ShapedType>(getSinks().getType());
    int64_t heads = getQueryType().getDimSize(getQueryType().getRank() - 3);
    if (!isWhole() || !sinks.hasRank() || sinks.getRank() != 1 || sinks.getDimSize(0) != heads)
      return emitOpError("expected a sink for each of ")
             << heads << " query heads beside three destinations, got " << sinks;
  }
  if (getLogsumexpCotangent()) {
    SmallVector<int64_t> shape(getQueryType().getShape().drop_back());
    if (!isWhole() || !hasShape(getLogsumexpCotangent(), shape, Float32Type::get(getContext())))
      return emitOpError("expected an f32 for each query beside three destinations, got ")
             << getLogsumexpCotangent().getType();
  }
  if (getMask()) {
    auto mask = cast<ShapedType>(getMask().getType());
    if (!mask.hasRank() || mask.getRank() > getQueryType().getRank() ||
        !(isa<FloatType>(mask.getElementType()) || mask.getElementType().isInteger(8)))
      return emitOpError("expected a mask of floats or bytes that broadcasts to the scores, got ")
             << mask;
  }
  if ((getOffset() || getWindow()) && !getCausal())
    return emitOpError("expected 'causal' beside an offset or a window");
  return verifyTensorsOrMemrefs(*this);
}

//===----------------------------------------------------------------------===//
// Effects, shapes, buffers
//===----------------------------------------------------------------------===//

void AttentionGradientOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addMemoryEffects(*this, effects);
}

LogicalResult AttentionGradientOp::reifyResultShapes(OpBuilder &builder,
                                                     ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromInits(*this, builder, shapes);
}

bool AttentionGradientOp::bufferizesToMemoryRead(OpOperand &operand,
                                                 const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool AttentionGradientOp::bufferizesToMemoryWrite(OpOperand &operand,
                                                  const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
AttentionGradientOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  return getAliasOfInit(*this, operand);
}

LogicalResult AttentionGradientOp::bufferize(RewriterBase &rewriter,
                                             const bufferization::BufferizationOptions &options,
                                             bufferization::BufferizationState &state) {
  return bufferizeKernelOp(*this, rewriter, options, state);
}

} // namespace xc::kernel
