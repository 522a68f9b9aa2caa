//===- saxpy.c - A program for the CUDA driver, run without a GPU ---------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = 2 x + y on 1000 elements, in PTX, through the CUDA driver that is found as
// libcuda.so.1. Nothing here knows of the stand-in: which driver it is, the
// loader's search path decides. Exit status 1, and a line on stderr, if a call
// fails or an element is wrong.
//
//===----------------------------------------------------------------------===//

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char kernel[] =
    ".version 7.8\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {\n"
    "  .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "  ld.param.u32 %r5, [n];\n"
    "  setp.ge.u32 %p1, %r4, %r5;\n"
    "  @%p1 ret;\n"
    "  ld.param.u64 %rd1, [x];\n"
    "  ld.param.u64 %rd2, [y];\n"
    "  ld.param.f32 %f1, [a];\n"
    "  mul.wide.u32 %rd3, %r4, 4;\n"
    "  add.s64 %rd4, %rd1, %rd3;\n"
    "  add.s64 %rd5, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4];\n"
    "  ld.global.f32 %f3, [%rd5];\n"
    "  fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "  st.global.f32 [%rd5], %f4;\n"
    "  ret;\n"
    "}\n";

enum { kCount = 1000, kThreads = 128 };

// What cuda.h declares of the calls below, so that no toolkit is needed.
typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

static void *driver;

static void *find(const char *name) {
  void *function = dlsym(driver, name);
  if (!function) {
    fprintf(stderr, "saxpy: the driver has no %s\n", name);
    exit(1);
  }
  return function;
}

static void check(CUresult result, const char *call) {
  if (result != 0) {
    fprintf(stderr, "saxpy: %s returned %d\n", call, result);
    exit(1);
  }
}

// CALL(name, (parameter types), arguments...): by the name that the library exports.
#define CALL(name, params, ...) check(((CUresult(*) params)find(#name))(__VA_ARGS__), #name)

int main(void) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    fprintf(stderr, "saxpy: %s\n", dlerror());
    return 1;
  }
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CALL(cuInit, (unsigned), 0);
  CALL(cuDeviceGet, (CUdevice *, int), &device, 0);
  CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, device);
  CALL(cuCtxSetCurrent, (CUcontext), context);
  CALL(cuModuleLoadData, (CUmodule *, const void *), &module, kernel);
  CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &function, module, "saxpy");

  float x[kCount], y[kCount];
  for (int i = 0; i < kCount; ++i) {
    x[i] = (float)i;
    y[i] = 1.0f;
  }
  CUdeviceptr deviceX, deviceY;
  CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &deviceX, sizeof(x));
  CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &deviceY, sizeof(y));
  CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), deviceX, x, sizeof(x));
  CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), deviceY, y, sizeof(y));

  float a = 2.0f;
  uint32_t count = kCount;
  void *arguments[] = {&deviceX, &deviceY, &a, &count};
  CALL(cuLaunchKernel,
       (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
        void **, void **),
       function, (kCount + kThreads - 1) / kThreads, 1, 1, kThreads, 1, 1, 0, NULL, arguments,
       NULL);
  CALL(cuCtxSynchronize, (void));
  CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), y, deviceY, sizeof(y));
  for (int i = 0; i < kCount; ++i) {
    if (y[i] != 2.0f * (float)i + 1.0f) {
      fprintf(stderr, "saxpy: y[%d] is %g, expected %g\n", i, (double)y[i], 2.0 * i + 1.0);
      return 1;
    }
  }
  printf("saxpy: %d elements are right\n", kCount);
  return 0;
}
