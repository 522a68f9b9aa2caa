//===- Options.cpp - xcompile's command line ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/Options.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Array/IR/NearestNames.h"
#include "tools/xcompile/LocalGpu.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <array>

namespace xc {

//===----------------------------------------------------------------------===//
// The table of options
//===----------------------------------------------------------------------===//

namespace {

enum OptionID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/xcompile/Options.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "tools/xcompile/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/xcompile/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

using llvm::opt::DefaultVis; // named by the table

constexpr llvm::opt::OptTable::Info kOptions[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/xcompile/Options.inc"
#undef OPTION
};

struct Options final : llvm::opt::GenericOptTable {
  Options() : GenericOptTable(OptionStrTable, OptionPrefixesTable, kOptions) {}
};

} // namespace

std::string getHelp() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Options().printHelp(
      stream, "xcompile MODEL.mlir -o MODEL.vmfb [options]",
      "Compiles array ops, StableHLO as JAX prints it, TOSA, linalg on tensors, or an "
      "ONNX model, into one file for the xcompile runtime.");
  stream << "\nCUDA architectures: " << cuda::listTargets() << "\n";
  return text;
}

/// For a flag that is none, or lacks its value.
static std::string describeUnknown(const Options &options, llvm::StringRef argument) {
  llvm::SmallVector<std::string> names;
  for (unsigned id = OPT_UNKNOWN + 1; id <= options.getNumOptions(); ++id) {
    if (!options.getOptionHelpText(id))
      continue;
    std::string name = options.getOptionPrefixedName(id).str();
    if (name == argument.str() + "=")
      return "expected a value after " + argument.str() + ": " + name +
             options.getOptionMetaVar(id);
    names.push_back(llvm::StringRef(name).rtrim('=').str());
  }
  llvm::SmallVector<llvm::StringRef> known(names.begin(), names.end());
  std::string meant = suggestNames(argument.split('=').first, known);
  return "unknown flag '" + argument.str() + "'; " +
         (meant.empty() ? "known are " + llvm::join(known, " ") : meant + " --help lists all");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kDefaultCPU = "x86-64-v3";

/// Resolves one entry of --target into kind:arch entries. `cpu` is what --cpu names, or empty.
static bool addTarget(llvm::StringRef entry, llvm::StringRef cpu, CommandLine &result,
                      std::string &error) {
  auto [kind, arch] = entry.split(':');
  if (kind == "cpu" && !entry.ends_with(":")) {
    if (arch.empty())
      arch = cpu.empty() ? llvm::StringRef(kDefaultCPU) : cpu;
    result.compile.targets.push_back("cpu:" + arch.str());
    return true;
  }
  if (kind != "cuda" || entry.ends_with(":")) {
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

static bool parseWeightsType(llvm::StringRef value, CommandLine &result, std::string &error) {
  if (value != "bf16" && value != "f16") {
    error = "unknown type of weights '" + value.str() + "'; known are bf16, f16";
    return false;
  }
  result.compile.weightsType = value.str();
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

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

namespace {

/// The state of one pass over the arguments.
struct Parser {
  CommandLine &result;
  std::string &error;
  const Options options = {};
  std::string targets = "cpu", cpu = {}, emit = {};

  bool parse(llvm::ArrayRef<const char *> arguments);

private:
  bool parseOne(const llvm::opt::Arg &argument);
  bool parseInput(llvm::StringRef name);
  bool parseReport(llvm::StringRef form);
  bool finish();
  /// The value of an option; of one such as -o, a '=' may come before it.
  bool takeValue(const llvm::opt::Arg &argument, std::string &place);
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }
};

} // namespace

bool Parser::takeValue(const llvm::opt::Arg &argument, std::string &place) {
  llvm::StringRef value = argument.getValue(), spelling = argument.getSpelling();
  if (!spelling.ends_with("="))
    value.consume_front("=");
  if (value.empty())
    return fail("expected a value after " + spelling.str());
  place = value.str();
  return true;
}

bool Parser::parseInput(llvm::StringRef name) {
  if (!result.input.empty())
    return fail("expected one input, got '" + result.input + "' and '" + name.str() + "'");
  result.input = name.str();
  return true;
}

bool Parser::parseReport(llvm::StringRef form) {
  std::optional<ReportKind> kind = llvm::StringSwitch<std::optional<ReportKind>>(form)
                                       .Case("text", ReportKind::Text)
                                       .Case("fusion", ReportKind::Fusion)
                                       .Case("json", ReportKind::Json)
                                       .Default(std::nullopt);
  if (!kind)
    return fail("unknown form of report '" + form.str() + "'; known are text, fusion, json");
  result.report = *kind;
  result.compile.explainFusion = true;
  return true;
}

bool Parser::parseOne(const llvm::opt::Arg &argument) {
  CompileOptions &compile = result.compile;
  std::string value;
  switch (argument.getOption().getID()) {
  case OPT_INPUT:
    return parseInput(argument.getValue());
  case OPT_help:
    return result.showHelp = true;
  case OPT_version:
    return result.showVersion = true;
  case OPT_timing:
    return result.timing = true;
  case OPT_report:
    return parseReport("text");
  case OPT_report_form:
    return parseReport(argument.getValue());
  case OPT_stub_unsupported:
    return compile.stubUnsupported = true;
  case OPT_fast_math:
    return compile.fastMath = true;
  case OPT_allow_tf32:
    return compile.allowTF32 = true;
  case OPT_line_info:
    return compile.lineInfo = true;
  case OPT_no_wgmma:
    return compile.wgmma = false, true;
  case OPT_no_shipped_tuning:
    return compile.shippedTuning = false, true;
  case OPT_no_recognition:
    return compile.recognize = false, true;
  case OPT_no_fusion:
    return compile.fuse = false, true;
  case OPT_no_reuse:
    return compile.reuse = false, true;
  case OPT_target:
    return takeValue(argument, targets);
  case OPT_cpu:
    return takeValue(argument, cpu);
  case OPT_emit:
    return takeValue(argument, emit);
  case OPT_ptxas:
    return takeValue(argument, compile.ptxas);
  case OPT_tuning:
    return takeValue(argument, result.tuning);
  case OPT_dump_dir:
    return takeValue(argument, compile.dumpDirectory);
  case OPT_output:
    return takeValue(argument, result.output);
  case OPT_compile_to:
    return parsePhaseFlag(argument.getValue(), result, error);
  case OPT_gradient:
    return parseGradient(argument.getValue(), result, error);
  case OPT_progress:
    return parseSeconds(argument.getValue(), result, error);
  case OPT_fix_dim:
    return parseFixedDim(argument.getValue(), result, error);
  case OPT_fix_input:
    return parseFixedInput(argument.getValue(), result, error);
  case OPT_external_weights:
    return takeValue(argument, result.externalWeights);
  case OPT_weights_type:
    return parseWeightsType(argument.getValue(), result, error);
  case OPT_check_weights:
    return parseWeights(argument.getValue(), result, error);
  case OPT_opt_level:
    return parseNumber("-O", argument.getValue(), 3, compile.optLevel, error);
  case OPT_threads:
    return takeValue(argument, value) && parseNumber("-j", value, 1024, result.threads, error);
  default:
    return fail(describeUnknown(options, argument.getValue()));
  }
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

bool Parser::parse(llvm::ArrayRef<const char *> arguments) {
  unsigned missingIndex = 0, missingCount = 0;
  llvm::opt::InputArgList list = options.ParseArgs(arguments, missingIndex, missingCount);
  for (const llvm::opt::Arg *argument : list)
    if (!parseOne(*argument))
      return false;
  if (missingCount > 0)
    return fail(std::string("expected a value after ") + arguments[missingIndex]);
  return finish();
}

bool parseCommandLine(int argc, char **argv, CommandLine &result, std::string &error) {
  return Parser{result, error}.parse(llvm::ArrayRef(argv + 1, argc - 1));
}

} // namespace xc
