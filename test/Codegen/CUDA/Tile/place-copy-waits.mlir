// RUN: xc-opt %s -xc-cuda-place-waits -split-input-file -verify-diagnostics | FileCheck %s

!smem = !tile.shared<64x64xbf16>
!memory = memref<?xbf16>

// Two copies follow the first, and none the last.
// CHECK-LABEL: func.func @in_order
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 2 :
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 0 :
func.func @in_order(%m: !memory, %i: index, %a: !smem, %b: !smem, %c: !smem) {
  %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %a threads 128 : !memory to !smem
  %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
  %2 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %c threads 128 : !memory to !smem
  %x = tile.await_copies %a after %0 : !smem
  %y:2 = tile.await_copies %b, %c after %1, %2 : !smem, !smem
  return
}

// The same token comes along two paths, and only one of them starts another copy.
// CHECK-LABEL: func.func @paths
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 0 :
func.func @paths(%m: !memory, %i: index, %c: i1, %a: !smem, %b: !smem) {
  %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %a threads 128 : !memory to !smem
  %t = scf.if %c -> !tile.token {
    %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
    scf.yield %0 : !tile.token
  } else {
    scf.yield %0 : !tile.token
  }
  %x = tile.await_copies %a after %t : !smem
  return
}

// Tokens that go round a loop: whichever copy it was, one other has been started since. Behind the loop it may have had no iterations.
// CHECK-LABEL: func.func @loop
// CHECK:         scf.for
// CHECK:           tile.await_copies %{{.*}} after %{{.*}} pending 1 :
// CHECK:         tile.await_copies %{{.*}}, %{{.*}} after %{{.*}} pending 0 :
func.func @loop(%m: !memory, %i: index, %a: !smem, %b: !smem) {
  %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %a threads 128 : !memory to !smem
  %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
  %r:2 = scf.for %j = %i to %i step %i iter_args(%t = %0, %u = %1) -> (!tile.token, !tile.token) {
    %x = tile.await_copies %a after %t : !smem
    %n = tile.copy %m[%j] stride %i rows %i of %i columns 64 to %a threads 128 : !memory to !smem
    scf.yield %u, %n : !tile.token, !tile.token
  }
  %y:2 = tile.await_copies %a, %b after %r#0, %r#1 : !smem, !smem
  return
}

// Groups of copies of vectors count as copies of tiles do: of three stages, one may be under way.
// CHECK-LABEL: func.func @groups
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 1 :
// CHECK:         scf.for
// CHECK:           tile.await_copies %{{.*}} after %{{.*}} pending 1 :
func.func @groups(%m: !memory, %i: index, %c: i1, %a: !tile.shared<64x64xbf16, lines>) {
  %0 = tile.commit_copies
  %1 = tile.commit_copies
  %x = tile.await_copies %a after %0 : !tile.shared<64x64xbf16, lines>
  %r = scf.for %j = %i to %i step %i iter_args(%t = %1) -> !tile.token {
    tile.start_copy %m[%j] distance 0 inside %c to %a[%i, %i] width 8 : !memory to !tile.shared<64x64xbf16, lines>
    %n = tile.commit_copies
    %y = tile.await_copies %a after %t : !tile.shared<64x64xbf16, lines>
    scf.yield %n : !tile.token
  }
  return
}

// Only what both sides start is sure to have been started.
// CHECK-LABEL: func.func @branch
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 1 :
func.func @branch(%m: !memory, %i: index, %c: i1, %a: !smem, %b: !smem) {
  %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %a threads 128 : !memory to !smem
  scf.if %c {
    %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
    %2 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
  } else {
    %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
  }
  scf.if %c {
    %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %b threads 128 : !memory to !smem
  }
  %x = tile.await_copies %a after %0 : !smem
  return
}

// -----

// A target without wgmma: products are there at once, and nobody waits for them.
// CHECK-LABEL: module @ampere
// CHECK:         %[[S:.*]], %{{.*}} = tile.dot %{{.*}}, %{{.*}} k 64 {synchronous} :
// CHECK-NOT:     tile.await
// CHECK:         return %[[S]]
builtin.module @ampere attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @product(%q: !tile.reg<64x64xbf16, operand>, %k: !tile.shared<64x64xbf16>) -> !tile.reg<64x64xf32, accumulator> {
    %s, %t = tile.dot %q, %k k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    %x = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
    return %x : !tile.reg<64x64xf32, accumulator>
  }
}

// -----

func.func @argument(%t: !tile.token, %a: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected tokens of copies that come by loops and branches alone}}
  %x = tile.await_copies %a after %t : !tile.shared<64x64xbf16>
  return
}
