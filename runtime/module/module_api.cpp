//===- module_api.cpp - The C API of modules -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/hal/device.h"
#include "runtime/module/module.h"
#include "runtime/module/program.h"
#include "runtime/module/verifier.h"

using namespace xc;

static constexpr uint32_t kKnownFlags =
    XCR_MODULE_REFUSE_NATIVE_CODE | XCR_MODULE_METADATA_ONLY | XCR_MODULE_VERIFY_BLOBS;

static Status readModuleOptions(const xcr_module_options_t *given, HostAllocator *allocator,
                                uint32_t *flags) {
  const xcr_module_options_t defaults = XCR_MODULE_OPTIONS_INIT;
  xcr_module_options_t options;
  XCR_RETURN_IF_ERROR(readOptions(given, defaults, &options));
  XCR_RETURN_IF_ERROR(readAllocator(options.host_allocator, allocator));
  *flags = options.flags;
  if (options.flags & ~kKnownFlags)
    return makeStatus(*allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "options.flags: 0x%x holds bits that are no flags", options.flags);
  return Status();
}

xcr_status_t xcr_module_load_file(xcr_string_view_t path, const xcr_module_options_t *options,
                                  xcr_module_t **out_module) {
  XCR_REQUIRE(out_module);
  *out_module = nullptr;
  HostAllocator allocator;
  uint32_t flags;
  Ref<xcr_module> module;
  Status status = requireText(path, "path");
  if (status.succeeded())
    status = readModuleOptions(options, &allocator, &flags);
  if (status.succeeded())
    status = xcr_module::loadFile(allocator, path, flags, &module);
  if (status.succeeded())
    *out_module = module.take();
  return status.release();
}

xcr_status_t xcr_module_load_memory(const void *data, size_t size,
                                    const xcr_module_options_t *options,
                                    void (*release)(void *user_data), void *user_data,
                                    xcr_module_t **out_module) {
  XCR_REQUIRE(out_module);
  *out_module = nullptr;
  HostAllocator allocator;
  uint32_t flags;
  Ref<xcr_module> module;
  Status status = readModuleOptions(options, &allocator, &flags);
  if (status.succeeded() && size)
    status = requireArgument(data, "data");
  if (status.succeeded())
    status = xcr_module::loadMemory(allocator, {static_cast<const uint8_t *>(data), size}, flags,
                                    &module);
  if (status.succeeded()) {
    module->releaseMemory = release;
    module->releaseData = user_data;
    *out_module = module.take();
  }
  return status.release();
}

void xcr_module_retain(xcr_module_t *module) {
  if (module)
    module->retain();
}

void xcr_module_release(xcr_module_t *module) {
  if (module)
    module->release();
}

xcr_string_view_t xcr_module_tables(const xcr_module_t *module) {
  Span<const uint8_t> bytes = module->tableBytes();
  return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

template <typename T> static uint64_t sumBytes(const flatbuffers::Vector<T> *entries) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count(entries); ++i)
    sum += byteLengthOf(entries->Get(i)->dtype(), entries->Get(i)->dims());
  return sum;
}

void xcr_module_get_info(const xcr_module_t *module, xcr_module_info_t *out_info) {
  const fb::Module &tables = module->tables();
  xcr_module_info_t info = XCR_MODULE_INFO_INIT;
  info.path = module->path.view();
  info.file_size = module->header.fileSize;
  info.format_major = module->header.major;
  info.format_minor = module->header.minor;
  if (const fb::Provenance *provenance = tables.provenance()) {
    info.compiler = text(provenance->compiler());
    info.flags = text(provenance->flags());
    info.source_name = text(provenance->source_name());
    info.source_hash = provenance->source_hash();
    info.ptxas = text(provenance->ptxas());
  }
  info.target_count = count(tables.targets());
  info.function_count = count(tables.functions());
  info.executable_count = count(tables.executables());
  info.constant_count = count(tables.constants());
  info.parameter_count = count(tables.parameters());
  info.variable_count = count(tables.variables());
  info.constant_bytes = sumBytes(tables.constants());
  info.parameter_bytes = sumBytes(tables.parameters());
  info.variable_bytes = sumBytes(tables.variables());
  writeInfo(info, out_info);
}

static Status checkOrdinal(const xcr_module_t *module, const char *kind, uint32_t ordinal,
                           uint32_t limit) {
  return ordinal < limit ? Status()
                         : makeStatus(module->allocator, XCR_STATUS_OUT_OF_RANGE,
                                      "%s %u: there are %u", kind, ordinal, limit);
}

xcr_status_t xcr_module_get_target(const xcr_module_t *module, uint32_t target,
                                   xcr_target_info_t *out_info) {
  XCR_REQUIRE(module, out_info);
  const fb::Module &tables = module->tables();
  if (Status status = checkOrdinal(module, "target", target, count(tables.targets()));
      status.failed())
    return status.release();
  xcr_target_info_t info = XCR_TARGET_INFO_INIT;
  info.kind = text(tables.targets()->Get(target)->kind());
  info.arch = text(tables.targets()->Get(target)->arch());
  for (uint32_t i = 0; i < count(tables.executables()); ++i) {
    const fb::Executable &code = *tables.executables()->Get(i);
    if (code.target() != target)
      continue;
    info.has_native_code |= code.kind() == fb::CodeKind::SharedObject;
    info.has_ptx |= code.kind() == fb::CodeKind::PTX;
    info.has_cubin |= code.kind() == fb::CodeKind::Cubin;
    if (code.min_driver() > info.min_driver)
      info.min_driver = code.min_driver();
    info.code_bytes += code.image()->size();
  }
  writeInfo(info, out_info);
  return nullptr;
}

xcr_status_t xcr_module_get_executable(const xcr_module_t *module, uint32_t executable,
                                       xcr_executable_info_t *out_info) {
  XCR_REQUIRE(module, out_info);
  const fb::Module &tables = module->tables();
  if (Status status = checkOrdinal(module, "executable", executable, count(tables.executables()));
      status.failed())
    return status.release();
  const fb::Executable &code = *tables.executables()->Get(executable);
  xcr_executable_info_t info = XCR_EXECUTABLE_INFO_INIT;
  info.target = code.target();
  info.kind = static_cast<xcr_code_kind_t>(code.kind());
  info.arch = text(code.arch());
  info.cpu_feature_count = count(code.cpu_features());
  info.min_driver = code.min_driver();
  info.image_bytes = code.image()->size();
  info.export_count = count(code.exports());
  writeInfo(info, out_info);
  return nullptr;
}

xcr_status_t xcr_module_get_cpu_feature(const xcr_module_t *module, uint32_t executable,
                                        uint32_t feature, xcr_string_view_t *out_name) {
  XCR_REQUIRE(out_name);
  *out_name = {nullptr, 0};
  XCR_REQUIRE(module);
  const fb::Module &tables = module->tables();
  Status status = checkOrdinal(module, "executable", executable, count(tables.executables()));
  if (status.succeeded()) {
    const auto *features = tables.executables()->Get(executable)->cpu_features();
    status = checkOrdinal(module, "feature", feature, count(features));
    if (status.succeeded())
      *out_name = text(features->Get(feature));
  }
  return status.release();
}

static Status findExport(const xcr_module_t *module, uint32_t executable, uint32_t ordinal,
                         const fb::Export **out) {
  const fb::Module &tables = module->tables();
  XCR_RETURN_IF_ERROR(checkOrdinal(module, "executable", executable, count(tables.executables())));
  const auto *exports = tables.executables()->Get(executable)->exports();
  XCR_RETURN_IF_ERROR(checkOrdinal(module, "export", ordinal, count(exports)));
  *out = exports->Get(ordinal);
  return Status();
}

static void copyExtent(const flatbuffers::Vector<uint32_t> *from, uint32_t (&to)[3]) {
  for (uint32_t i = 0; i < 3; ++i)
    to[i] = count(from) ? from->Get(i) : 1;
}

xcr_status_t xcr_module_get_export(const xcr_module_t *module, uint32_t executable,
                                   uint32_t export_ordinal, xcr_export_info_t *out_info) {
  XCR_REQUIRE(module, out_info);
  const fb::Export *entry;
  if (Status status = findExport(module, executable, export_ordinal, &entry); status.failed())
    return status.release();
  xcr_export_info_t info = XCR_EXPORT_INFO_INIT;
  info.name = text(entry->name());
  info.strategy = text(entry->strategy());
  info.reason = text(entry->reason());
  copyExtent(entry->block(), info.block);
  copyExtent(entry->cluster(), info.cluster);
  info.static_shared_memory = entry->static_shared_memory();
  info.dynamic_shared_memory = entry->dynamic_shared_memory();
  info.scratch = entry->scratch();
  info.registers = entry->registers();
  info.spill_bytes = entry->spill_bytes();
  info.location_count = count(entry->locations());
  writeInfo(info, out_info);
  return nullptr;
}

xcr_status_t xcr_module_get_export_location(const xcr_module_t *module, uint32_t executable,
                                            uint32_t export_ordinal, uint32_t location,
                                            xcr_string_view_t *out_location) {
  XCR_REQUIRE(out_location);
  *out_location = {nullptr, 0};
  XCR_REQUIRE(module);
  const fb::Export *entry;
  Status status = findExport(module, executable, export_ordinal, &entry);
  if (status.succeeded())
    status = checkOrdinal(module, "location", location, count(entry->locations()));
  if (status.succeeded())
    *out_location = text(entry->locations()->Get(location));
  return status.release();
}

xcr_status_t xcr_module_get_image(const xcr_module_t *module, uint32_t executable,
                                  xcr_string_view_t *out_image) {
  XCR_REQUIRE(out_image);
  *out_image = {nullptr, 0};
  XCR_REQUIRE(module);
  const fb::Module &tables = module->tables();
  Status status = checkOrdinal(module, "executable", executable, count(tables.executables()));
  Span<const uint8_t> bytes;
  if (status.succeeded())
    status = module->image(executable, &bytes);
  if (status.succeeded())
    *out_image = {reinterpret_cast<const char *>(bytes.data), bytes.size};
  return status.release();
}

/// Fields that variables and parameters share.
template <typename T> static xcr_data_info_t describeData(const T &table) {
  xcr_data_info_t info = XCR_DATA_INFO_INIT;
  info.dtype = toApi(table.dtype());
  info.rank = count(table.dims());
  info.shape = info.rank ? table.dims()->data() : nullptr;
  info.byte_length = byteLengthOf(table.dtype(), table.dims());
  return info;
}

xcr_status_t xcr_module_get_variable(const xcr_module_t *module, uint32_t variable,
                                     xcr_data_info_t *out_info) {
  XCR_REQUIRE(module, out_info);
  const fb::Module &tables = module->tables();
  if (Status status = checkOrdinal(module, "variable", variable, count(tables.variables()));
      status.failed())
    return status.release();
  const fb::Variable &table = *tables.variables()->Get(variable);
  xcr_data_info_t info = describeData(table);
  info.name = text(table.name());
  writeInfo(info, out_info);
  return nullptr;
}

xcr_status_t xcr_module_get_parameter(const xcr_module_t *module, uint32_t parameter,
                                      xcr_data_info_t *out_info) {
  XCR_REQUIRE(module, out_info);
  const fb::Module &tables = module->tables();
  if (Status status = checkOrdinal(module, "parameter", parameter, count(tables.parameters()));
      status.failed())
    return status.release();
  const fb::ExternalParameter &table = *tables.parameters()->Get(parameter);
  xcr_data_info_t info = describeData(table);
  info.name = text(table.key());
  info.scope = text(table.scope());
  writeInfo(info, out_info);
  return nullptr;
}

xcr_status_t xcr_module_check_device(const xcr_module_t *module, const xcr_device_t *device,
                                     uint32_t *out_target) {
  XCR_REQUIRE(out_target);
  *out_target = 0;
  Status status = requireArgument(module, "module");
  if (status.succeeded())
    status = requireArgument(device, "device");
  if (status.succeeded())
    status = chooseTarget(*module, *device, out_target);
  return status.release();
}
