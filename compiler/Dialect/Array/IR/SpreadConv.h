//===- SpreadConv.h - Convolutions of spread inputs, phase by phase -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_SPREADCONV_H
#define XC_DIALECT_ARRAY_IR_SPREADCONV_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Windows.h"

#include <optional>

namespace xc::array {

/// One spatial dim of a convolution whose input is spread by D (`input_dilation`): output
/// o + `shift` = i * D + r has phase r, and is a sum of `taps` neighbours of the input from i on,
/// which is padded by `low` and `high`:
///
///   y[i * D + r - shift] = sum_a pad(x)[i + a] * w[a * D - r + D - 1 - before]
///
/// Where w is v reversed, as in gradients, v is read: pad(x)[i + taps - 1 - a] * v[a * D + r -
/// after]. w and v count as zero outside of themselves. So all phases are computed of the same
/// elements, none of which is a zero between others. A dim that is not spread has one phase, and
/// stays as it is.
///
/// A filter that is dilated by E, which has no common factor with D, has phases by the taps that an
/// output has instead, as many as divide by D with the same rest; `low` of the op is L:
///
///   y[(i - low) * D - (D - 1 - r) * E + L] = sum_a pad(x)[i + a * E] * w[a * D - r + D - 1]
///
/// Outputs are then no longer in the order of i and r.
///
/// Of an input of symbolic size there are as many positions as `low`, `high` and `taps` leave,
/// which all outputs are among where it has elements.
struct SpreadDim {
  int64_t spread, shift;
  int64_t taps, positions; // a and i; kDynamic where those are symbolic
  int64_t low, high;       // of the input
  int64_t before, after;   // the zeros around the filter
  bool isPart = false;     // some phases give outputs of which none is asked for
  int64_t dilation = 1;    // of the taps
  int64_t spare = 0;       // positions that only some phases of a dilated filter have outputs at
};

/// The spatial dims of `op`. Nothing if it is no such convolution: nothing is spread, strides come
/// with it or a dilation that has a factor in common, there are groups of the batch or of features
/// of unknown number, a filter's size is not known, or elements are left out.
std::optional<llvm::SmallVector<SpreadDim>> matchSpreadConv(ConvOp op);

/// The phase of output number `output` of a dilated filter.
int64_t findDilatedPhase(const WindowDim &window, int64_t output);

/// What the filter is the reverse of along all spatial dims; null if it is not reversed so. Who
/// reads that and goes through the image's window backwards needs no reversed copy.
mlir::Value findReversed(ConvOp op);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_SPREADCONV_H
