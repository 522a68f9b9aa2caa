//===- RuntimeSizes.cpp - Sizes that only the device knows ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/RuntimeSizes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

RuntimeSizes::RuntimeSizes(MLIRContext *context)
    : onDevice(UnitAttr::get(context)), onHost(StringAttr::get(context, "host")) {}

bool RuntimeSizes::contains(Value tensor, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.isDynamicDim(dim))
    return false;
  auto found = known.find({tensor, dim});
  if (found != known.end())
    return found->second;
  bool result = compute(tensor, dim);
  known[{tensor, dim}] = result;
  return result;
}

bool RuntimeSizes::containsAnyOf(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && llvm::any_of(llvm::seq<int64_t>(0, type.getRank()),
                              [&](int64_t dim) { return contains(tensor, dim); });
}

bool RuntimeSizes::containsAnyOf(ValueRange operands) {
  return llvm::any_of(operands, [&](Value operand) {
    return operand.getType().isIndex() ? containsIndex(operand) : containsAnyOf(operand);
  });
}

bool RuntimeSizes::containsIndex(Value index) {
  Operation *op = index.getDefiningOp();
  if (!op)
    return false;
  auto found = knownIndices.find(index);
  if (found != knownIndices.end())
    return found->second;
  bool result =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](DimOp dim) { return contains(dim.getOperand(), dim.getAxis()); })
          .Case([&](tensor::DimOp dim) {
            std::optional<int64_t> number = dim.getConstantIndex();
            return number ? contains(dim.getSource(), *number) : containsAnyOf(dim.getSource());
          })
          .Default([&](Operation *) {
            return llvm::any_of(op->getOperands(), [&](Value operand) {
              return operand.getType().isIntOrIndex() && containsIndex(operand);
            });
          });
  knownIndices[index] = result;
  return result;
}

bool RuntimeSizes::compute(Value tensor, int64_t dim) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto loop = dyn_cast_if_present<WhileOp>(argument.getOwner()->getParentOp());
    return loop && contains(loop.getInits()[argument.getArgNumber()], dim);
  }
  auto result = cast<OpResult>(tensor);
  unsigned number = result.getResultNumber();
  auto begins = [&](auto op) {
    return static_cast<int64_t>(op.getAxis()) == dim || contains(op.getOperand(), dim);
  };
  return llvm::TypeSwitch<Operation *, bool>(result.getOwner())
      .Case<SetExtentOp, CompressOp, AppendOp>(begins)
      .Case([&](PadToBoundOp) { return false; })
      .Case([&](IfOp op) {
        auto yield = cast<YieldOp>(op.getThenRegion().front().getTerminator());
        return contains(yield.getValues()[number], dim);
      })
      .Case([&](WhileOp op) { return contains(op.getInits()[number], dim); })
      .Case([&](tensor::CastOp op) { return contains(op.getSource(), dim); })
      .Case([&](ArrayShapeOpInterface op) {
        SizeBuilder sizes(*this, tensor.getLoc());
        ReifiedRankedShapedTypeDims shapes;
        return succeeded(op.reifySizes(sizes, shapes)) && isRuntime(shapes[number][dim]);
      })
      .Default([](Operation *) { return false; });
}

//===----------------------------------------------------------------------===//
// What shape functions ask for
//===----------------------------------------------------------------------===//

bool RuntimeSizes::isRuntime(OpFoldResult size) {
  if (auto value = dyn_cast_if_present<Value>(size))
    return containsIndex(value);
  return dyn_cast_if_present<Attribute>(size) == onDevice;
}

OpFoldResult RuntimeSizes::getDimSize(Value value, int64_t dim) {
  return contains(value, dim) ? onDevice : onHost;
}

OpFoldResult RuntimeSizes::combineSizes(SizeOperation, OpFoldResult lhs, OpFoldResult rhs) {
  return isRuntime(lhs) || isRuntime(rhs) ? onDevice : onHost;
}

OpFoldResult RuntimeSizes::applyMap(AffineMap, ValueRange operands) {
  return containsAnyOf(operands) ? onDevice : onHost;
}

} // namespace xc::array
