//===- AllowDependentLaunch.cpp - Programmatic dependent launch of kernels ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two kernels the GPU is empty: the last blocks of the one end, and only then the other one
// is launched. From sm_90 on a kernel may be launched while the one in front of it runs, and waits
// for that by itself. Its blocks take what room the last blocks in front of them leave; none is
// launched before all of those have begun, so nobody is kept from running. But blocks that are
// fewer than there is room for crowd where those in front of them end first. Where that costs more
// than the overlap gains, a kernel takes so much shared memory that they cannot: see
// KernelFrame::spreadBlocks.
//
// Parameters, constants and what the init plan made of them are there before any call. A kernel
// loads what each of its threads certainly needs of them before it waits: of a product of one row,
// whose time is that of its weights, so much is on its way while the kernel in front still runs.
// The rest is not prefetched into L2 by each thread: on an H100 a token of GPT-2's shape took 291
// us with that, 234 without.
//
// A load that waits is none of memory that never changes, which the assembler would move past
// others, stores and barriers. Loops that have loads beside those lose more by that than they gain.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_ALLOWDEPENDENTLAUNCH
#include "compiler/Codegen/CUDA/Passes.h.inc"

static constexpr unsigned kMinComputeCapability = 90;

/// Two kernels of so many waves, as far as threads say, fit on the GPU side by side whatever
/// registers they need.
static constexpr double kSmall = 0.25;

/// Bytes that a thread may hold while it waits, so that no kernel needs more registers than before.
static constexpr uint64_t kMostEarlyBytes = 160;

/// The argument whose buffer `pointer` points into; null if that is not plain to see.
static BlockArgument findArgument(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
      return nullptr;
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  return argument.getOwner()->isEntryBlock() ? argument : nullptr;
}

/// Says of each access that it meets none through another argument that is `noalias`, which holds
/// without that attribute as well.
static void scopeAccesses(LLVM::LLVMFuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  auto domain = LLVM::AliasScopeDomainAttr::get(
      context, builder.getStringAttr(kernel.getName() + ".bindings"), StringAttr());
  SmallVector<Attribute> scopes(kernel.getNumArguments());
  for (auto [number, scope] : llvm::enumerate(scopes))
    if (kernel.getArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName()))
      scope = LLVM::AliasScopeAttr::get(
          context, builder.getStringAttr(kernel.getName() + ".binding" + Twine(number)), domain,
          StringAttr());
  kernel.walk([&](LLVM::AliasAnalysisOpInterface access) {
    SmallVector<Value> pointers = access.getAccessedOperands();
    BlockArgument argument = pointers.size() == 1 ? findArgument(pointers.front()) : nullptr;
    if (!argument)
      return;
    Attribute own = scopes[argument.getArgNumber()];
    SmallVector<Attribute> others;
    llvm::copy_if(scopes, std::back_inserter(others),
                  [&](Attribute scope) { return scope && scope != own; });
    if (own)
      access.setAliasScopes(builder.getArrayAttr(own));
    if (!others.empty())
      access.setNoAliasScopes(builder.getArrayAttr(others));
  });
}

/// Until a kernel has waited, those before it may still write what it reads, so no load may pass
/// for one of memory that never changes: such loads move freely, and go through a cache that sees
/// no writes. LLVM takes every load through a `noalias` argument that is only read for one. That
/// the kernel's own stores are to other buffers its accesses say themselves.
static void dropInvariance(LLVM::LLVMFuncOp kernel) {
  scopeAccesses(kernel);
  kernel.walk([](LLVM::LoadOp load) { load.setInvariant(false); });
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    kernel.removeArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName());
    kernel.removeArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName());
  }
}

/// How many blocks there are for each block that the GPU holds at once, were it not for registers;
/// nothing if sizes that are not known now decide.
static std::optional<double> countWaves(plan::LaunchAttr launch, const Target &target) {
  int64_t blocks = 1, threads = 1;
  for (plan::FormulaAttr along : launch.getGrid()) {
    std::optional<int64_t> count = along.asConstant();
    if (!count || llvm::MulOverflow(blocks, *count, blocks))
      return std::nullopt;
  }
  for (int64_t count : launch.getBlock())
    threads *= count;
  unsigned shared = launch.getShared();
  Occupancy occupancy =
      computeOccupancy(target, {static_cast<unsigned>(threads), std::nullopt, shared});
  return static_cast<double>(blocks) / (double(occupancy.blocks) * target.multiprocessors);
}

static bool isGlobal(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() == 1;
}

/// True if a loop loads from several buffers, or loads and stores or waits for other threads: for
/// groups of them, or for all (`barrier0`, which `gpu.barrier` is by now).
static bool ordersLoadsInLoops(LLVM::LLVMFuncOp kernel) {
  return llvm::any_of(kernel.getBody(), [](Block &header) {
    llvm::SmallSetVector<Block *, 16> after(header.succ_begin(), header.succ_end());
    for (size_t i = 0; i < after.size(); ++i)
      after.insert(after[i]->succ_begin(), after[i]->succ_end());
    if (!after.contains(&header))
      return false;
    // What lies between the header and itself.
    llvm::SmallDenseSet<Value> loaded;
    bool orders = false;
    for (Block *block : after) {
      llvm::SmallSetVector<Block *, 16> behind(block->succ_begin(), block->succ_end());
      for (size_t i = 0; i < behind.size(); ++i)
        behind.insert(behind[i]->succ_begin(), behind[i]->succ_end());
      if (!behind.contains(&header))
        continue;
      for (Operation &op : *block) {
        if (auto load = dyn_cast<LLVM::LoadOp>(op); load && isGlobal(load.getAddr()))
          loaded.insert(findArgument(load.getAddr()));
        else if (auto store = dyn_cast<LLVM::StoreOp>(op))
          orders |= isGlobal(store.getAddr());
        else
          orders |= isa<NVVM::BarrierOp, NVVM::Barrier0Op>(op);
      }
    }
    return loaded.size() > 1 || (!loaded.empty() && orders);
  });
}

static uint64_t getByteCount(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * getByteCount(vector.getElementType());
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8) : kMostEarlyBytes;
}

/// Moves loads of fixed bindings that are in the kernel's first block, and their addresses, from
/// behind `wait` in front of it. Says so on the kernel if inputs are among them.
static void loadFixedFirst(LLVM::LLVMFuncOp kernel, Operation *wait) {
  auto fixed = kernel->getAttrOfType<DenseI64ArrayAttr>(plan::kFixedBindingsAttr);
  if (!fixed)
    return;
  llvm::DenseSet<Operation *> behind, ready;
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode())
    behind.insert(op);
  auto isReady = [&](Value value) {
    Operation *definition = value.getDefiningOp();
    return !definition || !behind.contains(definition) || ready.contains(definition);
  };
  uint64_t bytes = 0;
  SmallVector<Operation *> loads;
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    auto load = dyn_cast<LLVM::LoadOp>(op);
    if (!llvm::all_of(op->getOperands(), isReady) || (!load && !isPure(op)))
      continue;
    BlockArgument argument = load ? findArgument(load.getAddr()) : BlockArgument();
    if (load && (load.getVolatile_() || !argument ||
                 !llvm::is_contained(fixed.asArrayRef(), argument.getArgNumber()) ||
                 bytes + getByteCount(load.getType()) > kMostEarlyBytes))
      continue;
    ready.insert(op);
    if (!load)
      continue;
    bytes += getByteCount(load.getType());
    loads.push_back(op);
  }
  llvm::SetVector<Operation *> moved;
  for (Operation *load : loads) {
    SmallVector<Operation *> worklist = {load};
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val();
      if (!moved.insert(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp();
            definition && ready.contains(definition))
          worklist.push_back(definition);
    }
  }
  SmallVector<Operation *> inOrder(moved.begin(), moved.end());
  llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : inOrder)
    op->moveBefore(wait);
  auto inputs = kernel->getAttrOfType<DenseI64ArrayAttr>(plan::kFixedInputsAttr);
  bool readsInputs =
      inputs && llvm::any_of(loads, [&](Operation *load) {
        return llvm::is_contained(inputs.asArrayRef(),
                                  findArgument(cast<LLVM::LoadOp>(load).getAddr()).getArgNumber());
      });
  if (readsInputs)
    kernel->setAttr(kReadsInputsEarlyAttr, UnitAttr::get(kernel.getContext()));
}

/// The first instructions let what is behind the kernel begin, which waits in turn, and wait for
/// what is before it.
static void allowDependentLaunch(LLVM::LLVMFuncOp kernel) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                 NVVM::GridDepActionKind::launch_dependents);
  auto wait =
      NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(), NVVM::GridDepActionKind::wait);
  loadFixedFirst(kernel, wait);
  kernel->setAttr(kProgrammaticAttr, builder.getUnitAttr());
}

namespace {

struct AllowDependentLaunch final : impl::AllowDependentLaunchBase<AllowDependentLaunch> {
  void runOnOperation() override {
    const Target *target = findTarget(getOperation());
    if (!target || target->computeCapability < kMinComputeCapability)
      return;
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto launch = kernel->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
      if (!launch)
        continue;
      // Some strategies let their kernels wait where it suits them.
      if (!kernel->hasAttr(kProgrammaticAttr)) {
        // One of a symbolic size may be empty: a node with such an edge cannot be disabled, and the
        // graph would be instantiated anew.
        std::optional<double> waves = countWaves(launch, *target);
        if (!waves || (*waves > kSmall && ordersLoadsInLoops(kernel)))
          continue;
        allowDependentLaunch(kernel);
      }
      dropInvariance(kernel);
    }
  }
};

} // namespace

} // namespace xc::cuda
