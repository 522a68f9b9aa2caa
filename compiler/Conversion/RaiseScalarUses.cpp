//===- RaiseScalarUses.cpp - Tensor ops that use scalars ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies, fills, elements, slices and pads that read scalars which -xc-raise-scalars made tensors
// of.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ScalarRaiser.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc {

/// Bodies read raised scalars.
void Raiser::visitBodies(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    llvm::DenseMap<Value, Value> read;
    OpBuilder body = OpBuilder::atBlockBegin(&region.front());
    region.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands()) {
        Value value = operand.get();
        if (region.isAncestor(value.getParentRegion()) || !isForeign(value))
          continue;
        Value &local = read[value];
        if (!local)
          local = inBody(body, op->getLoc(), value);
        operand.set(local);
      }
    });
  }
}

void Raiser::raiseFill(linalg::FillOp fill) {
  Value scalar = fill.getInputs()[0], init = fill.getOutputs()[0];
  auto type = dyn_cast<RankedTensorType>(init.getType());
  if (!type || !isReplaced(scalar))
    return;
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, fill.getLoc(), type, asTensor(fill.getLoc(), scalar), init,
                                {AffineMap::get(type.getRank(), 0, builder.getContext()),
                                 builder.getMultiDimIdentityMap(type.getRank())},
                                loops, [&](OpBuilder &body, Location loc, ValueRange arguments) {
                                  linalg::YieldOp::create(body, loc, arguments[0]);
                                });
  fill.replaceAllUsesWith(generic);
}

/// Elements that are scalars of a program, put side by side.
void Raiser::raiseElements(tensor::FromElementsOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (llvm::all_of(op.getElements(), [](Value value) { return matchPattern(value, m_Constant()); }))
    return;
  if (type.getRank() == 0)
    return op.replaceAllUsesWith(asTensor(op.getLoc(), op.getElements()[0]));
  Value result =
      tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(), type.getElementType());
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
  for (auto [number, element] : llvm::enumerate(op.getElements())) {
    SmallVector<OpFoldResult> offsets = getAsIndexOpFoldResult(
        builder.getContext(), delinearize(static_cast<int64_t>(number), strides));
    result = tensor::InsertSliceOp::create(builder, op.getLoc(), asTensor(op.getLoc(), element),
                                           result, offsets, ones, ones);
  }
  op.replaceAllUsesWith(result);
}

/// A slice whose place depends on data is a gather.
void Raiser::raiseSlice(tensor::ExtractSliceOp slice) {
  bool isAtData = llvm::any_of(slice.getOffsets(), [&](Value offset) { return isData(offset); });
  if (!isAtData || !slice.getType().hasStaticShape() || !slice.hasUnitStride())
    return;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  Value result = compute(slice.getLoc(), slice.getType(), [&](OpBuilder &body, Location loc) {
    SmallVector<Value> position;
    int64_t loop = 0;
    for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      Value begin = getValueOrCreateConstantIndexOp(body, loc, offset);
      begin = inBody(body, loc, begin);
      if (!dropped[dim])
        begin = arith::AddIOp::create(body, loc, begin, linalg::IndexOp::create(body, loc, loop++));
      position.push_back(begin);
    }
    return tensor::ExtractOp::create(body, loc, slice.getSource(), position).getResult();
  });
  slice.replaceAllUsesWith(result);
}

Value Raiser::put(Location loc, Value update, Value whole, ArrayRef<OpFoldResult> starts) {
  SmallVector<Value> places = llvm::map_to_vector(starts, [&](OpFoldResult start) {
    return asTensor(loc, getValueOrCreateConstantIndexOp(builder, loc, start));
  });
  return array::ExpressionBuilder(builder, loc)
      .make<array::DynamicUpdateSliceOp>(whole, update, places);
}

/// A slice that is put at a place of data.
void Raiser::raiseInsertedSlice(tensor::InsertSliceOp insert) {
  bool isAtData = llvm::any_of(insert.getOffsets(), [&](Value offset) { return isData(offset); });
  if (!isAtData || !insert.getSourceType().hasStaticShape() || !insert.hasUnitStride())
    return;
  auto type =
      RankedTensorType::get(insert.getStaticSizes(), insert.getSourceType().getElementType());
  if (!type.hasStaticShape())
    return;
  Value update = insert.getSource();
  if (update.getType() != type)
    update = array::ReshapeOp::create(builder, insert.getLoc(), type, update, ValueRange());
  insert.replaceAllUsesWith(
      put(insert.getLoc(), update, insert.getDest(), insert.getMixedOffsets()));
}

void Raiser::raiseInsertedElement(tensor::InsertOp insert) {
  Location loc = insert.getLoc();
  auto type = cast<RankedTensorType>(insert.getType());
  Value element = asTensor(loc, insert.getScalar());
  SmallVector<int64_t> ones(type.getRank(), 1);
  if (type.getRank() > 0)
    element = array::ReshapeOp::create(builder, loc, type.clone(ones), element, ValueRange());
  insert.replaceAllUsesWith(
      put(loc, element, insert.getDest(), getAsOpFoldResult(insert.getIndices())));
}

/// A pad by a scalar of the program, or at a place of data: its result filled, with the source in
/// it.
void Raiser::raisePad(tensor::PadOp pad) {
  Value padding = pad.getConstantPaddingValue();
  bool isAtData = llvm::any_of(pad.getLow(), [&](Value low) { return isData(low); });
  if (!padding || !pad.getResultType().hasStaticShape() || !(isForeign(padding) || isAtData))
    return;
  Location loc = pad.getLoc();
  Value whole = compute(loc, pad.getResultType(), [&](OpBuilder &body, Location bodyLoc) {
    return inBody(body, bodyLoc, padding);
  });
  Value source = pad.getSource();
  if (isAtData) {
    if (pad.getSourceType().hasStaticShape())
      pad.replaceAllUsesWith(put(loc, source, whole, pad.getMixedLowPad()));
    return; // else it is refused
  }
  SmallVector<OpFoldResult> ones(pad.getSourceType().getRank(), builder.getIndexAttr(1));
  pad.replaceAllUsesWith(
      tensor::InsertSliceOp::create(builder, loc, source, whole, pad.getMixedLowPad(),
                                    tensor::getMixedSizes(builder, loc, source), ones)
          .getResult());
}

/// One tensor or another, as a scalar says.
void Raiser::raiseSelect(arith::SelectOp select) {
  if (!isa<RankedTensorType>(select.getType()) || isa<ShapedType>(select.getCondition().getType()))
    return;
  Value condition = asTensor(select.getLoc(), select.getCondition());
  array::ExpressionBuilder e(builder, select.getLoc());
  select.replaceAllUsesWith(e.finish(
      e.select(condition, select.getTrueValue(), select.getFalseValue()), select.getType()));
}

} // namespace xc
