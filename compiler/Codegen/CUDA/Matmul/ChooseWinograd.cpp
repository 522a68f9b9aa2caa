//===- ChooseWinograd.cpp - Convolutions by fewer products, where it pays -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Winograd's algorithm (array/IR/WinogradConv.cpp) multiplies less: of a 3 x 3 filter 16 products
// for each four outputs, where there are 36. But its image goes through memory as blocks, four
// times as large, and so do the products. So it pays for many channels. Which is faster the model
// of plain arithmetic says, for each target of the program: all of them must gain.
//
// The other form's time is noted on the op. Left alone are convolutions of sizes that are not
// known, of types other than f32 and f64, those that tensor cores may round, and those that
// Winograd's algorithm is not for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/ProductParts.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Windows.h"
#include "compiler/Dialect/Array/IR/WinogradConv.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_CHOOSEWINOGRAD
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// What Winograd's algorithm must be faster by: neither model is that exact.
static constexpr double kWorthwhile = 0.9;
/// Microseconds of a kernel that moves nothing; and bytes of a microsecond for each of a
/// nanosecond.
static constexpr double kKernelTime = 2.2, kPerMicrosecond = 1000;

/// Places along a dim, and elements of an image or a filter, beyond which nobody waits for a
/// choice: so numbers of them stay in range.
static constexpr int64_t kMostPlaces = 1 << 16;
static constexpr double kMostElements = double(int64_t(1) << 50);

namespace {

/// A convolution by its sizes; blocks of two outputs along each dim have four points.
struct Problem {
  int64_t batch, inputs, outputs, bytes; // images, features, and bytes of an element
  int64_t image = 1, padded = 1;         // elements of a feature of an image
  int64_t places = 1, blocks = 1;        // of an image
  int64_t taps = 1, points = 1;          // of a filter, and of a block
  int64_t outputsOfBlock = 1;
};

} // namespace

static std::optional<Problem> describe(array::ConvOp op) {
  Type element = op.getType().getElementType();
  bool isTensorCoreType = op.getAllowTf32() && element.isF32();
  array::ConvDimsAttr dims = op.getDims();
  RankedTensorType input = op.getInput().getType(), filter = op.getFilter().getType();
  if (op.getAlgorithm() != array::ConvAlgorithm::Direct || isTensorCoreType ||
      !array::canUseWinograd(op) || !array::hasWinogradSizes(op) || !input.hasStaticShape() ||
      input.getNumElements() == 0 || filter.getNumElements() == 0)
    return std::nullopt;
  Problem problem{input.getDimSize(dims.inputDim(array::ConvDimsAttr::kBatch)),
                  input.getDimSize(dims.inputDim(array::ConvDimsAttr::kFeature)),
                  filter.getDimSize(dims.filterDim(array::ConvDimsAttr::kFilterOutput)),
                  element.getIntOrFloatBitWidth() / 8};
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t size = input.getDimSize(dims.inputDim(spatial)),
            places = array::countPlaces(size, window), blocks = llvm::divideCeil(places, 2);
    if (places < 1 || std::max(places, size) > kMostPlaces || window.inputDilation != 1 ||
        window.low < 0 || window.high < 0)
      return std::nullopt;
    problem.image *= size;
    problem.padded *= 2 * blocks + 2;
    problem.places *= places;
    problem.blocks *= blocks;
    problem.taps *= window.size;
    problem.points *= 4;
    problem.outputsOfBlock *= 2;
  }
  // In range: a double.
  double features = static_cast<double>(std::max(problem.inputs, problem.outputs)),
         elements = std::max(features, static_cast<double>(problem.batch) *
                                           static_cast<double>(problem.padded));
  return features * elements > kMostElements ? std::nullopt : std::optional(problem);
}

static double estimateKernel(const Target &target, double bytes) {
  return kKernelTime + bytes / (target.rates.memory * kPerMicrosecond);
}

/// The product of every window and the filter, in as many parts of its sums as are fastest.
static double estimateDirect(const Target &target, const Problem &problem) {
  FMAProblem product{};
  product.batch = 1;
  product.m = problem.batch * problem.places;
  product.n = problem.outputs;
  product.k = problem.taps * problem.inputs;
  product.elementBytes = problem.bytes;
  product.widthA = std::gcd(problem.inputs, int64_t(4));
  double best = chooseFMAPlan(target, product).microseconds;
  double sums = static_cast<double>(product.m * product.n * problem.bytes);
  for (int64_t parts = 2; problem.inputs % parts == 0; parts *= 2) {
    FMAProblem part = product;
    part.batch = parts;
    part.k /= parts;
    best = std::min(best, chooseFMAPlan(target, part).microseconds +
                              estimateSumOfParts(target, sums * static_cast<double>(parts)));
  }
  return best;
}

/// Padding; blocks of the image, four points a kernel, and a copy beside each other; those of the
/// filter; their products; and the outputs of these, which are put into order dim by dim.
static double estimateWinograd(const Target &target, const Problem &problem) {
  FMAProblem product{};
  product.batch = problem.points;
  product.m = problem.batch * problem.blocks;
  product.n = problem.outputs;
  product.k = problem.inputs;
  product.elementBytes = problem.bytes;
  product.isCopied = isCopiedAhead(target, product.k);
  product.widthA = std::gcd(problem.inputs, int64_t(4));
  product.widthB = std::gcd(problem.outputs, int64_t(4));
  auto count = [&](int64_t elements) { return static_cast<double>(elements * problem.bytes); };
  double padded = count(problem.batch * problem.padded * problem.inputs),
         blocks = count(product.batch * product.m * product.k),
         filter = count(problem.points * product.k * product.n),
         products = count(product.batch * product.m * product.n),
         places = count(problem.batch * problem.places * problem.outputs);
  int64_t kernels = problem.points / 4;
  double time =
      estimateKernel(target, count(problem.batch * problem.image * problem.inputs) + padded) +
      static_cast<double>(kernels) *
          estimateKernel(target, padded + blocks / static_cast<double>(kernels)) +
      estimateKernel(target, 2 * blocks) + 3 * estimateKernel(target, filter) +
      chooseFMAPlan(target, product).microseconds;
  // Three of four points along each dim but the last are read for each place; a kernel makes two.
  int64_t pairs = problem.outputsOfBlock / 2;
  double reads = std::pow(1.5, llvm::Log2_64(pairs)) / static_cast<double>(pairs);
  time += static_cast<double>(pairs) *
          estimateKernel(target, reads * products + places / static_cast<double>(pairs));
  for (int64_t moved = pairs; moved > 0; moved /= 2)
    time += static_cast<double>(moved) *
            estimateKernel(target, 2 * places / static_cast<double>(moved));
  bool isCut = problem.places != problem.blocks * problem.outputsOfBlock;
  return isCut ? time + 2 * estimateKernel(target, 2 * places) : time;
}

namespace {

struct ChooseWinograd final : impl::ChooseWinogradBase<ChooseWinograd> {
  using ChooseWinogradBase::ChooseWinogradBase;

  void runOnOperation() override {
    getOperation().walk([&](array::ConvOp op) {
      std::optional<Problem> problem = describe(op);
      bool isFaster = problem.has_value();
      std::string direct, winograd;
      for (const std::string &name : archs) {
        const Target *target = findTarget(name);
        if (!target || !problem)
          return;
        double times[] = {estimateDirect(*target, *problem), estimateWinograd(*target, *problem)};
        isFaster &= times[1] < kWorthwhile * times[0];
        direct += (direct.empty() ? "" : ", ") + formatTime(times[0]);
        winograd += (winograd.empty() ? "" : ", ") + formatTime(times[1]);
      }
      if (!problem)
        return;
      std::string note = isFaster ? "by Winograd's algorithm " + winograd + ", directly " + direct
                                  : "by Winograd's algorithm " + winograd;
      op->setAttr(plan::kNoteAttr, StringAttr::get(&getContext(), note));
      if (isFaster)
        op.setAlgorithm(array::ConvAlgorithm::Winograd);
    });
  }
};

} // namespace

} // namespace xc::cuda
