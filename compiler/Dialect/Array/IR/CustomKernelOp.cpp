//===- CustomKernelOp.cpp - array.custom_kernel ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Kernel/IR/CustomKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace xc::array {

LogicalResult CustomKernelOp::verify() {
  if (getPtxAttr() && getFileAttr())
    return emitOpError("expected either 'ptx' or 'file', got both");
  if (!getPtxAttr() && !getFileAttr())
    return emitOpError("expected either 'ptx' or 'file', got none");
  unsigned dynamic = 0;
  for (Type type : getOutputs().getTypes())
    dynamic += cast<RankedTensorType>(type).getNumDynamicDims();
  if (getSizes().size() != dynamic)
    return emitOpError("expected a size for each of ")
           << dynamic << " dynamic dims of the results, got " << getSizes().size();
  return kernel::verifyCustomKernel(
      *this, {getEntry(), getPtxAttr(), getInputs().getTypes(), getOutputs().getTypes(),
              static_cast<unsigned>(getScalars().size()), getScalarTypesAttr(), getGrid(),
              getBlock(), static_cast<int64_t>(getShared()), getReuse()});
}

LogicalResult CustomKernelOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FlatSymbolRefAttr name = getReferenceAttr();
  if (!name)
    return success();
  auto function = symbolTable.lookupNearestSymbolFrom<func::FuncOp>(*this, name);
  if (!function || function.isDeclaration())
    return emitOpError("expected behind 'else' a function of the module, got ") << name;
  TypeRange inputs = getInputs().getTypes(), outputs = getOutputs().getTypes();
  if (function.getNumArguments() != inputs.size() || function.getNumResults() != outputs.size() ||
      !areCompatibleTypes(function.getArgumentTypes(), inputs) ||
      !areCompatibleTypes(function.getResultTypes(), outputs))
    return emitOpError("expected ") << name << " to take (" << inputs << ") and to return ("
                                    << outputs << "), got " << function.getFunctionType();
  return success();
}

LogicalResult CustomKernelOp::reifySizes(SizeBuilder &sizeBuilder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  auto size = getSizes().begin();
  for (Type type : getOutputs().getTypes()) {
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    for (int64_t dim : cast<RankedTensorType>(type).getShape())
      shape.push_back(ShapedType::isDynamic(dim) ? OpFoldResult(*size++)
                                                 : sizeBuilder.constant(dim));
  }
  return success();
}

/// The kernel gets the low half of an i32.
static void requireNarrowScalars(CustomKernelOp op, RequirementBuilder &requirements) {
  for (auto [index, scalar] : llvm::enumerate(op.getScalars()))
    if (cast<TypeAttr>(op.getScalarTypesAttr()[index]).getValue().isInteger(32))
      requirements.require(getAsOpFoldResult(scalar), plan::Comparison::AtMost,
                           requirements.getSizes().constant(INT32_MAX),
                           "expected scalar " + Twine(index) + " to fit i32");
}

/// Requires no more blocks than CUDA launches along an axis.
static void requireSmallGrid(CustomKernelOp op, RequirementBuilder &requirements) {
  constexpr int64_t most[] = {INT32_MAX, 65535, 65535};
  for (int axis = 0; axis < 3; ++axis) {
    AffineMap blocks = op.getGrid().getSubMap({static_cast<unsigned>(axis)});
    if (isa<AffineConstantExpr>(blocks.getResult(0)))
      continue;
    requirements.require(requirements.getSizes().apply(blocks, op.getScalars()),
                         plan::Comparison::AtMost, requirements.getSizes().constant(most[axis]),
                         "expected a grid of at most " + Twine(most[axis]) + " blocks along axis " +
                             Twine(axis));
  }
}

void reifyRequirements(CustomKernelOp op, RequirementBuilder &requirements) {
  requireNarrowScalars(op, requirements);
  requireSmallGrid(op, requirements);
}

} // namespace xc::array
