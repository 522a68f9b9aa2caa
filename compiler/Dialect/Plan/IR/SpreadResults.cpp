//===- SpreadResults.cpp - Results that are stored apart ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/SpreadResults.h"

#include "compiler/Dialect/Plan/IR/Copies.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::plan {

int64_t SpreadResult::countUsualPlaces() const {
  int64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.distance;
  return count;
}

int64_t SpreadResult::countPlaces() const {
  int64_t count = 1;
  for (const Dim &dim : dims)
    count *= dim.extent;
  return count;
}

int64_t SpreadResult::getOwnPlace() const {
  int64_t place = 0;
  for (const Dim &dim : dims)
    place = place * dim.extent + dim.start;
  return place;
}

/// One dim, of whose elements there are `count` in `size` places; nothing if places are left over.
static std::optional<SpreadResult::Dim> matchDim(int64_t count, int64_t size, int64_t distance,
                                                 int64_t start) {
  bool isKnown = !ShapedType::isDynamic(count) && !ShapedType::isDynamic(size);
  if (start >= distance || count == 0)
    return std::nullopt;
  if (!isKnown)
    return SpreadResult::Dim{distance, start, distance, distance != 1};
  int64_t behind = size - count * distance; // in range: of a tensor, and a step more
  // Else the last cell would be much larger than others.
  if (behind >= std::max<int64_t>(distance, 2) || (distance == 1 && behind != 0))
    return std::nullopt;
  return SpreadResult::Dim{distance, start, distance + std::max<int64_t>(behind, 0), behind < 0};
}

/// What `insert` does alone.
static std::optional<SpreadResult> matchInsertion(tensor::InsertSliceOp insert) {
  if (insert.getSourceType().getRank() != insert.getType().getRank() || insert.hasUnitStride() ||
      llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(insert.getStaticStrides(), ShapedType::isDynamic))
    return std::nullopt;
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  Attribute background;
  if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&background)))
    return std::nullopt;
  SpreadResult result{insert.getSource(), cast<TypedAttr>(background), {}};
  for (int64_t dim = 0; dim < insert.getType().getRank(); ++dim) {
    std::optional<SpreadResult::Dim> cell =
        matchDim(insert.getSourceType().getDimSize(dim), insert.getType().getDimSize(dim),
                 insert.getStaticStride(dim), insert.getStaticOffset(dim));
    if (!cell)
      return std::nullopt;
    result.dims.push_back(*cell);
  }
  return result;
}

/// The slice that `tensor` is, or is a copy of, which canonicalization removes from kernels; null
/// if it is none.
static tensor::ExtractSliceOp findSlice(Value tensor) {
  if (auto copy = tensor.getDefiningOp<linalg::GenericOp>()) {
    AffineMap map = getCopyMap(copy);
    if (!map || !map.isIdentity())
      return nullptr;
    tensor = copy.getDpsInputs().front();
  }
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  bool fits = slice && slice.getDroppedDims().none() && slice.hasUnitStride() &&
              llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic);
  return fits ? slice : nullptr;
}

/// All of `tensor`, each element in a cell of its own.
static SpreadResult matchAll(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SpreadResult result{tensor, Builder(type.getContext()).getZeroAttr(type.getElementType()), {}};
  result.dims.resize(type.getRank(), SpreadResult::Dim{1, 0, 1});
  return result;
}

/// True if cells have so few places that one thread may well write them.
static bool haveFewPlaces(const SpreadResult &result) {
  constexpr int64_t kMostPlaces = 64;
  int64_t places = 1;
  for (const SpreadResult::Dim &dim : result.dims) {
    if (dim.extent > kMostPlaces / places)
      return false;
    places *= dim.extent;
  }
  return true;
}

std::optional<SpreadResult> matchSpreadResult(Value tensor) {
  tensor::ExtractSliceOp slice = findSlice(tensor);
  Value whole = slice ? slice.getSource() : tensor;
  std::optional<SpreadResult> result;
  if (auto insert = whole.getDefiningOp<tensor::InsertSliceOp>())
    result = matchInsertion(insert);
  else if (slice)
    result = matchAll(whole);
  if (!result || result->dims.empty() || !haveFewPlaces(*result))
    return std::nullopt;
  for (auto [number, dim] : llvm::enumerate(result->dims)) {
    if (!slice)
      break;
    dim.skipped = slice.getStaticOffset(number);
    int64_t size = slice.getType().getDimSize(number),
            all = slice.getSourceType().getDimSize(number);
    dim.isSlice = dim.skipped != 0 || size != all || ShapedType::isDynamic(size);
  }
  const SpreadResult::Dim &inner = result->dims.back();
  if (inner.distance != 1 || inner.isSlice)
    return std::nullopt;
  return result;
}

} // namespace xc::plan
