//===- RepeatRowSums.cpp - Norms in the kernels of products ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The norm of one token is a sum over a short vector, a number made of it, and an elementwise op of
// both, which a product with a matrix reads:
//
//   %s = reduce(%x) : [] {k}                       %s = reduce(%x) : [J] {j, k}
//   %r = rsqrt(%s) : []                     ->     %r = rsqrt(%s) : [J]
//   %y = %x * %r : [K]                             %p = reduce(%x * %r[j] * %w[j, k]) : [J] {j, k}
//   %p = reduce(%y * %w[j, k]) : [J] {j, k}
//
// Each row of the product then has a sum of its own, all of them equal, in the same order: rows are
// reduced in one kernel, which reads the vector once for both. That is two operations for each
// element of the matrix, beside its load from memory, and one launch less, in which one block works
// and all others wait.
//
// Left alone are long vectors, which would be read from the L2 cache for each row of a matrix that
// has no more elements in it, and large matrices, beside which a launch is nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/RepeatRowSums.h"
#include "compiler/Dispatch/BodyCost.h"
#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc::plan {

/// Elements of a vector that several rows of a block read from the cache beside them, and of all
/// matrices that read it.
static constexpr int64_t kMostVector = 2048, kFewestElements = 1 << 18, kMostElements = 1 << 23;

namespace {

/// A norm of one vector and the products that read it.
struct Norm {
  linalg::GenericOp sum, scaling;
  SmallVector<linalg::GenericOp> steps; // from the sum to the number that scales, in order
  SmallVector<linalg::GenericOp> products;
  int64_t rows = 0;
};

} // namespace

static bool usesIndices(linalg::GenericOp op) {
  return op.getBlock()
      ->walk([](linalg::IndexOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether the op has one result, and a body of its operands alone.
static bool isPlain(linalg::GenericOp op) {
  return op && op.getNumResults() == 1 && !usesIndices(op);
}

/// Whether it sums up, or combines otherwise, a vector to one number.
static bool isVectorSum(linalg::GenericOp op) {
  return isPlain(op) && op.getNumLoops() == 1 && op.getNumReductionLoops() == 1 &&
         op.getDpsInits()[0].getDefiningOp<linalg::FillOp>() &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return op.getMatchingIndexingMap(operand).isIdentity();
         });
}

/// Finds the sum that the number `value` is made of.
static bool matchNumber(Value value, Norm &norm) {
  while (auto op = value.getDefiningOp<linalg::GenericOp>()) {
    if (!value.hasOneUse())
      return false;
    if (isVectorSum(op)) {
      norm.sum = op;
      std::reverse(norm.steps.begin(), norm.steps.end());
      return true;
    }
    if (!isPlain(op) || op.getNumLoops() != 0 || op.getNumDpsInputs() != 1)
      return false;
    norm.steps.push_back(op);
    value = op.getDpsInputs()[0];
  }
  return false;
}

/// Whether `use` is that of a vector by a product with a matrix: of the loops one is summed up.
static bool isProductUse(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!isPlain(op) || !op.isDpsInput(&use) || op.getNumLoops() != 2 ||
      op.getNumReductionLoops() != 1)
    return false;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  AffineMap read = op.getMatchingIndexingMap(&use), written = op.getIndexingMapsArray().back();
  return read.getNumResults() == 1 && read.isFunctionOfDim(reduced[0]) &&
         isa<AffineDimExpr>(read.getResult(0)) && written.getNumResults() == 1 &&
         isa<AffineDimExpr>(written.getResult(0)) &&
         llvm::count_if(op->getOpOperands(),
                        [&](OpOperand &other) { return other.get() == use.get(); }) == 1;
}

/// Collects the products that read the norm, and says whether they gain by computing it.
static bool matchProducts(Norm &norm) {
  int64_t elements = 0;
  for (OpOperand &use : norm.scaling.getResult(0).getUses()) {
    if (!isProductUse(use))
      return false;
    auto product = cast<linalg::GenericOp>(use.getOwner());
    SmallVector<int64_t> ranges = product.getStaticLoopRanges();
    int64_t rows = cast<RankedTensorType>(product.getResult(0).getType()).getDimSize(0);
    if (llvm::any_of(ranges, ShapedType::isDynamic) || (norm.rows && norm.rows != rows) ||
        product->getBlock() != norm.sum->getBlock() ||
        getBodyCost(product) + getBodyCost(norm.scaling) > kMaxFusedCost)
      return false;
    norm.rows = rows;
    elements += ranges[0] * ranges[1]; // in range: they are of a tensor's elements
    norm.products.push_back(product);
  }
  return elements >= kFewestElements && elements <= kMostElements;
}

static std::optional<Norm> matchNorm(linalg::GenericOp scaling) {
  if (!isPlain(scaling) || scaling.getNumLoops() != 1 || scaling.getNumReductionLoops() != 0 ||
      !scaling.getIndexingMapsArray().back().isIdentity() ||
      !scaling.getBlock()->getArguments().back().use_empty())
    return std::nullopt;
  int64_t length = scaling.getStaticLoopRanges()[0];
  if (ShapedType::isDynamic(length) || length > kMostVector)
    return std::nullopt;
  Norm norm;
  norm.scaling = scaling;
  for (OpOperand *operand : scaling.getDpsInputOperands()) {
    AffineMap map = scaling.getMatchingIndexingMap(operand);
    if (map.getNumResults() > 0 ? !map.isIdentity() : static_cast<bool>(norm.sum))
      return std::nullopt;
    bool isNumber = map.getNumResults() == 0 && isa<RankedTensorType>(operand->get().getType());
    if (isNumber && !matchNumber(operand->get(), norm))
      return std::nullopt;
  }
  bool isOfItsLength = norm.sum && norm.sum.getStaticLoopRanges()[0] == length;
  return isOfItsLength && matchProducts(norm) ? std::optional(norm) : std::nullopt;
}

/// `op`, of no parallel loop, with one for each of `rows`; numbers that it reads are `number`.
static Value repeat(OpBuilder &builder, linalg::GenericOp op, int64_t rows, Value number) {
  MLIRContext *context = op.getContext();
  unsigned loops = op.getNumLoops() + 1;
  AffineMap row = AffineMap::get(loops, 0, getAffineDimExpr(0, context));
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    bool isNumber = op.getMatchingIndexingMap(operand).getNumResults() == 0;
    inputs.push_back(isNumber ? number : operand->get());
    maps.push_back(isNumber ? row : AffineMap::get(loops, 0, getAffineDimExpr(1, context)));
  }
  maps.push_back(row);
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  Value init = tensor::EmptyOp::create(builder, op.getLoc(), {rows}, element);
  if (auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    init = linalg::FillOp::create(builder, op.getLoc(), fill.getInputs()[0], init).getResult(0);
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel};
  llvm::append_range(iterators, op.getIteratorTypesArray());
  auto repeated = linalg::GenericOp::create(builder, op.getLoc(), init.getType(), inputs, init,
                                            maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&repeated.getRegion(), mapping);
  return repeated.getResult(0);
}

/// The product with the norm in its body.
static void absorb(OpBuilder &builder, linalg::GenericOp product, linalg::GenericOp scaling,
                   Value number) {
  Location loc = builder.getFusedLoc({scaling.getLoc(), product.getLoc()});
  AffineMap row = product.getIndexingMapsArray().back();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : product.getDpsInputOperands()) {
    AffineMap map = product.getMatchingIndexingMap(operand);
    if (operand->get() != scaling.getResult(0)) {
      inputs.push_back(operand->get());
      maps.push_back(map);
      continue;
    }
    for (OpOperand *own : scaling.getDpsInputOperands()) {
      bool isNumber = scaling.getMatchingIndexingMap(own).getNumResults() == 0;
      inputs.push_back(isNumber ? number : own->get());
      maps.push_back(isNumber ? row : map);
    }
  }
  maps.push_back(row);
  auto build = [&](OpBuilder &b, Location, ValueRange arguments) {
    IRMapping mapping;
    size_t next = 0;
    for (OpOperand *operand : product.getDpsInputOperands()) {
      Value own = product.getMatchingBlockArgument(operand);
      if (operand->get() != scaling.getResult(0)) {
        mapping.map(own, arguments[next++]);
        continue;
      }
      IRMapping inner;
      for (OpOperand *given : scaling.getDpsInputOperands())
        inner.map(scaling.getMatchingBlockArgument(given), arguments[next++]);
      for (Operation &op : scaling.getBlock()->without_terminator())
        b.clone(op, inner);
      mapping.map(own, inner.lookupOrDefault(scaling.getBlock()->getTerminator()->getOperand(0)));
    }
    mapping.map(product.getBlock()->getArguments().back(), arguments.back());
    for (Operation &op : *product.getBlock())
      b.clone(op, mapping);
  };
  auto whole = linalg::GenericOp::create(builder, loc, product.getResultTypes(), inputs,
                                         product.getDpsInits(), maps,
                                         product.getIteratorTypesArray(), build);
  whole->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  product->replaceAllUsesWith(whole->getResults());
  product->erase();
}

void repeatRowSums(func::FuncOp function) {
  if (!getDispatchTarget(function).joinsReductions())
    return;
  SmallVector<Norm> norms;
  for (auto op : function.getOps<linalg::GenericOp>())
    if (std::optional<Norm> norm = matchNorm(op))
      norms.push_back(std::move(*norm));
  for (Norm &norm : norms) {
    OpBuilder builder(norm.scaling);
    Value number = repeat(builder, norm.sum, norm.rows, Value());
    for (linalg::GenericOp step : norm.steps)
      number = repeat(builder, step, norm.rows, number);
    for (linalg::GenericOp product : norm.products) {
      builder.setInsertionPoint(product);
      absorb(builder, product, norm.scaling, number);
    }
    norm.scaling->erase();
    for (linalg::GenericOp step : llvm::reverse(norm.steps))
      step->erase();
    norm.sum->erase();
  }
}

} // namespace xc::plan
