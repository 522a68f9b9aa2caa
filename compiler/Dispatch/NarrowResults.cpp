//===- NarrowResults.cpp - Store what is widened before it is widened -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion puts the conversion that a reader begins with into the op that makes the tensor, where
// that one has no other reader. What lies between their kernels would then be wide. This pass moves
// such conversions, which are exact, back to the readers.
//
// The other way round, an op that reads two products shares a kernel with the later one. What it
// rounds first of the other one's sums is rounded where those are computed. So it is with what a
// reduction rounds first of a product's sums, and with sums over windows whose reader has a kernel
// of its own, since it stores them in another order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Passes.h"

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::plan {
#define GEN_PASS_DEF_NARROWRESULTS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// The conversion that ends the body of a generic of one result, if all that reads the result can
/// begin with it instead.
static arith::ExtFOp getLastConversion(linalg::GenericOp op) {
  if (op.getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !isa<RankedTensorType>(op.getResult(0).getType()) ||
      !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
      !op.getBlock()->getArguments().back().use_empty())
    return nullptr;
  auto widened = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
  if (!widened || widened->getBlock() != op.getBlock() ||
      !isa<FloatType>(widened.getIn().getType()) || op.getResult(0).use_empty())
    return nullptr;
  // An op that only converts is where its reader has it: it would become a copy.
  if (isa<BlockArgument>(widened.getIn()))
    return nullptr;
  bool canConvert = llvm::all_of(op.getResult(0).getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    return reader && reader.isDpsInput(&use);
  });
  return canConvert ? widened : nullptr;
}

/// Makes `reader`, which reads `use` as it was, convert what it reads now.
static void convertAtStart(OpBuilder &builder, linalg::GenericOp reader, OpOperand &use,
                           Type narrow) {
  BlockArgument argument = reader.getMatchingBlockArgument(&use);
  Type wide = argument.getType();
  argument.setType(narrow);
  if (argument.use_empty())
    return;
  builder.setInsertionPointToStart(reader.getBlock());
  auto converted = arith::ExtFOp::create(builder, reader.getLoc(), wide, argument);
  argument.replaceAllUsesExcept(converted, converted);
}

static void narrowResult(linalg::GenericOp op, arith::ExtFOp widened) {
  OpBuilder builder(op);
  Type narrow = widened.getIn().getType();
  auto empty = tensor::EmptyOp::create(
      builder, op.getLoc(), tensor::getMixedSizes(builder, op.getLoc(), op.getDpsInits()[0]),
      narrow);
  op.getDpsInitsMutable()[0].set(empty);
  op.getBlock()->getArguments().back().setType(narrow);
  op.getBlock()->getTerminator()->setOperand(0, widened.getIn());
  if (widened.use_empty())
    widened.erase();
  op.getResult(0).setType(empty.getType());
  for (OpOperand &use : op.getResult(0).getUses())
    convertAtStart(builder, cast<linalg::GenericOp>(use.getOwner()), use, narrow);
}

static bool isProduct(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  std::optional<ProductLoops> loops = linalgOp ? matchProduct(linalgOp) : std::nullopt;
  return loops && !loops->m.empty() && !loops->n.empty();
}

/// Whether `reader` shares a kernel with a product behind `product`.
static bool belongsToAnother(linalg::GenericOp reader, Operation *product) {
  return llvm::any_of(reader.getDpsInputs(), [&](Value input) {
    Operation *other = input.getDefiningOp();
    return isProduct(other) && other->getBlock() == product->getBlock() &&
           product->isBeforeInBlock(other);
  });
}

/// Whether `reader` stores what the kernel of `windows` cannot, so that it has a kernel of its own.
static bool storesTransposed(linalg::GenericOp reader, linalg::LinalgOp windows) {
  return isWindowReduction(windows) && changesInnermostDim(reader) &&
         !getDispatchTarget(windows).storesTransposed(windows);
}

/// Whether `reader` has another kernel than `product`, whose sums it reads.
static bool hasOtherKernel(linalg::GenericOp reader, linalg::LinalgOp product) {
  return reader.getNumReductionLoops() > 0 || belongsToAnother(reader, product) ||
         storesTransposed(reader, product);
}

/// The type that all readers of the sums of `product` round them to, in other kernels; null if
/// there is none.
static Type getRoundedType(linalg::LinalgOp product) {
  if ((!isProduct(product) && !isWindowReduction(product)) || product->getNumResults() != 1 ||
      product->getResult(0).use_empty())
    return nullptr;
  Type rounded;
  for (OpOperand &use : product->getResult(0).getUses()) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !reader.isDpsInput(&use) || !hasOtherKernel(reader, product) ||
        reader.getMatchingBlockArgument(&use).use_empty())
      return nullptr;
    for (Operation *user : reader.getMatchingBlockArgument(&use).getUsers()) {
      auto rounding = dyn_cast<arith::TruncFOp>(user);
      if (!rounding || (rounded && rounded != rounding.getType()))
        return nullptr;
      rounded = rounding.getType();
    }
  }
  return rounded;
}

static void roundResult(Operation *product, Type rounded) {
  OpBuilder builder(product->getContext());
  builder.setInsertionPointAfter(product);
  Location loc = product->getLoc();
  Value sums = product->getResult(0);
  auto empty =
      tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, sums), rounded);
  int64_t rank = empty.getType().getRank();
  AffineMap map = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto rounding = linalg::GenericOp::create(
      builder, loc, empty.getType(), sums, empty.getResult(), ArrayRef{map, map}, iterators,
      [&](OpBuilder &b, Location inner, ValueRange arguments) {
        Value value = arith::TruncFOp::create(b, inner, rounded, arguments[0]);
        linalg::YieldOp::create(b, inner, value);
      });
  for (OpOperand &use : llvm::make_early_inc_range(sums.getUses())) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || reader == rounding)
      continue;
    BlockArgument argument = reader.getMatchingBlockArgument(&use);
    argument.setType(rounded);
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      user->getResult(0).replaceAllUsesWith(argument);
      user->erase();
    }
    use.set(rounding.getResult(0));
  }
}

namespace {

struct NarrowResults final : impl::NarrowResultsBase<NarrowResults> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (arith::ExtFOp widened = getLastConversion(op))
        narrowResult(op, widened);
    SmallVector<linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) { products.push_back(op); });
    for (linalg::LinalgOp product : products)
      if (Type rounded = getRoundedType(product))
        roundResult(product, rounded);
  }
};

} // namespace

} // namespace xc::plan
