//===- plan_resolver_commands.cpp - Addresses and sizes of commands -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command is resolved where a buffer or a size that it uses has changed: its bindings get their
// addresses, its launch gets its grid and scalars, and what differs from before is noted for the
// driver. Behind that, what the rest of the runtime asks about commands.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/plan_resolver.h"

#include "runtime/base/checked.h"
#include "runtime/module/program.h"

#include <cinttypes>

using namespace xc;
using hal::CommandKind;

Status PlanResolver::fault(uint32_t ordinal, const char *what, int64_t value) const {
  xcr_string_view_t location = locationOf(ordinal);
  return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                    "command %u of '%.*s' at %.*s: %s %" PRId64 " for the shapes of the inputs",
                    order.planOrdinal(ordinal), printLength(owner), owner.data,
                    printLength(location), location.data, what, value);
}

/// Writes \p value and notes whether that changes anything.
template <typename T, typename U>
static void assign(T &place, U value, uint8_t bit, uint8_t *bits) {
  if (place == value)
    return;
  place = value;
  *bits |= bit;
}

Status PlanResolver::resolveCommand(uint32_t ordinal, bool sizesChanged, uint8_t *bits) {
  hal::Command &command = commands[ordinal];
  return command.kind == CommandKind::Dispatch
             ? resolveDispatch(ordinal, sizesChanged, command, bits)
             : resolveTransfer(ordinal, command, bits);
}

Status PlanResolver::resolveBinding(uint32_t ordinal, const fb::Binding &binding, uint64_t *address,
                                    uint64_t *length, uint8_t *bits) const {
  const Buffer &buffer = buffers[bufferIndex(binding.space(), binding.ordinal())];
  int64_t offset = valueOf(binding.offset(), results.span());
  int64_t size = valueOf(binding.length(), results.span());
  uint64_t room = binding.space() == fb::Space::Arena ? arenaSize : buffer.size;
  if (offset < 0 || size < 0 ||
      !rangeFits(static_cast<uint64_t>(offset), static_cast<uint64_t>(size), room))
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "command %u of '%.*s' uses %" PRId64 " bytes at %" PRId64
                      " of %s %u, which has %" PRIu64,
                      order.planOrdinal(ordinal), printLength(owner), owner.data, size, offset,
                      fb::EnumNameSpace(binding.space()), binding.ordinal(), room);
  uint64_t place = buffer.address + static_cast<uint64_t>(offset);
  if (isSeparate && binding.space() == fb::Space::Arena)
    place = size ? temporaries.addressOf(static_cast<uint64_t>(offset)) : 0;
  assign(*address, place, hal::kChangedAddresses, bits);
  *length = static_cast<uint64_t>(size);
  return Status();
}

bool PlanResolver::guardsHold(const fb::Dispatch &dispatch, const fb::Variant &variant,
                              const hal::Command &command) const {
  for (uint32_t i = 0; i < variant.guards().count(); ++i) {
    const fb::Guard &guard = *plan->guards()->Get(variant.guards().begin() + i);
    if (guard.kind() == fb::GuardKind::BindingAligned) {
      if (addresses[command.addresses.begin + guard.operand()] %
              static_cast<uint64_t>(guard.divisor()) !=
          0)
        return false;
      continue;
    }
    int64_t value = results[guard.operand()];
    if (value < guard.min() || value > guard.max() || value % guard.divisor() != 0)
      return false;
  }
  return true;
}

Status PlanResolver::resolveDispatch(uint32_t ordinal, bool sizesChanged, hal::Command &command,
                                     uint8_t *bits) {
  const fb::Dispatch &dispatch = dispatches[tableOf(ordinal).ordinal()];
  uint32_t bindingCount = dispatch.bindings().count();
  uint64_t allLengths = 0;
  for (uint32_t b = 0; b < bindingCount; ++b) {
    uint64_t length;
    XCR_RETURN_IF_ERROR(resolveBinding(ordinal, bindings[dispatch.bindings().begin() + b],
                                       &addresses[command.addresses.begin + b], &length, bits));
    allLengths += length;
  }
  // The last variant has no guards, so that the loop ends.
  uint32_t chosen = dispatch.variants().begin();
  while (!guardsHold(dispatch, variants[chosen], command))
    ++chosen;
  // Of the sizes, nothing else follows from addresses; a workspace is a binding, too.
  if (!sizesChanged && chosen == chosenVariants[ordinal] && !command.hasWorkspace)
    return Status();
  chosenVariants[ordinal] = chosen;
  const fb::Variant &variant = variants[chosen];
  command.addresses.count = bindingCount;
  command.bytes = allLengths;
  XCR_RETURN_IF_ERROR(resolveVariant(ordinal, variant, command, bits));
  int64_t bytes, flops;
  countWork(ordinal, &bytes, &flops);
  if (bytes >= 0)
    command.bytes = static_cast<uint64_t>(bytes);
  command.flops = flops < 0 ? 0 : static_cast<uint64_t>(flops);
  return Status();
}

Status PlanResolver::resolveVariant(uint32_t ordinal, const fb::Variant &variant,
                                    hal::Command &command, uint8_t *bits) {
  assign(command.executable, program->executable(variant.executable()), hal::kChangedCode, bits);
  assign(command.exportOrdinal, variant.export_ordinal(), hal::kChangedCode, bits);
  assign(command.scalars.count, variant.scalars().count(), hal::kChangedScalars, bits);
  for (uint32_t s = 0; s < variant.scalars().count(); ++s)
    assign(scalars[command.scalars.begin + s],
           valueOf(*plan->scalars()->Get(variant.scalars().begin() + s), results.span()),
           hal::kChangedScalars, bits);
  const fb::Value *grid[3] = {&variant.grid_x(), &variant.grid_y(), &variant.grid_z()};
  bool isEmpty = false;
  for (uint32_t i = 0; i < 3; ++i) {
    int64_t extent = valueOf(*grid[i], results.span());
    if (extent < 0 || extent > UINT32_MAX)
      return fault(ordinal, "a grid has the extent", extent);
    isEmpty |= extent == 0;
    assign(command.grid[i], static_cast<uint32_t>(extent), hal::kChangedGrid, bits);
  }
  assign(command.isEmpty, isEmpty, hal::kChangedEmpty, bits);
  int64_t workspace = valueOf(variant.workspace(), results.span());
  int64_t offset = valueOf(variant.workspace_offset(), results.span());
  if (workspace < 0)
    return fault(ordinal, "a workspace takes bytes", workspace);
  assign(command.hasWorkspace, workspace > 0, hal::kChangedCode, bits);
  if (workspace == 0)
    return Status();
  const fb::Binding place(fb::Space::Arena, fb::Access::ReadWrite, 0, fb::Value(-1, offset),
                          fb::Value(-1, workspace));
  uint64_t length;
  XCR_RETURN_IF_ERROR(resolveBinding(ordinal, place,
                                     &addresses[command.addresses.begin + command.addresses.count],
                                     &length, bits));
  ++command.addresses.count;
  return Status();
}

Status PlanResolver::resolveTransfer(uint32_t ordinal, hal::Command &command, uint8_t *bits) {
  uint32_t table = tableOf(ordinal).ordinal();
  uint64_t length, targetLength;
  uint64_t *place = &addresses[command.addresses.begin];
  if (command.kind == CommandKind::Copy) {
    const fb::Copy &copy = *plan->copies()->Get(table);
    XCR_RETURN_IF_ERROR(resolveBinding(ordinal, copy.source(), &place[0], &length, bits));
    XCR_RETURN_IF_ERROR(resolveBinding(ordinal, copy.target(), &place[1], &targetLength, bits));
    if (length != targetLength)
      return fault(ordinal, "source and target differ in bytes by",
                   static_cast<int64_t>(length - targetLength));
    if (place[0] < place[1] + length && place[1] < place[0] + length)
      return fault(ordinal, "source and target overlap; they are apart by",
                   static_cast<int64_t>(place[1] - place[0]));
    command.bytes = 2 * length;
  } else if (command.kind == CommandKind::Control) {
    const fb::Control &control = *plan->controls()->Get(table);
    XCR_RETURN_IF_ERROR(resolveBinding(ordinal, control.condition(), &place[0], &length, bits));
    if (length != 1)
      return fault(ordinal, "the condition of an if or while takes bytes",
                   static_cast<int64_t>(length));
  } else {
    const fb::Fill &fill = *plan->fills()->Get(table);
    XCR_RETURN_IF_ERROR(resolveBinding(ordinal, fill.target(), &place[0], &length, bits));
    if (length % fill.pattern_size() != 0)
      return fault(ordinal, "a fill is no multiple of its pattern, bytes",
                   static_cast<int64_t>(length));
    command.bytes = length;
  }
  assign(command.length, length, hal::kChangedLength, bits);
  assign(command.isEmpty, length == 0, hal::kChangedEmpty, bits);
  return Status();
}

//===----------------------------------------------------------------------===//
// Telling about commands
//===----------------------------------------------------------------------===//

const fb::Command &PlanResolver::tableOf(uint32_t command) const {
  return planCommands[order.planOrdinal(command)];
}

void PlanResolver::codeOfDispatch(uint32_t command, uint32_t *executable,
                                  uint32_t *exportOrdinal) const {
  const fb::Variant &variant = *plan->variants()->Get(chosenVariants[command]);
  *executable = variant.executable();
  *exportOrdinal = variant.export_ordinal();
}

const fb::Executable &PlanResolver::executableOf(uint32_t command) const {
  const fb::Variant &variant = *plan->variants()->Get(chosenVariants[command]);
  return *program->module().tables().executables()->Get(variant.executable());
}

const fb::Export *PlanResolver::exportOf(uint32_t command) const {
  if (commands[command].kind != CommandKind::Dispatch)
    return nullptr;
  const fb::Variant &variant = *plan->variants()->Get(chosenVariants[command]);
  return executableOf(command).exports()->Get(variant.export_ordinal());
}

xcr_string_view_t PlanResolver::locationOf(uint32_t command) const {
  if (commands[command].kind != CommandKind::Dispatch)
    return xcr_string("no location");
  const fb::Dispatch &dispatch = *plan->dispatches()->Get(tableOf(command).ordinal());
  return text(plan->locations()->Get(dispatch.location()));
}

/// A number over the scalars of a dispatch; -1 where that overflows.
int64_t PlanResolver::evaluateForExport(uint32_t ordinal, const fb::Value &value) const {
  if (value.formula() < 0)
    return value.literal();
  const hal::Command &command = commands[ordinal];
  const fb::Executable &code = executableOf(ordinal);
  const fb::Range &range = *code.formulas()->Get(static_cast<uint32_t>(value.formula()));
  Span<const int64_t> values = {scalars.data() + command.scalars.begin, command.scalars.count};
  int64_t result = -1;
  FormulaError error =
      evaluateFormula(codeOf(code.formula_code(), range), range.count(), values, {}, &result);
  return error == FormulaError::None ? result : -1;
}

void PlanResolver::countWork(uint32_t ordinal, int64_t *bytes, int64_t *flops) const {
  *bytes = *flops = -1;
  const fb::Export *entry = exportOf(ordinal);
  if (!entry) {
    *bytes = static_cast<int64_t>(commands[ordinal].bytes);
    *flops = 0;
    return;
  }
  if (entry->bytes())
    *bytes = evaluateForExport(ordinal, *entry->bytes());
  if (entry->flops())
    *flops = evaluateForExport(ordinal, *entry->flops());
}

uint64_t PlanResolver::workspaceBytes(uint32_t command) const {
  const fb::Variant &variant = *plan->variants()->Get(chosenVariants[command]);
  return static_cast<uint64_t>(valueOf(variant.workspace(), results.span()));
}

uint32_t PlanResolver::bindingCount(uint32_t command) const {
  switch (commands[command].kind) {
  case CommandKind::Dispatch:
    return plan->dispatches()->Get(tableOf(command).ordinal())->bindings().count();
  case CommandKind::Copy:
    return 2;
  case CommandKind::Fill:
  case CommandKind::Control:
    return 1;
  }
  return 0;
}

Status PlanResolver::bindingAt(uint32_t command, uint32_t binding, BoundRange *out) const {
  uint32_t table = tableOf(command).ordinal();
  switch (commands[command].kind) {
  case CommandKind::Dispatch:
    out->table =
        plan->bindings()->Get(plan->dispatches()->Get(table)->bindings().begin() + binding);
    break;
  case CommandKind::Copy:
    out->table = binding == 0 ? &plan->copies()->Get(table)->source()
                              : &plan->copies()->Get(table)->target();
    break;
  case CommandKind::Fill:
    out->table = &plan->fills()->Get(table)->target();
    break;
  case CommandKind::Control:
    out->table = &plan->controls()->Get(table)->condition();
    break;
  }
  uint8_t bits = 0;
  XCR_RETURN_IF_ERROR(resolveBinding(command, *out->table, &out->address, &out->length, &bits));
  out->offset = static_cast<uint64_t>(valueOf(out->table->offset(), results.span()));
  const fb::Export *entry = exportOf(command);
  if (!entry || binding >= count(entry->operands()))
    return Status();
  out->operand = entry->operands()->Get(binding);
  for (uint32_t i = 0; i < count(out->operand->dims()) && i < XCR_MAX_RANK; ++i)
    out->dims[i] = evaluateForExport(command, *out->operand->dims()->Get(i));
  return Status();
}
