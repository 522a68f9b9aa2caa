// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// Every form that JAX prints, and ops that are read to be refused by name.

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<4xf32>, %i: tensor<4xi32>, %p: tensor<4xi1>, %s: tensor<f32>) -> tensor<4xf32> {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xf32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  // CHECK: stablehlo.exponential %{{.*}} : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xi32>) -> tensor<4xf32>
  %2 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = stablehlo.compare LT, %1, %2, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %4 = "stablehlo.compare"(%i, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %5 = stablehlo.select %3, %1, %2 : tensor<4xi1>, tensor<4xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = stablehlo.clamp %s, %5, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<4xf32>
  %7 = stablehlo.reduce_precision %6, format = e5m10 : tensor<4xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4xui32>
  %8 = stablehlo.bitcast_convert %7 : (tensor<4xf32>) -> tensor<4xui32>
  // CHECK: chlo.erf_inv %{{.*}} : tensor<4xf32> -> tensor<4xf32>
  %9 = chlo.erf_inv %7 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %10 = chlo.next_after %9, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %10 : tensor<4xf32>
}

// CHECK-LABEL: func.func @movement(
func.func @movement(%x: tensor<4x8xf32>, %v: tensor<f32>, %i: tensor<i32>) {
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<2x4xf32>
  %c = stablehlo.constant dense<1.0> : tensor<2x4xf32>
  // CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %1 = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = "stablehlo.transpose"(%x) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [1] : tensor<4x8xf32>
  %4 = stablehlo.reverse %x, dims = [1] : tensor<4x8xf32>
  // CHECK: stablehlo.slice %{{.*}} [0:2, 1:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.slice %x [0:2, 1:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, -1], high = [0, 0], interior = [0, 2] : (tensor<2x4xf32>, tensor<f32>) -> tensor<3x9xf32>
  %6 = stablehlo.pad %5, %v, low = [1, -1], high = [0, 0], interior = [0, 2] : (tensor<2x4xf32>, tensor<f32>) -> tensor<3x9xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %7 = stablehlo.concatenate %5, %c, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %8 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %9 = stablehlo.dynamic_update_slice %x, %8, %i, %i : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @products(
func.func @products(%a: tensor<2x4x8xf32>, %b: tensor<2x8x3xf32>, %x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [2] x [1], algorithm = <{{.*}}lhs_precision_type = tf32
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x2x3xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1] :
  %2 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 1], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}
  %3 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x12x4xf32>
  return
}

// CHECK-LABEL: func.func @reductions(
func.func @reductions(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %z: tensor<f32>, %n: tensor<i32>) {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0]
  // CHECK-NEXT: reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) (%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>) {
  %1:2 = stablehlo.reduce(%x init: %z), (%i init: %n) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  {
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @control(
func.func @control(%x: tensor<4xf32>, %n: tensor<i32>, %p: tensor<i1>) -> tensor<4xf32> {
  // CHECK: stablehlo.while(%[[I:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}) : tensor<i32>, tensor<4xf32>
  // CHECK-NEXT: cond {
  // CHECK: stablehlo.compare LT, %[[I]],
  // CHECK: } do {
  // CHECK: stablehlo.add %[[V]], %[[V]]
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %c = stablehlo.constant dense<6> : tensor<i32>
    %q = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %w = stablehlo.add %v, %v : tensor<4xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<4xf32>
  }
  // CHECK: "stablehlo.case"(%{{.*}}) ({
  %1 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %0#1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  // CHECK: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i32>
  %2:2 = stablehlo.optimization_barrier %1, %n : tensor<4xf32>, tensor<i32>
  // CHECK: stablehlo.custom_call @Sharding(%{{.*}}) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.custom_call @Sharding(%2#0) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %4:2 = chlo.top_k(%3, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: func.func @scan(
func.func @scan(%x: tensor<2x4xf32>, %z: tensor<2xf32>) {
  // CHECK: chlo.scan(%{{.*}}) inits(%{{.*}}) dimension=1 attributes {is_associative = true, is_reverse = true} {
  // CHECK: } : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  %0:2 = chlo.scan(%x) inits(%z) dimension=1 attributes {is_associative = true, is_reverse = true} {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = stablehlo.add %a, %b : tensor<2xf32>
    stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  // CHECK: chlo.scan() inits(%{{.*}}) dimension=0 attributes {scan_dim_size = 3 : i64} {
  %1 = chlo.scan() inits(%z) dimension=0 attributes {scan_dim_size = 3 : i64} {
  ^bb0(%b: tensor<2xf32>):
    stablehlo.return %b : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: chlo.top_k(%{{.*}}, k = 2, is_stable = true)
  %2:2 = chlo.top_k(%z, k = 2, is_stable = true) : tensor<2xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// CHECK-LABEL: func.func @others(
func.func @others(%x: tensor<8xf32>, %m: tensor<4x4xf32>, %k: tensor<2xui64>) {
  // CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %0:2 = stablehlo.rng_bit_generator %k, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  // CHECK: stablehlo.fft %{{.*}}, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  %1 = stablehlo.fft %x, type =  RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  // CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<4x4xf32>
  %2 = stablehlo.cholesky %m, lower = true : tensor<4x4xf32>
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<8xf32>, tensor<4x4xf32>>
  %3 = stablehlo.tuple %x, %m : tuple<tensor<8xf32>, tensor<4x4xf32>>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<8xf32>, tensor<4x4xf32>>) -> tensor<4x4xf32>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<8xf32>, tensor<4x4xf32>>) -> tensor<4x4xf32>
  // CHECK: stablehlo.create_token : !stablehlo.token
  %5 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
  %6 = stablehlo.after_all %5, %5 : !stablehlo.token
  return
}

// CHECK: sdy.mesh @mesh = <>
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @shardings(
// CHECK-SAME:    sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>
func.func @shardings(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: sdy.sharding_constraint %{{.*}} <> : tensor<4x8xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  return
}
