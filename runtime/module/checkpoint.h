//===- checkpoint.h - Variables in files -----------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_CHECKPOINT_H
#define XC_RUNTIME_MODULE_CHECKPOINT_H

#include "runtime/module/instance.h"

namespace xc {

/// See xcr_instance_save_variables.
Status saveVariables(xcr_instance &instance, xcr_string_view_t path);

/// See xcr_instance_restore_variables. \p isPartial: the file may lack variables.
Status restoreVariables(xcr_instance &instance, xcr_string_view_t path, bool isPartial);

} // namespace xc

#endif // XC_RUNTIME_MODULE_CHECKPOINT_H
