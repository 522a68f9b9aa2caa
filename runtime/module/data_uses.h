//===- data_uses.h - Which constants and parameters plans read ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_DATA_USES_H
#define XC_RUNTIME_MODULE_DATA_USES_H

#include "runtime/module/module.h"

namespace xc {

/// For each constant and parameter of a module what of one target reads it: a module for several
/// targets may hold some that this one never reads.
class DataUses {
public:
  enum Reader : uint8_t { Calls = 1, Init = 2 };

  explicit DataUses(const HostAllocator &allocator) : constants(allocator), parameters(allocator) {}

  Status find(const xcr_module &module, uint32_t target);

  /// Sums of `Reader`s.
  Vector<uint8_t> constants, parameters;

private:
  void mark(const fb::Binding &binding, Reader reader);
  void mark(const fb::Plan *plan, Reader reader);
};

/// The init plan of \p target; null if it has none.
const fb::InitPlan *findInitPlan(const fb::Module &tables, uint32_t target);

} // namespace xc

#endif // XC_RUNTIME_MODULE_DATA_USES_H
