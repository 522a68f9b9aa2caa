//===- Guards.cpp - What variants of a kernel rely on ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"

using namespace mlir;

namespace xc::cuda {

/// Element numbers up to here leave room for positions a little past the end in 32 bits.
static constexpr int64_t kNarrowLimit = INT32_MAX / 2;

bool fitsNarrowIndices(const KernelInfo &kernel) {
  bool loopsFit = llvm::all_of(kernel.tensorOps, [](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return !linalgOp || llvm::all_of(linalgOp.getStaticLoopRanges(),
                                     [](int64_t range) { return range <= kNarrowLimit; });
  });
  return loopsFit && llvm::all_of(kernel.bindings, [&](plan::BindingOp binding) {
           auto type = cast<MemRefType>(binding.getMemory().getType());
           int64_t count = 1;
           for (OpFoldResult size :
                getMixedValues(type.getShape(), binding.getSizes(), binding.getContext())) {
             std::optional<int64_t> bound = getUpperBound(size);
             if (!bound || *bound > kNarrowLimit ||
                 (count *= std::max<int64_t>(*bound, 1)) > kNarrowLimit)
               return false;
           }
           return true;
         });
}

/// The scalar that is the innermost size of `binding`; null if something else is.
static plan::ScalarOp getSymbolicWidth(plan::BindingOp binding) {
  auto type = cast<MemRefType>(binding.getMemory().getType());
  if (type.getRank() < 1 || !type.isDynamicDim(type.getRank() - 1))
    return nullptr;
  return binding.getSizes().back().getDefiningOp<plan::ScalarOp>();
}

bool hasSymbolicWidths(const KernelInfo &kernel) {
  return getVectorWidth(kernel) > 1 && llvm::any_of(kernel.bindings, [](plan::BindingOp binding) {
           return static_cast<bool>(getSymbolicWidth(binding));
         });
}

/// Tells every op that reads scalar `ordinal`, also where it is not an innermost size.
static void setDivisor(func::FuncOp function, unsigned ordinal, int64_t divisor) {
  auto number = Builder(function.getContext()).getI64IntegerAttr(divisor);
  function.walk([&](plan::ScalarOp scalar) {
    if (scalar.getOrdinal() == ordinal)
      scalar->setAttr(kDivisorAttr, number);
  });
}

bool addGuards(const KernelInfo &kernel, bool guardCounts, bool guardWidths) {
  MLIRContext *context = kernel.getFunction().getContext();
  Builder builder(context);
  SmallVector<Attribute> guards;
  auto addGuard = [&](AffineExpr value, int64_t max, int64_t divisor) {
    auto formula = plan::FormulaAttr::get(value);
    auto guard = plan::ValueGuardAttr::get(context, formula, /*min=*/0, max, divisor);
    if (!llvm::is_contained(guards, Attribute(guard)))
      guards.push_back(guard);
  };
  int64_t width = getVectorWidth(kernel);
  for (plan::BindingOp binding : kernel.bindings) {
    AffineExpr count = getElementCountFormula(binding);
    if (!count)
      return false;
    if (guardCounts && !isa<AffineConstantExpr>(count))
      addGuard(count, kNarrowLimit, 1);
    plan::ScalarOp scalar = getSymbolicWidth(binding);
    if (!scalar || width == 1 || !guardWidths)
      continue;
    addGuard(getAffineSymbolExpr(scalar.getOrdinal(), context), kNarrowLimit, width);
    setDivisor(kernel.getFunction(), scalar.getOrdinal(), width);
  }
  kernel.getFunction()->setAttr(plan::kGuardsAttr, builder.getArrayAttr(guards));
  return !guards.empty();
}

void addRangeGuard(const KernelInfo &kernel, AffineExpr value, int64_t min, int64_t max) {
  func::FuncOp function = kernel.getFunction();
  MLIRContext *context = function.getContext();
  SmallVector<Attribute> guards(function->getAttrOfType<ArrayAttr>(plan::kGuardsAttr).getValue());
  guards.push_back(plan::ValueGuardAttr::get(context, plan::FormulaAttr::get(value), min, max,
                                             /*divisor=*/1));
  function->setAttr(plan::kGuardsAttr, ArrayAttr::get(context, guards));
}

void addDivisorGuard(const KernelInfo &kernel, unsigned ordinal, int64_t divisor) {
  func::FuncOp function = kernel.getFunction();
  MLIRContext *context = function.getContext();
  SmallVector<Attribute> guards(function->getAttrOfType<ArrayAttr>(plan::kGuardsAttr).getValue());
  auto formula = plan::FormulaAttr::get(getAffineSymbolExpr(ordinal, context));
  guards.push_back(plan::ValueGuardAttr::get(context, formula, /*min=*/0, kNarrowLimit, divisor));
  function->setAttr(plan::kGuardsAttr, ArrayAttr::get(context, guards));
  setDivisor(function, ordinal, divisor);
}

std::pair<int64_t, int64_t> getGuardedRange(func::FuncOp function, AffineExpr value) {
  std::pair<int64_t, int64_t> range(0, INT64_MAX);
  if (auto guards = function->getAttrOfType<ArrayAttr>(plan::kGuardsAttr))
    for (auto guard : guards.getAsRange<plan::ValueGuardAttr>())
      if (guard.getValue() == plan::FormulaAttr::get(value))
        range = {std::max(range.first, static_cast<int64_t>(guard.getMin())),
                 std::min(range.second, static_cast<int64_t>(guard.getMax()))};
  return range;
}

std::optional<int64_t> getLargestSize(func::FuncOp function, OpFoldResult value) {
  std::optional<int64_t> largest = getUpperBound(value);
  AffineExpr formula = getScalarFormula(value, function.getContext());
  int64_t guarded = formula ? getGuardedRange(function, formula).second : INT64_MAX;
  if (guarded == INT64_MAX)
    return largest;
  return std::min(guarded, largest.value_or(guarded));
}

void addNonEmptyGuards(const KernelInfo &kernel) {
  func::FuncOp function = kernel.getFunction();
  MLIRContext *context = function.getContext();
  SmallVector<Attribute> guards(function->getAttrOfType<ArrayAttr>(plan::kGuardsAttr).getValue());
  for (plan::BindingOp binding : kernel.bindings) {
    AffineExpr count = getElementCountFormula(binding);
    if (isa<AffineConstantExpr>(count))
      continue;
    auto formula = plan::FormulaAttr::get(count);
    auto guard = plan::ValueGuardAttr::get(context, formula, /*min=*/1, kNarrowLimit, 1);
    if (!llvm::is_contained(guards, Attribute(guard)))
      guards.push_back(guard);
  }
  function->setAttr(plan::kGuardsAttr, ArrayAttr::get(context, guards));
}

} // namespace xc::cuda
