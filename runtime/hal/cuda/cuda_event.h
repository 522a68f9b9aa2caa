//===- cuda_event.h - Events of a GPU ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CUDA_CUDA_EVENT_H
#define XC_RUNTIME_HAL_CUDA_CUDA_EVENT_H

#include "runtime/base/threads.h"
#include "runtime/hal/cuda/cuda_device.h"

namespace xc::cuda {

/// The driver's event. One that was never recorded counts as reached, as the driver has it.
class CudaEvent final : public hal::Event {
public:
  static Status create(CudaDevice &device, Ref<hal::Event> *out);
  Status synchronize() override;
  Status query(bool *isDone) override;

  CUevent handle() const { return event; }
  /// What it stands for: work, or a place in a capture, which nobody can wait for on the host.
  enum class Meaning : uint8_t { Nothing, Work, Captured };
  void setMeaning(Meaning value) { meaning.store(value, std::memory_order_release); }
  Meaning getMeaning() const { return meaning.load(std::memory_order_acquire); }

  /// Streams defer work (see CudaStream), but what an event stands for depends on the order in
  /// which records and waits were asked for: each takes a turn then, and goes to the driver when
  /// those before it have. tryTurn takes one that is due at once, if there is none before it.
  bool tryTurn();
  uint64_t takeTurn();
  void waitForTurn(uint64_t turn);
  void endTurn();

private:
  friend class xc::HostAllocator;
  explicit CudaEvent(CudaDevice &device) : hal::Event(device), cudaDevice(device) {}
  ~CudaEvent() override = default;
  void destroy() override;
  Status enter() const;

  CudaDevice &cudaDevice;
  CUevent event = nullptr;
  std::atomic<Meaning> meaning{Meaning::Nothing};
  Mutex mutex;
  Condition changed;
  uint64_t turnsTaken = 0, turnsEnded = 0;
};

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CUDA_EVENT_H
