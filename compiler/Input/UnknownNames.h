//===- UnknownNames.h - Say what is known where a name is unknown ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_UNKNOWNNAMES_H
#define XC_INPUT_UNKNOWNNAMES_H

#include "mlir/IR/OperationSupport.h"

#include <string>

namespace xc {

/// The types that a program may write.
extern const llvm::StringLiteral kKnownTypes;

/// What the compiler reads, for an op or type of a dialect that it does not know.
std::string describeDialects(llvm::StringRef dialect);

/// The ops whose names are nearest to `unknown` ("array.sofmax"), which its dialect does not have.
std::string describeOps(mlir::MLIRContext *context, llvm::StringRef unknown);

/// "did you mean 'A'? known are A, B": the attributes of `op`, which has none that is called
/// `unknown`.
std::string describeAttributes(mlir::OperationName op, llvm::StringRef unknown);

} // namespace xc

#endif // XC_INPUT_UNKNOWNNAMES_H
