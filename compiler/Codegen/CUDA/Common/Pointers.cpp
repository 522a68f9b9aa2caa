//===- Pointers.cpp - Addresses of elements -------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Pointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

Value getPointer(OpBuilder &builder, Location loc, Value memory, Value element) {
  auto type = cast<MemRefType>(memory.getType());
  auto pointerType =
      LLVM::LLVMPointerType::get(builder.getContext(), type.getMemorySpace() ? 3 : 1);
  // Folds away when memrefs become pointers.
  Value base =
      UnrealizedConversionCastOp::create(builder, loc, TypeRange(pointerType), memory).getResult(0);
  return offsetBy(builder, loc, type.getElementType(), base, element);
}

Value offsetBy(OpBuilder &builder, Location loc, Type elementType, Value pointer, Value elements) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), elements);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value hideOrigin(OpBuilder &builder, Location loc, Value pointer) {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(builder, loc, pointer.getType(), pointer, "mov.b64 $0, $1;",
                                   "=l,l", /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

Value loadOrZero(OpBuilder &builder, Location loc, Type type, Value pointer, int64_t offset,
                 Value inside) {
  auto vector = dyn_cast<VectorType>(type);
  unsigned bits = vector ? vector.getNumElements() * vector.getElementTypeBitWidth()
                         : type.getIntOrFloatBitWidth();
  if (!inside) {
    Value address = LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(),
                                        pointer, LLVM::GEPArg(static_cast<int32_t>(offset)));
    return LLVM::LoadOp::create(builder, loc, type, address, bits / 8);
  }
  std::string text = llvm::formatv("{{ .reg .pred p; setp.ne.b32 p, $2, 0; mov.b{0} $0, 0; "
                                   "@p ld.global.b{0} $0, [$1 + {1}]; }",
                                   bits, offset);
  Value condition = LLVM::ZExtOp::create(builder, loc, builder.getI32Type(), inside);
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  Value loaded = LLVM::InlineAsmOp::create(
                     builder, loc, builder.getIntegerType(bits), ValueRange{pointer, condition},
                     text, bits == 16 ? "=h,l,r,~{memory}" : "=r,l,r,~{memory}",
                     /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                     dialect, /*operand_attrs=*/ArrayAttr())
                     .getResult(0);
  return LLVM::BitcastOp::create(builder, loc, type, loaded);
}

} // namespace xc::cuda
