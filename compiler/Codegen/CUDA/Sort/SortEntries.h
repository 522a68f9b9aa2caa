//===- SortEntries.h - What sorts compare and move ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_SORT_SORTENTRIES_H
#define XC_CODEGEN_CUDA_SORT_SORTENTRIES_H

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"

namespace xc::cuda {

/// Pairs of an order key (kernel::buildOrderKey) and a position, of which no two are equal. Where
/// both fit into one integer of 32 or 64 bits they are that integer, else two.
class EntryBuilder {
public:
  /// The words of one entry.
  using Entry = llvm::SmallVector<mlir::Value, 2>;
  /// A buffer in shared memory for each word.
  using Buffers = llvm::SmallVector<mlir::Value, 2>;

  /// Positions have at most `positionBits` bits, of 31.
  EntryBuilder(KernelFrame &frame, mlir::Type element, unsigned positionBits);

  mlir::Type getKeyType() const { return keyType; }
  /// The key behind all others; only positions tell it from the same key of an element.
  mlir::Value getLastKey();
  Entry make(mlir::Value key, mlir::Value position);
  /// As an i32.
  mlir::Value getPosition(const Entry &entry);

  /// i1: whether `first` comes before `second`.
  mlir::Value isBefore(const Entry &first, const Entry &second);
  Entry select(mlir::Value condition, const Entry &first, const Entry &second);
  /// The entry that comes first.
  Entry first(const Entry &left, const Entry &right);
  /// Puts the two into order.
  void order(Entry &first, Entry &second);
  Entry shuffleXor(const Entry &entry, int64_t mask);

  Buffers allocate(int64_t count);
  Entry load(const Buffers &buffers, mlir::Value place);
  void store(const Entry &entry, const Buffers &buffers, mlir::Value place);
  unsigned countWords() const { return types.size(); }
  mlir::Type getType(unsigned word) const { return types[word]; }

private:
  mlir::Value constant(mlir::Type type, int64_t value);

  KernelFrame &frame;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type keyType;
  unsigned positionBits;
  llvm::SmallVector<mlir::Type, 2> types;
};

/// Sorts entries in shared memory with a bitonic network. Each of `groupSize` threads takes
/// `tile / groupSize` entries to its registers, compares those along several of the network's
/// distances, and puts them back.
class TileSorter {
public:
  /// `slot` of `slots` tiles of the block is this one's.
  TileSorter(EntryBuilder &entries, KernelFrame &frame, int64_t tile, int64_t groupSize,
             mlir::Value thread, int64_t slots, mlir::Value slot);

  EntryBuilder::Entry load(mlir::Value place);
  void store(const EntryBuilder::Entry &entry, mlir::Value place);
  /// Threads must have met at a barrier since they stored; they do so before it returns.
  void sort();

private:
  using Registers = llvm::SmallVector<EntryBuilder::Entry>;
  mlir::Value getAddress(mlir::Value place, unsigned word);
  /// Loads what `places` hold, lets `body` order it, and stores it.
  void inRegisters(llvm::ArrayRef<mlir::Value> places, llvm::function_ref<void(Registers &)> body);
  void compareAtDistance(Registers &registers, int64_t distance);
  void sortRegisters();
  void mergeMirrored(mlir::Value stage);
  void mergeRest(mlir::Value stage);

  EntryBuilder &entries;
  KernelFrame &frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t tile, items;
  unsigned itemBits;
  mlir::Value thread;
  EntryBuilder::Buffers buffers;
  bool isPadded = false; // against conflicts of banks
  llvm::SmallVector<mlir::Value, 2> bases;
};

/// The place of `place` in a buffer of `type` in which columns fall into different banks.
mlir::Value padPlace(PointEmitter &points, mlir::Value place, mlir::Type type);
/// The size of such a buffer for `count` places.
int64_t padCount(int64_t count, mlir::Type type);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_SORT_SORTENTRIES_H
