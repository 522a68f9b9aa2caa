//===- LinkCode.cpp - The code of all kernels of a target, linked ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CUDA/Targets.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Target/CPU/LinkSharedObject.h"
#include "compiler/Target/CUDA/MergePTX.h"
#include "compiler/Target/ModuleWriter.h"
#include "schemas/module_generated.h"

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

static FailureOr<LinkedCode> linkCUDA(ModuleOp target, StringRef archName,
                                      ArrayRef<StringRef> images) {
  const cuda::Target *arch = cuda::findTarget(archName);
  if (!arch)
    return target.emitError("unknown CUDA architecture '")
           << archName << "'; known are " << cuda::listTargets();
  LinkedCode code;
  code.kind = static_cast<uint8_t>(fb::CodeKind::PTX);
  code.arch = archName.str();
  code.minDriver = arch->minDriverVersion;
  FailureOr<std::string> image = mergePTX(images, [&] { return target.emitError(); });
  if (failed(image))
    return failure();
  code.image = std::move(*image);
  return code;
}

FailureOr<LinkedCode> linkCode(ModuleOp target) {
  auto attr = target->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr);
  FailureOr<SmallVector<StringRef>> images = getImages(target);
  if (failed(images))
    return failure();
  if (images->empty())
    return LinkedCode();
  StringRef arch = attr.getArch().getValue();
  return attr.isCPU() ? linkCPU(target, arch, *images) : linkCUDA(target, arch, *images);
}

} // namespace xc::target
