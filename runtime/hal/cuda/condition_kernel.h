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

/// void xcr_set_condition(u64 handle, u64 address): the condition is whether the byte at the
/// address is not 0.
inline constexpr char kConditionKernel[] = R"(
.version 7.0
.target sm_52
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry xcr_set_condition(.param .u64 handle, .param .u64 address)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [address];
  cvta.to.global.u64 %rd2, %rd2;
  ld.global.u8 %r1, [%rd2];
  setp.ne.u32 %p1, %r1, 0;
  selp.u32 %r1, 1, 0, %p1;
  {
    .param .b64 param0;
    .param .b32 param1;
    st.param.b64 [param0], %rd1;
    st.param.b32 [param1], %r1;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

} // namespace xc::cuda

#endif // XC_RUNTIME_HAL_CUDA_CONDITION_KERNEL_H
