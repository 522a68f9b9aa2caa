// RUN: xc-opt %s -xc-cuda-hoist-loads | FileCheck %s

// CHECK-LABEL: func.func @gather_loads_first(
// CHECK:         %[[A:.*]] = memref.load
// CHECK:         %[[B:.*]] = memref.load
// CHECK:         math.exp %[[A]]
// CHECK:         math.exp %[[B]]
func.func @gather_loads_first(%i: index, %j: index) -> (f32, f32) {
  %x = plan.binding 0 read align 64 : memref<64xf32>
  %a = memref.load %x[%i] : memref<64xf32>
  %ea = math.exp %a : f32
  %k = arith.addi %i, %j : index
  %b = memref.load %x[%k] : memref<64xf32>
  %eb = math.exp %b : f32
  return %ea, %eb : f32, f32
}

// CHECK-LABEL: func.func @not_above_a_store(
// CHECK:         memref.store
// CHECK:         memref.load
func.func @not_above_a_store(%i: index, %v: f32) -> f32 {
  %x = plan.binding 0 read_write align 64 : memref<64xf32>
  memref.store %v, %x[%i] : memref<64xf32>
  %e = math.exp %v : f32
  %a = memref.load %x[%i] : memref<64xf32>
  %r = arith.addf %e, %a : f32
  return %r : f32
}

// The address of the second load comes from the first one.
// CHECK-LABEL: func.func @gather(
// CHECK:         %[[AT:.*]] = memref.load
// CHECK:         %[[INDEX:.*]] = arith.index_cast %[[AT]]
// CHECK:         memref.load %{{.*}}[%[[INDEX]]]
func.func @gather(%i: index) -> f32 {
  %x = plan.binding 0 read align 64 : memref<64xf32>
  %p = plan.binding 1 read align 64 : memref<64xi32>
  %at = memref.load %p[%i] : memref<64xi32>
  %k = arith.index_cast %at : i32 to index
  %a = memref.load %x[%k] : memref<64xf32>
  return %a : f32
}
