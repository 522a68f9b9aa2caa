//===- TensorMaps.h - Descriptors of tensor copies in the module ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_TENSORMAPS_H
#define XC_TARGET_TENSORMAPS_H

#include "schemas/module_generated.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace xc::target {

/// The sizes, byte strides and corners in the tensor maps of a kernel (an entry of `plan.exports`)
/// that are formulas over its scalars. The runtime reads them as further scalars of the variant,
/// after the kernel's own.
llvm::SmallVector<plan::FormulaAttr> getTensorMapScalars(mlir::DictionaryAttr description);

/// The kernel's tensor maps; `ownScalars` is how many scalars the kernel itself has.
std::vector<flatbuffers::Offset<fb::TensorMap>>
writeTensorMaps(flatbuffers::FlatBufferBuilder &builder, mlir::DictionaryAttr description,
                unsigned ownScalars, llvm::function_ref<fb::DType(mlir::Type)> getDType);

/// True if one of the descriptors is in im2col mode, which not every reader knows.
bool hasIm2colMaps(mlir::DictionaryAttr description);
/// True if one of them ends where scalars say, which still fewer readers know.
bool hasSymbolicImageMaps(mlir::DictionaryAttr description);

} // namespace xc::target

#endif // XC_TARGET_TENSORMAPS_H
