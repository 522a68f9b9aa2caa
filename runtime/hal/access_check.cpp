//===- access_check.cpp - What unfinished work reads and writes ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/access_check.h"

#include "runtime/hal/device.h"

#include <cinttypes>
#include <cstdio>

using namespace xc;
using namespace xc::hal;

void AccessCheck::clear() {
  Lock lock(mutex);
  entries.clear();
}

Status AccessCheck::createEnd(Device &device, Ref<Event> *out) const {
  return device.createEvent(out);
}

Status AccessCheck::remember(Stream &stream, Ref<Event> end, const char *name,
                             Span<const Access> accesses) {
  XCR_RETURN_IF_ERROR(stream.record(end));
  Lock lock(mutex);
  forgetEnded();
  for (const Access &access : accesses) {
    Entry entry = {end, access, String(allocator)};
    XCR_RETURN_IF_ERROR(entry.work.assign(xcr_string(name)));
    XCR_RETURN_IF_ERROR(entries.push(std::move(entry)));
  }
  return Status();
}

/// The mutex is held.
void AccessCheck::forgetEnded() {
  size_t kept = 0;
  for (Entry &entry : entries) {
    bool isDone = false;
    // Nobody can ask about work that is captured into a graph, or was lost with its device.
    Status status = entry.end->query(&isDone);
    if (status.succeeded() && !isDone) {
      if (&entries[kept] != &entry)
        entries[kept] = std::move(entry);
      ++kept;
    }
  }
  while (entries.size() > kept)
    entries.pop();
}

Status AccessCheck::checkHost(const char *function, uint64_t address, uint64_t size, bool writes) {
  if (!on || size == 0)
    return Status();
  Lock lock(mutex);
  forgetEnded();
  for (const Entry &entry : entries) {
    const Access &access = entry.access;
    bool overlaps = access.begin < address + size && address < access.end;
    if (!overlaps || (!writes && !access.isWritten))
      continue;
    char ordinal[24] = "";
    if (access.ordinal >= 0)
      snprintf(ordinal, sizeof(ordinal), " %" PRId64, access.ordinal);
    return makeStatus(allocator, XCR_STATUS_FAILED_PRECONDITION,
                      "%s: %s that has not ended %s this buffer (%s%s): wait for its stream first",
                      function, entry.work.c_str(), access.isWritten ? "writes to" : "reads",
                      access.kind, ordinal);
  }
  return Status();
}
