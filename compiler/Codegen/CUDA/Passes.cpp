//===- Passes.cpp - Registration of CUDA code generation ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

namespace xc::cuda {

namespace {

/// The options of `-xc-cuda-codegen`, named as the fields of CodegenOptions.
struct PipelineOptions final : PassPipelineOptions<PipelineOptions> {
  Option<unsigned> optLevel{*this, "opt-level", llvm::cl::desc("LLVM's optimisation level, 0 to 3"),
                            llvm::cl::init(3)};
  Option<bool> fastMath{*this, "fast-math", llvm::cl::desc("Approximate math functions"),
                        llvm::cl::init(false)};
  Option<bool> lineInfo{*this, "line-info", llvm::cl::desc("Emit .loc directives"),
                        llvm::cl::init(false)};
  Option<bool> emitAssembly{*this, "emit-assembly", llvm::cl::desc("Set plan.assembly too"),
                            llvm::cl::init(false)};
  Option<bool> wgmma{*this, "wgmma", llvm::cl::desc("Products of 16-bit types on wgmma"),
                     llvm::cl::init(true)};
  Option<std::string> tuning{*this, "tuning", llvm::cl::desc("Lines KEY = CONFIG")};
  Option<int64_t> gridLimit{*this, "grid-limit", llvm::cl::desc("Blocks of a grid"),
                            llvm::cl::init(INT32_MAX)};
};

} // namespace

void registerPasses() {
  registerXCCodegenCUDAPasses();
  PassPipelineRegistration<PipelineOptions>("xc-cuda-codegen", "Compile CUDA kernel modules to PTX",
                                            [](OpPassManager &pm, const PipelineOptions &parsed) {
                                              CodegenOptions options;
                                              options.optLevel = parsed.optLevel;
                                              options.fastMath = parsed.fastMath;
                                              options.lineInfo = parsed.lineInfo;
                                              options.emitAssembly = parsed.emitAssembly;
                                              options.wgmma = parsed.wgmma;
                                              options.tuning = parsed.tuning;
                                              options.gridLimit = parsed.gridLimit;
                                              buildCodegenPipeline(pm, options);
                                            });
}

void registerDialectsAndInterfaces(DialectRegistry &registry) {
  registry.insert<CUDADialect, tile::TileDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

} // namespace xc::cuda
