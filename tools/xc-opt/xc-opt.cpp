//===- xc-opt.cpp - Run the compiler's passes one by one ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt, but for what it reads and writes: files go through the checks of xcompile, since MLIR's
// parser waits for named pipes and leaves the stack on formulas and brackets that are too deep, and
// MLIR removes a file, or a link to one, before it knows what to put there.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Registration.h"
#include "tools/common/Printable.h"
#include "tools/xcompile/InputFile.h"
#include "tools/xcompile/OutputFile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

static LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "xc-opt")
      << xc::tools::printable(message.str(), /*keepsLines=*/true) << "\n";
  return failure();
}

static LogicalResult runPasses(llvm::StringRef input, llvm::StringRef output,
                               DialectRegistry &registry, const MlirOptMainConfig &config) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> buffer = xc::readInputFile(input, problem);
  if (buffer)
    problem = xc::findUnreadable(buffer->getBuffer(), input, registry);
  if (!problem.empty())
    return fail(problem);
  if (output == "-")
    return MlirOptMain(llvm::outs(), std::move(buffer), registry, config);
  if (llvm::Error error = xc::checkWritable(output, /*mayBeDevice=*/true))
    return fail(llvm::toString(std::move(error)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(buffer), registry, config)))
    return failure();
  auto print = [&](llvm::raw_ostream &file) { file << text; };
  if (llvm::Error error = xc::writeOutputFile(output, print))
    return fail(llvm::toString(std::move(error)));
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  xc::registerAllDialects(registry);
  xc::registerAllPasses();
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "xcompile's pass driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These read no file.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return asMainReturnCode(runPasses(input, output, registry, config));
}
