//===- FormsWarp.cpp - Warp, atomic and matrix forms of the vector suite --===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace xc::vectors {

static void addShuffles(std::vector<Form> &forms) {
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (const char *clamp : {"0x1f", "0x0", "0x1c1f", "0x181f", "0x1800", "0x101f"})
      forms.push_back({std::string("shfl.sync.") + mode + " " + clamp, "xn", "ii",
                       std::string("shfl.sync.") + mode + ".b32 %d0|%p0, %a0, %a1, " + clamp +
                           ", 0xffffffff; selp.u32 %d1, 1, 0, %p0;"});
}

static void addVotes(std::vector<Form> &forms) {
  for (const char *kind : {"all", "any", "uni"}) {
    std::string name = std::string("vote.sync.") + kind + ".pred";
    forms.push_back(
        {name, "ip", "i",
         "setp.lt.s32 %p1, %a0, 64; " + name + " %p0, %p1, %a1; selp.u32 %d0, 1, 0, %p0;"});
    forms.push_back(
        {name + " negated", "ip", "i",
         "setp.gt.s32 %p1, %a0, 0; " + name + " %p0, !%p1, %a1; selp.u32 %d0, 1, 0, %p0;"});
  }
  forms.push_back({"vote.sync.ballot.b32", "ip", "i",
                   "setp.lt.s32 %p1, %a0, 64; vote.sync.ballot.b32 %d0, %p1, %a1;"});
  forms.push_back(
      {"match.any.sync.b32", "ip", "i", "and.b32 %t0, %a0, 3; match.any.sync.b32 %d0, %t0, %a1;"});
  forms.push_back({"match.any.sync.b64", "lp", "i",
                   "and.b64 %q0, %a0, 0x8000000000000001; match.any.sync.b64 %d0, %q0, %a1;"});
  forms.push_back({"match.all.sync.b32", "ip", "ii",
                   "and.b32 %t0, %a0, 0x400; match.all.sync.b32 %d0|%p0, %t0, %a1; "
                   "selp.u32 %d1, 1, 0, %p0;"});
  for (const char *op : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                         "and.b32", "or.b32", "xor.b32"}) {
    std::string name = std::string("redux.sync.") + op;
    forms.push_back({name, "ip", "i", name + " %d0, %a0, %a1;"});
  }
  forms.push_back(
      {"elect.sync", "ip", "ii", "elect.sync %d0|%p0, %a1; selp.u32 %d1, 1, 0, %p0;", 90});
}

/// Each thread's atomic works on its own output slot (global) or its own word of
/// shared memory: the operations are compared, not their interleaving.
static void addAtomics(std::vector<Form> &forms) {
  struct Row {
    const char *op;
    char kind;
    unsigned target;
  };
  static const Row kRows[] = {
      {"add.u32", 'i', 80},         {"add.s32", 'i', 80},         {"add.u64", 'l', 80},
      {"min.u32", 'i', 80},         {"min.s32", 'i', 80},         {"max.u32", 'i', 80},
      {"max.s32", 'i', 80},         {"min.s64", 'l', 80},         {"max.u64", 'l', 80},
      {"and.b32", 'i', 80},         {"or.b32", 'i', 80},          {"xor.b64", 'l', 80},
      {"exch.b32", 'i', 80},        {"exch.b64", 'l', 80},        {"inc.u32", 'i', 80},
      {"dec.u32", 'i', 80},         {"add.f32", 'f', 80},         {"add.f64", 'd', 80},
      {"add.noftz.f16", 'h', 80},   {"add.noftz.f16x2", 'H', 80}, {"add.noftz.bf16", 'b', 90},
      {"add.noftz.bf16x2", 'B', 90}};
  for (const Row &row : kRows) {
    std::string bits = std::to_string(kindBytes(row.kind) * 8);
    std::string kinds(2, row.kind);
    for (const char *space : {"global", "shared"}) {
      std::string address = space[0] == 'g' ? "[%out]" : "[buf]";
      std::string name = std::string("atom.") + space + "." + row.op;
      // One block has 32 threads; in shared memory each has 8 bytes.
      std::string setUp;
      if (space[0] == 's') {
        setUp = ".shared .align 8 .b8 buf[256]; mov.u32 %t0, %tid.x; mov.u32 %t1, buf; "
                "mad.lo.u32 %t1, %t0, 8, %t1; ";
        address = "[%t1]";
      }
      forms.push_back({name, kinds, kinds,
                       setUp + "st." + space + ".b" + bits + " " + address + ", %a0; " + name +
                           " %d0, " + address + ", %a1; ld." + space + ".b" + bits + " %d1, " +
                           address + ";",
                       row.target});
    }
  }
  forms.push_back({"atom.global.cas.b32", "iii", "ii",
                   "st.global.b32 [%out], %a0; atom.global.cas.b32 %d0, [%out], %a1, %a2; "
                   "ld.global.b32 %d1, [%out];"});
  forms.push_back({"atom.global.cas.b16", "sss", "ss",
                   "and.b16 %h0, %a0, 1; and.b16 %h1, %a1, 1; st.global.b16 [%out], %h0; "
                   "atom.global.cas.b16 %d0, [%out], %h1, %a2; ld.global.b16 %d1, [%out];"});
}

static std::string fragment(char letter, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += std::string(i ? ", " : "") + "%" + letter + std::to_string(first + i);
  return text + "}";
}

static void addMma(std::vector<Form> &forms, const std::string &shape, const std::string &types,
                   char a, unsigned aCount, unsigned bCount, char c, unsigned cCount,
                   unsigned target = 80) {
  Form form;
  std::string instruction = "mma.sync.aligned." + shape + ".row.col." + types;
  form.name = a == 't' || a == 'v' || a == 'V' ? instruction + " any exponent" : instruction;
  form.inputs = std::string(aCount + bCount, a) + std::string(cCount, c);
  form.outputs = std::string(cCount, c == 'c'   ? 'f'
                                     : c == 'C' ? 'd'
                                     : c == 'm' ? 'H'
                                     : c == 'v' ? 'H'
                                     : c == 'w' ? 'f'
                                     : c == 'f' ? 'f'
                                                : 'i');
  form.body = instruction + " " + fragment('d', 0, cCount) + ", " + fragment('a', 0, aCount) +
              ", " + fragment('a', aCount, bCount) + ", " + fragment('a', aCount + bCount, cCount) +
              ";";
  form.target = target;
  forms.push_back(form);
}

static void addMatrices(std::vector<Form> &forms) {
  addMma(forms, "m16n8k16", "f32.f16.f16.f32", 'm', 4, 2, 'c', 4);
  addMma(forms, "m16n8k8", "f32.f16.f16.f32", 'm', 2, 1, 'c', 4);
  addMma(forms, "m16n8k16", "f16.f16.f16.f16", 'm', 4, 2, 'm', 2);
  addMma(forms, "m16n8k8", "f16.f16.f16.f16", 'm', 2, 1, 'm', 2);
  addMma(forms, "m16n8k16", "f32.bf16.bf16.f32", 'M', 4, 2, 'c', 4);
  addMma(forms, "m16n8k8", "f32.bf16.bf16.f32", 'M', 2, 1, 'c', 4);
  addMma(forms, "m16n8k8", "f32.tf32.tf32.f32", 'k', 4, 2, 'c', 4);
  addMma(forms, "m16n8k4", "f32.tf32.tf32.f32", 'k', 2, 1, 'c', 4);
  // Full random mantissas and exponents: the truncation of sums shows. Those above are
  // exact in f32.
  addMma(forms, "m16n8k8", "f32.tf32.tf32.f32", 't', 4, 2, 'f', 4);
  addMma(forms, "m16n8k16", "f32.f16.f16.f32", 'v', 4, 2, 'w', 4);
  addMma(forms, "m16n8k8", "f32.f16.f16.f32", 'v', 2, 1, 'w', 4);
  addMma(forms, "m16n8k16", "f16.f16.f16.f16", 'v', 4, 2, 'v', 2);
  addMma(forms, "m16n8k16", "f32.bf16.bf16.f32", 'V', 4, 2, 'w', 4);
  addMma(forms, "m16n8k8", "f32.bf16.bf16.f32", 'V', 2, 1, 'w', 4);
  for (const char *types : {"f32.e4m3.e4m3.f32", "f32.e4m3.e5m2.f32"})
    addMma(forms, "m16n8k32", types, 'g', 4, 2, 'c', 4, 89);
  for (const char *types : {"f32.e5m2.e4m3.f32", "f32.e5m2.e5m2.f32"})
    addMma(forms, "m16n8k32", types, 'G', 4, 2, 'c', 4, 89);
  for (const char *types : {"s32.s8.s8.s32", "s32.u8.u8.s32", "s32.s8.u8.s32", "s32.u8.s8.s32"}) {
    addMma(forms, "m16n8k16", types, 'q', 2, 1, 'i', 4);
    addMma(forms, "m16n8k32", types, 'q', 4, 2, 'i', 4);
    addMma(forms, "m16n8k32", std::string("satfinite.") + types, 'q', 4, 2, 'i', 4);
  }
  addMma(forms, "m8n8k16", "s32.s8.s8.s32", 'q', 1, 1, 'i', 2);
  addMma(forms, "m8n8k4", "f64.f64.f64.f64", 'C', 1, 1, 'C', 2);
  addMma(forms, "m16n8k4", "f64.f64.f64.f64", 'C', 2, 1, 'C', 4, 90);
  addMma(forms, "m16n8k8", "f64.f64.f64.f64", 'C', 4, 2, 'C', 4, 90);
  addMma(forms, "m16n8k16", "f64.f64.f64.f64", 'C', 8, 4, 'C', 4, 90);
}

/// Every lane puts 16 bytes into shared memory.
static const char *const kFill =
    ".shared .align 16 .b8 buf[512]; mov.u32 %t0, %tid.x; mov.u32 %t1, buf; "
    "mad.lo.u32 %t1, %t0, 16, %t1; st.shared.v4.b32 [%t1], {%a0, %a1, %a2, %a3}; "
    "bar.sync 0; ";

static void addMatrixMoves(std::vector<Form> &forms) {
  for (unsigned count : {1u, 2u, 4u})
    for (const char *trans : {"", ".trans"}) {
      std::string tail = ".sync.aligned.m8n8.x" + std::to_string(count) + trans;
      std::string name = "ldmatrix" + tail + ".shared.b16";
      forms.push_back({name, "xxxx", std::string(count, 'i'),
                       kFill + name + " " + fragment('d', 0, count) + ", [%t1];"});
      name = "stmatrix" + tail + ".shared.b16";
      // The matrix goes over what the lanes wrote, which shows where it went.
      forms.push_back({name, "xxxx", "iiii",
                       kFill + name + " [%t1], " + fragment('a', 0, count) +
                           "; bar.sync 0; ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%t1];",
                       90});
    }
  forms.push_back({"movmatrix.sync.aligned.m8n8.trans.b16", "x", "i",
                   "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;"});
}

static void addAsyncCopies(std::vector<Form> &forms) {
  std::string place = ".shared .align 16 .b8 buf[512]; mov.u32 %t0, %tid.x; mov.u32 %t1, buf; "
                      "mad.lo.u32 %t1, %t0, 16, %t1; "
                      "st.shared.v4.b32 [%t1], {%t0, %t0, %t0, %t0}; ";
  std::string finish = " cp.async.commit_group; cp.async.wait_group 0; "
                       "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%t1];";
  // Slots of inputs are 8 bytes: two of them make a source of 16.
  std::string align = "and.b64 %q0, %in, 0xfffffffffffffff0; ";
  for (const char *form :
       {"ca.shared.global 4", "ca.shared.global 8", "ca.shared.global 16", "cg.shared.global 16"}) {
    std::string f = form;
    size_t space = f.find(' ');
    std::string op = "cp.async." + f.substr(0, space), size = f.substr(space + 1);
    forms.push_back({op + " " + size, "xx", "iiii",
                     place + align + op + " [%t1], [%q0], " + size + ";" + finish});
    forms.push_back({op + " " + size + " zero fill", "xx", "iiii",
                     place + align + "and.b32 %t2, %a1, 3; rem.u32 %t2, %t2, " + size + "; " + op +
                         " [%t1], [%q0], " + size + ", %t2;" + finish});
  }
}

void addWarpForms(std::vector<Form> &forms) {
  addShuffles(forms);
  addVotes(forms);
  addAtomics(forms);
  addMatrices(forms);
  addMatrixMoves(forms);
  addAsyncCopies(forms);
}

} // namespace xc::vectors
