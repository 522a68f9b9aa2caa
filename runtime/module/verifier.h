//===- verifier.h - Checking the tables of a module ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_VERIFIER_H
#define XC_RUNTIME_MODULE_VERIFIER_H

#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/module/tables.h"

namespace xc {

/// Checks everything that the FlatBuffer verifier does not know: that every
/// ordinal, range, enum value, size, alignment and formula means something.
/// What depends on symbolic dimensions is checked again when they are known.
///
/// The methods are spread over verify_*.cpp by what they look at.
class Verifier {
public:
  Verifier(const HostAllocator &allocator, const fb::Module &module, uint64_t tablesEnd,
           uint64_t fileSize)
      : allocator(allocator), module(module), tablesEnd(tablesEnd), fileSize(fileSize),
        mostVisits(visitsFor(tablesEnd)) {}

  /// CORRUPT, or INCOMPATIBLE for a feature that this library does not know.
  Status verify();

  /// Tables may share parts, and what shares them looks at them again: this many parts are looked
  /// at, whatever a file makes of its bytes. What a plan takes of memory when it runs keeps within
  /// this, too.
  static uint64_t visitsFor(uint64_t bytes);
  /// How many parts have been looked at.
  uint64_t visitCount() const { return visits.get(); }

private:
  /// Who uses a plan, and what it may use.
  struct PlanContext {
    xcr_string_view_t owner;                ///< function name, for messages
    const fb::Function *function = nullptr; ///< null for an init plan
    uint32_t symbolCount = 0;
    const flatbuffers::Vector<uint64_t> *packedSizes = nullptr;
  };

  // verify_module.cpp
  Status verifyTargets();
  Status verifyConstants();
  Status verifyParameters();
  Status verifyVariables();
  Status verifyInitPlans();
  Status verifyData(const char *kind, uint32_t ordinal, fb::DType dtype,
                    const flatbuffers::Vector<int64_t> *dims, uint64_t *byteLength);
  Status verifyBlob(const char *kind, uint32_t ordinal, const fb::BlobRef *blob);
  /// \p kind: plural, for the message. Takes O(n log n) whatever the names.
  Status verifyNamesDiffer(const char *kind, Vector<xcr_string_view_t> names);
  const fb::InitPlan *initPlanOf(uint32_t target) const;

  // verify_code.cpp
  Status verifyExecutable(uint32_t ordinal);
  Status verifyExport(uint32_t executable, const fb::Export &entry);
  Status verifyParameters(const fb::Export &entry);
  Status verifyExportValue(const fb::Executable &code, const fb::Export &entry,
                           const fb::Value *value);
  Status verifyOperands(const fb::Executable &code, const fb::Export &entry);
  Status verifyTensorMap(const fb::Export &entry, const fb::TensorMap &map);
  Status verifyImageMap(const char *name, const fb::TensorMap &map);

  // verify_function.cpp
  Status verifyFunction(uint32_t ordinal);
  Status verifyArgument(const fb::Function &function, const char *kind, uint32_t ordinal,
                        const fb::Argument *argument);
  Status verifyAliases(const fb::Function &function);
  Status verifySymbols(const fb::Function &function);
  Status verifyRequirements(const fb::Function &function);
  Status verifyFormulas(xcr_string_view_t owner, const FormulaCode *code,
                        const FormulaRanges *formulas, uint32_t symbolCount);

  // verify_plan.cpp
  Status verifyPlan(const fb::Plan &plan, const PlanContext &context);
  Status verifyRegions(const fb::Plan &plan, const PlanContext &context);
  Status verifyCommand(const fb::Plan &plan, const PlanContext &context, const fb::Region &region,
                       uint32_t region_ordinal, uint32_t ordinal);
  Status verifyNested(const fb::Plan &plan, const PlanContext &context, uint32_t regionOrdinal,
                      const fb::Range &regions);

  // verify_command.cpp
  Status verifyDispatches(const fb::Plan &plan, const PlanContext &context);
  /// Of every command that runs it, whatever other commands share.
  CheckedCount costOf(const fb::Plan &plan, const fb::Dispatch &dispatch) const;
  Status verifyVariant(const fb::Plan &plan, const PlanContext &context,
                       const fb::Dispatch &dispatch, const fb::Variant &variant);
  Status verifyGuard(const fb::Plan &plan, const PlanContext &context, const fb::Dispatch &dispatch,
                     const fb::Guard &guard);
  Status verifyTransfers(const fb::Plan &plan, const PlanContext &context);
  Status verifyBinding(const fb::Plan &plan, const PlanContext &context, const fb::Binding &binding,
                       bool mustRead, bool mustWrite);
  /// Bytes of the buffer that a binding selects, UINT64_MAX where only binding
  /// time knows; false if there is no such buffer.
  bool sizeOfSpace(const fb::Plan &plan, const PlanContext &context, const fb::Binding &binding,
                   uint64_t *size) const;

  bool isValid(const fb::Value &value, const FormulaRanges *formulas) const {
    return value.formula() < 0 ? value.literal() >= 0
                               : static_cast<uint32_t>(value.formula()) < count(formulas);
  }
  [[gnu::format(printf, 2, 3)]] Status corrupt(const char *format, ...);
  /// CORRUPT if \p parts more are too many.
  Status visit(CheckedCount parts);
  Status visit(uint64_t parts) { return visit(CheckedCount(parts)); }

  const HostAllocator &allocator;
  const fb::Module &module;
  const uint64_t tablesEnd, fileSize, mostVisits;
  CheckedCount visits;
  Vector<uint64_t> dispatchCosts{allocator}; ///< of the plan that is looked at
};

/// Bytes of a constant, parameter or variable of a verified module.
uint64_t byteLengthOf(fb::DType dtype, const flatbuffers::Vector<int64_t> *dims);

} // namespace xc

#endif // XC_RUNTIME_MODULE_VERIFIER_H
