//===- KernelOpSupport.h - What the ops of the kernel dialect share -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_KERNELOPSUPPORT_H
#define XC_DIALECT_KERNEL_IR_KERNELOPSUPPORT_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace xc::kernel {

/// True unless both sizes are static and different.
bool agree(int64_t lhs, int64_t rhs);

/// True for a tensor or memref of such elements whose sizes agree with `shape`.
bool hasShape(mlir::Value value, llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Checks that all shaped operands are tensors and there is a result of each destination's type, or
/// that all are memrefs and there is none.
mlir::LogicalResult verifyTensorsOrMemrefs(mlir::DestinationStyleOpInterface op);

/// Reads of all memrefs, writes of those that are destinations.
void addMemoryEffects(
    mlir::DestinationStyleOpInterface op,
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects);

/// True if results may be what destinations held before.
bool keepsInits(mlir::DestinationStyleOpInterface op);

mlir::LogicalResult reifyFromInits(mlir::DestinationStyleOpInterface op, mlir::OpBuilder &builder,
                                   mlir::ReifiedRankedShapedTypeDims &shapes);

/// The result that a destination becomes.
mlir::bufferization::AliasingValueList getAliasOfInit(mlir::DestinationStyleOpInterface op,
                                                      mlir::OpOperand &operand);
mlir::LogicalResult bufferizeKernelOp(mlir::DestinationStyleOpInterface op,
                                      mlir::RewriterBase &rewriter,
                                      const mlir::bufferization::BufferizationOptions &options,
                                      mlir::bufferization::BufferizationState &state);

/// A size of a tensor or memref.
mlir::OpFoldResult sizeOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shaped,
                          int64_t dim);
mlir::Value sizeValueOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value shaped,
                        int64_t dim);
/// A box of a tensor or memref.
mlir::Operation *sliceOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
                         llvm::ArrayRef<mlir::OpFoldResult> offsets,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes);
/// The box of `shaped` that a tile of its dims `dims` cuts out; the other dims are whole.
void getLinesBox(mlir::OpBuilder &builder, mlir::Value shaped, llvm::ArrayRef<int64_t> dims,
                 llvm::ArrayRef<mlir::OpFoldResult> offsets,
                 llvm::ArrayRef<mlir::OpFoldResult> sizes,
                 llvm::SmallVectorImpl<mlir::OpFoldResult> &boxOffsets,
                 llvm::SmallVectorImpl<mlir::OpFoldResult> &boxSizes);
/// The iteration space of an op on lines: `dims` of its first operand, and of every other.
llvm::SmallVector<mlir::Range> getLinesDomain(mlir::DestinationStyleOpInterface op,
                                              mlir::OpBuilder &builder,
                                              llvm::ArrayRef<int64_t> dims);
mlir::FailureOr<mlir::TilingResult> tileLines(mlir::DestinationStyleOpInterface op,
                                              mlir::OpBuilder &builder,
                                              llvm::ArrayRef<int64_t> dims,
                                              llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                              llvm::ArrayRef<mlir::OpFoldResult> sizes);
/// Computes a tile of result `number`, which must not cut lines: that would need what is elsewhere
/// in them.
mlir::FailureOr<mlir::TilingResult> generateLinesTile(mlir::DestinationStyleOpInterface op,
                                                      mlir::OpBuilder &builder, unsigned number,
                                                      llvm::ArrayRef<int64_t> dims,
                                                      llvm::ArrayRef<mlir::OpFoldResult> offsets,
                                                      llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Loops over the given dims of a memref.
mlir::scf::LoopNest
loopOverDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref,
             llvm::ArrayRef<int64_t> dims,
             llvm::function_ref<void(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> body);

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_KERNELOPSUPPORT_H
