//===- Contracts.h - What passes leave for one another --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute named `dialect.*` on an op of another dialect is a contract between passes: one sets
// it, another one obeys. A dialect lists its own in a table, which says what each may be on and of
// which type it is; MLIR asks the dialect about them after every pass.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_CONTRACTS_H
#define XC_DIALECT_PLAN_IR_CONTRACTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace xc::plan {

/// One attribute: its name, what it may be on, and what it is.
struct Contract {
  llvm::StringLiteral name;
  bool (*takes)(mlir::Operation *op);
  llvm::StringLiteral carrier; // in words
  bool (*isOf)(mlir::Attribute value);
  llvm::StringLiteral type; // in words
};

/// Fails, with an error on `op`, unless `attribute` is in the table and what it says there.
mlir::LogicalResult verifyContract(mlir::Operation *op, mlir::NamedAttribute attribute,
                                   llvm::ArrayRef<Contract> contracts);

// What tables are made of.
template <typename... Kinds> bool isOn(mlir::Operation *op) { return mlir::isa<Kinds...>(op); }
inline bool isAnywhere(mlir::Operation *) { return true; }
template <typename... Types> bool isA(mlir::Attribute value) { return mlir::isa<Types...>(value); }
template <typename... Types> bool isArrayOf(mlir::Attribute value) {
  auto array = mlir::dyn_cast<mlir::ArrayAttr>(value);
  return array &&
         llvm::all_of(array, [](mlir::Attribute entry) { return mlir::isa<Types...>(entry); });
}

/// A key of a record, and what it holds.
struct Field {
  llvm::StringLiteral key;
  bool (*isOf)(mlir::Attribute value);
  bool isRequired;
};

/// Whether `value` is a dictionary of such keys and no others.
bool isRecord(mlir::Attribute value, llvm::ArrayRef<Field> fields);
template <const auto &fields> bool isRecordOf(mlir::Attribute value) {
  return isRecord(value, fields);
}
template <const auto &fields> bool isArrayOfRecords(mlir::Attribute value) {
  auto array = mlir::dyn_cast<mlir::ArrayAttr>(value);
  return array && llvm::all_of(array, isRecordOf<fields>);
}

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_CONTRACTS_H
