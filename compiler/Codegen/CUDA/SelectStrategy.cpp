//===- SelectStrategy.cpp - Choose how a kernel is laid out ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All strategies are asked for the configurations that they have for a kernel. What --tuning gives
// goes before all else; then the cheapest is taken, and the one that is next to it recorded. Where
// a size is symbolic, variants for what it may be come before the general one; see
// SelectVariants.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/SelectVariants.h"
#include "compiler/Codegen/CUDA/Strategy.h"

#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_SELECTSTRATEGY
#include "compiler/Codegen/CUDA/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// What the user's table has for the kernel; nothing if that is nothing, and a failure where the
/// kernel cannot take it.
static FailureOr<std::optional<Choice>> takeGiven(KernelQuery &query) {
  std::optional<TuningKey> key = getTuningKey(query);
  const TuningTable::Entry *entry = key ? query.tuning.given.lookup(key->text) : nullptr;
  if (!entry)
    return std::optional<Choice>();
  for (const Strategy *strategy : getStrategies()) {
    std::optional<std::string> wrong = strategy->check(query, entry->config);
    if (!wrong)
      continue;
    if (wrong->empty()) {
      Choice choice{entry->config, "tuned: " + key->text, strategy->estimate(query, entry->config),
                    key->text, /*isKeyOwn=*/true};
      if (choice.microseconds)
        choice.reason += ", " + formatTime(*choice.microseconds);
      return std::optional(choice);
    }
    if (!key->isExact)
      return std::optional<Choice>();
    return emitError(entry->loc) << "expected a configuration that " << key->text
                                 << " can take, got " << entry->config << ": " << *wrong;
  }
  return std::optional<Choice>();
}

/// True if `left` is taken before `right`: one that has a time before one that has none.
static bool isCheaper(const Choice &left, const Choice &right) {
  if (left.microseconds && right.microseconds)
    return *left.microseconds < *right.microseconds;
  return left.microseconds.has_value() && !right.microseconds;
}

/// The cheapest configuration of all strategies, with the one next to it.
static FailureOr<Choice> takeCheapest(KernelQuery &query) {
  const Strategy *best = nullptr;
  Choice taken;
  std::optional<Choice> next;
  auto consider = [&](const Choice &choice) {
    if (!next || isCheaper(choice, *next))
      next = choice;
  };
  for (const Strategy *strategy : getStrategies()) {
    if (best && strategy->isLastResort())
      continue;
    SmallVector<Choice> choices;
    if (failed(strategy->enumerate(query, choices)))
      return failure();
    for (auto [rank, choice] : llvm::enumerate(choices)) {
      if (rank > 0 || (best && !isCheaper(choice, taken))) {
        consider(choice);
        continue;
      }
      if (best)
        consider(taken);
      best = strategy;
      taken = choice;
    }
  }
  assert(best && "the last one takes every kernel");
  if (next) {
    taken.runnerUp = next->config;
    taken.runnerUpMicroseconds = next->microseconds;
  }
  Choice expected = taken;
  best->finish(query, taken);
  // Where something else was measured to be faster, that goes before what the model says.
  if (taken.config != expected.config) {
    taken.runnerUp = expected.config;
    taken.runnerUpMicroseconds = expected.microseconds;
  }
  return taken;
}

/// What was compared, as an attribute: times in nanoseconds.
static SelectionAttr makeSelection(Builder &builder, const Choice &choice) {
  auto round = [](std::optional<double> microseconds) {
    return microseconds ? std::optional(static_cast<int64_t>(*microseconds * 1000)) : std::nullopt;
  };
  return SelectionAttr::get(builder.getContext(), round(choice.microseconds), choice.runnerUp,
                            round(choice.runnerUpMicroseconds),
                            choice.key.empty() ? StringAttr() : builder.getStringAttr(choice.key),
                            choice.isKeyOwn);
}

void recordChoice(func::FuncOp function, const Choice &choice, int64_t indexBits) {
  Builder builder(function.getContext());
  function->setAttr(plan::kConfigAttr, choice.config);
  std::string reason = choice.reason;
  function.walk([&](Operation *op) {
    auto note = op->getAttrOfType<StringAttr>(plan::kNoteAttr);
    // Several reductions of one row are decided alike.
    if (note && !StringRef(reason).contains(note.getValue()))
      reason += "; " + note.getValue().str();
  });
  function->setAttr(plan::kReasonAttr, builder.getStringAttr(reason));
  function->setAttr(kSelectionAttr, makeSelection(builder, choice));
  function->setAttr(kIndexBitsAttr, builder.getI32IntegerAttr(indexBits));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SelectStrategy final : impl::SelectStrategyBase<SelectStrategy> {
  using SelectStrategyBase::SelectStrategyBase;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<TuningTable> given = TuningTable::parse(context, tuning, tuningFile);
    FailureOr<TuningTable> shipped =
        shippedTuning ? TuningTable::parseShipped(context) : FailureOr<TuningTable>(TuningTable());
    if (failed(given) || failed(shipped))
      return failure();
    tables = {std::move(*given), std::move(*shipped)};
    return success();
  }
  void runOnOperation() override;

private:
  LogicalResult configure(func::FuncOp function);
  /// Fails where what is given cannot be taken.
  FailureOr<Choice> choose(const KernelInfo &kernel,
                           std::optional<int64_t> rowBound = std::nullopt);

  ProductTuning tables;
};

} // namespace

FailureOr<Choice> SelectStrategy::choose(const KernelInfo &kernel,
                                         std::optional<int64_t> rowBound) {
  SelectStrategyOptions options;
  options.wgmma = wgmma;
  KernelQuery query(kernel, options, tables, rowBound);
  FailureOr<std::optional<Choice>> given = takeGiven(query);
  if (failed(given))
    return failure();
  return *given ? FailureOr<Choice>(**given) : takeCheapest(query);
}

LogicalResult SelectStrategy::configure(func::FuncOp function) {
  FailureOr<KernelInfo> kernel = analyzeKernel(function);
  if (failed(kernel))
    return failure();
  std::string reason;
  if (Operation *op = PointEmitter::findUnsupported(*kernel, reason))
    return op->emitOpError("cannot be compiled for ") << kernel->target->arch << ": " << reason;
  bool narrow = fitsNarrowIndices(*kernel);
  if (Attribute given = function->getAttr(plan::kConfigAttr)) {
    recordChoice(function, {given, "as configured"}, narrow ? 32 : 64);
    return success();
  }
  FailureOr<Choice> found = choose(*kernel);
  if (failed(found) || failed(addSortVariants(*kernel)))
    return failure();
  auto chooseVariant = [&](const KernelInfo &variant, std::optional<int64_t> rowBound) {
    return choose(variant, rowBound);
  };
  if (failed(addVariants(*kernel, chooseVariant, narrow, *found)))
    return failure();
  recordChoice(function, *found, narrow ? 32 : 64);
  return success();
}

void SelectStrategy::runOnOperation() {
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (failed(configure(function)))
      return signalPassFailure();
}

} // namespace xc::cuda
