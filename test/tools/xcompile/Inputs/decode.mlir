// A decoding step that writes one row of a cache, at a position that is data, and a loop of such steps.
module {
  array.variable @keys : tensor<1x2x64x16xf32>
  func.func @decode(%row: tensor<1x2x1x16xf32>, %bias: tensor<16xf32>, %at: tensor<i32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %old = array.variable.read @keys : tensor<1x2x64x16xf32>
    %k = array.add %row, %bias : (tensor<1x2x1x16xf32>, tensor<16xf32>) -> tensor<1x2x1x16xf32>
    %new = array.dynamic_update_slice %old[%zero, %zero, %at, %zero] = %k
       : (tensor<1x2x64x16xf32>, tensor<1x2x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x64x16xf32>
    array.variable.assign @keys, %new : tensor<1x2x64x16xf32>
    return
  }
  func.func @decode_loop(%row: tensor<1x2x1x16xf32>, %bias: tensor<16xf32>, %count: tensor<i32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %end = array.while %zero : (tensor<i32>) -> (tensor<i32>) condition {
    ^bb0(%i: tensor<i32>):
      %more = array.compare lt, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>):
      %old = array.variable.read @keys : tensor<1x2x64x16xf32>
      %k = array.add %row, %bias : (tensor<1x2x1x16xf32>, tensor<16xf32>) -> tensor<1x2x1x16xf32>
      %new = array.dynamic_update_slice %old[%zero, %zero, %i, %zero] = %k
         : (tensor<1x2x64x16xf32>, tensor<1x2x1x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x64x16xf32>
      array.variable.assign @keys, %new : tensor<1x2x64x16xf32>
      %next = array.add %i, %one : tensor<i32>
      array.yield %next : tensor<i32>
    }
    return
  }
}
