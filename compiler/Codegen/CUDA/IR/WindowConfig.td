//===- WindowConfig.td - Configurations of windows over channels ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few files need these, so they have a header of their own: WindowConfig.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_WINDOW_CONFIG_TD
#define XC_WINDOW_CONFIG_TD

include "compiler/Codegen/CUDA/IR/CUDAConfigBase.td"

def CUDA_WindowStripsAttr : CUDA_Config<"WindowStrips", "window_strips", "window-strips", 1> {
  let summary = "Each thread computes neighbouring windows, whose elements it loads once";
  let description = [{
    A thread owns `vector` channels at `strip` neighbouring positions of `rows` rows, one row after the other. A block has `threads`
    threads, which are neighbours in channels first, then in strips. Example:
    `#cuda.window_strips<threads = 256, vector = 8, strip = 4, rows = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$vector, "int64_t":$strip, "int64_t":$rows);
}

def CUDA_WindowGradientAttr : CUDA_Config<"WindowGradient", "window_gradient", "window-gradient", 1> {
  let summary = "Threads hold the sums of a row of a filter, and share the positions";
  let description = [{
    A block has `chunks` x rows of the window x `workers` threads. Neighbours have chunks of `vector` channels, those next to
    them a row of the window each, and workers share strips of `strip` positions. What they come to is added up through
    shared memory. Example: `#cuda.window_gradient<vector = 8, chunks = 18, workers = 8, strip = 56>`.
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$chunks, "int64_t":$workers, "int64_t":$strip);
}

#endif // XC_WINDOW_CONFIG_TD
