// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-scatter -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK:         %[[X:.*]] = plan.binding 0 read align 64 : memref<640xf32>
// CHECK:         %[[Y:.*]] = plan.binding 3 write align 64 : memref<640xf32>
// CHECK:         scf.for
// CHECK:           memref.load %[[X]]
// CHECK:           memref.store %{{.*}}, %[[Y]]
// CHECK:         scf.for
// CHECK:           arith.cmpi ult
// CHECK:           scf.if
// CHECK:             memref.load %[[Y]]
// CHECK:             arith.addf
// CHECK:             memref.store %{{.*}}, %[[Y]]
builtin.module @rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @rows() attributes {lowering_config = #cuda.scatter<threads = 64, rows = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<10x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<10x64xf32> to tensor<10x64xf32>
    %b1 = plan.binding 1 read align 64 : memref<20x1xi32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<20x1xi32> to tensor<20x1xi32>
    %b2 = plan.binding 2 read align 64 : memref<20x64xf32>
    %t2 = bufferization.to_tensor %b2 restrict : memref<20x64xf32> to tensor<20x64xf32>
    %r = kernel.scatter add, %t1, %t2 into %t0 axes = [0] : tensor<20x1xi32>, tensor<20x64xf32> into tensor<10x64xf32> -> tensor<10x64xf32>
    %b3 = plan.binding 3 write align 64 : memref<10x64xf32>
    bufferization.materialize_in_destination %r in restrict writable %b3 : (tensor<10x64xf32>, memref<10x64xf32>) -> ()
    return
  }
}

// -----

// A block finds the first update of its rows by bisection, an element's updates stand behind each other.
// CHECK-LABEL: func.func @ordered
// CHECK-SAME:    lowering_config = #cuda.ordered_scatter<threads = 64, rows = 1>
// CHECK:         %[[FIRST:.*]]:2 = scf.while
// CHECK:         scf.for {{.*}} iter_args(%{{[^ ]*}} = %[[FIRST]]#0,
// The first update is at hand. Behind it come batches of 16, whose places are carried, and single ones.
// CHECK:           scf.if
// CHECK:             arith.addf
// CHECK:             scf.while
// CHECK-COUNT-16:      arith.addf
// CHECK:           %[[CHAIN:.*]]:4 = scf.while
// CHECK:             arith.addf
// CHECK:           memref.store %[[CHAIN]]#0
// CHECK:           scf.yield %[[CHAIN]]#1, %[[CHAIN]]#2, %[[CHAIN]]#3
builtin.module @ordered attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @ordered() attributes {lowering_config = #cuda.ordered_scatter<threads = 64, rows = 1>} {
    %b0 = plan.binding 0 read align 16 : memref<100x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<100x64xf32> to tensor<100x64xf32>
    %b1 = plan.binding 1 read align 16 : memref<5000x1xi32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<5000x1xi32> to tensor<5000x1xi32>
    %b2 = plan.binding 2 read align 16 : memref<5000x64xf32>
    %t2 = bufferization.to_tensor %b2 restrict : memref<5000x64xf32> to tensor<5000x64xf32>
    %b3 = plan.binding 3 read align 16 : memref<5000xi32>
    %t3 = bufferization.to_tensor %b3 restrict : memref<5000xi32> to tensor<5000xi32>
    %b4 = plan.binding 4 read align 16 : memref<5000xi32>
    %t4 = bufferization.to_tensor %b4 restrict : memref<5000xi32> to tensor<5000xi32>
    %b5 = plan.binding 5 write align 16 : memref<100x64xf32>
    %0 = kernel.scatter add, %t1, %t2 by %t3, %t4 into %t0 axes = [0]
      : tensor<5000x1xi32>, tensor<5000x64xf32> by tensor<5000xi32>, tensor<5000xi32> into tensor<100x64xf32> -> tensor<100x64xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b5 : (tensor<100x64xf32>, memref<100x64xf32>) -> ()
    return
  }
}

// -----

// A thread has several neighbours of a row.
// CHECK-LABEL: func.func @ordered_vectors
// CHECK-SAME:    lowering_config = #cuda.ordered_scatter<threads = 64, rows = 1, vector = 4>
// CHECK:         %[[FIRST:.*]]:2 = scf.while
// CHECK:         scf.for {{.*}} iter_args(%{{[^ ]*}} = %[[FIRST]]#0,
// CHECK:           %[[CHAIN:.*]]:4 = scf.while
// CHECK:             vector.load {{.*}} : memref<320000xf32>, vector<4xf32>
// CHECK:             arith.addf %{{.*}} : vector<4xf32>
// CHECK:           vector.store %[[CHAIN]]#0
// CHECK:           scf.yield %[[CHAIN]]#1, %[[CHAIN]]#2, %[[CHAIN]]#3
builtin.module @ordered_vectors attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @ordered_vectors() attributes {lowering_config = #cuda.ordered_scatter<threads = 64, rows = 1, vector = 4>} {
    %b0 = plan.binding 0 read align 16 : memref<100x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<100x64xf32> to tensor<100x64xf32>
    %b1 = plan.binding 1 read align 16 : memref<5000x1xi32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<5000x1xi32> to tensor<5000x1xi32>
    %b2 = plan.binding 2 read align 16 : memref<5000x64xf32>
    %t2 = bufferization.to_tensor %b2 restrict : memref<5000x64xf32> to tensor<5000x64xf32>
    %b3 = plan.binding 3 read align 16 : memref<5000xi32>
    %t3 = bufferization.to_tensor %b3 restrict : memref<5000xi32> to tensor<5000xi32>
    %b4 = plan.binding 4 read align 16 : memref<5000xi32>
    %t4 = bufferization.to_tensor %b4 restrict : memref<5000xi32> to tensor<5000xi32>
    %b5 = plan.binding 5 write align 16 : memref<100x64xf32>
    %0 = kernel.scatter add, %t1, %t2 by %t3, %t4 into %t0 axes = [0]
      : tensor<5000x1xi32>, tensor<5000x64xf32> by tensor<5000xi32>, tensor<5000xi32> into tensor<100x64xf32> -> tensor<100x64xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b5 : (tensor<100x64xf32>, memref<100x64xf32>) -> ()
    return
  }
}

// -----

// Of one element a row: 128 threads own rows below each other. The last update of a row is all that counts.
// CHECK-LABEL: func.func @vector
// CHECK-SAME:    lowering_config = #cuda.ordered_scatter<threads = 128, rows = 1, down = 128>
// CHECK:         scf.while
// CHECK:         scf.for
// CHECK:           scf.while
// CHECK-NOT:       arith.addf
// CHECK:           memref.store
builtin.module @vector attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @vector() {
    %b0 = plan.binding 0 read align 16 : memref<10000xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<10000xf32> to tensor<10000xf32>
    %b1 = plan.binding 1 read align 16 : memref<5000x1xi32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<5000x1xi32> to tensor<5000x1xi32>
    %b2 = plan.binding 2 read align 16 : memref<5000xf32>
    %t2 = bufferization.to_tensor %b2 restrict : memref<5000xf32> to tensor<5000xf32>
    %b3 = plan.binding 3 read align 16 : memref<5000xi32>
    %t3 = bufferization.to_tensor %b3 restrict : memref<5000xi32> to tensor<5000xi32>
    %b4 = plan.binding 4 read align 16 : memref<5000xi32>
    %t4 = bufferization.to_tensor %b4 restrict : memref<5000xi32> to tensor<5000xi32>
    %b5 = plan.binding 5 write align 16 : memref<10000xf32>
    %0 = kernel.scatter set, %t1, %t2 by %t3, %t4 into %t0 axes = [0]
      : tensor<5000x1xi32>, tensor<5000xf32> by tensor<5000xi32>, tensor<5000xi32> into tensor<10000xf32> -> tensor<10000xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b5 : (tensor<10000xf32>, memref<10000xf32>) -> ()
    return
  }
}
