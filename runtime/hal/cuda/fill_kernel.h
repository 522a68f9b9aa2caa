//===- fill_kernel.h - Fills that memset nodes cannot do ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Patterns of 8 bytes, and patterns at addresses that are not a multiple of
// their size. PTX for every architecture that the runtime works on.

#ifndef XC_RUNTIME_HAL_CUDA_FILL_KERNEL_H
#define XC_RUNTIME_HAL_CUDA_FILL_KERNEL_H

namespace xc::cuda {

inline constexpr char kFillKernelName[] = "xcr_fill";
inline constexpr unsigned kFillThreads = 256;

/// Bytes that a thread stores at a time.
inline constexpr unsigned kFillBytes = 16;

/// void xcr_fill(u64 target, u64 bytes, u64 pattern): byte i becomes byte i mod 8 of the pattern.
/// Up to the first and from the last multiple of 16 on by bytes, which the first threads store;
/// between them by 16 bytes, which are the pattern, rotated by what comes before, twice.
inline constexpr char kFillKernel[] = R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry xcr_fill(.param .u64 target, .param .u64 bytes, .param .u64 pattern)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [bytes];
  ld.param.u64 %rd3, [pattern];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd4, %r1, %r2;
  cvt.u64.u32 %rd5, %r3;
  add.u64 %rd4, %rd4, %rd5;
  mul.wide.u32 %rd5, %r4, %r2;
  neg.s64 %rd6, %rd1;
  and.b64 %rd6, %rd6, 15;
  min.u64 %rd6, %rd6, %rd2;
  sub.u64 %rd7, %rd2, %rd6;
  shr.u64 %rd8, %rd7, 4;
  and.b64 %rd9, %rd7, 15;
  sub.u64 %rd10, %rd2, %rd9;
  setp.ge.u64 %p1, %rd4, %rd6;
  @%p1 bra TAIL;
  cvt.u32.u64 %r5, %rd4;
  and.b32 %r5, %r5, 7;
  shl.b32 %r5, %r5, 3;
  shr.u64 %rd11, %rd3, %r5;
  add.u64 %rd12, %rd1, %rd4;
  st.global.u8 [%rd12], %rd11;
TAIL:
  setp.ge.u64 %p2, %rd4, %rd9;
  @%p2 bra BODY;
  add.u64 %rd13, %rd10, %rd4;
  cvt.u32.u64 %r6, %rd13;
  and.b32 %r6, %r6, 7;
  shl.b32 %r6, %r6, 3;
  shr.u64 %rd11, %rd3, %r6;
  add.u64 %rd12, %rd1, %rd13;
  st.global.u8 [%rd12], %rd11;
BODY:
  cvt.u32.u64 %r5, %rd6;
  and.b32 %r5, %r5, 7;
  shl.b32 %r5, %r5, 3;
  sub.u32 %r6, 64, %r5;
  shr.u64 %rd14, %rd3, %r5;
  shl.b64 %rd15, %rd3, %r6;
  or.b64 %rd14, %rd14, %rd15;
  add.u64 %rd16, %rd1, %rd6;
LOOP:
  setp.ge.u64 %p3, %rd4, %rd8;
  @%p3 bra DONE;
  shl.b64 %rd17, %rd4, 4;
  add.u64 %rd17, %rd16, %rd17;
  st.global.v2.b64 [%rd17], {%rd14, %rd14};
  add.u64 %rd4, %rd4, %rd5;
  bra LOOP;
DONE:
  ret;
}
)";

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_FILL_KERNEL_H
