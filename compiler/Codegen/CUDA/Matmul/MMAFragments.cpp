//===- MMAFragments.cpp - Operands on their way to the tensor cores -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fragments of f64 are one element of each thread to a register pair, and an instruction's operands
// are neighbouring registers: threads load 16 bytes where two neighbours are neighbours there, too.
// They are along k in the second operand, and along rows in the first one. So the first operand is
// that of A and B whose lines do not run along k, if there is one: then the fragments' row r of
// half h stands for row 2 r + h of 16, and in both operands k = 2 t + h stands where the
// instruction has t + 4 h. Where an operand's lines run the wrong way, threads load single
// elements. cp.async copies f64 that are not 16-byte aligned one by one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

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
  Value buffer = getBuffer(operand, slot);
  SmallVector<Value> values;
  // The addresses of copies of single elements leave too few registers for whole chunks: tiles of
  // 128 x 64 in four warps would spill.
  int64_t together = operand.width == 1 ? 1 : count;
  Type type = together == 1 ? elementType : VectorType::get(together, elementType);
  for (int64_t first = 0; first < count; first += together) {
    Value pointer = offsetBy(tile.getPointer(operand.buffer, index.add(place, first)), buffer);
    Value loaded = LLVM::LoadOp::create(builder, loc, type, pointer,
                                        static_cast<unsigned>(together * elementBytes));
    for (int64_t i = 0; i < together; ++i)
      values.push_back(getLane(builder, loc, loaded, i));
  }
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

/// What is loaded at the end of an iteration, and in front of the first one, would become loads at
/// the beginning of each.
void MMAEmitter::keepLoads() {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), ValueRange(), "", "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr());
}

} // namespace xc::cuda
