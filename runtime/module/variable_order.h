//===- variable_order.h - Launches of several streams that share variables -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_VARIABLE_ORDER_H
#define XC_RUNTIME_MODULE_VARIABLE_ORDER_H

#include "runtime/base/threads.h"
#include "runtime/base/vector.h"
#include "runtime/hal/stream.h"

namespace xc {

/// Runs launches that touch the variables of an instance one after another where one of them
/// writes, in the order of the calls, whatever their streams. Readers run side by side.
/// Thread-safe.
class VariableOrder {
public:
  explicit VariableOrder(const HostAllocator &allocator) : readers(allocator) {}

  Status create(hal::Device &device);

  /// Launches \p recording behind every launch that wrote a variable, and if it \p writes itself
  /// behind those that read one.
  Status launch(hal::Stream &stream, bool writes, Ref<hal::Recording> recording,
                uint64_t arenaBytes, hal::LaunchMode mode);
  /// Waits for the launches so far.
  Status synchronize();

private:
  Status followEarlier(hal::Stream &stream, bool writes);

  Mutex mutex;
  Ref<hal::Event> event;
  Ref<hal::Stream> lastWriter;
  Vector<Ref<hal::Stream>> readers; ///< since the last write
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_VARIABLE_ORDER_H
