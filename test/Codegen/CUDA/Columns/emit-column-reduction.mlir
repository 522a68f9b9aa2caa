// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-column-reduction -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @down
// CHECK-SAME:    block = [128, 1, 1], cluster = [1, 1, 1], shared = 2048
// CHECK:         %[[SHARED:.*]] = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<512xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for {{.*}} -> (vector<4xf32>)
// CHECK-COUNT-4:   vector.load %{{.*}} {alignment = 16 : i64} : memref<4096000xf32>, vector<4xf32>
// CHECK:         vector.store %{{.*}}, %[[SHARED]]
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           vector.load %[[SHARED]]
// CHECK:           vector.store %{{.*}}, %[[SHARED]]
// CHECK:         gpu.barrier
builtin.module @down attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @down() attributes {lowering_config = #cuda.column_reduction<threads = 32, rows = 4, vector = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<1000x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<1000x4096xf32> to tensor<1000x4096xf32>
    %e2 = tensor.empty() : tensor<4096xf32>
    %cf2 = arith.constant 0.0 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<4096xf32>) -> tensor<4096xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%t0 : tensor<1000x4096xf32>) outs(%f2 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096xf32>
    bufferization.materialize_in_destination %g5 in restrict writable %b1 : (tensor<4096xf32>, memref<4096xf32>) -> ()
    return
  }
}

// -----

// Sums that do not need each other are summed up together, also of inputs that nothing else ties to each other: loads of
// both are under way at once, and threads meet once for both.
// CHECK-LABEL: func.func @beside
// CHECK-SAME:    shared = 1024
// CHECK:         scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-8:   vector.load %{{.*}} : memref<32768xf32>, vector<4xf32>
// CHECK-COUNT-2: vector.store %{{.*}} : memref<128xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-2: gpu.barrier
// CHECK-NOT:     gpu.barrier
#in = affine_map<(d0, d1) -> (d1, d0)>
#out = affine_map<(d0, d1) -> (d0)>
builtin.module @beside attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @beside() attributes {lowering_config = #cuda.column_reduction<threads = 16, rows = 2, vector = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<256x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<256x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<128xf32>
    %b3 = plan.binding 3 write align 64 : memref<128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<256x128xf32> to tensor<256x128xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<256x128xf32> to tensor<256x128xf32>
    %e = tensor.empty() : tensor<128xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<256x128xf32>) outs(%f : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %1 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%t1 : tensor<256x128xf32>) outs(%f : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b2 : (tensor<128xf32>, memref<128xf32>) -> ()
    bufferization.materialize_in_destination %1 in restrict writable %b3 : (tensor<128xf32>, memref<128xf32>) -> ()
    return
  }
}

// -----

// What is needed again is loaded once: a sum, then one of squares of distances from it, of what registers hold. Eight rows
// of threads meet in one step. The last place of a thread may be behind the end.
// CHECK-LABEL: func.func @held
// CHECK-COUNT-8: vector.load %{{.*}} : memref<249856xf32>, vector<4xf32>
// CHECK-NOT:     scf.for
// CHECK-NOT:     memref<249856xf32>, vector<4xf32>
// CHECK:         arith.select
// CHECK-COUNT-4: gpu.barrier
// CHECK-NOT:     gpu.barrier
#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
builtin.module @held attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @held() attributes {lowering_config = #cuda.column_reduction<threads = 32, rows = 8, vector = 4, held = 8>} {
    %b0 = plan.binding 0 read align 64 : memref<61x4096xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<61x4096xf32> to tensor<61x4096xf32>
    %e = tensor.empty() : tensor<4096xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<61x4096xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %sum : tensor<61x4096xf32>, tensor<4096xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %m: f32, %b: f32):
      %d = arith.subf %a, %m : f32
      %q = arith.mulf %d, %d : f32
      %s = arith.addf %b, %q : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096xf32>
    bufferization.materialize_in_destination %squares in restrict writable %b1 : (tensor<4096xf32>, memref<4096xf32>) -> ()
    return
  }
}

// -----

// As many threads share a column as the shared memory of this target's blocks has room for: 64 KiB of 99, where twice
// the rows of threads would want 128.
// CHECK-LABEL: func.func @tall
// CHECK-SAME:    lowering_config = #cuda.column_reduction<threads = 32, rows = 16, vector = 8>
// CHECK-SAME:    block = [512, 1, 1], cluster = [1, 1, 1], shared = 65536
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d1)>
builtin.module @tall attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_86">} {
  func.func @tall() {
    %b0 = plan.binding 0 read align 64 : memref<4096x33792xbf16>
    %b1 = plan.binding 1 write align 64 : memref<33792xf64>
    %b2 = plan.binding 2 write align 64 : memref<33792xf64>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x33792xbf16> to tensor<4096x33792xbf16>
    %e = tensor.empty() : tensor<33792xf64>
    %zero = arith.constant 0.0 : f64
    %f = linalg.fill ins(%zero : f64) outs(%e : tensor<33792xf64>) -> tensor<33792xf64>
    %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]} ins(%t0 : tensor<4096x33792xbf16>) outs(%f : tensor<33792xf64>) {
    ^bb0(%a: bf16, %b: f64):
      %x = arith.extf %a : bf16 to f64
      %s = arith.addf %x, %b : f64
      linalg.yield %s : f64
    } -> tensor<33792xf64>
    %1 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]} ins(%t0 : tensor<4096x33792xbf16>) outs(%f : tensor<33792xf64>) {
    ^bb0(%a: bf16, %b: f64):
      %x = arith.extf %a : bf16 to f64
      %y = arith.mulf %x, %x : f64
      %s = arith.addf %y, %b : f64
      linalg.yield %s : f64
    } -> tensor<33792xf64>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<33792xf64>, memref<33792xf64>) -> ()
    bufferization.materialize_in_destination %1 in restrict writable %b2 : (tensor<33792xf64>, memref<33792xf64>) -> ()
    return
  }
}

// -----

// Squares of distances from a mean are added up with the sum itself, each element loaded once: those of eight loads from
// their own mean, then those of the share of a thread, and at the end from the mean of the column. Eleven rows are left
// over: they are loaded as the others are, and what lies behind the end counts for nothing.
// CHECK-LABEL: func.func @moments
// CHECK-SAME:    nvvm.minctasm = 3
// CHECK:         scf.for {{.*}} -> (f32, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-8:   vector.load %{{.*}} : memref<{{.*}}xf32>, vector<4xf32>
// CHECK-COUNT-7:   arith.addf %{{.*}} : vector<4xf32>
// CHECK:           %[[MEAN:.*]] = arith.mulf %{{.*}} : vector<4xf32>
// CHECK-COUNT-8:   arith.subf %{{.*}}, %[[MEAN]] : vector<4xf32>
// CHECK:         scf.if
// CHECK-COUNT-8:   vector.load %{{.*}} : memref<{{.*}}xf32>, vector<4xf32>
// CHECK:           arith.select
// CHECK-NOT:     memref<{{[0-9]+}}xf32>, vector<4xf32>
// CHECK-COUNT-6: gpu.barrier
// CHECK-NOT:     gpu.barrier
#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
builtin.module @moments attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @moments() attributes {lowering_config = #cuda.column_reduction<threads = 8, rows = 32, vector = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<1035x4096xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<1035x4096xf32> to tensor<1035x4096xf32>
    %e = tensor.empty() : tensor<4096xf32>
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 1035.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1035x4096xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %sum : tensor<1035x4096xf32>, tensor<4096xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %m: f32, %b: f32):
      %mean = arith.divf %m, %count : f32
      %d = arith.subf %a, %mean : f32
      %q = arith.mulf %d, %d : f32
      %s = arith.addf %b, %q : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096xf32>
    bufferization.materialize_in_destination %squares in restrict writable %b1 : (tensor<4096xf32>, memref<4096xf32>) -> ()
    return
  }
}

// -----

// What brings the parts of a mean and of a variance together waits once for memory: a few blocks hold all that they need.
// CHECK-LABEL: func.func @together
// CHECK-SAME:    lowering_config = #cuda.column_reduction<threads = 8, rows = 64, vector = 1, held = 2>
// CHECK-NOT:     scf.for
// CHECK-COUNT-4: memref.load %{{.*}} : memref<{{.*}}xf32>
// CHECK:         gpu.barrier
// CHECK-NOT:     memref.load %{{.*}} : memref<25088xf32>
#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
builtin.module @together attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @together() {
    %b0 = plan.binding 0 read align 64 : memref<98x256xf32>
    %b1 = plan.binding 1 read align 64 : memref<98x256xf32>
    %sums = bufferization.to_tensor %b0 restrict : memref<98x256xf32> to tensor<98x256xf32>
    %squares = bufferization.to_tensor %b1 restrict : memref<98x256xf32> to tensor<98x256xf32>
    %e = tensor.empty() : tensor<256xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]} ins(%sums : tensor<98x256xf32>) outs(%f : tensor<256xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    %all = linalg.generic {indexing_maps = [#whole, #whole, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%squares, %sums, %sum : tensor<98x256xf32>, tensor<98x256xf32>, tensor<256xf32>) outs(%f : tensor<256xf32>) {
    ^bb0(%a: f32, %p: f32, %m: f32, %b: f32):
      %d = arith.subf %p, %m : f32
      %q = arith.mulf %d, %d : f32
      %r = arith.addf %a, %q : f32
      %s = arith.addf %b, %r : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    %b2 = plan.binding 2 write align 64 : memref<256xf32>
    bufferization.materialize_in_destination %all in restrict writable %b2 : (tensor<256xf32>, memref<256xf32>) -> ()
    return
  }
}

// -----

// Seven sums of three inputs, as of two norms' gradients: eight columns of each would take more registers than a thread has,
// and those of four columns more than threads of the largest blocks have.
// CHECK-LABEL: func.func @seven
// CHECK-SAME:    lowering_config = #cuda.column_reduction<threads = 16, rows = 32, vector = 4>
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#part = affine_map<(d0, d1, d2) -> (d0, d2)>
#column = affine_map<(d0, d1, d2) -> (d2)>
builtin.module @seven attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @seven() {
    %m0 = plan.binding 0 read align 64 : memref<56x1792x256xbf16>
    %t0 = bufferization.to_tensor %m0 restrict : memref<56x1792x256xbf16> to tensor<56x1792x256xbf16>
    %m1 = plan.binding 1 read align 64 : memref<56x1792x256xbf16>
    %t1 = bufferization.to_tensor %m1 restrict : memref<56x1792x256xbf16> to tensor<56x1792x256xbf16>
    %m2 = plan.binding 2 read align 64 : memref<56x1792x256xbf16>
    %t2 = bufferization.to_tensor %m2 restrict : memref<56x1792x256xbf16> to tensor<56x1792x256xbf16>
    %m3 = plan.binding 3 read align 64 : memref<256xf32>
    %t3 = bufferization.to_tensor %m3 restrict : memref<256xf32> to tensor<256xf32>
    %m4 = plan.binding 4 read align 64 : memref<256xf32>
    %t4 = bufferization.to_tensor %m4 restrict : memref<256xf32> to tensor<256xf32>
    %m5 = plan.binding 5 read align 64 : memref<256xf32>
    %t5 = bufferization.to_tensor %m5 restrict : memref<256xf32> to tensor<256xf32>
    %e = tensor.empty() : tensor<56x256xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<56x256xf32>) -> tensor<56x256xf32>
    %r:7 = linalg.generic {indexing_maps = [#whole, #whole, #whole, #column, #column, #column, #part, #part, #part, #part, #part, #part, #part], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%t0, %t1, %t2, %t3, %t4, %t5 : tensor<56x1792x256xbf16>, tensor<56x1792x256xbf16>, tensor<56x1792x256xbf16>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)
        outs(%f, %f, %f, %f, %f, %f, %f : tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>) {
    ^bb0(%a: bf16, %c: bf16, %d: bf16, %p: f32, %q: f32, %o: f32, %b0: f32, %b1: f32, %b2: f32, %b3: f32, %b4: f32, %b5: f32, %b6: f32):
      %w0 = arith.extf %a : bf16 to f32
      %w1 = arith.extf %c : bf16 to f32
      %w2 = arith.extf %d : bf16 to f32
      %x0 = arith.mulf %w0, %p : f32
      %x1 = arith.mulf %w1, %q : f32
      %x2 = arith.mulf %w2, %o : f32
      %x3 = arith.mulf %x0, %x1 : f32
      %x4 = arith.mulf %x0, %x2 : f32
      %x5 = arith.mulf %x1, %x2 : f32
      %x6 = arith.mulf %x3, %x2 : f32
      %s0 = arith.addf %b0, %x0 : f32
      %s1 = arith.addf %b1, %x1 : f32
      %s2 = arith.addf %b2, %x2 : f32
      %s3 = arith.addf %b3, %x3 : f32
      %s4 = arith.addf %b4, %x4 : f32
      %s5 = arith.addf %b5, %x5 : f32
      %s6 = arith.addf %b6, %x6 : f32
      linalg.yield %s0, %s1, %s2, %s3, %s4, %s5, %s6 : f32, f32, f32, f32, f32, f32, f32
    } -> (tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>, tensor<56x256xf32>)
    %o0 = plan.binding 6 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#0 in restrict writable %o0 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    %o1 = plan.binding 7 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#1 in restrict writable %o1 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    %o2 = plan.binding 8 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#2 in restrict writable %o2 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    %o3 = plan.binding 9 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#3 in restrict writable %o3 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    %o4 = plan.binding 10 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#4 in restrict writable %o4 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    %o5 = plan.binding 11 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#5 in restrict writable %o5 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    %o6 = plan.binding 12 write align 64 : memref<56x256xf32>
    bufferization.materialize_in_destination %r#6 in restrict writable %o6 : (tensor<56x256xf32>, memref<56x256xf32>) -> ()
    return
  }
}
