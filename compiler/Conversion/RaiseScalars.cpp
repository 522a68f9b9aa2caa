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
// - assertions go. A launch cannot fail half-way: positions that bodies compute are moved into
//   their tensors by -xc-normalize-input, and an assertion on data outside of bodies is a warning.
//
// Array ops stay, and so do scalars that nothing but sizes are made of.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"

#include "compiler/Conversion/TensorInterpreter.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_RAISESCALARS
#include "compiler/Conversion/Passes.h.inc"

namespace {

bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// An integer that can be a size, as other compilers compute them.
bool isSizeType(Type type) { return type.isSignlessInteger(64) || type.isSignlessInteger(32); }

/// arith or math on scalars.
bool isScalarOp(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 && op->getNumResults() == 1 && !isa<arith::ConstantOp>(op) &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

/// The scalars of one function.
class Raiser {
public:
  explicit Raiser(MLIRContext *context) : builder(context) {}

  LogicalResult run(Block &block);

private:
  bool fold(Operation *op);
  bool foldExtract(tensor::ExtractOp extract);
  void visit(Operation *op);
  void visitScalar(Operation *op);
  LogicalResult verifyRaised(Operation *op);
  LogicalResult visitAssert(cf::AssertOp op);
  bool require(arith::CmpIOp compare, StringRef message);
  void visitBodies(Operation *op);
  void raiseFill(linalg::FillOp fill);
  void raiseElements(tensor::FromElementsOp op);
  void raiseSlice(tensor::ExtractSliceOp slice);

  bool isData(Value value) const { return raised.contains(value); }
  /// Whether another value stands for this one now.
  bool isReplaced(Value value) const { return isData(value) || indices.contains(value); }
  /// `op`, of type index.
  void computeAsIndex(Operation *op);
  /// `op` in a linalg op without loops.
  void raise(Operation *op);
  /// A linalg op over `shape` that reads nothing but what its body extracts.
  Value compute(Location loc, RankedTensorType type,
                llvm::function_ref<Value(OpBuilder &, Location)> body);
  /// What a body has for `value`, which may be one that was raised.
  Value inBody(OpBuilder &body, Location loc, Value value);
  /// `value`, of any scalar type, as a tensor of rank 0.
  Value asTensor(Location loc, Value value);

  OpBuilder builder;
  TensorInterpreter interpreter;
  llvm::DenseMap<Value, Value> raised;  ///< a scalar of data; its tensor of rank 0
  llvm::DenseMap<Value, Value> indices; ///< an integer computed of sizes; the same as an index
};

} // namespace

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
  return value;
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
  APInt bits(64, elements->bits[*place]);
  bits = bits.trunc(element.getIntOrFloatBitWidth());
  TypedAttr value;
  if (auto floats = dyn_cast<FloatType>(element))
    value = FloatAttr::get(floats, APFloat(floats.getFloatSemantics(), bits));
  else
    value = IntegerAttr::get(element, bits);
  Value constant = arith::ConstantOp::create(builder, extract.getLoc(), value);
  extract.replaceAllUsesWith(constant);
  return true;
}

bool Raiser::fold(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return foldExtract(extract);
  SmallVector<Value> results;
  if ((!isScalarOp(op) && !isa<tensor::DimOp>(op)) || failed(builder.tryFold(op, results)))
    return false;
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

/// Demands of sizes what `compare` does; false if no requirement can say it.
bool Raiser::require(arith::CmpIOp compare, StringRef message) {
  Value left = compare.getLhs(), right = compare.getRhs();
  if (!left.getType().isIndex())
    return false;
  Location loc = compare.getLoc();
  auto demand = [&](Value first, plan::Comparison comparison, Value second) {
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
    return demand(left, plan::Comparison::Equal, right);
  case arith::CmpIPredicate::sle:
    return demand(left, plan::Comparison::AtMost, right);
  case arith::CmpIPredicate::sge:
    return demand(right, plan::Comparison::AtMost, left);
  case arith::CmpIPredicate::slt:
    return demand(next(left), plan::Comparison::AtMost, right);
  case arith::CmpIPredicate::sgt:
    return demand(next(right), plan::Comparison::AtMost, left);
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
// What uses scalars
//===----------------------------------------------------------------------===//

/// Bodies read raised scalars.
void Raiser::visitBodies(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    llvm::DenseMap<Value, Value> read;
    OpBuilder body = OpBuilder::atBlockBegin(&region.front());
    region.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands()) {
        Value value = operand.get();
        if (!isReplaced(value))
          continue;
        Value &local = read[value];
        if (!local)
          local = inBody(body, op->getLoc(), value);
        operand.set(local);
      }
    });
  }
}

void Raiser::raiseFill(linalg::FillOp fill) {
  Value scalar = fill.getInputs()[0], init = fill.getOutputs()[0];
  auto type = dyn_cast<RankedTensorType>(init.getType());
  if (!type || !isReplaced(scalar))
    return;
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(builder, fill.getLoc(), type, asTensor(fill.getLoc(), scalar), init,
                                {AffineMap::get(type.getRank(), 0, builder.getContext()),
                                 builder.getMultiDimIdentityMap(type.getRank())},
                                loops, [&](OpBuilder &body, Location loc, ValueRange arguments) {
                                  linalg::YieldOp::create(body, loc, arguments[0]);
                                });
  fill.replaceAllUsesWith(generic);
}

/// Elements that are scalars of a program, put side by side.
void Raiser::raiseElements(tensor::FromElementsOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (llvm::none_of(op.getElements(), [&](Value value) { return isReplaced(value); }))
    return;
  if (type.getRank() == 0)
    return op.replaceAllUsesWith(asTensor(op.getLoc(), op.getElements()[0]));
  Value result =
      tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(), type.getElementType());
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
  for (auto [number, element] : llvm::enumerate(op.getElements())) {
    SmallVector<OpFoldResult> offsets = getAsIndexOpFoldResult(
        builder.getContext(), delinearize(static_cast<int64_t>(number), strides));
    result = tensor::InsertSliceOp::create(builder, op.getLoc(), asTensor(op.getLoc(), element),
                                           result, offsets, ones, ones);
  }
  op.replaceAllUsesWith(result);
}

/// A slice whose place depends on data is a gather.
void Raiser::raiseSlice(tensor::ExtractSliceOp slice) {
  bool isAtData = llvm::any_of(slice.getOffsets(), [&](Value offset) { return isData(offset); });
  if (!isAtData || !slice.getType().hasStaticShape() || !slice.hasUnitStride())
    return;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  Value result = compute(slice.getLoc(), slice.getType(), [&](OpBuilder &body, Location loc) {
    SmallVector<Value> position;
    int64_t loop = 0;
    for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
      Value begin = getValueOrCreateConstantIndexOp(body, loc, offset);
      begin = inBody(body, loc, begin);
      if (!dropped[dim])
        begin = arith::AddIOp::create(body, loc, begin, linalg::IndexOp::create(body, loc, loop++));
      position.push_back(begin);
    }
    return tensor::ExtractOp::create(body, loc, slice.getSource(), position).getResult();
  });
  slice.replaceAllUsesWith(result);
}

void Raiser::visit(Operation *op) {
  builder.setInsertionPoint(op);
  if (fold(op))
    return;
  if (isScalarOp(op) || isa<tensor::ExtractOp>(op))
    return visitScalar(op);
  visitBodies(op);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    raiseFill(fill);
  else if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    raiseElements(elements);
  else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    raiseSlice(slice);
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
  for (Operation *op : before)
    if (failed(verifyRaised(op)))
      return failure();
  for (cf::AssertOp check : asserts) {
    before.erase(llvm::find(before, check.getOperation()));
    if (failed(visitAssert(check)))
      return failure();
  }
  for (Operation *op : llvm::reverse(before))
    if (isOpTriviallyDead(op))
      op->erase();
  return success();
}

namespace {

struct RaiseScalarsPass : impl::RaiseScalarsBase<RaiseScalarsPass> {
  void runOnOperation() override {
    getOperation().walk([](cf::AssertOp check) {
      if (isa<linalg::LinalgOp>(check->getParentOp()))
        check.erase();
    });
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.getBody().hasOneBlock() && failed(Raiser(&getContext()).run(func.getBody().front())))
        return signalPassFailure();
  }
};

} // namespace

} // namespace xc
