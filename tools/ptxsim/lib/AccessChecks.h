//===- AccessChecks.h - Parts of the checks of an access ------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_ACCESSCHECKS_H
#define PTXSIM_LIB_ACCESSCHECKS_H

#include "Access.h"

namespace xc::ptxsim {

/// "load of 4 bytes from shared memory".
std::string describe(const Access &access, Space space);

/// Raise the fault of an access that a check refuses, and return false.
bool raiseGlobal(Warp &warp, const Inst &inst, const Access &access, unsigned lane,
                 uint64_t address);
bool raiseWindow(Warp &warp, const Inst &inst, const Access &access, unsigned lane,
                 uint64_t address, Space space, uint64_t limit);
bool raiseUninitialised(Warp &warp, const Inst &inst, const Access &access, unsigned lane,
                        uint64_t address, Space space, uint64_t offset, const std::string &tag);
bool raiseRace(Warp &warp, const Inst &inst, const Access &access, unsigned lane, uint64_t address,
               Space space, const Conflict &conflict);

/// Counts the sectors or bank conflicts of the lanes of |mask|.
void countAccess(Block &block, uint32_t mask, const LaneAccess &lanes, const Access &access);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_ACCESSCHECKS_H
