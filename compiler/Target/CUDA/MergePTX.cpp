//===- MergePTX.cpp - One PTX module out of many --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on the text, statement by statement at module scope: a statement ends with a semicolon, or
// with the brace that closes its body. No text has braces or semicolons in strings at module scope
// but in .file, which is a line of its own; kernels that programs bring have no line information.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CUDA/MergePTX.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace xc::target {

namespace {

/// One statement of module scope, without the comments around it.
struct Statement {
  std::string text;
  std::string symbol; // what it defines or declares, or empty
  bool isKernel = false;
  bool isExternal = false;
};

} // namespace

static bool isSymbolChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

/// Where `keyword` ends as a whole word of `text`; npos if it is not there.
static size_t findEnd(StringRef text, StringRef keyword) {
  for (size_t at = text.find(keyword); at != StringRef::npos; at = text.find(keyword, at)) {
    at += keyword.size();
    if (at == text.size() || !isSymbolChar(text[at]))
      return at;
  }
  return StringRef::npos;
}

/// The name that a variable, function or kernel statement introduces.
static std::string findSymbol(StringRef text) {
  for (StringRef keyword : {".entry", ".func"}) {
    size_t end = findEnd(text, keyword);
    if (end == StringRef::npos)
      continue;
    StringRef rest = text.drop_front(end).ltrim();
    if (rest.starts_with("(")) // return values of a .func
      rest = rest.drop_front(std::min(rest.find(')') + 1, rest.size())).ltrim();
    return rest.take_while(isSymbolChar).str();
  }
  // A variable: the last word before its array bounds, its initialiser or its end.
  StringRef head =
      text.take_until([](char c) { return c == '[' || c == '=' || c == ';' || c == '{'; }).rtrim();
  return head.take_back(head.size() - (head.find_last_of(" \t\n") + 1)).str();
}

static SmallVector<Statement> splitStatements(StringRef body) {
  SmallVector<Statement> statements;
  while (true) {
    body = body.ltrim();
    if (body.empty())
      return statements;
    if (body.starts_with("//")) {
      body = body.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    // Line information has its own syntax and does not nest.
    size_t end = 0;
    if (body.starts_with(".file")) {
      end = body.find('\n');
    } else {
      int depth = 0;
      bool comment = false;
      for (; end < body.size(); ++end) {
        char c = body[end];
        comment = comment ? c != '\n' : body.substr(end).starts_with("//");
        if (comment)
          continue;
        depth += (c == '{') - (c == '}');
        if (depth == 0 &&
            (c == ';' || (c == '}' && !body.substr(end + 1).ltrim().starts_with(";"))))
          break;
      }
    }
    StringRef text = body.substr(0, std::min(end + 1, body.size())).rtrim();
    body = body.drop_front(std::min(end + 1, body.size()));
    Statement statement;
    statement.text = text.str();
    statement.isKernel = findEnd(text, ".entry") != StringRef::npos;
    statement.isExternal = text.starts_with(".extern");
    if (!text.starts_with(".file") && !text.starts_with(".section"))
      statement.symbol = findSymbol(text);
    statements.push_back(std::move(statement));
  }
}

/// Replaces whole words `from` by `to`.
static void renameSymbol(std::string &text, StringRef from, StringRef to) {
  for (size_t at = text.find(from.str()); at != std::string::npos;
       at = text.find(from.str(), at + to.size())) {
    bool whole = (at == 0 || !isSymbolChar(text[at - 1])) &&
                 (at + from.size() == text.size() || !isSymbolChar(text[at + from.size()]));
    if (whole)
      text.replace(at, from.size(), to.str());
    else
      at = at + from.size() - to.size();
  }
}

/// Numbers source files through the merged module: `files` maps what follows the number in a .file
/// directive to its new number, which the .loc directives of `statements` then use.
static void renumberFiles(MutableArrayRef<Statement> statements, llvm::StringMap<unsigned> &files) {
  llvm::StringMap<std::string> numbers; // of this module -> of the merged one
  for (Statement &statement : statements) {
    StringRef text = statement.text;
    if (!text.consume_front(".file"))
      continue;
    text = text.ltrim();
    StringRef number = text.take_while(llvm::isDigit);
    StringRef name = text.drop_front(number.size()).trim();
    auto [file, isNew] = files.try_emplace(name, files.size() + 1);
    numbers[number] = std::to_string(file->second);
    statement.text = isNew ? ".file\t" + numbers[number] + " " + name.str() : "";
  }
  if (numbers.empty())
    return;
  for (Statement &statement : statements) {
    std::string result;
    StringRef rest = statement.text;
    while (true) {
      size_t at = rest.find(".loc");
      size_t end = at == StringRef::npos ? at : rest.find_first_not_of(" \t", at + 4);
      if (end == StringRef::npos)
        break;
      StringRef number = rest.substr(end).take_while(llvm::isDigit);
      result += rest.substr(0, end).str() + numbers.lookup(number);
      rest = rest.drop_front(end + number.size());
    }
    statement.text = result + rest.str();
  }
}

/// Splits off `.version`, `.target` and `.address_size`, joined by newlines.
static std::string takeHeader(StringRef module, StringRef &body) {
  SmallVector<StringRef, 3> header;
  body = module;
  while (!body.empty()) {
    auto [line, rest] = body.split('\n');
    line = line.trim();
    bool isHeader = line.starts_with(".version") || line.starts_with(".target") ||
                    line.starts_with(".address_size");
    if (!isHeader && !line.empty() && !line.starts_with("//"))
      break;
    if (isHeader)
      header.push_back(line);
    body = rest;
  }
  return llvm::join(header, "\n");
}

FailureOr<std::string> mergePTX(ArrayRef<StringRef> modules,
                                llvm::function_ref<InFlightDiagnostic()> emitError) {
  std::string header, merged;
  llvm::StringSet<> kernels, texts, symbols;
  llvm::StringMap<unsigned> files;
  for (auto [number, module] : llvm::enumerate(modules)) {
    StringRef body;
    std::string own = takeHeader(module, body);
    if (number == 0)
      header = own;
    if (own != header)
      return emitError() << "expected PTX modules of one version and target, got '" << header
                         << "' and '" << own << "'";
    SmallVector<Statement> statements = splitStatements(body);
    SmallVector<std::pair<std::string, std::string>> renamed;
    for (const Statement &statement : statements) {
      if (statement.symbol.empty())
        continue;
      if (statement.isKernel) {
        if (!kernels.insert(statement.symbol).second)
          return emitError() << "expected kernels of different names, got two of '"
                             << statement.symbol << "'";
      } else if (!texts.contains(statement.text) && !symbols.insert(statement.symbol).second) {
        renamed.push_back({statement.symbol, statement.symbol + "_m" + std::to_string(number)});
      }
    }
    renumberFiles(statements, files);
    for (Statement &statement : statements) {
      if (statement.text.empty() || (statement.isExternal && !texts.insert(statement.text).second))
        continue;
      for (const auto &[from, to] : renamed)
        renameSymbol(statement.text, from, to);
      merged += "\n" + statement.text + "\n";
    }
  }
  return header + "\n" + merged;
}

} // namespace xc::target
