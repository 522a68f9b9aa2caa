//===- AttentionTiles.cpp - What attention's kernels share ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To the copies, operands are tensors of heads of batches, the length and the vector, wherever that
// is in memory. Boxes are panels of 128 bytes; what lies behind a vector or a length is zero.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionTiles.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cuda {

/// Of a result, by one thread at a time.
static constexpr int64_t kStoreBytes = 16;
/// Registers of a thread of the warpgroup that loads and of the others: as many in all as a block
/// of so many threads starts with. With more, the last ones to ask would wait for ever. Two others
/// take more from the loader, which spills a few then, where they need them.
static constexpr int64_t kRegistersOf2[] = {40, 232}, kMostRegistersOf2[] = {24, 240},
                         kRegistersOf3[] = {32, 160};

AttentionTiles::AttentionTiles(const KernelInfo &kernel, AttentionShape config)
    : kernel(kernel), config(config), frame(kernel, config.getThreads()), points(frame.points),
      index(points.index), builder(points.builder), loc(points.loc) {}

tile::RegisterType AttentionTiles::makeSums(int64_t columns) {
  return tile::RegisterType::get(builder.getContext(), columns, builder.getF32Type(),
                                 tile::Layout::Accumulator);
}

tile::RegisterType AttentionTiles::makeWeights(int64_t columns, Type element) {
  return tile::RegisterType::get(builder.getContext(), columns, element,
                                 element.isF32() ? tile::Layout::Paired : tile::Layout::Operand);
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

Value AttentionTiles::getSlot(const Source &source, RingState state) {
  return tile::SlotOp::create(builder, loc, source.type, source.ring, state.stage, 0);
}

void AttentionTiles::waitFull(const Source &source, RingState state) {
  tile::WaitFullOp::create(builder, loc, source.ring, state.stage, state.phase);
}

/// One thread stands for the warpgroup: wgmma's completion is the warpgroup's. In a cluster one for
/// each block that fetches a part.
void AttentionTiles::release(const Source &source, RingState state, Value token) {
  points.emitIf(index.isLess(threadInWarpgroup, index.constant(source.sharers)), [&] {
    if (source.sharers == 1)
      tile::ReleaseOp::create(builder, loc, source.ring, state.stage, token);
    else
      tile::ReleaseInOp::create(builder, loc, source.ring, state.stage, threadInWarpgroup, token);
  });
}

void AttentionTiles::fetch(const Source &source, RingState state, Value head, Value row,
                           Value column) {
  tile::WaitEmptyOp::create(builder, loc, source.ring, state.stage, state.phase);
  tile::PublishOp::create(builder, loc, source.ring, state.stage, source.type.getBytes());
  SmallVector<Value> coords = index.delinearize(head, ArrayRef(source.sizes).drop_back(2));
  Value slot = getSlot(source, state);
  column = column ? column : index.constant(0);
  if (source.sharers == 1) {
    coords.append({row, column});
    tile::LoadOp::create(builder, loc, source.map, coords, slot, source.ring, state.stage);
    return;
  }
  Value part = index.mul(rank, source.type.getRows() / source.sharers);
  coords.append({index.add(row, part), column});
  Value blocks = index.constant((int64_t(1) << source.sharers) - 1);
  tile::MulticastOp::create(builder, loc, source.map, coords, slot, part, blocks, source.ring,
                            state.stage);
}

SmallVector<Value> AttentionTiles::emitSizes(const AttentionOperand &operand, Value tensor) {
  SmallVector<Value> sizes = points.getSizes(tensor);
  return llvm::map_to_vector(operand.dims, [&](ArrayRef<unsigned> dims) {
    Value product = sizes[dims.back()];
    for (unsigned dim : llvm::reverse(dims.drop_back()))
      product = index.mul(sizes[dim], product);
    return product;
  });
}

/// Of boxes of `rows` rows.
Value AttentionTiles::makeMap(const AttentionOperand &operand, tile::SharedType type,
                              int64_t rows) {
  MLIRContext *context = builder.getContext();
  unsigned scalars = countScalars(kernel.getFunction());
  auto getMap = [&](ArrayRef<AffineExpr> formulas) {
    return AffineMapAttr::get(AffineMap::get(0, scalars, formulas, context));
  };
  KernelSizes kernelSizes = makeSizes(kernel);
  SmallVector<AffineExpr> sizes = llvm::map_to_vector(
      operand.sizes, [&](plan::FormulaAttr size) { return kernelSizes.toAffine(size); });
  SmallVector<int64_t> box(sizes.size() - 2, 1);
  box.append({rows, type.getPanelColumns()});
  auto mapType = tile::TensorMapType::get(context, box, type.getElementType(), type.getLineBytes());
  bool isWhole = operand.offset == getAffineConstantExpr(0, context);
  return tile::TensorMapOp::create(builder, loc, mapType, points.getMemory(operand.binding),
                                   getMap(sizes), getMap(operand.strides),
                                   isWhole ? AffineMapAttr() : getMap(operand.offset), UnitAttr());
}

AttentionTiles::Source AttentionTiles::makeSource(Value tensor, int64_t rows, int64_t stages,
                                                  int64_t sharers) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  // Whole panels, so that one map brings all of them.
  int64_t columns = llvm::alignTo(tensorType.getShape().back(), 64);
  auto type =
      tile::SharedType::get(builder.getContext(), rows, columns, tensorType.getElementType());
  return makeSource(tensor, type, stages, sharers);
}

AttentionTiles::Source AttentionTiles::makeSource(Value tensor, tile::SharedType type,
                                                  int64_t stages, int64_t sharers) {
  KernelSizes kernelSizes = makeSizes(kernel);
  AttentionOperand operand = *matchAttentionOperand(tensor, kernelSizes);
  SmallVector<Value> sizes = emitSizes(operand, tensor);
  Source source{
      makeMap(operand, type, type.getRows() / sharers), Value(), type, stages, sharers, sizes};
  auto ring = tile::RingType::get(builder.getContext(), stages, {type});
  source.ring =
      tile::RingOp::create(builder, loc, ring, /*arrivals=*/1, config.getWarpgroups() * sharers,
                           IntegerAttr(), IntegerAttr());
  points.emitIf(index.isEqual(frame.getThreadId(), index.constant(0)),
                [&] { tile::PrefetchOp::create(builder, loc, source.map); });
  return source;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::pair<Value, Value> AttentionTiles::startProduct(tile::RegisterType type, Value a, Value row,
                                                     Value b, Value sums, int64_t k,
                                                     bool transposed) {
  auto dot = tile::DotOp::create(builder, loc, type, tile::TokenType::get(builder.getContext()), a,
                                 row, b, sums, k, /*transposed_a=*/false, transposed);
  dot.setSynchronous(config.isSynchronous());
  dot.setTf32(tf32);
  return {dot.getResult(), dot.getToken()};
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

Block *AttentionTiles::fill(Region &region, TypeRange arguments,
                            llvm::function_ref<void(Block &)> body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(arguments.size(), loc);
  Block *block = builder.createBlock(&region, region.end(), arguments, locations);
  PointEmitter::Scope scope(points);
  body(*block);
  return block;
}

void AttentionTiles::emitRoles(llvm::function_ref<void()> load, llvm::function_ref<void()> compute,
                               bool needsMost) {
  int64_t count = config.getWarpgroups();
  ArrayRef<int64_t> registers = count == 3  ? kRegistersOf3
                                : needsMost ? kMostRegistersOf2
                                            : kRegistersOf2;
  emitWarpgroupRoles(
      points, count, registers, config.getCluster(),
      [&] { emitElectedThread(points, frame.getThreadId(), load); },
      [&](Value number) {
        warpgroup = number;
        threadInWarpgroup = index.rem(frame.getThreadId(), tile::kWarpgroupThreads);
        compute();
      });
}

Value AttentionTiles::loadOffset(Value given, int64_t window) {
  if (!given)
    return index.sub(keys, queries);
  Value stored = points.emit(given, Point{{}, Coord::uniform(index.constant(0)), 1, {}});
  Type i64 = builder.getI64Type();
  if (stored.getType() != i64)
    stored = arith::ExtSIOp::create(builder, loc, i64, stored);
  Value most = arith::IndexCastOp::create(builder, loc, i64, index.add(keys, window)),
        least =
            arith::IndexCastOp::create(builder, loc, i64, index.sub(index.constant(0), queries));
  stored = arith::MinSIOp::create(builder, loc, stored, most);
  stored = arith::MaxSIOp::create(builder, loc, stored, least);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value AttentionTiles::f32(double value) { return makeF32(builder, loc, value); }

Value AttentionTiles::exp2(Value x) { return makeExp2(builder, loc, x); }

Value AttentionTiles::makeTangents(Value products, double factor, bool isExact) {
  return map(products.getType(), products, [&](ValueRange arguments) {
    return makeTanh(builder, loc, arguments[0], factor, isExact);
  });
}

Value AttentionTiles::map(Type result, ValueRange inputs,
                          llvm::function_ref<Value(ValueRange)> body) {
  return mapAt(result, inputs, Value(), Value(), body);
}

Value AttentionTiles::mapAt(Type result, ValueRange inputs, Value row, Value column,
                            llvm::function_ref<Value(ValueRange)> body, int64_t width) {
  SmallVector<Type> arguments;
  for (Type input : inputs.getTypes()) {
    if (auto rows = dyn_cast<tile::RowsType>(input)) {
      arguments.push_back(rows.getElementType());
      continue;
    }
    Type element = cast<tile::RegisterType>(input).getElementType();
    arguments.push_back(width == 1 ? element : VectorType::get(width, element));
  }
  if (row)
    arguments.append(2, builder.getIndexType());
  auto op = tile::MapOp::create(builder, loc, result, inputs, row, column, width);
  fill(op.getBody(), arguments, [&](Block &block) {
    Value yielded = body(block.getArguments());
    tile::YieldOp::create(builder, loc, yielded);
  });
  return op;
}

int64_t AttentionTiles::countMaskNeighbours(Value mask) {
  SmallVector<Value> sizes = points.getSizes(mask);
  return !sizes.empty() && knownDivisor(sizes.back()) % 2 == 0 ? 2 : 1;
}

Value AttentionTiles::loadMask(Value mask, Value query, Value head, Value row, Value column,
                               int64_t width) {
  SmallVector<Value> sizes = points.getSizes(mask), querySizes = points.getSizes(query);
  SmallVector<Value> place = index.delinearize(head, ArrayRef(querySizes).drop_back(2));
  // Said so that loads know it.
  if (width > 1)
    column = index.mul(index.div(column, width), width);
  place.append({row, column});
  SmallVector<Value> own(ArrayRef(place).take_back(sizes.size()));
  SmallVector<Coord> coords;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    bool isOne = getConstantIntValue(size) == std::optional<int64_t>(1);
    bool isWide = width > 1 && !isOne && dim + 1 == sizes.size();
    Value last = index.sub(size, index.constant(isWide ? width : 1));
    Value coord = isOne ? index.constant(0) : index.min(own[dim], last);
    coords.push_back(isWide ? Coord::consecutive(coord) : Coord::uniform(coord));
  }
  return splatTo(builder, loc, points.emit(mask, Point{coords, {}, width, {}}), width);
}

void AttentionTiles::storeHead(const KernelOutput &output, Value tile, ArrayRef<Value> sizes,
                               Value head, Value firstRow) {
  sizes = sizes.drop_back();
  SmallVector<Value> place = index.delinearize(head, sizes.drop_back());
  SmallVector<unsigned> order = getResultOrder(output);
  order.pop_back(); // the vector
  auto getLine = [&](Value row) {
    place.resize(sizes.size());
    place.back() = row;
    auto pick = [](ArrayRef<Value> all, ArrayRef<unsigned> order) {
      return llvm::map_to_vector(order, [&](unsigned dim) { return all[dim]; });
    };
    return index.linearize(pick(place, order), pick(sizes, order));
  };
  storeTile(output.binding, tile, getLine, firstRow, sizes.back(),
            cast<ShapedType>(output.tensor.getType()).getShape().back());
}

void AttentionTiles::storeTile(plan::BindingOp binding, Value tile,
                               llvm::function_ref<Value(Value)> getLine, Value firstRow, Value rows,
                               int64_t columns) {
  auto type = cast<tile::RegisterType>(tile.getType());
  Type element = cast<MemRefType>(binding.getMemory().getType()).getElementType();
  Type index1 = builder.getIndexType();
  if (!element.isF32()) {
    auto narrow = tile::RegisterType::get(builder.getContext(), type.getColumns(), element,
                                          tile::Layout::Accumulator);
    tile = map(narrow, tile, [&](ValueRange arguments) {
      return arith::TruncFOp::create(builder, loc, element, arguments[0]).getResult();
    });
  }
  // Two neighbours of f32 are with a thread, and four threads store 32 bytes.
  bool isWide = !element.isF32() && binding.getAlignment() >= kStoreBytes;
  int64_t width = isWide ? kStoreBytes / 2 : 2;
  auto each = tile::EachOp::create(builder, loc, tile, firstRow, index.constant(0), width);
  fill(each.getBody(), {VectorType::get(width, element), index1, index1}, [&](Block &block) {
    Value row = block.getArgument(1), column = block.getArgument(2);
    Value inside = index.isLess(row, rows);
    if (type.getColumns() != columns)
      inside = index.both(inside, index.isLess(column, index.constant(columns)));
    points.emitIf(inside, [&] {
      Value place = index.add(index.mul(getLine(row), columns), column);
      points.store(binding, Coord::consecutive(place), block.getArgument(0), width);
    });
    tile::YieldOp::create(builder, loc, ValueRange());
  });
}

} // namespace xc::cuda
