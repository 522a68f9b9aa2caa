//===- EmitMatmulMMA.cpp - Matrix products on mma.sync --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16, bf16 or f32 operands, f32 accumulators; 8-bit integers and i32; or f64 and f64. Of f32
// operands the tensor cores take sign, exponent and the first 10 bits of the mantissa, which is
// TF32: they are rounded to that before. With S = `stages` buffers of each operand's tile in shared
// memory, a ring of tiles:
//
//   start the copies of tiles 0 .. S - 2
//   wait until tile 0 has arrived, in all threads; read what its first product takes of A and B
//   for step = 0 .. steps - 1:
//     for each product of k = 16 (TF32 and f64: 8, bytes: 32) in tile `step`:
//       before the last: wait until tile step + 1 has arrived, in all threads
//       read what the next one takes, which may be the first of tile step + 1
//       multiply what was read before, 16 rows at a time, and between them
//         start some of the copies of tile step + S - 1      // into the slot of tile step - 1
//   compute and store the outputs
//
// So reads are always one product ahead: the tensor cores need not wait for shared memory, and at
// the wait every warp still has products to issue. There all warps have read the whole of tile
// `step`, which is why the next iteration may overwrite it.
//
// The text is ops of the tile dialect. What they are to lanes, addresses and instructions,
// Tile/LowerWarpTiles.cpp and Tile/LowerThreadOps.cpp say.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMATMULMMA
#include "compiler/Codegen/CUDA/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value MMAEmitter::read(const Operand &operand, Value slot, Value own, int64_t k,
                       tile::WarpType type) {
  // f32 that threads copied were rounded then. The addresses of copies of single elements leave too
  // few registers for whole chunks: tiles of 128 x 64 in four warps would spill.
  bool isRounded = elementType.isF32() && operand.isAsync,
       isSingle = isDouble() && operand.width == 1;
  return tile::ReadOperandOp::create(builder, loc, type, slot, own, index.constant(k),
                                     !operand.hasLinesAlongK(), isRounded, isSingle);
}

Value MMAEmitter::readRows(ValueRange tiles, int64_t row, int64_t k) {
  return read(getFirst(), tiles[isSwapped], index.add(getFirstStart(), row), k, rowType);
}

Value MMAEmitter::readColumns(ValueRange tiles, int64_t k) {
  return read(getSecond(), tiles[!isSwapped], getSecondStart(), k, columnType);
}

void MMAEmitter::readAll(State &state, ValueRange tiles, int64_t k) {
  state.rows.clear();
  for (int64_t row = 0; row < rows; ++row)
    state.rows.push_back(readRows(tiles, row * kMmaM, k));
  state.columns = readColumns(tiles, k);
}

void MMAEmitter::multiply(State &state, ValueRange tiles, int64_t k,
                          function_ref<void()> beforeRow) {
  bool isUnsignedA = elementBytes == 1 && contraction.a.isUnsigned(),
       isUnsignedB = elementBytes == 1 && contraction.b.isUnsigned();
  State next;
  if (!isDouble())
    readAll(next, tiles, k);
  for (int64_t row = 0; row < rows; ++row) {
    beforeRow();
    // A row of f64 is read when the one before it has been multiplied, and takes its registers.
    if (isDouble() && row > 0)
      next.rows.push_back(readRows(tiles, (row - 1) * kMmaM, k));
    else if (isDouble())
      next.columns = readColumns(tiles, k);
    state.sums[row] = tile::MultiplyOp::create(builder, loc, state.rows[row], state.columns,
                                               state.sums[row], isUnsignedA, isUnsignedB);
  }
  if (isDouble())
    next.rows.push_back(readRows(tiles, (rows - 1) * kMmaM, k));
  state.rows = next.rows;
  state.columns = next.columns;
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

SmallVector<Value> MMAEmitter::pack(const State &state) const {
  SmallVector<Value> values{state.slot};
  llvm::append_range(values, state.sums);
  llvm::append_range(values, state.rows);
  values.push_back(state.columns);
  llvm::append_range(values, state.tokens);
  return values;
}

MMAEmitter::State MMAEmitter::unpack(ValueRange values) const {
  return {values[0], SmallVector<Value>(values.slice(1, rows)),
          SmallVector<Value>(values.slice(1 + rows, rows)), values[1 + 2 * rows],
          SmallVector<Value>(values.drop_front(2 + 2 * rows))};
}

SmallVector<Value, 2> MMAEmitter::awaitTile(Value slot, State &state) {
  Value token = state.tokens.front();
  state.tokens.erase(state.tokens.begin());
  SmallVector<Value, 2> slots = getSlots(slot), tokens(slots.size(), token);
  SmallVector<Value> held;
  if (isDouble())
    held = state.rows;
  auto await =
      tile::AwaitCopiesOp::create(builder, loc, slots, tokens, held, IntegerAttr(), UnitAttr());
  ValueRange results = await.getResults();
  if (isDouble())
    state.rows = SmallVector<Value>(results.drop_front(slots.size()));
  return SmallVector<Value, 2>(results.take_front(slots.size()));
}

MMAEmitter::State MMAEmitter::emitIteration(Value step, Value steps, State state) {
  Value nextSlot = getSlotAfter(state.slot), copiedSlot = getSlotBefore(state.slot);
  Value copied = index.add(step, config.getStages() - 1);
  SmallVector<Value> loaded = startLoads(copied, steps);
  // Copies start between the products, evenly: the memory system takes a burst of them no faster,
  // and warps would wait for it instead of multiplying.
  SmallVector<Share> copies = getCopies();
  int64_t products = config.getTileK() / mmaK;
  int64_t perRow = llvm::divideCeil(copies.size(), rows * std::max<int64_t>(products - 1, 1));
  auto startSome = [&](size_t count) {
    for (; count > 0 && !copies.empty(); --count)
      startCopy(copies.pop_back_val(), copied, steps, copiedSlot);
  };
  SmallVector<Value, 2> tiles = getSlots(state.slot);
  for (int64_t product = 0; product < products; ++product) {
    bool isLast = product == products - 1;
    if (isLast) {
      startSome(copies.size());
      state.tokens.push_back(tile::CommitCopiesOp::create(builder, loc));
      finishLoads(loaded, copiedSlot);
      tiles = awaitTile(nextSlot, state);
    }
    multiply(state, tiles, isLast ? 0 : (product + 1) * mmaK, [&] { startSome(perRow); });
  }
  state.slot = nextSlot;
  return state;
}

static void keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

MMAEmitter::State MMAEmitter::emitIterations(Value first, Value end, Value steps,
                                             const State &state) {
  SmallVector<Value> results = points.emitLoop(
      first, end, index.constant(1), pack(state), [&](Value step, ValueRange values) {
        return pack(emitIteration(step, steps, unpack(values)));
      });
  // Unrolled by ptxas, a step would keep the addresses in windows of the steps before it.
  if (plan::isWindowReduction(contraction.getOp()))
    keepRolled(results.front().getDefiningOp<scf::ForOp>());
  return unpack(results);
}

MMAEmitter::State MMAEmitter::emitParts(int64_t partSteps, Value steps, const State &state) {
  auto add = [&](Value lhs, Value rhs) -> Value {
    auto map = tile::MapOp::create(builder, loc, sumType, ValueRange{lhs, rhs}, /*row=*/Value(),
                                   /*column=*/Value(), /*width=*/1);
    OpBuilder::InsertionGuard guard(builder);
    Type element = sumType.getElementType();
    Block *body = builder.createBlock(&map.getBody(), {}, {element, element}, {loc, loc});
    Value sum = arith::AddFOp::create(builder, loc, body->getArgument(0), body->getArgument(1));
    tile::YieldOp::create(builder, loc, sum);
    return map;
  };
  return unpack(points.emitLoop(index.constant(0), steps, index.constant(partSteps), pack(state),
                                [&](Value first, ValueRange values) {
                                  State before = unpack(values), part = before;
                                  part.sums = state.sums;
                                  Value end = index.min(index.add(first, partSteps), steps);
                                  part = emitIterations(first, end, steps, part);
                                  for (auto [sum, earlier] :
                                       llvm::zip_equal(part.sums, before.sums))
                                    sum = add(earlier, sum);
                                  return pack(part);
                                }));
}

MMAEmitter::State MMAEmitter::begin(Value steps) {
  State state;
  for (int64_t step = 0; step < config.getStages() - 1; ++step) {
    Value number = index.constant(step);
    for (const Share &share : getCopies())
      startCopy(share, number, steps, number);
    state.tokens.push_back(tile::CommitCopiesOp::create(builder, loc));
    finishLoads(startLoads(number, steps), number);
  }
  state.slot = index.constant(0);
  Value zero = points.zero(contraction.accumulatorType);
  state.sums.assign(rows, tile::SplatOp::create(builder, loc, sumType, zero));
  readAll(state, awaitTile(state.slot, state), /*k=*/0);
  return state;
}

LogicalResult MMAEmitter::run() {
  frame.setFewestBlocks(1);
  tile.placeAtBlock();
  auto warp = tile::WarpPlaceOp::create(builder, loc, config.getWarpsN());
  warpRow = warp.getRow();
  warpColumn = warp.getColumn();
  operands.push_back(makeOperand(contraction.a, config.getTileM(), tile.startM));
  operands.push_back(makeOperand(contraction.b, config.getTileN(), tile.startN));
  auto ringType = tile::RingType::get(builder.getContext(), config.getStages(),
                                      {operands[0].type, operands[1].type});
  ring = tile::RingOp::create(builder, loc, ringType, /*arrivals=*/0, /*consumers=*/0,
                              IntegerAttr(), IntegerAttr());

  if (isDouble())
    frame.spreadBlocks(tile.countTiles(), config.getStages() * ringType.getStageBytes());
  Value steps = tile.getSteps(config.getTileK());
  State state = begin(steps);
  int64_t partSteps = config.getPartSteps();
  state = partSteps > 0 ? emitParts(partSteps, steps, state)
                        : emitIterations(index.constant(0), steps, steps, state);
  // No copy may be under way when the block ends.
  tile::DrainCopiesOp::create(builder, loc);
  auto pair = tile::PairPlaceOp::create(builder, loc, sumType);
  pairRow = pair.getRow();
  pairColumn = pair.getColumn();
  int64_t width = 1;
  if (std::optional<int64_t> room = getStagingRoom(width))
    emitRowOutputs(state.sums, *room, width);
  else
    emitOutputs(state.sums);
  if (!contraction.group.columnParts.empty())
    emitColumnParts(state.sums);
  return tile.finish();
}

namespace {

struct EmitMatmulMMA final : impl::EmitMatmulMMABase<EmitMatmulMMA> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<MatmulMMAAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<Contraction> contraction = requireContraction(*kernel, config);
    if (failed(contraction))
      return signalPassFailure();
    if (!kernel->target->hasMMA16816 ||
        !(contraction->hasMMATypes() || contraction->hasDoubleOperands())) {
      getOperation().emitOpError("expected f16, bf16 or f32 operands with f32 sums, 8-bit integers "
                                 "with i32, or f64, and sm_80 or later for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    if (contraction->hasDoubleOperands() && kernel->target->doubleMMA == DoubleMMA::None) {
      getOperation().emitOpError("expected a target whose tensor cores are made for f64 for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    if (std::string wrong = checkMMATiles(*contraction, config); !wrong.empty()) {
      getOperation().emitOpError() << wrong << " for " << config;
      return signalPassFailure();
    }
    if (failed(MMAEmitter(*kernel, *contraction, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
