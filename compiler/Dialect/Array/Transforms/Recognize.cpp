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

/// One that is the same for all targets.
template <auto recognize>
static Replacement one(Operation *root, ExpressionBuilder &e, bool /*mma*/) {
  return recognize(root, e);
}

namespace {
struct Recognizer {
  llvm::StringLiteral name;
  Replacement (*recognize)(Operation *root, ExpressionBuilder &e, bool mma);
};
} // namespace

/// In this order: attention is recognized by its softmax, which is one when its gradient uses
/// nothing of it but the weights. While a gradient uses these, attention is none.
static constexpr Recognizer kRecognizers[] = {
    {"gradient of a softmax", one<recognizeSoftmaxGradient>},
    {"softmax", one<recognizeSoftmax>},
    {"gradient of attention", recognizeAttentionGradient},
    {"attention", one<recognizeAttention>},
    {"shared heads", one<recognizeSharedHeads>},
    {"causal mask", one<recognizeCausalMask>},
    {"movement", one<recognizeMovement>},
    {"rotary embedding", one<recognizeRotary>},
    {"rotation", one<recognizeRotation>},
    {"gather of one element for each row", one<recognizeBatchedGather>},
    {"scatter of one element for each row", one<recognizeBatchedScatter>},
    {"padding of a pool's gradient", one<recognizePoolGradient>},
    {"sum of distances from a mean", one<recognizeDistanceSum>},
    {"sum of multiples", one<recognizeScaledSum>},
    {"norm", one<recognizeNorm>},
    {"scale or bias of a norm", one<recognizeNormScale>},
    {"GELU or SiLU", one<recognizeFunction>},
};

/// Erases `op` and what it alone has used. `next` moves on where it is among these.
static void eraseDead(Operation *op, Operation *&next) {
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *dead = worklist.pop_back_val();
    if (dead == next)
      next = dead->getNextNode();
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

/// Puts into place what `recognizer` finds at `op`; whether it has found anything.
static bool recognizeAt(Operation *op, const Recognizer &recognizer, bool mma, Operation *&next) {
  OpBuilder builder(op);
  ExpressionBuilder e(builder, op->getLoc());
  Replacement whole = recognizer.recognize(op, e, mma);
  SmallVector<Operation *> replaced;
  if (!whole.results.empty())
    replaced.push_back(op);
  for (auto [result, value] : llvm::zip(op->getResults(), whole.results))
    result.replaceAllUsesWith(value);
  for (auto [result, value] : whole.others) {
    result.replaceAllUsesWith(value);
    replaced.push_back(result.getDefiningOp());
  }
  // None of these uses another one, so none goes with another one.
  for (Operation *dead : replaced)
    if (isOpTriviallyDead(dead))
      eraseDead(dead, next);
  return !replaced.empty();
}

static unsigned recognizeIn(Region &region, const Recognizer &recognizer, bool mma) {
  unsigned found = 0;
  for (Block &block : region)
    for (Operation *op = block.empty() ? nullptr : &block.front(), *next; op; op = next) {
      next = op->getNextNode();
      for (Region &inner : op->getRegions())
        found += recognizeIn(inner, recognizer, mma);
      if (isa_and_nonnull<ArrayDialect>(op->getDialect()) && op->getNumResults() > 0)
        found += recognizeAt(op, recognizer, mma, next);
    }
  return found;
}

namespace {

struct Recognize final : impl::RecognizeBase<Recognize> {
  using RecognizeBase::RecognizeBase;

  void runOnOperation() override {
    Builder builder(&getContext());
    NamedAttrList counts(getOperation()->getAttrOfType<DictionaryAttr>(kRecognizedAttr));
    for (const Recognizer &recognizer : kRecognizers) {
      unsigned found = 0;
      getOperation().walk([&](func::FuncOp function) {
        found += recognizeIn(function.getBody(), recognizer, mma);
      });
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
