//===- ReductionEmitter.h - Reductions of one space by many threads -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a group of reductions over one iteration space, with the ops that feed and follow them. For
// one reduction after the other: each thread combines its own share of the elements, the threads
// combine their partial results, and the result is a value that the code after it uses. Which
// elements are a thread's share, and how partial results meet, is the strategy's: rows are in
// EmitRowReduction.cpp, columns in EmitColumnReduction.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_REDUCTIONEMITTER_H
#define XC_CODEGEN_CUDA_COMMON_REDUCTIONEMITTER_H

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#include <functional>

namespace xc::cuda {

/// Places of the iteration space that one thread visits at once.
struct Place {
  llvm::SmallVector<Coord>
      coords; // one for each dim of the space; inside it where mask is false too
  /// False: the place counts for nothing; null: it always counts. A vector where lanes differ.
  mlir::Value mask;
  /// False where coords are outside, so that nothing may be loaded; null: they never are.
  mlir::Value loadMask;
  /// Where lanes may be outside, so that `coords` are those of elements beside them: true if none
  /// is, and the coordinates there, which count up.
  mlir::Value whole;
  llvm::SmallVector<Coord> wholeCoords;
};

class ReductionEmitter {
public:
  ReductionEmitter(const KernelInfo &kernel, const ReductionGroup &group, int64_t threads,
                   int64_t lanes);
  virtual ~ReductionEmitter() = default;

protected:
  /// Calls `body` for each place of this thread's share, with the values carried from the one
  /// before.
  using Visitor =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Place &, mlir::ValueRange)>;
  virtual llvm::SmallVector<mlir::Value> visitShare(mlir::ValueRange inits, Visitor body) = 0;
  using Members = llvm::ArrayRef<ReductionGroup::Member>;
  /// The values of each of several members.
  using MemberValues = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;
  /// Combines what the threads of one row or column hold; all of them get the results.
  virtual MemberValues combineThreads(Members members, MemberValues partials) = 0;
  /// Whether members are reduced together that do not need each other's results.
  virtual bool reducesTogether() const { return true; }
  /// Reduces two members of which the second one needs the first one's result, where the strategy
  /// visits each element once for both; else false, and nothing is built.
  virtual bool emitDependent(const ReductionGroup::Member &first,
                             const ReductionGroup::Member &second) {
    return false;
  }
  /// The place of this thread's reduced element, and the number of lanes it has.
  virtual Place getReducedPlace() = 0;
  virtual int64_t getReducedLanes() = 0;
  /// The same place, where nothing may be loaded that another thread may write.
  Place getOwnReducedPlace();
  /// i1: true for the one thread that stores it.
  virtual mlir::Value isStoringThread() = 0;

  /// Reduces all members of the group.
  void emitMembers();
  /// Computes and stores the results of the whole space and of the parallel dims.
  void emitResults();
  /// Computes the results that are wanted at `place`, and stores them.
  void emitResults(llvm::function_ref<bool(const ReductionGroup::Result &)> isWanted,
                   const Place &place, int64_t pointLanes);
  /// What each thread starts from; null if that is the value of the reduction's init.
  llvm::SmallVector<mlir::Value> getStarts(const Combiner &combiner, mlir::ValueRange inits,
                                           int64_t pointLanes);
  /// The values of the inits of `member` at `place`.
  llvm::SmallVector<mlir::Value> emitInits(const ReductionGroup::Member &member, const Place &place,
                                           int64_t pointLanes);
  /// What `member` combines at `place`, in all lanes.
  llvm::SmallVector<mlir::Value> emitLeaves(const ReductionGroup::Member &member,
                                            const Place &place);
  /// `carried` combined with the elements of `member` at `place`.
  llvm::SmallVector<mlir::Value> accumulate(const ReductionGroup::Member &member,
                                            const Place &place, mlir::ValueRange carried);
  /// `total` combined with the inits, where that makes a difference.
  llvm::SmallVector<mlir::Value> combineInits(const Combiner &combiner, mlir::ValueRange inits,
                                              llvm::SmallVector<mlir::Value> total,
                                              int64_t pointLanes);
  /// i1: a block whose points of the parallel dims are `count` of `rows`, from `first` on, has
  /// something to compute; null if it always has.
  mlir::Value isNeeded(mlir::Value first, int64_t count, mlir::Value rows);
  /// Combines what the threads have of `member` and its inits, and makes that its result.
  void finishMember(const ReductionGroup::Member &member, mlir::ValueRange partial);
  /// Stores zeros as results.
  void emitZeros();
  /// The place at `kept` of the parallel dims and `reduced` of the reduction dims, counted
  /// row-major.
  Place makePlace(const Coord &kept, const Coord &reduced, mlir::Value mask);
  Coord makeCoord(mlir::Value first, bool consecutive) {
    return consecutive && lanes > 1 ? Coord::consecutive(first) : Coord::uniform(first);
  }
  /// Visits `from`, `from + step`, ... below `to` by loops, `unroll` of them at a time.
  llvm::SmallVector<mlir::Value> visitByLoops(mlir::Value from, mlir::Value to, int64_t step,
                                              int64_t unroll, mlir::ValueRange inits,
                                              PointEmitter::LoopBody body);
  Coord getFlat(const ReductionGroup::Input &input, const Place &place);
  mlir::Value loadElements(const ReductionGroup::Input &input, const Place &place);
  /// Makes `getElements`, given the number of a place in `places`, what `input` is there.
  void provideInput(const ReductionGroup::Input &input, llvm::ArrayRef<Place> places,
                    std::function<mlir::Value(size_t)> getElements);
  /// Accesses to a buffer in shared memory of what one thread holds: a scalar or a vector.
  mlir::Value loadShared(mlir::Value buffer, mlir::Value position, mlir::Type type);
  void storeShared(mlir::Value buffer, mlir::Value position, mlir::Value value);

  const ReductionGroup &group;
  int64_t lanes;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  /// A result may be in the memory of an input, where a thread that repeats another's place would
  /// read what that one writes: anywhere, or in what the whole space reads or writes.
  const bool loadsOnlyOwn, loadsOnlyOwnElements;
  llvm::SmallVector<mlir::Value> parallelSizes, reductionSizes;

private:
  void emitTogether(Members members);
};

/// Runs `Emitter` on a function that is configured by `Config`.
template <typename Emitter, typename Config>
mlir::LogicalResult emitReduction(mlir::func::FuncOp function) {
  auto config = function->getAttrOfType<Config>(plan::kConfigAttr);
  if (!config)
    return mlir::success();
  mlir::FailureOr<KernelInfo> kernel = analyzeKernel(function);
  if (failed(kernel))
    return mlir::failure();
  std::string reason;
  if (kernel->getReductions().empty())
    return function.emitOpError("expected a reduction for ") << config;
  mlir::FailureOr<ReductionGroup> group = matchReductionGroup(*kernel, reason);
  if (failed(group))
    return function.emitOpError("expected a group of reductions for ") << config << ": " << reason;
  return Emitter(*kernel, *group, config).run();
}

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_REDUCTIONEMITTER_H
