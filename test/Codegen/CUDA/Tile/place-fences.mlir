// RUN: xc-opt %s -xc-cuda-place-waits -split-input-file | FileCheck %s

!s = !tile.reg<64x64xf32, accumulator>
!p = !tile.reg<64x64xbf16, operand>
!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
!map = !tile.tensor_map<64x64xbf16>
!memory = memref<?xbf16>
!chunk = vector<8xbf16>

// Those that stored fence it before they meet. What is computed in between does not wait.
// CHECK-LABEL: func.func @stored_by_boxes
// CHECK:         tile.write
// CHECK-NEXT:    tile.write_fragment
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    tile.fence_async
// CHECK-NEXT:    tile.sync_warpgroup
// CHECK-NOT:     tile.fence_async
// CHECK:         tile.store
func.func @stored_by_boxes(%map: !map, %x: !chunk, %y: vector<2xbf16>, %i: index, %leads: i1) {
  %tile = tile.alloc : !smem
  tile.sync_warpgroup %i
  tile.write %x to %tile[%i, %i] : !chunk, !smem
  tile.write_fragment %y, %y, %y, %y to %tile[%i, %i] : vector<2xbf16>, !smem
  %j = arith.addi %i, %i : index
  tile.sync_warpgroup %i
  scf.if %leads {
    tile.store %tile[%i] panel 0 to %map[%i, %j] : !smem, !map
  }
  return
}

// What threads alone read needs none, though products read another tile.
// CHECK-LABEL: func.func @read_by_threads
// CHECK-NOT:     tile.fence_async
// CHECK:         return
func.func @read_by_threads(%x: !chunk, %p: !p, %i: index) -> (!chunk, !s) {
  %tile = tile.alloc : !smem
  %other = tile.alloc : !smem
  tile.write %x to %tile[%i, %i] : !chunk, !smem
  gpu.barrier
  %y = tile.read_elements %tile[%i, %i] : !smem -> !chunk
  %s, %t = tile.dot %p, %other k 64 : !p, !smem -> !s
  %r = tile.await %s after %t : !s
  return %y, %r : !chunk, !s
}

// One thread's own stores: the box is the first that must see them.
// CHECK-LABEL: func.func @own_stores
// CHECK:         tile.write
// CHECK-NEXT:    tile.fence_async
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    return
func.func @own_stores(%map: !map, %x: !chunk, %i: index) {
  %tile = tile.alloc : !smem
  tile.write %x to %tile[%i, %i] : !chunk, !smem
  tile.store %tile[%i] panel 0 to %map[%i, %i] : !smem, !map
  return
}

// Whoever stores for another role fences before its warp meets, since one lane publishes for all of them.
// CHECK-LABEL: func.func @published
// CHECK:         tile.wait_empty
// CHECK-NEXT:    tile.write
// CHECK-NEXT:    tile.fence_async
// CHECK-NEXT:    tile.sync_warp
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      tile.publish
// CHECK-NOT:     tile.fence_async
// CHECK:         tile.dot
func.func @published(%x: !chunk, %p: !p, %i: index, %loads: i1, %leads: i1) {
  %ring = tile.ring arrivals 4 consumers 1 : !ring
  scf.if %loads {
    %slot = tile.slot %ring[%i] 0 : !ring -> !smem
    tile.wait_empty %ring[%i] phase %i : !ring
    tile.write %x to %slot[%i, %i] : !chunk, !smem
    tile.sync_warp
    scf.if %leads {
      tile.publish %ring[%i] bytes 0 : !ring
    }
  } else {
    %slot = tile.slot %ring[%i] 0 : !ring -> !smem
    tile.wait_full %ring[%i] phase %i : !ring
    %s, %t = tile.dot %p, %slot k 64 : !p, !smem -> !s
    tile.release %ring[%i] after %t : !ring
  }
  return
}

// Stores at the end of an iteration meet others at the beginning of the next one, or behind the loop.
// CHECK-LABEL: func.func @round_a_loop
// CHECK:         scf.for
// CHECK-NEXT:      tile.fence_async
// CHECK-NEXT:      gpu.barrier
// CHECK:           tile.write
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.fence_async
// CHECK-NEXT:    gpu.barrier
func.func @round_a_loop(%x: !chunk, %p: !p, %i: index) -> !s {
  %tile = tile.alloc : !smem
  scf.for %j = %i to %i step %i {
    gpu.barrier
    %s, %t = tile.dot %p, %tile k 64 : !p, !smem -> !s
    %r = tile.await %s after %t : !s
    gpu.barrier
    tile.write %x to %tile[%i, %i] : !chunk, !smem
  }
  gpu.barrier
  %s, %t = tile.dot %p, %tile k 64 : !p, !smem -> !s
  %r = tile.await %s after %t : !s
  return %r : !s
}

// All come to the barrier, also those that took the branch without a fence.
// CHECK-LABEL: func.func @branches
// CHECK:         scf.if
// CHECK:           tile.fence_async
// CHECK-NEXT:      tile.sync_warp
// CHECK-NEXT:    } else {
// CHECK-NEXT:      tile.write
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.fence_async
// CHECK-NEXT:    gpu.barrier
func.func @branches(%x: !chunk, %p: !p, %i: index, %c: i1) {
  %tile = tile.alloc : !smem
  scf.if %c {
    tile.write %x to %tile[%i, %i] : !chunk, !smem
    tile.sync_warp
  } else {
    tile.write %x to %tile[%i, %i] : !chunk, !smem
  }
  gpu.barrier
  %s, %t = tile.dot %p, %tile k 64 : !p, !smem -> !s
  %r = tile.await %s after %t : !s
  return
}

// A fence in the text is one.
// CHECK-LABEL: func.func @by_hand
// CHECK-COUNT-1: tile.fence_async
// CHECK-NOT:     tile.fence_async
// CHECK:         return
func.func @by_hand(%map: !map, %x: !chunk, %i: index) {
  %tile = tile.alloc : !smem
  tile.write %x to %tile[%i, %i] : !chunk, !smem
  tile.fence_async
  gpu.barrier
  tile.store %tile[%i] panel 0 to %map[%i, %i] : !smem, !map
  return
}

// Copies store when they are waited for: the wait has the fence, if a product reads what it returns. Queries go to registers.
// CHECK-LABEL: func.func @copied
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 1 : {{.*}}<64x64xbf16>
// CHECK-NEXT:    tile.read
// CHECK-NEXT:    tile.await_copies %{{.*}} after %{{.*}} pending 0 fenced : {{.*}}<64x64xbf16>
// CHECK-NOT:     tile.fence_async
// CHECK:         tile.await
// CHECK-NEXT:    tile.copy
// CHECK-NEXT:    tile.await_copies %{{.*}} after %{{.*}} pending 0 : {{.*}}<64x64xbf16>
func.func @copied(%m: !memory, %i: index) -> !s {
  %q = tile.alloc : !smem
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %slot = tile.slot %ring[%i] 0 : !ring -> !smem
  %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %q threads 128 : !memory to !smem
  %1 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %slot threads 128 : !memory to !smem
  %queries = tile.await_copies %q after %0 : !smem
  %p = tile.read %queries[%i] : !smem -> !p
  %keys = tile.await_copies %slot after %1 : !smem
  %s, %t = tile.dot %p, %keys k 64 : !p, !smem -> !s
  %r = tile.await %s after %t : !s
  %2 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %slot threads 128 : !memory to !smem
  %last = tile.await_copies %slot after %2 : !smem
  return %r : !s
}

// Stores that a wait for copies tells others of.
// CHECK-LABEL: func.func @stores_beside_copies
// CHECK:         tile.write
// CHECK-NEXT:    tile.await_copies %{{.*}} after %{{.*}} pending 0 fenced :
func.func @stores_beside_copies(%m: !memory, %map: !map, %x: !chunk, %i: index) -> !p {
  %q = tile.alloc : !smem
  %tile = tile.alloc : !smem
  %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %q threads 128 : !memory to !smem
  tile.write %x to %tile[%i, %i] : !chunk, !smem
  %queries = tile.await_copies %q after %0 : !smem
  %p = tile.read %queries[%i] : !smem -> !p
  tile.store %tile[%i] panel 0 to %map[%i, %i] : !smem, !map
  return %p : !p
}

// Operands of f64 that are read for the next iteration stay at the end of this one.
// CHECK-LABEL: func.func @doubles
// CHECK:         tile.read_operand
// CHECK:         tile.fence_reads
// CHECK-NEXT:    scf.for
// CHECK:           tile.read_operand
// CHECK-NEXT:      tile.fence_reads
// CHECK-NEXT:      scf.yield
// CHECK-NOT:     tile.fence_reads
// CHECK:         return
func.func @doubles(%t: !tile.shared<64x16xf64, even>, %h: !tile.shared<64x32xbf16, lines>, %i: index) -> !tile.warp<16x8xf64, first> {
  %a = tile.read_operand %t[%i, %i] : !tile.shared<64x16xf64, even> -> !tile.warp<16x8xf64, first>
  %r = scf.for %j = %i to %i step %i iter_args(%b = %a) -> !tile.warp<16x8xf64, first> {
    %n = tile.read_operand %t[%j, %i] : !tile.shared<64x16xf64, even> -> !tile.warp<16x8xf64, first>
    scf.yield %n : !tile.warp<16x8xf64, first>
  }
  %c = tile.read_operand %h[%i, %i] : !tile.shared<64x32xbf16, lines> -> !tile.warp<16x16xbf16, first>
  %s = scf.for %j = %i to %i step %i iter_args(%b = %c) -> !tile.warp<16x16xbf16, first> {
    %n = tile.read_operand %h[%j, %i] : !tile.shared<64x32xbf16, lines> -> !tile.warp<16x16xbf16, first>
    scf.yield %n : !tile.warp<16x16xbf16, first>
  }
  return %r : !tile.warp<16x8xf64, first>
}

// -----

// mma.sync reads as threads do.
// CHECK-LABEL: module @ampere
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} pending 0 : {{.*}}<64x64xbf16>
builtin.module @ampere attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @copied(%m: memref<?xbf16>, %p: !tile.reg<64x64xbf16, operand>, %i: index) -> !tile.reg<64x64xf32, accumulator> {
    %k = tile.alloc : !tile.shared<64x64xbf16>
    %0 = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !tile.shared<64x64xbf16>
    %keys = tile.await_copies %k after %0 : !tile.shared<64x64xbf16>
    %s, %t = tile.dot %p, %keys k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
    return %r : !tile.reg<64x64xf32, accumulator>
  }
}
