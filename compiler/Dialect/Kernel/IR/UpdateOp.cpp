//===- UpdateOp.cpp - kernel.update ---------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::kernel {

bool writesPart(Operation *op) {
  auto scatter = dyn_cast<ScatterOp>(op);
  return isa<UpdateOp>(op) || (scatter && scatter.getInPlace());
}

LogicalResult UpdateOp::verify() {
  auto update = cast<ShapedType>(getUpdate().getType()),
       dest = cast<ShapedType>(getDest().getType());
  if (!update.hasRank() || !dest.hasRank() || update.getRank() != dest.getRank() ||
      update.getElementType() != dest.getElementType())
    return emitOpError("expected an update of the destination's rank and element type, got ")
           << update << " and " << dest;
  if (static_cast<int64_t>(getStarts().size()) != dest.getRank())
    return emitOpError("expected a start for each of ")
           << dest.getRank() << " dims, got " << getStarts().size();
  for (Type type : getStarts().getTypes()) {
    auto start = cast<ShapedType>(type);
    if (!start.hasRank() || start.getRank() != 0 || !start.getElementType().isSignlessInteger())
      return emitOpError("expected starts that are scalars of signless integers, got ") << type;
  }
  for (int64_t dim = 0; dim < dest.getRank(); ++dim)
    if (!update.isDynamicDim(dim) && !dest.isDynamicDim(dim) &&
        update.getDimSize(dim) > dest.getDimSize(dim))
      return emitOpError("expected an update that fits into dim ")
             << dim << " of the destination, got sizes " << update.getDimSize(dim) << " and "
             << dest.getDimSize(dim);
  int64_t previous = -1;
  for (int64_t dim : getUnsignedStarts()) {
    if (dim <= previous || dim >= dest.getRank())
      return emitOpError("expected strictly increasing dims in [0, ")
             << dest.getRank() << ") with unsigned starts, got [" << getUnsignedStarts() << "]";
    previous = dim;
  }
  return verifyTensorsOrMemrefs(*this);
}

bool UpdateOp::isWhole(int64_t dim) {
  auto update = cast<ShapedType>(getUpdate().getType()),
       dest = cast<ShapedType>(getDest().getType());
  return !update.isDynamicDim(dim) && update.getDimSize(dim) == dest.getDimSize(dim);
}

Value UpdateOp::clampStart(OpBuilder &builder, Location loc, int64_t dim, Value stored,
                           Value last) {
  // On 64 bits: indices may be narrower than what is stored.
  Type i64 = builder.getI64Type();
  bool isUnsigned = llvm::is_contained(getUnsignedStarts(), dim);
  Value start = stored;
  if (stored.getType() != i64)
    start = isUnsigned ? arith::ExtUIOp::create(builder, loc, i64, stored).getResult()
                       : arith::ExtSIOp::create(builder, loc, i64, stored).getResult();
  Value limit = arith::IndexCastOp::create(builder, loc, i64, last);
  if (isUnsigned) {
    start = arith::MinUIOp::create(builder, loc, start, limit);
  } else {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
    Value atLeastZero = arith::MaxSIOp::create(builder, loc, start, zero);
    start = arith::MinSIOp::create(builder, loc, atLeastZero, limit);
  }
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), start);
}

//===----------------------------------------------------------------------===//
// Effects, shapes, buffers
//===----------------------------------------------------------------------===//

void UpdateOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addMemoryEffects(*this, effects);
}

LogicalResult UpdateOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromInits(*this, builder, shapes);
}

bool UpdateOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) {
  return true;
}

bool UpdateOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList UpdateOp::getAliasingValues(OpOperand &operand,
                                                             const bufferization::AnalysisState &) {
  return getAliasOfInit(*this, operand);
}

LogicalResult UpdateOp::bufferize(RewriterBase &rewriter,
                                  const bufferization::BufferizationOptions &options,
                                  bufferization::BufferizationState &state) {
  return bufferizeKernelOp(*this, rewriter, options, state);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void UpdateOp::buildLoopNest(OpBuilder &builder) {
  Location loc = getLoc();
  SmallVector<Value> starts;
  int64_t rank = cast<ShapedType>(getDest().getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value last = arith::SubIOp::create(builder, loc, sizeValueOf(builder, loc, getDest(), dim),
                                       sizeValueOf(builder, loc, getUpdate(), dim));
    Value stored = memref::LoadOp::create(builder, loc, getStarts()[dim], ValueRange());
    starts.push_back(clampStart(builder, loc, dim, stored, last));
  }
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  loopOverDims(builder, loc, getUpdate(), dims, [&](OpBuilder &b, Location, ValueRange box) {
    SmallVector<Value> target;
    for (auto [start, position] : llvm::zip_equal(starts, box))
      target.push_back(arith::AddIOp::create(b, loc, start, position));
    Value value = memref::LoadOp::create(b, loc, getUpdate(), box);
    memref::StoreOp::create(b, loc, value, getDest(), target);
  });
}

} // namespace xc::kernel
