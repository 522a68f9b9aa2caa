//===- TileSchedule.h - Rings and roles of kernels on wgmma -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products and attention have in common where one warpgroup loads tiles into rings and others
// compute.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_TILESCHEDULE_H
#define XC_CODEGEN_CUDA_COMMON_TILESCHEDULE_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

namespace xc::cuda {

/// Which stage of a ring comes next, and the phase parity of its mbarriers.
struct RingState {
  mlir::Value stage, phase;
};

/// The state one stage on, of a ring of so many.
RingState advanceRing(PointEmitter &points, RingState state, int64_t stages);

/// Emits `body` for one thread of the block's first warp, `thread` being the thread's number.
void emitElectedThread(PointEmitter &points, mlir::Value thread, llvm::function_ref<void()> body);

/// Gives warpgroups their roles: the first one loads, and `warpgroups` others, whose number among
/// them `compute` gets, compute. `registers` are those of a thread of either; none if all keep what
/// they start with. The block is one of a cluster of `cluster`.
void emitWarpgroupRoles(PointEmitter &points, int64_t warpgroups, llvm::ArrayRef<int64_t> registers,
                        int64_t cluster, llvm::function_ref<void()> load,
                        llvm::function_ref<void(mlir::Value)> compute);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_TILESCHEDULE_H
