//===- MaskProducers.cpp - What masks of attention are made of ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask is as large as the scores, or nearly, and is often made of a few vectors: positions,
// lengths, numbers of documents, slopes of heads. Kernels of attention go over scores anyway, and
// can compute what a mask has for each of them. Then it is in no memory. All layers of a model read
// one mask, and so do the kernels of gradients: each gets elementwise ops of its own that make it.
//
// What takes less time is chosen for each tensor between the mask and what is in memory:
//
// - computed where scores are, it costs its ops for each score of each reader;
// - stored, it costs a launch, its ops and its bytes once, and a read for each score. A mask that
//   boxes are copied of beside the arithmetic costs little then.
//
// So a mask that all heads and batches share is read, if it takes many ops; and a tensor of few
// elements that takes many is stored, while what follows from it is computed. Sizes that are
// symbolic count as `kSymbolicSize`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/MaskProducers.h"

#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dispatch/BodyCost.h"
#include "compiler/Dispatch/DispatchGroupLimits.h"
#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace xc::plan {

static constexpr double kSymbolicSize = 512;
/// Tensors that a mask may be computed from, beside what attention binds.
static constexpr size_t kMostSources = 8;
/// Elements of a mask that share one of a vector, at the fewest.
static constexpr double kFewestShared = 16;

Value getMaskOfScores(Operation *op) {
  if (auto attention = dyn_cast<kernel::AttentionOp>(op))
    return attention.getMask();
  if (auto decode = dyn_cast<kernel::AttentionDecodeOp>(op))
    return decode.getMask();
  if (auto gradient = dyn_cast<kernel::AttentionGradientOp>(op))
    return gradient.getMask();
  return nullptr;
}

static double countElements(ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t size : shape) {
    double assumed = ShapedType::isDynamic(size) ? kSymbolicSize : static_cast<double>(size);
    count *= assumed; // in range: a double
  }
  return count;
}

static double getElementBytes(RankedTensorType type) {
  return static_cast<double>(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
}

/// Scores of one op that has a mask: queries of all heads and batches, times keys.
static double countScores(Operation *op) {
  ShapedType query = cast<ShapedType>(op->getOperand(0).getType()),
             key = cast<ShapedType>(op->getOperand(1).getType());
  return countElements(query.getShape().drop_back()) *
         countElements(key.getShape().drop_back().take_back());
}

namespace {

/// Decides for one mask, which some ops read.
class MaskCosts {
public:
  MaskCosts(const DispatchTarget::ScoreCosts &costs, Value mask, ArrayRef<Operation *> readers)
      : costs(costs), mask(mask),
        maskElements(countElements(cast<ShapedType>(mask.getType()).getShape())) {
    for (Operation *reader : readers) {
      scores += countScores(reader);
      Type element = getElementTypeOrSelf(reader->getOperand(0));
      if (isa<kernel::AttentionOp>(reader) && !element.isF32())
        copiedScores += countScores(reader);
    }
  }
  /// Whether `tensor`, the result of an elementwise op, is computed where scores are.
  bool isComputed(Value tensor) { return getChoice(tensor).isComputed; }

private:
  struct Choice {
    double time = 0;     ///< until each score has its element, in ops
    double perScore = 0; ///< ops for a score, of those that are computed there
    bool isComputed = false;
  };
  Choice getChoice(Value tensor);
  Choice choose(Value tensor);
  double countOps(linalg::GenericOp op) const;
  double getReadTime(Value tensor) const;
  bool isCopied(RankedTensorType type) const;
  double getMakeTime(Value tensor, llvm::DenseSet<Value> &made) const;

  DispatchTarget::ScoreCosts costs;
  Value mask;
  double maskElements, scores = 0;
  double copiedScores = 0; ///< of kernels that may copy boxes of a mask
  llvm::DenseMap<Value, Choice> choices;
};

} // namespace

/// The elementwise op that makes `tensor`, one element from one point; null if it is made
/// otherwise.
static linalg::GenericOp findMaker(Value tensor) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(DispatchGrouping::findOrigin(tensor));
  bool isOfElements = generic && isElementwise(generic) && generic->getNumResults() == 1 &&
                      generic.getIndexingMapsArray().back().isPermutation();
  return isOfElements ? generic : nullptr;
}

double MaskCosts::countOps(linalg::GenericOp op) const {
  double ops = getBodyCost(op) - 1.0; // but the yield
  op.getBody()->walk([&](Operation *inner) {
    constexpr double divisionOps = 16;
    if (isa<linalg::IndexOp, arith::IndexCastOp, arith::TruncIOp, arith::ExtSIOp>(inner))
      --ops; // a register as it is
    else if (isa<tensor::ExtractOp>(inner))
      ops += costs.perGather;
    else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(inner))
      ops += divisionOps;
  });
  return ops;
}

/// The time to read one of `tensor` for each score, of what is in memory. A vector's element is
/// read once for a row or a column of scores.
double MaskCosts::getReadTime(Value tensor) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (countElements(type.getShape()) * kFewestShared <= maskElements)
    return scores;
  double bytes = getElementBytes(type);
  double loaded = scores * (costs.perRead + bytes * costs.perByte);
  if (tensor != mask || !isCopied(type))
    return loaded;
  return loaded - copiedScores * (costs.perRead + bytes * (costs.perByte - costs.perCopiedByte));
}

/// Whether kernels of attention that can copy boxes of a mask copy those of `type`.
bool MaskCosts::isCopied(RankedTensorType type) const {
  return costs.copiesMasks && isa<FloatType>(type.getElementType()) && type.hasStaticShape() &&
         type.getRank() >= 2 &&
         llvm::all_of(type.getShape().take_back(2), [](int64_t size) { return size > 1; });
}

/// The time that a kernel which stores `tensor` computes for.
double MaskCosts::getMakeTime(Value tensor, llvm::DenseSet<Value> &made) const {
  linalg::GenericOp op = findMaker(tensor);
  if (!op || !made.insert(op.getResult(0)).second)
    return 0;
  double time = countElements(cast<ShapedType>(op.getResult(0).getType()).getShape());
  time *= countOps(op); // in range: a double
  for (Value input : op.getDpsInputs())
    time += getMakeTime(input, made);
  return time;
}

MaskCosts::Choice MaskCosts::getChoice(Value tensor) {
  Operation *origin = DispatchGrouping::findOrigin(tensor);
  Value key = origin ? origin->getResult(0) : tensor;
  auto known = choices.find(key);
  if (known == choices.end()) {
    Choice choice = choose(key);
    known = choices.insert({key, choice}).first;
  }
  return known->second;
}

MaskCosts::Choice MaskCosts::choose(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  double readTime = getReadTime(tensor);
  linalg::GenericOp op = findMaker(tensor);
  if (!op)
    return {readTime, 0, false};
  double ops = countOps(op);
  Choice computed{ops * scores, ops, true};
  for (OpOperand *input : op.getDpsInputOperands()) {
    // A destination or a size that nobody reads.
    if (!op.payloadUsesValueFromOperand(input) || !isa<RankedTensorType>(input->get().getType()))
      continue;
    Choice choice = getChoice(input->get());
    computed.time += choice.time;
    computed.perScore += choice.perScore;
  }
  llvm::DenseSet<Value> made;
  double bytes = countElements(type.getShape());
  bytes *= getElementBytes(type); // in range: a double
  double stored = readTime + bytes * costs.perByte + getMakeTime(tensor, made) + costs.perLaunch;
  bool isShort = computed.perScore <= costs.mostOps;
  return isShort && computed.time <= stored ? computed : Choice{stored, 0, false};
}

//===----------------------------------------------------------------------===//
// Ops of each reader's own
//===----------------------------------------------------------------------===//

/// The ops between `tensor` and what is in memory, reshapes among them, each behind what it reads.
static void collectComputed(Value tensor, MaskCosts &costs, llvm::SetVector<Operation *> &ops,
                            llvm::SetVector<Value> &sources) {
  linalg::GenericOp maker = findMaker(tensor);
  if (!maker || !costs.isComputed(tensor)) {
    sources.insert(tensor);
    return;
  }
  for (Value value : getUsedValues(maker)) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    bool isInput = llvm::is_contained(maker.getDpsInputs(), value);
    if (isInput)
      collectComputed(value, costs, ops, sources);
    else if (!value.getDefiningOp<tensor::EmptyOp>())
      sources.insert(value); // of a gather
  }
  ops.insert(maker);
  SmallVector<Operation *> reshapes;
  for (Operation *op = tensor.getDefiningOp(); op != maker; op = op->getOperand(0).getDefiningOp())
    reshapes.push_back(op);
  ops.insert(reshapes.rbegin(), reshapes.rend());
}

llvm::DenseSet<Operation *> splitMasks(Block &block, const DispatchTarget &target) {
  llvm::MapVector<Operation *, SmallVector<Operation *>> readersOf;
  for (Operation &op : block)
    if (Value mask = getMaskOfScores(&op))
      if (linalg::GenericOp maker = findMaker(mask); maker && maker->getBlock() == &block)
        readersOf[maker].push_back(&op);
  TargetAttr kind = getTarget(block.getParentOp());
  StringRef arch = kind ? kind.getArch() : StringRef();
  llvm::DenseSet<Operation *> result;
  for (auto &[maker, readers] : readersOf) {
    MaskCosts costs(target.getScoreCosts(arch), maker->getResult(0), readers);
    for (Operation *reader : readers) {
      Value mask = getMaskOfScores(reader);
      llvm::SetVector<Operation *> ops;
      llvm::SetVector<Value> sources;
      collectComputed(mask, costs, ops, sources);
      if (ops.empty() || sources.size() > kMostSources || ops.size() > kMaxGroupOps / 2)
        continue;
      OpBuilder builder(reader);
      IRMapping clones;
      for (Operation *op : ops)
        result.insert(builder.clone(*op, clones));
      reader->replaceUsesOfWith(mask, clones.lookup(mask));
    }
  }
  if (!result.empty())
    eraseDeadOps(block);
  return result;
}

} // namespace xc::plan
