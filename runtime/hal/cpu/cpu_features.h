//===- cpu_features.h - What instructions this machine has ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_HAL_CPU_CPU_FEATURES_H
#define XC_RUNTIME_HAL_CPU_CPU_FEATURES_H

#include "runtime/base/vector.h"

namespace xc::cpu {

/// "x86-64" or "aarch64": the instruction set that this library is built for.
const char *hostFamily();

/// The family that \p arch (an LLVM processor name that modules carry, such as
/// "x86-64-v3" or "aarch64") belongs to, or null if it does not say.
const char *familyOf(xcr_string_view_t arch);

/// The highest generic level that this machine reaches: "x86-64-v3".
const char *hostArch();

/// 1 for x86-64, up to 4 for x86-64-v4; 0 if \p arch is not such a level.
uint32_t levelOf(xcr_string_view_t arch);

enum class FeatureState { Present, Absent, Unknown };

/// \p name: LLVM's name of the feature, without a sign.
FeatureState checkFeature(xcr_string_view_t name);

/// The processor's marketing name, or the family where that is not known.
Status hostName(String *name);

} // namespace xc::cpu

#endif // XC_RUNTIME_HAL_CPU_CPU_FEATURES_H
