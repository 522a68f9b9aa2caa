//===- ContractionToLinalg.cpp - Matrix products --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg.contract over the dims batch, rows, columns, summed, in this order; transposition and
// broadcasting are maps. 16-bit floats accumulate in f32, integers in the result's type.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace xc {

namespace {

/// One contraction: which dim of the iteration space each dim of an operand runs along.
struct Contraction {
  Value lhs, rhs;
  SmallVector<int64_t> lhsDims, rhsDims, resultDims;
  int64_t dimCount;
};

} // namespace

static AffineMap mapOf(Builder &builder, int64_t dimCount, ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : dims)
    exprs.push_back(builder.getAffineDimExpr(dim));
  return AffineMap::get(dimCount, 0, exprs, builder.getContext());
}

/// The size of dim `dim` of the iteration space.
static OpFoldResult sizeOf(OpBuilder &builder, Location loc, const Contraction &contraction,
                           int64_t dim) {
  OpFoldResult size;
  for (auto [operand, dims] :
       {std::pair(contraction.lhs, ArrayRef<int64_t>(contraction.lhsDims)),
        std::pair(contraction.rhs, ArrayRef<int64_t>(contraction.rhsDims))}) {
    const int64_t *position = llvm::find(dims, dim);
    if (position == dims.end())
      continue;
    size = tensor::getMixedSize(builder, loc, operand, position - dims.begin());
    if (isa<Attribute>(size))
      break;
  }
  return size;
}

/// `element` is that of the array op's operands, which says how integers extend; `note` what is to
/// be reported of it, or null.
static Value buildContraction(OpBuilder &builder, Location loc, const Contraction &contraction,
                              Type element, RankedTensorType type, bool allowTf32, Attribute note) {
  Type accumulator = computeElement(type.getElementType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : contraction.resultDims)
    sizes.push_back(sizeOf(builder, loc, contraction, dim));
  sizes = refineSizes(builder, type, sizes);
  Value init = filledTensor(builder, loc, sizes, scalarConstant(builder, loc, accumulator, 0));
  ArrayAttr maps =
      builder.getAffineMapArrayAttr({mapOf(builder, contraction.dimCount, contraction.lhsDims),
                                     mapOf(builder, contraction.dimCount, contraction.rhsDims),
                                     mapOf(builder, contraction.dimCount, contraction.resultDims)});
  SmallVector<NamedAttribute> attributes;
  if (element.isUnsignedInteger())
    attributes.push_back(builder.getNamedAttr(
        "cast", linalg::TypeFnAttr::get(builder.getContext(), linalg::TypeFn::cast_unsigned)));
  if (allowTf32)
    attributes.push_back(builder.getNamedAttr(plan::kAllowTF32Attr, builder.getUnitAttr()));
  if (note)
    attributes.push_back(builder.getNamedAttr(plan::kNoteAttr, note));
  auto contract = linalg::ContractOp::create(builder, loc, init.getType(),
                                             ValueRange{contraction.lhs, contraction.rhs}, init,
                                             maps, attributes);
  Value result = storeTensor(builder, loc, contract.getResult(0), type.getElementType());
  return castTo(builder, loc, result, type);
}

/// The products of all pairs, where no dim is summed over.
static Value buildProduct(OpBuilder &builder, Location loc, const Contraction &contraction,
                          Type element, RankedTensorType type) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : contraction.resultDims)
    sizes.push_back(sizeOf(builder, loc, contraction, dim));
  AffineMap maps[] = {mapOf(builder, contraction.dimCount, contraction.lhsDims),
                      mapOf(builder, contraction.dimCount, contraction.rhsDims)};
  Type accumulator = computeElement(type.getElementType());
  Value result = buildElementwise(
      builder, loc, type.getElementType(), refineSizes(builder, type, sizes),
      {contraction.lhs, contraction.rhs}, maps,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        Value factors[2];
        for (auto [factor, arg] : llvm::zip_equal(factors, args)) {
          factor = loadScalar(b, bodyLoc, arg, element);
          if (factor.getType() == accumulator)
            continue;
          if (element.isUnsignedInteger())
            factor = arith::ExtUIOp::create(b, bodyLoc, accumulator, factor);
          else if (isa<IntegerType>(accumulator))
            factor = arith::ExtSIOp::create(b, bodyLoc, accumulator, factor);
          else
            factor = arith::ExtFOp::create(b, bodyLoc, accumulator, factor);
        }
        Value product = isa<FloatType>(accumulator)
                            ? arith::MulFOp::create(b, bodyLoc, factors[0], factors[1]).getResult()
                            : arith::MulIOp::create(b, bodyLoc, factors[0], factors[1]).getResult();
        return storeScalar(b, bodyLoc, product, type.getElementType());
      });
  return castTo(builder, loc, result, type);
}

namespace {

struct ConvertMatMul : OpConversionPattern<array::MatMulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::MatMulOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    int64_t batchCount = type.getRank() - 2;
    int64_t m = batchCount, n = batchCount + 1, k = batchCount + 2;
    Contraction contraction;
    contraction.dimCount = batchCount + 3;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      contraction.resultDims.push_back(dim);
    contraction.lhs =
        alignBatch(rewriter, op.getLoc(), adaptor.getLhs(), type, contraction.lhsDims);
    contraction.rhs =
        alignBatch(rewriter, op.getLoc(), adaptor.getRhs(), type, contraction.rhsDims);
    contraction.lhsDims.append({op.getTransposeA() ? k : m, op.getTransposeA() ? m : k});
    contraction.rhsDims.append({op.getTransposeB() ? n : k, op.getTransposeB() ? k : n});
    Type element = getElementTypeOrSelf(op.getLhs().getType());
    rewriter.replaceOp(op, buildContraction(rewriter, op.getLoc(), contraction, element, type,
                                            op.getAllowTf32(), op->getAttr(plan::kNoteAttr)));
    return success();
  }

private:
  /// Aligns the batch dims with the result's, drops those that are broadcast, and appends the
  /// others to `dims`.
  static Value alignBatch(OpBuilder &builder, Location loc, Value operand,
                          RankedTensorType resultType, SmallVector<int64_t> &dims) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t shift = resultType.getRank() - type.getRank();
    llvm::SmallBitVector drop(type.getRank());
    for (int64_t dim = 0; dim + 2 < type.getRank(); ++dim) {
      if (type.getDimSize(dim) == 1 && resultType.getDimSize(dim + shift) != 1)
        drop.set(dim);
      else
        dims.push_back(dim + shift);
    }
    return dropUnitDims(builder, loc, operand, drop);
  }
};

struct ConvertDotGeneral : OpConversionPattern<array::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    Contraction contraction;
    contraction.lhs = adaptor.getLhs();
    contraction.rhs = adaptor.getRhs();
    contraction.lhsDims.assign(cast<RankedTensorType>(contraction.lhs.getType()).getRank(), -1);
    contraction.rhsDims.assign(cast<RankedTensorType>(contraction.rhs.getType()).getRank(), -1);
    int64_t next = 0;
    auto pair = [&](ArrayRef<int64_t> lhsAxes, ArrayRef<int64_t> rhsAxes) {
      for (auto [lhsAxis, rhsAxis] : llvm::zip_equal(lhsAxes, rhsAxes))
        contraction.lhsDims[lhsAxis] = contraction.rhsDims[rhsAxis] = next++;
    };
    pair(op.getLhsBatch(), op.getRhsBatch());
    // What contracts is numbered last.
    int64_t resultRank = type.getRank(), free = next;
    next = resultRank;
    pair(op.getLhsContract(), op.getRhsContract());
    contraction.dimCount = next;
    for (auto *dims : {&contraction.lhsDims, &contraction.rhsDims})
      for (int64_t &dim : *dims)
        if (dim == -1)
          dim = free++;
    for (int64_t dim = 0; dim < resultRank; ++dim)
      contraction.resultDims.push_back(dim);
    Type element = getElementTypeOrSelf(op.getLhs().getType());
    // A contraction op sums over something; a mere product of all pairs is elementwise.
    Value result = op.getLhsContract().empty()
                       ? buildProduct(rewriter, op.getLoc(), contraction, element, type)
                       : buildContraction(rewriter, op.getLoc(), contraction, element, type,
                                          op.getAllowTf32(), op->getAttr(plan::kNoteAttr));
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateContractionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertMatMul, ConvertDotGeneral>(converter, patterns.getContext());
}

} // namespace xc
