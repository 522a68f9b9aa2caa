//===- PlanWriter.cpp - Plans as tables ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/PlanWriter.h"

#include "compiler/Target/TensorMaps.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace xc::target {

std::string printLocation(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) +
            ":" + Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

namespace {

class PlanWriter {
public:
  PlanWriter(flatbuffers::FlatBufferBuilder &builder, plan::FunctionOp function,
             const llvm::StringMap<KernelExports> &kernels, const DataNumbers &numbers)
      : builder(builder), function(function), kernels(kernels), numbers(numbers),
        formulas(function) {}

  FailureOr<flatbuffers::Offset<fb::Plan>> write(uint32_t target);

private:
  fb::Binding getBinding(plan::RangeAttr range);
  uint32_t addLocation(Location loc);
  void addCommand(fb::CommandKind kind, uint32_t ordinal, ArrayRef<int64_t> after);
  void addCommandOp(Operation &op);
  void addLaunch(plan::LaunchOp launch);
  fb::Range addRegions(Operation *op);
  void addVariant(const KernelExports &kernel, unsigned variant,
                  ArrayRef<plan::FormulaAttr> scalars);

  flatbuffers::FlatBufferBuilder &builder;
  plan::FunctionOp function;
  const llvm::StringMap<KernelExports> &kernels;
  const DataNumbers &numbers;
  FormulaTable formulas;
  std::vector<fb::Command> commands;
  std::vector<uint32_t> edges;
  std::vector<fb::Dispatch> dispatches;
  std::vector<fb::Variant> variants;
  std::vector<fb::Guard> guards;
  std::vector<fb::Value> scalarValues;
  std::vector<fb::Binding> bindings;
  std::vector<fb::Copy> copies;
  std::vector<fb::Fill> fills;
  std::vector<fb::Control> controls;
  std::vector<fb::Choice> choices;
  std::vector<uint32_t> regionOrdinals;
  std::vector<Block *> blocks; // of the regions, in order
  std::vector<std::string> locations;
  llvm::StringMap<uint32_t> locationNumbers;
};

} // namespace

fb::Binding PlanWriter::getBinding(plan::RangeAttr range) {
  uint32_t ordinal = range.getOrdinal();
  if (range.getSpace() == plan::Space::Constant)
    ordinal = numbers.constants[ordinal];
  else if (range.getSpace() == plan::Space::Parameter)
    ordinal = numbers.parameters[ordinal];
  else if (range.getSpace() == plan::Space::Variable)
    ordinal = numbers.variables[ordinal];
  return fb::Binding(static_cast<fb::Space>(range.getSpace()),
                     static_cast<fb::Access>(range.getAccess()), ordinal,
                     formulas.getValue(range.getOffset()), formulas.getValue(range.getLength()));
}

uint32_t PlanWriter::addLocation(Location loc) {
  std::string text = printLocation(loc);
  auto [it, isNew] = locationNumbers.try_emplace(text, locations.size());
  if (isNew)
    locations.push_back(text);
  return it->second;
}

void PlanWriter::addCommand(fb::CommandKind kind, uint32_t ordinal, ArrayRef<int64_t> after) {
  commands.emplace_back(kind, ordinal, fb::Range(edges.size(), after.size()));
  edges.insert(edges.end(), after.begin(), after.end());
}

/// One way to run the kernel: its grid and guards, from formulas over its scalars to formulas over
/// the function's symbols.
void PlanWriter::addVariant(const KernelExports &kernel, unsigned variant,
                            ArrayRef<plan::FormulaAttr> scalars) {
  DictionaryAttr description = kernel.descriptions[variant];
  auto launch = cast<plan::LaunchAttr>(description.get("launch"));
  auto substitute = [&](plan::FormulaAttr formula) { return formula.replaceSymbols(scalars); };
  fb::Range guardRange(guards.size(), 0);
  uint32_t guardCount = 0;
  if (auto list = description.getAs<ArrayAttr>("guards"))
    for (Attribute guard : list) {
      if (auto value = dyn_cast<plan::ValueGuardAttr>(guard))
        guards.emplace_back(fb::GuardKind::ValueInRange,
                            formulas.getFormula(substitute(value.getValue())), value.getMin(),
                            value.getMax(), value.getDivisor());
      else if (auto alignment = dyn_cast<plan::AlignmentGuardAttr>(guard))
        guards.emplace_back(fb::GuardKind::BindingAligned, alignment.getBinding(), 0, 0,
                            alignment.getBytes());
      ++guardCount;
    }
  SmallVector<plan::FormulaAttr> mapScalars = getTensorMapScalars(description);
  fb::Range scalarRange(scalarValues.size(), scalars.size() + mapScalars.size());
  for (plan::FormulaAttr scalar : scalars)
    scalarValues.push_back(formulas.getValue(scalar));
  for (plan::FormulaAttr scalar : mapScalars)
    scalarValues.push_back(formulas.getValue(substitute(scalar)));
  ArrayRef<plan::FormulaAttr> grid = launch.getGrid();
  fb::Value none(-1, 0);
  variants.emplace_back(
      kernel.executable, kernel.exports[variant], fb::Range(guardRange.begin(), guardCount),
      scalarRange, formulas.getValue(substitute(grid[0])), formulas.getValue(substitute(grid[1])),
      formulas.getValue(substitute(grid[2])), none, none);
}

void PlanWriter::addLaunch(plan::LaunchOp launch) {
  const KernelExports &kernel = kernels.find(launch.getKernel())->second;
  fb::Range variantRange(variants.size(), kernel.exports.size());
  auto scalars = llvm::to_vector(launch.getScalars().getAsRange<plan::FormulaAttr>());
  for (unsigned variant = 0; variant < kernel.exports.size(); ++variant)
    addVariant(kernel, variant, scalars);
  fb::Range bindingRange(bindings.size(), launch.getBindings().size());
  for (Attribute range : launch.getBindings())
    bindings.push_back(getBinding(cast<plan::RangeAttr>(range)));
  dispatches.emplace_back(variantRange, bindingRange, addLocation(launch.getLoc()));
  addCommand(fb::CommandKind::Dispatch, dispatches.size() - 1, launch.getAfter());
}

/// They follow all regions that were named before them, so each comes behind its parent.
fb::Range PlanWriter::addRegions(Operation *op) {
  fb::Range range(regionOrdinals.size(), op->getNumRegions());
  for (Region &region : op->getRegions()) {
    regionOrdinals.push_back(blocks.size());
    blocks.push_back(&region.front());
  }
  return range;
}

void PlanWriter::addCommandOp(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](plan::LaunchOp launch) { addLaunch(launch); })
      .Case([&](plan::CopyOp copy) {
        copies.emplace_back(getBinding(copy.getSource()), getBinding(copy.getTarget()));
        addCommand(fb::CommandKind::Copy, copies.size() - 1, copy.getAfter());
      })
      .Case([&](plan::FillOp fill) {
        fills.emplace_back(getBinding(fill.getTarget()), fill.getPattern(), fill.getPatternSize());
        addCommand(fb::CommandKind::Fill, fills.size() - 1, fill.getAfter());
      })
      .Case([&](plan::ControlOp control) {
        controls.emplace_back(control.getLoop(), getBinding(control.getCondition()),
                              addRegions(control));
        addCommand(fb::CommandKind::Control, controls.size() - 1, control.getAfter());
      })
      .Case([&](plan::ChooseOp choose) {
        choices.emplace_back(formulas.getValue(choose.getCondition()), addRegions(choose));
        addCommand(fb::CommandKind::Choice, choices.size() - 1, choose.getAfter());
      });
}

FailureOr<flatbuffers::Offset<fb::Plan>> PlanWriter::write(uint32_t target) {
  blocks.push_back(&function.getBody().front());
  std::vector<fb::Region> regions;
  for (size_t region = 0; region < blocks.size(); ++region) {
    uint32_t begin = commands.size();
    for (Operation &op : *blocks[region])
      addCommandOp(op);
    regions.emplace_back(fb::Range(begin, commands.size() - begin));
  }
  fb::Value arena = formulas.getValue(function.getArena());
  auto regionVector = builder.CreateVectorOfStructs(regions);
  FormulaCode written = formulas.emit();
  if (failed(checkDepth(function, written)))
    return failure();
  auto code = builder.CreateVectorOfStructs(written.code);
  auto ranges = builder.CreateVectorOfStructs(written.formulas);
  auto commandVector = builder.CreateVectorOfStructs(commands);
  auto edgeVector = builder.CreateVector(edges);
  auto dispatchVector = builder.CreateVectorOfStructs(dispatches);
  auto variantVector = builder.CreateVectorOfStructs(variants);
  auto guardVector = builder.CreateVectorOfStructs(guards);
  auto scalarVector = builder.CreateVectorOfStructs(scalarValues);
  auto bindingVector = builder.CreateVectorOfStructs(bindings);
  auto copyVector = builder.CreateVectorOfStructs(copies);
  auto fillVector = builder.CreateVectorOfStructs(fills);
  auto controlVector = builder.CreateVectorOfStructs(controls);
  auto choiceVector = builder.CreateVectorOfStructs(choices);
  auto ordinalVector = builder.CreateVector(regionOrdinals);
  auto locationVector = builder.CreateVectorOfStrings(locations);
  fb::PlanBuilder plan(builder);
  plan.add_target(target);
  plan.add_formula_code(code);
  plan.add_formulas(ranges);
  plan.add_regions(regionVector);
  plan.add_commands(commandVector);
  plan.add_edges(edgeVector);
  plan.add_dispatches(dispatchVector);
  plan.add_variants(variantVector);
  plan.add_guards(guardVector);
  plan.add_scalars(scalarVector);
  plan.add_bindings(bindingVector);
  plan.add_copies(copyVector);
  plan.add_fills(fillVector);
  if (!controls.empty())
    plan.add_controls(controlVector);
  if (!regionOrdinals.empty())
    plan.add_region_ordinals(ordinalVector);
  plan.add_arena_size(&arena);
  if (auto largest = function->getAttrOfType<IntegerAttr>("arena_max"))
    plan.add_arena_max(largest.getInt());
  plan.add_locations(locationVector);
  if (!choices.empty())
    plan.add_choices(choiceVector);
  return plan.Finish();
}

FailureOr<flatbuffers::Offset<fb::Plan>> writePlan(flatbuffers::FlatBufferBuilder &builder,
                                                   plan::FunctionOp function, uint32_t target,
                                                   const llvm::StringMap<KernelExports> &kernels,
                                                   const DataNumbers &numbers) {
  return PlanWriter(builder, function, kernels, numbers).write(target);
}

} // namespace xc::target
