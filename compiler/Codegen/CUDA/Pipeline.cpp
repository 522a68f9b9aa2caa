//===- Pipeline.cpp - The story of a CUDA kernel --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/Common/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace xc::cuda {

void buildCodegenPipeline(OpPassManager &kernelPM, const CodegenOptions &options) {
  // What the kernel says about itself becomes as plain as it gets: sizes fold to scalars, dead ops
  // go.
  kernelPM.addPass(createCanonicalizerPass());
  kernelPM.addPass(createCSEPass());

  // One pass decides. The ones after it obey, each for the kernels that are configured for it:
  // tensor ops become the work of one thread, on scalars and short vectors, and the launch is
  // fixed.
  SelectStrategyOptions select;
  select.wgmma = options.wgmma;
  select.tuning = options.tuning;
  select.tuningFile = options.tuningFile;
  select.shippedTuning = options.shippedTuning;
  kernelPM.addPass(createSelectStrategy(select));
  for (const Strategy *strategy : getStrategies())
    if (std::unique_ptr<Pass> emission = strategy->createEmission())
      kernelPM.addNestedPass<func::FuncOp>(std::move(emission));

  // No grid is larger than hardware launches.
  kernelPM.addNestedPass<func::FuncOp>(createFoldGrids({options.gridLimit}));

  // Tiles get their places in shared memory, and roles of warpgroups become branches.
  kernelPM.addNestedPass<func::FuncOp>(createPlanSharedMemory());
  kernelPM.addNestedPass<func::FuncOp>(createLowerSchedule());

  // Waits go where they are needed, and tiles in registers become a thread's registers, while
  // bodies are still scalar code.
  kernelPM.addNestedPass<func::FuncOp>(createPlaceWaits());
  kernelPM.addNestedPass<func::FuncOp>(createLowerRegisters());

  // Index arithmetic on sizes may still be affine. Equal values merge before loads move, so that
  // each is loaded once; loads move before math is expanded, while there is little to move over.
  kernelPM.addNestedPass<func::FuncOp>(createLowerAffinePass());
  kernelPM.addPass(createCanonicalizerPass());
  kernelPM.addPass(createCSEPass());
  kernelPM.addPass(createLoopInvariantCodeMotionPass());
  kernelPM.addNestedPass<func::FuncOp>(createHoistLoads());

  // exp, erf, ... become arithmetic. From here on everything is an instruction, which is checked
  // while source locations still are those of the model's ops.
  kernelPM.addNestedPass<func::FuncOp>(createRelaxMath());
  codegen::ExpandMathOptions math;
  math.fastMath = options.fastMath;
  math.hasExp2 = math.hasLog2 = math.hasTanh = math.hasReciprocal = math.hasMinMax = true;
  kernelPM.addNestedPass<func::FuncOp>(codegen::createExpandMath(math));
  kernelPM.addNestedPass<func::FuncOp>(createWidenBF16());
  kernelPM.addNestedPass<func::FuncOp>(createVerifyEmitted());

  // Structured loops become branches, memory becomes bare pointers, threads become registers of the
  // machine.
  kernelPM.addPass(createSCFToControlFlowPass());
  kernelPM.addPass(createCanonicalizerPass());
  kernelPM.addPass(createLowerToNVVM());
  kernelPM.addPass(createReconcileUnrealizedCastsPass());
  kernelPM.addNestedPass<LLVM::LLVMFuncOp>(createCanonicalizerPass());
  kernelPM.addNestedPass<LLVM::LLVMFuncOp>(createCSEPass());
  kernelPM.addPass(createAllowDependentLaunch());

  // Locations become .loc directives, and nothing else of a debugger's.
  if (options.lineInfo) {
    LLVM::DIScopeForLLVMFuncOpPassOptions scope;
    scope.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
    kernelPM.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scope));
  }

  EmitPTXOptions ptx;
  ptx.optLevel = options.optLevel;
  ptx.emitAssembly = options.emitAssembly;
  kernelPM.addPass(createEmitPTX(ptx));
}

} // namespace xc::cuda
