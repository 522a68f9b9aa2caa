//===- SplitValues.cpp - Complex numbers and tuples as several values -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In program order, from the outer regions to the inner ones. There are three kinds of ops:
// - what only passes values on (calls, loops, branches, sorts) has the parts in the place of a
// value;
// - what only moves elements is done for each part;
// - what computes is written anew, by computeComplex() and computeFft().
// Ops that were replaced are erased at the end, since later ones still name their results.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/SplitValues.h"
#include "compiler/Input/StableHLO/Sdy.h"
#include "compiler/Input/SupportedTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

using Values = SmallVector<Value>;

bool isComplex(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<ComplexType>(tensor.getElementType());
}

RankedTensorType getPartType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
}

/// Whether values of `type` are split.
static bool isSplit(Type type) { return isComplex(type) || isa<TupleType>(type); }

static void appendParts(Type type, SmallVectorImpl<Type> &types) {
  if (auto tuple = dyn_cast<TupleType>(type))
    for (Type each : tuple)
      appendParts(each, types);
  else if (isComplex(type))
    types.append(2, getPartType(type));
  else
    types.push_back(type);
}

static SmallVector<Type> getParts(TypeRange types) {
  SmallVector<Type> parts;
  for (Type type : types)
    appendParts(type, parts);
  return parts;
}

/// Whether `op` or a block of it has values that are split.
static bool isConcerned(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), isSplit) || llvm::any_of(op->getResultTypes(), isSplit))
    return true;
  return llvm::any_of(op->getRegions(), [](Region &region) {
    return !region.empty() && llvm::any_of(region.front().getArgumentTypes(), isSplit);
  });
}

/// Ops whose operands, results and block arguments may be any number.
static bool takesAnyNumber(Operation *op) {
  return isa<shlo::ReturnOp, shlo::WhileOp, shlo::IfOp, shlo::CaseOp, shlo::OptimizationBarrierOp,
             shlo::CompositeOp, shlo::SortOp, shlo::ReduceOp, shlo::ReduceWindowOp, shlo::ScatterOp,
             func::CallOp, func::ReturnOp>(op);
}

/// Whether the body of a reduction or scatter does the same to both parts: it adds, or replaces.
static bool actsOnParts(Operation *op) {
  if (!isa<shlo::ReduceOp, shlo::ReduceWindowOp, shlo::ScatterOp>(op) || op->getNumResults() != 1)
    return false;
  Block &body = op->getRegion(0).front();
  Operation &first = body.front();
  if (!isa<shlo::AddOp, shlo::ReturnOp>(first) || body.getOperations().size() > 2)
    return false;
  return llvm::all_of(first.getOperands(), [&](Value operand) {
    return isa<BlockArgument>(operand) && operand.getParentBlock() == &body;
  });
}

/// Ops with one result that do the same to both parts, whatever they are.
static bool movesElements(Operation *op) {
  return isa<shlo::BroadcastInDimOp, shlo::TransposeOp, shlo::ReverseOp, shlo::BroadcastOp,
             shlo::ReshapeOp, shlo::SliceOp, shlo::PadOp, shlo::ConcatenateOp, shlo::DynamicSliceOp,
             shlo::DynamicUpdateSliceOp, shlo::GatherOp, shlo::SelectOp, shlo::DynamicGatherOp,
             shlo::DynamicBroadcastInDimOp, shlo::DynamicReshapeOp, shlo::DynamicPadOp,
             shlo::RealDynamicSliceOp, shlo::TorchIndexSelectOp, sdy::ShardingConstraintOp>(op) ||
         actsOnParts(op);
}

namespace {

class Splitter {
public:
  explicit Splitter(UnsupportedOps &unsupported) : unsupported(unsupported) {}

  void splitFunction(func::FuncOp func);
  /// Erases what has been replaced.
  void finish();

  /// Whether what ops that are refused leave are zeros.
  bool canStub = true;

private:
  void splitBlock(Block &block);
  void splitOp(Operation *op);
  /// The parts of `value` in order, or itself.
  Values getParts(Value value) const;
  Values getParts(ValueRange values) const;
  void setParts(Value value, ValueRange given);
  /// Gives results of `op` the values `given`, all parts in order.
  void replace(Operation *op, ValueRange given);
  void refuse(Operation *op, StringRef why);

  Operation *passOn(Operation *op);
  Values doForParts(Operation *op);
  Result compute(Operation *op);
  Values joinResults(func::ReturnOp op);
  void splitArguments(func::FuncOp func);
  /// Whether complex arguments and results of the function are single ones.
  static bool isEntry(func::FuncOp func) { return func.isPublic(); }

  UnsupportedOps &unsupported;
  DenseMap<Value, Values> parts;
  SmallVector<Operation *> replaced;
  SmallVector<BlockArgument> replacedArguments;
};

} // namespace

Values Splitter::getParts(Value value) const {
  auto known = parts.find(value);
  return known == parts.end() ? Values{value} : known->second;
}

Values Splitter::getParts(ValueRange values) const {
  Values all;
  for (Value value : values)
    llvm::append_range(all, getParts(value));
  return all;
}

void Splitter::setParts(Value value, ValueRange given) {
  if (isSplit(value.getType()))
    parts[value] = llvm::to_vector(given);
  else
    value.replaceAllUsesWith(given.front());
}

void Splitter::replace(Operation *op, ValueRange given) {
  for (Value result : op->getResults()) {
    size_t count = xc::stablehlo_import::getParts(result.getType()).size();
    setParts(result, given.take_front(count));
    given = given.drop_front(count);
  }
  replaced.push_back(op);
}

void Splitter::finish() {
  for (Operation *op : llvm::reverse(replaced)) {
    op->dropAllUses();
    op->erase();
  }
  for (BlockArgument argument : llvm::reverse(replacedArguments))
    argument.getOwner()->eraseArgument(argument.getArgNumber());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The type of a complex argument of an entry function.
static Type getPortType(Type type) {
  if (!isComplex(type))
    return type;
  RankedTensorType part = getPartType(type);
  SmallVector<int64_t> shape(part.getShape());
  shape.push_back(2);
  return part.clone(shape);
}

static Values readPort(ExpressionBuilder &e, Value port) {
  ArrayRef<int64_t> shape = typeOf(port).getShape();
  Values parts;
  for (int64_t part = 0; part < 2; ++part) {
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape), strides(shape.size(), 1);
    starts.back() = part;
    limits.back() = part + 1;
    parts.push_back(reshapeTo(e, slice(e, port, starts, limits, strides), shape.drop_back()));
  }
  return parts;
}

static Value writePort(ExpressionBuilder &e, ValueRange parts) {
  SmallVector<int64_t> shape(typeOf(parts.front()).getShape());
  shape.push_back(1);
  Values columns =
      llvm::map_to_vector(parts, [&](Value part) { return reshapeTo(e, part, shape); });
  return e.make<ConcatenateOp>(columns, static_cast<int64_t>(shape.size()) - 1);
}

/// Results of an entry function: complex ones with their parts in a last dim.
Values Splitter::joinResults(func::ReturnOp op) {
  OpBuilder builder(op);
  ExpressionBuilder e(builder, op.getLoc());
  Values values;
  for (Value value : op.getOperands())
    if (isComplex(value.getType()))
      values.push_back(writePort(e, getParts(value)));
    else
      llvm::append_range(values, getParts(value));
  return values;
}

void Splitter::splitArguments(func::FuncOp func) {
  Block &block = func.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (BlockArgument argument : llvm::to_vector(block.getArguments())) {
    if (!isComplex(argument.getType()))
      continue;
    if (!cast<RankedTensorType>(argument.getType()).hasStaticShape()) {
      unsupported.add("func.func", func.getLoc(),
                      "an argument is of complex numbers, and has open sizes");
      canStub = false;
      continue;
    }
    unsigned place = argument.getArgNumber();
    Value port = block.insertArgument(place, getPortType(argument.getType()), argument.getLoc());
    ExpressionBuilder e(builder, argument.getLoc());
    setParts(argument, readPort(e, port));
    replacedArguments.push_back(argument);
  }
}

void Splitter::splitFunction(func::FuncOp func) {
  if (func.isExternal())
    return;
  auto toTypes = [&](TypeRange types) {
    if (!isEntry(func))
      return xc::stablehlo_import::getParts(types);
    SmallVector<Type> ports = llvm::map_to_vector(types, getPortType);
    return xc::stablehlo_import::getParts(ports);
  };
  bool isChanged = llvm::any_of(func.getArgumentTypes(), isSplit) ||
                   llvm::any_of(func.getResultTypes(), isSplit);
  SmallVector<Type> arguments = toTypes(func.getArgumentTypes()),
                    results = toTypes(func.getResultTypes());
  bool keepsPlaces =
      arguments.size() == func.getNumArguments() && results.size() == func.getNumResults();
  if (isEntry(func))
    splitArguments(func);
  splitBlock(func.getBody().front());
  if (!isChanged)
    return;
  // Attributes of arguments and results stand for their places.
  if (!keepsPlaces) {
    func->removeAttr(func.getArgAttrsAttrName());
    func->removeAttr(func.getResAttrsAttrName());
  }
  func.setType(FunctionType::get(func.getContext(), arguments, results));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Splitter::splitBlock(Block &block) {
  for (BlockArgument argument : llvm::to_vector(block.getArguments())) {
    if (!isSplit(argument.getType()) || parts.contains(argument))
      continue;
    Values values;
    unsigned place = argument.getArgNumber();
    SmallVector<Type> types;
    appendParts(argument.getType(), types);
    for (Type type : types)
      values.push_back(block.insertArgument(++place, type, argument.getLoc()));
    setParts(argument, values);
    replacedArguments.push_back(argument);
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    splitOp(&op);
}

/// The same op with parts in the place of each value.
Operation *Splitter::passOn(Operation *op) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(getParts(op->getOperands()));
  state.addTypes(xc::stablehlo_import::getParts(op->getResultTypes()));
  state.addAttributes(op->getAttrDictionary().getValue());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    to.takeBody(from);
  return copy;
}

/// The op once for the real parts, and once for the imaginary ones.
Values Splitter::doForParts(Operation *op) {
  OpBuilder builder(op);
  Values results;
  for (unsigned part = 0; part < 2; ++part) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isComplex(operand.getType()))
        mapping.map(operand, getParts(operand)[part]);
    Operation *copy = builder.clone(*op, mapping);
    copy->getResult(0).setType(getPartType(op->getResult(0).getType()));
    for (Region &region : copy->getRegions())
      region.walk([](Block *block) {
        for (Value argument : block->getArguments())
          argument.setType(getPartType(argument.getType()));
        for (Operation &inner : *block)
          for (Value result : inner.getResults())
            result.setType(getPartType(result.getType()));
      });
    results.push_back(copy->getResult(0));
  }
  return results;
}

/// Products of parts, which `op` makes of its two operands.
static Complex multiplyParts(Operation *op, ExpressionBuilder &e, Complex lhs, Complex rhs) {
  auto product = [&](Value left, Value right) {
    Operation *copy = e.getBuilder().clone(*op);
    copy->setOperands({left, right});
    Type type = op->getResult(0).getType();
    copy->getResult(0).setType(isComplex(type) ? getPartType(type) : type);
    return copy->getResult(0);
  };
  Value re = product(lhs.re, rhs.re);
  if (!lhs.im && !rhs.im)
    return {re, zeros(e, typeOf(re))};
  if (!lhs.im)
    return {re, product(lhs.re, rhs.im)};
  if (!rhs.im)
    return {re, product(lhs.im, rhs.re)};
  return {e.sub(re, product(lhs.im, rhs.im)),
          e.add(product(lhs.re, rhs.im), product(lhs.im, rhs.re))};
}

/// Parts in a last dim are what complex numbers are in memory, and so is what they are read as.
static Result bitcastParts(shlo::BitcastConvertOp op, ExpressionBuilder &e, Complex operand) {
  Value port = operand.im ? writePort(e, {operand.re, operand.im}) : operand.re;
  auto to = cast<RankedTensorType>(getPortType(op.getResult().getType()));
  unsigned width = typeOf(port).getElementTypeBitWidth(), target = to.getElementTypeBitWidth();
  int64_t count = typeOf(port).getNumElements();
  if (mulSizes(count, width) != mulSizes(to.getNumElements(), target) || width < 8 || target < 8)
    return Result::refuse("its result does not hold as many bits as its operand");
  SmallVector<int64_t> from{count}, into{to.getNumElements()};
  if (width < target)
    from = {to.getNumElements(), target / width};
  if (width > target)
    into = {count, width / target};
  Value flat = reshapeTo(e, port, from);
  if (elementOf(flat) != to.getElementType())
    flat = shlo::BitcastConvertOp::create(e.getBuilder(), op.getLoc(),
                                          TypeRange(Type(to.clone(into))), ValueRange(flat));
  Value result = reshapeTo(e, flat, to.getShape());
  return isComplex(op.getResult().getType()) ? Result(readPort(e, result)) : Result(result);
}

Result Splitter::compute(Operation *op) {
  OpBuilder builder(op);
  ExpressionBuilder e(builder, op->getLoc());
  SmallVector<Complex> operands;
  for (Value operand : op->getOperands()) {
    if (isa<TupleType>(operand.getType()))
      return Result::refuse("it works on tuples");
    Values values = getParts(operand);
    operands.push_back({values.front(), values.size() == 2 ? values.back() : Value()});
  }
  if (isa<shlo::DotGeneralOp, shlo::DotOp, shlo::ConvolutionOp>(op)) {
    Complex product = multiplyParts(op, e, operands[0], operands[1]);
    return Result(Values{product.re, product.im});
  }
  if (auto bitcast = dyn_cast<shlo::BitcastConvertOp>(op))
    return bitcastParts(bitcast, e, operands.front());
  if (auto fft = dyn_cast<shlo::FftOp>(op))
    return computeFft(fft, e, operands.front());
  if (isa<shlo::GetDimensionSizeOp>(op)) {
    Operation *copy = builder.clone(*op);
    copy->setOperand(0, operands[0].re);
    return Result(copy->getResult(0));
  }
  for (auto family : {computeComplex, computeFactors})
    if (Replacement replacement = family(op, e, operands))
      return *replacement;
  return Result::refuse("it works on complex numbers, or on tuples");
}

/// A call of an entry function, whose complex arguments are no pairs.
static bool callsEntry(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  auto callee =
      call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr()) : nullptr;
  return callee && callee.isPublic();
}

static bool isElementOf(shlo::GetTupleElementOp op) {
  auto tuple = dyn_cast<TupleType>(op.getOperand().getType());
  const APInt &index = op.getIndex().getValue();
  return tuple && index.ult(tuple.size()) &&
         tuple.getType(index.getZExtValue()) == op.getResult().getType();
}

void Splitter::refuse(Operation *op, StringRef why) {
  unsupported.add(op->getName().getStringRef(), op->getLoc(), why.str());
  OpBuilder builder(op);
  ExpressionBuilder e(builder, op->getLoc());
  Values nothing;
  for (Type type : xc::stablehlo_import::getParts(op->getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool isStatic =
        tensor && tensor.hasStaticShape() && isSupportedElement(tensor.getElementType());
    canStub &= isStatic;
    nothing.push_back(
        isStatic ? zeros(e, tensor)
                 : UnrealizedConversionCastOp::create(builder, op->getLoc(), type, ValueRange())
                       .getResult(0));
  }
  replace(op, nothing);
}

void Splitter::splitOp(Operation *op) {
  if (!isConcerned(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        splitBlock(block);
    return;
  }
  if (auto end = dyn_cast<func::ReturnOp>(op); end && isEntry(end->getParentOfType<func::FuncOp>()))
    return end->setOperands(joinResults(end));
  if (isa<shlo::TupleOp>(op))
    return replace(op, getParts(op->getOperands()));
  if (auto element = dyn_cast<shlo::GetTupleElementOp>(op)) {
    if (!isElementOf(element))
      return refuse(op, "its operand is no tuple with such an element");
    auto tuple = cast<TupleType>(element.getOperand().getType());
    uint64_t index = element.getIndex().getValue().getZExtValue();
    size_t first = xc::stablehlo_import::getParts(tuple.getTypes().take_front(index)).size();
    return replace(op, ArrayRef(getParts(element.getOperand())).drop_front(first));
  }
  if (callsEntry(op))
    return refuse(op, "it calls a public function with complex numbers, or tuples");
  bool hasTuple = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TupleType>);
  if (!hasTuple && (movesElements(op) || shlo::isMark(op)) && isComplex(op->getResult(0).getType()))
    return replace(op, doForParts(op));
  if (takesAnyNumber(op)) {
    Operation *copy = passOn(op);
    for (Region &region : copy->getRegions())
      for (Block &block : region)
        splitBlock(block);
    return replace(op, copy->getResults());
  }
  Result result = compute(op);
  if (result.isRefused())
    return refuse(op, result.getReason());
  SmallVector<Type> types = xc::stablehlo_import::getParts(op->getResultTypes());
  if (TypeRange(ValueRange(result.getValues())) != TypeRange(types))
    return refuse(op, "its results are of other types than its operands give");
  replace(op, result.getValues());
}

bool splitValues(ModuleOp module, UnsupportedOps &unsupported) {
  bool isNeeded = module
                      .walk([](Operation *op) {
                        return isConcerned(op) ? WalkResult::interrupt() : WalkResult::advance();
                      })
                      .wasInterrupted();
  if (!isNeeded)
    return true;
  Splitter splitter(unsupported);
  for (auto func : module.getOps<func::FuncOp>())
    splitter.splitFunction(func);
  splitter.finish();
  return splitter.canStub;
}

} // namespace xc::stablehlo_import
