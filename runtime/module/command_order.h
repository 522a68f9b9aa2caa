//===- command_order.h - The commands that sizes have chosen -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_COMMAND_ORDER_H
#define XC_RUNTIME_MODULE_COMMAND_ORDER_H

#include "runtime/hal/command_list.h"
#include "runtime/module/tables.h"

namespace xc {

/// Lists the commands of a plan with those of chosen regions in the place of choices, which no
/// driver gets to see. Without choices the list is the plan's.
class CommandOrder {
public:
  explicit CommandOrder(const HostAllocator &allocator);

  /// \p chosen: of each choice of \p plan, 0 for its first region and 1 for its second.
  Status build(const fb::Plan &plan, Span<const uint8_t> chosen);

  /// The number of commands in the list.
  uint32_t size() const { return static_cast<uint32_t>(commands.size()); }
  /// Ordinal in the plan of a command of the list.
  uint32_t planOrdinal(uint32_t command) const { return commands[command]; }
  /// Edges of a command of the list.
  hal::Range edgesOf(uint32_t command) const { return commandEdges[command]; }
  /// The list's number of a region that an if or a while names.
  uint32_t regionOf(uint32_t planRegion) const { return regionNumbers[planRegion]; }
  Span<const hal::Range> regions() const { return ranges.span(); }
  Span<const uint32_t> edges() const { return edgeList.span(); }

private:
  static constexpr uint32_t kNoRegion = UINT32_MAX;

  Status appendRegion(uint32_t region, hal::Range waits);
  Status appendCommand(uint32_t command, hal::Range edges);
  Status translateEdges(uint32_t first, uint32_t command, hal::Range waits, hal::Range *out);
  Status addEnd(uint32_t position);
  Status tooMany(size_t edges) const;
  Status addEdge(uint32_t position);
  Status collectEnds(uint32_t region, hal::Range waits);

  const fb::Plan *plan = nullptr;
  Span<const uint8_t> chosen = {nullptr, 0};
  Vector<uint32_t> commands; ///< ordinals in the plan
  Vector<hal::Range> commandEdges;
  Vector<uint32_t> edgeList;
  Vector<hal::Range> ranges;      ///< of the list's regions
  Vector<uint32_t> regionNumbers; ///< of the plan's regions
  uint32_t regionBegin = 0;       ///< of the region that is being listed
  /// Of a command of the plan: the positions, within the list's region, of what has to end before
  /// it has. Of a choice that is what ends the chosen region.
  Vector<hal::Range> ends;
  Vector<uint32_t> endList;
  Vector<uint8_t> isAwaited;  ///< by another command of its region in the plan
  Vector<uint32_t> lastWaits; ///< of a command of the list: who was given an edge to it last
  uint32_t waiting = 0;
  uint64_t mostEdges = 0; ///< also of ends
  uint64_t seenEdges = 0; ///< those that were there already, too
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_COMMAND_ORDER_H
