//===- MMAEmitter.h - How kernels on mma.sync are emitted ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What EmitMatmulMMA.cpp, MMACopies.cpp, MMAFragments.cpp and MMAOutputs.cpp share; the first says
// how the kernel works. It is one class of many methods since copies, fragments and outputs all
// follow from one layout of the tile, which its members say.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MMAEMITTER_H
#define XC_CODEGEN_CUDA_MATMUL_MMAEMITTER_H

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"

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
        mmaK(elementBytes == 8 ? kDoubleK : kMmaKBytes / elementBytes),
        warpM(config.getTileM() / config.getWarpsM()),
        warpN(config.getTileN() / config.getWarpsN()),
        isSwapped(isDouble() && contraction.a.isKContiguous && !contraction.b.isKContiguous),
        isPaired(!contraction.a.isKContiguous || !contraction.b.isKContiguous),
        rows((isSwapped ? warpN : warpM) / kMmaM), columns((isSwapped ? warpM : warpN) / kMmaN) {}

  mlir::LogicalResult run();

private:
  static constexpr int64_t kChunkBytes = 16;
  static constexpr int64_t kMmaM = 16, kMmaN = 8, kMmaKBytes = 32, kDoubleK = 8;
  /// Bytes are transposed in squares of this side.
  static constexpr int64_t kPatch = 4;

  struct Operand {
    const Contraction::Side &side;
    int64_t own;       // extent of the tile along the operand's own dim
    mlir::Value start; // of the tile along it
    bool isAsync = false;
    bool isTurned = false; // its lines run along k in shared memory, but not in memory
    int64_t width = 1, iterations = 1;
    mlir::Value buffer = {};
    bool hasLinesAlongK() const { return side.isKContiguous || isTurned; }
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, mlir::Value start);
  int64_t getLineLength(const Operand &operand) const {
    return operand.hasLinesAlongK() ? config.getTileK() : operand.own;
  }
  int64_t getTileElements(const Operand &operand) const { return operand.own * config.getTileK(); }
  /// A line of a tile as a number that threads compute plus one that is known: addresses of lines
  /// that differ in the latter alone differ by an immediate.
  struct Line {
    mlir::Value base;
    int64_t offset;
  };
  mlir::Value toValue(const Line &line) { return index.add(line.base, line.offset); }
  /// The element of the tile where chunk `number` of line `line` begins.
  mlir::Value getPlace(const Operand &operand, const Line &line, mlir::Value number);
  /// Line and first element in it of this thread's vector `iteration`.
  std::pair<Line, mlir::Value> getShare(const Operand &operand, int64_t iteration);
  /// Where in a transposed operand's tile this thread's patch `iteration` begins: along its own
  /// dim, and along k.
  std::pair<mlir::Value, mlir::Value> getPatch(const Operand &operand, int64_t iteration);

  /// A vector of an operand's tile that a thread moves.
  using Share = std::pair<const Operand *, int64_t>;
  /// All that cp.async moves of one tile of each operand.
  llvm::SmallVector<Share> getCopies();
  void startCopy(const Share &share, mlir::Value step, mlir::Value steps, mlir::Value slot);
  llvm::SmallVector<mlir::Value> startLoads(mlir::Value step, mlir::Value steps);
  void startPatch(const Operand &operand, int64_t iteration, mlir::Value k0,
                  llvm::SmallVector<mlir::Value> &values);
  void finishLoads(llvm::ArrayRef<mlir::Value> values, mlir::Value slot);
  /// Stores the first of `values` as patch `iteration`; returns how many of them that was.
  size_t finishPatch(const Operand &operand, int64_t iteration, llvm::ArrayRef<mlir::Value> values,
                     mlir::Value slot);
  void store(const Operand &operand, const Line &line, mlir::Value along, mlir::Value slot,
             mlir::Value values);
  /// The bits of an f32 that is rounded to TF32; of each lane, if there are several.
  mlir::Value roundToTF32(mlir::Value value);
  /// Waits for the oldest but `stages` - 2 of the copies that were started, in all threads.
  void awaitTile();
  /// Where the tile in one of the `stages` slots begins.
  mlir::Value getBuffer(const Operand &operand, mlir::Value slot);
  mlir::Value getSlotAfter(mlir::Value slot);
  mlir::Value getSlotBefore(mlir::Value slot);

  llvm::SmallVector<mlir::Value> loadWords(const Operand &operand, mlir::Value buffer, Line own,
                                           int64_t k, bool isA);
  /// The operands of f64 products: 16 rows of the first operand by k, or 8 columns of the second.
  llvm::SmallVector<mlir::Value> loadDoubleRows(mlir::Value slot, int64_t row, int64_t k);
  llvm::SmallVector<mlir::Value> loadDoubleColumns(mlir::Value slot, int64_t column, int64_t k);
  /// `count` neighbours from element `place` of the operand's tile in `slot` on.
  llvm::SmallVector<mlir::Value> loadNeighbours(const Operand &operand, mlir::Value slot,
                                                mlir::Value place, int64_t count);
  const Operand &getFirst() const { return operands[isSwapped]; }
  const Operand &getSecond() const { return operands[!isSwapped]; }
  /// Where this warp's part of the first, or second, operand's tile begins along its own dim.
  mlir::Value getFirstStart() {
    return isSwapped ? index.mul(warpColumn, warpN) : index.mul(warpRow, warpM);
  }
  mlir::Value getSecondStart() {
    return isSwapped ? index.mul(warpRow, warpM) : index.mul(warpColumn, warpN);
  }
  /// The address of the element that is `elements` further on.
  mlir::Value offsetBy(mlir::Value pointer, mlir::Value elements);
  bool needsWordLoads(const Operand &operand) const {
    return elementBytes == 4 && !operand.side.isKContiguous;
  }
  bool isDouble() const { return elementBytes == 8; }
  /// Four words of each thread: rows `own` (16 of A, or 16 columns of B) by the k of one product.
  llvm::SmallVector<mlir::Value> loadFragment(const Operand &operand, mlir::Value buffer, Line own,
                                              int64_t k, bool isA);
  /// The fragments of both operands for the product at k of the tile in `slot`: of A, then of B.
  llvm::SmallVector<mlir::Value> loadFragments(mlir::Value slot, int64_t k);
  /// Adds to `sums` the products of `fragments`; `beforeRow` is called before each row of them.
  llvm::SmallVector<mlir::Value> multiply(llvm::ArrayRef<mlir::Value> fragments,
                                          llvm::ArrayRef<mlir::Value> sums,
                                          llvm::function_ref<void(int64_t)> beforeRow);
  /// Adds to the four `sums` of one piece the products of its fragments.
  llvm::SmallVector<mlir::Value> multiplyPiece(mlir::ValueRange a, mlir::ValueRange b,
                                               mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> multiplyDoubles(mlir::ValueRange a, mlir::ValueRange b,
                                                 mlir::ValueRange sums);
  /// One iteration of the loop; `carried` are the tile's slot, the sums, then the fragments of the
  /// tile's first product.
  llvm::SmallVector<mlir::Value> emitIteration(mlir::Value step, mlir::Value steps,
                                               llvm::ArrayRef<mlir::Value> carried);
  /// Those from step `first` up to `end` of all `steps`.
  llvm::SmallVector<mlir::Value> emitIterations(mlir::Value first, mlir::Value end,
                                                mlir::Value steps, mlir::ValueRange carried);
  /// All of them, in parts of `partSteps`, which are added up.
  llvm::SmallVector<mlir::Value> emitParts(int64_t partSteps, mlir::Value steps,
                                           llvm::ArrayRef<mlir::Value> carried);
  /// Keeps LLVM from moving loads in front of this behind it.
  void keepLoads();
  /// Awaits a tile, and makes the first element of A of each row of `fragments` one that nobody has
  /// before.
  void awaitTileBefore(llvm::SmallVector<mlir::Value> &fragments);
  void emitOutputs(llvm::ArrayRef<mlir::Value> sums);
  /// The same where B is the first operand.
  void emitSwappedOutputs(llvm::ArrayRef<mlir::Value> sums);
  /// Adds the pairs `values` of product j of a row of them to the parts of row `row`; a part that
  /// is complete is stored.
  void addToParts(MatmulTile::RowParts &parts, mlir::Value row, mlir::Value column,
                  mlir::Value values, int64_t j);
  /// The operand whose buffer outputs can pass through on their way to memory, so that threads
  /// store vectors of `width` of them; null if they store what they hold.
  const Operand *getStagingRoom(int64_t &width);
  void emitRowOutputs(llvm::ArrayRef<mlir::Value> sums, const Operand &room, int64_t width);

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
  bool isPaired;         // of f64, neighbours are loaded together: see MMAFragments.cpp
  int64_t rows, columns; // of a warp's instructions: 16 of the first operand, 8 of the second
  mlir::Value thread, lane, warpRow, warpColumn;
  llvm::SmallVector<Operand, 2> operands;
  /// Of copies, by memory and position.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> sources;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MMAEMITTER_H
