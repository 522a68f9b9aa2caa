//===- Printable.h - Text of files on terminals ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_PRINTABLE_H
#define XC_TOOLS_COMMON_PRINTABLE_H

#include <string>
#include <string_view>

namespace xc::tools {

/// |text| with each control character as "\\x1b". A name out of a file could move the cursor of a
/// terminal or change what stands there. Bytes from 0x80 on stay, but for the control characters
/// that UTF-8 writes as 0xc2 and one of 0x80 to 0x9f. Newlines stay if |keepsLines|.
std::string printable(std::string_view text, bool keepsLines = false);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_PRINTABLE_H
