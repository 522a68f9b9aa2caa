//===- ImportTosa.cpp - TOSA ops as array ops -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op by itself, in program order, those of regions before the op that holds them. Constants
// come first, so that zero points and shifts can be read from the array constants that they have
// become. TOSA's integers are signless and mean signed ones, as ours do; an op that has
// to take them as unsigned says so and is refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Input/Passes.h"
#include "compiler/Input/SupportedTypes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace xc::array;

namespace xc {
#define GEN_PASS_DEF_IMPORTTOSA
#include "compiler/Input/Passes.h.inc"
} // namespace xc

namespace xc::tosa_import {

//===----------------------------------------------------------------------===//
// For the converters
//===----------------------------------------------------------------------===//

Value reshapeTo(ExpressionBuilder &e, Value operand, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, elementOf(operand));
  if (operand.getType() == type)
    return operand;
  return e.make<ReshapeOp>(type, operand, ValueRange());
}

Value subtractZeroPoint(ExpressionBuilder &e, Value value, int64_t zeroPoint) {
  if (zeroPoint == 0 || isFloat(value))
    return value;
  value = e.convert(value, e.getBuilder().getI32Type());
  return e.sub(value, e.integer(zeroPoint, elementOf(value)));
}

Value replaceNans(ExpressionBuilder &e, Value value, Value with) {
  return e.select(e.make<IsNanOp>(value), with, value);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct ImportTosa final : impl::ImportTosaBase<ImportTosa> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ImportTosaBase::getDependentDialects(registry);
    registry.insert<plan::PlanDialect>();
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops, shapes;
    WalkResult walk = getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
      // Later it could not be told from what is required here.
      if (isa<plan::RequireOp>(op)) {
        op->emitError() << "'" << op->getName()
                        << "' is not supported; sizes are required by the ops that need them";
        return WalkResult::interrupt();
      }
      if (!isa_and_present<tosa::TosaDialect>(op->getDialect()) || isa<tosa::YieldOp>(op))
        return WalkResult::advance();
      if (failed(verifyElements(op)))
        return WalkResult::interrupt();
      if (auto constant = dyn_cast<tosa::ConstOp>(op))
        replaceConstant(constant);
      else if (op->hasTrait<OpTrait::tosa::TosaShapeOperator>())
        shapes.push_back(op);
      else
        ops.push_back(op);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : ops)
      if (failed(replace(op)))
        return signalPassFailure();
    // Ops that take shapes have read them; a shape may still be part of another.
    for (Operation *op : llvm::reverse(shapes))
      if (op->use_empty())
        op->erase();
  }

private:
  /// What the array ops would refuse in their own name.
  static LogicalResult verifyElements(Operation *op) {
    auto verify = [&](TypeRange types, StringRef what) -> LogicalResult {
      for (auto [index, type] : llvm::enumerate(types))
        if (isa<TensorType>(type) && !isSupportedElement(getElementTypeOrSelf(type)))
          return op->emitError() << what << " " << index << " of '" << op->getName()
                                 << "' has type " << type << "; supported element types are "
                                 << kSupportedElements;
      return success();
    };
    return failure(failed(verify(op->getOperandTypes(), "operand")) ||
                   failed(verify(op->getResultTypes(), "result")));
  }

  void replaceConstant(tosa::ConstOp op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(op.getValues())).getResult());
    op.erase();
  }

  LogicalResult replace(Operation *op) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (isa<UnrankedTensorType>(type))
        return op->emitError() << "'" << op->getName() << "' has a tensor of unknown rank, " << type
                               << "; run --tosa-infer-shapes on it before";
    OpBuilder builder(op);
    ExpressionBuilder e(builder, getOriginLoc(op));
    for (auto convert : {convertElementwise, convertInteger, convertMovement, convertWindow,
                         convertTransform, convertControl}) {
      Replacement replacement = convert(op, e);
      if (!replacement)
        continue;
      if (failed(*replacement))
        return failure();
      // The converters infer types; what was written may say less or more.
      for (auto [result, value] : llvm::zip_equal(op->getResults(), **replacement))
        result.replaceAllUsesWith(e.finish(value, result.getType()));
      op->erase();
      return success();
    }
    return op->emitError() << "'" << op->getName()
                           << "' is not supported; there are no array ops that compute it";
  }
};

} // namespace

} // namespace xc::tosa_import
