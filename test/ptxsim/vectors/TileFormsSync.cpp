//===- TileFormsSync.cpp - mbarrier and cluster forms ---------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scripts of one thread over an mbarrier, whose answers (predicates and counts of
// pending arrivals) are the output; and what blocks of a cluster see of each other.
//
//===----------------------------------------------------------------------===//

#include "TileForms.h"

namespace xc::vectors {
namespace {

const char *const kHead =
    ".version 8.0\n.target sm_90a\n.address_size 64\n\n"
    ".visible .entry form(.param .u64 in, .param .u64 out)\n{\n"
    "  .shared .align 16 .b8 buf[256];\n  .shared .align 8 .b64 bar;\n  .reg .pred %p<4>;\n"
    "  .reg .b32 %r<16>, %v;\n  .reg .b64 %in, %out, %q<8>;\n  ld.param.u64 %in, [in];\n"
    "  ld.param.u64 %out, [out];\n  mov.u32 %r0, %tid.x;\n";

/// Writes a script: each answer goes to the next word of the output.
struct Script {
  std::string text = kHead;
  unsigned answers = 0;

  Script &run(const std::string &instructions) {
    text += "  " + instructions + "\n";
    return *this;
  }
  Script &answer(const std::string &value) {
    text += "  st.global.b32 [%out+" + std::to_string(4 * answers++) + "], " + value + ";\n";
    return *this;
  }
  Script &pending(const std::string &state) {
    return run("mbarrier.pending_count.b64 %v, " + state + ";").answer("%v");
  }
  /// Whether the phase of |state| (a register) or of a parity has completed.
  Script &test(const std::string &form, const std::string &operand) {
    return run("mbarrier." + form + ".shared::cta.b64 %p0, [bar], " + operand +
               "; selp.u32 %v, 1, 0, %p0;")
        .answer("%v");
  }
  Script &parities() { return test("test_wait.parity", "0").test("test_wait.parity", "1"); }

  void finish(std::vector<TileForm> &forms, const std::string &name) {
    TileForm form;
    form.name = name;
    form.text = text + "  ret;\n}\n";
    form.input.assign(256, 0);
    form.initialOutput.assign(4 * answers, 0xff);
    form.threads = 1;
    forms.push_back(form);
  }
};

void addBarriers(std::vector<TileForm> &forms) {
  Script()
      .run("mbarrier.init.shared::cta.b64 [bar], 3;")
      .parities()
      .run("mbarrier.arrive.shared::cta.b64 %q0, [bar];")
      .pending("%q0")
      .test("test_wait", "%q0")
      .run("mbarrier.arrive.shared::cta.b64 %q1, [bar];")
      .pending("%q1")
      .parities()
      .run("mbarrier.arrive.shared::cta.b64 %q2, [bar];")
      .pending("%q2")
      .test("test_wait", "%q0")
      .test("try_wait", "%q2")
      .parities()
      .run("mbarrier.arrive.shared::cta.b64 %q3, [bar];")
      .pending("%q3")
      .test("test_wait", "%q2")
      .test("test_wait", "%q3")
      .run("mbarrier.inval.shared::cta.b64 [bar];")
      .finish(forms, "mbarrier arrive, test_wait, pending_count");
  Script()
      .run("mbarrier.init.shared::cta.b64 [bar], 7;")
      .run("mbarrier.arrive.shared::cta.b64 %q0, [bar], 3;")
      .pending("%q0")
      .run("mbarrier.arrive.noComplete.shared::cta.b64 %q1, [bar], 2;")
      .pending("%q1")
      .run("mbarrier.arrive.release.cta.shared::cta.b64 %q2, [bar], 2;")
      .pending("%q2")
      .parities()
      .run("mbarrier.arrive.release.cluster.shared::cta.b64 _, [bar], 7;")
      .parities()
      .test("try_wait.parity", "1")
      .test("try_wait.parity.acquire.cta", "1, 100")
      .finish(forms, "mbarrier arrive with counts");
  Script()
      .run("mbarrier.init.shared::cta.b64 [bar], 3;")
      .run("mbarrier.arrive_drop.shared::cta.b64 %q0, [bar];")
      .pending("%q0")
      .run("mbarrier.arrive.shared::cta.b64 %q1, [bar], 2;")
      .parities()
      .run("mbarrier.arrive.shared::cta.b64 %q2, [bar];")
      .pending("%q2")
      .run("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [bar];")
      .parities()
      .run("mbarrier.arrive.shared::cta.b64 %q3, [bar];")
      .pending("%q3")
      .parities()
      .finish(forms, "mbarrier arrive_drop");
  Script()
      .run("mbarrier.init.shared::cta.b64 [bar], 1;")
      .run("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64;")
      .run("mbarrier.arrive.shared::cta.b64 %q0, [bar];")
      .pending("%q0")
      .parities()
      .run("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;")
      .parities()
      .run("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;")
      .parities()
      .run("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 32;")
      .run("mbarrier.arrive.expect_tx.shared::cta.b64 %q1, [bar], 32;")
      .pending("%q1")
      .parities()
      .run("mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 0;")
      .parities()
      .finish(forms, "mbarrier expect_tx, complete_tx");
  Script()
      .run("mbarrier.init.shared::cta.b64 [bar], 2;")
      .run("mbarrier.arrive.shared::cta.b64 %q0, [bar];")
      .run("mov.u32 %r1, buf; st.shared.v4.b32 [%r1], {1, 2, 3, 4};")
      .run("cp.async.ca.shared.global [%r1], [%in], 16;")
      .run("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];")
      .run("WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0; @!%p0 bra WAIT;")
      .run("ld.shared.b32 %v, [%r1+4];")
      .answer("%v")
      .run("cp.async.ca.shared.global [%r1], [%in], 16;")
      .run("cp.async.mbarrier.arrive.shared::cta.b64 [bar];")
      .run("mbarrier.arrive.shared::cta.b64 %q1, [bar], 2;")
      .run("W2: mbarrier.try_wait.shared::cta.b64 %p0, [bar], %q1, 1000; @!%p0 bra W2;")
      .parities()
      .finish(forms, "cp.async.mbarrier.arrive");
}

/// Each block writes its rank to its neighbour, and reads what it was given.
void addClusters(std::vector<TileForm> &forms) {
  auto form = [&](const std::string &name, const std::string &body) {
    TileForm f;
    f.name = name;
    f.text = std::string(kHead) +
             "  mov.u32 %r1, %cluster_ctarank;\n  mov.u32 %r2, %cluster_nctarank;\n"
             "  add.u32 %r3, %r1, 1;\n  rem.u32 %r3, %r3, %r2;\n  mov.u32 %r4, buf;\n"
             "  mad.lo.u32 %r4, %r0, 4, %r4;\n  mov.u32 %r5, %ctaid.x;\n"
             "  mad.lo.u32 %r6, %r5, 32, %r0;\n  mul.wide.u32 %q0, %r6, 4;\n"
             "  add.s64 %out, %out, %q0;\n  st.shared.b32 [%r4], 77;\n"
             "  mad.lo.u32 %r7, %r5, 1000, %r0;\n"
             "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n  " +
             body +
             "\n  barrier.cluster.arrive.release.aligned;\n"
             "  barrier.cluster.wait.acquire.aligned;\n"
             "  ld.shared.b32 %v, [%r4];\n  st.global.b32 [%out], %v;\n  ret;\n}\n";
    f.input.assign(256, 0);
    f.threads = 32;
    f.blocks = 8;
    f.cluster = 4;
    f.initialOutput.assign(8 * 32 * 4, 0);
    forms.push_back(f);
  };
  form("mapa.shared::cluster.u32, st.shared::cluster",
       "mapa.shared::cluster.u32 %r8, %r4, %r3; st.shared::cluster.b32 [%r8], %r7;");
  form("mapa.u64, generic store",
       "cvt.u64.u32 %q1, %r4; cvta.shared.u64 %q1, %q1; mapa.u64 %q2, %q1, %r3; "
       "st.b32 [%q2], %r7;");
  form("mapa, ld.shared::cluster",
       "st.shared.b32 [%r4+128], %r7; barrier.cluster.arrive; barrier.cluster.wait; "
       "mapa.shared::cluster.u32 %r8, %r4, %r3; ld.shared::cluster.b32 %r9, [%r8+128]; "
       "st.shared.b32 [%r4], %r9;");
  form("mapa, atom.shared::cluster",
       "mapa.shared::cluster.u32 %r8, %r4, %r3; atom.shared::cluster.add.u32 %r9, [%r8], %r7; "
       "red.relaxed.cluster.shared::cluster.add.u32 [%r8], %r1;");
  form("getctarank",
       "mapa.shared::cluster.u32 %r8, %r4, %r3; getctarank.shared::cluster.u32 %r9, %r8; "
       "getctarank.shared::cluster.u32 %r10, %r4; mad.lo.u32 %r9, %r9, 100, %r10; "
       "st.shared.b32 [%r4], %r9;");
  form("cluster registers",
       "mov.u32 %r8, %clusterid.x; mov.u32 %r9, %nclusterid.x; mov.u32 %r10, %cluster_ctaid.x; "
       "mov.u32 %r11, %cluster_nctaid.x; mad.lo.u32 %r8, %r8, 10, %r9; mad.lo.u32 %r8, %r8, 10, "
       "%r10; mad.lo.u32 %r8, %r8, 10, %r11; mad.lo.u32 %r8, %r8, 10, %r1; mad.lo.u32 %r8, %r8, "
       "10, %r2; st.shared.b32 [%r4], %r8;");
  form("mbarrier.arrive.shared::cluster",
       "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 32; "
       "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; "
       "mov.u32 %r8, bar; mapa.shared::cluster.u32 %r9, %r8, %r3; "
       "mapa.shared::cluster.u32 %r10, %r4, %r3; st.shared::cluster.b32 [%r10], %r7; "
       "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9]; "
       "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; "
       "@!%p1 bra WAIT; ld.shared.b32 %r11, [%r4]; add.u32 %r11, %r11, 1; "
       "st.shared.b32 [%r4], %r11;");
}

/// Functions that call functions, with results of several sizes.
void addCalls(std::vector<TileForm> &forms) {
  TileForm form;
  form.name = "call, call.uni";
  form.text = R"(.version 8.0
.target sm_90a
.address_size 64

.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %a;
  ld.param.b32 %a, [x];
  add.u32 %a, %a, %a;
  st.param.b32 [r], %a;
  ret;
}
.func (.param .b64 r) combine(.param .b32 x, .param .align 16 .b8 pair[16])
{
  .reg .b32 %a, %t;
  .reg .b64 %q<4>;
  ld.param.b32 %a, [x];
  {
    .param .b32 arg;
    .param .b32 result;
    st.param.b32 [arg], %a;
    call.uni (result), twice, (arg);
    ld.param.b32 %t, [result];
  }
  ld.param.v2.b64 {%q0, %q1}, [pair];
  cvt.u64.u32 %q2, %t;
  add.u64 %q2, %q2, %q0;
  xor.b64 %q2, %q2, %q1;
  st.param.b64 [r], %q2;
  ret;
}
.visible .entry form(.param .u64 in, .param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %t;
  .reg .b64 %in, %out, %q<4>;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %q0, %t, 8;
  add.u64 %out, %out, %q0;
  ld.global.b64 %q1, [%in];
  mov.u64 %q3, 0;
  setp.lt.u32 %p, %t, 20;
  @!%p bra STORE;
  {
    .param .b32 x;
    .param .align 16 .b8 pair[16];
    .param .b64 result;
    st.param.b32 [x], %t;
    st.param.v2.b64 [pair], {%q1, %q0};
    call (result), combine, (x, pair);
    ld.param.b64 %q3, [result];
  }
STORE:
  st.global.b64 [%out], %q3;
  ret;
}
)";
  form.threads = 32;
  for (unsigned i = 0; i < 256; ++i)
    form.input.push_back(static_cast<uint8_t>(37 * i + 11));
  form.initialOutput.assign(32 * 8, 0xff);
  forms.push_back(form);
}

} // namespace

void addSyncTileForms(std::vector<TileForm> &forms) {
  addBarriers(forms);
  addClusters(forms);
  addCalls(forms);
}

} // namespace xc::vectors
