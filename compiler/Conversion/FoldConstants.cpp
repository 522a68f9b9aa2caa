//===- FoldConstants.cpp - Evaluate array ops on constants ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies what depends on constants only into a scratch module, lowers that as everything is
// lowered, and evaluates the linalg that comes out: so a folded op gives the bits that its kernel
// would.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/TensorInterpreter.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/ElementwiseFolds.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "compiler/Conversion/Passes.h.inc"

/// Elements of a result.
static constexpr int64_t kMaxFolded = int64_t(1) << 16;

/// Bytes of a result that is made of any data: what they were made of stays in the file only where
/// something else needs it, too.
static constexpr int64_t kAlwaysFoldedBytes = 1024;

/// Ops that are looked at to find out what results are made of, so that the time stays linear.
static constexpr int64_t kMaxVisits = int64_t(1) << 20;

static int64_t bytesOf(RankedTensorType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8) * type.getNumElements();
}

static bool isConstant(Operation *op) { return isa<array::ConstantOp, arith::ConstantOp>(op); }

/// Whether all results of `op` have static shapes that are not too large on the way.
static bool isSmall(Operation *op) {
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getNumElements() <= TensorInterpreter::kMaxElements;
  });
}

namespace {

struct FoldConstantsPass : impl::FoldConstantsBase<FoldConstantsPass> {
  void runOnOperation() override {
    collect();
    chooseWorthy();
    if (worthy.empty())
      return;
    ModuleOp scratch = buildScratch();
    if (succeeded(lower(scratch)))
      fold(scratch);
    scratch.erase();
  }

private:
  /// Finds the ops whose operands are all constants or computed by such ops.
  void collect() {
    candidates.clear();
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isConstant(op) || !isa_and_present<array::ArrayDialect>(op->getDialect()) ||
          isa<array::CustomKernelOp, array::ParameterOp>(op) ||
          op->hasTrait<OpTrait::IsTerminator>() ||
          (op->getNumRegions() != 0 && !isa<array::ReduceWithOp>(op)) || op->getNumResults() == 0 ||
          !isMemoryEffectFree(op) || !isSmall(op))
        return;
      if (llvm::all_of(op->getOperands(), [&](Value operand) {
            Operation *definition = operand.getDefiningOp();
            return definition && (isConstant(definition) || candidates.contains(definition));
          }))
        candidates.insert(op);
    });
  }

  /// What `op` is computed of, itself included, before what uses it.
  void addSlice(Operation *op, llvm::SetVector<Operation *> &slice) {
    SmallVector<std::pair<Operation *, bool>> stack = {{op, false}};
    while (!stack.empty()) {
      auto [current, isDone] = stack.pop_back_val();
      if (isDone) {
        slice.insert(current);
        continue;
      }
      if (slice.contains(current))
        continue;
      stack.push_back({current, true});
      for (Value operand : current->getOperands())
        stack.push_back({operand.getDefiningOp(), false});
    }
  }

  /// Whether a constant takes no more room than twice the data that it is made of, or little: what
  /// iotas and splats make costs a kernel nothing, and the file as much as it has elements.
  bool isWorthItsBytes(Operation *op) {
    int64_t bytes = 0;
    for (Type type : op->getResultTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      if (tensor.getNumElements() > kMaxFolded)
        return false;
      bytes += tensor.getNumElements() == 1 ? 0 : bytesOf(tensor);
    }
    if (bytes == 0)
      return true;
    if (visits > kMaxVisits)
      return false;
    llvm::SetVector<Operation *> slice;
    addSlice(op, slice);
    visits += slice.size();
    int64_t sources = 0;
    for (Operation *source : slice)
      if (auto constant = dyn_cast<array::ConstantOp>(source))
        if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
          sources += dense.isSplat() ? 0 : bytesOf(constant.getType());
    return sources != 0 && bytes <= std::max(2 * sources, kAlwaysFoldedBytes);
  }

  void chooseWorthy() {
    worthy.clear();
    visits = 0;
    for (Operation *op : candidates)
      if (isWorthItsBytes(op))
        worthy.insert(op);
  }

  /// A module beside the functions, with one that returns what is worthy.
  ModuleOp buildScratch() {
    llvm::SetVector<Operation *> slice;
    for (Operation *op : worthy)
      addSlice(op, slice);
    Location loc = getOperation().getLoc();
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto scratch = ModuleOp::create(builder, loc);
    builder.setInsertionPointToEnd(scratch.getBody());
    SmallVector<Value> values;
    SmallVector<Type> types;
    for (Operation *op : worthy)
      llvm::append_range(values, op->getResults());
    for (Value value : values)
      types.push_back(value.getType());
    auto func = func::FuncOp::create(builder, loc, "constants",
                                     FunctionType::get(&getContext(), {}, types));
    builder.setInsertionPointToEnd(func.addEntryBlock());
    IRMapping mapping;
    for (Operation *op : slice)
      builder.clone(*op, mapping);
    for (Value &value : values)
      value = mapping.lookup(value);
    func::ReturnOp::create(builder, loc, values);
    return scratch;
  }

  /// What cannot be lowered is reported where it is, later.
  LogicalResult lower(ModuleOp scratch) {
    ScopedDiagnosticHandler silence(&getContext(), [](Diagnostic &) { return success(); });
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createConvertArrayToLinalg());
    return runPipeline(pipeline, scratch);
  }

  /// Replaces what somebody outside needs, from the bottom: an op that stays needs its operands.
  void fold(ModuleOp scratch) {
    auto func = cast<func::FuncOp>(scratch.getBody()->front());
    // Sizes of constants that do not agree are reported as those of other tensors.
    if (!func.getOps<plan::RequireOp>().empty())
      return;
    TensorInterpreter interpreter;
    for (Operation &op : func.front())
      if (op.getNumResults() != 0)
        interpreter.evaluate(op.getResult(0));
    llvm::DenseMap<Operation *, SmallVector<TensorInterpreter::Result>> results;
    unsigned number = 0;
    Operation *terminator = func.front().getTerminator();
    for (Operation *op : worthy)
      for (unsigned i = 0; i < op->getNumResults(); ++i)
        results[op].push_back(interpreter.evaluate(terminator->getOperand(number++)));
    llvm::SmallPtrSet<Operation *, 16> gone;
    for (Operation *op : llvm::reverse(candidates)) {
      bool isNeeded = llvm::any_of(op->getUsers(), [&](Operation *user) {
        return !candidates.contains(user) || !gone.contains(user);
      });
      auto found = results.find(op);
      if (!isNeeded || (found != results.end() && replace(op, found->second)))
        gone.insert(op);
    }
    for (Operation *op : llvm::reverse(candidates))
      if (op->use_empty() && gone.contains(op))
        op->erase();
  }

  bool replace(Operation *op, ArrayRef<TensorInterpreter::Result> results) {
    if (llvm::is_contained(results, nullptr))
      return false;
    OpBuilder builder(op);
    for (auto [result, elements] : llvm::zip_equal(op->getResults(), results)) {
      auto type = cast<RankedTensorType>(result.getType());
      unsigned width = type.getElementTypeBitWidth();
      SmallVector<APInt> bits;
      for (uint64_t element : elements->bits)
        bits.emplace_back(width, element, /*isSigned=*/false, /*implicitTrunc=*/true);
      Value constant = array::ConstantOp::create(builder, op->getLoc(), type,
                                                 array::elementsFromBits(type, bits));
      result.replaceAllUsesWith(constant);
    }
    return true;
  }

  llvm::SetVector<Operation *> candidates, worthy;
  int64_t visits = 0;
};

} // namespace

} // namespace xc
