//===- AttentionTiles.h - What attention's kernels share --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONTILES_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONTILES_H

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// Rings of tiles, roles, and arithmetic on tiles in registers: what emitters of attention and of
/// its gradient build with.
class AttentionTiles {
protected:
  AttentionTiles(const KernelInfo &kernel, AttentionAttr config);

  /// Which stage of a ring comes next, and the parity of the rounds that it has made.
  struct RingState {
    mlir::Value stage, phase;
  };
  /// A ring of one kind of tiles, and what fills it.
  struct Source {
    mlir::Value map, ring;
    tile::SharedType type;
    int64_t stages, sharers;              // blocks of the cluster that fetch parts for each other
    llvm::SmallVector<mlir::Value> sizes; // of the dims that the map has
  };

  // Rings.
  mlir::Value makeMap(const AttentionOperand &operand, tile::SharedType type, int64_t rows);
  Source makeSource(mlir::Value tensor, int64_t rows, int64_t stages, int64_t sharers);
  RingState advance(RingState state, int64_t stages);
  mlir::Value getSlot(const Source &source, RingState state);
  void waitFull(const Source &source, RingState state);
  /// One thread stands for the warpgroup, when `token` says so.
  void release(const Source &source, RingState state, mlir::Value token);
  void fetch(const Source &source, RingState state, mlir::Value head, mlir::Value row);

  // Control.
  mlir::Block *fill(mlir::Region &region, mlir::TypeRange arguments,
                    llvm::function_ref<void(mlir::Block &)> body);
  /// What `then` makes of the values where `condition` holds; else the values.
  llvm::SmallVector<mlir::Value>
  emitUnless(mlir::Value condition, mlir::ValueRange values,
             llvm::function_ref<llvm::SmallVector<mlir::Value>()> then);
  /// Executed by one thread of the first warp.
  void emitElected(llvm::function_ref<void()> body);
  /// One warpgroup that loads, and the others, whose number is `warpgroup`, with as many registers
  /// as there are if they need them.
  void emitRoles(llvm::function_ref<void()> load, llvm::function_ref<void()> compute,
                 bool needsMost);
  /// The number of keys that a query sees beyond its own position, of an attention with these
  /// operands: between what hides all keys and what hides none, so that sums fit.
  mlir::Value loadOffset(mlir::Value given, int64_t window);

  // Arithmetic.
  mlir::Value f32(double value);
  mlir::Value exp2(mlir::Value x);
  mlir::Value map(mlir::Type result, mlir::ValueRange inputs,
                  llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  /// With the row and the column of each element as last arguments of the body.
  mlir::Value mapAt(mlir::Type result, mlir::ValueRange inputs, mlir::Value row, mlir::Value column,
                    llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  /// What a mask has for a query and a key of head `head`. Places outside are those of the last
  /// ones inside; so is that of all in a dim of one element.
  mlir::Value loadMask(mlir::Value mask, mlir::Value query, mlir::Value head, mlir::Value row,
                       mlir::Value column);
  /// Stores those of the tile's rows, from `firstRow` on, that are below `rows`; `getLine` says of
  /// a row which one of the binding it is.
  void storeTile(plan::BindingOp binding, mlir::Value tile,
                 llvm::function_ref<mlir::Value(mlir::Value)> getLine, mlir::Value firstRow,
                 mlir::Value rows, int64_t columns);

  tile::RegisterType makeSums(int64_t columns);

  const KernelInfo &kernel;
  AttentionAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value queries, keys; // lengths
  mlir::Value threadInWarpgroup, warpgroup;
  mlir::Value rank; // of this block in its cluster
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONTILES_H
