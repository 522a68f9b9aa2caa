//===- call.h - Buffers bound to a function ------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_CALL_H
#define XC_RUNTIME_MODULE_CALL_H

#include "runtime/module/instance.h"
#include "runtime/module/plan_resolver.h"
#include "runtime/module/shapes.h"

namespace xc {

/// "expected 2x3xf32, got 2x4xf32" for the argument called \p name.
Status describeMismatch(const HostAllocator &allocator, const char *kind, const char *name,
                        const hal::Layout &expected, const hal::Layout &got);

} // namespace xc

/// See xcr.h. One thread at a time.
struct xcr_call final : xc::RefCounted {
  static xc::Status create(xcr_instance &instance, const xcr_function &function, uint32_t flags,
                           bool retainsInstance, xc::Ref<xcr_call> *out);

  const xcr_function &function() const { return *target; }
  xcr_device &device() const { return instance.device(); }
  xc::Status setInput(uint32_t ordinal, xcr_buffer *buffer);
  xc::Status setOutput(uint32_t ordinal, xcr_buffer *buffer);
  /// Hands over an output and lets the call forget it.
  xc::Ref<xcr_buffer> takeOutput(uint32_t ordinal);
  /// Forgets every input and output.
  void unbind();
  xcr_buffer *input(uint32_t ordinal) const;
  xcr_buffer *output(uint32_t ordinal) const;
  xc::Status queryOutputShape(uint32_t ordinal, int64_t *shape);

  xc::Status prepare(xc::hal::Stream &stream);
  xc::Status launch(xc::hal::Stream &stream, xc::hal::LaunchMode mode);
  /// Launches on a stream of the device's own and waits.
  xc::Status run();

  // call_steps.cpp
  xc::Status beginSteps(uint32_t *count);
  xc::Status step();
  uint32_t nextCommand() const { return nextStep; }
  xc::Status command(uint32_t ordinal, xcr_command_info_t *out) const;
  xc::Status binding(uint32_t command, uint32_t ordinal, xcr_binding_info_t *out) const;
  xc::Status readBinding(uint32_t command, uint32_t ordinal, uint64_t offset, void *data,
                         size_t size);

  void statistics(xcr_call_statistics_t *out) const;
  uint32_t profileCount() const;
  xc::Status profile(uint32_t entry, xcr_profile_entry_t *out) const;

  const xc::HostAllocator allocator;

private:
  friend class xc::HostAllocator;
  xcr_call(xcr_instance &instance, const xcr_function &function, bool retainsInstance);
  ~xcr_call() override = default;
  void destroy() override;

  xc::Status initialise(uint32_t flags);
  const xc::fb::Argument &inputTable(uint32_t ordinal) const;
  const xc::fb::Argument &outputTable(uint32_t ordinal) const;
  xc::Status checkBuffer(const char *kind, uint32_t ordinal, const xc::fb::Argument &argument,
                         const xcr_buffer &buffer) const;
  void replace(xc::Ref<xcr_buffer> &place, xc::Ref<xcr_buffer> buffer);
  xc::Status bindShapes();
  xc::Status checkShape(const char *kind, uint32_t ordinal, const xc::fb::Argument &argument,
                        const xcr_buffer &buffer) const;
  xc::Status provideOutput(uint32_t ordinal);
  xc::Status checkOverlaps();
  void setBuffers();
  void takeVariables();
  xc::Status record();
  xc::Status selectRecording();
  xc::Status submit(xc::hal::Stream &stream, xc::hal::LaunchMode mode);
  xc::Status checkSteps(uint32_t command) const;
  xc::Status boundRange(uint32_t command, uint32_t ordinal, xc::BoundRange *out) const;

  xcr_instance &instance;
  const xc::Ref<xcr_instance> instanceRef; ///< null for calls of xcr_invoke
  const xcr_function *const target;
  const xc::fb::Plan *plan = nullptr;
  bool isProfiled = false;
  bool touchesVariables = false, writesVariables = false;

  xc::Vector<xc::Ref<xcr_buffer>> inputs, outputs;
  /// Outputs that the call makes itself, because nobody has set them.
  xc::Vector<uint8_t> isOwnOutput;
  xc::Vector<xc::Ref<xcr_buffer>> variables;
  uint64_t seenEpoch = 0;

  xc::FunctionShapes shapes;
  xc::PlanResolver resolver;
  xc::Vector<xc::hal::CommandChange> changes;
  /// The ranges of memory that a launch uses, in their order, to find overlaps.
  xc::Vector<xc::hal::Access> extents;
  /// What is launched, and what was launched for other choices that sizes decide: sizes on both
  /// sides of a border cost no more than patches once both are there.
  xc::Ref<xc::hal::Recording> recording, otherRecording;
  xc::Vector<uint8_t> recordedChoices, otherChoices;

  bool shapesChanged = true, buffersChanged = true;
  bool needsRecord = true;
  /// The arena that the commands have. Streams keep their base, and this one
  /// is kept alive by lastStream or by the device.
  const xc::hal::Stream *arenaStream = nullptr;
  uint32_t arenaMoves = 0; ///< of it, when they got it
  xc::Ref<xc::hal::Memory> arenaHolder;
  /// Where the last launch that nobody waited for was made.
  xc::Ref<xc::hal::Stream> lastStream;
  xc::hal::Stream *ownStream = nullptr; ///< the device's, used by run() before
  xc::Ref<xc::hal::Event> orderEvent;
  /// Of a call that is run command by command, with an arena that nobody else writes to.
  xc::Ref<xc::hal::Stream> stepStream;
  /// A region that is being run in steps.
  struct StepRegion {
    uint32_t next, end; ///< commands
    uint32_t control;   ///< the command whose region it is
    uint32_t which;     ///< of the two
  };
  xc::Status enterRegion(uint32_t control, uint32_t which);
  xc::Status findNextStep();
  xc::Status decide(uint32_t control);
  xc::Vector<StepRegion> stepRegions; ///< innermost last
  uint32_t nextStep = 0;

  uint64_t launchCount = 0, checkCount = 0;
  xc::hal::UpdateCost cost;
};

#endif // XC_RUNTIME_MODULE_CALL_H
