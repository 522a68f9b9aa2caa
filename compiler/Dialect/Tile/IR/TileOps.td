//===- TileOps.td - Operations of the tile dialect --------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILEOPS_TD
#define XC_DIALECT_TILE_IR_TILEOPS_TD

include "compiler/Dialect/Tile/IR/TileDialect.td"

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

def Tile_TensorMapOp : Tile_Op<"tensor_map", [Pure]> {
  let summary = "Describe a tensor in global memory for copies of TMA boxes";
  let description = [{
    `memory` is the tensor's binding. `sizes` and `strides` map the kernel's scalars to sizes and strides in elements, outermost
    dim first; the innermost stride is 1, the others are multiples of 16 bytes. So is `offset`, which maps them to where the tensor
    begins in the binding, in elements (at 0 where it is absent). Elements of a box outside the
    tensor read as zero and are not written. With `tf32`, copies to shared memory round f32 to the nearest of TF32, ties to even; `wgmma`
    alone would cut mantissas off.

    Of an im2col map the dims are images, spatial dims and channels. `lower` and `upper` are where the bounding box of the pixels begins
    along each spatial dim, and where it ends, as distances from the image's first and last element; `steps` are the distances of pixels.
    `upper` maps the kernel's scalars: where the last window ends depends on the image's size. A copy brings the pixels that follow one another in the box, image after image. Becomes a `CUtensorMap` parameter, encoded when buffers are bound. Example:
    ```mlir
    %map = tile.tensor_map %a {sizes = affine_map<() -> (4096, 768)>, strides = affine_map<() -> (768, 1)>}
        : memref<3145728xbf16> -> !tile.tensor_map<128x64xbf16>
    %image = tile.tensor_map %x {sizes = affine_map<() -> (32, 56, 56, 64)>, strides = affine_map<() -> (200704, 3584, 64, 1)>,
                                 lower = array<i64: -1, -1>, upper = affine_map<() -> (-1, -1)>, steps = array<i64: 1, 1>}
        : memref<6422528xbf16> -> !tile.tensor_map<128x64xbf16, im2col = 4>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, AffineMapAttr:$sizes, AffineMapAttr:$strides, OptionalAttr<AffineMapAttr>:$offset,
                       UnitAttr:$tf32, OptionalAttr<DenseI64ArrayAttr>:$lower, OptionalAttr<AffineMapAttr>:$upper,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let builders = [OpBuilder<(ins "::mlir::Type":$map, "::mlir::Value":$memory, "::mlir::AffineMapAttr":$sizes,
                                 "::mlir::AffineMapAttr":$strides, "::mlir::AffineMapAttr":$offset, "::mlir::UnitAttr":$tf32), [{
    build($_builder, $_state, map, memory, sizes, strides, offset, tf32, {}, {}, {});
  }]>];
  let results = (outs Tile_TensorMapType:$map);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `->` type($map)";
  let hasVerifier = 1;
}

def Tile_PrefetchOp : Tile_EffectOp<"prefetch"> {
  let summary = "Fetch a tensor's description into the cache";
  let description = [{
    So that the first copy that uses it need not wait. One thread executes it. Example:
    ```mlir
    tile.prefetch %map : !tile.tensor_map<128x64xbf16>
    ```
  }];
  let arguments = (ins Tile_TensorMapType:$map);
  let assemblyFormat = "$map attr-dict `:` type($map)";
}

def Tile_RingOp : Tile_EffectOp<"ring"> {
  let summary = "Make a ring of tiles, with all stages empty";
  let description = [{
    One thread initialises the barriers. All threads of the block must pass a `gpu.barrier` before they use the ring.
    A stage becomes full when `arrivals` threads have published it and all bytes that they announced have come; it becomes empty
    when `consumers` threads have released it. `offset` and `barriers` are places in shared memory, set by
    `-xc-cuda-plan-shared-memory`. A ring of no arrivals and no consumers has no barriers: `tile.copy` or `tile.start_copy` fills its stages. Example:
    ```mlir
    %ring = tile.ring arrivals 1 consumers 2 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<256x64xbf16>>
    ```
  }];
  let arguments = (ins I64Attr:$arrivals, I64Attr:$consumers, OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers);
  let results = (outs Tile_RingType:$ring);
  let assemblyFormat = "`arrivals` $arrivals `consumers` $consumers attr-dict `:` type($ring)";
  let extraClassDeclaration = [{
    bool hasBarriers() { return getArrivals() != 0 || getConsumers() != 0; }
  }];
  let hasVerifier = 1;
}

def Tile_AllocOp : Tile_EffectOp<"alloc"> {
  let summary = "Make a tile in shared memory";
  let description = [{
    `offset` is set by `-xc-cuda-plan-shared-memory`, which may give two tiles one place: what a tile holds before the first store to it is
    not known. One that nobody uses has a place of its own. Example:
    ```mlir
    %staging = tile.alloc : !tile.shared<128x128xbf16>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tile_SharedType:$tile);
  let assemblyFormat = "attr-dict `:` type($tile)";
}

def Tile_SlotOp : Tile_Op<"slot", [Pure]> {
  let summary = "One tile of a stage of a ring";
  let description = [{
    Tile `tile` of stage `stage`. Example:
    ```mlir
    %b = tile.slot %ring[%stage] 1 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<256x64xbf16>> -> !tile.shared<256x64xbf16>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$stage, I64Attr:$tile);
  let results = (outs Tile_SharedType:$slot);
  let assemblyFormat = "$ring `[` $stage `]` $tile attr-dict `:` type($ring) `->` type($slot)";
  let hasVerifier = 1;
}

def Tile_ReuseOp : Tile_Op<"reuse", [Pure]> {
  let summary = "A tile in the place of a ring's, when nobody needs those any more";
  let description = [{
    It begins where tile `tile` of the ring's first stage does, and may take as much as that has in all stages. Example:
    ```mlir
    %staging = tile.reuse %ring 0 : !tile.ring<3, !tile.shared<128x32xbf16, lines>> -> !tile.shared<64x64xbf16, lines>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, I64Attr:$tile);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$ring $tile attr-dict `:` type($ring) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The ring's protocol
//===----------------------------------------------------------------------===//

def Tile_WaitEmptyOp : Tile_EffectOp<"wait_empty"> {
  let summary = "Wait until the consumers have released a stage";
  let description = [{
    `phase` is the parity (0 or 1) of the number of times that the ring has come round to this stage before. The first time
    it returns at once. Example:
    ```mlir
    tile.wait_empty %ring[%stage] phase %phase : !tile.ring<4, !tile.shared<128x64xbf16>>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$stage, Index:$phase);
  let assemblyFormat = "$ring `[` $stage `]` `phase` $phase attr-dict `:` type($ring)";
}

def Tile_WaitFullOp : Tile_EffectOp<"wait_full"> {
  let summary = "Wait until a stage has been filled";
  let description = [{
    `phase` is the parity (0 or 1) of the number of times that the ring has come round to this stage before. Example:
    ```mlir
    tile.wait_full %ring[%stage] phase %phase : !tile.ring<4, !tile.shared<128x64xbf16>>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$stage, Index:$phase);
  let assemblyFormat = "$ring `[` $stage `]` `phase` $phase attr-dict `:` type($ring)";
}

def Tile_PublishOp : Tile_EffectOp<"publish"> {
  let summary = "Arrive at a stage's full barrier, and announce bytes that copies will bring";
  let description = [{
    The executing thread has stored what it had to, and `bytes` more (may be 0) come by `tile.load`s that signal the stage. Example:
    ```mlir
    tile.publish %ring[%stage] bytes 49152 : !tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<256x64xbf16>>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$stage, I64Attr:$bytes);
  let assemblyFormat = "$ring `[` $stage `]` `bytes` $bytes attr-dict `:` type($ring)";
}

def Tile_ReleaseOp : Tile_EffectOp<"release"> {
  let summary = "Arrive at a stage's empty barrier";
  let description = [{
    The executing thread stands for a group of consumers that have all read the stage; with tokens, that the products which read
    it are done. Example:
    ```mlir
    tile.release %ring[%stage] : !tile.ring<4, !tile.shared<128x64xbf16>>
    tile.release %ring[%stage] after %done, %other : !tile.ring<4, !tile.shared<128x64xbf16>>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$stage, Variadic<Tile_TokenType>:$tokens);
  let assemblyFormat = "$ring `[` $stage `]` (`after` $tokens^)? attr-dict `:` type($ring)";
  let builders = [OpBuilder<(ins "::mlir::Value":$ring, "::mlir::Value":$stage, CArg<"::mlir::Value", "{}">:$token), [{
    build($_builder, $_state, ring, stage, token ? ::mlir::ValueRange(token) : ::mlir::ValueRange());
  }]>];
}

def Tile_ReleaseInOp : Tile_EffectOp<"release_in"> {
  let summary = "Arrive at a stage's empty barrier in a block of the cluster";
  let description = [{
    As `tile.release`, for the ring of block `block` of the cluster, which must have passed a `tile.sync_blocks` since it made its ring.
    Where `tile.multicast`s of a block fill stages of several blocks, it waits for all of their consumers. Example:
    ```mlir
    tile.release_in %ring[%stage] block %rank : !tile.ring<4, !tile.shared<128x64xbf16>>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$stage, Index:$block, Variadic<Tile_TokenType>:$tokens);
  let assemblyFormat = "$ring `[` $stage `]` `block` $block (`after` $tokens^)? attr-dict `:` type($ring)";
  let builders = [OpBuilder<(ins "::mlir::Value":$ring, "::mlir::Value":$stage, "::mlir::Value":$block,
                                 CArg<"::mlir::Value", "{}">:$token), [{
    build($_builder, $_state, ring, stage, block, token ? ::mlir::ValueRange(token) : ::mlir::ValueRange());
  }]>];
}

def Tile_SyncBlocksOp : Tile_EffectOp<"sync_blocks"> {
  let summary = "Wait for all threads of the cluster";
  let description = [{
    Before a block uses the rings of others, and before it ends while others may use its own. All of them see each other's stores
    after it. Becomes `barrier.cluster`. Example:
    ```mlir
    tile.sync_blocks
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_EffectOp<"load", [AttrSizedOperandSegments]> {
  let summary = "Start copying a tile from global memory by TMA boxes";
  let description = [{
    One thread executes it. Copies the `slot`'s panels from the tensor, the first from `coords` (outermost dim first) on, each next one
    further along the innermost dim; the stage's full barrier counts the bytes. TMA boxes of fewer rows leave the slot's last ones as they are. A box as
    wide as a last panel that is not full brings that one alone. With `panel` the box brings that one, or its first columns if it is narrower. Of an im2col map `coords` are the first pixel's, in the bounding box, and
    each pixel is read `offsets` further along the spatial dims; what is outside of the image is zero. Becomes `cp.async.bulk.tensor`
    for each panel. Example:
    ```mlir
    tile.load %map[%row, %column] to %slot signal %ring[%stage]
        : !tile.tensor_map<128x64xbf16>, !tile.shared<128x64xbf16>, !tile.ring<4, !tile.shared<128x64xbf16>>
    tile.load %image[%n, %y, %x, %channel] offsets [%r, %s] to %slot signal %ring[%stage]
        : !tile.tensor_map<128x64xbf16, im2col = 4>, !tile.shared<128x64xbf16>, !tile.ring<4, !tile.shared<128x64xbf16>>
    tile.load %image[%n, %y, %x, %channel] offsets [%r, %s] to %slot panel 1 signal %ring[%stage]
        : !tile.tensor_map<64x64xbf16, im2col = 4>, !tile.shared<64x192xbf16>, !tile.ring<4, !tile.shared<64x192xbf16>>
    ```
  }];
  let arguments = (ins Tile_TensorMapType:$map, Variadic<Index>:$coords, Variadic<Index>:$offsets, Tile_SharedType:$slot,
                       Tile_RingType:$ring, Index:$stage, OptionalAttr<I64Attr>:$panel);
  let assemblyFormat = [{
    $map `[` $coords `]` (`offsets` `[` $offsets^ `]`)? `to` $slot (`panel` $panel^)? `signal` $ring `[` $stage `]` attr-dict `:` type($map) `,`
      type($slot) `,` type($ring)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$map, "::mlir::ValueRange":$coords, "::mlir::Value":$slot, "::mlir::Value":$ring,
                                 "::mlir::Value":$stage), [{
    build($_builder, $_state, map, coords, ::mlir::ValueRange(), slot, ring, stage, ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}

def Tile_MulticastOp : Tile_EffectOp<"multicast", [AttrSizedOperandSegments]> {
  let summary = "Start copying a part of a tile from global memory to several blocks of the cluster";
  let description = [{
    As `tile.load`, into the slots of all blocks whose bits are set in `blocks`, from row `row` of the slot on; the full barrier of the
    stage counts the bytes in each of them. Example:
    ```mlir
    tile.multicast %map[%m, %k] to %slot[%row] blocks %mask signal %ring[%stage]
        : !tile.tensor_map<64x64xbf16>, !tile.shared<128x64xbf16>, !tile.ring<4, !tile.shared<128x64xbf16>>
    ```
  }];
  let arguments = (ins Tile_TensorMapType:$map, Variadic<Index>:$coords, Variadic<Index>:$offsets, Tile_SharedType:$slot, Index:$row,
                       Index:$blocks, Tile_RingType:$ring, Index:$stage);
  let assemblyFormat = [{
    $map `[` $coords `]` (`offsets` `[` $offsets^ `]`)? `to` $slot `[` $row `]` `blocks` $blocks `signal` $ring `[` $stage `]` attr-dict `:` type($map) `,`
      type($slot) `,` type($ring)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$map, "::mlir::ValueRange":$coords, "::mlir::Value":$slot, "::mlir::Value":$row,
                                 "::mlir::Value":$blocks, "::mlir::Value":$ring, "::mlir::Value":$stage), [{
    build($_builder, $_state, map, coords, ::mlir::ValueRange(), slot, row, blocks, ring, stage);
  }]>];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_EffectOp<"store"> {
  let summary = "Start copying a part of a tile to global memory";
  let description = [{
    One thread executes it. Copies a box from row `row` of panel `panel` of `tile` to `coords` of the tensor, and commits the
    copy as a group that `tile.wait_stores` waits for. A box that is narrower than the panel leaves its other columns out. Becomes `cp.async.bulk.tensor`. Example:
    ```mlir
    tile.store %tile[%row] panel 0 to %map[%m, %n] : !tile.shared<128x128xbf16>, !tile.tensor_map<64x64xbf16>
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$row, I64Attr:$panel, Tile_TensorMapType:$map, Variadic<Index>:$coords);
  let assemblyFormat = [{
    $tile `[` $row `]` `panel` $panel `to` $map `[` $coords `]` attr-dict `:` type($tile) `,` type($map)
  }];
  let hasVerifier = 1;
}

def Tile_WaitStoresOp : Tile_EffectOp<"wait_stores"> {
  let summary = "Wait until at most some of this thread's stores are under way";
  let description = [{
    With `read`, until the tiles have been read and may be written again; otherwise until the writes are done. Example:
    ```mlir
    tile.wait_stores 0 read
    ```
  }];
  let arguments = (ins I64Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Tile_FenceAsyncOp : Tile_EffectOp<"fence_async"> {
  let summary = "Order this thread's stores to shared memory before later asynchronous reads of it";
  let description = [{
    Between ordinary stores to a tile and a product or a `tile.store` that reads them (another thread's too: a barrier follows).
    `-xc-cuda-place-waits` places it, so that no text needs it. Becomes `fence.proxy.async`. Example:
    ```mlir
    tile.fence_async
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WriteOp : Tile_EffectOp<"write"> {
  let summary = "Store neighbouring elements into a tile";
  let description = [{
    Elements from (`row`, `column`) on, along the line, within one chunk of 16 bytes. Example:
    ```mlir
    tile.write %values to %slot[%row, %column] : vector<8xbf16>, !tile.shared<128x64xbf16>
    ```
  }];
  let arguments = (ins AnyType:$values, Tile_SharedType:$tile, Index:$row, Index:$column);
  let assemblyFormat = "$values `to` $tile `[` $row `,` $column `]` attr-dict `:` type($values) `,` type($tile)";
  let hasVerifier = 1;
}

def Tile_ReadElementsOp : Tile_EffectOp<"read_elements"> {
  let summary = "Load neighbouring elements from a tile";
  let description = [{
    Elements from (`row`, `column`) on, along the line, within one chunk of 16 bytes. Example:
    ```mlir
    %values = tile.read_elements %staging[%row, %column] : !tile.shared<128x64xbf16> -> vector<8xbf16>
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$row, Index:$column);
  let results = (outs AnyType:$values);
  let assemblyFormat = "$tile `[` $row `,` $column `]` attr-dict `:` type($tile) `->` type($values)";
  let hasVerifier = 1;
}

def Tile_WriteFragmentOp : Tile_EffectOp<"write_fragment"> {
  let summary = "Store 16 x 16 elements that a warp holds as fragments of an accumulator";
  let description = [{
    All 32 lanes execute it. `values` are four pairs of 16-bit elements: of rows `row` + lane / 4 and 8 below it, then the same 8 columns
    further (see `!tile.reg`). Becomes `stmatrix`. Example:
    ```mlir
    tile.write_fragment %p0, %p1, %p2, %p3 to %tile[%row, %column] : vector<2xbf16>, !tile.shared<128x128xbf16>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, Tile_SharedType:$tile, Index:$row, Index:$column);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_SyncWarpgroupOp : Tile_EffectOp<"sync_warpgroup"> {
  let summary = "Wait for the 128 threads of a warpgroup";
  let description = [{
    `warpgroup` is its number in the role; all of its threads execute the op, and see each other's stores to shared memory after it.
    Becomes `bar.sync` on a barrier of the warpgroup's own. Example:
    ```mlir
    tile.sync_warpgroup %warpgroup
    ```
  }];
  let arguments = (ins Index:$warpgroup);
  let assemblyFormat = "$warpgroup attr-dict";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Tile_UndefinedOp : Tile_Op<"undefined", [Pure]> {
  let summary = "An accumulator whose first product does not accumulate, or an operand that nobody multiplies";
  let description = [{
    Example:
    ```mlir
    %none = tile.undefined : !tile.reg<64x256xf32, accumulator>
    ```
  }];
  let results = (outs Tile_RegisterType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_ReadFragmentsOp : Tile_EffectOp<"read_fragments"> {
  let summary = "Read operand A of a product from a transposed tile";
  let description = [{
    `tile` is k x rows. All threads of a warpgroup execute it; each result has 64 of the rows from `row` on, of lines `k` and those below
    it, in layout `operand`. Which row of the tile is which row of a result is chosen so that a thread's rows are neighbours and no two threads meet in a
    bank. With one result (elements of 4 bytes), lane l of warp w has as its rows l / 4 and the one 8 below it, for g = l / 4,

        row + 32 * (w / 2) + 16 * (g % 2) + 8 * (w % 2) + 4 * (g / 4) + 2 * (g / 2 % 2)

    and the next one. With two, the first result has that row and the next one, the second result the two after them:

        row + 32 * w + 16 * (g % 2) + 4 * (g / 2)     (elements of 4 bytes)
        row + 32 * w + 4 * g                          (elements of 1 byte)

    Example:
    ```mlir
    %f:2 = tile.read_fragments %slot[%row] from 16
        : !tile.shared<32x256xf32> -> !tile.reg<64x16xf32, operand>, !tile.reg<64x16xf32, operand>
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$row, I64Attr:$k);
  let results = (outs Variadic<Tile_RegisterType>:$fragments);
  let assemblyFormat = "$tile `[` $row `]` `from` $k attr-dict `:` type($tile) `->` type($fragments)";
  let hasVerifier = 1;
}

def Tile_FragmentOp : Tile_Op<"fragment", [Pure]> {
  let summary = "Two neighbouring elements of an accumulator that a thread holds";
  let description = [{
    Those of columns `column` + 2 * (lane % 4) and the next, in row lane / 4, or 8 below it where `half` is 1 (of a `paired` tile of a warp,
    2 * (lane / 4) and the next). Example:
    ```mlir
    %pair = tile.fragment %d[8, 1] : !tile.reg<64x256xf32, accumulator> -> vector<2xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_RegisterType, Tile_WarpType]>:$accumulator, I64Attr:$column, I64Attr:$half);
  let results = (outs AnyType:$pair);
  let assemblyFormat = "$accumulator `[` $column `,` $half `]` attr-dict `:` type($accumulator) `->` type($pair)";
  let hasVerifier = 1;
}

def Tile_ReduceBlocksOp : Tile_EffectOp<"reduce_blocks"> {
  let summary = "Add the accumulators of all blocks of a cluster";
  let description = [{
    Each of the `blocks` blocks of the cluster brings its own sums; block r gets the sums of all, in the order of the blocks, of columns
    r * n to (r + 1) * n - 1, where n is the result's width. They pass through `scratch`, a tile of one row for each row of the
    warpgroups and one column for each of the accumulator, of which warpgroup `warpgroup` uses its share. All consumers of all blocks
    execute it. `tile.wait_blocks` must follow before the block ends. Example:
    ```mlir
    %part = tile.reduce_blocks %sums through %scratch[%warpgroup] blocks 4
        : !tile.reg<64x64xf32, accumulator>, !tile.shared<64x64xf32> -> !tile.reg<64x16xf32, accumulator>
    ```
  }];
  let arguments = (ins Tile_RegisterType:$accumulator, Tile_SharedType:$scratch, Index:$warpgroup, I64Attr:$blocks);
  let results = (outs Tile_RegisterType:$result);
  let assemblyFormat = [{
    $accumulator `through` $scratch `[` $warpgroup `]` `blocks` $blocks attr-dict `:` type($accumulator) `,`
      type($scratch) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SumBlocksOp : Tile_EffectOp<"sum_blocks"> {
  let summary = "Add a thread's registers of all blocks of a cluster";
  let description = [{
    What `tile.reduce_blocks` becomes: `sums` are the accumulator's elements that a thread holds; it gets those of its block's columns, added
    up. Example:
    ```mlir
    %r:4 = tile.sum_blocks sums(%a, %b, %c, %d, %e, %f, %g, %h : f32, f32, f32, f32, f32, f32, f32, f32) through %scratch[%warpgroup] blocks 2
        : !tile.shared<64x16xf32> -> f32, f32, f32, f32
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[F32, I32]>>:$sums, Tile_SharedType:$scratch, Index:$warpgroup, I64Attr:$blocks);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$results);
  let assemblyFormat = [{
    `sums` `(` $sums `:` type($sums) `)` `through` $scratch `[` $warpgroup `]` `blocks` $blocks attr-dict `:` type($scratch) `->`
      type($results)
  }];
  let hasVerifier = 1;
}

def Tile_ReadFragmentWordsOp : Tile_EffectOp<"read_fragment_words"> {
  let summary = "Read a thread's registers of a transposed tile";
  let description = [{
    What `tile.read_fragments` becomes: the words of one result behind those of the other. Example:
    ```mlir
    %w:8 = tile.read_fragment_words %slot[%row] from 16 parts 2 : !tile.shared<32x256xf32> -> i32, i32, i32, i32, i32, i32, i32, i32
    ```
  }];
  let arguments = (ins Tile_SharedType:$tile, Index:$row, I64Attr:$k, I64Attr:$parts);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "$tile `[` $row `]` `from` $k `parts` $parts attr-dict `:` type($tile) `->` type($words)";
  let hasVerifier = 1;
}

def Tile_ArriveBlocksOp : Tile_EffectOp<"arrive_blocks"> {
  let summary = "Tell the other blocks of the cluster what this thread has done";
  let description = [{
    The first half of the cluster's barrier, which `tile.wait_blocks` completes: what threads stored before the one is seen behind
    the other. `relaxed` says nothing of stores, only that the thread has begun: it need not wait for memory then. No thread arrives
    twice without waiting between. Example:
    ```mlir
    tile.arrive_blocks relaxed
    tile.wait_blocks
    tile.arrive_blocks
    ```
  }];
  let arguments = (ins UnitAttr:$relaxed);
  let assemblyFormat = "(`relaxed` $relaxed^)? attr-dict";
}

def Tile_WaitBlocksOp : Tile_EffectOp<"wait_blocks"> {
  let summary = "Wait until all threads of the cluster have arrived";
  let description = [{
    The second half of the cluster's barrier at which `tile.arrive_blocks` arrives, or `tile.reduce_blocks` last: then the other
    blocks have read this one's sums. Example:
    ```mlir
    tile.wait_blocks
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_StoreInOp : Tile_EffectOp<"store_in"> {
  let summary = "Store an element to the shared memory of a block of the cluster";
  let description = [{
    To the place that `buffer[position]` has in block `block`, which must have begun and must not end before: a barrier of the
    cluster is on either side. Example:
    ```mlir
    tile.store_in %sum, %buffer[%i] block %rank : f32, memref<64xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AnyType:$value, AnyMemRef:$buffer, Index:$position, Index:$block);
  let assemblyFormat = [{
    $value `,` $buffer `[` $position `]` `block` $block attr-dict `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator]> {
  let summary = "End a region of a schedule op";
  let description = [{
    Example:
    ```mlir
    tile.yield %stage, %phase : index, index
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_PersistentOp : Tile_Op<"persistent", [SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "Loop over this block's share of a grid of tiles";
  let description = [{
    Block i of g works on tiles i, i + g, i + 2 * g, ... of each of `batches` grids of `tilesM` x `tilesN` tiles. Tiles
    are numbered in groups of `raster` rows, within a group column by column, so that blocks that run together share
    operands in L2. With `share` s, s blocks that follow one another work on each tile together.
    With `serpentine`, every second wave goes backwards: block i works on tiles i, 2 * g - 1 - i, i + 2 * g, ... Where tiles get
    cheaper one by one, and waves begin at the same place in each row of them, no block has the dearest tile of every wave then.
    With `first` i `every` n, the executing threads take only every n-th of their block's tiles, from number i on. The body's arguments are the tile's row, column and batch, then the values carried from tile to tile. Example:
    ```mlir
    %last = tile.persistent (%rows, %columns, %batches) raster 8 carry (%stage : index) {
    ^bb0(%row: index, %column: index, %batch: index, %current: index):
      ...
      tile.yield %next : index
    } -> index
    ```
  }];
  let arguments = (ins Index:$tilesM, Index:$tilesN, Index:$batches, I64Attr:$raster, DefaultValuedAttr<I64Attr, "1">:$share,
                       Optional<Index>:$first, DefaultValuedAttr<I64Attr, "1">:$every, Variadic<AnyType>:$inits, UnitAttr:$serpentine);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $tilesM `,` $tilesN `,` $batches `)` `raster` $raster (`share` $share^)? (`first` $first^ `every` $every)? (`serpentine` $serpentine^)?
    (`carry` `(` $inits^ `:` type($inits) `)`)? $body attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

include "compiler/Dialect/Tile/IR/TileCopyOps.td"
include "compiler/Dialect/Tile/IR/TileRegisterOps.td"
include "compiler/Dialect/Tile/IR/TileWarpOps.td"

#endif // XC_DIALECT_TILE_IR_TILEOPS_TD
