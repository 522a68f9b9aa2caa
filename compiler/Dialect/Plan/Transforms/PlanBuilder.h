//===- PlanBuilder.h - The commands of one function, or of a region of one ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_PLANBUILDER_H
#define XC_DIALECT_PLAN_TRANSFORMS_PLANBUILDER_H

#include "compiler/Dialect/Plan/Transforms/MemoryUses.h"
#include "compiler/Dialect/Plan/Transforms/ModuleData.h"
#include "compiler/Dialect/Plan/Transforms/PlannedRegion.h"
#include "compiler/Dialect/Plan/Transforms/SizeEqualities.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "llvm/ADT/SetVector.h"

#include <memory>
#include <optional>

namespace xc::plan {

class PlanBuilder;

/// What a function that is a region of a control op gets from the plan around it.
struct OuterPlan {
  PlanBuilder &builder;
  /// What the arguments are there.
  llvm::SmallVector<mlir::Value> arguments;
  llvm::SmallVector<Place> places;
  /// The buffers that take the results.
  llvm::SmallVector<unsigned> targets;
  /// The values there that the results become; none of a loop's condition.
  mlir::ResultRange results;
  /// A loop's body: result i takes the place of argument i.
  bool replacesArguments = false;
  /// 1 where sizes choose the region, else 0; null of one that only data chooses.
  FormulaAttr isChosen = {};

  OuterPlan(PlanBuilder &builder, mlir::ResultRange results) : builder(builder), results(results) {}
};

class PlanBuilder {
public:
  /// `reuse`: buffers whose lifetimes are apart may share bytes of the arena.
  PlanBuilder(mlir::func::FuncOp func, ModuleData &data, bool reuse,
              const OuterPlan *outer = nullptr)
      : func(func), data(data), reuse(reuse), outer(outer), dims(func), uses(func),
        context(func.getContext()) {}

  /// Replaces a function by its plan.
  mlir::LogicalResult run();

private:
  /// Whether the plan runs once, for all calls.
  bool isInit();
  FormulaAttr constant(int64_t value) { return FormulaAttr::getConstant(context, value); }
  mlir::FailureOr<FormulaAttr> getFormula(mlir::OpFoldResult index);
  mlir::FailureOr<llvm::SmallVector<FormulaAttr>> getShape(mlir::Value tensor);
  mlir::FailureOr<FormulaAttr> getByteSize(mlir::Value tensor);

  unsigned addBuffer(Space space, unsigned ordinal, FormulaAttr size);
  unsigned getFixedBuffer(Space space, unsigned ordinal, FormulaAttr size);
  unsigned getOuterBuffer(unsigned number);
  /// The argument whose buffer result `result` of the function takes over.
  std::optional<unsigned> getReplacedArgument(unsigned result);
  unsigned getTarget(unsigned index, FormulaAttr size);
  mlir::LogicalResult placeArguments();
  mlir::LogicalResult placeData(mlir::Operation &op);
  mlir::LogicalResult placeView(mlir::Operation &op);
  mlir::LogicalResult placeOps();
  mlir::LogicalResult addDispatch(DispatchOp dispatch, unsigned position);
  mlir::LogicalResult addCopy(mlir::Location loc, mlir::Value value, unsigned target);
  mlir::LogicalResult addReturns();
  mlir::LogicalResult addAssigns();
  void touch(Command &command, unsigned buffer, FormulaAttr offset, FormulaAttr length,
             Access access, unsigned whole = 0);
  unsigned getWhole(DispatchOp dispatch, unsigned index);
  mlir::LogicalResult addRequirement(RequireOp op);
  void require(mlir::Location loc, FormulaAttr left, Comparison comparison, FormulaAttr right,
               const llvm::Twine &what);
  mlir::LogicalResult layOut();

  //===--- PlanControl.cpp ------------------------------------------------===//

  mlir::LogicalResult buildRegion();
  mlir::LogicalResult addBranch(BranchOp branch, unsigned position);
  mlir::LogicalResult addLoop(LoopOp loop, unsigned position);
  std::string listSymbols(llvm::ArrayRef<FormulaAttr> sizes);
  mlir::FailureOr<std::unique_ptr<PlannedRegion>>
  buildNested(mlir::Operation *op, mlir::FlatSymbolRefAttr callee, const OuterPlan &around);
  void addControl(Command command, std::shared_ptr<ControlRegions> regions);

  //===--- PlanReuse.cpp --------------------------------------------------===//

  /// A step at `position` that computes `result`, and the operand whose memory that may stay in;
  /// null if there is none.
  struct Taker {
    mlir::Operation *step;
    mlir::Value result, reused;
    unsigned position;
    /// `reused` holds other parts of what the result is a part of.
    bool isPart = false;
  };
  bool isAt(mlir::Value tensor, unsigned buffer);
  bool canOverwrite(mlir::Value old, const Taker &taker);
  bool canTakeTarget(unsigned target, const Taker &taker);
  /// True if the kernel writes a part of result `index`, beside others that do (kPartsAttr).
  bool isPart(DispatchOp dispatch, unsigned index);
  bool isTarget(const Buffer &buffer, mlir::Value result);
  bool mayHoldOthers(const Buffer &buffer, mlir::Value result);
  std::optional<unsigned> takeMemory(const Taker &taker, FormulaAttr size);
  mlir::FailureOr<std::optional<unsigned>> chooseFixed(const Taker &taker, FormulaAttr size);
  mlir::FailureOr<unsigned> choosePlace(const Taker &taker, FormulaAttr size);
  mlir::FailureOr<unsigned> chooseBuffer(DispatchOp dispatch, unsigned index, unsigned position,
                                         FormulaAttr size);
  mlir::FailureOr<unsigned> chooseResult(mlir::Value result, mlir::Value init,
                                         mlir::Operation *control, unsigned position,
                                         FormulaAttr size);

  PlanBuilder &getRootPlan();

  mlir::func::FuncOp func;
  ModuleData &data;
  const bool reuse;
  const OuterPlan *outer;
  /// What makes the plan around this one.
  PlanBuilder *parent = nullptr;
  SymbolicDims dims;
  MemoryUses uses;
  std::unique_ptr<PlannedRegion> plan = std::make_unique<PlannedRegion>();
  /// Of a region that sizes choose, or that is in such a one: 1 where they do, else 0.
  FormulaAttr isChosen;
  /// From formulas of a region's function to those of the whole plan.
  std::optional<FormulaTranslation> toRoot;
  mlir::MLIRContext *context;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> fixedBuffers;
  llvm::DenseMap<unsigned, unsigned> outerBuffers;
  llvm::DenseMap<mlir::Value, Place> places;
  /// Parts -> the number, from 1 on, of what they are parts of.
  llvm::DenseMap<mlir::Value, unsigned> wholes;
  unsigned numWholes = 0;
  llvm::DenseMap<unsigned, bool> outputDone;
  llvm::DenseMap<mlir::StringAttr, bool> variableDone;
  /// What sizes must be like; those of regions are in the whole function's plan.
  llvm::SetVector<mlir::Attribute> requirements;
  /// What those say of a size here, from the start of the whole function on.
  SizeEqualities equalities;
  /// By what sizes choose regions, also within regions, in the whole function's plan.
  llvm::SetVector<FormulaAttr> choices;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_PLANBUILDER_H
