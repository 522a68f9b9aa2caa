// RUN: xc-opt %s -xc-import-stablehlo -split-input-file | FileCheck %s

// Index vectors may repeat: updates with a body of its own come one after another.
// CHECK-LABEL: func @scatter
// CHECK: array.while {{.*}}tensor<i32>, tensor<9xf32>
// CHECK: array.gather
// CHECK: array.sin
// CHECK: array.scatter set, {{.*}} unique
func.func @scatter(%x: tensor<9xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<9xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.sine %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// An initial value that is data comes first. A function that the body calls is put in its place.
// CHECK-LABEL: func @reduce
// CHECK: array.slice
// CHECK: array.pow
// CHECK: array.slice
// CHECK: array.pow
// CHECK-NOT: array.pow
// CHECK: return
func.func @reduce(%x: tensor<4x2xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = func.call @power(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}
func.func private @power(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.power %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
