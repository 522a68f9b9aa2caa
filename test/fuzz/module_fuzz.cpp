//===- module_fuzz.cpp - Feeds the loader with recombined tables --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is read as instructions that bend a good module: they write numbers
// into entries of its tables, repeat, move and share entries, also many times,
// and splice in the tables of other modules. What comes out is always a file
// whose container, sizes and checksums are right, so nothing is spent on bytes
// that the first check refuses.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/SeedModules.h"
#include "test/fuzz/UseModule.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <cstring>
#include <type_traits>

using namespace xc;
using namespace xc::test;

namespace {

/// Entries that all tables may have together: files of some megabytes.
constexpr size_t kMostEntries = 1u << 18;

class Recombiner {
public:
  Recombiner(const uint8_t *data, size_t size)
      : input(data, size), module(pickSeed()), donor(pickSeed()) {}

  std::vector<uint8_t> run() {
    // Libfuzzer's inputs grow from a few bytes on.
    while (input.remaining_bytes() > 0)
      bendModule();
    return module.finish();
  }

private:
  const ModuleSpec &pickSeed() {
    static const std::vector<SeedModule> seeds = makeSeedModules();
    return seeds[input.ConsumeIntegralInRange<size_t>(0, seeds.size() - 1)].spec;
  }

  template <typename T> T &pick(std::vector<T> &from) {
    return from[input.ConsumeIntegralInRange<size_t>(0, from.size() - 1)];
  }

  /// Numbers at which code changes its mind.
  int64_t pickNumber() {
    static const int64_t numbers[] = {-1,
                                      0,
                                      1,
                                      2,
                                      3,
                                      16,
                                      256,
                                      4095,
                                      4096,
                                      4097,
                                      1 << 20,
                                      INT32_MAX,
                                      int64_t(INT32_MAX) + 1,
                                      UINT32_MAX,
                                      INT64_MAX,
                                      INT64_MIN};
    if (input.ConsumeBool())
      return numbers[input.ConsumeIntegralInRange<size_t>(0, std::size(numbers) - 1)];
    return input.ConsumeIntegralInRange<int64_t>(-2, 40);
  }

  /// Writes a number into one field of an entry, by its place.
  template <typename T> void bendEntry(T &entry) {
    static_assert(std::is_trivially_copyable_v<T>);
    size_t bytes = size_t(1) << input.ConsumeIntegralInRange<unsigned>(0, 3);
    bytes = std::min(bytes, sizeof(T));
    size_t place = input.ConsumeIntegralInRange<size_t>(0, sizeof(T) / bytes - 1) * bytes;
    int64_t number = pickNumber();
    memcpy(reinterpret_cast<char *>(&entry) + place, &number, bytes);
  }

  /// How often an entry is repeated: mostly a few times, for large files take their time.
  size_t pickRepetitions() {
    unsigned number = input.ConsumeIntegral<uint8_t>();
    if (number < 250)
      return number < 240 ? 1 + number % 3 : 17;
    static const size_t many[] = {300, 300, 300, 300, 5000, 40000};
    return many[number - 250];
  }

  template <typename T> void repeat(std::vector<T> &table, const T &entry) {
    size_t times = std::min(pickRepetitions(), kMostEntries - std::min(entries, kMostEntries));
    entries += times;
    table.insert(table.end(), times, entry);
  }

  /// Bends a table of entries without pointers; `others` is the same table of another module.
  template <typename T> void bendTable(std::vector<T> &table, const std::vector<T> &others) {
    enum Action : uint8_t { Bend, Repeat, Erase, Swap, CopyPart, Splice, kMaxValue = Splice };
    Action action = input.ConsumeEnum<Action>();
    if (action == Splice && !others.empty())
      return repeat(table, others[input.ConsumeIntegralInRange<size_t>(0, others.size() - 1)]);
    if (table.empty())
      return;
    switch (action) {
    case Bend:
    case Splice:
      return bendEntry(pick(table));
    case Repeat: {
      T entry = pick(table);
      return repeat(table, entry);
    }
    case Erase:
      table.erase(table.begin() + (&pick(table) - table.data()));
      return;
    case Swap:
      return std::swap(pick(table), pick(table));
    case CopyPart: { // two entries share what they refer to
      T &to = pick(table);
      const T &from = pick(table);
      size_t half = sizeof(T) / 2 / 4 * 4;
      if (&to != &from)
        memcpy(&to, &from, half);
      return;
    }
    }
  }

  /// As above for entries that own memory: only whole ones move.
  template <typename T> void bendList(std::vector<T> &list, const std::vector<T> &others) {
    enum Action : uint8_t { Repeat, Erase, Splice, kMaxValue = Splice };
    Action action = input.ConsumeEnum<Action>();
    if (action == Splice && !others.empty())
      return repeat(list, others[input.ConsumeIntegralInRange<size_t>(0, others.size() - 1)]);
    if (list.empty())
      return;
    T entry = pick(list);
    if (action == Erase)
      list.erase(list.begin() + input.ConsumeIntegralInRange<long>(0, long(list.size()) - 1));
    else
      repeat(list, entry);
  }

  void bendFormulas(FormulaTable &table, const FormulaTable &others) {
    if (input.ConsumeBool())
      bendTable(table.code, others.code);
    else
      bendTable(table.ranges, others.ranges);
  }

  void bendPlan(PlanSpec &plan, const PlanSpec &other) {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 15)) {
    case 0:
      return bendTable(plan.regions, other.regions);
    case 1:
      return bendTable(plan.regionOrdinals, other.regionOrdinals);
    case 2:
      return bendTable(plan.commands, other.commands);
    case 3:
      return bendTable(plan.edges, other.edges);
    case 4:
      return bendTable(plan.dispatches, other.dispatches);
    case 5:
      return bendTable(plan.variants, other.variants);
    case 6:
      return bendTable(plan.guards, other.guards);
    case 7:
      return bendTable(plan.scalars, other.scalars);
    case 8:
      return bendTable(plan.bindings, other.bindings);
    case 9:
      return bendTable(plan.copies, other.copies);
    case 10:
      return bendTable(plan.fills, other.fills);
    case 11:
      return bendTable(plan.collectives, other.collectives);
    case 12:
      return bendTable(plan.controls, other.controls);
    case 13:
      return bendTable(plan.choices, other.choices);
    case 14:
      return bendEntry(plan.arenaSize);
    default:
      return bendFormulas(plan.formulas, other.formulas);
    }
  }

  void bendArgument(ArgumentSpec &argument) {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 4)) {
    case 0:
      return bendTable(argument.dims, {literal(3), formula(0), formula(1)});
    case 1:
      argument.dtype = static_cast<fb::DType>(input.ConsumeIntegral<uint8_t>());
      return;
    case 2:
      return bendEntry(argument.alignment);
    case 3:
      argument.donated = !argument.donated;
      return;
    default:
      return bendEntry(argument.alias);
    }
  }

  void bendFunction(FunctionSpec &function, const FunctionSpec &other) {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 11)) {
    case 0:
      return bendList(function.inputs, other.inputs);
    case 1:
      return bendList(function.outputs, other.outputs);
    case 2:
      return bendList(function.symbols, other.symbols);
    case 3:
      return bendFormulas(function.formulas, other.formulas);
    case 4:
      return bendList(function.plans, other.plans);
    case 5:
      function.requirements.push_back({});
      return bendEntry(function.requirements.back().left);
    case 6:
      if (!function.inputs.empty())
        bendArgument(pick(function.inputs));
      return;
    case 7:
      if (!function.outputs.empty())
        bendArgument(pick(function.outputs));
      return;
    case 8:
      if (!function.symbols.empty())
        bendSymbol(pick(function.symbols));
      return;
    default:
      if (!function.plans.empty() && !other.plans.empty())
        bendPlan(pick(function.plans), other.plans.front());
      return;
    }
  }

  void bendSymbol(SymbolSpec &symbol) {
    int64_t *fields[] = {&symbol.min, &symbol.max, &symbol.divisor};
    unsigned field = input.ConsumeIntegralInRange<unsigned>(0, 4);
    if (field < 3)
      return bendEntry(*fields[field]);
    bendEntry(field == 3 ? symbol.input : symbol.dim);
  }

  void bendKernel(ExportSpec &kernel, const ExportSpec &other) {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 9)) {
    case 0:
      return bendEntry(kernel.bindings);
    case 1:
      return bendEntry(kernel.scalars);
    case 2:
      return bendEntry(kernel.scratch);
    case 3:
      return bendTable(kernel.block, other.block);
    case 4:
      return bendTable(kernel.parameters, other.parameters);
    case 5:
      return bendTable(kernel.cluster, other.cluster);
    case 6:
      return bendList(kernel.tensorMaps, other.tensorMaps);
    case 7:
      return bendEntry(input.ConsumeBool() ? kernel.bytes : kernel.flops);
    case 8:
      return bendList(kernel.locations, {"model.mlir:1"});
    default:
      if (!kernel.tensorMaps.empty())
        bendTensorMap(pick(kernel.tensorMaps));
      return;
    }
  }

  void bendTensorMap(TensorMapSpec &map) {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 5)) {
    case 0:
      return bendTable(map.dims, {literal(8), formula(0)});
    case 1:
      return bendTable(map.strides, {literal(16), formula(1)});
    case 2:
      return bendTable(map.box, {256});
    case 3:
      return bendTable(map.elementStrides, {2});
    case 4:
      return bendEntry(map.offset);
    default:
      return bendEntry(map.binding);
    }
  }

  void bendExecutable(ExecutableSpec &code, const ExecutableSpec &other) {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 4)) {
    case 0:
      return bendEntry(code.target);
    case 1:
      code.kind = static_cast<fb::CodeKind>(input.ConsumeIntegralInRange<int>(0, 4));
      return;
    case 2:
      return bendList(code.exports, other.exports);
    case 3:
      return bendFormulas(code.formulas, other.formulas);
    default:
      if (!code.exports.empty() && !other.exports.empty())
        bendKernel(pick(code.exports), other.exports.front());
      return;
    }
  }

  void bendModule() {
    switch (input.ConsumeIntegralInRange<unsigned>(0, 15)) {
    case 0:
      return bendList(module.targets, donor.targets);
    case 1:
      return bendList(module.functions, donor.functions);
    case 2:
      return bendList(module.executables, donor.executables);
    case 3:
      return bendList(module.constants, donor.constants);
    case 4:
      return bendList(module.variables, donor.variables);
    case 5:
      if (!module.variables.empty())
        bendEntry(pick(module.variables).initialConstant);
      return;
    case 6:
      if (!module.initPlans.empty() && !donor.functions.empty() &&
          !donor.functions[0].plans.empty())
        bendPlan(pick(module.initPlans).plan, donor.functions[0].plans[0]);
      return;
    case 7:
      return bendList(module.initPlans, donor.initPlans);
    case 8:
      module.requiredFeatures.push_back(input.ConsumeBool() ? "choices" : "shared formulas");
      return;
    case 9:
      module.namings = static_cast<uint32_t>(std::min<size_t>(pickRepetitions(), 5000));
      return;
    case 10:
    case 11:
      if (!module.executables.empty() && !donor.executables.empty())
        bendExecutable(pick(module.executables), donor.executables.front());
      return;
    default:
      if (!module.functions.empty() && !donor.functions.empty())
        bendFunction(pick(module.functions), donor.functions.front());
      return;
    }
  }

  FuzzedDataProvider input;
  ModuleSpec module, donor;
  size_t entries = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes = Recombiner(data, size).run();
  useModule(bytes.data(), bytes.size());
  return 0;
}
