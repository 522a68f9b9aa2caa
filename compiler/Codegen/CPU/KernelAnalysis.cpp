//===- KernelAnalysis.cpp - What a kernel reads and writes ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/KernelAnalysis.h"

#include "compiler/Codegen/CPU/IndexMath.h"
#include "compiler/Codegen/Common/ViewIndices.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::cpu {

LogicalResult verifyKernelFunction(func::FuncOp kernel) {
  if (kernel.getNumArguments() == 0 && kernel.getNumResults() == 0 &&
      kernel.getBody().hasOneBlock())
    return success();
  return kernel.emitOpError("expected a kernel of one block without arguments and results, got ")
         << kernel.getFunctionType() << " with " << kernel.getBody().getBlocks().size()
         << " blocks";
}

SmallVector<Root> collectRoots(func::FuncOp kernel) {
  SmallVector<Root> roots;
  for (auto op : kernel.getOps<bufferization::MaterializeInDestinationOp>()) {
    auto update = op.getSource().getDefiningOp<kernel::UpdateOp>();
    roots.push_back({op, update ? update.getUpdate() : op.getSource(), op.getDest(), update});
  }
  return roots;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Sizes of the result of a collapse_shape with sizes |source|.
static SmallVector<OpFoldResult> collapseSizes(OpBuilder &builder, Location loc,
                                               ArrayRef<OpFoldResult> source,
                                               ArrayRef<ReassociationIndices> groups) {
  SmallVector<OpFoldResult> sizes;
  for (const ReassociationIndices &group : groups) {
    OpFoldResult product = builder.getIndexAttr(1);
    for (int64_t dim : group)
      product = multiply(builder, loc, product, source[dim]);
    sizes.push_back(product);
  }
  return sizes;
}

SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value shaped) {
  auto type = cast<ShapedType>(shaped.getType());
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  Operation *op = shaped.getDefiningOp();
  assert(op && "kernels have no arguments");
  return TypeSwitch<Operation *, SmallVector<OpFoldResult>>(op)
      .Case([&](plan::BindingOp binding) {
        return getMixedValues(type.getShape(), binding.getSizes(), builder);
      })
      .Case([&](bufferization::ToTensorOp toTensor) {
        return getSizes(builder, toTensor.getBuffer());
      })
      .Case([&](memref::CollapseShapeOp collapse) {
        return collapseSizes(builder, op->getLoc(), getSizes(builder, collapse.getSrc()),
                             collapse.getReassociationIndices());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return collapseSizes(builder, op->getLoc(), getSizes(builder, collapse.getSrc()),
                             collapse.getReassociationIndices());
      })
      .Case([&](memref::ExpandShapeOp expand) { return expand.getMixedOutputShape(); })
      .Case([&](tensor::ExpandShapeOp expand) { return expand.getMixedOutputShape(); })
      .Case([&](tensor::EmptyOp empty) { return empty.getMixedSizes(); })
      .Case([&](tensor::CastOp cast) { return getSizes(builder, cast.getSource()); })
      .Case([&](memref::CastOp cast) { return getSizes(builder, cast.getSource()); })
      .Case([&](tensor::InsertSliceOp insert) { return getSizes(builder, insert.getDest()); })
      .Case([&](tensor::ExtractSliceOp extract) {
        SmallVector<OpFoldResult> sizes;
        llvm::SmallBitVector dropped = extract.getDroppedDims();
        for (auto [dim, size] : llvm::enumerate(extract.getMixedSizes()))
          if (!dropped[dim])
            sizes.push_back(size);
        return sizes;
      })
      .Case([&](tensor::PadOp pad) {
        SmallVector<OpFoldResult> sizes = getSizes(builder, pad.getSource());
        AffineExpr sum = builder.getAffineSymbolExpr(0) + builder.getAffineSymbolExpr(1) +
                         builder.getAffineSymbolExpr(2);
        for (auto [size, low, high] : llvm::zip(sizes, pad.getMixedLowPad(), pad.getMixedHighPad()))
          size = affine::makeComposedFoldedAffineApply(
              builder, op->getLoc(), AffineMap::get(0, 3, sum), {size, low, high});
        return sizes;
      })
      .Case([&](DestinationStyleOpInterface destination) {
        return getSizes(builder, destination.getTiedOpOperand(cast<OpResult>(shaped))->get());
      })
      .Default([&](Operation *) {
        SmallVector<OpFoldResult> sizes;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          sizes.push_back(builder.createOrFold<tensor::DimOp>(op->getLoc(), shaped, dim));
        return sizes;
      });
}

SmallVector<OpFoldResult> getLoopSizes(OpBuilder &builder, linalg::GenericOp op) {
  SmallVector<OpFoldResult> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    SmallVector<OpFoldResult> operandSizes = getSizes(builder, operand.get());
    for (auto [expr, size] :
         llvm::zip(op.getMatchingIndexingMap(&operand).getResults(), operandSizes))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && (!sizes[dim.getPosition()] || isa<Attribute>(size)))
        sizes[dim.getPosition()] = size;
  }
  return sizes;
}

int64_t getElementBytes(func::FuncOp kernel) {
  int64_t bytes = 1;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (!shaped || !shaped.getElementType().isIntOrIndexOrFloat())
        continue;
      Type element = shaped.getElementType();
      bool isNarrowFloat = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
      int64_t bits = element.isIndex() ? 64 : isNarrowFloat ? 32 : element.getIntOrFloatBitWidth();
      bytes = std::max<int64_t>(bytes, llvm::divideCeil(bits, 8));
    }
  });
  return bytes;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool isElementwise(linalg::GenericOp op) {
  if (op.getNumParallelLoops() != op.getNumLoops())
    return false;
  // Every loop's index must follow from the indices of a result.
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    llvm::SmallBitVector seen(op.getNumLoops());
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        seen.set(dim.getPosition());
      else if (!isa<AffineConstantExpr>(expr))
        return false;
    }
    return seen.all();
  });
}

namespace {

class Summarizer {
public:
  Summarizer(const llvm::DenseSet<Value> &stops, AccessSummary &summary)
      : stops(stops), summary(summary) {}

  void visit(Value tensor, ArrayRef<AffineExpr> indices);
  void visitBody(linalg::GenericOp op, ArrayRef<AffineExpr> loops);

private:
  void visitGeneric(linalg::GenericOp op, unsigned result, ArrayRef<AffineExpr> indices);
  void visitView(Operation *view, ArrayRef<AffineExpr> indices);
  void visitPad(tensor::PadOp op, ArrayRef<AffineExpr> indices);
  void guard(ArrayRef<AffineExpr> indices);
  void record(SmallVector<Access> &list, Value tensor, ArrayRef<AffineExpr> indices);

  const llvm::DenseSet<Value> &stops;
  AccessSummary &summary;
  DenseMap<Value, SmallVector<SmallVector<AffineExpr>>> visited;
};

} // namespace

static void markDims(AffineExpr expr, llvm::SmallBitVector &dims) {
  if (!expr) {
    dims.set(); // unknown: any dim may take part
    return;
  }
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (expr.isFunctionOfDim(dim))
      dims.set(dim);
}

void Summarizer::record(SmallVector<Access> &list, Value tensor, ArrayRef<AffineExpr> indices) {
  for (AffineExpr index : indices)
    if (index && !isa<AffineDimExpr, AffineConstantExpr>(index))
      markDims(index, summary.merged);
  list.push_back({tensor, SmallVector<AffineExpr>(indices)});
}

void Summarizer::guard(ArrayRef<AffineExpr> indices) {
  for (AffineExpr index : indices)
    markDims(index, summary.guarded);
}

void Summarizer::visitBody(linalg::GenericOp op, ArrayRef<AffineExpr> loops) {
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    bool isReductionOutput = op.isDpsInit(&operand) && op.getNumReductionLoops() != 0;
    if (argument.use_empty() || isReductionOutput || !isa<ShapedType>(operand.get().getType()))
      continue;
    SmallVector<AffineExpr> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      bool known = true;
      for (unsigned dim = 0; dim < loops.size(); ++dim)
        known &= loops[dim] || !expr.isFunctionOfDim(dim);
      indices.push_back(known ? expr.replaceDims(loops) : AffineExpr());
      // Computed even where no memory is behind it (a tensor without elements, padded).
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        markDims(indices.back(), summary.merged);
    }
    visit(operand.get(), indices);
  }
  op.getBody()->walk([&](Operation *inner) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      markDims(loops[index.getDim()], summary.readAsIndex);
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      SmallVector<AffineExpr> indices;
      for (Value value : extract.getIndices()) {
        auto index = value.getDefiningOp<linalg::IndexOp>();
        indices.push_back(index ? loops[index.getDim()] : AffineExpr());
      }
      visit(extract.getTensor(), indices);
    } else if (isa<math::MathDialect>(inner->getDialect())) {
      summary.mathOps +=
          !isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
               math::FmaOp, math::SqrtOp, math::CopySignOp>(inner);
    } else if (!OpTrait::hasElementwiseMappableTraits(inner) &&
               !isa<arith::ConstantOp, linalg::YieldOp, affine::AffineApplyOp>(inner)) {
      summary.unsupported = inner;
    }
  });
}

void Summarizer::visitGeneric(linalg::GenericOp op, unsigned result, ArrayRef<AffineExpr> indices) {
  if (!isElementwise(op)) {
    summary.unsupported = op;
    return;
  }
  SmallVector<AffineExpr> loops(op.getNumLoops());
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(result));
  for (auto [expr, index] : llvm::zip(map.getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
  visitBody(op, loops);
}

void Summarizer::visitView(Operation *view, ArrayRef<AffineExpr> indices) {
  struct Expressions final : codegen::IndexExpressions {
    Expressions(MLIRContext *context, Summarizer &summarizer)
        : codegen::IndexExpressions{context}, summarizer(summarizer) {}
    // Its division by sizes has no vector form that would be fast.
    SmallVector<AffineExpr> split(AffineExpr position, ArrayRef<OpFoldResult> sizes) {
      summarizer.guard(position);
      return SmallVector<AffineExpr>(sizes.size());
    }
    Summarizer &summarizer;
  } expressions(view->getContext(), *this);
  visit(view->getOperand(0), codegen::getSourceIndices(expressions, view, indices));
}

void Summarizer::visitPad(tensor::PadOp op, ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> source;
  for (auto [index, low, high] :
       llvm::zip_equal(indices, op.getMixedLowPad(), op.getMixedHighPad())) {
    if (!isZeroInteger(low) || !isZeroInteger(high))
      guard(index);
    std::optional<int64_t> start = getConstantIntValue(low);
    source.push_back(index && start ? index - *start : AffineExpr());
  }
  visit(op.getSource(), source);
}

void Summarizer::visit(Value tensor, ArrayRef<AffineExpr> indices) {
  SmallVector<SmallVector<AffineExpr>> &seen = visited[tensor];
  if (llvm::is_contained(seen, indices))
    return;
  seen.emplace_back(indices);
  if (stops.contains(tensor))
    return record(summary.stops, tensor, indices);
  Operation *op = tensor.getDefiningOp();
  TypeSwitch<Operation *>(op)
      .Case([&](bufferization::ToTensorOp) { record(summary.accesses, tensor, indices); })
      .Case([&](linalg::GenericOp generic) {
        summary.computed.push_back({tensor, SmallVector<AffineExpr>(indices)});
        visitGeneric(generic, cast<OpResult>(tensor).getResultNumber(), indices);
      })
      .Case<linalg::FillOp, tensor::EmptyOp>([](auto) {})
      .Case([&](arith::ConstantOp constant) {
        if (!isa<SplatElementsAttr>(constant.getValue()))
          summary.unsupported = op;
      })
      .Case([&](tensor::CastOp cast) { visit(cast.getSource(), indices); })
      .Case<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](auto view) { visitView(view, indices); })
      .Case([&](tensor::PadOp pad) {
        if (!pad.getConstantPaddingValue())
          summary.unsupported = op;
        visitPad(pad, indices);
      })
      .Case([&](tensor::InsertSliceOp insert) {
        guard(indices);
        SmallVector<AffineExpr> unknown(insert.getSourceType().getRank());
        visit(insert.getSource(), unknown);
        visit(insert.getDest(), indices);
      })
      .Default([&](Operation *other) { summary.unsupported = other; });
}

void summarize(Value tensor, ArrayRef<AffineExpr> indices, const llvm::DenseSet<Value> &stops,
               AccessSummary &summary) {
  Summarizer(stops, summary).visit(tensor, indices);
}

void summarizeBody(linalg::GenericOp op, ArrayRef<AffineExpr> loops,
                   const llvm::DenseSet<Value> &stops, AccessSummary &summary) {
  Summarizer(stops, summary).visitBody(op, loops);
}

/// Whether |access| steps through dims |dim| and |dim| + 1, of which the latter has |size|, as if
/// they were one, or ignores both.
static bool isMergeable(OpBuilder &builder, const Access &access, unsigned dim, OpFoldResult size) {
  auto isDim = [](AffineExpr expr, unsigned position) {
    auto dimExpr = dyn_cast_or_null<AffineDimExpr>(expr);
    return dimExpr && dimExpr.getPosition() == position;
  };
  for (unsigned i = 0; i < access.indices.size(); ++i) {
    bool first = isDim(access.indices[i], dim), second = isDim(access.indices[i], dim + 1);
    if (first && (i + 1 == access.indices.size() || !isDim(access.indices[i + 1], dim + 1)))
      return false;
    if (second && (i == 0 || !isDim(access.indices[i - 1], dim)))
      return false;
    // A slice leaves something out at the end of each row.
    if (second && !isEqualConstantIntOrValue(getSizes(builder, access.tensor)[i], size))
      return false;
  }
  return true;
}

llvm::SmallBitVector findMergeableDims(OpBuilder &builder, ArrayRef<OpFoldResult> sizes,
                                       unsigned boundary, ArrayRef<AccessSummary> summaries) {
  llvm::SmallBitVector mergeable(sizes.size());
  for (unsigned dim = 0; dim + 1 < sizes.size(); ++dim) {
    bool merge = dim + 1 != boundary;
    for (const AccessSummary &summary : summaries) {
      for (unsigned d : {dim, dim + 1})
        merge &= !summary.readAsIndex[d] && !summary.guarded[d] && !summary.merged[d];
      merge &= llvm::all_of(summary.accesses, [&](const Access &access) {
        return isMergeable(builder, access, dim, sizes[dim + 1]);
      });
    }
    mergeable[dim] = merge;
  }
  return mergeable;
}

} // namespace xc::cpu
