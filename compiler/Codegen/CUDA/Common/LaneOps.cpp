//===- LaneOps.cpp - Values with one or several lanes ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

int64_t countLanes(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

Value splatTo(OpBuilder &builder, Location loc, Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, loc, VectorType::get(lanes, value.getType()), value);
}

Value getLane(OpBuilder &builder, Location loc, Value value, int64_t lane) {
  if (!isa<VectorType>(value.getType()))
    return value;
  if (auto lanes = value.getDefiningOp<vector::FromElementsOp>())
    return lanes.getElements()[lane];
  if (auto splat = value.getDefiningOp<vector::BroadcastOp>())
    if (!isa<VectorType>(splat.getSource().getType()))
      return splat.getSource();
  return vector::ExtractOp::create(builder, loc, value, ArrayRef<int64_t>{lane});
}

Value fromLanes(OpBuilder &builder, Location loc, ValueRange lanes) {
  if (lanes.size() == 1)
    return lanes.front();
  auto type = VectorType::get(static_cast<int64_t>(lanes.size()), lanes.front().getType());
  return vector::FromElementsOp::create(builder, loc, type, lanes);
}

SmallVector<Value, 4> transposeBytes(OpBuilder &builder, Location loc, ValueRange lines) {
  auto shuffle = [&](Value low, Value high, ArrayRef<int64_t> mask) -> Value {
    return vector::ShuffleOp::create(builder, loc, low, high, mask);
  };
  SmallVector<Value, 4> transposed;
  for (int64_t low : {0, 2}) {
    int64_t pick[] = {low, 4 + low, low + 1, 5 + low};
    Value upper = shuffle(lines[0], lines[1], pick), lower = shuffle(lines[2], lines[3], pick);
    for (int64_t row = 0; row < 2; ++row)
      transposed.push_back(shuffle(upper, lower, {2 * row, 2 * row + 1, 4 + 2 * row, 5 + 2 * row}));
  }
  return transposed;
}

/// All values that the op and its regions use from outside the op.
static SmallVector<Value> getUsedValues(Operation *op) {
  SmallVector<Value> used(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          used.push_back(operand);
    });
  return used;
}

static void cloneLaneByLane(OpBuilder &builder, Operation *op, ArrayRef<Value> used, int64_t lanes,
                            IRMapping &mapping) {
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping laneMapping;
    for (Value value : used)
      laneMapping.map(value, getLane(builder, op->getLoc(), mapping.lookupOrDefault(value), lane));
    Operation *clone = builder.clone(*op, laneMapping);
    for (auto [list, result] : llvm::zip_equal(results, clone->getResults()))
      list.push_back(result);
  }
  for (auto [result, list] : llvm::zip_equal(op->getResults(), results))
    mapping.map(result, fromLanes(builder, op->getLoc(), list));
}

void cloneOnLanes(OpBuilder &builder, Operation *op, IRMapping &mapping) {
  SmallVector<Value> used = getUsedValues(op);
  int64_t lanes = 1;
  for (Value value : used)
    lanes = std::max(lanes, countLanes(mapping.lookupOrDefault(value)));
  if (lanes == 1) {
    builder.clone(*op, mapping);
    return;
  }
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return cloneLaneByLane(builder, op, used, lanes, mapping);

  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(
        splatTo(builder, op->getLoc(), mapping.lookupOrDefault(operand), lanes));
  for (Type type : op->getResultTypes())
    state.types.push_back(VectorType::get(lanes, type));
  state.attributes = llvm::to_vector(op->getDiscardableAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *clone = builder.create(state);
  mapping.map(op->getResults(), clone->getResults());
}

} // namespace xc::cuda
