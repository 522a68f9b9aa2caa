//===- instance.h - A module's variables on a device ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_INSTANCE_H
#define XC_RUNTIME_MODULE_INSTANCE_H

#include "runtime/hal/buffer.h"
#include "runtime/module/program.h"
#include "runtime/module/variable_order.h"

/// See xcr.h. Thread-safe.
struct xcr_instance final : xc::RefCounted {
  static xc::Status create(xc::Ref<xcr_device> device, xc::Ref<xcr_module> module,
                           const xc::GivenParameters &parameters, xc::Ref<xcr_instance> *out);

  xcr_device &device() const { return program->device(); }
  xcr_module &module() const { return program->module(); }

  xc::Status findVariable(xcr_string_view_t name, uint32_t *out) const;
  /// With a reference, since another thread may replace it.
  xc::Ref<xcr_buffer> variable(uint32_t ordinal) const;
  xc::Status setVariable(uint32_t ordinal, xcr_buffer *buffer);
  uint32_t variableCount() const { return static_cast<uint32_t>(variables.size()); }
  /// Changes when a variable gets another buffer.
  uint64_t variableEpoch() const { return epoch.load(std::memory_order_acquire); }

  /// Of the launches that touch variables.
  xc::VariableOrder &variableOrder() { return order; }

  /// A call of \p function that nobody uses, kept by the instance for
  /// xcr_invoke. It does not retain the instance.
  xc::Status borrowCall(const xcr_function &function, xcr_call **out);
  void returnCall(xcr_call *call);

  const xc::HostAllocator allocator;
  const xc::Ref<xc::Program> program;

private:
  friend class xc::HostAllocator;
  explicit xcr_instance(xc::Ref<xc::Program> program);
  ~xcr_instance() override;
  void destroy() override;
  xc::Status createVariables();

  mutable xc::Mutex variableMutex;
  xc::Vector<xc::Ref<xcr_buffer>> variables;
  std::atomic<uint64_t> epoch{1};

  xc::VariableOrder order;

  xc::Mutex callMutex;
  xc::Vector<xcr_call *> freeCalls; ///< holds a reference each
};

#endif // XC_RUNTIME_MODULE_INSTANCE_H
