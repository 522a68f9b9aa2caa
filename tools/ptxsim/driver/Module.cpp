//===- Module.cpp - Modules and functions ---------------------------------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"

#include "Driver.h"

#include <cstdlib>
#include <cstring>

namespace xc::cudasim {
namespace {

enum class ImageKind { Text, Binary, Unknown };

/// Tells PTX text from device binaries by their first bytes; cuModuleLoadData
/// is given no size.
ImageKind kindOf(const void *image) {
  const auto *bytes = static_cast<const unsigned char *>(image);
  // Texts shorter than four bytes end with their NUL, so read with care.
  if (bytes[0] == 0x7F && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F')
    return ImageKind::Binary; // cubin
  const unsigned char fatbin[4] = {0x50, 0xED, 0x55, 0xBA};
  const unsigned char wrapper[4] = {0xB1, 0x43, 0x62, 0x46};
  for (const unsigned char *magic : {fatbin, wrapper})
    if (bytes[0] == magic[0] && bytes[1] == magic[1] && bytes[2] == magic[2] &&
        bytes[3] == magic[3])
      return ImageKind::Binary;
  const unsigned char *c = bytes;
  while (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\n')
    ++c;
  return *c == '.' || *c == '/' ? ImageKind::Text : ImageKind::Unknown;
}

/// The PTX version that came with a driver: 87 is 8.7.
unsigned newestPtx(int driverVersion) {
  constexpr struct {
    int driver;
    unsigned ptx;
  } kVersions[] = {{13010, 91}, {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86},
                   {12050, 85}, {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81}};
  for (const auto &version : kVersions)
    if (driverVersion >= version.driver)
      return version.ptx;
  return 80;
}

} // namespace

//===----------------------------------------------------------------------===//
// JIT logs
//===----------------------------------------------------------------------===//

JitLogs::JitLogs(unsigned count, CUjit_option *options, void **values) {
  for (unsigned i = 0; i < count; ++i)
    switch (options[i]) {
    case CU_JIT_ERROR_LOG_BUFFER:
      errorBuffer_ = static_cast<char *>(values[i]);
      break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      errorSize_ = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
      errorSizeOut_ = &values[i];
      break;
    case CU_JIT_INFO_LOG_BUFFER:
      infoBuffer_ = static_cast<char *>(values[i]);
      break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      infoSize_ = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
      infoSizeOut_ = &values[i];
      break;
    default:
      break; // changes the code that is made, not what it computes
    }
}

void JitLogs::write(const std::string &error) {
  auto fill = [](char *buffer, size_t size, void **sizeOut, const std::string &text) {
    size_t length = 0;
    if (buffer && size) {
      length = std::min(text.size(), size - 1);
      memcpy(buffer, text.data(), length);
      buffer[length] = 0;
    }
    if (sizeOut)
      *sizeOut = reinterpret_cast<void *>(length);
  };
  fill(errorBuffer_, errorSize_, errorSizeOut_, error);
  fill(infoBuffer_, infoSize_, infoSizeOut_, "");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The text with the line that the settings want replaced. A module that has fewer lines
/// stays as it is.
static std::string patched(std::string text, const Config &config) {
  size_t begin = config.patchLine ? 0 : std::string::npos;
  for (unsigned line = 1; line < config.patchLine && begin != std::string::npos; ++line) {
    begin = text.find('\n', begin);
    begin += begin != std::string::npos;
  }
  return begin == std::string::npos || begin > text.size()
             ? text
             : text.replace(begin, std::min(text.find('\n', begin), text.size()) - begin,
                            config.patch);
}

CUresult loadModule(Context &context, const void *image, JitLogs &logs, CUmodule &handle) {
  Driver &state = driver();
  switch (kindOf(image)) {
  case ImageKind::Binary:
    logs.write("device binaries cannot run on the PTX simulator: load PTX");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  case ImageKind::Unknown:
    logs.write("the image is neither PTX text nor a device binary");
    return CUDA_ERROR_INVALID_IMAGE;
  case ImageKind::Text:
    break;
  }
  std::string text = patched(static_cast<const char *>(image), state.config);
  ptxsim::ParseError error;
  std::unique_ptr<ptxsim::Module> code =
      context.device().simulator().load(text.data(), text.size(), error);
  // Programs often drop the log: what is refused is said in the report, too.
  auto refuse = [&](const std::string &why) {
    logs.write("ptxsim " + why);
    state.report.add("module refused: " + why);
  };
  if (!code) {
    refuse(error.str());
    return error.message.find(".version") != std::string::npos && error.unsupported
               ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
               : CUDA_ERROR_INVALID_PTX;
  }
  if (unsigned newest = newestPtx(state.config.driverVersion); code->version() > newest) {
    auto textOf = [](unsigned version) {
      return std::to_string(version / 10) + "." + std::to_string(version % 10);
    };
    refuse("line 1: unsupported '.version " + textOf(code->version()) +
           "', this driver takes PTX up to " + textOf(newest));
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  logs.write("");
  auto module = std::make_shared<Module>(context.shared_from_this(), std::move(code));
  for (const ptxsim::GlobalInfo &global : module->code().globals()) {
    Range range;
    range.base = global.address;
    range.size = global.size;
    range.kind = RangeKind::ModuleVariable;
    range.context = context.handle();
    range.device = context.device().ordinal();
    if (range.size)
      state.memory.insert(range);
  }
  handle = state.modules.insert(module);
  return CUDA_SUCCESS;
}

std::shared_ptr<Module> unloadModule(CUmodule handle) {
  Driver &state = driver();
  std::shared_ptr<Module> module = state.modules.erase(handle);
  if (!module)
    return nullptr;
  for (const ptxsim::GlobalInfo &global : module->code().globals())
    state.memory.erase(global.address);
  std::lock_guard<std::mutex> lock(module->mutex);
  for (const auto &[name, function] : module->functions)
    state.functions.erase(function);
  module->functions.clear();
  return module;
}

CUresult findFunction(CUmodule handle, const char *name, CUfunction &result) {
  Driver &state = driver();
  std::shared_ptr<Module> module = state.modules.find(handle);
  if (!module)
    return CUDA_ERROR_INVALID_HANDLE;
  std::lock_guard<std::mutex> lock(module->mutex);
  if (auto known = module->functions.find(name); known != module->functions.end()) {
    result = known->second;
    return CUDA_SUCCESS;
  }
  const ptxsim::Kernel *kernel = module->code().findKernel(name);
  if (!kernel)
    return CUDA_ERROR_NOT_FOUND;
  auto function = std::make_shared<Function>();
  const ptxsim::ArchLimits &limits = module->context().device().limits();
  function->module = module;
  function->moduleHandle = handle;
  function->kernel = kernel;
  uint32_t used = kernel->info().staticSharedBytes;
  function->maxDynamicShared =
      used < limits.sharedPerBlock ? static_cast<int>(limits.sharedPerBlock - used) : 0;
  result = state.functions.insert(function);
  module->functions[name] = result;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Function attributes
//===----------------------------------------------------------------------===//

CUresult Function::getAttribute(CUfunction_attribute attribute, int &value) const {
  const ptxsim::KernelInfo &info = kernel->info();
  const ptxsim::ArchLimits &limits = context().device().limits();
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    value = static_cast<int>(info.maxThreadsPerBlock);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    value = static_cast<int>(info.staticSharedBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    value = static_cast<int>(info.constBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    value = static_cast<int>(info.localBytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    value = static_cast<int>(info.registers);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    value = atoi(module->code().target().c_str() + strlen("sm_"));
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    value = static_cast<int>(limits.major * 10 + limits.minor);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    value = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    value = maxDynamicShared;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    value = sharedCarveout;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    value = info.explicitCluster && !info.reqClusterDims[0];
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    value =
        static_cast<int>(info.reqClusterDims[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    value = nonPortableCluster;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    value = clusterPolicy;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult Function::setAttribute(CUfunction_attribute attribute, int value) {
  const ptxsim::ArchLimits &limits = context().device().limits();
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 || static_cast<uint64_t>(value) + kernel->info().staticSharedBytes >
                         limits.sharedPerBlockOptin)
      return CUDA_ERROR_INVALID_VALUE;
    maxDynamicShared = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return CUDA_ERROR_INVALID_VALUE;
    sharedCarveout = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    if (value != 0 && value != 1)
      return CUDA_ERROR_INVALID_VALUE;
    nonPortableCluster = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    if (value < 0 || value > 2)
      return CUDA_ERROR_INVALID_VALUE;
    clusterPolicy = value;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

} // namespace xc::cudasim
