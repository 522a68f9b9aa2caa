//===- MMAEmitter.h - How kernels on mma.sync are emitted ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What EmitMatmulMMA.cpp, MMACopies.cpp and MMAOutputs.cpp share; the first says how the kernel
// works. It is one class of many methods since copies, products and outputs all follow from one
// layout of the tile, which its members say.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MMAEMITTER_H
#define XC_CODEGEN_CUDA_MATMUL_MMAEMITTER_H

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

class MMAEmitter {
public:
  MMAEmitter(const KernelInfo &kernel, const Contraction &contraction, MatmulMMAAttr config)
      : kernel(kernel), contraction(contraction), config(config),
        threads(32 * config.getWarpsM() * config.getWarpsN()), frame(kernel, threads),
        points(frame.points), index(points.index), builder(points.builder), loc(points.loc),
        tile(kernel, contraction, frame, config.getTileM(), config.getTileN()),
        elementType(getElementTypeOrSelf(contraction.a.operand->get())),
        elementBytes(getElementBytes(elementType)), chunk(kChunkBytes / elementBytes),
        mmaK(tile::WarpType::getStep(elementType)), warpM(config.getTileM() / config.getWarpsM()),
        warpN(config.getTileN() / config.getWarpsN()),
        isSwapped(isDouble() && contraction.a.isKContiguous && !contraction.b.isKContiguous),
        isPaired(isDouble() && !(contraction.a.isKContiguous && contraction.b.isKContiguous)),
        rows((isSwapped ? warpN : warpM) / kMmaM), columns((isSwapped ? warpM : warpN) / kMmaN),
        rowType(getWarpType(kMmaM, mmaK, elementType, tile::WarpLayout::First)),
        columnType(getWarpType(mmaK, columns * kMmaN, elementType, tile::WarpLayout::Second)),
        sumType(getWarpType(kMmaM, columns * kMmaN, contraction.accumulatorType,
                            tile::WarpLayout::Accumulator)) {}

  mlir::LogicalResult run();

private:
  static constexpr int64_t kChunkBytes = 16;
  static constexpr int64_t kMmaM = 16, kMmaN = 8;

  /// A line of a tile as a number that differs between threads plus one that is known.
  struct Line {
    mlir::Value base;
    int64_t offset;
  };
  mlir::Value toValue(const Line &line) { return index.add(line.base, line.offset); }
  /// Where this thread's vector, or patch, of a tile begins.
  struct Place {
    Line line;
    mlir::Value along;
  };
  struct Operand {
    const Contraction::Side &side;
    int64_t own;       // extent of the tile along the operand's own dim
    mlir::Value start; // of the tile along it
    bool isAsync = false;
    bool isTurned = false;         // its lines run along k in shared memory, but not in memory
    int64_t width = 1, shares = 1; // vectors, or patches, that a thread moves
    tile::SharedType type = {};
    bool hasLinesAlongK() const { return side.isKContiguous || isTurned; }
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, mlir::Value start);
  tile::Swizzle getSwizzle(const Operand &operand) const;
  Place getPlace(const Operand &operand, int64_t number);
  /// The tile of an operand in one of the `stages` slots.
  mlir::Value getSlot(const Operand &operand, mlir::Value slot);
  /// Those of both.
  llvm::SmallVector<mlir::Value, 2> getSlots(mlir::Value slot);
  mlir::Value getSlotAfter(mlir::Value slot);
  mlir::Value getSlotBefore(mlir::Value slot);

  /// A vector of an operand's tile that a thread moves.
  using Share = std::pair<const Operand *, int64_t>;
  /// All that cp.async moves of one tile of each operand.
  llvm::SmallVector<Share> getCopies();
  void startCopy(const Share &share, mlir::Value step, mlir::Value steps, mlir::Value slot);
  llvm::SmallVector<mlir::Value> startLoads(mlir::Value step, mlir::Value steps);
  void startPatch(const Operand &operand, const Place &place, mlir::Value k0,
                  llvm::SmallVector<mlir::Value> &values);
  void finishLoads(llvm::ArrayRef<mlir::Value> values, mlir::Value slot);
  /// Stores the first of `values` as a patch; returns how many of them that was.
  size_t finishPatch(const Operand &operand, const Place &place, llvm::ArrayRef<mlir::Value> values,
                     mlir::Value slot);

  /// What the loop carries: the tile's slot, the sums by 16 rows, what the tile's first product
  /// takes of both operands, the first one by 16 rows, and copies that are under way, oldest first.
  struct State {
    mlir::Value slot;
    llvm::SmallVector<mlir::Value> sums, rows;
    mlir::Value columns;
    llvm::SmallVector<mlir::Value> tokens;
  };
  llvm::SmallVector<mlir::Value> pack(const State &state) const;
  State unpack(mlir::ValueRange values) const;
  /// Waits for the oldest copies, which fill `slot`; returns the tiles. Products behind it take
  /// rows of f64 that nobody has before.
  llvm::SmallVector<mlir::Value, 2> awaitTile(mlir::Value slot, State &state);

  const Operand &getFirst() const { return operands[isSwapped]; }
  const Operand &getSecond() const { return operands[!isSwapped]; }
  /// Where this warp's part of the first, or second, operand's tile begins along its own dim.
  mlir::Value getFirstStart() {
    return isSwapped ? index.mul(warpColumn, warpN) : index.mul(warpRow, warpM);
  }
  mlir::Value getSecondStart() {
    return isSwapped ? index.mul(warpRow, warpM) : index.mul(warpColumn, warpN);
  }
  bool isDouble() const { return elementBytes == 8; }
  tile::WarpType getWarpType(int64_t warpRows, int64_t warpColumns, mlir::Type element,
                             tile::WarpLayout layout) const {
    return tile::WarpType::get(element.getContext(), warpRows, warpColumns, element, layout,
                               isPaired);
  }
  /// Reads of `tiles`, for the product at `k`, 16 rows of the first operand from row `row` of the
  /// warp's on, or all columns of the second one.
  mlir::Value readRows(mlir::ValueRange tiles, int64_t row, int64_t k);
  mlir::Value readColumns(mlir::ValueRange tiles, int64_t k);
  mlir::Value read(const Operand &operand, mlir::Value tile, mlir::Value own, int64_t k,
                   tile::WarpType type);
  void readAll(State &state, mlir::ValueRange tiles, int64_t k);
  /// Multiplies what `state` has, and reads into it, at `k` of `tiles`, what is multiplied next;
  /// `beforeRow` is called before each 16 rows.
  void multiply(State &state, mlir::ValueRange tiles, int64_t k,
                llvm::function_ref<void()> beforeRow);
  State emitIteration(mlir::Value step, mlir::Value steps, State state);
  /// Those from step `first` up to `end` of all `steps`.
  State emitIterations(mlir::Value first, mlir::Value end, mlir::Value steps, const State &state);
  /// All of them, in parts of `partSteps`, which are added up.
  State emitParts(int64_t partSteps, mlir::Value steps, const State &state);
  /// Starts the first copies, waits for the first tile and reads what its first product takes.
  State begin(mlir::Value steps);

  /// The two neighbours of product j of a row of the sums that are in half `half` of its rows.
  mlir::Value getPair(mlir::Value sums, int64_t j, int64_t half);
  void emitOutputs(llvm::ArrayRef<mlir::Value> sums);
  /// The same where B is the first operand.
  void emitSwappedOutputs(llvm::ArrayRef<mlir::Value> sums);
  /// Adds the pairs `values` of product j of a row of them to the parts of row `row`; a part that
  /// is complete is stored.
  void addToParts(MatmulTile::RowParts &parts, mlir::Value row, mlir::Value column,
                  mlir::Value values, int64_t j);
  /// Reduces the columns in parts, each of which one warp has all rows of.
  void emitColumnParts(llvm::ArrayRef<mlir::Value> sums);
  /// The operand in whose place outputs can pass through on their way to memory, so that threads
  /// store vectors of `width` of them; nothing if they store what they hold.
  std::optional<int64_t> getStagingRoom(int64_t &width);
  void emitRowOutputs(llvm::ArrayRef<mlir::Value> sums, int64_t room, int64_t width);

  const KernelInfo &kernel;
  const Contraction &contraction;
  MatmulMMAAttr config;
  int64_t threads;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  MatmulTile tile;
  mlir::Type elementType;
  int64_t elementBytes;
  int64_t chunk;         // elements in 16 bytes
  int64_t mmaK;          // values of k in one product
  int64_t warpM, warpN;  // extents of one warp's part of the tile
  bool isSwapped;        // B is the instructions' first operand
  bool isPaired;         // of f64, lanes read neighbours together: see !tile.warp
  int64_t rows, columns; // of a warp's instructions: 16 of the first operand, 8 of the second
  tile::WarpType rowType, columnType, sumType; // of 16 rows, and of all columns
  mlir::Value warpRow, warpColumn;
  mlir::Value pairRow, pairColumn; // of a thread's first sums
  mlir::Value ring;
  llvm::SmallVector<Operand, 2> operands;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MMAEMITTER_H
