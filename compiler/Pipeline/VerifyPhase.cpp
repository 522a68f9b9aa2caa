//===- VerifyPhase.cpp - Checks between the phases ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each phase, in their order. Verifiers of single ops check what one op can know;
// these check which ops are there at all, and what holds between them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/VerifyPhase.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_VERIFYPHASE
#include "compiler/Pipeline/Passes.h.inc"

namespace {

/// What one phase must have left. Checks stop at the first error.
class PhaseVerifier {
public:
  explicit PhaseVerifier(StringRef phase) : phase(phase) {}

  LogicalResult verify(ModuleOp module);

private:
  LogicalResult verifyOps(ModuleOp module, function_ref<bool(Operation *)> isExpected);
  LogicalResult verifyLinalg(ModuleOp module);
  LogicalResult verifyTargets(ModuleOp module, function_ref<LogicalResult(ModuleOp)> check);
  LogicalResult verifyDispatches(ModuleOp target);
  LogicalResult verifyKernel(plan::DispatchOp dispatch, const SymbolTable &kernels);
  LogicalResult verifyCode(ModuleOp target);
  LogicalResult verifyPlan(ModuleOp target);
  LogicalResult verifyCommands(Block &block, const SymbolTable &kernels);

  InFlightDiagnostic left(Operation *op) {
    return op->emitOpError("is left after phase '") << phase << "'";
  }

  StringRef phase;
};

} // namespace

static bool isFunctionLevel(Operation *op) {
  return isa<ModuleOp, func::FuncOp, func::ReturnOp, array::VariableOp>(op);
}

/// Scalars of sizes, and constants.
static bool isIndexArithmetic(Operation *op) {
  return (isa_and_present<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
          llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndex(); })) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

//===----------------------------------------------------------------------===//
// input, array, linalg
//===----------------------------------------------------------------------===//

/// Ops in bodies of linalg ops are not looked at: the op that holds them is.
LogicalResult PhaseVerifier::verifyOps(ModuleOp module,
                                       function_ref<bool(Operation *)> isExpected) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isExpected(op)) {
      left(op);
      return WalkResult::interrupt();
    }
    bool isContainer = isa<ModuleOp, func::FuncOp, array::IfOp, array::WhileOp>(op);
    return isContainer ? WalkResult::advance() : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}

static bool isInputOp(Operation *op) {
  if (isa<func::CallOp>(op) || isa_and_present<tosa::TosaDialect>(op->getDialect()))
    return false;
  if (isa_and_present<linalg::LinalgDialect>(op->getDialect()))
    return isa<linalg::GenericOp, linalg::ContractOp, linalg::FillOp>(op);
  if (isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return isIndexArithmetic(op);
  return true;
}

static bool isArrayPhaseOp(Operation *op) { return !isa<array::IfOp, array::WhileOp>(op); }

static bool isState(Operation *op) {
  return isa<array::ParameterOp, array::VariableReadOp, array::VariableAssignOp, plan::PackedOp>(
      op);
}

static bool isLinalgOp(Operation *op) {
  return isFunctionLevel(op) || isState(op) || isIndexArithmetic(op) ||
         isa<plan::BranchOp, plan::LoopOp, plan::RequireOp, tensor::EmptyOp, tensor::DimOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::PadOp, tensor::CastOp, linalg::GenericOp,
             linalg::ContractOp, linalg::FillOp>(op) ||
         isa_and_present<kernel::KernelDialect>(op->getDialect());
}

/// Truth values and unsigned integers are gone.
static bool isStoredType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return !isa<TensorType>(type);
  Type element = tensor.getElementType();
  return isa<FloatType>(element) ||
         (element.isSignlessInteger() && element.getIntOrFloatBitWidth() >= 8);
}

LogicalResult PhaseVerifier::verifyLinalg(ModuleOp module) {
  if (failed(verifyOps(module, isLinalgOp)))
    return failure();
  WalkResult result = module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    if (auto function = dyn_cast<func::FuncOp>(op))
      llvm::append_range(types, function.getArgumentTypes());
    for (Type type : types)
      if (!isStoredType(type)) {
        op->emitOpError("has a value of type ")
            << type << " after phase '" << phase
            << "'; expected tensors of floats or of signless integers of at least 8 bits";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// layout, dispatch, codegen
//===----------------------------------------------------------------------===//

LogicalResult PhaseVerifier::verifyTargets(ModuleOp module,
                                           function_ref<LogicalResult(ModuleOp)> check) {
  for (Operation &op : *module.getBody()) {
    auto target = dyn_cast<ModuleOp>(op);
    if (!target || !target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr))
      return left(&op) << "; expected modules of targets only";
    if (failed(check(target)))
      return failure();
  }
  return success();
}

/// The kernel of a dispatch takes as many bindings and scalars as the dispatch brings.
LogicalResult PhaseVerifier::verifyKernel(plan::DispatchOp dispatch, const SymbolTable &kernels) {
  // That it is there is what the dispatch's own verifier checks. Once it is code there is nothing
  // to count.
  auto kernel = kernels.lookup<ModuleOp>(dispatch.getKernelAttr().getAttr());
  auto function = kernel.lookupSymbol<func::FuncOp>(*kernel.getSymName());
  if (!function || phase != "dispatch")
    return success();
  uint64_t bindings = dispatch.getInputs().size() + dispatch.getNumResults();
  for (auto binding : function.getOps<plan::BindingOp>())
    if (static_cast<uint64_t>(binding.getOrdinal()) >= bindings)
      return dispatch.emitOpError("brings ")
             << bindings << " bindings to kernel " << dispatch.getKernelAttr()
             << ", which uses number " << binding.getOrdinal();
  uint64_t scalars = dispatch.getScalars().size();
  for (auto scalar : function.getOps<plan::ScalarOp>())
    if (static_cast<uint64_t>(scalar.getOrdinal()) >= scalars)
      return dispatch.emitOpError("brings ")
             << scalars << " scalars to kernel " << dispatch.getKernelAttr()
             << ", which uses number " << scalar.getOrdinal();
  return success();
}

LogicalResult PhaseVerifier::verifyDispatches(ModuleOp target) {
  SymbolTable symbols(target);
  for (auto function : target.getOps<func::FuncOp>()) {
    WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool isExpected = isFunctionLevel(op) || isState(op) || isIndexArithmetic(op) ||
                        plan::isView(op) ||
                        isa<plan::DispatchOp, plan::BranchOp, plan::LoopOp, plan::RequireOp,
                            tensor::DimOp, tensor::EmptyOp>(op);
      if (!isExpected)
        left(op);
      auto dispatch = dyn_cast<plan::DispatchOp>(op);
      bool isGood = isExpected && (!dispatch || succeeded(verifyKernel(dispatch, symbols)));
      return isGood ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult PhaseVerifier::verifyCode(ModuleOp target) {
  for (auto kernel : target.getOps<ModuleOp>()) {
    auto report = [&]() -> InFlightDiagnostic {
      return kernel.emitError("kernel '") << *kernel.getSymName() << "' ";
    };
    auto image = kernel->getAttrOfType<StringAttr>(plan::kImageAttr);
    if (!image || image.empty())
      return report() << "has no code after phase '" << phase << "'; expected " << plan::kImageAttr;
    auto exports = kernel->getAttrOfType<ArrayAttr>(plan::kExportsAttr);
    if (!exports || exports.empty())
      return report() << "has no variant after phase '" << phase << "'; expected plan.exports";
    for (auto variant : exports.getAsRange<DictionaryAttr>()) {
      for (StringRef name : {"name", "config", "reason", "launch"})
        if (!variant.get(name))
          return report() << "has a variant without '" << name << "' after phase '" << phase << "'";
    }
    auto guards = cast<DictionaryAttr>(exports[exports.size() - 1]).getAs<ArrayAttr>("guards");
    if (guards && !guards.empty())
      return report() << "has guards on its last variant: " << guards
                      << "; expected one that always fits";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// plan
//===----------------------------------------------------------------------===//

LogicalResult PhaseVerifier::verifyCommands(Block &block, const SymbolTable &kernels) {
  for (auto [position, op] : llvm::enumerate(block)) {
    if (!isa<plan::LaunchOp, plan::CopyOp, plan::FillOp, plan::ControlOp, plan::ChooseOp>(op))
      return left(&op) << "; expected commands only";
    for (int64_t after : op.getAttrOfType<DenseI64ArrayAttr>("after").asArrayRef())
      if (after < 0 || after >= static_cast<int64_t>(position))
        return op.emitOpError("is command ")
               << position << " and waits for command " << after << "; expected an earlier one";
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      if (!kernels.lookup<ModuleOp>(launch.getKernelAttr().getAttr()))
        return launch.emitOpError("expected the name of a kernel, got ") << launch.getKernelAttr();
    for (Region &region : op.getRegions())
      if (failed(verifyCommands(region.front(), kernels)))
        return failure();
  }
  return success();
}

LogicalResult PhaseVerifier::verifyPlan(ModuleOp target) {
  SymbolTable symbols(target);
  for (Operation &op : *target.getBody()) {
    if (!isa<plan::FunctionOp, ModuleOp, array::VariableOp>(op))
      return left(&op) << "; expected plans and kernels only";
    if (auto function = dyn_cast<plan::FunctionOp>(op))
      if (failed(verifyCommands(function.getBody().front(), symbols)))
        return failure();
  }
  return verifyCode(target);
}

LogicalResult PhaseVerifier::verify(ModuleOp module) {
  if (phase == "input")
    return verifyOps(module, isInputOp);
  if (phase == "array")
    return verifyOps(module, isArrayPhaseOp);
  if (phase == "linalg")
    return verifyLinalg(module);
  if (phase == "layout")
    return verifyTargets(module, [&](ModuleOp target) { return verifyLinalg(target); });
  if (phase == "dispatch")
    return verifyTargets(module, [&](ModuleOp target) { return verifyDispatches(target); });
  if (phase == "codegen")
    return verifyTargets(module, [&](ModuleOp target) {
      return failure(failed(verifyDispatches(target)) || failed(verifyCode(target)));
    });
  if (phase == "plan")
    return verifyTargets(module, [&](ModuleOp target) { return verifyPlan(target); });
  return module.emitError("unknown phase '")
         << phase << "'; known are input, array, linalg, layout, dispatch, codegen and plan";
}

namespace {

struct VerifyPhasePass final : impl::VerifyPhaseBase<VerifyPhasePass> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    if (failed(PhaseVerifier(phase).verify(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace xc
