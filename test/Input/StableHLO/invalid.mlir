// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @comparison(%x: tensor<4xf32>) {
  // expected-error @+1 {{'SMALLER' is not known here}}
  %0 = stablehlo.compare SMALLER, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
}

// -----

func.func @types(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a function type with 2 operands and one result, got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

func.func @format(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a format such as e5m10, got 'e5'}}
  %0 = stablehlo.reduce_precision %x, format = e5 : tensor<4xf32>
}

// -----

func.func @conv_labels(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected labels b, f and the numbers from 0, each once}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
}

// -----

func.func @conv_ranks(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected three lists of one length, got 3, 4 and 3 labels}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, 1, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
}

// -----

func.func @select(%p: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected one predicate, or one for each element of 'tensor<4xf32>', got 'tensor<3xi1>'}}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @clamp(%b: tensor<3xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected bounds of type 'tensor<4xf32>' or 'tensor<f32>', got 'tensor<3xf32>'}}
  %0 = stablehlo.clamp %b, %x, %b : (tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 2 numbers in start_indices, got 1}}
  %0 = stablehlo.slice %x [0:2] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected numbers from 1 to 2147483648 in strides, got 0}}
  %0 = stablehlo.slice %x [0:2:0] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{expected a result of size 0 or more in dim 0, got -2}}
  %0 = stablehlo.pad %x, %v, low = [-3], high = [-3], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %v: tensor<i32>) {
  // expected-error @+1 {{expected a padding value of type 'tensor<f32>', got 'tensor<i32>'}}
  %0 = stablehlo.pad %x, %v, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @dynamic_slice(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{expected 2 start indices, got 1}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @gather_dims(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{expected different dims in [0, 2) in the dims that index vectors are of, got [2]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @gather_sizes(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{expected a slice of 0 to 8 elements in dim 1, got 9}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x9xf32>
  return
}

// -----

func.func @gather_components(%x: tensor<4x8xf32>, %i: tensor<5x2xi32>) {
  // expected-error @+1 {{expected index vectors of 1 components, got 2 in 'tensor<5x2xi32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<5x2xi32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @scatter_updates(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>, %u: tensor<6x8xf32>) {
  // expected-error @+1 {{expected slices with the dims [5] of the indices, got [6]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<5x1xi32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<4x8xf32>, %b: tensor<7x3xf32>) {
  // expected-error @+1 {{expected paired dims of one size, got 8 and 7}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @reduce_dims(%x: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected different dims in [0, 2) in dimensions, got [1, 1]}}
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_init(%x: tensor<4x8xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{expected an initial value of type 'tensor<f32>', got 'tensor<i32>'}}
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_combiner(%x: tensor<4x8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'array.add' is not an op that combines two elements}}
  %0 = stablehlo.reduce(%x init: %z) applies array.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @window(%x: tensor<8xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected results of types ('tensor<7xf32>'), got ('tensor<8xf32>')}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @while_body(%n: tensor<i32>, %p: tensor<i1>) {
  // expected-error @+1 {{expected body to return ('tensor<i32>'), got ('tensor<i1>')}}
  %0 = stablehlo.while(%i = %n) : tensor<i32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %p : tensor<i1>
  }
  return
}

// -----

func.func @case(%n: tensor<i32>) {
  // expected-error @+1 {{expected a branch at least}}
  "stablehlo.case"(%n) : (tensor<i32>) -> ()
  return
}

// -----

func.func @sort(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a dimension in [-1, 1), got 1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{bounded dimensions (#stablehlo.bounds) are not supported}}
func.func @bounds(%x: tensor<?xf32, #stablehlo.bounds<4>>) {
  return
}

// -----

func.func @scan_of_no_dim(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected different dims in [0, 1) in dimension, got [1]}}
  %0:2 = chlo.scan(%x) inits(%z) dimension=1 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @scan_of_other_size(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected the size 4 in dim 0 of all inputs and outputs, got 3}}
  %0:2 = chlo.scan(%x) inits(%z) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return
}

// -----

func.func @scan_of_nothing(%z: tensor<f32>) {
  // expected-error @+1 {{expected scan_dim_size where nothing is sliced}}
  %0 = chlo.scan() inits(%z) dimension=0 {
  ^bb0(%b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @scan_with_another_carry(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected carries of types ('tensor<f32>'), got ('tensor<1xf32>')}}
  %0:2 = chlo.scan(%x) inits(%z) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<1xf32>)
  return
}

// -----

func.func @scan_with_another_body(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected body to take ('tensor<f32>', 'tensor<f32>'), got ('tensor<f32>')}}
  %0:2 = chlo.scan(%x) inits(%z) dimension=0 {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a, %a : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @scan_without_results(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected a result for each of 1 inits, got 0}}
  chlo.scan(%x) inits(%z) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> ()
  return
}
