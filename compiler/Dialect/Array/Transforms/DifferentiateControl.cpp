//===- DifferentiateControl.cpp - Gradients of if and while ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regions see values from outside, so a region is differentiated by its values: a copy of its ops
// is followed by what flows back from what it yields.
//
// if:    another if on the same condition. Each region computes again what the old one did, and
//        yields what flows back to the values from outside that either uses.
//
// while: the loop is replaced by one that also counts its iterations and keeps the values that each
//        begins with, in arrays with a dim for iterations. A second loop counts down, and in each
//        iteration computes one iteration of the old loop again and takes the cotangents of its
//        values from behind it to before it; what flows to values from outside is added up.
//
//          %n, %y, %kept = while (0, %x, zeros[bound]) { ...; kept[n] = y; yield n + 1, f(y), kept
//          } %dx = while (%n, %dy) { t > 0 } { yield t - 1, vjp of f at kept[t - 1] }
//
// How many iterations there may be has to be known beside the loop, for the arrays' sizes: a
// condition that compares a value which grows by a constant with a constant or with a size, also as
// one of several conditions. Other loops are refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Differentiate.h"

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// A copy of a region may stand behind assignments, but reads what the region does.
static void hoistReads(Operation *op) {
  SmallVector<Operation *> reads;
  op->walk([&](VariableReadOp read) { reads.push_back(read); });
  for (Operation *read : reads)
    read->moveBefore(op);
}

/// The values from outside that `regions` use and that are in `dependent`.
static Values findCaptures(MutableArrayRef<Region> regions,
                           const llvm::DenseSet<Value> &dependent) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(regions, used);
  used.remove_if([&](Value value) { return !dependent.contains(value) || !isFloatTensor(value); });
  return used.takeVector();
}

/// Copies the ops of `from` to the end of the builder's block, and takes `cotangents` of what
/// `from` yields (null for none) back to `wanted`: zeros for those that it does not reach.
static FailureOr<Values> differentiateCopy(OpBuilder &builder, Block &from, IRMapping &mapping,
                                           ValueRange cotangents, ValueRange wanted) {
  Location loc = from.getParentOp()->getLoc();
  for (Operation &op : from.without_terminator())
    builder.clone(op, mapping);
  llvm::DenseSet<Value> dependent(wanted.begin(), wanted.end());
  FailureOr<SmallVector<Operation *>> ops = findDependent(*builder.getInsertionBlock(), dependent);
  if (failed(ops))
    return failure();
  FlowingCotangents flowing(builder, loc);
  for (auto [yielded, cotangent] :
       llvm::zip_equal(from.getTerminator()->getOperands(), cotangents)) {
    Value value = mapping.lookupOrDefault(yielded);
    if (!cotangent || !dependent.contains(value))
      continue;
    flowing.add(value, ExpressionBuilder(builder, loc).finish(cotangent, value.getType()));
  }
  if (failed(pullBackAll(builder, *ops, dependent, flowing)))
    return failure();
  ExpressionBuilder e(builder, loc);
  return llvm::map_to_vector(wanted, [&](Value value) {
    Value gradient = flowing.lookup(value);
    return gradient ? gradient : e.zerosLike(value);
  });
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static LogicalResult pullBackIf(OpBuilder &builder, IfOp op, const llvm::DenseSet<Value> &dependent,
                                FlowingCotangents &flowing) {
  Values captures = findCaptures(op->getRegions(), dependent),
         cotangents = llvm::map_to_vector(op.getResults(),
                                          [&](Value result) { return flowing.lookup(result); });
  if (captures.empty())
    return success();
  hoistReads(op);
  auto gradient =
      IfOp::create(builder, op.getLoc(), ValueRange(captures).getTypes(), op.getCondition());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), gradient->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&to);
    IRMapping mapping;
    FailureOr<Values> values =
        differentiateCopy(builder, from.front(), mapping, cotangents, captures);
    if (failed(values))
      return failure();
    YieldOp::create(builder, op.getLoc(), *values);
  }
  for (auto [capture, cotangent] : llvm::zip_equal(captures, gradient.getResults()))
    flowing.add(capture, cotangent);
  return success();
}

//===----------------------------------------------------------------------===//
// How often a loop runs
//===----------------------------------------------------------------------===//

namespace {

/// Finds a number that the iterations of a loop do not exceed.
class RoundBound {
public:
  /// Sizes are computed at the builder's place, before the loop.
  RoundBound(OpBuilder &builder, WhileOp loop)
      : builder(builder), loop(loop), sizes(builder, loop.getLoc()) {}

  /// At least 1; null where there is none.
  OpFoldResult find() { return ofCondition(yieldOf(loop.getCondition(), 0)); }

private:
  static Value yieldOf(Region &region, unsigned index) {
    return region.front().getTerminator()->getOperand(index);
  }
  OpFoldResult ofCondition(Value condition);
  OpFoldResult ofCounter(CompareDirection direction, Value counter, Value limit);
  OpFoldResult getSize(Value value);
  std::optional<int64_t> getStep(unsigned argument);

  OpBuilder &builder;
  WhileOp loop;
  SizeBuilder sizes;
};

} // namespace

static std::optional<int64_t> getNumber(Value value) {
  DenseElementsAttr elements;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<IntegerType>(type.getElementType()) ||
      !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  APInt number = elements.getSplatValue<APInt>();
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  if (number.getSignificantBits() > (isUnsigned ? 62u : 63u))
    return std::nullopt;
  return isUnsigned ? static_cast<int64_t>(number.getZExtValue()) : number.getSExtValue();
}

/// What the body adds to value `argument` in each iteration.
std::optional<int64_t> RoundBound::getStep(unsigned argument) {
  Operation *op = yieldOf(loop.getBody(), argument).getDefiningOp();
  Value old = loop.getBody().getArgument(argument);
  if (!isa_and_present<AddOp, SubOp>(op))
    return std::nullopt;
  if (op->getOperand(0) == old) {
    std::optional<int64_t> step = getNumber(op->getOperand(1));
    return step && isa<SubOp>(op) ? -*step : step;
  }
  return isa<AddOp>(op) && op->getOperand(1) == old ? getNumber(op->getOperand(0)) : std::nullopt;
}

/// A size, or a number, that is the same in all iterations and that `value` does not exceed.
OpFoldResult RoundBound::getSize(Value value) {
  if (std::optional<int64_t> number = getNumber(value))
    return sizes.constant(*number);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned index = argument.getArgNumber();
    bool isKept = argument.getOwner() == &loop.getCondition().front() &&
                  yieldOf(loop.getBody(), index) == loop.getBody().getArgument(index);
    return isKept ? getSize(loop.getInits()[index]) : OpFoldResult();
  }
  Operation *op = value.getDefiningOp();
  if (auto min = dyn_cast<MinOp>(op)) {
    OpFoldResult left = getSize(min.getLhs());
    return left ? left : getSize(min.getRhs());
  }
  auto data = dyn_cast<FromIndexOp>(op);
  if (!data || !isa<IntegerType>(data.getType().getElementType()))
    return {};
  Value size = data.getOperand();
  if (!loop->isAncestor(size.getParentRegion()->getParentOp()))
    return size;
  Operation *dim = size.getDefiningOp();
  bool isOutside = isa_and_present<DimOp, tensor::DimOp>(dim) &&
                   llvm::all_of(dim->getOperands(), [&](Value operand) {
                     return !loop->isAncestor(operand.getParentRegion()->getParentOp());
                   });
  if (!isOutside)
    return {};
  return Value(builder.clone(*dim)->getResult(0));
}

/// The iterations while `counter` `direction` `limit`.
OpFoldResult RoundBound::ofCounter(CompareDirection direction, Value counter, Value limit) {
  auto argument = dyn_cast<BlockArgument>(counter);
  if (!argument || argument.getOwner() != &loop.getCondition().front())
    return {};
  std::optional<int64_t> step = getStep(argument.getArgNumber());
  Value init = loop.getInits()[argument.getArgNumber()];
  if (!step || *step == 0)
    return {};
  bool isUp = *step > 0,
       isClosed = direction == CompareDirection::Le || direction == CompareDirection::Ge;
  bool isTowards = isUp ? direction == CompareDirection::Lt || direction == CompareDirection::Le
                        : direction == CompareDirection::Gt || direction == CompareDirection::Ge;
  // One that ends at a number ends there only if it is met.
  if (direction == CompareDirection::Ne)
    isTowards = std::abs(*step) == 1;
  std::optional<int64_t> low = getNumber(isUp ? init : limit);
  OpFoldResult high = getSize(isUp ? limit : init);
  if (!isTowards || !low || !high)
    return {};
  if (std::optional<int64_t> number = getConstantIntValue(high)) {
    int64_t distance = *number - *low + isClosed, size = std::abs(*step);
    if (distance < 0 && direction == CompareDirection::Ne)
      return {};
    return sizes.constant(std::max<int64_t>((distance + size - 1) / size, 1));
  }
  if (direction == CompareDirection::Ne)
    return {};
  return sizes.add(high, sizes.constant(1 + std::max<int64_t>(-*low, 0)));
}

OpFoldResult RoundBound::ofCondition(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_present<AndOp>(op)) {
    OpFoldResult left = ofCondition(op->getOperand(0));
    return left ? left : ofCondition(op->getOperand(1));
  }
  auto compare = dyn_cast_if_present<CompareOp>(op);
  if (!compare)
    return {};
  if (OpFoldResult iterations =
          ofCounter(compare.getDirection(), compare.getLhs(), compare.getRhs()))
    return iterations;
  auto swapped = [](CompareDirection direction) {
    switch (direction) {
    case CompareDirection::Lt:
      return CompareDirection::Gt;
    case CompareDirection::Le:
      return CompareDirection::Ge;
    case CompareDirection::Gt:
      return CompareDirection::Lt;
    case CompareDirection::Ge:
      return CompareDirection::Le;
    default:
      return direction;
    }
  };
  return ofCounter(swapped(compare.getDirection()), compare.getRhs(), compare.getLhs());
}

//===----------------------------------------------------------------------===//
// While
//===----------------------------------------------------------------------===//

namespace {

class LoopGradient {
public:
  LoopGradient(OpBuilder &builder, WhileOp loop, const llvm::DenseSet<Value> &outside,
               FlowingCotangents &flowing)
      : builder(builder), loop(loop), outside(outside), flowing(flowing), e(builder, loop.getLoc()),
        sizes(builder, loop.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult findCarried();
  LogicalResult refuseExtents();
  void readUnchanged();
  LogicalResult buildBackward();
  void dropUnused();
  WhileOp keepValues();
  void readKept(WhileOp keeping);
  Value makePlaceholder(Type type) {
    return UnrealizedConversionCastOp::create(builder, loop.getLoc(), TypeRange{type}, ValueRange{})
        .getResult(0);
  }
  Value number(int64_t value) { return e.integer(value, builder.getI64Type()); }
  Values startsAt(Value iteration, int64_t rank) {
    Values starts(rank, number(0));
    starts[0] = iteration;
    return starts;
  }
  Value makeRoom(Value like, RankedTensorType type);
  Value slice(Value kept, Value iteration, RankedTensorType type);

  OpBuilder &builder;
  WhileOp loop, backward;
  const llvm::DenseSet<Value> &outside;
  FlowingCotangents &flowing;
  ExpressionBuilder e;
  SizeBuilder sizes;
  OpFoldResult bound;
  /// The values that depend on what is wanted, and those from outside that the body uses.
  SmallVector<unsigned> carried;
  Values captures;
  /// What stands for the number of iterations, and for the values of an iteration, until they are
  /// kept.
  Value iterations;
  Values placeholders;
};

} // namespace

/// A value depends on what is wanted where its first one does, or where what an iteration makes of
/// values that do.
LogicalResult LoopGradient::findCarried() {
  Block &body = loop.getBody().front();
  llvm::DenseSet<unsigned> found;
  size_t before;
  for (auto [index, init] : llvm::enumerate(loop.getInits()))
    if (outside.contains(init) && isFloatTensor(init))
      found.insert(index);
  do {
    before = found.size();
    llvm::DenseSet<Value> inside = outside;
    for (unsigned index : found)
      inside.insert(body.getArgument(index));
    if (failed(findDependent(body, inside)))
      return failure();
    for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (inside.contains(value) && isFloatTensor(value))
        found.insert(index);
  } while (found.size() != before);
  carried.assign(found.begin(), found.end());
  llvm::sort(carried);
  return success();
}

/// The op that gives `value`, or what it is computed of element by element, a dim with an extent in
/// device memory; null where none is found.
static Operation *findExtent(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<RankedTensorType>(value.getType()) || typeOf(value).hasStaticShape())
    return nullptr;
  if (isa<SetExtentOp, CompressOp, AppendOp>(op))
    return op;
  if (isa<ArrayElementwiseOpInterface, tensor::CastOp>(op))
    for (Value operand : op->getOperands())
      if (Operation *found = findExtent(operand))
        return found;
  return nullptr;
}

/// What is kept of each iteration would have another extent.
LogicalResult LoopGradient::refuseExtents() {
  for (auto [index, placeholder] : llvm::enumerate(placeholders)) {
    Operation *extent = findExtent(loop.getInits()[index]);
    if (!extent)
      extent = findExtent(loop.getBody().front().getTerminator()->getOperand(index));
    if (placeholder.use_empty() || !extent)
      continue;
    InFlightDiagnostic error =
        loop.emitError()
        << "'array.while' has no gradient: value " << index
        << ", which its gradient needs of each iteration, has a bounded dynamic dim; "
           "carry an array of the bound's size and the runtime size as "
           "data, and use array.set_extent in the body";
    error.attachNote(extent->getLoc()) << "its runtime size comes from here";
    return error;
  }
  return success();
}

/// The loop that counts down, with placeholders for what the other one will keep.
LogicalResult LoopGradient::buildBackward() {
  Location loc = loop.getLoc();
  iterations = makePlaceholder(RankedTensorType::get({}, builder.getI64Type()));
  Values inits{iterations};
  for (unsigned index : carried) {
    Value result = loop.getResult(index), cotangent = flowing.lookup(result);
    if (!cotangent || !typeOf(result).hasStaticShape()) {
      // The sum says that both have the same sizes, which those of an argument are known by.
      Value zeros = e.zerosLike(result);
      cotangent = cotangent ? e.add(zeros, cotangent) : zeros;
    }
    inits.push_back(e.finish(cotangent, result.getType()));
  }
  for (Value capture : captures)
    inits.push_back(e.zerosLike(capture));
  backward = WhileOp::create(builder, loc, ValueRange(inits).getTypes(), inits);
  SmallVector<Location> places(inits.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition =
      builder.createBlock(&backward.getCondition(), {}, backward.getResultTypes(), places);
  YieldOp::create(builder, loc,
                  e.compare(CompareDirection::Gt, condition->getArgument(0), number(0)));
  Block *body = builder.createBlock(&backward.getBody(), {}, backward.getResultTypes(), places);
  Values next{e.sub(body->getArgument(0), number(1))};
  IRMapping mapping;
  for (BlockArgument argument : loop.getBody().getArguments()) {
    placeholders.push_back(makePlaceholder(argument.getType()));
    mapping.map(argument, placeholders.back());
  }
  Values cotangents(loop.getNumResults()), wanted;
  for (auto [position, index] : llvm::enumerate(carried)) {
    cotangents[index] = body->getArgument(1 + position);
    wanted.push_back(placeholders[index]);
  }
  wanted.append(captures);
  FailureOr<Values> gradients =
      differentiateCopy(builder, loop.getBody().front(), mapping, cotangents, wanted);
  if (failed(gradients))
    return failure();
  for (auto [position, gradient] : llvm::enumerate(*gradients)) {
    Value old = body->getArgument(1 + position);
    bool isSum = position >= carried.size();
    next.push_back(e.finish(isSum ? e.add(old, gradient) : gradient, old.getType()));
  }
  YieldOp::create(builder, loc, next);
  return success();
}

/// Not all that an iteration computes is needed for its gradient.
void LoopGradient::dropUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(backward.getBody().front())))
    if (isOpTriviallyDead(&op) && !isa<UnrealizedConversionCastOp>(op))
      op.erase();
}

/// What no iteration changes is what the loop began with, and is not kept of each.
void LoopGradient::readUnchanged() {
  Block &body = loop.getBody().front();
  for (auto [index, yielded] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (yielded == body.getArgument(index))
      placeholders[index].replaceAllUsesWith(loop.getInits()[index]);
}

/// Zeros for all iterations of a value like `like`.
Value LoopGradient::makeRoom(Value like, RankedTensorType type) {
  Values dynamic;
  SmallVector<int64_t> shape{getConstantIntValue(bound).value_or(ShapedType::kDynamic)};
  if (!getConstantIntValue(bound))
    dynamic.push_back(sizes.value(bound));
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    shape.push_back(size);
    if (ShapedType::isDynamic(size))
      dynamic.push_back(sizes.value(sizes.size(like, dim)));
  }
  Type element = type.getElementType();
  auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                     cast<Attribute>(builder.getZeroAttr(element)));
  return e.make<BroadcastInDimOp>(type.clone(shape), e.make<ConstantOp>(zero), dynamic,
                                  ArrayRef<int64_t>());
}

/// Replaces the loop by one that also gives the number of iterations and what each of them began
/// with.
WhileOp LoopGradient::keepValues() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Values inits(loop.getInits());
  inits.push_back(number(0));
  SmallVector<unsigned> kept;
  for (auto [index, placeholder] : llvm::enumerate(placeholders)) {
    if (placeholder.use_empty())
      continue;
    kept.push_back(index);
    inits.push_back(makeRoom(loop.getInits()[index], typeOf(placeholder)));
  }
  SmallVector<Type> types(loop.getResultTypes());
  llvm::append_range(types, ValueRange(inits).drop_front(types.size()).getTypes());
  auto keeping = WhileOp::create(builder, loc, types, inits);
  unsigned old = loop.getNumResults();
  for (auto [from, to] : llvm::zip_equal(loop->getRegions(), keeping->getRegions())) {
    to.takeBody(from);
    for (Type type : ArrayRef(types).drop_front(old))
      to.addArgument(type, loc);
  }
  Block &body = keeping.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  builder.setInsertionPoint(yield);
  Value iteration = body.getArgument(old);
  Values next{e.add(iteration, number(1))};
  for (auto [position, index] : llvm::enumerate(kept)) {
    Value all = body.getArgument(old + 1 + position);
    Value one = e.make<ExpandDimsOp>(body.getArgument(index), ArrayRef<int64_t>{0});
    next.push_back(
        e.finish(e.make<DynamicUpdateSliceOp>(all, one, startsAt(iteration, typeOf(all).getRank())),
                 all.getType()));
  }
  yield.getValuesMutable().append(next);
  loop->replaceAllUsesWith(keeping.getResults().take_front(old));
  loop.erase();
  return keeping;
}

/// What `kept` holds of `iteration`.
Value LoopGradient::slice(Value kept, Value iteration, RankedTensorType type) {
  SmallVector<int64_t> shape{1};
  Values dynamic;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    shape.push_back(size);
    if (ShapedType::isDynamic(size))
      dynamic.push_back(sizes.value(sizes.size(kept, dim + 1)));
  }
  Value one = e.make<DynamicSliceOp>(type.clone(shape), kept,
                                     startsAt(iteration, type.getRank() + 1), dynamic);
  return e.finish(e.make<SqueezeOp>(one, ArrayRef<int64_t>{0}), type);
}

void LoopGradient::readKept(WhileOp keeping) {
  OpBuilder::InsertionGuard guard(builder);
  unsigned next = placeholders.size();
  iterations.replaceAllUsesWith(keeping.getResult(next++));
  iterations.getDefiningOp()->erase();
  Value iteration = backward.getBody().front().getTerminator()->getOperand(0);
  for (Value placeholder : placeholders) {
    if (!placeholder.use_empty()) {
      builder.setInsertionPoint(placeholder.getDefiningOp());
      placeholder.replaceAllUsesWith(
          slice(keeping.getResult(next++), iteration, typeOf(placeholder)));
    }
    placeholder.getDefiningOp()->erase();
  }
}

LogicalResult LoopGradient::run() {
  hoistReads(loop);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop);
    bound = RoundBound(builder, loop).find();
  }
  if (!bound)
    return loop.emitError()
           << "'array.while' has no gradient: expected a condition that bounds the number of "
              "iterations, a carried number that grows by a constant compared with a constant or a "
              "size, since what each iteration begins with is kept";
  if (failed(findCarried()))
    return failure();
  captures = findCaptures(loop.getBody(), outside);
  Values inits(loop.getInits());
  if (failed(buildBackward()))
    return failure();
  dropUnused();
  readUnchanged();
  if (failed(refuseExtents()))
    return failure();
  readKept(keepValues());
  for (auto [position, index] : llvm::enumerate(carried))
    if (isFloatTensor(inits[index]))
      flowing.add(inits[index], e.finish(backward.getResult(1 + position), inits[index].getType()));
  for (auto [position, capture] : llvm::enumerate(captures))
    flowing.add(capture, backward.getResult(1 + carried.size() + position));
  return success();
}

LogicalResult pullBackControl(OpBuilder &builder, Operation *op,
                              const llvm::DenseSet<Value> &dependent, FlowingCotangents &flowing) {
  if (auto branch = dyn_cast<IfOp>(op))
    return pullBackIf(builder, branch, dependent, flowing);
  return LoopGradient(builder, cast<WhileOp>(op), dependent, flowing).run();
}

} // namespace xc::array
