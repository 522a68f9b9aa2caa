//===- StripsConfig.td - Configurations of elementwise strips -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few files need these, so they have a header of their own: StripsConfig.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_STRIPS_CONFIG_TD
#define XC_STRIPS_CONFIG_TD

include "compiler/Codegen/CUDA/IR/CUDAConfigBase.td"

def CUDA_ElementwiseStripsAttr : CUDA_Config<"ElementwiseStrips", "elementwise_strips", "elementwise-strips", 1> {
  let summary = "Each thread computes neighbours along outer dims, which read the same elements";
  let description = [{
    A thread owns `vector` elements along the innermost dim at `strip` neighbouring positions of one dim and `rows` of the one outside of
    that. Those are the innermost ones whose neighbours read the same elements. A block has `threads` threads, neighbours in
    vectors first, then in strips. Example: `#cuda.elementwise_strips<threads = 128, vector = 8, strip = 4, rows = 1>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$vector, "int64_t":$strip, "int64_t":$rows);
}

#endif // XC_STRIPS_CONFIG_TD
