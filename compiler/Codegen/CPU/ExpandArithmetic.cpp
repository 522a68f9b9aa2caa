//===- ExpandArithmetic.cpp - Arithmetic that the CPU does not have -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM would call libm or compiler-rt for what is expanded here (expf, __truncsfbf2, fmaf, ...).
// Arithmetic on 16-bit floats moves to f32 first, since the expansions of math functions are for
// f32 and f64; that makes new conversions, which are expanded last.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/Common/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_EXPANDARITHMETIC
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

struct ExpandArithmetic final : impl::ExpandArithmeticBase<ExpandArithmetic> {
  using ExpandArithmeticBase::ExpandArithmeticBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch) || failed(computeInF32()) || failed(expandMath(*arch)) ||
        failed(expandSmallFloats(*arch)))
      return signalPassFailure();
  }

  LogicalResult computeInF32() {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {BFloat16Type::get(context), Float16Type::get(context)},
        Float32Type::get(context));
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  LogicalResult expandMath(const Arch &arch) {
    codegen::MathExpansion options;
    options.fastMath = fastMath;
    options.hasFma = arch.hasFMA;
    RewritePatternSet patterns(&getContext());
    codegen::populateExpandMathPatterns(patterns, options);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  LogicalResult expandSmallFloats(const Arch &arch) {
    // LLVM may merge f64 -> f32 -> f16 into one conversion, which is a library call.
    bool usesF64 = false;
    getOperation().walk(
        [&](arith::TruncFOp op) { usesF64 |= getElementTypeOrSelf(op.getIn().getType()).isF64(); });
    RewritePatternSet patterns(&getContext());
    codegen::populateExpandSmallFloatPatterns(patterns, arch.hasHalfConversion && !usesF64);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace xc::cpu
