//===- CUDAContracts.cpp - What CUDA passes leave for one another ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of `cuda.*` attributes; CUDAConfig.h says what they mean.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Plan/IR/Contracts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace xc::cuda {

static bool isIndexWidth(Attribute value) {
  auto bits = dyn_cast<IntegerAttr>(value);
  return bits && bits.getType().isSignlessInteger(32) &&
         (bits.getInt() == 32 || bits.getInt() == 64);
}

/// An i64 from `least` on.
template <int64_t least> static bool isNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= least;
}

static bool isInteger(Attribute value) { return isa<IntegerAttr>(value); }

/// What the runtime encodes a tensor map of: sizes, strides and the upper
/// corner are maps of scalars. The last three are those of a map that gathers windows (im2col).
static constexpr plan::Field kTensorMapFields[] = {
    {"binding", isNumber<0>, true},
    {"type", plan::isA<TypeAttr>, true},
    {"box", plan::isA<DenseI64ArrayAttr>, true},
    {"span", isInteger, true},
    {"sizes", plan::isA<AffineMapAttr>, true},
    {"strides", plan::isA<AffineMapAttr>, true},
    {"offset", plan::isA<AffineMapAttr>, false},
    {"tf32", plan::isA<UnitAttr>, false},
    {"lower", plan::isA<DenseI64ArrayAttr>, false},
    {"upper", plan::isA<AffineMapAttr>, false},
    {"steps", plan::isA<DenseI64ArrayAttr>, false},
};

static constexpr plan::Contract kContracts[] = {
    {kIndexBitsAttr, plan::isOn<FunctionOpInterface>, "functions", isIndexWidth, "32 or 64 as i32"},
    {kSelectionAttr, plan::isOn<FunctionOpInterface>, "functions", plan::isA<SelectionAttr>,
     "#cuda.selection"},
    {kLoadsAheadAttr, plan::isOn<FunctionOpInterface>, "functions", plan::isA<UnitAttr>, "a unit"},
    {kProgrammaticAttr, plan::isOn<FunctionOpInterface>, "functions", plan::isA<UnitAttr>,
     "a unit"},
    {kReadsInputsEarlyAttr, plan::isOn<FunctionOpInterface>, "functions", plan::isA<UnitAttr>,
     "a unit"},
    {kScalarsAttr, plan::isOn<FunctionOpInterface>, "functions", plan::isA<DenseI64ArrayAttr>,
     "an array of i64"},
    {kTensorMapsAttr, plan::isOn<FunctionOpInterface>, "functions",
     plan::isArrayOfRecords<kTensorMapFields>, "descriptions of tensor maps"},
    {kDivisorAttr, plan::isOn<plan::ScalarOp>, "plan.scalar", isNumber<1>, "a positive i64"},
    {kSharedOffsetAttr, plan::isAnywhere, "buffers", isNumber<0>, "an i64 that is not negative"},
    {kTensorMapOrdinalAttr, plan::isAnywhere, "tensor maps", isNumber<0>,
     "an i64 that is not negative"},
    {kInPartsAttr, plan::isOn<linalg::LinalgOp>, "linalg ops", plan::isA<UnitAttr>, "a unit"},
};

LogicalResult CUDADialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return plan::verifyContract(op, attribute, kContracts);
}

} // namespace xc::cuda
