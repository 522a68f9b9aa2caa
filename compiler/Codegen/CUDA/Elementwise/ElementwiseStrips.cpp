//===- ElementwiseStrips.cpp - Neighbours that read the same elements -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are told apart as common subexpression elimination does: each op of a body gets a number
// that stands for its kind and the numbers of its operands, at each element of a thread. What has
// the same number at several elements is computed once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStrips.h"

#include "compiler/Dialect/Plan/IR/RegularPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>

using namespace mlir;

namespace xc::cuda {

ArrayRef<int64_t> ElementwiseStrips::getShape() const {
  return cast<RankedTensorType>(ops.front()->getResult(0).getType()).getShape();
}

SmallVector<int64_t> ElementwiseStrips::getExtents(const StripShape &shape) const {
  SmallVector<int64_t> extents(getShape().size(), 1);
  extents[channel] = shape.vector;
  extents[along] = shape.strip;
  if (rows)
    extents[*rows] = shape.rows;
  return extents;
}

/// Whether the loops of `op` are the dims of its results.
static bool hasLoopsOfResults(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init).isIdentity();
         });
}

std::optional<ElementwiseStrips> matchElementwiseStrips(const KernelInfo &kernel,
                                                        std::string &reason) {
  ElementwiseStrips strips;
  llvm::SmallBitVector regular;
  for (const KernelOutput &output : kernel.outputs) {
    auto op = output.tensor.getDefiningOp<linalg::GenericOp>();
    reason = "an output is not computed element by element";
    if (!op || !hasLoopsOfResults(op))
      return std::nullopt;
    if (llvm::is_contained(strips.ops, op))
      continue;
    reason = "outputs differ in shape";
    strips.ops.push_back(op);
    if (strips.getShape() != cast<RankedTensorType>(output.tensor.getType()).getShape())
      return std::nullopt;
    regular.resize(op.getNumLoops());
    op.getBody()->walk([&](tensor::ExtractOp extract) {
      for (Value index : extract.getIndices())
        if (std::optional<plan::RegularPlace> place = plan::matchPlace(index);
            place && !index.getDefiningOp<linalg::IndexOp>())
          regular.set(place->loop);
    });
  }
  reason = "a result that is not needed everywhere";
  for (Operation *op : kernel.tensorOps)
    if (op->walk([](kernel::WithinOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return std::nullopt;
  reason = "no neighbours";
  if (strips.ops.empty() || regular.size() < 2)
    return std::nullopt;
  strips.channel = regular.size() - 1;
  reason = "the innermost dim is symbolic";
  if (ShapedType::isDynamic(strips.getShape()[strips.channel]))
    return std::nullopt;
  strips.hasEqualLanes = !regular.test(strips.channel);
  regular.reset(strips.channel);
  reason = "neighbours read different elements";
  int along = regular.find_last();
  if (along < 0)
    return std::nullopt;
  strips.along = along;
  if (int rows = regular.find_prev(along); rows >= 0)
    strips.rows = rows;
  return strips;
}

namespace {

class WorkCounter {
public:
  WorkCounter(const ElementwiseStrips &strips, const StripShape &shape)
      : strips(strips), extents(strips.getExtents(shape)), vector(shape.vector) {}

  StripWork run();

private:
  using Key = std::vector<const void *>;
  /// A number for `key`, and whether it is a new one.
  std::pair<int64_t, bool> intern(Key key) {
    auto [entry, isNew] = numbers.try_emplace(std::move(key), numbers.size());
    return {entry->second, isNew};
  }
  static const void *toKey(int64_t number) { return reinterpret_cast<const void *>(number); }

  int64_t number(Value value);
  int64_t numberIndex(int64_t index) { return intern({&numbers, toKey(index)}).first; }
  int64_t numberLoad(Value tensor, ArrayRef<int64_t> places, bool isVector);
  int64_t numberOperand(BlockArgument argument);
  int64_t numberExtract(tensor::ExtractOp extract);
  int64_t numberOp(Operation *op);
  void visit(linalg::GenericOp op);

  const ElementwiseStrips &strips;
  SmallVector<int64_t> extents;
  int64_t vector;
  std::map<Key, int64_t> numbers;
  StripWork work;
  SmallVector<int64_t> indices;         // of the element in turn
  int64_t lane = 0;                     // of its vector
  llvm::DenseMap<Value, int64_t> known; // at that element
};

} // namespace

int64_t WorkCounter::numberLoad(Value tensor, ArrayRef<int64_t> places, bool isVector) {
  Key key{tensor.getAsOpaquePointer()};
  for (int64_t place : places)
    key.push_back(toKey(place));
  auto [loaded, isNew] = intern(std::move(key));
  int64_t bytes = getElementBytes(getElementTypeOrSelf(tensor));
  if (isNew) {
    ++(isVector ? work.vectorLoads : work.loads);
    work.loadedBytes +=
        isVector ? static_cast<double>(vector * bytes) : std::max<int64_t>(bytes, 4);
  }
  return isVector ? intern({&work, toKey(loaded), toKey(lane)}).first : loaded;
}

int64_t WorkCounter::numberOperand(BlockArgument argument) {
  auto op = cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
  OpOperand *operand = op.getMatchingOpOperand(argument);
  if (!isa<RankedTensorType>(operand->get().getType()) ||
      operand->get().getDefiningOp<arith::ConstantOp>())
    return intern({operand->get().getAsOpaquePointer()}).first;
  SmallVector<int64_t> places;
  bool isVector = false;
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    isVector = dim && dim.getPosition() == strips.channel;
    // Other expressions are taken for one loop, all of whose indices differ.
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (expr.isFunctionOfDim(loop))
        places.push_back(indices[loop] - (isVector ? lane : 0));
  }
  return numberLoad(operand->get(), places, isVector && vector > 1);
}

int64_t WorkCounter::numberExtract(tensor::ExtractOp extract) {
  SmallVector<int64_t> places;
  bool isVector = false;
  for (Value index : extract.getIndices()) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    isVector = loop && loop.getDim() == strips.channel;
    places.push_back(isVector ? -1 - (indices[strips.channel] - lane) : number(index));
  }
  return numberLoad(extract.getTensor(), places, isVector && vector > 1);
}

/// Instructions of one lane.
static double getInstructions(Operation *op) {
  if (isa<arith::TruncFOp>(op))
    return 0.5; // two at a time
  if (isa<arith::DivFOp>(op) || isa<math::MathDialect>(op->getDialect()))
    return 8;
  return isa<arith::ConstantOp>(op) ? 0 : 1;
}

int64_t WorkCounter::numberOp(Operation *op) {
  if (auto loop = dyn_cast<linalg::IndexOp>(op))
    return numberIndex(indices[loop.getDim()]);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return numberExtract(extract);
  if (std::optional<plan::RegularPlace> place = plan::matchPlace(op->getResult(0))) {
    int64_t index = indices[place->loop];
    if (extents[place->loop] % place->getPeriod() == 0) {
      auto [found, isNew] = intern({&numbers, toKey(place->evaluate(index))});
      work.sharedPlaces += isNew;
      return found;
    }
    auto [found, isNew] = intern({op, toKey(index)});
    work.places += isNew;
    return found;
  }
  Key key{op->getName().getAsOpaquePointer(), op->getResult(0).getType().getAsOpaquePointer(),
          op->getAttrDictionary().getAsOpaquePointer()};
  for (Value operand : op->getOperands())
    key.push_back(toKey(number(operand)));
  if (op->getNumOperands() == 0 || op->getNumRegions() > 0)
    key.push_back(isa<arith::ConstantOp>(op) ? nullptr : op);
  auto [found, isNew] = intern(std::move(key));
  if (isNew)
    work.lanes += getInstructions(op);
  return found;
}

int64_t WorkCounter::number(Value value) {
  auto entry = known.find(value);
  if (entry != known.end())
    return entry->second;
  int64_t found = 0;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<linalg::GenericOp>(argument.getOwner()->getParentOp()))
    found = numberOperand(argument);
  else if (Operation *op = value.getDefiningOp();
           op && isa<linalg::GenericOp>(op->getParentOp()) && op->getNumResults() == 1)
    found = numberOp(op);
  else
    found = intern({value.getAsOpaquePointer()}).first;
  known[value] = found;
  return found;
}

/// The values that `op` yields, at each element of the thread.
void WorkCounter::visit(linalg::GenericOp op) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  ArrayRef<int64_t> shape = strips.getShape();
  // One lane stands for all where they do the same.
  int64_t step = strips.hasEqualLanes ? vector : 1;
  for (int64_t element = 0; element < count; element += step) {
    indices.assign(extents.size(), 0);
    int64_t rest = element;
    for (size_t dim = extents.size(); dim-- > 0; rest /= extents[dim]) {
      int64_t middle = ShapedType::isDynamic(shape[dim]) ? 0 : shape[dim] / 2;
      indices[dim] = middle / extents[dim] * extents[dim] + rest % extents[dim];
    }
    lane = element % vector;
    known.clear();
    for (Value yielded : op.getBody()->getTerminator()->getOperands())
      number(yielded);
  }
}

StripWork WorkCounter::run() {
  for (linalg::GenericOp op : strips.ops)
    visit(op);
  if (strips.hasEqualLanes)
    work.lanes *= static_cast<double>(vector);
  return work;
}

StripWork countStripWork(const ElementwiseStrips &strips, const StripShape &shape) {
  return WorkCounter(strips, shape).run();
}

} // namespace xc::cuda
