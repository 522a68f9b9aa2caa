//===- ResolveReferences.cpp - Compute custom kernels by their references -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A custom kernel has PTX, and perhaps a reference: a function that computes the same. CPU
// targets take the reference's body in place of the kernel, with a check of the result's sizes;
// one without a reference is an error. Then references are of no use to any target, and private
// ones go.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Custom/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::custom {

#define GEN_PASS_DEF_RESOLVEREFERENCES
#include "compiler/Codegen/Custom/Passes.h.inc"

/// Calls `visit` with each symbol that names a function which `op` has for a region.
static void forEachRegion(Operation *op,
                          llvm::function_ref<FlatSymbolRefAttr(FlatSymbolRefAttr)> visit) {
  if (auto branch = dyn_cast<plan::BranchOp>(op)) {
    branch.setThenAttr(visit(branch.getThenAttr()));
    branch.setOtherwiseAttr(visit(branch.getOtherwiseAttr()));
  } else if (auto loop = dyn_cast<plan::LoopOp>(op)) {
    loop.setConditionAttr(visit(loop.getConditionAttr()));
    loop.setBodyAttr(visit(loop.getBodyAttr()));
  }
}

/// The first op of `function`, or of the regions of its control, that could be there once only.
static Operation *findState(func::FuncOp function, SymbolTable &symbols) {
  Operation *found = nullptr;
  function.walk([&](Operation *inner) {
    if (isa<array::VariableReadOp, array::VariableAssignOp, kernel::CustomOp>(inner))
      found = inner;
    forEachRegion(inner, [&](FlatSymbolRefAttr region) {
      if (!found)
        found = findState(symbols.lookup<func::FuncOp>(region.getValue()), symbols);
      return region;
    });
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static LogicalResult verifyReference(kernel::CustomOp op, func::FuncOp reference,
                                     SymbolTable &symbols) {
  Operation *state = findState(reference, symbols);
  if (!state)
    return success();
  InFlightDiagnostic diagnostic = op.emitError("expected reference @")
                                  << reference.getName()
                                  << " to have no variables or custom kernels";
  diagnostic.attachNote(state->getLoc()) << "one is here";
  return diagnostic;
}

/// Gives `op`, which is a copy, copies of its regions: each is of one op only.
static void copyRegions(Operation *op, SymbolTable &symbols) {
  forEachRegion(op, [&](FlatSymbolRefAttr region) {
    auto original = symbols.lookup<func::FuncOp>(region.getValue());
    func::FuncOp copy = original.clone();
    symbols.insert(copy, std::next(original->getIterator()));
    copy.walk([&](Operation *inner) { copyRegions(inner, symbols); });
    return FlatSymbolRefAttr::get(copy.getSymNameAttr());
  });
}

static Value castTo(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, value.getLoc(), type, value);
}

/// The sizes behind the op use what it says of its results, so that has to be so.
static void requireSizes(OpBuilder &builder, kernel::CustomOp op, Value init, Value result) {
  auto type = cast<RankedTensorType>(init.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    Value expected = builder.createOrFold<tensor::DimOp>(op.getLoc(), init, dim);
    Value got = builder.createOrFold<tensor::DimOp>(op.getLoc(), result, dim);
    plan::RequireOp::create(builder, op.getLoc(), expected, plan::Comparison::Equal, got,
                            "array.custom_kernel: expected the size that its reference gives dim " +
                                std::to_string(dim));
  }
}

static void inlineReference(kernel::CustomOp op, func::FuncOp reference, SymbolTable &symbols) {
  OpBuilder builder(op);
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip_equal(reference.getArguments(), op.getInputs()))
    mapping.map(argument, castTo(builder, input, argument.getType()));
  Block &body = reference.getBody().front();
  for (Operation &inner : body.without_terminator())
    copyRegions(builder.clone(inner, mapping), symbols);
  for (auto [result, init, value] :
       llvm::zip_equal(op.getOutputs(), op.getInits(), body.getTerminator()->getOperands())) {
    Value computed = mapping.lookupOrDefault(value);
    requireSizes(builder, op, init, computed);
    result.replaceAllUsesWith(castTo(builder, computed, result.getType()));
  }
  op.erase();
}

namespace {

struct ResolveReferences final : impl::ResolveReferencesBase<ResolveReferences> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    plan::TargetAttr target = plan::getTarget(module);
    if (!target) {
      module.emitOpError("expected a module with a target");
      return signalPassFailure();
    }
    SmallVector<kernel::CustomOp> ops;
    module.walk([&](kernel::CustomOp op) { ops.push_back(op); });
    SymbolTable symbols(module);
    llvm::SmallSetVector<func::FuncOp, 4> references;
    for (kernel::CustomOp op : ops)
      if (failed(resolve(op, target, symbols, references)))
        return signalPassFailure();
    eraseUnused(module, references.takeVector());
  }

  /// Erases those of `functions` that nobody needs any more, and what then nobody needs: regions of
  /// control that they had.
  static void eraseUnused(ModuleOp module, SmallVector<func::FuncOp, 4> functions) {
    while (!functions.empty()) {
      func::FuncOp function = functions.pop_back_val();
      if (!function.isPrivate() || !SymbolTable::symbolKnownUseEmpty(function, module))
        continue;
      llvm::SmallSetVector<func::FuncOp, 4> used;
      if (auto uses = SymbolTable::getSymbolUses(function))
        for (SymbolTable::SymbolUse use : *uses)
          if (auto callee =
                  SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(function, use.getSymbolRef()))
            used.insert(callee);
      llvm::erase(functions, function);
      function.erase();
      for (func::FuncOp callee : used)
        if (!llvm::is_contained(functions, callee))
          functions.push_back(callee);
    }
  }

  LogicalResult resolve(kernel::CustomOp op, plan::TargetAttr target, SymbolTable &symbols,
                        llvm::SmallSetVector<func::FuncOp, 4> &references) {
    auto reference = op.getReferenceAttr()
                         ? symbols.lookup<func::FuncOp>(op.getReferenceAttr().getValue())
                         : func::FuncOp();
    if (!reference && target.isCPU())
      return op.emitError("kernel '")
             << op.getEntry() << "' is PTX, which target cpu:" << target.getArch().getValue()
             << " cannot run; expected 'else @function' that computes the same in array ops";
    if (!reference)
      return success();
    references.insert(reference);
    if (!target.isCPU()) {
      op.removeReferenceAttr();
      return success();
    }
    if (failed(verifyReference(op, reference, symbols)))
      return failure();
    inlineReference(op, reference, symbols);
    return success();
  }
};

} // namespace

} // namespace xc::custom
