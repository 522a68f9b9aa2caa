// Products of fragments of every type are valid PTX.
// REQUIRES: ptxas
// RUN: xc-opt %s -xc-cuda-place-waits -xc-cuda-lower-registers -xc-cuda-lower-to-nvvm -reconcile-unrealized-casts -xc-cuda-emit-ptx | %python %S/../Inputs/kernel_image.py > %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: %ptxas -arch=sm_90a %t.ptx -o %t.cubin

// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}} p, 1, 1, 0;
builtin.module @kernel attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @kernel() attributes {cuda.index_bits = 32 : i32, lowering_config = #cuda.attention_rows<threads = 128>, plan.launch = #plan.launch_config<grid = [1, 1, 1], block = [128, 1, 1], cluster = [1, 1, 1], shared = 4096, scratch = 0>} {
    %c = plan.binding 0 write align 64 : memref<1024xf32>
    %i = arith.constant 0 : index
    %f = arith.constant true
    %b = tile.alloc {offset = 0 : i64} : !tile.shared<8x64xbf16>
    %a = tile.undefined : !tile.reg<64x32xbf16, operand>
    %none = tile.undefined : !tile.reg<64x8xf32, accumulator>
    %d, %token = tile.dot %a, %b from 32 accumulate %none : !tile.reg<64x8xf32, accumulator> if %f k 32
        : !tile.reg<64x32xbf16, operand>, !tile.shared<8x64xbf16> -> !tile.reg<64x8xf32, accumulator>
    %done = tile.await %d after %token : !tile.reg<64x8xf32, accumulator>
    %pair = tile.fragment %done[0, 0] : !tile.reg<64x8xf32, accumulator> -> vector<2xf32>
    vector.store %pair, %c[%i] : memref<1024xf32>, vector<2xf32>
    return
  }
}
