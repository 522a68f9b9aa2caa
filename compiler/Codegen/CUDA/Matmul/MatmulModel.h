//===- MatmulModel.h - How long a matrix product on wgmma takes -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MATMULMODEL_H
#define XC_CODEGEN_CUDA_MATMUL_MATMULMODEL_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace xc::cuda {

/// A product as the model sees it, A and B being wgmma's; a size that is not known is a guess.
struct MatmulProblem {
  int64_t batch, m, n, k;
  int64_t elementBytes, outputBytes;
  bool isKContiguousA, isKContiguousB;
  bool transposesB; // threads load operand B and store it with its lines along k
  /// Where threads load an operand as it lies, how many loads make a word; 0 where boxes bring it.
  int64_t loadsA = 0, loadsB = 0;
  bool isStaged;            // the output passes through shared memory
  int64_t outputPlaces = 1; // of the result, zeros among them, that are stored for each output
  bool hasOddRows = false;  // threads store rows of f32 that begin anywhere, a few at a time
  int64_t outputOps;        // instructions for one element of the output, beyond its store
  /// Bytes of the inputs that each output has an element of, a residual say, for one output; and
  /// how many of them the ring can bring.
  int64_t sideBytes = 0, sideInputs = 0;
  /// Columns of the parts that rows are reduced in; 1 if they are not. Operand A's rows are
  /// the product's columns if `isSwapped`.
  int64_t partColumns = 1;
  bool isSwapped = false;
  /// Columns are reduced in parts, of what passes through shared memory.
  bool hasColumnParts = false;
  bool isGuess = false; // m, n or the batch is not known
  /// Operand B is in memory that no call writes: rings are full of it before a kernel begins.
  bool isFixedB = false;
  /// A convolution sums up `k` channels under each of so many taps; its m rows are read of `pixels`
  /// of the image. A product's `pixels` are 0.
  int64_t taps = 1, pixels = 0;
  /// Of the gradient to a filter: the operand that columns of pixels are, which do not run along k;
  /// how many channels they have, and whether its own dim goes on from tap to tap by whole panels.
  enum class Across { None, A, B } across = Across::None;
  int64_t channels = 0;
  bool hasWholePanels = false;
  /// Elements of the operands of all products together, where a batch shares them; otherwise 0.
  int64_t sharedElements = 0;

  /// Threads load an operand as it lies; or bring one, in whatever way.
  bool loadsLines() const { return loadsA > 0 || loadsB > 0; }
  bool isByThreads() const { return transposesB || loadsLines(); }
  bool isConvolution() const { return pixels > 0; }
  bool isAcross() const { return across != Across::None; }
};

/// The parameters of #cuda.matmul_wgmma, and the time that they should take.
struct WGMMAPlan {
  int64_t tileM, tileN, tileK, warpgroups, stages, raster, blocks, split, pingPong, clusterM,
      clusterN;
  double microseconds;

  int64_t getWarpgroupsPerTile() const { return pingPong ? warpgroups / 2 : warpgroups; }
};

/// How many blocks of clusters of `cluster` run at a time, one on each multiprocessor.
int64_t getClusterRoom(const Target &target, int64_t cluster);

/// Every plan that a block's registers and shared memory allow, fastest first.
llvm::SmallVector<WGMMAPlan> rankWGMMAPlans(const Target &target, const MatmulProblem &problem);

/// The microseconds of the fastest; infinite where there is none.
double estimateBestWGMMAPlan(const Target &target, const MatmulProblem &problem);

/// The microseconds that `plan` should take, whatever they are by its own account.
double estimateWGMMAPlan(const Target &target, const MatmulProblem &problem, const WGMMAPlan &plan);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MATMULMODEL_H
