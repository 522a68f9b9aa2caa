//===- temporaries.cpp - Memory of its own for each temporary -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/temporaries.h"

#include <algorithm>
#include <cassert>

using namespace xc;

void Temporaries::clear(hal::Stream *lastUser) {
  for (Range &range : ranges)
    if (range.memory && lastUser)
      lastUser->releaseLater(range.memory.take());
  ranges.clear();
}

Status Temporaries::add(uint64_t offset, uint64_t size) {
  if (size == 0)
    return Status();
  uint64_t begin = offset, end = offset + size;
  // The ranges that this one overlaps become one with it.
  size_t first = 0, kept = 0;
  while (first < ranges.size() && ranges[first].end <= begin)
    ++first;
  size_t last = first;
  while (last < ranges.size() && ranges[last].begin < end) {
    begin = std::min(begin, ranges[last].begin);
    end = std::max(end, ranges[last].end);
    ++last;
  }
  if (first == last) {
    XCR_RETURN_IF_ERROR(ranges.push({}));
    std::move_backward(ranges.begin() + first, ranges.end() - 1, ranges.end());
    last = first + 1;
  }
  ranges[first].begin = begin;
  ranges[first].end = end;
  kept = first + 1;
  std::move(ranges.begin() + last, ranges.end(), ranges.begin() + kept);
  return ranges.resize(kept + ranges.size() - last);
}

Status Temporaries::renew(hal::Device &device, hal::Stream *lastUser) {
  for (Range &range : ranges) {
    if (range.memory && lastUser)
      lastUser->releaseLater(range.memory.take());
    range.memory = Ref<hal::Memory>();
    XCR_RETURN_IF_ERROR(device.allocate(range.end - range.begin, &range.memory));
  }
  return Status();
}

uint64_t Temporaries::addressOf(uint64_t offset) const {
  const Range *range =
      std::upper_bound(ranges.begin(), ranges.end(), offset,
                       [](uint64_t at, const Range &candidate) { return at < candidate.end; });
  assert(range != ranges.end() && range->begin <= offset && "no command uses these bytes");
  return range->memory->address() + (offset - range->begin);
}
