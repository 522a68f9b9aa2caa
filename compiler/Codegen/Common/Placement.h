//===- Placement.h - Where tensors lie in the loops of a reduction -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of reductions is one nest of loops: that of its largest reduction, the root. What the
// kernel computes before it (a prologue) and behind it (an epilogue) is elementwise, so each of
// their elements belongs to a point of the nest. This analysis finds which, for both targets.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_PLACEMENT_H
#define XC_CODEGEN_COMMON_PLACEMENT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::codegen {

/// Spreads what is known of the indices of some tensors to all others, forwards and backwards. An
/// index is an expression over the loops of the root.
class Placement {
public:
  using Exprs = llvm::SmallVector<mlir::AffineExpr>;

  /// `ops` are those on tensors that the kernel's results need, in order.
  Placement(llvm::ArrayRef<mlir::Operation *> ops, mlir::linalg::LinalgOp root);

  /// Fails with a reason if what follows a reduction does not fit the loops of the root.
  mlir::LogicalResult run(std::string &reason);

  /// The index of `tensor` for each of its dims; null if nothing ties it to the root.
  const Exprs *find(mlir::Value tensor) const {
    auto found = tensors.find(tensor);
    return found == tensors.end() ? nullptr : &found->second;
  }
  /// The index of each loop of `op`, which is placed.
  const Exprs &getLoops(mlir::linalg::LinalgOp op) const { return loops.find(op)->second; }

  /// True if computing `tensor` takes a reduction.
  bool dependsOnReduction(mlir::Value tensor);

private:
  bool place(mlir::Value tensor, Exprs coords);
  void placeOp(mlir::linalg::LinalgOp op, Exprs opLoops);
  bool visit(mlir::linalg::LinalgOp op);
  bool visit(mlir::tensor::ExpandShapeOp op);
  bool visit(mlir::tensor::CollapseShapeOp op);
  /// Gives the root's loops to a reduction of the same form that no tensor ties to what is placed.
  bool placeBesideRoot();
  /// True if wherever `op` reads a tensor that a reduction feeds, it reads the element of its own
  /// place.
  bool isConsistent(mlir::linalg::LinalgOp op);

  llvm::SmallVector<mlir::Operation *> ops;
  mlir::linalg::LinalgOp root;
  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, Exprs> tensors;
  llvm::DenseMap<mlir::Operation *, Exprs> loops;
  llvm::DenseMap<mlir::Value, bool> dependent;
};

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_PLACEMENT_H
