// RUN: xc-opt %s -split-input-file -xc-form-dispatches | FileCheck %s

// A step of training: the product's kernel writes the new momentum over the old one and the new weight over the old
// one, though the weight is also what the momentum is computed from.
// CHECK-LABEL: func.func @step
// CHECK-SAME:    %{{.*}}: tensor<64x30xf32>, %{{.*}}: tensor<64x20xf32>, %[[M:.*]]: tensor<30x20xf32>, %[[W:.*]]: tensor<30x20xf32>
// CHECK:         plan.region
// CHECK-SAME:      reusable(%[[M]], %[[W]] : tensor<30x20xf32>, tensor<30x20xf32>)
// CHECK-SAME:      reuse = array<i64: 0, 1>
#id = affine_map<(d0, d1) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @step(%x: tensor<64x30xf32>, %g: tensor<64x20xf32>, %m: tensor<30x20xf32>, %w: tensor<30x20xf32>)
      -> (tensor<30x20xf32>, tensor<30x20xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<30x20xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<30x20xf32>) -> tensor<30x20xf32>
    %d = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
        ins(%x, %g : tensor<64x30xf32>, tensor<64x20xf32>) outs(%f : tensor<30x20xf32>) -> tensor<30x20xf32>
    %speed = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%m, %d, %w : tensor<30x20xf32>, tensor<30x20xf32>, tensor<30x20xf32>) outs(%e : tensor<30x20xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %p = arith.addf %a, %b : f32
      %q = arith.addf %p, %c : f32
      linalg.yield %q : f32
    } -> tensor<30x20xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w, %speed : tensor<30x20xf32>, tensor<30x20xf32>) outs(%e : tensor<30x20xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.subf %a, %b : f32
      linalg.yield %p : f32
    } -> tensor<30x20xf32>
    return %speed, %next : tensor<30x20xf32>, tensor<30x20xf32>
  }
}

// -----

// The first result must leave the input to the second one, which needs it, too.
// CHECK-LABEL: func.func @needed_later
// CHECK-SAME:    %[[A:.*]]: tensor<24xf32>
// CHECK:         plan.region
// CHECK-SAME:      reusable(%[[A]] : tensor<24xf32>)
// CHECK-SAME:      reuse = array<i64: -1, 0>
#line = affine_map<(d0) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @needed_later(%a: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
    %e = tensor.empty() : tensor<24xf32>
    %x = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
        ins(%a : tensor<24xf32>) outs(%e : tensor<24xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<24xf32>
    %y = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
        ins(%x, %a : tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.subf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<24xf32>
    return %x, %y : tensor<24xf32>, tensor<24xf32>
  }
}

// -----

// A slice of the input is read beside the input itself.
// CHECK-LABEL: func.func @sliced
// CHECK:         plan.region
// CHECK-NOT:     reuse
// CHECK:         return
#both = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @sliced(%a: tensor<24x24xf32>) -> tensor<24x24xf32> {
    %e = tensor.empty() : tensor<24x24xf32>
    %column = tensor.extract_slice %a[0, 3] [24, 1] [1, 1] : tensor<24x24xf32> to tensor<24xf32>
    %x = linalg.generic {indexing_maps = [#both, #first, #both], iterator_types = ["parallel", "parallel"]}
        ins(%a, %column : tensor<24x24xf32>, tensor<24xf32>) outs(%e : tensor<24x24xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<24x24xf32>
    return %x : tensor<24x24xf32>
  }
}

// -----

// The product reads the whole of the weight that follows it.
// CHECK-LABEL: func.func @own_product
// CHECK:         plan.region
// CHECK-NOT:     reuse
// CHECK:         return
#square = affine_map<(d0, d1) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @own_product(%w: tensor<24x24xf32>, %g: tensor<24x24xf32>) -> tensor<24x24xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<24x24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x24xf32>) -> tensor<24x24xf32>
    %d = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
        ins(%w, %g : tensor<24x24xf32>, tensor<24x24xf32>) outs(%f : tensor<24x24xf32>) -> tensor<24x24xf32>
    %next = linalg.generic {indexing_maps = [#square, #square, #square], iterator_types = ["parallel", "parallel"]}
        ins(%w, %d : tensor<24x24xf32>, tensor<24x24xf32>) outs(%e : tensor<24x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.subf %a, %b : f32
      linalg.yield %p : f32
    } -> tensor<24x24xf32>
    return %next : tensor<24x24xf32>
  }
}

// -----

// Another shape of a slice that is no view: the kernel holds it, so there is no memory to take.
// CHECK-LABEL: func.func @far_slice
// CHECK-NOT:     tensor.extract_slice
// CHECK:         plan.region
// CHECK-NOT:     reuse
// CHECK:           tensor.extract_slice
// CHECK:           tensor.expand_shape
// CHECK:         return
#cube = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @far_slice(%a: tensor<3x24xf32>) -> tensor<3x2x4xf32> {
    %slice = tensor.extract_slice %a[0, 8] [3, 8] [1, 1] : tensor<3x24xf32> to tensor<3x8xf32>
    %heads = tensor.expand_shape %slice [[0], [1, 2]] output_shape [3, 2, 4] : tensor<3x8xf32> into tensor<3x2x4xf32>
    %e = tensor.empty() : tensor<3x2x4xf32>
    %x = linalg.generic {indexing_maps = [#cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%heads : tensor<3x2x4xf32>) outs(%e : tensor<3x2x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<3x2x4xf32>
    return %x : tensor<3x2x4xf32>
  }
}
