//===- AttentionCopies.cpp - Tiles of attention's operands by cp.async ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fills tiles where no warpgroup loads: all threads copy rows of a head, wherever that is in
// memory, or of the pages that a table says. Rows behind a length are zero, as are columns behind a
// vector that a product reads.
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

AttentionTiles::CopySource AttentionTiles::makePagedSource(Value pages, Value table, int64_t rows,
                                                           int64_t stages) {
  CopySource source = makeCopySource(pages, rows, stages);
  SmallVector<Value> sizes = points.getSizes(pages);
  // Heads of a page that follow those of the page before are one dim with the pages.
  bool isMerged = source.strides.size() == sizes.size() - 1;
  source.apart = isMerged ? index.mul(source.strides[0], sizes[1]) : source.strides[0];
  source.strides = {source.strides[isMerged ? 0 : 1], source.strides[isMerged ? 1 : 2]};
  source.pages = sizes[0];
  source.pageSize = sizes[2];
  source.table = points.getMemory(getSourceBinding(table));
  source.perSequence = points.getSizes(table)[1];
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
                                Value slot, Value sequence) {
  Value start = source.offset, stride;
  SmallVector<Value> paging;
  if (source.table) {
    start = index.add(start, index.mul(head, source.strides[0]));
    stride = source.strides[1];
    paging = {index.mul(sequence, source.perSequence), source.pageSize, source.apart, source.pages};
  } else {
    SmallVector<Value> coords = index.delinearize(head, ArrayRef(source.sizes).drop_back(2));
    for (auto [coord, step] : llvm::zip(coords, source.strides))
      start = index.add(start, index.mul(coord, step));
    stride = source.strides[source.strides.size() - 2];
  }
  return tile::CopyOp::create(builder, loc, tile::TokenType::get(builder.getContext()),
                              source.memory, start, stride, row, rows, source.columns, slot,
                              config.getThreads(), source.table, paging);
}

SmallVector<Value> AttentionTiles::awaitCopies(ValueRange slots, ValueRange tokens) {
  auto await = tile::AwaitCopiesOp::create(builder, loc, slots, tokens);
  return SmallVector<Value>(await.getResults());
}

} // namespace xc::cuda
