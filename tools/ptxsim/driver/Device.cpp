//===- Device.cpp - A simulated device and its memory pools ---------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <cstring>

namespace xc::cudasim {
namespace {

ptxsim::Options simulatorOptions(const Config &config, std::shared_ptr<ptxsim::TaskOrder> tasks) {
  ptxsim::Options options;
  options.arch = config.arch;
  options.checks = config.checks;
  options.memoryCounters = config.counters;
  options.hostThreads = config.threads;
  options.instructionLimit = config.instructionLimit;
  options.asyncSeed = config.asyncSeed;
  options.tasks = std::move(tasks);
  return options;
}

/// What the limits of the architecture do not say: figures of the modelled
/// products, an A100 and an H200.
struct Product {
  const char *name;
  int clockKHz, memoryClockKHz, busBits, l2Bytes, persistingL2Bytes;
};

Product productOf(ptxsim::Arch arch) {
  if (arch == ptxsim::Arch::SM80)
    return {"PTX simulator (sm_80)", 1410000, 1593000, 5120, 40 << 20, 30 << 20};
  return {"PTX simulator (sm_90a)", 1980000, 3201000, 6144, 60 << 20, 37 << 20};
}

} // namespace

Device::Device(unsigned ordinal, const Config &config, std::shared_ptr<ptxsim::TaskOrder> tasks)
    : ordinal_(ordinal), limits_(ptxsim::archLimits(config.arch)), pools_(config.pools),
      vmm_(config.vmm), managed_(config.managed), memoryBytes_(config.memory),
      name_(productOf(config.arch).name), simulator_(simulatorOptions(config, std::move(tasks))) {}

bool Device::take(uint64_t bytes) {
  uint64_t used = usedBytes_.load();
  do {
    if (bytes > memoryBytes_ - used)
      return false;
  } while (!usedBytes_.compare_exchange_weak(used, used + bytes));
  return true;
}

bool Device::attribute(CUdevice_attribute attribute, int &value) const {
  const ptxsim::ArchLimits &limits = limits_;
  const bool hopper = limits.major >= 9;
  const Product product = productOf(simulator_.options().arch);
  auto answer = [&](uint64_t number) {
    value = static_cast<int>(number);
    return true;
  };
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return answer(limits.maxThreadsPerBlock);
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return answer(limits.maxBlockDim[attribute - CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X]);
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return answer(limits.maxGridDim[attribute - CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X]);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return answer(limits.sharedPerBlock);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return answer(limits.sharedPerBlockOptin);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return answer(limits.sharedPerSM);
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return answer(limits.sharedReserved);
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return answer(64 << 10);
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return answer(limits.warpSize);
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    return answer(INT32_MAX);
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return answer(limits.registersPerSM);
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return answer(product.clockKHz);
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return answer(product.memoryClockKHz);
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return answer(product.busBits);
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return answer(product.l2Bytes);
  case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:
    return answer(product.persistingL2Bytes);
  case CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE:
    return answer(128 << 20);
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return answer(limits.multiprocessors);
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return answer(limits.maxThreadsPerSM);
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return answer(limits.maxBlocksPerSM);
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return answer(limits.major);
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return answer(limits.minor);
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    return answer(3);
  case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:
    return answer(hopper ? 4 : 1);
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return answer(ordinal_ + 1);
  default:
    return featureAttribute(attribute, value);
  }
}

/// Attributes that say whether something is there.
bool Device::featureAttribute(CUdevice_attribute attribute, int &value) const {
  auto answer = [&](bool there) {
    value = there;
    return true;
  };
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
    return answer(limits_.major >= 9);
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES: // file descriptors
    return answer(pools_);
  case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    return answer(vmm_);
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    return answer(managed_);
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
  case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    return answer(true);
  case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
  case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
  case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    return answer(false);
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

namespace {
constexpr uint64_t kPoolGranularity = uint64_t(2) << 20;
} // namespace

Pool::~Pool() { device_.give(reserved_); }

bool Pool::take(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (maxBytes_ && (bytes > maxBytes_ || used_ > maxBytes_ - bytes))
    return false;
  if (bytes > reserved_ - used_) {
    uint64_t growth = bytes - (reserved_ - used_);
    growth = (growth + kPoolGranularity - 1) / kPoolGranularity * kPoolGranularity;
    if (!device_.take(growth))
      return false;
    reserved_ += growth;
  }
  used_ += bytes;
  usedHigh_ = std::max(usedHigh_, used_);
  reservedHigh_ = std::max(reservedHigh_, reserved_);
  return true;
}

void Pool::give(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  used_ -= bytes;
}

void Pool::trim(uint64_t keep) {
  std::lock_guard<std::mutex> lock(mutex_);
  trimLocked(keep);
}

void Pool::trimToThreshold() {
  std::lock_guard<std::mutex> lock(mutex_);
  trimLocked(releaseThreshold_);
}

void Pool::trimLocked(uint64_t keep) {
  keep = std::max(keep, used_);
  if (keep > UINT64_MAX - kPoolGranularity)
    return;
  keep = (keep + kPoolGranularity - 1) / kPoolGranularity * kPoolGranularity;
  if (keep >= reserved_)
    return;
  device_.give(reserved_ - keep);
  reserved_ = keep;
}

CUresult Pool::getAttribute(CUmemPool_attribute attribute, void *value) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto answer = [value](auto number) {
    memcpy(value, &number, sizeof(number));
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    return answer(reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]);
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    return answer(releaseThreshold_);
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    return answer(reserved_);
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    return answer(reservedHigh_);
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return answer(used_);
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    return answer(usedHigh_);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult Pool::setAttribute(CUmemPool_attribute attribute, const void *value) {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t wide = 0;
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    memcpy(&reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], value,
           sizeof(int));
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    memcpy(&releaseThreshold_, value, sizeof(releaseThreshold_));
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    // A high-water mark can only be reset.
    memcpy(&wide, value, sizeof(wide));
    if (wide != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
      reservedHigh_ = reserved_;
    else
      usedHigh_ = used_;
    return CUDA_SUCCESS;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

} // namespace xc::cudasim
