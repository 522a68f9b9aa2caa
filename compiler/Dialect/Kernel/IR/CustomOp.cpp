//===- CustomOp.cpp - kernel.custom, and what is checked of such kernels --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/CustomKernel.h"
#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"
#include "compiler/Dialect/Kernel/IR/PTXText.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace xc::kernel {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for all.
static constexpr int64_t kMaxGrid[] = {INT32_MAX, 65535, 65535}, kMaxBlock[] = {1024, 1024, 64},
                         kMaxThreads = 1024;

static LogicalResult verifyScalars(Operation *op, const CustomKernel &kernel) {
  unsigned types = kernel.scalarTypes ? kernel.scalarTypes.size() : 0;
  if (types != kernel.scalarCount)
    return op->emitOpError("expected a type for each of ")
           << kernel.scalarCount << " scalars, got " << types;
  if (types != 0)
    for (Type type : kernel.scalarTypes.getAsValueRange<TypeAttr>())
      if (!type.isIndex() && !type.isSignlessInteger(32) && !type.isSignlessInteger(64))
        return op->emitOpError("expected scalars of type i64, i32 or index, got ") << type;
  return success();
}

static LogicalResult verifyLaunch(Operation *op, const CustomKernel &kernel) {
  AffineMap grid = kernel.grid;
  if (grid.getNumResults() != 3 || grid.getNumDims() != 0 ||
      grid.getNumSymbols() != kernel.scalarCount)
    return op->emitOpError("expected a grid of 3 numbers over ")
           << kernel.scalarCount << " symbols, one for each scalar, got "
           << AffineMapAttr::get(grid);
  for (auto [expr, most] : llvm::zip_equal(grid.getResults(), kMaxGrid))
    if (auto blocks = dyn_cast<AffineConstantExpr>(expr))
      if (blocks.getValue() < 0 || blocks.getValue() > most)
        return op->emitOpError("expected from 0 to ")
               << most << " blocks along one axis of the grid, got " << blocks.getValue();
  bool fits = kernel.block.size() == 3;
  int64_t threads = 1;
  for (auto [size, most] : llvm::zip(kernel.block, kMaxBlock)) {
    fits &= size >= 1 && size <= most;
    threads *= fits ? size : 1;
  }
  if (!fits || threads > kMaxThreads)
    return op->emitOpError("expected a block of at most 1024 x 1024 x 64 and 1024 threads in all, "
                           "got [")
           << kernel.block << "]";
  if (kernel.shared < 0 || kernel.shared > INT32_MAX)
    return op->emitOpError("expected a number of bytes of shared memory, got ") << kernel.shared;
  return success();
}

static LogicalResult verifyReuse(Operation *op, const CustomKernel &kernel) {
  if (kernel.reuse.empty())
    return success();
  if (kernel.reuse.size() != kernel.outputs.size())
    return op->emitOpError("expected for each of ")
           << kernel.outputs.size() << " results the input whose memory it may take, or -1, got ["
           << kernel.reuse << "]";
  SmallVector<int64_t> taken;
  for (auto [result, input] : llvm::enumerate(kernel.reuse)) {
    if (input == -1)
      continue;
    if (input < -1 || input >= static_cast<int64_t>(kernel.inputs.size()))
      return op->emitOpError("expected inputs up to ")
             << static_cast<int64_t>(kernel.inputs.size()) - 1 << " in 'reuse', got " << input;
    auto from = cast<ShapedType>(kernel.inputs[input]),
         to = cast<ShapedType>(kernel.outputs[result]);
    if (llvm::is_contained(taken, input) || from.getElementType() != to.getElementType() ||
        failed(verifyCompatibleShape(from, to)))
      return op->emitOpError("expected in 'reuse' inputs of their results' types, once each, got ")
             << "input " << input << " of " << from << " for a result of " << to;
    taken.push_back(input);
  }
  return success();
}

static LogicalResult verifyParameters(Operation *op, const CustomKernel &kernel,
                                      ArrayRef<StringRef> parameters) {
  SmallVector<unsigned> bits(kernel.inputs.size() + kernel.outputs.size(), 64);
  if (kernel.scalarCount != 0)
    for (Type type : kernel.scalarTypes.getAsValueRange<TypeAttr>())
      if (!type.isIndex())
        bits.push_back(type.getIntOrFloatBitWidth());
  if (parameters.size() != bits.size())
    return op->emitOpError("expected kernel '")
           << kernel.entry << "' to have " << bits.size() << " parameters (" << kernel.inputs.size()
           << " inputs, " << kernel.outputs.size() << " results, then the scalars), got "
           << parameters.size();
  for (auto [index, parameter, wanted] : llvm::enumerate(parameters, bits))
    if (getIntegerBits(parameter) != wanted)
      return op->emitOpError("expected parameter ")
             << index << " of kernel '" << kernel.entry << "' to be an integer of " << wanted
             << " bits, got '" << parameter.trim() << "'";
  return success();
}

static LogicalResult verifyText(Operation *op, const CustomKernel &kernel) {
  std::string text = dropComments(kernel.ptx.getValue()), error;
  if (!takeHeader(text, error))
    return op->emitOpError("expected PTX with ") << error;
  SmallVector<PTXEntry> entries = findEntries(text);
  auto nameOf = [&](const PTXEntry &entry) {
    return StringRef(text).slice(entry.name.begin, entry.name.end);
  };
  auto found =
      llvm::find_if(entries, [&](const PTXEntry &entry) { return nameOf(entry) == kernel.entry; });
  if (found == entries.end())
    return op->emitOpError("expected a kernel '")
           << kernel.entry << "' in the PTX, which has ["
           << llvm::join(llvm::map_range(entries, nameOf), ", ") << "]";
  return verifyParameters(op, kernel, found->parameters);
}

LogicalResult verifyCustomKernel(Operation *op, const CustomKernel &kernel) {
  if (kernel.outputs.empty())
    return op->emitOpError("expected at least one result, got none");
  if (failed(verifyScalars(op, kernel)) || failed(verifyLaunch(op, kernel)) ||
      failed(verifyReuse(op, kernel)))
    return failure();
  return kernel.ptx ? verifyText(op, kernel) : success();
}

LogicalResult CustomOp::verify() {
  return verifyCustomKernel(
      *this, {getEntry(), getPtxAttr(), getInputs().getTypes(), getOutputs().getTypes(),
              static_cast<unsigned>(getScalars().size()), getScalarTypesAttr(), getGrid(),
              getBlock(), static_cast<int64_t>(getShared()), getReuse()});
}

LogicalResult CustomOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyFromInits(*this, builder, shapes);
}

} // namespace xc::kernel
