//===- ElementwiseStrategy.cpp - How elementwise kernels are laid out -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where reads and writes run along different dims, tiles are transposed in shared memory; else each
// thread has a few vectors of the results. The generic strategy, one thread for each element, loops
// and all, takes what no other strategy does.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStrategy.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStripStrategy.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// Bytes that are read together wherever some of them are.
static constexpr int64_t kSectorBytes = 32;

/// True if elements of the outputs depend on elements at the same row-major position only.
static bool isFlat(const KernelInfo &kernel) {
  return llvm::all_of(kernel.tensorOps, [](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      return !isa<kernel::ScatterOp, kernel::UpdateOp, tensor::ExtractSliceOp,
                  tensor::InsertSliceOp, tensor::PadOp>(op);
    bool usesIndices = false;
    linalgOp.getBlock()->walk([&](linalg::IndexOp) { usesIndices = true; });
    return !usesIndices && llvm::all_of(linalgOp->getOpOperands(), [&](OpOperand &operand) {
      return !linalgOp.payloadUsesValueFromOperand(&operand) ||
             !isa<RankedTensorType>(operand.get().getType()) ||
             linalgOp.getMatchingIndexingMap(&operand).isIdentity();
    });
  });
}

/// A power of two that divides the innermost size of every output that is not 1.
static int64_t getInnerDivisor(const KernelInfo &kernel, KernelSizes &sizes) {
  int64_t divisor = kVectorBytes;
  for (const KernelOutput &output : kernel.outputs)
    for (plan::FormulaAttr size : llvm::reverse(getStoredSizes(sizes, output)))
      if (size.asConstant() != 1) {
        divisor = std::min(divisor, sizes.getDivisor(size));
        break;
      }
  return divisor;
}

int64_t getTransposeSkew(Type elementType, int64_t vector) {
  constexpr int64_t bankBytes = 4;
  return std::max(vector, bankBytes / getElementBytes(elementType));
}

int64_t countTransposeElements(Type elementType, int64_t tile, int64_t vector) {
  return tile * (tile + getTransposeSkew(elementType, vector) / vector);
}

/// Whether a block has the shared memory for a square of each input.
static bool fitSquares(const KernelInfo &kernel, ArrayRef<Access> inputs, int64_t tile,
                       int64_t vector) {
  int64_t bytes = 0;
  for (const Access &input : inputs) {
    Type type = getElementTypeOrSelf(input.tensor);
    bytes += countSharedBytes(type, countTransposeElements(type, tile, vector));
  }
  return bytes <= kernel.target->sharedPerBlock;
}

/// Squares in shared memory, if reads and writes run along different dims and both are long enough
/// to matter.
static std::optional<Choice> chooseTranspose(const KernelInfo &kernel, KernelSizes &knownSizes) {
  std::optional<TransposedInputs> transposed = findTransposedInputs(kernel);
  if (!transposed)
    return std::nullopt;
  plan::BindingOp result = kernel.outputs.front().binding;
  SmallVector<plan::FormulaAttr> sizes = knownSizes.getSizes(result.getMemory());
  auto getSize = [&](ArrayRef<unsigned> dims) -> std::optional<int64_t> {
    int64_t size = 1;
    for (unsigned dim : dims) {
      std::optional<int64_t> known = sizes[dim].asConstant();
      if (!known)
        return std::nullopt;
      size *= *known;
    }
    return size;
  };
  int64_t bytes = 1, divisor = 4;
  for (ArrayRef<unsigned> dims :
       {ArrayRef(transposed->outerDims), ArrayRef(transposed->innerDims)}) {
    if (std::optional<int64_t> size = getSize(dims); size && *size < 8)
      return std::nullopt;
    divisor = std::min(divisor, knownSizes.getDivisor(sizes[dims.back()]));
  }
  for (const Access &input : transposed->inputs)
    bytes = std::max(bytes, getElementBytes(getElementTypeOrSelf(input.tensor)));
  // Narrow elements are moved by words of 4 bytes, where their number is even. Large squares have
  // more of them under way, and whole lines of elements that are moved one by one; small ones are
  // more.
  int64_t vector = std::max<int64_t>(1, std::min<int64_t>(4 / bytes, divisor));
  int64_t tile = 32 * vector, threads = kBlockThreads;
  for (; !fitSquares(kernel, transposed->inputs, tile, vector); vector /= 2, tile /= 2)
    if (vector == 1)
      return std::nullopt;
  // Of squares that are mostly empty a block moves little: threads that write rows read few lines
  // between them, which the cache keeps.
  constexpr int64_t kLeastFilled = 4; // a part in so many
  std::optional<int64_t> outerSize = getSize(transposed->outerDims),
                         innerSize = getSize(transposed->innerDims);
  if (outerSize && innerSize &&
      std::min(*outerSize, tile) * std::min(*innerSize, tile) * kLeastFilled < tile * tile)
    return std::nullopt;
  constexpr int64_t kManyTiles = 16; // of which one that is not whole is little
  auto covers = [&](ArrayRef<unsigned> dims) {
    std::optional<int64_t> size = getSize(dims);
    return size && (*size % (tile * 2) == 0 || *size >= kManyTiles * tile * 2);
  };
  std::optional<int64_t> count = getStaticCount(kernel, kernel.outputs.front().binding);
  bool isMovedByElement = vector == 1 && bytes <= 4;
  if (isMovedByElement && transposed->inputs.size() == 1 && covers(transposed->outerDims) &&
      covers(transposed->innerDims) &&
      *count / (4 * tile * tile) >= kernel.target->multiprocessors * int64_t(4)) {
    tile *= 2;
    threads *= 2;
  }
  std::string reason = llvm::formatv("reads along dim {0}, writes along dim {1}: {2} x {2} squares "
                                     "transposed in shared memory",
                                     transposed->outer, transposed->inner, tile)
                           .str();
  return Choice{TransposeAttr::get(kernel.getFunction().getContext(), threads, tile, vector),
                reason};
}

/// Reads at computed places for one element of the results.
static int64_t countGathers(const KernelInfo &kernel) {
  int64_t count = 0;
  for (Operation *op : kernel.tensorOps)
    op->walk([&](tensor::ExtractOp) { ++count; });
  return count;
}

/// Bytes that a kernel moves for one element of its largest output, of the tensors that are as
/// large.
static int64_t countElementBytes(const KernelInfo &kernel) {
  int64_t largest = 0, bytes = 0;
  for (const KernelOutput &output : kernel.outputs)
    largest =
        std::max(largest, getStaticCount(kernel, output.binding).value_or(ShapedType::kDynamic));
  for (plan::BindingOp binding : kernel.bindings)
    if (std::optional<int64_t> count = getStaticCount(kernel, binding);
        !count || *count >= largest / 2)
      bytes += getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  return bytes;
}

/// True if results have rows of which `vector` elements, narrower than words, are at no known
/// places: they had better be accessed together wherever that is in a row.
static bool hasOddRows(const KernelInfo &kernel, KernelSizes &sizes, int64_t vector) {
  constexpr int64_t wordBytes = 4;
  auto isOdd = [&](const KernelOutput &output) {
    auto type = cast<RankedTensorType>(output.tensor.getType());
    return type.hasStaticShape() && type.getRank() > 0 && type.getShape().back() >= vector &&
           getElementBytes(type.getElementType()) * getInnerDivisor(kernel, sizes) < wordBytes;
  };
  return vector > 1 && countGathers(kernel) == 0 && llvm::all_of(kernel.outputs, isOdd);
}

Choice chooseElementwise(const KernelInfo &kernel, KernelSizes &sizes, bool isWindow) {
  MLIRContext *context = kernel.getFunction().getContext();
  int64_t vector = getVectorWidth(kernel);
  bool flat = isFlat(kernel);
  bool spansRows = !flat && !isWindow && hasOddRows(kernel, sizes, vector);
  if (!flat && !spansRows)
    vector = std::min(vector, getInnerDivisor(kernel, sizes));
  // Short blocks, of 4 KiB, keep reads and writes mixed, and are not yet so many that launching
  // them takes longer than their work. Where an access has many elements to compute with, or
  // indices, a thread has two of them. Neighbours in a window share what they read.
  int64_t unroll = isWindow                             ? std::clamp<int64_t>(16 / vector, 1, 4)
                   : spansRows || (flat && vector <= 4) ? 1
                   : vector >= 4                        ? 2
                                                        : 4;
  // A search is a chain of reads. Many side by side take more registers than there are.
  constexpr int64_t mostGathers = 128;
  int64_t gathers = countGathers(kernel);
  while (unroll > 1 && gathers * vector * unroll > mostGathers)
    unroll /= 2;
  while (vector > 1 && gathers * vector > mostGathers)
    vector /= 2;

  // Few elements are spread over all multiprocessors first, then over the vectors of a thread.
  std::optional<int64_t> count = 0;
  for (const KernelOutput &output : kernel.outputs) {
    std::optional<int64_t> elements = getStaticCount(kernel, output.binding);
    count = elements && count ? std::optional(std::max(*count, *elements)) : std::nullopt;
  }
  int64_t threads = unroll > 1 && vector > 1 && !isWindow ? kBlockThreads / 2 : kBlockThreads;
  if (count) {
    int64_t wanted = static_cast<int64_t>(kernel.target->multiprocessors) * threads;
    while (unroll > 1 && *count < wanted * vector * unroll * 2)
      unroll /= 2;
    while (vector > 1 && *count < wanted * vector / 2)
      vector /= 2;
    while (threads > 32 && *count <= threads / 2 * vector)
      threads /= 2;
  } else {
    unroll = std::min<int64_t>(unroll, 2);
  }
  // Where little is read beside what is written, blocks would end faster than they are launched:
  // about 800 a microsecond, which is 3.3 TB/s of 4 KiB each.
  constexpr int64_t fewestBytes = 8 << 10;
  int64_t mostUnroll = isWindow || vector < 4 ? unroll : 4;
  while (count && unroll < mostUnroll && gathers * vector * unroll * 2 <= mostGathers &&
         threads * vector * unroll * 2 * countElementBytes(kernel) <= fewestBytes &&
         *count >= kernel.target->multiprocessors * threads * vector * unroll * int64_t(16))
    unroll *= 2;
  std::string reason =
      llvm::formatv("elementwise over {0}: {1} elements a thread in {2} accesses of {3}",
                    flat        ? "the flattened shape"
                    : spansRows ? "rows, and from one to the next,"
                                : "rows",
                    vector * unroll, unroll, vector)
          .str();
  return {ElementwiseAttr::get(context, threads, vector, unroll), reason};
}

/// The time of a kernel whose threads read `transposed` element by element: a sector of L2 each.
static std::optional<double> estimateAcross(const KernelInfo &kernel,
                                            const TransposedInputs &transposed) {
  std::optional<double> time = estimateMemoryTime(kernel);
  for (const Access &input : transposed.inputs) {
    auto type = cast<RankedTensorType>(input.tensor.getType());
    int64_t bytes = getElementBytes(type.getElementType());
    if (time && type.hasStaticShape())
      *time += estimateCacheTime(*kernel.target,
                                 type.getNumElements() * std::max(kSectorBytes - bytes, bytes));
  }
  return time;
}

namespace {

struct TransposeStrategy final : Strategy {
  StringRef getName() const override { return "transpose"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (!query.isElementwise())
      return success();
    if (std::optional<Choice> choice = chooseTranspose(query.kernel, query.sizes)) {
      choice->microseconds = estimateMemoryTime(query.kernel);
      choices.push_back(*choice);
    }
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitTranspose(); }
};

struct ElementwiseStrategy final : Strategy {
  StringRef getName() const override { return "elementwise"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (!query.isElementwise())
      return success();
    Choice choice = chooseElementwise(query.kernel, query.sizes, /*isWindow=*/false);
    std::optional<TransposedInputs> transposed = findTransposedInputs(query.kernel);
    choice.microseconds =
        transposed ? estimateAcross(query.kernel, *transposed) : estimateMemoryTime(query.kernel);
    // Where neighbours read the same elements, each loads them and computes with them.
    std::string reason;
    if (std::optional<ElementwiseStrips> strips = matchElementwiseStrips(query.kernel, reason);
        strips && choice.microseconds)
      choice.microseconds =
          std::max(*choice.microseconds,
                   estimateStrips(query.kernel, *strips,
                                  {cast<ElementwiseAttr>(choice.config).getVector(), 1, 1}));
    choices.push_back(choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitElementwise(); }
};

struct GenericStrategy final : Strategy {
  StringRef getName() const override { return "generic"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override;
  bool isLastResort() const override { return true; }
  std::unique_ptr<Pass> createEmission() const override { return createEmitPointwise(); }
};

} // namespace

LogicalResult GenericStrategy::enumerate(KernelQuery &query,
                                         SmallVectorImpl<Choice> &choices) const {
  std::string reason = "a scatter whose result is not the only output";
  if (query.isReduction()) {
    (void)query.getReductionGroup();
    reason = query.getContraction() ? "rows of a product that is not on tensor cores"
                                    : query.getReductionRefusal().str();
    // A thread sums up all that a result is of, not its part.
    for (linalg::LinalgOp op : query.kernel.getReductions())
      if (std::optional<plan::PartialSums> sums = plan::getPartialSums(op))
        return op->emitOpError("expected partial sums of ")
               << sums->count << " parts to be a product's on tensor cores: " << reason;
      else if (int64_t parts = query.getContraction() ? 0 : plan::countCyclicParts(op))
        return op->emitOpError("expected the results of ")
               << parts << " parts to fit the other ops of the kernel: " << reason;
  }
  choices.push_back(
      {PointwiseAttr::get(query.getContext(), 128), "one thread for each element: " + reason});
  return success();
}

const Strategy &getTransposeStrategy() {
  static const TransposeStrategy strategy;
  return strategy;
}
const Strategy &getElementwiseStrategy() {
  static const ElementwiseStrategy strategy;
  return strategy;
}
const Strategy &getGenericStrategy() {
  static const GenericStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
