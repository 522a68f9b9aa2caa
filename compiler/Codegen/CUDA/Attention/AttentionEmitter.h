//===- AttentionEmitter.h - How the fused attention kernel is emitted -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONEMITTER_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONEMITTER_H

#include "compiler/Codegen/CUDA/Attention/AttentionTiles.h"

namespace xc::cuda {

class AttentionEmitter : AttentionTiles {
public:
  AttentionEmitter(const KernelInfo &kernel, kernel::AttentionOp op, AttentionShape config);

  mlir::LogicalResult run();

private:
  /// The tile that a block works on: a head of a batch, and the first of its queries.
  struct Tile {
    mlir::Value head, sharedHead, firstQuery, endQuery;
    mlir::Value sequence; ///< of pages; null where keys follow one another
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

  /// What loops over blocks carry where all threads copy: the stage that comes next and the one
  /// that is filled next, and the tokens of what is under way, of keys and values in turn.
  struct CopiedState {
    mlir::Value output;
    Softmax softmax;
    mlir::Value stage, filled;
    llvm::SmallVector<mlir::Value> tokens;
  };

  // What schedules share, and that on wgmma (EmitAttention.cpp).
  void findOffset();
  /// Where keys lie in pages, each sequence has its own.
  void findOffset(const Tile &tile);
  void makeSources();
  llvm::SmallVector<mlir::Value> emitTiles(
      mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Tile &, mlir::ValueRange)> body);
  Blocks findBlocks(const Tile &tile);
  void emitLoader();
  llvm::SmallVector<mlir::Value> emitLoads(const Tile &tile, mlir::ValueRange states);
  void emitConsumer();
  llvm::SmallVector<mlir::Value> emitTile(const Tile &tile, mlir::ValueRange states);
  State beginBlocks(const Tile &tile, const Blocks &blocks, RingState keys, RingState values);
  State loopOverBlocks(const Tile &tile, const Blocks &blocks, State state, mlir::Value from,
                       mlir::Value to, bool hidesKeys);
  State emitBlock(const Tile &tile, mlir::Value block, const State &state, bool hidesKeys);
  State endBlocks(const State &state);
  void waitPingPong();
  void arrivePingPong();
  mlir::LogicalResult emitWithRoles();

  // Schedule on mma.sync (EmitAttentionMMA.cpp).
  void copyBlock(const Tile &tile, const Blocks &blocks, mlir::Value number, mlir::Value stage,
                 llvm::SmallVectorImpl<mlir::Value> &tokens);
  void awaitQueries(mlir::Value slot, mlir::Value token);
  CopiedState emitCopiedBlock(const Tile &tile, const Blocks &blocks, mlir::Value number,
                              const CopiedState &given, bool hidesKeys);
  CopiedState loopOverCopies(const Tile &tile, const Blocks &blocks, const CopiedState &state,
                             mlir::Value from, mlir::Value to, bool hidesKeys);
  llvm::SmallVector<mlir::Value> emitCopiedBlocks(const Tile &tile, const Blocks &blocks,
                                                  const State &none);
  void emitCopiedTile(const Tile &tile);
  /// Returns the number of blocks.
  mlir::Value emitSynchronous();

  // Masks, and which keys queries see (AttentionMasks.cpp). The ring of masks goes with that of
  // keys, in the state `keys`.
  void makeMaskSource();
  RingState getMaskState(RingState keys);
  void fetchMasks(const Tile &tile, RingState keys, mlir::Value firstKey);
  tile::RegisterType getMaskType();
  mlir::Value loadPlainMasks(const Tile &tile, mlir::Value block);
  mlir::Value readMasks(RingState keys);
  /// What the mask has for the block of keys.
  mlir::Value loadMasks(const Tile &tile, mlir::Value block, RingState keys);
  /// The same, where a thread has the registers to hold it while the block's scores are computed;
  /// else null.
  mlir::Value loadMasksEarly(const Tile &tile, mlir::Value block, RingState keys);
  /// `masks` are loaded if they are null, and there is a mask.
  mlir::Value hideKeys(mlir::Value scores, const Tile &tile, mlir::Value block, mlir::Value masks,
                       RingState keys);
  mlir::Value emitMaskedScore(mlir::Value score, mlir::Value mask);
  mlir::Value isVisible(mlir::Value row, mlir::Value column);

  // Arithmetic on tiles (AttentionMath.cpp).
  std::pair<mlir::Value, mlir::Value> startScores(mlir::Value keys);
  std::pair<mlir::Value, mlir::Value> startOutput(mlir::Value weights, mlir::Value output,
                                                  mlir::Value values);
  /// The exponentials of `scores`; `rescale` is what sums so far are multiplied by.
  mlir::Value emitSoftmax(mlir::Value scores, Softmax &softmax, mlir::Value &rescale);
  mlir::Value getBase(mlir::Value maximum);
  void emitOutput(const Tile &tile, mlir::Value output, Softmax softmax);
  void storeOutput(const Tile &tile, mlir::Value output);
  void storeLogsumexp(const Tile &tile, mlir::Value logarithms);
  mlir::Value firstRow(const Tile &tile);

  kernel::AttentionOp op;
  int64_t dim;                  // of queries and keys
  int64_t vector, outputVector; // elements of queries and keys, and of values
  /// Exponentials are powers of 2 of scores times `factor`: of scores as products give them, where
  /// nothing is added to them and none changes its sign; else they are scaled before.
  bool scalesFirst;
  double factor;
  double scoreScale; // getScoreScale
  /// Whether keys may be hidden for where they are, and whether the first block that is gone over,
  /// with the last keys, has to be looked at.
  bool hidesPlaces, hidesLastKeys;

  mlir::Value heads, offset;
  Source querySource, keySource, valueSource, maskSource;
  CopySource queryCopies, keyCopies, valueCopies;
  mlir::Value queryTile;   // in shared memory
  mlir::Value heldQueries; // in registers, or null
  tile::RegisterType scoreType, outputType, weightType;
  tile::RowsType rowsType, partsType;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONEMITTER_H
