//===- EmitMatmulMMA.cpp - Matrix products on mma.sync --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 and bf16 operands, f32 accumulators. With S = `stages` buffers of each operand's tile in
// shared memory:
//
//   start the copies of tiles 0 .. S - 2
//   for step = 0 .. steps - 1:
//     wait until tile `step` has arrived; barrier         // also: all are done with tile step - 1
//     start the copy of tile step + S - 1                 // into the buffer of tile step - 1
//     for each 16 of k: ldmatrix fragments of A and B, mma.sync
//   compute and store the outputs
//
// A tile is copied by cp.async where the operand is memory whose rows are 16-byte aligned. Where it
// is computed by fused ops, or has other strides, threads load its elements into registers before
// the products and store them to shared memory after: the loads are under way meanwhile.
//
// Tiles keep the operand's own order. Lines are k values (8 at a time: a chunk of 16 bytes) of one
// row of A or column of B, or the other way round; ldmatrix turns the latter around (.trans). The
// chunks of a line are permuted by an exclusive or with the line's number, so that the 8 lines of a
// matrix that ldmatrix reads lie in different banks.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
#include "compiler/Codegen/CUDA/Emit/MatmulTile.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

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

static constexpr int64_t kChunk = 8; // 16-bit elements in 16 bytes
static constexpr int64_t kMmaM = 16, kMmaN = 8, kMmaK = 16;

namespace {

class MMAEmitter {
public:
  MMAEmitter(const KernelInfo &kernel, const Contraction &contraction, MatmulMMAAttr config)
      : contraction(contraction), config(config),
        threads(32 * config.getWarpsM() * config.getWarpsN()), frame(kernel, threads),
        points(frame.points), index(points.index), builder(points.builder), loc(points.loc),
        tile(kernel, contraction, frame, config.getTileM(), config.getTileN()),
        elementType(getElementTypeOrSelf(contraction.a.operand->get())),
        warpM(config.getTileM() / config.getWarpsM()),
        warpN(config.getTileN() / config.getWarpsN()) {}

  LogicalResult run();

private:
  struct Operand {
    const Contraction::Side &side;
    int64_t own; // extent of the tile along the operand's own dim
    Value start; // of the tile along it
    bool isAsync = false;
    int64_t width = kChunk, rounds = 1;
    Value buffer = {};
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, Value start);
  int64_t getLineLength(const Operand &operand) const {
    return operand.side.isKContiguous ? config.getTileK() : operand.own;
  }
  int64_t getTileElements(const Operand &operand) const { return operand.own * config.getTileK(); }
  /// The element of the tile where chunk `chunk` of line `line` lies.
  Value getPlace(const Operand &operand, Value line, Value chunk);
  /// Line and first element in it of this thread's vector `round`.
  std::pair<Value, Value> getShare(const Operand &operand, int64_t round);

  void startCopies(Value step, Value steps);
  SmallVector<Value> startLoads(Value step, Value steps);
  void finishLoads(ArrayRef<Value> values, Value step);
  Value getBuffer(const Operand &operand, Value step);

  Value getPointer(Value memory, Value element);
  /// Four 8x8 matrices: rows `own` (16 of A, or 16 columns of B) by 16 values of k.
  SmallVector<Value> loadFragment(const Operand &operand, Value buffer, Value own, int64_t k,
                                  bool isA);
  SmallVector<Value> multiply(Value step, ArrayRef<Value> sums);
  void emitOutputs(ArrayRef<Value> sums);

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
  int64_t warpM, warpN; // extents of one warp's part of the tile
  Value thread, lane, warpRow, warpColumn;
  SmallVector<Operand, 2> operands;
};

} // namespace

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

MMAEmitter::Operand MMAEmitter::makeOperand(const Contraction::Side &side, int64_t own,
                                            Value start) {
  Operand operand{side, own, start};
  plan::BindingOp binding = getSourceBinding(side.operand->get());
  operand.width = tile.getVectorWidth(side, kChunk);
  operand.isAsync = binding && operand.width == kChunk && binding.getAlignment() >= 16;
  operand.rounds = getTileElements(operand) / (threads * operand.width);
  operand.buffer = frame.allocateShared(elementType, config.getStages() * getTileElements(operand));
  return operand;
}

Value MMAEmitter::getPlace(const Operand &operand, Value line, Value chunk) {
  int64_t chunks = getLineLength(operand) / kChunk;
  // Lines shorter than 128 bytes share the banks of one 128-byte row with their neighbours.
  Value row = chunks < 8 ? index.div(line, 8 / chunks) : line;
  Value key = index.rem(row, std::min<int64_t>(chunks, 8));
  Value permuted = arith::XOrIOp::create(builder, loc, chunk, key);
  return index.add(index.mul(line, getLineLength(operand)), index.mul(permuted, kChunk));
}

std::pair<Value, Value> MMAEmitter::getShare(const Operand &operand, int64_t round) {
  int64_t perLine = getLineLength(operand) / operand.width;
  Value number = index.add(thread, round * threads);
  return {index.div(number, perLine), index.mul(index.rem(number, perLine), operand.width)};
}

Value MMAEmitter::getBuffer(const Operand &operand, Value step) {
  return index.mul(index.rem(step, config.getStages()), getTileElements(operand));
}

Value MMAEmitter::getPointer(Value memory, Value element) {
  auto type = cast<MemRefType>(memory.getType());
  unsigned space = type.getMemorySpace() ? 3 : 1;
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(), space);
  // Folds away when memrefs become pointers.
  Value base =
      UnrealizedConversionCastOp::create(builder, loc, TypeRange(pointerType), memory).getResult(0);
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), element);
  return LLVM::GEPOp::create(builder, loc, pointerType, type.getElementType(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void MMAEmitter::startCopies(Value step, Value steps) {
  // Past the last step nothing is read, but the buffers are filled with zeros all the same: the
  // number of groups under way stays equal.
  Value k0 = index.mul(step, config.getTileK());
  for (const Operand &operand : operands) {
    if (!operand.isAsync)
      continue;
    Value buffer = getBuffer(operand, step);
    for (int64_t round = 0; round < operand.rounds; ++round) {
      auto [line, along] = getShare(operand, round);
      Value to = index.add(buffer, getPlace(operand, line, index.div(along, kChunk)));
      Value own = index.add(operand.start, operand.side.isKContiguous ? line : along);
      Value k = index.add(k0, operand.side.isKContiguous ? along : line);
      Value inside =
          index.both(index.isLess(step, steps),
                     tile.isInside(operand.side, own, k, operand.own, config.getTileK()));
      Value from = tile.getPosition(operand.side, own, k);
      Value zero = index.constant(0);
      Value safe = arith::SelectOp::create(builder, loc, inside, from, zero);
      Value bytes = arith::SelectOp::create(builder, loc, inside,
                                            points.constant(builder.getI32IntegerAttr(16)),
                                            points.constant(builder.getI32IntegerAttr(0)));
      Value memory = points.getMemory(getSourceBinding(operand.side.operand->get()));
      NVVM::CpAsyncOp::create(builder, loc, getPointer(operand.buffer, to),
                              getPointer(memory, safe), 16, NVVM::LoadCacheModifierKind::CG, bytes);
    }
  }
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

SmallVector<Value> MMAEmitter::startLoads(Value step, Value steps) {
  if (llvm::all_of(operands, [](const Operand &operand) { return operand.isAsync; }))
    return {};
  Value k0 = index.mul(step, config.getTileK());
  return points.emitIfOrZeros(index.isLess(step, steps), [&] {
    SmallVector<Value> values;
    for (const Operand &operand : operands)
      for (int64_t round = 0; !operand.isAsync && round < operand.rounds; ++round) {
        auto [line, along] = getShare(operand, round);
        Value own = index.add(operand.start, operand.side.isKContiguous ? line : along);
        Value k = index.add(k0, operand.side.isKContiguous ? along : line);
        Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
        values.push_back(
            tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
      }
    return values;
  });
}

void MMAEmitter::finishLoads(ArrayRef<Value> values, Value step) {
  for (const Operand &operand : operands)
    for (int64_t round = 0; !operand.isAsync && round < operand.rounds; ++round) {
      auto [line, along] = getShare(operand, round);
      Value chunk = index.div(along, kChunk), within = index.rem(along, kChunk);
      Value to =
          index.add(index.add(getBuffer(operand, step), getPlace(operand, line, chunk)), within);
      if (operand.width == 1)
        memref::StoreOp::create(builder, loc, values.front(), operand.buffer, to);
      else
        vector::StoreOp::create(builder, loc, values.front(), operand.buffer, to,
                                /*nontemporal=*/false, llvm::MaybeAlign(operand.width * 2));
      values = values.drop_front();
    }
}

//===----------------------------------------------------------------------===//
// From shared memory to the products
//===----------------------------------------------------------------------===//

SmallVector<Value> MMAEmitter::loadFragment(const Operand &operand, Value buffer, Value own,
                                            int64_t k, bool isA) {
  // Lane l gives the address of line l % 8 of matrix l / 8. Of A, matrices 1 and 3 are the lower
  // rows and 2 and 3 the later k; of B, matrices 2 and 3 are the later columns and 1 and 3 the
  // later k.
  Value line8 = index.rem(lane, 8), bit3 = index.rem(index.div(lane, 8), 2),
        bit4 = index.div(lane, 16);
  Value ownHalf = isA ? bit3 : bit4, kHalf = isA ? bit4 : bit3;
  Value line, chunk;
  if (operand.side.isKContiguous) {
    line = index.add(own, index.add(line8, index.mul(ownHalf, kChunk)));
    chunk = index.add(kHalf, k / kChunk);
  } else {
    line = index.add(index.add(line8, index.mul(kHalf, kChunk)), k);
    chunk = index.add(index.div(own, kChunk), ownHalf);
  }
  Value pointer = getPointer(operand.buffer, index.add(buffer, getPlace(operand, line, chunk)));
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32, i32, i32});
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  auto layout = operand.side.isKContiguous ? NVVM::MMALayout::row : NVVM::MMALayout::col;
  Value matrices = NVVM::LdMatrixOp::create(builder, loc, type, pointer, 4, layout, shape,
                                            NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(builder, loc, matrices, i));
  return words;
}

SmallVector<Value> MMAEmitter::multiply(Value step, ArrayRef<Value> carried) {
  SmallVector<Value> sums(carried);
  int64_t rows = warpM / kMmaM, columns = warpN / kMmaN;
  Type f32 = builder.getF32Type();
  bool isHalf = elementType.isF16();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {f32, f32, f32, f32});
  Type pair = VectorType::get(2, builder.getF16Type());
  // f16 fragments are pairs to the op, bf16 ones are words.
  auto toFactor = [&](Value word) -> Value {
    return isHalf ? LLVM::BitcastOp::create(builder, loc, pair, word).getResult() : word;
  };
  Value bufferA = getBuffer(operands[0], step), bufferB = getBuffer(operands[1], step);
  for (int64_t k = 0; k < config.getTileK(); k += kMmaK) {
    SmallVector<SmallVector<Value>> a, b;
    for (int64_t i = 0; i < rows; ++i)
      a.push_back(llvm::map_to_vector(loadFragment(operands[0], bufferA,
                                                   index.add(index.mul(warpRow, warpM), i * kMmaM),
                                                   k, true),
                                      toFactor));
    for (int64_t j = 0; j < columns; j += 2) {
      SmallVector<Value> words = llvm::map_to_vector(
          loadFragment(operands[1], bufferB, index.add(index.mul(warpColumn, warpN), j * kMmaN), k,
                       false),
          toFactor);
      b.push_back({words[0], words[1]});
      b.push_back({words[2], words[3]});
    }
    auto factorType = isHalf ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        MutableArrayRef<Value> sum = MutableArrayRef(sums).slice((i * columns + j) * 4, 4);
        Value result = NVVM::MmaOp::create(builder, loc, type, a[i], b[j], ValueRange(sum),
                                           {kMmaM, kMmaN, kMmaK}, std::nullopt, std::nullopt,
                                           std::array{factorType, factorType},
                                           std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (int64_t part = 0; part < 4; ++part)
          sum[part] = LLVM::ExtractValueOp::create(builder, loc, result, part);
      }
  }
  return sums;
}

void MMAEmitter::emitOutputs(ArrayRef<Value> sums) {
  int64_t rows = warpM / kMmaM, columns = warpN / kMmaN;
  Value group = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t j = 0; j < columns; ++j) {
        Value row = index.add(index.add(tile.startM, index.mul(warpRow, warpM)),
                              index.add(group, i * kMmaM + half * 8));
        Value column = index.add(index.add(tile.startN, index.mul(warpColumn, warpN)),
                                 index.add(pair, j * kMmaN));
        ArrayRef<Value> values = sums.slice((i * columns + j) * 4 + half * 2, 2);
        tile.emitOutputs(row, column, fromLanes(builder, loc, values));
      }
}

LogicalResult MMAEmitter::run() {
  thread = frame.getThreadId();
  lane = index.rem(thread, 32);
  Value warp = index.div(thread, 32);
  warpRow = index.div(warp, config.getWarpsN());
  warpColumn = index.rem(warp, config.getWarpsN());
  operands.push_back(makeOperand(contraction.a, config.getTileM(), tile.startM));
  operands.push_back(makeOperand(contraction.b, config.getTileN(), tile.startN));

  int64_t ahead = config.getStages() - 1;
  Value steps = index.ceilDiv(tile.sizeK, index.constant(config.getTileK()));
  for (int64_t step = 0; step < ahead; ++step) {
    Value number = index.constant(step);
    startCopies(number, steps);
    finishLoads(startLoads(number, steps), number);
  }
  SmallVector<Value> sums(warpM / kMmaM * (warpN / kMmaN) * 4, points.zero(builder.getF32Type()));
  sums = points.emitLoop(
      index.constant(0), steps, index.constant(1), sums, [&](Value step, ValueRange carried) {
        NVVM::CpAsyncWaitGroupOp::create(builder, loc, static_cast<uint32_t>(ahead - 1));
        frame.barrier();
        Value next = index.add(step, ahead);
        startCopies(next, steps);
        SmallVector<Value> loaded = startLoads(next, steps);
        SmallVector<Value> result = multiply(step, SmallVector<Value>(carried));
        finishLoads(loaded, next);
        return result;
      });
  // No copy may be under way when the block ends.
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0u);
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
    std::string reason;
    FailureOr<Contraction> contraction = matchContraction(*kernel, reason);
    if (failed(contraction)) {
      getOperation().emitOpError("expected a matrix product for ") << config << ": " << reason;
      return signalPassFailure();
    }
    if (!kernel->target->hasMMA16816 || !contraction->hasHalfOperands()) {
      getOperation().emitOpError(
          "expected f16 or bf16 operands with f32 sums and sm_80 or later for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    if (failed(MMAEmitter(*kernel, *contraction, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
