//===- Requirements.cpp - What a form needs of target and version ---------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A form must satisfy every row that describes it. The rows state what ptxas
// accepts (test/ptxsim/check-targets.py compares them with it); for targets
// before sm_75, which it no longer knows, what the PTX manual says.
//
//===----------------------------------------------------------------------===//

#include "Requirements.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

using namespace xc::ptxsim;

namespace {

struct Requirement {
  std::string_view names;        ///< "add|sub"; "*": every instruction
  std::string_view modifiers;    ///< "bf16|bf16x2 f32": one of each group, in this order
  uint8_t sm;                    ///< the first target
  uint8_t version;               ///< of PTX
  bool specific = false;         ///< sm_90a alone
  uint8_t operands = 0;          ///< only with so many
  std::string_view without = {}; ///< "a|b": not of forms with one of these
  uint8_t before = 255;          ///< for targets before this one only
};

constexpr Requirement kRequirements[] = {
    // 16-bit floating point.
    {"add|sub|mul|fma|set|setp", "f16|f16x2", 53, 60},
    {"set", "s16|u16|s32|u32 f16|f16x2", 53, 65},
    {"neg", "f16|f16x2", 53, 60},
    {"abs", "f16|f16x2", 53, 65},
    {"ex2|tanh", "f16|f16x2", 75, 70},
    {"tanh", "", 75, 70},
    {"min|max", "f16|f16x2", 80, 70},
    {"abs|neg|fma|min|max", "bf16|bf16x2", 80, 70},
    {"add|sub|mul|set|setp|ex2|tanh", "bf16|bf16x2", 90, 78},
    {"min|max", "NaN", 80, 70},
    {"min|max", "xorsign", 86, 72},
    {"fma", "relu", 80, 70},

    // Conversions.
    {"cvt", "bf16|bf16x2|f16x2 f32", 80, 70},
    {"cvt", "f32 bf16", 80, 71},
    {"cvt", "bf16 bf16|f16|f64|s16|u16|s32|u32|s64|u64", 90, 78},
    {"cvt", "f16|f64|s16|u16|s32|u32|s64|u64 bf16", 90, 78},
    {"cvt", "tf32", 80, 70},
    {"cvt", "rn|rz tf32", 90, 78},
    {"cvt", "relu", 80, 70},
    {"cvt", "satfinite", 70, 81, false, 0, "e4m3x2|e5m2x2"},
    {"cvt", "rn|rz satfinite tf32", 100, 86},
    {"cvt", "e4m3x2|e5m2x2", 89, 81, false, 0, "", /*before=*/90},
    {"cvt", "e4m3x2|e5m2x2", 89, 78},
    {"cvt", "pack", 72, 65},
    {"cvt", "pack s2|u2|s4|u4", 75, 65},

    // Integers and bits.
    {"add|min|max", "s16x2|u16x2", 90, 80},
    {"min|max", "relu", 90, 80},
    {"dp2a|dp4a", "", 61, 60},
    {"bmsk|szext", "", 70, 76},
    {"lop3", "and|or", 70, 82},
    {"redux", "", 80, 70},
    {"match|nanosleep", "", 70, 63},
    {"elect", "", 90, 80},

    // Memory.
    {"*", "shared::cta", 30, 78},
    {"*", "shared::cluster", 90, 78},
    {"*", "cluster", 90, 78},
    {"*", "L2::cache_hint", 80, 74},
    {"ld|st", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
     70, 74},
    {"ld", "L2::64B|L2::128B", 75, 74},
    {"ld", "L2::256B", 80, 74},
    {"ld|st|atom|red|fence", "relaxed|acquire|release|acq_rel|sc", 70, 60},
    {"ld|st", "mmio", 70, 82},
    {"ld|st|mov", "b128", 70, 83},
    {"ld|st", "v8", 100, 88},
    {"ld|st", "v4 b64|u64|s64|f64", 100, 88},
    {"ld|st", "param::entry|param::func", 30, 83},
    {"prefetch", "L2::evict_last|L2::evict_normal", 80, 74},
    {"prefetch", "tensormap", 90, 80},
    {"applypriority|createpolicy|discard", "", 80, 74},
    {"cvta|isspacep", "param", 70, 77},
    {"atom|red", "f64", 60, 60},
    {"atom|red", "f16x2", 60, 62},
    {"atom|red", "f16", 70, 63},
    {"atom", "b16", 70, 63},
    {"atom|red", "bf16|bf16x2", 90, 78},
    {"atom|red", "v2|v4|v8", 90, 81},

    // Synchronisation.
    {"bar|barrier", "cta", 30, 78},
    {"barrier", "cluster relaxed|release|acquire", 90, 80},
    {"fence", "alias", 70, 75},
    {"fence", "async|mbarrier_init", 90, 80},
    {"griddepcontrol", "", 90, 78},
    {"mapa|getctarank", "", 90, 78},
    {"setmaxnreg", "", 90, 80, /*specific=*/true},
    {"mbarrier", "", 80, 70},
    {"mbarrier", "parity", 80, 71},
    {"mbarrier", "release|acquire", 80, 80},
    {"mbarrier", "try_wait", 90, 78},
    {"mbarrier", "arrive|arrive_drop", 90, 78, false, /*operands=*/3, "noComplete|expect_tx"},
    {"mbarrier", "arrive|arrive_drop shared::cluster", 90, 80},
    {"mbarrier", "expect_tx|complete_tx", 90, 80},
    {"mbarrier", "arrive|arrive_drop|test_wait|try_wait relaxed", 90, 86, false, 0, "expect_tx"},

    // Asynchronous copies.
    {"cp", "async", 80, 70},
    {"cp", "L2::64B|L2::128B|L2::256B", 80, 74},
    {"cp", "bulk", 90, 80},
    {"cp", "bulk shared::cta global", 90, 86},

    // Matrices.
    {"ldmatrix", "", 75, 65},
    {"stmatrix", "", 90, 78},
    {"movmatrix", "", 75, 78},
    {"mma", "m8n8k4", 70, 64},
    {"mma", "m8n8k4 f64", 80, 70},
    {"mma", "m8n8k16", 75, 65},
    {"mma", "m16n8k8", 75, 65},
    {"mma", "m16n8k8 bf16|tf32", 80, 70},
    {"mma", "m16n8k4|m16n8k16|m16n8k32", 80, 70},
    {"mma", "m16n8k4|m16n8k8|m16n8k16 f64", 90, 78},
    {"mma", "e4m3|e5m2", 89, 84},
    {"mma", "m16n8k16 e4m3|e5m2", 89, 87},
    {"mma", "f16 e4m3|e5m2", 89, 87},
    {"wgmma", "", 90, 80, /*specific=*/true},
    {"wgmma", "s8 u8", 90, 84, /*specific=*/true},
    {"wgmma", "u8 s8", 90, 84, /*specific=*/true},

    // Special registers and directives.
    {"%clusterid|%nclusterid|%cluster_ctaid|%cluster_nctaid|%cluster_ctarank|%cluster_nctarank|"
     "%is_explicit_cluster",
     "", 90, 78},
    {".explicitcluster|.reqnctapercluster|.maxclusterrank", "", 90, 78},
    {".b128", "", 70, 83},
};

/// Calls |function| with each part of |text| between |separator|s until it returns true.
template <typename F> bool anyPart(std::string_view text, char separator, F function) {
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (function(text.substr(0, end)))
      return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool isOneOf(std::string_view name, std::string_view list) {
  return anyPart(list, '|', [&](std::string_view part) { return part == name; });
}

/// Whether |modifiers| have one of each group, in the order of the groups.
bool describes(const Requirement &row, const std::vector<std::string_view> &modifiers,
               size_t operands) {
  if (row.operands && row.operands != operands)
    return false;
  size_t next = 0;
  bool lacks = anyPart(row.modifiers, ' ', [&](std::string_view group) {
    while (next < modifiers.size() && !isOneOf(modifiers[next], group))
      ++next;
    return next++ >= modifiers.size();
  });
  if (lacks)
    return false;
  for (std::string_view modifier : modifiers)
    if (isOneOf(modifier, row.without))
      return false;
  return true;
}

using Index = std::unordered_multimap<std::string_view, const Requirement *>;

const Index &requirementsByName() {
  static const Index index = [] {
    Index result;
    for (const Requirement &row : kRequirements)
      anyPart(row.names, '|', [&](std::string_view name) {
        result.emplace(name, &row);
        return false;
      });
    return result;
  }();
  return index;
}

std::string versionText(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

} // namespace

TargetInfo::TargetInfo(const std::string &target, unsigned version)
    : name(target), version(version) {
  for (char c : target)
    if (c >= '0' && c <= '9')
      sm = sm * 10 + static_cast<unsigned>(c - '0');
  specific = !target.empty() && (target.back() == 'a' || target.back() == 'f');
}

std::string xc::ptxsim::unmetRequirement(std::string_view name,
                                         const std::vector<std::string_view> &modifiers,
                                         size_t operands, const TargetInfo &target) {
  // The strictest of all rows is named.
  const Requirement *bySm = nullptr, *byVersion = nullptr;
  for (std::string_view key : {name, std::string_view("*")}) {
    auto range = requirementsByName().equal_range(key);
    for (auto it = range.first; it != range.second; ++it) {
      const Requirement &row = *it->second;
      if (target.sm >= row.before || !describes(row, modifiers, operands))
        continue;
      bool lacks = target.sm < row.sm || (row.specific && !target.specific);
      if (lacks && (!bySm || row.sm > bySm->sm || row.specific))
        bySm = &row;
      if (target.version < row.version && (!byVersion || row.version > byVersion->version))
        byVersion = &row;
    }
  }
  if (bySm)
    return "needs .target sm_" + std::to_string(bySm->sm) + (bySm->specific ? "a" : " or later") +
           ", the module has " + target.name;
  if (byVersion)
    return "needs PTX " + versionText(byVersion->version) + " or later, the module has " +
           versionText(target.version);
  return "";
}
