//===- command_order.cpp - The commands that sizes have chosen -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a choice waits for, the commands of its region wait for that wait for nothing in it; what
// waits for a choice waits for the commands of its region that nothing in it waits for, or, where
// the region is empty, for what the choice would have waited for.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/command_order.h"

#include "runtime/base/checked.h"
#include "schemas/module_limits.h"

using namespace xc;

CommandOrder::CommandOrder(const HostAllocator &allocator)
    : commands(allocator), commandEdges(allocator), edgeList(allocator), ranges(allocator),
      regionNumbers(allocator), ends(allocator), endList(allocator), isAwaited(allocator),
      lastWaits(allocator) {}

/// Empties \p vector and gives it \p size elements with the value 0.
template <typename T> static Status reset(Vector<T> &vector, size_t size) {
  vector.clear();
  return vector.resize(size);
}

Status CommandOrder::build(const fb::Plan &table, Span<const uint8_t> choices) {
  plan = &table;
  chosen = choices;
  commands.clear();
  commandEdges.clear();
  edgeList.clear();
  ranges.clear();
  endList.clear();
  waiting = 0;
  seenEdges = 0;
  CheckedCount most(count(plan->commands()));
  most += count(plan->edges());
  // What waits for a choice waits for each command that ends its region.
  most *= ModuleLimits::kEdgesPerPart;
  most += ModuleLimits::kLeastEdges;
  mostEdges = most.get();
  uint32_t total = count(plan->commands()), regionCount = count(plan->regions());
  XCR_RETURN_IF_ERROR(reset(ends, total));
  XCR_RETURN_IF_ERROR(reset(isAwaited, total));
  XCR_RETURN_IF_ERROR(reset(lastWaits, total));
  XCR_RETURN_IF_ERROR(reset(regionNumbers, regionCount));
  for (uint32_t &number : regionNumbers)
    number = kNoRegion;
  regionNumbers[0] = 0;
  // A region comes behind the one that names it, so what runs is known when it is its turn.
  for (uint32_t r = 0; r < regionCount; ++r) {
    if (regionNumbers[r] == kNoRegion)
      continue;
    regionBegin = size();
    regionNumbers[r] = static_cast<uint32_t>(ranges.size());
    XCR_RETURN_IF_ERROR(appendRegion(r, {}));
    XCR_RETURN_IF_ERROR(ranges.push({regionBegin, size() - regionBegin}));
  }
  return Status();
}

/// Lists the commands of a region; those that wait for none of it get the edges \p waits.
Status CommandOrder::appendRegion(uint32_t region, hal::Range waits) {
  const fb::Range &range = plan->regions()->Get(region)->commands();
  for (uint32_t i = 0; i < range.count(); ++i) {
    uint32_t command = range.begin() + i;
    hal::Range edges;
    XCR_RETURN_IF_ERROR(translateEdges(range.begin(), command, waits, &edges));
    XCR_RETURN_IF_ERROR(appendCommand(command, edges));
  }
  return Status();
}

/// The edges of a command of the plan as those of one of the list.
Status CommandOrder::translateEdges(uint32_t first, uint32_t command, hal::Range waits,
                                    hal::Range *out) {
  const fb::Range &range = plan->commands()->Get(command)->edges();
  out->begin = static_cast<uint32_t>(edgeList.size());
  ++waiting;
  for (uint32_t e = 0; e < range.count(); ++e) {
    uint32_t before = first + plan->edges()->Get(range.begin() + e);
    isAwaited[before] = 1;
    for (uint32_t i = 0; i < ends[before].count; ++i)
      XCR_RETURN_IF_ERROR(addEdge(endList[ends[before].begin + i]));
  }
  if (range.count() == 0)
    for (uint32_t i = 0; i < waits.count; ++i)
      XCR_RETURN_IF_ERROR(addEdge(edgeList[waits.begin + i]));
  out->count = static_cast<uint32_t>(edgeList.size()) - out->begin;
  return Status();
}

Status CommandOrder::tooMany(size_t edges) const {
  return makeStatus(HostAllocator(), XCR_STATUS_UNSUPPORTED,
                    "the commands that sizes choose wait for each other more than %zu times",
                    edges);
}

/// Adds what ends a command.
Status CommandOrder::addEnd(uint32_t position) {
  return endList.size() < mostEdges ? endList.push(position) : tooMany(endList.size());
}

/// Adds an edge to the list's region at \p position, if there is none yet. Those that are there
/// count as well: a plan may name a choice again and again.
Status CommandOrder::addEdge(uint32_t position) {
  if (seenEdges == mostEdges)
    return tooMany(seenEdges);
  ++seenEdges;
  uint32_t &last = lastWaits[regionBegin + position];
  if (last == waiting)
    return Status();
  last = waiting;
  return edgeList.push(position);
}

Status CommandOrder::appendCommand(uint32_t command, hal::Range edges) {
  const fb::Command &from = *plan->commands()->Get(command);
  if (from.kind() == fb::CommandKind::Choice) {
    const fb::Choice &choice = *plan->choices()->Get(from.ordinal());
    uint32_t region =
        plan->region_ordinals()->Get(choice.regions().begin() + chosen[from.ordinal()]);
    XCR_RETURN_IF_ERROR(appendRegion(region, edges));
    hal::Range &end = ends[command];
    end.begin = static_cast<uint32_t>(endList.size());
    XCR_RETURN_IF_ERROR(collectEnds(region, edges));
    end.count = static_cast<uint32_t>(endList.size()) - end.begin;
    return Status();
  }
  if (from.kind() == fb::CommandKind::Control) {
    const fb::Range &nested = plan->controls()->Get(from.ordinal())->regions();
    for (uint32_t i = 0; i < nested.count(); ++i)
      regionNumbers[plan->region_ordinals()->Get(nested.begin() + i)] = 0; // set on its turn
  }
  ends[command] = {static_cast<uint32_t>(endList.size()), 1};
  XCR_RETURN_IF_ERROR(addEnd(size() - regionBegin));
  XCR_RETURN_IF_ERROR(commands.push(command));
  return commandEdges.push(edges);
}

/// Adds what has to end before a region that has been listed has.
Status CommandOrder::collectEnds(uint32_t region, hal::Range waits) {
  const fb::Range &range = plan->regions()->Get(region)->commands();
  for (uint32_t i = range.begin(); i < range.begin() + range.count(); ++i)
    if (!isAwaited[i])
      for (uint32_t e = 0; e < ends[i].count; ++e)
        XCR_RETURN_IF_ERROR(addEnd(endList[ends[i].begin + e]));
  if (range.count() == 0)
    for (uint32_t i = 0; i < waits.count; ++i)
      XCR_RETURN_IF_ERROR(addEnd(edgeList[waits.begin + i]));
  return Status();
}
