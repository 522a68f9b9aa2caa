//===- ModuleBuilder.cpp - Builds modules for tests of the runtime -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ModuleBuilder.h"

#include "schemas/module_header.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

using namespace xc;
using namespace xc::test;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <typename T> static fb::Range rangeBehind(const std::vector<T> &v, size_t count) {
  return fb::Range(static_cast<uint32_t>(v.size()), static_cast<uint32_t>(count));
}

template <typename T> static void append(std::vector<T> &to, const std::vector<T> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

fb::Value FormulaTable::add(const Code &program) {
  ranges.push_back(rangeBehind(code, program.size()));
  append(code, program);
  return formula(static_cast<int32_t>(ranges.size()) - 1);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

uint32_t PlanSpec::command(fb::CommandKind kind, size_t ordinal,
                           const std::vector<uint32_t> &from) {
  commands.emplace_back(kind, static_cast<uint32_t>(ordinal), rangeBehind(edges, from.size()));
  append(edges, from);
  return static_cast<uint32_t>(commands.size()) - 1;
}

uint32_t PlanSpec::dispatch(const std::vector<VariantSpec> &specs,
                            const std::vector<fb::Binding> &from,
                            const std::vector<uint32_t> &after) {
  fb::Range variantRange = rangeBehind(variants, specs.size());
  fb::Range bindingRange = rangeBehind(bindings, from.size());
  append(bindings, from);
  for (const VariantSpec &spec : specs) {
    fb::Range guardRange = rangeBehind(guards, spec.guards.size());
    fb::Range scalarRange = rangeBehind(scalars, spec.scalars.size());
    append(guards, spec.guards);
    append(scalars, spec.scalars);
    variants.emplace_back(spec.executable, spec.exportOrdinal, guardRange, scalarRange,
                          spec.grid[0], spec.grid[1], spec.grid[2], spec.workspace,
                          spec.workspaceOffset);
  }
  dispatches.emplace_back(variantRange, bindingRange, 0);
  return command(fb::CommandKind::Dispatch, dispatches.size() - 1, after);
}

uint32_t PlanSpec::copy(fb::Binding source, fb::Binding target,
                        const std::vector<uint32_t> &after) {
  copies.emplace_back(source, target);
  return command(fb::CommandKind::Copy, copies.size() - 1, after);
}

uint32_t PlanSpec::fill(fb::Binding target, uint64_t pattern, uint8_t patternSize,
                        const std::vector<uint32_t> &after) {
  fills.emplace_back(target, pattern, patternSize);
  return command(fb::CommandKind::Fill, fills.size() - 1, after);
}

static Offset<fb::Plan> writePlan(FlatBufferBuilder &builder, const PlanSpec &plan) {
  std::vector<fb::Region> regions = plan.regions;
  if (regions.empty())
    regions.emplace_back(fb::Range(0, static_cast<uint32_t>(plan.commands.size())));
  auto code = builder.CreateVectorOfStructs(plan.formulas.code);
  auto formulas = builder.CreateVectorOfStructs(plan.formulas.ranges);
  auto regionVector = builder.CreateVectorOfStructs(regions);
  auto ordinals = builder.CreateVector(plan.regionOrdinals);
  auto commands = builder.CreateVectorOfStructs(plan.commands);
  auto edges = builder.CreateVector(plan.edges);
  auto dispatches = builder.CreateVectorOfStructs(plan.dispatches);
  auto variants = builder.CreateVectorOfStructs(plan.variants);
  auto guards = builder.CreateVectorOfStructs(plan.guards);
  auto scalars = builder.CreateVectorOfStructs(plan.scalars);
  auto bindings = builder.CreateVectorOfStructs(plan.bindings);
  auto copies = builder.CreateVectorOfStructs(plan.copies);
  auto fills = builder.CreateVectorOfStructs(plan.fills);
  auto collectives = builder.CreateVectorOfStructs(plan.collectives);
  auto controls = builder.CreateVectorOfStructs(plan.controls);
  auto choices = builder.CreateVectorOfStructs(plan.choices);
  auto locations = builder.CreateVectorOfStrings(plan.locations);
  return fb::CreatePlan(builder, plan.target, code, formulas, regionVector, ordinals, commands,
                        edges, dispatches, variants, guards, scalars, bindings, copies, fills,
                        collectives, controls, &plan.arenaSize, locations, /*arena_max=*/0,
                        choices);
}

//===----------------------------------------------------------------------===//
// The rest of the tables
//===----------------------------------------------------------------------===//

static Offset<flatbuffers::Vector<Offset<fb::Argument>>>
writeArguments(FlatBufferBuilder &builder, const std::vector<ArgumentSpec> &specs) {
  std::vector<Offset<fb::Argument>> arguments;
  for (const ArgumentSpec &spec : specs)
    arguments.push_back(fb::CreateArgument(builder, builder.CreateString(spec.name), spec.dtype,
                                           builder.CreateVectorOfStructs(spec.dims), spec.alignment,
                                           spec.donated, spec.alias));
  return builder.CreateVector(arguments);
}

static Offset<fb::Function> writeFunction(FlatBufferBuilder &builder, const FunctionSpec &spec) {
  auto inputs = writeArguments(builder, spec.inputs);
  auto outputs = writeArguments(builder, spec.outputs);
  std::vector<Offset<fb::Symbol>> symbols;
  for (const SymbolSpec &symbol : spec.symbols)
    symbols.push_back(fb::CreateSymbol(builder, builder.CreateString(symbol.name), symbol.input,
                                       symbol.dim, symbol.min, symbol.max, symbol.divisor));
  std::vector<Offset<fb::Plan>> plans;
  for (const PlanSpec &plan : spec.plans)
    plans.push_back(writePlan(builder, plan));
  std::vector<Offset<fb::Requirement>> requirements;
  for (const RequirementSpec &requirement : spec.requirements)
    requirements.push_back(fb::CreateRequirement(
        builder, requirement.comparison, requirement.left, requirement.right,
        builder.CreateString(requirement.what), builder.CreateString(requirement.location)));
  auto name = builder.CreateString(spec.name);
  auto doc = builder.CreateString(spec.doc);
  auto symbolVector = builder.CreateVector(symbols);
  auto code = builder.CreateVectorOfStructs(spec.formulas.code);
  auto formulas = builder.CreateVectorOfStructs(spec.formulas.ranges);
  auto planVector = builder.CreateVector(plans);
  return fb::CreateFunction(builder, name, doc, inputs, outputs, symbolVector, code, formulas,
                            planVector, builder.CreateVector(requirements));
}

static Offset<fb::TensorMap> writeTensorMap(FlatBufferBuilder &builder, const TensorMapSpec &spec) {
  auto dims = builder.CreateVectorOfStructs(spec.dims);
  auto strides = builder.CreateVectorOfStructs(spec.strides);
  auto box = builder.CreateVector(spec.box);
  auto elementStrides = builder.CreateVector(spec.elementStrides);
  auto lower = builder.CreateVector(spec.lower), upper = builder.CreateVector(spec.upper),
       upperScalars = builder.CreateVector(spec.upperScalars);
  fb::TensorMapBuilder writer(builder);
  writer.add_binding(spec.binding);
  writer.add_dtype(spec.dtype);
  writer.add_rank(static_cast<uint8_t>(spec.dims.size()));
  writer.add_dims(dims);
  writer.add_strides(strides);
  writer.add_box(box);
  writer.add_element_strides(elementStrides);
  writer.add_swizzle(spec.swizzle);
  writer.add_mode(spec.mode);
  writer.add_lower_corner(lower);
  writer.add_upper_corner(upper);
  writer.add_upper_scalars(upperScalars);
  writer.add_channels(spec.channels);
  writer.add_pixels(spec.pixels);
  writer.add_offset(&spec.offset);
  return writer.Finish();
}

static Offset<fb::Executable> writeExecutable(FlatBufferBuilder &builder,
                                              const ExecutableSpec &spec, uint32_t namings,
                                              const fb::BlobRef &image) {
  std::vector<Offset<fb::Export>> exports;
  for (const ExportSpec &entry : spec.exports) {
    auto name = builder.CreateString(entry.name);
    auto block = builder.CreateVector(entry.block);
    auto parameters = builder.CreateVectorOfStructs(entry.parameters);
    auto strategy = builder.CreateString("test");
    auto cluster = builder.CreateVector(entry.cluster);
    std::vector<Offset<fb::TensorMap>> maps;
    for (const TensorMapSpec &map : entry.tensorMaps)
      maps.push_back(writeTensorMap(builder, map));
    auto mapVector = builder.CreateVector(maps);
    std::vector<Offset<fb::Operand>> operands;
    for (const OperandSpec &operand : entry.operands)
      operands.push_back(
          fb::CreateOperand(builder, operand.dtype, builder.CreateVectorOfStructs(operand.dims)));
    auto operandVector = builder.CreateVector(operands);
    auto locations = builder.CreateVectorOfStrings(entry.locations);
    fb::ExportBuilder writer(builder);
    writer.add_locations(locations);
    writer.add_cluster(cluster);
    writer.add_programmatic_launch(entry.programmaticLaunch);
    writer.add_reads_inputs_early(entry.readsInputsEarly);
    writer.add_tensor_maps(mapVector);
    writer.add_name(name);
    writer.add_block(block);
    writer.add_parameters(parameters);
    writer.add_strategy(strategy);
    writer.add_scratch(entry.scratch);
    writer.add_binding_count(entry.bindings);
    writer.add_scalar_count(entry.scalars);
    writer.add_bytes(&entry.bytes);
    writer.add_flops(&entry.flops);
    writer.add_operands(operandVector);
    exports.insert(exports.end(), namings, writer.Finish());
  }
  auto arch = builder.CreateString(spec.arch);
  auto features = builder.CreateVectorOfStrings(spec.features);
  auto exportVector = builder.CreateVector(exports);
  auto code = builder.CreateVectorOfStructs(spec.formulas.code);
  auto formulas = builder.CreateVectorOfStructs(spec.formulas.ranges);
  return fb::CreateExecutable(builder, spec.target, spec.kind, arch, features, 0, &image,
                              exportVector, code, formulas);
}

/// \p blobs: of the executables, then of the constants.
static void writeTables(FlatBufferBuilder &builder, const ModuleSpec &spec,
                        const std::vector<fb::BlobRef> &blobs) {
  size_t blob = 0;
  std::vector<Offset<fb::Executable>> executables;
  for (const ExecutableSpec &code : spec.executables)
    executables.push_back(writeExecutable(builder, code, spec.namings, blobs[blob++]));
  std::vector<Offset<fb::Constant>> constants;
  for (const ConstantSpec &constant : spec.constants)
    constants.push_back(fb::CreateConstant(builder, constant.dtype,
                                           builder.CreateVector(constant.dims), constant.alignment,
                                           &blobs[blob++]));
  std::vector<Offset<fb::Target>> targets;
  for (const TargetSpec &target : spec.targets)
    targets.push_back(fb::CreateTarget(builder, builder.CreateString(target.kind),
                                       builder.CreateString(target.arch)));
  std::vector<Offset<fb::Function>> functions;
  for (const FunctionSpec &function : spec.functions)
    functions.insert(functions.end(), spec.namings, writeFunction(builder, function));
  std::vector<Offset<fb::ExternalParameter>> parameters;
  for (const ParameterSpec &parameter : spec.parameters)
    parameters.push_back(fb::CreateExternalParameter(
        builder, builder.CreateString(parameter.scope), builder.CreateString(parameter.key),
        parameter.dtype, builder.CreateVector(parameter.dims)));
  std::vector<Offset<fb::Variable>> variables;
  for (const VariableSpec &variable : spec.variables)
    variables.push_back(fb::CreateVariable(builder, builder.CreateString(variable.name),
                                           variable.dtype, builder.CreateVector(variable.dims),
                                           variable.initialConstant, variable.initialParameter));
  std::vector<Offset<fb::InitPlan>> initPlans;
  for (const InitPlanSpec &init : spec.initPlans)
    initPlans.push_back(fb::CreateInitPlan(builder, init.target,
                                           builder.CreateVector(init.packedSizes),
                                           writePlan(builder, init.plan)));
  auto provenance =
      fb::CreateProvenance(builder, builder.CreateString("test builder"), builder.CreateString(""),
                           builder.CreateString("test"), 1, builder.CreateString(""));
  auto features = builder.CreateVectorOfStrings(spec.requiredFeatures);
  auto targetVector = builder.CreateVector(targets);
  auto functionVector = builder.CreateVector(functions);
  auto executableVector = builder.CreateVector(executables);
  auto constantVector = builder.CreateVector(constants);
  auto parameterVector = builder.CreateVector(parameters);
  auto variableVector = builder.CreateVector(variables);
  auto initVector = builder.CreateVector(initPlans);
  auto module = fb::CreateModule(builder, provenance, features, targetVector, functionVector,
                                 executableVector, constantVector, parameterVector, variableVector,
                                 initVector);
  fb::FinishSizePrefixedModuleBuffer(builder, module);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static uint64_t align(uint64_t value) {
  return (value + ModuleHeader::kAlignment - 1) / ModuleHeader::kAlignment *
         ModuleHeader::kAlignment;
}

std::vector<uint8_t> ModuleSpec::finish() const {
  std::vector<const std::vector<uint8_t> *> data;
  for (const ExecutableSpec &code : executables)
    data.push_back(&code.image);
  for (const ConstantSpec &constant : constants)
    data.push_back(&constant.data);
  // References have a fixed size: the first pass tells where the blobs begin.
  std::vector<fb::BlobRef> blobs(data.size());
  FlatBufferBuilder sizing;
  writeTables(sizing, *this, blobs);
  uint64_t end = sizeof(ModuleHeader) + sizing.GetSize();
  for (size_t i = 0; i < data.size(); ++i) {
    end = align(end);
    blobs[i] = fb::BlobRef(end, data[i]->size(), XXH3_64bits(data[i]->data(), data[i]->size()));
    end += data[i]->size();
  }
  FlatBufferBuilder builder;
  writeTables(builder, *this, blobs);

  ModuleHeader header = {};
  memcpy(header.magic, ModuleHeader::kMagic, sizeof(header.magic));
  header.major = ModuleHeader::kMajor;
  header.minor = ModuleHeader::kMinor;
  header.fileSize = end;
  header.tablesOffset = sizeof(ModuleHeader);
  header.tablesSize = builder.GetSize();
  std::vector<uint8_t> file(end);
  memcpy(file.data(), &header, sizeof(header));
  memcpy(file.data() + header.tablesOffset, builder.GetBufferPointer(), builder.GetSize());
  for (size_t i = 0; i < data.size(); ++i)
    if (!data[i]->empty())
      memcpy(file.data() + blobs[i].offset(), data[i]->data(), data[i]->size());
  fixChecksums(file);
  return file;
}

void xc::test::fixChecksums(std::vector<uint8_t> &module) {
  ModuleHeader header;
  memcpy(&header, module.data(), sizeof(header));
  if (header.tablesOffset <= module.size() &&
      header.tablesSize <= module.size() - header.tablesOffset)
    header.tablesChecksum = XXH3_64bits(module.data() + header.tablesOffset, header.tablesSize);
  header.headerChecksum = XXH3_64bits(&header, offsetof(ModuleHeader, headerChecksum));
  memcpy(module.data(), &header, sizeof(header));
}
