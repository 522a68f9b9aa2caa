// A loop whose value doubles its size in each iteration.
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %r:2 = array.while %n, %x : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<?xf32>) condition {
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %z = array.constant dense<0> : tensor<i32>
    %p = array.compare gt, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %w = array.concatenate %v, %v axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    array.yield %i, %w : tensor<i32>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}
