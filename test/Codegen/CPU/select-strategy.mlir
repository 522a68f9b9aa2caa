// RUN: xc-opt %s -xc-cpu-normalize-kernel -xc-cpu-select-strategy=arch=x86-64-v3 -split-input-file | FileCheck %s
// RUN: xc-opt %s -xc-cpu-normalize-kernel -xc-cpu-select-strategy=arch=x86-64-v4 -split-input-file | FileCheck %s --check-prefix=V4

// A function of few registers' width of each element is computed at a time where math functions need registers too.
// CHECK-LABEL: func.func @exp()
// CHECK-SAME:    lowering_config = #cpu.elementwise<version = 1, lanes = 16, chunk = 16384, tile = 16384>
// CHECK-SAME:    plan.reason = "elementwise: 16 lanes"
// V4-LABEL:    func.func @exp()
// V4-SAME:       lanes = 32
func.func @exp() {
  %x = plan.binding 0 read align 64 : memref<1000xf32>
  %y = plan.binding 1 write align 64 : memref<1000xf32>
  %t = bufferization.to_tensor %x restrict : memref<1000xf32> to tensor<1000xf32>
  %e = tensor.empty() : tensor<1000xf32>
  %r = linalg.exp ins(%t : tensor<1000xf32>) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<1000xf32>, memref<1000xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @transpose()
// CHECK-SAME:    chunk = 128
// CHECK-SAME:    transposed reads in tiles
func.func @transpose() {
  %x = plan.binding 0 read align 64 : memref<100x200xf32>
  %y = plan.binding 1 write align 64 : memref<200x100xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x200xf32> to tensor<100x200xf32>
  %e = tensor.empty() : tensor<200x100xf32>
  %r = linalg.transpose ins(%t : tensor<100x200xf32>) outs(%e : tensor<200x100xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<200x100xf32>, memref<200x100xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @row_sum()
// CHECK-SAME:    #cpu.reduction<version = 1, direction = "rows"
// CHECK-SAME:    plan.reason = "reduction by rows: 1 of 2 dims kept, 2 phases, 32 lanes"
func.func @row_sum() {
  %x = plan.binding 0 read align 64 : memref<100x200xf32>
  %y = plan.binding 1 write align 64 : memref<100xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x200xf32> to tensor<100x200xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<100x200xf32>) outs(%z : tensor<100xf32>) dimensions = [1]
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<100xf32>, memref<100xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @column_sum()
// CHECK-SAME:    #cpu.reduction<version = 1, direction = "panels"
func.func @column_sum() {
  %x = plan.binding 0 read align 64 : memref<100x200xf32>
  %y = plan.binding 1 write align 64 : memref<200xf32>
  %t = bufferization.to_tensor %x restrict : memref<100x200xf32> to tensor<100x200xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<100x200xf32>) outs(%z : tensor<200xf32>) dimensions = [0]
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<200xf32>, memref<200xf32>) -> ()
  return
}

// -----

// 12 accumulators fill the 16 registers of AVX2, 24 the 32 of AVX-512.
// CHECK-LABEL: func.func @matmul()
// CHECK-SAME:    #cpu.matmul<version = 1, tile = [372, 128, 300], registers = [6, 16], lanes = 8>
// V4-LABEL:    func.func @matmul()
// V4-SAME:       registers = [12, 32], lanes = 16>
func.func @matmul() {
  %x = plan.binding 0 read align 64 : memref<1100x300xf32>
  %w = plan.binding 1 read align 64 : memref<300x512xf32>
  %y = plan.binding 2 write align 64 : memref<1100x512xf32>
  %t = bufferization.to_tensor %x restrict : memref<1100x300xf32> to tensor<1100x300xf32>
  %u = bufferization.to_tensor %w restrict : memref<300x512xf32> to tensor<300x512xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1100x512xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<1100x512xf32>) -> tensor<1100x512xf32>
  %r = linalg.matmul ins(%t, %u : tensor<1100x300xf32>, tensor<300x512xf32>) outs(%z : tensor<1100x512xf32>) -> tensor<1100x512xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<1100x512xf32>, memref<1100x512xf32>) -> ()
  return
}

// -----

// A product with a vector does not pay for packing.
// CHECK-LABEL: func.func @matvec()
// CHECK-SAME:    #cpu.reduction<version = 1, direction = "panels"
func.func @matvec() {
  %x = plan.binding 0 read align 64 : memref<1x300xf32>
  %w = plan.binding 1 read align 64 : memref<300x512xf32>
  %y = plan.binding 2 write align 64 : memref<1x512xf32>
  %t = bufferization.to_tensor %x restrict : memref<1x300xf32> to tensor<1x300xf32>
  %u = bufferization.to_tensor %w restrict : memref<300x512xf32> to tensor<300x512xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x512xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<1x512xf32>) -> tensor<1x512xf32>
  %r = linalg.matmul ins(%t, %u : tensor<1x300xf32>, tensor<300x512xf32>) outs(%z : tensor<1x512xf32>) -> tensor<1x512xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<1x512xf32>, memref<1x512xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @scan()
// CHECK-SAME:    #cpu.lines<version = 1, tile = 8192>
// CHECK-SAME:    plan.reason = "lines: workgroups share those of kernel.scan"
func.func @scan() {
  %x = plan.binding 0 read align 64 : memref<64x9xf32>
  %y = plan.binding 1 write align 64 : memref<64x9xf32>
  %t = bufferization.to_tensor %x restrict : memref<64x9xf32> to tensor<64x9xf32>
  %e = tensor.empty() : tensor<64x9xf32>
  %r = kernel.scan sum, %t into %e axis = 1 : tensor<64x9xf32> into tensor<64x9xf32> -> tensor<64x9xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<64x9xf32>, memref<64x9xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @dense_constant()
// CHECK-SAME:    #cpu.generic<version = 1>
// CHECK-SAME:    plan.reason = "generic: plain loops in one workgroup, since no strategy takes arith.constant"
func.func @dense_constant() {
  %y = plan.binding 0 write align 64 : memref<2xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.exp ins(%c : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<2xf32>, memref<2xf32>) -> ()
  return
}

// -----

// What is there is obeyed.
// CHECK-LABEL: func.func @by_hand()
// CHECK-SAME:    lowering_config = #cpu.elementwise<version = 1, lanes = 4, chunk = 64, tile = 64>
// CHECK-NOT:     plan.reason
func.func @by_hand() attributes {lowering_config = #cpu.elementwise<version = 1, lanes = 4, chunk = 64, tile = 64>} {
  return
}

// -----

// To ask how many rows there are, padded ones, changes nothing but the attributes.
// CHECK-LABEL: func.func @padded_rows()
// CHECK-SAME:    direction = "rows"
// CHECK-NOT:     affine.apply
// CHECK:         materialize_in_destination
// CHECK-NEXT:    return
func.func @padded_rows() {
  %n = plan.scalar 0 : index
  %m = plan.scalar 1 : index
  %x = plan.binding 0 read align 64 sizes(%n) : memref<?x200xf32>
  %y = plan.binding 1 write align 64 sizes(%m) : memref<?xf32>
  %t = bufferization.to_tensor %x restrict : memref<?x200xf32> to tensor<?x200xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[0, 1] high[2, 1] { ^bb0(%i: index, %j: index): tensor.yield %c : f32 } : tensor<?x200xf32> to tensor<?x202xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<?x202xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// -----

// Lanes along rows of the image: half a vector of AVX-512 would be more than a row. The last rows of a band are as many as the others.
// CHECK-LABEL: func.func @image_rows()
// CHECK-SAME:    #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 24, tile = 32768, strip = 4, band = 12>
// V4-LABEL:    func.func @image_rows()
// V4-SAME:       lanes = 16, chunk = 32, tile = 32768, strip = 6, band = 12>
func.func @image_rows() {
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

// CHECK-LABEL: func.func @short_image_rows()
// CHECK-SAME:    lanes = 8, chunk = 8, tile = 32768, strip = 3, band = 6>
// V4-LABEL:    func.func @short_image_rows()
// V4-SAME:       lanes = 8, chunk = 8, tile = 32768, strip = 6, band = 6>
func.func @short_image_rows() {
  %x = plan.binding 0 read align 64 : memref<6x12x14xf32>
  %f = plan.binding 1 read align 64 : memref<6x3x3xf32>
  %y = plan.binding 2 write align 64 : memref<6x6x7xf32>
  %t = bufferization.to_tensor %x restrict : memref<6x12x14xf32> to tensor<6x12x14xf32>
  %v = bufferization.to_tensor %f restrict : memref<6x3x3xf32> to tensor<6x3x3xf32>
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %t low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  } : tensor<6x12x14xf32> to tensor<6x14x16xf32>
  %e = tensor.empty() : tensor<6x6x7xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<6x6x7xf32>) -> tensor<6x6x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, p, q, r, s) -> (c, p * 2 + r, q * 2 + s)>, affine_map<(c, p, q, r, s) -> (c, r, s)>,
                                        affine_map<(c, p, q, r, s) -> (c, p, q)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %v : tensor<6x14x16xf32>, tensor<6x3x3xf32>) outs(%z : tensor<6x6x7xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
  } -> tensor<6x6x7xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<6x6x7xf32>, memref<6x6x7xf32>) -> ()
  return
}

// -----

// Windows beside each other that are vectors of their own: lanes lie along them.
// CHECK-LABEL: func.func @windows_apart()
// CHECK-SAME:    direction = "rows"
// V4-LABEL:    func.func @windows_apart()
// V4-SAME:       direction = "rows"
func.func @windows_apart() {
  %x = plan.binding 0 read align 64 : memref<6x320xf32>
  %y = plan.binding 1 write align 64 : memref<6x20xf32>
  %t = bufferization.to_tensor %x restrict : memref<6x320xf32> to tensor<6x320xf32>
  %c = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<16xi8>
  %e = tensor.empty() : tensor<6x20xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<6x20xf32>) -> tensor<6x20xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, q, s) -> (c, q * 16 + s)>, affine_map<(c, q, s) -> (s)>, affine_map<(c, q, s) -> (c, q)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t, %w : tensor<6x320xf32>, tensor<16xi8>) outs(%z : tensor<6x20xf32>) {
    ^bb0(%a: f32, %b: i8, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<6x20xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<6x20xf32>, memref<6x20xf32>) -> ()
  return
}
