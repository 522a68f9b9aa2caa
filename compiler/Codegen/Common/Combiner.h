//===- Combiner.h - How partial results of a reduction are put together ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a reduction computes `acc = g(acc, f(elements))`. Threads and lanes that share a
// reduction need the two apart: each applies f and g to its own elements, then g alone to two
// partial results. This is the analysis; each target builds g its own way. Example, argmax:
//
//   ^bb0(%x: f32, %best: f32, %where: i32):
//     %i = linalg.index 1 : index
//     %at = arith.index_cast %i : index to i32        // f: (%x, %at)
//     %more = arith.cmpf ogt, %x, %best : f32         // g, with (%best, %where) the first
//     %v = arith.select %more, %x, %best : f32        //    partial result and (%x, %at) the
//     %w = arith.select %more, %at, %where : i32      //    second
//     linalg.yield %v, %w : f32, i32
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_COMBINER_H
#define XC_CODEGEN_COMMON_COMBINER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::codegen {

class Combiner {
public:
  /// What the constants of a body may be. Where each result is an `acc op leaf` of its own, a
  /// target can take a constant for a leaf, as where elements are counted.
  enum class Constants { OfCombining, Leaves };

  /// Takes the body of `op` apart; fails if it is not associative by form (see the source).
  static mlir::FailureOr<Combiner> match(mlir::linalg::LinalgOp op,
                                         Constants constants = Constants::OfCombining);

  mlir::linalg::LinalgOp getOp() const { return op; }
  unsigned getNumResults() const { return accumulators.size(); }
  llvm::ArrayRef<mlir::BlockArgument> getAccumulators() const { return accumulators; }
  /// The values of the body that f yields, one for each accumulator.
  llvm::ArrayRef<mlir::Value> getLeaves() const { return leaves; }
  /// g in the order of the body: what depends on accumulators, and what that needs beside leaves.
  llvm::ArrayRef<mlir::Operation *> getSteps() const { return steps; }
  /// The values of the body that g yields, one for each accumulator.
  mlir::OperandRange getYielded() const { return op.getBlock()->getTerminator()->getOperands(); }
  /// True if an op of the body depends on an accumulator.
  bool isCombining(mlir::Operation *bodyOp) const { return combining.contains(bodyOp); }
  /// What a thread starts from, or null: then it starts from the reduction's own init, which such a
  /// g returns unchanged when combined with itself.
  mlir::TypedAttr getNeutral(unsigned result) const { return neutrals[result]; }
  bool startsFromInit() const { return !neutrals.front(); }
  /// The op of `acc op leaf`, where there is a neutral element.
  mlir::Operation *getCombiningOp(unsigned result) const {
    return getYielded()[result].getDefiningOp();
  }

  /// True if g is what the body makes of its kernel.element ops.
  bool isGiven() const { return given; }
  /// The result that says where the best element is, if g picks elements.
  std::optional<unsigned> getPosition() const { return position; }

private:
  /// The rest of `match` for a body with kernel.element ops.
  mlir::LogicalResult matchGiven();
  /// Marks g: all that depends on an accumulator.
  void markCombining();
  /// Finds the leaf of each result, and its neutral element where it has one.
  mlir::LogicalResult matchLeaves(Constants constants);
  /// Lists g with what else it reads, which has to follow from the leaves.
  mlir::LogicalResult collectSteps();
  /// The rest of `match` for a g without neutral elements, which has to pick.
  mlir::LogicalResult matchPicking();
  /// An accumulator or part of g.
  bool isOfCombining(mlir::Value value) const;
  /// Neither that nor a constant.
  bool isForeign(mlir::Value value) const;

  mutable mlir::linalg::LinalgOp op; // MLIR's op handles are not const-correct
  llvm::SmallVector<mlir::BlockArgument> accumulators;
  llvm::SmallVector<mlir::Value> leaves;
  llvm::SmallVector<mlir::TypedAttr> neutrals;
  llvm::SmallPtrSet<mlir::Operation *, 8> combining;
  llvm::SmallVector<mlir::Operation *> steps;
  /// The accumulator that says where the best element is, if g picks elements: ties go to one end.
  std::optional<unsigned> position;
  bool given = false;
};

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_COMBINER_H
