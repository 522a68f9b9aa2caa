// classifier.mlir - A classifier of handwritten digits, trained by AdamW
//
// Compiled behind share/xcompile/optimizers/adamw.mlir, with --gradient=loss:w1,b1,w2,b2: the compiler writes the
// gradient of @loss, and @train_step calls it. Weights, their moments and the number of steps are variables, so that
// all of it is in a checkpoint.

array.variable @w1 : tensor<64x32xf32>
array.variable @w1_m : tensor<64x32xf32>
array.variable @w1_v : tensor<64x32xf32>
array.variable @b1 : tensor<32xf32>
array.variable @b1_m : tensor<32xf32>
array.variable @b1_v : tensor<32xf32>
array.variable @w2 : tensor<32x10xf32>
array.variable @w2_m : tensor<32x10xf32>
array.variable @w2_v : tensor<32x10xf32>
array.variable @b2 : tensor<10xf32>
array.variable @b2_m : tensor<10xf32>
array.variable @b2_v : tensor<10xf32>
array.variable @steps : tensor<f32>

func.func private @logits(%images: tensor<?x64xf32>, %w1: tensor<64x32xf32>, %b1: tensor<32xf32>, %w2: tensor<32x10xf32>, %b2: tensor<10xf32>)
    -> tensor<?x10xf32> {
  %xw = array.matmul %images, %w1 : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  %z = array.add %xw, %b1 : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  %h = array.tanh %z : tensor<?x32xf32>
  %hw = array.matmul %h, %w2 : (tensor<?x32xf32>, tensor<32x10xf32>) -> tensor<?x10xf32>
  %y = array.add %hw, %b2 : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// The mean cross entropy.
func.func @loss(%images: tensor<?x64xf32> {array.dims = ["batch", ""]}, %labels: tensor<?xi32> {array.dims = ["batch"]},
                %w1: tensor<64x32xf32> {array.name = "w1"}, %b1: tensor<32xf32> {array.name = "b1"}, %w2: tensor<32x10xf32> {array.name = "w2"}, %b2: tensor<10xf32> {array.name = "b2"})
    -> tensor<f32> {
  %y = func.call @logits(%images, %w1, %b1, %w2, %b2) : (tensor<?x64xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %log_p = array.log_softmax %y axis = 1 : tensor<?x10xf32>
  %target = array.one_hot %labels depth = 10 : tensor<?xi32> -> tensor<?x10xf32>
  %hit = array.mul %target, %log_p : tensor<?x10xf32>
  %of_each = array.reduce sum, %hit axes = [1] : tensor<?x10xf32> -> tensor<?xf32>
  %mean = array.mean %of_each axes = [0] : tensor<?xf32> -> tensor<f32>
  %loss = array.neg %mean : tensor<f32>
  return %loss : tensor<f32>
}

func.func private @loss_vjp(tensor<?x64xf32>, tensor<?xi32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>, tensor<f32>)
    -> (tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>)

// One step; the loss is that before it.
func.func @train_step(%images: tensor<?x64xf32> {array.name = "images", array.dims = ["batch", ""]},
                      %labels: tensor<?xi32> {array.name = "labels", array.dims = ["batch"]},
                      %rate: tensor<f32> {array.name = "rate"}) -> (tensor<f32> {array.name = "loss"}) {
  %one = array.constant dense<1.0> : tensor<f32>
  %beta1 = array.constant dense<0.9> : tensor<f32>
  %beta2 = array.constant dense<0.999> : tensor<f32>
  %epsilon = array.constant dense<1.0e-8> : tensor<f32>
  %decay = array.constant dense<0.01> : tensor<f32>
  %done = array.variable.read @steps : tensor<f32>
  %t = array.add %done, %one : tensor<f32>
  array.variable.assign @steps, %t : tensor<f32>
  %w1 = array.variable.read @w1 : tensor<64x32xf32>
  %b1 = array.variable.read @b1 : tensor<32xf32>
  %w2 = array.variable.read @w2 : tensor<32x10xf32>
  %b2 = array.variable.read @b2 : tensor<10xf32>
  %loss = func.call @loss(%images, %labels, %w1, %b1, %w2, %b2)
        : (tensor<?x64xf32>, tensor<?xi32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>) -> tensor<f32>
  %d:4 = func.call @loss_vjp(%images, %labels, %w1, %b1, %w2, %b2, %one)
       : (tensor<?x64xf32>, tensor<?xi32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>, tensor<f32>)
      -> (tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>)

  %w1_m = array.variable.read @w1_m : tensor<64x32xf32>
  %w1_v = array.variable.read @w1_v : tensor<64x32xf32>
  %w1_flat = array.reshape %w1 : tensor<64x32xf32> -> tensor<?xf32>
  %w1_d_flat = array.reshape %d#0 : tensor<64x32xf32> -> tensor<?xf32>
  %w1_m_flat = array.reshape %w1_m : tensor<64x32xf32> -> tensor<?xf32>
  %w1_v_flat = array.reshape %w1_v : tensor<64x32xf32> -> tensor<?xf32>
  %w1_next:3 = func.call @adamw(%w1_flat, %w1_d_flat, %w1_m_flat, %w1_v_flat, %t, %rate, %beta1, %beta2, %epsilon, %decay)
      : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %w1_new = array.reshape %w1_next#0 : tensor<?xf32> -> tensor<64x32xf32>
  array.variable.assign @w1, %w1_new : tensor<64x32xf32>
  %w1_m_new = array.reshape %w1_next#1 : tensor<?xf32> -> tensor<64x32xf32>
  array.variable.assign @w1_m, %w1_m_new : tensor<64x32xf32>
  %w1_v_new = array.reshape %w1_next#2 : tensor<?xf32> -> tensor<64x32xf32>
  array.variable.assign @w1_v, %w1_v_new : tensor<64x32xf32>

  %b1_m = array.variable.read @b1_m : tensor<32xf32>
  %b1_v = array.variable.read @b1_v : tensor<32xf32>
  %b1_flat = array.reshape %b1 : tensor<32xf32> -> tensor<?xf32>
  %b1_d_flat = array.reshape %d#1 : tensor<32xf32> -> tensor<?xf32>
  %b1_m_flat = array.reshape %b1_m : tensor<32xf32> -> tensor<?xf32>
  %b1_v_flat = array.reshape %b1_v : tensor<32xf32> -> tensor<?xf32>
  %b1_next:3 = func.call @adamw(%b1_flat, %b1_d_flat, %b1_m_flat, %b1_v_flat, %t, %rate, %beta1, %beta2, %epsilon, %decay)
      : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %b1_new = array.reshape %b1_next#0 : tensor<?xf32> -> tensor<32xf32>
  array.variable.assign @b1, %b1_new : tensor<32xf32>
  %b1_m_new = array.reshape %b1_next#1 : tensor<?xf32> -> tensor<32xf32>
  array.variable.assign @b1_m, %b1_m_new : tensor<32xf32>
  %b1_v_new = array.reshape %b1_next#2 : tensor<?xf32> -> tensor<32xf32>
  array.variable.assign @b1_v, %b1_v_new : tensor<32xf32>

  %w2_m = array.variable.read @w2_m : tensor<32x10xf32>
  %w2_v = array.variable.read @w2_v : tensor<32x10xf32>
  %w2_flat = array.reshape %w2 : tensor<32x10xf32> -> tensor<?xf32>
  %w2_d_flat = array.reshape %d#2 : tensor<32x10xf32> -> tensor<?xf32>
  %w2_m_flat = array.reshape %w2_m : tensor<32x10xf32> -> tensor<?xf32>
  %w2_v_flat = array.reshape %w2_v : tensor<32x10xf32> -> tensor<?xf32>
  %w2_next:3 = func.call @adamw(%w2_flat, %w2_d_flat, %w2_m_flat, %w2_v_flat, %t, %rate, %beta1, %beta2, %epsilon, %decay)
      : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %w2_new = array.reshape %w2_next#0 : tensor<?xf32> -> tensor<32x10xf32>
  array.variable.assign @w2, %w2_new : tensor<32x10xf32>
  %w2_m_new = array.reshape %w2_next#1 : tensor<?xf32> -> tensor<32x10xf32>
  array.variable.assign @w2_m, %w2_m_new : tensor<32x10xf32>
  %w2_v_new = array.reshape %w2_next#2 : tensor<?xf32> -> tensor<32x10xf32>
  array.variable.assign @w2_v, %w2_v_new : tensor<32x10xf32>

  %b2_m = array.variable.read @b2_m : tensor<10xf32>
  %b2_v = array.variable.read @b2_v : tensor<10xf32>
  %b2_flat = array.reshape %b2 : tensor<10xf32> -> tensor<?xf32>
  %b2_d_flat = array.reshape %d#3 : tensor<10xf32> -> tensor<?xf32>
  %b2_m_flat = array.reshape %b2_m : tensor<10xf32> -> tensor<?xf32>
  %b2_v_flat = array.reshape %b2_v : tensor<10xf32> -> tensor<?xf32>
  %b2_next:3 = func.call @adamw(%b2_flat, %b2_d_flat, %b2_m_flat, %b2_v_flat, %t, %rate, %beta1, %beta2, %epsilon, %decay)
      : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %b2_new = array.reshape %b2_next#0 : tensor<?xf32> -> tensor<10xf32>
  array.variable.assign @b2, %b2_new : tensor<10xf32>
  %b2_m_new = array.reshape %b2_next#1 : tensor<?xf32> -> tensor<10xf32>
  array.variable.assign @b2_m, %b2_m_new : tensor<10xf32>
  %b2_v_new = array.reshape %b2_next#2 : tensor<?xf32> -> tensor<10xf32>
  array.variable.assign @b2_v, %b2_v_new : tensor<10xf32>
  return %loss : tensor<f32>
}

// The most likely digit of each image.
func.func @classify(%images: tensor<?x64xf32> {array.name = "images", array.dims = ["batch", ""]})
    -> (tensor<?xi32> {array.name = "digits"}) {
  %w1 = array.variable.read @w1 : tensor<64x32xf32>
  %b1 = array.variable.read @b1 : tensor<32xf32>
  %w2 = array.variable.read @w2 : tensor<32x10xf32>
  %b2 = array.variable.read @b2 : tensor<10xf32>
  %y = func.call @logits(%images, %w1, %b1, %w2, %b2) : (tensor<?x64xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %digits = array.argmax %y axis = 1 : tensor<?x10xf32> -> tensor<?xi32>
  return %digits : tensor<?xi32>
}
