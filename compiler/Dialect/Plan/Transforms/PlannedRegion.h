//===- PlannedRegion.h - The commands of a function or region ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What PlanBuilder makes of a function or of a region of one, and emitPlan writes: commands that
// use buffers, and where those are.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_PLANNEDREGION_H
#define XC_DIALECT_PLAN_TRANSFORMS_PLANNEDREGION_H

#include "compiler/Dialect/Plan/Transforms/ArenaLayout.h"
#include "compiler/Dialect/Plan/Transforms/CommandGraph.h"

#include <limits>
#include <memory>
#include <optional>

namespace xc::plan {

struct PlannedRegion;

/// Memory with one place: an input, an output, a variable, a constant, some bytes of the arena, or
/// a buffer of the plan around this one.
struct Buffer {
  Space space;
  unsigned ordinal;
  FormulaAttr size;
  unsigned first = std::numeric_limits<unsigned>::max();
  unsigned last = 0;
  /// Its number in the plan around this one.
  std::optional<unsigned> outer = std::nullopt;
};

/// What a tensor is: a range of a buffer.
struct Place {
  unsigned buffer;
  FormulaAttr offset;
  FormulaAttr length;
};

/// The two regions of an if or a while.
struct ControlRegions {
  bool isLoop;
  std::unique_ptr<PlannedRegion> plans[2];
  /// Of an if that sizes decide: 1 for the first region, 0 for the second.
  FormulaAttr choice = {};
};

struct Command {
  mlir::Location loc;
  mlir::FlatSymbolRefAttr
      kernel; // null: a copy from accesses[0] to accesses[1], or one of the below
  llvm::SmallVector<MemoryAccess> accesses;
  llvm::SmallVector<FormulaAttr> scalars;
  std::shared_ptr<ControlRegions> control = nullptr; // accesses[0] is the condition, of data
  mlir::DenseElementsAttr fill = nullptr;            // what accesses[0] gets everywhere
};

struct PlannedRegion {
  /// The plan around this one, and the buffer there that holds this one's arena.
  PlannedRegion *parent = nullptr;
  unsigned arenaBuffer = 0;
  llvm::SmallVector<Buffer> buffers;
  llvm::SmallVector<Command> commands;
  /// For each command those that must have ended before it.
  llvm::SmallVector<llvm::SmallVector<int64_t>> edges;
  ArenaPlacement arena;
  /// Of a buffer of the arena: its number there.
  llvm::SmallVector<unsigned> arenaIndex;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_PLANNEDREGION_H
