//===- CheckLimits.cpp - What a module cannot hold ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CheckLimits.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Target/TensorMaps.h"
#include "schemas/module_limits.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::target {

static InFlightDiagnostic refuse(Location loc, const Twine &what, uint64_t most, uint64_t got) {
  return emitError(loc) << "expected at most " << most << " " << what << ", got " << got;
}

/// Ifs, loops and choices in `region`, which is itself `depth` of them deep.
static LogicalResult checkDepth(Region &region, unsigned depth) {
  for (Operation &op : region.getOps()) {
    if (!isa<plan::ControlOp, plan::ChooseOp>(op))
      continue;
    // The outermost one that is too deep: those in it are only deeper.
    if (depth + 1 > ModuleLimits::kRegionDepth)
      return refuse(op.getLoc(), "ifs and loops within one another", ModuleLimits::kRegionDepth,
                    depth + 1);
    for (Region &inner : op.getRegions())
      if (failed(checkDepth(inner, depth + 1)))
        return failure();
  }
  return success();
}

namespace {

/// Counts what the commands of a plan wait for once sizes have chosen, as
/// runtime/module/command_order.cpp lists it: what waits for a choice waits for each command that
/// ends its region. Of a choice's regions the one with more counts, so the sum is the largest that
/// sizes can reach.
class WaitCounter {
public:
  explicit WaitCounter(plan::FunctionOp function) { countRegion(function.getBody(), 0); }

  uint64_t getMost() const {
    return (commands + edges) * ModuleLimits::kEdgesPerPart + ModuleLimits::kLeastEdges;
  }
  /// Edges, or ends of commands where those are more: the loader bounds both.
  uint64_t getListed() const { return std::max(listed.edges, listed.ends); }

private:
  struct Counts {
    uint64_t edges = 0, ends = 0;
  };

  /// How many commands end `region`, whose first commands wait for `waits`. Counts what is listed.
  uint64_t countRegion(Region &region, uint64_t waits);
  uint64_t countChoice(plan::ChooseOp choice, uint64_t waits);

  uint64_t commands = 0, edges = 0; // of the plan
  Counts listed;
};

} // namespace

uint64_t WaitCounter::countRegion(Region &region, uint64_t waits) {
  SmallVector<uint64_t> ends;
  SmallVector<bool> isAwaited;
  for (Operation &op : region.getOps()) {
    ArrayRef<int64_t> after = op.getAttrOfType<DenseI64ArrayAttr>("after").asArrayRef();
    ++commands;
    edges += after.size();
    uint64_t own = after.empty() ? waits : 0;
    for (int64_t before : after) {
      own = llvm::SaturatingAdd(own, ends[before]);
      isAwaited[before] = true;
    }
    listed.edges = llvm::SaturatingAdd(listed.edges, own);
    isAwaited.push_back(false);
    if (auto choice = dyn_cast<plan::ChooseOp>(op)) {
      ends.push_back(countChoice(choice, own));
      continue;
    }
    for (Region &nested : op.getRegions())
      countRegion(nested, 0);
    ends.push_back(1);
    listed.ends = llvm::SaturatingAdd(listed.ends, uint64_t(1));
  }
  uint64_t last = ends.empty() ? waits : 0;
  for (auto [count, awaited] : llvm::zip_equal(ends, isAwaited))
    if (!awaited)
      last = llvm::SaturatingAdd(last, count);
  return last;
}

uint64_t WaitCounter::countChoice(plan::ChooseOp choice, uint64_t waits) {
  Counts before = listed, most = listed;
  uint64_t ends = 0;
  for (Region *region : {&choice.getFirst(), &choice.getSecond()}) {
    listed = before;
    ends = std::max(ends, countRegion(*region, waits));
    most.edges = std::max(most.edges, listed.edges);
    most.ends = std::max(most.ends, listed.ends);
  }
  listed = most;
  listed.ends = llvm::SaturatingAdd(listed.ends, ends);
  return ends;
}

static LogicalResult checkWaits(plan::FunctionOp function) {
  WaitCounter counter(function);
  if (counter.getListed() <= counter.getMost())
    return success();
  return refuse(function.getLoc(), "edges between commands once sizes have chosen",
                counter.getMost(), counter.getListed());
}

static LogicalResult checkRank(Location loc, DictionaryAttr entry, const Twine &what) {
  auto type = cast<ShapedType>(entry.getAs<TypeAttr>("type").getValue());
  if (type.getRank() <= int64_t(ModuleLimits::kRank))
    return success();
  return refuse(loc, "dims of " + what, ModuleLimits::kRank, type.getRank());
}

static LogicalResult checkFunction(plan::FunctionOp function) {
  if (function.getSymName().empty())
    return function.emitError("expected a function with a name, got one without");
  for (Attribute entry : function.getInputs())
    if (failed(checkRank(function.getLoc(), cast<DictionaryAttr>(entry), "an input")))
      return failure();
  for (Attribute entry : function.getOutputs())
    if (failed(checkRank(function.getLoc(), cast<DictionaryAttr>(entry), "an output")))
      return failure();
  // Counting goes as deep as regions do.
  if (failed(checkDepth(function.getBody(), 0)))
    return failure();
  return checkWaits(function);
}

static LogicalResult checkKernel(ModuleOp kernel) {
  auto exports = kernel->getAttrOfType<ArrayAttr>(plan::kExportsAttr);
  auto counts = kernel->getAttrOfType<DictionaryAttr>(plan::kCountsAttr);
  if (!exports || !counts)
    return success();
  auto getCount = [&](StringRef key) {
    auto value = counts.getAs<IntegerAttr>(key);
    return value ? uint64_t(value.getInt()) : 0;
  };
  if (uint64_t bindings = getCount("bindings"); bindings > ModuleLimits::kBindings)
    return refuse(kernel.getLoc(), "buffers of a kernel", ModuleLimits::kBindings, bindings);
  for (Attribute entry : exports) {
    auto description = cast<DictionaryAttr>(entry);
    uint64_t scalars = getCount("scalars") + getTensorMapScalars(description).size();
    if (scalars > ModuleLimits::kScalars)
      return refuse(kernel.getLoc(), "numbers that a kernel takes", ModuleLimits::kScalars,
                    scalars);
    uint64_t scratch = cast<plan::LaunchAttr>(description.get("launch")).getScratch();
    if (scratch > ModuleLimits::kScratchBytes)
      return refuse(kernel.getLoc(), "bytes of scratch memory of a workgroup",
                    ModuleLimits::kScratchBytes, scratch);
  }
  return success();
}

static LogicalResult checkData(ModuleOp target) {
  for (Attribute constant : target->getAttrOfType<ArrayAttr>(plan::kConstantsAttr)) {
    int64_t rank = cast<ElementsAttr>(constant).getShapedType().getRank();
    if (rank > int64_t(ModuleLimits::kRank))
      return refuse(target.getLoc(), "dims of a constant", ModuleLimits::kRank, rank);
  }
  for (Attribute parameter : target->getAttrOfType<ArrayAttr>(plan::kParametersAttr))
    if (failed(checkRank(target.getLoc(), cast<DictionaryAttr>(parameter), "a parameter")))
      return failure();
  for (Attribute variable : target->getAttrOfType<ArrayAttr>(plan::kVariablesAttr))
    if (failed(checkRank(target.getLoc(), cast<DictionaryAttr>(variable), "a variable")))
      return failure();
  return success();
}

LogicalResult checkLimits(ArrayRef<ModuleOp> targets) {
  if (targets.size() > ModuleLimits::kTargets)
    return refuse(targets.front()->getLoc(), "targets", ModuleLimits::kTargets, targets.size());
  for (ModuleOp target : targets) {
    if (failed(checkData(target)))
      return failure();
    for (auto kernel : target.getOps<ModuleOp>())
      if (failed(checkKernel(kernel)))
        return failure();
    for (auto function : target.getOps<plan::FunctionOp>())
      if (failed(checkFunction(function)))
        return failure();
  }
  return success();
}

LogicalResult checkTablesSize(ModuleOp module, uint64_t bytes) {
  if (bytes > ModuleLimits::kTablesSize)
    return refuse(module.getLoc(), "bytes of tables", ModuleLimits::kTablesSize, bytes);
  return success();
}

} // namespace xc::target
