// RUN: xc-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected 64 rows and the layout 'accumulator', 'operand' or 'paired', got [32, 8] and 'accumulator'}}
func.func private @rows(!tile.reg<32x8xf32, accumulator>)

// -----

// expected-error @+1 {{expected an operand of 16-bit elements, f32 or i8, and a multiple of 32 bytes along k, got 24 of 'bf16'}}
func.func private @operand(!tile.reg<64x24xbf16, operand>)

// -----

// expected-error @+1 {{expected a paired operand of f32, got 'bf16'}}
func.func private @paired(!tile.reg<64x16xbf16, paired>)

// -----

// A result that may be under way is read.
func.func @unawaited(%q: !tile.shared<64x64xbf16>, %row: index) -> !tile.reg<64x64xf32, accumulator> {
  // expected-error @+1 {{expected its result to be awaited by its token before it is used}}
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  // expected-note @+1 {{used here}}
  return %s : !tile.reg<64x64xf32, accumulator>
}

// -----

func.func @token_of_another(%q: !tile.shared<64x64xbf16>, %row: index) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  // expected-error @+1 {{expected its result to be awaited by its token before it is used}}
  %t, %other = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  // expected-note @+1 {{used here}}
  %u = tile.await %t after %ready : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @k(%q: !tile.shared<64x64xbf16>, %row: index) {
  // expected-error @+1 {{expected an operand of 16-bit elements, f32 or i8, at least 80 along k and 64 along its own dim, got '!tile.shared<64x64xbf16>'}}
  %s, %ready = tile.dot %q[%row], %q k 80 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @body(%r: !tile.rows<f32>) {
  // expected-error @+1 {{expected a body that yields 'f32', got 'index'}}
  %m = tile.map (%r : !tile.rows<f32>) {
  ^bb0(%x: f32):
    %c = arith.constant 0 : index
    tile.yield %c : index
  } : !tile.rows<f32>
  return
}

// -----

func.func @columns(%t: !tile.reg<64x8xf32, accumulator>) {
  // expected-error @+1 {{expected inputs of the result's layout and columns, got '!tile.reg<64x8xf32, accumulator>' for '!tile.reg<64x16xf32, accumulator>'}}
  %m = tile.map (%t : !tile.reg<64x8xf32, accumulator>) {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !tile.reg<64x16xf32, accumulator>
  return
}

// -----

func.func @whole(%t: !tile.reg<64x8xf32, accumulator>, %r: !tile.rows<f32>) {
  // expected-error @+1 {{expected an accumulator of f32 and partial numbers of its rows, got '!tile.reg<64x8xf32, accumulator>' and '!tile.rows<f32>'}}
  %m = tile.reduce_rows add %t, %r : !tile.reg<64x8xf32, accumulator>, !tile.rows<f32>
  return
}

// -----

func.func @roles() {
  // expected-error @+1 {{expected roles of 1 to 8 warpgroups and 24 to 256 registers, a multiple of 8, got 1 of 20}}
  tile.roles counts [1] registers [20] {
  ^bb0(%i: index):
    tile.yield
  }
  return
}

// -----

// 2^57 warpgroups have 2^64 threads, which 64 bits count as none.
func.func @too_many_warpgroups() {
  // expected-error @+1 {{expected roles of 1 to 8 warpgroups and 24 to 256 registers, a multiple of 8, got 144115188075855872 of 24}}
  tile.roles counts [144115188075855872] registers [24] {
  ^bb0(%i: index):
    tile.yield
  }
  return
}

// -----

func.func @splat(%x: f16) {
  // expected-error @+1 {{expected a value of the result's element type, got 'f16' for '!tile.rows<f32>'}}
  %r = tile.splat %x : f16 -> !tile.rows<f32>
  return
}

// -----

func.func @open_body(%r: !tile.rows<f32>) {
  // expected-error @+1 {{expected a body that ends with tile.yield}}
  %m = tile.map (%r : !tile.rows<f32>) {
  ^bb0(%x: f32):
    llvm.unreachable
  } : !tile.rows<f32>
  return
}

// -----

func.func @body_arguments(%r: !tile.rows<f32>) {
  // expected-error @+1 {{expected a body of arguments 'f32', got 'f16'}}
  %m = tile.map (%r : !tile.rows<f32>) {
  ^bb0(%x: f16):
    %c = arith.constant 0.0 : f32
    tile.yield %c : f32
  } : !tile.rows<f32>
  return
}

// -----

func.func @map_to_operand(%t: !tile.reg<64x16xbf16, accumulator>) {
  // expected-error @+1 {{expected a result of layout 'accumulator', got '!tile.reg<64x16xbf16, operand>'}}
  %m = tile.map (%t : !tile.reg<64x16xbf16, accumulator>) {
  ^bb0(%x: bf16):
    tile.yield %x : bf16
  } : !tile.reg<64x16xbf16, operand>
  return
}

// -----

func.func @row_alone(%r: !tile.rows<f32>, %i: index) {
  // expected-error @+1 {{expected both a row and a column, or neither}}
  %m = "tile.map"(%r, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%x: f32):
    tile.yield %x : f32
  }) : (!tile.rows<f32>, index) -> !tile.rows<f32>
  return
}

// -----

func.func @each_operand(%t: !tile.reg<64x16xbf16, operand>, %i: index) {
  // expected-error @+1 {{expected a tile of layout 'accumulator', got '!tile.reg<64x16xbf16, operand>'}}
  tile.each %t at (%i, %i) : !tile.reg<64x16xbf16, operand> {
  ^bb0(%x: vector<2xbf16>, %row: index, %column: index):
    tile.yield
  }
  return
}

// -----

func.func @each_width(%t: !tile.reg<64x16xf32, accumulator>, %i: index) {
  // expected-error @+1 {{expected vectors of 2 elements, or of 8 of 16 bits, got 8 of 'f32'}}
  tile.each %t at (%i, %i) width 8 : !tile.reg<64x16xf32, accumulator> {
  ^bb0(%x: vector<8xf32>, %row: index, %column: index):
    tile.yield
  }
  return
}

// -----

func.func @combine_whole(%r: !tile.rows<f32>) {
  // expected-error @+1 {{expected partial numbers of rows that become whole ones of f32, got '!tile.rows<f32>' and '!tile.rows<f32>'}}
  %m = tile.combine_rows add %r : !tile.rows<f32> -> !tile.rows<f32>
  return
}

// -----

func.func @convert_back(%t: !tile.reg<64x16xbf16, operand>) {
  // expected-error @+1 {{expected an accumulator of f32 and an operand, paired if it is of f32, of as many columns, got '!tile.reg<64x16xbf16, operand>' and '!tile.reg<64x16xbf16, operand>'}}
  %m = tile.convert_layout %t : !tile.reg<64x16xbf16, operand> -> !tile.reg<64x16xbf16, operand>
  return
}

// -----

func.func @narrow_result(%q: !tile.shared<64x64xbf16>, %row: index) {
  // expected-error @+1 {{expected a result of layout 'accumulator' and f32, or i32 of bytes, got '!tile.reg<64x64xbf16, accumulator>'}}
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xbf16, accumulator>
  return
}

// -----

func.func @odd_k(%q: !tile.shared<64x64xbf16>, %row: index) {
  // expected-error @+1 {{expected a multiple of 16 elements along k, got 24 from 0}}
  %s, %ready = tile.dot %q[%row], %q k 24 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @other_sums(%q: !tile.shared<64x64xbf16>, %row: index, %o: !tile.reg<64x32xf32, accumulator>) {
  // expected-error @+1 {{expected an accumulator of the result's type, got '!tile.reg<64x32xf32, accumulator>' for '!tile.reg<64x64xf32, accumulator>'}}
  %s, %ready = tile.dot %q[%row], %q accumulate %o : !tile.reg<64x32xf32, accumulator> k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @few_columns(%p: !tile.reg<64x16xbf16, operand>, %v: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected an operand of layout 'operand' without a row, at least 64 columns of 'bf16', got '!tile.reg<64x16xbf16, operand>'}}
  %s, %ready = tile.dot %p, %v k 64 : !tile.reg<64x16xbf16, operand>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @tf32_of_halves(%q: !tile.shared<64x64xbf16>, %row: index) {
  // expected-error @+1 {{expected operands of f32 for tf32, got '!tile.shared<64x64xbf16>'}}
  %s, %ready = tile.dot %q[%row], %q k 64 {tf32} : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @asynchronous_single(%q: !tile.shared<64x64xf32>, %row: index) {
  // expected-error @+1 {{expected a synchronous product of f32, whose second operand is transposed where the first one is paired, or one of TF32 along k, got '!tile.shared<64x64xf32>' and '!tile.shared<64x64xf32>'}}
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xf32>, !tile.shared<64x64xf32> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @unpaired(%p: !tile.reg<64x64xf32, operand>, %v: !tile.shared<64x64xf32>) {
  // expected-error @+1 {{expected a synchronous product of f32, whose second operand is transposed where the first one is paired}}
  %s, %ready = tile.dot %p, %v k 64 {synchronous, transposed_b} : !tile.reg<64x64xf32, operand>, !tile.shared<64x64xf32> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @convert_unpaired(%t: !tile.reg<64x16xf32, accumulator>) {
  // expected-error @+1 {{expected an accumulator of f32 and an operand, paired if it is of f32, of as many columns, got '!tile.reg<64x16xf32, accumulator>' and '!tile.reg<64x16xf32, operand>'}}
  %m = tile.convert_layout %t : !tile.reg<64x16xf32, accumulator> -> !tile.reg<64x16xf32, operand>
  return
}

// -----

func.func @odd_k_of_single(%q: !tile.shared<64x64xf32>, %row: index) {
  // expected-error @+1 {{expected a multiple of 8 elements along k, got 12 from 0}}
  %s, %ready = tile.dot %q[%row], %q k 12 {synchronous} : !tile.shared<64x64xf32>, !tile.shared<64x64xf32> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @no_row(%q: !tile.shared<64x64xbf16>) {
  // expected-error @+1 {{expected a row of a tile of 'bf16', got '!tile.shared<64x64xbf16>'}}
  %s, %ready = tile.dot %q, %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @no_dot(%t: !tile.reg<64x64xf32, accumulator>, %token: !tile.token) {
  // expected-error @+1 {{expected tokens of tile.dot}}
  %u = tile.await %t after %token : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @another_result(%q: !tile.shared<64x64xbf16>, %row: index, %t: !tile.reg<64x64xf32, accumulator>) {
  %s, %ready = tile.dot %q[%row], %q k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  // expected-error @+1 {{expected results of tile.dot}}
  %u = tile.await %t after %ready : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @issued(%b: !tile.shared<8x64xbf16>) {
  // expected-error @+1 {{expected 4 results and as many sums or none, got 1 and 0}}
  %r = tile.issue sums() words() b %b columns 8 k 16 : !tile.shared<8x64xbf16> -> f32
  return
}

// -----

func.func @no_first_operand(%b: !tile.shared<8x64xbf16>) {
  // expected-error @+1 {{expected a tile or at least 4 words as the first operand, got 0}}
  %r:4 = tile.issue sums() words() b %b columns 8 k 16 : !tile.shared<8x64xbf16> -> f32, f32, f32, f32
  return
}

// -----

func.func @retired(%x: f32) {
  // expected-error @+1 {{expected as many results as sums, got 1 and 2}}
  %r = tile.retire 0 sums(%x, %x : f32, f32) words() -> f32
  return
}

// -----

func.func @roles_without_registers() {
  // expected-error @+1 {{expected a count and registers for each of 1 roles, got 1 and 2}}
  tile.roles counts [1] registers [24, 240] {
  ^bb0(%i: index):
    tile.yield
  }
  return
}

// -----

func.func @other_columns(%t: !tile.reg<64x64xf32, accumulator>, %c: !tile.columns<32, f32>) {
  // expected-error @+1 {{expected inputs of the result's layout and columns, got '!tile.columns<32, f32>' for '!tile.reg<64x64xf32, accumulator>'}}
  %s = tile.map (%t, %c : !tile.reg<64x64xf32, accumulator>, !tile.columns<32, f32>) {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @rows_of_columns(%r: !tile.rows<f32>) {
  // expected-error @+1 {{expected inputs of the result's layout and columns, got '!tile.rows<f32>' for '!tile.columns<32, f32>'}}
  %s = tile.map (%r : !tile.rows<f32>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : !tile.columns<32, f32>
  return
}

// -----

// 384 threads start with 168 registers each: the last one to ask for 240 would wait for ever.
func.func @registers_in_all() {
  // expected-error @+1 {{expected at most 504 registers of a thread of each of 3 warpgroups together, which the block starts with, got 512}}
  tile.roles counts [1, 2] registers [32, 240] {
  ^bb0(%loader: index):
    tile.yield
  }, {
  ^bb0(%consumer: index):
    tile.yield
  }
  return
}

// -----

func.func @pairs_without_place(%t: !tile.reg<64x16xf32, accumulator>) {
  // expected-error @+1 {{expected a width of 1, or of 2 for an accumulator with a place and without numbers of columns, got 2}}
  %m = tile.map (%t : !tile.reg<64x16xf32, accumulator>) width 2 {
  ^bb0(%x: vector<2xf32>):
    tile.yield %x : vector<2xf32>
  } : !tile.reg<64x16xf32, accumulator>
  return
}

// -----

func.func @pairs_of_rows(%r: !tile.rows<f32>, %first: index) {
  // expected-error @+1 {{expected a width of 1, or of 2 for an accumulator with a place and without numbers of columns, got 2}}
  %m = tile.map (%r : !tile.rows<f32>) at (%first, %first) width 2 {
  ^bb0(%x: vector<2xf32>, %row: index, %column: index):
    tile.yield %x : vector<2xf32>
  } : !tile.rows<f32>
  return
}

// -----

func.func @pairs_of_columns(%t: !tile.reg<64x16xf32, accumulator>, %c: !tile.columns<16, f32>, %first: index) {
  // expected-error @+1 {{expected a width of 1, or of 2 for an accumulator with a place and without numbers of columns, got 2}}
  %m = tile.map (%t, %c : !tile.reg<64x16xf32, accumulator>, !tile.columns<16, f32>) at (%first, %first) width 2 {
  ^bb0(%x: vector<2xf32>, %y: f32, %row: index, %column: index):
    tile.yield %x : vector<2xf32>
  } : !tile.reg<64x16xf32, accumulator>
  return
}

// -----

func.func @four(%t: !tile.reg<64x16xf32, accumulator>, %first: index) {
  // expected-error @+1 {{expected a width of 1, or of 2 for an accumulator with a place and without numbers of columns, got 4}}
  %m = tile.map (%t : !tile.reg<64x16xf32, accumulator>) at (%first, %first) width 4 {
  ^bb0(%x: vector<4xf32>, %row: index, %column: index):
    tile.yield %x : vector<4xf32>
  } : !tile.reg<64x16xf32, accumulator>
  return
}

// -----

func.func @pairs_of_scalars(%t: !tile.reg<64x16xf32, accumulator>, %first: index) {
  // expected-error @+1 {{expected a body of arguments 'vector<2xf32>', 'index', 'index', got 'f32', 'index', 'index'}}
  %m = tile.map (%t : !tile.reg<64x16xf32, accumulator>) at (%first, %first) width 2 {
  ^bb0(%x: f32, %row: index, %column: index):
    tile.yield %x : f32
  } : !tile.reg<64x16xf32, accumulator>
  return
}

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @stage_not_full(%p: !tile.reg<64x64xbf16, operand>, %i: index) {
  %ring = tile.ring arrivals 1 consumers 1 : !ring
  // expected-note @+1 {{the stage}}
  %k = tile.slot %ring[%i] 0 : !ring -> !smem
  // expected-error @+1 {{expected a tile.wait_full of its stage before it reads tile 0 of '!tile.ring<2, <64x64xbf16>>'}}
  %s, %t = tile.dot %p, %k k 64 : !tile.reg<64x64xbf16, operand>, !smem -> !tile.reg<64x64xf32, accumulator>
  %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
  // Too late.
  tile.wait_full %ring[%i] phase %i : !ring
  return
}

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
// The stage before is full.
func.func @another_stage(%p: !tile.reg<64x64xbf16, operand>, %i: index) {
  %ring = tile.ring arrivals 1 consumers 1 : !ring
  %next = arith.addi %i, %i : index
  // expected-note @+1 {{the stage}}
  %k = tile.slot %ring[%next] 0 : !ring -> !smem
  tile.wait_full %ring[%i] phase %i : !ring
  // expected-error @+1 {{expected a tile.wait_full of its stage before it reads tile 0 of '!tile.ring<2, <64x64xbf16>>'}}
  %s, %t = tile.dot %p, %k k 64 : !tile.reg<64x64xbf16, operand>, !smem -> !tile.reg<64x64xf32, accumulator>
  %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
func.func @another_ring(%p: !tile.reg<64x64xbf16, operand>, %i: index) {
  %keys = tile.ring arrivals 1 consumers 1 : !ring
  %values = tile.ring arrivals 1 consumers 1 : !ring
  // expected-note @+1 {{the stage}}
  %k = tile.slot %values[%i] 0 : !ring -> !smem
  tile.wait_full %keys[%i] phase %i : !ring
  // expected-error @+1 {{expected a tile.wait_full of its stage before it reads tile 0 of '!tile.ring<2, <64x64xbf16>>'}}
  %s, %t = tile.dot %p, %k k 64 : !tile.reg<64x64xbf16, operand>, !smem -> !tile.reg<64x64xf32, accumulator>
  %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
  return
}

// -----

!smem = !tile.shared<64x64xbf16>
!ring = !tile.ring<2, !tile.shared<64x64xbf16>>
// The first iteration has not waited.
func.func @first_iteration(%p: !tile.reg<64x64xbf16, operand>, %i: index) {
  %ring = tile.ring arrivals 1 consumers 1 : !ring
  %end = scf.for %j = %i to %i step %i iter_args(%stage = %i) -> index {
    // expected-note @+1 {{the stage}}
    %k = tile.slot %ring[%stage] 0 : !ring -> !smem
    // expected-error @+1 {{expected a tile.wait_full of its stage before it reads tile 0 of '!tile.ring<2, <64x64xbf16>>'}}
    %s, %t = tile.dot %p, %k k 64 : !tile.reg<64x64xbf16, operand>, !smem -> !tile.reg<64x64xf32, accumulator>
    %r = tile.await %s after %t : !tile.reg<64x64xf32, accumulator>
    %next = arith.addi %stage, %j : index
    tile.wait_full %ring[%next] phase %i : !ring
    scf.yield %next : index
  }
  return
}

// -----

func.func @second_not_full(%i: index, %c: !tile.reg<64x64xf32, accumulator>, %yes: i1) {
  %ring = tile.ring arrivals 1 consumers 1 : !tile.ring<2, !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16>>
  %a = tile.alloc : !tile.shared<64x64xbf16>
  // expected-note @+1 {{the stage}}
  %b = tile.slot %ring[%i] 1 : !tile.ring<2, !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
  // expected-error @+1 {{expected a tile.wait_full of its stage before it reads tile 1 of}}
  %d, %token = tile.dot %a[%i], %b accumulate %c : !tile.reg<64x64xf32, accumulator> if %yes k 64
      : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

// expected-error @+1 {{expected 8 to 256 columns, a multiple of 8, got 260}}
func.func private @many_columns(!tile.reg<64x260xf32, accumulator>)

// -----

// Of sums that go round a loop without their token, nobody knows when they are there.
func.func @carried_unawaited(%a: !tile.shared<64x64xbf16>, %i: index, %none: !tile.reg<64x64xf32, accumulator>) -> !tile.reg<64x64xf32, accumulator> {
  %sums = scf.for %j = %i to %i step %i iter_args(%before = %none) -> (!tile.reg<64x64xf32, accumulator>) {
    // expected-error @+1 {{expected its result to be awaited by its token before it is used}}
    %d, %token = tile.dot %a[%i], %a accumulate %before : !tile.reg<64x64xf32, accumulator> k 64
        : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
    scf.yield %d : !tile.reg<64x64xf32, accumulator>
  }
  // expected-note @+1 {{used here}}
  return %sums : !tile.reg<64x64xf32, accumulator>
}

// -----

func.func @condition_of_nothing(%q: !tile.shared<64x64xbf16>, %row: index, %later: i1) {
  // expected-error @+1 {{expected an accumulator for the condition}}
  %s, %ready = tile.dot %q[%row], %q if %later k 64 : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @synchronous_from(%q: !tile.shared<64x64xbf16>, %row: index) {
  // expected-error @+1 {{expected no bytes, no condition and all of the second operand of a synchronous product}}
  %s, %ready = tile.dot %q[%row], %q from 16 k 16 {synchronous} : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @bytes_across(%q: !tile.shared<64x64xi8>, %row: index) {
  // expected-error @+1 {{expected bytes that run along k, got '!tile.shared<64x64xi8>' and '!tile.shared<64x64xi8>'}}
  %s, %ready = tile.dot %q[%row], %q k 64 {transposed_b} : !tile.shared<64x64xi8>, !tile.shared<64x64xi8> -> !tile.reg<64x64xi32, accumulator>
  return
}

// -----

func.func @beyond(%p: !tile.reg<64x16xf32, operand>, %b: !tile.shared<64x32xf32>) {
  // expected-error @+1 {{expected an operand of 16-bit elements, f32 or i8, at least 40 along k and 64 along its own dim, got '!tile.shared<64x32xf32>'}}
  %s, %ready = tile.dot %p, %b from 24 k 16 {tf32} : !tile.reg<64x16xf32, operand>, !tile.shared<64x32xf32> -> !tile.reg<64x64xf32, accumulator>
  return
}

// -----

func.func @uneven_blocks(%x: f32, %s: !tile.shared<64x8xf32>, %i: index) {
  // expected-error @+1 {{expected a multiple of 4 sums of one type, of which each of 2 blocks gets its share, got 4 and 1}}
  %r = tile.sum_blocks sums(%x, %x, %x, %x : f32, f32, f32, f32) through %s[%i] blocks 2 : !tile.shared<64x8xf32> -> f32
  return
}

// -----

func.func @odd_words(%a: !tile.shared<32x256xf32>, %i: index) {
  // expected-error @+1 {{expected four words of each of one or two parts, or a multiple, got 2 of 1}}
  %w:2 = tile.read_fragment_words %a[%i] from 0 parts 1 : !tile.shared<32x256xf32> -> i32, i32
  return
}
