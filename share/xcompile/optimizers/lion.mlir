// lion.mlir - A step of Lion (Chen et al., 2023)
//
// w' = w - rate * (sign(beta1 * m + (1 - beta1) * g) + decay * w);  m' = beta2 * m + (1 - beta2) * g
//
// (w, gradient g, m, rate, beta1, beta2, decay) -> (w', m'); m is zeros at first.

func.func private @lion(%w: tensor<?xf32>, %g: tensor<?xf32>, %m: tensor<?xf32>,
                        %rate: tensor<f32>, %beta1: tensor<f32>, %beta2: tensor<f32>, %decay: tensor<f32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %one = array.constant dense<1.0> : tensor<f32>
  %rest1 = array.sub %one, %beta1 : tensor<f32>
  %rest2 = array.sub %one, %beta2 : tensor<f32>
  %kept1 = array.mul %m, %beta1 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %more1 = array.mul %g, %rest1 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %mixed = array.add %kept1, %more1 : tensor<?xf32>
  %sign = array.sign %mixed : tensor<?xf32>
  %pull = array.mul %w, %decay : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %way = array.add %sign, %pull : tensor<?xf32>
  %change = array.mul %way, %rate : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %new_w = array.sub %w, %change : tensor<?xf32>
  %kept2 = array.mul %m, %beta2 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %more2 = array.mul %g, %rest2 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %new_m = array.add %kept2, %more2 : tensor<?xf32>
  return %new_w, %new_m : tensor<?xf32>, tensor<?xf32>
}
