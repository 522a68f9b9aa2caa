//===- AttentionGradientEmitter.h - How attention's gradient is emitted ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONGRADIENTEMITTER_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONGRADIENTEMITTER_H

#include "compiler/Codegen/CUDA/Attention/AttentionTiles.h"

namespace xc::cuda {

class AttentionGradientEmitter : AttentionTiles {
public:
  AttentionGradientEmitter(const KernelInfo &kernel, kernel::AttentionGradientOp op,
                           AttentionShape config);

  mlir::LogicalResult run();

private:
  /// A head of a batch, and rows from `first` to `end` of its own operands.
  struct Tile {
    mlir::Value head, first, end;
  };
  /// Blocks of streamed operands from `first` to `last`; those before `open` and from `closed` on
  /// hide something.
  struct Blocks {
    mlir::Value first, open, closed, last;
  };
  /// Of queries: the logsumexp in powers of 2, and delta.
  struct Numbers {
    mlir::Value logsumexp, delta;
  };
  /// What loops over blocks carry.
  struct State {
    llvm::SmallVector<mlir::Value> sums; // of what is wanted
    RingState streamed;
  };

  llvm::SmallVector<mlir::Value> emitTiles(
      mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Tile &, mlir::ValueRange)> body);
  Blocks findBlocks(const Tile &tile);
  /// Calls `body` for each head of queries that the tile's head goes with, with values carried.
  llvm::SmallVector<mlir::Value> forEachHead(
      const Tile &tile, mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  llvm::SmallVector<mlir::Value> emitLoads(const Tile &tile, mlir::ValueRange states);
  llvm::SmallVector<mlir::Value> emitTile(const Tile &tile, mlir::ValueRange states);
  State emitBlocks(const Tile &tile, mlir::Value head, const Blocks &blocks, State state);
  /// Whether block `block` hides something; null if no block does.
  mlir::Value mayHide(const Blocks &blocks, mlir::Value block);
  /// Streamed tiles of a block: `wait` returns one when it is there, `release` gives it back.
  struct Streamed {
    llvm::function_ref<mlir::Value(unsigned)> wait;
    llvm::function_ref<void(unsigned, mlir::Value)> release;
  };
  /// The sums with what a block adds to them.
  llvm::SmallVector<mlir::Value> emitBlock(const Tile &tile, mlir::Value head, mlir::Value block,
                                           mlir::ValueRange sums, mlir::Value hides,
                                           Streamed tiles);

  mlir::Value loadNumber(mlir::Type type, mlir::Value tensor, mlir::Value head, mlir::Value first,
                         llvm::function_ref<mlir::Value(mlir::Value)> change);
  mlir::Value loadLogsumexp(mlir::Type type, mlir::Value head, mlir::Value first);
  mlir::Value loadDelta(mlir::Type type, mlir::Value head, mlir::Value first);
  Numbers loadNumbers(mlir::Type type, mlir::Value head, mlir::Value first);
  /// What products of queries and keys get, but for the scale; of a mask of keys what scores get.
  mlir::Value makeFlow(mlir::Value weights, mlir::Value flow, mlir::Value delta,
                       mlir::Value scores);
  std::pair<mlir::Value, mlir::Value> startScores(unsigned operand, mlir::Value tile);
  std::pair<mlir::Value, mlir::Value> startSum(mlir::Value weights, mlir::Value tile,
                                               mlir::Value sums);
  /// Powers of scores, which `capScores` has made; 0 of what is hidden, where `hides` says that
  /// something may be (null: never).
  mlir::Value emitWeights(const Tile &tile, mlir::Value head, mlir::Value scores,
                          mlir::Value logsumexp, mlir::Value first, mlir::Value hides);
  /// Scores as exponents of 2, with what is added to them.
  mlir::Value addMask(const Tile &tile, mlir::Value head, mlir::Value scores, mlir::Value first);
  bool wantsValues() { return wanted.back() == 2; }
  /// Whether gradients of scores are made, for those of queries or keys.
  bool needsFlow() { return wanted.front() != 2; }
  bool isOfMask() { return wanted.front() == 3 && !ofKeys; }
  /// Of a mask of keys: sums over queries are numbers of rows.
  bool isOfKeyMask() { return wanted.front() == 3 && ofKeys; }
  /// What tiles are of, with their heads: a mask of keys has those of the queries.
  mlir::Value getTiled() { return ofKeys && !isOfKeyMask() ? op.getKey() : op.getQuery(); }
  /// The head of the tile's own operands.
  mlir::Value getOwnHead(const Tile &tile) {
    return isOfKeyMask() ? index.div(tile.head, group) : tile.head;
  }
  bool isMaskAdded() {
    return op.getMask() && mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(op.getMask()));
  }
  /// Whether a query and a key may not see each other wherever they are.
  bool hidesAnywhere() { return op.getMask() && !isMaskAdded(); }
  int64_t getMaskWidth();
  mlir::Value loadMaskAt(mlir::Value head, mlir::Value row, mlir::Value column);
  mlir::Value isVisible(mlir::Value row, mlir::Value column, mlir::Value stored);
  mlir::Value hideWeights(const Tile &tile, mlir::Value head, mlir::Value weights,
                          mlir::Value first);
  mlir::Value firstRow(const Tile &tile) {
    return index.add(tile.first, index.mul(warpgroup, tile::kWarpgroupRows));
  }
  void store(const Tile &tile, mlir::ValueRange sums);
  void storeKeyMask(const Tile &tile, mlir::Value sums);
  /// Operands of which tiles have rows, and those that they go over.
  llvm::SmallVector<mlir::Value> getOwnOperands();
  llvm::SmallVector<mlir::Value> getStreamedOperands();
  /// The kernel's loads and sums by roles of warpgroups; returns the number of blocks.
  mlir::Value emitWithRoles();

  // That of a mask (EmitMaskGradient.cpp).
  /// A part of the mask's gradient: which of those that heads share, and a block of keys.
  struct MaskTile {
    Tile rows;
    mlir::Value number, block;
  };
  void findMaskHeads();
  mlir::Value countMaskTiles();
  mlir::Value getMaskHead(mlir::Value number, mlir::Value other);
  llvm::SmallVector<mlir::Value> emitMaskTiles(
      mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const MaskTile &, mlir::ValueRange)> body);
  /// Calls `body` for each head whose scores the part is added to; for none if all are hidden.
  llvm::SmallVector<mlir::Value> forEachMaskHead(
      const MaskTile &tile, mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  llvm::SmallVector<mlir::Value> emitMaskLoads(const MaskTile &tile, mlir::ValueRange states);
  llvm::SmallVector<mlir::Value> emitMaskTile(const MaskTile &tile, mlir::ValueRange states);
  void emitCopiedMaskTile(const MaskTile &tile);
  /// The sums with what head `head` adds; `release` is called for each of the products' operands.
  mlir::Value addToMask(const MaskTile &tile, mlir::Value head, mlir::Value sums,
                        llvm::ArrayRef<mlir::Value> streamedSlots,
                        llvm::function_ref<void(unsigned, mlir::Value)> release);
  void storeMask(const MaskTile &tile, mlir::Value sums);

  // Schedule on mma.sync (EmitAttentionGradientMMA.cpp).
  struct CopiedState {
    llvm::SmallVector<mlir::Value> sums;
    mlir::Value stage, filled; // the stage that comes next, and that which is filled next
    llvm::SmallVector<mlir::Value> tokens;
  };
  void copyBlock(const Blocks &blocks, mlir::Value head, mlir::Value block, mlir::Value stage,
                 llvm::SmallVectorImpl<mlir::Value> &tokens);
  CopiedState emitCopiedBlock(const Tile &tile, const Blocks &blocks, mlir::Value head,
                              mlir::Value block, const CopiedState &given);
  llvm::SmallVector<mlir::Value> emitCopiedBlocks(const Tile &tile, const Blocks &blocks,
                                                  mlir::Value head, mlir::ValueRange sums);
  void emitCopiedTile(const Tile &tile);
  /// Returns the number of blocks.
  mlir::Value emitSynchronous();
  /// Tiles of all heads.
  mlir::Value countTiles();

  llvm::SmallVector<mlir::Value> pack(const State &state) {
    llvm::SmallVector<mlir::Value> values(state.sums);
    values.append({state.streamed.stage, state.streamed.phase});
    return values;
  }
  static State unpack(mlir::ValueRange values) {
    size_t count = values.size() - 2;
    return {llvm::SmallVector<mlir::Value>(values.take_front(count)),
            {values[count], values[count + 1]}};
  }

  kernel::AttentionGradientOp op;
  bool ofKeys;
  int64_t dim;       // of lengths
  int64_t widths[2]; // of vectors of queries and keys, and of values
  /// What it is a gradient of: 0 stands for queries, 1 for keys, 2 for values, 3 for the mask.
  llvm::SmallVector<unsigned> wanted;
  int64_t group, window;      // heads of queries for one of keys; keys, 0: all
  bool hidesFirst, hidesLast; // whether first and last blocks may hide something
  mlir::Value ownLength, streamedLength, offset;
  llvm::SmallVector<Source, 2> own, streamed; // `own` has one where no scores' gradient is made
  llvm::SmallVector<CopySource, 2> ownCopies, streamedCopies;
  mlir::Value ownSlots[2];
  Numbers rowNumbers;
  /// Of dims before the length: whether the mask has them, and sizes of those that it has and of
  /// the others.
  llvm::SmallVector<bool> isOfMaskDim;
  llvm::SmallVector<mlir::Value> maskSizes, otherSizes;
  tile::RegisterType scoreType, weightType;
  llvm::SmallVector<mlir::Type> sumTypes;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONGRADIENTEMITTER_H
