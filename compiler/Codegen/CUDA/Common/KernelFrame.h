//===- KernelFrame.h - What every emitted kernel begins and ends with -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_KERNELFRAME_H
#define XC_CODEGEN_CUDA_COMMON_KERNELFRAME_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xc::cuda {

/// Replaces the tensor ops of a kernel function by the code of its threads. Code is built at the
/// end of the function; `finish` drops the tensor ops and records the launch.
class KernelFrame {
public:
  /// Blocks have `threads` threads in a row.
  KernelFrame(const KernelInfo &kernel, int64_t threads);

  mlir::Value getBlockId();
  mlir::Value getThreadId();
  /// A one-dimensional buffer in the block's shared memory, 16-byte aligned. Buffers do not
  /// overlap.
  mlir::Value allocateShared(mlir::Type elementType, int64_t count);
  /// Shared memory that begins where `other` does, for when that is not needed any more.
  mlir::Value reuseShared(mlir::Value other, mlir::Type elementType, int64_t count);
  /// Whether the target's blocks may have `bytes` more of shared memory.
  bool fitsShared(int64_t bytes) const {
    return sharedBytes + bytes <= kernel.target->sharedPerBlock;
  }
  /// Waits for all threads of the block, and makes their stores to shared memory visible.
  void barrier();
  /// Waits for the `threads` threads, whole warps, of thread group `threadGroup` of the block
  /// alone. Thread groups have numbers below kMostThreadGroups.
  void barrier(mlir::Value threadGroup, int64_t threads);
  static constexpr int64_t kMostThreadGroups = 15;
  /// The value that the thread whose number differs in the bits of `mask` holds; all 32 take part.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  /// The value that the thread `distance` before this one in its warp holds; all 32 take part, and
  /// the first ones get their own.
  mlir::Value shuffleUp(mlir::Value value, int64_t distance);
  /// The value that thread `lane` (i32) of the warp holds; all 32 take part.
  mlir::Value shuffleFrom(mlir::Value value, mlir::Value lane);

  /// Says how many blocks are to fit on a multiprocessor. Without a word, ptxas may spill a few
  /// registers so that one more does.
  void setFewestBlocks(int64_t blocks);

  /// Keeps more of `blocks` blocks from running on one multiprocessor than have to, by shared
  /// memory that nobody uses; to be called when all that is used has been allocated. Blocks that
  /// are launched by PDL take the places beside those of the kernel before, and multiprocessors
  /// that were idle would get too many of them: 128 blocks of 64 x 128 products took 101 us, one on
  /// each multiprocessor takes 54. `tileBytes` is what tiles take, which get their places later.
  void spreadBlocks(mlir::Value blocks, int64_t tileBytes = 0);

  /// `blocks` is the number of blocks, made of scalars of the kernel; `cluster` of them run
  /// together. There may be more than hardware launches: see -xc-cuda-fold-grids.
  mlir::LogicalResult finish(mlir::Value blocks, int64_t cluster = 1);
  /// The same of a kernel with a thread for each number below `total`, which `emitThread` gets.
  mlir::LogicalResult finishThreads(mlir::Value total,
                                    llvm::function_ref<void(mlir::Value)> emitThread);

private:
  mlir::Value placeShared(mlir::Type elementType, int64_t count, int64_t offset);
  mlir::Value shuffle(mlir::Value value, mlir::Value offset, mlir::gpu::ShuffleMode mode);

  const KernelInfo &kernel;
  int64_t threads;
  int64_t sharedBytes = 0;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Operation *> replaced;

public:
  PointEmitter points;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_KERNELFRAME_H
