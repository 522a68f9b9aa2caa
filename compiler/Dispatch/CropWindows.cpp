//===- CropWindows.cpp - Windows that have one place ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pool over 4 rows by windows of 3, 3 apart: rows d0 * 3 + d1, d0 of 1 iteration, d1 of 3
//   extract_slice of 3 rows, and the pool of those
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/CropWindows.h"
#include "compiler/Dialect/Plan/Transforms/LinearForm.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

/// `index` where each loop of one iteration is 0.
static AffineExpr dropUnitLoops(AffineExpr index, ArrayRef<int64_t> iterations) {
  llvm::DenseMap<AffineExpr, AffineExpr> zeros;
  for (auto [loop, count] : llvm::enumerate(iterations))
    if (count == 1)
      zeros[getAffineDimExpr(loop, index.getContext())] =
          getAffineConstantExpr(0, index.getContext());
  return simplifyAffineExpr(index.replace(zeros), iterations.size(), /*numSymbols=*/0);
}

namespace {

/// A number, or the size of a dim: of which a value is made where it is needed.
struct SizeSource {
  int64_t known;
  Value tensor;
  int64_t dim;

  OpFoldResult build(OpBuilder &builder, Location loc) const {
    return tensor ? tensor::getMixedSize(builder, loc, tensor, dim)
                  : OpFoldResult(builder.getIndexAttr(known));
  }
};

} // namespace

/// As many as `loop` has iterations; nothing where no operand's dim says so.
static std::optional<SizeSource> getIterations(linalg::GenericOp op, AffineExpr loop,
                                               ArrayRef<int64_t> iterations) {
  int64_t known = iterations[cast<AffineDimExpr>(loop).getPosition()];
  if (!ShapedType::isDynamic(known))
    return SizeSource{known, Value(), 0};
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      if (auto dim = op.getMatchingIndexingMap(&operand).getResultPosition(loop))
        return SizeSource{ShapedType::kDynamic, operand.get(), *dim};
  return std::nullopt;
}

static bool areEqual(FormulaAttr a, FormulaAttr b) {
  return a == b || collectTerms(a - b).asConstant() == 0;
}

/// True if that is the whole of dim `dim` of `tensor`.
static bool isWhole(const SizeSource &read, Value tensor, int64_t dim, SymbolicDims &dims) {
  if (!read.tensor)
    return read.known == cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  FailureOr<FormulaAttr> size = dims.getDim(tensor, dim),
                         count = dims.getDim(read.tensor, read.dim);
  return succeeded(size) && succeeded(count) && areEqual(*size, *count);
}

/// What `operand` is read of, as the size of each of its dims; nothing if that is all of it.
static SmallVector<SizeSource> findPart(linalg::GenericOp op, OpOperand &operand,
                                        ArrayRef<int64_t> iterations, SymbolicDims &dims) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || llvm::is_contained(type.getShape(), 0))
    return {};
  SmallVector<SizeSource> sources;
  bool isPart = false;
  for (auto [dim, index] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    AffineExpr loop = isa<AffineDimExpr>(index) ? AffineExpr() : dropUnitLoops(index, iterations);
    std::optional<SizeSource> read;
    if (loop && isa<AffineDimExpr>(loop))
      read = getIterations(op, loop, iterations);
    if (read && isWhole(*read, operand.get(), dim, dims))
      read.reset();
    isPart |= read.has_value();
    sources.push_back(
        read.value_or(SizeSource{ShapedType::kDynamic, operand.get(), static_cast<int64_t>(dim)}));
  }
  return isPart ? sources : SmallVector<SizeSource>();
}

static void crop(linalg::GenericOp op, OpOperand &operand, ArrayRef<SizeSource> sources) {
  OpBuilder builder(op);
  SmallVector<OpFoldResult> sizes = llvm::map_to_vector(
      sources, [&](const SizeSource &source) { return source.build(builder, op.getLoc()); });
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0)),
      ones(sizes.size(), builder.getIndexAttr(1));
  operand.set(
      tensor::ExtractSliceOp::create(builder, op.getLoc(), operand.get(), zeros, sizes, ones));
}

static bool isWhole(tensor::ExtractSliceOp slice, SymbolicDims &dims) {
  if (slice.getType() != slice.getSourceType() || !slice.hasUnitStride() || !slice.hasZeroOffset())
    return false;
  FailureOr<SmallVector<FormulaAttr>> whole = dims.getShape(slice.getSource()),
                                      part = dims.getShape(slice.getResult());
  return succeeded(whole) && succeeded(part) && llvm::equal(*whole, *part, areEqual);
}

void dropWholeSlices(func::FuncOp func) {
  SymbolicDims dims(func);
  SmallVector<tensor::ExtractSliceOp> slices;
  func.walk([&](tensor::ExtractSliceOp slice) {
    if (isWhole(slice, dims))
      slices.push_back(slice);
  });
  for (tensor::ExtractSliceOp slice : slices) {
    slice.replaceAllUsesWith(slice.getSource());
    slice.erase();
  }
}

void cropWindowsOfOnePlace(func::FuncOp func) {
  // Sizes are asked for while ops are as they were.
  SymbolicDims dims(func);
  SmallVector<std::pair<OpOperand *, SmallVector<SizeSource>>> parts;
  func.walk([&](linalg::GenericOp op) {
    SmallVector<int64_t> iterations = op.getStaticLoopRanges();
    if (!op.hasPureTensorSemantics() || !llvm::is_contained(iterations, 1) ||
        llvm::is_contained(iterations, 0))
      return;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (SmallVector<SizeSource> part = findPart(op, *operand, iterations, dims); !part.empty())
        parts.push_back({operand, std::move(part)});
  });
  for (auto &[operand, part] : parts)
    crop(cast<linalg::GenericOp>(operand->getOwner()), *operand, part);
}

} // namespace xc::plan
