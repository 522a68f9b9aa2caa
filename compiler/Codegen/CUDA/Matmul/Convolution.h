//===- Convolution.h - Convolutions as products of columns of pixels ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_CONVOLUTION_H
#define XC_CODEGEN_CUDA_MATMUL_CONVOLUTION_H

#include "compiler/Codegen/CUDA/Common/SizeQueries.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"

namespace xc::cuda {

/// Elements of 16 bits in a line of a tile: the channels of a whole panel, and of a step of a sum.
inline constexpr int64_t kPanelChannels = 64;

/// Where the elements of a product's operand are in memory.
struct ElementSource {
  plan::BindingOp binding;
  llvm::SmallVector<mlir::AffineExpr> coords; // in the binding, over the product's loops
  bool isPadded = false;                      // what is outside of the binding is zero
};

/// Follows padding by zeros and copies of an operand back to memory. Behind padding only the order
/// of dims may change: elsewhere what is outside of a copy need not be outside of what it copies.
/// Nothing, with a reason, where that does not end at a binding.
std::optional<ElementSource> findElementSource(const Contraction &contraction,
                                               const Contraction::Side &side, std::string &reason);

/// An image in memory under the windows of a convolution, as a tensor map in im2col mode wants it:
/// images, 1 to 3 spatial dims and channels, outermost first. What windows read outside is zero.
/// Of a convolution, and of its gradient to the image, the product's rows are output positions. Of
/// the gradient to the filter (`isAcross`) positions are k, and taps and channels are the operand's
/// own dim. Pixels may overlap: then a position along the last spatial dim is less than a pixel's
/// channels from the next (PackPixels.cpp). Spatial sizes may be symbolic: then numbers that depend
/// on them are kDynamic, and `describePixels` has formulas.
struct WindowedImage {
  struct Spatial {
    /// Loops of the output position and of the filter's tap along this dim; none of one step.
    std::optional<unsigned> position, tap;
    unsigned dim;            // of the binding; without meaning for lines of packed pixels
    int64_t positions;       // how many there are
    int64_t size;            // of the image
    int64_t distance;        // elements of memory between neighbours
    int64_t stride;          // from one position to the next
    int64_t dilation;        // from one tap to the next
    int64_t lower, upper;    // corners of the positions' bounding box, see tile.tensor_map
    bool isBackward = false; // the first tap reads behind all others
  };

  plan::BindingOp binding;
  std::optional<unsigned> images;   // their loop; none if there is one image
  std::optional<unsigned> imageDim; // the binding's; none if it has no dim for images
  std::optional<unsigned> group;    // the loop of groups of `channels`; none if there is one
  llvm::SmallVector<Spatial> spatial;
  int64_t channels;                 // of a group
  int64_t firstChannel;             // of those that the convolution reads
  llvm::SmallVector<unsigned> taps; // loops of more than one step, in the order of `spatial`
  bool isAcross = false;
  bool isB = false; // which operand of the product it is
  /// If `isAcross`: channels are whole panels of tiles, so that columns go on from tap to tap.
  /// Otherwise each tap is a product of the batch.
  bool hasWholePanels = false;

  bool hasPackedPixels() const {
    int64_t distance = spatial.back().distance;
    return !mlir::ShapedType::isDynamic(distance) && distance < channels;
  }
};

/// What of the image's tensor map may be symbolic, as formulas over the kernel's scalars: sizes and
/// distances of images, spatial dims and channels, and the upper corners.
struct PixelFormulas {
  llvm::SmallVector<mlir::AffineExpr> sizes, strides, corners;
};

/// A product of a windowed image and a filter, which sums up channels for each tap, or of an image
/// and the gradient of what it gave, which sums up positions.
struct Convolution {
  /// The contraction without taps among its `k`, and with those in its batch that are.
  Contraction product;
  WindowedImage image;

  const Contraction::Side &getOther() const { return image.isB ? product.a : product.b; }
};

/// The contraction as a convolution, one of whose operands comes by columns of pixels. Nothing,
/// with a reason, where the hardware's im2col mode does not do, or neither operand is an image
/// under windows.
std::optional<Convolution> matchConvolution(const Contraction &contraction, std::string &reason);

/// The formulas of the image of `contraction`; nothing if one of its sizes is none, or pixels are
/// not known to be multiples of 16 bytes apart.
std::optional<PixelFormulas> describePixels(const WindowedImage &image,
                                            const Contraction &contraction, KernelSizes &sizes);

/// Adds guards that the tensor map can hold corners that are symbolic, where `kernel`, which relies
/// on guards, is a convolution.
void addCornerGuards(const KernelInfo &kernel);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_CONVOLUTION_H
