//===- Mbarrier.h - Barrier objects in shared memory ------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An mbarrier counts arrivals and bytes; a phase of it completes when both are
// there. Programs see eight opaque bytes; what they hold here repeats the object's
// state, so that a store over them is noticed at the next operation.
//
// A thread that waits for a phase is suspended until it completes, or until nobody
// else of the cluster can go on: then the wait's time is up, as hardware may find
// at any moment, and it answers false.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_MBARRIER_H
#define PTXSIM_LIB_MBARRIER_H

#include "Race.h"

#include <cstdint>
#include <memory>
#include <string>

namespace xc::ptxsim {

struct Block;
struct Warp;
struct Inst;

struct Mbarrier {
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;

  uint32_t expected = 0; // arrivals of a phase
  uint32_t pending = 0;  // arrivals still to come
  int64_t bytes = 0;     // expected by expect_tx, less those that came
  uint64_t phase = 0;    // number of phases completed
  Segment init;          // who initialised it, if races are checked
  uint32_t initLane = 0;
  uint32_t initThread = 0;
  bool visible = false;    // to copies: its thread has fenced since
  uint32_t operations = 0; // copies and cp.async that will arrive here
  PhaseJoin join;
  std::shared_ptr<const Passed> passed; // by the last completed phase

  /// The eight bytes, and the state that arrive returns.
  uint64_t word() const {
    return phase << 42 | static_cast<uint64_t>(pending) << 22 |
           (static_cast<uint64_t>(bytes) & 0x3fffff);
  }
  static uint32_t pendingOf(uint64_t state) { return state >> 22 & kMaxCount; }
  static uint64_t phaseOf(uint64_t state) { return state >> 42; }
  std::string describe() const;
};

/// Who does something to an mbarrier, for reports and clocks.
struct Actor {
  Warp &warp;
  unsigned lane;
  const Inst &inst;
};

// Each of these returns false after a fault. |owner| is the block whose shared
// memory has the mbarrier, |offset| its place there.

Mbarrier *findMbarrier(const Actor &who, Block &owner, uint32_t offset);
bool initMbarrier(const Actor &who, Block &owner, uint32_t offset, uint32_t count);
/// Thread |thread| has made what it initialised visible to asynchronous operations.
void fenceMbarriers(Block &block, uint32_t thread);
/// A copy is to arrive at |barrier|, which must be visible to it.
bool checkVisible(const Actor &who, const Block &owner, uint32_t offset, const Mbarrier &barrier);
bool invalMbarrier(const Actor &who, Block &owner, uint32_t offset);
struct Arrival {
  uint32_t count = 1;
  int64_t expectBytes = 0;
  bool drop = false;
  bool mayComplete = true;
  bool releases = true;
};
bool arriveAt(const Actor &who, Block &owner, uint32_t offset, const Arrival &arrival,
              uint64_t &state);
bool expectBytes(const Actor &who, Block &owner, uint32_t offset, int64_t bytes);
/// |copyClock|: of the copy that brought the bytes; 0 if it was no copy.
bool completeBytes(const Actor &who, Block &owner, uint32_t offset, int64_t bytes,
                   uint32_t copyClock);
/// One more arrival than was expected is to come in this phase.
bool expectArrival(const Actor &who, Block &owner, uint32_t offset);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_MBARRIER_H
