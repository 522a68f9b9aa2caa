//===- TestVjp.cpp - Shows an op's gradient -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a function return what its op with the attribute `vjp` says is the cotangent of each
// operand, so that tests can look at one op's gradient. An op that has no gradient is an error.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Differentiate.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_TESTVJP
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// Gives what is yet to be written zeros, so that the text is an input again.
static void giveValues(func::FuncOp func) {
  func.walk([](tensor::EmptyOp op) {
    OpBuilder builder(op);
    auto scalar = RankedTensorType::get({}, op.getType().getElementType());
    Value zero = ConstantOp::create(
        builder, op.getLoc(), cast<ElementsAttr>(cast<Attribute>(builder.getZeroAttr(scalar))));
    op.replaceAllUsesWith(BroadcastInDimOp::create(builder, op.getLoc(), op.getType(), zero,
                                                   op.getDynamicSizes(), ArrayRef<int64_t>())
                              .getResult());
    op.erase();
  });
}

namespace {
struct TestVjp : impl::TestVjpBase<TestVjp> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    Operation *marked = nullptr;
    func.walk([&](Operation *op) {
      if (op->hasAttr("vjp"))
        marked = op;
    });
    if (!marked)
      return;
    OpBuilder builder(func.front().getTerminator());
    FailureOr<SmallVector<Value>> cotangents =
        buildCotangents(builder, marked, marked->getResults());
    if (failed(cotangents)) {
      marked->emitOpError("has no gradient");
      return signalPassFailure();
    }
    marked->removeAttr("vjp"); // no attribute of a program that is compiled
    SmallVector<Value> returned;
    llvm::copy_if(*cotangents, std::back_inserter(returned), [](Value value) { return !!value; });
    giveValues(func);
    func.front().getTerminator()->setOperands(returned);
    func.setFunctionType(
        builder.getFunctionType(func.getArgumentTypes(), ValueRange(returned).getTypes()));
  }
};
} // namespace

} // namespace xc::array
