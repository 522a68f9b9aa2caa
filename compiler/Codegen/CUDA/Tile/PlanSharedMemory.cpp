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
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "compiler/Codegen/CUDA/Passes.h.inc"

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
  for (tile::AllocOp tile : tiles)
    tile.setOffset(
        take(tile.getTile().getType().getBytes(), tile.getTile().getType().getAlignment()));
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
