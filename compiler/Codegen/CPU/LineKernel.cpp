//===- LineKernel.cpp - Kernels of one op on lines ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/LineKernel.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {

/// Where `operand` lies in memory; null where it is computed, or written from what it was before.
static Value findMemory(OpOperand &operand, ArrayRef<Root> roots) {
  auto op = cast<DestinationStyleOpInterface>(operand.getOwner());
  if (!op.isDpsInit(&operand)) {
    auto load = operand.get().getDefiningOp<bufferization::ToTensorOp>();
    return load ? load.getBuffer() : Value();
  }
  OpResult result = op.getTiedOpResult(&operand);
  if (!operand.get().getDefiningOp<tensor::EmptyOp>() || !result.hasOneUse())
    return {};
  auto root = llvm::find_if(roots, [&](const Root &root) { return root.value == result; });
  return root != roots.end() && !root->update ? root->memory : Value();
}

FailureOr<LineKernel> matchLineKernel(func::FuncOp kernel, std::string &why) {
  SmallVector<Root> roots = collectRoots(kernel);
  std::optional<codegen::LineOp> lines =
      codegen::matchLineOp(roots.empty() ? nullptr : roots.front().value.getDefiningOp());
  // Sorts by digits are for GPUs.
  if (!lines || isa<kernel::CountDigitsOp, kernel::SortDigitOp>(lines->op)) {
    why = "its first result is no sort or scan";
    return failure();
  }
  LineKernel result{*lines, /*memory=*/{}, roots};
  for (const Root &root : result.roots)
    if (root.value.getDefiningOp() != result.op) {
      why = llvm::formatv("it has other results than those of {0}", result.op->getName());
      return failure();
    }
  for (OpOperand &operand : result.op->getOpOperands()) {
    result.memory.push_back(findMemory(operand, result.roots));
    if (!result.memory.back()) {
      why = llvm::formatv("operand {0} of {1} is not memory that it reads, or writes alone",
                          operand.getOperandNumber(), result.op->getName());
      return failure();
    }
  }
  return result;
}

} // namespace xc::cpu
