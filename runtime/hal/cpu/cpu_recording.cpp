//===- cpu_recording.cpp - A plan as the processor replays it ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_recording.h"

#include "runtime/base/threads.h"

using namespace xc;
using namespace xc::cpu;
using hal::CommandKind;

// Below this a plan runs on the calling thread alone: waking another thread
// takes about as long.
static constexpr uint64_t kInlineNanoseconds = 20000;

/// One thread moves about 8 bytes and does about 8 operations a nanosecond;
/// a workgroup costs a few nanoseconds whatever it does.
static uint64_t estimate(const hal::Command &command, uint64_t pieces) {
  return command.bytes / 8 + command.flops / 8 + 4 * pieces;
}

Status CpuRecording::create(const HostAllocator &allocator, ThreadPool &pool,
                            const hal::CommandList &list, const hal::RecordingOptions &options,
                            Ref<hal::Recording> *out) {
  auto recording = Ref<CpuRecording>::adopt(allocator.create<CpuRecording>(allocator, pool));
  if (!recording)
    return outOfHostMemory(sizeof(CpuRecording));
  recording->current = Ref<PlanState>::adopt(allocator.create<PlanState>(allocator));
  if (!recording->current)
    return outOfHostMemory(sizeof(PlanState));
  PlanState &state = *recording->current;
  XCR_RETURN_IF_ERROR(recording->job.initialise(list));
  for (const hal::Range &region : list.regions)
    XCR_RETURN_IF_ERROR(recording->regions.push(region));
  if (recording->regions.empty())
    XCR_RETURN_IF_ERROR(recording->regions.push({0, static_cast<uint32_t>(list.commands.size)}));
  XCR_RETURN_IF_ERROR(state.commands.resize(list.commands.size));
  XCR_RETURN_IF_ERROR(state.addresses.resize(list.addresses.size));
  XCR_RETURN_IF_ERROR(state.scalars.resize(list.scalars.size));
  if (options.profile)
    XCR_RETURN_IF_ERROR(recording->profile.resize(list.commands.size));
  for (uint32_t i = 0; i < list.commands.size; ++i)
    XCR_RETURN_IF_ERROR(recording->apply(list, i, hal::kChangedAll));
  XCR_RETURN_IF_ERROR(recording->finishState());
  *out = std::move(recording);
  return Status();
}

Status CpuRecording::update(const hal::CommandList &list, Span<const hal::CommandChange> changes,
                            hal::UpdateCost *cost) {
  XCR_RETURN_IF_ERROR(makeStateWritable());
  for (const hal::CommandChange &change : changes)
    XCR_RETURN_IF_ERROR(apply(list, change.command, change.bits));
  cost->patches += changes.size;
  return finishState();
}

/// Launches in flight keep the state that they have.
Status CpuRecording::makeStateWritable() {
  if (current->isUnique())
    return Status();
  auto copy = Ref<PlanState>::adopt(allocator.create<PlanState>(allocator));
  if (!copy)
    return outOfHostMemory(sizeof(PlanState));
  XCR_RETURN_IF_ERROR(copy->commands.reserve(current->commands.size()));
  for (const PlanCommand &command : current->commands)
    XCR_RETURN_IF_ERROR(copy->commands.push(command));
  XCR_RETURN_IF_ERROR(copy->addresses.resize(current->addresses.size()));
  memcpy(copy->addresses.data(), current->addresses.data(),
         current->addresses.size() * sizeof(void *));
  XCR_RETURN_IF_ERROR(copy->scalars.resize(current->scalars.size()));
  memcpy(copy->scalars.data(), current->scalars.data(), current->scalars.size() * sizeof(int64_t));
  copy->scratch = current->scratch;
  current = std::move(copy);
  return Status();
}

Status CpuRecording::apply(const hal::CommandList &list, uint32_t ordinal, uint8_t bits) {
  const hal::Command &from = list.commands[ordinal];
  PlanCommand &to = current->commands[ordinal];
  to.kind = from.kind;
  to.isEmpty = from.isEmpty;
  to.isLoop = from.isLoop;
  memcpy(to.regions, from.regions, sizeof(to.regions));
  to.patternSize = from.patternSize;
  to.pattern = from.pattern;
  to.length = from.length;
  to.addresses = from.addresses.begin;
  to.scalars = from.scalars.begin;
  if (from.isEmpty)
    return Status();
  // What was left alone while the command was empty is brought up to date.
  if (bits & hal::kChangedEmpty)
    bits = hal::kChangedAll;
  if (bits & hal::kChangedAddresses)
    for (uint32_t i = 0; i < from.addresses.count; ++i)
      current->addresses[to.addresses + i] =
          reinterpret_cast<void *>(list.addresses[from.addresses.begin + i]);
  if ((bits & hal::kChangedScalars) && from.scalars.count)
    memcpy(&current->scalars[to.scalars], &list.scalars[from.scalars.begin],
           from.scalars.count * sizeof(int64_t));
  if (from.kind == CommandKind::Dispatch) {
    if (bits & hal::kChangedCode) {
      const Kernel &kernel =
          static_cast<const CpuExecutable *>(from.executable)->kernel(from.exportOrdinal);
      to.function = kernel.function;
      to.scratch = kernel.scratch;
      to.executable = Ref<hal::Executable>::share(from.executable);
    }
    to.pieces = 1;
    for (int i = 0; i < 3; ++i) {
      to.grid[i] = from.grid[i];
      if (__builtin_mul_overflow(to.pieces, from.grid[i], &to.pieces))
        return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                          "a grid of %u x %u x %u workgroups overflows 64 bits", from.grid[0],
                          from.grid[1], from.grid[2]);
    }
  } else {
    to.pieces = from.length / kBlockBytes + (from.length % kBlockBytes != 0);
  }
  to.nanoseconds = estimate(from, to.pieces);
  return Status();
}

Status CpuRecording::finishState() {
  current->nanoseconds = 0;
  current->scratchBytes = 0;
  for (const PlanCommand &command : current->commands) {
    if (command.isEmpty)
      continue;
    current->nanoseconds += command.nanoseconds;
    if (command.scratch > current->scratchBytes)
      current->scratchBytes = command.scratch;
  }
  if (current->scratchBytes == 0 || pool.workers() == 0)
    return Status();
  return pool.scratch(current->scratchBytes, &current->scratch);
}

/// One command, on the pool's threads too if that is worth it.
void CpuRecording::runCommand(PlanState &state, uint32_t ordinal, void *scratch) {
  const PlanCommand &command = state.commands[ordinal];
  if (command.kind == CommandKind::Control)
    runControl(state, command, scratch);
  else if (pool.workers() == 0 || command.nanoseconds < kInlineNanoseconds)
    state.run(command, 0, command.pieces, scratch);
  else
    job.runOne(state, ordinal, scratch);
}

void CpuRecording::runTimed(PlanState &state, uint32_t ordinal, void *scratch) {
  uint64_t begin = nowNanoseconds();
  runCommand(state, ordinal, scratch);
  profile[ordinal].add(begin - launchBegin, nowNanoseconds() - begin);
}

/// Edges point backwards, so the order of the plan respects them.
void CpuRecording::runRegion(PlanState &state, uint32_t region, void *scratch) {
  const hal::Range &range = regions[region];
  for (uint32_t i = range.begin; i < range.begin + range.count; ++i)
    if (profile.empty())
      runCommand(state, i, scratch);
    else
      runTimed(state, i, scratch);
}

void CpuRecording::runControl(PlanState &state, const PlanCommand &command, void *scratch) {
  const auto *condition = static_cast<const volatile uint8_t *>(state.addresses[command.addresses]);
  if (!command.isLoop) {
    runRegion(state, command.regions[*condition ? 0 : 1], scratch);
    return;
  }
  while (true) {
    runRegion(state, command.regions[0], scratch);
    if (!*condition)
      return;
    runRegion(state, command.regions[1], scratch);
  }
}

void CpuRecording::run(PlanState &state, void *scratch) {
  bool isOneByOne = regions.size() > 1 || !profile.empty();
  if (!isOneByOne && pool.workers() != 0 && state.nanoseconds >= kInlineNanoseconds) {
    job.run(state, scratch);
    return;
  }
  if (isOneByOne) {
    launchBegin = nowNanoseconds();
    runRegion(state, 0, scratch);
    return;
  }
  for (const PlanCommand &command : state.commands)
    state.run(command, 0, command.pieces, scratch);
}
