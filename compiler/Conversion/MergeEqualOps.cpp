//===- MergeEqualOps.cpp - Compute what is equal once ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in program order with a table of the ops that are visible. It does what MLIR's -cse
// does, but for two steps that there take a time that grows with the square of the program:
// - Ops with regions are told apart by a hash of what is in the regions, too. Without it, all ifs
//   on one condition, or all linalg ops on one input, are compared with each other.
// - Whether something is written between two reads is told by a count of the writes so far, not by
//   looking at the ops in between.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopedHashTable.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_MERGEEQUALOPS
#include "compiler/Conversion/Passes.h.inc"

namespace {

/// Hashes an op with its regions; values from within these count by their position.
class OpHasher {
public:
  llvm::hash_code hash(Operation *op) {
    llvm::hash_code code = OperationEquivalence::computeHash(
        op, [&](Value value) { return hashOperand(value); }, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        number(block.getArguments());
        code = llvm::hash_combine(code, block.getNumArguments());
        for (Operation &inner : block) {
          code = llvm::hash_combine(code, hash(&inner));
          number(inner.getResults());
        }
      }
    return code;
  }

private:
  llvm::hash_code hashOperand(Value value) const {
    auto inside = numbers.find(value);
    return inside == numbers.end() ? hash_value(value) : llvm::hash_value(inside->second);
  }
  void number(ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  }

  llvm::DenseMap<Value, size_t> numbers;
};

/// An op with its hash, which is computed once.
struct HashedOp {
  Operation *op;
  unsigned hash;
};

struct HashedOpInfo {
  static HashedOp getEmptyKey() { return {llvm::DenseMapInfo<Operation *>::getEmptyKey(), 0}; }
  static HashedOp getTombstoneKey() {
    return {llvm::DenseMapInfo<Operation *>::getTombstoneKey(), 0};
  }
  static unsigned getHashValue(const HashedOp &key) { return key.hash; }
  static bool isEqual(const HashedOp &left, const HashedOp &right) {
    if (left.op == right.op)
      return true;
    auto isMarker = [](const HashedOp &key) {
      return key.op == getEmptyKey().op || key.op == getTombstoneKey().op;
    };
    if (isMarker(left) || isMarker(right) || left.hash != right.hash)
      return false;
    return OperationEquivalence::isEquivalentTo(left.op, right.op,
                                                OperationEquivalence::IgnoreLocations);
  }
};

/// An op that later ones may be equal to, and how much had been written in its block before it.
struct Known {
  Operation *op;
  size_t writes;
};

using Table = llvm::ScopedHashTable<HashedOp, Known, HashedOpInfo>;

} // namespace

static bool mayWrite(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect());
  });
}

/// Regions of several blocks are not compared.
static bool isComparable(Operation *op) {
  return !op->hasTrait<OpTrait::IsTerminator>() &&
         llvm::all_of(op->getRegions(),
                      [](Region &region) { return region.empty() || region.hasOneBlock(); });
}

/// Replaces `op` by an equal one that is known; else it is known from now on. What reads is equal
/// only in the same block, where nothing has been written in between.
static void mergeOp(Operation *op, bool reads, size_t writes, Table &table) {
  HashedOp key{op, static_cast<unsigned>(size_t(OpHasher().hash(op)))};
  Known known = table.lookup(key);
  bool isEqual =
      known.op && (!reads || (known.op->getBlock() == op->getBlock() && known.writes == writes));
  if (!isEqual)
    return table.insert(key, {op, writes});
  if (isa<UnknownLoc>(known.op->getLoc()))
    known.op->setLoc(op->getLoc());
  op->replaceAllUsesWith(known.op->getResults());
  op->erase();
}

static void mergeRegions(Operation *op, Table &table);

static void mergeBlock(Block &block, Table &table) {
  Table::ScopeTy scope(table);
  bool hasOrder = mayHaveSSADominance(*block.getParent());
  size_t writes = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    mergeRegions(&op, table);
    bool isFree = isMemoryEffectFree(&op), reads = hasSingleEffect<MemoryEffects::Read>(&op);
    if (hasOrder && (isFree || reads) && isComparable(&op))
      mergeOp(&op, reads, writes, table);
    else if (!isFree)
      writes += mayWrite(&op);
  }
}

/// Blocks see what is before the op, but not each other.
static void mergeRegions(Operation *op, Table &table) {
  if (op->getNumRegions() == 0)
    return;
  Table apart;
  bool isIsolated = op->mightHaveTrait<OpTrait::IsIsolatedFromAbove>();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      mergeBlock(block, isIsolated ? apart : table);
}

namespace {

struct MergeEqualOps final : impl::MergeEqualOpsBase<MergeEqualOps> {
  void runOnOperation() override {
    Table table;
    mergeRegions(getOperation(), table);
  }
};

} // namespace

} // namespace xc
