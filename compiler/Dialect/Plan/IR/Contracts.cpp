//===- Contracts.cpp - What passes leave for one another ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of `plan.*` attributes; PlanOps.h, PlanInitOps.h, FusionRecords.h, PartialSums.h and
// Reductions.h say what they mean.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Contracts.h"
#include "compiler/Dialect/Plan/IR/FusionRecords.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"
#include "compiler/Dialect/Plan/IR/Parts.h"
#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::plan {

LogicalResult verifyContract(Operation *op, NamedAttribute attribute,
                             ArrayRef<Contract> contracts) {
  StringRef name = attribute.getName();
  const Contract *contract =
      llvm::find_if(contracts, [&](const Contract &each) { return each.name == name; });
  if (contract == contracts.end())
    return op->emitOpError("does not take attribute ") << attribute.getName();
  if (!contract->takes(op))
    return op->emitOpError("does not take attribute ")
           << attribute.getName() << ", which is for " << contract->carrier;
  if (!contract->isOf(attribute.getValue()))
    return op->emitOpError("expected ")
           << name << " to be " << contract->type << ", got " << attribute.getValue();
  return success();
}

bool isRecord(Attribute value, ArrayRef<Field> fields) {
  auto record = dyn_cast<DictionaryAttr>(value);
  if (!record)
    return false;
  auto isKnown = [&](NamedAttribute entry) {
    return llvm::any_of(fields, [&](const Field &field) {
      return field.key == entry.getName() && field.isOf(entry.getValue());
    });
  };
  return llvm::all_of(record, isKnown) && llvm::all_of(fields, [&](const Field &field) {
           return !field.isRequired || record.contains(field.key);
         });
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static bool isAny(Attribute) { return true; }
static bool isCount(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
}

/// A variant of a kernel. What it is configured by, and what was compared, are attributes of the
/// target's dialect; so are its tensor maps.
static constexpr Field kExportFields[] = {
    {"name", isA<StringAttr>, true},
    {"launch", isA<LaunchAttr>, true},
    {"guards", isArrayOf<ValueGuardAttr, AlignmentGuardAttr>, false},
    {"config", isAny, false},
    {"reason", isA<StringAttr>, false},
    {"selection", isAny, false},
    {"parameters", isArrayOf<ArrayAttr>, false},
    {"tensor_maps", isArrayOf<DictionaryAttr>, false},
    {"programmatic", isA<UnitAttr>, false},
    {"reads_inputs_early", isA<UnitAttr>, false},
    // By ptxas.
    {"registers", isCount, false},
    {"spills", isCount, false},
    {"static_shared", isCount, false},
};
static constexpr Field kCountFields[] = {{"bindings", isCount, true}, {"scalars", isCount, true}};
static constexpr Field kOperandFields[] = {{"dims", isArrayOf<FormulaAttr>, true},
                                           {"element", isA<TypeAttr>, true}};
static constexpr Field kParameterFields[] = {{"scope", isA<StringAttr>, true},
                                             {"key", isA<StringAttr>, true},
                                             {"type", isA<TypeAttr>, true},
                                             {"dtype", isA<StringAttr>, false}};
/// The initial value is a constant or a parameter, by number; zeros where there is none.
static constexpr Field kVariableFields[] = {{"name", isA<StringAttr>, true},
                                            {"type", isA<TypeAttr>, true},
                                            {"dtype", isA<StringAttr>, false},
                                            {"constant", isCount, false},
                                            {"parameter", isCount, false}};
static constexpr Field kJoinFields[] = {{"from", isA<StringAttr>, true},
                                        {"to", isA<StringAttr>, true},
                                        {"why", isA<StringAttr>, true},
                                        {"launches", isCount, true},
                                        {"bytes", isCount, false}};
/// The other kernel is a number as long as it is a region, then a name.
static constexpr Field kRefusalFields[] = {{"kernel", isA<IntegerAttr, StringAttr>, true},
                                           {"from", isA<StringAttr>, true},
                                           {"to", isA<StringAttr>, true},
                                           {"why", isA<StringAttr>, true},
                                           {"bytes", isCount, false},
                                           {"reads", isCount, false}};
static constexpr Field kFusionFields[] = {{"number", isCount, true},
                                          {"joins", isArrayOfRecords<kJoinFields>, true},
                                          {"refusals", isArrayOfRecords<kRefusalFields>, true}};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Ops of a library above this one among them, so by name.
static bool hasProducts(Operation *op) {
  return isa<linalg::LinalgOp>(op) || op->getName().getStringRef().starts_with("kernel.attention");
}

static constexpr Contract kContracts[] = {
    // Of modules: one for each target, and one for each kernel within.
    {kTargetAttr, isOn<ModuleOp>, "modules", isA<TargetAttr>, "#plan.target"},
    {kKernelAttr, isOn<ModuleOp>, "modules", isA<UnitAttr>, "a unit"},
    {kImageAttr, isOn<ModuleOp>, "modules", isA<StringAttr>, "a string"},
    {kAssemblyAttr, isOn<ModuleOp>, "modules", isA<StringAttr>, "a string"},
    {kExportsAttr, isOn<ModuleOp>, "modules", isArrayOfRecords<kExportFields>,
     "variants, each with a name and a launch"},
    {kCountsAttr, isOn<ModuleOp>, "modules", isRecordOf<kCountFields>,
     "the numbers of bindings and scalars"},
    {kOperandsAttr, isOn<ModuleOp>, "modules", isArrayOfRecords<kOperandFields>,
     "the dims and the element type of each binding"},
    {kBytesAttr, isOn<ModuleOp>, "modules", isA<FormulaAttr>, "a formula of symbols"},
    {kFlopsAttr, isOn<ModuleOp>, "modules", isA<FormulaAttr>, "a formula of symbols"},
    {kLocationsAttr, isOn<ModuleOp>, "modules", isArrayOf<StringAttr>, "strings"},
    {kJoinsAttr, isOn<ModuleOp>, "modules", isArrayOfRecords<kJoinFields>,
     "joins, each of two places, with a reason and the launches that it saves"},
    {kRefusalsAttr, isOn<ModuleOp>, "modules", isArrayOfRecords<kRefusalFields>,
     "refusals, each of a kernel and two places, with a reason"},
    {kConstantsAttr, isOn<ModuleOp>, "modules", isArrayOf<ElementsAttr>, "elements of tensors"},
    {kParametersAttr, isOn<ModuleOp>, "modules", isArrayOfRecords<kParameterFields>,
     "the scope, the key and the type of each parameter"},
    {kVariablesAttr, isOn<ModuleOp>, "modules", isArrayOfRecords<kVariableFields>,
     "the name, the type and the initial value of each variable"},
    // Of functions: of programs, of plans, of kernels.
    {kLayoutsAttr, isOn<FunctionOpInterface, FunctionOp>, "functions", isA<StringAttr>, "a string"},
    {kInitAttr, isOn<FunctionOpInterface, FunctionOp>, "functions", isA<UnitAttr>, "a unit"},
    {kHoistedAttr, isOn<FunctionOpInterface, FunctionOp>, "functions", isArrayOf<StringAttr>,
     "strings"},
    {kLaunchAttr, isOn<FunctionOpInterface>, "functions", isA<LaunchAttr>, "#plan.launch_config"},
    {kGuardsAttr, isOn<FunctionOpInterface>, "functions",
     isArrayOf<ValueGuardAttr, AlignmentGuardAttr>, "guards"},
    {kReasonAttr, isOn<FunctionOpInterface>, "functions", isA<StringAttr>, "a string"},
    {kFixedBindingsAttr, isOn<FunctionOpInterface>, "functions", isA<DenseI64ArrayAttr>,
     "an array of i64"},
    {kFixedInputsAttr, isOn<FunctionOpInterface>, "functions", isA<DenseI64ArrayAttr>,
     "an array of i64"},
    // Of ops on tensors.
    {kFusionAttr, isOn<RegionOp>, "regions", isRecordOf<kFusionFields>,
     "a number, joins and refusals"},
    {kPartsAttr, isOn<RegionOp, DispatchOp>, "regions and dispatches", isA<DenseI64ArrayAttr>,
     "an array of i64"},
    {kAllowTF32Attr, hasProducts, "linalg ops and attention", isA<UnitAttr>, "a unit"},
    {kPartialAttr, isOn<linalg::LinalgOp>, "linalg ops", isA<PartialAttr>, "#plan.partial"},
    {kSharesAttr, isOn<linalg::LinalgOp>, "linalg ops", isA<UnitAttr>, "a unit"},
    {kPositionAttr, isOn<linalg::LinalgOp>, "linalg ops", isA<IntegerAttr>, "an integer"},
    {kBreaksTiesAttr, isOn<linalg::LinalgOp>, "linalg ops", isA<UnitAttr>, "a unit"},
    {kNoteAttr, isAnywhere, "ops", isA<StringAttr>, "a string"},
};

/// A reduction that is split as `partial` says has results with such indices.
static LogicalResult verifyPartial(linalg::LinalgOp op, PartialAttr partial) {
  if (hasIndicesOf(op, partial))
    return success();
  return op->emitOpError("expected results that have the indices of ") << partial;
}

static LogicalResult verifyShares(linalg::LinalgOp op) {
  if (getPartialSums(op))
    return success();
  return op->emitOpError("expected the first index of the result of ")
         << kSharesAttr << " to be a remainder of loops that are reduced, by its size";
}

static LogicalResult verifyPosition(linalg::LinalgOp op, IntegerAttr position) {
  if (position.getType().isSignlessInteger(64) && position.getInt() >= 0 &&
      position.getInt() < op.getNumDpsInputs())
    return success();
  return op->emitOpError("expected ") << kPositionAttr << " to be the number of one of "
                                      << op.getNumDpsInputs() << " inputs as i64, got " << position;
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyContract(op, attribute, kContracts)))
    return failure();
  if (auto partial = dyn_cast<PartialAttr>(attribute.getValue()))
    return verifyPartial(cast<linalg::LinalgOp>(op), partial);
  if (attribute.getName() == kSharesAttr)
    return verifyShares(cast<linalg::LinalgOp>(op));
  if (attribute.getName() == kPositionAttr)
    return verifyPosition(cast<linalg::LinalgOp>(op), cast<IntegerAttr>(attribute.getValue()));
  return success();
}

LogicalResult PlanDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  if (!isa<FunctionOpInterface>(op) || attribute.getName() != kAlignmentAttr)
    return op->emitOpError("does not take argument attribute ") << attribute.getName();
  auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
  if (bytes && bytes.getType().isSignlessInteger(64) && bytes.getInt() > 0 &&
      llvm::isPowerOf2_64(bytes.getInt()))
    return success();
  return op->emitOpError("expected ")
         << kAlignmentAttr << " to be a power of two as i64, got " << attribute.getValue();
}

} // namespace xc::plan
