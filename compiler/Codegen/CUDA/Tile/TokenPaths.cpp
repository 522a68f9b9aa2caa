//===- TokenPaths.cpp - What is started between an op and a wait ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies are done in the order in which they are started, and so are products of a warpgroup:
// `cp.async.wait_group N` and `wgmma.wait_group N` wait for all but the last N. So a token's op may
// be followed by as many others as are started, on every path from it to the wait: the least number
// of all paths is right. Tokens go along loops and branches:
//
//   an op's own result             what is started between the op and the wait
//   a loop's argument              the same of the first value, or of the one that is yielded
//   a loop's or a branch's result  the same of all values that it may be, and what follows
//
// A loop between the two may have no iterations, and a branch starts what both of its sides do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/TokenPaths.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace xc::cuda {

namespace {

/// The ops that are started between that of one token and a wait for it.
class TokenPaths {
public:
  explicit TokenPaths(llvm::function_ref<bool(Operation *)> starts) : starts(starts) {}

  /// Nothing if a token comes from elsewhere.
  std::optional<int64_t> count(Value token, Operation *wait);

private:
  /// Those that `op` starts at least, or the ops of a range.
  int64_t countIn(Operation &op);
  int64_t countIn(Block::iterator from, Block::iterator to);
  /// Of several values, of which the token may be any; `at` is where each of them is passed on.
  std::optional<int64_t> countLeast(ArrayRef<std::pair<Value, Operation *>> values);
  std::optional<int64_t> countFrom(Block *block, Block::iterator from, Operation *wait);

  llvm::function_ref<bool(Operation *)> starts;
  llvm::DenseSet<Value> visited;
};

} // namespace

int64_t TokenPaths::countIn(Operation &op) {
  if (starts(&op))
    return 1;
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getElseRegion().empty())
    return 0;
  return std::min(countIn(branch.thenBlock()->begin(), branch.thenBlock()->end()),
                  countIn(branch.elseBlock()->begin(), branch.elseBlock()->end()));
}

int64_t TokenPaths::countIn(Block::iterator from, Block::iterator to) {
  int64_t count = 0;
  for (; from != to; ++from)
    count += countIn(*from);
  return count;
}

/// From `from` in `block` to `wait`, which is in it or in a region of an op of it.
std::optional<int64_t> TokenPaths::countFrom(Block *block, Block::iterator from, Operation *wait) {
  int64_t inside = 0;
  Operation *at = wait;
  for (; at && at->getBlock() != block; at = at->getParentOp())
    inside += countIn(at->getBlock()->begin(), at->getIterator());
  if (!at)
    return std::nullopt;
  return inside + countIn(from, at->getIterator());
}

std::optional<int64_t> TokenPaths::countLeast(ArrayRef<std::pair<Value, Operation *>> values) {
  int64_t least = kManyStarted;
  for (auto [value, at] : values) {
    std::optional<int64_t> own = count(value, at);
    if (!own)
      return std::nullopt;
    least = std::min(least, *own);
  }
  return least;
}

std::optional<int64_t> TokenPaths::count(Value token, Operation *wait) {
  // Round a loop there are only more of them; on another path there may be fewer.
  if (!visited.insert(token).second)
    return kManyStarted;
  llvm::scope_exit leave([&] { visited.erase(token); });
  Operation *op = token.getDefiningOp();
  if (isa_and_nonnull<tile::NothingOp>(op))
    return kManyStarted;
  if (op && starts(op))
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

std::optional<int64_t> countStarted(Value token, Operation *wait,
                                    llvm::function_ref<bool(Operation *)> starts) {
  return TokenPaths(starts).count(token, wait);
}

} // namespace xc::cuda
