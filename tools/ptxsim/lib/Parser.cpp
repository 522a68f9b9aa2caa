//===- Parser.cpp - Module-level PTX --------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

using namespace xc::ptxsim;

std::string Parser::describe(const Token &token) const {
  switch (token.kind) {
  case TokenKind::End:
    return "the end of the text";
  case TokenKind::Dot:
    return "'." + std::string(token.text) + "'";
  default:
    return "'" + std::string(token.text) + "'";
  }
}

bool Parser::failAt(const Token &token, std::string message) {
  if (error.message.empty()) {
    error.message = std::move(message);
    error.line = token.line;
    error.column = token.column;
  }
  return false;
}

bool Parser::unsupported(std::string message) {
  fail(std::move(message));
  error.unsupported = true;
  return false;
}

bool Parser::expect(char c) {
  if (accept(c))
    return true;
  return fail(std::string("expected '") + c + "', got " + describe(peek()));
}

bool Parser::expectWord(std::string_view &word) {
  if (peek().kind != TokenKind::Word)
    return fail("expected a name, got " + describe(peek()));
  word = take().text;
  return true;
}

bool Parser::expectInteger(uint64_t &value) {
  if (peek().kind != TokenKind::Integer)
    return fail("expected an integer, got " + describe(peek()));
  value = take().value;
  return true;
}

bool Parser::run() {
  std::string message;
  uint32_t line = 0, column = 0;
  if (!tokenize(text, tokens, message, line, column)) {
    error.message = message;
    error.line = line;
    error.column = column;
    return false;
  }
  if (!peek().isDot("version"))
    return fail("expected '.version' at the start of the module, got " + describe(peek()));
  while (peek().kind != TokenKind::End)
    if (!parseModuleItem())
      return false;
  if (module.target.empty())
    return fail("expected a '.target' directive");
  return true;
}

bool Parser::parseModuleItem() {
  if (accept(';'))
    return true;
  if (peek().kind != TokenKind::Dot)
    return fail("expected a directive, got " + describe(peek()));
  std::string_view name = peek().text;
  if (name == "version")
    return parseVersion();
  if (name == "target")
    return parseTarget();
  if (name == "address_size") {
    take();
    uint64_t bits = 0;
    if (!expectInteger(bits))
      return false;
    return bits == 64 || unsupported("expected '.address_size 64', got " + std::to_string(bits));
  }
  if (name == "file")
    return parseFile();
  if (name == "loc")
    return parseLocation();
  if (name == "pragma" || name == "metadata_section") {
    take();
    return skipToSemicolon();
  }
  if (name == "section") {
    take();
    if (peek().kind == TokenKind::Dot || peek().kind == TokenKind::Word)
      take();
    return skipBraces();
  }
  return parseLinkedItem();
}

bool Parser::parseVersion() {
  take();
  const Token token = take();
  if (token.kind != TokenKind::Double)
    return failAt(token, "expected a version such as 8.7, got " + describe(token));
  size_t dot = token.text.find('.');
  if (dot != 1 || token.text.size() != 3)
    return failAt(token, "expected a version such as 8.7, got " + describe(token));
  unsigned major = static_cast<unsigned>(token.text[0] - '0');
  unsigned minor = static_cast<unsigned>(token.text[2] - '0');
  module.version = major * 10 + minor;
  return true;
}

bool Parser::parseTarget() {
  take();
  do {
    std::string_view name;
    if (!expectWord(name))
      return false;
    if (name.substr(0, 3) == "sm_" || name.substr(0, 8) == "compute_")
      module.target = std::string(name);
    else if (name != "texmode_independent" && name != "texmode_unified" && name != "debug")
      return unsupported("unsupported target option '" + std::string(name) + "'");
  } while (accept(','));
  return true;
}

bool Parser::parseFile() {
  take();
  uint64_t index = 0;
  if (!expectInteger(index))
    return false;
  if (peek().kind != TokenKind::String)
    return fail("expected a file name, got " + describe(peek()));
  module.files[static_cast<uint32_t>(index)] = std::string(take().text);
  // An optional ", timestamp, size".
  while (accept(','))
    take();
  return true;
}

/// [.extern|.visible|.weak|.common] (.entry | .func | .global | .const |
/// .shared) ...
bool Parser::parseLinkedItem() {
  bool isExtern = false;
  for (;;) {
    if (acceptDot("extern"))
      isExtern = true;
    else if (!acceptDot("visible") && !acceptDot("weak") && !acceptDot("common"))
      break;
  }
  if (acceptDot("entry"))
    return parseFunction(/*isEntry=*/true, isExtern);
  if (acceptDot("func"))
    return parseFunction(/*isEntry=*/false, isExtern);
  if (peek().isDot("alias"))
    return unsupported("unsupported directive '.alias'");
  Space space = peek().kind == TokenKind::Dot ? parseSpace(peek().text) : Space::None;
  if (space != Space::Global && space != Space::Const && space != Space::Shared)
    return unsupported("unsupported directive " + describe(peek()));
  take();
  do {
    Variable variable;
    if (!parseVariable(space, isExtern, variable))
      return false;
    int existing = module.findVariable(variable.name);
    if (existing < 0)
      module.variables.push_back(std::move(variable));
    else if (module.variables[existing].isExtern)
      module.variables[existing] = std::move(variable);
    else if (!variable.isExtern)
      return fail("'" + std::string(variable.name) + "' is defined twice");
  } while (accept(','));
  return expect(';');
}

bool Parser::parseFunction(bool isEntry, bool isExtern) {
  Function function;
  function.isEntry = isEntry;
  function.line = peek().line;
  function.scopes.emplace_back();
  scope = 0;
  if (!isEntry && peek().is('(') && !parseParameterList(function, function.results))
    return false;
  if (!expectWord(function.name))
    return false;
  if (peek().is('(') && !parseParameterList(function, function.params))
    return false;
  while (peek().kind == TokenKind::Dot)
    if (!parsePerformanceDirective(function))
      return false;
  if (peek().is('{')) {
    if (isExtern)
      return fail("extern function '" + std::string(function.name) + "' has a body");
    function.isDefined = true;
    if (!parseBody(function))
      return false;
  } else if (!expect(';')) {
    return false;
  }
  int existing = module.findFunction(function.name);
  if (existing < 0)
    module.functions.push_back(std::move(function));
  else if (function.isDefined && module.functions[existing].isDefined)
    return fail("'" + std::string(function.name) + "' is defined twice");
  else if (function.isDefined)
    module.functions[existing] = std::move(function);
  return true;
}

bool Parser::parseParameterList(Function &function, std::vector<uint32_t> &list) {
  if (!expect('('))
    return false;
  if (accept(')'))
    return true;
  do {
    if (acceptDot("reg"))
      return unsupported("unsupported '.reg' parameter");
    if (!acceptDot("param"))
      return fail("expected '.param', got " + describe(peek()));
    Variable variable;
    if (!parseVariable(Space::Param, /*isExtern=*/false, variable))
      return false;
    list.push_back(static_cast<uint32_t>(function.variables.size()));
    if (!declareVariable(function, std::move(variable)))
      return false;
  } while (accept(','));
  return expect(')');
}

bool Parser::parseDimensions(uint32_t (&dims)[3]) {
  for (unsigned i = 0; i < 3; ++i) {
    dims[i] = 1;
    if (i > 0 && !peek().is(','))
      continue;
    if (i > 0)
      take();
    uint64_t value = 0;
    if (!expectInteger(value))
      return false;
    dims[i] = static_cast<uint32_t>(value);
  }
  return true;
}

bool Parser::parsePerformanceDirective(Function &function) {
  std::string_view name = take().text;
  uint64_t value = 0;
  if (name == "reqntid")
    return parseDimensions(function.reqntid);
  if (name == "maxntid")
    return parseDimensions(function.maxntid);
  if (name == "reqnctapercluster")
    return parseDimensions(function.reqCluster);
  if (name == "explicitcluster") {
    function.explicitCluster = true;
    return true;
  }
  if (name == "minnctapersm" || name == "maxnreg" || name == "maxclusterrank") {
    if (!expectInteger(value))
      return false;
    if (name == "minnctapersm")
      function.minBlocksPerSM = static_cast<uint32_t>(value);
    if (name == "maxnreg")
      function.maxRegisters = static_cast<uint32_t>(value);
    return true;
  }
  if (name == "noreturn" || name == "blocksareclusters")
    return true;
  if (name == "pragma")
    return skipToSemicolon();
  return unsupported("unsupported function directive '." + std::string(name) + "'");
}

bool Parser::skipBraces() {
  if (!expect('{'))
    return false;
  for (unsigned depth = 1; depth > 0;) {
    const Token token = take();
    if (token.kind == TokenKind::End)
      return fail("expected '}' before the end of the text");
    depth += token.is('{');
    depth -= token.is('}');
  }
  return true;
}

bool Parser::skipToSemicolon() {
  while (!accept(';')) {
    if (peek().kind == TokenKind::End)
      return fail("expected ';' before the end of the text");
    take();
  }
  return true;
}
