//===- shapes.cpp - Symbolic dimensions and what follows from them -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/shapes.h"

#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

using namespace xc;

Status FunctionShapes::initialise(const fb::Function &table) {
  function = &table;
  XCR_RETURN_IF_ERROR(symbols.resize(count(table.symbols())));
  return results.resize(count(table.formulas()));
}

/// `problem` with the dim and the place that says its range.
Status FunctionShapes::addDim(const fb::Symbol &symbol, Status problem) const {
  xcr_string_view_t name = text(symbol.name()), location = text(symbol.location());
  return addContext(std::move(problem), allocator,
                    "dim %u of input %u of '%s' (symbol '%.*s')%s%.*s: ", symbol.dim(),
                    symbol.input(), function->name()->c_str(), printLength(name), name.data,
                    location.size ? " at " : "", printLength(location), location.data);
}

Status FunctionShapes::evaluate() {
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const fb::Symbol &symbol = *function->symbols()->Get(i);
    int64_t value = symbols[i];
    if (value < symbol.min() && symbol.max() == INT64_MAX)
      return addDim(symbol,
                    makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                               "expected at least %" PRId64 ", got %" PRId64, symbol.min(), value));
    if (value < symbol.min() || value > symbol.max())
      return addDim(symbol, makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                                       "expected between %" PRId64 " and %" PRId64 ", got %" PRId64,
                                       symbol.min(), symbol.max(), value));
    if (value % symbol.divisor() != 0)
      return addDim(symbol, makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                                       "expected a multiple of %" PRId64 ", got %" PRId64,
                                       symbol.divisor(), value));
  }
  uint32_t failed = 0;
  FormulaError error = evaluateAll(function->formula_code(), function->formulas(), symbols.span(),
                                   results.span(), &failed);
  if (error == FormulaError::None)
    return Status();
  return addContext(noSize(error), allocator, "formula %u: ", failed);
}

static bool holds(fb::Comparison comparison, int64_t left, int64_t right) {
  switch (comparison) {
  case fb::Comparison::Equal:
    return left == right;
  case fb::Comparison::AtMost:
    return left <= right;
  case fb::Comparison::OneOrEqual:
    return left == 1 || left == right;
  }
  return false;
}

/// Whether a formula of the function is the number 0.
static bool isZero(const fb::Function &function, uint32_t formula) {
  const fb::Range &range = *function.formulas()->Get(formula);
  const fb::FormulaInstruction &first = *function.formula_code()->Get(range.begin());
  return range.count() == 1 && first.op() == fb::FormulaOp::Const && first.operand() == 0;
}

Status FunctionShapes::checkRequirements() const {
  for (uint32_t i = 0; i < count(function->requirements()); ++i) {
    const fb::Requirement &requirement = *function->requirements()->Get(i);
    int64_t left = results[requirement.left()], right = results[requirement.right()];
    if (holds(requirement.comparison(), left, right))
      continue;
    xcr_string_view_t what = text(requirement.what()), location = text(requirement.location());
    String values(allocator);
    XCR_RETURN_IF_ERROR(describeSymbols(&values));
    char got[64];
    // A bound of 0 is about the sign of the other number.
    if (isZero(*function, requirement.left()))
      snprintf(got, sizeof(got), "%" PRId64, right);
    else
      snprintf(got, sizeof(got), "%" PRId64 " and %" PRId64, left, right);
    return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "'%s' at %.*s: %.*s, got %s for %s",
                      function->name()->c_str(), printLength(location), location.data,
                      printLength(what), what.data, got, values.c_str());
  }
  return Status();
}

Status FunctionShapes::describeSymbols(String *values) const {
  // A message holds no more, however many symbols a file declares.
  constexpr size_t kMostText = 256;
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    if (values->view().size > kMostText)
      return values->append(xcr_string(", ..."));
    char value[32];
    snprintf(value, sizeof(value), " = %" PRId64, symbols[i]);
    XCR_RETURN_IF_ERROR(values->append(xcr_string(i ? ", " : "")));
    XCR_RETURN_IF_ERROR(values->append(text(function->symbols()->Get(i)->name())));
    XCR_RETURN_IF_ERROR(values->append(xcr_string(value)));
  }
  return Status();
}

Status FunctionShapes::noSize(FormulaError error) const {
  String values(allocator);
  XCR_RETURN_IF_ERROR(describeSymbols(&values));
  return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE, "a size in '%s' %s for %.*s",
                    function->name()->c_str(), describe(error), printLength(values.view()),
                    values.c_str());
}

Status FunctionShapes::shapeOf(const fb::Argument &argument, int64_t *shape) const {
  for (uint32_t i = 0; i < count(argument.dims()); ++i) {
    shape[i] = valueOf(*argument.dims()->Get(i), results.span());
    if (shape[i] < 0)
      return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                        "dim %u of '%s' of '%s' is %" PRId64 " for the shapes of the inputs", i,
                        text(argument.name()).data, function->name()->c_str(), shape[i]);
  }
  return Status();
}

Status FunctionShapes::bytesOf(const fb::Argument &argument, uint64_t *bytes) const {
  int64_t shape[XCR_MAX_RANK];
  XCR_RETURN_IF_ERROR(shapeOf(argument, shape));
  uint64_t elements;
  if (!countElements(shape, count(argument.dims()), &elements) ||
      multiplyOverflows<uint64_t>(elements, elementBytes(argument.dtype()), bytes))
    return noSize(FormulaError::Overflow);
  return Status();
}

Status FunctionShapes::arenaBytes(const fb::Plan &plan, uint64_t *bytes) const {
  *bytes = 0;
  if (!plan.arena_size())
    return Status();
  const fb::Value &size = *plan.arena_size();
  int64_t value = size.literal();
  if (size.formula() >= 0) {
    // With those that it may name.
    Vector<int64_t> values(allocator);
    XCR_RETURN_IF_ERROR(values.resize(static_cast<uint32_t>(size.formula()) + 1));
    FormulaError error = FormulaError::None;
    for (uint32_t i = 0; i < values.size(); ++i) {
      const fb::Range &range = *plan.formulas()->Get(i);
      error = evaluateFormula(codeOf(plan.formula_code(), range), range.count(), symbols.span(),
                              values.span(), &values[i]);
    }
    value = values[values.size() - 1];
    if (error != FormulaError::None)
      return noSize(error);
    if (value < 0)
      return makeStatus(allocator, XCR_STATUS_OUT_OF_RANGE,
                        "the arena of '%s' takes %" PRId64 " bytes for the shapes of the inputs",
                        function->name()->c_str(), value);
  }
  *bytes = static_cast<uint64_t>(value);
  return Status();
}
