//===- AttentionStrategy.cpp - Kernels of attention -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in one kernel on wgmma, or mma.sync where there is none, its gradient in two or three,
// and a thread for each element of a result for what these do not take. They want 32-bit indices
// and sizes for which there are tensor maps: all sizes are known, or the kernel is a variant whose
// guards promise it.
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

/// Whether tiles of `operands` can be copied.
static bool hasFittingOperands(ArrayRef<Value> operands, KernelQuery &query) {
  return llvm::all_of(operands, [&](Value tensor) {
    return matchAttentionOperand(tensor, query.sizes).has_value();
  });
}

static bool hasFittingOperands(kernel::AttentionOp op, KernelQuery &query) {
  // Copies read the table where it is.
  return hasFittingSizes(query.kernel) && (!op.isPaged() || getSourceBinding(op.getTable())) &&
         hasFittingOperands({op.getQuery(), op.getKey(), op.getValue()}, query);
}

static bool canUseWGMMA(kernel::AttentionOp op, KernelQuery &query) {
  return query.options.wgmma && hasWGMMAAttention(op, query.kernel.target);
}

/// The attention that a kernel on wgmma can compute; nothing if there is none.
static std::optional<AttentionChooser> matchFused(KernelQuery &query) {
  kernel::AttentionOp op = query.getAttention();
  if (!op || !canUseWGMMA(op, query) || !hasFittingOperands(op, query))
    return std::nullopt;
  return AttentionChooser{op, query.getTarget(), hasCopiedMask(op, query.sizes)};
}

/// The same of a kernel on mma.sync.
static std::optional<MMAAttentionChooser> matchFusedMMA(KernelQuery &query) {
  kernel::AttentionOp op = query.getAttention();
  if (!op || !hasMMAAttention(op, query.kernel.target) || !hasFittingOperands(op, query))
    return std::nullopt;
  return MMAAttentionChooser{op, query.getTarget()};
}

static AttentionGradientChooser makeGradientChooser(KernelQuery &query) {
  return {query.getAttentionGradient(), query.getTarget()};
}

/// The gradient of attention that a kernel on wgmma or mma.sync can compute.
static std::optional<AttentionGradientChooser> matchFusedGradient(KernelQuery &query) {
  kernel::AttentionGradientOp op = query.getAttentionGradient();
  if (!op || !hasFittingSizes(query.kernel) ||
      !hasFittingOperands({op.getQuery(), op.getKey(), op.getValue(), op.getCotangent()}, query))
    return std::nullopt;
  return makeGradientChooser(query);
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

/// Where there is a kernel on wgmma, this one is taken by a tuning table alone.
struct AttentionMMAStrategy final : Strategy {
  StringRef getName() const override { return "attention-mma"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    std::optional<MMAAttentionChooser> chooser = matchFusedMMA(query);
    if (!chooser || canUseWGMMA(query.getAttention(), query))
      return success();
    for (AttentionMMAAttr config : chooser->list())
      choices.push_back(describe(*chooser, config));
    return success();
  }

  std::optional<std::string> check(KernelQuery &query, Attribute config) const override {
    std::optional<MMAAttentionChooser> chooser = matchFusedMMA(query);
    auto own = dyn_cast<AttentionMMAAttr>(config);
    return chooser && own ? std::optional(chooser->check(own)) : std::nullopt;
  }

  std::optional<TuningKey> getKey(KernelQuery &query) const override {
    if (!matchFusedMMA(query))
      return std::nullopt;
    return TuningKey{makeAttentionKey(query.getAttention(), query.getTarget()), /*isExact=*/true};
  }

  std::optional<double> estimate(KernelQuery &query, Attribute config) const override {
    return matchFusedMMA(query)->predict(cast<AttentionMMAAttr>(config));
  }

  void finish(KernelQuery &query, Choice &choice) const override {
    choice.key = makeAttentionKey(query.getAttention(), query.getTarget());
    choice.isKeyOwn = true;
    choice.reason += "; key: " + choice.key;
  }

  /// That of the one on wgmma.
  std::unique_ptr<Pass> createEmission() const override { return nullptr; }

private:
  static Choice describe(MMAAttentionChooser chooser, AttentionMMAAttr config) {
    Choice choice{config,
                  llvm::formatv("attention on mma.sync: {0} queries of a block, {1} keys at a time",
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
    std::optional<AttentionGradientChooser> chooser = matchFusedGradient(query);
    if (!chooser)
      return success();
    bool isSingle = chooser->op.getQueryType().getElementType().isF32();
    if (query.options.wgmma && query.getTarget().hasWGMMA && !isSingle)
      choices.push_back(describe(*chooser, chooser->choose()));
    else
      choices.push_back(describe(*chooser, chooser->chooseMMA()));
    return success();
  }

  std::optional<std::string> check(KernelQuery &query, Attribute config) const override {
    std::optional<AttentionGradientChooser> chooser = matchFusedGradient(query);
    if (!chooser || !isa<AttentionAttr, AttentionMMAAttr>(config))
      return std::nullopt;
    return chooser->check(config);
  }

  std::optional<TuningKey> getKey(KernelQuery &query) const override {
    std::optional<AttentionGradientChooser> chooser = matchFusedGradient(query);
    return chooser ? std::optional(TuningKey{chooser->makeKey(), /*isExact=*/true}) : std::nullopt;
  }

  std::optional<double> estimate(KernelQuery &query, Attribute config) const override {
    return makeGradientChooser(query).predict(config);
  }

  void finish(KernelQuery &query, Choice &choice) const override {
    choice.key = makeGradientChooser(query).makeKey();
    choice.isKeyOwn = true;
    choice.reason += "; key: " + choice.key;
  }

  /// That of attention itself.
  std::unique_ptr<Pass> createEmission() const override { return nullptr; }

private:
  template <typename Config>
  static Choice describe(AttentionGradientChooser chooser, Config config) {
    bool ofKeys = chooser.op.isOfKeys();
    Choice choice{
        config,
        llvm::formatv("gradient of attention on {0}: {1} {2} of a block, {3} {4} at a time",
                      std::is_same_v<Config, AttentionAttr> ? "wgmma" : "mma.sync",
                      config.getWarpgroups() * tile::kWarpgroupRows, ofKeys ? "keys" : "queries",
                      config.getKeys(), ofKeys ? "queries" : "keys")};
    choice.microseconds = chooser.predict(config);
    if (choice.microseconds)
      choice.reason += ", " + formatTime(*choice.microseconds);
    return choice;
  }
};

/// For sizes that the fused kernels do not take, such as no keys at all. It has no model: it is
/// next where there is another, however long that takes.
struct AttentionRowsStrategy final : Strategy {
  StringRef getName() const override { return "attention-rows"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    // Gradients have it where there is nothing else alone: their times are compared with no other.
    bool isGradient = query.getAttentionGradient() && !matchFusedGradient(query);
    if (query.getAttention() || isGradient)
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
const Strategy &getAttentionMMAStrategy() {
  static const AttentionMMAStrategy strategy;
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
