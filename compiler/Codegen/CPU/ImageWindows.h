//===- ImageWindows.h - Windows that slide along the lanes ------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution of each channel by itself, or a pool, whose image has its rows innermost: the
// lanes of a vector are neighbours in a row of results, and their windows overlap.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_IMAGEWINDOWS_H
#define XC_CODEGEN_CPU_IMAGEWINDOWS_H

#include "compiler/Codegen/CPU/ReductionGroup.h"

namespace xc::cpu {

/// What windows read along one dim of an image: of the window at a kept point, the elements from
/// `least` + the sum of `factors` * the kept indices on, up to `reach` further.
struct WindowReach {
  llvm::SmallVector<int64_t> factors; // for each kept dim
  int64_t least = 0, reach = 0;
};

/// An operand of a reduction whose windows slide along the last kept dim.
struct SlidingImage {
  mlir::OpOperand *operand;
  llvm::SmallVector<WindowReach> dims;

  /// How far the windows of two neighbouring lanes are apart.
  int64_t getStep() const { return dims.back().factors.back(); }
  /// How many elements of `dim` the windows of `rows` x `columns` neighbours read, if all of their
  /// taps do.
  int64_t getExtent(unsigned dim, int64_t rows, int64_t columns) const;
  /// The dims along which those windows read more than one element, and the last one.
  llvm::SmallVector<unsigned> getWideDims(int64_t rows, int64_t columns) const;
  /// The shape of memory for what those windows read: the wide dims. The last one is split where
  /// lanes step over elements: those that lie a whole number of steps apart are next to each other.
  llvm::SmallVector<int64_t> getBandShape(int64_t rows, int64_t columns, int64_t lanes) const;
};

/// Whether neighbours along the last dim of `tensor` are computed from what lies side by side in
/// memory, or from what they share.
bool canReadVectors(mlir::Value tensor);

/// The images of a group that reduces windows which slide along the last kept dim, so that lanes
/// can lie along it; fails where something else that the group accesses does not lie along it.
mlir::FailureOr<llvm::SmallVector<SlidingImage>> matchSlidingImages(const ReductionGroup &group);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_IMAGEWINDOWS_H
