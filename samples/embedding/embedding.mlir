// embedding.mlir - What the programs of this folder run
//
// docs/embedding.md explains them.

module {
  array.variable @sum : tensor<4xf32>
  array.variable @count : tensor<f32>

  // The softmax of each row, for 1 to 1024 rows.
  func.func @main(%x: tensor<?x4xf32> {array.name = "x", array.dims = ["batch", ""]})
      -> (tensor<?x4xf32> {array.name = "y"}) attributes {array.dim_range = {batch = [1, 1024, 1]}} {
    %y = array.softmax %x axis = 1 : tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }

  // The mean of all rows seen so far, which two variables remember.
  func.func @observe(%x: tensor<?x4xf32> {array.name = "x", array.dims = ["batch", ""]})
      -> (tensor<4xf32> {array.name = "mean"}) {
    %n = array.dim %x, 0 : tensor<?x4xf32>
    %rows = array.from_index %n : tensor<f32>
    %added = array.reduce sum, %x axes = [0] : tensor<?x4xf32> -> tensor<4xf32>
    %old_sum = array.variable.read @sum : tensor<4xf32>
    %old_count = array.variable.read @count : tensor<f32>
    %new_sum = array.add %old_sum, %added : tensor<4xf32>
    %new_count = array.add %old_count, %rows : tensor<f32>
    array.variable.assign @sum, %new_sum : tensor<4xf32>
    array.variable.assign @count, %new_count : tensor<f32>
    %mean = array.div %new_sum, %new_count : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return %mean : tensor<4xf32>
  }
}
