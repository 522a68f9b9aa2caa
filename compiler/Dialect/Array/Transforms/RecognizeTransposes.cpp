//===- RecognizeTransposes.cpp - Transposes of dims that were split -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape splits dims, a transpose moves the parts of each together, and another reshape merges
// them again: the dims might as well have been moved whole. So it is with heads of queries that are
// grouped by the head of keys that they share.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

using Groups = SmallVector<SmallVector<int64_t>>;

/// The groups of `wide`'s dims that make up one dim of `narrow` each, both without dims of size 1.
static std::optional<Groups> groupDims(Value wide, Value narrow) {
  ArrayRef<int64_t> parts = typeOf(wide).getShape();
  Groups groups;
  int64_t next = 0, rank = parts.size();
  for (int64_t size : typeOf(narrow).getShape()) {
    if (size == 1)
      continue;
    SmallVector<int64_t> &group = groups.emplace_back();
    for (std::optional<int64_t> product = 1; product != size; ++next) {
      if (next == rank)
        return std::nullopt;
      if (parts[next] == 1)
        continue;
      // A `?` is a dim of its own.
      if (ShapedType::isDynamic(parts[next]) && (product != 1 || size != parts[next]))
        return std::nullopt;
      group.push_back(next);
      product = ShapedType::isDynamic(size) ? size : mulSizes(*product, parts[next]);
      if (!product || (!ShapedType::isDynamic(size) && *product > size))
        return std::nullopt;
    }
  }
  for (; next < rank; ++next)
    if (parts[next] != 1)
      return std::nullopt;
  return groups;
}

/// Whether at most one size is a `?`, so that equal shapes are equal dims.
static bool isClear(Value value) { return typeOf(value).getNumDynamicDims() < 2; }

Value recognizeTranspose(Operation *root, ExpressionBuilder &e) {
  auto merge = dyn_cast<ReshapeOp>(root);
  if (!merge || !isClear(merge.getResult()))
    return {};
  View moved = View::of(merge.getOperand(), Through());
  auto split = moved.source.getDefiningOp<ReshapeOp>();
  if (!split)
    return {};
  auto parts = groupDims(split.getResult(), split.getOperand()),
       merged = groupDims(merge.getOperand(), merge.getResult());
  if (!parts || !merged || parts->size() < merged->size())
    return {};
  SmallVector<int64_t> wide, order;
  for (auto [dim, size] : llvm::enumerate(typeOf(split.getOperand()).getShape()))
    if (size != 1)
      wide.push_back(dim);
  bool isSplit = false;
  for (const SmallVector<int64_t> &group : *merged) {
    auto dims = llvm::map_to_vector(group, [&](int64_t dim) { return moved.dims[dim]; });
    // One or several dims that were split, in whole.
    for (ArrayRef<int64_t> rest = dims; !rest.empty();) {
      auto *whole = llvm::find_if(*parts, [&](const SmallVector<int64_t> &part) {
        return rest.take_front(part.size()) == ArrayRef(part);
      });
      if (whole == parts->end())
        return {};
      isSplit |= whole->size() > 1;
      order.push_back(wide[whole - parts->begin()]);
      rest = rest.drop_front(whole->size());
    }
  }
  if (!isSplit)
    return {};
  Value value = split.getOperand();
  // Dims of size 1 in front, and then where they belong.
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < typeOf(value).getRank(); ++dim)
    if (!llvm::is_contained(order, dim))
      permutation.push_back(dim);
  llvm::append_range(permutation, order);
  if (!llvm::is_sorted(permutation))
    value = e.make<TransposeOp>(value, permutation);
  return value.getType() == merge.getType()
             ? value
             : e.make<ReshapeOp>(merge.getType(), value, merge.getSizes());
}

} // namespace xc::array
