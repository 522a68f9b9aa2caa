//===- ElementwiseStrips.h - Neighbours that read the same elements -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results of a resize that lie side by side read the same elements of the image, convert them and
// interpolate between them. Where one thread has several, it does so once.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRIPS_H
#define XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRIPS_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"

namespace xc::cuda {

/// What a thread computes: neighbours along three dims.
struct StripShape {
  int64_t vector, strip, rows;
};

/// An elementwise kernel whose outputs read at places that follow from their own (RegularPlaces.h),
/// and the dims along which neighbours may read the same elements.
struct ElementwiseStrips {
  llvm::SmallVector<mlir::linalg::GenericOp> ops; // that make the outputs, with loops as their dims
  unsigned channel;                               // the innermost dim
  unsigned along;                                 // the innermost other one with such places
  std::optional<unsigned> rows;                   // the next one outside of that
  bool hasEqualLanes;                             // no place follows from that along `channel`

  /// The sizes of the outputs.
  llvm::ArrayRef<int64_t> getShape() const;
  /// The elements of a thread along each dim.
  llvm::SmallVector<int64_t> getExtents(const StripShape &shape) const;
};

/// The kernel as such; nothing, with a reason, if it is something else.
std::optional<ElementwiseStrips> matchElementwiseStrips(const KernelInfo &kernel,
                                                        std::string &reason);

/// What a thread does, if equal values are computed once.
struct StripWork {
  double lanes = 0;                     ///< instructions of floats, one a lane
  int64_t vectorLoads = 0, loads = 0;   ///< of vectors, and of single elements
  int64_t sharedPlaces = 0, places = 0; ///< indices that a constant tells apart, and others
  double loadedBytes = 0;
};

/// Counts that by going through the bodies for each element of a thread that is not at an edge.
StripWork countStripWork(const ElementwiseStrips &strips, const StripShape &shape);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRIPS_H
