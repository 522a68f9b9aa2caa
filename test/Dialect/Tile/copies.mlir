// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>

// CHECK-LABEL: func.func @copies
// CHECK:         tile.ring arrivals 0 consumers 0 :
// CHECK:         %[[T:.*]] = tile.copy %{{.*}}[%{{.*}}] stride %{{.*}} rows %{{.*}} of %{{.*}} columns 40 to %[[SLOT:.*]] threads 128 : memref<?xbf16> to
// CHECK:         %[[K:.*]] = tile.await_copies %[[SLOT]] after %[[T]] : !tile.shared<64x64xbf16>
// CHECK:         %[[Q:.*]] = tile.read %[[K]][%{{.*}}] : <64x64xbf16> -> <64x48xbf16, operand>
// CHECK:         tile.dot %[[Q]], %[[K]] k 48 {synchronous} :
// CHECK:         tile.issue_copy %{{.*}}[%{{.*}}] stride %{{.*}} rows %{{.*}} of %{{.*}} columns 40 to %{{.*}} threads 128 : memref<?xbf16> to
// CHECK:         tile.copy {{.*}} threads 128 pages %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] of memref<?xi32> : memref<?xbf16> to
// CHECK:         tile.issue_copy {{.*}} threads 128 pages %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] of memref<?xi64> : memref<?xbf16> to
// CHECK:         tile.retire_copies 2
// CHECK-NEXT:    tile.retire_copies 0 fenced
// CHECK-NEXT:    tile.await_copies %[[SLOT]] after %[[T]] pending 1 fenced : !tile.shared<64x64xbf16>
// CHECK:         tile.read_words %{{.*}}[%{{.*}}] : {{.*}} -> i32, i32, i32, i32
func.func @copies(%memory: memref<?xbf16>, %i: index, %table: memref<?xi32>, %wide: memref<?xi64>) -> !tile.reg<64x64xf32, accumulator> {
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %slot = tile.slot %ring[%i] 0 : !ring -> !smem
  %t = tile.copy %memory[%i] stride %i rows %i of %i columns 40 to %slot threads 128 : memref<?xbf16> to !smem
  %k = tile.await_copies %slot after %t : !smem
  %q = tile.read %k[%i] : !smem -> !tile.reg<64x48xbf16, operand>
  %s, %ready = tile.dot %q, %k k 48 {synchronous} : !tile.reg<64x48xbf16, operand>, !smem -> !tile.reg<64x64xf32, accumulator>
  %other = tile.alloc : !smem
  tile.issue_copy %memory[%i] stride %i rows %i of %i columns 40 to %other threads 128 : memref<?xbf16> to !smem
  %more = tile.slot %ring[%i] 0 : !ring -> !smem
  %u = tile.copy %memory[%i] stride %i rows %i of %i columns 40 to %more threads 128 pages %table[%i, %i, %i, %i] of memref<?xi32> : memref<?xbf16> to !smem
  tile.issue_copy %memory[%i] stride %i rows %i of %i columns 40 to %other threads 128 pages %wide[%i, %i, %i, %i] of memref<?xi64> : memref<?xbf16> to !smem
  tile.retire_copies 2
  tile.retire_copies 0 fenced
  %again = tile.await_copies %slot after %t pending 1 fenced : !smem
  %w:4 = tile.read_words %k[%i] : !smem -> i32, i32, i32, i32
  return %s : !tile.reg<64x64xf32, accumulator>
}
