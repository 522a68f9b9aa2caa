//===- CaseFile.h - The end-to-end cases of a bundle ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text file, one statement a line, words separated by blanks; files are beside
// it. test/e2e/bundle.py writes it:
//
//   module FILE                       the cases that follow are in it
//   case MEMORY NAME                  MEMORY: bytes that a device must have for it; the name is the
//                                     rest of the line
//   parameters SCOPE FILE             of the case's instance
//   call FUNCTION LAUNCHES            of one bound call, with
//   input DTYPE FILE                  its inputs in order, and
//   want DTYPE ABSOLUTE RELATIVE FILE its outputs in order (floats as f64), or
//   error REGEX                       the rest of the line: what it must fail with
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_E2E_BUNDLE_CASEFILE_H
#define XC_TEST_E2E_BUNDLE_CASEFILE_H

#include "tools/common/HostArray.h"

namespace xc::e2e {

struct Input {
  xcr_dtype_t dtype;
  std::string file;
};

struct Want {
  xcr_dtype_t dtype;
  double absolute, relative;
  std::string file;
};

struct Step {
  std::string function;
  uint64_t launches = 1;
  std::vector<Input> inputs;
  std::vector<Want> outputs;
  std::string error; ///< empty: it must succeed
};

struct Case {
  std::string name;
  uint64_t memory = 0;
  std::vector<std::string> parameters; ///< SCOPE=FILE
  std::vector<Step> steps;
};

struct ModuleCases {
  std::string file;
  std::vector<Case> cases;
};

/// Files in the result have the folder of |path| before their names.
tools::Result<std::vector<ModuleCases>> readCaseFile(const std::string &path);

} // namespace xc::e2e

#endif // XC_TEST_E2E_BUNDLE_CASEFILE_H
