//===- SeedModules.h - Good modules for fuzzers to begin with -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_FUZZ_SEEDMODULES_H
#define XC_TEST_FUZZ_SEEDMODULES_H

#include "test/runtime/ModuleBuilder.h"

namespace xc::test {

struct SeedModule {
  const char *name;
  ModuleSpec spec;
};

/// Small modules that load, which between them have an entry in every kind of table.
std::vector<SeedModule> makeSeedModules();

} // namespace xc::test

#endif // XC_TEST_FUZZ_SEEDMODULES_H
