//===- MergeOp.cpp - kernel.merge -----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::kernel {

SmallVector<int64_t> MergeOp::getLineDims() {
  return llvm::to_vector(llvm::seq<int64_t>(0, getRank() - 1));
}

LogicalResult MergeOp::verify() {
  auto keys = cast<ShapedType>(getKeys().getType()),
       payload = cast<ShapedType>(getPayload().getType());
  if (!keys.hasRank() || keys.getRank() == 0 || !keys.getElementType().isSignlessIntOrFloat())
    return emitOpError("expected keys of rank 1 or more and of signless integers or floats, got ")
           << keys;
  if (!payload.hasRank() || !payload.getElementType().isSignlessInteger())
    return emitOpError("expected a payload of signless integers, got ") << payload;
  auto isLike = [&](Value value, ShapedType wanted) {
    auto type = cast<ShapedType>(value.getType());
    return type.hasRank() && llvm::equal(type.getShape(), keys.getShape(), agree) &&
           type.getElementType() == wanted.getElementType();
  };
  if (!isLike(getPayload(), payload) || !isLike(getValues(), keys) ||
      !isLike(getIndices(), payload))
    return emitOpError("expected payload, values and indices of shape [")
           << keys.getShape() << "] and the element types of keys and payload, got " << payload
           << ", " << getValues().getType() << " and " << getIndices().getType();
  int64_t run = getRun();
  if (run <= 0)
    return emitOpError("expected runs of at least one element, got ") << run;
  if (run > array::kMostElements)
    return emitOpError("expected runs that a line can have, got ") << run << " elements";
  if (std::optional<int64_t> above = getAbove(); above && *above < 0)
    return emitOpError("expected to work above a length that is not negative, got ") << *above;
  return verifyTensorsOrMemrefs(*this);
}

/// Merges the runs [from, middle) and [middle, to) of one line.
static void mergeRuns(MergeOp op, OpBuilder &b, Location loc, ValueRange line, Value from,
                      Value middle, Value to) {
  using arith::CmpIPredicate;
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto at = [&](Value place) {
    SmallVector<Value> coords(line);
    coords.push_back(place);
    return coords;
  };
  auto compare = [&](CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  auto loop = scf::ForOp::create(b, loc, from, to, one, ValueRange{from, middle});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value left = loop.getRegionIterArg(0), right = loop.getRegionIterArg(1);
  Value hasLeft = compare(CmpIPredicate::slt, left, middle),
        hasRight = compare(CmpIPredicate::slt, right, to);
  // A run that has ended is read at a place of the other one, and not chosen.
  auto keyAt = [&](Value has, Value place, Value other) {
    Value safe = arith::SelectOp::create(b, loc, has, place, other);
    Value key = memref::LoadOp::create(b, loc, op.getKeys(), at(safe));
    return buildOrderKey(b, loc, key, op.getUnsignedElements(), op.getDescending());
  };
  Value isBefore =
      compare(CmpIPredicate::ule, keyAt(hasLeft, left, right), keyAt(hasRight, right, left));
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false)),
        yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  Value takesLeft = arith::SelectOp::create(
      b, loc, hasLeft, arith::SelectOp::create(b, loc, hasRight, isBefore, yes).getResult(), no);
  SmallVector<Value> source = at(arith::SelectOp::create(b, loc, takesLeft, left, right)),
                     target = at(loop.getInductionVar());
  Value key = memref::LoadOp::create(b, loc, op.getKeys(), source);
  Value payload = memref::LoadOp::create(b, loc, op.getPayload(), source);
  memref::StoreOp::create(b, loc, key, op.getValues(), target);
  memref::StoreOp::create(b, loc, payload, op.getIndices(), target);
  Value nextLeft = arith::AddIOp::create(b, loc, left, one),
        nextRight = arith::AddIOp::create(b, loc, right, one);
  scf::YieldOp::create(b, loc,
                       ValueRange{arith::SelectOp::create(b, loc, takesLeft, nextLeft, left),
                                  arith::SelectOp::create(b, loc, takesLeft, right, nextRight)});
}

/// Merges the runs of one line two by two.
static void mergeLine(MergeOp op, OpBuilder &b, Location loc, ValueRange line, Value size) {
  int64_t run = op.getRun();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        length = arith::ConstantIndexOp::create(b, loc, run),
        pair = arith::ConstantIndexOp::create(b, loc, 2 * run); // in range: the verifier's
  auto pairs = scf::ForOp::create(b, loc, zero, size, pair);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(pairs.getBody());
  Value from = pairs.getInductionVar();
  auto endOf = [&](Value count) -> Value {
    Value end = arith::AddIOp::create(b, loc, from, count);
    return arith::MinSIOp::create(b, loc, end, size);
  };
  Value middle = endOf(length), to = endOf(pair);
  mergeRuns(op, b, loc, line, from, middle, to);
}

void MergeOp::buildLoopNest(OpBuilder &builder) {
  loopOverDims(builder, getLoc(), getKeys(), getLineDims(),
               [&](OpBuilder &b, Location loc, ValueRange line) {
                 Value size = sizeValueOf(b, loc, getKeys(), getRank() - 1);
                 std::optional<int64_t> above = getAbove();
                 if (!above)
                   return mergeLine(*this, b, loc, line, size);
                 Value limit = arith::ConstantIndexOp::create(b, loc, *above);
                 Value isLong =
                     arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, size, limit);
                 auto choice = scf::IfOp::create(b, loc, isLong, /*withElseRegion=*/false);
                 OpBuilder::InsertionGuard guard(b);
                 b.setInsertionPointToStart(choice.thenBlock());
                 mergeLine(*this, b, loc, line, size);
               });
}

} // namespace xc::kernel
