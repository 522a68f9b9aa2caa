//===- checkpoint.cpp - Variables in files --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/checkpoint.h"

#include "runtime/base/api_struct.h"
#include "runtime/base/dtype.h"
#include "runtime/base/named_range.h"
#include "runtime/module/chunk_reader.h"
#include "runtime/module/safetensors_header.h"

#include <algorithm>

using namespace xc;

static ParameterEntry describe(const xcr_instance &instance, uint32_t ordinal) {
  const fb::Variable &variable = *instance.module().tables().variables()->Get(ordinal);
  ParameterEntry entry;
  entry.key = text(variable.name());
  entry.dtype = variable.dtype();
  entry.rank = count(variable.dims());
  for (uint32_t i = 0; i < entry.rank; ++i)
    entry.shape[i] = variable.dims()->Get(i);
  return entry;
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

static Status writeBuffer(xcr_device &device, const xcr_buffer &buffer, OutputFile &file) {
  const uint64_t size = buffer.layout.byteLength;
  if (const char *host = static_cast<const char *>(buffer.memory->host()))
    return file.write(host + buffer.offset, size);
  // Variables of gigabytes are not in host memory as a whole.
  constexpr uint64_t kChunk = 8 << 20;
  Vector<char> chunk(device.allocator);
  XCR_RETURN_IF_ERROR(chunk.resize(std::min(size, kChunk)));
  for (uint64_t done = 0; done < size; done += kChunk) {
    const uint64_t part = std::min(size - done, kChunk);
    XCR_RETURN_IF_ERROR(device.read(*buffer.memory, buffer.offset + done, chunk.data(), part));
    XCR_RETURN_IF_ERROR(file.write(chunk.data(), part));
  }
  return Status();
}

Status xc::saveVariables(xcr_instance &instance, xcr_string_view_t path) {
  NamedRange range("save variables", "");
  const HostAllocator &allocator = instance.allocator;
  // In the order in which they are written: wide elements first, so that all are aligned.
  Vector<uint32_t> ordinals(allocator);
  XCR_RETURN_IF_ERROR(ordinals.resize(instance.variableCount()));
  Vector<ParameterEntry> entries(allocator);
  for (uint32_t i = 0; i < ordinals.size(); ++i)
    ordinals[i] = i;
  auto elementSize = [&](uint32_t ordinal) {
    return elementBytes(instance.module().tables().variables()->Get(ordinal)->dtype());
  };
  std::sort(ordinals.begin(), ordinals.end(), [&](uint32_t a, uint32_t b) {
    return elementSize(a) != elementSize(b) ? elementSize(a) > elementSize(b) : a < b;
  });
  for (uint32_t ordinal : ordinals) {
    ParameterEntry entry = describe(instance, ordinal);
    entry.size = instance.variable(ordinal)->layout.byteLength;
    XCR_RETURN_IF_ERROR(entries.push(entry));
  }
  String header(allocator);
  XCR_RETURN_IF_ERROR(formatSafetensorsHeader(entries.span(), &header));
  OutputFile file(allocator);
  XCR_RETURN_IF_ERROR(file.create(path));
  XCR_RETURN_IF_ERROR(file.write(header.data(), header.view().size));
  XCR_RETURN_IF_ERROR(instance.variableOrder().synchronize());
  for (uint32_t ordinal : ordinals)
    XCR_RETURN_IF_ERROR(writeBuffer(instance.device(), *instance.variable(ordinal), file));
  return file.commit();
}

//===----------------------------------------------------------------------===//
// Restoring
//===----------------------------------------------------------------------===//

/// The file's bytes for each variable; ranges without a source are those of variables that it does
/// not have.
static Status findArrays(const xcr_instance &instance, const ParameterFile &file, bool isPartial,
                         Vector<ByteRange> *out) {
  bool hasAny = instance.variableCount() == 0;
  for (uint32_t i = 0; i < instance.variableCount(); ++i) {
    ParameterEntry entry = describe(instance, i);
    ByteRange range;
    Status status = file.find(entry.key, entry.dtype, {entry.shape, entry.rank}, &range);
    if (isPartial && status.code() == XCR_STATUS_NOT_FOUND)
      status.ignore();
    XCR_RETURN_IF_ERROR(std::move(status));
    hasAny |= range.source != nullptr;
    XCR_RETURN_IF_ERROR(out->push(range));
  }
  return hasAny ? Status()
                : makeStatus(instance.allocator, XCR_STATUS_NOT_FOUND,
                             "%s: none of its %zu arrays is called as a variable of the module",
                             file.name(), file.arrays().size());
}

static Status readBuffer(xcr_device &device, const ByteRange &range, xcr_buffer &buffer) {
  RangeSource source(device.allocator, range, /*isHashed=*/false);
  return device.write(*buffer.memory, buffer.offset, source, range.size);
}

Status xc::restoreVariables(xcr_instance &instance, xcr_string_view_t path, bool isPartial) {
  NamedRange range("restore variables", "");
  const HostAllocator &allocator = instance.allocator;
  ParameterFile file(allocator);
  XCR_RETURN_IF_ERROR(ParameterFile::open(allocator, path, &file));
  if (!file.hasKeys())
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s: expected a .safetensors file, got a .npy file, which names no variable",
                      file.name());
  Vector<ByteRange> ranges(allocator);
  XCR_RETURN_IF_ERROR(findArrays(instance, file, isPartial, &ranges));
  XCR_RETURN_IF_ERROR(instance.variableOrder().synchronize());
  for (uint32_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].source)
      XCR_RETURN_IF_ERROR(
          addContext(readBuffer(instance.device(), ranges[i], *instance.variable(i)), allocator,
                     "%s: ", file.name()));
  return Status();
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

xcr_status_t xcr_instance_save_variables(xcr_instance_t *instance, xcr_string_view_t path) {
  XCR_REQUIRE(instance);
  Status status = requireText(path, "path");
  if (status.succeeded())
    status = saveVariables(*instance, path);
  return status.release();
}

xcr_status_t xcr_instance_restore_variables(xcr_instance_t *instance, xcr_string_view_t path,
                                            uint32_t flags) {
  XCR_REQUIRE(instance);
  Status status = requireText(path, "path");
  if (status.succeeded() && (flags & ~static_cast<uint32_t>(XCR_RESTORE_PARTIAL)) != 0)
    status = makeStatus(instance->allocator, XCR_STATUS_INVALID_ARGUMENT,
                        "flags: 0x%x holds a flag that is not known", flags);
  if (status.succeeded())
    status = restoreVariables(*instance, path, (flags & XCR_RESTORE_PARTIAL) != 0);
  return status.release();
}
