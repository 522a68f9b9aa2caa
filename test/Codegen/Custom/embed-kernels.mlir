// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-embed-kernels,xc-cuda-emit-ptx))' -split-input-file -verify-diagnostics | FileCheck %s

// The text under the target's header and with the module's name, without line information; scalars and the grid are those of the dispatch. Nothing says that
// it may be launched early.
// CHECK-LABEL: module @main_k0_f
// CHECK-SAME:  plan.exports = [{config = "custom", launch = #plan.launch_config<grid = [s1 ceildiv 128, s0, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 64, scratch = 0>,
// CHECK-SAME:  name = "main_k0_f", parameters = {{\[\[}}"binding", 0], ["binding", 1], ["i64", 1], ["i32", 0]], reason = "the program's own kernel 'f'"}]
// CHECK-SAME:  plan.image = ".version 7.8\0A.target sm_90\0A.address_size 64\0A
// CHECK-SAME:  .visible .entry main_k0_f(.param .u64 x
// CHECK-NOT:   .loc
// CHECK-NOT:   .section
// CHECK-SAME:  .entry main_k0_f_g()
// CHECK-NOT:   func.func
builtin.module {
  builtin.module @main_k0_f attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90">} {
    func.func @main_k0_f() {
      %n = plan.scalar 0 : index
      %m = plan.scalar 1 : index
      %x = plan.binding 0 read align 16 sizes(%m) : memref<?xf32>
      %y = plan.binding 1 write align 16 sizes(%m) : memref<?xf32>
      %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %e = tensor.empty(%m) : tensor<?xf32>
      
      %r = kernel.custom "f"(%t : tensor<?xf32>) scalars(%m, %n, %n) as [i64, i32, index] into(%e : tensor<?xf32>)
          grid = affine_map<()[m, n, k] -> (m ceildiv 128, n, 1)> block = [128, 1, 1] shared = 64 ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A// .entry z()\0A.visible .entry\0Af(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) {\0A .loc 1 2 3, function_name $L__name, inlined_at 1 4 5\0A ret; }\0A.section .debug_str {\0A$L__name:\0A.b8 102,0\0A}\0A /* .entry z() */ .entry g() { ret; }" -> tensor<?xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
  }
}

// -----

builtin.module {
  builtin.module @main_k0_f attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    func.func @main_k0_f() {
      %n = plan.scalar 0 : index
      %m = plan.scalar 1 : index
      %x = plan.binding 0 read align 16 sizes(%m) : memref<?xf32>
      %y = plan.binding 1 write align 16 sizes(%m) : memref<?xf32>
      %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %e = tensor.empty(%m) : tensor<?xf32>
      // expected-error @+1 {{kernel 'f' is PTX for sm_86, which is not a part of sm_80}}
      %r = kernel.custom "f"(%t : tensor<?xf32>) scalars(%m, %n, %n) as [i64, i32, index] into(%e : tensor<?xf32>)
          grid = affine_map<()[m, n, k] -> (m ceildiv 128, n, 1)> block = [128, 1, 1]  ptx = ".version 7.0\0A.target sm_86\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) { ret; }" -> tensor<?xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
  }
}

// -----

builtin.module {
  builtin.module @main_k0_f attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90">} {
    func.func @main_k0_f() {
      %n = plan.scalar 0 : index
      %m = plan.scalar 1 : index
      %x = plan.binding 0 read align 16 sizes(%m) : memref<?xf32>
      %y = plan.binding 1 write align 16 sizes(%m) : memref<?xf32>
      %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %e = tensor.empty(%m) : tensor<?xf32>
      // expected-error @+1 {{kernel 'f' is PTX for sm_90a, which is not a part of sm_90}}
      %r = kernel.custom "f"(%t : tensor<?xf32>) scalars(%m, %n, %n) as [i64, i32, index] into(%e : tensor<?xf32>)
          grid = affine_map<()[m, n, k] -> (m ceildiv 128, n, 1)> block = [128, 1, 1]  ptx = ".version 7.0\0A.target sm_90a\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) { ret; }" -> tensor<?xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
  }
}

// -----

builtin.module {
  builtin.module @main_k0_f attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    func.func @main_k0_f() {
      %n = plan.scalar 0 : index
      %m = plan.scalar 1 : index
      %x = plan.binding 0 read align 16 sizes(%m) : memref<?xf32>
      %y = plan.binding 1 write align 16 sizes(%m) : memref<?xf32>
      %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %e = tensor.empty(%m) : tensor<?xf32>
      // expected-error @+1 {{kernel 'f' is PTX of version 8.0; expected at most 7.0, which is that of sm_80}}
      %r = kernel.custom "f"(%t : tensor<?xf32>) scalars(%m, %n, %n) as [i64, i32, index] into(%e : tensor<?xf32>)
          grid = affine_map<()[m, n, k] -> (m ceildiv 128, n, 1)> block = [128, 1, 1]  ptx = ".version 8.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) { ret; }" -> tensor<?xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
  }
}

// -----

builtin.module {
  builtin.module @main_k0_f attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
    func.func @main_k0_f() {
      %n = plan.scalar 0 : index
      %m = plan.scalar 1 : index
      %x = plan.binding 0 read align 16 sizes(%m) : memref<?xf32>
      %y = plan.binding 1 write align 16 sizes(%m) : memref<?xf32>
      %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %e = tensor.empty(%m) : tensor<?xf32>
      // expected-error @+1 {{kernel 'f' asks for 170000 bytes of shared memory; a block on sm_80 has at most 166912}}
      %r = kernel.custom "f"(%t : tensor<?xf32>) scalars(%m, %n, %n) as [i64, i32, index] into(%e : tensor<?xf32>)
          grid = affine_map<()[m, n, k] -> (m ceildiv 128, n, 1)> block = [128, 1, 1] shared = 170000 ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) { ret; }" -> tensor<?xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
  }
}

// -----

builtin.module {
  // expected-error @+1 {{'builtin.module' op expected a CUDA target, known are}}
  builtin.module @main_k0_f attributes {plan.kernel, plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @main_k0_f() {
      %n = plan.scalar 0 : index
      %m = plan.scalar 1 : index
      %x = plan.binding 0 read align 16 sizes(%m) : memref<?xf32>
      %y = plan.binding 1 write align 16 sizes(%m) : memref<?xf32>
      %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
      %e = tensor.empty(%m) : tensor<?xf32>
      
      %r = kernel.custom "f"(%t : tensor<?xf32>) scalars(%m, %n, %n) as [i64, i32, index] into(%e : tensor<?xf32>)
          grid = affine_map<()[m, n, k] -> (m ceildiv 128, n, 1)> block = [128, 1, 1]  ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) { ret; }" -> tensor<?xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
      return
    }
  }
}
