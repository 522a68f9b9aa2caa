//===- FoldScales.cpp - Multiply filters once instead of results ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Batch norm behind a convolution is a scale and a shift of each feature, which depend on
// parameters alone:
//
//   (conv(%x, %w) - %mean) * %scale + %bias
//   conv(%x, %w * %scale) + (%bias - %mean * %scale)
//
// The filter and the shift of the second form are fixed, so that -xc-hoist-parameters computes them
// once, and an addition is left of each call's work. For each product of a fixed operand:
// 1. the chain of additions, subtractions and products by fixed vectors behind it is followed, as
//    long as nothing else reads what is between them;
// 2. its scales and shifts become one each;
// 3. the fixed operand is multiplied with the scale, in the loops of the product that the scale's
//    dims are.
//
// Refuses operands of another type than the product's, of 16 bits in particular: the program rounds
// such a product before it is scaled, and a scaled filter would be rounded anew (docs/numerics.md).
// Also operands that are used elsewhere or were widened, since both would be in memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/FixedOps.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace xc::plan {
#define GEN_PASS_DEF_FOLDSCALES
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

/// A fixed tensor that is read along some dims of a product's result, in this order.
struct FixedVector {
  Value value;
  SmallVector<unsigned> dims;
};

enum class StepKind { Add, Subtract, Multiply };

/// One elementwise op behind a product, and what it combines the result with.
struct ScaleStep {
  StepKind kind;
  linalg::GenericOp op;
  FixedVector vector;
};

/// Folds what follows one product.
class ScaleFolder {
public:
  ScaleFolder(linalg::LinalgOp product, const FixedOps &fixed) : product(product), fixed(fixed) {}

  void tryFold();

private:
  bool findFilter();
  std::optional<ScaleStep> matchStep(Value current);
  bool scalesFilter(const FixedVector &scale);
  SmallVector<ScaleStep> findSteps();
  Value scaleFilter(OpBuilder &builder, Location loc, const FixedVector &scale);

  linalg::LinalgOp product;
  const FixedOps &fixed;
  OpOperand *filter = nullptr;
};

} // namespace

static int64_t countBits(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// True if nothing but `value` is made of what it is made of.
static bool isSoleUse(Value value) {
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    Operation *op = current.getDefiningOp();
    if (!isa<RankedTensorType>(current.getType()) || isa<tensor::EmptyOp>(op) ||
        (op->hasTrait<OpTrait::ConstantLike>() && !isConstantTensor(op)))
      continue;
    if (!current.hasOneUse())
      return false;
    if (!FixedOps::isRoot(op))
      llvm::append_range(worklist, getOperandsAndCaptures(op));
  }
  return true;
}

/// The fixed operand of a product of floats that begins with zeros, in the product's own type.
bool ScaleFolder::findFilter() {
  if (!product.hasPureTensorSemantics() || !matchProduct(product))
    return false;
  Type element = getElementTypeOrSelf(product->getResult(0));
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!(element.isF32() || element.isF64()) || !fill ||
      !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return false;
  for (OpOperand *operand : product.getDpsInputOperands()) {
    Operation *definition = operand->get().getDefiningOp();
    if (!definition || !fixed.contains(definition))
      continue;
    if (filter)
      return false;
    filter = operand;
  }
  if (!filter || getElementTypeOrSelf(filter->get()) != element || !isSoleUse(filter->get()))
    return false;
  int64_t rootSize = 0;
  for (Value root : fixed.getRoots(filter->get().getDefiningOp()))
    rootSize += countBits(root);
  return countBits(filter->get()) <= rootSize;
}

/// The op that alone reads `current`, if it combines each element with one of a fixed vector.
std::optional<ScaleStep> ScaleFolder::matchStep(Value current) {
  auto op = current.hasOneUse() ? dyn_cast<linalg::GenericOp>(*current.user_begin()) : nullptr;
  if (!op || op.getNumDpsInputs() != 2 || op.getNumResults() != 1 ||
      op.getNumReductionLoops() != 0 || op.getResult(0).getType() != current.getType())
    return std::nullopt;
  OpOperand &use = *current.use_begin();
  if (op.isDpsInit(&use) || !op.getMatchingIndexingMap(&use).isIdentity() ||
      !op.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  OpOperand *vector = op.getDpsInputOperand(1 - use.getOperandNumber());
  Operation *definition = vector->get().getDefiningOp();
  AffineMap map = op.getMatchingIndexingMap(vector);
  if (!definition || !fixed.contains(definition) || !map.isProjectedPermutation() ||
      getElementTypeOrSelf(vector->get()) != getElementTypeOrSelf(current))
    return std::nullopt;
  Block &body = *op.getBody();
  Operation &combine = body.front();
  Value element = body.getArgument(use.getOperandNumber()),
        other = body.getArgument(vector->getOperandNumber());
  if (body.getOperations().size() != 2 ||
      body.getTerminator()->getOperand(0).getDefiningOp() != &combine ||
      combine.getNumOperands() != 2)
    return std::nullopt;
  bool isInOrder = combine.getOperand(0) == element && combine.getOperand(1) == other;
  bool isTurned = combine.getOperand(0) == other && combine.getOperand(1) == element;
  ScaleStep step{StepKind::Add, op, {vector->get(), {}}};
  for (AffineExpr expr : map.getResults())
    step.vector.dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  if (isa<arith::AddFOp>(combine) && (isInOrder || isTurned))
    return step;
  step.kind = isa<arith::MulFOp>(combine) ? StepKind::Multiply : StepKind::Subtract;
  if (isa<arith::MulFOp>(combine) ? isInOrder || isTurned
                                  : isa<arith::SubFOp>(combine) && isInOrder)
    return step;
  return std::nullopt;
}

/// The dim of the filter that goes along dim `dim` of the product's result, or nothing.
static std::optional<unsigned> findFilterDim(linalg::LinalgOp product, OpOperand *filter,
                                             unsigned dim) {
  AffineExpr loop = product.getMatchingIndexingMap(product.getDpsInitOperand(0)).getResult(dim);
  if (!isa<AffineDimExpr>(loop))
    return std::nullopt;
  return product.getMatchingIndexingMap(filter).getResultPosition(loop);
}

bool ScaleFolder::scalesFilter(const FixedVector &scale) {
  return llvm::all_of(scale.dims,
                      [&](unsigned dim) { return findFilterDim(product, filter, dim); });
}

/// The steps up to the last one that changes; none if none of them scales.
SmallVector<ScaleStep> ScaleFolder::findSteps() {
  SmallVector<ScaleStep> steps;
  bool scales = false, shifts = false;
  size_t length = 0;
  for (Value current = product->getResult(0);;) {
    std::optional<ScaleStep> step = matchStep(current);
    if (!step || (step->kind == StepKind::Multiply && !scalesFilter(step->vector)))
      break;
    current = step->op.getResult(0);
    bool isScale = step->kind == StepKind::Multiply;
    scales |= isScale;
    steps.push_back(std::move(*step));
    // A shift that stands behind all scales is left as it is, unless it joins one in front.
    if (isScale || (scales && shifts))
      length = steps.size();
    shifts |= !isScale;
  }
  steps.truncate(length);
  return steps;
}

static Value compute(OpBuilder &builder, Location loc, StepKind kind, ValueRange args) {
  if (kind == StepKind::Multiply)
    return arith::MulFOp::create(builder, loc, args[0], args[1]);
  if (kind == StepKind::Add)
    return arith::AddFOp::create(builder, loc, args[0], args[1]);
  return arith::SubFOp::create(builder, loc, args[0], args[1]);
}

/// `x` and `y` combined over the dims of both; either may have no value, and is then neutral.
static FixedVector combine(OpBuilder &builder, Location loc, StepKind kind, const FixedVector &x,
                           const FixedVector &y) {
  if (!x.value)
    return y;
  FixedVector result;
  result.dims = x.dims;
  for (unsigned dim : y.dims)
    if (!llvm::is_contained(result.dims, dim))
      result.dims.push_back(dim);
  SmallVector<int64_t> shape(result.dims.size());
  SmallVector<AffineMap> maps;
  for (const FixedVector *vector : {&x, &y}) {
    SmallVector<AffineExpr> exprs;
    for (auto [index, dim] : llvm::enumerate(vector->dims)) {
      unsigned place = llvm::find(result.dims, dim) - result.dims.begin();
      shape[place] = cast<RankedTensorType>(vector->value.getType()).getDimSize(index);
      exprs.push_back(builder.getAffineDimExpr(place));
    }
    maps.push_back(AffineMap::get(shape.size(), 0, exprs, builder.getContext()));
  }
  maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, getElementTypeOrSelf(x.value.getType()));
  SmallVector<utils::IteratorType> parallel(shape.size(), utils::IteratorType::parallel);
  result.value =
      linalg::GenericOp::create(builder, loc, empty.getType(), ValueRange{x.value, y.value}, empty,
                                maps, parallel,
                                [&](OpBuilder &b, Location inner, ValueRange args) {
                                  linalg::YieldOp::create(b, inner, compute(b, inner, kind, args));
                                })
          .getResult(0);
  return result;
}

Value ScaleFolder::scaleFilter(OpBuilder &builder, Location loc, const FixedVector &scale) {
  FixedVector whole{filter->get(), {}}, along{scale.value, {}};
  auto type = cast<RankedTensorType>(filter->get().getType());
  llvm::append_range(whole.dims, llvm::seq<unsigned>(0, type.getRank()));
  for (unsigned dim : scale.dims)
    along.dims.push_back(*findFilterDim(product, filter, dim));
  return combine(builder, loc, StepKind::Multiply, whole, along).value;
}

/// `result` with the shift, in the place of `last`.
static Value shiftResult(OpBuilder &builder, linalg::GenericOp last, StepKind kind, Value result,
                         const FixedVector &shift) {
  SmallVector<AffineExpr> exprs = llvm::map_to_vector(
      shift.dims, [&](unsigned dim) -> AffineExpr { return builder.getAffineDimExpr(dim); });
  AffineMap all = builder.getMultiDimIdentityMap(last.getNumLoops());
  SmallVector<AffineMap> maps = {
      all, AffineMap::get(last.getNumLoops(), 0, exprs, builder.getContext()), all};
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    linalg::YieldOp::create(b, loc, compute(b, loc, kind, args));
  };
  return linalg::GenericOp::create(builder, last.getLoc(), result.getType(),
                                   ValueRange{result, shift.value}, last.getDpsInits()[0], maps,
                                   last.getIteratorTypesArray(), body)
      .getResult(0);
}

void ScaleFolder::tryFold() {
  SmallVector<ScaleStep> steps;
  if (findFilter())
    steps = findSteps();
  if (steps.empty())
    return;
  linalg::GenericOp last = steps.back().op;
  OpBuilder builder(last);
  FixedVector scale, shift;
  Location scaleLoc = product.getLoc();
  // The shift is subtracted as long as all that it is made of is.
  bool isNegative = false;
  for (ScaleStep &step : steps) {
    Location loc = step.op.getLoc();
    if (step.kind == StepKind::Multiply) {
      scaleLoc = loc;
      scale = combine(builder, loc, StepKind::Multiply, scale, step.vector);
      if (shift.value)
        shift = combine(builder, loc, StepKind::Multiply, shift, step.vector);
      continue;
    }
    bool subtracts = step.kind == StepKind::Subtract;
    if (!shift.value)
      isNegative = subtracts;
    if (subtracts == isNegative) {
      shift = combine(builder, loc, StepKind::Add, shift, step.vector);
    } else {
      // Of which one is subtracted: p - x + y = p + (y - x), p + x - y = p + (x - y).
      shift = isNegative ? combine(builder, loc, StepKind::Subtract, step.vector, shift)
                         : combine(builder, loc, StepKind::Subtract, shift, step.vector);
      isNegative = false;
    }
  }
  IRMapping mapping;
  mapping.map(filter->get(), scaleFilter(builder, scaleLoc, scale));
  Value result = builder.clone(*product, mapping)->getResult(0);
  if (shift.value) {
    StepKind kind = isNegative ? StepKind::Subtract : StepKind::Add;
    result = shiftResult(builder, last, kind, result, shift);
  }
  last.getResult(0).replaceAllUsesWith(result);
  for (ScaleStep &step : llvm::reverse(steps))
    step.op.erase();
  product.erase();
}

namespace {

struct FoldScales final : impl::FoldScalesBase<FoldScales> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    Block &block = func.getBody().front();
    FixedOps fixed(block);
    SmallVector<linalg::LinalgOp> products;
    for (auto op : block.getOps<linalg::LinalgOp>())
      if (op.getNumReductionLoops() > 0)
        products.push_back(op);
    for (linalg::LinalgOp product : products)
      ScaleFolder(product, fixed).tryFold();
  }
};

} // namespace

} // namespace xc::plan
