//===- function_api.cpp - The C API of functions -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/api_struct.h"
#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/base/nearest_names.h"
#include "runtime/module/data_uses.h"
#include "runtime/module/module.h"
#include "runtime/module/shapes.h"
#include "runtime/module/verifier.h"

using namespace xc;

static Status checkOrdinal(const xcr_module_t *module, const char *kind, uint32_t ordinal,
                           size_t limit) {
  return ordinal < limit ? Status()
                         : makeStatus(module->allocator, XCR_STATUS_OUT_OF_RANGE,
                                      "%s %u: there are %zu", kind, ordinal, limit);
}

xcr_status_t xcr_module_get_function(const xcr_module_t *module, uint32_t ordinal,
                                     const xcr_function_t **out_function) {
  XCR_REQUIRE(out_function);
  *out_function = nullptr;
  XCR_REQUIRE(module);
  Status status = checkOrdinal(module, "function", ordinal, module->functions.size());
  if (status.succeeded())
    *out_function = &module->functions[ordinal];
  return status.release();
}

xcr_status_t xcr_module_find_function(const xcr_module_t *module, xcr_string_view_t name,
                                      const xcr_function_t **out_function) {
  XCR_REQUIRE(out_function);
  *out_function = nullptr;
  XCR_REQUIRE(module);
  if (Status status = requireText(name, "name"); status.failed())
    return status.release();
  return module->findFunction(name, out_function).release();
}

void xcr_function_get_info(const xcr_function_t *function, xcr_function_info_t *out_info) {
  const fb::Function &table = *function->table;
  xcr_function_info_t info = XCR_FUNCTION_INFO_INIT;
  info.name = text(table.name());
  info.doc = text(table.doc());
  info.ordinal = function->ordinal;
  info.input_count = count(table.inputs());
  info.output_count = count(table.outputs());
  info.symbol_count = count(table.symbols());
  writeInfo(info, out_info);
}

using Arguments = flatbuffers::Vector<flatbuffers::Offset<fb::Argument>>;

/// \p dims: those of the first of \p arguments.
static void getArgument(const Arguments *arguments, const xcr_dim_t *dims, uint32_t ordinal,
                        xcr_argument_info_t *out_info) {
  for (uint32_t i = 0; i < ordinal; ++i)
    dims += count(arguments->Get(i)->dims());
  const fb::Argument &argument = *arguments->Get(ordinal);
  xcr_argument_info_t info = XCR_ARGUMENT_INFO_INIT;
  info.name = text(argument.name());
  info.dtype = toApi(argument.dtype());
  info.rank = count(argument.dims());
  info.dims = dims;
  info.alignment = argument.alignment();
  info.donated = argument.donated();
  info.alias = argument.alias();
  writeInfo(info, out_info);
}

xcr_status_t xcr_function_get_input(const xcr_function_t *function, uint32_t input,
                                    xcr_argument_info_t *out_info) {
  XCR_REQUIRE(function, out_info);
  const Arguments *inputs = function->table->inputs();
  Status status = checkOrdinal(function->module, "input", input, count(inputs));
  if (status.succeeded())
    getArgument(inputs, function->dims, input, out_info);
  return status.release();
}

xcr_status_t xcr_function_get_output(const xcr_function_t *function, uint32_t output,
                                     xcr_argument_info_t *out_info) {
  XCR_REQUIRE(function, out_info);
  const Arguments *inputs = function->table->inputs();
  const Arguments *outputs = function->table->outputs();
  Status status = checkOrdinal(function->module, "output", output, count(outputs));
  if (status.failed())
    return status.release();
  const xcr_dim_t *dims = function->dims;
  for (uint32_t i = 0; i < count(inputs); ++i)
    dims += count(inputs->Get(i)->dims());
  getArgument(outputs, dims, output, out_info);
  return nullptr;
}

static Status findArgument(const xcr_function_t *function, const Arguments *arguments,
                           const char *kind, xcr_string_view_t name, uint32_t *out) {
  XCR_RETURN_IF_ERROR(requireText(name, "name"));
  for (uint32_t i = 0; name.size && i < count(arguments); ++i)
    if (equal(text(arguments->Get(i)->name()), name)) {
      *out = i;
      return Status();
    }
  NearestNames nearest(name);
  for (uint32_t i = 0; i < count(arguments); ++i)
    nearest.add(text(arguments->Get(i)->name()));
  return nearest.notFound(function->module->allocator, kind, "the function");
}

xcr_status_t xcr_function_find_input(const xcr_function_t *function, xcr_string_view_t name,
                                     uint32_t *out_input) {
  XCR_REQUIRE(out_input);
  *out_input = 0;
  XCR_REQUIRE(function);
  return findArgument(function, function->table->inputs(), "input", name, out_input).release();
}

xcr_status_t xcr_function_find_output(const xcr_function_t *function, xcr_string_view_t name,
                                      uint32_t *out_output) {
  XCR_REQUIRE(out_output);
  *out_output = 0;
  XCR_REQUIRE(function);
  return findArgument(function, function->table->outputs(), "output", name, out_output).release();
}

xcr_status_t xcr_function_get_symbol(const xcr_function_t *function, uint32_t symbol,
                                     xcr_symbol_info_t *out_info) {
  XCR_REQUIRE(function, out_info);
  const auto *symbols = function->table->symbols();
  Status status = checkOrdinal(function->module, "symbol", symbol, count(symbols));
  if (status.failed())
    return status.release();
  const fb::Symbol &table = *symbols->Get(symbol);
  xcr_symbol_info_t info = XCR_SYMBOL_INFO_INIT;
  info.name = text(table.name());
  info.input = table.input();
  info.dim = table.dim();
  info.min = table.min();
  info.max = table.max();
  info.divisor = table.divisor();
  writeInfo(info, out_info);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static Status evaluateShapes(const xcr_function_t *function, const int64_t *symbolValues,
                             uint32_t symbolCount, FunctionShapes *shapes) {
  XCR_RETURN_IF_ERROR(shapes->initialise(*function->table));
  if (symbolCount != shapes->symbols.size())
    return makeStatus(function->module->allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "symbol_count: '%s' has %zu symbols, got %u",
                      function->table->name()->c_str(), shapes->symbols.size(), symbolCount);
  if (symbolCount)
    XCR_RETURN_IF_ERROR(requireArgument(symbolValues, "symbol_values"));
  for (uint32_t i = 0; i < symbolCount; ++i)
    shapes->symbols[i] = symbolValues[i];
  XCR_RETURN_IF_ERROR(shapes->evaluate());
  return shapes->checkRequirements();
}

xcr_status_t xcr_function_get_output_shape(const xcr_function_t *function, uint32_t output,
                                           const int64_t *symbol_values, uint32_t symbol_count,
                                           int64_t *out_shape) {
  XCR_REQUIRE(function);
  const Arguments *outputs = function->table->outputs();
  Status status = checkOrdinal(function->module, "output", output, count(outputs));
  FunctionShapes shapes(function->module->allocator);
  if (status.succeeded() && count(outputs->Get(output)->dims()))
    status = requireArgument(out_shape, "out_shape");
  if (status.succeeded())
    status = evaluateShapes(function, symbol_values, symbol_count, &shapes);
  if (status.succeeded())
    status = shapes.shapeOf(*outputs->Get(output), out_shape);
  return status.release();
}

/// Adds up the bytes of arguments; \p skipAliases for outputs.
static Status addBytes(const FunctionShapes &shapes, const Arguments *arguments, bool skipAliases,
                       uint64_t *sum) {
  for (uint32_t i = 0; i < count(arguments); ++i) {
    const fb::Argument &argument = *arguments->Get(i);
    if (skipAliases && argument.alias() >= 0)
      continue;
    uint64_t bytes;
    XCR_RETURN_IF_ERROR(shapes.bytesOf(argument, &bytes));
    if (addOverflows(*sum, bytes, sum))
      return shapes.noSize(FormulaError::Overflow);
  }
  return Status();
}

static Status getMemoryNeed(const xcr_function_t *function, uint32_t target,
                            const int64_t *symbolValues, uint32_t symbolCount,
                            xcr_memory_need_t *need) {
  const fb::Module &tables = function->module->tables();
  const HostAllocator &allocator = function->module->allocator;
  const fb::Plan *plan = function->planFor(target);
  if (!plan)
    return makeStatus(allocator, XCR_STATUS_NOT_FOUND, "function '%s' has no plan for target %u",
                      function->table->name()->c_str(), target);
  FunctionShapes shapes(allocator);
  XCR_RETURN_IF_ERROR(evaluateShapes(function, symbolValues, symbolCount, &shapes));
  XCR_RETURN_IF_ERROR(addBytes(shapes, function->table->inputs(), false, &need->input_bytes));
  XCR_RETURN_IF_ERROR(addBytes(shapes, function->table->outputs(), true, &need->output_bytes));
  XCR_RETURN_IF_ERROR(shapes.arenaBytes(*plan, &need->arena_bytes));
  DataUses uses(allocator);
  XCR_RETURN_IF_ERROR(uses.find(*function->module, target));
  uint64_t sum = 0, packed = 0, released = 0;
  bool overflows = false;
  auto add = [&](uint64_t bytes, uint64_t *more) {
    overflows |= addOverflows(sum, bytes, &sum);
    if (more)
      overflows |= addOverflows(*more, bytes, more);
  };
  for (uint32_t i = 0; i < count(tables.constants()); ++i)
    add(byteLengthOf(tables.constants()->Get(i)->dtype(), tables.constants()->Get(i)->dims()),
        uses.constants[i] == DataUses::Init ? &released : nullptr);
  for (uint32_t i = 0; i < count(tables.parameters()); ++i)
    add(byteLengthOf(tables.parameters()->Get(i)->dtype(), tables.parameters()->Get(i)->dims()),
        uses.parameters[i] == DataUses::Init ? &released : nullptr);
  for (uint32_t i = 0; i < count(tables.variables()); ++i)
    add(byteLengthOf(tables.variables()->Get(i)->dtype(), tables.variables()->Get(i)->dims()),
        nullptr);
  const fb::InitPlan *init = findInitPlan(tables, target);
  for (uint32_t i = 0; init && i < count(init->packed_sizes()); ++i)
    add(init->packed_sizes()->Get(i), &packed);
  need->packed_bytes = packed;
  need->released_bytes = released;
  need->constant_bytes = sum;
  return overflows ? shapes.noSize(FormulaError::Overflow) : Status();
}

xcr_status_t xcr_function_get_memory_need(const xcr_function_t *function, uint32_t target,
                                          const int64_t *symbol_values, uint32_t symbol_count,
                                          xcr_memory_need_t *out_need) {
  XCR_REQUIRE(function, out_need);
  xcr_memory_need_t need = XCR_MEMORY_NEED_INIT;
  Status status = getMemoryNeed(function, target, symbol_values, symbol_count, &need);
  writeInfo(need, out_need);
  return status.release();
}
