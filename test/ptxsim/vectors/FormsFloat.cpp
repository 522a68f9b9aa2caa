//===- FormsFloat.cpp - Floating-point forms of the vector suite ----------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

namespace xc::vectors {

static std::string call(const std::string &instruction, size_t sources) {
  std::string body = instruction + " %d0";
  for (size_t i = 0; i < sources; ++i)
    body += ", %a" + std::to_string(i);
  return body + ";";
}

static void add(std::vector<Form> &forms, const std::string &instruction, const std::string &inputs,
                Match match = Match::Exact, double limit = 0, unsigned target = 80) {
  forms.push_back({instruction, inputs, inputs.substr(0, 1), call(instruction, inputs.size()),
                   target, match, limit});
}

static void addArithmetic(std::vector<Form> &forms) {
  for (const char *mode : {"rn", "rz", "rm", "rp"}) {
    std::string m = std::string(".") + mode;
    for (const char *flags : {"", ".ftz", ".sat", ".ftz.sat"}) {
      for (const char *op : {"add", "sub", "mul"})
        add(forms, op + m + flags + ".f32", "ff");
      add(forms, "fma" + m + flags + ".f32", "fff");
    }
    for (const char *op : {"add", "sub", "mul"})
      add(forms, op + m + ".f64", "dd");
    add(forms, "fma" + m + ".f64", "ddd");
    for (const char *flags : {"", ".ftz"}) {
      add(forms, "div" + m + flags + ".f32", "ff");
      add(forms, "rcp" + m + flags + ".f32", "f");
      add(forms, "sqrt" + m + flags + ".f32", "f");
    }
    add(forms, "div" + m + ".f64", "dd");
    add(forms, "rcp" + m + ".f64", "d");
    add(forms, "sqrt" + m + ".f64", "d");
  }
  for (const char *op : {"min", "max"}) {
    std::string o = op;
    for (const char *flags : {"", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
      add(forms, o + flags + ".f32", "ff", Match::Exact, 0,
          std::string(flags).find("xorsign") != std::string::npos ? 90 : 80);
    add(forms, o + ".f64", "dd");
  }
  for (const char *op : {"abs", "neg"}) {
    add(forms, std::string(op) + ".f32", "f");
    add(forms, std::string(op) + ".ftz.f32", "f");
    add(forms, std::string(op) + ".f64", "d");
  }
  add(forms, "copysign.f32", "ff");
  add(forms, "copysign.f64", "dd");
  for (const char *kind : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    std::string name = std::string("testp.") + kind;
    forms.push_back({name + ".f32", "f", "i", name + ".f32 %p0, %a0; selp.u32 %d0, 1, 0, %p0;"});
    forms.push_back({name + ".f64", "d", "i", name + ".f64 %p0, %a0; selp.u32 %d0, 1, 0, %p0;"});
  }
}

/// The errors that the PTX manual states.
static void addApproximations(std::vector<Form> &forms) {
  for (const char *f : {"", ".ftz"}) {
    std::string ftz = f;
    add(forms, "rcp.approx" + ftz + ".f32", "f", Match::Ulp, 1);
    add(forms, "sqrt.approx" + ftz + ".f32", "f", Match::Ulp, 2);
    add(forms, "rsqrt.approx" + ftz + ".f32", "f", Match::Ulp, 2);
    add(forms, "ex2.approx" + ftz + ".f32", "f", Match::Ulp, 2);
    // 2^-22: absolutely for operands in (0.5, 2), relatively elsewhere; and 2^-24 for
    // the rounding of the simulator's result.
    add(forms, "lg2.approx" + ftz + ".f32", "f", Match::Log, 0x1.4p-22);
    add(forms, "div.approx" + ftz + ".f32", "ff", Match::Ulp, 2);
    add(forms, "div.full" + ftz + ".f32", "ff", Match::Ulp, 2);
    for (const char *op : {"sin", "cos"}) {
      // 2^-20.5 in [-pi, pi], and the rounding of the simulator's result.
      std::string name = std::string(op) + ".approx" + ftz + ".f32";
      forms.push_back(
          {name, "f", "f",
           "min.f32 %t0, %a0, 0f40490fda; max.f32 %t0, %t0, 0fC0490fda; " + name + " %d0, %t0;", 80,
           Match::Absolute, 0x1.7p-21});
    }
  }
  add(forms, "tanh.approx.f32", "f", Match::Ulp, 4096);
  // No error is stated: one unit of the upper word, which is all that they compute.
  add(forms, "rcp.approx.ftz.f64", "d", Match::Ulp, 0x1p32);
  add(forms, "rsqrt.approx.ftz.f64", "d", Match::Ulp, 0x1p32);
  add(forms, "rsqrt.approx.f64", "d", Match::Ulp, 1);
  add(forms, "ex2.approx.f16", "h", Match::Ulp, 2);
  add(forms, "tanh.approx.f16", "h", Match::Ulp, 2);
  add(forms, "ex2.approx.ftz.bf16", "b", Match::Ulp, 2, 90);
  add(forms, "tanh.approx.bf16", "b", Match::Ulp, 2, 90);
  add(forms, "ex2.approx.f16x2", "H", Match::Ulp, 2);
  add(forms, "tanh.approx.f16x2", "H", Match::Ulp, 2);
}

static void addHalves(std::vector<Form> &forms) {
  for (const char *type : {".f16", ".f16x2"}) {
    std::string kind = type[4] == 'x' ? "H" : "h";
    for (const char *flags : {"", ".ftz", ".sat", ".ftz.sat"}) {
      for (const char *op : {"add", "sub", "mul"})
        add(forms, std::string(op) + ".rn" + flags + type, kind + kind);
      add(forms, std::string("fma.rn") + flags + type, kind + kind + kind);
    }
    add(forms, std::string("fma.rn.relu") + type, kind + kind + kind);
    for (const char *op : {"min", "max"}) {
      for (const char *flags : {"", ".ftz", ".NaN"})
        add(forms, std::string(op) + flags + type, kind + kind);
      add(forms, std::string(op) + ".xorsign.abs" + type, kind + kind, Match::Exact, 0, 90);
    }
    for (const char *op : {"abs", "neg"})
      add(forms, std::string(op) + type, kind);
    add(forms, std::string("neg.ftz") + type, kind);
  }
  for (const char *type : {".bf16", ".bf16x2"}) {
    std::string kind = type[5] == 'x' ? "B" : "b";
    for (const char *op : {"add", "sub", "mul"})
      add(forms, std::string(op) + ".rn" + type, kind + kind, Match::Exact, 0, 90);
    add(forms, std::string("fma.rn") + type, kind + kind + kind);
    add(forms, std::string("fma.rn.relu") + type, kind + kind + kind);
    for (const char *op : {"min", "max"})
      for (const char *flags : {"", ".NaN"})
        add(forms, std::string(op) + flags + type, kind + kind);
    for (const char *op : {"abs", "neg"})
      add(forms, std::string(op) + type, kind);
  }
}

static void addCompares(std::vector<Form> &forms) {
  static const char *const kOps[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                     "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (const char *op : kOps) {
    std::string name = std::string("setp.") + op;
    std::string tail = " %p0, %a0, %a1; selp.u32 %d0, 1, 0, %p0;";
    forms.push_back({name + ".f32", "ff", "i", name + ".f32" + tail});
    forms.push_back({name + ".ftz.f32", "ff", "i", name + ".ftz.f32" + tail});
    forms.push_back({name + ".f64", "dd", "i", name + ".f64" + tail});
    forms.push_back({name + ".f16", "hh", "i", name + ".f16" + tail});
    forms.push_back({name + ".bf16", "bb", "i", name + ".bf16" + tail, 90});
    forms.push_back({name + ".f16x2", "HH", "ii",
                     name + ".f16x2 %p0|%p1, %a0, %a1; selp.u32 %d0, 1, 0, %p0; "
                            "selp.u32 %d1, 1, 0, %p1;"});
  }
  forms.push_back({"set.lt.u32.f32", "ff", "i", "set.lt.u32.f32 %d0, %a0, %a1;"});
  forms.push_back({"set.geu.f32.f64", "dd", "f", "set.geu.f32.f64 %d0, %a0, %a1;"});
}

void addFloatForms(std::vector<Form> &forms) {
  addArithmetic(forms);
  addApproximations(forms);
  addHalves(forms);
  addCompares(forms);
}

} // namespace xc::vectors
