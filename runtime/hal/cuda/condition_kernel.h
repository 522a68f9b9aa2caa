//===- condition_kernel.h - From a byte in memory to a graph's condition ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Conditional nodes are steered by a function of the driver's own that only kernels can call; the
// driver links it where it finds it declared.

#ifndef XC_RUNTIME_HAL_CUDA_CONDITION_KERNEL_H
#define XC_RUNTIME_HAL_CUDA_CONDITION_KERNEL_H

namespace xc::cuda {

inline constexpr char kConditionKernelName[] = "xcr_set_condition";

/// void xcr_set_condition(u64 handle, u64 address, u32 flip): the condition is whether the byte at
/// the address is not 0, or the opposite where `flip` is 1.
inline constexpr char kConditionKernel[] = R"(
.version 7.0
.target sm_52
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry xcr_set_condition(.param .u64 handle, .param .u64 address, .param .u32 flip)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [address];
  ld.param.u32 %r1, [flip];
  cvta.to.global.u64 %rd2, %rd2;
  ld.global.u8 %r2, [%rd2];
  setp.ne.u32 %p1, %r2, 0;
  selp.u32 %r3, 1, 0, %p1;
  xor.b32 %r4, %r3, %r1;
  {
    .param .b64 param0;
    .param .b32 param1;
    st.param.b64 [param0], %rd1;
    st.param.b32 [param1], %r4;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CONDITION_KERNEL_H
