//===- Requirements.h - What a form needs of target and version -*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_REQUIREMENTS_H
#define PTXSIM_LIB_REQUIREMENTS_H

#include <string>
#include <string_view>
#include <vector>

namespace xc::ptxsim {

/// A module's .target and .version.
struct TargetInfo {
  std::string name;      // "sm_90a"
  unsigned sm = 0;       // 90
  bool specific = false; // sm_90a has what sm_90 and its successors have not
  unsigned version = 0;  // of PTX: 87 is 8.7

  TargetInfo(const std::string &target, unsigned version);
};

/// What an instruction needs that |target| has not, as "needs .target sm_90 or later, the module
/// has sm_80"; "" if nothing. |name| may be a special register or a directive, too.
std::string unmetRequirement(std::string_view name, const std::vector<std::string_view> &modifiers,
                             size_t operands, const TargetInfo &target);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_REQUIREMENTS_H
