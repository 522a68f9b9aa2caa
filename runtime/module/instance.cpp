//===- instance.cpp - A module's variables on a device -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/instance.h"

#include "runtime/base/api_struct.h"
#include "runtime/base/dtype.h"
#include "runtime/base/named_range.h"
#include "runtime/base/nearest_names.h"
#include "runtime/module/call.h"

using namespace xc;

xcr_instance::xcr_instance(Ref<Program> from)
    : allocator(from->device().allocator), program(std::move(from)), variables(allocator),
      order(allocator), freeCalls(allocator) {}

xcr_instance::~xcr_instance() = default;

void xcr_instance::destroy() {
  for (xcr_call *call : freeCalls)
    call->release();
  // The variables' memory and the streams belong to the device.
  Ref<Program> keep = program;
  allocator.destroy(this);
}

Status xcr_instance::create(Ref<xcr_device> device, Ref<xcr_module> module,
                            const GivenParameters &parameters, Ref<xcr_instance> *out) {
  NamedRange range("create instance", "");
  Ref<Program> program;
  XCR_RETURN_IF_ERROR(Program::get(device, std::move(module), parameters, &program));
  auto instance =
      Ref<xcr_instance>::adopt(device->allocator.create<xcr_instance>(std::move(program)));
  if (!instance)
    return outOfHostMemory(sizeof(xcr_instance));
  XCR_RETURN_IF_ERROR(instance->createVariables());
  instance->program->releaseParameters();
  XCR_RETURN_IF_ERROR(instance->order.create(*device));
  *out = std::move(instance);
  return Status();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Status xcr_instance::createVariables() {
  const auto *table = module().tables().variables();
  XCR_RETURN_IF_ERROR(variables.resize(count(table)));
  for (uint32_t i = 0; i < count(table); ++i) {
    const fb::Variable &variable = *table->Get(i);
    hal::Layout layout;
    XCR_RETURN_IF_ERROR(hal::Layout::create(
        allocator, toApi(variable.dtype()), count(variable.dims()),
        count(variable.dims()) ? variable.dims()->data() : nullptr, nullptr, &layout));
    XCR_RETURN_IF_ERROR(
        xcr_buffer::create(Ref<xcr_device>::share(&device()), layout, &variables[i]));
    XCR_RETURN_IF_ERROR(program->initialiseVariable(i, *variables[i]->memory));
  }
  return Status();
}

Status xcr_instance::findVariable(xcr_string_view_t name, uint32_t *out) const {
  int64_t found = module().findVariable(name);
  if (found >= 0) {
    *out = static_cast<uint32_t>(found);
    return Status();
  }
  NearestNames nearest(name);
  const auto *table = module().tables().variables();
  for (uint32_t i = 0; i < count(table); ++i)
    nearest.add(text(table->Get(i)->name()));
  return nearest.notFound(allocator, "variable", "the module");
}

Ref<xcr_buffer> xcr_instance::variable(uint32_t ordinal) const {
  Lock lock(variableMutex);
  return variables[ordinal];
}

Status xcr_instance::setVariable(uint32_t ordinal, xcr_buffer *buffer) {
  const fb::Variable &table = *module().tables().variables()->Get(ordinal);
  const char *name = table.name()->c_str();
  XCR_RETURN_IF_ERROR(requireArgument(buffer, "buffer"));
  const hal::Layout &layout = buffer->layout;
  if (buffer->device.get() != &device())
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "variable '%s': expected a buffer on %s, got one on %s", name,
                      device().info.uri.c_str(), buffer->device->info.uri.c_str());
  Ref<xcr_buffer> old = variable(ordinal);
  const hal::Layout &expected = old->layout;
  if (layout.dtype != expected.dtype || layout.rank != expected.rank ||
      memcmp(layout.shape, expected.shape, expected.rank * sizeof(int64_t)) != 0)
    return describeMismatch(allocator, "variable", name, expected, layout);
  if (!layout.isContiguous)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "variable '%s': expected a contiguous buffer", name);
  // What constants promise to kernels, too.
  if (buffer->address() % 64 != 0)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "variable '%s': expected an address that is a multiple "
                      "of 64, got 0x%llx",
                      name, static_cast<unsigned long long>(buffer->address()));
  // Launches in flight may still use the old buffer.
  XCR_RETURN_IF_ERROR(order.synchronize());
  Lock lock(variableMutex);
  variables[ordinal] = Ref<xcr_buffer>::share(buffer);
  epoch.fetch_add(1, std::memory_order_release);
  return Status();
}

//===----------------------------------------------------------------------===//
// Calls of xcr_invoke
//===----------------------------------------------------------------------===//

Status xcr_instance::borrowCall(const xcr_function &function, xcr_call **out) {
  {
    Lock lock(callMutex);
    for (size_t i = freeCalls.size(); i-- > 0;)
      if (&freeCalls[i]->function() == &function) {
        *out = freeCalls[i];
        freeCalls[i] = freeCalls.back();
        freeCalls.pop();
        return Status();
      }
  }
  Ref<xcr_call> call;
  XCR_RETURN_IF_ERROR(xcr_call::create(*this, function, 0, /*retainsInstance=*/false, &call));
  *out = call.take();
  return Status();
}

void xcr_instance::returnCall(xcr_call *call) {
  Lock lock(callMutex);
  if (freeCalls.push(call).failed())
    call->release();
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

static Status createInstance(xcr_device_t *device, xcr_module_t *module,
                             const xcr_instance_options_t *given, Ref<xcr_instance> *out) {
  XCR_RETURN_IF_ERROR(requireArgument(device, "device"));
  XCR_RETURN_IF_ERROR(requireArgument(module, "module"));
  const xcr_instance_options_t defaults = XCR_INSTANCE_OPTIONS_INIT;
  xcr_instance_options_t options;
  XCR_RETURN_IF_ERROR(readOptions(given, defaults, &options));
  if (options.source_count)
    XCR_RETURN_IF_ERROR(requireArgument(options.sources, "options.sources"));
  for (size_t i = 0; i < options.source_count; ++i) {
    XCR_RETURN_IF_ERROR(requireText(options.sources[i].scope, "options.sources.scope"));
    XCR_RETURN_IF_ERROR(requireText(options.sources[i].path, "options.sources.path"));
  }
  if (options.memory_count)
    XCR_RETURN_IF_ERROR(requireArgument(options.memories, "options.memories"));
  for (size_t i = 0; i < options.memory_count; ++i) {
    XCR_RETURN_IF_ERROR(requireText(options.memories[i].scope, "options.memories.scope"));
    XCR_RETURN_IF_ERROR(requireArgument(options.memories[i].data, "options.memories.data"));
  }
  GivenParameters parameters = {{options.sources, options.source_count},
                                {options.memories, options.memory_count}};
  return xcr_instance::create(Ref<xcr_device>::share(device), Ref<xcr_module>::share(module),
                              parameters, out);
}

xcr_status_t xcr_instance_create(xcr_device_t *device, xcr_module_t *module,
                                 const xcr_instance_options_t *options,
                                 xcr_instance_t **out_instance) {
  XCR_REQUIRE(out_instance);
  *out_instance = nullptr;
  Ref<xcr_instance> instance;
  Status status = createInstance(device, module, options, &instance);
  if (status.succeeded())
    *out_instance = instance.take();
  return status.release();
}

void xcr_instance_retain(xcr_instance_t *instance) {
  if (instance)
    instance->retain();
}

void xcr_instance_release(xcr_instance_t *instance) {
  if (instance)
    instance->release();
}

xcr_device_t *xcr_instance_device(const xcr_instance_t *instance) { return &instance->device(); }

xcr_module_t *xcr_instance_module(const xcr_instance_t *instance) { return &instance->module(); }

uint32_t xcr_instance_target(const xcr_instance_t *instance) { return instance->program->target(); }

xcr_status_t xcr_instance_get_variable(xcr_instance_t *instance, xcr_string_view_t name,
                                       xcr_buffer_t **out_buffer) {
  XCR_REQUIRE(out_buffer);
  *out_buffer = nullptr;
  uint32_t ordinal = 0;
  Status status = requireArgument(instance, "instance");
  if (status.succeeded())
    status = requireText(name, "name");
  if (status.succeeded())
    status = instance->findVariable(name, &ordinal);
  if (status.succeeded())
    *out_buffer = instance->variable(ordinal).get();
  return status.release();
}

xcr_status_t xcr_instance_set_variable(xcr_instance_t *instance, xcr_string_view_t name,
                                       xcr_buffer_t *buffer) {
  uint32_t ordinal = 0;
  Status status = requireArgument(instance, "instance");
  if (status.succeeded())
    status = requireText(name, "name");
  if (status.succeeded())
    status = instance->findVariable(name, &ordinal);
  if (status.succeeded())
    status = instance->setVariable(ordinal, buffer);
  return status.release();
}
