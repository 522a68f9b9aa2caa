//===- DifferentiateFunction.cpp - A function's gradient as another function -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The new function is a copy of the old one that goes on where it returned: cotangents of its
// results, which are further arguments, flow back through the ops in reverse order. What does not
// depend on a wanted input is left alone, so that it needs no gradient. Cotangents have the sizes
// of their results: where that is known only when inputs are bound, it is required then.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Differentiate.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/NearestNames.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_DIFFERENTIATE
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

std::string getGradientName(StringRef function) { return (function + "_vjp").str(); }

static constexpr StringLiteral kName = kNameAttr, kDims = kDimsAttr;

static std::string nameOf(StringAttr given, StringRef kind, unsigned index) {
  return given ? given.str() : (kind + Twine(index)).str();
}

static std::string inputName(func::FuncOp func, unsigned index) {
  return nameOf(func.getArgAttrOfType<StringAttr>(index, kName), "input", index);
}

static std::string describeInputs(func::FuncOp func, StringRef unknown) {
  auto names = llvm::map_to_vector(llvm::seq(func.getNumArguments()),
                                   [&](unsigned index) { return inputName(func, index); });
  return describeNames(unknown, SmallVector<StringRef>(names.begin(), names.end()));
}

/// The numbers of the inputs that `wanted` names; all that hold floats where it names none.
static FailureOr<SmallVector<unsigned>> findInputs(func::FuncOp func,
                                                   ArrayRef<std::string> wanted) {
  SmallVector<unsigned> found;
  unsigned count = func.getNumArguments();
  for (StringRef name : wanted) {
    unsigned index = count;
    if (name.getAsInteger(10, index))
      for (index = 0; index < count && inputName(func, index) != name;)
        ++index;
    if (index >= count)
      return func.emitError() << "function '" << func.getName() << "' has no input '" << name
                              << "'; " << describeInputs(func, name);
    if (!isFloatTensorType(func.getArgumentTypes()[index]))
      return func.emitError() << "input '" << inputName(func, index) << "' of '" << func.getName()
                              << "' has type " << func.getArgumentTypes()[index]
                              << ", which has no gradient; expected floats";
    if (llvm::is_contained(found, index))
      return func.emitError() << "input '" << inputName(func, index) << "' of '" << func.getName()
                              << "' is named twice; expected each input once";
    found.push_back(index);
  }
  if (wanted.empty())
    for (unsigned index = 0; index < count; ++index)
      if (isFloatTensorType(func.getArgumentTypes()[index]))
        found.push_back(index);
  if (found.empty())
    return func.emitError() << "function '" << func.getName()
                            << "' has no input of floats, so no gradient";
  return found;
}

/// Adds the cotangents of results as arguments behind the inputs; null for integers.
static SmallVector<Value> addCotangents(func::FuncOp func) {
  SmallVector<Value> cotangents;
  Builder builder(func.getContext());
  for (unsigned index = 0; index < func.getNumResults(); ++index) {
    cotangents.push_back({});
    if (!isFloatTensorType(func.getResultTypes()[index]))
      continue;
    StringAttr given = func.getResultAttrOfType<StringAttr>(index, kName);
    SmallVector<NamedAttribute> attributes{
        builder.getNamedAttr(kName, builder.getStringAttr("d_" + nameOf(given, "output", index)))};
    if (Attribute dims = func.getResultAttr(index, kDims))
      attributes.push_back(builder.getNamedAttr(kDims, dims));
    unsigned position = func.getNumArguments();
    if (failed(func.insertArgument(position, func.getResultTypes()[index],
                                   builder.getDictionaryAttr(attributes),
                                   func.front().getTerminator()->getOperand(index).getLoc())))
      llvm_unreachable("a function's type takes further inputs");
    cotangents.back() = func.getArgument(position);
  }
  return cotangents;
}

/// Requires that `cotangent`, an argument of `func`, has the sizes of `result`.
static void requireSizesOf(OpBuilder &builder, func::FuncOp func, Value result,
                           BlockArgument cotangent) {
  auto type = cast<RankedTensorType>(result.getType());
  SizeBuilder sizes(builder, result.getLoc());
  std::string name = inputName(func, cotangent.getArgNumber());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      plan::RequireOp::create(builder, result.getLoc(), sizes.value(sizes.size(cotangent, dim)),
                              plan::Comparison::Equal, sizes.value(sizes.size(result, dim)),
                              (func.getName() + ": expected dim " + Twine(dim) + " of '" + name +
                               "' to be that of the result whose cotangent it is")
                                  .str());
}

/// Makes `func` return `values`, the cotangents of `inputs`.
static void returnGradients(func::FuncOp func, ArrayRef<Value> values, ArrayRef<unsigned> inputs) {
  Builder builder(func.getContext());
  SmallVector<Attribute> attributes;
  for (unsigned index : inputs) {
    SmallVector<NamedAttribute> list{
        builder.getNamedAttr(kName, builder.getStringAttr("d_" + inputName(func, index)))};
    if (Attribute dims = func.getArgAttr(index, kDims))
      list.push_back(builder.getNamedAttr(kDims, dims));
    attributes.push_back(builder.getDictionaryAttr(list));
  }
  func.front().getTerminator()->setOperands(values);
  func.setType(builder.getFunctionType(func.getArgumentTypes(), ValueRange(values).getTypes()));
  func.setResAttrsAttr(builder.getArrayAttr(attributes));
}

/// Gives `func` the type that the program has declared it with.
static LogicalResult matchDeclaration(func::FuncOp func, func::FuncOp declared) {
  FunctionType wanted = declared.getFunctionType(), found = func.getFunctionType();
  bool isMatch = wanted.getInputs() == found.getInputs() &&
                 wanted.getNumResults() == found.getNumResults() &&
                 llvm::all_of_zip(found.getResults(), wanted.getResults(), [](Type from, Type to) {
                   return tensor::CastOp::areCastCompatible(from, to);
                 });
  if (!isMatch)
    return declared.emitError() << "'" << declared.getName() << "' is declared as " << wanted
                                << "; the gradient is " << found;
  Operation *terminator = func.front().getTerminator();
  OpBuilder builder(terminator);
  for (auto [operand, type] : llvm::zip_equal(terminator->getOpOperands(), wanted.getResults()))
    if (operand.get().getType() != type)
      operand.set(tensor::CastOp::create(builder, func.getLoc(), type, operand.get()));
  func.setType(wanted);
  func.setPrivate();
  return success();
}

static LogicalResult checkNames(func::FuncOp func) {
  llvm::StringSet<> names;
  for (unsigned index = 0; index < func.getNumArguments(); ++index)
    if (!names.insert(inputName(func, index)).second)
      return func.emitError() << "input '" << inputName(func, index)
                              << "' has the name of a result's cotangent; expected another name";
  return success();
}

static LogicalResult differentiate(func::FuncOp func, ArrayRef<unsigned> inputs) {
  llvm::DenseSet<Value> dependent;
  for (unsigned index : inputs)
    dependent.insert(func.getArgument(index));
  FailureOr<SmallVector<Operation *>> ops = findDependent(func.front(), dependent);
  if (failed(ops))
    return failure();
  Operation *terminator = func.front().getTerminator();
  SmallVector<Value> cotangents = addCotangents(func);
  if (failed(checkNames(func)))
    return failure();
  OpBuilder builder(terminator);
  FlowingCotangents flowing(builder, func.getLoc());
  for (auto [value, cotangent] : llvm::zip_equal(terminator->getOperands(), cotangents)) {
    if (cotangent)
      requireSizesOf(builder, func, value, cast<BlockArgument>(cotangent));
    flowing.add(value, cotangent);
  }
  if (failed(pullBackAll(builder, *ops, dependent, flowing)))
    return failure();
  ExpressionBuilder e(builder, func.getLoc());
  SmallVector<Value> gradients;
  for (unsigned index : inputs) {
    Value gradient = flowing.lookup(func.getArgument(index));
    gradients.push_back(gradient ? gradient : e.zerosLike(func.getArgument(index)));
  }
  returnGradients(func, gradients, inputs);
  return success();
}

namespace {

struct Differentiate : impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    DifferentiateBase::getDependentDialects(registry);
    registry.insert<plan::PlanDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    auto func = symbols.lookup<func::FuncOp>(function);
    if (!func) {
      auto known = llvm::map_to_vector(module.getOps<func::FuncOp>(),
                                       [](func::FuncOp func) { return func.getName(); });
      module.emitError() << "there is no function '" << function << "'; "
                         << describeNames(function, known);
      return signalPassFailure();
    }
    if (func.isExternal()) {
      func.emitError() << "function '" << function << "' has no body, so no gradient";
      return signalPassFailure();
    }
    std::string name = getGradientName(function);
    Operation *taken = symbols.lookup(name);
    auto declared = dyn_cast_or_null<func::FuncOp>(taken);
    if (taken && !(declared && declared.isExternal())) {
      taken->emitError() << "'" << name << "' is the name of the gradient of '" << function
                         << "'; expected another name";
      return signalPassFailure();
    }
    FailureOr<SmallVector<unsigned>> inputs = findInputs(func, arguments);
    if (failed(inputs))
      return signalPassFailure();
    func::FuncOp gradient = func.clone();
    gradient.setName(name);
    module.insert(std::next(func->getIterator()), gradient);
    if (failed(differentiate(gradient, *inputs)) ||
        (declared && failed(matchDeclaration(gradient, declared))))
      return signalPassFailure();
    if (declared)
      declared.erase();
  }
};

} // namespace

} // namespace xc::array
