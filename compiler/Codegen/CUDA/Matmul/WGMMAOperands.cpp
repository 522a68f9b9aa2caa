//===- WGMMAOperands.cpp - Operands that come by TMA boxes ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operand of the product gets one tensor map for whole panels of its tile, and a second one
// for a last panel that is narrower. Boxes keep the order of dims that memory has. So a tile has
// its rows along k or across it, and checks here say which of both wgmma can read. The image of a
// convolution has a map of pixel columns (im2col). In a cluster, blocks that need the same tile
// fetch a part each and multicast it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::cuda {

using Group = TiledAccess::Group;

Value WGMMAEmitter::makeMap(const TiledAccess &access, tile::SharedType type, bool isOperand,
                            llvm::function_ref<int64_t(Group)> extent) {
  SmallVector<AffineExpr> sizes, strides;
  SmallVector<int64_t> box;
  for (const TiledAccess::Dim &dim : access.dims) {
    sizes.push_back(dim.size);
    strides.push_back(dim.stride);
    box.push_back(dim.isSingle() ? 1 : extent(dim.group));
  }
  MLIRContext *context = builder.getContext();
  unsigned scalars = countScalars(kernel.getFunction());
  auto getMap = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, scalars, exprs, context));
  };
  bool isWhole = access.offset == getAffineConstantExpr(0, context);
  Type elementType = type.getElementType();
  bool rounds = isOperand && elementType.isF32();
  return tile::TensorMapOp::create(
      builder, loc, tile::TensorMapType::get(context, box, elementType, type.getLineBytes()),
      points.getMemory(access.binding), getMap(sizes), getMap(strides),
      isWhole ? AffineMapAttr() : getMap(access.offset),
      rounds ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult WGMMAEmitter::addOperand(const Contraction::Side &side, int64_t own) {
  if (inRegisters && !side.isKContiguous)
    return addTransposed(side, own);
  std::string reason;
  std::optional<TiledAccess> access = matchTiledOperand(contraction, side, knownSizes, reason);
  if (!access && tile.countLoadsPerWord(side) > 0)
    return addLoaded(side, own);
  if (!access)
    return kernel.getFunction().emitOpError("expected operands that can be copied by boxes for ")
           << config << ": " << reason;
  bool kInnermost = access->dims.back().group == Group::K;
  Type elementType = getElementTypeOrSelf(side.operand->get());
  int64_t k = config.getTileK();
  // What boxes have for lines: what can be swizzled, or panels of the longest such lines. wgmma
  // reads the last one of operand B as far as the tile goes.
  int64_t bytes = own * getElementBytes(elementType);
  bool canEndEarly = !operands.empty() && getElementBytes(elementType) == 2;
  if (!kInnermost && !hasCopiedLines(bytes, canEndEarly))
    return kernel.getFunction().emitOpError("expected rows of 32, 64 or a multiple of 128 bytes "
                                            "(16 from 64 on, of operand B) of "
                                            "an operand that is not contiguous along k for ")
           << config << ", got " << bytes;
  auto [type, rows] = getLines(side, own);
  if (!kInnermost) {
    type = tile::SharedType::get(builder.getContext(), k, own, elementType);
    rows = k / countSharers(side);
  }
  if (!kInnermost && type.getElementBytes() != 2) {
    if (!operands.empty())
      return kernel.getFunction().emitOpError("expected an operand that is contiguous along k for ")
             << config << " of elements of " << type.getElementBytes() << " bytes";
    inRegisters = true;
  }
  addMaps({side, *access, type, rows}, [&, type = type, rows = rows](int64_t columns) {
    return makeMap(*access, type, /*isOperand=*/true, [&](Group group) {
      bool isInnermost = (group == Group::K) == kInnermost;
      return isInnermost ? columns : rows;
    });
  });
  return success();
}

int64_t WGMMAEmitter::countSharers(const Contraction::Side &side) const {
  return &side == &contraction.a ? config.getClusterN() : config.getClusterM();
}

std::pair<tile::SharedType, int64_t> WGMMAEmitter::getLines(const Contraction::Side &side,
                                                            int64_t own) {
  int64_t sharers = countSharers(side);
  std::optional<int64_t> size =
      getLargestSize(kernel.getFunction(), &side == &contraction.a ? tile.sizeM : tile.sizeN);
  // wgmma reads eight rows of operand A again where there are no more.
  if (sharers == 1 && operands.empty() && size && *size <= tile::kRepeatedRows)
    own = tile::kRepeatedRows;
  auto type = tile::SharedType::get(builder.getContext(), own, config.getTileK(),
                                    getElementTypeOrSelf(side.operand->get()));
  int64_t rows = own / sharers;
  // Rows beyond a small operand are not fetched with each box: filling them with zeros would take
  // longer than the rows that are there.
  if (sharers == 1 && size)
    rows = std::min(rows, std::max<int64_t>(*size, 1));
  return {type, rows};
}

void WGMMAEmitter::addMaps(Operand operand, llvm::function_ref<Value(int64_t)> makeBoxes) {
  tile::SharedType type = operand.type;
  if (type.getColumns() >= type.getPanelColumns())
    operand.map = makeBoxes(type.getPanelColumns());
  if (type.getTailColumns() > 0)
    operand.tailMap = makeBoxes(type.getTailColumns());
  if (countSharers(operand.side) > 1)
    share(operand, &operand.side == &contraction.a);
  operands.push_back(operand);
}

/// The image of a convolution. Rows of the tile are output positions, and each step brings the
/// channels that one tap reads of the image for them; or steps are of positions, and rows of
/// taps and channels.
LogicalResult WGMMAEmitter::addImage(const Contraction::Side &side, int64_t own) {
  tile::SharedType type;
  int64_t rows = config.getTileK();
  if (image->isAcross)
    type = tile::SharedType::get(builder.getContext(), rows, own,
                                 getElementTypeOrSelf(side.operand->get()));
  else
    std::tie(type, rows) = getLines(side, own);
  Operand operand{side, TiledAccess(), type, rows};
  operand.image = image;
  bool isWhole = !image->hasWholePanels || type.getTailColumns() == 0;
  if (image->isAcross && (cluster > 1 || !isWhole))
    return kernel.getFunction().emitOpError("expected ")
           << (isWhole ? "blocks that fetch for themselves" : "whole panels of taps and channels")
           << " for " << config << ", whose columns of pixels do not run along k";
  addMaps(operand, [&, type = type, rows = rows](int64_t channels) {
    return makePixelMap(type, channels, rows);
  });
  return success();
}

LogicalResult WGMMAEmitter::add(const Contraction::Side &side, int64_t own) {
  bool isImage = image && image->isB == (&side == &contraction.b);
  return isImage ? addImage(side, own) : addOperand(side, own);
}

/// A map of columns of `pixels` pixels, `channels` of each.
Value WGMMAEmitter::makePixelMap(tile::SharedType type, int64_t channels, int64_t pixels) {
  MLIRContext *context = builder.getContext();
  PixelFormulas formulas = *describePixels(*image, contraction, knownSizes);
  SmallVector<int64_t> lower, steps;
  for (const WindowedImage::Spatial &dim : image->spatial) {
    lower.push_back(dim.lower);
    steps.push_back(dim.stride);
  }
  unsigned scalars = countScalars(kernel.getFunction());
  auto getMap = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, scalars, exprs, context));
  };
  Type elementType = type.getElementType();
  auto mapType =
      tile::TensorMapType::get(context, ArrayRef<int64_t>{pixels, channels}, elementType,
                               type.getLineBytes(), static_cast<int64_t>(formulas.sizes.size()));
  AffineMapAttr offset;
  if (image->firstChannel)
    offset = getMap(getAffineConstantExpr(image->firstChannel, context));
  return tile::TensorMapOp::create(builder, loc, mapType, points.getMemory(image->binding),
                                   getMap(formulas.sizes), getMap(formulas.strides), offset,
                                   elementType.isF32() ? builder.getUnitAttr() : UnitAttr(),
                                   builder.getDenseI64ArrayAttr(lower), getMap(formulas.corners),
                                   builder.getDenseI64ArrayAttr(steps));
}

/// The blocks of a row of the cluster share rows of A, those of a column share columns of B.
void WGMMAEmitter::share(Operand &operand, bool isA) {
  int64_t columns = config.getClusterN(), first = 0;
  operand.sharers = isA ? columns : config.getClusterM();
  operand.part = isA ? clusterColumn : clusterRow;
  for (int64_t sharer = 0; sharer < operand.sharers; ++sharer)
    first |= 1 << (isA ? sharer : sharer * columns);
  Value shift = isA ? index.mul(clusterRow, columns) : clusterColumn;
  operand.blocks = arith::ShLIOp::create(builder, loc, index.constant(first), shift);
}

} // namespace xc::cuda
