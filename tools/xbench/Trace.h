//===- Trace.h - A timeline of a few calls for Perfetto -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XBENCH_TRACE_H
#define XC_TOOLS_XBENCH_TRACE_H

#include "tools/common/Result.h"
#include "xcr/xcr.h"

#include <string>

namespace xc::tools {

/// Calls of each kind in a trace.
inline constexpr int kTracedCalls = 3;

/// Runs \p plain and \p profiled a few times and writes when the host launched and waited, and when
/// each command of the profiled calls ran, as JSON for ui.perfetto.dev and chrome://tracing. The
/// clocks of host and device are not the same: the last command of a call is placed where the host
/// has seen its end.
Error writeTrace(const std::string &path, const std::string &function, xcr_call_t *plain,
                 xcr_call_t *profiled, xcr_stream_t *stream);

} // namespace xc::tools

#endif // XC_TOOLS_XBENCH_TRACE_H
