//===- FormsMemory.cpp - Loads, stores, caches and flow of the vector suite ===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

#include <initializer_list>

namespace xc::vectors {

/// What a thread stores to its slot of the output it loads again: the order and the caching that
/// the modifiers ask for change no value here, but the forms are taken, and move what they should.
static void addLoadsAndStores(std::vector<Form> &forms) {
  auto add = [&](const std::string &op, const std::string &modifiers, const std::string &code) {
    std::string name = op + "." + modifiers + ".b32";
    forms.push_back({name, "xi", "ii", name + code, 90});
    if (modifiers.compare(0, 4, "mmio") == 0)
      forms.back().version = "8.2";
  };
  for (const char *modifiers : {"weak.global",
                                "volatile.global",
                                "relaxed.cta.global",
                                "relaxed.cluster.global",
                                "relaxed.gpu.global",
                                "relaxed.sys.global",
                                "acquire.cta.global",
                                "acquire.cluster.global",
                                "acquire.gpu.global",
                                "acquire.sys.global",
                                "mmio.relaxed.sys.global",
                                "global.ca",
                                "global.cg",
                                "global.cs",
                                "global.lu",
                                "global.cv",
                                "global.nc",
                                "global.nc.L2::128B",
                                "global.L1::evict_first",
                                "global.L1::evict_last",
                                "global.L1::evict_normal",
                                "global.L1::evict_unchanged",
                                "global.L1::no_allocate",
                                "global.L2::64B",
                                "global.L2::256B"})
    add("ld", modifiers, " %d0, [%in]; ld.global.b32 %d1, [%in+8];");
  for (const char *modifiers : {"weak.global",
                                "volatile.global",
                                "relaxed.cta.global",
                                "relaxed.cluster.global",
                                "relaxed.gpu.global",
                                "relaxed.sys.global",
                                "release.cta.global",
                                "release.cluster.global",
                                "release.gpu.global",
                                "release.sys.global",
                                "mmio.relaxed.sys.global",
                                "global.wb",
                                "global.cg",
                                "global.cs",
                                "global.wt",
                                "global.L1::evict_first",
                                "global.L1::evict_last",
                                "global.L1::evict_normal",
                                "global.L1::evict_unchanged",
                                "global.L1::no_allocate"})
    add("st", modifiers, " [%out], %a0; ld.global.b32 %d0, [%out]; mov.b32 %d1, %a1;");
  // Two slots of 8 bytes are four words.
  for (const char *op : {"ld", "ldu"}) {
    std::string name = std::string(op) + ".global.v2.b32";
    forms.push_back({name, "ll", "ii", name + " {%d0, %d1}, [%in];"});
    name = std::string(op) + ".global.v4.b32";
    forms.push_back({name, "ll", "iiii", name + " {%d0, %d1, %d2, %d3}, [%in];"});
    name = std::string(op) + ".global.v2.b64";
    forms.push_back({name, "ll", "ll", name + " {%d0, %d1}, [%in];"});
  }
  for (const char *type : {"u8", "s8", "u16", "s16", "b32"}) {
    std::string name = std::string("ldu.global.") + type;
    forms.push_back({name, "x", "i", name + " %d0, [%in];"});
    name = std::string("ld.global.") + type;
    if (type[0] != 'b')
      forms.push_back({name, "x", "i", name + " %d0, [%in];"});
  }
  forms.push_back({"st.global.v2.b32", "ii", "ll",
                   "st.global.v2.b32 [%out], {%a0, %a1}; ld.global.b64 %d0, [%out]; "
                   "mov.b64 %d1, %d0;"});
  forms.push_back({"st.global.v4.b32", "iiii", "ll",
                   "st.global.v4.b32 [%out], {%a0, %a1, %a2, %a3}; ld.global.b64 %d0, [%out]; "
                   "ld.global.b64 %d1, [%out+8];"});
}

static void addCacheOperations(std::vector<Form> &forms) {
  for (const char *policy :
       {"createpolicy.fractional.L2::evict_last.b64 %q0, 0f3F000000;",
        "createpolicy.fractional.L2::evict_first.b64 %q0;",
        "createpolicy.fractional.L2::evict_normal.L2::evict_unchanged.b64 %q0, 0f3F800000;",
        "createpolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 %q0, 0f3E800000;",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %q0, [%in], 64, 128;"}) {
    std::string text = policy;
    std::string name = text.substr(0, text.find(' '));
    forms.push_back({name + ", ld.L2::cache_hint", "x", "i",
                     text + " ld.global.L2::cache_hint.b32 %d0, [%in], %q0;"});
  }
  forms.push_back({"createpolicy, st.L2::cache_hint", "x", "i",
                   "createpolicy.fractional.L2::evict_first.b64 %q0, 0f3F800000; "
                   "st.global.L2::cache_hint.b32 [%out], %a0, %q0; ld.global.b32 %d0, [%out];"});
  forms.push_back({"createpolicy, atom.L2::cache_hint", "ii", "ii",
                   "createpolicy.fractional.L2::evict_last.b64 %q0, 0f3F800000; "
                   "st.global.b32 [%out], %a0; "
                   "atom.global.add.L2::cache_hint.u32 %d0, [%out], %a1, %q0; "
                   "ld.global.b32 %d1, [%out];"});
  for (const char *hint :
       {"prefetch.global.L1 [%in];", "prefetch.global.L2 [%in];", "prefetch.L1 [%in];",
        "prefetch.global.L2::evict_last [%in];", "prefetch.global.L2::evict_normal [%in];",
        "prefetchu.L1 [%in];", "nanosleep.u32 20;", "pmevent 3;", "pmevent.mask 5;", "membar.cta;",
        "membar.gl;", "membar.sys;", "fence.sc.cta;", "fence.sc.gpu;", "fence.acq_rel.sys;",
        "fence.proxy.alias;"}) {
    std::string text = hint;
    forms.push_back(
        {text.substr(0, text.size() - 1), "x", "i", text + " ld.global.b32 %d0, [%in];"});
  }
  for (const char *hint :
       {"fence.acq_rel.cluster;", "fence.proxy.async;", "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;", "fence.proxy.async.shared::cluster;",
        "griddepcontrol.wait;", "griddepcontrol.launch_dependents;",
        "barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
        "and.b64 %q0, %in, 0xfffffffffffffff0; cp.async.bulk.prefetch.L2.global [%q0], 16;"}) {
    std::string text = hint;
    forms.push_back(
        {text.substr(0, text.size() - 1), "x", "i", text + " ld.global.b32 %d0, [%in];", 90});
  }
  // A line of 128 bytes of the input, which the threads in it may all name.
  std::string line = "and.b64 %q0, %in, 0xffffffffffffff80; ";
  forms.push_back({"applypriority.global.L2::evict_normal", "x", "i",
                   line + "applypriority.global.L2::evict_normal [%q0], 128; "
                          "ld.global.b32 %d0, [%in];"});
}

/// Addresses of each space, as cvta makes them, told by isspacep.
static void addSpaces(std::vector<Form> &forms) {
  std::string addresses = ".shared .align 8 .b8 buf[64]; .local .align 8 .b8 depot[64]; "
                          "cvta.global.u64 %q0, %in; mov.u64 %q1, buf; cvta.shared.u64 %q1, %q1; "
                          "mov.u64 %q2, depot; cvta.local.u64 %q2, %q2; ";
  for (const char *space : {"global", "shared", "local", "param"}) {
    std::string name = std::string("isspacep.") + space;
    std::string body = addresses;
    for (int i = 0; i < 3; ++i)
      body += name + " %p0, %q" + std::to_string(i) + "; selp.u32 %d" + std::to_string(i) +
              ", 1, 0, %p0; ";
    forms.push_back({name, "x", "iii", body});
  }
  for (const char *space : {"shared::cta", "shared::cluster"}) {
    std::string name = std::string("isspacep.") + space;
    forms.push_back({name, "x", "ii",
                     addresses + name + " %p0, %q0; selp.u32 %d0, 1, 0, %p0; " + name +
                         " %p0, %q1; selp.u32 %d1, 1, 0, %p0;",
                     90});
  }
}

static void addFlow(std::vector<Form> &forms) {
  forms.push_back({"activemask.b32", "x", "i", "activemask.b32 %d0;"});
  forms.push_back({"bra.uni", "x", "i", "mov.b32 %d0, 1; bra.uni L; mov.b32 %d0, %a0; L:"});
  forms.push_back(
      {"bra", "i", "i", "mov.b32 %d0, 1; setp.lt.s32 %p0, %a0, 0; @%p0 bra L; mov.b32 %d0, 2; L:"});
  forms.push_back({"brx.idx", "i", "i",
                   "and.b32 %t0, %a0, 3; mov.b32 %d0, 0; ts: .branchtargets A, B, C, B; "
                   "brx.idx %t0, ts; A: mov.b32 %d0, 1; B: add.u32 %d0, %d0, 10; "
                   "C: add.u32 %d0, %d0, 100;"});
  forms.push_back({"brx.idx.uni", "x", "i",
                   "mov.b32 %t0, 1; mov.b32 %d0, 0; ts: .branchtargets A, B; brx.idx.uni %t0, ts; "
                   "A: mov.b32 %d0, 1; B: add.u32 %d0, %d0, %a0;"});
  forms.push_back({"exit", "i", "i", "mov.b32 %d0, 5; setp.lt.s32 %p0, %a0, 0; @%p0 exit;"});
  forms.push_back({"ret.uni", "i", "i",
                   "mov.b32 %d0, 5; st.global.b32 [%out], %d0; setp.ne.s32 %p0, %a0, %a0; "
                   "@%p0 ret.uni;"});
  for (const char *form : {"bar.sync 0;", "bar.cta.sync 0, 32;", "barrier.sync 1, 32;",
                           "barrier.cta.sync.aligned 1;", "bar.warp.sync 0xffffffff;"}) {
    std::string text = form;
    forms.push_back({text.substr(0, text.size() - 1), "x", "i",
                     ".shared .align 4 .b8 buf[128]; mov.u32 %t0, %tid.x; mov.u32 %t1, buf; "
                     "mad.lo.u32 %t2, %t0, 4, %t1; st.shared.b32 [%t2], %a0; " +
                         text +
                         " xor.b32 %t0, %t0, 31; mad.lo.u32 %t2, %t0, 4, %t1; "
                         "ld.shared.b32 %d0, [%t2];"});
  }
  forms.push_back({"bar.arrive", "x", "i", "bar.arrive 1, 32; mov.b32 %d0, %a0;"});
  forms.push_back({"barrier.arrive", "x", "i", "barrier.arrive 2, 32; mov.b32 %d0, %a0;"});
  for (const char *barrier : {"bar", "barrier", "bar.cta", "barrier.cta"}) {
    std::string head = "setp.lt.s32 %p1, %a0, 64; ";
    std::string name = std::string(barrier) + ".red.popc.u32";
    forms.push_back({name, "i", "i", head + name + " %d0, 0, %p1;"});
    for (const char *op : {"and", "or"}) {
      name = std::string(barrier) + ".red." + op + ".pred";
      forms.push_back({name, "i", "i", head + name + " %p0, 0, %p1; selp.u32 %d0, 1, 0, %p0;"});
    }
  }
}

/// Orders and scopes of atomics, those without a result, and vectors of them.
static void addOrderedAtomics(std::vector<Form> &forms) {
  for (const char *order : {"relaxed", "acquire", "release", "acq_rel"})
    for (const char *scope : {"cta", "cluster", "gpu", "sys"}) {
      std::string name = std::string(order) + "." + scope + ".global.add.u32";
      forms.push_back({"atom." + name, "ii", "ii",
                       "st.global.b32 [%out], %a0; atom." + name +
                           " %d0, [%out], %a1; ld.global.b32 %d1, [%out];",
                       90});
      if (order[0] == 'a') // red acquires nothing
        continue;
      forms.push_back(
          {"red." + name, "ii", "i",
           "st.global.b32 [%out], %a0; red." + name + " [%out], %a1; ld.global.b32 %d0, [%out];",
           90});
    }
  for (const char *op : {"add.noftz.f16x2", "add.noftz.bf16x2"}) {
    std::string name = std::string("red.global.") + op;
    std::string kind(1, op[10] == 'f' ? 'H' : 'B');
    forms.push_back(
        {name, kind + kind, kind,
         "st.global.b32 [%out], %a0; " + name + " [%out], %a1; ld.global.b32 %d0, [%out];", 90});
  }
  auto vector = [&](const char *count, const char *names, const char *values, const char *kinds,
                    const char *results) {
    std::string v = count;
    Form form;
    form.version = "8.1";
    form.target = 90;
    form.inputs = kinds;
    form.outputs = kinds;
    std::string fill = "st.global.v2.b32 [%out], {%a0, %a1}; ";
    // The upper halves of the slots are not written as results.
    std::string clear = "mov.b64 %q0, 0; st.global.v2.b64 [%out], {%q0, %q0};";
    if (v == "v4")
      fill += "st.global.v2.b32 [%out+8], {%a0, %a1}; ";
    // The second output slot follows the first one, so the vector has its room.
    form.name = "atom.global.add." + v + ".f32";
    form.body = fill + form.name + " " + names + ", [%out], " + values + "; " + clear;
    forms.push_back(form);
    form.name = "red.global.add." + v + ".f32";
    form.body = fill + form.name + " [%out], " + values + "; " + results + " " + clear;
    forms.push_back(form);
  };
  vector("v2", "{%d0, %d1}", "{%a1, %a0}", "ff", "ld.global.v2.b32 {%d0, %d1}, [%out];");
  vector("v4", "{%d0, %d1, %d2, %d3}", "{%a2, %a3, %a0, %a1}", "ffff",
         "ld.global.v4.b32 {%d0, %d1, %d2, %d3}, [%out];");
}

static void addComparisons(std::vector<Form> &forms) {
  for (const char *op : {"and", "or", "xor"})
    for (const char *ftz : {"", ".ftz"}) {
      std::string name = std::string("set.lt.") + op + ftz + ".u32.f32";
      forms.push_back(
          {name, "ff", "i", "setp.gt.f32 %p0, %a0, %a1; " + name + " %d0, %a0, %a1, !%p0;"});
      name = std::string("setp.ge.") + op + ftz + ".f32";
      forms.push_back(
          {name, "ff", "i",
           "setp.eq.f32 %p0, %a0, %a1; " + name + " %p1, %a0, %a1, %p0; selp.u32 %d0, 1, 0, %p1;"});
    }
  forms.push_back({"madc.lo.cc.u32", "iii", "ii",
                   "add.cc.u32 %t0, %a0, %a1; madc.lo.cc.u32 %d0, %a0, %a1, %a2; "
                   "addc.u32 %d1, %a2, 0;"});
  forms.push_back({"cp.async.wait_all", "xx", "i",
                   ".shared .align 16 .b8 buf[512]; mov.u32 %t0, %tid.x; mov.u32 %t1, buf; "
                   "mad.lo.u32 %t1, %t0, 16, %t1; cp.async.ca.shared.global [%t1], [%in], 8; "
                   "cp.async.wait_all; ld.shared.b32 %d0, [%t1];"});
}

void addMemoryForms(std::vector<Form> &forms) {
  addLoadsAndStores(forms);
  addCacheOperations(forms);
  addSpaces(forms);
  addFlow(forms);
  addOrderedAtomics(forms);
  addComparisons(forms);
}

} // namespace xc::vectors
