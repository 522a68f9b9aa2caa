// RUN: xc-opt %s -split-input-file -xc-array-recognize | FileCheck %s

// As jax.numpy writes it: rows counted from 0 with the choice for negative ones, all components clamped.
// CHECK-LABEL: func.func @gather
// CHECK-SAME:    %[[X:.*]]: tensor<4x10xf32>, %[[I:.*]]: tensor<4xi32>
// CHECK-DAG:     %[[C:.*]] = array.clamp %{{.*}}, %[[I]], %{{.*}}
// CHECK:         %[[AT:.*]] = array.reshape %{{.*}} : tensor<{{.*}}> -> tensor<4x1xi32>
// CHECK:         %[[Y:.*]] = array.take_along_axis %[[X]][%{{.*}}] axis = 1 : (tensor<4x10xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>
// CHECK-NOT:     array.gather
func.func @gather(%x: tensor<4x10xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %zero = array.constant dense<0> : tensor<i32>
  %three = array.constant dense<3> : tensor<i32>
  %four = array.constant dense<4> : tensor<4xi32>
  %nine = array.constant dense<9> : tensor<i32>
  %n = array.iota axis = 0 : tensor<4xi32>
  %lt = array.compare lt, %n, %zero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  %w = array.add %n, %four : tensor<4xi32>
  %s = array.select %lt, %w, %n : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = array.clamp %zero, %s, %three : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %c = array.clamp %zero, %i, %nine : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %r1 = array.reshape %r : tensor<4xi32> -> tensor<4x1xi32>
  %c1 = array.reshape %c : tensor<4xi32> -> tensor<4x1xi32>
  %v = array.concatenate %r1, %c1 axis = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %y = array.gather %x[%v] axes = [0, 1] : (tensor<4x10xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Several indices of each row, of a dim before the counted one.
// CHECK-LABEL: func.func @gather_several
// CHECK-SAME:    %[[X:.*]]: tensor<10x4xf32>, %[[I:.*]]: tensor<4x3x1xi32>
// CHECK:         %[[R:.*]] = array.reshape %[[I]] : tensor<4x3x1xi32> -> tensor<4x3xi32>
// CHECK:         %[[T:.*]] = array.transpose %[[R]] permutation = [1, 0] : tensor<4x3xi32> -> tensor<3x4xi32>
// CHECK:         array.take_along_axis %[[X]][%{{.*}}] axis = 0 : (tensor<10x4xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
// CHECK:         array.transpose %{{.*}} permutation = [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
func.func @gather_several(%x: tensor<10x4xf32>, %i: tensor<4x3x1xi32>) -> tensor<4x3xf32> {
  %n = array.iota axis = 0 : tensor<4x3x1xi32>
  %v = array.concatenate %i, %n axis = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %y = array.gather %x[%v] axes = [0, 1] : (tensor<10x4xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Two components that are data; a count of fewer rows than there are; one that begins at 1.
// CHECK-LABEL: func.func @other_gathers
// CHECK-COUNT-3: array.gather
func.func @other_gathers(%x: tensor<4x10xf32>, %i: tensor<4x1xi32>, %j: tensor<3x1xi32>) -> (tensor<4xf32>, tensor<3xf32>, tensor<4xf32>) {
  %v = array.concatenate %i, %i axis = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %y = array.gather %x[%v] axes = [0, 1] : (tensor<4x10xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %n = array.iota axis = 0 : tensor<3x1xi32>
  %w = array.concatenate %n, %j axis = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %z = array.gather %x[%w] axes = [0, 1] : (tensor<4x10xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  %one = array.constant dense<1> : tensor<i32>
  %m = array.iota axis = 0 : tensor<4x1xi32>
  %k = array.max %m, %one : (tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %u = array.concatenate %k, %i axis = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %t = array.gather %x[%u] axes = [0, 1] : (tensor<4x10xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %y, %z, %t : tensor<4xf32>, tensor<3xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @scatter
// CHECK-SAME:    %[[I:.*]]: tensor<4x1xi32>, %[[U:.*]]: tensor<4x5xf32>
// CHECK:         %[[ZERO:.*]] = array.constant dense<0.0{{.*}}> : tensor<4x10x5xf32>
// CHECK:         %[[AT:.*]] = array.reshape %{{.*}} : tensor<{{.*}}xi32> -> tensor<4x1x1xi32>
// CHECK:         %[[PLACE:.*]] = array.iota axis = 1 : tensor<1x10x1xi32>
// CHECK:         %[[NEW:.*]] = array.reshape %{{.*}} : tensor<{{.*}}xf32> -> tensor<4x1x5xf32>
// CHECK:         %[[HERE:.*]] = array.compare eq, %[[AT]], %[[PLACE]]
// CHECK:         %[[SUM:.*]] = array.add %[[ZERO]], %[[NEW]]
// CHECK:         array.select %[[HERE]], %[[SUM]], %[[ZERO]]
// CHECK-NOT:     array.scatter
func.func @scatter(%i: tensor<4x1xi32>, %u: tensor<4x5xf32>) -> tensor<4x10x5xf32> {
  %zero = array.constant dense<0.0> : tensor<4x10x5xf32>
  %n = array.iota axis = 0 : tensor<4x1xi32>
  %v = array.concatenate %n, %i axis = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %y = array.scatter add, %zero[%v] axes = [0, 1] = %u : (tensor<4x10x5xf32>, tensor<4x2xi32>, tensor<4x5xf32>) -> tensor<4x10x5xf32>
  return %y : tensor<4x10x5xf32>
}

// -----

// Several updates of a row may compete; into a tensor that is there, the updates alone are work.
// CHECK-LABEL: func.func @other_scatters
// CHECK-COUNT-2: array.scatter
func.func @other_scatters(%x: tensor<4x10xf32>, %i: tensor<4x2x1xi32>, %u: tensor<4x2xf32>, %j: tensor<4x1xi32>, %w: tensor<4xf32>) -> (tensor<4x10xf32>, tensor<4x10xf32>) {
  %zero = array.constant dense<0.0> : tensor<4x10xf32>
  %n = array.iota axis = 0 : tensor<4x2x1xi32>
  %v = array.concatenate %n, %i axis = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %y = array.scatter add, %zero[%v] axes = [0, 1] = %u : (tensor<4x10xf32>, tensor<4x2x2xi32>, tensor<4x2xf32>) -> tensor<4x10xf32>
  %m = array.iota axis = 0 : tensor<4x1xi32>
  %k = array.concatenate %m, %j axis = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %z = array.scatter set, %x[%k] axes = [0, 1] = %w : (tensor<4x10xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<4x10xf32>
  return %y, %z : tensor<4x10xf32>, tensor<4x10xf32>
}

// -----

// CHECK-LABEL: func.func @pool_gradient
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x8x4xf32>, %[[G:.*]]: tensor<2x4x4x4xf32>
// CHECK:         array.select_and_scatter max, %[[X]], %[[G]] window = [1, 3, 3, 1] strides = [1, 2, 2, 1] low = [0, 1, 1, 0] high = [0, 1, 1, 0]
// CHECK-SAME:      -> tensor<2x8x8x4xf32>
// CHECK-NEXT:    return
func.func @pool_gradient(%x: tensor<2x8x8x4xf32>, %g: tensor<2x4x4x4xf32>) -> tensor<2x8x8x4xf32> {
  %lowest = array.constant dense<0xFF800000> : tensor<f32>
  %p = array.pad %x, %lowest low = [0, 1, 1, 0] high = [0, 1, 1, 0] : (tensor<2x8x8x4xf32>, tensor<f32>) -> tensor<2x10x10x4xf32>
  %s = array.select_and_scatter max, %p, %g window = [1, 3, 3, 1] strides = [1, 2, 2, 1] : (tensor<2x10x10x4xf32>, tensor<2x4x4x4xf32>) -> tensor<2x10x10x4xf32>
  %y = array.slice %s [:2, 1:9, 1:9, :4] : tensor<2x10x10x4xf32> -> tensor<2x8x8x4xf32>
  return %y : tensor<2x8x8x4xf32>
}

// -----

// Zeros are larger than some elements; another part is sliced.
// CHECK-LABEL: func.func @other_pools
// CHECK-COUNT-2: array.pad
func.func @other_pools(%x: tensor<8xf32>, %g: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = array.constant dense<0.0> : tensor<f32>
  %lowest = array.constant dense<0xFF800000> : tensor<f32>
  %p = array.pad %x, %zero low = [1] high = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %s = array.select_and_scatter max, %p, %g window = [3] strides = [2] : (tensor<10xf32>, tensor<4xf32>) -> tensor<10xf32>
  %y = array.slice %s [1:9] : tensor<10xf32> -> tensor<8xf32>
  %q = array.pad %x, %lowest low = [1] high = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
  %t = array.select_and_scatter max, %q, %g window = [3] strides = [2] : (tensor<10xf32>, tensor<4xf32>) -> tensor<10xf32>
  %z = array.slice %t [2:10] : tensor<10xf32> -> tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}
