//===- ParseFunction.cpp - Function bodies --------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "Requirements.h"

using namespace xc::ptxsim;

static bool isSpecialRegister(std::string_view name) {
  static const std::string_view kNames[] = {"%tid",
                                            "%ntid",
                                            "%ctaid",
                                            "%nctaid",
                                            "%laneid",
                                            "%warpid",
                                            "%nwarpid",
                                            "%smid",
                                            "%nsmid",
                                            "%gridid",
                                            "%clock",
                                            "%clock_hi",
                                            "%clock64",
                                            "%globaltimer",
                                            "%globaltimer_lo",
                                            "%globaltimer_hi",
                                            "%lanemask_eq",
                                            "%lanemask_le",
                                            "%lanemask_lt",
                                            "%lanemask_ge",
                                            "%lanemask_gt",
                                            "%dynamic_smem_size",
                                            "%total_smem_size",
                                            "%aggr_smem_size",
                                            "%clusterid",
                                            "%nclusterid",
                                            "%cluster_ctaid",
                                            "%cluster_nctaid",
                                            "%cluster_ctarank",
                                            "%cluster_nctarank",
                                            "%is_explicit_cluster",
                                            "%reserved_smem_offset_begin",
                                            "%reserved_smem_offset_end",
                                            "%reserved_smem_offset_cap",
                                            "%reserved_smem_offset_0",
                                            "%reserved_smem_offset_1"};
  for (std::string_view candidate : kNames)
    if (name == candidate)
      return true;
  return false;
}

bool Parser::declareVariable(Function &function, Variable variable) {
  auto index = static_cast<uint32_t>(function.variables.size());
  if (!function.scopes[scope].variables.emplace(variable.name, index).second)
    return fail("'" + std::string(variable.name) + "' is declared twice");
  function.variables.push_back(std::move(variable));
  return true;
}

bool Parser::parseBody(Function &function) {
  location = SourceLocation();
  if (!expect('{'))
    return false;
  scope = 0;
  while (!(peek().is('}') && scope == 0)) {
    if (peek().kind == TokenKind::End)
      return fail("expected '}' before the end of the text");
    if (!parseStatement(function))
      return false;
  }
  return expect('}');
}

bool Parser::parseStatement(Function &function) {
  if (accept(';'))
    return true;
  if (accept('{')) {
    Scope inner;
    inner.parent = static_cast<int32_t>(scope);
    scope = static_cast<uint32_t>(function.scopes.size());
    function.scopes.push_back(std::move(inner));
    return true;
  }
  if (accept('}')) {
    scope = static_cast<uint32_t>(function.scopes[scope].parent);
    return true;
  }
  if (peek().kind == TokenKind::Dot)
    return parseBodyDirective(function);
  if (peek().kind == TokenKind::Word && peek(1).is(':'))
    return parseLabel(function);
  return parseInstruction(function);
}

bool Parser::parseBodyDirective(Function &function) {
  std::string_view name = peek().text;
  if (name == "loc")
    return parseLocation();
  if (name == "pragma") {
    take();
    return skipToSemicolon();
  }
  if (name == "reg") {
    take();
    return parseRegisters(function);
  }
  bool isExtern = acceptDot("extern");
  Space space = parseSpace(peek().text);
  if (space == Space::None || space == Space::Reg || space == Space::Const ||
      space == Space::Generic)
    return unsupported("unsupported directive " + describe(peek()));
  take();
  do {
    Variable variable;
    if (!parseVariable(space, isExtern, variable) ||
        !declareVariable(function, std::move(variable)))
      return false;
  } while (accept(','));
  return expect(';');
}

/// .reg .type name, name<count>, ...;
bool Parser::parseRegisters(Function &function) {
  if (peek().isDot("v2") || peek().isDot("v4"))
    return unsupported("unsupported vector register");
  Type type = peek().kind == TokenKind::Dot ? parseType(peek().text) : Type::None;
  if (type != Type::Pred && !isDeclarable(type))
    return fail("expected a register type, got " + describe(peek()));
  std::string lack = unmetRequirement("." + std::string(peek().text), {}, 0,
                                      TargetInfo(module.target, module.version));
  if (!lack.empty())
    return unsupported("'." + std::string(peek().text) + "' " + lack);
  take();
  do {
    std::string_view name;
    if (!expectWord(name))
      return false;
    auto &names = function.scopes[scope].registers;
    if (!names.emplace(name, static_cast<uint32_t>(function.registers.size())).second)
      return fail("register '" + std::string(name) + "' is declared twice");
    if (!accept('<')) {
      function.registers.push_back({name, type});
      continue;
    }
    uint64_t count = 0;
    if (!expectInteger(count) || !expect('>'))
      return false;
    if (count > (1u << 20))
      return fail("expected fewer than 2^20 registers, got " + std::to_string(count));
    // Numbered registers are found by prefix and number: see findRegister().
    for (uint64_t i = 0; i < count; ++i)
      function.registers.push_back({name, type, static_cast<int32_t>(i)});
  } while (accept(','));
  return expect(';');
}

int Parser::findRegister(const Function &function, std::string_view name) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  for (int32_t s = static_cast<int32_t>(scope); s >= 0; s = function.scopes[s].parent) {
    const auto &names = function.scopes[s].registers;
    if (auto it = names.find(name); it != names.end())
      return static_cast<int>(it->second);
    if (digits == name.size())
      continue;
    auto it = names.find(name.substr(0, digits));
    if (it == names.end())
      continue;
    uint64_t number = 0;
    for (char c : name.substr(digits))
      number = number * 10 + static_cast<uint64_t>(c - '0');
    uint64_t index = it->second + number;
    if (index < function.registers.size() &&
        function.registers[index].name == name.substr(0, digits))
      return static_cast<int>(index);
  }
  return -1;
}

/// .loc file line column [, function_name label[+n], inlined_at file line
/// column]
bool Parser::parseLocation() {
  take();
  uint64_t file = 0, line = 0, column = 0;
  if (!expectInteger(file) || !expectInteger(line) || !expectInteger(column))
    return false;
  location.file = static_cast<uint32_t>(file);
  location.line = static_cast<uint32_t>(line);
  location.column = static_cast<uint32_t>(column);
  if (!accept(','))
    return true;
  std::string_view label;
  uint64_t ignored = 0;
  auto expectKeyword = [&](std::string_view keyword) {
    if (!peek().isWord(keyword))
      return fail("expected '" + std::string(keyword) + "', got " + describe(peek()));
    take();
    return true;
  };
  if (!expectKeyword("function_name") || !expectWord(label))
    return false;
  if (accept('+') && !expectInteger(ignored))
    return false;
  return expect(',') && expectKeyword("inlined_at") && expectInteger(ignored) &&
         expectInteger(ignored) && expectInteger(ignored);
}

bool Parser::parseLabel(Function &function) {
  const Token name = take();
  take();
  if (acceptDot("branchtargets")) {
    auto &targets = function.scopes[scope].branchTargets[name.text];
    do {
      std::string_view label;
      if (!expectWord(label))
        return false;
      targets.push_back(label);
    } while (accept(','));
    return expect(';');
  }
  if (peek().isDot("callprototype") || peek().isDot("calltargets"))
    return unsupported("unsupported directive " + describe(peek()) + ": indirect calls");
  auto next = static_cast<uint32_t>(function.instructions.size());
  if (!function.scopes[scope].labels.emplace(name.text, next).second)
    return failAt(name, "label '" + std::string(name.text) + "' is defined twice");
  return true;
}

bool Parser::parseInstruction(Function &function) {
  Instruction inst;
  inst.scope = scope;
  inst.location = location;
  uint32_t begin = peek().begin;
  inst.line = peek().line;
  inst.column = peek().column;
  if (accept('@')) {
    inst.guardNegated = accept('!');
    std::string_view name;
    if (!expectWord(name))
      return false;
    inst.guard = findRegister(function, name);
    if (inst.guard < 0)
      return fail("unknown predicate '" + std::string(name) + "'");
    if (function.registers[inst.guard].type != Type::Pred)
      return fail("expected a predicate, got '" + std::string(name) + "'");
  }
  if (!expectWord(inst.opcode))
    return false;
  while (peek().kind == TokenKind::Dot)
    inst.modifiers.push_back(take().text);
  if (inst.modifiers.size() > 32)
    return fail("too many modifiers");
  if (!peek().is(';'))
    do {
      inst.operands.emplace_back();
      if (!parseOperand(function, inst.operands.back()))
        return false;
    } while (accept(','));
  inst.text = text.substr(begin, peek().end - begin);
  if (!expect(';'))
    return false;
  function.instructions.push_back(std::move(inst));
  return true;
}

bool Parser::parseOperand(Function &function, Operand &operand) {
  if (!parsePrimaryOperand(function, operand))
    return false;
  if (!accept('|'))
    return true;
  Operand first = std::move(operand);
  operand = Operand();
  operand.kind = Operand::Pair;
  operand.children.push_back(std::move(first));
  operand.children.emplace_back();
  return parsePrimaryOperand(function, operand.children.back());
}

bool Parser::parseOperandList(Function &function, Operand &operand, char close) {
  take();
  if (accept(close))
    return true;
  if (++depth > kMaxDepth)
    return fail("too deeply nested");
  do {
    operand.children.emplace_back();
    if (!parseOperand(function, operand.children.back()))
      return false;
  } while (accept(','));
  --depth;
  return expect(close);
}

bool Parser::parsePrimaryOperand(Function &function, Operand &operand) {
  if (peek().is('[')) {
    operand.kind = Operand::Address;
    return parseAddressOperand(function, operand);
  }
  if (peek().is('{')) {
    operand.kind = Operand::Vector;
    return parseOperandList(function, operand, '}');
  }
  if (peek().is('(')) {
    operand.kind = Operand::List;
    return parseOperandList(function, operand, ')');
  }
  if (accept('!')) {
    operand.negated = true;
    if (peek().kind != TokenKind::Word)
      return fail("expected a predicate, got " + describe(peek()));
    return parseWordOperand(function, operand);
  }
  if (accept('-'))
    return parseNumberOperand(operand, /*negative=*/true);
  if (peek().kind == TokenKind::Word)
    return parseWordOperand(function, operand);
  return parseNumberOperand(operand, /*negative=*/false);
}

bool Parser::parseNumberOperand(Operand &operand, bool negative) {
  const Token token = take();
  switch (token.kind) {
  case TokenKind::Integer:
    operand.kind = Operand::Integer;
    break;
  case TokenKind::Single:
    operand.kind = Operand::Single;
    break;
  case TokenKind::Double:
    operand.kind = Operand::Double;
    break;
  default:
    return failAt(token, "expected an operand, got " + describe(token));
  }
  uint64_t bits = token.value;
  if (negative) {
    if (token.kind == TokenKind::Integer)
      bits = 0 - bits;
    else
      bits ^= token.kind == TokenKind::Single ? 0x80000000ull : 0x8000000000000000ull;
  }
  operand.value = static_cast<int64_t>(bits);
  return true;
}

bool Parser::parseWordOperand(Function &function, Operand &operand) {
  const Token token = take();
  if (token.text == "_") {
    operand.kind = Operand::Sink;
    return true;
  }
  if (int reg = findRegister(function, token.text); reg >= 0) {
    operand.kind = Operand::Register;
    operand.reg = static_cast<uint32_t>(reg);
    if (peek().kind == TokenKind::Dot)
      return unsupported("unsupported vector register element");
    return true;
  }
  operand.text = token.text;
  if (token.text[0] == '%') {
    if (!isSpecialRegister(token.text))
      return failAt(token, "unknown register '" + std::string(token.text) + "'");
    operand.kind = Operand::Special;
    if (peek().kind == TokenKind::Dot) {
      const Token component = take();
      operand.text = text.substr(token.begin, component.end - token.begin);
    }
    return true;
  }
  operand.kind = Operand::Symbol;
  if (token.text == "WARP_SZ") {
    operand.kind = Operand::Integer;
    operand.value = 32;
  } else if (peek().is('+') || peek().is('-')) {
    bool minus = take().is('-');
    int64_t addend = 0;
    if (!parseConstantTerm(addend))
      return false;
    operand.value = minus ? -addend : addend;
  }
  return true;
}

/// [register], [register+N], [symbol], [symbol+N], [N]; of tensors [.., {coordinates}]
bool Parser::parseAddressOperand(Function &function, Operand &operand) {
  take();
  operand.children.emplace_back();
  Operand &base = operand.children.back();
  if (!parsePrimaryOperand(function, base))
    return false;
  if (base.kind == Operand::Symbol) {
    operand.value = base.value;
    base.value = 0;
  }
  while (peek().is('+') || peek().is('-')) {
    bool minus = take().is('-');
    int64_t offset = 0;
    if (!parseConstantTerm(offset))
      return false;
    operand.value += minus ? -offset : offset;
  }
  if (accept(',')) {
    operand.children.emplace_back();
    Operand &coordinates = operand.children.back();
    if (!peek().is('{'))
      return fail("expected the coordinates of a tensor, got " + describe(peek()));
    coordinates.kind = Operand::Vector;
    if (!parseOperandList(function, coordinates, '}'))
      return false;
    if (peek().is(','))
      return unsupported("unsupported offsets of an im2col address");
  }
  return expect(']');
}
