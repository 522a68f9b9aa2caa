//===- Record.cpp - Recorded results of the vector suite ------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Record.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace xc::vectors {

static const char kMagic[] = "XCVEC1\n";

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

template <typename T> static void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

bool writeRecord(const std::string &path, const Record &record) {
  std::string out = kMagic + record.device + "\n";
  for (const Form &form : allForms()) {
    auto it = record.forms.find(form.name);
    if (it == record.forms.end())
      continue;
    const FormRecord &r = it->second;
    put(out, static_cast<uint16_t>(form.name.size()));
    out += form.name;
    put(out, r.fingerprint);
    put(out, static_cast<uint8_t>(r.refused));
    put(out, static_cast<uint32_t>(r.outputs.size() / form.outputs.size()));
    for (size_t i = 0; i < r.outputs.size(); ++i)
      out.append(reinterpret_cast<const char *>(&r.outputs[i]),
                 kindBytes(form.outputs[i % form.outputs.size()]));
  }
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool ok = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  return std::fclose(file) == 0 && ok;
}

namespace {
struct Reader {
  const std::string &data;
  size_t at = 0;
  bool ok = true;
  bool bytes(void *to, size_t size) {
    if (data.size() - at < size)
      return ok = false;
    std::memcpy(to, data.data() + at, size);
    at += size;
    return true;
  }
  template <typename T> T get() {
    T value = T();
    bytes(&value, sizeof(value));
    return value;
  }
};
} // namespace

bool readRecord(const std::string &path, Record &record, std::string &error) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file) {
    error = "cannot open " + path;
    return false;
  }
  std::string data;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), file)) > 0;)
    data.append(buffer, n);
  std::fclose(file);
  size_t magic = std::strlen(kMagic), line = data.find('\n', magic);
  if (data.compare(0, magic, kMagic) != 0 || line == std::string::npos) {
    error = path + " is no recording";
    return false;
  }
  record.device = data.substr(magic, line - magic);
  Reader reader{data, line + 1};
  while (reader.ok && reader.at < data.size()) {
    std::string name(reader.get<uint16_t>(), '\0');
    reader.bytes(name.data(), name.size());
    auto form = std::find_if(allForms().begin(), allForms().end(),
                             [&](const Form &f) { return f.name == name; });
    if (!reader.ok || form == allForms().end()) {
      error = "form '" + name + "' is not in the suite: record anew";
      return false;
    }
    FormRecord &r = record.forms[name];
    r.fingerprint = reader.get<uint64_t>();
    r.refused = reader.get<uint8_t>() != 0;
    auto count = reader.get<uint32_t>();
    for (uint64_t i = 0; reader.ok && i < uint64_t(count) * form->outputs.size(); ++i) {
      uint64_t value = 0;
      reader.bytes(&value, kindBytes(form->outputs[i % form->outputs.size()]));
      r.outputs.push_back(value);
    }
  }
  if (!reader.ok)
    error = path + " ends early";
  return reader.ok;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {

struct FloatLayout {
  unsigned exponent, mantissa;
};

FloatLayout layoutOf(char kind) {
  switch (kind) {
  case 'd':
    return {11, 52};
  case 'h':
  case 'H':
    return {5, 10};
  case 'b':
  case 'B':
    return {8, 7};
  default:
    return {8, 23};
  }
}

double valueOf(uint64_t bits, FloatLayout l) {
  if (l.mantissa == 52) {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  uint64_t mantissa = bits & ((1ull << l.mantissa) - 1);
  int exponent = static_cast<int>(bits >> l.mantissa & ((1u << l.exponent) - 1));
  int bias = (1 << (l.exponent - 1)) - 1;
  bool negative = bits >> (l.mantissa + l.exponent) & 1;
  double value;
  if (exponent == (1 << l.exponent) - 1)
    value = mantissa ? NAN : INFINITY;
  else
    value = std::ldexp(static_cast<double>(exponent ? mantissa | 1ull << l.mantissa : mantissa),
                       (exponent ? exponent : 1) - bias - static_cast<int>(l.mantissa));
  return negative ? -value : value;
}

/// The ordinal of a float among all of its format.
int64_t ordinal(uint64_t bits, FloatLayout l) {
  unsigned width = l.mantissa + l.exponent;
  auto magnitude = static_cast<int64_t>(bits & ((1ull << width) - 1));
  return bits >> width & 1 ? -magnitude : magnitude;
}

bool closeEnough(uint64_t recorded, uint64_t got, FloatLayout l, const Form &form) {
  double a = valueOf(recorded, l), b = valueOf(got, l);
  if (std::isnan(a) || std::isnan(b))
    return recorded == got;
  if (a == b)
    return true;
  if ((std::isinf(a) || std::isinf(b)) && form.match != Match::Ulp)
    return false;
  switch (form.match) {
  case Match::Exact:
    return false;
  case Match::Ulp:
    return std::fabs(static_cast<double>(ordinal(recorded, l)) -
                     static_cast<double>(ordinal(got, l))) <= form.limit;
  case Match::Absolute:
    return std::fabs(a - b) <= form.limit;
  case Match::Log:
    return std::fabs(a - b) <= form.limit * std::fmax(1.0, std::fabs(a));
  }
  return false;
}

bool sameValue(const Form &form, char kind, uint64_t recorded, uint64_t got) {
  if (recorded == got)
    return true;
  if (form.match == Match::Exact)
    return false;
  FloatLayout l = layoutOf(kind);
  if (kind != 'H' && kind != 'B')
    return closeEnough(recorded, got, l, form);
  return closeEnough(recorded & 0xffff, got & 0xffff, l, form) &&
         closeEnough(recorded >> 16 & 0xffff, got >> 16 & 0xffff, l, form);
}

std::string hexText(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

} // namespace

size_t compareForm(const Form &form, const std::vector<uint64_t> &inputs,
                   const std::vector<uint64_t> &recorded, const std::vector<uint64_t> &got,
                   std::string &report) {
  if (recorded.size() != got.size()) {
    report += form.name + ": " + std::to_string(got.size()) + " results, recorded are " +
              std::to_string(recorded.size()) + "\n";
    return 1;
  }
  size_t outputs = form.outputs.size(), different = 0;
  for (size_t i = 0; i < recorded.size(); ++i) {
    size_t index = i / outputs, output = i % outputs;
    if (sameValue(form, form.outputs[output], recorded[i], got[i]))
      continue;
    if (++different > 6)
      continue;
    report += form.name + " case " + std::to_string(index) + ":";
    for (size_t k = 0; k < form.inputs.size() && k < 6; ++k)
      report += " " + hexText(inputs[index * form.inputs.size() + k]);
    report += " -> recorded " + hexText(recorded[i]) + ", got " + hexText(got[i]) + "\n";
  }
  return different;
}

} // namespace xc::vectors
