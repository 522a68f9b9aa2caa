//===- TensorMapTest.cpp - Encoding of tensor maps ------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "ptxsim/tensor_map.h"

#include <cstring>

namespace xc {
namespace {

/// Arguments of a tiled map over a 64 x 128 matrix of halves; tests change one.
struct Tiled {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint32_t rank = 2;
  CUdeviceptr address = 0x10000;
  cuuint64_t dims[5] = {128, 64, 1, 1, 1};
  cuuint64_t strides[4] = {256, 0, 0, 0};
  cuuint32_t box[5] = {64, 32, 1, 1, 1};
  cuuint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

class TensorMapTest : public DriverTest {
protected:
  CUresult encode(const Tiled &args) {
    return cu.cuTensorMapEncodeTiled(&map, args.type, args.rank,
                                     reinterpret_cast<void *>(args.address), args.dims,
                                     args.strides, args.box, args.elementStrides, args.interleave,
                                     args.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, args.fill);
  }
  ptxsim::EncodedTensorMap decode() {
    ptxsim::EncodedTensorMap decoded;
    memcpy(&decoded, map.opaque, sizeof(decoded));
    return decoded;
  }
  CUtensorMap map = {};
};

TEST_F(TensorMapTest, TiledMapHoldsItsArguments) {
  ASSERT_EQ(CUDA_SUCCESS, encode({}));
  ptxsim::EncodedTensorMap decoded = decode();
  EXPECT_TRUE(ptxsim::isTensorMap(decoded));
  EXPECT_EQ(ptxsim::EncodedTensorMap::Tiled, decoded.kind);
  EXPECT_EQ(0x10000u, decoded.globalAddress);
  EXPECT_EQ(2, decoded.elementBytes);
  EXPECT_EQ(2, decoded.rank);
  EXPECT_EQ(127u, decoded.dimsMinus1[0]);
  EXPECT_EQ(63u, decoded.dimsMinus1[1]);
  EXPECT_EQ(256u, decoded.strides[0]);
  EXPECT_EQ(64, decoded.box[0]);
  EXPECT_EQ(32, decoded.box[1]);
  EXPECT_EQ(CU_TENSOR_MAP_SWIZZLE_128B, decoded.swizzle);
  ASSERT_EQ(CUDA_SUCCESS, cu.cuTensorMapReplaceAddress(&map, reinterpret_cast<void *>(0x20000)));
  EXPECT_EQ(0x20000u, decode().globalAddress);
  EXPECT_TRUE(ptxsim::isTensorMap(decode()));
  map.opaque[3] ^= 1;
  EXPECT_FALSE(ptxsim::isTensorMap(decode()));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuTensorMapReplaceAddress(&map, reinterpret_cast<void *>(0x20000)));
}

TEST_F(TensorMapTest, TiledArgumentsAreChecked) {
  auto refuses = [&](auto change) {
    Tiled args;
    change(args);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, encode(args));
  };
  refuses([](Tiled &args) { args.address += 8; });
  refuses([](Tiled &args) { args.rank = 0; });
  refuses([](Tiled &args) { args.rank = 6; });
  refuses([](Tiled &args) { args.dims[1] = 0; });
  refuses([](Tiled &args) { args.dims[0] = (cuuint64_t(1) << 32) + 1; });
  refuses([](Tiled &args) { args.strides[0] = 264; });
  refuses([](Tiled &args) { args.strides[0] = cuuint64_t(1) << 40; });
  refuses([](Tiled &args) { args.box[1] = 257; });
  refuses([](Tiled &args) { args.box[0] = 0; });
  refuses([](Tiled &args) { args.box[0] = 65; });  // not 16-byte units
  refuses([](Tiled &args) { args.box[0] = 128; }); // wider than the swizzle
  refuses([](Tiled &args) { args.elementStrides[1] = 9; });
  refuses([](Tiled &args) { args.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
  refuses([](Tiled &args) { args.type = static_cast<CUtensorMapDataType>(99); });
  refuses([](Tiled &args) {
    args.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    args.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  });
  alignas(64) char bytes[192];
  Tiled args;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cu.cuTensorMapEncodeTiled(reinterpret_cast<CUtensorMap *>(bytes + 32), args.type,
                                      args.rank, reinterpret_cast<void *>(args.address), args.dims,
                                      args.strides, args.box, args.elementStrides, args.interleave,
                                      args.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, args.fill))
      << "the descriptor must be aligned";
}

TEST_F(TensorMapTest, Im2col) {
  cuuint64_t dims[] = {64, 28, 28, 8}, strides[] = {128, 3584, 100352};
  cuuint32_t elementStrides[] = {1, 1, 1, 1};
  int lower[] = {-1, -1}, upper[] = {-1, -1}, outside[] = {-129, 0};
  auto encode = [&](const int *corner, cuuint32_t channels, cuuint32_t pixels) {
    return cu.cuTensorMapEncodeIm2col(
        &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, reinterpret_cast<void *>(0x4000), dims, strides,
        corner, upper, channels, pixels, elementStrides, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  ASSERT_EQ(CUDA_SUCCESS, encode(lower, 64, 128));
  ptxsim::EncodedTensorMap decoded = decode();
  EXPECT_TRUE(ptxsim::isTensorMap(decoded));
  EXPECT_EQ(ptxsim::EncodedTensorMap::Im2col, decoded.kind);
  EXPECT_EQ(-1, decoded.lowerCorner[1]);
  EXPECT_EQ(64, decoded.channelsPerPixel);
  EXPECT_EQ(128, decoded.pixelsPerColumn);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, encode(outside, 64, 128));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, encode(lower, 257, 128));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, encode(lower, 64, 1025));
  int behind[] = {27, -1}, last[] = {26, -1};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, encode(behind, 64, 128)) << "no pixel is in the box";
  EXPECT_EQ(CUDA_SUCCESS, encode(last, 64, 128));
}

class AmpereTensorMapTest : public TensorMapTest {
protected:
  void SetUp() override { start("arch=sm_80"); }
};

TEST_F(AmpereTensorMapTest, NotSupported) { EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, encode({})); }

} // namespace
} // namespace xc
