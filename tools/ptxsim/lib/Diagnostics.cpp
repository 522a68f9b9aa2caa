//===- Diagnostics.cpp - Texts of errors, faults and counters -------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleImpl.h"

#include <cstdio>
#include <cstring>

using namespace xc::ptxsim;

std::string ParseError::str() const {
  std::string text = line ? "line " + std::to_string(line) : std::string();
  if (column)
    text += ":" + std::to_string(column);
  return text.empty() ? message : text + ": " + message;
}

const char *xc::ptxsim::faultKindName(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return "none";
  case FaultKind::InvalidLaunch:
    return "invalid launch";
  case FaultKind::OutOfBounds:
    return "out-of-bounds access";
  case FaultKind::UseAfterFree:
    return "use after free";
  case FaultKind::Misaligned:
    return "misaligned access";
  case FaultKind::UninitialisedRead:
    return "uninitialised read";
  case FaultKind::Race:
    return "data race";
  case FaultKind::BarrierDivergence:
    return "barrier divergence";
  case FaultKind::AsyncCopy:
    return "access to an asynchronous copy in flight";
  case FaultKind::Deadlock:
    return "deadlock";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::Assert:
    return "assertion failure";
  case FaultKind::IllegalInstruction:
    return "illegal instruction";
  case FaultKind::Timeout:
    return "timeout";
  case FaultKind::MbarrierMisuse:
    return "misuse of an mbarrier";
  case FaultKind::MissingProxyFence:
    return "missing proxy fence";
  }
  return "unknown fault";
}

static std::string dimText(const Dim3 &d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string Fault::str() const {
  std::string text = std::string(faultKindName(kind)) + " in kernel '" + kernel + "': " + message;
  if (instruction.empty())
    return text;
  text += "\n  PTX line " + std::to_string(ptxLine) + ": " + instruction;
  text += "\n  thread " + dimText(thread) + " of block " + dimText(block);
  if (!source.empty())
    text += "\n  at " + source;
  for (const std::string &line : details)
    text += "\n  " + line;
  return text;
}

void Counters::add(const Counters &o) {
  threadInstructions += o.threadInstructions;
  warpInstructions += o.warpInstructions;
  integer += o.integer;
  floating += o.floating;
  conversion += o.conversion;
  control += o.control;
  memory += o.memory;
  sync += o.sync;
  matrix += o.matrix;
  globalLoadRequests += o.globalLoadRequests;
  globalLoadSectors += o.globalLoadSectors;
  globalStoreRequests += o.globalStoreRequests;
  globalStoreSectors += o.globalStoreSectors;
  sharedRequests += o.sharedRequests;
  sharedBankConflicts += o.sharedBankConflicts;
  atomicRequests += o.atomicRequests;
  barriers += o.barriers;
  if (o.sharedRaceBytes > sharedRaceBytes) {
    sharedRaceBytes = o.sharedRaceBytes;
    sharedRaceOf = o.sharedRaceOf;
  }
}

/// Prints one conversion of a format with its argument; returns the bytes used.
static size_t printConversion(const std::string &spec, const uint8_t *arguments, size_t at) {
  char kind = spec.back();
  bool isLong = spec.find('l') != std::string::npos;
  auto read = [&](auto &value) {
    at = (at + sizeof(value) - 1) / sizeof(value) * sizeof(value);
    std::memcpy(&value, arguments + at, sizeof(value));
    at += sizeof(value);
  };
  if (std::strchr("eEfFgGaA", kind)) {
    double value;
    read(value);
    std::printf(spec.c_str(), value);
  } else if (kind == 's' || kind == 'p') {
    uint64_t value;
    read(value);
    std::printf(spec.c_str(), reinterpret_cast<const char *>(value));
  } else if (isLong) {
    uint64_t value;
    read(value);
    std::printf(spec.c_str(), value);
  } else {
    uint32_t value;
    read(value);
    std::printf(spec.c_str(), value);
  }
  return at;
}

bool xc::ptxsim::printFormatted(const uint8_t *params, uint8_t *result) {
  uint64_t format = 0, arguments = 0;
  std::memcpy(&format, params, 8);
  std::memcpy(&arguments, params + 8, 8);
  const auto *text = reinterpret_cast<const char *>(format);
  const auto *values = reinterpret_cast<const uint8_t *>(arguments);
  size_t at = 0;
  int32_t count = 0;
  while (*text) {
    if (*text != '%' || text[1] == '%') {
      std::putchar(*text);
      text += *text == '%' ? 2 : 1;
      continue;
    }
    std::string spec(1, *text++);
    while (*text && std::strchr("0123456789-+ #.hlqz", *text))
      spec += *text++;
    if (!*text)
      break;
    spec += *text++;
    at = printConversion(spec, values, at);
    ++count;
  }
  std::fflush(stdout);
  if (result)
    std::memcpy(result, &count, sizeof(count));
  return true;
}
