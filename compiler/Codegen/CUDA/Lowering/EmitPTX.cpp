//===- EmitPTX.cpp - From the LLVM dialect to PTX text --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs no CUDA toolkit, and reads nothing from the environment. Each run has its own LLVMContext,
// so kernels compile in parallel. Diagnostics of LLVM become errors at the module's location
// instead of ending the process.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Lowering/EarlyWaits.h"
#include "compiler/Codegen/CUDA/Lowering/UnlikelyTails.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITPTX
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

/// Collects LLVM's errors; the default handler prints them and exits.
struct CollectErrors final : llvm::DiagnosticHandler {
  explicit CollectErrors(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(errors);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      stream << "; ";
    }
    return true;
  }

  std::string &errors;
};

struct EmitPTX final : impl::EmitPTXBase<EmitPTX> {
  using EmitPTXBase::EmitPTXBase;

  void runOnOperation() override;

private:
  FailureOr<std::string> compile(const Target &target);
  LogicalResult verifyKernels();
  ArrayAttr describeExports();
};

} // namespace

/// Strategies choose the widths of accesses. The back end's own vectoriser fills gaps between loads
/// and behind the last, so that kernels would read what is behind the end of a buffer. LLVM has no
/// other way to turn it off.
static bool disableLoadStoreVectorizer() {
  constexpr llvm::StringLiteral name = "disable-nvptx-load-store-vectorizer";
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(name);
  return option && !option->addOccurrence(0, name, "true");
}

/// Whether the back end can be used as it must be.
static bool initializeBackend() {
  static const bool isReady = [] {
    // The search for CRCs walks a graph of values as if it were a tree (LLVM 22.1): it never ends
    // in the rounds of a random number generator.
    llvm::DisableLIRP::HashRecognize = true;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return disableLoadStoreVectorizer();
  }();
  return isReady;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  // Threads are the vector lanes, and loops are unrolled where strategies want it.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  // A vector of which all elements are used one by one is still one load: VectorCombine makes it as
  // many as there are elements.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, llvm::Any) { return pass != "VectorCombinePass"; });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1, llvm::OptimizationLevel::O2,
      llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel chosen = levels[std::min(level, 3u)];
  llvm::ModulePassManager passes = chosen == llvm::OptimizationLevel::O0
                                       ? builder.buildO0DefaultPipeline(chosen)
                                       : builder.buildPerModuleDefaultPipeline(chosen);
  passes.run(module, modules);
}

/// Conversions leave the annotation of a loop on its back edge, as an attribute that the
/// translation to LLVM IR does not look at.
static void restoreLoopAnnotations(Operation *module) {
  module->walk([](LLVM::BrOp branch) {
    if (auto annotation = branch->getAttrOfType<LLVM::LoopAnnotationAttr>(kLoopAnnotationAttr))
      branch.setLoopAnnotationAttr(annotation);
  });
}

FailureOr<std::string> EmitPTX::compile(const Target &target) {
  if (!initializeBackend())
    return getOperation().emitOpError(
        "expected an LLVM whose NVPTX back end can be told not to merge loads");
  std::string errors;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(errors));
  restoreLoopAnnotations(getOperation());
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(getOperation(), context);
  if (!module)
    return getOperation().emitOpError("cannot be translated to LLVM IR");

  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return getOperation().emitOpError("expected an LLVM with the NVPTX back end: ") << message;
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, target.arch, target.features(), options, std::nullopt,
                                   std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  optimize(*module, *machine, optLevel);
  for (llvm::Function &function : *module) {
    separateUnlikelyTails(function);
    moveWaitsUp(function);
  }

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return getOperation().emitOpError("cannot be emitted as PTX by this LLVM");
  emission.run(*module);
  if (!errors.empty())
    return getOperation().emitOpError("cannot be compiled for ") << target.arch << ": " << errors;
  return std::string(text);
}

/// What is launched says what its parameters are.
LogicalResult EmitPTX::verifyKernels() {
  for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
    if (!kernel->hasAttr(plan::kLaunchAttr))
      continue;
    auto scalars = kernel->getAttrOfType<DenseI64ArrayAttr>(kScalarsAttr);
    auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
    if (!scalars || !maps || scalars.size() + maps.size() > kernel.getNumArguments())
      return kernel.emitOpError(
                 "expected a kernel that '-xc-cuda-lower-to-nvvm' has lowered, with '")
             << kScalarsAttr << "' and '" << kTensorMapsAttr << "' for its last arguments";
  }
  return success();
}

ArrayAttr EmitPTX::describeExports() {
  Builder builder(&getContext());
  SmallVector<Attribute> exports;
  for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
    auto launch = kernel->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
    if (!launch)
      continue;
    auto scalars = kernel->getAttrOfType<DenseI64ArrayAttr>(kScalarsAttr);
    auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
    SmallVector<Attribute> parameters;
    auto addParameter = [&](StringRef kind, int64_t ordinal) {
      parameters.push_back(
          builder.getArrayAttr({builder.getStringAttr(kind), builder.getI64IntegerAttr(ordinal)}));
    };
    int64_t bindings = kernel.getNumArguments() - scalars.size() - maps.size();
    for (int64_t binding = 0; binding < bindings; ++binding)
      addParameter("binding", binding);
    for (int64_t scalar : scalars.asArrayRef())
      addParameter("i64", scalar);
    for (size_t map = 0; map < maps.size(); ++map)
      addParameter("tensor_map", map);
    SmallVector<NamedAttribute> entries{
        builder.getNamedAttr("name", builder.getStringAttr(kernel.getName())),
        builder.getNamedAttr("launch", launch),
        builder.getNamedAttr("parameters", builder.getArrayAttr(parameters)),
    };
    if (!maps.empty())
      entries.push_back(builder.getNamedAttr("tensor_maps", maps));
    for (auto [name, source] :
         {std::pair("guards", plan::kGuardsAttr), std::pair("config", plan::kConfigAttr),
          std::pair("reason", plan::kReasonAttr), std::pair("selection", kSelectionAttr)})
      if (Attribute value = kernel->getAttr(source))
        entries.push_back(builder.getNamedAttr(name, value));
    for (auto [name, source] : {std::pair("programmatic", kProgrammaticAttr),
                                std::pair("reads_inputs_early", kReadsInputsEarlyAttr)})
      if (kernel->hasAttr(source))
        entries.push_back(builder.getNamedAttr(name, builder.getUnitAttr()));
    exports.push_back(builder.getDictionaryAttr(entries));
  }
  return builder.getArrayAttr(exports);
}

void EmitPTX::runOnOperation() {
  ModuleOp module = getOperation();
  // A kernel that the program brings.
  if (auto image = module->getAttrOfType<StringAttr>(plan::kImageAttr)) {
    if (emitAssembly)
      module->setAttr(plan::kAssemblyAttr, image);
    return;
  }
  const Target *target = findTarget(module);
  if (!target) {
    module.emitOpError("expected a CUDA target, known are ") << listTargets();
    return signalPassFailure();
  }
  if (failed(verifyKernels()))
    return signalPassFailure();
  FailureOr<std::string> ptx = compile(*target);
  if (failed(ptx))
    return signalPassFailure();
  Builder builder(&getContext());
  module->setAttr(plan::kExportsAttr, describeExports());
  module->setAttr(plan::kImageAttr, builder.getStringAttr(*ptx));
  if (emitAssembly)
    module->setAttr(plan::kAssemblyAttr, builder.getStringAttr(*ptx));
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    op.erase();
}

} // namespace xc::cuda
