//===- AccessCounters.cpp - Sectors and bank conflicts of an access -------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessChecks.h"

#include <algorithm>

using namespace xc::ptxsim;

static void countGlobal(Block &block, uint32_t mask, const LaneAccess &lanes,
                        const Access &access) {
  uint64_t sectors[kWarpSize * 2];
  unsigned count = 0;
  auto add = [&](uint64_t sector) {
    if (count && sectors[count - 1] == sector)
      return;
    if (std::find(sectors, sectors + count, sector) == sectors + count)
      sectors[count++] = sector;
  };
  forLanes(mask, [&](unsigned l) {
    if (lanes.space[l] != Space::Global)
      return;
    add(lanes.address[l] >> 5);
    if (access.bytes > 1)
      add((lanes.address[l] + access.bytes - 1) >> 5);
  });
  if (count == 0)
    return;
  Counters &c = block.counters;
  if (access.kind == AccessKind::Load) {
    ++c.globalLoadRequests;
    c.globalLoadSectors += count;
  } else if (access.kind == AccessKind::Store) {
    ++c.globalStoreRequests;
    c.globalStoreSectors += count;
  }
}

/// Shared memory serves 32 banks of 4 bytes per cycle; wider accesses take the
/// lanes in halves (8 bytes) or quarters (16 bytes). Lanes that read the same
/// word share it.
static void countShared(Block &block, uint32_t mask, const LaneAccess &lanes, unsigned bytes) {
  unsigned lanesPerPhase = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned words = bytes <= 4 ? 1 : bytes / 4;
  uint64_t conflicts = 0;
  for (unsigned first = 0; first < kWarpSize; first += lanesPerPhase) {
    uint32_t seen[kWarpSize][kWarpSize];
    uint8_t depth[kWarpSize] = {};
    unsigned deepest = 0;
    for (unsigned l = first; l < first + lanesPerPhase; ++l) {
      if (!(mask >> l & 1) || lanes.space[l] != Space::Shared)
        continue;
      auto word = static_cast<uint32_t>(lanes.address[l] & 0xffffffff) / 4;
      for (unsigned w = 0; w < words; ++w, ++word) {
        unsigned bank = word % 32;
        uint32_t *end = seen[bank] + depth[bank];
        if (std::find(seen[bank], end, word) != end || depth[bank] == kWarpSize)
          continue;
        *end = word;
        deepest = std::max<unsigned>(deepest, ++depth[bank]);
      }
    }
    conflicts += deepest > 1 ? deepest - 1 : 0;
  }
  ++block.counters.sharedRequests;
  block.counters.sharedBankConflicts += conflicts;
}

void xc::ptxsim::countAccess(Block &block, uint32_t mask, const LaneAccess &lanes,
                             const Access &access) {
  unsigned first = static_cast<unsigned>(__builtin_ctz(mask));
  if (access.kind == AccessKind::Atomic)
    ++block.counters.atomicRequests;
  if (lanes.space[first] == Space::Shared)
    countShared(block, mask, lanes, access.bytes);
  else if (lanes.space[first] == Space::Global)
    countGlobal(block, mask, lanes, access);
}
