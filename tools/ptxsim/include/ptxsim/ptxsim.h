//===- ptxsim.h - Interface of the PTX simulator ----------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The seam between the PTX executor (this library) and the CUDA driver front
// (`driver/`, which becomes libcuda_sim.so).
//
//   Simulator  options + simulated global memory + a pool of host threads
//   Memory     which host addresses are device memory, and what is known of
//   them Module     a parsed PTX text: kernels and module-scope variables
//   launch()   runs one grid to its end on the calling thread and the pool
//
// Device addresses are host addresses of the backing memory, so that a copy is
// a plain memcpy. The front owns backing memory; `Memory` only knows the ranges
// (module-scope variables are the exception: the Module owns them).
//
// Thread safety: every member function of Memory and Simulator may be called
// from any thread; launches may run concurrently. A Module and a Kernel are
// immutable after loading.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_PTXSIM_H
#define PTXSIM_PTXSIM_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace xc::ptxsim {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

enum class Arch { SM80, SM90a };

/// Limits of a chosen architecture, as the driver's device attributes state
/// them.
struct ArchLimits {
  const char *name;             // "sm_80"
  unsigned major, minor;        // compute capability
  unsigned multiprocessors;     // of the modelled product (A100, H200)
  unsigned warpSize;            // 32
  unsigned maxThreadsPerBlock;  // 1024
  unsigned maxBlockDim[3];      // 1024, 1024, 64
  unsigned maxGridDim[3];       // 2^31-1, 65535, 65535
  unsigned maxThreadsPerSM;     // 2048
  unsigned maxBlocksPerSM;      // 32
  unsigned registersPerSM;      // 65536
  unsigned sharedPerBlock;      // 48 KiB, without opting in
  unsigned sharedPerBlockOptin; // 163 KiB, 227 KiB
  unsigned sharedPerSM;         // 164 KiB, 228 KiB
  unsigned sharedReserved;      // 1 KiB per block, kept by the system
  unsigned maxClusterSize;      // 1 (none) or 8 (16 with the non-portable attribute)
};

const ArchLimits &archLimits(Arch arch);

/// The checks; each may be switched by itself. Bounds always hold.
struct Checks {
  bool uninitialised = true;     // reads of bytes and registers never written
  bool misaligned = true;        // addresses that are no multiple of the access size
  bool race = true;              // within a block, and between blocks
  bool barrierDivergence = true; // threads that exit or part before a barrier others wait at
  bool asyncCopy = true;         // accesses to what asynchronous copies and wgmma work on,
                                 // before the wait; missing proxy fences (with race)

  static Checks all() { return Checks(); }
  static Checks none() { return {false, false, false, false, false}; }
};

class TaskOrder;

struct Options {
  Arch arch = Arch::SM80;
  Checks checks;
  /// Collects Counters::sharedBankConflicts and the sector counts (they cost
  /// time).
  bool memoryCounters = true;
  /// Host threads that execute blocks, the launching one included; 0 = all
  /// cores.
  unsigned hostThreads = 0;
  /// Ends a launch with FaultKind::Timeout after so many thread-instructions of
  /// one block; 0 = no limit.
  uint64_t instructionLimit = 0;
  /// Asynchronous copies and products take place as late as they may; with a seed
  /// some do so earlier, at random, and in any order.
  uint64_t asyncSeed = 0;
  /// Where tasks of this and perhaps other simulators come from; NULL: its own.
  std::shared_ptr<TaskOrder> tasks;
};

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Number |seq| of the tasks of a chain, each of which happened before the next.
struct TaskId {
  uint16_t chain = 0;
  uint32_t seq = 0;
};

/// By chain, the last task that happened before; 0: none.
using TaskKnowledge = std::vector<uint32_t>;

/// Joins |from| into |into|.
void joinTasks(TaskKnowledge &into, const TaskKnowledge &from);

/// A launch, a copy or a fill, and what happened before it.
struct Task {
  TaskId id;
  std::shared_ptr<const TaskKnowledge> before;
  /// Of a programmatic launch: what happened before its threads' griddepcontrol.wait.
  /// NULL if that is all.
  std::shared_ptr<const TaskKnowledge> early;

  /// What happened before what comes after it.
  TaskKnowledge after() const;
};

/// Numbers tasks, for the race check between them. Thread-safe.
class TaskOrder {
public:
  TaskOrder();
  ~TaskOrder();
  /// A task that comes after |before|, and as a programmatic launch (|early| given)
  /// only from its wait on.
  Task begin(const std::string &name, TaskKnowledge before,
             std::shared_ptr<const TaskKnowledge> early = nullptr);
  /// One that comes after all that have begun.
  Task beginLast(const std::string &name);
  std::string nameOf(const TaskId &id) const;

private:
  std::unique_ptr<class TaskOrderImpl> impl_;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class MemoryImpl;

/// What a lookup of an address says.
struct RangeInfo {
  uint64_t base = 0;
  uint64_t size = 0;
  std::string tag;
  bool live = false;  // false: the range was unregistered ("use after free")
  bool found = false; // false: no range ever covered the address
};

class Memory {
public:
  Memory();
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Makes [base, base + size) accessible to kernels. |tag| names it in reports
  /// ("cuMemAlloc #12", "pinned"). |initialised| says that all bytes hold known
  /// values already (host memory, memory from a file). Fails (false) if the
  /// range is empty or overlaps a live one. Knowledge of freed ranges that it
  /// overlaps is dropped.
  bool registerRange(uint64_t base, uint64_t size, std::string tag, bool initialised = false);

  /// Makes the range that starts at |base| inaccessible, and remembers it so
  /// that later accesses are reported as uses after free. The front must not
  /// hand the backing memory back to the system while a launch runs. False if
  /// there is none.
  bool unregisterRange(uint64_t base);

  /// An address range that is reserved but not (yet) mapped: accesses are
  /// reported as such. Mapping it = registerRange over a part of it.
  bool reserveRange(uint64_t base, uint64_t size);
  bool releaseReservation(uint64_t base);

  /// Marks bytes initialised (memset, copies from the host).
  void markInitialised(uint64_t address, uint64_t size);
  /// Marks bytes uninitialised again (memory handed out anew by a pool).
  void markUninitialised(uint64_t address, uint64_t size);
  /// Copies the initialised state along with a device-to-device copy.
  void copyInitialised(uint64_t destination, uint64_t source, uint64_t size);
  /// The number of leading bytes of the range that are initialised (= size if
  /// all).
  uint64_t initialisedPrefix(uint64_t address, uint64_t size) const;

  /// The range that covers |address|, live or freed.
  RangeInfo lookup(uint64_t address) const;
  /// True if [address, address + size) lies in one live range (or in live
  /// ranges without a gap between them).
  bool isAccessible(uint64_t address, uint64_t size) const;
  /// Bytes in live ranges; for leak tests.
  uint64_t liveBytes() const;
  /// Notes that a task that is no kernel touches the bytes. False, with a sentence about
  /// it, if it races with another task. |verb| says what it does, NULL: reads or writes.
  bool noteTask(const Task &task, uint64_t address, uint64_t size, bool writes,
                std::string &problem, const char *verb = nullptr);
  /// The order that noteTask() and the launches of a simulator speak of.
  TaskOrder &tasks() const;

  MemoryImpl &impl() const { return *impl_; }

private:
  std::unique_ptr<MemoryImpl> impl_;
};

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

/// Why a module was refused. |line| counts from 1 in the PTX text.
struct ParseError {
  std::string message;
  unsigned line = 0;
  unsigned column = 0;
  /// True if the text is PTX, but asks for more than the simulator (or the
  /// chosen arch) has: an unknown instruction, a newer .target, an unresolved
  /// extern.
  bool unsupported = false;
  /// "line 12: unknown instruction 'wgmma.fence'"
  std::string str() const;
};

struct ParamInfo {
  uint32_t offset = 0; // into the parameter buffer
  uint32_t size = 0;
  uint32_t align = 0;
};

struct KernelInfo {
  std::string name;
  std::vector<ParamInfo> params;
  uint32_t paramBytes = 0; // end of the last parameter
  uint32_t staticSharedBytes = 0;
  uint32_t localBytes = 0;                // per thread
  uint32_t constBytes = 0;                // module-scope .const
  uint32_t registers = 0;                 // estimate: peak of live 32-bit registers
  uint32_t reqntid[3] = {0, 0, 0};        // .reqntid; 0 = not given
  uint32_t maxntid[3] = {0, 0, 0};        // .maxntid; 0 = not given
  uint32_t minBlocksPerSM = 0;            // .minnctapersm
  uint32_t reqClusterDims[3] = {0, 0, 0}; // .reqnctapercluster; 0 = not given
  bool explicitCluster = false;
  bool usesDynamicShared = false;
  /// The most threads a block may have: 1024, .maxntid, .reqntid, registers.
  uint32_t maxThreadsPerBlock = 0;
};

/// A module-scope .global or .const variable.
struct GlobalInfo {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  bool constant = false;
};

class ModuleImpl;
class KernelImpl;

class Kernel {
public:
  const KernelInfo &info() const { return info_; }
  const KernelImpl &impl() const { return *impl_; }

private:
  friend class ModuleImpl;
  KernelInfo info_;
  const KernelImpl *impl_ = nullptr;
};

class Module {
public:
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const std::vector<Kernel> &kernels() const;
  /// NULL if there is none of that name.
  const Kernel *findKernel(const std::string &name) const;
  const std::vector<GlobalInfo> &globals() const;
  const GlobalInfo *findGlobal(const std::string &name) const;
  /// ".target" and ".version" of the text: "sm_80", 8.7 = 87.
  const std::string &target() const;
  unsigned version() const;

private:
  friend class Simulator;
  explicit Module(std::unique_ptr<ModuleImpl> impl);
  std::unique_ptr<ModuleImpl> impl_;
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster; // 1,1,1 = no cluster
  uint32_t dynamicSharedBytes = 0;
  bool cooperative = false; // all blocks make progress together
  /// The parameter buffer, laid out as KernelInfo::params says; copied by
  /// launch().
  const void *params = nullptr;
  size_t paramBytes = 0;
  /// What it comes after, for the race check; NULL: all launches before it.
  const Task *task = nullptr;
};

enum class FaultKind {
  None,
  InvalidLaunch, // the configuration exceeds a limit; nothing ran
  OutOfBounds,   // global, shared, local, constant or parameter address outside
  UseAfterFree,
  Misaligned,
  UninitialisedRead,
  Race,
  BarrierDivergence,
  AsyncCopy,          // what an asynchronous copy or a wgmma works on, before the wait
  Deadlock,           // threads wait at barriers that nobody can complete
  Trap,               // trap; or brkpt
  Assert,             // __assertfail
  IllegalInstruction, // operands an instruction does not allow (shfl with an
                      // exited lane, ...)
  Timeout,            // Options::instructionLimit
  MbarrierMisuse,     // too many arrivals or bytes, used uninitialised, waited for too late
  MissingProxyFence,  // ordinary stores that a copy or a wgmma need not see
};

/// "out-of-bounds", "race", ...
const char *faultKindName(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::None;
  std::string message; // what happened, with values, one line
  std::string kernel;
  unsigned ptxLine = 0;    // in the module's text
  std::string instruction; // PTX text of the instruction
  Dim3 thread{0, 0, 0}, block{0, 0, 0};
  uint64_t address = 0;             // 0 if the fault is not about an address
  std::string source;               // "file:line:column" from .loc, or empty
  std::vector<std::string> details; // of a deadlock: where each thread waits
  /// The whole report, several lines.
  std::string str() const;
};

/// What a launch did. Thread-instructions count active, predicated-on threads;
/// the others count warp-level requests.
struct Counters {
  uint64_t threadInstructions = 0;
  uint64_t warpInstructions = 0;
  uint64_t integer = 0; // thread-instructions by class
  uint64_t floating = 0;
  uint64_t conversion = 0;
  uint64_t control = 0;
  uint64_t memory = 0;
  uint64_t sync = 0;
  uint64_t matrix = 0;
  uint64_t globalLoadRequests = 0;
  uint64_t globalLoadSectors =
      0; // 32-byte sectors; sectors / requests = 4 for coalesced 4-byte loads
  uint64_t globalStoreRequests = 0;
  uint64_t globalStoreSectors = 0;
  uint64_t sharedRequests = 0;
  uint64_t sharedBankConflicts = 0; // wavefronts beyond the fewest possible
  uint64_t atomicRequests = 0;
  uint64_t barriers = 0; // barriers completed
  // The most that the race check of a block's shared memory used beside its cells, and
  // for how many bytes of shared memory. Not a sum: the block where it was most.
  uint64_t sharedRaceBytes = 0, sharedRaceOf = 0;

  void add(const Counters &other);
};

struct LaunchResult {
  bool ok() const { return fault.kind == FaultKind::None; }
  Fault fault;
  Counters counters; // of the part that ran
};

/// A function that PTX declares .extern and the host provides. |params| points
/// at the call's parameters one after another, each at its alignment (as a
/// struct would have them); |result| at the return value, or NULL. Runs once
/// per calling thread, from any host thread. Returns false to end the launch
/// with a trap.
using ExternFunction = std::function<bool(const uint8_t *params, uint8_t *result)>;

class SimulatorImpl;

class Simulator {
public:
  explicit Simulator(const Options &options);
  ~Simulator();
  Simulator(const Simulator &) = delete;
  Simulator &operator=(const Simulator &) = delete;

  Memory &memory() const;
  const Options &options() const;

  /// Provides |name| to modules loaded afterwards. `__assertfail` and `vprintf`
  /// (to stdout) are built in.
  void defineExtern(std::string name, ExternFunction function);

  /// Parses and decodes |text| (a NUL at its end is ignored), allocates and
  /// initialises its variables. NULL with |error| set on failure. The module
  /// must not outlive the simulator.
  std::unique_ptr<Module> load(const char *text, size_t size, ParseError &error) const;

  /// Runs the grid to its end, or to its first fault.
  LaunchResult launch(const Kernel &kernel, const LaunchConfig &config) const;

  /// Blocks of |threads| threads with |dynamicShared| bytes that fit one SM.
  unsigned maxActiveBlocks(const Kernel &kernel, unsigned threads, uint32_t dynamicShared) const;

  /// Memory that the race check of global memory uses beside its cells, which are twice
  /// the bytes touched.
  uint64_t raceBytes() const;

private:
  std::unique_ptr<SimulatorImpl> impl_;
};

} // namespace xc::ptxsim

#endif // PTXSIM_PTXSIM_H
