//===- temporaries.h - Memory of its own for each temporary ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan keeps its temporaries in one arena, where an access behind the end of
// one hits the next, and reads of memory that an earlier one has written look
// like others. For debugging (XCR_TEMPORARIES=separate) each gets an allocation
// of its own, new for each launch, so that tools which know allocations
// (compute-sanitizer, the CUDA stand-in, AddressSanitizer) see both.
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_TEMPORARIES_H
#define XC_RUNTIME_MODULE_TEMPORARIES_H

#include "runtime/base/vector.h"
#include "runtime/hal/device.h"
#include "runtime/hal/memory.h"
#include "runtime/hal/stream.h"

namespace xc {

/// Ranges of an arena that share no byte with each other.
class Temporaries {
public:
  explicit Temporaries(const HostAllocator &allocator) : ranges(allocator) {}

  /// The memory of before is let go of when \p lastUser, which may be null, has done its work.
  void clear(hal::Stream *lastUser);
  /// A range that commands use; what overlaps is one temporary.
  Status add(uint64_t offset, uint64_t size);
  /// Gives each temporary new memory; \p lastUser as above.
  Status renew(hal::Device &device, hal::Stream *lastUser);
  /// Where the bytes at \p offset of the arena are, which are in one of the ranges.
  uint64_t addressOf(uint64_t offset) const;

private:
  struct Range {
    uint64_t begin, end;
    Ref<hal::Memory> memory;
  };
  Vector<Range> ranges; ///< in the order of their offsets
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_TEMPORARIES_H
