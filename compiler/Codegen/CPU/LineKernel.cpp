//===- LineKernel.cpp - Kernels of one op on lines ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/LineKernel.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {

static std::optional<SmallVector<int64_t>> getLineDims(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<SmallVector<int64_t>>>(op)
      .Case<kernel::ScanOp, kernel::SortOp, kernel::MergeOp>(
          [](auto lines) { return lines.getLineDims(); })
      .Default([](Operation *) { return std::nullopt; });
}

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
  LineKernel result;
  result.roots = collectRoots(kernel);
  if (!result.roots.empty())
    result.op = result.roots.front().value.getDefiningOp();
  auto dims = result.op ? getLineDims(result.op) : std::nullopt;
  if (!dims) {
    why = "its first result is no sort or scan";
    return failure();
  }
  result.lineDims = *dims;
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
