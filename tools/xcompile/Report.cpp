//===- Report.cpp - What became of each kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/Report.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

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
static std::string printFormula(AffineMap map) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  map.getResult(0).print(stream);
  return text;
}

static std::string getTargetName(ModuleOp target) {
  auto attr = target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
  return (attr.getKind().getValue() + ":" + attr.getArch().getValue()).str();
}

void printSummary(ModuleOp module, llvm::raw_ostream &stream) {
  for (auto target : module.getOps<ModuleOp>())
    for (auto function : target.getOps<plan::FunctionOp>()) {
      unsigned launches = llvm::range_size(function.getBody().getOps<plan::LaunchOp>());
      unsigned copies = llvm::range_size(function.getBody().getOps<plan::CopyOp>());
      auto bytes = function->getAttrOfType<IntegerAttr>("arena_static");
      stream << getTargetName(target) << " @" << function.getSymName() << ": " << launches
             << " launches, " << copies << " copies, peak scratch memory ";
      if (isa<AffineConstantExpr>(function.getArena().getResult(0))) {
        stream << formatBytes(bytes.getInt());
      } else {
        // The formula holds the static part too.
        stream << printFormula(function.getArena()) << " bytes with";
        for (auto [index, symbol] : llvm::enumerate(function.getSymbols()))
          stream << (index ? ", s" : " s") << index << " = "
                 << printAttribute(cast<DictionaryAttr>(symbol).get("name"));
      }
      stream << "\n";
    }
}

static llvm::json::Object describeExport(DictionaryAttr entry) {
  llvm::json::Object object;
  for (NamedAttribute attr : entry) {
    if (auto number = dyn_cast<IntegerAttr>(attr.getValue()))
      object[attr.getName().str()] = number.getInt();
    else
      object[attr.getName().str()] = printAttribute(attr.getValue());
  }
  return object;
}

static llvm::json::Object describeKernel(ModuleOp kernel, unsigned launches) {
  llvm::json::Object object;
  object["name"] = *kernel.getSymName();
  object["launches"] = launches;
  llvm::json::Array locations, variants;
  if (auto list = kernel->getAttrOfType<ArrayAttr>("plan.locations"))
    for (Attribute location : list)
      locations.push_back(cast<StringAttr>(location).getValue());
  object["locations"] = std::move(locations);
  for (StringRef key : {"plan.bytes", "plan.flops"})
    if (auto map = kernel->getAttrOfType<AffineMapAttr>(key))
      object[key.drop_front(5)] = printFormula(map.getValue());
  if (auto list = kernel->getAttrOfType<ArrayAttr>("plan.exports"))
    for (Attribute entry : list)
      variants.push_back(describeExport(cast<DictionaryAttr>(entry)));
  object["variants"] = std::move(variants);
  return object;
}

static void printText(const llvm::json::Object &kernel, llvm::raw_ostream &stream) {
  stream << "  " << *kernel.getString("name") << ": " << *kernel.getInteger("launches")
         << " launches, " << kernel.getString("bytes").value_or("?") << " bytes, "
         << kernel.getString("flops").value_or("?") << " FLOPs\n";
  std::string locations;
  for (const llvm::json::Value &location : *kernel.getArray("locations"))
    locations += (locations.empty() ? "" : ", ") + location.getAsString()->str();
  if (!locations.empty())
    stream << "    from " << locations << "\n";
  for (const llvm::json::Value &value : *kernel.getArray("variants")) {
    const llvm::json::Object &variant = *value.getAsObject();
    stream << "    " << variant.getString("config").value_or("") << "\n";
    for (llvm::StringRef key : {"reason", "guards"})
      if (auto text = variant.getString(key); text && !text->empty() && *text != "[]")
        stream << "      " << key << ": " << *text << "\n";
    for (llvm::StringRef key : {"registers", "spills", "static_shared"})
      if (auto number = variant.getInteger(key))
        stream << "      " << key << ": " << *number << "\n";
  }
}

void printReport(ModuleOp module, bool json, llvm::raw_ostream &stream) {
  llvm::json::Array targets;
  for (auto target : module.getOps<ModuleOp>()) {
    llvm::StringMap<unsigned> launches;
    target.walk([&](plan::LaunchOp launch) { ++launches[launch.getKernel()]; });
    llvm::json::Array kernels;
    for (auto kernel : target.getOps<ModuleOp>())
      kernels.push_back(describeKernel(kernel, launches.lookup(*kernel.getSymName())));
    if (!json) {
      stream << getTargetName(target) << ": " << kernels.size() << " kernels\n";
      for (const llvm::json::Value &kernel : kernels)
        printText(*kernel.getAsObject(), stream);
    }
    targets.push_back(
        llvm::json::Object{{"target", getTargetName(target)}, {"kernels", std::move(kernels)}});
  }
  if (json)
    stream << llvm::formatv("{0:2}", llvm::json::Value(std::move(targets))) << "\n";
}

} // namespace xc
