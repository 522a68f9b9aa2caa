//===- ParseVariable.cpp - Variables and their initialisers ---------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <cstring>

using namespace xc::ptxsim;

/// What follows the state space: [.align N] [.v2|.v4] .type [.ptr ...] name
/// [dims] [= init]
bool Parser::parseVariable(Space space, bool isExtern, Variable &variable) {
  variable.space = space;
  variable.isExtern = isExtern;
  variable.line = peek().line;
  uint64_t align = 0, lanes = 1;
  bool isPointer = false;
  while (peek().kind == TokenKind::Dot) {
    std::string_view name = take().text;
    if (name == "align") {
      uint64_t value = 0;
      if (!expectInteger(value))
        return false;
      if (value == 0 || (value & (value - 1)))
        return fail("expected an alignment that is a power of two, got " + std::to_string(value));
      // In "`.ptr .align N`" the alignment is that of the pointee.
      if (!isPointer)
        align = value;
    } else if (name == "v2" || name == "v4") {
      lanes = name[1] == '2' ? 2 : 4;
    } else if (name == "ptr") {
      isPointer = true;
    } else if (Type type = parseType(name); isDeclarable(type)) {
      if (variable.type != Type::None)
        return fail("expected one type, got '." + std::string(name) + "' as well");
      variable.type = type;
    } else if (!(isPointer && parseSpace(name) != Space::None)) {
      return unsupported("unsupported attribute '." + std::string(name) + "' of a variable");
    }
  }
  if (variable.type == Type::None)
    return fail("expected a type, got " + describe(peek()));
  if (!expectWord(variable.name))
    return false;
  if (peek().is('<'))
    return unsupported("unsupported parameterised variable name");
  uint64_t count = lanes;
  std::vector<uint64_t> dims;
  if (!parseArrayBounds(variable, count, dims))
    return false;
  variable.bytes = count * typeBytes(variable.type);
  variable.align = static_cast<uint32_t>(align ? align : lanes * typeBytes(variable.type));
  // Far beyond any device's memory; also keeps sums of sizes from wrapping.
  bool isSmall = space == Space::Shared || space == Space::Local || space == Space::Param;
  if (variable.bytes > (isSmall ? 1ull << 24 : 1ull << 40) || variable.align > 4096)
    return fail("'" + std::string(variable.name) +
                "' is too large: " + std::to_string(variable.bytes) + " bytes");
  if (accept('=')) {
    if (isExtern)
      return fail("extern variable '" + std::string(variable.name) + "' has an initialiser");
    return parseInitialiser(variable);
  }
  // Shared memory whose size the launch gives, and what another module defines.
  if (variable.isUnsizedArray && !isExtern)
    return fail("array '" + std::string(variable.name) + "' has neither a size nor values");
  return true;
}

bool Parser::parseArrayBounds(Variable &variable, uint64_t &count, std::vector<uint64_t> &dims) {
  while (accept('[')) {
    if (accept(']')) {
      if (variable.isUnsizedArray || !dims.empty())
        return fail("only the first extent of an array can be left out");
      variable.isUnsizedArray = true;
      count = 0;
      continue;
    }
    int64_t extent = 0;
    if (!parseConstant(extent) || !expect(']'))
      return false;
    if (extent < 0 || static_cast<uint64_t>(extent) > (1ull << 40))
      return fail("expected an array bound, got " + std::to_string(extent));
    dims.push_back(static_cast<uint64_t>(extent));
    count *= static_cast<uint64_t>(extent);
  }
  return true;
}

bool Parser::parseInitialiser(Variable &variable) {
  if (variable.space != Space::Global && variable.space != Space::Const)
    return fail("a ." + std::string(spaceName(variable.space)) +
                " variable cannot have an initialiser");
  if (variable.bytes > 1ull << 30)
    return fail("'" + std::string(variable.name) + "' is too large to be initialised");
  variable.initial.assign(variable.bytes, 0);
  uint64_t offset = 0;
  bool isList = peek().is('{');
  if (!(isList ? parseInitialList(variable, offset) : parseInitialElement(variable, offset)))
    return false;
  if (variable.isUnsizedArray) {
    variable.bytes = variable.initial.size();
    variable.isUnsizedArray = false;
  }
  return true;
}

bool Parser::parseInitialList(Variable &variable, uint64_t &offset) {
  if (!expect('{'))
    return false;
  if (++depth > kMaxDepth)
    return fail("too deeply nested");
  if (accept('}')) {
    --depth;
    return true;
  }
  do {
    if (!(peek().is('{') ? parseInitialList(variable, offset)
                         : parseInitialElement(variable, offset)))
      return false;
  } while (accept(','));
  --depth;
  return expect('}');
}

/// A number as the variable's type has it; one of another kind is an error, but for zero.
bool Parser::parseInitialNumber(const Variable &variable, uint64_t &bits) {
  const Token token = peek();
  bool isFloating = token.kind == TokenKind::Single || token.kind == TokenKind::Double;
  bool isFloat = variable.type == Type::F32 || variable.type == Type::F64;
  auto mismatch = [&] {
    return failAt(token, describe(token) + " cannot be a value of '" + std::string(variable.name) +
                             "', which is of type ." + typeName(variable.type));
  };
  if (!isFloating) {
    int64_t value = 0;
    if (!parseConstant(value))
      return false;
    bits = static_cast<uint64_t>(value);
    return !isFloat || value == 0 || mismatch();
  }
  take();
  bits = token.value;
  if (variable.type == Type::F64)
    return token.kind == TokenKind::Double || mismatch();
  if (variable.type != Type::F32)
    return mismatch();
  if (token.kind == TokenKind::Double) {
    double wide;
    std::memcpy(&wide, &bits, sizeof(wide));
    float narrow = static_cast<float>(wide);
    bits = 0;
    std::memcpy(&bits, &narrow, sizeof(narrow));
  }
  return true;
}

bool Parser::parseInitialElement(Variable &variable, uint64_t &offset) {
  unsigned bytes = typeBytes(variable.type);
  if (variable.isUnsizedArray && variable.initial.size() < offset + bytes)
    variable.initial.resize(offset + bytes, 0);
  if (offset + bytes > variable.initial.size())
    return fail("more initial values than '" + std::string(variable.name) + "' has elements");
  uint64_t bits = 0;
  if (peek().kind == TokenKind::Word || (peek().kind == TokenKind::Integer && peek(1).is('('))) {
    if (!parseInitialAddress(variable, offset))
      return false;
  } else if (!parseInitialNumber(variable, bits)) {
    return false;
  }
  std::memcpy(variable.initial.data() + offset, &bits, bytes < 8 ? bytes : 8);
  offset += bytes;
  return true;
}

/// symbol | symbol+N | generic(symbol)[+N] | 0xFF..(symbol or generic(symbol))
bool Parser::parseInitialAddress(Variable &variable, uint64_t offset) {
  InitialAddress address;
  address.offset = offset;
  address.bytes = typeBytes(variable.type);
  bool masked = peek().kind == TokenKind::Integer;
  if (masked) {
    uint64_t mask = take().value;
    while (mask && !(mask & 0xff)) {
      mask >>= 8;
      address.shift += 8;
    }
    if (mask != 0xff)
      return fail("expected a mask of eight bits");
    address.bytes = 1;
    if (!expect('('))
      return false;
  }
  bool isGeneric = peek().isWord("generic") && peek(1).is('(');
  if (isGeneric) {
    address.generic = true;
    take();
    take();
  }
  if (!expectWord(address.symbol) || (isGeneric && !expect(')')))
    return false;
  if (peek().is('+') || peek().is('-')) {
    bool minus = take().is('-');
    int64_t addend = 0;
    if (!parseConstantTerm(addend))
      return false;
    address.addend = minus ? -addend : addend;
  }
  if (masked && !expect(')'))
    return false;
  variable.addresses.push_back(address);
  return true;
}

/// A sum or product of integer terms; PTX emitters write no more than that.
bool Parser::parseConstant(int64_t &value) {
  if (!parseConstantTerm(value))
    return false;
  for (;;) {
    int64_t right = 0;
    if (accept('+')) {
      if (!parseConstantTerm(right))
        return false;
      value += right;
    } else if (accept('-')) {
      if (!parseConstantTerm(right))
        return false;
      value -= right;
    } else if (accept('*')) {
      if (!parseConstantTerm(right))
        return false;
      value *= right;
    } else {
      return true;
    }
  }
}

bool Parser::parseConstantTerm(int64_t &value) {
  // Each level takes a token, so the depth is that of the text.
  if (depth > kMaxDepth)
    return fail("too deeply nested");
  if (accept('-')) {
    ++depth;
    if (!parseConstantTerm(value))
      return false;
    --depth;
    value = static_cast<int64_t>(0 - static_cast<uint64_t>(value));
    return true;
  }
  if (accept('~')) {
    ++depth;
    if (!parseConstantTerm(value))
      return false;
    --depth;
    value = ~value;
    return true;
  }
  if (accept('(')) {
    ++depth;
    bool ok = parseConstant(value) && expect(')');
    --depth;
    return ok;
  }
  uint64_t bits = 0;
  if (!expectInteger(bits))
    return false;
  value = static_cast<int64_t>(bits);
  return true;
}
