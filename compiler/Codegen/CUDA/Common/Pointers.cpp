//===- Pointers.cpp - Addresses of elements -------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Pointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

} // namespace xc::cuda
