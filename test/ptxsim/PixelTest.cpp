//===- PixelTest.cpp - Copies of columns of pixels ------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HopperFixture.h"

using namespace xc::ptxsim;

namespace {

/// Two images of 4 x 5 pixels of 16 channels, under windows of 3 x 2 taps with padding: one more
/// above, two more at the left, steps of 2 down and 1 across, taps 1 and 2 apart.
class Pixels : public HopperTest {
protected:
  static constexpr int kImages = 2, kHeight = 4, kWidth = 5, kChannels = 16;
  static constexpr int kAbove = 1, kLeft = 2, kDown = 2, kAcross = 1, kTapDown = 1, kTapAcross = 2;
  /// Output positions: (4 + 1 + 1 - 2 - 1) / 2 + 1 and (5 + 2 + 1 - 2 - 1) / 1 + 1.
  static constexpr int kRows = 2, kColumns = 6;

  void SetUp() override {
    map.magic = EncodedTensorMap::kMagic;
    map.kind = EncodedTensorMap::Im2col;
    map.dataType = 9; // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
    map.elementBytes = 2;
    map.rank = 4;
    map.swizzle = 0;
    map.globalAddress = reinterpret_cast<uint64_t>(image);
    uint32_t sizes[] = {kChannels, kWidth, kHeight, kImages};
    uint64_t stride = 2;
    for (unsigned i = 0; i < 4; ++i) {
      map.dimsMinus1[i] = sizes[i] - 1;
      stride *= sizes[i];
      if (i < 3)
        map.strides[i] = stride;
    }
    uint8_t steps[] = {1, kAcross, kDown, 1};
    std::copy(std::begin(steps), std::end(steps), map.elementStrides);
    map.lowerCorner[0] = -kLeft;
    map.lowerCorner[1] = -kAbove;
    map.upperCorner[0] = 1 - kTapAcross;
    map.upperCorner[1] = 1 - 2 * kTapDown;
    map.channelsPerPixel = kChannels;
    map.pixelsPerColumn = kPixels;
    for (int i = 0; i < kImages * kHeight * kWidth * kChannels; ++i)
      image[i] = static_cast<uint16_t>(i + 1);
  }

  /// Copies a column to the output, of channels from |channel| on, from output position |first| on,
  /// under tap (|r|, |s|).
  LaunchResult copy(int first, int r, int s, int channel = 0, const std::string &mode = "im2col",
                    int addedColumn = 0) {
    int n = first / (kRows * kColumns), p = first / kColumns % kRows, q = first % kColumns;
    auto text = [](int number) { return std::to_string(number); };
    std::string offsets = mode == "im2col" ? ", {%h0, %h1}" : std::string();
    load(".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p)\n{ .reg .pred %p<4>; "
         ".reg .b32 %r<16>; .reg .b16 %h<2>; .reg .b64 %q<4>;\n"
         "  .shared .align 1024 .b8 s[2048]; .shared .align 8 .b64 bar;\n"
         "  mov.b64 %q0, map; cvta.param.u64 %q1, %q0; ld.param.u64 %q2, [p];\n"
         "  mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
         "  mov.b16 %h0, " +
             text(s * kTapAcross) + "; mov.b16 %h1, " + text(r * kTapDown) +
             ";\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " + text(kPixels * 32) +
             ";\n  cp.async.bulk.tensor.4d.shared::cluster.global." + mode +
             ".mbarrier::complete_tx::bytes [s], [%q1, {" + text(channel) + ", " +
             text(q * kAcross - kLeft + addedColumn) + ", " + text(p * kDown - kAbove) + ", " +
             text(n) + "}], [bar]" + offsets +
             ";\nW: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra W;\n"
             "  mov.u32 %r0, 0; mov.u32 %r2, s;\n"
             "L: add.u32 %r3, %r2, %r0; ld.shared.b32 %r1, [%r3]; st.global.b32 [%q2], %r1;\n"
             "  add.s64 %q2, %q2, 4; add.u32 %r0, %r0, 4; setp.lt.u32 %p1, %r0, " +
             text(kPixels * 32) + "; @%p1 bra L;\n  ret;\n}\n",
         "sm_90a");
    if (!module)
      return {};
    map.checksum = tensorMapChecksum(map);
    auto add = [&](void *data, size_t bytes) {
      simulator->memory().registerRange(reinterpret_cast<uint64_t>(data), bytes, "data", true);
    };
    add(image, sizeof(image));
    add(column, sizeof(column));
    struct alignas(64) {
      EncodedTensorMap map;
      uint64_t out;
    } params = {map, reinterpret_cast<uint64_t>(column)};
    LaunchConfig config;
    config.grid = config.block = {1, 1, 1};
    config.params = &params;
    config.paramBytes = sizeof(map) + 8;
    LaunchResult result = simulator->launch(*module->findKernel("k"), config);
    simulator->memory().unregisterRange(reinterpret_cast<uint64_t>(image));
    simulator->memory().unregisterRange(reinterpret_cast<uint64_t>(column));
    return result;
  }

  /// What the definition of a convolution reads at output position |at| under tap (|r|, |s|).
  static uint16_t expected(int at, int r, int s, int channel) {
    int n = at / (kRows * kColumns), p = at / kColumns % kRows, q = at % kColumns;
    int y = p * kDown + r * kTapDown - kAbove, x = q * kAcross + s * kTapAcross - kLeft;
    if (n >= kImages || y < 0 || y >= kHeight || x < 0 || x >= kWidth || channel >= kChannels)
      return 0;
    return static_cast<uint16_t>(((n * kHeight + y) * kWidth + x) * kChannels + channel + 1);
  }

  void expectFault(const LaunchResult &result, const std::string &says) {
    EXPECT_EQ(faultKindName(result.fault.kind),
              std::string(faultKindName(FaultKind::IllegalInstruction)))
        << result.fault.str();
    EXPECT_NE(result.fault.str().find(says), std::string::npos) << result.fault.str();
  }

  static constexpr int kPixels = 20;
  EncodedTensorMap map = {};
  alignas(128) uint16_t image[kImages * kHeight * kWidth * kChannels] = {};
  alignas(128) uint16_t column[kPixels * kChannels] = {};
};

/// From every position: through rows and images, and behind the last image.
TEST_F(Pixels, ColumnsAreThoseOfAConvolution) {
  for (int first = 0; first < kImages * kRows * kColumns + 2; ++first)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 2; ++s) {
        LaunchResult result = copy(first, r, s);
        ASSERT_TRUE(result.ok()) << result.fault.str();
        for (int i = 0; i < kPixels * kChannels; ++i)
          ASSERT_EQ(column[i], expected(first + i / kChannels, r, s, i % kChannels))
              << "from " << first << ", tap " << r << " " << s << ", element " << i;
      }
}

TEST_F(Pixels, ChannelsBehindTheLastAreZero) {
  LaunchResult result = copy(3, 1, 1, 8);
  ASSERT_TRUE(result.ok()) << result.fault.str();
  for (int i = 0; i < kPixels * kChannels; ++i)
    ASSERT_EQ(column[i], expected(3 + i / kChannels, 1, 1, 8 + i % kChannels)) << i;
}

TEST_F(Pixels, MapAndInstructionAreOfOneKind) {
  expectFault(copy(0, 0, 0, 0, "tile"), "is of kind im2col, which this instruction does not take");
  map.kind = EncodedTensorMap::Tiled;
  for (uint16_t &extent : map.box)
    extent = 1;
  expectFault(copy(0, 0, 0), "is tiled, and this instruction takes one of kind im2col");
}

TEST_F(Pixels, ColumnsBeginInTheBoundingBox) {
  expectFault(copy(0, 0, 0, 0, "im2col", -1), "from -2 to 3, got coordinate -3");
  expectFault(copy(kColumns - 1, 0, 0, 0, "im2col", 1), "from -2 to 3, got coordinate 4");
}

TEST_F(Pixels, ChannelsBeginAtAMultipleOfSixteenBytes) {
  EXPECT_TRUE(copy(0, 0, 0, 8).ok());
  expectFault(copy(0, 0, 0, 4), "a multiple of 16 bytes, got 4 elements of 2");
}

TEST_F(Pixels, OffsetsHaveEightBitsIn2D) {
  EXPECT_TRUE(copy(0, 255, 0).ok());
  expectFault(copy(0, 256, 0), "expected im2col offsets below 256 with 2 spatial dimensions");
}

} // namespace
