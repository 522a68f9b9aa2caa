//===- RowEmitter.h - How reductions of rows are emitted --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ROWS_ROWEMITTER_H
#define XC_CODEGEN_CUDA_ROWS_ROWEMITTER_H

#include "compiler/Codegen/CUDA/Common/ReductionEmitter.h"
#include "compiler/Codegen/CUDA/Rows/RowLimits.h"

namespace xc::cuda {

class RowEmitter final : public ReductionEmitter {
public:
  RowEmitter(const KernelInfo &kernel, const ReductionGroup &group, RowReductionAttr config)
      : ReductionEmitter(kernel, group, config.getThreads() * config.getRows(), config.getVector()),
        config(config), across(config.getThreads() * config.getCluster()) {}

  mlir::LogicalResult run();

protected:
  llvm::SmallVector<mlir::Value> visitShare(mlir::ValueRange inits, Visitor body) override;
  MemberValues combineThreads(Members members, MemberValues partials) override;
  /// Whether the assembler has to be told to leave threads of shifted rows registers enough: what
  /// they hold counts twice, with its masks, and what all rows share, as it is in memory, half.
  bool needsRegisters() const {
    int64_t values = config.getChunks() * lanes, vectors = group.vectors.size();
    return config.getShifted() && group.reusesRows() &&
           (config.getShared() > 0 ||
            values * 2 + values * vectors / 2 >= RowLimits::kShiftedValues);
  }
  /// Loops over memory would have more inputs to load at a time than there are registers for.
  bool reducesTogether() const override {
    return config.getChunks() > 0 && config.getShared() == 0;
  }
  Place getReducedPlace() override {
    return makePlace(Coord::uniform(row), Coord::uniform(index.constant(0)), rowMask);
  }
  int64_t getReducedLanes() override { return 1; }
  mlir::Value isStoringThread() override { return index.isEqual(lane, index.constant(0)); }

private:
  /// Everything that is computed from `row`, whose elements in registers may be loaded already.
  void emitRow(mlir::ValueRange loaded = {});
  void emitZeroRow();
  void makeChunks();

  // A barrier may let in what other threads wrote, so nothing that is loaded before it would still
  // be known behind it: a row that is needed again is loaded by hand.
  bool holdsInputs() const;
  llvm::SmallVector<mlir::Value> loadInputs();
  void provideInputs();
  /// Loads what is the same for all rows before the first exchange, rather than behind the last.
  void provideVectors();
  /// Loads what the row's result is combined with before the first exchange likewise.
  void provideReducedInputs();
  Place makeChunk(mlir::Value chunk);
  Place makeShiftedChunk(mlir::Value chunk);
  llvm::SmallVector<mlir::Value> combineLanes(const Combiner &combiner,
                                              llvm::ArrayRef<mlir::Value> partial);
  llvm::SmallVector<mlir::Value> combineWarp(const Combiner &combiner,
                                             llvm::SmallVector<mlir::Value> values, int64_t width);
  /// Leaves what each warp holds at its number in `buffers`, in those of all blocks of a cluster.
  void exchange(const MemberValues &values, const MemberValues &buffers);
  /// Waits for all threads of the row: those of another one may be elsewhere.
  void meetRow();

  // The part of a row that registers do not hold: shared memory does, unless it is visited only
  // once. Each thread reads what it wrote itself.
  mlir::Value getSharedPosition(mlir::Value chunk) {
    return index.mul(index.add(ownLane, index.mul(chunk, config.getThreads())), lanes);
  }
  /// Calls `body` for all chunks of it, several at a time.
  using SharedVisitor = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<mlir::Value>, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> forSharedChunks(int64_t unroll, mlir::ValueRange inits,
                                                 SharedVisitor body);
  void fillShared();
  llvm::SmallVector<mlir::Value> visitShared(mlir::Value chunk, mlir::ValueRange inits,
                                             Visitor body);
  llvm::SmallVector<mlir::Value> visitOnce(llvm::ArrayRef<mlir::Value> several,
                                           mlir::ValueRange inits, Visitor body);
  llvm::SmallVector<mlir::Value> visitLooped(mlir::ValueRange inits, Visitor body);

  // Groups with partials: a block loops over all rows that its part sums up.
  mlir::LogicalResult runWithPartials();
  /// The part whose rows this block, or those of this cluster, sum up.
  mlir::Value getPart() { return index.div(frame.getBlockId(), config.getCluster()); }
  /// The row of this thread group in the iteration: those of a part are `parts` apart.
  mlir::Value getRowOfIteration(mlir::Value iteration);
  llvm::SmallVector<mlir::Value> emitIterations(mlir::Value from, mlir::Value to, bool mayLack,
                                                mlir::ValueRange carried, size_t numSums);
  bool loadsEarly() const;
  llvm::SmallVector<mlir::Value> accumulatePartials(llvm::SmallVector<mlir::Value> carried);
  /// Sums are those of the first chunk, one for each result of each partial, then of the next one.
  void combineThreadGroups(llvm::MutableArrayRef<mlir::Value> sums);
  void combineThreadGroups(llvm::MutableArrayRef<mlir::Value> sums,
                           llvm::ArrayRef<mlir::Value> buffers);
  void storePartials(const Place &chunk, llvm::ArrayRef<mlir::Value> sums);

  RowReductionAttr config;
  int64_t across; // threads of a row
  // The number of this thread among those of its row, and of those in its block.
  mlir::Value row, rowMask, lane, ownLane, threadGroup, count;
  bool hasMetBlocks = false;           // those of the cluster are known to have begun
  int64_t numExchanges = 0;            // between the warps of a row, since it began
  llvm::SmallVector<Place> chunks;     // in registers
  llvm::SmallVector<mlir::Value> held; // of each input, what `chunks` hold, if loaded by hand
  llvm::SmallVector<mlir::Value>
      inputBuffers; // for each input of the group, what shared memory holds
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ROWS_ROWEMITTER_H
