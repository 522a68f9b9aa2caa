//===- SelectProductStrategy.cpp - Strategies of matrix products -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ProductChooser.h"
#include "compiler/Codegen/CUDA/Matmul/ProductStrategy.h"

using namespace mlir;

namespace xc::cuda {

/// What tiles on tensor cores that are all but empty take of what others do: what is not there is
/// not read.
static constexpr double kEmptyTiles = 0.55;

static ProductChooser makeChooser(KernelQuery &query) {
  return {*query.getContraction(), query.kernel, query.sizes, query.options, query.tuning};
}

bool canUseWGMMA(KernelQuery &query) { return makeChooser(query).chooseWGMMA().has_value(); }

namespace {

/// A strategy of products, with configurations of type `Config`.
template <typename Config> struct ProductStrategy : Strategy {
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (!query.getContraction() || (query.isStreamed() && !isStreaming()))
      return success();
    ProductChooser chooser = makeChooser(query);
    std::optional<Choice> choice = choose(query, chooser);
    if (!choice)
      return success();
    if (!choice->microseconds)
      choice->microseconds = chooser.predict(choice->config);
    choices.push_back(*choice);
    if (chooser.next)
      choices.push_back(*chooser.next);
    if (isa<MatmulMMAAttr>(choice->config) && query.getWindows())
      for (Choice &offered : choices)
        *offered.microseconds *= kEmptyTiles;
    return success();
  }

  std::optional<std::string> check(KernelQuery &query, Attribute config) const override {
    // A product of a matrix and a vector is streamed, or a reduction, which is not tuned.
    if (!isa<Config>(config) || (query.isStreamed() && !isStreaming()))
      return std::nullopt;
    if (!query.getContraction())
      return "the kernel is no product";
    return makeChooser(query).checkGiven(config);
  }

  std::optional<TuningKey> getKey(KernelQuery &query) const override {
    return query.getContraction() ? std::optional(makeChooser(query).getKey()) : std::nullopt;
  }

  std::optional<double> estimate(KernelQuery &query, Attribute config) const override {
    return makeChooser(query).predict(config);
  }

  void finish(KernelQuery &query, Choice &choice) const override {
    ProductChooser chooser = makeChooser(query);
    if (!isa<MatmulWGMMAAttr>(choice.config))
      (void)chooser.chooseWGMMA(); // finds out why not
    chooser.finish(choice);
  }

  /// Whether the strategy streams a matrix past a vector.
  virtual bool isStreaming() const { return false; }
  virtual std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const = 0;
};

/// On wgmma, tiles copied by the Tensor Memory Accelerator.
struct MatmulWGMMAStrategy final : ProductStrategy<MatmulWGMMAAttr> {
  StringRef getName() const override { return "matmul-wgmma"; }
  bool isStreaming() const override { return true; }
  std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const override {
    return chooser.chooseWGMMA();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMatmulWGMMA(); }
};

/// On mma.sync, at a third of wgmma's rate or less: for what wgmma does not take, and convolutions
/// of few channels.
struct MatmulMMAStrategy final : ProductStrategy<MatmulMMAAttr> {
  StringRef getName() const override { return "matmul-mma"; }
  std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const override {
    std::optional<Choice> wgmma = chooser.chooseWGMMA();
    if (wgmma && !chooser.isFasterByMMA(*wgmma))
      return std::nullopt;
    std::optional<Choice> choice = chooser.chooseMMA();
    if (!choice)
      choice = chooser.chooseDoubleMMA();
    chooser.next = chooser.nextMMA;
    return choice;
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMatmulMMA(); }
};

/// On plain multiply-adds, which do not reduce the rows of what they compute: for types that no
/// tensor core multiplies, or that it multiplies no faster.
struct MatmulFMAStrategy final : ProductStrategy<MatmulFMAAttr> {
  StringRef getName() const override { return "matmul-fma"; }
  std::optional<Choice> choose(KernelQuery &query, ProductChooser &chooser) const override {
    if (chooser.hasTensorCoreTypes() || query.getContraction()->group.hasParts())
      return std::nullopt;
    return chooser.choosePlain();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMatmulFMA(); }
};

} // namespace

const Strategy &getMatmulWGMMAStrategy() {
  static const MatmulWGMMAStrategy strategy;
  return strategy;
}
const Strategy &getMatmulMMAStrategy() {
  static const MatmulMMAStrategy strategy;
  return strategy;
}
const Strategy &getMatmulFMAStrategy() {
  static const MatmulFMAStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
