//===- DataTables.h - Constants, parameters and variables of a module -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_DATATABLES_H
#define XC_TARGET_DATATABLES_H

#include "compiler/Target/BlobArea.h"
#include "compiler/Target/PlanWriter.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace xc::target {

/// What a module says of elements of `type` that the program calls `name`; empty where that is the
/// type itself.
fb::DType getDType(mlir::Type type, llvm::StringRef name);

/// What a module file holds beside code. Targets share what is the same for them.
class DataTables {
public:
  mlir::LogicalResult collect(llvm::ArrayRef<mlir::ModuleOp> targets, BlobArea &blobs);
  /// What the plan of a target calls its data, in the module's numbers.
  const DataNumbers &getNumbers(unsigned target) const { return numbers[target]; }

  std::vector<flatbuffers::Offset<fb::Constant>>
  buildConstants(flatbuffers::FlatBufferBuilder &builder, const BlobArea &blobs,
                 uint64_t blobBase) const;
  std::vector<flatbuffers::Offset<fb::ExternalParameter>>
  buildParameters(flatbuffers::FlatBufferBuilder &builder) const;
  std::vector<flatbuffers::Offset<fb::Variable>>
  buildVariables(flatbuffers::FlatBufferBuilder &builder) const;

private:
  llvm::MapVector<mlir::Attribute, unsigned> constants; // elements -> blob
  llvm::MapVector<mlir::Attribute, unsigned> parameters;
  llvm::SmallVector<mlir::DictionaryAttr> variables;
  llvm::SmallVector<DataNumbers> numbers; // for each target
};

} // namespace xc::target

#endif // XC_TARGET_DATATABLES_H
