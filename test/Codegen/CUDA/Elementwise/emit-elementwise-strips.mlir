// RUN: xc-opt %s -xc-cuda-emit-elementwise-strips -split-input-file -verify-diagnostics | FileCheck %s

// Four columns of two rows lie between four columns of the image and three rows; what several need
// is loaded once, and so many vectors are stored.
// CHECK-LABEL: func.func @twice_as_large
// CHECK-COUNT-12: vector.load %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK-NOT:      vector.load
// CHECK-COUNT-8:  vector.store
// CHECK-NOT:      vector.store
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @twice_as_large() attributes {lowering_config = #cuda.elementwise_strips<threads = 128, vector = 4, strip = 4, rows = 2>, cuda.index_bits = 32 : i32} {
    %c-1 = arith.constant -1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c15 = arith.constant 15 : index
    %x = plan.binding 0 read align 16 : memref<16x16x16xf32>
    %y = plan.binding 1 write align 16 : memref<32x32x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<16x16x16xf32> to tensor<16x16x16xf32>
    %e = tensor.empty() : tensor<32x32x16xf32>
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<32x32x16xf32>) {
    ^bb0(%o: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %channel = linalg.index 2 : index
      %row1 = arith.addi %row, %c1 overflow<nsw> : index
      %row2 = arith.divui %row1, %c2 : index
      %row3 = arith.addi %row2, %c-1 overflow<nsw> : index
      %above1 = arith.maxsi %row3, %c0 : index
      %above = arith.minsi %above1, %c15 : index
      %below1 = arith.maxsi %row2, %c0 : index
      %below = arith.minsi %below1, %c15 : index
      %column1 = arith.addi %column, %c1 overflow<nsw> : index
      %column2 = arith.divui %column1, %c2 : index
      %column3 = arith.addi %column2, %c-1 overflow<nsw> : index
      %left1 = arith.maxsi %column3, %c0 : index
      %left = arith.minsi %left1, %c15 : index
      %right1 = arith.maxsi %column2, %c0 : index
      %right = arith.minsi %right1, %c15 : index
      %a = tensor.extract %xt[%above, %left, %channel] : tensor<16x16x16xf32>
      %b = tensor.extract %xt[%below, %left, %channel] : tensor<16x16x16xf32>
      %c = tensor.extract %xt[%above, %right, %channel] : tensor<16x16x16xf32>
      %d = tensor.extract %xt[%below, %right, %channel] : tensor<16x16x16xf32>
      %ab = arith.addf %a, %b : f32
      %cd = arith.addf %c, %d : f32
      %sum = arith.addf %ab, %cd : f32
      linalg.yield %sum : f32
    } -> tensor<32x32x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<32x32x16xf32>, memref<32x32x16xf32>) -> ()
    return
  }
}

// -----

// Of a strip that ends beyond the last column those inside are computed one by one.
// CHECK-LABEL: func.func @ragged
// CHECK:         %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %c31
// CHECK:         scf.if %[[INSIDE]] {
// CHECK:           vector.load
// CHECK-COUNT-4:   vector.store
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             vector.load
// CHECK:             vector.store
#id = affine_map<(d0, d1) -> (d0, d1)>
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @ragged() attributes {lowering_config = #cuda.elementwise_strips<threads = 128, vector = 4, strip = 4, rows = 1>, cuda.index_bits = 32 : i32} {
    %c2 = arith.constant 2 : index
    %x = plan.binding 0 read align 16 : memref<16x16xf32>
    %y = plan.binding 1 write align 16 : memref<31x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<16x16xf32> to tensor<16x16xf32>
    %e = tensor.empty() : tensor<31x16xf32>
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<31x16xf32>) {
    ^bb0(%o: f32):
      %column = linalg.index 0 : index
      %channel = linalg.index 1 : index
      %half = arith.divui %column, %c2 : index
      %a = tensor.extract %xt[%half, %channel] : tensor<16x16xf32>
      linalg.yield %a : f32
    } -> tensor<31x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<31x16xf32>, memref<31x16xf32>) -> ()
    return
  }
}

// -----

builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected neighbours that read the same elements for #cuda.elementwise_strips<threads = 128, vector = 4, strip = 4, rows = 1>: an output is not computed element by element}}
  func.func @no_neighbours() attributes {lowering_config = #cuda.elementwise_strips<threads = 128, vector = 4, strip = 4, rows = 1>} {
    %x = plan.binding 0 read align 16 : memref<16xf32>
    %y = plan.binding 1 write align 16 : memref<16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<16xf32> to tensor<16xf32>
    bufferization.materialize_in_destination %xt in restrict writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
    return
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected a multiple of 4 elements along the innermost dim for #cuda.elementwise_strips<threads = 128, vector = 4, strip = 2, rows = 1>, got 18}}
  func.func @odd_channels() attributes {lowering_config = #cuda.elementwise_strips<threads = 128, vector = 4, strip = 2, rows = 1>} {
    %c2 = arith.constant 2 : index
    %x = plan.binding 0 read align 16 : memref<16x18xf32>
    %y = plan.binding 1 write align 16 : memref<32x18xf32>
    %xt = bufferization.to_tensor %x restrict : memref<16x18xf32> to tensor<16x18xf32>
    %e = tensor.empty() : tensor<32x18xf32>
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<32x18xf32>) {
    ^bb0(%o: f32):
      %column = linalg.index 0 : index
      %channel = linalg.index 1 : index
      %half = arith.divui %column, %c2 : index
      %a = tensor.extract %xt[%half, %channel] : tensor<16x18xf32>
      linalg.yield %a : f32
    } -> tensor<32x18xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<32x18xf32>, memref<32x18xf32>) -> ()
    return
  }
}
