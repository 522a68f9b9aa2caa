//===- Parser.cpp - Module-level PTX --------------------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "Requirements.h"

#include <algorithm>
#include <iterator>

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
  if (name == "pragma") {
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
  if (module.version)
    return failAt(token, "a module has one '.version' directive");
  module.version = major * 10 + minor;
  // Of 60: what LLVM has emitted for every GPU that is not refused below.
  if (module.version >= 60 && module.version <= 91)
    return true;
  failAt(token, "unsupported '.version " + std::string(token.text) + "', expected 6.0 to 9.1");
  error.unsupported = true;
  return false;
}

namespace {
struct TargetRow {
  std::string_view name;
  unsigned version; ///< the first .version that knows it
};
} // namespace

static constexpr TargetRow kTargets[] = {
    {"sm_50", 40},   {"sm_52", 41},   {"sm_53", 42},   {"sm_60", 50},   {"sm_61", 50},
    {"sm_62", 50},   {"sm_70", 60},   {"sm_72", 61},   {"sm_75", 63},   {"sm_80", 70},
    {"sm_86", 71},   {"sm_87", 74},   {"sm_88", 90},   {"sm_89", 78},   {"sm_90", 78},
    {"sm_90a", 80},  {"sm_100", 86},  {"sm_100a", 86}, {"sm_100f", 88}, {"sm_101", 86},
    {"sm_101a", 86}, {"sm_101f", 88}, {"sm_103", 88},  {"sm_103a", 88}, {"sm_103f", 88},
    {"sm_110", 90},  {"sm_110a", 90}, {"sm_110f", 90}, {"sm_120", 87},  {"sm_120a", 87},
    {"sm_120f", 88}, {"sm_121", 88},  {"sm_121a", 88}, {"sm_121f", 88},
};

/// Sets the module's target, which its version must know.
bool Parser::setTarget(const Token &token) {
  if (!module.target.empty())
    return failAt(token, "a module has one target, got " + describe(token) + " after '" +
                             module.target + "'");
  module.target = std::string(token.text);
  for (const TargetRow &row : kTargets) {
    if (row.name != token.text)
      continue;
    if (module.version >= row.version)
      return true;
    return failAt(token, "target " + module.target + " needs '.version " +
                             std::to_string(row.version / 10) + "." +
                             std::to_string(row.version % 10) + "' or later");
  }
  failAt(token, "unknown target " + describe(token));
  error.unsupported = true;
  return false;
}

bool Parser::parseTarget() {
  take();
  do {
    const Token token = peek();
    std::string_view name;
    if (!expectWord(name))
      return false;
    if (name.substr(0, 3) == "sm_") {
      if (!setTarget(token))
        return false;
    } else if (name != "texmode_independent" && name != "texmode_unified" && name != "debug") {
      failAt(token, "unsupported target option '" + std::string(name) + "'");
      error.unsupported = true;
      return false;
    }
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

/// Whether calls pass the same bytes to both; names may differ.
static bool haveSameSignature(const Function &a, const Function &b) {
  auto areEqual = [&](const std::vector<uint32_t> &ofA, const std::vector<uint32_t> &ofB) {
    if (ofA.size() != ofB.size())
      return false;
    for (size_t i = 0; i < ofA.size(); ++i) {
      const Variable &left = a.variables[ofA[i]], &right = b.variables[ofB[i]];
      if (left.bytes != right.bytes || left.align != right.align)
        return false;
    }
    return true;
  };
  return a.isEntry == b.isEntry && areEqual(a.params, b.params) && areEqual(a.results, b.results);
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
  if (!checkParameterBytes(function))
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
  if (existing >= 0 && !haveSameSignature(module.functions[existing], function))
    return fail("'" + std::string(function.name) + "' is declared with other parameters before");
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

/// Kernels take 4352 bytes of parameters, from PTX 8.1 and sm_70 on 32764.
bool Parser::checkParameterBytes(const Function &function) {
  if (!function.isEntry)
    return true;
  uint64_t bytes = 0;
  for (uint32_t index : function.params) {
    const Variable &variable = function.variables[index];
    bytes = (bytes + variable.align - 1) / variable.align * variable.align + variable.bytes;
  }
  // Of the targets that are known, those before sm_70 come first in the alphabet.
  bool isRecent = module.target.size() > 5 || module.target >= "sm_70";
  const uint64_t most = module.version >= 81 && isRecent ? 32764 : 4352;
  return bytes <= most ||
         fail("the parameters of '" + std::string(function.name) + "' take " +
              std::to_string(bytes) + " bytes, expected at most " + std::to_string(most));
}

/// Up to three extents, none of them zero, whose product is \p most at most.
bool Parser::parseDimensions(uint32_t (&dims)[3], uint64_t most) {
  const Token first = peek();
  uint64_t volume = 1;
  for (unsigned i = 0; i < 3; ++i) {
    dims[i] = 1;
    if (i > 0 && !peek().is(','))
      continue;
    if (i > 0)
      take();
    uint64_t value = 0;
    if (!expectInteger(value))
      return false;
    if (value == 0 || value > most || (volume *= value) > most)
      return failAt(first,
                    "expected extents above 0 with a product of at most " + std::to_string(most));
    dims[i] = static_cast<uint32_t>(value);
  }
  return true;
}

bool Parser::parsePerformanceDirective(Function &function) {
  const Token directive = take();
  std::string_view name = directive.text;
  if (name == "pragma")
    return skipToSemicolon();
  if (name == "noreturn")
    return !function.isEntry || failAt(directive, "'.noreturn' is for functions, not kernels");
  auto refuse = [&](std::string message) {
    failAt(directive, std::move(message));
    error.unsupported = true;
    return false;
  };
  static const std::string_view kKnown[] = {
      "reqntid",         "maxntid",           "minnctapersm",   "maxnreg",
      "explicitcluster", "reqnctapercluster", "maxclusterrank", "blocksareclusters"};
  if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown))
    return refuse("unsupported function directive '." + std::string(name) + "'");
  if (!function.isEntry)
    return failAt(directive, "'." + std::string(name) + "' is for kernels, not functions");
  if (std::string lack = unmetRequirement("." + std::string(name), {}, 0,
                                          TargetInfo(module.target, module.version));
      !lack.empty())
    return refuse("'." + std::string(name) + "' " + lack);
  if (name == "reqntid" || name == "maxntid") {
    if (function.reqntid[0] || function.maxntid[0])
      return failAt(directive, "a kernel has one of '.reqntid' and '.maxntid', once");
    return parseDimensions(name == "reqntid" ? function.reqntid : function.maxntid,
                           kMaxBlockThreads);
  }
  if (name == "reqnctapercluster")
    return parseDimensions(function.reqCluster, kMaxClusterBlocks);
  if (name == "explicitcluster")
    return function.explicitCluster = true;
  if (name == "blocksareclusters")
    return refuse("unsupported function directive '.blocksareclusters'");
  uint64_t value = 0;
  if (!expectInteger(value))
    return false;
  if (value == 0 || (name == "maxclusterrank" && value > kMaxClusterBlocks))
    return failAt(directive,
                  "unexpected value " + std::to_string(value) + " of '." + std::string(name) + "'");
  if (name == "minnctapersm")
    function.minBlocksPerSM = static_cast<uint32_t>(value);
  if (name == "maxnreg")
    function.maxRegisters = static_cast<uint32_t>(value);
  return true;
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
