//===- AttentionProblem.cpp - Which attention a kernel computes, and how ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionSchedule.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

int64_t getVector(kernel::AttentionOp op) {
  return std::max(op.getQueryType().getShape().back(), op.getValueType().getShape().back());
}

/// Floating-point operations of both products that a multiprocessor does in a microsecond, of
/// vectors from `kLongVector` elements on, of shorter ones, whose softmax takes as long, and beside
/// plain loads of a mask. Measured on an H200: benchmarks/results/attention-h200.md.
static constexpr double kLongFlopsPerMicrosecond = 5.4e6, kShortFlopsPerMicrosecond = 4.3e6,
                        kMaskedFlopsPerMicrosecond = 1.7e6;
/// Bytes of a mask that come to a multiprocessor by boxes in a microsecond, beside the rest.
static constexpr double kMaskBytesPerMicrosecond = 6.4e4;

/// Whether the fused kernels take these types and vectors, and there is something to compute.
static bool isFused(kernel::AttentionOp op) {
  auto isVector = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size > 0 && size <= kMostVector &&
           size % kVectorStep == 0;
  };
  ShapedType query = op.getQueryType(), key = op.getKeyType(), value = op.getValueType();
  int64_t dim = query.getRank() - 2;
  // Where there is nothing to load, there is no description of a tensor to load it by.
  bool isEmpty = llvm::any_of(ArrayRef{query, key, value}, [](ShapedType type) {
    return llvm::is_contained(type.getShape(), 0);
  });
  return isVector(query.getDimSize(dim + 1)) && isVector(value.getDimSize(dim + 1)) && !isEmpty &&
         (!op.getWindow() || static_cast<int64_t>(*op.getWindow()) <= kMostWindow);
}

bool hasAttentionKernel(kernel::AttentionOp op, const Target *target, bool wgmma) {
  return hasMMAAttention(op, target) || (wgmma && hasWGMMAAttention(op, target));
}

bool hasWGMMAAttention(kernel::AttentionOp op, const Target *target) {
  // wgmma takes f32 as TF32 alone, and the second operand along k.
  // Boxes are of rows that follow one another, as those of different pages do not.
  return target && target->hasWGMMA && isFused(op) && !op.isPaged() &&
         !op.getQueryType().getElementType().isF32();
}

bool hasMMAAttention(kernel::AttentionOp op, const Target *target) {
  return target && target->hasMMA16816 && isFused(op) && MMAAttentionChooser{op, *target}.hasRoom();
}

std::string getProductType(Operation *op, Type element) {
  if (mayRoundToTF32(op))
    return "tf32";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

bool mayRoundToTF32(Operation *op) { return op->hasAttr(plan::kAllowTF32Attr); }

static kernel::AttentionOp findAttention(Value tensor, SmallVector<unsigned> &order) {
  return getPermuted(tensor, order).getDefiningOp<kernel::AttentionOp>();
}

kernel::AttentionOp matchAttention(const KernelInfo &kernel) {
  if (kernel.outputs.empty())
    return nullptr;
  SmallVector<unsigned> order;
  return findAttention(kernel.outputs.front().tensor, order);
}

SmallVector<unsigned> getResultOrder(const KernelOutput &output) {
  SmallVector<unsigned> order;
  getPermuted(output.tensor, order);
  return order;
}

std::optional<unsigned> getScalarOfMask(const KernelInfo &kernel) {
  Value mask;
  if (kernel::AttentionOp op = matchAttention(kernel))
    mask = op.getMask();
  else if (kernel::AttentionGradientOp gradient = matchAttentionGradient(kernel);
           gradient && !gradient.isOfKeys())
    mask = gradient.getMask();
  if (!mask)
    return std::nullopt;
  ArrayRef<int64_t> shape = cast<ShapedType>(mask.getType()).getShape();
  if (shape.empty() || !ShapedType::isDynamic(shape.back()))
    return std::nullopt;
  KernelSizes sizes = makeSizes(kernel);
  AffineExpr keys = sizes.toAffine(sizes.getSizes(mask).back());
  auto scalar = dyn_cast_or_null<AffineSymbolExpr>(keys);
  return scalar ? std::optional(scalar.getPosition()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// A coordinate as a sum: `start`, and each dim as often as its step says.
struct LinearCoord {
  explicit LinearCoord(size_t dims) : steps(dims, 0) {}
  /// Adds `expr` `times` over; false if it is no sum of multiples of dims.
  bool add(AffineExpr expr, int64_t times);

  SmallVector<int64_t> steps;
  int64_t start = 0;
};

} // namespace

bool LinearCoord::add(AffineExpr expr, int64_t times) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    start += times * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    steps[dim.getPosition()] += times;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return add(binary.getLHS(), times) && add(binary.getRHS(), times);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         add(binary.getLHS(), times * factor.getValue());
}

/// Gives each of `operand`'s dims the stride that it has in the binding's memory, at `coords`.
static bool findStrides(AttentionOperand &operand, ArrayRef<AffineExpr> coords,
                        KernelSizes &sizes) {
  MLIRContext *context = operand.binding.getContext();
  operand.offset = getAffineConstantExpr(0, context);
  operand.strides.assign(operand.sizes.size(), AffineExpr());
  AffineExpr stride = getAffineConstantExpr(1, context);
  SmallVector<plan::FormulaAttr> extents = sizes.getSizes(operand.binding.getMemory());
  for (auto [expr, extent] : llvm::reverse(llvm::zip_equal(coords, extents))) {
    LinearCoord coord(operand.sizes.size());
    AffineExpr size = sizes.toAffine(extent);
    if (!size || !coord.add(expr, /*times=*/1))
      return false;
    for (auto [step, own] : llvm::zip_equal(coord.steps, operand.strides)) {
      if (step == 0)
        continue;
      if (step < 0 || own)
        return false;
      own = stride * step;
    }
    operand.offset = operand.offset + stride * coord.start;
    stride = stride * size;
  }
  for (auto [size, own] : llvm::zip_equal(operand.sizes, operand.strides)) {
    // What has one element is anywhere.
    if (!own && size.asConstant() == 1)
      own = getAffineConstantExpr(kVectorStep, context);
    if (!own || !sizes.toAffine(size))
      return false;
  }
  return true;
}

/// Merges dims before the length that follow one another in memory.
static void mergeDims(AttentionOperand &operand, const KernelSizes &sizes) {
  for (size_t dim = operand.sizes.size() - 2; dim-- > 1;) {
    AffineExpr inner = sizes.toAffine(operand.sizes[dim]) * operand.strides[dim];
    if (operand.strides[dim - 1] != inner)
      continue;
    operand.sizes[dim - 1] = operand.sizes[dim - 1] * operand.sizes[dim];
    operand.strides[dim - 1] = operand.strides[dim];
    llvm::append_range(operand.dims[dim - 1], operand.dims[dim]);
    operand.sizes.erase(operand.sizes.begin() + dim);
    operand.dims.erase(operand.dims.begin() + dim);
    operand.strides.erase(operand.strides.begin() + dim);
  }
}

std::optional<AttentionOperand> matchAttentionOperand(Value tensor, KernelSizes &sizes) {
  /// PTX ISA, "Tensors": at most five dims; strides and addresses are multiples of 16 bytes.
  constexpr size_t mostDims = 5;
  constexpr int64_t alignment = 16;
  AttentionOperand operand;
  operand.sizes = sizes.getSizes(tensor);
  SmallVector<AffineExpr> coords;
  for (unsigned dim = 0; dim < operand.sizes.size(); ++dim) {
    operand.dims.push_back({dim});
    coords.push_back(getAffineDimExpr(dim, tensor.getContext()));
  }
  while (tensor && !getSourceBinding(tensor)) {
    Operation *op = tensor.getDefiningOp();
    tensor = op ? getCopied(op, coords) : Value();
  }
  if (!tensor)
    return std::nullopt;
  operand.binding = getSourceBinding(tensor);
  if (operand.binding.getAlignment() < alignment || !findStrides(operand, coords, sizes))
    return std::nullopt;
  auto isAligned = [](AffineExpr expr) { return expr.getLargestKnownDivisor() % kVectorStep == 0; };
  if (operand.strides.back() != getAffineConstantExpr(1, tensor.getContext()) ||
      !llvm::all_of(ArrayRef(operand.strides).drop_back(), isAligned) || !isAligned(operand.offset))
    return std::nullopt;
  mergeDims(operand, sizes);
  return operand.sizes.size() <= mostDims ? std::optional(operand) : std::nullopt;
}

bool hasCopiedMask(kernel::AttentionOp op, KernelSizes &sizes) {
  if (!op.getMask())
    return false;
  auto type = cast<RankedTensorType>(op.getMask().getType());
  ArrayRef<int64_t> queries = op.getQueryType().getShape().drop_back();
  int64_t keys = op.getKeyType().getShape().drop_back().back(), rank = type.getRank();
  // What queries share is in few lines of the cache, and threads load it fast.
  if (!isa<FloatType>(type.getElementType()) || !type.hasStaticShape() || rank < 2 ||
      type.getDimSize(rank - 1) != keys || type.getDimSize(rank - 2) != queries.back())
    return false;
  return matchAttentionOperand(op.getMask(), sizes).has_value();
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

tile::SharedType makeMaskTile(kernel::AttentionOp op, int64_t warpgroups, int64_t keys) {
  return tile::SharedType::get(op.getContext(), warpgroups * tile::kWarpgroupRows, keys,
                               getElementTypeOrSelf(op.getMask()));
}

/// Columns of a tile in shared memory: whole panels of 128 bytes.
static int64_t padColumns(int64_t columns) { return llvm::alignTo(columns, 64); }

int64_t countAttentionBytes(kernel::AttentionOp op, AttentionAttr config) {
  int64_t vector = padColumns(op.getQueryType().getShape().back()),
          result = padColumns(op.getValueType().getShape().back());
  int64_t elements =
      config.getQueryStages() * config.getWarpgroups() * tile::kWarpgroupRows * vector +
      config.getStages() * config.getKeys() * (vector + result);
  int64_t masks = config.getMaskStages(), bytes = elements * 2;
  if (masks)
    bytes += masks * makeMaskTile(op, config.getWarpgroups(), config.getKeys()).getBytes();
  return bytes +
         2 * tile::kBarrierBytes * (config.getQueryStages() + 2 * config.getStages() + masks);
}

/// Keys of a block for vectors of this length: scores, weights and sums are to fit a thread's 240
/// registers, tiles shared memory. With 128, the next tile's queries fit beside them.
/// Lengths that are not known take some of them.
static int64_t chooseKeys(kernel::AttentionOp op, int64_t vector) {
  if (vector > 192)
    return ShapedType::isDynamicShape(op.getQueryType().getShape()) && op.getCausal() ? 64 : 80;
  return vector > 128 ? 96 : 128;
}

/// The longest vector with which a block has room for three warpgroups.
static constexpr int64_t kWidestOfThree = 64;
/// What two warpgroups take longer for as many queries (H200: 1.17 to 1.2).
static constexpr double kTwoWarpgroupsLoss = 1.18;

/// Whether scores, weights and sums of three warpgroups fit their registers. The values of a mask,
/// which come one by one, take registers too, as does a length that is not known.
static bool fitsThreeWarpgroups(kernel::AttentionOp op) {
  int64_t keys = op.getKeyType().getShape().drop_back().back();
  bool isBoundKept = ShapedType::isDynamic(keys) && !op.getCausal();
  return getVector(op) <= kWidestOfThree && !op.getMask() && !isBoundKept;
}

/// Queries that all multiprocessors have time for until the last one is done, those that are not
/// there counted too; queries and the dims before them are known.
static double countQuerySlots(kernel::AttentionOp op, int64_t warpgroups, int64_t multiprocessors) {
  ArrayRef<int64_t> shape = op.getQueryType().getShape().drop_back();
  int64_t tiles = computeProduct(shape.drop_back()) *
                  llvm::divideCeil(shape.back(), warpgroups * tile::kWarpgroupRows);
  // Those of unequal work fill gaps.
  int64_t slots =
      op.getCausal() ? std::max(tiles, multiprocessors) : llvm::alignTo(tiles, multiprocessors);
  return static_cast<double>(slots * warpgroups * tile::kWarpgroupRows);
}

/// Warpgroups of a block: three hide more of each other's softmax, unless that leaves more
/// multiprocessors idle at the end.
static int64_t chooseWarpgroups(kernel::AttentionOp op, int64_t multiprocessors) {
  if (!fitsThreeWarpgroups(op))
    return 2;
  if (ShapedType::isDynamicShape(op.getQueryType().getShape().drop_back()))
    return 3;
  return countQuerySlots(op, 3, multiprocessors) <
                 countQuerySlots(op, 2, multiprocessors) * kTwoWarpgroupsLoss
             ? 3
             : 2;
}

AttentionAttr AttentionChooser::choose() {
  return chooseFor(chooseWarpgroups(op, target.multiprocessors));
}

AttentionAttr AttentionChooser::chooseFor(int64_t warpgroups) {
  ShapedType key = op.getKeyType();
  int64_t last = key.getRank() - 1;
  int64_t vector = getVector(op);
  int64_t keys = chooseKeys(op, vector);
  int64_t length = key.getDimSize(last - 1);
  if (!ShapedType::isDynamic(length))
    keys = std::min<int64_t>(keys, llvm::alignTo(length, 16));
  AttentionSchedule schedule =
      chooseAttentionSchedule(op, warpgroups * tile::kWarpgroupRows, keys, target);
  auto make = [&](int64_t queryStages, int64_t maskStages) {
    // At 128 elements the products of full attention fill the tensor cores as it is, but for a
    // mask. One stage of masks makes warpgroups wait for each other.
    bool pingPong =
        maskStages != 1 && (vector < 128 || (vector == 128 && (op.getCausal() || maskStages > 1)));
    return AttentionAttr::get(op.getContext(), warpgroups, keys, /*stages=*/2, queryStages,
                              schedule.raster, pingPong, /*cluster=*/1, schedule.isSerpentine,
                              maskStages, /*column_loads=*/0);
  };
  // Where there is room, what a mask has for the next block of keys comes early, and so do the next
  // tile's queries.
  for (int64_t maskStages : {2, 1})
    for (int64_t queryStages : {2, 1})
      if (copiesMask && check(make(queryStages, maskStages)).empty())
        return make(queryStages, maskStages);
  return check(make(2, 0)).empty() ? make(2, 0) : make(1, 0);
}

std::optional<AttentionAttr> AttentionChooser::chooseNext() {
  int64_t chosen = chooseWarpgroups(op, target.multiprocessors);
  if (!fitsThreeWarpgroups(op))
    return std::nullopt;
  AttentionAttr next = chooseFor(chosen == 3 ? 2 : 3);
  return check(next).empty() ? std::optional(next) : std::nullopt;
}

std::optional<double> AttentionChooser::predict(AttentionAttr config) {
  ArrayRef<int64_t> shape = op.getQueryType().getShape().drop_back();
  int64_t keys = op.getKeyType().getShape().drop_back().back();
  if (ShapedType::isDynamicShape(shape) || ShapedType::isDynamic(keys) || op.getOffset())
    return std::nullopt;
  double pairs = countSeenPairs(shape.back(), keys, op.getCausal(), op.getWindow());
  auto heads = static_cast<double>(computeProduct(shape.drop_back()));
  auto elements = static_cast<double>(op.getQueryType().getShape().back() +
                                      op.getValueType().getShape().back());
  bool isCopied = config.getMaskStages() != 0;
  double rate = op.getMask() && !isCopied     ? kMaskedFlopsPerMicrosecond
                : getVector(op) < kLongVector ? kShortFlopsPerMicrosecond
                                              : kLongFlopsPerMicrosecond;
  double maskBytes =
      isCopied ? heads * pairs * double(getElementBytes(getElementTypeOrSelf(op.getMask()))) : 0;
  double idle = countQuerySlots(op, config.getWarpgroups(), target.multiprocessors) /
                (heads * static_cast<double>(shape.back()));
  if (fitsThreeWarpgroups(op) && config.getWarpgroups() == 2)
    idle *= kTwoWarpgroupsLoss;
  double products = 2 * heads * pairs * elements * idle / rate;
  return (products + maskBytes / kMaskBytesPerMicrosecond) / target.multiprocessors;
}

std::string AttentionChooser::check(AttentionAttr config) {
  // First: what does not hold has no tile to count.
  if (config.getMaskStages()) {
    auto fillsPanels = [](tile::SharedType tile) {
      return tile.getLineBytes() == 128 && tile.getTailColumns() == 0;
    };
    if (!copiesMask || config.getCluster() > 1 ||
        !fillsPanels(makeMaskTile(op, config.getWarpgroups(), config.getKeys())))
      return "a mask is copied where it is in memory, for each query and key, in lines of 128 "
             "bytes, to a block without a cluster";
  }
  int64_t bytes = countAttentionBytes(op, config),
          room = static_cast<int64_t>(target.sharedPerBlock);
  if (bytes > room)
    return llvm::formatv("a block has {0} bytes of shared memory, not {1}", room, bytes);
  if (config.getCluster() > 1 && op.getCausal())
    return "blocks of a cluster have the same keys, but their queries do not see as many";
  if (config.getColumnLoads())
    return "columns have numbers in gradients to keys and values alone";
  return {};
}

std::string makeAttentionKey(kernel::AttentionOp op, const Target &target) {
  SmallVector<int64_t> sizes(op.getQueryType().getShape().drop_back());
  sizes.push_back(op.getKeyLength());
  sizes.append({op.getQueryType().getShape().back(), op.getValueType().getShape().back()});
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  std::string type = getProductType(op, op.getQueryType().getElementType());
  StringRef form = op.isPaged()     ? "paged"
                   : op.getWindow() ? "window"
                   : op.getCausal() ? "causal"
                                    : "full";
  return llvm::formatv("{0} attention {1} {2} {3}{4}{5}", target.arch, type, text, form,
                       op.getMask() ? "+mask" : "", op.getSoftcap() ? "+softcap" : "");
}

} // namespace xc::cuda
