//===- AsyncAccess.h - Checked memory accesses of hardware ------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Access.h is for instructions of threads, this is for bulk copies and for
// products: bounds, bytes never written, races, and missing proxy fences. All
// functions return false after a fault.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_ASYNCACCESS_H
#define PTXSIM_LIB_ASYNCACCESS_H

#include "BulkCopy.h"

namespace xc::ptxsim {

/// Reads |bytes| of global memory for |copy|.
bool readGlobal(BulkCopy &copy, uint64_t address, uint32_t bytes, uint8_t *to);
/// Before |copy|, number |clock| of its block, writes to global memory.
bool noteGlobalWrite(BulkCopy &copy, uint64_t address, uint32_t bytes, uint32_t clock);
/// Before |copy| reads the issuer's shared memory.
bool noteSharedRead(BulkCopy &copy, uint32_t offset, uint32_t bytes);
/// Before |copy|, number |clock| of |target|'s, writes to its shared memory.
bool noteSharedWrite(BulkCopy &copy, Block &target, uint32_t offset, uint32_t bytes,
                     uint32_t clock);

/// The parts of shared memory that a product reads are checked line by line.
class ProductReads {
public:
  /// |warp| issued it; |warpgroup| is the number of its warpgroup.
  ProductReads(Warp &warp, const Inst &inst, const Observer &observer, uint32_t warpgroup,
               uint32_t clock);
  /// 16 bytes at |offset|, a multiple of 16.
  bool read(uint32_t offset);

private:
  bool checkWriters(uint32_t offset);

  Warp &warp;
  const Inst &inst;
  const Observer &observer;
  uint32_t warpgroup, clock;
  SharedShadow &shadow;
  const Checks &checks;
  RaceCell *cells = nullptr;
  size_t warpgroups;
  uint32_t lastLine = 0xffffffffu;
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_ASYNCACCESS_H
