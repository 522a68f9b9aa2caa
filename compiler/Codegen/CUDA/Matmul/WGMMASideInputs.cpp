//===- WGMMASideInputs.cpp - A residual on its way to the outputs ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each output has an element of, a residual say, would be loaded by the threads that hold the
// sums: four of them have 16 bytes of a row, and a load of a warp looks at eight lines of the
// cache. That takes longer than the bytes do, and the products wait meanwhile. So it comes through
// the ring, as further steps of the tile whose slots of operand A hold columns of it:
//
//   step 0 .. last        operand A, operand B
//   one for each tile_k columns of the tile, of each input:  its rows there
//
// Its boxes are under way beside the last products. A step's columns are what `stmatrix` stages of
// the outputs, so `ldmatrix` gives each thread what it needs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
#include "compiler/Codegen/CUDA/Matmul/SideInputs.h"
#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace xc::cuda {

using Group = TiledAccess::Group;

/// Words that a thread has of 64 rows by 8 columns: a pair in each of two rows.
static constexpr int64_t kWordsPerColumns = 2;

int64_t WGMMAEmitter::countSideStages(int64_t columns) const {
  return static_cast<int64_t>(sideInputs.size()) *
         llvm::divideCeil(columns, getSideType().getColumns());
}

/// Those of the same type as operand A, where the slots of that hold rows of the tile, and the
/// outputs are staged.
void WGMMAEmitter::addSideInputs() {
  tile::SharedType type = getSideType();
  bool hasTail = ownColumns % type.getColumns() != 0;
  if (!output || !operands[0].runsAlongK() || hasLoadingThreads() || type.getElementBytes() != 2 ||
      type.getRows() != config.getTileM() || type.getTailColumns() != 0 ||
      (hasTail && type.getPanels() > 1))
    return;
  const ReductionGroup &group = contraction.group;
  int64_t staged = cast<tile::SharedType>(staging.getType()).getColumns();
  for (const ReductionGroup::Input &input : group.reducedInputs) {
    std::optional<TiledAccess> access = matchSideInput(contraction, input, knownSizes);
    if (!access)
      continue;
    int64_t rows = operands[0].rows * operands[0].sharers;
    sideInputs.push_back({input, *access});
    // What is waited for together must be in the ring together: where blocks share a sum, all that
    // a block has, since they meet before it leaves, and the warpgroup that fetches is among them.
    int64_t columns = config.getPingPong() || config.getSplit() > 1 ? ownColumns : staged;
    if (countSideStages(columns) > getSideStages(config.getStages(), config.getPingPong())) {
      sideInputs.pop_back();
      return;
    }
    auto makeBoxes = [&, access = *access](int64_t width) {
      return makeMap(access, type, /*isOperand=*/false,
                     [&](Group dim) { return dim == Group::N ? width : rows; });
    };
    if (ownColumns >= type.getColumns())
      sideInputs.back().map = makeBoxes(type.getPanelColumns());
    // Other blocks may store results where the columns behind this one's are.
    if (int64_t tail = ownColumns % type.getColumns())
      sideInputs.back().tailMap = makeBoxes(tail);
  }
}

int64_t WGMMAEmitter::getSideColumns(int64_t column) const {
  return std::min(getSideType().getColumns(), ownColumns - column);
}

/// All inputs of some columns, then those of the next ones.
RingState WGMMAEmitter::fetchSideInputs(RingState state) {
  tile::SharedType type = getSideType();
  int64_t rows = operands[0].rows * operands[0].sharers;
  Value start =
      config.getSplit() > 1 ? index.add(tile.startN, index.mul(rank, ownColumns)) : tile.startN;
  for (int64_t column = 0; column < ownColumns; column += type.getColumns()) {
    int64_t columns = getSideColumns(column);
    for (const SideInput &side : sideInputs) {
      tile::WaitEmptyOp::create(builder, loc, ring, state.stage, state.phase);
      tile::PublishOp::create(builder, loc, ring, state.stage,
                              rows * columns * type.getElementBytes());
      Value slot = tile::SlotOp::create(builder, loc, type, ring, state.stage, /*tile=*/0);
      SmallVector<Value> coords = getCoords(side.access, {}, [&](Group group) {
        return group == Group::N ? index.add(start, column) : tile.startM;
      });
      bool isWhole = columns == type.getColumns();
      tile::LoadOp::create(builder, loc, isWhole ? side.map : side.tailMap, coords, ValueRange(),
                           slot, ring, state.stage,
                           isWhole ? IntegerAttr() : builder.getI64IntegerAttr(0));
      state = advance(state);
    }
  }
  return state;
}

RingState WGMMAEmitter::placeSideInputs(RingState state) {
  sideStages.clear();
  for (int64_t stage = 0; stage < countSideStages(ownColumns); ++stage) {
    sideStages.push_back(state);
    state = advance(state);
  }
  return state;
}

void WGMMAEmitter::awaitSideInputs(int64_t first, int64_t columns) {
  int64_t width = getSideType().getColumns();
  for (auto [number, state] : llvm::enumerate(sideStages)) {
    auto column = static_cast<int64_t>(number / sideInputs.size()) * width;
    if (first <= column && column < first + columns)
      tile::WaitFullOp::create(builder, loc, ring, state.stage, state.phase);
  }
}

void WGMMAEmitter::readSideInputs(Value row, int64_t column) {
  tile::SharedType type = getSideType();
  int64_t columns = getSideColumns(column / type.getColumns() * type.getColumns());
  SmallVector<Type> words(columns / 8 * kWordsPerColumns, builder.getI32Type());
  sideWords.clear();
  for (size_t number = 0; number < sideInputs.size(); ++number) {
    size_t stage = column / type.getColumns() * sideInputs.size() + number;
    Value slot =
        tile::SlotOp::create(builder, loc, type, ring, sideStages[stage].stage, /*tile=*/0);
    auto read = tile::ReadWordsOp::create(builder, loc, words, slot, row);
    llvm::append_range(sideWords, read.getWords());
  }
}

void WGMMAEmitter::provideSideInputs(int64_t column, int64_t half) {
  tile::SharedType type = getSideType();
  int64_t place = column % type.getColumns() / 8 * kWordsPerColumns + half;
  for (auto [number, side] : llvm::enumerate(sideInputs)) {
    size_t word = sideWords.size() / sideInputs.size() * number + place;
    Value pair = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, type.getElementType()),
                                         sideWords[word]);
    points.provide(side.input.tensor, [pair](const Point &) { return pair; });
  }
}

/// A stage may be in several parts of the columns: the last of these is done with it.
void WGMMAEmitter::releaseSideInputs(int64_t first, int64_t columns) {
  int64_t width = getSideType().getColumns();
  for (auto [number, state] : llvm::enumerate(sideStages)) {
    auto column = static_cast<int64_t>(number / sideInputs.size()) * width;
    int64_t end = std::min(column + width, ownColumns);
    if (first < end && end <= first + columns)
      release(state.stage, Value());
  }
}

} // namespace xc::cuda
