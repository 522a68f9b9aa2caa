//===- cpu_recording.h - A plan as the processor replays it --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_RECORDING_H
#define XC_RUNTIME_HAL_CPU_CPU_RECORDING_H

#include "runtime/hal/cpu/cpu_executable.h"
#include "runtime/hal/cpu/plan_job.h"
#include "runtime/hal/recording.h"

namespace xc::cpu {

/// The list's values are copied into a state that launches share. An update
/// while a launch is in flight makes a new state and leaves the old one to it.
class CpuRecording final : public hal::Recording {
public:
  static Status create(const HostAllocator &allocator, ThreadPool &pool,
                       const hal::CommandList &list, const hal::RecordingOptions &options,
                       Ref<hal::Recording> *out);

  Status update(const hal::CommandList &list, Span<const hal::CommandChange> changes,
                hal::UpdateCost *cost) override;
  bool hasHostLoop() const override { return regions.size() > 1; }
  hal::CommandTimes times(uint32_t command) const override {
    return profile.empty() ? hal::CommandTimes() : profile[command];
  }

  /// What a launch now would run.
  Ref<PlanState> state() const { return current; }
  /// Runs the plan on this thread and, if it is worth it, on the pool's.
  void run(PlanState &state, void *scratch);

private:
  friend class xc::HostAllocator;
  CpuRecording(const HostAllocator &allocator, ThreadPool &pool)
      : allocator(allocator), pool(pool), job(allocator, pool), regions(allocator),
        profile(allocator) {}
  void destroy() override { allocator.destroy(this); }
  Status makeStateWritable();
  Status apply(const hal::CommandList &list, uint32_t command, uint8_t bits);
  Status finishState();
  void runCommand(PlanState &state, uint32_t ordinal, void *scratch);
  void runTimed(PlanState &state, uint32_t ordinal, void *scratch);
  void runRegion(PlanState &state, uint32_t region, void *scratch);
  void runControl(PlanState &state, const PlanCommand &command, void *scratch);

  const HostAllocator allocator;
  ThreadPool &pool;
  PlanJob job;
  Ref<PlanState> current;
  Vector<hal::Range> regions;
  Vector<hal::CommandTimes> profile;
  uint64_t launchBegin = 0; ///< of the launch that is profiled
};

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_RECORDING_H
