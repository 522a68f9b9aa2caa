//===- RowLimits.h - What threads have room for in row reductions ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers that the choice of a configuration and its emission agree on, each with its unit. A
// multiprocessor has 65,536 registers of 32 bits. So a thread of a block of 256 has up to 255, and
// one of a block of 1,024 has 64, of which addresses and partial results take some.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ROWS_ROWLIMITS_H
#define XC_CODEGEN_CUDA_ROWS_ROWLIMITS_H

#include <cstdint>

namespace xc::cuda {

struct RowLimits {
  /// Values of 32 bits that a thread of a block of 1,024 has registers for beside addresses and
  /// partial results: what it holds of its row, and the vector that it computes with, of each input
  /// and of what all rows share.
  static constexpr int64_t kLargeBlockValues = 48;

  /// Vectors that a thread copies to shared memory at a time: loads that are under way together
  /// hide each other's latency, and each takes registers until it arrives.
  static constexpr int64_t kFillUnroll = 4;
  /// Vectors of all inputs that a thread loads at a time where it reads a row only once: nothing
  /// else needs its registers.
  static constexpr int64_t kStreamUnroll = 8;

  /// Elements of one input that a thread takes from shared memory at a time, in blocks of more than
  /// `kFewThreads` threads and in smaller ones, which leave a thread more registers.
  static constexpr int64_t kSharedElements = 8, kMoreSharedElements = 16, kFewThreads = 512;

  /// Elements that a row's result is combined with and that are loaded before it is known, at most.
  static constexpr int64_t kReducedInputs = 4;

  /// Bytes of the next row that a thread may have under way while it works on one.
  static constexpr int64_t kEarlyBytes = 64;

  /// Elements of rows, and of vectors that are the same for all rows, that a thread of a block of
  /// `kEarlyThreads` threads loads at once; of a block with twice the threads, half.
  static constexpr int64_t kEarlyValues = 64, kEarlyThreads = 256;

  /// Bytes of shared memory by which thread groups combine what they have summed up, at most:
  /// several blocks are to fit a multiprocessor beside each other.
  static constexpr int64_t kCombinedBytes = 64 << 10;

  /// Threads of blocks of clusters that a multiprocessor holds at a time, so that while those of
  /// one block wait for other blocks, those of another one do not.
  static constexpr int64_t kClusterBlockThreads = 1024;

  /// The same for shifted rows, whose threads need more registers: 128 each. Where rows are no
  /// cluster's, ptxas is told so if a thread holds at least `kShiftedValues` values of 32 bits;
  /// with fewer it finds registers enough by itself.
  static constexpr int64_t kShiftedThreads = 512, kShiftedValues = 48;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ROWS_ROWLIMITS_H
