//===- CUDAConfigBase.td - What configurations have in common -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CUDA_CONFIG_BASE_TD
#define XC_CUDA_CONFIG_BASE_TD

include "compiler/Dialect/Plan/IR/PlanAttrs.td"

def CUDA_Dialect : Dialect {
  let name = "cuda";
  let cppNamespace = "::xc::cuda";
  let summary = "How a kernel is laid out on an NVIDIA GPU";
  let description = [{
    Holds one attribute for each strategy of CUDA code generation. `-xc-cuda-select-strategy` puts one of them
    on each kernel function as `lowering_config`; the `-xc-cuda-emit-*` pass of that strategy obeys it. The
    discardable attribute `cuda.index_bits` on a kernel function (32 or 64) is the width that its index
    arithmetic was proven to need; `cuda.divisor` on a `plan.scalar` is a divisor that the variant's guards
    promise; `cuda.shared_offset` is the place of a buffer in the block's shared memory, in bytes. A kernel function with
    `cuda.programmatic` executes `griddepcontrol.wait` in every thread before it touches memory, so that it may be
    launched before the kernels in front of it have ended; one with `cuda.reads_inputs_early` may read inputs of the call
    before that. One with `cuda.loads_ahead` has loads under way while it
    computes, which `-xc-cuda-relax-math` then leaves exact quotients and roots to.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class CUDA_Config<string name, string attrMnemonic, string strategy, int configVersion>
    : AttrDef<CUDA_Dialect, name, [DeclareAttrInterfaceMethods<Plan_LoweringConfigInterface>]> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getStrategyName() const { return "}] # strategy # [{"; }
    int64_t $cppClass::getConfigVersion() const { return }] # configVersion # [{; }
  }];
}

#endif // XC_CUDA_CONFIG_BASE_TD
