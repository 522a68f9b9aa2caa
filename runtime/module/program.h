//===- program.h - A module's code and data on a device ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_PROGRAM_H
#define XC_RUNTIME_MODULE_PROGRAM_H

#include "runtime/hal/device.h"
#include "runtime/module/module.h"
#include "runtime/module/parameter_file.h"

namespace xc {

/// The target of \p module that fits \p device best. INCOMPATIBLE lists what
/// every target needs. Reads no blobs.
Status chooseTarget(const xcr_module &module, const xcr_device &device, uint32_t *out);

/// What the caller says about the scopes of external parameters.
struct GivenParameters {
  Span<const xcr_parameter_source_t> files;
  Span<const xcr_parameter_memory_t> memories;
};

/// Scope and place of a parameter file.
struct ParameterSource {
  explicit ParameterSource(const HostAllocator &allocator) : scope(allocator), path(allocator) {}
  bool isInMemory() const { return memory.data != nullptr; }
  String scope, path;
  Span<const uint8_t> memory; ///< while the instance is made; else the path counts
  bool isGiven = false;       ///< by the caller; else the path is the scope
};

/// What the instances of one module on one device share: loaded code,
/// constants, parameters, packed weights. Immutable once it is made. The module
/// keeps a list of its programs, so that a second instance finds the first
/// one's.
class Program final : public RefCounted {
public:
  /// A program whose parameters are in memory is shared with nobody, since that memory may hold
  /// something else later; releaseParameters() ends its use.
  static Status get(Ref<xcr_device> device, Ref<xcr_module> module, const GivenParameters &given,
                    Ref<Program> *out);

  xcr_device &device() const { return *deviceRef; }
  xcr_module &module() const { return *moduleRef; }
  uint32_t target() const { return targetOrdinal; }
  /// Null for executables of other targets.
  hal::Executable *executable(uint32_t ordinal) const { return executables[ordinal].get(); }
  /// Null for what no plan of the target uses.
  hal::Memory *constant(uint32_t ordinal) const { return constants[ordinal].get(); }
  hal::Memory *parameter(uint32_t ordinal) const { return parameters[ordinal].get(); }
  uint32_t packedCount() const { return static_cast<uint32_t>(packed.size()); }
  hal::Memory *packedMemory(uint32_t ordinal) const { return packed[ordinal].get(); }
  /// Fills \p memory with the first value of a variable.
  Status initialiseVariable(uint32_t ordinal, hal::Memory &memory);
  /// Forgets parameters in memory, once the variables of the one instance have their values.
  void releaseParameters();

private:
  friend class xc::HostAllocator;
  Program(Ref<xcr_device> device, Ref<xcr_module> module, uint32_t target);
  ~Program() override;
  void destroy() override;

  Status initialise();
  Status loadExecutables();
  Status loadAlternative(uint32_t begin, uint32_t end);
  Status loadConstant(uint32_t ordinal, Ref<hal::Memory> *out);
  Status loadParameter(uint32_t ordinal, Ref<hal::Memory> *out);
  size_t parameterSource(uint32_t ordinal) const;
  Status parameterFile(uint32_t ordinal, const ParameterFile **out);
  Status openParameters(size_t source);
  template <typename F> Status withParameter(uint32_t ordinal, F &&use);
  Status allocateData(uint64_t size, uint32_t alignment, Ref<hal::Memory> *out);
  Status copyTo(hal::Memory &memory, const ByteRange &range, uint64_t *digest);
  Status upload(const ByteRange &range, uint32_t alignment, bool mayShare, Ref<hal::Memory> *out,
                uint64_t *digest);
  Status runInitPlan(const fb::InitPlan &init);
  Status fillZero(hal::Memory &memory);

  const HostAllocator allocator;
  const Ref<xcr_module> moduleRef;
  const Ref<xcr_device> deviceRef;
  const uint32_t targetOrdinal;
  Vector<ParameterSource> sources;
  Mutex fileMutex;             ///< guards `files` once instances exist
  Vector<ParameterFile> files; ///< of the sources, opened when first needed
  Vector<Ref<hal::Executable>> executables;
  Vector<Ref<hal::Memory>> constants, parameters, packed;
  Program *next = nullptr; ///< in the module's list, under its mutex
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_PROGRAM_H
