//===- ReductionToLinalg.cpp - Reductions ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction is a generic with reduction iterators over a filled tensor; 16-bit floats accumulate
// in f32 and a second generic rounds. Every body is associative and commutative, argmax and argmin
// included, so that any order of evaluation gives the same indices.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

using array::ReduceKind;

namespace {

/// The part of a reduction's geometry that all of them share.
struct Reduction {
  SmallVector<OpFoldResult> keptSizes;
  AffineMap inputMap, resultMap;
  SmallVector<utils::IteratorType> iterators;
};

} // namespace

static Reduction analyze(OpBuilder &builder, Location loc, Value operand, ArrayRef<int64_t> axes) {
  Reduction reduction;
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isReduced = llvm::is_contained(axes, dim);
    reduction.iterators.push_back(isReduced ? utils::IteratorType::reduction
                                            : utils::IteratorType::parallel);
    if (isReduced)
      continue;
    kept.push_back(builder.getAffineDimExpr(dim));
    reduction.keptSizes.push_back(tensor::getMixedSize(builder, loc, operand, dim));
  }
  reduction.inputMap = builder.getMultiDimIdentityMap(rank);
  reduction.resultMap = AffineMap::get(rank, 0, kept, builder.getContext());
  return reduction;
}

TypedAttr extremeValue(Builder &builder, Type storage, bool isUnsigned, bool highest) {
  if (auto type = dyn_cast<FloatType>(storage))
    return builder.getFloatAttr(type,
                                APFloat::getInf(type.getFloatSemantics(), /*Negative=*/!highest));
  unsigned width = storage.getIntOrFloatBitWidth();
  if (isUnsigned)
    return builder.getIntegerAttr(storage,
                                  highest ? APInt::getMaxValue(width) : APInt::getMinValue(width));
  return builder.getIntegerAttr(storage, highest ? APInt::getSignedMaxValue(width)
                                                 : APInt::getSignedMinValue(width));
}

TypedAttr neutralValue(Builder &builder, ReduceKind kind, Type element, Type type) {
  auto number = [&](int64_t value) -> TypedAttr {
    if (isa<FloatType>(type))
      return builder.getFloatAttr(type, static_cast<double>(value));
    return builder.getIntegerAttr(type, value);
  };
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return number(0);
  case ReduceKind::Prod:
    return number(1);
  case ReduceKind::And:
    return number(element.isInteger(1) ? 1 : -1);
  case ReduceKind::Max:
  case ReduceKind::Min:
    return extremeValue(builder, type, element.isUnsignedInteger(), kind == ReduceKind::Min);
  }
  llvm_unreachable("unknown kind of reduction");
}

Value combineScalars(OpBuilder &b, Location loc, ReduceKind kind, Type element, Value x, Value y) {
  bool isFloat = isa<FloatType>(element), isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult()
                   : arith::AddIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Prod:
    return isFloat ? arith::MulFOp::create(b, loc, x, y).getResult()
                   : arith::MulIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, x, y);
    return isUnsigned ? arith::MaxUIOp::create(b, loc, x, y).getResult()
                      : arith::MaxSIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, x, y);
    return isUnsigned ? arith::MinUIOp::create(b, loc, x, y).getResult()
                      : arith::MinSIOp::create(b, loc, x, y).getResult();
  case ReduceKind::And:
    return arith::AndIOp::create(b, loc, x, y);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, loc, x, y);
  }
  llvm_unreachable("unknown kind of reduction");
}

Value isBetter(OpBuilder &b, Location loc, bool isMax, Type element, Value x, Value index,
               Value best, Value bestIndex) {
  using arith::CmpFPredicate;
  using arith::CmpIPredicate;
  auto bitAnd = [&](Value lhs, Value rhs) -> Value {
    return arith::AndIOp::create(b, loc, lhs, rhs);
  };
  auto bitOr = [&](Value lhs, Value rhs) -> Value {
    return arith::OrIOp::create(b, loc, lhs, rhs);
  };
  Value isEarlier = arith::CmpIOp::create(b, loc, CmpIPredicate::slt, index, bestIndex);
  if (!isa<FloatType>(element)) {
    bool isUnsigned = element.isUnsignedInteger();
    CmpIPredicate predicate = isMax ? (isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt)
                                    : (isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt);
    Value isStrict = arith::CmpIOp::create(b, loc, predicate, x, best);
    Value isEqual = arith::CmpIOp::create(b, loc, CmpIPredicate::eq, x, best);
    return bitOr(isStrict, bitAnd(isEqual, isEarlier));
  }
  auto compare = [&](CmpFPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, lhs, rhs);
  };
  // A NaN beats all else: comparisons that hold for NaNs as well say so in one instruction.
  Value isStrict = bitAnd(compare(isMax ? CmpFPredicate::UGT : CmpFPredicate::ULT, x, best),
                          compare(CmpFPredicate::ORD, best, best));
  Value isNoWorse = bitOr(compare(isMax ? CmpFPredicate::OGE : CmpFPredicate::OLE, x, best),
                          compare(CmpFPredicate::UNO, x, x));
  return bitOr(isStrict, bitAnd(isNoWorse, isEarlier));
}

/// Gives back the reduced dims with size 1, and the type of the op's result.
static Value finish(OpBuilder &builder, Location loc, Value reduced, ArrayRef<int64_t> axes,
                    bool keepdims, RankedTensorType type) {
  if (!keepdims || axes.empty())
    return castTo(builder, loc, reduced, type);
  auto reducedType = cast<RankedTensorType>(reduced.getType());
  SmallVector<OpFoldResult> keptSizes = tensor::getMixedSizes(builder, loc, reduced), sizes;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  size_t next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isReduced = llvm::is_contained(axes, dim);
    sizes.push_back(isReduced ? OpFoldResult(builder.getIndexAttr(1)) : keptSizes[next]);
    shape.push_back(isReduced ? 1 : reducedType.getDimSize(next));
    // Dims of size 1 go with the kept dim before them, the first with the one behind.
    if (isReduced && !groups.empty())
      groups.back().push_back(dim);
    else
      leading.push_back(dim);
    if (isReduced)
      continue;
    ++next;
    groups.push_back(leading);
    leading.clear();
  }
  auto expanded = RankedTensorType::get(shape, reducedType.getElementType());
  Value view = tensor::ExpandShapeOp::create(builder, loc, expanded, reduced, groups, sizes);
  return castTo(builder, loc, view, type);
}

namespace {

struct ConvertReduce : OpConversionPattern<array::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    Type element = getElementTypeOrSelf(op.getOperand().getType());
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    Value reduced = operand;
    if (!op.getAxes().empty()) {
      Reduction reduction = analyze(rewriter, loc, operand, op.getAxes());
      Value neutral = arith::ConstantOp::create(
          rewriter, loc,
          neutralValue(rewriter, op.getKind(), element, computeElement(storageElement(element))));
      Value init = filledTensor(rewriter, loc, reduction.keptSizes, neutral);
      auto generic = linalg::GenericOp::create(
          rewriter, loc, init.getType(), operand, init, {reduction.inputMap, reduction.resultMap},
          reduction.iterators, [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
            // Truth values combine as the bytes 0 and 1.
            Value x = element.isInteger(1) ? args[0] : loadScalar(b, bodyLoc, args[0], element);
            linalg::YieldOp::create(b, bodyLoc,
                                    combineScalars(b, bodyLoc, op.getKind(), element, args[1], x));
          });
      reduced = storeTensor(rewriter, loc, generic.getResult(0), type.getElementType());
    }
    rewriter.replaceOp(op, finish(rewriter, loc, reduced, op.getAxes(), op.getKeepdims(), type));
    return success();
  }
};

/// The ops of a body of rank-0 tensors, one after the other, on stored scalars.
class ScalarBody {
public:
  ScalarBody(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  void map(Value from, Value stored) { scalars[from] = stored; }
  Value getStored(Value value) const { return scalars.lookup(value); }
  LogicalResult build(Operation *op);

private:
  /// The scalar to compute with. A truth value that was just stored is taken as it was before.
  Value load(Value value) {
    Value stored = getStored(value);
    Type element = getElementTypeOrSelf(value.getType());
    if (auto widened = stored.getDefiningOp<arith::ExtUIOp>();
        widened && element.isInteger(1) && widened.getIn().getType().isInteger(1))
      return widened.getIn();
    return loadScalar(builder, loc, stored, element);
  }

  OpBuilder &builder;
  Location loc;
  llvm::DenseMap<Value, Value> scalars;
};

LogicalResult ScalarBody::build(Operation *op) {
  Value result = op->getResult(0);
  Type storage = storageElement(getElementTypeOrSelf(result.getType()));
  if (auto constant = dyn_cast<array::ConstantOp>(op)) {
    ElementsAttr elements = storageElements(constant.getValue());
    map(result, arith::ConstantOp::create(builder, loc,
                                          cast<TypedAttr>(*elements.value_begin<Attribute>())));
    return success();
  }
  if (auto cast = dyn_cast<array::BitcastOp>(op)) {
    Value stored = getStored(cast.getOperand());
    if (stored.getType() != storage)
      stored = arith::BitcastOp::create(builder, loc, storage, stored);
    map(result, stored);
    return success();
  }
  if (auto select = dyn_cast<array::SelectOp>(op)) {
    map(result,
        arith::SelectOp::create(builder, loc, load(select.getPredicate()),
                                getStored(select.getOnTrue()), getStored(select.getOnFalse())));
    return success();
  }
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return load(operand); });
  FailureOr<Value> stored = buildElementwiseScalar(builder, op, operands);
  if (failed(stored))
    return failure();
  map(result, *stored);
  return success();
}

/// A reduction with a body of array ops, which `-xc-array-decompose` has left none but simple ones
/// in.
struct ConvertReduceWith : OpConversionPattern<array::ReduceWithOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ReduceWithOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange operands = adaptor.getOperands();
    SmallVector<Value> results(operands);
    if (!op.getAxes().empty() && failed(reduce(op, operands, rewriter, results)))
      return failure();
    for (auto [result, original] : llvm::zip_equal(results, op.getResults()))
      result = finish(rewriter, loc, result, op.getAxes(), op.getKeepdims(),
                      cast<RankedTensorType>(storageType(original.getType())));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// Sums are kept in what 16-bit floats are computed in, rounded after every step.
  static Type sumType(Type element) { return computeElement(storageElement(element)); }
  static bool isNarrow(Type element) { return sumType(element) != storageElement(element); }

  static LogicalResult reduce(array::ReduceWithOp op, ValueRange operands,
                              ConversionPatternRewriter &rewriter, SmallVector<Value> &results) {
    Location loc = op.getLoc();
    Reduction reduction = analyze(rewriter, loc, operands.front(), op.getAxes());
    SmallVector<Value> inits;
    SmallVector<Type> elements, types;
    for (auto [operand, attr] : llvm::zip_equal(op.getOperands(), op.getInit())) {
      elements.push_back(getElementTypeOrSelf(operand.getType()));
      Value scalar = arith::ConstantOp::create(rewriter, loc, initialValue(attr, elements.back()));
      inits.push_back(filledTensor(rewriter, loc, reduction.keptSizes, scalar));
      types.push_back(inits.back().getType());
    }
    SmallVector<AffineMap> maps(operands.size(), reduction.inputMap);
    maps.append(operands.size(), reduction.resultMap);
    bool isBuilt = true;
    auto generic =
        linalg::GenericOp::create(rewriter, loc, types, operands, inits, maps, reduction.iterators,
                                  [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
                                    isBuilt = succeeded(buildBody(b, bodyLoc, op, elements, args));
                                  });
    if (!isBuilt)
      return rewriter.notifyMatchFailure(op, "no scalar form of its body");
    for (auto [result, reduced, element] : llvm::zip_equal(results, generic.getResults(), elements))
      result = storeTensor(rewriter, loc, reduced, storageElement(element));
    return success();
  }

  static TypedAttr initialValue(Attribute attr, Type element) {
    auto type = RankedTensorType::get({}, element);
    ElementsAttr stored = storageElements(cast<ElementsAttr>(DenseElementsAttr::get(type, attr)));
    auto value = cast<TypedAttr>(*stored.value_begin<Attribute>());
    if (!isNarrow(element))
      return value;
    APFloat wide = cast<FloatAttr>(value).getValue();
    bool losesInfo;
    wide.convert(cast<FloatType>(sumType(element)).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(sumType(element), wide);
  }

  static LogicalResult buildBody(OpBuilder &b, Location loc, array::ReduceWithOp op,
                                 ArrayRef<Type> elements, ValueRange args) {
    Block &block = op.getBody().front();
    ScalarBody body(b, loc);
    size_t count = elements.size();
    for (auto [index, element] : llvm::enumerate(elements)) {
      Value sum = args[count + index];
      body.map(block.getArgument(index),
               isNarrow(element) ? storeScalar(b, loc, sum, element) : sum);
      // As wide as a sum: partial results take its place.
      Value value = isNarrow(element) ? loadScalar(b, loc, args[index], element) : args[index];
      value = kernel::ElementOp::create(b, loc, index, value);
      body.map(block.getArgument(count + index),
               isNarrow(element) ? storeScalar(b, loc, value, element) : value);
    }
    for (Operation &inner : block.without_terminator())
      if (failed(body.build(&inner)))
        return failure();
    SmallVector<Value> yielded;
    for (auto [value, element] : llvm::zip_equal(block.getTerminator()->getOperands(), elements)) {
      Value stored = body.getStored(value);
      yielded.push_back(isNarrow(element) ? loadScalar(b, loc, stored, element) : stored);
    }
    linalg::YieldOp::create(b, loc, yielded);
    return success();
  }
};

/// argmax and argmin: a pair of value and index.
template <typename Op> struct ConvertArg : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  static constexpr bool isMax = std::is_same_v<Op, array::ArgMaxOp>;

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    Type element = getElementTypeOrSelf(op.getOperand().getType()),
         compute = computeElement(storageElement(element));
    auto type = cast<RankedTensorType>(op.getType());
    int64_t axis = op.getAxis();
    Reduction reduction = analyze(rewriter, loc, operand, axis);
    TypedAttr worst =
        extremeValue(rewriter, compute, element.isUnsignedInteger(), /*highest=*/!isMax);
    TypedAttr noIndex =
        extremeValue(rewriter, type.getElementType(), /*isUnsigned=*/false, /*highest=*/true);
    Value values = filledTensor(rewriter, loc, reduction.keptSizes,
                                arith::ConstantOp::create(rewriter, loc, worst));
    Value indices = filledTensor(rewriter, loc, reduction.keptSizes,
                                 arith::ConstantOp::create(rewriter, loc, noIndex));
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange{values.getType(), indices.getType()}, operand,
        ValueRange{values, indices}, {reduction.inputMap, reduction.resultMap, reduction.resultMap},
        reduction.iterators, [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
          Value x = loadScalar(b, bodyLoc, args[0], element);
          Value index = linalg::IndexOp::create(b, bodyLoc, axis);
          index = arith::IndexCastOp::create(b, bodyLoc, type.getElementType(), index);
          Value wins = isBetter(b, bodyLoc, isMax, element, x, index, args[1], args[2]);
          Value value = arith::SelectOp::create(b, bodyLoc, wins, x, args[1]);
          Value position = arith::SelectOp::create(b, bodyLoc, wins, index, args[2]);
          linalg::YieldOp::create(b, bodyLoc, ValueRange{value, position});
        });
    generic->setAttr(plan::kBreaksTiesAttr, rewriter.getUnitAttr());
    rewriter.replaceOp(op,
                       finish(rewriter, loc, generic.getResult(1), axis, op.getKeepdims(), type));
    return success();
  }
};

} // namespace

void populateReductionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertReduce, ConvertReduceWith, ConvertArg<array::ArgMaxOp>,
               ConvertArg<array::ArgMinOp>>(converter, patterns.getContext());
}

} // namespace xc
