//===- SelectVariants.h - Copies of a kernel for some of its sizes --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_SELECTVARIANTS_H
#define XC_CODEGEN_CUDA_SELECTVARIANTS_H

#include "compiler/Codegen/CUDA/SelectStrategy.h"

namespace xc::cuda {

/// Chooses for a variant; `rowBound` limits the length of rows that it reduces. Fails where what
/// is given cannot be taken, which an error has said.
using ChooseFn = llvm::function_ref<mlir::FailureOr<Choice>(const KernelInfo &variant,
                                                            std::optional<int64_t> rowBound)>;

/// Puts all variants of `kernel`, for which `general` was chosen, before it. `isNarrow`: all
/// indices are known to fit 32 bits, so that none need a guard.
mlir::LogicalResult addVariants(const KernelInfo &kernel, ChooseFn choose, bool isNarrow,
                                const Choice &general);

/// Puts copies of a kernel of symbolic sizes before it, each with guards that say which sizes it is
/// for and with what is chosen for these. Those that come first are taken first.
class VariantMaker {
public:
  /// `isNarrow`: as above. `guardWidths`: variants are for innermost sizes that are multiples of
  /// the vector width.
  VariantMaker(const KernelInfo &kernel, ChooseFn choose, bool isNarrow, bool guardWidths)
      : kernel(kernel), choose(choose), isNarrow(isNarrow), guardWidths(guardWidths) {}

  /// Variants of attention, or of its gradient, in fused kernels.
  mlir::LogicalResult addAttentionVariants();
  /// Variants for rows of symbolic length that are short enough to be held.
  mlir::LogicalResult addRowVariants();
  /// Variants for products with few rows of symbolic number, and with long sums of symbolic length.
  mlir::LogicalResult addProductVariants();
  /// A variant for all sizes that the guards on indices and widths take, if it is compiled in
  /// another way than the `general` one.
  mlir::LogicalResult addGuardedVariant(const Choice &general);
  /// Of a product of sizes that ranges bound, one on wgmma.
  mlir::LogicalResult addMappedVariant();

private:
  /// What a variant is for: `value`, a formula over the kernel's scalars, from `min` to `max`.
  struct Range {
    mlir::AffineExpr value;
    int64_t min, max;
    std::string name, reason;
  };
  struct Variant {
    mlir::func::FuncOp function;
    Choice choice;
  };

  /// A copy of the kernel, whose name ends with `suffix`.
  mlir::FailureOr<KernelInfo> cloneKernel(const llvm::Twine &suffix);
  /// A variant of a product for sizes in `range`, or for all if that is null; nothing where there
  /// is nothing to guard.
  mlir::FailureOr<std::optional<Variant>> makeProductVariant(const Range *range);
  /// Variants of a product for `ranges` of one value, the narrowest first, where they differ from
  /// those for wider ones, and the last from what is chosen `beyond` them.
  mlir::LogicalResult addRangeVariants(llvm::ArrayRef<Range> ranges, mlir::Attribute beyond);

  const KernelInfo &kernel;
  ChooseFn choose;
  bool isNarrow, guardWidths;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_SELECTVARIANTS_H
