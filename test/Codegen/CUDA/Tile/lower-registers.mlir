// RUN: xc-opt %s -xc-cuda-lower-registers -canonicalize -cse | FileCheck %s --implicit-check-not=!tile.reg --implicit-check-not=!tile.rows

!acc = !tile.reg<64x16xf32, accumulator>
!operand = !tile.reg<64x16xbf16, operand>

// A thread has 8 of the 64 x 16 elements: of two rows 8 apart, four of each, in columns 0, 1, 8 and 9 from its first one on.
// CHECK-LABEL: func.func @places
// CHECK:         %[[IN_GROUP:.*]] = arith.remui %{{.*}}, %c128
// CHECK:         %[[LANE:.*]] = arith.remui %[[IN_GROUP]], %c32
// CHECK:         %[[WARP:.*]] = arith.divui %[[IN_GROUP]], %c32
// CHECK:         %[[QUARTER:.*]] = arith.remui %[[LANE]], %c4
// CHECK:         %[[OF_WARP:.*]] = arith.muli %[[WARP]], %c16
// CHECK:         %[[OF_LANE:.*]] = arith.divui %[[LANE]], %c4
// CHECK:         %[[UPPER:.*]] = arith.addi %[[OF_WARP]], %[[OF_LANE]]
// CHECK:         %[[TWICE:.*]] = arith.muli %[[QUARTER]], %c2
// CHECK:         %[[FIRST:.*]] = arith.addi %arg1, %[[TWICE]]
// CHECK:         memref.store %{{.*}}, %arg2[%[[UPPER]], %[[FIRST]]]
// CHECK:         %[[LOWER:.*]] = arith.addi %[[UPPER]], %c8
// CHECK:         memref.store %{{.*}}, %arg2[%[[LOWER]], %[[FIRST]]]
// CHECK:         %[[NEXT:.*]] = arith.addi %[[FIRST]], %c8
// CHECK:         memref.store %{{.*}}, %arg2[%[[UPPER]], %[[NEXT]]]
// CHECK:         memref.store %{{.*}}, %arg2[%[[LOWER]], %[[NEXT]]]
func.func @places(%x: f32, %column: index, %m: memref<?x?xvector<2xf32>>) {
  %zero = arith.constant 0 : index
  %t = tile.splat %x : f32 -> !acc
  tile.each %t at (%zero, %column) : !acc {
  ^bb0(%pair: vector<2xf32>, %row: index, %first: index):
    memref.store %pair, %m[%row, %first] : memref<?x?xvector<2xf32>>
    tile.yield
  }
  return
}

// Vectors of eight: words go to the neighbour of a pair of threads, then to the other pair. The last two of four threads have no vector.
// CHECK-LABEL: func.func @vectors
// CHECK-COUNT-2: gpu.shuffle xor %{{.*}}, %c1_i32
// CHECK-COUNT-2: gpu.shuffle xor %{{.*}}, %c2_i32
// CHECK:         %[[THERE:.*]] = arith.cmpi ult, %[[QUARTER:.*]], %c2
// CHECK:         scf.if %[[THERE]] {
// CHECK-NEXT:      memref.store %{{.*}}, %arg2[%{{.*}}, %{{.*}}] : memref<?x?xvector<8xbf16>>
// CHECK-COUNT-4: gpu.shuffle
// CHECK-NOT:     gpu.shuffle
func.func @vectors(%x: memref<?x?xbf16>, %column: index, %m: memref<?x?xvector<8xbf16>>) {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %r = tile.splat %none : f32 -> !tile.rows<f32>
  %t = tile.map (%r : !tile.rows<f32>) at (%zero, %column) {
  ^bb0(%same: f32, %row: index, %at: index):
    %e = memref.load %x[%row, %at] : memref<?x?xbf16>
    tile.yield %e : bf16
  } : !tile.reg<64x16xbf16, accumulator>
  tile.each %t at (%zero, %column) width 8 : !tile.reg<64x16xbf16, accumulator> {
  ^bb0(%v: vector<8xbf16>, %row: index, %first: index):
    memref.store %v, %m[%row, %first] : memref<?x?xvector<8xbf16>>
    tile.yield
  }
  return
}

// Neighbours of a row together: two loads for the four elements of a thread, in rows that are 8 apart; a row's number goes to both.
// CHECK-LABEL: func.func @pairs
// CHECK:         %[[FIRST:.*]] = vector.load %arg0[%[[ROW:.*]], %[[COLUMN:.*]]] : memref<?x?xf32>, vector<2xf32>
// CHECK:         arith.mulf %[[FIRST]], %{{.*}} : vector<2xf32>
// CHECK:         %[[BELOW:.*]] = arith.addi %[[ROW]], %c8
// CHECK:         vector.load %arg0[%[[BELOW]], %[[COLUMN]]] : memref<?x?xf32>, vector<2xf32>
// CHECK-COUNT-2: vector.load
// CHECK-NOT:     vector.load
func.func @pairs(%x: memref<?x?xf32>, %column: index, %f: f32, %m: memref<?x?xvector<2xf32>>) {
  %zero = arith.constant 0 : index
  %r = tile.splat %f : f32 -> !tile.rows<f32>
  %t = tile.map (%r : !tile.rows<f32>) at (%zero, %column) width 2 {
  ^bb0(%factor: f32, %row: index, %at: index):
    %e = vector.load %x[%row, %at] : memref<?x?xf32>, vector<2xf32>
    %both = vector.broadcast %factor : f32 to vector<2xf32>
    %y = arith.mulf %e, %both : vector<2xf32>
    tile.yield %y : vector<2xf32>
  } : !acc
  tile.each %t at (%zero, %column) : !acc {
  ^bb0(%pair: vector<2xf32>, %row: index, %first: index):
    memref.store %pair, %m[%row, %first] : memref<?x?xvector<2xf32>>
    tile.yield
  }
  return
}

// Through a loop: eight sums and two numbers of rows.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[R:.*]]:10 = scf.for
// CHECK-COUNT-8:   arith.mulf
// CHECK:           scf.yield
func.func @loop(%x: f32, %n: index, %m: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = tile.splat %x : f32 -> !acc
  %r = tile.splat %x : f32 -> !tile.rows<f32>
  %end:2 = scf.for %i = %zero to %n step %one iter_args(%s = %t, %f = %r) -> (!acc, !tile.rows<f32>) {
    %scaled = tile.map (%s, %f : !acc, !tile.rows<f32>) {
    ^bb0(%e: f32, %g: f32):
      %y = arith.mulf %e, %g : f32
      tile.yield %y : f32
    } : !acc
    %next = tile.map (%f : !tile.rows<f32>) {
    ^bb0(%g: f32):
      %y = arith.negf %g : f32
      tile.yield %y : f32
    } : !tile.rows<f32>
    scf.yield %scaled, %next : !acc, !tile.rows<f32>
  }
  %part = tile.splat %x : f32 -> !tile.rows<f32, partial>
  %sum = tile.reduce_rows add %end#0, %part : !acc, !tile.rows<f32, partial>
  %whole = tile.combine_rows add %sum : !tile.rows<f32, partial> -> !tile.rows<f32>
  tile.each %whole at (%zero, %zero) : !tile.rows<f32> {
  ^bb0(%e: f32, %row: index):
    memref.store %e, %m[%row] : memref<?xf32>
    tile.yield
  }
  return
}

// The four threads of a row combine what they have by two shuffles. (Here the thread's two rows have one number.)
// CHECK-LABEL: func.func @combine
// CHECK:         gpu.shuffle xor %{{.*}}, %c1_i32
// CHECK:         gpu.shuffle xor %{{.*}}, %c2_i32
// CHECK-NOT:     gpu.shuffle
func.func @combine(%x: f32, %m: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %t = tile.splat %x : f32 -> !tile.rows<f32, partial>
  %y = tile.combine_rows max %t : !tile.rows<f32, partial> -> !tile.rows<f32>
  tile.each %y at (%zero, %zero) : !tile.rows<f32> {
  ^bb0(%e: f32, %row: index):
    memref.store %e, %m[%row] : memref<?xf32>
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @product
// CHECK:         %[[S:.*]]:8 = tile.issue sums() a %arg0[%arg2] words() b %arg1 columns 16 k 64
// CHECK:         %[[D:.*]]:8 = tile.retire 0 sums(%[[S]]#0,
// CHECK:         arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK:         tile.issue sums(%[[D]]#0, {{.*}}) words(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32) b %arg3 columns 16 k 16 {transposed_b}
// CHECK:         tile.retire 0 sums({{.*}}) words(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32)
func.func @product(%q: !tile.shared<64x64xbf16>, %k: !tile.shared<16x64xbf16>, %row: index, %v: !tile.shared<16x64xbf16>) {
  %s, %ready = tile.dot %q[%row], %k k 64 : !tile.shared<64x64xbf16>, !tile.shared<16x64xbf16> -> !acc
  %d = tile.await %s after %ready pending 0 : !acc
  %p = tile.convert_layout %d : !acc -> !operand
  %o, %done = tile.dot %p, %v accumulate %d : !acc k 16 {transposed_b} : !operand, !tile.shared<16x64xbf16> -> !acc
  %r = tile.await %o after %done keep %p : !operand pending 0 : !acc
  return
}

// Sums and operands in registers go round a loop, tokens are no values. One op waits for several products.
// CHECK-LABEL: func.func @carried
// CHECK:         %[[LAST:.*]]:20 = scf.for
// CHECK:           %[[W:.*]]:8 = tile.read_fragment_words %arg0[%arg2] from 32 parts 2 : {{.*}}<64x128xi8> ->
// CHECK:           %[[A:.*]]:8 = tile.issue sums(%{{.*}} : i32, i32, i32, i32, i32, i32, i32, i32) if %arg4 words(%[[W]]#0, %[[W]]#1, %[[W]]#2, %[[W]]#3 : i32, i32, i32, i32) b %arg1 from 32 columns 16 k 32
// CHECK:           %[[B:.*]]:8 = tile.issue {{.*}} words(%[[W]]#4, %[[W]]#5, %[[W]]#6, %[[W]]#7 : i32, i32, i32, i32)
// CHECK:           tile.retire 2 sums() words(%{{.*}} : i32, i32, i32, i32)
// CHECK:           scf.yield %[[A]]#0, {{.*}}, %[[B]]#7, %[[W]]#0, %[[W]]#1, %[[W]]#2, %[[W]]#3 :
// CHECK:         %[[D:.*]]:16 = tile.retire 0 sums(%[[LAST]]#0, {{.*}}%[[LAST]]#15 : {{.*}}) words(%[[LAST]]#16, %[[LAST]]#17, %[[LAST]]#18, %[[LAST]]#19 :
// CHECK:         tile.sum_blocks sums(%[[D]]#0, {{.*}}, %[[D]]#7 : {{.*}}) through %arg3[%arg2] blocks 2 : {{.*}} -> i32, i32, i32, i32
// CHECK:         %[[PAIR:.*]] = vector.from_elements %[[D]]#10, %[[D]]#11 : vector<2xi32>
// CHECK:         return %[[PAIR]]
func.func @carried(%a: !tile.shared<64x128xi8>, %b: !tile.shared<16x64xi8>, %i: index, %scratch: !tile.shared<64x16xi32>, %later: i1, %n: index) -> vector<2xi32> {
  %none = tile.undefined : !tile.reg<64x16xi32, accumulator>
  %before = tile.undefined : !tile.reg<64x32xi8, operand>
  %nothing = tile.nothing
  %r:5 = scf.for %j = %i to %n step %i iter_args(%x = %none, %y = %none, %kept = %before, %token = %nothing, %other = %nothing)
      -> (!tile.reg<64x16xi32, accumulator>, !tile.reg<64x16xi32, accumulator>, !tile.reg<64x32xi8, operand>, !tile.token, !tile.token) {
    %f:2 = tile.read_fragments %a[%i] from 32 : !tile.shared<64x128xi8> -> !tile.reg<64x32xi8, operand>, !tile.reg<64x32xi8, operand>
    %d, %first = tile.dot %f#0, %b from 32 accumulate %x : !tile.reg<64x16xi32, accumulator> if %later k 32
        : !tile.reg<64x32xi8, operand>, !tile.shared<16x64xi8> -> !tile.reg<64x16xi32, accumulator>
    %e, %second = tile.dot %f#1, %b from 32 accumulate %y : !tile.reg<64x16xi32, accumulator> if %later k 32
        : !tile.reg<64x32xi8, operand>, !tile.shared<16x64xi8> -> !tile.reg<64x16xi32, accumulator>
    tile.await after %token, %other keep %kept : !tile.reg<64x32xi8, operand> pending 2
    scf.yield %d, %e, %f#0, %first, %second
        : !tile.reg<64x16xi32, accumulator>, !tile.reg<64x16xi32, accumulator>, !tile.reg<64x32xi8, operand>, !tile.token, !tile.token
  }
  %done:2 = tile.await %r#0, %r#1 after %r#3, %r#4 keep %r#2 : !tile.reg<64x32xi8, operand> pending 0 : !tile.reg<64x16xi32, accumulator>, !tile.reg<64x16xi32, accumulator>
  %part = tile.reduce_blocks %done#0 through %scratch[%i] blocks 2 : !tile.reg<64x16xi32, accumulator>, !tile.shared<64x16xi32> -> !tile.reg<64x8xi32, accumulator>
  %pair = tile.fragment %done#1[0, 1] : !tile.reg<64x16xi32, accumulator> -> vector<2xi32>
  return %pair : vector<2xi32>
}

// Words of f32: those of both rows of a column before the next one's.
// CHECK-LABEL: func.func @single_product
// CHECK:         %[[S:.*]]:4 = tile.issue sums() a %arg0[%arg2] words() b %arg1 columns 8 k 32 {synchronous}
// CHECK-NEXT:    %[[A:.*]] = arith.bitcast %[[S]]#0 : f32 to i32
// CHECK-NEXT:    %[[B:.*]] = arith.bitcast %[[S]]#2 : f32 to i32
// CHECK-NEXT:    %[[C:.*]] = arith.bitcast %[[S]]#1 : f32 to i32
// CHECK-NEXT:    %[[D:.*]] = arith.bitcast %[[S]]#3 : f32 to i32
// CHECK-NEXT:    tile.issue sums() words(%[[A]], %[[B]], %[[C]], %[[D]] : i32, i32, i32, i32) b %arg3 columns 16 k 8 {synchronous, tf32, transposed_b}
func.func @single_product(%q: !tile.shared<64x32xf32>, %k: !tile.shared<8x32xf32>, %row: index, %v: !tile.shared<8x32xf32>) {
  %s, %ready = tile.dot %q[%row], %k k 32 {synchronous} : !tile.shared<64x32xf32>, !tile.shared<8x32xf32> -> !tile.reg<64x8xf32, accumulator>
  %p = tile.convert_layout %s : !tile.reg<64x8xf32, accumulator> -> !tile.reg<64x8xf32, paired>
  %o, %done = tile.dot %p, %v k 8 {synchronous, tf32, transposed_b} : !tile.reg<64x8xf32, paired>, !tile.shared<8x32xf32> -> !tile.reg<64x16xf32, accumulator>
  return
}

// Lane l has the numbers of columns 2 * l and 2 * l + 1; each element's comes from the lane that has it, once for both rows.
// CHECK-LABEL: func.func @columns
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK:         %[[TWICE:.*]] = arith.muli %[[LANE]], %c2
// CHECK:         %[[OWN:.*]] = arith.addi %arg0, %[[TWICE]]
// CHECK:         %[[EVEN:.*]] = memref.load %arg1[%[[OWN]]]
// CHECK:         %[[NEXT:.*]] = arith.addi %[[OWN]], %c1
// CHECK:         %[[ODD:.*]] = memref.load %arg1[%[[NEXT]]]
// CHECK:         %[[QUARTER:.*]] = arith.remui %[[LANE]], %c4
// CHECK:         %[[FROM:.*]] = arith.index_cast %[[QUARTER]] : index to i32
// CHECK:         gpu.shuffle idx %[[EVEN]], %[[FROM]], %c32_i32
// CHECK:         gpu.shuffle idx %[[ODD]], %[[FROM]], %c32_i32
// CHECK:         %[[FURTHER:.*]] = arith.addi %[[QUARTER]], %c4
// CHECK:         %[[FROM2:.*]] = arith.index_cast %[[FURTHER]] : index to i32
// CHECK:         gpu.shuffle idx %[[EVEN]], %[[FROM2]], %c32_i32
// CHECK:         gpu.shuffle idx %[[ODD]], %{{.*}}, %c32_i32
// CHECK-NOT:     gpu.shuffle
func.func @columns(%column: index, %m: memref<?xf32>, %out: memref<?x?xvector<2xf32>>) {
  %zero = arith.constant 0 : index
  %c = tile.map () at (%zero, %column) {
  ^bb0(%row: index, %at: index):
    %x = memref.load %m[%at] : memref<?xf32>
    tile.yield %x : f32
  } : !tile.columns<16, f32>
  %t = tile.map (%c : !tile.columns<16, f32>) {
  ^bb0(%x: f32):
    tile.yield %x : f32
  } : !acc
  tile.each %t at (%zero, %column) : !acc {
  ^bb0(%pair: vector<2xf32>, %row: index, %first: index):
    memref.store %pair, %out[%row, %first] : memref<?x?xvector<2xf32>>
    tile.yield
  }
  return
}
