//===- AttentionTiles.h - What attention's kernels share --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONTILES_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONTILES_H

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/TileSchedule.h"
#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// What schedules are told: a configuration of wgmma, or of mma.sync, which has no roles.
class AttentionShape {
public:
  AttentionShape(AttentionAttr config)
      : warpgroups(config.getWarpgroups()), keys(config.getKeys()), stages(config.getStages()),
        queryStages(config.getQueryStages()), raster(config.getRaster()),
        cluster(config.getCluster()), maskStages(config.getMaskStages()),
        pingPong(config.getPingPong() != 0), serpentine(config.getSerpentine() != 0),
        columnLoads(config.getColumnLoads() != 0) {}
  AttentionShape(AttentionMMAAttr config)
      : warpgroups(config.getWarpgroups()), keys(config.getKeys()), stages(config.getStages()),
        raster(config.getRaster()), heldQueries(config.getHeldQueries() != 0), synchronous(true) {}

  /// Of those that compute.
  int64_t getWarpgroups() const { return warpgroups; }
  int64_t getKeys() const { return keys; }
  int64_t getStages() const { return stages; }
  int64_t getQueryStages() const { return queryStages; }
  int64_t getRaster() const { return raster; }
  int64_t getCluster() const { return cluster; }
  int64_t getMaskStages() const { return maskStages; }
  bool getPingPong() const { return pingPong; }
  bool getSerpentine() const { return serpentine; }
  bool getHeldQueries() const { return heldQueries; }
  bool getColumnLoads() const { return columnLoads; }
  /// Whether products are of mma.sync, and all threads copy.
  bool isSynchronous() const { return synchronous; }
  /// Threads of a block, those that load included.
  int64_t getThreads() const {
    return tile::kWarpgroupThreads * (warpgroups + (synchronous ? 0 : 1));
  }

private:
  int64_t warpgroups, keys, stages, queryStages = 1, raster, cluster = 1, maskStages = 0;
  bool pingPong = false, serpentine = false, heldQueries = false, synchronous = false,
       columnLoads = false;
};

/// Rings of tiles, roles, and arithmetic on tiles in registers: what emitters of attention and of
/// its gradient build with.
class AttentionTiles {
protected:
  AttentionTiles(const KernelInfo &kernel, AttentionShape config);

  /// A ring of one kind of tiles, and what fills it.
  struct Source {
    mlir::Value map, ring;
    tile::SharedType type;
    int64_t stages, sharers;              // blocks of the cluster that fetch parts for each other
    llvm::SmallVector<mlir::Value> sizes; // of the dims that the map has
  };

  // Rings.
  /// The values of the sizes of `operand`, which is `tensor`.
  llvm::SmallVector<mlir::Value> emitSizes(const AttentionOperand &operand, mlir::Value tensor);
  mlir::Value makeMap(const AttentionOperand &operand, tile::SharedType type, int64_t rows);
  Source makeSource(mlir::Value tensor, int64_t rows, int64_t stages, int64_t sharers);
  /// The same of tiles of `type`, which are not all columns of the tensor.
  Source makeSource(mlir::Value tensor, tile::SharedType type, int64_t stages, int64_t sharers);
  RingState advance(RingState state, int64_t stages) { return advanceRing(points, state, stages); }
  mlir::Value getSlot(const Source &source, RingState state);
  void waitFull(const Source &source, RingState state);
  /// One thread stands for the warpgroup, when `token` says so.
  void release(const Source &source, RingState state, mlir::Value token);
  /// Copies a tile from `row` and `column` on, 0 if that is null, of head `head`.
  void fetch(const Source &source, RingState state, mlir::Value head, mlir::Value row,
             mlir::Value column = {});

  // Copies by all threads (AttentionCopies.cpp).
  /// An operand whose tiles are copied row by row, and where they go.
  struct CopySource {
    mlir::Value memory, ring;
    tile::SharedType type;
    int64_t columns;
    mlir::Value rows; // of a head
    llvm::SmallVector<mlir::Value> sizes, strides;
    mlir::Value offset;
    /// Of pages: the table of their numbers, how many a sequence has, rows of each, how far they
    /// are apart, and how many there are; null where rows follow one another.
    mlir::Value table, perSequence, pageSize, apart, pages;
  };
  /// Stages of tiles of `rows` rows.
  CopySource makeCopySource(mlir::Value tensor, int64_t rows, int64_t stages);
  /// The same of pages, of which `table` says those that sequences have.
  CopySource makePagedSource(mlir::Value pages, mlir::Value table, int64_t rows, int64_t stages);
  mlir::Value getSlot(const CopySource &source, mlir::Value stage);
  mlir::Value nextStage(mlir::Value stage);
  /// Starts to copy rows `row` and on of head `head`, those below `rows`; returns the token. Of
  /// pages it is a head of sequence `sequence`.
  mlir::Value startCopy(const CopySource &source, mlir::Value head, mlir::Value row,
                        mlir::Value rows, mlir::Value slot, mlir::Value sequence = {});
  /// The tiles, once the copies of `tokens` to `slots` are there.
  llvm::SmallVector<mlir::Value> awaitCopies(mlir::ValueRange slots, mlir::ValueRange tokens);

  // Control.
  mlir::Block *fill(mlir::Region &region, mlir::TypeRange arguments,
                    llvm::function_ref<void(mlir::Block &)> body);
  /// One warpgroup that loads, and the others, whose number is `warpgroup`, with as many registers
  /// as there are if they need them.
  void emitRoles(llvm::function_ref<void()> load, llvm::function_ref<void()> compute,
                 bool needsMost);
  /// The number of keys that a query sees beyond its own position, of an attention with these
  /// operands: between what hides all keys and what hides none, so that sums fit.
  mlir::Value loadOffset(mlir::Value given, int64_t window);

  /// Starts a product, a synchronous one if the schedule is; its result and its token.
  std::pair<mlir::Value, mlir::Value> startProduct(tile::RegisterType type, mlir::Value a,
                                                   mlir::Value row, mlir::Value b, mlir::Value sums,
                                                   int64_t k, bool transposed);

  // Arithmetic.
  mlir::Value f32(double value);
  mlir::Value exp2(mlir::Value x);
  mlir::Value map(mlir::Type result, mlir::ValueRange inputs,
                  llvm::function_ref<mlir::Value(mlir::ValueRange)> body);
  /// With the row and the column of each element as last arguments of the body, `width` neighbours
  /// at a time.
  mlir::Value mapAt(mlir::Type result, mlir::ValueRange inputs, mlir::Value row, mlir::Value column,
                    llvm::function_ref<mlir::Value(mlir::ValueRange)> body, int64_t width = 1);
  /// Keys that `mask` is read for at a time: two where no pair has one behind the last.
  int64_t countMaskNeighbours(mlir::Value mask);
  /// What a mask has for a query and a key of head `head`, or for so many keys from an even one on.
  /// Places outside are those of the last ones inside; so is that of all in a dim of one element.
  mlir::Value loadMask(mlir::Value mask, mlir::Value query, mlir::Value head, mlir::Value row,
                       mlir::Value column, int64_t width = 1);
  /// Stores those of the tile's rows, from `firstRow` on, that are below `rows`; `getLine` says of
  /// a row which one of the binding it is.
  void storeTile(plan::BindingOp binding, mlir::Value tile,
                 llvm::function_ref<mlir::Value(mlir::Value)> getLine, mlir::Value firstRow,
                 mlir::Value rows, int64_t columns);
  /// Stores those of head `head` of a result that has `sizes`, where the output moves its rows to.
  void storeHead(const KernelOutput &output, mlir::Value tile, mlir::ArrayRef<mlir::Value> sizes,
                 mlir::Value head, mlir::Value firstRow);

  /// What makes scores of what `capScores` returns: the op's scale, or what limits its scores.
  template <typename Op> static double getScoreScale(Op op) {
    return (op.getSoftcap() ? *op.getSoftcap() : op.getScale()).convertToDouble();
  }
  /// Products of queries and keys; where `op` limits its scores, tangents of which they are
  /// multiples.
  template <typename Op> mlir::Value capScores(Op op, mlir::Value products) {
    if (!op.getSoftcap())
      return products;
    double factor = op.getScale().convertToDouble() / op.getSoftcap()->convertToDouble();
    return makeTangents(products, factor, /*isExact=*/op.getQueryType().getElementType().isF32());
  }
  mlir::Value makeTangents(mlir::Value products, double factor, bool isExact);

  tile::RegisterType makeSums(int64_t columns);
  /// The first operand of a product that is made of sums of so many columns.
  tile::RegisterType makeWeights(int64_t columns, mlir::Type element);

  const KernelInfo &kernel;
  AttentionShape config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value queries, keys; // lengths
  mlir::Value threadInWarpgroup, warpgroup;
  mlir::Value rank;  // of this block in its cluster
  bool tf32 = false; // whether products of f32 round their operands
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONTILES_H
