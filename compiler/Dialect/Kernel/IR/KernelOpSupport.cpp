//===- KernelOpSupport.cpp - What the ops of the kernel dialect share -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::kernel {

bool agree(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

bool hasShape(Value value, ArrayRef<int64_t> shape, Type element) {
  auto type = cast<ShapedType>(value.getType());
  return type.hasRank() && type.getRank() == static_cast<int64_t>(shape.size()) &&
         llvm::equal(type.getShape(), shape, agree) && type.getElementType() == element;
}

LogicalResult verifyTensorsOrMemrefs(DestinationStyleOpInterface op) {
  bool onTensors = isa<RankedTensorType>(op.getDpsInits().front().getType());
  for (Type type : op->getOperandTypes())
    if (onTensors ? !isa<RankedTensorType>(type) : !isa<MemRefType>(type))
      return op.emitOpError("expected only tensors or only memrefs, got ") << op->getOperandTypes();
  auto wanted = onTensors ? TypeRange(op.getDpsInits()) : TypeRange();
  if (op->getResultTypes() == wanted)
    return success();
  return op.emitOpError("expected ")
         << (onTensors ? "a result of each destination's type" : "no result");
}

void addMemoryEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

bool keepsInits(DestinationStyleOpInterface op) {
  auto merge = dyn_cast<MergeOp>(op.getOperation());
  return merge && merge.getAbove();
}

LogicalResult reifyFromInits(DestinationStyleOpInterface op, OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  for (Value init : op.getDpsInits())
    if (op->getNumResults() != 0)
      shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(), init));
  return success();
}

bufferization::AliasingValueList getAliasOfInit(DestinationStyleOpInterface op,
                                                OpOperand &operand) {
  if (!op.isDpsInit(&operand))
    return {};
  return {{op.getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult bufferizeKernelOp(DestinationStyleOpInterface op, RewriterBase &rewriter,
                                const bufferization::BufferizationOptions &options,
                                bufferization::BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  auto onBuffers =
      cast<DestinationStyleOpInterface>(mlir::clone(rewriter, op, TypeRange(), buffers));
  bufferization::replaceOpWithBufferizedValues(rewriter, op, onBuffers.getDpsInits());
  return success();
}

OpFoldResult sizeOf(OpBuilder &builder, Location loc, Value shaped, int64_t dim) {
  if (isa<RankedTensorType>(shaped.getType()))
    return tensor::getMixedSize(builder, loc, shaped, dim);
  return memref::getMixedSize(builder, loc, shaped, dim);
}

Value sizeValueOf(OpBuilder &builder, Location loc, Value shaped, int64_t dim) {
  return getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, shaped, dim));
}

Operation *sliceOf(OpBuilder &builder, Location loc, Value source, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  if (isa<RankedTensorType>(source.getType()))
    return tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, source, offsets, sizes, strides);
}

void getLinesBox(OpBuilder &builder, Value shaped, ArrayRef<int64_t> dims,
                 ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                 SmallVectorImpl<OpFoldResult> &boxOffsets,
                 SmallVectorImpl<OpFoldResult> &boxSizes) {
  int64_t rank = cast<ShapedType>(shaped.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    boxOffsets.push_back(builder.getIndexAttr(0));
    boxSizes.push_back(sizeOf(builder, shaped.getLoc(), shaped, dim));
  }
  for (auto [dim, offset, size] : llvm::zip_equal(dims, offsets, sizes)) {
    boxOffsets[dim] = offset;
    boxSizes[dim] = size;
  }
}

SmallVector<Range> getLinesDomain(DestinationStyleOpInterface op, OpBuilder &builder,
                                  ArrayRef<int64_t> dims) {
  SmallVector<Range> ranges;
  for (int64_t dim : dims)
    ranges.push_back({builder.getIndexAttr(0), sizeOf(builder, op.getLoc(), op->getOperand(0), dim),
                      builder.getIndexAttr(1)});
  return ranges;
}

FailureOr<TilingResult> tileLines(DestinationStyleOpInterface op, OpBuilder &builder,
                                  ArrayRef<int64_t> dims, ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  SmallVector<Operation *> slices;
  SmallVector<Value> operands;
  SmallVector<Type> resultTypes;
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<OpFoldResult> boxOffsets, boxSizes;
    getLinesBox(builder, operand.get(), dims, offsets, sizes, boxOffsets, boxSizes);
    slices.push_back(sliceOf(builder, op.getLoc(), operand.get(), boxOffsets, boxSizes));
    operands.push_back(slices.back()->getResult(0));
    if (op.isDpsInit(&operand) && op->getNumResults() != 0)
      resultTypes.push_back(operands.back().getType());
  }
  Operation *tiled = mlir::clone(builder, op, resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

FailureOr<TilingResult> generateLinesTile(DestinationStyleOpInterface op, OpBuilder &builder,
                                          unsigned number, ArrayRef<int64_t> dims,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> sizes) {
  Value init = op.getDpsInits()[number];
  SmallVector<OpFoldResult> lineOffsets, lineSizes;
  for (int64_t dim = 0; dim < static_cast<int64_t>(offsets.size()); ++dim) {
    if (llvm::is_contained(dims, dim)) {
      lineOffsets.push_back(offsets[dim]);
      lineSizes.push_back(sizes[dim]);
      continue;
    }
    OpFoldResult size = sizeOf(builder, op.getLoc(), init, dim);
    if (!isZeroInteger(offsets[dim]) || !isEqualConstantIntOrValue(sizes[dim], size))
      return failure();
  }
  FailureOr<TilingResult> tile = tileLines(op, builder, dims, lineOffsets, lineSizes);
  if (failed(tile))
    return failure();
  return TilingResult{tile->tiledOps, {tile->tiledValues[number]}, tile->generatedSlices};
}

scf::LoopNest loopOverDims(OpBuilder &builder, Location loc, Value memref, ArrayRef<int64_t> dims,
                           function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> lower(dims.size(), zero), upper, steps(dims.size(), one);
  for (int64_t dim : dims)
    upper.push_back(sizeValueOf(builder, loc, memref, dim));
  return scf::buildLoopNest(builder, loc, lower, upper, steps, body);
}

} // namespace xc::kernel
