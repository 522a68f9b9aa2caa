//===- FMAEmitter.h - Emission of products on ordinary arithmetic -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_FMAEMITTER_H
#define XC_CODEGEN_CUDA_MATMUL_FMAEMITTER_H

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"

namespace xc::cuda {

/// Emits the kernel that EmitMatmulFMA.cpp describes. FMACopies.cpp has the methods of operands
/// that cp.async brings.
class FMAEmitter {
public:
  FMAEmitter(const KernelInfo &kernel, const Contraction &contraction, MatmulFMAAttr config)
      : contraction(contraction), config(config), threads(getThreads(config)),
        target(*kernel.target), frame(kernel, threads), points(frame.points), index(points.index),
        tile(kernel, contraction, frame, config.getTileM(), config.getTileN()) {}

  mlir::LogicalResult run();

private:
  static int64_t getThreads(MatmulFMAAttr config) {
    return config.getTileM() / config.getThreadM() * (config.getTileN() / config.getThreadN());
  }

  /// One operand: its tile in shared memory, and how the threads fill it.
  struct Operand {
    const Contraction::Side &side;
    int64_t own;       // extent of the tile along the operand's own dim
    mlir::Value start; // of the tile along it
    int64_t width = 1, iterations = 1;
    mlir::Value buffer = {};
    /// Of the copy started last, which is at these offsets from the first one.
    mlir::Value source = {};
    int64_t ownOffset = 0, kOffset = 0;
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, mlir::Value start);
  void placeThread();
  /// Where in the tile vector `iteration` of this thread begins: along the own dim, and along k.
  std::pair<mlir::Value, mlir::Value> getPlace(const Operand &operand, int64_t iteration);
  /// The same of copy `iteration`, as what this thread's copies begin with, and what is known.
  struct Place {
    mlir::Value own, k;
    int64_t ownOffset = 0, kOffset = 0;
  };
  Place getCopyPlace(const Operand &operand, int64_t iteration);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Value elements);
  mlir::Value getSource(Operand &operand, const Place &place, mlir::Value own, mlir::Value k);
  mlir::Value isCopyInside(const Operand &operand, const Place &place, mlir::Value own,
                           mlir::Value k, mlir::Value isStep);
  /// Starts copy `iteration` of tile `step` into buffer `slot`.
  void startCopy(Operand &operand, int64_t iteration, mlir::Value step, mlir::Value steps,
                 mlir::Value slot);
  /// Waits for the oldest but `stages` - 2 of the copies that were started, in all threads.
  void awaitTile();
  llvm::SmallVector<mlir::Value> loadTile(const Operand &operand, mlir::Value k);
  void storeTile(const Operand &operand, llvm::ArrayRef<mlir::Value> values,
                 mlir::Value bufferNumber);
  llvm::SmallVector<mlir::Value> loadFragment(const Operand &operand, mlir::Value bufferNumber,
                                              int64_t k, mlir::Value position, int64_t count);
  /// The operands of this thread's rows and columns at k of a tile.
  llvm::SmallVector<mlir::Value> loadFragments(mlir::Value bufferNumber, int64_t k);
  /// Adds to `sums` the products of one k.
  void multiply(llvm::ArrayRef<mlir::Value> fragments, llvm::MutableArrayRef<mlir::Value> sums);
  /// The sums over all steps: of tiles that pass through registers, and of such that are copied.
  llvm::SmallVector<mlir::Value> sumLoaded(llvm::SmallVector<mlir::Value> sums);
  llvm::SmallVector<mlir::Value> sumCopied(llvm::SmallVector<mlir::Value> sums);
  /// Stores vector `number` of this thread's sums.
  void emitOutputs(mlir::Value number, mlir::Value sums);
  void emitOutputs(llvm::ArrayRef<mlir::Value> sums);
  /// Adds up the sums of the cluster's blocks, and stores this one's share of them.
  void shareOutputs(llvm::ArrayRef<mlir::Value> sums);
  /// How many blocks are to fit on a multiprocessor.
  int64_t getFewestBlocks();

  bool isCopied() const { return config.getStages() > 2; }
  int64_t getGroup() const { return std::min<int64_t>(config.getThreadN(), 4); }
  int64_t getRowLength(const Operand &operand) const {
    return getFMARowLength(operand.own, getElementBytes(contraction.accumulatorType));
  }

  const Contraction &contraction;
  MatmulFMAAttr config;
  int64_t threads;
  const Target &target;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  MatmulTile tile;
  mlir::Value thread, threadRow, threadColumn;
  mlir::Value rank;     // of this block among those that share the tile
  mlir::Value exchange; // where the sums of this block's share arrive from all of them
  llvm::SmallVector<Operand, 2> operands;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_FMAEMITTER_H
