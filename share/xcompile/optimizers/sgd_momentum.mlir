// sgd_momentum.mlir - A step of gradient descent with momentum and weight decay
//
// m' = momentum * m + g + decay * w;  w' = w - rate * m'
//
// (w, gradient g, momentum m, rate, momentum, decay) -> (w', m'); m is zeros at first. As torch.optim.SGD.

func.func private @sgd_momentum(%w: tensor<?xf32>, %g: tensor<?xf32>, %m: tensor<?xf32>,
                                %rate: tensor<f32>, %momentum: tensor<f32>, %decay: tensor<f32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %kept = array.mul %m, %momentum : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %pull = array.mul %w, %decay : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %force = array.add %g, %pull : tensor<?xf32>
  %new_m = array.add %kept, %force : tensor<?xf32>
  %change = array.mul %new_m, %rate : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %new_w = array.sub %w, %change : tensor<?xf32>
  return %new_w, %new_m : tensor<?xf32>, tensor<?xf32>
}
