// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-fold-grids,canonicalize))" | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-fold-grids{limit=100},canonicalize))" | FileCheck %s --check-prefix=LOW

// As many blocks as hardware launches are left alone.
// CHECK-LABEL: func.func @enough
// CHECK-SAME:    grid = [2147483647, 1, 1]
// CHECK-NOT:     scf.for
// LOW-LABEL: func.func @enough
// LOW-SAME:    grid = [100, 1, 1]
func.func @enough() attributes {cuda.index_bits = 64 : i32, plan.launch = #plan.launch_config<grid = [2147483647, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
  %x = plan.binding 0 write align 64 : memref<2147483647xf32>
  %zero = arith.constant 0.0 : f32
  %b = plan.workgroup_id x : index
  memref.store %zero, %x[%b] : memref<2147483647xf32>
  return
}

// -----

// One more, and each block does the work of two at most.
// CHECK-LABEL: func.func @one_more
// CHECK-SAME:    grid = [1073741824, 1, 1]
// CHECK-DAG:     %[[X:.*]] = plan.binding 0
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant 2147483648 : index
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 1073741824 : index
// CHECK-DAG:     %[[FIRST:.*]] = plan.workgroup_id x
// CHECK:         scf.for %[[B:.*]] = %[[FIRST]] to %[[COUNT]] step %[[STEP]] {
// CHECK-NEXT:      memref.store %{{.*}}, %[[X]][%[[B]]]
// CHECK-NEXT:    }
func.func @one_more() attributes {cuda.index_bits = 64 : i32, plan.launch = #plan.launch_config<grid = [2147483648, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
  %x = plan.binding 0 write align 64 : memref<2147483648xf32>
  %zero = arith.constant 0.0 : f32
  %b = plan.workgroup_id x : index
  memref.store %zero, %x[%b] : memref<2147483648xf32>
  return
}

// -----

// A symbolic number may be too large, and shared memory is used again in the next iteration.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME:    grid = [(s0 ceildiv 4) ceildiv ((s0 ceildiv 4) floordiv 2147483647 + 1), 1, 1]
// CHECK:         %[[SHARED:.*]] = memref.alloc()
// CHECK:         %[[FIRST:.*]] = plan.workgroup_id x
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %{{.*}} {
// CHECK:           memref.store %{{.*}}, %[[SHARED]]
// CHECK:           gpu.barrier
// CHECK:           memref.load %[[SHARED]]
// CHECK:           scf.if
// CHECK-NEXT:        memref.store
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }
// LOW-LABEL: func.func @symbolic
// LOW-SAME:    grid = [(s0 ceildiv 4) ceildiv ((s0 ceildiv 4) floordiv 100 + 1), 1, 1]
func.func @symbolic() attributes {cuda.index_bits = 64 : i32, plan.launch = #plan.launch_config<grid = [s0 ceildiv 4, 1, 1], block = [4, 1, 1], cluster = [1, 1, 1], shared = 16, scratch = 0>} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 write align 64 sizes(%n) : memref<?xf32>
  %four = arith.constant 4 : index
  %three = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %shared = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<4xf32, #gpu.address_space<workgroup>>
  %b = plan.workgroup_id x : index
  %t = gpu.thread_id x
  memref.store %one, %shared[%t] : memref<4xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %other = arith.subi %three, %t : index
  %v = memref.load %shared[%other] : memref<4xf32, #gpu.address_space<workgroup>>
  %p = arith.muli %b, %four : index
  %q = arith.addi %p, %t : index
  %inside = arith.cmpi slt, %q, %n : index
  scf.if %inside {
    memref.store %v, %x[%q] : memref<?xf32>
  }
  return
}

// -----

// Narrow indices say that there are fewer elements than that.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME:    grid = [s0, 1, 1]
// CHECK-NOT:     scf.for
// LOW-LABEL: func.func @narrow
// LOW:         scf.for
func.func @narrow() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [s0, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 write align 64 sizes(%n) : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %b = plan.workgroup_id x : index
  memref.store %zero, %x[%b] : memref<?xf32>
  return
}

// -----

// So are tiles.
// CHECK-LABEL: func.func @tiles
// CHECK:         scf.for
// CHECK:           tile.ring
// CHECK:           tile.read_elements
// CHECK:           memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }
func.func @tiles() attributes {cuda.index_bits = 64 : i32, plan.launch = #plan.launch_config<grid = [s0, 1, 1], block = [32, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>} {
  %n = plan.scalar 0 : index
  %x = plan.binding 0 write align 64 sizes(%n) : memref<?xbf16>
  %zero = arith.constant 0 : index
  %b = plan.workgroup_id x : index
  %ring = tile.ring arrivals 0 consumers 0 : !tile.ring<2, !tile.shared<64x64xbf16, lines>>
  %t = tile.slot %ring[%zero] 0 : !tile.ring<2, !tile.shared<64x64xbf16, lines>> -> !tile.shared<64x64xbf16, lines>
  %e = tile.read_elements %t[%zero, %zero] : !tile.shared<64x64xbf16, lines> -> bf16
  memref.store %e, %x[%b] : memref<?xbf16>
  return
}
