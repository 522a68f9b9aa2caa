//===- DecodeQueries.cpp - Queries of attention of few queries ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread multiplies the same words of the queries at every step: it holds them in registers,
// or takes them from shared memory, where that lets more warps run (DecodeModel.h). There they lie
// so that `ldmatrix` gives thread t of row g its words of the 16 bytes t of a step: word w of them
// is element t of line (g, step, w).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeEmitter.h"
#include "compiler/Codegen/CUDA/Attention/DecodeModel.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Words of the 64 bytes of a step; those that keep neighbouring rows in different banks.
static constexpr int64_t kStepWords = 16, kRowPadding = 4, kWordBytes = 4;

DecodeEmitter::Values DecodeEmitter::splitWords(Value loaded) {
  auto words = VectorType::get(kDecodeChunkWords, builder.getI32Type());
  Value cast = vector::BitCastOp::create(builder, loc, words, splatTo(builder, loc, loaded, chunk));
  return llvm::map_to_vector(llvm::seq<int64_t>(0, kDecodeChunkWords),
                             [&](int64_t word) { return getLane(builder, loc, cast, word); });
}

/// Row g, and row g + 8, of the block's queries: the 16 bytes t, t + 4, ... of each. What is no
/// query, or behind the vector's end, is 0.
void DecodeEmitter::loadQueries() {
  bool isFull = rows % blockRows == 0;
  for (int64_t half = 0; half < halves; ++half) {
    Value number = index.add(index.add(firstRow, quad), half * 8);
    Value isRow = isFull ? Value() : index.isLess(number, index.constant(rows));
    Row row = makeRow(isFull ? number : index.min(number, index.constant(rows - 1)));
    Values &words = queryWords.emplace_back();
    for (int64_t step = 0; step < keySteps; ++step) {
      Value place = index.add(inQuad, step * 4);
      Value isThere = isRow;
      if ((step + 1) * keyStep > vector)
        isThere = index.both(isThere,
                             index.isLess(place, index.constant(llvm::divideCeil(vector, chunk))));
      Point point;
      for (Value position : placeOf(row))
        point.coords.push_back(Coord::uniform(position));
      point.coords.push_back(Coord::consecutive(placeChunk(place, vector)));
      point.lanes = chunk;
      point.mask = isThere;
      Values loaded = splitWords(points.emit(op.getQuery(), point));
      if ((step + 1) * keyStep > vector)
        clearOverlap(loaded, place);
      llvm::append_range(words, loaded);
    }
  }
}

/// Zeros in the place of those elements of the last 16 bytes that the ones before have, too.
void DecodeEmitter::clearOverlap(Values &words, Value place) {
  int64_t twice = static_cast<int64_t>(llvm::alignTo(vector, chunk)) - vector;
  if (twice == 0)
    return;
  Value isLast = index.isEqual(place, index.constant(vector / chunk));
  Value zero = points.zero(builder.getI32Type());
  for (Value &word : MutableArrayRef(words).take_front(twice * kDecodeChunkWords / chunk))
    word = math.select(isLast, zero, word);
}

/// Words from a row of queries in shared memory to the next.
static int64_t getRowWords(int64_t steps) {
  return static_cast<int64_t>(llvm::alignTo(steps * kStepWords, 2 * kStepWords)) + kRowPadding;
}

int64_t getQueryBytes(const DecodeSizes &sizes) {
  auto steps = static_cast<int64_t>(
      llvm::divideCeil(sizes.vector * sizes.elementBytes, kStepWords * kWordBytes));
  return sizes.blockRows * getRowWords(steps) * kWordBytes;
}

/// The first warp stores what each holds.
void DecodeEmitter::shareQueries() {
  int64_t rowWords = getRowWords(keySteps);
  queryBuffer = frame.allocateShared(builder.getI32Type(), halves * 8 * rowWords);
  points.emitIf(index.isEqual(warp, index.constant(0)), [&] {
    for (auto [half, words] : llvm::enumerate(queryWords)) {
      Value row = index.mul(index.add(quad, static_cast<int64_t>(half) * 8), rowWords);
      for (auto [line, word] : llvm::enumerate(words))
        memref::StoreOp::create(
            builder, loc, word, queryBuffer,
            index.add(index.add(row, inQuad), static_cast<int64_t>(line) * kDecodeChunkWords));
    }
  });
  frame.barrier();
}

/// The queries' 16 bytes `step` of this thread, in words: of each half of the rows.
SmallVector<DecodeEmitter::Values> DecodeEmitter::getQueryWords(int64_t step) {
  SmallVector<Values> found;
  if (!queryBuffer) {
    for (const Values &words : queryWords)
      found.emplace_back(ArrayRef(words).slice(step * kDecodeChunkWords, kDecodeChunkWords));
    return found;
  }
  // Lane l gives the address of line l / 8 of row l % 8.
  Value own = index.add(index.mul(index.rem(lane, 8), getRowWords(keySteps)),
                        index.mul(index.div(lane, 8), kDecodeChunkWords));
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32, i32, i32});
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(), /*addressSpace=*/3);
  Value base = UnrealizedConversionCastOp::create(builder, loc, TypeRange(pointerType), queryBuffer)
                   .getResult(0);
  for (int64_t half = 0; half < halves; ++half) {
    Value place = index.add(own, half * 8 * getRowWords(keySteps) + step * kStepWords);
    Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), place);
    Value pointer =
        LLVM::GEPOp::create(builder, loc, pointerType, i32, base, ArrayRef<LLVM::GEPArg>{offset});
    Value matrices = NVVM::LdMatrixOp::create(builder, loc, type, pointer, 4, NVVM::MMALayout::row,
                                              shape, NVVM::LdStMatrixEltType::B16);
    Values &words = found.emplace_back();
    for (int64_t i = 0; i < kDecodeChunkWords; ++i)
      words.push_back(LLVM::ExtractValueOp::create(builder, loc, matrices, i));
  }
  return found;
}

} // namespace xc::cuda
