//===- HopperFixture.h - A warp-specialised product in PTX ------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_HOPPERFIXTURE_H
#define XC_TEST_PTXSIM_HOPPERFIXTURE_H

#include "Fixture.h"

#include "ptxsim/tensor_map.h"

#include <array>
#include <cmath>

namespace xc::ptxsim {

/// A tensor map over a row-major matrix of 2-byte elements, in 128-byte swizzle.
inline EncodedTensorMap matrixMap(const uint16_t *data, uint32_t columns, uint32_t rows,
                                  uint16_t boxColumns, uint16_t boxRows) {
  EncodedTensorMap map = {};
  map.magic = EncodedTensorMap::kMagic;
  map.kind = EncodedTensorMap::Tiled;
  map.dataType = 9; // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
  map.elementBytes = 2;
  map.rank = 2;
  map.swizzle = 3; // CU_TENSOR_MAP_SWIZZLE_128B
  map.globalAddress = reinterpret_cast<uint64_t>(data);
  map.strides[0] = columns * 2ull;
  map.dimsMinus1[0] = columns - 1;
  map.dimsMinus1[1] = rows - 1;
  map.box[0] = boxColumns;
  map.box[1] = boxRows;
  for (uint8_t &stride : map.elementStrides)
    stride = 1;
  map.checksum = tensorMapChecksum(map);
  return map;
}

/// D[M][N] = A[M][K] * B[N][K]^T of bf16. A block makes 128 x 64 of D: one warpgroup
/// loads tiles of 64 along K into a ring of two stages, two multiply and store. Parts
/// have names, so that tests can plant mistakes.
class ProductKernel {
public:
  /// Replaces |part| of the text, which must be there.
  ProductKernel &replace(const std::string &part, const std::string &by) {
    size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    if (at != std::string::npos)
      text.replace(at, part.size(), by);
    return *this;
  }

  static std::string registers(const char *name, unsigned count) {
    std::string list = "{";
    for (unsigned i = 0; i < count; ++i)
      list += (i ? "," : "") + std::string(name) + std::to_string(i);
    return list + "}";
  }

  ProductKernel() {
    text = R"(
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .align 64 .b8 mapA[128], .param .align 64 .b8 mapB[128],
                  .param .align 64 .b8 mapC[128], .param .u32 steps) .reqntid 384, 1, 1
{
  .reg .pred %p<16>; .reg .b32 %r<64>, %h<4>; .reg .f32 %d<32>; .reg .b64 %q<16>;
  mov.b64 %q0, mapA; cvta.param.u64 %q1, %q0; mov.b64 %q0, mapB; cvta.param.u64 %q2, %q0;
  mov.b64 %q0, mapC; cvta.param.u64 %q3, %q0; ld.param.u32 %r0, [steps];
  mov.u32 %r1, %tid.x; mov.u32 %r2, smem; shr.u32 %r3, %r1, 7; and.b32 %r4, %r1, 127;
  mov.u32 %r5, %ctaid.x; shl.b32 %r5, %r5, 7; mov.u32 %r6, %ctaid.y; shl.b32 %r6, %r6, 6;
  setp.ne.u32 %p0, %r1, 0; @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [smem+65536], 1; mbarrier.init.shared::cta.b64 [smem+65544], 1;
  mbarrier.init.shared::cta.b64 [smem+65552], 2; mbarrier.init.shared::cta.b64 [smem+65560], 2;
  fence.mbarrier_init.release.cluster;
READY: bar.sync 0;
  setp.ne.u32 %p1, %r3, 0; @%p1 bra CONSUMER;
  setmaxnreg.dec.sync.aligned.u32 40;
  setp.ge.u32 %p2, %r1, 32; @%p2 bra DONE; elect.sync %r7|%p3, 0xffffffff; @!%p3 bra DONE;
  mov.u32 %r8, 0;
LOAD: setp.ge.u32 %p4, %r8, %r0; @%p4 bra DONE;
  and.b32 %r9, %r8, 1; bfe.u32 %r10, %r8, 1, 1; xor.b32 %r10, %r10, 1;
  mad.lo.u32 %r11, %r9, 8, %r2; add.u32 %r12, %r11, 65552; add.u32 %r11, %r11, 65536;
EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r12], %r10; @!%p5 bra EMPTY;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 24576;
  mad.lo.u32 %r13, %r9, 16384, %r2; mad.lo.u32 %r14, %r9, 8192, %r2; add.u32 %r14, %r14, 32768;
  shl.b32 %r15, %r8, 6;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r13], [%q1, {%r15, %r5}], [%r11];
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r14], [%q2, {%r15, %r6}], [%r11];
  add.u32 %r8, %r8, 1; bra LOAD;
CONSUMER:
  setmaxnreg.inc.sync.aligned.u32 232;
  add.u32 %r16, %r3, -1; mov.u32 %r8, 0; setp.eq.u32 %p6, %r4, 0;
STEP:
  and.b32 %r9, %r8, 1; bfe.u32 %r10, %r8, 1, 1;
  mad.lo.u32 %r11, %r9, 8, %r2; add.u32 %r12, %r11, 65552; add.u32 %r11, %r11, 65536;
FULL: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r11], %r10, 10000000; @!%p5 bra FULL;
  mad.lo.u32 %r13, %r9, 16384, %r2; mad.lo.u32 %r13, %r16, 8192, %r13;
  mad.lo.u32 %r14, %r9, 8192, %r2; add.u32 %r14, %r14, 32768;
  shr.u32 %r13, %r13, 4; shr.u32 %r14, %r14, 4; cvt.u64.u32 %q4, %r13; cvt.u64.u32 %q5, %r14;
  or.b64 %q4, %q4, 0x4000004000010000; or.b64 %q5, %q5, 0x4000004000010000;
  wgmma.fence.sync.aligned;
)";
    for (unsigned k = 0; k < 4; ++k)
      text += std::string(k ? "  add.s64 %q4, %q4, 2; add.s64 %q5, %q5, 2; setp.eq.u32 %p7, 0, 0;\n"
                            : "  setp.ne.u32 %p7, %r8, 0;\n") +
              "  wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " + registers("%d", 32) +
              ", %q4, %q5, %p7, 1, 1, 0, 0;\n";
    text += R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  @%p6 mbarrier.arrive.shared::cta.b64 _, [%r12];
  add.u32 %r8, %r8, 1; setp.lt.u32 %p4, %r8, %r0; @%p4 bra STEP;
  // Row 16 * warp + lane / 4 of the half that is this warpgroup's; columns 2 * (lane % 4) + 8 * j.
  shr.u32 %r20, %r4, 5; and.b32 %r21, %r1, 31; shr.u32 %r22, %r21, 2; mad.lo.u32 %r22, %r20, 16, %r22;
  and.b32 %r23, %r21, 3; shl.b32 %r23, %r23, 2; mad.lo.u32 %r24, %r16, 8192, %r2; add.u32 %r24, %r24, 49152;
  mad.lo.u32 %r25, %r22, 128, %r24; and.b32 %r26, %r22, 7; shl.b32 %r26, %r26, 4;
)";
    for (unsigned j = 0; j < 8; ++j)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned first = 4 * j + 2 * half;
        text += "  cvt.rn.bf16x2.f32 %h0, %d" + std::to_string(first + 1) + ", %d" +
                std::to_string(first) + "; xor.b32 %r27, %r26, " + std::to_string(16 * j) +
                "; add.u32 %r27, %r27, %r23; add.u32 %r27, %r27, %r25; st.shared.b32 [%r27+" +
                std::to_string(1024 * half) + "], %h0;\n";
      }
    text += R"(
  fence.proxy.async.shared::cta;
  bar.sync %r3, 128;
  @!%p6 bra DONE;
  mad.lo.u32 %r28, %r16, 64, %r5;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%q3, {%r6, %r28}], [%r24];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE: ret;
}
)";
  }

  std::string text;
};

class HopperTest : public PtxTest {
protected:
  HopperTest() { reset(hopper()); }

  static Options hopper() {
    Options options;
    options.arch = Arch::SM90a;
    options.hostThreads = 2;
    return options;
  }

  static float element(uint32_t i) { return static_cast<float>(static_cast<int>(i * 37 % 15) - 7); }
  static uint16_t bfloat(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return static_cast<uint16_t>(bits >> 16);
  }
  static float fromBfloat(uint16_t bits) {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }

  static constexpr unsigned kM = 256, kN = 128, kK = 256;
  static constexpr unsigned kShared = 65568;

  /// Multiplies small integers; the result is in d.
  LaunchResult multiply(const ProductKernel &kernel) {
    load(kernel.text, "sm_90a");
    if (!module)
      return {};
    for (unsigned i = 0; i < kM * kK; ++i)
      a[i] = bfloat(element(i));
    for (unsigned i = 0; i < kN * kK; ++i)
      b[i] = bfloat(element(i * 7 + 3));
    d.fill(0xffff);
    auto map = [&](auto &data, bool initialised) {
      simulator->memory().registerRange(reinterpret_cast<uint64_t>(data.data()),
                                        data.size() * sizeof(data[0]), "matrix", initialised);
    };
    map(a, true);
    map(b, true);
    map(d, false);
    struct alignas(64) {
      EncodedTensorMap a, b, d;
      uint32_t steps;
    } params = {matrixMap(a.data(), kK, kM, 64, 128), matrixMap(b.data(), kK, kN, 64, 64),
                matrixMap(d.data(), kN, kM, 64, 64), kK / 64};
    LaunchConfig config;
    config.grid = {kM / 128, kN / 64, 1};
    config.block = {384, 1, 1};
    config.dynamicSharedBytes = kShared;
    config.params = &params;
    config.paramBytes = sizeof(params);
    LaunchResult result = simulator->launch(*module->findKernel("k"), config);
    for (auto *data : {&a[0], &b[0], &d[0]})
      simulator->memory().unregisterRange(reinterpret_cast<uint64_t>(data));
    return result;
  }

  /// Elements of d that differ from the product; the sums are exact in f32, and are
  /// rounded once.
  unsigned wrongElements() const {
    unsigned wrong = 0;
    for (unsigned m = 0; m < kM; ++m)
      for (unsigned n = 0; n < kN; ++n) {
        float sum = 0;
        for (unsigned k = 0; k < kK; ++k)
          sum += fromBfloat(a[m * kK + k]) * fromBfloat(b[n * kK + k]);
        float got = fromBfloat(d[m * kN + n]);
        wrong += !(std::fabs(got - sum) <= std::fabs(sum) / 256);
      }
    return wrong;
  }

  alignas(128) std::array<uint16_t, kM * kK> a;
  alignas(128) std::array<uint16_t, kN * kK> b;
  alignas(128) std::array<uint16_t, kM * kN> d;
};

} // namespace xc::ptxsim

#endif // XC_TEST_PTXSIM_HOPPERFIXTURE_H
