//===- SizeFormulas.cpp - Sizes of tensors and index values as formulas ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/SizeFormulas.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::plan {

FormulaAttr SizeFormulas::makeMax(FormulaAttr lhs, FormulaAttr rhs) {
  return FormulaAttr::getMax(lhs, rhs);
}

FormulaAttr SizeFormulas::makeMin(FormulaAttr lhs, FormulaAttr rhs) {
  return FormulaAttr::getMin(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Index values
//===----------------------------------------------------------------------===//

FailureOr<FormulaAttr> SizeFormulas::getFormula(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return FormulaAttr::getConstant(context, *constant);
  if (auto attribute = dyn_cast_if_present<Attribute>(index))
    return cast<FormulaAttr>(attribute);
  return index ? getFormula(cast<Value>(index)) : FailureOr<FormulaAttr>();
}

FailureOr<FormulaAttr> SizeFormulas::getFormula(Value index) {
  auto it = formulaCache.find(index);
  if (it != formulaCache.end())
    return it->second;
  FailureOr<FormulaAttr> formula = computeFormula(index);
  if (succeeded(formula))
    formulaCache[index] = *formula = shorten(*formula);
  return formula;
}

/// What chooses between two sizes: a number that is not 0 for the first one. Null of another value.
static Value getChoice(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  bool isChoice = compare && compare.getPredicate() == arith::CmpIPredicate::ne &&
                  isConstantIntValue(compare.getRhs(), 0);
  return isChoice ? compare.getLhs() : Value();
}

FailureOr<FormulaAttr> SizeFormulas::computeFormula(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return FormulaAttr::getConstant(context, *constant);
  Operation *op = index.getDefiningOp();
  if (!op)
    return failure();

  auto binary = [&](auto combine) -> FailureOr<FormulaAttr> {
    FailureOr<FormulaAttr> lhs = getFormula(op->getOperand(0)), rhs = getFormula(op->getOperand(1));
    if (failed(lhs) || failed(rhs))
      return failure();
    return combine(*lhs, *rhs);
  };
  return llvm::TypeSwitch<Operation *, FailureOr<FormulaAttr>>(op)
      .Case([&](tensor::DimOp dim) -> FailureOr<FormulaAttr> {
        std::optional<int64_t> position = dim.getConstantIndex();
        if (!position)
          return failure();
        return getDim(dim.getSource(), *position);
      })
      .Case([&](array::DimOp dim) { return getDim(dim.getOperand(), dim.getAxis()); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>([&](auto cast) { return getFormula(cast.getOperand()); })
      .Case([&](arith::AddIOp) {
        return binary([](FormulaAttr a, FormulaAttr b) { return collectTerms(a + b); });
      })
      .Case([&](arith::SubIOp) {
        return binary([](FormulaAttr a, FormulaAttr b) { return collectTerms(a - b); });
      })
      .Case(
          [&](arith::MulIOp) { return binary([](FormulaAttr a, FormulaAttr b) { return a * b; }); })
      // Sizes are not negative, so truncating and flooring division agree.
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return binary([](FormulaAttr a, FormulaAttr b) { return a.floorDiv(b); }); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return binary([](FormulaAttr a, FormulaAttr b) { return a.ceilDiv(b); }); })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return binary([&](FormulaAttr a, FormulaAttr b) { return makeMin(a, b); }); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return binary([&](FormulaAttr a, FormulaAttr b) { return makeMax(a, b); }); })
      .Case([&](arith::SelectOp select) -> FailureOr<FormulaAttr> {
        Value choice = getChoice(select.getCondition());
        if (!choice)
          return failure();
        FailureOr<FormulaAttr> condition = getFormula(choice),
                               ifOne = getFormula(select.getTrueValue()),
                               ifZero = getFormula(select.getFalseValue());
        if (failed(condition) || failed(ifOne) || failed(ifZero))
          return failure();
        return FormulaAttr::getSelect(*condition, *ifOne, *ifZero);
      })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return binary([](FormulaAttr a, FormulaAttr b) { return a % b; }); })
      .Case([&](affine::AffineApplyOp apply) -> FailureOr<FormulaAttr> {
        SmallVector<FormulaAttr> dims, syms;
        for (auto [position, operand] : llvm::enumerate(apply.getMapOperands())) {
          FailureOr<FormulaAttr> formula = getFormula(operand);
          if (failed(formula))
            return failure();
          (position < apply.getAffineMap().getNumDims() ? dims : syms).push_back(*formula);
        }
        return FormulaAttr::get(apply.getAffineMap().getResult(0), dims, syms);
      })
      .Default([](Operation *) -> FailureOr<FormulaAttr> { return failure(); });
}

//===----------------------------------------------------------------------===//
// What shape functions of array ops ask for
//===----------------------------------------------------------------------===//

OpFoldResult SizeFormulas::toSize(FailureOr<FormulaAttr> formula) {
  if (failed(formula))
    return {};
  if (std::optional<int64_t> constant = formula->asConstant())
    return IntegerAttr::get(IndexType::get(context), *constant);
  return static_cast<Attribute>(*formula);
}

OpFoldResult SizeFormulas::getDimSize(Value value, int64_t dim) {
  return toSize(getDim(value, dim));
}

OpFoldResult SizeFormulas::combineSizes(array::SizeOperation operation, OpFoldResult lhs,
                                        OpFoldResult rhs) {
  FailureOr<FormulaAttr> left = getFormula(lhs), right = getFormula(rhs);
  if (failed(left) || failed(right))
    return {};
  auto combine = [&](FormulaAttr a, FormulaAttr b) {
    switch (operation) {
    case array::SizeOperation::Add:
      return collectTerms(a + b);
    case array::SizeOperation::Sub:
      return collectTerms(a - b);
    case array::SizeOperation::Mul:
      return a * b;
    case array::SizeOperation::Max:
      return makeMax(a, b);
    case array::SizeOperation::Min:
      return makeMin(a, b);
    case array::SizeOperation::FloorDiv:
      return a.floorDiv(b);
    case array::SizeOperation::CeilDiv:
      return a.ceilDiv(b);
    }
    llvm_unreachable("unknown operation");
  };
  return toSize(shorten(combine(*left, *right)));
}

OpFoldResult SizeFormulas::applyMap(AffineMap map, ValueRange operands) {
  SmallVector<FormulaAttr> dims, symbols;
  for (auto [position, operand] : llvm::enumerate(operands)) {
    FailureOr<FormulaAttr> formula = getFormula(operand);
    if (failed(formula))
      return {};
    (position < map.getNumDims() ? dims : symbols).push_back(*formula);
  }
  return toSize(shorten(FormulaAttr::get(map.getResult(0), dims, symbols)));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<FormulaAttr>> SizeFormulas::getShape(Value shaped) {
  SmallVector<FormulaAttr> shape;
  for (int64_t dim = 0, rank = cast<ShapedType>(shaped.getType()).getRank(); dim < rank; ++dim) {
    FailureOr<FormulaAttr> formula = getDim(shaped, dim);
    if (failed(formula))
      return failure();
    shape.push_back(*formula);
  }
  return shape;
}

FailureOr<FormulaAttr> SizeFormulas::getDim(Value shaped, int64_t dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dim))
    return FormulaAttr::getConstant(context, type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(shaped))
    return computeArgumentDim(argument, dim);
  auto it = dimCache.find({shaped, dim});
  if (it != dimCache.end())
    return it->second;
  FailureOr<FormulaAttr> formula = computeDim(cast<OpResult>(shaped), dim);
  if (succeeded(formula))
    dimCache[{shaped, dim}] = *formula = shorten(*formula);
  return formula;
}

/// The operand among `dims` (the dynamic sizes of all of an op's results) that is `dim` of
/// `result`.
static Value selectDynamicSize(OpResult result, int64_t dim, ValueRange dims) {
  unsigned position = 0;
  for (OpResult other : result.getOwner()->getResults()) {
    auto type = cast<RankedTensorType>(other.getType());
    if (other == result)
      return dims[position + type.getDynamicDimIndex(dim)];
    position += type.getNumDynamicDims();
  }
  llvm_unreachable("the result is one of its owner's");
}

/// The size of `slice` that is `dim` of its result, which need not have all of them.
static OpFoldResult getSliceSize(tensor::ExtractSliceOp slice, int64_t dim) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [source, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(source) && dim-- == 0)
      return size;
  llvm_unreachable("the result has that dim");
}

FailureOr<FormulaAttr> SizeFormulas::multiplyDims(Value source, ArrayRef<int64_t> dims) {
  FormulaAttr product = FormulaAttr::getConstant(context, 1);
  for (int64_t dim : dims) {
    FailureOr<FormulaAttr> size = getDim(source, dim);
    if (failed(size))
      return failure();
    product = product * *size;
  }
  return product;
}

FailureOr<FormulaAttr> SizeFormulas::computeDim(OpResult result, int64_t dim) {
  auto fromSizes = [&](ValueRange dynamicSizes) {
    return getFormula(dynamicSizes[cast<ShapedType>(result.getType()).getDynamicDimIndex(dim)]);
  };
  return llvm::TypeSwitch<Operation *, FailureOr<FormulaAttr>>(result.getOwner())
      .Case<tensor::EmptyOp, tensor::SplatOp>(
          [&](auto op) { return fromSizes(op.getDynamicSizes()); })
      .Case([&](tensor::GenerateOp op) { return fromSizes(op.getDynamicExtents()); })
      .Case([&](BindingOp op) { return fromSizes(op.getSizes()); })
      .Case<RegionOp, DispatchOp>(
          [&](auto op) { return getFormula(selectDynamicSize(result, dim, op.getDims())); })
      .Case([&](LoopOp op) { return getDim(op.getInits()[result.getResultNumber()], dim); })
      .Case<tensor::CastOp, memref::CastOp>([&](auto op) { return getDim(op.getSource(), dim); })
      .Case([&](bufferization::ToTensorOp op) { return getDim(op.getBuffer(), dim); })
      .Case([&](tensor::ExtractSliceOp op) { return getFormula(getSliceSize(op, dim)); })
      .Case<tensor::ExpandShapeOp, memref::ExpandShapeOp>(
          [&](auto op) { return getFormula(op.getMixedOutputShape()[dim]); })
      .Case<tensor::CollapseShapeOp, memref::CollapseShapeOp>(
          [&](auto op) { return multiplyDims(op.getSrc(), op.getReassociationIndices()[dim]); })
      .Case([&](tensor::PadOp op) -> FailureOr<FormulaAttr> {
        FailureOr<FormulaAttr> size = getDim(op.getSource(), dim),
                               low = getFormula(op.getMixedLowPad()[dim]),
                               high = getFormula(op.getMixedHighPad()[dim]);
        if (failed(size) || failed(low) || failed(high))
          return failure();
        return *size + *low + *high;
      })
      .Case([&](DestinationStyleOpInterface op) {
        return getDim(op.getTiedOpOperand(result)->get(), dim);
      })
      .Default([](Operation *) -> FailureOr<FormulaAttr> { return failure(); });
}

} // namespace xc::plan
