//===- KernelInfo.cpp - What one kernel function reads and writes ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"

#include "compiler/Codegen/Common/KernelSizes.h"
#include "compiler/Codegen/Common/ScalarFormula.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::cuda {

SmallVector<linalg::LinalgOp> KernelInfo::getReductions() const {
  SmallVector<linalg::LinalgOp> reductions;
  for (Operation *op : tensorOps)
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      if (linalgOp.getNumReductionLoops() > 0)
        reductions.push_back(linalgOp);
  return reductions;
}

bool KernelInfo::mayAlias() const {
  return llvm::any_of(bindings, [](plan::BindingOp binding) { return binding.getMayAlias(); });
}

static bool isListed(const KernelInfo &kernel, StringRef list, plan::BindingOp binding) {
  auto ordinals = kernel.getFunction()->getAttrOfType<DenseI64ArrayAttr>(list);
  return ordinals && llvm::is_contained(ordinals.asArrayRef(), binding.getOrdinal());
}

bool KernelInfo::isFixed(plan::BindingOp binding) const {
  return isListed(*this, plan::kFixedBindingsAttr, binding);
}

bool KernelInfo::isFixedInput(plan::BindingOp binding) const {
  return isListed(*this, plan::kFixedInputsAttr, binding);
}

bool KernelInfo::storesWholes() const {
  return llvm::all_of(outputs, [](const KernelOutput &output) { return output.isWhole(); });
}

ShapedType KernelInfo::getAccessedType(plan::BindingOp binding) const {
  for (const KernelOutput &output : outputs)
    if (output.update && output.binding == binding)
      return cast<ShapedType>(output.tensor.getType());
  return cast<ShapedType>(binding.getMemory().getType());
}

static void collectTensorOps(Value value, llvm::SmallPtrSetImpl<Operation *> &needed) {
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !needed.insert(op).second)
      continue;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          worklist.push_back(operand);
    });
  }
}

/// What `tensor` is, if it has what a kernel reduces apart. What only moves elements is computed at
/// each place instead.
static std::optional<plan::SpreadResult> findSpread(Value tensor) {
  std::optional<plan::SpreadResult> spread = plan::matchSpreadResult(tensor);
  if (!spread)
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 8> needed;
  collectTensorOps(spread->source, needed);
  bool reduces = llvm::any_of(needed, [](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp && linalgOp.getNumReductionLoops() > 0;
  });
  return reduces ? spread : std::nullopt;
}

FailureOr<KernelInfo> analyzeKernel(func::FuncOp function) {
  KernelInfo kernel;
  kernel.function = function;
  if (!function.getBody().hasOneBlock() || function.getNumArguments() != 0)
    return function.emitOpError("expected a kernel of one block without arguments, got ")
           << function.getBody().getBlocks().size() << " blocks and " << function.getNumArguments()
           << " arguments";
  plan::TargetAttr targetAttr = plan::getTarget(function);
  if (!targetAttr || !targetAttr.isCUDA())
    return function.emitOpError("expected its module to have a CUDA target in '")
           << plan::kTargetAttr << "'";
  kernel.target = findTarget(targetAttr.getArch());
  if (!kernel.target)
    return function.emitOpError("unknown CUDA architecture '")
           << targetAttr.getArch().getValue() << "', known are " << listTargets();

  Block &body = function.getBody().front();
  for (auto binding : body.getOps<plan::BindingOp>())
    kernel.bindings.push_back(binding);
  llvm::sort(kernel.bindings,
             [](plan::BindingOp a, plan::BindingOp b) { return a.getOrdinal() < b.getOrdinal(); });
  // Numbers may be missing: a binding that is not used folds away.
  for (auto [first, second] : llvm::zip(kernel.bindings, llvm::drop_begin(kernel.bindings)))
    if (first.getOrdinal() == second.getOrdinal())
      return second.emitOpError("expected one binding of each number, got two of ")
             << second.getOrdinal();

  llvm::SmallPtrSet<Operation *, 32> needed;
  for (auto store : body.getOps<bufferization::MaterializeInDestinationOp>()) {
    auto binding = store.getDest().getDefiningOp<plan::BindingOp>();
    if (!binding)
      return store.emitOpError("expected a binding as destination");
    if (std::optional<plan::SpreadResult> spread = findSpread(store.getSource())) {
      kernel.outputs.push_back({spread->source, binding, nullptr, spread});
      collectTensorOps(spread->source, needed);
      continue;
    }
    auto update = store.getSource().getDefiningOp<kernel::UpdateOp>();
    kernel.outputs.push_back({update ? update.getUpdate() : store.getSource(), binding, update});
    collectTensorOps(store.getSource(), needed);
  }
  for (Operation &op : body)
    if (needed.contains(&op))
      kernel.tensorOps.push_back(&op);
  return kernel;
}

plan::BindingOp getSourceBinding(Value tensor) {
  auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>();
  return toTensor ? toTensor.getBuffer().getDefiningOp<plan::BindingOp>() : nullptr;
}

AffineExpr getScalarFormula(OpFoldResult value, MLIRContext *context) {
  return codegen::getScalarFormula(value, context);
}

AffineExpr getElementCountFormula(plan::BindingOp binding) {
  auto type = cast<MemRefType>(binding.getMemory().getType());
  MLIRContext *context = binding.getContext();
  AffineExpr count = getAffineConstantExpr(1, context);
  for (OpFoldResult size : getMixedValues(type.getShape(), binding.getSizes(), context)) {
    AffineExpr formula = getScalarFormula(size, context);
    if (!formula)
      return nullptr;
    count = count * formula;
  }
  return count;
}

std::optional<int64_t> getUpperBound(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return number;
  Operation *op = cast<Value>(value).getDefiningOp();
  if (!op)
    return std::nullopt;
  codegen::KernelSizes sizes(op->getParentOfType<func::FuncOp>());
  return sizes.getUpperBound(sizes.getSize(value));
}

int64_t getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

int64_t countSharedBytes(Type elementType, int64_t count) {
  constexpr int64_t alignment = 16; // of the widest access
  return llvm::alignTo(count * getElementBytes(elementType), alignment);
}

unsigned countScalars(func::FuncOp function) {
  unsigned count = 0;
  function.walk(
      [&](plan::ScalarOp scalar) { count = std::max<unsigned>(count, scalar.getOrdinal() + 1); });
  return count;
}

} // namespace xc::cuda
