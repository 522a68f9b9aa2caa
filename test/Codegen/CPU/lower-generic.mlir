// RUN: xc-opt %s -xc-cpu-lower-generic -canonicalize -split-input-file | FileCheck %s

#config = #cpu.generic<version = 1>

// The result is computed in its binding: no temporary.
// CHECK-LABEL: func.func @in_place()
// CHECK-SAME:    grid = [1, 1, 1]
// CHECK-DAG:     %[[X:.*]] = plan.binding 0
// CHECK-DAG:     %[[Y:.*]] = plan.binding 1
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK:           %[[E:.*]] = math.exp %[[V]]
// CHECK:           memref.store %[[E]], %[[Y]][%[[I]]]
func.func @in_place() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<8xf32>
  %y = plan.binding 1 write align 64 : memref<8xf32>
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

#config = #cpu.generic<version = 1>

// The destination is copied into the result's memory, and the op works there.
// CHECK-LABEL: func.func @scatter()
// CHECK-DAG:     %[[D:.*]] = plan.binding 2 read
// CHECK-DAG:     %[[Y:.*]] = plan.binding 3 write
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[V:.*]] = memref.load %[[D]][%[[I]]]
// CHECK:           memref.store %[[V]], %[[Y]][%[[I]]]
// CHECK:         kernel.scatter add, %{{.*}}, %{{.*}} into %[[Y]]
// CHECK-NOT:     scf.for
func.func @scatter() attributes {lowering_config = #config} {
  %n = plan.scalar 0 : index
  %i = plan.binding 0 read align 64 : memref<4x1xi32>
  %u = plan.binding 1 read align 64 : memref<4xf32>
  %d = plan.binding 2 read align 64 sizes(%n) : memref<?xf32>
  %y = plan.binding 3 write align 64 sizes(%n) : memref<?xf32>
  %ti = bufferization.to_tensor %i restrict : memref<4x1xi32> to tensor<4x1xi32>
  %tu = bufferization.to_tensor %u restrict : memref<4xf32> to tensor<4xf32>
  %td = bufferization.to_tensor %d restrict : memref<?xf32> to tensor<?xf32>
  %r = kernel.scatter add, %ti, %tu into %td axes = [0] : tensor<4x1xi32>, tensor<4xf32> into tensor<?xf32> -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
