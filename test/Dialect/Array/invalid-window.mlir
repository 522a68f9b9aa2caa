// RUN: xc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{expected each of [b, f, 0, 1] once for the dims of the input, got [b, 0, 0, f]}}
  %0 = array.conv %x, %w dims = <[b, 0, 0, f] x [0, 1, i, o] -> [b, 0, 1, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{expected each of [i, o, 0, 1] once for the dims of the filter, got [0, 1, i, f]}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, f] -> [b, 0, 1, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{expected each of [b, f, 0, 1] once for the dims of the result, got [b, 0, f]}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{expected b, f, i, o or the number of a spatial dim}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, c] x [0, 1, i, o] -> [b, 0, 1, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected operands of rank 3 as the dims say, got 'tensor<4x8x8x4xf32>' and 'tensor<3x3x4x6xf32>'}}
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf16>) {
  // expected-error @+1 {{'array.conv' op expected operands of one element type, got}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf16>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected a result of 'f32' or of the type that 'f32' accumulates in, got 'f16'}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xi32>, %w: tensor<3x3x4x6xi32>) {
  // expected-error @+1 {{'array.conv' op expected operands of f32 for allow_tf32, got 'i32'}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> allow_tf32 : (tensor<4x8x8x4xi32>, tensor<3x3x4x6xi32>) -> tensor<4x6x6x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected 2 numbers in 'strides', one for each spatial dim, got [2]}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2] : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected numbers of at least 1 in 'input_dilation', got [0, 1]}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> input_dilation = [0, 1] : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected groups of features or of the batch, got 2 and 2}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 2 batch_groups = 2 : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected the input's features to be a multiple of 3 groups, got 4}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 3 : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected the batch to be a multiple of 3 groups, got 4}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> batch_groups = 3 : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected the filter's output features to be a multiple of 4 groups, got 6}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4 : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected the filter to have 2 input features, those of a group of 'tensor<4x8x8x4xf32>', got 4 in 'tensor<3x3x4x6xf32>'}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 2 : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected a result compatible with 'tensor<4x3x6x6xf32>', got 'tensor<4x6x6x6xf32>'}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 1] : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected 2 numbers in 'window', one for each dim, got [1]}}
  %0 = array.reduce_window max, %x window = [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected numbers from 1 to 2147483648 in 'window', got [1, 0]}}
  %0 = array.reduce_window max, %x window = [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected 2 numbers in 'low', one for each dim, got [1, 2, 3]}}
  %0 = array.reduce_window max, %x window = [1, 1] low = [1, 2, 3] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected numbers of at least 0 in 'high', got [0, -1]}}
  %0 = array.reduce_window max, %x window = [1, 1] high = [0, -1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x12x9x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected numbers of at most 2147483648 in 'low', got [9223372036854775807, 0]}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [9223372036854775807, 0] high = [9223372036854775807, 0] : (tensor<2x12x9x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x8x7x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected numbers of at least 1 in 'dilation', got [1, 0]}}
  %0 = array.reduce_window max, %x window = [1, 1] dilation = [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected truth values or integers to reduce with or, got 'f32'}}
  %0 = array.reduce_window or, %x window = [1, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi1>) {
  // expected-error @+1 {{'array.reduce_window' op expected numbers to reduce with max, got 'i1'}}
  %0 = array.reduce_window max, %x window = [1, 1] : tensor<4x8xi1> -> tensor<4x8xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.avg_pool' op expected a result compatible with 'tensor<4x7xf32>', got 'tensor<4x8xf32>'}}
  %0 = array.avg_pool %x window = [1, 2] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.select_and_scatter' op expected max or min to select with, got sum}}
  %0 = array.select_and_scatter sum, %x, %x window = [1, 1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.select_and_scatter' op expected a source compatible with 'tensor<4x4xf32>', got 'tensor<4x8xf32>'}}
  %0 = array.select_and_scatter max, %x, %x window = [1, 2] strides = [1, 2] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected operands of one element type, got}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf16>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<4x8xf32>, %k: tensor<4x8xf32>, %v: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected query, key and value of one rank of at least 3, got 'tensor<4x8xf32>', 'tensor<4x8xf32>' and 'tensor<4x8xf32>'}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<3x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected equal batch dims, got 'tensor<2x4x5x8xf32>', 'tensor<3x2x7x8xf32>' and 'tensor<2x2x7x6xf32>'}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<3x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x9x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected as many heads and keys in key as in value, got 'tensor<2x2x7x8xf32>' and 'tensor<2x2x9x6xf32>'}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x9x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x9xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected vectors of one length in query and key, got 'tensor<2x4x5x8xf32>' and 'tensor<2x2x7x9xf32>'}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x7x8xf32>, %v: tensor<2x3x7x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected a number of query heads that is a multiple of the key heads, got 4 and 3}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x?x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected a number of query heads that is a multiple of the key heads, got ? and 2}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x?x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %m: tensor<5x6xi1>) {
  // expected-error @+1 {{'array.attention' op expected a mask that broadcasts to [2, 4, 5, 7], got 'tensor<5x6xi1>'}}
  %0 = array.attention %q, %k, %v mask(%m : tensor<5x6xi1>) scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %m: tensor<5x7xf16>) {
  // expected-error @+1 {{'array.attention' op expected a mask of i1, f32 or 'f32', got 'f16'}}
  %0 = array.attention %q, %k, %v mask(%m : tensor<5x7xf16>) scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{'array.attention' op expected 'causal' beside an offset}}
  %0 = array.attention %q, %k, %v offset(%o : tensor<i32>) scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @+1 {{'array.attention' op expected a result compatible with 'tensor<2x4x5x6xf32>', got 'tensor<2x4x5x8xf32>'}}
  %0 = array.attention %q, %k, %v scale = 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{'array.group_norm' op expected the features in another dim than the batch, got axis 0}}
  %0 = array.group_norm %x, %s, %s axis = 0 groups = 1 epsilon = 0.1 : (tensor<6x8xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x6xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{'array.group_norm' op expected a number of features that is a multiple of 4 groups, got 6}}
  %0 = array.group_norm %x, %s, %s axis = 2 groups = 4 epsilon = 0.1 : (tensor<4x8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x?xf32>, %s: tensor<?xf32>) {
  // expected-error @+1 {{'array.group_norm' op expected a number of features that is a multiple of 0 groups, got ?}}
  %0 = array.group_norm %x, %s, %s axis = 2 groups = 0 epsilon = 0.1 : (tensor<4x8x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<4x8x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x6xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{'array.group_norm' op expected vectors compatible with 'tensor<8xf32>', got 'tensor<6xf32>'}}
  %0 = array.group_norm %x, %s, %s axis = 1 groups = 2 epsilon = 0.1 : (tensor<4x8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x8x6xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected 'causal' beside a window}}
  %0 = array.attention %q, %k, %k window = 3 scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected a window of at least 1 key, got 0}}
  %0 = array.attention %q, %k, %k causal window = 0 scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>) {
  // expected-error @+1 {{attribute 'softcap' failed to satisfy constraint: 64-bit float attribute whose value is positive and finite}}
  %0 = array.attention %q, %k, %k softcap = 0.0 scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'array.attention' op expected a sink for each of 4 query heads, got 'tensor<3xf32>'}}
  %0 = array.attention %q, %k, %k sinks(%s : tensor<3xf32>) scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>, %s: tensor<4xf16>) {
  // expected-error @+1 {{'array.attention' op expected sinks of f32 or 'f32', got 'f16'}}
  %0 = array.attention %q, %k, %k sinks(%s : tensor<4xf16>) scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected 2 results, got 1}}
  %0 = array.attention %q, %k, %k logsumexp scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x7x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected a result compatible with 'tensor<4x5xf32>', got 'tensor<4x5xf64>'}}
  %0, %1 = array.attention %q, %k, %k logsumexp scale = 0.5 : (tensor<4x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5xf64>
  return
}

// -----

func.func @f(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{'array.adaptive_pool' op expected a size for each of axes [1], got [2, 3]}}
  %0 = array.adaptive_pool avg, %x axes = [1] sizes = [2, 3] : tensor<?x6xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @f(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{'array.adaptive_pool' op expected sizes that are not negative, got [-1]}}
  %0 = array.adaptive_pool avg, %x axes = [1] sizes = [-1] : tensor<?x6xf32> -> tensor<?x0xf32>
  return
}

// -----

func.func @f(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{'array.adaptive_pool' op expected a result compatible with 'tensor<?x2xf32>', got 'tensor<?x3xf32>'}}
  %0 = array.adaptive_pool avg, %x axes = [1] sizes = [2] : tensor<?x6xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf16>, %w: tensor<3x3x4x6xf16>) {
  // expected-error @+1 {{'array.conv' op expected f32 or f64 for Winograd's algorithm, got 'f16'}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> algorithm = winograd : (tensor<4x8x8x4xf16>, tensor<3x3x4x6xf16>) -> tensor<4x6x6x6xf16>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected 1 to 3 spatial dims for Winograd's algorithm, got 0}}
  %0 = array.conv %x, %w dims = <[b, f] x [i, o] -> [b, f]> algorithm = winograd : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x2x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected one group for Winograd's algorithm, got 2}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 2 algorithm = winograd : (tensor<4x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<4x6x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<?x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected a filter of 3 without strides and dilation for Winograd's algorithm, got size ?, stride 2 and dilation 1 in spatial dim 0}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 1] algorithm = winograd : (tensor<4x8x8x4xf32>, tensor<?x3x4x6xf32>) -> tensor<4x?x6x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected a filter of 3 without strides and dilation for Winograd's algorithm, got size 3, stride 2 and dilation 1 in spatial dim 1}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [1, 2] algorithm = winograd : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8x8x4xf32>, %w: tensor<5x3x4x6xf32>) {
  // expected-error @+1 {{'array.conv' op expected a filter of 3 without strides and dilation for Winograd's algorithm, got size 5, stride 1 and dilation 1 in spatial dim 0}}
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> algorithm = winograd : (tensor<4x8x8x4xf32>, tensor<5x3x4x6xf32>) -> tensor<4x4x6x6xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<9x2x16x64xf16>, %v: tensor<9x2x16x64xf16>, %t: tensor<3x4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected operands of one element type, got}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<0x2x16x64xf32>, %v: tensor<0x2x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected at least one page, got 'tensor<0x2x16x64xf32>' and 'tensor<0x2x16x64xf32>'}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<0x2x16x64xf32>, tensor<0x2x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<8x1x64xf32>, %k: tensor<9x2x16x64xf32>, %v: tensor<9x2x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected a query and pages of rank 4, got 'tensor<8x1x64xf32>', 'tensor<9x2x16x64xf32>' and 'tensor<9x2x16x64xf32>'}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<8x1x64xf32>, tensor<9x2x16x64xf32>, tensor<9x2x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<9x2x16x64xf32>, %v: tensor<9x2x16x64xf32>, %t: tensor<4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected a table of rank 2 and a vector of lengths, got 'tensor<4xi32>' and 'tensor<3xi32>'}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<9x2x16x64xf32>, tensor<9x2x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<9x2x16x64xf32>, %v: tensor<9x2x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected as many rows of the table and lengths as queries in the batch, got 'tensor<3x8x1x64xf32>', 'tensor<3x4xi32>' and 'tensor<2xi32>'}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<2xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<9x2x16x64xf32>, tensor<9x2x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<9x2x16x64xf32>, %v: tensor<8x2x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected as many pages, heads and places in a page of keys as of values, got 'tensor<9x2x16x64xf32>' and 'tensor<8x2x16x64xf32>'}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<9x2x16x64xf32>, tensor<8x2x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<9x2x16x32xf32>, %v: tensor<9x2x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected vectors of one length in query and keys, got 'tensor<3x8x1x64xf32>' and 'tensor<9x2x16x32xf32>'}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<9x2x16x32xf32>, tensor<9x2x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<3x8x1x64xf32>, %k: tensor<9x3x16x64xf32>, %v: tensor<9x3x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<3xi32>) {
  // expected-error @+1 {{'array.paged_attention' op expected a number of query heads that is a multiple of the key heads, got 8 and 3}}
  %0 = array.paged_attention %q, %k, %v table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi32>) scale = 0.5
     : (tensor<3x8x1x64xf32>, tensor<9x3x16x64xf32>, tensor<9x3x16x64xf32>) -> tensor<3x8x1x64xf32>
  return
}

// -----

func.func @f(%q: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'array.attention' op expected array.max_scores to be an i64 above 0, got 0 : i64}}
  %0 = array.attention %q, %q, %q scale = 0.5 {array.max_scores = 0 : i64}
     : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'array.exp' op does not take attribute "array.max_scores"}}
  %0 = array.exp %x {array.max_scores = 8 : i64} : tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reduce_window' op expected numbers from 1 to 2147483648 in 'window', got [1, 9223372036854775807]}}
  %0 = array.reduce_window max, %x window = [1, 9223372036854775807] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x8xf16>) {
  // expected-error @+1 {{'array.attention_gradient' op expected query, key and value of one rank of at least 3, got 'tensor<4x8xf16>', 'tensor<4x8xf16>' and 'tensor<4x8xf16>'}}
  %0:3 = array.attention_gradient %q, %q, %q, %q scale = 0.5 : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %g: tensor<4x6x8xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected the cotangent of a result of 'tensor<4x5x8xf32>', got 'tensor<4x6x8xf32>'}}
  %0:3 = array.attention_gradient %q, %q, %q, %g scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x6x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected 'causal' beside a window}}
  %0:3 = array.attention_gradient %q, %q, %q, %q window = 3 scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<?x5x8xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected a number of query heads that is a multiple of the key heads, got ? and ?}}
  %0:3 = array.attention_gradient %q, %q, %q, %q scale = 0.5 : (tensor<?x5x8xf32>, tensor<?x5x8xf32>, tensor<?x5x8xf32>, tensor<?x5x8xf32>) -> tensor<?x5x8xf32>, tensor<?x5x8xf32>, tensor<?x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %m: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.attention_gradient' op expected a mask that broadcasts to [4, 5, 5], got 'tensor<3x5xi1>'}}
  %0:3 = array.attention_gradient %q, %q, %q, %q mask(%m : tensor<3x5xi1>) scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %l: tensor<4x6xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected rows of 'tensor<4x5xf32>', got 'tensor<4x6xf32>'}}
  %0:3 = array.attention_gradient %q, %q, %q, %q rows(%l, %l : tensor<4x6xf32>, tensor<4x6xf32>) scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>, %s: tensor<5xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected a sink for each of 4 query heads, got 'tensor<5xf32>'}}
  %0:4 = array.attention_gradient %q, %q, %q, %q sinks(%s : tensor<5xf32>) to_sinks scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<5xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected a mask that is added beside 'to_mask'}}
  %0:3 = array.attention_gradient %q, %q, %q, %q to_mask scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5x8xf32>) {
  // expected-error @+1 {{'array.attention_gradient' op expected sinks beside 'to_sinks'}}
  %0:3 = array.attention_gradient %q, %q, %q, %q to_sinks scale = 0.5 : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>
  return
}
