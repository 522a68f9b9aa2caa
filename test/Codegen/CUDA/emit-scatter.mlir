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
    %r = kernel.scatter add, %t1, %t2 into %t0 axes = [0] : tensor<20x1xi32>, tensor<20x64xf32>, tensor<10x64xf32> -> tensor<10x64xf32>
    %b3 = plan.binding 3 write align 64 : memref<10x64xf32>
    bufferization.materialize_in_destination %r in restrict writable %b3 : (tensor<10x64xf32>, memref<10x64xf32>) -> ()
    return
  }
}
