//===- cuda_lanes.h - Which stream a command of a plan goes to ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_LANES_H
#define XC_RUNTIME_HAL_CUDA_CUDA_LANES_H

#include "runtime/hal/command_list.h"

namespace xc::cuda {

/// Streams that one launch is spread over, the caller's included.
inline constexpr uint32_t kMaxLanes = 4;

/// Spreads a plan's commands over lanes, each of which is a stream, and finds the fewest waits
/// between them that keep the plan's order. A command follows the one that it depends on where
/// nothing else has, so that a chain stays in one lane and needs no event; a branch opens a lane.
/// Depends on the edges alone, so it is made once for a recording.
class LanePlan {
public:
  struct Step {
    uint32_t lane = 0;
    /// Commands of other lanes that must have ended, in `waits`.
    hal::Range waits;
    /// The first of its lane, behind nothing but what the caller's stream had before.
    bool waitsForStart = false;
    /// A command of another lane, or the end, waits for it.
    bool isAwaited = false;
  };

  explicit LanePlan(const HostAllocator &allocator)
      : allocator(allocator), steps(allocator), waits(allocator), ends(allocator) {}

  Status build(Span<const hal::Command> commands, Span<const uint32_t> edges);

  /// As before build.
  void clear() { lanes = 0; }

  /// 0 before build.
  uint32_t laneCount() const { return lanes; }
  const Step &step(uint32_t command) const { return steps[command]; }
  Span<const uint32_t> waitsOf(const Step &step) const {
    return {waits.data() + step.waits.begin, step.waits.count};
  }
  /// What lane 0, the caller's stream, waits for behind its own commands.
  Span<const uint32_t> endWaits() const { return ends.span(); }

private:
  struct Builder;

  const HostAllocator allocator;
  uint32_t lanes = 0;
  Vector<Step> steps;
  Vector<uint32_t> waits, ends;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_LANES_H
