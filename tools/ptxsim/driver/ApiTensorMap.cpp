//===- ApiTensorMap.cpp - Tensor map descriptors --------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refuses what the driver refuses, and stores the rest as tensor_map.h says.
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "ptxsim/tensor_map.h"

#include <cstring>

namespace xc::cudasim {
namespace {

using ptxsim::EncodedTensorMap;

/// Bytes of an element; 0: unknown type.
unsigned elementBytes(CUtensorMapDataType type) {
  switch (type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return 1;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return 2;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
    return 4;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    return 8;
  }
  return 0;
}

bool isFloat(CUtensorMapDataType type) { return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16; }

/// The arguments that both kinds of map have.
struct MapArguments {
  CUtensorMap *map;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void *address;
  const cuuint64_t *dims, *strides;
  const cuuint32_t *elementStrides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2Promotion;
  CUtensorMapFloatOOBfill oobFill;
};

bool hasValidEnums(const MapArguments &args) {
  return elementBytes(args.type) && args.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
         args.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B &&
         args.l2Promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
         args.oobFill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
         (args.oobFill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || isFloat(args.type));
}

/// Checks the common arguments and encodes them.
CUresult encodeCommon(const MapArguments &args, unsigned minRank, EncodedTensorMap &map) {
  if (!args.map || reinterpret_cast<uintptr_t>(args.map) % 64 || !args.address || !args.dims ||
      !args.elementStrides || (args.rank > 1 && !args.strides) || args.rank < minRank ||
      args.rank > 5 || !hasValidEnums(args))
    return CUDA_ERROR_INVALID_VALUE;
  const bool wide = args.interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
  const uint64_t granule = wide ? 32 : 16;
  map.globalAddress = reinterpret_cast<uintptr_t>(args.address);
  if (map.globalAddress % granule)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < args.rank; ++i) {
    if (!args.dims[i] || args.dims[i] > (uint64_t(1) << 32) || !args.elementStrides[i] ||
        args.elementStrides[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    map.dimsMinus1[i] = static_cast<uint32_t>(args.dims[i] - 1);
    map.elementStrides[i] = static_cast<uint8_t>(args.elementStrides[i]);
  }
  for (unsigned i = 0; i + 1 < args.rank; ++i) {
    if (args.strides[i] % granule || args.strides[i] >= (uint64_t(1) << 40))
      return CUDA_ERROR_INVALID_VALUE;
    map.strides[i] = args.strides[i];
  }
  map.magic = EncodedTensorMap::kMagic;
  map.dataType = static_cast<uint8_t>(args.type);
  map.elementBytes = static_cast<uint8_t>(elementBytes(args.type));
  map.rank = static_cast<uint8_t>(args.rank);
  map.interleave = static_cast<uint8_t>(args.interleave);
  map.swizzle = static_cast<uint8_t>(args.swizzle);
  map.l2Promotion = static_cast<uint8_t>(args.l2Promotion);
  map.oobFill = static_cast<uint8_t>(args.oobFill);
  return CUDA_SUCCESS;
}

/// The innermost extent of a box must be whole 16-byte units, and must fit the
/// span that a swizzle permutes.
bool isInnerExtentValid(const EncodedTensorMap &map, uint64_t extent) {
  if (map.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return true;
  uint64_t bytes = extent * map.elementBytes;
  uint64_t span =
      map.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? UINT64_MAX : uint64_t(16) << map.swizzle;
  return bytes % 16 == 0 && bytes <= span;
}

void store(EncodedTensorMap &map, CUtensorMap *out) {
  map.checksum = ptxsim::tensorMapChecksum(map);
  memcpy(out->opaque, &map, sizeof(map));
}

/// The devices of a driver are alike, so the first one answers for all.
bool hasTensorMaps() { return driver().devices[0]->limits().major >= 9; }

} // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
  return initialised("cuTensorMapEncodeTiled", [&]() -> CUresult {
    if (!hasTensorMaps())
      return CUDA_ERROR_NOT_SUPPORTED;
    EncodedTensorMap map = {};
    CUresult result = encodeCommon({out, type, rank, address, dims, strides, elementStrides,
                                    interleave, swizzle, l2Promotion, oobFill},
                                   interleave ? 3 : 1, map);
    if (result != CUDA_SUCCESS || !box)
      return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < rank; ++i) {
      if (!box[i] || box[i] > 256)
        return CUDA_ERROR_INVALID_VALUE;
      map.box[i] = static_cast<uint16_t>(box[i]);
    }
    // A box must fit the shared memory of a multiprocessor.
    uint64_t boxBytes = map.elementBytes;
    for (unsigned i = 0; i < rank; ++i)
      boxBytes *= box[i];
    if (!isInnerExtentValid(map, box[0]) || boxBytes > driver().devices[0]->limits().sharedPerSM)
      return CUDA_ERROR_INVALID_VALUE;
    map.kind = EncodedTensorMap::Tiled;
    store(map, out);
    return CUDA_SUCCESS;
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                 void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                                 const int *lowerCorner, const int *upperCorner,
                                 cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill) {
  return initialised("cuTensorMapEncodeIm2col", [&]() -> CUresult {
    if (!hasTensorMaps())
      return CUDA_ERROR_NOT_SUPPORTED;
    EncodedTensorMap map = {};
    CUresult result = encodeCommon({out, type, rank, address, dims, strides, elementStrides,
                                    interleave, swizzle, l2Promotion, oobFill},
                                   3, map);
    if (result != CUDA_SUCCESS || !lowerCorner || !upperCorner || !channels || channels > 256 ||
        !pixels || pixels > 1024)
      return CUDA_ERROR_INVALID_VALUE;
    // The fewer spatial dimensions, the more bits a corner has.
    const int bits[3] = {16, 8, 5};
    const int limit = 1 << (bits[rank - 3] - 1);
    for (unsigned i = 0; i + 2 < rank; ++i) {
      if (lowerCorner[i] < -limit || lowerCorner[i] >= limit || upperCorner[i] < -limit ||
          upperCorner[i] >= limit)
        return CUDA_ERROR_INVALID_VALUE;
      map.lowerCorner[i] = static_cast<int16_t>(lowerCorner[i]);
      map.upperCorner[i] = static_cast<int16_t>(upperCorner[i]);
      // The bounding box must have pixels.
      if (static_cast<int64_t>(dims[i + 1]) + upperCorner[i] - lowerCorner[i] <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    }
    map.channelsPerPixel = static_cast<uint16_t>(channels);
    map.pixelsPerColumn = static_cast<uint16_t>(pixels);
    if (!isInnerExtentValid(map, channels))
      return CUDA_ERROR_INVALID_VALUE;
    map.kind = EncodedTensorMap::Im2col;
    store(map, out);
    return CUDA_SUCCESS;
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *out, void *address) {
  return initialised("cuTensorMapReplaceAddress", [&]() -> CUresult {
    if (!out || !address)
      return CUDA_ERROR_INVALID_VALUE;
    EncodedTensorMap map;
    memcpy(&map, out->opaque, sizeof(map));
    bool wide = map.interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
    if (!ptxsim::isTensorMap(map) || reinterpret_cast<uintptr_t>(address) % (wide ? 32 : 16))
      return CUDA_ERROR_INVALID_VALUE;
    map.globalAddress = reinterpret_cast<uintptr_t>(address);
    store(map, out);
    return CUDA_SUCCESS;
  });
}

} // extern "C"
} // namespace xc::cudasim
