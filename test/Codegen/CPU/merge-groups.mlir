// RUN: xc-opt %s -xc-cpu-merge-groups=arch=x86-64-v3 -split-input-file | FileCheck %s

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2) -> (d0, (d1 floordiv 2) * 3 + d2)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// Eight groups of two features, of three channels each: vectors of eight floats hold four groups.
// CHECK-LABEL: func.func @groups_and_features_are_one_loop()
// CHECK:         %[[X:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<7x8x3xf32> into tensor<7x24xf32>
// CHECK:         %[[P:.*]] = tensor.pad %[[X]] low[1, 0] high[0, 0]
// CHECK:         %[[W:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<3x8x2xf32> into tensor<3x16xf32>
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[RESULT]]]
// CHECK-SAME:      ins(%[[P]], %[[W]] : tensor<8x24xf32>, tensor<3x16xf32>)
// CHECK:         tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2]] output_shape [8, 8, 2]
func.func @groups_and_features_are_one_loop() {
  %x = plan.binding 0 read align 64 : memref<7x8x3xf32>
  %w = plan.binding 1 read align 64 : memref<3x8x2xf32>
  %y = plan.binding 2 write align 64 : memref<8x8x2xf32>
  %t = bufferization.to_tensor %x restrict : memref<7x8x3xf32> to tensor<7x8x3xf32>
  %u = bufferization.to_tensor %w restrict : memref<3x8x2xf32> to tensor<3x8x2xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[1, 0, 0] high[0, 0, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %c : f32
  } : tensor<7x8x3xf32> to tensor<8x8x3xf32>
  %e = tensor.empty() : tensor<8x8x2xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<8x8x2xf32>) -> tensor<8x8x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, g, f, c) -> (p, g, c)>, affine_map<(p, g, f, c) -> (c, g, f)>, affine_map<(p, g, f, c) -> (p, g, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %u : tensor<8x8x3xf32>, tensor<3x8x2xf32>) outs(%z : tensor<8x8x2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<8x8x2xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<8x8x2xf32>, memref<8x8x2xf32>) -> ()
  return
}

// -----

// A group of eight features fills a vector by itself.
// CHECK-LABEL: func.func @whole_vectors()
// CHECK-NOT:     tensor.collapse_shape
func.func @whole_vectors() {
  %x = plan.binding 0 read align 64 : memref<7x4x3xf32>
  %w = plan.binding 1 read align 64 : memref<3x4x8xf32>
  %y = plan.binding 2 write align 64 : memref<7x4x8xf32>
  %t = bufferization.to_tensor %x restrict : memref<7x4x3xf32> to tensor<7x4x3xf32>
  %u = bufferization.to_tensor %w restrict : memref<3x4x8xf32> to tensor<3x4x8xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x4x8xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<7x4x8xf32>) -> tensor<7x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, g, f, c) -> (p, g, c)>, affine_map<(p, g, f, c) -> (c, g, f)>, affine_map<(p, g, f, c) -> (p, g, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t, %u : tensor<7x4x3xf32>, tensor<3x4x8xf32>) outs(%z : tensor<7x4x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<7x4x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<7x4x8xf32>, memref<7x4x8xf32>) -> ()
  return
}
