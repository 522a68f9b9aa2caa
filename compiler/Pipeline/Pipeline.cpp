//===- Pipeline.cpp - From a parsed program to the bytes of a module ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Pipeline.h"

#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/Custom/Passes.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Plan/Transforms/Passes.h"
#include "compiler/Dispatch/Passes.h"
#include "compiler/Input/Passes.h"
#include "compiler/Pipeline/Dump.h"
#include "compiler/Pipeline/VerifyPhase.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace xc {

static constexpr llvm::StringLiteral kPhaseNames[] = {"input",    "array",   "linalg", "layout",
                                                      "dispatch", "codegen", "plan",   "vmfb"};

ArrayRef<llvm::StringLiteral> getPhaseNames() { return kPhaseNames; }

std::optional<Phase> parsePhase(StringRef name) {
  for (auto [index, known] : llvm::enumerate(kPhaseNames))
    if (name == known)
      return static_cast<Phase>(index);
  return std::nullopt;
}

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createMergeEqualOps());
}

static bool hasTarget(const CompileOptions &options,
                      llvm::function_ref<bool(const cuda::Target &)> isWanted) {
  return llvm::any_of(options.targets, [&](StringRef name) {
    auto [kind, arch] = name.split(':');
    const cuda::Target *target = kind == "cuda" ? cuda::findTarget(arch) : nullptr;
    return target && isWanted(*target);
  });
}

/// Whether a GPU may have kernels for attention as a whole, and for gradients.
static bool mayKeepFused(const CompileOptions &options) {
  return hasTarget(options, [](const cuda::Target &target) { return target.hasMMA16816; });
}

static void addRecognition(OpPassManager &pm, const CompileOptions &options) {
  if (options.recognize)
    pm.addPass(array::createRecognize({mayKeepFused(options)}));
}

static void addGradients(OpPassManager &pm, ArrayRef<Gradient> gradients) {
  for (const Gradient &gradient : gradients) {
    array::DifferentiateOptions differentiate;
    differentiate.function = gradient.function;
    differentiate.arguments = gradient.inputs;
    pm.addPass(array::createDifferentiate(differentiate));
  }
}

/// What users write: checked, and brought into array ops and linalg on tensors. `called` are the
/// gradients that the program calls itself.
static void addInputPasses(OpPassManager &pm, const CompileOptions &options,
                           ArrayRef<Gradient> called) {
  pm.addPass(custom::createReadKernels({options.modelDirectory}));
  addImportPasses(pm, options.stubUnsupported);
  pm.addPass(createRaiseScalars());
  addInputConversionPasses(pm, llvm::map_to_vector(options.gradients, [](const Gradient &gradient) {
                             return gradient.function;
                           }));
  // Entry points are compiled each on its own, so calls between functions go.
  // Nothing is cleaned up before what ops require has been stated.
  pm.addPass(createInlineCalls());
  if (!called.empty()) {
    // Gradients want functions without calls, and all shapes.
    pm.addPass(array::createInferShapes());
    pm.addPass(createStateRequirements());
    addRecognition(pm, options);
    addGradients(pm, called);
    pm.addPass(createInlineCalls());
  }
  pm.addPass(createSymbolDCEPass());
}

/// Whether a target has kernels that go through blocks of keys, of f32 as well.
static bool mayKeepBlocks(const CompileOptions &options) {
  return llvm::any_of(options.targets,
                      [](StringRef name) { return name.split(':').first == "cpu"; });
}

/// Whether a target may have kernels for some attention as a whole.
static bool mayKeepAttention(const CompileOptions &options) {
  return mayKeepFused(options) || mayKeepBlocks(options);
}

/// Convolutions by fewer products, which round more: where the user trades accuracy for speed, and
/// models know all targets. On tensor cores they would be slower.
static void addAlgorithmChoice(OpPassManager &pm, const CompileOptions &options) {
  cuda::ChooseWinogradOptions choice;
  for (StringRef target : options.targets) {
    auto [driver, arch] = target.split(':');
    if (driver != "cuda")
      return;
    choice.archs.push_back(arch.str());
  }
  if (options.fastMath && !options.allowTF32)
    pm.addNestedPass<func::FuncOp>(cuda::createChooseWinograd(choice));
}

/// Shapes first, since gradients, folding and decomposition look at them.
static void addArrayPasses(OpPassManager &pm, const CompileOptions &options,
                           ArrayRef<Gradient> gradients) {
  pm.addNestedPass<func::FuncOp>(array::createFixDims());
  pm.addPass(array::createInferShapes());
  pm.addPass(createStateRequirements());
  addCleanup(pm);
  // Gradients of what is whole are whole.
  addRecognition(pm, options);
  addCleanup(pm);
  addGradients(pm, gradients);
  if (!gradients.empty())
    addCleanup(pm);
  // While composites are whole, and before choices and loops on constants are simplified.
  pm.addPass(createFoldConstants());
  addCleanup(pm);
  // After what would fold a narrow constant's conversion back, and before products are taken apart.
  if (!options.weightsType.empty()) {
    pm.addPass(array::createNarrowWeights({options.weightsType}));
    addCleanup(pm);
  }
  addAlgorithmChoice(pm, options);
  if (mayKeepAttention(options))
    pm.addPass(array::createKeepAttention({mayKeepFused(options), mayKeepBlocks(options)}));
  pm.addPass(array::createDecompose());
  addCleanup(pm);
  // After the decomposition, so that only simple ops need to know what an extent means for them.
  pm.addNestedPass<func::FuncOp>(array::createResolveExtents());
  // Regions see what surrounds them until here; from here on each is a function of its own.
  pm.addPass(createGuardLoops());
  pm.addPass(createOutlineControl());
}

static void addLinalgPasses(OpPassManager &pm) {
  pm.addPass(createConvertArrayToLinalg());
  addCleanup(pm);
}

/// What the target computes otherwise than the program says.
static void addProgramPasses(OpPassManager &funcPM, const CompileOptions &options) {
  if (options.allowTF32)
    funcPM.addPass(plan::createAllowTF32());
  funcPM.addPass(plan::createPromoteVariables());
  // Before sorting: what goes into its place needs no order of rows.
  funcPM.addPass(plan::createPlaceUpdates());
  funcPM.addPass(cuda::createSplitScansAndSorts());
  funcPM.addPass(cuda::createReduceProducts());
  // Sizes come from the function's inputs, so that no kernel has to run before a size is known.
  funcPM.addPass(memref::createResolveShapedTypeResultDimsPass());
  addCleanup(funcPM);
  // Dims of size 1 hide that loops are the same. Folding them makes new questions about sizes.
  funcPM.addPass(plan::createFoldProductUnitDims());
  funcPM.addPass(createLinalgFoldUnitExtentDimsPass());
  funcPM.addPass(memref::createResolveShapedTypeResultDimsPass());
  addCleanup(funcPM);
}

/// Which ops are one.
static void addFusionPasses(OpPassManager &funcPM, const CompileOptions &options) {
  plan::FuseElementwiseOptions elementwise;
  elementwise.fuse = options.fuse;
  funcPM.addPass(plan::createFuseElementwise(elementwise));
  addCleanup(funcPM);
  if (!options.fuse)
    return;
  funcPM.addPass(plan::createNarrowResults());
  funcPM.addPass(plan::createMergeProducts());
}

/// Which ops are several.
static void addSplittingPasses(OpPassManager &funcPM, const CompileOptions &options) {
  cuda::SplitReductionsOptions split;
  split.columnParts = options.fuse;
  funcPM.addPass(cuda::createSplitReductions(split));
  funcPM.addPass(memref::createResolveShapedTypeResultDimsPass());
  addCleanup(funcPM);
  // Where kernels hold one op each, reductions and products are apart anyway.
  if (options.fuse)
    funcPM.addPass(cuda::createReduceRowsInParts());
  // After the last cleanup, which would fold copies with the slices that are read of them.
  cuda::AlignOperandsOptions align;
  align.wgmma = options.wgmma;
  funcPM.addPass(cuda::createAlignOperands(align));
  funcPM.addPass(cpu::createOrderOperands());
}

static void addDispatchPasses(OpPassManager &targetPM, const CompileOptions &options) {
  addProgramPasses(targetPM.nest<func::FuncOp>(), options);
  // While each elementwise op is one of its own; what it makes of parameters is hoisted next.
  if (options.fuse)
    targetPM.addNestedPass<func::FuncOp>(plan::createFoldScales());
  // Before ops fuse with those that depend on inputs.
  targetPM.addPass(plan::createHoistParameters());
  addFusionPasses(targetPM.nest<func::FuncOp>(), options);
  // Fusion weighs bodies, and a list is one input for all that read at its places.
  targetPM.addNestedPass<func::FuncOp>(plan::createComputePlaces());
  // Parameters side by side are new.
  targetPM.addPass(plan::createHoistParameters());
  addSplittingPasses(targetPM.nest<func::FuncOp>(), options);
  // Aligned copies of parameters are new.
  targetPM.addPass(plan::createHoistParameters());
  plan::FormDispatchesOptions regions;
  regions.fuse = options.fuse;
  regions.explain = options.explainFusion;
  targetPM.addNestedPass<func::FuncOp>(plan::createFormDispatches(regions));
  if (options.fuse) {
    targetPM.addNestedPass<func::FuncOp>(plan::createSpreadResults());
    targetPM.addNestedPass<func::FuncOp>(plan::createPlaceParts());
  }
  targetPM.addPass(plan::createOutlineDispatches());
  // No canonicalization from here on: it would undo copies that kernels are to make.
  targetPM.addPass(createMergeEqualOps());
  targetPM.addPass(plan::createDedupKernels());
  targetPM.addPass(plan::createAnnotateCost());
}

static void addKernelPasses(OpPassManager &kernelPM, plan::TargetAttr target,
                            const CompileOptions &options) {
  if (target.isCPU()) {
    cpu::CodegenOptions cpuOptions;
    cpuOptions.arch = target.getArch().str();
    cpuOptions.optLevel = options.optLevel;
    cpuOptions.fastMath = options.fastMath;
    cpuOptions.emitAssembly = !options.dumpDirectory.empty();
    cpu::buildCodegenPipeline(kernelPM, cpuOptions);
    return;
  }
  kernelPM.addPass(custom::createEmbedKernels());
  cuda::CodegenOptions cudaOptions;
  cudaOptions.optLevel = options.optLevel;
  cudaOptions.fastMath = options.fastMath;
  cudaOptions.lineInfo = options.lineInfo;
  cudaOptions.wgmma = options.wgmma;
  cudaOptions.tuning = options.tuning;
  cudaOptions.tuningFile = options.tuningFile;
  cudaOptions.shippedTuning = options.shippedTuning;
  cuda::buildCodegenPipeline(kernelPM, cudaOptions);
}

namespace {

/// Counts the kernels whose pipeline is through.
class KernelCounter final : public PassInstrumentation {
public:
  KernelCounter(const CompileOptions &options, std::string phase, size_t all)
      : options(options), phase(std::move(phase)), all(all) {}

  void runAfterPipeline(std::optional<OperationName> name,
                        const PipelineParentInfo &parent) override {
    // Instrumentations run one at a time, whatever thread a pipeline is on. Those of functions are
    // parts of their kernel's.
    bool isKernel =
        parent.parentPass && name && name->getStringRef() == ModuleOp::getOperationName();
    if (isKernel && done < all)
      options.progress(phase, ++done, all);
  }

private:
  const CompileOptions &options;
  std::string phase;
  size_t done = 0, all;
};

/// Runs phases one after another, with the dump after each.
class Compiler {
public:
  Compiler(ModuleOp module, const CompileOptions &options, TimingScope &timing)
      : module(module), options(options), timing(timing), dump(options.dumpDirectory) {
    for (const Gradient &gradient : options.gradients) {
      auto declared = module.lookupSymbol<func::FuncOp>(array::getGradientName(gradient.function));
      (declared && declared.isExternal() ? called : added).push_back(gradient);
    }
  }

  FailureOr<std::string> run();

private:
  LogicalResult runPhase(Phase phase);
  LogicalResult verifyPhase(Phase phase);
  LogicalResult runPasses(ModuleOp root, StringRef name,
                          llvm::function_ref<void(PassManager &)> add);
  LogicalResult runCodegen();
  FailureOr<std::string> write();
  SmallVector<ModuleOp> getTargets() { return llvm::to_vector(module.getOps<ModuleOp>()); }

  ModuleOp module;
  const CompileOptions &options;
  TimingScope &timing;
  Dump dump;
  /// Gradients that the module declares, to call them, and those that are added to it.
  SmallVector<Gradient> called, added;
};

} // namespace

/// Each pass manager reports its times under a name of its own: timers know passes by their
/// address, which those of a later manager may have again.
LogicalResult Compiler::runPasses(ModuleOp root, StringRef name,
                                  llvm::function_ref<void(PassManager &)> add) {
  TimingScope scope = timing.nest(name);
  PassManager pm(module.getContext());
  pm.enableTiming(scope);
  add(pm);
  return pm.run(root);
}

LogicalResult Compiler::runCodegen() {
  for (ModuleOp target : getTargets()) {
    auto attr = target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
    std::string name =
        ("Phase codegen of " + attr.getKind().getValue() + ":" + attr.getArch().getValue()).str();
    if (failed(runPasses(target, name, [&](PassManager &pm) {
          addKernelPasses(pm.nest<ModuleOp>(), attr, options);
          size_t kernels = llvm::range_size(target.getOps<ModuleOp>());
          if (options.progress)
            pm.addInstrumentation(std::make_unique<KernelCounter>(options, name, kernels));
        })))
      return failure();
    if (failed(dump.writeKernelCode(target)))
      return failure();
  }
  return success();
}

LogicalResult Compiler::runPhase(Phase phase) {
  std::string name = ("Phase " + kPhaseNames[static_cast<unsigned>(phase)]).str();
  if (options.progress)
    options.progress(name, 0, 0);
  switch (phase) {
  case Phase::Input:
    return runPasses(module, name, [&](PassManager &pm) { addInputPasses(pm, options, called); });
  case Phase::Array:
    return runPasses(module, name, [&](PassManager &pm) { addArrayPasses(pm, options, added); });
  case Phase::Linalg:
    return runPasses(module, name, [](PassManager &pm) { addLinalgPasses(pm); });
  case Phase::Layout:
    return runPasses(module, name, [&](PassManager &pm) {
      plan::CloneForTargetsOptions cloneOptions;
      cloneOptions.targets = options.targets;
      pm.addPass(plan::createCloneForTargets(cloneOptions));
      pm.nest<ModuleOp>().addPass(custom::createResolveReferences());
      if (mayKeepAttention(options))
        pm.nest<ModuleOp>().addPass(cuda::createExpandAttention({options.wgmma}));
      OpPassManager &funcPM = pm.nest<ModuleOp>().nest<func::FuncOp>();
      funcPM.addPass(cuda::createPackGroups({options.wgmma}));
      funcPM.addPass(cuda::createPackPixels({options.wgmma}));
      funcPM.addPass(plan::createChooseLayouts());
      addCleanup(funcPM);
    });
  case Phase::Dispatch:
    return runPasses(module, name,
                     [&](PassManager &pm) { addDispatchPasses(pm.nest<ModuleOp>(), options); });
  case Phase::Codegen:
    return runCodegen();
  case Phase::Plan:
    return runPasses(module, name, [&](PassManager &pm) {
      plan::BuildPlanOptions planOptions;
      planOptions.reuse = options.reuse;
      OpPassManager &targetPM = pm.nest<ModuleOp>();
      targetPM.addNestedPass<func::FuncOp>(plan::createOrderWrites());
      targetPM.addPass(plan::createBuildPlan(planOptions));
    });
  case Phase::Vmfb:
    return success();
  }
  return failure();
}

/// Checks that what the next phase relies on is so.
LogicalResult Compiler::verifyPhase(Phase phase) {
  return runPasses(module, "Verify the phases", [&](PassManager &pm) {
    VerifyPhaseOptions verify;
    verify.phase = kPhaseNames[static_cast<unsigned>(phase)].str();
    pm.addPass(createVerifyPhase(verify));
  });
}

FailureOr<std::string> Compiler::write() {
  TimingScope scope = timing.nest("Link and write the module");
  SmallVector<ModuleOp> targets = getTargets();
  std::vector<target::CodeAlternatives> code;
  for (ModuleOp target : targets) {
    FailureOr<target::CodeAlternatives> linked = target::linkCode(target, options.ptxas);
    if (failed(linked))
      return failure();
    code.push_back(std::move(*linked));
  }
  return target::writeModule(targets, code, options.provenance);
}

FailureOr<std::string> Compiler::run() {
  for (unsigned index = 0; index <= static_cast<unsigned>(options.compileTo); ++index) {
    Phase phase = static_cast<Phase>(index);
    if (failed(runPhase(phase)))
      return failure();
    if (phase == Phase::Vmfb)
      break;
    if (failed(dump.writePhase(module, index, kPhaseNames[index])) || failed(verifyPhase(phase)))
      return failure();
  }
  if (options.compileTo != Phase::Vmfb)
    return std::string();
  return write();
}

FailureOr<std::string> compile(ModuleOp module, const CompileOptions &options,
                               TimingScope &timing) {
  return Compiler(module, options, timing).run();
}

} // namespace xc
