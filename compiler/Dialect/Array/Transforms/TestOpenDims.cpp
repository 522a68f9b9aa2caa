//===- TestOpenDims.cpp - Makes a program's sizes known at run time only -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments get `?` for static dims, and results of ops what then is inferred of them. Where an op
// does not take such operands, or says its result's sizes itself, it keeps the static types: a cast
// from `?` gives its operands the old ones, and the runtime checks them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_TESTOPENDIMS
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// `type` with `?` where `other` has one.
static Type openLike(Type type, Type other) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto model = dyn_cast<RankedTensorType>(other);
  if (!tensor || !model || tensor.getRank() != model.getRank())
    return type;
  Dims shape(tensor.getShape());
  for (auto [dim, open] : llvm::zip_equal(shape, model.getShape()))
    if (ShapedType::isDynamic(open))
      dim = open;
  return tensor.clone(shape);
}

static bool verifiesSilently(Operation *op) {
  ScopedDiagnosticHandler silence(op->getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(op, /*verifyRecursively=*/false));
}

namespace {
/// The types that values of one function had before.
class Opener {
public:
  Opener(func::FuncOp func, bool onlyFirst) : func(func), onlyFirst(onlyFirst) {}
  void run();

private:
  void setType(Value value, Type type) {
    if (value.getType() == type)
      return;
    old.try_emplace(value, value.getType());
    value.setType(type);
  }
  void openArgument(BlockArgument argument);
  bool openResults(Operation *op);
  void restoreOperands(Operation *op);
  void openReturn(func::ReturnOp op);

  func::FuncOp func;
  bool onlyFirst;
  llvm::DenseMap<Value, Type> old;
};
} // namespace

void Opener::openArgument(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.getRank() == 0)
    return;
  Dims shape(type.getShape());
  for (int64_t &dim : MutableArrayRef(shape).take_front(onlyFirst ? 1 : shape.size()))
    // One is broadcast where it is static.
    dim = dim == 1 ? 1 : ShapedType::kDynamic;
  setType(argument, type.clone(shape));
}

/// Whether `op` takes its operands as they are now; its results then have the types that follow.
bool Opener::openResults(Operation *op) {
  // What a symbol says of types is verified with all of the module.
  if (!isa_and_present<ArrayDialect>(op->getDialect()) || op->getNumRegions() != 0 ||
      isa<SymbolUserOpInterface>(op))
    return false;
  SmallVector<Type> before(op->getResultTypes()), inferred;
  if (auto inferable = dyn_cast<InferTypeOpInterface>(op)) {
    if (failed(inferable.inferReturnTypes(op->getContext(), std::nullopt, op->getOperands(),
                                          op->getDiscardableAttrDictionary(),
                                          op->getPropertiesStorage(), op->getRegions(), inferred)))
      return false;
  } else if (isa<ArrayElementwiseOpInterface>(op)) {
    inferred.push_back(op->getOperand(0).getType());
  }
  for (auto [result, type] : llvm::zip(op->getResults(), inferred))
    result.setType(openLike(result.getType(), type));
  bool isValid = verifiesSilently(op);
  for (auto [result, type] : llvm::zip_equal(op->getResults(), before)) {
    Type opened = result.getType();
    result.setType(type);
    if (isValid)
      setType(result, opened);
  }
  return isValid;
}

/// Where the value is made, since bodies of linalg ops have no casts.
void Opener::restoreOperands(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = old.lookup(operand.get())) {
      builder.setInsertionPointAfterValue(operand.get());
      operand.set(tensor::CastOp::create(builder, op->getLoc(), type, operand.get()));
    }
}

void Opener::openReturn(func::ReturnOp op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    // An alias has the type of its argument.
    if (func.getResultAttr(operand.getOperandNumber(), kAliasAttr))
      if (Type type = old.lookup(operand.get()))
        operand.set(tensor::CastOp::create(builder, op->getLoc(), type, operand.get()));
  func.setFunctionType(FunctionType::get(func.getContext(), func.front().getArgumentTypes(),
                                         llvm::to_vector(op.getOperandTypes())));
}

void Opener::run() {
  llvm::SmallDenseSet<int64_t> aliased;
  for (unsigned result = 0; result < func.getNumResults(); ++result)
    if (auto number = dyn_cast_if_present<IntegerAttr>(func.getResultAttr(result, kAliasAttr)))
      aliased.insert(number.getInt());
  for (BlockArgument argument : func.getArguments())
    // What says something of its dims keeps them.
    if (!aliased.contains(argument.getArgNumber()) &&
        !func.getArgAttr(argument.getArgNumber(), kDimsAttr))
      openArgument(argument);
  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::drop_begin(ops)) {
    bool isReached =
        llvm::any_of(op->getOperands(), [&](Value value) { return old.contains(value); });
    if (!isReached || isa<func::ReturnOp>(op))
      continue;
    if (!openResults(op))
      restoreOperands(op);
  }
  openReturn(cast<func::ReturnOp>(func.front().getTerminator()));
}

namespace {
struct TestOpenDims : impl::TestOpenDimsBase<TestOpenDims> {
  using TestOpenDimsBase::TestOpenDimsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp func : module.getOps<func::FuncOp>())
      // Who calls a private function, or declares its gradient, knows its types.
      if (func.isPublic() && !func.isDeclaration() &&
          SymbolTable::symbolKnownUseEmpty(func, module))
        Opener(func, onlyFirst).run();
  }
};
} // namespace

} // namespace xc::array
