//===- DigitOps.cpp - kernel.count_digits and kernel.sort_digit -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::kernel {

SmallVector<int64_t> CountDigitsOp::getLineDims() {
  return llvm::to_vector(llvm::seq<int64_t>(0, getRank() - 1));
}

SmallVector<int64_t> SortDigitOp::getLineDims() {
  return llvm::to_vector(llvm::seq<int64_t>(0, getRank() - 1));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// What both ops have in common; `counts` are those of digits in tiles.
template <typename OpTy> static LogicalResult verifyDigits(OpTy op, Value counts) {
  auto keys = cast<ShapedType>(op.getKeys().getType()),
       counted = cast<ShapedType>(counts.getType());
  if (!keys.hasRank() || keys.getRank() == 0 || !keys.getElementType().isSignlessIntOrFloat())
    return op.emitOpError(
               "expected keys of rank 1 or more and of signless integers or floats, got ")
           << keys;
  int64_t digits = countOrderDigits(keys.getElementType()), digit = op.getDigit(),
          tile = op.getTile();
  if (digit < 0 || digit >= digits)
    return op.emitOpError("expected a digit from 0 to ")
           << digits - 1 << " of " << keys.getElementType() << ", got " << digit;
  if (tile <= 0)
    return op.emitOpError("expected tiles of at least one element, got ") << tile;
  SmallVector<int64_t> shape(keys.getShape().drop_back());
  int64_t length = keys.getShape().back();
  shape.push_back(kOrderDigits);
  shape.push_back(ShapedType::isDynamic(length) ? length : llvm::divideCeil(length, tile));
  Type element = counted.getElementType();
  if (!counted.hasRank() || !llvm::equal(counted.getShape(), shape, agree) ||
      (!element.isSignlessInteger(32) && !element.isSignlessInteger(64)))
    return op.emitOpError("expected counts of i32 or i64 and shape [")
           << shape << "], got " << counted;
  return verifyTensorsOrMemrefs(op);
}

LogicalResult CountDigitsOp::verify() { return verifyDigits(*this, getCounts()); }

LogicalResult SortDigitOp::verify() {
  auto keys = cast<ShapedType>(getKeys().getType()),
       values = cast<ShapedType>(getValues().getType());
  auto isLike = [&](ShapedType type) {
    return type.hasRank() && keys.hasRank() && llvm::equal(type.getShape(), keys.getShape(), agree);
  };
  if (!isLike(values) || values.getElementType() != keys.getElementType())
    return emitOpError("expected keys and values of one type, got ") << keys << " and " << values;
  if (getPayload() && !getIndices())
    return emitOpError("expected indices to bring the payload into");
  for (Value carried : {getPayload(), getIndices()}) {
    auto type = carried ? cast<ShapedType>(carried.getType()) : ShapedType();
    if (type && (!isLike(type) || (!type.getElementType().isSignlessInteger(32) &&
                                   !type.getElementType().isSignlessInteger(64))))
      return emitOpError("expected payload and indices of i32 or i64 and the keys' shape, got ")
             << type;
  }
  if (getPayload() && getElementTypeOrSelf(getPayload()).getIntOrFloatBitWidth() >
                          getElementTypeOrSelf(getIndices()).getIntOrFloatBitWidth())
    return emitOpError("expected indices at least as wide as the payload, got ")
           << getPayload().getType() << " and " << getIndices().getType();
  return verifyDigits(*this, getEnds());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static SmallVector<Value> at(ValueRange line, std::initializer_list<Value> places) {
  SmallVector<Value> coords(line);
  coords.append(places);
  return coords;
}

static void loopOver(OpBuilder &b, Location loc, Value count, function_ref<void(Value)> body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, count, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// The digit of the key at `place`, an index.
template <typename OpTy>
static Value loadDigit(OpTy op, OpBuilder &b, Location loc, ValueRange line, Value place) {
  Value key = memref::LoadOp::create(b, loc, op.getKeys(), at(line, {place}));
  Value digit =
      buildOrderDigit(b, loc, key, op.getUnsignedElements(), op.getDescending(), op.getDigit());
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), digit);
}

void CountDigitsOp::buildLoopNest(OpBuilder &builder) {
  loopOverDims(builder, getLoc(), getKeys(), getLineDims(),
               [&](OpBuilder &b, Location loc, ValueRange line) {
                 Type type = cast<MemRefType>(getCounts().getType()).getElementType();
                 Value none = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 0)),
                       one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 1)),
                       digits = arith::ConstantIndexOp::create(b, loc, kOrderDigits),
                       tile = arith::ConstantIndexOp::create(b, loc, getTile());
                 Value tiles = sizeValueOf(b, loc, getCounts(), getRank());
                 loopOver(b, loc, digits, [&](Value digit) {
                   loopOver(b, loc, tiles, [&](Value number) {
                     memref::StoreOp::create(b, loc, none, getCounts(), at(line, {digit, number}));
                   });
                 });
                 loopOver(b, loc, sizeValueOf(b, loc, getKeys(), getRank() - 1), [&](Value place) {
                   Value number = arith::DivUIOp::create(b, loc, place, tile);
                   SmallVector<Value> coords =
                       at(line, {loadDigit(*this, b, loc, line, place), number});
                   Value count = memref::LoadOp::create(b, loc, getCounts(), coords);
                   count = arith::AddIOp::create(b, loc, count, one);
                   memref::StoreOp::create(b, loc, count, getCounts(), coords);
                 });
               });
}

/// Brings what is at `place` to `target`.
static void moveElement(SortDigitOp op, OpBuilder &b, Location loc, ValueRange line, Value place,
                        Value target) {
  Value value = memref::LoadOp::create(b, loc, op.getKeys(), at(line, {place}));
  memref::StoreOp::create(b, loc, value, op.getValues(), at(line, {target}));
  if (!op.getIndices())
    return;
  Type type = cast<MemRefType>(op.getIndices().getType()).getElementType();
  Value index;
  if (!op.getPayload())
    index = arith::IndexCastOp::create(b, loc, type, place);
  else
    index = memref::LoadOp::create(b, loc, op.getPayload(), at(line, {place}));
  if (index.getType() != type)
    index = arith::ExtSIOp::create(b, loc, type, index);
  memref::StoreOp::create(b, loc, index, op.getIndices(), at(line, {target}));
}

/// One digit after the other: in a single thread, no counts are needed.
void SortDigitOp::buildLoopNest(OpBuilder &builder) {
  loopOverDims(builder, getLoc(), getKeys(), getLineDims(),
               [&](OpBuilder &b, Location loc, ValueRange line) {
                 Value zero = arith::ConstantIndexOp::create(b, loc, 0),
                       one = arith::ConstantIndexOp::create(b, loc, 1),
                       digits = arith::ConstantIndexOp::create(b, loc, kOrderDigits);
                 Value size = sizeValueOf(b, loc, getKeys(), getRank() - 1);
                 auto outer = scf::ForOp::create(b, loc, zero, digits, one, ValueRange{zero});
                 OpBuilder::InsertionGuard guard(b);
                 b.setInsertionPointToStart(outer.getBody());
                 auto inner =
                     scf::ForOp::create(b, loc, zero, size, one, outer.getRegionIterArg(0));
                 scf::YieldOp::create(b, loc, inner.getResults());
                 b.setInsertionPointToStart(inner.getBody());
                 Value place = inner.getInductionVar(), target = inner.getRegionIterArg(0);
                 Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                      loadDigit(*this, b, loc, line, place),
                                                      outer.getInductionVar());
                 auto choice = scf::IfOp::create(b, loc, isHere, /*withElseRegion=*/false);
                 Value next = arith::SelectOp::create(
                     b, loc, isHere, arith::AddIOp::create(b, loc, target, one), target);
                 scf::YieldOp::create(b, loc, next);
                 b.setInsertionPointToStart(choice.thenBlock());
                 moveElement(*this, b, loc, line, place, target);
               });
}

} // namespace xc::kernel
