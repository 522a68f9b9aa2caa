// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

!a = !tile.shared<128x32xbf16, lines>
!b = !tile.shared<32x128xbf16, lines>
!ring = !tile.ring<3, !a, !b>
!first = !tile.warp<16x16xbf16, first>
!second = !tile.warp<16x64xbf16, second>
!sums = !tile.warp<16x64xf32, accumulator>

// CHECK-LABEL: func.func @product
// CHECK:         %[[ROW:.*]], %[[COLUMN:.*]] = tile.warp_place columns 4
// CHECK:         %[[LINE:.*]], %[[AT:.*]] = tile.share 1 of 32 width 8 threads 256
// CHECK:         tile.start_copy %{{.*}}[%{{.*}}] distance 4096 inside %{{.*}} to %[[SLOT:.*]][%[[LINE]], %[[AT]]] width 8 : memref<?xbf16> to <128x32xbf16, lines>
// CHECK:         %[[TOKEN:.*]] = tile.commit_copies
// CHECK:         %[[TILES:.*]]:2 = tile.await_copies %[[SLOT]], %{{.*}} after %[[TOKEN]], %[[TOKEN]] : !tile.shared<128x32xbf16, lines>, !tile.shared<32x128xbf16, lines>
// CHECK:         %[[A:.*]] = tile.read_operand %[[TILES]]#0[%[[ROW]], %{{.*}}] : <128x32xbf16, lines> -> <16x16xbf16, first>
// CHECK:         %[[B:.*]] = tile.read_operand %[[TILES]]#1[%[[COLUMN]], %{{.*}}] transposed : <32x128xbf16, lines> -> <16x64xbf16, second>
// CHECK:         tile.fence_reads
// CHECK:         %[[ZEROS:.*]] = tile.splat %{{.*}} : f32 -> !tile.warp<16x64xf32, accumulator>
// CHECK:         %[[SUMS:.*]] = tile.multiply %[[A]], %[[B]], %[[ZEROS]] : <16x16xbf16, first>, <16x64xbf16, second>, <16x64xf32, accumulator>
// CHECK:         tile.map(%[[SUMS]], %[[ZEROS]] : !tile.warp<16x64xf32, accumulator>, !tile.warp<16x64xf32, accumulator>)
// CHECK:         tile.drain_copies
// CHECK:         tile.reuse %{{.*}} 1 : <3, <128x32xbf16, lines>, <32x128xbf16, lines>> -> <64x64xbf16, lines>
// CHECK:         tile.pair_place of !tile.warp<16x64xf32, accumulator>
// CHECK:         tile.fragment %{{.*}}[8, 1] : !tile.warp<16x64xf32, accumulator> -> vector<2xf32>
// CHECK:         tile.sync_warp
func.func @product(%m: memref<?xbf16>, %i: index, %inside: i1, %zero: f32) -> vector<2xf32> {
  %row, %column = tile.warp_place columns 4
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %sa = tile.slot %ring[%i] 0 : !ring -> !a
  %sb = tile.slot %ring[%i] 1 : !ring -> !b
  %line, %at = tile.share 1 of 32 width 8 threads 256
  tile.start_copy %m[%i] distance 4096 inside %inside to %sa[%line, %at] width 8 : memref<?xbf16> to !a
  %token = tile.commit_copies
  %ta, %tb = tile.await_copies %sa, %sb after %token, %token : !a, !b
  %a = tile.read_operand %ta[%row, %i] : !a -> !first
  %b = tile.read_operand %tb[%column, %i] transposed : !b -> !second
  tile.fence_reads
  %zeros = tile.splat %zero : f32 -> !sums
  %sums = tile.multiply %a, %b, %zeros : !first, !second, !sums
  %both = tile.map (%sums, %zeros : !sums, !sums) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  } : !sums
  tile.drain_copies
  %staging = tile.reuse %ring 1 : !ring -> !tile.shared<64x64xbf16, lines>
  %pair_row, %pair_column = tile.pair_place of !sums
  %pair = tile.fragment %both[8, 1] : !sums -> vector<2xf32>
  tile.sync_warp
  return %pair : vector<2xf32>
}

// CHECK-LABEL: func.func @bytes
// CHECK:         tile.patch 0 of !tile.shared<64x64xi8, patches> threads 128
// CHECK:         tile.multiply %{{.*}}, %{{.*}}, %{{.*}} {unsigned_a} : <16x32xi8, first>, <32x16xi8, second>, <16x16xi32, accumulator>
func.func @bytes(%t: !tile.shared<64x64xi8, patches>, %i: index, %sums: !tile.warp<16x16xi32, accumulator>) -> !tile.warp<16x16xi32, accumulator> {
  %line, %at = tile.patch 0 of !tile.shared<64x64xi8, patches> threads 128
  %a = tile.read_operand %t[%line, %at] : !tile.shared<64x64xi8, patches> -> !tile.warp<16x32xi8, first>
  %b = tile.read_operand %t[%i, %i] : !tile.shared<64x64xi8, patches> -> !tile.warp<32x16xi8, second>
  %r = tile.multiply %a, %b, %sums {unsigned_a} : !tile.warp<16x32xi8, first>, !tile.warp<32x16xi8, second>, !tile.warp<16x16xi32, accumulator>
  return %r : !tile.warp<16x16xi32, accumulator>
}

// CHECK-LABEL: func.func @single
// CHECK:         tile.round_tf32 %{{.*}} : vector<4xf32>
// CHECK:         tile.read_operand %{{.*}}[%{{.*}}, %{{.*}}] transposed tf32 : <32x64xf32, even> -> <16x8xf32, first>
func.func @single(%t: !tile.shared<32x64xf32, even>, %i: index, %v: vector<4xf32>) -> (!tile.warp<16x8xf32, first>, vector<4xf32>) {
  %r = tile.round_tf32 %v : vector<4xf32>
  %a = tile.read_operand %t[%i, %i] transposed tf32 : !tile.shared<32x64xf32, even> -> !tile.warp<16x8xf32, first>
  return %a, %r : !tile.warp<16x8xf32, first>, vector<4xf32>
}

// CHECK-LABEL: func.func @double
// CHECK:         %[[A:.*]] = tile.read_operand %{{.*}}[%{{.*}}, %{{.*}}] transposed single : <16x64xf64, pairs> -> <16x8xf64, first, paired>
// CHECK:         tile.await_copies %{{.*}} after %{{.*}} hold %[[A]] : !tile.warp<16x8xf64, first, paired> pending 1 : !tile.shared<64x16xf64, halves>
// CHECK:         tile.retire_copies 0 hold %{{.*}} : f64
func.func @double(%t: !tile.shared<16x64xf64, pairs>, %u: !tile.shared<64x16xf64, halves>, %i: index, %x: f64)
    -> (!tile.warp<16x8xf64, first, paired>, f64) {
  %a = tile.read_operand %t[%i, %i] transposed single : !tile.shared<16x64xf64, pairs> -> !tile.warp<16x8xf64, first, paired>
  %token = tile.commit_copies
  %v, %later = tile.await_copies %u after %token hold %a : !tile.warp<16x8xf64, first, paired> pending 1 : !tile.shared<64x16xf64, halves>
  %y = tile.retire_copies 0 hold %x : f64
  return %later, %y : !tile.warp<16x8xf64, first, paired>, f64
}
