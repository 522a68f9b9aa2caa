//===- Access.h - From addresses to memory, with checks ---------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every memory instruction goes through resolveAccess(): it computes the lanes'
// addresses, applies the checks that are on, counts sectors and bank conflicts,
// and returns host pointers. Stores call noteStore() per lane before they
// write, because whether two stores race depends on their values (see README,
// "Races").
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_ACCESS_H
#define PTXSIM_LIB_ACCESS_H

#include "Exec.h"

namespace xc::ptxsim {

enum class AccessKind : uint8_t { Load, Store, Atomic };

struct Access {
  Space space = Space::Generic;
  unsigned bytes = 4; // per lane
  AccessKind kind = AccessKind::Load;
  uint32_t strong = 0;   // as Segment::strong
  bool readOnly = false; // through a cache that does not see what this kernel writes
};

struct LaneAccess {
  uint8_t *host[kWarpSize];
  uint64_t address[kWarpSize]; // as the program sees it
  Space space[kWarpSize];      // Global, Shared, Local or Param
  Range *range[kWarpSize];     // of global lanes; NULL over the seam of two
  Block *owner[kWarpSize];     // of shared lanes: whose memory it is
};

/// The address of each lane of |mask|.
void laneAddresses(const Warp &warp, uint32_t row, bool wide, int64_t offset,
                   uint64_t (&out)[kWarpSize]);

/// The block whose shared memory |address| names, and the place there. NULL after a
/// fault: it is no shared address, or names a block that is not there.
Block *sharedOwner(Warp &warp, const Inst &inst, unsigned lane, Space space, uint64_t address,
                   uint32_t &offset);

/// Whether the threads of another block of the cluster are known to have started: its shared memory
/// is there from then on. And what to say if not.
bool hasStarted(const Block &other);
extern const char *const kNotStarted;

/// False if a check failed; the fault has been raised then, and the instruction
/// must not be executed.
bool resolveAccess(Warp &warp, const Inst &inst, uint32_t mask, const Access &access,
                   LaneAccess &lanes);

/// Keeps the other host threads from a line of global memory while races are checked,
/// from the look at what a store replaces to the store itself.
class LineLock {
public:
  explicit LineLock(const Block &block) : memory(block.clocks ? block.launch->memory : nullptr) {}
  ~LineLock() { release(); }
  LineLock(const LineLock &) = delete;
  LineLock &operator=(const LineLock &) = delete;
  /// Takes the line that |lane| accesses, and gives back the one held before. (Aligned
  /// accesses lie in one line.)
  void take(const LaneAccess &lanes, unsigned lane) {
    if (!memory || lanes.space[lane] != Space::Global)
      return;
    std::mutex *wanted = &memory->lineMutex(lanes.address[lane]);
    if (wanted == held)
      return;
    release();
    wanted->lock();
    held = wanted;
  }

private:
  void release() {
    if (held)
      held->unlock();
    held = nullptr;
  }
  MemoryImpl *memory;
  std::mutex *held = nullptr;
};

/// The lanes of |rest| that access what |lane|, the first of them, does, as it does. Found
/// where neighbours do: the rest is merely noted lane by lane.
uint32_t lanesAlike(const Warp &warp, const LaneAccess &lanes, unsigned lane, uint32_t rest);

/// Records the store of |bytes| bytes at |value| by the lanes of |alike|, |lane| the first
/// of them: race check, then marks the bytes initialised. False after a fault. The caller
/// holds the line's lock.
bool noteStore(Warp &warp, const Inst &inst, const Access &access, const LaneAccess &lanes,
               unsigned lane, uint32_t alike, const void *value);
/// The same for an atomic read-modify-write.
bool noteAtomic(Warp &warp, const Inst &inst, const Access &access, const LaneAccess &lanes,
                unsigned lane);

/// Release and acquire around strong operations; no-ops if races are not
/// checked.
void releaseAt(Warp &warp, const LaneAccess &lanes, unsigned lane, Order order, MemScope scope);
void acquireAt(Warp &warp, const LaneAccess &lanes, unsigned lane, Order order, MemScope scope);

/// "write by thread (3,0,0)": who a conflict is with. |withBlock|: of which block, too.
std::string describeConflict(const Block &block, const Conflict &conflict, bool withBlock);

/// Delivers |copy| of |thread| to shared memory (the thread waited for it).
/// False after a fault.
bool deliverAsyncCopy(Warp &warp, unsigned lane, const AsyncCopy &copy);
/// Checks the destination of a cp.async as it is issued, and marks it pending.
bool beginAsyncCopy(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset, unsigned bytes);

/// Whether an asynchronous operation that has not been waited for reads bytes of
/// |owner|'s shared memory: a product of wgmma, or a bulk copy (BulkCopy.cpp).
bool isAsyncSource(const Block &owner, uint32_t offset, uint32_t bytes, std::string &reader);
/// Whether the products that have read these bytes happened before the lane's write.
bool checkProductReads(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                       uint32_t bytes);

inline uint32_t strengthOf(Order order, MemScope scope) {
  return order == Order::Weak ? 0 : 1u + reachOf(scope);
}

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_ACCESS_H
