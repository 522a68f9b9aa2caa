//===- ModuleImpl.h - A loaded module ---------------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_MODULEIMPL_H
#define PTXSIM_LIB_MODULEIMPL_H

#include "Ast.h"
#include "Program.h"

#include "ptxsim/ptxsim.h"

#include <map>
#include <memory>
#include <set>

namespace xc::ptxsim {

class KernelImpl {
public:
  Program program;
};

class ModuleImpl {
public:
  explicit ModuleImpl(Memory &memory) : memory(memory) {}
  ~ModuleImpl();

  bool load(std::string newText, const std::map<std::string, ExternFunction> &externs, Arch arch,
            ParseError &error);

  Memory &memory;
  std::string text; // the syntax tree points into it
  ModuleAst ast;
  std::vector<Kernel> kernels;
  std::vector<GlobalInfo> globals;

private:
  bool checkTarget(Arch arch, ParseError &error) const;
  bool placeVariables(ParseError &error);
  bool initialiseVariables(ParseError &error);
  bool buildKernel(Function &function, const std::map<std::string, ExternFunction> &externs,
                   Arch arch, std::set<const Function *> &decoded, ParseError &error);

  std::vector<std::unique_ptr<KernelImpl>> implementations;
  std::vector<std::pair<uint64_t, void *>> allocations; // range base, what to free
};

/// The vprintf that device code calls: prints to stdout.
bool printFormatted(const uint8_t *params, uint8_t *result);

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_MODULEIMPL_H
