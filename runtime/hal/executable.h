//===- executable.h - Code that a device has loaded ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_EXECUTABLE_H
#define XC_RUNTIME_HAL_EXECUTABLE_H

#include "runtime/base/ref_counted.h"

namespace xc::hal {

/// The exports keep the ordinals that they have in the module. Immutable.
class Executable : public RefCounted {};

} // namespace xc::hal

#endif // XC_RUNTIME_HAL_EXECUTABLE_H
