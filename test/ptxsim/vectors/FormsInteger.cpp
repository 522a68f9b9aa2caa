//===- FormsInteger.cpp - Integer forms of the vector suite ---------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace xc::vectors {

static const char *const kSigned16To64[] = {"s16", "s32", "s64"};
static const char *const kAll16To64[] = {"u16", "u32", "u64", "s16", "s32", "s64"};

static char kindOf(const std::string &type) {
  std::string width = type.substr(1);
  return width == "16" ? 's' : width == "64" ? 'l' : 'i';
}
static char widerKind(char kind) { return kind == 's' ? 'i' : 'l'; }

static void addSame(std::vector<Form> &forms, const std::string &instruction, char kind,
                    unsigned sources) {
  Form form;
  form.name = instruction;
  form.inputs = std::string(sources, kind);
  form.outputs = std::string(1, kind);
  form.body = instruction + " %d0";
  for (unsigned i = 0; i < sources; ++i)
    form.body += ", %a" + std::to_string(i);
  form.body += ";";
  forms.push_back(form);
}

static void addArithmetic(std::vector<Form> &forms) {
  for (const char *name : kAll16To64) {
    std::string type = std::string(".") + name;
    char kind = kindOf(name);
    for (const char *op : {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"})
      addSame(forms, op + type, kind, 2);
    for (const char *op : {"mad.lo", "mad.hi", "sad"})
      addSame(forms, op + type, kind, 3);
    if (kind == 'l')
      continue;
    std::string out(1, widerKind(kind));
    forms.push_back(
        {"mul.wide" + type, std::string(2, kind), out, "mul.wide" + type + " %d0, %a0, %a1;"});
    forms.push_back({"mad.wide" + type, std::string(2, kind) + out, out,
                     "mad.wide" + type + " %d0, %a0, %a1, %a2;"});
  }
  for (const char *name : kSigned16To64)
    for (const char *op : {"abs.", "neg."})
      addSame(forms, std::string(op) + name, kindOf(name), 1);
  for (const char *op : {"add.sat.s32", "sub.sat.s32", "mul24.lo.s32", "mul24.hi.s32",
                         "mul24.lo.u32", "mul24.hi.u32"})
    addSame(forms, op, 'i', 2);
  for (const char *op :
       {"mad.hi.sat.s32", "mad24.lo.s32", "mad24.hi.s32", "mad24.lo.u32", "mad24.hi.u32",
        "dp4a.s32.s32", "dp4a.u32.u32", "dp4a.s32.u32", "dp4a.u32.s32", "dp2a.lo.s32.s32",
        "dp2a.hi.s32.s32", "dp2a.lo.u32.u32", "dp2a.hi.u32.s32"})
    addSame(forms, op, 'i', 3);
  for (const char *op : {"add.u16x2", "min.u16x2", "max.s16x2", "min.s16x2", "max.relu.s16x2",
                         "min.relu.s32", "max.relu.s32"}) {
    addSame(forms, op, 'i', 2);
    forms.back().target = 90;
  }
}

static void addCarries(std::vector<Form> &forms) {
  forms.push_back(
      {"add.cc.u32+addc.u32", "iiii", "ii", "add.cc.u32 %d0, %a0, %a1; addc.u32 %d1, %a2, %a3;"});
  forms.push_back(
      {"sub.cc.u32+subc.u32", "iiii", "ii", "sub.cc.u32 %d0, %a0, %a1; subc.u32 %d1, %a2, %a3;"});
  forms.push_back({"add.cc.u64+addc.cc.u64+addc.u64", "llll", "lll",
                   "add.cc.u64 %d0, %a0, %a1; addc.cc.u64 %d1, %a2, %a3; addc.u64 %d2, %a0, %a2;"});
  forms.push_back({"sub.cc.u64+subc.cc.u64+subc.u64", "llll", "lll",
                   "sub.cc.u64 %d0, %a0, %a1; subc.cc.u64 %d1, %a2, %a3; subc.u64 %d2, %a0, %a2;"});
  forms.push_back({"mad.lo.cc.u32+madc.hi.u32", "iiii", "ii",
                   "mad.lo.cc.u32 %d0, %a0, %a1, %a2; madc.hi.u32 %d1, %a0, %a1, %a3;"});
  forms.push_back({"mad.hi.cc.u32+madc.lo.u32", "iiii", "ii",
                   "mad.hi.cc.u32 %d0, %a0, %a1, %a2; madc.lo.u32 %d1, %a0, %a1, %a3;"});
}

static void addBits(std::vector<Form> &forms) {
  for (const char *width : {"16", "32", "64"}) {
    char kind = kindOf(std::string("b") + width);
    for (const char *op : {"and.b", "or.b", "xor.b"})
      addSame(forms, std::string(op) + width, kind, 2);
    for (const char *op : {"not.b", "cnot.b"})
      addSame(forms, std::string(op) + width, kind, 1);
    for (const char *op : {"shl.b", "shr.u", "shr.s", "shr.b"})
      forms.push_back({std::string(op) + width, std::string(1, kind) + "n", std::string(1, kind),
                       std::string(op) + width + " %d0, %a0, %a1;"});
  }
  for (const char *op : {"shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32"})
    forms.push_back({op, "iin", "i", std::string(op) + " %d0, %a0, %a1, %a2;"});
  for (const char *op : {"popc.b", "clz.b"})
    for (const char *width : {"32", "64"})
      forms.push_back({std::string(op) + width, width[0] == '3' ? "i" : "l", "i",
                       std::string(op) + width + " %d0, %a0;"});
  addSame(forms, "brev.b32", 'i', 1);
  addSame(forms, "brev.b64", 'l', 1);
  for (const char *type : {"u32", "s32", "u64", "s64"}) {
    std::string kind(1, kindOf(type));
    for (const char *op : {"bfind.", "bfind.shiftamt."})
      forms.push_back({std::string(op) + type, kind, "i", std::string(op) + type + " %d0, %a0;"});
    forms.push_back({std::string("bfe.") + type, kind + "nn", kind,
                     std::string("bfe.") + type + " %d0, %a0, %a1, %a2;"});
  }
  forms.push_back({"bfi.b32", "iinn", "i", "bfi.b32 %d0, %a0, %a1, %a2, %a3;"});
  forms.push_back({"bfi.b64", "llnn", "l", "bfi.b64 %d0, %a0, %a1, %a2, %a3;"});
  for (const char *table : {"0x1e", "0x80", "0xe8", "0x96", "0x3f"})
    forms.push_back({std::string("lop3.b32.") + table, "xxx", "i",
                     std::string("lop3.b32 %d0, %a0, %a1, %a2, ") + table + ";"});
  for (const char *mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
    forms.push_back({std::string("prmt.b32") + mode, "xxx", "i",
                     std::string("prmt.b32") + mode + " %d0, %a0, %a1, %a2;"});
  forms.push_back({"fns.b32", "xni", "i",
                   "rem.u32 %t0, %a1, 32; rem.s32 %t1, %a2, 33; fns.b32 %d0, %a0, %t0, %t1;"});
  for (const char *mode : {"clamp", "wrap"}) {
    forms.push_back({std::string("bmsk.") + mode + ".b32", "nn", "i",
                     std::string("bmsk.") + mode + ".b32 %d0, %a0, %a1;"});
    for (const char *type : {"u32", "s32"})
      forms.push_back({std::string("szext.") + mode + "." + type, "in", "i",
                       std::string("szext.") + mode + "." + type + " %d0, %a0, %a1;"});
  }
}

static void addCompares(std::vector<Form> &forms) {
  for (const char *type : kAll16To64) {
    std::string kinds(2, kindOf(type));
    for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      std::string name = std::string("setp.") + op + "." + type;
      forms.push_back({name, kinds, "i", name + " %p0, %a0, %a1; selp.u32 %d0, 1, 0, %p0;"});
    }
  }
  forms.push_back({"setp.lt.and.s32 p|q", "iii", "ii",
                   "setp.ne.u32 %p2, %a2, 0; setp.lt.and.s32 %p0|%p1, %a0, %a1, !%p2; "
                   "selp.u32 %d0, 1, 0, %p0; selp.u32 %d1, 1, 0, %p1;"});
  forms.push_back({"setp.hi.xor.u32 p|q", "iii", "ii",
                   "setp.ne.u32 %p2, %a2, 0; setp.hi.xor.u32 %p0|%p1, %a0, %a1, %p2; "
                   "selp.u32 %d0, 1, 0, %p0; selp.u32 %d1, 1, 0, %p1;"});
  forms.push_back({"set.lt.u32.s32", "ii", "i", "set.lt.u32.s32 %d0, %a0, %a1;"});
  forms.push_back({"set.gt.f32.u32", "ii", "f", "set.gt.f32.u32 %d0, %a0, %a1;"});
  forms.push_back({"slct.b32.s32", "iii", "i", "slct.b32.s32 %d0, %a0, %a1, %a2;"});
  forms.push_back({"slct.b64.f32", "llf", "l", "slct.b64.f32 %d0, %a0, %a1, %a2;"});
  forms.push_back({"slct.ftz.b32.f32", "iif", "i", "slct.ftz.b32.f32 %d0, %a0, %a1, %a2;"});
}

void addIntegerForms(std::vector<Form> &forms) {
  addArithmetic(forms);
  addCarries(forms);
  addBits(forms);
  addCompares(forms);
}

} // namespace xc::vectors
