// RUN: xc-opt %s -xc-cuda-lower-to-nvvm -canonicalize -cse | FileCheck %s
// Copies by cp.async, and products by mma.sync.

builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  // Two chunks of a line of 48 columns are behind the first 32; the line's 40th column and those behind it are zeros. The eight threads of a line
  // copy lines 16 apart.
  // CHECK-LABEL: llvm.func @copy
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + {{[0-9]+}}], [$1], 16, $2;", "r,l,r,~{memory}"
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         nvvm.cp.async.wait.group 1
  // CHECK-NEXT:    nvvm.barrier
  func.func @copy() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 8192, scratch = 0>} {
    %m = plan.binding 0 read align 64 : memref<4096xbf16>
    %i = arith.constant 0 : index
    %n = arith.constant 50 : index
    %s = arith.constant 64 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16>
    tile.issue_copy %m[%i] stride %s rows %i of %n columns 64 to %a threads 128 : memref<4096xbf16> to !tile.shared<64x64xbf16>
    tile.retire_copies 1
    return
  }

  // Threads that have no chunk of the line do nothing.
  // CHECK-LABEL: llvm.func @narrow
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}@p cp.async.cg.shared.global [$0 + {{[0-9]+}}], [$1], 16, $2; }", "r,l,r,r,~{memory}"
  // CHECK:         nvvm.cp.async.commit.group
  func.func @narrow() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 8192, scratch = 0>} {
    %m = plan.binding 0 read align 64 : memref<4096xbf16>
    %i = arith.constant 0 : index
    %n = arith.constant 50 : index
    %s = arith.constant 40 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x48xbf16>
    tile.issue_copy %m[%i] stride %s rows %i of %n columns 40 to %a threads 128 : memref<4096xbf16> to !tile.shared<64x48xbf16>
    return
  }

  // Lines of the second operand run along k, or, transposed, along its columns, of which the last eight come alone.
  // CHECK-LABEL: llvm.func @products
  // CHECK:         nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK:         nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK-COUNT-2: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{.*}}bf16
  // CHECK:         nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK-COUNT-2: nvvm.mma.sync
  // CHECK:         nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32
  // CHECK-COUNT-1: nvvm.mma.sync
  func.func @products() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 24576, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<4096xf32>
    %i = arith.constant 0 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16>
    %b = tile.alloc {offset = 8192 : i64} : !tile.shared<64x64xbf16>
    %w:4 = tile.read_words %a[%i] : !tile.shared<64x64xbf16> -> i32, i32, i32, i32
    %s:8 = tile.issue sums() words(%w#0, %w#1, %w#2, %w#3 : i32, i32, i32, i32) b %b columns 16 k 16 {synchronous}
        : !tile.shared<64x64xbf16> -> f32, f32, f32, f32, f32, f32, f32, f32
    memref.store %s#0, %c[%i] : memref<4096xf32>
    %t:12 = tile.issue sums() words(%w#0, %w#1, %w#2, %w#3 : i32, i32, i32, i32) b %b columns 24 k 16 {synchronous, transposed_b}
        : !tile.shared<64x64xbf16> -> f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
    memref.store %t#8, %c[%i] : memref<4096xf32>
    return
  }
}
