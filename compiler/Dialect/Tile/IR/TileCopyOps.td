//===- TileCopyOps.td - Copies to tiles by all threads ----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fills tiles from sm_80 on, where no thread has a role: `cp.async`, and tokens that say when it is done. TileOps.td includes it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILECOPYOPS_TD
#define XC_DIALECT_TILE_IR_TILECOPYOPS_TD

include "compiler/Dialect/Tile/IR/TileDialect.td"

def Tile_CopyOp : Tile_EffectOp<"copy"> {
  let summary = "Start copying rows from global memory to a tile";
  let description = [{
    All `threads` threads of the block execute it. Line i of the tile gets the `columns` elements of 16 or 32 bits from element `start` +
    (`row` + i) * `stride` of the memory on; these are 16-byte aligned. Where `row` + i, as an unsigned number, is not below `rows`,
    nothing is read and the line is zero. So are the columns up to the next multiple of 32 bytes; those behind it stay as they are. Nobody but
    `tile.await_copies` may use the tile that it returns the token for, until that says that the elements are there. Becomes
    `cp.async` of 16 bytes each, and one `cp.async.commit_group`. Example:
    ```mlir
    %token = tile.copy %k[%start] stride %stride rows %row of %rows columns 64 to %slot threads 128
        : memref<?xbf16> to !tile.shared<64x64xbf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$start, Index:$stride, Index:$row, Index:$rows, I64Attr:$columns, Tile_SharedType:$tile,
                       I64Attr:$threads);
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = [{
    $memory `[` $start `]` `stride` $stride `rows` $row `of` $rows `columns` $columns `to` $tile `threads` $threads attr-dict
    `:` type($memory) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_AwaitCopiesOp : Tile_EffectOp<"await_copies", [
    SameVariadicOperandSize, DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes"]>]> {
  let summary = "Wait for copies to tiles, and for all threads of the block";
  let description = [{
    Returns the tiles, which can be read from there on, until the next copy to them starts; before that, a `tile.await_copies` or another
    barrier must have seen all threads come. `-xc-cuda-place-waits` sets `pending`, how many copies that have been started since may still be
    under way. Becomes `cp.async.wait_group` and a barrier of the block. Example:
    ```mlir
    %keys, %values = tile.await_copies %k, %v after %k_token, %v_token : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16>
    ```
  }];
  let arguments = (ins Variadic<Tile_SharedType>:$tiles, Variadic<Tile_TokenType>:$tokens, OptionalAttr<I64Attr>:$pending);
  let results = (outs Variadic<Tile_SharedType>:$results);
  let assemblyFormat = "$tiles `after` $tokens (`pending` $pending^)? attr-dict `:` type($tiles)";
  let hasVerifier = 1;
}

def Tile_IssueCopyOp : Tile_EffectOp<"issue_copy"> {
  let summary = "Start copying rows from global memory to a tile, as one group";
  let description = [{
    What `tile.copy` becomes, without a token. Example:
    ```mlir
    tile.issue_copy %k[%start] stride %stride rows %row of %rows columns 64 to %slot threads 128
        : memref<?xbf16> to !tile.shared<64x64xbf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$start, Index:$stride, Index:$row, Index:$rows, I64Attr:$columns, Tile_SharedType:$tile,
                       I64Attr:$threads);
  let assemblyFormat = [{
    $memory `[` $start `]` `stride` $stride `rows` $row `of` $rows `columns` $columns `to` $tile `threads` $threads attr-dict
    `:` type($memory) `to` type($tile)
  }];
}

def Tile_RetireCopiesOp : Tile_EffectOp<"retire_copies"> {
  let summary = "Wait until at most some groups of copies are under way, in all threads of the block";
  let description = [{
    What `tile.await_copies` becomes. Example:
    ```mlir
    tile.retire_copies 2
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_ReadOp : Tile_EffectOp<"read"> {
  let summary = "Read rows of a tile as the first operand of products";
  let description = [{
    Rows `row` .. `row` + 63 of the tile, and as many columns as the result has. All threads of a warpgroup execute it. Becomes
    `ldmatrix`. Example:
    ```mlir
    %q = tile.read %queries[%row] : !tile.shared<64x64xbf16> -> !tile.reg<64x64xbf16, operand>
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$row);
  let results = (outs Tile_RegisterType:$result);
  let assemblyFormat = "$tile `[` $row `]` attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReadWordsOp : Tile_EffectOp<"read_words"> {
  let summary = "Read the words of a first operand that a thread holds";
  let description = [{
    What `tile.read` becomes: four words for each 32 bytes along the columns. Example:
    ```mlir
    %w:4 = tile.read_words %queries[%row] : !tile.shared<64x64xbf16> -> i32, i32, i32, i32
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$row);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "$tile `[` $row `]` attr-dict `:` type($tile) `->` type($words)";
}

#endif // XC_DIALECT_TILE_IR_TILECOPYOPS_TD
