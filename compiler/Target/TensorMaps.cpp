//===- TensorMaps.cpp - Descriptors of tensor copies in the module --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/TensorMaps.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::target {

using plan::FormulaAttr;

namespace {

/// One map: sizes, byte strides and upper corners innermost first, as the driver counts them, and
/// the first byte.
struct Extents {
  explicit Extents(DictionaryAttr map) : offset(FormulaAttr::getConstant(map.getContext(), 0)) {
    AffineMap allSizes = map.getAs<AffineMapAttr>("sizes").getValue();
    AffineMap allStrides = map.getAs<AffineMapAttr>("strides").getValue();
    int64_t bytes = map.getAs<TypeAttr>("type").getValue().getIntOrFloatBitWidth() / 8;
    for (AffineExpr size : llvm::reverse(allSizes.getResults()))
      sizes.push_back(FormulaAttr::get(size));
    // That of the innermost dim is one element.
    for (AffineExpr stride : llvm::reverse(allStrides.getResults().drop_back()))
      strides.push_back(FormulaAttr::get(stride) * bytes);
    if (auto upper = map.getAs<AffineMapAttr>("upper"))
      for (AffineExpr corner : llvm::reverse(upper.getValue().getResults()))
        corners.push_back(FormulaAttr::get(corner));
    if (auto start = map.getAs<AffineMapAttr>("offset"))
      offset = FormulaAttr::get(start.getValue().getResult(0)) * bytes;
  }

  SmallVector<FormulaAttr> sizes, strides, corners;
  FormulaAttr offset;
};

} // namespace

static ArrayRef<Attribute> getMaps(DictionaryAttr description) {
  auto maps = description.getAs<ArrayAttr>("tensor_maps");
  return maps ? maps.getValue() : ArrayRef<Attribute>();
}

SmallVector<FormulaAttr> getTensorMapScalars(DictionaryAttr description) {
  SmallVector<FormulaAttr> scalars;
  for (Attribute map : getMaps(description)) {
    Extents extents(cast<DictionaryAttr>(map));
    for (ArrayRef<FormulaAttr> formulas : {ArrayRef(extents.sizes), ArrayRef(extents.strides),
                                           ArrayRef(extents.corners), ArrayRef(extents.offset)})
      for (FormulaAttr formula : formulas)
        if (!formula.isConstant() && !llvm::is_contained(scalars, formula))
          scalars.push_back(formula);
  }
  return scalars;
}

bool hasIm2colMaps(DictionaryAttr description) {
  return llvm::any_of(getMaps(description),
                      [](Attribute map) { return cast<DictionaryAttr>(map).contains("steps"); });
}

static bool hasSymbolicCorners(DictionaryAttr map) {
  auto upper = map.getAs<AffineMapAttr>("upper");
  return upper && !llvm::all_of(upper.getValue().getResults(), llvm::IsaPred<AffineConstantExpr>);
}

bool hasSymbolicImageMaps(DictionaryAttr description) {
  return llvm::any_of(getMaps(description),
                      [](Attribute map) { return hasSymbolicCorners(cast<DictionaryAttr>(map)); });
}

std::vector<flatbuffers::Offset<fb::TensorMap>>
writeTensorMaps(flatbuffers::FlatBufferBuilder &builder, DictionaryAttr description,
                unsigned ownScalars, llvm::function_ref<fb::DType(Type)> getDType) {
  SmallVector<FormulaAttr> scalars = getTensorMapScalars(description);
  auto getValues = [&](ArrayRef<FormulaAttr> formulas) {
    std::vector<fb::Value> values;
    for (FormulaAttr formula : formulas) {
      if (std::optional<int64_t> number = formula.asConstant())
        values.emplace_back(-1, *number);
      else
        values.emplace_back(ownScalars + (llvm::find(scalars, formula) - scalars.begin()), 0);
    }
    return values;
  };
  std::vector<flatbuffers::Offset<fb::TensorMap>> maps;
  for (Attribute attr : getMaps(description)) {
    auto map = cast<DictionaryAttr>(attr);
    Extents extents(map);
    ArrayRef<int64_t> shape = map.getAs<DenseI64ArrayAttr>("box").asArrayRef();
    // Of an im2col map it is the pixels and channels of a column.
    bool isIm2col = map.contains("steps");
    std::vector<uint32_t> box(shape.rbegin(), shape.rend()), steps(extents.sizes.size(), 1);
    std::vector<int32_t> lower, upper, upperScalars;
    if (isIm2col) {
      box.clear();
      auto getNumbers = [&](StringRef key) {
        return map.getAs<DenseI64ArrayAttr>(key).asArrayRef();
      };
      llvm::copy(llvm::reverse(getNumbers("steps")), steps.begin() + 1);
      llvm::append_range(lower, llvm::reverse(getNumbers("lower")));
      for (const fb::Value &corner : getValues(extents.corners)) {
        upper.push_back(static_cast<int32_t>(corner.literal()));
        upperScalars.push_back(corner.formula());
      }
    }
    auto dims = builder.CreateVectorOfStructs(getValues(extents.sizes));
    auto strides = builder.CreateVectorOfStructs(getValues(extents.strides));
    auto boxVector = builder.CreateVector(box);
    auto stepVector = builder.CreateVector(steps);
    auto lowerVector = builder.CreateVector(lower), upperVector = builder.CreateVector(upper),
         scalarVector = builder.CreateVector(upperScalars);
    fb::Value offset = getValues(extents.offset).front();
    fb::TensorMapBuilder result(builder);
    result.add_binding(map.getAs<IntegerAttr>("binding").getInt());
    result.add_dtype(getDType(map.getAs<TypeAttr>("type").getValue()));
    result.add_rank(extents.sizes.size());
    result.add_dims(dims);
    result.add_strides(strides);
    result.add_box(boxVector);
    result.add_element_strides(stepVector);
    // Lines of 128, 64 and 32 bytes are swizzled over their length: 3, 2 and 1 to the driver.
    result.add_swizzle(llvm::Log2_64(map.getAs<IntegerAttr>("span").getInt()) - 4);
    // Fetch whole lines of 128 bytes into L2: of pieces of 256 the other half is often a box that
    // another block asks for at the same time.
    result.add_l2_promotion(2);
    result.add_offset(&offset);
    result.add_round_tf32(map.contains("tf32"));
    if (isIm2col) {
      result.add_mode(fb::TensorMapMode::Im2col);
      result.add_lower_corner(lowerVector);
      result.add_upper_corner(upperVector);
      if (hasSymbolicCorners(map))
        result.add_upper_scalars(scalarVector);
      result.add_pixels(shape[0]);
      result.add_channels(shape[1]);
    }
    maps.push_back(result.Finish());
  }
  return maps;
}

} // namespace xc::target
