//===- Parser.h - PTX text to syntax tree -----------------------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_PARSER_H
#define PTXSIM_LIB_PARSER_H

#include "Ast.h"
#include "Lexer.h"

#include "ptxsim/ptxsim.h"

namespace xc::ptxsim {

/// A recursive-descent parser. Module-level directives are in Parser.cpp,
/// function bodies in ParseFunction.cpp. Members return false once an error is
/// set.
class Parser {
public:
  Parser(std::string_view text, ModuleAst &module, ParseError &error)
      : text(text), module(module), error(error) {}

  bool run();

private:
  // Module level.
  bool parseModuleItem();
  bool parseVersion();
  bool parseTarget();
  bool setTarget(const Token &token);
  bool parseFile();
  bool parseLinkedItem();
  bool parseFunction(bool isEntry, bool isExtern);
  bool parseParameterList(Function &function, std::vector<uint32_t> &list);
  bool parsePerformanceDirective(Function &function);
  bool parseDimensions(uint32_t (&dims)[3], uint64_t most);
  bool checkParameterBytes(const Function &function);
  bool skipBraces();
  bool skipToSemicolon();

  // Variables.
  bool parseVariable(Space space, bool isExtern, Variable &variable);
  bool parseArrayBounds(Variable &variable, uint64_t &count, std::vector<uint64_t> &dims);
  bool parseInitialiser(Variable &variable);
  bool parseInitialList(Variable &variable, uint64_t &offset);
  bool parseInitialNumber(const Variable &variable, uint64_t &bits);
  bool parseInitialElement(Variable &variable, uint64_t &offset);
  bool parseInitialAddress(Variable &variable, uint64_t offset);
  bool parseConstant(int64_t &value);
  bool parseConstantTerm(int64_t &value);

  // Bodies.
  bool parseBody(Function &function);
  bool parseStatement(Function &function);
  bool parseBodyDirective(Function &function);
  bool parseRegisters(Function &function);
  bool parseLocation();
  bool parseLabel(Function &function);
  bool parseInstruction(Function &function);
  bool parseOperand(Function &function, Operand &operand);
  bool parsePrimaryOperand(Function &function, Operand &operand);
  bool parseAddressOperand(Function &function, Operand &operand);
  bool parseOperandList(Function &function, Operand &operand, char close);
  bool parseNumberOperand(Operand &operand, bool negative);
  bool parseWordOperand(Function &function, Operand &operand);
  int findRegister(const Function &function, std::string_view name) const;
  bool declareVariable(Function &function, Variable variable);

  // Tokens.
  const Token &peek(unsigned ahead = 0) const {
    return tokens[position + ahead < tokens.size() ? position + ahead : tokens.size() - 1];
  }
  Token take() {
    Token token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool accept(char c) {
    if (!peek().is(c))
      return false;
    take();
    return true;
  }
  bool acceptDot(std::string_view name) {
    if (!peek().isDot(name))
      return false;
    take();
    return true;
  }
  bool expect(char c);
  bool expectWord(std::string_view &text);
  bool expectInteger(uint64_t &value);
  bool fail(std::string message) { return failAt(peek(), std::move(message)); }
  bool failAt(const Token &token, std::string message);
  bool unsupported(std::string message);
  std::string describe(const Token &token) const;

  std::string_view text;
  ModuleAst &module;
  ParseError &error;
  std::vector<Token> tokens;
  size_t position = 0;
  uint32_t scope = 0;
  SourceLocation location;
  unsigned depth = 0; // of nested lists and expressions
  static constexpr unsigned kMaxDepth = 64;
  static constexpr uint64_t kMaxBlockThreads = 1024;
  /// What sm_90 allows where it is asked for.
  static constexpr uint64_t kMaxClusterBlocks = 16;
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_PARSER_H
