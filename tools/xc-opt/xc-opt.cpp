//===- xc-opt.cpp - Run the compiler's passes one by one ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt, but for what it reads: files go through the checks of xcompile, since MLIR's parser
// waits for named pipes and leaves the stack on formulas and brackets that are too deep.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Registration.h"
#include "tools/xcompile/InputFile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

static LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "xc-opt") << message << "\n";
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
  std::unique_ptr<llvm::ToolOutputFile> result = openOutputFile(output, &problem);
  if (!result)
    return fail(problem);
  if (failed(MlirOptMain(result->os(), std::move(buffer), registry, config)))
    return failure();
  result->keep();
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
