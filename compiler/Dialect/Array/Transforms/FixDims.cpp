//===- FixDims.cpp - Dims whose range has one size ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argument of which `array.dim_range` leaves a dim one size is cast to that size, and back for
// those of its users that want the type it had: shape inference then carries the size on. The
// function's type stays, and so does what is checked of its inputs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_FIXDIMS
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// The only size that a dim called `name` can have; none where there are others.
static std::optional<int64_t> getOnlySize(DictionaryAttr ranges, StringRef name) {
  auto bounds = ranges.getAs<ArrayAttr>(name);
  if (!bounds)
    return std::nullopt;
  auto number = [&](unsigned index) { return cast<IntegerAttr>(bounds[index]).getInt(); };
  int64_t min = number(0), max = number(1), divisor = number(2);
  if (max < 0)
    return std::nullopt;
  int64_t largest = max / divisor * divisor;
  bool isOnly = largest >= min && largest - divisor < min;
  return isOnly ? std::optional(largest) : std::nullopt;
}

/// The type of `argument` with those sizes that its dims alone can have.
static RankedTensorType getFixedType(BlockArgument argument, ArrayAttr names,
                                     DictionaryAttr ranges) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, name] : llvm::zip_equal(shape, names))
    if (ShapedType::isDynamic(size))
      size = getOnlySize(ranges, cast<StringAttr>(name).getValue()).value_or(size);
  return type.clone(shape);
}

namespace {

struct FixDims : impl::FixDimsBase<FixDims> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto ranges = func->getAttrOfType<DictionaryAttr>(kDimRangeAttr);
    if (!ranges || func.isExternal())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&func.front());
    for (BlockArgument argument : func.getArguments()) {
      auto names = func.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr);
      if (!names)
        continue;
      RankedTensorType fixed = getFixedType(argument, names, ranges);
      if (fixed == argument.getType())
        continue;
      auto inner = tensor::CastOp::create(builder, argument.getLoc(), fixed, argument);
      auto outer =
          tensor::CastOp::create(builder, argument.getLoc(), argument.getType(), inner.getResult());
      argument.replaceAllUsesExcept(outer, inner);
    }
  }
};

} // namespace

} // namespace xc::array
