//===- AttentionOperands.h - Operands and results of attention --*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_ATTENTIONOPERANDS_H
#define XC_CODEGEN_CPU_ATTENTIONOPERANDS_H

#include "compiler/Codegen/CPU/AttentionKernel.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

namespace xc::cpu {

/// What lowerings of attention share: where elements of queries, keys, values and masks are, which
/// keys are seen, and where results go. Keys and values may lie in pages.
class AttentionOperands {
protected:
  AttentionOperands(mlir::func::FuncOp function, AttentionKernel kernel, int64_t lanes)
      : function(function), kernel(std::move(kernel)), op(this->kernel.op), loc(op.getLoc()),
        builder(function.getBody().front().getTerminator()), lanes(lanes) {}

  // Values of all kinds.
  mlir::Value index(mlir::OpBuilder &b, int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value scalar(mlir::OpBuilder &b, double value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  mlir::Value lowest(mlir::OpBuilder &b) {
    return scalar(b, -std::numeric_limits<double>::infinity());
  }
  mlir::VectorType vectorType() { return mlir::VectorType::get({lanes}, builder.getF32Type()); }
  mlir::Value spread(mlir::OpBuilder &b, mlir::Value value) {
    return mlir::vector::BroadcastOp::create(
        b, loc, mlir::VectorType::get({lanes}, value.getType()), value);
  }
  /// `value`, or a vector of it as long as `like`.
  mlir::Value spreadLike(mlir::OpBuilder &b, mlir::Value value, mlir::Value like) {
    return mlir::isa<mlir::VectorType>(like.getType()) ? spread(b, value) : value;
  }
  mlir::Value at(mlir::OpBuilder &b, mlir::Value base, int64_t offset) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, base, index(b, offset));
  }
  /// `type`, or a vector of it as long as `like`.
  mlir::Type likeOf(mlir::Type type, mlir::Value like);
  /// A float, or floats, in f32.
  mlir::Value widen(mlir::OpBuilder &b, mlir::Value value);
  /// |maximum|, or zero where no key was seen yet: an infinity must not be subtracted from itself.
  mlir::Value replaceInfinity(mlir::OpBuilder &b, mlir::Value maximum);

  // The kernel.
  /// The number of batches as a formula over the kernel's scalars; null if there is none.
  mlir::AffineExpr countBatches();
  /// Which batch and which key head this workgroup has; sizes.
  void placeBatch(mlir::Value sharedHead);
  mlir::Value getId(plan::Axis axis);
  mlir::Value allocate(int64_t rows, int64_t columns);
  void eraseKernelOps();

  // Operands.
  mlir::Value evaluate(mlir::OpBuilder &b, mlir::Value tensor, llvm::ArrayRef<LaneIndex> point);
  /// Where the elements of the key, or value, at `row` are.
  llvm::SmallVector<LaneIndex> keyPoint(mlir::OpBuilder &b, mlir::Value row);
  llvm::SmallVector<LaneIndex> keyPoint(mlir::OpBuilder &b, mlir::Value row, mlir::Value element);
  llvm::SmallVector<LaneIndex> queryPoint(mlir::Value head, mlir::Value query, LaneIndex element);
  /// Keys or values from `first` on, in f32.
  void widenBlock(mlir::OpBuilder &b, mlir::Value tensor, mlir::Value into, mlir::Value first,
                  mlir::Value length);
  /// What queries are multiplied by, f32: the scale. Where scores have a limit, products with keys
  /// are then multiples of it.
  mlir::Value getQueryScale(mlir::OpBuilder &b);
  /// Multiples of the limit, one or several, as scores that do not exceed it.
  mlir::Value limit(mlir::OpBuilder &b, mlir::Value multiples);
  /// Where the mask has what it says of a query and a key, one of which may be several. A dim of
  /// one element is the same for all.
  llvm::SmallVector<LaneIndex> maskPoint(mlir::OpBuilder &b, mlir::Value head, LaneIndex query,
                                         LaneIndex key);
  /// What the mask stores as what is added to a score, f32: minus infinity where a byte hides a
  /// key.
  mlir::Value makeAdded(mlir::OpBuilder &b, mlir::Value stored);
  bool isMaskBytes() {
    return mlir::isa<mlir::IntegerType>(mlir::getElementTypeOrSelf(op.getMask()));
  }
  /// The score and the weight that a query of `head` begins with: a sink is a key that was seen
  /// already, whose value is 0.
  std::pair<mlir::Value, mlir::Value> getStart(mlir::OpBuilder &b, mlir::Value head);
  /// The keys that any of `count` queries from `begin` on may see: the first one, and the one
  /// behind the last. Sets `latest`.
  std::pair<mlir::Value, mlir::Value> getSeenKeys(mlir::Value begin, mlir::Value count);

  /// The indices in a root's memory of an element of its result. `element` is null where a query
  /// has one.
  llvm::SmallVector<mlir::Value> placeResult(mlir::OpBuilder &b, const AttentionRoot &root,
                                             mlir::Value head, mlir::Value query,
                                             mlir::Value element);
  /// A value, or values, as the root's memory has them.
  mlir::Value narrow(mlir::OpBuilder &b, const AttentionRoot &root, mlir::Value value);

  mlir::func::FuncOp function;
  AttentionKernel kernel;
  kernel::AttentionOp op;
  mlir::Location loc;
  mlir::OpBuilder builder;
  int64_t lanes;
  llvm::SmallVector<mlir::OpFoldResult> sizes; // of the queries
  mlir::Value numKeys, vectorSize, valueSize;
  llvm::SmallVector<LaneIndex> batch; // batch dims
  mlir::Value keyHead;
  mlir::Value latest;          // the last key that the first query sees
  mlir::Value pages, pageSize; // of keys and values in pages
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_ATTENTIONOPERANDS_H
