// RUN: xc-opt %s -xc-cpu-lower-attention -canonicalize -cse -split-input-file | FileCheck %s --implicit-check-not=kernel.attention

#config = #cpu.few_queries<version = 1, tile = [3, 8], registers = 4, lanes = 4>

// One query of six heads, of which three share a head of keys: rows of a workgroup, two of them side by side. Lanes are elements of a key; the last
// two of ten come by a mask. The scores of eight keys exist at a time.
// CHECK-LABEL: func.func @decode()
// CHECK-SAME:    grid = [1, 2, 2]
// CHECK-DAG:     %[[KEYS:.*]] = plan.binding 1
// CHECK-DAG:     %[[VALUES:.*]] = plan.binding 2
// CHECK-DAG:     %[[QUERIES:.*]] = memref.alloc() : memref<3x12xf32>
// CHECK-DAG:     %[[SCORES:.*]] = memref.alloc() : memref<3x8xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c20 step %c8
// CHECK:             scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-4:       vector.load %[[KEYS]]
// CHECK-COUNT-2:       vector.load %[[QUERIES]]
// CHECK:             vector.maskedload %[[KEYS]]
// Sums of four keys' lanes become the lanes of one vector.
// CHECK:             vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6]
// CHECK:             vector.shuffle %{{.*}}, %{{.*}} [1, 3, 5, 7]
// CHECK:             arith.addf
// CHECK:             vector.store %{{.*}}, %[[SCORES]]
// CHECK:             vector.reduction <maximumf>
// CHECK:             math.exp %{{.*}} : vector<4xf32>
// CHECK:             vector.reduction <add>
// CHECK:             scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-2:       vector.load %[[VALUES]]
func.func @decode() attributes {lowering_config = #config} {
  %q = plan.binding 0 read align 64 : memref<2x6x1x10xf32>
  %k = plan.binding 1 read align 64 : memref<2x2x20x10xf32>
  %v = plan.binding 2 read align 64 : memref<2x2x20x8xf32>
  %y = plan.binding 3 write align 64 : memref<2x6x1x8xf32>
  %tq = bufferization.to_tensor %q restrict : memref<2x6x1x10xf32> to tensor<2x6x1x10xf32>
  %tk = bufferization.to_tensor %k restrict : memref<2x2x20x10xf32> to tensor<2x2x20x10xf32>
  %tv = bufferization.to_tensor %v restrict : memref<2x2x20x8xf32> to tensor<2x2x20x8xf32>
  %e = tensor.empty() : tensor<2x6x1x8xf32>
  %r = kernel.attention %tq, %tk, %tv into %e scale = 0.25
     : tensor<2x6x1x10xf32>, tensor<2x2x20x10xf32>, tensor<2x2x20x8xf32> into tensor<2x6x1x8xf32> -> tensor<2x6x1x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<2x6x1x8xf32>, memref<2x6x1x8xf32>) -> ()
  return
}

// -----

#config = #cpu.few_queries<version = 1, tile = [1, 8], registers = 4, lanes = 4>

// Keys in pages are read where they are: a page is looked up once for a key, and its number is clamped.
// CHECK-LABEL: func.func @pages()
// CHECK-DAG:     %[[PAGES:.*]] = plan.binding 1
// CHECK-DAG:     %[[TABLE:.*]] = plan.binding 3
// CHECK-NOT:     memref.alloc() : memref<8x4xf32>
// CHECK:         memref.load %[[TABLE]]
// CHECK:         arith.minsi %{{.*}}, %c8
// CHECK:         arith.maxsi %{{.*}}, %c0
// CHECK:         scf.for
// CHECK:           vector.load %[[PAGES]]
func.func @pages() attributes {lowering_config = #config} {
  %q = plan.binding 0 read align 64 : memref<2x1x1x8xf32>
  %k = plan.binding 1 read align 64 : memref<9x1x16x8xf32>
  %v = plan.binding 2 read align 64 : memref<9x1x16x8xf32>
  %t = plan.binding 3 read align 64 : memref<2x3xi32>
  %n = plan.binding 4 read align 64 : memref<2xi32>
  %y = plan.binding 5 write align 64 : memref<2x1x1x8xf32>
  %tq = bufferization.to_tensor %q restrict : memref<2x1x1x8xf32> to tensor<2x1x1x8xf32>
  %tk = bufferization.to_tensor %k restrict : memref<9x1x16x8xf32> to tensor<9x1x16x8xf32>
  %tv = bufferization.to_tensor %v restrict : memref<9x1x16x8xf32> to tensor<9x1x16x8xf32>
  %tt = bufferization.to_tensor %t restrict : memref<2x3xi32> to tensor<2x3xi32>
  %tn = bufferization.to_tensor %n restrict : memref<2xi32> to tensor<2xi32>
  %e = tensor.empty() : tensor<2x1x1x8xf32>
  %r = kernel.attention %tq, %tk, %tv table(%tt : tensor<2x3xi32>) lengths(%tn : tensor<2xi32>) into %e scale = 0.25
     : tensor<2x1x1x8xf32>, tensor<9x1x16x8xf32>, tensor<9x1x16x8xf32> into tensor<2x1x1x8xf32> -> tensor<2x1x1x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<2x1x1x8xf32>, memref<2x1x1x8xf32>) -> ()
  return
}
