//===- ParserErrors.h - Errors of MLIR's parser, for people ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_PARSERERRORS_H
#define XC_INPUT_PARSERERRORS_H

#include "mlir/IR/Diagnostics.h"

namespace llvm {
class SourceMgr;
}

namespace xc {

/// While it lives, errors of MLIR's parser say what the user can do: which names are known where
/// one is unknown, which bracket is open where the text ends, how an op with operands of several
/// types is spelled. Construct it after the handler that prints.
class ParserErrorHandler : public mlir::ScopedDiagnosticHandler {
public:
  /// `sources` holds the input as its first buffer.
  ParserErrorHandler(llvm::SourceMgr &sources, mlir::MLIRContext *context);
};

} // namespace xc

#endif // XC_INPUT_PARSERERRORS_H
