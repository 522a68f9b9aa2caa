//===- xcompile.cpp - The compiler's command line ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CUDA/Matmul/Tuning.h"
#include "compiler/Input/ONNX/ImportONNX.h"
#include "compiler/Input/ParserErrors.h"
#include "compiler/Input/RegularFile.h"
#include "compiler/Input/TruthLiterals.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Pipeline/Registration.h"
#include "compiler/Target/CUDA/Ptxas.h"
#include "schemas/module_header.h"
#include "tools/common/Printable.h"
#include "tools/xcompile/InputFile.h"
#include "tools/xcompile/LoadTrial.h"
#include "tools/xcompile/Options.h"
#include "tools/xcompile/OutputFile.h"
#include "tools/xcompile/Progress.h"
#include "tools/xcompile/Report.h"
#include "tools/xcompile/WriteWeights.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <csignal>
#include <unistd.h>

using namespace mlir;

static constexpr llvm::StringLiteral kVersion = "xcompile " XC_VERSION;

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "xcompile")
      << xc::tools::printable(message.str(), /*keepsLines=*/true) << "\n";
  return 1;
}

/// Whether `path` holds anything but a module that was compiled before.
static bool holdsOtherFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || !llvm::sys::fs::exists(status))
    return false;
  if (xc::isPipeOrDevice(path))
    return true;
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, sizeof(xc::ModuleHeader::kMagic), 0);
  return !buffer || !(*buffer)->getBuffer().starts_with(llvm::StringRef(
                        xc::ModuleHeader::kMagic, sizeof(xc::ModuleHeader::kMagic)));
}

static int report(llvm::Error error) { return error ? fail(llvm::toString(std::move(error))) : 0; }

/// Finds out before the work whether its result can be written.
static int checkOutput(const xc::CommandLine &command) {
  llvm::StringRef path = command.output;
  if (path == "-")
    return 0;
  if (command.isOutputImplied && holdsOtherFile(path))
    return fail("'" + path + "' is there and no module; expected -o FILE to replace it");
  return report(xc::checkWritable(path, /*mayBeDevice=*/true));
}

/// Likewise of the file of weights, which the module names, so that it can be read again.
static int checkWeightsFile(const xc::CommandLine &command) {
  llvm::StringRef path = command.externalWeights;
  if (path.empty())
    return 0;
  for (llvm::StringRef other : {command.input, command.output}) {
    bool isSame = other == path;
    if (isSame || (!llvm::sys::fs::equivalent(other, path, isSame) && isSame))
      return fail("expected a file of its own for --external-weights, got '" + path +
                  "', which is the " + (other == command.input ? "input" : "output"));
  }
  return report(xc::checkWritable(path, /*mayBeDevice=*/false));
}

/// Whether what is written to |path| and to standard output ends up in one file or pipe.
static bool isStandardOutput(llvm::StringRef path) {
  if (path == "-")
    return true;
  llvm::sys::fs::file_status ours, standard;
  return !llvm::sys::fs::status(path, ours) && !llvm::sys::fs::status(STDOUT_FILENO, standard) &&
         standard.type() != llvm::sys::fs::file_type::character_file &&
         llvm::sys::fs::equivalent(ours, standard);
}

static std::string print(ModuleOp module, bool bytecode) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!bytecode)
    module.print(stream);
  else if (failed(writeBytecodeToFile(module, stream)))
    return {};
  return text;
}

/// The flags that change the output, in one spelling, for the module's provenance.
static std::string describeFlags(const xc::CommandLine &command) {
  const xc::CompileOptions &options = command.compile;
  std::string others;
  for (const xc::Gradient &gradient : options.gradients)
    others += " --gradient=" + gradient.function + (gradient.inputs.empty() ? "" : ":") +
              llvm::join(gradient.inputs, ",");
  for (const xc::onnx::FixedDim &dim : command.fixedDims)
    others += " --fix-dim=" + dim.name + "=" + std::to_string(dim.size);
  for (const xc::onnx::FixedInput &input : command.fixedInputs)
    others += " --fix-input=" + input.name + "=" + input.numbers;
  return "--target=" + llvm::join(options.targets, ",") + " -O" + std::to_string(options.optLevel) +
         (options.fastMath ? " --fast-math" : "") + (options.allowTF32 ? " --allow-tf32" : "") +
         (options.weightsType.empty() ? "" : " --weights-type=" + options.weightsType) +
         (options.lineInfo ? " --line-info" : "") + (options.fuse ? "" : " --no-fusion") +
         (options.recognize ? "" : " --no-recognition") + (options.wgmma ? "" : " --no-wgmma") +
         (options.shippedTuning ? "" : " --no-shipped-tuning") +
         (options.reuse ? "" : " --no-reuse") + others;
}

/// Gives every CPU the name that means the same on any machine, as the module records it. An
/// unknown CPU is an error here, before anything is compiled.
static LogicalResult resolveCPUs(llvm::MutableArrayRef<std::string> targets, MLIRContext &context) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  for (std::string &target : targets) {
    llvm::StringRef name = target;
    if (!name.consume_front("cpu:"))
      continue;
    FailureOr<xc::cpu::Arch> arch = xc::cpu::lookupArch(name, emitError);
    if (failed(arch))
      return failure();
    target = "cpu:" + arch->name;
  }
  return success();
}

/// Finds ptxas where a target can use it, and records its version, on which the output depends.
static LogicalResult resolvePtxas(xc::CompileOptions &options, MLIRContext &context) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  bool isWanted = llvm::any_of(options.targets,
                               [](llvm::StringRef target) { return target.starts_with("cuda:"); });
  if (!isWanted || options.ptxas == "off") {
    options.ptxas.clear();
    return success();
  }
  FailureOr<std::optional<std::string>> found = xc::target::findPtxas(options.ptxas, emitError);
  if (failed(found))
    return failure();
  options.ptxas = found->value_or("");
  if (options.ptxas.empty())
    return success();
  FailureOr<std::string> version = xc::target::getPtxasVersion(options.ptxas, emitError);
  if (failed(version))
    return failure();
  options.provenance.ptxas = *version;
  return success();
}

/// Reads the configurations that --tuning names, and records which they are.
static LogicalResult readTuning(xc::CommandLine &command, MLIRContext &context) {
  if (command.tuning.empty())
    return success();
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = xc::readInputFile(command.tuning, message);
  if (!buffer) {
    fail(message);
    return failure();
  }
  command.compile.tuning = buffer->getBuffer().str();
  command.compile.tuningFile = command.tuning;
  command.compile.provenance.flags +=
      " --tuning=" + llvm::utohexstr(llvm::xxh3_64bits(buffer->getBuffer()));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  return xc::cuda::TuningTable::parse(&context, command.compile.tuning, command.tuning);
}

/// Errors that are about no place in the input: a target, a file to write.
static LogicalResult printWithoutPlace(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
      !isa<UnknownLoc>(diagnostic.getLocation()))
    return failure(); // the next handler prints it
  fail(diagnostic.str());
  return success();
}

/// Whether the input is an ONNX model: by its name, or by what it holds.
static bool isModelFile(llvm::StringRef bytes, llvm::StringRef path) {
  return llvm::sys::path::extension(path).equals_insensitive(".onnx") ||
         xc::onnx::looksLikeModel(bytes);
}

/// Its errors are about nodes, not about places in the file, which is binary.
static OwningOpRef<ModuleOp> importONNX(llvm::StringRef bytes, const xc::CommandLine &command,
                                        MLIRContext &context, xc::onnx::ExternalWeights &external) {
  ScopedDiagnosticHandler inModel(&context, [&](Diagnostic &diagnostic) -> LogicalResult {
    if (!isa<UnknownLoc>(diagnostic.getLocation()))
      return failure();
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      fail("cannot read '" + command.input + "': " + diagnostic.str());
    else
      llvm::WithColor::warning(llvm::errs(), "xcompile") << diagnostic.str() << "\n";
    return success();
  });
  xc::onnx::ImportOptions options;
  options.directory = command.compile.modelDirectory;
  options.stubUnsupported = command.compile.stubUnsupported;
  options.fixedDims = command.fixedDims;
  options.fixedInputs = command.fixedInputs;
  options.external = command.externalWeights.empty() ? nullptr : &external;
  return xc::onnx::importModel(&context, bytes, options);
}

namespace {

/// Says an error once that several targets have.
class RepeatedErrorHandler : public ScopedDiagnosticHandler {
public:
  explicit RepeatedErrorHandler(MLIRContext *context) : ScopedDiagnosticHandler(context) {
    setHandler([this](Diagnostic &diagnostic) {
      return success(
          diagnostic.getSeverity() == DiagnosticSeverity::Error &&
          !said.insert({LocationAttr(diagnostic.getLocation()),
                        StringAttr::get(diagnostic.getLocation()->getContext(), diagnostic.str())})
               .second);
    });
  }

private:
  llvm::DenseSet<std::pair<Attribute, StringAttr>> said;
};

} // namespace

/// Compiles, and says how far it is where that takes long.
static FailureOr<std::string> compileModule(ModuleOp module, xc::CommandLine &command,
                                            TimingScope &timing) {
  xc::Progress progress(command.progressSeconds);
  // What is said meanwhile is not to stand behind the bar.
  ScopedDiagnosticHandler clearing(module.getContext(), [&](Diagnostic &) {
    progress.clear();
    return failure(); // the next handler prints it
  });
  command.compile.progress = [&](llvm::StringRef phase, size_t done, size_t all) {
    progress.report(phase, done, all);
  };
  FailureOr<std::string> bytes = xc::compile(module, command.compile, timing);
  command.compile.progress = nullptr;
  return bytes;
}

/// What is wrong with the files that the command names, before any of them is read; 0 if nothing
/// is.
static int checkFiles(const xc::CommandLine &command) {
  // Of files only: a terminal may well be both.
  bool isSame = false;
  if (llvm::sys::fs::is_regular_file(command.input) &&
      !llvm::sys::fs::equivalent(command.input, command.output, isSame) && isSame)
    return fail("expected an output that is not the input, got '" + command.output + "' for both");
  if (int code = checkOutput(command))
    return code;
  return checkWeightsFile(command);
}

/// Why `text` is no program that the command can be about; empty if it may be one.
static std::string checkInput(llvm::StringRef text, const xc::CommandLine &command,
                              MLIRContext &context) {
  if (isModelFile(text, command.input))
    return {};
  if (!command.fixedDims.empty() || !command.fixedInputs.empty() ||
      !command.externalWeights.empty())
    return "--fix-dim, --fix-input and --external-weights are for ONNX models, which '" +
           command.input + "' is not";
  return xc::findUnreadable(text, command.input, context.getDialectRegistry());
}

/// The program of the file, read with diagnostics on. Null where one or the message of `fail` has
/// said why.
static OwningOpRef<ModuleOp> readProgram(std::shared_ptr<llvm::SourceMgr> sources,
                                         xc::CommandLine &command, MLIRContext &context,
                                         xc::onnx::ExternalWeights &external) {
  llvm::StringRef text = sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
  bool isONNX = isModelFile(text, command.input);
  bool isExplained = false;
  auto look = [&](Diagnostic &) { return isExplained = true, failure(); };
  auto looking = std::make_unique<ScopedDiagnosticHandler>(&context, look);
  OwningOpRef<ModuleOp> module = isONNX
                                     ? importONNX(text, command, context, external)
                                     : parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  looking.reset();
  // A verifier of MLIR may refuse an op in silence: tosa.pad by a computed padding.
  if (!module && !isExplained && !isONNX)
    fail("cannot read '" + command.input +
         "': a verifier of MLIR refuses one of its ops and does not say why");
  return module;
}

/// Prints what was compiled, where the command asks for it.
static void printReports(ModuleOp module, const xc::CommandLine &command) {
  bool isJson = command.report == xc::ReportKind::Json;
  // JSON is alone where it goes.
  if (!isJson || !isStandardOutput(command.output))
    xc::printSummary(module, llvm::errs());
  if (command.report != xc::ReportKind::None)
    xc::printReport(module, command.report,
                    isStandardOutput(command.output) ? llvm::errs() : llvm::outs());
}

/// Checks what was compiled and writes what the command asks for.
static int writeResults(ModuleOp module, llvm::StringRef bytes, const xc::CommandLine &command,
                        const xc::onnx::ExternalWeights &external) {
  bool isModuleFile = command.compile.compileTo == xc::Phase::Vmfb;
  if (isModuleFile)
    if (std::string problem = xc::tryLoading(bytes); !problem.empty())
      return fail("the runtime would refuse the module of '" + command.input + "': " + problem);
  if (!command.weights.empty())
    if (std::string problem = xc::checkWeights(bytes, command.weights); !problem.empty())
      return fail(problem);
  if (command.compile.compileTo >= xc::Phase::Plan)
    printReports(module, command);
  if (!command.externalWeights.empty())
    if (int code = report(
            xc::writeWeights(command.externalWeights, external,
                             xc::getParameterTypes(bytes, xc::onnx::ExternalWeights::kScope))))
      return code;
  std::string printed = isModuleFile ? std::string() : print(module, command.emitBytecode);
  llvm::StringRef output = isModuleFile ? bytes : printed;
  if (int code = report(xc::writeOutputFile(command.output,
                                            [&](llvm::raw_ostream &stream) { stream << output; })))
    return code;
  if (command.isOutputImplied)
    llvm::errs() << "wrote " << command.output << "\n";
  return 0;
}

static int compileFile(xc::CommandLine &command, MLIRContext &context, TimingScope &timing) {
  if (int code = checkFiles(command))
    return code;
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = xc::readInputFile(command.input, message);
  if (!buffer)
    return fail(message);
  llvm::StringRef text = buffer->getBuffer();
  command.compile.modelDirectory = llvm::sys::path::parent_path(command.input).str();
  command.compile.provenance.sourceName = llvm::sys::path::filename(command.input).str();
  command.compile.provenance.sourceHash = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  if (std::string problem = checkInput(text, command, context); !problem.empty())
    return fail(problem);

  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(xc::packTruthLiterals(std::move(buffer)), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  ScopedDiagnosticHandler withoutPlace(&context, printWithoutPlace);
  RepeatedErrorHandler repeatedErrors(&context);
  xc::ParserErrorHandler parserErrors(*sources, &context);
  if (failed(resolveCPUs(command.compile.targets, context)) ||
      failed(resolvePtxas(command.compile, context)))
    return 1;
  command.compile.provenance.flags = describeFlags(command);
  if (failed(readTuning(command, context)))
    return 1;
  TimingScope parsing = timing.nest("Parse");
  xc::onnx::ExternalWeights external;
  OwningOpRef<ModuleOp> module = readProgram(sources, command, context, external);
  parsing.stop();
  if (!module)
    return 1; // it has been said why
  FailureOr<std::string> bytes = compileModule(*module, command, timing);
  if (failed(bytes))
    return 1; // a diagnostic has said why
  return writeResults(*module, *bytes, command, external);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes then fails like any other
  xc::CommandLine command;
  std::string error;
  if (!xc::parseCommandLine(argc, argv, command, error))
    return fail(error);
  if (command.showHelp || command.showVersion) {
    llvm::outs() << (command.showHelp ? xc::getHelp() : (kVersion + "\n").str());
    return 0;
  }
  command.compile.provenance.compiler = kVersion.str();

  DialectRegistry registry;
  xc::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // A diagnostic shows its source line; the op as the compiler sees it can be the whole program.
  context.printOpOnDiagnostic(false);
  std::unique_ptr<llvm::DefaultThreadPool> threads;
  if (command.threads != 1) {
    threads =
        std::make_unique<llvm::DefaultThreadPool>(llvm::hardware_concurrency(command.threads));
    context.setThreadPool(*threads);
  }

  DefaultTimingManager timingManager;
  timingManager.setEnabled(command.timing);
  TimingScope timing = timingManager.getRootScope();
  return compileFile(command, context, timing);
}
