//===- ImportTosaControl.cpp - TOSA ifs, loops and variables --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

/// Moves `from` to `to` with an end of ours. Truth values that decide have rank 0.
static void moveRegion(Region &from, Region &to, bool isCondition) {
  to.takeBody(from);
  Operation *end = to.front().getTerminator();
  OpBuilder builder(end);
  ExpressionBuilder e(builder, end->getLoc());
  SmallVector<Value> values(end->getOperands());
  if (isCondition)
    values[0] = reshapeTo(e, values[0], {});
  YieldOp::create(builder, end->getLoc(), values);
  end->erase();
}

static SmallVector<Value> convertIf(tosa::IfOp op, ExpressionBuilder &e) {
  Value condition = reshapeTo(e, op.getCondition(), {});
  auto result = IfOp::create(e.getBuilder(), op.getLoc(), op.getResultTypes(), condition);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), result->getRegions())) {
    moveRegion(from, to, /*isCondition=*/false);
    // Our regions see what is outside.
    Block &block = to.front();
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), op.getInputList()))
      argument.replaceAllUsesWith(value);
    block.eraseArguments(0, block.getNumArguments());
  }
  return llvm::to_vector_of<Value>(result.getResults());
}

static SmallVector<Value> convertWhile(tosa::WhileOp op, ExpressionBuilder &e) {
  auto result =
      WhileOp::create(e.getBuilder(), op.getLoc(), op.getResultTypes(), op.getInputList());
  moveRegion(op.getCondGraph(), result.getCondition(), /*isCondition=*/true);
  moveRegion(op.getBodyGraph(), result.getBody(), /*isCondition=*/false);
  return llvm::to_vector_of<Value>(result.getResults());
}

static Result convertVariable(tosa::VariableOp op, ExpressionBuilder &e) {
  if (!isa<ModuleOp>(op->getParentOp()))
    return op.emitError("'tosa.variable' is inside of '")
           << op->getParentOp()->getName() << "'; expected it in the module";
  SmallVector<int64_t> shape;
  for (APInt size : op.getVarShape().getValues<APInt>())
    shape.push_back(size.getSExtValue());
  if (llvm::is_contained(shape, -1))
    return op.emitError("'tosa.variable' has a size that is not known; expected a static shape");
  auto type = RankedTensorType::get(shape, op.getType());
  VariableOp::create(e.getBuilder(), op.getLoc(), op.getSymName(), StringAttr(), type,
                     op.getInitialValueAttr());
  return SmallVector<Value>();
}

Replacement convertControl(Operation *op, ExpressionBuilder &e) {
  if (auto choice = dyn_cast<tosa::IfOp>(op))
    return convertIf(choice, e);
  if (auto loop = dyn_cast<tosa::WhileOp>(op))
    return convertWhile(loop, e);
  if (auto variable = dyn_cast<tosa::VariableOp>(op))
    return convertVariable(variable, e);
  if (auto read = dyn_cast<tosa::VariableReadOp>(op))
    return SmallVector<Value>{e.make<VariableReadOp>(
        read.getType(), FlatSymbolRefAttr::get(read.getContext(), read.getName()))};
  if (auto write = dyn_cast<tosa::VariableWriteOp>(op)) {
    VariableAssignOp::create(e.getBuilder(), op->getLoc(), write.getName(), write.getInput1());
    return SmallVector<Value>();
  }
  return std::nullopt;
}

} // namespace xc::tosa_import
