//===- TileWarpOps.td - Ops on tiles of single warps ------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products on mma.sync whose schedule is in the text: what a warp reads, and when it multiplies, step by step. TileOps.td includes it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILEWARPOPS_TD
#define XC_DIALECT_TILE_IR_TILEWARPOPS_TD

include "compiler/Dialect/Tile/IR/TileDialect.td"

def Tile_WarpPlaceOp : Tile_Op<"warp_place", [Pure]> {
  let summary = "Where this warp is among those of the block";
  let description = [{
    Its row and column in a grid of warps of so many columns. Example:
    ```mlir
    %row, %column = tile.warp_place columns 4
    ```
  }];
  let arguments = (ins I64Attr:$columns);
  let results = (outs Index:$row, Index:$column);
  let assemblyFormat = "`columns` $columns attr-dict";
  let hasVerifier = 1;
}

def Tile_PairPlaceOp : Tile_Op<"pair_place", [Pure]> {
  let summary = "Where the first pair of an accumulator of a warp is that a thread holds";
  let description = [{
    Row and column of `tile.fragment %d[0, 0]`; those of others are known numbers of rows and columns further on. Example:
    ```mlir
    %row, %column = tile.pair_place of !tile.warp<16x64xf32, accumulator>
    ```
  }];
  let arguments = (ins TypeAttrOf<Tile_WarpType>:$tile);
  let results = (outs Index:$row, Index:$column);
  let assemblyFormat = "`of` $tile attr-dict";
  let hasVerifier = 1;
}

def Tile_ReadOperandOp : Tile_EffectOp<"read_operand"> {
  let summary = "Read an operand of a product of one step along k from a tile";
  let description = [{
    From (`own`, `k`) on, where `own` counts rows of a first operand, or columns of a second one: 16 rows, or as many columns as the result
    has, by the elements along k of one instruction, of which `k` is a multiple. The tile's lines run along k; where it is `transposed`, along
    its own dim. All lanes of a warp execute it. With `tf32`, f32 are rounded to TF32. A thread reads f64 one at a time if it is `single`,
    where registers are few, and else two that are neighbours together. Who reads a stage of a ring has awaited the copies to it.

    Becomes `ldmatrix`; loads of f32 for a tile that is `transposed` (`ldmatrix` transposes 16-bit elements alone), and of f64. Example:
    ```mlir
    %a = tile.read_operand %slot[%row, %k] : !tile.shared<128x32xbf16, lines> -> !tile.warp<16x16xbf16, first>
    %b = tile.read_operand %other[%column, %k] transposed : !tile.shared<32x128xbf16, lines> -> !tile.warp<16x64xbf16, second>
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$own, Index:$k, UnitAttr:$transposed, UnitAttr:$tf32, UnitAttr:$single);
  let results = (outs Tile_WarpType:$result);
  let assemblyFormat = [{
    $tile `[` $own `,` $k `]` (`transposed` $transposed^)? (`tf32` $tf32^)? (`single` $single^)? attr-dict
    `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_MultiplyOp : Tile_Op<"multiply", [Pure, AllTypesMatch<["sums", "result"]>]> {
  let summary = "Add the product of one step along k to sums";
  let description = [{
    All lanes of a warp execute it, and the result is there when it is done. Bytes are signed unless it is said of an operand that they are
    not; their sums wrap. Becomes `mma.sync` for each 8 columns; of f64, four smaller ones where the target has no larger one. Example:
    ```mlir
    %d = tile.multiply %a, %b, %c
        : !tile.warp<16x16xbf16, first>, !tile.warp<16x64xbf16, second>, !tile.warp<16x64xf32, accumulator>
    ```
  }];
  let arguments = (ins Tile_WarpType:$a, Tile_WarpType:$b, Tile_WarpType:$sums, UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs Tile_WarpType:$result);
  let assemblyFormat = "$a `,` $b `,` $sums attr-dict `:` type($a) `,` type($b) `,` type($sums)";
  let hasVerifier = 1;
}

def Tile_RoundOp : Tile_Op<"round_tf32", [Pure, AllTypesMatch<["values", "result"]>]> {
  let summary = "Round f32 to TF32";
  let description = [{
    To nearest, ties away from zero. Example:
    ```mlir
    %r = tile.round_tf32 %values : vector<4xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$values);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Tile_FenceReadsOp : Tile_EffectOp<"fence_reads"> {
  let summary = "Keep what is read in front of this from being read behind it";
  let description = [{
    Operands that a loop carries are read at the end of an iteration, for the next one. LLVM would read them at its beginning.
    `-xc-cuda-place-waits` places it. Becomes assembly that may write memory, and no instruction. Example:
    ```mlir
    tile.fence_reads
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_SyncWarpOp : Tile_EffectOp<"sync_warp"> {
  let summary = "Wait for the 32 threads of a warp";
  let description = [{
    They see each other's stores to shared memory after it. Becomes `bar.warp.sync`. Example:
    ```mlir
    tile.sync_warp
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // XC_DIALECT_TILE_IR_TILEWARPOPS_TD
