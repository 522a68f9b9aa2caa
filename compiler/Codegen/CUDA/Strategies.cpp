//===- Strategies.cpp - The list of strategies ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each strategy is declared here and defined in its own folder.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Strategy.h"

namespace xc::cuda {

// In the order in which they are asked.
#define XC_CUDA_STRATEGIES(STRATEGY)                                                               \
  STRATEGY(Scan)                                                                                   \
  STRATEGY(Sort)                                                                                   \
  STRATEGY(SelectFirst)                                                                            \
  STRATEGY(Merge)                                                                                  \
  STRATEGY(DigitSort)                                                                              \
  STRATEGY(Scatter)                                                                                \
  STRATEGY(Attention)                                                                              \
  STRATEGY(AttentionMMA)                                                                           \
  STRATEGY(AttentionGradient)                                                                      \
  STRATEGY(AttentionRows)                                                                          \
  STRATEGY(DecodeAttention)                                                                        \
  STRATEGY(Transpose)                                                                              \
  STRATEGY(Elementwise)                                                                            \
  STRATEGY(ElementwiseStrips)                                                                      \
  STRATEGY(DirectWindow)                                                                           \
  STRATEGY(WindowStrips)                                                                           \
  STRATEGY(WindowGradient)                                                                         \
  STRATEGY(RowReduction)                                                                           \
  STRATEGY(ColumnReduction)                                                                        \
  STRATEGY(MatmulWGMMA)                                                                            \
  STRATEGY(MatmulFMA)                                                                              \
  STRATEGY(MatmulMMA)                                                                              \
  STRATEGY(Generic)

#define XC_DECLARE(NAME) const Strategy &get##NAME##Strategy();
XC_CUDA_STRATEGIES(XC_DECLARE)
#undef XC_DECLARE

llvm::ArrayRef<const Strategy *> getStrategies() {
#define XC_GET(NAME) &get##NAME##Strategy(),
  static const Strategy *const strategies[] = {XC_CUDA_STRATEGIES(XC_GET)};
#undef XC_GET
  return strategies;
}

} // namespace xc::cuda
