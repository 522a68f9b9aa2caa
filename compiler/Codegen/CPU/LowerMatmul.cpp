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
//     pack columns of the right operand into panels of 256 x 16  and here, unless they lie so
//     for each pair of panels:
//       sums[6 x 16] += panel product, in registers
//   store each result, computed from sums                        consumers are computed here,
//                                                                transposes among them
//
// Panels are padded to their full width, so the inner loops have no edges; what was computed from
// padding is never stored.
//
// Rows, columns and the reduced dim may each be several loops. A convolution has as rows the
// positions of its result, and reduces over taps and channels: its left panels are columns of the
// image (im2col), of which only one block exists at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/PackPanels.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CPU/TransposedReads.h"
#include "compiler/Codegen/Common/ScalarFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERMATMUL
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

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
  void emitReducedBlocks();
  void emitReducedBlock(OpBuilder &builder, const ReducedBlock &block);
  SmallVector<Value> getPanelBatch();
  void emitPanelProduct(OpBuilder &builder, Value row, Value column, Value firstTerm, Value length);
  void emitResults();
  SmallVector<OpFoldResult> getProductSizes();
  SmallVector<LoopDim> findRowsOfTransposed(const ContractionRoot &root);
  void storeTransposed(OpBuilder &builder, const ContractionRoot &root, ArrayRef<LoopDim> rows,
                       Value row, Value column, Value sum, int64_t numLanes);
  void emitTransposed(const ContractionRoot &root, ArrayRef<LoopDim> rows);

  Value index(OpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value at(OpBuilder &b, Value base, int64_t offset) {
    return b.createOrFold<arith::AddIOp>(loc, base, index(b, offset));
  }
  SmallVector<LoopDim> getLoops(ArrayRef<unsigned> loops);
  llvm::SmallBitVector findMergeableLoops();
  void findPanels();
  Side makeSide(unsigned input, ArrayRef<unsigned> loops, int64_t width,
                const AccessSummary &summary);
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
  ReducedLoops reduced;
  bool startsAtZero = false;    // the one block of the reduced dim needs no sums of before
  Value sums;                   // memref: rows x columns of the tile, padded
  SmallVector<LaneIndex> batch; // indices of all loops, batch ones set
};

} // namespace

/// Whether all elements of |tensor| are zero.
static bool isZero(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill &&
         (matchPattern(fill.value(), m_AnyZeroFloat()) || matchPattern(fill.value(), m_Zero()));
}

/// min(|lhs|, |rhs|).
static Value minimum(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  return builder.createOrFold<arith::MinUIOp>(loc, lhs, rhs);
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

/// The batch entry of this workgroup in panels that the right operand lies in.
SmallVector<Value> MatmulLowering::getPanelBatch() {
  unsigned rank = cast<MemRefType>(rhs.panels.getType()).getRank();
  return llvm::map_to_vector(rhs.map.getResults().take_front(rank - 3), [&](AffineExpr expr) {
    return batch[cast<AffineDimExpr>(expr).getPosition()].base;
  });
}

/// sums[row.., column..] += left panel * right panel over |length| of the reduced dim, which begins
/// at |firstTerm|.
void MatmulLowering::emitPanelProduct(OpBuilder &b, Value row, Value column, Value firstTerm,
                                      Value length) {
  auto vectorType = VectorType::get({lanes}, element);
  int64_t vectors = rhs.width / lanes;
  Value lhsPanel = arith::DivUIOp::create(b, loc, row, index(b, lhs.width));
  auto columnIndices = [&](OpBuilder &at, Value kk, int64_t v) {
    Value first =
        rhs.liesInPanels ? at.createOrFold<arith::AddIOp>(loc, rhs.begin, column) : column;
    Value panel = arith::DivUIOp::create(at, loc, first, index(at, rhs.width));
    SmallVector<Value> indices = rhs.liesInPanels ? getPanelBatch() : SmallVector<Value>();
    Value term = rhs.liesInPanels ? at.createOrFold<arith::AddIOp>(loc, firstTerm, kk) : kk;
    indices.append({panel, term, index(at, v * lanes)});
    return indices;
  };
  auto sumIndices = [&](OpBuilder &at, int64_t r, int64_t v) {
    Value i = at.createOrFold<arith::AddIOp>(loc, row, index(at, r));
    Value j = at.createOrFold<arith::AddIOp>(loc, column, index(at, v * lanes));
    return SmallVector<Value>{i, j};
  };
  SmallVector<Value> accumulators;
  for (int64_t r = 0; r < lhs.width; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      accumulators.push_back(
          startsAtZero
              ? arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType)).getResult()
              : vector::LoadOp::create(b, loc, vectorType, sums, sumIndices(b, r, v)).getResult());
  auto loop = scf::ForOp::create(
      b, loc, index(b, 0), length, index(b, 1), accumulators,
      [&](OpBuilder &inner, Location, Value kk, ValueRange carried) {
        SmallVector<Value> columns, results;
        for (int64_t v = 0; v < vectors; ++v)
          columns.push_back(vector::LoadOp::create(inner, loc, vectorType, rhs.panels,
                                                   columnIndices(inner, kk, v)));
        for (int64_t r = 0; r < lhs.width; ++r) {
          Value position = index(inner, r);
          Value scalar = memref::LoadOp::create(inner, loc, lhs.panels,
                                                lhs.byRows ? ValueRange{lhsPanel, position, kk}
                                                           : ValueRange{lhsPanel, kk, position});
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

/// Packs both operands, then multiplies all pairs of panels.
void MatmulLowering::emitReducedBlock(OpBuilder &b, const ReducedBlock &block) {
  PanelPacker packer(loc, batch, reduced, element, lanes);
  packer.pack(b, lhs, block);
  if (!rhs.liesInPanels)
    packer.pack(b, rhs, block);
  Value length = b.createOrFold<arith::MulIOp>(loc, block.outerCount, block.innerCount);
  Value innerSize = getValueOrCreateConstantIndexOp(b, loc, reduced.inner.size);
  Value firstTerm = b.createOrFold<arith::AddIOp>(
      loc, b.createOrFold<arith::MulIOp>(loc, block.outerBegin, innerSize), block.innerBegin);
  Value rows = arith::SubIOp::create(b, loc, lhs.end, lhs.begin);
  Value columns = arith::SubIOp::create(b, loc, rhs.end, rhs.begin);
  // The right panel stays in L1 while the left ones, which all fit L2, stream past it.
  emitLoop(b, loc, {index(b, 0), columns}, rhs.width,
           [&](OpBuilder &columnBuilder, Location, Value column) {
             emitLoop(columnBuilder, loc, {index(columnBuilder, 0), rows}, lhs.width,
                      [&](OpBuilder &inner, Location, Value row) {
                        emitPanelProduct(inner, row, column, firstTerm, length);
                      });
           });
}

/// Blocks of at most as many terms as the tile says: a part of the inner loop, or some iterations
/// of the outer ones with all of it.
void MatmulLowering::emitReducedBlocks() {
  int64_t depth = config.getTile()[2];
  std::optional<int64_t> innerSize = getConstantIntValue(reduced.inner.size);
  int64_t innerStep = innerSize ? std::min(depth, std::max<int64_t>(*innerSize, 1)) : depth;
  int64_t outerStep = innerSize ? std::max<int64_t>(1, depth / innerStep) : 1;
  Value outerEnd =
      getValueOrCreateConstantIndexOp(builder, loc, getProduct(builder, loc, reduced.outer));
  Value innerEnd = getValueOrCreateConstantIndexOp(builder, loc, reduced.inner.size);
  auto count = [&](OpBuilder &b, Value begin, Value end, int64_t step) {
    return minimum(b, loc, index(b, step), arith::SubIOp::create(b, loc, end, begin));
  };
  emitLoop(builder, loc, {index(builder, 0), outerEnd}, outerStep,
           [&](OpBuilder &outer, Location, Value outerBegin) {
             Value outerCount = reduced.outer.empty()
                                    ? index(outer, 1)
                                    : count(outer, outerBegin, outerEnd, outerStep);
             emitLoop(outer, loc, {index(outer, 0), innerEnd}, innerStep,
                      [&](OpBuilder &inner, Location, Value begin) {
                        Value innerCount = count(inner, begin, innerEnd, innerStep);
                        emitReducedBlock(inner, {outerBegin, outerCount, begin, innerCount});
                      });
           });
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

SmallVector<LaneIndex> MatmulLowering::getProductPoint(OpBuilder &b, Value row, Value column,
                                                       int64_t numLanes) {
  SmallVector<LaneIndex> loops = batch;
  setLinearIndex(b, loc, arith::AddIOp::create(b, loc, lhs.begin, row), lhs.loops, loops);
  setLinearIndex(b, loc, arith::AddIOp::create(b, loc, rhs.begin, column), rhs.loops, loops);
  loops[rhs.innermost()].stride = numLanes == 1 ? 0 : 1;
  return llvm::map_to_vector(
      contraction.op.getIndexingMapsArray()[2].getResults(),
      [&](AffineExpr expr) { return loops[cast<AffineDimExpr>(expr).getPosition()]; });
}

/// Runs |body| over the valid part of the tile, in lanes along the columns.
void MatmulLowering::emitOverTile(function_ref<void(OpBuilder &, Value, Value, int64_t)> body) {
  Value rows = arith::SubIOp::create(builder, loc, lhs.end, lhs.begin);
  Value columns = arith::SubIOp::create(builder, loc, rhs.end, rhs.begin);
  AffineMap map = contraction.op.getIndexingMapsArray()[2];
  bool guarded = false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    guarded |= contraction.results.guarded[dim] && expr.isFunctionOfDim(rhs.innermost());
  std::optional<int64_t> run = getConstantIntValue(rhs.loops.back().size);
  bool isRun = rhs.loops.size() == 1 || (run && *run % lanes == 0);
  int64_t maxLanes = guarded || !isRun ? 1 : lanes;
  emitLoop(builder, loc, {index(builder, 0), rows}, 1,
           [&](OpBuilder &rowBuilder, Location, Value row) {
             emitLaneLoops(rowBuilder, loc, {index(rowBuilder, 0), columns},
                           getWidths(maxLanes, maxLanes, 1),
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
  SmallVector<const ContractionRoot *> direct;
  for (const ContractionRoot &root : contraction.roots) {
    if (SmallVector<LoopDim> rows = findRowsOfTransposed(root); !rows.empty())
      emitTransposed(root, rows);
    else
      direct.push_back(&root);
  }
  if (direct.empty())
    return;
  emitOverTile([&](OpBuilder &inner, Value row, Value column, int64_t numLanes) {
    SmallVector<LaneIndex> point = getProductPoint(inner, row, column, numLanes);
    // A result uses the product at its own point alone, so its value there is all that is needed.
    Environment environment;
    Value sum = numLanes == 1
                    ? memref::LoadOp::create(inner, loc, sums, ValueRange{row, column}).getResult()
                    : vector::LoadOp::create(inner, loc, VectorType::get({numLanes}, element), sums,
                                             ValueRange{row, column})
                          .getResult();
    environment.values[product] = sum;
    PointEvaluator evaluator(inner, environment, numLanes);
    SmallVector<Value> values;
    SmallVector<SmallVector<LaneIndex>> indices;
    for (const ContractionRoot *root : direct) {
      indices.push_back(
          llvm::map_to_vector(root->productDims, [&](unsigned dim) { return point[dim]; }));
      values.push_back(evaluator.evaluate(root->root.value, indices.back()));
    }
    for (auto [root, value, at] : llvm::zip(direct, values, indices))
      evaluator.store(loc, value, Buffer{root->root.memory}, at);
  });
}

/// The rows as loops over dims of the product, where |root| has the last ones behind the columns:
/// its memory runs along the last loop then. Empty where it does not.
SmallVector<LoopDim> MatmulLowering::findRowsOfTransposed(const ContractionRoot &root) {
  AffineMap map = contraction.op.getIndexingMapsArray()[2];
  SmallVector<unsigned> rows;
  for (unsigned loop : contraction.loops.m)
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(loop))
        rows.push_back(dim);
  ArrayRef<unsigned> dims = root.productDims;
  if (contraction.loops.n.size() != 1 || lanes == 1 || dims.back() != rows.back() ||
      contraction.results.guarded.any())
    return {};
  SmallVector<OpFoldResult> productSizes = getProductSizes();
  llvm::SmallBitVector mergeable =
      findMergeableDims(builder, productSizes, productSizes.size(), contraction.results);
  llvm::SmallBitVector isRun(productSizes.size());
  for (size_t i = 1; i < std::min(rows.size(), dims.size()); ++i) {
    unsigned dim = rows.end()[-1 - static_cast<int64_t>(i)];
    if (dims.end()[-1 - static_cast<int64_t>(i)] != dim || !mergeable[dim])
      break;
    isRun.set(dim);
  }
  return mergeDims(builder, loc, rows, productSizes, isRun);
}

/// Stores the element of |root| at (|row|, |column|) of the tile, or those of |numLanes| rows, of
/// which |sum| is the product.
void MatmulLowering::storeTransposed(OpBuilder &b, const ContractionRoot &root,
                                     ArrayRef<LoopDim> rows, Value row, Value column, Value sum,
                                     int64_t numLanes) {
  SmallVector<LaneIndex> loops = batch;
  loops[contraction.loops.n[0]] = {b.createOrFold<arith::AddIOp>(loc, rhs.begin, column)};
  SmallVector<LaneIndex> point = llvm::map_to_vector(
      contraction.op.getIndexingMapsArray()[2].getResults(),
      [&](AffineExpr expr) { return loops[cast<AffineDimExpr>(expr).getPosition()]; });
  setLinearIndex(b, loc, b.createOrFold<arith::AddIOp>(loc, lhs.begin, row), rows, point);
  point[rows.back().dims.back()].stride = numLanes == 1 ? 0 : 1;
  Environment environment;
  environment.values[contraction.op->getResult(0)] = sum;
  PointEvaluator evaluator(b, environment, numLanes);
  SmallVector<LaneIndex> indices =
      llvm::map_to_vector(root.productDims, [&](unsigned dim) { return point[dim]; });
  evaluator.store(loc, evaluator.evaluate(root.root.value, indices), Buffer{root.root.memory},
                  indices);
}

/// Stores |root|, whose lanes are rows: squares of the sums are transposed in registers.
void MatmulLowering::emitTransposed(const ContractionRoot &root, ArrayRef<LoopDim> rows) {
  Value numRows = arith::SubIOp::create(builder, loc, lhs.end, lhs.begin),
        numColumns = arith::SubIOp::create(builder, loc, rhs.end, rhs.begin);
  auto storeEach = [&](OpBuilder &b, Value row, int64_t height, Value column, int64_t width) {
    emitLoop(b, loc, {row, at(b, row, height)}, 1, [&](OpBuilder &outer, Location, Value r) {
      emitLoop(outer, loc, {column, at(outer, column, width)}, 1,
               [&](OpBuilder &inner, Location, Value c) {
                 Value sum = memref::LoadOp::create(inner, loc, sums, ValueRange{r, c});
                 storeTransposed(inner, root, rows, r, c, sum, 1);
               });
    });
  };
  auto storeSquare = [&](OpBuilder &b, Value row, Value column) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < lanes; ++i)
      vectors.push_back(vector::LoadOp::create(b, loc, VectorType::get({lanes}, element), sums,
                                               ValueRange{at(b, row, i), column}));
    vectors = transposeVectors(b, loc, vectors);
    for (int64_t i = 0; i < lanes; ++i)
      storeTransposed(b, root, rows, row, at(b, column, i), vectors[i], lanes);
  };
  // A run of the result's memory ends with the last loop over rows: a square that crosses its end
  // is stored element by element.
  auto storeWithinRun = [&](OpBuilder &b, Value row, Value column) {
    if (rows.size() == 1)
      return storeSquare(b, row, column);
    Value size = getValueOrCreateConstantIndexOp(b, loc, rows.back().size);
    Value first =
        arith::RemUIOp::create(b, loc, arith::AddIOp::create(b, loc, lhs.begin, row), size);
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, at(b, first, lanes), size);
    scf::IfOp::create(
        b, loc, isInside,
        [&](OpBuilder &then, Location) {
          storeSquare(then, row, column);
          scf::YieldOp::create(then, loc);
        },
        [&](OpBuilder &otherwise, Location) {
          storeEach(otherwise, row, lanes, column, lanes);
          scf::YieldOp::create(otherwise, loc);
        });
  };
  emitLaneLoops(builder, loc, {index(builder, 0), numColumns}, {lanes, 1},
                [&](OpBuilder &outer, Value column, int64_t width) {
                  emitLaneLoops(outer, loc, {index(outer, 0), numRows}, {lanes, 1},
                                [&](OpBuilder &b, Value row, int64_t height) {
                                  if (width == lanes && height == lanes)
                                    storeWithinRun(b, row, column);
                                  else
                                    storeEach(b, row, height, column, width);
                                });
                });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SmallVector<LoopDim> MatmulLowering::getLoops(ArrayRef<unsigned> loops) {
  return llvm::map_to_vector(loops, [&](unsigned loop) { return LoopDim{{loop}, sizes[loop]}; });
}

SmallVector<OpFoldResult> MatmulLowering::getProductSizes() {
  return llvm::map_to_vector(
      contraction.op.getIndexingMapsArray()[2].getResults(),
      [&](AffineExpr expr) { return sizes[cast<AffineDimExpr>(expr).getPosition()]; });
}

/// Which loops run as one with the next one, so that lanes and runs of memory go across both.
llvm::SmallBitVector MatmulLowering::findMergeableLoops() {
  AffineMap map = contraction.op.getIndexingMapsArray()[2];
  auto loopOf = [&](unsigned dim) { return cast<AffineDimExpr>(map.getResult(dim)).getPosition(); };
  llvm::SmallBitVector operands = findMergeableDims(builder, sizes, /*boundary=*/sizes.size(),
                                                    {contraction.lhs, contraction.rhs}),
                       results = findMergeableDims(builder, getProductSizes(), map.getNumResults(),
                                                   contraction.results),
                       mergeable(sizes.size());
  for (unsigned dim = 0; dim + 1 < map.getNumResults(); ++dim) {
    bool isStoredSo = llvm::all_of(contraction.roots, [&](const ContractionRoot &root) {
      const auto *it = llvm::find(root.productDims, dim);
      return std::next(it) != root.productDims.end() && *std::next(it) == dim + 1;
    });
    if (results[dim] && isStoredSo && loopOf(dim + 1) == loopOf(dim) + 1)
      mergeable[loopOf(dim)] = operands[loopOf(dim)];
  }
  return mergeable;
}

LogicalResult MatmulLowering::planGrid() {
  auto formula = [&](ArrayRef<unsigned> loops) {
    AffineExpr product = builder.getAffineConstantExpr(1);
    for (unsigned loop : loops) {
      AffineExpr size = codegen::getScalarFormula(sizes[loop], builder.getContext());
      product = product && size ? product * size : AffineExpr();
    }
    return product;
  };
  AffineExpr batchCount = formula(contraction.loops.batch), rows = formula(contraction.loops.m),
             columns = formula(contraction.loops.n);
  if (!batchCount || !rows || !columns)
    return contraction.op.emitOpError("has a size that is not a formula over the kernel's scalars");
  setLaunch(kernel,
            {columns.ceilDiv(config.getTile()[1]), rows.ceilDiv(config.getTile()[0]), batchCount});
  return success();
}

void MatmulLowering::setBatch(MutableArrayRef<LaneIndex> point) {
  Value id = plan::WorkgroupIdOp::create(builder, loc, builder.getIndexType(), plan::Axis::Z);
  setLinearIndex(builder, loc, id, getLoops(contraction.loops.batch), point);
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
    OpFoldResult count = getProduct(builder, loc, side.loops);
    side.end = minimum(builder, loc, next, getValueOrCreateConstantIndexOp(builder, loc, count));
  };
  int64_t leftPanels = tile[0] / lhs.width;
  lhs.panels = lhs.byRows ? allocate({leftPanels, lhs.width, tile[2]})
                          : allocate({leftPanels, tile[2], lhs.width});
  if (!rhs.liesInPanels)
    rhs.panels = allocate({tile[1] / rhs.width, tile[2], rhs.width});
  sums = allocate({tile[0], tile[1]});
  setRange(lhs, plan::Axis::Y, tile[0]);
  setRange(rhs, plan::Axis::X, tile[1]);
  batch.resize(contraction.op.getNumLoops());
  setBatch(batch);

  std::optional<int64_t> terms =
      getConstantIntValue(getProduct(builder, loc, getLoops(contraction.loops.k)));
  startsAtZero =
      terms && *terms > 0 && *terms <= tile[2] && isZero(contraction.op.getDpsInits()[0]);
  if (!startsAtZero)
    emitInitialSums();
  emitReducedBlocks();
  emitResults();
}

Side MatmulLowering::makeSide(unsigned input, ArrayRef<unsigned> loops, int64_t width,
                              const AccessSummary &summary) {
  Side side;
  side.operand = contraction.op.getDpsInputs()[input];
  side.map = contraction.op.getIndexingMapsArray()[input];
  side.loops = mergeDims(builder, loc, loops, sizes, findMergeableLoops());
  side.width = width;
  side.summary = &summary;
  return side;
}

/// Takes the right operand as the panels that it lies in, with one dim for all terms.
void MatmulLowering::findPanels() {
  rhs.liesInPanels = true;
  Value memory = rhs.operand.getDefiningOp<bufferization::ToTensorOp>().getBuffer();
  auto rank = static_cast<int64_t>(rhs.map.getNumResults()),
       terms = static_cast<int64_t>(contraction.loops.k.size());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim > rank - 1 - terms && dim < rank - 1)
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  }
  rhs.panels = memref::CollapseShapeOp::create(builder, loc, memory, groups);
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
  const ContractionLoops &loops = contraction.loops;
  lhs = makeSide(loops.lhs, loops.m, config.getRegisters()[0], contraction.lhs);
  rhs = makeSide(loops.rhs, loops.n, config.getRegisters()[1], contraction.rhs);
  // Lanes across a wide right panel store whole vectors, however the operand lies.
  lhs.byRows = !isContiguousAlongOwnDim(lhs);
  reduced = {getLoops(ArrayRef(loops.k).drop_back()),
             LoopDim{{loops.k.back()}, sizes[loops.k.back()]}};
  mergeRuns(lhs, rhs, reduced, lanes);
  if (getPanelColumns(contraction) == rhs.width)
    findPanels();
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
