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
#include "compiler/Codegen/CPU/MatmulLowering.h"
#include "compiler/Codegen/CPU/Passes.h"
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

/// Whether all elements of |tensor| are zero.
static bool isZero(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill &&
         (matchPattern(fill.value(), m_AnyZeroFloat()) || matchPattern(fill.value(), m_Zero()));
}

/// Bytes of a cache line.
static constexpr int64_t kLineBytes = 64;

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

/// Asks for what the panel after that of |column| has at term |kk|, or for the next terms of the
/// first one: weights may come from main memory, and all rows of this tile are computed meanwhile.
void MatmulLowering::prefetchColumns(OpBuilder &b, Value column, Value firstTerm, Value length,
                                     Value kk) {
  constexpr unsigned inL2 = 2;
  int64_t lineElements =
      std::max<int64_t>(1, kLineBytes * 8 / std::max(1U, element.getIntOrFloatBitWidth()));
  Value next = arith::AddIOp::create(b, loc, at(b, rhs.begin, rhs.width), column);
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, next, rhs.end);
  Value from = arith::SelectOp::create(b, loc, isLast, rhs.begin, next);
  Value skipped = arith::SelectOp::create(b, loc, isLast, length, index(b, 0));
  SmallVector<Value> indices = getPanelBatch();
  indices.push_back(arith::DivUIOp::create(b, loc, from, index(b, rhs.width)));
  indices.push_back(
      arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, firstTerm, skipped), kk));
  for (int64_t first = 0; first < rhs.width; first += lineElements) {
    SmallVector<Value> line = indices;
    line.push_back(index(b, first));
    memref::PrefetchOp::create(b, loc, rhs.panels, line, /*isWrite=*/false, inL2,
                               /*isDataCache=*/true);
  }
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
        if (rhs.liesInPanels)
          prefetchColumns(inner, column, firstTerm, length, kk);
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
