//===- MatmulTiles.h - Sizes of the tiles of a product ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How much of a product is in registers, in L1 and in a workgroup's hands. The kernels and what
// puts weights into panels for them have to agree on the columns of a panel.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_MATMULTILES_H
#define XC_CODEGEN_CPU_MATMULTILES_H

#include "compiler/Codegen/CPU/Arch.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace xc::cpu {

/// What is known of a product. Sizes are those of all loops of a role together.
struct MatmulShape {
  std::optional<int64_t> rows, columns, terms; // terms: of each sum
  std::optional<int64_t> innerTerms;           // of the innermost reduced loop
  int64_t lanes = 1;
  /// The columns of a panel, where the operand lies in panels already.
  std::optional<int64_t> panelColumns;
};

struct MatmulTiles {
  int64_t rows, columns; // of a workgroup
  int64_t depth;         // terms that are packed at a time
  int64_t height, width; // rows and columns whose sums are in registers
};

/// Elements of type |element| in a vector.
int64_t getLanes(const Arch &arch, mlir::Type element);

/// The columns of a product whose sums are in registers at once: a few vectors of them, so that the
/// last panel of |columns| wastes little.
int64_t choosePanelColumns(int64_t lanes, std::optional<int64_t> columns);

MatmulTiles chooseMatmulTiles(const Arch &arch, const MatmulShape &shape);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_MATMULTILES_H
