//===- PagedAttentionOp.cpp - Attention to keys and values in pages -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pages are brought behind each other by the table, which makes the cache of each sequence one
// tensor; attention to that hides what lies behind its length.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult PagedAttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  RankedTensorType query = typeOf(adaptor.getQuery()), keys = typeOf(adaptor.getKeys()),
                   values = typeOf(adaptor.getValues()), table = typeOf(adaptor.getTable()),
                   lengths = typeOf(adaptor.getLengths());
  if (failed(
          checkSameElementType(rule, {adaptor.getQuery(), adaptor.getKeys(), adaptor.getValues()})))
    return failure();
  if (query.getRank() != 4 || keys.getRank() != 4 || values.getRank() != 4)
    return rule.error("expected a query and pages of rank 4, got ", query, ", ", keys, " and ",
                      values);
  if (table.getRank() != 2 || lengths.getRank() != 1)
    return rule.error("expected a table of rank 2 and a vector of lengths, got ", table, " and ",
                      lengths);
  int64_t batch = mergeDims(query.getDimSize(0), table.getDimSize(0));
  if (!areCompatibleDims(query.getDimSize(0), table.getDimSize(0)) ||
      !areCompatibleDims(batch, lengths.getDimSize(0)))
    return rule.error(
        "expected as many rows of the table and lengths as queries in the batch, got ", query, ", ",
        table, " and ", lengths);
  for (unsigned dim = 0; dim < 3; ++dim)
    if (!areCompatibleDims(keys.getDimSize(dim), values.getDimSize(dim)))
      return rule.error("expected as many pages, heads and places in a page of keys as of values, "
                        "got ",
                        keys, " and ", values);
  if (keys.getDimSize(0) == 0 || values.getDimSize(0) == 0)
    return rule.error("expected at least one page, got ", keys, " and ", values);
  if (!areCompatibleDims(query.getDimSize(3), keys.getDimSize(3)))
    return rule.error("expected vectors of one length in query and keys, got ", query, " and ",
                      keys);
  int64_t heads = query.getDimSize(1), groups = mergeDims(keys.getDimSize(1), values.getDimSize(1));
  if (failed(checkHeads(rule, heads, groups)))
    return failure();
  inferred.push_back(RankedTensorType::get(
      {mergeDims(batch, lengths.getDimSize(0)), heads, query.getDimSize(2), values.getDimSize(3)},
      query.getElementType()));
  return success();
}

LogicalResult PagedAttentionOp::reifySizes(SizeBuilder &sizes,
                                           ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> result = sizes.sizes(getQuery());
  result.back() = sizes.size(getValues(), 3);
  return reifyAs(getType(), result, sizes, shapes);
}

//===----------------------------------------------------------------------===//
// In simpler ops
//===----------------------------------------------------------------------===//

/// The pages of each sequence behind each other: [B, G, N * S, D].
static Value gatherPages(ExpressionBuilder &e, Value pages, Value table) {
  Value taken = e.make<TakeOp>(pages, table, uint64_t(0)); // [B, N, G, S, D]
  Value turned = e.make<TransposeOp>(taken, ArrayRef<int64_t>{0, 2, 1, 3, 4});
  SizeBuilder sizes(e.getBuilder(), pages.getLoc());
  SmallVector<OpFoldResult> from = sizes.sizes(turned);
  SmallVector<OpFoldResult> to{from[0], from[1], sizes.mul(from[2], from[3]), from[4]};
  SmallVector<int64_t> shape;
  Values dynamic;
  dispatchIndexOpFoldResults(to, dynamic, shape);
  return e.make<ReshapeOp>(RankedTensorType::get(shape, typeOf(pages).getElementType()), turned,
                           dynamic);
}

/// The numbers of dim `dim` of `like`, as a vector along dim `place` of a tensor of rank `rank`.
static Value makePositions(ExpressionBuilder &e, Value like, int64_t dim, int64_t place,
                           int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[place] = typeOf(like).getDimSize(dim);
  Values dynamic;
  if (ShapedType::isDynamic(shape[place])) {
    SizeBuilder sizes(e.getBuilder(), like.getLoc());
    dynamic.push_back(sizes.value(sizes.size(like, dim)));
  }
  return e.make<IotaOp>(RankedTensorType::get(shape, e.getBuilder().getI64Type()), dynamic,
                        uint64_t(place));
}

/// There are pages to take, of keys as of values, and a row of the table and a length for each
/// query of the batch.
void reifyRequirements(PagedAttentionOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  OpFoldResult batch = sizes.size(op.getTable(), 0), pages = sizes.size(op.getTable(), 1);
  for (Value places : {op.getKeys(), op.getValues()}) {
    SmallVector<OpFoldResult> taken = sizes.sizes(places);
    taken.front() = pages;
    taken.insert(taken.begin(), batch);
    requirements.requireElement(taken, places, 0, ", to take");
  }
  for (Value other : {op.getTable(), op.getLengths()})
    requirements.requireAgreement(op.getQuery(), 0, other, 0);
  requirements.requireAgreement(op.getQuery(), 3, op.getKeys(), 3);
  requirements.requireAgreement(op.getKeys(), 1, op.getValues(), 1);
  // Of no pages it does not matter how many places each has.
  requirements.requireAgreementOfSizes(
      sizes.mul(pages, sizes.size(op.getKeys(), 2)), op.getKeys().getType(),
      sizes.mul(pages, sizes.size(op.getValues(), 2)), op.getValues().getType());
  requirements.requireResultTypes();
}

FailureOr<Values> PagedAttentionOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value keys = gatherPages(e, getKeys(), getTable()),
        values = gatherPages(e, getValues(), getTable());
  Type i64 = builder.getI64Type();
  Value lengths = e.make<ExpandDimsOp>(e.convert(getLengths(), i64), ArrayRef<int64_t>{1, 2, 3});
  // What is in places that are not used yet may be anything, also what no 0 makes 0.
  Value isUsed = e.compare(CompareDirection::Lt, makePositions(e, keys, 2, 2, 4), lengths);
  values = e.select(isUsed, values, e.scalar(0, values));
  // The last query is the last of the sequence.
  Value query = e.sub(makePositions(e, getQuery(), 2, 2, 4), e.sizeLess(getQuery(), 2, 0, i64));
  Value isSeen =
      e.compare(CompareDirection::Le, makePositions(e, keys, 2, 3, 4), e.add(query, lengths));
  auto attention = AttentionOp::create(
      builder, getLoc(), getQuery(), keys, values, /*mask=*/isSeen, /*offset=*/Value(),
      /*sinks=*/Value(), /*causal=*/UnitAttr(), /*window=*/IntegerAttr(),
      /*with_logsumexp=*/UnitAttr(), getSoftcapAttr(), getScaleAttr());
  return Values{e.finish(attention.getResult(), getType())};
}

} // namespace xc::array
