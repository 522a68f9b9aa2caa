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

def Tile_CopyOp : Tile_EffectOp<"copy", [AttrSizedOperandSegments]> {
  let summary = "Start copying rows from global memory to a tile";
  let description = [{
    All `threads` threads of the block execute it. Line i of the tile gets the `columns` elements of 16 or 32 bits from element `start` +
    (`row` + i) * `stride` of the memory on; these are 16-byte aligned. Where `row` + i, as an unsigned number, is not below `rows`,
    nothing is read and the line is zero. So are the columns up to the next multiple of 32 bytes; those behind it stay as they are. Nobody but
    `tile.await_copies` may use the tile that it returns the token for, until that says that the elements are there. Becomes
    `cp.async` of 16 bytes each, and one `cp.async.commit_group`.

    With `pages`, rows lie in pages of `size` rows each, which are `apart` elements apart: row r in the one whose number is element `entry` +
    r / `size` of a table of integers, clamped into [0, `count`), at r % `size`. The table is read where rows are, by the threads themselves.
    The numbers are `entry`, `size`, `apart`, `count`. Example:
    ```mlir
    %token = tile.copy %k[%start] stride %stride rows %row of %rows columns 64 to %slot threads 128
        : memref<?xbf16> to !tile.shared<64x64xbf16>
    %paged = tile.copy %k[%start] stride %stride rows %row of %rows columns 64 to %slot threads 128
        pages %table[%entry, %size, %apart, %count] of memref<?xi32> : memref<?xbf16> to !tile.shared<64x64xbf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$start, Index:$stride, Index:$row, Index:$rows, I64Attr:$columns, Tile_SharedType:$tile,
                       I64Attr:$threads, Optional<AnyMemRef>:$table, Variadic<Index>:$paging);
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = [{
    $memory `[` $start `]` `stride` $stride `rows` $row `of` $rows `columns` $columns `to` $tile `threads` $threads
    (`pages` $table^ `[` $paging `]` `of` type($table))? attr-dict `:` type($memory) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_AwaitCopiesOp : Tile_EffectOp<"await_copies", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes"]>]> {
  let summary = "Wait for copies to tiles, and for all threads of the block";
  let description = [{
    Returns the tiles, which can be read from there on, until the next copy to them starts; before that, a `tile.await_copies` or another
    barrier must have seen all threads come. `-xc-cuda-place-waits` sets `pending`, how many copies that have been started since may still be
    under way. Becomes `cp.async.wait_group` and a barrier of the block; a `fenced` one, which that pass makes for asynchronous readers, has
    `fence.proxy.async` between them.

    What it holds, first operands of products behind it, is returned, too, as numbers that nobody has before: else the assembler would
    multiply all that has been loaded in front of the barrier, and wait for what is loaded behind it. Example:
    ```mlir
    %keys, %values = tile.await_copies %k, %v after %k_token, %v_token : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16>
    %b, %later = tile.await_copies %slot after %token hold %a : !tile.warp<16x8xf64, first> : !tile.shared<64x16xf64, even>
    ```
  }];
  let arguments = (ins Variadic<Tile_SharedType>:$tiles, Variadic<Tile_TokenType>:$tokens, Variadic<Tile_WarpType>:$held,
                       OptionalAttr<I64Attr>:$pending, UnitAttr:$fenced);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $tiles `after` $tokens (`hold` $held^ `:` type($held))? (`pending` $pending^)? (`fenced` $fenced^)? attr-dict `:` type($tiles)
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$tiles, "::mlir::ValueRange":$tokens), [{
    build($_builder, $_state, tiles, tokens, ::mlir::ValueRange(), ::mlir::IntegerAttr(), ::mlir::UnitAttr());
  }]>];
  let hasVerifier = 1;
}

def Tile_ShareOp : Tile_Op<"share", [Pure]> {
  let summary = "Which elements of a tile a thread copies";
  let description = [{
    Threads, the `threads` of a block or the 32 of a warp, take vectors of `width` neighbours of lines of `length` elements, one line after
    another. The results are line and column where the first element of this thread's vector `number` is. If the threads take whole lines
    together, the next vector is so many lines further on. Example:
    ```mlir
    %line, %column = tile.share 0 of 64 width 8 threads 256
    ```
  }];
  let arguments = (ins I64Attr:$number, I64Attr:$length, I64Attr:$width, I64Attr:$threads);
  let results = (outs Index:$line, Index:$column);
  let assemblyFormat = "$number `of` $length `width` $width `threads` $threads attr-dict";
  let extraClassDeclaration = [{
    /// The lines that `threads` threads take together, if that is a whole number.
    static std::optional<int64_t> getLines(int64_t length, int64_t width, int64_t threads);
  }];
  let hasVerifier = 1;
}

def Tile_PatchOp : Tile_Op<"patch", [Pure]> {
  let summary = "Which square of a tile of bytes a thread transposes";
  let description = [{
    The results are line and column where square `number` of 4 x 4 of this thread begins, of the `threads` of a block: the 32 of a warp have
    eight of them side by side along the lines' numbers, and four along 16 columns. Example:
    ```mlir
    %line, %column = tile.patch 0 of !tile.shared<64x64xi8, patches> threads 128
    ```
  }];
  let arguments = (ins I64Attr:$number, TypeAttrOf<Tile_SharedType>:$tile, I64Attr:$threads);
  let results = (outs Index:$line, Index:$column);
  let assemblyFormat = "$number `of` $tile `threads` $threads attr-dict";
  let hasVerifier = 1;
}

def Tile_StartCopyOp : Tile_EffectOp<"start_copy"> {
  let summary = "Start copying neighbouring elements from global memory to a tile";
  let description = [{
    `width` elements from `distance` behind element `position` of the memory on, 4, 8 or 16 bytes that are as aligned, go to
    (`row`, `column`) of the tile, within one chunk. Where `inside` is false nothing is read, and zeros are written. The copy is of the group that the next
    `tile.commit_copies` makes. Becomes `cp.async`. Example:
    ```mlir
    tile.start_copy %a[%position] distance 4096 inside %inside to %slot[%line, %column] width 8
        : memref<?xbf16> to !tile.shared<128x64xbf16, lines>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$position, I64Attr:$distance, I1:$inside, Tile_SharedType:$tile, Index:$row, Index:$column,
                       I64Attr:$width);
  let assemblyFormat = [{
    $memory `[` $position `]` `distance` $distance `inside` $inside `to` $tile `[` $row `,` $column `]` `width` $width attr-dict
    `:` type($memory) `to` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_CommitCopiesOp : Tile_EffectOp<"commit_copies"> {
  let summary = "Make the copies that this thread has started one group";
  let description = [{
    Those since the last group, maybe none: the token is for `tile.await_copies`. Becomes `cp.async.commit_group`. Example:
    ```mlir
    %token = tile.commit_copies
    ```
  }];
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = "attr-dict";
}

def Tile_DrainCopiesOp : Tile_EffectOp<"drain_copies"> {
  let summary = "Wait until no copy of this thread is under way";
  let description = [{
    For when a block ends, or other threads wait at a barrier behind it. Becomes `cp.async.wait_group`. Example:
    ```mlir
    tile.drain_copies
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_IssueCopyOp : Tile_EffectOp<"issue_copy", [AttrSizedOperandSegments]> {
  let summary = "Start copying rows from global memory to a tile, as one group";
  let description = [{
    What `tile.copy` becomes, without a token. Example:
    ```mlir
    tile.issue_copy %k[%start] stride %stride rows %row of %rows columns 64 to %slot threads 128
        : memref<?xbf16> to !tile.shared<64x64xbf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$start, Index:$stride, Index:$row, Index:$rows, I64Attr:$columns, Tile_SharedType:$tile,
                       I64Attr:$threads, Optional<AnyMemRef>:$table, Variadic<Index>:$paging);
  let assemblyFormat = [{
    $memory `[` $start `]` `stride` $stride `rows` $row `of` $rows `columns` $columns `to` $tile `threads` $threads
    (`pages` $table^ `[` $paging `]` `of` type($table))? attr-dict `:` type($memory) `to` type($tile)
  }];
}

def Tile_RetireCopiesOp : Tile_EffectOp<"retire_copies"> {
  let summary = "Wait until at most some groups of copies are under way, in all threads of the block";
  let description = [{
    What `tile.await_copies` becomes: `held` are registers of f64 that are returned. Example:
    ```mlir
    tile.retire_copies 2
    tile.retire_copies 0 fenced
    %later = tile.retire_copies 0 hold %a : f64
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<F64>:$held, UnitAttr:$fenced);
  let results = (outs Variadic<F64>:$results);
  let assemblyFormat = "$pending (`hold` $held^)? (`fenced` $fenced^)? attr-dict (`:` type($results)^)?";
  let hasVerifier = 1;
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
