//===- DataTables.cpp - Constants, parameters and variables of a module ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/DataTables.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::target {

fb::DType getDType(Type type, StringRef name) {
  fb::DType named = llvm::StringSwitch<fb::DType>(name)
                        .Case("i1", fb::DType::I1)
                        .Case("u8", fb::DType::U8)
                        .Case("u16", fb::DType::U16)
                        .Case("u32", fb::DType::U32)
                        .Case("u64", fb::DType::U64)
                        .Default(fb::DType::None);
  if (named != fb::DType::None)
    return named;
  if (type.isF16())
    return fb::DType::F16;
  if (type.isBF16())
    return fb::DType::BF16;
  if (type.isF32())
    return fb::DType::F32;
  if (type.isF64())
    return fb::DType::F64;
  switch (type.isInteger() ? type.getIntOrFloatBitWidth() : 0) {
  case 1:
    return fb::DType::I1;
  case 8:
    return fb::DType::I8;
  case 16:
    return fb::DType::I16;
  case 32:
    return fb::DType::I32;
  case 64:
    return fb::DType::I64;
  default:
    return fb::DType::None;
  }
}

/// The elements as the runtime sees them in memory; empty where the attribute cannot tell.
static std::string getBytes(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? std::string(blob->getData().begin(), blob->getData().end()) : std::string();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return {};
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat())
    return std::string(raw.begin(), raw.end());
  std::string bytes;
  bytes.reserve(raw.size() * dense.getNumElements());
  for (int64_t i = 0; i < dense.getNumElements(); ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

static flatbuffers::Offset<flatbuffers::String> makeString(flatbuffers::FlatBufferBuilder &builder,
                                                           StringRef text) {
  return builder.CreateString(text.data(), text.size());
}

LogicalResult DataTables::collect(ArrayRef<ModuleOp> targets, BlobArea &blobs) {
  for (ModuleOp target : targets) {
    DataNumbers &mine = numbers.emplace_back();
    for (Attribute constant : target->getAttrOfType<ArrayAttr>(plan::kConstantsAttr)) {
      auto elements = cast<ElementsAttr>(constant);
      auto it = constants.find(constant);
      if (it == constants.end()) {
        std::string bytes = getBytes(elements);
        auto type = cast<ShapedType>(elements.getShapedType());
        uint64_t expected =
            llvm::divideCeil(type.getElementTypeBitWidth(), 8) * type.getNumElements();
        if (bytes.size() != expected)
          return target.emitError("expected ") << expected << " bytes of constant data of type "
                                               << type << ", got " << bytes.size();
        it = constants.insert({constant, blobs.add(std::move(bytes))}).first;
      }
      mine.constants.push_back(std::distance(constants.begin(), it));
    }
    for (Attribute parameter : target->getAttrOfType<ArrayAttr>(plan::kParametersAttr))
      mine.parameters.push_back(parameters.insert({parameter, parameters.size()}).first->second);
    for (auto [index, entry] :
         llvm::enumerate(target->getAttrOfType<ArrayAttr>(plan::kVariablesAttr))) {
      // Every target lists the same variables in the same order; their initial values are numbered
      // like the first target's.
      if (numbers.size() == 1)
        variables.push_back(cast<DictionaryAttr>(entry));
      mine.variables.push_back(index);
    }
  }
  return success();
}

std::vector<flatbuffers::Offset<fb::Constant>>
DataTables::buildConstants(flatbuffers::FlatBufferBuilder &builder, const BlobArea &blobs,
                           uint64_t blobBase) const {
  std::vector<flatbuffers::Offset<fb::Constant>> tables;
  for (auto &[attr, blob] : constants) {
    auto type = cast<ShapedType>(cast<ElementsAttr>(attr).getShapedType());
    fb::BlobRef data = blobs.getRef(blob, blobBase);
    auto dims = builder.CreateVector(type.getShape().data(), type.getRank());
    tables.push_back(
        fb::CreateConstant(builder, getDType(type.getElementType(), ""), dims, 64, &data));
  }
  return tables;
}

std::vector<flatbuffers::Offset<fb::ExternalParameter>>
DataTables::buildParameters(flatbuffers::FlatBufferBuilder &builder) const {
  std::vector<flatbuffers::Offset<fb::ExternalParameter>> tables;
  for (auto &[attr, number] : parameters) {
    auto entry = cast<DictionaryAttr>(attr);
    auto type = cast<ShapedType>(entry.getAs<TypeAttr>("type").getValue());
    auto dtype = entry.getAs<StringAttr>("dtype");
    auto scope = makeString(builder, entry.getAs<StringAttr>("scope").getValue()),
         key = makeString(builder, entry.getAs<StringAttr>("key").getValue());
    auto dims = builder.CreateVector(type.getShape().data(), type.getRank());
    tables.push_back(fb::CreateExternalParameter(
        builder, scope, key, getDType(type.getElementType(), dtype ? dtype.getValue() : ""), dims));
  }
  return tables;
}

std::vector<flatbuffers::Offset<fb::Variable>>
DataTables::buildVariables(flatbuffers::FlatBufferBuilder &builder) const {
  std::vector<flatbuffers::Offset<fb::Variable>> tables;
  for (DictionaryAttr entry : variables) {
    auto type = cast<ShapedType>(entry.getAs<TypeAttr>("type").getValue());
    auto dtype = entry.getAs<StringAttr>("dtype");
    auto constant = entry.getAs<IntegerAttr>("constant"),
         parameter = entry.getAs<IntegerAttr>("parameter");
    auto name = makeString(builder, entry.getAs<StringAttr>("name").getValue());
    auto dims = builder.CreateVector(type.getShape().data(), type.getRank());
    tables.push_back(fb::CreateVariable(
        builder, name, getDType(type.getElementType(), dtype ? dtype.getValue() : ""), dims,
        constant ? static_cast<int32_t>(numbers.front().constants[constant.getInt()]) : -1,
        parameter ? static_cast<int32_t>(numbers.front().parameters[parameter.getInt()]) : -1));
  }
  return tables;
}

} // namespace xc::target
