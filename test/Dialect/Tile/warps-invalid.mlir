// RUN: xc-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected the swizzle 'lines', 'even', 'pairs', 'halves' or 'patches', got 'odd'}}
func.func private @swizzle(!tile.shared<64x64xbf16, odd>)

// -----

// expected-error @+1 {{expected lines of 32, 64 or a multiple of 128 bytes for 'lines', got 96}}
func.func private @line(!tile.shared<64x48xbf16, lines>)

// -----

// expected-error @+1 {{expected lines of 128 bytes at least for 'halves', got 64}}
func.func private @halves(!tile.shared<64x8xf64, halves>)

// -----

// expected-error @+1 {{expected the layout 'accumulator', 'first' or 'second', got 'third'}}
func.func private @layout(!tile.warp<16x16xbf16, third>)

// -----

// expected-error @+1 {{expected 2 dims, got 1}}
func.func private @dims(!tile.warp<16xbf16, first>)

// -----

// expected-error @+1 {{expected a paired tile of f64, got 'f32'}}
func.func private @paired(!tile.warp<16x8xf32, first, paired>)

// -----

// expected-error @+1 {{expected sums of type f32, f64 or i32, got 'f16'}}
func.func private @sums(!tile.warp<16x8xf16, accumulator>)

// -----

// expected-error @+1 {{expected 16 rows and a multiple of 8 columns of sums, got 16 x 12}}
func.func private @columns(!tile.warp<16x12xf32, accumulator>)

// -----

// expected-error @+1 {{expected operands of type f16, bf16, f32, f64 or i8, got 'i32'}}
func.func private @element(!tile.warp<16x8xi32, first>)

// -----

// expected-error @+1 {{expected a first operand of 16 x 16 'bf16', got 16 x 32}}
func.func private @first(!tile.warp<16x32xbf16, first>)

// -----

// expected-error @+1 {{expected a second operand of 8 'f32' by a multiple of 16 columns, got 8 x 24}}
func.func private @second(!tile.warp<8x24xf32, second>)

// -----

func.func @no_columns() {
  // expected-error @+1 {{expected at least one column of warps, got 0}}
  %row, %column = tile.warp_place columns 0
  return
}

// -----

func.func @place_of_operand() {
  // expected-error @+1 {{expected a tile of layout 'accumulator', got '!tile.warp<16x16xbf16, first>'}}
  %row, %column = tile.pair_place of !tile.warp<16x16xbf16, first>
  return
}

// -----

func.func @pair_of_operand(%a: !tile.warp<16x16xbf16, first>) {
  // expected-error @+1 {{expected a tile of layout 'accumulator', got '!tile.warp<16x16xbf16, first>'}}
  %pair = tile.fragment %a[0, 0] : !tile.warp<16x16xbf16, first> -> vector<2xbf16>
  return
}

// -----

func.func @pair_behind(%a: !tile.warp<16x16xf32, accumulator>) {
  // expected-error @+1 {{expected a multiple of 8 below 16 and half 0 or 1, got 16 and 0}}
  %pair = tile.fragment %a[16, 0] : !tile.warp<16x16xf32, accumulator> -> vector<2xf32>
  return
}

// -----

func.func @panels(%t: !tile.shared<64x64xbf16>, %i: index) {
  // expected-error @+1 {{expected an operand of the elements of a tile whose lines are whole, got '!tile.warp<16x16xbf16, first>' of '!tile.shared<64x64xbf16>'}}
  %a = tile.read_operand %t[%i, %i] : !tile.shared<64x64xbf16> -> !tile.warp<16x16xbf16, first>
  return
}

// -----

func.func @too_wide(%t: !tile.shared<32x32xbf16, lines>, %i: index) {
  // expected-error @+1 {{expected an operand that is part of the tile, got '!tile.warp<16x64xbf16, second>' of '!tile.shared<32x32xbf16, lines>'}}
  %b = tile.read_operand %t[%i, %i] : !tile.shared<32x32xbf16, lines> -> !tile.warp<16x64xbf16, second>
  return
}

// -----

func.func @transposed_bytes(%t: !tile.shared<64x64xi8, lines>, %i: index) {
  // expected-error @+1 {{expected lines of bytes to run along k, got '!tile.shared<64x64xi8, lines>'}}
  %a = tile.read_operand %t[%i, %i] transposed : !tile.shared<64x64xi8, lines> -> !tile.warp<16x32xi8, first>
  return
}

// -----

func.func @rounded(%t: !tile.shared<64x64xbf16, lines>, %i: index) {
  // expected-error @+1 {{expected f32 for tf32, got 'bf16'}}
  %a = tile.read_operand %t[%i, %i] tf32 : !tile.shared<64x64xbf16, lines> -> !tile.warp<16x16xbf16, first>
  return
}

// -----

func.func @one_by_one(%t: !tile.shared<64x64xbf16, lines>, %i: index) {
  // expected-error @+1 {{expected f64 to be read one at a time, got 'bf16'}}
  %a = tile.read_operand %t[%i, %i] single : !tile.shared<64x64xbf16, lines> -> !tile.warp<16x16xbf16, first>
  return
}

// -----

func.func @unpaired_rows(%t: !tile.shared<16x64xf64, pairs>, %i: index) {
  // expected-error @+1 {{expected a paired operand of a transposed tile, or neither, got '!tile.warp<16x8xf64, first>' of '!tile.shared<16x64xf64, pairs>'}}
  %a = tile.read_operand %t[%i, %i] transposed : !tile.shared<16x64xf64, pairs> -> !tile.warp<16x8xf64, first>
  return
}

// -----

func.func @unlike(%a: !tile.warp<16x16xbf16, first>, %b: !tile.warp<16x32xbf16, second>, %s: !tile.warp<16x16xf32, accumulator>) {
  // expected-error @+1 {{expected a first and a second operand and their sums, got '!tile.warp<16x16xbf16, first>', '!tile.warp<16x32xbf16, second>' and '!tile.warp<16x16xf32, accumulator>'}}
  %r = tile.multiply %a, %b, %s : !tile.warp<16x16xbf16, first>, !tile.warp<16x32xbf16, second>, !tile.warp<16x16xf32, accumulator>
  return
}

// -----

func.func @unsigned(%a: !tile.warp<16x16xbf16, first>, %b: !tile.warp<16x16xbf16, second>, %s: !tile.warp<16x16xf32, accumulator>) {
  // expected-error @+1 {{expected bytes for unsigned operands, got 'bf16'}}
  %r = tile.multiply %a, %b, %s {unsigned_b} : !tile.warp<16x16xbf16, first>, !tile.warp<16x16xbf16, second>, !tile.warp<16x16xf32, accumulator>
  return
}

// -----

func.func @splat(%x: bf16) {
  // expected-error @+1 {{expected a result of layout 'accumulator', got '!tile.warp<16x16xbf16, first>'}}
  %a = tile.splat %x : bf16 -> !tile.warp<16x16xbf16, first>
  return
}

// -----

func.func @map_of_other(%s: !tile.warp<16x16xf32, accumulator>) {
  // expected-error @+1 {{expected inputs of the result's layout and columns, got '!tile.warp<16x16xf32, accumulator>' for '!tile.warp<16x32xf32, accumulator>'}}
  %r = tile.map (%s : !tile.warp<16x16xf32, accumulator>) {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.warp<16x32xf32, accumulator>
  return
}

// -----

func.func @map_to_warpgroup(%s: !tile.warp<16x16xf32, accumulator>) {
  // expected-error @+1 {{expected inputs of the result's layout and columns, got '!tile.warp<16x16xf32, accumulator>' for '!tile.reg<64x16xf32, accumulator>'}}
  %r = tile.map (%s : !tile.warp<16x16xf32, accumulator>) {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.reg<64x16xf32, accumulator>
  return
}

// -----

func.func @map_at(%s: !tile.warp<16x16xf32, accumulator>, %i: index) {
  // expected-error @+1 {{expected an accumulator without a place, one by one, got '!tile.warp<16x16xf32, accumulator>'}}
  %r = tile.map (%s : !tile.warp<16x16xf32, accumulator>) at (%i, %i) {
  ^bb0(%x: f32, %row: index, %column: index):
    tile.yield %x : f32
  } : !tile.warp<16x16xf32, accumulator>
  return
}

// -----

func.func @reuse(%ring: !tile.ring<2, !tile.shared<64x64xbf16, lines>>) {
  // expected-error @+1 {{expected a tile that fits the 16384 bytes of all stages of '!tile.shared<64x64xbf16, lines>', got '!tile.shared<136x64xbf16, lines>'}}
  %t = tile.reuse %ring 0 : !tile.ring<2, !tile.shared<64x64xbf16, lines>> -> !tile.shared<136x64xbf16, lines>
  return
}

// -----

func.func @reuse_for_panels(%ring: !tile.ring<2, !tile.shared<64x64xbf16, lines>>) {
  // expected-error @+1 {{expected a tile that fits the 16384 bytes of all stages of '!tile.shared<64x64xbf16, lines>', got '!tile.shared<64x64xbf16>'}}
  %t = tile.reuse %ring 0 : !tile.ring<2, !tile.shared<64x64xbf16, lines>> -> !tile.shared<64x64xbf16>
  return
}

// -----

func.func @reuse_of_none(%ring: !tile.ring<2, !tile.shared<64x64xbf16, lines>>) {
  // expected-error @+1 {{expected a tile of '!tile.ring<2, <64x64xbf16, lines>>', got number 1}}
  %t = tile.reuse %ring 1 : !tile.ring<2, !tile.shared<64x64xbf16, lines>> -> !tile.shared<64x64xbf16, lines>
  return
}
