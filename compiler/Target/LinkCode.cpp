//===- LinkCode.cpp - The code of all kernels of a target, linked ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Target/CPU/LinkSharedObject.h"
#include "compiler/Target/CUDA/MergePTX.h"
#include "compiler/Target/CUDA/Ptxas.h"
#include "compiler/Target/ModuleWriter.h"
#include "schemas/module_generated.h"
#include "schemas/module_limits.h"

using namespace mlir;

namespace xc::target {

/// The images of all kernels, in program order.
static FailureOr<SmallVector<StringRef>> getImages(ModuleOp target) {
  SmallVector<StringRef> images;
  for (auto kernel : target.getOps<ModuleOp>()) {
    auto image = kernel->getAttrOfType<StringAttr>(plan::kImageAttr);
    if (!image)
      return kernel.emitError("expected a kernel with code, got one without ") << plan::kImageAttr;
    images.push_back(image.getValue());
  }
  return images;
}

static FailureOr<LinkedCode> linkCPU(ModuleOp target, StringRef archName,
                                     ArrayRef<StringRef> images) {
  auto emitError = [&] { return target.emitError(); };
  FailureOr<cpu::Arch> arch = cpu::lookupArch(archName, emitError);
  if (failed(arch))
    return failure();
  LinkedCode code;
  code.kind = static_cast<uint8_t>(fb::CodeKind::SharedObject);
  code.arch = arch->name;
  // "native" names no level, so the file says feature by feature what the code needs.
  SmallVector<StringRef> features;
  StringRef(arch->features).split(features, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef feature : features)
    if (feature.consume_front("+"))
      code.cpuFeatures.push_back(feature.str());
  FailureOr<std::string> image = cpu::linkSharedObject(images, *arch, emitError);
  if (failed(image))
    return failure();
  code.image = std::move(*image);
  return code;
}

/// Adds what ptxas says of each kernel to its description.
static void recordResources(ModuleOp target, const llvm::StringMap<KernelResources> &resources) {
  Builder builder(target.getContext());
  for (auto kernel : target.getOps<ModuleOp>()) {
    SmallVector<Attribute> exports;
    for (Attribute entry : kernel->getAttrOfType<ArrayAttr>(plan::kExportsAttr)) {
      NamedAttrList description(cast<DictionaryAttr>(entry));
      auto found = resources.find(cast<StringAttr>(description.get("name")).getValue());
      if (found != resources.end()) {
        description.set("registers", builder.getI64IntegerAttr(found->second.registers));
        description.set("spills", builder.getI64IntegerAttr(found->second.spillStores +
                                                            found->second.spillLoads));
        description.set("static_shared", builder.getI64IntegerAttr(found->second.staticShared));
      }
      exports.push_back(description.getDictionary(target.getContext()));
    }
    kernel->setAttr(plan::kExportsAttr, builder.getArrayAttr(exports));
  }
}

/// Says which kernel ptxas refuses: the program's own ones may have errors, so those are tried by
/// themselves.
static LogicalResult reportRefusal(ModuleOp target, StringRef arch, StringRef ptxas,
                                   llvm::Error error) {
  for (auto kernel : target.getOps<ModuleOp>()) {
    auto description =
        cast<DictionaryAttr>(kernel->getAttrOfType<ArrayAttr>(plan::kExportsAttr)[0]);
    auto config = description.getAs<StringAttr>("config");
    if (!config || config.getValue() != "custom")
      continue;
    llvm::Expected<Assembled> alone =
        assemblePTX(ptxas, arch, kernel->getAttrOfType<StringAttr>(plan::kImageAttr));
    if (alone)
      continue;
    llvm::consumeError(std::move(error));
    return kernel.emitError() << "ptxas for " << arch << " refuses "
                              << description.getAs<StringAttr>("reason").getValue() << ": "
                              << llvm::toString(alone.takeError());
  }
  return target.emitError() << "ptxas for " << arch
                            << " refuses the kernels: " << llvm::toString(std::move(error));
}

static FailureOr<CodeAlternatives> linkCUDA(ModuleOp target, StringRef archName,
                                            ArrayRef<StringRef> images, StringRef ptxas) {
  auto emitError = [&] { return target.emitError(); };
  const cuda::Target *arch = cuda::findTarget(archName);
  if (!arch)
    return target.emitError("unknown CUDA architecture '")
           << archName << "'; known are " << cuda::listTargets();
  FailureOr<std::string> ptx = mergePTX(images, emitError);
  if (failed(ptx))
    return failure();
  CodeAlternatives alternatives;
  LinkedCode text;
  text.kind = static_cast<uint8_t>(fb::CodeKind::PTX);
  text.arch = archName.str();
  text.minDriver = std::max(arch->minDriverVersion, ModuleLimits::kMinCudaDriver);
  text.image = *ptx;
  alternatives.push_back(std::move(text));
  if (ptxas.empty())
    return alternatives;
  llvm::Expected<Assembled> assembled = assemblePTX(ptxas, archName, *ptx);
  if (!assembled)
    return reportRefusal(target, archName, ptxas, assembled.takeError());
  for (const std::string &warning : assembled->warnings)
    target.emitWarning("ptxas for ") << archName << ": " << warning;
  recordResources(target, assembled->kernels);
  LinkedCode machine;
  machine.kind = static_cast<uint8_t>(fb::CodeKind::Cubin);
  machine.arch = archName.str();
  machine.minDriver = ModuleLimits::kMinCudaDriver;
  machine.image = std::move(assembled->cubin);
  alternatives.push_back(std::move(machine));
  return alternatives;
}

FailureOr<CodeAlternatives> linkCode(ModuleOp target, StringRef ptxas) {
  auto attr = target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
  FailureOr<SmallVector<StringRef>> images = getImages(target);
  if (failed(images))
    return failure();
  if (images->empty())
    return CodeAlternatives();
  StringRef arch = attr.getArch().getValue();
  if (attr.isCUDA())
    return linkCUDA(target, arch, *images, ptxas);
  FailureOr<LinkedCode> code = linkCPU(target, arch, *images);
  if (failed(code))
    return failure();
  return CodeAlternatives{std::move(*code)};
}

} // namespace xc::target
