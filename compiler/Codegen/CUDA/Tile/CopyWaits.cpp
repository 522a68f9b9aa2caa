//===- CopyWaits.cpp - How many copies may be under way -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies are done in the order in which they are started, and `cp.async.wait_group N` waits for all
// but the last N. So a token's copy may be followed by as many others as are started, on every path
// from it to the wait: the least number of all paths is right. Tokens go along loops and branches:
//
//   a copy's own result            what is started between the copy and the wait
//   a loop's argument              the same of the first value, or of the one that is yielded
//   a loop's or a branch's result  the same of all values that it may be, and what follows
//
// A loop between the two may have no iterations, and a branch starts what both of its sides do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/CopyWaits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace xc::cuda {

/// More than are ever under way.
static constexpr int64_t kMany = 1 << 20;

static int64_t countCopies(Block::iterator from, Block::iterator to);

/// The copies, or groups of them, that `op` starts at least.
static int64_t countCopies(Operation &op) {
  if (isa<tile::CopyOp, tile::CommitCopiesOp>(op))
    return 1;
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getElseRegion().empty())
    return 0;
  return std::min(countCopies(branch.thenBlock()->begin(), branch.thenBlock()->end()),
                  countCopies(branch.elseBlock()->begin(), branch.elseBlock()->end()));
}

static int64_t countCopies(Block::iterator from, Block::iterator to) {
  int64_t count = 0;
  for (; from != to; ++from)
    count += countCopies(*from);
  return count;
}

namespace {

/// The copies between that of one token and a wait for it.
class CopyPaths {
public:
  /// Nothing if a token comes from elsewhere.
  std::optional<int64_t> count(Value token, Operation *wait);

private:
  /// Of several values, of which the token may be any; `at` is where each of them is passed on.
  std::optional<int64_t> countLeast(ArrayRef<std::pair<Value, Operation *>> values);
  static std::optional<int64_t> countFrom(Block *block, Block::iterator from, Operation *wait);

  llvm::DenseSet<Value> visited;
};

} // namespace

/// From `from` in `block` to `wait`, which is in it or in a region of an op of it.
std::optional<int64_t> CopyPaths::countFrom(Block *block, Block::iterator from, Operation *wait) {
  int64_t inside = 0;
  Operation *at = wait;
  for (; at && at->getBlock() != block; at = at->getParentOp())
    inside += countCopies(at->getBlock()->begin(), at->getIterator());
  if (!at)
    return std::nullopt;
  return inside + countCopies(from, at->getIterator());
}

std::optional<int64_t> CopyPaths::countLeast(ArrayRef<std::pair<Value, Operation *>> values) {
  int64_t least = kMany;
  for (auto [value, at] : values) {
    std::optional<int64_t> own = count(value, at);
    if (!own)
      return std::nullopt;
    least = std::min(least, *own);
  }
  return least;
}

std::optional<int64_t> CopyPaths::count(Value token, Operation *wait) {
  // Round a loop there are only more of them.
  if (!visited.insert(token).second)
    return kMany;
  Operation *op = token.getDefiningOp();
  if (isa_and_nonnull<tile::CopyOp, tile::CommitCopiesOp>(op))
    return countFrom(op->getBlock(), std::next(op->getIterator()), wait);
  std::optional<int64_t> before, after;
  if (auto argument = dyn_cast<BlockArgument>(token)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getArgNumber() == 0)
      return std::nullopt;
    unsigned number = argument.getArgNumber() - 1;
    Operation *yield = loop.getBody()->getTerminator();
    before = countLeast({{loop.getInitArgs()[number], loop}, {yield->getOperand(number), yield}});
    after = countFrom(loop.getBody(), loop.getBody()->begin(), wait);
  } else {
    unsigned number = cast<OpResult>(token).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Operation *yield = loop.getBody()->getTerminator();
      before = countLeast({{loop.getInitArgs()[number], loop}, {yield->getOperand(number), yield}});
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Operation *then = branch.thenBlock()->getTerminator(),
                *otherwise = branch.elseBlock()->getTerminator();
      before = countLeast(
          {{then->getOperand(number), then}, {otherwise->getOperand(number), otherwise}});
    } else {
      return std::nullopt;
    }
    after = countFrom(op->getBlock(), std::next(op->getIterator()), wait);
  }
  if (!before || !after)
    return std::nullopt;
  return *before + *after;
}

LogicalResult placeCopyWaits(Operation *root) {
  WalkResult result = root->walk([](tile::AwaitCopiesOp op) -> WalkResult {
    int64_t least = kMany;
    for (Value token : op.getTokens()) {
      std::optional<int64_t> own = CopyPaths().count(token, op);
      if (!own)
        return op.emitOpError("expected tokens of copies that come by loops and branches alone");
      least = std::min(least, *own);
    }
    op.setPendingAttr(OpBuilder(op).getI64IntegerAttr(least));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace xc::cuda
