//===- plan_job.h - Running the commands of a plan on several threads ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_PLAN_JOB_H
#define XC_RUNTIME_HAL_CPU_PLAN_JOB_H

#include "runtime/hal/command_list.h"
#include "runtime/hal/cpu/cpu_executable.h"
#include "runtime/hal/cpu/thread_pool.h"

namespace xc::cpu {

/// Copies and fills are shared out in blocks of this many bytes.
constexpr uint64_t kBlockBytes = 256 << 10;

/// A command with everything that changes between launches resolved.
struct PlanCommand {
  hal::CommandKind kind = hal::CommandKind::Dispatch;
  bool isEmpty = false;
  bool isLoop = false;
  uint8_t patternSize = 0;
  uint32_t regions[2] = {0, 0};
  xc_cpu_kernel_t function = nullptr;
  uint32_t scratch = 0;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t addresses = 0, scalars = 0; ///< where its values begin
  uint64_t length = 0, pattern = 0;
  /// Pieces that may run at once: workgroups, or blocks of a copy or fill.
  uint64_t pieces = 0;
  /// Estimate for one thread.
  uint64_t nanoseconds = 0;
  Ref<hal::Executable> executable;
};

/// What one launch runs; shared, and not changed while it is.
class PlanState final : public RefCounted {
public:
  explicit PlanState(const HostAllocator &allocator)
      : commands(allocator), addresses(allocator), scalars(allocator), allocator(allocator) {}

  /// Runs pieces [begin, end) of a command. \p scratch: the thread's own.
  void run(const PlanCommand &command, uint64_t begin, uint64_t end, void *scratch) const;

  Vector<PlanCommand> commands;
  Vector<void *> addresses;
  Vector<int64_t> scalars;
  uint64_t nanoseconds = 0;  ///< estimate for the whole plan
  uint64_t scratchBytes = 0; ///< the most that one of its kernels needs
  Ref<Scratch> scratch;      ///< of the pool's threads

private:
  friend class xc::HostAllocator;
  ~PlanState() override = default;
  void destroy() override { allocator.destroy(this); }
  const HostAllocator allocator;
};

/// One execution at a time of the commands of a recording: a command begins
/// when those it depends on have ended, its pieces go to whoever is free.
class PlanJob final : public Job {
public:
  PlanJob(const HostAllocator &allocator, ThreadPool &pool)
      : pool(pool), successorBegins(allocator), successors(allocator), predecessorCounts(allocator),
        progress(allocator), ready(allocator) {}

  /// The edges are fixed from then on. A list with control is only run command by command.
  Status initialise(const hal::CommandList &list);
  /// Runs all commands and returns when they have ended.
  void run(const PlanState &state, void *callerScratch);
  /// Runs one command whatever the edges.
  void runOne(const PlanState &state, uint32_t command, void *callerScratch);

  void help(uint32_t worker) override;
  bool hasOpenWork() const override;

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// On a cache line of its own, since threads meet at it.
  struct alignas(64) Progress {
    std::atomic<uint64_t> next{0};     ///< first piece that nobody has taken
    std::atomic<uint64_t> finished{0}; ///< pieces that have ended
    std::atomic<uint32_t> pending{0};  ///< predecessors that have not ended
    uint64_t pieces = 0, chunk = 1;
    Progress() = default;
    Progress(Progress &&) {} // for Vector, which moves no live ones
  };
  struct ReadySlot {
    std::atomic<uint32_t> command{kNone};
    ReadySlot() = default;
    ReadySlot(ReadySlot &&) {}
  };

  void reset(uint32_t command, uint64_t threads);
  void makeReady(uint32_t command);
  bool step(void *scratch);
  void complete(uint32_t command);
  void finish(void *callerScratch);

  ThreadPool &pool;
  Vector<uint32_t> successorBegins, successors, predecessorCounts;
  Vector<Progress> progress;
  /// Every command enters once, when its predecessors have ended.
  Vector<ReadySlot> ready;
  std::atomic<uint32_t> readyCount{0};
  std::atomic<uint32_t> firstOpen{0}; ///< slots before it have no piece left
  std::atomic<uint32_t> commandsLeft{0};
  const PlanState *state = nullptr;
  bool followEdges = true;
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_PLAN_JOB_H
