//===- Recognize.cpp - Make whole what programs write in smaller ops ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through the table below, recognizer by recognizer, and with each through all ops in program
// order: a pattern may be made of what an earlier one has found. Ops that nobody needs any more go
// at once, so that they do not count as users.
//
// How often each has found something is written on the module, for the report.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_RECOGNIZE
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

namespace {
struct Recognizer {
  llvm::StringLiteral name;
  Value (*recognize)(Operation *root, ExpressionBuilder &e);
};
} // namespace

/// In this order: attention is recognized by its softmax.
static constexpr Recognizer kRecognizers[] = {
    {"softmax", recognizeSoftmax},
    {"attention", recognizeAttention},
    {"shared heads", recognizeSharedHeads},
    {"causal mask", recognizeCausalMask},
    {"movement", recognizeMovement},
    {"rotary embedding", recognizeRotary},
    {"rotation", recognizeRotation},
    {"gather of one element for each row", recognizeBatchedGather},
    {"scatter of one element for each row", recognizeBatchedScatter},
    {"padding of a pool's gradient", recognizePoolGradient},
    {"sum of distances from a mean", recognizeDistanceSum},
    {"norm", recognizeNorm},
    {"scale or bias of a norm", recognizeNormScale},
    {"GELU or SiLU", recognizeFunction},
};

/// Erases `op` and what it alone has used.
static void eraseDead(Operation *op) {
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *dead = worklist.pop_back_val();
    llvm::SmallSetVector<Operation *, 4> operands;
    for (Value operand : dead->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        operands.insert(producer);
    dead->erase();
    for (Operation *producer : operands)
      if (isOpTriviallyDead(producer))
        worklist.push_back(producer);
  }
}

static unsigned recognizeIn(Region &region, const Recognizer &recognizer) {
  unsigned found = 0;
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &inner : op.getRegions())
        found += recognizeIn(inner, recognizer);
      if (!isa_and_nonnull<ArrayDialect>(op.getDialect()) || op.getNumResults() == 0)
        continue;
      OpBuilder builder(&op);
      ExpressionBuilder e(builder, op.getLoc());
      Value whole = recognizer.recognize(&op, e);
      if (!whole)
        continue;
      op.getResult(0).replaceAllUsesWith(whole);
      if (isOpTriviallyDead(&op))
        eraseDead(&op);
      ++found;
    }
  return found;
}

namespace {

struct Recognize final : impl::RecognizeBase<Recognize> {
  void runOnOperation() override {
    Builder builder(&getContext());
    NamedAttrList counts(getOperation()->getAttrOfType<DictionaryAttr>(kRecognizedAttr));
    for (const Recognizer &recognizer : kRecognizers) {
      unsigned found = 0;
      getOperation().walk(
          [&](func::FuncOp function) { found += recognizeIn(function.getBody(), recognizer); });
      if (found == 0)
        continue;
      auto before = dyn_cast_or_null<IntegerAttr>(counts.get(recognizer.name));
      counts.set(recognizer.name,
                 builder.getI64IntegerAttr(found + (before ? before.getInt() : 0)));
    }
    if (!counts.empty())
      getOperation()->setAttr(kRecognizedAttr, counts.getDictionary(&getContext()));
  }
};

} // namespace

} // namespace xc::array
