//===- call_steps.cpp - Running a call command by command ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step records one command alone and waits for it: slow, and needs nothing of a driver that
// launches do not need. The stream is the call's own, so that its arena keeps what commands left
// there.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/module/call.h"

#include <algorithm>
#include <cinttypes>

using namespace xc;

/// The commands are as they were when the steps began, and there is one of that ordinal.
Status xcr_call::checkSteps(uint32_t command) const {
  const char *name = target->table->name()->c_str();
  if (!stepStream || arenaStream != stepStream.get() || shapesChanged || buffersChanged ||
      needsRecord)
    return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "'%s': expected xcr_call_begin_steps before, and no binding or launch since",
                      name);
  size_t commands = resolver.list().commands.size;
  if (command >= commands)
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "command %u of '%s': there are %zu",
                      command, name, commands);
  return Status();
}

Status xcr_call::beginSteps(uint32_t *count) {
  if (!stepStream)
    XCR_RETURN_IF_ERROR(instance.device().createStream(&stepStream));
  XCR_RETURN_IF_ERROR(prepare(*stepStream));
  hal::CommandList list = resolver.list();
  *count = static_cast<uint32_t>(list.commands.size);
  stepRegions.clear();
  XCR_RETURN_IF_ERROR(stepRegions.push(
      {list.regions[0].begin, list.regions[0].begin + list.regions[0].count, 0, 0}));
  return findNextStep();
}

Status xcr_call::enterRegion(uint32_t control, uint32_t which) {
  hal::CommandList list = resolver.list();
  const hal::Range &range = list.regions[list.commands[control].regions[which]];
  return stepRegions.push({range.begin, range.begin + range.count, control, which});
}

/// Sets the command that comes next as far as no data decides it. An if or while is a step when it
/// decides: a while each time that its first region has ended.
Status xcr_call::findNextStep() {
  hal::CommandList list = resolver.list();
  while (true) {
    StepRegion &region = stepRegions.back();
    if (region.next < region.end) {
      nextStep = region.next;
      const hal::Command &command = list.commands[nextStep];
      if (command.kind != hal::CommandKind::Control || !command.isLoop)
        return Status();
      XCR_RETURN_IF_ERROR(enterRegion(nextStep, 0));
      continue;
    }
    if (stepRegions.size() == 1) {
      nextStep = static_cast<uint32_t>(list.commands.size);
      return Status();
    }
    StepRegion ended = region;
    stepRegions.pop();
    if (!list.commands[ended.control].isLoop) {
      ++stepRegions.back().next;
    } else if (ended.which == 1) {
      XCR_RETURN_IF_ERROR(enterRegion(ended.control, 0));
    } else {
      nextStep = ended.control;
      return Status();
    }
  }
}

/// What an if or while does next, as its condition says.
Status xcr_call::decide(uint32_t control) {
  uint8_t condition = 0;
  XCR_RETURN_IF_ERROR(readBinding(control, 0, 0, &condition, sizeof(condition)));
  if (!resolver.list().commands[control].isLoop)
    return enterRegion(control, condition ? 0 : 1);
  if (condition)
    return enterRegion(control, 1);
  ++stepRegions.back().next;
  return Status();
}

Status xcr_call::step() {
  XCR_RETURN_IF_ERROR(checkSteps(nextStep));
  hal::CommandList list = resolver.list();
  hal::Command command = list.commands[nextStep];
  if (command.kind == hal::CommandKind::Control) {
    XCR_RETURN_IF_ERROR(decide(nextStep));
    return findNextStep();
  }
  ++stepRegions.back().next;
  XCR_RETURN_IF_ERROR(findNextStep());
  if (command.isEmpty)
    return Status();
  // What it waits for has ended.
  command.edges = {};
  Ref<hal::Recording> single;
  XCR_RETURN_IF_ERROR(instance.device().createRecording(
      {{&command, 1}, {}, list.addresses, list.scalars, {}}, hal::RecordingOptions(), &single));
  // A launch elsewhere may still use the same buffers.
  if (lastStream)
    XCR_RETURN_IF_ERROR(stepStream->follow(*lastStream, orderEvent));
  Status status =
      touchesVariables
          ? instance.variableOrder().launch(*stepStream, writesVariables, std::move(single),
                                            resolver.arenaBytes(), hal::LaunchMode::Awaited)
          : stepStream->launch(std::move(single), resolver.arenaBytes(), hal::LaunchMode::Awaited);
  // Also after a failure: what was launched before it must have ended.
  Status end = stepStream->synchronize();
  return status.failed() ? std::move(status) : std::move(end);
}

Status xcr_call::command(uint32_t ordinal, xcr_command_info_t *out) const {
  XCR_RETURN_IF_ERROR(checkSteps(ordinal));
  hal::CommandList list = resolver.list();
  const hal::Command &command = list.commands[ordinal];
  out->kind = static_cast<xcr_command_kind_t>(command.kind);
  out->is_empty = command.isEmpty;
  out->name = xcr_string(nameOf(command));
  out->location = resolver.locationOf(ordinal);
  out->binding_count = resolver.bindingCount(ordinal);
  if (command.kind != hal::CommandKind::Dispatch)
    return Status();
  out->name = text(resolver.exportOf(ordinal)->name());
  resolver.codeOfDispatch(ordinal, &out->executable, &out->export_ordinal);
  std::copy(std::begin(command.grid), std::end(command.grid), out->grid);
  out->scalars = list.scalars.data + command.scalars.begin;
  out->scalar_count = command.scalars.count;
  out->workspace_bytes = resolver.workspaceBytes(ordinal);
  return Status();
}

Status xcr_call::boundRange(uint32_t command, uint32_t ordinal, BoundRange *out) const {
  XCR_RETURN_IF_ERROR(checkSteps(command));
  uint32_t bindings = resolver.bindingCount(command);
  if (ordinal >= bindings)
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "binding %u of command %u of '%s': there are %u", ordinal, command,
                      target->table->name()->c_str(), bindings);
  return resolver.bindingAt(command, ordinal, out);
}

Status xcr_call::binding(uint32_t command, uint32_t ordinal, xcr_binding_info_t *out) const {
  BoundRange range;
  XCR_RETURN_IF_ERROR(boundRange(command, ordinal, &range));
  auto access = static_cast<uint32_t>(range.table->access());
  bool isTransfer = resolver.list().commands[command].kind != hal::CommandKind::Dispatch;
  bool isSource = isTransfer && ordinal == 0 && resolver.bindingCount(command) == 2;
  out->is_read = isTransfer ? isSource : access & static_cast<uint32_t>(fb::Access::Read);
  out->is_written = isTransfer ? !isSource : access & static_cast<uint32_t>(fb::Access::Write);
  out->space = static_cast<xcr_space_t>(range.table->space());
  out->ordinal = range.table->ordinal();
  out->byte_offset = range.offset;
  out->byte_length = range.length;
  uint32_t rank = range.operand ? count(range.operand->dims()) : 0;
  if (!range.operand || rank > XCR_MAX_RANK)
    return Status();
  out->dtype = toApi(range.operand->dtype());
  out->rank = rank;
  std::copy(range.dims, range.dims + rank, out->shape);
  return Status();
}

Status xcr_call::readBinding(uint32_t command, uint32_t ordinal, uint64_t offset, void *data,
                             size_t size) {
  BoundRange range;
  XCR_RETURN_IF_ERROR(boundRange(command, ordinal, &range));
  if (!rangeFits(offset, size, range.length))
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "binding %u of command %u of '%s' has %" PRIu64
                      " bytes, got a read of %zu at %" PRIu64,
                      ordinal, command, target->table->name()->c_str(), range.length, size, offset);
  if (size == 0)
    return Status();
  XCR_RETURN_IF_ERROR(requireArgument(data, "data"));
  Ref<hal::Memory> memory;
  XCR_RETURN_IF_ERROR(
      instance.device().import(reinterpret_cast<void *>(range.address), range.length, &memory));
  return instance.device().read(*memory, offset, data, size);
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

xcr_status_t xcr_call_begin_steps(xcr_call_t *call, uint32_t *out_count) {
  XCR_REQUIRE(out_count);
  *out_count = 0;
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->beginSteps(out_count);
  return status.release();
}

uint32_t xcr_call_next_step(const xcr_call_t *call) { return call ? call->nextCommand() : 0; }

xcr_status_t xcr_call_step(xcr_call_t *call) {
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->step();
  return status.release();
}

xcr_status_t xcr_call_get_command(const xcr_call_t *call, uint32_t command,
                                  xcr_command_info_t *out_info) {
  XCR_REQUIRE(out_info);
  xcr_command_info_t info = XCR_COMMAND_INFO_INIT;
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->command(command, &info);
  writeInfo(info, out_info);
  return status.release();
}

xcr_status_t xcr_call_get_binding(const xcr_call_t *call, uint32_t command, uint32_t binding,
                                  xcr_binding_info_t *out_info) {
  XCR_REQUIRE(out_info);
  xcr_binding_info_t info = XCR_BINDING_INFO_INIT;
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->binding(command, binding, &info);
  writeInfo(info, out_info);
  return status.release();
}

xcr_status_t xcr_call_read_binding(xcr_call_t *call, uint32_t command, uint32_t binding,
                                   uint64_t byte_offset, void *data, size_t size) {
  Status status = requireArgument(call, "call");
  if (status.succeeded())
    status = call->readBinding(command, binding, byte_offset, data, size);
  return status.release();
}
