//===- MMASync.cpp - Instructions of products on mma.sync -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/MMASync.h"

using namespace mlir;

namespace xc::cuda {

NVVM::MMATypes getMMAType(Type element, bool isUnsigned) {
  if (element.isInteger(8))
    return isUnsigned ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
  return element.isF16()    ? NVVM::MMATypes::f16
         : element.isBF16() ? NVVM::MMATypes::bf16
                            : NVVM::MMATypes::tf32;
}

static void unpackTo(OpBuilder &builder, Location loc, Value structure,
                     MutableArrayRef<Value> parts) {
  for (auto [i, part] : llvm::enumerate(parts))
    part = LLVM::ExtractValueOp::create(builder, loc, structure, i);
}

static LLVM::LLVMStructType getStruct(Type part, size_t count) {
  return LLVM::LLVMStructType::getLiteral(part.getContext(), SmallVector<Type>(count, part));
}

void emitMMA(OpBuilder &builder, Location loc, std::array<NVVM::MMATypes, 2> types, ValueRange a,
             ValueRange b, MutableArrayRef<Value> sums) {
  bool isByte = types[0] == NVVM::MMATypes::s8 || types[0] == NVVM::MMATypes::u8;
  int64_t step = isByte ? 32 : types[0] == NVVM::MMATypes::tf32 ? 8 : 16;
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (isByte)
    overflow = NVVM::MMAIntOverflow::wrapped;
  Type type = getStruct(sums.front().getType(), sums.size());
  Value product =
      NVVM::MmaOp::create(builder, loc, type, a, b, ValueRange(sums), {16, 8, step}, std::nullopt,
                          overflow, types, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  unpackTo(builder, loc, product, sums);
}

void emitDoubleMMA(OpBuilder &builder, Location loc, DoubleMMA kind, ValueRange a, ValueRange b,
                   MutableArrayRef<Value> sums) {
  auto emit = [&](StringRef name, ArrayRef<Value> arguments, MutableArrayRef<Value> results) {
    Type type = getStruct(builder.getF64Type(), results.size());
    Value product =
        LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), arguments)
            .getResult(0);
    unpackTo(builder, loc, product, results);
  };
  if (kind == DoubleMMA::M16N8K8) {
    SmallVector<Value> arguments(a);
    llvm::append_range(arguments, b);
    llvm::append_range(arguments, sums);
    return emit("llvm.nvvm.mma.m16n8k8.row.col.f64", arguments, sums);
  }
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned kHalf = 0; kHalf < 2; ++kHalf) {
      MutableArrayRef<Value> some = sums.slice(half * 2, 2);
      emit("llvm.nvvm.mma.m8n8k4.row.col.f64", {a[kHalf * 2 + half], b[kHalf], some[0], some[1]},
           some);
    }
}

SmallVector<Value> loadMatrices(OpBuilder &builder, Location loc, Value pointer, int64_t count,
                                bool transposed) {
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  Value matrices = NVVM::LdMatrixOp::create(
      builder, loc, getStruct(builder.getI32Type(), count), pointer, static_cast<uint32_t>(count),
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words(count);
  unpackTo(builder, loc, matrices, words);
  return words;
}

} // namespace xc::cuda
