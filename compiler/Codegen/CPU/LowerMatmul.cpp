//===- LowerMatmul.cpp - Matrix products to register-tiled loops ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup computes one tile of the product:
//
//   sums[i, j] = what the kernel starts with
//   for k0 in 0, 256, ...:
//     pack rows of the left operand into panels of 6 x 256       producers are computed here
//     pack columns of the right operand into panels of 256 x 16  and here
//     for each pair of panels:
//       sums[6 x 16] += panel product, in registers
//   store each result, computed from sums                        consumers are computed here
//
// Panels are padded to their full width, so the inner loops have no edges; what was computed from
// padding is never stored.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/Common/ScalarFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERMATMUL
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

/// One side of the product: its rows (or columns) are packed into panels.
struct Side {
  Value operand;                          // tensor
  AffineMap map;                          // of the operand
  unsigned loop;                          // m or n
  int64_t width;                          // rows or columns of a panel
  Value panels;                           // memref: panel x reduced dim x width
  Value begin, end;                       // of the tile, along `loop`
  const AccessSummary *summary = nullptr; // of computing the operand
};

/// Where in a side's panels.
struct PanelPoint {
  Value panel;
  LaneIndex kk, position;
};

class MatmulLowering {
public:
  MatmulLowering(func::FuncOp kernel, MatmulAttr config)
      : kernel(kernel), config(config), lanes(config.getLanes()), loc(kernel.getLoc()),
        builder(kernel.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  LogicalResult planGrid();
  void emitTile();
  void setBatch(MutableArrayRef<LaneIndex> point);
  void emitInitialSums();
  void emitReducedBlock(OpBuilder &builder, Value begin);
  void packElements(OpBuilder &builder, const Side &side, Value reducedBegin, const PanelPoint &at,
                    int64_t numLanes, bool zero);
  void packAlong(OpBuilder &builder, const Side &side, Value begin, Value length);
  void packAcross(OpBuilder &builder, const Side &side, Value begin, Value length);
  void emitPanelProduct(OpBuilder &builder, Value row, Value column, Value length);
  void emitResults();

  Value index(OpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// Evaluates an operand at the product's iteration |loops|.
  Value evaluate(PointEvaluator &evaluator, const Side &side, ArrayRef<LaneIndex> loops);
  /// Point of the product's dims at (row, column) of the tile.
  SmallVector<LaneIndex> getProductPoint(OpBuilder &b, Value row, Value column, int64_t numLanes);
  void emitOverTile(function_ref<void(OpBuilder &, Value, Value, int64_t)> body);

  func::FuncOp kernel;
  MatmulAttr config;
  int64_t lanes;
  Location loc;
  OpBuilder builder;
  ContractionKernel contraction;
  SmallVector<OpFoldResult> sizes; // of the loops
  Type element;                    // of the sums
  Side lhs, rhs;
  Value sums;                   // memref: rows x columns of the tile, padded
  SmallVector<LaneIndex> batch; // indices of all loops, batch ones set
  unsigned rowDim, columnDim;   // of the product
};

} // namespace

/// min(|lhs|, |rhs|).
static Value minimum(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  return builder.createOrFold<arith::MinUIOp>(loc, lhs, rhs);
}

Value MatmulLowering::evaluate(PointEvaluator &evaluator, const Side &side,
                               ArrayRef<LaneIndex> loops) {
  SmallVector<LaneIndex> indices;
  for (AffineExpr expr : side.map.getResults())
    indices.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  return evaluator.evaluate(side.operand, indices);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Stores |numLanes| elements of a panel: position |position| and reduced index |kk|, one of which
/// steps.
void MatmulLowering::packElements(OpBuilder &b, const Side &side, Value reducedBegin,
                                  const PanelPoint &at, int64_t numLanes, bool zero) {
  Environment environment;
  PointEvaluator evaluator(b, environment, numLanes);
  Value value;
  if (zero) {
    value = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  } else {
    SmallVector<LaneIndex> loops = batch;
    Value first = arith::MulIOp::create(b, loc, at.panel, index(b, side.width));
    Value own = arith::AddIOp::create(b, loc, first, at.position.base);
    loops[side.loop] = {arith::AddIOp::create(b, loc, side.begin, own), at.position.stride};
    loops[contraction.loops.k] = {arith::AddIOp::create(b, loc, reducedBegin, at.kk.base),
                                  at.kk.stride};
    value = evaluate(evaluator, side, loops);
  }
  evaluator.store(loc, value, Buffer{side.panels}, {{at.panel}, at.kk, at.position});
}

/// Fills the panels of |side| row by row, in lanes along the reduced dim: for operands that are
/// contiguous along it. Rows of a panel past the last one are zero.
void MatmulLowering::packAlong(OpBuilder &outer, const Side &side, Value begin, Value length) {
  Value rows = arith::SubIOp::create(outer, loc, side.end, side.begin);
  Value width = index(outer, side.width);
  Value panels = arith::CeilDivUIOp::create(outer, loc, rows, width);
  Value padded = arith::MulIOp::create(outer, loc, panels, width);
  int64_t maxLanes = side.summary->guarded[contraction.loops.k] ? 1 : lanes;
  SmallVector<int64_t> widths = getWidths(maxLanes, maxLanes, 1);
  emitLoop(outer, loc, {index(outer, 0), padded}, 1, [&](OpBuilder &b, Location, Value row) {
    Value panel = arith::DivUIOp::create(b, loc, row, width);
    Value position = arith::RemUIOp::create(b, loc, row, width);
    Value valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, rows);
    auto pack = [&](bool zero) {
      return [&, zero](OpBuilder &branch, Location) {
        emitLaneLoops(branch, loc, {index(branch, 0), length}, widths,
                      [&](OpBuilder &inner, Value kk, int64_t numLanes) {
                        PanelPoint at{panel, {kk, numLanes == 1 ? 0 : 1}, {position}};
                        packElements(inner, side, begin, at, numLanes, zero);
                      });
        scf::YieldOp::create(branch, loc);
      };
    };
    scf::IfOp::create(b, loc, valid, pack(/*zero=*/false), pack(/*zero=*/true));
  });
}

/// Fills the panels of |side| one reduced index after another, in lanes across the panel: for
/// operands that are contiguous along their own dim. What is past the last one is zero.
void MatmulLowering::packAcross(OpBuilder &outer, const Side &side, Value begin, Value length) {
  Value rows = arith::SubIOp::create(outer, loc, side.end, side.begin);
  Value width = index(outer, side.width);
  Value panels = arith::CeilDivUIOp::create(outer, loc, rows, width);
  bool byLanes = !side.summary->guarded[side.loop] && side.width % lanes == 0;
  int64_t step = byLanes ? lanes : 1;
  emitLoop(outer, loc, {index(outer, 0), panels}, 1, [&](OpBuilder &b, Location, Value panel) {
    Value first = arith::MulIOp::create(b, loc, panel, width);
    Value valid = minimum(b, loc, width, arith::SubIOp::create(b, loc, rows, first));
    Value full = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, valid, width);
    emitLoop(b, loc, {index(b, 0), length}, 1, [&](OpBuilder &row, Location, Value kk) {
      auto packRange = [&](OpBuilder &branch, Value from, Value to, int64_t numLanes, bool zero) {
        emitLoop(branch, loc, {from, to}, numLanes,
                 [&](OpBuilder &inner, Location, Value position) {
                   PanelPoint at{panel, {kk}, {position, numLanes == 1 ? 0 : 1}};
                   packElements(inner, side, begin, at, numLanes, zero);
                 });
      };
      auto packFull = [&](OpBuilder &branch, Location) {
        packRange(branch, index(branch, 0), width, step, /*zero=*/false);
        scf::YieldOp::create(branch, loc);
      };
      auto packEdge = [&](OpBuilder &branch, Location) {
        packRange(branch, index(branch, 0), valid, 1, /*zero=*/false);
        packRange(branch, valid, width, 1, /*zero=*/true);
        scf::YieldOp::create(branch, loc);
      };
      scf::IfOp::create(row, loc, full, packFull, packEdge);
    });
  });
}

/// Whether the operand of |side| is contiguous along its own dim rather than the reduced one.
static bool isContiguousAlongOwnDim(const Side &side) {
  return llvm::any_of(side.summary->accesses, [&](const Access &access) {
    return !access.indices.empty() && access.indices.back() &&
           access.indices.back().isFunctionOfDim(side.loop);
  });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// acc + a * b.
static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value acc) {
  if (isa<FloatType>(getElementTypeOrSelf(a.getType())))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc, arith::MulIOp::create(builder, loc, a, b));
}

/// sums[row.., column..] += left panel * right panel over |length| of the reduced dim.
void MatmulLowering::emitPanelProduct(OpBuilder &b, Value row, Value column, Value length) {
  auto vectorType = VectorType::get({lanes}, element);
  int64_t vectors = rhs.width / lanes;
  Value lhsPanel = arith::DivUIOp::create(b, loc, row, index(b, lhs.width));
  Value rhsPanel = arith::DivUIOp::create(b, loc, column, index(b, rhs.width));
  auto sumIndices = [&](OpBuilder &at, int64_t r, int64_t v) {
    Value i = at.createOrFold<arith::AddIOp>(loc, row, index(at, r));
    Value j = at.createOrFold<arith::AddIOp>(loc, column, index(at, v * lanes));
    return SmallVector<Value>{i, j};
  };
  SmallVector<Value> accumulators;
  for (int64_t r = 0; r < lhs.width; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      accumulators.push_back(vector::LoadOp::create(b, loc, vectorType, sums, sumIndices(b, r, v)));
  auto loop = scf::ForOp::create(
      b, loc, index(b, 0), length, index(b, 1), accumulators,
      [&](OpBuilder &inner, Location, Value kk, ValueRange carried) {
        SmallVector<Value> columns, results;
        for (int64_t v = 0; v < vectors; ++v)
          columns.push_back(
              vector::LoadOp::create(inner, loc, vectorType, rhs.panels,
                                     ValueRange{rhsPanel, kk, index(inner, v * lanes)}));
        for (int64_t r = 0; r < lhs.width; ++r) {
          Value scalar = memref::LoadOp::create(inner, loc, lhs.panels,
                                                ValueRange{lhsPanel, kk, index(inner, r)});
          Value left = vector::BroadcastOp::create(inner, loc, vectorType, scalar);
          for (int64_t v = 0; v < vectors; ++v)
            results.push_back(multiplyAdd(inner, loc, left, columns[v], carried[r * vectors + v]));
        }
        scf::YieldOp::create(inner, loc, results);
      });
  for (int64_t r = 0; r < lhs.width; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      vector::StoreOp::create(b, loc, loop.getResult(r * vectors + v), sums, sumIndices(b, r, v));
}

/// One block of the reduced dim: packs both operands, then multiplies all pairs of panels.
void MatmulLowering::emitReducedBlock(OpBuilder &b, Value begin) {
  Value size = getValueOrCreateConstantIndexOp(b, loc, sizes[contraction.loops.k]);
  Value length =
      minimum(b, loc, index(b, config.getTile()[2]), arith::SubIOp::create(b, loc, size, begin));
  if (isContiguousAlongOwnDim(lhs))
    packAcross(b, lhs, begin, length);
  else
    packAlong(b, lhs, begin, length);
  // Lanes across a wide panel store whole vectors, however the operand lies.
  packAcross(b, rhs, begin, length);
  Value rows = arith::SubIOp::create(b, loc, lhs.end, lhs.begin);
  Value columns = arith::SubIOp::create(b, loc, rhs.end, rhs.begin);
  // The right panel stays in L1 while the left ones, which all fit L2, stream past it.
  emitLoop(b, loc, {index(b, 0), columns}, rhs.width,
           [&](OpBuilder &columnBuilder, Location, Value column) {
             emitLoop(columnBuilder, loc, {index(columnBuilder, 0), rows}, lhs.width,
                      [&](OpBuilder &inner, Location, Value row) {
                        emitPanelProduct(inner, row, column, length);
                      });
           });
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

SmallVector<LaneIndex> MatmulLowering::getProductPoint(OpBuilder &b, Value row, Value column,
                                                       int64_t numLanes) {
  SmallVector<LaneIndex> point;
  for (AffineExpr expr : contraction.op.getIndexingMapsArray()[2].getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop == lhs.loop)
      point.push_back({arith::AddIOp::create(b, loc, lhs.begin, row)});
    else if (loop == rhs.loop)
      point.push_back({arith::AddIOp::create(b, loc, rhs.begin, column), numLanes == 1 ? 0 : 1});
    else
      point.push_back(batch[loop]);
  }
  return point;
}

/// Runs |body| over the valid part of the tile, in lanes along the columns.
void MatmulLowering::emitOverTile(function_ref<void(OpBuilder &, Value, Value, int64_t)> body) {
  Value rows = arith::SubIOp::create(builder, loc, lhs.end, lhs.begin);
  Value columns = arith::SubIOp::create(builder, loc, rhs.end, rhs.begin);
  bool guarded = contraction.results.guarded[columnDim];
  SmallVector<int64_t> widths = getWidths(guarded ? 1 : lanes, guarded ? 1 : lanes, 1);
  emitLoop(builder, loc, {index(builder, 0), rows}, 1,
           [&](OpBuilder &rowBuilder, Location, Value row) {
             emitLaneLoops(rowBuilder, loc, {index(rowBuilder, 0), columns}, widths,
                           [&](OpBuilder &inner, Value column, int64_t numLanes) {
                             body(inner, row, column, numLanes);
                           });
           });
}

void MatmulLowering::emitInitialSums() {
  emitOverTile([&](OpBuilder &inner, Value row, Value column, int64_t numLanes) {
    Environment environment;
    PointEvaluator evaluator(inner, environment, numLanes);
    Value start = evaluator.evaluate(contraction.op.getDpsInits()[0],
                                     getProductPoint(inner, row, column, numLanes));
    evaluator.store(loc, start, Buffer{sums}, {{row}, {column, numLanes == 1 ? 0 : 1}});
  });
}

void MatmulLowering::emitResults() {
  Value product = contraction.op->getResult(0);
  unsigned rank = cast<RankedTensorType>(product.getType()).getRank();
  Buffer buffer{sums, {rowDim, columnDim}, SmallVector<Value>(rank)};
  buffer.origins[rowDim] = lhs.begin;
  buffer.origins[columnDim] = rhs.begin;
  Environment environment;
  environment.buffers[product] = buffer;
  emitOverTile([&](OpBuilder &inner, Value row, Value column, int64_t numLanes) {
    SmallVector<LaneIndex> point = getProductPoint(inner, row, column, numLanes);
    PointEvaluator evaluator(inner, environment, numLanes);
    SmallVector<Value> values;
    SmallVector<SmallVector<LaneIndex>> indices;
    for (const ContractionRoot &root : contraction.roots) {
      indices.push_back(
          llvm::map_to_vector(root.productDims, [&](unsigned dim) { return point[dim]; }));
      values.push_back(evaluator.evaluate(root.root.value, indices.back()));
    }
    for (auto [root, value, at] : llvm::zip(contraction.roots, values, indices))
      evaluator.store(root.root.op.getLoc(), value, Buffer{root.root.memory}, at);
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult MatmulLowering::planGrid() {
  AffineExpr batchCount = builder.getAffineConstantExpr(1);
  auto formula = [&](unsigned loop) {
    return codegen::getScalarFormula(sizes[loop], builder.getContext());
  };
  for (unsigned loop : contraction.loops.batch)
    batchCount = batchCount && formula(loop) ? batchCount * formula(loop) : AffineExpr();
  AffineExpr rows = formula(contraction.loops.m), columns = formula(contraction.loops.n);
  if (!batchCount || !rows || !columns)
    return contraction.op.emitOpError("has a size that is not a formula over the kernel's scalars");
  setLaunch(kernel,
            {columns.ceilDiv(config.getTile()[1]), rows.ceilDiv(config.getTile()[0]), batchCount});
  return success();
}

void MatmulLowering::setBatch(MutableArrayRef<LaneIndex> point) {
  SmallVector<LoopDim> loops;
  for (unsigned loop : contraction.loops.batch)
    loops.push_back({{loop}, sizes[loop]});
  Value id = plan::WorkgroupIdOp::create(builder, loc, builder.getIndexType(), plan::Axis::Z);
  setLinearIndex(builder, loc, id, loops, point);
}

void MatmulLowering::emitTile() {
  ArrayRef<int64_t> tile = config.getTile();
  auto allocate = [&](ArrayRef<int64_t> shape) -> Value {
    return memref::AllocOp::create(builder, loc, MemRefType::get(shape, element));
  };
  auto setRange = [&](Side &side, plan::Axis axis, int64_t size) {
    Value id = plan::WorkgroupIdOp::create(builder, loc, builder.getIndexType(), axis);
    side.begin = arith::MulIOp::create(builder, loc, id, index(builder, size));
    Value next = arith::AddIOp::create(builder, loc, side.begin, index(builder, size));
    side.end = minimum(builder, loc, next,
                       getValueOrCreateConstantIndexOp(builder, loc, sizes[side.loop]));
  };
  lhs.panels = allocate({tile[0] / lhs.width, tile[2], lhs.width});
  rhs.panels = allocate({tile[1] / rhs.width, tile[2], rhs.width});
  sums = allocate({tile[0], tile[1]});
  setRange(lhs, plan::Axis::Y, tile[0]);
  setRange(rhs, plan::Axis::X, tile[1]);
  batch.resize(contraction.op.getNumLoops());
  setBatch(batch);

  emitInitialSums();
  Value depth = getValueOrCreateConstantIndexOp(builder, loc, sizes[contraction.loops.k]);
  emitLoop(builder, loc, {index(builder, 0), depth}, tile[2],
           [&](OpBuilder &inner, Location, Value begin) { emitReducedBlock(inner, begin); });
  emitResults();
}

LogicalResult MatmulLowering::run() {
  std::string why;
  FailureOr<ContractionKernel> analyzed = analyzeContraction(kernel, why);
  if (failed(analyzed))
    return kernel.emitError("the matmul strategy does not fit kernel '")
           << kernel.getName() << "': " << why;
  contraction = std::move(*analyzed);
  linalg::GenericOp op = contraction.op;
  sizes = getLoopSizes(builder, op);
  element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  lhs = {op.getDpsInputs()[0], maps[0], contraction.loops.m, config.getRegisters()[0], {}, {}, {},
         &contraction.lhs};
  rhs = {op.getDpsInputs()[1], maps[1], contraction.loops.n, config.getRegisters()[1], {}, {}, {},
         &contraction.rhs};
  for (auto [position, expr] : llvm::enumerate(maps[2].getResults())) {
    if (cast<AffineDimExpr>(expr).getPosition() == lhs.loop)
      rowDim = position;
    if (cast<AffineDimExpr>(expr).getPosition() == rhs.loop)
      columnDim = position;
  }
  if (failed(planGrid()))
    return failure();
  emitTile();
  for (ContractionRoot &root : contraction.roots)
    root.root.op.erase();
  return success();
}

namespace {

struct LowerMatmul final : impl::LowerMatmulBase<LowerMatmul> {
  using LowerMatmulBase::LowerMatmulBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (auto config = dyn_cast_or_null<MatmulAttr>(kernel->getAttr(plan::kConfigAttr)))
        if (failed(verifyKernelFunction(kernel)) || failed(MatmulLowering(kernel, config).run()))
          return signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
