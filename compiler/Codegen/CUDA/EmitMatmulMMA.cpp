//===- EmitMatmulMMA.cpp - Matrix products on mma.sync --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16, bf16 or f32 operands, f32 accumulators; 8-bit integers and i32; or f64 and f64. Of f32
// factors the tensor cores take sign, exponent and the first 10 bits of the mantissa, which is
// TF32: they are rounded to that before. With S = `stages` buffers of each operand's tile in shared
// memory:
//
//   start the copies of tiles 0 .. S - 2
//   wait until tile 0 has arrived; barrier; ldmatrix its first fragments of A and B
//   for step = 0 .. steps - 1:
//     for each product of k = 16 (TF32 and f64: 8, bytes: 32) in tile `step`:
//       before the last: wait until tile step + 1 has arrived; barrier
//       ldmatrix the fragments of the next one, which may be the first of tile step + 1
//       mma.sync of those loaded before, and between them
//         start some of the copies of tile step + S - 1      // into the buffer of tile step - 1
//   compute and store the outputs
//
// So fragments are always one product ahead: the tensor cores need not wait for shared memory, and
// at the barrier every warp still has products to issue. At that barrier all warps have loaded the
// whole of tile `step`, which is why the next round may overwrite it.
//
// A tile is copied by cp.async where the operand is memory whose rows are 16-byte aligned. Where it
// is computed by fused ops, or has other strides, threads load its elements into registers at the
// start of a round and store them to shared memory before its barrier: the loads are under way
// meanwhile.
//
// Tiles keep the operand's own order. Lines are k values (in chunks of 16 bytes) of one row of A or
// column of B, or the other way round; ldmatrix turns the latter around (.trans), but 16-bit
// elements only: threads load the words of TF32 fragments one by one then. Bytes are turned on the
// way to shared memory: threads load patches of 4 x 4 into registers, as what is computed, and
// store words along k. The chunks of a line are permuted by an exclusive or with the line's number,
// so that the 8 lines of a matrix that ldmatrix reads, or the 4 lines by 8 words of one load of
// words, lie in different banks.
//
// Fragments of f64 are one element of each thread to a register pair, and an instruction's operands
// are neighbouring registers: threads load 16 bytes where two neighbours are neighbours there, too.
// They are along k in the second operand, and along rows in the first one. So the first operand is
// that of A and B whose lines do not run along k, if there is one: then the fragments' row r of
// half h stands for row 2 r + h of 16, and in both operands k = 2 t + h stands where the
// instruction has t + 4 h. Where an operand's lines run the wrong way, threads load single
// elements. cp.async copies f64 that are not 16-byte aligned one by one.
//
// Copies whose bounds are checked are compared with the room that is left from the thread's first
// one on, and LLVM does not see how their addresses come about: it would keep one of each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/MatmulTiles.h"
#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
#include "compiler/Codegen/CUDA/Emit/MatmulTile.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMATMULMMA
#include "compiler/Codegen/CUDA/Passes.h.inc"

static constexpr int64_t kChunkBytes = 16;
static constexpr int64_t kMmaM = 16, kMmaN = 8, kMmaKBytes = 32, kDoubleK = 8;
/// Bytes are turned in squares of this side.
static constexpr int64_t kPatch = 4;

namespace {

class MMAEmitter {
public:
  MMAEmitter(const KernelInfo &kernel, const Contraction &contraction, MatmulMMAAttr config)
      : kernel(kernel), contraction(contraction), config(config),
        threads(32 * config.getWarpsM() * config.getWarpsN()), frame(kernel, threads),
        points(frame.points), index(points.index), builder(points.builder), loc(points.loc),
        tile(kernel, contraction, frame, config.getTileM(), config.getTileN()),
        elementType(getElementTypeOrSelf(contraction.a.operand->get())),
        elementBytes(getElementBytes(elementType)), chunk(kChunkBytes / elementBytes),
        mmaK(elementBytes == 8 ? kDoubleK : kMmaKBytes / elementBytes),
        warpM(config.getTileM() / config.getWarpsM()),
        warpN(config.getTileN() / config.getWarpsN()),
        isSwapped(isDouble() && contraction.a.isKContiguous && !contraction.b.isKContiguous),
        isPaired(!contraction.a.isKContiguous || !contraction.b.isKContiguous),
        rows((isSwapped ? warpN : warpM) / kMmaM), columns((isSwapped ? warpM : warpN) / kMmaN) {}

  LogicalResult run();

private:
  struct Operand {
    const Contraction::Side &side;
    int64_t own; // extent of the tile along the operand's own dim
    Value start; // of the tile along it
    bool isAsync = false;
    bool isTurned = false; // its lines run along k in shared memory, but not in memory
    int64_t width = 1, rounds = 1;
    Value buffer = {};
    bool hasLinesAlongK() const { return side.isKContiguous || isTurned; }
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, Value start);
  int64_t getLineLength(const Operand &operand) const {
    return operand.hasLinesAlongK() ? config.getTileK() : operand.own;
  }
  int64_t getTileElements(const Operand &operand) const { return operand.own * config.getTileK(); }
  /// A line of a tile as a number that threads compute plus one that is known: addresses of lines
  /// that differ in the latter alone differ by an immediate.
  struct Line {
    Value base;
    int64_t offset;
  };
  Value toValue(const Line &line) { return index.add(line.base, line.offset); }
  /// The element of the tile where chunk `number` of line `line` begins.
  Value getPlace(const Operand &operand, const Line &line, Value number);
  /// Line and first element in it of this thread's vector `round`.
  std::pair<Line, Value> getShare(const Operand &operand, int64_t round);
  /// Where in a turned operand's tile this thread's patch `round` begins: along its own dim, and
  /// along k.
  std::pair<Value, Value> getPatch(const Operand &operand, int64_t round);

  /// A vector of an operand's tile that a thread moves.
  using Share = std::pair<const Operand *, int64_t>;
  /// All that cp.async moves of one tile of each operand.
  SmallVector<Share> getCopies();
  void startCopy(const Share &share, Value step, Value steps, Value slot);
  SmallVector<Value> startLoads(Value step, Value steps);
  void startPatch(const Operand &operand, int64_t round, Value k0, SmallVector<Value> &values);
  void finishLoads(ArrayRef<Value> values, Value slot);
  /// Stores the first of `values` as patch `round`; returns how many of them that was.
  size_t finishPatch(const Operand &operand, int64_t round, ArrayRef<Value> values, Value slot);
  void store(const Operand &operand, const Line &line, Value along, Value slot, Value values);
  /// The bits of an f32 that is rounded to TF32; of each lane, if there are several.
  Value roundToTF32(Value value);
  /// Waits for the oldest but `stages` - 2 of the copies that were started, in all threads.
  void awaitTile();
  /// Where the tile in one of the `stages` slots begins.
  Value getBuffer(const Operand &operand, Value slot);
  Value getSlotAfter(Value slot);
  Value getSlotBefore(Value slot);

  SmallVector<Value> loadWords(const Operand &operand, Value buffer, Line own, int64_t k, bool isA);
  /// The factors of f64 products: 16 rows of the first operand by k, or 8 columns of the second.
  SmallVector<Value> loadDoubleRows(Value slot, int64_t row, int64_t k);
  SmallVector<Value> loadDoubleColumns(Value slot, int64_t column, int64_t k);
  /// `count` neighbours from element `place` of the operand's tile in `slot` on.
  SmallVector<Value> loadNeighbours(const Operand &operand, Value slot, Value place, int64_t count);
  const Operand &getFirst() const { return operands[isSwapped]; }
  const Operand &getSecond() const { return operands[!isSwapped]; }
  /// Where this warp's part of the first, or second, operand's tile begins along its own dim.
  Value getFirstStart() {
    return isSwapped ? index.mul(warpColumn, warpN) : index.mul(warpRow, warpM);
  }
  Value getSecondStart() {
    return isSwapped ? index.mul(warpRow, warpM) : index.mul(warpColumn, warpN);
  }
  /// The address of the element that is `elements` further on.
  Value offsetBy(Value pointer, Value elements);
  bool needsWordLoads(const Operand &operand) const {
    return elementBytes == 4 && !operand.side.isKContiguous;
  }
  bool isDouble() const { return elementBytes == 8; }
  /// Four words of each thread: rows `own` (16 of A, or 16 columns of B) by the k of one product.
  SmallVector<Value> loadFragment(const Operand &operand, Value buffer, Line own, int64_t k,
                                  bool isA);
  /// The fragments of both operands for the product at k of the tile in `slot`: of A, then of B.
  SmallVector<Value> loadFragments(Value slot, int64_t k);
  /// Adds to `sums` the products of `fragments`; `beforeRow` is called before each row of them.
  SmallVector<Value> multiply(ArrayRef<Value> fragments, ArrayRef<Value> sums,
                              function_ref<void(int64_t)> beforeRow);
  /// Adds to the four `sums` of one piece the products of its fragments.
  SmallVector<Value> multiplyPiece(ValueRange a, ValueRange b, ValueRange sums);
  SmallVector<Value> multiplyDoubles(ValueRange a, ValueRange b, ValueRange sums);
  /// One round of the loop; `carried` are the tile's slot, the sums, then the fragments of the
  /// tile's first product.
  SmallVector<Value> emitRound(Value step, Value steps, ArrayRef<Value> carried);
  /// Keeps LLVM from moving loads in front of this behind it.
  void keepLoads();
  /// Awaits a tile, and makes the first factor of each row of `fragments` one that nobody has
  /// before.
  void awaitTileBefore(SmallVector<Value> &fragments);
  void emitOutputs(ArrayRef<Value> sums);
  /// The same where B is the first operand.
  void emitSwappedOutputs(ArrayRef<Value> sums);
  /// Adds the pairs `values` of product j of a row of them to the parts of row `row`; a part that
  /// is complete is stored.
  void addToParts(MatmulTile::RowParts &parts, Value row, Value column, Value values, int64_t j);
  /// The operand whose buffer outputs can pass through on their way to memory, so that threads
  /// store vectors of `width` of them; null if they store what they hold.
  const Operand *getStagingRoom(int64_t &width);
  void emitRowOutputs(ArrayRef<Value> sums, const Operand &room, int64_t width);

  const KernelInfo &kernel;
  const Contraction &contraction;
  MatmulMMAAttr config;
  int64_t threads;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  MatmulTile tile;
  Type elementType;
  int64_t elementBytes;
  int64_t chunk;         // elements in 16 bytes
  int64_t mmaK;          // values of k in one product
  int64_t warpM, warpN;  // extents of one warp's part of the tile
  bool isSwapped;        // B is the instructions' first operand
  bool isPaired;         // of f64, neighbours are loaded together: see above
  int64_t rows, columns; // of a warp's instructions: 16 of the first operand, 8 of the second
  Value thread, lane, warpRow, warpColumn;
  SmallVector<Operand, 2> operands;
  llvm::DenseMap<std::pair<Value, Value>, Value> sources; // of copies, by memory and position
};

} // namespace

static void keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

MMAEmitter::Operand MMAEmitter::makeOperand(const Contraction::Side &side, int64_t own,
                                            Value start) {
  Operand operand{side, own, start};
  plan::BindingOp binding = side.getCopySource();
  operand.isTurned = elementBytes == 1 && !side.isKContiguous;
  operand.width = tile.getVectorWidth(side, operand.isTurned ? kPatch : chunk);
  if (isDouble() && binding && binding.getAlignment() < kChunkBytes)
    operand.width = 1;
  operand.isAsync =
      binding && (isDouble() || (operand.width == chunk && binding.getAlignment() >= kChunkBytes));
  operand.rounds =
      getTileElements(operand) / (threads * (operand.isTurned ? kPatch * kPatch : operand.width));
  operand.buffer = frame.allocateShared(elementType, config.getStages() * getTileElements(operand));
  return operand;
}

Value MMAEmitter::getPlace(const Operand &operand, const Line &line, Value number) {
  int64_t length = getLineLength(operand), chunks = length / chunk;
  // The permutation repeats after so many lines.
  int64_t period = operand.isTurned ? 64 : 8;
  if (line.offset != 0 && line.offset % period == 0)
    return index.add(getPlace(operand, {line.base, 0}, number), line.offset * length);
  Value value = toValue(line);
  if (isDouble()) {
    // Eight threads load four chunks of each of two lines, or two of every other one of eight;
    // sixteen load halves of chunks, two of each of four lines.
    Value key = !operand.hasLinesAlongK() ? index.mul(index.rem(index.div(value, 2), 4), 2)
                : isPaired                ? index.mul(index.rem(value, 2), 4)
                                          : index.mul(index.rem(value, 4), 2);
    Value permuted = arith::XOrIOp::create(builder, loc, number, key);
    return index.add(index.mul(value, length), index.mul(permuted, chunk));
  }
  // Lines shorter than 128 bytes share the banks of one 128-byte row with their neighbours.
  Value row = chunks < 8 ? index.div(value, 8 / chunks) : value;
  int64_t keys = std::min<int64_t>(chunks, 8);
  // Words of patches go to every fourth line.
  if (operand.isTurned)
    row = index.add(row, index.div(row, keys));
  // A load of words takes two neighbouring chunks of each line.
  Value key =
      needsWordLoads(operand) ? index.mul(index.rem(row, keys / 2), 2) : index.rem(row, keys);
  Value permuted = arith::XOrIOp::create(builder, loc, number, key);
  return index.add(index.mul(value, length), index.mul(permuted, chunk));
}

std::pair<MMAEmitter::Line, Value> MMAEmitter::getShare(const Operand &operand, int64_t round) {
  int64_t perLine = getLineLength(operand) / operand.width;
  if (threads % perLine == 0)
    return {{index.div(thread, perLine), round * (threads / perLine)},
            index.mul(index.rem(thread, perLine), operand.width)};
  Value number = index.add(thread, round * threads);
  return {{index.div(number, perLine), 0}, index.mul(index.rem(number, perLine), operand.width)};
}

/// Eight lanes have neighbouring patches, and four those of a chunk.
std::pair<Value, Value> MMAEmitter::getPatch(const Operand &operand, int64_t round) {
  constexpr int64_t kNeighbours = 8, kPerChunk = kChunkBytes / kPatch;
  int64_t across = operand.own / (kNeighbours * kPatch);
  Value unit = index.add(index.div(thread, 32), round * (threads / 32));
  Value own = index.add(index.mul(index.rem(unit, across), kNeighbours * kPatch),
                        index.mul(index.rem(lane, kNeighbours), kPatch));
  Value k = index.add(index.mul(index.div(unit, across), kChunkBytes),
                      index.mul(index.rem(index.div(lane, kNeighbours), kPerChunk), kPatch));
  return {own, k};
}

Value MMAEmitter::getBuffer(const Operand &operand, Value slot) {
  return index.mul(slot, getTileElements(operand));
}

Value MMAEmitter::getSlotAfter(Value slot) {
  Value isLast = index.isAtLeast(slot, index.constant(config.getStages() - 1));
  return arith::SelectOp::create(builder, loc, isLast, index.constant(0), index.add(slot, 1));
}

Value MMAEmitter::getSlotBefore(Value slot) {
  Value isFirst = index.isLess(slot, index.constant(1));
  return arith::SelectOp::create(builder, loc, isFirst, index.constant(config.getStages() - 1),
                                 index.add(slot, -1));
}

Value MMAEmitter::offsetBy(Value pointer, Value elements) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), elements);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

SmallVector<MMAEmitter::Share> MMAEmitter::getCopies() {
  SmallVector<Share> copies;
  for (const Operand &operand : operands)
    for (int64_t round = 0; operand.isAsync && round < operand.rounds; ++round)
      copies.push_back({&operand, round});
  return copies;
}

void MMAEmitter::startCopy(const Share &share, Value step, Value steps, Value slot) {
  const Operand &operand = *share.first;
  auto [line, along] = getShare(operand, share.second);
  bool alongOwn = operand.side.isKContiguous; // what lines count
  // Lines that are a known number apart are so many bytes apart: the address of the first serves
  // them all.
  int64_t apart = 0;
  Line first = line;
  if (std::optional<int64_t> stride = tile.getKnownStride(operand.side, /*alongK=*/!alongOwn)) {
    apart = line.offset * *stride;
    first.offset = 0;
  }
  Value k0 = index.mul(step, config.getTileK());
  auto locate = [&](const Line &at) -> std::pair<Value, Value> {
    return {index.add(operand.start, alongOwn ? toValue(at) : along),
            index.add(k0, alongOwn ? along : toValue(at))};
  };
  // Past the last step, too, zeros are written: the number of groups under way stays equal. A copy
  // of no bytes reads nothing, wherever its source points.
  auto [firstOwn, firstK] = locate(first);
  auto [position, isElement] = tile.getPosition(operand.side, firstOwn, firstK);
  Value inside;
  if (isDouble() && apart != 0) {
    inside = tile.isInsideBehind(operand.side, firstOwn, firstK, line.offset, operand.own,
                                 config.getTileK());
  } else {
    auto [own, k] = locate(line);
    inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
  }
  inside = index.both(index.isLess(step, steps), inside);
  inside = index.both(inside, isElement);
  auto most = static_cast<int32_t>(operand.width * elementBytes);
  Value bytes = arith::SelectOp::create(builder, loc, inside,
                                        points.constant(builder.getI32IntegerAttr(most)),
                                        points.constant(builder.getI32IntegerAttr(0)));
  Value place = getPlace(operand, line, index.div(along, chunk));
  if (operand.width < chunk)
    place = index.add(place, index.rem(along, chunk));
  Value to = offsetBy(tile.getPointer(operand.buffer, place), getBuffer(operand, slot));
  Value source = points.getMemory(operand.side.getCopySource());
  Value from = tile.getPointer(source, position);
  if (isDouble()) {
    Value &known = sources[{source, position}];
    if (!known)
      known = tile.hideOrigin(from);
    from = known;
  }
  auto modifier =
      most == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, to, offsetBy(from, index.constant(apart)), most, modifier,
                          bytes);
}

SmallVector<Value> MMAEmitter::startLoads(Value step, Value steps) {
  if (llvm::all_of(operands, [](const Operand &operand) { return operand.isAsync; }))
    return {};
  Value k0 = index.mul(step, config.getTileK());
  return points.emitIfOrZeros(index.isLess(step, steps), [&] {
    SmallVector<Value> values;
    for (const Operand &operand : operands)
      for (int64_t round = 0; !operand.isAsync && round < operand.rounds; ++round) {
        if (operand.isTurned) {
          startPatch(operand, round, k0, values);
          continue;
        }
        auto [line, along] = getShare(operand, round);
        Value own = index.add(operand.start, operand.side.isKContiguous ? toValue(line) : along);
        Value k = index.add(k0, operand.side.isKContiguous ? along : toValue(line));
        Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
        values.push_back(
            tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
      }
    return values;
  });
}

void MMAEmitter::startPatch(const Operand &operand, int64_t round, Value k0,
                            SmallVector<Value> &values) {
  auto [ownOffset, kOffset] = getPatch(operand, round);
  for (int64_t line = 0; line < kPatch; ++line)
    for (int64_t first = 0; first < kPatch; first += operand.width) {
      Value own = index.add(operand.start, index.add(ownOffset, first));
      Value k = index.add(k0, index.add(kOffset, line));
      Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
      values.push_back(
          tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
    }
}

Value MMAEmitter::roundToTF32(Value value) {
  SmallVector<Value> rounded;
  for (int64_t lane = 0, lanes = countLanes(value); lane < lanes; ++lane)
    rounded.push_back(NVVM::ConvertFloatToTF32Op::create(builder, loc, builder.getI32Type(),
                                                         getLane(builder, loc, value, lane),
                                                         NVVM::FPRoundingMode::RNA));
  return fromLanes(builder, loc, rounded);
}

void MMAEmitter::store(const Operand &operand, const Line &line, Value along, Value slot,
                       Value values) {
  Value place = getPlace(operand, line, index.div(along, chunk));
  Value to = index.add(index.add(getBuffer(operand, slot), place), index.rem(along, chunk));
  int64_t lanes = countLanes(values);
  if (lanes == 1)
    memref::StoreOp::create(builder, loc, values, operand.buffer, to);
  else
    vector::StoreOp::create(builder, loc, values, operand.buffer, to, /*nontemporal=*/false,
                            llvm::MaybeAlign(lanes * elementBytes));
}

size_t MMAEmitter::finishPatch(const Operand &operand, int64_t round, ArrayRef<Value> values,
                               Value slot) {
  size_t perLine = kPatch / operand.width;
  SmallVector<Value> lines;
  for (int64_t line = 0; line < kPatch; ++line) {
    SmallVector<Value> lanes;
    for (Value value : values.slice(line * perLine, perLine))
      for (int64_t lane = 0; lane < operand.width; ++lane)
        lanes.push_back(getLane(builder, loc, value, lane));
    lines.push_back(perLine == 1 ? values[line] : fromLanes(builder, loc, lanes));
  }
  auto [own, k] = getPatch(operand, round);
  for (auto [row, turned] : llvm::enumerate(turnBytes(builder, loc, lines)))
    store(operand, {index.add(own, row), 0}, k, slot, turned);
  return kPatch * perLine;
}

void MMAEmitter::finishLoads(ArrayRef<Value> values, Value slot) {
  for (const Operand &operand : operands)
    for (int64_t round = 0; !operand.isAsync && round < operand.rounds; ++round) {
      if (operand.isTurned) {
        values = values.drop_front(finishPatch(operand, round, values, slot));
        continue;
      }
      auto [line, along] = getShare(operand, round);
      Value value = values.front();
      if (elementBytes == 4) {
        Type type = value.getType();
        value = arith::BitcastOp::create(builder, loc, type, roundToTF32(value));
      }
      store(operand, line, along, slot, value);
      values = values.drop_front();
    }
}

void MMAEmitter::awaitTile() {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, static_cast<uint32_t>(config.getStages() - 2));
  frame.barrier();
}

//===----------------------------------------------------------------------===//
// From shared memory to the products
//===----------------------------------------------------------------------===//

SmallVector<Value> MMAEmitter::loadWords(const Operand &operand, Value buffer, Line own, int64_t k,
                                         bool isA) {
  // Lane l has row l / 4 and k l % 4 of each quarter of a fragment.
  Value row = index.div(lane, 4), kLine = index.rem(lane, 4);
  SmallVector<Value> words;
  for (int64_t word = 0; word < 4; ++word) {
    int64_t ownHalf = isA ? word % 2 : word / 2, kHalf = isA ? word / 2 : word % 2;
    Value position = index.add(toValue(own), index.add(row, ownHalf * 8));
    Value place = getPlace(operand, {kLine, k + kHalf * 4}, index.div(position, chunk));
    Value element = index.add(index.add(buffer, place), index.rem(position, chunk));
    words.push_back(LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                         tile.getPointer(operand.buffer, element)));
  }
  return words;
}

SmallVector<Value> MMAEmitter::loadNeighbours(const Operand &operand, Value slot, Value place,
                                              int64_t count) {
  Value pointer = offsetBy(tile.getPointer(operand.buffer, place), getBuffer(operand, slot));
  Type type = count == 1 ? elementType : VectorType::get(count, elementType);
  Value loaded = LLVM::LoadOp::create(builder, loc, type, pointer,
                                      static_cast<unsigned>(count * elementBytes));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(getLane(builder, loc, loaded, i));
  return values;
}

SmallVector<Value> MMAEmitter::loadDoubleRows(Value slot, int64_t row, int64_t k) {
  const Operand &operand = getFirst();
  Value start = getFirstStart(), group = index.div(lane, 4), inK = index.rem(lane, 4);
  SmallVector<Value> values;
  if (!isPaired) {
    for (int64_t i = 0; i < 4; ++i) {
      Line line{index.add(start, group), row + i % 2 * 8};
      Value number = index.add(index.div(inK, chunk), (k + i / 2 * 4) / chunk);
      Value place = index.add(getPlace(operand, line, number), index.rem(inK, chunk));
      llvm::append_range(values, loadNeighbours(operand, slot, place, 1));
    }
    return values;
  }
  // The next line has the same permutation, and 16 rows are as many chunks as it permutes.
  Value number = index.add(index.div(start, chunk), group);
  Value place = index.add(getPlace(operand, {index.mul(inK, 2), k}, number), row);
  for (int64_t half = 0; half < 2; ++half)
    llvm::append_range(
        values, loadNeighbours(operand, slot, index.add(place, half * getLineLength(operand)), 2));
  return values;
}

SmallVector<Value> MMAEmitter::loadDoubleColumns(Value slot, int64_t column, int64_t k) {
  const Operand &operand = getSecond();
  Value start = getSecondStart(), group = index.div(lane, 4), inK = index.rem(lane, 4);
  Line line{index.add(start, group), column};
  if (operand.hasLinesAlongK() && isPaired)
    return loadNeighbours(operand, slot, getPlace(operand, line, index.add(inK, k / chunk)), 2);
  SmallVector<Value> values;
  for (int64_t half = 0; half < 2; ++half) {
    Value place;
    if (operand.hasLinesAlongK()) {
      Value number = index.add(index.div(inK, chunk), (k + half * 4) / chunk);
      place = index.add(getPlace(operand, line, number), index.rem(inK, chunk));
    } else {
      Value number = index.add(index.div(start, chunk),
                               index.add(index.div(group, chunk), column % kMmaM / chunk));
      place = index.add(getPlace(operand, {index.mul(inK, 2), k}, number), index.rem(group, chunk));
      place = index.add(place, column / kMmaM * kMmaM + half * getLineLength(operand));
    }
    llvm::append_range(values, loadNeighbours(operand, slot, place, 1));
  }
  return values;
}

SmallVector<Value> MMAEmitter::loadFragment(const Operand &operand, Value buffer, Line own,
                                            int64_t k, bool isA) {
  if (needsWordLoads(operand))
    return loadWords(operand, buffer, own, k, isA);
  // Lane l gives the address of line l % 8 of matrix l / 8. Of A, matrices 1 and 3 are the lower
  // rows and 2 and 3 the later k; of B, matrices 2 and 3 are the later columns and 1 and 3 the
  // later k.
  Value line8 = index.rem(lane, 8), bit3 = index.rem(index.div(lane, 8), 2),
        bit4 = index.div(lane, 16);
  Value ownHalf = isA ? bit3 : bit4, kHalf = isA ? bit4 : bit3;
  Line line;
  Value number;
  if (operand.hasLinesAlongK()) {
    line = {index.add(own.base, index.add(line8, index.mul(ownHalf, 8))), own.offset};
    number = index.add(kHalf, k / chunk);
  } else {
    line = {index.add(line8, index.mul(kHalf, 8)), k};
    number = index.add(index.div(toValue(own), chunk), ownHalf);
  }
  Value pointer =
      offsetBy(tile.getPointer(operand.buffer, getPlace(operand, line, number)), buffer);
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32, i32, i32});
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  auto layout = operand.hasLinesAlongK() ? NVVM::MMALayout::row : NVVM::MMALayout::col;
  Value matrices = NVVM::LdMatrixOp::create(builder, loc, type, pointer, 4, layout, shape,
                                            NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(builder, loc, matrices, i));
  return words;
}

SmallVector<Value> MMAEmitter::loadFragments(Value slot, int64_t k) {
  SmallVector<Value> fragments;
  if (isDouble()) {
    for (int64_t row = 0; row < rows; ++row)
      llvm::append_range(fragments, loadDoubleRows(slot, row * kMmaM, k));
    for (int64_t column = 0; column < columns; ++column)
      llvm::append_range(fragments, loadDoubleColumns(slot, column * kMmaN, k));
    return fragments;
  }
  // f16 fragments are pairs to the op, all others are words.
  Type pair = VectorType::get(2, builder.getF16Type());
  auto append = [&](const Operand &operand, const Line &own, bool isA) {
    for (Value word : loadFragment(operand, getBuffer(operand, slot), own, k, isA)) {
      if (elementType.isF16())
        word = LLVM::BitcastOp::create(builder, loc, pair, word);
      else if (elementBytes == 4 && operand.isAsync) // others are rounded where they are stored
        word = roundToTF32(LLVM::BitcastOp::create(builder, loc, elementType, word));
      fragments.push_back(word);
    }
  };
  for (int64_t row = 0; row < warpM; row += kMmaM)
    append(operands[0], {index.mul(warpRow, warpM), row}, /*isA=*/true);
  for (int64_t column = 0; column < warpN; column += 2 * kMmaN)
    append(operands[1], {index.mul(warpColumn, warpN), column}, /*isA=*/false);
  return fragments;
}

/// m16n8k8, or where the target has m8n8k4 alone four of these.
SmallVector<Value> MMAEmitter::multiplyDoubles(ValueRange a, ValueRange b, ValueRange sums) {
  auto emit = [&](StringRef name, ArrayRef<Value> arguments, unsigned count) {
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 SmallVector<Type>(count, elementType));
    Value result =
        LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), arguments)
            .getResult(0);
    SmallVector<Value> parts;
    for (unsigned part = 0; part < count; ++part)
      parts.push_back(LLVM::ExtractValueOp::create(builder, loc, result, part));
    return parts;
  };
  if (kernel.target->doubleMMA == DoubleMMA::M16N8K8) {
    SmallVector<Value> arguments(a);
    llvm::append_range(arguments, b);
    llvm::append_range(arguments, sums);
    return emit("llvm.nvvm.mma.m16n8k8.row.col.f64", arguments, 4);
  }
  SmallVector<Value> results;
  for (unsigned half = 0; half < 2; ++half) {
    SmallVector<Value> some(sums.slice(half * 2, 2));
    for (unsigned kHalf = 0; kHalf < 2; ++kHalf)
      some = emit("llvm.nvvm.mma.m8n8k4.row.col.f64",
                  {a[kHalf * 2 + half], b[kHalf], some[0], some[1]}, 2);
    llvm::append_range(results, some);
  }
  return results;
}

SmallVector<Value> MMAEmitter::multiplyPiece(ValueRange a, ValueRange b, ValueRange sums) {
  if (isDouble())
    return multiplyDoubles(a, b, sums);
  Type sumType = contraction.accumulatorType;
  auto type =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {sumType, sumType, sumType, sumType});
  auto getType = [&](const Contraction::Side &side) {
    if (elementBytes == 1)
      return side.isUnsigned() ? NVVM::MMATypes::u8 : NVVM::MMATypes::s8;
    return elementType.isF16()    ? NVVM::MMATypes::f16
           : elementType.isBF16() ? NVVM::MMATypes::bf16
                                  : NVVM::MMATypes::tf32;
  };
  std::array types{getType(contraction.a), getType(contraction.b)};
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (elementBytes == 1)
    overflow = NVVM::MMAIntOverflow::wrapped;
  Value result =
      NVVM::MmaOp::create(builder, loc, type, a, b, sums, {kMmaM, kMmaN, mmaK}, std::nullopt,
                          overflow, types, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> results;
  for (int64_t part = 0; part < 4; ++part)
    results.push_back(LLVM::ExtractValueOp::create(builder, loc, result, part));
  return results;
}

SmallVector<Value> MMAEmitter::multiply(ArrayRef<Value> fragments, ArrayRef<Value> given,
                                        function_ref<void(int64_t)> beforeRow) {
  SmallVector<Value> sums(given);
  ArrayRef<Value> a = fragments.take_front(rows * 4), b = fragments.drop_front(rows * 4);
  for (int64_t i = 0; i < rows; ++i) {
    beforeRow(i);
    for (int64_t j = 0; j < columns; ++j) {
      MutableArrayRef<Value> sum = MutableArrayRef(sums).slice((i * columns + j) * 4, 4);
      llvm::copy(multiplyPiece(a.slice(i * 4, 4), b.slice(j * 2, 2), ValueRange(sum)), sum.begin());
    }
  }
  return sums;
}

SmallVector<Value> MMAEmitter::emitRound(Value step, Value steps, ArrayRef<Value> carried) {
  int64_t sumCount = rows * columns * 4;
  Value slot = carried.front();
  carried = carried.drop_front();
  SmallVector<Value> sums(carried.take_front(sumCount)), fragments(carried.drop_front(sumCount));
  Value nextSlot = getSlotAfter(slot), copiedSlot = getSlotBefore(slot);
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
  for (int64_t product = 0; product < products; ++product) {
    bool isLast = product == products - 1;
    if (isLast) {
      startSome(copies.size());
      NVVM::CpAsyncCommitGroupOp::create(builder, loc);
      finishLoads(loaded, copiedSlot);
      if (isDouble())
        awaitTileBefore(fragments);
      else
        awaitTile();
    }
    Value from = isLast ? nextSlot : slot;
    int64_t k = isLast ? 0 : (product + 1) * mmaK;
    SmallVector<Value> next;
    if (!isDouble())
      next = loadFragments(from, k);
    // A row of f64 is loaded when the one before it has been multiplied, and takes its registers.
    SmallVector<Value> nextColumns;
    sums = multiply(fragments, sums, [&](int64_t row) {
      startSome(perRow);
      if (!isDouble())
        return;
      if (row > 0)
        return llvm::append_range(next, loadDoubleRows(from, (row - 1) * kMmaM, k));
      for (int64_t column = 0; column < columns; ++column)
        llvm::append_range(nextColumns, loadDoubleColumns(from, column * kMmaN, k));
    });
    if (isDouble()) {
      llvm::append_range(next, loadDoubleRows(from, (rows - 1) * kMmaM, k));
      llvm::append_range(next, nextColumns);
    }
    fragments = next;
  }
  if (isDouble())
    keepLoads();
  SmallVector<Value> values{nextSlot};
  llvm::append_range(values, sums);
  llvm::append_range(values, fragments);
  return values;
}

/// ptxas would multiply all that has been loaded in front of a barrier, and wait for what is loaded
/// behind it. So the barrier gives a number, which is zero, that the rows' first factors depend on.
void MMAEmitter::awaitTileBefore(SmallVector<Value> &fragments) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, static_cast<uint32_t>(config.getStages() - 2));
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  Value none =
      LLVM::InlineAsmOp::create(builder, loc, builder.getI32Type(), ValueRange(),
                                "{ .reg .pred p; setp.ne.u32 p, 0, 0; bar.red.popc.u32 $0, 0, p; }",
                                "=r,~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr())
          .getResult(0);
  Type words = VectorType::get(2, builder.getI32Type());
  for (int64_t row = 0; row < rows; ++row) {
    Value pair = LLVM::BitcastOp::create(builder, loc, words, fragments[row * 4]);
    Value low = arith::OrIOp::create(builder, loc, getLane(builder, loc, pair, 0), none);
    pair = fromLanes(builder, loc, {low, getLane(builder, loc, pair, 1)});
    fragments[row * 4] = LLVM::BitcastOp::create(builder, loc, elementType, pair);
  }
}

/// What is loaded at the end of a round, and in front of the first one, would become loads at the
/// beginning of each.
void MMAEmitter::keepLoads() {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), ValueRange(), "", "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr());
}

void MMAEmitter::emitOutputs(ArrayRef<Value> sums) {
  if (isSwapped)
    return emitSwappedOutputs(sums);
  Value group = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      Value inPiece = isDouble() && isPaired ? index.add(index.mul(group, 2), half)
                                             : index.add(group, half * 8);
      for (int64_t j = 0; j < columns; ++j) {
        Value row = index.add(index.add(tile.startM, index.mul(warpRow, warpM)),
                              index.add(inPiece, i * kMmaM));
        Value column = index.add(index.add(tile.startN, index.mul(warpColumn, warpN)),
                                 index.add(pair, j * kMmaN));
        Value values = fromLanes(builder, loc, sums.slice((i * columns + j) * 4 + half * 2, 2));
        tile.emitOutputs(row, column, values);
        addToParts(parts, row, column, values, j);
      }
    }
}

void MMAEmitter::emitSwappedOutputs(ArrayRef<Value> sums) {
  Value pair = index.mul(index.div(lane, 4), 2), line = index.mul(index.rem(lane, 4), 2);
  Value startM = index.add(tile.startM, getSecondStart()),
        startN = index.add(tile.startN, getFirstStart());
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t next = 0; next < 2; ++next)
      for (int64_t i = 0; i < rows; ++i) {
        ArrayRef<Value> piece = sums.slice((i * columns + j) * 4, 4);
        tile.emitOutputs(index.add(startM, index.add(line, j * kMmaN + next)),
                         index.add(startN, index.add(pair, i * kMmaM)),
                         fromLanes(builder, loc, {piece[next], piece[2 + next]}));
      }
}

void MMAEmitter::addToParts(MatmulTile::RowParts &parts, Value row, Value column, Value values,
                            int64_t j) {
  tile.addToParts(parts, row, column, values);
  int64_t width = contraction.getPartColumns(), end = (j + 1) * kMmaN;
  if (parts.empty() || end % width != 0)
    return;
  Value start = index.add(tile.startN, index.mul(warpColumn, warpN));
  Value isStoring = index.isEqual(index.rem(lane, 4), index.constant(0));
  tile.storeParts(parts, row, index.add(start, end - width), {1, 2}, isStoring);
  parts = tile.startParts();
}

const MMAEmitter::Operand *MMAEmitter::getStagingRoom(int64_t &width) {
  // Of f64, four threads store whole sectors as they are.
  if (isDouble() || contraction.group.results.size() != 1)
    return nullptr;
  Type type = getElementTypeOrSelf(contraction.group.results.front().output.tensor);
  int64_t bytes = getElementBytes(type), chunks = warpN * bytes / kChunkBytes;
  if ((bytes != 2 && bytes != 4) || chunks > 32 || !llvm::isPowerOf2_64(chunks) ||
      tile.getOutputWidth(kChunkBytes / bytes) * bytes != kChunkBytes)
    return nullptr;
  width = kChunkBytes / bytes;
  const Operand &room = operands[config.getTileN() > config.getTileM()];
  int64_t available = config.getStages() * getTileElements(room) * elementBytes;
  return threads / 32 * kMmaM * warpN * bytes <= available ? &room : nullptr;
}

/// Each warp turns 16 rows at a time: a thread holds pairs of many rows, and whole sectors of
/// memory want neighbours in one access. Chunks are permuted as in the operands' tiles.
void MMAEmitter::emitRowOutputs(ArrayRef<Value> sums, const Operand &room, int64_t width) {
  int64_t bytes = kChunkBytes / width, lineBytes = warpN * bytes;
  int64_t chunks = lineBytes / kChunkBytes, keys = std::min<int64_t>(chunks, 8);
  Type type = getElementTypeOrSelf(contraction.group.results.front().output.tensor);
  Value warp = index.div(thread, 32), none = index.constant(0);
  Value group = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  Value startM = index.add(tile.startM, index.mul(warpRow, warpM)),
        startN = index.add(tile.startN, index.mul(warpColumn, warpN));
  Value start = tile.getPointer(room.buffer, none);
  auto locate = [&](Value line, Value number, Value within) -> Value {
    Value row = chunks < 8 ? index.div(line, 8 / chunks) : line;
    // Pairs of four lanes take one chunk, or two.
    Value key = bytes == 2 ? index.rem(row, keys) : index.mul(index.rem(row, keys / 2), 2);
    Value place = index.mul(arith::XOrIOp::create(builder, loc, number, key), kChunkBytes);
    Value first = index.mul(index.add(index.mul(warp, kMmaM), line), lineBytes);
    Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                              index.add(index.add(first, place), within));
    return LLVM::GEPOp::create(builder, loc, start.getType(), builder.getI8Type(), start,
                               ArrayRef<LLVM::GEPArg>{offset});
  };
  auto syncWarp = [&] {
    Value all = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(-1));
    NVVM::SyncWarpOp::create(builder, loc, all);
  };
  // All warps are done with the operands.
  frame.barrier();
  for (int64_t i = 0; i < warpM / kMmaM; ++i) {
    if (i > 0)
      syncWarp();
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      for (int64_t j = 0; j < columns; ++j) {
        Value line = index.add(group, half * 8), column = index.add(pair, j * kMmaN);
        Value m = index.add(startM, index.add(line, i * kMmaM)), n = index.add(startN, column);
        Value accumulators =
            fromLanes(builder, loc, sums.slice((i * columns + j) * 4 + half * 2, 2));
        Value value = tile.emitOutput(m, n, accumulators);
        addToParts(parts, m, n, accumulators, j);
        Value inChunk = index.mul(index.rem(column, width), bytes);
        LLVM::StoreOp::create(builder, loc, value, locate(line, index.div(column, width), inChunk),
                              static_cast<unsigned>(2 * bytes));
      }
    }
    syncWarp();
    for (int64_t first = 0; first < kMmaM; first += 32 / chunks) {
      Value line = index.add(index.div(lane, chunks), first), number = index.rem(lane, chunks);
      Value values = LLVM::LoadOp::create(builder, loc, VectorType::get(width, type),
                                          locate(line, number, none), kChunkBytes);
      tile.storeOutput(index.add(startM, index.add(line, i * kMmaM)),
                       index.add(startN, index.mul(number, width)), values);
    }
  }
}

LogicalResult MMAEmitter::run() {
  frame.setFewestBlocks(1);
  tile.placeAtBlock();
  thread = frame.getThreadId();
  lane = index.rem(thread, 32);
  Value warp = index.div(thread, 32);
  warpRow = index.div(warp, config.getWarpsN());
  warpColumn = index.rem(warp, config.getWarpsN());
  operands.push_back(makeOperand(contraction.a, config.getTileM(), tile.startM));
  operands.push_back(makeOperand(contraction.b, config.getTileN(), tile.startN));

  if (isDouble())
    frame.spreadBlocks(tile.countTiles());
  int64_t ahead = config.getStages() - 1;
  Value steps = tile.getSteps(config.getTileK());
  for (int64_t step = 0; step < ahead; ++step) {
    Value number = index.constant(step);
    for (const Share &share : getCopies())
      startCopy(share, number, steps, number);
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
    finishLoads(startLoads(number, steps), number);
  }
  awaitTile();
  int64_t sumCount = rows * columns * 4;
  SmallVector<Value> carried{index.constant(0)};
  carried.append(sumCount, points.zero(contraction.accumulatorType));
  llvm::append_range(carried, loadFragments(index.constant(0), 0));
  if (isDouble())
    keepLoads();
  carried = points.emitLoop(index.constant(0), steps, index.constant(1), carried,
                            [&](Value step, ValueRange values) {
                              return emitRound(step, steps, SmallVector<Value>(values));
                            });
  // Unrolled by ptxas, a step would keep the addresses in windows of the steps before it.
  if (plan::isWindowReduction(contraction.getOp()))
    keepRolled(carried.front().getDefiningOp<scf::ForOp>());
  // No copy may be under way when the block ends.
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0u);
  ArrayRef<Value> sums = ArrayRef(carried).slice(1, sumCount);
  int64_t width = 1;
  if (const Operand *room = getStagingRoom(width))
    emitRowOutputs(sums, *room, width);
  else
    emitOutputs(sums);
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
