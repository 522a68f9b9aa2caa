//===- Machine.cpp - Starting blocks, reporting faults --------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Exec.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace xc::ptxsim;

std::string xc::ptxsim::hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

Dim3 Block::threadId(uint32_t linear) const {
  const Dim3 &dim = launch->config.block;
  return {linear % dim.x, linear / dim.x % dim.y, linear / dim.x / dim.y};
}

std::string xc::ptxsim::describeThread(const Block &block, uint32_t thread) {
  Dim3 t = block.threadId(thread);
  return "thread (" + std::to_string(t.x) + "," + std::to_string(t.y) + "," + std::to_string(t.z) +
         ")";
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void Launch::report(const Fault &newFault) {
  std::lock_guard<std::mutex> lock(mutex);
  if (fault.kind == FaultKind::None)
    fault = newFault;
  stop.store(true);
}

static std::string sourceText(const Program &program, const SourceLocation &location) {
  if (location.line == 0)
    return {}; // of no line: the compiler's own
  auto it = program.ast->files.find(location.file);
  std::string file =
      it == program.ast->files.end() ? "file " + std::to_string(location.file) : it->second;
  return file + ":" + std::to_string(location.line) + ":" + std::to_string(location.column);
}

void Block::raise(FaultKind kind, const Warp &warp, unsigned lane, const Inst &inst,
                  uint64_t address, std::string message, std::vector<std::string> details) {
  if (faulted)
    return;
  faulted = true;
  const InstDebug &debug = program->debug[static_cast<size_t>(&inst - program->code.data())];
  Fault f;
  f.kind = kind;
  f.message = std::move(message);
  f.kernel = program->name;
  f.ptxLine = debug.line;
  f.instruction = debug.text;
  f.thread = threadId(warp.threadOf(lane));
  f.block = id;
  f.address = address;
  f.details = std::move(details);
  f.source = sourceText(*program, debug.location);
  launch->report(f);
}

uint32_t xc::ptxsim::lineOf(const Block &block, const Inst &inst) {
  return block.program->debug[static_cast<size_t>(&inst - block.program->code.data())].line;
}

/// A string of at most 255 bytes in simulated memory, or "?" if it is not all
/// there.
static std::string readString(const Block &block, uint64_t address) {
  std::string text;
  while (text.size() < 255) {
    if (!block.launch->memory->covers(address, 1))
      return text.empty() ? "?" : text;
    char c = *reinterpret_cast<const char *>(address++);
    if (c == '\0')
      break;
    text += c;
  }
  return text;
}

std::string xc::ptxsim::describeAssert(const Block &block, const std::vector<uint8_t> &arguments) {
  uint64_t message = 0, file = 0, function = 0;
  uint32_t line = 0;
  if (arguments.size() < 32)
    return "assertion failed";
  std::memcpy(&message, arguments.data(), 8);
  std::memcpy(&file, arguments.data() + 8, 8);
  std::memcpy(&line, arguments.data() + 16, 4);
  std::memcpy(&function, arguments.data() + 24, 8);
  return "assertion '" + readString(block, message) + "' failed at " + readString(block, file) +
         ":" + std::to_string(line) + " in " + readString(block, function);
}

//===----------------------------------------------------------------------===//
// Rows with fixed contents
//===----------------------------------------------------------------------===//

template <typename F> static void fillRow(Warp &warp, uint32_t row, unsigned bytes, F valueOf) {
  for (unsigned l = 0; l < kWarpSize; ++l) {
    uint64_t value = valueOf(l);
    switch (bytes) {
    case 2:
      warp.row<uint16_t>(row)[l] = static_cast<uint16_t>(value);
      break;
    case 4:
      warp.row<uint32_t>(row)[l] = static_cast<uint32_t>(value);
      break;
    case 8:
      warp.row<uint64_t>(row)[l] = value;
      break;
    }
  }
}

void xc::ptxsim::fillConstantRows(Warp &warp) {
  warp.predicate(kTrueRow) = kFullMask;
  warp.predicate(kFalseRow) = 0;
  for (const Constant &constant : warp.program->constants) {
    if (constant.bytes == 16) {
      for (unsigned l = 0; l < kWarpSize; ++l) {
        warp.row<uint64_t>(constant.row)[2 * l] = constant.low;
        warp.row<uint64_t>(constant.row)[2 * l + 1] = constant.high;
      }
      continue;
    }
    fillRow(warp, constant.row, constant.bytes, [&](unsigned) { return constant.low; });
  }
}

static uint64_t clusterValue(const Block &block, Special kind) {
  const Dim3 &cluster = block.launch->config.cluster, &grid = block.launch->config.grid;
  const Dim3 &id = block.id;
  Dim3 inner{id.x % cluster.x, id.y % cluster.y, id.z % cluster.z};
  switch (kind) {
  case Special::ClusterIdX:
    return id.x / cluster.x;
  case Special::ClusterIdY:
    return id.y / cluster.y;
  case Special::ClusterIdZ:
    return id.z / cluster.z;
  case Special::NclusterIdX:
    return grid.x / cluster.x;
  case Special::NclusterIdY:
    return grid.y / cluster.y;
  case Special::NclusterIdZ:
    return grid.z / cluster.z;
  case Special::ClusterCtaidX:
    return inner.x;
  case Special::ClusterCtaidY:
    return inner.y;
  case Special::ClusterCtaidZ:
    return inner.z;
  case Special::ClusterNctaidX:
    return cluster.x;
  case Special::ClusterNctaidY:
    return cluster.y;
  case Special::ClusterNctaidZ:
    return cluster.z;
  case Special::ClusterCtaRank:
    return inner.x + cluster.x * (inner.y + cluster.y * inner.z);
  case Special::ClusterNctaRank:
    return static_cast<uint64_t>(cluster.x) * cluster.y * cluster.z;
  default:
    return cluster.x * cluster.y * cluster.z > 1 || block.launch->info->explicitCluster;
  }
}

/// Values that are the same for all threads of a block.
static uint64_t blockValue(const Block &block, Special kind) {
  const LaunchConfig &config = block.launch->config;
  const ArchLimits &limits = archLimits(block.launch->options.arch);
  switch (kind) {
  case Special::NtidX:
    return config.block.x;
  case Special::NtidY:
    return config.block.y;
  case Special::NtidZ:
    return config.block.z;
  case Special::CtaidX:
    return block.id.x;
  case Special::CtaidY:
    return block.id.y;
  case Special::CtaidZ:
    return block.id.z;
  case Special::NctaidX:
    return config.grid.x;
  case Special::NctaidY:
    return config.grid.y;
  case Special::NctaidZ:
    return config.grid.z;
  case Special::NwarpId:
    return block.warpCount;
  case Special::SmId:
    return block.linearId % limits.multiprocessors;
  case Special::NsmId:
    return limits.multiprocessors;
  case Special::GridId:
    return block.launch->gridId;
  case Special::DynamicSharedSize:
    return config.dynamicSharedBytes;
  case Special::TotalSharedSize:
    return block.sharedBytes;
  default:
    return clusterValue(block, kind);
  }
}

static uint64_t laneMask(Special kind, unsigned l) {
  uint64_t below = (1ull << l) - 1;
  switch (kind) {
  case Special::LaneMaskEq:
    return 1ull << l;
  case Special::LaneMaskLt:
    return below;
  case Special::LaneMaskLe:
    return below | 1ull << l;
  case Special::LaneMaskGe:
    return kFullMask & ~below;
  default:
    return kFullMask & ~(below | 1ull << l);
  }
}

void xc::ptxsim::fillSpecialRows(Warp &warp) {
  const Block &block = *warp.block;
  for (const SpecialRow &special : warp.program->specials) {
    Special kind = special.kind;
    auto fill = [&](auto valueOf) { fillRow(warp, special.row, special.bytes, valueOf); };
    switch (kind) {
    case Special::TidX:
      fill([&](unsigned l) { return block.threadId(warp.threadOf(l)).x; });
      break;
    case Special::TidY:
      fill([&](unsigned l) { return block.threadId(warp.threadOf(l)).y; });
      break;
    case Special::TidZ:
      fill([&](unsigned l) { return block.threadId(warp.threadOf(l)).z; });
      break;
    case Special::LaneId:
      fill([](unsigned l) { return l; });
      break;
    case Special::WarpId:
      fill([&](unsigned) { return warp.index; });
      break;
    case Special::LaneMaskEq:
    case Special::LaneMaskLe:
    case Special::LaneMaskLt:
    case Special::LaneMaskGe:
    case Special::LaneMaskGt:
      fill([&](unsigned l) { return laneMask(kind, l); });
      break;
    default: {
      uint64_t value = blockValue(block, kind);
      fill([&](unsigned) { return value; });
    }
    }
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What stays from block to block of one launch: sizes, registers, constants.
static void prepareBlock(Block &block, Launch &launch) {
  const Program &program = *launch.program;
  const LaunchConfig &config = launch.config;
  block.launch = &launch;
  block.program = &program;
  block.threads = config.block.x * config.block.y * config.block.z;
  block.warpCount = (block.threads + kWarpSize - 1) / kWarpSize;
  uint32_t fixed = program.usesDynamicShared ? program.dynamicSharedOffset : program.staticShared;
  block.sharedBytes = fixed + config.dynamicSharedBytes;
  block.shared.assign(block.sharedBytes + 16, 0);
  block.barriers.resize(16);
  const Checks &checks = launch.options.checks;
  SharedShadow &shadow = block.sharedShadow;
  shadow.capacity = block.sharedBytes + 16;
  shadow.initialised.allocate(shadow.capacity);
  shadow.pending.allocate(shadow.capacity);
  shadow.lineWriter.assign(shadow.capacity / SharedShadow::kLine + 1, 0);
  if (checks.race)
    block.clocks = std::make_unique<BlockClocks>();
  // Rows are aligned for the widest vector loads of the host.
  size_t perWarp = (program.registerBytes + 63) / 64 * 64;
  block.registerStorage.assign(perWarp * block.warpCount + 64, 0);
  auto base = reinterpret_cast<uintptr_t>(block.registerStorage.data());
  uint8_t *registers = block.registerStorage.data() + ((64 - base % 64) % 64);
  size_t localPerWarp = static_cast<size_t>(program.localBytes) * kWarpSize;
  block.localStorage.assign(localPerWarp * block.warpCount + 16, 0);
  block.localWritten.allocate(block.localStorage.size());
  block.warps.resize(block.warpCount);
  block.warpgroups.resize((block.warpCount + 3) / 4);
  for (uint32_t i = 0; i < block.warpCount; ++i) {
    Warp &warp = block.warps[i];
    warp.block = &block;
    warp.program = &program;
    warp.index = i;
    warp.registers = registers + perWarp * i;
    warp.local = block.localStorage.data() + localPerWarp * i;
    warp.returns.assign(static_cast<size_t>(program.maxCallDepth) * kWarpSize, 0);
    uint32_t count = std::min(kWarpSize, block.threads - i * kWarpSize);
    warp.allLanes = count == kWarpSize ? kFullMask : (1u << count) - 1;
    fillConstantRows(warp);
  }
}

/// Forgets what asynchronous operations the last block in this memory left.
static void clearAsync(Block &block) {
  block.mbarriers.clear();
  block.hiddenMbarriers = 0;
  block.clusterPhase.assign(block.threads, 0);
  block.pendingProducts = 0;
  for (Warpgroup &group : block.warpgroups)
    group = Warpgroup();
  SharedShadow &shadow = block.sharedShadow;
  if (shadow.anyPending)
    shadow.pending.clearAll();
  if (shadow.anyLine)
    std::fill(shadow.lineWriter.begin(), shadow.lineWriter.end(), 0);
  shadow.anyPending = shadow.anyLine = false;
  shadow.productReads.clear();
  for (Warp &warp : block.warps) {
    warp.productGroups.clear();
    warp.productGroup = warp.registerSteps = 0;
    warp.productsIssued = 0;
    warp.fencedProducts = false;
    warp.busy.assign(block.program->asyncRegisters, false);
    warp.frozen.assign(block.program->asyncRegisters, false);
    warp.written.assign(block.program->asyncRegisters, false);
  }
}

/// Prepares |block| to run the block of its launch that |place| says.
static void startBlock(Block &block, Launch &launch, const BlockPlace &place) {
  if (block.launch != &launch)
    prepareBlock(block, launch);
  uint64_t linear = place.block;
  const Dim3 &grid = launch.config.grid;
  block.linearId = linear;
  block.id.x = static_cast<uint32_t>(linear % grid.x);
  block.id.y = static_cast<uint32_t>(linear / grid.x % grid.y);
  block.id.z = static_cast<uint32_t>(linear / grid.x / grid.y);
  block.liveThreads = block.threads;
  block.executed = 0;
  block.faulted = false;
  block.async.clear();
  block.sharedShadow.initialised.clearAll();
  block.localWritten.clearAll();
  clearAsync(block);
  // A new set of cells: epochs of the last block in this memory mean nothing
  // now.
  if (block.clocks) {
    block.sharedShadow.races = std::make_unique<RaceCells>();
    block.clocks->start(launch.task, place, block.threads, *block.cluster->ledger,
                        launch.memory->ledger);
  }
  for (BarrierState &barrier : block.barriers)
    barrier = BarrierState();
  for (Warp &warp : block.warps) {
    warp.live = warp.allLanes;
    warp.groups.clear();
    warp.current = 0;
    addGroup(warp, warp.allLanes, launch.program->entry, 0);
    resetUnwritten(warp, 0, static_cast<uint32_t>(launch.program->tracked.size()), kFullMask);
    fillSpecialRows(warp);
  }
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

Cluster::Cluster() = default;
Cluster::~Cluster() = default;

void xc::ptxsim::startCluster(Cluster &cluster, Launch &launch, uint64_t linear) {
  const Dim3 &grid = launch.config.grid, &size = launch.config.cluster;
  uint32_t count = size.x * size.y * size.z;
  while (cluster.blocks.size() < count)
    cluster.blocks.push_back(std::make_unique<Block>());
  cluster.copies.clear();
  cluster.events = cluster.phase = 0;
  cluster.eventsAtTimeout = ~0ull;
  cluster.arrived = 0;
  cluster.joins.assign(count, PhaseJoin());
  cluster.passed.assign(count, nullptr);
  cluster.random = launch.options.asyncSeed ? launch.options.asyncSeed + linear : 0;
  Dim3 across{grid.x / size.x, grid.y / size.y, grid.z / size.z};
  uint64_t x = linear % across.x * size.x, y = linear / across.x % across.y * size.y,
           z = linear / across.x / across.y * size.z;
  if (launch.options.checks.race) {
    if (!cluster.ledger)
      cluster.ledger = std::make_unique<Ledger>();
    cluster.ledger->clear();
    cluster.ledgerLimit = 0;
  }
  // Grids have fewer blocks than 2^32 - 1 in all that anybody will simulate.
  BlockPlace place;
  place.cluster = static_cast<uint32_t>(linear);
  place.narrowScopes = launch.program->narrowScopes;
  for (uint32_t rank = 0; rank < count; ++rank) {
    uint64_t blockX = x + rank % size.x, blockY = y + rank / size.x % size.y,
             blockZ = z + rank / size.x / size.y;
    place.near.push_back(static_cast<uint32_t>(blockX + grid.x * (blockY + grid.y * blockZ)));
  }
  for (uint32_t rank = 0; rank < count; ++rank) {
    Block &block = *cluster.blocks[rank];
    block.cluster = &cluster;
    block.rank = rank;
    place.block = place.near[rank];
    startBlock(block, launch, place);
  }
}

void xc::ptxsim::sweepShared(Cluster &cluster) {
  if (!cluster.ledger)
    return;
  uint64_t used = cluster.ledger->bytes(), shared = 0;
  for (const auto &block : cluster.blocks)
    shared += block->sharedBytes;
  Counters &counters = cluster.blocks[0]->counters;
  if (used > counters.sharedRaceBytes) {
    counters.sharedRaceBytes = used;
    counters.sharedRaceOf = shared;
  }
  // With the cells (2x) and the bits (1/4x) less than 4x, unless more is left by the sweep.
  constexpr uint64_t kLeast = 12 << 10;
  if (used <= std::max({cluster.ledgerLimit, shared, kLeast}))
    return;
  if (!cluster.spareLedger)
    cluster.spareLedger = std::make_unique<Ledger>();
  Ledger &fresh = *cluster.spareLedger;
  fresh.clear();
  LedgerSweep sweep(*cluster.ledger, fresh, /*tasks=*/false);
  for (const auto &block : cluster.blocks) {
    SharedShadow &shadow = block->sharedShadow;
    RaceCell *cells = shadow.races->get(shadow.capacity);
    for (uint32_t i = 0; i < (block->sharedBytes + 3) / 4; ++i)
      sweep.rewrite(cells[i]);
    for (uint32_t &writer : shadow.lineWriter)
      writer = sweep.rewrite(writer);
  }
  std::swap(cluster.ledger, cluster.spareLedger);
  for (const auto &block : cluster.blocks)
    block->clocks->useLedger(*cluster.ledger);
  uint64_t left = cluster.ledger->bytes();
  cluster.ledgerLimit = left + std::max(left / 2, kLeast / 2);
}
