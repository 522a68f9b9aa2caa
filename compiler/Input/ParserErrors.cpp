//===- ParserErrors.cpp - Errors of MLIR's parser, for people -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ParserErrors.h"

#include "compiler/Input/Nesting.h"
#include "compiler/Input/UnknownNames.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace xc {

namespace {

/// An error of the parser and the text around its place.
struct ParserError {
  MLIRContext *context;
  std::string message;
  /// The source up to the error's place, and from there on.
  StringRef before, rest;
};

} // namespace

static std::optional<ParserError> readError(llvm::SourceMgr &sources,
                                            const Diagnostic &diagnostic) {
  auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (!loc || diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return std::nullopt;
  ParserError error{loc.getContext(), diagnostic.str(), {}, {}};
  llvm::SMLoc place =
      sources.FindLocForLineAndColumn(sources.getMainFileID(), loc.getLine(), loc.getColumn());
  if (!place.isValid())
    return error;
  StringRef source = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  size_t offset = place.getPointer() - source.data();
  error.before = source.take_front(offset);
  error.rest = source.drop_front(offset);
  return error;
}

/// What stands between the first `prefix` and the next quote; empty where there is no `prefix`.
static StringRef getQuoted(StringRef message, StringRef prefix) {
  size_t begin = message.find(prefix);
  if (begin == StringRef::npos)
    return {};
  return message.drop_front(begin + prefix.size()).take_until([](char c) { return c == '\''; });
}

static bool isInWord(char c) { return llvm::isAlnum(c) || c == '_'; }

/// The array op that is named last before the error, if any.
static std::optional<RegisteredOperationName> findLastOp(const ParserError &error) {
  size_t begin = error.before.rfind("array.");
  if (begin == StringRef::npos)
    return std::nullopt;
  StringRef name =
      error.before.drop_front(begin).take_while([](char c) { return isInWord(c) || c == '.'; });
  return RegisteredOperationName::lookup(name, error.context);
}

//===----------------------------------------------------------------------===//
// Errors that are said anew
//===----------------------------------------------------------------------===//

static StringRef getDialect(StringRef name) { return name.split('.').first; }

/// MLIR names a flag of its own tools, and all dialects that it has linked.
static std::string restateDialect(const ParserError &error) {
  StringRef name = getQuoted(error.message, "not found for custom op '");
  // In quotes, `"stablehlo.add"(...)`, the error stands after the name.
  if (StringRef(error.message).starts_with("operation being parsed with an unregistered dialect"))
    name = error.before.rtrim('"').rsplit('"').second;
  if (name.empty() || name.contains('\n'))
    return {};
  return ("'" + name + "': dialect '" + getDialect(name) + "' is unknown").str();
}

/// The parser asks for the next op where the text ends within a block.
static std::string restateEnd(const ParserError &error) {
  if (error.message != "expected operation name in quotes" || !error.rest.trim().empty())
    return {};
  std::optional<size_t> bracket = findOpenBracket(error.before);
  if (!bracket)
    return {};
  size_t line = error.before.take_front(*bracket).count('\n') + 1;
  return ("the input ends here, but the '" + error.before.substr(*bracket, 1) + "' of line " +
          Twine(line) + " is still open")
      .str();
}

/// A function without its opening brace is a declaration, and what should be its body stands
/// outside of it, up to the `return` or the closing brace.
static std::string restateOutside(const ParserError &error) {
  StringRef message = error.message, before = error.before;
  bool isReturn = getQuoted(message, "custom op '") == "return";
  bool isValue = message.contains("use of undeclared SSA value name");
  size_t begin = before.rfind("func.func");
  bool isDeclaration = begin != StringRef::npos && !opensBody(before.drop_front(begin));
  std::string missing;
  if (isDeclaration)
    missing = ("the function of line " + Twine(before.take_front(begin).count('\n') + 1) +
               " lacks the '{' before its body")
                  .str();
  if ((isReturn || isValue) && isDeclaration)
    return (isReturn ? "'return'" : "this") + (" stands outside of a function; " + missing);
  // The error's place is the end of the token before the brace.
  size_t blank = error.rest.size() - error.rest.ltrim().size();
  bool isBrace = message == "expected operation name in quotes" &&
                 error.rest.drop_front(blank).starts_with("}");
  std::string upToBrace = isBrace ? (before + error.rest.take_front(blank + 1)).str() : "";
  if (!closesUnopenedBracket(upToBrace))
    return {};
  return ("the '}' of line " + Twine(StringRef(upToBrace).count('\n') + 1) + " closes nothing" +
          (isDeclaration ? "; " : "") + missing)
      .str();
}

static std::string restate(const ParserError &error) {
  for (auto *restated : {restateDialect, restateEnd, restateOutside})
    if (std::string text = restated(error); !text.empty())
      return text;
  return {};
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

/// What can be said of a word at which an op in its own syntax should have ended.
static std::string explainWord(const ParserError &error) {
  StringRef blanks = error.rest.take_while([](char c) { return llvm::isSpace(c); });
  StringRef word = error.rest.drop_front(blanks.size()).take_while(isInWord);
  std::optional<RegisteredOperationName> op = findLastOp(error);
  if (error.message != "expected ':'" || !op)
    return {};
  if (blanks.contains('\n'))
    return ("'" + op->getStringRef() + "' ends with its types, such as `: tensor<4x8xf32>`").str();
  if (word.empty())
    return {};
  bool isKnown = llvm::is_contained(
      llvm::map_range(op->getAttributeNames(), [](StringAttr known) { return known.getValue(); }),
      word);
  return ("'" + op->getStringRef() + "' takes no '" + word + "' here; ").str() +
         (isKnown ? "its attributes have an order, see docs/reference/array.md"
                  : describeAttributes(*op, word));
}

/// One type behind the colon is that of all operands and of the result.
static std::string explainTypes(const ParserError &error) {
  StringRef line = error.rest.take_until([](char c) { return c == '\n'; });
  std::optional<RegisteredOperationName> op = findLastOp(error);
  StringRef message = error.message;
  bool isAtType = message.contains("expected builtin.function");
  bool isOneType = (isAtType || line.contains(" : ")) && !line.contains("->");
  if (!(isAtType || message.contains("expects different type than prior uses")) || !op ||
      !isOneType || error.before.rsplit("array.").second.contains('\n'))
    return {};
  return ("where operands and result differ in type, '" + op->getStringRef() +
          "' takes all of them: `: (type of each operand) -> type of the result`")
      .str();
}

/// The names that are known where one is unknown.
static std::string explainName(const ParserError &error) {
  StringRef message = error.message;
  for (StringRef prefix : {"custom op '", "unregistered operation '"})
    if (message.starts_with(prefix) && (message.contains("is unknown") || prefix[0] == 'u'))
      return describeOps(error.context, getQuoted(message, prefix));
  if (message == "expected non-function type" || message.contains("unknown type") ||
      message.contains("type created with unregistered dialect") ||
      message.contains("provides no type parsing hook"))
    return kKnownTypes.str();
  return {};
}

/// What MLIR takes for granted that one knows.
static std::string explainForm(const ParserError &error) {
  StringRef message = error.message;
  if (message == "expected operation name in quotes" && error.before.trim().empty())
    return describeDialects({});
  if (message.starts_with("block with no terminator"))
    return "the body of a function ends with `return`, that of a region with `array.yield`";
  if (message.contains("point value not valid for specified type") ||
      message.contains("integer literal not valid for specified type"))
    return "an array whose elements all have one value is written `dense<1.0> : tensor<4x8xf32>`";
  return {};
}

/// Where an op's own syntax is not followed, its page has an example of it.
static std::string explainSyntax(const ParserError &error) {
  StringRef message = error.message;
  if (message.consume_front("custom op '"))
    message = message.split("' ").second;
  std::optional<RegisteredOperationName> op = findLastOp(error);
  if (!message.starts_with("expected '") || !op ||
      error.before.rsplit("array.").second.contains('\n'))
    return {};
  return ("docs/reference/array.md has an example of '" + op->getStringRef() + "'").str();
}

static std::string explain(const ParserError &error) {
  for (auto *explanation : {explainName, explainWord, explainTypes, explainForm, explainSyntax})
    if (std::string text = explanation(error); !text.empty())
      return text;
  return {};
}

/// Puts another text, without notes, in the place of a diagnostic's.
static void replaceText(Diagnostic &diagnostic, StringRef text) {
  Diagnostic restated(diagnostic.getLocation(), diagnostic.getSeverity());
  restated << text.str();
  diagnostic = std::move(restated);
}

ParserErrorHandler::ParserErrorHandler(llvm::SourceMgr &sources, MLIRContext *context)
    : ScopedDiagnosticHandler(context) {
  setHandler([&sources](Diagnostic &diagnostic) {
    std::optional<ParserError> error = readError(sources, diagnostic);
    if (!error)
      return failure(); // the next handler prints it
    std::string note = explain(*error);
    if (std::string text = restate(*error); !text.empty()) {
      replaceText(diagnostic, text);
      // What the parser meant is not what is wrong.
      StringRef name = getQuoted(text, "dialect '");
      note = name.empty() ? std::string() : describeDialects(name);
    }
    if (!note.empty())
      diagnostic.attachNote() << note;
    return failure();
  });
}

} // namespace xc
