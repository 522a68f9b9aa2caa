//===- DispatchGroups.h - Which ops share a kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group is what becomes one kernel. Its row space is a set of loops that every
// op of the group has as parallel loops and that every value passed inside the
// group carries as dims: the kernel gives rows to workgroups, and no workgroup
// needs what another one computes. Adding a reduction takes the dims that it
// reduces out of the row space.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_DISPATCHGROUPS_H
#define XC_DISPATCH_DISPATCHGROUPS_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace xc::plan {

struct DispatchGroup {
  /// In program order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// For each linalg op and each of its loops: the row that the loop is, or -1.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>> rowOfLoop;
  unsigned numRows = 0;
  bool hasReduction = false;
  /// A product or a window: what follows works on its result, element by element.
  bool hasContraction = false;
  /// Groups of anything but linalg ops take in no other op.
  bool isClosed = false;
  /// Position in the block of the first op.
  unsigned firstPosition = 0;

  /// What a closed group stores of `result`, which one of its ops has: behind ops that only say
  /// where. Else `result` itself.
  mlir::Value getStored(mlir::Value result) const;
};

/// True for a product of matrices or of a matrix and a vector: each operand has a dim of its own in
/// the result, or the op is a linalg.contract. A sum of products over a row is a reduction.
bool isContraction(mlir::Operation *op);

/// Erases the ops of a block that nothing uses and that have no effect, and what only they used.
void eraseDeadOps(mlir::Block &block);

/// True if the reductions of a group, and what depends on them, go over one space: each of their
/// loops that is no row is one of the loops that all of the reductions go through. What a group
/// computes from its reductions has to where threads hold a part of that space.
bool sharesSpace(const DispatchGroup &group);

/// True if each loop of `partial`, an op of the group that sums up rows, is a row or one of the
/// loops that the group's reductions go through: the elements that it sums up are then at hand.
bool liesInSpace(const DispatchGroup &group, mlir::linalg::LinalgOp partial);

/// For each linalg op of a group and each of its loops: the row that the loop is, or the number of
/// a loop that is no row, counted on from the rows; negative where the loop has none. Loops of one
/// number have one index at any time.
using LoopNumbers = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int>>;

/// How threads that hold rows go over the points of a group's ops.
LoopNumbers numberLoops(const DispatchGroup &group);

/// Checks that a workgroup has each element that the ops of the group need from each other, going
/// by `numbers`. Emits an error where it has not. The check knows nothing of how groups are made:
/// it goes over points of each op, one by one. `threadsHoldRows` says that a thread holds what the
/// group makes of its reductions, instead of the workgroup.
mlir::LogicalResult verifyGroup(const DispatchGroup &group, const LoopNumbers &numbers,
                                bool threadsHoldRows);

/// Checks that a kernel of `ops.back()`, which goes over loops of its own, can compute the ops
/// before it where it needs their elements; or that all are insertions into one tensor. Emits an
/// error where not.
mlir::LogicalResult verifyClosedGroup(llvm::ArrayRef<mlir::Operation *> ops);

/// Groups the computing ops of one block.
class DispatchGrouping {
public:
  /// `maskOps` make masks of one reader each, in its kernel (MaskProducers.h).
  DispatchGrouping(mlir::Block &block, bool fuse, llvm::DenseSet<mlir::Operation *> maskOps = {});

  /// Groups in order of their last op, each not empty.
  llvm::SmallVector<DispatchGroup *> getGroups() const;

  /// True for an op that computes, so that it needs a kernel; views, constants, index arithmetic,
  /// state and initial values (tensor.empty, a fill that only initialises) do not.
  static bool isCompute(mlir::Operation *op);
  /// True for such an initial value of the block, as the block was when it was grouped.
  bool isInitialValue(mlir::Operation *op) const { return initialValues.contains(op); }

  /// Checks every group (verifyGroup, verifyClosedGroup).
  mlir::LogicalResult verify() const;

  /// The group that computes `op`; null for what is no part of a kernel.
  DispatchGroup *getGroup(mlir::Operation *op) const { return groupOf.lookup(op); }
  /// Whether ops were to share kernels at all.
  bool isFusing() const { return fuse; }
  /// What makes `tensor`, or what it is a reshape of; null for arguments.
  static mlir::Operation *findOrigin(mlir::Value tensor);
  /// Why `consumer` is in the group of `producer`, whose result it reads, or why it is not; empty
  /// where that was never a question.
  llvm::StringRef getReason(mlir::Operation *producer, mlir::Operation *consumer) const {
    return reasons.lookup({producer, consumer});
  }

private:
  /// Keeps `why`, a literal, as what decides between `op` and what it reads of the group. The last
  /// word counts.
  void note(DispatchGroup &group, mlir::Operation *op, llvm::StringRef why);
  /// The same of an op that does not join the group: false.
  bool refuse(DispatchGroup &group, mlir::Operation *op, llvm::StringRef why) {
    note(group, op, why);
    return false;
  }
  llvm::StringRef findObstacle(const DispatchGroup &group, mlir::linalg::LinalgOp op,
                               llvm::ArrayRef<int> rows, llvm::ArrayRef<bool> keep) const;
  /// Why the group cannot take in `more`, which together read `operands`: too many bindings or a
  /// cycle; empty if it can.
  llvm::StringRef findConflict(DispatchGroup &group, llvm::ArrayRef<mlir::Operation *> more,
                               mlir::ValueRange operands, DispatchGroup *alsoInside = nullptr);
  void add(mlir::Operation *op);
  DispatchGroup *createGroup(mlir::Operation *op);
  bool tryJoin(DispatchGroup &group, mlir::Operation *op);
  /// Puts a reduction with kPartialAttr into the group whose rows it sums up, or into one that
  /// holds another such reduction of the same input.
  bool tryJoinPartial(DispatchGroup &group, mlir::Operation *op);
  /// Puts a reduction of rows in parts (getRowPart) into the group of the product whose rows it
  /// reduces.
  bool tryJoinRowPart(DispatchGroup &group, mlir::Operation *op);
  /// Puts a reduction of columns in parts (getColumnPart), or what is computed of its results for
  /// another one, into the group of the product whose columns are reduced.
  bool tryJoinColumnPart(DispatchGroup &group, mlir::Operation *op);
  /// Puts `op`, whose loops go over these rows of the group (-1: over none), behind its ops, and
  /// notes `why`, unless the group cannot take it in (findConflict).
  bool tryAdd(DispatchGroup &group, mlir::Operation *op, mlir::ArrayRef<int> rows,
              llvm::StringRef why);
  bool tryJoinSibling(mlir::Operation *op);
  /// Puts a reduction of rows that nothing else needs the elements of into a group that reduces the
  /// same rows of an input, which is read once then.
  bool tryJoinRowSibling(mlir::Operation *op);
  /// Moves groups of such reductions alone into `group` that read an input of `op`, one of its ops.
  void absorbSiblings(DispatchGroup &group, mlir::Operation *op);
  /// True if kernels of the target can hold what the group's ops give each other.
  bool canHold(const DispatchGroup &group) const {
    return !target.threadsHoldRows() || sharesSpace(group);
  }
  bool tryPrologue(DispatchGroup &group, mlir::Operation *contraction);
  DispatchGroup *findProducer(mlir::Value tensor) const;
  /// Moves the rows of attention's operands where they are read.
  void absorbOperands(DispatchGroup &group, llvm::ArrayRef<mlir::Value> operands);
  /// Makes the mask of attention where scores are, as far as ops were chosen for that.
  void absorbMask(DispatchGroup &group, mlir::Value mask);
  /// Lets attention, or its gradient, store its rows where `op`, which permutes them, would.
  bool tryStoreMoved(mlir::Operation *op);
  /// Computes what `tensor`, an operand of an update or one whose rows are moved, is made of
  /// element by element where it is used, if nothing else needs it.
  void absorbProducers(DispatchGroup &group, mlir::Value tensor);
  /// Makes one kernel of the last steps of reductions that were split alike.
  void mergeLastSteps();
  /// The group whose sums of parts are all that `group` reads of others, if its only reduction
  /// brings them together; null if not.
  DispatchGroup *getSplitGroup(const DispatchGroup &group) const;
  bool tryMergeGroups(DispatchGroup &into, DispatchGroup &other, mlir::Operation *user);
  bool readsInSameRows(const DispatchGroup &into, DispatchGroup &other,
                       llvm::ArrayRef<int> translation);
  std::optional<llvm::SmallVector<int>> matchRows(DispatchGroup &group, mlir::Operation *op);
  bool wouldMakeCycle(DispatchGroup &group, mlir::ValueRange operands,
                      DispatchGroup *alsoInside = nullptr);
  void keepRows(DispatchGroup &group, llvm::ArrayRef<bool> keep);
  /// Tensors from outside that the group's ops, and `more`, would bind.
  unsigned countBindings(const DispatchGroup &group, llvm::ArrayRef<mlir::Operation *> more) const;

  bool fuse;
  const DispatchTarget &target;
  llvm::SmallVector<std::unique_ptr<DispatchGroup>> groups;
  llvm::DenseMap<mlir::Operation *, DispatchGroup *> groupOf;
  llvm::DenseMap<mlir::Operation *, unsigned> position;
  /// By producer and consumer.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Operation *>, llvm::StringRef> reasons;
  /// All kernels may share one, so its uses are looked at once.
  llvm::DenseSet<mlir::Operation *> initialValues;
  llvm::DenseSet<mlir::Operation *> maskOps;
};

} // namespace xc::plan

#endif // XC_DISPATCH_DISPATCHGROUPS_H
