//===- module.cpp - Loading a module -------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/module.h"

#include "runtime/base/nearest_names.h"
#include "runtime/module/chunk_reader.h"
#include "runtime/module/verifier.h"
#include "schemas/module_limits.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cinttypes>

using namespace xc;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the header is read as it lies in the file");

static_assert(ModuleLimits::kTablesSize < FLATBUFFERS_MAX_BUFFER_SIZE,
              "offsets in tables are signed 32-bit numbers");

static constexpr uint64_t kTableAlignment = 64;

const fb::Plan *xcr_function::planFor(uint32_t target) const {
  for (uint32_t i = 0; i < count(table->plans()); ++i)
    if (table->plans()->Get(i)->target() == target)
      return table->plans()->Get(i);
  return nullptr;
}

xcr_module::~xcr_module() {
  if (tableMemory)
    allocator.deallocate(tableMemory, header.tablesSize, kTableAlignment);
  if (releaseMemory)
    releaseMemory(releaseData);
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

Status xcr_module::verifyHeader(Span<const uint8_t> bytes, uint64_t fileSize) {
  size_t shown = std::min(bytes.size, sizeof(ModuleHeader::kMagic));
  if (shown == 0 || memcmp(bytes.data, ModuleHeader::kMagic, shown) != 0)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "not an xcompile module: it does not begin with the "
                      "module's magic bytes; xcompile makes a module of a model");
  if (bytes.size < sizeof(ModuleHeader))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the module is truncated: it has %" PRIu64
                      " bytes, its header alone takes %zu",
                      fileSize, sizeof(ModuleHeader));
  memcpy(&header, bytes.data, sizeof(header));
  uint64_t tablesSize = header.tablesSize;
  // Until the tables are allocated there is nothing of this size to free.
  header.tablesSize = 0;
  if (header.major != ModuleHeader::kMajor)
    return makeStatus(allocator, XCR_STATUS_INCOMPATIBLE,
                      "the module has format version %u.%u, this library "
                      "reads %u.x",
                      header.major, header.minor, ModuleHeader::kMajor);
  if (XXH3_64bits(bytes.data, offsetof(ModuleHeader, headerChecksum)) != header.headerChecksum)
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the module is damaged: the checksum of its header is "
                      "wrong");
  if (header.fileSize != fileSize)
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the module is %s: it has %" PRIu64 " bytes, its header says %" PRIu64,
                      fileSize < header.fileSize ? "truncated" : "damaged", fileSize,
                      header.fileSize);
  if (header.tablesOffset < sizeof(ModuleHeader) || header.tablesOffset % kTableAlignment != 0 ||
      header.reserved != 0 || tablesSize < 2 * sizeof(uint32_t) ||
      tablesSize > ModuleLimits::kTablesSize ||
      !rangeFits(header.tablesOffset, tablesSize, fileSize))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the module is damaged: its tables (%" PRIu64 " bytes at %" PRIu64
                      ") do not lie in its %" PRIu64 " bytes",
                      tablesSize, header.tablesOffset, fileSize);
  tableMemory = static_cast<uint8_t *>(allocator.allocate(tablesSize, kTableAlignment));
  if (!tableMemory)
    return outOfHostMemory(tablesSize);
  header.tablesSize = tablesSize;
  return Status();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Status xcr_module::verifyTables() {
  const uint64_t size = header.tablesSize;
  if (XXH3_64bits(tableMemory, size) != header.tablesChecksum)
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the module is damaged: the checksum of its tables is "
                      "wrong");
  uint32_t prefix;
  memcpy(&prefix, tableMemory, sizeof(prefix));
  flatbuffers::Verifier verifier(
      tableMemory, size, ModuleLimits::kTableDepth,
      static_cast<flatbuffers::uoffset_t>(size / ModuleLimits::kMinTableBytes));
  if (prefix != size - sizeof(prefix) || !fb::VerifySizePrefixedModuleBuffer(verifier))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the module is damaged: its tables are no FlatBuffer of "
                      "the module's schema, or name their parts too often");
  root = fb::GetSizePrefixedModule(tableMemory);
  XCR_RETURN_IF_ERROR(
      Verifier(allocator, *root, header.tablesOffset + size, header.fileSize).verify());
  XCR_RETURN_IF_ERROR(checkNativeCode());
  return listFunctions();
}

Status xcr_module::checkNativeCode() const {
  if (!(flags & XCR_MODULE_REFUSE_NATIVE_CODE))
    return Status();
  for (uint32_t i = 0; i < count(root->executables()); ++i)
    if (root->executables()->Get(i)->kind() == fb::CodeKind::SharedObject)
      return makeStatus(allocator, XCR_STATUS_PERMISSION_DENIED,
                        "the module holds native CPU code (executable %u), "
                        "which XCR_MODULE_REFUSE_NATIVE_CODE forbids",
                        i);
  return Status();
}

/// A dim as metadata: the symbol it equals if its formula is just that.
static xcr_dim_t describeDim(const fb::Function &function, const fb::Value &value) {
  if (value.formula() < 0)
    return {value.literal(), -1};
  const fb::Range &range = *function.formulas()->Get(static_cast<uint32_t>(value.formula()));
  const fb::FormulaInstruction *code = codeOf(function.formula_code(), range);
  if (range.count() == 1 && code->op() == fb::FormulaOp::Symbol)
    return {-1, static_cast<int32_t>(code->operand())};
  if (range.count() == 1)
    return {code->operand(), -1};
  return {-1, -1};
}

Status xcr_module::listFunctions() {
  XCR_RETURN_IF_ERROR(functions.reserve(count(root->functions())));
  Vector<size_t> begins(allocator);
  for (uint32_t i = 0; i < count(root->functions()); ++i) {
    xcr_function function;
    function.module = this;
    function.ordinal = i;
    function.table = root->functions()->Get(i);
    XCR_RETURN_IF_ERROR(begins.push(dims.size()));
    for (const auto *arguments : {function.table->inputs(), function.table->outputs()})
      for (uint32_t a = 0; a < count(arguments); ++a)
        for (uint32_t d = 0; d < count(arguments->Get(a)->dims()); ++d)
          XCR_RETURN_IF_ERROR(
              dims.push(describeDim(*function.table, *arguments->Get(a)->dims()->Get(d))));
    XCR_RETURN_IF_ERROR(functions.push(function));
  }
  // The vector has stopped growing, so that addresses are final.
  for (size_t i = 0; i < functions.size(); ++i)
    functions[i].dims = dims.data() + begins[i];
  return Status();
}

//===----------------------------------------------------------------------===//
// Blobs
//===----------------------------------------------------------------------===//

Status xcr_module::blobRange(const fb::BlobRef &reference, const char *what, uint32_t ordinal,
                             ByteRange *out) const {
  if (source.isEmpty())
    return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "the module was loaded with XCR_MODULE_METADATA_ONLY, so "
                      "the bytes of %s %u are not there",
                      what, ordinal);
  *out = {&source, reference.offset(), reference.size()};
  return Status();
}

Status xcr_module::checkDigest(const fb::BlobRef &reference, const char *what, uint32_t ordinal,
                               uint64_t digest) const {
  if (digest == reference.checksum())
    return Status();
  return makeStatus(allocator, XCR_STATUS_CORRUPT,
                    "the module is damaged: the checksum of %s %u is wrong", what, ordinal);
}

Status xcr_module::constantBytes(uint32_t ordinal, ByteRange *out) const {
  return blobRange(*root->constants()->Get(ordinal)->data(), "constant", ordinal, out);
}

Status xcr_module::checkConstant(uint32_t ordinal, uint64_t digest) const {
  return checkDigest(*root->constants()->Get(ordinal)->data(), "constant", ordinal, digest);
}

Status xcr_module::readImage(uint32_t ordinal, Vector<uint8_t> *out) const {
  const fb::BlobRef &reference = *root->executables()->Get(ordinal)->image();
  XCR_RETURN_IF_ERROR(out->resize(reference.size()));
  XCR_RETURN_IF_ERROR(source.read(allocator, reference.offset(), out->data(), out->size()));
  return checkDigest(reference, "executable", ordinal, XXH3_64bits(out->data(), out->size()));
}

Status xcr_module::image(uint32_t ordinal, Span<const uint8_t> *out) const {
  const fb::BlobRef &reference = *root->executables()->Get(ordinal)->image();
  ByteRange range;
  XCR_RETURN_IF_ERROR(blobRange(reference, "executable", ordinal, &range));
  if (range.data()) {
    *out = {range.data(), range.size};
    return checkDigest(reference, "executable", ordinal, XXH3_64bits(out->data, out->size));
  }
  Lock lock(imageMutex);
  while (images.size() < count(root->executables()))
    XCR_RETURN_IF_ERROR(images.push(Vector<uint8_t>(allocator)));
  Vector<uint8_t> &known = images[ordinal];
  if (known.empty()) {
    Vector<uint8_t> bytes(allocator);
    XCR_RETURN_IF_ERROR(readImage(ordinal, &bytes));
    known = std::move(bytes);
  }
  *out = {known.data(), known.size()};
  return Status();
}

/// All of them, in the order in which they lie in the file.
Status xcr_module::listBlobs(Vector<Blob> *out) const {
  for (uint32_t i = 0; i < count(root->executables()); ++i)
    XCR_RETURN_IF_ERROR(out->push({root->executables()->Get(i)->image(), "executable", i}));
  for (uint32_t i = 0; i < count(root->constants()); ++i)
    XCR_RETURN_IF_ERROR(out->push({root->constants()->Get(i)->data(), "constant", i}));
  std::sort(out->begin(), out->end(), [](const Blob &a, const Blob &b) {
    return a.begin() != b.begin() ? a.begin() < b.begin() : a.end() < b.end();
  });
  return Status();
}

/// Reads each range once, however many constants share it.
Status xcr_module::verifyBlobs() {
  Vector<Blob> blobs(allocator);
  XCR_RETURN_IF_ERROR(listBlobs(&blobs));
  const Blob *last = nullptr;
  uint64_t digest = 0;
  for (const Blob &blob : blobs) {
    if (!last || !blob.isSameRange(*last)) {
      ChunkReader reader(allocator, {&source, blob.begin(), blob.end() - blob.begin()});
      Span<const uint8_t> bytes;
      do
        XCR_RETURN_IF_ERROR(reader.next(&bytes));
      while (bytes.size);
      digest = reader.digest();
      last = &blob;
    }
    XCR_RETURN_IF_ERROR(checkDigest(*blob.reference, blob.what, blob.ordinal, digest));
  }
  return Status();
}

Status xcr_module::checkZero(uint64_t begin, uint64_t end, bool *isZero) const {
  ChunkReader reader(allocator, {&source, begin, end - begin});
  Span<const uint8_t> bytes;
  do {
    XCR_RETURN_IF_ERROR(reader.next(&bytes));
    *isZero &= std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
  } while (bytes.size);
  return Status();
}

/// No checksum covers what lies between tables and blobs. Blobs are the same bytes or apart, so
/// that reading all of them takes no longer than the file.
Status xcr_module::verifyPadding() {
  Vector<Blob> blobs(allocator);
  XCR_RETURN_IF_ERROR(listBlobs(&blobs));
  bool isClean = true;
  XCR_RETURN_IF_ERROR(checkZero(sizeof(ModuleHeader), header.tablesOffset, &isClean));
  uint64_t end = header.tablesOffset + header.tablesSize;
  const Blob *last = nullptr;
  for (const Blob &blob : blobs) {
    if (blob.begin() == blob.end() || (last && blob.isSameRange(*last)))
      continue;
    if (last && blob.begin() < end)
      return makeStatus(allocator, XCR_STATUS_CORRUPT,
                        "the module is damaged: the bytes of %s %u and %s %u overlap", last->what,
                        last->ordinal, blob.what, blob.ordinal);
    XCR_RETURN_IF_ERROR(checkZero(end, blob.begin(), &isClean));
    end = blob.end();
    last = &blob;
  }
  XCR_RETURN_IF_ERROR(checkZero(end, header.fileSize, &isClean));
  return isClean ? Status()
                 : makeStatus(allocator, XCR_STATUS_CORRUPT,
                              "the module is damaged: bytes between its parts "
                              "are not zero");
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status xcr_module::loadFile(const HostAllocator &allocator, xcr_string_view_t path, uint32_t flags,
                            Ref<xcr_module> *out) {
  File file;
  XCR_RETURN_IF_ERROR(File::open(allocator, path, &file));
  auto module = Ref<xcr_module>::adopt(allocator.create<xcr_module>(allocator));
  if (!module)
    return outOfHostMemory(sizeof(xcr_module));
  module->flags = flags;
  XCR_RETURN_IF_ERROR(module->path.assign(path));
  auto load = [&]() -> Status {
    uint8_t first[sizeof(ModuleHeader)];
    size_t firstSize = std::min<uint64_t>(file.size(), sizeof(first));
    XCR_RETURN_IF_ERROR(file.read(allocator, 0, first, firstSize));
    XCR_RETURN_IF_ERROR(module->verifyHeader({first, firstSize}, file.size()));
    XCR_RETURN_IF_ERROR(file.read(allocator, module->header.tablesOffset, module->tableMemory,
                                  module->header.tablesSize));
    XCR_RETURN_IF_ERROR(module->verifyTables());
    if (flags & XCR_MODULE_METADATA_ONLY)
      return Status();
    module->source = ByteSource(std::move(file));
    XCR_RETURN_IF_ERROR(module->verifyPadding());
    return flags & XCR_MODULE_VERIFY_BLOBS ? module->verifyBlobs() : Status();
  };
  XCR_RETURN_IF_ERROR(addContext(load(), allocator, "%.*s: ", printLength(path), path.data));
  *out = std::move(module);
  return Status();
}

Status xcr_module::loadMemory(const HostAllocator &allocator, Span<const uint8_t> bytes,
                              uint32_t flags, Ref<xcr_module> *out) {
  auto module = Ref<xcr_module>::adopt(allocator.create<xcr_module>(allocator));
  if (!module)
    return outOfHostMemory(sizeof(xcr_module));
  module->flags = flags;
  XCR_RETURN_IF_ERROR(module->verifyHeader(bytes, bytes.size));
  memcpy(module->tableMemory, bytes.data + module->header.tablesOffset, module->header.tablesSize);
  XCR_RETURN_IF_ERROR(module->verifyTables());
  if (!(flags & XCR_MODULE_METADATA_ONLY)) {
    module->source = ByteSource(bytes);
    XCR_RETURN_IF_ERROR(module->verifyPadding());
    if (flags & XCR_MODULE_VERIFY_BLOBS)
      XCR_RETURN_IF_ERROR(module->verifyBlobs());
  }
  *out = std::move(module);
  return Status();
}

//===----------------------------------------------------------------------===//
// Finding by name
//===----------------------------------------------------------------------===//

Status xcr_module::findFunction(xcr_string_view_t name, const xcr_function **out) const {
  for (const xcr_function &function : functions)
    if (equal(text(function.table->name()), name)) {
      *out = &function;
      return Status();
    }
  NearestNames nearest(name);
  for (const xcr_function &function : functions)
    nearest.add(text(function.table->name()));
  return nearest.notFound(allocator, "function", "the module");
}

int64_t xcr_module::findVariable(xcr_string_view_t name) const {
  for (uint32_t i = 0; i < count(root->variables()); ++i)
    if (equal(text(root->variables()->Get(i)->name()), name))
      return i;
  return -1;
}
