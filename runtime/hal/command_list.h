//===- command_list.h - What a recorded plan runs ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The module layer resolves a plan when buffers are bound: formulas become
// numbers, variants are chosen, bindings become addresses. A driver gets the
// result as flat arrays, and later the same arrays with the ordinals of the
// commands that have changed. It repeats no check.
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_COMMAND_LIST_H
#define XC_RUNTIME_HAL_COMMAND_LIST_H

#include "runtime/base/vector.h"

namespace xc::hal {

class Executable;

/// A part of one of the list's vectors.
struct Range {
  uint32_t begin = 0, count = 0;
};

enum class CommandKind : uint8_t { Dispatch, Copy, Fill, Control };

struct Command {
  CommandKind kind = CommandKind::Dispatch;
  /// Nothing to do for the sizes bound now; the other fields may be stale.
  bool isEmpty = false;
  /// Dispatch: the last address is the workspace.
  bool hasWorkspace = false;
  /// Control: a while, else an if.
  bool isLoop = false;
  /// Fill: bytes of the pattern: 1, 2, 4 or 8.
  uint8_t patternSize = 0;
  /// Commands, all earlier ones of its region and counted from that one's first, that must have
  /// ended before this one begins. Fixed for the life of a recording.
  Range edges;
  /// Dispatch: bindings in order; Copy: source, target; Fill: target; Control: the condition, one
  /// byte. A binding of no bytes may be at address 0: an empty arena has none.
  Range addresses;
  /// Dispatch: the variant's scalars. The place in the vector is fixed, the
  /// count is the variant's.
  Range scalars;
  Executable *executable = nullptr;
  uint32_t exportOrdinal = 0;
  uint32_t grid[3] = {1, 1, 1};
  /// Control: ordinals of the regions. An if runs the first where the byte is not 0, else the
  /// second; a while runs the first, and as long as the byte is then not 0 the second and the
  /// first.
  uint32_t regions[2] = {0, 0};
  /// Copy and Fill: bytes.
  uint64_t length = 0;
  /// Fill: in the lowest bytes.
  uint64_t pattern = 0;
  /// What one run is thought to take; a driver may schedule by it.
  uint64_t bytes = 0, flops = 0;
};

/// What people call a command that has no name of its own.
inline const char *nameOf(const Command &command) {
  switch (command.kind) {
  case CommandKind::Dispatch:
    return "dispatch";
  case CommandKind::Copy:
    return "copy";
  case CommandKind::Fill:
    return "fill";
  case CommandKind::Control:
    return command.isLoop ? "while" : "if";
  }
  return "";
}

struct CommandList {
  Span<const Command> commands;
  Span<const uint32_t> edges;
  Span<const uint64_t> addresses;
  Span<const int64_t> scalars;
  /// Parts of the commands, one after the other. Region 0 is what a launch runs; the others are
  /// named by commands of earlier ones.
  Span<const Range> regions;

  bool hasControl() const { return regions.size > 1; }
  /// Whether a region that an if or a while names has one of its own.
  bool hasNestedControl() const {
    for (size_t i = 1; i < regions.size; ++i)
      for (uint32_t j = 0; j < regions[i].count; ++j)
        if (commands[regions[i].begin + j].kind == CommandKind::Control)
          return true;
    return false;
  }
};

/// What has changed in a command since the list was last given to the driver.
enum ChangeBits : uint8_t {
  kChangedAddresses = 1,
  kChangedScalars = 2,
  kChangedGrid = 4,
  /// Executable, export, or whether there is a workspace.
  kChangedCode = 8,
  kChangedEmpty = 16,
  kChangedLength = 32,
  kChangedAll = 63
};

struct CommandChange {
  uint32_t command;
  uint8_t bits;
};

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_COMMAND_LIST_H
