// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-DAG: #[[UPPER:.*]] = affine_map<() -> (-1, 0)>
// CHECK-DAG: #[[OPEN:.*]] = affine_map<()[s0, s1] -> (s1 * 2 - s0 - 2, -1)>

// CHECK-LABEL: func.func @ring
// CHECK:         tile.tensor_map %{{.*}} {sizes = {{.*}}, strides = {{.*}}} : memref<524288xbf16> -> {{.*}}<128x64xbf16>
// CHECK:         tile.ring arrivals 1 consumers 2 : {{.*}}<4, {{.*}}<128x64xbf16>, {{.*}}<64x256xbf16>>
// CHECK:         tile.slot %{{.*}}[%{{.*}}] 1 :
// CHECK:         tile.wait_empty %{{.*}}[%{{.*}}] phase %{{.*}} :
// CHECK:         tile.publish %{{.*}}[%{{.*}}] bytes 16384 :
// CHECK:         tile.load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} signal %{{.*}}[%{{.*}}] :
// CHECK:         tile.wait_full
// CHECK:         tile.release
func.func @ring(%a: memref<524288xbf16>, %stage: index, %phase: index) {
  %map = tile.tensor_map %a {sizes = affine_map<() -> (1024, 512)>, strides = affine_map<() -> (512, 1)>} : memref<524288xbf16> -> !tile.tensor_map<128x64xbf16>
  %ring = tile.ring arrivals 1 consumers 2 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>>
  %slot = tile.slot %ring[%stage] 0 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>> -> !tile.shared<128x64xbf16>
  %other = tile.slot %ring[%stage] 1 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>> -> !tile.shared<64x256xbf16>
  tile.wait_empty %ring[%stage] phase %phase : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>>
  tile.publish %ring[%stage] bytes 16384 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>>
  tile.load %map[%stage, %phase] to %slot signal %ring[%stage] : !tile.tensor_map<128x64xbf16>, !tile.shared<128x64xbf16>, !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>>
  tile.wait_full %ring[%stage] phase %phase : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>>
  tile.release %ring[%stage] : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16>>
  return
}

// CHECK-LABEL: func.func @cluster
// CHECK:         tile.sync_blocks
// CHECK:         tile.multicast %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}] blocks %{{.*}} signal %{{.*}}[%{{.*}}] :
// CHECK:         tile.release_in %{{.*}}[%{{.*}}] block %{{.*}} :
func.func @cluster(%map: !tile.tensor_map<64x64xbf16>, %slot: !tile.shared<128x64xbf16>, %ring: !tile.ring<4, !tile.shared<128x64xbf16>>, %i: index) {
  tile.sync_blocks
  tile.multicast %map[%i, %i] to %slot[%i] blocks %i signal %ring[%i] : !tile.tensor_map<64x64xbf16>, !tile.shared<128x64xbf16>, !tile.ring<4, !tile.shared<128x64xbf16>>
  tile.release_in %ring[%i] block %i : !tile.ring<4, !tile.shared<128x64xbf16>>
  return
}

// CHECK-LABEL: func.func @product
// CHECK:         tile.undefined : {{.*}}<64x256xf32, accumulator>
// CHECK:         %[[D:.*]], %[[TOKEN:.*]] = tile.dot %{{.*}}[%{{.*}}], %{{.*}} accumulate %{{.*}} : {{.*}}<64x256xf32, accumulator> if %{{.*}} k 64 {transposed_b} : {{.*}}<128x64xbf16>, {{.*}}<64x256xbf16> -> {{.*}}<64x256xf32, accumulator>
// CHECK:         tile.await %[[D]] after %[[TOKEN]] : {{.*}}<64x256xf32, accumulator>
// CHECK:         tile.fragment %{{.*}}[8, 1] : {{.*}}<64x256xf32, accumulator> -> vector<2xf32>
func.func @product(%row: index, %later: i1) -> vector<2xf32> {
  %a = tile.alloc : !tile.shared<128x64xbf16>
  %b = tile.alloc : !tile.shared<64x256xbf16>
  %none = tile.undefined : !tile.reg<64x256xf32, accumulator>
  %d, %token = tile.dot %a[%row], %b accumulate %none : !tile.reg<64x256xf32, accumulator> if %later k 64 {transposed_b}
      : !tile.shared<128x64xbf16>, !tile.shared<64x256xbf16> -> !tile.reg<64x256xf32, accumulator>
  %done = tile.await %d after %token : !tile.reg<64x256xf32, accumulator>
  %pair = tile.fragment %done[8, 1] : !tile.reg<64x256xf32, accumulator> -> vector<2xf32>
  return %pair : vector<2xf32>
}

// Eight rows are an operand A that each product reads again.
// CHECK-LABEL: func.func @few_rows
// CHECK:         tile.dot %{{.*}}[%{{.*}}], %{{.*}} k 64 : {{.*}}<8x64xbf16>, {{.*}}<32x64xbf16> -> {{.*}}<64x32xf32, accumulator>
func.func @few_rows(%a: !tile.shared<8x64xbf16>, %b: !tile.shared<32x64xbf16>, %row: index) {
  %d, %token = tile.dot %a[%row], %b k 64 : !tile.shared<8x64xbf16>, !tile.shared<32x64xbf16> -> !tile.reg<64x32xf32, accumulator>
  %done = tile.await %d after %token : !tile.reg<64x32xf32, accumulator>
  return
}

// Of bytes sums are i32. One op waits for both products; without results, for what they read.
// CHECK-LABEL: func.func @bytes
// CHECK:         tile.await %{{.*}}, %{{.*}} after %{{.*}}, %{{.*}} : {{.*}}<64x32xi32, accumulator>, {{.*}}<64x32xi32, accumulator>
// CHECK:         tile.await after %{{.*}}, %{{.*}}{{$}}
// CHECK:         tile.release %{{.*}}[%{{.*}}] after %{{.*}}, %{{.*}} :
func.func @bytes(%a: !tile.shared<128x64xi8>, %b: !tile.shared<32x64xi8>, %row: index, %ring: !tile.ring<2, !tile.shared<32x64xi8>>) {
  %d, %first = tile.dot %a[%row], %b k 64 : !tile.shared<128x64xi8>, !tile.shared<32x64xi8> -> !tile.reg<64x32xi32, accumulator>
  %e, %second = tile.dot %a[%row], %b k 64 : !tile.shared<128x64xi8>, !tile.shared<32x64xi8> -> !tile.reg<64x32xi32, accumulator>
  %done:2 = tile.await %d, %e after %first, %second : !tile.reg<64x32xi32, accumulator>, !tile.reg<64x32xi32, accumulator>
  tile.await after %first, %second
  tile.release %ring[%row] after %first, %second : !tile.ring<2, !tile.shared<32x64xi8>>
  return
}

// Both the sums and the token of a product may go round a loop.
// CHECK-LABEL: func.func @carried
// CHECK:         tile.nothing
// CHECK:         scf.for
// CHECK:           tile.dot
// CHECK:         tile.await %{{.*}} after %{{.*}} :
func.func @carried(%a: !tile.shared<64x64xbf16>, %i: index, %none: !tile.reg<64x64xf32, accumulator>) -> !tile.reg<64x64xf32, accumulator> {
  %nothing = tile.nothing
  %sums, %last = scf.for %j = %i to %i step %i iter_args(%before = %none, %token = %nothing) -> (!tile.reg<64x64xf32, accumulator>, !tile.token) {
    %d, %started = tile.dot %a[%i], %a accumulate %before : !tile.reg<64x64xf32, accumulator> k 64
        : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    scf.yield %d, %started : !tile.reg<64x64xf32, accumulator>, !tile.token
  }
  %done = tile.await %sums after %last : !tile.reg<64x64xf32, accumulator>
  return %done : !tile.reg<64x64xf32, accumulator>
}

// A last panel that is not full has boxes of its own.
// CHECK-LABEL: func.func @tail
// CHECK:         tile.tensor_map %{{.*}} : memref<524288xbf16> -> <64x16xbf16, span = 128>
func.func @tail(%memory: memref<524288xbf16>, %ring: !tile.ring<4, !tile.shared<64x80xbf16>>, %slot: !tile.shared<64x80xbf16>, %i: index) {
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (1024, 512)>, strides = affine_map<() -> (512, 1)>} : memref<524288xbf16> -> !tile.tensor_map<64x16xbf16, span = 128>
  tile.load %map[%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x16xbf16, span = 128>, !tile.shared<64x80xbf16>, !tile.ring<4, !tile.shared<64x80xbf16>>
  return
}

// Columns of pixels, for one block and for several; where they end is a number, or depends on the image's size.
// CHECK-LABEL: func.func @pixels
// CHECK:         tile.tensor_map %{{.*}} {lower = array<i64: -1, -2>, {{.*}}steps = array<i64: 2, 1>, {{.*}}upper = #[[UPPER]]} : memref<802816xbf16> -> <64x32xbf16, im2col = 4>
// CHECK:         tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] offsets[%{{.*}}, %{{.*}}] to %{{.*}} signal
// CHECK:         tile.multicast %{{.*}} offsets[%{{.*}}, %{{.*}}] to %{{.*}} blocks
func.func @pixels(%memory: memref<802816xbf16>, %ring: !tile.ring<4, !tile.shared<128x32xbf16>>, %slot: !tile.shared<128x32xbf16>, %i: index) {
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>,
                                  lower = array<i64: -1, -2>, upper = affine_map<() -> (-1, 0)>, steps = array<i64: 2, 1>}
      : memref<802816xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  tile.load %map[%i, %i, %i, %i] offsets [%i, %i] to %slot signal %ring[%i]
      : !tile.tensor_map<64x32xbf16, im2col = 4>, !tile.shared<128x32xbf16>, !tile.ring<4, !tile.shared<128x32xbf16>>
  tile.multicast %map[%i, %i, %i, %i] offsets [%i, %i] to %slot[%i] blocks %i signal %ring[%i]
      : !tile.tensor_map<64x32xbf16, im2col = 4>, !tile.shared<128x32xbf16>, !tile.ring<4, !tile.shared<128x32xbf16>>
  return
}

// Where windows end depends on the image's height.
// CHECK-LABEL: func.func @open_pixels
// CHECK:         tile.tensor_map %{{.*}} {lower = array<i64: -1, -1>, {{.*}}upper = #[[OPEN]]}
func.func @open_pixels(%memory: memref<?xbf16>) {
  %map = tile.tensor_map %memory {sizes = affine_map<()[s0, s1] -> (8, s0, 56, 32)>, strides = affine_map<()[s0, s1] -> (s0 * 1792, 1792, 32, 1)>,
                                  lower = array<i64: -1, -1>, upper = affine_map<()[s0, s1] -> (s1 * 2 - s0 - 2, -1)>, steps = array<i64: 2, 1>}
      : memref<?xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  return
}

// Of taps that a tile has beside each other, each panel has its own.
// CHECK-LABEL: func.func @pixels_of_a_panel
// CHECK:         tile.load %{{.*}} offsets[%{{.*}}, %{{.*}}] to %{{.*}} panel 1 signal
func.func @pixels_of_a_panel(%map: !tile.tensor_map<64x64xbf16, im2col = 4>, %ring: !tile.ring<4, !tile.shared<64x192xbf16>>, %slot: !tile.shared<64x192xbf16>, %i: index) {
  tile.load %map[%i, %i, %i, %i] offsets [%i, %i] to %slot panel 1 signal %ring[%i]
      : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<64x192xbf16>, !tile.ring<4, !tile.shared<64x192xbf16>>
  return
}

// CHECK-LABEL: func.func @fragments
// CHECK:         tile.tensor_map %{{.*}} {sizes = {{.*}}, strides = {{.*}}, tf32} : memref<524288xf32> -> {{.*}}<128x32xf32>
// CHECK:         %[[F:.*]]:2 = tile.read_fragments %{{.*}}[%{{.*}}] from 16 : {{.*}}<32x256xf32> -> {{.*}}<64x16xf32, operand>, {{.*}}<64x16xf32, operand>
// CHECK:         tile.dot %[[F]]#1, %{{.*}} from 16 accumulate %{{.*}} : {{.*}}<64x128xf32, accumulator> if %{{.*}} k 16 {tf32} : {{.*}}<64x16xf32, operand>, {{.*}}<128x32xf32> -> {{.*}}<64x128xf32, accumulator>
// CHECK:         tile.await after %{{.*}} keep %[[F]]#1 : {{.*}}<64x16xf32, operand> pending 1
// CHECK:         tile.read_fragment_words %{{.*}}[%{{.*}}] from 16 parts 2 : {{.*}}<32x256xf32> -> i32, i32, i32, i32, i32, i32, i32, i32
func.func @fragments(%memory: memref<524288xf32>, %row: index, %later: i1, %c: !tile.reg<64x128xf32, accumulator>) {
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (1024, 512)>, strides = affine_map<() -> (512, 1)>, tf32} : memref<524288xf32> -> !tile.tensor_map<128x32xf32>
  %a = tile.alloc : !tile.shared<32x256xf32>
  %b = tile.alloc : !tile.shared<128x32xf32>
  %f:2 = tile.read_fragments %a[%row] from 16 : !tile.shared<32x256xf32> -> !tile.reg<64x16xf32, operand>, !tile.reg<64x16xf32, operand>
  %d, %token = tile.dot %f#1, %b from 16 accumulate %c : !tile.reg<64x128xf32, accumulator> if %later k 16 {tf32}
      : !tile.reg<64x16xf32, operand>, !tile.shared<128x32xf32> -> !tile.reg<64x128xf32, accumulator>
  tile.await after %token keep %f#1 : !tile.reg<64x16xf32, operand> pending 1
  %w:8 = tile.read_fragment_words %a[%row] from 16 parts 2 : !tile.shared<32x256xf32> -> i32, i32, i32, i32, i32, i32, i32, i32
  return
}

// CHECK-LABEL: func.func @stores
// CHECK:         tile.write %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : vector<8xbf16>, {{.*}}<128x128xbf16>
// CHECK:         tile.read_elements %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}}<128x128xbf16> -> vector<8xbf16>
// CHECK:         tile.write_fragment %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : vector<2xbf16>, {{.*}}<128x128xbf16>
// CHECK:         tile.fence_async
// CHECK:         tile.sync_warpgroup
// CHECK:         tile.store %{{.*}}[%{{.*}}] panel 1 to %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}}<128x128xbf16>, {{.*}}<64x64xbf16>
// CHECK:         tile.wait_stores 0 read
// CHECK:         tile.wait_stores 0
func.func @stores(%c: memref<524288xbf16>, %i: index, %chunk: vector<8xbf16>, %pair: vector<2xbf16>) {
  %map = tile.tensor_map %c {sizes = affine_map<() -> (1024, 512)>, strides = affine_map<() -> (512, 1)>} : memref<524288xbf16> -> !tile.tensor_map<64x64xbf16>
  %tile = tile.alloc : !tile.shared<128x128xbf16>
  tile.write %chunk to %tile[%i, %i] : vector<8xbf16>, !tile.shared<128x128xbf16>
  %read = tile.read_elements %tile[%i, %i] : !tile.shared<128x128xbf16> -> vector<8xbf16>
  tile.write_fragment %pair, %pair, %pair, %pair to %tile[%i, %i] : vector<2xbf16>, !tile.shared<128x128xbf16>
  tile.fence_async
  tile.sync_warpgroup %i
  tile.store %tile[%i] panel 1 to %map[%i, %i] : !tile.shared<128x128xbf16>, !tile.tensor_map<64x64xbf16>
  tile.wait_stores 0 read
  tile.wait_stores 0
  return
}

// CHECK-LABEL: func.func @schedule
// CHECK:         tile.roles counts [1, 2] {
// CHECK:         }, {
// CHECK:         ^bb0(%{{.*}}: index):
// CHECK:           tile.persistent(%{{.*}}, %{{.*}}, %{{.*}}) raster 8 carry(%{{.*}} : index) {
// CHECK:             tile.yield %{{.*}} : index
// CHECK:           } -> index
func.func @schedule(%m: index, %n: index, %one: index) {
  tile.roles counts [1, 2] {
  ^bb0(%loader: index):
    tile.yield
  }, {
  ^bb0(%warpgroup: index):
    %last = tile.persistent (%m, %n, %one) raster 8 carry (%warpgroup : index) {
    ^bb0(%row: index, %column: index, %batch: index, %current: index):
      tile.yield %row : index
    } -> index
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @blocks
// CHECK:         tile.prefetch %{{.*}} : {{.*}}<64x64xbf16>
// CHECK:         tile.reduce_blocks %{{.*}} through %{{.*}}[%{{.*}}] blocks 4 : <64x64xf32, accumulator>, <64x64xf32> -> <64x16xf32, accumulator>
// CHECK:         tile.sum_blocks sums(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32, f32, f32, f32, f32, f32) through %{{.*}}[%{{.*}}] blocks 2 : {{.*}}<64x64xf32> -> f32, f32, f32, f32
// CHECK:         tile.wait_blocks
// CHECK:         tile.persistent(%{{.*}}, %{{.*}}, %{{.*}}) raster 8 share 4 {
func.func @blocks(%map: !tile.tensor_map<64x64xbf16>, %c: !tile.reg<64x64xf32, accumulator>, %s: !tile.shared<64x64xf32>, %i: index, %x: f32) {
  tile.prefetch %map : !tile.tensor_map<64x64xbf16>
  %part = tile.reduce_blocks %c through %s[%i] blocks 4 : !tile.reg<64x64xf32, accumulator>, !tile.shared<64x64xf32> -> !tile.reg<64x16xf32, accumulator>
  %sums:4 = tile.sum_blocks sums(%x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32) through %s[%i] blocks 2
      : !tile.shared<64x64xf32> -> f32, f32, f32, f32
  tile.wait_blocks
  tile.persistent (%i, %i, %i) raster 8 share 4 {
  ^bb0(%row: index, %column: index, %batch: index):
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @exchange
// CHECK:         tile.arrive_blocks relaxed
// CHECK:         tile.wait_blocks
// CHECK:         tile.store_in %{{.*}}, %{{.*}}[%{{.*}}] block %{{.*}} : f32, memref<64xf32, #gpu.address_space<workgroup>>
func.func @exchange(%sum: f32, %buffer: memref<64xf32, #gpu.address_space<workgroup>>, %i: index) {
  tile.arrive_blocks relaxed
  tile.wait_blocks
  tile.store_in %sum, %buffer[%i] block %i : f32, memref<64xf32, #gpu.address_space<workgroup>>
  return
}
