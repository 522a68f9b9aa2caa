//===- ModuleWriter.cpp - Write a module file ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables name blobs by their offset in the file, and the offset depends on the size of the
// tables. Offsets are fields of structs, whose size does not depend on their value, so the tables
// are built twice: first to learn their size, then with the right offsets.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/ModuleWriter.h"

#include "compiler/Dialect/Plan/IR/PlanInitOps.h"
#include "compiler/Target/BlobArea.h"
#include "compiler/Target/CheckLimits.h"
#include "compiler/Target/DataTables.h"
#include "compiler/Target/PlanWriter.h"
#include "compiler/Target/TensorMaps.h"
#include "schemas/module_header.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mlir;

namespace xc::target {

/// Bytes that every bound input and output must be aligned to; what kernels assume of bindings.
static constexpr uint32_t kBufferAlignment = 16;

namespace {

class ModuleWriter {
public:
  ModuleWriter(ArrayRef<ModuleOp> targets, ArrayRef<CodeAlternatives> code,
               const Provenance &provenance)
      : targets(targets), code(code), provenance(provenance) {}

  FailureOr<std::string> write();

private:
  /// One Executable table.
  struct Code {
    unsigned target;
    const LinkedCode *linked;
    unsigned blob;
  };

  LogicalResult collectKernels();
  std::vector<flatbuffers::Offset<fb::Target>> buildTargets();
  LogicalResult buildExecutables(uint64_t blobBase,
                                 std::vector<flatbuffers::Offset<fb::Executable>> &tables);
  LogicalResult buildFunctions(std::vector<flatbuffers::Offset<fb::Function>> &tables);
  LogicalResult buildInitPlans(std::vector<flatbuffers::Offset<fb::InitPlan>> &tables);
  /// What a runtime has to know of to load the module.
  std::vector<std::string> listRequiredFeatures() const;
  FailureOr<std::string> buildTables(uint64_t blobBase);
  FailureOr<flatbuffers::Offset<fb::Executable>> buildExecutable(const Code &code,
                                                                 uint64_t blobBase);
  using OperandVector = flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Operand>>>;
  OperandVector buildOperands(ModuleOp kernel, FormulaTable &formulas);
  flatbuffers::Offset<fb::Export> buildExport(ModuleOp kernel, DictionaryAttr description,
                                              FormulaTable &costs);
  /// Of one function the plans for the targets.
  FailureOr<flatbuffers::Offset<fb::Function>>
  buildFunction(ArrayRef<plan::FunctionOp> targetPlans);
  /// Of one target.
  FailureOr<flatbuffers::Offset<fb::InitPlan>> buildInitPlan(plan::FunctionOp plan,
                                                             unsigned target);
  flatbuffers::Offset<fb::Argument> buildArgument(DictionaryAttr entry, FormulaTable &formulas);
  flatbuffers::Offset<fb::Symbol> buildSymbol(DictionaryAttr entry);
  flatbuffers::Offset<fb::Requirement> buildRequirement(DictionaryAttr entry,
                                                        FormulaTable &formulas);
  flatbuffers::Offset<flatbuffers::String> string(StringRef text) {
    return builder.CreateString(text.data(), text.size());
  }

  ArrayRef<ModuleOp> targets;
  ArrayRef<CodeAlternatives> code;
  const Provenance &provenance;
  flatbuffers::FlatBufferBuilder builder;
  BlobArea blobs;
  DataTables data;
  SmallVector<llvm::StringMap<KernelExports>> kernels;
  SmallVector<Code> executables;
  bool hasRequirements = false, hasChoices = false, hasSharedFormulas = false,
       hasIm2colMaps = false, hasSymbolicImageMaps = false;
};

} // namespace

LogicalResult ModuleWriter::collectKernels() {
  for (auto [index, target] : llvm::enumerate(targets)) {
    llvm::StringMap<KernelExports> &mine = kernels.emplace_back();
    uint32_t next = 0;
    for (auto kernel : ModuleOp(target).getOps<ModuleOp>()) {
      auto exports = kernel->getAttrOfType<ArrayAttr>(plan::kExportsAttr);
      if (!exports)
        return kernel.emitError("expected a kernel with code, got one without plan.exports");
      KernelExports &entry = mine[*kernel.getSymName()];
      entry.executable = executables.size();
      for (Attribute description : exports) {
        entry.exports.push_back(next++);
        entry.descriptions.push_back(cast<DictionaryAttr>(description));
      }
    }
    // Alternatives follow one another; a plan names the first.
    for (const LinkedCode &alternative : code[index])
      executables.push_back(
          {static_cast<unsigned>(index), &alternative, blobs.add(alternative.image)});
  }
  return success();
}

static fb::ParameterKind getParameterKind(StringRef name) {
  return llvm::StringSwitch<fb::ParameterKind>(name)
      .Case("binding", fb::ParameterKind::BindingPointer)
      .Case("i32", fb::ParameterKind::ScalarI32)
      .Case("i64", fb::ParameterKind::ScalarI64)
      .Case("tensor_map", fb::ParameterKind::TensorMap)
      .Default(fb::ParameterKind::Workspace);
}

ModuleWriter::OperandVector ModuleWriter::buildOperands(ModuleOp kernel, FormulaTable &formulas) {
  std::vector<flatbuffers::Offset<fb::Operand>> operands;
  if (auto list = kernel->getAttrOfType<ArrayAttr>(plan::kOperandsAttr))
    for (Attribute entry : list) {
      auto operand = cast<DictionaryAttr>(entry);
      std::vector<fb::Value> dims;
      for (auto dim : operand.getAs<ArrayAttr>("dims").getAsRange<plan::FormulaAttr>())
        dims.push_back(formulas.getValue(dim));
      fb::DType dtype = getDType(operand.getAs<TypeAttr>("element").getValue(), "");
      operands.push_back(fb::CreateOperand(builder, dtype, builder.CreateVectorOfStructs(dims)));
    }
  return builder.CreateVector(operands);
}

flatbuffers::Offset<fb::Export>
ModuleWriter::buildExport(ModuleOp kernel, DictionaryAttr description, FormulaTable &costs) {
  auto launch = cast<plan::LaunchAttr>(description.get("launch"));
  std::vector<uint32_t> block(launch.getBlock().begin(), launch.getBlock().end());
  std::vector<uint32_t> cluster(launch.getCluster().begin(), launch.getCluster().end());
  std::vector<fb::Parameter> parameters;
  if (auto list = description.getAs<ArrayAttr>("parameters"))
    for (Attribute entry : list) {
      auto pair = cast<ArrayAttr>(entry);
      parameters.emplace_back(getParameterKind(cast<StringAttr>(pair[0]).getValue()),
                              cast<IntegerAttr>(pair[1]).getInt());
    }
  auto getText = [&](StringRef key) {
    std::string text;
    if (Attribute value = description.get(key)) {
      if (auto given = dyn_cast<StringAttr>(value))
        return given.str();
      llvm::raw_string_ostream(text) << value;
    }
    return text;
  };
  auto getNumber = [&](DictionaryAttr from, StringRef key, int64_t otherwise) {
    auto value = from.getAs<IntegerAttr>(key);
    return value ? value.getInt() : otherwise;
  };
  std::vector<std::string> locations;
  if (auto list = kernel->getAttrOfType<ArrayAttr>(plan::kLocationsAttr))
    for (Attribute location : list)
      locations.push_back(cast<StringAttr>(location).str());
  auto cost = [&](StringRef key) {
    auto formula = kernel->getAttrOfType<plan::FormulaAttr>(key);
    return formula ? costs.getValue(formula) : fb::Value(-1, 0);
  };
  fb::Value bytes = cost(plan::kBytesAttr), flops = cost(plan::kFlopsAttr);
  auto operands = buildOperands(kernel, costs);
  auto counts = cast<DictionaryAttr>(kernel->getAttr(plan::kCountsAttr));
  auto name = string(getText("name"));
  auto blockVector = builder.CreateVector(block);
  auto clusterVector = builder.CreateVector(cluster);
  auto parameterVector = builder.CreateVectorOfStructs(parameters);
  auto strategy = string(getText("config"));
  auto reason = string(getText("reason"));
  auto locationVector = builder.CreateVectorOfStrings(locations);
  unsigned scalars = getNumber(counts, "scalars", 0);
  hasIm2colMaps |= target::hasIm2colMaps(description);
  hasSymbolicImageMaps |= target::hasSymbolicImageMaps(description);
  auto mapVector = builder.CreateVector(
      writeTensorMaps(builder, description, scalars, [](Type type) { return getDType(type, ""); }));
  fb::ExportBuilder result(builder);
  result.add_name(name);
  result.add_block(blockVector);
  result.add_cluster(clusterVector);
  result.add_dynamic_shared_memory(launch.getShared());
  result.add_static_shared_memory(getNumber(description, "static_shared", 0));
  result.add_scratch(launch.getScratch());
  result.add_programmatic_launch(description.contains("programmatic"));
  result.add_reads_inputs_early(description.contains("reads_inputs_early"));
  result.add_parameters(parameterVector);
  result.add_binding_count(getNumber(counts, "bindings", 0));
  result.add_tensor_maps(mapVector);
  result.add_scalar_count(scalars + getTensorMapScalars(description).size());
  result.add_registers(getNumber(description, "registers", -1));
  result.add_spill_bytes(getNumber(description, "spills", -1));
  result.add_strategy(strategy);
  result.add_reason(reason);
  result.add_locations(locationVector);
  result.add_bytes(&bytes);
  result.add_flops(&flops);
  result.add_operands(operands);
  return result.Finish();
}

FailureOr<flatbuffers::Offset<fb::Executable>> ModuleWriter::buildExecutable(const Code &code,
                                                                             uint64_t blobBase) {
  FormulaTable costs;
  std::vector<flatbuffers::Offset<fb::Export>> exports;
  for (auto kernel : ModuleOp(targets[code.target]).getOps<ModuleOp>())
    for (DictionaryAttr description : kernels[code.target][*kernel.getSymName()].descriptions)
      exports.push_back(buildExport(kernel, description, costs));
  const LinkedCode &linked = *code.linked;
  fb::BlobRef image = blobs.getRef(code.blob, blobBase);
  auto arch = string(linked.arch);
  auto features = builder.CreateVectorOfStrings(
      std::vector<std::string>(linked.cpuFeatures.begin(), linked.cpuFeatures.end()));
  auto exportVector = builder.CreateVector(exports);
  FormulaCode written = costs.emit();
  if (failed(checkDepth(targets[code.target], written)))
    return failure();
  auto costCode = builder.CreateVectorOfStructs(written.code);
  auto costFormulas = builder.CreateVectorOfStructs(written.formulas);
  fb::ExecutableBuilder result(builder);
  result.add_target(code.target);
  result.add_kind(static_cast<fb::CodeKind>(linked.kind));
  result.add_arch(arch);
  result.add_cpu_features(features);
  result.add_min_driver(linked.minDriver);
  result.add_image(&image);
  result.add_exports(exportVector);
  result.add_formula_code(costCode);
  result.add_formulas(costFormulas);
  return result.Finish();
}

flatbuffers::Offset<fb::Argument> ModuleWriter::buildArgument(DictionaryAttr entry,
                                                              FormulaTable &formulas) {
  auto type = cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue());
  auto dtype = entry.getAs<StringAttr>("dtype");
  std::vector<fb::Value> dims;
  for (auto dim : entry.getAs<ArrayAttr>("dims").getAsRange<plan::FormulaAttr>())
    dims.push_back(formulas.getValue(dim));
  auto name = string(entry.getAs<StringAttr>("name").getValue());
  auto dimVector = builder.CreateVectorOfStructs(dims);
  fb::ArgumentBuilder result(builder);
  result.add_name(name);
  result.add_dtype(getDType(type.getElementType(), dtype ? dtype.getValue() : ""));
  result.add_dims(dimVector);
  result.add_alignment(kBufferAlignment);
  result.add_donated(entry.contains("donated"));
  if (auto alias = entry.getAs<IntegerAttr>("alias"))
    result.add_alias(alias.getInt());
  return result.Finish();
}

flatbuffers::Offset<fb::Symbol> ModuleWriter::buildSymbol(DictionaryAttr entry) {
  auto name = string(entry.getAs<StringAttr>("name").getValue());
  flatbuffers::Offset<flatbuffers::String> location;
  if (auto loc = entry.getAs<LocationAttr>("loc"))
    location = string(printLocation(Location(loc)));
  fb::SymbolBuilder result(builder);
  if (!location.IsNull())
    result.add_location(location);
  result.add_name(name);
  result.add_input(entry.getAs<IntegerAttr>("input").getInt());
  result.add_dim(entry.getAs<IntegerAttr>("dim").getInt());
  SmallVector<int64_t> range;
  if (auto list = entry.getAs<ArrayAttr>("range"))
    for (Attribute bound : list)
      range.push_back(cast<IntegerAttr>(bound).getInt());
  else if (auto array = entry.getAs<DenseI64ArrayAttr>("range"))
    range.assign(array.asArrayRef().begin(), array.asArrayRef().end());
  if (range.size() > 0)
    result.add_min(range[0]);
  // A file says nothing of a maximum that there is not; an attribute, -1.
  if (range.size() > 1 && range[1] >= 0)
    result.add_max(range[1]);
  if (range.size() > 2)
    result.add_divisor(range[2]);
  return result.Finish();
}

flatbuffers::Offset<fb::Requirement> ModuleWriter::buildRequirement(DictionaryAttr entry,
                                                                    FormulaTable &formulas) {
  auto comparison = entry.getAs<plan::ComparisonAttr>("comparison").getValue();
  uint32_t left = formulas.getFormula(entry.getAs<plan::FormulaAttr>("left")),
           right = formulas.getFormula(entry.getAs<plan::FormulaAttr>("right"));
  // The file says it the other way around.
  if (comparison == plan::Comparison::AtLeast) {
    comparison = plan::Comparison::AtMost;
    std::swap(left, right);
  }
  auto what = string(entry.getAs<StringAttr>("what").getValue()),
       location = string(printLocation(Location(entry.getAs<LocationAttr>("loc"))));
  return fb::CreateRequirement(builder, static_cast<fb::Comparison>(comparison), left, right, what,
                               location);
}

FailureOr<flatbuffers::Offset<fb::Function>>
ModuleWriter::buildFunction(ArrayRef<plan::FunctionOp> targetPlans) {
  std::vector<flatbuffers::Offset<fb::Argument>> inputs, outputs;
  std::vector<flatbuffers::Offset<fb::Symbol>> symbols;
  std::vector<flatbuffers::Offset<fb::Plan>> plans;
  plan::FunctionOp first = targetPlans.front();
  FormulaTable formulas(first);
  for (Attribute entry : first.getInputs())
    inputs.push_back(buildArgument(cast<DictionaryAttr>(entry), formulas));
  for (Attribute entry : first.getOutputs())
    outputs.push_back(buildArgument(cast<DictionaryAttr>(entry), formulas));
  for (Attribute entry : first.getSymbols())
    symbols.push_back(buildSymbol(cast<DictionaryAttr>(entry)));
  std::vector<flatbuffers::Offset<fb::Requirement>> requirements;
  if (auto list = first->getAttrOfType<ArrayAttr>("requirements"))
    for (Attribute entry : list)
      requirements.push_back(buildRequirement(cast<DictionaryAttr>(entry), formulas));
  hasRequirements |= !requirements.empty();
  for (auto [index, targetPlan] : llvm::enumerate(targetPlans)) {
    plan::FunctionOp plan = targetPlan;
    plan.walk([&](plan::ChooseOp) { hasChoices = true; });
    hasSharedFormulas |= static_cast<bool>(plan.getDefinitions());
    FailureOr<flatbuffers::Offset<fb::Plan>> written =
        writePlan(builder, plan, index, kernels[index], data.getNumbers(index));
    if (failed(written))
      return failure();
    plans.push_back(*written);
  }
  auto doc = first->getAttrOfType<StringAttr>("doc");
  auto nameString = string(first.getSymName());
  auto docString = string(doc ? doc.getValue() : "");
  auto inputVector = builder.CreateVector(inputs), outputVector = builder.CreateVector(outputs);
  auto symbolVector = builder.CreateVector(symbols);
  FormulaCode written = formulas.emit();
  if (failed(checkDepth(first, written)))
    return failure();
  auto codeVector = builder.CreateVectorOfStructs(written.code);
  auto formulaVector = builder.CreateVectorOfStructs(written.formulas);
  auto planVector = builder.CreateVector(plans);
  auto requirementVector = builder.CreateVector(requirements);
  fb::FunctionBuilder result(builder);
  result.add_name(nameString);
  result.add_doc(docString);
  result.add_inputs(inputVector);
  result.add_outputs(outputVector);
  result.add_symbols(symbolVector);
  result.add_formula_code(codeVector);
  result.add_formulas(formulaVector);
  result.add_plans(planVector);
  result.add_requirements(requirementVector);
  return result.Finish();
}

FailureOr<flatbuffers::Offset<fb::InitPlan>> ModuleWriter::buildInitPlan(plan::FunctionOp plan,
                                                                         unsigned target) {
  FailureOr<flatbuffers::Offset<fb::Plan>> written =
      writePlan(builder, plan, target, kernels[target], data.getNumbers(target));
  if (failed(written))
    return failure();
  std::vector<uint64_t> sizes;
  for (Attribute output : plan.getOutputs()) {
    auto type = cast<ShapedType>(cast<DictionaryAttr>(output).getAs<TypeAttr>("type").getValue());
    sizes.push_back(type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  }
  return fb::CreateInitPlan(builder, target, builder.CreateVector(sizes), *written);
}

std::vector<flatbuffers::Offset<fb::Target>> ModuleWriter::buildTargets() {
  std::vector<flatbuffers::Offset<fb::Target>> tables;
  for (ModuleOp target : targets) {
    auto attr = target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
    tables.push_back(fb::CreateTarget(builder, string(attr.getKind().getValue()),
                                      string(attr.getArch().getValue())));
  }
  return tables;
}

LogicalResult
ModuleWriter::buildExecutables(uint64_t blobBase,
                               std::vector<flatbuffers::Offset<fb::Executable>> &tables) {
  for (const Code &entry : executables) {
    FailureOr<flatbuffers::Offset<fb::Executable>> table = buildExecutable(entry, blobBase);
    if (failed(table))
      return failure();
    tables.push_back(*table);
  }
  return success();
}

LogicalResult ModuleWriter::buildFunctions(std::vector<flatbuffers::Offset<fb::Function>> &tables) {
  std::vector<SymbolTable> symbols;
  for (ModuleOp target : targets)
    symbols.emplace_back(target);
  for (auto function : ModuleOp(targets.front()).getOps<plan::FunctionOp>()) {
    if (function->hasAttr(plan::kInitAttr))
      continue;
    auto table = buildFunction(llvm::map_to_vector(symbols, [&](const SymbolTable &table) {
      return table.lookup<plan::FunctionOp>(function.getSymNameAttr());
    }));
    if (failed(table))
      return failure();
    tables.push_back(*table);
  }
  return success();
}

LogicalResult ModuleWriter::buildInitPlans(std::vector<flatbuffers::Offset<fb::InitPlan>> &tables) {
  for (auto [index, target] : llvm::enumerate(targets))
    for (auto function : ModuleOp(target).getOps<plan::FunctionOp>()) {
      if (!function->hasAttr(plan::kInitAttr))
        continue;
      auto table = buildInitPlan(function, index);
      if (failed(table))
        return failure();
      tables.push_back(*table);
    }
  return success();
}

std::vector<std::string> ModuleWriter::listRequiredFeatures() const {
  std::vector<std::string> features;
  if (hasRequirements)
    features.push_back("requirements");
  if (hasChoices)
    features.push_back("choices");
  if (hasSharedFormulas)
    features.push_back("shared formulas");
  if (hasIm2colMaps)
    features.push_back("im2col tensor maps");
  if (hasSymbolicImageMaps)
    features.push_back("symbolic corners of tensor maps");
  return features;
}

FailureOr<std::string> ModuleWriter::buildTables(uint64_t blobBase) {
  builder.Clear();
  std::vector<flatbuffers::Offset<fb::Target>> targetTables = buildTargets();
  std::vector<flatbuffers::Offset<fb::Executable>> executableTables;
  std::vector<flatbuffers::Offset<fb::Function>> functions;
  std::vector<flatbuffers::Offset<fb::InitPlan>> initPlans;
  if (failed(buildExecutables(blobBase, executableTables)) || failed(buildFunctions(functions)) ||
      failed(buildInitPlans(initPlans)))
    return failure();
  std::vector<flatbuffers::Offset<fb::Constant>> constantTables =
      data.buildConstants(builder, blobs, blobBase);
  std::vector<flatbuffers::Offset<fb::ExternalParameter>> parameterTables =
      data.buildParameters(builder);
  std::vector<flatbuffers::Offset<fb::Variable>> variableTables = data.buildVariables(builder);
  auto origin = fb::CreateProvenance(builder, string(provenance.compiler), string(provenance.flags),
                                     string(provenance.sourceName), provenance.sourceHash,
                                     string(provenance.ptxas));
  auto features = builder.CreateVectorOfStrings(listRequiredFeatures());
  auto module =
      fb::CreateModule(builder, origin, features, builder.CreateVector(targetTables),
                       builder.CreateVector(functions), builder.CreateVector(executableTables),
                       builder.CreateVector(constantTables), builder.CreateVector(parameterTables),
                       builder.CreateVector(variableTables), builder.CreateVector(initPlans));
  fb::FinishSizePrefixedModuleBuffer(builder, module);
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

FailureOr<std::string> ModuleWriter::write() {
  if (failed(checkLimits(targets)) || failed(data.collect(targets, blobs)) ||
      failed(collectKernels()))
    return failure();
  FailureOr<std::string> draft = buildTables(0);
  if (failed(draft))
    return failure();
  if (failed(checkTablesSize(targets.front(), draft->size())))
    return failure();
  uint64_t blobBase = llvm::alignTo(sizeof(ModuleHeader) + draft->size(), ModuleHeader::kAlignment);
  FailureOr<std::string> built = buildTables(blobBase);
  if (failed(built))
    return failure();
  const std::string &tables = *built;

  auto hash = [](const char *data, size_t size) {
    return llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(data), size));
  };
  ModuleHeader header = {};
  std::memcpy(header.magic, ModuleHeader::kMagic, sizeof(header.magic));
  header.major = ModuleHeader::kMajor;
  header.minor = ModuleHeader::kMinor;
  header.tablesOffset = sizeof(ModuleHeader);
  header.tablesSize = tables.size();
  header.tablesChecksum = hash(tables.data(), tables.size());
  std::string file(sizeof(ModuleHeader), '\0');
  file += tables;
  file.resize(blobBase);
  blobs.appendTo(file);
  header.fileSize = file.size();
  header.headerChecksum =
      hash(reinterpret_cast<const char *>(&header), offsetof(ModuleHeader, headerChecksum));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

FailureOr<std::string> writeModule(ArrayRef<ModuleOp> targets, ArrayRef<CodeAlternatives> code,
                                   const Provenance &provenance) {
  return ModuleWriter(targets, code, provenance).write();
}

} // namespace xc::target
