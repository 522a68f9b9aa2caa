//===- ExpandAttention.cpp - Attention without a kernel of its own --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target is known here, and the program is linalg. What has no kernel goes back to the array
// dialect, on tensors as they are stored, and takes the way of phases `array` and `linalg` again:
// decomposition, then regions that become functions, then linalg.
//
// Vectors of a length that no kernel takes get zeros behind them first, up to one that a kernel
// takes.
//
// A gradient that has kernels becomes an op for each of them: of queries, of keys and values, which
// long vectors have apart, and of a mask that is added.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/DecodeModel.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EXPANDATTENTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// A mask as it was. Truth values are stored as bytes.
static Value restoreMask(OpBuilder &builder, Location loc, Value mask) {
  if (!mask || !getElementTypeOrSelf(mask).isInteger(8))
    return mask;
  array::ExpressionBuilder e(builder, loc);
  return e.compare(array::CompareDirection::Ne, mask, e.scalar(0, mask));
}

/// The values of `op`, with zeros in the place of those that not even the last query sees: a weight
/// of 0 times NaN is not 0.
static Value clearOpenEnd(OpBuilder &builder, kernel::AttentionOp op) {
  array::ExpressionBuilder e(builder, op.getLoc());
  auto type = cast<RankedTensorType>(op.getValue().getType());
  int64_t length = type.getRank() - 2, queries = op.getQueryType().getDimSize(length);
  Type element = builder.getI64Type();
  auto column = RankedTensorType::get({type.getDimSize(length), 1}, element);
  SmallVector<Value> sizes;
  if (type.isDynamicDim(length))
    sizes.push_back(tensor::DimOp::create(builder, op.getLoc(), op.getValue(), length));
  Value place = e.make<array::IotaOp>(column, sizes, /*axis=*/0);
  Value end = e.add(e.convert(op.getOffset(), element), e.integer(queries, element));
  Value isSeen = e.compare(array::CompareDirection::Lt, place, end);
  return e.select(isSeen, op.getValue(), e.scalar(0, op.getValue()));
}

/// Replaces `op` by the array op that it was.
static void restore(kernel::AttentionOp op) {
  OpBuilder builder(op);
  if (op.isPaged()) {
    auto attention = array::PagedAttentionOp::create(
        builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(),
        op.getTable(), op.getLengths(), op.getSoftcapAttr(), op.getScaleAttr());
    op->replaceAllUsesWith(attention->getResults());
    op.erase();
    return;
  }
  Value mask = restoreMask(builder, op.getLoc(), op.getMask());
  Value value = op.getOpenEnd() ? clearOpenEnd(builder, op) : op.getValue();
  auto attention = array::AttentionOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), value, mask,
      op.getOffset(), op.getSinks(), op.getCausalAttr(), op.getWindowAttr(),
      op.hasLogsumexp() ? builder.getUnitAttr() : UnitAttr(), op.getSoftcapAttr(),
      op.getScaleAttr());
  op->replaceAllUsesWith(attention->getResults());
  op.erase();
}

static void restore(kernel::AttentionGradientOp op) {
  OpBuilder builder(op);
  UnitAttr ofMask = op.getNumResults() > 3 ? builder.getUnitAttr() : UnitAttr();
  auto gradient = array::AttentionGradientOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(),
      op.getCotangent(), restoreMask(builder, op.getLoc(), op.getMask()), op.getOffset(),
      op.getSinks(), /*logsumexp=*/Value(), /*delta=*/Value(), op.getLogsumexpCotangent(),
      op.getCausalAttr(), op.getWindowAttr(), op.getSoftcapAttr(), op.getScaleAttr(),
      /*with_mask=*/ofMask, /*with_sinks=*/UnitAttr());
  op->replaceAllUsesWith(gradient->getResults());
  op.erase();
}

/// Replaces `op`, which is of all operands, by one for each kernel.
static void split(kernel::AttentionGradientOp op) {
  OpBuilder builder(op);
  UnitAttr yes = builder.getUnitAttr();
  auto make = [&](ValueRange dests, UnitAttr onlyKeys = {}, UnitAttr onlyValues = {},
                  UnitAttr onlyMask = {}) {
    return kernel::AttentionGradientOp::create(
        builder, op.getLoc(), dests.getTypes(), op.getQuery(), op.getKey(), op.getValue(),
        op.getCotangent(), op.getLogsumexp(), op.getDelta(), op.getMask(), op.getOffset(),
        /*sinks=*/Value(), /*logsumexp_cotangent=*/Value(), dests, op.getCausalAttr(),
        op.getWindowAttr(), op.getSoftcapAttr(), op.getScaleAttr(), onlyKeys, onlyValues, onlyMask);
  };
  OperandRange dests = op.getDests();
  SmallVector<kernel::AttentionGradientOp> parts;
  if (hasKernelOfKeysAndValues(op)) {
    parts.push_back(make(dests.slice(1, 2)));
  } else {
    parts.push_back(make(dests.slice(1, 1), /*onlyKeys=*/yes));
    parts.push_back(make(dests.slice(2, 1), /*onlyKeys=*/{}, /*onlyValues=*/yes));
  }
  parts.insert(parts.begin(), make(dests.take_front()));
  if (dests.size() > 3)
    parts.push_back(make(dests.drop_front(3), /*onlyKeys=*/{}, /*onlyValues=*/{},
                         /*onlyMask=*/yes));
  SmallVector<Value> results;
  for (kernel::AttentionGradientOp part : parts)
    llvm::append_range(results, part.getResults());
  op->replaceAllUsesWith(results);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Vectors of other lengths than kernels take
//===----------------------------------------------------------------------===//

namespace {

/// Zeros behind the elements of vectors change no product of theirs. What they get is cut off.
class VectorPadding {
public:
  explicit VectorPadding(Operation *op) : builder(op), loc(op->getLoc()) {}

  /// Whether a vector of `tensor` is to be longer, as far as its length is known.
  static bool isUneven(Value tensor) {
    int64_t elements = cast<ShapedType>(tensor.getType()).getShape().back();
    return !ShapedType::isDynamic(elements) && elements % kVectorStep != 0;
  }
  /// Whether the vectors of all `tensors` have known lengths, so that all of them become longer.
  static bool areKnown(ArrayRef<Value> tensors) {
    return llvm::none_of(tensors, [](Value tensor) {
      return ShapedType::isDynamic(cast<ShapedType>(tensor.getType()).getShape().back());
    });
  }
  Value pad(Value tensor);
  /// A destination like `tensor`, if it has such vectors.
  Value padDest(Value tensor);
  /// `tensor` as it was in `like`.
  Value cut(Value tensor, Value like);

private:
  static int64_t getElements(Value tensor) {
    int64_t elements = cast<ShapedType>(tensor.getType()).getShape().back();
    return static_cast<int64_t>(llvm::alignTo(elements, kVectorStep));
  }
  OpBuilder builder;
  Location loc;
};

} // namespace

Value VectorPadding::pad(Value tensor) {
  if (!isUneven(tensor))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0)), high(low);
  high.back() = builder.getIndexAttr(getElements(tensor) - type.getShape().back());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(builder, loc, /*resultType=*/Type(), tensor, low, high, zero);
}

Value VectorPadding::padDest(Value tensor) {
  if (!isUneven(tensor))
    return tensor;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  sizes.back() = builder.getIndexAttr(getElements(tensor));
  return tensor::EmptyOp::create(builder, loc, sizes, getElementTypeOrSelf(tensor.getType()));
}

Value VectorPadding::cut(Value tensor, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  if (tensor.getType() == type)
    return tensor;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor),
                            offsets(sizes.size(), builder.getIndexAttr(0)),
                            strides(sizes.size(), builder.getIndexAttr(1));
  sizes.back() = builder.getIndexAttr(type.getShape().back());
  return tensor::ExtractSliceOp::create(builder, loc, type, tensor, offsets, sizes, strides);
}

/// The results of an op with longer vectors in the place of `op`, which has no kernel; false if
/// that has none either.
template <typename Op>
static bool replaceByPadded(Op op, Op padded, VectorPadding &padding, bool wgmma) {
  if (!hasAttentionKernel(padded, findTarget(op), wgmma)) {
    padded.erase();
    return false;
  }
  SmallVector<Value> results;
  for (auto [result, own] : llvm::zip_equal(padded->getResults(), op->getResults()))
    results.push_back(padding.cut(result, own));
  op->replaceAllUsesWith(results);
  op.erase();
  return true;
}

static bool pad(kernel::AttentionOp op, bool wgmma) {
  int64_t queries = op.getQueryType().getShape().drop_back().back();
  bool isFew = !ShapedType::isDynamic(queries) && queries < array::kFewQueries;
  // A copy of all keys and values takes longer than what few queries do with them, and pages may be
  // many more than some sequences have.
  if (isFew || op.isPaged() || op.getOpenEnd() || !findTarget(op) ||
      !(VectorPadding::isUneven(op.getQuery()) || VectorPadding::isUneven(op.getValue())))
    return false;
  if (!VectorPadding::areKnown({op.getQuery(), op.getKey(), op.getValue()}))
    return false;
  VectorPadding padding(op);
  SmallVector<Value> dests(op.getDests());
  dests.front() = padding.padDest(dests.front());
  OpBuilder builder(op);
  auto padded = kernel::AttentionOp::create(
      builder, op.getLoc(), ValueRange(dests).getTypes(), padding.pad(op.getQuery()),
      padding.pad(op.getKey()), padding.pad(op.getValue()), op.getMask(), op.getOffset(),
      op.getSinks(), /*table=*/Value(), /*lengths=*/Value(), dests, op.getCausalAttr(),
      op.getWindowAttr(), op.getSoftcapAttr(), op.getScaleAttr());
  return replaceByPadded(op, padded, padding, wgmma);
}

/// The op of all operands; null if there is no kernel of longer vectors either.
static kernel::AttentionGradientOp pad(kernel::AttentionGradientOp op, bool wgmma) {
  if (!findTarget(op) ||
      !(VectorPadding::isUneven(op.getQuery()) || VectorPadding::isUneven(op.getValue())))
    return nullptr;
  if (!VectorPadding::areKnown({op.getQuery(), op.getKey(), op.getValue(), op.getCotangent()}))
    return nullptr;
  VectorPadding padding(op);
  SmallVector<Value> dests(op.getDests());
  for (Value &dest : MutableArrayRef(dests).take_front(3))
    dest = padding.padDest(dest);
  OpBuilder builder(op);
  auto padded = kernel::AttentionGradientOp::create(
      builder, op.getLoc(), ValueRange(dests).getTypes(), padding.pad(op.getQuery()),
      padding.pad(op.getKey()), padding.pad(op.getValue()), padding.pad(op.getCotangent()),
      op.getLogsumexp(), op.getDelta(), op.getMask(), op.getOffset(), op.getSinks(),
      op.getLogsumexpCotangent(), dests, op.getCausalAttr(), op.getWindowAttr(),
      op.getSoftcapAttr(), op.getScaleAttr(), /*only_keys=*/UnitAttr(), /*only_values=*/UnitAttr(),
      /*only_mask=*/UnitAttr());
  return replaceByPadded(op, padded, padding, wgmma) ? padded : nullptr;
}

//===----------------------------------------------------------------------===//
// Few queries
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getWindow(std::optional<uint64_t> window) {
  return window ? std::optional(static_cast<int64_t>(*window)) : std::nullopt;
}

static bool isDecoded(kernel::AttentionOp op, const Target *target) {
  int64_t queries = op.getQueryType().getShape().drop_back().back();
  ShapedType table = op.isPaged() ? cast<ShapedType>(op.getTable().getType()) : ShapedType();
  return !ShapedType::isDynamic(queries) && queries < array::kFewQueries &&
         hasDecodeKernel(
             getDecodeSizes(op.getQueryType(), op.getKeyType(), op.getValueType(), table),
             getWindow(op.getWindow()), target);
}

/// Destinations of parts of the results of `op`: of the sums of values and of the logarithms.
static SmallVector<Value> makePartDests(OpBuilder &builder, kernel::AttentionDecodeOp op,
                                        int64_t splits) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, op.getQuery());
  sizes.back() = builder.getIndexAttr(splits);
  SmallVector<OpFoldResult> whole(sizes);
  whole.push_back(builder.getIndexAttr(op.getValueType().getShape().back()));
  Type f32 = builder.getF32Type();
  return {tensor::EmptyOp::create(builder, loc, whole, f32),
          tensor::EmptyOp::create(builder, loc, sizes, f32)};
}

static void mayRoundAs(Operation *op, Operation *other) {
  if (mayRoundToTF32(op))
    other->setAttr(plan::kAllowTF32Attr, UnitAttr::get(op->getContext()));
}

/// Divides the keys of `op` among blocks that store results of their parts, where `target` takes
/// less time for that.
static void divideKeys(kernel::AttentionDecodeOp op, const Target &target) {
  int64_t splits = chooseDecodePlan(getDecodeSizes(op), target).splits;
  if (splits == 1)
    return;
  OpBuilder builder(op);
  SmallVector<Value> dests = makePartDests(builder, op, splits);
  auto parts = kernel::AttentionDecodeOp::create(
      builder, op.getLoc(), ValueRange(dests).getTypes(), op.getQuery(), op.getKey(), op.getValue(),
      op.getMask(), op.getOffset(), op.getSinks(), op.getTable(), op.getLengths(), dests,
      op.getCausalAttr(), op.getWindowAttr(), op.getSoftcapAttr(), op.getScaleAttr(),
      builder.getI64IntegerAttr(splits));
  auto joined = kernel::AttentionCombineOp::create(builder, op.getLoc(), op->getResultTypes(),
                                                   parts.getResults()[0], parts.getResults()[1],
                                                   op.getDests());
  mayRoundAs(op, parts);
  op->replaceAllUsesWith(joined->getResults());
  op.erase();
}

static kernel::AttentionDecodeOp makeDecode(kernel::AttentionOp op) {
  OpBuilder builder(op);
  auto decode = kernel::AttentionDecodeOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(),
      op.getMask(), op.getOffset(), op.getSinks(), op.getTable(), op.getLengths(), op.getDests(),
      op.getCausalAttr(), op.getWindowAttr(), op.getSoftcapAttr(), op.getScaleAttr(),
      builder.getI64IntegerAttr(1));
  mayRoundAs(op, decode);
  op->replaceAllUsesWith(decode->getResults());
  op.erase();
  return decode;
}

namespace {

struct ExpandAttention final : impl::ExpandAttentionBase<ExpandAttention> {
  using ExpandAttentionBase::ExpandAttentionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    decodeFewQueries(module);
    SmallVector<kernel::AttentionOp> ops;
    module.walk([&](kernel::AttentionOp op) {
      // Kernels for many queries multiply what is not seen by 0.
      bool hasKernel = (hasAttentionKernel(op, findTarget(op), wgmma) && !op.getOpenEnd()) ||
                       plan::getDispatchTarget(op).attendsInBlocks(op);
      if (!hasKernel)
        ops.push_back(op);
    });
    llvm::erase_if(ops, [&](kernel::AttentionOp op) { return pad(op, wgmma); });
    SmallVector<kernel::AttentionGradientOp> gradients;
    module.walk([&](kernel::AttentionGradientOp op) { gradients.push_back(op); });
    bool isAnyExpanded = !ops.empty();
    for (kernel::AttentionGradientOp op : gradients) {
      bool hasKernel = hasAttentionKernel(op, findTarget(op), wgmma);
      if (kernel::AttentionGradientOp taken = hasKernel ? op : pad(op, wgmma)) {
        split(taken);
        continue;
      }
      restore(op);
      isAnyExpanded = true;
    }
    for (kernel::AttentionOp op : ops)
      restore(op);
    if (!isAnyExpanded)
      return;
    OpPassManager lowering(ModuleOp::getOperationName());
    lowering.addPass(array::createDecompose());
    lowering.addPass(createCanonicalizerPass());
    lowering.addPass(createMergeEqualOps());
    lowering.addPass(createGuardLoops());
    lowering.addPass(createOutlineControl());
    lowering.addPass(createConvertArrayToLinalg());
    lowering.addPass(createCanonicalizerPass());
    lowering.addPass(createMergeEqualOps());
    if (failed(runPipeline(lowering, module)))
      signalPassFailure();
  }

private:
  static void decodeFewQueries(ModuleOp module) {
    SmallVector<kernel::AttentionOp> few;
    module.walk([&](kernel::AttentionOp op) {
      if (isDecoded(op, findTarget(op)))
        few.push_back(op);
    });
    for (kernel::AttentionOp op : few) {
      const Target &target = *findTarget(op);
      divideKeys(makeDecode(op), target);
    }
  }
};

} // namespace

} // namespace xc::cuda
