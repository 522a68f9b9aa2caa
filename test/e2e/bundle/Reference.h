//===- Reference.h - Compares with a float64 reference --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_E2E_BUNDLE_REFERENCE_H
#define XC_TEST_E2E_BUNDLE_REFERENCE_H

#include "test/e2e/bundle/CaseFile.h"

namespace xc::e2e {

/// Empty, or what is wrong with |got|. The rules are those of compare() in test/e2e/harness.py:
/// integers are equal; of floats, what rounds to infinity in the type is infinity, NaN equals NaN,
/// the sign of zero is not compared, and |got - want| <= absolute + relative * |want|.
std::string compareWithReference(const tools::HostArray &got, const Want &want,
                                 const tools::HostArray &reference);

} // namespace xc::e2e

#endif // XC_TEST_E2E_BUNDLE_REFERENCE_H
