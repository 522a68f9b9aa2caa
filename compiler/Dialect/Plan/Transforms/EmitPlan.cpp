//===- EmitPlan.cpp - What has been planned as a plan.function ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/EmitPlan.h"

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"

using namespace mlir;

namespace xc::plan {

static ArrayAttr getArray(Builder &builder, ArrayRef<FormulaAttr> formulas) {
  return builder.getArrayAttr(SmallVector<Attribute>(formulas.begin(), formulas.end()));
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

namespace {

/// Where a buffer is in the whole function's plan.
struct Spot {
  Space space;
  unsigned ordinal;
  FormulaAttr offset;
};

} // namespace

static Spot locate(const PlannedRegion &plan, unsigned number) {
  const Buffer &buffer = plan.buffers[number];
  if (buffer.outer)
    return locate(*plan.parent, *buffer.outer);
  if (buffer.space != Space::Arena)
    return {buffer.space, buffer.ordinal, FormulaAttr::getConstant(buffer.size.getContext(), 0)};
  FormulaAttr offset = plan.arena.offsets[plan.arenaIndex[number]];
  if (plan.parent)
    offset = locate(*plan.parent, plan.arenaBuffer).offset + offset;
  return {Space::Arena, 0, offset};
}

static RangeAttr getRange(const PlannedRegion &plan, const MemoryAccess &access) {
  Spot spot = locate(plan, access.buffer);
  return RangeAttr::get(access.length.getContext(), access.access, spot.space, spot.ordinal,
                        spot.offset + access.offset, access.length);
}

static void emitFill(OpBuilder &builder, const Command &command, RangeAttr target,
                     ArrayRef<int64_t> after) {
  ArrayRef<char> bytes = command.fill.getRawData();
  uint64_t pattern = 0;
  for (char byte : llvm::reverse(bytes))
    pattern = pattern << 8 | static_cast<uint8_t>(byte);
  FillOp::create(builder, command.loc, target, pattern, bytes.size(),
                 builder.getDenseI64ArrayAttr(after));
}

static void emitCommands(OpBuilder &builder, const PlannedRegion &plan);

static void emitControl(OpBuilder &builder, const PlannedRegion &plan, const Command &command,
                        ArrayRef<int64_t> after) {
  DenseI64ArrayAttr edges = builder.getDenseI64ArrayAttr(after);
  Operation *control;
  if (FormulaAttr choice = command.control->choice)
    control = ChooseOp::create(builder, command.loc, choice, edges);
  else
    control =
        ControlOp::create(builder, command.loc, getRange(plan, command.accesses.front()),
                          command.control->isLoop ? builder.getUnitAttr() : UnitAttr(), edges);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [region, nested] : llvm::zip_equal(control->getRegions(), command.control->plans)) {
    builder.createBlock(&region);
    emitCommands(builder, *nested);
  }
}

static void emitCommands(OpBuilder &builder, const PlannedRegion &plan) {
  for (auto [command, after] : llvm::zip_equal(plan.commands, plan.edges)) {
    if (command.control) {
      emitControl(builder, plan, command, after);
      continue;
    }
    SmallVector<Attribute> ranges;
    for (const MemoryAccess &access : command.accesses)
      ranges.push_back(getRange(plan, access));
    if (command.kernel)
      LaunchOp::create(builder, command.loc, command.kernel, builder.getArrayAttr(ranges),
                       getArray(builder, command.scalars), builder.getDenseI64ArrayAttr(after));
    else if (command.fill)
      emitFill(builder, command, cast<RangeAttr>(ranges[0]), after);
    else
      CopyOp::create(builder, command.loc, cast<RangeAttr>(ranges[0]), cast<RangeAttr>(ranges[1]),
                     builder.getDenseI64ArrayAttr(after));
  }
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// An input or result of the function.
static DictionaryAttr describe(StringRef fallbackName, unsigned index, Type type,
                               DictionaryAttr attrs, ArrayRef<FormulaAttr> shape,
                               Builder &builder) {
  NamedAttrList result;
  auto get = [&](StringRef name) { return attrs ? attrs.get(name) : Attribute(); };
  Attribute name = get(array::kNameAttr);
  result.set("name", name ? name : builder.getStringAttr(fallbackName + Twine(index)));
  result.set("type", TypeAttr::get(type));
  result.set("dims", getArray(builder, shape));
  if (Attribute dtype = get(array::kDtypeAttr))
    result.set("dtype", dtype);
  if (get(array::kDonatedAttr))
    result.set("donated", builder.getUnitAttr());
  if (Attribute alias = get(array::kAliasAttr))
    result.set("alias", alias);
  return result.getDictionary(builder.getContext());
}

static ArrayAttr describeSymbols(func::FuncOp func, const SymbolicDims &dims, Builder &builder) {
  auto ranges = func->getAttrOfType<DictionaryAttr>(array::kDimRangeAttr);
  SmallVector<Attribute> symbols;
  for (const SymbolDefinition &symbol : dims.getSymbols()) {
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(symbol.name));
    entry.set("input", builder.getI64IntegerAttr(symbol.input));
    entry.set("dim", builder.getI64IntegerAttr(symbol.dim));
    if (Attribute range = ranges ? ranges.get(symbol.name) : Attribute()) {
      entry.set("range", range);
      entry.set("loc", LocationAttr(func.getLoc()));
    }
    symbols.push_back(entry.getDictionary(builder.getContext()));
  }
  return builder.getArrayAttr(symbols);
}

/// Of an arena in whose size regions have their parts that are never in use together: the largest
/// for any choice; -1 where nothing is known.
static int64_t getLargest(FormulaAttr size, ArrayRef<FormulaAttr> choices,
                          const SymbolicDims &dims) {
  // Each doubles the work.
  constexpr size_t kMostChoices = 8;
  if (choices.empty() || choices.size() > kMostChoices)
    return dims.getRange(size).max;
  int64_t largest = 0;
  for (int64_t value : {0, 1}) {
    FormulaAttr chosen =
        size.replaceParts({{choices.front(), FormulaAttr::getConstant(size.getContext(), value)}});
    int64_t most = getLargest(chosen, choices.drop_front(), dims);
    if (most < 0)
      return -1;
    largest = std::max(largest, most);
  }
  return largest;
}

void emitPlan(func::FuncOp func, SymbolicDims &dims, const PlannedFunction &planned) {
  OpBuilder builder(func);
  const ArenaPlacement &arena = planned.region.arena;
  SmallVector<Attribute> inputs, outputs;
  for (BlockArgument argument : func.getArguments())
    inputs.push_back(describe("input", argument.getArgNumber(), argument.getType(),
                              func.getArgAttrDict(argument.getArgNumber()),
                              *dims.getShape(argument), builder));
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    FailureOr<SmallVector<FormulaAttr>> shape = dims.getShape(value);
    outputs.push_back(
        describe("output", index, value.getType(), func.getResultAttrDict(index), *shape, builder));
  }
  auto plan = FunctionOp::create(builder, func.getLoc(), func.getSymNameAttr(),
                                 describeSymbols(func, dims, builder), builder.getArrayAttr(inputs),
                                 builder.getArrayAttr(outputs), arena.size);
  if (Attribute doc = func->getAttr(array::kDocAttr))
    plan->setAttr("doc", doc);
  if (Attribute layouts = func->getAttr(kLayoutsAttr))
    plan->setAttr(kLayoutsAttr, layouts);
  for (StringRef name : {kInitAttr, kHoistedAttr})
    if (Attribute value = func->getAttr(name))
      plan->setAttr(name, value);
  if (!planned.requirements.empty())
    plan->setAttr("requirements", builder.getArrayAttr(planned.requirements));
  SmallVector<FormulaAttr> definitions;
  for (unsigned symbol = dims.getSymbols().size(); symbol < dims.getSymbolCount(); ++symbol)
    definitions.push_back(dims.getDefinition(symbol));
  if (!definitions.empty())
    plan->setAttr("definitions", getArray(builder, definitions));
  plan->setAttr("arena_static", builder.getI64IntegerAttr(arena.staticSize));
  if (int64_t largest = getLargest(arena.size, planned.choices, dims);
      largest > 0 && !arena.size.isConstant())
    plan->setAttr("arena_max", builder.getI64IntegerAttr(largest));
  builder.createBlock(&plan.getBody());
  emitCommands(builder, planned.region);
}

} // namespace xc::plan
