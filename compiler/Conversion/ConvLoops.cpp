//===- ConvLoops.cpp - The loops of a convolution -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ConvLoops.h"
#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

using array::ConvDimsAttr;

AffineExpr ConvLoops::addLoop(utils::IteratorType type) {
  iterators.push_back(type);
  return builder.getAffineDimExpr(iterators.size() - 1);
}

AffineExpr ConvLoops::addResultLoop(OpFoldResult size) {
  AffineExpr loop = addLoop(utils::IteratorType::parallel);
  resultDims.back().push_back(resultExprs.size());
  resultExprs.push_back(loop);
  resultSizes.push_back(size);
  return loop;
}

void ConvLoops::addFilterLoops() {
  for (int64_t label : dims.getFilter()) {
    if (label == ConvDimsAttr::kFilterInput)
      channel = addLoop(utils::IteratorType::reduction);
    else if (label != ConvDimsAttr::kFilterOutput)
      taps[label] = addLoop(utils::IteratorType::reduction);
  }
}

/// acc + x * w, in the type that is accumulated in.
Value ConvLoops::multiplyAdd(OpBuilder &b, Location bodyLoc, ValueRange args) {
  Type type = args[2].getType();
  bool isUnsigned = getElementTypeOrSelf(op.getInput().getType()).isUnsignedInteger();
  auto widen = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    if (isa<FloatType>(type))
      return arith::ExtFOp::create(b, bodyLoc, type, value);
    return isUnsigned ? arith::ExtUIOp::create(b, bodyLoc, type, value).getResult()
                      : arith::ExtSIOp::create(b, bodyLoc, type, value).getResult();
  };
  Value x = widen(args[0]), w = widen(args[1]);
  if (isa<FloatType>(type))
    return arith::AddFOp::create(b, bodyLoc, args[2], arith::MulFOp::create(b, bodyLoc, x, w));
  return arith::AddIOp::create(b, bodyLoc, args[2], arith::MulIOp::create(b, bodyLoc, x, w));
}

Value ConvLoops::buildGeneric(Value filter, ArrayRef<AffineExpr> inputExprs,
                              ArrayRef<AffineExpr> filterExprs) {
  Type accumulator = computeElement(storageElement(getElementTypeOrSelf(op.getType())));
  Value init =
      filledTensor(builder, loc, resultSizes, scalarConstant(builder, loc, accumulator, 0));
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(iterators.size(), 0, exprs, builder.getContext());
  };
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange{input, filter}, init,
      {map(inputExprs), map(filterExprs), map(resultExprs)}, iterators,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
        linalg::YieldOp::create(b, bodyLoc, multiplyAdd(b, bodyLoc, args));
      });
  if (op.getAllowTf32())
    generic->setAttr(plan::kAllowTF32Attr, builder.getUnitAttr());
  if (Attribute note = op->getAttr(plan::kNoteAttr))
    generic->setAttr(plan::kNoteAttr, note);
  return generic.getResult(0);
}

Value ConvLoops::joinResultDims(Value result) {
  if (resultExprs.size() == resultDims.size())
    return result;
  return tensor::CollapseShapeOp::create(builder, loc, result, resultDims);
}

} // namespace xc
