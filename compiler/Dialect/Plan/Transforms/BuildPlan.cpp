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

#include "compiler/Dialect/Plan/Transforms/ArenaLayout.h"
#include "compiler/Dialect/Plan/Transforms/CommandGraph.h"
#include "compiler/Dialect/Plan/Transforms/ModuleData.h"
#include "compiler/Dialect/Plan/Transforms/Passes.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"

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

namespace {

/// Memory with one place: an input, an output, a variable, a constant, or some bytes of the arena.
struct Buffer {
  Space space;
  unsigned ordinal;
  AffineExpr size;
  unsigned first = std::numeric_limits<unsigned>::max();
  unsigned last = 0;
};

/// What a tensor is: a range of a buffer.
struct Place {
  unsigned buffer;
  AffineExpr offset;
  AffineExpr length;
};

struct Command {
  Location loc;
  FlatSymbolRefAttr kernel; // null: a copy from accesses[0] to accesses[1]
  SmallVector<MemoryAccess> accesses;
  SmallVector<AffineExpr> scalars;
};

/// A tensor that has no elements and so needs nobody to compute it.
bool isEmptyTensor(Operation &op) {
  auto empty = dyn_cast<tensor::EmptyOp>(op);
  return empty && llvm::is_contained(empty.getType().getShape(), 0);
}

/// Where a root value is used for the last time.
constexpr unsigned kAfterAllDispatches = std::numeric_limits<unsigned>::max();

class PlanBuilder {
public:
  PlanBuilder(func::FuncOp func, ModuleData &data)
      : func(func), data(data), dims(func), context(func.getContext()) {}

  LogicalResult run();

private:
  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, context); }
  FailureOr<AffineExpr> getByteSize(Value tensor);
  static Value getRoot(Value tensor);
  bool isWholeRoot(Value tensor);
  void recordUses();
  unsigned getLastUse(Value root) const { return lastUse.lookup(root); }

  unsigned addBuffer(Space space, unsigned ordinal, AffineExpr size);
  unsigned getFixedBuffer(Space space, unsigned ordinal, AffineExpr size);
  LogicalResult placeArguments();
  LogicalResult placeData(Operation &op);
  LogicalResult placeView(Operation &op);
  LogicalResult addDispatch(DispatchOp dispatch, unsigned position);
  FailureOr<unsigned> chooseBuffer(DispatchOp dispatch, unsigned index, unsigned position,
                                   AffineExpr size);
  bool canOverwriteVariable(StringAttr name, DispatchOp dispatch, unsigned index,
                            unsigned position);
  LogicalResult addCopy(Location loc, Value value, unsigned target);
  LogicalResult addReturns();
  LogicalResult addAssigns();
  void touch(Command &command, unsigned buffer, AffineExpr offset, AffineExpr length,
             Access access);
  LogicalResult layOut();
  LogicalResult emit();
  DictionaryAttr describe(StringRef fallbackName, unsigned index, Type type, DictionaryAttr attrs,
                          ArrayRef<AffineExpr> shape, Builder &builder);
  ArrayAttr describeSymbols(Builder &builder);

  func::FuncOp func;
  ModuleData &data;
  SymbolicDims dims;
  MLIRContext *context;
  SmallVector<Buffer> buffers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> fixedBuffers;
  llvm::DenseMap<Value, Place> places;
  llvm::DenseMap<Value, unsigned> lastUse;
  llvm::DenseMap<Value, SmallVector<unsigned>> outputsOf; // root -> outputs that are it, whole
  llvm::DenseMap<Value, SmallVector<StringAttr>>
      variablesOf;                          // root -> variables that it is assigned to, whole
  llvm::DenseMap<StringAttr, Value> readOf; // variable -> its old value
  llvm::DenseMap<unsigned, bool> outputDone;
  llvm::DenseMap<StringAttr, bool> variableDone;
  SmallVector<Command> commands;
  ArenaPlacement arena;
  SmallVector<SmallVector<int64_t>> edges;
  SmallVector<unsigned> arenaIndex; // buffer -> its number in the arena's layout
};

FailureOr<AffineExpr> PlanBuilder::getByteSize(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<SmallVector<AffineExpr>> shape = dims.getShape(tensor);
  if (failed(shape))
    return emitError(tensor.getLoc(), "expected sizes that are formulas over the dynamic dims of "
                                      "the function's inputs, got ")
           << type;
  AffineExpr size = constant(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  for (AffineExpr dim : *shape)
    size = size * dim;
  return size;
}

Value PlanBuilder::getRoot(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isView(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

/// True if the tensor is all of its root's memory: reached by reshapes only.
bool PlanBuilder::isWholeRoot(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isView(op))
      return true;
    if (isa<tensor::ExtractSliceOp>(op))
      return false;
    tensor = op->getOperand(0);
  }
  return true;
}

void PlanBuilder::recordUses() {
  unsigned position = 0;
  for (Operation &op : func.getBody().front()) {
    if (isa<DispatchOp>(op)) {
      for (Value operand : cast<DispatchOp>(op).getInputs()) {
        unsigned &last = lastUse[getRoot(operand)];
        last = std::max(last, position);
      }
      ++position;
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      for (auto [index, operand] : llvm::enumerate(ret.getOperands())) {
        lastUse[getRoot(operand)] = kAfterAllDispatches;
        if (isWholeRoot(operand))
          outputsOf[getRoot(operand)].push_back(index);
      }
    } else if (auto assign = dyn_cast<array::VariableAssignOp>(op)) {
      lastUse[getRoot(assign.getValue())] = kAfterAllDispatches;
      if (isWholeRoot(assign.getValue()))
        variablesOf[getRoot(assign.getValue())].push_back(assign.getVariableAttr().getAttr());
    } else if (auto read = dyn_cast<array::VariableReadOp>(op)) {
      readOf[read.getVariableAttr().getAttr()] = read.getResult();
    }
  }
}

unsigned PlanBuilder::addBuffer(Space space, unsigned ordinal, AffineExpr size) {
  buffers.push_back({space, ordinal, size});
  return buffers.size() - 1;
}

unsigned PlanBuilder::getFixedBuffer(Space space, unsigned ordinal, AffineExpr size) {
  auto [it, isNew] =
      fixedBuffers.try_emplace({static_cast<unsigned>(space), ordinal}, buffers.size());
  if (isNew)
    addBuffer(space, ordinal, size);
  return it->second;
}

LogicalResult PlanBuilder::placeArguments() {
  for (BlockArgument argument : func.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      return func.emitOpError("expected inputs that are tensors, got ")
             << argument.getType() << " as input " << argument.getArgNumber();
    FailureOr<AffineExpr> size = getByteSize(argument);
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
  FailureOr<AffineExpr> size = getByteSize(result);
  if (failed(size))
    return failure();
  unsigned buffer;
  if (isa<tensor::EmptyOp>(op)) {
    buffer = addBuffer(Space::Arena, 0, *size);
    buffers[buffer].first = 0;
  } else if (auto parameter = dyn_cast<array::ParameterOp>(op)) {
    buffer = getFixedBuffer(Space::Parameter, data.addParameter(parameter), *size);
  } else if (auto read = dyn_cast<array::VariableReadOp>(op)) {
    FailureOr<unsigned> ordinal = data.getVariable(read.getVariableAttr().getAttr(), op.getLoc());
    if (failed(ordinal))
      return failure();
    buffer = getFixedBuffer(Space::Variable, *ordinal, *size);
  } else {
    Attribute value;
    matchPattern(&op, m_Constant(&value));
    buffer = getFixedBuffer(Space::Constant, data.addConstant(cast<ElementsAttr>(value)), *size);
  }
  places[result] = {buffer, constant(0), *size};
  return success();
}

LogicalResult PlanBuilder::placeView(Operation &op) {
  Value result = op.getResult(0);
  Place place = places.at(op.getOperand(0));
  FailureOr<AffineExpr> size = getByteSize(result);
  if (failed(size))
    return failure();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    FailureOr<SmallVector<AffineExpr>> shape = dims.getShape(slice.getSource());
    AffineExpr elements = constant(0);
    for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      FailureOr<AffineExpr> start = dims.getExpr(offset);
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

void PlanBuilder::touch(Command &command, unsigned buffer, AffineExpr offset, AffineExpr length,
                        Access access) {
  unsigned position = commands.size();
  buffers[buffer].first = std::min(buffers[buffer].first, position);
  buffers[buffer].last = std::max(buffers[buffer].last, position);
  command.accesses.push_back({buffer, offset, length, access});
}

/// True if nothing that runs after `dispatch` needs the variable's old value, and `dispatch` itself
/// reads it, if at all, only at the element that it then writes.
bool PlanBuilder::canOverwriteVariable(StringAttr name, DispatchOp dispatch, unsigned index,
                                       unsigned position) {
  Value old = readOf.lookup(name);
  if (!old || !lastUse.count(old))
    return true;
  if (getLastUse(old) != position)
    return getLastUse(old) < position;
  int64_t reused = dispatch.getReuse()[index];
  unsigned reads =
      llvm::count_if(dispatch.getInputs(), [&](Value input) { return getRoot(input) == old; });
  return reused >= 0 && getRoot(dispatch.getInputs()[reused]) == old &&
         isWholeRoot(dispatch.getInputs()[reused]) && reads == 1;
}

FailureOr<unsigned> PlanBuilder::chooseBuffer(DispatchOp dispatch, unsigned index,
                                              unsigned position, AffineExpr size) {
  Value result = dispatch.getResult(index);
  for (StringAttr name : variablesOf.lookup(result)) {
    FailureOr<unsigned> ordinal = data.getVariable(name, dispatch.getLoc());
    if (failed(ordinal))
      return failure();
    if (!canOverwriteVariable(name, dispatch, index, position))
      continue;
    variableDone[name] = true;
    return getFixedBuffer(Space::Variable, *ordinal, size);
  }
  if (ArrayRef<unsigned> outputs = outputsOf[result]; !outputs.empty()) {
    outputDone[outputs.front()] = true;
    return getFixedBuffer(Space::Output, outputs.front(), size);
  }
  if (int64_t reused = dispatch.getReuse()[index]; reused >= 0) {
    Value input = dispatch.getInputs()[reused];
    Place place = places.at(input);
    const Buffer &buffer = buffers[place.buffer];
    bool isDonated =
        buffer.space == Space::Input && func.getArgAttr(buffer.ordinal, "array.donated");
    bool isWhole = place.offset == constant(0) && place.length == size && buffer.size == size;
    // A buffer that was taken over before counts as used until the last of its owners' uses.
    if ((buffer.space == Space::Arena || isDonated) && isWhole &&
        getLastUse(getRoot(input)) == position)
      return place.buffer;
  }
  return addBuffer(Space::Arena, 0, size);
}

LogicalResult PlanBuilder::addDispatch(DispatchOp dispatch, unsigned position) {
  Command command{dispatch.getLoc(), dispatch.getKernelAttr(), {}, {}};
  for (Value input : dispatch.getInputs()) {
    Place place = places.at(input);
    touch(command, place.buffer, place.offset, place.length, Access::Read);
  }
  for (unsigned index = 0; index < dispatch.getNumResults(); ++index) {
    Value result = dispatch.getResult(index);
    FailureOr<AffineExpr> size = getByteSize(result);
    if (failed(size))
      return failure();
    FailureOr<unsigned> buffer = chooseBuffer(dispatch, index, position, *size);
    if (failed(buffer))
      return failure();
    places[result] = {*buffer, constant(0), *size};
    touch(command, *buffer, constant(0), *size, Access::Write);
  }
  for (Value scalar : dispatch.getScalars()) {
    FailureOr<AffineExpr> expr = dims.getExpr(scalar);
    if (failed(expr))
      return dispatch.emitOpError(
          "expected scalars that are formulas over the dynamic dims of the function's inputs");
    command.scalars.push_back(*expr);
  }
  commands.push_back(std::move(command));
  return success();
}

LogicalResult PlanBuilder::addCopy(Location loc, Value value, unsigned target) {
  Place place = places.at(value);
  if (place.length == constant(0))
    return success();
  Command command{loc, {}, {}, {}};
  touch(command, place.buffer, place.offset, place.length, Access::Read);
  touch(command, target, constant(0), place.length, Access::Write);
  commands.push_back(std::move(command));
  return success();
}

LogicalResult PlanBuilder::addReturns() {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    if (outputDone.lookup(index) && buffers[places.at(value).buffer].space == Space::Output &&
        buffers[places.at(value).buffer].ordinal == index)
      continue;
    unsigned target = getFixedBuffer(Space::Output, index, places.at(value).length);
    if (failed(addCopy(ret.getLoc(), value, target)))
      return failure();
  }
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
    const Buffer &source = buffers[places.at(value).buffer];
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
  arenaIndex.assign(buffers.size(), 0);
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    if (buffer.space != Space::Arena)
      continue;
    arenaIndex[index] = live.size();
    bufferOf.push_back(index);
    live.push_back({buffer.size, buffer.first, buffer.last});
  }
  arena = layOutArena(live, context);
  SmallVector<SmallVector<unsigned>> predecessors(buffers.size());
  for (auto [index, buffer] : llvm::enumerate(bufferOf))
    for (unsigned before : arena.predecessors[index])
      predecessors[buffer].push_back(bufferOf[before]);
  SmallVector<SmallVector<MemoryAccess>> accesses;
  for (const Command &command : commands)
    accesses.push_back(command.accesses);
  edges = computeEdges(accesses, predecessors);
  return success();
}

DictionaryAttr PlanBuilder::describe(StringRef fallbackName, unsigned index, Type type,
                                     DictionaryAttr attrs, ArrayRef<AffineExpr> shape,
                                     Builder &builder) {
  NamedAttrList result;
  auto get = [&](StringRef name) { return attrs ? attrs.get(name) : Attribute(); };
  Attribute name = get("array.name");
  result.set("name", name ? name : builder.getStringAttr(fallbackName + Twine(index)));
  result.set("type", TypeAttr::get(type));
  result.set("dims", AffineMapAttr::get(dims.getMap(shape)));
  if (Attribute dtype = get("array.dtype"))
    result.set("dtype", dtype);
  if (get("array.donated"))
    result.set("donated", builder.getUnitAttr());
  return result.getDictionary(context);
}

ArrayAttr PlanBuilder::describeSymbols(Builder &builder) {
  auto ranges = func->getAttrOfType<DictionaryAttr>("array.dim_range");
  SmallVector<Attribute> symbols;
  for (const SymbolDefinition &symbol : dims.getSymbols()) {
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(symbol.name));
    entry.set("input", builder.getI64IntegerAttr(symbol.input));
    entry.set("dim", builder.getI64IntegerAttr(symbol.dim));
    if (Attribute range = ranges ? ranges.get(symbol.name) : Attribute())
      entry.set("range", range);
    symbols.push_back(entry.getDictionary(context));
  }
  return builder.getArrayAttr(symbols);
}

LogicalResult PlanBuilder::emit() {
  OpBuilder builder(func);
  SmallVector<Attribute> inputs, outputs;
  for (BlockArgument argument : func.getArguments())
    inputs.push_back(describe("input", argument.getArgNumber(), argument.getType(),
                              func.getArgAttrDict(argument.getArgNumber()),
                              *dims.getShape(argument), builder));
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    FailureOr<SmallVector<AffineExpr>> shape = dims.getShape(value);
    outputs.push_back(
        describe("output", index, value.getType(), func.getResultAttrDict(index), *shape, builder));
  }
  auto plan =
      FunctionOp::create(builder, func.getLoc(), func.getSymNameAttr(), describeSymbols(builder),
                         builder.getArrayAttr(inputs), builder.getArrayAttr(outputs),
                         AffineMapAttr::get(dims.getMap(arena.size)));
  if (Attribute doc = func->getAttr("array.doc"))
    plan->setAttr("doc", doc);
  plan->setAttr("arena_static", builder.getI64IntegerAttr(arena.staticSize));
  builder.createBlock(&plan.getBody());
  for (auto [command, after] : llvm::zip_equal(commands, edges)) {
    SmallVector<Attribute> ranges;
    for (const MemoryAccess &access : command.accesses) {
      const Buffer &buffer = buffers[access.buffer];
      AffineExpr offset = access.offset;
      if (buffer.space == Space::Arena)
        offset = arena.offsets[arenaIndex[access.buffer]] + offset;
      ranges.push_back(RangeAttr::get(context, access.access, buffer.space, buffer.ordinal,
                                      AffineMapAttr::get(dims.getMap(offset)),
                                      AffineMapAttr::get(dims.getMap(access.length))));
    }
    if (command.kernel)
      LaunchOp::create(builder, command.loc, command.kernel, builder.getArrayAttr(ranges),
                       AffineMapAttr::get(dims.getMap(command.scalars)),
                       builder.getDenseI64ArrayAttr(after));
    else
      CopyOp::create(builder, command.loc, cast<RangeAttr>(ranges[0]), cast<RangeAttr>(ranges[1]),
                     builder.getDenseI64ArrayAttr(after));
  }
  return success();
}

LogicalResult PlanBuilder::run() {
  recordUses();
  if (failed(placeArguments()))
    return failure();
  unsigned position = 0;
  for (Operation &op : func.getBody().front().without_terminator()) {
    LogicalResult done = success();
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      done = addDispatch(dispatch, position++);
    else if (isView(&op))
      done = placeView(op);
    else if (isa<array::ParameterOp, array::VariableReadOp>(op) || isEmptyTensor(op) ||
             (op.hasTrait<OpTrait::ConstantLike>() &&
              isa<RankedTensorType>(op.getResult(0).getType())))
      done = placeData(op);
    else if (!isa<array::VariableAssignOp, tensor::DimOp, affine::AffineApplyOp>(op) &&
             !llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIntOrIndex(); }))
      done = op.emitOpError("expected a dispatch, a view, a constant, state or index arithmetic "
                            "when the plan is built");
    if (failed(done))
      return failure();
  }
  if (failed(addReturns()) || failed(addAssigns()) || failed(layOut()) || failed(emit()))
    return failure();
  func.erase();
  return success();
}

struct BuildPlan final : impl::BuildPlanBase<BuildPlan> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModuleData data(module);
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (func.isExternal() || !func.isPublic()) {
        func.erase();
        continue;
      }
      if (failed(PlanBuilder(func, data).run()))
        return signalPassFailure();
    }
    data.write();
  }
};

} // namespace

} // namespace xc::plan
