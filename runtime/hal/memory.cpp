//===- memory.cpp - Memory of a device -----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/memory.h"

using namespace xc::hal;

bool MemoryCounter::charge(uint64_t bytes, uint64_t *available) {
  uint64_t before = inUse.load(std::memory_order_relaxed);
  do {
    // What was there before a limit was imposed may already pass it.
    uint64_t left = before < limit ? limit - before : 0;
    if (bytes > left) {
      *available = left;
      return false;
    }
  } while (!inUse.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  uint64_t now = before + bytes;
  uint64_t highest = peak.load(std::memory_order_relaxed);
  while (now > highest && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed))
    ;
  allocationCount.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void MemoryCounter::refund(uint64_t bytes) { inUse.fetch_sub(bytes, std::memory_order_relaxed); }
