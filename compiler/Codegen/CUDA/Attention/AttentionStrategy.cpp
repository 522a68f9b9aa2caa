//===- AttentionStrategy.cpp - Kernels of attention -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in one kernel on wgmma, its gradient in two, and a thread for each element of the
// result for what the first one does not take. That one wants 32-bit indices and sizes for which
// there are tensor maps: all sizes are known, or the kernel is a variant whose guards promise it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// Threads of a block that computes elements of the result one by one.
static constexpr int64_t kRowThreads = 128;

/// Whether all sizes are known, or guarded.
static bool hasFittingSizes(const KernelInfo &kernel) {
  return kernel.getFunction()->hasAttr(plan::kGuardsAttr) ||
         llvm::all_of(kernel.bindings, [](plan::BindingOp binding) {
           return cast<MemRefType>(binding.getMemory().getType()).hasStaticShape();
         });
}

/// The attention that a kernel on wgmma can compute; nothing if there is none.
static std::optional<AttentionChooser> matchFused(KernelQuery &query) {
  kernel::AttentionOp op = query.getAttention();
  if (!op || !hasFittingSizes(query.kernel) ||
      !hasAttentionKernel(op, query.kernel.target, query.options.wgmma))
    return std::nullopt;
  for (Value tensor : {op.getQuery(), op.getKey(), op.getValue()})
    if (!matchAttentionOperand(tensor, query.points))
      return std::nullopt;
  return AttentionChooser{op, query.getTarget()};
}

namespace {

struct AttentionStrategy final : Strategy {
  StringRef getName() const override { return "attention"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    std::optional<AttentionChooser> chooser = matchFused(query);
    if (!chooser)
      return success();
    choices.push_back(describe(*chooser, chooser->choose()));
    if (std::optional<AttentionAttr> next = chooser->chooseNext())
      choices.push_back(describe(*chooser, *next));
    return success();
  }

  std::optional<std::string> check(KernelQuery &query, Attribute config) const override {
    std::optional<AttentionChooser> chooser = matchFused(query);
    auto own = dyn_cast<AttentionAttr>(config);
    return chooser && own ? std::optional(chooser->check(own)) : std::nullopt;
  }

  std::optional<TuningKey> getKey(KernelQuery &query) const override {
    std::optional<AttentionChooser> chooser = matchFused(query);
    return chooser ? std::optional(TuningKey{chooser->makeKey(), /*isExact=*/true}) : std::nullopt;
  }

  std::optional<double> estimate(KernelQuery &query, Attribute config) const override {
    return matchFused(query)->predict(cast<AttentionAttr>(config));
  }

  void finish(KernelQuery &query, Choice &choice) const override {
    choice.key = matchFused(query)->makeKey();
    choice.isKeyOwn = true;
    choice.reason += "; key: " + choice.key;
  }

  /// Emits what the strategies below choose, too.
  std::unique_ptr<Pass> createEmission() const override { return createEmitAttention(); }

private:
  static Choice describe(AttentionChooser chooser, AttentionAttr config) {
    Choice choice{config,
                  llvm::formatv("attention on wgmma: {0} queries of a block, {1} keys at a time",
                                config.getWarpgroups() * tile::kWarpgroupRows, config.getKeys())};
    choice.microseconds = chooser.predict(config);
    if (choice.microseconds)
      choice.reason += ", " + formatTime(*choice.microseconds);
    return choice;
  }
};

struct AttentionGradientStrategy final : Strategy {
  StringRef getName() const override { return "attention-gradient"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    kernel::AttentionGradientOp op = query.getAttentionGradient();
    if (!op)
      return success();
    AttentionGradientChooser chooser = makeChooser(query);
    AttentionAttr config = chooser.choose();
    choices.push_back(
        {config,
         llvm::formatv("gradient of attention on wgmma: {0} {1} of a block, {2} {3} at a time, {4}",
                       config.getWarpgroups() * tile::kWarpgroupRows,
                       op.isOfKeys() ? "keys" : "queries", config.getKeys(),
                       op.isOfKeys() ? "queries" : "keys", formatTime(chooser.predict())),
         chooser.predict()});
    return success();
  }

  std::optional<std::string> check(KernelQuery &query, Attribute config) const override {
    auto own = dyn_cast<AttentionAttr>(config);
    if (!query.getAttentionGradient() || !own)
      return std::nullopt;
    return makeChooser(query).check(own);
  }

  std::optional<TuningKey> getKey(KernelQuery &query) const override {
    if (!query.getAttentionGradient())
      return std::nullopt;
    return TuningKey{makeChooser(query).makeKey(), /*isExact=*/true};
  }

  std::optional<double> estimate(KernelQuery &query, Attribute config) const override {
    return makeChooser(query).predict();
  }

  void finish(KernelQuery &query, Choice &choice) const override {
    choice.key = makeChooser(query).makeKey();
    choice.isKeyOwn = true;
    choice.reason += "; key: " + choice.key;
  }

  /// That of attention itself.
  std::unique_ptr<Pass> createEmission() const override { return nullptr; }

private:
  static AttentionGradientChooser makeChooser(KernelQuery &query) {
    return {query.getAttentionGradient(), query.getTarget()};
  }
};

/// For sizes that the fused kernel does not take, such as no keys at all. It has no model: it is
/// next where there is another, however long that takes.
struct AttentionRowsStrategy final : Strategy {
  StringRef getName() const override { return "attention-rows"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (query.getAttention())
      choices.push_back({AttentionRowsAttr::get(query.getContext(), kRowThreads),
                         "one thread for each element of the result: for sizes that the fused "
                         "kernel does not take"});
    return success();
  }

  std::unique_ptr<Pass> createEmission() const override { return nullptr; }
};

} // namespace

const Strategy &getAttentionStrategy() {
  static const AttentionStrategy strategy;
  return strategy;
}
const Strategy &getAttentionGradientStrategy() {
  static const AttentionGradientStrategy strategy;
  return strategy;
}
const Strategy &getAttentionRowsStrategy() {
  static const AttentionRowsStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
