//===- cuda_lanes.cpp - Which stream a command of a plan goes to ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cuda/cuda_lanes.h"

using namespace xc;
using namespace xc::cuda;

namespace {

/// For each lane, how many of its commands have ended at some point.
struct Clock {
  uint32_t ended[kMaxLanes] = {};

  void merge(const Clock &other) {
    for (uint32_t i = 0; i < kMaxLanes; ++i)
      ended[i] = ended[i] < other.ended[i] ? other.ended[i] : ended[i];
  }
};

struct Lane {
  uint32_t last = 0; ///< the command
  Clock clock;       ///< once that has ended
};

} // namespace

struct LanePlan::Builder {
  Builder(LanePlan &plan, const HostAllocator &allocator) : plan(plan), clocks(allocator) {}

  uint32_t chooseLane(Span<const uint32_t> before) const;
  Status wait(uint32_t command, Clock &clock, Vector<uint32_t> &waits);
  Status add(uint32_t command, Span<const uint32_t> before);
  Status end();

  LanePlan &plan;
  Lane lanes[kMaxLanes];
  Vector<Clock> clocks; ///< of every command, once it has ended
};

/// The latest command before \p command, or null.
static const uint32_t *findLatest(Span<const uint32_t> before, uint32_t command) {
  const uint32_t *latest = nullptr;
  for (const uint32_t &earlier : before)
    if (earlier < command && (!latest || earlier > *latest))
      latest = &earlier;
  return latest;
}

/// The lane of the latest command that this one can follow directly, else a new lane, else the one
/// whose last command is the oldest.
uint32_t LanePlan::Builder::chooseLane(Span<const uint32_t> before) const {
  uint32_t best = kMaxLanes;
  for (uint32_t earlier : before) {
    uint32_t lane = plan.steps[earlier].lane;
    if (lanes[lane].last == earlier && (best == kMaxLanes || earlier > lanes[best].last))
      best = lane;
  }
  if (best < kMaxLanes)
    return best;
  if (plan.lanes < kMaxLanes)
    return plan.lanes;
  best = 0;
  for (uint32_t lane = 1; lane < kMaxLanes; ++lane)
    if (lanes[lane].last < lanes[best].last)
      best = lane;
  return best;
}

/// Waits for \p command unless what was waited for before covers it.
Status LanePlan::Builder::wait(uint32_t command, Clock &clock, Vector<uint32_t> &waits) {
  Step &step = plan.steps[command];
  if (clock.ended[step.lane] >= clocks[command].ended[step.lane])
    return Status();
  clock.merge(clocks[command]);
  step.isAwaited = true;
  return waits.push(command);
}

Status LanePlan::Builder::add(uint32_t command, Span<const uint32_t> before) {
  Step step;
  step.lane = chooseLane(before);
  bool isFirst = step.lane == plan.lanes;
  if (isFirst)
    ++plan.lanes;
  Lane &lane = lanes[step.lane];
  Clock clock = lane.clock;
  step.waits.begin = static_cast<uint32_t>(plan.waits.size());
  // The latest first: it may cover the others.
  for (uint32_t last = command; const uint32_t *latest = findLatest(before, last); last = *latest)
    XCR_RETURN_IF_ERROR(wait(*latest, clock, plan.waits));
  step.waits.count = static_cast<uint32_t>(plan.waits.size()) - step.waits.begin;
  step.waitsForStart = isFirst && step.lane != 0 && step.waits.count == 0;
  ++clock.ended[step.lane];
  lane.last = command;
  lane.clock = clock;
  XCR_RETURN_IF_ERROR(plan.steps.push(step));
  return clocks.push(clock);
}

Status LanePlan::Builder::end() {
  Clock clock = lanes[0].clock;
  for (uint32_t lane = 1; lane < plan.lanes; ++lane)
    XCR_RETURN_IF_ERROR(wait(lanes[lane].last, clock, plan.ends));
  return Status();
}

Status LanePlan::build(Span<const hal::Command> commands, Span<const uint32_t> edges) {
  XCR_RETURN_IF_ERROR(steps.reserve(commands.size));
  Builder builder(*this, allocator);
  XCR_RETURN_IF_ERROR(builder.clocks.reserve(commands.size));
  for (uint32_t i = 0; i < commands.size; ++i)
    XCR_RETURN_IF_ERROR(
        builder.add(i, {edges.data + commands[i].edges.begin, commands[i].edges.count}));
  return builder.end();
}
