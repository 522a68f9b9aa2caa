// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

!acc = !tile.reg<64x128xf32, accumulator>
!out = !tile.reg<64x64xf32, accumulator>
!operand = !tile.reg<64x128xbf16, operand>

// CHECK-LABEL: func.func @values
// CHECK:         tile.splat %{{.*}} : f32 -> !tile.reg<64x128xf32, accumulator>
// CHECK:         tile.map(%{{.*}}, %{{.*}} : !tile.reg<64x128xf32, accumulator>, !tile.rows<f32>) at(%{{.*}}, %{{.*}}) {
// CHECK:         ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK:         } : !tile.reg<64x128xf32, accumulator>
// CHECK:         tile.reduce_rows max %{{.*}}, %{{.*}} : {{[!a-z.]*}}<64x128xf32, accumulator>, {{[!a-z.]*}}<f32, partial>
// CHECK:         tile.combine_rows max %{{.*}} : {{[!a-z.]*}}<f32, partial> -> {{[!a-z.]*}}<f32>
// CHECK:         tile.convert_layout %{{.*}} : {{[!a-z.]*}}<64x128xf32, accumulator> -> {{[!a-z.]*}}<64x128xbf16, operand>
// CHECK:         tile.each %{{.*}} at(%{{.*}}, %{{.*}}) : !tile.rows<f32>
func.func @values(%x: f32, %first: index, %m: memref<?xf32>) -> !operand {
  %t = tile.splat %x : f32 -> !acc
  %r = tile.splat %x : f32 -> !tile.rows<f32>
  %p = tile.splat %x : f32 -> !tile.rows<f32, partial>
  %s = tile.map (%t, %r : !acc, !tile.rows<f32>) at (%first, %first) {
  ^bb0(%a: f32, %b: f32, %row: index, %column: index):
    %seen = arith.cmpi sle, %column, %row : index
    %y = arith.select %seen, %a, %b : f32
    tile.yield %y : f32
  } : !acc
  %part = tile.reduce_rows max %s, %p : !acc, !tile.rows<f32, partial>
  %whole = tile.combine_rows max %part : !tile.rows<f32, partial> -> !tile.rows<f32>
  %o = tile.convert_layout %s : !acc -> !operand
  tile.each %whole at (%first, %first) : !tile.rows<f32> {
  ^bb0(%sum: f32, %row: index):
    memref.store %sum, %m[%row] : memref<?xf32>
    tile.yield
  }
  return %o : !operand
}

// CHECK-LABEL: func.func @products
// CHECK:         %[[S:.*]], %[[READY:.*]] = tile.dot %{{.*}}[%{{.*}}], %{{.*}} k 64 : {{[!a-z.]*}}<128x64xbf16>, {{[!a-z.]*}}<128x64xbf16> -> {{[!a-z.]*}}<64x128xf32, accumulator>
// CHECK:         tile.await %[[S]] after %[[READY]] : {{[!a-z.]*}}<64x128xf32, accumulator>
// CHECK:         tile.dot %{{.*}}, %{{.*}} accumulate %{{.*}} : !tile.reg<64x64xf32, accumulator> k 128 {transposed_b}
// CHECK:         tile.release %{{.*}}[%{{.*}}] after %{{.*}} :
func.func @products(%q: !tile.shared<128x64xbf16>, %k: !tile.shared<128x64xbf16>, %v: !tile.shared<128x64xbf16>, %row: index, %sums: !out,
                    %ring: !tile.ring<2, !tile.shared<128x64xbf16>>) -> !out {
  %s, %ready = tile.dot %q[%row], %k k 64 : !tile.shared<128x64xbf16>, !tile.shared<128x64xbf16> -> !acc
  %scores = tile.await %s after %ready : !acc
  %p = tile.convert_layout %scores : !acc -> !operand
  %o, %done = tile.dot %p, %v accumulate %sums : !out k 128 {transposed_b} : !operand, !tile.shared<128x64xbf16> -> !out
  tile.release %ring[%row] after %done : !tile.ring<2, !tile.shared<128x64xbf16>>
  %r = tile.await %o after %done : !out
  return %r : !out
}

// CHECK-LABEL: func.func @schedule
// CHECK:         tile.roles counts [1, 2] registers [24, 240] {
// CHECK:         tile.barrier_sync %{{.*}} threads 256
// CHECK:         tile.barrier_arrive %{{.*}} threads 256
func.func @schedule() {
  tile.roles counts [1, 2] registers [24, 240] {
  ^bb0(%loader: index):
    tile.yield
  }, {
  ^bb0(%consumer: index):
    tile.barrier_sync %consumer threads 256
    tile.barrier_arrive %consumer threads 256
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @lowered
// CHECK:         tile.issue sums() a %{{.*}}[%{{.*}}] words() b %{{.*}} columns 8 k 16 : {{[!a-z.]*}}<8x64xbf16>, {{[!a-z.]*}}<64x64xbf16> -> f32, f32, f32, f32
// CHECK:         tile.issue sums(%{{.*}} : f32, f32, f32, f32) words(%{{.*}} : i32, i32, i32, i32) b %{{.*}} columns 8 k 16 : {{[!a-z.]*}}<8x64xbf16> ->
// CHECK:         tile.retire 1 sums(%{{.*}} : f32, f32, f32, f32) words(%{{.*}} : i32) -> f32, f32, f32, f32
func.func @lowered(%a: !tile.shared<64x64xbf16>, %b: !tile.shared<8x64xbf16>, %row: index, %w: i32) {
  %r:4 = tile.issue sums() a %a[%row] words() b %b columns 8 k 16 : !tile.shared<8x64xbf16>, !tile.shared<64x64xbf16> -> f32, f32, f32, f32
  %s:4 = tile.issue sums(%r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32) words(%w, %w, %w, %w : i32, i32, i32, i32) b %b columns 8 k 16
    : !tile.shared<8x64xbf16> -> f32, f32, f32, f32
  %t:4 = tile.retire 1 sums(%s#0, %s#1, %s#2, %s#3 : f32, f32, f32, f32) words(%w : i32) -> f32, f32, f32, f32
  return
}

// CHECK-LABEL: func.func @vectors
// CHECK:         tile.each %{{.*}} at(%{{.*}}, %{{.*}}) width 8 : !tile.reg<64x16xbf16, accumulator> {
// CHECK:         ^bb0(%{{.*}}: vector<8xbf16>, %{{.*}}: index, %{{.*}}: index):
func.func @vectors(%t: !tile.reg<64x16xbf16, accumulator>, %i: index) {
  tile.each %t at (%i, %i) width 8 : !tile.reg<64x16xbf16, accumulator> {
  ^bb0(%x: vector<8xbf16>, %row: index, %column: index):
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @release_in_cluster
// CHECK:         tile.release_in %{{.*}}[%{{.*}}] block %{{.*}} after %{{.*}} :
func.func @release_in_cluster(%q: !tile.shared<64x64xbf16>, %row: index, %ring: !tile.ring<2, !tile.shared<64x64xbf16>>) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  tile.release_in %ring[%row] block %row after %ready : !tile.ring<2, !tile.shared<64x64xbf16>>
  return
}

// CHECK-LABEL: func.func @columns
// CHECK:         tile.map() at(%{{.*}}, %{{.*}}) {
// CHECK:         } : !tile.columns<128, f32>
// CHECK:         tile.map(%{{.*}}, %{{.*}} : !tile.reg<64x128xf32, accumulator>, !tile.columns<128, f32>) {
func.func @columns(%t: !acc, %first: index, %m: memref<?xf32>) -> !acc {
  %c = tile.map () at (%first, %first) {
  ^bb0(%row: index, %column: index):
    %x = memref.load %m[%column] : memref<?xf32>
    tile.yield %x : f32
  } : !tile.columns<128, f32>
  %s = tile.map (%t, %c : !acc, !tile.columns<128, f32>) {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    tile.yield %y : f32
  } : !acc
  return %s : !acc
}

// CHECK-LABEL: func.func @pairs
// CHECK:         tile.map(%{{.*}}, %{{.*}} : !tile.reg<64x128xf32, accumulator>, !tile.rows<f32>) at(%{{.*}}, %{{.*}}) width 2 {
// CHECK:         ^bb0(%{{.*}}: vector<2xf32>, %{{.*}}: f32, %{{.*}}: index, %{{.*}}: index):
func.func @pairs(%t: !acc, %r: !tile.rows<f32>, %first: index) -> !acc {
  %s = tile.map (%t, %r : !acc, !tile.rows<f32>) at (%first, %first) width 2 {
  ^bb0(%a: vector<2xf32>, %b: f32, %row: index, %column: index):
    %both = vector.broadcast %b : f32 to vector<2xf32>
    %y = arith.addf %a, %both : vector<2xf32>
    tile.yield %y : vector<2xf32>
  } : !acc
  return %s : !acc
}

// A stage is full by a wait of one thread, by one in front of a loop, by one of the iteration before, or by one for the same number.
// CHECK-LABEL: func.func @full_stages
// CHECK-COUNT-4: tile.dot
func.func @full_stages(%q: !tile.reg<64x64xbf16, operand>, %i: index, %leads: i1) {
  %c2 = arith.constant 2 : index
  %ring = tile.ring arrivals 1 consumers 1 : !tile.ring<2, !tile.shared<64x64xbf16>>
  %first = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
  scf.if %leads {
    tile.wait_full %ring[%i] phase %i : !tile.ring<2, !tile.shared<64x64xbf16>>
  }
  %s, %t = tile.dot %q, %first k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !out
  %r = tile.await %s after %t : !out
  %end = scf.for %j = %i to %c2 step %c2 iter_args(%stage = %i) -> index {
    %s0, %t0 = tile.dot %q, %first k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !out
    %slot = tile.slot %ring[%stage] 0 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
    %s1, %t1 = tile.dot %q, %slot k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !out
    %next = arith.remui %j, %c2 : index
    tile.wait_full %ring[%next] phase %i : !tile.ring<2, !tile.shared<64x64xbf16>>
    %same = arith.remui %j, %c2 : index
    %other = tile.slot %ring[%same] 0 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
    %s2, %t2 = tile.dot %q, %other k 64 : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !out
    %r0 = tile.await %s0 after %t0 : !out
    %r1 = tile.await %s1 after %t1 : !out
    %r2 = tile.await %s2 after %t2 : !out
    scf.yield %next : index
  }
  return
}
