//===- RaceTest.cpp - What the race check remembers of each byte ----------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <numeric>

using namespace xc::ptxsim;

namespace {

class Races : public PtxTest {
protected:
  Races() {
    // What is read too early has often not been written at all.
    Options options;
    options.checks.uninitialised = false;
    reset(options);
  }

  /// Runs a kernel(pointer) on a buffer of distinct values.
  FaultKind run(const std::string &body, Dim3 grid, Dim3 block) {
    load(kernel(body));
    buffer.resize(4096);
    std::iota(buffer.begin(), buffer.end(), 1u);
    simulator->memory().unregisterRange(reinterpret_cast<uint64_t>(buffer.data()));
    map(buffer);
    result = launch(Params().add(buffer), grid, block);
    return result.fault.kind;
  }
  std::vector<uint32_t> buffer;
  LaunchResult result;
};

/// A tree that sums 256 values in shared memory. |barrier| follows each level, |last|
/// the read of the sum.
std::string tree(const char *barrier, const char *last = "") {
  return std::string(
             ".shared .align 4 .b8 s[1024]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
             "mul.wide.u32 %rd0, %t, 4; add.s64 %rd0, %rd0, %o; ld.global.u32 %r2, [%rd0];\n"
             "st.shared.u32 [%r1], %r2; bar.sync 0; mov.u32 %r3, 128;\n"
             "L: setp.lt.u32 %p0, %t, %r3; mad.lo.u32 %r4, %r3, 4, %r1;\n"
             "@%p0 ld.shared.u32 %r5, [%r4]; @%p0 ld.shared.u32 %r6, [%r1];\n"
             "add.u32 %r5, %r5, %r6; @%p0 st.shared.u32 [%r1], %r5;\n") +
         barrier + "\nshr.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;\n" +
         "ld.shared.u32 %r7, [s]; add.u32 %r7, %r7, 1; " + last + " st.shared.u32 [%r1], %r7;";
}

TEST_F(Races, TreesNeedTheirBarriers) {
  EXPECT_EQ(FaultKind::None, run(tree("bar.sync 0;", "bar.sync 0;"), {1}, {256}))
      << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(tree("", "bar.sync 0;"), {1}, {256}));
}

TEST_F(Races, ReadOnlyLoadsMustNotReadWhatTheKernelWrites) {
  const std::string store = "mul.wide.u32 %rd0, %t, 4; add.s64 %rd0, %rd0, %o;\n"
                            "mov.u32 %r0, 7; st.global.u32 [%rd0], %r0; bar.sync 0;\n";
  // What the thread itself wrote, and in order; what nobody wrote; a coherent load.
  EXPECT_EQ(FaultKind::Race, run(store + "ld.global.nc.u32 %r1, [%rd0];", {1}, {32}));
  EXPECT_NE(result.fault.message.find("with .nc may miss the write by thread (0,0,0) of block"),
            std::string::npos)
      << result.fault.str();
  EXPECT_EQ(FaultKind::None, run(store + "ld.global.nc.u32 %r1, [%rd0+256];", {1}, {64}))
      << result.fault.str();
  EXPECT_EQ(FaultKind::None, run(store + "ld.global.u32 %r1, [%rd0];", {1}, {64}))
      << result.fault.str();
  // Nor what another launch wrote counts.
  EXPECT_EQ(FaultKind::None, run("ld.global.nc.u32 %r1, [%o];", {1}, {64})) << result.fault.str();
}

TEST_F(Races, AllReadersOfAWordCount) {
  // All have read s[0] when thread 0 writes it, the last one being thread 0 itself, or one of its
  // warp.
  EXPECT_EQ(FaultKind::Race, run(tree("bar.sync 0;"), {1}, {256}));
}

/// Threads of two warps read a word, then thread 0 writes it behind a barrier of its own warp and
/// perhaps of the other.
std::string twoReaders(const char *barrier) {
  return std::string(
             ".shared .align 4 .b8 s[4]; setp.eq.u32 %p0, %t, 0; mov.u32 %r0, 5; mov.u32 %r2, 6;\n"
             "@%p0 st.shared.u32 [s], %r0; bar.sync 0; shr.u32 %r3, %t, 5; setp.eq.u32 %p1, %r3, "
             "1;\n"
             "@%p1 ld.shared.u32 %r1, [s]; bar.sync 1, 64; @!%p1 ld.shared.u32 %r1, [s];\n") +
         barrier + " @%p0 st.shared.u32 [s], %r2;";
}

TEST_F(Races, ReadersThatAreOrderedNeedNotBeKept) {
  // Warp 1 reads before a barrier, warp 0 after it; thread 0 writes.
  EXPECT_EQ(FaultKind::None, run(twoReaders("bar.warp.sync -1;"), {1}, {64})) << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(twoReaders(""), {1}, {64}));
}

TEST_F(Races, BytesOfAWordAreApart) {
  // Each thread has a byte, or a half, of a word; nothing orders them, nothing need.
  for (const char *width : {"u8", "u16", "u32"}) {
    unsigned bytes = width[1] == '8' ? 1 : width[1] == '1' ? 2 : 4;
    std::string reg = bytes == 4 ? "%r2" : "%h0";
    std::string own = ".shared .align 4 .b8 s[1024]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, " +
                      std::to_string(bytes) +
                      ", %r0; mov.u32 %r2, %t; cvt.u16.u32 %h0, %t; mul.wide.u32 %rd0, %t, " +
                      std::to_string(bytes) + "; add.s64 %rd0, %rd0, %o; st.shared." + width +
                      " [%r1], " + reg + "; ld.shared." + width + " " + reg +
                      ", [%r1]; st.global." + width + " [%rd0], " + reg + "; ld.global." + width +
                      " " + reg + ", [%rd0];\n";
    EXPECT_EQ(FaultKind::None, run(own, {1}, {128})) << width << result.fault.str();
    // Then each reads, or writes, what its neighbour has: the other one of the pair, or the last of
    // four.
    for (const char *with : {"1", "3", "32"})
      for (const char *space : {"shared", "global"}) {
        bool isShared = space[0] == 's';
        std::string next = std::string("xor.b32 %r3, %t, ") + with + "; mad.lo.u32 %r4, %r3, " +
                           std::to_string(bytes) + ", %r0; mul.wide.u32 %rd1, %r3, " +
                           std::to_string(bytes) + "; add.s64 %rd1, %rd1, %o;\n";
        std::string at = isShared ? " [%r4]" : " [%rd1]";
        EXPECT_EQ(
            FaultKind::Race,
            run(own + next + "ld." + space + "." + width + " " + reg + "," + at + ";", {1}, {128}))
            << width << " " << with << " " << space;
        EXPECT_EQ(FaultKind::Race,
                  run(own + next + "st." + space + "." + width + at + ", " + reg + ";", {1}, {128}))
            << width << " " << with << " " << space;
        EXPECT_EQ(FaultKind::None,
                  run(own + next + "bar.sync 0; ld." + space + "." + width + " " + reg + "," + at +
                          "; bar.sync 0; st." + space + "." + width + at + ", " + reg + ";",
                      {1}, {128}))
            << width << " " << with << " " << space << result.fault.str();
      }
  }
}

TEST_F(Races, AWordOverHalvesOfOthers) {
  // Threads write halves; then each of half as many reads both halves as one word.
  std::string halves = ".shared .align 4 .b8 s[1024]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 2, %r0;\n"
                       "cvt.u16.u32 %h0, %t; st.shared.u16 [%r1], %h0; BARRIER\n"
                       "shr.u32 %r2, %t, 1; mad.lo.u32 %r3, %r2, 4, %r0; ld.shared.u32 %r4, [%r3];";
  std::string with = halves, without = halves;
  with.replace(with.find("BARRIER"), 7, "bar.sync 0;");
  without.replace(without.find("BARRIER"), 7, "");
  EXPECT_EQ(FaultKind::None, run(with, {1}, {128})) << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(without, {1}, {128}));
}

TEST_F(Races, ReadersOfSeveralBlocks) {
  // Blocks 1 and up read word 0 in the order of their numbers; then the last one writes it. It has
  // read it, too.
  std::string body =
      "ld.global.u32 %r0, [%o]; add.u32 %r0, %r0, 1; setp.eq.u32 %p0, %b, 7;\n"
      "setp.eq.u32 %p1, %t, 0; and.pred %p0, %p0, %p1; @%p0 st.global.u32 [%o], %r0;";
  EXPECT_EQ(FaultKind::Race, run(body, {8}, {1}));
  EXPECT_NE(std::string::npos, result.fault.message.find("read by")) << result.fault.str();
}

TEST_F(Races, ManyReadersAreNoRace) {
  EXPECT_EQ(FaultKind::None,
            run("ld.global.u32 %r0, [%o]; ld.global.u8 %r1, [%o+1]; ld.global.u16 %r2, [%o+2];\n"
                "mad.lo.u32 %r3, %b, 128, %t; add.u32 %r3, %r3, 16; mul.wide.u32 %rd0, %r3, 4;\n"
                "add.s64 %rd0, %rd0, %o; st.global.u32 [%rd0], %r0;",
                {16}, {128}))
      << result.fault.str();
}

TEST_F(Races, StoresOfWhatIsThereAreWrites) {
  // All is zero: a store that changes nothing is still one that others may not read too early,
  // whichever of the two comes first.
  std::string zeros = ".shared .align 4 .b8 s[1024]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;\n"
                      "st.shared.u32 [%r1], 0; bar.sync 0; st.shared.u32 [%r1], 0; BARRIER\n"
                      "xor.b32 %r2, %t, 32; mad.lo.u32 %r2, %r2, 4, %r0; ld.shared.u32 %r3, [%r2];";
  auto with = [&](const std::string &barrier) {
    std::string text = zeros;
    return text.replace(text.find("BARRIER"), 7, barrier);
  };
  EXPECT_EQ(FaultKind::None, run(with("bar.sync 0;"), {1}, {64})) << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(with(""), {1}, {64}));
  std::string after = "xor.b32 %r9, %t, 32; ld.global.u32 %r2, [%o]; setp.eq.u32 %p0, %r9, 0;\n"
                      "BARRIER @%p0 st.global.u32 [%o], 1;";
  std::string ordered = after;
  ordered.replace(ordered.find("BARRIER"), 7, "bar.sync 0;");
  after.replace(after.find("BARRIER"), 7, "");
  EXPECT_EQ(FaultKind::None, run(ordered, {1}, {64})) << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(after, {1}, {64}));
}

TEST_F(Races, OneValueFromSeveralIsNone) {
  // Threads and blocks write one value; each is remembered until somebody ordered writes.
  std::string same = ".shared .align 4 .b8 s[4]; st.shared.u32 [s], 5; st.global.u32 [%o+64], 5;\n"
                     "st.global.u8 [%o+1], 9; st.global.u16 [%o+2], 9;";
  EXPECT_EQ(FaultKind::None, run(same, {8}, {128})) << result.fault.str();
  EXPECT_EQ(FaultKind::None, run(same + "bar.sync 0; ld.shared.u32 %r0, [s]; bar.sync 0;\n"
                                        "st.shared.u32 [s], %t;\n",
                                 {1}, {1}))
      << result.fault.str();
  // Another value, from a thread that is ordered after some of them only.
  std::string other = ".shared .align 4 .b8 s[4]; st.shared.u32 [s], 5; setp.lt.u32 %p0, %t, 64;\n"
                      "@!%p0 bra END; bar.sync 1, 64; setp.eq.u32 %p1, %t, 0;\n"
                      "@%p1 st.shared.u32 [s], 6; END:";
  EXPECT_EQ(FaultKind::None, run(other, {1}, {64})) << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(other, {1}, {96}));
  EXPECT_EQ(FaultKind::Race, run(same + "st.global.u32 [%o+64], %b;", {8}, {32}));
}

TEST_F(Races, OneValueFromBlocksInParallel) {
  // Whether the values are equal is decided under a lock: never a report, however threads of the
  // host interleave.
  Options options;
  options.hostThreads = 4;
  reset(options);
  std::string body = "and.b32 %r0, %t, 7; mul.wide.u32 %rd0, %r0, 4; add.s64 %rd0, %rd0, %o;\n"
                     "add.u32 %r1, %r0, 77; st.global.u32 [%rd0], %r1;";
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(FaultKind::None, run(body, {64}, {64})) << result.fault.str();
}

TEST_F(Races, StrongAccessesHideNoWeakOnes) {
  // Block 0 writes, or reads, weakly and then strongly; the atomic of block 1 races with the first.
  for (const char *first : {"st.global.u32 [%o], 1000;", "ld.global.u32 %r1, [%o];"})
    for (const char *second :
         {"st.volatile.global.u32 [%o], 1000;", "atom.global.add.u32 %r2, [%o], 1;"}) {
      std::string body = std::string("setp.ne.u32 %p0, %b, 0; @%p0 bra OTHER; ") + first + second +
                         " bra END; OTHER: atom.global.add.u32 %r3, [%o], 1; END:";
      Options options;
      options.hostThreads = 1;
      reset(options);
      EXPECT_EQ(FaultKind::Race, run(body, {2}, {1})) << first << second;
      // Without the weak one there is none.
      body.replace(body.find(first), std::string(first).size(), "");
      EXPECT_EQ(FaultKind::None, run(body, {2}, {1})) << first << second << result.fault.str();
    }
  // Within a block a barrier settles it.
  EXPECT_EQ(FaultKind::None,
            run(".shared .align 4 .b8 s[4]; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0;\n"
                "bar.sync 0; atom.shared.add.u32 %r0, [s], 1; bar.sync 0; ld.shared.u32 %r1, [s];",
                {1}, {128}))
      << result.fault.str();
  EXPECT_EQ(FaultKind::Race,
            run(".shared .align 4 .b8 s[4]; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0;\n"
                "@%p0 atom.shared.add.u32 %r0, [s], 1; @!%p0 atom.shared.add.u32 %r0, [s], 1;",
                {1}, {128}));
}

TEST_F(Races, ClusterScopeReachesTheClusterOnly) {
  // Block 0 writes and signals; block 1 takes the signal and reads.
  auto body = [](const std::string &release, const std::string &acquire) {
    return "setp.ne.u32 %p0, %b, 0; @%p0 bra TAKE; st.global.b32 [%o+16], 42;\n" + release +
           "\nbra END; TAKE: " + acquire +
           "\nsetp.ne.u32 %p1, %r0, 4711; @%p1 bra TAKE; ld.global.b32 %r1, [%o+16]; END:";
  };
  auto release = [](const std::string &scope) {
    return "st.release." + scope + ".global.b32 [%o], 4711;";
  };
  auto acquire = [](const std::string &scope) {
    return "ld.acquire." + scope + ".global.b32 %r0, [%o];";
  };
  auto fenced = [&](const std::string &scope, const std::string &strong) {
    return body("fence.acq_rel." + scope + "; st.relaxed." + strong + ".global.b32 [%o], 4711;",
                "ld.relaxed." + strong + ".global.b32 %r0, [%o]; fence.acq_rel." + scope + ";");
  };
  auto runs = [&](const std::string &text, uint32_t cluster) {
    Options options;
    options.arch = Arch::SM90a;
    options.checks.uninitialised = false;
    reset(options);
    load(kernel(text), "sm_90a");
    buffer.assign(64, 0);
    map(buffer);
    const Kernel *found = module->findKernel("k");
    Params params = Params().add(buffer);
    LaunchConfig config;
    config.grid = {2, 1, 1};
    config.cluster = {cluster, 1, 1};
    config.params = params.bytes.data();
    config.paramBytes = params.bytes.size();
    result = simulator->launch(*found, config);
    return result.fault.kind;
  };
  for (uint32_t cluster : {1u, 2u}) {
    FaultKind within = cluster == 2 ? FaultKind::None : FaultKind::Race;
    EXPECT_EQ(FaultKind::None, runs(body(release("gpu"), acquire("gpu")), cluster))
        << result.fault.str();
    EXPECT_EQ(within, runs(body(release("cluster"), acquire("cluster")), cluster))
        << result.fault.str();
    EXPECT_EQ(within, runs(body(release("gpu"), acquire("cluster")), cluster))
        << result.fault.str();
    EXPECT_EQ(FaultKind::Race, runs(body(release("cta"), acquire("gpu")), cluster));
    EXPECT_EQ(FaultKind::None, runs(fenced("gpu", "gpu"), cluster)) << result.fault.str();
    EXPECT_EQ(within, runs(fenced("cluster", "gpu"), cluster)) << result.fault.str();
    EXPECT_EQ(within, runs(fenced("gpu", "cluster"), cluster)) << result.fault.str();
    EXPECT_EQ(FaultKind::Race, runs(fenced("cta", "gpu"), cluster));
  }
}

TEST_F(Races, NarrowScopesPassOnWhatWiderOnesBrought) {
  // Block 0 signals to thread 0 of block 1, which tells thread 32 by operations of block scope.
  std::string body =
      "setp.ne.u32 %p0, %b, 0; @%p0 bra SECOND; setp.ne.u32 %p1, %t, 0; @%p1 bra END;\n"
      "st.global.b32 [%o+64], 42; st.release.gpu.global.b32 [%o], 4711; bra END;\n"
      "SECOND: setp.eq.u32 %p1, %t, 32; @%p1 bra THIRD; setp.ne.u32 %p1, %t, 0; @%p1 bra END;\n"
      "WAIT: ld.acquire.gpu.global.b32 %r0, [%o]; setp.ne.u32 %p2, %r0, 4711; @%p2 bra WAIT;\n"
      "PASS; bra END;\n"
      "THIRD: ld.acquire.cta.global.b32 %r1, [%o+32]; setp.ne.u32 %p2, %r1, 4712;\n"
      "@%p2 bra THIRD; ld.global.b32 %r2, [%o+64]; END:";
  auto with = [&](const std::string &pass) {
    std::string text = body;
    return text.replace(text.find("PASS"), 4, pass);
  };
  EXPECT_EQ(FaultKind::None, run(with("st.release.cta.global.b32 [%o+32], 4712"), {2}, {64}))
      << result.fault.str();
  EXPECT_EQ(FaultKind::None, run(with("st.release.gpu.global.b32 [%o+32], 4712"), {2}, {64}))
      << result.fault.str();
  EXPECT_EQ(FaultKind::None,
            run(with("fence.acq_rel.gpu; st.relaxed.cta.global.b32 [%o+32], 4712"), {2}, {64}))
      << result.fault.str();
  EXPECT_EQ(FaultKind::Race, run(with("st.relaxed.cta.global.b32 [%o+32], 4712"), {2}, {64}));
}

TEST_F(Races, ShadowStaysSmall) {
  // A long loop over shared memory in which all words change hands: what is no longer in any cell
  // is swept out.
  std::string body =
      ".shared .align 4 .b8 s[4096]; mov.u32 %r0, s; mov.u32 %r2, 0;\n"
      "L: add.u32 %r3, %t, %r2; and.b32 %r3, %r3, 1023; mad.lo.u32 %r1, %r3, 4, %r0;\n"
      "st.shared.u32 [%r1], %r2; bar.sync 0; xor.b32 %r4, %r3, 37; mad.lo.u32 %r4, %r4, 4, %r0;\n"
      "ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r1]; bar.sync 0;\n"
      "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 200; @%p0 bra L;";
  EXPECT_EQ(FaultKind::None, run(body, {1}, {1024})) << result.fault.str();
  EXPECT_EQ(4096u, result.counters.sharedRaceOf);
  EXPECT_LT(result.counters.sharedRaceBytes, 64u << 10);
}

} // namespace
