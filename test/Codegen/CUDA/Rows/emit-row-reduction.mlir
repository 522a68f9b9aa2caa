// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-row-reduction -canonicalize -cse | FileCheck %s

// Each element is loaded once, and stays in registers to the end.
// CHECK-LABEL: func.func @in_registers
// CHECK-COUNT-2: vector.load
// CHECK-NOT:     vector.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         math.exp
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-2: vector.store
// CHECK-NOT:     gpu.barrier
builtin.module @in_registers attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @in_registers() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 4, vector = 4, chunks = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<8x256xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<8x256xf32> to tensor<8x256xf32>
    %e2 = tensor.empty() : tensor<8xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<8x256xf32>) outs(%f2 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    %e6 = tensor.empty() : tensor<8x256xf32>
    %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %g5 : tensor<8x256xf32>, tensor<8xf32>) outs(%e6 : tensor<8x256xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      %e = math.exp %s : f32
      linalg.yield %e : f32
    } -> tensor<8x256xf32>
    %e8 = tensor.empty() : tensor<8xf32>
    %cf8 = arith.constant 0.0 : f32
    %f8 = linalg.fill ins(%cf8 : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
    %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%g7 : tensor<8x256xf32>) outs(%f8 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %e12 = tensor.empty() : tensor<8x256xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g7, %g11 : tensor<8x256xf32>, tensor<8xf32>) outs(%e12 : tensor<8x256xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<8x256xf32>
    %b1 = plan.binding 1 write align 64 : memref<8x256xf32>
    bufferization.materialize_in_destination %g13 in restrict writable %b1 : (tensor<8x256xf32>, memref<8x256xf32>) -> ()
    return
  }
}

// -----

// A block for each row: warps meet in shared memory, each result at a place of its own.
// CHECK-LABEL: func.func @block
// CHECK-SAME:    block = [64, 1, 1], cluster = [1, 1, 1], shared = 32
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 0 : i64} : memref<2xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 16 : i64} : memref<2xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         gpu.barrier
// CHECK-COUNT-1: gpu.shuffle xor
// CHECK:         gpu.barrier
builtin.module @block attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @block() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 4, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<8x256xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<8x256xf32> to tensor<8x256xf32>
    %e2 = tensor.empty() : tensor<8xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<8x256xf32>) outs(%f2 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    %e6 = tensor.empty() : tensor<8x256xf32>
    %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %g5 : tensor<8x256xf32>, tensor<8xf32>) outs(%e6 : tensor<8x256xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      %e = math.exp %s : f32
      linalg.yield %e : f32
    } -> tensor<8x256xf32>
    %e8 = tensor.empty() : tensor<8xf32>
    %cf8 = arith.constant 0.0 : f32
    %f8 = linalg.fill ins(%cf8 : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
    %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%g7 : tensor<8x256xf32>) outs(%f8 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %e12 = tensor.empty() : tensor<8x256xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g7, %g11 : tensor<8x256xf32>, tensor<8xf32>) outs(%e12 : tensor<8x256xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<8x256xf32>
    %b1 = plan.binding 1 write align 64 : memref<8x256xf32>
    bufferization.materialize_in_destination %g13 in restrict writable %b1 : (tensor<8x256xf32>, memref<8x256xf32>) -> ()
    return
  }
}

// -----

// Two blocks for each row: its warps leave their results in the shared memory of both.
// CHECK-LABEL: func.func @cluster
// CHECK-SAME:    block = [64, 1, 1], cluster = [2, 1, 1], shared = 16
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<4xf32, #gpu.address_space<workgroup>>
// CHECK:         tile.arrive_blocks
// CHECK:         vector.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         tile.wait_blocks
// CHECK:         scf.if
// CHECK:           tile.store_in %{{.*}}, %[[BUFFER]][%{{.*}}] block %{{.*}} : f32,
// CHECK:         tile.arrive_blocks
// CHECK-NEXT:    tile.wait_blocks
// CHECK:         memref.load %[[BUFFER]]
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK-NOT:     gpu.barrier
// CHECK:         vector.store
builtin.module @cluster attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @cluster() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 4, chunks = 1, cluster = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<8x512xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<8x512xf32> to tensor<8x512xf32>
    %e0 = tensor.empty() : tensor<8xf32>
    %low = arith.constant 0xFF800000 : f32
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<8x512xf32>) outs(%f0 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    %e1 = tensor.empty() : tensor<8x512xf32>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<8x512xf32>, tensor<8xf32>) outs(%e1 : tensor<8x512xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8x512xf32>
    %b1 = plan.binding 1 write align 64 : memref<8x512xf32>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<8x512xf32>, memref<8x512xf32>) -> ()
    return
  }
}

// -----

// Vectors begin at multiples of 8 elements in memory. The first and the last one of a row are loaded
// and stored one by one where they are of other rows in part; the one between never is.
// CHECK-LABEL: func.func @shifted
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %c1001
// CHECK:         arith.divui %[[FIRST]], %c8
// CHECK:         %[[MASK:.*]] = vector.from_elements {{.*}} : vector<8xi1>
// CHECK:         scf.if
// CHECK-NEXT:      vector.load {{.*}} {alignment = 16 : i64} : memref<9009xbf16>, vector<8xbf16>
// CHECK:         } else {
// CHECK-COUNT-8:   memref.load
// CHECK:         vector.load {{.*}} {alignment = 16 : i64} : memref<9009xbf16>, vector<8xbf16>
// CHECK:         scf.if
// CHECK-NEXT:      vector.load {{.*}} {alignment = 16 : i64} : memref<9009xbf16>, vector<8xbf16>
// CHECK:         arith.select %[[MASK]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xbf16>
// CHECK:         vector.store {{.*}} {alignment = 16 : i64} : memref<9009xbf16>, vector<8xbf16>
// CHECK:         } else {
// CHECK-COUNT-8:   memref.store
// CHECK:         vector.store {{.*}} {alignment = 16 : i64} : memref<9009xbf16>, vector<8xbf16>
builtin.module @shifted attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @shifted() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 1, vector = 8, chunks = 4, shifted = true>} {
    %b0 = plan.binding 0 read align 64 : memref<9x1001xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<9x1001xbf16> to tensor<9x1001xbf16>
    %e0 = tensor.empty() : tensor<9xbf16>
    %low = arith.constant 0xFF80 : bf16
    %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<9xbf16>) -> tensor<9xbf16>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<9x1001xbf16>) outs(%f0 : tensor<9xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %m = arith.maximumf %a, %b : bf16
      linalg.yield %m : bf16
    } -> tensor<9xbf16>
    %e1 = tensor.empty() : tensor<9x1001xbf16>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<9x1001xbf16>, tensor<9xbf16>) outs(%e1 : tensor<9x1001xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %s = arith.subf %a, %b : bf16
      linalg.yield %s : bf16
    } -> tensor<9x1001xbf16>
    %b1 = plan.binding 1 write align 64 : memref<9x1001xbf16>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<9x1001xbf16>, memref<9x1001xbf16>) -> ()
    return
  }
}

// -----

// A row of any length: a loop over four vectors at a time, then one over the rest.
// CHECK-LABEL: func.func @loop
// CHECK:         scf.for
// CHECK-COUNT-4:   memref.load
// CHECK:         scf.for
// CHECK-COUNT-1:   memref.load
// CHECK:         gpu.shuffle xor
builtin.module @loop attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @loop() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 1, vector = 1, chunks = 0, unroll = 4>} {
    %size_n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%size_n) : memref<4x?xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4x?xf32> to tensor<4x?xf32>
    %e3 = tensor.empty() : tensor<4xf32>
    %cf3 = arith.constant 0.0 : f32
    %f3 = linalg.fill ins(%cf3 : f32) outs(%e3 : tensor<4xf32>) -> tensor<4xf32>
    %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<4x?xf32>) outs(%f3 : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %b1 = plan.binding 1 write align 64 : memref<4xf32>
    bufferization.materialize_in_destination %g6 in restrict writable %b1 : (tensor<4xf32>, memref<4xf32>) -> ()
    return
  }
}

// -----

// Ties go to the smaller position, whatever the order of threads.
// CHECK-LABEL: func.func @argmax
// CHECK:         gpu.shuffle xor
// CHECK:         gpu.shuffle xor
// CHECK:         %[[MORE:.*]] = arith.cmpf ogt
// CHECK:         arith.select %[[MORE]]
// CHECK:         %[[TIE:.*]] = arith.cmpi ne, %{{.*}} : i32
// CHECK:         arith.andi %[[TIE]], %{{.*}} : i1
builtin.module @argmax attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @argmax() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 1, vector = 1, chunks = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<4x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4x64xf32> to tensor<4x64xf32>
    %e2 = tensor.empty() : tensor<4xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
    %e5 = tensor.empty() : tensor<4xi32>
    %cf5 = arith.constant 0 : i32
    %f5 = linalg.fill ins(%cf5 : i32) outs(%e5 : tensor<4xi32>) -> tensor<4xi32>
    %g8:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<4x64xf32>) outs(%f2, %f5 : tensor<4xf32>, tensor<4xi32>) {
    ^bb0(%a: f32, %b: f32, %c: i32):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i32
      %m = arith.cmpf ogt, %a, %b : f32
      %v = arith.select %m, %a, %b : f32
      %w = arith.select %m, %j, %c : i32
      linalg.yield %v, %w : f32, i32
    } -> (tensor<4xf32>, tensor<4xi32>)
    %b1 = plan.binding 1 write align 64 : memref<4xi32>
    bufferization.materialize_in_destination %g8#1 in restrict writable %b1 : (tensor<4xi32>, memref<4xi32>) -> ()
    return
  }
}

// -----

// Rows of four parts, each of which is reduced, and summed up over the part's rows: each element is
// loaded once, by one of two warps, which meet in shared memory after the last row.
// CHECK-LABEL: func.func @walk
// CHECK:         %[[SUMS:.*]] = scf.for
// CHECK-COUNT-1:   vector.load %{{.*}} : memref<4096xf32>
// CHECK-NOT:       vector.load %{{.*}} : memref<4096xf32>
// CHECK-COUNT-5:   gpu.shuffle xor
// CHECK:           memref.store %{{.*}} : memref<32xf32>
// CHECK:         gpu.barrier
// CHECK:         vector.store %{{.*}} : memref<128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK:         gpu.barrier
// CHECK:         vector.store %{{.*}} : memref<512xf32>, vector<4xf32>
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0 mod 4, d1)>
builtin.module @walk attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @walk() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 2, vector = 4, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<32x128xf32>
    %b1 = plan.binding 1 write align 64 : memref<32xf32>
    %b2 = plan.binding 2 write align 64 : memref<4x128xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<32x128xf32> to tensor<32x128xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<32xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f0 : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %part = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %sum : tensor<32x128xf32>, tensor<32xf32>) outs(%f1 : tensor<4x128xf32>)attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    bufferization.materialize_in_destination %sum in restrict writable %b1 : (tensor<32xf32>, memref<32xf32>) -> ()
    bufferization.materialize_in_destination %part in restrict writable %b2 : (tensor<4x128xf32>, memref<4x128xf32>) -> ()
    return
  }
}

// -----

// Threads that wait for each other have the next row on its way before they work on one, and load each element once.
// CHECK-LABEL: func.func @walk_in_blocks
// CHECK:         %[[FIRST:.*]] = vector.load %{{.*}} : memref<4096xf32>, vector<2xf32>
// CHECK:         scf.for %[[ROUND:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[ROW:.*]] = %[[FIRST]])
// CHECK:           %[[NEXT:.*]] = vector.load %{{.*}} : memref<4096xf32>, vector<2xf32>
// CHECK-NOT:       vector.load %{{.*}} : memref<4096xf32>
// CHECK:           arith.addf %[[ROW]],
// CHECK:           gpu.barrier
// CHECK:           scf.yield %{{.*}}, %[[NEXT]]
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0 mod 4, d1)>
builtin.module @walk_in_blocks attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @walk_in_blocks() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 2, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<32x128xf32>
    %b1 = plan.binding 1 write align 64 : memref<32xf32>
    %b2 = plan.binding 2 write align 64 : memref<4x128xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<32x128xf32> to tensor<32x128xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<32xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f0 : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %part = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %sum : tensor<32x128xf32>, tensor<32xf32>) outs(%f1 : tensor<4x128xf32>)attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    bufferization.materialize_in_destination %sum in restrict writable %b1 : (tensor<32xf32>, memref<32xf32>) -> ()
    bufferization.materialize_in_destination %part in restrict writable %b2 : (tensor<4x128xf32>, memref<4x128xf32>) -> ()
    return
  }
}

// -----

// Blocks of a cluster that share rows meet before the first one, whose sums they exchange, and each has columns of its own.
// CHECK-LABEL: func.func @walk_in_clusters
// CHECK-SAME:    block = [64, 1, 1], cluster = [2, 1, 1]
// CHECK:         tile.arrive_blocks
// CHECK-NEXT:    tile.wait_blocks
// CHECK:         scf.for
// CHECK:           tile.store_in
// CHECK:           tile.arrive_blocks
// CHECK-NEXT:      tile.wait_blocks
// CHECK:           scf.yield
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0 mod 4, d1)>
builtin.module @walk_in_clusters attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @walk_in_clusters() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 1, chunks = 1, cluster = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<32x128xf32>
    %b1 = plan.binding 1 write align 64 : memref<32xf32>
    %b2 = plan.binding 2 write align 64 : memref<4x128xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<32x128xf32> to tensor<32x128xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<32xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f0 : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %part = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %sum : tensor<32x128xf32>, tensor<32xf32>) outs(%f1 : tensor<4x128xf32>)attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    bufferization.materialize_in_destination %sum in restrict writable %b1 : (tensor<32xf32>, memref<32xf32>) -> ()
    bufferization.materialize_in_destination %part in restrict writable %b2 : (tensor<4x128xf32>, memref<4x128xf32>) -> ()
    return
  }
}

// -----

// Of two rows at a time, the threads of one wait for each other alone, until the last row is done.
// CHECK-LABEL: func.func @loop_of_thread_groups
// CHECK:         scf.for
// CHECK-NOT:       gpu.barrier
// CHECK:           nvvm.barrier id = %[[GROUP:.*]] number_of_threads = %[[THREADS:.*]]
// CHECK:           nvvm.barrier id = %[[GROUP]] number_of_threads = %[[THREADS]]
// CHECK:           scf.yield
// CHECK:         gpu.barrier
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0 mod 4, d1)>
builtin.module @loop_of_thread_groups attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @loop_of_thread_groups() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 2, vector = 2, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<32x128xf32>
    %b1 = plan.binding 1 write align 64 : memref<32xf32>
    %b2 = plan.binding 2 write align 64 : memref<4x128xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<32x128xf32> to tensor<32x128xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<32xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f0 : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %part = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %sum : tensor<32x128xf32>, tensor<32xf32>) outs(%f1 : tensor<4x128xf32>)attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    bufferization.materialize_in_destination %sum in restrict writable %b1 : (tensor<32xf32>, memref<32xf32>) -> ()
    bufferization.materialize_in_destination %part in restrict writable %b2 : (tensor<4x128xf32>, memref<4x128xf32>) -> ()
    return
  }
}

// -----

// Rows that not every thread group has in the last iteration: they count for nothing, and nobody stores them.
// CHECK-LABEL: func.func @walk_that_lacks_rows
// CHECK:         %[[SUMS:[^ ]*]] = scf.for %{{.*}} = %c0 to %c3 step
// CHECK-NOT:       arith.select
// CHECK:         %[[HAS:.*]] = arith.cmpi slt, %{{.*}}, %c30 : index
// CHECK:         scf.if %{{.*}} {
// CHECK-NEXT:      memref.store %{{.*}} : memref<30xf32>
// CHECK:         arith.select %[[HAS]], %{{.*}}, %[[SUMS]] : vector<4xf32>
// CHECK:         gpu.barrier
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0 mod 4, d1)>
builtin.module @walk_that_lacks_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @walk_that_lacks_rows() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 2, vector = 4, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<30x128xf32>
    %b1 = plan.binding 1 write align 64 : memref<30xf32>
    %b2 = plan.binding 2 write align 64 : memref<4x128xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<30x128xf32> to tensor<30x128xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<30xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<30xf32>) -> tensor<30xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<30x128xf32>) outs(%f0 : tensor<30xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<30xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %part = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %sum : tensor<30x128xf32>, tensor<30xf32>) outs(%f1 : tensor<4x128xf32>)attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    bufferization.materialize_in_destination %sum in restrict writable %b1 : (tensor<30xf32>, memref<30xf32>) -> ()
    bufferization.materialize_in_destination %part in restrict writable %b2 : (tensor<4x128xf32>, memref<4x128xf32>) -> ()
    return
  }
}

// -----

// What all rows are multiplied by is loaded before the threads wait for each other.
// CHECK-LABEL: func.func @vectors_first
// CHECK:         vector.load %{{.*}} : memref<1024xf32>, vector<2xf32>
// CHECK:         vector.load %{{.*}} : memref<128xf32>, vector<2xf32>
// CHECK:         gpu.barrier
// CHECK-NOT:     vector.load
// CHECK:         vector.store %{{.*}} : memref<1024xf32>, vector<2xf32>
builtin.module @vectors_first attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @vectors_first() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 2, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<8x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<128xf32>
    %b2 = plan.binding 2 write align 64 : memref<8x128xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<8x128xf32> to tensor<8x128xf32>
    %w = bufferization.to_tensor %b1 restrict : memref<128xf32> to tensor<128xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<8xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x128xf32>) outs(%f0 : tensor<8xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %e1 = tensor.empty() : tensor<8x128xf32>
    %scaled = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %w : tensor<8x128xf32>, tensor<8xf32>, tensor<128xf32>) outs(%e1 : tensor<8x128xf32>) {
    ^bb0(%a: f32, %r: f32, %c: f32, %out: f32):
      %p = arith.mulf %a, %r : f32
      %q = arith.mulf %p, %c : f32
      linalg.yield %q : f32
    } -> tensor<8x128xf32>
    bufferization.materialize_in_destination %scaled in restrict writable %b2 : (tensor<8x128xf32>, memref<8x128xf32>) -> ()
    return
  }
}

// -----

// What a row's sum is added to is loaded before the threads wait for each other. The result takes its memory, which no
// thread but the row's reads: those beyond the row's end read its last vector again, without a branch.
// CHECK-LABEL: func.func @result_in_place
// CHECK-NOT:     scf.if
// CHECK-COUNT-2: vector.load %{{.*}} : memref<896xf32>, vector<8xf32>
// CHECK:         memref.load %{{.*}} : memref<8xf32>
// CHECK-NOT:     scf.if
// CHECK-COUNT-2: vector.load %{{.*}} : memref<7168xf32>, vector<8xf32>
// CHECK:         gpu.barrier
// CHECK-NOT:     memref.load %{{.*}} : memref<8xf32>
// CHECK:         memref.store %{{.*}} : memref<8xf32>
builtin.module @result_in_place attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @result_in_place() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 8, chunks = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<8x896xf32>
    %b1 = plan.binding 1 read align 64 : memref<896xf32>
    %b2 = plan.binding 2 read align 64 may_alias : memref<8xf32>
    %b3 = plan.binding 3 write align 64 may_alias : memref<8xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<8x896xf32> to tensor<8x896xf32>
    %w = bufferization.to_tensor %b1 restrict : memref<896xf32> to tensor<896xf32>
    %r = bufferization.to_tensor %b2 restrict : memref<8xf32> to tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<8xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<8x896xf32>, tensor<896xf32>) outs(%f0 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %added = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%sum, %r : tensor<8xf32>, tensor<8xf32>) outs(%e0 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %q = arith.addf %a, %b : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    bufferization.materialize_in_destination %added in restrict writable %b3 : (tensor<8xf32>, memref<8xf32>) -> ()
    return
  }
}
