//===- ReductionLowering.h - Reductions as vector loops ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What turns the steps of a group of reductions into loops. Accumulators, loops over rows and
// columns, and panels are parts of it, in files of their own.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_REDUCTIONLOWERING_H
#define XC_CODEGEN_CPU_REDUCTIONLOWERING_H

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"
#include "compiler/Codegen/CPU/ReductionGroup.h"

namespace xc::cpu {

/// Steps that a float accumulator takes one after the other.
inline constexpr int64_t kPartSteps = 256;
/// Steps of an innermost loop, lanes being columns, that are written out: what they read of the
/// same vector is loaded once.
inline constexpr int64_t kUnrolledSteps = 16;

/// Registers that a vector of each point of a strip needs, with what the points read.
inline constexpr int64_t kStripRegisters = 16;

/// Steps of one phase over the same space: they share their loops.
struct StepNest {
  llvm::SmallVector<Step *> steps;
  llvm::SmallVector<LoopDim> loops; // over the steps' own dims
};

/// Accumulators of a nest: one list for each width that its innermost loop runs with.
using Accumulators = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;

class ImageNest;
class PanelNest;
class StripNest;

class ReductionLowering {
public:
  ReductionLowering(mlir::func::FuncOp kernel, ReductionAttr config, const Arch &arch)
      : kernel(kernel), config(config), byPanels(config.getDirection() == "panels"),
        byColumns(config.getDirection() != "rows"), byImages(config.getDirection() == "images"),
        registerLanes(arch.vectorBytes / getElementBytes(kernel)),
        stripLanes(registerLanes * std::max<int64_t>(1, arch.vectorRegisters / kStripRegisters)),
        builder(kernel.getBody().front().getTerminator()) {}

  mlir::LogicalResult run();

private:
  friend class ImageNest;
  friend class PanelNest;
  friend class StripNest;

  void allocateKeptValues();
  void addKeptAccesses(llvm::ArrayRef<Access> computed, llvm::SmallVectorImpl<Access> &accesses);
  void planLoops();
  mlir::LogicalResult planGrid();
  mlir::LogicalResult planBands(const ImageNest &nest);
  void emitColumns(mlir::OpBuilder &builder, Range rowRange);
  void emitPhases(Environment &environment, llvm::function_ref<void(StepNest &)> emit);
  void emitPoint(mlir::OpBuilder &builder, llvm::SmallVector<LaneIndex> kept, int64_t lanes);
  void emitPanel(mlir::OpBuilder &builder, llvm::ArrayRef<LaneIndex> kept, Range range);
  void emitNest(mlir::OpBuilder &builder, StepNest &nest, llvm::ArrayRef<LaneIndex> kept,
                int64_t lanes, Environment &environment);
  void emitElements(mlir::OpBuilder &builder, StepNest &nest,
                    llvm::MutableArrayRef<LaneIndex> point, int64_t lanes,
                    const Environment &environment,
                    llvm::MutableArrayRef<mlir::Value> accumulators);
  void emitInnerLoops(mlir::OpBuilder &builder, StepNest &nest,
                      llvm::MutableArrayRef<LaneIndex> point, llvm::ArrayRef<int64_t> widths,
                      const Environment &environment, Accumulators &accumulators);
  Accumulators initialize(mlir::OpBuilder &builder, StepNest &nest, llvm::ArrayRef<LaneIndex> kept,
                          llvm::ArrayRef<int64_t> widths, const Environment &environment);
  void finish(mlir::OpBuilder &builder, StepNest &nest, llvm::ArrayRef<LaneIndex> kept,
              llvm::ArrayRef<int64_t> widths, Accumulators &accumulators, Environment &environment);

  mlir::func::FuncOp kernel;
  ReductionAttr config;
  bool byPanels;  // lanes are kept points, and accumulators are in memory
  bool byColumns; // lanes are kept points
  bool byImages;  // windows slide along lanes, over what is copied to private memory
  int64_t registerLanes, stripLanes;
  mlir::OpBuilder builder;
  ReductionGroup group;
  std::vector<std::vector<StepNest>> phases;
  llvm::SmallVector<LoopDim> rows;
  LoopDim columns;
  Spread grid;
  llvm::SmallVector<Buffer> keptBuffers; // for each of group.keptValues
};

/// The columns from |index| on, one a lane. Workgroups begin at multiples of the widest vectors, so
/// that each vector begins at a multiple of its width.
LaneIndex getColumn(mlir::Value index, int64_t lanes);

/// |element| in all of |lanes| lanes; a scalar where that is one.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::TypedAttr element,
                  int64_t lanes);

/// What a lane that combines by |combiner| starts from: exactly neutral, since the reduction's init
/// joins the lanes at the end. So sums start from -0: -0 + x is x for every x.
mlir::TypedAttr getStart(mlir::Operation *combiner);

/// |combiner| on other operands.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Operation *combiner, mlir::Value lhs,
                    mlir::Value rhs);

/// What combines each accumulator of |nest| with another one, in their order; empty where they need
/// not be combined in parts, or cannot be.
llvm::SmallVector<mlir::Operation *> getPartCombiners(const StepNest &nest);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_REDUCTIONLOWERING_H
