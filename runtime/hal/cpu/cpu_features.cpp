//===- cpu_features.cpp - What instructions this machine has -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/hal/cpu/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

using namespace xc;
using namespace xc::cpu;

static bool startsWith(xcr_string_view_t text, const char *prefix) {
  xcr_string_view_t view = xcr_string(prefix);
  return text.size >= view.size && equal({text.data, view.size}, view);
}

const char *xc::cpu::familyOf(xcr_string_view_t arch) {
  for (const char *prefix :
       {"x86-64", "x86_64", "znver", "skylake", "haswell", "broadwell", "cascadelake", "cooperlake",
        "icelake", "sapphirerapids", "emeraldrapids", "graniterapids", "alderlake", "raptorlake"})
    if (startsWith(arch, prefix))
      return "x86-64";
  for (const char *prefix : {"aarch64", "arm", "cortex", "neoverse", "apple", "ampere", "grace"})
    if (startsWith(arch, prefix))
      return "aarch64";
  return nullptr;
}

uint32_t xc::cpu::levelOf(xcr_string_view_t arch) {
  if (equal(arch, xcr_string("x86-64")))
    return 1;
  if (startsWith(arch, "x86-64-v") && arch.size == 9 && arch.data[8] >= '2' && arch.data[8] <= '4')
    return static_cast<uint32_t>(arch.data[8] - '0');
  return 0;
}

#if defined(__x86_64__)

const char *xc::cpu::hostFamily() { return "x86-64"; }

namespace {
enum Register : uint8_t { EAX, EBX, ECX, EDX };
/// What the operating system must save on a context switch for the feature.
enum SavedState : uint8_t { NoState, AvxState, Avx512State, AmxState };
struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  SavedState state;
  uint8_t level; ///< the generic level that demands it, or 0
};
} // namespace

// Bits from Intel's and AMD's manuals, CPUID; names from LLVM's X86.td.
static constexpr Feature kFeatures[] = {
    {"64bit", 0x80000001, 0, EDX, 29, NoState, 1},
    {"x87", 1, 0, EDX, 0, NoState, 1},
    {"cx8", 1, 0, EDX, 8, NoState, 1},
    {"cmov", 1, 0, EDX, 15, NoState, 1},
    {"mmx", 1, 0, EDX, 23, NoState, 1},
    {"fxsr", 1, 0, EDX, 24, NoState, 1},
    {"sse", 1, 0, EDX, 25, NoState, 1},
    {"sse2", 1, 0, EDX, 26, NoState, 1},
    {"sse3", 1, 0, ECX, 0, NoState, 2},
    {"ssse3", 1, 0, ECX, 9, NoState, 2},
    {"cx16", 1, 0, ECX, 13, NoState, 2},
    {"sse4.1", 1, 0, ECX, 19, NoState, 2},
    {"sse4.2", 1, 0, ECX, 20, NoState, 2},
    {"crc32", 1, 0, ECX, 20, NoState, 2},
    {"popcnt", 1, 0, ECX, 23, NoState, 2},
    {"sahf", 0x80000001, 0, ECX, 0, NoState, 2},
    {"fma", 1, 0, ECX, 12, AvxState, 3},
    {"movbe", 1, 0, ECX, 22, NoState, 3},
    {"xsave", 1, 0, ECX, 26, NoState, 3},
    {"avx", 1, 0, ECX, 28, AvxState, 3},
    {"f16c", 1, 0, ECX, 29, AvxState, 3},
    {"lzcnt", 0x80000001, 0, ECX, 5, NoState, 3},
    {"bmi", 7, 0, EBX, 3, NoState, 3},
    {"avx2", 7, 0, EBX, 5, AvxState, 3},
    {"bmi2", 7, 0, EBX, 8, NoState, 3},
    {"evex512", 7, 0, EBX, 16, Avx512State, 4},
    {"avx512f", 7, 0, EBX, 16, Avx512State, 4},
    {"avx512dq", 7, 0, EBX, 17, Avx512State, 4},
    {"avx512cd", 7, 0, EBX, 28, Avx512State, 4},
    {"avx512bw", 7, 0, EBX, 30, Avx512State, 4},
    {"avx512vl", 7, 0, EBX, 31, Avx512State, 4},
    {"pclmul", 1, 0, ECX, 1, NoState, 0},
    {"aes", 1, 0, ECX, 25, NoState, 0},
    {"rdrnd", 1, 0, ECX, 30, NoState, 0},
    {"sse4a", 0x80000001, 0, ECX, 6, NoState, 0},
    {"prfchw", 0x80000001, 0, ECX, 8, NoState, 0},
    {"mwaitx", 0x80000001, 0, ECX, 29, NoState, 0},
    {"fsgsbase", 7, 0, EBX, 0, NoState, 0},
    {"invpcid", 7, 0, EBX, 10, NoState, 0},
    {"rdseed", 7, 0, EBX, 18, NoState, 0},
    {"adx", 7, 0, EBX, 19, NoState, 0},
    {"avx512ifma", 7, 0, EBX, 21, Avx512State, 0},
    {"clflushopt", 7, 0, EBX, 23, NoState, 0},
    {"clwb", 7, 0, EBX, 24, NoState, 0},
    {"sha", 7, 0, EBX, 29, NoState, 0},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512State, 0},
    {"pku", 7, 0, ECX, 4, NoState, 0},
    {"waitpkg", 7, 0, ECX, 5, NoState, 0},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512State, 0},
    {"shstk", 7, 0, ECX, 7, NoState, 0},
    {"gfni", 7, 0, ECX, 8, NoState, 0},
    {"vaes", 7, 0, ECX, 9, AvxState, 0},
    {"vpclmulqdq", 7, 0, ECX, 10, AvxState, 0},
    {"avx512vnni", 7, 0, ECX, 11, Avx512State, 0},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512State, 0},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512State, 0},
    {"rdpid", 7, 0, ECX, 22, NoState, 0},
    {"cldemote", 7, 0, ECX, 25, NoState, 0},
    {"movdiri", 7, 0, ECX, 27, NoState, 0},
    {"movdir64b", 7, 0, ECX, 28, NoState, 0},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512State, 0},
    {"serialize", 7, 0, EDX, 14, NoState, 0},
    {"amx-bf16", 7, 0, EDX, 22, AmxState, 0},
    {"avx512fp16", 7, 0, EDX, 23, Avx512State, 0},
    {"amx-tile", 7, 0, EDX, 24, AmxState, 0},
    {"amx-int8", 7, 0, EDX, 25, AmxState, 0},
    {"avxvnni", 7, 1, EAX, 4, AvxState, 0},
    {"avx512bf16", 7, 1, EAX, 5, Avx512State, 0},
    {"amx-fp16", 7, 1, EAX, 21, AmxState, 0},
    {"avxifma", 7, 1, EAX, 23, AvxState, 0},
    {"avxvnniint8", 7, 1, EDX, 4, AvxState, 0},
    {"avxneconvert", 7, 1, EDX, 5, AvxState, 0},
    {"xsaveopt", 0xd, 1, EAX, 0, NoState, 0},
    {"xsavec", 0xd, 1, EAX, 1, NoState, 0},
    {"xsaves", 0xd, 1, EAX, 3, NoState, 0},
    {"clzero", 0x80000008, 0, EBX, 0, NoState, 0},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, NoState, 0},
    {"rtm", 7, 0, EBX, 11, NoState, 0},
    {"enqcmd", 7, 0, ECX, 29, NoState, 0},
    {"uintr", 7, 0, EDX, 5, NoState, 0},
    {"tsxldtrk", 7, 0, EDX, 16, NoState, 0},
    {"sha512", 7, 1, EAX, 0, AvxState, 0},
    {"sm3", 7, 1, EAX, 1, AvxState, 0},
    {"sm4", 7, 1, EAX, 2, AvxState, 0},
    {"cmpccxadd", 7, 1, EAX, 7, NoState, 0},
    {"hreset", 7, 1, EAX, 22, NoState, 0},
    {"amx-complex", 7, 1, EDX, 8, AmxState, 0},
    {"avxvnniint16", 7, 1, EDX, 10, AvxState, 0},
    {"prefetchi", 7, 1, EDX, 14, NoState, 0},
    // The first version of AVX10, which every CPU with the bit has.
    {"avx10.1", 7, 1, EDX, 19, Avx512State, 0},
};

/// Bits of XCR0 that each state needs; see "XGETBV" in Intel's manual.
static bool isStateSaved(SavedState state) {
  if (state == NoState)
    return true;
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t kOsXsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & kOsXsave))
    return false;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  uint32_t needed = state == AvxState ? 0x6u : state == Avx512State ? 0xe6u : 0x60000u;
  return (low & needed) == needed;
}

static bool isPresent(const Feature &feature) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[EAX], &registers[EBX],
                         &registers[ECX], &registers[EDX]))
    return false;
  return (registers[feature.reg] >> feature.bit & 1) && isStateSaved(feature.state);
}

FeatureState xc::cpu::checkFeature(xcr_string_view_t name) {
  for (const Feature &feature : kFeatures)
    if (equal(name, xcr_string(feature.name)))
      return isPresent(feature) ? FeatureState::Present : FeatureState::Absent;
  return FeatureState::Unknown;
}

const char *xc::cpu::hostArch() {
  static const char *const names[] = {"x86-64", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  uint32_t level = 4;
  for (const Feature &feature : kFeatures)
    if (feature.level && feature.level <= level && !isPresent(feature))
      level = feature.level - 1u;
  return names[level];
}

Status xc::cpu::hostName(String *name) {
  uint32_t words[12] = {};
  uint32_t highest = __get_cpuid_max(0x80000000, nullptr);
  if (highest < 0x80000004)
    return name->assign(xcr_string(hostFamily()));
  for (uint32_t i = 0; i < 3; ++i)
    __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                &words[4 * i + 3]);
  char text[sizeof(words) + 1] = {};
  memcpy(text, words, sizeof(words));
  xcr_string_view_t view = xcr_string(text);
  while (view.size && view.data[view.size - 1] == ' ')
    --view.size;
  while (view.size && *view.data == ' ')
    ++view.data, --view.size;
  return name->assign(view.size ? view : xcr_string(hostFamily()));
}

#elif defined(__aarch64__)

const char *xc::cpu::hostFamily() { return "aarch64"; }
const char *xc::cpu::hostArch() { return "aarch64"; }

FeatureState xc::cpu::checkFeature(xcr_string_view_t name) {
  // Bits of AT_HWCAP (the kernel's elf_hwcaps document); names from LLVM's
  // AArch64Features.td.
  static constexpr struct {
    const char *name;
    uint8_t bit;
  } kFeatures[] = {{"fp-armv8", 0}, {"neon", 1},       {"aes", 3},      {"sha2", 6},
                   {"crc", 7},      {"lse", 8},        {"fullfp16", 9}, {"rdm", 12},
                   {"jsconv", 13},  {"complxnum", 14}, {"rcpc", 15},    {"sha3", 17},
                   {"dotprod", 20}, {"sve", 22},       {"fp16fml", 23}};
#ifdef __linux__
  unsigned long bits = getauxval(AT_HWCAP);
  for (const auto &feature : kFeatures)
    if (equal(name, xcr_string(feature.name)))
      return bits >> feature.bit & 1 ? FeatureState::Present : FeatureState::Absent;
#endif
  return FeatureState::Unknown;
}

Status xc::cpu::hostName(String *name) { return name->assign(xcr_string(hostFamily())); }

#else
#error "the CPU device knows x86-64 and aarch64"
#endif
