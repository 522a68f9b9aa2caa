//===- verify_code.cpp - Checking the executables of a module ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/verifier.h"

#include "schemas/module_limits.h"

#include <cinttypes>

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
  bool isTiled = map.mode() == fb::TensorMapMode::Tiled;
  if (map.mode() > fb::TensorMapMode::MAX)
    return corrupt("a tensor map of kernel '%s' is of mode %u", name,
                   static_cast<unsigned>(map.mode()));
  if (map.binding() >= entry.binding_count())
    return corrupt("a tensor map of kernel '%s' is of binding %u, there are %u", name,
                   map.binding(), entry.binding_count());
  if (map.dtype() > fb::DType::MAX || map.dtype() == fb::DType::None || rank == 0 ||
      rank > ModuleLimits::kTensorMapRank || count(map.dims()) != rank ||
      count(map.strides()) != rank - 1 || count(map.box()) != (isTiled ? rank : 0) ||
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
  for (uint32_t i = 0; i < count(map.upper_scalars()); ++i)
    isFine &= map.upper_scalars()->Get(i) < static_cast<int64_t>(entry.scalar_count());
  if (!isFine)
    return corrupt("a tensor map of kernel '%s' names a scalar that does not exist", name);
  return isTiled ? Status() : verifyImageMap(name, map);
}

/// What cuTensorMapEncodeIm2col asks of numbers that are in the file; the driver checks those that
/// are known when buffers are bound.
Status Verifier::verifyImageMap(const char *name, const fb::TensorMap &map) {
  uint32_t rank = map.rank(), spatial = rank - 2;
  if (rank < 3)
    return corrupt("an im2col tensor map of kernel '%s' has rank %u, expected 3 to %u", name, rank,
                   ModuleLimits::kTensorMapRank);
  if (count(map.lower_corner()) != spatial || count(map.upper_corner()) != spatial)
    return corrupt("an im2col tensor map of kernel '%s' has corners of %u and %u numbers, expected "
                   "%u",
                   name, count(map.lower_corner()), count(map.upper_corner()), spatial);
  if (count(map.upper_scalars()) != 0 && count(map.upper_scalars()) != spatial)
    return corrupt("an im2col tensor map of kernel '%s' has %u scalars for corners, expected %u",
                   name, count(map.upper_scalars()), spatial);
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t step = map.element_strides()->Get(i);
    const fb::Value &size = *map.dims()->Get(i);
    if (step < 1 || step > 8)
      return corrupt("an im2col tensor map of kernel '%s' goes in steps of %u elements along dim "
                     "%u, expected 1 to 8",
                     name, step, i);
    if (size.formula() < 0 && (size.literal() < 1 || size.literal() > int64_t(1) << 32))
      return corrupt("an im2col tensor map of kernel '%s' has %" PRId64 " elements along dim %u, "
                     "expected 1 to 2^32",
                     name, size.literal(), i);
  }
  // The fewer spatial dims, the more bits a corner has.
  const int32_t limit = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
  for (uint32_t i = 0; i < spatial; ++i) {
    int32_t lower = map.lower_corner()->Get(i), upper = map.upper_corner()->Get(i);
    if (lower < -limit || lower >= limit || upper < -limit || upper >= limit)
      return corrupt("an im2col tensor map of kernel '%s' has corners %d and %d, expected numbers "
                     "from %d to %d with %u spatial dims",
                     name, lower, upper, -limit, limit - 1, spatial);
    const fb::Value &size = *map.dims()->Get(i + 1);
    bool isNumber = count(map.upper_scalars()) == 0 || map.upper_scalars()->Get(i) < 0;
    if (size.formula() < 0 && isNumber && size.literal() + upper - lower <= 0)
      return corrupt("an im2col tensor map of kernel '%s' has no pixels between corners %d and %d "
                     "of %" PRId64,
                     name, lower, upper, size.literal());
  }
  if (map.channels() < 1 || map.channels() > 256 || map.pixels() < 1 || map.pixels() > 1024)
    return corrupt("an im2col tensor map of kernel '%s' has columns of %u channels and %u pixels, "
                   "expected 1 to 256 and 1 to 1024",
                   name, map.channels(), map.pixels());
  uint64_t bytes = map.channels() * elementBytes(map.dtype());
  uint64_t line = map.swizzle() == 0 ? UINT64_MAX : uint64_t(16) << map.swizzle();
  if (map.swizzle() > 3 || map.interleave() != 0 || map.l2_promotion() > 3 || map.oob_fill() > 1 ||
      bytes % 16 != 0 || bytes > line)
    return corrupt("an im2col tensor map of kernel '%s' has %" PRIu64 " bytes of channels, "
                   "interleave %u, swizzle %u, L2 promotion %u and fill %u, expected a multiple of "
                   "16 bytes that a swizzled line fits, no interleave, and what the driver knows",
                   name, bytes, map.interleave(), map.swizzle(), map.l2_promotion(),
                   map.oob_fill());
  for (uint32_t i = 0; i + 1 < rank; ++i) {
    const fb::Value &stride = *map.strides()->Get(i);
    if (stride.formula() < 0 && (stride.literal() % 16 || stride.literal() >= int64_t(1) << 40))
      return corrupt("an im2col tensor map of kernel '%s' has a stride of %" PRId64 " bytes, "
                     "expected a multiple of 16 below 2^40",
                     name, stride.literal());
  }
  if (map.offset() && map.offset()->formula() < 0 && map.offset()->literal() % 16)
    return corrupt("an im2col tensor map of kernel '%s' begins at byte %" PRId64 ", expected a "
                   "multiple of 16",
                   name, map.offset()->literal());
  return Status();
}
