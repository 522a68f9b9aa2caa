//===- ArenaLayout.cpp - Places for buffers that live for part of a call ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace xc::plan {

/// What cudaMalloc aligns to; enough for every vector access and TMA.
static constexpr int64_t kSlotAlignment = 256;

namespace {

struct StaticRange {
  unsigned buffer;
  int64_t offset;
  int64_t end;
};

struct Slot {
  AffineExpr size;
  SmallVector<unsigned> buffers;
};

} // namespace

static bool livesWith(const LiveBuffer &a, const LiveBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The same buffers, each of them live all the time.
static SmallVector<LiveBuffer> liveForEver(ArrayRef<LiveBuffer> buffers) {
  SmallVector<LiveBuffer> result(buffers);
  for (LiveBuffer &buffer : result) {
    buffer.first = 0;
    buffer.last = std::numeric_limits<unsigned>::max();
  }
  return result;
}

/// Places static buffers; returns the bytes they take together.
static int64_t placeStatic(ArrayRef<LiveBuffer> buffers, SmallVectorImpl<StaticRange> &placed) {
  SmallVector<unsigned> order;
  for (auto [index, buffer] : llvm::enumerate(buffers))
    if (isa<AffineConstantExpr>(buffer.size))
      order.push_back(index);
  auto getSize = [&](unsigned index) {
    return cast<AffineConstantExpr>(buffers[index].size).getValue();
  };
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-getSize(a), a) < std::pair(-getSize(b), b);
  });
  int64_t total = 0;
  // Sorted by offset, so that one pass over the neighbours in time finds the lowest gap.
  SmallVector<StaticRange> byOffset;
  for (unsigned index : order) {
    int64_t size = llvm::alignTo(std::max<int64_t>(getSize(index), 1), kSlotAlignment);
    int64_t offset = 0;
    for (const StaticRange &other : byOffset) {
      if (!livesWith(buffers[index], buffers[other.buffer]))
        continue;
      if (other.offset >= offset + size)
        break;
      offset = std::max(offset, other.end);
    }
    StaticRange range{index, offset, offset + size};
    byOffset.insert(llvm::upper_bound(byOffset, range,
                                      [](const StaticRange &a, const StaticRange &b) {
                                        return a.offset < b.offset;
                                      }),
                    range);
    total = std::max(total, range.end);
  }
  placed.assign(byOffset.begin(), byOffset.end());
  return total;
}

ArenaPlacement layOutArena(ArrayRef<LiveBuffer> buffers, bool reuse, MLIRContext *context) {
  if (!reuse)
    return layOutArena(liveForEver(buffers), /*reuse=*/true, context);
  ArenaPlacement placement;
  placement.offsets.resize(buffers.size());
  placement.predecessors.resize(buffers.size());
  SmallVector<StaticRange> ranges;
  placement.staticSize = placeStatic(buffers, ranges);
  for (const StaticRange &range : ranges)
    placement.offsets[range.buffer] = getAffineConstantExpr(range.offset, context);
  for (const auto &[position, a] : llvm::enumerate(ranges))
    for (const StaticRange &b : ArrayRef(ranges).drop_front(position + 1)) {
      if (b.offset >= a.end)
        break;
      bool aIsFirst = buffers[a.buffer].last < buffers[b.buffer].first;
      placement.predecessors[aIsFirst ? b.buffer : a.buffer].push_back(aIsFirst ? a.buffer
                                                                                : b.buffer);
    }

  SmallVector<Slot> slots;
  SmallVector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(buffers[a].first, a) < std::pair(buffers[b].first, b);
  });
  for (unsigned index : order) {
    if (isa<AffineConstantExpr>(buffers[index].size))
      continue;
    auto slot = llvm::find_if(slots, [&](const Slot &candidate) {
      return candidate.size == buffers[index].size &&
             llvm::none_of(candidate.buffers, [&](unsigned other) {
               return livesWith(buffers[index], buffers[other]);
             });
    });
    if (slot == slots.end()) {
      slots.push_back({buffers[index].size, {}});
      slot = std::prev(slots.end());
    }
    placement.predecessors[index].append(slot->buffers);
    slot->buffers.push_back(index);
  }
  AffineExpr end = getAffineConstantExpr(placement.staticSize, context);
  for (const Slot &slot : slots) {
    for (unsigned index : slot.buffers)
      placement.offsets[index] = end;
    end = end + slot.size.ceilDiv(kSlotAlignment) * kSlotAlignment;
  }
  placement.size = end;
  return placement;
}

} // namespace xc::plan
