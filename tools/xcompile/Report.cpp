//===- Report.cpp - What became of each kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/Report.h"

#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Plan/IR/FusionRecords.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "tools/common/Printable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace xc {

static std::string formatBytes(int64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes;
  unsigned unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(unit == 0 ? "%.0f %s" : "%.1f %s", value,
                                                 kUnits[unit]);
  return text;
}

/// "1 launch", "2 launches".
static std::string count(int64_t number, llvm::StringRef one, llvm::StringRef many) {
  return (llvm::Twine(number) + " " + (number == 1 ? one : many)).str();
}

static std::string printAttribute(Attribute attr) {
  if (!attr)
    return {};
  if (auto text = dyn_cast<StringAttr>(attr))
    return text.str();
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

/// A formula over `prefix`0, `prefix`1, ...
static std::string printFormula(plan::FormulaAttr formula) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  formula.printText(stream);
  return text;
}

static plan::TargetAttr getTarget(ModuleOp target) {
  return target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
}

static std::string getTargetName(ModuleOp target) {
  plan::TargetAttr attr = getTarget(target);
  return (attr.getKind().getValue() + ":" + attr.getArch().getValue()).str();
}

/// Bytes of what is bound in `space`, by number: as many as anything reads from its start.
static llvm::DenseMap<unsigned, int64_t> getReadBytes(plan::FunctionOp function,
                                                      plan::Space space) {
  llvm::DenseMap<unsigned, int64_t> bytes;
  auto add = [&](plan::RangeAttr range) {
    std::optional<int64_t> offset = range.getOffset().asConstant(),
                           length = range.getLength().asConstant();
    if (range.getSpace() != space)
      return;
    int64_t &known = bytes[range.getOrdinal()];
    if (offset && length)
      known = std::max(known, *offset + *length);
  };
  function.walk([&](Operation *op) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      for (Attribute range : launch.getBindings())
        add(cast<plan::RangeAttr>(range));
    else if (auto copy = dyn_cast<plan::CopyOp>(op))
      add(copy.getSource());
    else if (auto control = dyn_cast<plan::ControlOp>(op))
      add(control.getCondition());
  });
  return bytes;
}

static int64_t getBytes(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() * llvm::divideCeil(shaped.getElementTypeBitWidth(), 8);
}

/// The plan that runs once, before the first call.
struct InitSummary {
  unsigned launches = 0;
  /// Of its results, and of what it alone reads, which goes when it has run.
  int64_t bytes = 0, released = 0;
};

static InitSummary summarizeInit(plan::FunctionOp init) {
  InitSummary summary;
  init.walk([&](plan::LaunchOp) { ++summary.launches; });
  for (Attribute output : init.getOutputs())
    summary.bytes += getBytes(cast<DictionaryAttr>(output).getAs<TypeAttr>("type").getValue());
  auto target = cast<ModuleOp>(init->getParentOp());
  for (plan::Space space : {plan::Space::Constant, plan::Space::Parameter}) {
    llvm::DenseMap<unsigned, int64_t> read = getReadBytes(init, space);
    for (auto function : target.getOps<plan::FunctionOp>())
      if (function != init)
        for (auto [ordinal, bytes] : getReadBytes(function, space))
          read.erase(ordinal);
    for (auto [ordinal, bytes] : read)
      summary.released += bytes;
  }
  return summary;
}

void printSummary(ModuleOp module, llvm::raw_ostream &stream) {
  for (auto target : module.getOps<ModuleOp>())
    for (auto function : target.getOps<plan::FunctionOp>()) {
      if (function->hasAttr(plan::kInitAttr)) {
        InitSummary init = summarizeInit(function);
        stream << getTargetName(target)
               << " once an instance: " << count(init.launches, "launch", "launches") << ", "
               << count(function.getOutputs().size(), "result", "results") << " of together "
               << formatBytes(init.bytes) << ", " << formatBytes(init.released)
               << " of parameters and constants given back\n";
        continue;
      }
      unsigned launches = 0, copies = 0, controls = 0, choices = 0;
      function.walk([&](Operation *op) {
        launches += isa<plan::LaunchOp>(op);
        copies += isa<plan::CopyOp>(op);
        controls += isa<plan::ControlOp>(op);
        choices += isa<plan::ChooseOp>(op);
      });
      auto bytes = function->getAttrOfType<IntegerAttr>("arena_static");
      stream << getTargetName(target) << " @" << tools::printable(function.getSymName()) << ": "
             << count(launches, "launch", "launches") << ", " << count(copies, "copy", "copies")
             << ", ";
      if (controls)
        stream << count(controls, "if or while", "ifs and whiles") << ", ";
      if (choices)
        stream << count(choices, "choice by sizes", "choices by sizes") << ", ";
      stream << "peak scratch memory ";
      if (function.getArena().isConstant()) {
        stream << formatBytes(bytes.getInt());
      } else {
        // The formula holds the static part too.
        stream << printFormula(function.getArena()) << " bytes with";
        for (auto [index, symbol] : llvm::enumerate(function.getSymbols()))
          stream << (index ? ", s" : " s") << index << " = "
                 << printAttribute(cast<DictionaryAttr>(symbol).get("name"));
        if (ArrayAttr definitions = function.getDefinitions())
          for (auto [index, formula] : llvm::enumerate(definitions.getAsRange<plan::FormulaAttr>()))
            stream << ", s" << function.getSymbols().size() + index << " = "
                   << printFormula(formula);
        if (auto largest = function->getAttrOfType<IntegerAttr>("arena_max"))
          stream << ", at most " << formatBytes(largest.getInt());
      }
      stream << "\n";
    }
}

/// Adds what one block takes of a multiprocessor and how many it therefore holds.
static void describeOccupancy(DictionaryAttr entry, const cuda::Target &target,
                              llvm::json::Object &object) {
  auto launch = entry.getAs<plan::LaunchAttr>("launch");
  if (!launch)
    return;
  cuda::BlockNeeds needs;
  needs.threads = 1;
  for (int64_t extent : launch.getBlock())
    needs.threads *= extent;
  if (auto registers = entry.getAs<IntegerAttr>("registers"))
    needs.registers = registers.getInt();
  needs.sharedBytes = launch.getShared();
  if (auto shared = entry.getAs<IntegerAttr>("static_shared"))
    needs.sharedBytes += shared.getInt();
  cuda::Occupancy occupancy = cuda::computeOccupancy(target, needs);
  object["shared_memory"] = needs.sharedBytes;
  object["threads"] = needs.threads;
  object["blocks_per_multiprocessor"] = occupancy.blocks;
  object["warps_per_multiprocessor"] = occupancy.warps;
  object["occupancy"] = double(occupancy.warps) / occupancy.maxWarps;
  object["occupancy_limit"] = occupancy.limit;
}

/// Adds what the kernel's configuration was compared with; times in microseconds.
static void describeSelection(cuda::SelectionAttr selection, llvm::json::Object &object) {
  if (std::optional<int64_t> time = selection.getExpectedNs())
    object["expected_us"] = *time / 1e3;
  if (selection.getRunnerUp())
    object["runner_up"] = printAttribute(selection.getRunnerUp());
  if (std::optional<int64_t> time = selection.getRunnerUpNs())
    object["runner_up_us"] = *time / 1e3;
  if (!selection.getKey())
    return;
  object["key"] = selection.getKey().getValue();
  object["own_key"] = selection.getOwnKey();
}

static llvm::json::Object describeExport(DictionaryAttr entry, const cuda::Target *target) {
  llvm::json::Object object;
  if (auto config = dyn_cast_or_null<plan::LoweringConfigInterface>(entry.get("config")))
    object["strategy"] = config.getStrategyName();
  for (NamedAttribute attr : entry) {
    if (auto selection = dyn_cast<cuda::SelectionAttr>(attr.getValue()))
      describeSelection(selection, object);
    else if (auto number = dyn_cast<IntegerAttr>(attr.getValue()))
      object[attr.getName().str()] = number.getInt();
    else
      object[attr.getName().str()] = printAttribute(attr.getValue());
  }
  if (target)
    describeOccupancy(entry, *target, object);
  return object;
}

/// Whether any variant of the kernel is compiled by the strategy that takes what no other does.
static bool usesGeneric(ModuleOp kernel) {
  auto exports = kernel->getAttrOfType<ArrayAttr>("plan.exports");
  return exports && llvm::any_of(exports, [](Attribute entry) {
           auto config = dyn_cast_or_null<plan::LoweringConfigInterface>(
               cast<DictionaryAttr>(entry).get("config"));
           return config && config.getStrategyName() == "generic";
         });
}

/// The dictionaries of one of the kernel's lists (FusionRecords.h), as they are.
static llvm::json::Array describeFusion(ModuleOp kernel, llvm::StringRef name) {
  llvm::json::Array entries;
  auto list = kernel->getAttrOfType<ArrayAttr>(name);
  if (!list)
    return entries;
  for (auto dictionary : list.getAsRange<DictionaryAttr>()) {
    llvm::json::Object entry;
    for (NamedAttribute attr : dictionary)
      if (auto number = dyn_cast<IntegerAttr>(attr.getValue()))
        entry[attr.getName().str()] = number.getInt();
      else
        entry[attr.getName().str()] = printAttribute(attr.getValue());
    entries.push_back(std::move(entry));
  }
  return entries;
}

static llvm::json::Object describeKernel(ModuleOp kernel, unsigned launches, unsigned initLaunches,
                                         const cuda::Target *target) {
  llvm::json::Object object;
  object["name"] = *kernel.getSymName();
  object["launches"] = launches;
  object["init_launches"] = initLaunches;
  llvm::json::Array locations, variants;
  if (auto list = kernel->getAttrOfType<ArrayAttr>("plan.locations"))
    for (Attribute location : list)
      locations.push_back(cast<StringAttr>(location).getValue());
  object["locations"] = std::move(locations);
  for (StringRef key : {"plan.bytes", "plan.flops"})
    if (auto formula = kernel->getAttrOfType<plan::FormulaAttr>(key))
      object[key.drop_front(5)] = printFormula(formula);
  if (auto list = kernel->getAttrOfType<ArrayAttr>("plan.exports"))
    for (Attribute entry : list)
      variants.push_back(describeExport(cast<DictionaryAttr>(entry), target));
  object["variants"] = std::move(variants);
  object["generic"] = usesGeneric(kernel);
  object["joins"] = describeFusion(kernel, plan::kJoinsAttr);
  object["refusals"] = describeFusion(kernel, plan::kRefusalsAttr);
  return object;
}

/// One line about a CUDA kernel: what it takes and how many of its blocks run side by side.
static void printResources(const llvm::json::Object &variant, llvm::raw_ostream &stream) {
  std::optional<double> occupancy = variant.getNumber("occupancy");
  if (!occupancy)
    return;
  if (auto registers = variant.getInteger("registers"))
    stream << "      " << *registers << " registers, " << variant.getInteger("spills").value_or(0)
           << " bytes spilled, ";
  else
    stream << "      registers not known without ptxas, ";
  stream << *variant.getInteger("shared_memory") << " bytes of shared memory; occupancy "
         << (variant.getInteger("registers") ? "" : "at most ")
         << llvm::format("%.0f %%", 100 * *occupancy) << " ("
         << *variant.getInteger("blocks_per_multiprocessor") << " blocks of "
         << *variant.getInteger("threads") << " threads, limited by "
         << *variant.getString("occupancy_limit") << ")\n";
}

/// A number in the unit that reads best, a formula of sizes as it is.
static std::string printBytes(std::optional<llvm::StringRef> formula) {
  uint64_t bytes;
  if (formula && !formula->getAsInteger(10, bytes))
    return formatBytes(bytes);
  return formula.value_or("?").str() + " bytes";
}

static std::string printFlops(std::optional<llvm::StringRef> formula) {
  uint64_t flops;
  if (!formula || formula->getAsInteger(10, flops) || flops < 1000)
    return formula.value_or("?").str() + " FLOPs";
  double number = flops;
  size_t unit = 0;
  static constexpr llvm::StringLiteral kUnits[] = {"", "k", "M", "G", "T", "P"};
  for (; number >= 1000 && unit + 1 < std::size(kUnits); ++unit)
    number /= 1000;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f ", number) << kUnits[unit] << "FLOPs";
  return text;
}

/// "from fused.mlir:3:8 to fused.mlir:4:8"; ops of one place are parts of one of the program.
static std::string printWay(const llvm::json::Object &entry) {
  llvm::StringRef from = *entry.getString("from"), to = *entry.getString("to");
  return from == to ? ("within " + to).str() : ("from " + from + " to " + to).str();
}

/// One line: what the joins of a kernel saved together.
static void printFusionSummary(const llvm::json::Object &kernel, llvm::raw_ostream &stream) {
  int64_t launches = 0, bytes = 0;
  bool isKnown = true;
  for (const llvm::json::Value &value : *kernel.getArray("joins")) {
    const llvm::json::Object &join = *value.getAsObject();
    launches += *join.getInteger("launches");
    bytes += join.getInteger("bytes").value_or(0);
    isKnown &= join.getInteger("bytes").has_value();
  }
  if (launches)
    stream << "    fused: " << (isKnown ? "" : "at least ") << formatBytes(bytes) << " and "
           << count(launches, "launch", "launches") << " saved\n";
}

namespace {

/// Lines of a report that are printed once each, with what those of one key have together.
class MergedLines {
public:
  struct Line {
    std::string text;
    int64_t times = 0, bytes = 0, launches = 0;
  };

  Line &get(const std::string &key) {
    auto [place, isNew] = places.try_emplace(key, lines.size());
    if (isNew)
      lines.emplace_back();
    return lines[place->second];
  }
  ArrayRef<Line> getLines() const { return lines; }

private:
  llvm::StringMap<size_t> places;
  SmallVector<Line> lines;
};

} // namespace

static void printJoins(const llvm::json::Object &kernel, llvm::raw_ostream &stream) {
  MergedLines joins;
  for (const llvm::json::Value &value : *kernel.getArray("joins")) {
    const llvm::json::Object &join = *value.getAsObject();
    std::string text = "joined " + printWay(join) + ": " + join.getString("why")->str();
    MergedLines::Line &line = joins.get(text);
    line.text = text;
    line.bytes += join.getInteger("bytes").value_or(0);
    line.launches += *join.getInteger("launches");
  }
  for (const MergedLines::Line &line : joins.getLines()) {
    stream << "    " << line.text << "; ";
    if (line.bytes)
      stream << formatBytes(line.bytes) << (line.launches ? " and " : "");
    if (line.launches)
      stream << count(line.launches, "launch", "launches");
    stream << (line.bytes || line.launches ? " saved\n" : "nothing known to be saved\n");
  }
}

/// Refusals that differ in their places alone, as kernels of equal layers have them, are one line.
static void printRefusals(const llvm::json::Object &kernel, llvm::raw_ostream &stream) {
  MergedLines refusals;
  for (const llvm::json::Value &value : *kernel.getArray("refusals")) {
    const llvm::json::Object &refusal = *value.getAsObject();
    std::string producer = refusal.getString("kernel")->str();
    std::string text = ": " + refusal.getString("why")->str();
    if (auto bytes = refusal.getInteger("bytes"))
      text += "; " + formatBytes(*bytes);
    if (auto reads = refusal.getInteger("reads"))
      text += ", each element read " + count(*reads, "time", "times");
    MergedLines::Line &line = refusals.get(producer + text);
    if (!line.times++)
      line.text = "not joined with " + producer + ", " + printWay(refusal) + text;
  }
  for (const MergedLines::Line &line : refusals.getLines()) {
    stream << "    " << line.text;
    if (line.times > 1)
      stream << " (and at " << count(line.times - 1, "more place", "more places") << ")";
    stream << "\n";
  }
}

static void printText(const llvm::json::Object &kernel, ReportKind kind,
                      llvm::raw_ostream &stream) {
  stream << "  " << *kernel.getString("name") << ": ";
  int64_t launches = *kernel.getInteger("launches"), once = *kernel.getInteger("init_launches");
  if (launches || !once)
    stream << count(launches, "launch", "launches") << ", ";
  if (once)
    stream << count(once, "launch", "launches") << " once an instance, ";
  stream << printBytes(kernel.getString("bytes")) << ", " << printFlops(kernel.getString("flops"))
         << "\n";
  std::string locations;
  for (const llvm::json::Value &location : *kernel.getArray("locations"))
    locations += (locations.empty() ? "" : ", ") + location.getAsString()->str();
  if (!locations.empty())
    stream << "    from " << locations << "\n";
  printFusionSummary(kernel, stream);
  if (kind == ReportKind::Fusion) {
    printJoins(kernel, stream);
    printRefusals(kernel, stream);
  }
  for (const llvm::json::Value &value : *kernel.getArray("variants")) {
    const llvm::json::Object &variant = *value.getAsObject();
    stream << "    " << variant.getString("config").value_or("") << "\n";
    for (llvm::StringRef key : {"reason", "guards"})
      if (auto text = variant.getString(key); text && !text->empty() && *text != "[]")
        stream << "      " << key << ": " << *text << "\n";
    if (auto next = variant.getString("runner_up")) {
      stream << "      next: " << *next;
      if (auto time = variant.getNumber("runner_up_us"))
        stream << llvm::format(", %.1f us expected", *time);
      stream << "\n";
    }
    printResources(variant, stream);
  }
}

static llvm::json::Object describeInit(plan::FunctionOp init) {
  InitSummary summary = summarizeInit(init);
  llvm::json::Array results;
  if (auto texts = init->getAttrOfType<ArrayAttr>(plan::kHoistedAttr))
    for (Attribute text : texts)
      results.push_back(cast<StringAttr>(text).getValue());
  return llvm::json::Object{{"launches", summary.launches},
                            {"bytes", summary.bytes},
                            {"released_bytes", summary.released},
                            {"results", std::move(results)}};
}

/// What the program wrote in smaller ops, and how often.
static llvm::json::Object describeRecognized(ModuleOp module) {
  llvm::json::Object recognized;
  if (auto counts = module->getAttrOfType<DictionaryAttr>(array::kRecognizedAttr))
    for (NamedAttribute entry : counts)
      recognized[entry.getName().getValue()] = cast<IntegerAttr>(entry.getValue()).getInt();
  return recognized;
}

static llvm::json::Object describeTarget(ModuleOp target) {
  llvm::StringMap<unsigned> launches, initLaunches;
  std::optional<llvm::json::Object> init;
  for (auto function : target.getOps<plan::FunctionOp>()) {
    bool isInit = function->hasAttr(plan::kInitAttr);
    if (isInit)
      init = describeInit(function);
    function.walk(
        [&](plan::LaunchOp launch) { ++(isInit ? initLaunches : launches)[launch.getKernel()]; });
  }
  plan::TargetAttr attr = getTarget(target);
  const cuda::Target *arch = attr.isCUDA() ? cuda::findTarget(attr.getArch().getValue()) : nullptr;
  llvm::json::Array kernels, generic;
  llvm::json::Object layouts;
  for (auto function : target.getOps<plan::FunctionOp>())
    if (auto layout = function->getAttrOfType<StringAttr>(plan::kLayoutsAttr))
      layouts[function.getSymName()] = layout.getValue();
  unsigned total = 0, onGeneric = 0;
  for (auto kernel : target.getOps<ModuleOp>()) {
    unsigned count = launches.lookup(*kernel.getSymName());
    total += count;
    if (usesGeneric(kernel)) {
      onGeneric += count;
      generic.push_back(*kernel.getSymName());
    }
    kernels.push_back(
        describeKernel(kernel, count, initLaunches.lookup(*kernel.getSymName()), arch));
  }
  llvm::json::Object description{
      {"target", getTargetName(target)},
      {"launches", total},
      {"generic_launches", onGeneric},
      {"generic_kernels", std::move(generic)},
      {"layouts", std::move(layouts)},
      {"kernels", std::move(kernels)},
      {"recognized", describeRecognized(target->getParentOfType<ModuleOp>())}};
  if (init)
    description["init"] = std::move(*init);
  return description;
}

static void printText(const llvm::json::Object &target, StringRef name, ReportKind kind,
                      llvm::raw_ostream &stream) {
  stream << name << ": " << count(target.getArray("kernels")->size(), "kernel", "kernels") << ", "
         << *target.getInteger("generic_launches") << " of "
         << count(*target.getInteger("launches"), "launch", "launches")
         << " on the generic strategy";
  const char *separator = " (";
  for (const llvm::json::Value &kernel : *target.getArray("generic_kernels")) {
    stream << separator << *kernel.getAsString();
    separator = ", ";
  }
  stream << (target.getArray("generic_kernels")->empty() ? "\n" : ")\n");
  for (const auto &[what, times] : *target.getObject("recognized"))
    stream << "  recognized in smaller ops: " << what.str() << ", "
           << count(*times.getAsInteger(), "time", "times") << "\n";
  for (const auto &[function, layout] : *target.getObject("layouts"))
    stream << "  @" << function.str() << ": " << *layout.getAsString() << "\n";
  if (const llvm::json::Object *init = target.getObject("init")) {
    stream << "  once an instance, since it depends on parameters and constants alone: "
           << formatBytes(*init->getInteger("bytes")) << ", and "
           << formatBytes(*init->getInteger("released_bytes")) << " given back\n";
    for (const llvm::json::Value &result : *init->getArray("results"))
      stream << "    " << *result.getAsString() << "\n";
  }
  for (const llvm::json::Value &kernel : *target.getArray("kernels"))
    printText(*kernel.getAsObject(), kind, stream);
}

void printReport(ModuleOp module, ReportKind kind, llvm::raw_ostream &stream) {
  bool isJson = kind == ReportKind::Json;
  llvm::json::Array targets;
  for (auto target : module.getOps<ModuleOp>()) {
    llvm::json::Object description = describeTarget(target);
    if (!isJson)
      printText(description, getTargetName(target), kind, stream);
    targets.push_back(std::move(description));
  }
  if (isJson)
    stream << llvm::formatv("{0:2}", llvm::json::Value(std::move(targets))) << "\n";
}

} // namespace xc
