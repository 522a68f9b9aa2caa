//===- Machine.h - The state of running blocks and warps --------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_MACHINE_H
#define PTXSIM_LIB_MACHINE_H

#include "Mbarrier.h"
#include "Program.h"
#include "Race.h"
#include "Shadow.h"

#include "ptxsim/ptxsim.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace xc::ptxsim {

struct Block;
struct Cluster;
struct BulkCopy;

/// What the blocks of one launch share.
struct Launch {
  const Program *program = nullptr;
  uint32_t entry = 0;
  const KernelInfo *info = nullptr;
  LaunchConfig config;
  Options options;
  std::vector<uint8_t> params;
  MemoryImpl *memory = nullptr;
  Task task; // its place among all launches
  uint64_t gridId = 0;
  std::unique_ptr<SyncTable> syncTable; // release/acquire through global memory
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> nextCluster{0};
  uint64_t clusterCount = 0;
  std::mutex mutex; // guards fault and counters
  Fault fault;
  Counters counters;

  void report(const Fault &newFault);
};

/// Lanes of a warp that have the same program counter and call depth.
struct Group {
  enum State : uint8_t {
    Ready,
    WaitSync,     // at a .sync instruction, until its member lanes have come
    WaitAligned,  // at an aligned barrier, until the whole warp has come
    WaitBarrier,  // arrived at barrier `barrier`
    WaitPhase,    // for a phase of the mbarrier at `mbarrier` to complete
    WaitCluster,  // for the cluster's barrier
    WaitProducts, // for the rest of its warpgroup to issue the same products
  };
  uint32_t mask = 0;
  uint32_t pc = 0;
  uint16_t depth = 0;
  State state = Ready;
  uint8_t barrier = 0;
  bool demoted = false; // used up its share; others go first
  uint32_t mbarrier = 0;
  uint64_t phase = 0; // that WaitPhase waits for
};

/// A product (wgmma.mma_async) of a warpgroup, from the first warp's issuing it to the
/// last one's having waited for it.
struct Product {
  const Inst *inst = nullptr;
  uint64_t a = 0, b = 0; // descriptors
  bool accumulate = true;
  bool done = false;
  // What of shared memory A and B lie in; empty if A is in registers.
  uint32_t aBegin = 0, aEnd = 0, bBegin = 0, bEnd = 0;
  unsigned warps = 0;    // that have issued it, a bit each
  Observer observers[4]; // of these, if races are checked
};

/// Four warps that multiply together.
struct Warpgroup {
  std::deque<Product> products;
  uint64_t first = 0;   // number of products.front()
  uint32_t retired = 0; // clock of the last product executed, for races
  // What setmaxnreg has been executed, and by how many warps.
  std::vector<std::pair<const Inst *, unsigned>> registerSteps;
  uint32_t registers = 0; // of a thread; 0: not set yet
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
  std::vector<uint32_t> returns;      // [depth][lane]
  unsigned current = 0;               // group being executed
  std::deque<uint32_t> productGroups; // of the products it has not waited for
  uint32_t productGroup = 0;          // that products issued now belong to
  uint64_t productsIssued = 0;        // in this block
  bool fencedProducts = false;        // has executed a wgmma.fence
  uint32_t registerSteps = 0;         // setmaxnreg executed
  // By asyncRegisters: accumulators and A of products it has not waited for.
  std::vector<bool> busy, frozen;
  std::vector<bool>
      written; // the same registers, since the last wgmma.fence, by other instructions
  // Lanes that have not written a byte of a tracked register, and by register and lane the
  // register that its value comes from, plus one; 0: from itself.
  std::vector<uint32_t> unwritten, unwrittenOrigin;

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
  bool reduces = false;
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
  uint64_t issued = 0, delivered = 0;
  uint32_t bulkGroup = 0; // the same of bulk copies
};

struct Block {
  Launch *launch = nullptr;
  Cluster *cluster = nullptr;
  uint32_t rank = 0; // in the cluster
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
  std::unique_ptr<BlockClocks> clocks;              // NULL when races are not checked
  std::vector<AsyncState> async;                    // per thread; empty until the first cp.async
  std::unordered_map<uint32_t, Mbarrier> mbarriers; // by shared offset
  uint32_t hiddenMbarriers = 0;                     // that are not visible to copies
  std::vector<Warpgroup> warpgroups;
  std::vector<uint64_t> clusterPhase; // by thread: phase it arrived in, plus one
  uint32_t pendingProducts = 0;       // issued, not done, of all warpgroups
  Range *lastRange = nullptr;         // of the last global access
  uint32_t liveThreads = 0;
  uint64_t executed = 0; // thread-instructions
  Counters counters;
  uint64_t classCounts[7] = {}; // by InstClass
  bool faulted = false;
  uint64_t polls = 0; // strong reads so far: its threads may be waiting for others
  std::vector<uint8_t> registerStorage, localStorage;
  ByteBits localWritten; // bytes of localStorage

  Dim3 threadId(uint32_t linear) const;
  /// Where bytes of local memory are in localStorage.
  uint64_t localPlace(const uint8_t *host) const {
    return static_cast<uint64_t>(host - localStorage.data());
  }
  /// Records a fault of |lane| at |inst| and stops the launch.
  void raise(FaultKind kind, const Warp &warp, unsigned lane, const Inst &inst, uint64_t address,
             std::string message, std::vector<std::string> details = {});
};

/// The blocks that share a cluster's shared memory; without clusters, one block.
/// One host thread runs all of them.
struct Cluster {
  Cluster();
  ~Cluster();
  Cluster(const Cluster &) = delete;
  Cluster &operator=(const Cluster &) = delete;
  std::vector<std::unique_ptr<Block>> blocks;
  std::deque<std::unique_ptr<BulkCopy>> copies; // issued, not yet complete
  uint64_t events = 0;                          // what may let a waiting thread go on
  uint64_t eventsAtTimeout = ~0ull;
  uint64_t phase = 0;                                // of the cluster's barrier
  uint32_t arrived = 0;                              // threads
  std::vector<PhaseJoin> joins;                      // what each block's threads learn
  std::vector<std::shared_ptr<const Passed>> passed; // by the last phase
  uint64_t random = 0;                               // state of the seeded order of copies
  std::unique_ptr<Ledger> ledger;                    // of shared memory; NULL: races unchecked
  std::unique_ptr<Ledger> spareLedger;               // for sweeps
  uint64_t ledgerLimit = 0;                          // sweep it when it is larger
};

/// Result of a control instruction.
enum class Step : uint8_t {
  Continue, // the current group goes on at its pc
  Repick,   // groups have changed: choose anew
};

/// Executes bar and barrier for |mask| of the warp's current group
/// (Barrier.cpp).
Step executeBarrier(Warp &warp, const Inst &inst, uint32_t mask);
/// The aligned instructions want the whole warp. Adds the lanes that wait at this one
/// to |mask|, of the current group; false if the group must wait for others.
bool gatherWarp(Warp &warp, uint32_t &mask);
/// Executes the waits for an mbarrier's phase (ExecMbarrier.cpp) and those at the
/// cluster's barrier (ExecCluster.cpp).
Step executePhaseWait(Warp &warp, const Inst &inst, uint32_t mask);
Step executeClusterBarrier(Warp &warp, const Inst &inst, uint32_t mask);
/// Executes wgmma.wait_group (ExecProduct.cpp).
Step executeProductWait(Warp &warp, const Inst &inst, uint32_t mask);
/// Lets the threads that wait for |phase| go on: |done| is what their test answers.
void wakePhaseWaiters(Block &block, uint32_t offset, uint64_t phase);
/// Their time is up: their tests answer false. False if there are none.
bool timeOutWaiters(Block &block);
/// Completes the cluster's barrier if all threads that have not exited are there.
void checkClusterBarrier(Cluster &cluster);
/// Called when no thread of the block can go on: completes what may be
/// completed, else raises a fault. False if neither: all wait for others.
bool resolveStall(Block &block);
/// Reports that nobody can go on any more, and where everybody waits.
void raiseHang(Block &block);
/// Adds a group of lanes; |pc| must differ from that of |warp|'s current group.
void addGroup(Warp &warp, uint32_t mask, uint32_t pc, unsigned depth);

enum class BlockStatus { Running, Done, Faulted, Stalled };

/// Runs until the block ends, stalls, or has executed about |budget|
/// warp-instructions.
BlockStatus runBlock(Block &block, uint64_t budget);
/// Sweeps the ledger of shared memory if it has grown.
void sweepShared(Cluster &cluster);
/// Makes |cluster| ready to run cluster number |linear|. Storage is kept from the
/// blocks that ran in it before.
void startCluster(Cluster &cluster, Launch &launch, uint64_t linear);
/// The same for all blocks of a cluster.
BlockStatus runCluster(Cluster &cluster, uint64_t budget);

/// Fills the rows of immediates and special registers of |warp|.
void fillConstantRows(Warp &warp);
void fillSpecialRows(Warp &warp);

/// Checks what must have ended when all threads of |block| have; false after a fault.
bool finishWarpgroups(Block &block);
/// Whether a product that is not done reads bytes of shared memory (ExecProduct.cpp).
bool isProductSource(const Block &block, uint32_t offset, uint32_t bytes, std::string &reader);
/// Checks an instruction that touches registers of wgmma; false after a fault.
bool checkTouches(Warp &warp, const Inst &inst, uint32_t mask);
/// Says that |lanes| have written none of the tracked registers from |begin| to |end|.
void resetUnwritten(Warp &warp, uint32_t begin, uint32_t end, uint32_t lanes);
/// Checks an instruction that reads or writes tracked registers, before the lanes of |mask| among
/// the |lanes| that came to it execute it (UnwrittenCheck.cpp); false after a fault.
bool checkUnwritten(Warp &warp, const Inst &inst, uint32_t lanes, uint32_t mask);
/// The lane that |lane| reads at a shuffle, and whether it is in range (ExecWarp.cpp).
unsigned shuffleSource(const Warp &warp, const Inst &inst, unsigned lane, bool &inRange);
/// The PTX line of an instruction of the block's program.
uint32_t lineOf(const Block &block, const Inst &inst);

std::string hex(uint64_t value);
std::string describeThread(const Block &block, uint32_t thread);
/// The message of __assertfail(message, file, line, function, charSize).
std::string describeAssert(const Block &block, const std::vector<uint8_t> &arguments);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_MACHINE_H
