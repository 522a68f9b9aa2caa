// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-merge -canonicalize -cse | FileCheck %s

// Two iterations of a search by half of the block each, then bisection by each thread among what the block has; then one place after the other.
// CHECK-LABEL: func.func @merge()
// CHECK-SAME:    lowering_config = #cuda.merge<threads = 256, items = 16>
// CHECK-DAG:     %[[ROUNDS:.*]] = arith.constant 2 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[ROUNDS]] step
// CHECK:           gpu.barrier
// CHECK-COUNT-16: memref.load %{{.*}} : memref<5000xf32>
// CHECK:         gpu.barrier
// CHECK:         scf.while
// CHECK:           memref.load %{{.*}} : memref<4224xi32, #gpu.address_space<workgroup>>
// CHECK-COUNT-16: memref.store %{{.*}} : memref<4224xi32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
builtin.module @merge attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @merge() {
    %b0 = plan.binding 0 read align 16 : memref<5000xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<5000xf32> to tensor<5000xf32>
    %b1 = plan.binding 1 read align 16 : memref<5000xi32>
    %p = bufferization.to_tensor %b1 restrict : memref<5000xi32> to tensor<5000xi32>
    %b2 = plan.binding 2 write align 16 : memref<5000xf32>
    %b3 = plan.binding 3 write align 16 : memref<5000xi32>
    %v = tensor.empty() : tensor<5000xf32>
    %i = tensor.empty() : tensor<5000xi32>
    %0:2 = kernel.merge %x, %p into %v, %i run = 4096
      : tensor<5000xf32>, tensor<5000xi32> into tensor<5000xf32>, tensor<5000xi32> -> tensor<5000xf32>, tensor<5000xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b2 : (tensor<5000xf32>, memref<5000xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b3 : (tensor<5000xi32>, memref<5000xi32>) -> ()
    return
  }
}

// -----

// Lines that are one run already: the destinations stay, which are in the memory of the results where the plan can have that.
// CHECK-LABEL: func.func @merge_above_narrow()
// CHECK-DAG:     %[[LIMIT:.*]] = arith.constant 4096 : index
// CHECK:         %[[LONG:.*]] = arith.cmpi {{.*}} %[[LIMIT]]
// CHECK:         scf.while
// CHECK:         scf.for
// CHECK:           %[[OLD:.*]] = memref.load %{{.*}}[%[[AT:.*]]] : memref<?xf32>{{[[:space:]]+}}memref.store %[[OLD]], %{{.*}}[%[[AT]]] : memref<?xf32>
builtin.module @merge_above attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @merge_above() {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<?xf32> to tensor<?xf32>
    %b1 = plan.binding 1 read align 16 sizes(%n) : memref<?xi32>
    %p = bufferization.to_tensor %b1 restrict : memref<?xi32> to tensor<?xi32>
    %b2 = plan.binding 2 read align 16 may_alias sizes(%n) : memref<?xf32>
    %v = bufferization.to_tensor %b2 restrict : memref<?xf32> to tensor<?xf32>
    %b3 = plan.binding 3 read align 16 may_alias sizes(%n) : memref<?xi32>
    %i = bufferization.to_tensor %b3 restrict : memref<?xi32> to tensor<?xi32>
    %b4 = plan.binding 4 write align 16 may_alias sizes(%n) : memref<?xf32>
    %b5 = plan.binding 5 write align 16 may_alias sizes(%n) : memref<?xi32>
    %0:2 = kernel.merge %x, %p into %v, %i run = 8192 above = 4096
      : tensor<?xf32>, tensor<?xi32> into tensor<?xf32>, tensor<?xi32> -> tensor<?xf32>, tensor<?xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b4 : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b5 : (tensor<?xi32>, memref<?xi32>) -> ()
    return
  }
}
