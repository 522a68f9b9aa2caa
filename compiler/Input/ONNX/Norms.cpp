//===- Norms.cpp - ONNX's normalisations ----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Norms.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, rank));
}

/// Whether `vector` has the shape of the dims of `x` from `axis` on.
static bool hasShapeFrom(NodeImport &n, Value vector, Value x, int64_t axis) {
  return n.shapeOf(vector) ==
         SmallVector<int64_t>(ArrayRef<int64_t>(n.shapeOf(x)).drop_front(axis));
}

Value normalizeLayer(NodeImport &n, Value x, Value scale, Value bias, int64_t axis,
                     double epsilon) {
  // Factors that broadcast are applied behind.
  bool fits =
      (!scale || hasShapeFrom(n, scale, x, axis)) && (!bias || hasShapeFrom(n, bias, x, axis));
  if (!x || n.hasFailed())
    return {};
  if (fits)
    return n.makeOptional<LayerNormOp>(x, scale, bias, uint64_t(axis), llvm::APFloat(epsilon));
  Value y =
      n.makeOptional<LayerNormOp>(x, Value(), Value(), uint64_t(axis), llvm::APFloat(epsilon));
  if (scale)
    y = n.mul(y, scale);
  return bias ? n.add(y, bias) : y;
}

std::pair<Value, Value> getMoments(NodeImport &n, Value x, int64_t axis, double epsilon) {
  SmallVector<int64_t> axes = axesFrom(axis, n.rankOf(x));
  Value wide = n.widen(x);
  Value mean = n.make<MeanOp>(wide, ArrayRef<int64_t>(axes), /*keepdims=*/true);
  Value variance = n.make<VarOp>(wide, ArrayRef<int64_t>(axes), /*keepdims=*/true,
                                 /*correction=*/uint64_t(0));
  Value deviation = n.make<RsqrtOp>(n.add(variance, n.scalar(epsilon, variance)));
  return {mean, deviation};
}

static Results importLayerNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), bias = n.has(2) ? n.input(2) : Value();
  int64_t axis = n.axis("axis", -1, n.rankOf(x));
  double epsilon = n.number("epsilon", 1e-5);
  if (n.hasFailed())
    return {};
  Results results{normalizeLayer(n, x, scale, bias, axis, epsilon)};
  if (n.wants(1) || n.wants(2)) {
    auto [mean, deviation] = getMoments(n, x, axis, epsilon);
    results.push_back(mean);
    results.push_back(deviation);
  }
  return results;
}

static Results importRMSNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1);
  int64_t axis = n.axis("axis", -1, n.rankOf(x));
  llvm::APFloat epsilon(n.number("epsilon", 1e-5));
  if (n.hasFailed())
    return {};
  if (hasShapeFrom(n, scale, x, axis))
    return {n.makeOptional<RmsNormOp>(x, scale, uint64_t(axis), epsilon)};
  return {n.mul(n.makeOptional<RmsNormOp>(x, Value(), uint64_t(axis), epsilon), scale)};
}

static Results importBatchNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), bias = n.input(2), mean = n.input(3),
        variance = n.input(4);
  llvm::APFloat epsilon(n.number("epsilon", 1e-5));
  if (n.hasFailed() || n.rankOf(x) < 2)
    return n.error("expected an input of rank 2 or more");
  bool isTraining = n.version >= 14 ? n.integer("training_mode", 0) != 0 : n.wants(1);
  Type element = n.elementOf(x);
  // Statistics may be wider than the input.
  auto narrow = [&](Value value) { return n.convert(value, element); };
  if (!isTraining)
    return {n.make<BatchNormInferenceOp>(x, narrow(scale), narrow(bias), narrow(mean),
                                         narrow(variance), uint64_t(1), epsilon)};
  SmallVector<int64_t> axes = axesFrom(0, n.rankOf(x));
  axes.erase(axes.begin() + 1);
  Value wide = n.convert(n.widen(x), n.elementOf(n.widen(x)));
  Value batchMean = n.make<MeanOp>(wide, ArrayRef<int64_t>(axes), /*keepdims=*/false);
  Value batchVariance = n.make<VarOp>(wide, ArrayRef<int64_t>(axes), /*keepdims=*/false,
                                      /*correction=*/uint64_t(0));
  Value result = n.make<BatchNormInferenceOp>(x, narrow(scale), narrow(bias), narrow(batchMean),
                                              narrow(batchVariance), uint64_t(1), epsilon);
  double momentum = n.number("momentum", 0.9);
  auto update = [&](Value running, Value batch) {
    batch = n.convert(batch, n.elementOf(running));
    return n.add(n.mul(running, n.scalar(momentum, running)),
                 n.mul(batch, n.scalar(1 - momentum, running)));
  };
  return {result, update(mean, batchMean), update(variance, batchVariance)};
}

static Results importInstanceNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), bias = n.input(2);
  int64_t features = n.dimOf(x, 1);
  if (n.rankOf(x) < 2 || ShapedType::isDynamic(features))
    return n.error("expected features of static number");
  return {n.make<GroupNormOp>(x, scale, bias, uint64_t(1), uint64_t(features),
                              llvm::APFloat(n.number("epsilon", 1e-5)))};
}

static Results importGroupNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), bias = n.input(2);
  int64_t groups = n.integer("num_groups", 0), features = n.dimOf(x, 1);
  if (groups < 1 || n.rankOf(x) < 2 || ShapedType::isDynamic(features) || features % groups != 0)
    return n.error("expected features of static number, a multiple of num_groups");
  auto spread = [&](Value vector) {
    // Before version 21 there was one number for each group.
    if (n.version >= 21 || n.dimOf(vector, 0) == features)
      return vector;
    return n.make<RepeatOp>(vector, uint64_t(features / groups), uint64_t(0));
  };
  return {n.make<GroupNormOp>(x, spread(scale), spread(bias), uint64_t(1), uint64_t(groups),
                              llvm::APFloat(n.number("epsilon", 1e-5)))};
}

/// Local response normalisation: over neighbouring features.
static Results importLRN(NodeImport &n) {
  Value x = n.input(0);
  int64_t size = n.integer("size", 0), rank = n.rankOf(x);
  double alpha = n.number("alpha", 1e-4), beta = n.number("beta", 0.75), bias = n.number("bias", 1);
  if (size < 1 || rank < 2)
    return n.error("expected a size, and rank 2 or more");
  OpBuilder &b = n.getBuilder();
  SmallVector<int64_t> window(rank, 1), low(rank, 0), high(rank, 0);
  window[1] = size;
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  Value squares = n.make<SquareOp>(x);
  Value sum = n.make<ReduceWindowOp>(ReduceKind::Sum, squares, ArrayRef<int64_t>(window),
                                     DenseI64ArrayAttr(), b.getDenseI64ArrayAttr(low),
                                     b.getDenseI64ArrayAttr(high), DenseI64ArrayAttr());
  Value base = n.add(n.mul(sum, n.scalar(alpha / double(size), x)), n.scalar(bias, x));
  return {n.div(x, n.make<PowOp>(base, n.scalar(beta, x)))};
}

static Results importLpNormalization(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.axis("axis", -1, n.rankOf(x)), p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.error("expected p to be 1 or 2, got " + Twine(p));
  Value norm = p == 1
                   ? n.reduce(ReduceKind::Sum, n.make<AbsOp>(x), {axis}, true)
                   : n.make<SqrtOp>(n.reduce(ReduceKind::Sum, n.make<SquareOp>(x), {axis}, true));
  // Where all is 0 the result is 0, not 0 / 0.
  Value zero = n.scalar(0, x);
  return {n.select(n.compare(CompareDirection::Eq, norm, zero), zero, n.div(x, norm))};
}

static Results importMeanVarianceNormalization(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> axes = n.normalizeAxes(n.integerList("axes", {0, 2, 3}), n.rankOf(x));
  Value mean = n.make<MeanOp>(x, ArrayRef<int64_t>(axes), /*keepdims=*/true);
  Value variance = n.make<VarOp>(x, ArrayRef<int64_t>(axes), /*keepdims=*/true,
                                 /*correction=*/uint64_t(0));
  return {n.div(n.sub(x, mean), n.add(n.make<SqrtOp>(variance), n.scalar(1e-9, x)))};
}

llvm::ArrayRef<OpEntry> getNormOps() {
  static constexpr OpEntry kOps[] = {
      {"BatchNormalization", 7, importBatchNormalization},
      {"GroupNormalization", 1, importGroupNormalization},
      {"InstanceNormalization", 1, importInstanceNormalization},
      {"LRN", 1, importLRN},
      {"LayerNormalization", 1, importLayerNormalization},
      {"LpNormalization", 1, importLpNormalization},
      {"MeanVarianceNormalization", 1, importMeanVarianceNormalization},
      {"RMSNormalization", 1, importRMSNormalization},
  };
  return kOps;
}

} // namespace xc::onnx
