//===- PoolToLinalg.cpp - Reductions of sliding windows -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As upstream's pooling ops: a generic over the result's dims and those of the window, which has an
// operand that only gives the window's sizes.
//
//   y[o] = combine(y[o], pad(x)[o * stride + k * dilation])
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

using array::WindowDim;

namespace {

/// The loops of an op over windows: one for each dim, then one for each window dim of more than one
/// element.
struct WindowLoops {
  WindowLoops(OpBuilder &builder, Location loc, ArrayRef<WindowDim> window);

  int64_t rank;
  SmallVector<unsigned> tapLoops;      // of each dim; 0 where the window has one element
  SmallVector<AffineExpr> sourceExprs; // of the padded operand, in terms of the loops
  SmallVector<utils::IteratorType> iterators;
  AffineMap sourceMap, windowMap, placeMap;
  Value shape; // the operand that gives the window's sizes
};

} // namespace

WindowLoops::WindowLoops(OpBuilder &builder, Location loc, ArrayRef<WindowDim> window)
    : rank(window.size()), tapLoops(window.size(), 0),
      iterators(window.size(), utils::IteratorType::parallel) {
  SmallVector<AffineExpr> taps;
  SmallVector<int64_t> sizes;
  for (auto [index, dim] : llvm::enumerate(window)) {
    AffineExpr expr = builder.getAffineDimExpr(index) * dim.stride;
    if (dim.size > 1) {
      tapLoops[index] = iterators.size();
      taps.push_back(builder.getAffineDimExpr(iterators.size()));
      sizes.push_back(dim.size);
      iterators.push_back(utils::IteratorType::reduction);
      expr = expr + taps.back() * dim.dilation;
    }
    sourceExprs.push_back(expr);
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(iterators.size(), 0, exprs, builder.getContext());
  };
  sourceMap = map(sourceExprs);
  windowMap = map(taps);
  placeMap = builder.getMultiDimIdentityMap(iterators.size()).getMajorSubMap(rank);
  shape = tensor::EmptyOp::create(builder, loc, sizes, builder.getI8Type());
}

/// `operand` padded for `window`, and cut where one of its `places` does not reach the end.
static Value padForWindow(OpBuilder &builder, Location loc, Value operand,
                          ArrayRef<WindowDim> window, RankedTensorType places, TypedAttr value) {
  SmallVector<int64_t> low, high, reached;
  for (auto [dim, windowDim] : llvm::enumerate(window)) {
    low.push_back(windowDim.low);
    high.push_back(windowDim.high);
    bool isOnePlace = places.getDimSize(dim) == 1 && windowDim.stride != 1;
    reached.push_back(isOnePlace ? windowDim.getExtent() : ShapedType::kDynamic);
  }
  return cutUnreached(builder, loc, padTensor(builder, loc, operand, low, high, value), reached);
}

/// The sizes of the places of `window` over `operand`, with what `type` knows.
static SmallVector<OpFoldResult> sizesOfPlaces(OpBuilder &builder, Operation *op, Value operand,
                                               ArrayRef<WindowDim> window, RankedTensorType type) {
  array::SizeBuilder sizeBuilder(builder, op->getLoc());
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, windowDim] : llvm::enumerate(window)) {
    sizes.push_back(sizeBuilder.size(operand, dim));
    if (windowDim.isTrivial())
      continue;
    OpFoldResult windowSize = sizeBuilder.constant(windowDim.size);
    sizes.back() = array::countPlaces(sizeBuilder, sizes.back(), windowSize, windowDim);
  }
  return refineSizes(builder, type, sizes);
}

namespace {

struct ConvertReduceWindow : OpConversionPattern<array::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand();
    Type element = getElementTypeOrSelf(op.getOperand().getType()),
         storage = storageElement(element);
    auto type = cast<RankedTensorType>(storageType(op.getType()));
    SmallVector<WindowDim> window = op.getWindowDims();
    SmallVector<OpFoldResult> sizes = sizesOfPlaces(rewriter, op, operand, window, type);
    // A window that is wider than its operand would not verify.
    if (llvm::any_of(sizes, isZeroInteger)) {
      Value zero = scalarConstant(rewriter, loc, type.getElementType(), 0);
      Value empty = filledTensor(rewriter, loc, sizes, zero);
      rewriter.replaceOp(op, castTo(rewriter, loc, empty, type));
      return success();
    }
    WindowLoops loops(rewriter, loc, window);
    auto neutral = [&](Type as) { return neutralValue(rewriter, op.getKind(), element, as); };
    Value padded = padForWindow(rewriter, loc, operand, window, type, neutral(storage));
    Value start = arith::ConstantOp::create(rewriter, loc, neutral(computeElement(storage)));
    Value init = filledTensor(rewriter, loc, sizes, start);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, init.getType(), ValueRange{padded, loops.shape}, init,
        {loops.sourceMap, loops.windowMap, loops.placeMap}, loops.iterators,
        [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
          // Truth values combine as the bytes 0 and 1.
          Value x = element.isInteger(1) ? args[0] : loadScalar(b, bodyLoc, args[0], element);
          linalg::YieldOp::create(b, bodyLoc,
                                  combineScalars(b, bodyLoc, op.getKind(), element, args[2], x));
        });
    Value result = storeTensor(rewriter, loc, generic.getResult(0), type.getElementType());
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

/// First which element each window selects, as a number in the window; then each element of the
/// operand sums over the windows that may have selected it. So no two additions meet.
struct ConvertSelectAndScatter : OpConversionPattern<array::SelectAndScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::SelectAndScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    array::SizeBuilder sizeBuilder(rewriter, op.getLoc());
    SmallVector<OpFoldResult> sizes =
        refineSizes(rewriter, type, sizeBuilder.sizes(adaptor.getOperand()));
    Value selected = buildSelection(rewriter, op, adaptor);
    Value sums = buildSums(rewriter, op, adaptor.getSource(), selected, sizes);
    Value result = storeTensor(rewriter, op.getLoc(), sums, type.getElementType());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), result, type));
    return success();
  }

private:
  /// What the number is of an element that no window has.
  static constexpr int64_t kNone = std::numeric_limits<int32_t>::max();

  /// What numbers are stored as: bytes where these tell all elements of a window and kNone apart.
  static IntegerType getNumberType(OpBuilder &builder, array::SelectAndScatterOp op) {
    return array::multiplyKnown(op.getWindow()) < (1 << 8) ? builder.getI8Type()
                                                           : builder.getI32Type();
  }

  /// The number in the window of its element `taps`: an index for each dim, or null along dims of
  /// which the window has one element.
  static Value numberOfElement(OpBuilder &b, Location loc, array::SelectAndScatterOp op,
                               ArrayRef<Value> taps) {
    Value number = arith::ConstantIndexOp::create(b, loc, 0);
    for (auto [tap, size] : llvm::zip_equal(taps, op.getWindow())) {
      if (size == 1)
        continue;
      number =
          b.createOrFold<arith::MulIOp>(loc, number, arith::ConstantIndexOp::create(b, loc, size));
      number = b.createOrFold<arith::AddIOp>(loc, number, tap);
    }
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), number);
  }

  /// Whether the element of the padded operand under the loops is one of the operand; null if all
  /// are. `sizes` are the operand's.
  static Value isInside(OpBuilder &b, Location loc, array::SelectAndScatterOp op,
                        const WindowLoops &loops, ArrayRef<Value> sizes) {
    Value inside;
    for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
      if (window.low == 0 && window.high == 0)
        continue;
      Value position = scaledIndex(b, loc, dim, window.stride);
      if (loops.tapLoops[dim] != 0)
        position = arith::AddIOp::create(b, loc, position,
                                         scaledIndex(b, loc, loops.tapLoops[dim], window.dilation));
      position = arith::SubIOp::create(b, loc, position,
                                       arith::ConstantIndexOp::create(b, loc, window.low));
      // As an unsigned number, what lies before is too large.
      Value within = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position, sizes[dim]);
      inside = inside ? arith::AndIOp::create(b, loc, inside, within).getResult() : within;
    }
    return inside;
  }

  static Value scaledIndex(OpBuilder &b, Location loc, int64_t loop, int64_t factor) {
    Value index = linalg::IndexOp::create(b, loc, loop);
    return factor == 1 ? index
                       : arith::MulIOp::create(b, loc, index,
                                               arith::ConstantIndexOp::create(b, loc, factor));
  }

  static SmallVector<Value> sizeValues(OpBuilder &builder, Location loc, Value tensor) {
    array::SizeBuilder sizeBuilder(builder, loc);
    return llvm::map_to_vector(sizeBuilder.sizes(tensor),
                               [&](OpFoldResult size) { return sizeBuilder.value(size); });
  }

  /// The number of the element that the loops are at; kNone of padding, which with the worst value
  /// never wins.
  static Value numberUnderLoops(OpBuilder &b, Location loc, array::SelectAndScatterOp op,
                                const WindowLoops &loops, ArrayRef<Value> operandSizes) {
    SmallVector<Value> taps = llvm::map_to_vector(loops.tapLoops, [&](unsigned loop) {
      return loop == 0 ? Value() : linalg::IndexOp::create(b, loc, loop).getResult();
    });
    Value number = numberOfElement(b, loc, op, taps);
    Value inside = isInside(b, loc, op, loops, operandSizes);
    if (!inside)
      return number;
    Value none = scalarConstant(b, loc, number.getType(), kNone);
    return arith::SelectOp::create(b, loc, inside, number, none);
  }

  static Value buildSelection(OpBuilder &builder, array::SelectAndScatterOp op, OpAdaptor adaptor) {
    Location loc = op.getLoc();
    WindowLoops loops(builder, loc, op.getWindowDims());
    Value operand = adaptor.getOperand();
    bool isMax = op.getKind() == array::ReduceKind::Max;
    Type element = getElementTypeOrSelf(operand.getType()), compute = computeElement(element);
    auto places = cast<RankedTensorType>(op.getSource().getType());
    SmallVector<OpFoldResult> sizes =
        sizesOfPlaces(builder, op, operand, op.getWindowDims(), places);
    SmallVector<Value> operandSizes = sizeValues(builder, loc, operand);
    auto worst = [&](Type as) { return extremeValue(builder, as, false, /*highest=*/!isMax); };
    Value padded = padForWindow(builder, loc, operand, op.getWindowDims(), places, worst(element));
    Value values =
        filledTensor(builder, loc, sizes, arith::ConstantOp::create(builder, loc, worst(compute)));
    Value numbers = filledTensor(builder, loc, sizes,
                                 scalarConstant(builder, loc, builder.getI32Type(), kNone));
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange{values.getType(), numbers.getType()},
        ValueRange{padded, loops.shape}, ValueRange{values, numbers},
        {loops.sourceMap, loops.windowMap, loops.placeMap, loops.placeMap}, loops.iterators,
        [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
          Value x = loadScalar(b, bodyLoc, args[0], element);
          Value number = numberUnderLoops(b, bodyLoc, op, loops, operandSizes);
          Value wins = isBetter(b, bodyLoc, isMax, element, x, number, args[2], args[3]);
          Value value = arith::SelectOp::create(b, bodyLoc, wins, x, args[2]);
          Value best = arith::SelectOp::create(b, bodyLoc, wins, number, args[3]);
          linalg::YieldOp::create(b, bodyLoc, ValueRange{value, best});
        });
    generic->setAttr(plan::kBreaksTiesAttr, builder.getUnitAttr());
    IntegerType stored = getNumberType(builder, op);
    Value selected = generic.getResult(1);
    if (stored == builder.getI32Type())
      return selected;
    return buildElementwise(builder, loc, stored, sizes, selected,
                            builder.getMultiDimIdentityMap(sizes.size()),
                            [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
                              return arith::TruncIOp::create(b, bodyLoc, stored, args[0]);
                            });
  }

  /// Whether windows may fit nowhere along dim `dim`.
  static bool mayHaveNoPlaces(array::SelectAndScatterOp op, int64_t dim) {
    return op.getSource().getType().isDynamicDim(dim) && !op.getWindowDims()[dim].isTrivial();
  }

  /// `tensor`, of one element for each place, with a zero behind the last one along dims of which
  /// it may have no places: something to read for all elements of the operand.
  static Value padPlaces(OpBuilder &builder, array::SelectAndScatterOp op, Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      high[dim] = mayHaveNoPlaces(op, dim) ? 1 : 0;
    auto zero = cast<TypedAttr>(builder.getZeroAttr(type.getElementType()));
    return padTensor(builder, op.getLoc(), tensor, low, high, zero);
  }

  /// True if the windows that may have an element are counted by places along `window`: those are
  /// fewer than its taps, and what a place has there needs no division.
  static bool areByPlaces(const WindowDim &window) {
    return window.stride != 1 && window.dilation == 1;
  }

  /// The windows that may have an element of the operand, as if they were one window: of each dim
  /// its size says how many there are.
  static SmallVector<WindowDim> getCandidates(array::SelectAndScatterOp op) {
    SmallVector<WindowDim> candidates = op.getWindowDims();
    for (WindowDim &window : candidates)
      if (areByPlaces(window))
        window.size = llvm::divideCeil(window.size, window.stride);
    return candidates;
  }

  /// A window that may have the loops' element of the operand.
  struct Candidate {
    SmallVector<Value> place; // clamped to those that there are
    SmallVector<Value> taps;  // at which the window has the element
    Value exists;             // i1, or null: it does
  };

  /// The candidate that the loops are at. Its taps go up with the loops: with those of places go
  /// down, from the last window that begins before the element.
  static Candidate findCandidate(OpBuilder &b, Location loc, array::SelectAndScatterOp op,
                                 const WindowLoops &loops, ArrayRef<Value> placeSizes) {
    Candidate found;
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
    auto require = [&](arith::CmpIPredicate predicate, Value value, Value bound) {
      Value holds = arith::CmpIOp::create(b, loc, predicate, value, bound);
      found.exists = found.exists ? arith::AndIOp::create(b, loc, found.exists, holds) : holds;
    };
    for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
      Value position = linalg::IndexOp::create(b, loc, dim), tap;
      if (window.isTrivial()) {
        found.place.push_back(position);
        found.taps.push_back(Value());
        continue;
      }
      unsigned loop = loops.tapLoops[dim];
      position = b.createOrFold<arith::AddIOp>(loc, position, constant(window.low));
      if (areByPlaces(window)) {
        tap = arith::RemUIOp::create(b, loc, position, constant(window.stride));
        position = arith::DivUIOp::create(b, loc, position, constant(window.stride));
        if (loop != 0) {
          tap = arith::AddIOp::create(b, loc, tap, scaledIndex(b, loc, loop, window.stride));
          position = arith::SubIOp::create(b, loc, position, linalg::IndexOp::create(b, loc, loop));
        }
        if (window.size % window.stride != 0)
          require(arith::CmpIPredicate::slt, tap, constant(window.size));
      } else if (loop != 0) {
        tap = linalg::IndexOp::create(b, loc, loop);
        position =
            arith::SubIOp::create(b, loc, position, scaledIndex(b, loc, loop, window.dilation));
      }
      if (loop != 0) {
        require(arith::CmpIPredicate::sge, position, constant(0));
        position = arith::MaxSIOp::create(b, loc, position, constant(0));
      }
      if (!areByPlaces(window) && window.stride != 1) {
        Value stride = constant(window.stride);
        require(arith::CmpIPredicate::eq, arith::RemUIOp::create(b, loc, position, stride),
                constant(0));
        position = arith::DivUIOp::create(b, loc, position, stride);
      }
      require(arith::CmpIPredicate::slt, position, placeSizes[dim]);
      // Behind the last place there is padding if there may be none.
      Value last = placeSizes[dim];
      if (!mayHaveNoPlaces(op, dim))
        last = arith::SubIOp::create(b, loc, last, constant(1));
      found.place.push_back(arith::MinSIOp::create(b, loc, position, last));
      found.taps.push_back(tap);
    }
    return found;
  }

  static Value buildSums(OpBuilder &builder, array::SelectAndScatterOp op, Value source,
                         Value selected, ArrayRef<OpFoldResult> sizes) {
    Location loc = op.getLoc();
    Type element = getElementTypeOrSelf(source.getType()), compute = computeElement(element);
    Value zero = scalarConstant(builder, loc, compute, 0);
    // Nothing can be read from a source without elements.
    if (llvm::is_contained(cast<RankedTensorType>(op.getSource().getType()).getShape(), 0))
      return filledTensor(builder, loc, sizes, zero);
    SmallVector<Value> placeSizes = sizeValues(builder, loc, source);
    source = padPlaces(builder, op, source);
    selected = padPlaces(builder, op, selected);
    WindowLoops loops(builder, loc, getCandidates(op));
    auto emitTerm = [&](OpBuilder &b, Location bodyLoc) -> Value {
      Candidate window = findCandidate(b, bodyLoc, op, loops, placeSizes);
      Value choice = tensor::ExtractOp::create(b, bodyLoc, selected, window.place);
      if (choice.getType() != b.getI32Type())
        choice = arith::ExtUIOp::create(b, bodyLoc, b.getI32Type(), choice);
      // No element has a negative number. What neighbours share is computed once for them.
      Value number = numberOfElement(b, bodyLoc, op, window.taps);
      if (window.exists)
        number = arith::SelectOp::create(b, bodyLoc, window.exists, number,
                                         scalarConstant(b, bodyLoc, number.getType(), -1));
      Value hit = arith::CmpIOp::create(b, bodyLoc, arith::CmpIPredicate::eq, choice, number);
      Value stored = tensor::ExtractOp::create(b, bodyLoc, source, window.place);
      return arith::SelectOp::create(b, bodyLoc, hit, loadScalar(b, bodyLoc, stored, element),
                                     zero);
    };
    // Windows that lie apart: each element is in one at most.
    if (loops.iterators.size() == sizes.size())
      return buildElementwise(builder, loc, compute, sizes, {}, {},
                              [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
                                return arith::AddFOp::create(b, bodyLoc, zero,
                                                             emitTerm(b, bodyLoc));
                              });
    Value init = filledTensor(builder, loc, sizes, zero);
    auto generic = linalg::GenericOp::create(
        builder, loc, init.getType(), loops.shape, init, {loops.windowMap, loops.placeMap},
        loops.iterators, [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
          Value term = emitTerm(b, bodyLoc);
          linalg::YieldOp::create(b, bodyLoc,
                                  arith::AddFOp::create(b, bodyLoc, args[1], term).getResult());
        });
    return generic.getResult(0);
  }
};

} // namespace

void populatePoolPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertReduceWindow, ConvertSelectAndScatter>(converter, patterns.getContext());
}

} // namespace xc
