// RUN: xc-opt %s -xc-cuda-lower-schedule | FileCheck %s --implicit-check-not=tile.

// CHECK-LABEL: func.func @roles
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[GROUP:.*]] = arith.divui %[[THREAD]]
// CHECK:         %[[FIRST:.*]] = arith.cmpi ult, %[[GROUP]]
// CHECK:         scf.if %[[FIRST]] {
// CHECK:           nvvm.setmaxregister decrease 40
// CHECK:         } else {
// CHECK:           nvvm.setmaxregister increase 232
// CHECK:           %[[OWN:.*]] = arith.subi %[[GROUP]]
// CHECK:           memref.store %[[OWN]]
func.func @roles(%m: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  tile.roles counts [1, 2] registers [40, 232] {
  ^bb0(%loader: index):
    tile.yield
  }, {
  ^bb0(%warpgroup: index):
    memref.store %warpgroup, %m[%c0] : memref<1xindex>
    tile.yield
  }
  return
}

// Roles that need no registers of others keep theirs.
// CHECK-LABEL: func.func @equal_registers
// CHECK-NOT:     nvvm.setmaxregister
func.func @equal_registers() {
  tile.roles counts [1, 1] {
  ^bb0(%loader: index):
    tile.yield
  }, {
  ^bb0(%warpgroup: index):
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @persistent
// CHECK-SAME:    (%[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[B:[^:]*]]: index
// CHECK:         %[[ONE:.*]] = arith.muli %[[M]], %[[N]]
// CHECK:         %[[ALL:.*]] = arith.muli %[[ONE]], %[[B]]
// CHECK:         %[[BLOCK:.*]] = plan.workgroup_id x
// CHECK:         %[[GRID:.*]] = gpu.grid_dim x
// CHECK:         scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[ALL]] step %[[GRID]] iter_args(%{{.*}} = %{{.*}}) -> (index) {
// CHECK:           arith.divui %[[TILE]], %[[ONE]]
// CHECK:           %[[IN:.*]] = arith.remui %[[TILE]], %[[ONE]]
// CHECK:           arith.minui
// CHECK:           scf.yield
func.func @persistent(%m: index, %n: index, %b: index, %init: index) -> index {
  %last = tile.persistent (%m, %n, %b) raster 8 carry (%init : index) {
  ^bb0(%row: index, %column: index, %batch: index, %current: index):
    %sum = arith.addi %row, %column : index
    %next = arith.addi %sum, %batch : index
    tile.yield %next : index
  } -> index
  return %last : index
}

// Threads of the second half of the consumers pass over the block's first tile, and take every second one.
// CHECK-LABEL: func.func @turns
// CHECK-SAME:    %[[TURN:[^:]*]]: index)
// CHECK:         %[[BLOCK:.*]] = plan.workgroup_id x
// CHECK:         %[[GRID:.*]] = gpu.grid_dim x
// CHECK:         %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         %[[SKIPPED:.*]] = arith.muli %[[TURN]], %[[GRID]]
// CHECK:         %[[FIRST:.*]] = arith.addi %[[BLOCK]], %[[SKIPPED]]
// CHECK:         %[[STEP:.*]] = arith.muli %[[GRID]], %[[TWO]]
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
func.func @turns(%m: index, %n: index, %b: index, %half: index) {
  tile.persistent (%m, %n, %b) raster 8 first %half every 2 {
  ^bb0(%row: index, %column: index, %batch: index):
    tile.yield
  }
  return
}

// Every second wave of tiles goes backwards: the hop to the next tile is that to the end of the wave and back, at either end in turn.
// CHECK-LABEL: func.func @serpentine
// CHECK-SAME:    (%[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[B:[^:]*]]: index, %[[INIT:[^:]*]]: index
// CHECK:         %[[ALL:.*]] = arith.muli %{{.*}}, %[[B]]
// CHECK:         %[[BLOCK:.*]] = plan.workgroup_id x
// CHECK:         %[[GRID:.*]] = gpu.grid_dim x
// CHECK:         %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[LAST:.*]] = arith.subi %[[GRID]], %[[ONE]]
// CHECK:         %[[LEFT:.*]] = arith.subi %[[LAST]], %[[BLOCK]]
// CHECK:         %[[TWICE:.*]] = arith.addi %[[LEFT]], %[[LEFT]]
// CHECK:         %[[HOP:.*]] = arith.addi %[[TWICE]], %[[ONE]]
// CHECK:         %[[BEFORE:.*]] = arith.addi %[[BLOCK]], %[[BLOCK]]
// CHECK:         %[[BACK:.*]] = arith.addi %[[BEFORE]], %[[ONE]]
// CHECK:         scf.while (%[[TILE:.*]] = %[[BLOCK]], %{{.*}} = %[[HOP]], %{{.*}} = %[[BACK]], %{{.*}} = %[[INIT]])
// CHECK:           arith.cmpi ult, %[[TILE]], %[[ALL]]
// CHECK:         } do {
// CHECK:         ^bb0(%[[NUMBER:[^:]*]]: index, %[[NEXT:[^:]*]]: index, %[[OTHER:[^:]*]]: index
// CHECK:           arith.divui %[[NUMBER]]
// CHECK:           %[[AFTER:.*]] = arith.addi %[[NUMBER]], %[[NEXT]]
// CHECK:           scf.yield %[[AFTER]], %[[OTHER]], %[[NEXT]], %{{.*}}
func.func @serpentine(%m: index, %n: index, %b: index, %init: index) -> index {
  %last = tile.persistent (%m, %n, %b) raster 8 serpentine carry (%init : index) {
  ^bb0(%row: index, %column: index, %batch: index, %current: index):
    %next = arith.addi %current, %row : index
    tile.yield %next : index
  } -> index
  return %last : index
}
