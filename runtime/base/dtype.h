//===- dtype.h - Element types -------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_DTYPE_H
#define XC_RUNTIME_BASE_DTYPE_H

#include "schemas/module_generated.h"
#include "xcr/xcr.h"

namespace xc {

/// The API's element types have the schema's numbers.
inline xcr_dtype_t toApi(fb::DType dtype) { return static_cast<xcr_dtype_t>(dtype); }
static_assert(static_cast<int>(fb::DType::MAX) == XCR_DTYPE_F8E5M2,
              "xcr_dtype_t follows schemas/module.fbs");

inline size_t elementBytes(fb::DType dtype) { return xcr_dtype_size(toApi(dtype)); }

} // namespace xc

#endif // XC_RUNTIME_BASE_DTYPE_H
