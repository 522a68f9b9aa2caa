// classifier.mlir - What classifier.py --text writes; compile it with --gradient=model_loss:2,3,4,5,6,7,8,9
module {
  array.variable @steps : tensor<f32>
  array.variable @conv1.weight : tensor<8x1x3x3xf32> = #array.parameter<"classifier.safetensors"::"conv1.weight">
  array.variable @conv1.weight.m : tensor<8x1x3x3xf32>
  array.variable @conv1.weight.v : tensor<8x1x3x3xf32>
  array.variable @conv1.bias : tensor<8xf32> = #array.parameter<"classifier.safetensors"::"conv1.bias">
  array.variable @conv1.bias.m : tensor<8xf32>
  array.variable @conv1.bias.v : tensor<8xf32>
  array.variable @conv2.weight : tensor<16x8x3x3xf32> = #array.parameter<"classifier.safetensors"::"conv2.weight">
  array.variable @conv2.weight.m : tensor<16x8x3x3xf32>
  array.variable @conv2.weight.v : tensor<16x8x3x3xf32>
  array.variable @conv2.bias : tensor<16xf32> = #array.parameter<"classifier.safetensors"::"conv2.bias">
  array.variable @conv2.bias.m : tensor<16xf32>
  array.variable @conv2.bias.v : tensor<16xf32>
  array.variable @norm.weight : tensor<64xf32> = #array.parameter<"classifier.safetensors"::"norm.weight">
  array.variable @norm.weight.m : tensor<64xf32>
  array.variable @norm.weight.v : tensor<64xf32>
  array.variable @norm.bias : tensor<64xf32> = #array.parameter<"classifier.safetensors"::"norm.bias">
  array.variable @norm.bias.m : tensor<64xf32>
  array.variable @norm.bias.v : tensor<64xf32>
  array.variable @last.weight : tensor<10x64xf32> = #array.parameter<"classifier.safetensors"::"last.weight">
  array.variable @last.weight.m : tensor<10x64xf32>
  array.variable @last.weight.v : tensor<10x64xf32>
  array.variable @last.bias : tensor<10xf32> = #array.parameter<"classifier.safetensors"::"last.bias">
  array.variable @last.bias.m : tensor<10xf32>
  array.variable @last.bias.v : tensor<10xf32>
  func.func private @model_loss(%x0: tensor<64x64xf32> {array.name = "images"}, %x1: tensor<64xi64> {array.name = "labels"}, %x2: tensor<8x1x3x3xf32> {array.name = "conv1.weight"}, %x3: tensor<8xf32> {array.name = "conv1.bias"}, %x4: tensor<16x8x3x3xf32> {array.name = "conv2.weight"}, %x5: tensor<16xf32> {array.name = "conv2.bias"}, %x6: tensor<64xf32> {array.name = "norm.weight"}, %x7: tensor<64xf32> {array.name = "norm.bias"}, %x8: tensor<10x64xf32> {array.name = "last.weight"}, %x9: tensor<10xf32> {array.name = "last.bias"}) -> tensor<f32> {
    %r:2 = func.call @model(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9) : (tensor<64x64xf32>, tensor<64xi64>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> (tensor<f32>, tensor<64xi64>)
    return %r#0 : tensor<f32>
  }
  func.func private @model_loss_vjp(tensor<64x64xf32>, tensor<64xi64>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<f32>) -> (tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>)
  func.func @evaluate(%in0: tensor<64x64xf32> {array.name = "images"}, %in1: tensor<64xi64> {array.name = "labels"}) -> (tensor<f32> {array.name = "loss"}, tensor<64xi64> {array.name = "digits"}) {
    %w0 = array.variable.read @conv1.weight : tensor<8x1x3x3xf32>
    %w1 = array.variable.read @conv1.bias : tensor<8xf32>
    %w2 = array.variable.read @conv2.weight : tensor<16x8x3x3xf32>
    %w3 = array.variable.read @conv2.bias : tensor<16xf32>
    %w4 = array.variable.read @norm.weight : tensor<64xf32>
    %w5 = array.variable.read @norm.bias : tensor<64xf32>
    %w6 = array.variable.read @last.weight : tensor<10x64xf32>
    %w7 = array.variable.read @last.bias : tensor<10xf32>
    %r:2 = func.call @model(%in0, %in1, %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7) : (tensor<64x64xf32>, tensor<64xi64>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> (tensor<f32>, tensor<64xi64>)
    return %r#0, %r#1 : tensor<f32>, tensor<64xi64>
  }
  func.func @train_step(%in0: tensor<64x64xf32> {array.name = "images"}, %in1: tensor<64xi64> {array.name = "labels"}, %rate: tensor<f32> {array.name = "rate"}) -> (tensor<f32> {array.name = "loss"}, tensor<64xi64> {array.name = "digits"}) {
    %w0 = array.variable.read @conv1.weight : tensor<8x1x3x3xf32>
    %w1 = array.variable.read @conv1.bias : tensor<8xf32>
    %w2 = array.variable.read @conv2.weight : tensor<16x8x3x3xf32>
    %w3 = array.variable.read @conv2.bias : tensor<16xf32>
    %w4 = array.variable.read @norm.weight : tensor<64xf32>
    %w5 = array.variable.read @norm.bias : tensor<64xf32>
    %w6 = array.variable.read @last.weight : tensor<10x64xf32>
    %w7 = array.variable.read @last.bias : tensor<10xf32>
    %r:2 = func.call @model(%in0, %in1, %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7) : (tensor<64x64xf32>, tensor<64xi64>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> (tensor<f32>, tensor<64xi64>)
    %one = array.constant dense<1.0> : tensor<f32>
    %done = array.variable.read @steps : tensor<f32>
    %t = array.add %done, %one : tensor<f32>
    array.variable.assign @steps, %t : tensor<f32>
    %beta1 = array.constant dense<9.000000000e-01> : tensor<f32>
    %beta2 = array.constant dense<9.990000000e-01> : tensor<f32>
    %epsilon = array.constant dense<1.000000000e-08> : tensor<f32>
    %decay = array.constant dense<1.000000000e-02> : tensor<f32>
    %d:8 = func.call @model_loss_vjp(%in0, %in1, %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %one) : (tensor<64x64xf32>, tensor<64xi64>, tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<f32>) -> (tensor<8x1x3x3xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10xf32>)
    %w0_m = array.variable.read @conv1.weight.m : tensor<8x1x3x3xf32>
    %w0_v = array.variable.read @conv1.weight.v : tensor<8x1x3x3xf32>
    %f0_0 = array.reshape %w0 : tensor<8x1x3x3xf32> -> tensor<?xf32>
    %f0_1 = array.reshape %d#0 : tensor<8x1x3x3xf32> -> tensor<?xf32>
    %f0_2 = array.reshape %w0_m : tensor<8x1x3x3xf32> -> tensor<?xf32>
    %f0_3 = array.reshape %w0_v : tensor<8x1x3x3xf32> -> tensor<?xf32>
    %n0:3 = func.call @adamw(%f0_0, %f0_1, %f0_2, %f0_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s0_0 = array.reshape %n0#0 : tensor<?xf32> -> tensor<8x1x3x3xf32>
    array.variable.assign @conv1.weight, %s0_0 : tensor<8x1x3x3xf32>
    %s0_1 = array.reshape %n0#1 : tensor<?xf32> -> tensor<8x1x3x3xf32>
    array.variable.assign @conv1.weight.m, %s0_1 : tensor<8x1x3x3xf32>
    %s0_2 = array.reshape %n0#2 : tensor<?xf32> -> tensor<8x1x3x3xf32>
    array.variable.assign @conv1.weight.v, %s0_2 : tensor<8x1x3x3xf32>
    %w1_m = array.variable.read @conv1.bias.m : tensor<8xf32>
    %w1_v = array.variable.read @conv1.bias.v : tensor<8xf32>
    %f1_0 = array.reshape %w1 : tensor<8xf32> -> tensor<?xf32>
    %f1_1 = array.reshape %d#1 : tensor<8xf32> -> tensor<?xf32>
    %f1_2 = array.reshape %w1_m : tensor<8xf32> -> tensor<?xf32>
    %f1_3 = array.reshape %w1_v : tensor<8xf32> -> tensor<?xf32>
    %n1:3 = func.call @adamw(%f1_0, %f1_1, %f1_2, %f1_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s1_0 = array.reshape %n1#0 : tensor<?xf32> -> tensor<8xf32>
    array.variable.assign @conv1.bias, %s1_0 : tensor<8xf32>
    %s1_1 = array.reshape %n1#1 : tensor<?xf32> -> tensor<8xf32>
    array.variable.assign @conv1.bias.m, %s1_1 : tensor<8xf32>
    %s1_2 = array.reshape %n1#2 : tensor<?xf32> -> tensor<8xf32>
    array.variable.assign @conv1.bias.v, %s1_2 : tensor<8xf32>
    %w2_m = array.variable.read @conv2.weight.m : tensor<16x8x3x3xf32>
    %w2_v = array.variable.read @conv2.weight.v : tensor<16x8x3x3xf32>
    %f2_0 = array.reshape %w2 : tensor<16x8x3x3xf32> -> tensor<?xf32>
    %f2_1 = array.reshape %d#2 : tensor<16x8x3x3xf32> -> tensor<?xf32>
    %f2_2 = array.reshape %w2_m : tensor<16x8x3x3xf32> -> tensor<?xf32>
    %f2_3 = array.reshape %w2_v : tensor<16x8x3x3xf32> -> tensor<?xf32>
    %n2:3 = func.call @adamw(%f2_0, %f2_1, %f2_2, %f2_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s2_0 = array.reshape %n2#0 : tensor<?xf32> -> tensor<16x8x3x3xf32>
    array.variable.assign @conv2.weight, %s2_0 : tensor<16x8x3x3xf32>
    %s2_1 = array.reshape %n2#1 : tensor<?xf32> -> tensor<16x8x3x3xf32>
    array.variable.assign @conv2.weight.m, %s2_1 : tensor<16x8x3x3xf32>
    %s2_2 = array.reshape %n2#2 : tensor<?xf32> -> tensor<16x8x3x3xf32>
    array.variable.assign @conv2.weight.v, %s2_2 : tensor<16x8x3x3xf32>
    %w3_m = array.variable.read @conv2.bias.m : tensor<16xf32>
    %w3_v = array.variable.read @conv2.bias.v : tensor<16xf32>
    %f3_0 = array.reshape %w3 : tensor<16xf32> -> tensor<?xf32>
    %f3_1 = array.reshape %d#3 : tensor<16xf32> -> tensor<?xf32>
    %f3_2 = array.reshape %w3_m : tensor<16xf32> -> tensor<?xf32>
    %f3_3 = array.reshape %w3_v : tensor<16xf32> -> tensor<?xf32>
    %n3:3 = func.call @adamw(%f3_0, %f3_1, %f3_2, %f3_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s3_0 = array.reshape %n3#0 : tensor<?xf32> -> tensor<16xf32>
    array.variable.assign @conv2.bias, %s3_0 : tensor<16xf32>
    %s3_1 = array.reshape %n3#1 : tensor<?xf32> -> tensor<16xf32>
    array.variable.assign @conv2.bias.m, %s3_1 : tensor<16xf32>
    %s3_2 = array.reshape %n3#2 : tensor<?xf32> -> tensor<16xf32>
    array.variable.assign @conv2.bias.v, %s3_2 : tensor<16xf32>
    %w4_m = array.variable.read @norm.weight.m : tensor<64xf32>
    %w4_v = array.variable.read @norm.weight.v : tensor<64xf32>
    %f4_0 = array.reshape %w4 : tensor<64xf32> -> tensor<?xf32>
    %f4_1 = array.reshape %d#4 : tensor<64xf32> -> tensor<?xf32>
    %f4_2 = array.reshape %w4_m : tensor<64xf32> -> tensor<?xf32>
    %f4_3 = array.reshape %w4_v : tensor<64xf32> -> tensor<?xf32>
    %n4:3 = func.call @adamw(%f4_0, %f4_1, %f4_2, %f4_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s4_0 = array.reshape %n4#0 : tensor<?xf32> -> tensor<64xf32>
    array.variable.assign @norm.weight, %s4_0 : tensor<64xf32>
    %s4_1 = array.reshape %n4#1 : tensor<?xf32> -> tensor<64xf32>
    array.variable.assign @norm.weight.m, %s4_1 : tensor<64xf32>
    %s4_2 = array.reshape %n4#2 : tensor<?xf32> -> tensor<64xf32>
    array.variable.assign @norm.weight.v, %s4_2 : tensor<64xf32>
    %w5_m = array.variable.read @norm.bias.m : tensor<64xf32>
    %w5_v = array.variable.read @norm.bias.v : tensor<64xf32>
    %f5_0 = array.reshape %w5 : tensor<64xf32> -> tensor<?xf32>
    %f5_1 = array.reshape %d#5 : tensor<64xf32> -> tensor<?xf32>
    %f5_2 = array.reshape %w5_m : tensor<64xf32> -> tensor<?xf32>
    %f5_3 = array.reshape %w5_v : tensor<64xf32> -> tensor<?xf32>
    %n5:3 = func.call @adamw(%f5_0, %f5_1, %f5_2, %f5_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s5_0 = array.reshape %n5#0 : tensor<?xf32> -> tensor<64xf32>
    array.variable.assign @norm.bias, %s5_0 : tensor<64xf32>
    %s5_1 = array.reshape %n5#1 : tensor<?xf32> -> tensor<64xf32>
    array.variable.assign @norm.bias.m, %s5_1 : tensor<64xf32>
    %s5_2 = array.reshape %n5#2 : tensor<?xf32> -> tensor<64xf32>
    array.variable.assign @norm.bias.v, %s5_2 : tensor<64xf32>
    %w6_m = array.variable.read @last.weight.m : tensor<10x64xf32>
    %w6_v = array.variable.read @last.weight.v : tensor<10x64xf32>
    %f6_0 = array.reshape %w6 : tensor<10x64xf32> -> tensor<?xf32>
    %f6_1 = array.reshape %d#6 : tensor<10x64xf32> -> tensor<?xf32>
    %f6_2 = array.reshape %w6_m : tensor<10x64xf32> -> tensor<?xf32>
    %f6_3 = array.reshape %w6_v : tensor<10x64xf32> -> tensor<?xf32>
    %n6:3 = func.call @adamw(%f6_0, %f6_1, %f6_2, %f6_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s6_0 = array.reshape %n6#0 : tensor<?xf32> -> tensor<10x64xf32>
    array.variable.assign @last.weight, %s6_0 : tensor<10x64xf32>
    %s6_1 = array.reshape %n6#1 : tensor<?xf32> -> tensor<10x64xf32>
    array.variable.assign @last.weight.m, %s6_1 : tensor<10x64xf32>
    %s6_2 = array.reshape %n6#2 : tensor<?xf32> -> tensor<10x64xf32>
    array.variable.assign @last.weight.v, %s6_2 : tensor<10x64xf32>
    %w7_m = array.variable.read @last.bias.m : tensor<10xf32>
    %w7_v = array.variable.read @last.bias.v : tensor<10xf32>
    %f7_0 = array.reshape %w7 : tensor<10xf32> -> tensor<?xf32>
    %f7_1 = array.reshape %d#7 : tensor<10xf32> -> tensor<?xf32>
    %f7_2 = array.reshape %w7_m : tensor<10xf32> -> tensor<?xf32>
    %f7_3 = array.reshape %w7_v : tensor<10xf32> -> tensor<?xf32>
    %n7:3 = func.call @adamw(%f7_0, %f7_1, %f7_2, %f7_3, %t, %rate, %beta1, %beta2, %epsilon, %decay) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    %s7_0 = array.reshape %n7#0 : tensor<?xf32> -> tensor<10xf32>
    array.variable.assign @last.bias, %s7_0 : tensor<10xf32>
    %s7_1 = array.reshape %n7#1 : tensor<?xf32> -> tensor<10xf32>
    array.variable.assign @last.bias.m, %s7_1 : tensor<10xf32>
    %s7_2 = array.reshape %n7#2 : tensor<?xf32> -> tensor<10xf32>
    array.variable.assign @last.bias.v, %s7_2 : tensor<10xf32>
    return %r#0, %r#1 : tensor<f32>, tensor<64xi64>
  }
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
  func.func private @model(%arg0: tensor<64x64xf32> {array.name = "images"}, %arg1: tensor<64xi64> {array.name = "labels"}, %arg2: tensor<8x1x3x3xf32> {array.name = "conv1.weight"}, %arg3: tensor<8xf32> {array.name = "conv1.bias"}, %arg4: tensor<16x8x3x3xf32> {array.name = "conv2.weight"}, %arg5: tensor<16xf32> {array.name = "conv2.bias"}, %arg6: tensor<64xf32> {array.name = "norm.weight"}, %arg7: tensor<64xf32> {array.name = "norm.bias"}, %arg8: tensor<10x64xf32> {array.name = "last.weight"}, %arg9: tensor<10xf32> {array.name = "last.bias"}) -> (tensor<f32> {array.name = "loss"}, tensor<64xi64> {array.name = "digits"}) {
    %cst = array.constant dense<1.000000e+00> : tensor<64xf32>
    %cst_0 = array.constant dense<0> : tensor<i64>
    %cst_1 = array.constant dense<-100> : tensor<i64>
    %cst_2 = array.constant dense<0.000000e+00> : tensor<f32>
    %0 = array.reshape %arg0 : tensor<64x64xf32> -> tensor<64x1x8x8xf32>
    %1 = array.conv %0, %arg2 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> strides = [1, 1] low = [1, 1] high = [1, 1] input_dilation = [1, 1] filter_dilation = [1, 1] : (tensor<64x1x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<64x8x8x8xf32>
    %2 = array.expand_dims %arg3 axes = [1, 2] : tensor<8xf32> -> tensor<8x1x1xf32>
    %3 = array.add %1, %2 : (tensor<64x8x8x8xf32>, tensor<8x1x1xf32>) -> tensor<64x8x8x8xf32>
    %4 = array.relu %3 : tensor<64x8x8x8xf32>
    %5 = array.reduce_window max, %4 window = [1, 1, 2, 2] strides = [1, 1, 2, 2] low = [0, 0, 0, 0] high = [0, 0, 0, 0] dilation = [1, 1, 1, 1] : tensor<64x8x8x8xf32> -> tensor<64x8x4x4xf32>
    %6 = array.conv %5, %arg4 dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> strides = [1, 1] low = [1, 1] high = [1, 1] input_dilation = [1, 1] filter_dilation = [1, 1] : (tensor<64x8x4x4xf32>, tensor<16x8x3x3xf32>) -> tensor<64x16x4x4xf32>
    %7 = array.expand_dims %arg5 axes = [1, 2] : tensor<16xf32> -> tensor<16x1x1xf32>
    %8 = array.add %6, %7 : (tensor<64x16x4x4xf32>, tensor<16x1x1xf32>) -> tensor<64x16x4x4xf32>
    %9 = array.relu %8 : tensor<64x16x4x4xf32>
    %10 = array.reduce_window max, %9 window = [1, 1, 2, 2] strides = [1, 1, 2, 2] low = [0, 0, 0, 0] high = [0, 0, 0, 0] dilation = [1, 1, 1, 1] : tensor<64x16x4x4xf32> -> tensor<64x16x2x2xf32>
    %11 = array.reshape %10 : tensor<64x16x2x2xf32> -> tensor<64x64xf32>
    %12 = array.layer_norm %11 scale(%arg6 : tensor<64xf32>) bias(%arg7 : tensor<64xf32>) axis = 1 epsilon = 9.9999997473787516E-6 : tensor<64x64xf32>
    %13 = array.matmul %12, %arg8 transpose_b : (tensor<64x64xf32>, tensor<10x64xf32>) -> tensor<64x10xf32>
    %14 = array.add %13, %arg9 : (tensor<64x10xf32>, tensor<10xf32>) -> tensor<64x10xf32>
    %15 = array.log_softmax %14 axis = 1 : tensor<64x10xf32>
    %16 = array.compare eq, %arg1, %cst_1 : (tensor<64xi64>, tensor<i64>) -> tensor<64xi1>
    %17 = array.select %16, %cst_0, %arg1 : (tensor<64xi1>, tensor<i64>, tensor<64xi64>) -> tensor<64xi64>
    %18 = array.expand_dims %17 axes = [1] : tensor<64xi64> -> tensor<64x1xi64>
    %19 = array.take_along_axis %15[%18] axis = 1 : (tensor<64x10xf32>, tensor<64x1xi64>) -> tensor<64x1xf32>
    %20 = array.squeeze %19 axes = [1] : tensor<64x1xf32> -> tensor<64xf32>
    %21 = array.select %16, %cst_2, %cst : (tensor<64xi1>, tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
    %22 = array.mul %20, %21 : tensor<64xf32>
    %23 = array.neg %22 : tensor<64xf32>
    %24 = array.reduce sum, %23 axes = [0] : tensor<64xf32> -> tensor<f32>
    %25 = array.reduce sum, %21 axes = [0] : tensor<64xf32> -> tensor<f32>
    %26 = array.div %24, %25 : tensor<f32>
    %27 = array.argmax %14 axis = 1 : tensor<64x10xf32> -> tensor<64xi64>
    return %26, %27 : tensor<f32>, tensor<64xi64>
  }
}
