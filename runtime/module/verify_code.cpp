//===- verify_code.cpp - Checking the executables of a module ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/verifier.h"

#include "schemas/module_limits.h"

using namespace xc;

Status Verifier::verifyExecutable(uint32_t ordinal) {
  const fb::Executable &code = *module.executables()->Get(ordinal);
  if (code.target() >= count(module.targets()))
    return corrupt("executable %u is for target %u, there are %u", ordinal, code.target(),
                   count(module.targets()));
  if (code.kind() > fb::CodeKind::MAX)
    return corrupt("executable %u is of kind %u", ordinal, static_cast<unsigned>(code.kind()));
  xcr_string_view_t kind = text(module.targets()->Get(code.target())->kind());
  bool isCpu = equal(kind, xcr_string("cpu"));
  if (isCpu != (code.kind() == fb::CodeKind::SharedObject))
    return corrupt("executable %u is of kind %s for target '%.*s'", ordinal,
                   fb::EnumNameCodeKind(code.kind()), printLength(kind), kind.data);
  if (text(code.arch()).size == 0)
    return corrupt("executable %u has no arch", ordinal);
  XCR_RETURN_IF_ERROR(verifyBlob("executable", ordinal, code.image()));
  if (!code.exports())
    return corrupt("executable %u has no kernels", ordinal);
  if (!areAligned(code.formula_code()))
    return corrupt("the formulas of executable %u are not aligned", ordinal);
  XCR_RETURN_IF_ERROR(visit(count(code.formulas())));
  for (uint32_t i = 0; i < count(code.formulas()); ++i)
    if (!isInside(*code.formulas()->Get(i), code.formula_code()))
      return corrupt("formula %u of executable %u is outside its code", i, ordinal);
  for (const fb::Export *entry : *code.exports())
    XCR_RETURN_IF_ERROR(verifyExport(ordinal, *entry));
  return Status();
}

/// Three numbers, each at least one, or none.
static bool isExtent(const flatbuffers::Vector<uint32_t> *extent) {
  if (count(extent) == 0)
    return true;
  return extent->size() == 3 && extent->Get(0) && extent->Get(1) && extent->Get(2);
}

Status Verifier::verifyExport(uint32_t executable, const fb::Export &entry) {
  const fb::Executable &code = *module.executables()->Get(executable);
  xcr_string_view_t name = text(entry.name());
  if (name.size == 0)
    return corrupt("a kernel of executable %u has no name", executable);
  if (!isExtent(entry.block()) || !isExtent(entry.cluster()))
    return corrupt("kernel '%.*s' has a block or cluster that is not three "
                   "positive numbers",
                   printLength(name), name.data);
  if (entry.scratch() > ModuleLimits::kScratchBytes ||
      entry.binding_count() > ModuleLimits::kBindings ||
      entry.scalar_count() > ModuleLimits::kScalars)
    return corrupt("kernel '%.*s' takes %u bytes of scratch, %u bindings and "
                   "%u scalars; at most %u, %u and %u are possible",
                   printLength(name), name.data, entry.scratch(), entry.binding_count(),
                   entry.scalar_count(), ModuleLimits::kScratchBytes, ModuleLimits::kBindings,
                   ModuleLimits::kScalars);
  XCR_RETURN_IF_ERROR(verifyParameters(entry));
  for (uint32_t i = 0; i < count(entry.tensor_maps()); ++i)
    XCR_RETURN_IF_ERROR(verifyTensorMap(entry, *entry.tensor_maps()->Get(i)));
  for (const fb::Value *value : {entry.bytes(), entry.flops()})
    XCR_RETURN_IF_ERROR(verifyExportValue(code, entry, value));
  return verifyOperands(code, entry);
}

/// A number over the kernel's scalars.
Status Verifier::verifyExportValue(const fb::Executable &code, const fb::Export &entry,
                                   const fb::Value *value) {
  if (!value || value->formula() < 0)
    return Status();
  const char *name = entry.name()->c_str();
  if (!isValid(*value, code.formulas()))
    return corrupt("kernel '%s' names formula %d, there are %u", name, value->formula(),
                   count(code.formulas()));
  const fb::Range &range = *code.formulas()->Get(static_cast<uint32_t>(value->formula()));
  XCR_RETURN_IF_ERROR(visit(range.count()));
  if (const char *fault =
          verifyFormula(codeOf(code.formula_code(), range), range.count(), entry.scalar_count(),
                        /*earlierCount=*/0))
    return corrupt("a formula of kernel '%s' %s", name, fault);
  return Status();
}

Status Verifier::verifyOperands(const fb::Executable &code, const fb::Export &entry) {
  uint32_t operands = count(entry.operands());
  if (operands != 0 && operands != entry.binding_count())
    return corrupt("kernel '%s' tells about %u bindings, there are %u", entry.name()->c_str(),
                   operands, entry.binding_count());
  for (uint32_t i = 0; i < operands; ++i) {
    const fb::Operand &operand = *entry.operands()->Get(i);
    if (operand.dtype() == fb::DType::None || operand.dtype() > fb::DType::MAX ||
        !areAligned(operand.dims()))
      return corrupt("binding %u of kernel '%s' has element type %u, or dims that are not aligned",
                     i, entry.name()->c_str(), static_cast<unsigned>(operand.dtype()));
    XCR_RETURN_IF_ERROR(visit(count(operand.dims()) + 1));
    for (uint32_t d = 0; d < count(operand.dims()); ++d)
      XCR_RETURN_IF_ERROR(verifyExportValue(code, entry, operand.dims()->Get(d)));
  }
  return Status();
}

Status Verifier::verifyParameters(const fb::Export &entry) {
  XCR_RETURN_IF_ERROR(visit(count(entry.parameters())));
  for (uint32_t i = 0; i < count(entry.parameters()); ++i) {
    const fb::Parameter &parameter = *entry.parameters()->Get(i);
    uint32_t limit = 1;
    switch (parameter.kind()) {
    case fb::ParameterKind::BindingPointer:
      limit = entry.binding_count();
      break;
    case fb::ParameterKind::ScalarI32:
    case fb::ParameterKind::ScalarI64:
      limit = entry.scalar_count();
      break;
    case fb::ParameterKind::TensorMap:
      limit = count(entry.tensor_maps());
      break;
    case fb::ParameterKind::Workspace:
      continue;
    default:
      limit = 0;
    }
    if (parameter.operand() >= limit)
      return corrupt("parameter %u of kernel '%s' is operand %u of kind %u, "
                     "there are %u",
                     i, entry.name()->c_str(), parameter.operand(),
                     static_cast<unsigned>(parameter.kind()), limit);
  }
  return Status();
}

Status Verifier::verifyTensorMap(const fb::Export &entry, const fb::TensorMap &map) {
  const char *name = entry.name()->c_str();
  uint32_t rank = map.rank();
  if (map.binding() >= entry.binding_count())
    return corrupt("a tensor map of kernel '%s' is of binding %u, there are %u", name,
                   map.binding(), entry.binding_count());
  if (map.dtype() > fb::DType::MAX || map.dtype() == fb::DType::None || rank == 0 ||
      rank > ModuleLimits::kTensorMapRank || count(map.dims()) != rank ||
      count(map.strides()) != rank - 1 || count(map.box()) != rank ||
      count(map.element_strides()) != rank)
    return corrupt("a tensor map of kernel '%s' has element type %u and rank "
                   "%u with %u dims, %u strides, a box of %u and %u element "
                   "strides",
                   name, static_cast<unsigned>(map.dtype()), rank, count(map.dims()),
                   count(map.strides()), count(map.box()), count(map.element_strides()));
  XCR_RETURN_IF_ERROR(visit(2 * rank));
  if (!areAligned(map.dims(), map.strides()))
    return corrupt("a tensor map of kernel '%s' is not aligned", name);
  auto isScalarOrLiteral = [&](const fb::Value *value) {
    return !value ||
           (value->formula() < 0 ? value->literal() >= 0
                                 : static_cast<uint32_t>(value->formula()) < entry.scalar_count());
  };
  bool isFine = isScalarOrLiteral(map.offset());
  for (const auto *values : {map.dims(), map.strides()})
    for (uint32_t i = 0; i < count(values); ++i)
      isFine &= isScalarOrLiteral(values->Get(i));
  return isFine ? Status()
                : corrupt("a tensor map of kernel '%s' names a scalar that "
                          "does not exist",
                          name);
}
