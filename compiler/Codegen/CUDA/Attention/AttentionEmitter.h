//===- AttentionEmitter.h - How the fused attention kernel is emitted -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONEMITTER_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONEMITTER_H

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

class AttentionEmitter {
public:
  AttentionEmitter(const KernelInfo &kernel, kernel::AttentionOp op, AttentionAttr config);

  mlir::LogicalResult run();

private:
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
  /// The tile that a block works on: a head of a batch, and the first of its queries.
  struct Tile {
    mlir::Value head, sharedHead, firstQuery, endQuery;
  };
  /// The blocks of keys that queries of a tile see, from `last` - 1 down: `count` of them, of which
  /// those before `open` and from `closed` on hide some keys.
  struct Blocks {
    mlir::Value last, count, open, closed;
  };
  /// What softmax has so far of a warpgroup's rows.
  struct Softmax {
    mlir::Value maximum, sum;
  };
  /// What the loops over blocks carry.
  struct State {
    mlir::Value output, weights;
    Softmax softmax;
    RingState keys, values;
  };

  // Operands (AttentionOperands.cpp).
  mlir::Value makeMap(const AttentionOperand &operand, tile::SharedType type, int64_t rows);
  Source makeSource(mlir::Value tensor, int64_t rows, int64_t stages, int64_t sharers);
  void makeSources();
  void loadOffset();
  void loadSinks();
  RingState advance(RingState state, int64_t stages);
  mlir::Value getSlot(const Source &source, RingState state);
  void waitFull(const Source &source, RingState state);
  void release(const Source &source, RingState state, mlir::Value token);
  void fetch(const Source &source, RingState state, mlir::Value head, mlir::Value row);

  // Schedule (EmitAttention.cpp).
  mlir::Block *fill(mlir::Region &region, mlir::TypeRange arguments,
                    llvm::function_ref<void(mlir::Block &)> body);
  llvm::SmallVector<mlir::Value> emitTiles(
      mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Tile &, mlir::ValueRange)> body);
  Blocks findBlocks(const Tile &tile);
  void emitLoader();
  llvm::SmallVector<mlir::Value> emitLoads(const Tile &tile, mlir::ValueRange states);
  void emitConsumer(mlir::Value warpgroup);
  llvm::SmallVector<mlir::Value> emitTile(const Tile &tile, mlir::ValueRange states);
  State beginBlocks(const Tile &tile, const Blocks &blocks, RingState keys, RingState values);
  State loopOverBlocks(const Tile &tile, const Blocks &blocks, State state, mlir::Value from,
                       mlir::Value to, bool hidesKeys);
  State emitBlock(const Tile &tile, mlir::Value block, const State &state, bool hidesKeys);
  State endBlocks(const State &state);
  void takeTurn();
  void giveTurn();

  // Arithmetic on tiles (AttentionMath.cpp).
  mlir::Value map(mlir::Type result, mlir::ValueRange inputs,
                  llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  mlir::Value mapAt(mlir::Type result, mlir::ValueRange inputs, mlir::Value row, mlir::Value column,
                    llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  std::pair<mlir::Value, mlir::Value> startScores(RingState keys);
  std::pair<mlir::Value, mlir::Value> startOutput(const State &state);
  mlir::Value hideKeys(mlir::Value scores, const Tile &tile, mlir::Value block);
  mlir::Value emitMaskedScore(mlir::Value score, const Tile &tile, mlir::Value row,
                              mlir::Value column);
  mlir::Value isVisible(mlir::Value row, mlir::Value column);
  /// The exponentials of `scores`; `rescale` is what sums so far are multiplied by.
  mlir::Value emitSoftmax(mlir::Value scores, Softmax &softmax, mlir::Value &rescale);
  mlir::Value getBase(mlir::Value maximum);
  void emitOutput(const Tile &tile, mlir::Value output, Softmax softmax);
  void storeOutput(const Tile &tile, mlir::Value output);
  void storeLogsumexp(const Tile &tile, mlir::Value logarithms);
  mlir::Value f32(double value);
  mlir::Value firstRow(const Tile &tile);

  const KernelInfo &kernel;
  kernel::AttentionOp op;
  AttentionAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t dim;                  // of queries and keys
  int64_t vector, outputVector; // elements of queries and keys, and of values
  /// Exponentials are powers of 2 of scores times `factor`: of scores as products give them, where
  /// nothing is added to them and none changes its sign; else they are scaled before.
  bool scalesFirst;
  double factor;
  /// Whether blocks of keys may have to be looked at for keys that are hidden.
  bool hidesLastKeys;

  mlir::Value queries, keys, heads, offset, sinks;
  Source querySource, keySource, valueSource;
  mlir::Value threadInWarpgroup, warpgroup;
  mlir::Value querySlot, rank; // `rank`: of this block in its cluster
  tile::RegisterType scoreType, outputType, weightType;
  tile::RowsType rowsType, partsType;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONEMITTER_H
