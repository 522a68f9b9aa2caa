//===- IndexVerifiers.cpp - What gather and scatter must be like ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of the specification that the importer relies on, of ops whose operands say which
// places are read or written.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/StableHLO.h"
#include "compiler/Input/StableHLO/VerifyParts.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace xc::stablehlo {

namespace {

/// What `gather` and `scatter` have in common, under their own names.
struct IndexedDims {
  ArrayRef<int64_t> window;          // dims of the slices' side that lie in the slice
  ArrayRef<int64_t> collapsed;       // dims of the operand that it has not
  ArrayRef<int64_t> batching;        // dims of the operand that go along with
  ArrayRef<int64_t> indicesBatching; // these of the indices
  ArrayRef<int64_t> map;             // which dim each component of an index is of
  int64_t vectorDim;                 // the dim of the indices that holds components
};

} // namespace

static LogicalResult verifyIndexed(Operation *op, RankedTensorType operand,
                                   RankedTensorType indices, RankedTensorType slices,
                                   const IndexedDims &dims) {
  if (!operand.hasStaticShape() || !indices.hasStaticShape() || !slices.hasStaticShape())
    return success(); // which is refused where it is imported
  int64_t rank = operand.getRank(), indicesRank = indices.getRank();
  if (!indices.getElementType().isIntOrIndex() || indices.getElementType().isInteger(1))
    return op->emitOpError() << "expected indices of integers, got " << indices;
  SmallVector<int64_t> gone(dims.collapsed);
  llvm::append_range(gone, dims.batching);
  if (failed(verifyDims(op, "the slices' dims", dims.window, slices.getRank())) ||
      failed(verifyDims(op, "the operand's dims that slices have not", gone, rank)) ||
      failed(verifyDims(op, "the dims that index vectors are of", dims.map, rank)) ||
      failed(verifyDims(op, "the batching dims of the indices", dims.indicesBatching, indicesRank)))
    return failure();
  if (dims.batching.size() != dims.indicesBatching.size())
    return op->emitOpError()
           << "expected as many batching dims of the operand as of the indices, got "
           << dims.batching.size() << " and " << dims.indicesBatching.size();
  if (dims.vectorDim < 0 || dims.vectorDim > indicesRank ||
      llvm::is_contained(dims.indicesBatching, dims.vectorDim))
    return op->emitOpError() << "expected an index_vector_dim in [0, " << indicesRank
                             << "] that is not a batching dim, got " << dims.vectorDim;
  int64_t components = dims.vectorDim == indicesRank ? 1 : indices.getDimSize(dims.vectorDim);
  if (components != static_cast<int64_t>(dims.map.size()))
    return op->emitOpError() << "expected index vectors of " << dims.map.size()
                             << " components, got " << components << " in " << indices;
  for (auto [dim, other] : llvm::zip_equal(dims.batching, dims.indicesBatching))
    if (operand.getDimSize(dim) != indices.getDimSize(other))
      return op->emitOpError() << "expected batching dims of one size, got "
                               << operand.getDimSize(dim) << " and " << indices.getDimSize(other);
  if (static_cast<int64_t>(dims.window.size() + gone.size()) != rank)
    return op->emitOpError() << "expected each of " << rank
                             << " dims of the operand in the slice, collapsed or batching, got "
                             << dims.window.size() + gone.size();
  if (!llvm::is_sorted(dims.window))
    return op->emitOpError() << "expected the slices' dims in order, got [" << dims.window << "]";
  // What is no dim of a slice is a dim of the indices, in order.
  SmallVector<int64_t> batch, found;
  for (int64_t dim = 0; dim < indicesRank; ++dim)
    if (dim != dims.vectorDim)
      batch.push_back(indices.getDimSize(dim));
  for (int64_t dim = 0; dim < slices.getRank(); ++dim)
    if (!llvm::is_contained(dims.window, dim))
      found.push_back(slices.getDimSize(dim));
  if (batch != found)
    return op->emitOpError() << "expected slices with the dims [" << batch
                             << "] of the indices, got [" << found << "]";
  return success();
}

LogicalResult GatherOp::verify() {
  RecordAttr dims = getDimensionNumbers();
  auto operand = typeOf(getOperand()), result = typeOf(getResult());
  SmallVector<int64_t> sizes = getNumbers(getSliceSizes());
  if (failed(verifyLength(*this, "slice_sizes", sizes, operand.getRank())))
    return failure();
  IndexedDims indexed{
      dims.getList("offset_dims"),           dims.getList("collapsed_slice_dims"),
      dims.getList("operand_batching_dims"), dims.getList("start_indices_batching_dims"),
      dims.getList("start_index_map"),       dims.getNumber("index_vector_dim", 0)};
  if (result.getElementType() != operand.getElementType())
    return emitOpError() << "expected a result of " << operand.getElementType() << ", got "
                         << result;
  if (failed(verifyIndexed(*this, operand, typeOf(getStartIndices()), result, indexed)))
    return failure();
  if (!operand.hasStaticShape() || !result.hasStaticShape())
    return success();
  const int64_t *next = indexed.window.begin();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size < 0 || size > operand.getDimSize(dim))
      return emitOpError() << "expected a slice of 0 to " << operand.getDimSize(dim)
                           << " elements in dim " << dim << ", got " << size;
    bool isGone =
        llvm::is_contained(indexed.collapsed, dim) || llvm::is_contained(indexed.batching, dim);
    if (isGone && size > 1)
      return emitOpError() << "expected a slice of one element in dim " << dim
                           << ", which the result has not, got " << size;
    if (!isGone && result.getDimSize(*next++) != size)
      return emitOpError() << "expected a result with a slice of " << size << " elements of dim "
                           << dim << ", got " << result;
  }
  return success();
}

LogicalResult ScatterOp::verify() {
  if (getInputs().size() < 3 || getInputs().size() % 2 == 0)
    return emitOpError() << "expected operands, indices and an update for each operand, got "
                         << getInputs().size() << " values";
  size_t count = getInputs().size() / 2;
  ValueRange operands = getInputs().take_front(count), updates = getInputs().take_back(count);
  RecordAttr dims = getScatterDimensionNumbers();
  IndexedDims indexed{
      dims.getList("update_window_dims"),           dims.getList("inserted_window_dims"),
      dims.getList("input_batching_dims"),          dims.getList("scatter_indices_batching_dims"),
      dims.getList("scatter_dims_to_operand_dims"), dims.getNumber("index_vector_dim", 0)};
  for (auto [operand, update] : llvm::zip_equal(operands, updates)) {
    auto type = typeOf(operand), updateType = typeOf(update);
    if (type.getShape() != typeOf(operands.front()).getShape())
      return emitOpError() << "expected operands of one shape, got " << operands.front().getType()
                           << " and " << type;
    if (type.getElementType() != updateType.getElementType())
      return emitOpError() << "expected updates of " << type.getElementType() << ", got "
                           << updateType;
    if (failed(verifyIndexed(*this, type, typeOf(getInputs()[count]), updateType, indexed)))
      return failure();
    const int64_t *next = indexed.window.begin();
    for (int64_t dim = 0; dim < type.getRank() && type.hasStaticShape(); ++dim) {
      if (llvm::is_contained(indexed.collapsed, dim) || llvm::is_contained(indexed.batching, dim))
        continue;
      int64_t size = updateType.getDimSize(*next++);
      if (size > type.getDimSize(dim))
        return emitOpError() << "expected updates of at most " << type.getDimSize(dim)
                             << " elements in dim " << dim << ", got " << size;
    }
  }
  if (failed(verifyCombiner(*this, "update_computation", getUpdateComputation(), operands)))
    return failure();
  return verifyResults(*this, operands.getTypes());
}

} // namespace xc::stablehlo
