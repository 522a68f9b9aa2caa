//===- Simulator.cpp - Launching grids ------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "ModuleImpl.h"
#include "ThreadPool.h"

#include <algorithm>

using namespace xc::ptxsim;

// Warp-instructions that a block may run before its host thread looks at
// others.
static constexpr uint64_t kBlockBudget = 1ull << 16;
static constexpr uint64_t kCooperativeBudget = 1ull << 14;
// Blocks that one host thread keeps in flight while some of them wait.
static constexpr size_t kResidentBlocks = 256;

const ArchLimits &xc::ptxsim::archLimits(Arch arch) {
  static const ArchLimits kSM80 = {"sm_80",
                                   8,
                                   0,
                                   108,
                                   32,
                                   1024,
                                   {1024, 1024, 64},
                                   {2147483647u, 65535, 65535},
                                   2048,
                                   32,
                                   65536,
                                   48u << 10,
                                   163u << 10,
                                   164u << 10,
                                   1u << 10,
                                   1};
  static const ArchLimits kSM90a = {"sm_90a",
                                    9,
                                    0,
                                    132,
                                    32,
                                    1024,
                                    {1024, 1024, 64},
                                    {2147483647u, 65535, 65535},
                                    2048,
                                    32,
                                    65536,
                                    48u << 10,
                                    227u << 10,
                                    228u << 10,
                                    1u << 10,
                                    8};
  return arch == Arch::SM80 ? kSM80 : kSM90a;
}

namespace xc::ptxsim {
class SimulatorImpl {
public:
  explicit SimulatorImpl(const Options &options) : options(options) {
    unsigned threads = options.hostThreads ? options.hostThreads
                                           : std::max(1u, std::thread::hardware_concurrency());
    this->options.hostThreads = threads;
    memory.impl().tasks = options.tasks ? options.tasks : std::make_shared<TaskOrder>();
    pool = std::make_unique<ThreadPool>(threads - 1);
  }

  Options options;
  Memory memory;
  std::map<std::string, ExternFunction> externs;
  std::unique_ptr<ThreadPool> pool;
  std::atomic<uint64_t> launches{0};
};
} // namespace xc::ptxsim

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

static void collectCounters(Launch &launch, const Block &block) {
  Counters c = block.counters;
  auto of = [&](InstClass k) { return block.classCounts[static_cast<unsigned>(k)]; };
  c.integer = of(InstClass::Integer);
  c.floating = of(InstClass::Floating);
  c.conversion = of(InstClass::Conversion);
  c.control = of(InstClass::Control);
  c.memory = of(InstClass::Memory);
  c.sync = of(InstClass::Sync);
  c.matrix = of(InstClass::Matrix);
  c.threadInstructions =
      c.integer + c.floating + c.conversion + c.control + c.memory + c.sync + c.matrix;
  std::lock_guard<std::mutex> lock(launch.mutex);
  launch.counters.add(c);
}

/// Runs clusters (single blocks, if the launch has none) until none is left. One that
/// makes no end, perhaps because it waits for another, shares its host thread with
/// further ones.
static void runWorker(Launch &launch) {
  std::vector<std::unique_ptr<Cluster>> live, spare;
  uint64_t budget = launch.config.cooperative ? kCooperativeBudget : kBlockBudget;
  size_t limit = launch.config.cooperative ? launch.clusterCount : kResidentBlocks;
  bool wantsMore = true;
  size_t turn = 0;
  auto polls = [](const Cluster &cluster) {
    uint64_t total = 0;
    for (const auto &block : cluster.blocks)
      total += block->polls;
    return total;
  };
  while (!launch.stop.load(std::memory_order_relaxed)) {
    if (live.empty() || (wantsMore && live.size() < limit)) {
      uint64_t next = launch.nextCluster.fetch_add(1, std::memory_order_relaxed);
      if (next < launch.clusterCount) {
        std::unique_ptr<Cluster> cluster;
        if (spare.empty()) {
          cluster = std::make_unique<Cluster>();
        } else {
          cluster = std::move(spare.back());
          spare.pop_back();
        }
        startCluster(*cluster, launch, next);
        turn = live.size();
        live.push_back(std::move(cluster));
      } else if (live.empty()) {
        break;
      }
    }
    wantsMore = false;
    turn %= live.size();
    uint64_t before = polls(*live[turn]);
    sweepShared(*live[turn]);
    switch (runCluster(*live[turn], budget)) {
    case BlockStatus::Done:
      sweepShared(*live[turn]);
      spare.push_back(std::move(live[turn]));
      live.erase(live.begin() + static_cast<long>(turn));
      break;
    case BlockStatus::Running:
    case BlockStatus::Stalled:
      // Long blocks run through; only those that read signals let others in.
      wantsMore = polls(*live[turn]) != before || launch.config.cooperative;
      turn += wantsMore;
      break;
    case BlockStatus::Faulted:
      break;
    }
  }
  for (const auto &clusters : {&live, &spare})
    for (const auto &cluster : *clusters)
      for (const auto &block : cluster->blocks)
        collectCounters(launch, *block);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static uint64_t volume(const Dim3 &d) { return static_cast<uint64_t>(d.x) * d.y * d.z; }

static std::string dimText(const Dim3 &d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

/// Why the configuration cannot be launched, or "".
static std::string validate(const KernelInfo &info, const LaunchConfig &config, Arch arch) {
  const ArchLimits &limits = archLimits(arch);
  const uint32_t block[3] = {config.block.x, config.block.y, config.block.z};
  const uint32_t grid[3] = {config.grid.x, config.grid.y, config.grid.z};
  const uint32_t cluster[3] = {config.cluster.x, config.cluster.y, config.cluster.z};
  for (unsigned i = 0; i < 3; ++i) {
    if (block[i] == 0 || block[i] > limits.maxBlockDim[i])
      return "block " + dimText(config.block) + " exceeds the limits of " + limits.name;
    if (grid[i] == 0 || grid[i] > limits.maxGridDim[i])
      return "grid " + dimText(config.grid) + " exceeds the limits of " + limits.name;
    if (info.reqntid[0] && block[i] != info.reqntid[i])
      return "block " + dimText(config.block) + " differs from .reqntid";
    if (cluster[i] == 0 || grid[i] % cluster[i])
      return "grid " + dimText(config.grid) + " is no multiple of cluster " +
             dimText(config.cluster);
    if (info.reqClusterDims[0] && cluster[i] != info.reqClusterDims[i])
      return "cluster " + dimText(config.cluster) + " differs from .reqnctapercluster";
  }
  if (volume(config.block) > info.maxThreadsPerBlock)
    return "block " + dimText(config.block) + " has " + std::to_string(volume(config.block)) +
           " threads, the kernel's limit is " + std::to_string(info.maxThreadsPerBlock);
  if (volume(config.cluster) > limits.maxClusterSize * (limits.maxClusterSize > 1 ? 2u : 1u))
    return "cluster " + dimText(config.cluster) + " exceeds the limits of " + limits.name;
  uint64_t shared = static_cast<uint64_t>(info.staticSharedBytes) + config.dynamicSharedBytes;
  if (shared > limits.sharedPerBlockOptin)
    return std::to_string(shared) + " bytes of shared memory exceed the limit of " +
           std::to_string(limits.sharedPerBlockOptin);
  if (config.paramBytes < info.paramBytes)
    return "expected " + std::to_string(info.paramBytes) + " bytes of parameters, got " +
           std::to_string(config.paramBytes);
  return {};
}

LaunchResult Simulator::launch(const Kernel &kernel, const LaunchConfig &config) const {
  LaunchResult result;
  result.fault.kernel = kernel.info().name;
  std::string problem = validate(kernel.info(), config, impl_->options.arch);
  if (!problem.empty()) {
    result.fault.kind = FaultKind::InvalidLaunch;
    result.fault.message = problem;
    return result;
  }
  auto launch = std::make_shared<Launch>();
  launch->gridId = ++impl_->launches;
  launch->program = &kernel.impl().program;
  launch->info = &kernel.info();
  launch->config = config;
  launch->options = impl_->options;
  launch->memory = &impl_->memory.impl();
  launch->clusterCount = volume(config.grid) / volume(config.cluster);
  const auto *params = static_cast<const uint8_t *>(config.params);
  if (params)
    launch->params.assign(params, params + config.paramBytes);
  launch->params.resize(std::max<size_t>(config.paramBytes, kernel.info().paramBytes));
  std::shared_lock<std::shared_mutex> noSweep;
  if (launch->options.checks.race) {
    launch->syncTable = std::make_unique<SyncTable>();
    launch->task =
        config.task ? *config.task : launch->memory->tasks->beginLast(kernel.info().name);
    launch->memory->sweep();
    noSweep = std::shared_lock<std::shared_mutex>(launch->memory->sweepMutex);
  }

  launch->memory->enterLaunch();
  auto helpers = static_cast<unsigned>(
      std::min<uint64_t>(impl_->options.hostThreads - 1, launch->clusterCount - 1));
  impl_->pool->runWith(helpers, [launch] { runWorker(*launch); });
  launch->memory->leaveLaunch();
  result.fault = launch->fault;
  result.counters = launch->counters;
  return result;
}

unsigned Simulator::maxActiveBlocks(const Kernel &kernel, unsigned threads,
                                    uint32_t dynamicShared) const {
  const ArchLimits &limits = archLimits(impl_->options.arch);
  const KernelInfo &info = kernel.info();
  if (threads == 0 || threads > info.maxThreadsPerBlock)
    return 0;
  unsigned warps = (threads + limits.warpSize - 1) / limits.warpSize;
  unsigned byThreads = limits.maxThreadsPerSM / (warps * limits.warpSize);
  // Registers are allocated to warps in units of 256, per thread in units of 8.
  unsigned registersPerWarp = (info.registers + 7) / 8 * 8 * limits.warpSize;
  unsigned byRegisters = limits.registersPerSM / (registersPerWarp * warps);
  uint64_t shared = info.staticSharedBytes + static_cast<uint64_t>(dynamicShared);
  if (shared > limits.sharedPerBlockOptin)
    return 0;
  auto byShared = static_cast<unsigned>(limits.sharedPerSM / (shared + limits.sharedReserved));
  return std::min({byThreads, byRegisters, byShared, limits.maxBlocksPerSM});
}

uint64_t Simulator::raceBytes() const { return impl_->memory.impl().ledger.bytes(); }

//===----------------------------------------------------------------------===//
// Simulator
//===----------------------------------------------------------------------===//

Simulator::Simulator(const Options &options) : impl_(std::make_unique<SimulatorImpl>(options)) {
  // The scheduler turns a call of __assertfail into a fault.
  defineExtern("__assertfail", [](const uint8_t *, uint8_t *) { return false; });
  defineExtern("vprintf", printFormatted);
}
Simulator::~Simulator() = default;

Memory &Simulator::memory() const { return impl_->memory; }
const Options &Simulator::options() const { return impl_->options; }

void Simulator::defineExtern(std::string name, ExternFunction function) {
  impl_->externs[std::move(name)] = std::move(function);
}

std::unique_ptr<Module> Simulator::load(const char *text, size_t size, ParseError &error) const {
  auto impl = std::make_unique<ModuleImpl>(impl_->memory);
  if (!impl->load(std::string(text, size), impl_->externs, impl_->options.arch, error))
    return nullptr;
  return std::unique_ptr<Module>(new Module(std::move(impl)));
}
