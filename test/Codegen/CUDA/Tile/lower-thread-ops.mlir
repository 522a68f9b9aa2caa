// RUN: xc-opt %s -split-input-file -xc-cuda-lower-registers -canonicalize -cse | FileCheck %s

// Warps are numbered row by row; a thread's sums begin in row l / 4 and column 2 * (l % 4), those of paired tiles in row 2 * (l / 4).
// CHECK-LABEL: func.func @places
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
// CHECK:         %[[ROW:.*]] = arith.divui %[[WARP]], %c2
// CHECK:         %[[COLUMN:.*]] = arith.remui %[[WARP]], %c2
// CHECK:         %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK:         %[[GROUP:.*]] = arith.divui %[[LANE]], %c4
// CHECK:         %[[QUARTER:.*]] = arith.remui %[[LANE]], %c4
// CHECK:         %[[PAIR:.*]] = arith.muli %[[QUARTER]], %c2
// CHECK:         %[[ROWS:.*]] = arith.muli %[[GROUP]], %c2
// CHECK:         return %[[ROW]], %[[COLUMN]], %[[GROUP]], %[[PAIR]], %[[ROWS]]
func.func @places() -> (index, index, index, index, index) {
  %row, %column = tile.warp_place columns 2
  %r, %c = tile.pair_place of !tile.warp<16x8xf32, accumulator>
  %p, %d = tile.pair_place of !tile.warp<16x8xf64, accumulator, paired>
  return %row, %column, %r, %c, %p : index, index, index, index, index
}

// 256 threads take 64 lines of four vectors together, so that the next vector is as many lines further on. Where they take no whole lines, it is
// the one that is as many vectors behind.
// CHECK-LABEL: func.func @shares
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[LINE:.*]] = arith.divui %[[THREAD]], %c4
// CHECK:         %[[NEXT:.*]] = arith.addi %[[LINE]], %c64
// CHECK:         %[[VECTOR:.*]] = arith.remui %[[THREAD]], %c4
// CHECK:         %[[COLUMN:.*]] = arith.muli %[[VECTOR]], %c8
// CHECK:         %[[BEHIND:.*]] = arith.addi %[[THREAD]], %c256
// CHECK:         %[[ODD:.*]] = arith.divui %[[BEHIND]], %c24
// CHECK:         return %[[NEXT]], %[[COLUMN]], %[[ODD]]
func.func @shares() -> (index, index, index) {
  %line, %column = tile.share 1 of 32 width 8 threads 256
  %odd, %c = tile.share 1 of 192 width 8 threads 256
  return %line, %column, %odd : index, index, index
}

// Eight lanes have squares side by side along the lines, and four those of a chunk.
// CHECK-LABEL: func.func @patch
// CHECK:         %[[WARP:.*]] = arith.divui %{{.*}}, %c32
// CHECK:         %[[UNIT:.*]] = arith.addi %[[WARP]], %c4
// CHECK:         %[[ACROSS:.*]] = arith.remui %[[UNIT]], %c2
// CHECK:         arith.muli %[[ACROSS]], %c32
// CHECK:         %[[ALONG:.*]] = arith.divui %[[UNIT]], %c2
// CHECK:         arith.muli %[[ALONG]], %c16
func.func @patch() -> (index, index) {
  %line, %column = tile.patch 1 of !tile.shared<64x64xi8, patches> threads 128
  return %line, %column : index, index
}

// A copy that is not inside copies no bytes, which writes zeros. Whole chunks go past the first cache.
// CHECK-LABEL: func.func @copies
// CHECK:         %[[BYTES:.*]] = arith.select %arg2, %c16_i32, %c0_i32
// CHECK:         %[[FROM:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK:         %[[BEHIND:.*]] = llvm.getelementptr %[[FROM]][128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %[[BEHIND]], 16, cache =  cg, %[[BYTES]]
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache =  ca
// CHECK-NEXT:    nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 0
func.func @copies(%m: memref<?xbf16>, %i: index, %inside: i1, %t: !tile.shared<64x64xbf16, lines>, %line: index, %column: index) {
  tile.start_copy %m[%i] distance 128 inside %inside to %t[%line, %column] width 8 : memref<?xbf16> to !tile.shared<64x64xbf16, lines>
  tile.start_copy %m[%i] distance 0 inside %inside to %t[%line, %column] width 2 : memref<?xbf16> to !tile.shared<64x64xbf16, lines>
  %token = tile.commit_copies
  tile.drain_copies
  return
}

// LLVM is not told how the addresses of copies of f64 come about.
// CHECK-LABEL: func.func @copies_of_double
// CHECK:         %[[HIDDEN:.*]] = llvm.inline_asm {{.*}}"mov.b64 $0, $1;"
// CHECK:         llvm.getelementptr %[[HIDDEN]]
func.func @copies_of_double(%m: memref<?xf64>, %i: index, %inside: i1, %t: !tile.shared<64x16xf64, even>) {
  tile.start_copy %m[%i] distance 64 inside %inside to %t[%i, %i] width 2 : memref<?xf64> to !tile.shared<64x16xf64, even>
  return
}

// Vectors go to where the swizzle has them, rounded to TF32 lane by lane where that is asked for; tiles of panels are left for later.
// CHECK-LABEL: func.func @vectors
// CHECK-COUNT-2: nvvm.convert.float.to.tf32
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK:         nvvm.bar.warp.sync
// CHECK:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK:         llvm.inline_asm has_side_effects {{.*}}"~{memory}"
// CHECK:         tile.write %{{.*}} to %{{.*}} : vector<2xf32>, <64x32xf32>
func.func @vectors(%v: vector<2xf32>, %i: index, %j: index, %t: !tile.shared<64x32xf32, lines>, %panels: !tile.shared<64x32xf32>) -> vector<4xf32> {
  %r = tile.round_tf32 %v : vector<2xf32>
  tile.write %r to %t[%i, %j] : vector<2xf32>, !tile.shared<64x32xf32, lines>
  tile.sync_warp
  %w = tile.read_elements %t[%i, %j] : !tile.shared<64x32xf32, lines> -> vector<4xf32>
  tile.fence_reads
  tile.write %v to %panels[%i, %j] : vector<2xf32>, !tile.shared<64x32xf32>
  return %w : vector<4xf32>
}

// -----

// What a wait holds passes through it: one number of each operand.
// CHECK-LABEL: func.func @held
// CHECK:         %[[HELD:.*]] = tile.retire_copies 1 hold %{{.*}} : f64
// CHECK:         llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"(%[[HELD]],
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @held(%ring: !tile.ring<2, !tile.shared<64x16xf64, even>>, %i: index, %c: f64) -> vector<2xf64> {
    %k = arith.constant 0 : index
    %t = tile.slot %ring[%k] 0 : !tile.ring<2, !tile.shared<64x16xf64, even>> -> !tile.shared<64x16xf64, even>
    %token = tile.commit_copies
    %a = tile.read_operand %t[%i, %k] : !tile.shared<64x16xf64, even> -> !tile.warp<16x8xf64, first>
    %u, %later = tile.await_copies %t after %token hold %a : !tile.warp<16x8xf64, first> pending 1 : !tile.shared<64x16xf64, even>
    %b = tile.read_operand %u[%i, %k] : !tile.shared<64x16xf64, even> -> !tile.warp<8x8xf64, second>
    %s = tile.splat %c : f64 -> !tile.warp<16x8xf64, accumulator>
    %d = tile.multiply %later, %b, %s : !tile.warp<16x8xf64, first>, !tile.warp<8x8xf64, second>, !tile.warp<16x8xf64, accumulator>
    %pair = tile.fragment %d[0, 0] : !tile.warp<16x8xf64, accumulator> -> vector<2xf64>
    return %pair : vector<2xf64>
  }
}
