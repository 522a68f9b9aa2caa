//===- tensor_map.h - Layout of a CUtensorMap -------------------*- C++ -*-===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 128 opaque bytes of a tensor map are the hardware's business. In the
// stand-in they hold this structure: the driver front writes it in
// cuTensorMapEncode*, and the executor reads it when a kernel gives it the
// descriptor's address.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_TENSOR_MAP_H
#define PTXSIM_TENSOR_MAP_H

#include <cstdint>

namespace xc::ptxsim {

struct EncodedTensorMap {
  static constexpr uint32_t kMagic = 0x504D5458; // "XTMP" in memory
  enum Kind : uint8_t { Tiled = 0, Im2col = 1 };

  uint32_t magic;
  Kind kind;
  uint8_t dataType; // a CUtensorMapDataType
  uint8_t elementBytes;
  uint8_t rank;           // 1..5; dimension 0 is the innermost
  uint8_t interleave;     // a CUtensorMapInterleave
  uint8_t swizzle;        // a CUtensorMapSwizzle
  uint8_t l2Promotion;    // a CUtensorMapL2promotion
  uint8_t oobFill;        // a CUtensorMapFloatOOBfill
  uint32_t checksum;      // tensorMapChecksum of the structure with this field 0
  uint64_t globalAddress; // of element 0
  uint64_t strides[4];    // bytes between elements of dimension 1..4
  uint32_t dimsMinus1[5]; // extents go up to 2^32
  uint16_t box[5];        // Tiled: extents of the box, 1..256
  uint8_t elementStrides[5];
  uint8_t reserved0;
  int16_t lowerCorner[3];    // Im2col: of the pixel box, outermost last
  int16_t upperCorner[3];    // Im2col
  uint16_t channelsPerPixel; // Im2col
  uint16_t pixelsPerColumn;  // Im2col
  uint32_t reserved1[5];
};

static_assert(sizeof(EncodedTensorMap) == 128, "a CUtensorMap has 128 bytes");

/// FNV-1a over the structure; tells a descriptor from bytes that a kernel, or a
/// copy of the wrong size, left behind.
inline uint32_t tensorMapChecksum(EncodedTensorMap map) {
  map.checksum = 0;
  const auto *bytes = reinterpret_cast<const unsigned char *>(&map);
  uint32_t hash = 2166136261u;
  for (unsigned i = 0; i < sizeof(map); ++i)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

inline bool isTensorMap(const EncodedTensorMap &map) {
  return map.magic == EncodedTensorMap::kMagic && map.checksum == tensorMapChecksum(map);
}

} // namespace xc::ptxsim

#endif // PTXSIM_TENSOR_MAP_H
