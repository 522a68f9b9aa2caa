//===- BuildPlan.cpp - Turn functions on tensors into plans on buffers ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each function:
// 1. Every tensor's *root* is the value whose memory it looks at; views differ from their root by
// an offset.
// 2. Roots that are returned or assigned to a variable are computed in place there, where nothing
// that runs later needs
//    what was there before; the others that are computed live in the arena.
// 3. Commands are listed in program order: dispatches, then copies to outputs, then copies to
// variables.
// 4. The arena is laid out by lifetimes, edges are made from hazards, and the plan.function is
// written.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/Transforms/EmitPlan.h"
#include "compiler/Dialect/Plan/Transforms/Passes.h"
#include "compiler/Dialect/Plan/Transforms/PlanBuilder.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace xc::plan {
#define GEN_PASS_DEF_BUILDPLAN
#include "compiler/Dialect/Plan/Transforms/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// A tensor that has no elements and so needs nobody to compute it.
static bool isEmptyTensor(Operation &op) {
  auto empty = dyn_cast<tensor::EmptyOp>(op);
  return empty && llvm::is_contained(empty.getType().getShape(), 0);
}

/// A tensor that loops are the first to write, each in a place of its own.
static bool isUnwritten(Operation &op) {
  return isa<tensor::EmptyOp>(op) && llvm::all_of(op.getUses(), [](OpOperand &use) {
           auto loop = dyn_cast<LoopOp>(use.getOwner());
           return isa<tensor::DimOp>(use.getOwner()) ||
                  (loop && use.getOperandNumber() < loop.getInits().size());
         });
}

/// The one value of all of the tensor's elements, if it is a constant of whole bytes.
static DenseElementsAttr getSplat(Value tensor) {
  DenseElementsAttr elements;
  if (!matchPattern(getRoot(tensor), m_Constant(&elements)) || !elements.isSplat() ||
      !elements.getElementType().isIntOrFloat() ||
      elements.getElementType().getIntOrFloatBitWidth() % 8 != 0)
    return {};
  return elements;
}

/// True if copies are all that the tensor, or views of it, are used for.
static bool isOnlyCopied(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<LoopOp>(user))
      return use.getOperandNumber() < loop.getInits().size();
    if (auto dispatch = dyn_cast<DispatchOp>(user))
      return use.getOperandNumber() >= user->getNumOperands() - dispatch.getInits().size();
    if (isView(user))
      return isOnlyCopied(user->getResult(0));
    return isa<func::ReturnOp, array::VariableAssignOp, tensor::DimOp>(user);
  });
}

FailureOr<FormulaAttr> PlanBuilder::getFormula(OpFoldResult index) {
  FailureOr<FormulaAttr> formula = dims.getFormula(index);
  if (failed(formula) || !toRoot)
    return formula;
  return (*toRoot)(*formula);
}

FailureOr<SmallVector<FormulaAttr>> PlanBuilder::getShape(Value tensor) {
  FailureOr<SmallVector<FormulaAttr>> shape = dims.getShape(tensor);
  if (succeeded(shape) && toRoot)
    for (FormulaAttr &dim : *shape)
      dim = (*toRoot)(dim);
  return shape;
}

FailureOr<FormulaAttr> PlanBuilder::getByteSize(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<SmallVector<FormulaAttr>> shape = getShape(tensor);
  if (failed(shape))
    return emitError(tensor.getLoc(), "expected sizes that are formulas over the dynamic dims of "
                                      "the function's inputs, got ")
           << type;
  if (!type.getElementType().isIntOrFloat())
    return emitError(tensor.getLoc(), "expected elements of integers or floats, got ") << type;
  FormulaAttr size = constant(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  for (FormulaAttr dim : *shape)
    size = size * dim;
  return getRootPlan().dims.shorten(size);
}

unsigned PlanBuilder::addBuffer(Space space, unsigned ordinal, FormulaAttr size) {
  plan->buffers.push_back({space, ordinal, size});
  return plan->buffers.size() - 1;
}

unsigned PlanBuilder::getFixedBuffer(Space space, unsigned ordinal, FormulaAttr size) {
  auto [it, isNew] =
      fixedBuffers.try_emplace({static_cast<unsigned>(space), ordinal}, plan->buffers.size());
  if (isNew)
    addBuffer(space, ordinal, size);
  return it->second;
}

/// The buffer of the plan around this one that has the number `number` there.
unsigned PlanBuilder::getOuterBuffer(unsigned number) {
  auto [it, isNew] = outerBuffers.try_emplace(number, plan->buffers.size());
  if (isNew) {
    addBuffer(Space::Input, 0, parent->plan->buffers[number].size);
    plan->buffers.back().outer = number;
  }
  return it->second;
}

/// Where result `index` of the function goes.
std::optional<unsigned> PlanBuilder::getReplacedArgument(unsigned result) {
  if (outer)
    return outer->replacesArguments ? std::optional<unsigned>(result) : std::nullopt;
  if (auto alias = func.getResultAttrOfType<IntegerAttr>(result, array::kAliasAttr))
    return alias.getInt();
  return std::nullopt;
}

bool PlanBuilder::isInit() { return !outer && func->hasAttr(kInitAttr); }

unsigned PlanBuilder::getTarget(unsigned index, FormulaAttr size) {
  if (outer)
    return getOuterBuffer(outer->targets[index]);
  if (std::optional<unsigned> argument = getReplacedArgument(index))
    return getFixedBuffer(Space::Input, *argument, size);
  return getFixedBuffer(isInit() ? Space::Packed : Space::Output, index, size);
}

LogicalResult PlanBuilder::placeArguments() {
  for (BlockArgument argument : func.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      return func.emitOpError("expected inputs that are tensors, got ")
             << argument.getType() << " as input " << argument.getArgNumber();
    FailureOr<FormulaAttr> size = getByteSize(argument);
    if (failed(size))
      return failure();
    places[argument] = {getFixedBuffer(Space::Input, argument.getArgNumber(), *size), constant(0),
                        *size};
  }
  return success();
}

/// Constants, parameters, variables, and tensors without elements, which lie anywhere.
LogicalResult PlanBuilder::placeData(Operation &op) {
  Value result = op.getResult(0);
  FailureOr<FormulaAttr> size = getByteSize(result);
  if (failed(size))
    return failure();
  unsigned buffer;
  if (isa<tensor::EmptyOp>(op)) {
    buffer = addBuffer(Space::Arena, 0, *size);
    plan->buffers[buffer].first = 0;
  } else if (auto parameter = dyn_cast<array::ParameterOp>(op)) {
    buffer = getFixedBuffer(Space::Parameter, data.addParameter(parameter), *size);
  } else if (auto packed = dyn_cast<PackedOp>(op)) {
    buffer = getFixedBuffer(Space::Packed, packed.getOrdinal(), *size);
  } else if (auto read = dyn_cast<array::VariableReadOp>(op)) {
    FailureOr<unsigned> ordinal = data.getVariable(read.getVariableAttr().getAttr(), op.getLoc());
    if (failed(ordinal))
      return failure();
    buffer = getFixedBuffer(Space::Variable, *ordinal, *size);
  } else {
    // A value that is repeated and only copied needs no place: its copies are fills.
    Attribute value;
    matchPattern(&op, m_Constant(&value));
    FailureOr<unsigned> ordinal = 0;
    bool isStored = !getSplat(result) || !isOnlyCopied(result);
    if (isStored)
      ordinal = data.addConstant(cast<ElementsAttr>(value), op.getLoc());
    if (failed(ordinal))
      return failure();
    buffer = isStored ? getFixedBuffer(Space::Constant, *ordinal, *size)
                      : addBuffer(Space::Constant, *ordinal, *size);
  }
  places[result] = {buffer, constant(0), *size};
  return success();
}

LogicalResult PlanBuilder::placeView(Operation &op) {
  Value result = op.getResult(0);
  Place place = places.at(op.getOperand(0));
  FailureOr<FormulaAttr> size = getByteSize(result);
  if (failed(size))
    return failure();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    FailureOr<SmallVector<FormulaAttr>> shape = getShape(slice.getSource());
    FormulaAttr elements = constant(0);
    for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      FailureOr<FormulaAttr> start = getFormula(offset);
      if (failed(shape) || failed(start))
        return op.emitOpError(
            "expected an offset that is a formula over the dynamic dims of the function's inputs");
      elements = elements * (*shape)[dim] + *start;
    }
    place.offset =
        place.offset + elements * llvm::divideCeil(slice.getType().getElementTypeBitWidth(), 8);
  }
  place.length = *size;
  places[result] = place;
  return success();
}

void PlanBuilder::touch(Command &command, unsigned buffer, FormulaAttr offset, FormulaAttr length,
                        Access access, unsigned whole) {
  unsigned position = plan->commands.size();
  plan->buffers[buffer].first = std::min(plan->buffers[buffer].first, position);
  plan->buffers[buffer].last = std::max(plan->buffers[buffer].last, position);
  command.accesses.push_back({buffer, offset, length, access, whole});
}

/// The number of what result `index` is a part of; 0 if it is none.
unsigned PlanBuilder::getWhole(DispatchOp dispatch, unsigned index) {
  if (!isPart(dispatch, index))
    return 0;
  Value result = dispatch.getResult(index), init = dispatch.getInit(index);
  bool isBesideOthers = init && isAt(init, places.at(result).buffer);
  unsigned whole = isBesideOthers ? wholes.lookup(init) : 0;
  return wholes[result] = whole != 0 ? whole : ++numWholes;
}

LogicalResult PlanBuilder::addDispatch(DispatchOp dispatch, unsigned position) {
  Command command{dispatch.getLoc(), dispatch.getKernelAttr(), {}, {}};
  for (unsigned index = 0; index < dispatch.getNumResults(); ++index) {
    Value result = dispatch.getResult(index);
    FailureOr<FormulaAttr> size = getByteSize(result);
    if (failed(size))
      return failure();
    FailureOr<unsigned> buffer = chooseBuffer(dispatch, index, position, *size);
    if (failed(buffer))
      return failure();
    places[result] = {*buffer, constant(0), *size};
    // What the kernel does not write has to be there before it.
    if (Value init = dispatch.getInit(index); init && !isAt(init, *buffer))
      if (failed(addCopy(dispatch.getLoc(), init, *buffer)))
        return failure();
  }
  for (Value input : dispatch.getInputs()) {
    Place place = places.at(input);
    touch(command, place.buffer, place.offset, place.length, Access::Read);
  }
  for (auto [index, result] : llvm::enumerate(dispatch.getResults())) {
    Place place = places.at(result);
    touch(command, place.buffer, place.offset, place.length,
          dispatch.getInit(index) ? Access::ReadWrite : Access::Write, getWhole(dispatch, index));
  }
  for (Value scalar : dispatch.getScalars()) {
    FailureOr<FormulaAttr> formula = getFormula(OpFoldResult(scalar));
    if (failed(formula))
      return dispatch.emitOpError(
          "expected scalars that are formulas over the dynamic dims of the function's inputs");
    command.scalars.push_back(*formula);
  }
  plan->commands.push_back(std::move(command));
  return success();
}

LogicalResult PlanBuilder::addCopy(Location loc, Value value, unsigned target) {
  Place place = places.at(value);
  if (place.length == constant(0))
    return success();
  Command command{loc, {}, {}, {}};
  command.fill = getSplat(value);
  if (command.fill) {
    touch(command, target, constant(0), place.length, Access::Write);
    plan->commands.push_back(std::move(command));
    return success();
  }
  touch(command, place.buffer, place.offset, place.length, Access::Read);
  touch(command, target, constant(0), place.length, Access::Write);
  plan->commands.push_back(std::move(command));
  return success();
}

LogicalResult PlanBuilder::addReturns() {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  // Results that take over arguments, as all of a loop's body do, change them at once: what is the
  // old value of another, or a part of such, is saved before that one changes.
  SmallVector<std::pair<unsigned, Value>> pending;
  llvm::SmallDenseSet<unsigned> replaced;
  for (auto [index, value] : llvm::enumerate(ret.getOperands()))
    if (getReplacedArgument(index))
      replaced.insert(getTarget(index, places.at(value).length));
  auto save = [&](Location loc, Value value) -> LogicalResult {
    Place &place = places.at(value);
    unsigned saved = addBuffer(Space::Arena, 0, place.length);
    if (failed(addCopy(loc, value, saved)))
      return failure();
    place = {saved, constant(0), place.length};
    return success();
  };
  for (auto assign : func.getBody().getOps<array::VariableAssignOp>())
    if (replaced.contains(places.at(assign.getValue()).buffer) &&
        failed(save(assign.getLoc(), assign.getValue())))
      return failure();
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    Place &place = places.at(value);
    unsigned target = getTarget(index, place.length);
    bool isThere = place.buffer == target && place.offset == constant(0);
    if (isThere && (outputDone.lookup(index) || replaced.contains(target)))
      continue;
    if (replaced.contains(place.buffer) && failed(save(ret.getLoc(), value)))
      return failure();
    pending.push_back({target, value});
  }
  for (auto [target, value] : pending)
    if (failed(addCopy(ret.getLoc(), value, target)))
      return failure();
  return success();
}

LogicalResult PlanBuilder::addAssigns() {
  // A new value that is an old value of another variable is saved first: assignments happen all at
  // once.
  SmallVector<std::pair<array::VariableAssignOp, Value>> pending;
  for (auto assign : func.getBody().getOps<array::VariableAssignOp>()) {
    Value value = assign.getValue();
    StringAttr name = assign.getVariableAttr().getAttr();
    FailureOr<unsigned> ordinal = data.getVariable(name, assign.getLoc());
    if (failed(ordinal))
      return failure();
    const Buffer &source = plan->buffers[places.at(value).buffer];
    if (source.space == Space::Variable && source.ordinal == *ordinal && isWholeRoot(value))
      continue; // computed in place, or assigned to itself
    if (source.space == Space::Variable) {
      unsigned saved = addBuffer(Space::Arena, 0, places.at(value).length);
      if (failed(addCopy(assign.getLoc(), value, saved)))
        return failure();
      places[value] = {saved, constant(0), places.at(value).length};
    }
    pending.push_back({assign, value});
  }
  for (auto [assign, value] : pending) {
    unsigned ordinal = *data.getVariable(assign.getVariableAttr().getAttr(), assign.getLoc());
    unsigned target = getFixedBuffer(Space::Variable, ordinal, places.at(value).length);
    if (failed(addCopy(assign.getLoc(), value, target)))
      return failure();
  }
  return success();
}

LogicalResult PlanBuilder::layOut() {
  SmallVector<LiveBuffer> live;
  SmallVector<unsigned> bufferOf;
  plan->arenaIndex.assign(plan->buffers.size(), 0);
  for (auto [index, buffer] : llvm::enumerate(plan->buffers)) {
    if (buffer.space != Space::Arena || buffer.outer)
      continue;
    plan->arenaIndex[index] = live.size();
    bufferOf.push_back(index);
    live.push_back({buffer.size, buffer.first, buffer.last});
  }
  plan->arena = layOutArena(live, reuse, getRootPlan().dims, context);
  SmallVector<SmallVector<unsigned>> predecessors(plan->buffers.size());
  for (auto [index, buffer] : llvm::enumerate(bufferOf))
    for (unsigned before : plan->arena.predecessors[index])
      predecessors[buffer].push_back(bufferOf[before]);
  SmallVector<SmallVector<MemoryAccess>> accesses;
  for (const Command &command : plan->commands)
    accesses.push_back(command.accesses);
  plan->edges = computeEdges(accesses, predecessors);
  return success();
}

PlanBuilder &PlanBuilder::getRootPlan() {
  PlanBuilder *root = this;
  while (root->parent)
    root = root->parent;
  return *root;
}

LogicalResult PlanBuilder::addRequirement(RequireOp op) {
  FailureOr<FormulaAttr> left = getFormula(op.getLeft()), right = getFormula(op.getRight());
  if (failed(left) || failed(right))
    return op.emitOpError(
        "expected sizes that are formulas over the dynamic dims of the function's inputs");
  require(op.getLoc(), *left, op.getComparison(), *right, op.getWhat());
  return success();
}

/// Into the plan of the whole function. Regions that data does not choose count, too; of one that
/// sizes do not choose, both sides are 0.
void PlanBuilder::require(Location loc, FormulaAttr left, Comparison comparison, FormulaAttr right,
                          const Twine &what) {
  if (left == right)
    return;
  if (comparison == Comparison::Equal)
    equalities.add(left, right);
  if (isChosen) {
    left = FormulaAttr::getSelect(isChosen, left, constant(0));
    right = FormulaAttr::getSelect(isChosen, right, constant(0));
  }
  PlanBuilder &root = getRootPlan();
  Builder builder(context);
  root.requirements.insert(builder.getDictionaryAttr(
      {builder.getNamedAttr("comparison", ComparisonAttr::get(context, comparison)),
       builder.getNamedAttr("left", left), builder.getNamedAttr("right", right),
       builder.getNamedAttr("what", builder.getStringAttr(what)),
       builder.getNamedAttr("loc", cast<LocationAttr>(Attribute(loc)))}));
}

LogicalResult PlanBuilder::placeOps() {
  unsigned position = 0;
  for (Operation &op : func.getBody().front().without_terminator()) {
    LogicalResult done = success();
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      done = addDispatch(dispatch, position);
    else if (auto branch = dyn_cast<BranchOp>(op))
      done = addBranch(branch, position);
    else if (auto loop = dyn_cast<LoopOp>(op))
      done = addLoop(loop, position);
    else if (auto require = dyn_cast<RequireOp>(op))
      done = addRequirement(require);
    else if (isView(&op))
      done = placeView(op);
    else if (isa<array::ParameterOp, PackedOp, array::VariableReadOp>(op) || isEmptyTensor(op) ||
             (op.hasTrait<OpTrait::ConstantLike>() &&
              isa<RankedTensorType>(op.getResult(0).getType())))
      done = placeData(op);
    else if (!isa<array::VariableAssignOp, tensor::DimOp, affine::AffineApplyOp>(op) &&
             !isUnwritten(op) &&
             !llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndex(); }))
      done = op.emitOpError("expected a dispatch, a view, a constant, state or index arithmetic "
                            "when the plan is built");
    if (failed(done))
      return failure();
    position += isStep(op);
  }
  return success();
}

LogicalResult PlanBuilder::run() {
  if (failed(placeArguments()) || failed(placeOps()) || failed(addReturns()) ||
      failed(addAssigns()) || failed(layOut()))
    return failure();
  emitPlan(func, dims, {*plan, requirements.getArrayRef(), choices.getArrayRef()});
  func.erase();
  return success();
}

namespace {

struct BuildPlan final : impl::BuildPlanBase<BuildPlan> {
  using BuildPlanBase::BuildPlanBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModuleData data(module);
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      bool hasPlan = func.isPublic() || func->hasAttr(kInitAttr);
      if (!func.isExternal() && hasPlan && failed(PlanBuilder(func, data, reuse).run()))
        return signalPassFailure();
    }
    // The regions of control ops are in the plans now.
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>()))
      func.erase();
    if (failed(data.write()))
      return signalPassFailure();
  }
};

} // namespace

} // namespace xc::plan
