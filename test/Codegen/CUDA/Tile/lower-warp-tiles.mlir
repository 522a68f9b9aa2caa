// RUN: xc-opt %s -split-input-file -xc-cuda-lower-registers -canonicalize -cse | FileCheck %s --implicit-check-not=!tile.warp

!a = !tile.shared<64x32xbf16, lines>
!b = !tile.shared<32x128xbf16, lines>
!ring = !tile.ring<3, !a, !b>

// Lane l has the address of line l % 8 of matrix l / 8: of the first operand, matrices 1 and 3 are 8 rows below, 2 and 3 a chunk further along k.
// Lines of 64 bytes share 128-byte rows, whose number permutes chunks. The stage is added to an address in the first one.
// CHECK-LABEL: func.func @first_operand(
// CHECK-SAME:    %[[RING:.*]]: !tile.ring<{{.*}}>, %[[STAGE:.*]]: index, %[[ROW:.*]]: index)
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK:         %[[LINE8:.*]] = arith.remui %[[LANE]], %c8
// CHECK:         %[[MATRIX:.*]] = arith.divui %[[LANE]], %c8
// CHECK:         %[[ODD:.*]] = arith.remui %[[MATRIX]], %c2
// CHECK:         %[[UPPER:.*]] = arith.divui %[[LANE]], %c16
// CHECK:         %[[BELOW:.*]] = arith.muli %[[ODD]], %c8
// CHECK:         %[[IN:.*]] = arith.addi %[[LINE8]], %[[BELOW]]
// CHECK:         %[[LINE:.*]] = arith.addi %[[ROW]], %[[IN]]
// CHECK:         %[[CHUNK:.*]] = arith.addi %[[UPPER]], %c2
// CHECK:         %[[BANKS:.*]] = arith.divui %[[LINE]], %c2
// CHECK:         %[[KEY:.*]] = arith.remui %[[BANKS]], %c4
// CHECK:         %[[PERMUTED:.*]] = arith.xori %[[CHUNK]], %[[KEY]]
// CHECK:         %[[START:.*]] = arith.muli %[[LINE]], %c32
// CHECK:         %[[AT:.*]] = arith.muli %[[PERMUTED]], %c8
// CHECK:         %[[PLACE:.*]] = arith.addi %[[START]], %[[AT]]
// CHECK:         %[[FIRST:.*]] = tile.slot %[[RING]][%c0] 0
// CHECK:         %[[SKIPPED:.*]] = arith.muli %[[STAGE]], %c2048
// CHECK:         %[[PLACE64:.*]] = arith.index_cast %[[PLACE]] : index to i64
// CHECK:         %[[OWN:.*]] = llvm.getelementptr %{{.*}}[%[[PLACE64]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
// CHECK:         %[[SKIPPED64:.*]] = arith.index_cast %[[SKIPPED]] : index to i64
// CHECK:         %[[FROM:.*]] = llvm.getelementptr %[[OWN]][%[[SKIPPED64]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
// CHECK:         nvvm.ldmatrix %[[FROM]] {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-NOT:     nvvm.ldmatrix
func.func @first_operand(%ring: !ring, %stage: index, %row: index) {
  %k = arith.constant 16 : index
  %tile = tile.slot %ring[%stage] 0 : !ring -> !a
  %x = tile.read_operand %tile[%row, %k] : !a -> !tile.warp<16x16xbf16, first>
  return
}

// Rows that are a known number behind others, after which the swizzle repeats, are as many elements behind them.
// CHECK-LABEL: func.func @known_rows
// CHECK:         arith.xori
// CHECK:         %[[PLACE:.*]] = arith.addi %{{.*}}, %{{.*}} overflow<nsw> : index
// CHECK-NEXT:    arith.addi %[[PLACE]], %c512
func.func @known_rows(%tile: !a, %row: index) {
  %k = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %below = arith.addi %row, %c16 : index
  %x = tile.read_operand %tile[%below, %k] : !a -> !tile.warp<16x16xbf16, first>
  return
}

// 32 columns of a tile whose lines run along them are two times four matrices, which ldmatrix transposes; pairs of f16 are vectors.
// CHECK-LABEL: func.func @second_operand
// CHECK:         nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-4: llvm.bitcast %{{.*}} : i32 to vector<2xf16>
// CHECK-COUNT-2: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK-NOT:     nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
func.func @second_operand(%other: !tile.shared<64x32xf16, lines>, %tile: !tile.shared<32x128xf16, lines>, %column: index, %zero: f32) -> vector<2xf32> {
  %k = arith.constant 16 : index
  %a = tile.read_operand %other[%column, %k] : !tile.shared<64x32xf16, lines> -> !tile.warp<16x16xf16, first>
  %b = tile.read_operand %tile[%column, %k] transposed : !tile.shared<32x128xf16, lines> -> !tile.warp<16x32xf16, second>
  %c = tile.splat %zero : f32 -> !tile.warp<16x32xf32, accumulator>
  %d = tile.multiply %a, %b, %c : !tile.warp<16x16xf16, first>, !tile.warp<16x32xf16, second>, !tile.warp<16x32xf32, accumulator>
  %pair = tile.fragment %d[24, 0] : !tile.warp<16x32xf32, accumulator> -> vector<2xf32>
  return %pair : vector<2xf32>
}

// f32 across its lines is read word by word, and rounded; what has been rounded before is not.
// CHECK-LABEL: func.func @words
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK-COUNT-4: nvvm.convert.float.to.tf32
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK-NOT:     nvvm.convert.float.to.tf32
// CHECK:         nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>
func.func @words(%tile: !tile.shared<32x64xf32, even>, %row: index, %zero: f32) -> vector<2xf32> {
  %k = arith.constant 8 : index
  %a = tile.read_operand %tile[%row, %k] transposed tf32 : !tile.shared<32x64xf32, even> -> !tile.warp<16x8xf32, first>
  %b = tile.read_operand %tile[%row, %k] transposed : !tile.shared<32x64xf32, even> -> !tile.warp<8x16xf32, second>
  %c = tile.splat %zero : f32 -> !tile.warp<16x16xf32, accumulator>
  %d = tile.multiply %a, %b, %c : !tile.warp<16x8xf32, first>, !tile.warp<8x16xf32, second>, !tile.warp<16x16xf32, accumulator>
  %pair = tile.fragment %d[0, 0] : !tile.warp<16x16xf32, accumulator> -> vector<2xf32>
  return %pair : vector<2xf32>
}

// -----

// Eight columns at a time: four words of the first operand, two of the second, four sums, of which a pair is two neighbours of a row.
// CHECK-LABEL: func.func @multiply
// CHECK:         nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%[[ZERO:.*]], %[[ZERO]], %[[ZERO]], %[[ZERO]]] {intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, {{.*}}multiplicandAPtxType = #nvvm.mma_type<u8>, multiplicandBPtxType = #nvvm.mma_type<s8>, shape = #nvvm.shape<m = 16, n = 8, k = 32>}
// CHECK:         %[[D:.*]] = nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
// CHECK-DAG:     %[[LOW:.*]] = llvm.extractvalue %[[D]][2]
// CHECK-DAG:     %[[HIGH:.*]] = llvm.extractvalue %[[D]][3]
// CHECK:         vector.from_elements %[[LOW]], %[[HIGH]] : vector<2xi32>
func.func @multiply(%tile: !tile.shared<64x64xi8, lines>, %i: index) -> vector<2xi32> {
  %k = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %a = tile.read_operand %tile[%i, %k] : !tile.shared<64x64xi8, lines> -> !tile.warp<16x32xi8, first>
  %b = tile.read_operand %tile[%i, %k] : !tile.shared<64x64xi8, lines> -> !tile.warp<32x16xi8, second>
  %c = tile.splat %zero : i32 -> !tile.warp<16x16xi32, accumulator>
  %d = tile.multiply %a, %b, %c {unsigned_a} : !tile.warp<16x32xi8, first>, !tile.warp<32x16xi8, second>, !tile.warp<16x16xi32, accumulator>
  %pair = tile.fragment %d[8, 1] : !tile.warp<16x16xi32, accumulator> -> vector<2xi32>
  return %pair : vector<2xi32>
}

// -----

// Neighbours of f64 come together, but for those that are to be read one by one, or whose lines run the wrong way. The larger product where the
// target has it, or four smaller ones: see emit-matmul-mma-f64.mlir for both.
// CHECK-LABEL: func.func @double
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> f64
// CHECK-NOT:     llvm.load
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"
// CHECK-NOT:     llvm.call_intrinsic
// CHECK-LABEL: func.func @one_by_one
// CHECK-COUNT-6: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> f64
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @double(%tile: !tile.shared<16x64xf64, pairs>, %i: index) -> vector<2xf64> {
    %k = arith.constant 0 : index
    %zero = arith.constant 0.0 : f64
    %a = tile.read_operand %tile[%i, %k] transposed : !tile.shared<16x64xf64, pairs> -> !tile.warp<16x8xf64, first, paired>
    %b = tile.read_operand %tile[%i, %k] transposed : !tile.shared<16x64xf64, pairs> -> !tile.warp<8x8xf64, second, paired>
    %c = tile.splat %zero : f64 -> !tile.warp<16x8xf64, accumulator, paired>
    %d = tile.multiply %a, %b, %c : !tile.warp<16x8xf64, first, paired>, !tile.warp<8x8xf64, second, paired>, !tile.warp<16x8xf64, accumulator, paired>
    %pair = tile.fragment %d[0, 0] : !tile.warp<16x8xf64, accumulator, paired> -> vector<2xf64>
    return %pair : vector<2xf64>
  }
  func.func @one_by_one(%tile: !tile.shared<16x64xf64, pairs>, %i: index) -> vector<2xf64> {
    %k = arith.constant 0 : index
    %zero = arith.constant 0.0 : f64
    %a = tile.read_operand %tile[%i, %k] transposed single : !tile.shared<16x64xf64, pairs> -> !tile.warp<16x8xf64, first, paired>
    %b = tile.read_operand %tile[%i, %k] transposed single : !tile.shared<16x64xf64, pairs> -> !tile.warp<8x8xf64, second, paired>
    %c = tile.splat %zero : f64 -> !tile.warp<16x8xf64, accumulator, paired>
    %d = tile.multiply %a, %b, %c : !tile.warp<16x8xf64, first, paired>, !tile.warp<8x8xf64, second, paired>, !tile.warp<16x8xf64, accumulator, paired>
    %pair = tile.fragment %d[0, 0] : !tile.warp<16x8xf64, accumulator, paired> -> vector<2xf64>
    return %pair : vector<2xf64>
  }
}

// -----

// What is computed of accumulators of warps, each element by itself, also through loops.
// CHECK-LABEL: func.func @sums
// CHECK:         %[[R:.*]]:4 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X:.*]], %[[B:.*]] = %[[X]], %[[C:.*]] = %[[X]], %[[D:.*]] = %[[X]]) -> (f32, f32, f32, f32)
// CHECK:           arith.addf %[[A]], %[[X]] : f32
// CHECK:           arith.addf %[[B]], %[[X]] : f32
// CHECK:           arith.addf %[[C]], %[[X]] : f32
// CHECK:           arith.addf %[[D]], %[[X]] : f32
func.func @sums(%x: f32, %n: index) -> vector<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tile.splat %x : f32 -> !tile.warp<16x8xf32, accumulator>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %s) -> !tile.warp<16x8xf32, accumulator> {
    %u = tile.map (%t, %s : !tile.warp<16x8xf32, accumulator>, !tile.warp<16x8xf32, accumulator>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : !tile.warp<16x8xf32, accumulator>
    scf.yield %u : !tile.warp<16x8xf32, accumulator>
  }
  %pair = tile.fragment %r[0, 0] : !tile.warp<16x8xf32, accumulator> -> vector<2xf32>
  return %pair : vector<2xf32>
}
