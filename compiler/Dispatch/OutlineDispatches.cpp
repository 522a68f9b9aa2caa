//===- OutlineDispatches.cpp - Move each region's body into a kernel module ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each region:
// 1. its tensors from above become bindings, equal size formulas one scalar, small constants
//    clones;
// 2. its body moves to a kernel function in a nested module of its own, where sizes are scalars;
// 3. what sizes of the region must be like becomes `plan.require` of the function around it;
// 4. a `plan.dispatch` takes the place of the region, and says which inputs its results may
//    overwrite.
//
// Refuses modules without `plan.target`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Parts.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"
#include "compiler/Dispatch/Alignment.h"
#include "compiler/Dispatch/CalleeFacts.h"
#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/ExplainGroups.h"
#include "compiler/Dispatch/Passes.h"
#include "compiler/Dispatch/Requirements.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace xc::plan {
#define GEN_PASS_DEF_OUTLINEDISPATCHES
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// `name` as PTX, assemblers and file systems take it: letters, digits and underscores, and no
/// digit in front.
static std::string makeIdentifier(StringRef name) {
  std::string identifier;
  if (name.empty() || llvm::isDigit(name.front()))
    identifier = "_";
  for (char c : name)
    identifier += llvm::isAlnum(c) ? c : '_';
  return identifier;
}

/// The kernel that the program brings, if the region is one.
static kernel::CustomOp getCustom(RegionOp region) {
  auto ops = region.getBody().getOps<kernel::CustomOp>();
  return ops.empty() ? kernel::CustomOp() : *ops.begin();
}

/// A word for what the region's main op does, for the kernel's name.
static std::string describe(RegionOp region) {
  if (kernel::CustomOp custom = getCustom(region))
    return makeIdentifier(custom.getEntry());
  std::string word = "copy";
  for (Operation &op : region.getBody().front().without_terminator()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (isa<tensor::InsertSliceOp>(op))
      word = word == "reduce" ? word : "insert";
    else if (!linalgOp && isa<DestinationStyleOpInterface>(op))
      word = op.getName().stripDialect().str();
    if (!linalgOp || isa<linalg::FillOp>(op))
      continue;
    if (isWindowReduction(&op))
      return matchProduct(linalgOp) ? "conv" : "pool";
    if (isContraction(&op))
      return "matmul";
    if (linalgOp.getNumReductionLoops() > 0)
      word = "reduce";
    else if (word != "reduce" && op.getNumRegions() == 1)
      if (Operation *last = op.getRegion(0).front().getTerminator()->getOperand(0).getDefiningOp())
        word = last->getName().stripDialect().str();
  }
  return word;
}

namespace {

/// One formula for sizes that requirements of a function say are equal, as a size of an input and
/// what an op makes of another. Requirements hold before any kernel runs.
class EqualSizes {
public:
  EqualSizes(func::FuncOp func, SymbolicDims &dims);

  FormulaAttr lookup(FormulaAttr formula) const {
    auto known = others.find(formula);
    return known == others.end() ? formula : known->second;
  }

private:
  llvm::DenseMap<FormulaAttr, FormulaAttr> others;
};

/// Makes one kernel and the dispatch that runs it.
class Outliner {
public:
  /// `kernelNames`: of the function's regions that explain their fusion, by their numbers.
  Outliner(RegionOp region, SymbolicDims &dims, const EqualSizes &equal, std::string name,
           llvm::DenseMap<int64_t, StringAttr> &kernelNames)
      : region(region), dims(dims), equal(equal), name(std::move(name)), kernelNames(kernelNames),
        context(region.getContext()), isCustom(getCustom(region)) {}

  LogicalResult run(SymbolTable &symbols);

private:
  LogicalResult collectCaptures();
  void collectInits();
  LogicalResult addScalar(FailureOr<FormulaAttr> formula, Location loc, bool evenConstant = false);
  LogicalResult addDims(Value tensor);
  int64_t getFactor(FormulaAttr formula);
  Value makeScalar(OpBuilder &builder, FormulaAttr formula, unsigned ordinal);
  Value makeIndex(OpBuilder &builder, FormulaAttr formula);
  Value makeBinding(OpBuilder &builder, unsigned ordinal, Access access, RankedTensorType type,
                    int64_t alignment, bool mayAlias, ArrayRef<FormulaAttr> shape);
  func::FuncOp buildKernel(SymbolTable &symbols);
  void simplify(func::FuncOp kernel);
  void dropUnused(func::FuncOp kernel);
  void markFixed(func::FuncOp kernel);
  void buildDispatch();

  RegionOp region;
  SymbolicDims &dims;
  const EqualSizes &equal;
  std::string name;
  llvm::DenseMap<int64_t, StringAttr> &kernelNames;
  MLIRContext *context;
  /// Code that is there already gets its scalars as they are, constants too.
  bool isCustom;
  llvm::SetVector<Value> tensors, indices;
  llvm::MapVector<FormulaAttr, unsigned> scalars;
  SmallVector<int64_t> reuse;
  /// Results that ops write parts of only, and what the rest of them is.
  SmallVector<int64_t> updated;
  SmallVector<Value> inits;
  llvm::DenseMap<FormulaAttr, Value> scalarInKernel;
};

EqualSizes::EqualSizes(func::FuncOp func, SymbolicDims &dims) {
  for (auto require : func.getBody().getOps<RequireOp>()) {
    FailureOr<FormulaAttr> left = dims.getFormula(require.getLeft()),
                           right = dims.getFormula(require.getRight());
    if (require.getComparison() != Comparison::Equal || failed(left) || failed(right))
      continue;
    FormulaAttr from = lookup(*left), to = lookup(*right);
    if (!from.asSymbol())
      std::swap(from, to);
    if (from == to || !from.asSymbol())
      continue;
    for (auto &[formula, other] : others)
      if (other == from)
        other = to;
    others[from] = to;
  }
}

LogicalResult Outliner::addScalar(FailureOr<FormulaAttr> formula, Location loc, bool evenConstant) {
  if (failed(formula))
    return emitError(
        loc, "expected a size that is a formula over the dynamic dims of the function's inputs");
  FormulaAttr size = isCustom ? *formula : equal.lookup(*formula);
  if (evenConstant || !size.isConstant())
    scalars.insert({size, scalars.size()});
  return success();
}

LogicalResult Outliner::addDims(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim) && failed(addScalar(dims.getDim(tensor, dim), tensor.getLoc())))
      return failure();
  return success();
}

/// What is only there to be updated is no input: the kernel finds it in the result's memory. Memory
/// that nobody has written is any.
void Outliner::collectInits() {
  for (auto [index, value] :
       llvm::enumerate(region.getBody().front().getTerminator()->getOperands())) {
    auto op = value.getDefiningOp<DestinationStyleOpInterface>();
    if (!op || !kernel::writesPart(op))
      continue;
    Value init = op.getTiedOpOperand(cast<OpResult>(value))->get();
    if (init.getDefiningOp<tensor::EmptyOp>())
      continue;
    updated.push_back(index);
    inits.push_back(init);
    tensors.remove(init);
  }
}

LogicalResult Outliner::collectCaptures() {
  WalkResult walk = region.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (region->isAncestor(operand.getParentBlock()->getParentOp()))
        continue;
      if (isa<RankedTensorType>(operand.getType())) {
        tensors.insert(operand);
      } else if (operand.getType().isIndex()) {
        indices.insert(operand);
      } else {
        op->emitOpError("expected only tensors and index values from outside the kernel, got ")
            << operand.getType();
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  collectInits();
  for (Value tensor : tensors)
    if (failed(addDims(tensor)))
      return failure();
  for (Value result : region.getResults())
    if (failed(addDims(result)))
      return failure();
  for (Value index : indices)
    if (failed(addScalar(dims.getFormula(index), index.getLoc(), /*evenConstant=*/isCustom)))
      return failure();
  reuse.assign(region.getNumResults(), -1);
  for (auto [result, index] : llvm::enumerate(region.getReuse())) {
    auto it = index < 0 ? tensors.end() : llvm::find(tensors, region.getReusable()[index]);
    if (it != tensors.end())
      reuse[result] = std::distance(tensors.begin(), it);
  }
  return success();
}

/// The most that codegen can make use of: elements of a copy of 128 bits, or of a tile's row.
static constexpr int64_t kMaxFactor = 128;

/// What the scalar of a formula is multiplied with in the kernel: a power of two that divides the
/// formula, so that codegen sees that it does.
int64_t Outliner::getFactor(FormulaAttr formula) {
  if (isCustom)
    return 1;
  return std::min(powerOfTwoIn(dims.getRange(formula).divisor), kMaxFactor);
}

Value Outliner::makeScalar(OpBuilder &builder, FormulaAttr formula, unsigned ordinal) {
  Location loc = region.getLoc();
  int64_t factor = getFactor(formula), max = dims.getRange(formula).max;
  IntegerAttr bound = max < 0 ? IntegerAttr() : builder.getI64IntegerAttr(max / factor);
  Value scalar = ScalarOp::create(builder, loc, builder.getIndexType(), ordinal, bound);
  if (factor == 1)
    return scalar;
  return arith::MulIOp::create(builder, loc, scalar,
                               arith::ConstantIndexOp::create(builder, loc, factor));
}

/// The kernel's value of a formula: a scalar or a constant.
Value Outliner::makeIndex(OpBuilder &builder, FormulaAttr formula) {
  FormulaAttr size = isCustom ? formula : equal.lookup(formula);
  if (Value scalar = scalarInKernel.lookup(size))
    return scalar;
  return arith::ConstantIndexOp::create(builder, region.getLoc(), *size.asConstant());
}

Value Outliner::makeBinding(OpBuilder &builder, unsigned ordinal, Access access,
                            RankedTensorType type, int64_t alignment, bool mayAlias,
                            ArrayRef<FormulaAttr> shape) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(makeIndex(builder, shape[dim]));
  return BindingOp::create(builder, region.getLoc(),
                           MemRefType::get(type.getShape(), type.getElementType()), ordinal, access,
                           alignment, mayAlias, sizes);
}

func::FuncOp Outliner::buildKernel(SymbolTable &symbols) {
  Location loc = region.getLoc();
  Operation *module = symbols.getOp();
  OpBuilder builder(context);
  auto kernelModule = ModuleOp::create(builder, loc, StringRef(name));
  // Another symbol may have this name; then the table gives the kernel one of its own.
  name = symbols.insert(kernelModule, module->getRegion(0).front().end()).str();
  kernelModule->setAttr(kKernelAttr, builder.getUnitAttr());
  kernelModule->setAttr(kTargetAttr, module->getAttr(kTargetAttr));
  builder.setInsertionPointToEnd(kernelModule.getBody());
  auto func = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  Block *body = func.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  for (auto &[formula, ordinal] : scalars)
    scalarInKernel[formula] = makeScalar(builder, formula, ordinal);

  IRMapping mapping;
  for (Value index : indices)
    mapping.map(index, makeIndex(builder, *dims.getFormula(index)));
  for (auto [ordinal, tensor] : llvm::enumerate(tensors)) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Value memory = makeBinding(builder, ordinal, Access::Read, type, getAlignment(tensor, dims),
                               llvm::is_contained(reuse, ordinal), *dims.getShape(tensor));
    mapping.map(tensor,
                bufferization::ToTensorOp::create(builder, loc, type, memory, /*restrict=*/true));
  }
  SmallVector<Value> targets;
  for (auto [index, result] : llvm::enumerate(region.getResults()))
    targets.push_back(
        makeBinding(builder, tensors.size() + index,
                    llvm::is_contained(updated, index) ? Access::ReadWrite : Access::Write,
                    cast<RankedTensorType>(result.getType()), kBufferAlignment, reuse[index] >= 0,
                    *dims.getShape(result)));
  for (auto [index, init] : llvm::zip_equal(updated, inits))
    mapping.map(init,
                bufferization::ToTensorOp::create(builder, loc, init.getType(), targets[index],
                                                  /*restrict=*/true, /*writable=*/true));
  Block &source = region.getBody().front();
  for (Operation &op : source.without_terminator())
    builder.clone(op, mapping);
  for (auto [value, target] : llvm::zip_equal(source.getTerminator()->getOperands(), targets)) {
    // An output that is not computed here but passed through is written all the same.
    auto store = bufferization::MaterializeInDestinationOp::create(
        builder, loc, mapping.lookupOrDefault(value), target);
    store.setRestrict(true);
    store.setWritable(true);
  }
  func::ReturnOp::create(builder, loc);
  return func;
}

/// Makes sizes scalars or constants. Not a full canonicalization: that one would turn copies, which
/// are generics here, into passing on what they read.
void Outliner::simplify(func::FuncOp kernel) {
  RewritePatternSet patterns(context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  memref::DimOp::getCanonicalizationPatterns(patterns, context);
  bufferization::ToTensorOp::getCanonicalizationPatterns(patterns, context);
  BindingOp::getCanonicalizationPatterns(patterns, context);
  // Not converging only leaves sizes less simple.
  (void)applyPatternsGreedily(kernel, std::move(patterns));
}

/// Forgets inputs and scalars that the kernel does not use after all (a sum over no elements reads
/// nothing).
void Outliner::dropUnused(func::FuncOp kernel) {
  llvm::DenseMap<int64_t, BindingOp> bindings;
  for (auto binding : kernel.getOps<BindingOp>())
    bindings[binding.getOrdinal()] = binding;
  llvm::SetVector<Value> used;
  SmallVector<int64_t> newOrdinal(tensors.size() + region.getNumResults(), -1);
  for (auto [ordinal, tensor] : llvm::enumerate(tensors))
    if (BindingOp binding = bindings.lookup(ordinal)) {
      newOrdinal[ordinal] = used.size();
      binding.setOrdinal(used.size());
      used.insert(tensor);
    }
  for (unsigned result = 0; result < region.getNumResults(); ++result)
    bindings.at(tensors.size() + result).setOrdinal(used.size() + result);
  for (int64_t &input : reuse)
    if (input >= 0)
      input = newOrdinal[input];
  tensors = std::move(used);

  llvm::DenseMap<int64_t, ScalarOp> present;
  for (auto scalar : kernel.getOps<ScalarOp>())
    present[scalar.getOrdinal()] = scalar;
  llvm::MapVector<FormulaAttr, unsigned> usedScalars;
  for (auto &[formula, ordinal] : scalars)
    if (ScalarOp scalar = present.lookup(ordinal)) {
      scalar.setOrdinal(usedScalars.size());
      usedScalars.insert({formula, usedScalars.size()});
    }
  scalars = std::move(usedScalars);
}

/// True if `tensor` is an input of a function that callers call, of which nothing in a call is in
/// front: the functions of regions have what is around them for arguments.
static bool isInput(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return func && func.isPublic();
}

/// Lists the bindings that no kernel in front may write, of kernels for CUDA: those can be read
/// before these have ended. Inputs are listed of attention of few queries, whose keys and values
/// are most of what it reads. Elsewhere kernels that differ in nothing else would be several.
void Outliner::markFixed(func::FuncOp kernel) {
  bool readsInputs = kernel.walk([](kernel::AttentionDecodeOp) { return WalkResult::interrupt(); })
                         .wasInterrupted();
  SmallVector<int64_t> fixed, inputs;
  for (auto [ordinal, tensor] : llvm::enumerate(tensors)) {
    Value root = tensor;
    while (root.getDefiningOp() && isView(root.getDefiningOp()))
      root = root.getDefiningOp()->getOperand(0);
    Operation *definition = root.getDefiningOp();
    bool isConstant = definition && (isa<array::ParameterOp, PackedOp>(definition) ||
                                     definition->hasTrait<OpTrait::ConstantLike>());
    if (readsInputs && isInput(root))
      inputs.push_back(ordinal);
    else if (!isConstant)
      continue;
    fixed.push_back(ordinal);
  }
  if (fixed.empty() || !getDispatchTarget(region).loadsBeforeWaiting())
    return;
  kernel->setAttr(kFixedBindingsAttr, DenseI64ArrayAttr::get(context, fixed));
  if (!inputs.empty())
    kernel->setAttr(kFixedInputsAttr, DenseI64ArrayAttr::get(context, inputs));
}

void Outliner::buildDispatch() {
  OpBuilder builder(region);
  Location loc = region.getLoc();
  SmallVector<Value> symbolValues;
  auto materialize = [&](FormulaAttr formula) {
    return dims.materialize(builder, loc, formula, symbolValues);
  };
  SmallVector<Value> scalarValues;
  for (auto &[formula, ordinal] : scalars)
    scalarValues.push_back(materialize(formula.floorDiv(getFactor(formula))));
  // Made anew from the symbols: what the region was given may hang on tensors that nothing else
  // needs.
  SmallVector<Value> sizes;
  for (Value result : region.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(materialize(*dims.getDim(result, dim)));
  }
  auto dispatch =
      DispatchOp::create(builder, loc, region.getResultTypes(), name, tensors.getArrayRef(),
                         scalarValues, sizes, reuse, updated, inits);
  if (Attribute parts = region->getAttr(kPartsAttr))
    dispatch->setAttr(kPartsAttr, parts);
  region.replaceAllUsesWith(dispatch.getResults());
  region.erase();
  dims.forgetValues();
}

LogicalResult Outliner::run(SymbolTable &symbols) {
  if (failed(collectCaptures()))
    return failure();
  func::FuncOp kernel = buildKernel(symbols);
  if (auto record = region->getAttrOfType<DictionaryAttr>(kFusionAttr)) {
    auto kernelModule = cast<ModuleOp>(kernel->getParentOp());
    setFusion(kernelModule, record, kernelNames);
    kernelNames[record.getAs<IntegerAttr>("number").getInt()] = kernelModule.getSymNameAttr();
  }
  simplify(kernel);
  dropUnused(kernel);
  markFixed(kernel);
  buildDispatch();
  return success();
}

struct OutlineDispatches final : impl::OutlineDispatchesBase<OutlineDispatches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr(kTargetAttr)) {
      module.emitOpError("expected a module with a target");
      return signalPassFailure();
    }
    SymbolTable symbols(module);
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    llvm::DenseSet<Operation *> chosen = findChosenRegions(module);
    auto getDims = [&](func::FuncOp func) {
      SymbolicDims dims(func);
      if (chosen.contains(func))
        dims.dropEmptyRanges();
      return dims;
    };
    // Functions of regions stand before those that they are in.
    for (func::FuncOp func : llvm::reverse(functions)) {
      if (func.isExternal())
        continue;
      SymbolicDims dims = getDims(func);
      for (Operation &op : func.getBody().front())
        recordCalleeFacts(&op, dims, symbols);
    }
    for (func::FuncOp func : functions) {
      if (func.isExternal())
        continue;
      SymbolicDims dims = getDims(func);
      recordSymbols(func, dims);
      if (failed(listRequirements(func, dims, chosen.contains(func))))
        return signalPassFailure();
      EqualSizes equal(func, dims);
      unsigned next = 0;
      llvm::DenseMap<int64_t, StringAttr> kernelNames;
      for (auto region : llvm::to_vector(func.getBody().getOps<RegionOp>())) {
        std::string name =
            makeIdentifier(func.getName()) + "_k" + std::to_string(next++) + "_" + describe(region);
        if (failed(Outliner(region, dims, equal, name, kernelNames).run(symbols)))
          return signalPassFailure();
      }
      // What only served the sizes of what has moved into kernels.
      eraseDeadOps(func.getBody().front());
    }
  }
};

} // namespace

} // namespace xc::plan
