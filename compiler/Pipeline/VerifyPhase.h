//===- VerifyPhase.h - Checks between the phases ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PIPELINE_VERIFYPHASE_H
#define XC_PIPELINE_VERIFYPHASE_H

#include "mlir/Pass/Pass.h"

namespace xc {

#define GEN_PASS_DECL
#include "compiler/Pipeline/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Pipeline/Passes.h.inc"

} // namespace xc

#endif // XC_PIPELINE_VERIFYPHASE_H
