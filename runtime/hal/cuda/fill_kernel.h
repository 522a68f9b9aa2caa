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

/// void xcr_fill(u64 target, u64 bytes, u64 pattern, u64 mask): byte i becomes byte (i & mask) of
/// the pattern.
inline constexpr char kFillKernel[] = R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry xcr_fill(.param .u64 target, .param .u64 bytes, .param .u64 pattern, .param .u64 mask)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [bytes];
  ld.param.u64 %rd3, [pattern];
  ld.param.u64 %rd4, [mask];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd5, %r1, %r2;
  cvt.u64.u32 %rd6, %r3;
  add.u64 %rd5, %rd5, %rd6;
  mul.wide.u32 %rd7, %r4, %r2;
LOOP:
  setp.ge.u64 %p1, %rd5, %rd2;
  @%p1 bra DONE;
  and.b64 %rd8, %rd5, %rd4;
  shl.b64 %rd8, %rd8, 3;
  cvt.u32.u64 %r5, %rd8;
  shr.u64 %rd9, %rd3, %r5;
  add.u64 %rd10, %rd1, %rd5;
  st.global.u8 [%rd10], %rd9;
  add.u64 %rd5, %rd5, %rd7;
  bra LOOP;
DONE:
  ret;
}
)";

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_FILL_KERNEL_H
