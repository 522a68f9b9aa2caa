//===- EmitObject.cpp - LLVM dialect to an ELF object ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel module is compiled in an LLVMContext of its own, so that kernels compile in parallel.
// LLVM's errors become diagnostics of the module; its default handler would end the process.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolicFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_EMITOBJECT
#include "compiler/Codegen/CPU/Passes.h.inc"

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The search for CRCs walks a graph of values as if it were a tree (LLVM 22.1): it never ends
    // in the rounds of a random number generator.
    llvm::DisableLIRP::HashRecognize = true;
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

namespace {

/// Keeps LLVM's first error.
struct ErrorCollector final : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &message) : message(message) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && message.empty()) {
      llvm::raw_string_ostream stream(message);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

  std::string &message;
};

} // namespace

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(ModuleOp module, const Arch &arch,
                                                                unsigned optLevel) {
  initializeTargets();
  std::string error;
  llvm::Triple triple(arch.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError("LLVM cannot generate code for ") << arch.triple << ": " << error;
    return nullptr;
  }
  auto level = optLevel == 0   ? llvm::CodeGenOptLevel::None
               : optLevel == 1 ? llvm::CodeGenOptLevel::Less
               : optLevel == 2 ? llvm::CodeGenOptLevel::Default
                               : llvm::CodeGenOptLevel::Aggressive;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, arch.cpu, arch.features, llvm::TargetOptions(),
                                  llvm::Reloc::PIC_, std::nullopt, level));
}

static void setAttributes(llvm::Module &module, const Arch &arch, bool fastMath) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", arch.cpu);
    function.addFnAttr("target-features", arch.features);
    function.addFnAttr("prefer-vector-width", std::to_string(arch.vectorBytes * 8));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!fastMath)
      continue;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (!isa<llvm::FPMathOperator>(instruction))
        continue;
      // NaN and infinity keep their meaning: masks in models are built from them.
      llvm::FastMathFlags flags = instruction.getFastMathFlags();
      flags.setAllowReassoc();
      flags.setAllowContract();
      flags.setAllowReciprocal();
      flags.setApproxFunc();
      flags.setNoSignedZeros();
      instruction.setFastMathFlags(flags);
    }
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned optLevel) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = optLevel >= 2;
  llvm::PassBuilder builder(&machine, tuning);
  // No library is there at run time: without this, loops would become calls of memset and memcpy.
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::OptimizationLevel level = optLevel == 0   ? llvm::OptimizationLevel::O0
                                  : optLevel == 1 ? llvm::OptimizationLevel::O1
                                  : optLevel == 2 ? llvm::OptimizationLevel::O2
                                                  : llvm::OptimizationLevel::O3;
  llvm::ModulePassManager passes = optLevel == 0 ? builder.buildO0DefaultPipeline(level)
                                                 : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

/// Machine code of |module|: an ELF object or assembly text.
static FailureOr<std::string> emitCode(ModuleOp op, llvm::Module &module,
                                       llvm::TargetMachine &machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return op.emitError("LLVM cannot emit code for this target");
  passes.run(module);
  return std::string(buffer.begin(), buffer.end());
}

/// A symbol that the object does not define would only be missed when the module is loaded.
static LogicalResult checkSymbols(ModuleOp op, StringRef image) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(image, "kernel"));
  if (!object)
    return op.emitError("cannot read the object that LLVM wrote: ")
           << llvm::toString(object.takeError());
  SmallVector<std::string> undefined;
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return op.emitError("cannot read the symbols of the object that LLVM wrote");
    }
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      undefined.push_back(name->str());
  }
  if (undefined.empty())
    return success();
  InFlightDiagnostic diagnostic = op.emitError("kernel ");
  diagnostic << (op.getName() ? *op.getName() : "(unnamed)")
             << " needs functions that a kernel cannot call: ";
  llvm::interleaveComma(undefined, diagnostic);
  return diagnostic;
}

namespace {

struct EmitObject final : impl::EmitObjectBase<EmitObject> {
  using EmitObjectBase::EmitObjectBase;

  void runOnOperation() override {
    if (failed(emitObject(getOperation())))
      signalPassFailure();
  }

  LogicalResult emitObject(ModuleOp module) {
    FailureOr<Arch> arch = getKernelArch(module, this->arch);
    if (failed(arch))
      return failure();
    std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(module, *arch, optLevel);
    if (!machine)
      return failure();

    std::string error;
    llvm::LLVMContext context;
    context.setDiagnosticHandler(std::make_unique<ErrorCollector>(error));
    std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context, "kernel");
    if (!llvmModule)
      return module.emitError("cannot translate the kernel to LLVM IR");
    llvmModule->setTargetTriple(machine->getTargetTriple());
    llvmModule->setDataLayout(machine->createDataLayout());
    setAttributes(*llvmModule, *arch, fastMath);
    optimize(*llvmModule, *machine, optLevel);

    if (emitAssembly) {
      // Code generation changes the module, so the text comes from a copy.
      std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
      FailureOr<std::string> text =
          emitCode(module, *copy, *machine, llvm::CodeGenFileType::AssemblyFile);
      if (failed(text))
        return failure();
      module->setAttr(plan::kAssemblyAttr, StringAttr::get(&getContext(), *text));
    }
    FailureOr<std::string> image =
        emitCode(module, *llvmModule, *machine, llvm::CodeGenFileType::ObjectFile);
    if (failed(image))
      return failure();
    if (!error.empty())
      return module.emitError("LLVM cannot compile the kernel: ") << error;
    if (failed(checkSymbols(module, *image)) || failed(writeObject(module, *image)))
      return failure();
    module->setAttr(plan::kImageAttr, StringAttr::get(&getContext(), *image));
    module.getBody()->clear();
    return success();
  }

  LogicalResult writeObject(ModuleOp module, StringRef image) {
    if (objectFile.empty())
      return success();
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(objectFile, &error);
    if (!file)
      return module.emitError(error);
    file->os() << image;
    file->keep();
    return success();
  }
};

} // namespace
} // namespace xc::cpu
