//===- ReductionAccumulators.cpp - What lanes sum up in -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/ReductionLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {

Value splat(OpBuilder &builder, Location loc, TypedAttr element, int64_t lanes) {
  if (lanes == 1)
    return arith::ConstantOp::create(builder, loc, element);
  auto type = VectorType::get({lanes}, element.getType());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
}

TypedAttr getStart(Operation *combiner) {
  TypedAttr neutral = *arith::getNeutralElement(combiner);
  auto type = dyn_cast<FloatType>(neutral.getType());
  if (isa<arith::AddFOp>(combiner))
    return FloatAttr::get(type, -0.0);
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner);
  if (!isMax && !isa<arith::MinimumFOp, arith::MinNumFOp>(combiner))
    return neutral;
  return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/isMax));
}

Value combine(OpBuilder &builder, Operation *combiner, Value lhs, Value rhs) {
  OperationState state(combiner->getLoc(), combiner->getName(), {lhs, rhs}, {lhs.getType()},
                       combiner->getAttrs());
  return builder.create(state)->getResult(0);
}

/// Folds a vector to |lanes| lanes (1: a scalar) by combining its halves.
static Value fold(OpBuilder &builder, Operation *combiner, Value vector, int64_t lanes) {
  Location loc = combiner->getLoc();
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  for (; width > lanes; width /= 2) {
    if (width == 1)
      break;
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width / 2));
    SmallVector<int64_t> high = llvm::to_vector(llvm::seq<int64_t>(width / 2, width));
    vector =
        combine(builder, combiner, vector::ShuffleOp::create(builder, loc, vector, vector, low),
                vector::ShuffleOp::create(builder, loc, vector, vector, high));
  }
  return lanes == 1 ? Value(vector::ExtractOp::create(builder, loc, vector, 0)) : vector;
}

/// What the accumulators start with: the narrowest ones with what the kernel says, the others with
/// a neutral element.
Accumulators ReductionLowering::initialize(OpBuilder &builder, StepNest &nest,
                                           ArrayRef<LaneIndex> kept, ArrayRef<int64_t> widths,
                                           const Environment &environment) {
  Accumulators result(widths.size());
  PointEvaluator evaluator(builder, environment, byColumns ? widths.back() : 1);
  for (Step *step : nest.steps) {
    if (!step->reduction)
      continue;
    for (auto [index, init] : llvm::enumerate(step->reduction.getDpsInits())) {
      Location loc = step->reduction.getLoc();
      // The indices of a reduction's result are the kept point.
      Value start = evaluator.evaluate(init, kept);
      if (byColumns) {
        result[0].push_back(evaluator.toLanes(loc, start));
        continue;
      }
      for (auto [list, width] : llvm::zip(result, widths))
        list.push_back(width == 1 ? start
                                  : splat(builder, loc,
                                          getStart(step->combiner->getCombiningOp(index)), width));
    }
  }
  return result;
}

/// Folds the accumulators of all widths into one value for each result.
void ReductionLowering::finish(OpBuilder &builder, StepNest &nest, ArrayRef<LaneIndex> kept,
                               ArrayRef<int64_t> widths, Accumulators &accumulators,
                               Environment &environment) {
  unsigned next = 0;
  for (Step *step : nest.steps) {
    if (!step->reduction)
      continue;
    for (auto [index, result] : llvm::enumerate(step->reduction->getResults())) {
      Value value = accumulators[0][next];
      Operation *combiner = step->isOrdered() ? nullptr : step->combiner->getCombiningOp(index);
      for (size_t i = 1; i < widths.size(); ++i)
        value = combine(builder, combiner, accumulators[i][next],
                        fold(builder, combiner, value, widths[i]));
      if (!byColumns && widths.back() != 1) {
        Value start = PointEvaluator(builder, environment, 1)
                          .evaluate(step->reduction.getDpsInits()[index], kept);
        value = combine(builder, combiner, start, fold(builder, combiner, value, 1));
      }
      environment.values[result] = value;
      ++next;
    }
  }
}

SmallVector<Operation *> getPartCombiners(const StepNest &nest) {
  SmallVector<Operation *> combiners;
  for (Step *step : nest.steps) {
    if (!step->reduction)
      continue;
    if (step->isOrdered())
      return {};
    for (unsigned index = 0; index < step->reduction->getNumResults(); ++index)
      combiners.push_back(step->combiner->getCombiningOp(index));
  }
  bool rounds = llvm::any_of(combiners, llvm::IsaPred<arith::AddFOp, arith::MulFOp>);
  return rounds ? combiners : SmallVector<Operation *>();
}

} // namespace xc::cpu
