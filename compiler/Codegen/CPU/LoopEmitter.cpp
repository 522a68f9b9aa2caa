//===- LoopEmitter.cpp - Workgroups and loops of a kernel -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/LoopEmitter.h"

#include "compiler/Codegen/CPU/IndexMath.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/Common/ScalarFormula.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cpu {

//===----------------------------------------------------------------------===//
// Merged dims
//===----------------------------------------------------------------------===//

void LoopDim::setIndex(MutableArrayRef<LaneIndex> point, const LaneIndex &index) const {
  for (unsigned dim : ArrayRef(dims).drop_back()) {
    point[dim] = LaneIndex();
    point[dim].absorbed = true;
  }
  point[dims.back()] = index;
}

SmallVector<LoopDim> mergeDims(OpBuilder &builder, Location loc, ArrayRef<unsigned> dims,
                               ArrayRef<OpFoldResult> sizes,
                               const llvm::SmallBitVector &mergeable) {
  SmallVector<LoopDim> loops;
  bool merge = false;
  for (unsigned dim : dims) {
    if (merge && loops.back().dims.back() + 1 == dim) {
      loops.back().dims.push_back(dim);
      loops.back().size = multiply(builder, loc, loops.back().size, sizes[dim]);
    } else {
      loops.push_back({{dim}, sizes[dim]});
    }
    merge = mergeable[dim];
  }
  return loops;
}

OpFoldResult getProduct(OpBuilder &builder, Location loc, ArrayRef<LoopDim> loops) {
  OpFoldResult product = builder.getIndexAttr(1);
  for (const LoopDim &loop : loops)
    product = multiply(builder, loc, product, loop.size);
  return product;
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// The value of |formula|, whose symbols are the kernel's scalars.
static Value evaluateFormula(OpBuilder &builder, Location loc, AffineExpr formula) {
  unsigned numSymbols = 0;
  formula.walk([&](AffineExpr expr) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
  });
  SmallVector<OpFoldResult> scalars;
  for (unsigned i = 0; i < numSymbols; ++i)
    scalars.push_back(
        plan::ScalarOp::create(builder, loc, builder.getIndexType(), i, IntegerAttr()).getResult());
  OpFoldResult value = affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(0, numSymbols, formula), scalars);
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

/// The part of [0, size) that the workgroup at |axis| of |total| has: equal shares, rounded up to
/// |alignment|.
static Range getShare(OpBuilder &builder, Location loc, OpFoldResult size, AffineExpr total,
                      plan::Axis axis, int64_t alignment) {
  std::optional<int64_t> staticSize = getConstantIntValue(size);
  int64_t divisor = staticSize && *staticSize % alignment == 0 ? alignment : 1;
  Value end = getValueOrCreateConstantIndexOp(builder, loc, size);
  if (total == 1)
    return {constant(builder, loc, 0), end, staticSize && *staticSize != 0 ? *staticSize : divisor};
  // A workgroup that runs has a grid that is not empty; max only keeps the division defined for the
  // compiler.
  Value count = arith::MaxUIOp::create(builder, loc, evaluateFormula(builder, loc, total),
                                       constant(builder, loc, 1));
  Value units = arith::CeilDivUIOp::create(builder, loc, end, constant(builder, loc, alignment));
  Value share = builder.createOrFold<arith::MulIOp>(
      loc, builder.createOrFold<arith::CeilDivUIOp>(loc, units, count),
      constant(builder, loc, alignment));
  Value id = plan::WorkgroupIdOp::create(builder, loc, builder.getIndexType(), axis);
  Value begin = arith::MulIOp::create(builder, loc, id, share);
  Value next = arith::AddIOp::create(builder, loc, begin, share);
  // The last ones may have nothing to do: their begin is past the end.
  return {begin, arith::MinUIOp::create(builder, loc, next, end), divisor};
}

Range Spread::getRows(OpBuilder &builder, Location loc, AffineExpr totalX) const {
  return getShare(builder, loc, rows, totalX, plan::Axis::X, 1);
}

Range Spread::getColumns(OpBuilder &builder, Location loc, AffineExpr totalY) const {
  return getShare(builder, loc, columns, totalY, plan::Axis::Y, columnAlignment);
}

FailureOr<Spread> spread(Operation *op, OpFoldResult rows, OpFoldResult columns, OpFoldResult work,
                         int64_t chunk, int64_t tile, int64_t columnAlignment) {
  MLIRContext *context = op->getContext();
  AffineExpr rowCount = codegen::getScalarFormula(rows, context),
             columnCount = codegen::getScalarFormula(columns, context);
  AffineExpr workCount = codegen::getScalarFormula(work, context);
  if (!rowCount || !columnCount || !workCount)
    return op->emitOpError("has a size that is not a formula over the kernel's scalars");
  // How wide the part of a row is that one workgroup computes.
  AffineExpr width = columnCount;
  if (auto constantCount = dyn_cast<AffineConstantExpr>(columnCount))
    width = getAffineConstantExpr(std::min(constantCount.getValue(), chunk), context);
  else if (chunk < 1024) // for long rows of dynamic size, rather too many workgroups than too few
    width = getAffineConstantExpr(chunk, context);
  Spread result{rows, columns, {}, {}, columnAlignment};
  AffineExpr rowWork = width * workCount;
  if (auto constantWork = dyn_cast<AffineConstantExpr>(rowWork))
    result.gridX = rowCount.ceilDiv(
        std::max<int64_t>(1, tile / std::max<int64_t>(1, constantWork.getValue())));
  else // a row without elements still has a result: what its reductions start with
    result.gridX = (rowCount * (rowWork + 1)).ceilDiv(tile);
  result.gridY = columnCount.ceilDiv(chunk);
  return result;
}

void setLaunch(func::FuncOp kernel, ArrayRef<AffineExpr> grid) {
  MLIRContext *context = kernel.getContext();
  unsigned numSymbols = 0;
  kernel.walk([&](plan::ScalarOp scalar) {
    numSymbols = std::max<unsigned>(numSymbols, scalar.getOrdinal() + 1);
  });
  SmallVector<AffineExpr> results(grid);
  results.resize(3, getAffineConstantExpr(1, context));
  AffineMap map = simplifyAffineMap(AffineMap::get(0, numSymbols, results, context));
  SmallVector<plan::FormulaAttr> formulas = llvm::map_to_vector(
      map.getResults(), [](AffineExpr expr) { return plan::FormulaAttr::get(expr); });
  SmallVector<int64_t> ones(3, 1);
  kernel->setAttr(plan::kLaunchAttr, plan::LaunchAttr::get(context, formulas, ones, ones,
                                                           /*shared=*/0, /*scratch=*/0));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void emitLoop(OpBuilder &builder, Location loc, Range range, int64_t step, LoopBody body) {
  auto loop =
      scf::ForOp::create(builder, loc, range.begin, range.end, constant(builder, loc, step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(builder, loc, loop.getInductionVar());
}

void setLinearIndex(OpBuilder &builder, Location loc, Value linear, ArrayRef<LoopDim> loops,
                    MutableArrayRef<LaneIndex> point) {
  if (loops.empty())
    return;
  Value rest = linear;
  for (size_t i = loops.size(); i-- > 1;) {
    Value size = getValueOrCreateConstantIndexOp(builder, loc, loops[i].size);
    loops[i].setIndex(point, {builder.createOrFold<arith::RemUIOp>(loc, rest, size)});
    rest = builder.createOrFold<arith::DivUIOp>(loc, rest, size);
  }
  loops[0].setIndex(point, {rest});
}

void emitLinearLoop(OpBuilder &builder, Location loc, Range range, ArrayRef<LoopDim> loops,
                    MutableArrayRef<LaneIndex> point, function_ref<void(OpBuilder &)> body) {
  emitLoop(builder, loc, range, 1, [&](OpBuilder &inner, Location, Value linear) {
    setLinearIndex(inner, loc, linear, loops, point);
    body(inner);
  });
}

SmallVector<int64_t> getWidths(int64_t lanes, int64_t registerLanes, int64_t divisor) {
  SmallVector<int64_t> widths;
  for (int64_t width : {lanes, registerLanes, int64_t(1)}) {
    if (width > lanes || (!widths.empty() && width >= widths.back()))
      continue;
    widths.push_back(width);
    if (divisor % width == 0)
      break; // nothing is left over
  }
  return widths;
}

void emitLaneLoops(OpBuilder &builder, Location loc, Range range, ArrayRef<int64_t> widths,
                   function_ref<void(OpBuilder &, Value, int64_t)> body) {
  Value begin = range.begin;
  for (int64_t width : widths) {
    Value end = range.end;
    if (width != 1 && width != widths.back()) {
      // Signed: an empty share has its begin past its end.
      Value length = arith::SubIOp::create(builder, loc, range.end, begin);
      Value rest = arith::RemSIOp::create(builder, loc, length, constant(builder, loc, width));
      end = arith::SubIOp::create(builder, loc, range.end, rest);
    }
    emitLoop(builder, loc, {begin, end}, width,
             [&](OpBuilder &inner, Location, Value index) { body(inner, index, width); });
    begin = end;
  }
}

} // namespace xc::cpu
