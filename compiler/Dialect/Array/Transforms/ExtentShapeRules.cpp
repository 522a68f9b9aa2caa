//===- ExtentShapeRules.cpp - Bounded dynamic dims of sizes and views -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops that make and unmake extents; sizes, which become data; views and joins.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentRules.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Extents and sizes
//===----------------------------------------------------------------------===//

static LogicalResult resolveSetExtent(BoundedValues &bounded, SetExtentOp op) {
  Value array = bounded.arrayOf(op.getOperand());
  Extents extents = bounded.extentsOf(op.getOperand());
  int64_t axis = op.getAxis();
  Value extent = bounded.clampExtent(op.getLoc(), op.getCount(), array, axis);
  if (Value old = extents[axis]; old && bounded.equality.areEqual(op, extent, old)) {
    extent = old;
  } else if (old) {
    extent = bounded.expressions(op).make<MinOp>(extent, old);
    bounded.equality.setOrigin(extent, ExtentEquality::Kind::Cut, op.getCount(), old);
    bounded.setLimit(extent, array, axis);
  }
  extents[axis] = extent;
  bounded.setArray(op.getResult(), array, extents);
  bounded.eraseLater(op);
  return success();
}

static LogicalResult resolveDim(BoundedValues &bounded, Operation *op, Value tensor, int64_t dim) {
  Value array = bounded.arrayOf(tensor), extent = bounded.extentOf(tensor, dim),
        result = op->getResult(0);
  bounded.eraseLater(op);
  if (isa<ExtentOp>(op)) {
    Type element = typeOf(result).getElementType();
    ExpressionBuilder e = bounded.expressions(op);
    bounded.define(result, e.convert(extent ? extent : bounded.sizeAsData(array, dim), element));
    return success();
  }
  SizeBuilder size(bounded.builder, op->getLoc());
  Value bound = size.value(size.size(array, dim));
  if (extent)
    bounded.sizes[result] = {bound, extent};
  else
    result.replaceAllUsesWith(bound);
  return success();
}

static std::optional<int64_t> getConstant(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

/// A multiple that is divided again, as sizes of reshapes are, is the same extent as before.
static Value divide(ExpressionBuilder &e, Value lhs, Value rhs) {
  auto product = lhs.getDefiningOp<MulOp>();
  std::optional<int64_t> divisor = getConstant(rhs);
  std::optional<int64_t> factor = product ? getConstant(product.getRhs()) : std::nullopt;
  if (!divisor || *divisor == 0 || !factor || *factor % *divisor != 0)
    return e.div(lhs, rhs);
  if (*factor == *divisor)
    return product.getLhs();
  return e.mul(product.getLhs(), e.integer(*factor / *divisor, getElementTypeOrSelf(rhs)));
}

/// On numbers of i64: the formulas of a launch know nothing of extents.
static Value computeAsData(ExpressionBuilder &e, Operation *op, Value lhs, Value rhs) {
  // What begins behind the extent has no elements, rather than fewer than none.
  auto atLeastZero = [&](Value number) {
    return e.make<MaxOp>(number, e.integer(0, getElementTypeOrSelf(lhs.getType())));
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::AddIOp) {
        Value sum = e.add(lhs, rhs);
        return getConstant(rhs).value_or(0) < 0 ? atLeastZero(sum) : sum;
      })
      .Case([&](arith::SubIOp) { return atLeastZero(e.sub(lhs, rhs)); })
      .Case([&](arith::MulIOp) { return e.mul(lhs, rhs); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](Operation *) {
        // No size is below 0.
        return getConstant(rhs) == std::optional<int64_t>(0) ? lhs : e.make<MaxOp>(lhs, rhs);
      })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](Operation *) { return e.make<MinOp>(lhs, rhs); })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](Operation *) { return divide(e, lhs, rhs); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *) { return e.make<RemOp>(lhs, rhs); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](Operation *) {
        Type element = getElementTypeOrSelf(lhs.getType());
        std::optional<int64_t> divisor = getConstant(rhs);
        Value rest = divisor ? e.integer(*divisor - 1, element) : e.sub(rhs, e.integer(1, element));
        return e.div(e.add(lhs, rest), rhs);
      })
      .Default([](Operation *) { return Value(); });
}

static LogicalResult resolveSizeArithmetic(BoundedValues &bounded, Operation *op) {
  ExpressionBuilder e = bounded.expressions(op);
  if (op->getNumOperands() != 2)
    return bounded.refuse(op);
  SmallVector<Value> data, bounds;
  for (Value operand : op->getOperands()) {
    auto known = bounded.sizes.find(operand);
    if (known != bounded.sizes.end()) {
      data.push_back(known->second.extent);
      bounds.push_back(known->second.bound);
      continue;
    }
    Type element = bounded.builder.getI64Type();
    std::optional<int64_t> constant = getConstantIntValue(operand);
    data.push_back(constant ? e.integer(*constant, element)
                            : e.make<FromIndexOp>(RankedTensorType::get({}, element), operand));
    bounds.push_back(operand);
  }
  Value extent = computeAsData(e, op, data[0], data[1]);
  if (!extent)
    return bounded.refuse(op);
  // What grows with the extents has the bound that it makes of their bounds.
  Value bound;
  bool grows = isa<arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
                   arith::MinUIOp>(op);
  bool growsWithFirst =
      isa<arith::SubIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
          op) &&
      !bounded.sizes.contains(op->getOperand(1));
  if ((grows || growsWithFirst) && bounds[0] && bounds[1]) {
    Operation *clone = bounded.builder.clone(*op);
    clone->setOperands(bounds);
    SmallVector<Value> folded;
    bool isKnown = succeeded(bounded.builder.tryFold(clone, folded)) && !folded.empty();
    bound = isKnown ? folded.front() : clone->getResult(0);
    if (isKnown && bound.getDefiningOp() != clone)
      clone->erase();
  }
  bounded.sizes[op->getResult(0)] = {bound, extent};
  bounded.eraseLater(op);
  return success();
}

FailureOr<ResultShape> getResultShape(BoundedValues &bounded, ArraySizedOpInterface op) {
  auto type = typeOf(op->getResult(0));
  Dims shape(type.getShape());
  ResultShape result;
  result.extents.resize(type.getRank());
  OperandRange::iterator size = op.getSizes().begin();
  // Without sizes a reshape's only `?` follows from the number of elements.
  if (op.getSizes().empty())
    return ResultShape{type, {}, result.extents};
  for (auto [dim, known] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(known))
      continue;
    Value given = *size++;
    if (auto found = bounded.sizes.find(given); found != bounded.sizes.end()) {
      if (!found->second.bound)
        return FailureOr<ResultShape>(bounded.refuse(op));
      result.extents[dim] = found->second.extent;
      given = found->second.bound;
    }
    if (std::optional<int64_t> constant = getConstantIntValue(given))
      known = *constant;
    else
      result.sizes.push_back(given);
  }
  result.type = type.clone(shape);
  return result;
}

static LogicalResult resolveIota(BoundedValues &bounded, IotaOp op) {
  FailureOr<ResultShape> shape = getResultShape(bounded, op);
  if (failed(shape))
    return failure();
  Value array = bounded.expressions(op).make<IotaOp>(shape->type, shape->sizes, op.getAxis());
  bounded.define(op.getResult(), array, shape->extents);
  bounded.eraseLater(op);
  return success();
}

static LogicalResult resolveBroadcast(BoundedValues &bounded, BroadcastInDimOp op) {
  FailureOr<ResultShape> shape = getResultShape(bounded, op);
  if (failed(shape))
    return failure();
  Value array = bounded.arrayOf(op.getOperand());
  for (auto [dim, axis] : llvm::enumerate(op.getAxes())) {
    Value own = bounded.extentOf(op.getOperand(), dim), wanted = shape->extents[axis];
    bool isRepeated = !own && typeOf(array).getDimSize(dim) == 1;
    if (isRepeated || (!own && !wanted) ||
        (own && wanted && bounded.equality.areEqual(op, own, wanted)))
      continue;
    if (own)
      return bounded.refuseDim(op, 0, dim,
                               "but the result's dim " + Twine(axis) +
                                   " does not; array.dim of the operand is its size");
    return op.emitOpError("expected dim ")
           << dim << " of its operand to have the runtime size of the result's dim " << axis
           << " or to be 1, got " << formatDim(typeOf(array).getDimSize(dim));
  }
  Value result = bounded.expressions(op).make<BroadcastInDimOp>(shape->type, array, shape->sizes,
                                                                op.getAxes());
  bounded.define(op.getResult(), result, shape->extents);
  bounded.eraseLater(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// Dims that are not static, each with the number of elements in the static dims behind it.
struct Segments {
  int64_t leading = 1;
  SmallVector<std::pair<int64_t, int64_t>> dims;

  template <typename Predicate> Segments(ArrayRef<int64_t> shape, Predicate isOpen) {
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (isOpen(dim))
        dims.push_back({static_cast<int64_t>(dim), 1});
      else
        (dims.empty() ? leading : dims.back().second) *= size; // in range: elements of a type
    }
  }
};
} // namespace

/// A dim with an extent stays the outermost of those that it is merged with or split into: then
/// what counts of them is what comes first. Of one that is split, what does not fill a slice of the
/// inner dims does not count.
static LogicalResult resolveReshape(BoundedValues &bounded, ReshapeOp op) {
  FailureOr<ResultShape> shape = getResultShape(bounded, op);
  if (failed(shape))
    return failure();
  Value array = bounded.arrayOf(op.getOperand());
  RankedTensorType from = typeOf(array);
  Segments before(from.getShape(), [&](int64_t dim) {
    return bounded.extentOf(op.getOperand(), dim) || from.isDynamicDim(dim);
  });
  Segments after(op.getType().getShape(),
                 [&](int64_t dim) { return op.getType().isDynamicDim(dim); });
  auto refuseReshape = [&]() -> LogicalResult {
    for (auto [dim, extent] : llvm::enumerate(bounded.extentsOf(op.getOperand())))
      if (extent)
        return bounded.refuseDim(
            op, 0, dim,
            "and does not stay the first of the dims that it is reshaped with, from " +
                formatDims(op.getOperand().getType().getShape()) + " to " +
                formatDims(op.getType().getShape()));
    return bounded.refuse(op);
  };
  if (before.leading != after.leading || before.dims.size() != after.dims.size())
    return refuseReshape();
  ExpressionBuilder e = bounded.expressions(op);
  SizeBuilder size(bounded.builder, op.getLoc());
  Dims dims(op.getType().getShape());
  SmallVector<Value> dynamic;
  Extents extents(dims.size());
  for (auto [old, now] : llvm::zip_equal(before.dims, after.dims)) {
    Value extent = bounded.extentOf(op.getOperand(), old.first), wanted = shape->extents[now.first];
    bool isMerged = now.second != 0 && old.second % now.second == 0;
    bool isSplit = !isMerged && old.second != 0 && now.second % old.second == 0;
    if (!(isMerged || isSplit) || (!extent && (wanted || old.second != now.second)))
      return refuseReshape();
    int64_t factor = isMerged ? old.second / now.second : now.second / old.second;
    int64_t oldBound = from.getDimSize(old.first);
    if (isSplit && !ShapedType::isDynamic(oldBound) && oldBound % factor != 0)
      return bounded.refuseDim(op, 0, old.first,
                               "and a bound of " + Twine(oldBound) +
                                   ", which is not a multiple of the " + Twine(factor) +
                                   " elements that it is split by");
    if (extent && factor != 1) {
      Value by = e.integer(factor, bounded.builder.getI64Type());
      extent = isMerged ? e.mul(extent, by) : divide(e, extent, by);
    }
    if (extent && !op.getSizes().empty() &&
        !(wanted && bounded.equality.areEqual(op, extent, wanted)))
      return refuseReshape();
    extents[now.first] = extent;
    OpFoldResult whole = size.size(array, old.first), by = size.constant(factor);
    OpFoldResult bound = isMerged ? size.mul(whole, by) : size.floorDiv(whole, by);
    std::optional<int64_t> constant = getConstantIntValue(bound);
    dims[now.first] = constant.value_or(ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(size.value(bound));
  }
  bounded.define(op.getResult(), e.make<ReshapeOp>(op.getType().clone(dims), array, dynamic),
                 extents);
  bounded.eraseLater(op);
  return success();
}

static LogicalResult resolveTranspose(BoundedValues &bounded, TransposeOp op) {
  Extents extents;
  for (int64_t dim : op.getPermutation())
    extents.push_back(bounded.extentOf(op.getOperand(), dim));
  bounded.defineAll(op, bounded.rebuild(op, bounded.arrayOf(op.getOperand())), extents);
  return success();
}

/// Element `i` is the one at `extent - 1 - i`.
static LogicalResult resolveReverse(BoundedValues &bounded, ReverseOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  Value array = bounded.arrayOf(op.getOperand());
  Extents extents = bounded.extentsOf(op.getOperand());
  SmallVector<int64_t> whole;
  for (int64_t axis : op.getAxes()) {
    if (!extents[axis]) {
      whole.push_back(axis);
      continue;
    }
    Type element = bounded.builder.getI64Type();
    SizeBuilder size(bounded.builder, op.getLoc());
    int64_t bound = typeOf(array).getDimSize(axis);
    SmallVector<Value> dynamic;
    if (ShapedType::isDynamic(bound))
      dynamic.push_back(size.value(size.size(array, axis)));
    Value index =
        e.make<IotaOp>(RankedTensorType::get(bound, element), dynamic, /*axis=*/int64_t(0));
    Value last = e.sub(extents[axis], e.integer(1, element));
    array = e.make<TakeOp>(array, e.sub(last, index), axis);
  }
  if (!whole.empty())
    array = e.make<ReverseOp>(array, whole);
  bounded.define(op.getResult(), array, extents);
  bounded.eraseLater(op);
  return success();
}

/// Steps from an index on go to the extent; an end of its own could not be checked on the host.
static LogicalResult resolveSlice(BoundedValues &bounded, SliceOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  Extents extents = bounded.extentsOf(op.getOperand());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (!extent)
      continue;
    if (!ShapedType::isDynamic(op.getLimits()[dim]))
      return bounded.refuseDim(op, 0, dim,
                               "which may lie before the slice's end " +
                                   Twine(op.getLimits()[dim]) +
                                   "; array.set_extent cuts it, or array.take with indices");
    int64_t start = op.getStarts()[dim], stride = op.getStrides()[dim];
    Type element = bounded.builder.getI64Type();
    if (start != 0)
      extent = e.make<MaxOp>(e.sub(extent, e.integer(start, element)), e.integer(0, element));
    if (stride != 1)
      extent = e.div(e.add(extent, e.integer(stride - 1, element)), e.integer(stride, element));
  }
  bounded.defineAll(op, bounded.rebuild(op, bounded.arrayOf(op.getOperand())), extents);
  return success();
}

static LogicalResult resolvePad(BoundedValues &bounded, PadOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  Value array = bounded.arrayOf(op.getOperand());
  Extents extents = bounded.extentsOf(op.getOperand());
  Type element = bounded.builder.getI64Type();
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    int64_t around = op.getLow()[dim] + op.getHigh()[dim];
    int64_t between = op.getInterior() ? (*op.getInterior())[dim] : 0;
    if (!extent || (around == 0 && between == 0))
      continue;
    if (op.getHigh()[dim] != 0 || between != 0)
      array = bounded.fillBehind(array, dim, extent, op.getValue());
    // As the sizes that the op itself gives, so that both are known to be equal.
    if (between != 0) {
      Value gaps = e.make<MaxOp>(e.sub(extent, e.integer(1, element)), e.integer(0, element));
      if (between != 1)
        gaps = e.mul(gaps, e.integer(between, element));
      extent = e.add(extent, gaps);
    }
    if (around != 0)
      extent = e.add(extent, e.integer(around, element));
  }
  bounded.defineAll(op, bounded.rebuild(op, {array, op.getValue()}), extents);
  return success();
}

static LogicalResult resolveCast(BoundedValues &bounded, tensor::CastOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return bounded.refuse(op);
  Extents extents = bounded.extentsOf(op.getSource());
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent && !type.isDynamicDim(dim))
      return bounded.refuseDim(op, 0, dim,
                               "where a size of " + Twine(type.getDimSize(dim)) +
                                   " is asked for; array.pad_to_bound gives it one");
  // The array may be one whose elements behind the extent others look at.
  bounded.setArray(op.getResult(), bounded.arrayOf(op.getSource()), extents);
  bounded.eraseLater(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

static Value writeAt(BoundedValues &bounded, Value operand, int64_t axis, Value start,
                     Value update) {
  ExpressionBuilder e(bounded.builder, update.getLoc());
  RankedTensorType type = typeOf(update);
  Type element = bounded.builder.getI64Type();
  SizeBuilder size(bounded.builder, update.getLoc());
  SmallVector<Value> dynamic;
  if (type.isDynamicDim(axis))
    dynamic.push_back(size.value(size.size(update, axis)));
  Value index = e.make<IotaOp>(RankedTensorType::get(type.getDimSize(axis), element), dynamic,
                               /*axis=*/int64_t(0));
  Value rows = e.make<ExpandDimsOp>(e.add(index, start), int64_t(1));
  // Updates have the dim of the index vectors first.
  SmallVector<int64_t> permutation{axis};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != axis)
      permutation.push_back(dim);
  if (axis != 0)
    update = e.make<TransposeOp>(update, permutation);
  return e.make<ScatterOp>(ScatterKind::Set, operand, rows, update, ArrayRef<int64_t>(axis),
                           /*unique=*/true);
}

/// What lies behind the end is skipped by the scatter.
static LogicalResult resolveAppend(BoundedValues &bounded, AppendOp op) {
  int64_t axis = op.getAxis(), rank = op.getType().getRank();
  Extents extents;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == axis) {
      extents.push_back(bounded.extentOf(op.getOperand(), dim));
      continue;
    }
    FailureOr<Value> extent = bounded.unify(op, {{0, dim}, {1, dim}});
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  if (!extents[axis])
    return op.emitOpError("expected dim ")
           << axis
           << " of its operand to be a bounded dynamic dim, as array.set_extent "
              "makes it; array.concatenate joins others";
  ExpressionBuilder e = bounded.expressions(op);
  Value array = bounded.arrayOf(op.getOperand()), update = bounded.arrayOf(op.getUpdate());
  Value added = bounded.extentOf(op.getUpdate(), axis);
  Value count = added ? added : bounded.sizeAsData(update, axis), had = extents[axis];
  Value total = e.add(had, count);
  Value joined = writeAt(bounded, array, axis, had, update);
  joined.getDefiningOp()->setLoc(getOriginLoc(op));
  extents[axis] = e.make<MinOp>(total, bounded.sizeAsData(array, axis));
  bounded.equality.setOrigin(extents[axis], ExtentEquality::Kind::Grown, count, had);
  bounded.setLimit(extents[axis], array, axis);
  bounded.define(op.getResult(), joined, extents);
  bounded.eraseLater(op);
  return success();
}

/// Along a dim with an extent: all arrays one after the other for the room, then each where the
/// ones before it end. What an array has behind its extent is overwritten by the next, or lies
/// behind the extent of all.
static LogicalResult resolveConcatenate(BoundedValues &bounded, ConcatenateOp op) {
  int64_t axis = op.getAxis(), rank = op.getType().getRank();
  Extents extents;
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<BoundedValues::OperandDim> same;
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      same.push_back({operand, dim});
    FailureOr<Value> extent = dim == axis ? FailureOr<Value>(Value()) : bounded.unify(op, same);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  ExpressionBuilder e = bounded.expressions(op);
  SmallVector<Value> arrays = bounded.arraysOf(op.getOperands());
  Value joined = bounded.rebuild(op, arrays)->getResult(0);
  Value end;
  bool isMoved = false;
  for (auto [operand, array] : llvm::zip_equal(op.getOperands(), arrays)) {
    if (isMoved)
      joined = writeAt(bounded, joined, axis, end, array);
    Value own = bounded.extentOf(operand, axis);
    isMoved |= static_cast<bool>(own);
    Value count = own ? own : bounded.sizeAsData(array, axis);
    end = end ? e.add(end, count) : count;
  }
  extents[axis] = isMoved ? end : Value();
  bounded.define(op.getResult(), joined, extents);
  bounded.eraseLater(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Which op has which rule
//===----------------------------------------------------------------------===//

LogicalResult applyShapeRule(BoundedValues &bounded, Operation *op) {
  if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex() &&
      isa<arith::ArithDialect>(op->getDialect()))
    return resolveSizeArithmetic(bounded, op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](SetExtentOp set) { return resolveSetExtent(bounded, set); })
      .Case([&](ExtentOp extent) {
        return resolveDim(bounded, op, extent.getOperand(), extent.getAxis());
      })
      .Case([&](DimOp dim) { return resolveDim(bounded, op, dim.getOperand(), dim.getAxis()); })
      .Case([&](tensor::DimOp dim) {
        std::optional<int64_t> index = dim.getConstantIndex();
        return index ? resolveDim(bounded, op, dim.getSource(), *index) : bounded.refuse(op);
      })
      .Case([&](FromIndexOp from) {
        ExpressionBuilder e = bounded.expressions(op);
        bounded.define(from.getResult(), e.convert(bounded.sizes.lookup(from.getOperand()).extent,
                                                   from.getType().getElementType()));
        bounded.eraseLater(op);
        return success();
      })
      .Case([&](PadToBoundOp pad) {
        Value array = bounded.arrayOf(pad.getOperand());
        for (auto [dim, extent] : llvm::enumerate(bounded.extentsOf(pad.getOperand())))
          if (extent)
            array = bounded.fillBehind(array, dim, extent, pad.getValue());
        if (!areCompatibleTypes(array.getType(), pad.getType()))
          return LogicalResult(pad.emitOpError("expected a result of the bounds' sizes, ")
                               << array.getType() << ", got " << pad.getType());
        bounded.define(pad.getResult(), array);
        bounded.eraseLater(op);
        return success();
      })
      .Case([&](AppendOp append) { return resolveAppend(bounded, append); })
      .Case([&](IotaOp iota) { return resolveIota(bounded, iota); })
      .Case([&](BroadcastInDimOp broadcast) { return resolveBroadcast(bounded, broadcast); })
      .Case([&](ReshapeOp reshape) { return resolveReshape(bounded, reshape); })
      .Case([&](TransposeOp transpose) { return resolveTranspose(bounded, transpose); })
      .Case([&](ReverseOp reverse) { return resolveReverse(bounded, reverse); })
      .Case([&](SliceOp slice) { return resolveSlice(bounded, slice); })
      .Case([&](PadOp pad) { return resolvePad(bounded, pad); })
      .Case([&](tensor::CastOp cast) { return resolveCast(bounded, cast); })
      .Case([&](ConcatenateOp concatenate) { return resolveConcatenate(bounded, concatenate); })
      .Default([&](Operation *other) { return applyIndexRule(bounded, other); });
}

} // namespace xc::array
