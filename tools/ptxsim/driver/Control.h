//===- Control.h - The live-object report ----------------------*- C++ -*--===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_DRIVER_CONTROL_H
#define PTXSIM_DRIVER_CONTROL_H

#include <string>

namespace xc::cudasim {

/// The live objects as text, one kind a line; empty if there are none.
std::string leakReport();

} // namespace xc::cudasim

#endif // PTXSIM_DRIVER_CONTROL_H
