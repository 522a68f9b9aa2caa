// logistic_regression.mlir - One step of gradient descent, and the evaluation
//
// 10,000 rows of 100 features, bound once as inputs; the weights are a variable. @train is the whole training as one call.

module {
  array.variable @weights : tensor<100x1xf32>

  // weights -= rate * X^T (sigmoid(X weights) - y) / rows
  func.func @step(%x: tensor<10000x100xf32> {array.name = "x"}, %y: tensor<10000x1xf32> {array.name = "y"}) {
    %rate = array.constant dense<0.1> : tensor<f32>
    %rows = array.constant dense<1.0e4> : tensor<f32>
    %w = array.variable.read @weights : tensor<100x1xf32>
    %score = array.matmul %x, %w : (tensor<10000x100xf32>, tensor<100x1xf32>) -> tensor<10000x1xf32>
    %p = array.sigmoid %score : tensor<10000x1xf32>
    %off = array.sub %p, %y : tensor<10000x1xf32>
    %sum = array.matmul %x, %off transpose_a
         : (tensor<10000x100xf32>, tensor<10000x1xf32>) -> tensor<100x1xf32>
    %gradient = array.div %sum, %rows : (tensor<100x1xf32>, tensor<f32>) -> tensor<100x1xf32>
    %way = array.mul %gradient, %rate : (tensor<100x1xf32>, tensor<f32>) -> tensor<100x1xf32>
    %next = array.sub %w, %way : tensor<100x1xf32>
    array.variable.assign @weights, %next : tensor<100x1xf32>
    return
  }

  // `steps` times what @step does; the device counts.
  func.func @train(%x: tensor<10000x100xf32> {array.name = "x"}, %y: tensor<10000x1xf32> {array.name = "y"},
                   %steps: tensor<i32> {array.name = "steps"}) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %done = array.while %zero : (tensor<i32>) -> tensor<i32> condition {
    ^bb0(%i: tensor<i32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>):
      func.call @step(%x, %y) : (tensor<10000x100xf32>, tensor<10000x1xf32>) -> ()
      %next = array.add %i, %one : tensor<i32>
      array.yield %next : tensor<i32>
    }
    return
  }

  // Mean loss, log(1 + exp(s)) - y s without overflow, and the share of rows
  // on the right side.
  func.func @evaluate(%x: tensor<10000x100xf32> {array.name = "x"}, %y: tensor<10000x1xf32> {array.name = "y"})
      -> (tensor<f32> {array.name = "loss"}, tensor<f32> {array.name = "accuracy"}) {
    %zero = array.constant dense<0.0> : tensor<f32>
    %half = array.constant dense<0.5> : tensor<f32>
    %w = array.variable.read @weights : tensor<100x1xf32>
    %s = array.matmul %x, %w : (tensor<10000x100xf32>, tensor<100x1xf32>) -> tensor<10000x1xf32>
    %size = array.abs %s : tensor<10000x1xf32>
    %below = array.neg %size : tensor<10000x1xf32>
    %tail = array.exp %below : tensor<10000x1xf32>
    %log = array.log1p %tail : tensor<10000x1xf32>
    %above = array.max %s, %zero : (tensor<10000x1xf32>, tensor<f32>) -> tensor<10000x1xf32>
    %softplus = array.add %log, %above : tensor<10000x1xf32>
    %ys = array.mul %y, %s : tensor<10000x1xf32>
    %each = array.sub %softplus, %ys : tensor<10000x1xf32>
    %loss = array.mean %each axes = [0, 1] : tensor<10000x1xf32> -> tensor<f32>
    %said = array.compare gt, %s, %zero : (tensor<10000x1xf32>, tensor<f32>) -> tensor<10000x1xi1>
    %is = array.compare gt, %y, %half : (tensor<10000x1xf32>, tensor<f32>) -> tensor<10000x1xi1>
    %right = array.compare eq, %said, %is
           : (tensor<10000x1xi1>, tensor<10000x1xi1>) -> tensor<10000x1xi1>
    %ones = array.convert %right : tensor<10000x1xi1> -> tensor<10000x1xf32>
    %accuracy = array.mean %ones axes = [0, 1] : tensor<10000x1xf32> -> tensor<f32>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }
}
