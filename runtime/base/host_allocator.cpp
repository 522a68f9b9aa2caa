//===- host_allocator.cpp - Where the runtime's host memory comes from ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/host_allocator.h"

#include <cstdlib>

using namespace xc;

static void *systemAllocate(void *, size_t size, size_t alignment) {
  if (alignment <= alignof(max_align_t))
    return malloc(size ? size : 1);
  void *pointer = nullptr;
  return posix_memalign(&pointer, alignment, size ? size : 1) == 0 ? pointer : nullptr;
}

static void systemDeallocate(void *, void *pointer, size_t, size_t) { free(pointer); }

HostAllocator::HostAllocator()
    : callbacks{sizeof(xcr_host_allocator_t), nullptr, systemAllocate, systemDeallocate} {}
