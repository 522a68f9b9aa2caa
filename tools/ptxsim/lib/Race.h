//===- Race.h - Happens-before between threads of a grid --------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses to the same bytes by different threads, one of them a write,
// race unless one happens before the other. Each thread has a clock that steps
// at each release (barrier, fence, releasing atomic) and knows, per thread, up
// to which clock the others' accesses happened before it:
//
//   - of its own block: `base`, a vector clock shared between the threads that
//     met at the same barrier (so a barrier costs one vector, not one per
//     thread);
//   - of other blocks: `remote`, vector clocks that came with acquired values.
//
// A fence followed by a strong write publishes what the thread knew at the
// fence under the written address; a strong read takes that along, and the next
// fence makes it the thread's own (PTX memory model, release and acquire
// patterns), as far as the scopes of all of them reach.
//
// Copies by the hardware and products of wgmma are no thread's. What a copy writes
// has an epoch of a pseudo-thread behind the block's last one, whose clock counts
// copies: one of several, since copies that arrive at different mbarriers end in any
// order. A vector clock has elements for them, which mbarriers and waits set. A copy
// or a product sees what the thread that issued it saw then (an Observer), and
// of ordinary writes to shared memory only what a proxy fence has made visible.
//
// Strong operations (atomics, volatile, relaxed, acquire, release) do not race
// with each other where their scopes include both threads.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_RACE_H
#define PTXSIM_LIB_RACE_H

#include "Cells.h"
#include "Program.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace xc::ptxsim {

using VectorClock = std::vector<uint32_t>; // by thread of one block
using ClockPtr = std::shared_ptr<const VectorClock>;
using KnowledgeMap = std::map<uint32_t, ClockPtr>; // by block
using KnowledgePtr = std::shared_ptr<const KnowledgeMap>;

inline Reach reachOf(MemScope scope) {
  return scope == MemScope::Cta       ? kReachBlock
         : scope == MemScope::Cluster ? kReachCluster
                                      : kReachAll;
}

/// Where a block is.
struct BlockPlace {
  uint32_t block = 0, cluster = 0;
  std::vector<uint32_t> near; // the blocks of its cluster
  /// The kernel has operations of block or cluster scope.
  bool narrowScopes = false;
};

/// What releases published, by address.
class SyncTable {
public:
  /// Adds |knowledge| under |address| for those within |reach| of the block at |from|.
  void publish(uint64_t address, const BlockPlace &from, Reach reach,
               const KnowledgeMap &knowledge);
  /// Joins what those within |reach| of the block at |by| have published for it under
  /// |address| into |into|, by how far away they may be; false if there is nothing.
  bool acquire(uint64_t address, const BlockPlace &by, Reach reach,
               std::array<KnowledgeMap, kReaches> &into);

private:
  struct Variable {
    KnowledgeMap wide;
    // By block and by cluster, what these themselves have published.
    std::map<uint32_t, KnowledgeMap> block, cluster;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Variable> variables;
  };
  Shard &shardOf(uint64_t address) { return shards[(address >> 2) * 0x9e3779b97f4a7c15ull >> 60]; }

  std::atomic<bool> used{false};
  std::array<Shard, 16> shards;
};

/// What a thread knew at a fence.
struct FencedClock {
  ClockPtr base;
  KnowledgePtr remote;
  uint32_t clock = 0; // the thread's own; 0: it has not fenced

  bool operator==(const FencedClock &other) const {
    return base == other.base && remote == other.remote && clock == other.clock;
  }
};

struct ThreadClock {
  uint32_t clock = 1;
  ClockPtr base;       // NULL: knows nothing of the others
  KnowledgePtr remote; // other blocks; NULL: nothing
  // What a strong write publishes, by how far the fence reached.
  std::array<FencedClock, kReaches> fenced;
  // What strong reads took along, for the next fence, by how far it must reach.
  std::array<KnowledgePtr, kReaches> pending;
  // Which writes of the block proxy fences have made visible to the async proxy.
  ClockPtr proxied;
  // It, or one that it waited for, has executed griddepcontrol.wait.
  bool waited = false;
};

/// What a thread knew when it issued an asynchronous operation.
struct Observer {
  ClockPtr base, proxied;
  KnowledgePtr remote;
  uint32_t block = 0, thread = 0, clock = 0;
  bool waited = false;
};

/// A vector clock under construction.
struct ClockSum {
  std::shared_ptr<VectorClock> joined;
  ClockPtr last; // joined in already
  /// Joins |base| and |clock| of thread |index|.
  void add(const ClockPtr &base, uint32_t index, uint32_t clock, uint32_t size);
  void add(const ClockPtr &base);
};

/// Collects what the threads arriving at a barrier know. Fenced knowledge and
/// pending acquires pass through barriers: "all threads fence, then one signals"
/// and "one reads the signal, then all fence" are in wide use, and hardware
/// honours them.
class ClockJoin {
public:
  void add(const ThreadClock &thread, uint32_t index, uint32_t threads);
  /// Gives |thread| the joined knowledge.
  void apply(ThreadClock &thread, uint32_t index);
  void reset() { *this = ClockJoin(); }
  /// What the threads of the block know of each other now.
  ClockPtr base() const { return known.joined; }

private:
  ClockSum known, proxied;
  KnowledgePtr remote;
  // Of fences that reach beyond the block.
  std::array<ClockSum, kReaches> fenced;
  std::array<KnowledgePtr, kReaches> fencedRemote, pending;
  bool waited = false;
};

class BlockClocks;

/// What a phase of an mbarrier, or of the cluster's barrier, passes on to the threads
/// of one block that wait for it.
struct Passed {
  ClockPtr known, proxied;
  KnowledgePtr others;
  bool waited = false;
};

/// Collects it. Threads that wait need not have arrived.
class PhaseJoin {
public:
  /// |thread| of the block |from| arrives; the waiters are of |owner|.
  void arrive(BlockClocks &from, uint32_t thread, const BlockClocks &owner);
  /// Copy number |clock| into |owner|'s shared memory has completed.
  void completeCopy(const BlockClocks &owner, uint32_t clock);
  /// Ends the phase: NULL if nobody arrived.
  std::shared_ptr<const Passed> finish();

private:
  ClockSum known, proxied;
  KnowledgePtr others;
  bool waited = false;
};

/// The clocks of one block's threads.
class BlockClocks {
public:
  /// |shared| and |global| number the accesses to the two kinds of memory.
  void start(const Task &task, const BlockPlace &place, uint32_t threads, Ledger &shared,
             Ledger &global);

  /// Notes a read of |bytes| (mask) of a cell by |lanes| of the warp of |thread|, the
  /// first of them, all at the same clock. False if it conflicts with a write.
  bool read(RaceCell &cell, bool isShared, uint32_t thread, uint32_t lanes, uint32_t bytes,
            uint32_t strong, Conflict &conflict);
  /// The same for a write, which may conflict with a read, too; |silent| as in NewAccess.
  bool write(RaceCell &cell, bool isShared, uint32_t thread, uint32_t lanes, uint32_t bytes,
             uint32_t strong, bool silent, Conflict &conflict);
  /// Whether a thread of this launch was the last to write a byte of |bytes| of a cell of global
  /// memory; |conflict| is set to its write.
  bool isWrittenHere(const RaceCell &cell, uint32_t bytes, Conflict &conflict) const;
  /// What |thread| does now, and whether |thread| knows that a lane of |segment| did it.
  Segment describe(uint32_t thread, uint32_t strong = 0) const;
  bool knows(const Segment &segment, uint32_t lane, uint32_t thread) const {
    return !unordered(segment, 1u << lane, thread);
  }
  /// The lanes of |lanes| that are at the clock of |thread|, one of them.
  uint32_t atSameClock(uint32_t thread, uint32_t lanes) const;

  /// Checks against what copies and fills did to a page, all of it before this launch
  /// unless the program lacks an order.
  bool checkPage(uint64_t word, uint32_t thread, bool writes, Conflict &conflict);

  /// |thread| executes griddepcontrol.wait.
  void waitForTasks(uint32_t thread) { threads[thread].waited = true; }

  void fence(uint32_t thread, MemScope scope);
  /// Before a strong write: publishes what was fenced (or, for |release|, all).
  void release(uint32_t thread, uint64_t address, SyncTable &table, bool releases, MemScope scope);
  /// After a strong read.
  void acquire(uint32_t thread, uint64_t address, SyncTable &table, bool acquires, MemScope scope);

  //--- The async proxy -----------------------------------------------------//
  void fenceProxy(uint32_t thread);
  Observer observe(uint32_t thread) const;
  /// The number of a new copy that arrives at |mbarrier|, and the epoch of what it writes. Who has
  /// waited for one barrier knows nothing of copies that arrive at another, which may take longer,
  /// so numbers are ordered within lanes: a barrier has one of them.
  uint32_t nextCopy(uint32_t mbarrier) {
    uint32_t number = peekCopy(mbarrier);
    copies += copies < kMaxClock / kCopyLanes - 1;
    return number;
  }
  /// The number that it would be.
  uint32_t peekCopy(uint32_t mbarrier) const {
    return (copies + 1) * kCopyLanes + mbarrier / 8 % kCopyLanes;
  }
  /// The segment of copy number |clock|, in memory of the one kind or the other.
  uint32_t copySegment(bool isShared, uint32_t clock, uint32_t strong = 0) const;
  /// |thread|'s current segment.
  uint32_t segmentOf(bool isShared, uint32_t thread, uint32_t strong);
  /// Which of |lanes| of |segment| the one who issued an operation had not seen.
  uint32_t unseen(const Segment &segment, uint32_t lanes, const Observer &who) const;
  /// Whether a proxy fence has made the writes visible to |who|'s operation.
  bool isProxied(const Segment &segment, uint32_t lanes, const Observer &who) const;
  bool isOwn(const Segment &segment) const {
    return segment.block == place.block && segment.isOf(task.id);
  }
  Reach reachTo(const Segment &segment) const;
  /// Whether nobody who may access the memory still has to learn of |lanes| of |segment|,
  /// which happened before; other tasks are taken to know of those before this one.
  bool isSettled(const Segment &segment, uint32_t lanes, bool isShared) const {
    return !segment.isOf(task.id) || (isShared && place.near.size() == 1 && settled &&
                                      isOwn(segment) && !behind(segment, lanes, settled.get()));
  }
  /// |thread| has waited for the copies up to |clock|, of its lane.
  void learnCopies(uint32_t thread, uint32_t clock);
  void learnPhase(uint32_t thread, const Passed &passed);
  /// |thread| has waited for its warpgroup's products up to |clock|.
  void learnProducts(uint32_t thread, uint32_t warpgroup, uint32_t clock);
  /// Whether |thread|, or who issued an operation, knows that they are done.
  bool knowsProducts(uint32_t thread, uint32_t warpgroup, uint32_t clock) const {
    const ThreadClock &me = threads[thread];
    return me.base && (*me.base)[productIndex(warpgroup)] >= clock;
  }
  bool sawProducts(const Observer &who, uint32_t warpgroup, uint32_t clock) const;
  Ledger &ledger(bool isShared) const { return isShared ? *shared : *global; }
  /// The ledger of shared memory was swept into |swept|, where segments have other numbers.
  void useLedger(Ledger &swept) {
    shared = &swept;
    for (auto &slots : warpSegments)
      for (WarpSegment &slot : slots)
        slot.shared = 0;
  }

  void arrive(ClockJoin &join, uint32_t thread);
  void depart(ClockJoin &join, uint32_t thread) { join.apply(threads[thread], thread); }
  /// All threads of the block have departed from a barrier.
  void settle(const ClockJoin &join) { settled = join.base(); }

  /// For strong operations on the block's shared memory.
  std::unique_ptr<SyncTable> sharedSync;

private:
  friend class PhaseJoin;
  friend class ThreadsOrder;
  static constexpr uint32_t kMaxClock = 0xffffffffu;
  static constexpr uint32_t kCopyLanes = 16;

  /// Lanes of |segment| whose accesses did not happen before |thread|'s next one.
  uint32_t unordered(const Segment &segment, uint32_t lanes, uint32_t thread) const;
  uint32_t behind(const Segment &segment, uint32_t lanes, const VectorClock *clock) const;
  bool knowsTask(const Segment &segment, bool waited) const;
  /// Whether the one access that |word| says, of all bytes, happened before one that
  /// makes it needless.
  bool isBefore(const Ledger &ledger, uint32_t word, uint32_t thread, uint32_t strong,
                bool isShared) const;
  void step(ThreadClock &thread) const;
  void learn(ThreadClock &thread, const KnowledgeMap &knowledge) const;
  KnowledgeMap knowledgeOf(const FencedClock &fenced, uint32_t thread) const;

  /// Elements of a vector clock: the threads, the copies, the warpgroups' products.
  uint32_t clockSize() const { return productIndex(copyIndex() / 128 + 1); }
  uint32_t copyIndex() const { return static_cast<uint32_t>(threads.size()); }
  uint32_t copyIndex(uint32_t clock) const { return copyIndex() + clock % kCopyLanes; }
  uint32_t productIndex(uint32_t warpgroup) const { return copyIndex() + kCopyLanes + warpgroup; }
  void learnOne(uint32_t thread, uint32_t index, uint32_t clock);

  /// The segments of a warp at its last two clocks, by strength.
  struct WarpSegment {
    uint32_t clock = 0, shared = 0, global = 0;
  };

  Task task;
  BlockPlace place;
  ClockPtr settled; // what all threads of the block know
  Ledger *shared = nullptr, *global = nullptr;
  std::vector<std::array<WarpSegment, 2 * kStrengths>> warpSegments;
  std::array<uint64_t, 8> orderedPages{}; // all that these say happened before the launch
  uint32_t copies = 0;
  struct {
    ClockPtr from, passed, to;
  } lastLearned;
  struct {
    ClockPtr from, to;
    uint32_t index = 0, clock = 0;
  } lastOne;
  std::vector<ThreadClock> threads;
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_RACE_H
