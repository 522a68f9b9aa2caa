//===- Module.cpp - Loading a module --------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "ModuleImpl.h"
#include "Parser.h"
#include "Requirements.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace xc::ptxsim;

ModuleImpl::~ModuleImpl() {
  for (const auto &allocation : allocations) {
    memory.unregisterRange(allocation.first);
    std::free(allocation.second);
  }
}

/// ".target sm_80" runs on sm_80 and later, "sm_90a" on sm_90a only.
bool ModuleImpl::checkTarget(Arch arch, ParseError &error) const {
  const ArchLimits &limits = archLimits(arch);
  TargetInfo wanted(ast.target, ast.version);
  unsigned have = limits.major * 10 + limits.minor;
  if (wanted.sm <= have && (!wanted.specific || (arch == Arch::SM90a && wanted.sm == 90)))
    return true;
  error.message = "the module's target " + ast.target + " cannot run on " + limits.name;
  error.line = 1;
  error.unsupported = true;
  return false;
}

bool ModuleImpl::placeVariables(ParseError &error) {
  for (Variable &variable : ast.variables) {
    if (variable.space == Space::Shared)
      continue;
    if (variable.isExtern || variable.isUnsizedArray) {
      error.message = "extern variable '" + std::string(variable.name) + "' is not defined";
      error.line = variable.line;
      error.unsupported = true;
      return false;
    }
    // A gap behind each variable, so that running off its end is seen.
    uint64_t align = std::max<uint64_t>(256, variable.align);
    uint64_t size = std::max<uint64_t>(1, variable.bytes);
    void *memoryBlock = std::aligned_alloc(align, (size + 256 + align - 1) / align * align);
    if (!memoryBlock) {
      error.message =
          "no memory for '" + std::string(variable.name) + "' (" + std::to_string(size) + " bytes)";
      error.line = variable.line;
      return false;
    }
    std::memset(memoryBlock, 0, size);
    variable.address = reinterpret_cast<uint64_t>(memoryBlock);
    variable.placed = true;
    memory.registerRange(variable.address, size, "variable '" + std::string(variable.name) + "'",
                         /*initialised=*/true);
    allocations.emplace_back(variable.address, memoryBlock);
    globals.push_back({std::string(variable.name), variable.address, variable.bytes,
                       variable.space == Space::Const});
  }
  return true;
}

bool ModuleImpl::initialiseVariables(ParseError &error) {
  for (Variable &variable : ast.variables) {
    if (variable.initial.empty())
      continue;
    for (const InitialAddress &part : variable.addresses) {
      int index = ast.findVariable(part.symbol);
      if (index < 0 || !ast.variables[index].placed) {
        error.message = "initialiser of '" + std::string(variable.name) +
                        "' names unknown variable '" + std::string(part.symbol) + "'";
        error.line = variable.line;
        error.unsupported = true;
        return false;
      }
      uint64_t address = ast.variables[index].address + static_cast<uint64_t>(part.addend);
      address >>= part.shift;
      std::memcpy(variable.initial.data() + part.offset, &address, part.bytes);
    }
    std::memcpy(reinterpret_cast<void *>(variable.address), variable.initial.data(),
                variable.initial.size());
  }
  return true;
}

/// More static shared memory than 48 KB is no kernel's, whatever it opts into.
static bool checkShared(const Function &function, const Program &program, const ArchLimits &limits,
                        ParseError &error) {
  if (program.staticShared <= limits.sharedPerBlock)
    return true;
  error.message = "kernel '" + std::string(function.name) + "': expected at most " +
                  std::to_string(limits.sharedPerBlock) + " bytes of shared variables, got " +
                  std::to_string(program.staticShared);
  error.line = function.line;
  return false;
}

/// The .const variables of a module share one bank.
static bool checkConstants(const std::vector<GlobalInfo> &globals, ParseError &error) {
  constexpr uint64_t kMost = 64 << 10;
  uint64_t bytes = 0;
  for (const GlobalInfo &global : globals)
    bytes += global.constant ? global.size : 0;
  if (bytes > kMost)
    error.message = "expected at most " + std::to_string(kMost) +
                    " bytes of .const variables, got " + std::to_string(bytes);
  return bytes <= kMost;
}

static uint32_t volume(const uint32_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

bool ModuleImpl::buildKernel(Function &function,
                             const std::map<std::string, ExternFunction> &externs, Arch arch,
                             std::set<const Function *> &decoded, ParseError &error) {
  auto impl = std::make_unique<KernelImpl>();
  ProgramBuilder builder(ast, externs, arch, error);
  if (!builder.build(function, impl->program) ||
      !checkShared(function, impl->program, archLimits(arch), error))
    return false;
  builder.addPlaced(decoded);
  impl->program.maxRegisters = function.maxRegisters;
  impl->program.minBlocksPerSM = function.minBlocksPerSM;
  const Program &program = impl->program;
  Kernel kernel;
  KernelInfo &info = kernel.info_;
  info.name = std::string(function.name);
  for (uint32_t index : function.params) {
    const Variable &variable = function.variables[index];
    info.params.push_back({static_cast<uint32_t>(variable.address),
                           static_cast<uint32_t>(variable.bytes), variable.align});
  }
  info.paramBytes = program.paramBytes;
  info.staticSharedBytes = program.staticShared;
  info.localBytes = program.localBytes;
  info.usesDynamicShared = program.usesDynamicShared;
  info.registers = estimateRegisters(function);
  if (function.maxRegisters)
    info.registers = std::min(info.registers, function.maxRegisters);
  std::copy(function.reqntid, function.reqntid + 3, info.reqntid);
  std::copy(function.maxntid, function.maxntid + 3, info.maxntid);
  std::copy(function.reqCluster, function.reqCluster + 3, info.reqClusterDims);
  info.minBlocksPerSM = function.minBlocksPerSM;
  info.explicitCluster = function.explicitCluster;
  for (const GlobalInfo &global : globals)
    info.constBytes += global.constant ? static_cast<uint32_t>(global.size) : 0;
  const ArchLimits &limits = archLimits(arch);
  uint32_t perThread = (info.registers + 7) / 8 * 8;
  info.maxThreadsPerBlock =
      std::min(limits.maxThreadsPerBlock, limits.registersPerSM / perThread / 32 * 32);
  // A kernel that states its block size is compiled to fit it.
  if (uint32_t stated = info.reqntid[0]   ? volume(info.reqntid)
                        : info.maxntid[0] ? volume(info.maxntid)
                                          : 0)
    info.maxThreadsPerBlock = std::min(limits.maxThreadsPerBlock, stated);
  kernel.impl_ = impl.get();
  implementations.push_back(std::move(impl));
  kernels.push_back(std::move(kernel));
  return true;
}

bool ModuleImpl::load(std::string newText, const std::map<std::string, ExternFunction> &externs,
                      Arch arch, ParseError &error) {
  text = std::move(newText);
  text.resize(std::min(text.size(), text.find('\0')));
  error = ParseError();
  if (!Parser(text, ast, error).run() || !checkTarget(arch, error) || !placeVariables(error) ||
      !checkConstants(globals, error) || !initialiseVariables(error))
    return false;
  std::set<const Function *> decoded;
  for (Function &function : ast.functions)
    if (function.isEntry && function.isDefined &&
        !buildKernel(function, externs, arch, decoded, error))
      return false;
  // What no kernel calls is decoded too, for its errors.
  for (Function &function : ast.functions) {
    if (!function.isDefined || decoded.count(&function))
      continue;
    Program unused;
    ProgramBuilder builder(ast, externs, arch, error);
    if (!builder.build(function, unused))
      return false;
    builder.addPlaced(decoded);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Module::Module(std::unique_ptr<ModuleImpl> impl) : impl_(std::move(impl)) {}
Module::~Module() = default;

const std::vector<Kernel> &Module::kernels() const { return impl_->kernels; }
const std::vector<GlobalInfo> &Module::globals() const { return impl_->globals; }
const std::string &Module::target() const { return impl_->ast.target; }
unsigned Module::version() const { return impl_->ast.version; }

const Kernel *Module::findKernel(const std::string &name) const {
  for (const Kernel &kernel : impl_->kernels)
    if (kernel.info().name == name)
      return &kernel;
  return nullptr;
}

const GlobalInfo *Module::findGlobal(const std::string &name) const {
  for (const GlobalInfo &global : impl_->globals)
    if (global.name == name)
      return &global;
  return nullptr;
}
