//===- LowerElementwise.cpp - Elementwise kernels to vector loops ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results of equal shape share one loop nest; each nest is spread over the whole grid. In a nest,
// neighbouring dims that all accesses agree on are merged, the last loop is the vectorised one, and
// the loops before it are one loop over rows. The result of a `kernel.update` has the box as its
// shape, and is stored where that begins:
//
//   for row in this workgroup's rows:
//     for j in this workgroup's columns, 32, then 8, then 1 at a time:
//       store each result of the nest at (row, j)
//
// Where inputs lie along one of the rows' dims, a step is a square of that dim and the columns,
// which is transposed in registers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CPU/TransposedReads.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERELEMENTWISE
#include "compiler/Codegen/CPU/Passes.h.inc"

/// Columns of a workgroup where all of the transposed loop is inside of them: each of its rows then
/// writes a whole page of memory, in one run.
static constexpr int64_t kSquareColumns = 1024;

namespace {

/// Results that are computed in the same loops.
struct Nest {
  SmallVector<Root> roots;
  SmallVector<OpFoldResult> sizes;
  SmallVector<LoopDim> rows;
  LoopDim columns;
  Spread spread;
  std::optional<TransposedReads> transposed;
  /// The row loop that `transposed` names. `rows` counts its squares, or where it is shorter than
  /// the columns, has no such loop: each square of columns meets all of it, and memory is read in
  /// runs.
  LoopDim square;
  bool isSquareInside = false;
};

/// Lowers one kernel function.
class ElementwiseLowering {
public:
  ElementwiseLowering(func::FuncOp kernel, ElementwiseAttr config, const Arch &arch)
      : kernel(kernel), config(config), arch(arch),
        builder(kernel.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  std::vector<Nest> formNests();
  LogicalResult planLoops(Nest &nest);
  Buffer getTarget(const Root &root);
  void emitNest(Nest &nest, AffineExpr totalX, AffineExpr totalY);
  void emitPoint(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets, ArrayRef<LaneIndex> point,
                 const Environment &environment, int64_t lanes);
  OpFoldResult planSquares(Nest &nest, Location loc);
  void emitSquares(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                   MutableArrayRef<LaneIndex> point, Range columns);
  void emitEdge(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                MutableArrayRef<LaneIndex> point, Range rows, Range columns);
  void emitSquare(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                  MutableArrayRef<LaneIndex> point, Value row, Value column);
  int64_t getRegisterLanes() { return arch.vectorBytes / getElementBytes(kernel); }

  func::FuncOp kernel;
  ElementwiseAttr config;
  const Arch &arch;
  OpBuilder builder;
};

} // namespace

std::vector<Nest> ElementwiseLowering::formNests() {
  std::vector<Nest> nests;
  for (const Root &root : collectRoots(kernel)) {
    SmallVector<OpFoldResult> sizes = getSizes(builder, root.update ? root.value : root.memory);
    auto nest = llvm::find_if(
        nests, [&](Nest &other) { return isEqualConstantIntOrValueArray(other.sizes, sizes); });
    if (nest == nests.end()) {
      nest = nests.emplace(nest);
      nest->sizes = sizes;
    }
    nest->roots.push_back(root);
  }
  return nests;
}

/// Takes the loop that is stepped through in squares out of the rows, and returns how many elements
/// each column of a row then has.
OpFoldResult ElementwiseLowering::planSquares(Nest &nest, Location loc) {
  auto row = nest.rows.begin() + nest.transposed->row;
  nest.square = *row;
  std::optional<int64_t> size = getConstantIntValue(row->size),
                         columns = getConstantIntValue(nest.columns.size);
  nest.isSquareInside = size && columns && *size < *columns;
  if (nest.isSquareInside) {
    nest.rows.erase(row);
    return nest.square.size;
  }
  AffineExpr squares = builder.getAffineSymbolExpr(0).ceilDiv(getRegisterLanes());
  row->size = affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(0, 1, squares),
                                                    {row->size});
  return builder.getIndexAttr(getRegisterLanes());
}

LogicalResult ElementwiseLowering::planLoops(Nest &nest) {
  unsigned rank = nest.sizes.size();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(builder.getAffineDimExpr(dim));
  std::vector<AccessSummary> summaries(1, AccessSummary(rank));
  for (const Root &root : nest.roots) {
    summarize(root.value, dims, {}, summaries[0]);
    // Rows of a box are not next to each other.
    if (root.update)
      summaries[0].readAsIndex.set();
  }
  Location loc = nest.roots[0].op.getLoc();
  SmallVector<LoopDim> loops =
      mergeDims(builder, loc, llvm::to_vector(llvm::seq(rank)), nest.sizes,
                findMergeableDims(builder, nest.sizes, /*boundary=*/rank, summaries));
  if (loops.empty())
    loops.push_back({{}, builder.getIndexAttr(1)}); // a result without dims
  nest.columns = loops.pop_back_val();
  nest.rows = std::move(loops);
  if (config.getLanes() != 1)
    nest.transposed =
        findTransposedReads(summaries[0], nest.rows, nest.columns, getRegisterLanes());
  OpFoldResult work = nest.transposed ? planSquares(nest, loc) : builder.getIndexAttr(1);
  FailureOr<Spread> result =
      spread(nest.roots[0].op, getProduct(builder, loc, nest.rows), nest.columns.size, work,
             nest.isSquareInside ? kSquareColumns : config.getChunk(), config.getTile(),
             std::max<int64_t>(config.getLanes(), 64));
  if (failed(result))
    return failure();
  nest.spread = *result;
  return success();
}

/// Where the tensor that `root` stores is in memory.
Buffer ElementwiseLowering::getTarget(const Root &root) {
  Buffer target{root.memory};
  kernel::UpdateOp update = root.update;
  if (!update)
    return target;
  Location loc = update.getLoc();
  Environment environment;
  PointEvaluator evaluator(builder, environment, /*lanes=*/1);
  SmallVector<OpFoldResult> sizes = getSizes(builder, root.memory),
                            box = getSizes(builder, root.value);
  for (auto [dim, start] : llvm::enumerate(update.getStarts())) {
    if (update.isWhole(dim)) {
      target.origins.push_back(Value());
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]);
    Value last = arith::SubIOp::create(builder, loc, size,
                                       getValueOrCreateConstantIndexOp(builder, loc, box[dim]));
    Value first = update.clampStart(builder, loc, dim, evaluator.evaluate(start, {}), last);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    target.origins.push_back(arith::SubIOp::create(builder, loc, zero, first));
  }
  return target;
}

void ElementwiseLowering::emitPoint(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                                    ArrayRef<LaneIndex> point, const Environment &environment,
                                    int64_t lanes) {
  PointEvaluator evaluator(b, environment, lanes);
  SmallVector<Value> values;
  // All loads before all stores: a result may be in the memory of an input.
  for (const Root &root : nest.roots)
    values.push_back(evaluator.evaluate(root.value, point));
  for (auto [root, value, target] : llvm::zip_equal(nest.roots, values, targets))
    evaluator.store(root.op.getLoc(), value, target, point);
}

/// The square that begins at |row| of the transposed loop and |column|.
void ElementwiseLowering::emitSquare(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                                     MutableArrayRef<LaneIndex> point, Value row, Value column) {
  Location loc = nest.roots[0].op.getLoc();
  int64_t lanes = getRegisterLanes();
  const LoopDim &rowLoop = nest.square;
  auto at = [&](Value base, int64_t offset) -> Value {
    return b.createOrFold<arith::AddIOp>(loc, base, arith::ConstantIndexOp::create(b, loc, offset));
  };
  rowLoop.setIndex(point, {row, 1});
  SmallVector<SmallVector<Value>> loaded;
  for (const Access &access : nest.transposed->accesses) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < lanes; ++i) {
      nest.columns.setIndex(point, {at(column, i)});
      Environment environment;
      PointEvaluator evaluator(b, environment, lanes);
      vectors.push_back(evaluator.evaluateAt(
          access.tensor, AffineMap::get(point.size(), 0, access.indices, b.getContext()), point));
    }
    loaded.push_back(transposeVectors(b, loc, vectors));
  }
  nest.columns.setIndex(point, {column, 1});
  for (int64_t i = 0; i < lanes; ++i) {
    Environment environment;
    for (auto [access, vectors] : llvm::zip_equal(nest.transposed->accesses, loaded))
      environment.values[access.tensor] = vectors[i];
    rowLoop.setIndex(point, {at(row, i)});
    emitPoint(b, nest, targets, point, environment, lanes);
  }
}

/// What is less than a square: loads of single elements.
void ElementwiseLowering::emitEdge(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                                   MutableArrayRef<LaneIndex> point, Range rows, Range columns) {
  Location loc = nest.roots[0].op.getLoc();
  emitLoop(b, loc, rows, 1, [&](OpBuilder &outer, Location, Value row) {
    nest.square.setIndex(point, {row});
    int64_t lanes = getRegisterLanes();
    emitLaneLoops(outer, loc, columns, getWidths(lanes, lanes, 1),
                  [&](OpBuilder &inner, Value column, int64_t count) {
                    nest.columns.setIndex(point, {column, count == 1 ? 0 : 1});
                    emitPoint(inner, nest, targets, point, Environment(), count);
                  });
  });
}

/// The columns of one row, or of one square of rows.
void ElementwiseLowering::emitSquares(OpBuilder &b, Nest &nest, ArrayRef<Buffer> targets,
                                      MutableArrayRef<LaneIndex> point, Range columns) {
  Location loc = nest.roots[0].op.getLoc();
  int64_t step = getRegisterLanes();
  Value lanes = arith::ConstantIndexOp::create(b, loc, step);
  auto getEnd = [&](OpBuilder &at, Value begin, Value end) -> Value {
    return at.createOrFold<arith::MinUIOp>(loc, arith::AddIOp::create(at, loc, begin, lanes), end);
  };
  Range rows{arith::ConstantIndexOp::create(b, loc, 0),
             getValueOrCreateConstantIndexOp(b, loc, nest.square.size)};
  if (!nest.isSquareInside) {
    rows.begin = arith::MulIOp::create(b, loc, point[nest.square.dims.back()].base, lanes);
    rows.end = getEnd(b, rows.begin, rows.end);
  }
  auto emitOne = [&](OpBuilder &inner, Range squareRows, Range squareColumns) {
    auto isWhole = [&](Range range) -> Value {
      Value length = arith::SubIOp::create(inner, loc, range.end, range.begin);
      return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, length, lanes);
    };
    Value whole = arith::AndIOp::create(inner, loc, isWhole(squareRows), isWhole(squareColumns));
    scf::IfOp::create(
        inner, loc, whole,
        [&](OpBuilder &branch, Location) {
          emitSquare(branch, nest, targets, point, squareRows.begin, squareColumns.begin);
          scf::YieldOp::create(branch, loc);
        },
        [&](OpBuilder &branch, Location) {
          emitEdge(branch, nest, targets, point, squareRows, squareColumns);
          scf::YieldOp::create(branch, loc);
        });
  };
  emitLoop(b, loc, columns, step, [&](OpBuilder &outer, Location, Value column) {
    Range squareColumns{column, getEnd(outer, column, columns.end)};
    emitLoop(outer, loc, rows, step, [&](OpBuilder &inner, Location, Value row) {
      emitOne(inner, {row, getEnd(inner, row, rows.end)}, squareColumns);
    });
  });
}

void ElementwiseLowering::emitNest(Nest &nest, AffineExpr totalX, AffineExpr totalY) {
  Location loc = nest.roots[0].op.getLoc();
  Range rows = nest.spread.getRows(builder, loc, totalX);
  Range columns = nest.spread.getColumns(builder, loc, totalY);
  SmallVector<LaneIndex> point(nest.sizes.size());
  SmallVector<int64_t> widths = getWidths(config.getLanes(), getRegisterLanes(), columns.divisor);
  Environment environment;
  SmallVector<Buffer> targets;
  for (const Root &root : nest.roots)
    targets.push_back(getTarget(root));
  emitLinearLoop(builder, loc, rows, nest.rows, point, [&](OpBuilder &rowBuilder) {
    if (nest.transposed)
      return emitSquares(rowBuilder, nest, targets, point, columns);
    emitLaneLoops(rowBuilder, loc, columns, widths,
                  [&](OpBuilder &inner, Value index, int64_t lanes) {
                    if (!nest.columns.dims.empty())
                      nest.columns.setIndex(point, {index, lanes == 1 ? 0 : 1});
                    emitPoint(inner, nest, targets, point, environment, lanes);
                  });
  });
}

LogicalResult ElementwiseLowering::run() {
  std::vector<Nest> nests = formNests();
  AffineExpr totalX = builder.getAffineConstantExpr(0), totalY = totalX;
  for (Nest &nest : nests) {
    if (failed(planLoops(nest)))
      return failure();
    totalX = totalX + nest.spread.gridX;
    totalY = totalY + nest.spread.gridY;
  }
  for (Nest &nest : nests)
    emitNest(nest, totalX, totalY);
  for (Nest &nest : nests)
    for (Root &root : nest.roots) {
      root.op.erase();
      // Nothing else makes loops of it.
      if (root.update)
        root.update.erase();
    }
  setLaunch(kernel, {totalX, totalY});
  return success();
}

namespace {

struct LowerElementwise final : impl::LowerElementwiseBase<LowerElementwise> {
  using LowerElementwiseBase::LowerElementwiseBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (auto config = dyn_cast_or_null<ElementwiseAttr>(kernel->getAttr(plan::kConfigAttr)))
        if (failed(verifyKernelFunction(kernel)) ||
            failed(ElementwiseLowering(kernel, config, *arch).run()))
          return signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
