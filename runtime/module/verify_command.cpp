//===- verify_command.cpp - Checking dispatches, copies, fills and bindings
//===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/verifier.h"

#include "schemas/module_limits.h"

#include <cinttypes>

using namespace xc;

Status Verifier::verifyDispatches(const fb::Plan &plan, const PlanContext &context) {
  xcr_string_view_t owner = context.owner;
  XCR_RETURN_IF_ERROR(visit(count(plan.bindings())));
  dispatchCosts.clear();
  XCR_RETURN_IF_ERROR(dispatchCosts.resize(count(plan.dispatches())));
  // Every binding, whether a dispatch uses it or not: a program looks at all.
  for (uint32_t i = 0; i < count(plan.bindings()); ++i)
    XCR_RETURN_IF_ERROR(verifyBinding(plan, context, *plan.bindings()->Get(i), false, false));
  for (uint32_t i = 0; i < count(plan.dispatches()); ++i) {
    const fb::Dispatch &dispatch = *plan.dispatches()->Get(i);
    if (!isInside(dispatch.bindings(), plan.bindings()))
      return corrupt("the bindings of dispatch %u of '%.*s' are outside the "
                     "plan's %u",
                     i, printLength(owner), owner.data, count(plan.bindings()));
    if (!isInside(dispatch.variants(), plan.variants()) || dispatch.variants().count() == 0)
      return corrupt("dispatch %u of '%.*s' has no variants within the plan's "
                     "%u",
                     i, printLength(owner), owner.data, count(plan.variants()));
    if (dispatch.location() >= count(plan.locations()))
      return corrupt("dispatch %u of '%.*s' is at location %u, there are %u", i, printLength(owner),
                     owner.data, dispatch.location(), count(plan.locations()));
    XCR_RETURN_IF_ERROR(visit(dispatch.variants().count()));
    CheckedCount cost = costOf(plan, dispatch);
    XCR_RETURN_IF_ERROR(visit(cost));
    dispatchCosts[i] = cost.get();
    uint32_t last = dispatch.variants().count() - 1;
    for (uint32_t v = 0; v <= last; ++v) {
      const fb::Variant &variant = *plan.variants()->Get(dispatch.variants().begin() + v);
      XCR_RETURN_IF_ERROR(verifyVariant(plan, context, dispatch, variant));
      if (v == last && variant.guards().count() != 0)
        return corrupt("the last variant of dispatch %u of '%.*s' has guards", i,
                       printLength(owner), owner.data);
    }
  }
  return Status();
}

/// The dispatch's ranges have been found to be inside the plan.
CheckedCount Verifier::costOf(const fb::Plan &plan, const fb::Dispatch &dispatch) const {
  CheckedCount cost(dispatch.bindings().count());
  for (uint32_t v = 0; v < dispatch.variants().count(); ++v) {
    const fb::Variant &variant = *plan.variants()->Get(dispatch.variants().begin() + v);
    cost += 1;
    cost += variant.scalars().count();
    cost += variant.guards().count();
  }
  return cost;
}

Status Verifier::verifyVariant(const fb::Plan &plan, const PlanContext &context,
                               const fb::Dispatch &dispatch, const fb::Variant &variant) {
  xcr_string_view_t owner = context.owner;
  if (variant.executable() >= count(module.executables()))
    return corrupt("a dispatch of '%.*s' runs executable %u, there are %u", printLength(owner),
                   owner.data, variant.executable(), count(module.executables()));
  const fb::Executable &code = *module.executables()->Get(variant.executable());
  if (code.target() != plan.target())
    return corrupt("a dispatch of '%.*s' for target %u runs executable %u for "
                   "target %u",
                   printLength(owner), owner.data, plan.target(), variant.executable(),
                   code.target());
  if (variant.export_ordinal() >= count(code.exports()))
    return corrupt("a dispatch of '%.*s' runs kernel %u of executable %u, there "
                   "are %u",
                   printLength(owner), owner.data, variant.export_ordinal(), variant.executable(),
                   count(code.exports()));
  const fb::Export &entry = *code.exports()->Get(variant.export_ordinal());
  xcr_string_view_t name = text(entry.name());
  if (dispatch.bindings().count() != entry.binding_count())
    return corrupt("kernel '%.*s' takes %u bindings, a dispatch of '%.*s' "
                   "brings %u",
                   printLength(name), name.data, entry.binding_count(), printLength(owner),
                   owner.data, dispatch.bindings().count());
  if (!isInside(variant.scalars(), plan.scalars()) ||
      variant.scalars().count() != entry.scalar_count())
    return corrupt("kernel '%.*s' takes %u scalars, a dispatch of '%.*s' brings "
                   "%u of the plan's %u",
                   printLength(name), name.data, entry.scalar_count(), printLength(owner),
                   owner.data, variant.scalars().count(), count(plan.scalars()));
  for (uint32_t i = 0; i < variant.scalars().count(); ++i) {
    // Unlike sizes, a scalar may be negative.
    const fb::Value &scalar = *plan.scalars()->Get(variant.scalars().begin() + i);
    if (scalar.formula() >= 0 && !isValid(scalar, plan.formulas()))
      return corrupt("scalar %u of kernel '%.*s' in '%.*s' names formula %d, "
                     "there are %u",
                     i, printLength(name), name.data, printLength(owner), owner.data,
                     scalar.formula(), count(plan.formulas()));
  }
  for (const fb::Value *value : {&variant.grid_x(), &variant.grid_y(), &variant.grid_z(),
                                 &variant.workspace(), &variant.workspace_offset()})
    if (!isValid(*value, plan.formulas()))
      return corrupt("a grid or workspace of kernel '%.*s' in '%.*s' is "
                     "negative or names a formula that does not exist",
                     printLength(name), name.data, printLength(owner), owner.data);
  if (!isInside(variant.guards(), plan.guards()))
    return corrupt("the guards of kernel '%.*s' in '%.*s' are outside the "
                   "plan's %u",
                   printLength(name), name.data, printLength(owner), owner.data,
                   count(plan.guards()));
  for (uint32_t i = 0; i < variant.guards().count(); ++i)
    XCR_RETURN_IF_ERROR(
        verifyGuard(plan, context, dispatch, *plan.guards()->Get(variant.guards().begin() + i)));
  return Status();
}

Status Verifier::verifyGuard(const fb::Plan &plan, const PlanContext &context,
                             const fb::Dispatch &dispatch, const fb::Guard &guard) {
  xcr_string_view_t owner = context.owner;
  uint32_t limit = 0;
  if (guard.kind() == fb::GuardKind::ValueInRange)
    limit = count(plan.formulas());
  else if (guard.kind() == fb::GuardKind::BindingAligned)
    limit = dispatch.bindings().count();
  if (guard.operand() >= limit || guard.divisor() < 1)
    return corrupt("a guard of '%.*s' of kind %u is about operand %u of %u and "
                   "divisor %" PRId64,
                   printLength(owner), owner.data, static_cast<unsigned>(guard.kind()),
                   guard.operand(), limit, guard.divisor());
  return Status();
}

Status Verifier::verifyTransfers(const fb::Plan &plan, const PlanContext &context) {
  xcr_string_view_t owner = context.owner;
  CheckedCount parts(count(plan.copies()));
  for (uint64_t more : {count(plan.fills()), count(plan.controls()), count(plan.choices()),
                        count(plan.collectives())})
    parts += more;
  XCR_RETURN_IF_ERROR(visit(parts));
  for (uint32_t i = 0; i < count(plan.copies()); ++i) {
    const fb::Copy &copy = *plan.copies()->Get(i);
    XCR_RETURN_IF_ERROR(verifyBinding(plan, context, copy.source(), true, false));
    XCR_RETURN_IF_ERROR(verifyBinding(plan, context, copy.target(), false, true));
  }
  for (uint32_t i = 0; i < count(plan.fills()); ++i) {
    const fb::Fill &fill = *plan.fills()->Get(i);
    XCR_RETURN_IF_ERROR(verifyBinding(plan, context, fill.target(), false, true));
    if (!isPowerOfTwo(fill.pattern_size()) || fill.pattern_size() > ModuleLimits::kPatternBytes)
      return corrupt("fill %u of '%.*s' has a pattern of %u bytes", i, printLength(owner),
                     owner.data, fill.pattern_size());
  }
  for (uint32_t i = 0; i < count(plan.controls()); ++i)
    XCR_RETURN_IF_ERROR(
        verifyBinding(plan, context, plan.controls()->Get(i)->condition(), true, false));
  for (uint32_t i = 0; i < count(plan.choices()); ++i)
    if (!isValid(plan.choices()->Get(i)->condition(), plan.formulas()))
      return corrupt(
          "choice %u of '%.*s' has a negative condition or names a formula that does not "
          "exist",
          i, printLength(owner), owner.data);
  for (uint32_t i = 0; i < count(plan.collectives()); ++i) {
    const fb::Collective &collective = *plan.collectives()->Get(i);
    XCR_RETURN_IF_ERROR(verifyBinding(plan, context, collective.source(), true, false));
    XCR_RETURN_IF_ERROR(verifyBinding(plan, context, collective.target(), false, true));
    if (collective.kind() > fb::CollectiveKind::MAX || collective.dtype() > fb::DType::MAX ||
        collective.dtype() == fb::DType::None)
      return corrupt("collective %u of '%.*s' has kind %u and element type %u", i,
                     printLength(owner), owner.data, static_cast<unsigned>(collective.kind()),
                     static_cast<unsigned>(collective.dtype()));
  }
  return Status();
}

bool Verifier::sizeOfSpace(const fb::Plan &plan, const PlanContext &context,
                           const fb::Binding &binding, uint64_t *size) const {
  uint32_t ordinal = binding.ordinal();
  *size = UINT64_MAX;
  switch (binding.space()) {
  case fb::Space::Arena:
    if (!plan.arena_size())
      *size = 0;
    else if (plan.arena_size()->formula() < 0)
      *size = static_cast<uint64_t>(plan.arena_size()->literal());
    return ordinal == 0;
  case fb::Space::Input:
    return context.function && ordinal < count(context.function->inputs());
  case fb::Space::Output:
    return context.function && ordinal < count(context.function->outputs());
  case fb::Space::Constant:
    if (ordinal >= count(module.constants()))
      return false;
    *size = byteLengthOf(module.constants()->Get(ordinal)->dtype(),
                         module.constants()->Get(ordinal)->dims());
    return true;
  case fb::Space::Variable:
    if (ordinal >= count(module.variables()))
      return false;
    *size = byteLengthOf(module.variables()->Get(ordinal)->dtype(),
                         module.variables()->Get(ordinal)->dims());
    // Variables belong to an instance, packed weights to all instances.
    return context.function != nullptr;
  case fb::Space::Parameter:
    if (ordinal >= count(module.parameters()))
      return false;
    *size = byteLengthOf(module.parameters()->Get(ordinal)->dtype(),
                         module.parameters()->Get(ordinal)->dims());
    return true;
  case fb::Space::Packed:
    if (ordinal >= count(context.packedSizes))
      return false;
    *size = context.packedSizes->Get(ordinal);
    return true;
  }
  return false;
}

Status Verifier::verifyBinding(const fb::Plan &plan, const PlanContext &context,
                               const fb::Binding &binding, bool mustRead, bool mustWrite) {
  xcr_string_view_t owner = context.owner;
  uint64_t size;
  if (!sizeOfSpace(plan, context, binding, &size))
    return corrupt("a binding of '%.*s' is number %u in space %u, which does "
                   "not exist",
                   printLength(owner), owner.data, binding.ordinal(),
                   static_cast<unsigned>(binding.space()));
  const char *space = fb::EnumNameSpace(binding.space());
  unsigned access = static_cast<unsigned>(binding.access());
  bool reads = access & static_cast<unsigned>(fb::Access::Read);
  bool writes = access & static_cast<unsigned>(fb::Access::Write);
  if (access > static_cast<unsigned>(fb::Access::MAX) || (mustRead && !reads) ||
      (mustWrite && !writes))
    return corrupt("a binding of '%.*s' to %s %u has access %u", printLength(owner), owner.data,
                   space, binding.ordinal(), access);
  bool isReadOnly = binding.space() == fb::Space::Constant ||
                    binding.space() == fb::Space::Parameter ||
                    (binding.space() == fb::Space::Packed && context.function) ||
                    (binding.space() == fb::Space::Input &&
                     !context.function->inputs()->Get(binding.ordinal())->donated());
  if (writes && isReadOnly)
    return corrupt("'%.*s' writes to %s %u, which is read-only", printLength(owner), owner.data,
                   space, binding.ordinal());
  if (!isValid(binding.offset(), plan.formulas()) || !isValid(binding.length(), plan.formulas()))
    return corrupt("a binding of '%.*s' to %s %u has a negative place or names "
                   "a formula that does not exist",
                   printLength(owner), owner.data, space, binding.ordinal());
  if (size != UINT64_MAX && binding.offset().formula() < 0 && binding.length().formula() < 0 &&
      !rangeFits(static_cast<uint64_t>(binding.offset().literal()),
                 static_cast<uint64_t>(binding.length().literal()), size))
    return corrupt("a binding of '%.*s' takes %" PRId64 " bytes at %" PRId64
                   " of %s %u, which has %" PRIu64,
                   printLength(owner), owner.data, binding.length().literal(),
                   binding.offset().literal(), space, binding.ordinal(), size);
  return Status();
}
