//===- Device.h - A simulated device and its memory pools ------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_DEVICE_H
#define PTXSIM_DRIVER_DEVICE_H

#include "Config.h"
#include "cuda_abi/cuda_abi.h"
#include "ptxsim/ptxsim.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace xc::cudasim {

class Context;

class Device {
public:
  Device(unsigned ordinal, const Config &config, std::shared_ptr<ptxsim::TaskOrder> tasks);

  unsigned ordinal() const { return ordinal_; }
  const ptxsim::ArchLimits &limits() const { return limits_; }
  ptxsim::Simulator &simulator() { return simulator_; }
  const std::string &name() const { return name_; }
  uint64_t memoryBytes() const { return memoryBytes_; }
  uint64_t usedBytes() const { return usedBytes_.load(); }

  /// Accounts for physical memory. False if the device is full.
  bool take(uint64_t bytes);
  void give(uint64_t bytes) { usedBytes_ -= bytes; }

  /// False for an attribute that this device model does not know.
  bool attribute(CUdevice_attribute attribute, int &value) const;

  bool hasPools() const { return pools_; }
  bool hasVirtualMemory() const { return vmm_; }
  bool hasManaged() const { return managed_; }

  /// The primary context: guarded by primaryMutex.
  std::mutex primaryMutex;
  std::shared_ptr<Context> primary;
  unsigned primaryUses = 0;
  unsigned primaryFlags = 0;

  /// The error that a context of this device died of: hardware gives this process no other context
  /// on it. CUDA_SUCCESS while it works.
  CUresult lost() const { return lost_.load(); }
  void lose(CUresult error) {
    CUresult none = CUDA_SUCCESS;
    lost_.compare_exchange_strong(none, error);
  }
  void revive() { lost_ = CUDA_SUCCESS; }

  CUmemoryPool defaultPool = nullptr;
  std::atomic<CUmemoryPool> currentPool{nullptr};

private:
  bool featureAttribute(CUdevice_attribute attribute, int &value) const;

  const unsigned ordinal_;
  const ptxsim::ArchLimits &limits_;
  const bool pools_, vmm_, managed_;
  const uint64_t memoryBytes_;
  std::string name_;
  std::atomic<uint64_t> usedBytes_{0};
  std::atomic<CUresult> lost_{CUDA_SUCCESS};
  ptxsim::Simulator simulator_;
};

/// A memory pool, as far as a program can see one: numbers. Addresses are not
/// reused soon (see AddressArena), so that a use after cuMemFreeAsync is found.
/// Thread-safe.
class Pool {
public:
  Pool(Device &device, uint64_t maxBytes, bool isDefault)
      : device_(device), maxBytes_(maxBytes), isDefault_(isDefault) {}
  ~Pool();

  Device &device() const { return device_; }
  bool isDefault() const { return isDefault_; }

  /// Accounts for an allocation: from what the pool keeps, else from the device.
  bool take(uint64_t bytes);
  void give(uint64_t bytes);
  /// Gives unused memory above `keep` bytes back to the device.
  void trim(uint64_t keep);
  /// What synchronising calls do: trims to the release threshold.
  void trimToThreshold();
  CUresult getAttribute(CUmemPool_attribute attribute, void *value);
  CUresult setAttribute(CUmemPool_attribute attribute, const void *value);

private:
  void trimLocked(uint64_t keep);

  Device &device_;
  const uint64_t maxBytes_;
  const bool isDefault_;
  std::mutex mutex_;
  uint64_t reserved_ = 0, used_ = 0;
  uint64_t reservedHigh_ = 0, usedHigh_ = 0;
  uint64_t releaseThreshold_ = 0;
  int reuse_[3] = {1, 1, 1};
};

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_DEVICE_H
