//===- Shadow.h - What is known of memory -----------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Range is one allocation of global memory with its shadow: a bit per byte
// says whether it was written, and (allocated on first use) a RaceCell per four
// bytes says who touched it last: 8 bytes per 4. Copies and fills say so by the page.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_SHADOW_H
#define PTXSIM_LIB_SHADOW_H

#include "Cells.h"

#include "ptxsim/ptxsim.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace xc::ptxsim {

/// One bit per byte; set = initialised (or, for SharedShadow, pending).
class ByteBits {
public:
  ByteBits() = default;
  ~ByteBits();
  ByteBits(const ByteBits &) = delete;
  ByteBits &operator=(const ByteBits &) = delete;

  void allocate(uint64_t bytes);
  bool allocated() const { return words != nullptr; }
  void clearAll();
  void assign(uint64_t offset, uint64_t bytes, bool value);
  /// Number of leading set bits of [offset, offset + bytes).
  uint64_t prefix(uint64_t offset, uint64_t bytes) const;
  /// Number of leading clear bits.
  uint64_t gap(uint64_t offset, uint64_t bytes) const;
  bool all(uint64_t offset, uint64_t bytes) const {
    uint64_t shift = offset & 63;
    if (bytes < 64 && shift + bytes <= 64) {
      uint64_t mask = ((1ull << bytes) - 1) << shift;
      return (words[offset >> 6].load(std::memory_order_relaxed) & mask) == mask;
    }
    return prefix(offset, bytes) == bytes;
  }
  bool any(uint64_t offset, uint64_t bytes) const;
  void set(uint64_t offset, uint64_t bytes) {
    uint64_t shift = offset & 63;
    if (bytes < 64 && shift + bytes <= 64) {
      uint64_t mask = ((1ull << bytes) - 1) << shift;
      std::atomic<uint64_t> &word = words[offset >> 6];
      if ((word.load(std::memory_order_relaxed) & mask) != mask)
        word.fetch_or(mask, std::memory_order_relaxed);
      return;
    }
    assign(offset, bytes, true);
  }

private:
  std::atomic<uint64_t> *words = nullptr; // calloc'ed, so that untouched pages cost nothing
  uint64_t wordCount = 0;
};

/// The cells of some memory, allocated (zero, and so that untouched pages cost nothing)
/// on the first use.
class RaceCells {
public:
  static constexpr uint64_t kPage = 4096;

  RaceCells() = default;
  ~RaceCells() { reset(); }
  RaceCells(const RaceCells &) = delete;
  RaceCells &operator=(const RaceCells &) = delete;
  RaceCell *get(uint64_t bytes) {
    RaceCell *found = cells.load(std::memory_order_acquire);
    return found ? found : allocate(bytes);
  }
  bool allocated() const { return cells.load(std::memory_order_acquire) != nullptr; }
  void reset();

private:
  RaceCell *allocate(uint64_t bytes);

  std::atomic<RaceCell *> cells{nullptr};
};

/// What copies and fills did to whole pages, as one cell each.
class RacePages {
public:
  RacePages() = default;
  ~RacePages() { reset(); }
  RacePages(const RacePages &) = delete;
  RacePages &operator=(const RacePages &) = delete;
  RaceCell *get(uint64_t bytes) { return words.get(bytes / RaceCells::kPage * 4 + 8); }
  bool allocated() const { return words.allocated(); }
  /// Whether a copy has touched a page: else kernels need not look at them.
  std::atomic<bool> used{false};
  void reset() {
    words.reset();
    used = false;
  }

private:
  RaceCells words;
};

struct Range {
  uint64_t base = 0, size = 0;
  std::string tag;
  std::atomic<bool> live{true};
  ByteBits initialised; // not allocated: all bytes are
  RaceCells races;
  RacePages pages;
  ByteBits touched; // a bit per page: cells of it say something

  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= base && bytes <= size && address - base <= size - bytes;
  }
};

class MemoryImpl {
public:
  bool add(uint64_t base, uint64_t size, std::string tag, bool initialised);
  bool remove(uint64_t base);
  bool reserve(uint64_t base, uint64_t size);
  bool release(uint64_t base);
  /// The live range that covers |address|, or NULL. It stays valid (if perhaps
  /// no longer live) while a launch is registered with enterLaunch().
  Range *find(uint64_t address) const;
  /// The live range with the greatest base not above |address|, or NULL.
  Range *findBelow(uint64_t address) const;
  /// True if live ranges without gaps cover the bytes.
  bool covers(uint64_t address, uint64_t size) const;
  RangeInfo describe(uint64_t address) const;
  bool isReserved(uint64_t address) const;
  uint64_t liveBytes() const;
  template <typename F> void forParts(uint64_t address, uint64_t size, F function) const;

  /// For stores to the line that holds |address|.
  std::mutex &lineMutex(uint64_t address) {
    return lines[(address >> 7) * 0x9e3779b97f4a7c15ull >> 56].mutex;
  }

  void enterLaunch();
  void leaveLaunch();
  /// Notes a task's access to a part of |range|; false on a conflict.
  bool noteTask(Range &range, uint64_t offset, uint64_t bytes, const NewAccess &access,
                const HappensBefore &order, bool writes, Conflict &conflict);
  /// Sweeps the ledger if it has grown and no launch runs.
  void sweep();

  Ledger ledger;                // of accesses to global memory
  std::shared_mutex sweepMutex; // shared: somebody notes accesses
  std::shared_ptr<TaskOrder> tasks;

private:
  struct Freed {
    uint64_t size;
    std::string tag;
  };
  void forgetFreed(uint64_t base, uint64_t size);

  struct alignas(64) Line {
    std::mutex mutex;
  };
  std::array<Line, 256> lines;
  mutable std::shared_mutex mutex;
  std::map<uint64_t, std::unique_ptr<Range>> ranges; // by base
  std::map<uint64_t, Freed> freed;
  std::map<uint64_t, uint64_t> reservations;
  std::vector<std::unique_ptr<Range>> retired; // unregistered while a launch ran
  unsigned launches = 0;
  uint64_t sweptBytes = 0; // of the ledger after the last sweep
};

template <typename F> void MemoryImpl::forParts(uint64_t address, uint64_t size, F function) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  while (size > 0) {
    auto it = ranges.upper_bound(address);
    if (it == ranges.begin())
      return;
    Range &range = *std::prev(it)->second;
    if (!range.contains(address, 1))
      return;
    uint64_t part = std::min(size, range.base + range.size - address);
    if (!function(range, address - range.base, part))
      return;
    address += part;
    size -= part;
  }
}

/// The shadow of a block's shared memory.
struct SharedShadow {
  static constexpr uint32_t kLine = 128;

  ByteBits initialised;
  ByteBits pending; // destinations of copies not yet waited for
  bool anyPending = false;
  std::unique_ptr<RaceCells> races;
  uint32_t capacity = 0;

  /// The copy that wrote a whole line (a word of a cell), which nobody has touched since
  /// but products of wgmma; 0: the cells of the line say more.
  std::vector<uint32_t> lineWriter;
  /// Which 16-byte parts of a line (8 bits) each warpgroup's products have last read, and
  /// at which clock (24 bits): [line][warpgroup]. Empty until the first product.
  std::vector<uint32_t> productReads;
  bool anyLine = false; // some lineWriter is set

  /// Makes the cells of the lines that hold [offset, offset + bytes) say what lineWriter did.
  void expandLines(RaceCell *cells, uint64_t offset, uint64_t bytes);
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_SHADOW_H
