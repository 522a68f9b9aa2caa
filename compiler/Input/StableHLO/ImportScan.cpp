//===- ImportScan.cpp - chlo.scan -----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices of the inputs go through a body one after the other, with what it carries along. Sums,
// products, maxima and minima are the ops that array has for them; any other body is that of a
// loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"
#include "compiler/Input/StableHLO/Repeat.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

using Values = SmallVector<Value>;

/// What the body combines its slice and its carry by, if it returns just that, twice, and any order
/// will do.
static std::optional<ReduceKind> matchCumulative(chlo::ScanOp op) {
  Operation *end = op.getBody().front().getTerminator();
  if (op.getInputs().size() != 1 || op.getInits().size() != 1 || op.getOutputs().size() != 1 ||
      end->getOperand(0) != end->getOperand(1))
    return std::nullopt;
  if (isFloat(op.getInputs().front()) && !op.getIsAssociative().value_or(false))
    return std::nullopt;
  return matchCombiner(op.getBody().front(), end->getOperand(0));
}

/// Dims of a value of `rank` dims but `dim`.
static SmallVector<int64_t> dimsWithout(int64_t dim, int64_t rank) {
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  dims.erase(dims.begin() + dim);
  return dims;
}

/// Null where there is no op for `kind`.
static Value makeCumulative(chlo::ScanOp op, ExpressionBuilder &e, ReduceKind kind) {
  int64_t dim = op.getDimension().getInt();
  Value input = op.getInputs().front(), init = op.getInits().front();
  Value result = accumulate(e, kind, input, dim, op.getIsReverse().value_or(false));
  if (!result || isNeutral(e.getBuilder(), kind, init))
    return result;
  ArrayRef<int64_t> shape = typeOf(input).getShape();
  return combine(e, kind, broadcastTo(e, init, dimsWithout(dim, shape.size()), shape), result);
}

/// Index `index` of dim `dim` of `value`, without that dim.
static Value takeSlice(ExpressionBuilder &e, Value value, int64_t dim, Value index) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  Values starts(shape.size(), e.integer(0, elementOf(index)));
  starts[dim] = index;
  shape[dim] = 1;
  Value box = e.make<DynamicSliceOp>(typeOf(value).clone(shape), value, starts, ValueRange());
  shape.erase(shape.begin() + dim);
  return reshapeTo(e, box, shape);
}

static Value putSlice(ExpressionBuilder &e, Value value, Value slice, int64_t dim, Value index) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  Values starts(shape.size(), e.integer(0, elementOf(index)));
  starts[dim] = index;
  shape[dim] = 1;
  return e.make<DynamicUpdateSliceOp>(value, reshapeTo(e, slice, shape), starts);
}

/// The body once more, for other arguments.
static Values cloneBody(ExpressionBuilder &e, Block &body, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator())
    e.getBuilder().clone(op, mapping);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

static Values makeLoop(chlo::ScanOp op, ExpressionBuilder &e, int64_t count) {
  int64_t dim = op.getDimension().getInt();
  size_t numOutputs = op.getOutputs().size();
  Values inits; // outputs, which are filled, then what is carried
  for (Value output : op.getOutputs())
    inits.push_back(zeros(e, typeOf(output)));
  llvm::append_range(inits, op.getInits());
  return repeat(e, count, inits, [&](Value step, ValueRange values) {
    Type number = elementOf(step);
    Value index =
        op.getIsReverse().value_or(false) ? e.sub(e.integer(count - 1, number), step) : step;
    Values arguments = llvm::map_to_vector(
        op.getInputs(), [&](Value input) { return takeSlice(e, input, dim, index); });
    llvm::append_range(arguments, values.drop_front(numOutputs));
    Values next = cloneBody(e, op.getBody().front(), arguments);
    for (size_t i = 0; i < numOutputs; ++i)
      next[i] = putSlice(e, values[i], next[i], dim, index);
    return next;
  });
}

Replacement convertScan(Operation *op, ExpressionBuilder &e) {
  auto scan = dyn_cast<chlo::ScanOp>(op);
  if (!scan)
    return std::nullopt;
  int64_t dim = scan.getDimension().getInt();
  ValueRange sliced = scan.getInputs().empty() ? ValueRange(scan.getOutputs()) : scan.getInputs();
  std::optional<IntegerAttr> given = scan.getScanDimSize();
  int64_t count = sliced.empty() ? given->getInt() : typeOf(sliced.front()).getDimSize(dim);
  std::optional<ReduceKind> kind = matchCumulative(scan);
  if (Value all = kind && count > 0 ? makeCumulative(scan, e, *kind) : nullptr) {
    int64_t last = scan.getIsReverse().value_or(false) ? 0 : count - 1;
    Value index = e.integer(last, e.getBuilder().getI32Type());
    return Result(Values{all, takeSlice(e, all, dim, index)});
  }
  if (count > std::numeric_limits<int32_t>::max())
    return Result::refuse("it has " + Twine(count) + " steps");
  return Result(makeLoop(scan, e, count));
}

} // namespace xc::stablehlo_import
