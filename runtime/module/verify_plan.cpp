//===- verify_plan.cpp - Checking the structure of plans -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/verifier.h"

#include "schemas/module_limits.h"

using namespace xc;

Status Verifier::verifyPlan(const fb::Plan &plan, const PlanContext &context) {
  xcr_string_view_t owner = context.owner;
  if (plan.target() >= count(module.targets()))
    return corrupt("a plan of '%.*s' is for target %u, there are %u", printLength(owner),
                   owner.data, plan.target(), count(module.targets()));
  if (!areAligned(plan.variants(), plan.guards(), plan.scalars(), plan.bindings(), plan.copies(),
                  plan.fills(), plan.collectives(), plan.controls(), plan.choices()))
    return corrupt("the commands of '%.*s' are not aligned", printLength(owner), owner.data);
  XCR_RETURN_IF_ERROR(
      verifyFormulas(owner, plan.formula_code(), plan.formulas(), context.symbolCount));
  if (plan.arena_size() && !isValid(*plan.arena_size(), plan.formulas()))
    return corrupt("the arena of '%.*s' has a negative size or names a formula "
                   "that does not exist",
                   printLength(owner), owner.data);
  XCR_RETURN_IF_ERROR(verifyDispatches(plan, context));
  XCR_RETURN_IF_ERROR(verifyTransfers(plan, context));
  return verifyRegions(plan, context);
}

/// The ordinals' range of the regions in a command; null where it has none.
static const fb::Range *nestedRegions(const fb::Plan &plan, const fb::Command &command) {
  if (command.kind() == fb::CommandKind::Control)
    return &plan.controls()->Get(command.ordinal())->regions();
  if (command.kind() == fb::CommandKind::Choice)
    return &plan.choices()->Get(command.ordinal())->regions();
  return nullptr;
}

/// Regions form a tree with region 0 as the root, and follow one another: each command is in one.
Status Verifier::verifyRegions(const fb::Plan &plan, const PlanContext &context) {
  xcr_string_view_t owner = context.owner;
  uint32_t regionCount = count(plan.regions());
  if (regionCount == 0)
    return corrupt("a plan of '%.*s' has no regions", printLength(owner), owner.data);
  /// Of regions that have been found in another; 0: in none.
  Vector<uint8_t> depths(allocator);
  XCR_RETURN_IF_ERROR(depths.resize(regionCount));
  uint32_t expected = 0;
  for (uint32_t r = 0; r < regionCount; ++r) {
    const fb::Region &region = *plan.regions()->Get(r);
    if (!isInside(region.commands(), plan.commands()))
      return corrupt("region %u of '%.*s' is outside the plan's %u commands", r, printLength(owner),
                     owner.data, count(plan.commands()));
    uint32_t begin = region.commands().begin();
    if (begin != expected)
      return corrupt("region %u of '%.*s' begins at command %u, the one before it ends at %u", r,
                     printLength(owner), owner.data, begin, expected);
    expected = begin + region.commands().count();
    for (uint32_t i = begin; i < expected; ++i) {
      XCR_RETURN_IF_ERROR(verifyCommand(plan, context, region, r, i));
      const fb::Range *nested = nestedRegions(plan, *plan.commands()->Get(i));
      for (uint32_t n = 0; nested && n < nested->count(); ++n) {
        uint8_t &depth = depths[plan.region_ordinals()->Get(nested->begin() + n)];
        if (depth)
          return corrupt("a region of '%.*s' belongs to two commands", printLength(owner),
                         owner.data);
        depth = static_cast<uint8_t>(depths[r] + 1);
        if (depth > ModuleLimits::kRegionDepth)
          return corrupt("regions of '%.*s' are nested more than %u deep", printLength(owner),
                         owner.data, ModuleLimits::kRegionDepth);
      }
    }
  }
  if (expected != count(plan.commands()))
    return corrupt("the regions of '%.*s' end at command %u, there are %u", printLength(owner),
                   owner.data, expected, count(plan.commands()));
  return Status();
}

Status Verifier::verifyCommand(const fb::Plan &plan, const PlanContext &context,
                               const fb::Region &region, uint32_t regionOrdinal, uint32_t ordinal) {
  xcr_string_view_t owner = context.owner;
  const fb::Command &command = *plan.commands()->Get(ordinal);
  uint32_t limit = 0;
  switch (command.kind()) {
  case fb::CommandKind::Dispatch:
    limit = count(plan.dispatches());
    break;
  case fb::CommandKind::Copy:
    limit = count(plan.copies());
    break;
  case fb::CommandKind::Fill:
    limit = count(plan.fills());
    break;
  case fb::CommandKind::Collective:
    limit = count(plan.collectives());
    break;
  case fb::CommandKind::Control:
    limit = count(plan.controls());
    break;
  case fb::CommandKind::Choice:
    limit = count(plan.choices());
    break;
  }
  if (command.ordinal() >= limit)
    return corrupt("command %u of '%.*s' is number %u of kind %u, there are %u", ordinal,
                   printLength(owner), owner.data, command.ordinal(),
                   static_cast<unsigned>(command.kind()), limit);
  if (!isInside(command.edges(), plan.edges()))
    return corrupt("the edges of command %u of '%.*s' are outside the plan's "
                   "%u",
                   ordinal, printLength(owner), owner.data, count(plan.edges()));
  CheckedCount cost(command.edges().count());
  cost += command.kind() == fb::CommandKind::Dispatch ? dispatchCosts[command.ordinal()] : 1;
  XCR_RETURN_IF_ERROR(visit(cost));
  uint32_t within = ordinal - region.commands().begin();
  for (uint32_t e = 0; e < command.edges().count(); ++e) {
    uint32_t edge = plan.edges()->Get(command.edges().begin() + e);
    if (edge >= within)
      return corrupt("command %u of '%.*s' waits for command %u of its region, "
                     "which is not before it",
                     within, printLength(owner), owner.data, edge);
  }
  if (const fb::Range *nested = nestedRegions(plan, command))
    return verifyNested(plan, context, regionOrdinal, *nested);
  return Status();
}

/// Nested regions have larger ordinals than their parent, so there is no cycle.
Status Verifier::verifyNested(const fb::Plan &plan, const PlanContext &context,
                              uint32_t regionOrdinal, const fb::Range &regions) {
  xcr_string_view_t owner = context.owner;
  if (!isInside(regions, plan.region_ordinals()) || regions.count() != 2)
    return corrupt("an if, a while or a choice of '%.*s' has %u regions, expected 2 within "
                   "the plan's %u",
                   printLength(owner), owner.data, regions.count(), count(plan.region_ordinals()));
  for (uint32_t i = 0; i < regions.count(); ++i) {
    uint32_t nested = plan.region_ordinals()->Get(regions.begin() + i);
    if (nested <= regionOrdinal || nested >= count(plan.regions()))
      return corrupt("an if, a while or a choice in region %u of '%.*s' holds region %u of "
                     "%u",
                     regionOrdinal, printLength(owner), owner.data, nested, count(plan.regions()));
  }
  return Status();
}
