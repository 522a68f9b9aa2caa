//===- Cells.h - Who touched which bytes ------------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For four bytes of memory a RaceCell says who wrote them last and who has read
// them since: two words of 32 bits, so 2x. A word names one access in the common
// cases, else a set of accesses: reads of several threads that nothing orders,
// and accesses to single bytes.
//
// An access is a Segment and a lane. A segment is a warp between two steps of its
// clock; a Ledger numbers the segments and keeps the sets, each distinct one once.
// What is in no cell any more is swept out from time to time.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_CELLS_H
#define PTXSIM_LIB_CELLS_H

#include "ptxsim/ptxsim.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace xc::ptxsim {

/// How far a scope reaches.
enum Reach : uint8_t { kReachBlock, kReachCluster, kReachAll };
constexpr unsigned kReaches = 3;
constexpr unsigned kStrengths = kReaches + 1; // values of Segment::strong

/// A warp of a launch (the task |seq| of |chain|) at one value of its clock.
struct Segment {
  static constexpr uint8_t kCopies = 0xff;    // as |warp|: not a warp, a copy or a fill
  static constexpr uint32_t kWholeTask = ~0u; // as |block|: some thread of the task
  uint32_t seq = 0;
  uint32_t block = 0;
  uint32_t clock = 0;
  uint16_t chain = 0;
  uint8_t warp = 0;
  uint8_t strong = 0; // 0 weak, else one more than how far its scope reaches (Reach)

  bool isOf(const TaskId &task) const { return chain == task.chain && seq == task.seq; }
};

/// Lanes of a segment, and which of the four bytes they accessed.
struct Accessors {
  uint32_t who; // segment << 4 | bytes
  uint32_t lanes;

  Accessors() {} // lists are long, and mostly empty
  Accessors(uint32_t segment, uint32_t bytes, uint32_t lanes)
      : who(segment << 4 | bytes), lanes(lanes) {}
  uint32_t segment() const { return who >> 4; }
  uint32_t bytes() const { return who & 15; }
};

/// A word of a cell, written out.
struct AccessList {
  static constexpr unsigned kCapacity = 96;
  std::array<Accessors, kCapacity> items;
  unsigned count = 0;

  /// What does not fit is forgotten.
  void add(const Accessors &item) {
    if (item.bytes() && item.lanes && count < kCapacity)
      items[count++] = item;
  }
  const Accessors *begin() const { return items.data(); }
  const Accessors *end() const { return items.data() + count; }
};

/// What a word says: segment << 9 | lane << 4 | form. Forms that one aligned access
/// can have are its bytes.
enum CellForm : uint32_t {
  kFormPair = 5,  // bytes 0-1 by the lane, 2-3 by the next one
  kFormRun2 = 6,  // byte 0 by the lane, byte 1 by the next one
  kFormRun3 = 7,  // and byte 2 by the one after it
  kFormRun4 = 9,  // and byte 3
  kFormSet = 10,  // the rest is a place in the ledger's sets
  kFormWarp = 11, // all bytes by lanes 0 to lane
  kFormAll = 15,  // all bytes by the lane
};

inline uint32_t cellWord(uint32_t segment, unsigned lane, uint32_t form) {
  return segment << 9 | lane << 4 | form;
}

/// The segments and sets that the cells of some memory refer to. Thread-safe.
class Ledger {
public:
  Ledger();
  ~Ledger();
  Ledger(const Ledger &) = delete;
  Ledger &operator=(const Ledger &) = delete;

  /// 0 when there are no numbers left: the access is not recorded then.
  uint32_t add(const Segment &segment);
  const Segment &segment(uint32_t number) const {
    return chunks[number / kChunk].load(std::memory_order_acquire)[number % kChunk];
  }
  /// Adds what |word| says to |list|.
  void decode(uint32_t word, AccessList &list) const;
  uint32_t encode(const AccessList &list);
  void clear();
  void swap(Ledger &other);
  /// Memory in use, for segments, sets and the table that finds these.
  uint64_t bytes() const;

private:
  static constexpr uint32_t kChunk = 256, kChunks = 1u << 15; // 8 million segments
  static constexpr uint32_t kSetChunk = 1u << 16, kSetChunks = 1u << 12;

  uint32_t intern(const AccessList &list);
  uint32_t *setAt(uint32_t place) const {
    return setChunks[place / kSetChunk].load(std::memory_order_acquire) + place % kSetChunk;
  }
  void growTable();

  // Both calloc'ed whole, so that untouched pages cost nothing.
  std::atomic<Segment *> *chunks = nullptr;
  std::atomic<uint32_t *> *setChunks = nullptr;
  std::atomic<uint32_t> segmentCount{0};
  std::atomic<uint32_t> setWords{0};
  mutable std::mutex mutex;
  std::vector<uint32_t> table; // of sets, by their contents
  uint32_t setCount = 0;
};

/// The last writes of four bytes (the lower word) and the reads since (the upper). Read
/// with acquire, where host threads share it: what it refers to in the ledger comes along.
using RaceCell = std::atomic<uint64_t>;

/// An access that is to be noted.
struct NewAccess {
  uint32_t segment = 0, lanes = 0, bytes = 0;
  uint32_t strong = 0;
  /// A store of the value that is in memory already: with stores alone, of which nobody
  /// can tell which came last, it does not conflict.
  bool silent = false;
};

/// The access that one conflicts with.
struct Conflict {
  Segment segment;
  unsigned lane = 0;
  bool isRead = false;
};

/// What happened before an access, as far as the one who makes it can know.
class HappensBefore {
public:
  virtual ~HappensBefore() = default;
  /// Whether |lanes|, a part of those that |segment| had, accessed before.
  virtual uint32_t unordered(const Segment &segment, uint32_t lanes) const = 0;
  /// What |segment| has in common with who accesses: block (or task, if it is a copy's),
  /// cluster, or neither.
  virtual Reach reachTo(const Segment &segment) const = 0;
  /// Whether all who may access the memory from now on know what |segment| did.
  virtual bool isSettled(const Segment &, uint32_t /*lanes*/) const { return false; }
  /// The lanes of |segment| that are the same threads as those that access now.
  virtual uint32_t replaced(const Segment &) const { return 0; }
};

/// Of warps of other blocks that read the same bytes of global memory, or write the same
/// value to them, so many are kept.
constexpr unsigned kForeignAccessors = 3;

/// Checks an access against |cell| and notes it. False on a conflict. |parallel|: other
/// host threads may touch the cell.
bool noteCellRead(Ledger &ledger, RaceCell &cell, const NewAccess &access,
                  const HappensBefore &order, bool parallel, Conflict &conflict);
bool noteCellWrite(Ledger &ledger, RaceCell &cell, const NewAccess &access,
                   const HappensBefore &order, bool parallel, Conflict &conflict);

/// Rewrites cells that refer to |from| so that they refer to |to|. With |tasks|, all
/// that remains of an access is its task.
class LedgerSweep {
public:
  LedgerSweep(const Ledger &from, Ledger &to, bool tasks) : from(from), to(to), tasks(tasks) {}
  void rewrite(RaceCell &cell);
  uint32_t rewrite(uint32_t word);

private:
  uint32_t segmentFor(uint32_t number);

  const Ledger &from;
  Ledger &to;
  const bool tasks;
  std::vector<std::pair<uint32_t, uint32_t>> recent =
      std::vector<std::pair<uint32_t, uint32_t>>(1024);
  std::vector<std::pair<uint64_t, uint32_t>> byTask =
      std::vector<std::pair<uint64_t, uint32_t>>(1024);
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_CELLS_H
