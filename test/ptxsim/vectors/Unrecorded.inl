//===- Unrecorded.inl - What the vector suite cannot record, and why ------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// {opcode, modifier or "", reason}
//
//===----------------------------------------------------------------------===//

    {"brkpt", "", "stops for a debugger, and without one ends the context"},
    {"cp", "L2::64B", "a hint about caches, not recorded so far"},
    {"cp", "L2::128B", "a hint about caches, not recorded so far"},
    {"cp", "L2::256B", "a hint about caches, not recorded so far"},
    {"cp", "L2::cache_hint", "a hint about caches, not recorded so far"},
    {"cp", "im2col", "needs a map of another driver call; convolutions show it on hardware"},
    {"cvta", "to", "gives the address that loads of the space take, as all of the suite's do"},
    {"discard", "", "leaves memory undefined"},
    {"prefetch", "tensormap", "has no result, and its operand is a map of the driver's own form"},
    {"red", "L2::cache_hint", "a hint about caches, not recorded so far"},
    {"setmaxnreg", "", "has no result; the kernel must be compiled for a number of registers"},
    {"trap", "", "ends the context"},
