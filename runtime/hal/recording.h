//===- recording.h - A plan in the form that a device replays ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_RECORDING_H
#define XC_RUNTIME_HAL_RECORDING_H

#include "runtime/base/ref_counted.h"
#include "runtime/hal/command_list.h"

namespace xc::hal {

struct RecordingOptions {
  /// Time every command of every launch.
  bool profile = false;
};

/// What an update cost.
struct UpdateCost {
  uint64_t patches = 0;
  uint64_t instantiations = 0;
};

struct CommandTimes {
  uint64_t launches = 0, totalNs = 0, minNs = 0;
  /// Of the last launch: from its begin to the command's, and what that took.
  uint64_t lastBeginNs = 0, lastNs = 0;

  void add(uint64_t beginNs, uint64_t takenNs) {
    minNs = launches && minNs < takenNs ? minNs : takenNs;
    totalNs += takenNs;
    lastBeginNs = beginNs;
    lastNs = takenNs;
    ++launches;
  }
};

/// Made by Device::createRecording, which copies the list. Launches of one
/// recording must be ordered by the caller; updates must not overlap, but may
/// happen while launches are in flight, which keep what they were given.
/// Retains the executables that its commands use.
class Recording : public RefCounted {
public:
  /// Takes over what has changed. After a failure the recording is unusable
  /// until an update succeeds whose changes name every command.
  virtual Status update(const CommandList &list, Span<const CommandChange> changes,
                        UpdateCost *cost) = 0;
  /// Whether the host decides the list's ifs and whiles.
  virtual bool hasHostLoop() const = 0;
  /// Streams that a launch takes, the caller's included.
  virtual uint32_t streamCount() const { return 1; }
  /// Of launches that have ended, where options.profile was set.
  virtual CommandTimes times(uint32_t command) const = 0;
};

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_RECORDING_H
