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
  if (rank < 3 || !(element.isF16() || element.isBF16()))
    return op.emitOpError("expected queries of rank 3 at least and 16-bit floats, got ") << query;
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

LogicalResult AttentionGradientOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  SmallVector<ShapedType> wanted;
  if (!isOfKeys())
    wanted.push_back(getQueryType());
  if (getDests().size() > 1)
    wanted.append({getKeyType(), getValueType()});
  if (getDests().size() != wanted.size())
    return emitOpError("expected one destination, two or three, got ") << getDests().size();
  for (auto [dest, type] : llvm::zip_equal(getDests(), wanted))
    if (!hasShape(dest, type.getShape(), type.getElementType()))
      return emitOpError("expected a destination like ") << type << ", got " << dest.getType();
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
