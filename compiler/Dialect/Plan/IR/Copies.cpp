//===- Copies.cpp - Ops that move elements and compute nothing ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Copies.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

AffineMap getCopyMap(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return {};
  Block *body = op.getBlock();
  bool isCopy = body->getTerminator()->getOperand(0) == body->getArgument(0);
  return isCopy && op.getIndexingMapsArray()[1].isIdentity() ? op.getIndexingMapsArray()[0]
                                                             : AffineMap();
}

AffineMap getPermutationMap(linalg::GenericOp op) {
  AffineMap map = getCopyMap(op);
  return map && map.isPermutation() ? map : AffineMap();
}

Value createCopy(OpBuilder &builder, Location loc, Value source, Value init, AffineMap map) {
  AffineMap written = builder.getMultiDimIdentityMap(map.getNumDims());
  SmallVector<utils::IteratorType> iterators(map.getNumDims(), utils::IteratorType::parallel);
  auto yield = [](OpBuilder &b, Location bodyLoc, ValueRange args) {
    linalg::YieldOp::create(b, bodyLoc, args.front());
  };
  return linalg::GenericOp::create(builder, loc, init.getType(), source, init,
                                   ArrayRef{map, written}, iterators, yield)
      .getResult(0);
}

Value createCopy(OpBuilder &builder, Location loc, Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, source),
                                        type.getElementType());
  return createCopy(builder, loc, source, empty, builder.getMultiDimIdentityMap(type.getRank()));
}

} // namespace xc::plan
