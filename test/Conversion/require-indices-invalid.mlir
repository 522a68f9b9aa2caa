// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-convert-array-to-linalg

func.func @two_unknown_sizes(%x: tensor<?xf32>, %p: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'linalg.generic' op cannot tell the places (d0 + d1) mod 5 + d0 - (d1 * 3) mod 7 in dim 0 of 'tensor<?xf32>' from sizes: a loop that occurs more than once lets them rise and fall, with another of unknown size, or in too many steps}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> ((i + j) mod 5 + i - (j * 3) mod 7)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %p : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @many_steps(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'linalg.generic' op cannot tell the places (d0 * 7) mod 997 + d0 in dim 0 of 'tensor<?xf32>' from sizes}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> ((i * 7) mod 997 + i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Its one fall is at the end of a period of 65,536 iterations.
func.func @long_period(%x: tensor<?xf32>, %p: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'linalg.generic' op cannot tell the places d0 mod 65536 + d0 floordiv 65536 + (d0 + d1) floordiv 2 in dim 0 of 'tensor<?xf32>' from sizes}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i mod 65536 + i floordiv 65536 + (j + i) floordiv 2)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %p : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// One more than the largest number of 63 bits would count as the least.
func.func @large_offset(%x: tensor<?xf32>, %o: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'linalg.generic' op expected places d0 + 9223372036854775806 in dim 0 of 'tensor<?xf32>' that are made of numbers up to 70368744177664, got larger ones}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i + 9223372036854775806)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// 2^17 times 2^47 is nothing in 64 bits.
func.func @large_product(%x: tensor<?xf32>, %o: tensor<131073xf32>) -> tensor<131073xf32> {
  // expected-error @+1 {{'linalg.generic' op expected places d0 * 140737488355328 in dim 0 of 'tensor<?xf32>' that are made of numbers up to 70368744177664, got larger ones}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 140737488355328)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<131073xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<131073xf32>
  return %r : tensor<131073xf32>
}
