//===- SplitDependentReductions.cpp - Both reductions of a pair in parts --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variance sums up squares of distances from a mean, a softmax exponentials of distances from a
// maximum: a second reduction of what the first one has read, and needs the first one's result. In
// two steps each they read everything twice. Here each part of a column, or of a long row, does
// both reductions with a result of its own, about which the other one's sum is then moved:
//
//   %s = sum(x), %m = f(%s), %v = sum((x - %m)^2)
// becomes, of parts of L elements (the sums of each in one kernel, which reads it once),
//   %sp = sum(xp), %cp = %sp / L, %vp = sum((xp - %cp)^2)
//   %s = sum(%sp), %m = f(%s), %v = sum(%vp + L (%cp - %m)^2)
// and
//   %s = max(x), %m = f(%s), %e = sum(exp(x - %m))
// becomes
//   %sp = max(xp), %ep = sum(exp(xp - %cp)), where %cp is %sp, or 0 where that is no number
//   %s = max(%sp), %m = f(%s), %e = sum(%ep exp(%sp - %m))
//
// The first identity holds for every %m, and for every %cp up to L (%cp - mean) (%m - %cp), which
// rounding leaves tiny; so nothing is assumed of f. Neighbouring loops that are reduced together,
// as by the norm of a batch, are one. Left alone are rows that one kernel holds, and loops that no
// suitable length of parts divides.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/SplitDependentReductions.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#include "compiler/Codegen/CUDA/Common/RecomputeInputs.h"
#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"
#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;

namespace xc::cuda {

/// Elements of a part of a column at least, and such parts at most; bytes of each row that a block
/// reads.
static constexpr int64_t kShortestColumnPart = 32, kMostPairParts = 4096, kBlockBytes = 128;
/// Rows of threads of a block; rows that it has under way, as many as registers hold; blocks that a
/// multiprocessor has at a time.
static constexpr int64_t kBlockRows = 32, kLoadedRows = 256, kResidentBlocks = 3;
/// What bringing together what its threads have costs a block, in rows.
static constexpr double kBlockCost = 48;
/// In the time of how many of three such blocks one and two do that have a multiprocessor for
/// themselves: their loads do not make the most of its share of memory's rate.
static constexpr double kTimeOfOne = 1.6, kTimeOfTwo = 2.2;
/// Elements of a part of a row, which a block holds, and blocks of a multiprocessor that are
/// enough.
static constexpr int64_t kLongestRowPart = 16384, kShortestRowPart = 2048, kEnoughBlocks = 2;
/// Parts are read by wide accesses.
static constexpr int64_t kPartMultiple = 8;
/// How far before a reduction the one that it depends on is looked for.
static constexpr unsigned kMostSteps = 8;

using Shift = DependentPair::Shift;
using Form = Shift::Form;

namespace {

/// Builds the parts of both reductions of a pair, and what brings them together.
class PairSplitter {
public:
  PairSplitter(const DependentPair &pair, const Target &target)
      : first(pair.first), second(pair.second), shift(pair.shift), form(shift.form), target(target),
        builder(first) {}

  /// Changes nothing if no part is of a suitable length.
  void run();

private:
  int64_t countColumnParts(int64_t size, int64_t kept);
  bool chooseParts();
  bool mergeLoops();
  AffineMap splitLoop(AffineMap map);
  Value expand(Value tensor, AffineMap map);
  Value makeParts(linalg::GenericOp op, Value center, TypedAttr start);
  Value makeMean(OpBuilder &body, Value sum);
  Value makeCenters(Value results);
  void makeLast(linalg::GenericOp op, ValueRange inputs, ArrayRef<AffineMap> inputMaps,
                AffineMap map,
                llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> getElement);

  linalg::GenericOp first, second;
  Shift shift; // of the second
  Form form;
  const Target &target;
  OpBuilder builder;
  unsigned loop = 0;
  bool isColumn = false;
  int64_t parts = 0, length = 0;
  AffineMap partMap; // of the results of parts, over the loops of parts
};

} // namespace

//===----------------------------------------------------------------------===//
// Recognising pairs
//===----------------------------------------------------------------------===//

static unsigned getReducedLoop(linalg::GenericOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  return dims.front();
}

/// True for a reduction along neighbouring loops with one result.
static bool isSimple(linalg::GenericOp op) {
  return hasRunOfReducedLoops(op) && op.getNumResults() == 1 && op.getNumDpsInputs() > 0 &&
         llvm::all_of(op.getDpsInputs(),
                      [](Value input) { return isa<RankedTensorType>(input.getType()); }) &&
         isa<Float32Type, Float64Type>(getElementTypeOrSelf(op.getResult(0)));
}

/// What the body combines with what it has, by an op of type `Op`; null if it does not.
template <typename Op> static Value matchLeaf(linalg::GenericOp op) {
  auto combine = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<Op>();
  BlockArgument has = op.getRegionOutputArgs().front();
  if (!combine || !has.hasOneUse())
    return {};
  if (combine.getLhs() == has)
    return combine.getRhs();
  return combine.getRhs() == has ? combine.getLhs() : Value();
}

/// True if both values are computed in the same way of the same elements.
static bool areEqual(linalg::GenericOp a, Value inA, linalg::GenericOp b, Value inB) {
  auto argumentA = dyn_cast<BlockArgument>(inA), argumentB = dyn_cast<BlockArgument>(inB);
  if (argumentA && argumentB && argumentA.getOwner() == a.getBody() &&
      argumentB.getOwner() == b.getBody()) {
    OpOperand *operandA = a.getMatchingOpOperand(argumentA),
              *operandB = b.getMatchingOpOperand(argumentB);
    return operandA->get() == operandB->get() &&
           a.getMatchingIndexingMap(operandA) == b.getMatchingIndexingMap(operandB);
  }
  if (inA == inB)
    return true;
  Operation *opA = inA.getDefiningOp(), *opB = inB.getDefiningOp();
  return opA && opB && opA->getName() == opB->getName() && opA->getNumResults() == 1 &&
         opA->getAttrDictionary() == opB->getAttrDictionary() && inA.getType() == inB.getType() &&
         opA->getNumOperands() == opB->getNumOperands() &&
         llvm::all_of(llvm::zip(opA->getOperands(), opB->getOperands()), [&](auto pair) {
           return areEqual(a, std::get<0>(pair), b, std::get<1>(pair));
         });
}

/// The reduction over the space of `second` that `value` is computed of.
static linalg::GenericOp findFirst(Value value, linalg::GenericOp second, unsigned steps = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || steps == kMostSteps || op->getBlock() != second->getBlock())
    return nullptr;
  if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic.getNumReductionLoops() > 0)
    return isSimple(generic) && generic.getStaticLoopRanges() == second.getStaticLoopRanges() &&
                   generic.getIteratorTypesArray() == second.getIteratorTypesArray() &&
                   generic.getIndexingMapsArray().back() == second.getIndexingMapsArray().back()
               ? generic
               : nullptr;
  for (Value operand : op->getOperands())
    if (linalg::GenericOp first = findFirst(operand, second, steps + 1))
      return first;
  return nullptr;
}

/// The subtraction whose result `leaf` is a square or an exponential of.
static arith::SubFOp matchDistance(Value leaf, Form &form) {
  if (auto square = leaf.getDefiningOp<arith::MulFOp>();
      square && square.getLhs() == square.getRhs()) {
    form = Form::Square;
    return square.getLhs().getDefiningOp<arith::SubFOp>();
  }
  auto exp = leaf.getDefiningOp<math::ExpOp>();
  form = Form::Exp;
  return exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : nullptr;
}

/// Collects the inputs that `value` is computed of in the body of `op`, and the ops that compute
/// it.
static bool collectInputs(linalg::GenericOp op, Value value, llvm::SetVector<OpOperand *> &inputs,
                          llvm::SetVector<Operation *> &steps) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody())
    return inputs.insert(op.getMatchingOpOperand(argument)), true;
  Operation *step = value.getDefiningOp();
  if (!step || step->getBlock() != op.getBody())
    return true;
  for (Value operand : step->getOperands())
    if (!collectInputs(op, operand, inputs, steps))
      return false;
  steps.insert(step);
  return isMemoryEffectFree(step);
}

/// What `second` adds up distances from, if it does.
static std::optional<Shift> matchShift(linalg::GenericOp second) {
  Shift shift;
  Value leaf = matchLeaf<arith::AddFOp>(second);
  shift.distance = leaf ? matchDistance(leaf, shift.form) : nullptr;
  llvm::SetVector<OpOperand *> own;
  llvm::SetVector<Operation *> ownSteps;
  if (!shift.distance ||
      !collectInputs(second, shift.distance.getRhs(), shift.inputs, shift.steps) ||
      !collectInputs(second, shift.distance.getLhs(), own, ownSteps) || shift.inputs.empty())
    return std::nullopt;
  AffineMap kept = second.getIndexingMapsArray().back();
  for (OpOperand *input : shift.inputs)
    if (own.contains(input) || second.isDpsInit(input) ||
        second.getMatchingIndexingMap(input) != kept)
      return std::nullopt;
  return shift;
}

/// The reduction that `second` adds up distances from what is computed of.
static linalg::GenericOp findFirst(const Shift &shift, linalg::GenericOp second) {
  for (OpOperand *input : shift.inputs)
    if (linalg::GenericOp first = findFirst(input->get(), second))
      return first;
  return nullptr;
}

/// True if `first` reduces the elements whose distances `second` adds up, and both read the same.
static bool arePair(linalg::GenericOp first, linalg::GenericOp second, const Shift &shift) {
  Value own = shift.form == Form::Square ? matchLeaf<arith::AddFOp>(first)
                                         : matchLeaf<arith::MaximumFOp>(first);
  auto isOfFirst = [&](OpOperand *input) {
    return shift.inputs.contains(input) || llvm::is_contained(first.getInputs(), input->get());
  };
  return isSimple(first) && own &&
         areEqual(first, own, second, arith::SubFOp(shift.distance).getLhs()) &&
         llvm::all_of(second.getDpsInputOperands(), isOfFirst);
}

std::optional<DependentPair> findDependentPair(linalg::GenericOp second) {
  std::optional<Shift> shift = isSimple(second) ? matchShift(second) : std::nullopt;
  linalg::GenericOp first = shift ? findFirst(*shift, second) : nullptr;
  if (!first || !arePair(first, second, *shift))
    return std::nullopt;
  return DependentPair{first, second, *shift};
}

std::optional<DependentPair> matchDependentPair(linalg::GenericOp second) {
  if (!isSimple(second))
    return std::nullopt;
  second = recomputeInputs(second);
  std::optional<Shift> shift = isSimple(second) ? matchShift(second) : std::nullopt;
  linalg::GenericOp first = shift ? findFirst(*shift, second) : nullptr;
  if (!first)
    return std::nullopt;
  first = recomputeInputs(first);
  if (!arePair(first, second, *shift))
    return std::nullopt;
  return DependentPair{first, second, *shift};
}

/// Splits `second` and the reduction that it depends on, if it is such a pair.
static void trySplit(linalg::GenericOp second, const Target &target) {
  if (!isSimple(second) || llvm::any_of(second.getStaticLoopRanges(), ShapedType::isDynamic))
    return;
  std::optional<Split> split = chooseSplit(second);
  if (!split || split->hasRest)
    return;
  if (std::optional<DependentPair> pair = matchDependentPair(second))
    PairSplitter(*pair, target).run();
}

Value moveSquares(OpBuilder &body, Location loc, Value squares, Value mean, Value center,
                  Value count) {
  Value distance = arith::SubFOp::create(body, loc, mean, center);
  Value square = arith::MulFOp::create(body, loc, distance, distance);
  Value rest = arith::MulFOp::create(body, loc, square, count);
  return arith::AddFOp::create(body, loc, squares, rest);
}

void Shift::replace(linalg::GenericOp parts, IRMapping &mapping) const {
  Operation *own = mapping.lookup(arith::SubFOp(distance).getResult()).getDefiningOp();
  own->setOperand(
      1, parts.getMatchingBlockArgument(&parts->getOpOperand(inputs.front()->getOperandNumber())));
  for (Operation *step : llvm::reverse(steps))
    mapping.lookup(step)->erase();
}

Value Shift::clone(OpBuilder &body, linalg::GenericOp second, ValueRange values) const {
  IRMapping mapping;
  for (auto [input, value] : llvm::zip_equal(inputs, values))
    mapping.map(second.getMatchingBlockArgument(input), value);
  for (Operation *step : steps)
    body.clone(*step, mapping);
  return mapping.lookupOrDefault(arith::SubFOp(distance).getRhs());
}

//===----------------------------------------------------------------------===//
// Splitting them
//===----------------------------------------------------------------------===//

/// How long a column reduction takes that has so many parts of `length` rows, of `blocks` blocks
/// each, in rows of a block.
static double estimatePartsTime(int64_t parts, int64_t length, int64_t blocks,
                                const Target &target) {
  int64_t together = llvm::divideCeil(parts * blocks, int64_t(target.multiprocessors)),
          last = together % kResidentBlocks;
  double rounds = static_cast<double>(together - last) + (last == 0   ? 0
                                                          : last == 1 ? kTimeOfOne
                                                                      : kTimeOfTwo);
  int64_t rows = llvm::alignTo(length, length > kLoadedRows ? kLoadedRows : kBlockRows);
  return rounds * (static_cast<double>(rows) + kBlockCost);
}

/// True if what `op` reduces is computed element by element for others as well. A kernel that does
/// all that has to hold what it reduces: else it would compute it again to write it.
static bool sharesElements(linalg::GenericOp op, linalg::GenericOp other) {
  return llvm::any_of(op.getInputs(), [&](Value input) {
    while (Operation *view = input.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(view))
        break;
      input = view->getOperand(0);
    }
    auto producer = input.getDefiningOp<linalg::GenericOp>();
    return producer && producer.getNumReductionLoops() == 0 &&
           llvm::any_of(input.getUsers(), [&](Operation *user) {
             return user != op && user != other &&
                    !isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user);
           });
  });
}

/// The parts of a column reduction of `size` elements, `kept` of which are side by side; 0 if no
/// suitable number of parts divides them. Parts of sums and squares are as long as it takes, since
/// each element is visited once (Columns/Moments.h); others are held.
int64_t PairSplitter::countColumnParts(int64_t size, int64_t kept) {
  int64_t bytes = 1, best = 0;
  for (OpOperand *input : first.getDpsInputOperands())
    if (first.getMatchingIndexingMap(input).getNumResults() == first.getNumLoops())
      bytes = std::max(bytes, getElementBytes(getElementTypeOrSelf(input->get())));
  int64_t blocks = llvm::divideCeil(kept * bytes, kBlockBytes);
  bool isHeld = form == Form::Exp || sharesElements(first, second);
  double least = 0;
  int64_t most = size / kShortestColumnPart;
  for (int64_t count = isHeld ? most : std::min(most, kMostPairParts); count > 1; --count) {
    if (size % count != 0 || (isHeld && size / count > kLoadedRows))
      continue;
    double time = estimatePartsTime(count, size / count, blocks, target);
    if (best == 0 || time <= least) {
      best = count;
      least = time;
    }
  }
  return best;
}

bool PairSplitter::chooseParts() {
  loop = getReducedLoop(second);
  ReductionGroup group;
  orderDims(second, group);
  isColumn = !group.reducesContiguousDim;
  SmallVector<int64_t> ranges = second.getStaticLoopRanges();
  int64_t size = 1, kept = 1; // in range: of tensors that are there
  for (auto [iterator, range] : llvm::zip_equal(second.getIteratorTypesArray(), ranges))
    (iterator == utils::IteratorType::reduction ? size : kept) *= range;
  if (isColumn) {
    parts = countColumnParts(size, kept);
    length = parts > 0 ? size / parts : 0;
    return parts > 0;
  }
  int64_t enough = kEnoughBlocks * target.multiprocessors;
  for (length = kLongestRowPart; length >= kShortestRowPart; length -= kPartMultiple)
    if (size % length == 0 && size / length * kept >= enough)
      break;
  parts = size / length;
  return length >= kShortestRowPart;
}

/// `map` with two loops, of parts and of elements of a part, for the one that is split.
AffineMap PairSplitter::splitLoop(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    results.push_back(builder.getAffineDimExpr(dim > loop ? dim + 1 : dim));
    if (dim == loop)
      results.push_back(builder.getAffineDimExpr(dim + 1));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, builder.getContext());
}

Value PairSplitter::expand(Value tensor, AffineMap map) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    groups.push_back({static_cast<int64_t>(shape.size())});
    if (cast<AffineDimExpr>(expr).getPosition() == loop) {
      shape.push_back(parts);
      groups.back().push_back(shape.size());
      shape.push_back(length);
    } else {
      shape.push_back(type.getShape()[dim]);
    }
  }
  if (shape.size() == groups.size())
    return tensor;
  return tensor::ExpandShapeOp::create(builder, tensor.getLoc(),
                                       RankedTensorType::get(shape, type.getElementType()), tensor,
                                       groups);
}

/// What `op` gives of each part, with `center`, if that is one, for its shift.
Value PairSplitter::makeParts(linalg::GenericOp op, Value center, TypedAttr start) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(isColumn ? shape.begin() : shape.end(), parts);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    // What the shift was computed of may not be there yet.
    bool isShift = center && shift.inputs.contains(input);
    inputs.push_back(isShift ? center : expand(input->get(), map));
    maps.push_back(isShift ? partMap : splitLoop(map));
  }
  maps.push_back(partMap);
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  Value value = arith::ConstantOp::create(builder, loc, start);
  Value filled = linalg::FillOp::create(builder, loc, value, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + loop, utils::IteratorType::parallel);
  auto result =
      linalg::GenericOp::create(builder, loc, filled.getType(), inputs, filled, maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&result.getRegion(), mapping);
  if (center)
    shift.replace(result, mapping);
  result->setAttr(kInPartsAttr, builder.getUnitAttr());
  return result.getResult(0);
}

/// Of a part with such a sum.
Value PairSplitter::makeMean(OpBuilder &body, Value sum) {
  Value factor = arith::ConstantOp::create(body, second.getLoc(),
                                           body.getFloatAttr(sum.getType(), 1.0 / length));
  return arith::MulFOp::create(body, second.getLoc(), sum, factor);
}

/// About what each part's second reduction is computed, of the results of its first one.
Value PairSplitter::makeCenters(Value results) {
  auto type = cast<RankedTensorType>(results.getType());
  Location loc = second.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto getConstant = [&](OpBuilder &body, double value) -> Value {
    return arith::ConstantOp::create(body, loc, body.getFloatAttr(type.getElementType(), value));
  };
  return linalg::GenericOp::create(
             builder, loc, type, results, empty, maps, iterators,
             [&](OpBuilder &body, Location, ValueRange arguments) {
               Value value = arguments.front(), center;
               if (form == Form::Square) {
                 center = makeMean(body, value);
               } else {
                 // An infinity is at no distance from itself: a part of nothing but the one below
                 // adds nothing, and with the one above the sum is infinite.
                 Value most = getConstant(body, std::numeric_limits<double>::infinity());
                 Value size = math::AbsFOp::create(body, loc, value);
                 Value isFinite =
                     arith::CmpFOp::create(body, loc, arith::CmpFPredicate::ONE, size, most);
                 center = arith::SelectOp::create(body, loc, isFinite, value, getConstant(body, 0));
               }
               linalg::YieldOp::create(body, loc, center);
             })
      .getResult(0);
}

/// Replaces `op` by the reduction of `getElement` of its parts' `inputs`, from where `op` starts.
void PairSplitter::makeLast(
    linalg::GenericOp op, ValueRange inputs, ArrayRef<AffineMap> inputMaps, AffineMap map,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> getElement) {
  OpBuilder here(op);
  unsigned rank = cast<RankedTensorType>(op.getResult(0).getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.insert(isColumn ? iterators.begin() : iterators.end(), utils::IteratorType::reduction);
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(map);
  auto last = linalg::GenericOp::create(
      here, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps, iterators,
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        Value element = getElement(body, loc, arguments.drop_back());
        bool isMaximum = op == first && form == Form::Exp;
        Value result =
            isMaximum ? arith::MaximumFOp::create(body, loc, arguments.back(), element).getResult()
                      : arith::AddFOp::create(body, loc, arguments.back(), element).getResult();
        linalg::YieldOp::create(body, loc, result);
      });
  last->setAttr(kInPartsAttr, here.getUnitAttr());
  op->replaceAllUsesWith(last);
  op->erase();
}

/// Makes one loop of those that are reduced, in both; false where that cannot be.
bool PairSplitter::mergeLoops() {
  if (second.getNumReductionLoops() == 1)
    return true;
  first = mergeReducedLoops(first);
  second = mergeReducedLoops(second);
  // Both have read the same tensors: the second one has them where the first one stands.
  for (OpOperand *input : second.getDpsInputOperands())
    for (Value other : first.getInputs())
      if (auto own = input->get().getDefiningOp<tensor::CollapseShapeOp>(),
          its = other.getDefiningOp<tensor::CollapseShapeOp>();
          own && its && own.getSrc() == its.getSrc() && own.getType() == its.getType())
        input->set(other);
  std::optional<Shift> merged = matchShift(second);
  if (!merged || first.getNumReductionLoops() > 1 || second.getNumReductionLoops() > 1)
    return false;
  shift = *merged;
  builder.setInsertionPoint(first);
  return true;
}

void PairSplitter::run() {
  if (!chooseParts() || !mergeLoops())
    return;
  MLIRContext *context = builder.getContext();
  Type element = getElementTypeOrSelf(second.getResult(0));
  bool isSquare = form == Form::Square;
  double least = isSquare ? 0.0 : -std::numeric_limits<double>::infinity();
  AffineMap kept = splitLoop(second.getIndexingMapsArray().back());
  partMap = kept.insertResult(builder.getAffineDimExpr(loop), isColumn ? 0 : kept.getNumResults());
  Value firsts = makeParts(first, {}, builder.getFloatAttr(element, least));
  Value centers = makeCenters(firsts);
  Value seconds = makeParts(second, centers, builder.getFloatAttr(element, 0.0));

  // Over results, and parts where they are in memory: before columns, behind rows.
  unsigned rank = kept.getNumResults();
  SmallVector<AffineExpr> results;
  for (unsigned dim = 0; dim < rank; ++dim)
    results.push_back(getAffineDimExpr(dim + (isColumn ? 1 : 0), context));
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank + 1, context),
            one = AffineMap::get(rank + 1, 0, results, context);
  SmallVector<Value> inputs = {seconds, firsts};
  SmallVector<AffineMap> maps = {all, all};
  for (OpOperand *input : shift.inputs) {
    inputs.push_back(input->get());
    maps.push_back(one);
  }
  makeLast(second, inputs, maps, one, [&](OpBuilder &body, Location loc, ValueRange in) -> Value {
    Value moved = shift.clone(body, second, in.drop_front(2));
    if (isSquare) {
      Value mean = makeMean(body, in[1]);
      Value count = arith::ConstantOp::create(
          body, loc, body.getFloatAttr(element, static_cast<double>(length)));
      return moveSquares(body, loc, in[0], mean, moved, count);
    }
    Value distance = arith::SubFOp::create(body, loc, in[1], moved);
    Value factor = math::ExpOp::create(body, loc, distance);
    return arith::MulFOp::create(body, loc, in[0], factor);
  });
  makeLast(first, firsts, all, one, [](OpBuilder &, Location, ValueRange in) { return in[0]; });
}

void splitDependentReductions(func::FuncOp function, const Target &target) {
  SmallVector<linalg::GenericOp> reductions;
  for (auto op : function.getOps<linalg::GenericOp>())
    if (op.getNumReductionLoops() > 0)
      reductions.push_back(op);
  for (linalg::GenericOp op : reductions)
    trySplit(op, target);
}

} // namespace xc::cuda
