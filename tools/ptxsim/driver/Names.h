//===- Names.h - The driver's functions and results by name ----*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_NAMES_H
#define PTXSIM_DRIVER_NAMES_H

#include "cuda_abi/cuda_abi.h"

#include <string>

namespace xc::cudasim {

struct ErrorText {
  CUresult error;
  const char *name, *text;
};

/// Null if `error` is no CUresult.
const ErrorText *textOf(CUresult error);

/// Reads "CUDA_ERROR_OUT_OF_MEMORY" or "2" into `out`. Returns what is wrong with
/// the text, naming the results there are, or nothing.
std::string parseResult(const std::string &text, CUresult &out);

/// Checks that the stand-in counts calls of `function` (a plain name). Returns a
/// sentence with the functions there are if it does not, else nothing.
std::string checkFunction(const std::string &function);

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_NAMES_H
