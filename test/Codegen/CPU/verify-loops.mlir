// RUN: xc-opt %s -xc-cpu-verify-loops -split-input-file -verify-diagnostics

#launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>

func.func @loops_over_memory() attributes {plan.launch = #launch} {
  %x = plan.binding 0 read_write align 64 : memref<8xf32>
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<8xf32>
  %e = math.exp %v : f32
  memref.store %e, %x[%c0] : memref<8xf32>
  return
}

// -----

// expected-error@+1 {{expected kernel 'no_launch' to have plan.launch}}
func.func @no_launch() {
  return
}

// -----

#launch = #plan.launch_config<grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>

func.func @tensor_left() attributes {plan.launch = #launch} {
  // expected-error@+1 {{'tensor.empty' op is left in kernel 'tensor_left' after its strategy}}
  %0 = tensor.empty() : tensor<8xf32>
  return
}
