//===- ImportStableHLO.cpp - StableHLO ops as array ops -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op by itself, in program order, those of regions before the op that holds them. An op that
// cannot be imported stays where it is, so that all of them can be named together at the end.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Input/Passes.h"
#include "compiler/Input/StableHLO/NarrowTypes.h"
#include "compiler/Input/StableHLO/Sdy.h"
#include "compiler/Input/StableHLO/SplitValues.h"
#include "compiler/Input/SupportedTypes.h"
#include "compiler/Input/Unsupported.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace xc::array;

namespace xc {
#define GEN_PASS_DEF_IMPORTSTABLEHLO
#include "compiler/Input/Passes.h.inc"
} // namespace xc

namespace xc::stablehlo_import {

//===----------------------------------------------------------------------===//
// For the converters
//===----------------------------------------------------------------------===//

Value zeros(ExpressionBuilder &e, RankedTensorType type) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Attribute zero = e.getBuilder().getZeroAttr(type.getElementType());
  Value value = e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(scalar, zero)));
  return broadcastTo(e, value, {}, type.getShape());
}

Value reshapeTo(ExpressionBuilder &e, Value value, ArrayRef<int64_t> shape) {
  auto type = typeOf(value).clone(shape);
  return value.getType() == type ? value : e.make<ReshapeOp>(type, value, ValueRange());
}

Value transpose(ExpressionBuilder &e, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  return e.make<TransposeOp>(value, permutation);
}

bool areDims(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<bool> isThere(rank, false);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || isThere[dim])
      return false;
    isThere[dim] = true;
  }
  return true;
}

const char *whyNotBroadcast(RankedTensorType from, ArrayRef<int64_t> dims, RankedTensorType to) {
  if (static_cast<int64_t>(dims.size()) != from.getRank() || !areDims(dims, to.getRank()))
    return "its dims are no different dims of the result for each of the operand's";
  for (auto [dim, size] : llvm::zip_equal(dims, from.getShape()))
    if (size != 1 && size != to.getDimSize(dim))
      return "its operand's dims are neither 1 nor the result's";
  return nullptr;
}

Value broadcastTo(ExpressionBuilder &e, Value value, ArrayRef<int64_t> dims,
                  ArrayRef<int64_t> shape, ValueRange openSizes) {
  auto type = typeOf(value).clone(shape);
  if (value.getType() == type && llvm::equal(dims, llvm::seq<int64_t>(0, dims.size())))
    return value;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  return e.make<BroadcastInDimOp>(type, transpose(e, value, order), openSizes, sorted);
}

Value slice(ExpressionBuilder &e, Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
            ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape;
  bool isWhole = true;
  for (auto [start, limit, stride, size] :
       llvm::zip_equal(starts, limits, strides, typeOf(value).getShape())) {
    shape.push_back(llvm::divideCeil(limit - start, stride));
    isWhole &= start == 0 && limit == size && stride == 1;
  }
  return isWhole ? value
                 : e.make<SliceOp>(typeOf(value).clone(shape), value, starts, limits, strides);
}

Value padAndCut(ExpressionBuilder &e, Value value, Value with, ArrayRef<int64_t> low,
                ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  auto isZero = [](int64_t number) { return number == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) && llvm::all_of(interior, isZero))
    return value;
  auto positive = [](ArrayRef<int64_t> amounts) {
    return llvm::map_to_vector(amounts,
                               [](int64_t amount) { return std::max<int64_t>(amount, 0); });
  };
  Value padded = e.make<PadOp>(value, with, e.getBuilder().getDenseI64ArrayAttr(positive(low)),
                               e.getBuilder().getDenseI64ArrayAttr(positive(high)),
                               e.getBuilder().getDenseI64ArrayAttr(interior));
  SmallVector<int64_t> starts, limits, strides(low.size(), 1);
  for (auto [before, after, size] : llvm::zip_equal(low, high, typeOf(padded).getShape())) {
    starts.push_back(std::max<int64_t>(-before, 0));
    limits.push_back(size - std::max<int64_t>(-after, 0));
  }
  return slice(e, padded, starts, limits, strides);
}

Value iota(ExpressionBuilder &e, ArrayRef<int64_t> shape, Type element, int64_t axis) {
  return e.make<IotaOp>(RankedTensorType::get(shape, element), ValueRange(), uint64_t(axis));
}

Type getUnsigned(ExpressionBuilder &e, unsigned width) {
  return e.getBuilder().getIntegerType(width, /*isSigned=*/false);
}

Value toTotalOrder(ExpressionBuilder &e, Value value) {
  if (!isFloat(value))
    return value;
  unsigned width = elementOf(value).getIntOrFloatBitWidth();
  auto type = typeOf(value).clone(e.getBuilder().getIntegerType(width));
  Value bits = e.make<BitcastOp>(type, value);
  Value zero = e.integer(0, type.getElementType());
  // All bits but the sign.
  Value magnitude = e.integer(llvm::maxIntN(width), type.getElementType());
  return e.select(e.compare(CompareDirection::Lt, bits, zero), e.make<XorOp>(bits, magnitude),
                  bits);
}

Attribute getConstant(Value value) {
  while (isa_and_present<BroadcastInDimOp, ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return elements && elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
}

std::optional<ReduceKind> matchKind(Region &body) {
  Operation &end = body.front().back();
  return end.getNumOperands() == 1 ? matchCombiner(body.front(), end.getOperand(0)) : std::nullopt;
}

std::optional<ReduceKind> matchCombiner(Block &block, Value result) {
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return std::nullopt;
  Operation &op = block.front();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || result != op.getResult(0) ||
      op.getOperand(0) == op.getOperand(1) ||
      llvm::any_of(op.getOperands(), [&](Value v) { return v.getParentBlock() != &block; }))
    return std::nullopt;
  if (isa<AddOp>(op))
    return ReduceKind::Sum;
  if (isa<MulOp>(op))
    return ReduceKind::Prod;
  if (isa<MaxOp>(op))
    return ReduceKind::Max;
  if (isa<MinOp>(op))
    return ReduceKind::Min;
  if (isa<AndOp>(op))
    return ReduceKind::And;
  if (isa<OrOp>(op))
    return ReduceKind::Or;
  return std::nullopt;
}

Value combine(ExpressionBuilder &e, ReduceKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return e.make<AddOp>(lhs, rhs);
  case ReduceKind::Prod:
    return e.make<MulOp>(lhs, rhs);
  case ReduceKind::Max:
    return e.make<MaxOp>(lhs, rhs);
  case ReduceKind::Min:
    return e.make<MinOp>(lhs, rhs);
  case ReduceKind::And:
    return e.make<AndOp>(lhs, rhs);
  case ReduceKind::Or:
    return e.make<OrOp>(lhs, rhs);
  }
  llvm_unreachable("all kinds are named above");
}

std::optional<SmallVector<Value>> applyBody(ExpressionBuilder &e, Region &body,
                                            ValueRange arguments) {
  Block &block = body.front();
  for (Operation &op : block.without_terminator())
    if (!isa<ConstantOp, ArrayElementwiseOpInterface>(op) || op.getNumRegions() != 0)
      return std::nullopt;
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    Operation *copy = e.getBuilder().clone(op, mapping);
    // Rank-0 values of constants are broadcast.
    ArrayRef<int64_t> shape;
    for (Value operand : copy->getOperands())
      if (typeOf(operand).getRank() != 0)
        shape = typeOf(operand).getShape();
    for (Value result : copy->getResults())
      if (!isa<ConstantOp>(copy))
        result.setType(typeOf(result).clone(shape));
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What no array op takes, whatever the op.
static std::optional<std::string> refuseTypes(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (isa<TupleType>(type))
      return "it works on tuples, " + text;
    if (!tensor)
      return "it works on " + text + ", which is no tensor";
    if (tensor.getEncoding())
      return "it works on a tensor with an encoding, " + text;
    if (!isSupportedElement(tensor.getElementType()))
      return "it works on " + text + "; supported element types are " + kSupportedElements.str();
    if (!tensor.hasStaticShape() && !takesOpenSizes(op))
      return "it works on " + text + "; it is supported with sizes that are numbers alone";
  }
  return std::nullopt;
}

static bool isRead(Operation *op) {
  return isa_and_present<stablehlo::StableHLODialect, chlo::CHLODialect, sdy::SdyDialect>(
      op->getDialect());
}

/// Names of attributes that say nothing to a compiler for one device, or have been read.
static SmallVector<StringAttr> getForeign(DictionaryAttr attributes) {
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : attributes ? attributes.getValue() : ArrayRef<NamedAttribute>())
    if (llvm::is_contained({"jax", "mhlo", "sdy", "tf"},
                           attribute.getName().getValue().split('.').first))
      names.push_back(attribute.getName());
  return names;
}

namespace {

struct ImportStableHLO final : impl::ImportStableHLOBase<ImportStableHLO> {
  using ImportStableHLOBase::ImportStableHLOBase;

  void runOnOperation() override {
    if (failed(inlineCalls()) || failed(foldSizes(getOperation())))
      return signalPassFailure();
    size_t count = collectOps().size();
    canStub = widenNarrowTypes(getOperation(), unsupported);
    canStub &= splitValues(getOperation(), unsupported);
    SmallVector<Operation *> ops = collectOps();
    for (Operation *op : ops)
      replace(op);
    if (!unsupported.empty()) {
      unsupported.report(getOperation().getLoc(), std::max(count, ops.size()), stubUnsupported);
      if (!stubUnsupported || !canStub)
        return signalPassFailure();
    }
    if (count == 0)
      return markAllAnalysesPreserved();
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (isComputation(func))
        func.erase();
      else
        convertSignature(func);
    for (StringAttr name : getForeign(getOperation()->getDiscardableAttrDictionary()))
      getOperation()->removeDiscardableAttr(name);
  }

private:
  UnsupportedOps unsupported;
  /// Whether results of all refused ops have a type of ours.
  bool canStub = true;

  SmallVector<Operation *> collectOps() {
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) {
      // A comparator is looked at by the sort, whose order it says.
      if (isRead(op) && !isa<stablehlo::ReturnOp>(op) && !op->getParentOfType<stablehlo::SortOp>())
        ops.push_back(op);
    });
    return ops;
  }

  /// Open sizes are followed back to arguments, through calls: JAX hands them to functions as data.
  LogicalResult inlineCalls() {
    auto isOpen = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !tensor.hasStaticShape();
    };
    // The bodies of reductions and scatters are looked at whole.
    auto isBodyCall = [](Operation *op) {
      return isa<func::CallOp>(op) &&
             isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp>(
                 op->getParentOp());
    };
    bool isNeeded =
        getOperation()
            .walk([&](Operation *op) {
              bool isOpenRead = isRead(op) && (llvm::any_of(op->getOperandTypes(), isOpen) ||
                                               llvm::any_of(op->getResultTypes(), isOpen));
              return isOpenRead || isBodyCall(op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
    if (!isNeeded)
      return success();
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(createInlineCalls());
    passes.addPass(createSymbolDCEPass());
    return runPipeline(passes, getOperation());
  }

  void replace(Operation *op) {
    if (std::optional<std::string> why = refuseTypes(op)) {
      canStub = false;
      return unsupported.add(op->getName().getStringRef(), op->getLoc(), *why);
    }
    OpBuilder builder(op);
    ExpressionBuilder e(builder, op->getLoc());
    Result result = convert(op, e);
    if (result.isRefused()) {
      unsupported.add(op->getName().getStringRef(), op->getLoc(), result.getReason().str());
      canStub &= llvm::all_of(op->getResultTypes(), [](Type type) {
        return cast<RankedTensorType>(type).hasStaticShape();
      });
      if (!stubUnsupported || !canStub)
        return;
      result = llvm::map_to_vector(
          op->getResultTypes(), [&](Type type) { return zeros(e, cast<RankedTensorType>(type)); });
    }
    op->replaceAllUsesWith(ValueRange(result.getValues()));
    op->erase();
  }

  static Result convert(Operation *op, ExpressionBuilder &e) {
    for (auto family : {convertElementwise, convertAttention, convertFunctions, convertMovement,
                        convertSizes, convertIndexing, convertProducts, convertLinearAlgebra,
                        convertReductions, convertScan, convertOrder, convertControl, convertRandom,
                        convertSpecialFunctions, convertNormalization, convertCollectives}) {
      Replacement replacement = family(op, e);
      if (!replacement)
        continue;
      if (replacement->isRefused())
        return *replacement;
      for (auto [value, type] : llvm::zip_equal(replacement->getValues(), op->getResultTypes()))
        if (value.getType() != type) {
          std::string text;
          llvm::raw_string_ostream(text)
              << "its result is of type " << value.getType() << ", not " << type;
          return Result::refuse(text);
        }
      return *replacement;
    }
    return Result::refuse("there are no array ops that compute it");
  }

  /// A function that was there for a custom call to name, which has been imported.
  bool isComputation(func::FuncOp func) {
    return func.getBody().hasOneBlock() && !func.getBody().front().empty() &&
           isa<stablehlo::ReturnOp>(func.getBody().front().back()) &&
           SymbolTable::symbolKnownUseEmpty(func, getOperation());
  }

  /// Donated buffers are ours, too.
  static void convertSignature(func::FuncOp func) {
    Builder builder(func.getContext());
    for (unsigned index = 0; index < func.getNumArguments(); ++index) {
      auto output = func.getArgAttrOfType<IntegerAttr>(index, "tf.aliasing_output");
      auto donor = func.getArgAttrOfType<BoolAttr>(index, "jax.buffer_donor");
      if (func.isPublic() && (output || (donor && donor.getValue())))
        func.setArgAttr(index, array::kDonatedAttr, builder.getUnitAttr());
      if (output && output.getInt() >= 0 && output.getInt() < func.getNumResults() &&
          func.getResultTypes()[output.getInt()] == func.getArgumentTypes()[index] &&
          func.isPublic())
        func.setResultAttr(output.getInt(), array::kAliasAttr, builder.getI64IntegerAttr(index));
      for (StringAttr name : getForeign(func.getArgAttrDict(index)))
        func.removeArgAttr(index, name);
    }
    for (unsigned index = 0; index < func.getNumResults(); ++index)
      for (StringAttr name : getForeign(func.getResultAttrDict(index)))
        func.removeResultAttr(index, name);
  }
};

} // namespace

} // namespace xc::stablehlo_import
