//===- module.h - A verified module --------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_MODULE_H
#define XC_RUNTIME_MODULE_MODULE_H

#include "runtime/base/file.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/threads.h"
#include "runtime/module/tables.h"
#include "schemas/module_header.h"

namespace xc {
class Program;
} // namespace xc

/// Lent by its module.
struct xcr_function {
  xcr_module_t *module = nullptr;
  uint32_t ordinal = 0;
  const xc::fb::Function *table = nullptr;
  /// What xcr_argument_info_t lends: the dims of inputs, then of outputs.
  const xcr_dim_t *dims = nullptr;

  /// Null if the function has no plan for \p target.
  const xc::fb::Plan *planFor(uint32_t target) const;
};

/// See xcr.h. The tables are a copy on the heap and verified; blobs are read from the file, or lie
/// in the caller's memory. Immutable but for the list of programs and the images that were read.
struct xcr_module final : xc::RefCounted {
  static xc::Status loadFile(const xc::HostAllocator &allocator, xcr_string_view_t path,
                             uint32_t flags, xc::Ref<xcr_module> *out);
  static xc::Status loadMemory(const xc::HostAllocator &allocator, xc::Span<const uint8_t> bytes,
                               uint32_t flags, xc::Ref<xcr_module> *out);

  const xc::fb::Module &tables() const { return *root; }
  xc::Span<const uint8_t> tableBytes() const { return {tableMemory, header.tablesSize}; }
  /// The bytes of constant \p ordinal, whose checksum whoever reads them checks.
  xc::Status constantBytes(uint32_t ordinal, xc::ByteRange *out) const;
  xc::Status checkConstant(uint32_t ordinal, uint64_t digest) const;
  /// The code of executable \p ordinal, its checksum checked. It stays as long as the module.
  xc::Status image(uint32_t ordinal, xc::Span<const uint8_t> *out) const;
  xc::Status findFunction(xcr_string_view_t name, const xcr_function **out) const;
  /// The ordinal, or -1.
  int64_t findVariable(xcr_string_view_t name) const;

  const xc::HostAllocator allocator;
  xc::String path; ///< empty for a module from memory
  xc::ModuleHeader header = {};
  uint32_t flags = 0;
  xc::Vector<xcr_function> functions;
  void (*releaseMemory)(void *) = nullptr; ///< of a module from memory
  void *releaseData = nullptr;

  /// Programs made from this module, not retained. See program.h.
  xc::Mutex programMutex;
  xc::Program *programs = nullptr;

private:
  friend class xc::HostAllocator;
  explicit xcr_module(const xc::HostAllocator &allocator)
      : allocator(allocator), path(allocator), functions(allocator), images(allocator),
        dims(allocator) {}
  ~xcr_module() override;
  void destroy() override { allocator.destroy(this); }

  struct Blob {
    const xc::fb::BlobRef *reference = nullptr;
    const char *what = nullptr; ///< whose bytes they are
    uint32_t ordinal = 0;
    uint64_t begin() const { return reference->offset(); }
    uint64_t end() const { return reference->offset() + reference->size(); }
    bool isSameRange(const Blob &other) const {
      return begin() == other.begin() && end() == other.end();
    }
  };

  xc::Status verifyHeader(xc::Span<const uint8_t> bytes, uint64_t fileSize);
  xc::Status verifyTables();
  xc::Status listBlobs(xc::Vector<Blob> *out) const;
  xc::Status verifyBlobs();
  xc::Status verifyPadding();
  xc::Status blobRange(const xc::fb::BlobRef &reference, const char *what, uint32_t ordinal,
                       xc::ByteRange *out) const;
  xc::Status checkDigest(const xc::fb::BlobRef &reference, const char *what, uint32_t ordinal,
                         uint64_t digest) const;
  xc::Status readImage(uint32_t ordinal, xc::Vector<uint8_t> *out) const;
  /// \p isZero becomes false if a byte of [\p begin, \p end) is not zero.
  xc::Status checkZero(uint64_t begin, uint64_t end, bool *isZero) const;
  xc::Status checkNativeCode() const;
  xc::Status listFunctions();

  uint8_t *tableMemory = nullptr;
  const xc::fb::Module *root = nullptr;
  /// The whole file; empty where only the metadata was asked for.
  xc::ByteSource source;
  mutable xc::Mutex imageMutex; ///< guards `images`
  /// Of a file: the code that has been asked for, by executable.
  mutable xc::Vector<xc::Vector<uint8_t>> images;
  xc::Vector<xcr_dim_t> dims;
};

#endif // XC_RUNTIME_MODULE_MODULE_H
