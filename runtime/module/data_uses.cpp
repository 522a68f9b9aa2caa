//===- data_uses.cpp - Which constants and parameters plans read ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/data_uses.h"

namespace xc {

const fb::InitPlan *findInitPlan(const fb::Module &tables, uint32_t target) {
  for (uint32_t i = 0; i < count(tables.init_plans()); ++i)
    if (tables.init_plans()->Get(i)->target() == target)
      return tables.init_plans()->Get(i);
  return nullptr;
}

void DataUses::mark(const fb::Binding &binding, Reader reader) {
  if (binding.space() == fb::Space::Constant)
    constants[binding.ordinal()] |= reader;
  if (binding.space() == fb::Space::Parameter)
    parameters[binding.ordinal()] |= reader;
}

void DataUses::mark(const fb::Plan *plan, Reader reader) {
  if (!plan)
    return;
  for (uint32_t i = 0; i < count(plan->bindings()); ++i)
    mark(*plan->bindings()->Get(i), reader);
  for (uint32_t i = 0; i < count(plan->copies()); ++i)
    mark(plan->copies()->Get(i)->source(), reader);
  for (uint32_t i = 0; i < count(plan->collectives()); ++i)
    mark(plan->collectives()->Get(i)->source(), reader);
  for (uint32_t i = 0; i < count(plan->controls()); ++i)
    mark(plan->controls()->Get(i)->condition(), reader);
}

Status DataUses::find(const xcr_module &module, uint32_t target) {
  const fb::Module &tables = module.tables();
  XCR_RETURN_IF_ERROR(constants.resize(count(tables.constants())));
  XCR_RETURN_IF_ERROR(parameters.resize(count(tables.parameters())));
  for (const xcr_function &function : module.functions)
    mark(function.planFor(target), Calls);
  if (const fb::InitPlan *init = findInitPlan(tables, target))
    mark(init->plan(), Init);
  return Status();
}

} // namespace xc
