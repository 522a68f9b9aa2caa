//===- MatmulTile.h - What all matrix product kernels share ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes one tile of one product of the batch. Here is which tile that is, how the
// operands' elements are computed, and how accumulators become elements of the outputs. How tiles
// reach the registers and are multiplied is the strategy's.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MATMULTILE_H
#define XC_CODEGEN_CUDA_MATMUL_MATMULTILE_H

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"

namespace xc::cuda {

class MatmulTile {
public:
  MatmulTile(const KernelInfo &kernel, const Contraction &contraction, KernelFrame &frame,
             int64_t tileM, int64_t tileN);

  /// Sizes of the product, and how many tiles it has.
  mlir::Value sizeM, sizeN, sizeK;
  mlir::Value tilesM, tilesN, batches;
  /// The length of each sum along k: `sizeK`, or that of a partial sum.
  mlir::Value sumLength;
  /// The corner of the tile at hand, its product's place in the batch, and where its sum begins.
  mlir::Value startM, startN, batch, startK;

  /// Makes the tile of this block's number the one at hand; each block has one, or `share` blocks
  /// in a row have one together.
  void placeAtBlock(int64_t share = 1);
  /// How many steps of `tileK` the tile at hand takes along k: none if nobody looks at it.
  mlir::Value getSteps(int64_t tileK);
  /// Tiles are worked on in groups of `rows` x `columns`, so that some lie outside the product.
  void setGroup(int64_t rows, int64_t columns);
  /// Makes the tile in row `row`, column `column` of product `product` the one at hand.
  void place(mlir::Value row, mlir::Value column, mlir::Value product);

  /// How many neighbours of operand `side` can be loaded at once, at most `limit`.
  int64_t getVectorWidth(const Contraction::Side &side, int64_t limit);
  /// `lanes` operands of `side` from (own, k) on, along k if that is contiguous, else along its own
  /// dim. Zero where `inside` (i1, may be null) is false. With `cast`, as the body multiplies them;
  /// else as they are stored.
  mlir::Value emitFactors(const Contraction::Side &side, mlir::Value own, mlir::Value k,
                          int64_t lanes, mlir::Value inside, bool cast);
  /// The row-major position of that element in its copy source, and an i1 that is false where it is
  /// padding (null if nothing is).
  std::pair<mlir::Value, mlir::Value> getPosition(const Contraction::Side &side, mlir::Value own,
                                                  mlir::Value k);
  /// True if words of neighbours along the side's own dim can be loaded for each k, at addresses
  /// that differ by a known number of bytes.
  bool canTranspose(const Contraction::Side &side);
  /// How many loads make a word of 4 bytes of neighbours, whose lines of 128 bytes are at known
  /// distances: one, or one for each element of 16 bits where words begin anywhere. 0 if elements
  /// are not to be loaded like that.
  int64_t countLoadsPerWord(const Contraction::Side &side);
  /// How far apart in the copy source neighbours along k, or along the operand's own dim, are
  /// everywhere; null if that varies.
  mlir::Value getStride(const Contraction::Side &side, bool alongK);
  /// The same as a number; nothing if it depends on sizes that are not known, either.
  std::optional<int64_t> getKnownStride(const Contraction::Side &side, bool alongK);
  /// i1: the element is within the operand; null if all of every tile are.
  mlir::Value isInside(const Contraction::Side &side, mlir::Value own, mlir::Value k,
                       int64_t tileOwn, int64_t tileK);
  /// The same of the element that is `offset` lines behind (own, k): along the operand's own dim if
  /// it is contiguous along k, else along k. One comparison with a known number, where both bounds
  /// have to be looked at: of the room that is left, none where the other index is outside.
  mlir::Value isInsideBehind(const Contraction::Side &side, mlir::Value own, mlir::Value k,
                             int64_t offset, int64_t tileOwn, int64_t tileK);
  /// The same along one of its dims.
  mlir::Value isInsideOwn(const Contraction::Side &side, mlir::Value own, int64_t tileOwn);
  mlir::Value isInsideK(mlir::Value k, int64_t tileK);

  /// What the kernel's one output is at row m, columns from n on. Undefined outside.
  mlir::Value emitOutput(mlir::Value m, mlir::Value n, mlir::Value accumulators);

  /// Adds the product's init to `lanes` accumulators of row m from column n on, computes the
  /// outputs there, and stores what is inside.
  void emitOutputs(mlir::Value m, mlir::Value n, mlir::Value accumulators);

  /// How many neighbouring outputs of a row are always inside together, at most `limit`.
  int64_t getOutputWidth(int64_t limit);
  /// Stores what `emitOutput` gave, of row m from column n on, where it is inside.
  void storeOutput(mlir::Value m, mlir::Value n, mlir::Value values);

  /// What the kernel's reductions of rows in parts have come to, for some columns of one row.
  using RowParts = llvm::SmallVector<mlir::Value>;
  /// Of no columns yet: neutral elements.
  RowParts startParts();
  /// Adds those of row m from column n on, whose accumulators are given; what is outside of the
  /// product does not count. Outputs that were computed there before are not computed again.
  void addToParts(RowParts &parts, mlir::Value m, mlir::Value n, mlir::Value accumulators);
  /// Combines what the threads have whose numbers differ in the bits `distances`; the thread for
  /// which `isStoring` holds stores the part of row m that column n is in.
  void storeParts(const RowParts &parts, mlir::Value m, mlir::Value n,
                  llvm::ArrayRef<int64_t> distances, mlir::Value isStoring);

  /// What one of the kernel's reductions of columns in parts has come to, for neighbouring columns.
  using ColumnPart = llvm::SmallVector<mlir::Value>;
  /// Of `lanes` columns, of no rows yet.
  ColumnPart startColumnPart(const ReductionGroup::ColumnPart &part, int64_t lanes);
  /// Adds row m of the columns from n on, where it is inside: accumulators of the product are given
  /// or, with `areOutputs`, what the kernel's one output is there.
  void addToColumnPart(const ReductionGroup::ColumnPart &part, ColumnPart &sums, mlir::Value m,
                       mlir::Value n, mlir::Value values, bool areOutputs);
  /// Combines what the threads have whose numbers differ in the bits `distances`.
  void combineColumnPart(const ReductionGroup::ColumnPart &part, ColumnPart &sums,
                         llvm::ArrayRef<int64_t> distances);
  /// Stores the part that begins at row m, of the columns from n on, where `isStoring`; later parts
  /// of these rows and columns find it until they are withdrawn.
  void storeColumnPart(const ReductionGroup::ColumnPart &part, const ColumnPart &sums,
                       mlir::Value m, mlir::Value n, mlir::Value isStoring);
  void withdrawColumnParts();

  /// Those of all products.
  mlir::Value countTiles();
  /// Launches a block for each tile, or a cluster of `share` blocks.
  mlir::LogicalResult finish(int64_t share = 1);
  /// The indices of the batch's loops for the tile at hand.
  llvm::SmallVector<mlir::Value> getBatchIndices();
  /// The sizes of the product's loops, and those of `dims`.
  llvm::ArrayRef<mlir::Value> getLoopSizes() const { return sizes; }
  llvm::SmallVector<mlir::Value> select(llvm::ArrayRef<unsigned> dims);
  /// True if the tiles cover the output exactly.
  bool hasWholeTiles() const;

private:
  Point makePoint(const Contraction::Side &side, mlir::Value own, mlir::Value k, int64_t lanes);
  llvm::SmallVector<Coord> makeLoops(const Coord &m, const Coord &n, const Coord &k, int64_t lanes);
  /// i1: row m, columns from n on are inside the product; null if all of every tile are.
  mlir::Value isOutputInside(mlir::Value m, mlir::Value n);
  void emitOutputsAt(const Coord &m, const Coord &n, mlir::Value accumulators, int64_t lanes);
  /// The same for outputs that are computed outside of what depends on `inside` (which may be
  /// null).
  void emitOutputsWhere(mlir::Value inside, mlir::Value m, mlir::Value n, mlir::Value accumulators);
  void addToPartsWhere(mlir::Value inside, RowParts &parts, mlir::Value m, mlir::Value n,
                       mlir::Value accumulators);
  mlir::Value product(llvm::ArrayRef<unsigned> dims);
  mlir::Value addInit(mlir::Value accumulators, llvm::ArrayRef<Coord> loops, int64_t lanes,
                      mlir::Value mask);
  Point makeOutputPoint(llvm::ArrayRef<mlir::AffineExpr> exprs, llvm::ArrayRef<Coord> loops,
                        int64_t lanes, mlir::Value mask);
  /// The size of the innermost of `dims` that is not of size 1.
  mlir::Value getInnerSize(llvm::ArrayRef<unsigned> dims);

  const Contraction &contraction;
  KernelFrame &frame;
  PointEmitter &points;
  IndexBuilder &index;
  llvm::SmallVector<mlir::Value> sizes; // of the loops
  int64_t tileM, tileN;
  std::optional<int64_t> laneAtHand; // of those that a part of columns has, where it is one of them
  int64_t groupM, groupN;            // sizes that are multiples of these need no check
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MATMULTILE_H
