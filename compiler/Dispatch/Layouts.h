//===- Layouts.h - In which order tensors have their dims -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tensors of a function are better held with their dims in another order: what the
// convolutions ask for, what follows for the ops around them, and whether it is worth the
// transposes at the borders.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_LAYOUTS_H
#define XC_DISPATCH_LAYOUTS_H

#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace xc::plan {

/// Dim i of a tensor as it is held is dim `order[i]` of the tensor as the program has it.
using DimOrder = llvm::SmallVector<int64_t>;

bool isIdentity(llvm::ArrayRef<int64_t> order);

/// The one parallel loop that `expr` grows with, if there is exactly one; reductions do not count.
std::optional<unsigned> getParallelLoop(mlir::AffineExpr expr, mlir::linalg::LinalgOp op);

/// True for ops that hold their operands and results in any order: `ChooseLayouts` rebuilds them.
bool takesAnyOrder(mlir::Operation *op);

/// The order of a tensor with the dims of another split, or joined if `isSplit` is false, that goes
/// with the other's `order`; nothing where dims that are one would not stay together.
std::optional<DimOrder> orderReshaped(llvm::ArrayRef<mlir::ReassociationIndices> groups,
                                      llvm::ArrayRef<int64_t> order, bool isSplit);

/// True for initial values, which can as well be made in another order.
bool isRemade(mlir::Value value);

/// The orders of the tensors of one function for one target.
class LayoutChoice {
public:
  LayoutChoice(mlir::func::FuncOp func, const DispatchTarget &target);

  /// The order of `value`; empty where it is the program's.
  DimOrder lookup(mlir::Value value) const { return orders.lookup(value); }
  bool empty() const { return orders.empty(); }
  unsigned getNumConvolutions() const { return numConvolutions; }

private:
  struct Convolution {
    mlir::linalg::GenericOp op;
    mlir::Value image, filter, init, result;
    DimOrder imageOrder, filterOrder, resultOrder;
    bool isAcross = false; ///< see ConvolutionLayout
    double gain;           ///< in elements that could be transposed in the time that it saves
    double resultGain;     ///< what it gains besides if its result goes with its image
  };

  std::optional<Convolution> analyze(mlir::linalg::GenericOp op) const;
  void estimate(Convolution &convolution, mlir::AffineMap imageMap, bool isGrouped) const;
  void propagate();
  void propagateThrough(mlir::Operation *op, mlir::Value from);
  void propagateThroughGeneric(mlir::linalg::GenericOp op, mlir::Value from);
  bool relate(mlir::Value from, mlir::Value to, DimOrder order);
  void follow(mlir::Value from, mlir::Value to, DimOrder order);
  double countTransposed(mlir::Value value) const;
  bool isHeld(mlir::Value value, llvm::ArrayRef<int64_t> order,
              const llvm::DenseSet<int64_t> &dropped) const;
  llvm::DenseMap<int64_t, double> weighRegions(llvm::ArrayRef<Convolution> convolutions,
                                               const llvm::DenseSet<int64_t> &dropped) const;
  void dropWhatDoesNotPay(llvm::ArrayRef<Convolution> convolutions);
  int64_t findRegion(mlir::Value value) const;

  const DispatchTarget &target;
  llvm::MapVector<mlir::Value, DimOrder> orders;
  /// Tensors that are held in related orders belong to one region: all change, or none.
  llvm::DenseMap<mlir::Value, int64_t> regionOf;
  mutable llvm::SmallVector<int64_t> parents;
  /// Tensors of one op that are not held in related orders: elements move between them.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> borders;
  llvm::SmallVector<mlir::Value> worklist;
  unsigned numConvolutions = 0;
};

} // namespace xc::plan

#endif // XC_DISPATCH_LAYOUTS_H
