//===- Kernels.cpp - PTX that the tests of the driver stand-in run --------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

namespace xc {

// add(p, x):     p[tid] += x
// scale(p, x):   p[tid] *= x; does not commute with add, so order shows
// copy(d, s):    d[tid] = s[tid]
// shared(p):     p[tid] = tid through dynamic shared memory
// beyond(p, o):  stores at p + o
// misaligned(p): stores a word at p + 1
// fail():        trap
// bounded():     at most 64 threads a block
// forever():     never ends
extern const char *const kKernels = R"(
.version 7.8
.target sm_80
.address_size 64

.global .align 4 .u32 counter = 7;
.extern .shared .align 16 .b8 dynamic[];

.visible .entry add(.param .u64 p, .param .u32 x) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [x];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.u32 %r4, %r3, %r1;
  st.global.u32 [%rd3], %r4;
  ret;
}

.visible .entry scale(.param .u64 p, .param .u32 x) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [x];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mul.lo.u32 %r4, %r3, %r1;
  st.global.u32 [%rd3], %r4;
  ret;
}

.visible .entry copy(.param .u64 d, .param .u64 s) {
  .reg .b64 %rd<6>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [d];
  ld.param.u64 %rd2, [s];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd5];
  st.global.u32 [%rd4], %r2;
  ret;
}

.visible .entry shared(.param .u64 p) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<6>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, dynamic;
  add.s32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}

.visible .entry beyond(.param .u64 p, .param .u64 o) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [o];
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r1, 1;
  st.global.u32 [%rd3], %r1;
  ret;
}

.visible .entry misaligned(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  add.s64 %rd2, %rd1, 1;
  mov.u32 %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

.visible .entry fail() {
  trap;
}

.visible .entry forever() {
again:
  bra again;
}

.visible .entry bounded() .maxntid 64, 1, 1 {
  ret;
}
)";

// decrement(p, h): --*p, and the condition h becomes *p
extern const char *const kConditionKernels = R"(
.version 8.0
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry decrement(.param .u64 p, .param .u64 h) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [h];
  ld.global.u32 %r1, [%rd1];
  sub.u32 %r2, %r1, 1;
  st.global.u32 [%rd1], %r2;
  {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b32 param1;
    st.param.b32 [param1], %r2;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

} // namespace xc
