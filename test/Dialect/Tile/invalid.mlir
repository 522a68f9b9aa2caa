// RUN: xc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected lines of 32 bytes, or of a multiple of 16 from 64 on, got 48}}
func.func private @line(!tile.shared<64x24xbf16>)

// -----

// expected-error@+1 {{expected lines of 32 bytes, or of a multiple of 16 from 64 on, got 72}}
func.func private @line_tail(!tile.shared<64x36xbf16>)

// -----

// expected-error@+1 {{expected a multiple of 8 rows, got 12}}
func.func private @rows(!tile.shared<12x64xbf16>)

// -----

// expected-error@+1 {{expected 2 dims, got 3}}
func.func private @dims(!tile.shared<2x64x64xbf16>)

// -----

// expected-error@+1 {{expected elements of whole bytes, got 'i4'}}
func.func private @nibbles(!tile.shared<64x64xi4>)

// -----

// expected-error@+1 {{expected sizes from 1 to 256, got [512, 64]}}
func.func private @box(!tile.tensor_map<512x64xbf16>)

// -----

// expected-error@+1 {{expected an innermost dim of a multiple of 16 bytes up to 128, got 256}}
func.func private @box_line(!tile.tensor_map<64x128xbf16>)

// -----

// expected-error@+1 {{expected 1 to 5 dims, got 6}}
func.func private @box_rank(!tile.tensor_map<1x1x1x1x64x64xbf16>)

// -----

// expected-error@+1 {{expected at least one stage of at least one tile, got 0 of 1}}
func.func private @stages(!tile.ring<0, !tile.shared<64x64xbf16>>)

// -----

func.func @map_stride(%a: memref<4096xbf16>) {
  // expected-error@+1 {{expected an innermost stride of 1 and others that are multiples of 16 bytes, got affine_map<() -> (63, 1)> of elements of 2 bytes}}
  %map = tile.tensor_map %a {sizes = affine_map<() -> (64, 63)>, strides = affine_map<() -> (63, 1)>} : memref<4096xbf16> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func @map_offset(%a: memref<4096xbf16>) {
  // expected-error@+1 {{expected one offset over symbols only, a multiple of 16 bytes, got affine_map<() -> (12)> of elements of 2 bytes}}
  %map = tile.tensor_map %a {sizes = affine_map<() -> (32, 64)>, strides = affine_map<() -> (64, 1)>, offset = affine_map<() -> (12)>} : memref<4096xbf16> -> !tile.tensor_map<32x64xbf16>
  return
}

// -----

func.func @map_rank(%a: memref<4096xbf16>) {
  // expected-error@+1 {{expected 2 sizes and strides over symbols only}}
  %map = tile.tensor_map %a {sizes = affine_map<() -> (64)>, strides = affine_map<() -> (64, 1)>} : memref<4096xbf16> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func @map_type(%a: memref<4096xf16>) {
  // expected-error@+1 {{expected memory of 'bf16', got 'memref<4096xf16>'}}
  %map = tile.tensor_map %a {sizes = affine_map<() -> (64, 64)>, strides = affine_map<() -> (64, 1)>} : memref<4096xf16> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func @ring_arrivals() {
  // expected-error@+1 {{expected at least one arrival and one consumer, or none of either, got 0 and 1}}
  %ring = tile.ring arrivals 0 consumers 1 : !tile.ring<2, !tile.shared<64x64xbf16>>
  return
}

// -----

func.func @slot(%ring: !tile.ring<2, !tile.shared<64x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected tile 1 of '!tile.ring<2, <64x64xbf16>>', got '!tile.shared<64x64xbf16>'}}
  %slot = tile.slot %ring[%i] 1 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
  return
}

// -----

// expected-error@+1 {{expected a span of 32, 64 or 128 bytes that the box's lines of 96 fit, got 64}}
func.func private @span(!tile.tensor_map<64x48xbf16, span = 64>)

// -----

// expected-error@+1 {{expected a span of 32, 64 or 128 bytes that the box's lines of 32 fit, got 48}}
func.func private @span_size(!tile.tensor_map<64x16xbf16, span = 48>)

// -----

// The tail of lines of 128 bytes, permuted as if it were the whole of lines of 32.
func.func @load_span(%map: !tile.tensor_map<64x16xbf16>, %slot: !tile.shared<64x80xbf16>, %ring: !tile.ring<2, !tile.shared<64x80xbf16>>, %i: index) {
  // expected-error@+1 {{expected a span of the 128 bytes of a line of '!tile.shared<64x80xbf16>', got 32}}
  tile.load %map[%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x16xbf16>, !tile.shared<64x80xbf16>, !tile.ring<2, !tile.shared<64x80xbf16>>
  return
}

// -----

func.func @multicast_span(%map: !tile.tensor_map<64x32xbf16, span = 128>, %slot: !tile.shared<128x32xbf16>, %ring: !tile.ring<2, !tile.shared<128x32xbf16>>, %i: index) {
  // expected-error@+1 {{expected a span of the 64 bytes of a line of '!tile.shared<128x32xbf16>', got 128}}
  tile.multicast %map[%i, %i] to %slot[%i] blocks %i signal %ring[%i] : !tile.tensor_map<64x32xbf16, span = 128>, !tile.shared<128x32xbf16>, !tile.ring<2, !tile.shared<128x32xbf16>>
  return
}

// -----

func.func @store_span(%map: !tile.tensor_map<64x32xbf16>, %tile: !tile.shared<64x64xbf16>, %i: index) {
  // expected-error@+1 {{expected a span of the 128 bytes of a line of '!tile.shared<64x64xbf16>', got 64}}
  tile.store %tile[%i] panel 0 to %map[%i, %i] : !tile.shared<64x64xbf16>, !tile.tensor_map<64x32xbf16>
  return
}

// -----

func.func @load_box(%map: !tile.tensor_map<256x64xbf16>, %slot: !tile.shared<128x64xbf16>, %ring: !tile.ring<2, !tile.shared<128x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected a box that is a panel of '!tile.shared<128x64xbf16>', got '!tile.tensor_map<256x64xbf16>'}}
  tile.load %map[%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<256x64xbf16>, !tile.shared<128x64xbf16>, !tile.ring<2, !tile.shared<128x64xbf16>>
  return
}

// -----

func.func @multicast_box(%map: !tile.tensor_map<256x64xbf16>, %slot: !tile.shared<128x64xbf16>, %ring: !tile.ring<2, !tile.shared<128x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected a box that is a panel of '!tile.shared<128x64xbf16>', got '!tile.tensor_map<256x64xbf16>'}}
  tile.multicast %map[%i, %i] to %slot[%i] blocks %i signal %ring[%i] : !tile.tensor_map<256x64xbf16>, !tile.shared<128x64xbf16>, !tile.ring<2, !tile.shared<128x64xbf16>>
  return
}

// -----

func.func @load_coords(%map: !tile.tensor_map<64x64xbf16>, %slot: !tile.shared<64x64xbf16>, %ring: !tile.ring<2, !tile.shared<64x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected 2 coordinates, got 1}}
  tile.load %map[%i] to %slot signal %ring[%i] : !tile.tensor_map<64x64xbf16>, !tile.shared<64x64xbf16>, !tile.ring<2, !tile.shared<64x64xbf16>>
  return
}

// -----

func.func @store_panel(%map: !tile.tensor_map<64x64xbf16>, %tile: !tile.shared<64x64xbf16>, %i: index) {
  // expected-error@+1 {{expected a panel below 1, got 1}}
  tile.store %tile[%i] panel 1 to %map[%i, %i] : !tile.shared<64x64xbf16>, !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func @write(%tile: !tile.shared<64x64xbf16>, %values: vector<16xbf16>, %i: index) {
  // expected-error@+1 {{expected at most 16 bytes of 'bf16', got 'vector<16xbf16>'}}
  tile.write %values to %tile[%i, %i] : vector<16xbf16>, !tile.shared<64x64xbf16>
  return
}

// -----

func.func @read(%tile: !tile.shared<64x64xbf16>, %i: index) {
  // expected-error@+1 {{expected at most 16 bytes of 'bf16', got 'vector<8xf32>'}}
  %values = tile.read_elements %tile[%i, %i] : !tile.shared<64x64xbf16> -> vector<8xf32>
  return
}

// -----

func.func @write_fragment(%tile: !tile.shared<64x32xf32>, %pair: vector<2xf32>, %i: index) {
  // expected-error@+1 {{expected four pairs of 16-bit elements of '!tile.shared<64x32xf32>'}}
  tile.write_fragment %pair, %pair, %pair, %pair to %tile[%i, %i] : vector<2xf32>, !tile.shared<64x32xf32>
  return
}

// -----

func.func @fragment(%c: !tile.reg<64x64xf32, accumulator>) {
  // expected-error@+1 {{expected a multiple of 8 below 64 and half 0 or 1, got 64 and 0}}
  %pair = tile.fragment %c[64, 0] : !tile.reg<64x64xf32, accumulator> -> vector<2xf32>
  return
}

// -----

func.func @fragment_of_operand(%c: !tile.reg<64x64xbf16, operand>) {
  // expected-error@+1 {{expected a tile of layout 'accumulator', got '!tile.reg<64x64xbf16, operand>'}}
  %pair = tile.fragment %c[0, 0] : !tile.reg<64x64xbf16, operand> -> vector<2xbf16>
  return
}

// -----

func.func @fragment_type(%c: !tile.reg<64x64xi32, accumulator>) {
  // expected-error@+1 {{expected two elements of '!tile.reg<64x64xi32, accumulator>', got 'vector<2xf32>'}}
  %pair = tile.fragment %c[0, 0] : !tile.reg<64x64xi32, accumulator> -> vector<2xf32>
  return
}

// -----

func.func @persistent(%m: index) {
  // expected-error@+1 {{expected three indices, then the carried values, as arguments}}
  tile.persistent (%m, %m, %m) raster 8 {
  ^bb0(%row: index):
    tile.yield
  }
  return
}

// -----

func.func @persistent_yield(%m: index) {
  // expected-error@+1 {{expected the body to yield the carried values}}
  tile.persistent (%m, %m, %m) raster 8 {
  ^bb0(%row: index, %column: index, %batch: index):
    tile.yield %row : index
  }
  return
}

// -----

func.func @raster(%m: index) {
  // expected-error@+1 {{expected at least one row in a group and one block for a tile, got 0 and 1}}
  tile.persistent (%m, %m, %m) raster 0 {
  ^bb0(%row: index, %column: index, %batch: index):
    tile.yield
  }
  return
}

// -----

func.func @reduce_columns(%c: !tile.reg<64x64xf32, accumulator>, %s: !tile.shared<64x64xf32>, %i: index) {
  // expected-error@+1 {{expected 2 to 16 blocks that share the columns of '!tile.reg<64x64xf32, accumulator>' equally, got 2 of '!tile.reg<64x16xf32, accumulator>'}}
  %part = tile.reduce_blocks %c through %s[%i] blocks 2 : !tile.reg<64x64xf32, accumulator>, !tile.shared<64x64xf32> -> !tile.reg<64x16xf32, accumulator>
  return
}

// -----

func.func @reduce_scratch(%c: !tile.reg<64x64xf32, accumulator>, %s: !tile.shared<64x32xf32>, %i: index) {
  // expected-error@+1 {{expected scratch of 64 rows for each warpgroup and the columns of '!tile.reg<64x64xf32, accumulator>', got '!tile.shared<64x32xf32>'}}
  %part = tile.reduce_blocks %c through %s[%i] blocks 2 : !tile.reg<64x64xf32, accumulator>, !tile.shared<64x32xf32> -> !tile.reg<64x32xf32, accumulator>
  return
}

// -----

func.func @some_tiles_of_serpentine(%m: index) {
  // expected-error@+1 {{expected every tile of a serpentine, got every 2}}
  tile.persistent (%m, %m, %m) raster 1 first %m every 2 serpentine {
  ^bb0(%row: index, %column: index, %batch: index):
    tile.yield
  }
  return
}

// -----

func.func @first_of_every(%m: index) {
  // expected-error@+1 {{expected a first tile where not every one is taken, got every 1}}
  tile.persistent (%m, %m, %m) raster 1 first %m every 1 {
  ^bb0(%row: index, %column: index, %batch: index):
    tile.yield
  }
  return
}

// -----

func.func @fragments_type(%a: !tile.shared<64x64xbf16>, %i: index) {
  // expected-error@+1 {{expected one or two fragments of elements of 4 bytes, or two of 1 byte, got 1 of 'bf16'}}
  %f = tile.read_fragments %a[%i] from 0 : !tile.shared<64x64xbf16> -> !tile.reg<64x16xbf16, operand>
  return
}

// -----

func.func @fragments_beyond(%a: !tile.shared<32x64xf32>, %i: index) {
  // expected-error@+1 {{expected fragments of '!tile.shared<32x64xf32>' that begin at a multiple of 32 bytes along k, got '!tile.reg<64x16xf32, operand>' from 24}}
  %f = tile.read_fragments %a[%i] from 24 : !tile.shared<32x64xf32> -> !tile.reg<64x16xf32, operand>
  return
}

// -----

func.func @tensor_map_tf32(%a: memref<4096xbf16>) {
  // expected-error@+1 {{expected elements of f32 to round, got 'bf16'}}
  %map = tile.tensor_map %a {sizes = affine_map<() -> (64, 64)>, strides = affine_map<() -> (64, 1)>, tf32} : memref<4096xbf16> -> !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func @store_in(%sum: f32, %buffer: memref<64xf16>, %i: index) {
  // expected-error @below {{expected a one-dimensional buffer of 'f32', got 'memref<64xf16>'}}
  tile.store_in %sum, %buffer[%i] block %i : f32, memref<64xf16>
  return
}

// -----

func.func @pixels_without_corners(%memory: memref<802816xbf16>) {
  // expected-error@+1 {{expected lower and upper corners and steps along 2 spatial dims of an im2col map, and none of another}}
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>} : memref<802816xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  return
}

// -----

func.func @pixels_of_other_rank(%memory: memref<802816xbf16>) {
  // expected-error@+1 {{expected lower and upper corners and steps along 2 spatial dims}}
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>, lower = array<i64: 0>, upper = affine_map<() -> (0, 0)>, steps = array<i64: 1, 1>} : memref<802816xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  return
}

// -----

func.func @boxes_with_corners(%memory: memref<802816xbf16>) {
  // expected-error@+1 {{expected lower and upper corners and steps along 0 spatial dims of an im2col map, and none of another}}
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>, lower = array<i64: 0, 0>, upper = affine_map<() -> (0, 0)>, steps = array<i64: 1, 1>} : memref<802816xbf16> -> !tile.tensor_map<1x1x64x32xbf16>
  return
}

// -----

func.func @pixel_corner_numbers(%memory: memref<802816xbf16>) {
  // expected-error@+1 {{expected lower and upper corners and steps along 2 spatial dims of an im2col map, and none of another}}
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>, lower = array<i64: 0, 0>, upper = affine_map<() -> (0)>, steps = array<i64: 1, 1>} : memref<802816xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  return
}

// -----

func.func @pixel_corners(%memory: memref<802816xbf16>) {
  // expected-error@+1 {{expected corners from -128 to 127, got [0, 0] and affine_map<() -> (128, 0)>}}
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>, lower = array<i64: 0, 0>, upper = affine_map<() -> (128, 0)>, steps = array<i64: 1, 1>} : memref<802816xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  return
}

// -----

func.func @pixel_steps(%memory: memref<802816xbf16>) {
  // expected-error@+1 {{expected steps from 1 to 8, got [9, 1]}}
  %map = tile.tensor_map %memory {sizes = affine_map<() -> (8, 56, 56, 32)>, strides = affine_map<() -> (100352, 1792, 32, 1)>, lower = array<i64: 0, 0>, upper = affine_map<() -> (0, 0)>, steps = array<i64: 9, 1>} : memref<802816xbf16> -> !tile.tensor_map<64x32xbf16, im2col = 4>
  return
}

// -----

// expected-error@+1 {{expected pixels and channels of an image of rank 3 to 5, got 3 sizes and rank 4}}
func.func private @column(!tile.tensor_map<1x64x32xbf16, im2col = 4>)

// -----

// expected-error@+1 {{expected pixels and channels of an image of rank 3 to 5, got 2 sizes and rank 2}}
func.func private @image_rank(!tile.tensor_map<64x32xbf16, im2col = 2>)

// -----

func.func @load_panel_behind_the_last(%map: !tile.tensor_map<64x64xbf16>, %slot: !tile.shared<64x144xbf16>, %ring: !tile.ring<2, !tile.shared<64x144xbf16>>, %i: index) {
  // expected-error@+1 {{expected a whole panel below 2, got 2}}
  tile.load %map[%i, %i] to %slot panel 2 signal %ring[%i] : !tile.tensor_map<64x64xbf16>, !tile.shared<64x144xbf16>, !tile.ring<2, !tile.shared<64x144xbf16>>
  return
}

// -----

func.func @load_part_of_no_panel(%map: !tile.tensor_map<64x32xbf16, span = 128>, %slot: !tile.shared<64x144xbf16>, %ring: !tile.ring<2, !tile.shared<64x144xbf16>>, %i: index) {
  // expected-error@+1 {{expected a box that is a panel of '!tile.shared<64x144xbf16>', got '!tile.tensor_map<64x32xbf16, span = 128>'}}
  tile.load %map[%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x32xbf16, span = 128>, !tile.shared<64x144xbf16>, !tile.ring<2, !tile.shared<64x144xbf16>>
  return
}

// -----

func.func @load_without_offsets(%map: !tile.tensor_map<64x64xbf16, im2col = 4>, %slot: !tile.shared<64x64xbf16>, %ring: !tile.ring<2, !tile.shared<64x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected 2 offsets, got 0}}
  tile.load %map[%i, %i, %i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<64x64xbf16>, !tile.ring<2, !tile.shared<64x64xbf16>>
  return
}

// -----

func.func @load_box_with_offsets(%map: !tile.tensor_map<64x64xbf16>, %slot: !tile.shared<64x64xbf16>, %ring: !tile.ring<2, !tile.shared<64x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected 0 offsets, got 1}}
  tile.load %map[%i, %i] offsets [%i] to %slot signal %ring[%i] : !tile.tensor_map<64x64xbf16>, !tile.shared<64x64xbf16>, !tile.ring<2, !tile.shared<64x64xbf16>>
  return
}

// -----

func.func @load_pixel_coords(%map: !tile.tensor_map<64x64xbf16, im2col = 4>, %slot: !tile.shared<64x64xbf16>, %ring: !tile.ring<2, !tile.shared<64x64xbf16>>, %i: index) {
  // expected-error@+1 {{expected 4 coordinates, got 2}}
  tile.load %map[%i, %i] offsets [%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<64x64xbf16>, !tile.ring<2, !tile.shared<64x64xbf16>>
  return
}

// -----

func.func @store_pixels(%map: !tile.tensor_map<64x64xbf16, im2col = 4>, %tile: !tile.shared<64x64xbf16>, %i: index) {
  // expected-error@+1 {{expected a map of boxes to store, got '!tile.tensor_map<64x64xbf16, im2col = 4>'}}
  tile.store %tile[%i] panel 0 to %map[%i, %i, %i, %i] : !tile.shared<64x64xbf16>, !tile.tensor_map<64x64xbf16, im2col = 4>
  return
}
