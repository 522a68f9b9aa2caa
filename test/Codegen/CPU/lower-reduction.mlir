// RUN: xc-opt %s -xc-cpu-lower-reduction -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

#rows = #cpu.reduction<version = 1, direction = "rows", lanes = 16, chunk = 128, tile = 32768>

// One workgroup has 32768 / 64 rows. The lanes of the accumulator are folded to one value at the end of a row.
// CHECK-LABEL: func.func @row_sum()
// CHECK-SAME:    grid = [s0 ceildiv 512, 1, 1]
// CHECK:         scf.for %[[ROW:[^ ]*]] =
// CHECK:           %[[ACC:.*]] = scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (vector<16xf32>) {
// CHECK:             %[[V:.*]] = vector.load %{{.*}}[%[[ROW]], %[[J]]] : memref<?x64xf32>, vector<16xf32>
// CHECK:             %[[S:.*]] = arith.addf %[[V]], %[[A]] : vector<16xf32>
// CHECK:             scf.yield %[[S]]
// CHECK:           vector.shuffle %[[ACC]], %[[ACC]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:           %[[SUM:.*]] = vector.extract
// CHECK:           %[[R:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
// CHECK:           memref.store %[[R]], %{{.*}}[%[[ROW]]] : memref<?xf32>
func.func @row_sum() attributes {lowering_config = #rows} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 read align 64 sizes(%n) : memref<?x64xf32>
  %y = plan.binding 1 write align 64 sizes(%n) : memref<?xf32>
  %t = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<?x64xf32>) outs(%z : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

#columns = #cpu.reduction<version = 1, direction = "columns", lanes = 16, chunk = 128, tile = 32768>

// Every lane is a column: nothing to fold.
// CHECK-LABEL: func.func @column_sum()
// CHECK:         scf.for %[[J:[^ ]*]] =
// CHECK:           %[[ACC:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (vector<16xf32>) {
// CHECK:             vector.load %{{.*}}[%[[I]], %[[J]]] : memref<100x64xf32>, vector<16xf32>
// CHECK-NOT:       vector.shuffle
// CHECK:           vector.store %[[ACC]], %{{.*}}[%[[J]]] : memref<64xf32>, vector<16xf32>
func.func @column_sum() attributes {lowering_config = #columns} {
  %x = plan.binding 0 read align 64 : memref<100x64xf32>
  %y = plan.binding 1 write align 64 : memref<64xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x64xf32> to tensor<100x64xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%t : tensor<100x64xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

#rows = #cpu.reduction<version = 1, direction = "rows", lanes = 16, chunk = 128, tile = 32768>

// exp is computed once, while it is summed, and kept in the result's memory until the sum is known.
// CHECK-LABEL: func.func @exp_over_its_sum()
// CHECK:         %[[Y:.*]] = plan.binding 1
// CHECK:         scf.for %[[ROW:[^ ]*]] =
// CHECK:           scf.for %[[J:[^ ]*]] =
// CHECK:             %[[E:.*]] = math.exp
// CHECK:             vector.store %[[E]], %[[Y]][%[[ROW]], %[[J]]]
// CHECK:             arith.addf
// CHECK:           scf.for %[[K:[^ ]*]] =
// CHECK-NOT:         math.exp
// CHECK:             vector.load %[[Y]][%[[ROW]], %[[K]]]
// CHECK:             arith.divf
// CHECK:             vector.store %{{.*}}, %[[Y]][%[[ROW]], %[[K]]]
func.func @exp_over_its_sum() attributes {lowering_config = #rows} {
  %x = plan.binding 0 read align 64 : memref<100x64xf32>
  %y = plan.binding 1 write align 64 : memref<100x64xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x64xf32> to tensor<100x64xf32>
  %c = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<100x64xf32>
  %e = tensor.empty() : tensor<100xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<100x64xf32>) outs(%e0 : tensor<100x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<100x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<100x64xf32>) outs(%z : tensor<100xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<100xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %r : tensor<100x64xf32>, tensor<100xf32>) outs(%e0 : tensor<100x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.divf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<100x64xf32>
  bufferization.materialize_in_destination %q in restrict writable %y : (tensor<100x64xf32>, memref<100x64xf32>) -> ()
  return
}

// -----

#rows = #cpu.reduction<version = 1, direction = "rows", lanes = 8, chunk = 64, tile = 32768>

// What is kept has its dims the other way round than the input: the loops are not one, as they would be for the input alone.
// CHECK-LABEL: func.func @variance_of_transposed()
// CHECK:         %[[KEPT:.*]] = memref.alloc() : memref<8x6xf32>
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           math.exp
// CHECK-COUNT-8:   memref.store %{{.*}}, %[[KEPT]][%{{.*}}, %[[I]]] : memref<8x6xf32>
func.func @variance_of_transposed() attributes {lowering_config = #rows} {
  %x = plan.binding 0 read align 64 : memref<6x8xf32>
  %y = plan.binding 1 write align 64 : memref<f32>
  %t = bufferization.to_tensor %x restrict : memref<6x8xf32> to tensor<6x8xf32>
  %c = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x6xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<6x8xf32>) outs(%e0 : tensor<8x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
  } -> tensor<8x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%p : tensor<8x6xf32>) outs(%z : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%p, %r : tensor<8x6xf32>, tensor<f32>) outs(%z : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %s = arith.addf %d, %o : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %q in restrict writable %y : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

#columns = #cpu.reduction<version = 1, direction = "columns", lanes = 16, chunk = 128, tile = 32768>

// expected-error@+1 {{the reduction strategy with columns needs a kept dim, and kernel 'nothing_kept' keeps none}}
func.func @nothing_kept() attributes {lowering_config = #columns} {
  %x = plan.binding 0 read align 64 : memref<100xf32>
  %y = plan.binding 1 write align 64 : memref<f32>
  %t = bufferization.to_tensor %x restrict : memref<100xf32> to tensor<100xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%t : tensor<100xf32>) outs(%z : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

#rows = #cpu.reduction<version = 1, direction = "rows", lanes = 16, chunk = 128, tile = 32768>

// expected-error@+1 {{the reduction strategy does not fit kernel 'different_dims': its reductions keep different dims}}
func.func @different_dims() attributes {lowering_config = #rows} {
  %x = plan.binding 0 read align 64 : memref<100x64xf32>
  %y = plan.binding 1 write align 64 : memref<f32>
  %t = bufferization.to_tensor %x restrict : memref<100x64xf32> to tensor<100x64xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %e0 = tensor.empty() : tensor<f32>
  %z0 = linalg.fill ins(%c : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<100x64xf32>) outs(%z : tensor<100xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<100xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%r : tensor<100xf32>) outs(%z0 : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %q in restrict writable %y : (tensor<f32>, memref<f32>) -> ()
  return
}

// -----

#panels = #cpu.reduction<version = 1, direction = "panels", lanes = 16, chunk = 64, tile = 32768>

// The accumulators are a row of memory; each row of the input is read in one run.
// CHECK-LABEL: func.func @column_sum_by_panels()
// CHECK:         %[[ACC:.*]] = memref.alloc() : memref<64xf32>
// CHECK:         scf.for
// CHECK:           vector.store %{{.*}}, %[[ACC]]
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           scf.for %[[J:[^ ]*]] =
// CHECK:             %[[A:.*]] = vector.load %[[ACC]]
// CHECK:             %[[V:.*]] = vector.load %{{.*}}[%[[I]], %[[J]]] : memref<100x256xf32>, vector<16xf32>
// CHECK:             %[[S:.*]] = arith.addf %[[V]], %[[A]]
// CHECK:             vector.store %[[S]], %[[ACC]]
func.func @column_sum_by_panels() attributes {lowering_config = #panels} {
  %x = plan.binding 0 read align 64 : memref<100x256xf32>
  %y = plan.binding 1 write align 64 : memref<256xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x256xf32> to tensor<100x256xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%t : tensor<100x256xf32>) outs(%z : tensor<256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// -----

#strips = #cpu.reduction<version = 1, direction = "columns", lanes = 8, chunk = 128, tile = 32768, strip = 4>

// Windows of four neighbours at a time, where they lie inside of the image: no load is a branch's, and each point has an accumulator.
// CHECK-LABEL: func.func @strips()
// CHECK:         scf.while
// CHECK:           scf.condition
// CHECK:         ^bb0(%[[FIRST:.*]]: index):
// CHECK:           %[[FOUR:.*]] = arith.addi %[[FIRST]], %c4
// CHECK:           arith.cmpi sle, %[[FOUR]], %c168
// CHECK:           scf.if %{{.*}} -> (index)
// CHECK:             scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
// CHECK-NOT:           scf.if
// CHECK:               scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
// CHECK-COUNT-4:     vector.store
// CHECK:             scf.yield %[[FOUR]] : index
// Others one by one, with branches for padding.
// CHECK:           } else {
// CHECK:               scf.if
// CHECK:             %[[NEXT:.*]] = arith.addi %[[FIRST]], %c1
// CHECK:             scf.yield %[[NEXT]] : index
func.func @strips() attributes {lowering_config = #strips} {
  %x = plan.binding 0 read align 64 : memref<12x14x16xf32>
  %w = plan.binding 1 read align 64 : memref<3x3x16xf32>
  %y = plan.binding 2 write align 64 : memref<12x14x16xf32>
  %t = bufferization.to_tensor %x restrict : memref<12x14x16xf32> to tensor<12x14x16xf32>
  %v = bufferization.to_tensor %w restrict : memref<3x3x16xf32> to tensor<3x3x16xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  } : tensor<12x14x16xf32> to tensor<14x16x16xf32>
  %e = tensor.empty() : tensor<12x14x16xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<12x14x16xf32>) -> tensor<12x14x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(p, q, c, r, s) -> (p + r, q + s, c)>, affine_map<(p, q, c, r, s) -> (r, s, c)>,
                                        affine_map<(p, q, c, r, s) -> (p, q, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %v : tensor<14x16x16xf32>, tensor<3x3x16xf32>) outs(%z : tensor<12x14x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<12x14x16xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<12x14x16xf32>, memref<12x14x16xf32>) -> ()
  return
}

// -----

#images = #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 24, tile = 32768, strip = 4, band = 12>

// What a band reads is copied with its padding, rows of padding as such; no sum has a branch, and the last lanes of a row are masked
// where they meet other memory.
// CHECK-LABEL: func.func @images()
// CHECK:         %[[BAND:.*]] = memref.alloc() : memref<14x32xf32>
// CHECK:         scf.for
// CHECK:           scf.for %[[ROW:[^ ]*]] = %c0 to %c14
// CHECK:             scf.if
// CHECK:               scf.for %[[PLACE:[^ ]*]] = %c0 to %c22 step %c8
// CHECK:                 %[[ELEMENTS:.*]] = scf.if
// CHECK:                   vector.load %{{.*}} : memref<6x12x20xf32>, vector<8xf32>
// CHECK:                 } else {
// CHECK:                   %[[MASK:.*]] = arith.select %{{.*}} : vector<8xi1>, vector<8xi1>
// CHECK:                   vector.maskedload %{{.*}}, %[[MASK]]
// CHECK:                 vector.store %[[ELEMENTS]], %[[BAND]][%[[ROW]], %[[PLACE]]]
// CHECK:             } else {
// CHECK:               vector.store %{{.*}}, %[[BAND]]
// CHECK:           scf.for %{{.*}} = %c0 to %c12 step %c4
// CHECK:             scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK-NOT:           scf.if
// CHECK-COUNT-18:      vector.load %[[BAND]]
// CHECK-NOT:           vector.load %[[BAND]]
// CHECK-COUNT-4:       vector.store %{{.*}} : memref<6x12x20xf32>
// CHECK:             %[[LEFT:.*]] = vector.constant_mask [4] : vector<8xi1>
// CHECK-COUNT-18:    vector.load %[[BAND]]
// CHECK-COUNT-4:     vector.maskedstore %{{.*}}, %[[LEFT]]
func.func @images() attributes {lowering_config = #images} {
  %x = plan.binding 0 read align 64 : memref<6x12x20xf32>
  %f = plan.binding 1 read align 64 : memref<6x3x3xf32>
  %y = plan.binding 2 write align 64 : memref<6x12x20xf32>
  %t = bufferization.to_tensor %x restrict : memref<6x12x20xf32> to tensor<6x12x20xf32>
  %v = bufferization.to_tensor %f restrict : memref<6x3x3xf32> to tensor<6x3x3xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  } : tensor<6x12x20xf32> to tensor<6x14x22xf32>
  %e = tensor.empty() : tensor<6x12x20xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<6x12x20xf32>) -> tensor<6x12x20xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, p, q, r, s) -> (c, p + r, q + s)>, affine_map<(c, p, q, r, s) -> (c, r, s)>,
                                        affine_map<(c, p, q, r, s) -> (c, p, q)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %v : tensor<6x14x22xf32>, tensor<6x3x3xf32>) outs(%z : tensor<6x12x20xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<6x12x20xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<6x12x20xf32>, memref<6x12x20xf32>) -> ()
  return
}

// -----

#images = #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 16, tile = 32768, strip = 2, band = 6>

// Elements a step apart, which lanes read, are next to each other in the copy.
// CHECK-LABEL: func.func @images_by_steps()
// CHECK:         %[[BAND:.*]] = memref.alloc() : memref<13x2x24xf32>
// CHECK:         %[[ELEMENTS:.*]] = scf.if %{{.*}} -> (vector<16xf32>)
// CHECK:         %[[EVEN:.*]] = vector.shuffle %[[ELEMENTS]], %[[ELEMENTS]] [0, 2, 4, 6, 8, 10, 12, 14]
// CHECK:         vector.store %[[EVEN]], %[[BAND]][%[[ROW:.*]], %c0, %[[PLACE:.*]]] : memref<13x2x24xf32>, vector<8xf32>
// CHECK:         %[[ODD:.*]] = vector.shuffle %[[ELEMENTS]], %[[ELEMENTS]] [1, 3, 5, 7, 9, 11, 13, 15]
// CHECK:         vector.store %[[ODD]], %[[BAND]][%[[ROW]], %c1, %[[PLACE]]]
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c2
// CHECK-COUNT-18:    vector.load %[[BAND]]
// CHECK-NOT:         vector.load %[[BAND]]
// CHECK-COUNT-2:     vector.store %{{.*}} : memref<6x6x10xf32>
func.func @images_by_steps() attributes {lowering_config = #images} {
  %x = plan.binding 0 read align 64 : memref<6x12x20xf32>
  %f = plan.binding 1 read align 64 : memref<6x3x3xf32>
  %y = plan.binding 2 write align 64 : memref<6x6x10xf32>
  %t = bufferization.to_tensor %x restrict : memref<6x12x20xf32> to tensor<6x12x20xf32>
  %v = bufferization.to_tensor %f restrict : memref<6x3x3xf32> to tensor<6x3x3xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  } : tensor<6x12x20xf32> to tensor<6x14x22xf32>
  %e = tensor.empty() : tensor<6x6x10xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<6x6x10xf32>) -> tensor<6x6x10xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, p, q, r, s) -> (c, p * 2 + r, q * 2 + s)>, affine_map<(c, p, q, r, s) -> (c, r, s)>,
                                        affine_map<(c, p, q, r, s) -> (c, p, q)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %v : tensor<6x14x22xf32>, tensor<6x3x3xf32>) outs(%z : tensor<6x6x10xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<6x6x10xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<6x6x10xf32>, memref<6x6x10xf32>) -> ()
  return
}

// -----

#images = #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 16, tile = 32768, strip = 2, band = 6>

// expected-error@+1 {{the reduction strategy with images needs windows that slide along the last kept dim, and all else along it, unlike kernel 'no_windows'}}
func.func @no_windows() attributes {lowering_config = #images} {
  %x = plan.binding 0 read align 64 : memref<100x64xf32>
  %y = plan.binding 1 write align 64 : memref<64xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x64xf32> to tensor<100x64xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%t : tensor<100x64xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
