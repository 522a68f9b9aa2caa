// Halves x until its largest element is below 1, but at least `least` times.
func.func @main(%x: tensor<4xf32>, %least: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = array.constant dense<0> : tensor<i32>
  %step = array.constant dense<1> : tensor<i32>
  %one = array.constant dense<1.0> : tensor<f32>
  %two = array.constant dense<2.0> : tensor<f32>
  %y, %n = array.while %x, %zero : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>) condition {
  ^bb0(%v: tensor<4xf32>, %i: tensor<i32>):
    %top = array.reduce max, %v axes = [0] : tensor<4xf32> -> tensor<f32>
    %large = array.compare ge, %top, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %early = array.compare lt, %i, %least : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = array.or %large, %early : (tensor<i1>, tensor<i1>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%v: tensor<4xf32>, %i: tensor<i32>):
    %w = array.div %v, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %j = array.add %i, %step : tensor<i32>
    array.yield %w, %j : tensor<4xf32>, tensor<i32>
  }
  return %y, %n : tensor<4xf32>, tensor<i32>
}
