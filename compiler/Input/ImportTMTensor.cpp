//===- ImportTMTensor.cpp - Torch-MLIR's ops beside linalg as array ops ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scans, scatters, sorts, the first k elements and attention. What a body of scalars computes is
// recognized: a sum, a product, a maximum, a minimum or the new value; or an order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Input/Passes.h"
#include "compiler/Input/SupportedTypes.h"
#include "compiler/Input/TMTensor/TMTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc {
#define GEN_PASS_DEF_IMPORTTMTENSOR
#include "compiler/Input/Passes.h.inc"

namespace {

using Result = FailureOr<SmallVector<Value>>;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// How the two arguments of a body meet: Set is the first one alone.
std::optional<ScatterKind> matchCombination(Block &body) {
  Value yielded = body.getTerminator()->getOperand(0);
  if (yielded == body.getArgument(0))
    return ScatterKind::Set;
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getNumOperands() != 2 || &body.front() != op)
    return std::nullopt;
  Value first = body.getArgument(0), second = body.getArgument(1);
  bool isOfBoth = (op->getOperand(0) == first && op->getOperand(1) == second) ||
                  (op->getOperand(0) == second && op->getOperand(1) == first);
  if (!isOfBoth)
    return std::nullopt;
  // Integers without a sign are signed; truth values are 0 or 1, and as numbers 0 or -1.
  bool isTruth = first.getType().isInteger(1);
  return TypeSwitch<Operation *, std::optional<ScatterKind>>(op)
      .Case<arith::AddFOp>([](auto) { return ScatterKind::Add; })
      .Case<arith::MulFOp>([](auto) { return ScatterKind::Mul; })
      .Case<arith::MaximumFOp>([](auto) { return ScatterKind::Max; })
      .Case<arith::MinimumFOp>([](auto) { return ScatterKind::Min; })
      .Default([&](Operation *) -> std::optional<ScatterKind> {
        if (isa<arith::OrIOp>(op) && isTruth)
          return ScatterKind::Max;
        if (isa<arith::AndIOp>(op) && isTruth)
          return ScatterKind::Min;
        if (isTruth)
          return std::nullopt;
        if (isa<arith::AddIOp>(op))
          return ScatterKind::Add;
        if (isa<arith::MulIOp>(op))
          return ScatterKind::Mul;
        if (isa<arith::MaxSIOp>(op))
          return ScatterKind::Max;
        if (isa<arith::MinSIOp>(op))
          return ScatterKind::Min;
        return std::nullopt;
      });
}

/// The operand that a body orders by, and in which direction.
struct Order {
  unsigned operand;
  bool isDescending;
};

/// Whether `lhs predicate rhs` holds for the larger one first; nothing where it is no order.
template <typename Predicate>
std::optional<bool> isLargerFirst(Predicate predicate, ArrayRef<Predicate> larger,
                                  ArrayRef<Predicate> smaller) {
  if (llvm::is_contained(larger, predicate))
    return true;
  if (llvm::is_contained(smaller, predicate))
    return false;
  return std::nullopt;
}

/// The body's arguments are a pair for each operand.
std::optional<Order> matchOrder(Block &body) {
  Operation *compare = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!compare || &body.front() != compare)
    return std::nullopt;
  std::optional<bool> descends;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare)) {
    using P = arith::CmpFPredicate;
    descends = isLargerFirst<P>(floats.getPredicate(), {P::OGT, P::OGE, P::UGT, P::UGE},
                                {P::OLT, P::OLE, P::ULT, P::ULE});
  } else if (auto integers = dyn_cast<arith::CmpIOp>(compare)) {
    using P = arith::CmpIPredicate;
    descends = isLargerFirst<P>(integers.getPredicate(), {P::sgt, P::sge}, {P::slt, P::sle});
  }
  if (!descends)
    return std::nullopt;
  auto lhs = dyn_cast<BlockArgument>(compare->getOperand(0)),
       rhs = dyn_cast<BlockArgument>(compare->getOperand(1));
  if (!lhs || !rhs || lhs == rhs || lhs.getOwner() != &body || rhs.getOwner() != &body ||
      lhs.getArgNumber() / 2 != rhs.getArgNumber() / 2)
    return std::nullopt;
  bool isSwapped = lhs.getArgNumber() > rhs.getArgNumber();
  return Order{lhs.getArgNumber() / 2, *descends != isSwapped};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// `op` is not supported because of `why`, a clause without full stop.
LogicalResult refuse(Operation *op, const Twine &why) {
  return op->emitError() << "'" << op->getName() << "' is not supported: " << why;
}

template <typename ScanOp> Value makeScan(ExpressionBuilder &e, tm_tensor::ScanOp op) {
  return e.make<ScanOp>(op.getInputs()[0], op.getDimension(), !op.getInclusive(),
                        /*reverse=*/false);
}

Result convertScan(tm_tensor::ScanOp op, ExpressionBuilder &e) {
  if (!op.getResult(1).use_empty())
    return refuse(op, "its second result, the last total, is used");
  std::optional<ScatterKind> kind = matchCombination(op.getBody().front());
  if (!kind || *kind == ScatterKind::Set)
    return refuse(op, "its body is no sum, product, maximum or minimum of its two arguments");
  Value totals = *kind == ScatterKind::Add   ? makeScan<CumSumOp>(e, op)
                 : *kind == ScatterKind::Mul ? makeScan<CumProdOp>(e, op)
                 : *kind == ScatterKind::Max ? makeScan<CumMaxOp>(e, op)
                                             : makeScan<CumMinOp>(e, op);
  if (!op.getInclusive()) {
    // The first total is where the second output starts.
    Value start = e.make<ExpandDimsOp>(op.getOutputs()[1],
                                       ArrayRef<int64_t>{static_cast<int64_t>(op.getDimension())});
    totals = *kind == ScatterKind::Add   ? e.add(totals, start)
             : *kind == ScatterKind::Mul ? e.mul(totals, start)
             : *kind == ScatterKind::Max ? e.make<MaxOp>(totals, start)
                                         : e.make<MinOp>(totals, start);
  }
  return SmallVector<Value>{totals, Value()};
}

Result convertScatter(tm_tensor::ScatterOp op, ExpressionBuilder &e) {
  Value updates = op.getInputs()[0], indices = op.getInputs()[1], operand = op.getOutputs()[0];
  std::optional<ScatterKind> kind = matchCombination(op.getBody().front());
  if (!kind)
    return refuse(op, "its body is no sum, product, maximum or minimum of its two arguments, and "
                      "not the first of them");
  // Updates fill the last dims, so the indices are of those in front.
  auto axes = llvm::to_vector(op.getDimensionMap());
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  bool isInFront = llvm::all_of(llvm::enumerate(sorted), [](auto axis) {
    return axis.value() == static_cast<int64_t>(axis.index());
  });
  int64_t whole = typeOf(operand).getRank() - axes.size();
  if (!isInFront || typeOf(updates).getRank() - 1 != whole)
    return refuse(op, "its updates are not whole slices behind the dims that indices are of");
  return SmallVector<Value>{
      e.make<ScatterOp>(*kind, operand, indices, updates, axes, op.getUniqueIndices())};
}

Result convertSort(tm_tensor::SortOp op, ExpressionBuilder &e) {
  std::optional<Order> order = matchOrder(op.getBody().front());
  if (!order)
    return refuse(op, "its body does not order by one operand, up or down, in signed integers or "
                      "floats");
  Value key = op.getOutputs()[order->operand];
  uint64_t axis = op.getDimension();
  if (op.getOutputs().size() == 1)
    return SmallVector<Value>{e.make<SortOp>(key, axis, order->isDescending)};
  Value places = e.make<ArgSortOp>(typeOf(key).clone(e.getBuilder().getI64Type()), key, axis,
                                   order->isDescending);
  return llvm::map_to_vector(op.getOutputs(), [&](Value output) -> Value {
    return e.make<TakeAlongAxisOp>(output, places, axis);
  });
}

Result convertTopK(tm_tensor::TopKOp op, ExpressionBuilder &e) {
  std::optional<Order> order = matchOrder(op.getBody().front());
  if (!order)
    return refuse(op, "its body does not compare its arguments, in signed integers or floats");
  auto type = typeOf(op.getOutputs()[0]);
  uint64_t axis = op.getDimension();
  if (type.isDynamicDim(axis))
    return refuse(op, "how many elements it takes is not known");
  auto counts = typeOf(op.getOutputs()[1]);
  auto places = counts.clone(e.getBuilder().getI64Type());
  auto top = TopKOp::create(e.getBuilder(), op.getLoc(), TypeRange{type, places}, op.getInputs()[0],
                            type.getDimSize(axis), axis, !order->isDescending);
  Value indices = top.getIndices();
  if (op.getInputs().size() == 2)
    indices = e.make<TakeAlongAxisOp>(op.getInputs()[1], indices, axis);
  return SmallVector<Value>{top.getValues(), indices};
}

Result convertAttention(tm_tensor::AttentionOp op, ExpressionBuilder &e) {
  OperandRange inputs = op.getInputs();
  int64_t size = typeOf(inputs[0]).getShape().back();
  if (ShapedType::isDynamic(size) || size == 0)
    return refuse(op, "the size of a query is not known");
  // [batch, queries, size] is one head of [1, batch, queries, size].
  SmallVector<Value> operands;
  bool isOneHead = typeOf(inputs[0]).getRank() == 2;
  for (Value input : inputs)
    operands.push_back(isOneHead ? e.make<ExpandDimsOp>(input, ArrayRef<int64_t>{0}) : input);
  Value mask = operands.size() == 4 ? operands[3] : Value();
  Value result = e.make<AttentionOp>(
      operands[0], operands[1], operands[2], mask, /*offset=*/Value(), /*sinks=*/Value(),
      /*causal=*/false, /*window=*/IntegerAttr(), /*with_logsumexp=*/false,
      /*softcap=*/FloatAttr(), APFloat(1.0 / std::sqrt(static_cast<double>(size))));
  if (isOneHead)
    result = e.make<SqueezeOp>(result, ArrayRef<int64_t>{0});
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What the array ops would refuse in their own name.
LogicalResult verifyElementTypes(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!isSupportedElement(getElementTypeOrSelf(type)))
      return op->emitError() << "'" << op->getName() << "' has a tensor of type " << type
                             << "; supported element types are " << kSupportedElements;
  return success();
}

Result convert(Operation *op, ExpressionBuilder &e) {
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](tm_tensor::ScanOp scan) { return convertScan(scan, e); })
      .Case([&](tm_tensor::ScatterOp scatter) { return convertScatter(scatter, e); })
      .Case([&](tm_tensor::SortOp sort) { return convertSort(sort, e); })
      .Case([&](tm_tensor::TopKOp top) { return convertTopK(top, e); })
      .Case([&](tm_tensor::AttentionOp attention) { return convertAttention(attention, e); })
      .Default([](Operation *other) -> Result {
        return refuse(other, "it stands outside of an op of its dialect");
      });
}

struct ImportTMTensorPass : impl::ImportTMTensorBase<ImportTMTensorPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_present<tm_tensor::TMTensorDialect>(op->getDialect()) &&
          !(isa<tm_tensor::YieldOp>(op) &&
            isa_and_present<tm_tensor::TMTensorDialect>(op->getParentOp()->getDialect())))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (failed(verifyElementTypes(op)))
        return signalPassFailure();
      OpBuilder builder(op);
      ExpressionBuilder e(builder, op->getLoc());
      Result values = convert(op, e);
      if (failed(values))
        return signalPassFailure();
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
        if (value)
          result.replaceAllUsesWith(e.finish(value, result.getType()));
      op->erase();
    }
  }
};

} // namespace

} // namespace xc
