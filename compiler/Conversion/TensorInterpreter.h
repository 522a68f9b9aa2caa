//===- TensorInterpreter.h - What linalg on constants computes ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_TENSORINTERPRETER_H
#define XC_CONVERSION_TENSORINTERPRETER_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <memory>
#include <vector>

namespace xc {

/// The elements of a tensor or a memref, as bits in row-major order.
struct Elements {
  explicit Elements(mlir::ShapedType type)
      : shape(type.getShape()), bits(type.getNumElements(), 0) {}

  /// Where the element at `index` is; nothing outside of the shape.
  std::optional<size_t> position(llvm::ArrayRef<int64_t> index) const;

  llvm::SmallVector<int64_t> shape;
  std::vector<uint64_t> bits;
};

/// Evaluates values of static shapes in what `-xc-convert-array-to-linalg` makes of a function
/// without arguments: the bodies of its linalg ops for each point, kernel ops by their loops. Gives
/// up, without a message, on functions whose last bit is the target's, on sums and products of
/// floats, whose order is, and on what takes too many steps.
class TensorInterpreter {
public:
  /// Ops evaluated for one value.
  static constexpr int64_t kMaxSteps = int64_t(1) << 22;
  /// Ops evaluated for all of them: a few seconds.
  static constexpr int64_t kMaxAllSteps = int64_t(1) << 24;
  /// Elements of a tensor on the way.
  static constexpr int64_t kMaxElements = int64_t(1) << 20;

  using Result = std::shared_ptr<const Elements>;

  /// The elements of `value`; null where it gives up.
  Result evaluate(mlir::Value value);

private:
  using Scalars = llvm::DenseMap<mlir::Value, uint64_t>;
  /// What a body sees besides the values of ops in it.
  struct Frame {
    Scalars scalars;
    llvm::ArrayRef<int64_t> indices; // of linalg.index
    llvm::DenseMap<mlir::Value, Elements *> memory;
  };
  using Values = std::optional<llvm::SmallVector<uint64_t>>;

  Result evaluateOp(mlir::OpResult value);
  Result evaluateMove(mlir::Operation *op);
  Result evaluateLinalg(mlir::linalg::LinalgOp op, unsigned number);
  bool evaluatePoint(mlir::linalg::LinalgOp op, llvm::ArrayRef<int64_t> point,
                     llvm::ArrayRef<std::shared_ptr<Elements>> tensors);
  Result evaluateKernel(mlir::Operation *op, unsigned number);
  /// Copies `part` into `whole` at offsets and strides, or the opposite.
  Result moveSlice(mlir::OffsetSizeAndStrideOpInterface slice, Result whole, Result part);
  Result concat(mlir::tensor::ConcatOp op);
  Result pad(mlir::Operation *op);

  /// The scalar that `value` has here.
  std::optional<uint64_t> scalar(mlir::Value value, Frame &frame);
  /// The operands of a block's terminator, once the ops before it are evaluated.
  Values run(mlir::Block &block, Frame &frame);
  bool step(mlir::Operation &op, Frame &frame);
  bool runFor(mlir::Operation *op, Frame &frame);
  bool runWhile(mlir::Operation *op, Frame &frame);
  bool access(mlir::Operation *op, mlir::Value memory, mlir::ValueRange indices, Frame &frame);
  Values scalarsOf(mlir::ValueRange values, Frame &frame);
  std::optional<llvm::SmallVector<int64_t>> indicesOf(mlir::ValueRange indices, Frame &frame);
  static void bind(mlir::ValueRange values, llvm::ArrayRef<uint64_t> bits, Frame &frame);

  llvm::DenseMap<mlir::Value, Result> known;
  int64_t steps = 0, allSteps = 0;
};

} // namespace xc

#endif // XC_CONVERSION_TENSORINTERPRETER_H
