//===- AttentionDecodeOp.cpp - Attention of few queries -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionSupport.h"
#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.cpp.inc"

namespace xc::kernel {

//===----------------------------------------------------------------------===//
// kernel.attention_decode
//===----------------------------------------------------------------------===//

static LogicalResult verifyOperands(AttentionDecodeOp op) {
  ShapedType query = op.getQueryType(), key = op.getKeyType(), value = op.getValueType();
  int64_t rank = query.hasRank() ? query.getRank() : 0;
  if (rank < 3 || (op.isPaged() && rank != 4))
    return op.emitOpError("expected queries of rank 3 at least, or 4 beside pages, got ") << query;
  Type element = query.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return op.emitOpError("expected f16, bf16 or f32, got ") << element;
  SmallVector<int64_t> shape(query.getShape());
  bool isOfRank =
      key.hasRank() && value.hasRank() && key.getRank() == rank && value.getRank() == rank;
  int64_t groups = isOfRank ? key.getDimSize(rank - 3) : 0;
  if (isOfRank) {
    if (op.isPaged())
      shape.front() = key.getDimSize(0);
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
  if (ShapedType::isDynamic(query.getDimSize(rank - 2)))
    return op.emitOpError("expected a known number of queries, got ") << query;
  return success();
}

static LogicalResult verifyDests(AttentionDecodeOp op) {
  if (op.getDests().empty() || op.getDests().size() > 2 ||
      (op.getSplits() > 1 && op.getDests().size() != 2))
    return op.emitOpError("expected one or two destinations, two of parts, got ")
           << op.getDests().size();
  SmallVector<int64_t> rows(op.getQueryType().getShape().drop_back());
  if (op.getSplits() > 1)
    rows.push_back(op.getSplits());
  SmallVector<int64_t> shape(rows);
  shape.push_back(op.getValueType().getShape().back());
  Type f32 = Float32Type::get(op.getContext());
  Type element = op.getSplits() > 1 ? f32 : op.getQueryType().getElementType();
  if (!hasShape(op.getDests()[0], shape, element))
    return op.emitOpError("expected a destination of the result's shape and type, got ")
           << op.getDests()[0].getType();
  if (op.hasLogsumexp() && !hasShape(op.getDests()[1], rows, f32))
    return op.emitOpError("expected an f32 for each query, got ") << op.getDests()[1].getType();
  return success();
}

LogicalResult AttentionDecodeOp::verify() {
  if (getSplits() < 1)
    return emitOpError("expected at least one part of the keys, got ") << getSplits();
  if (failed(verifyOperands(*this)) || failed(verifyDests(*this)) ||
      failed(verifySeenKeys(*this)) || failed(verifyPages(*this)))
    return failure();
  return verifyTensorsOrMemrefs(*this);
}

//===----------------------------------------------------------------------===//
// kernel.attention_combine
//===----------------------------------------------------------------------===//

LogicalResult AttentionCombineOp::verify() {
  ShapedType partials = getPartialsType();
  Type f32 = Float32Type::get(getContext());
  int64_t rank = partials.hasRank() ? partials.getRank() : 0;
  if (rank < 2 || ShapedType::isDynamic(partials.getDimSize(rank - 1)) ||
      ShapedType::isDynamic(partials.getDimSize(rank - 2)) ||
      !hasShape(getPartials(), partials.getShape(), f32) ||
      !hasShape(getLogsumexps(), partials.getShape().drop_back(), f32))
    return emitOpError(
               "expected f32 parts of known number and length and a logarithm of each, got ")
           << partials << " and " << getLogsumexps().getType();
  SmallVector<int64_t> rows(partials.getShape().drop_back(2)), shape(rows);
  shape.push_back(getVectorSize());
  if (getDests().empty() || getDests().size() > 2)
    return emitOpError("expected one or two destinations, got ") << getDests().size();
  auto type = cast<ShapedType>(getDests()[0].getType());
  if (!isa<Float16Type, BFloat16Type, Float32Type>(type.getElementType()) ||
      !hasShape(getDests()[0], shape, type.getElementType()) ||
      (getDests().size() == 2 && !hasShape(getDests()[1], rows, f32)))
    return emitOpError("expected destinations of the parts' vectors and of an f32 for each, got ")
           << getDests().getTypes();
  return verifyTensorsOrMemrefs(*this);
}

} // namespace xc::kernel
