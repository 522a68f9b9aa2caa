//===- Machine.h - The state of running blocks and warps --------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_MACHINE_H
#define PTXSIM_LIB_MACHINE_H

#include "Program.h"
#include "Race.h"
#include "Shadow.h"

#include "ptxsim/ptxsim.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace xc::ptxsim {

struct Block;

/// What the blocks of one launch share.
struct Launch {
  const Program *program = nullptr;
  uint32_t entry = 0;
  const KernelInfo *info = nullptr;
  LaunchConfig config;
  Options options;
  std::vector<uint8_t> params;
  MemoryImpl *memory = nullptr;
  uint32_t launchId = 0;
  uint64_t gridId = 0;
  std::unique_ptr<SyncTable> syncTable; // release/acquire through global memory
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> nextBlock{0};
  uint64_t blockCount = 0;
  std::mutex mutex; // guards fault and counters
  Fault fault;
  Counters counters;

  void report(const Fault &newFault);
};

/// Lanes of a warp that have the same program counter and call depth.
struct Group {
  enum State : uint8_t {
    Ready,
    WaitSync,    // at a .sync instruction, until its member lanes have come
    WaitAligned, // at an aligned barrier, until the whole warp has come
    WaitBarrier, // arrived at barrier `barrier`
  };
  uint32_t mask = 0;
  uint32_t pc = 0;
  uint16_t depth = 0;
  State state = Ready;
  uint8_t barrier = 0;
  bool demoted = false; // used up its share; others go first
};

struct Warp {
  uint8_t *registers = nullptr;
  uint8_t *local = nullptr; // kWarpSize * program.localBytes
  Block *block = nullptr;
  const Program *program = nullptr;
  uint32_t index = 0;
  uint32_t allLanes = 0; // lanes with a thread
  uint32_t live = 0;     // of those, not exited
  std::vector<Group> groups;
  std::vector<uint32_t> returns; // [depth][lane]
  unsigned current = 0;          // group being executed

  template <typename T> T *row(uint32_t offset) const {
    return reinterpret_cast<T *>(registers + offset);
  }
  uint32_t &predicate(uint32_t offset) const {
    return *reinterpret_cast<uint32_t *>(registers + offset);
  }
  uint32_t threadOf(unsigned lane) const { return index * kWarpSize + lane; }
  uint8_t *localOf(unsigned lane) const {
    return local + static_cast<size_t>(lane) * program->localBytes;
  }
};

/// A named barrier of a block.
struct BarrierState {
  uint32_t arrived = 0;
  uint32_t expected = 0; // 0: nobody has come yet
  bool wholeBlock = false;
  uint32_t predicateCount = 0; // for bar.red
  ClockJoin join;              // for the race detector
};

/// One cp.async that has been issued and not yet waited for.
struct AsyncCopy {
  uint32_t destination = 0; // shared offset
  uint8_t bytes = 0;
  uint8_t data[16];
  uint32_t group = 0;
  const Inst *inst = nullptr;
};

struct AsyncState {
  std::deque<AsyncCopy> pending;
  uint32_t currentGroup = 0; // group that copies issued now belong to
};

struct Block {
  Launch *launch = nullptr;
  const Program *program = nullptr;
  Dim3 id;
  uint64_t linearId = 0;
  uint32_t threads = 0;
  uint32_t warpCount = 0;
  std::vector<Warp> warps;
  std::vector<BarrierState> barriers; // 16
  std::vector<uint8_t> shared;
  uint32_t sharedBytes = 0;
  SharedShadow sharedShadow;
  std::unique_ptr<BlockClocks> clocks; // NULL when races are not checked
  std::vector<AsyncState> async;       // per thread; empty until the first cp.async
  Range *lastRange = nullptr;          // of the last global access
  uint32_t liveThreads = 0;
  uint64_t executed = 0; // thread-instructions
  Counters counters;
  uint64_t classCounts[7] = {}; // by InstClass
  bool faulted = false;
  uint64_t polls = 0; // strong reads so far: its threads may be waiting for others
  std::vector<uint8_t> registerStorage, localStorage;

  bool checking() const {
    const Checks &c = launch->options.checks;
    return c.bounds || c.uninitialised || c.misaligned || c.race || c.asyncCopy;
  }
  Dim3 threadId(uint32_t linear) const;
  /// Records a fault of |lane| at |inst| and stops the launch.
  void raise(FaultKind kind, const Warp &warp, unsigned lane, const Inst &inst, uint64_t address,
             std::string message);
};

/// Result of a control instruction.
enum class Step : uint8_t {
  Continue, // the current group goes on at its pc
  Repick,   // groups have changed: choose anew
};

/// Executes bar and barrier for |mask| of the warp's current group
/// (Barrier.cpp).
Step executeBarrier(Warp &warp, const Inst &inst, uint32_t mask);
/// Called when no thread of the block can go on: completes what may be
/// completed, else raises a fault.
void resolveStall(Block &block);
/// Adds a group of lanes; |pc| must differ from that of |warp|'s current group.
void addGroup(Warp &warp, uint32_t mask, uint32_t pc, unsigned depth);

enum class BlockStatus { Running, Done, Faulted };

/// Prepares |block| to run block number |linear| of its launch. Storage is kept
/// from the block that ran in it before.
void startBlock(Block &block, Launch &launch, uint64_t linear);
/// Runs until the block ends or has executed about |budget| warp-instructions.
BlockStatus runBlock(Block &block, uint64_t budget);

/// Fills the rows of immediates and special registers of |warp|.
void fillConstantRows(Warp &warp);
void fillSpecialRows(Warp &warp);

std::string hex(uint64_t value);
std::string describeThread(const Block &block, uint32_t thread);
/// The message of __assertfail(message, file, line, function, charSize).
std::string describeAssert(const Block &block, const std::vector<uint8_t> &arguments);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_MACHINE_H
