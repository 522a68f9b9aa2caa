// RUN: xc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce' op expected strictly increasing axes in [0, 2), got [1, 0]}}
  %0 = array.reduce sum, %x axes = [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce' op expected truth values or integers to reduce with and, got 'f32'}}
  %0 = array.reduce and, %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi1>) {
  // expected-error @+1 {{'array.reduce' op expected numbers to reduce with sum, got 'i1'}}
  %0 = array.reduce sum, %x axes = [1] : tensor<4x8xi1> -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce' op expected a result compatible with 'tensor<4x1xf32>', got 'tensor<4xf32>'}}
  %0 = array.reduce sum, %x axes = [1] keepdims : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.var' op expected a correction that is not negative, got -1}}
  %0 = array.var %x axes = [1] correction = -1 : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{'array.argmax' op expected dim 1 not to be empty, got 'tensor<4x0xf32>'}}
  %0 = array.argmax %x axis = 1 : tensor<4x0xf32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.argmin' op expected axis in [0, 2), got 3}}
  %0 = array.argmin %x axis = 3 : tensor<4x8xf32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.cumsum' op expected axis in [0, 2), got 2}}
  %0 = array.cumsum %x axis = 2 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.matmul' op expected equal inner dims, got 8 of 'tensor<4x8xf32>' and 4 of 'tensor<4x8xf32>'}}
  %0 = array.matmul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %y: tensor<8x4xf32>) {
  // expected-error @+1 {{'array.matmul' op expected operands of rank 2 or more, got 'tensor<8xf32>' and 'tensor<8x4xf32>'}}
  %0 = array.matmul %x, %y : (tensor<8xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x4xf32>, %y: tensor<3x4x4xf32>) {
  // expected-error @+1 {{'array.matmul' op expected shapes that broadcast, got [2] and [3]}}
  %0 = array.matmul %x, %y : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf64>) {
  // expected-error @+1 {{'array.matmul' op expected operands of one element type, got 'f32' and 'f64'}}
  %0 = array.matmul %x, %y : (tensor<4x4xf32>, tensor<4x4xf64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'array.matmul' op expected a result of 'f32' or of the type that 'f32' accumulates in, got 'f16'}}
  %0 = array.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x4xf16>) {
  // expected-error @+1 {{'array.matmul' op expected operands of f32 for allow_tf32, got 'f16'}}
  %0 = array.matmul %x, %x allow_tf32 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.dot_general' op expected different dims of 'tensor<4x8xf32>' to batch and contract, got [0] and [0]}}
  %0 = array.dot_general %x, %x batch = [0] x [0] contract = [0] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.dot_general' op expected as many dims of each operand to batch, got [] and [0]}}
  %0 = array.dot_general %x, %x batch = [] x [0] contract = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.dot_general' op expected dims of equal size to contract, got dim 1 of 'tensor<4x8xf32>' and dim 0 of 'tensor<4x8xf32>'}}
  %0 = array.dot_general %x, %x batch = [] x [] contract = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'array.take' op expected axis in [0, 2), got 2}}
  %0 = array.take %x[%i] axis = 2 : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<0x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'array.take' op expected dim 0 of the operand not to be empty, got 'tensor<0x8xf32>'}}
  %0 = array.take %x[%i] axis = 0 : (tensor<0x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'array.take_along_axis' op expected indices of rank 2, got 'tensor<3xi32>'}}
  %0 = array.take_along_axis %x[%i] axis = 0 : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3x7xi32>) {
  // expected-error @+1 {{'array.take_along_axis' op expected operand and indices equal in all dims but 0, got 'tensor<4x8xf32>' and 'tensor<3x7xi32>'}}
  %0 = array.take_along_axis %x[%i] axis = 0 : (tensor<4x8xf32>, tensor<3x7xi32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3x1xi32>) {
  // expected-error @+1 {{'array.gather' op expected index vectors of 2 components in the last dim of the indices, got 'tensor<3x1xi32>'}}
  %0 = array.gather %x[%i] axes = [0, 1] : (tensor<4x8xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3x2xi32>) {
  // expected-error @+1 {{'array.gather' op expected strictly increasing axes in [0, 2), got [1, 0]}}
  %0 = array.gather %x[%i] axes = [1, 0] : (tensor<4x8xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x7xf32>) {
  // expected-error @+1 {{'array.scatter' op expected updates of shape [3, 8], got 'tensor<3x7xf32>'}}
  %0 = array.scatter add, %x[%i] axes = [0] = %u : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<3x7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x8xf16>) {
  // expected-error @+1 {{'array.scatter' op expected operands of one element type, got 'f32' and 'f16'}}
  %0 = array.scatter add, %x[%i] axes = [0] = %u : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<3x8xf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %i: tensor<3x1xi32>, %u: tensor<3xi1>) {
  // expected-error @+1 {{'array.scatter' op expected numbers to scatter with mul, got 'i1'}}
  %0 = array.scatter mul, %x[%i] axes = [0] = %u : (tensor<4xi1>, tensor<3x1xi32>, tensor<3xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%i: tensor<3xi32>) {
  // expected-error @+1 {{'array.one_hot' op expected a depth that is not negative, got -1}}
  %0 = array.one_hot %i depth = -1 : tensor<3xi32> -> tensor<3x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.softmax' op expected axis in [0, 2), got 2}}
  %0 = array.softmax %x axis = 2 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.log_softmax' op expected axis in [0, 2), got -1}}
  %0 = array.log_softmax %x axis = -1 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{'array.layer_norm' op expected scale and bias compatible with 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = array.layer_norm %x scale(%g : tensor<4xf32>) axis = 1 epsilon = 1.0e-5 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.rms_norm' op expected axis in [0, 2), got 2}}
  %0 = array.rms_norm %x axis = 2 epsilon = 1.0e-5 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{'array.batch_norm_training' op expected vectors compatible with 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0:3 = array.batch_norm_training %x, %g, %g axis = 1 epsilon = 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x7xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{'array.rope' op expected a last dim of even size, got 'tensor<4x7xf32>'}}
  %0 = array.rope %x, %p base = 1.0e4 : (tensor<4x7xf32>, tensor<4xi32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{'array.rope' op expected positions that broadcast to [4], got 'tensor<5xi32>'}}
  %0 = array.rope %x, %p base = 1.0e4 : (tensor<4x8xf32>, tensor<5xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{'array.rope' op expected positions that broadcast to [1], got 'tensor<5xi32>'}}
  %0 = array.rope %x, %p base = 1.0e4 : (tensor<1x8xf32>, tensor<5xi32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{'array.rope' op expected a base above 0, got 0.000000e+00}}
  %0 = array.rope %x, %p base = 0.0 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.resize' op expected a size for each of axes [0, 1], got [4]}}
  %0 = array.resize linear, %x axes = [0, 1] sizes = [4] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<0x8xf32>) {
  // expected-error @+1 {{'array.resize' op expected dim 0 not to be empty, got 'tensor<0x8xf32>'}}
  %0 = array.resize linear, %x axes = [0] sizes = [4] : tensor<0x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xui8>) {
  // expected-error @+1 {{'array.resize' op expected floats to interpolate between, got 'tensor<4x8xui8>' (nearest takes every element type)}}
  %0 = array.resize linear, %x axes = [0] sizes = [8] : tensor<4x8xui8> -> tensor<8x8xui8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.resize' op expected sizes that are not negative, got [-4]}}
  %0 = array.resize linear, %x axes = [0] sizes = [-4] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.resize' op expected 1 values for sizes [?], got 0}}
  %0 = "array.resize"(%x) <{axes = array<i64: 0>, mode = #array<resize_mode linear>, sizes = array<i64: -9223372036854775808>}> : (tensor<4x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<0x8xf32>, %n: index) {
  // expected-error @+1 {{'array.resize' op expected dim 0 not to be empty, got 'tensor<0x8xf32>'}}
  %0 = array.resize linear, %x axes = [0] sizes = [%n] : tensor<0x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.grouped_matmul' op expected a matrix, a batch of matrices and a vector, got 'tensor<6x8xf32>', 'tensor<8x5xf32>' and 'tensor<3xi32>'}}
  %0 = array.grouped_matmul %x, %w, %n : (tensor<6x8xf32>, tensor<8x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %w: tensor<3x8x5xf32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.grouped_matmul' op expected equal inner dims, got 8 of 'tensor<6x8xf32>' and 5 of 'tensor<3x8x5xf32>'}}
  %0 = array.grouped_matmul %x, %w, %n transpose_b : (tensor<6x8xf32>, tensor<3x8x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %w: tensor<3x8x5xf32>, %n: tensor<4xi32>) {
  // expected-error @+1 {{'array.grouped_matmul' op expected a size for each matrix, got 'tensor<3x8x5xf32>' and 'tensor<4xi32>'}}
  %0 = array.grouped_matmul %x, %w, %n : (tensor<6x8xf32>, tensor<3x8x5xf32>, tensor<4xi32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %w: tensor<3x8x5xf16>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.grouped_matmul' op expected operands of one element type}}
  %0 = array.grouped_matmul %x, %w, %n : (tensor<6x8xf32>, tensor<3x8x5xf16>, tensor<3xi32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %w: tensor<3x8x5xf32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.grouped_matmul' op expected a result of 'f32' or of the type that 'f32' accumulates in, got 'f64'}}
  %0 = array.grouped_matmul %x, %w, %n : (tensor<6x8xf32>, tensor<3x8x5xf32>, tensor<3xi32>) -> tensor<6x5xf64>
  return
}

// -----

func.func @f(%p: tensor<?xi32>) {
  // expected-error @+1 {{'array.sinusoidal' op expected an even size of at least 2, got 7}}
  %0 = array.sinusoidal %p size = 7 base = 1.0e4 : tensor<?xi32> -> tensor<?x7xf32>
  return
}

// -----

func.func @f(%p: tensor<?xi32>) {
  // expected-error @+1 {{'array.sinusoidal' op expected a base above 0, got 0}}
  %0 = array.sinusoidal %p size = 8 base = 0.0 : tensor<?xi32> -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%p: tensor<?x2xi32>, %q: tensor<4xi32>) {
  // expected-error @+1 {{'array.alibi' op expected vectors of positions, got 'tensor<?x2xi32>' and 'tensor<4xi32>'}}
  %0 = array.alibi %p, %q heads = 2 : (tensor<?x2xi32>, tensor<4xi32>) -> tensor<2x?x4xf32>
  return
}

// -----

func.func @f(%q: tensor<4xi32>) {
  // expected-error @+1 {{'array.alibi' op expected at least one head, got 0}}
  %0 = array.alibi %q, %q heads = 0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<0x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected operands of one shape, got 'tensor<4xf32>' and 'tensor<5xi32>'}}
  %0:2 = array.reduce_with %x, %y axes = [0] init = [0.0 : f32, 0 : i32] : (tensor<4xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    array.yield %a, %b : tensor<f32>, tensor<i32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected at least one operand}}
  array.reduce_with  axes = [0] init = [] : () -> () {
  ^bb0:
    array.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected an initial value for each of 2 operands, got 1}}
  %0:2 = array.reduce_with %x, %y axes = [0] init = [0.0 : f32] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    array.yield %a, %b : tensor<f32>, tensor<i32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected an initial value of 'i32', got 0 : i64}}
  %0:2 = array.reduce_with %x, %y axes = [0] init = [0.0 : f32, 0 : i64] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    array.yield %a, %b : tensor<f32>, tensor<i32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected its body to take ('tensor<f32>', 'tensor<i32>', 'tensor<f32>', 'tensor<i32>'), got ('tensor<f32>', 'tensor<i32>')}}
  %0:2 = array.reduce_with %x, %y axes = [0] init = [0.0 : f32, 0 : i32] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    array.yield %a, %b : tensor<f32>, tensor<i32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected constants and elementwise ops on rank-0 tensors in its body}}
  %0:2 = array.reduce_with %x, %y axes = [0] init = [0.0 : f32, 0 : i32] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    // expected-note @+1 {{got 'array.iota'}}
    %i = array.iota axis = 0 : tensor<4xi32>
    array.yield %a, %b : tensor<f32>, tensor<i32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'array.reduce_with' op expected its body to yield ('tensor<f32>', 'tensor<i32>'), got ('tensor<i32>', 'tensor<f32>')}}
  %0:2 = array.reduce_with %x, %y axes = [0] init = [0.0 : f32, 0 : i32] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<i32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    array.yield %b, %a : tensor<i32>, tensor<f32>
  }
  return
}

// -----

func.func @unknown_word(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{custom op 'array.reduce' expected one of [sum, prod, max, min, and, or] for what a reduction combines with, got: mean}}
  %r = array.reduce mean, %x axes = [1] : tensor<4x6xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}
