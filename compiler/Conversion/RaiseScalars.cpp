//===- RaiseScalars.cpp - Scalars between linalg ops as tensors ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Other compilers write linalg with scalars between its ops: elements that are read of a tensor,
// arithmetic on them and on sizes as i64, and assertions. Here
//
// - what depends on constants alone becomes a constant, so that the sizes it gives are known;
// - arithmetic on sizes is of type index;
// - what depends on data becomes a tensor of rank 0, computed by a linalg op without loops, and
//   bodies read it by tensor.extract;
// - slices and elements that are put at positions of data, and choices between tensors, become
//   array ops;
// - the bodies of array.while and array.if are treated like functions;
// - assertions go. A launch cannot fail half-way: positions that bodies compute are moved into
//   their tensors by -xc-normalize-input, and an assertion on data outside of bodies is a warning.
//
// Array ops stay, and so do scalars that nothing but sizes are made of.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"

#include "compiler/Conversion/ScalarInterpreter.h"
#include "compiler/Conversion/ScalarRaiser.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_RAISESCALARS
#include "compiler/Conversion/Passes.h.inc"

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// An integer that can be a size, as other compilers compute them.
static bool isSizeType(Type type) {
  return type.isSignlessInteger(64) || type.isSignlessInteger(32);
}

bool isScalarOp(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 && op->getNumResults() == 1 && !isa<arith::ConstantOp>(op) &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

/// The element type of tensors for scalars of `type`: no tensor holds an index.
static Type getElementType(Type type) {
  return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type;
}

static Value castIndex(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return arith::IndexCastOp::create(builder, loc, type, value);
}

Value Raiser::compute(Location loc, RankedTensorType type,
                      llvm::function_ref<Value(OpBuilder &, Location)> body) {
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, ValueRange(), init, builder.getMultiDimIdentityMap(type.getRank()), loops,
      [&](OpBuilder &inside, Location bodyLoc, ValueRange) {
        linalg::YieldOp::create(inside, bodyLoc, body(inside, bodyLoc));
      });
  return generic.getResult(0);
}

Value Raiser::inBody(OpBuilder &body, Location loc, Value value) {
  if (Value tensor = raised.lookup(value)) {
    Value element = tensor::ExtractOp::create(body, loc, tensor, ValueRange());
    return castIndex(body, loc, value.getType(), element);
  }
  if (Value index = indices.lookup(value))
    return castIndex(body, loc, value.getType(), index);
  if (!isForeign(value))
    return value;
  // Such as a comparison of sizes, which is computed once more.
  IRMapping mapping;
  for (Value operand : value.getDefiningOp()->getOperands())
    mapping.map(operand, inBody(body, loc, operand));
  return body.clone(*value.getDefiningOp(), mapping)->getResult(0);
}

Value Raiser::asTensor(Location loc, Value value) {
  if (Value tensor = raised.lookup(value))
    return tensor;
  Type element = getElementType(value.getType());
  return compute(loc, RankedTensorType::get({}, element), [&](OpBuilder &body, Location bodyLoc) {
    return castIndex(body, bodyLoc, element, inBody(body, bodyLoc, value));
  });
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The constant of `type` with these bits.
static Value makeConstant(OpBuilder &builder, Location loc, Type type, uint64_t bits) {
  if (type.isIndex())
    return arith::ConstantIndexOp::create(builder, loc, static_cast<int64_t>(bits));
  APInt number = APInt(64, bits).trunc(type.getIntOrFloatBitWidth());
  TypedAttr value;
  if (auto floats = dyn_cast<FloatType>(type))
    value = FloatAttr::get(floats, APFloat(floats.getFloatSemantics(), number));
  else
    value = IntegerAttr::get(type, number);
  return arith::ConstantOp::create(builder, loc, value);
}

/// An element of a tensor that constants alone decide.
bool Raiser::foldExtract(tensor::ExtractOp extract) {
  auto type = extract.getTensor().getType();
  Type element = type.getElementType();
  SmallVector<int64_t> position;
  for (Value index : extract.getIndices()) {
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (!constant)
      return false;
    position.push_back(*constant);
  }
  if (!type.hasStaticShape() || !isa<IntegerType, FloatType>(element))
    return false;
  TensorInterpreter::Result elements = interpreter.evaluate(extract.getTensor());
  std::optional<size_t> place = elements ? elements->position(position) : std::nullopt;
  if (!place)
    return false;
  extract.replaceAllUsesWith(
      makeConstant(builder, extract.getLoc(), element, elements->bits[*place]));
  return true;
}

/// What folders leave because it is not exact, such as a number that overflows in a narrower type.
bool Raiser::evaluate(Operation *op) {
  SmallVector<uint64_t> operands;
  for (Value operand : op->getOperands()) {
    Attribute constant;
    std::optional<uint64_t> bits;
    if (matchPattern(operand, m_Constant(&constant)))
      bits = bitsOfScalar(constant);
    if (!bits)
      return false;
    operands.push_back(*bits);
  }
  std::optional<uint64_t> result = evaluateScalarOp(op, operands);
  if (result)
    op->replaceAllUsesWith(
        ValueRange(makeConstant(builder, op->getLoc(), op->getResult(0).getType(), *result)));
  return result.has_value();
}

bool Raiser::fold(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return foldExtract(extract);
  SmallVector<Value> results;
  if (!isScalarOp(op) && !isa<tensor::DimOp, affine::AffineApplyOp>(op))
    return false;
  if (failed(builder.tryFold(op, results)))
    return isScalarOp(op) && evaluate(op);
  op->replaceAllUsesWith(results);
  return true;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

void Raiser::computeAsIndex(Operation *op) {
  auto asIndex = [&](Value value) -> Value {
    if (Value index = indices.lookup(value))
      return index;
    if (isSizeType(value.getType()))
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        return arith::ConstantIndexOp::create(builder, op->getLoc(), *constant);
    return value; // an index, or a condition
  };
  // The widths of integers that hold sizes mean nothing.
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    Value index = asIndex(op->getOperand(0));
    if (op->getResult(0).getType().isIndex())
      op->getResult(0).replaceAllUsesWith(index);
    else
      indices[op->getResult(0)] = index;
    return;
  }
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), asIndex);
  Type type = op->getResult(0).getType();
  OperationState state(op->getLoc(), op->getName(), operands,
                       isSizeType(type) ? Type(builder.getIndexType()) : type, op->getAttrs());
  Value result = builder.create(state)->getResult(0);
  if (isSizeType(type))
    indices[op->getResult(0)] = result;
  else
    op->getResult(0).replaceAllUsesWith(result);
}

void Raiser::raise(Operation *op) {
  Type type = op->getResult(0).getType(), element = getElementType(type);
  raised[op->getResult(0)] =
      compute(op->getLoc(), RankedTensorType::get({}, element), [&](OpBuilder &body, Location loc) {
        IRMapping mapping;
        for (Value operand : op->getOperands())
          mapping.map(operand, inBody(body, loc, operand));
        return castIndex(body, loc, element, body.clone(*op, mapping)->getResult(0));
      });
}

void Raiser::visitScalar(Operation *op) {
  bool isOfData = llvm::any_of(op->getOperands(), [&](Value value) { return isData(value); });
  if (isOfData || isa<tensor::ExtractOp>(op))
    return raise(op);
  auto isOfSizes = [&](Value value) {
    return value.getType().isIndex() || indices.contains(value) || value.getType().isInteger(1) ||
           getConstantIntValue(value);
  };
  bool hasIntegers = llvm::any_of(llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()),
                                                     SmallVector<Type>(op->getResultTypes())),
                                  isSizeType);
  if (hasIntegers && llvm::all_of(op->getOperands(), isOfSizes))
    computeAsIndex(op);
  else if (!op->getResult(0).getType().isIndex() && !op->getResult(0).getType().isInteger(1))
    raise(op); // such as floats computed of sizes
}

/// Requires of sizes what `compare` does; false if no requirement can say it.
bool Raiser::require(arith::CmpIOp compare, StringRef message) {
  Value left = compare.getLhs(), right = compare.getRhs();
  if (!left.getType().isIndex())
    return false;
  Location loc = compare.getLoc();
  auto require = [&](Value first, plan::Comparison comparison, Value second) {
    plan::RequireOp::create(builder, loc, first, comparison, second,
                            ("cf.assert: " + message).str());
    return true;
  };
  auto next = [&](Value value) {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    return arith::AddIOp::create(builder, loc, value, one);
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return require(left, plan::Comparison::Equal, right);
  case arith::CmpIPredicate::sle:
    return require(left, plan::Comparison::AtMost, right);
  case arith::CmpIPredicate::sge:
    return require(right, plan::Comparison::AtMost, left);
  case arith::CmpIPredicate::slt:
    return require(next(left), plan::Comparison::AtMost, right);
  case arith::CmpIPredicate::sgt:
    return require(next(right), plan::Comparison::AtMost, left);
  default:
    return false;
  }
}

LogicalResult Raiser::visitAssert(cf::AssertOp op) {
  builder.setInsertionPoint(op);
  auto compare = op.getArg().getDefiningOp<arith::CmpIOp>();
  if (isData(op.getArg()))
    op.emitWarning() << "'" << op.getMsg() << "' is not checked: it depends on data, and a launch "
                     << "cannot fail half-way";
  else if (matchPattern(op.getArg(), m_Zero()))
    return op.emitError() << "'cf.assert' fails whatever the inputs are: '" << op.getMsg() << "'";
  else if (!matchPattern(op.getArg(), m_One()) && !(compare && require(compare, op.getMsg())))
    return op.emitError() << "'cf.assert' of a condition that is no comparison of sizes ('"
                          << op.getMsg() << "'); expected ==, <, <=, > or >= of two sizes";
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops in order
//===----------------------------------------------------------------------===//

/// What a loop or a choice repeats.
void Raiser::visitRegions(Operation *op) {
  for (Region &region : op->getRegions())
    if (!region.empty() && succeeded(inner))
      inner = run(region.front());
}

void Raiser::visit(Operation *op) {
  builder.setInsertionPoint(op);
  if (fold(op))
    return;
  if (isa<array::IfOp, array::WhileOp>(op))
    return visitRegions(op);
  // Before its body reads the scalar.
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    raisePad(pad);
  if (isScalarOp(op) || isa<tensor::ExtractOp>(op))
    return visitScalar(op);
  visitBodies(op);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    raiseFill(fill);
  else if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    raiseElements(elements);
  else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    raiseSlice(slice);
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    raiseInsertedSlice(insert);
  else if (auto insert = dyn_cast<tensor::InsertOp>(op))
    raiseInsertedElement(insert);
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    raiseSelect(select);
  else if (isa<linalg::LinalgOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (isReplaced(operand.get()))
        operand.set(asTensor(op->getLoc(), operand.get()));
}

/// What reads a scalar of data must be a tensor op by now.
LogicalResult Raiser::verifyRaised(Operation *op) {
  if (isScalarOp(op) || isa<tensor::ExtractOp, cf::AssertOp>(op) || op->use_empty())
    return success();
  for (OpOperand &operand : op->getOpOperands())
    if (isData(operand.get()))
      return op->emitError() << "operand " << operand.getOperandNumber() << " of '" << op->getName()
                             << "' is computed of the data of a tensor; expected sizes that "
                                "constants and the sizes of inputs decide";
  return success();
}

LogicalResult Raiser::run(Block &block) {
  SmallVector<Operation *> before;
  for (Operation &op : block)
    before.push_back(&op);
  SmallVector<cf::AssertOp> asserts;
  for (Operation *op : before) {
    if (auto check = dyn_cast<cf::AssertOp>(op))
      asserts.push_back(check);
    else
      visit(op);
  }
  if (failed(inner))
    return failure();
  for (Operation *op : before)
    if (failed(verifyRaised(op)))
      return failure();
  for (cf::AssertOp check : asserts) {
    before.erase(llvm::find(before, check.getOperation()));
    if (failed(visitAssert(check)))
      return failure();
  }
  blocks.push_back(std::move(before));
  return success();
}

void Raiser::eraseDead() {
  // Those of inner blocks first, as they may use what is outside, and go with the op that holds
  // them.
  for (ArrayRef<Operation *> ops : blocks)
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
}

namespace {

struct RaiseScalarsPass : impl::RaiseScalarsBase<RaiseScalarsPass> {
  void runOnOperation() override {
    getOperation().walk([](cf::AssertOp check) {
      if (isa<linalg::LinalgOp>(check->getParentOp()))
        check.erase();
    });
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (!func.getBody().hasOneBlock())
        continue;
      Raiser raiser(&getContext());
      if (failed(raiser.run(func.getBody().front())))
        return signalPassFailure();
      raiser.eraseDead();
    }
  }
};

} // namespace

} // namespace xc
