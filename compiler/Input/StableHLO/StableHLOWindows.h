//===- StableHLOWindows.h - Windows of StableHLO ops ------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_STABLEHLOWINDOWS_H
#define XC_INPUT_STABLEHLO_STABLEHLOWINDOWS_H

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/StableHLO/StableHLO.h"

namespace xc::stablehlo {

/// What a window does along one dim.
struct WindowDim {
  int64_t size = 1, stride = 1, low = 0, high = 0;
  /// How far apart elements of the operand are, and those that the window sees.
  int64_t baseDilation = 1, dilation = 1;

  int64_t getDilatedSize(int64_t input) const { return array::spreadKnown(input, baseDilation); }
  /// How many positions the window has over `input` elements.
  int64_t getResultSize(int64_t input) const;
};

/// The window of each dim of the operand.
llvm::SmallVector<WindowDim> getWindow(ReduceWindowOp op);
llvm::SmallVector<WindowDim> getWindow(SelectAndScatterOp op);

} // namespace xc::stablehlo

#endif // XC_INPUT_STABLEHLO_STABLEHLOWINDOWS_H
