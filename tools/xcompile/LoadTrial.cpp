//===- LoadTrial.cpp - Does the runtime take the module? ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/LoadTrial.h"

#include "xcr/xcr.h"

std::string xc::tryLoading(llvm::StringRef bytes) {
  xcr_module_options_t options = XCR_MODULE_OPTIONS_INIT;
  options.flags = XCR_MODULE_METADATA_ONLY;
  xcr_module_t *module = nullptr;
  xcr_status_t status = xcr_module_load_memory(bytes.data(), bytes.size(), &options,
                                               /*release=*/nullptr, /*user_data=*/nullptr, &module);
  std::string problem;
  if (status) {
    xcr_string_view_t message = xcr_status_message(status);
    problem.assign(message.data, message.size);
    xcr_status_release(status);
  }
  xcr_module_release(module);
  return problem;
}
