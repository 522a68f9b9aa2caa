// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @memory(%m: memref<?xf16>, %i: index, %t: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected one-dimensional memory of the tile's 16-bit or 32-bit elements, got 'memref<?xf16>' for '!tile.shared<64x64xbf16>'}}
  %x = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %t threads 128 : memref<?xf16> to !tile.shared<64x64xbf16>
  return
}

// -----

func.func @columns(%m: memref<?xbf16>, %i: index, %t: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected a multiple of 8 columns that the tile has room for in steps of 16, got 72 for '!tile.shared<64x64xbf16>'}}
  %x = tile.copy %m[%i] stride %i rows %i of %i columns 72 to %t threads 128 : memref<?xbf16> to !tile.shared<64x64xbf16>
  return
}

// -----

func.func @threads(%m: memref<?xbf16>, %i: index, %t: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected threads of whole warpgroups, got 96}}
  %x = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %t threads 96 : memref<?xbf16> to !tile.shared<64x64xbf16>
  return
}

// -----

func.func @not_awaited(%m: memref<?xbf16>, %i: index, %t: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected its tile to be awaited by its token before it is used}}
  %x = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %t threads 128 : memref<?xbf16> to !tile.shared<64x64xbf16>
  // expected-note @+1 {{used here}}
  %q = tile.read %t[%i] : !tile.shared<64x64xbf16> -> !tile.reg<64x64xbf16, operand>
  return
}

// -----

func.func @stage_not_awaited(%q: !tile.reg<64x64xbf16, operand>, %i: index) {
  %ring = tile.ring arrivals 0 consumers 0 : !tile.ring<2, !tile.shared<64x64xbf16>>
  // expected-note @+1 {{the stage}}
  %k = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
  // expected-error @+1 {{expected a stage that tile.await_copies returns, since copies fill the ring}}
  %s, %t = tile.dot %q, %k k 64 {synchronous} : !tile.reg<64x64xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{expected at least one tile, and a token for each, got 0 and 0}}
  "tile.await_copies"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
  return
}

// -----

func.func @read(%t: !tile.shared<32x64xbf16>, %i: index) {
  // expected-error @+1 {{expected a result of layout 'operand' that is part of the tile, got '!tile.reg<64x64xbf16, operand>' of '!tile.shared<32x64xbf16>'}}
  %q = tile.read %t[%i] : !tile.shared<32x64xbf16> -> !tile.reg<64x64xbf16, operand>
  return
}

// -----

func.func @held(%t: !tile.shared<64x64xbf16, lines>, %token: !tile.token, %a: !tile.warp<16x16xbf16, first>) {
  // expected-error @+1 {{expected to hold first operands of f64, got '!tile.warp<16x16xbf16, first>'}}
  %u, %b = tile.await_copies %t after %token hold %a : !tile.warp<16x16xbf16, first> : !tile.shared<64x64xbf16, lines>
  return
}

// -----

func.func @not_returned(%x: f64) {
  // expected-error @+1 {{expected as many results as it holds, got 0 and 1}}
  tile.retire_copies 0 hold %x
  return
}

// -----

func.func @odd_threads() {
  // expected-error @+1 {{expected threads of whole warps, got 48}}
  %line, %column = tile.share 0 of 64 width 8 threads 48
  return
}

// -----

func.func @odd_width() {
  // expected-error @+1 {{expected lines of whole vectors, got 64 elements in vectors of 3}}
  %line, %column = tile.share 0 of 64 width 3 threads 64
  return
}

// -----

func.func @odd_threads_of_patches() {
  // expected-error @+1 {{expected threads of whole warps, got 16}}
  %line, %column = tile.patch 0 of !tile.shared<64x64xi8, patches> threads 16
  return
}

// -----

func.func @wide_patches() {
  // expected-error @+1 {{expected bytes in a multiple of 32 lines of whole chunks, got '!tile.shared<64x64xbf16, lines>'}}
  %line, %column = tile.patch 0 of !tile.shared<64x64xbf16, lines> threads 64
  return
}

// -----

func.func @copy_to_panels(%m: memref<?xbf16>, %i: index, %c: i1, %t: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected one-dimensional memory of the elements of a tile whose lines are whole, got 'memref<?xbf16>' for '!tile.shared<64x64xbf16>'}}
  tile.start_copy %m[%i] distance 0 inside %c to %t[%i, %i] width 8 : memref<?xbf16> to !tile.shared<64x64xbf16>
  return
}

// -----

func.func @narrow(%m: memref<?xbf16>, %i: index, %c: i1, %t: !tile.shared<64x64xbf16, lines>) {
  // expected-error @+1 {{expected 4, 8 or 16 bytes, got 1 of 'bf16'}}
  tile.start_copy %m[%i] distance 0 inside %c to %t[%i, %i] width 1 : memref<?xbf16> to !tile.shared<64x64xbf16, lines>
  return
}

// -----

func.func @vector_not_awaited(%m: memref<?xbf16>, %i: index, %c: i1, %t: !tile.shared<64x64xbf16, lines>) {
  // expected-error @+1 {{expected its tile to be awaited by its token before it is used}}
  tile.start_copy %m[%i] distance 0 inside %c to %t[%i, %i] width 8 : memref<?xbf16> to !tile.shared<64x64xbf16, lines>
  %token = tile.commit_copies
  // expected-note @+1 {{used here}}
  %a = tile.read_operand %t[%i, %i] : !tile.shared<64x64xbf16, lines> -> !tile.warp<16x16xbf16, first>
  return
}
