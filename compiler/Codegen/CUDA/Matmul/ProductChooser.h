//===- ProductChooser.h - Configurations of a matrix product ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_PRODUCTCHOOSER_H
#define XC_CODEGEN_CUDA_MATMUL_PRODUCTCHOOSER_H

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/DoubleMMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Strategy.h"

namespace xc::cuda {

/// Instructions that a function of mathematics is counted as.
inline constexpr int64_t kFunctionOps = 12;

/// The type of the elements that the kernel stores; where it only reduces its rows, of the sums.
mlir::Type getOutputType(const Contraction &contraction);

/// The parameters of a configuration on wgmma, or on tensor cores that multiply f64; the times are
/// not known.
WGMMAPlan toPlan(MatmulWGMMAAttr config);
DoublePlan toDoublePlan(MatmulMMAAttr config);

/// What the strategies of products ask about one kernel. Its methods lie in three files:
/// ProductProblems.cpp describes the product to the models, ProductChooser.cpp asks them, and
/// ProductReport.cpp says what was chosen, and how tuning tables call the product.
class ProductChooser {
public:
  ProductChooser(const Contraction &contraction, const KernelInfo &kernel, KernelSizes &sizes,
                 const SelectStrategyOptions &options, const ProductTuning &tuning);

  TuningKey getKey() const { return {key, noKeyReason.empty() && hasKnownSizes()}; }
  std::optional<Choice> chooseWGMMA();
  std::optional<Choice> chooseMMA();
  /// f64 on tensor cores.
  std::optional<Choice> chooseDoubleMMA();
  /// True if `wgmma`, which takes a convolution, is not worth it beside mma.sync.
  bool isFasterByMMA(const Choice &wgmma);
  /// Operands and sums of one type, on plain arithmetic.
  Choice choosePlain();
  /// The configuration next to the one chosen last, with its time, if the model told one.
  std::optional<Choice> next;
  /// The same of mma.sync, which wgmma is compared with.
  std::optional<Choice> nextMMA;
  /// Whether tensor cores know the types, but for f64.
  bool hasTensorCoreTypes() const {
    return kernel.target->hasMMA16816 &&
           (contraction.hasHalfOperands() || isTF32 || contraction.hasByteOperands());
  }
  /// Takes what was measured of the product before, and says by which key it can be tuned.
  void finish(Choice &choice);
  /// Says why `config`, which was given, cannot be taken; nothing if it can.
  std::string checkGiven(mlir::Attribute config);
  /// The microseconds that the model of the configuration's strategy expects.
  double predict(mlir::Attribute config);

private:
  /// What identifies the product in a tuning table; symbolic sizes as what is expected, or a `?`,
  /// which those of windows always are.
  std::string makeKey(bool isExpected);
  /// Why the key stands for another product than this one; empty if it does not.
  std::string findNoKeyReason() const;
  /// The product of the sizes of `dims`; where that is symbolic, `guess`, or what ranges and guards
  /// allow.
  int64_t getExpectedSize(llvm::ArrayRef<unsigned> dims, int64_t guess);
  int64_t getExpectedRows();
  int64_t getExpectedColumns();
  int64_t getExpectedBatch() { return contraction.getProduct(contraction.batch).value_or(1); }
  int64_t getExpectedSum();
  /// Those of a problem of the product as it stands.
  template <typename Problem> void setExpectedSizes(Problem &problem) {
    problem.batch = getExpectedBatch();
    problem.m = getExpectedRows();
    problem.n = getExpectedColumns();
    problem.k = getExpectedSum();
  }
  /// What was measured of the product, if that is of the strategy that was chosen.
  Choice replaceByShipped(Choice choice);
  FMAProblem makeFMAProblem();
  ProductSize makeMMASize();
  /// The configuration in words, with the time that is expected of it.
  std::string describe(mlir::Attribute config);
  DoubleProblem makeDoubleProblem();
  /// True if all sizes are constants, or guards promise what is to be known of them.
  bool hasKnownSizes() const {
    return kernel.getFunction()->hasAttr(plan::kGuardsAttr) ||
           llvm::none_of(contraction.getOp().getStaticLoopRanges(), mlir::ShapedType::isDynamic);
  }
  /// True if clusters of blocks may share sums: a grid of them is not folded, and must be known to
  /// fit.
  bool canShareSums() const {
    return kernel.target->hasClusters() && (hasKnownSizes() || fitsNarrowIndices(kernel));
  }
  /// The product as wgmma sees it; nothing, and `refusal`, where that cannot do it.
  std::optional<MatmulProblem> makeProblem();
  std::optional<MatmulProblem> makeConvolutionProblem();
  int64_t countPixels(int64_t positions, int64_t taps) const;
  void describeAcross(MatmulProblem &problem);
  std::optional<MatmulProblem> refuse(const llvm::Twine &reason) {
    refusal = reason.str();
    return std::nullopt;
  }
  bool canTranspose(const Contraction::Side &side, llvm::ArrayRef<unsigned> own);
  /// See MatmulTile::countLoadsPerWord; of static sizes, where there is no kernel yet.
  int64_t countLoadsPerWord(const Contraction::Side &side, llvm::ArrayRef<unsigned> own);
  /// What an operand is beyond a matrix, or a batch of them, in memory; empty if it is just that.
  std::string findNoKeyReason(const Contraction::Side &side, llvm::ArrayRef<unsigned> own) const;

  const Contraction &contraction;
  const KernelInfo &kernel;
  KernelSizes &sizes;
  const SelectStrategyOptions &options;
  const ProductTuning &tuning;
  bool isTF32;               // f32 operands may be rounded
  int64_t outputOps;         // see countOutputOps
  std::string windowRefusal; // why `windows`, which the product has, are not what a key says
  std::optional<std::string> windows; // see describeWindows
  std::string key;                    // what identifies the product in a tuning table
  std::string noKeyReason; // why it is not the product that the key stands for; empty if it is
  std::string refusal; // why wgmma, which the target has and which knows the types, is not taken
  std::optional<Convolution> convolution; // what wgmma sees, if columns of pixels are an operand
  std::optional<MatmulProblem> problem;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_PRODUCTCHOOSER_H
