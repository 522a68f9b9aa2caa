//===- Contraction.cpp - Matrix products and what surrounds them ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/Contraction.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/MultiplyAdd.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

/// Fills in the sides and the type of sums; false if the body has another form, or other casts
/// than kernels of products apply.
static bool matchBody(linalg::LinalgOp op, Contraction &result) {
  std::optional<plan::MultiplyAdd> body = plan::matchMultiplyAdd(op);
  if (!body || !body->hasOnlyCasts<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp,
                                   arith::UIToFPOp>())
    return false;
  result.accumulatorType = op.getRegionOutputArgs().front().getType();
  result.a = {op.getDpsInputOperand(0), body->casts[0], false, false};
  result.b = {op.getDpsInputOperand(1), body->casts[1], false, false};
  return true;
}

tensor::PadOp Contraction::Side::getZeroPadding() const {
  auto pad = operand->get().getDefiningOp<tensor::PadOp>();
  Value value = pad ? pad.getConstantPaddingValue() : Value();
  return value && (matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()))
             ? pad
             : tensor::PadOp();
}

plan::BindingOp Contraction::Side::getCopySource() const {
  tensor::PadOp pad = getZeroPadding();
  return getSourceBinding(pad ? pad.getSource() : operand->get());
}

bool Contraction::hasHalfOperands() const {
  auto getType = [](const Side &side) -> Type {
    if (side.casts.size() != 1 || !isa<arith::ExtFOp>(side.casts.front()))
      return nullptr;
    return getElementTypeOrSelf(side.operand->get());
  };
  Type type = getType(a);
  return type && type == getType(b) && (type.isF16() || type.isBF16()) && accumulatorType.isF32();
}

/// True if operands and sums are of the sums' type as they are stored.
static bool hasOneType(const Contraction &contraction) {
  return llvm::all_of(std::array{&contraction.a, &contraction.b}, [&](auto *side) {
    return side->casts.empty() &&
           getElementTypeOrSelf(side->operand->get()) == contraction.accumulatorType;
  });
}

bool Contraction::hasSingleOperands() const { return hasOneType(*this) && accumulatorType.isF32(); }

bool Contraction::hasDoubleOperands() const { return hasOneType(*this) && accumulatorType.isF64(); }

bool Contraction::hasCopiedFactors() const {
  linalg::LinalgOp op = getOp();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::count_if(k, [&](unsigned dim) { return ranges[dim] != 1; }) > 1)
    return false;
  return llvm::all_of(std::array{&a, &b}, [&](const Side *side) {
    Type type = getElementTypeOrSelf(side->operand->get());
    int64_t bytes = getElementBytes(type);
    return side->casts.empty() && type == accumulatorType && (bytes == 4 || bytes == 8) &&
           side->getCopySource() && !side->getZeroPadding() &&
           op.getMatchingIndexingMap(side->operand).isProjectedPermutation();
  });
}

SmallVector<int64_t> Contraction::getRanges() const {
  SmallVector<int64_t> ranges = getOp().getStaticLoopRanges();
  if (partial)
    ranges.push_back(partial->count);
  return ranges;
}

std::optional<int64_t> Contraction::getProduct(ArrayRef<unsigned> dims) const {
  SmallVector<int64_t> ranges = getRanges();
  return array::mulSizes(llvm::map_to_vector(dims, [&](unsigned dim) { return ranges[dim]; }));
}

bool Contraction::countsPositions(ArrayRef<unsigned> dims) const {
  return !isa<linalg::ContractOp>(getOp()) && dims.size() > 1;
}

std::optional<int64_t> Contraction::getSumLength() const {
  if (!partial)
    return getProduct(k);
  return partial->areShares() ? std::nullopt : std::optional(partial->size);
}

bool Contraction::Side::isUnsigned() const {
  return casts.size() == 1 && isa<arith::ExtUIOp>(casts.front());
}

bool Contraction::hasByteOperands() const {
  auto isPlain = [](const Side &side) {
    return side.casts.size() == 1 && isa<arith::ExtSIOp, arith::ExtUIOp>(side.casts.front()) &&
           getElementTypeOrSelf(side.operand->get()).isSignlessInteger(8);
  };
  return isPlain(a) && isPlain(b) && accumulatorType.isInteger(32);
}

bool Contraction::hasSignedByteOperands() const {
  return hasByteOperands() && !a.isUnsigned() && !b.isUnsigned();
}

bool Contraction::beginsWithB() const { return !hasHalfOperands() && !b.isKContiguous; }

bool Contraction::runsAcrossK() const { return beginsWithB() && !a.isKContiguous; }

int64_t Contraction::getPartColumns() const {
  int64_t columns = 1;
  for (const ReductionGroup::RowPart &part : group.rowParts)
    columns = std::max(columns, part.columns);
  return columns;
}

/// The innermost dim of `map`'s results that is not of size 1, or nothing.
static std::optional<unsigned> getInnermostDim(AffineMap map, ArrayRef<int64_t> ranges) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && ranges[dim.getPosition()] != 1)
      return dim.getPosition();
  return std::nullopt;
}

/// What `expr` grows by with dim `dim`.
static int64_t getCoefficient(AffineExpr expr, unsigned dim) {
  if (auto dimExpr = dyn_cast<AffineDimExpr>(expr))
    return dimExpr.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (expr.getKind() == AffineExprKind::Add)
    return getCoefficient(binary.getLHS(), dim) + getCoefficient(binary.getRHS(), dim);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor
             ? factor.getValue() * getCoefficient(binary.getLHS(), dim)
             : 0;
}

/// The index of the operand's innermost dim that is not of size 1; null if there is none.
static AffineExpr getInnermostExpr(linalg::LinalgOp op, OpOperand *operand) {
  AffineExpr innermost;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand->get().getType()).getShape();
  for (auto [expr, size] : llvm::zip_equal(op.getMatchingIndexingMap(operand).getResults(), shape))
    if (size != 1)
      innermost = expr;
  return innermost;
}

bool runsAlongSum(linalg::LinalgOp op, OpOperand *operand, ArrayRef<unsigned> own,
                  ArrayRef<unsigned> k) {
  AffineExpr innermost = getInnermostExpr(op, operand);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto runsAlong = [&](ArrayRef<unsigned> group) {
    return innermost && llvm::any_of(group, [&](unsigned dim) {
             return ranges[dim] != 1 && getCoefficient(innermost, dim) == 1;
           });
  };
  return !runsAlong(own) && runsAlong(k);
}

bool isWindowed(linalg::LinalgOp op, OpOperand *operand) {
  return !op.getMatchingIndexingMap(operand).isProjectedPermutation(/*allowZeroInResults=*/true) ||
         operand->get().getDefiningOp<tensor::PadOp>();
}

/// Orders the operand's own dims as the operand has them, since they are gone through row-major,
/// and says which group its memory runs along.
static void orderDims(linalg::LinalgOp op, Contraction::Side &side, SmallVector<unsigned> &own,
                      ArrayRef<unsigned> k) {
  own = plan::orderByUse(own, op.getMatchingIndexingMap(side.operand));
  side.isKContiguous = runsAlongSum(op, side.operand, own, k);
}

/// The fewest rows or columns of a product that are worth tiles of their own: fewer are better put
/// beside those of the next product of a batch.
static constexpr int64_t kFewestOwn = 32;

/// Moves those of the `own` dims to `batch` that the operand has outside of others which are not
/// theirs: boxes can be copied of its matrices one by one, not of all of them as of one matrix.
static void moveToBatch(linalg::LinalgOp op, const Contraction::Side &side,
                        SmallVector<unsigned> &own, SmallVector<unsigned> &batch) {
  AffineMap map = op.getMatchingIndexingMap(side.operand),
            result = op.getIndexingMapMatchingResult(op->getResult(0));
  if (!map.isProjectedPermutation() || !result.isProjectedPermutation())
    return;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // The innermost run of own dims is the matrix's.
  SmallVector<unsigned> inner;
  int64_t size = 1;
  bool isSymbolic = false;
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (ranges[dim] == 1)
      continue;
    if (llvm::is_contained(own, dim)) {
      inner.push_back(dim);
      isSymbolic |= ShapedType::isDynamic(ranges[dim]);
      size = array::multiplyKnown({size, ranges[dim]});
    } else if (!inner.empty()) {
      break;
    }
  }
  auto isOuter = [&](unsigned dim) { return ranges[dim] != 1 && !llvm::is_contained(inner, dim); };
  std::optional<unsigned> innermost = getInnermostDim(result, ranges);
  if (inner.empty() || (!isSymbolic && size < kFewestOwn) || (innermost && isOuter(*innermost)))
    return;
  llvm::copy_if(own, std::back_inserter(batch), isOuter);
  llvm::erase_if(own, isOuter);
  llvm::sort(batch);
}

/// Whether the operand's innermost dim that is not of size 1 is padded. Vectors along it would
/// begin anywhere in the source, and lie in the padding in part.
static bool isInnermostPadded(const Contraction::Side &side) {
  tensor::PadOp pad = side.getZeroPadding();
  if (!pad)
    return false;
  ArrayRef<int64_t> shape = pad.getType().getShape();
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  for (size_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1)
      return !isZeroInteger(low[dim]) || !isZeroInteger(high[dim]);
  return false;
}

/// True if the operand's innermost dim is the innermost one of its group, and nothing else.
static bool isVectorizable(linalg::LinalgOp op, const Contraction::Side &side,
                           ArrayRef<unsigned> own, ArrayRef<unsigned> k) {
  auto dim = dyn_cast_or_null<AffineDimExpr>(getInnermostExpr(op, side.operand));
  if (!dim || isInnermostPadded(side))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned candidate : llvm::reverse(side.isKContiguous ? k : own))
    if (ranges[candidate] != 1)
      return candidate == dim.getPosition();
  return false;
}

/// Parts of rows are those of tiles: their columns are the product's, and tensor cores compute it.
static bool checkRowParts(const Contraction &contraction, ArrayRef<int64_t> ranges,
                          std::string &reason) {
  if (contraction.group.rowParts.empty())
    return true;
  SmallVector<unsigned> columns;
  llvm::copy_if(contraction.n, std::back_inserter(columns),
                [&](unsigned dim) { return ranges[dim] != 1; });
  bool fits = contraction.hasMMATypes() && columns.size() == 1 &&
              llvm::all_of(contraction.group.rowParts, [&](const ReductionGroup::RowPart &part) {
                return part.result.output.tensor &&
                       part.member.loops.back() ==
                           getAffineDimExpr(columns.front(), part.member.loops.back().getContext());
              });
  if (!fits)
    reason = "a reduction of rows in parts that are no columns of tiles";
  return fits;
}

/// The number of a term of the sum along `loops`, of known sizes.
static AffineExpr getPlace(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineExpr place = getAffineConstantExpr(0, op.getContext());
  for (unsigned loop : loops)
    if (ranges[loop] != 1)
      place = place * ranges[loop] + getAffineDimExpr(loop, op.getContext());
  return place;
}

/// True if the loops that `own` counts rows by are `rows`, of the product, in their order.
static bool countsRows(const ReductionGroup::ColumnPart &own, ArrayRef<unsigned> rows,
                       ArrayRef<int64_t> ranges) {
  SmallVector<unsigned> counted;
  for (AffineExpr expr : ArrayRef(own.member.loops).drop_back()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && expr != getAffineConstantExpr(0, expr.getContext()))
      return false;
    if (dim && ranges[dim.getPosition()] != 1)
      counted.push_back(dim.getPosition());
  }
  return ArrayRef(counted) == rows;
}

/// Parts of columns are of neighbouring rows of tiles, in the order in which tiles have them.
static bool checkColumnParts(const Contraction &contraction, std::string &reason) {
  linalg::LinalgOp op = contraction.getOp();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isLong = [&](unsigned dim) { return ranges[dim] != 1; };
  auto *column = llvm::find_if(contraction.n, isLong);
  SmallVector<unsigned> rows = llvm::filter_to_vector(contraction.m, isLong);
  // The index of a part then only names it (plan::areColumnPartsNamed).
  bool areOpen = rows.size() > 1 && llvm::any_of(ArrayRef(rows).drop_front(), [&](unsigned row) {
                   return ShapedType::isDynamic(ranges[row]);
                 });
  AffineExpr part =
      areOpen ? AffineExpr()
              : simplifyAffineExpr(getPlace(op, rows).floorDiv(kPartRows), op.getNumLoops(), 0);
  bool fits =
      (contraction.hasHalfOperands() || contraction.hasSingleOperands()) && !contraction.partial &&
      llvm::none_of(contraction.batch, isLong) && llvm::count_if(contraction.n, isLong) == 1 &&
      llvm::all_of(contraction.group.columnParts, [&](const ReductionGroup::ColumnPart &own) {
        return own.rows == kPartRows && own.result.output.tensor && own.result.coords.size() == 2 &&
               (areOpen ? countsRows(own, rows, ranges) : own.result.coords[0] == part) &&
               own.result.coords[1] == getAffineDimExpr(*column, op.getContext());
      });
  if (!fits)
    reason = "a reduction of columns in parts that are no rows of tiles";
  return fits;
}

bool isStreamedProduct(linalg::LinalgOp op, const Target &target) {
  constexpr int64_t kRowBytes = 16, kLargeBytes = 1 << 20;
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  if (!target.hasWGMMA || !loops || op.hasDynamicShape() || loops->k.size() != 1)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isOne = [&](ArrayRef<unsigned> dims) {
    return llvm::all_of(dims, [&](unsigned dim) { return ranges[dim] == 1; });
  };
  if (!isOne(loops->batch) || isOne(loops->m) == isOne(loops->n))
    return false;
  OpOperand *matrix = op.getDpsInputOperand(isOne(loops->m) ? 1 : 0),
            *vector = op.getDpsInputOperand(isOne(loops->m) ? 0 : 1);
  auto type = cast<RankedTensorType>(matrix->get().getType());
  Type elementType = type.getElementType();
  if (!(elementType.isF16() || elementType.isBF16()) ||
      getElementTypeOrSelf(vector->get()) != elementType ||
      !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  auto inner = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(matrix).getResults().back());
  return inner && inner.getPosition() != loops->k.front() && type.getRank() == 2 &&
         type.getShape().back() * 2 % kRowBytes == 0 && type.getNumElements() * 2 >= kLargeBytes;
}

/// Gives partial sums a loop of their own, which is part of the batch; false if they are not of
/// neighbours along k.
static bool placePartialSums(Contraction &result, std::string &reason) {
  linalg::LinalgOp op = result.group.root;
  result.partial = plan::getPartialSums(op);
  if (!result.partial)
    return true;
  AffineExpr index = result.partial->areShares()
                         ? result.partial->index
                         : getPlace(op, result.k).floorDiv(result.partial->size);
  auto isSame = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr, op.getNumLoops(), 0) ==
           simplifyAffineExpr(index, op.getNumLoops(), 0);
  };
  if (!isSame(result.partial->index) || result.group.results.size() != 1 ||
      !isSame(result.group.results.front().coords.front())) {
    reason = "partial sums of elements that are not neighbours along k";
    return false;
  }
  unsigned loop = op.getNumLoops();
  result.group.results.front().coords.front() = getAffineDimExpr(loop, op.getContext());
  result.batch.insert(result.batch.begin(), loop);
  return true;
}

FailureOr<Contraction> matchContraction(const KernelInfo &kernel, std::string &reason) {
  SmallVector<linalg::LinalgOp> reductions = kernel.getReductions();
  llvm::erase_if(reductions, [](linalg::LinalgOp op) {
    return plan::getRowPart(op) || plan::getColumnPart(op);
  });
  std::optional<plan::ProductLoops> loops =
      reductions.size() == 1 ? plan::matchProduct(reductions.front()) : std::nullopt;
  if (!loops) {
    reason = "not a single contraction";
    return failure();
  }
  FailureOr<ReductionGroup> group = matchReductionGroup(kernel, reason);
  if (failed(group))
    return failure();
  Contraction result;
  result.group = *group;
  linalg::LinalgOp op = result.group.root;
  if (!matchBody(op, result)) {
    reason = "the body is not a multiplication and an addition";
    return failure();
  }
  result.batch = loops->batch;
  result.m = loops->m;
  result.n = loops->n;
  result.k = loops->k;

  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto count = [&](ArrayRef<unsigned> group) {
    int64_t product = 1;
    for (unsigned dim : group)
      product = array::mulSizes(product, ranges[dim]).value_or(ShapedType::kDynamic);
    return product;
  };
  if ((count(result.m) == 1 || count(result.n) == 1) && !isStreamedProduct(op, *kernel.target)) {
    reason = "a product of a matrix and a vector is a reduction";
    return failure();
  }
  for (const ReductionGroup::Result &output : result.group.results)
    if (output.kind != ReductionGroup::Result::Kind::Reduced) {
      reason = "an output over the reduced dims";
      return failure();
    }
  // The side whose dims are innermost in the result is written along, and so takes the place of n.
  std::optional<unsigned> innermost =
      getInnermostDim(op.getIndexingMapMatchingResult(op->getResult(0)), ranges);
  if (innermost && llvm::is_contained(result.m, *innermost)) {
    std::swap(result.m, result.n);
    std::swap(result.a, result.b);
  }
  if (!checkRowParts(result, ranges, reason))
    return failure();
  orderDims(op, result.a, result.m, result.k);
  orderDims(op, result.b, result.n, result.k);
  result.k = plan::orderByUse(result.k,
                              op.getMatchingIndexingMap(getOrderOfSum(result.a, result.b).operand));
  if (kernel.target->hasWGMMA && result.hasWGMMATypes()) {
    moveToBatch(op, result.a, result.m, result.batch);
    moveToBatch(op, result.b, result.n, result.batch);
  }
  if (!placePartialSums(result, reason))
    return failure();
  if (!result.group.columnParts.empty() && !checkColumnParts(result, reason))
    return failure();
  result.a.isVectorizable = isVectorizable(op, result.a, result.m, result.k);
  result.b.isVectorizable = isVectorizable(op, result.b, result.n, result.k);
  return result;
}

std::string checkPartialSums(const plan::PartialSums &sums, Attribute config) {
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  auto wgmma = dyn_cast<MatmulWGMMAAttr>(config);
  if (!mma && !wgmma)
    return "its results are partial sums, which only kernels on tensor cores give";
  int64_t step = mma ? mma.getTileK() : wgmma.getTileK();
  int64_t size = sums.areShares() ? kShareStep : sums.size;
  if (size % step == 0)
    return {};
  return "partial sums of " + std::to_string(size) +
         " terms are no multiple of tile_k = " + std::to_string(step);
}

FailureOr<Contraction> requireContraction(const KernelInfo &kernel, Attribute config) {
  std::string reason;
  FailureOr<Contraction> contraction = matchContraction(kernel, reason);
  if (succeeded(contraction) && contraction->group.hasParts() &&
      !isa<MatmulMMAAttr, MatmulWGMMAAttr>(config)) {
    reason = kReducesInParts;
    contraction = failure();
  }
  if (succeeded(contraction) && contraction->partial) {
    reason = checkPartialSums(*contraction->partial, config);
    if (!reason.empty())
      contraction = failure();
  }
  if (failed(contraction))
    kernel.getFunction().emitOpError("expected a matrix product for ") << config << ": " << reason;
  return contraction;
}

} // namespace xc::cuda
