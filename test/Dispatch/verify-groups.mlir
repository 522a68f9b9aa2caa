// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-plan-test-verify-groups))' -split-input-file -verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each row's maximum, taken off the row: what is needed is at hand.
func.func @rows(%x: tensor<6x6xf32>, %m: tensor<6xf32>) -> tensor<6x6xf32> attributes {test.rows = 1 : i64} {
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], test.loops = array<i32: 0, 1>}
      ins(%x : tensor<6x6xf32>) outs(%m : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"], test.loops = array<i32: 0, 1>}
      ins(%x, %max : tensor<6x6xf32>, tensor<6xf32>) outs(%x : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// One number for two loops: only the diagonal would be computed.
func.func @diagonal(%x: tensor<6x6xf32>, %m: tensor<6xf32>) -> tensor<6x6xf32> attributes {test.rows = 1 : i64} {
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], test.loops = array<i32: 0, 1>}
      ins(%x : tensor<6x6xf32>) outs(%m : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6xf32>
  // expected-error @+1 {{fused wrongly: expected a place of its own for each point, got one for points (0, 0) and (1, 0)}}
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"], test.loops = array<i32: 0, 0>}
      ins(%x, %max : tensor<6x6xf32>, tensor<6xf32>) outs(%x : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Row i would read the maximum of row j, which another workgroup makes.
func.func @other_row(%x: tensor<6x6xf32>, %m: tensor<6xf32>) -> tensor<6x6xf32> attributes {test.rows = 1 : i64} {
  // expected-note @+1 {{made here}}
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], test.loops = array<i32: 0, 1>}
      ins(%x : tensor<6x6xf32>) outs(%m : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6xf32>
  // expected-error @+1 {{fused wrongly: at point (0, 1) expected element (1) of operand 1 to be made in the same row, got index 1 of loop 0 for index 0}}
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"], test.loops = array<i32: 0, 1>}
      ins(%x, %max : tensor<6x6xf32>, tensor<6xf32>) outs(%x : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swapped = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#row = affine_map<(d0, d1, d2) -> (d0)>

// Within a row, a thread would read what another one makes of the row's maximum.
func.func @other_thread(%x: tensor<6x5x5xf32>, %m: tensor<6xf32>) -> tensor<6x5x5xf32> attributes {test.rows = 1 : i64} {
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction", "reduction"], test.loops = array<i32: 0, 1, 2>}
      ins(%x : tensor<6x5x5xf32>) outs(%m : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6xf32>
  // expected-note @+1 {{made here}}
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"], test.loops = array<i32: 0, 1, 2>}
      ins(%x, %max : tensor<6x5x5xf32>, tensor<6xf32>) outs(%x : tensor<6x5x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6x5x5xf32>
  // expected-error @+1 {{fused wrongly: at point (0, 0, 1) expected element (0, 1, 0) of operand 0 to be made in the same thread, got index 1 of loop 1 for index 0}}
  %y = linalg.generic {indexing_maps = [#swapped, #id, #id], iterator_types = ["parallel", "parallel", "parallel"], test.loops = array<i32: 0, 1, 2>}
      ins(%e, %x : tensor<6x5x5xf32>, tensor<6x5x5xf32>) outs(%x : tensor<6x5x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6x5x5xf32>
  return %y : tensor<6x5x5xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// One loop for rows of different length.
func.func @other_length(%x: tensor<6x6xf32>, %z: tensor<6x7xf32>, %m: tensor<6xf32>) -> tensor<6x7xf32> attributes {test.rows = 1 : i64} {
  // expected-note @+1 {{the loop that it shares}}
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], test.loops = array<i32: 0, 1>}
      ins(%x : tensor<6x6xf32>) outs(%m : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6xf32>
  // expected-error @+1 {{fused wrongly: expected a loop of 6 iterations, got 7}}
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"], test.loops = array<i32: 0, 1>}
      ins(%z, %max : tensor<6x7xf32>, tensor<6xf32>) outs(%z : tensor<6x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<6x7xf32>
  return %y : tensor<6x7xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#part = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>

// Each part of a column, and distances from what it has come to.
func.func @column_parts(%x: tensor<6x6xf32>, %m: tensor<3x6xf32>) -> tensor<3x6xf32> attributes {test.rows = 2 : i64} {
  %sum = linalg.generic {indexing_maps = [#id, #part], iterator_types = ["reduction", "parallel"], test.loops = array<i32: 0, 1>, plan.partial = #plan.partial<rows, 2>}
      ins(%x : tensor<6x6xf32>) outs(%m : tensor<3x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<3x6xf32>
  %y = linalg.generic {indexing_maps = [#id, #part, #part], iterator_types = ["reduction", "parallel"], test.loops = array<i32: 0, 1>, plan.partial = #plan.partial<rows, 2>}
      ins(%x, %sum : tensor<6x6xf32>, tensor<3x6xf32>) outs(%m : tensor<3x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    %d = arith.addf %o, %c : f32
    linalg.yield %d : f32
  } -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#part = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
#other = affine_map<(d0, d1) -> (d1 floordiv 2, d0)>

// What another part has come to is not there.
func.func @other_column_part(%x: tensor<6x6xf32>, %m: tensor<3x6xf32>) -> tensor<3x6xf32> attributes {test.rows = 2 : i64} {
  // expected-note @+1 {{made here}}
  %sum = linalg.generic {indexing_maps = [#id, #part], iterator_types = ["reduction", "parallel"], test.loops = array<i32: 0, 1>, plan.partial = #plan.partial<rows, 2>}
      ins(%x : tensor<6x6xf32>) outs(%m : tensor<3x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<3x6xf32>
  // expected-error @+1 {{fused wrongly: at point (0, 1) expected operand 1 to be read for its own part (0, 1), got (0, 0)}}
  %y = linalg.generic {indexing_maps = [#id, #other, #part], iterator_types = ["reduction", "parallel"], test.loops = array<i32: 0, 1>, plan.partial = #plan.partial<rows, 2>}
      ins(%x, %sum : tensor<6x6xf32>, tensor<3x6xf32>) outs(%m : tensor<3x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    %d = arith.addf %o, %c : f32
    linalg.yield %d : f32
  } -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}
