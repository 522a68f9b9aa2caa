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
// CHECK-NEXT:    %[[SCORES:.*]] = tile.await %[[S]] after %[[READY]] pending 1 :
// CHECK-NEXT:    scf.if
// CHECK:           tile.release %{{.*}}[%{{.*}}] :
// CHECK:         tile.map(%[[SCORES]]
// CHECK:         %[[SUMS:.*]] = tile.await %[[O]] after %[[DONE]] keep %[[P]] : {{.*}} pending 0 :
// CHECK-NEXT:    tile.map(%[[SUMS]]
func.func @overlap(%q: !tile, %k: !tile, %v: !tile, %row: index, %before: !s, %p: !p, %leads: i1, %ring: !ring) -> (!s, !s) {
  %s, %ready = tile.dot %q[%row], %k k 64 : !tile, !tile -> !s
  %o, %done = tile.dot %p, %v accumulate %before : !s k 64 {transposed_b} : !p, !tile -> !s
  %sums = tile.await %o after %done : !s
  %scores = tile.await %s after %ready : !s
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
// CHECK:         %{{.*}}, %[[READY:.*]] = tile.dot
// CHECK-NEXT:    tile.await after %[[READY]] pending 0
// CHECK-NEXT:    tile.release %{{.*}}[%{{.*}}] :
func.func @only_released(%q: !tile, %row: index, %ring: !ring) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  tile.release %ring[%row] after %ready : !ring
  return
}

// So is one that is given back to another block of the cluster.
// CHECK-LABEL: func.func @released_in_cluster
// CHECK:         tile.dot
// CHECK-NEXT:    tile.await after %{{.*}} pending 0
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
// CHECK-NEXT:    tile.await %{{.*}} after %{{.*}} pending 0
func.func @chain(%q: !tile, %row: index) -> !s {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  %t, %done = tile.dot %q[%row], %q accumulate %s : !s k 64 : !tile, !tile -> !s
  %r = tile.await %t after %done : !s
  return %r : !s
}

// What barriers of no ring guard must have been read before others learn that they may store there, and before this thread does.
// CHECK-LABEL: func.func @overwritten
// CHECK:         tile.dot
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    %[[R:.*]] = tile.await %{{.*}} after %{{.*}} pending 0
// CHECK-NEXT:    gpu.barrier
// CHECK:         tile.dot
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    %[[S:.*]] = tile.await %{{.*}} after %{{.*}} pending 0
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      tile.write
// CHECK:         return %[[R]], %[[S]]
func.func @overwritten(%x: vector<8xbf16>, %row: index, %c: i1) -> (!s, !s) {
  %q = tile.alloc : !tile
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  %r = tile.await %s after %ready : !s
  %i = arith.addi %row, %row : index
  gpu.barrier
  %t, %done = tile.dot %q[%row], %q k 64 : !tile, !tile -> !s
  %u = tile.await %t after %done : !s
  %j = arith.addi %i, %row : index
  scf.if %c {
    tile.write %x to %q[%j, %j] : vector<8xbf16>, !tile
  }
  return %r, %u : !s, !s
}

// The next iteration waits for what a loop carries, when it has started its own product; operands in registers go along.
// CHECK-LABEL: func.func @pipelined
// CHECK:         %[[NONE:.*]] = tile.nothing
// CHECK:         %[[UNDEFINED:.*]] = tile.undefined : {{.*}}<64x64xbf16, operand>
// CHECK:         %[[LAST:.*]]:3 = scf.for {{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[NONE]], %[[KEPT:.*]] = %[[UNDEFINED]])
// CHECK:           %[[D:.*]], %[[STARTED:.*]] = tile.dot %[[P:.*]], %{{.*}} accumulate %[[SUMS]]
// CHECK-NEXT:      tile.await after %[[BEFORE]] keep %[[KEPT]] : {{.*}} pending 1
// CHECK-NEXT:      tile.release %{{.*}}[%{{[a-z0-9]+}}] :
// CHECK-NEXT:      scf.yield %[[D]], %[[STARTED]], %[[P]] :
// CHECK:         tile.await %[[LAST]]#0 after %[[LAST]]#1 keep %[[LAST]]#2 : {{.*}} pending 0 :
func.func @pipelined(%p: !p, %v: !tile, %none: !s, %i: index, %ring: !ring) -> !s {
  %nothing = tile.nothing
  %sums, %last = scf.for %j = %i to %i step %i iter_args(%each = %none, %before = %nothing) -> (!s, !tile.token) {
    %d, %started = tile.dot %p, %v accumulate %each : !s k 64 {transposed_b} : !p, !tile -> !s
    tile.release %ring[%j] after %before : !ring
    scf.yield %d, %started : !s, !tile.token
  }
  %done = tile.await %sums after %last : !s
  return %done : !s
}

// A stage that is given back before the second product starts is waited for there; the wait for both stays behind it.
// CHECK-LABEL: func.func @released_early
// CHECK:         %{{.*}}, %[[FIRST:.*]] = tile.dot
// CHECK-NEXT:    tile.await after %[[FIRST]] pending 0
// CHECK-NEXT:    tile.release
// CHECK-NEXT:    %{{.*}}, %[[SECOND:.*]] = tile.dot
// CHECK-NEXT:    %{{.*}}:2 = tile.await %{{.*}}, %{{.*}} after %[[FIRST]], %[[SECOND]] pending 0 :
// CHECK-NEXT:    return
func.func @released_early(%a: !tile, %i: index, %ring: !ring) -> (!s, !s) {
  %s, %first = tile.dot %a[%i], %a k 64 : !tile, !tile -> !s
  tile.release %ring[%i] after %first : !ring
  %t, %second = tile.dot %a[%i], %a k 64 : !tile, !tile -> !s
  %done:2 = tile.await %s, %t after %first, %second : !s, !s
  return %done#0, %done#1 : !s, !s
}

// A loop of one iteration may have become that iteration: the first one waits for no product.
// CHECK-LABEL: func.func @no_iteration_before
// CHECK-NOT:     tile.await
// CHECK:         tile.release
// CHECK-NOT:     tile.await
// CHECK:         return
func.func @no_iteration_before(%i: index, %ring: !ring) -> !s {
  %nothing = tile.nothing
  %none = tile.undefined : !s
  tile.release %ring[%i] after %nothing : !ring
  %done = tile.await %none after %nothing : !s
  return %done : !s
}

// One op waits for all products of a release, and an iteration may wait for its own ones beside those of the one before.
// CHECK-LABEL: func.func @halves
// CHECK:           %{{.*}}, %[[FIRST:.*]] = tile.dot
// CHECK-NEXT:      %{{.*}}, %[[OTHER:.*]] = tile.dot
// CHECK-NEXT:      tile.await after %[[A:.*]], %[[B:.*]] pending 2
// CHECK-NEXT:      tile.release
// CHECK-NEXT:      tile.dot
// CHECK-NEXT:      tile.dot
// CHECK-NEXT:      tile.await after %[[FIRST]], %[[OTHER]] pending 2
// CHECK-NEXT:      scf.yield
// CHECK:         tile.await %{{.*}}, %{{.*}} after %{{.*}}, %{{.*}} pending 0 :
func.func @halves(%a: !tile, %none: !s, %i: index, %ring: !ring) -> (!s, !s) {
  %nothing = tile.nothing
  %sums:4 = scf.for %j = %i to %i step %i iter_args(%x = %none, %y = %none, %s = %nothing, %t = %nothing) -> (!s, !s, !tile.token, !tile.token) {
    %d, %first = tile.dot %a[%i], %a accumulate %x : !s k 32 : !tile, !tile -> !s
    %e, %other = tile.dot %a[%i], %a accumulate %y : !s k 32 : !tile, !tile -> !s
    tile.release %ring[%j] after %s, %t : !ring
    %f, %third = tile.dot %a[%i], %a from 32 accumulate %d : !s k 32 : !tile, !tile -> !s
    %g, %fourth = tile.dot %a[%i], %a from 32 accumulate %e : !s k 32 : !tile, !tile -> !s
    tile.await after %first, %other
    scf.yield %f, %g, %third, %fourth : !s, !s, !tile.token, !tile.token
  }
  %done:2 = tile.await %sums#0, %sums#1 after %sums#2, %sums#3 : !s, !s
  return %done#0, %done#1 : !s, !s
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
    %r = tile.await %s after %ready : !tile.reg<64x64xf32, accumulator>
  }
  return
}

// -----

// Nobody waits for the last iteration's product.
func.func @never_after_loop(%a: !tile.shared<64x64xbf16>, %i: index, %ring: !tile.ring<2, !tile.shared<64x64xbf16>>) {
  %nothing = tile.nothing
  // expected-error @+1 {{expected its block to wait for it}}
  %last = scf.for %j = %i to %i step %i iter_args(%before = %nothing) -> (!tile.token) {
    %d, %started = tile.dot %a[%i], %a k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    tile.release %ring[%j] after %before : !tile.ring<2, !tile.shared<64x64xbf16>>
    scf.yield %started : !tile.token
  }
  return
}

// -----

// The second product is waited for, but nobody keeps the registers of the first one's operand until then.
func.func @forgotten_operand(%p: !tile.reg<64x64xbf16, operand>, %v: !tile.shared<64x64xbf16>, %i: index, %none: !tile.reg<64x64xf32, accumulator>) {
  %nothing = tile.nothing
  %sums, %last = scf.for %j = %i to %i step %i iter_args(%each = %none, %before = %nothing) -> (!tile.reg<64x64xf32, accumulator>, !tile.token) {
    // expected-error @+1 {{expected its block to wait for it, or to pass its token on, since it reads an operand in registers}}
    %d, %first = tile.dot %p, %v accumulate %each : !tile.reg<64x64xf32, accumulator> k 64
        : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    %e, %second = tile.dot %p, %v accumulate %d : !tile.reg<64x64xf32, accumulator> k 64
        : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    scf.yield %e, %second : !tile.reg<64x64xf32, accumulator>, !tile.token
  }
  %done = tile.await %sums after %last : !tile.reg<64x64xf32, accumulator>
  return
}
