//===- UseModule.h - Use a module on a device that checks ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_FUZZ_USEMODULE_H
#define XC_TEST_FUZZ_USEMODULE_H

#include <cstddef>
#include <cstdint>

namespace xc::test {

/// Loads a module from memory and, where that succeeds, uses it as a program would: makes instances
/// and calls with several sizes, on a device that runs no code but checks that every address,
/// scalar and parameter that it is given is there. Aborts where one is not.
void useModule(const uint8_t *data, size_t size);

} // namespace xc::test

#endif // XC_TEST_FUZZ_USEMODULE_H
