//===- ReadKernels.cpp - Read the files that custom kernels are in --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts the text of a file into the op that names it, so that later phases see all of the
// program. A file that cannot be read is an error at the op.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Custom/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Input/RegularFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace xc::custom {

#define GEN_PASS_DEF_READKERNELS
#include "compiler/Codegen/Custom/Passes.h.inc"

static LogicalResult readKernel(array::CustomKernelOp op, StringRef directory) {
  StringRef file = *op.getFile();
  llvm::SmallString<128> path(file);
  if (llvm::sys::path::is_relative(file)) {
    path = directory;
    llvm::sys::path::append(path, file);
  }
  if (isPipeOrDevice(path))
    return op.emitOpError("cannot read its kernel from '") << path << "': not a regular file";
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (std::error_code error = buffer.getError())
    return op.emitOpError("cannot read its kernel from '") << path << "': " << error.message();
  op.setPtxAttr(StringAttr::get(op.getContext(), (*buffer)->getBuffer()));
  op.removeFileAttr();
  return success();
}

namespace {

struct ReadKernels final : impl::ReadKernelsBase<ReadKernels> {
  using ReadKernelsBase::ReadKernelsBase;

  void runOnOperation() override {
    WalkResult walk = getOperation().walk([&](array::CustomKernelOp op) {
      return op.getFile() ? WalkResult(readKernel(op, directory)) : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::custom
