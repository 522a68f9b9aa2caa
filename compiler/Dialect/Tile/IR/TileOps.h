//===- TileOps.h - The tile dialect's C++ face ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILEOPS_H
#define XC_DIALECT_TILE_IR_TILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/Dialect/Tile/IR/TileOpsDialect.h.inc"
#include "compiler/Dialect/Tile/IR/TileOpsEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/Tile/IR/TileOpsTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/Dialect/Tile/IR/TileOps.h.inc"

namespace xc::tile {

/// Tiles begin at multiples of this many bytes: the longest period of a swizzle.
inline constexpr int64_t kTileAlignment = 1024;
/// Bytes of one row of all banks of shared memory, which tiles of other swizzles begin at.
inline constexpr int64_t kBankBytes = 128;
/// Bytes of a barrier (mbarrier).
inline constexpr int64_t kBarrierBytes = 8;
/// Threads of a warpgroup, and the rows of its accumulators.
inline constexpr int64_t kWarpgroupThreads = 128, kWarpgroupRows = 64;
/// Threads of a warp, and the side of the squares that bytes are transposed in.
inline constexpr int64_t kWarpThreads = 32, kPatch = 4;
/// Rows of an operand A that has no more: wgmma reads them again for each eight of its rows.
inline constexpr int64_t kRepeatedRows = 8;

} // namespace xc::tile

#endif // XC_DIALECT_TILE_IR_TILEOPS_H
