//===- Products.cpp - Instructions of products of tiles -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/Products.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda::tile_lowering {

std::string listOperands(size_t first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text;
}

std::string repeat(StringRef constraint, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? "," : "") + constraint.str();
  return text;
}

Value makeDescriptor(TileBuilder &b, Value address, const Descriptor &descriptor) {
  Value field = b.both(b.div(address, 16), 0x3fff);
  Value wide = LLVM::ZExtOp::create(b.rewriter, b.loc, b.i64, field);
  return LLVM::OrOp::create(b.rewriter, b.loc, wide,
                            b.constant(b.i64, descriptor.getConstantBits()));
}

Value advanceDescriptor(TileBuilder &b, Value descriptor, int64_t bytes) {
  return bytes ? b.add(descriptor, b.constant(b.i64, bytes / 16)) : descriptor;
}

static StringRef getTypeName(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  return type.isF32() ? "tf32" : "s8";
}

Value multiply(TileBuilder &b, Type elementType, int64_t columns, ValueRange sums, ValueRange a,
               Value descriptorB, Value flag, StringRef order) {
  size_t count = sums.size();
  Type sumType = sums.front().getType();
  bool isFloat = sumType.isF32(), inRegisters = a.size() > 1;
  StringRef name = getTypeName(elementType);
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, a);
  llvm::append_values(operands, descriptorB, flag);
  // Signs of the operands are for floats.
  std::string first = listOperands(2 * count, a.size());
  if (inRegisters)
    first = "{" + first + "}";
  size_t next = 2 * count + a.size();
  std::string text = llvm::formatv(
      "{{ .reg .pred p; setp.ne.b32 p, ${0}, 0; wgmma.mma_async.sync.aligned.m64n{1}k{2}.{3}.{4}."
      "{4} {{{5}}, {6}, ${7}, p{8}{9}; }",
      next + 1, columns, 256 / elementType.getIntOrFloatBitWidth(), isFloat ? "f32" : "s32", name,
      listOperands(0, count), first, next, isFloat ? ", 1, 1" : "", order);
  std::string constraints = repeat(isFloat ? "=f" : "=r", count);
  for (size_t i = 0; i < count; ++i)
    constraints += "," + std::to_string(i);
  constraints += "," + repeat(inRegisters ? "r" : "l", a.size());
  auto all =
      LLVM::LLVMStructType::getLiteral(b.rewriter.getContext(), SmallVector<Type>(count, sumType));
  return b.assembly(text, constraints + ",l,r,~{memory}", operands, all).getResult(0);
}

SmallVector<Value> unpack(TileBuilder &b, Value structure) {
  SmallVector<Value> parts;
  size_t count = cast<LLVM::LLVMStructType>(structure.getType()).getBody().size();
  for (size_t i = 0; i < count; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(b.rewriter, b.loc, structure, i));
  return parts;
}

} // namespace xc::cuda::tile_lowering
