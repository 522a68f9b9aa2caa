//===- FormsConvert.cpp - Conversions of the vector suite -----------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace xc::vectors {

static char kindOf(const std::string &type) {
  if (type == "f32")
    return 'f';
  if (type == "f64")
    return 'd';
  if (type == "f16")
    return 'h';
  if (type == "bf16")
    return 'b';
  std::string width = type.substr(1);
  return width == "8" || width == "16" ? 's' : width == "64" ? 'l' : 'i';
}

static void add(std::vector<Form> &forms, const std::string &modifiers, const std::string &to,
                const std::string &from, unsigned target = 80, char input = 0) {
  std::string name = "cvt" + modifiers + "." + to + "." + from;
  std::string label = name;
  if (input)
    label += " near limits";
  forms.push_back({label, std::string(1, input ? input : kindOf(from)), std::string(1, kindOf(to)),
                   name + " %d0, %a0;", target});
}

/// .sat is refused where every value of |from| fits |to|.
static bool mayOverflow(const std::string &to, const std::string &from) {
  int toBits = std::stoi(to.substr(1)), fromBits = std::stoi(from.substr(1));
  if (from[0] == 's')
    return to[0] == 'u' || fromBits > toBits;
  return to[0] == 'u' ? fromBits > toBits : fromBits >= toBits;
}

static void addIntegers(std::vector<Form> &forms) {
  static const char *const kTypes[] = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
  for (const char *to : kTypes)
    for (const char *from : kTypes) {
      add(forms, "", to, from);
      if (mayOverflow(to, from))
        add(forms, ".sat", to, from);
    }
}

static void addIntegerFloat(std::vector<Form> &forms) {
  static const char *const kTypes[] = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
  for (const char *type : kTypes) {
    for (const char *mode : {".rni", ".rzi", ".rmi", ".rpi"}) {
      add(forms, mode, type, "f32");
      add(forms, mode, type, "f32", 80, 'o');
      add(forms, mode, type, "f64", 80, 'O');
      add(forms, mode, type, "f16");
    }
    add(forms, ".rzi", type, "f64");
    add(forms, ".rzi.ftz", type, "f32");
    add(forms, ".rzi.sat", type, "f32");
    for (const char *mode : {".rn", ".rz", ".rm", ".rp"}) {
      add(forms, mode, "f32", type);
      add(forms, mode, "f64", type);
      add(forms, mode, "f16", type);
    }
    if (kindOf(type) == 's' && type[1] == '8')
      continue;
    add(forms, ".rn", "bf16", type, 90);
    add(forms, ".rzi", type, "bf16", 90);
  }
}

static void addFloats(std::vector<Form> &forms) {
  for (const char *mode : {".rn", ".rz", ".rm", ".rp"}) {
    add(forms, mode, "f32", "f64");
    add(forms, std::string(mode) + ".ftz", "f32", "f64");
    add(forms, std::string(mode) + ".sat", "f32", "f64");
  }
  for (const char *mode : {".rn", ".rz"}) {
    add(forms, mode, "f16", "f32");
    add(forms, mode, "f16", "f64");
    add(forms, mode, "bf16", "f32");
  }
  add(forms, ".rn.sat", "f16", "f32");
  add(forms, ".rn.ftz", "f16", "f32");
  add(forms, ".rn.relu", "f16", "f32");
  add(forms, ".rn.relu", "bf16", "f32");
  add(forms, "", "f32", "f16");
  add(forms, ".ftz", "f32", "f16");
  add(forms, ".sat", "f32", "f16");
  add(forms, "", "f64", "f16");
  add(forms, "", "f64", "f32");
  add(forms, ".ftz", "f64", "f32");
  add(forms, ".sat", "f32", "f32");
  add(forms, ".ftz.sat", "f32", "f32");
  add(forms, ".sat", "f64", "f64");
  add(forms, "", "f32", "bf16", 90);
  for (const char *mode : {".rni", ".rzi", ".rmi", ".rpi"}) {
    add(forms, mode, "f32", "f32");
    add(forms, std::string(mode) + ".ftz", "f32", "f32");
    add(forms, mode, "f32", "f32", 80, 'o');
    add(forms, mode, "f64", "f64");
    add(forms, mode, "f64", "f64", 80, 'O');
    add(forms, mode, "f16", "f16");
    add(forms, mode, "bf16", "bf16", 90);
  }
  forms.push_back({"cvt.rna.tf32.f32", "f", "i", "cvt.rna.tf32.f32 %d0, %a0;"});
  forms.push_back({"cvt.rn.tf32.f32", "f", "i", "cvt.rn.tf32.f32 %d0, %a0;", 90});
  forms.push_back({"cvt.rz.relu.tf32.f32", "f", "i", "cvt.rz.relu.tf32.f32 %d0, %a0;", 90});
}

static void addPairs(std::vector<Form> &forms) {
  for (const char *modifiers : {".rn", ".rz", ".rn.relu", ".rz.relu"})
    for (const char *type : {"f16x2", "bf16x2"}) {
      std::string name = std::string("cvt") + modifiers + "." + type + ".f32";
      forms.push_back({name, "ff", "i", name + " %d0, %a0, %a1;"});
    }
  for (const char *type : {"e4m3x2", "e5m2x2"}) {
    std::string t = type;
    for (const char *relu : {"", ".relu"}) {
      std::string narrow = std::string("cvt.rn.satfinite") + relu + "." + t;
      forms.push_back({narrow + ".f32", "ff", "s", narrow + ".f32 %d0, %a0, %a1;", 90});
      forms.push_back({narrow + ".f16x2", "H", "s", narrow + ".f16x2 %d0, %a0;", 90});
      std::string widen = std::string("cvt.rn") + relu + ".f16x2." + t;
      forms.push_back({widen, "e", "i", widen + " %d0, %a0;", 90});
    }
  }
  forms.push_back({"cvt.pack.sat.s16.s32", "ii", "i", "cvt.pack.sat.s16.s32 %d0, %a0, %a1;"});
  forms.push_back({"cvt.pack.sat.u16.s32", "ii", "i", "cvt.pack.sat.u16.s32 %d0, %a0, %a1;"});
  for (const char *type : {"u8", "s8", "u4", "s4", "u2", "s2"}) {
    std::string name = std::string("cvt.pack.sat.") + type + ".s32.b32";
    forms.push_back({name, "iix", "i", name + " %d0, %a0, %a1, %a2;"});
  }
}

void addConvertForms(std::vector<Form> &forms) {
  addIntegers(forms);
  addIntegerFloat(forms);
  addFloats(forms);
  addPairs(forms);
}

} // namespace xc::vectors
