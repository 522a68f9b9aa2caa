//===- ImportSCF.cpp - Loops and choices between linalg ops ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scf.for`, `scf.while` and `scf.if` between tensor ops become `array.while` and `array.if`, which
// carry tensors: a scalar that is carried, or given by a choice, becomes a tensor of rank 0. It is
// read by tensor.extract where it was used, and -xc-raise-scalars sees to the rest. Inner ones come
// first. Those in bodies of linalg ops stay, for -xc-verify-input to refuse.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Input/Passes.h"
#include "compiler/Input/SupportedTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace xc::array;

namespace xc {
#define GEN_PASS_DEF_IMPORTSCF
#include "compiler/Input/Passes.h.inc"

/// The type of the tensor that carries a value: no tensor holds an index.
static Type getCarriedType(Type type) {
  if (isa<ShapedType>(type))
    return type;
  return RankedTensorType::get({}, type.isIndex() ? IntegerType::get(type.getContext(), 64) : type);
}

static Value toTensor(OpBuilder &builder, Location loc, Value value) {
  auto type = getCarriedType(value.getType());
  if (type == value.getType())
    return value;
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  return tensor::FromElementsOp::create(builder, loc, type, value);
}

static SmallVector<Value> toTensors(OpBuilder &builder, Location loc, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return toTensor(builder, loc, value); });
}

/// What a loop starts with has values: those of a tensor that the first iteration fills are 0.
static Value initialize(OpBuilder &builder, Location loc, Value value) {
  if (!value.getDefiningOp<tensor::EmptyOp>())
    return value;
  TypedAttr number = builder.getZeroAttr(getElementTypeOrSelf(value.getType()));
  if (!number)
    return value; // -xc-verify-input refuses the type
  Value zero = arith::ConstantOp::create(builder, loc, number);
  return linalg::FillOp::create(builder, loc, zero, value).getResult(0);
}

static SmallVector<Value> startValues(OpBuilder &builder, Location loc, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return initialize(builder, loc, toTensor(builder, loc, value)); });
}

/// The value of `type` that `tensor` carries.
static Value fromTensor(OpBuilder &builder, Location loc, Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  Value scalar = tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
  return type.isIndex() ? arith::IndexCastOp::create(builder, loc, type, scalar).getResult()
                        : scalar;
}

static SmallVector<Value> fromTensors(OpBuilder &builder, Location loc, ValueRange tensors,
                                      TypeRange types) {
  SmallVector<Value> values;
  for (auto [tensor, type] : llvm::zip_equal(tensors, types))
    values.push_back(fromTensor(builder, loc, tensor, type));
  return values;
}

/// A block of `region` that takes the loop's tensors.
static Block *addBlock(OpBuilder &builder, Region &region, TypeRange types, Location loc) {
  return builder.createBlock(&region, region.end(), types,
                             SmallVector<Location>(types.size(), loc));
}

/// Moves the ops of `from` to the builder's place, with `arguments` for its own; what its end
/// gives.
static SmallVector<Value> inlineBlock(OpBuilder &builder, Block &from, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(from.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  Operation *end = from.getTerminator();
  SmallVector<Value> values(end->getOperands());
  Block *to = builder.getInsertionBlock();
  to->getOperations().splice(builder.getInsertionPoint(), from.getOperations(), from.begin(),
                             end->getIterator());
  return values;
}

/// The same with copies of the ops.
static SmallVector<Value> cloneBlock(OpBuilder &builder, Block &from, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(from.getArguments(), arguments);
  for (Operation &op : from.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(from.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

static void replace(OpBuilder &builder, Operation *op, ValueRange tensors) {
  SmallVector<Value> values = fromTensors(builder, op->getLoc(), tensors, op->getResultTypes());
  op->replaceAllUsesWith(values);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult convertFor(scf::ForOp op) {
  if (op.getUnsignedCmp())
    return op.emitError("'scf.for' compares its bounds as unsigned integers; expected signed ones");
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type counterType = op.getInductionVar().getType();
  // Outside of the loop, since they do not change.
  Value last = toTensor(builder, loc, op.getUpperBound()),
        step = toTensor(builder, loc, op.getStep());
  SmallVector<Value> inits{toTensor(builder, loc, op.getLowerBound())};
  llvm::append_range(inits, startValues(builder, loc, op.getInitArgs()));
  auto loop = WhileOp::create(builder, loc, TypeRange(ValueRange(inits)), inits);
  TypeRange types = loop.getResultTypes();

  ExpressionBuilder e(builder, loc);
  Block *condition = addBlock(builder, loop.getCondition(), types, loc);
  Value goesOn = e.compare(CompareDirection::Lt, condition->getArgument(0), last);
  YieldOp::create(builder, loc, goesOn);

  Block *body = addBlock(builder, loop.getBody(), types, loc);
  SmallVector<Type> wanted{counterType};
  llvm::append_range(wanted, op.getInitArgs().getTypes());
  SmallVector<Value> arguments = fromTensors(builder, loc, body->getArguments(), wanted);
  SmallVector<Value> yielded =
      toTensors(builder, loc, inlineBlock(builder, *op.getBody(), arguments));
  yielded.insert(yielded.begin(), e.add(body->getArgument(0), step));
  YieldOp::create(builder, loc, yielded);

  builder.setInsertionPointAfter(loop);
  replace(builder, op, loop.getResults().drop_front());
  return success();
}

/// What the first region passes on to the second one is computed in the condition, in the body, and
/// behind the loop, where it is the result.
static LogicalResult convertWhile(scf::WhileOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> inits = startValues(builder, loc, op.getInits());
  auto loop = WhileOp::create(builder, loc, TypeRange(ValueRange(inits)), inits);
  TypeRange types = loop.getResultTypes(), scalars = op.getInits().getTypes();
  Block &before = *op.getBeforeBody();

  Block *condition = addBlock(builder, loop.getCondition(), types, loc);
  SmallVector<Value> arguments = fromTensors(builder, loc, condition->getArguments(), scalars);
  Value goesOn = cloneBlock(builder, before, arguments).front();
  YieldOp::create(builder, loc, toTensor(builder, loc, goesOn));

  Block *body = addBlock(builder, loop.getBody(), types, loc);
  arguments = fromTensors(builder, loc, body->getArguments(), scalars);
  SmallVector<Value> passed = cloneBlock(builder, before, arguments);
  SmallVector<Value> yielded =
      inlineBlock(builder, *op.getAfterBody(), ArrayRef(passed).drop_front());
  YieldOp::create(builder, loc, toTensors(builder, loc, yielded));

  builder.setInsertionPointAfter(loop);
  arguments = fromTensors(builder, loc, loop.getResults(), scalars);
  op->replaceAllUsesWith(ValueRange(inlineBlock(builder, before, arguments)).drop_front());
  op->erase();
  return success();
}

static LogicalResult convertIf(scf::IfOp op) {
  // Without results it has nothing to say.
  if (op.getNumResults() == 0) {
    op->erase();
    return success();
  }
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value condition = toTensor(builder, loc, op.getCondition());
  SmallVector<Type> types = llvm::map_to_vector(op.getResultTypes(), getCarriedType);
  auto choice = IfOp::create(builder, loc, types, condition);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), choice->getRegions())) {
    addBlock(builder, to, {}, loc);
    SmallVector<Value> yielded = inlineBlock(builder, from.front(), {});
    YieldOp::create(builder, loc, toTensors(builder, loc, yielded));
  }
  builder.setInsertionPointAfter(choice);
  replace(builder, op, choice.getResults());
  return success();
}

static LogicalResult convert(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!type.isIndex() && !isSupportedElement(getElementTypeOrSelf(type)))
      return op->emitError() << "'" << op->getName() << "' carries a value of type " << type
                             << "; supported element types are " << kSupportedElements;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return convertFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return convertWhile(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return convertIf(choice);
  return op->emitError() << "'" << op->getName()
                         << "' is not supported; supported of scf are for, while and if";
}

namespace {

struct ImportSCFPass : impl::ImportSCFBase<ImportSCFPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      bool isEnd = op->hasTrait<OpTrait::IsTerminator>();
      if (isa_and_present<scf::SCFDialect>(op->getDialect()) && !isEnd &&
          !op->getParentOfType<linalg::LinalgOp>())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(convert(op)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace xc
