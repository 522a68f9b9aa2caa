//===- verify_function.cpp - Checking the functions of a module ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/verifier.h"

#include "schemas/module_limits.h"

#include <algorithm>
#include <cinttypes>

using namespace xc;

Status Verifier::verifyFunction(uint32_t ordinal) {
  const fb::Function &function = *module.functions()->Get(ordinal);
  xcr_string_view_t name = text(function.name());
  if (name.size == 0)
    return corrupt("function %u has no name", ordinal);
  XCR_RETURN_IF_ERROR(verifyFormulas(name, function.formula_code(), function.formulas(),
                                     count(function.symbols())));
  for (uint32_t i = 0; i < count(function.inputs()); ++i)
    XCR_RETURN_IF_ERROR(verifyArgument(function, "input", i, function.inputs()->Get(i)));
  for (uint32_t i = 0; i < count(function.outputs()); ++i)
    XCR_RETURN_IF_ERROR(verifyArgument(function, "output", i, function.outputs()->Get(i)));
  XCR_RETURN_IF_ERROR(verifyAliases(function));
  XCR_RETURN_IF_ERROR(verifySymbols(function));
  XCR_RETURN_IF_ERROR(verifyRequirements(function));
  if (count(function.plans()) > count(module.targets()))
    return corrupt("function '%.*s' has %u plans for %u targets", printLength(name), name.data,
                   count(function.plans()), count(module.targets()));
  for (uint32_t i = 0; i < count(function.plans()); ++i) {
    const fb::Plan &plan = *function.plans()->Get(i);
    XCR_RETURN_IF_ERROR(visit(i + CheckedCount(count(module.init_plans())).get()));
    for (uint32_t j = 0; j < i; ++j)
      if (function.plans()->Get(j)->target() == plan.target())
        return corrupt("function '%.*s' has two plans for target %u", printLength(name), name.data,
                       plan.target());
    PlanContext context;
    context.owner = name;
    context.function = &function;
    context.symbolCount = count(function.symbols());
    if (const fb::InitPlan *init = initPlanOf(plan.target()))
      context.packedSizes = init->packed_sizes();
    XCR_RETURN_IF_ERROR(verifyPlan(plan, context));
  }
  return Status();
}

Status Verifier::verifyFormulas(xcr_string_view_t owner, const FormulaCode *code,
                                const FormulaRanges *formulas, uint32_t symbolCount) {
  if (!areAligned(code))
    return corrupt("the formulas of '%.*s' are not aligned", printLength(owner), owner.data);
  for (uint32_t i = 0; i < count(formulas); ++i) {
    const fb::Range &range = *formulas->Get(i);
    if (!isInside(range, code))
      return corrupt("formula %u of '%.*s' is outside its code", i, printLength(owner), owner.data);
    XCR_RETURN_IF_ERROR(visit(CheckedCount(range.count()) += 1));
    if (const char *fault = verifyFormula(codeOf(code, range), range.count(), symbolCount, i))
      return corrupt("formula %u of '%.*s' %s", i, printLength(owner), owner.data, fault);
  }
  return Status();
}

Status Verifier::verifyArgument(const fb::Function &function, const char *kind, uint32_t ordinal,
                                const fb::Argument *argument) {
  const char *owner = function.name()->c_str();
  if (argument->dtype() > fb::DType::MAX || argument->dtype() == fb::DType::None)
    return corrupt("%s %u of '%s' has element type %u", kind, ordinal, owner,
                   static_cast<unsigned>(argument->dtype()));
  if (count(argument->dims()) > ModuleLimits::kRank)
    return corrupt("%s %u of '%s' has %u dimensions, at most %u are possible", kind, ordinal, owner,
                   count(argument->dims()), ModuleLimits::kRank);
  if (!areAligned(argument->dims()))
    return corrupt("the dimensions of %s %u of '%s' are not aligned", kind, ordinal, owner);
  XCR_RETURN_IF_ERROR(visit(count(argument->dims()) + 1));
  for (uint32_t i = 0; i < count(argument->dims()); ++i)
    if (!isValid(*argument->dims()->Get(i), function.formulas()))
      return corrupt("dim %u of %s %u of '%s' is negative or names a formula "
                     "that does not exist",
                     i, kind, ordinal, owner);
  if (!isPowerOfTwo(argument->alignment()) || argument->alignment() > ModuleLimits::kAlignment)
    return corrupt("%s %u of '%s' has alignment %u", kind, ordinal, owner, argument->alignment());
  return Status();
}

Status Verifier::verifyAliases(const fb::Function &function) {
  const char *owner = function.name()->c_str();
  Vector<uint8_t> isTaken(allocator);
  XCR_RETURN_IF_ERROR(isTaken.resize(count(function.inputs())));
  for (uint32_t i = 0; i < count(function.outputs()); ++i) {
    int32_t alias = function.outputs()->Get(i)->alias();
    if (alias == -1)
      continue;
    if (alias < -1 || static_cast<uint32_t>(alias) >= count(function.inputs()))
      return corrupt("output %u of '%s' is held by input %d, there are %u", i, owner, alias,
                     count(function.inputs()));
    if (!function.inputs()->Get(static_cast<uint32_t>(alias))->donated())
      return corrupt("output %u of '%s' is held by input %d, which is not "
                     "donated",
                     i, owner, alias);
    if (isTaken[static_cast<uint32_t>(alias)]++)
      return corrupt("two outputs of '%s' are held by input %d", owner, alias);
  }
  return Status();
}

Status Verifier::verifySymbols(const fb::Function &function) {
  const char *owner = function.name()->c_str();
  XCR_RETURN_IF_ERROR(visit(count(function.symbols())));
  for (uint32_t i = 0; i < count(function.symbols()); ++i) {
    const fb::Symbol &symbol = *function.symbols()->Get(i);
    if (symbol.input() >= count(function.inputs()) ||
        symbol.dim() >= count(function.inputs()->Get(symbol.input())->dims()))
      return corrupt("symbol %u of '%s' is dim %u of input %u, which does not "
                     "exist",
                     i, owner, symbol.dim(), symbol.input());
    if (symbol.min() < 0 || symbol.min() > symbol.max() || symbol.divisor() < 1)
      return corrupt("symbol %u of '%s' is between %" PRId64 " and %" PRId64
                     " and a multiple of %" PRId64,
                     i, owner, symbol.min(), symbol.max(), symbol.divisor());
  }
  return Status();
}

Status Verifier::verifyRequirements(const fb::Function &function) {
  XCR_RETURN_IF_ERROR(visit(count(function.requirements())));
  for (uint32_t i = 0; i < count(function.requirements()); ++i) {
    const fb::Requirement &requirement = *function.requirements()->Get(i);
    if (requirement.comparison() > fb::Comparison::MAX)
      return corrupt("requirement %u of '%s' compares in way %u, which is not known", i,
                     function.name()->c_str(), static_cast<unsigned>(requirement.comparison()));
    uint32_t largest = std::max(requirement.left(), requirement.right());
    if (largest >= count(function.formulas()))
      return corrupt("requirement %u of '%s' names formula %u, there are %u", i,
                     function.name()->c_str(), largest, count(function.formulas()));
  }
  return Status();
}
