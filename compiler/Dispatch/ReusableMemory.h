//===- ReusableMemory.h - Inputs whose memory a kernel's results may take -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_REUSABLEMEMORY_H
#define XC_DISPATCH_REUSABLEMEMORY_H

#include "compiler/Dispatch/DispatchGroups.h"

namespace xc::plan {

/// For each of `escaping`, the results of a group's kernel: `reuse` gets the index in `reusable` of
/// an input that it may be written over, or -1.
void findReusableMemory(const DispatchGroup &group, llvm::ArrayRef<mlir::Value> escaping,
                        llvm::SmallVectorImpl<mlir::Value> &reusable,
                        llvm::SmallVectorImpl<int64_t> &reuse);

} // namespace xc::plan

#endif // XC_DISPATCH_REUSABLEMEMORY_H
