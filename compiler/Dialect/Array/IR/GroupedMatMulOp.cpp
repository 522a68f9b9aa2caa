//===- GroupedMatMulOp.cpp - Rows in groups, each times its own matrix -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are laid out in tiles that each belong to one group: `ceil(size / tile)` tiles for a group,
// so at most `M / tile + G` altogether, which is known before the sizes are. Tiles then are a batch
// of matrices, each times the matrix of its group. Which rows a tile holds, and in which tile a row
// lies, follows from running sums of the sizes and of the tiles of groups.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult GroupedMatMulOp::verify() { return verifyProduct(*this, getAllowTf32()); }

LogicalResult GroupedMatMulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  RankedTensorType lhs = typeOf(adaptor.getLhs()), rhs = typeOf(adaptor.getRhs()),
                   sizes = typeOf(adaptor.getSizes());
  if (failed(checkSameElementType(rule, {adaptor.getLhs(), adaptor.getRhs()})))
    return failure();
  if (lhs.getRank() != 2 || rhs.getRank() != 3 || sizes.getRank() != 1)
    return rule.error("expected a matrix, a batch of matrices and a vector, got ", lhs, ", ", rhs,
                      " and ", sizes);
  bool isTransposed = adaptor.getTransposeB();
  int64_t inner = rhs.getDimSize(isTransposed ? 2 : 1);
  if (!areCompatibleDims(lhs.getDimSize(1), inner))
    return rule.error("expected equal inner dims, got ", lhs.getDimSize(1), " of ", lhs, " and ",
                      inner, " of ", rhs);
  if (!areCompatibleDims(rhs.getDimSize(0), sizes.getDimSize(0)))
    return rule.error("expected a size for each matrix, got ", rhs, " and ", sizes);
  inferred.push_back(RankedTensorType::get(
      {lhs.getDimSize(0), rhs.getDimSize(isTransposed ? 1 : 2)}, lhs.getElementType()));
  return success();
}

LogicalResult GroupedMatMulOp::reifySizes(SizeBuilder &sizes, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(),
                 {sizes.size(getLhs(), 0), sizes.size(getRhs(), getTransposeB() ? 1 : 2)}, sizes,
                 shapes);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Rows of a tile: few where groups are small on average, so that tiles are not mostly empty.
static constexpr int64_t kMaxTileRows = 128;

static int64_t chooseTileRows(int64_t rows, int64_t groups) {
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(groups))
    return kMaxTileRows / 2;
  int64_t average = std::max<int64_t>(rows / groups, 1);
  return std::min<int64_t>(llvm::PowerOf2Ceil(average), kMaxTileRows);
}

static constexpr llvm::StringLiteral kGroupOfRows = "expected a group, since there are rows";

namespace {

/// Where rows lie in tiles, for the product and for its gradient.
class GroupTiles {
public:
  GroupTiles(GroupedMatMulOp op, OpBuilder &builder);

  ExpressionBuilder &getBuilder() { return e; }
  /// Rows of `matrix` in tiles `[tiles, rows, columns]`. Where there is no row, another one.
  Value gatherRows(Value matrix) { return e.make<TakeOp>(matrix, sources, uint64_t(0)); }
  /// The same with zeros where there is no row.
  Value gatherRowsOrZeros(Value matrix) {
    Value gathered = gatherRows(matrix);
    Value mask = e.make<ExpandDimsOp>(isRow, int64_t(2));
    return e.select(mask, gathered, e.scalar(0, gathered));
  }
  /// The matrix of each tile's group.
  Value gatherMatrices(Value matrices) { return at(matrices, group); }
  /// Rows of tiles where they belong, and zeros behind the last group.
  Value placeRows(Value tiles, Value rowsLike);
  /// The sum of a matrix for each tile over the tiles of each group.
  Value sumTiles(Value tiles, Value matricesLike);

private:
  /// The groups that own `positions`, of those that end at `ends`.
  Value ownersOf(Value positions, Value ends) {
    Value owners = e.make<SearchSortedOp>(typeOf(positions), ends, positions, /*right=*/true);
    return e.make<MinOp>(owners, lastGroup);
  }
  Value sumBefore(Value values) {
    return e.make<CumSumOp>(values, /*axis=*/0, /*exclusive=*/true, /*reverse=*/false);
  }
  Value at(Value values, Value indices) {
    Value taken = e.make<TakeOp>(values, indices, uint64_t(0));
    taken.getDefiningOp()->setAttr(kRequirementAttr, e.getBuilder().getStringAttr(kGroupOfRows));
    return taken;
  }

  ExpressionBuilder e;
  Type i64;
  Value groups, lastGroup;
  int64_t tileRows;
  Value rowBegin, rowEnd, tileBegin; ///< of each group
  Value group, isUsed;               ///< of each tile: its group, and whether it holds anything
  Value sources, isRow;              ///< of each row of each tile
};

} // namespace

GroupTiles::GroupTiles(GroupedMatMulOp op, OpBuilder &builder)
    : e(builder, op.getLoc()), i64(builder.getI64Type()) {
  tileRows =
      chooseTileRows(op.getLhs().getType().getDimSize(0), op.getRhs().getType().getDimSize(0));
  groups = e.sizeLess(op.getRhs(), 0, 0, i64);
  lastGroup = e.lastIndex(op.getRhs(), 0, i64);
  Value rowCount = e.sizeLess(op.getLhs(), 0, 0, i64);
  Value sizes = e.make<MaxOp>(e.convert(op.getSizes(), i64), e.integer(0, i64));
  // No group has more rows than there are, so that sums of them fit.
  sizes = e.make<MinOp>(sizes, rowCount);
  rowBegin = e.make<MinOp>(sumBefore(sizes), rowCount);
  rowEnd = e.make<MinOp>(e.add(sumBefore(sizes), sizes), rowCount);
  sizes = e.sub(rowEnd, rowBegin);
  Value tileSize = e.integer(tileRows, i64);
  Value tiles = e.div(e.add(sizes, e.integer(tileRows - 1, i64)), tileSize);
  tileBegin = sumBefore(tiles);
  Value tileEnd = e.add(tileBegin, tiles);

  // Of M rows in G groups; of none none, since there is no row to fill tiles with.
  SizeBuilder sizeBuilder(builder, op.getLoc());
  OpFoldResult all = sizeBuilder.size(op.getLhs(), 0);
  OpFoldResult full = sizeBuilder.floorDiv(all, sizeBuilder.constant(tileRows));
  OpFoldResult isAny = sizeBuilder.ceilDiv(all, sizeBuilder.constant(int64_t(1) << 48));
  OpFoldResult ragged = tileRows == 1 ? sizeBuilder.constant(0) : sizeBuilder.size(op.getRhs(), 0);
  Value tile = e.iota(sizeBuilder.add(full, sizeBuilder.mul(isAny, ragged)), i64);
  group = ownersOf(tile, tileEnd);
  isUsed = e.compare(CompareDirection::Lt, tile, at(tileEnd, group));
  Value first = e.mul(e.sub(tile, at(tileBegin, group)), tileSize);
  Value row = e.make<IotaOp>(RankedTensorType::get(tileRows, i64), ValueRange(), uint64_t(0));
  Value inGroup = e.add(e.make<ExpandDimsOp>(first, int64_t(1)), row);
  auto column = [&](Value perTile) { return e.make<ExpandDimsOp>(perTile, int64_t(1)); };
  sources = e.add(column(at(rowBegin, group)), inGroup);
  isRow = e.make<AndOp>(e.compare(CompareDirection::Lt, inGroup, column(at(sizes, group))),
                        column(isUsed));
}

Value GroupTiles::placeRows(Value tiles, Value rowsLike) {
  OpBuilder &builder = e.getBuilder();
  int64_t columns = typeOf(tiles).getDimSize(2);
  SizeBuilder sizes(builder, tiles.getLoc());
  Value row = e.iota(sizes.size(rowsLike, 0), i64);
  Value owner = ownersOf(row, rowEnd);
  Value tileSize = e.integer(tileRows, i64);
  Value inGroup = e.sub(row, at(rowBegin, owner));
  Value place = e.add(e.mul(at(tileBegin, owner), tileSize), inGroup);
  int64_t count = typeOf(tiles).getDimSize(0);
  Values flatSizes;
  if (ShapedType::isDynamic(count))
    flatSizes.push_back(sizes.value(sizes.mul(sizes.size(tiles, 0), sizes.constant(tileRows))));
  if (ShapedType::isDynamic(columns))
    flatSizes.push_back(sizes.value(sizes.size(tiles, 2)));
  int64_t flatRows = mulSizes(count, tileRows).value_or(ShapedType::kDynamic);
  Value flat = e.make<ReshapeOp>(
      RankedTensorType::get({flatRows, columns}, typeOf(tiles).getElementType()), tiles, flatSizes);
  Value placed = at(flat, place);
  Value isOwned = e.compare(CompareDirection::Lt, row, at(rowEnd, owner));
  Value mask = e.make<ExpandDimsOp>(isOwned, int64_t(1));
  return e.select(mask, placed, e.scalar(0, placed));
}

Value GroupTiles::sumTiles(Value tiles, Value matricesLike) {
  // What holds nothing goes to a group that is not there.
  Value owner = e.select(isUsed, group, groups);
  Value zeros = e.zerosLike(matricesLike);
  zeros = e.convert(zeros, typeOf(tiles).getElementType());
  int64_t axis = 0;
  return e.make<ScatterOp>(ScatterKind::Add, zeros, e.make<ExpandDimsOp>(owner, int64_t(1)), tiles,
                           ArrayRef(axis), /*unique=*/false);
}

//===----------------------------------------------------------------------===//
// In simpler ops
//===----------------------------------------------------------------------===//

/// Where there are rows, there is a group that has a size and a matrix.
void reifyRequirements(GroupedMatMulOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  int64_t inner = op.getTransposeB() ? 2 : 1, columns = 3 - inner;
  bool isEmpty = llvm::is_contained(op.getLhs().getType().getShape(), 0) ||
                 op.getRhs().getType().getDimSize(0) == 0;
  if (!isEmpty) {
    OpFoldResult rows = sizes.size(op.getLhs(), 0);
    requirements.requireElementFor(rows, op.getSizes(), 0, kGroupOfRows);
    requirements.requireElementFor({rows, sizes.size(op.getRhs(), columns)}, op.getRhs(), 0,
                                   kGroupOfRows);
    requirements.requireAgreement(op.getLhs(), 1, op.getRhs(), inner);
  }
  requirements.requireResultTypes();
}

FailureOr<Values> GroupedMatMulOp::decompose(OpBuilder &builder) {
  if (llvm::is_contained(getLhs().getType().getShape(), 0) ||
      getRhs().getType().getDimSize(0) == 0) {
    ExpressionBuilder e(builder, getLoc());
    SmallVector<Value> sizes;
    SizeBuilder sizeBuilder(builder, getLoc());
    if (getType().isDynamicDim(0))
      sizes.push_back(sizeBuilder.value(sizeBuilder.size(getLhs(), 0)));
    if (getType().isDynamicDim(1))
      sizes.push_back(sizeBuilder.value(sizeBuilder.size(getRhs(), getTransposeB() ? 1 : 2)));
    Value zero = e.convert(e.scalar(0, getLhs()), getType().getElementType());
    return Values{e.make<BroadcastInDimOp>(getType(), zero, sizes, ArrayRef<int64_t>())};
  }
  GroupTiles tiles(*this, builder);
  ExpressionBuilder &e = tiles.getBuilder();
  Value lhs = tiles.gatherRows(getLhs()), rhs = tiles.gatherMatrices(getRhs());
  auto shape = llvm::to_vector(typeOf(lhs).getShape());
  shape[2] = typeOf(rhs).getDimSize(getTransposeB() ? 1 : 2);
  Value product = e.make<MatMulOp>(Type(getType().clone(shape)), lhs, rhs, /*transpose_a=*/false,
                                   getTransposeB(), getAllowTf32());
  return Values{e.finish(tiles.placeRows(product, getLhs()), getType())};
}

FailureOr<Values> GroupedMatMulOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isa<FloatType>(getType().getElementType()))
    return failure();
  if (getRhs().getType().getDimSize(0) == 0) {
    ExpressionBuilder e(builder, getLoc());
    return Values{e.zerosLike(getLhs()), e.zerosLike(getRhs()), Value()};
  }
  GroupTiles tiles(*this, builder);
  ExpressionBuilder &e = tiles.getBuilder();
  Value g = e.convert(cotangents.front(), getLhs().getType().getElementType());
  Value lhs = e.make<GroupedMatMulOp>(g, getRhs(), getSizes(), !getTransposeB(), getAllowTf32());
  // A tile's rows that are none must not count, whatever is read there.
  Value x = tiles.gatherRowsOrZeros(getLhs()), y = tiles.gatherRowsOrZeros(g);
  if (getTransposeB())
    std::swap(x, y);
  Value products =
      e.make<MatMulOp>(x, y, /*transpose_a=*/true, /*transpose_b=*/false, getAllowTf32());
  return Values{e.finish(lhs, getLhs().getType()),
                e.finish(tiles.sumTiles(products, getRhs()), getRhs().getType()), Value()};
}

} // namespace xc::array
