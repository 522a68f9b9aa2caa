//===- ImportCollectives.cpp - StableHLO's collectives on one device ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that is imported runs on one device. A collective whose groups have one member gives
// each member its own value.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

static bool isCollective(Operation *op) {
  return isa<shlo::AllGatherOp, shlo::AllReduceOp, shlo::AllToAllOp, shlo::CollectiveBroadcastOp,
             shlo::CollectivePermuteOp, shlo::CrossReplicaSumOp, shlo::ReduceScatterOp>(op);
}

/// The table of numbers that an attribute is, or null.
static DenseIntElementsAttr getTable(Operation *op, StringRef name) {
  auto table = op->getAttrOfType<DenseIntElementsAttr>(name);
  return table && table.getType().getRank() == 2 ? table : nullptr;
}

/// Values that member 0 sends to itself; zeros where nobody sends it any.
static Result convertPermute(Operation *op, ExpressionBuilder &e) {
  DenseIntElementsAttr pairs = getTable(op, "source_target_pairs");
  if (!pairs || (pairs.getNumElements() != 0 && pairs.getType().getDimSize(1) != 2))
    return Result::refuse("it does not say who sends to whom");
  for (const APInt &number : pairs.getValues<APInt>())
    if (!number.isZero())
      return Result::refuse("it sends values to device " + Twine(number.getSExtValue()) +
                            "; there is one device, 0");
  if (pairs.getNumElements() != 0)
    return Result(llvm::to_vector_of<Value>(op->getOperands()));
  return Result(llvm::map_to_vector(
      op->getResultTypes(), [&](Type type) { return zeros(e, cast<RankedTensorType>(type)); }));
}

Replacement convertCollectives(Operation *op, ExpressionBuilder &e) {
  if (!isCollective(op))
    return std::nullopt;
  if (op->getOperandTypes() != op->getResultTypes())
    return Result::refuse("it is of several devices: its results differ in type from its operands");
  if (isa<shlo::CollectivePermuteOp>(op))
    return convertPermute(op, e);
  DenseIntElementsAttr groups = getTable(op, "replica_groups");
  if (!groups)
    return Result::refuse("it does not say which devices are a group");
  if (groups.getNumElements() == 0) // all of them, which is one
    return Result(llvm::to_vector_of<Value>(op->getOperands()));
  if (int64_t size = groups.getType().getDimSize(1); size != 1)
    return Result::refuse("its groups have " + Twine(size) + " devices; there is one device");
  return Result(llvm::to_vector_of<Value>(op->getOperands()));
}

} // namespace xc::stablehlo_import
