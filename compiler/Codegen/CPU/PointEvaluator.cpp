//===- PointEvaluator.cpp - One element, or some lanes, of a tensor -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/PointEvaluator.h"

#include "compiler/Codegen/CPU/IndexMath.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Dialect/Plan/IR/MultiplyAdd.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::cpu {

static bool allUniform(ArrayRef<LaneIndex> indices) {
  return llvm::all_of(indices, [](const LaneIndex &index) { return index.isUniform(); });
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value PointEvaluator::addIndex(Location loc, Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

LaneIndex PointEvaluator::constantIndex(Location loc, int64_t value) {
  return {constant(builder, loc, value)};
}

Value PointEvaluator::toLanes(Location loc, Value value) {
  if (numLanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, loc, VectorType::get({numLanes}, value.getType()),
                                     value);
}

/// |index| as a value: scalar if uniform, else a vector.
Value PointEvaluator::materialize(Location loc, const LaneIndex &index) {
  assert(!index.absorbed && "merged dims are not read as indices");
  if (index.lanes || index.stride == 0)
    return index.lanes ? index.lanes : index.base;
  auto type = VectorType::get({numLanes}, builder.getIndexType());
  if (index.period != 1 || index.shift != 0) {
    SmallVector<int64_t> offsets;
    for (int64_t lane = 0; lane < numLanes; ++lane)
      offsets.push_back(index.getOffset(lane));
    Value step = arith::ConstantOp::create(
        builder, loc, type, DenseIntElementsAttr::get(cast<ShapedType>(Type(type)), offsets));
    return arith::AddIOp::create(builder, loc, toLanes(loc, index.base), step);
  }
  Value step = vector::StepOp::create(builder, loc, type);
  if (index.stride != 1)
    step = arith::MulIOp::create(builder, loc, step,
                                 toLanes(loc, constant(builder, loc, index.stride)));
  return arith::AddIOp::create(builder, loc, toLanes(loc, index.base), step);
}

/// |index| / |divisor|, where groups of neighbouring lanes have one quotient each.
std::optional<LaneIndex> PointEvaluator::divide(Location loc, const LaneIndex &index,
                                                int64_t divisor) {
  bool isSplit = index.stride == 1 && index.period == 1 && index.shift == 0 && divisor > 0 &&
                 index.divisor % divisor == 0 && numLanes % divisor == 0;
  if (!isSplit)
    return std::nullopt;
  LaneIndex quotient{
      builder.createOrFold<arith::DivUIOp>(loc, index.base, constant(builder, loc, divisor)), 1};
  quotient.period = divisor;
  quotient.divisor = index.divisor / divisor;
  return quotient;
}

LaneIndex PointEvaluator::combine(Location loc, AffineExprKind kind, const LaneIndex &lhs,
                                  const LaneIndex &rhs) {
  bool affine = !lhs.lanes && !rhs.lanes;
  if (kind == AffineExprKind::Add && affine && lhs.isUniform() &&
      (rhs.period != 1 || rhs.stride > 1))
    return combine(loc, kind, rhs, lhs);
  std::optional<int64_t> factor = affine ? getConstantIntValue(rhs.base) : std::nullopt;
  if (kind == AffineExprKind::Add && affine) {
    if ((lhs.period != 1 || lhs.stride > 1) && rhs.isUniform() && factor) {
      LaneIndex sum = lhs;
      sum.shift += *factor;
      return sum;
    }
    if (lhs.period == rhs.period || lhs.isUniform() || rhs.isUniform()) {
      LaneIndex sum{addIndex(loc, lhs.base, rhs.base), lhs.stride + rhs.stride};
      sum.period = lhs.isUniform() ? rhs.period : lhs.period;
      sum.shift = lhs.shift + rhs.shift;
      return sum;
    }
  }
  if (kind == AffineExprKind::Mul && affine && rhs.isUniform() &&
      (factor || (lhs.isUniform() && lhs.shift == 0))) {
    LaneIndex product{builder.createOrFold<arith::MulIOp>(loc, lhs.base, rhs.base)};
    if (factor) {
      product.stride = lhs.stride * *factor;
      product.shift = lhs.shift * *factor;
      product.period = lhs.period;
      product.divisor = lhs.divisor * std::max<int64_t>(*factor, 1);
    }
    return product;
  }
  if (kind == AffineExprKind::FloorDiv && factor)
    if (std::optional<LaneIndex> quotient = divide(loc, lhs, *factor))
      return *quotient;
  Value left = materialize(loc, lhs), right = materialize(loc, rhs);
  bool uniform = lhs.isUniform() && rhs.isUniform();
  if (!uniform) {
    left = toLanes(loc, left);
    right = toLanes(loc, right);
  }
  Value result;
  switch (kind) {
  case AffineExprKind::Add:
    result = arith::AddIOp::create(builder, loc, left, right);
    break;
  case AffineExprKind::Mul:
    result = arith::MulIOp::create(builder, loc, left, right);
    break;
  case AffineExprKind::FloorDiv:
    result = arith::FloorDivSIOp::create(builder, loc, left, right);
    break;
  case AffineExprKind::CeilDiv:
    result = arith::CeilDivSIOp::create(builder, loc, left, right);
    break;
  default: { // Mod: the result has the sign of the divisor, which is positive
    Value quotient = arith::FloorDivSIOp::create(builder, loc, left, right);
    Value product = arith::MulIOp::create(builder, loc, quotient, right);
    result = arith::SubIOp::create(builder, loc, left, product);
  }
  }
  if (uniform)
    return {result};
  return {Value(), 0, result};
}

LaneIndex PointEvaluator::evaluateExpr(Location loc, AffineExpr expr, ArrayRef<LaneIndex> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return constantIndex(loc, value.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return combine(loc, expr.getKind(), evaluateExpr(loc, binary.getLHS(), dims),
                 evaluateExpr(loc, binary.getRHS(), dims));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// As memref.collapse_shape infers it, but for a group of unknown size with a dim of size 0, which
/// it infers as 0 and then refuses.
static MemRefType getCollapsedType(MemRefType type, ArrayRef<ReassociationIndices> groups) {
  MemRefType inferred = memref::CollapseShapeOp::computeCollapsedType(type, groups);
  SmallVector<int64_t> shape(inferred.getShape());
  for (auto [size, group] : llvm::zip_equal(shape, groups))
    if (llvm::any_of(group, [&](int64_t dim) { return type.isDynamicDim(dim); }))
      size = ShapedType::kDynamic;
  return MemRefType::Builder(inferred).setShape(shape);
}

/// `indices` with the last one split as Buffer::step says. Lanes are whole steps apart, so that
/// they are next to each other.
SmallVector<LaneIndex> PointEvaluator::splitSteps(Location loc, SmallVector<LaneIndex> indices,
                                                  int64_t step, Value origin) {
  LaneIndex last = indices.pop_back_val();
  assert(last.base && last.period == 1 && last.stride % step == 0 && last.divisor % step == 0 &&
         "lanes step as the memory does");
  // The base is some multiple of steps: without the multiplication where that is at hand.
  Value base;
  if (auto product = last.base.getDefiningOp<arith::MulIOp>();
      product && getConstantIntValue(product.getRhs()) == step)
    base = product.getLhs();
  else
    base = builder.createOrFold<arith::DivUIOp>(loc, last.base, constant(builder, loc, step));
  base = builder.createOrFold<arith::SubIOp>(loc, base, origin);
  int64_t phase = llvm::mod(last.shift, step);
  indices.push_back(constantIndex(loc, phase));
  LaneIndex position{addIndex(loc, base, constant(builder, loc, (last.shift - phase) / step)),
                     last.stride / step};
  indices.push_back(position);
  return indices;
}

std::pair<Value, SmallVector<LaneIndex>> PointEvaluator::resolve(Location loc, const Buffer &buffer,
                                                                 ArrayRef<LaneIndex> indices) {
  SmallVector<LaneIndex> all(indices);
  ArrayRef<Value> origins = buffer.origins;
  if (buffer.step > 1)
    origins = origins.drop_back();
  for (auto [index, origin] : llvm::zip(all, origins)) {
    if (!origin || index.absorbed)
      continue;
    if (index.lanes)
      index.lanes = arith::SubIOp::create(builder, loc, index.lanes, toLanes(loc, origin));
    else
      index.base = builder.createOrFold<arith::SubIOp>(loc, index.base, origin);
    index.divisor = 1;
  }
  if (!buffer.dims.empty()) {
    SmallVector<LaneIndex> kept;
    for (unsigned dim : buffer.dims)
      kept.push_back(all[dim]);
    all = kept;
  }
  if (buffer.step > 1)
    all = splitSteps(loc, std::move(all), buffer.step, buffer.origins.back());
  if (llvm::none_of(all, [](const LaneIndex &index) { return index.absorbed; }))
    return {buffer.memref, all};

  SmallVector<ReassociationIndices> groups(1);
  SmallVector<LaneIndex> merged;
  for (auto [dim, index] : llvm::enumerate(all)) {
    groups.back().push_back(dim);
    if (index.absorbed)
      continue;
    merged.push_back(index);
    if (dim + 1 != all.size())
      groups.emplace_back();
  }
  // Collapsed once, where the memref is made, so that loops share it.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(buffer.memref);
  MemRefType type = getCollapsedType(cast<MemRefType>(buffer.memref.getType()), groups);
  return {memref::CollapseShapeOp::create(builder, loc, type, buffer.memref, groups), merged};
}

SmallVector<Value> PointEvaluator::indicesOfLane(Location loc, ArrayRef<LaneIndex> indices,
                                                 int64_t lane) {
  SmallVector<Value> result;
  for (const LaneIndex &index : indices) {
    if (index.lanes)
      result.push_back(vector::ExtractOp::create(builder, loc, index.lanes, lane));
    else
      result.push_back(addIndex(loc, index.base, constant(builder, loc, index.getOffset(lane))));
  }
  return result;
}

/// Whether the lanes are next to each other in memory.
static bool isContiguous(ArrayRef<LaneIndex> indices) {
  return !indices.empty() && allUniform(indices.drop_back()) && !indices.back().lanes &&
         indices.back().stride == 1 && indices.back().period == 1;
}

/// The elements of the run of |memory| that the lanes take theirs from; nothing where they do not
/// take them from one run, or it may reach past the memory.
static std::optional<int64_t> getRunLength(Value memory, ArrayRef<LaneIndex> indices,
                                           int64_t numLanes) {
  constexpr int64_t mostPerLane = 4;
  if (indices.empty() || !allUniform(indices.drop_back()) || indices.back().lanes)
    return std::nullopt;
  const LaneIndex &last = indices.back();
  int64_t size = cast<MemRefType>(memory.getType()).getShape().back();
  bool isInRun = last.period > 1 && numLanes % last.period == 0 && last.shift >= 0 &&
                 last.shift < last.stride && last.stride <= mostPerLane * last.period;
  // The run is whole strides, and so is the memory.
  bool isInside = isInRun && last.divisor % last.stride == 0 && !ShapedType::isDynamic(size) &&
                  size % last.stride == 0;
  return isInside ? std::optional(numLanes / last.period * last.stride) : std::nullopt;
}

/// Loads a run, and gives each lane its element of it; null where the lanes have no run.
Value PointEvaluator::loadRun(Location loc, Value memory, ArrayRef<LaneIndex> indices) {
  std::optional<int64_t> length = getRunLength(memory, indices, numLanes);
  if (!length)
    return Value();
  auto type = VectorType::get({*length}, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<Value> first =
      llvm::map_to_vector(indices, [](const LaneIndex &index) { return index.base; });
  Value run = vector::LoadOp::create(builder, loc, type, memory, first);
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < numLanes; ++lane)
    mask.push_back(indices.back().getOffset(lane));
  return vector::ShuffleOp::create(builder, loc, run, run, mask);
}

/// What lies side by side in memory, where `mask` has a lane.
Value PointEvaluator::loadVector(Location loc, Value memory, ArrayRef<LaneIndex> indices,
                                 Value mask) {
  auto type = VectorType::get({numLanes}, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<Value> first = indicesOfLane(loc, indices, 0);
  if (!mask)
    return vector::LoadOp::create(builder, loc, type, memory, first);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loc, type, memory, first, mask, zero);
}

Value PointEvaluator::load(Location loc, const Buffer &buffer, ArrayRef<LaneIndex> tensorIndices) {
  auto [memory, indices] = resolve(loc, buffer, tensorIndices);
  if (allUniform(indices))
    return memref::LoadOp::create(builder, loc, memory, indicesOfLane(loc, indices, 0));
  auto type = VectorType::get({numLanes}, cast<MemRefType>(memory.getType()).getElementType());
  if (isContiguous(indices))
    return loadVector(loc, memory, indices, buffer.hasAllLanes ? Value() : environment.mask);
  assert(!environment.mask && "lanes that do not exist have nothing to load");
  if (Value run = loadRun(loc, memory, indices))
    return run;
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < numLanes; ++lane)
    elements.push_back(
        memref::LoadOp::create(builder, loc, memory, indicesOfLane(loc, indices, lane)));
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

void PointEvaluator::store(Location loc, Value value, const Buffer &buffer,
                           ArrayRef<LaneIndex> tensorIndices) {
  auto [memory, indices] = resolve(loc, buffer, tensorIndices);
  if (allUniform(indices)) {
    assert(!isa<VectorType>(value.getType()) && "lanes of one element");
    memref::StoreOp::create(builder, loc, value, memory, indicesOfLane(loc, indices, 0));
    return;
  }
  value = toLanes(loc, value);
  if (isContiguous(indices)) {
    SmallVector<Value> first = indicesOfLane(loc, indices, 0);
    if (environment.mask)
      vector::MaskedStoreOp::create(builder, loc, memory, first, environment.mask, value);
    else
      vector::StoreOp::create(builder, loc, value, memory, first);
    return;
  }
  assert(!environment.mask && "lanes that do not exist have nowhere to go");
  for (int64_t lane = 0; lane < numLanes; ++lane)
    memref::StoreOp::create(builder, loc, vector::ExtractOp::create(builder, loc, value, lane),
                            memory, indicesOfLane(loc, indices, lane));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool divides(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
}

/// `divisor` where lanes exist, and one elsewhere: whole numbers are divided for all of them.
Value PointEvaluator::divisorOfLanes(Location loc, Value divisor) {
  Type type = divisor.getType();
  Value one = arith::ConstantOp::create(builder, loc, builder.getOneAttr(type));
  return arith::SelectOp::create(builder, loc, environment.mask, divisor, one);
}

void PointEvaluator::cloneBodyOp(Operation &op, ArrayRef<LaneIndex> loops,
                                 DenseMap<Value, Value> &mapping,
                                 DenseMap<Value, LaneIndex> &indexMapping) {
  Location loc = op.getLoc();
  // Indices stay symbolic as long as they only feed accesses, so that those can be seen to be
  // contiguous.
  auto indexOf = [&](Value value) -> LaneIndex {
    if (auto it = indexMapping.find(value); it != indexMapping.end())
      return it->second;
    Value mapped = mapping.lookup_or(value, value);
    return isa<VectorType>(mapped.getType()) ? LaneIndex{Value(), 0, mapped} : LaneIndex{mapped};
  };
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    indexMapping[index.getResult()] = loops[index.getDim()];
    return;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<LaneIndex> operands = llvm::map_to_vector(apply.getMapOperands(), indexOf);
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> symbols;
    for (unsigned i = 0; i < map.getNumSymbols(); ++i)
      symbols.push_back(builder.getAffineDimExpr(map.getNumDims() + i));
    AffineExpr expr = map.getResult(0).replaceSymbols(symbols);
    indexMapping[apply.getResult()] = evaluateExpr(loc, expr, operands);
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<LaneIndex> indices = llvm::map_to_vector(extract.getIndices(), indexOf);
    mapping[extract.getResult()] = evaluate(extract.getTensor(), indices);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    if (auto it = indexMapping.find(operand);
        it != indexMapping.end() && !mapping.contains(operand))
      mapping[operand] = materialize(loc, it->second);
    operands.push_back(mapping.lookup_or(operand, operand));
  }
  bool uniform =
      llvm::none_of(operands, [](Value value) { return isa<VectorType>(value.getType()); });
  OperationState state(loc, op.getName(), operands, op.getResultTypes(), op.getAttrs());
  if (!uniform) {
    for (Value &operand : state.operands)
      operand = toLanes(loc, operand);
    if (environment.mask && divides(op))
      state.operands[1] = divisorOfLanes(loc, state.operands[1]);
    for (Type &type : state.types)
      type = VectorType::get({numLanes}, type);
  }
  Operation *clone = builder.create(state);
  for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults()))
    mapping[from] = to;
}

SmallVector<LaneIndex> PointEvaluator::evaluateMap(Location loc, AffineMap map,
                                                   ArrayRef<LaneIndex> loops) {
  return llvm::map_to_vector(map.getResults(),
                             [&](AffineExpr expr) { return evaluateExpr(loc, expr, loops); });
}

Value PointEvaluator::evaluateAt(Value tensor, AffineMap map, ArrayRef<LaneIndex> loops) {
  return evaluate(tensor, evaluateMap(tensor.getLoc(), map, loops));
}

/// The body of |op|, if it adds products of its inputs' elements, which are floats: it rounds once
/// then.
static std::optional<plan::MultiplyAdd> matchFloatSum(linalg::GenericOp op) {
  std::optional<plan::MultiplyAdd> body = plan::matchMultiplyAdd(op);
  bool isPlain = body && body->casts[0].empty() && body->casts[1].empty() &&
                 isa<FloatType>(body->add->getResult(0).getType());
  return isPlain ? body : std::nullopt;
}

SmallVector<Value> PointEvaluator::evaluateBody(linalg::GenericOp op, ArrayRef<LaneIndex> loops,
                                                ValueRange accumulators) {
  DenseMap<Value, Value> mapping;
  DenseMap<Value, LaneIndex> indexMapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (op.isDpsInit(&operand) && !accumulators.empty()) {
      mapping[argument] = accumulators[operand.getOperandNumber() - op.getNumDpsInputs()];
      continue;
    }
    if (!isa<ShapedType>(operand.get().getType())) {
      mapping[argument] = operand.get();
      continue;
    }
    SmallVector<LaneIndex> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      indices.push_back(evaluateExpr(op.getLoc(), expr, loops));
    mapping[argument] = evaluate(operand.get(), indices);
  }
  if (std::optional<plan::MultiplyAdd> body = matchFloatSum(op); body && !accumulators.empty()) {
    Value sum = accumulators[0];
    SmallVector<Value> operands(body->multiply->getOperands());
    for (Value &operand : operands) {
      operand = mapping.lookup(operand);
      if (isa<VectorType>(sum.getType()))
        operand = toLanes(op.getLoc(), operand);
    }
    return {math::FmaOp::create(builder, op.getLoc(), operands[0], operands[1], sum)};
  }
  for (Operation &inner : op.getBody()->without_terminator())
    cloneBodyOp(inner, loops, mapping, indexMapping);
  SmallVector<Value> results;
  for (Value yielded : op.getBody()->getTerminator()->getOperands()) {
    if (auto it = indexMapping.find(yielded); it != indexMapping.end())
      results.push_back(materialize(op.getLoc(), it->second));
    else
      results.push_back(mapping.lookup_or(yielded, yielded));
  }
  return results;
}

Value PointEvaluator::evaluateGeneric(linalg::GenericOp op, unsigned result,
                                      ArrayRef<LaneIndex> indices) {
  SmallVector<LaneIndex> loops(op.getNumLoops());
  for (auto [expr, index] :
       llvm::zip(op.getIndexingMapMatchingResult(op->getResult(result)).getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
  SmallVector<Value> values = evaluateBody(op, loops, {});
  // The other results at the same iteration come for free.
  for (auto [other, value] : llvm::enumerate(values)) {
    SmallVector<LaneIndex> otherIndices;
    for (AffineExpr expr : op.getIndexingMapMatchingResult(op->getResult(other)).getResults())
      otherIndices.push_back(evaluateExpr(op.getLoc(), expr, loops));
    if (other != result)
      computed[op->getResult(other)].push_back({otherIndices, value});
  }
  return values[result];
}

Value PointEvaluator::evaluateUncached(Value tensor, ArrayRef<LaneIndex> indices) {
  Operation *op = tensor.getDefiningOp();
  Location loc = op->getLoc();
  Type element = cast<ShapedType>(tensor.getType()).getElementType();
  auto zero = [&] { return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)); };
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](bufferization::ToTensorOp toTensor) {
        return load(loc, Buffer{toTensor.getBuffer()}, indices);
      })
      .Case([&](linalg::GenericOp generic) {
        return evaluateGeneric(generic, cast<OpResult>(tensor).getResultNumber(), indices);
      })
      .Case([&](linalg::FillOp fill) { return fill.value(); })
      .Case([&](tensor::EmptyOp) { return zero(); })
      .Case([&](arith::ConstantOp constant) {
        auto splat = cast<SplatElementsAttr>(constant.getValue());
        return arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>());
      })
      .Case([&](tensor::CastOp cast) { return evaluate(cast.getSource(), indices); })
      .Case<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](auto view) { return evaluateView(view, indices); })
      .Case([&](tensor::PadOp pad) { return evaluatePad(pad, indices); })
      .Case([&](tensor::InsertSliceOp insert) { return evaluateInsertSlice(insert, indices); });
}

Value PointEvaluator::evaluate(Value tensor, ArrayRef<LaneIndex> indices) {
  if (Value value = environment.values.lookup(tensor))
    return value;
  auto &known = computed[tensor];
  for (auto &[knownIndices, value] : known)
    if (ArrayRef<LaneIndex>(knownIndices) == indices)
      return value;
  Value value;
  if (auto it = environment.buffers.find(tensor); it != environment.buffers.end())
    value = load(tensor.getLoc(), it->second, indices);
  else
    value = evaluateUncached(tensor, indices);
  if (auto it = environment.keep.find(tensor); it != environment.keep.end())
    store(tensor.getLoc(), value, it->second, indices);
  computed[tensor].push_back({SmallVector<LaneIndex>(indices), value});
  return value;
}

} // namespace xc::cpu
