//===- BulkCopy.cpp - Copies that hardware does by itself -----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Access.h"
#include "AsyncAccess.h"

#include <algorithm>
#include <cstring>

using namespace xc::ptxsim;

static uint64_t nextRandom(Cluster &cluster) {
  uint64_t z = cluster.random += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

//===----------------------------------------------------------------------===//
// Boxes of tensors
//===----------------------------------------------------------------------===//

namespace {

/// A row of a box: what of it is inside of the tensor, and where.
struct BoxRow {
  uint32_t place = 0;   // in shared memory, from the box's start, before swizzling
  uint64_t global = 0;  // of the first element that is inside
  uint32_t skipped = 0; // bytes of the row before it
  uint32_t inside = 0;  // bytes inside; 0: none
};

/// How a box lies in shared memory.
struct BoxLayout {
  uint32_t rowBytes = 0, pitch = 0;
  uint32_t count[5] = {1, 1, 1, 1, 1}; // elements along each dimension
  explicit BoxLayout(const EncodedTensorMap &map) {
    if (map.kind == EncodedTensorMap::Im2col) {
      count[0] = map.channelsPerPixel;
      count[1] = map.pixelsPerColumn;
      setPitch(map);
      return;
    }
    count[0] = map.box[0]; // the element stride of the innermost dimension is ignored
    for (unsigned i = 1; i < map.rank; ++i)
      count[i] = (map.box[i] + map.elementStrides[i] - 1u) / map.elementStrides[i];
    setPitch(map);
  }
  void setPitch(const EncodedTensorMap &map) {
    rowBytes = count[0] * map.elementBytes;
    pitch = map.swizzle ? std::max(rowBytes, 16u << map.swizzle) : rowBytes;
  }
  uint32_t rows() const { return count[1] * count[2] * count[3] * count[4]; }
};

/// The 16-byte parts of shared memory change places within each 128 bytes, as the bits
/// of the address above them say.
uint32_t swizzled(uint32_t address, unsigned swizzle) {
  return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

/// What of a row from |first| on is inside of the tensor, if its pixel is; |r.global| is that of
/// the pixel's first element.
void clipRow(const EncodedTensorMap &map, const BoxLayout &layout, int64_t first, BoxRow &r) {
  int64_t end = first + layout.count[0];
  int64_t low = std::max<int64_t>(first, 0);
  int64_t high = std::min<int64_t>(end, static_cast<int64_t>(map.dimsMinus1[0]) + 1);
  if (low >= high)
    return;
  r.skipped = static_cast<uint32_t>(low - first) * map.elementBytes;
  r.inside = static_cast<uint32_t>(high - low) * map.elementBytes;
  r.global += static_cast<uint64_t>(low) * map.elementBytes;
}

/// The last place of the bounding box along spatial dimension |i|.
int64_t lastPixel(const EncodedTensorMap &map, unsigned i) {
  return static_cast<int64_t>(map.dimsMinus1[i + 1]) + map.upperCorner[i];
}

/// Calls |function| with the channels of each pixel: from the first one's place on through the
/// bounding box in the tensor's order, image after image, each read as far from its place as the
/// offsets say. Stops when it returns false.
template <typename F> bool forPixels(const BulkCopy &copy, const BoxLayout &layout, F function) {
  const EncodedTensorMap &map = copy.map;
  unsigned spatial = map.rank - 2u;
  int64_t at[4]; // of the pixel in the box; the image is last
  for (unsigned i = 0; i <= spatial; ++i)
    at[i] = copy.coordinates[i + 1];
  for (uint32_t pixel = 0; pixel < layout.count[1]; ++pixel) {
    BoxRow r;
    r.place = pixel * layout.pitch;
    r.global = map.globalAddress;
    bool inside = true;
    for (unsigned i = 0; i <= spatial; ++i) {
      int64_t from = at[i] + (i < spatial ? copy.offsets[i] : 0);
      inside &= from >= 0 && from <= static_cast<int64_t>(map.dimsMinus1[i + 1]);
      r.global += static_cast<uint64_t>(from) * map.strides[i];
    }
    if (inside)
      clipRow(map, layout, copy.coordinates[0], r);
    if (!function(r))
      return false;
    unsigned i = 0;
    for (; i < spatial && (at[i] += map.elementStrides[i + 1]) > lastPixel(map, i); ++i)
      at[i] = map.lowerCorner[i];
    if (i == spatial)
      at[i] += map.elementStrides[i + 1];
  }
  return true;
}

/// Calls |function| with each row of the box; stops when it returns false.
template <typename F> bool forRows(const BulkCopy &copy, const BoxLayout &layout, F function) {
  const EncodedTensorMap &map = copy.map;
  if (map.kind == EncodedTensorMap::Im2col)
    return forPixels(copy, layout, function);
  for (uint32_t row = 0; row < layout.rows(); ++row) {
    BoxRow r;
    r.place = row * layout.pitch;
    r.global = map.globalAddress;
    bool inside = true;
    uint32_t rest = row;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t at = copy.coordinates[i] +
                   static_cast<int64_t>(rest % layout.count[i]) * map.elementStrides[i];
      rest /= layout.count[i];
      inside &= at >= 0 && at <= static_cast<int64_t>(map.dimsMinus1[i]);
      r.global += static_cast<uint64_t>(at) * map.strides[i - 1];
    }
    // Along a row elements are adjacent: steps of dimension 0 go element by element.
    if (inside)
      clipRow(map, layout, copy.coordinates[0], r);
    if (!function(r))
      return false;
  }
  return true;
}

/// Copies |bytes| between a row at |place| of shared memory and |row|.
template <typename F> void forParts(uint32_t place, unsigned swizzle, uint32_t bytes, F function) {
  if (swizzle == 0) {
    function(place, 0u, bytes);
    return;
  }
  for (uint32_t done = 0; done < bytes; done += 16)
    function(swizzled(place + done, swizzle), done, std::min(16u, bytes - done));
}

// CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 and _TFLOAT32_FTZ. Neither this one nor
// _FLOAT32_FTZ flushes anything.
constexpr unsigned kTypeTf32 = 11, kTypeTf32Ftz = 12;

Type elementType(const EncodedTensorMap &map) {
  static constexpr Type kTypes[] = {Type::U8,  Type::U16, Type::U32, Type::S32, Type::U64,
                                    Type::S64, Type::F16, Type::F32, Type::F64, Type::BF16,
                                    Type::F32, Type::F32, Type::F32};
  return kTypes[map.dataType];
}

/// What elements outside of the tensor read as.
void fillOutside(const EncodedTensorMap &map, uint8_t *to, uint32_t bytes) {
  if (!map.oobFill) {
    std::memset(to, 0, bytes);
    return;
  }
  // A NaN of every type.
  for (uint32_t at = 0; at < bytes; at += 2) {
    to[at] = 0xf7;
    to[at + 1] = 0x7f;
  }
}

/// On the way into shared memory singles are rounded, if the tensor's type is TF32.
void convertRow(const EncodedTensorMap &map, uint8_t *row, uint32_t bytes) {
  if (map.dataType != kTypeTf32 && map.dataType != kTypeTf32Ftz)
    return;
  for (uint32_t at = 0; at < bytes; at += 4) {
    uint32_t value;
    std::memcpy(&value, row + at, 4);
    if ((value & 0x7fffffffu) > 0x7f800000u)
      value = 0x7fffe000u;
    else
      value = (value + 0xfffu + (value >> 13 & 1)) & 0xffffe000u;
    std::memcpy(row + at, &value, 4);
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Issuing
//===----------------------------------------------------------------------===//

static bool fail(const BulkCopy &copy, FaultKind kind, uint64_t address, std::string message) {
  copy.issuer->raise(kind, *copy.warp, copy.lane, *copy.inst, address, std::move(message));
  return false;
}

/// PTX ISA, "im2col mode": offsets have as many bits as the spatial dimensions leave them, and a
/// column begins in the bounding box.
static bool checkPixels(const BulkCopy &copy) {
  static constexpr unsigned kLimits[] = {1u << 16, 1u << 8, 1u << 5};
  const EncodedTensorMap &map = copy.map;
  unsigned spatial = map.rank - 2u;
  for (unsigned i = 0; i < spatial; ++i) {
    if (copy.offsets[i] >= kLimits[spatial - 1])
      return fail(copy, FaultKind::IllegalInstruction, copy.global,
                  "expected im2col offsets below " + std::to_string(kLimits[spatial - 1]) +
                      " with " + std::to_string(spatial) + " spatial dimensions, got " +
                      std::to_string(copy.offsets[i]));
    if (copy.coordinates[i + 1] < map.lowerCorner[i] || copy.coordinates[i + 1] > lastPixel(map, i))
      return fail(copy, FaultKind::IllegalInstruction, copy.global,
                  "expected a column that begins in the bounding box, from " +
                      std::to_string(map.lowerCorner[i]) + " to " +
                      std::to_string(lastPixel(map, i)) + ", got coordinate " +
                      std::to_string(copy.coordinates[i + 1]));
  }
  return true;
}

static bool checkTensor(BulkCopy &copy) {
  const EncodedTensorMap &map = copy.map;
  if (!isTensorMap(map))
    return fail(copy, FaultKind::IllegalInstruction, copy.global,
                "no tensor map at " + hex(copy.global) +
                    " (cuTensorMapEncodeTiled makes one, a kernel gets it by value)");
  if ((map.kind == EncodedTensorMap::Im2col) != copy.op->im2col)
    return fail(copy, FaultKind::IllegalInstruction, copy.global,
                copy.op->im2col
                    ? "the tensor map is tiled, and this instruction takes one of kind im2col"
                    : "the tensor map is of kind im2col, which this instruction does not take");
  if (map.interleave)
    return fail(copy, FaultKind::IllegalInstruction, copy.global,
                "interleaved tensor maps are not supported");
  if (map.rank != copy.op->rank)
    return fail(copy, FaultKind::IllegalInstruction, copy.global,
                "expected a tensor map of rank " + std::to_string(copy.op->rank) +
                    ", got one of rank " + std::to_string(map.rank));
  // Hardware answers both of these with an illegal instruction.
  if (copy.coordinates[0] * static_cast<int64_t>(map.elementBytes) % 16)
    return fail(copy, FaultKind::IllegalInstruction, copy.global,
                "expected an innermost coordinate that is a multiple of 16 bytes, got " +
                    std::to_string(copy.coordinates[0]) + " elements of " +
                    std::to_string(map.elementBytes));
  for (unsigned i = 0; i < map.rank && copy.op->kind == BulkOp::ToGlobal; ++i)
    if (copy.coordinates[i] < 0)
      return fail(copy, FaultKind::IllegalInstruction, copy.global,
                  "expected a box to store that begins in the tensor, got coordinate " +
                      std::to_string(copy.coordinates[i]));
  if (copy.op->im2col && !checkPixels(copy))
    return false;
  BoxLayout layout(map);
  copy.bytes = layout.rowBytes * layout.rows();
  copy.extent = layout.pitch * layout.rows();
  if (copy.shared % 128)
    return fail(copy, FaultKind::Misaligned, copy.shared,
                "shared memory at " + hex(copy.shared) + ": expected a multiple of 128");
  return true;
}

static bool checkShared(const BulkCopy &copy, const Block &block, uint32_t offset) {
  if (static_cast<uint64_t>(offset) + copy.extent <= block.sharedBytes)
    return true;
  return fail(copy, FaultKind::OutOfBounds, offset,
              "bulk copy of " + std::to_string(copy.extent) + " bytes at " + hex(offset) +
                  ": the shared memory has " + std::to_string(block.sharedBytes) + " bytes");
}

/// From now on the destination is not to be touched.
static bool beginWrite(const BulkCopy &copy, Block &target) {
  const Checks &checks = copy.issuer->launch->options.checks;
  std::string reader;
  if (!checkShared(copy, target, copy.shared))
    return false;
  if (!checks.asyncCopy)
    return true;
  SharedShadow &shadow = target.sharedShadow;
  if (shadow.anyPending && shadow.pending.any(copy.shared, copy.extent))
    return fail(copy, FaultKind::AsyncCopy, copy.shared,
                "the destination, " + hex(copy.shared) +
                    ", is that of another asynchronous copy that has not been waited for");
  if (isAsyncSource(target, copy.shared, copy.extent, reader))
    return fail(copy, FaultKind::AsyncCopy, copy.shared,
                "the destination, " + hex(copy.shared) + ", is the source of " + reader +
                    " that has not been waited for");
  shadow.pending.assign(copy.shared, copy.extent, true);
  shadow.anyPending = true;
  return true;
}

bool xc::ptxsim::issueCopy(std::unique_ptr<BulkCopy> copy) {
  Block &block = *copy->issuer;
  if (copy->op->tensor) {
    if (!checkTensor(*copy))
      return false;
  } else {
    copy->extent = copy->bytes;
    uint64_t other = copy->op->kind == BulkOp::ToCluster ? copy->source : copy->global;
    if (copy->bytes % 16 || copy->shared % 16 || other % 16)
      return fail(*copy, FaultKind::Misaligned, copy->global,
                  "expected multiples of 16, got " + std::to_string(copy->bytes) +
                      " bytes between " + hex(other) + " and shared memory at " +
                      hex(copy->shared));
    if (copy->bytes == 0)
      return true;
  }
  if (copy->op->kind == BulkOp::ToCluster && !checkShared(*copy, block, copy->source))
    return false;
  if (copy->op->kind == BulkOp::ToGlobal) {
    if (!checkShared(*copy, block, copy->shared))
      return false;
    if (block.async.empty())
      block.async.resize(block.threads);
    copy->group = block.async[copy->warp->threadOf(copy->lane)].bulkGroup;
  }
  if (copy->toShared())
    for (Block *target : copy->targets) {
      Mbarrier *barrier = findMbarrier(copy->actor(), *target, copy->mbarrier);
      if (!barrier || !checkVisible(copy->actor(), *target, copy->mbarrier, *barrier) ||
          !beginWrite(*copy, *target))
        return false;
      ++barrier->operations;
    }
  if (block.clocks)
    copy->observer = block.clocks->observe(copy->warp->threadOf(copy->lane));
  ++block.cluster->events;
  block.cluster->copies.push_back(std::move(copy));
  return true;
}

//===----------------------------------------------------------------------===//
// Carrying out
//===----------------------------------------------------------------------===//

/// Puts the source's bytes into copy.data: rows one after another, without gaps.
static bool readSource(BulkCopy &copy) {
  if (copy.sourceRead)
    return true;
  copy.sourceRead = true;
  copy.data.resize(copy.bytes);
  Block &block = *copy.issuer;
  if (copy.op->kind == BulkOp::ToShared && !copy.op->tensor)
    return readGlobal(copy, copy.global, copy.bytes, copy.data.data());
  if (copy.op->kind == BulkOp::ToShared) {
    uint8_t *to = copy.data.data();
    BoxLayout layout(copy.map);
    return forRows(copy, layout, [&](const BoxRow &row) {
      fillOutside(copy.map, to, layout.rowBytes);
      if (row.inside && !readGlobal(copy, row.global, row.inside, to + row.skipped))
        return false;
      convertRow(copy.map, to + row.skipped, row.inside);
      to += layout.rowBytes;
      return true;
    });
  }
  uint32_t from = copy.op->kind == BulkOp::ToCluster ? copy.source : copy.shared;
  if (!copy.op->tensor) {
    std::memcpy(copy.data.data(), block.shared.data() + from, copy.bytes);
    return noteSharedRead(copy, from, copy.bytes);
  }
  BoxLayout layout(copy.map);
  uint8_t *to = copy.data.data();
  bool dense = layout.pitch == layout.rowBytes;
  if (dense && !noteSharedRead(copy, from, copy.bytes))
    return false;
  for (uint32_t row = 0; row < layout.rows(); ++row, to += layout.rowBytes) {
    bool ok = true;
    forParts(from + row * layout.pitch, copy.map.swizzle, layout.rowBytes,
             [&](uint32_t at, uint32_t done, uint32_t bytes) {
               ok = ok && (dense || noteSharedRead(copy, at, bytes));
               std::memcpy(to + done, block.shared.data() + at, bytes);
             });
    if (!ok)
      return false;
  }
  return true;
}

static bool writeShared(BulkCopy &copy, Block &target, uint32_t clock) {
  if (!copy.op->tensor || !copy.map.swizzle) {
    if (!noteSharedWrite(copy, target, copy.shared, copy.bytes, clock))
      return false;
    std::memcpy(target.shared.data() + copy.shared, copy.data.data(), copy.bytes);
    return true;
  }
  BoxLayout layout(copy.map);
  bool dense = layout.pitch == layout.rowBytes;
  if (dense && !noteSharedWrite(copy, target, copy.shared, copy.bytes, clock))
    return false;
  const uint8_t *from = copy.data.data();
  for (uint32_t row = 0; row < layout.rows(); ++row, from += layout.rowBytes) {
    bool ok = true;
    forParts(copy.shared + row * layout.pitch, copy.map.swizzle, layout.rowBytes,
             [&](uint32_t at, uint32_t done, uint32_t bytes) {
               ok = ok && (dense || noteSharedWrite(copy, target, at, bytes, clock));
               std::memcpy(target.shared.data() + at, from + done, bytes);
             });
    if (!ok)
      return false;
  }
  return true;
}

/// Writes to global memory, or reduces into it. |clock|: number of the copy.
static bool writeOut(BulkCopy &copy, uint32_t clock) {
  auto put = [&](uint64_t address, const uint8_t *from, uint32_t bytes, Type type) {
    if (!noteGlobalWrite(copy, address, bytes, clock))
      return false;
    auto *to = reinterpret_cast<uint8_t *>(address);
    if (!copy.op->reduces) {
      std::memcpy(to, from, bytes);
      return true;
    }
    uint32_t size = typeBytes(type);
    for (uint32_t at = 0; at < bytes; at += size)
      if (!reduceElement(static_cast<Reduction>(copy.op->reduction), type, to + at, from + at))
        return fail(copy, FaultKind::IllegalInstruction, address,
                    std::string("the reduction is not one of type .") + typeName(type));
    return true;
  };
  if (!copy.op->tensor)
    return put(copy.global, copy.data.data(), copy.bytes, copy.op->reductionType);
  const uint8_t *from = copy.data.data();
  BoxLayout layout(copy.map);
  return forRows(copy, layout, [&](const BoxRow &row) {
    // What is stored ends at a multiple of 16 bytes; between rows that is padding.
    uint32_t bytes = copy.op->reduces ? row.inside : (row.inside + 15) / 16 * 16;
    bool ok = !row.inside || put(row.global, from + row.skipped, bytes, elementType(copy.map));
    from += layout.rowBytes;
    return ok;
  });
}

/// Carries |copy| out; it is no longer queued.
static bool deliver(BulkCopy &copy) {
  if (!copy.op)
    return deliverArrival(copy);
  if (!readSource(copy))
    return false;
  ++copy.issuer->cluster->events;
  if (copy.op->kind == BulkOp::ToGlobal) {
    uint32_t clock = copy.issuer->clocks ? copy.issuer->clocks->nextCopy(copy.mbarrier) : 0;
    if (!writeOut(copy, clock))
      return false;
    if (clock)
      copy.issuer->clocks->learnCopies(copy.warp->threadOf(copy.lane), clock);
    return true;
  }
  for (Block *target : copy.targets) {
    uint32_t clock = target->clocks ? target->clocks->nextCopy(copy.mbarrier) : 0;
    if (copy.issuer->launch->options.checks.asyncCopy)
      target->sharedShadow.pending.assign(copy.shared, copy.extent, false);
    if (!writeShared(copy, *target, clock))
      return false;
    Mbarrier *barrier = findMbarrier(copy.actor(), *target, copy.mbarrier);
    if (!barrier)
      return false;
    --barrier->operations;
    if (!completeBytes(copy.actor(), *target, copy.mbarrier, copy.bytes, clock))
      return false;
  }
  return true;
}

static bool deliverAt(Cluster &cluster, size_t index) {
  std::unique_ptr<BulkCopy> copy = std::move(cluster.copies[index]);
  cluster.copies.erase(cluster.copies.begin() + static_cast<long>(index));
  return deliver(*copy);
}

bool xc::ptxsim::advanceCopies(Cluster &cluster) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < cluster.copies.size(); ++i)
    if (cluster.copies[i]->toShared()) {
      candidates.push_back(i);
      if (!cluster.random)
        break;
    }
  if (candidates.empty())
    return false;
  size_t pick = cluster.random ? nextRandom(cluster) % candidates.size() : 0;
  return deliverAt(cluster, candidates[pick]);
}

bool xc::ptxsim::maybeAdvanceCopies(Cluster &cluster) {
  if (!cluster.random || cluster.copies.empty() || nextRandom(cluster) % 4)
    return true;
  size_t index = nextRandom(cluster) % cluster.copies.size();
  BulkCopy &copy = *cluster.copies[index];
  // A source may be read before the rest is done.
  if (!copy.toShared() && !copy.sourceRead)
    return readSource(copy);
  return copy.toShared() ? deliverAt(cluster, index) : true;
}

void xc::ptxsim::waitForGroups(Warp &warp, unsigned lane, uint32_t keep, bool readOnly) {
  Block &block = *warp.block;
  Cluster &cluster = *block.cluster;
  if (block.async.empty())
    return;
  uint32_t current = block.async[warp.threadOf(lane)].bulkGroup;
  for (size_t i = 0; i < cluster.copies.size();) {
    BulkCopy &copy = *cluster.copies[i];
    if (copy.warp != &warp || copy.lane != lane || copy.toShared() ||
        static_cast<uint64_t>(copy.group) + keep >= current) {
      ++i;
      continue;
    }
    if (readOnly) {
      if (!readSource(copy))
        return;
      ++i;
    } else if (!deliverAt(cluster, i)) {
      return;
    }
  }
}

bool xc::ptxsim::finishCopies(Block &block) {
  Cluster &cluster = *block.cluster;
  for (size_t i = 0; i < cluster.copies.size();) {
    BulkCopy &copy = *cluster.copies[i];
    bool isTarget =
        std::find(copy.targets.begin(), copy.targets.end(), &block) != copy.targets.end();
    bool reads = copy.issuer == &block && !copy.sourceRead &&
                 (!copy.op || copy.op->kind != BulkOp::ToShared);
    if (block.launch->options.checks.asyncCopy && (isTarget || reads))
      return fail(copy, FaultKind::AsyncCopy, copy.shared,
                  std::string("the block exits while this copy may still ") +
                      (isTarget ? "write to" : "read from") +
                      " its shared memory: nobody has waited for it");
    if (copy.issuer == &block || isTarget) {
      if (!deliverAt(cluster, i))
        return !block.faulted;
    } else {
      ++i;
    }
  }
  return true;
}

bool xc::ptxsim::isAsyncSource(const Block &owner, uint32_t offset, uint32_t bytes,
                               std::string &reader) {
  for (const auto &copy : owner.cluster->copies) {
    if (copy->issuer != &owner || copy->sourceRead || !copy->op ||
        copy->op->kind == BulkOp::ToShared)
      continue;
    uint32_t from = copy->op->kind == BulkOp::ToCluster ? copy->source : copy->shared;
    if (offset < from + copy->extent && from < offset + bytes) {
      reader = "an asynchronous copy";
      return true;
    }
  }
  return owner.pendingProducts && isProductSource(owner, offset, bytes, reader);
}
