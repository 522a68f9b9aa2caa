// RUN: xc-opt %s -xc-cpu-lower-elementwise -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

#config = #cpu.elementwise<version = 1, lanes = 32, chunk = 16384, tile = 32768>

// Both dims are one loop: no access tells them apart. 64x64 elements leave nothing over.
// CHECK-LABEL: func.func @dims_merge()
// CHECK-SAME:    grid = [1, 1, 1]
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[N:.*]] = arith.constant 4096 : index
// CHECK-DAG:     %[[X:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1]] : memref<64x64xf32> into memref<4096xf32>
// CHECK-DAG:     %[[Y:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1]] : memref<64x64xf32> into memref<4096xf32>
// CHECK:         scf.for %[[I:.*]] = %[[C0]] to %[[N]] step %[[C32]] {
// CHECK-NEXT:      %[[V:.*]] = vector.load %[[X]][%[[I]]] : memref<4096xf32>, vector<32xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[V]], %[[V]] : vector<32xf32>
// CHECK-NEXT:      vector.store %[[S]], %[[Y]][%[[I]]] : memref<4096xf32>, vector<32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @dims_merge() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<64x64xf32>
  %y = plan.binding 1 write align 64 : memref<64x64xf32>
  %t = bufferization.to_tensor %x restrict : memref<64x64xf32> to tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
  } -> tensor<64x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}

// -----

#config = #cpu.elementwise<version = 1, lanes = 32, chunk = 16384, tile = 32768>

// A dynamic size: the grid is a formula, and what 32 lanes leave over runs with 8, then with one.
// CHECK-LABEL: func.func @dynamic_size()
// CHECK-SAME:    grid = [(s0 + 1) ceildiv 32768, s0 ceildiv 16384, 1]
// CHECK:         plan.workgroup_id y
// CHECK:         scf.for {{.*}} step %c32
// CHECK:           vector.load {{.*}} vector<32xf32>
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           vector.load {{.*}} vector<8xf32>
// CHECK:         scf.for {{.*}} step %c1
// CHECK:           memref.load
func.func @dynamic_size() attributes {lowering_config = #config} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 read align 64 sizes(%n) : memref<?xf32>
  %y = plan.binding 1 write align 64 sizes(%n) : memref<?xf32>
  %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

#config = #cpu.elementwise<version = 1, lanes = 8, chunk = 16384, tile = 32768>

// What is the same for all lanes is loaded once; the producer is computed in its consumer's loop.
// CHECK-LABEL: func.func @broadcast_and_producer()
// CHECK:         scf.for %[[ROW:[^ ]*]] =
// CHECK:           scf.for %[[J:[^ ]*]] =
// CHECK:             vector.load %{{.*}}[%[[ROW]], %[[J]]] : memref<4x64xf32>, vector<8xf32>
// CHECK:             math.exp
// CHECK:             %[[B:.*]] = memref.load %{{.*}}[%[[ROW]]] : memref<4xf32>
// CHECK:             vector.broadcast %[[B]] : f32 to vector<8xf32>
// CHECK:             vector.store
// CHECK-NOT:         vector.store
func.func @broadcast_and_producer() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<4x64xf32>
  %b = plan.binding 1 read align 64 : memref<4xf32>
  %y = plan.binding 2 write align 64 : memref<4x64xf32>
  %t = bufferization.to_tensor %x restrict : memref<4x64xf32> to tensor<4x64xf32>
  %u = bufferization.to_tensor %b restrict : memref<4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<4x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %u : tensor<4x64xf32>, tensor<4xf32>) outs(%e : tensor<4x64xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
  } -> tensor<4x64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<4x64xf32>, memref<4x64xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @other_strategies_are_left_alone()
// CHECK:         bufferization.materialize_in_destination
func.func @other_strategies_are_left_alone() attributes {lowering_config = #cpu.generic<version = 1>} {
  %x = plan.binding 0 read align 64 : memref<4xf32>
  %y = plan.binding 1 write align 64 : memref<4xf32>
  %t = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  bufferization.materialize_in_destination %t in restrict writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

#config = #cpu.elementwise<version = 1, lanes = 32, chunk = 128, tile = 4096>

// The input lies along the result's rows: squares of a register's lanes are loaded as they lie and transposed. The last
// columns are loaded one by one.
// CHECK-LABEL: func.func @transposed()
// CHECK-SAME:    grid = [1, 1, 1]
// CHECK-DAG:     %[[X:.*]] = plan.binding 0 {{.*}} memref<36x64xf32>
// CHECK-DAG:     %[[Y:.*]] = plan.binding 1 {{.*}} memref<64x36xf32>
// CHECK:         scf.if
// CHECK-COUNT-8:   vector.load %[[X]]{{.*}} vector<8xf32>
// CHECK-COUNT-24:  vector.shuffle
// CHECK-NOT:       vector.shuffle
// CHECK-COUNT-8:   vector.store %{{.*}}, %[[Y]]{{.*}} vector<8xf32>
// CHECK:         } else {
// CHECK:           memref.load %[[X]]
// CHECK:           memref.store %{{.*}}, %[[Y]]
func.func @transposed() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<36x64xf32>
  %y = plan.binding 1 write align 64 : memref<64x36xf32>
  %t = bufferization.to_tensor %x restrict : memref<36x64xf32> to tensor<36x64xf32>
  %e = tensor.empty() : tensor<64x36xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<36x64xf32>) outs(%e : tensor<64x36xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
  } -> tensor<64x36xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<64x36xf32>, memref<64x36xf32>) -> ()
  return
}
