//===- TileDialect.td - The tile dialect and its types ----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILEDIALECT_TD
#define XC_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::xc::tile";
  let summary = "Tiles in shared memory, the rings they move through, and asynchronous products of them";
  let description = [{
    What a kernel on tensor cores does, without addresses, lanes, barriers' places or descriptors. On sm_90a warps may have roles: tiles lie
    swizzled in shared memory, a ring hands them from the warps that fetch to the warps that multiply, products run
    asynchronously on accumulators that are SSA values. Emitters build it inside a kernel function;
    `-xc-cuda-lower-schedule` turns roles and the persistent loop into branches and loops,
    `-xc-cuda-plan-shared-memory` gives everything its place, and `-xc-cuda-lower-to-nvvm` makes instructions.

    A tile of `rows` x `columns` is stored as panels, one after another: a panel has all rows and as many columns as
    fill 128 bytes (64 or 32, if those are all that the tile has). The last panel takes the same place if the tile has fewer columns
    for it. The 16-byte chunks of a panel's line are
    permuted by an exclusive or with the line's number, as the tensor memory accelerator and `wgmma` know it
    (PTX ISA, "Swizzling modes"). Such tiles are 1024-byte aligned. Tiles that `mma.sync` alone reads may have lines that are whole, and
    other swizzles: see `!tile.shared`.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

/// Ops that touch shared memory, barriers or the asynchronous proxy keep their order among each other.
class Tile_EffectOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, traits # [MemoryEffects<[MemRead, MemWrite]>]>;

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_Swizzle : I32EnumAttr<"Swizzle", "how the chunks of a tile's lines are permuted", [
    I32EnumAttrCase<"Panels", 0, "panels">, I32EnumAttrCase<"Lines", 1, "lines">, I32EnumAttrCase<"Even", 2, "even">,
    I32EnumAttrCase<"Pairs", 3, "pairs">, I32EnumAttrCase<"Halves", 4, "halves">, I32EnumAttrCase<"Patches", 5, "patches">]> {
  let cppNamespace = "::xc::tile";
}

def Tile_SharedType : Tile_Type<"Shared", "shared"> {
  let summary = "A swizzled tile in shared memory";
  let description = [{
    `rows` x `columns` elements. Where no swizzle is said, a line of columns is contiguous up to the panels and the swizzle that the dialect
    describes, which is what TMA and `wgmma` know. With one of the others, which `mma.sync` reads, lines follow one another whole, 32 or 64
    bytes long or a multiple of 128, and chunk c of 16 bytes of line l lies at c xor key(l). Of r = l * min(1, bytes of a line / 128), the
    128-byte row that the line begins in, and n, the chunks of a line but at most 8, the key is

    - `lines`: r mod n. The eight lines of a matrix that `ldmatrix` reads lie in different banks.
    - `even`: 2 * (r mod n / 2). For lanes that take single elements of 4 bytes of four lines and two neighbouring chunks, or of 8 bytes of
      two chunks of four lines.
    - `pairs`: 2 * (r / 2 mod n / 2). For elements of 8 bytes of every other one of eight lines.
    - `halves`: 4 * (r mod n / 4). For four chunks of each of two lines.
    - `patches`: (r + r / n) mod n. As `lines`, where bytes are also written across lines, to every fourth one.

    Examples: `!tile.shared<128x64xbf16>`, `!tile.shared<128x32xf32, even>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType, "::xc::tile::Swizzle":$swizzle);
  let builders = [TypeBuilder<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType), [{
    return $_get($_ctxt, rows, columns, elementType, ::xc::tile::Swizzle::Panels);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasPanels() const { return getSwizzle() == ::xc::tile::Swizzle::Panels; }
    /// Bytes that its start is a multiple of.
    int64_t getAlignment() const;
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    /// Bytes of one line of a panel: 128, 64 or 32. It is also the swizzle's span.
    int64_t getLineBytes() const {
      int64_t bytes = getColumns() * getElementBytes();
      return bytes > 64 ? 128 : bytes;
    }
    int64_t getPanelColumns() const { return getLineBytes() / getElementBytes(); }
    /// Columns of a chunk of 16 bytes, and of the 32 bytes that a step of a product has along k.
    int64_t getChunkColumns() const { return 16 / getElementBytes(); }
    int64_t getStepColumns() const { return 32 / getElementBytes(); }
    int64_t getPanelBytes() const { return getLineBytes() * getRows(); }
    int64_t getPanels() const { return (getColumns() + getPanelColumns() - 1) / getPanelColumns(); }
    /// Columns of the last panel where they do not fill it; otherwise 0.
    int64_t getTailColumns() const { return getColumns() % getPanelColumns(); }
    int64_t getBytes() const {
      return hasPanels() ? getPanels() * getPanelBytes() : getRows() * getColumns() * getElementBytes();
    }
  }];
}

def Tile_RingType : Tile_Type<"Ring", "ring"> {
  let summary = "Stages of tiles that producers fill and consumers empty, in turn";
  let description = [{
    Each of the `stages` holds one tile of each type, and two barriers: full and empty. Example:
    `!tile.ring<4, !tile.shared<128x64xbf16>, !tile.shared<256x64xbf16>>`.
  }];
  let parameters = (ins "int64_t":$stages, ArrayRefParameter<"SharedType">:$tiles);
  let assemblyFormat = "`<` $stages `,` $tiles `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of the tiles of one stage.
    int64_t getStageBytes() const;
  }];
}

def Tile_TensorMapType : Tile_Type<"TensorMap", "tensor_map"> {
  let summary = "A description of a tensor in global memory, and of the box that one copy moves";
  let description = [{
    The shape is the box's, outermost dim first. `span` is the bytes of a line of the tile, which its chunks are permuted within: 32, 64 or
    128; the least that a line of the box fits where it is not said. With `im2col`, the tensor is of that rank: images, 1 to 3 spatial dims and
    channels, and the shape is that of a column: pixels and channels. Examples: `!tile.tensor_map<1x128x64xbf16>`,
    `!tile.tensor_map<64x16xbf16, span = 128>`, `!tile.tensor_map<128x64xbf16, im2col = 4>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType, "int64_t":$span, "int64_t":$imageRank);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$box, "::mlir::Type":$elementType, "int64_t":$span), [{
    return $_get($_ctxt, box, elementType, span, /*imageRank=*/0);
  }]>];
  let extraClassDeclaration = [{
    /// True if copies bring columns of pixels, not tiled boxes.
    bool isIm2col() const { return getImageRank() != 0; }
    /// Dims of the tensor.
    int64_t getRank() const { return isIm2col() ? getImageRank() : static_cast<int64_t>(getBox().size()); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_Layout : I32EnumAttr<"Layout", "where the elements of a register tile are", [
    I32EnumAttrCase<"Accumulator", 0, "accumulator">, I32EnumAttrCase<"Operand", 1, "operand">,
    I32EnumAttrCase<"Paired", 2, "paired">]> {
  let cppNamespace = "::xc::tile";
}

def Tile_RegisterType : Tile_Type<"Register", "reg"> {
  let summary = "A tile that the 128 threads of a warpgroup hold in registers";
  let description = [{
    64 rows. The layout says which thread holds which elements, so that ops on tiles need not:

    - `accumulator`: of any element type (PTX ISA, "wgmma", D fragments). Thread t (warp w = t / 32, lane l = t % 32) has, for each 8
      columns c, rows 16 * w + l / 4 and 8 below it, columns c + 2 * (l % 4) and the next.
    - `operand`: the first operand of a product (PTX ISA, "wgmma", A fragments). Of 16-bit elements: the same elements, two neighbours
      in a word. Of f32: of each 8 columns, l % 4 and 4 behind it. Of bytes: of each 32 columns, four neighbours from 4 * (l % 4) on,
      and those 16 behind them.
    - `paired`: the first operand of a product of f32, with the elements of an `accumulator`. Along k, the neighbours 2 * (l % 4) and the
      next stand where `operand` has l % 4 and 4 behind it; the second operand is read likewise.

    Each warp's 16 rows are what `mma.sync` takes and makes, too (PTX ISA, "Matrix Fragments for mma.m16n8k16"): one layout serves both.

    Example: `!tile.reg<64x128xf32, accumulator>`.
  }];
  let parameters = (ins "int64_t":$columns, "::mlir::Type":$elementType, "::xc::tile::Layout":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isOperand() const { return getLayout() != ::xc::tile::Layout::Accumulator; }
    bool isPaired() const { return getLayout() == ::xc::tile::Layout::Paired; }
    /// Elements that a thread holds.
    int64_t getElements() const { return getColumns() / 2; }
    /// Words of an operand that a thread holds.
    int64_t getWords() const { return getElements() * getElementType().getIntOrFloatBitWidth() / 32; }
  }];
}

def Tile_WarpLayout : I32EnumAttr<"WarpLayout", "what of a product a warp's tile is", [
    I32EnumAttrCase<"Accumulator", 0, "accumulator">, I32EnumAttrCase<"First", 1, "first">, I32EnumAttrCase<"Second", 2, "second">]> {
  let cppNamespace = "::xc::tile";
}

def Tile_WarpType : Tile_Type<"Warp", "warp"> {
  let summary = "A tile of a product on mma.sync that the 32 threads of one warp hold in registers";
  let description = [{
    Which thread holds which elements is what PTX ISA says in "Matrix Fragments" for `mma.m16n8k16` (bytes: `m16n8k32`, f32 as TF32 and f64:
    `m16n8k8`). The layouts:

    - `accumulator`: 16 rows of sums of f32, i32 or f64, any number of 8 columns. Lane l has, of each 8 columns, rows l / 4 and 8 below it,
      columns 2 * (l % 4) and the next.
    - `first`: the first operand, 16 rows by the elements along k of one instruction.
    - `second`: the second operand, those by any number of 8 columns.

    Of f64, `paired` tiles have neighbours where the instruction has rows and elements along k that are apart: rows 2 * (l / 4) and the next
    for l / 4 and 8 below it, and along k 2 * (l % 4) and the next for l % 4 and 4 behind it. So lanes read 16 bytes at a time.

    Examples: `!tile.warp<16x64xf32, accumulator>`, `!tile.warp<16x16xbf16, first>`, `!tile.warp<8x32xf64, second, paired>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType, "::xc::tile::WarpLayout":$layout, "bool":$paired);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isAccumulator() const { return getLayout() == ::xc::tile::WarpLayout::Accumulator; }
    bool isFirst() const { return getLayout() == ::xc::tile::WarpLayout::First; }
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    /// Registers of a thread, which are single elements of 8 bytes, and else words.
    int64_t getRegisters() const { return getRows() * getColumns() * getElementBytes() / 32 / (getElementBytes() == 8 ? 8 : 4); }
    /// How far below a thread's first row its second one is.
    int64_t getRowDistance() const { return getPaired() ? 1 : 8; }
    /// Elements along k that one instruction multiplies.
    static int64_t getStep(::mlir::Type elementType);
  }];
}

def Tile_RowsType : Tile_Type<"Rows", "rows"> {
  let summary = "One number for each row of a register tile";
  let description = [{
    The four threads that share a row of an accumulator hold it. With `partial` each of them holds a part, which
    `tile.combine_rows` combines: sums over many tiles are combined once, at the end. Examples: `!tile.rows<f32>`,
    `!tile.rows<f32, partial>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "bool":$partial);
  let hasCustomAssemblyFormat = 1;
}

def Tile_ColumnsType : Tile_Type<"Columns", "columns"> {
  let summary = "One number for each column of a register tile";
  let description = [{
    Each warp holds all of them, lane l those of columns 64 * i + 2 * l and the next. Example: `!tile.columns<64, f32>`.
  }];
  let parameters = (ins "int64_t":$columns, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $columns `,` $elementType `>`";
  let extraClassDeclaration = [{
    /// Numbers that a thread holds.
    int64_t getElements() const { return (getColumns() + 63) / 64 * 2; }
  }];
}

def Tile_TokenType : Tile_Type<"Token", "token"> {
  let summary = "That an asynchronous op is done";
  let description = [{
    Who reads what the op makes, or gives away what it reads, takes its token. Example: `!tile.token`.
  }];
}

#endif // XC_DIALECT_TILE_IR_TILEDIALECT_TD
