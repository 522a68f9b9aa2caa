//===- AttentionLoops.h - Attention of one query, by scalar loops -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ATTENTIONLOOPS_H
#define XC_DIALECT_KERNEL_IR_ATTENTIONLOOPS_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

namespace xc::kernel {

/// Builds attention of one query by loops over keys. The functions load what belongs to the query,
/// stored elements as they are; sizes are of type index.
struct AttentionLoops {
  using Load = std::function<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

  mlir::Value keys, vectorSize;
  /// The number of the query's position plus the offset: the last key that it may see.
  mlir::Value latest;
  Load query;      // [d]
  Load key, value; // [j, d] and [j, e]
  Load mask, sink; // [j] and []; null where there is none

  struct Softmax {
    mlir::Value maximum, sum; // f32: 0 for the maximum where no key is seen
  };
  /// The maximum of the scores and the sum of exponentials relative to it.
  Softmax buildSoftmax(AttentionOp op, mlir::OpBuilder &builder, mlir::Location loc) const;
  /// Element `element` of the result, in f32.
  mlir::Value buildResult(AttentionOp op, mlir::OpBuilder &builder, mlir::Location loc,
                          const Softmax &softmax, mlir::Value element) const;
  /// An f32 rounded to `type`, if that is not f32.
  static mlir::Value narrow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            mlir::Type type);
  /// The logarithm of the sum of exponentials.
  mlir::Value buildLogsumexp(mlir::OpBuilder &builder, mlir::Location loc,
                             const Softmax &softmax) const;

private:
  mlir::Value buildScore(AttentionOp op, mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value position) const;
};

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_ATTENTIONLOOPS_H
