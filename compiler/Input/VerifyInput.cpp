//===- VerifyInput.cpp - Reject what no later phase can compile -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Top down: the module's ops, each function's form and signature, each op at the function's top
// level with the types of its values, and the scalar ops in bodies of linalg ops.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/IR/NearestNames.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Input/Passes.h"
#include "compiler/Input/SupportedTypes.h"
#include "compiler/Input/UnknownNames.h"
#include "compiler/Input/VerifyAttributes.h"
#include "compiler/Input/VerifyCalls.h"
#include "compiler/Input/VerifySlices.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_VERIFYINPUT
#include "compiler/Input/Passes.h.inc"

/// Whether the number of bytes, with dynamic dims taken as 1, can be counted in 63 bits.
static bool isSizeRepresentable(RankedTensorType type) {
  // A dim of size 0 empties the array, but sizes and strides of the others are still computed.
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return false;
  return true;
}

/// Checks the type of a value; `report` starts the error and says which value it is.
static LogicalResult verifyTensor(Type type, function_ref<InFlightDiagnostic()> report) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return report() << type << "; expected a ranked tensor";
  if (tensor.getEncoding())
    return report() << type << "; expected a tensor without an encoding, got "
                    << tensor.getEncoding();
  if (!isSupportedElement(tensor.getElementType()))
    return report() << type << "; supported element types are " << kSupportedElements;
  if (!isSizeRepresentable(tensor))
    return report() << type << "; its size in bytes does not fit into 63 bits";
  return success();
}

static LogicalResult verifySignature(func::FuncOp func) {
  auto reporter = [&](StringRef what, size_t index) {
    return [&, what, index]() -> InFlightDiagnostic {
      return func.emitError() << what << " " << index << " of '" << func.getName() << "' has type ";
    };
  };
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (failed(verifyTensor(type, reporter("argument", index))))
      return failure();
  for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
    if (failed(verifyTensor(type, reporter("result", index))))
      return failure();
  return success();
}

/// Callers find inputs and outputs by name; one without a name is called after its number.
static LogicalResult verifyNames(func::FuncOp func) {
  llvm::StringMap<unsigned> inputs, outputs;
  auto nameOf = [](StringAttr given, StringRef kind, unsigned index) {
    return given ? given.str() : (kind + Twine(index)).str();
  };
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string name =
        nameOf(func.getArgAttrOfType<StringAttr>(index, array::kNameAttr), "input", index);
    auto [it, isNew] = inputs.try_emplace(name, index);
    if (isNew)
      continue;
    InFlightDiagnostic error = emitError(argument.getLoc())
                               << "inputs " << it->second << " and " << index << " of '"
                               << func.getName() << "' are both called '" << name << "'";
    error.attachNote(func.getArgument(it->second).getLoc()) << "input " << it->second << " is here";
    return error;
  }
  Operation *terminator = func.getBody().front().getTerminator();
  for (unsigned index = 0; index < func.getNumResults(); ++index) {
    std::string name =
        nameOf(func.getResultAttrOfType<StringAttr>(index, array::kNameAttr), "output", index);
    auto [it, isNew] = outputs.try_emplace(name, index);
    if (isNew)
      continue;
    // Results have no location but that of the function; what is returned has one.
    InFlightDiagnostic error = func.emitError()
                               << "outputs " << it->second << " and " << index << " of '"
                               << func.getName() << "' are both called '" << name << "'";
    for (unsigned output : {it->second, index})
      error.attachNote(terminator->getOperand(output).getLoc())
          << "output " << output << " is computed here";
    return error;
  }
  return success();
}

/// Elements of a constant, or of a variable at first: written out, in the text or in its resources.
static LogicalResult verifyElements(Operation *op, Attribute value) {
  auto elements = dyn_cast_or_null<ElementsAttr>(value);
  if (!elements || isa<DenseElementsAttr>(elements))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return op->emitError() << "'" << op->getName()
                           << "' has elements that are not supported; expected dense<...> or "
                              "dense_resource<...>";
  auto type = cast<ShapedType>(elements.getShapedType());
  uint64_t expected = llvm::divideCeil(type.getElementTypeBitWidth(), 8) * type.getNumElements();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  uint64_t found = blob ? blob->getData().size() : 0;
  if (found == expected)
    return success();
  return op->emitError() << "'" << op->getName() << "' has " << found << " bytes in resource '"
                         << resource.getRawHandle().getKey() << "'; expected " << expected
                         << " for " << type;
}

/// The tensor.empty with elements that a tensor is a view of; null if there is none.
static tensor::EmptyOp getUninitialized(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      return llvm::is_contained(empty.getType().getShape(), 0) ? nullptr : empty;
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op))
      break;
    tensor = op->getOperand(0);
  }
  return {};
}

/// Refuses to compute with, or to return, what nothing has computed.
static LogicalResult verifyInitialized(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  bool isReader = isa_and_present<array::ArrayDialect, arith::ArithDialect, math::MathDialect>(
                      op->getDialect()) ||
                  isa<func::ReturnOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    bool isRead = isReader || (linalgOp && linalgOp.isDpsInit(&operand) &&
                               linalgOp.payloadUsesValueFromOperand(&operand));
    tensor::EmptyOp empty = isRead ? getUninitialized(operand.get()) : nullptr;
    if (!empty)
      continue;
    InFlightDiagnostic error =
        op->emitError() << "'" << op->getName() << "' reads operand " << operand.getOperandNumber()
                        << ", whose elements have no values; expected an op that computes them, "
                           "such as linalg.fill";
    error.attachNote(empty.getLoc()) << "it is this tensor.empty";
    return error;
  }
  return success();
}

/// Ops of `tensor` that later phases know.
static bool isSupportedTensorOp(Operation *op) {
  // Scalars outside of bodies are constants, so the last two become constants, too.
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp, tensor::DimOp,
             tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::PadOp, tensor::YieldOp, tensor::FromElementsOp, tensor::SplatOp>(op);
}

/// Scalars in bodies may be of other widths than elements: what is unpacked, or the halves of a
/// product.
static bool isSupportedScalar(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  bool isWord = integer && integer.isSignless() && integer.getWidth() <= 64;
  return type.isIndex() || isWord || isSupportedElement(type);
}

static LogicalResult verifyScalarTypes(Operation *op) {
  // arith has no unsigned integers: a body can only pass them on.
  bool isPassing = isa<linalg::YieldOp>(op);
  auto report = [&](StringRef what, unsigned index) -> InFlightDiagnostic {
    return op->emitError() << what << " " << index << " of '" << op->getName() << "' has type ";
  };
  auto verify = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [index, type] : llvm::enumerate(types)) {
      if (isa<TensorType>(type)) {
        if (failed(verifyTensor(type, [&, index = index] { return report(what, index); })))
          return failure();
      } else if (!isSupportedScalar(type) || (type.isUnsignedInteger() && !isPassing)) {
        return report(what, index) << type
                                   << "; supported in the body of a linalg op are index, signless "
                                      "integers of up to 64 bits, f16, bf16, f32 and f64";
      }
    }
    return success();
  };
  return failure(failed(verify(op->getOperandTypes(), "operand")) ||
                 failed(verify(op->getResultTypes(), "result")));
}

/// Affine maps verify whatever they divide by.
static LogicalResult verifyDivisors(Operation *op) {
  AffineExpr wrong;
  auto look = [&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary || binary.getKind() == AffineExprKind::Add ||
        binary.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (divisor && divisor.getValue() <= 0)
      wrong = expr;
  };
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (auto map = dyn_cast<AffineMapAttr>(attribute.getValue()))
      map.getValue().walkExprs(look);
  if (!wrong)
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << wrong;
  return op->emitError() << "'" << op->getName() << "' computes " << text
                         << "; expected a divisor of 1 or more";
}

/// tensor.dim verifies whichever dim it names.
static LogicalResult verifyDim(tensor::DimOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!type)
    return success(); // which is refused as an operand
  int64_t rank = type.getRank();
  std::optional<int64_t> index = op.getConstantIndex();
  if (index && *index >= 0 && *index < rank)
    return success();
  InFlightDiagnostic error = op.emitError() << "'tensor.dim' expected a constant in [0, " << rank
                                            << ") as the dim of " << op.getSource().getType();
  if (index)
    error << ", got " << *index;
  return error;
}

/// An op in the body of a linalg op: arithmetic on scalars, or a read at a computed position.
static LogicalResult verifyScalarOp(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op); dim && failed(verifyDim(dim)))
    return failure();
  if (isa<linalg::IndexOp, linalg::YieldOp, tensor::ExtractOp, tensor::DimOp, ub::PoisonOp>(op))
    return verifyScalarTypes(op);
  Dialect *dialect = op->getDialect();
  if (isa_and_present<arith::ArithDialect, math::MathDialect, affine::AffineDialect>(dialect) &&
      op->getNumRegions() == 0)
    return failure(failed(verifyScalarTypes(op)) || failed(verifyDivisors(op)));
  return op->emitError() << "'" << op->getName()
                         << "' is not supported in the body of a linalg op; supported are arith, "
                            "math, affine.apply, "
                            "linalg.index and tensor.extract";
}

/// Whether each index is another loop, or a constant: then no element is written for two places.
static bool isWrittenOnce(AffineMap map) {
  llvm::SmallDenseSet<AffineExpr> loops;
  return llvm::all_of(map.getResults(), [&](AffineExpr index) {
    auto constant = dyn_cast<AffineConstantExpr>(index);
    return constant ? constant.getValue() >= 0
                    : isa<AffineDimExpr>(index) && loops.insert(index).second;
  });
}

static LogicalResult verifyLinalgOp(Operation *op) {
  if (!isa<linalg::LinalgOp>(op) && !isa<linalg::SoftmaxOp>(op))
    return op->emitError()
           << "'" << op->getName()
           << "' is not supported; supported of linalg are the structured ops and linalg.softmax";
  for (Type type : op->getOperandTypes())
    if (isa<BaseMemRefType>(type))
      return op->emitError() << "'" << op->getName() << "' works on memrefs; expected tensors";
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    for (OpResult result : op->getResults()) {
      AffineMap map = structured.getIndexingMapMatchingResult(result);
      if (!isWrittenOnce(map))
        return op->emitError()
               << "result " << result.getResultNumber() << " of '" << op->getName()
               << "' is written at " << AffineMapAttr::get(map)
               << "; expected different loops of the op, or constants, as its indices";
    }
  WalkResult result = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    return inner == op || succeeded(verifyScalarOp(inner)) ? WalkResult::advance()
                                                           : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// arith, math and affine on whole tensors, on indices, or a constant.
static LogicalResult verifyArithmeticOp(Operation *op) {
  if (op->getNumRegions() != 0)
    return op->emitError() << "'" << op->getName()
                           << "' is not supported; control flow is array.if and array.while";
  for (Type type : op->getResultTypes()) {
    bool isIndexOrBool = type.isIndex() || type.isSignlessInteger(1);
    if (isa<TensorType>(type) || isIndexOrBool || isa<arith::ConstantOp>(op))
      continue;
    return op->emitError()
           << "'" << op->getName() << "' computes a scalar of type " << type
           << " outside of a tensor op; expected a tensor (of rank 0 for a scalar) or an index";
  }
  return success();
}

/// An attribute that an array op does not have would say nothing, whatever its author meant by it.
/// Those with the name of a dialect before them are what that dialect says.
static LogicalResult verifyAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getName().getValue().contains('.'))
      return op->emitError() << "'" << op->getName() << "' has no attribute '"
                             << attribute.getName().getValue() << "'; "
                             << describeAttributes(op->getName(), attribute.getName());
  return success();
}

/// An op at the top level of a function.
static LogicalResult verifyOp(Operation *op) {
  Dialect *dialect = op->getDialect();
  LogicalResult supported = success();
  if (isa_and_present<array::ArrayDialect>(dialect) && failed(verifyAttributes(op)))
    return failure();
  if (isa_and_present<linalg::LinalgDialect>(dialect))
    supported = verifyLinalgOp(op);
  else if (isa_and_present<arith::ArithDialect, math::MathDialect, affine::AffineDialect>(dialect))
    supported = verifyArithmeticOp(op);
  else if (isa_and_present<tensor::TensorDialect>(dialect) && !isSupportedTensorOp(op))
    supported = op->emitError()
                << "'" << op->getName()
                << "' is not supported outside of linalg bodies; supported of tensor are cast, "
                   "collapse_shape, concat, dim, empty, expand_shape, extract_slice, "
                   "from_elements, insert_slice, pad and splat";
  else if (!isa_and_present<tensor::TensorDialect, array::ArrayDialect>(dialect) &&
           // What TOSA requires of sizes is said at once.
           !isa<func::ReturnOp, func::CallOp, plan::RequireOp>(op))
    supported = op->emitError()
                << "'" << op->getName()
                << "' is not supported; supported are array ops, func, linalg on tensors, tosa, "
                   "tensor, arith, math and affine";
  if (failed(supported) || failed(verifyInitialized(op)) || failed(verifySliceNumbers(op)))
    return failure();
  if (auto dim = dyn_cast<tensor::DimOp>(op); dim && failed(verifyDim(dim)))
    return failure();
  if (op->hasTrait<OpTrait::ConstantLike>() && failed(verifyElements(op, op->getAttr("value"))))
    return failure();
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    if (!isa<TensorType, VectorType, BaseMemRefType>(type))
      continue;
    auto report = [&, index = index]() -> InFlightDiagnostic {
      return op->emitError() << "result " << index << " of '" << op->getName() << "' has type ";
    };
    if (failed(verifyTensor(type, report)))
      return failure();
  }
  return success();
}

/// The ops of a function, or of a region of array.if or array.while.
static LogicalResult verifyBlock(Block &block) {
  for (Operation &op : block) {
    if (failed(verifyOp(&op)))
      return failure();
    if (!isa<array::IfOp, array::WhileOp>(op))
      continue;
    for (Region &region : op.getRegions())
      if (failed(verifyBlock(region.front())))
        return failure();
  }
  return success();
}

/// Declarations are of gradients that a later pass makes.
static LogicalResult verifyDeclaration(func::FuncOp func, ArrayRef<std::string> gradients) {
  for (auto other : func->getParentOfType<ModuleOp>().getOps<func::FuncOp>()) {
    if (array::getGradientName(other.getName()) != func.getName())
      continue;
    if (llvm::is_contained(gradients, other.getName()))
      return verifySignature(func);
    return func.emitError() << "function '" << func.getName()
                            << "' has no body; --gradient=" << other.getName() << " makes it";
  }
  return func.emitError() << "function '" << func.getName()
                          << "' has no body; expected every function to be here";
}

static LogicalResult verifyFunction(func::FuncOp func, ArrayRef<std::string> gradients) {
  if (failed(verifyAttributes(func)))
    return failure();
  if (func.isExternal())
    return verifyDeclaration(func, gradients);
  if (!func.getBody().hasOneBlock())
    return func.emitError() << "function '" << func.getName() << "' has "
                            << std::distance(func.getBody().begin(), func.getBody().end())
                            << " blocks; expected one: control flow is array.if and array.while";
  if (failed(verifySignature(func)) || (func.isPublic() && failed(verifyNames(func))))
    return failure();
  return verifyBlock(func.getBody().front());
}

/// A gradient is of a function that is there, or of a gradient that is made before it.
static LogicalResult verifyGradients(ModuleOp module, ArrayRef<std::string> gradients) {
  SmallVector<std::string> made;
  for (const std::string &function : gradients)
    made.push_back(array::getGradientName(function));
  SmallVector<StringRef> known;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      known.push_back(func.getName());
  for (auto [function, gradient] : llvm::zip_equal(gradients, made)) {
    if (llvm::is_contained(known, function)) {
      known.push_back(gradient);
      continue;
    }
    return emitError(UnknownLoc::get(module.getContext()))
           << "--gradient=" << function << ": there is no function '" << function << "'; "
           << describeNames(function, known);
  }
  return success();
}

namespace {

struct VerifyInputPass : impl::VerifyInputBase<VerifyInputPass> {
  using VerifyInputBase::VerifyInputBase;

  void runOnOperation() override {
    bool hasEntry = false;
    if (failed(verifyGradients(getOperation(), gradients)))
      return signalPassFailure();
    for (Operation &op : *getOperation().getBody()) {
      auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
      if (name && name.empty()) {
        op.emitOpError("expected a name: programs find functions and variables by theirs");
        return signalPassFailure();
      }
      if (auto func = dyn_cast<func::FuncOp>(op)) {
        if (failed(verifyFunction(func, gradients)))
          return signalPassFailure();
        hasEntry |= func.isPublic();
      } else if (auto variable = dyn_cast<array::VariableOp>(op)) {
        if (failed(verifyElements(variable, variable.getInitialValueAttr())))
          return signalPassFailure();
      } else {
        op.emitError()
            << "'" << op.getName()
            << "' is not supported in a module; supported are func.func and array.variable";
        return signalPassFailure();
      }
    }
    if (failed(verifyCalls(getOperation())))
      return signalPassFailure();
    if (!hasEntry) {
      getOperation().emitError("expected at least one public function");
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace xc
