//===- plan_resolver.cpp - Turning a plan into commands with addresses ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/plan_resolver.h"

#include "runtime/base/checked.h"
#include "runtime/module/program.h"

#include <cinttypes>

using namespace xc;
using hal::CommandKind;

PlanResolver::PlanResolver(const HostAllocator &allocator)
    : allocator(allocator), buffers(allocator), variableUse(allocator), useBegins(allocator),
      uses(allocator), changedBuffers(allocator), results(allocator), failures(allocator),
      chosenRegions(allocator), temporaries(allocator), order(allocator), commands(allocator),
      addresses(allocator), scalars(allocator), chosenVariants(allocator), pending(allocator),
      dirty(allocator) {}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

/// The structs of a vector, which lie side by side.
template <typename T> static const T *firstOf(const flatbuffers::Vector<const T *> *vector) {
  return vector && vector->size() ? vector->Get(0) : nullptr;
}

Status PlanResolver::initialise(const Program &from, const fb::Plan &table, xcr_string_view_t name,
                                uint32_t inputs, uint32_t outputs) {
  program = &from;
  plan = &table;
  planCommands = firstOf(table.commands());
  dispatches = firstOf(table.dispatches());
  variants = firstOf(table.variants());
  bindings = firstOf(table.bindings());
  owner = name;
  const fb::Module &tables = from.module().tables();
  const uint32_t counts[kSpaces] = {1,
                                    inputs,
                                    outputs,
                                    count(tables.constants()),
                                    count(tables.variables()),
                                    count(tables.parameters()),
                                    from.packedCount()};
  for (uint32_t i = 0; i < kSpaces; ++i)
    spaceBegins[i + 1] = spaceBegins[i] + counts[i];
  XCR_RETURN_IF_ERROR(buffers.resize(spaceBegins[kSpaces]));
  XCR_RETURN_IF_ERROR(variableUse.resize(count(tables.variables())));
  XCR_RETURN_IF_ERROR(results.resize(count(table.formulas())));
  XCR_RETURN_IF_ERROR(chosenRegions.resize(count(table.choices())));
  noteVariableUse();
  XCR_RETURN_IF_ERROR(layOut());
  auto take = [&](fb::Space space, uint32_t ordinal, hal::Memory *memory) {
    if (memory)
      setBuffer(space, ordinal, memory->address(), memory->size());
  };
  for (uint32_t i = 0; i < count(tables.constants()); ++i)
    take(fb::Space::Constant, i, from.constant(i));
  for (uint32_t i = 0; i < count(tables.parameters()); ++i)
    take(fb::Space::Parameter, i, from.parameter(i));
  for (uint32_t i = 0; i < from.packedCount(); ++i)
    take(fb::Space::Packed, i, from.packedMemory(i));
  return Status();
}

/// Of all commands, chosen or not.
void PlanResolver::noteVariableUse() {
  auto note = [&](const fb::Binding &binding) {
    if (binding.space() == fb::Space::Variable)
      variableUse[binding.ordinal()] |= static_cast<uint8_t>(binding.access());
  };
  for (uint32_t i = 0; i < count(plan->bindings()); ++i)
    note(*plan->bindings()->Get(i));
  for (uint32_t i = 0; i < count(plan->copies()); ++i) {
    note(plan->copies()->Get(i)->source());
    note(plan->copies()->Get(i)->target());
  }
  for (uint32_t i = 0; i < count(plan->fills()); ++i)
    note(plan->fills()->Get(i)->target());
  for (uint32_t i = 0; i < count(plan->controls()); ++i)
    note(plan->controls()->Get(i)->condition());
}

/// Empties \p vector and gives it \p size elements with the value 0.
template <typename T> static Status reset(Vector<T> &vector, size_t size) {
  vector.clear();
  return vector.resize(size);
}

/// Lists the commands for the choices made and gives each its place in the flat vectors.
Status PlanResolver::layOut() {
  isLaidOut = false;
  XCR_RETURN_IF_ERROR(order.build(*plan, chosenRegions.span()));
  uint32_t total = order.size();
  XCR_RETURN_IF_ERROR(reset(commands, total));
  XCR_RETURN_IF_ERROR(reset(chosenVariants, total));
  XCR_RETURN_IF_ERROR(reset(pending, total));
  dirty.clear();
  XCR_RETURN_IF_ERROR(dirty.reserve(total));
  CheckedCount addressCount, scalarCount;
  for (uint32_t i = 0; i < total; ++i)
    XCR_RETURN_IF_ERROR(layOutCommand(i, &addressCount, &scalarCount));
  uint32_t last;
  if (!addressCount.to32(&last))
    return tooMany("addresses");
  if (!scalarCount.to32(&last))
    return tooMany("scalars");
  XCR_RETURN_IF_ERROR(reset(addresses, addressCount.get()));
  XCR_RETURN_IF_ERROR(reset(scalars, scalarCount.get()));
  XCR_RETURN_IF_ERROR(indexUses());
  isLaidOut = allDirty = isUntold = true;
  return Status();
}

Status PlanResolver::tooMany(const char *what) const {
  return makeStatus(allocator, XCR_STATUS_UNSUPPORTED,
                    "the commands of '%.*s' use 4,294,967,295 %s or more", printLength(owner),
                    owner.data, what);
}

Status PlanResolver::layOutCommand(uint32_t ordinal, CheckedCount *addressCount,
                                   CheckedCount *scalarCount) {
  const fb::Command &from = tableOf(ordinal);
  hal::Command &to = commands[ordinal];
  to.edges = order.edgesOf(ordinal);
  // Sums that do not fit are refused when all are made.
  addressCount->to32(&to.addresses.begin);
  scalarCount->to32(&to.scalars.begin);
  switch (from.kind()) {
  case fb::CommandKind::Dispatch: {
    const fb::Dispatch &dispatch = *plan->dispatches()->Get(from.ordinal());
    uint32_t most = 0;
    for (uint32_t v = 0; v < dispatch.variants().count(); ++v)
      most =
          std::max(most, plan->variants()->Get(dispatch.variants().begin() + v)->scalars().count());
    to.kind = CommandKind::Dispatch;
    *addressCount += dispatch.bindings().count();
    *addressCount += 1; // the workspace
    *scalarCount += most;
    return Status();
  }
  case fb::CommandKind::Copy:
    to.kind = CommandKind::Copy;
    to.addresses.count = 2;
    break;
  case fb::CommandKind::Fill: {
    const fb::Fill &fill = *plan->fills()->Get(from.ordinal());
    to.kind = CommandKind::Fill;
    to.addresses.count = 1;
    to.pattern = fill.pattern();
    to.patternSize = fill.pattern_size();
    break;
  }
  case fb::CommandKind::Control: {
    const fb::Control &control = *plan->controls()->Get(from.ordinal());
    to.kind = CommandKind::Control;
    to.isLoop = control.is_loop();
    to.addresses.count = 1;
    for (uint32_t i = 0; i < 2; ++i)
      to.regions[i] = order.regionOf(plan->region_ordinals()->Get(control.regions().begin() + i));
    break;
  }
  case fb::CommandKind::Choice: // never listed
    break;
  case fb::CommandKind::Collective:
    return makeStatus(allocator, XCR_STATUS_UNSUPPORTED,
                      "'%.*s' exchanges data between devices (command %u), "
                      "which this version of the library cannot do",
                      printLength(owner), owner.data, order.planOrdinal(ordinal));
  }
  *addressCount += to.addresses.count;
  return Status();
}

/// Whether a variant asks for more than every move by kNeutralMove keeps.
bool PlanResolver::asksForAlignment(const fb::Dispatch &dispatch) const {
  for (uint32_t v = 0; v < dispatch.variants().count(); ++v) {
    const fb::Range &range = plan->variants()->Get(dispatch.variants().begin() + v)->guards();
    for (uint32_t g = 0; g < range.count(); ++g) {
      const fb::Guard &guard = *plan->guards()->Get(range.begin() + g);
      if (guard.kind() == fb::GuardKind::BindingAligned &&
          kNeutralMove % static_cast<uint64_t>(guard.divisor()) != 0)
        return true;
    }
  }
  return false;
}

/// Calls function(command, binding, place) for every binding of the list, and for the arena
/// where a variant has a workspace in it.
template <typename Function> void PlanResolver::forBindings(Function function) const {
  for (uint32_t i = 0; i < commands.size(); ++i) {
    const fb::Command &command = tableOf(i);
    if (command.kind() == fb::CommandKind::Dispatch) {
      const fb::Dispatch &dispatch = *plan->dispatches()->Get(command.ordinal());
      bool isFixed = !asksForAlignment(dispatch);
      for (uint32_t b = 0; b < dispatch.bindings().count(); ++b)
        function(i, *plan->bindings()->Get(dispatch.bindings().begin() + b),
                 isFixed ? commands[i].addresses.begin + b : kNoPlace);
      static const fb::Binding arena(fb::Space::Arena, fb::Access::None, 0, fb::Value(-1, 0),
                                     fb::Value(-1, 0));
      for (uint32_t v = 0; v < dispatch.variants().count(); ++v) {
        const fb::Value &workspace =
            plan->variants()->Get(dispatch.variants().begin() + v)->workspace();
        if (workspace.formula() >= 0 || workspace.literal() > 0)
          function(i, arena, kNoPlace);
      }
    } else if (command.kind() == fb::CommandKind::Copy) {
      // Source and target must not overlap.
      const fb::Copy &copy = *plan->copies()->Get(command.ordinal());
      function(i, copy.source(), kNoPlace);
      function(i, copy.target(), kNoPlace);
    } else if (command.kind() == fb::CommandKind::Fill) {
      function(i, plan->fills()->Get(command.ordinal())->target(), commands[i].addresses.begin);
    } else if (command.kind() == fb::CommandKind::Control) {
      function(i, plan->controls()->Get(command.ordinal())->condition(),
               commands[i].addresses.begin);
    }
  }
}

Status PlanResolver::indexUses() {
  XCR_RETURN_IF_ERROR(reset(useBegins, buffers.size() + 1));
  XCR_RETURN_IF_ERROR(changedBuffers.reserve(buffers.size()));
  CheckedCount total;
  uint32_t last;
  forBindings([&](uint32_t, const fb::Binding &binding, uint32_t) {
    ++useBegins[bufferIndex(binding.space(), binding.ordinal()) + 1];
    total += 1;
  });
  // No part of the sum is larger than all of it.
  if (!total.to32(&last))
    return tooMany("bindings");
  for (size_t i = 0; i < buffers.size(); ++i)
    useBegins[i + 1] += useBegins[i];
  XCR_RETURN_IF_ERROR(uses.resize(useBegins[buffers.size()]));
  Vector<uint32_t> next(allocator);
  XCR_RETURN_IF_ERROR(next.resize(buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i)
    next[i] = useBegins[i];
  forBindings([&](uint32_t command, const fb::Binding &binding, uint32_t place) {
    uses[next[bufferIndex(binding.space(), binding.ordinal())]++] = {command, place};
  });
  return Status();
}

hal::CommandList PlanResolver::list() const {
  return {commands.span(), order.edges(), addresses.span(), scalars.span(), order.regions()};
}

uint32_t PlanResolver::emptyCount() const {
  uint32_t empty = 0;
  for (const hal::Command &command : commands)
    empty += command.isEmpty;
  return empty;
}

//===----------------------------------------------------------------------===//
// What is known when inputs are bound
//===----------------------------------------------------------------------===//

void PlanResolver::setBuffer(fb::Space space, uint32_t ordinal, uint64_t address, uint64_t size) {
  uint32_t index = bufferIndex(space, ordinal);
  Buffer &buffer = buffers[index];
  buffer.address = address;
  buffer.size = size;
  if (buffer.isListed || (address == buffer.resolvedAddress && size == buffer.resolvedSize))
    return;
  buffer.isListed = true;
  changedBuffers.push(index).ignore(); // there is room
}

/// Moves a buffer's address where commands have it, or has them resolved where more than that may
/// change: bounds with the size, a choice of variant with an alignment.
void PlanResolver::followBuffer(Buffer &buffer, uint32_t index) {
  uint64_t move = buffer.address - buffer.resolvedAddress;
  if (move == 0 && buffer.size == buffer.resolvedSize)
    return;
  bool isPlain = move % kNeutralMove == 0 && buffer.size == buffer.resolvedSize;
  for (uint32_t u = useBegins[index]; u < useBegins[index + 1]; ++u) {
    const Use &use = uses[u];
    uint8_t &state = pending[use.command];
    if (!state)
      dirty.push(use.command).ignore(); // there is room
    if (isPlain && use.place != kNoPlace) {
      addresses[use.place] += move;
      state |= hal::kChangedAddresses;
    } else {
      state |= kUnresolved;
    }
  }
}

/// The commands are as the buffers are, and everybody knows.
void PlanResolver::settle() {
  for (uint32_t index : changedBuffers) {
    Buffer &buffer = buffers[index];
    buffer.resolvedAddress = buffer.address;
    buffer.resolvedSize = buffer.size;
    buffer.isListed = false;
  }
  changedBuffers.clear();
  for (uint32_t ordinal : dirty)
    pending[ordinal] = 0;
  dirty.clear();
  allDirty = isUntold = false;
}

/// What has no value is an error where it is needed only: what is not chosen may be of sizes that
/// there are none of.
Status PlanResolver::evaluate(Span<const int64_t> symbols) {
  failures.clear();
  for (uint32_t i = 0; i < results.size(); ++i) {
    const fb::Range &range = *plan->formulas()->Get(i);
    FormulaError error = evaluateFormula(codeOf(plan->formula_code(), range), range.count(),
                                         symbols, results.span(), &results[i]);
    if (error != FormulaError::None)
      XCR_RETURN_IF_ERROR(failures.push({i, error}));
  }
  return Status();
}

/// The first failure of a formula that the listed commands, or what lists them, need; null if there
/// is none.
Status PlanResolver::findNeededFailure(const Failure **out) const {
  *out = nullptr;
  if (failures.size() == 0)
    return Status();
  // Where nothing is chosen, all is listed.
  *out = &failures[0];
  if (chosenRegions.size() == 0)
    return Status();
  Vector<uint8_t> isNeeded(allocator);
  XCR_RETURN_IF_ERROR(isNeeded.resize(results.size()));
  noteNeeded(isNeeded);
  for (const Failure &failure : failures)
    if (isNeeded[failure.formula]) {
      *out = &failure;
      return Status();
    }
  *out = nullptr;
  return Status();
}

void PlanResolver::noteNeeded(Vector<uint8_t> &isNeeded) const {
  auto note = [&](const fb::Value &value) {
    if (value.formula() >= 0)
      isNeeded[static_cast<uint32_t>(value.formula())] = 1;
  };
  if (plan->arena_size())
    note(*plan->arena_size());
  for (uint32_t i = 0; i < chosenRegions.size(); ++i)
    note(plan->choices()->Get(i)->condition());
  forBindings([&](uint32_t, const fb::Binding &binding, uint32_t) {
    note(binding.offset());
    note(binding.length());
  });
  auto noteVariant = [&](const fb::Variant &variant) {
    for (const fb::Value *value : {&variant.grid_x(), &variant.grid_y(), &variant.grid_z(),
                                   &variant.workspace(), &variant.workspace_offset()})
      note(*value);
    for (uint32_t s = 0; s < variant.scalars().count(); ++s)
      note(*plan->scalars()->Get(variant.scalars().begin() + s));
    for (uint32_t g = 0; g < variant.guards().count(); ++g) {
      const fb::Guard &guard = *plan->guards()->Get(variant.guards().begin() + g);
      if (guard.kind() == fb::GuardKind::ValueInRange)
        isNeeded[guard.operand()] = 1;
    }
  };
  for (uint32_t i = 0; i < commands.size(); ++i)
    if (commands[i].kind == CommandKind::Dispatch) {
      const fb::Range &range = plan->dispatches()->Get(tableOf(i).ordinal())->variants();
      for (uint32_t v = 0; v < range.count(); ++v)
        noteVariant(*plan->variants()->Get(range.begin() + v));
    }
}

Status PlanResolver::setSymbols(Span<const int64_t> symbols) {
  allDirty = true;
  XCR_RETURN_IF_ERROR(evaluate(symbols));
  XCR_RETURN_IF_ERROR(choose());
  const Failure *failure;
  XCR_RETURN_IF_ERROR(findNeededFailure(&failure));
  if (failure)
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "formula %u of the plan of '%.*s' %s for the shapes of "
                      "the inputs",
                      failure->formula, printLength(owner), owner.data, describe(failure->error));
  int64_t size = plan->arena_size() ? valueOf(*plan->arena_size(), results.span()) : 0;
  if (size < 0)
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                      "the arena of '%.*s' takes %" PRId64 " bytes for the shapes of the inputs",
                      printLength(owner), owner.data, size);
  arenaSize = static_cast<uint64_t>(size);
  knowsTemporaries = false;
  return Status();
}

/// Makes the choices that follow from sizes.
Status PlanResolver::choose() {
  bool isOther = false;
  for (uint32_t i = 0; i < chosenRegions.size(); ++i) {
    uint8_t region = valueOf(plan->choices()->Get(i)->condition(), results.span()) ? 0 : 1;
    isOther |= region != chosenRegions[i];
    chosenRegions[i] = region;
  }
  return isOther || !isLaidOut ? layOut() : Status();
}

/// Beyond, a range tells more of what a user refuses than of what he expects.
static constexpr uint64_t kMostRoom = uint64_t(1) << 30;

uint64_t PlanResolver::arenaRoom() const {
  uint64_t largest = plan->arena_max();
  if (isSeparate || largest > kMostRoom)
    return arenaBytes();
  return largest > arenaSize ? largest : arenaSize;
}

Status PlanResolver::renewTemporaries(hal::Device &device, hal::Stream *lastUser) {
  isSeparate = device.separatesTemporaries;
  if (!isSeparate)
    return Status();
  if (!knowsTemporaries)
    XCR_RETURN_IF_ERROR(findTemporaries(lastUser));
  XCR_RETURN_IF_ERROR(temporaries.renew(device, lastUser));
  allDirty = true;
  return Status();
}

/// What commands use of the arena; a range that is outside of it is found when it is resolved.
Status PlanResolver::findTemporaries(hal::Stream *lastUser) {
  temporaries.clear(lastUser);
  Status status;
  auto add = [&](const fb::Value &offset, const fb::Value &length) {
    int64_t begin = valueOf(offset, results.span()), size = valueOf(length, results.span());
    if (status.succeeded() && begin >= 0 && size >= 0 &&
        rangeFits(static_cast<uint64_t>(begin), static_cast<uint64_t>(size), arenaSize))
      status = temporaries.add(static_cast<uint64_t>(begin), static_cast<uint64_t>(size));
  };
  forBindings([&](uint32_t, const fb::Binding &binding, uint32_t) {
    if (binding.space() == fb::Space::Arena)
      add(binding.offset(), binding.length());
  });
  for (uint32_t i = 0; i < count(plan->variants()); ++i)
    add(plan->variants()->Get(i)->workspace_offset(), plan->variants()->Get(i)->workspace());
  knowsTemporaries = status.succeeded();
  return status;
}

Status PlanResolver::resolve(Vector<hal::CommandChange> *changes) {
  changes->clear();
  XCR_RETURN_IF_ERROR(changes->reserve(commands.size()));
  bool all = allDirty || isUntold, tellAll = isUntold;
  if (!all)
    for (uint32_t index : changedBuffers)
      followBuffer(buffers[index], index);
  uint32_t todo = static_cast<uint32_t>(all ? commands.size() : dirty.size());
  // Stays set if anything below fails: nobody is told what has changed so far.
  isUntold = true;
  for (uint32_t i = 0; i < todo; ++i) {
    uint32_t ordinal = all ? i : dirty[i];
    uint8_t bits = pending[ordinal] & hal::kChangedAll;
    if (all || (pending[ordinal] & kUnresolved))
      XCR_RETURN_IF_ERROR(resolveCommand(ordinal, /*sizesChanged=*/all, &bits));
    if (tellAll)
      bits = hal::kChangedAll;
    if (bits)
      XCR_RETURN_IF_ERROR(changes->push({ordinal, bits}));
  }
  settle();
  return Status();
}
