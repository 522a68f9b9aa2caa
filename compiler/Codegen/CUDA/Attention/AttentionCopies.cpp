//===- AttentionCopies.cpp - Tiles of attention's operands by cp.async ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fills tiles where no warpgroup loads: all threads copy rows of a head, wherever that is in
// memory. Rows behind a length are zero, as are columns behind a vector that a product reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionTiles.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

/// The scalars of `function` by their numbers, as symbols of formulas; `none` where there is none.
static SmallVector<Value> listScalars(func::FuncOp function, Value none) {
  SmallVector<Value> scalars(countScalars(function), none);
  function.walk([&](plan::ScalarOp scalar) { scalars[scalar.getOrdinal()] = scalar; });
  return scalars;
}

AttentionTiles::CopySource AttentionTiles::makeCopySource(Value tensor, int64_t rows,
                                                          int64_t stages) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  KernelSizes kernelSizes = makeSizes(kernel);
  AttentionOperand operand = *matchAttentionOperand(tensor, kernelSizes);
  SmallVector<Value> scalars = listScalars(kernel.getFunction(), index.constant(0));
  auto toValue = [&](AffineExpr formula) -> Value {
    if (auto constant = dyn_cast<AffineConstantExpr>(formula))
      return index.constant(constant.getValue());
    return affine::expandAffineExpr(builder, loc, formula, /*dimValues=*/{}, scalars);
  };
  CopySource source;
  source.memory = points.getMemory(operand.binding);
  source.columns = tensorType.getShape().back();
  source.type = makeCopiedTile(rows, source.columns, tensorType.getElementType());
  source.sizes = emitSizes(operand, tensor);
  source.rows = source.sizes[source.sizes.size() - 2];
  source.strides = llvm::map_to_vector(operand.strides, toValue);
  source.offset = toValue(operand.offset);
  auto ring = tile::RingType::get(builder.getContext(), stages, {source.type});
  source.ring = tile::RingOp::create(builder, loc, ring, /*arrivals=*/0, /*consumers=*/0,
                                     IntegerAttr(), IntegerAttr());
  return source;
}

Value AttentionTiles::getSlot(const CopySource &source, Value stage) {
  return tile::SlotOp::create(builder, loc, source.type, source.ring, stage, 0);
}

Value AttentionTiles::nextStage(Value stage) {
  Value next = index.add(stage, index.constant(1));
  Value wraps = index.isEqual(next, index.constant(config.getStages()));
  return arith::SelectOp::create(builder, loc, wraps, index.constant(0), next);
}

Value AttentionTiles::startCopy(const CopySource &source, Value head, Value row, Value rows,
                                Value slot) {
  Value start = source.offset;
  SmallVector<Value> coords = index.delinearize(head, ArrayRef(source.sizes).drop_back(2));
  for (auto [coord, stride] : llvm::zip(coords, source.strides))
    start = index.add(start, index.mul(coord, stride));
  Value stride = source.strides[source.strides.size() - 2];
  return tile::CopyOp::create(builder, loc, tile::TokenType::get(builder.getContext()),
                              source.memory, start, stride, row, rows, source.columns, slot,
                              config.getThreads());
}

SmallVector<Value> AttentionTiles::awaitCopies(ValueRange slots, ValueRange tokens) {
  auto await = tile::AwaitCopiesOp::create(builder, loc, slots, tokens);
  return SmallVector<Value>(await.getResults());
}

} // namespace xc::cuda
