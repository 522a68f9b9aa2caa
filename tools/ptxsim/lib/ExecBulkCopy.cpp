//===- ExecBulkCopy.cpp - cp.async.bulk and its kin -----------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands only: BulkCopy.cpp carries the copies out.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "BulkCopy.h"

#include <cstring>

using namespace xc::ptxsim;

namespace {

uint64_t laneAddress(const Warp &warp, uint32_t row, bool wide, int64_t offset, unsigned lane) {
  if (row == kNoRow)
    return static_cast<uint64_t>(offset);
  if (wide)
    return warp.row<uint64_t>(row)[lane] + static_cast<uint64_t>(offset);
  return warp.row<uint32_t>(row)[lane] + static_cast<uint32_t>(offset);
}

/// The tensor map at a generic address: in the parameters, or in global memory.
bool readMap(BulkCopy &copy) {
  Block &block = *copy.issuer;
  auto raise = [&](FaultKind kind, const std::string &message) {
    block.raise(kind, *copy.warp, copy.lane, *copy.inst, copy.global, message);
    return false;
  };
  bool isParam = copy.op->mapSpace == Space::Param || spaceOfGeneric(copy.global) == Space::Param;
  if (copy.global % 64)
    return raise(FaultKind::Misaligned,
                 "tensor map at " + hex(copy.global) + ": expected a multiple of 64");
  if (isParam) {
    uint64_t offset = copy.global & ~kWindowMask;
    const std::vector<uint8_t> &params = block.launch->params;
    if (offset > params.size() || params.size() - offset < sizeof(copy.map))
      return raise(FaultKind::OutOfBounds, "tensor map at " + hex(offset) + ": the kernel has " +
                                               std::to_string(params.size()) +
                                               " bytes of parameters");
    std::memcpy(&copy.map, params.data() + offset, sizeof(copy.map));
    return true;
  }
  if (spaceOfGeneric(copy.global) != Space::Global)
    return raise(FaultKind::IllegalInstruction,
                 "tensor map at " + hex(copy.global) +
                     ": expected it in the parameters or in global memory");
  if (!block.launch->memory->covers(copy.global, sizeof(copy.map)))
    return raise(FaultKind::OutOfBounds,
                 "tensor map at " + hex(copy.global) + ": no allocation there");
  std::memcpy(&copy.map, reinterpret_cast<const void *>(copy.global), sizeof(copy.map));
  return true;
}

/// The blocks that a copy into shared memory writes to.
bool findTargets(BulkCopy &copy, const BulkOp &op) {
  Warp &warp = *copy.warp;
  unsigned l = copy.lane;
  Block &block = *copy.issuer;
  uint32_t offset = 0;
  Block *owner =
      sharedOwner(warp, *copy.inst, l, op.sharedSpace,
                  laneAddress(warp, op.shared, op.sharedWide, op.sharedOffset, l), offset);
  if (!owner)
    return false;
  copy.shared = offset;
  uint32_t mbarrier = 0;
  Block *signalled =
      sharedOwner(warp, *copy.inst, l, op.mbarrierSpace,
                  laneAddress(warp, op.mbarrier, op.mbarrierWide, op.mbarrierOffset, l), mbarrier);
  if (!signalled)
    return false;
  copy.mbarrier = mbarrier;
  if (op.multicast == kNoRow) {
    copy.targets = {owner};
    if (signalled == owner)
      return true;
    block.raise(FaultKind::IllegalInstruction, warp, l, *copy.inst, mbarrier,
                "the destination and the mbarrier are in different blocks of the cluster");
    return false;
  }
  uint16_t wanted = warp.row<uint16_t>(op.multicast)[l];
  for (unsigned rank = 0; rank < 16; ++rank) {
    if (!(wanted >> rank & 1))
      continue;
    if (rank >= block.cluster->blocks.size()) {
      block.raise(FaultKind::IllegalInstruction, warp, l, *copy.inst, 0,
                  "the multicast mask " + hex(wanted) + " names block " + std::to_string(rank) +
                      " of a cluster of " + std::to_string(block.cluster->blocks.size()));
      return false;
    }
    Block *target = block.cluster->blocks[rank].get();
    if (target != &block && !hasStarted(*target)) {
      block.raise(FaultKind::Race, warp, l, *copy.inst, 0,
                  "the multicast mask " + hex(wanted) + " names block " + std::to_string(rank) +
                      kNotStarted);
      return false;
    }
    copy.targets.push_back(target);
  }
  return true;
}

void execBulk(Warp &warp, const Inst &inst, uint32_t mask) {
  const BulkOp &op = warp.program->bulkOps[inst.aux];
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    auto l = static_cast<unsigned>(__builtin_ctz(rest));
    auto copy = std::make_unique<BulkCopy>();
    copy->issuer = warp.block;
    copy->warp = &warp;
    copy->lane = l;
    copy->inst = &inst;
    copy->op = &op;
    uint32_t offset = 0;
    if (op.kind == BulkOp::ToCluster) {
      uint64_t from = laneAddress(warp, op.global, op.globalWide, op.globalOffset, l);
      if (!sharedOwner(warp, inst, l, Space::Shared, from, offset))
        return;
      copy->source = offset;
    } else {
      copy->global = laneAddress(warp, op.global, op.globalWide, op.globalOffset, l);
    }
    if (op.kind == BulkOp::ToGlobal) {
      uint64_t from = laneAddress(warp, op.shared, op.sharedWide, op.sharedOffset, l);
      if (!sharedOwner(warp, inst, l, op.sharedSpace, from, offset))
        return;
      copy->shared = offset;
    } else if (!findTargets(*copy, op)) {
      return;
    }
    if (op.tensor) {
      if (!readMap(*copy))
        return;
      for (unsigned i = 0; i < op.rank; ++i)
        copy->coordinates[i] = warp.row<int32_t>(op.coordinates[i])[l];
      for (unsigned i = 0; op.im2col && i + 2 < op.rank; ++i)
        copy->offsets[i] = warp.row<uint16_t>(op.offsets[i])[l];
    } else {
      copy->bytes = warp.row<uint32_t>(op.bytes)[l];
    }
    if (!issueCopy(std::move(copy)))
      return;
  }
}

void execCommit(Warp &warp, const Inst &, uint32_t mask) {
  Block &block = *warp.block;
  if (block.async.empty())
    block.async.resize(block.threads);
  forLanes(mask, [&](unsigned l) { ++block.async[warp.threadOf(l)].bulkGroup; });
}

void execWait(Warp &warp, const Inst &inst, uint32_t mask) {
  if (warp.block->cluster->copies.empty())
    return;
  for (uint32_t rest = mask; rest && !warp.block->faulted; rest &= rest - 1)
    waitForGroups(warp, static_cast<unsigned>(__builtin_ctz(rest)), static_cast<uint32_t>(inst.imm),
                  inst.aux != 0);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// [map, {coordinates}]: an address whose second child is the list.
bool takeTensor(InstDecoder &d, const Operand *operand, BulkOp &op) {
  if (!operand || operand->kind != Operand::Address || operand->children.size() != 2 ||
      operand->children[1].children.size() != op.rank)
    return d.fail("expected [tensor map, {" + std::to_string(op.rank) + " coordinates}]");
  AddressRef map = d.address(operand, Space::Generic);
  op.global = map.row;
  op.globalOffset = map.offset;
  op.globalWide = map.wide;
  for (unsigned i = 0; i < op.rank; ++i)
    op.coordinates[i] = d.src(&operand->children[1].children[i], Type::S32);
  return !d.failed();
}

bool takeShared(InstDecoder &d, unsigned index, Space space, BulkOp &op) {
  AddressRef address = d.address(index, space);
  op.sharedSpace = space;
  op.shared = address.row;
  op.sharedOffset = address.offset;
  op.sharedWide = address.wide;
  return !d.failed();
}

bool takeGlobal(InstDecoder &d, unsigned index, Space space, BulkOp &op) {
  if (op.tensor)
    return takeTensor(d, d.operand(index), op);
  AddressRef address = d.address(index, space);
  op.global = address.row;
  op.globalOffset = address.offset;
  op.globalWide = address.wide;
  return !d.failed();
}

bool takeReduction(InstDecoder &d, BulkOp &op) {
  static const char *const kNames[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (unsigned i = 0; i < 8; ++i)
    if (d.flag(kNames[i])) {
      op.reduction = static_cast<uint8_t>(i);
      return true;
    }
  return d.fail("expected .add, .min, .max, .inc, .dec, .and, .or or .xor");
}

bool takeRank(InstDecoder &d, BulkOp &op) {
  op.tensor = true;
  for (unsigned rank = 1; rank <= 5; ++rank)
    if (d.flag(std::to_string(rank) + "d"))
      op.rank = rank;
  if (op.rank == 0)
    return d.fail("expected .1d to .5d");
  return true;
}

/// .tile, which is what there is without it, or .im2col; others are of later architectures.
bool takeLoadMode(InstDecoder &d, BulkOp &op) {
  op.im2col = d.flag("im2col");
  if (!op.im2col && !d.flag("tile") && d.peekModifier().substr(0, 6) == "im2col")
    return d.fail("unsupported load mode ." + std::string(d.peekModifier()));
  if (op.im2col && (op.kind != BulkOp::ToShared || op.rank < 3))
    return d.fail("expected .im2col of a copy to shared memory of rank 3 to 5");
  return true;
}

/// {offsets}, one for each spatial dimension.
bool takeOffsets(InstDecoder &d, const Operand *operand, BulkOp &op) {
  if (!operand || operand->children.size() + 2 != op.rank)
    return d.fail("expected {" + std::to_string(op.rank - 2) + " im2col offsets}");
  for (unsigned i = 0; i + 2 < op.rank; ++i)
    op.offsets[i] = d.src(&operand->children[i], Type::B16);
  return !d.failed();
}

/// dst.src, in the order written.
bool takeDirection(InstDecoder &d, BulkOp &op) {
  std::string_view to = d.nextModifier(), from = d.nextModifier();
  auto isShared = [](std::string_view name) {
    return name == "shared::cta" || name == "shared::cluster" || name == "shared";
  };
  if (isShared(to) && from == "global")
    op.kind = BulkOp::ToShared;
  else if (to == "global" && isShared(from) && from != "shared::cluster")
    op.kind = BulkOp::ToGlobal;
  else if (to == "shared::cluster" && from == "shared::cta" && !op.tensor)
    op.kind = BulkOp::ToCluster;
  else
    return d.fail("unsupported direction: to ." + std::string(to) + " from ." + std::string(from));
  op.sharedSpace = to == "shared::cluster" ? Space::SharedCluster : Space::Shared;
  return true;
}

bool takeCompletion(InstDecoder &d, const BulkOp &op) {
  const char *expected =
      op.kind == BulkOp::ToGlobal ? "bulk_group" : "mbarrier::complete_tx::bytes";
  return d.flag(expected) || d.fail(std::string("expected .") + expected);
}

/// The operands after modifiers: destination, source, [bytes], [mbarrier], [mask], [policy].
bool takeOperands(InstDecoder &d, BulkOp &op, bool hasPolicy, bool multicast) {
  bool toGlobal = op.kind == BulkOp::ToGlobal;
  unsigned count = 2 + !op.tensor + !toGlobal + op.im2col + multicast + hasPolicy;
  if (!d.expectOperands(count))
    return false;
  if (toGlobal) {
    if (!takeGlobal(d, 0, Space::Global, op) || !takeShared(d, 1, Space::Shared, op))
      return false;
  } else if (!takeShared(d, 0, op.sharedSpace, op) ||
             !takeGlobal(d, 1, op.kind == BulkOp::ToCluster ? Space::Shared : Space::Global, op)) {
    return false;
  }
  unsigned next = 2;
  if (!op.tensor)
    op.bytes = d.src(next++, Type::U32);
  if (!toGlobal) {
    op.mbarrierSpace = Space::SharedCluster;
    AddressRef mbarrier = d.address(next++, op.mbarrierSpace);
    op.mbarrier = mbarrier.row;
    op.mbarrierOffset = mbarrier.offset;
    op.mbarrierWide = mbarrier.wide;
  }
  if (op.im2col && !takeOffsets(d, d.operand(next++), op))
    return false;
  if (multicast)
    op.multicast = d.src(next++, Type::B16);
  if (hasPolicy)
    d.src(next, Type::B64);
  return !d.failed();
}

bool decodePrefetch(InstDecoder &d, BulkOp &op, bool tensor) {
  // Nothing is cached: the operands must be right, nothing is done with them.
  if (tensor && !takeRank(d, op))
    return false;
  bool policy = false;
  if (!d.flag("L2") || !d.flag("global"))
    return d.fail("expected .L2.global");
  if (tensor && !d.flag("tile") && d.peekModifier().substr(0, 6) == "im2col")
    return d.fail("prefetches of im2col columns are not supported");
  policy = d.flag("L2::cache_hint");
  if (!d.expectOperands(1u + !tensor + policy))
    return false;
  if (!takeGlobal(d, 0, Space::Global, op))
    return false;
  if (!tensor)
    d.src(1, Type::U32);
  if (policy)
    d.src(tensor ? 1 : 2, Type::B64);
  d.out.fn = [](Warp &, const Inst &, uint32_t) {};
  return !d.failed();
}

} // namespace

bool xc::ptxsim::decodeBulkCopy(InstDecoder &d, bool reduces) {
  d.out.instClass = InstClass::Memory;
  d.out.mayFault = true;
  if (d.flag("commit_group")) {
    d.out.fn = execCommit;
    return d.expectOperands(0);
  }
  if (d.flag("wait_group")) {
    d.out.fn = execWait;
    d.out.aux = d.flag("read");
    return d.expectOperands(1) && d.immediate(0, d.out.imm);
  }
  BulkOp op;
  op.reduces = reduces;
  bool prefetch = d.flag("prefetch"), tensor = d.flag("tensor");
  if (prefetch)
    return decodePrefetch(d, op, tensor);
  if (tensor && !takeRank(d, op))
    return false;
  if (!takeDirection(d, op) || (tensor && !takeLoadMode(d, op)) ||
      (reduces && !takeReduction(d, op)) || !takeCompletion(d, op))
    return false;
  if (reduces && op.kind != BulkOp::ToGlobal)
    return d.fail("reductions into shared memory are not supported");
  bool hasPolicy = d.flag("L2::cache_hint"), multicast = d.flag("multicast::cluster");
  if (multicast && op.kind != BulkOp::ToShared)
    return d.fail("unexpected .multicast::cluster");
  if (reduces && !tensor) {
    d.flag("noftz");
    op.reductionType = d.takeType();
    uint8_t probe[8] = {}, zero[8] = {};
    if (!d.failed() &&
        !reduceElement(static_cast<Reduction>(op.reduction), op.reductionType, probe, zero))
      return d.fail("unsupported type of this reduction");
  }
  if (d.failed() || !takeOperands(d, op, hasPolicy, multicast))
    return false;
  d.out.fn = execBulk;
  d.out.aux = static_cast<uint32_t>(d.program().bulkOps.size());
  d.program().bulkOps.push_back(op);
  return true;
}

/// prefetch{.param}.tensormap [address].
bool xc::ptxsim::decodePrefetchMap(InstDecoder &d) {
  Space space = d.takeSpace(Space::Generic);
  if (space != Space::Generic && space != Space::Param && space != Space::Const)
    return d.fail("unsupported state space");
  if (!d.expectOperands(1))
    return false;
  d.address(0u, space);
  d.out.fn = [](Warp &, const Inst &, uint32_t) {};
  d.out.instClass = InstClass::Memory;
  return !d.failed();
}
