//===- Strategy.h - The ways to compile a kernel ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy is one way to compile a kernel: which kernels it is for, the configurations that it
// has for one (an attribute of the cuda dialect), what each should cost, and the pass that emits
// code. Selection asks every strategy of the list, takes the cheapest configuration, and records
// the runner-up.
//
// A new strategy is a folder and one line of the list in Strategies.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_STRATEGY_H
#define XC_CODEGEN_CUDA_STRATEGY_H

#include "compiler/Codegen/CUDA/Common/WindowProblem.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"

#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"

#include "llvm/ADT/SmallVectorExtras.h"

namespace mlir {
class OpPassManager;
}

namespace xc::cuda {

/// How a kernel is called in a tuning table.
struct TuningKey {
  std::string text;
  /// Whether a line of the table with this key is about this very kernel, so that one which it
  /// cannot take is a mistake.
  bool isExact = false;
};

/// Reductions of windows of a static size, all a kernel does beside elementwise ops.
struct WindowQuery {
  WindowProblem problem;
  int64_t elements; // of the longest window
  /// The smaller side of the matrix product that it is, too; nothing if it is none.
  std::optional<int64_t> narrowSide;
};

/// A kernel, and what else bears on how it is compiled. What is asked for is found out once.
class KernelQuery {
public:
  KernelQuery(const KernelInfo &kernel, const SelectStrategyOptions &options,
              const ProductTuning &tuning, std::optional<int64_t> rowBound);

  const KernelInfo &kernel;
  KernelSizes sizes;
  const SelectStrategyOptions &options;
  const ProductTuning &tuning;
  /// The longest rows, where their length is symbolic and the kernel is a variant for such.
  std::optional<int64_t> rowBound;

  mlir::MLIRContext *getContext() const { return kernel.getFunction().getContext(); }
  const Target &getTarget() const { return *kernel.target; }

  /// The scan or sort whose results are the outputs; null if there is none.
  const LineKernel *getLineKernel() const { return lines ? &*lines : nullptr; }
  /// The scatter whose result is the only output; null if there is none.
  kernel::ScatterOp getScatter() const { return scatter; }
  /// The attention that the kernel computes, or its gradient; null if it is neither.
  kernel::AttentionOp getAttention() const { return attention; }
  kernel::AttentionGradientOp getAttentionGradient() const { return attentionGradient; }
  /// Whether the kernel has reductions, or neither those nor a scan, a sort, a scatter or
  /// attention.
  bool isReduction() const { return isPlain && !kernel.getReductions().empty(); }
  bool isElementwise() const { return isPlain && kernel.getReductions().empty(); }

  /// The matrix product that the kernel is; null if it is none.
  const Contraction *getContraction();
  /// Whether it is one of a matrix and a vector that wgmma streams, where it can; else a reduction.
  bool isStreamed();
  /// The reductions of windows that the kernel is; null if it is anything else, or a product whose
  /// tiles are not all but empty.
  const WindowQuery *getWindows();
  /// The group that all reductions of the kernel make; null, and `refusal` says why, if they do
  /// not.
  const ReductionGroup *getReductionGroup();
  llvm::StringRef getReductionRefusal() const { return refusal; }

private:
  std::optional<LineKernel> lines;
  kernel::ScatterOp scatter;
  kernel::AttentionOp attention;
  kernel::AttentionGradientOp attentionGradient;
  bool isPlain;
  std::optional<mlir::FailureOr<Contraction>> contraction;
  std::optional<std::optional<WindowQuery>> windows;
  std::optional<mlir::FailureOr<ReductionGroup>> group;
  std::string refusal;
};

/// A way to compile a kernel. Objects live as long as the program, and any thread may ask.
class Strategy {
public:
  virtual ~Strategy() = default;

  /// As reports and docs call it.
  virtual llvm::StringRef getName() const = 0;

  /// Appends the configurations that are worth considering for the kernel, the best first; none
  /// where the strategy is not for it. The first one competes with those of other strategies by its
  /// time; one without a time loses against all that have one. Fails where the kernel is wrong,
  /// which an error has said.
  virtual mlir::LogicalResult enumerate(KernelQuery &query,
                                        llvm::SmallVectorImpl<Choice> &choices) const = 0;

  /// Why the kernel cannot take `config`, which was given; empty if it can, and nothing if
  /// that is not a configuration of this strategy.
  virtual std::optional<std::string> check(KernelQuery &query, mlir::Attribute config) const {
    return std::nullopt;
  }

  /// What a tuning table calls the kernel; nothing if it is none of a kind that the strategy is for
  /// and that can be tuned.
  virtual std::optional<TuningKey> getKey(KernelQuery &query) const { return std::nullopt; }

  /// The microseconds that the strategy's model expects of a configuration that it can take;
  /// nothing where it has no model.
  virtual std::optional<double> estimate(KernelQuery &query, mlir::Attribute config) const {
    return std::nullopt;
  }

  /// Completes a choice of this strategy that was taken, as by what was measured of it before.
  virtual void finish(KernelQuery &query, Choice &choice) const {}

  /// Takes what no other strategy does: it is asked last.
  virtual bool isLastResort() const { return false; }

  /// The pass on functions that emits kernels of this strategy's configurations; null if that is
  /// another strategy's. It leaves other kernels alone.
  virtual std::unique_ptr<mlir::Pass> createEmission() const = 0;
};

/// How a reason for a choice names a size, which may be symbolic.
std::string describeSize(std::optional<int64_t> size);

/// All of them, in the order in which they are asked: of equal times the first one is taken.
llvm::ArrayRef<const Strategy *> getStrategies();

/// What a tuning table calls the kernel: the key of the first strategy that has one.
std::optional<TuningKey> getTuningKey(KernelQuery &query);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_STRATEGY_H
