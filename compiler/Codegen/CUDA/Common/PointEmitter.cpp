//===- PointEmitter.cpp - Points, memory and control flow -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/OutputPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

PointEmitter::PointEmitter(OpBuilder &builder, const KernelInfo &kernel)
    : builder(builder), loc(kernel.getFunction().getLoc()), index(builder, loc), memoRoot(memo) {
  for (plan::BindingOp binding : kernel.bindings) {
    auto type = cast<MemRefType>(binding.getMemory().getType());
    Value count = index.product(getSizes(binding));
    std::optional<int64_t> number = getConstantIntValue(count);
    auto flatType =
        MemRefType::get({number ? *number : ShapedType::kDynamic}, type.getElementType());
    memory[binding] = plan::BindingOp::create(
        builder, binding.getLoc(), flatType, binding.getOrdinal(), binding.getAccess(),
        binding.getAlignment(), binding.getMayAlias(), number ? ValueRange() : ValueRange(count));
  }
}

//===----------------------------------------------------------------------===//
// Values at points
//===----------------------------------------------------------------------===//

unsigned PointEmitter::internPoint(const Point &point) {
  std::vector<const void *> key{reinterpret_cast<const void *>(point.lanes),
                                point.mask.getAsOpaquePointer()};
  auto append = [&](const Coord &coord) {
    key.push_back(reinterpret_cast<const void *>(static_cast<intptr_t>(coord.kind)));
    for (Value value : coord.values)
      key.push_back(value.getAsOpaquePointer());
  };
  if (point.flat)
    append(*point.flat);
  else
    llvm::for_each(point.coords, append);
  return pointIds.try_emplace(std::move(key), pointIds.size()).first->second;
}

Value PointEmitter::emit(Value tensor, const Point &point) {
  if (Value value = provided.lookup(tensor))
    return value;
  if (auto found = callbacks.find(tensor); found != callbacks.end()) {
    Callback callback = found->second;
    return callback(point);
  }
  MemoKey key(tensor, internPoint(point));
  if (Value value = memo.lookup(key))
    return value;
  Point copy = point;
  Value value = compute(tensor, copy);
  memo.insert(key, value);
  return value;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The alignment in bytes that an access at element `first` is known to have.
static int64_t getAlignment(plan::BindingOp binding, Value first, Type elementType) {
  return std::min<int64_t>(binding.getAlignment(),
                           knownDivisor(first) * getElementBytes(elementType));
}

Value PointEmitter::load(plan::BindingOp binding, const Coord &flat, int64_t lanes, Value mask) {
  Value buffer = memory.lookup(binding);
  Type elementType = cast<MemRefType>(buffer.getType()).getElementType();
  if (mask && isa<VectorType>(mask.getType())) {
    SmallVector<Value> values;
    for (int64_t lane = 0; lane < lanes; ++lane)
      values.push_back(load(binding, Coord::uniform(getLaneIndex(flat, lane)), 1,
                            getLane(builder, loc, mask, lane)));
    return fromLanes(builder, loc, values);
  }
  if (mask)
    return emitIf(
        mask, elementType, flat.isUniform() ? 1 : lanes, [&] { return load(binding, flat, lanes); },
        [&] { return zero(elementType); });
  if (flat.isUniform() || lanes == 1)
    return memref::LoadOp::create(builder, loc, buffer, flat.first());
  if (flat.isConsecutive()) {
    int64_t alignment = getAlignment(binding, flat.first(), elementType);
    return vector::LoadOp::create(builder, loc, VectorType::get(lanes, elementType), buffer,
                                  flat.first(),
                                  /*nontemporal=*/false, llvm::MaybeAlign(alignment));
  }
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(memref::LoadOp::create(builder, loc, buffer, flat.values[lane]));
  return fromLanes(builder, loc, values);
}

void PointEmitter::store(plan::BindingOp binding, const Coord &flat, Value value, int64_t lanes,
                         Value mask) {
  Value buffer = memory.lookup(binding);
  if (mask && isa<VectorType>(mask.getType())) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      store(binding, Coord::uniform(getLaneIndex(flat, lane)), getLane(builder, loc, value, lane),
            1, getLane(builder, loc, mask, lane));
    return;
  }
  emitIf(mask, [&] {
    if (lanes == 1) {
      memref::StoreOp::create(builder, loc, value, buffer, flat.first());
    } else if (flat.isConsecutive()) {
      int64_t alignment = getAlignment(binding, flat.first(), getElementTypeOrSelf(value));
      vector::StoreOp::create(builder, loc, splatTo(builder, loc, value, lanes), buffer,
                              flat.first(),
                              /*nontemporal=*/false, llvm::MaybeAlign(alignment));
    } else {
      for (int64_t lane = 0; lane < lanes; ++lane)
        memref::StoreOp::create(builder, loc, getLane(builder, loc, value, lane), buffer,
                                getLaneIndex(flat, lane));
    }
  });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SmallVector<Value> PointEmitter::getSizes(plan::BindingOp binding) {
  auto type = cast<MemRefType>(binding.getMemory().getType());
  SmallVector<Value> sizes;
  for (OpFoldResult size : getMixedValues(type.getShape(), binding.getSizes(), builder))
    sizes.push_back(index.get(size));
  return sizes;
}

SmallVector<Value> PointEmitter::getSizes(const KernelOutput &output) {
  return output.isWhole() ? getSizes(output.binding) : getSizes(output.tensor);
}

SmallVector<Value> PointEmitter::getStarts(const KernelOutput &output) {
  kernel::UpdateOp update = output.update;
  SmallVector<Value> sizes = getSizes(output.binding), box = getSizes(output.tensor), starts;
  for (auto [dim, start] : llvm::enumerate(update.getStarts())) {
    std::optional<int64_t> known = sizes[dim] == box[dim] ? 0 : getKnownStart(output, dim);
    if (known) {
      starts.push_back(index.constant(*known));
      continue;
    }
    Value stored = emit(start, Point{{}, Coord::uniform(index.constant(0)), 1, {}});
    starts.push_back(update.clampStart(builder, loc, dim, stored, index.sub(sizes[dim], box[dim])));
  }
  return starts;
}

SmallVector<Value> PointEmitter::getSizes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  if (type.hasStaticShape()) {
    for (int64_t size : type.getShape())
      sizes.push_back(index.constant(size));
    return sizes;
  }
  if (plan::BindingOp binding = getSourceBinding(tensor))
    return getSizes(binding);
  Operation *op = tensor.getDefiningOp();
  auto fromMixed = [&](ArrayRef<OpFoldResult> mixed) {
    for (OpFoldResult size : mixed)
      sizes.push_back(index.get(size));
    return sizes;
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return fromMixed(empty.getMixedSizes());
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return fromMixed(getMixedValues(type.getShape(), splat.getDynamicSizes(), builder));
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return fromMixed(expand.getMixedOutputShape());
  if (auto castOp = dyn_cast<tensor::CastOp>(op)) {
    sizes = getSizes(castOp.getSource());
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    sizes = getSizes(insert.getDest());
  } else if (auto style = dyn_cast<DestinationStyleOpInterface>(op)) {
    sizes = getSizes(style.getTiedOpOperand(cast<OpResult>(tensor))->get());
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    SmallVector<Value> source = getSizes(collapse.getSrc());
    for (const ReassociationIndices &group : collapse.getReassociationIndices())
      sizes.push_back(
          index.product(llvm::map_to_vector(group, [&](int64_t dim) { return source[dim]; })));
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(dim))
        sizes.push_back(index.get(size));
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    SmallVector<Value> source = getSizes(pad.getSource());
    for (auto [size, low, high] :
         llvm::zip_equal(source, pad.getMixedLowPad(), pad.getMixedHighPad()))
      sizes.push_back(index.add(index.add(size, index.get(low)), index.get(high)));
  }
  // The type may know more than the op's operands say.
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(size))
      sizes[dim] = index.constant(size);
  return sizes;
}

SmallVector<Value> PointEmitter::getLoopSizes(linalg::LinalgOp op) {
  SmallVector<Value> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    SmallVector<Value> operandSizes;
    for (auto [result, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      Value &known = sizes[dim.getPosition()];
      if (known && getConstantIntValue(known))
        continue;
      if (operandSizes.empty())
        operandSizes = getSizes(operand.get());
      if (!known || getConstantIntValue(operandSizes[result]))
        known = operandSizes[result];
    }
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Index arithmetic on lanes
//===----------------------------------------------------------------------===//

Value PointEmitter::getLaneIndex(const Coord &coord, int64_t lane) {
  switch (coord.kind) {
  case Coord::Kind::Uniform:
    return coord.first();
  case Coord::Kind::Consecutive:
    return index.add(coord.first(), lane);
  case Coord::Kind::PerLane:
    return coord.values[lane];
  }
  llvm_unreachable("covered switch");
}

Coord PointEmitter::add(const Coord &lhs, const Coord &rhs, int64_t lanes) {
  if (lhs.isUniform() && rhs.isUniform())
    return Coord::uniform(index.add(lhs.first(), rhs.first()));
  if ((lhs.isUniform() && rhs.isConsecutive()) || (lhs.isConsecutive() && rhs.isUniform()))
    return Coord::consecutive(index.add(lhs.first(), rhs.first()));
  Coord result{Coord::Kind::PerLane, {}};
  for (int64_t lane = 0; lane < lanes; ++lane)
    result.values.push_back(index.add(getLaneIndex(lhs, lane), getLaneIndex(rhs, lane)));
  return result;
}

Coord PointEmitter::mul(const Coord &lhs, Value rhs, int64_t lanes) {
  if (getConstantIntValue(rhs) == std::optional<int64_t>(1))
    return lhs;
  if (lhs.isUniform())
    return Coord::uniform(index.mul(lhs.first(), rhs));
  Coord result{Coord::Kind::PerLane, {}};
  for (int64_t lane = 0; lane < lanes; ++lane)
    result.values.push_back(index.mul(getLaneIndex(lhs, lane), rhs));
  return result;
}

Coord PointEmitter::apply(AffineExpr expr, ArrayRef<Coord> dims, int64_t lanes) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Coord::uniform(index.constant(number.getValue()));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Coord lhs = apply(binary.getLHS(), dims, lanes), rhs = apply(binary.getRHS(), dims, lanes);
  if (expr.getKind() == AffineExprKind::Add)
    return add(lhs, rhs, lanes);
  assert(rhs.isUniform() && "an affine expression multiplies and divides by constants only");
  if (expr.getKind() == AffineExprKind::Mul)
    return mul(lhs, rhs.first(), lanes);
  auto compute = [&](Value value) {
    if (expr.getKind() == AffineExprKind::Mod)
      return index.rem(value, rhs.first());
    return expr.getKind() == AffineExprKind::FloorDiv ? index.div(value, rhs.first())
                                                      : index.ceilDiv(value, rhs.first());
  };
  // Neighbours that start at a multiple of the divisor share their quotient, and their remainders
  // count up.
  std::optional<int64_t> divisor = getConstantIntValue(rhs.first());
  if (lhs.isConsecutive() && divisor && *divisor % lanes == 0 &&
      knownDivisor(lhs.first()) % lanes == 0 && expr.getKind() != AffineExprKind::CeilDiv) {
    Value first = compute(lhs.first());
    return expr.getKind() == AffineExprKind::Mod ? Coord::consecutive(first)
                                                 : Coord::uniform(first);
  }
  if (lhs.isUniform())
    return Coord::uniform(compute(lhs.first()));
  Coord result{Coord::Kind::PerLane, {}};
  for (int64_t lane = 0; lane < lanes; ++lane)
    result.values.push_back(compute(getLaneIndex(lhs, lane)));
  return result;
}

Coord PointEmitter::linearize(ArrayRef<Coord> coords, ArrayRef<Value> sizes, int64_t lanes) {
  if (coords.empty())
    return Coord::uniform(index.constant(0));
  Coord position = coords.front();
  for (auto [coord, size] : llvm::zip_equal(coords.drop_front(), sizes.drop_front()))
    position = add(mul(position, size, lanes), coord, lanes);
  return position;
}

SmallVector<Coord> PointEmitter::delinearize(const Coord &flat, ArrayRef<Value> sizes,
                                             int64_t lanes) {
  auto isOne = [](Value size) { return getConstantIntValue(size) == std::optional<int64_t>(1); };
  auto toUniform = [](ArrayRef<Value> values) {
    return llvm::map_to_vector(values, &Coord::uniform);
  };
  if (flat.isUniform())
    return toUniform(index.delinearize(flat.first(), sizes));
  size_t last = sizes.size();
  while (last > 0 && isOne(sizes[last - 1]))
    --last;
  bool onlyOneDim = llvm::count_if(sizes, [&](Value size) { return !isOne(size); }) <= 1;
  bool staysInRow = last > 0 && knownDivisor(sizes[last - 1]) % lanes == 0 &&
                    knownDivisor(flat.first()) % lanes == 0;
  if (flat.isConsecutive() && last > 0 && (staysInRow || onlyOneDim)) {
    SmallVector<Coord> coords = toUniform(index.delinearize(flat.first(), sizes));
    coords[last - 1].kind = Coord::Kind::Consecutive;
    return coords;
  }
  SmallVector<Coord> coords(sizes.size(), Coord{Coord::Kind::PerLane, {}});
  std::optional<int64_t> width = last > 0 ? getConstantIntValue(sizes[last - 1]) : std::nullopt;
  bool staysInTwoRows = flat.isConsecutive() && width && *width >= lanes;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    SmallVector<Value> values;
    if (staysInTwoRows) {
      // One division for all lanes: from some of them on they are in the next row.
      Value row = index.div(flat.first(), sizes[last - 1]),
            column = index.add(index.rem(flat.first(), sizes[last - 1]), lane);
      Value wraps = index.isAtLeast(column, sizes[last - 1]);
      auto select = [&](Value there, Value here) -> Value {
        return lane == 0 ? here : arith::SelectOp::create(builder, loc, wraps, there, here);
      };
      values = index.delinearize(select(index.add(row, 1), row), sizes.take_front(last - 1));
      values.push_back(select(index.sub(column, sizes[last - 1]), column));
      values.append(sizes.size() - last, index.constant(0));
    } else {
      values = index.delinearize(getLaneIndex(flat, lane), sizes);
    }
    for (auto [coord, value] : llvm::zip_equal(coords, values))
      coord.values.push_back(value);
  }
  return coords;
}

ArrayRef<Coord> PointEmitter::getCoords(Point &point, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (point.coords.empty() && type.getRank() > 0)
    point.coords = delinearize(*point.flat, getSizes(tensor), point.lanes);
  return point.coords;
}

Coord PointEmitter::getFlat(Point &point, Value tensor) {
  if (!point.flat)
    point.flat = linearize(point.coords, getSizes(tensor), point.lanes);
  return *point.flat;
}

//===----------------------------------------------------------------------===//
// Control flow and constants
//===----------------------------------------------------------------------===//

Value PointEmitter::emitIf(Value condition, Type elementType, int64_t lanes,
                           llvm::function_ref<Value()> then,
                           llvm::function_ref<Value()> otherwise) {
  Type type = lanes == 1 ? elementType : VectorType::get(lanes, elementType);
  auto branch =
      scf::IfOp::create(builder, loc, TypeRange(type), condition, /*withElseRegion=*/true);
  auto fill = [&](Block *block, llvm::function_ref<Value()> emitValue) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    Scope scope(*this);
    Value value = splatTo(builder, loc, emitValue(), lanes);
    scf::YieldOp::create(builder, loc, value);
  };
  fill(branch.thenBlock(), then);
  fill(branch.elseBlock(), otherwise);
  return branch.getResult(0);
}

SmallVector<Value> PointEmitter::emitIfOrZeros(Value condition,
                                               llvm::function_ref<SmallVector<Value>()> then) {
  // The types are known only once the values are.
  auto scratch = scf::ExecuteRegionOp::create(builder, loc, TypeRange());
  builder.createBlock(&scratch.getRegion());
  SmallVector<Value> values;
  {
    Scope scope(*this);
    values = then();
    scf::YieldOp::create(builder, loc, values);
  }
  builder.setInsertionPointAfter(scratch);
  auto branch = scf::IfOp::create(builder, loc, TypeRange(ValueRange(values)), condition,
                                  /*withElseRegion=*/true);
  branch.getThenRegion().takeBody(scratch.getRegion());
  scratch.erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  SmallVector<Value> zeros =
      llvm::map_to_vector(values, [&](Value value) { return zero(value.getType()); });
  scf::YieldOp::create(builder, loc, zeros);
  return SmallVector<Value>(branch.getResults());
}

SmallVector<Value> PointEmitter::emitIfOrKeep(Value condition, ValueRange kept,
                                              llvm::function_ref<SmallVector<Value>()> then) {
  auto branch =
      scf::IfOp::create(builder, loc, kept.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, kept);
  builder.setInsertionPointToStart(branch.thenBlock());
  Scope scope(*this);
  scf::YieldOp::create(builder, loc, then());
  return SmallVector<Value>(branch.getResults());
}

void PointEmitter::emitIf(Value condition, llvm::function_ref<void()> then) {
  if (!condition)
    return then();
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Scope scope(*this);
  then();
}

void PointEmitter::emitIf(Value condition, llvm::function_ref<void()> then,
                          llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, emitBranch] :
       {std::pair(branch.thenBlock(), then), std::pair(branch.elseBlock(), otherwise)}) {
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    emitBranch();
  }
}

SmallVector<Value> PointEmitter::emitLoop(Value from, Value to, Value step, ValueRange inits,
                                          LoopBody body) {
  auto loop = scf::ForOp::create(builder, loc, from, to, step, inits);
  OpBuilder::InsertionGuard guard(builder);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(loop.getBody());
  Scope scope(*this);
  SmallVector<Value> carried = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, carried);
  return SmallVector<Value>(loop.getResults());
}

Value PointEmitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}

Value PointEmitter::zero(Type type) { return constant(cast<TypedAttr>(builder.getZeroAttr(type))); }

} // namespace xc::cuda
