//===- KernelModule.cpp - Writes the module of an extracted kernel --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As in the compiler's writer, the tables are built twice: offsets of blobs depend on the size of
// the tables, which does not depend on the offsets.
//
//===----------------------------------------------------------------------===//

#include "tools/xrun/KernelModule.h"

#include "schemas/module_generated.h"
#include "schemas/module_header.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace xc::tools {

using flatbuffers::Offset;

/// What buffers of the runtime are aligned to at least; no guard of a variant asks for more.
static constexpr uint32_t kAlignment = 64;

namespace {
class KernelModuleWriter {
public:
  KernelModuleWriter(const Session &session, const Step &step, const std::vector<BoundArray> &read,
                     const std::vector<BoundArray> &written)
      : session(session), step(step), read(read), written(written),
        source(*fb::GetSizePrefixedModule(xcr_module_tables(session.module.get()).data)) {}

  Result<std::string> write();

private:
  void chooseCode();
  void buildTables(const std::vector<fb::BlobRef> &blobs);
  Offset<fb::Executable> buildExecutable(const fb::Executable &code, const fb::BlobRef &image);
  Offset<fb::Export> buildExport(const fb::Export &entry);
  Offset<fb::TensorMap> buildTensorMap(const fb::TensorMap &map);
  Offset<fb::Argument> buildArgument(const BoundArray &bound, bool isInput);
  Offset<fb::Plan> buildPlan();
  Offset<fb::Function> buildFunction();

  /// A vector of structs or numbers as it is; empty where there is none.
  template <typename T>
  Offset<flatbuffers::Vector<const T *>> copy(const flatbuffers::Vector<const T *> *vector) {
    std::vector<T> elements;
    for (uint32_t i = 0; vector && i < vector->size(); ++i)
      elements.push_back(*vector->Get(i));
    return builder.CreateVectorOfStructs(elements);
  }
  template <typename T>
  Offset<flatbuffers::Vector<T>> copyNumbers(const flatbuffers::Vector<T> *vector) {
    return vector ? builder.CreateVector(vector->data(), vector->size())
                  : builder.CreateVector(std::vector<T>());
  }
  Offset<flatbuffers::Vector<uint32_t>> copy(const flatbuffers::Vector<uint32_t> *vector) {
    return copyNumbers(vector);
  }
  template <typename T>
  Offset<flatbuffers::Vector<Offset<flatbuffers::String>>> copyStrings(const T *vector) {
    std::vector<std::string> strings;
    for (uint32_t i = 0; vector && i < vector->size(); ++i)
      strings.push_back(vector->Get(i)->str());
    return builder.CreateVectorOfStrings(strings);
  }
  Offset<flatbuffers::String> copy(const flatbuffers::String *text) {
    return builder.CreateString(text ? text->str() : std::string());
  }

  const Session &session;
  const Step &step;
  const std::vector<BoundArray> &read, &written;
  const fb::Module &source;
  std::vector<uint32_t> executables; ///< ordinals in the source, alternatives of one code
  flatbuffers::FlatBufferBuilder builder;
};
} // namespace

/// The executables of the dispatch's target that hold the same kernel: PTX and machine code.
void KernelModuleWriter::chooseCode() {
  uint32_t target = source.executables()->Get(step.info.executable)->target();
  for (uint32_t i = 0; i < source.executables()->size(); ++i) {
    const fb::Executable &code = *source.executables()->Get(i);
    uint32_t entry = step.info.export_ordinal;
    if (code.target() == target && entry < code.exports()->size() &&
        code.exports()->Get(entry)->name()->str() == step.name())
      executables.push_back(i);
  }
}

Offset<fb::TensorMap> KernelModuleWriter::buildTensorMap(const fb::TensorMap &map) {
  auto dims = copy(map.dims());
  auto strides = copy(map.strides());
  auto box = copy(map.box());
  auto elementStrides = copy(map.element_strides());
  auto lower = copyNumbers(map.lower_corner()), upper = copyNumbers(map.upper_corner()),
       upperScalars = copyNumbers(map.upper_scalars());
  return fb::CreateTensorMap(builder, map.binding(), map.dtype(), map.rank(), dims, strides, box,
                             elementStrides, map.interleave(), map.swizzle(), map.l2_promotion(),
                             map.oob_fill(), map.offset(), map.round_tf32(), map.mode(), lower,
                             upper, map.channels(), map.pixels(), upperScalars);
}

Offset<fb::Export> KernelModuleWriter::buildExport(const fb::Export &entry) {
  std::vector<Offset<fb::TensorMap>> maps;
  for (uint32_t i = 0; entry.tensor_maps() && i < entry.tensor_maps()->size(); ++i)
    maps.push_back(buildTensorMap(*entry.tensor_maps()->Get(i)));
  std::vector<Offset<fb::Operand>> operands;
  for (uint32_t i = 0; entry.operands() && i < entry.operands()->size(); ++i) {
    const fb::Operand &operand = *entry.operands()->Get(i);
    operands.push_back(fb::CreateOperand(builder, operand.dtype(), copy(operand.dims())));
  }
  auto name = copy(entry.name());
  auto block = copy(entry.block());
  auto cluster = copy(entry.cluster());
  auto parameters = copy(entry.parameters());
  auto mapVector = builder.CreateVector(maps);
  auto strategy = copy(entry.strategy());
  auto reason = copy(entry.reason());
  auto locations = copyStrings(entry.locations());
  auto operandVector = builder.CreateVector(operands);
  return fb::CreateExport(
      builder, name, block, cluster, entry.dynamic_shared_memory(), entry.static_shared_memory(),
      entry.scratch(), entry.programmatic_launch(), parameters, mapVector, entry.binding_count(),
      entry.scalar_count(), entry.registers(), entry.spill_bytes(), strategy, reason, locations,
      entry.bytes(), entry.flops(), operandVector, entry.reads_inputs_early());
}

Offset<fb::Executable> KernelModuleWriter::buildExecutable(const fb::Executable &code,
                                                           const fb::BlobRef &image) {
  Offset<fb::Export> entry = buildExport(*code.exports()->Get(step.info.export_ordinal));
  auto arch = copy(code.arch());
  auto features = copyStrings(code.cpu_features());
  auto exports = builder.CreateVector(&entry, 1);
  auto formulaCode = copy(code.formula_code());
  auto formulas = copy(code.formulas());
  return fb::CreateExecutable(builder, /*target=*/0, code.kind(), arch, features, code.min_driver(),
                              &image, exports, formulaCode, formulas);
}

Offset<fb::Argument> KernelModuleWriter::buildArgument(const BoundArray &bound, bool isInput) {
  std::vector<fb::Value> dims;
  for (int64_t dim : bound.array.dims())
    dims.emplace_back(-1, dim);
  int32_t alias = -1;
  for (size_t i = 0; !isInput && i < read.size(); ++i)
    if (read[i].binding == bound.binding)
      alias = int32_t(i);
  auto name = builder.CreateString("binding" + std::to_string(bound.binding));
  auto dimVector = builder.CreateVectorOfStructs(dims);
  return fb::CreateArgument(builder, name, fb::DType(bound.array.dtype()), dimVector, kAlignment,
                            isInput && bound.info.is_written, alias);
}

Offset<fb::Plan> KernelModuleWriter::buildPlan() {
  auto literal = [](uint64_t number) { return fb::Value(-1, int64_t(number)); };
  std::vector<fb::Binding> bindings(step.info.binding_count);
  auto place = [&](const std::vector<BoundArray> &arrays, fb::Space space) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      uint32_t access = (arrays[i].info.is_read ? 1 : 0) | (arrays[i].info.is_written ? 2 : 0);
      bindings[arrays[i].binding] = fb::Binding(space, fb::Access(access), uint32_t(i), literal(0),
                                                literal(arrays[i].info.byte_length));
    }
  };
  place(read, fb::Space::Input);
  place(written, fb::Space::Output); // also what is read, too: the output is in the input's buffer
  std::vector<fb::Value> scalars;
  for (uint32_t i = 0; i < step.info.scalar_count; ++i)
    scalars.emplace_back(-1, step.info.scalars[i]);
  const uint32_t *grid = step.info.grid;
  fb::Variant variant(/*executable=*/0, /*export_ordinal=*/0, fb::Range(0, 0),
                      fb::Range(0, uint32_t(scalars.size())), literal(grid[0]), literal(grid[1]),
                      literal(grid[2]), literal(step.info.workspace_bytes), literal(0));
  fb::Dispatch dispatch(fb::Range(0, 1), fb::Range(0, uint32_t(bindings.size())), /*location=*/0);
  fb::Command command(fb::CommandKind::Dispatch, 0, fb::Range(0, 0));
  fb::Region region(fb::Range(0, 1));
  fb::Value arena = literal(step.info.workspace_bytes);
  auto regions = builder.CreateVectorOfStructs(&region, 1);
  auto commands = builder.CreateVectorOfStructs(&command, 1);
  auto dispatches = builder.CreateVectorOfStructs(&dispatch, 1);
  auto variants = builder.CreateVectorOfStructs(&variant, 1);
  auto scalarVector = builder.CreateVectorOfStructs(scalars);
  auto bindingVector = builder.CreateVectorOfStructs(bindings);
  auto locations = builder.CreateVectorOfStrings({toString(step.info.location)});
  fb::PlanBuilder plan(builder);
  plan.add_regions(regions);
  plan.add_commands(commands);
  plan.add_dispatches(dispatches);
  plan.add_variants(variants);
  plan.add_scalars(scalarVector);
  plan.add_bindings(bindingVector);
  plan.add_arena_size(&arena);
  plan.add_locations(locations);
  return plan.Finish();
}

Offset<fb::Function> KernelModuleWriter::buildFunction() {
  std::vector<Offset<fb::Argument>> inputs, outputs;
  for (const BoundArray &bound : read)
    inputs.push_back(buildArgument(bound, /*isInput=*/true));
  for (const BoundArray &bound : written)
    outputs.push_back(buildArgument(bound, /*isInput=*/false));
  Offset<fb::Plan> plan = buildPlan();
  auto name = builder.CreateString("main");
  auto doc = builder.CreateString(step.describe());
  auto inputVector = builder.CreateVector(inputs);
  auto outputVector = builder.CreateVector(outputs);
  auto plans = builder.CreateVector(&plan, 1);
  fb::FunctionBuilder function(builder);
  function.add_name(name);
  function.add_doc(doc);
  function.add_inputs(inputVector);
  function.add_outputs(outputVector);
  function.add_plans(plans);
  return function.Finish();
}

void KernelModuleWriter::buildTables(const std::vector<fb::BlobRef> &blobs) {
  builder.Clear();
  std::vector<Offset<fb::Executable>> codes;
  for (size_t i = 0; i < executables.size(); ++i)
    codes.push_back(buildExecutable(*source.executables()->Get(executables[i]), blobs[i]));
  const fb::Target &from =
      *source.targets()->Get(source.executables()->Get(executables[0])->target());
  Offset<fb::Target> target = fb::CreateTarget(builder, copy(from.kind()), copy(from.arch()));
  Offset<fb::Function> function = buildFunction();
  Offset<fb::Provenance> provenance;
  if (const fb::Provenance *given = source.provenance())
    provenance = fb::CreateProvenance(builder, copy(given->compiler()), copy(given->flags()),
                                      copy(given->source_name()), given->source_hash(),
                                      copy(given->ptxas()));
  auto features = copyStrings(source.required_features());
  auto targets = builder.CreateVector(&target, 1);
  auto functions = builder.CreateVector(&function, 1);
  auto codeVector = builder.CreateVector(codes);
  fb::ModuleBuilder module(builder);
  if (source.provenance())
    module.add_provenance(provenance);
  module.add_required_features(features);
  module.add_targets(targets);
  module.add_functions(functions);
  module.add_executables(codeVector);
  fb::FinishSizePrefixedModuleBuffer(builder, module.Finish());
}

static uint64_t align(uint64_t offset) {
  return (offset + ModuleHeader::kAlignment - 1) / ModuleHeader::kAlignment *
         ModuleHeader::kAlignment;
}

Result<std::string> KernelModuleWriter::write() {
  chooseCode();
  std::vector<xcr_string_view_t> images(executables.size());
  for (size_t i = 0; i < executables.size(); ++i)
    if (Error error =
            toError(xcr_module_get_image(session.module.get(), executables[i], &images[i])))
      return error;
  std::vector<fb::BlobRef> blobs(images.size());
  buildTables(blobs);
  uint64_t end = sizeof(ModuleHeader) + builder.GetSize();
  for (size_t i = 0; i < images.size(); ++i) {
    end = align(end);
    blobs[i] = fb::BlobRef(end, images[i].size, XXH3_64bits(images[i].data, images[i].size));
    end += images[i].size;
  }
  buildTables(blobs);

  ModuleHeader header = {};
  memcpy(header.magic, ModuleHeader::kMagic, sizeof(header.magic));
  header.major = ModuleHeader::kMajor;
  header.minor = ModuleHeader::kMinor;
  header.fileSize = end;
  header.tablesOffset = sizeof(ModuleHeader);
  header.tablesSize = builder.GetSize();
  header.tablesChecksum = XXH3_64bits(builder.GetBufferPointer(), builder.GetSize());
  header.headerChecksum = XXH3_64bits(&header, offsetof(ModuleHeader, headerChecksum));
  std::string file(end, '\0');
  memcpy(file.data(), &header, sizeof(header));
  memcpy(file.data() + header.tablesOffset, builder.GetBufferPointer(), builder.GetSize());
  for (size_t i = 0; i < images.size(); ++i)
    memcpy(file.data() + blobs[i].offset(), images[i].data, images[i].size);
  return file;
}

Result<std::string> makeKernelModule(const Session &session, const Step &step,
                                     const std::vector<BoundArray> &read,
                                     const std::vector<BoundArray> &written) {
  return KernelModuleWriter(session, step, read, written).write();
}

} // namespace xc::tools
