//===- BulkCopy.h - Copies that hardware does by itself ---------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cp.async.bulk is queued in its cluster when it is issued, and takes place
// later: one into shared memory when nobody can go on without it, one out of shared
// memory when its thread waits for it. That is the latest moment, so a missing wait
// shows. With a seed (Options::asyncSeed) some take place earlier, in any order.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_BULKCOPY_H
#define PTXSIM_LIB_BULKCOPY_H

#include "Machine.h"

#include "ptxsim/tensor_map.h"

namespace xc::ptxsim {

enum class Reduction : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Combines |value| with what is at |at|, as an atomic operation would. False if
/// there is no such reduction of the type.
bool reduceElement(Reduction reduction, Type type, uint8_t *at, const uint8_t *value);

struct BulkCopy {
  Block *issuer = nullptr;
  Warp *warp = nullptr;
  unsigned lane = 0;
  const Inst *inst = nullptr;
  const BulkOp *op = nullptr; // NULL: a cp.async.mbarrier.arrive
  EncodedTensorMap map;       // of tensor copies
  int32_t coordinates[5] = {};
  uint16_t offsets[3] = {};     // of im2col copies
  uint64_t global = 0;          // of others
  uint32_t bytes = 0;           // that the copy moves
  uint32_t shared = 0;          // offset in shared memory
  uint32_t extent = 0;          // bytes there, gaps between rows included
  uint32_t source = 0;          // of copies within a cluster: offset in the issuer's
  std::vector<Block *> targets; // whose shared memory is written
  uint32_t mbarrier = 0;        // offset in that of each target
  uint32_t group = 0;           // of the thread's bulk groups
  uint64_t after = 0;           // cp.async.mbarrier.arrive: that many of the thread's cp.async
  bool sourceRead = false;
  std::vector<uint8_t> data; // what was read
  Observer observer;         // what the thread knew

  bool toShared() const { return !op || op->kind != BulkOp::ToGlobal; }
  Actor actor() const { return {*warp, lane, *inst}; }
};

/// Queues |copy|; false after a fault.
bool issueCopy(std::unique_ptr<BulkCopy> copy);
/// Carries out the oldest copy into shared memory (or one at random), or one that
/// random says; false if there is none or after a fault.
bool advanceCopies(Cluster &cluster);
/// With a seed: perhaps carries out some copy.
bool maybeAdvanceCopies(Cluster &cluster);
/// Carries out a cp.async.mbarrier.arrive (ExecAsyncCopy.cpp).
bool deliverArrival(BulkCopy &copy);
/// The thread waits for its bulk groups but the |keep| latest; |readOnly|: only for
/// their sources to be read.
void waitForGroups(Warp &warp, unsigned lane, uint32_t keep, bool readOnly);
/// At a block's end nothing may be under way; false after a fault.
bool finishCopies(Block &block);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_BULKCOPY_H
