//===- PlanSharedMemory.cpp - Places of tiles and barriers ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One buffer holds everything: buffers that the emitter placed itself, then tiles, 1024-byte
// aligned, rings before single tiles, then barriers. The launch asks for its size.
//
// A tile lives from the first op of the kernel's own block that uses it, itself or in a region, to
// the last one, and a copy to it is such a use until it is waited for. Each tile gets the first
// place that is free of those that live at the same time, or that all threads of the block do not
// meet between.
//
// What the asynchronous proxy may access has a place of its own: when it is done, a later pass
// decides.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

/// The first and the last op of the kernel's own block that use a tile.
struct Lifetime {
  Operation *first, *last;
};

/// A tile in its place.
struct PlacedTile {
  int64_t begin, end;
  std::optional<Lifetime> lifetime;
};

} // namespace

/// True if threads are done with a tile when `user` is.
static bool isThreadAccess(Operation *user, const Target &target) {
  auto dot = dyn_cast<tile::DotOp>(user);
  return (dot && (dot.getSynchronous() || !target.hasWGMMA)) ||
         isa<tile::WriteOp, tile::WriteFragmentOp, tile::ReadOp, tile::ReadElementsOp,
             tile::ReadOperandOp, tile::ReadFragmentsOp>(user);
}

/// True if `copy` is waited for wherever it is started, and nobody else has its token.
static bool isAwaitedInPlace(tile::CopyOp copy) {
  auto isWait = [](Operation *user) { return isa<tile::AwaitCopiesOp>(user); };
  auto isInPlace = [&](Operation *user) { return user->getBlock() == copy->getBlock(); };
  return llvm::all_of(copy.getToken().getUsers(), isWait) &&
         llvm::any_of(copy.getToken().getUsers(), isInPlace);
}

/// Nothing where it is not known, or where nobody uses the tile: it is there to take room.
static std::optional<Lifetime> findLifetime(tile::AllocOp alloc, Block &block,
                                            const Target &target) {
  Lifetime lifetime{nullptr, nullptr};
  SmallVector<Value> names{alloc.getTile()};
  while (!names.empty())
    for (OpOperand &use : names.pop_back_val().getUses()) {
      Operation *user = use.getOwner(), *own = block.findAncestorOpInBlock(*user);
      auto copy = dyn_cast<tile::CopyOp>(user);
      auto await = dyn_cast<tile::AwaitCopiesOp>(user);
      bool isKnown = await || (copy && isAwaitedInPlace(copy)) || isThreadAccess(user, target);
      if (!own || !isKnown)
        return std::nullopt;
      if (await)
        names.push_back(await->getResult(use.getOperandNumber()));
      if (!lifetime.first || own->isBeforeInBlock(lifetime.first))
        lifetime.first = own;
      if (!lifetime.last || lifetime.last->isBeforeInBlock(own))
        lifetime.last = own;
    }
  if (!lifetime.first)
    return std::nullopt;
  return lifetime;
}

/// True if all threads of the block meet between the end of `one` and the beginning of `other`.
static bool endsBefore(const Lifetime &one, const Lifetime &other) {
  if (!one.last->isBeforeInBlock(other.first))
    return false;
  auto isMeeting = llvm::IsaPred<gpu::BarrierOp, tile::AwaitCopiesOp, tile::SyncBlocksOp>;
  return llvm::any_of(
      llvm::make_range(std::next(one.last->getIterator()), other.first->getIterator()), isMeeting);
}

static bool mayOverlap(const std::optional<Lifetime> &one, const std::optional<Lifetime> &other) {
  return !one || !other || (!endsBefore(*one, *other) && !endsBefore(*other, *one));
}

/// The first place from `first` on for `bytes` bytes that none of `placed` needs at that time.
static int64_t findPlace(ArrayRef<PlacedTile> placed, int64_t first, int64_t bytes,
                         int64_t alignment, const std::optional<Lifetime> &lifetime) {
  SmallVector<int64_t> places{first};
  for (const PlacedTile &tile : placed)
    places.push_back(tile.end);
  for (int64_t &place : places)
    place = llvm::alignTo(place, alignment);
  llvm::sort(places);
  return *llvm::find_if(places, [&](int64_t place) {
    return llvm::none_of(placed, [&](const PlacedTile &tile) {
      return tile.begin < place + bytes && place < tile.end && mayOverlap(tile.lifetime, lifetime);
    });
  });
}

/// Places `tiles` from byte `first` on, and returns where they end.
static int64_t placeTiles(ArrayRef<tile::AllocOp> tiles, Block &block, const Target &target,
                          int64_t first) {
  SmallVector<PlacedTile> placed;
  int64_t end = first;
  for (tile::AllocOp tile : tiles) {
    tile::SharedType type = tile.getTile().getType();
    std::optional<Lifetime> lifetime = findLifetime(tile, block, target);
    int64_t place = findPlace(placed, first, type.getBytes(), type.getAlignment(), lifetime);
    placed.push_back({place, place + type.getBytes(), lifetime});
    tile.setOffset(place);
    end = std::max(end, placed.back().end);
  }
  return end;
}

namespace {

struct PlanSharedMemory final : impl::PlanSharedMemoryBase<PlanSharedMemory> {
  void runOnOperation() override;
};

} // namespace

void PlanSharedMemory::runOnOperation() {
  func::FuncOp function = getOperation();
  SmallVector<tile::RingOp> rings;
  SmallVector<tile::AllocOp> tiles;
  function.walk([&](tile::RingOp op) { rings.push_back(op); });
  function.walk([&](tile::AllocOp op) { tiles.push_back(op); });
  if (rings.empty() && tiles.empty())
    return;
  auto launch = function->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
  const Target *arch = findTarget(function);
  if (!launch || !arch) {
    function.emitOpError("expected '") << plan::kLaunchAttr << "' and a CUDA target";
    return signalPassFailure();
  }

  int64_t used = launch.getShared();
  auto take = [&](int64_t bytes, int64_t alignment) {
    int64_t place = llvm::alignTo(used, alignment);
    used = place + bytes;
    return place;
  };
  for (tile::RingOp ring : rings)
    ring.setOffset(
        take(ring.getRing().getType().getStages() * ring.getRing().getType().getStageBytes(),
             tile::kTileAlignment));
  used = placeTiles(tiles, function.getBody().front(), *arch, used);
  for (tile::RingOp ring : rings)
    if (ring.hasBarriers())
      ring.setBarriers(take(2 * ring.getRing().getType().getStages() * tile::kBarrierBytes,
                            tile::kBarrierBytes));
  if (used > arch->sharedPerBlock) {
    function.emitOpError("expected at most ")
        << arch->sharedPerBlock << " bytes of shared memory on " << arch->arch << ", got " << used;
    return signalPassFailure();
  }
  function->setAttr(plan::kLaunchAttr,
                    plan::LaunchAttr::get(&getContext(), launch.getGrid(), launch.getBlock(),
                                          launch.getCluster(), used, launch.getScratch()));
}

} // namespace xc::cuda
