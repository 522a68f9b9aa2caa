//===- shapes.h - Symbolic dimensions and what follows from them ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_SHAPES_H
#define XC_RUNTIME_MODULE_SHAPES_H

#include "runtime/module/tables.h"

namespace xc {

/// The values of a function's symbols, and its formulas evaluated for them.
class FunctionShapes {
public:
  explicit FunctionShapes(const HostAllocator &allocator)
      : symbols(allocator), allocator(allocator), results(allocator) {}

  Status initialise(const fb::Function &function);
  /// Checks the bounds of `symbols` and evaluates the formulas. OUT_OF_RANGE
  /// names the symbol and its bounds.
  Status evaluate();

  /// OUT_OF_RANGE where an op cannot work with the shapes; after evaluate().
  Status checkRequirements() const;

  /// The dims of an argument; OUT_OF_RANGE if one is negative.
  Status shapeOf(const fb::Argument &argument, int64_t *shape) const;
  Status bytesOf(const fb::Argument &argument, uint64_t *bytes) const;
  Status arenaBytes(const fb::Plan &plan, uint64_t *bytes) const;
  /// OUT_OF_RANGE: what a size does, with the values of the symbols.
  Status noSize(FormulaError error) const;
  /// "x.0 = 3, n = 4": the symbols as they are.
  Status describeSymbols(String *values) const;

  Vector<int64_t> symbols;

private:
  Status addDim(const fb::Symbol &symbol, Status problem) const;

  const HostAllocator &allocator;
  const fb::Function *function = nullptr;
  Vector<int64_t> results;
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_SHAPES_H
