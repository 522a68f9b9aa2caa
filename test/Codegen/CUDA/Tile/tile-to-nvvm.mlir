// RUN: xc-opt %s -xc-cuda-place-waits -xc-cuda-lower-registers -xc-cuda-lower-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-DAG: #[[UPPER:.*]] = affine_map<() -> (-1, 0)>

// CHECK: llvm.mlir.global external @xc_shared() {addr_space = 3 : i32, alignment = 1024 : i64
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: llvm.func @copies
  // CHECK-SAME:    %[[MAP:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
  // CHECK-SAME:    cuda.tensor_maps = [{binding = 0 : i64, box = array<i64: 64, 64>
  // CHECK:         llvm.inline_asm {{.*}}mbarrier.init.shared::cta.b64 [$1 + 0], 1;{{.*}}[$1 + 16], 2;{{.*}}fence.mbarrier_init.release.cluster
  // CHECK:         llvm.inline_asm {{.*}}mbarrier.try_wait.parity.shared::cta.b64
  // CHECK:         llvm.inline_asm {{.*}}mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;
  // CHECK:         llvm.inline_asm {{.*}}cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];{{.*}} %[[MAP]]
  // CHECK:         llvm.inline_asm {{.*}}cp.async.bulk.tensor.2d.shared::cluster.global
  // CHECK:         llvm.inline_asm {{.*}}mbarrier.arrive.shared::cta.b64 _, [$0];
  func.func @copies() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 32800, scratch = 0>} {
    %a = plan.binding 0 read align 64 : memref<65536xbf16>
    %i = arith.constant 1 : index
    %map = tile.tensor_map %a {sizes = affine_map<() -> (512, 128)>, strides = affine_map<() -> (128, 1)>} : memref<65536xbf16> -> !tile.tensor_map<64x64xbf16>
    %ring = tile.ring arrivals 1 consumers 2 {barriers = 32768 : i64, offset = 0 : i64} : !tile.ring<2, !tile.shared<64x128xbf16>>
    %slot = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<64x128xbf16>> -> !tile.shared<64x128xbf16>
    tile.wait_empty %ring[%i] phase %i : !tile.ring<2, !tile.shared<64x128xbf16>>
    tile.publish %ring[%i] bytes 16384 : !tile.ring<2, !tile.shared<64x128xbf16>>
    tile.load %map[%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x64xbf16>, !tile.shared<64x128xbf16>, !tile.ring<2, !tile.shared<64x128xbf16>>
    tile.release %ring[%i] : !tile.ring<2, !tile.shared<64x128xbf16>>
    return
  }

  // Half of a tile's lines go to both blocks of a cluster, and each stage is released in both. A release of cluster scope would be a
  // fence of the whole GPU.
  // CHECK-LABEL: llvm.func @cluster
  // CHECK:         llvm.inline_asm {{.*}}barrier.cluster.arrive.release;
  // CHECK:         llvm.inline_asm {{.*}}barrier.cluster.wait.acquire;
  // CHECK:         llvm.inline_asm {{.*}}cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$3, $4}], [$2], $5;", "r,l,r,r,r,h
  // CHECK:         llvm.inline_asm {{.*}}mapa.shared::cluster.u32 there, $0, $1; mbarrier.arrive.shared::cluster.b64 _, [there];
  func.func @cluster() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [2, 1, 1], block = [256, 1, 1], cluster = [2, 1, 1], shared = 32800, scratch = 0>} {
    %a = plan.binding 0 read align 64 : memref<65536xbf16>
    %i = arith.constant 1 : index
    %map = tile.tensor_map %a {sizes = affine_map<() -> (512, 128)>, strides = affine_map<() -> (128, 1)>} : memref<65536xbf16> -> !tile.tensor_map<32x64xbf16>
    %ring = tile.ring arrivals 1 consumers 2 {barriers = 32768 : i64, offset = 0 : i64} : !tile.ring<2, !tile.shared<64x64xbf16>>
    %slot = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<64x64xbf16>> -> !tile.shared<64x64xbf16>
    tile.sync_blocks
    tile.multicast %map[%i, %i] to %slot[%i] blocks %i signal %ring[%i] : !tile.tensor_map<32x64xbf16>, !tile.shared<64x64xbf16>, !tile.ring<2, !tile.shared<64x64xbf16>>
    tile.release_in %ring[%i] block %i : !tile.ring<2, !tile.shared<64x64xbf16>>
    return
  }

  // The first pixel's place, innermost dim first, and how far from it a tap reads; both for one block and for several.
  // CHECK-LABEL: llvm.func @pixels
  // CHECK-SAME:    cuda.tensor_maps = [{binding = 0 : i64, box = array<i64: 64, 64>, lower = array<i64: -1, -1>, {{.*}}steps = array<i64: 2, 1>, {{.*}}upper = #[[UPPER]]}]
  // CHECK:         llvm.inline_asm {{.*}}cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5, $6}], [$2], {$7, $8};", "r,l,r,r,r,r,r,h,h
  // CHECK:         llvm.inline_asm {{.*}}im2col.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$3, $4, $5, $6}], [$2], {$7, $8}, $9;", "r,l,r,r,r,r,r,h,h,h
  func.func @pixels() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [2, 1, 1], block = [256, 1, 1], cluster = [2, 1, 1], shared = 32800, scratch = 0>} {
    %a = plan.binding 0 read align 64 : memref<65536xbf16>
    %i = arith.constant 1 : index
    %map = tile.tensor_map %a {sizes = affine_map<() -> (4, 16, 16, 64)>, strides = affine_map<() -> (16384, 1024, 64, 1)>, lower = array<i64: -1, -1>, upper = affine_map<() -> (-1, 0)>, steps = array<i64: 2, 1>} : memref<65536xbf16> -> !tile.tensor_map<64x64xbf16, im2col = 4>
    %ring = tile.ring arrivals 1 consumers 2 {barriers = 32768 : i64, offset = 0 : i64} : !tile.ring<2, !tile.shared<128x64xbf16>>
    %slot = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<128x64xbf16>> -> !tile.shared<128x64xbf16>
    tile.load %map[%i, %i, %i, %i] offsets [%i, %i] to %slot signal %ring[%i] : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<128x64xbf16>, !tile.ring<2, !tile.shared<128x64xbf16>>
    tile.multicast %map[%i, %i, %i, %i] offsets [%i, %i] to %slot[%i] blocks %i signal %ring[%i] : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<128x64xbf16>, !tile.ring<2, !tile.shared<128x64xbf16>>
    return
  }

  // One panel of the two that the slot has: 8192 bytes behind the first.
  // CHECK-LABEL: llvm.func @panel
  // CHECK:         %[[PANEL:.*]] = llvm.getelementptr %{{.*}}[8192]
  // CHECK:         llvm.ptrtoint %[[PANEL]]
  // CHECK-COUNT-1: cp.async.bulk.tensor.4d
  // CHECK-NOT:     cp.async.bulk.tensor
  func.func @panel() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [2, 1, 1], block = [256, 1, 1], cluster = [1, 1, 1], shared = 32800, scratch = 0>} {
    %a = plan.binding 0 read align 64 : memref<65536xbf16>
    %i = arith.constant 1 : index
    %map = tile.tensor_map %a {sizes = affine_map<() -> (4, 16, 16, 64)>, strides = affine_map<() -> (16384, 1024, 64, 1)>, lower = array<i64: -1, -1>, upper = affine_map<() -> (-1, 0)>, steps = array<i64: 2, 1>} : memref<65536xbf16> -> !tile.tensor_map<64x64xbf16, im2col = 4>
    %ring = tile.ring arrivals 1 consumers 2 {barriers = 32768 : i64, offset = 0 : i64} : !tile.ring<2, !tile.shared<64x128xbf16>>
    %slot = tile.slot %ring[%i] 0 : !tile.ring<2, !tile.shared<64x128xbf16>> -> !tile.shared<64x128xbf16>
    tile.load %map[%i, %i, %i, %i] offsets [%i, %i] to %slot panel 1 signal %ring[%i] : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<64x128xbf16>, !tile.ring<2, !tile.shared<64x128xbf16>>
    return
  }

  // A step of k is 16 elements: 2 in units of the descriptor where lines run along k, 16 lines where they do not.
  // CHECK-LABEL: llvm.func @product
  // CHECK-DAG:     %[[ALONG:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK-DAG:     %[[ACROSS:.*]] = llvm.mlir.constant(32 : i64)
  // CHECK:         llvm.inline_asm {{.*}}"wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
  // CHECK:         llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, $16, $17, p, 1, 1, 0, 1;{{.*}}"=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,l,l,r
  // CHECK:         llvm.add %{{.*}}, %[[ALONG]]
  // CHECK:         llvm.add %{{.*}}, %[[ACROSS]]
  // CHECK-COUNT-3: llvm.inline_asm {{.*}}wgmma.mma_async
  // CHECK:         nvvm.wgmma.commit.group.sync.aligned
  // CHECK:         llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7
  func.func @product() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 12288, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<1024xf32>
    %i = arith.constant 0 : index
    %f = arith.constant true
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16>
    %b = tile.alloc {offset = 8192 : i64} : !tile.shared<64x16xbf16>
    %none = tile.undefined : !tile.reg<64x16xf32, accumulator>
    %d, %token = tile.dot %a[%i], %b accumulate %none : !tile.reg<64x16xf32, accumulator> if %f k 64 {transposed_b} : !tile.shared<64x64xbf16>, !tile.shared<64x16xbf16> -> !tile.reg<64x16xf32, accumulator>
    %done = tile.await %d after %token : !tile.reg<64x16xf32, accumulator>
    %pair = tile.fragment %done[8, 1] : !tile.reg<64x16xf32, accumulator> -> vector<2xf32>
    vector.store %pair, %c[%i] : memref<1024xf32>, vector<2xf32>
    return
  }

  // An operand A of eight rows is read again for each eight: their distance, 64 in units of the descriptor where there are more rows, is zero.
  // CHECK-LABEL: llvm.func @few_rows
  // CHECK-DAG:     %[[FEW:.*]] = llvm.mlir.constant(4611686018427453440 : i64)
  // CHECK-DAG:     %[[MORE:.*]] = llvm.mlir.constant(4611686293305360384 : i64)
  // CHECK:         llvm.or %{{.*}}, %[[MORE]]
  // CHECK:         llvm.or %{{.*}}, %[[FEW]]
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}wgmma.mma_async
  func.func @few_rows() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 12288, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<1024xf32>
    %i = arith.constant 0 : index
    %f = arith.constant true
    %row = plan.workgroup_id x : index
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<8x64xbf16>
    %b = tile.alloc {offset = 1024 : i64} : !tile.shared<16x64xbf16>
    %none = tile.undefined : !tile.reg<64x16xf32, accumulator>
    %d, %token = tile.dot %a[%row], %b accumulate %none : !tile.reg<64x16xf32, accumulator> if %f k 64 : !tile.shared<8x64xbf16>, !tile.shared<16x64xbf16> -> !tile.reg<64x16xf32, accumulator>
    %done = tile.await %d after %token : !tile.reg<64x16xf32, accumulator>
    %pair = tile.fragment %done[8, 1] : !tile.reg<64x16xf32, accumulator> -> vector<2xf32>
    vector.store %pair, %c[%i] : memref<1024xf32>, vector<2xf32>
    return
  }

  // Lines that are read to registers: 4 and 8 lines apart, neighbours along the tile's rows together. Registers stay in use until the wait.
  // CHECK-LABEL: llvm.func @fragments
  // CHECK:         llvm.inline_asm {{.*}}"ld.shared.v4.b32 {$0, $1, $2, $3}, [$4 + 2048];", "=r,=r,=r,=r,r,~{memory}"
  // CHECK:         llvm.inline_asm {{.*}}"ld.shared.v4.b32 {$0, $1, $2, $3}, [$4 + 2048];"
  // CHECK:         llvm.inline_asm {{.*}}"ld.shared.v4.b32 {$0, $1, $2, $3}, [$4 + 3072];"
  // CHECK:         llvm.inline_asm {{.*}}"ld.shared.v4.b32 {$0, $1, $2, $3}, [$4 + 3072];"
  // CHECK:         llvm.inline_asm {{.*}}"wgmma.fence.sync.aligned;"
  // CHECK:         llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1;{{.*}}"=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r
  // CHECK:         llvm.inline_asm {{.*}}wgmma.mma_async
  // CHECK:         nvvm.wgmma.commit.group.sync.aligned
  // CHECK:         llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r,r,r,~{memory}"
  func.func @fragments() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 17408, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<1024xf32>
    %i = arith.constant 0 : index
    %f = arith.constant true
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<32x128xf32>
    %b = tile.alloc {offset = 16384 : i64} : !tile.shared<8x32xf32>
    %none = tile.undefined : !tile.reg<64x8xf32, accumulator>
    %r:2 = tile.read_fragments %a[%i] from 16 : !tile.shared<32x128xf32> -> !tile.reg<64x16xf32, operand>, !tile.reg<64x16xf32, operand>
    %d, %token = tile.dot %r#0, %b from 16 accumulate %none : !tile.reg<64x8xf32, accumulator> if %f k 16 {tf32} : !tile.reg<64x16xf32, operand>, !tile.shared<8x32xf32> -> !tile.reg<64x8xf32, accumulator>
    %done = tile.await %d after %token : !tile.reg<64x8xf32, accumulator>
    %pair = tile.fragment %done[0, 0] : !tile.reg<64x8xf32, accumulator> -> vector<2xf32>
    vector.store %pair, %c[%i] : memref<1024xf32>, vector<2xf32>
    return
  }

  // Of 16-bit elements, the instruction says that lines of the second operand run along k.
  // CHECK-LABEL: llvm.func @half_fragments
  // CHECK:         llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 0; }
  func.func @half_fragments() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 1024, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<1024xf32>
    %i = arith.constant 0 : index
    %f = arith.constant true
    %b = tile.alloc {offset = 0 : i64} : !tile.shared<8x64xbf16>
    %a = tile.undefined : !tile.reg<64x16xbf16, operand>
    %none = tile.undefined : !tile.reg<64x8xf32, accumulator>
    %d, %token = tile.dot %a, %b from 16 accumulate %none : !tile.reg<64x8xf32, accumulator> if %f k 16 : !tile.reg<64x16xbf16, operand>, !tile.shared<8x64xbf16> -> !tile.reg<64x8xf32, accumulator>
    %done = tile.await %d after %token : !tile.reg<64x8xf32, accumulator>
    %pair = tile.fragment %done[0, 0] : !tile.reg<64x8xf32, accumulator> -> vector<2xf32>
    vector.store %pair, %c[%i] : memref<1024xf32>, vector<2xf32>
    return
  }

  // Bytes are turned, rows for lines.
  // CHECK-LABEL: llvm.func @bytes
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}"ld.shared.b32 $0, [$1 + 8192];"
  // CHECK-COUNT-8: llvm.call_intrinsic "llvm.nvvm.prmt"
  // CHECK-COUNT-4: llvm.inline_asm {{.*}}"ld.shared.b32 $0, [$1 + 10240];"
  // CHECK:         llvm.inline_asm {{.*}}wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p;
  func.func @bytes() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 17408, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<1024xi32>
    %i = arith.constant 0 : index
    %f = arith.constant true
    %a = tile.alloc {offset = 0 : i64} : !tile.shared<128x128xi8>
    %b = tile.alloc {offset = 16384 : i64} : !tile.shared<8x128xi8>
    %none = tile.undefined : !tile.reg<64x8xi32, accumulator>
    %r:2 = tile.read_fragments %a[%i] from 64 : !tile.shared<128x128xi8> -> !tile.reg<64x32xi8, operand>, !tile.reg<64x32xi8, operand>
    %d, %token = tile.dot %r#0, %b from 64 accumulate %none : !tile.reg<64x8xi32, accumulator> if %f k 32 : !tile.reg<64x32xi8, operand>, !tile.shared<8x128xi8> -> !tile.reg<64x8xi32, accumulator>
    %done = tile.await %d after %token : !tile.reg<64x8xi32, accumulator>
    %pair = tile.fragment %done[0, 0] : !tile.reg<64x8xi32, accumulator> -> vector<2xi32>
    vector.store %pair, %c[%i] : memref<1024xi32>, vector<2xi32>
    return
  }

  // CHECK-LABEL: llvm.func @stores
  // CHECK:         nvvm.stmatrix
  // CHECK:         nvvm.fence.proxy
  // CHECK:         llvm.inline_asm {{.*}}bar.sync $0, $1;
  // CHECK:         llvm.inline_asm {{.*}}cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [$0, {$2, $3}], [$1];
  // CHECK:         nvvm.cp.async.bulk.commit.group
  // CHECK:         nvvm.cp.async.bulk.wait_group 0 {read}
  func.func @stores() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 8192, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<65536xbf16>
    %i = arith.constant 0 : index
    %map = tile.tensor_map %c {sizes = affine_map<() -> (512, 128)>, strides = affine_map<() -> (128, 1)>} : memref<65536xbf16> -> !tile.tensor_map<64x64xbf16>
    %tile = tile.alloc {offset = 0 : i64} : !tile.shared<64x64xbf16>
    %x = arith.constant dense<1.0> : vector<2xbf16>
    tile.write_fragment %x, %x, %x, %x to %tile[%i, %i] : vector<2xbf16>, !tile.shared<64x64xbf16>
    tile.fence_async
    tile.sync_warpgroup %i
    tile.store %tile[%i] panel 0 to %map[%i, %i] : !tile.shared<64x64xbf16>, !tile.tensor_map<64x64xbf16>
    tile.wait_stores 0 read
    return
  }

  // CHECK-LABEL: llvm.func @exchange
  // CHECK:         llvm.inline_asm {{.*}}barrier.cluster.arrive.aligned;
  // CHECK:         llvm.inline_asm {{.*}}barrier.cluster.wait.aligned;
  // CHECK:         %[[THERE:.*]] = nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK:         llvm.store %{{.*}}, %[[THERE]] : f32, !llvm.ptr<7>
  func.func @exchange() attributes {cuda.index_bits = 32 : i32, plan.launch = #plan.launch_config<grid = [2, 1, 1], block = [128, 1, 1], cluster = [2, 1, 1], shared = 256, scratch = 0>} {
    %x = arith.constant 1.0 : f32
    %i = gpu.thread_id x
    %buffer = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
    tile.arrive_blocks
    tile.wait_blocks
    tile.store_in %x, %buffer[%i] block %i : f32, memref<64xf32, #gpu.address_space<workgroup>>
    return
  }
}
