// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy | FileCheck %s

// CHECK-LABEL: func.func @large_elementwise()
// CHECK-SAME:    cuda.index_bits = 32 : i32
// CHECK-SAME:    lowering_config = #cuda.elementwise<threads = 256, vector = 4, unroll = 1>
// CHECK-SAME:    plan.reason = "elementwise over the flattened shape: 4 elements a thread in 1 accesses of 4"
builtin.module @large_elementwise attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @large_elementwise() {
    %b0 = plan.binding 0 read align 64 : memref<4096x1024xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x1024xf32> to tensor<4096x1024xf32>
    %e2 = tensor.empty() : tensor<4096x1024xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<4096x1024xf32>) outs(%e2 : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<4096x1024xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096x1024xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<4096x1024xf32>, memref<4096x1024xf32>) -> ()
    return
  }
}

// -----

// What is only written has larger blocks: launching those of 4 KiB would set the time.
// CHECK-LABEL: func.func @only_written()
// CHECK-SAME:    #cuda.elementwise<threads = 128, vector = 4, unroll = 4>
builtin.module @only_written attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @only_written() {
    %b0 = plan.binding 0 read align 64 : memref<8192xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<8192xf32> to tensor<8192xf32>
    %e2 = tensor.empty() : tensor<8192x4096xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<8192xf32>) outs(%e2 : tensor<8192x4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<8192x4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<8192x4096xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<8192x4096xf32>, memref<8192x4096xf32>) -> ()
    return
  }
}

// -----

// Few elements are spread over the multiprocessors first.
// CHECK-LABEL: func.func @tiny()
// CHECK-SAME:    #cuda.elementwise<threads = 128, vector = 1, unroll = 1>
builtin.module @tiny attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @tiny() {
    %b0 = plan.binding 0 read align 64 : memref<100xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<100xf32> to tensor<100xf32>
    %e2 = tensor.empty() : tensor<100xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t0 : tensor<100xf32>) outs(%e2 : tensor<100xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<100xf32>
    %b1 = plan.binding 1 write align 64 : memref<100xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<100xf32>, memref<100xf32>) -> ()
    return
  }
}

// -----

// 2^31 elements need 64-bit indices.
// CHECK-LABEL: func.func @huge()
// CHECK-SAME:    cuda.index_bits = 64 : i32
builtin.module @huge attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @huge() {
    %b0 = plan.binding 0 read align 64 : memref<65536x65536xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<65536x65536xf32> to tensor<65536x65536xf32>
    %e2 = tensor.empty() : tensor<65536x65536xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<65536x65536xf32>) outs(%e2 : tensor<65536x65536xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<65536x65536xf32>
    %b1 = plan.binding 1 write align 64 : memref<65536x65536xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<65536x65536xf32>, memref<65536x65536xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @transposed()
// CHECK-SAME:    #cuda.transpose<threads = 256, tile = 32, vector = 1>
builtin.module @transposed attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @transposed() {
    %b0 = plan.binding 0 read align 64 : memref<512x512xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x512xf32> to tensor<512x512xf32>
    %e2 = tensor.empty() : tensor<512x512xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<512x512xf32>) outs(%e2 : tensor<512x512xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<512x512xf32>
    %b1 = plan.binding 1 write align 64 : memref<512x512xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<512x512xf32>, memref<512x512xf32>) -> ()
    return
  }
}

// -----

// Many odd columns of narrow elements, which are moved one by one: squares of whole lines.
// CHECK-LABEL: func.func @transposed_odd()
// CHECK-SAME:    #cuda.transpose<threads = 512, tile = 64, vector = 1>
builtin.module @transposed_odd attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @transposed_odd() {
    %b0 = plan.binding 0 read align 64 : memref<9000x7001xf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<9000x7001xf16> to tensor<9000x7001xf16>
    %e2 = tensor.empty() : tensor<7001x9000xf16>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<9000x7001xf16>) outs(%e2 : tensor<7001x9000xf16>) {
    ^bb0(%a: f16, %b: f16):
      linalg.yield %a : f16
    } -> tensor<7001x9000xf16>
    %b1 = plan.binding 1 write align 64 : memref<7001x9000xf16>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<7001x9000xf16>, memref<7001x9000xf16>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @warp_per_row()
// CHECK-SAME:    #cuda.row_reduction<threads = 32, rows = 4, vector = 4, chunks = 8>
builtin.module @warp_per_row attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @warp_per_row() {
    %b0 = plan.binding 0 read align 64 : memref<4096x1024xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x1024xf32> to tensor<4096x1024xf32>
    %e2 = tensor.empty() : tensor<4096xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<4096xf32>) -> tensor<4096xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<4096x1024xf32>) outs(%f2 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<4096xf32>
    %e6 = tensor.empty() : tensor<4096x1024xf32>
    %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %g5 : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e6 : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      %e = math.exp %s : f32
      linalg.yield %e : f32
    } -> tensor<4096x1024xf32>
    %e8 = tensor.empty() : tensor<4096xf32>
    %cf8 = arith.constant 0.0 : f32
    %f8 = linalg.fill ins(%cf8 : f32) outs(%e8 : tensor<4096xf32>) -> tensor<4096xf32>
    %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%g7 : tensor<4096x1024xf32>) outs(%f8 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %e12 = tensor.empty() : tensor<4096x1024xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g7, %g11 : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e12 : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<4096x1024xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096x1024xf32>
    bufferization.materialize_in_destination %g13 in restrict writable %b1 : (tensor<4096x1024xf32>, memref<4096x1024xf32>) -> ()
    return
  }
}

// -----

// More rows than warps are there at once: shorter blocks keep reads and writes mixed.
// CHECK-LABEL: func.func @rows_of_ping_pong()
// CHECK-SAME:    #cuda.row_reduction<threads = 64, rows = 1, vector = 4, chunks = 4>
builtin.module @rows_of_ping_pong attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows_of_ping_pong() {
    %b0 = plan.binding 0 read align 64 : memref<32768x1024xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<32768x1024xf32> to tensor<32768x1024xf32>
    %e2 = tensor.empty() : tensor<32768xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<32768xf32>) -> tensor<32768xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<32768x1024xf32>) outs(%f2 : tensor<32768xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<32768xf32>
    %e6 = tensor.empty() : tensor<32768x1024xf32>
    %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %g5 : tensor<32768x1024xf32>, tensor<32768xf32>) outs(%e6 : tensor<32768x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      %e = math.exp %s : f32
      linalg.yield %e : f32
    } -> tensor<32768x1024xf32>
    %e8 = tensor.empty() : tensor<32768xf32>
    %cf8 = arith.constant 0.0 : f32
    %f8 = linalg.fill ins(%cf8 : f32) outs(%e8 : tensor<32768xf32>) -> tensor<32768xf32>
    %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%g7 : tensor<32768x1024xf32>) outs(%f8 : tensor<32768xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<32768xf32>
    %e12 = tensor.empty() : tensor<32768x1024xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g7, %g11 : tensor<32768x1024xf32>, tensor<32768xf32>) outs(%e12 : tensor<32768x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<32768x1024xf32>
    %b1 = plan.binding 1 write align 64 : memref<32768x1024xf32>
    bufferization.materialize_in_destination %g13 in restrict writable %b1 : (tensor<32768x1024xf32>, memref<32768x1024xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @block_per_row()
// CHECK-SAME:    #cuda.row_reduction<threads = 512, rows = 1, vector = 4, chunks = 4>
builtin.module @block_per_row attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @block_per_row() {
    %b0 = plan.binding 0 read align 64 : memref<4096x8192xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x8192xf32> to tensor<4096x8192xf32>
    %e2 = tensor.empty() : tensor<4096xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<4096xf32>) -> tensor<4096xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<4096x8192xf32>) outs(%f2 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<4096xf32>
    %e6 = tensor.empty() : tensor<4096x8192xf32>
    %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %g5 : tensor<4096x8192xf32>, tensor<4096xf32>) outs(%e6 : tensor<4096x8192xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      %e = math.exp %s : f32
      linalg.yield %e : f32
    } -> tensor<4096x8192xf32>
    %e8 = tensor.empty() : tensor<4096xf32>
    %cf8 = arith.constant 0.0 : f32
    %f8 = linalg.fill ins(%cf8 : f32) outs(%e8 : tensor<4096xf32>) -> tensor<4096xf32>
    %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%g7 : tensor<4096x8192xf32>) outs(%f8 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %e12 = tensor.empty() : tensor<4096x8192xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g7, %g11 : tensor<4096x8192xf32>, tensor<4096xf32>) outs(%e12 : tensor<4096x8192xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<4096x8192xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096x8192xf32>
    bufferization.materialize_in_destination %g13 in restrict writable %b1 : (tensor<4096x8192xf32>, memref<4096x8192xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @row_too_long_for_registers()
// CHECK-SAME:    #cuda.row_reduction<threads = 1024, rows = 1, vector = 4, chunks = 4, shared = 12>
builtin.module @row_too_long_for_registers attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @row_too_long_for_registers() {
    %b0 = plan.binding 0 read align 64 : memref<128x65536xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<128x65536xf32> to tensor<128x65536xf32>
    %e2 = tensor.empty() : tensor<128xf32>
    %cf2 = arith.constant 0xFF800000 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<128xf32>) -> tensor<128xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<128x65536xf32>) outs(%f2 : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<128xf32>
    %e6 = tensor.empty() : tensor<128x65536xf32>
    %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %g5 : tensor<128x65536xf32>, tensor<128xf32>) outs(%e6 : tensor<128x65536xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      %e = math.exp %s : f32
      linalg.yield %e : f32
    } -> tensor<128x65536xf32>
    %e8 = tensor.empty() : tensor<128xf32>
    %cf8 = arith.constant 0.0 : f32
    %f8 = linalg.fill ins(%cf8 : f32) outs(%e8 : tensor<128xf32>) -> tensor<128xf32>
    %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%g7 : tensor<128x65536xf32>) outs(%f8 : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %e12 = tensor.empty() : tensor<128x65536xf32>
    %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%g7, %g11 : tensor<128x65536xf32>, tensor<128xf32>) outs(%e12 : tensor<128x65536xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<128x65536xf32>
    %b1 = plan.binding 1 write align 64 : memref<128x65536xf32>
    bufferization.materialize_in_destination %g13 in restrict writable %b1 : (tensor<128x65536xf32>, memref<128x65536xf32>) -> ()
    return
  }
}

// -----

// The blocks of a cluster hold what one block could not.
// CHECK-LABEL: func.func @row_of_cluster()
// CHECK-SAME:    #cuda.row_reduction<threads = 1024, rows = 1, vector = 4, chunks = 8, cluster = 8>
builtin.module @row_of_cluster attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @row_of_cluster() {
    %b0 = plan.binding 0 read align 64 : memref<1000x262144xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<1000x262144xf32> to tensor<1000x262144xf32>
    %e0 = tensor.empty() : tensor<1000xf32>
    %low = arith.constant 0xFF800000 : f32
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<1000xf32>) -> tensor<1000xf32>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<1000x262144xf32>) outs(%f0 : tensor<1000xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<1000xf32>
    %e1 = tensor.empty() : tensor<1000x262144xf32>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<1000x262144xf32>, tensor<1000xf32>) outs(%e1 : tensor<1000x262144xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<1000x262144xf32>
    %b1 = plan.binding 1 write align 64 : memref<1000x262144xf32>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<1000x262144xf32>, memref<1000x262144xf32>) -> ()
    return
  }
}

// -----

// Few rows are shared though one block would hold each.
// CHECK-LABEL: func.func @few_rows()
// CHECK-SAME:    #cuda.row_reduction<threads = 1024, rows = 1, vector = 4, chunks = 1, cluster = 4>
builtin.module @few_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few_rows() {
    %b0 = plan.binding 0 read align 64 : memref<8x16384xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<8x16384xf32> to tensor<8x16384xf32>
    %e0 = tensor.empty() : tensor<8xf32>
    %low = arith.constant 0xFF800000 : f32
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<8x16384xf32>) outs(%f0 : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    %e1 = tensor.empty() : tensor<8x16384xf32>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<8x16384xf32>, tensor<8xf32>) outs(%e1 : tensor<8x16384xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8x16384xf32>
    %b1 = plan.binding 1 write align 64 : memref<8x16384xf32>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<8x16384xf32>, memref<8x16384xf32>) -> ()
    return
  }
}

// -----

// Rows of an odd number of narrow elements are accessed by vectors all the same.
// CHECK-LABEL: func.func @odd_rows()
// CHECK-SAME:    #cuda.row_reduction<threads = 32, rows = 4, vector = 8, chunks = 4, shifted = true>
builtin.module @odd_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @odd_rows() {
    %b0 = plan.binding 0 read align 64 : memref<16384x997xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<16384x997xbf16> to tensor<16384x997xbf16>
    %e0 = tensor.empty() : tensor<16384xbf16>
    %low = arith.constant 0xFF80 : bf16
    %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<16384xbf16>) -> tensor<16384xbf16>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<16384x997xbf16>) outs(%f0 : tensor<16384xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %m = arith.maximumf %a, %b : bf16
      linalg.yield %m : bf16
    } -> tensor<16384xbf16>
    %e1 = tensor.empty() : tensor<16384x997xbf16>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<16384x997xbf16>, tensor<16384xbf16>) outs(%e1 : tensor<16384x997xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %s = arith.subf %a, %b : bf16
      linalg.yield %s : bf16
    } -> tensor<16384x997xbf16>
    %b1 = plan.binding 1 write align 64 : memref<16384x997xbf16>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<16384x997xbf16>, memref<16384x997xbf16>) -> ()
    return
  }
}

// -----

// But not short ones.
// CHECK-LABEL: func.func @short_odd_rows()
// CHECK-SAME:    #cuda.row_reduction<threads = 32, rows = 8, vector = 1, chunks = 7>
builtin.module @short_odd_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @short_odd_rows() {
    %b0 = plan.binding 0 read align 64 : memref<98304x197xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<98304x197xbf16> to tensor<98304x197xbf16>
    %e0 = tensor.empty() : tensor<98304xbf16>
    %low = arith.constant 0xFF80 : bf16
    %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<98304xbf16>) -> tensor<98304xbf16>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<98304x197xbf16>) outs(%f0 : tensor<98304xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %m = arith.maximumf %a, %b : bf16
      linalg.yield %m : bf16
    } -> tensor<98304xbf16>
    %e1 = tensor.empty() : tensor<98304x197xbf16>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<98304x197xbf16>, tensor<98304xbf16>) outs(%e1 : tensor<98304x197xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %s = arith.subf %a, %b : bf16
      linalg.yield %s : bf16
    } -> tensor<98304x197xbf16>
    %b1 = plan.binding 1 write align 64 : memref<98304x197xbf16>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<98304x197xbf16>, memref<98304x197xbf16>) -> ()
    return
  }
}

// -----

// Few threads of a warp would have an element of their own behind the first ones: two rows share it.
// CHECK-LABEL: func.func @shorter_odd_rows()
// CHECK-SAME:    #cuda.row_reduction<threads = 16, rows = 16, vector = 1, chunks = 3>
builtin.module @shorter_odd_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @shorter_odd_rows() {
    %b0 = plan.binding 0 read align 64 : memref<98304x33xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<98304x33xbf16> to tensor<98304x33xbf16>
    %e0 = tensor.empty() : tensor<98304xbf16>
    %low = arith.constant 0xFF80 : bf16
    %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<98304xbf16>) -> tensor<98304xbf16>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<98304x33xbf16>) outs(%f0 : tensor<98304xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %m = arith.maximumf %a, %b : bf16
      linalg.yield %m : bf16
    } -> tensor<98304xbf16>
    %e1 = tensor.empty() : tensor<98304x33xbf16>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<98304x33xbf16>, tensor<98304xbf16>) outs(%e1 : tensor<98304x33xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %s = arith.subf %a, %b : bf16
      linalg.yield %s : bf16
    } -> tensor<98304x33xbf16>
    %b1 = plan.binding 1 write align 64 : memref<98304x33xbf16>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<98304x33xbf16>, memref<98304x33xbf16>) -> ()
    return
  }
}

// -----

// Shared memory holds what lies between the first and the last vectors of such a row.
// CHECK-LABEL: func.func @long_odd_rows()
// CHECK-SAME:    #cuda.row_reduction<threads = 256, rows = 1, vector = 8, chunks = 2, shared = 23, shifted = true>
builtin.module @long_odd_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @long_odd_rows() {
    %b0 = plan.binding 0 read align 64 : memref<2048x50257xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<2048x50257xbf16> to tensor<2048x50257xbf16>
    %e0 = tensor.empty() : tensor<2048xbf16>
    %low = arith.constant 0xFF80 : bf16
    %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<2048xbf16>) -> tensor<2048xbf16>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<2048x50257xbf16>) outs(%f0 : tensor<2048xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %m = arith.maximumf %a, %b : bf16
      linalg.yield %m : bf16
    } -> tensor<2048xbf16>
    %e1 = tensor.empty() : tensor<2048x50257xbf16>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<2048x50257xbf16>, tensor<2048xbf16>) outs(%e1 : tensor<2048x50257xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %s = arith.subf %a, %b : bf16
      linalg.yield %s : bf16
    } -> tensor<2048x50257xbf16>
    %b1 = plan.binding 1 write align 64 : memref<2048x50257xbf16>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<2048x50257xbf16>, memref<2048x50257xbf16>) -> ()
    return
  }
}

// -----

// A row of an odd number of narrow elements that is added to all rows: vectors reach from one to the next.
// CHECK-LABEL: func.func @odd_elementwise()
// CHECK-SAME:    #cuda.elementwise<threads = 256, vector = 8, unroll = 1>
builtin.module @odd_elementwise attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @odd_elementwise() {
    %b0 = plan.binding 0 read align 64 : memref<2048x50257xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<2048x50257xbf16> to tensor<2048x50257xbf16>
    %b1 = plan.binding 1 read align 64 : memref<50257xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<50257xbf16> to tensor<50257xbf16>
    %e0 = tensor.empty() : tensor<2048x50257xbf16>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %t1 : tensor<2048x50257xbf16>, tensor<50257xbf16>) outs(%e0 : tensor<2048x50257xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16):
      %s = arith.addf %a, %b : bf16
      linalg.yield %s : bf16
    } -> tensor<2048x50257xbf16>
    %b2 = plan.binding 2 write align 64 : memref<2048x50257xbf16>
    bufferization.materialize_in_destination %sum in restrict writable %b2 : (tensor<2048x50257xbf16>, memref<2048x50257xbf16>) -> ()
    return
  }
}

// -----

// Words are fast enough one by one.
// CHECK-LABEL: func.func @odd_rows_of_words()
// CHECK-SAME:    #cuda.row_reduction<threads = 32, rows = 4, vector = 1, chunks = 7>
builtin.module @odd_rows_of_words attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @odd_rows_of_words() {
    %b0 = plan.binding 0 read align 64 : memref<98304x197xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<98304x197xf32> to tensor<98304x197xf32>
    %e0 = tensor.empty() : tensor<98304xf32>
    %low = arith.constant 0xFF800000 : f32
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<98304xf32>) -> tensor<98304xf32>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<98304x197xf32>) outs(%f0 : tensor<98304xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<98304xf32>
    %e1 = tensor.empty() : tensor<98304x197xf32>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %max : tensor<98304x197xf32>, tensor<98304xf32>) outs(%e1 : tensor<98304x197xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<98304x197xf32>
    %b1 = plan.binding 1 write align 64 : memref<98304x197xf32>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<98304x197xf32>, memref<98304x197xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @columns()
// CHECK-SAME:    #cuda.column_reduction<threads = 32, rows = 32, vector = 4>
builtin.module @columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @columns() {
    %b0 = plan.binding 0 read align 64 : memref<32768x32768xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<32768x32768xf32> to tensor<32768x32768xf32>
    %e2 = tensor.empty() : tensor<32768xf32>
    %cf2 = arith.constant 0.0 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<32768xf32>) -> tensor<32768xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%t0 : tensor<32768x32768xf32>) outs(%f2 : tensor<32768xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<32768xf32>
    %b1 = plan.binding 1 write align 64 : memref<32768xf32>
    bufferization.materialize_in_destination %g5 in restrict writable %b1 : (tensor<32768xf32>, memref<32768xf32>) -> ()
    return
  }
}

// -----

// Short columns, which parts of sums are: of 128 blocks with 32 columns each, and 256 with 16, the
// latter, so that all multiprocessors have some.
// CHECK-LABEL: func.func @short_columns()
// CHECK-SAME:    #cuda.column_reduction<threads = 8, rows = 64, vector = 2>
builtin.module @short_columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @short_columns() {
    %b0 = plan.binding 0 read align 64 : memref<128x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<128x4096xf32> to tensor<128x4096xf32>
    %e = tensor.empty() : tensor<4096xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%t0 : tensor<128x4096xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096xf32>
    bufferization.materialize_in_destination %sum in restrict writable %b1 : (tensor<4096xf32>, memref<4096xf32>) -> ()
    return
  }
}

// -----

// Where the symbolic size is a multiple of 4, and 32 bits do, the first variants are taken: those
// that hold a row, then one that walks over it.
// CHECK-LABEL: func.func @columns_of_symbolic_length_rows1024()
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 256, rows = 1, vector = 4, chunks = 1>
// CHECK-SAME:    #plan.value_guard<{{.*}}, min = 4, max = 1024, divisor = 1>]
// CHECK-LABEL: func.func @columns_of_symbolic_length_rows4096()
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 1024, rows = 1, vector = 4, chunks = 1>
// CHECK-LABEL: func.func @columns_of_symbolic_length_rows16384()
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 1024, rows = 1, vector = 4, chunks = 4>
// CHECK-LABEL: func.func @columns_of_symbolic_length_guarded()
// CHECK-SAME:    cuda.index_bits = 32 : i32
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 256, rows = 1, vector = 4, chunks = 0, unroll = 4>
// CHECK-SAME:    plan.guards = [#plan.value_guard<{{.*}}, min = 0, max = 1073741823, divisor = 1>, #plan.value_guard<{{.*}}, min = 0, max = 1073741823, divisor = 4>]
// CHECK:         plan.scalar 0 {cuda.divisor = 4 : i64}
// Other sizes have such variants as well, with accesses of one element.
// CHECK-LABEL: func.func @columns_of_symbolic_length_narrow_rows1024()
// CHECK-SAME:    cuda.index_bits = 32 : i32
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 1024, rows = 1, vector = 1, chunks = 1>
// CHECK-SAME:    #plan.value_guard<{{.*}}, min = 1, max = 1024, divisor = 1>]
// CHECK:         plan.scalar 0 : index
// CHECK-LABEL: func.func @columns_of_symbolic_length_narrow_rows4096()
// CHECK-LABEL: func.func @columns_of_symbolic_length_narrow_rows16384()
// CHECK-LABEL: func.func @columns_of_symbolic_length_narrow()
// CHECK-SAME:    cuda.index_bits = 32 : i32
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 256, rows = 1, vector = 1, chunks = 0, unroll = 4>
// CHECK-SAME:    plan.guards = [#plan.value_guard<{{.*}}, min = 0, max = 1073741823, divisor = 1>]
// CHECK-LABEL: func.func @columns_of_symbolic_length()
// CHECK-SAME:    cuda.index_bits = 64 : i32
// CHECK-SAME:    lowering_config = #cuda.row_reduction<threads = 256, rows = 1, vector = 1, chunks = 0, unroll = 4>
// CHECK-NOT:     plan.guards
// CHECK:         plan.scalar 0 : index
builtin.module @columns_of_symbolic_length attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @columns_of_symbolic_length() {
    %size_n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%size_n) : memref<7x?xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<7x?xf32> to tensor<7x?xf32>
    %e3 = tensor.empty() : tensor<7xf32>
    %cf3 = arith.constant 0.0 : f32
    %f3 = linalg.fill ins(%cf3 : f32) outs(%e3 : tensor<7xf32>) -> tensor<7xf32>
    %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<7x?xf32>) outs(%f3 : tensor<7xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<7xf32>
    %b1 = plan.binding 1 write align 64 : memref<7xf32>
    bufferization.materialize_in_destination %g6 in restrict writable %b1 : (tensor<7xf32>, memref<7xf32>) -> ()
    return
  }
}

// -----

// Tiles are copied ahead of their use also where the sum's length is symbolic; a sum of one step passes through registers, and one of
// few steps has no more stages than those and one.
// CHECK-LABEL: func.func @symbolic_sum()
// CHECK-SAME:    #cuda.matmul_fma<{{.*}} stages = 3>
builtin.module @symbolic_sum attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @symbolic_sum() {
    %k = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%k) : memref<4096x?xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x?xf32> to tensor<4096x?xf32>
    %b1 = plan.binding 1 read align 64 sizes(%k) : memref<?x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x4096xf32> to tensor<?x4096xf32>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x?xf32>, tensor<?x4096xf32>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @single_step()
// CHECK-SAME:    #cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>
builtin.module @single_step attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @single_step() {
    %b0 = plan.binding 0 read align 64 : memref<4096x16xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x16xf32> to tensor<4096x16xf32>
    %b1 = plan.binding 1 read align 64 : memref<16x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<16x4096xf32> to tensor<16x4096xf32>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x16xf32>, tensor<16x4096xf32>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @two_steps()
// CHECK-SAME:    #cuda.matmul_fma<{{.*}} stages = 3>
builtin.module @two_steps attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @two_steps() {
    %b0 = plan.binding 0 read align 64 : memref<4096x20xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x20xf32> to tensor<4096x20xf32>
    %b1 = plan.binding 1 read align 64 : memref<20x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<20x4096xf32> to tensor<20x4096xf32>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x20xf32>, tensor<20x4096xf32>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @product()
// CHECK-SAME:    #cuda.matmul_fma<tile_m = 128, tile_n = 256, tile_k = 16, thread_m = 16, thread_n = 8, stages = 3>
builtin.module @product attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @product() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @half_product()
// CHECK-SAME:    #cuda.matmul_mma<tile_m = 256, tile_n = 128, tile_k = 64, warps_m = 4, warps_n = 2, stages = 4>
builtin.module @half_product attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90">} {
  func.func @half_product() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %e8 = tensor.empty() : tensor<4096x4096xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<4096x4096xf32>) outs(%e8 : tensor<4096x4096xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<4096x4096xbf16>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<4096x4096xbf16>, memref<4096x4096xbf16>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @half_product_on_hopper()
// CHECK-SAME:    #cuda.matmul_wgmma<tile_m = 128, tile_n = 256, tile_k = 64, warpgroups = 2, stages = 4, raster = 16, blocks = 1, split = 1>
builtin.module @half_product_on_hopper attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @half_product_on_hopper() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %e8 = tensor.empty() : tensor<4096x4096xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<4096x4096xf32>) outs(%e8 : tensor<4096x4096xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<4096x4096xbf16>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<4096x4096xbf16>, memref<4096x4096xbf16>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @few_tiles()
// CHECK-SAME:    #cuda.matmul_wgmma<tile_m = 64, {{.*}}>
builtin.module @few_tiles attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few_tiles() {
    %b0 = plan.binding 0 read align 64 : memref<64x4096xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x4096xbf16> to tensor<64x4096xbf16>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %e4 = tensor.empty() : tensor<64x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<64x4096xf32>) -> tensor<64x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x4096xbf16>, tensor<4096x4096xbf16>) outs(%f4 : tensor<64x4096xf32>) -> tensor<64x4096xf32>
    %e8 = tensor.empty() : tensor<64x4096xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<64x4096xf32>) outs(%e8 : tensor<64x4096xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<64x4096xbf16>
    %b2 = plan.binding 2 write align 64 : memref<64x4096xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<64x4096xbf16>, memref<64x4096xbf16>) -> ()
    return
  }
}

// -----

// No mma.sync for bf16 before sm_80.
// CHECK-LABEL: func.func @half_product_on_old_arch()
// CHECK-SAME:    #cuda.matmul_fma<
builtin.module @half_product_on_old_arch attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_75">} {
  func.func @half_product_on_old_arch() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xbf16> to tensor<4096x4096xbf16>
    %e4 = tensor.empty() : tensor<4096x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f4 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %e8 = tensor.empty() : tensor<4096x4096xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<4096x4096xf32>) outs(%e8 : tensor<4096x4096xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<4096x4096xbf16>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<4096x4096xbf16>, memref<4096x4096xbf16>) -> ()
    return
  }
}

// -----

// A matrix times a vector is a reduction.
// CHECK-LABEL: func.func @matrix_vector()
// CHECK-SAME:    #cuda.row_reduction<
builtin.module @matrix_vector attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @matrix_vector() {
    %b0 = plan.binding 0 read align 64 : memref<1x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<1x4096xf32> to tensor<1x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %e4 = tensor.empty() : tensor<1x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<1x4096xf32>) -> tensor<1x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<1x4096xf32>, tensor<4096x4096xf32>) outs(%f4 : tensor<1x4096xf32>) -> tensor<1x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<1x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<1x4096xf32>, memref<1x4096xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @scatter()
// CHECK-SAME:    #cuda.scatter<threads = 128, rows = 1, down = 2>
builtin.module @scatter attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @scatter() {
    %b0 = plan.binding 0 read align 64 : memref<1000x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<1000x64xf32> to tensor<1000x64xf32>
    %b1 = plan.binding 1 read align 64 : memref<20x1xi32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<20x1xi32> to tensor<20x1xi32>
    %b2 = plan.binding 2 read align 64 : memref<20x64xf32>
    %t2 = bufferization.to_tensor %b2 restrict : memref<20x64xf32> to tensor<20x64xf32>
    %r = kernel.scatter add, %t1, %t2 into %t0 axes = [0] : tensor<20x1xi32>, tensor<20x64xf32> into tensor<1000x64xf32> -> tensor<1000x64xf32>
    %b3 = plan.binding 3 write align 64 : memref<1000x64xf32>
    bufferization.materialize_in_destination %r in restrict writable %b3 : (tensor<1000x64xf32>, memref<1000x64xf32>) -> ()
    return
  }
}

// -----

// A product of symbolic sizes stores by wide accesses where they are multiples of 4, though its tiles are the same.
// CHECK-LABEL: func.func @symbolic_product_guarded()
// CHECK-SAME:    #cuda.matmul_fma<
// CHECK-SAME:    max = 1073741823, divisor = 4>
// CHECK:         plan.scalar 2 {cuda.divisor = 4 : i64}
// CHECK-LABEL: func.func @symbolic_product_narrow()
// CHECK-SAME:    cuda.index_bits = 32 : i32
// CHECK-NOT:     divisor = 4
// CHECK-LABEL: func.func @symbolic_product()
// CHECK-SAME:    cuda.index_bits = 64 : i32
builtin.module @symbolic_product attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @symbolic_product() {
    %m = plan.scalar 0 : index
    %k = plan.scalar 1 : index
    %n = plan.scalar 2 : index
    %b0 = plan.binding 0 read align 64 sizes(%m, %k) : memref<?x?xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<?x?xf32> to tensor<?x?xf32>
    %b1 = plan.binding 1 read align 64 sizes(%k, %n) : memref<?x?xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x?xf32> to tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
    %b2 = plan.binding 2 write align 64 sizes(%m, %n) : memref<?x?xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
    return
  }
}

// -----

// Columns of which no word holds two: wide blocks.
// CHECK-LABEL: func.func @odd_columns()
// CHECK-SAME:    #cuda.column_reduction<threads = 128, rows = 8, vector = 1>
builtin.module @odd_columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @odd_columns() {
    %b0 = plan.binding 0 read align 64 : memref<2048x50257xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<2048x50257xbf16> to tensor<2048x50257xbf16>
    %e0 = tensor.empty() : tensor<50257xbf16>
    %low = arith.constant 0xFF80 : bf16
    %f0 = linalg.fill ins(%low : bf16) outs(%e0 : tensor<50257xbf16>) -> tensor<50257xbf16>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<2048x50257xbf16>) outs(%f0 : tensor<50257xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %m = arith.maximumf %a, %b : bf16
      linalg.yield %m : bf16
    } -> tensor<50257xbf16>
    %b1 = plan.binding 1 write align 64 : memref<50257xbf16>
    bufferization.materialize_in_destination %max in restrict writable %b1 : (tensor<50257xbf16>, memref<50257xbf16>) -> ()
    return
  }
}

// -----

// Images of 7 x 7 points, channels last: the points of one are 49 in a row.
// CHECK-LABEL: func.func @channels_last()
// CHECK-SAME:    #cuda.transpose<threads = 256, tile = 32, vector = 1>
builtin.module @channels_last attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @channels_last() {
    %b0 = plan.binding 0 read align 64 : memref<32x64x7x7xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<32x64x7x7xf32> to tensor<32x64x7x7xf32>
    %e0 = tensor.empty() : tensor<32x7x7x64xf32>
    %turned = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t0 : tensor<32x64x7x7xf32>) outs(%e0 : tensor<32x7x7x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<32x7x7x64xf32>
    %b1 = plan.binding 1 write align 64 : memref<32x7x7x64xf32>
    bufferization.materialize_in_destination %turned in restrict writable %b1 : (tensor<32x7x7x64xf32>, memref<32x7x7x64xf32>) -> ()
    return
  }
}

// -----

// Tiles for many rows would leave most of the GPU idle where there are few: the host takes the first variant whose guards hold.
// The few tiles' sums are shared out among blocks.
// CHECK-LABEL: func.func @few_rows_narrow_few8()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 8, {{.*}}, split = 8>
// CHECK-SAME:    min = 0, max = 8, divisor = 1>]
// CHECK-SAME:    for at most 8 rows
// CHECK-LABEL: func.func @few_rows_narrow_few16()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 16, {{.*}}, split = 8>
// CHECK-LABEL: func.func @few_rows_narrow_few64()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 64, {{.*}}, split = 2>
// CHECK-LABEL: func.func @few_rows_narrow_few512()
// CHECK-SAME:    min = 0, max = 512, divisor = 1>]
// CHECK-LABEL: func.func @few_rows_narrow()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 128, tile_n = 256, tile_k = 16, thread_m = 16, thread_n = 8, stages = 3>
// CHECK-LABEL: func.func @few_rows()
// CHECK-NOT:     split
builtin.module @few_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few_rows() {
    %m = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%m) : memref<?x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<?x4096xf32> to tensor<?x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %e4 = tensor.empty(%m) : tensor<?x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<?x4096xf32>, tensor<4096x4096xf32>) outs(%f4 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
    %b2 = plan.binding 2 write align 64 sizes(%m) : memref<?x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<?x4096xf32>, memref<?x4096xf32>) -> ()
    return
  }
}

// -----

// Rows and sum of one size: a variant for few rows is compared with the next one for few rows.
// CHECK-NOT:     func.func @rows_are_the_sum_few8()
// CHECK-LABEL:   func.func @rows_are_the_sum_few16()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 32, tile_n = 32, tile_k = 16,
// CHECK-LABEL:   func.func @rows_are_the_sum_few64()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 32, tile_n = 32, tile_k = 16, thread_m = 4, thread_n = 4,
// CHECK-LABEL:   func.func @rows_are_the_sum_few512()
// CHECK-NOT:     func.func @rows_are_the_sum_narrow_few8()
// CHECK-LABEL:   func.func @rows_are_the_sum_narrow_few16()
builtin.module @rows_are_the_sum attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows_are_the_sum() {
    %size = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%size, %size) : memref<?x?xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<?x?xf32> to tensor<?x?xf32>
    %b1 = plan.binding 1 read align 64 sizes(%size) : memref<?x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x4096xf32> to tensor<?x4096xf32>
    %e4 = tensor.empty(%size) : tensor<?x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<?x?xf32>, tensor<?x4096xf32>) outs(%f4 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
    %b2 = plan.binding 2 write align 64 sizes(%size) : memref<?x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<?x4096xf32>, memref<?x4096xf32>) -> ()
    return
  }
}

// -----

// What ranges say of the number of rows is what tiles are chosen for.
// CHECK-LABEL:   func.func @rows_of_known_range_narrow_few8()
// CHECK-NOT:     few16
// CHECK-LABEL:   func.func @rows_of_known_range()
// CHECK-SAME:    lowering_config = #cuda.matmul_fma<tile_m = 16,
builtin.module @rows_of_known_range attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows_of_known_range() {
    %m = plan.scalar 0 max 16 : index
    %b0 = plan.binding 0 read align 64 sizes(%m) : memref<?x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<?x4096xf32> to tensor<?x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %e4 = tensor.empty(%m) : tensor<?x4096xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<?x4096xf32>, tensor<4096x4096xf32>) outs(%f4 : tensor<?x4096xf32>) -> tensor<?x4096xf32>
    %b2 = plan.binding 2 write align 64 sizes(%m) : memref<?x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<?x4096xf32>, memref<?x4096xf32>) -> ()
    return
  }
}

// -----

// Blocks are to share sums that turn out to be long: that takes other tiles where tensor cores multiply.
// CHECK-LABEL: func.func @maybe_long_sum_long()
// CHECK-SAME:    lowering_config = #cuda.matmul_wgmma<{{.*}}, split = 8>
// CHECK-SAME:    min = 8192, max = 1073741823, divisor = 1>
// CHECK-SAME:    for sums of at least 8192 products
// CHECK-LABEL: func.func @maybe_long_sum_guarded()
// CHECK-SAME:    lowering_config = #cuda.matmul_wgmma<{{.*}}, split = 4>
builtin.module @maybe_long_sum attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @maybe_long_sum() {
    %k = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%k) : memref<128x?xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<128x?xbf16> to tensor<128x?xbf16>
    %b1 = plan.binding 1 read align 64 sizes(%k) : memref<?x128xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x128xbf16> to tensor<?x128xbf16>
    %e4 = tensor.empty() : tensor<128x128xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<128x?xbf16>, tensor<?x128xbf16>) outs(%f4 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<128x128xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<128x128xf32>, memref<128x128xf32>) -> ()
    return
  }
}

// -----

// A softmax down columns holds them: 128 bytes of a row for each block, whose threads have 32 registers for elements.
// CHECK-LABEL: func.func @held_columns()
// CHECK-SAME:    #cuda.column_reduction<threads = 8, rows = 64, vector = 4, held = 8>
// CHECK-LABEL: func.func @few_held_columns()
// CHECK-SAME:    #cuda.column_reduction<threads = 4, rows = 64, vector = 4, held = 8>
builtin.module @held_columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @held_columns() {
    %b0 = plan.binding 0 read align 64 : memref<512x16384xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<512x16384xf32> to tensor<512x16384xf32>
    %e0 = tensor.empty() : tensor<16384xf32>
    %low = arith.constant 0xFF800000 : f32
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<16384xf32>) -> tensor<16384xf32>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<512x16384xf32>) outs(%f0 : tensor<16384xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %b, %a : f32
      linalg.yield %m : f32
    } -> tensor<16384xf32>
    %e1 = tensor.empty() : tensor<512x16384xf32>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<512x16384xf32>, tensor<16384xf32>) outs(%e1 : tensor<512x16384xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<512x16384xf32>
    %b1 = plan.binding 1 write align 64 : memref<512x16384xf32>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<512x16384xf32>, memref<512x16384xf32>) -> ()
    return
  }
}

// -----

builtin.module @few_held_columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few_held_columns() {
    %b0 = plan.binding 0 read align 64 : memref<512x8192xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<512x8192xf32> to tensor<512x8192xf32>
    %e0 = tensor.empty() : tensor<8192xf32>
    %low = arith.constant 0xFF800000 : f32
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<8192xf32>) -> tensor<8192xf32>
    %max = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<512x8192xf32>) outs(%f0 : tensor<8192xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %b, %a : f32
      linalg.yield %m : f32
    } -> tensor<8192xf32>
    %e1 = tensor.empty() : tensor<512x8192xf32>
    %off = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<512x8192xf32>, tensor<8192xf32>) outs(%e1 : tensor<512x8192xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<512x8192xf32>
    %b1 = plan.binding 1 write align 64 : memref<512x8192xf32>
    bufferization.materialize_in_destination %off in restrict writable %b1 : (tensor<512x8192xf32>, memref<512x8192xf32>) -> ()
    return
  }
}
