// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-elementwise -canonicalize -cse | FileCheck %s

// Sizes that blocks divide: no bounds check at all.
// CHECK-LABEL: func.func @whole_blocks
// CHECK-SAME:    plan.launch = #plan.launch_config<grid = [{{.*}}], block = [64, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>
// CHECK-DAG:     %[[X:.*]] = plan.binding 0 read align 64 : memref<4096xf32>
// CHECK-DAG:     %[[Y:.*]] = plan.binding 1 write align 64 : memref<4096xf32>
// CHECK-NOT:     scf.if
// CHECK:         %[[A:.*]] = vector.load %[[X]][%[[I:.*]]] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
// CHECK:         %[[R:.*]] = arith.addf %[[A]], %[[A]]
// CHECK:         vector.store %[[R]], %[[Y]][%[[I]]] {alignment = 16 : i64}
builtin.module @whole_blocks attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @whole_blocks() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 4, unroll = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096xf32> to tensor<4096xf32>
    %e2 = tensor.empty() : tensor<4096xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t0 : tensor<4096xf32>) outs(%e2 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<4096xf32>, memref<4096xf32>) -> ()
    return
  }
}

// -----

// A ragged end: all of a thread's vectors, or element by element.
// CHECK-LABEL: func.func @ragged_end
// CHECK:         scf.if
// CHECK-COUNT-2:   vector.load
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               memref.load
// CHECK:               memref.store
builtin.module @ragged_end attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @ragged_end() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 4, unroll = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<1000xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<1000xf32> to tensor<1000xf32>
    %e2 = tensor.empty() : tensor<1000xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t0 : tensor<1000xf32>) outs(%e2 : tensor<1000xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<1000xf32>
    %b1 = plan.binding 1 write align 64 : memref<1000xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<1000xf32>, memref<1000xf32>) -> ()
    return
  }
}

// -----

// Each output shape has blocks of its own.
// CHECK-LABEL: func.func @two_shapes
// CHECK-SAME:    grid = [3, 1, 1]
// CHECK:         %[[BLOCK:.*]] = plan.workgroup_id x
// CHECK:         arith.cmpi slt, %[[BLOCK]], %{{.*}}
// CHECK:         scf.if
// CHECK:         arith.cmpi slt, %[[BLOCK]], %{{.*}}
// CHECK:         scf.if
builtin.module @two_shapes attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @two_shapes() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 1, unroll = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64xf32> to tensor<64xf32>
    %e2 = tensor.empty() : tensor<64xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t0 : tensor<64xf32>) outs(%e2 : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<64xf32>
    %b1 = plan.binding 1 write align 64 : memref<64xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<64xf32>, memref<64xf32>) -> ()
    %b2 = plan.binding 2 read align 64 : memref<128xf32>
    %t2 = bufferization.to_tensor %b2 restrict : memref<128xf32> to tensor<128xf32>
    %e8 = tensor.empty() : tensor<128xf32>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t2 : tensor<128xf32>) outs(%e8 : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<128xf32>
    %b3 = plan.binding 3 write align 64 : memref<128xf32>
    bufferization.materialize_in_destination %g9 in restrict writable %b3 : (tensor<128xf32>, memref<128xf32>) -> ()
    return
  }
}

// -----

// A kernel of another strategy is left alone.
// CHECK-LABEL: func.func @other_strategy
// CHECK:         linalg.generic
builtin.module @other_strategy attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @other_strategy() attributes {lowering_config = #cuda.pointwise<threads = 64>} {
    %b0 = plan.binding 0 read align 64 : memref<64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64xf32> to tensor<64xf32>
    %e2 = tensor.empty() : tensor<64xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t0 : tensor<64xf32>) outs(%e2 : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<64xf32>
    %b1 = plan.binding 1 write align 64 : memref<64xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<64xf32>, memref<64xf32>) -> ()
    return
  }
}

// -----

// Of an update only the box is computed, here by one block, and stored by whole vectors where it begins.
// CHECK-LABEL: func.func @box()
// CHECK-SAME:    plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [32, 1, 1]
// CHECK:         %[[U:.*]] = plan.binding 0 read align 64 : memref<128xf32>
// CHECK:         %[[AT:.*]] = plan.binding 1 read align 64 : memref<1xi32>
// CHECK:         %[[Y:.*]] = plan.binding 2 read_write align 64 : memref<64000xf32>
// CHECK:         %[[STORED:.*]] = memref.load %[[AT]]
// CHECK:         arith.maxsi
// CHECK:         %[[CLAMPED:.*]] = arith.minsi %{{.*}}, %c998_i64
// CHECK:         %[[START:.*]] = arith.index_cast %[[CLAMPED]]
// CHECK:         %[[V:.*]] = vector.load %[[U]][%[[FROM:.*]]] {alignment = 16 : i64}
// CHECK:         %[[ROW:.*]] = arith.muli %[[START]], %c64
// CHECK:         %[[TO:.*]] = arith.addi %[[ROW]], %[[FROM]]
// CHECK-NEXT:    vector.store %[[V]], %[[Y]][%[[TO]]] {alignment = 16 : i64}
// CHECK-NEXT:    return
builtin.module @box attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @box() attributes {lowering_config = #cuda.elementwise<threads = 32, vector = 4, unroll = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<2x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<2x64xf32> to tensor<2x64xf32>
    %b1 = plan.binding 1 read align 64 : memref<i32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<i32> to tensor<i32>
    %b2 = plan.binding 2 read_write align 64 : memref<1000x64xf32>
    %t2 = bufferization.to_tensor %b2 restrict writable : memref<1000x64xf32> to tensor<1000x64xf32>
    %r = kernel.update %t0 at [%t1, %t1] into %t2 : tensor<2x64xf32> at tensor<i32>, tensor<i32> into tensor<1000x64xf32> -> tensor<1000x64xf32>
    bufferization.materialize_in_destination %r in restrict writable %b2 : (tensor<1000x64xf32>, memref<1000x64xf32>) -> ()
    return
  }
}

// -----

// Neighbours that have one quotient of their index compute once, on a scalar, what follows from it; more lanes than
// that are computed in parts.
// CHECK-LABEL: func.func @shared_quotients
// CHECK-NOT:     arith.remui
// CHECK:         %[[FIRST:.*]] = arith.divui %[[I:.*]], %c4 : index
// CHECK:         %[[A:.*]] = arith.index_cast %[[FIRST]] : index to i32
// CHECK:         arith.muli %[[A]], %{{.*}} : i32
// CHECK:         %[[J:.*]] = arith.addi %[[I]], %c4 {{.*}}: index
// CHECK:         %[[SECOND:.*]] = arith.divui %[[J]], %c4 : index
// CHECK:         %[[B:.*]] = arith.index_cast %[[SECOND]] : index to i32
// CHECK:         arith.muli %[[B]], %{{.*}} : i32
// CHECK-NOT:     arith.muli {{.*}} : vector
// CHECK:         vector.store %{{.*}} : memref<4096xi16>, vector<8xi16>
builtin.module @shared_quotients attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @shared_quotients() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 8, unroll = 1>} {
    %c4 = arith.constant 4 : index
    %factor = arith.constant 77 : i32
    %e = tensor.empty() : tensor<4096xi16>
    %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4096xi16>) {
    ^bb0(%old: i16):
      %i = linalg.index 0 : index
      %quotient = arith.divui %i, %c4 : index
      %rest = arith.remui %i, %c4 : index
      %number = arith.index_cast %quotient : index to i32
      %place = arith.index_cast %rest : index to i32
      %product = arith.muli %number, %factor : i32
      %sum = arith.addi %product, %place : i32
      %m = arith.trunci %sum : i32 to i16
      linalg.yield %m : i16
    } -> tensor<4096xi16>
    %b1 = plan.binding 0 write align 64 : memref<4096xi16>
    bufferization.materialize_in_destination %g in restrict writable %b1 : (tensor<4096xi16>, memref<4096xi16>) -> ()
    return
  }
}
