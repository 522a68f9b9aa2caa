// tutorial.mlir - Three small functions and a variable

module {
  array.variable @calls : tensor<i64>

  // Element by element, with a number repeated for every element.
  func.func @scaled_sum(%a: tensor<2x2xf32> {array.name = "a"}, %b: tensor<2x2xf32> {array.name = "b"})
      -> (tensor<2x2xf32> {array.name = "sum"}) {
    %half = array.constant dense<0.5> : tensor<f32>
    %sum = array.add %a, %b : tensor<2x2xf32>
    %scaled = array.mul %sum, %half : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    return %scaled : tensor<2x2xf32>
  }

  // A function and its derivative: the sum of squares of any number of
  // elements, and its gradient, 2x.
  func.func @square_sum(%x: tensor<?xf32> {array.name = "x", array.dims = ["n"]})
      -> (tensor<f32> {array.name = "value"}, tensor<?xf32> {array.name = "gradient"}) {
    %two = array.constant dense<2.0> : tensor<f32>
    %squares = array.square %x : tensor<?xf32>
    %value = array.reduce sum, %squares axes = [0] : tensor<?xf32> -> tensor<f32>
    %gradient = array.mul %x, %two : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    return %value, %gradient : tensor<f32>, tensor<?xf32>
  }

  // Counts its calls: a variable keeps its value from call to call.
  func.func @count() -> (tensor<i64> {array.name = "calls"}) {
    %one = array.constant dense<1> : tensor<i64>
    %old = array.variable.read @calls : tensor<i64>
    %new = array.add %old, %one : tensor<i64>
    array.variable.assign @calls, %new : tensor<i64>
    return %new : tensor<i64>
  }
}
