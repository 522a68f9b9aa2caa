//===- FixInputs.h - Inputs and dims that are known beforehand -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_FIXINPUTS_H
#define XC_INPUT_ONNX_FIXINPUTS_H

#include "compiler/Input/ONNX/ImportONNX.h"
#include "compiler/Input/ONNX/Model.h"

namespace xc::onnx {

/// Gives symbolic dims of inputs their sizes, and makes inputs weights of the model, as the options
/// say. False where a name or a value does not fit; `error` then says why, as one sentence.
bool fixInputs(Model &model, const ImportOptions &options, std::string &error);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_FIXINPUTS_H
