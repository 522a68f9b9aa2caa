//===- ScanOp.cpp - kernel.scan -------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"
#include "compiler/Dialect/Kernel/IR/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::kernel {

Type ScanOp::getComputeType() {
  Type element = cast<ShapedType>(getInput().getType()).getElementType();
  bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
  return isNarrow ? Float32Type::get(getContext()) : element;
}

SmallVector<int64_t> ScanOp::getLineDims() {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < cast<ShapedType>(getInput().getType()).getRank(); ++dim)
    if (dim != static_cast<int64_t>(getAxis()))
      dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  auto input = cast<ShapedType>(getInput().getType()), dest = cast<ShapedType>(getDest().getType());
  if (!input.hasRank() || !dest.hasRank() || !input.getElementType().isSignlessIntOrFloat())
    return emitOpError("expected ranked operands of signless integers or floats, got ")
           << input << " and " << dest;
  int64_t axis = getAxis(), segment = getSegment();
  if (axis < 0 || axis >= input.getRank())
    return emitOpError("expected an axis in [0, ") << input.getRank() << "), got " << axis;
  Type element = input.getElementType(), compute = getComputeType();
  if (getKind() == ScanKind::LogAddExp && !isa<FloatType>(element))
    return emitOpError("expected floats to combine with logaddexp, got ") << element;
  bool isCut = getTotals() || getCarry();
  if (segment < 0 || isCut != (segment != 0) || (getTotals() && getCarry()))
    return emitOpError("expected segments of at least one element, and either their totals or a "
                       "carry, got segments of ")
           << segment;
  // Per segment but the last.
  SmallVector<int64_t> perSegment(input.getShape());
  if (isCut && !ShapedType::isDynamic(perSegment[axis]))
    perSegment[axis] = std::max<int64_t>(llvm::divideCeil(perSegment[axis], segment) - 1, 0);
  auto isOf = [](ShapedType type, ArrayRef<int64_t> shape, Type wanted) {
    return type.hasRank() && llvm::equal(shape, type.getShape(), agree) &&
           type.getElementType() == wanted;
  };
  if (getCarry()) {
    auto carry = cast<ShapedType>(getCarry().getType());
    if (!isOf(carry, perSegment, compute))
      return emitOpError("expected a carry of ")
             << compute << " and shape [" << perSegment << "], got " << carry;
  }
  ArrayRef<int64_t> shape = getTotals() ? ArrayRef<int64_t>(perSegment) : input.getShape();
  Type wanted = getTotals() ? compute : element;
  if (!isOf(dest, shape, wanted))
    return emitOpError("expected a destination of ")
           << wanted << " and shape [" << shape << "], got " << dest;
  return verifyTensorsOrMemrefs(*this);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The loops over one line.
class LineScan {
public:
  LineScan(ScanOp op, OpBuilder &b, Location loc, ValueRange line)
      : op(op), b(b), loc(loc), line(line), compute(op.getComputeType()), zero(index(0)),
        one(index(1)), size(sizeValueOf(b, loc, op.getInput(), op.getAxis())) {}

  void build();

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// Indices of an element of the line.
  SmallVector<Value> at(Value position) {
    SmallVector<Value> coords(line);
    coords.insert(coords.begin() + op.getAxis(), position);
    return coords;
  }
  Value mirror(Value position, Value count) {
    if (!op.getReverse())
      return position;
    Value last = arith::SubIOp::create(b, loc, count, one);
    return arith::SubIOp::create(b, loc, last, position);
  }
  Value getStart(Value segment);
  Value scan(Value from, Value to, Value start);

  ScanOp op;
  OpBuilder &b;
  Location loc;
  ValueRange line;
  Type compute;
  Value zero, one, size;
};

} // namespace

/// What segment number `segment` starts from: the carry but for the first one.
Value LineScan::getStart(Value segment) {
  Value neutral = arith::ConstantOp::create(
      b, loc, getScanNeutral(b, op.getKind(), compute, op.getUnsignedElements()));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, segment, zero);
  auto choice = scf::IfOp::create(b, loc, TypeRange(compute), isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, neutral);
  b.setInsertionPointToStart(choice.elseBlock());
  Value count = sizeValueOf(b, loc, op.getCarry(), op.getAxis());
  Value before = arith::SubIOp::create(b, loc, segment, one);
  Value carried = memref::LoadOp::create(b, loc, op.getCarry(), at(mirror(before, count)));
  scf::YieldOp::create(b, loc, carried);
  return choice.getResult(0);
}

/// Returns what the elements [from, to) and `start` combine to.
Value LineScan::scan(Value from, Value to, Value start) {
  Type element = cast<ShapedType>(op.getInput().getType()).getElementType();
  auto loop = scf::ForOp::create(b, loc, from, to, one, start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> position = at(mirror(loop.getInductionVar(), size));
  Value before = loop.getRegionIterArg(0);
  Value value = memref::LoadOp::create(b, loc, op.getInput(), position);
  if (element != compute)
    value = arith::ExtFOp::create(b, loc, compute, value);
  Value after = combineScan(b, loc, op.getKind(), op.getUnsignedElements(), before, value);
  if (!op.getTotals()) {
    Value result = op.getExclusive() ? before : after;
    if (element != compute)
      result = arith::TruncFOp::create(b, loc, element, result);
    memref::StoreOp::create(b, loc, result, op.getDest(), position);
  }
  scf::YieldOp::create(b, loc, after);
  return loop.getResult(0);
}

void LineScan::build() {
  Value neutral = arith::ConstantOp::create(
      b, loc, getScanNeutral(b, op.getKind(), compute, op.getUnsignedElements()));
  if (op.getSegment() == 0) {
    scan(zero, size, neutral);
    return;
  }
  Value length = index(op.getSegment());
  Value segments = op.getTotals() ? sizeValueOf(b, loc, op.getDest(), op.getAxis())
                                  : Value(arith::CeilDivSIOp::create(b, loc, size, length));
  auto loop = scf::ForOp::create(b, loc, zero, segments, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value segment = loop.getInductionVar();
  Value from = arith::MulIOp::create(b, loc, segment, length);
  Value end = arith::AddIOp::create(b, loc, from, length);
  Value to = arith::MinSIOp::create(b, loc, end, size);
  if (!op.getTotals()) {
    scan(from, to, getStart(segment));
    return;
  }
  Value total = scan(from, to, neutral);
  memref::StoreOp::create(b, loc, total, op.getDest(), at(mirror(segment, segments)));
}

void ScanOp::buildLoopNest(OpBuilder &builder) {
  loopOverDims(
      builder, getLoc(), getInput(), getLineDims(),
      [&](OpBuilder &b, Location loc, ValueRange line) { LineScan(*this, b, loc, line).build(); });
}

} // namespace xc::kernel
