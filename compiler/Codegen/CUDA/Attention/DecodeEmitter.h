//===- DecodeEmitter.h - How attention of few queries is emitted -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_DECODEEMITTER_H
#define XC_CODEGEN_CUDA_ATTENTION_DECODEEMITTER_H

#include "compiler/Codegen/CUDA/Attention/DecodeAttention.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"

namespace xc::cuda {

/// Vectors that threads load, and their words.
constexpr int64_t kDecodeChunkBytes = 16, kDecodeChunkWords = 4;

/// f32 arithmetic of softmax.
struct DecodeMath {
  mlir::Value f32(double value);
  mlir::Value exp2(mlir::Value x);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs);
  /// `value`, or 0 where it is minus infinity, which must not be subtracted from itself.
  mlir::Value finite(mlir::Value value);
  /// `value`, or `instead` where it is 0.
  mlir::Value nonZero(mlir::Value value, double instead);

  /// What has been seen in parts: the sum of exponentials of each, relative to a power of 2.
  struct Sums {
    mlir::Value base, sum;
    llvm::SmallVector<mlir::Value> scales; // of each part
  };
  /// Joins parts whose largest scores are `maxima`, as exponents of 2, and whose sums are `sums`,
  /// or 1 each.
  Sums join(mlir::ValueRange maxima, mlir::ValueRange sums);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

class DecodeEmitter {
public:
  DecodeEmitter(const KernelInfo &kernel, kernel::AttentionDecodeOp op, AttentionDecodeAttr config);

  mlir::LogicalResult run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// What a warp has seen so far: of rows lane / 4 (and 8 further) the largest score and this
  /// thread's share of the sum; sums of values as accumulators of the products.
  struct State {
    Values maxima, sums, outputs;
  };
  /// Keys and values of a step, in the order that products take them.
  struct Loaded {
    llvm::SmallVector<Values> keys, values;
  };
  /// Steps along vectors.
  struct Range {
    int64_t first, last;
  };
  /// A query of this block's head of keys: its number there, which head of queries it is of, and
  /// which of the queries.
  struct Row {
    mlir::Value number, head, query;
  };

  // Where things are (EmitDecodeAttention.cpp).
  void locate();
  mlir::Value countBlocks();
  void awaitBefore();
  void letNextBegin();
  bool hasOneStep();
  bool loadsTogether() const;
  bool loadsAhead();
  bool sharesQueries();
  void findKeys();
  mlir::Value rotate(mlir::Value block);
  Row makeRow(mlir::Value number);
  Values placeOf(const Row &row);
  mlir::Value loadWhole(mlir::Value tensor, mlir::ArrayRef<mlir::Value> place);

  // Queries (DecodeQueries.cpp).
  void loadQueries();
  void clearOverlap(Values &words, mlir::Value place);
  void shareQueries();
  llvm::SmallVector<Values> getQueryWords(int64_t step);

  // Steps.
  State begin();
  /// Of keys from `firstKey` on.
  Loaded load(mlir::Value firstKey);
  void keepHere(Loaded &loaded);
  State step(mlir::Value firstKey, Loaded loaded, const State &state);
  /// A key of a block: number `within` of its four that begin `four` behind `first`.
  struct Key {
    mlir::Value first, four, within;
  };
  Values placeKey(const Key &key);
  /// The words of 16 bytes of a vector.
  Values splitWords(mlir::Value loaded);
  /// 16 bytes of the vector of a key, or a value, as words.
  mlir::Value placeChunk(mlir::Value place, int64_t size);
  Values loadChunk(mlir::Value tensor, const Key &key, mlir::Value place, int64_t size);
  /// Of each of some steps, one behind the other.
  llvm::SmallVector<Values> loadKeys(mlir::Value firstKey, Range steps);
  llvm::SmallVector<Values> loadValues(mlir::Value firstKey, Range steps);
  Values getScores(mlir::Value firstKey, const Loaded &loaded);
  Values makeWeights(mlir::ArrayRef<mlir::Value> scores);
  mlir::Value hide(mlir::Value score, const Row &row, mlir::Value key);
  mlir::Value loadMask(const Row &row, mlir::Value key);

  // Products (DecodeProducts.cpp).
  /// Sums of mma.sync: one of four numbers; of exact products of f32 those of big and of small
  /// parts.
  using Products = llvm::SmallVector<Values>;
  Products makeProducts(mlir::ArrayRef<mlir::Value> sums = {});
  void multiply(mlir::ArrayRef<mlir::Value> a, mlir::ArrayRef<mlir::Value> b, Products &sums);
  Values issue(mlir::ArrayRef<mlir::Value> a, mlir::ArrayRef<mlir::Value> b,
               mlir::ArrayRef<mlir::Value> sums);
  Values addUp(const Products &sums);
  void addScores(mlir::ArrayRef<Values> loaded, Range steps, llvm::MutableArrayRef<Products> sums);
  void addValues(mlir::ArrayRef<Values> loaded, Range steps, mlir::ArrayRef<Values> weights,
                 Values &outputs);
  void multiplyValues(mlir::ArrayRef<Values> keys, int64_t tile,
                      mlir::ArrayRef<mlir::Value> weights, Products &sums);
  mlir::Value asFragment(mlir::Value word);
  mlir::Value permute(mlir::Value low, mlir::Value high, int64_t selector);

  // Joining (JoinDecodeAttention.cpp).
  void leaveWarp(const State &state);
  void joinWarps();
  void joinBlocks();
  void storeResult(const Row &row, mlir::Value column, Values values);
  void storeColumns(const Row &row, mlir::Value column, Values values);
  void storeLogarithm(const Row &row, mlir::Value logarithm);
  /// Over groups of four columns of rows that there are, each by a thread.
  void forEachVector(mlir::Value count, mlir::Value first,
                     llvm::function_ref<void(mlir::Value, mlir::Value, mlir::Value)> body);
  mlir::Value loadShared(mlir::Value buffer, mlir::Value place);
  Values loadShared4(mlir::Value buffer, mlir::Value place);

  const KernelInfo &kernel;
  kernel::AttentionDecodeOp op;
  AttentionDecodeAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  DecodeMath math;

  int64_t rank, group, queries, rows; // of the operands; heads of queries, and queries, of a head
  int64_t vector, columns;            // elements of keys and values
  int64_t blockRows, halves;          // of a block; groups of 8 of them
  int64_t splits;                     // parts of the keys: blocks of the cluster, or results
  mlir::Type element;
  bool isExact;               // products of f32 that are three of TF32
  int64_t chunk;              // elements of 16 bytes
  int64_t result;             // of a value's pieces of 16 bytes, where the last ones overlap
  int64_t keyStep, valueStep; // elements of a vector that threads of a key, or a value, load
  int64_t keySteps, valueSteps, tilesOfStep; // of a value's step: those of 16 elements

  mlir::Value thread, lane, warp, part, head, rowTile, firstRow;
  mlir::Value inQuad, quad;          // lane % 4, lane / 4
  Values sharedPlace;                // batch dims and the head of keys
  mlir::Value keys, pageSize;        // of a sequence, of a page
  mlir::Value offset;                // of the last key that query 0 sees; null where all are seen
  mlir::Value end;                   // one behind the last key that any query sees
  mlir::Value firstBlock, lastBlock; // of 16 keys, of this part
  mlir::Value shift;                 // of the first step's block behind `firstBlock`; or null
  llvm::SmallVector<Values> queryWords; // of each half
  mlir::Value queryBuffer;              // in shared memory; null where they stay in registers

  mlir::Value outputBuffer, maximumBuffer, sumBuffer; // of the warps
  mlir::Value partBuffer, logarithmBuffer;            // of the cluster's blocks
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_DECODEEMITTER_H
