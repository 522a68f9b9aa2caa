//===- AccessFaults.cpp - What is said of an access that a check refuses --===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessChecks.h"

using namespace xc::ptxsim;

static const char *accessName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "load";
  case AccessKind::Store:
    return "store";
  case AccessKind::Atomic:
    return "atomic operation";
  }
  return "access";
}

std::string xc::ptxsim::describe(const Access &access, Space space) {
  return std::string(accessName(access.kind)) + " of " + std::to_string(access.bytes) + " bytes " +
         (access.kind == AccessKind::Load ? "from " : "to ") + spaceName(space) + " memory";
}

bool xc::ptxsim::raiseGlobal(Warp &warp, const Inst &inst, const Access &access, unsigned lane,
                             uint64_t address) {
  Block &block = *warp.block;
  MemoryImpl &memory = *block.launch->memory;
  std::string what = describe(access, Space::Global) + " at " + hex(address);
  RangeInfo info = memory.describe(address);
  if (info.found && !info.live) {
    block.raise(FaultKind::UseAfterFree, warp, lane, inst, address,
                what + ": offset " + std::to_string(address - info.base) + " of " + info.tag +
                    " (" + std::to_string(info.size) + " bytes), which has been freed");
    return false;
  }
  if (info.found) {
    block.raise(FaultKind::OutOfBounds, warp, lane, inst, address,
                what + ": ends " + std::to_string(address + access.bytes - info.base - info.size) +
                    " bytes beyond " + info.tag + " (" + hex(info.base) + ", " +
                    std::to_string(info.size) + " bytes)");
    return false;
  }
  // Name the nearest allocation below: most such accesses run off an end.
  uint64_t reach = 1ull << 20;
  std::string where = ": no allocation there";
  if (memory.isReserved(address))
    where = ": the address range is reserved, but not mapped";
  else if (Range *below = memory.findBelow(address);
           below && address - below->base - below->size < reach)
    where = ": " + std::to_string(address - below->base - below->size) +
            " bytes beyond the end of " + below->tag + " (" + hex(below->base) + ", " +
            std::to_string(below->size) + " bytes)";
  block.raise(FaultKind::OutOfBounds, warp, lane, inst, address, what + where);
  return false;
}

bool xc::ptxsim::raiseWindow(Warp &warp, const Inst &inst, const Access &access, unsigned lane,
                             uint64_t address, Space space, uint64_t limit) {
  warp.block->raise(FaultKind::OutOfBounds, warp, lane, inst, address,
                    describe(access, space) + " at " + hex(address) + ": the " + spaceName(space) +
                        " memory has " + std::to_string(limit) + " bytes");
  return false;
}

bool xc::ptxsim::raiseUninitialised(Warp &warp, const Inst &inst, const Access &access,
                                    unsigned lane, uint64_t address, Space space, uint64_t offset,
                                    const std::string &tag) {
  warp.block->raise(FaultKind::UninitialisedRead, warp, lane, inst, address,
                    describe(access, space) + " at " + hex(address) + ": byte at offset " +
                        std::to_string(offset) + " of " + tag + " was never written");
  return false;
}

bool xc::ptxsim::raiseRace(Warp &warp, const Inst &inst, const Access &access, unsigned lane,
                           uint64_t address, Space space, const Conflict &conflict) {
  warp.block->raise(FaultKind::Race, warp, lane, inst, address,
                    describe(access, space) + " at " + hex(address) + " races with the " +
                        describeConflict(*warp.block, conflict, space == Space::Global) +
                        ": nothing orders them");
  return false;
}

std::string xc::ptxsim::describeConflict(const Block &block, const Conflict &conflict,
                                         bool withBlock) {
  const Segment &other = conflict.segment;
  bool isCopy = other.warp == Segment::kCopies;
  std::string who = other.strong ? "strong " : "";
  who += conflict.isRead ? "read by " : "write by ";
  std::string task = block.launch->memory->tasks->nameOf({other.chain, other.seq});
  if (other.block == Segment::kWholeTask)
    return who + "'" + task + "', which is not ordered before this kernel";
  uint32_t thread = other.warp * 32u + conflict.lane;
  if (!other.isOf(block.launch->task.id))
    return who + (isCopy ? "an asynchronous copy" : "thread number " + std::to_string(thread)) +
           " of block number " + std::to_string(other.block) + " of '" + task +
           "', which is not ordered before this kernel";
  who += isCopy ? "an asynchronous copy" : describeThread(block, thread);
  if (!withBlock && other.block == block.linearId)
    return who;
  const Dim3 &grid = block.launch->config.grid;
  return who + " of block (" + std::to_string(other.block % grid.x) + "," +
         std::to_string(other.block / grid.x % grid.y) + "," +
         std::to_string(other.block / grid.x / grid.y) + ")";
}
