//===- CombineResults.cpp - Code that combines partial results ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/CombineResults.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

SmallVector<Value> combineInOrder(OpBuilder &builder, Location loc, const Combiner &combiner,
                                  ValueRange first, ValueRange second) {
  OperandRange yielded = combiner.getYielded();
  ArrayRef<BlockArgument> accumulators = combiner.getAccumulators();
  ArrayRef<Value> leaves = combiner.getLeaves();
  SmallVector<Value> results;
  if (!combiner.startsFromInit()) {
    // Each result is an `acc op leaf` of its own, and several may have one leaf: the sum and the
    // maximum of the same elements.
    for (unsigned i = 0; i < combiner.getNumResults(); ++i) {
      IRMapping mapping;
      mapping.map(accumulators[i], first[i]);
      mapping.map(leaves[i], second[i]);
      cloneOnLanes(builder, yielded[i].getDefiningOp(), mapping);
      results.push_back(mapping.lookup(yielded[i]));
    }
    return results;
  }
  IRMapping mapping;
  for (auto [accumulator, value] : llvm::zip_equal(accumulators, first))
    mapping.map(accumulator, value);
  for (auto [leaf, value] : llvm::zip_equal(leaves, second))
    mapping.map(leaf, value);
  for (Operation *bodyOp : combiner.getSteps())
    cloneOnLanes(builder, bodyOp, mapping);
  for (Value value : yielded)
    results.push_back(mapping.lookup(value));
  return results;
}

SmallVector<Value> combineResults(OpBuilder &builder, Location loc, const Combiner &combiner,
                                  ValueRange first, ValueRange second) {
  SmallVector<Value> forward = combineInOrder(builder, loc, combiner, first, second);
  std::optional<unsigned> position = combiner.getPosition();
  if (!position || combiner.getOp()->hasAttr(plan::kBreaksTiesAttr))
    return forward;
  SmallVector<Value> backward = combineInOrder(builder, loc, combiner, second, first);
  Value where = forward[*position], other = backward[*position];
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  // In a tie g(a, b) = a if the first element wins; then the smaller position is to be kept, else
  // the larger.
  Value tie = compare(arith::CmpIPredicate::ne, where, other);
  Value firstWins = compare(arith::CmpIPredicate::eq, where, first[*position]);
  Value otherIsSmaller = compare(arith::CmpIPredicate::slt, other, where);
  Value swap = arith::AndIOp::create(builder, loc, tie,
                                     compare(arith::CmpIPredicate::eq, firstWins, otherIsSmaller));
  SmallVector<Value> results;
  for (auto [keep, replace] : llvm::zip_equal(forward, backward))
    results.push_back(arith::SelectOp::create(builder, loc, swap, replace, keep));
  return results;
}

} // namespace xc::cuda
