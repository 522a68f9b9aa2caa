// adamw.mlir - A step of Adam with decoupled weight decay
//
// m' = beta1 * m + (1 - beta1) * g;  v' = beta2 * v + (1 - beta2) * g^2
// w' = w - rate * (m^ / (sqrt(v^) + epsilon) + decay * w)
// with m^ = m' / (1 - beta1^t) and v^ = v' / (1 - beta2^t)
//
// (w, gradient g, m, v, t, rate, beta1, beta2, epsilon, decay) -> (w', m', v'); t counts steps from 1, m and v are zeros at
// first. As torch.optim.AdamW.

func.func private @adamw(%w: tensor<?xf32>, %g: tensor<?xf32>, %m: tensor<?xf32>, %v: tensor<?xf32>,
                        %t: tensor<f32>, %rate: tensor<f32>, %beta1: tensor<f32>, %beta2: tensor<f32>,
                        %epsilon: tensor<f32>, %decay: tensor<f32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %one = array.constant dense<1.0> : tensor<f32>
  %rest1 = array.sub %one, %beta1 : tensor<f32>
  %rest2 = array.sub %one, %beta2 : tensor<f32>

  // 1 - beta^t = -expm1(t log(beta)): without the difference of two numbers near 1.
  %log1 = array.log %beta1 : tensor<f32>
  %log2 = array.log %beta2 : tensor<f32>
  %power1 = array.mul %t, %log1 : tensor<f32>
  %power2 = array.mul %t, %log2 : tensor<f32>
  %lost1 = array.expm1 %power1 : tensor<f32>
  %lost2 = array.expm1 %power2 : tensor<f32>
  %part1 = array.neg %lost1 : tensor<f32>
  %part2 = array.neg %lost2 : tensor<f32>

  %kept_m = array.mul %m, %beta1 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %more_m = array.mul %g, %rest1 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %new_m = array.add %kept_m, %more_m : tensor<?xf32>
  %square = array.mul %g, %g : tensor<?xf32>
  %kept_v = array.mul %v, %beta2 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %more_v = array.mul %square, %rest2 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %new_v = array.add %kept_v, %more_v : tensor<?xf32>

  %mean = array.div %new_m, %part1 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %variance = array.div %new_v, %part2 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %deviation = array.sqrt %variance : tensor<?xf32>
  %divisor = array.add %deviation, %epsilon : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %direction = array.div %mean, %divisor : tensor<?xf32>
  %pull = array.mul %w, %decay : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %way = array.add %direction, %pull : tensor<?xf32>
  %change = array.mul %way, %rate : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %new_w = array.sub %w, %change : tensor<?xf32>
  return %new_w, %new_m, %new_v : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
