// digits.mlir - A classifier of handwritten digits and the step that trains it
//
// Two layers (64 -> 128 -> 10) with a relu between them. The weights and their
// momenta are variables: they live in the instance, training assigns them, and
// classification reads what training left there.
//
// `batch` is symbolic: the last batch of an epoch may be smaller.

module {
  array.variable @w1 : tensor<64x128xf32>
  array.variable @b1 : tensor<128xf32>
  array.variable @w2 : tensor<128x10xf32>
  array.variable @b2 : tensor<10xf32>
  array.variable @w1_momentum : tensor<64x128xf32>
  array.variable @b1_momentum : tensor<128xf32>
  array.variable @w2_momentum : tensor<128x10xf32>
  array.variable @b2_momentum : tensor<10xf32>

  // One step of gradient descent with momentum and weight decay. `images` holds
  // pixels from 0 to 16, `labels` digits; the result is the mean cross entropy
  // before the step.
  func.func @train_step(
      %images: tensor<?x64xui8> {array.name = "images", array.dims = ["batch", ""]},
      %labels: tensor<?xi32> {array.name = "labels", array.dims = ["batch"]},
      %rate: tensor<f32> {array.name = "rate"})
      -> (tensor<f32> {array.name = "loss"}) {
    %zero = array.constant dense<0.0> : tensor<f32>
    %scale = array.constant dense<0.0625> : tensor<f32>
    %decay = array.constant dense<1.0e-3> : tensor<f32>
    %friction = array.constant dense<0.9> : tensor<f32>
    %n = array.dim %images, 0 : tensor<?x64xui8>
    %count = array.from_index %n : tensor<f32>
    %w1 = array.variable.read @w1 : tensor<64x128xf32>
    %b1 = array.variable.read @b1 : tensor<128xf32>
    %w2 = array.variable.read @w2 : tensor<128x10xf32>
    %b2 = array.variable.read @b2 : tensor<10xf32>

    // Forward.
    %pixels = array.convert %images : tensor<?x64xui8> -> tensor<?x64xf32>
    %x = array.mul %pixels, %scale : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
    %xw = array.matmul %x, %w1 : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
    %z = array.add %xw, %b1 : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
    %h = array.relu %z : tensor<?x128xf32>
    %hw = array.matmul %h, %w2 : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
    %logits = array.add %hw, %b2 : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
    %log_p = array.log_softmax %logits axis = 1 : tensor<?x10xf32>
    %target = array.one_hot %labels depth = 10 : tensor<?xi32> -> tensor<?x10xf32>
    %hit = array.mul %target, %log_p : tensor<?x10xf32>
    %total = array.reduce sum, %hit axes = [0, 1] : tensor<?x10xf32> -> tensor<f32>
    %mean = array.div %total, %count : tensor<f32>
    %loss = array.neg %mean : tensor<f32>

    // Backward: the gradient of the loss with respect to each weight.
    %p = array.exp %log_p : tensor<?x10xf32>
    %off = array.sub %p, %target : tensor<?x10xf32>
    %dlogits = array.div %off, %count : (tensor<?x10xf32>, tensor<f32>) -> tensor<?x10xf32>
    %dw2 = array.matmul %h, %dlogits transpose_a
         : (tensor<?x128xf32>, tensor<?x10xf32>) -> tensor<128x10xf32>
    %db2 = array.reduce sum, %dlogits axes = [0] : tensor<?x10xf32> -> tensor<10xf32>
    %dh = array.matmul %dlogits, %w2 transpose_b
        : (tensor<?x10xf32>, tensor<128x10xf32>) -> tensor<?x128xf32>
    %active = array.compare gt, %z, %zero : (tensor<?x128xf32>, tensor<f32>) -> tensor<?x128xi1>
    %dz = array.select %active, %dh, %zero
        : (tensor<?x128xi1>, tensor<?x128xf32>, tensor<f32>) -> tensor<?x128xf32>
    %dw1 = array.matmul %x, %dz transpose_a
         : (tensor<?x64xf32>, tensor<?x128xf32>) -> tensor<64x128xf32>
    %db1 = array.reduce sum, %dz axes = [0] : tensor<?x128xf32> -> tensor<128xf32>

    // Step: momentum = 0.9 * momentum + gradient + decay * weight; weight -= rate * momentum.
    %w1_momentum = array.variable.read @w1_momentum : tensor<64x128xf32>
    %w1_kept = array.mul %w1_momentum, %friction : (tensor<64x128xf32>, tensor<f32>) -> tensor<64x128xf32>
    %w1_pull = array.mul %w1, %decay : (tensor<64x128xf32>, tensor<f32>) -> tensor<64x128xf32>
    %w1_force = array.add %dw1, %w1_pull : tensor<64x128xf32>
    %w1_speed = array.add %w1_kept, %w1_force : tensor<64x128xf32>
    %w1_way = array.mul %w1_speed, %rate : (tensor<64x128xf32>, tensor<f32>) -> tensor<64x128xf32>
    %w1_next = array.sub %w1, %w1_way : tensor<64x128xf32>
    array.variable.assign @w1_momentum, %w1_speed : tensor<64x128xf32>
    array.variable.assign @w1, %w1_next : tensor<64x128xf32>

    %b1_momentum = array.variable.read @b1_momentum : tensor<128xf32>
    %b1_kept = array.mul %b1_momentum, %friction : (tensor<128xf32>, tensor<f32>) -> tensor<128xf32>
    %b1_pull = array.mul %b1, %decay : (tensor<128xf32>, tensor<f32>) -> tensor<128xf32>
    %b1_force = array.add %db1, %b1_pull : tensor<128xf32>
    %b1_speed = array.add %b1_kept, %b1_force : tensor<128xf32>
    %b1_way = array.mul %b1_speed, %rate : (tensor<128xf32>, tensor<f32>) -> tensor<128xf32>
    %b1_next = array.sub %b1, %b1_way : tensor<128xf32>
    array.variable.assign @b1_momentum, %b1_speed : tensor<128xf32>
    array.variable.assign @b1, %b1_next : tensor<128xf32>

    %w2_momentum = array.variable.read @w2_momentum : tensor<128x10xf32>
    %w2_kept = array.mul %w2_momentum, %friction : (tensor<128x10xf32>, tensor<f32>) -> tensor<128x10xf32>
    %w2_pull = array.mul %w2, %decay : (tensor<128x10xf32>, tensor<f32>) -> tensor<128x10xf32>
    %w2_force = array.add %dw2, %w2_pull : tensor<128x10xf32>
    %w2_speed = array.add %w2_kept, %w2_force : tensor<128x10xf32>
    %w2_way = array.mul %w2_speed, %rate : (tensor<128x10xf32>, tensor<f32>) -> tensor<128x10xf32>
    %w2_next = array.sub %w2, %w2_way : tensor<128x10xf32>
    array.variable.assign @w2_momentum, %w2_speed : tensor<128x10xf32>
    array.variable.assign @w2, %w2_next : tensor<128x10xf32>

    %b2_momentum = array.variable.read @b2_momentum : tensor<10xf32>
    %b2_kept = array.mul %b2_momentum, %friction : (tensor<10xf32>, tensor<f32>) -> tensor<10xf32>
    %b2_pull = array.mul %b2, %decay : (tensor<10xf32>, tensor<f32>) -> tensor<10xf32>
    %b2_force = array.add %db2, %b2_pull : tensor<10xf32>
    %b2_speed = array.add %b2_kept, %b2_force : tensor<10xf32>
    %b2_way = array.mul %b2_speed, %rate : (tensor<10xf32>, tensor<f32>) -> tensor<10xf32>
    %b2_next = array.sub %b2, %b2_way : tensor<10xf32>
    array.variable.assign @b2_momentum, %b2_speed : tensor<10xf32>
    array.variable.assign @b2, %b2_next : tensor<10xf32>

    return %loss : tensor<f32>
  }

  // The most likely digit of each image.
  func.func @classify(%images: tensor<?x64xui8> {array.name = "images", array.dims = ["batch", ""]})
      -> (tensor<?xi32> {array.name = "digits"}) {
    %scale = array.constant dense<0.0625> : tensor<f32>
    %w1 = array.variable.read @w1 : tensor<64x128xf32>
    %b1 = array.variable.read @b1 : tensor<128xf32>
    %w2 = array.variable.read @w2 : tensor<128x10xf32>
    %b2 = array.variable.read @b2 : tensor<10xf32>
    %pixels = array.convert %images : tensor<?x64xui8> -> tensor<?x64xf32>
    %x = array.mul %pixels, %scale : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x64xf32>
    %xw = array.matmul %x, %w1 : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
    %z = array.add %xw, %b1 : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
    %h = array.relu %z : tensor<?x128xf32>
    %hw = array.matmul %h, %w2 : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
    %logits = array.add %hw, %b2 : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
    %digits = array.argmax %logits axis = 1 : tensor<?x10xf32> -> tensor<?xi32>
    return %digits : tensor<?xi32>
  }
}
