//===- TileRegisterOps.td - Ops on tiles in registers -----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles as values: what a kernel does to them, without lanes and registers. TileOps.td includes it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILEREGISTEROPS_TD
#define XC_DIALECT_TILE_IR_TILEREGISTEROPS_TD

include "compiler/Dialect/Tile/IR/TileDialect.td"

def Tile_Value : AnyTypeOf<[Tile_RegisterType, Tile_RowsType], "a tile in registers or numbers of its rows">;

def Tile_Number : AnyTypeOf<[Tile_RegisterType, Tile_RowsType, Tile_ColumnsType, Tile_WarpType],
                            "a tile in registers or numbers of its rows or columns">;

def Tile_Combine : I32EnumAttr<"Combine", "how elements of a row become one number", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Add", 1, "add">]> {
  let cppNamespace = "::xc::tile";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tile, or numbers of rows, that are all the same";
  let description = [{
    Example:
    ```mlir
    %none = tile.splat %zero : f32 -> !tile.reg<64x128xf32, accumulator>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyTypeOf<[Tile_RegisterType, Tile_RowsType, Tile_WarpType]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "Compute each element of a tile from those of others at its place";
  let description = [{
    The body gets an element of each input, of numbers of rows that of the element's row, of columns that of its column, and yields the
    result's element. With `at (row, column)`, the place of the tile's first element, it gets the element's own row and column, too (of
    numbers of columns, the first row). Inputs and result are accumulators of as many columns, or all are numbers of rows, or all of
    columns; or they are accumulators of warps of one type, without a place. All lanes of a warp execute it where an input is numbers of columns: they come by shuffles. Of `width` 2, which an accumulator
    with a place may be computed in, the body gets and yields vectors of two neighbours of a row, a row's number, and the first one's
    column: what it loads is loaded together. Example:
    ```mlir
    %p = tile.map (%s, %m : !tile.reg<64x128xf32, accumulator>, !tile.rows<f32>) {
    ^bb0(%x: f32, %max: f32):
      %d = arith.subf %x, %max : f32
      %e = math.exp2 %d : f32
      tile.yield %e : f32
    } : !tile.reg<64x128xf32, accumulator>
    ```
  }];
  let arguments = (ins Variadic<Tile_Number>:$inputs, Optional<Index>:$row, Optional<Index>:$column, DefaultValuedAttr<I64Attr, "1">:$width);
  let results = (outs Tile_Number:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($inputs^ `:` type($inputs))? `)` (`at` `(` $row^ `,` $column `)`)? (`width` $width^)? $body attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_EachOp : Tile_Op<"each", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Do something with each vector of elements of a tile, or each number of a row";
  let description = [{
    The body gets `width` neighbouring elements as a vector, and the row and the column of the first; or a row's number and the row, in
    one of the four threads that hold it. Two neighbours are with one thread. Eight, which 16-bit elements may be taken in, are spread over
    the four threads of their row: these first exchange what they have, so that each has a vector of every four. `row` and `column` are the
    place of the tile's first element. Example:
    ```mlir
    tile.each %l at (%first, %zero) : !tile.rows<f32> {
    ^bb0(%sum: f32, %row: index):
      memref.store %sum, %sums[%row] : memref<?xf32>
      tile.yield
    }
    ```
  }];
  let arguments = (ins Tile_Value:$tile, Index:$row, Index:$column, DefaultValuedAttr<I64Attr, "2">:$width);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$tile `at` `(` $row `,` $column `)` (`width` $width^)? `:` type($tile) $body attr-dict";
  let hasVerifier = 1;
}

def Tile_ReduceRowsOp : Tile_Op<"reduce_rows", [Pure, AllTypesMatch<["init", "result"]>]> {
  let summary = "Combine the elements of each row, as far as a thread holds them";
  let description = [{
    The result is `partial`: see `tile.combine_rows`. `init` comes first. Example:
    ```mlir
    %part = tile.reduce_rows max %s, %none : !tile.reg<64x128xf32, accumulator>, !tile.rows<f32, partial>
    ```
  }];
  let arguments = (ins Tile_Combine:$kind, Tile_RegisterType:$tile, Tile_RowsType:$init);
  let results = (outs Tile_RowsType:$result);
  let assemblyFormat = "$kind $tile `,` $init attr-dict `:` type($tile) `,` type($init)";
  let hasVerifier = 1;
}

def Tile_CombineRowsOp : Tile_Op<"combine_rows", [Pure]> {
  let summary = "Combine the parts of a row's number that its four threads hold";
  let description = [{
    Becomes two shuffles for each row. Example:
    ```mlir
    %m = tile.combine_rows max %part : !tile.rows<f32, partial> -> !tile.rows<f32>
    ```
  }];
  let arguments = (ins Tile_Combine:$kind, Tile_RowsType:$part);
  let results = (outs Tile_RowsType:$result);
  let assemblyFormat = "$kind $part attr-dict `:` type($part) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "Make an accumulator the first operand of a product";
  let description = [{
    Rounds f32 to the operand's 16-bit type, or makes a `paired` operand of f32; each thread has the elements that it needs already. Example:
    ```mlir
    %a = tile.convert_layout %p : !tile.reg<64x128xf32, accumulator> -> !tile.reg<64x128xbf16, operand>
    ```
  }];
  let arguments = (ins Tile_RegisterType:$tile);
  let results = (outs Tile_RegisterType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Tile_NothingOp : Tile_Op<"nothing", [Pure]> {
  let summary = "The token of no product at all";
  let description = [{
    Where a loop carries the token of the iteration before, what it begins with. Example:
    ```mlir
    %none = tile.nothing
    ```
  }];
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = "attr-dict";
}

def Tile_DotOp : Tile_EffectOp<"dot", [AttrSizedOperandSegments]> {
  let summary = "Start the product of two tiles";
  let description = [{
    result = (accumulator or 0) + a * b. `a` is a register tile of layout `operand`, or rows `row` .. `row` + 63 of a tile in shared
    memory; `b` is in shared memory. Lines of either run along k; with `transposed_a` or `transposed_b` a tile is k x rows, or k x
    columns. A `paired` operand takes a transposed `b`, and any other of f32 one that is not. Only `k` elements along k are
    multiplied, of `b` those from `from` on, and the result's columns of `b`. Where the condition behind `if` is false, 0 stands for the
    accumulator. All threads of a warpgroup execute it. Nobody but `tile.await`, or a `tile.dot` as its accumulator, may use the result
    before the token says that it is there; `a` in registers and what is read of shared memory must stay until then. A loop may carry
    both on to its next iteration. A `synchronous` product is there when the op is done; `-xc-cuda-place-waits` makes products so where
    the target has no wgmma.

    Tensor cores take numbers of 11 digits (TF32), and wgmma cuts off the others: an asynchronous product of f32 has `tf32`, and operands that
    copies have rounded. A synchronous one rounds them, with `tf32`. Without it each f32 is two numbers of TF32, but for the last of its 24
    digits at most: three products, all but that of the lower digits, make one.

    Bytes are multiplied asynchronously, and have sums of i32. An asynchronous product reads a tile `a` of 8 rows along k as those rows
    again and again, whatever `row` is.

    Example:
    ```mlir
    %s, %ready = tile.dot %q[%row], %keys k 128
        : !tile.shared<128x128xbf16>, !tile.shared<128x128xbf16> -> !tile.reg<64x128xf32, accumulator>
    %o, %done = tile.dot %p, %values accumulate %before : !tile.reg<64x128xf32, accumulator> k 128 {transposed_b}
        : !tile.reg<64x128xbf16, operand>, !tile.shared<128x128xbf16> -> !tile.reg<64x128xf32, accumulator>
    %r, %ended = tile.dot %f, %b from 16 accumulate %sums : !tile.reg<64x128xf32, accumulator> if %later k 16 {tf32}
        : !tile.reg<64x16xf32, operand>, !tile.shared<128x32xf32> -> !tile.reg<64x128xf32, accumulator>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_SharedType, Tile_RegisterType]>:$a, Optional<Index>:$row, Tile_SharedType:$b,
                       Optional<Tile_RegisterType>:$accumulator, Optional<I1>:$condition, I64Attr:$k,
                       DefaultValuedAttr<I64Attr, "0">:$from, UnitAttr:$transposed_a, UnitAttr:$transposed_b,
                       UnitAttr:$synchronous, UnitAttr:$tf32);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Type":$token, "::mlir::Value":$a, "::mlir::Value":$row,
                                 "::mlir::Value":$b, "::mlir::Value":$accumulator, "int64_t":$k, "bool":$transposedA,
                                 "bool":$transposedB), [{
    build($_builder, $_state, result, token, a, row, b, accumulator, /*condition=*/::mlir::Value(), k, /*from=*/0, transposedA, transposedB,
          /*synchronous=*/false, /*tf32=*/false);
  }]>];
  let results = (outs Tile_RegisterType:$result, Tile_TokenType:$token);
  let assemblyFormat = [{
    $a (`[` $row^ `]`)? `,` $b (`from` $from^)? (`accumulate` $accumulator^ `:` type($accumulator))? (`if` $condition^)? `k` $k
    attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_AwaitOp : Tile_EffectOp<"await", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes"]>]> {
  let summary = "Wait for products";
  let description = [{
    Returns the products' results, which can be read from there on. Without results, only what products read is free.
    `-xc-cuda-place-waits` moves it as far down as its readers let it, and sets `pending` and `kept`. So many products that have
    been started since, `pending`, may still be under way. Operands in registers that are `kept` are in use up to here. Becomes
    `wgmma.wait_group`. Example:
    ```mlir
    %scores = tile.await %s after %ready : !tile.reg<64x128xf32, accumulator>
    %sums:2 = tile.await %upper, %lower after %first, %second : !tile.reg<64x128xf32, accumulator>, !tile.reg<64x128xf32, accumulator>
    tile.await after %before
    ```
  }];
  let arguments = (ins Variadic<Tile_RegisterType>:$values, Variadic<Tile_TokenType>:$tokens, Variadic<Tile_RegisterType>:$kept,
                       OptionalAttr<I64Attr>:$pending);
  let results = (outs Variadic<Tile_RegisterType>:$results);
  let assemblyFormat = [{
    ($values^)? `after` $tokens (`keep` $kept^ `:` type($kept))? (`pending` $pending^)? attr-dict (`:` type($values)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$values, "::mlir::ValueRange":$tokens)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// The result of a wait for one product.
    operator ::mlir::Value() { return getResults().front(); }
  }];
  let hasVerifier = 1;
}

def Tile_IssueOp : Tile_EffectOp<"issue", [AttrSizedOperandSegments]> {
  let summary = "Start a product of a thread's registers";
  let description = [{
    What `tile.dot` becomes: `sums` are the accumulator's elements that a thread holds (none: the product starts from 0), `words` those of
    an operand in registers. Becomes `wgmma.fence`, a `wgmma.mma_async` for each 32 bytes along k, and `wgmma.commit_group`; a
    `synchronous` one `ldmatrix` of what is in shared memory (loads of single elements for a transposed operand of f32), and `mma.sync`.
    Example:
    ```mlir
    %r:4 = tile.issue sums() a %q[%row] words() b %k columns 8 k 64
        : !tile.shared<8x64xbf16>, !tile.shared<64x64xbf16> -> f32, f32, f32, f32
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, I32]>>:$sums, Optional<I1>:$condition, Optional<Tile_SharedType>:$a, Optional<Index>:$row,
                       Variadic<I32>:$words, Tile_SharedType:$b, I64Attr:$columns, I64Attr:$k, DefaultValuedAttr<I64Attr, "0">:$from,
                       UnitAttr:$transposed_a, UnitAttr:$transposed_b, UnitAttr:$synchronous, UnitAttr:$tf32);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = [{
    `sums` `(` ($sums^ `:` type($sums))? `)` (`if` $condition^)? (`a` $a^ `[` $row `]`)? `words` `(` ($words^ `:` type($words))? `)` `b` $b
    (`from` $from^)? `columns` $columns `k` $k attr-dict `:` type($b) (`,` type($a)^)? `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tile_RetireOp : Tile_EffectOp<"retire", [AttrSizedOperandSegments]> {
  let summary = "Wait until at most some products are under way";
  let description = [{
    What `tile.await` becomes: `sums` are returned to be read, `words` stay as they are up to here. Becomes `wgmma.wait_group`. Example:
    ```mlir
    %r:2 = tile.retire 1 sums(%a, %b : f32, f32) words() -> f32, f32
    ```
  }];
  let arguments = (ins I64Attr:$pending, Variadic<AnyTypeOf<[F32, I32]>>:$sums, Variadic<I32>:$words);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = [{
    $pending `sums` `(` ($sums^ `:` type($sums))? `)` `words` `(` ($words^ `:` type($words))? `)` attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def Tile_RolesOp : Tile_Op<"roles", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Give the warpgroups of a block roles";
  let description = [{
    Region i is executed by `counts[i]` warpgroups (128 threads each), whose number among them is its argument; the first warpgroups
    have the first role. Each thread of role i gets `registers[i]` registers (`setmaxnreg`): fewer than it starts with in the first roles, more
    in the others. Without `registers` all keep what they start with. Example:
    ```mlir
    tile.roles counts [1, 2] registers [24, 240] {
    ^bb0(%loader: index):
      tile.yield
    }, {
    ^bb0(%consumer: index):
      tile.yield
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$counts, OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$counts, "::llvm::ArrayRef<int64_t>":$registers, "unsigned":$roles), [{
    build($_builder, $_state, $_builder.getDenseI64ArrayAttr(counts),
          registers.empty() ? ::mlir::DenseI64ArrayAttr() : $_builder.getDenseI64ArrayAttr(registers), roles);
  }]>];
  let assemblyFormat = "`counts` $counts (`registers` $registers^)? $roles attr-dict";
  let hasVerifier = 1;
}

class Tile_NamedBarrierOp<string mnemonic> : Tile_EffectOp<mnemonic> {
  let arguments = (ins Index:$number, I64Attr:$threads);
  let assemblyFormat = "$number `threads` $threads attr-dict";
}

def Tile_BarrierSyncOp : Tile_NamedBarrierOp<"barrier_sync"> {
  let summary = "Wait until all threads have come to a named barrier";
  let description = [{
    `threads` is how many, those that arrive and do not wait included. All threads of a warp execute it. Barrier 0 is the block's, and
    `tile.sync_warpgroup` uses one from 1 on for each warpgroup. Becomes `bar.sync`. Example:
    ```mlir
    tile.barrier_sync %number threads 256
    ```
  }];
}

def Tile_BarrierArriveOp : Tile_NamedBarrierOp<"barrier_arrive"> {
  let summary = "Come to a named barrier without waiting";
  let description = [{
    As `tile.barrier_sync` otherwise. Becomes `bar.arrive`. Example:
    ```mlir
    tile.barrier_arrive %number threads 256
    ```
  }];
}

#endif // XC_DIALECT_TILE_IR_TILEREGISTEROPS_TD
