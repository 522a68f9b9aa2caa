//===- call.cpp - Buffers bound to a function ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/call.h"

#include "runtime/base/api_struct.h"
#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/base/named_range.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace xc;

xcr_call::xcr_call(xcr_instance &of, const xcr_function &function, bool retainsInstance)
    : allocator(of.allocator), instance(of),
      instanceRef(retainsInstance ? Ref<xcr_instance>::share(&of) : Ref<xcr_instance>()),
      target(&function), inputs(allocator), outputs(allocator), isOwnOutput(allocator),
      variables(allocator), shapes(allocator), resolver(allocator), changes(allocator),
      extents(allocator), recordedChoices(allocator), otherChoices(allocator),
      stepRegions(allocator) {}

Status xcr_call::create(xcr_instance &instance, const xcr_function &function, uint32_t flags,
                        bool retainsInstance, Ref<xcr_call> *out) {
  auto call = Ref<xcr_call>::adopt(
      instance.allocator.create<xcr_call>(instance, function, retainsInstance));
  if (!call)
    return outOfHostMemory(sizeof(xcr_call));
  XCR_RETURN_IF_ERROR(call->initialise(flags));
  *out = std::move(call);
  return Status();
}

Status xcr_call::initialise(uint32_t flags) {
  const fb::Function &table = *target->table;
  plan = target->planFor(instance.program->target());
  if (!plan)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "function '%s' has no plan for target %u, which the "
                      "instance uses",
                      table.name()->c_str(), instance.program->target());
  isProfiled = flags & XCR_CALL_PROFILE;
  XCR_RETURN_IF_ERROR(inputs.resize(count(table.inputs())));
  XCR_RETURN_IF_ERROR(outputs.resize(count(table.outputs())));
  XCR_RETURN_IF_ERROR(isOwnOutput.resize(count(table.outputs())));
  for (uint8_t &isOwn : isOwnOutput)
    isOwn = true;
  XCR_RETURN_IF_ERROR(shapes.initialise(table));
  XCR_RETURN_IF_ERROR(resolver.initialise(*instance.program, *plan, text(table.name()),
                                          count(table.inputs()), count(table.outputs())));
  uint32_t variableCount = count(instance.module().tables().variables());
  XCR_RETURN_IF_ERROR(variables.resize(variableCount));
  for (uint32_t i = 0; i < variableCount; ++i) {
    touchesVariables |= resolver.variableAccess(i) != 0;
    writesVariables |= (resolver.variableAccess(i) & 2) != 0;
  }
  XCR_RETURN_IF_ERROR(extents.reserve(inputs.size() + outputs.size() + variableCount));
  return instance.device().createEvent(&orderEvent);
}

void xcr_call::destroy() {
  if (lastStream) {
    // What a launch in flight uses goes when that has ended.
    Ref<hal::Stream> stream = std::move(lastStream);
    for (auto *buffers : {&inputs, &outputs, &variables})
      for (Ref<xcr_buffer> &buffer : *buffers)
        if (buffer)
          stream->releaseLater(buffer.take());
    if (arenaHolder)
      stream->releaseLater(arenaHolder.take());
    resolver.releaseTemporaries(stream.get());
    // The constants and the code, not the instance: that keeps the streams of variables, and a
    // stream that kept it in turn would be there for ever.
    if (instanceRef)
      stream->releaseLater(Ref<Program>(instance.program).take());
  }
  Ref<xcr_instance> keep = instanceRef;
  allocator.destroy(this);
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static void printType(const hal::Layout &layout, char *text, size_t size) {
  size_t used = 0;
  for (uint32_t i = 0; i < layout.rank && used + 24 < size; ++i)
    used +=
        static_cast<size_t>(snprintf(text + used, size - used, "%" PRId64 "x", layout.shape[i]));
  snprintf(text + used, size - used, "%s", xcr_dtype_name(layout.dtype).data);
}

static constexpr size_t kTypeText = XCR_MAX_RANK * 21 + 8;

Status xc::describeMismatch(const HostAllocator &allocator, const char *kind, const char *name,
                            const hal::Layout &expected, const hal::Layout &got) {
  char expectedText[kTypeText], gotText[kTypeText];
  printType(expected, expectedText, sizeof(expectedText));
  printType(got, gotText, sizeof(gotText));
  return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT, "%s '%s': expected %s, got %s", kind,
                    name, expectedText, gotText);
}

const fb::Argument &xcr_call::inputTable(uint32_t ordinal) const {
  return *target->table->inputs()->Get(ordinal);
}

const fb::Argument &xcr_call::outputTable(uint32_t ordinal) const {
  return *target->table->outputs()->Get(ordinal);
}

/// What can be told without the other arguments.
Status xcr_call::checkBuffer(const char *kind, uint32_t ordinal, const fb::Argument &argument,
                             const xcr_buffer &buffer) const {
  const hal::Layout &layout = buffer.layout;
  const char *name = text(argument.name()).data;
  const char *function = target->table->name()->c_str();
  if (buffer.device.get() != &instance.device())
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s %u ('%s') of '%s': expected a buffer of the instance's device object %p "
                      "(%s), got one of another device object %p (%s)",
                      kind, ordinal, name, function, static_cast<void *>(&instance.device()),
                      instance.device().info.uri.c_str(), static_cast<void *>(buffer.device.get()),
                      buffer.device->info.uri.c_str());
  if (layout.dtype != toApi(argument.dtype()))
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s %u ('%s') of '%s': expected element type %s, got %s", kind, ordinal, name,
                      function, xcr_dtype_name(toApi(argument.dtype())).data,
                      xcr_dtype_name(layout.dtype).data);
  if (layout.rank != count(argument.dims()))
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s %u ('%s') of '%s': expected rank %u, got %u", kind, ordinal, name,
                      function, count(argument.dims()), layout.rank);
  for (uint32_t i = 0; i < layout.rank; ++i) {
    const fb::Value &dim = *argument.dims()->Get(i);
    if (dim.formula() < 0 && dim.literal() != layout.shape[i])
      return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "%s %u ('%s') of '%s': expected dim %u to be %" PRId64 ", got %" PRId64,
                        kind, ordinal, name, function, i, dim.literal(), layout.shape[i]);
  }
  if (!layout.isContiguous)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s %u ('%s') of '%s': expected a contiguous row-major "
                      "buffer, got one with other strides",
                      kind, ordinal, name, function);
  if (buffer.address() % argument.alignment() != 0)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s %u ('%s') of '%s': expected an address that is a "
                      "multiple of %u, got 0x%" PRIx64,
                      kind, ordinal, name, function, argument.alignment(), buffer.address());
  return Status();
}

/// A launch in flight may still use what was there.
void xcr_call::replace(Ref<xcr_buffer> &place, Ref<xcr_buffer> buffer) {
  Ref<xcr_buffer> old = std::move(place);
  place = std::move(buffer);
  buffersChanged = true;
  if (old && lastStream)
    lastStream->releaseLater(old.take());
}

Status xcr_call::setInput(uint32_t ordinal, xcr_buffer *buffer) {
  if (ordinal >= inputs.size())
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "input %u: '%s' has %zu", ordinal,
                      target->table->name()->c_str(), inputs.size());
  if (!buffer)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "input %u of '%s': expected a buffer, got NULL", ordinal,
                      target->table->name()->c_str());
  xcr_buffer *old = inputs[ordinal].get();
  if (old == buffer)
    return Status();
  XCR_RETURN_IF_ERROR(checkBuffer("input", ordinal, inputTable(ordinal), *buffer));
  if (!old ||
      memcmp(old->layout.shape, buffer->layout.shape, buffer->layout.rank * sizeof(int64_t)) != 0)
    shapesChanged = true;
  replace(inputs[ordinal], Ref<xcr_buffer>::share(buffer));
  return Status();
}

Status xcr_call::setOutput(uint32_t ordinal, xcr_buffer *buffer) {
  if (ordinal >= outputs.size())
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "output %u: '%s' has %zu", ordinal,
                      target->table->name()->c_str(), outputs.size());
  const fb::Argument &table = outputTable(ordinal);
  if (buffer && table.alias() >= 0)
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "output %u ('%s') of '%s' is held by the buffer of input "
                      "%d and cannot be set",
                      ordinal, text(table.name()).data, target->table->name()->c_str(),
                      table.alias());
  if (buffer ? buffer == outputs[ordinal].get() && !isOwnOutput[ordinal]
             : isOwnOutput[ordinal] != 0)
    return Status();
  if (buffer)
    XCR_RETURN_IF_ERROR(checkBuffer("output", ordinal, table, *buffer));
  isOwnOutput[ordinal] = !buffer;
  replace(outputs[ordinal], Ref<xcr_buffer>::share(buffer));
  return Status();
}

Ref<xcr_buffer> xcr_call::takeOutput(uint32_t ordinal) {
  buffersChanged = true;
  return std::move(outputs[ordinal]);
}

void xcr_call::unbind() {
  for (Ref<xcr_buffer> &buffer : inputs)
    replace(buffer, Ref<xcr_buffer>());
  for (Ref<xcr_buffer> &buffer : outputs)
    replace(buffer, Ref<xcr_buffer>());
  for (uint8_t &isOwn : isOwnOutput)
    isOwn = true;
}

xcr_buffer *xcr_call::input(uint32_t ordinal) const {
  return ordinal < inputs.size() ? inputs[ordinal].get() : nullptr;
}

xcr_buffer *xcr_call::output(uint32_t ordinal) const {
  return ordinal < outputs.size() ? outputs[ordinal].get() : nullptr;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Dims that are formulas are compared when the symbols are known.
Status xcr_call::checkShape(const char *kind, uint32_t ordinal, const fb::Argument &argument,
                            const xcr_buffer &buffer) const {
  int64_t expected[XCR_MAX_RANK];
  XCR_RETURN_IF_ERROR(shapes.shapeOf(argument, expected));
  for (uint32_t i = 0; i < buffer.layout.rank; ++i) {
    if (expected[i] == buffer.layout.shape[i])
      continue;
    const fb::Value &dim = *argument.dims()->Get(i);
    const fb::Function &table = *target->table;
    String source(allocator);
    if (dim.formula() >= 0) {
      const fb::Range &range = *table.formulas()->Get(static_cast<uint32_t>(dim.formula()));
      const fb::FormulaInstruction *code = codeOf(table.formula_code(), range);
      if (range.count() == 1 && code->op() == fb::FormulaOp::Symbol) {
        const fb::Symbol &symbol = *table.symbols()->Get(static_cast<uint32_t>(code->operand()));
        char place[96];
        snprintf(place, sizeof(place), "', which is dim %u of input %u)", symbol.dim(),
                 symbol.input());
        XCR_RETURN_IF_ERROR(source.append(xcr_string(" (symbol '")));
        XCR_RETURN_IF_ERROR(source.append(text(symbol.name())));
        XCR_RETURN_IF_ERROR(source.append(xcr_string(place)));
      }
    }
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "%s %u ('%s') of '%s': expected dim %u to be %" PRId64 "%s, got %" PRId64,
                      kind, ordinal, text(argument.name()).data, table.name()->c_str(), i,
                      expected[i], source.c_str(), buffer.layout.shape[i]);
  }
  return Status();
}

Status xcr_call::bindShapes() {
  const fb::Function &table = *target->table;
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i])
      return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                        "input %u ('%s') of '%s' is not bound", i, text(inputTable(i).name()).data,
                        table.name()->c_str());
  if (!shapesChanged)
    return Status();
  for (uint32_t i = 0; i < count(table.symbols()); ++i) {
    const fb::Symbol &symbol = *table.symbols()->Get(i);
    shapes.symbols[i] = inputs[symbol.input()]->layout.shape[symbol.dim()];
  }
  XCR_RETURN_IF_ERROR(shapes.evaluate());
  for (uint32_t i = 0; i < inputs.size(); ++i)
    XCR_RETURN_IF_ERROR(checkShape("input", i, inputTable(i), *inputs[i]));
  XCR_RETURN_IF_ERROR(shapes.checkRequirements());
  Status sized = resolver.setSymbols(shapes.symbols.span());
  if (sized.failed()) {
    String values(allocator);
    XCR_RETURN_IF_ERROR(shapes.describeSymbols(&values));
    return addContext(std::move(sized), allocator, "for %s: ", values.c_str());
  }
  shapesChanged = false;
  arenaStream = nullptr;
  return Status();
}

Status xcr_call::queryOutputShape(uint32_t ordinal, int64_t *shape) {
  if (ordinal >= outputs.size())
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "output %u: '%s' has %zu", ordinal,
                      target->table->name()->c_str(), outputs.size());
  if (count(outputTable(ordinal).dims()))
    XCR_RETURN_IF_ERROR(requireArgument(shape, "out_shape"));
  XCR_RETURN_IF_ERROR(bindShapes());
  return shapes.shapeOf(outputTable(ordinal), shape);
}

//===----------------------------------------------------------------------===//
// Buffers of a launch
//===----------------------------------------------------------------------===//

Status xcr_call::provideOutput(uint32_t ordinal) {
  const fb::Argument &table = outputTable(ordinal);
  Ref<xcr_buffer> &place = outputs[ordinal];
  if (!isOwnOutput[ordinal])
    return checkShape("output", ordinal, table, *place);
  int64_t shape[XCR_MAX_RANK];
  XCR_RETURN_IF_ERROR(shapes.shapeOf(table, shape));
  hal::Layout layout;
  XCR_RETURN_IF_ERROR(hal::Layout::create(allocator, toApi(table.dtype()), count(table.dims()),
                                          shape, nullptr, &layout));
  Ref<xcr_buffer> made;
  if (table.alias() >= 0) {
    const xcr_buffer &source = *inputs[static_cast<uint32_t>(table.alias())];
    if (layout.byteLength > source.layout.byteLength)
      return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                        "output %u of '%s' takes %" PRIu64
                        " bytes, input %d that holds it has %" PRIu64,
                        ordinal, target->table->name()->c_str(), layout.byteLength, table.alias(),
                        source.layout.byteLength);
    if (place && place->address() == source.address() &&
        place->memory.get() == source.memory.get() &&
        memcmp(place->layout.shape, layout.shape, sizeof(layout.shape)) == 0)
      return Status();
    XCR_RETURN_IF_ERROR(
        xcr_buffer::adopt(source.device, source.memory, source.offset, layout, &made));
  } else {
    if (place && memcmp(place->layout.shape, layout.shape, sizeof(layout.shape)) == 0)
      return Status();
    Ref<xcr_device> device = Ref<xcr_device>::share(&instance.device());
    if (place && layout.byteLength <= place->memory->size())
      XCR_RETURN_IF_ERROR(xcr_buffer::adopt(std::move(device), place->memory, 0, layout, &made));
    else
      XCR_RETURN_IF_ERROR(xcr_buffer::create(std::move(device), layout, &made));
  }
  replace(place, std::move(made));
  return Status();
}

/// Finds outputs and other memory that a launch writes overlapping what it
/// reads: the plan's order only knows them as different buffers.
Status xcr_call::checkOverlaps() {
  extents.clear();
  auto add = [&](const xcr_buffer &buffer, bool isWritten, const char *kind,
                 uint32_t ordinal) -> Status {
    if (buffer.layout.byteLength == 0)
      return Status();
    return extents.push(
        {buffer.address(), buffer.address() + buffer.layout.byteLength, isWritten, kind, ordinal});
  };
  for (uint32_t i = 0; i < inputs.size(); ++i)
    XCR_RETURN_IF_ERROR(add(*inputs[i], inputTable(i).donated(), "input", i));
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (outputTable(i).alias() < 0)
      XCR_RETURN_IF_ERROR(add(*outputs[i], true, "output", i));
  for (uint32_t i = 0; i < variables.size(); ++i)
    if (variables[i])
      XCR_RETURN_IF_ERROR(add(*variables[i], resolver.variableAccess(i) & 2, "variable", i));
  std::sort(extents.begin(), extents.end(),
            [](const hal::Access &a, const hal::Access &b) { return a.begin < b.begin; });
  // Behind each kind of extent, the one that reaches furthest so far.
  const hal::Access *any = nullptr, *written = nullptr;
  for (const hal::Access &extent : extents) {
    const hal::Access *other = nullptr;
    if (extent.isWritten && any && any->end > extent.begin)
      other = any;
    else if (written && written->end > extent.begin)
      other = written;
    if (other)
      return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "%s %" PRId64 " and %s %" PRId64 " of '%s' overlap in memory, and a "
                        "launch writes to one of them",
                        other->kind, other->ordinal, extent.kind, extent.ordinal,
                        target->table->name()->c_str());
    if (!any || extent.end > any->end)
      any = &extent;
    if (extent.isWritten && (!written || extent.end > written->end))
      written = &extent;
  }
  return Status();
}

void xcr_call::takeVariables() {
  uint64_t epoch = instance.variableEpoch();
  if (!touchesVariables || epoch == seenEpoch)
    return;
  for (uint32_t i = 0; i < variables.size(); ++i)
    if (resolver.variableAccess(i))
      replace(variables[i], instance.variable(i));
  seenEpoch = epoch;
}

void xcr_call::setBuffers() {
  auto set = [&](fb::Space space, uint32_t ordinal, const xcr_buffer &buffer) {
    resolver.setBuffer(space, ordinal, buffer.address(), buffer.layout.byteLength);
  };
  for (uint32_t i = 0; i < inputs.size(); ++i)
    set(fb::Space::Input, i, *inputs[i]);
  for (uint32_t i = 0; i < outputs.size(); ++i)
    set(fb::Space::Output, i, *outputs[i]);
  for (uint32_t i = 0; i < variables.size(); ++i)
    if (variables[i])
      set(fb::Space::Variable, i, *variables[i]);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Puts the recording of the commands that sizes have chosen into place, or none.
Status xcr_call::selectRecording() {
  Span<const uint8_t> choices = resolver.choices();
  auto areRecorded = [&] {
    return recordedChoices.size() == choices.size &&
           std::equal(choices.begin(), choices.end(), recordedChoices.begin());
  };
  if (areRecorded())
    return Status();
  if (recording) {
    std::swap(recording, otherRecording);
    std::swap(recordedChoices, otherChoices);
    // It has not been told what has changed since.
    resolver.invalidate();
    if (areRecorded())
      return Status();
    recording = Ref<hal::Recording>();
  }
  recordedChoices.clear();
  XCR_RETURN_IF_ERROR(recordedChoices.resize(choices.size));
  std::copy(choices.begin(), choices.end(), recordedChoices.begin());
  return Status();
}

Status xcr_call::record() {
  XCR_RETURN_IF_ERROR(selectRecording());
  XCR_RETURN_IF_ERROR(resolver.resolve(&changes));
  if (!recording) {
    hal::RecordingOptions options;
    options.profile = isProfiled;
    Status status = instance.device().createRecording(resolver.list(), options, &recording);
    if (status.failed()) {
      resolver.invalidate();
      return status;
    }
    ++cost.instantiations;
    return Status();
  }
  if (changes.empty())
    return Status();
  Status status = recording->update(resolver.list(), changes.span(), &cost);
  if (status.failed())
    resolver.invalidate();
  return status;
}

Status xcr_call::prepare(hal::Stream &stream) {
  takeVariables();
  if (arenaStream == &stream && arenaMoves != stream.arenaMoves.load(std::memory_order_acquire))
    arenaStream = nullptr;
  if (!shapesChanged && !buffersChanged && !needsRecord && arenaStream == &stream &&
      !instance.device().separatesTemporaries)
    return Status();
  NamedRange range("prepare", target->table->name()->c_str());
  // Stays set if anything below fails.
  needsRecord = true;
  ++checkCount;
  XCR_RETURN_IF_ERROR(bindShapes());
  for (uint32_t i = 0; i < outputs.size(); ++i)
    XCR_RETURN_IF_ERROR(provideOutput(i));
  if (buffersChanged) {
    XCR_RETURN_IF_ERROR(checkOverlaps());
    setBuffers();
    buffersChanged = false;
  }
  XCR_RETURN_IF_ERROR(resolver.renewTemporaries(instance.device(), lastStream.get()));
  // Before the base is asked for: one that moves meanwhile is noticed by the next launch.
  arenaMoves = stream.arenaMoves.load(std::memory_order_acquire);
  if (resolver.arenaRoom() && arenaStream != &stream) {
    uint64_t base = 0;
    Ref<hal::Memory> holder;
    Status reserved = stream.reserveArena(resolver.arenaRoom(), &base, &holder);
    if (reserved.failed() && resolver.arenaRoom() > resolver.arenaBytes())
      reserved = stream.reserveArena(resolver.arenaBytes(), &base, &holder);
    XCR_RETURN_IF_ERROR(std::move(reserved));
    resolver.setBuffer(fb::Space::Arena, 0, base, resolver.arenaBytes());
    if (arenaHolder && arenaHolder.get() != holder.get() && lastStream)
      lastStream->releaseLater(arenaHolder.take());
    arenaHolder = std::move(holder);
  }
  XCR_RETURN_IF_ERROR(record());
  arenaStream = &stream;
  needsRecord = false;
  return Status();
}

Status xcr_call::submit(hal::Stream &stream, hal::LaunchMode mode) {
  char name[128] = "";
  hal::AccessCheck &check = instance.device().accessCheck;
  if (check.isOn())
    snprintf(name, sizeof(name), "a launch of '%.100s'", target->table->name()->c_str());
  return check.track(stream, name, extents.span(), [&] {
    return touchesVariables ? instance.variableOrder().launch(stream, writesVariables, recording,
                                                              resolver.arenaBytes(), mode)
                            : stream.launch(recording, resolver.arenaBytes(), mode);
  });
}

Status xcr_call::launch(hal::Stream &stream, hal::LaunchMode mode) {
  NamedRange range("launch", target->table->name()->c_str());
  XCR_RETURN_IF_ERROR(prepare(stream));
  if (lastStream && lastStream.get() != &stream)
    XCR_RETURN_IF_ERROR(stream.follow(*lastStream, orderEvent));
  XCR_RETURN_IF_ERROR(submit(stream, mode));
  if (mode == hal::LaunchMode::Asynchronous && lastStream.get() != &stream)
    lastStream = Ref<hal::Stream>::share(&stream);
  ++launchCount;
  instance.device().launchCount.fetch_add(1, std::memory_order_relaxed);
  return Status();
}

Status xcr_call::run() {
  hal::Stream *stream = nullptr;
  XCR_RETURN_IF_ERROR(instance.device().borrowStream(ownStream, &stream));
  ownStream = stream;
  Status status = launch(*stream, hal::LaunchMode::Awaited);
  // Also after a failure: what was launched before it must have ended.
  Status end = stream->synchronize();
  instance.device().returnStream(stream);
  if (status.succeeded() && end.succeeded())
    lastStream = Ref<hal::Stream>();
  return status.failed() ? std::move(status) : std::move(end);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

void xcr_call::statistics(xcr_call_statistics_t *out) const {
  hal::CommandList list = resolver.list();
  out->launches = launchCount;
  out->checks = checkCount;
  out->instantiations = cost.instantiations;
  out->patches = cost.patches;
  out->command_count = static_cast<uint32_t>(list.commands.size);
  for (const hal::Command &command : list.commands)
    out->dispatch_count += command.kind == hal::CommandKind::Dispatch;
  out->empty_count = resolver.emptyCount();
  out->arena_bytes = resolver.arenaBytes();
  out->has_host_loop = recording && recording->hasHostLoop();
  out->stream_count = recording ? recording->streamCount() : 0;
}

uint32_t xcr_call::profileCount() const {
  return isProfiled && recording ? static_cast<uint32_t>(resolver.list().commands.size) : 0;
}

Status xcr_call::profile(uint32_t entry, xcr_profile_entry_t *out) const {
  if (entry >= profileCount())
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "profile entry %u: there are %u", entry,
                      profileCount());
  const hal::Command &command = resolver.list().commands[entry];
  hal::CommandTimes times = recording->times(entry);
  out->kind = static_cast<xcr_command_kind_t>(command.kind);
  out->name = xcr_string(nameOf(command));
  if (const fb::Export *code = resolver.exportOf(entry)) {
    out->name = text(code->name());
    out->strategy = text(code->strategy());
  }
  out->location = resolver.locationOf(entry);
  resolver.countWork(entry, &out->bytes, &out->flops);
  for (int i = 0; i < 3; ++i)
    out->grid[i] = command.grid[i];
  out->launches = times.launches;
  out->total_ns = times.totalNs;
  out->min_ns = times.minNs;
  out->last_begin_ns = times.lastBeginNs;
  out->last_ns = times.lastNs;
  return Status();
}
