//===- Windows.cpp - Sizes of windows that slide over arrays -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Windows.h"

using namespace mlir;

namespace xc::array {

static int64_t numberOr(DenseI64ArrayAttr numbers, size_t index, int64_t missing) {
  return numbers ? numbers[index] : missing;
}

SmallVector<WindowDim> makeWindow(ArrayRef<int64_t> sizes, const WindowAttrs &attrs) {
  SmallVector<WindowDim> window;
  for (auto [index, size] : llvm::enumerate(sizes))
    window.push_back({size, numberOr(attrs.strides, index, 1), numberOr(attrs.low, index, 0),
                      numberOr(attrs.high, index, 0), numberOr(attrs.inputDilation, index, 1),
                      numberOr(attrs.dilation, index, 1)});
  return window;
}

LogicalResult checkWindow(const RuleContext &rule, int64_t count, StringRef dims,
                          const WindowAttrs &attrs, bool allowNegativePadding) {
  auto check = [&](DenseI64ArrayAttr numbers, StringRef what, int64_t minimum) -> LogicalResult {
    if (!numbers)
      return success();
    if (numbers.size() != count)
      return rule.error("expected ", count, " numbers in '", what, "', one for each ", dims,
                        ", got ", formatDims(numbers));
    if (llvm::any_of(numbers.asArrayRef(), [&](int64_t number) { return number < minimum; }))
      return rule.error("expected numbers of at least ", minimum, " in '", what, "', got ",
                        formatDims(numbers));
    if (llvm::any_of(numbers.asArrayRef(), [](int64_t number) { return number > kMostAmount; }))
      return rule.error("expected numbers of at most ", kMostAmount, " in '", what, "', got ",
                        formatDims(numbers));
    return success();
  };
  int64_t leastPadding = allowNegativePadding ? -kMostAmount : 0;
  return failure(
      failed(check(attrs.strides, "strides", 1)) || failed(check(attrs.low, "low", leastPadding)) ||
      failed(check(attrs.high, "high", leastPadding)) ||
      failed(check(attrs.inputDilation, "input_dilation", 1)) ||
      failed(check(attrs.dilation, attrs.inputDilation ? "filter_dilation" : "dilation", 1)));
}

int64_t countPlaces(int64_t input, const WindowDim &window) {
  if (ShapedType::isDynamic(input) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  int64_t spread = spreadKnown(input, window.inputDilation);
  int64_t room = window.low + spread + window.high - window.getExtent();
  return room < 0 ? 0 : room / window.stride + 1;
}

OpFoldResult countPlaces(SizeBuilder &sizes, OpFoldResult input, OpFoldResult size,
                         const WindowDim &window) {
  // A step more than there is room for, in whole steps.
  int64_t known = window.low + window.high + window.stride;
  OpFoldResult room = spreadSize(sizes, input, window.inputDilation);
  if (std::optional<int64_t> elements = getConstantIntValue(size)) {
    WindowDim closed = window;
    closed.size = *elements;
    known -= closed.getExtent();
    room = sizes.add(room, sizes.constant(known));
  } else {
    OpFoldResult taken = spreadSizeWithoutMax(sizes, size, window.dilation);
    room = sizes.sub(sizes.add(room, sizes.constant(known)), taken);
    known = -1;
  }
  // Where that is negative the window fits nowhere; more often padding and stride let no size be
  // too short.
  if (known < 0)
    room = sizes.max(room, sizes.constant(0));
  return sizes.floorDiv(room, sizes.constant(window.stride));
}

} // namespace xc::array
