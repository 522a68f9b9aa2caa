//===- CommandGraph.h - Edges between commands from the memory they touch ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_COMMANDGRAPH_H
#define XC_DIALECT_PLAN_TRANSFORMS_COMMANDGRAPH_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/SmallVector.h"

namespace xc::plan {

/// A use of bytes of a buffer by a command. Buffers are numbered by the caller; different buffers
/// share no memory, except those of the arena that the layout names as predecessors.
struct MemoryAccess {
  unsigned buffer;
  FormulaAttr offset;
  FormulaAttr length;
  Access access;
  /// Not 0 for a write of a part (kPartsAttr): those of one number need no order.
  unsigned whole = 0;
};

/// For each command, the earlier commands that must have ended before it: a write after any access
/// of the same bytes, a read after a write. Edges that others imply are left out.
///
/// `accesses[i]` are those of command i, in program order; `predecessors[b]` are the buffers that
/// had bytes of buffer b before it.
llvm::SmallVector<llvm::SmallVector<int64_t>>
computeEdges(llvm::ArrayRef<llvm::SmallVector<MemoryAccess>> accesses,
             llvm::ArrayRef<llvm::SmallVector<unsigned>> predecessors);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_COMMANDGRAPH_H
