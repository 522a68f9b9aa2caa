//===- WGMMAEmitter.h - How kernels on wgmma are emitted ------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It is one class of many methods since the warpgroup that fetches and those that multiply are two
// halves of one protocol: what one waits for, the other one signals, and both need the operands,
// the ring, the tile, and where the block is in its cluster. Its files are by concept:
// WGMMAOperands.cpp has operands and their tensor maps, WGMMAProducer.cpp what fills the ring with
// them, WGMMACopies.cpp and WGMMALines.cpp what threads fill it with, WGMMAProducts.cpp the
// products, WGMMASideInputs.cpp what outputs are computed from beside them, WGMMAOutputs.cpp how
// results leave, and EmitMatmulWGMMA.cpp the kernel as a whole.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_WGMMAEMITTER_H
#define XC_CODEGEN_CUDA_MATMUL_WGMMAEMITTER_H

#include "compiler/Codegen/CUDA/Common/TileSchedule.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"
#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// Where a step of the sum is: along k, and which tap of a convolution, a value for each loop.
struct SumStep {
  mlir::Value k;
  llvm::SmallVector<mlir::Value> taps;
};

class WGMMAEmitter {
public:
  /// With `image`, the contraction is that of a convolution (Convolution.h), one of whose operands
  /// comes by columns of its pixels.
  WGMMAEmitter(const KernelInfo &kernel, const Contraction &contraction, const WindowedImage *image,
               MatmulWGMMAAttr config)
      : kernel(kernel), contraction(contraction), image(image), config(config),
        frame(kernel, tile::kWarpgroupThreads * (1 + config.getWarpgroups())), points(frame.points),
        index(points.index), builder(points.builder), loc(points.loc),
        swapped(contraction.beginsWithB()),
        tile(kernel, contraction, frame, swapped ? config.getTileN() : config.getTileM(),
             swapped ? config.getTileM() : config.getTileN()),
        knownSizes(makeSizes(kernel)), sharers(config.getWarpgroupsPerTile()),
        cluster(config.getClusterM() * config.getClusterN()),
        rowsPerWarpgroup(config.getTileM() / sharers),
        ownColumns(config.getTileN() / config.getSplit()) {}

  mlir::LogicalResult run();

private:
  struct Operand {
    const Contraction::Side &side;
    TiledAccess access;
    tile::SharedType type;
    int64_t rows; // that boxes bring; there are no others where they are fewer than the slot's
    mlir::Value map = {}, tailMap = {}; // of whole panels, and of a last one that is not full
    int64_t sharers = 1; // blocks of the cluster that need the same tile, and fetch parts
    mlir::Value part = {}, blocks = {}; // which of them this one is, and a bit for each of them
    bool isTurned = false; // by threads that load it, and store it with its lines along k
    /// Threads load it as it lies: so many loads make a word of shared memory. 0 if boxes bring it.
    int64_t loadsPerWord = 0;
    /// Columns of its pixels come, not boxes; null if it is none.
    const WindowedImage *image = nullptr;

    bool isByThreads() const { return isTurned || loadsPerWord > 0; }
    bool runsAlongK() const {
      if (image)
        return !image->isAcross;
      return isTurned || (loadsPerWord ? side.isKContiguous
                                       : access.dims.back().group == TiledAccess::Group::K);
    }
  };
  /// An input that each output has an element of, a residual say, where the ring brings it
  /// (WGMMASideInputs.cpp).
  struct SideInput {
    const ReductionGroup::Input &input;
    TiledAccess access;
    mlir::Value map = {}, tailMap = {}; // of whole slots, and of what is left of the columns
  };
  void addSideInputs();
  tile::SharedType getSideType() const { return operands.front().type; }
  /// Those that a slot has from column `column` on, where it begins.
  int64_t getSideColumns(int64_t column) const;
  /// Stages that all side inputs take of so many columns of a tile.
  int64_t countSideStages(int64_t columns) const;
  /// Starts the copies of a tile's side inputs to the stages from `state` on.
  RingState fetchSideInputs(RingState state);
  /// Says where they are, from `state` on; returns what is behind them.
  RingState placeSideInputs(RingState state);
  /// Waits for those of the stages that begin in `columns` columns from `first` on.
  void awaitSideInputs(int64_t first, int64_t columns);
  /// Reads what a thread has of them for the outputs of 64 rows from `row` of the tile on, in the
  /// columns of the stage that `column` is in.
  void readSideInputs(mlir::Value row, int64_t column);
  /// Makes the outputs to come take those of the pair of row half `half` from `column` on.
  void provideSideInputs(int64_t column, int64_t half);
  /// All of the warpgroup have read those of `columns` columns from `first` on.
  void releaseSideInputs(int64_t first, int64_t columns);

  mlir::LogicalResult addOperand(const Contraction::Side &side, int64_t own);
  mlir::LogicalResult addTransposed(const Contraction::Side &side, int64_t own);
  mlir::LogicalResult addLoaded(const Contraction::Side &side, int64_t own);
  mlir::LogicalResult addImage(const Contraction::Side &side, int64_t own);
  /// Adds A or B, whichever `side` is, in tiles of `own` rows or columns.
  mlir::LogicalResult add(const Contraction::Side &side, int64_t own);
  /// Maps of whole panels and of a last one, made by `makeBoxes` for their columns; and who shares.
  void addMaps(Operand operand, llvm::function_ref<mlir::Value(int64_t)> makeBoxes);
  /// Lines of an operand along k that boxes bring, of a tile of `own`: no more than there are.
  std::pair<tile::SharedType, int64_t> getLines(const Contraction::Side &side, int64_t own);
  mlir::Value makePixelMap(tile::SharedType type, int64_t channels, int64_t pixels);
  void makeCluster();
  /// Blocks that need the same tile of the operand.
  int64_t countSharers(const Contraction::Side &side) const;
  void share(Operand &operand, bool isA);
  /// A map of boxes that are `extents` long along M, N or K, and 1 along the batch, for panels of
  /// tiles of `type`. Of an operand of f32, copies round.
  mlir::Value makeMap(const TiledAccess &access, tile::SharedType type, bool isOperand,
                      llvm::function_ref<int64_t(TiledAccess::Group)> extent);
  mlir::LogicalResult checkForm();
  void prepareOutput();
  void makeRing();
  /// Blocks that fetch something for this one, itself among them.
  int64_t countSenders() const { return config.getClusterM() + config.getClusterN() - 1; }
  void clearRows(const Operand &operand, int64_t number);
  void makeSteps();
  void prefetch(mlir::Value map);

  std::pair<mlir::Value, mlir::Value> countGroups();
  /// The body once for each tile of this block, or every second one from number `half` on.
  llvm::SmallVector<mlir::Value>
  emitTiles(mlir::Value half, mlir::ValueRange inits,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);
  RingState advance(RingState state) { return advanceRing(points, state, config.getStages()); }
  /// The state `count` stages on.
  RingState skip(RingState state, mlir::Value count);
  /// `taps` is a value for each of the contraction's, none where no dim runs along them.
  llvm::SmallVector<mlir::Value>
  getCoords(const TiledAccess &access, mlir::ValueRange taps,
            llvm::function_ref<mlir::Value(TiledAccess::Group)> start);
  SumStep getStep(mlir::Value number);
  llvm::SmallVector<mlir::Value> getPixelPlace(mlir::Value pixel);
  /// The place of output position `pixel` at `channel` of the image, and how far from it a tap
  /// reads.
  std::pair<llvm::SmallVector<mlir::Value>, llvm::SmallVector<mlir::Value>>
  getPixelCoords(mlir::Value pixel, mlir::Value channel, mlir::ValueRange taps);

  mlir::Value getPartRow(const Operand &operand);
  mlir::Value getFirstRow(const Operand &operand);
  void placePixels();
  /// Columns of pixels whose lines run along channels, or along taps and channels.
  void fetchAcross(const Operand &operand, mlir::Value slot, const SumStep &step,
                   mlir::Value stage);
  void fetch(const Operand &operand, mlir::Value slot, const SumStep &step, mlir::Value stage);
  /// Announces the bytes that boxes bring to a stage, and starts those of the operands wanted.
  void publishBoxes(mlir::Value stage);
  void fetchBoxes(mlir::Value stage, const SumStep &step,
                  llvm::function_ref<bool(const Operand &)> isWanted);
  bool isFixed(const Operand &operand) const;
  bool canFillAhead();
  void fillAhead(mlir::Value end);
  RingState fetchStep(mlir::Value step, mlir::Value ahead, RingState state);
  void emitProducer();
  /// A part of an operand that each thread that fetches has a share of, by so many loads.
  struct Unit {
    const Operand *operand;
    int64_t slot, number, loads;
  };
  llvm::SmallVector<Unit> listUnits();
  llvm::SmallVector<mlir::Value> loadUnit(const Unit &unit, mlir::Value k);
  void storeUnit(const Unit &unit, llvm::ArrayRef<mlir::Value> values, mlir::Value slot);
  void emitLoadingProducer();
  bool hasLoadingThreads() const {
    return llvm::any_of(operands, [](const Operand &operand) { return operand.isByThreads(); });
  }
  std::pair<int64_t, int64_t> getLineStart(const Operand &operand, int64_t number);
  /// The row and the column in the tile that a thread's word of its warp's line `number` is at.
  std::pair<mlir::Value, mlir::Value> getLinePlace(const Operand &operand, int64_t number);
  int64_t countLines(const Operand &operand);
  llvm::SmallVector<mlir::Value> loadLine(const Operand &operand, int64_t number, mlir::Value k);
  void storeLine(const Operand &operand, int64_t number, llvm::ArrayRef<mlir::Value> values,
                 mlir::Value slot);
  std::pair<mlir::Value, mlir::Value> getTransposedPlace(const Operand &operand, int64_t unit);
  llvm::SmallVector<mlir::Value> loadTransposed(const Operand &operand, int64_t unit,
                                                mlir::Value k);
  llvm::SmallVector<mlir::Value> transpose(const Operand &operand,
                                           llvm::ArrayRef<mlir::Value> words);
  void storeTurned(const Operand &operand, int64_t unit, llvm::ArrayRef<mlir::Value> words,
                   mlir::Value slot);
  void syncWarp();
  void emitConsumer(mlir::Value warpgroup);
  /// Whether threads load an operand as it lies.
  bool loadsLines() const;
  /// Registers of operands that a thread which fetches loads for a step, and how many steps ahead.
  int64_t countValues() const;
  int64_t getDepth() const;
  /// How the threads of a multiprocessor share its registers.
  WarpgroupRegisters getThreadRegisters() const;
  RingState emitProduct(RingState state, mlir::Value place, llvm::SmallVector<mlir::Value> &sums,
                        mlir::Value other);
  /// One step of it from shared memory, or with operand A in registers: `carried` are the
  /// stage before, the sums and the tokens of the products that read that stage; they become the
  /// next ones.
  void emitStep(RingState current, mlir::Value row, mlir::Value isLater,
                llvm::SmallVector<mlir::Value> &carried);
  void emitFragmentStep(RingState current, mlir::Value row, mlir::Value isLater,
                        llvm::SmallVector<mlir::Value> &carried);
  llvm::SmallVector<mlir::Value> getSlots(mlir::Value stage);
  tile::TokenType getTokenType() const;
  mlir::Value multiply(mlir::Value a, mlir::Value row, mlir::Value b, int64_t from, int64_t k,
                       mlir::Value condition, mlir::Value &sum);
  mlir::Value getStartRow() { return swapped ? tile.startN : tile.startM; }
  mlir::Value getStart(const Operand &operand) {
    return &operand.side == &contraction.a ? tile.startM : tile.startN;
  }
  void arrivePingPong(mlir::Value barrier);
  /// Gives a stage back if `condition` (if that is null: always), when the products of `tokens` are
  /// done.
  void release(mlir::Value stage, mlir::Value condition, mlir::ValueRange tokens = {});
  void reduce(mlir::Value warpgroup, llvm::SmallVector<mlir::Value> &sums);
  /// Loads what belongs to columns alone, a bias say, ahead of the products, so that the outputs
  /// need not wait for it.
  void loadColumnVectors();
  /// Adds the columns before `end` of those that this block stores to the parts of row m; a part
  /// that is complete is stored.
  void addToParts(MatmulTile::RowParts &parts, mlir::Value m, mlir::Value n,
                  mlir::Value accumulators, int64_t end);
  void storeDirectly(mlir::Value place, llvm::ArrayRef<mlir::Value> sums);
  void storeRows(mlir::Value first, llvm::ArrayRef<mlir::Value> sums);
  /// The elements of 16 columns of the staging tile, from fragments of two rows.
  void stage(mlir::Value row, int64_t column, llvm::ArrayRef<mlir::Value> pairs);
  /// All outputs through the staging tile, from where boxes or vectors leave.
  void storeStaged(mlir::Value warpgroup, mlir::Value place, llvm::ArrayRef<mlir::Value> sums);
  /// The outputs of `columns` columns from `first` on, and of 64 rows of the tile from `rowInTile`
  /// or row `startM` of the product on, in the staging tile from `stagingRow` on.
  void stageColumns(mlir::Value stagingRow, mlir::Value rowInTile, int64_t first, int64_t columns,
                    mlir::Value sums);
  void storeBoxes(mlir::Value stagingRow, mlir::Value startM, int64_t first, int64_t columns);
  /// Reduces the columns of what a staging tile has, each in one part (WGMMAColumnParts.cpp).
  void storeColumnParts(mlir::Value stagingRow, mlir::Value startM, int64_t first, int64_t columns);
  void storeColumnParts(mlir::Value stagingRow, mlir::Value startM, mlir::Value n,
                        mlir::Value column);
  /// Fails where columns are reduced, but nothing is staged.
  mlir::Value getFirstPairOfRows(mlir::Value lane);
  mlir::LogicalResult checkColumnParts();
  void storeVectors(mlir::Value stagingRow, mlir::Value startM, int64_t first, int64_t columns);

  const KernelInfo &kernel;
  const Contraction &contraction;
  const WindowedImage *image; // null: of a product
  MatmulWGMMAAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  bool swapped; // rows of the sums are columns of the product
  MatmulTile tile;
  KernelSizes knownSizes;
  int64_t sharers;                      // warpgroups that share a tile
  int64_t cluster;                      // blocks whose tiles are neighbours
  int64_t rowsPerWarpgroup, ownColumns; // of the tile that this block stores
  llvm::SmallVector<Operand, 2> operands;
  bool inRegisters = false; // operand A
  bool fillsAhead = false;  // the ring, with weights, before the kernels in front have ended
  llvm::SmallVector<SideInput, 1> sideInputs;
  llvm::SmallVector<RingState>
      sideStages; // of all inputs, for the same columns one behind the other
  llvm::SmallVector<mlir::Value> sideWords; // of one input behind the other
  std::optional<TiledAccess> output;        // stored by boxes
  int64_t rowVector = 0; // elements that threads store at a time where it is not, but is staged
  mlir::Value outputMap, outputTailMap, staging, ring, scratch;
  mlir::Value rank, firstStep, lastStep; // of this block in its cluster; of its share of k
  mlir::Value clusterRow, clusterColumn; // of this block in its cluster
  mlir::Value thread, threadInWarpgroup;
  mlir::Value startColumn; // of what this block stores
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_WGMMAEMITTER_H
