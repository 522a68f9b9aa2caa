//===- plan_resolver.h - Turning a plan into commands with addresses -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_PLAN_RESOLVER_H
#define XC_RUNTIME_MODULE_PLAN_RESOLVER_H

#include "runtime/base/checked.h"
#include "runtime/module/command_order.h"
#include "runtime/module/tables.h"
#include "runtime/module/temporaries.h"

namespace xc {

class Program;

/// A binding of a command for the sizes and buffers bound now.
struct BoundRange {
  const fb::Binding *table = nullptr;
  uint64_t address = 0, offset = 0, length = 0; ///< offset within its buffer
  /// What the kernel takes it for; null where the module does not tell.
  const fb::Operand *operand = nullptr;
  /// Of the operand, -1 where a dim is not known; the first XCR_MAX_RANK.
  int64_t dims[XCR_MAX_RANK] = {};
};

/// Keeps the commands of a plan up to date with the addresses of its buffers
/// and the values of its symbols, and tells which commands have changed.
class PlanResolver {
public:
  explicit PlanResolver(const HostAllocator &allocator);

  /// Sizes everything for \p plan and takes constants, parameters and packed
  /// buffers from \p program. UNSUPPORTED for what this version cannot run.
  /// \p owner is for messages.
  Status initialise(const Program &program, const fb::Plan &plan, xcr_string_view_t owner,
                    uint32_t inputs, uint32_t outputs);

  /// Tells where a buffer is now.
  void setBuffer(fb::Space space, uint32_t ordinal, uint64_t address, uint64_t size);
  /// Tells the values of the symbols, evaluates what depends on them and makes the choices that
  /// sizes decide. Another choice is another list of commands.
  Status setSymbols(Span<const int64_t> symbols);
  /// Which region each choice of the plan runs; the list has the commands of these.
  Span<const uint8_t> choices() const { return chosenRegions.span(); }
  /// What the plan takes of the stream's arena: nothing where temporaries are separate.
  uint64_t arenaBytes() const { return isSeparate ? 0 : arenaSize; }
  /// What is reserved for it: where ranges bound the symbols, what the largest sizes take, so that
  /// an arena does not grow between calls; no more than is needed where that is much.
  uint64_t arenaRoom() const;
  /// Gives each temporary new memory if \p device separates them; \p lastUser, which may be null,
  /// may still use what they had.
  Status renewTemporaries(hal::Device &device, hal::Stream *lastUser);
  void releaseTemporaries(hal::Stream *lastUser) { temporaries.clear(lastUser); }

  /// Brings the commands up to date. \p changes: those that differ from what
  /// the last successful call told.
  Status resolve(Vector<hal::CommandChange> *changes);
  /// The driver failed to take the changes: the next call tells all commands.
  void invalidate() { isUntold = true; }

  hal::CommandList list() const;
  uint32_t emptyCount() const;
  /// Whether the plan reads (1) or writes (2) a variable.
  uint8_t variableAccess(uint32_t ordinal) const { return variableUse[ordinal]; }
  /// For messages and profiles.
  const fb::Export *exportOf(uint32_t command) const;
  xcr_string_view_t locationOf(uint32_t command) const;
  /// Bytes moved and operations of a dispatch as the compiler counted them, or
  /// -1.
  void countWork(uint32_t command, int64_t *bytes, int64_t *flops) const;
  /// The ordinals of a dispatch's code in the module's tables.
  void codeOfDispatch(uint32_t command, uint32_t *executable, uint32_t *exportOrdinal) const;
  uint64_t workspaceBytes(uint32_t command) const;
  /// Bindings of the plan that a command uses: a dispatch's in order; source and target of a copy;
  /// the target of a fill.
  uint32_t bindingCount(uint32_t command) const;
  /// Where such a binding is, once the commands are resolved.
  Status bindingAt(uint32_t command, uint32_t binding, BoundRange *out) const;

private:
  struct Buffer {
    uint64_t address = 0, size = 0;
    /// What the commands have.
    uint64_t resolvedAddress = 0, resolvedSize = 0;
    bool isListed = false; ///< in changedBuffers
  };
  /// Where a command has a buffer's address, to which it adds an offset that only sizes change.
  struct Use {
    uint32_t command;
    uint32_t place; ///< in `addresses`, or kNoPlace where more follows from the address
  };
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  struct Failure {
    uint32_t formula;
    FormulaError error;
  };
  /// No alignment that a variant asks for changes where a buffer moves by a multiple of this; a
  /// dispatch that asks for a larger one is resolved anew.
  static constexpr uint64_t kNeutralMove = 256;
  /// Beside hal::ChangeBits.
  static constexpr uint8_t kUnresolved = 128;
  static constexpr uint32_t kSpaces = static_cast<uint32_t>(fb::Space::MAX) + 1;

  uint32_t bufferIndex(fb::Space space, uint32_t ordinal) const {
    return spaceBegins[static_cast<uint32_t>(space)] + ordinal;
  }
  Status evaluate(Span<const int64_t> symbols);
  Status findNeededFailure(const Failure **out) const;
  void noteNeeded(Vector<uint8_t> &isNeeded) const;
  Status choose();
  void noteVariableUse();
  Status layOut();
  Status layOutCommand(uint32_t ordinal, CheckedCount *addressCount, CheckedCount *scalarCount);
  Status tooMany(const char *what) const;
  Status indexUses();
  template <typename Function> void forBindings(Function function) const;
  bool asksForAlignment(const fb::Dispatch &dispatch) const;
  void followBuffer(Buffer &buffer, uint32_t index);
  void settle();
  Status findTemporaries(hal::Stream *lastUser);
  Status resolveCommand(uint32_t ordinal, bool sizesChanged, uint8_t *bits);
  Status resolveDispatch(uint32_t ordinal, bool sizesChanged, hal::Command &command, uint8_t *bits);
  Status resolveVariant(uint32_t ordinal, const fb::Variant &variant, hal::Command &command,
                        uint8_t *bits);
  Status resolveTransfer(uint32_t ordinal, hal::Command &command, uint8_t *bits);
  Status resolveBinding(uint32_t ordinal, const fb::Binding &binding, uint64_t *address,
                        uint64_t *length, uint8_t *bits) const;
  bool guardsHold(const fb::Dispatch &dispatch, const fb::Variant &variant,
                  const hal::Command &command) const;
  Status fault(uint32_t ordinal, const char *what, int64_t value) const;
  const fb::Command &tableOf(uint32_t command) const;
  const fb::Executable &executableOf(uint32_t command) const;
  int64_t evaluateForExport(uint32_t command, const fb::Value &value) const;

  const HostAllocator &allocator;
  const Program *program = nullptr;
  const fb::Plan *plan = nullptr;
  /// Vectors of the plan, whose look-up costs more than what is done with an element.
  const fb::Command *planCommands = nullptr; ///< of all regions
  const fb::Dispatch *dispatches = nullptr;
  const fb::Variant *variants = nullptr;
  const fb::Binding *bindings = nullptr;
  xcr_string_view_t owner = {nullptr, 0};

  Vector<Buffer> buffers; ///< of all spaces, one after the other
  uint32_t spaceBegins[kSpaces + 1] = {};
  Vector<uint8_t> variableUse;
  /// Who uses a buffer: uses[useBegins[b] .. useBegins[b+1]].
  Vector<uint32_t> useBegins;
  Vector<Use> uses;
  Vector<uint32_t> changedBuffers; ///< since the last resolve; there is room for all

  Vector<int64_t> results;       ///< of the plan's formulas
  Vector<Failure> failures;      ///< formulas that have none
  Vector<uint8_t> chosenRegions; ///< of the plan's choices
  uint64_t arenaSize = 0;
  bool isSeparate = false, knowsTemporaries = false;
  Temporaries temporaries; ///< if isSeparate

  CommandOrder order;
  bool isLaidOut = false;        ///< for the choices made; not after a failure
  Vector<hal::Command> commands; ///< of the list
  Vector<uint64_t> addresses;
  Vector<int64_t> scalars;
  Vector<uint32_t> chosenVariants; ///< ordinal in the plan
  /// Of a command: what has changed of it, not told yet, and kUnresolved.
  Vector<uint8_t> pending;
  Vector<uint32_t> dirty; ///< commands with something pending; there is room for all
  bool allDirty = true;
  bool isUntold = true; ///< nobody knows the commands as they are
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_PLAN_RESOLVER_H
