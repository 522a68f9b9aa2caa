//===- MatrixTest.cpp - Tensor-core kernels and asynchronous copies -------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace xc::ptxsim;

namespace {

/// C[16][8] = A[16][K] * B[8][K]^T by one warp, in steps of 16 through shared
/// memory: cp.async, ldmatrix, mma. The parameters are A, B, C and K.
std::string tileKernel(const std::string &barrierAtEnd) {
  return R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 size)
{
  .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>;
  .shared .align 16 .b8 sa[512];
  .shared .align 16 .b8 sb[256];
  ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c]; ld.param.u32 %r0, [size];
  mov.u32 %r1, %tid.x;
  // The 16 bytes that this lane copies: row lane / 2, half lane % 2.
  shr.u32 %r2, %r1, 1; and.b32 %r3, %r1, 1; shl.b32 %r3, %r3, 4;
  mul.lo.u32 %r4, %r2, %r0; shl.b32 %r4, %r4, 1; add.u32 %r4, %r4, %r3; cvt.u64.u32 %rd3, %r4;
  add.s64 %rd4, %rd0, %rd3; add.s64 %rd5, %rd1, %rd3;
  shl.b32 %r5, %r1, 4; mov.u32 %r6, sa; add.u32 %r7, %r6, %r5; mov.u32 %r8, sb; add.u32 %r9, %r8, %r5;
  setp.lt.u32 %p0, %r1, 16;
  // The rows that this lane names to ldmatrix.
  and.b32 %r10, %r1, 7; shr.u32 %r11, %r1, 3; and.b32 %r12, %r11, 1; shr.u32 %r13, %r11, 1;
  mad.lo.u32 %r14, %r12, 8, %r10; shl.b32 %r14, %r14, 5; mad.lo.u32 %r14, %r13, 16, %r14; add.u32 %r14, %r14, %r6;
  shl.b32 %r15, %r10, 5; mad.lo.u32 %r15, %r12, 16, %r15; add.u32 %r15, %r15, %r8;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mov.u32 %r16, 0;
LOOP:
  cp.async.cg.shared.global [%r7], [%rd4], 16;
  @%p0 cp.async.ca.shared.global [%r9], [%rd5], 16;
  cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r14];
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r24, %r25}, [%r15];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r20, %r21, %r22, %r23},
      {%r24, %r25}, {%f0, %f1, %f2, %f3};
  )" + barrierAtEnd +
         R"(
  add.s64 %rd4, %rd4, 32; add.s64 %rd5, %rd5, 32; add.u32 %r16, %r16, 16;
  setp.lt.u32 %p1, %r16, %r0; @%p1 bra LOOP;
  shr.u32 %r26, %r1, 2; and.b32 %r27, %r1, 3; mad.lo.u32 %r28, %r26, 4, %r27; mul.wide.u32 %rd6, %r28, 8;
  add.s64 %rd6, %rd6, %rd2;
  st.global.v2.f32 [%rd6], {%f0, %f1}; st.global.v2.f32 [%rd6+256], {%f2, %f3};
  ret;
}
)";
}

class Matrix : public PtxTest {
protected:
  static constexpr unsigned kK = 64;

  /// Multiples of 1/8 are exact in f16, and so are their products' sums in f32.
  static float element(unsigned i) {
    return static_cast<float>(static_cast<int>(i * 37 % 31) - 15) / 8;
  }
  static uint16_t half(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (value == 0)
      return 0;
    return static_cast<uint16_t>((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) |
                                 (bits >> 13 & 0x3ff));
  }

  LaunchResult multiply(const std::string &barrierAtEnd) {
    load(tileKernel(barrierAtEnd));
    // Aligned for copies of 16 bytes.
    alignas(16) static uint16_t a[16 * kK], b[8 * kK];
    for (unsigned i = 0; i < 16 * kK; ++i)
      a[i] = half(element(i));
    for (unsigned i = 0; i < 8 * kK; ++i)
      b[i] = half(element(i + 7));
    Memory &memory = simulator->memory();
    memory.registerRange(reinterpret_cast<uint64_t>(a), sizeof(a), "a", true);
    memory.registerRange(reinterpret_cast<uint64_t>(b), sizeof(b), "b", true);
    c.assign(16 * 8, 0);
    map(c, false);
    LaunchResult result =
        launch(Params().add(&a[0]).add(&b[0]).add(c).add(uint32_t(kK)), {}, {32, 1, 1});
    return result;
  }
  std::vector<float> c;
};

TEST_F(Matrix, TileProductIsExactOnSmallValues) {
  LaunchResult result = multiply("bar.sync 0;");
  ASSERT_TRUE(result.ok()) << result.fault.str();
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 8; ++j) {
      double sum = 0;
      for (unsigned k = 0; k < kK; ++k)
        sum += double(element(i * kK + k)) * element(j * kK + k + 7);
      EXPECT_EQ(c[i * 8 + j], static_cast<float>(sum)) << i << "," << j;
    }
  EXPECT_EQ(result.counters.matrix, 3u * 32 * kK / 16);
}

TEST_F(Matrix, OverwritingATileInUseIsARace) {
  EXPECT_EQ(multiply("").fault.kind, FaultKind::Race);
}

TEST_F(Matrix, WholeWarpsOnly) {
  load(kernel("  setp.lt.u32 %p0, %t, 32; mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
              "  mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r3, %r4}, {%r0, %r1}, {%r2}, "
              "{%r0, %r1};"));
  std::vector<uint32_t> buffer(1);
  map(buffer);
  EXPECT_TRUE(launch(Params().add(buffer), {}, {32, 1, 1}).ok());
  LaunchResult result = launch(Params().add(buffer), {}, {20, 1, 1});
  EXPECT_EQ(result.fault.kind, FaultKind::IllegalInstruction);
  EXPECT_NE(result.fault.message.find("expected all 32 lanes"), std::string::npos);
}

TEST_F(Matrix, UnknownShapesAreRefused) {
  ParseError error;
  std::string text =
      kernel("  mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
             "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};");
  EXPECT_EQ(tryLoad(head("sm_80") + text, error), nullptr);
  EXPECT_NE(error.message.find("unsupported combination of shape and types"), std::string::npos)
      << error.str();
}

TEST_F(Matrix, ConflictFreeAndConflictingTilesAreTold) {
  // Rows of 16 bytes one after another use all banks once; rows 128 bytes apart
  // all start in bank 0.
  auto conflicts = [&](unsigned stride) {
    load(kernel("  .shared .align 16 .b8 s[1024]; mov.u32 %r0, s; and.b32 %r1, %t, 7;\n"
                "  mad.lo.u32 %r3, %r1, " +
                std::to_string(stride) +
                ", %r0; mov.u32 %r2, 0;\n"
                "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];"));
    std::vector<uint32_t> buffer(1);
    map(buffer);
    LaunchResult result = launch(Params().add(buffer), {}, {32, 1, 1});
    unmap(buffer);
    EXPECT_TRUE(result.ok()) << result.fault.str();
    return result.counters.sharedBankConflicts;
  };
  Options options;
  options.checks.uninitialised = false;
  reset(options);
  EXPECT_EQ(conflicts(16), 0u);
  EXPECT_EQ(conflicts(128), 7u);
}

} // namespace
