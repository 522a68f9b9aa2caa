//===- Ast.h - The syntax tree of a PTX module ------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parser hands to the decoder. Registers are resolved already; labels
// and variables are names, looked up from the scope of the instruction.
// String views point into the module's text.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_AST_H
#define PTXSIM_LIB_AST_H

#include "Types.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xc::ptxsim {

/// A part of an initialiser that is an address, known only after layout.
struct InitialAddress {
  uint64_t offset = 0; // into Variable::initial
  unsigned bytes = 8;
  std::string_view symbol;
  int64_t addend = 0;
  unsigned shift = 0; // mask() forms take 8 bits of the address
  bool generic = false;
};

struct Variable {
  std::string_view name;
  Space space = Space::None;
  Type type = Type::None;
  uint32_t align = 1;
  uint64_t bytes = 0;
  bool isExtern = false;
  bool isUnsizedArray = false;
  uint32_t line = 0;
  std::vector<uint8_t> initial;
  std::vector<InitialAddress> addresses;
  // Set by layout.
  uint64_t address = 0; // host address, shared offset, local offset or parameter offset
  bool placed = false;
};

struct VirtualRegister {
  std::string_view name; // without the number
  Type type = Type::None;
  int32_t number = -1; // of those declared as name<count>
  std::string fullName() const {
    return std::string(name) + (number < 0 ? "" : std::to_string(number));
  }
};

struct Operand {
  enum Kind : uint8_t {
    Register, // reg
    Special,  // text ("tid.x")
    Integer,  // value
    Single,   // value: bits
    Double,   // value: bits
    Symbol,   // text, value = addend
    Address,  // children[0] = base, value = offset
    Vector,   // children
    List,     // children: the parenthesised operands of a call
    Pair,     // children: %p|%q
    Sink,     // _
  };
  Kind kind = Sink;
  bool negated = false; // !%p
  uint32_t reg = 0;
  int64_t value = 0;
  std::string_view text;
  std::vector<Operand> children;
};

struct SourceLocation {
  uint32_t file = 0;
  uint32_t line = 0; // 0 = none
  uint32_t column = 0;
};

struct Instruction {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  int32_t guard = -1; // register
  bool guardNegated = false;
  uint32_t scope = 0;
  uint32_t line = 0, column = 0;
  std::string_view text;
  SourceLocation location;
};

struct Scope {
  int32_t parent = -1;
  std::map<std::string_view, uint32_t> registers;
  std::map<std::string_view, uint32_t> labels;    // index of the next instruction
  std::map<std::string_view, uint32_t> variables; // index into Function::variables
  std::map<std::string_view, std::vector<std::string_view>> branchTargets;
};

/// A kernel (.entry) or a function (.func).
struct Function {
  std::string_view name;
  bool isEntry = false;
  bool isDefined = false;
  uint32_t line = 0;
  std::vector<uint32_t> params;  // indices into variables
  std::vector<uint32_t> results; // indices into variables
  std::vector<Variable> variables;
  std::vector<VirtualRegister> registers;
  std::vector<Scope> scopes; // [0] is the function's own
  std::vector<Instruction> instructions;
  uint32_t reqntid[3] = {0, 0, 0};
  uint32_t maxntid[3] = {0, 0, 0};
  uint32_t reqCluster[3] = {0, 0, 0};
  uint32_t minBlocksPerSM = 0;
  uint32_t maxRegisters = 0;
  bool explicitCluster = false;

  /// Index of the named variable seen from |scope|, or -1.
  int findVariable(std::string_view name, int32_t scope) const {
    for (; scope >= 0; scope = scopes[scope].parent) {
      auto it = scopes[scope].variables.find(name);
      if (it != scopes[scope].variables.end())
        return static_cast<int>(it->second);
    }
    return -1;
  }
  int findLabel(std::string_view name, int32_t scope) const {
    for (; scope >= 0; scope = scopes[scope].parent) {
      auto it = scopes[scope].labels.find(name);
      if (it != scopes[scope].labels.end())
        return static_cast<int>(it->second);
    }
    return -1;
  }
};

struct ModuleAst {
  unsigned version = 0; // 87 = 8.7
  std::string target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::map<uint32_t, std::string> files;

  int findVariable(std::string_view name) const {
    for (size_t i = 0; i < variables.size(); ++i)
      if (variables[i].name == name)
        return static_cast<int>(i);
    return -1;
  }
  int findFunction(std::string_view name) const {
    for (size_t i = 0; i < functions.size(); ++i)
      if (functions[i].name == name)
        return static_cast<int>(i);
    return -1;
  }
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_AST_H
