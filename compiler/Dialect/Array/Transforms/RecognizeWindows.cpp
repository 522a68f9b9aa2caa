//===- RecognizeWindows.cpp - Gradients of padded pools -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX pads the image of a maximum over windows before it scatters the gradient, and slices the
// padding off what comes out. Two images less are in memory where the windows have the padding.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

#include <limits>

using namespace mlir;

namespace xc::array {

/// Whether no window of `kind` selects the padding beside another element: it is the neutral one.
static bool padsWithNeutral(PadOp pad, ReduceKind kind) {
  std::optional<double> value = getSplat(pad.getValue());
  double most = std::numeric_limits<double>::infinity();
  bool hasInterior =
      pad.getInterior() && llvm::any_of(*pad.getInterior(), [](int64_t n) { return n != 0; });
  return value && !hasInterior && *value == (kind == ReduceKind::Max ? -most : most);
}

/// Whether `slice` cuts off what `pad` has put on.
static bool undoesPadding(SliceOp slice, PadOp pad) {
  return slice.getStarts() == pad.getLow() && slice.getType() == typeOf(pad.getOperand()) &&
         llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; });
}

/// The sum of the amounts `inner` and `outer`, of which the latter may be absent.
static DenseI64ArrayAttr addAmounts(ArrayRef<int64_t> inner, std::optional<ArrayRef<int64_t>> outer,
                                    Builder &builder) {
  SmallVector<int64_t> sums(inner);
  if (outer)
    for (auto [sum, amount] : llvm::zip_equal(sums, *outer))
      sum += amount;
  return builder.getDenseI64ArrayAttr(sums);
}

Value recognizePoolGradient(Operation *root, ExpressionBuilder &e) {
  auto slice = dyn_cast<SliceOp>(root);
  auto scatter = slice ? slice.getOperand().getDefiningOp<SelectAndScatterOp>() : nullptr;
  auto pad = scatter ? scatter.getOperand().getDefiningOp<PadOp>() : nullptr;
  if (!pad || !scatter->hasOneUse() || !slice.getType().hasStaticShape() ||
      !padsWithNeutral(pad, scatter.getKind()) || !undoesPadding(slice, pad))
    return {};
  Builder &builder = e.getBuilder();
  return e.make<SelectAndScatterOp>(
      slice.getType(), scatter.getKind(), pad.getOperand(), scatter.getSource(),
      scatter.getWindowAttr(), scatter.getStridesAttr(),
      addAmounts(pad.getLow(), scatter.getLow(), builder),
      addAmounts(pad.getHigh(), scatter.getHigh(), builder), scatter.getDilationAttr());
}

} // namespace xc::array
