//===- Windows.h - Sizes of windows that slide over arrays -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_WINDOWS_H
#define XC_DIALECT_ARRAY_IR_WINDOWS_H

#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

namespace xc::array {

/// How a window steps over one dim. All but `size` are known; padding may be negative.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t low = 0, high = 0;
  int64_t inputDilation = 1;
  int64_t dilation = 1;

  /// The window neither moves elements nor combines any.
  bool isTrivial() const {
    return size == 1 && stride == 1 && low == 0 && high == 0 && inputDilation == 1;
  }
  /// From the first to the last element of a window of known size, inclusive.
  int64_t getExtent() const { return spreadKnown(size, dilation); }
};

/// The attributes that describe windows, null where they were left out.
struct WindowAttrs {
  mlir::DenseI64ArrayAttr strides, low, high, inputDilation, dilation;
};

/// One window for each of `sizes`. Missing attributes mean 1, or no padding.
llvm::SmallVector<WindowDim> makeWindow(llvm::ArrayRef<int64_t> sizes, const WindowAttrs &attrs);

/// Checks that each attribute has `count` numbers, those but the padding positive.
mlir::LogicalResult checkWindow(const RuleContext &rule, int64_t count, llvm::StringRef dims,
                                const WindowAttrs &attrs, bool allowNegativePadding);

/// How many places the window has over a dim of `input` elements.
int64_t countPlaces(int64_t input, const WindowDim &window);
/// The same for sizes of which some are values; `size` is that of the window.
mlir::OpFoldResult countPlaces(SizeBuilder &sizes, mlir::OpFoldResult input,
                               mlir::OpFoldResult size, const WindowDim &window);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_WINDOWS_H
