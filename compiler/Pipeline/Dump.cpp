//===- Dump.cpp - Files that show what the compiler did ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Dump.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace xc {

LogicalResult Dump::writeFile(MLIRContext *context, StringRef name, StringRef text) {
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  std::error_code error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
  if (!error) {
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream << text;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
  }
  if (error)
    return emitError(UnknownLoc::get(context))
           << "cannot write '" << path << "': " << error.message();
  return success();
}

/// Where a kernel's files are, without what says which. File systems take names of 255 bytes:
/// longer ones end in a hash, the same on every run.
static std::string getKernelPath(ModuleOp target, ModuleOp kernel) {
  constexpr size_t kMaxName = 200, kKept = 180;
  StringRef name = *kernel.getSymName();
  std::string file = name.str();
  if (name.size() > kMaxName)
    file = (name.take_front(kKept) + "-" + llvm::utohexstr(llvm::xxh3_64bits(name), true)).str();
  return ("kernels/" + *target.getSymName() + "/" + file).str();
}

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Large constants and code would bury what is of interest.
  op->print(stream, OpPrintingFlags().elideLargeElementsAttrs(64).elideLargeResourceString(64));
  return text;
}

LogicalResult Dump::writePhase(ModuleOp module, unsigned index, StringRef phase) {
  if (directory.empty())
    return success();
  if (failed(writeFile(module.getContext(), std::to_string(index) + "-" + phase.str() + ".mlir",
                       print(module))))
    return failure();
  if (phase != "dispatch")
    return success();
  for (auto target : module.getOps<ModuleOp>())
    for (auto kernel : target.getOps<ModuleOp>())
      if (failed(writeFile(kernel.getContext(), getKernelPath(target, kernel) + ".mlir",
                           print(kernel))))
        return failure();
  return success();
}

LogicalResult Dump::writeKernelCode(ModuleOp target) {
  if (directory.empty())
    return success();
  bool isCUDA = target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr).isCUDA();
  for (auto kernel : target.getOps<ModuleOp>()) {
    auto text = kernel->getAttrOfType<StringAttr>(isCUDA ? plan::kImageAttr : plan::kAssemblyAttr);
    std::string name = getKernelPath(target, kernel) + (isCUDA ? ".ptx" : ".s");
    if (text && failed(writeFile(kernel.getContext(), name, text.getValue())))
      return failure();
  }
  return success();
}

} // namespace xc
