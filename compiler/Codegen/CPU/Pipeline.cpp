//===- Pipeline.cpp - CPU code generation, every pass in order ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/Common/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace xc::cpu {

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Linalg on tensors -> loops over memory, as the strategy of each function says.
static void addStrategies(OpPassManager &pm, const CodegenOptions &options) {
  // Before reshapes of bindings go to memory: this makes some.
  pm.addPass(createMergeGroups({options.arch}));
  pm.addPass(createNormalizeKernel());
  addCleanup(pm);
  pm.addPass(createSelectStrategy({options.arch}));
  // Each of these takes the functions with its own kind of configuration; the generic one takes
  // what the others cannot.
  pm.addPass(createLowerElementwise({options.arch}));
  pm.addPass(createLowerReduction({options.arch}));
  pm.addPass(createLowerMatmul());
  pm.addPass(createLowerAttention());
  pm.addPass(createLowerLines());
  pm.addPass(createLowerGeneric());
  pm.addPass(codegen::createLowerKernelOpsToLoops());
  // The strategies leave the tensor ops that they replaced; all are dead, and the canonicaliser
  // erases dead ops.
  addCleanup(pm);
  pm.addPass(createVerifyLoops());
}

/// Loops -> arithmetic that every CPU of the arch has, on memory whose place is known.
static void addArithmetic(OpPassManager &pm, const CodegenOptions &options) {
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createPlaceTemporaries());
  pm.addPass(createExpandArithmetic({options.arch, options.fastMath}));
  addCleanup(pm);
}

/// Loops -> the LLVM dialect -> an object.
static void addObject(OpPassManager &pm, const CodegenOptions &options) {
  pm.addPass(createLowerABI());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // convert-to-llvm leaves some vector ops behind without a word, so this pass comes first.
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createEraseBFloat());
  addCleanup(pm);
  EmitObjectOptions emit;
  emit.arch = options.arch;
  emit.optLevel = options.optLevel;
  emit.fastMath = options.fastMath;
  emit.emitAssembly = options.emitAssembly;
  emit.objectFile = options.objectFile;
  pm.addPass(createEmitObject(emit));
}

void buildCodegenPipeline(OpPassManager &kernelPM, const CodegenOptions &options) {
  addStrategies(kernelPM, options);
  addArithmetic(kernelPM, options);
  addObject(kernelPM, options);
}

namespace {

/// The command-line form of CodegenOptions.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> arch{*this, "arch",
                           llvm::cl::desc("CPU; empty: that of the module's plan.target")};
  Option<unsigned> optLevel{*this, "opt-level", llvm::cl::desc("0 to 3"), llvm::cl::init(3)};
  Option<bool> fastMath{*this, "fast-math", llvm::cl::desc("Reassociate, contract, approximate"),
                        llvm::cl::init(false)};
  Option<bool> emitAssembly{*this, "emit-assembly", llvm::cl::desc("Set plan.assembly"),
                            llvm::cl::init(false)};
  Option<std::string> objectFile{*this, "object-file",
                                 llvm::cl::desc("Write the object to this file as well")};

  CodegenOptions get() const { return {arch, optLevel, fastMath, emitAssembly, objectFile}; }
};

} // namespace

void registerPasses() {
  registerCPUCodegenPasses();
  PassPipelineRegistration<PipelineOptions>("xc-cpu-codegen", "Kernel module to ELF object",
                                            [](OpPassManager &pm, const PipelineOptions &options) {
                                              buildCodegenPipeline(pm, options.get());
                                            });
  PassPipelineRegistration<PipelineOptions>(
      "xc-cpu-loops", "Kernel module to loops over memory: the first part of -xc-cpu-codegen",
      [](OpPassManager &pm, const PipelineOptions &options) { addStrategies(pm, options.get()); });
}

void registerDialectsAndInterfaces(DialectRegistry &registry) {
  registry.insert<CPUDialect, LLVM::LLVMDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

} // namespace xc::cpu
