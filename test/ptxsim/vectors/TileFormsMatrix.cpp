//===- TileFormsMatrix.cpp - wgmma forms of the vector suite --------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel fills 48 KB of shared memory with elements, multiplies what its
// descriptors name, and writes the accumulators of all threads. Nearly all elements
// are small integers: sums are exact, so any wrong address shows and nothing else
// does. The forms "any exponent" are about the sums; their descriptors are plain.
//
//===----------------------------------------------------------------------===//

#include "TileForms.h"

#include <cstdlib>
#include <cstring>

namespace xc::vectors {
namespace {

constexpr unsigned kImageBytes = 49152, kB = 16384; // B begins at kB

struct Operands {
  std::string d = "f32", a = "f16", b = "f16";
};

unsigned bitsOf(const std::string &type) {
  return type == "tf32" || type == "f32" || type == "s32" ? 32
         : type == "f16" || type == "bf16"                ? 16
                                                          : 8;
}

/// One side's descriptor, in bytes.
struct Side {
  unsigned start = 0, lbo = 0, sbo = 0, swizzle = 0, base = 0;
  bool transposed = false;
};

uint64_t descriptor(const Side &side) {
  return static_cast<uint64_t>(side.lbo >> 4) << 16 | static_cast<uint64_t>(side.sbo >> 4) << 32 |
         static_cast<uint64_t>(side.base) << 49 | static_cast<uint64_t>(side.swizzle) << 62;
}

struct MatrixForm {
  std::string name;
  Operands types;
  unsigned n = 16;
  Side a{0, 128, 256}, b{kB, 128, 256};
  bool aInRegisters = false;
  bool saturate = false;
  int scaleA = 1, scaleB = 1;
  bool scaleD = true;
  unsigned steps = 1; // products in one group, each 32 bytes of K further
};

std::string list(const char *prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

unsigned accumulators(const MatrixForm &f) { return f.types.d == "f16" ? f.n / 4 : f.n / 2; }

std::string instructionName(const MatrixForm &f) {
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(f.n) + "k" +
         std::to_string(256 / bitsOf(f.types.a)) + (f.saturate ? ".satfinite." : ".") + f.types.d +
         "." + f.types.a + "." + f.types.b;
}

/// Copies the image, and loads the accumulators and the registers of A, which lie
/// behind it.
std::string kernelOf(const MatrixForm &f) {
  unsigned count = accumulators(f);
  std::string n = std::to_string(count);
  std::string text =
      ".version 8.4\n.target sm_90a\n.address_size 64\n\n"
      ".visible .entry form(.param .u64 in, .param .u64 out) .maxntid 128, 1, 1\n{\n"
      "  .shared .align 1024 .b8 buf[49152];\n  .reg .pred %p<4>;\n  .reg .b32 %r<16>, %d<" +
      n +
      ">, %a<4>;\n  .reg .b64 %in, %out, %q<8>;\n"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %r0, %tid.x;\n"
      "  mul.wide.u32 %q0, %r0, 16;\n  add.s64 %q1, %in, %q0;\n  mov.u32 %r1, buf;\n"
      "  mad.lo.u32 %r2, %r0, 16, %r1;\n  mov.u32 %r3, 0;\nCOPY:\n"
      "  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%q1];\n"
      "  st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};\n"
      "  add.s64 %q1, %q1, 2048;\n  add.u32 %r2, %r2, 2048;\n  add.u32 %r3, %r3, 1;\n"
      "  setp.lt.u32 %p0, %r3, 24;\n  @%p0 bra COPY;\n"
      "  add.s64 %q1, %in, 49152;\n  mul.wide.u32 %q2, %r0, " +
      std::to_string(4 * count) + ";\n  add.s64 %q1, %q1, %q2;\n  add.s64 %out, %out, %q2;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "  ld.global.b32 %d" + std::to_string(i) + ", [%q1+" + std::to_string(4 * i) + "];\n";
  if (f.aInRegisters)
    text += "  add.s64 %q3, %in, " + std::to_string(kImageBytes + 512 * count) +
            ";\n  add.s64 %q3, %q3, %q0;\n  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%q3];\n";
  text += "  fence.proxy.async;\n  bar.sync 0;\n"
          "  shr.u32 %r8, %r1, 4;\n  cvt.u64.u32 %q4, %r8;\n  wgmma.fence.sync.aligned;\n"
          "  setp.ne.u32 %p1, " +
          std::string(f.scaleD ? "1" : "0") + ", 0;\n";
  for (unsigned step = 0; step < f.steps; ++step) {
    uint64_t a = descriptor(f.a) + ((f.a.start + 32 * step) >> 4);
    uint64_t b = descriptor(f.b) + ((f.b.start + 32 * step) >> 4);
    text += "  add.s64 %q5, %q4, " + std::to_string(static_cast<int64_t>(a)) +
            ";\n  add.s64 %q6, %q4, " + std::to_string(static_cast<int64_t>(b)) + ";\n  " +
            instructionName(f) + " " + list("%d", count) + ", " +
            (f.aInRegisters ? list("%a", 4) : "%q5") + ", %q6, %p1";
    if (f.types.d != "s32")
      text += ", " + std::to_string(f.scaleA) + ", " + std::to_string(f.scaleB);
    if (bitsOf(f.types.a) == 16)
      text += (f.aInRegisters   ? ""
               : f.a.transposed ? ", 1"
                                : ", 0") +
              std::string(f.b.transposed ? ", 1" : ", 0");
    text += ";\n";
  }
  text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "  st.global.b32 [%out+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// -3 .. 3 in a floating-point format of |exponent| and |mantissa| bits.
uint32_t smallInteger(int value, unsigned exponent, unsigned mantissa) {
  uint32_t sign = value < 0 ? 1u << (exponent + mantissa) : 0;
  unsigned magnitude = static_cast<unsigned>(std::abs(value));
  if (magnitude == 0)
    return 0;
  uint32_t bias = (1u << (exponent - 1)) - 1, field = bias + (magnitude >= 2);
  return sign | field << mantissa | (magnitude == 3 ? 1u << (mantissa - 1) : 0);
}

struct Format {
  unsigned exponent, mantissa;
};
Format formatOf(const std::string &type) {
  if (type == "f16")
    return {5, 10};
  if (type == "bf16")
    return {8, 7};
  if (type == "e4m3")
    return {4, 3};
  if (type == "e5m2")
    return {5, 2};
  return {8, 23};
}

uint32_t smallElement(const std::string &type, Random &random) {
  uint64_t raw = random.next() >> 20;
  if (type == "s8" || type == "u8")
    return raw & 0xff;
  if (type == "s32")
    return raw & 0xffffffff;
  Format format = formatOf(type);
  return smallInteger(static_cast<int>(raw % 7) - 3, format.exponent, format.mantissa);
}

void append(std::vector<uint8_t> &bytes, uint32_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void appendElements(std::vector<uint8_t> &bytes, const std::string &type, size_t count,
                    Random &random) {
  for (size_t i = 0; i < count; ++i)
    append(bytes, smallElement(type, random), bitsOf(type) / 8);
}

TileForm tileFormOf(const MatrixForm &f) {
  TileForm form;
  form.name = f.name;
  form.text = kernelOf(f);
  Random random{fnv(f.name.data(), f.name.size())};
  unsigned registers = accumulators(f) * 128;
  appendElements(form.input, f.types.a, kB * 8 / bitsOf(f.types.a), random);
  appendElements(form.input, f.types.b, (kImageBytes - kB) * 8 / bitsOf(f.types.b), random);
  appendElements(form.input, f.types.d, registers * 32 / bitsOf(f.types.d), random);
  appendElements(form.input, f.types.a, 2048 * 8 / bitsOf(f.types.a), random);
  form.initialOutput.assign(4 * registers, 0);
  return form;
}

void add(std::vector<TileForm> &forms, MatrixForm f, const std::string &what) {
  f.name = instructionName(f) + (f.aInRegisters ? " A in registers" : "") + " " + what;
  forms.push_back(tileFormOf(f));
}

//===----------------------------------------------------------------------===//
// The forms
//===----------------------------------------------------------------------===//

const std::vector<Operands> kTypes = {
    {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
    {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
    {"f32", "e5m2", "e4m3"}, {"f32", "e5m2", "e5m2"}, {"f16", "e4m3", "e4m3"},
    {"f16", "e4m3", "e5m2"}, {"f16", "e5m2", "e4m3"}, {"f16", "e5m2", "e5m2"},
    {"s32", "s8", "s8"},     {"s32", "s8", "u8"},     {"s32", "u8", "s8"},
    {"s32", "u8", "u8"}};

void addTypes(std::vector<TileForm> &forms) {
  for (const Operands &types : kTypes) {
    MatrixForm f;
    f.types = types;
    add(forms, f, "plain");
    f.aInRegisters = true;
    add(forms, f, "plain");
    f.aInRegisters = false;
    f.scaleD = false;
    add(forms, f, "scale-d false");
    f.scaleD = true;
    if (types.d == "s32") {
      f.saturate = true;
      add(forms, f, "plain");
      continue;
    }
    f.scaleA = -1;
    add(forms, f, "-A");
    f.scaleB = -1;
    add(forms, f, "-A -B");
  }
}

/// Bytes of a row in a swizzled tile, by the descriptor's mode: none, 128, 64, 32.
constexpr unsigned kSpan[4] = {16, 128, 64, 32};

/// The descriptor of a side of |extent| rows (or columns, if transposed).
Side sideOf(unsigned start, unsigned swizzle, bool transposed, bool odd) {
  Side side;
  side.start = start;
  side.swizzle = swizzle;
  side.transposed = transposed;
  unsigned atom = 8 * kSpan[swizzle]; // eight rows
  if (swizzle == 0) {
    side.lbo = odd ? 1296 : 128;
    side.sbo = odd ? 144 : 256;
  } else if (!transposed) {
    side.lbo = odd ? 4096 : 16; // not used
    side.sbo = odd ? 2 * atom : atom;
  } else {
    // From one panel of columns to the next; from eight rows of K to the next.
    side.lbo = odd ? atom : 2 * atom;
    side.sbo = odd ? 2 * atom : atom;
  }
  return side;
}

void addLayouts(std::vector<TileForm> &forms) {
  for (unsigned transposed = 0; transposed < 4; ++transposed)
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
      for (bool odd : {false, true}) {
        MatrixForm f;
        f.n = 64;
        f.a = sideOf(0, swizzle, transposed & 1, odd);
        f.b = sideOf(kB, swizzle, transposed & 2, odd);
        add(forms, f,
            "swizzle " + std::to_string(swizzle) + (transposed & 1 ? " A transposed" : "") +
                (transposed & 2 ? " B transposed" : "") + (odd ? " odd strides" : ""));
      }
  // Two panels of columns in the widest swizzle.
  MatrixForm wide;
  wide.n = 128;
  wide.types = {"f32", "bf16", "bf16"};
  wide.a = sideOf(0, 1, true, false);
  wide.b = sideOf(kB, 1, true, false);
  add(forms, wide, "two panels");
  for (const Operands &types : {Operands{"s32", "s8", "u8"}, Operands{"f32", "tf32", "tf32"},
                                Operands{"f32", "e4m3", "e5m2"}})
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
      MatrixForm f;
      f.types = types;
      f.n = 32;
      f.a = sideOf(0, swizzle, false, false);
      f.b = sideOf(kB, swizzle, false, true);
      add(forms, f, "swizzle " + std::to_string(swizzle));
    }
}

/// Starts inside of a swizzled atom: further along K, and further down.
void addStarts(std::vector<TileForm> &forms) {
  for (unsigned swizzle = 1; swizzle < 4; ++swizzle)
    for (unsigned start = 16; start < kSpan[swizzle]; start += start == 16 ? 16 : 32) {
      MatrixForm f;
      f.n = 32;
      f.a = sideOf(start, swizzle, false, false);
      f.b = sideOf(kB + start, swizzle, false, false);
      add(forms, f,
          "swizzle " + std::to_string(swizzle) + " start " + std::to_string(start) + " along K");
    }
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    for (unsigned rows : {1u, 2u, 5u})
      for (unsigned base : {0u, 1u, 3u}) {
        if (swizzle == 0 && base)
          continue;
        MatrixForm f;
        f.n = 16;
        f.a = sideOf(rows * 128, swizzle, false, false);
        f.b = sideOf(kB, swizzle, false, false);
        f.a.base = f.b.base = base;
        add(forms, f,
            "swizzle " + std::to_string(swizzle) + " start " + std::to_string(rows * 128) +
                " base offset " + std::to_string(base));
      }
}

void addSizes(std::vector<TileForm> &forms) {
  auto sweep = [&](const Operands &types, std::initializer_list<unsigned> sizes) {
    for (unsigned n : sizes) {
      MatrixForm f;
      f.types = types;
      f.n = n;
      f.b = sideOf(kB, 1, false, false);
      add(forms, f, "size");
    }
  };
  sweep({"f32", "f16", "f16"}, {8, 24, 40, 72, 104, 136, 200, 256});
  sweep({"f16", "f16", "f16"}, {8, 24, 48, 176, 248});
  sweep({"f32", "bf16", "bf16"}, {8, 56, 96, 192});
  sweep({"f32", "tf32", "tf32"}, {8, 24, 88, 256});
  sweep({"f32", "e4m3", "e4m3"}, {8, 24, 120, 256});
  sweep({"s32", "s8", "s8"}, {8, 24, 48, 112, 224, 256});
  for (unsigned steps : {2u, 4u})
    for (bool inRegisters : {false, true}) {
      MatrixForm f;
      f.n = 32;
      f.steps = steps;
      f.aInRegisters = inRegisters;
      f.a = sideOf(0, 1, false, false);
      f.b = sideOf(kB, 1, false, false);
      add(forms, f, std::to_string(steps) + " steps");
    }
  for (const char *type : {"f16", "bf16"}) {
    MatrixForm f;
    f.types = {"f32", type, type};
    f.n = 48;
    f.aInRegisters = true;
    f.b = sideOf(kB, 3, true, false);
    add(forms, f, "B transposed");
  }
}

//===----------------------------------------------------------------------===//
// Sums that are not exact
//===----------------------------------------------------------------------===//

/// Full mantissas, and exponents spread over |spread| powers of two around one.
uint32_t anyElement(Format format, unsigned spread, Random &random) {
  uint64_t raw = random.next();
  uint32_t bias = (1u << (format.exponent - 1)) - 1;
  uint32_t field = bias - spread / 2 + static_cast<uint32_t>((raw >> 40) % spread);
  return static_cast<uint32_t>(raw >> 8 & 1) << (format.exponent + format.mantissa) |
         field << format.mantissa | (static_cast<uint32_t>(raw) & ((1u << format.mantissa) - 1));
}

void addSums(std::vector<TileForm> &forms, const Operands &types, unsigned spread) {
  MatrixForm f;
  f.types = types;
  f.n = 16;
  f.name = instructionName(f) + " any exponent, " + std::to_string(spread);
  TileForm form;
  form.name = f.name;
  form.text = kernelOf(f);
  Random random{fnv(f.name.data(), f.name.size())};
  unsigned size = bitsOf(types.a) / 8, depth = 32 / size;
  Format a = formatOf(types.a), b = formatOf(types.b), d = formatOf(types.d);
  form.input.assign(kImageBytes, 0);
  auto place = [&](unsigned start, unsigned rows, Format format) {
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned k = 0; k < depth; ++k) {
        uint32_t bits = anyElement(format, spread, random);
        unsigned byte = k * size;
        std::memcpy(&form.input[start + row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16],
                    &bits, size);
      }
  };
  place(0, 64, a);
  place(kB, 16, b);
  for (unsigned i = 0; i < 64 * 16; ++i)
    append(form.input, anyElement(d, spread, random), types.d == "f16" ? 2 : 4);
  form.initialOutput.assign(form.input.size() - kImageBytes, 0);
  form.input.resize(form.input.size() + 2048);
  forms.push_back(form);
}

} // namespace

void addMatrixTileForms(std::vector<TileForm> &forms) {
  addTypes(forms);
  addLayouts(forms);
  addStarts(forms);
  addSizes(forms);
  for (const Operands &types : kTypes)
    if (types.d != "s32") {
      addSums(forms, types, 2);
      addSums(forms, types, types.a == "e4m3" || types.b == "e4m3" ? 12 : 24);
    }
}

} // namespace xc::vectors
