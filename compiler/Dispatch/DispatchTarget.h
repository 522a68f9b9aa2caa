//===- DispatchTarget.h - What fusion asks of a target ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion, layouts and updates in place depend on how kernels of a target work. They ask here for
// that property, never for the kind of the target: a third kind has its answers in one place. The
// defaults are those of a function whose target is not known: they assume the least.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_DISPATCHTARGET_H
#define XC_DISPATCH_DISPATCHTARGET_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::kernel {
class AttentionOp;
} // namespace xc::kernel

namespace xc::plan {

/// A convolution whose image would be held with its channels last.
struct ConvolutionLayout {
  /// Multiply-adds of the convolution; symbolic sizes count as some.
  double operations = 0;
  /// It is a matrix product, with rows and columns of its own.
  bool isProduct = false;
  /// It is a product of the kinds that tensor cores take.
  bool isTensorCoreProduct = false;
  /// Its filter has one tap and steps over every place: rows of the image are those of a product.
  bool isPointwise = false;
  /// Only its filter would change, which has groups.
  bool movesGroupsOnly = false;
  /// It sums up positions, the gradient to a filter: as they are, rows of both operands run along
  /// dims of the result, not along the sum.
  bool sumsPositions = false;
  /// It is a gradient to a filter whose rows would run along dims of the result.
  bool isAcross = false;
  /// It sums up no channels: each result has a window of one of them.
  bool isDepthwise = false;
  /// Elements of the image, and of a filter that no call changes; symbolic sizes count as some.
  double imageElements = 0, fixedFilterElements = 0;
  /// Places of the result in all, and along its last dim as it is.
  double places = 1;
  int64_t rowPlaces = 1;
  /// Bytes of the channels of a pixel; nothing if their number is symbolic.
  std::optional<int64_t> channelBytes;
};

/// How kernels of a target work. Objects live as long as the program, and any thread may ask.
class DispatchTarget {
public:
  virtual ~DispatchTarget() = default;

  /// Whether single threads, not workgroups, hold what a kernel makes of its reductions. What
  /// depends on them then has to go over the same space, and nothing combines several rows.
  virtual bool threadsHoldRows() const { return false; }

  /// Whether reductions that do not depend on each other gain by one kernel where they read the
  /// same rows: memory is read once, and one launch less is waited for.
  virtual bool joinsReductions() const { return false; }

  /// Whether `product` had better compute `operand`, by a few instructions for each element, while
  /// it loads it.
  virtual bool mayComputeOperand(mlir::linalg::LinalgOp product, mlir::Value operand) const {
    return true;
  }

  /// Whether a scatter applies its updates one after the other, so that their rows need no order.
  virtual bool appliesUpdatesInOrder() const { return false; }

  /// Whether a scatter that passes over all of its destination first sorts its updates by row.
  virtual bool sortsUpdates() const { return false; }

  /// Whether a vector of a convolution's kernel is neighbours in its result, so that the result has
  /// its features last, and a filter with few inputs, too.
  virtual bool vectorizesResults() const { return false; }

  /// Whether a product's kernel reads operands as well along its own dims as along what it sums up.
  virtual bool readsAcrossSums() const { return false; }

  /// Whether a kernel with `op` can store its result as a box of a buffer.
  virtual bool storesBoxes(mlir::Operation *op) const;

  /// Whether a kernel can store what it reduces apart, with what lies between them.
  virtual bool storesApart() const { return false; }

  /// Whether products that share an operand gain by one launch.
  virtual bool mergesProducts() const { return false; }

  /// Whether a kernel may load what no call writes before it waits for the kernel in front.
  virtual bool loadsBeforeWaiting() const { return false; }

  /// Whether a kernel computes `op` a block of keys at a time, so that it stays whole.
  virtual bool attendsInBlocks(kernel::AttentionOp op) const;

  /// Whether places that go up evenly had better be computed than looked up.
  virtual bool computesPlaces() const { return false; }

  /// What takes as long as so many arithmetic ops, each of one lane.
  struct ScoreCosts {
    double perByte;       ///< that moves between memory and a kernel
    double perCopiedByte; ///< the same of a mask that comes by copies beside arithmetic
    double perRead;       ///< an element of a mask that a thread loads, whatever its size
    double perGather;     ///< an element of a table
    double perLaunch;     ///< of a kernel
    double mostOps;       ///< of one score
    bool copiesMasks;     ///< whether attention does copy masks of floats
  };
  /// Of `arch`, one of the target's kind.
  virtual ScoreCosts getScoreCosts(llvm::StringRef arch) const;

  /// Whether the kernel of the convolution `window` stores a transpose of what it computes in
  /// vectors, so that it is no kernel of its own.
  virtual bool storesTransposed(mlir::linalg::LinalgOp window) const { return false; }

  /// How many elements could be transposed in the time that channels last save; 0 for none.
  virtual double estimateLayoutGain(const ConvolutionLayout &layout) const { return 0; }

  /// How many more if the result has its features last, too.
  virtual double estimateResultGain(const ConvolutionLayout &layout) const { return 0; }
};

/// What the module around `op` is compiled for (`plan.target`); the defaults where that is not
/// known.
const DispatchTarget &getDispatchTarget(mlir::Operation *op);

} // namespace xc::plan

#endif // XC_DISPATCH_DISPATCHTARGET_H
