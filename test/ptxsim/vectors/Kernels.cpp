//===- Kernels.cpp - Kernels and operands of the vector suite -------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Random.h"

#include <cmath>
#include <cstring>

namespace xc::vectors {

const std::vector<Form> &allForms() {
  static const std::vector<Form> forms = [] {
    std::vector<Form> all;
    addIntegerForms(all);
    addFloatForms(all);
    addConvertForms(all);
    addWarpForms(all);
    addMemoryForms(all);
    return all;
  }();
  return forms;
}

unsigned kindBytes(char kind) {
  switch (kind) {
  case 'd':
  case 'l':
  case 'C':
  case 'O':
    return 8;
  case 'h':
  case 'b':
  case 's':
  case 'e':
    return 2;
  default:
    return 4;
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static std::string bits(char kind) { return std::to_string(kindBytes(kind) * 8); }

std::string kernelText(const Form &form) {
  // The fp8 forms of mma came with PTX 8.4.
  const char *version = form.version ? form.version : form.target == 89 ? "8.4" : "8.0";
  std::string text =
      std::string(".version ") + version + "\n.target sm_" + std::to_string(form.target) +
      "\n.address_size 64\n\n.visible .entry form(.param .u64 in, .param .u64 out)\n{\n"
      "  .reg .pred %p<4>;\n  .reg .b32 %t<8>;\n  .reg .b64 %q<8>;\n  .reg .b16 %h<8>;\n";
  for (size_t i = 0; i < form.inputs.size(); ++i)
    text += "  .reg .b" + bits(form.inputs[i]) + " %a" + std::to_string(i) + ";\n";
  for (size_t i = 0; i < form.outputs.size(); ++i)
    text += "  .reg .b" + bits(form.outputs[i]) + " %d" + std::to_string(i) + ";\n";
  text += "  .reg .b32 %thread, %block, %size;\n  .reg .b64 %in, %out;\n"
          "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
          "  mov.u32 %thread, %tid.x;\n  mov.u32 %block, %ctaid.x;\n  mov.u32 %size, %ntid.x;\n"
          "  mad.lo.u32 %thread, %block, %size, %thread;\n";
  text += "  mad.wide.u32 %in, %thread, " + std::to_string(form.inputs.size() * 8) + ", %in;\n";
  text += "  mad.wide.u32 %out, %thread, " + std::to_string(form.outputs.size() * 8) + ", %out;\n";
  for (size_t i = 0; i < form.inputs.size(); ++i)
    text += "  ld.global.b" + bits(form.inputs[i]) + " %a" + std::to_string(i) + ", [%in+" +
            std::to_string(i * 8) + "];\n";
  text += "  " + form.body + "\n";
  for (size_t i = 0; i < form.outputs.size(); ++i)
    text += "  st.global.b" + bits(form.outputs[i]) + " [%out+" + std::to_string(i * 8) + "], %d" +
            std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

uint64_t f32(float value) {
  uint32_t b;
  std::memcpy(&b, &value, 4);
  return b;
}
uint64_t f64(double value) {
  uint64_t b;
  std::memcpy(&b, &value, 8);
  return b;
}

const std::vector<uint64_t> kEdgesF32 = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
    0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000,
    0x40490fdb, 0x4b800001, 0xcf000000, 0x3effffff, 0x34000000, 0x7fa00000};
const std::vector<uint64_t> kEdgesF64 = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000123,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0x400921fb54442d18,
    0x4340000000000001, 0x7ff4000000000000, 0x3ca0000000000000, 0xc3e0000000000000};
const std::vector<uint64_t> kEdgesF16 = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                         0xfe01, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff,
                                         0x3800, 0x4248, 0x7d00, 0x1001, 0x6801, 0xb555};
const std::vector<uint64_t> kEdgesBf16 = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0,
                                          0xffc1, 0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f,
                                          0x3f00, 0x4049, 0x7fa0, 0x3381, 0x4b01, 0xbeab};
const std::vector<uint64_t> kEdgesI32 = {
    0,          1,          2,          3,          7,          31,         32,
    33,         255,        256,        0xffff,     0x10000,    0x7fffffff, 0x80000000,
    0x80000001, 0xffffffff, 0xfffffffe, 0x55555555, 0xaaaaaaaa, 0x00800000};
const std::vector<uint64_t> kEdgesI64 = {0,
                                         1,
                                         2,
                                         3,
                                         31,
                                         63,
                                         64,
                                         0xffffffff,
                                         0x100000000,
                                         0x7fffffff,
                                         0x80000000,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0x8000000000000001,
                                         0xffffffffffffffff,
                                         0xfffffffffffffffe,
                                         0x5555555555555555,
                                         0xaaaaaaaaaaaaaaaa,
                                         0x0020000000000001,
                                         0xffffffff00000000};
const std::vector<uint64_t> kEdgesI16 = {0,      1,      2,      3,      7,      15,     16,
                                         127,    128,    255,    256,    0x7fff, 0x8000, 0x8001,
                                         0xffff, 0xfffe, 0x5555, 0xaaaa, 0x0f0f, 0x4000};
const std::vector<uint64_t> kEdgesAmount = {0,  1,  2,  4,  7,  8,  15, 16,  17,  24,
                                            31, 32, 33, 48, 63, 64, 65, 255, 256, 0xffffffff};

const std::vector<uint64_t> *edgesOf(char kind) {
  switch (kind) {
  case 'f':
  case 't':
    return &kEdgesF32;
  case 'd':
    return &kEdgesF64;
  case 'h':
    return &kEdgesF16;
  case 'b':
    return &kEdgesBf16;
  case 'i':
    return &kEdgesI32;
  case 'l':
    return &kEdgesI64;
  case 's':
    return &kEdgesI16;
  case 'n':
    return &kEdgesAmount;
  default:
    return nullptr;
  }
}

/// Values around the limits of the integer types, halves, and odd ones out.
double nearLimit(Random &random) {
  static const double kLimits[] = {0,
                                   1,
                                   127,
                                   128,
                                   255,
                                   256,
                                   32767,
                                   32768,
                                   65535,
                                   65536,
                                   2147483647.0,
                                   2147483648.0,
                                   4294967295.0,
                                   4294967296.0,
                                   9223372036854775808.0,
                                   18446744073709551616.0,
                                   1e30};
  static const double kOffsets[] = {0, 0.25, 0.5, 0.75, 1, -0.5, 1.5, 2.5};
  double value = kLimits[random.next() % 17] + kOffsets[random.next() % 8];
  return random.next() & 1 ? -value : value;
}

uint64_t pairOf(char half, Random &random);

uint64_t randomValue(char kind, Random &random) {
  uint64_t raw = random.next();
  switch (kind) {
  case 'f':
  case 't':
    // Exponents around one, so that sums neither vanish nor swallow.
    return (raw & 0x807fffff) | ((100 + (raw >> 40) % 55) << 23);
  case 'd':
    return (raw & 0x800fffffffffffffull) | ((1000 + (random.next() >> 40) % 50) << 52);
  case 'h':
    return (raw & 0x83ff) | ((5 + (raw >> 40) % 20) << 10);
  case 'b':
    return (raw & 0x807f) | ((115 + (raw >> 40) % 25) << 7);
  case 'H':
    return pairOf('h', random);
  case 'B':
    return pairOf('b', random);
  case 'i':
  case 'x':
    return raw & 0xffffffff;
  case 's':
  case 'e':
    return raw & 0xffff;
  case 'n':
    return raw & 63;
  case 'o':
    return f32(static_cast<float>(nearLimit(random)));
  case 'O':
    return f64(nearLimit(random));
  case 'c':
  case 'k':
    return f32(static_cast<float>(random.small() * 4));
  case 'C':
    return f64(random.small() * 4 + 0x1p-30 * random.small());
  case 'q':
    return raw & 0xffffffff;
  default:
    return raw;
  }
}

uint64_t pick(char kind, Random &random) {
  const std::vector<uint64_t> *edges = edgesOf(kind);
  if (edges && random.next() % 2)
    return (*edges)[random.next() % edges->size()];
  return randomValue(kind, random);
}

uint64_t pairOf(char half, Random &random) {
  uint64_t low = pick(half, random);
  return low | pick(half, random) << 16;
}

/// A small multiple of 1/128 as a 16-bit float: exact in f16, and in bf16.
uint64_t smallHalf(bool bfloat, Random &random) {
  auto value = static_cast<float>(random.small());
  uint32_t b = static_cast<uint32_t>(f32(value));
  if (bfloat)
    return b >> 16;
  if (value == 0.0f)
    return 0;
  int exponent = static_cast<int>(b >> 23 & 0xff) - 127 + 15;
  return (b >> 16 & 0x8000) | static_cast<uint32_t>(exponent) << 10 | (b >> 13 & 0x3ff);
}

uint64_t matrixValue(char kind, Random &random) {
  if (kind == 'm' || kind == 'M') {
    uint64_t low = smallHalf(kind == 'M', random);
    return low | smallHalf(kind == 'M', random) << 16;
  }
  if (kind == 'v' || kind == 'V') {
    uint64_t low = randomValue(kind == 'v' ? 'h' : 'b', random);
    return low | randomValue(kind == 'v' ? 'h' : 'b', random) << 16;
  }
  if (kind == 'g' || kind == 'G') {
    // -3 .. 3 in four bytes.
    static const uint64_t kE4m3[] = {0xc4, 0xc0, 0xb8, 0x00, 0x38, 0x40, 0x44};
    static const uint64_t kE5m2[] = {0xc2, 0xc0, 0xbc, 0x00, 0x3c, 0x40, 0x42};
    uint64_t word = 0;
    for (unsigned i = 0; i < 4; ++i)
      word |= (kind == 'g' ? kE4m3 : kE5m2)[(random.next() >> 20) % 7] << (8 * i);
    return word;
  }
  return randomValue(kind == 'w' ? 'f' : kind, random);
}

// Edge values of which all pairs are tried; the rest comes up at random.
constexpr size_t kPairs = 15;

bool isMatrixKind(char kind) { return std::strchr("mMcCkqgGvVw", kind) != nullptr; }

uint64_t caseValue(const Form &form, size_t index, size_t operand, Random &random) {
  char kind = form.inputs[operand];
  if (isMatrixKind(kind))
    return matrixValue(kind, random);
  const std::vector<uint64_t> *edges = edgesOf(kind);
  if (!edges)
    return randomValue(kind, random);
  if (form.inputs.size() == 1 && index < edges->size())
    return (*edges)[index];
  if (form.inputs.size() == 2) {
    const std::vector<uint64_t> *other = edgesOf(form.inputs[1]);
    const std::vector<uint64_t> *outer = edgesOf(form.inputs[0]);
    if (other && outer && index < kPairs * kPairs)
      return operand == 0 ? (*outer)[index / kPairs] : (*other)[index % kPairs];
  }
  return pick(kind, random);
}

} // namespace

std::vector<uint64_t> makeInputs(const Form &form) {
  size_t operands = form.inputs.size();
  size_t cases = operands <= 1 ? 64 : operands == 2 ? 256 : 160;
  if (operands > 0 && isMatrixKind(form.inputs[0]))
    cases = 4 * kBlockSize;
  Random random{fnv(form.name.data(), form.name.size())};
  std::vector<uint64_t> inputs;
  uint64_t mask = 0;
  for (size_t i = 0; i < cases; ++i) {
    if (i % kBlockSize == 0)
      mask = random.next();
    for (size_t k = 0; k < operands; ++k) {
      if (form.inputs[k] == 'p')
        // Two groups of lanes; each lane's mask is its group.
        inputs.push_back((mask >> (i % kBlockSize) & 1 ? mask : ~mask) & 0xffffffff);
      else
        inputs.push_back(caseValue(form, i, k, random));
    }
  }
  return inputs;
}

uint64_t fingerprint(const Form &form, const std::vector<uint64_t> &inputs) {
  std::string text = kernelText(form);
  uint64_t hash = fnv(text.data(), text.size());
  return fnv(inputs.data(), inputs.size() * sizeof(uint64_t), hash);
}

} // namespace xc::vectors
