//===- MatmulLimits.h - What a block of a product on wgmma may have -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MATMULLIMITS_H
#define XC_CODEGEN_CUDA_MATMUL_MATMULLIMITS_H

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"

namespace xc::cuda {

/// Rows of one wgmma; columns that are staged together; bytes of a line of shared memory, and of
/// the cache.
inline constexpr int64_t kInstructionRows = 64, kFragmentColumns = 16, kLineBytes = 128;
/// What the distance of rows must be a multiple of for the copy engine.
inline constexpr int64_t kRowBytes = 16;

/// True if no part of `columns` columns of a row is in two warps, where a warpgroup has sums of
/// `rows` rows of operand A and stores `ownColumns` columns of them.
bool fitsRowParts(int64_t columns, bool isSwapped, int64_t elementBytes, int64_t rows,
                  int64_t ownColumns);

/// True if lines of `bytes` bytes can be copied to shared memory where they do not run along k;
/// `canEndEarly` if the last of their 128 bytes need not be there.
bool hasCopiedLines(int64_t bytes, bool canEndEarly);

/// Of `columns` columns of outputs that a block stores, those that pass through shared memory at a
/// time on their way to boxes; 0 if threads store them, as they do those of 4 bytes where there is
/// no room beside `usedBytes`, and they are not needed there.
int64_t getStagingColumns(const Target &target, int64_t columns, int64_t outputBytes,
                          int64_t warpgroups, int64_t blocks, int64_t usedBytes, bool isNeeded);

/// What keeps the product from plan `plan`, whatever time that takes; empty if nothing does.
std::string checkWGMMAPlan(const Target &target, const MatmulProblem &problem,
                           const WGMMAPlan &plan);

/// True if wgmma cannot read operand A from shared memory.
bool isReadAcross(const MatmulProblem &problem);

/// Registers of operands that a thread which fetches loads for a step, and how many steps ahead.
int64_t countValues(const MatmulProblem &problem, int64_t tileM, int64_t tileN);
int64_t getDepth(const MatmulProblem &problem, int64_t tileM, int64_t tileN);

/// The registers of a thread of each kind of warpgroup, in tiles of `tileM` x `tileN`.
WarpgroupRegisters getRegisters(const MatmulProblem &problem, int64_t tileM, int64_t tileN,
                                int64_t warpgroups, int64_t blocks);

/// What a block may have so that as many as the plan wants fit a multiprocessor.
int64_t getSharedRoom(const Target &target, int64_t blocks);

/// All bytes of a block that stages its outputs where it can.
int64_t getSharedBytes(const MatmulProblem &problem, const WGMMAPlan &plan);

/// What a tile has of the operand that columns of pixels are, along its own dim.
int64_t getAcrossTile(const MatmulProblem &problem, const WGMMAPlan &plan);

/// Steps along k of all of a tile's sums: each is of one tap.
int64_t countSteps(const MatmulProblem &problem, int64_t tileK);

/// Stages of a ring of `stages` that side inputs of a tile can have at a time.
int64_t getSideStages(int64_t stages, bool pingPong);

/// How many of the product's side inputs come through the ring.
int64_t countRingInputs(const MatmulProblem &problem, const WGMMAPlan &plan);

/// Blocks that have a tile, or a part of one's sums.
int64_t countBlocks(const MatmulProblem &problem, const WGMMAPlan &plan);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MATMULLIMITS_H
