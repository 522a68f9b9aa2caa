//===- Arch.cpp - The CPUs that code is generated for ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace xc::cpu {

static constexpr llvm::StringLiteral kDefaultArch = "x86-64-v3";

/// Every known CPU except "native".
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

/// The machine that runs the compiler, with all of its features.
static Arch getNativeArch() {
  Arch arch{"native",
            llvm::sys::getDefaultTargetTriple(),
            llvm::sys::getHostCPUName().str(),
            "",
            16,
            16,
            false,
            false};
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> names = llvm::to_vector(host.keys());
  llvm::sort(names); // the order of a hash table must not reach the output
  llvm::SubtargetFeatures features;
  for (StringRef name : names)
    features.AddFeature(name, host.lookup(name));
  arch.features = features.getString();
  if (llvm::Triple(arch.triple).isAArch64()) {
    arch.vectorRegisters = 32;
    arch.hasFMA = arch.hasHalfConversion = true;
    return arch;
  }
  arch.hasFMA = host.lookup("fma");
  arch.hasHalfConversion = host.lookup("f16c");
  if (host.lookup("avx512f") && host.lookup("avx512vl")) {
    arch.vectorBytes = 64;
    arch.vectorRegisters = 32;
  } else if (host.lookup("avx2")) {
    arch.vectorBytes = 32;
  }
  return arch;
}

FailureOr<Arch> lookupArch(StringRef name, function_ref<InFlightDiagnostic()> emitError) {
  if (name == "native")
    return getNativeArch();
  for (const Arch &arch : getTable())
    if (arch.name == name)
      return arch;
  InFlightDiagnostic diagnostic = emitError()
                                  << "unknown CPU '" << name << "'; the known ones are ";
  for (const Arch &arch : getTable())
    diagnostic << arch.name << ", ";
  return diagnostic << "native";
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
