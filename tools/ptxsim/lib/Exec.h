//===- Exec.h - Lane loops that instructions are made of --------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation is a struct with a static `apply` on one lane's values; execN
// makes it an ExecFn with N source operands. With all lanes active the loop has
// no branches, so that the compiler vectorises it.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_EXEC_H
#define PTXSIM_LIB_EXEC_H

#include "Decoder.h"
#include "Machine.h"

#include <cstring>

// A destination row is either one of the source rows or disjoint from it: lanes
// do not depend on each other, which the compiler cannot know. Some ops call
// functions, which no loop of vectors can.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define PTXSIM_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define PTXSIM_LANES _Pragma("GCC ivdep")
#endif

namespace xc::ptxsim {

template <typename To, typename From> To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Calls |function| for each lane of |mask|.
template <typename F> void forLanes(uint32_t mask, F function) {
  for (; mask; mask &= mask - 1)
    function(static_cast<unsigned>(__builtin_ctz(mask)));
}

template <typename Op, typename D, typename A>
void exec1(Warp &warp, const Inst &inst, uint32_t mask) {
  D *d = warp.row<D>(inst.dst);
  const A *a = warp.row<A>(inst.a);
  if (mask == kFullMask) {
    PTXSIM_LANES
    for (unsigned l = 0; l < kWarpSize; ++l)
      d[l] = Op::apply(a[l]);
    return;
  }
  forLanes(mask, [&](unsigned l) { d[l] = Op::apply(a[l]); });
}

template <typename Op, typename D, typename A, typename B = A>
void exec2(Warp &warp, const Inst &inst, uint32_t mask) {
  D *d = warp.row<D>(inst.dst);
  const A *a = warp.row<A>(inst.a);
  const B *b = warp.row<B>(inst.b);
  if (mask == kFullMask) {
    PTXSIM_LANES
    for (unsigned l = 0; l < kWarpSize; ++l)
      d[l] = Op::apply(a[l], b[l]);
    return;
  }
  forLanes(mask, [&](unsigned l) { d[l] = Op::apply(a[l], b[l]); });
}

template <typename Op, typename D, typename A, typename B = A, typename C = A>
void exec3(Warp &warp, const Inst &inst, uint32_t mask) {
  D *d = warp.row<D>(inst.dst);
  const A *a = warp.row<A>(inst.a);
  const B *b = warp.row<B>(inst.b);
  const C *c = warp.row<C>(inst.c);
  if (mask == kFullMask) {
    PTXSIM_LANES
    for (unsigned l = 0; l < kWarpSize; ++l)
      d[l] = Op::apply(a[l], b[l], c[l]);
    return;
  }
  forLanes(mask, [&](unsigned l) { d[l] = Op::apply(a[l], b[l], c[l]); });
}

/// Decodes `op d, a`; `op d, a, b`; `op d, a, b, c` with one type for all.
bool decodeSame(InstDecoder &decoder, Type type, unsigned sources, ExecFn fn);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_EXEC_H
