//===- ImportONNX.h - ONNX models as array programs -----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_IMPORTONNX_H
#define XC_INPUT_ONNX_IMPORTONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace xc::onnx {

/// A symbolic dim that has this size.
struct FixedDim {
  std::string name;
  int64_t size;
};

/// An input that is these numbers, separated by commas.
struct FixedInput {
  std::string name, numbers;
};

/// A weight that the module names and does not hold.
struct ExternalWeight {
  std::string name; // of the parameter, and the key in the file
  std::string type; // as .safetensors files call it
  unsigned elementBytes;
  llvm::SmallVector<int64_t> shape;
  llvm::StringRef bytes;
};

/// Those of one model.
struct ExternalWeights {
  /// The scope of the module's parameters.
  static constexpr llvm::StringLiteral kScope = "weights";

  std::vector<ExternalWeight> weights;
  std::shared_ptr<void> owner; // of their bytes
};

struct ImportOptions {
  /// The folder that files of weights are looked for in.
  std::string directory;
  /// Replaces nodes that are not supported by zeros of the types that the model declares for their
  /// outputs, with a warning each, to look at the rest.
  bool stubUnsupported = false;
  /// What is known of inputs beforehand.
  std::vector<FixedDim> fixedDims;
  std::vector<FixedInput> fixedInputs;
  /// Where large weights of floats go to; null: they are constants of the module.
  ExternalWeights *external = nullptr;
};

/// Whether this build reads ONNX models at all (CMake option XC_ENABLE_ONNX).
bool isAvailable();

/// Whether `bytes` are a model, whatever the file is called. False in builds without ONNX.
bool looksLikeModel(llvm::StringRef bytes);

/// The model as a module with one function, `main`, of array ops. Inputs and outputs have the
/// model's names, symbolic dims theirs. Null where it is not sound or has nodes that are not
/// supported; errors without a location have then said why, one for all unsupported nodes. Needs
/// the dialects array, arith, func and tensor. Constants of the module keep what they need of the
/// model.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext *context, llvm::StringRef bytes,
                                              const ImportOptions &options);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_IMPORTONNX_H
