// RUN: xc-opt %s -xc-cuda-place-waits -split-input-file -verify-diagnostics | FileCheck %s

!s = !tile.reg<64x64xf32, accumulator>
!p = !tile.reg<64x64xbf16, operand>
!tile = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>

// The scores may be read while the other product is under way; its stage is given back before, so that is where the wait is. The
// operand in registers is kept to where its product is done.
// CHECK-LABEL: func.func @overlap
// CHECK:         %[[S:.*]], %[[READY:.*]] = tile.dot
// CHECK-NEXT:    %[[O:.*]], %[[DONE:.*]] = tile.dot %[[P:[a-z0-9]+]], %
// CHECK-NEXT:    %[[SCORES:.*]] = tile.await %[[S]], %[[READY]] pending 1 :
// CHECK-NEXT:    scf.if
// CHECK:           tile.release %{{.*}}[%{{.*}}] :
// CHECK:         tile.map(%[[SCORES]]
// CHECK:         %[[SUMS:.*]] = tile.await %[[O]], %[[DONE]] keep %[[P]] : {{.*}} pending 0 :
// CHECK-NEXT:    tile.map(%[[SUMS]]
func.func @overlap(%q: !tile, %k: !tile, %v: !tile, %row: index, %before: !s, %p: !p, %leads: i1, %ring: !ring) -> (!s, !s) {
  %s, %ready = tile.dot %q[%row], %k k 64 : !tile, !tile -> !s
  %o, %done = tile.dot %p, %v accumulate %before : !s k 64 {transposed_b} : !p, !tile -> !s
  %sums = tile.await %o, %done : !s
  %scores = tile.await %s, %ready : !s
  scf.if %leads {
    tile.release %ring[%row] after %ready : !ring
  }
  %x = tile.map (%scores : !s) {
  ^bb0(%e: f32):
    %d = arith.addf %e, %e : f32
    tile.yield %d : f32
  } : !s
  %y = tile.map (%sums : !s) {
  ^bb0(%e: f32):
    %d = arith.addf %e, %e : f32
    tile.yield %d : f32
  } : !s
  return %x, %y : !s, !s
}

// A stage that is given back is waited for, whether anybody reads the product or not.
// CHECK-LABEL: func.func @only_released
// CHECK:         %[[S:.*]], %[[READY:.*]] = tile.dot
// CHECK-NEXT:    tile.await %[[S]], %[[READY]] pending 0
// CHECK-NEXT:    tile.release %{{.*}}[%{{.*}}] :
func.func @only_released(%q: !tile, %row: index, %ring: !ring) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  tile.release %ring[%row] after %ready : !ring
  return
}

// So is one that is given back to another block of the cluster.
// CHECK-LABEL: func.func @released_in_cluster
// CHECK:         tile.dot
// CHECK-NEXT:    tile.await %{{.*}}, %{{.*}} pending 0
// CHECK-NEXT:    tile.release_in %{{.*}}[%{{.*}}] block %{{[a-z0-9]+}} :
func.func @released_in_cluster(%q: !tile, %row: index, %ring: !ring) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  tile.release_in %ring[%row] block %row after %ready : !ring
  return
}

// The first product is a sum of the second one, which is waited for.
// CHECK-LABEL: func.func @chain
// CHECK:         tile.dot
// CHECK-NEXT:    tile.dot
// CHECK-NEXT:    tile.await %{{.*}}, %{{.*}} pending 0
func.func @chain(%q: !tile, %row: index) -> !s {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  %t, %done = tile.dot %q[%row], %q accumulate %s : !s k 64 : !tile, !tile -> !s
  %r = tile.await %t, %done : !s
  return %r : !s
}

// What barriers of no ring guard must have been read before others learn that they may store there, and before this thread does.
// CHECK-LABEL: func.func @overwritten
// CHECK:         tile.dot
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    %[[R:.*]] = tile.await %{{.*}}, %{{.*}} pending 0
// CHECK-NEXT:    gpu.barrier
// CHECK:         tile.dot
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    %[[S:.*]] = tile.await %{{.*}}, %{{.*}} pending 0
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      tile.write
// CHECK:         return %[[R]], %[[S]]
func.func @overwritten(%x: vector<8xbf16>, %row: index, %c: i1) -> (!s, !s) {
  %q = tile.alloc : !tile
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  %r = tile.await %s, %ready : !s
  %i = arith.addi %row, %row : index
  gpu.barrier
  %t, %done = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  %u = tile.await %t, %done : !s
  %j = arith.addi %i, %row : index
  scf.if %c {
    tile.write %x to %q[%j, %j] : vector<8xbf16>, !tile
  }
  return %r, %u : !s, !s
}

// -----

func.func @never(%q: !tile.shared<64x64xbf16>, %row: index) {
  // expected-error @+1 {{expected its block to wait for it}}
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @elsewhere(%q: !tile.shared<64x64xbf16>, %row: index, %c: i1) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  scf.if %c {
    // expected-error @+1 {{expected to be in the block of the product that it waits for}}
    %r = tile.await %s, %ready : !tile.reg<64x64xf32, accumulator>
  }
  return
}
