//===- MatMulOps.cpp - Matrix products -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

/// True if a product of `element`s may come out as `result`: the same type, or
/// the one that is accumulated in.
static bool isProductType(Type element, Type result) {
  if (element == result)
    return true;
  if (element.isF16() || element.isBF16())
    return result.isF32();
  return (element.isSignlessInteger(8) && result.isSignlessInteger(32)) ||
         (element.isUnsignedInteger(8) && result.isUnsignedInteger(32));
}

LogicalResult verifyProduct(Operation *op, bool allowTf32) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isProductType(element, result))
    return op->emitOpError("expected a result of ")
           << element << " or of the type that " << element << " accumulates in, got " << result;
  if (allowTf32 && !element.isF32())
    return op->emitOpError("expected operands of f32 for allow_tf32, got ") << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

LogicalResult MatMulOp::verify() { return verifyProduct(*this, getAllowTf32()); }

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  if (failed(checkSameElementType(rule, adaptor.getOperands())))
    return failure();
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return rule.error("expected operands of rank 2 or more, got ", lhs, " and ", rhs);
  int64_t rows = lhs.getShape().end()[adaptor.getTransposeA() ? -1 : -2];
  int64_t inner = lhs.getShape().end()[adaptor.getTransposeA() ? -2 : -1];
  int64_t otherInner = rhs.getShape().end()[adaptor.getTransposeB() ? -1 : -2];
  int64_t columns = rhs.getShape().end()[adaptor.getTransposeB() ? -2 : -1];
  if (!areCompatibleDims(inner, otherInner))
    return rule.error("expected equal inner dims, got ", inner, " of ", lhs, " and ", otherInner,
                      " of ", rhs);
  FailureOr<Dims> shape =
      broadcastShapes(rule, lhs.getShape().drop_back(2), rhs.getShape().drop_back(2));
  if (failed(shape))
    return failure();
  shape->append({rows, columns});
  inferred.push_back(RankedTensorType::get(*shape, lhs.getElementType()));
  return success();
}

LogicalResult MatMulOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t rank = getType().getRank();
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    OpFoldResult size = sizeBuilder.constant(1);
    for (Value operand : getOperands()) {
      auto type = cast<RankedTensorType>(operand.getType());
      int64_t operandDim = dim - (rank - type.getRank());
      if (operandDim >= 0 && type.getDimSize(operandDim) != 1)
        size = sizeBuilder.size(operand, operandDim);
    }
    sizes.push_back(size);
  }
  int64_t lhsRank = getLhs().getType().getRank();
  int64_t rhsRank = getRhs().getType().getRank();
  sizes.push_back(sizeBuilder.size(getLhs(), lhsRank - (getTransposeA() ? 1 : 2)));
  sizes.push_back(sizeBuilder.size(getRhs(), rhsRank - (getTransposeB() ? 2 : 1)));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

void reifyRequirements(MatMulOp op, RequirementBuilder &requirements) {
  int64_t rank = op.getType().getRank();
  int64_t lhsRank = op.getLhs().getType().getRank(), rhsRank = op.getRhs().getType().getRank();
  requirements.requireBroadcastDims(op.getOperands(), rank - 2, /*trailing=*/2);
  int64_t rows = lhsRank - (op.getTransposeA() ? 1 : 2),
          inner = lhsRank - (op.getTransposeA() ? 2 : 1),
          otherInner = rhsRank - (op.getTransposeB() ? 1 : 2),
          columns = rhsRank - (op.getTransposeB() ? 2 : 1);
  requirements.requireAgreement(op.getLhs(), inner, op.getRhs(), otherInner);
  requirements.requireAgreementWithResult(op.getLhs(), rows, rank - 2);
  requirements.requireAgreementWithResult(op.getRhs(), columns, rank - 1);
}

/// What `value` transposes in its last two dims and in no other; null if it does not.
static Value matrixTransposeSource(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return {};
  auto swapped = llvm::to_vector(llvm::seq<int64_t>(0, transpose.getPermutation().size()));
  if (swapped.size() < 2)
    return {};
  std::swap(swapped.end()[-1], swapped.end()[-2]);
  return transpose.getPermutation() == ArrayRef<int64_t>(swapped) ? transpose.getOperand()
                                                                  : Value();
}

/// matmul(transpose(a), b) -> matmul(a, b) transpose_a, and so for b.
LogicalResult MatMulOp::canonicalize(MatMulOp op, PatternRewriter &rewriter) {
  Value lhs = matrixTransposeSource(op.getLhs());
  Value rhs = matrixTransposeSource(op.getRhs());
  if (!lhs && !rhs)
    return rewriter.notifyMatchFailure(op, "no operand is a transposed matrix");
  rewriter.modifyOpInPlace(op, [&] {
    if (lhs) {
      op.getLhsMutable().assign(lhs);
      op.setTransposeA(!op.getTransposeA());
    }
    if (rhs) {
      op.getRhsMutable().assign(rhs);
      op.setTransposeB(!op.getTransposeB());
    }
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Dot general
//===----------------------------------------------------------------------===//

LogicalResult DotGeneralOp::verify() { return verifyProduct(*this, getAllowTf32()); }

/// The dims of a tensor of `rank` that are neither batched nor contracted.
static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      dims.push_back(dim);
  return dims;
}

/// Checks that `batch` and `contract` name different dims of `type`.
static LogicalResult checkDistinct(const RuleContext &rule, RankedTensorType type,
                                   ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims(batch);
  dims.append(contract.begin(), contract.end());
  llvm::sort(dims);
  bool distinct = std::adjacent_find(dims.begin(), dims.end()) == dims.end();
  if (!distinct || (!dims.empty() && (dims.front() < 0 || dims.back() >= type.getRank())))
    return rule.error("expected different dims of ", type, " to batch and contract, got ",
                      formatDims(batch), " and ", formatDims(contract));
  return success();
}

static LogicalResult checkPairs(const RuleContext &rule, StringRef what, RankedTensorType lhs,
                                ArrayRef<int64_t> lhsDims, RankedTensorType rhs,
                                ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return rule.error("expected as many dims of each operand to ", what, ", got ",
                      formatDims(lhsDims), " and ", formatDims(rhsDims));
  for (auto [left, right] : llvm::zip_equal(lhsDims, rhsDims))
    if (!areCompatibleDims(lhs.getDimSize(left), rhs.getDimSize(right)))
      return rule.error("expected dims of equal size to ", what, ", got dim ", left, " of ", lhs,
                        " and dim ", right, " of ", rhs);
  return success();
}

SmallVector<int64_t> DotGeneralOp::getFreeDims(Value operand, ArrayRef<int64_t> batch,
                                               ArrayRef<int64_t> contract) {
  return freeDims(cast<RankedTensorType>(operand.getType()).getRank(), batch, contract);
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  if (failed(checkSameElementType(rule, adaptor.getOperands())) ||
      failed(checkDistinct(rule, lhs, adaptor.getLhsBatch(), adaptor.getLhsContract())) ||
      failed(checkDistinct(rule, rhs, adaptor.getRhsBatch(), adaptor.getRhsContract())) ||
      failed(checkPairs(rule, "batch", lhs, adaptor.getLhsBatch(), rhs, adaptor.getRhsBatch())) ||
      failed(checkPairs(rule, "contract", lhs, adaptor.getLhsContract(), rhs,
                        adaptor.getRhsContract())))
    return failure();
  Dims shape;
  for (auto [left, right] : llvm::zip_equal(adaptor.getLhsBatch(), adaptor.getRhsBatch()))
    shape.push_back(mergeDims(lhs.getDimSize(left), rhs.getDimSize(right)));
  for (int64_t dim : freeDims(lhs.getRank(), adaptor.getLhsBatch(), adaptor.getLhsContract()))
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(rhs.getRank(), adaptor.getRhsBatch(), adaptor.getRhsContract()))
    shape.push_back(rhs.getDimSize(dim));
  inferred.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

LogicalResult DotGeneralOp::reifySizes(SizeBuilder &sizeBuilder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : getLhsBatch())
    sizes.push_back(sizeBuilder.size(getLhs(), dim));
  for (int64_t dim : freeDims(getLhs().getType().getRank(), getLhsBatch(), getLhsContract()))
    sizes.push_back(sizeBuilder.size(getLhs(), dim));
  for (int64_t dim : freeDims(getRhs().getType().getRank(), getRhsBatch(), getRhsContract()))
    sizes.push_back(sizeBuilder.size(getRhs(), dim));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

void reifyRequirements(DotGeneralOp op, RequirementBuilder &requirements) {
  int64_t next = 0;
  for (auto [left, right] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    requirements.requireAgreement(op.getLhs(), left, op.getRhs(), right);
    requirements.requireAgreementWithResult(op.getLhs(), left, next++);
  }
  for (auto [left, right] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
    requirements.requireAgreement(op.getLhs(), left, op.getRhs(), right);
  for (int64_t dim :
       freeDims(op.getLhs().getType().getRank(), op.getLhsBatch(), op.getLhsContract()))
    requirements.requireAgreementWithResult(op.getLhs(), dim, next++);
  for (int64_t dim :
       freeDims(op.getRhs().getType().getRank(), op.getRhsBatch(), op.getRhsContract()))
    requirements.requireAgreementWithResult(op.getRhs(), dim, next++);
}

} // namespace xc::array
