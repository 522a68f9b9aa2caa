//===- ScatterOp.cpp - kernel.scatter -------------------------------------===//
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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::kernel {

SmallVector<int64_t> ScatterOp::getWindowDims() {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < cast<ShapedType>(getDest().getType()).getRank(); ++dim)
    if (!llvm::is_contained(getAxes(), dim))
      dims.push_back(dim);
  return dims;
}

int64_t ScatterOp::getBatchRank() { return cast<ShapedType>(getIndices().getType()).getRank() - 1; }

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// A row and an update for each index vector.
static LogicalResult verifyOrder(ScatterOp op) {
  if (!op.getRows() && !op.getOrder())
    return success();
  if (!op.getRows() || !op.getOrder())
    return op.emitOpError("expected both rows and their order, or neither");
  auto rows = cast<ShapedType>(op.getRows().getType()),
       order = cast<ShapedType>(op.getOrder().getType());
  auto batch = cast<ShapedType>(op.getIndices().getType()).getShape().drop_back();
  int64_t count = ShapedType::kDynamic;
  if (!ShapedType::isDynamicShape(batch))
    count = ShapedType::getNumElements(batch);
  for (ShapedType type : {rows, order})
    if (!type.hasRank() || type.getRank() != 1 || !agree(type.getDimSize(0), count) ||
        !type.getElementType().isSignlessInteger())
      return op.emitOpError("expected rows and order to be vectors of integers, one for each index "
                            "vector, got ")
             << rows << " and " << order;
  return success();
}

LogicalResult ScatterOp::verify() {
  auto indices = cast<ShapedType>(getIndices().getType()),
       updates = cast<ShapedType>(getUpdates().getType());
  auto dest = cast<ShapedType>(getDest().getType());
  if (!indices.hasRank() || !updates.hasRank() || !dest.hasRank())
    return emitOpError("expected ranked operands, got ")
           << indices << ", " << updates << " and " << dest;
  if (indices.getRank() == 0 || !indices.getElementType().isSignlessInteger())
    return emitOpError("expected indices of rank 1 or more and signless integers, got ") << indices;
  if (updates.getElementType() != dest.getElementType() ||
      !dest.getElementType().isSignlessIntOrFloat())
    return emitOpError(
               "expected updates and destination of one signless integer or float type, got ")
           << updates.getElementType() << " and " << dest.getElementType();
  int64_t previous = -1;
  for (int64_t axis : getAxes()) {
    if (axis <= previous || axis >= dest.getRank())
      return emitOpError("expected strictly increasing axes in [0, ")
             << dest.getRank() << "), got [" << getAxes() << "]";
    previous = axis;
  }
  int64_t components = indices.getShape().back();
  if (components != static_cast<int64_t>(getAxes().size()))
    return emitOpError("expected index vectors of ")
           << getAxes().size() << " components, got " << indices;

  SmallVector<int64_t> expected(indices.getShape().drop_back());
  for (int64_t dim : getWindowDims())
    expected.push_back(dest.getDimSize(dim));
  if (!llvm::equal(expected, updates.getShape(), agree))
    return emitOpError("expected updates like ")
           << RankedTensorType::get(expected, dest.getElementType()) << ", got " << updates;

  if (failed(verifyOrder(*this)))
    return failure();
  return verifyTensorsOrMemrefs(*this);
}

//===----------------------------------------------------------------------===//
// Effects, shapes, buffers
//===----------------------------------------------------------------------===//

void ScatterOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addMemoryEffects(*this, effects);
}

LogicalResult ScatterOp::reifyResultShapes(OpBuilder &builder,
                                           ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromInits(*this, builder, shapes);
}

bool ScatterOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) {
  return true;
}

bool ScatterOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
ScatterOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  return getAliasOfInit(*this, operand);
}

LogicalResult ScatterOp::bufferize(RewriterBase &rewriter,
                                   const bufferization::BufferizationOptions &options,
                                   bufferization::BufferizationState &state) {
  return bufferizeKernelOp(*this, rewriter, options, state);
}

//===----------------------------------------------------------------------===//
// Tiling, over the window
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> ScatterOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getWindowDims().size(), utils::IteratorType::parallel);
}

SmallVector<Range> ScatterOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> ranges;
  for (int64_t dim : getWindowDims())
    ranges.push_back({builder.getIndexAttr(0), sizeOf(builder, getLoc(), getDest(), dim),
                      builder.getIndexAttr(1)});
  return ranges;
}

LogicalResult ScatterOp::getResultTilePosition(OpBuilder &builder, unsigned,
                                               ArrayRef<OpFoldResult> offsets,
                                               ArrayRef<OpFoldResult> sizes,
                                               SmallVector<OpFoldResult> &resultOffsets,
                                               SmallVector<OpFoldResult> &resultSizes) {
  int64_t rank = cast<ShapedType>(getDest().getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    resultOffsets.push_back(builder.getIndexAttr(0));
    resultSizes.push_back(sizeOf(builder, getLoc(), getDest(), dim));
  }
  for (auto [window, dim] : llvm::enumerate(getWindowDims())) {
    resultOffsets[dim] = offsets[window];
    resultSizes[dim] = sizes[window];
  }
  return success();
}

FailureOr<TilingResult> ScatterOp::getTiledImplementation(OpBuilder &builder,
                                                          ArrayRef<OpFoldResult> offsets,
                                                          ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  SmallVector<OpFoldResult> destOffsets, destSizes;
  if (failed(getResultTilePosition(builder, 0, offsets, sizes, destOffsets, destSizes)))
    return failure();
  SmallVector<OpFoldResult> updateOffsets(getBatchRank(), builder.getIndexAttr(0)), updateSizes;
  for (int64_t dim = 0; dim < getBatchRank(); ++dim)
    updateSizes.push_back(sizeOf(builder, loc, getUpdates(), dim));
  llvm::append_range(updateOffsets, offsets);
  llvm::append_range(updateSizes, sizes);
  Operation *updates = sliceOf(builder, loc, getUpdates(), updateOffsets, updateSizes);
  Operation *dest = sliceOf(builder, loc, getDest(), destOffsets, destSizes);
  SmallVector<Type> resultTypes;
  if (getNumResults() == 1)
    resultTypes.push_back(dest->getResult(0).getType());
  SmallVector<Value> operands{getIndices(), updates->getResult(0)};
  if (getRows())
    operands.append({getRows(), getOrder()});
  operands.push_back(dest->getResult(0));
  Operation *tiled = mlir::clone(builder, getOperation(), resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), {updates, dest}};
}

FailureOr<TilingResult> ScatterOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                                           ArrayRef<OpFoldResult> offsets,
                                                           ArrayRef<OpFoldResult> sizes) {
  // A tile that cuts the scattered dims would need the others' updates filtered out.
  for (int64_t axis : getAxes()) {
    OpFoldResult size = sizeOf(builder, getLoc(), getDest(), axis);
    if (!isZeroInteger(offsets[axis]) || !isEqualConstantIntOrValue(sizes[axis], size))
      return failure();
  }
  SmallVector<OpFoldResult> windowOffsets, windowSizes;
  for (int64_t dim : getWindowDims()) {
    windowOffsets.push_back(offsets[dim]);
    windowSizes.push_back(sizes[dim]);
  }
  return getTiledImplementation(builder, windowOffsets, windowSizes);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static Value combine(OpBuilder &b, Location loc, ScatterKind kind, bool isUnsigned, Value old,
                     Value update) {
  bool isFloat = isa<FloatType>(old.getType());
  switch (kind) {
  case ScatterKind::Set:
    return update;
  case ScatterKind::Add:
    return isFloat ? arith::AddFOp::create(b, loc, old, update).getResult()
                   : arith::AddIOp::create(b, loc, old, update).getResult();
  case ScatterKind::Mul:
    return isFloat ? arith::MulFOp::create(b, loc, old, update).getResult()
                   : arith::MulIOp::create(b, loc, old, update).getResult();
  case ScatterKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, old, update);
    return isUnsigned ? arith::MaxUIOp::create(b, loc, old, update).getResult()
                      : arith::MaxSIOp::create(b, loc, old, update).getResult();
  case ScatterKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, old, update);
    return isUnsigned ? arith::MinUIOp::create(b, loc, old, update).getResult()
                      : arith::MinSIOp::create(b, loc, old, update).getResult();
  }
  llvm_unreachable("unknown kind of scatter");
}

void ScatterOp::buildLoopNest(OpBuilder &builder) {
  SmallVector<int64_t> batchDims = llvm::to_vector(llvm::seq<int64_t>(0, getBatchRank()));
  SmallVector<int64_t> windowDims = getWindowDims();
  loopOverDims(
      builder, getLoc(), getIndices(), batchDims,
      [&](OpBuilder &b, Location loc, ValueRange batch) {
        // Read the index vector. As unsigned numbers, negative components are too large.
        SmallVector<Value> vector, where(batch);
        Value isInside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
        where.push_back(Value());
        for (auto [component, axis] : llvm::enumerate(getAxes())) {
          where.back() = arith::ConstantIndexOp::create(b, loc, component);
          Value stored = memref::LoadOp::create(b, loc, getIndices(), where);
          Value index =
              getUnsignedIndices()
                  ? arith::IndexCastUIOp::create(b, loc, b.getIndexType(), stored).getResult()
                  : arith::IndexCastOp::create(b, loc, b.getIndexType(), stored).getResult();
          Value size = getValueOrCreateConstantIndexOp(b, loc, sizeOf(b, loc, getDest(), axis));
          Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
          isInside = arith::AndIOp::create(b, loc, isInside, fits);
          vector.push_back(index);
        }
        auto guard = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
        OpBuilder inner = guard.getThenBodyBuilder(b.getListener());
        loopOverDims(inner, loc, getDest(), windowDims,
                     [&](OpBuilder &w, Location, ValueRange window) {
                       SmallVector<Value> source(batch), target(vector.size() + window.size());
                       llvm::append_range(source, window);
                       for (auto [axis, index] : llvm::zip_equal(getAxes(), vector))
                         target[axis] = index;
                       for (auto [dim, index] : llvm::zip_equal(windowDims, window))
                         target[dim] = index;
                       Value value = memref::LoadOp::create(w, loc, getUpdates(), source);
                       if (getKind() != ScatterKind::Set) {
                         Value old = memref::LoadOp::create(w, loc, getDest(), target);
                         value = combine(w, loc, getKind(), getUnsignedElements(), old, value);
                       }
                       memref::StoreOp::create(w, loc, value, getDest(), target);
                     });
      });
}

} // namespace xc::kernel
