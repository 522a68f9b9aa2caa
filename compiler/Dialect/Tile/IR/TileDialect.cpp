//===- TileDialect.cpp - The tile dialect and its types -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "compiler/Dialect/Tile/IR/TileOpsDialect.cpp.inc"
#include "compiler/Dialect/Tile/IR/TileOpsEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/Dialect/Tile/IR/TileOpsTypes.cpp.inc"

namespace xc::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/Dialect/Tile/IR/TileOpsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

static bool isWholeBytes(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `4x8xf32`.
static ParseResult parseDims(AsmParser &parser, SmallVector<int64_t> &shape, Type &elementType) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(elementType));
}

static void printDims(AsmPrinter &printer, ArrayRef<int64_t> shape, Type elementType) {
  for (int64_t size : shape)
    printer << size << "x";
  printer << elementType;
}

/// `, name` of an enum whose names `symbolize` knows.
template <typename Enum>
static ParseResult parseName(AsmParser &parser, Enum &value,
                             std::optional<Enum> (*symbolize)(StringRef), StringRef expected) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Enum> known = symbolize(name);
  if (!known)
    return parser.emitError(loc, "expected ") << expected << ", got '" << name << "'";
  value = *known;
  return success();
}

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Swizzle swizzle = Swizzle::Panels;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseDims(parser, shape, elementType))
    return Type();
  if (succeeded(parser.parseOptionalComma()) &&
      parseName(parser, swizzle, symbolizeSwizzle,
                "the swizzle 'lines', 'even', 'pairs', 'halves' or 'patches'"))
    return Type();
  if (parser.parseGreater())
    return Type();
  if (shape.size() != 2) {
    parser.emitError(loc, "expected 2 dims, got ") << shape.size();
    return Type();
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape[0], shape[1],
                    elementType, swizzle);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<";
  printDims(printer, {getRows(), getColumns()}, getElementType());
  if (!hasPanels())
    printer << ", " << stringifySwizzle(getSwizzle());
  printer << ">";
}

/// Bytes of a line of the box; 0 of what has no size in bytes.
static int64_t getLineBytes(ArrayRef<int64_t> box, Type elementType) {
  if (box.empty() || !isWholeBytes(elementType))
    return 0;
  return box.back() * elementType.getIntOrFloatBitWidth() / 8;
}

/// The bytes of the shortest line of a tile that a line of the box fits.
static int64_t getLeastSpan(ArrayRef<int64_t> box, Type elementType) {
  int64_t bytes = getLineBytes(box, elementType);
  return bytes <= 32 ? 32 : bytes <= 64 ? 64 : 128;
}

Type TensorMapType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseDims(parser, shape, elementType))
    return Type();
  int64_t span = getLeastSpan(shape, elementType);
  int64_t imageRank = 0;
  while (succeeded(parser.parseOptionalComma())) {
    bool isSpan = succeeded(parser.parseOptionalKeyword("span"));
    if ((!isSpan && parser.parseKeyword("im2col")) || parser.parseEqual() ||
        parser.parseInteger(isSpan ? span : imageRank))
      return Type();
  }
  if (parser.parseGreater())
    return Type();
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, elementType,
                    span, imageRank);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  printDims(printer, getBox(), getElementType());
  if (getSpan() != getLeastSpan(getBox(), getElementType()))
    printer << ", span = " << getSpan();
  if (isIm2col())
    printer << ", im2col = " << getImageRank();
  printer << ">";
}

Type RegisterType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseDims(parser, shape, elementType) || parser.parseComma() ||
      parser.parseKeyword(&layout) || parser.parseGreater())
    return Type();
  std::optional<Layout> known = symbolizeLayout(layout);
  if (!known || shape.size() != 2 || shape[0] != kWarpgroupRows) {
    parser.emitError(loc, "expected ")
        << kWarpgroupRows << " rows and the layout 'accumulator', 'operand' or 'paired', got ["
        << shape << "] and '" << layout << "'";
    return Type();
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape[1],
                    elementType, *known);
}

void RegisterType::print(AsmPrinter &printer) const {
  printer << "<";
  printDims(printer, {kWarpgroupRows, getColumns()}, getElementType());
  printer << ", " << stringifyLayout(getLayout()) << ">";
}

Type WarpType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  WarpLayout layout = WarpLayout::Accumulator;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseDims(parser, shape, elementType) || parser.parseComma() ||
      parseName(parser, layout, symbolizeWarpLayout,
                "the layout 'accumulator', 'first' or 'second'"))
    return Type();
  bool paired = succeeded(parser.parseOptionalComma());
  if ((paired && parser.parseKeyword("paired")) || parser.parseGreater())
    return Type();
  if (shape.size() != 2) {
    parser.emitError(loc, "expected 2 dims, got ") << shape.size();
    return Type();
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape[0], shape[1],
                    elementType, layout, paired);
}

void WarpType::print(AsmPrinter &printer) const {
  printer << "<";
  printDims(printer, {getRows(), getColumns()}, getElementType());
  printer << ", " << stringifyWarpLayout(getLayout()) << (getPaired() ? ", paired>" : ">");
}

Type RowsType::parse(AsmParser &parser) {
  Type elementType;
  if (parser.parseLess() || parser.parseType(elementType))
    return Type();
  bool partial = succeeded(parser.parseOptionalComma());
  if ((partial && parser.parseKeyword("partial")) || parser.parseGreater())
    return Type();
  return get(parser.getContext(), elementType, partial);
}

void RowsType::print(AsmPrinter &printer) const {
  printer << "<" << getElementType() << (getPartial() ? ", partial>" : ">");
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult SharedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                                 int64_t columns, Type elementType, Swizzle swizzle) {
  if (!isWholeBytes(elementType))
    return emitError() << "expected elements of whole bytes, got " << elementType;
  int64_t bytes = columns * elementType.getIntOrFloatBitWidth() / 8;
  if (rows < 8 || rows % 8 != 0)
    return emitError() << "expected a multiple of 8 rows, got " << rows;
  if (swizzle != Swizzle::Panels) {
    bool isWhole = bytes > 0 && (bytes == 32 || bytes == 64 || bytes % kBankBytes == 0);
    if (!isWhole || rows * bytes % kBankBytes != 0) // in range: of shared memory
      return emitError() << "expected lines of 32, 64 or a multiple of " << kBankBytes
                         << " bytes for '" << stringifySwizzle(swizzle) << "', got " << bytes;
    if (swizzle == Swizzle::Halves && bytes < kBankBytes)
      return emitError() << "expected lines of " << kBankBytes
                         << " bytes at least for 'halves', got " << bytes;
    return success();
  }
  if (columns < 1 || bytes % 16 != 0 || (bytes < 64 && bytes != 32))
    return emitError() << "expected lines of 32 bytes, or of a multiple of 16 from 64 on, got "
                       << bytes;
  return success();
}

int64_t SharedType::getAlignment() const { return hasPanels() ? kTileAlignment : kBankBytes; }

LogicalResult RingType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t stages,
                               ArrayRef<SharedType> tiles) {
  if (stages < 1 || tiles.empty())
    return emitError() << "expected at least one stage of at least one tile, got " << stages
                       << " of " << tiles.size();
  return success();
}

int64_t RingType::getStageBytes() const {
  int64_t bytes = 0;
  for (SharedType tile : getTiles())
    bytes += llvm::alignTo(tile.getBytes(), tile.getAlignment());
  return bytes;
}

LogicalResult TensorMapType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<int64_t> box, Type elementType, int64_t span,
                                    int64_t imageRank) {
  if (imageRank != 0 && (imageRank < 3 || imageRank > 5 || box.size() != 2))
    return emitError() << "expected pixels and channels of an image of rank 3 to 5, got "
                       << box.size() << " sizes and rank " << imageRank;
  if (box.empty() || box.size() > 5)
    return emitError() << "expected 1 to 5 dims, got " << box.size();
  if (llvm::any_of(box, [](int64_t size) { return size < 1 || size > 256; }))
    return emitError() << "expected sizes from 1 to 256, got [" << box << "]";
  if (!isWholeBytes(elementType))
    return emitError() << "expected elements of whole bytes, got " << elementType;
  int64_t bytes = getLineBytes(box, elementType);
  if (bytes > 128 || bytes % 16 != 0)
    return emitError() << "expected an innermost dim of a multiple of 16 bytes up to 128, got "
                       << bytes;
  if ((span != 32 && span != 64 && span != 128) || bytes > span)
    return emitError() << "expected a span of 32, 64 or 128 bytes that the box's lines of " << bytes
                       << " fit, got " << span;
  return success();
}

LogicalResult RegisterType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                   int64_t columns, Type elementType, Layout layout) {
  if (columns < 8 || columns > 256 || columns % 8 != 0)
    return emitError() << "expected 8 to 256 columns, a multiple of 8, got " << columns;
  constexpr int64_t stepBits = 256; // along k, of one instruction
  int64_t bits = elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 0;
  bool isTaken = bits == 16 || elementType.isF32() || elementType.isInteger(8);
  if (layout == Layout::Operand && (!isTaken || columns * bits % stepBits != 0))
    return emitError() << "expected an operand of 16-bit elements, f32 or i8, and a multiple of 32 "
                          "bytes along k, got "
                       << columns << " of " << elementType;
  if (layout == Layout::Paired && !elementType.isF32())
    return emitError() << "expected a paired operand of f32, got " << elementType;
  return success();
}

int64_t WarpType::getStep(Type elementType) {
  constexpr int64_t stepBits = 256, stepOf64 = 8;
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 64 ? stepOf64 : stepBits / bits;
}

LogicalResult WarpType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                               int64_t columns, Type elementType, WarpLayout layout, bool paired) {
  constexpr int64_t kRows = 16, kColumns = 8;
  if (paired && !elementType.isF64())
    return emitError() << "expected a paired tile of f64, got " << elementType;
  if (layout == WarpLayout::Accumulator) {
    if (!elementType.isF32() && !elementType.isF64() && !elementType.isInteger(32))
      return emitError() << "expected sums of type f32, f64 or i32, got " << elementType;
    if (rows != kRows || columns < kColumns || columns % kColumns != 0)
      return emitError() << "expected " << kRows << " rows and a multiple of " << kColumns
                         << " columns of sums, got " << rows << " x " << columns;
    return success();
  }
  if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32() &&
      !elementType.isF64() && !elementType.isInteger(8))
    return emitError() << "expected operands of type f16, bf16, f32, f64 or i8, got "
                       << elementType;
  int64_t step = getStep(elementType);
  if (layout == WarpLayout::First && (rows != kRows || columns != step))
    return emitError() << "expected a first operand of " << kRows << " x " << step << " "
                       << elementType << ", got " << rows << " x " << columns;
  // ldmatrix reads those of 16 columns at a time.
  int64_t unit = elementType.isF64() ? kColumns : 2 * kColumns;
  if (layout == WarpLayout::Second && (rows != step || columns < unit || columns % unit != 0))
    return emitError() << "expected a second operand of " << step << " " << elementType
                       << " by a multiple of " << unit << " columns, got " << rows << " x "
                       << columns;
  return success();
}

} // namespace xc::tile
