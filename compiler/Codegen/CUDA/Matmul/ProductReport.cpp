//===- ProductReport.cpp - What is said of a matrix product ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tuning table knows a product by its key: the target, the types, the sizes and the orders of its
// operands. A product that is more than that, such as one of a computed operand, takes the lines of
// that key, but cannot be tuned by it. Keys of convolutions have the indices of their operands
// instead (ConvolutionKey.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ProductChooser.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

std::string ProductChooser::findNoKeyReason(const Contraction::Side &side,
                                            ArrayRef<unsigned> own) const {
  linalg::LinalgOp op = contraction.getOp();
  StringRef name = side.operand->getOperandNumber() == 0 ? "operand A" : "operand B";
  plan::BindingOp binding = getSourceBinding(side.operand->get());
  if (!binding)
    return (name + " is computed or a part of a tensor").str();
  if (binding.getAlignment() < kVectorBytes)
    return (name + " is not aligned to 16 bytes").str();
  SmallVector<int64_t> ranges = contraction.getRanges();
  SmallVector<unsigned> expected, dims;
  for (ArrayRef<unsigned> group : {ArrayRef<unsigned>(contraction.batch),
                                   side.isKContiguous ? own : ArrayRef<unsigned>(contraction.k),
                                   side.isKContiguous ? ArrayRef<unsigned>(contraction.k) : own})
    llvm::copy_if(group, std::back_inserter(expected),
                  [&](unsigned dim) { return ranges[dim] != 1; });
  for (AffineExpr expr : op.getMatchingIndexingMap(side.operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && ranges[dim.getPosition()] == 1)
      continue;
    if (!dim)
      return (name + " has other indices than the product").str();
    dims.push_back(dim.getPosition());
  }
  if (dims == expected)
    return {};
  return (name + (dims.size() < expected.size() ? " is the same for several products of the batch"
                                                : " has its dims in another order"))
      .str();
}

/// The type of an operand's elements; of bytes without a sign that of the array.
static std::string getTypeName(const Contraction::Side &side) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(side.operand->get());
  return side.isUnsigned() && name[0] == 'i' ? "u" + name.substr(1) : name;
}

std::string ProductChooser::findNoKeyReason() const {
  if (windows || !windowRefusal.empty())
    return windowRefusal;
  std::string reason = findNoKeyReason(contraction.a, contraction.m);
  return reason.empty() ? findNoKeyReason(contraction.b, contraction.n) : reason;
}

std::string ProductChooser::makeKey(bool isExpected) {
  auto getSize = [&](ArrayRef<unsigned> dims, int64_t expected) {
    std::optional<int64_t> size = contraction.getProduct(dims);
    return size || isExpected ? std::to_string(size.value_or(expected)) : "?";
  };
  // Indices say which operand is A or B; where there are none, A has the result's rows.
  bool isInOrder = !windows || contraction.a.operand->getOperandNumber() == 0;
  const Contraction::Side &first = isInOrder ? contraction.a : contraction.b,
                          &second = isInOrder ? contraction.b : contraction.a;
  std::string types;
  llvm::raw_string_ostream stream(types);
  if (isTF32)
    stream << "tf32*tf32";
  else
    stream << getTypeName(first) << "*" << getTypeName(second);
  stream << ">" << getOutputType(contraction);
  std::string fused = outputOps ? TuningTable::kFused.str() + std::to_string(outputOps) : "";
  if (windows)
    return llvm::formatv("{0} conv {1} {2}{3}", kernel.target->arch, types, *windows, fused);
  return llvm::formatv("{0} matmul {1} {2}x{3}x{4}x{5} {6}{7}{8}", kernel.target->arch, types,
                       getSize(contraction.batch, getExpectedBatch()),
                       getSize(contraction.m, getExpectedRows()),
                       getSize(contraction.n, getExpectedColumns()),
                       contraction.partial && !contraction.partial->areShares()
                           ? std::to_string(contraction.partial->size)
                           : getSize(contraction.k, getExpectedSum()),
                       contraction.a.isKContiguous ? "n" : "t",
                       contraction.b.isKContiguous ? "t" : "n", fused)
      .str();
}

/// The operands that threads load in a kernel on wgmma; empty if boxes bring both.
static std::string describeLoads(const MatmulProblem &problem) {
  // The model's operand A is the product's B if `isSwapped`.
  bool a = problem.isSwapped ? problem.loadsB : problem.loadsA,
       b = problem.isSwapped ? problem.loadsA : problem.loadsB;
  if (!a && !b)
    return {};
  return llvm::formatv(", {0} loaded by threads", a && b ? "operands A and B"
                                                  : a    ? "operand A"
                                                         : "operand B");
}

std::string ProductChooser::describe(Attribute config) {
  std::string time = formatTime(predict(config));
  if (contraction.partial)
    time = llvm::formatv("{0} partial sums, {1}", contraction.partial->count, time);
  if (auto wgmma = dyn_cast<MatmulWGMMAAttr>(config)) {
    std::string kind = "matrix product by wgmma" + describeLoads(*problem);
    if (convolution && convolution->image.isAcross)
      kind =
          llvm::formatv("gradient to the filter by wgmma, {0} channels of columns of pixels under "
                        "{1} tap{2}",
                        problem->channels, *contraction.getProduct(convolution->image.taps),
                        convolution->image.taps.empty() ? "" : "s");
    else if (convolution)
      kind =
          llvm::formatv("convolution by wgmma, columns of pixels under {0} tap{1}, {2} channels a "
                        "step",
                        problem->taps, problem->taps == 1 ? "" : "s", wgmma.getTileK());
    return llvm::formatv("{0}: tiles of {1} x {2} by {3} warpgroups{4}, {5} stages, k split {6} "
                         "times, {7}",
                         kind, wgmma.getTileM(), wgmma.getTileN(), wgmma.getWarpgroups(),
                         wgmma.getPingPong() ? ", ping-pong" : "", wgmma.getStages(),
                         wgmma.getSplit(), time);
  }
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  if (mma && contraction.hasDoubleOperands())
    return llvm::formatv("matrix product by mma.sync in f64: tiles of {0} x {1}, k in steps of "
                         "{2}, {3} stages, {4}",
                         mma.getTileM(), mma.getTileN(), mma.getTileK(), mma.getStages(), time);
  if (mma)
    return llvm::formatv("matrix product by mma.sync{0}: tiles of {1} x {2}, k in steps of {3}, "
                         "{4}",
                         isTF32 ? " in TF32" : "", mma.getTileM(), mma.getTileN(), mma.getTileK(),
                         time);
  auto fma = cast<MatmulFMAAttr>(config);
  std::string split;
  if (fma.getSplit() > 1)
    split = llvm::formatv("k split {0} times, ", fma.getSplit());
  return llvm::formatv("matrix product by fused multiply-add: tiles of {0} x {1}, {2} x {3} a "
                       "thread, {4} stages, {5}{6}",
                       fma.getTileM(), fma.getTileN(), fma.getThreadM(), fma.getThreadN(),
                       fma.getStages(), split, time);
}

Choice ProductChooser::replaceByShipped(Choice choice) {
  // What was measured of a product is not of a convolution that is more than its own key says.
  if (convolution && !windows)
    return choice;
  const TuningTable::Entry *entry = tuning.shipped.lookup(makeKey(/*isExpected=*/true));
  Attribute measured = entry ? entry->config : Attribute();
  if (!measured || measured.getTypeID() != choice.config.getTypeID() ||
      !checkGiven(measured).empty())
    return choice;
  return {measured, describe(measured) + ", as measured before"};
}

void ProductChooser::finish(Choice &choice) {
  Choice measured = replaceByShipped(choice);
  choice.config = measured.config;
  choice.reason = measured.reason;
  choice.microseconds = predict(choice.config);
  choice.key = key;
  choice.isKeyOwn = noKeyReason.empty();
  // Only what the key stands for can be tuned by it.
  if (noKeyReason.empty())
    choice.reason += "; key: " + key;
  else
    choice.reason += "; no key of its own but lines of " + key + ", since " + noKeyReason;
  std::optional<Choice> wgmma;
  if (isa<MatmulMMAAttr>(choice.config) && convolution)
    wgmma = chooseWGMMA();
  if (wgmma)
    choice.reason += "; by wgmma " + formatTime(predict(wgmma->config));
  if (!isa<MatmulWGMMAAttr>(choice.config) && !refusal.empty())
    choice.reason += "; not by wgmma, since " + refusal;
}

} // namespace xc::cuda
