//===- SelectVariants.cpp - Copies of a kernel for some of its sizes ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a size is symbolic, up to three variants are made: one under guards on sizes, which are
// multiples of the vector width and have 32-bit indices, one for other sizes with such indices, and
// a general one. In place of either of the first two there may be families of them: for rows of
// several lengths, for products of few rows, and for such with long sums. Attention has variants of
// its fused kernels, one of them for masks of an even number of keys.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/SelectVariants.h"

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace xc::cuda {

/// Rows of a symbolic length get a variant for each of these longest lengths, in registers; the
/// blocks of a cluster for those beyond what one holds.
static constexpr int64_t kLongestBlockRow = 16384;
static constexpr int64_t kRowBounds[] = {1024, 4096, kLongestBlockRow, 65536};
/// Products of a symbolic number of rows get variants for no more than these, if they have tiles of
/// their own: those for many rows would leave most of the GPU idle.
static constexpr int64_t kFewRows[] = {8, 16, 64, 512};
/// The same of positions of convolutions.
static constexpr int64_t kFewPositions[] = {8192};
/// Boxes for fewer rows than the smallest tiles have are smaller, too: to fill rows that are not
/// there takes time.
static constexpr int64_t kBoxRows = 64;
/// Sums of symbolic length from which on blocks may share them.
static constexpr int64_t kLongRowSum = 8192;

/// True if code of `config` reads and writes by what is known to divide sizes, whatever the
/// configuration says.
static bool dependsOnDivisors(Attribute config) {
  return isa<MatmulFMAAttr, MatmulMMAAttr, MatmulWGMMAAttr>(config);
}

FailureOr<KernelInfo> VariantMaker::cloneKernel(const Twine &suffix) {
  func::FuncOp function = kernel.getFunction();
  OpBuilder builder(function);
  auto clone = cast<func::FuncOp>(builder.clone(*function));
  clone.setName((function.getName() + suffix).str());
  return analyzeKernel(clone);
}

/// Makes `variant`, a product on wgmma, rely on tensors that its tensor maps can describe.
static void addMapGuards(const KernelInfo &variant) {
  addNonEmptyGuards(variant);
  addCornerGuards(variant);
}

LogicalResult VariantMaker::addGuardedVariant(const Choice &general) {
  if (countScalars(kernel.getFunction()) == 0)
    return success();
  // Without either guard it would be the general one, but for what tensor maps ask of sizes.
  if (isNarrow && !guardWidths)
    return addMappedVariant();
  FailureOr<KernelInfo> variant = cloneKernel(guardWidths ? "_guarded" : "_narrow");
  if (failed(variant))
    return failure();
  if (addGuards(*variant, /*guardCounts=*/!isNarrow, guardWidths)) {
    FailureOr<Choice> choice = choose(*variant, std::nullopt);
    if (failed(choice))
      return failure();
    // Sizes that are multiples of the vector width matter only where they lead to other code. On
    // tensor cores other widths wait for loads of single elements, not for index arithmetic.
    bool isWanted = guardWidths
                        ? choice->config != general.config || dependsOnDivisors(choice->config)
                        : !isa<MatmulMMAAttr>(choice->config) || !hasSymbolicWidths(kernel);
    if (isWanted) {
      if (isa<MatmulWGMMAAttr>(choice->config))
        addMapGuards(*variant);
      recordChoice(variant->getFunction(), *choice, 32);
      return success();
    }
  }
  variant->getFunction().erase();
  return success();
}

LogicalResult VariantMaker::addMappedVariant() {
  if (!kernel.target->hasWGMMA || kernel.getReductions().empty())
    return success();
  FailureOr<KernelInfo> variant = cloneKernel("_mapped");
  if (failed(variant))
    return failure();
  func::FuncOp function = variant->getFunction();
  function->setAttr(plan::kGuardsAttr, ArrayAttr::get(function.getContext(), {}));
  addMapGuards(*variant);
  FailureOr<Choice> choice = choose(*variant, std::nullopt);
  if (failed(choice))
    return failure();
  if (isa<MatmulWGMMAAttr>(choice->config)) {
    recordChoice(function, *choice, 32);
    return success();
  }
  function.erase();
  return success();
}

LogicalResult addVariants(const KernelInfo &kernel, ChooseFn choose, bool isNarrow,
                          const Choice &general) {
  if (isa<AttentionRowsAttr>(general.config))
    return VariantMaker(kernel, choose, isNarrow, /*guardWidths=*/false).addAttentionVariants();
  for (bool guardWidths : {true, false}) {
    VariantMaker maker(kernel, choose, isNarrow, guardWidths);
    if (!guardWidths || hasSymbolicWidths(kernel))
      if (failed(maker.addRowVariants()) || failed(maker.addProductVariants()) ||
          failed(maker.addGuardedVariant(general)))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult VariantMaker::addAttentionVariants() {
  if (countScalars(kernel.getFunction()) == 0)
    return success();
  std::optional<unsigned> keys = getScalarOfMask(kernel);
  for (bool inPairs : {true, false}) {
    if (inPairs && !keys)
      continue;
    FailureOr<KernelInfo> variant = cloneKernel(inPairs ? "_fused_pairs" : "_fused");
    if (failed(variant))
      return failure();
    func::FuncOp function = variant->getFunction();
    if (!addGuards(*variant, /*guardCounts=*/true, /*guardWidths=*/false)) {
      function.erase();
      return success();
    }
    addNonEmptyGuards(*variant);
    if (inPairs)
      addDivisorGuard(*variant, *keys, /*divisor=*/2);
    FailureOr<Choice> choice = choose(*variant, std::nullopt);
    if (failed(choice))
      return failure();
    if (!isa<AttentionAttr, AttentionMMAAttr>(choice->config)) {
      function.erase();
      return success();
    }
    recordChoice(function, *choice, 32);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The length of rows that `kernel` reduces, as a formula; null if it reduces none, or their length
/// is known.
static AffineExpr getSymbolicRowLength(const KernelInfo &kernel) {
  std::string reason;
  if (kernel.getReductions().empty() || succeeded(matchContraction(kernel, reason)))
    return nullptr;
  FailureOr<ReductionGroup> group = matchReductionGroup(kernel, reason);
  if (failed(group) || !group->reducesContiguousDim || !group->partials.empty() ||
      group->inputs.empty() || getStaticProduct(group->root, group->reductionDims))
    return nullptr;
  // The input has the sizes that the loops take theirs from.
  const ReductionGroup::Input &input = group->inputs.front();
  plan::BindingOp binding = input.binding;
  auto type = cast<MemRefType>(binding.getMemory().getType());
  MLIRContext *context = kernel.getFunction().getContext();
  AffineExpr length = getAffineConstantExpr(1, context);
  for (auto [coord, size] : llvm::zip_equal(
           input.coords, getMixedValues(type.getShape(), binding.getSizes(), context))) {
    auto dim = dyn_cast<AffineDimExpr>(coord);
    if (!dim || !llvm::is_contained(group->reductionDims, dim.getPosition()))
      continue;
    AffineExpr formula = getScalarFormula(size, context);
    if (!formula)
      return nullptr;
    length = length * formula;
  }
  return length;
}

LogicalResult VariantMaker::addRowVariants() {
  AffineExpr length = getSymbolicRowLength(kernel);
  if (!length)
    return success();
  int64_t before = 0; // the bound of the variant in front
  for (int64_t bound : kRowBounds) {
    FailureOr<KernelInfo> variant =
        cloneKernel((guardWidths ? "_rows" : "_narrow_rows") + Twine(bound));
    if (failed(variant))
      return failure();
    if (addGuards(*variant, /*guardCounts=*/true, guardWidths)) {
      FailureOr<Choice> choice = choose(*variant, bound);
      if (failed(choice))
        return failure();
      auto config = dyn_cast<RowReductionAttr>(choice->config);
      bool isWanted = bound <= kLongestBlockRow || (config && config.getCluster() > 1);
      if (config && config.getChunks() > 0 && isWanted) {
        // Rows of no elements have nothing that a thread could load. Clusters are for long rows: of
        // shorter ones there may be more than a grid has blocks.
        int64_t fewest = config.getCluster() > 1 ? before + 1 : config.getVector();
        addRangeGuard(*variant, length, fewest, bound);
        recordChoice(variant->getFunction(), *choice, 32);
        before = bound;
        continue;
      }
    }
    variant->getFunction().erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product of the sizes of `dims`, loops of `op`, as a formula, and its `largest` value as far
/// as is known; null if it is a number.
static AffineExpr getSymbolicSize(const KernelInfo &kernel, linalg::LinalgOp op,
                                  ArrayRef<unsigned> dims, int64_t &largest) {
  if (getStaticProduct(op, dims))
    return nullptr;
  largest = 1;
  MLIRContext *context = kernel.getFunction().getContext();
  AffineExpr count = getAffineConstantExpr(1, context);
  KernelSizes sizes = makeSizes(kernel);
  SmallVector<plan::FormulaAttr> loops = sizes.getLoopSizes(op);
  for (unsigned dim : dims) {
    AffineExpr size = sizes.toAffine(loops[dim]);
    count = count && size ? count * size : AffineExpr();
    std::optional<int64_t> bound = sizes.getUpperBound(loops[dim]);
    largest = bound ? llvm::checkedMul(largest, *bound).value_or(INT64_MAX) : INT64_MAX;
  }
  return count;
}

/// Whether it is a product of f32 that tensor cores may compute. Of 16-bit operands they sum up
/// twice as many at once.
static bool isRoundedProduct(const Contraction &contraction) {
  return contraction.hasSingleOperands() && contraction.getOp()->hasAttr(plan::kAllowTF32Attr);
}

/// Lets `kernel`, whose sums are long, add them up in parts. A thread keeps its sums twice, so that
/// it has registers for half a large tile.
static void addUpParts(const KernelInfo &kernel, Choice &choice) {
  constexpr int64_t kPart = 1024, kMostSums = 64;
  auto mma = dyn_cast<MatmulMMAAttr>(choice.config);
  std::string reason;
  FailureOr<Contraction> contraction = matchContraction(kernel, reason);
  if (!mma || failed(contraction) || !isRoundedProduct(*contraction))
    return;
  int64_t threads = 32 * mma.getWarpsM() * mma.getWarpsN(), tileM = mma.getTileM(),
          tileN = mma.getTileN();
  if (tileM * tileN > kMostSums * threads)
    (tileM > tileN ? tileM : tileN) /= 2;
  auto parts = MatmulMMAAttr::get(mma.getContext(), tileM, tileN, mma.getTileK(), mma.getWarpsM(),
                                  mma.getWarpsN(), mma.getStages(), kPart / mma.getTileK());
  if (!checkMMATiles(*contraction, parts).empty())
    return;
  choice.config = parts;
  choice.reason += ", which are added up from parts of " + std::to_string(kPart) +
                   ", since tensor cores do not round theirs";
}

FailureOr<std::optional<VariantMaker::Variant>>
VariantMaker::makeProductVariant(const Range *range) {
  FailureOr<KernelInfo> variant =
      cloneKernel((guardWidths ? "_" : "_narrow_") + (range ? range->name : "any"));
  if (failed(variant))
    return failure();
  func::FuncOp function = variant->getFunction();
  addGuards(*variant, /*guardCounts=*/!isNarrow, guardWidths);
  if (!function->hasAttr(plan::kGuardsAttr)) {
    function.erase();
    return std::optional<Variant>();
  }
  if (range)
    addRangeGuard(*variant, range->value, range->min, range->max);
  FailureOr<Choice> choice = choose(*variant, std::nullopt);
  if (failed(choice))
    return failure();
  if (isa<MatmulWGMMAAttr>(choice->config))
    addMapGuards(*variant);
  if (range)
    choice->reason += "; " + range->reason;
  if (range && range->min >= kLongRowSum)
    addUpParts(*variant, *choice);
  recordChoice(function, *choice, 32);
  return std::optional(Variant{function, *choice});
}

LogicalResult VariantMaker::addRangeVariants(ArrayRef<Range> ranges, Attribute beyond) {
  SmallVector<Variant> variants;
  for (const Range &range : ranges) {
    FailureOr<std::optional<Variant>> variant = makeProductVariant(&range);
    if (failed(variant))
      return failure();
    variants.push_back(**variant);
  }
  Attribute wider = beyond;
  for (auto [range, variant] : llvm::reverse(llvm::zip_equal(ranges, variants))) {
    Attribute config = variant.choice.config;
    bool hasOwn = config != wider || (isa<MatmulWGMMAAttr>(config) && range.max < kBoxRows);
    if (!hasOwn || !dependsOnDivisors(config))
      variant.function.erase();
    wider = config;
  }
  return success();
}

LogicalResult VariantMaker::addProductVariants() {
  std::string reason;
  if (kernel.getReductions().empty())
    return success();
  FailureOr<Contraction> contraction = matchContraction(kernel, reason);
  if (failed(contraction))
    return success();
  linalg::LinalgOp op = contraction->getOp();
  bool hasPositions = !isa<linalg::ContractOp>(op);
  if (hasPositions && !contraction->countsPositions(contraction->m) &&
      !contraction->countsPositions(contraction->n))
    return success();
  // Where that of the rows is known, columns are meant: the product may be transposed.
  int64_t largest = 0, longest = 0;
  AffineExpr rows = getSymbolicSize(kernel, op, contraction->m, largest),
             sum = getSymbolicSize(kernel, op, contraction->k, longest);
  if (!rows)
    rows = getSymbolicSize(kernel, op, contraction->n, largest);
  SmallVector<Range> fewRows, longSums;
  for (int64_t most : hasPositions ? ArrayRef(kFewPositions) : ArrayRef(kFewRows))
    if (rows && most < largest)
      fewRows.push_back({rows, 0, most, "few" + std::to_string(most),
                         "for at most " + std::to_string(most) + " rows"});
  if (sum && longest >= kLongRowSum && !hasPositions)
    longSums.push_back({sum, kLongRowSum, INT32_MAX / 2, "long",
                        "for sums of at least " + std::to_string(kLongRowSum) + " products"});
  if (fewRows.empty() && longSums.empty())
    return success();
  // What sizes beyond all of these get is only compared with.
  FailureOr<std::optional<Variant>> any = makeProductVariant(/*range=*/nullptr);
  if (failed(any))
    return failure();
  if (!*any)
    return success();
  Attribute beyond = (*any)->choice.config;
  (*any)->function.erase();
  // The first that fits is taken. What tensor cores cut off of long sums matters more than rows of
  // tiles that nobody looks at.
  if (isa<MatmulMMAAttr>(beyond) && isRoundedProduct(*contraction))
    std::swap(fewRows, longSums);
  return success(succeeded(addRangeVariants(fewRows, beyond)) &&
                 succeeded(addRangeVariants(longSums, beyond)));
}

} // namespace xc::cuda
