// RUN: xc-opt %s -xc-cpu-lower-attention -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s --implicit-check-not=kernel.attention

#config = #cpu.attention<version = 1, tile = [8, 6], registers = [2, 4], lanes = 8>

// A workgroup has eight queries of one head. Scores of six keys exist at a time.
// CHECK-LABEL: func.func @causal()
// CHECK-SAME:    grid = [2, 4, 2]
// CHECK-DAG:     %[[KEYS:.*]] = plan.binding 1
// CHECK-DAG:     %[[QUERIES:.*]] = memref.alloc() : memref<16x8xf32>
// CHECK-DAG:     %[[SCORES:.*]] = memref.alloc() : memref<6x8xf32>
// CHECK-DAG:     %[[SUMS:.*]] = memref.alloc() : memref<4x8xf32>
// Keys behind the last one that any of the queries sees are not visited.
// CHECK:         %[[LATEST:.*]] = arith.addi %{{.*}}, %c8
// CHECK:         %[[SEEN:.*]] = arith.addi %[[LATEST]], %{{.*}}
// CHECK:         %[[END:.*]] = arith.minsi %[[SEEN]], %c20
// CHECK:         scf.for %{{.*}} = %c0 to %[[END]] step %c6 {{.*}} -> (vector<8xf32>, vector<8xf32>)
// Scores of two keys in registers.
// CHECK:           scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK:             vector.load %[[QUERIES]]
// CHECK-COUNT-2:     memref.load %[[KEYS]]
// CHECK:           vector.store %{{.*}}, %[[SCORES]]
// Later keys are hidden from the queries, which are lanes.
// CHECK:           arith.cmpi sle, %{{.*}} : vector<8xindex>
// CHECK:           arith.maximumf %{{.*}} : vector<8xf32>
// CHECK:           math.exp %{{.*}} : vector<8xf32>
// CHECK:           vector.load %[[SUMS]]
// CHECK:           math.fma
// CHECK:           vector.store %{{.*}}, %[[SUMS]]
// CHECK:         arith.divf %{{.*}} : vector<8xf32>
func.func @causal() attributes {lowering_config = #config} {
  %q = plan.binding 0 read align 64 : memref<2x4x12x16xf32>
  %k = plan.binding 1 read align 64 : memref<2x2x20x16xf32>
  %v = plan.binding 2 read align 64 : memref<2x2x20x4xf32>
  %y = plan.binding 3 write align 64 : memref<2x4x12x4xf32>
  %tq = bufferization.to_tensor %q restrict : memref<2x4x12x16xf32> to tensor<2x4x12x16xf32>
  %tk = bufferization.to_tensor %k restrict : memref<2x2x20x16xf32> to tensor<2x2x20x16xf32>
  %tv = bufferization.to_tensor %v restrict : memref<2x2x20x4xf32> to tensor<2x2x20x4xf32>
  %e = tensor.empty() : tensor<2x4x12x4xf32>
  %r = kernel.attention %tq, %tk, %tv causal into %e scale = 0.25
     : tensor<2x4x12x16xf32>, tensor<2x2x20x16xf32>, tensor<2x2x20x4xf32> into tensor<2x4x12x4xf32> -> tensor<2x4x12x4xf32>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<2x4x12x4xf32>, memref<2x4x12x4xf32>) -> ()
  return
}

// -----

#config = #cpu.attention<version = 1, tile = [8, 6], registers = [2, 4], lanes = 8>

// Keys and values of 16 bits are widened a block at a time, and weights have their type. A mask with a row for each
// query is read as it lies, into a block of its own.
// CHECK-LABEL: func.func @narrow()
// CHECK-DAG:     %[[KEYS:.*]] = memref.alloc() : memref<6x16xf32>
// CHECK:         arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK:         vector.store %{{.*}}, %[[KEYS]]
// CHECK:         arith.cmpi ne, %{{.*}}, %{{.*}} : i8
// CHECK:         arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @narrow() attributes {lowering_config = #config} {
  %q = plan.binding 0 read align 64 : memref<1x16x16xf16>
  %k = plan.binding 1 read align 64 : memref<1x20x16xf16>
  %m = plan.binding 2 read align 64 : memref<16x20xi8>
  %y = plan.binding 3 write align 64 : memref<1x16x16xf16>
  %tq = bufferization.to_tensor %q restrict : memref<1x16x16xf16> to tensor<1x16x16xf16>
  %tk = bufferization.to_tensor %k restrict : memref<1x20x16xf16> to tensor<1x20x16xf16>
  %tm = bufferization.to_tensor %m restrict : memref<16x20xi8> to tensor<16x20xi8>
  %e = tensor.empty() : tensor<1x16x16xf16>
  %r = kernel.attention %tq, %tk, %tk mask(%tm : tensor<16x20xi8>) into %e scale = 0.25
     : tensor<1x16x16xf16>, tensor<1x20x16xf16>, tensor<1x20x16xf16> into tensor<1x16x16xf16> -> tensor<1x16x16xf16>
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<1x16x16xf16>, memref<1x16x16xf16>) -> ()
  return
}

// -----

#config = #cpu.attention<version = 1, tile = [8, 6], registers = [2, 4], lanes = 8>

// expected-error@+1 {{the attention strategy does not fit kernel 'no_attention': it has no attention}}
func.func @no_attention() attributes {lowering_config = #config} {
  %x = plan.binding 0 read align 64 : memref<100xf32>
  %y = plan.binding 1 write align 64 : memref<100xf32>
  %t = bufferization.to_tensor %x restrict : memref<100xf32> to tensor<100xf32>
  bufferization.materialize_in_destination %t in restrict writable %y : (tensor<100xf32>, memref<100xf32>) -> ()
  return
}
