// minilm.mlir - Sentence embeddings, all-MiniLM-L6-v2
//
// A BERT encoder of six layers over rows of tokens, then the mean over the tokens of each sentence, of length 1. Weights are
// external parameters, by the names that the model's own model.safetensors has: the program is compiled without them, and the
// file is mapped when an instance is made. docs/models/sentence-embeddings.md explains how it is used.

module {
  // x W^T + b. PyTorch holds W as [outputs, inputs].
  func.func private @dense(%x: tensor<?x?x384xf32>, %w: tensor<384x384xf32>, %b: tensor<384xf32>) -> tensor<?x?x384xf32> {
    %product = array.matmul %x, %w transpose_b : (tensor<?x?x384xf32>, tensor<384x384xf32>) -> tensor<?x?x384xf32>
    %y = array.add %product, %b : (tensor<?x?x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    return %y : tensor<?x?x384xf32>
  }

  // [batch, places, 384] as 12 heads of 32.
  func.func private @split_heads(%x: tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32> {
    %batch = array.dim %x, 0 : tensor<?x?x384xf32>
    %places = array.dim %x, 1 : tensor<?x?x384xf32>
    %apart = array.reshape %x sizes(%batch, %places) : tensor<?x?x384xf32> -> tensor<?x?x12x32xf32>
    %heads = array.transpose %apart permutation = [0, 2, 1, 3] : tensor<?x?x12x32xf32> -> tensor<?x12x?x32xf32>
    return %heads : tensor<?x12x?x32xf32>
  }

  func.func private @add_and_norm(%x: tensor<?x?x384xf32>, %y: tensor<?x?x384xf32>, %scale: tensor<384xf32>,
                                  %bias: tensor<384xf32>) -> tensor<?x?x384xf32> {
    %sum = array.add %x, %y : tensor<?x?x384xf32>
    %normal = array.layer_norm %sum scale(%scale : tensor<384xf32>) bias(%bias : tensor<384xf32>) axis = 2 epsilon = 1.0e-12
      : tensor<?x?x384xf32>
    return %normal : tensor<?x?x384xf32>
  }

  func.func private @layer(%x: tensor<?x?x384xf32>, %mask: tensor<?x1x1x?xi1>,
                           %wq: tensor<384x384xf32>, %bq: tensor<384xf32>, %wk: tensor<384x384xf32>, %bk: tensor<384xf32>,
                           %wv: tensor<384x384xf32>, %bv: tensor<384xf32>, %wo: tensor<384x384xf32>, %bo: tensor<384xf32>,
                           %scale1: tensor<384xf32>, %bias1: tensor<384xf32>,
                           %up: tensor<1536x384xf32>, %up_bias: tensor<1536xf32>,
                           %down: tensor<384x1536xf32>, %down_bias: tensor<384xf32>,
                           %scale2: tensor<384xf32>, %bias2: tensor<384xf32>) -> tensor<?x?x384xf32> {
    %q = func.call @dense(%x, %wq, %bq) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %k = func.call @dense(%x, %wk, %bk) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %v = func.call @dense(%x, %wv, %bv) : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %queries = func.call @split_heads(%q) : (tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32>
    %keys = func.call @split_heads(%k) : (tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32>
    %values = func.call @split_heads(%v) : (tensor<?x?x384xf32>) -> tensor<?x12x?x32xf32>
    // 0.17677669 is one over the root of 32.
    %mixed = array.attention %queries, %keys, %values mask(%mask : tensor<?x1x1x?xi1>) scale = 0.17677669
      : (tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>) -> tensor<?x12x?x32xf32>
    %together = array.transpose %mixed permutation = [0, 2, 1, 3] : tensor<?x12x?x32xf32> -> tensor<?x?x12x32xf32>
    %batch = array.dim %x, 0 : tensor<?x?x384xf32>
    %places = array.dim %x, 1 : tensor<?x?x384xf32>
    %joined = array.reshape %together sizes(%batch, %places) : tensor<?x?x12x32xf32> -> tensor<?x?x384xf32>
    %attended = func.call @dense(%joined, %wo, %bo)
      : (tensor<?x?x384xf32>, tensor<384x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %h = func.call @add_and_norm(%x, %attended, %scale1, %bias1)
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    %wide = array.matmul %h, %up transpose_b : (tensor<?x?x384xf32>, tensor<1536x384xf32>) -> tensor<?x?x1536xf32>
    %biased = array.add %wide, %up_bias : (tensor<?x?x1536xf32>, tensor<1536xf32>) -> tensor<?x?x1536xf32>
    %active = array.gelu %biased : tensor<?x?x1536xf32>
    %narrow = array.matmul %active, %down transpose_b : (tensor<?x?x1536xf32>, tensor<384x1536xf32>) -> tensor<?x?x384xf32>
    %fed = array.add %narrow, %down_bias : (tensor<?x?x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %y = func.call @add_and_norm(%h, %fed, %scale2, %bias2)
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    return %y : tensor<?x?x384xf32>
  }

  // ids of tokens, and how many of each row count: what is behind them is padding.
  func.func @main(%ids: tensor<?x?xi32> {array.name = "ids", array.dims = ["batch", "places"]},
                  %lengths: tensor<?xi32> {array.name = "lengths", array.dims = ["batch"]})
      -> (tensor<?x384xf32> {array.name = "vectors"}) attributes {array.dim_range = {batch = [1, 4096, 1], places = [2, 512, 1]}} {
    %batch = array.dim %ids, 0 : tensor<?x?xi32>
    %places = array.dim %ids, 1 : tensor<?x?xi32>
    %zero = array.constant dense<0> : tensor<i32>

    // Which places count.
    %place = array.iota axis = 0 sizes(%places) : tensor<?xi32>
    %length = array.expand_dims %lengths axes = [1] : tensor<?xi32> -> tensor<?x1xi32>
    %counts = array.compare lt, %place, %length : (tensor<?xi32>, tensor<?x1xi32>) -> tensor<?x?xi1>
    %mask = array.expand_dims %counts axes = [1, 2] : tensor<?x?xi1> -> tensor<?x1x1x?xi1>

    // Word, position and the one type of sentence.
    %words = array.parameter "weights"::"embeddings.word_embeddings.weight" : tensor<30522x384xf32>
    %positions = array.parameter "weights"::"embeddings.position_embeddings.weight" : tensor<512x384xf32>
    %types = array.parameter "weights"::"embeddings.token_type_embeddings.weight" : tensor<2x384xf32>
    %scale = array.parameter "weights"::"embeddings.LayerNorm.weight" : tensor<384xf32>
    %bias = array.parameter "weights"::"embeddings.LayerNorm.bias" : tensor<384xf32>
    %word = array.take %words[%ids] axis = 0 : (tensor<30522x384xf32>, tensor<?x?xi32>) -> tensor<?x?x384xf32>
    %position = array.take %positions[%place] axis = 0 : (tensor<512x384xf32>, tensor<?xi32>) -> tensor<?x384xf32>
    %type = array.take %types[%zero] axis = 0 : (tensor<2x384xf32>, tensor<i32>) -> tensor<384xf32>
    %placed = array.add %word, %position : (tensor<?x?x384xf32>, tensor<?x384xf32>) -> tensor<?x?x384xf32>
    %typed = array.add %placed, %type : (tensor<?x?x384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    %x0 = array.layer_norm %typed scale(%scale : tensor<384xf32>) bias(%bias : tensor<384xf32>) axis = 2 epsilon = 1.0e-12
      : tensor<?x?x384xf32>

    // Layer 0.
    %wq0 = array.parameter "weights"::"encoder.layer.0.attention.self.query.weight" : tensor<384x384xf32>
    %bq0 = array.parameter "weights"::"encoder.layer.0.attention.self.query.bias" : tensor<384xf32>
    %wk0 = array.parameter "weights"::"encoder.layer.0.attention.self.key.weight" : tensor<384x384xf32>
    %bk0 = array.parameter "weights"::"encoder.layer.0.attention.self.key.bias" : tensor<384xf32>
    %wv0 = array.parameter "weights"::"encoder.layer.0.attention.self.value.weight" : tensor<384x384xf32>
    %bv0 = array.parameter "weights"::"encoder.layer.0.attention.self.value.bias" : tensor<384xf32>
    %wo0 = array.parameter "weights"::"encoder.layer.0.attention.output.dense.weight" : tensor<384x384xf32>
    %bo0 = array.parameter "weights"::"encoder.layer.0.attention.output.dense.bias" : tensor<384xf32>
    %s1_0 = array.parameter "weights"::"encoder.layer.0.attention.output.LayerNorm.weight" : tensor<384xf32>
    %b1_0 = array.parameter "weights"::"encoder.layer.0.attention.output.LayerNorm.bias" : tensor<384xf32>
    %up0 = array.parameter "weights"::"encoder.layer.0.intermediate.dense.weight" : tensor<1536x384xf32>
    %ub0 = array.parameter "weights"::"encoder.layer.0.intermediate.dense.bias" : tensor<1536xf32>
    %dn0 = array.parameter "weights"::"encoder.layer.0.output.dense.weight" : tensor<384x1536xf32>
    %db0 = array.parameter "weights"::"encoder.layer.0.output.dense.bias" : tensor<384xf32>
    %s2_0 = array.parameter "weights"::"encoder.layer.0.output.LayerNorm.weight" : tensor<384xf32>
    %b2_0 = array.parameter "weights"::"encoder.layer.0.output.LayerNorm.bias" : tensor<384xf32>
    %x1 = func.call @layer(%x0, %mask, %wq0, %bq0, %wk0, %bk0, %wv0, %bv0, %wo0, %bo0, %s1_0, %b1_0, %up0, %ub0, %dn0, %db0, %s2_0, %b2_0)
      : (tensor<?x?x384xf32>, tensor<?x1x1x?xi1>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384xf32>,
         tensor<384xf32>, tensor<1536x384xf32>, tensor<1536xf32>, tensor<384x1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    // Layer 1.
    %wq1 = array.parameter "weights"::"encoder.layer.1.attention.self.query.weight" : tensor<384x384xf32>
    %bq1 = array.parameter "weights"::"encoder.layer.1.attention.self.query.bias" : tensor<384xf32>
    %wk1 = array.parameter "weights"::"encoder.layer.1.attention.self.key.weight" : tensor<384x384xf32>
    %bk1 = array.parameter "weights"::"encoder.layer.1.attention.self.key.bias" : tensor<384xf32>
    %wv1 = array.parameter "weights"::"encoder.layer.1.attention.self.value.weight" : tensor<384x384xf32>
    %bv1 = array.parameter "weights"::"encoder.layer.1.attention.self.value.bias" : tensor<384xf32>
    %wo1 = array.parameter "weights"::"encoder.layer.1.attention.output.dense.weight" : tensor<384x384xf32>
    %bo1 = array.parameter "weights"::"encoder.layer.1.attention.output.dense.bias" : tensor<384xf32>
    %s1_1 = array.parameter "weights"::"encoder.layer.1.attention.output.LayerNorm.weight" : tensor<384xf32>
    %b1_1 = array.parameter "weights"::"encoder.layer.1.attention.output.LayerNorm.bias" : tensor<384xf32>
    %up1 = array.parameter "weights"::"encoder.layer.1.intermediate.dense.weight" : tensor<1536x384xf32>
    %ub1 = array.parameter "weights"::"encoder.layer.1.intermediate.dense.bias" : tensor<1536xf32>
    %dn1 = array.parameter "weights"::"encoder.layer.1.output.dense.weight" : tensor<384x1536xf32>
    %db1 = array.parameter "weights"::"encoder.layer.1.output.dense.bias" : tensor<384xf32>
    %s2_1 = array.parameter "weights"::"encoder.layer.1.output.LayerNorm.weight" : tensor<384xf32>
    %b2_1 = array.parameter "weights"::"encoder.layer.1.output.LayerNorm.bias" : tensor<384xf32>
    %x2 = func.call @layer(%x1, %mask, %wq1, %bq1, %wk1, %bk1, %wv1, %bv1, %wo1, %bo1, %s1_1, %b1_1, %up1, %ub1, %dn1, %db1, %s2_1, %b2_1)
      : (tensor<?x?x384xf32>, tensor<?x1x1x?xi1>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384xf32>,
         tensor<384xf32>, tensor<1536x384xf32>, tensor<1536xf32>, tensor<384x1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    // Layer 2.
    %wq2 = array.parameter "weights"::"encoder.layer.2.attention.self.query.weight" : tensor<384x384xf32>
    %bq2 = array.parameter "weights"::"encoder.layer.2.attention.self.query.bias" : tensor<384xf32>
    %wk2 = array.parameter "weights"::"encoder.layer.2.attention.self.key.weight" : tensor<384x384xf32>
    %bk2 = array.parameter "weights"::"encoder.layer.2.attention.self.key.bias" : tensor<384xf32>
    %wv2 = array.parameter "weights"::"encoder.layer.2.attention.self.value.weight" : tensor<384x384xf32>
    %bv2 = array.parameter "weights"::"encoder.layer.2.attention.self.value.bias" : tensor<384xf32>
    %wo2 = array.parameter "weights"::"encoder.layer.2.attention.output.dense.weight" : tensor<384x384xf32>
    %bo2 = array.parameter "weights"::"encoder.layer.2.attention.output.dense.bias" : tensor<384xf32>
    %s1_2 = array.parameter "weights"::"encoder.layer.2.attention.output.LayerNorm.weight" : tensor<384xf32>
    %b1_2 = array.parameter "weights"::"encoder.layer.2.attention.output.LayerNorm.bias" : tensor<384xf32>
    %up2 = array.parameter "weights"::"encoder.layer.2.intermediate.dense.weight" : tensor<1536x384xf32>
    %ub2 = array.parameter "weights"::"encoder.layer.2.intermediate.dense.bias" : tensor<1536xf32>
    %dn2 = array.parameter "weights"::"encoder.layer.2.output.dense.weight" : tensor<384x1536xf32>
    %db2 = array.parameter "weights"::"encoder.layer.2.output.dense.bias" : tensor<384xf32>
    %s2_2 = array.parameter "weights"::"encoder.layer.2.output.LayerNorm.weight" : tensor<384xf32>
    %b2_2 = array.parameter "weights"::"encoder.layer.2.output.LayerNorm.bias" : tensor<384xf32>
    %x3 = func.call @layer(%x2, %mask, %wq2, %bq2, %wk2, %bk2, %wv2, %bv2, %wo2, %bo2, %s1_2, %b1_2, %up2, %ub2, %dn2, %db2, %s2_2, %b2_2)
      : (tensor<?x?x384xf32>, tensor<?x1x1x?xi1>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384xf32>,
         tensor<384xf32>, tensor<1536x384xf32>, tensor<1536xf32>, tensor<384x1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    // Layer 3.
    %wq3 = array.parameter "weights"::"encoder.layer.3.attention.self.query.weight" : tensor<384x384xf32>
    %bq3 = array.parameter "weights"::"encoder.layer.3.attention.self.query.bias" : tensor<384xf32>
    %wk3 = array.parameter "weights"::"encoder.layer.3.attention.self.key.weight" : tensor<384x384xf32>
    %bk3 = array.parameter "weights"::"encoder.layer.3.attention.self.key.bias" : tensor<384xf32>
    %wv3 = array.parameter "weights"::"encoder.layer.3.attention.self.value.weight" : tensor<384x384xf32>
    %bv3 = array.parameter "weights"::"encoder.layer.3.attention.self.value.bias" : tensor<384xf32>
    %wo3 = array.parameter "weights"::"encoder.layer.3.attention.output.dense.weight" : tensor<384x384xf32>
    %bo3 = array.parameter "weights"::"encoder.layer.3.attention.output.dense.bias" : tensor<384xf32>
    %s1_3 = array.parameter "weights"::"encoder.layer.3.attention.output.LayerNorm.weight" : tensor<384xf32>
    %b1_3 = array.parameter "weights"::"encoder.layer.3.attention.output.LayerNorm.bias" : tensor<384xf32>
    %up3 = array.parameter "weights"::"encoder.layer.3.intermediate.dense.weight" : tensor<1536x384xf32>
    %ub3 = array.parameter "weights"::"encoder.layer.3.intermediate.dense.bias" : tensor<1536xf32>
    %dn3 = array.parameter "weights"::"encoder.layer.3.output.dense.weight" : tensor<384x1536xf32>
    %db3 = array.parameter "weights"::"encoder.layer.3.output.dense.bias" : tensor<384xf32>
    %s2_3 = array.parameter "weights"::"encoder.layer.3.output.LayerNorm.weight" : tensor<384xf32>
    %b2_3 = array.parameter "weights"::"encoder.layer.3.output.LayerNorm.bias" : tensor<384xf32>
    %x4 = func.call @layer(%x3, %mask, %wq3, %bq3, %wk3, %bk3, %wv3, %bv3, %wo3, %bo3, %s1_3, %b1_3, %up3, %ub3, %dn3, %db3, %s2_3, %b2_3)
      : (tensor<?x?x384xf32>, tensor<?x1x1x?xi1>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384xf32>,
         tensor<384xf32>, tensor<1536x384xf32>, tensor<1536xf32>, tensor<384x1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    // Layer 4.
    %wq4 = array.parameter "weights"::"encoder.layer.4.attention.self.query.weight" : tensor<384x384xf32>
    %bq4 = array.parameter "weights"::"encoder.layer.4.attention.self.query.bias" : tensor<384xf32>
    %wk4 = array.parameter "weights"::"encoder.layer.4.attention.self.key.weight" : tensor<384x384xf32>
    %bk4 = array.parameter "weights"::"encoder.layer.4.attention.self.key.bias" : tensor<384xf32>
    %wv4 = array.parameter "weights"::"encoder.layer.4.attention.self.value.weight" : tensor<384x384xf32>
    %bv4 = array.parameter "weights"::"encoder.layer.4.attention.self.value.bias" : tensor<384xf32>
    %wo4 = array.parameter "weights"::"encoder.layer.4.attention.output.dense.weight" : tensor<384x384xf32>
    %bo4 = array.parameter "weights"::"encoder.layer.4.attention.output.dense.bias" : tensor<384xf32>
    %s1_4 = array.parameter "weights"::"encoder.layer.4.attention.output.LayerNorm.weight" : tensor<384xf32>
    %b1_4 = array.parameter "weights"::"encoder.layer.4.attention.output.LayerNorm.bias" : tensor<384xf32>
    %up4 = array.parameter "weights"::"encoder.layer.4.intermediate.dense.weight" : tensor<1536x384xf32>
    %ub4 = array.parameter "weights"::"encoder.layer.4.intermediate.dense.bias" : tensor<1536xf32>
    %dn4 = array.parameter "weights"::"encoder.layer.4.output.dense.weight" : tensor<384x1536xf32>
    %db4 = array.parameter "weights"::"encoder.layer.4.output.dense.bias" : tensor<384xf32>
    %s2_4 = array.parameter "weights"::"encoder.layer.4.output.LayerNorm.weight" : tensor<384xf32>
    %b2_4 = array.parameter "weights"::"encoder.layer.4.output.LayerNorm.bias" : tensor<384xf32>
    %x5 = func.call @layer(%x4, %mask, %wq4, %bq4, %wk4, %bk4, %wv4, %bv4, %wo4, %bo4, %s1_4, %b1_4, %up4, %ub4, %dn4, %db4, %s2_4, %b2_4)
      : (tensor<?x?x384xf32>, tensor<?x1x1x?xi1>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384xf32>,
         tensor<384xf32>, tensor<1536x384xf32>, tensor<1536xf32>, tensor<384x1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    // Layer 5.
    %wq5 = array.parameter "weights"::"encoder.layer.5.attention.self.query.weight" : tensor<384x384xf32>
    %bq5 = array.parameter "weights"::"encoder.layer.5.attention.self.query.bias" : tensor<384xf32>
    %wk5 = array.parameter "weights"::"encoder.layer.5.attention.self.key.weight" : tensor<384x384xf32>
    %bk5 = array.parameter "weights"::"encoder.layer.5.attention.self.key.bias" : tensor<384xf32>
    %wv5 = array.parameter "weights"::"encoder.layer.5.attention.self.value.weight" : tensor<384x384xf32>
    %bv5 = array.parameter "weights"::"encoder.layer.5.attention.self.value.bias" : tensor<384xf32>
    %wo5 = array.parameter "weights"::"encoder.layer.5.attention.output.dense.weight" : tensor<384x384xf32>
    %bo5 = array.parameter "weights"::"encoder.layer.5.attention.output.dense.bias" : tensor<384xf32>
    %s1_5 = array.parameter "weights"::"encoder.layer.5.attention.output.LayerNorm.weight" : tensor<384xf32>
    %b1_5 = array.parameter "weights"::"encoder.layer.5.attention.output.LayerNorm.bias" : tensor<384xf32>
    %up5 = array.parameter "weights"::"encoder.layer.5.intermediate.dense.weight" : tensor<1536x384xf32>
    %ub5 = array.parameter "weights"::"encoder.layer.5.intermediate.dense.bias" : tensor<1536xf32>
    %dn5 = array.parameter "weights"::"encoder.layer.5.output.dense.weight" : tensor<384x1536xf32>
    %db5 = array.parameter "weights"::"encoder.layer.5.output.dense.bias" : tensor<384xf32>
    %s2_5 = array.parameter "weights"::"encoder.layer.5.output.LayerNorm.weight" : tensor<384xf32>
    %b2_5 = array.parameter "weights"::"encoder.layer.5.output.LayerNorm.bias" : tensor<384xf32>
    %x6 = func.call @layer(%x5, %mask, %wq5, %bq5, %wk5, %bk5, %wv5, %bv5, %wo5, %bo5, %s1_5, %b1_5, %up5, %ub5, %dn5, %db5, %s2_5, %b2_5)
      : (tensor<?x?x384xf32>, tensor<?x1x1x?xi1>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384x384xf32>, tensor<384xf32>, tensor<384xf32>,
         tensor<384xf32>, tensor<1536x384xf32>, tensor<1536xf32>, tensor<384x1536xf32>, tensor<384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>

    // The mean over the places that count, then length 1.
    %flags = array.convert %counts : tensor<?x?xi1> -> tensor<?x?xf32>
    %weights = array.expand_dims %flags axes = [2] : tensor<?x?xf32> -> tensor<?x?x1xf32>
    %kept = array.mul %x6, %weights : (tensor<?x?x384xf32>, tensor<?x?x1xf32>) -> tensor<?x?x384xf32>
    %sum = array.reduce sum, %kept axes = [1] : tensor<?x?x384xf32> -> tensor<?x384xf32>
    %number = array.convert %length : tensor<?x1xi32> -> tensor<?x1xf32>
    %mean = array.div %sum, %number : (tensor<?x384xf32>, tensor<?x1xf32>) -> tensor<?x384xf32>
    %squares = array.mul %mean, %mean : tensor<?x384xf32>
    %square = array.reduce sum, %squares axes = [1] keepdims : tensor<?x384xf32> -> tensor<?x1xf32>
    %norm = array.sqrt %square : tensor<?x1xf32>
    %vectors = array.div %mean, %norm : (tensor<?x384xf32>, tensor<?x1xf32>) -> tensor<?x384xf32>
    return %vectors : tensor<?x384xf32>
  }
}
