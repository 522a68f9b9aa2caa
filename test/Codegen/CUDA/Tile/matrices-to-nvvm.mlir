// RUN: xc-opt %s -xc-cuda-lower-to-nvvm -canonicalize -cse | FileCheck %s
// Copies by cp.async, and products by mma.sync.

builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  // Two chunks of a line of 48 columns are behind the first 32; the line's 40th column and those behind it are zeros. The eight threads of a line
  // copy lines 16 apart.
  // CHECK-LABEL: llvm.func @copy
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + {{[0-9]+}}], [$1 + {{[0-9]+}}], 16, $2;", "r,l,r,~{memory}"
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         nvvm.cp.async.wait.group 1
  // CHECK-NEXT:    nvvm.barrier0
  // CHECK:         nvvm.cp.async.wait.group 0
  // CHECK-NEXT:    nvvm.fence.proxy
  // CHECK-NEXT:    nvvm.barrier0
  func.func @copy() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 8192, scratch = 0>} {
    %m = plan.binding 0 read align 64 : memref<4096xbf16>
    %i = arith.constant 0 : index
    %n = arith.constant 50 : index
    %s = arith.constant 64 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16>
    tile.issue_copy %m[%i] stride %s rows %i of %n columns 64 to %a threads 128 : memref<4096xbf16> to !tile.shared<64x64xbf16>
    tile.retire_copies 1
    tile.retire_copies 0 fenced
    return
  }

  // Of f32, a chunk has four elements. Both panels are behind one address, and so are lines of a stride that is known.
  // CHECK-LABEL: llvm.func @copy_single
  // CHECK:         llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + 0], [$1 + 0], 16, $2;"
  // CHECK:         llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + 4096], [$1 + 128], 16, $2;"
  // CHECK:         llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + 2048], [$1 + 4096], 16, $2;"
  // CHECK:         llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + 6144], [$1 + 4224], 16, $2;"
  // CHECK-NOT:     cp.async.cg
  // CHECK:         nvvm.cp.async.commit.group
  func.func @copy_single() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 8192, scratch = 0>} {
    %m = plan.binding 0 read align 64 : memref<4096xf32>
    %i = arith.constant 0 : index
    %n = arith.constant 30 : index
    %s = arith.constant 64 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<32x64xf32>
    tile.issue_copy %m[%i] stride %s rows %i of %n columns 64 to %a threads 128 : memref<4096xf32> to !tile.shared<32x64xf32>
    return
  }

  // Rows of pages: each thread looks its page up, of a row that is there, within the pages that there are.
  // CHECK-LABEL: llvm.func @copy_pages
  // CHECK:         %[[INSIDE:.*]] = llvm.icmp "ult"
  // CHECK:         %[[ROW:.*]] = llvm.select %[[INSIDE]]
  // CHECK:         %[[NUMBER:.*]] = llvm.udiv %[[ROW]],
  // CHECK:         %[[PAGE:.*]] = llvm.load {{.*}} -> i32
  // CHECK:         %[[WIDE:.*]] = llvm.sext %[[PAGE]] : i32 to i64
  // CHECK:         %[[LEAST:.*]] = llvm.intr.smin(%[[WIDE]],
  // CHECK:         llvm.intr.smax(%[[LEAST]],
  // CHECK:         llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + 0], [$1 + 0], 16, $2;"
  // CHECK:         llvm.load {{.*}} -> i32
  // CHECK:         llvm.inline_asm {{.*}}"cp.async.cg.shared.global [$0 + 2048], [$1 + 0], 16, $2;"
  func.func @copy_pages() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 8192, scratch = 0>} {
    %m = plan.binding 0 read align 64 : memref<65536xbf16>
    %t = plan.binding 1 read align 64 : memref<12xi32>
    %i = arith.constant 0 : index
    %n = arith.constant 50 : index
    %s = arith.constant 64 : index
    %size = arith.constant 16 : index
    %apart = arith.constant 1024 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16>
    tile.issue_copy %m[%i] stride %s rows %i of %n columns 64 to %a threads 128 pages %t[%i, %size, %apart, %s] of memref<12xi32> : memref<65536xbf16> to !tile.shared<64x64xbf16>
    return
  }

  // Threads that have no chunk of the line do nothing.
  // CHECK-LABEL: llvm.func @narrow
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}@p cp.async.cg.shared.global [$0 + {{[0-9]+}}], [$1 + {{[0-9]+}}], 16, $2; }", "r,l,r,r,~{memory}"
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

  // Three products of TF32, those of what is small with sums of their own, which are added up once; the other operand comes by single elements where
  // its lines do not run along k.
  // CHECK-LABEL: llvm.func @single_products
  // CHECK:         nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK:         nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 2 : i32
  // CHECK:         llvm.fsub
  // CHECK:         %[[SMALL:.*]] = nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{.*}}tf32
  // CHECK:         %[[MORE:.*]] = nvvm.mma.sync A
  // CHECK:         %[[BIG:.*]] = nvvm.mma.sync A
  // CHECK-NOT:     nvvm.mma.sync
  // CHECK:         llvm.fadd
  // CHECK:         llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK:         llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK-COUNT-3: nvvm.mma.sync A
  // CHECK-NOT:     nvvm.mma.sync
  // CHECK-COUNT-8: llvm.fadd
  // CHECK:         llvm.return
  func.func @single_products() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 24576, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<4096xf32>
    %i = arith.constant 0 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x32xf32>
    %b = tile.alloc {offset = 8192 : i64} : !tile.shared<64x32xf32>
    %s:4 = tile.issue sums() a %a[%i] words() b %b columns 8 k 8 {synchronous}
        : !tile.shared<64x32xf32>, !tile.shared<64x32xf32> -> f32, f32, f32, f32
    %w0 = arith.bitcast %s#0 : f32 to i32
    %w1 = arith.bitcast %s#2 : f32 to i32
    %w2 = arith.bitcast %s#1 : f32 to i32
    %w3 = arith.bitcast %s#3 : f32 to i32
    %t:4 = tile.issue sums(%s#0, %s#1, %s#2, %s#3 : f32, f32, f32, f32) words(%w0, %w1, %w2, %w3 : i32, i32, i32, i32) b %b columns 8 k 8
        {synchronous, transposed_b} : !tile.shared<64x32xf32> -> f32, f32, f32, f32
    memref.store %t#0, %c[%i] : memref<4096xf32>
    memref.store %t#1, %c[%i] : memref<4096xf32>
    memref.store %t#2, %c[%i] : memref<4096xf32>
    memref.store %t#3, %c[%i] : memref<4096xf32>
    return
  }

  // A wait that holds a number: the barrier gives a zero that it depends on. The tile is in the place of the ring's second one.
  // CHECK-LABEL: llvm.func @held
  // CHECK:         nvvm.cp.async.wait.group 1
  // CHECK:         %[[NONE:.*]] = llvm.inline_asm has_side_effects {{.*}}bar.red.popc.u32 $0, 0, p; }", "=r,~{memory}"
  // CHECK:         %[[LOW:.*]] = llvm.extractelement
  // CHECK:         %[[LATER:.*]] = llvm.or %[[LOW]], %[[NONE]]
  // CHECK:         llvm.insertelement %[[LATER]]
  // CHECK-NOT:     nvvm.barrier
  // CHECK:         llvm.store
  // CHECK:         llvm.getelementptr %{{.*}}[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  func.func @held() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 16384, scratch = 0>} {
    %c = plan.binding 0 read_write align 64 : memref<4096xf64>
    %d = plan.binding 1 write align 64 : memref<4096xbf16>
    %i = arith.constant 0 : index
    %x = memref.load %c[%i] : memref<4096xf64>
    %y = tile.retire_copies 1 hold %x : f64
    memref.store %y, %c[%i] : memref<4096xf64>
    %ring = tile.ring arrivals 0 consumers 0 {offset = 0 : i64} : !tile.ring<2, !tile.shared<32x64xbf16>, !tile.shared<32x64xbf16>>
    %t = tile.reuse %ring 1 : !tile.ring<2, !tile.shared<32x64xbf16>, !tile.shared<32x64xbf16>> -> !tile.shared<64x64xbf16>
    %e = tile.read_elements %t[%i, %i] : !tile.shared<64x64xbf16> -> bf16
    memref.store %e, %d[%i] : memref<4096xbf16>
    return
  }

  // CHECK-LABEL: llvm.func @tf32_product
  // CHECK-COUNT-6: nvvm.convert.float.to.tf32
  // CHECK-COUNT-1: nvvm.mma.sync A
  // CHECK-NOT:     nvvm.mma.sync
  func.func @tf32_product() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 24576, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<4096xf32>
    %i = arith.constant 0 : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x32xf32>
    %b = tile.alloc {offset = 8192 : i64} : !tile.shared<64x32xf32>
    %s:4 = tile.issue sums() a %a[%i] words() b %b columns 8 k 8 {synchronous, tf32}
        : !tile.shared<64x32xf32>, !tile.shared<64x32xf32> -> f32, f32, f32, f32
    memref.store %s#0, %c[%i] : memref<4096xf32>
    return
  }
}
