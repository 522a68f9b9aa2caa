//===- ReduceRowsInParts.cpp - Reduce rows where a product computes them --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum or a maximum over each row of a matrix product, or over a function of its elements, reads
// the product from memory; often nothing else does. The pass gives such a reduction two steps:
//
//   %s = reduce(%y : [M, N]) : [M]   ->   %p = reduce(%y) : [M, ceil(N / 64)]
//                                         %s = reduce(%p) : [M]
//
// and marks the first one as `#plan.partial<columns, 64>`.
//
// The first step goes over the space of the product's results, element by element, and so joins
// their kernel: each warp reduces the columns of its rows that it holds. Parts are as long as
// whatever tile the kernel takes has in one warp, so that variants of a kernel agree in what they
// write. Their index is the quotient of the column: the last part of a row may be shorter.
//
// Left alone are products whose columns are reduced in parts, and what gains nothing: a reduction
// whose result meets the row again (softmax, a norm) is one kernel with what follows, which reads
// the row once in any case. Left alone, too, is what tensor cores do not compute, and what saves
// few bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/ProductFollowers.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_REDUCEROWSINPARTS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Columns of a part, of which every tile of products of 16-bit types has some in each warp, and of
/// products of others, whose tiles are read across lines.
static constexpr int64_t kHalfPart = 64, kOtherPart = 32;
/// Rows that a symbolic number of them is taken for.
static constexpr int64_t kManyRows = 4096;
/// How far behind a product its elements are looked for.
static constexpr unsigned kMostRowSteps = 16;

namespace {

/// A reduction of rows, and the product that computes them.
struct Candidate {
  linalg::GenericOp op;
  linalg::ContractOp product;
  SmallVector<Value> rows; // that the reduction reads, the product's results or what follows
  int64_t part;            // columns of one
};

} // namespace

/// The product whose elements `tensor` is computed of, each at its own place.
static linalg::ContractOp findProduct(Value tensor, llvm::SmallPtrSetImpl<Operation *> &seen,
                                      unsigned steps = 0) {
  if (auto product = tensor.getDefiningOp<linalg::ContractOp>())
    return product;
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (steps == kMostRowSteps || !isElementwise(op) || !seen.insert(op).second)
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isIdentity())
      if (linalg::ContractOp product = findProduct(input->get(), seen, steps + 1))
        return product;
  return nullptr;
}

/// True if all that `op` needs of a product is computed element by element, each at its own place;
/// `followers` are all that need it. A kernel of the product knows no whole rows:
/// the sum of a softmax, which needs their maximum, is none of its business.
static bool needsElementsOnly(linalg::GenericOp op, Operation *product,
                              const llvm::SetVector<Operation *> &followers,
                              llvm::SmallPtrSetImpl<Operation *> &seen) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    Operation *maker = input->get().getDefiningOp();
    if (!maker || (maker != product && !followers.contains(maker)))
      return true;
    if (!op.getMatchingIndexingMap(input).isIdentity())
      return false;
    auto generic = dyn_cast<linalg::GenericOp>(maker);
    return maker == product || !seen.insert(maker).second ||
           (isElementwise(generic) && needsElementsOnly(generic, product, followers, seen));
  });
}

/// Columns of the parts of the rows of `op`'s result; 0 if no tensor core computes them.
static int64_t getPartColumns(linalg::ContractOp op) {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  Type lhs = getElementTypeOrSelf(op.getDpsInputOperand(0)->get()),
       rhs = getElementTypeOrSelf(op.getDpsInputOperand(1)->get()),
       sum = getElementTypeOrSelf(op->getResult(0));
  if (!loops || lhs != rhs)
    return 0;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isLong = [&](unsigned loop) { return ranges[loop] != 1; };
  // A vector is reduced, not multiplied; and columns are those of one dim, the innermost.
  AffineMap written = op.getIndexingMapMatchingResult(op->getResult(0));
  auto innermost = dyn_cast<AffineDimExpr>(written.getResults().back());
  if (llvm::none_of(loops->m, isLong) || llvm::none_of(loops->n, isLong) || !innermost)
    return 0;
  ArrayRef<unsigned> columns =
      llvm::is_contained(loops->n, innermost.getPosition()) ? loops->n : loops->m;
  if (llvm::count_if(columns, isLong) != 1 || !llvm::is_contained(columns, innermost.getPosition()))
    return 0;
  if (lhs.isF16() || lhs.isBF16())
    return sum.isF32() ? kHalfPart : 0;
  if (lhs.isF32())
    return sum.isF32() && op->hasAttr(plan::kAllowTF32Attr) ? kOtherPart : 0;
  return lhs.isSignlessInteger(8) && sum.isInteger(32) ? kOtherPart : 0;
}

/// The sizes of a tensor that a reduction starts from; nothing if it is no fill of an empty one.
static std::optional<SmallVector<OpFoldResult>> getInitSizes(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  auto empty = fill ? fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>() : nullptr;
  return empty ? std::optional(empty.getMixedSizes()) : std::nullopt;
}

/// True if `op` reduces its last loop, of known length, to one number for each row.
static bool reducesRows(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 || op.getNumDpsInits() != 1 ||
      op->hasAttr(plan::kPartialAttr) ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      ShapedType::isDynamic(op.getStaticLoopRanges().back()))
    return false;
  AffineMap rows = AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext());
  bool gathers = false;
  op.getBlock()->walk([&](tensor::ExtractOp) { gathers = true; });
  return !gathers && op.getNumLoops() > 1 &&
         op.getIndexingMapMatchingResult(op->getResult(0)) ==
             rows.dropResult(op.getNumLoops() - 1) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         getInitSizes(op.getDpsInits().front());
}

static std::optional<Candidate> matchCandidate(linalg::GenericOp op) {
  if (!reducesRows(op))
    return std::nullopt;
  FailureOr<Combiner> combiner = Combiner::match(op);
  if (failed(combiner) || combiner->isGiven() || combiner->startsFromInit())
    return std::nullopt;
  Candidate candidate{op, nullptr, {}, 0};
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(input).isIdentity())
      continue;
    llvm::SmallPtrSet<Operation *, 8> seen;
    linalg::ContractOp product = findProduct(input->get(), seen);
    if (!product)
      continue;
    candidate.product = product;
    candidate.rows.push_back(input->get());
  }
  if (!candidate.product)
    return std::nullopt;
  llvm::SetVector<Operation *> followers;
  collectFollowers(candidate.product, followers);
  // Few tiles have parts of both rows and columns, and on mma.sync they have no registers to spare.
  if (llvm::any_of(followers, [](Operation *follower) {
        auto linalgOp = dyn_cast<linalg::LinalgOp>(follower);
        return linalgOp && plan::getColumnPart(linalgOp);
      }))
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 8> seen;
  if (!needsElementsOnly(op, candidate.product, followers, seen))
    return std::nullopt;
  candidate.part = getPartColumns(candidate.product);
  if (candidate.part == 0 || op.getStaticLoopRanges().back() < 2 * candidate.part)
    return std::nullopt;
  return candidate;
}

/// True if the result of `op` meets its rows again: one kernel does both then.
static bool feedsRows(linalg::GenericOp op) {
  llvm::SetVector<Operation *> followers;
  collectFollowers(op, followers);
  return llvm::any_of(followers, [&](Operation *follower) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(follower);
    return linalgOp && linalgOp.getNumLoops() >= op.getNumLoops() &&
           linalgOp.getStaticLoopRanges().back() == op.getStaticLoopRanges().back();
  });
}

namespace {

/// What is computed, element by element, of the result of a product.
class ProductRows {
public:
  ProductRows(linalg::ContractOp product, ArrayRef<Operation *> reductions)
      : reductions(reductions) {
    visit(product->getResult(0));
  }

  /// True if they must be in memory, whatever becomes of the reductions.
  bool areStored() const { return stored; }

private:
  void visit(Value tensor) {
    for (OpOperand &use : tensor.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::DimOp>(user) || llvm::is_contained(reductions, user))
        continue;
      auto op = dyn_cast<linalg::GenericOp>(user);
      bool follows =
          isElementwise(op) && op.isDpsInput(&use) && op.getMatchingIndexingMap(&use).isIdentity();
      if (!follows) {
        stored = true;
        return;
      }
      visit(op->getResult(0));
    }
  }

  ArrayRef<Operation *> reductions;
  bool stored = false;
};

struct ReduceRowsInParts final : impl::ReduceRowsInPartsBase<ReduceRowsInParts> {
  using ReduceRowsInPartsBase::ReduceRowsInPartsBase;

  void runOnOperation() override {
    const Target *target = findTarget(getOperation());
    if (!target || !target->hasMMA16816)
      return;
    SmallVector<Candidate> candidates;
    for (auto op : getOperation().getOps<linalg::GenericOp>())
      if (std::optional<Candidate> candidate = matchCandidate(op))
        if (!feedsRows(op))
          candidates.push_back(*candidate);
    // All are judged before the first one is replaced.
    SmallVector<std::string> notes;
    for (const Candidate &candidate : candidates)
      notes.push_back(judge(candidate, candidates));
    for (auto [candidate, note] : llvm::zip_equal(candidates, notes))
      if (!note.empty())
        split(candidate, note);
  }

  std::string judge(const Candidate &candidate, ArrayRef<Candidate> candidates);
  void split(const Candidate &candidate, StringRef note);
};

} // namespace

/// Why the reduction gets two steps; empty, with a note at the op, if it does not.
std::string ReduceRowsInParts::judge(const Candidate &candidate, ArrayRef<Candidate> candidates) {
  linalg::GenericOp op = candidate.op;
  SmallVector<Operation *> reductions;
  for (const Candidate &other : candidates)
    if (other.product == candidate.product)
      reductions.push_back(other.op);
  bool stored = ProductRows(candidate.product, reductions).areStored();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t rows = 1, columns = ranges.back();
  for (int64_t range : ArrayRef(ranges).drop_back())
    rows = array::multiplyKnown({rows, ShapedType::isDynamic(range) ? kManyRows : range});
  int64_t rowBytes = 0;
  for (Value tensor : candidate.rows)
    rowBytes += columns * getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() / 8;
  int64_t partBytes = llvm::divideCeil(columns, candidate.part) *
                      getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth() / 8;
  int64_t saved = rows * ((stored ? 1 : 2) * rowBytes - 2 * partBytes);
  if (saved < fewestBytes) {
    op->setAttr(plan::kNoteAttr,
                StringAttr::get(op.getContext(),
                                llvm::formatv("not reduced by the product that computes the rows, "
                                              "which would save {0} bytes, less than {1}",
                                              saved, fewestBytes.getValue())
                                    .str()));
    return {};
  }
  return llvm::formatv(
      "reduces its rows in parts of {0} columns, so that {1} bytes are not {2}read "
      "again",
      candidate.part, saved, stored ? "" : "written and ");
}

/// A reduction like `op` to `init`, whose elements the loops have at `written`.
static linalg::GenericOp makeReduction(OpBuilder &builder, linalg::GenericOp op, Value init,
                                       AffineMap written) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = written;
  auto result = linalg::GenericOp::create(builder, op.getLoc(), init.getType(), op.getInputs(),
                                          init, maps, op.getIteratorTypesArray());
  builder.cloneRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().begin());
  return result;
}

void ReduceRowsInParts::split(const Candidate &candidate, StringRef note) {
  linalg::GenericOp op = candidate.op;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Combiner combiner = *Combiner::match(op);
  unsigned loops = op.getNumLoops();
  AffineMap rows = builder.getMultiDimIdentityMap(loops).dropResult(loops - 1);
  AffineExpr column = builder.getAffineDimExpr(loops - 1);

  SmallVector<OpFoldResult> sizes = *getInitSizes(op.getDpsInits().front());
  sizes.push_back(
      builder.getIndexAttr(llvm::divideCeil(op.getStaticLoopRanges().back(), candidate.part)));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, getElementTypeOrSelf(op->getResult(0)));
  Value neutral = arith::ConstantOp::create(builder, loc, combiner.getNeutral(0));
  Value start = linalg::FillOp::create(builder, loc, neutral, empty).getResult(0);
  linalg::GenericOp parts = makeReduction(
      builder, op, start, rows.insertResult(column.floorDiv(candidate.part), rows.getNumResults()));
  parts->setAttr(plan::kPartialAttr,
                 plan::PartialAttr::get(op.getContext(), plan::Split::Columns, candidate.part));
  parts->setAttr(plan::kNoteAttr, builder.getStringAttr(note));

  auto last = linalg::GenericOp::create(
      builder, loc, op.getResultTypes(), parts->getResult(0), op.getDpsInits().front(),
      ArrayRef{builder.getMultiDimIdentityMap(loops), rows}, op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
        linalg::YieldOp::create(
            body, bodyLoc, combineInOrder(body, bodyLoc, combiner, arguments[1], arguments[0]));
      });
  op->replaceAllUsesWith(last);
  op->erase();
}

} // namespace xc::cuda
