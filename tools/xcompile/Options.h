//===- Options.h - xcompile's command line ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_OPTIONS_H
#define XC_TOOLS_XCOMPILE_OPTIONS_H

#include "compiler/Input/ONNX/ImportONNX.h"
#include "compiler/Pipeline/Pipeline.h"
#include "tools/xcompile/CheckWeights.h"

#include <optional>
#include <string>

namespace xc {

/// `Fusion` is text with each join and refusal.
enum class ReportKind { None, Text, Fusion, Json };

struct CommandLine {
  std::string input;
  std::string output;
  /// Nobody has said where the result goes: its name comes from the input's.
  bool isOutputImplied = false;
  std::string tuning; // a file of configurations, or empty
  /// Of an ONNX model: what is known of its inputs.
  std::vector<onnx::FixedDim> fixedDims;
  std::vector<onnx::FixedInput> fixedInputs;
  /// Where large weights of an ONNX model go to; empty: into the module.
  std::string externalWeights;
  /// Files that the module's external parameters have to be in.
  std::vector<WeightsFile> weights;
  CompileOptions compile;
  ReportKind report = ReportKind::None;
  bool timing = false;
  std::optional<double> progressSeconds; // how often to say how far it is
  bool emitBytecode = false;
  unsigned threads = 0; // 0: as many as there are cores
  bool showHelp = false;
  bool showVersion = false;
};

/// What `--help` prints.
std::string getHelp();

/// Reads the command line; CPU names are checked later, where there is a context. On a mistake
/// returns false, and `error` is one sentence that says what is known.
bool parseCommandLine(int argc, char **argv, CommandLine &result, std::string &error);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_OPTIONS_H
