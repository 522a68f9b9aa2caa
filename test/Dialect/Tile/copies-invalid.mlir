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
  // expected-error @+1 {{expected at least one tile and its token}}
  "tile.await_copies"() : () -> ()
  return
}

// -----

func.func @read(%t: !tile.shared<32x64xbf16>, %i: index) {
  // expected-error @+1 {{expected a result of layout 'operand' that is part of the tile, got '!tile.reg<64x64xbf16, operand>' of '!tile.shared<32x64xbf16>'}}
  %q = tile.read %t[%i] : !tile.shared<32x64xbf16> -> !tile.reg<64x64xbf16, operand>
  return
}
