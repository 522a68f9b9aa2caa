//===- PlanOps.cpp - Verifiers and canonicalisation of the plan ops ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "compiler/Dialect/Plan/IR/Contracts.h"
#include "compiler/Dialect/Plan/IR/FormulaText.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "compiler/Dialect/Plan/IR/PlanOps.cpp.inc"

namespace xc::plan {

static int64_t countDynamicDims(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    count += cast<ShapedType>(type).getNumDynamicDims();
  return count;
}

LogicalResult RegionOp::verify() {
  if (int64_t expected = countDynamicDims(getResultTypes());
      expected != static_cast<int64_t>(getDims().size()))
    return emitOpError("expected ")
           << expected << " dims for its dynamic result sizes, got " << getDims().size();
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getValues().getTypes() != getResultTypes())
    return yield.emitOpError("expected the region's result types ")
           << getResultTypes() << ", got " << yield.getValues().getTypes();
  for (int64_t index : getReuse())
    if (index < -1 || index >= static_cast<int64_t>(getReusable().size()))
      return emitOpError("expected reuse indices from -1 to ")
             << getReusable().size() << " exclusive, got " << index;
  return success();
}

LogicalResult DispatchOp::verify() {
  if (int64_t expected = countDynamicDims(getResultTypes());
      expected != static_cast<int64_t>(getDims().size()))
    return emitOpError("expected ")
           << expected << " dims for its dynamic result sizes, got " << getDims().size();
  if (getReuse().size() != static_cast<size_t>(getNumResults()))
    return emitOpError("expected one reuse index for each of ")
           << getNumResults() << " results, got " << getReuse().size();
  for (int64_t index : getReuse())
    if (index < -1 || index >= static_cast<int64_t>(getInputs().size()))
      return emitOpError("expected reuse indices from -1 to ")
             << getInputs().size() << " exclusive, got " << index;
  if (getUpdated().size() != getInits().size())
    return emitOpError("expected an init for each of ")
           << getUpdated().size() << " updated results, got " << getInits().size();
  int64_t previous = -1;
  for (auto [index, init] : llvm::zip_equal(getUpdated(), getInits())) {
    if (index <= previous || index >= static_cast<int64_t>(getNumResults()))
      return emitOpError("expected strictly increasing numbers of updated results in [0, ")
             << getNumResults() << "), got " << index;
    if (init.getType() != getResult(index).getType())
      return emitOpError("expected an init of the result's type ")
             << getResult(index).getType() << ", got " << init.getType();
    previous = index;
  }
  return success();
}

Value DispatchOp::getInit(unsigned index) {
  const int64_t *found = llvm::find(getUpdated(), static_cast<int64_t>(index));
  return found == getUpdated().end() ? Value() : getInits()[found - getUpdated().begin()];
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  Operation *kernel = symbolTable.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!kernel || !kernel->hasAttr(kKernelAttr))
    return emitOpError("expected the name of a kernel module, got ") << getKernelAttr();
  return success();
}

LogicalResult LoopOp::verify() {
  if (getInits().getTypes() != getResultTypes())
    return emitOpError("expected results of the types of its inits ")
           << getInits().getTypes() << ", got " << getResultTypes();
  return success();
}

LogicalResult LoopOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &reifiedShapes) {
  for (Value init : getInits())
    reifiedShapes.push_back(tensor::getMixedSizes(builder, getLoc(), init));
  return success();
}

/// The first symbol of a definition that does not stand before it.
static std::optional<unsigned> findLaterSymbol(FormulaAttr definition, unsigned position) {
  std::optional<unsigned> found;
  definition.forEachSymbol([&](unsigned symbol) {
    if (symbol >= position && !found)
      found = symbol;
  });
  return found;
}

static bool isBytes(Attribute value) {
  auto bytes = dyn_cast<IntegerAttr>(value);
  return bytes && bytes.getType().isSignlessInteger(64) && bytes.getInt() >= 0;
}

/// What a plan says of itself where there is something to say.
static constexpr struct {
  StringLiteral name;
  bool (*isOf)(Attribute value);
  StringLiteral type; // in words
} kFunctionAttributes[] = {
    {"requirements", isArrayOf<DictionaryAttr>, "an array of dictionaries"},
    {"definitions", isArrayOf<FormulaAttr>, "an array of formulas"},
    {"arena_static", isBytes, "a number of bytes as i64"},
    {"arena_max", isBytes, "a number of bytes as i64"},
    {"doc", isA<StringAttr>, "a string"},
};

/// Attributes with a dialect's prefix are checked by the dialect.
static LogicalResult verifyAttributes(FunctionOp op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue;
    const auto *known =
        llvm::find_if(kFunctionAttributes, [&](const auto &known) { return known.name == name; });
    if (known == std::end(kFunctionAttributes))
      return op.emitOpError("does not take attribute '") << name << "'";
    if (!known->isOf(attribute.getValue()))
      return op.emitOpError("expected '")
             << name << "' to be " << known->type << ", got " << attribute.getValue();
  }
  return success();
}

/// Symbols stand for inputs' sizes and for definitions; others have no value.
LogicalResult FunctionOp::verify() {
  if (failed(verifyAttributes(*this)))
    return failure();
  unsigned count = getSymbols().size();
  if (ArrayAttr definitions = getDefinitions())
    for (auto definition : definitions.getAsRange<FormulaAttr>()) {
      if (std::optional<unsigned> later = findLaterSymbol(definition, count))
        return emitOpError("expected the definition of s")
               << count << " to be a formula over the symbols before it, got one of s" << *later;
      ++count;
    }
  unsigned unknown = 0;
  AttrTypeWalker formulas;
  formulas.addWalk([&](FormulaAttr formula) {
    unknown = formula.asSymbol().value_or(0);
    return formula.isSymbol() && unknown >= count ? WalkResult::interrupt() : WalkResult::advance();
  });
  WalkResult walked = getOperation()->walk([&](Operation *op) {
    for (NamedAttribute named : op->getAttrDictionary())
      if (formulas.walk(named.getValue()).wasInterrupted()) {
        op->emitOpError("expected formulas over ") << count << " symbols, got s" << unknown
                                                   << " in '" << named.getName().getValue() << "'";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult BindingOp::verify() {
  auto type = cast<MemRefType>(getMemory().getType());
  if (!type.getLayout().isIdentity())
    return emitOpError("expected a contiguous row-major memref, got ") << type;
  if (static_cast<size_t>(type.getNumDynamicDims()) != getSizes().size())
    return emitOpError("expected ")
           << type.getNumDynamicDims() << " sizes, got " << getSizes().size();
  if (getAlignment() < 1 || (getAlignment() & (getAlignment() - 1)) != 0)
    return emitOpError("expected an alignment that is a power of two, got ") << getAlignment();
  return success();
}

LogicalResult BindingOp::reifyResultShapes(OpBuilder &builder,
                                           ReifiedRankedShapedTypeDims &reifiedShapes) {
  auto type = cast<MemRefType>(getMemory().getType());
  reifiedShapes.push_back(getMixedValues(type.getShape(), getSizes(), builder));
  return success();
}

TargetAttr getTarget(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(kTargetAttr) : TargetAttr();
}

namespace {

/// memref.dim of a binding is the size that the binding was given.
struct FoldDimOfBinding final : OpRewritePattern<memref::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::DimOp op, PatternRewriter &rewriter) const override {
    auto binding = op.getSource().getDefiningOp<BindingOp>();
    std::optional<int64_t> index = op.getConstantIndex();
    if (!binding || !index)
      return rewriter.notifyMatchFailure(op, "not a constant dim of a binding");
    auto type = cast<MemRefType>(binding.getMemory().getType());
    if (*index >= type.getRank() || !type.isDynamicDim(*index))
      return rewriter.notifyMatchFailure(op, "not a dynamic dim");
    rewriter.replaceOp(op, binding.getSizes()[type.getDynamicDimIndex(*index)]);
    return success();
  }
};

} // namespace

void BindingOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<FoldDimOfBinding>(context);
}

} // namespace xc::plan
