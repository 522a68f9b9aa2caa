//===- CommandGraph.cpp - Edges between commands from the memory they touch ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/CommandGraph.h"

#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::plan {

namespace {

struct PastAccess {
  unsigned command;
  MemoryAccess access;
};

} // namespace

static bool isWrite(Access access) { return access != Access::Read; }

static bool arePartsOfOne(const MemoryAccess &a, const MemoryAccess &b) {
  return a.whole != 0 && a.whole == b.whole;
}

/// False only if the accesses surely share no byte: both ranges must be known numbers, or differ by
/// one, or they are parts.
static bool mayOverlap(const MemoryAccess &a, const MemoryAccess &b) {
  if (arePartsOfOne(a, b))
    return false;
  auto endsBefore = [](const MemoryAccess &x, const MemoryAccess &y) {
    std::optional<int64_t> gap = collectTerms(y.offset - (x.offset + x.length)).asConstant();
    return gap && *gap >= 0;
  };
  return !endsBefore(a, b) && !endsBefore(b, a);
}

static bool covers(const MemoryAccess &outer, const MemoryAccess &inner) {
  return outer.offset == inner.offset && outer.length == inner.length;
}

/// Adds what has used the buffers whose bytes `buffer` takes over. Where nothing has used one of
/// them, what it took over from counts: it has waited for nothing.
static void waitForPredecessors(unsigned buffer, ArrayRef<SmallVector<PastAccess>> history,
                                ArrayRef<SmallVector<unsigned>> predecessors,
                                llvm::SetVector<unsigned> &needed) {
  SmallVector<unsigned> pending(predecessors[buffer]);
  llvm::DenseSet<unsigned> seen(pending.begin(), pending.end());
  while (!pending.empty()) {
    unsigned predecessor = pending.pop_back_val();
    for (const PastAccess &past : history[predecessor])
      needed.insert(past.command);
    if (history[predecessor].empty())
      for (unsigned earlier : predecessors[predecessor])
        if (seen.insert(earlier).second)
          pending.push_back(earlier);
  }
}

SmallVector<SmallVector<int64_t>> computeEdges(ArrayRef<SmallVector<MemoryAccess>> accesses,
                                               ArrayRef<SmallVector<unsigned>> predecessors) {
  SmallVector<SmallVector<PastAccess>> history(predecessors.size());
  SmallVector<llvm::BitVector> ancestors;
  SmallVector<SmallVector<int64_t>> edges;
  for (unsigned command = 0; command < accesses.size(); ++command) {
    ArrayRef<MemoryAccess> touched = accesses[command];
    llvm::SetVector<unsigned> needed;
    for (const MemoryAccess &access : touched) {
      for (const PastAccess &past : history[access.buffer])
        if ((isWrite(access.access) || isWrite(past.access.access)) &&
            mayOverlap(past.access, access))
          needed.insert(past.command);
      // The first touch of a buffer that took over another one's bytes waits for all that used
      // those. Of parts each is the first.
      if (llvm::all_of(history[access.buffer], [&](const PastAccess &past) {
            return past.command != command && arePartsOfOne(past.access, access);
          }))
        waitForPredecessors(access.buffer, history, predecessors, needed);
    }
    needed.remove(command);
    for (const MemoryAccess &access : touched) {
      SmallVector<PastAccess> &past = history[access.buffer];
      if (isWrite(access.access) && access.whole == 0)
        llvm::erase_if(past, [&](const PastAccess &old) {
          return old.command != command && covers(access, old.access);
        });
      past.push_back({command, access});
    }

    // From the latest to the earliest: what a later one already waits for is implied.
    SmallVector<unsigned> sorted(needed.begin(), needed.end());
    llvm::sort(sorted, std::greater<>());
    llvm::BitVector reached(accesses.size());
    SmallVector<int64_t> kept;
    for (unsigned before : sorted) {
      if (reached.test(before))
        continue;
      kept.push_back(before);
      reached |= ancestors[before];
      reached.set(before);
    }
    llvm::sort(kept);
    edges.push_back(std::move(kept));
    ancestors.push_back(std::move(reached));
  }
  return edges;
}

} // namespace xc::plan
