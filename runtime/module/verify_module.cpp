//===- verify_module.cpp - Checking targets, data and blobs of a module --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/verifier.h"

#include "schemas/module_header.h"
#include "schemas/module_limits.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

using namespace xc;

static_assert(ModuleLimits::kRank == XCR_MAX_RANK, "shapes of modules are shapes of buffers");

Status Verifier::corrupt(const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return makeStatus(allocator, XCR_STATUS_CORRUPT, "the module is damaged: %s", message);
}

uint64_t Verifier::visitsFor(uint64_t bytes) {
  CheckedCount most(bytes);
  most *= ModuleLimits::kVisitsPerByte;
  most += ModuleLimits::kLeastVisits;
  return most.get();
}

Status Verifier::visit(CheckedCount parts) {
  visits += parts;
  if (visits.get() <= mostVisits)
    return Status();
  return corrupt("its tables share so many parts that more than %" PRIu64
                 " of them would be looked at",
                 mostVisits);
}

uint64_t xc::byteLengthOf(fb::DType dtype, const flatbuffers::Vector<int64_t> *dims) {
  uint64_t elements = 0;
  countElements(dims ? dims->data() : nullptr, count(dims), &elements);
  return elements * elementBytes(dtype);
}

Status Verifier::verify() {
  for (uint32_t i = 0; i < count(module.required_features()); ++i) {
    xcr_string_view_t feature = text(module.required_features()->Get(i));
    if (equal(feature, xcr_string("requirements")) || equal(feature, xcr_string("choices")) ||
        equal(feature, xcr_string("shared formulas")) ||
        equal(feature, xcr_string("im2col tensor maps")) ||
        equal(feature, xcr_string("symbolic corners of tensor maps")))
      continue;
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "the module needs feature '%.*s', which this version of "
                      "the library does not know",
                      printLength(feature), feature.data);
  }
  XCR_RETURN_IF_ERROR(verifyTargets());
  XCR_RETURN_IF_ERROR(verifyConstants());
  XCR_RETURN_IF_ERROR(verifyParameters());
  XCR_RETURN_IF_ERROR(verifyVariables());
  for (uint32_t i = 0; i < count(module.executables()); ++i)
    XCR_RETURN_IF_ERROR(verifyExecutable(i));
  XCR_RETURN_IF_ERROR(verifyInitPlans());
  Vector<xcr_string_view_t> names(allocator);
  for (uint32_t i = 0; i < count(module.functions()); ++i) {
    XCR_RETURN_IF_ERROR(verifyFunction(i));
    XCR_RETURN_IF_ERROR(names.push(text(module.functions()->Get(i)->name())));
  }
  return verifyNamesDiffer("functions", std::move(names));
}

Status Verifier::verifyTargets() {
  if (count(module.targets()) > ModuleLimits::kTargets ||
      count(module.init_plans()) > ModuleLimits::kTargets)
    return corrupt("%u targets and %u init plans, at most %u are possible", count(module.targets()),
                   count(module.init_plans()), ModuleLimits::kTargets);
  for (uint32_t i = 0; i < count(module.targets()); ++i)
    if (text(module.targets()->Get(i)->kind()).size == 0)
      return corrupt("target %u has no kind", i);
  return Status();
}

Status Verifier::verifyBlob(const char *kind, uint32_t ordinal, const fb::BlobRef *blob) {
  if (!blob)
    return corrupt("%s %u has no bytes", kind, ordinal);
  if (blob->offset() % ModuleHeader::kAlignment != 0)
    return corrupt("the bytes of %s %u begin at %" PRIu64 ", which is no multiple of %" PRIu64,
                   kind, ordinal, blob->offset(), ModuleHeader::kAlignment);
  if (blob->offset() < tablesEnd || !rangeFits(blob->offset(), blob->size(), fileSize))
    return corrupt("the bytes of %s %u (%" PRIu64 " at %" PRIu64
                   ") are not between the tables' end at %" PRIu64 " and the file's at %" PRIu64,
                   kind, ordinal, blob->size(), blob->offset(), tablesEnd, fileSize);
  return Status();
}

Status Verifier::verifyData(const char *kind, uint32_t ordinal, fb::DType dtype,
                            const flatbuffers::Vector<int64_t> *dims, uint64_t *byteLength) {
  if (dtype > fb::DType::MAX || dtype == fb::DType::None)
    return corrupt("%s %u has element type %u", kind, ordinal, static_cast<unsigned>(dtype));
  if (count(dims) > ModuleLimits::kRank)
    return corrupt("%s %u has %u dimensions, at most %u are possible", kind, ordinal, count(dims),
                   ModuleLimits::kRank);
  if (!areAligned(dims))
    return corrupt("the dimensions of %s %u are not aligned", kind, ordinal);
  uint64_t elements;
  if (!countElements(dims ? dims->data() : nullptr, count(dims), &elements) ||
      multiplyOverflows<uint64_t>(elements, elementBytes(dtype), byteLength) ||
      *byteLength > INT64_MAX)
    return corrupt("%s %u has a negative dimension or a size that overflows "
                   "64 bits",
                   kind, ordinal);
  return Status();
}

Status Verifier::verifyConstants() {
  for (uint32_t i = 0; i < count(module.constants()); ++i) {
    const fb::Constant &constant = *module.constants()->Get(i);
    uint64_t byteLength;
    XCR_RETURN_IF_ERROR(verifyData("constant", i, constant.dtype(), constant.dims(), &byteLength));
    XCR_RETURN_IF_ERROR(verifyBlob("constant", i, constant.data()));
    if (constant.data()->size() != byteLength)
      return corrupt("constant %u has %" PRIu64 " bytes, its shape takes %" PRIu64, i,
                     constant.data()->size(), byteLength);
    if (!isPowerOfTwo(constant.alignment()) || constant.alignment() > ModuleLimits::kAlignment)
      return corrupt("constant %u has alignment %u", i, constant.alignment());
  }
  return Status();
}

Status Verifier::verifyParameters() {
  for (uint32_t i = 0; i < count(module.parameters()); ++i) {
    const fb::ExternalParameter &parameter = *module.parameters()->Get(i);
    uint64_t byteLength;
    XCR_RETURN_IF_ERROR(
        verifyData("parameter", i, parameter.dtype(), parameter.dims(), &byteLength));
    if (text(parameter.scope()).size == 0)
      return corrupt("parameter %u has no scope", i);
    if (!isPowerOfTwo(parameter.alignment()) || parameter.alignment() > ModuleLimits::kAlignment)
      return corrupt("parameter %u has alignment %u", i, parameter.alignment());
  }
  return Status();
}

Status Verifier::verifyNamesDiffer(const char *kind, Vector<xcr_string_view_t> names) {
  std::sort(names.begin(), names.end(), isLess);
  for (size_t i = 1; i < names.size(); ++i)
    if (equal(names[i - 1], names[i]))
      return corrupt("two %s are called '%.*s'", kind, printLength(names[i]), names[i].data);
  return Status();
}

Status Verifier::verifyVariables() {
  Vector<xcr_string_view_t> names(allocator);
  for (uint32_t i = 0; i < count(module.variables()); ++i) {
    const fb::Variable &variable = *module.variables()->Get(i);
    uint64_t byteLength;
    XCR_RETURN_IF_ERROR(verifyData("variable", i, variable.dtype(), variable.dims(), &byteLength));
    xcr_string_view_t name = text(variable.name());
    if (name.size == 0)
      return corrupt("variable %u has no name", i);
    XCR_RETURN_IF_ERROR(names.push(name));
    int32_t constant = variable.initial_constant();
    int32_t parameter = variable.initial_parameter();
    if (constant < -1 || constant >= static_cast<int64_t>(count(module.constants())) ||
        parameter < -1 || parameter >= static_cast<int64_t>(count(module.parameters())))
      return corrupt("variable '%.*s' begins with constant %d and parameter "
                     "%d, there are %u and %u",
                     printLength(name), name.data, constant, parameter, count(module.constants()),
                     count(module.parameters()));
    uint64_t initialBytes = byteLength;
    if (constant >= 0) {
      const fb::Constant &initial = *module.constants()->Get(static_cast<uint32_t>(constant));
      initialBytes = byteLengthOf(initial.dtype(), initial.dims());
    } else if (parameter >= 0) {
      const fb::ExternalParameter &initial =
          *module.parameters()->Get(static_cast<uint32_t>(parameter));
      initialBytes = byteLengthOf(initial.dtype(), initial.dims());
    }
    if (initialBytes != byteLength)
      return corrupt("variable '%.*s' takes %" PRIu64 " bytes, its initial value has %" PRIu64,
                     printLength(name), name.data, byteLength, initialBytes);
  }
  return verifyNamesDiffer("variables", std::move(names));
}

const fb::InitPlan *Verifier::initPlanOf(uint32_t target) const {
  for (uint32_t i = 0; i < count(module.init_plans()); ++i)
    if (module.init_plans()->Get(i)->target() == target)
      return module.init_plans()->Get(i);
  return nullptr;
}

Status Verifier::verifyInitPlans() {
  for (uint32_t i = 0; i < count(module.init_plans()); ++i) {
    const fb::InitPlan &init = *module.init_plans()->Get(i);
    if (init.target() >= count(module.targets()))
      return corrupt("an init plan is for target %u, there are %u", init.target(),
                     count(module.targets()));
    if (initPlanOf(init.target()) != &init)
      return corrupt("target %u has two init plans", init.target());
    if (!areAligned(init.packed_sizes()))
      return corrupt("the packed sizes of target %u are not aligned", init.target());
    for (uint32_t j = 0; j < count(init.packed_sizes()); ++j)
      if (init.packed_sizes()->Get(j) > INT64_MAX)
        return corrupt("packed buffer %u takes %" PRIu64 " bytes", j, init.packed_sizes()->Get(j));
    if (!init.plan())
      return corrupt("the init plan of target %u is empty", init.target());
    if (init.plan()->target() != init.target())
      return corrupt("the init plan of target %u is for target %u", init.target(),
                     init.plan()->target());
    PlanContext context;
    context.owner = xcr_string("the init plan");
    context.packedSizes = init.packed_sizes();
    XCR_RETURN_IF_ERROR(verifyPlan(*init.plan(), context));
  }
  return Status();
}
