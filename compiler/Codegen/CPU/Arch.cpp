//===- Arch.cpp - The CPUs that code is generated for ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <optional>

using namespace mlir;

namespace xc::cpu {

static constexpr llvm::StringLiteral kDefaultArch = "x86-64-v3";

/// The CPUs that need no look into LLVM's tables: the generic levels and the common servers.
static ArrayRef<Arch> getTable() {
  static const Arch table[] = {
      // name, triple, cpu, features, vectorBytes, vectorRegisters, hasFMA, hasHalfConversion
      {"x86-64", "x86_64-unknown-linux-gnu", "x86-64", "", 16, 16, false, false},
      {"x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", "", 16, 16, false, false},
      {"x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "", 32, 16, true, true},
      {"x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "", 64, 32, true, true},
      {"aarch64", "aarch64-unknown-linux-gnu", "generic", "+neon", 16, 32, true, true},
      {"neoverse-n1", "aarch64-unknown-linux-gnu", "neoverse-n1", "", 16, 32, true, true},
      {"neoverse-v2", "aarch64-unknown-linux-gnu", "neoverse-v2", "", 16, 32, true, true},
  };
  return table;
}

/// What LLVM's CPU |cpu| can do; nothing for a CPU that it does not know as x86-64.
static llvm::StringMap<bool> getImpliedFeatures(StringRef cpu) {
  llvm::StringMap<bool> implied;
  SmallVector<StringRef> names;
  if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) != llvm::X86::CK_None)
    llvm::X86::getFeaturesForCPU(cpu, names);
  for (StringRef name : names)
    implied[name] = true;
  return implied;
}

/// The machine that runs the compiler: LLVM's name of its CPU, then "/+name" or "/-name" for each
/// feature in which it differs from that CPU (virtual machines hide some).
static std::string getNativeName() {
  std::string name = llvm::sys::getHostCPUName().str();
  bool isX86 = llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86();
  if (isX86 && llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None)
    name = "x86-64";
  llvm::StringMap<bool> implied = getImpliedFeatures(name);
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> features = llvm::to_vector(host.keys());
  llvm::sort(features); // the order of a hash table must not reach the output
  for (StringRef feature : features)
    if (host.lookup(feature) != implied.lookup(feature))
      name += (host.lookup(feature) ? "/+" : "/-") + feature.str();
  return name;
}

/// A CPU by LLVM's name and the features it has more or less, or nothing where LLVM knows no such
/// CPU or the features are not written so.
static std::optional<Arch> parseArch(StringRef spelling) {
  auto [cpu, changes] = spelling.split('/');
  bool isX86 = llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) != llvm::X86::CK_None;
  if (!isX86 && !llvm::AArch64::parseCpu(cpu))
    return std::nullopt;
  llvm::StringMap<bool> enabled = getImpliedFeatures(cpu);
  SmallVector<StringRef> entries;
  changes.split(entries, '/', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    bool isAdded = entry.starts_with("+");
    if (!isAdded && !entry.starts_with("-"))
      return std::nullopt;
    enabled[entry.drop_front()] = isAdded;
  }
  SmallVector<StringRef> names = llvm::to_vector(enabled.keys());
  llvm::sort(names);
  llvm::SubtargetFeatures features;
  for (StringRef name : names)
    features.AddFeature(name, enabled.lookup(name));

  Arch arch{spelling.str(),
            isX86 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu",
            cpu.str(),
            features.getString(),
            16,
            16,
            false,
            false};
  if (!isX86) {
    arch.vectorRegisters = 32;
    arch.hasFMA = arch.hasHalfConversion = true;
    return arch;
  }
  arch.hasFMA = enabled.lookup("fma");
  arch.hasHalfConversion = enabled.lookup("f16c");
  if (enabled.lookup("avx512f") && enabled.lookup("avx512vl")) {
    arch.vectorBytes = 64;
    arch.vectorRegisters = 32;
  } else if (enabled.lookup("avx2")) {
    arch.vectorBytes = 32;
  }
  return arch;
}

FailureOr<Arch> lookupArch(StringRef name, function_ref<InFlightDiagnostic()> emitError) {
  for (const Arch &arch : getTable())
    if (arch.name == name)
      return arch;
  if (std::optional<Arch> arch = parseArch(name == "native" ? getNativeName() : name))
    return *arch;
  InFlightDiagnostic diagnostic = emitError()
                                  << "unknown CPU '" << name << "'; the known ones are ";
  for (const Arch &arch : getTable())
    diagnostic << arch.name << ", ";
  return diagnostic << "native, and LLVM's names of x86-64 and AArch64 CPUs, with features added "
                       "or removed as in 'znver3/+sha/-rtm'";
}

FailureOr<Arch> getKernelArch(ModuleOp kernel, StringRef override) {
  StringRef name = kDefaultArch;
  if (!override.empty())
    name = override;
  else if (auto target = kernel->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr))
    name = target.getArch().getValue();
  return lookupArch(name, [&] { return kernel.emitError(); });
}

} // namespace xc::cpu
