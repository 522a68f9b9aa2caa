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

func.func @table(%m: memref<?xbf16>, %i: index, %t: !tile.shared<64x64xbf16>, %p: memref<?xf32>) {
  // expected-error @+1 {{expected a table of one dim, of integers, got 'memref<?xf32>'}}
  %x = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %t threads 128 pages %p[%i, %i, %i, %i] of memref<?xf32> : memref<?xbf16> to !tile.shared<64x64xbf16>
  return
}

// -----

func.func @paging(%m: memref<?xbf16>, %i: index, %t: !tile.shared<64x64xbf16>, %p: memref<?xi32>) {
  // expected-error @+1 {{expected an entry of the table, the size of pages, how far they are apart and how many there are, got 3 numbers}}
  %x = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %t threads 128 pages %p[%i, %i, %i] of memref<?xi32> : memref<?xbf16> to !tile.shared<64x64xbf16>
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

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @token_of_another_ring(%m: memref<?xbf16>, %i: index) {
  %keys = tile.ring arrivals 0 consumers 0 : !ring
  %values = tile.ring arrivals 0 consumers 0 : !ring
  %k = tile.slot %keys[%i] 0 : !ring -> !smem
  %v = tile.slot %values[%i] 0 : !ring -> !smem
  %kt = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !smem
  // expected-note @+1 {{the token is made here}}
  %vt = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %v threads 128 : memref<?xbf16> to !smem
  // expected-error @+1 {{expected the token of a copy to tile 0 of '!tile.ring<2, <64x64xbf16>>', got that of a copy to another, tile 0 of '!tile.ring<2, <64x64xbf16>>'}}
  %a, %b = tile.await_copies %k, %v after %vt, %vt : !smem, !smem
  return
}

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16>>
func.func @token_of_another_tile(%m: memref<?xbf16>, %i: index) {
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %k = tile.slot %ring[%i] 0 : !ring -> !smem
  %v = tile.slot %ring[%i] 1 : !ring -> !smem
  // expected-note @+1 {{the token is made here}}
  %vt = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %v threads 128 : memref<?xbf16> to !smem
  // expected-error @+1 {{expected the token of a copy to tile 0 of '!tile.ring<2, <64x64xbf16>, <64x64xbf16>>', got that of a copy to tile 1 of}}
  %a = tile.await_copies %k after %vt : !smem
  return
}

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @token_of_another_stage(%m: memref<?xbf16>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %first = tile.slot %ring[%c0] 0 : !ring -> !smem
  %second = tile.slot %ring[%c1] 0 : !ring -> !smem
  // expected-note @+1 {{the token is made here}}
  %t = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %second threads 128 : memref<?xbf16> to !smem
  // expected-error @+1 {{expected the token of a copy to tile 0 of stage 0 of '!tile.ring<2, <64x64xbf16>>', got that of a copy to tile 0 of stage 1 of}}
  %a = tile.await_copies %first after %t : !smem
  return
}

// -----

// The tokens of an iteration go to the next one the wrong way round.
!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @token_round_a_loop(%m: memref<?xbf16>, %i: index) {
  %keys = tile.ring arrivals 0 consumers 0 : !ring
  %values = tile.alloc : !smem
  %k = tile.slot %keys[%i] 0 : !ring -> !smem
  %kt = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !smem
  %vt = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %values threads 128 : memref<?xbf16> to !smem
  %end:2 = scf.for %j = %i to %i step %i iter_args(%x = %kt, %y = %vt) -> (!tile.token, !tile.token) {
    // expected-error @+1 {{expected the token of a copy to tile 0 of '!tile.ring<2, <64x64xbf16>>', got that of a copy to another, '!tile.shared<64x64xbf16>'}}
    %a, %b = tile.await_copies %k, %values after %x, %y : !smem, !smem
    %kn = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !smem
    // expected-note @+1 {{the token is made here}}
    %vn = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %values threads 128 : memref<?xbf16> to !smem
    scf.yield %vn, %kn : !tile.token, !tile.token
  }
  return
}

// -----

func.func @token_of_a_product(%q: !tile.shared<64x64xbf16>, %i: index, %a: !tile.shared<64x64xbf16>) {
  // expected-note @+1 {{the token is made here}}
  %s, %t = tile.dot %q[%i], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  // expected-error @+1 {{expected the token of a copy to '!tile.shared<64x64xbf16>', got that of 'tile.dot'}}
  %x = tile.await_copies %a after %t : !tile.shared<64x64xbf16>
  %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @stage_not_awaited_by_threads(%i: index) -> !tile.reg<64x64xbf16, operand> {
  %ring = tile.ring arrivals 0 consumers 0 : !tile.ring<2, !tile.shared<64x64xbf16>>
  // expected-note @+1 {{the stage}}
  %k = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
  // expected-error @+1 {{expected a stage that tile.await_copies returns, since copies fill the ring}}
  %q = tile.read %k[%i] : !tile.shared<64x64xbf16> -> !tile.reg<64x64xbf16, operand>
  return %q : !tile.reg<64x64xbf16, operand>
}

// -----

// The next stage is on its way when this one's token says that it is done.
!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @token_of_the_stage_before(%m: memref<?xbf16>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %k = tile.slot %ring[%c0] 0 : !ring -> !smem
  // expected-note @+1 {{the token is made here}}
  %t = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !smem
  %end = scf.for %j = %c0 to %c8 step %c1 iter_args(%token = %t) -> !tile.token {
    %next = arith.addi %j, %c1 : index
    %stage = arith.remui %next, %c2 : index
    %n = tile.slot %ring[%stage] 0 : !ring -> !smem
    %u = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %n threads 128 : memref<?xbf16> to !smem
    // expected-error @+1 {{expected the token of a copy to stage 1 of '!tile.ring<2, <64x64xbf16>>' in the loop's first iteration, got that of a copy to stage 0}}
    %keys = tile.await_copies %n after %token : !smem
    scf.yield %u : !tile.token
  }
  return
}

// -----

// So with a stage that goes round.
!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @carried_stage(%m: memref<?xbf16>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ring = tile.ring arrivals 0 consumers 0 : !ring
  %k = tile.slot %ring[%c0] 0 : !ring -> !smem
  // expected-note @+1 {{the token is made here}}
  %t = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %k threads 128 : memref<?xbf16> to !smem
  %end:2 = scf.for %j = %i to %i step %c1 iter_args(%stage = %c0, %token = %t) -> (index, !tile.token) {
    %more = arith.addi %stage, %c1 : index
    %wraps = arith.cmpi eq, %more, %c2 : index
    %next = arith.select %wraps, %c0, %more : index
    %n = tile.slot %ring[%next] 0 : !ring -> !smem
    %u = tile.copy %m[%i] stride %i rows %i of %i columns 64 to %n threads 128 : memref<?xbf16> to !smem
    // expected-error @+1 {{expected the token of a copy to stage 1 of '!tile.ring<2, <64x64xbf16>>' in the loop's first iteration, got that of a copy to stage 0}}
    %keys = tile.await_copies %n after %token : !smem
    scf.yield %next, %u : index, !tile.token
  }
  return
}
