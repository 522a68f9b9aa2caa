//===- EraseBFloat.cpp - bf16 as the 16 bits that it is --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After -xc-cpu-expand-arithmetic bf16 values are only moved. LLVM would still legalise some
// vectors of them (a splat, a concatenation) through f32 and back, and the way back is a call of
// __truncsfbf2. Types and constants become i16, which every CPU moves as it is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_ERASEBFLOAT
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

struct EraseBFloat final : impl::EraseBFloatBase<EraseBFloat> {
  void runOnOperation() override {
    Type bits = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [=](Type type) -> std::optional<Type> { return type.isBF16() ? bits : type; });
    replacer.addReplacement([=](FloatAttr value) -> std::optional<Attribute> {
      if (!value.getType().isBF16())
        return std::nullopt;
      return IntegerAttr::get(bits, value.getValue().bitcastToAPInt());
    });
    replacer.addReplacement([=](DenseElementsAttr values) -> std::optional<Attribute> {
      if (!values.getElementType().isBF16())
        return std::nullopt;
      return values.bitcast(bits);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/true);
  }
};

} // namespace
} // namespace xc::cpu
