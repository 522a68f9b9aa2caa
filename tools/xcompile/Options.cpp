//===- Options.cpp - xcompile's command line ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/Options.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "tools/xcompile/LocalGpu.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

namespace xc {

namespace {

struct Flag {
  llvm::StringLiteral name;     // with its dashes; a trailing '=' takes a value
  llvm::StringLiteral argument; // shown in the help
  llvm::StringLiteral help;
};

} // namespace

static constexpr Flag kFlags[] = {
    {"-o", "FILE",
     "Write the result to FILE (default: the input's name with .vmfb; - is standard output)"},
    {"--target=", "LIST",
     "Comma-separated targets: cpu, cpu:ARCH, cuda, cuda:ARCH (default: cpu); cuda alone is this "
     "machine's GPU, or sm_80 and sm_90a where there is none"},
    {"--cpu=", "ARCH",
     "Same as --target=cpu:ARCH for the cpu targets in the list that name none (default: "
     "x86-64-v3)"},
    {"--compile-to=", "PHASE",
     "Stop after PHASE and write the IR: input, array, linalg, layout, dispatch, codegen, plan, "
     "vmfb"},
    {"--emit=", "FORM",
     "What to write: vmfb, mlir (the IR after --compile-to), bytecode (the same as MLIR bytecode)"},
    {"--dump-dir=", "DIR",
     "Write the IR after every phase and each kernel's IR and assembly to DIR"},
    {"--gradient=", "FUNCTION[:INPUTS]",
     "Add FUNCTION_vjp, the gradient of FUNCTION to its inputs of floats, or to those that the "
     "comma-separated INPUTS name or number"},
    {"--report", "",
     "Print what became of each kernel; --report=json prints it as JSON (to standard error where "
     "the result goes to standard output)"},
    {"--timing", "", "Print where the time went"},
    {"--progress=", "SECONDS",
     "Say how far it is no more often than that (default: a bar on a terminal after 2 s, a line "
     "every 10 s elsewhere)"},
    {"--stub-unsupported", "",
     "ONNX, StableHLO: put zeros in the place of what is not supported, with a warning, to look at "
     "the rest"},
    {"--fix-dim=", "NAME=SIZE", "ONNX: the symbolic dim NAME of the inputs has this size"},
    {"--fix-input=", "NAME=NUMBER,...",
     "ONNX: input NAME is these numbers, known while the module is compiled"},
    {"--external-weights=", "FILE",
     "ONNX: write large weights to FILE, a .safetensors file, as parameters of scope 'weights' "
     "that "
     "the module names and does not hold"},
    {"--check-weights=", "SCOPE=FILE",
     "Name every external parameter of SCOPE that FILE, a .safetensors file, does not have, by "
     "name, type and shape; write nothing if there is one"},
    {"-O", "0..3", "Optimisation level (default: 3)"},
    {"--fast-math", "", "Allow approximations, reassociation and flushed denormals"},
    {"--allow-tf32", "",
     "Multiply f32 matrices on a GPU's tensor cores, which take the first 10 bits of mantissas"},
    {"--no-wgmma", "",
     "CUDA: matrix products on mma.sync or by fused multiply-add, also where there is wgmma"},
    {"--tuning=", "FILE", "CUDA: take the layout of kernels from FILE, lines of KEY = CONFIG"},
    {"--no-shipped-tuning", "",
     "CUDA: lay products out as the model says, also where other layouts were measured for them"},
    {"--ptxas=", "PATH",
     "Assemble PTX with this ptxas (default: the one on PATH, if any; off: PTX only)"},
    {"--line-info", "", "Put source lines into PTX"},
    {"--no-fusion", "", "Give every op a kernel of its own, to see what each costs"},
    {"--no-reuse", "",
     "Let no two temporaries share memory, to find reads of stale values (XCR_TEMPORARIES=separate "
     "at run time)"},
    {"-j", "N", "Compile kernels on N threads (default: all cores)"},
    {"--help", "", "Print this"},
    {"--version", "", "Print the version"},
};

std::string getHelp() {
  std::string text =
      "Usage: xcompile MODEL.mlir -o MODEL.vmfb [options]\n\n"
      "Compiles array ops, StableHLO as JAX prints it, linalg on tensors, or an ONNX model, into "
      "one file for the xcompile runtime.\n\nOptions:\n";
  for (const Flag &flag : kFlags) {
    std::string left = "  " + flag.name.str() +
                       (flag.name == "-o" || flag.name == "-j" ? " " : "") + flag.argument.str();
    text +=
        left + std::string(left.size() < 24 ? 24 - left.size() : 1, ' ') + flag.help.str() + "\n";
  }
  text += "\nCUDA architectures: " + cuda::listTargets() + "\n";
  return text;
}

static std::string listFlags() {
  return llvm::join(
      llvm::map_range(kFlags, [](const Flag &flag) { return flag.name.rtrim('=').str(); }), " ");
}

static constexpr llvm::StringLiteral kDefaultCPU = "x86-64-v3";

/// Resolves one entry of --target into kind:arch entries. `cpu` is what --cpu names, or empty.
static bool addTarget(llvm::StringRef entry, llvm::StringRef cpu, CommandLine &result,
                      std::string &error) {
  auto [kind, arch] = entry.split(':');
  if (kind == "cpu") {
    if (arch.empty())
      arch = cpu.empty() ? llvm::StringRef(kDefaultCPU) : cpu;
    result.compile.targets.push_back("cpu:" + arch.str());
    return true;
  }
  if (kind != "cuda") {
    error = "unknown target '" + entry.str() + "'; known are cpu, cpu:ARCH, cuda, cuda:ARCH";
    return false;
  }
  llvm::SmallVector<llvm::StringRef> archs{arch};
  if (arch.empty())
    archs = findLocalGpus();
  // Without a GPU: what runs on every data-centre GPU since 2020, and the code that is specific to
  // Hopper.
  if (archs.empty())
    archs = {"sm_80", "sm_90a"};
  for (llvm::StringRef name : archs) {
    if (!cuda::findTarget(name)) {
      error = "unknown CUDA architecture '" + name.str() + "'; known are " + cuda::listTargets();
      return false;
    }
    result.compile.targets.push_back("cuda:" + name.str());
  }
  return true;
}

static bool addTargets(llvm::StringRef list, llvm::StringRef cpu, CommandLine &result,
                       std::string &error) {
  llvm::SmallVector<llvm::StringRef> entries;
  list.split(entries, ',');
  for (llvm::StringRef &entry : entries)
    entry = entry.trim();
  auto takesCPU = [](llvm::StringRef entry) { return entry == "cpu" || entry == "cpu:"; };
  if (!cpu.empty() && llvm::none_of(entries, takesCPU)) {
    error = "expected 'cpu' among the targets that --cpu=" + cpu.str() + " is for, got '" +
            list.str() + "'";
    return false;
  }
  for (llvm::StringRef entry : entries)
    if (!addTarget(entry, cpu, result, error))
      return false;
  llvm::SmallVector<std::string> unique;
  for (const std::string &target : result.compile.targets)
    if (!llvm::is_contained(unique, target))
      unique.push_back(target);
  result.compile.targets = unique;
  return true;
}

static bool parsePhaseFlag(llvm::StringRef value, CommandLine &result, std::string &error) {
  std::optional<Phase> phase = parsePhase(value);
  if (!phase) {
    error = "unknown phase '" + value.str() + "'; known are " +
            llvm::join(llvm::map_range(getPhaseNames(),
                                       [](llvm::StringLiteral name) { return name.str(); }),
                       ", ");
    return false;
  }
  result.compile.compileTo = *phase;
  return true;
}

/// FUNCTION or FUNCTION:INPUT,INPUT.
static bool parseGradient(llvm::StringRef value, CommandLine &result, std::string &error) {
  auto [function, list] = value.split(':');
  llvm::SmallVector<llvm::StringRef> inputs;
  if (value.contains(':'))
    list.split(inputs, ',');
  if (function.empty() || llvm::is_contained(inputs, llvm::StringRef())) {
    error =
        "expected FUNCTION or FUNCTION:INPUT,INPUT after --gradient=, got '" + value.str() + "'";
    return false;
  }
  Gradient gradient{function.str(), {}};
  for (llvm::StringRef input : inputs)
    gradient.inputs.push_back(input.str());
  result.compile.gradients.push_back(std::move(gradient));
  return true;
}

/// NAME=SIZE.
static bool parseFixedDim(llvm::StringRef value, CommandLine &result, std::string &error) {
  auto [name, size] = value.rsplit('=');
  onnx::FixedDim dim{name.str(), 0};
  if (name.empty() || size.getAsInteger(10, dim.size) || dim.size < 0) {
    error = "expected NAME=SIZE after --fix-dim=, got '" + value.str() + "'";
    return false;
  }
  result.fixedDims.push_back(std::move(dim));
  return true;
}

/// NAME=NUMBER,NUMBER.
static bool parseFixedInput(llvm::StringRef value, CommandLine &result, std::string &error) {
  auto [name, numbers] = value.rsplit('=');
  if (name.empty() || numbers.empty()) {
    error = "expected NAME=NUMBER,NUMBER after --fix-input=, got '" + value.str() + "'";
    return false;
  }
  result.fixedInputs.push_back({name.str(), numbers.str()});
  return true;
}

/// SCOPE=FILE.
static bool parseWeights(llvm::StringRef value, CommandLine &result, std::string &error) {
  auto [scope, path] = value.split('=');
  if (path.empty()) {
    error = "expected SCOPE=FILE after --check-weights=, got '" + value.str() + "'";
    return false;
  }
  result.weights.push_back({scope.str(), path.str()});
  return true;
}

static bool parseSeconds(llvm::StringRef value, CommandLine &result, std::string &error) {
  double seconds;
  if (value.getAsDouble(seconds) || !(seconds >= 0)) {
    error = "expected a number of seconds after --progress=, got '" + value.str() + "'";
    return false;
  }
  result.progressSeconds = seconds;
  return true;
}

static bool parseNumber(llvm::StringRef flag, llvm::StringRef value, unsigned max, unsigned &number,
                        std::string &error) {
  if (!value.getAsInteger(10, number) && number <= max)
    return true;
  error = "expected a number up to " + std::to_string(max) + " after " + flag.str() + ", got '" +
          value.str() + "'";
  return false;
}

namespace {

/// The state of one pass over the arguments.
struct Parser {
  CommandLine &result;
  std::string &error;
  int argc;
  char **argv;
  int next = 1;
  std::string targets = "cpu", cpu = {}, emit = {};

  /// The value of a flag such as -o: glued to it, with or without a '=', or the next argument.
  bool takeValue(llvm::StringRef argument, llvm::StringRef flag, llvm::StringRef &value) {
    value = argument.drop_front(flag.size());
    bool isGlued = !value.empty();
    value.consume_front("=");
    if (!isGlued && next < argc)
      value = argv[next++];
    if (value.empty())
      error = "expected a value after " + flag.str();
    return error.empty();
  }

  /// Takes the value of a flag that ends in '=' into `place`, if `value` is that flag.
  bool consume(llvm::StringRef &value, llvm::StringRef flag, std::string &place) {
    if (!value.consume_front(flag))
      return false;
    place = value.str();
    if (value.empty())
      error = "expected a value after " + flag.str();
    return true;
  }

  bool parseOne(llvm::StringRef argument);
  bool finish();
};

} // namespace

bool Parser::parseOne(llvm::StringRef argument) {
  llvm::StringRef value = argument;
  unsigned number = 0;
  if (argument == "-" || !argument.starts_with("-")) {
    if (!result.input.empty()) {
      error = "expected one input, got '" + result.input + "' and '" + argument.str() + "'";
      return false;
    }
    result.input = argument.str();
    return true;
  }
  if (argument == "--help" || argument == "-h")
    return result.showHelp = true;
  if (argument == "--version")
    return result.showVersion = true;
  if (argument == "--timing")
    return result.timing = true;
  if (argument == "--stub-unsupported")
    return result.compile.stubUnsupported = true;
  if (argument == "--fast-math")
    return result.compile.fastMath = true;
  if (argument == "--allow-tf32")
    return result.compile.allowTF32 = true;
  if (argument == "--no-wgmma") {
    result.compile.wgmma = false;
    return true;
  }
  if (argument == "--no-shipped-tuning") {
    result.compile.shippedTuning = false;
    return true;
  }
  if (argument == "--line-info")
    return result.compile.lineInfo = true;
  if (argument == "--no-fusion") {
    result.compile.fuse = false;
    return true;
  }
  if (argument == "--no-reuse") {
    result.compile.reuse = false;
    return true;
  }
  if (argument == "--report" || argument == "--report=text" || argument == "--report=json") {
    result.report = argument.ends_with("json") ? ReportKind::Json : ReportKind::Text;
    return true;
  }
  if (consume(value, "--target=", targets) || consume(value, "--cpu=", cpu) ||
      consume(value, "--emit=", emit) || consume(value, "--ptxas=", result.compile.ptxas) ||
      consume(value, "--tuning=", result.tuning) ||
      consume(value, "--external-weights=", result.externalWeights) ||
      consume(value, "--dump-dir=", result.compile.dumpDirectory))
    return error.empty();
  if (value.consume_front("--compile-to="))
    return parsePhaseFlag(value, result, error);
  if (value.consume_front("--gradient="))
    return parseGradient(value, result, error);
  if (value.consume_front("--progress="))
    return parseSeconds(value, result, error);
  if (value.consume_front("--fix-dim="))
    return parseFixedDim(value, result, error);
  if (value.consume_front("--fix-input="))
    return parseFixedInput(value, result, error);
  if (value.consume_front("--check-weights="))
    return parseWeights(value, result, error);
  if (argument.starts_with("-O"))
    return parseNumber("-O", argument.drop_front(2), 3, result.compile.optLevel, error);
  if (argument.starts_with("-o")) {
    if (!takeValue(argument, "-o", value))
      return false;
    return result.output = value.str(), true;
  }
  if (argument.starts_with("-j")) {
    if (!takeValue(argument, "-j", value) || !parseNumber("-j", value, 1024, number, error))
      return false;
    return result.threads = number, true;
  }
  error = "unknown flag '" + argument.str() + "'; known are " + listFlags();
  return false;
}

bool Parser::finish() {
  if (result.showHelp || result.showVersion)
    return true;
  if (result.input.empty()) {
    error = "expected the name of an input file; --help shows how xcompile is called";
    return false;
  }
  if (!emit.empty() && emit != "vmfb" && emit != "mlir" && emit != "bytecode") {
    error = "unknown form '" + emit + "'; known are vmfb, mlir, bytecode";
    return false;
  }
  if (emit == "vmfb" && result.compile.compileTo != Phase::Vmfb) {
    error = "expected --emit=mlir or --emit=bytecode with a --compile-to before vmfb";
    return false;
  }
  if ((emit == "mlir" || emit == "bytecode") && result.compile.compileTo == Phase::Vmfb)
    result.compile.compileTo = Phase::Plan;
  if (!result.externalWeights.empty() && result.compile.compileTo != Phase::Vmfb) {
    error = "expected a module to be made, whose weights --external-weights writes";
    return false;
  }
  if (!result.weights.empty() && result.compile.compileTo != Phase::Vmfb) {
    error = "expected a module to be made where --check-weights looks at its parameters";
    return false;
  }
  result.emitBytecode = emit == "bytecode";
  if (result.output.empty() && result.compile.compileTo != Phase::Vmfb)
    result.output = "-";
  if (result.output.empty() && result.input == "-") {
    error = "expected -o FILE for a module from standard input";
    return false;
  }
  if (result.output.empty()) {
    llvm::SmallString<128> path(result.input);
    llvm::sys::path::replace_extension(path, "vmfb");
    result.output = path.str().str();
    result.isOutputImplied = true;
  }
  return addTargets(targets, cpu, result, error);
}

bool parseCommandLine(int argc, char **argv, CommandLine &result, std::string &error) {
  Parser parser{result, error, argc, argv};
  while (parser.next < argc)
    if (!parser.parseOne(argv[parser.next++]))
      return false;
  return parser.finish();
}

} // namespace xc
