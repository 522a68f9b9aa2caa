//===- ArenaLayout.h - Places for buffers that live for part of a call ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_ARENALAYOUT_H
#define XC_DIALECT_PLAN_TRANSFORMS_ARENALAYOUT_H

#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "llvm/ADT/SmallVector.h"

namespace xc::plan {

/// A buffer of `size` bytes, live from command `first` to command `last`, both included.
struct LiveBuffer {
  FormulaAttr size;
  unsigned first;
  unsigned last;
};

struct ArenaPlacement {
  /// Byte offset of each buffer, a multiple of 256.
  llvm::SmallVector<FormulaAttr> offsets;
  /// For each buffer, those that had some of its bytes right before it. What had them before those
  /// is found among their own.
  llvm::SmallVector<llvm::SmallVector<unsigned>> predecessors;
  /// Bytes of the whole arena, and of its part that depends on no symbol.
  FormulaAttr size;
  int64_t staticSize = 0;
};

/// Lays out buffers so that those which live at the same time do not overlap.
///
/// The arena consists of regions, each measured in a unit of its own: bytes for static buffers, for
/// others what their size is a constant number of, as of all buffers of a network whose batch is
/// open. In each, buffers are placed largest first at the lowest offset that is free for their
/// whole life. A buffer of another unit takes a gap of a region that is already there and surely
/// holds it, by its terms or by the ranges of `dims`. Without `reuse` no two buffers share a byte.
ArenaPlacement layOutArena(llvm::ArrayRef<LiveBuffer> buffers, bool reuse, const SymbolicDims &dims,
                           mlir::MLIRContext *context);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_ARENALAYOUT_H
