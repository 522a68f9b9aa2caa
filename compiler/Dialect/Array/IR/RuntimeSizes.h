//===- RuntimeSizes.h - Sizes that only the device knows --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types do not say which `?` are bounded dynamic dims. They begin at `array.set_extent`,
// `array.compress` and `array.append`, and end at `array.pad_to_bound`; between them shape
// functions say which dims are made of which. So whether a dim is one is asked of those, and no op
// is built.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_RUNTIMESIZES_H
#define XC_DIALECT_ARRAY_IR_RUNTIMESIZES_H

#include "compiler/Dialect/Array/IR/ShapeRules.h"

#include "llvm/ADT/DenseMap.h"

namespace xc::array {

/// Which sizes of a function of array ops are runtime sizes, or are made of such. Valid while the
/// function is not changed.
class RuntimeSizes final : public SizeAnalysis {
public:
  explicit RuntimeSizes(mlir::MLIRContext *context);

  /// Of dim `dim` of a tensor, any dim of it, any operand of an op, and an index value.
  bool contains(mlir::Value tensor, int64_t dim);
  bool containsAnyOf(mlir::Value tensor);
  bool containsAnyOf(mlir::ValueRange operands);
  bool containsIndex(mlir::Value index);
  /// Of what a shape function has made for this analysis.
  bool isRuntime(mlir::OpFoldResult size);

  // Of SizeAnalysis: one attribute stands for all runtime sizes, another for all others.
  mlir::OpFoldResult getDimSize(mlir::Value value, int64_t dim) override;
  mlir::OpFoldResult combineSizes(SizeOperation operation, mlir::OpFoldResult lhs,
                                  mlir::OpFoldResult rhs) override;
  mlir::OpFoldResult applyMap(mlir::AffineMap map, mlir::ValueRange operands) override;

private:
  bool compute(mlir::Value tensor, int64_t dim);

  mlir::Attribute onDevice, onHost;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, bool> known;
  llvm::DenseMap<mlir::Value, bool> knownIndices;
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_RUNTIMESIZES_H
