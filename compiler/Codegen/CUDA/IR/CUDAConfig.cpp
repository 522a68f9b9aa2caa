//===- CUDAConfig.cpp - Registration of the strategies' attributes --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "compiler/Codegen/CUDA/IR/CUDAConfigDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CUDA/IR/CUDAConfigAttrs.cpp.inc"

namespace xc::cuda {

void CUDADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Codegen/CUDA/IR/CUDAConfigAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult MatmulMMAAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t tileM,
                                    int64_t tileN, int64_t tileK, int64_t warpsM, int64_t warpsN,
                                    int64_t stages) {
  if (warpsM < 1 || warpsN < 1 || warpsM * warpsN > 32)
    return emitError() << "expected 1 to 32 warps, got " << warpsM << " x " << warpsN;
  if (stages < 2)
    return emitError() << "expected at least 2 stages, got " << stages;
  if (tileK < 16 || tileK % 16 != 0)
    return emitError() << "expected tile_k to be a multiple of 16, got " << tileK;
  for (auto [name, tile, warps] : {std::tuple("tile_m", tileM, warpsM), {"tile_n", tileN, warpsN}})
    if (tile < 16 || tile % (16 * warps) != 0)
      return emitError() << "expected " << name << " to be a multiple of 16 for each of " << warps
                         << " warps, got " << tile;
  int64_t vector = 8 * 32 * warpsM * warpsN; // elements that all threads move in one access
  for (auto [name, tile] : {std::pair("tile_m", tileM), {"tile_n", tileN}})
    if (tile * tileK % vector != 0)
      return emitError() << "expected " << name << " x tile_k to be a multiple of the " << vector
                         << " elements that the threads copy at once, got " << tile << " x "
                         << tileK;
  for (auto [name, tile] : {std::pair("tile_m", tileM), {"tile_n", tileN}, {"tile_k", tileK}})
    if (tile % 64 != 0 && !llvm::isPowerOf2_64(static_cast<uint64_t>(tile)))
      return emitError() << "expected " << name << " to be a power of two or a multiple of 64, got "
                         << tile;
  return success();
}

} // namespace xc::cuda
