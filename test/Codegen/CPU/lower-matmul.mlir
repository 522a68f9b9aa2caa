// RUN: xc-opt %s -xc-cpu-lower-matmul -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

#config = #cpu.matmul<version = 1, tile = [4, 16, 32], registers = [2, 16], lanes = 8>

// One workgroup per tile of 4 x 16; a 2 x 16 block of sums is 4 vectors in registers.
// CHECK-LABEL: func.func @product()
// CHECK-SAME:    grid = [3, s0 ceildiv 4, 1]
// CHECK-DAG:     %[[LHS:.*]] = memref.alloc() : memref<2x2x32xf32>
// CHECK-DAG:     %[[RHS:.*]] = memref.alloc() : memref<1x32x16xf32>
// CHECK-DAG:     %[[SUMS:.*]] = memref.alloc() : memref<4x16xf32>
// CHECK:         scf.for
// CHECK:           vector.store %{{.*}}, %[[LHS]]
// CHECK:           vector.store %{{.*}}, %[[RHS]]
// CHECK:           vector.load %[[SUMS]]
// CHECK:           %[[R:.*]]:4 = scf.for %[[K:[^ ]*]] = {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK:             %[[B:.*]] = vector.load %[[RHS]][%{{.*}}, %[[K]], %{{.*}}] : memref<1x32x16xf32>, vector<8xf32>
// CHECK:             %[[S:.*]] = memref.load %[[LHS]][%{{.*}}, %{{.*}}, %[[K]]] : memref<2x2x32xf32>
// CHECK:             %[[L:.*]] = vector.broadcast %[[S]] : f32 to vector<8xf32>
// CHECK:             math.fma %[[L]], %[[B]], %[[A]] : vector<8xf32>
// CHECK-COUNT-3:     math.fma
// CHECK-NOT:         math.fma
// CHECK:           vector.store %[[R]]#0, %[[SUMS]]
// CHECK:         vector.load %[[SUMS]]
// CHECK:         vector.store
func.func @product() attributes {lowering_config = #config} {
  %m = plan.scalar 0 : index
  %x = plan.binding 0 read align 64 sizes(%m) : memref<?x50xf32>
  %w = plan.binding 1 read align 64 : memref<50x48xf32>
  %y = plan.binding 2 write align 64 sizes(%m) : memref<?x48xf32>
  %t = bufferization.to_tensor %x restrict : memref<?x50xf32> to tensor<?x50xf32>
  %u = bufferization.to_tensor %w restrict : memref<50x48xf32> to tensor<50x48xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x48xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t, %u : tensor<?x50xf32>, tensor<50x48xf32>) outs(%z : tensor<?x48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  } -> tensor<?x48xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x48xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

#config = #cpu.matmul<version = 1, tile = [8, 16, 24], registers = [4, 16], lanes = 8>

// A convolution: rows are the positions of the result. A block of the reduced dim is three taps of eight channels, of which
// the left panels hold a row for each position; outside of the image these are zeros.
// CHECK-LABEL: func.func @convolution()
// CHECK-SAME:    grid = [1, 7, 1]
// CHECK-DAG:     %[[IMAGE:.*]] = plan.binding 0
// CHECK-DAG:     %[[PANELS:.*]] = memref.alloc() : memref<2x4x24xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c9 step %c3
// CHECK:           arith.remui %{{.*}}, %c7
// CHECK:           arith.divui %{{.*}}, %c7
// CHECK:           scf.if
// CHECK:             vector.load %[[IMAGE]]
// CHECK:           vector.store %{{.*}}, %[[PANELS]]
// CHECK:           memref.load %[[PANELS]]
// CHECK:           math.fma
func.func @convolution() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<7x7x8xf32>
  %w = plan.binding 1 read align 64 : memref<3x3x8x16xf32>
  %y = plan.binding 2 write align 64 : memref<7x7x16xf32>
  %t = bufferization.to_tensor %x restrict : memref<7x7x8xf32> to tensor<7x7x8xf32>
  %u = bufferization.to_tensor %w restrict : memref<3x3x8x16xf32> to tensor<3x3x8x16xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[1, 1, 0] high[1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %c : f32
  } : tensor<7x7x8xf32> to tensor<9x9x8xf32>
  %e = tensor.empty() : tensor<7x7x16xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<7x7x16xf32>) -> tensor<7x7x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(h, w, f, r, s, c) -> (h + r, w + s, c)>, affine_map<(h, w, f, r, s, c) -> (r, s, c, f)>,
                                        affine_map<(h, w, f, r, s, c) -> (h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%p, %u : tensor<9x9x8xf32>, tensor<3x3x8x16xf32>) outs(%z : tensor<7x7x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %q = arith.mulf %a, %b : f32
      %s = arith.addf %o, %q : f32
      linalg.yield %s : f32
  } -> tensor<7x7x16xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<7x7x16xf32>, memref<7x7x16xf32>) -> ()
  return
}

// -----

#config = #cpu.matmul<version = 1, tile = [4, 16, 32], registers = [2, 16], lanes = 8>

// expected-error@+1 {{the matmul strategy does not fit kernel 'no_product': it has no matrix product}}
func.func @no_product() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<100xf32>
  %y = plan.binding 1 write align 64 : memref<100xf32>
  %t = bufferization.to_tensor %x restrict : memref<100xf32> to tensor<100xf32>
  bufferization.materialize_in_destination %t in restrict writable %y : (tensor<100xf32>, memref<100xf32>) -> ()
  return
}

// -----

#config = #cpu.matmul<version = 1, tile = [4, 32, 32], registers = [2, 16], lanes = 8>

// Weights that lie in panels are read where they are: 50 terms of 3 panels. Only rows are packed. The next panel is asked for.
// CHECK-LABEL: func.func @weights_in_panels()
// CHECK:         %[[W:.*]] = plan.binding 1
// CHECK-COUNT-2: memref.alloc()
// CHECK-NOT:     memref.alloc()
// CHECK:         scf.for %[[K0:.*]] = %c0 to %c50 step %c32
// CHECK:           scf.for %[[KK:[^ ]*]] = {{.*}} iter_args
// CHECK:           %[[K:.*]] = arith.addi %[[K0]], %[[KK]] : index
// CHECK:           vector.load %[[W]][%{{.*}}, %[[K]], %c0] : memref<3x50x16xf32>, vector<8xf32>
// CHECK:           memref.prefetch %[[W]]
func.func @weights_in_panels() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<7x50xf32>
  %w = plan.binding 1 read align 64 : memref<3x50x16xf32>
  %y = plan.binding 2 write align 64 : memref<7x48xf32>
  %t = bufferization.to_tensor %x restrict : memref<7x50xf32> to tensor<7x50xf32>
  %u = bufferization.to_tensor %w restrict : memref<3x50x16xf32> to tensor<3x50x16xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x48xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<7x48xf32>) -> tensor<7x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t, %u : tensor<7x50xf32>, tensor<3x50x16xf32>) outs(%z : tensor<7x48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  } -> tensor<7x48xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<7x48xf32>, memref<7x48xf32>) -> ()
  return
}

// -----

#config = #cpu.matmul<version = 1, tile = [4, 32, 32], registers = [2, 16], lanes = 8>

// Columns of two loops that everything steps through as one are one run of memory: lanes cross its rows.
// CHECK-LABEL: func.func @merged_columns()
// CHECK-DAG:     memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : memref<8x5x7xf32> into memref<8x35xf32>
// CHECK-DAG:     memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : memref<6x5x7xf32> into memref<6x35xf32>
// CHECK:         vector.load %{{.*}} : memref<8x35xf32>, vector<8xf32>
// CHECK:         vector.store %{{.*}} : memref<6x35xf32>, vector<8xf32>
func.func @merged_columns() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<8x5x7xf32>
  %w = plan.binding 1 read align 64 : memref<6x8xf32>
  %y = plan.binding 2 write align 64 : memref<6x5x7xf32>
  %t = bufferization.to_tensor %x restrict : memref<8x5x7xf32> to tensor<8x5x7xf32>
  %u = bufferization.to_tensor %w restrict : memref<6x8xf32> to tensor<6x8xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5x7xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(f, h, w, k) -> (k, h, w)>, affine_map<(f, h, w, k) -> (f, k)>, affine_map<(f, h, w, k) -> (f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%t, %u : tensor<8x5x7xf32>, tensor<6x8xf32>) outs(%z : tensor<6x5x7xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  } -> tensor<6x5x7xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<6x5x7xf32>, memref<6x5x7xf32>) -> ()
  return
}

// -----

#config = #cpu.matmul<version = 1, tile = [16, 16, 32], registers = [4, 16], lanes = 8>

// A result that has the rows innermost is stored from squares of eight by eight sums. One that crosses the end of a run of
// five by seven rows goes element by element.
// CHECK-LABEL: func.func @transposed_result()
// CHECK-DAG:     %[[SUMS:.*]] = memref.alloc() : memref<16x16xf32>
// CHECK-DAG:     %[[Y:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : memref<2x16x5x7xf32> into memref<2x16x35xf32>
// CHECK:         scf.if
// CHECK-COUNT-8:   vector.load %[[SUMS]]
// CHECK:           vector.shuffle
// CHECK-COUNT-8:   vector.store %{{.*}}, %[[Y]]
// CHECK:         } else {
// CHECK:           memref.load %[[SUMS]]
// CHECK:           memref.store %{{.*}}, %[[Y]]
func.func @transposed_result() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<2x5x7x8xf32>
  %w = plan.binding 1 read align 64 : memref<8x16xf32>
  %y = plan.binding 2 write align 64 : memref<2x16x5x7xf32>
  %t = bufferization.to_tensor %x restrict : memref<2x5x7x8xf32> to tensor<2x5x7x8xf32>
  %u = bufferization.to_tensor %w restrict : memref<8x16xf32> to tensor<8x16xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x7x16xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x7x16xf32>) -> tensor<2x5x7x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, w, f, k) -> (b, h, w, k)>, affine_map<(b, h, w, f, k) -> (k, f)>, affine_map<(b, h, w, f, k) -> (b, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%t, %u : tensor<2x5x7x8xf32>, tensor<8x16xf32>) outs(%z : tensor<2x5x7x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  } -> tensor<2x5x7x16xf32>
  %d = tensor.empty() : tensor<2x16x5x7xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(b, f, h, w) -> (b, h, w, f)>, affine_map<(b, f, h, w) -> (b, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<2x5x7x16xf32>) outs(%d : tensor<2x16x5x7xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
  } -> tensor<2x16x5x7xf32>
  bufferization.materialize_in_destination %q in restrict writable %y : (tensor<2x16x5x7xf32>, memref<2x16x5x7xf32>) -> ()
  return
}
