//===- ConvolutionKey.cpp - What a tuning key says of windows -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key of a product with windows is the product itself, so that one key is one kernel, whichever
// op it was made of: a convolution, a gradient, a phase behind strides, packed pixels or groups.
// Loops of more than one step are letters, in order. Four words are their sizes, the indices of
// both operands, and those of the result:
//
//   32x56x56x64x3x3x64 a,b+e-1,c+f-1,g/32x56x56x64 d,e,f,g a,b,c,d
//
// Behind a slash is the operand's shape, where that is not just its loops' sizes; what an index
// reads outside is zero. Where results are partial sums, the first index is the quotient of a
// position's number (`abc/896`), or its share (`abc%44`). tools/xtune reads such words back.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ConvolutionKey.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Matmul/Convolution.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace xc::cuda {

static constexpr unsigned kLetters = 26;

namespace {

class WindowWriter {
public:
  WindowWriter(const Contraction &contraction, std::string &reason)
      : contraction(contraction), reason(reason),
        ranges(contraction.getOp().getStaticLoopRanges()) {}

  std::optional<std::string> write();

private:
  std::nullopt_t refuse(const Twine &why) {
    reason = why.str();
    return std::nullopt;
  }
  bool isLong(unsigned loop) const { return ranges[loop] != 1; }
  char getLetter(unsigned loop) const {
    return static_cast<char>('a' + llvm::count_if(ArrayRef(ranges).take_front(loop),
                                                  [](int64_t size) { return size != 1; }));
  }
  std::string writeIndex(const LoopSum &index) const;
  std::optional<std::string> writeOperand(OpOperand *operand);
  std::optional<std::string> writeResult();

  const Contraction &contraction;
  std::string &reason;
  SmallVector<int64_t> ranges;
};

} // namespace

static std::string writeSizes(ArrayRef<int64_t> sizes) {
  return llvm::join(llvm::map_range(sizes,
                                    [](int64_t size) {
                                      return ShapedType::isDynamic(size) ? "?"
                                                                         : std::to_string(size);
                                    }),
                    "x");
}

/// As `2b+e-3`.
std::string WindowWriter::writeIndex(const LoopSum &index) const {
  std::string text;
  auto append = [&](int64_t number, const std::string &loop) {
    text += number < 0 ? "-" : text.empty() ? "" : "+";
    int64_t magnitude = std::abs(number); // of coordinates in a tensor
    text += (magnitude == 1 && !loop.empty() ? "" : std::to_string(magnitude)) + loop;
  };
  for (auto [loop, step] : index.loops)
    append(step, std::string(1, getLetter(loop)));
  if (index.constant != 0 || text.empty())
    append(index.constant, "");
  return text;
}

/// Dims of one element are left out.
std::optional<std::string> WindowWriter::writeOperand(OpOperand *operand) {
  const Contraction::Side &side = contraction.a.operand == operand ? contraction.a : contraction.b;
  StringRef name = operand->getOperandNumber() == 0 ? "operand A: " : "operand B: ";
  // Types of operands and results say which sums are meant, unless integers are summed up as
  // floats.
  if (isa<IntegerType>(getElementTypeOrSelf(operand->get())) &&
      !isa<IntegerType>(contraction.accumulatorType))
    return refuse(name + "its integers are multiplied as floats");
  std::optional<ElementSource> source = findElementSource(contraction, side, reason);
  if (!source)
    return refuse(name + reason);
  if (source->binding.getAlignment() < kVectorBytes)
    return refuse(name + "it is not aligned to 16 bytes");
  SmallVector<std::string> indices;
  SmallVector<int64_t> shape, implied;
  auto type = cast<MemRefType>(source->binding.getMemory().getType());
  for (auto [coord, size] : llvm::zip_equal(source->coords, type.getShape())) {
    std::optional<LoopSum> index = matchLoopSum(coord);
    if (!index)
      return refuse(name + "its indices are no sums of loops");
    llvm::erase_if(index->loops, [&](auto term) { return !isLong(term.first); });
    llvm::sort(index->loops);
    if (index->loops.empty() && index->constant == 0 && size == 1)
      continue;
    bool isLoop = index->loops.size() == 1 && index->loops[0].second == 1 && index->constant == 0;
    indices.push_back(writeIndex(*index));
    shape.push_back(size);
    implied.push_back(isLoop ? ranges[index->loops[0].first] : -1);
  }
  if (indices.empty())
    return refuse(name + "it is one element");
  std::string text = llvm::join(indices, ",");
  return shape == implied ? text : text + "/" + writeSizes(shape);
}

std::optional<std::string> WindowWriter::writeResult() {
  SmallVector<std::string> indices;
  for (AffineExpr expr : contraction.getOp().getIndexingMapsArray().back().getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (isLong(dim.getPosition()))
        indices.emplace_back(1, getLetter(dim.getPosition()));
      continue;
    }
    if (!contraction.partial || expr != contraction.partial->index)
      return refuse("its results have other indices than loops");
    std::string position;
    expr.walk([&](AffineExpr term) {
      auto dim = dyn_cast<AffineDimExpr>(term);
      if (dim && isLong(dim.getPosition()))
        position += getLetter(dim.getPosition());
    });
    const plan::PartialSums &sums = *contraction.partial;
    indices.push_back(position + (sums.areShares() ? "%" + std::to_string(sums.count)
                                                   : "/" + std::to_string(sums.size)));
  }
  return indices.empty() ? "-" : llvm::join(indices, ",");
}

std::optional<std::string> WindowWriter::write() {
  SmallVector<int64_t> sizes =
      llvm::filter_to_vector(ranges, [](int64_t size) { return size != 1; });
  if (sizes.size() > kLetters)
    return refuse("it has more than " + Twine(kLetters) + " loops");
  linalg::LinalgOp op = contraction.getOp();
  std::optional<std::string> first = writeOperand(op.getDpsInputOperand(0)),
                             second = first ? writeOperand(op.getDpsInputOperand(1)) : first,
                             result = second ? writeResult() : second;
  if (!result)
    return std::nullopt;
  return writeSizes(sizes) + " " + *first + " " + *second + " " + *result;
}

bool hasWindows(const Contraction &contraction) {
  linalg::LinalgOp op = contraction.getOp();
  return llvm::any_of(op.getDpsInputOperands(),
                      [&](OpOperand *operand) { return isWindowed(op, operand); });
}

std::optional<std::string> describeWindows(const Contraction &contraction, std::string &reason) {
  return WindowWriter(contraction, reason).write();
}

} // namespace xc::cuda
