//===- CUDAConfig.h - Strategies of CUDA kernels --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_IR_CUDACONFIG_H
#define XC_CODEGEN_CUDA_IR_CUDACONFIG_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfigDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CUDA/IR/CUDAConfigAttrs.h.inc"

namespace xc::cuda {

/// Discardable attributes of kernel functions and of plan.scalar; CUDAConfig.td says what they
/// mean.
inline constexpr llvm::StringLiteral kIndexBitsAttr = "cuda.index_bits";
/// A SelectionAttr, beside `lowering_config`.
inline constexpr llvm::StringLiteral kSelectionAttr = "cuda.selection";
/// On a function whose threads have loads under way for what they compute next (a unit): ptxas must
/// not move those behind the arithmetic.
inline constexpr llvm::StringLiteral kLoadsAheadAttr = "cuda.loads_ahead";
inline constexpr llvm::StringLiteral kDivisorAttr = "cuda.divisor";
inline constexpr llvm::StringLiteral kProgrammaticAttr = "cuda.programmatic";
/// Unit, on kernel functions that have `cuda.programmatic`: see `reads_inputs_early` in module.fbs.
inline constexpr llvm::StringLiteral kReadsInputsEarlyAttr = "cuda.reads_inputs_early";
inline constexpr llvm::StringLiteral kSharedOffsetAttr = "cuda.shared_offset";

/// A unit, on reductions that are in parts, and on those that bring the parts together: they are
/// not split again.
inline constexpr llvm::StringLiteral kInPartsAttr = "cuda.in_parts";

/// On the pointer to a tensor map, while kernels are lowered: its place in `cuda.tensor_maps`.
inline constexpr llvm::StringLiteral kTensorMapOrdinalAttr = "cuda.ordinal";

/// On lowered kernels: the ordinals of the scalar arguments, and a description of each tensor map.
inline constexpr llvm::StringLiteral kScalarsAttr = "cuda.scalars";
inline constexpr llvm::StringLiteral kTensorMapsAttr = "cuda.tensor_maps";

/// On a loop, and on its back edge once it has become blocks: what LLVM and ptxas are told about
/// it.
inline constexpr llvm::StringLiteral kLoopAnnotationAttr = "llvm.loop_annotation";

/// The external array in shared memory that all of a block's buffers lie in.
inline constexpr llvm::StringLiteral kSharedSymbol = "xc_shared";

/// How #cuda.matmul_wgmma shares the registers of a multiprocessor: those of each thread when a
/// block starts, and then of a thread that fetches and of one that multiplies.
struct WarpgroupRegisters {
  int64_t launched, producer, consumer;
};
/// With `words`, threads that fetch have so many words of operands under way.
WarpgroupRegisters getWarpgroupRegisters(int64_t warpgroups, int64_t blocks, int64_t words = 0);

/// An operand B of elements of `bytes` bytes that threads transpose on the way has a multiple of so
/// many rows in a tile.
inline int64_t getTransposedRows(int64_t bytes) { return bytes == 1 ? 64 : 32; }
/// Registers of a thread that transposes such an operand of `rows` rows and 128 bytes along k: its
/// words, and what turning bytes takes beside them.
inline int64_t countTransposedWords(int64_t rows, int64_t bytes) {
  return rows / 4 + (bytes == 1 ? 8 : 0);
}
/// Registers of a thread that loads an operand of `own` rows or columns, and 128 bytes along k, as
/// it lies: so many for each word that it stores.
inline int64_t countLoadedValues(int64_t own, int64_t loadsPerWord) {
  return own / 4 * loadsPerWord;
}
/// How many steps ahead threads load, whose operands are `values` registers a step, some of them of
/// operands as they lie: more than one where registers allow it.
inline int64_t getLoadDepth(int64_t values) { return values <= 40 ? 2 : 1; }

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_IR_CUDACONFIG_H
