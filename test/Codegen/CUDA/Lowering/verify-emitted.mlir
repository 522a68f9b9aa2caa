// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-cuda-verify-emitted

func.func @good(%x: f32, %i: index) -> f32 {
  %m = plan.binding 0 read align 64 : memref<8xf32>
  %a = memref.load %m[%i] : memref<8xf32>
  %b = math.sqrt %a : f32
  %c = math.fma %a, %b, %x : f32
  return %c : f32
}

// -----

func.func @no_instruction(%x: f32) -> f32 {
  // expected-error @below {{has no instruction on NVIDIA GPUs, and was not expanded into some}}
  %y = math.erf %x : f32
  return %y : f32
}

// -----

func.func @exact_log2(%x: f32) -> f32 {
  %a = math.log2 %x fastmath<afn> : f32
  // expected-error @below {{has no instruction on NVIDIA GPUs, and was not expanded into some}}
  %y = math.log2 %a : f32
  return %y : f32
}

// -----

func.func @exact_rsqrt(%x: f32) -> f32 {
  %a = math.rsqrt %x fastmath<afn> : f32
  // expected-error @below {{has no instruction on NVIDIA GPUs, and was not expanded into some}}
  %y = math.rsqrt %a : f32
  return %y : f32
}

// -----

func.func @remainder(%x: f32) -> f32 {
  // expected-error @below {{has no instruction on NVIDIA GPUs, and was not expanded into some}}
  %y = arith.remf %x, %x : f32
  return %y : f32
}

// -----

func.func @tensor_left() {
  // expected-error @below {{is left on tensors: no CUDA strategy emitted it}}
  %e = tensor.empty() : tensor<4xf32>
  return
}

// -----

func.func @two_dims(%i: index) -> f32 {
  %m = plan.binding 0 read align 64 : memref<8x8xf32>
  // expected-error @below {{expected memory of one dim, got 'memref<8x8xf32>'}}
  %a = memref.load %m[%i, %i] : memref<8x8xf32>
  return %a : f32
}
