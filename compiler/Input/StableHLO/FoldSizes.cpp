//===- FoldSizes.cpp - Dynamic ops whose sizes are constants --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `dynamic_gather`, `dynamic_pad`, `dynamic_conv` and `real_dynamic_slice` take as operands what
// their static forms have as attributes. Where those operands are constants, the static form is
// imported.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

namespace {

/// A static op, and the names of attributes that operands from `first` on become.
struct StaticForm {
  StringRef name;
  unsigned first;
  ArrayRef<StringRef> attributes;
};

} // namespace

static std::optional<StaticForm> getStaticForm(Operation *op) {
  static constexpr StringRef kGather[] = {"slice_sizes"}, kConvolution[] = {"padding"},
                             kPad[] = {"edge_padding_low", "edge_padding_high", "interior_padding"},
                             kSlice[] = {"start_indices", "limit_indices", "strides"};
  if (isa<shlo::DynamicGatherOp>(op))
    return StaticForm{"stablehlo.gather", 2, kGather};
  if (isa<shlo::DynamicPadOp>(op))
    return StaticForm{"stablehlo.pad", 2, kPad};
  if (isa<shlo::DynamicConvOp>(op))
    return StaticForm{"stablehlo.convolution", 2, kConvolution};
  if (isa<shlo::RealDynamicSliceOp>(op))
    return StaticForm{"stablehlo.slice", 1, kSlice};
  return std::nullopt;
}

/// The numbers of a constant, as i64; null where `value` is none.
static Attribute getNumbers(Value value) {
  auto constant = value.getDefiningOp<shlo::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || elements.getType().getRank() > 2)
    return nullptr;
  SmallVector<int64_t> numbers;
  for (const APInt &number : elements.getValues<APInt>())
    numbers.push_back(number.sextOrTrunc(64).getSExtValue());
  Builder builder(value.getContext());
  if (elements.getType().getRank() < 2)
    return builder.getDenseI64ArrayAttr(numbers);
  auto type = RankedTensorType::get(elements.getType().getShape(), builder.getI64Type());
  return DenseIntElementsAttr::get(type, numbers);
}

static LogicalResult fold(Operation *op, const StaticForm &form) {
  if (op->getNumOperands() != form.first + form.attributes.size() || op->getNumResults() != 1)
    return success();
  OperationState state(op->getLoc(), form.name);
  state.addOperands(op->getOperands().take_front(form.first));
  state.addTypes(op->getResultTypes());
  // What an optional attribute of a generic form lacks stays away.
  state.addAttributes(op->getAttrDictionary().getValue());
  for (auto [operand, name] :
       llvm::zip_equal(op->getOperands().drop_front(form.first), form.attributes)) {
    Attribute numbers = getNumbers(operand);
    if (!numbers)
      return success();
    state.addAttribute(name, numbers);
  }
  OpBuilder builder(op);
  Operation *folded = builder.create(state);
  if (failed(verify(folded)))
    return failure();
  op->replaceAllUsesWith(folded);
  op->erase();
  return success();
}

LogicalResult foldSizes(ModuleOp module) {
  SmallVector<std::pair<Operation *, StaticForm>> ops;
  module.walk([&](Operation *op) {
    std::optional<StaticForm> form = getStaticForm(op);
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (form && llvm::all_of(op->getOperandTypes(), isStatic) &&
        llvm::all_of(op->getResultTypes(), isStatic))
      ops.push_back({op, *form});
  });
  for (auto [op, form] : ops)
    if (failed(fold(op, form)))
      return failure();
  return success();
}

} // namespace xc::stablehlo_import
