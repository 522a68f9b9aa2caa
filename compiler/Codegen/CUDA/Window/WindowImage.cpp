//===- WindowImage.cpp - Elements of an image under strips of windows -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowImage.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::cuda {

/// The one input that windows slide over; null if there are others.
static OpOperand *findSlid(linalg::LinalgOp op) {
  OpOperand *image = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (op.getMatchingIndexingMap(input).isProjectedPermutation(/*allowZeroInResults=*/true))
      continue;
    if (image)
      return nullptr;
    image = input;
  }
  return image;
}

std::optional<WindowDim> matchWindowDim(AffineMap map, unsigned dim,
                                        llvm::function_ref<bool(unsigned)> isPosition,
                                        std::string &reason) {
  SmallVector<int64_t> factors;
  if (failed(getFlattenedAffineExpr(map.getResult(dim), map.getNumDims(), 0, &factors)) ||
      factors.size() != map.getNumDims() + 1) {
    reason = "the image's indices are no sums of loops";
    return std::nullopt;
  }
  SmallVector<unsigned, 2> positions, taps;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (factors[loop] != 0)
      (isPosition(loop) ? positions : taps).push_back(loop);
  if (positions.empty() || taps.empty())
    return std::nullopt;
  if (positions.size() > 1 || taps.size() > 1 || factors[positions[0]] < 1) {
    reason = "the image's indices are not those of windows";
    return std::nullopt;
  }
  return WindowDim{dim,           positions[0], taps[0], factors[positions[0]], factors[taps[0]],
                   factors.back()};
}

std::optional<WindowImage> matchWindowImage(linalg::LinalgOp op, unsigned channel,
                                            llvm::function_ref<bool(unsigned)> isPosition,
                                            std::string &reason) {
  OpOperand *operand = findSlid(op);
  if (!operand) {
    reason = "windows slide over no input, or over several";
    return std::nullopt;
  }
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (map.getNumResults() < 2 ||
      map.getResults().back() != getAffineDimExpr(channel, op.getContext())) {
    reason = "channels are not innermost in the image and in results";
    return std::nullopt;
  }
  // Lanes are neighbours in memory, and all of them padding or none.
  if (auto pad = operand->get().getDefiningOp<tensor::PadOp>();
      pad && (pad.getStaticLow().back() != 0 || pad.getStaticHigh().back() != 0)) {
    reason = "channels are padded";
    return std::nullopt;
  }
  reason.clear();
  for (unsigned dim = map.getNumResults() - 1; dim-- > 0;) {
    if (std::optional<WindowDim> found = matchWindowDim(map, dim, isPosition, reason))
      return WindowImage{*found, operand};
    if (!reason.empty())
      return std::nullopt;
  }
  reason = "windows slide over no dim but the innermost one";
  return std::nullopt;
}

} // namespace xc::cuda
