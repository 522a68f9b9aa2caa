//===- UnknownNames.h - Say what is known where a name is unknown ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_UNKNOWNNAMES_H
#define XC_INPUT_UNKNOWNNAMES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"

#include <string>

namespace llvm {
class SourceMgr;
}

namespace xc {

/// While it lives, errors of MLIR's parser about an unknown op, dialect or type get a note with the
/// names that are known (and the nearest of an op's), since the parser itself only says no.
/// Construct it after the handler that prints.
class UnknownNameHandler : public mlir::ScopedDiagnosticHandler {
public:
  /// `sources` holds the input as its first buffer.
  UnknownNameHandler(llvm::SourceMgr &sources, mlir::MLIRContext *context);
};

/// "did you mean 'A'? known are A, B": the attributes of `op`, which has none that is called
/// `unknown`.
std::string describeAttributes(mlir::OperationName op, llvm::StringRef unknown);

} // namespace xc

#endif // XC_INPUT_UNKNOWNNAMES_H
