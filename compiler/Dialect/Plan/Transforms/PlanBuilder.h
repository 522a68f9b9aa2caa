//===- PlanBuilder.h - The commands of one function, or of a region of one ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_PLANBUILDER_H
#define XC_DIALECT_PLAN_TRANSFORMS_PLANBUILDER_H

#include "compiler/Dialect/Plan/Transforms/ArenaLayout.h"
#include "compiler/Dialect/Plan/Transforms/CommandGraph.h"
#include "compiler/Dialect/Plan/Transforms/ModuleData.h"
#include "compiler/Dialect/Plan/Transforms/SizeEqualities.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "llvm/ADT/SetVector.h"

#include <limits>
#include <memory>
#include <optional>

namespace xc::plan {

class PlanBuilder;

/// Of a result: the argument whose buffer it takes over.
constexpr llvm::StringLiteral kAliasAttr = "array.alias";

/// Where a value is used for the last time.
constexpr unsigned kAfterAllCommands = std::numeric_limits<unsigned>::max();

/// Memory with one place: an input, an output, a variable, a constant, some bytes of the arena, or
/// a buffer of the plan around this one.
struct Buffer {
  Space space;
  unsigned ordinal;
  FormulaAttr size;
  unsigned first = std::numeric_limits<unsigned>::max();
  unsigned last = 0;
  /// Its number in the plan around this one.
  std::optional<unsigned> outer = std::nullopt;
};

/// What a tensor is: a range of a buffer.
struct Place {
  unsigned buffer;
  FormulaAttr offset;
  FormulaAttr length;
};

/// The two regions of an if or a while.
struct ControlRegions {
  bool isLoop;
  std::unique_ptr<PlanBuilder> plans[2];
  /// Of an if that sizes decide: 1 for the first region, 0 for the second.
  FormulaAttr choice = {};
};

struct Command {
  mlir::Location loc;
  mlir::FlatSymbolRefAttr
      kernel; // null: a copy from accesses[0] to accesses[1], or one of the below
  llvm::SmallVector<MemoryAccess> accesses;
  llvm::SmallVector<FormulaAttr> scalars;
  std::shared_ptr<ControlRegions> control = nullptr; // accesses[0] is the condition, of data
  mlir::DenseElementsAttr fill = nullptr;            // what accesses[0] gets everywhere
};

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
      : func(func), data(data), reuse(reuse), outer(outer), dims(func), context(func.getContext()) {
  }

  /// Replaces a function by its plan.
  mlir::LogicalResult run();

private:
  /// Whether the plan runs once, for all calls.
  bool isInit();
  FormulaAttr constant(int64_t value) { return FormulaAttr::getConstant(context, value); }
  mlir::FailureOr<FormulaAttr> getFormula(mlir::OpFoldResult index);
  mlir::FailureOr<llvm::SmallVector<FormulaAttr>> getShape(mlir::Value tensor);
  mlir::FailureOr<FormulaAttr> getByteSize(mlir::Value tensor);
  static mlir::Value getRoot(mlir::Value tensor);
  bool isWholeRoot(mlir::Value tensor);
  void recordUses();

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
  static mlir::DenseElementsAttr getSplat(mlir::Value tensor);
  static bool isOnlyCopied(mlir::Value tensor);
  mlir::LogicalResult addCopy(mlir::Location loc, mlir::Value value, unsigned target);
  mlir::LogicalResult addReturns();
  mlir::LogicalResult addAssigns();
  void touch(Command &command, unsigned buffer, FormulaAttr offset, FormulaAttr length,
             Access access);
  mlir::LogicalResult addRequirement(RequireOp op);
  void require(mlir::Location loc, FormulaAttr left, Comparison comparison,
               FormulaAttr right, const llvm::Twine &what);
  mlir::LogicalResult layOut();

  //===--- PlanControl.cpp ------------------------------------------------===//

  mlir::LogicalResult buildRegion();
  mlir::LogicalResult addBranch(BranchOp branch, unsigned position);
  mlir::LogicalResult addLoop(LoopOp loop, unsigned position);
  std::string listSymbols(llvm::ArrayRef<FormulaAttr> sizes);
  mlir::FailureOr<std::unique_ptr<PlanBuilder>>
  buildNested(mlir::Operation *op, mlir::FlatSymbolRefAttr callee, const OuterPlan &around);
  void addControl(Command command, std::shared_ptr<ControlRegions> regions);

  //===--- PlanReuse.cpp --------------------------------------------------===//

  /// A step at `position` that computes `result`, and the operand whose memory that may stay in;
  /// null if there is none.
  struct Taker {
    mlir::Operation *step;
    mlir::Value result, reused;
    unsigned position;
  };
  /// The value whose memory `tensor` is in: its root, or what that has taken the memory of.
  mlir::Value getMemory(mlir::Value tensor);
  unsigned getLastUse(mlir::Value tensor) { return lastUse.lookup(getMemory(tensor)); }
  bool isReadOnceBy(mlir::Operation *step, mlir::Value memory);
  bool isAt(mlir::Value tensor, unsigned buffer);
  bool canOverwrite(mlir::Value old, const Taker &taker);
  bool canTakeTarget(unsigned target, const Taker &taker);
  bool mayHoldOthers(const Buffer &buffer, mlir::Value result);
  std::optional<unsigned> takeMemory(const Taker &taker, FormulaAttr size);
  mlir::FailureOr<std::optional<unsigned>> chooseFixed(const Taker &taker, FormulaAttr size);
  mlir::FailureOr<unsigned> choosePlace(const Taker &taker, FormulaAttr size);
  mlir::FailureOr<unsigned> chooseBuffer(DispatchOp dispatch, unsigned index, unsigned position,
                                         FormulaAttr size);
  mlir::FailureOr<unsigned> chooseResult(mlir::Value result, mlir::Value init,
                                         mlir::Operation *control, unsigned position,
                                         FormulaAttr size);

  //===--- Writing it -----------------------------------------------------===//

  mlir::LogicalResult emit();
  void emitCommands(mlir::OpBuilder &builder);
  void emitControl(mlir::OpBuilder &builder, const Command &command, llvm::ArrayRef<int64_t> after);
  RangeAttr getRange(const MemoryAccess &access);
  /// Where a buffer is in the whole function's plan.
  struct Spot {
    Space space;
    unsigned ordinal;
    FormulaAttr offset;
  };
  Spot locate(unsigned buffer);
  PlanBuilder &getRootPlan();
  mlir::DictionaryAttr describe(llvm::StringRef fallbackName, unsigned index, mlir::Type type,
                                mlir::DictionaryAttr attrs, llvm::ArrayRef<FormulaAttr> shape,
                                mlir::Builder &builder);
  mlir::ArrayAttr describeSymbols(mlir::Builder &builder);

  mlir::func::FuncOp func;
  ModuleData &data;
  const bool reuse;
  const OuterPlan *outer;
  /// The plan around this one, and the buffer there that holds this one's arena.
  PlanBuilder *parent = nullptr;
  unsigned arenaBuffer = 0;
  SymbolicDims dims;
  /// Of a region that sizes choose, or that is in such a one: 1 where they do, else 0.
  FormulaAttr isChosen;
  /// From formulas of a region's function to those of the whole plan.
  std::optional<FormulaTranslation> toRoot;
  mlir::MLIRContext *context;
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> fixedBuffers;
  llvm::DenseMap<unsigned, unsigned> outerBuffers;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, unsigned> lastUse;
  /// Result of a step -> the value whose memory it has taken.
  llvm::DenseMap<mlir::Value, mlir::Value> takenFrom;
  /// Root -> results of the function that are it, whole.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> outputsOf;
  /// Root -> variables that it is assigned to, whole.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::StringAttr>> variablesOf;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> readOf; // variable -> its old value
  llvm::DenseMap<unsigned, bool> outputDone;
  llvm::DenseMap<mlir::StringAttr, bool> variableDone;
  llvm::SmallVector<Command> commands;
  /// What sizes must be like; those of regions are in the whole function's plan.
  llvm::SetVector<mlir::Attribute> requirements;
  /// What those say of a size here, from the start of the whole function on.
  SizeEqualities equalities;
  /// By what sizes choose regions, also within regions, in the whole function's plan.
  llvm::SetVector<FormulaAttr> choices;
  ArenaPlacement arena;
  llvm::SmallVector<llvm::SmallVector<int64_t>> edges;
  llvm::SmallVector<unsigned> arenaIndex; // buffer -> its number in the arena's layout
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_PLANBUILDER_H
