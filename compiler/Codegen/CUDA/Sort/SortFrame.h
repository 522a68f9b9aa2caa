//===- SortFrame.h - What kernels of kernel.sort share --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_SORT_SORTFRAME_H
#define XC_CODEGEN_CUDA_SORT_SORTFRAME_H

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LineShape.h"

namespace xc::cuda {

/// The line, or segment of one, that some threads work on.
struct SortLine {
  /// Among all lines, and among the line's segments.
  mlir::Value line, segment;
  /// Where the segment begins in the line, and how long it is: 0 for a line that is not there.
  mlir::Value begin, length;
};

class SortFrame {
protected:
  SortFrame(const KernelInfo &kernel, const LineKernel &lines, int64_t threads);

  /// Segment `number` of all lines' segments.
  SortLine getLine(mlir::Value number);
  mlir::Value countLines() { return index.product({shape.outer, shape.segments}); }

  mlir::Value getKey(mlir::Value element);
  mlir::Value emitInput(mlir::Value position, int64_t lanes = 1);
  /// The keys of `places` in the line, each and the `lanes - 1` behind it. What is behind the end
  /// gets the key of some element of the line, or 0; `isInside` says that nothing is.
  llvm::SmallVector<mlir::Value> loadKeys(const SortLine &line, llvm::ArrayRef<mlir::Value> places,
                                          int64_t lanes, bool isInside);

  /// How many places of the results belong to the line.
  mlir::Value countResults(const SortLine &line);
  /// Stores the line's results at `places`, whose elements come from `positions` (i32; behind the
  /// end where there is none).
  void storeResults(const SortLine &line, mlir::ValueRange places, mlir::ValueRange positions);

  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  mlir::Value toWord(mlir::Value number);
  mlir::Value toIndex(mlir::Value word);

  kernel::SortOp op;
  plan::BindingOp values, indices;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  LineShape shape;
  mlir::Type elementType, indexType;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_SORT_SORTFRAME_H
