//===- UnknownNames.cpp - Say what is known where a name is unknown -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/UnknownNames.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace xc {

static constexpr StringLiteral kDialects =
    "known dialects are array, func, linalg, tensor, tosa, arith, math and affine";
/// Forms that models come in elsewhere.
static constexpr StringLiteral kOtherForms[] = {"stablehlo", "chlo", "mhlo", "vhlo",
                                                "tosa",      "onnx", "torch"};
static constexpr StringLiteral kTypes =
    "known types are tensor<...> of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32 "
    "or f64, and index for sizes";

/// What stands between the first `prefix` and the next quote; empty where there is no `prefix`.
static StringRef getQuoted(StringRef message, StringRef prefix) {
  size_t begin = message.find(prefix);
  if (begin == StringRef::npos)
    return {};
  return message.drop_front(begin + prefix.size()).take_until([](char c) { return c == '\''; });
}

/// What can be said of an op or type of a dialect that does not exist.
static std::string describeDialects(StringRef dialect) {
  if (llvm::is_contained(kOtherForms, dialect))
    return ("'" + dialect +
            "' is not an input form; a model is given as array ops (docs/reference/array.md says "
            "which "
            "are like StableHLO's), or as TOSA or linalg on tensors, which other compilers make; " +
            kDialects)
        .str();
  return kDialects.str();
}

static std::string describeOps(MLIRContext *context, StringRef unknown) {
  StringRef dialect = unknown.split('.').first;
  context->getOrLoadDialect(dialect); // the parser has not, where it found no such op
  SmallVector<RegisteredOperationName> known;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect)
      known.push_back(name);
  llvm::sort(known,
             [](auto left, auto right) { return left.getStringRef() < right.getStringRef(); });
  if (known.empty())
    return describeDialects(dialect);
  auto distance = [&](RegisteredOperationName name) {
    return unknown.edit_distance(name.getStringRef());
  };
  const RegisteredOperationName *nearest = llvm::min_element(
      known, [&](auto left, auto right) { return distance(left) < distance(right); });
  std::string text;
  // Of three letters, two that are right are no word that was meant.
  size_t letters = unknown.size() - dialect.size() - 1;
  if (distance(*nearest) <= std::min<size_t>(2, std::max<size_t>(1, letters / 3)))
    text = "did you mean '" + nearest->getStringRef().str() + "'? ";
  text += "known are ";
  llvm::interleave(
      known, [&](RegisteredOperationName name) { text += name.getStringRef(); },
      [&] { text += ", "; });
  return text;
}

std::string describeAttributes(OperationName op, StringRef unknown) {
  // How many operands of a kind there are is no attribute that one writes.
  SmallVector<StringAttr> known;
  llvm::copy_if(op.getAttributeNames(), std::back_inserter(known),
                [](StringAttr name) { return name.getValue() != "operandSegmentSizes"; });
  if (known.empty())
    return "it has none";
  const StringAttr *nearest = llvm::find_if(known, [&](StringAttr name) {
    return name.getValue().contains(unknown) || unknown.contains(name.getValue()) ||
           unknown.edit_distance(name.getValue()) <= 2;
  });
  std::string text;
  if (nearest != known.end())
    text = "did you mean '" + nearest->str() + "'? ";
  text += "known are ";
  llvm::interleave(known, [&](StringAttr name) { text += name.getValue(); }, [&] { text += ", "; });
  return text;
}

/// The note for an error of the parser or of a type's verifier; empty where no name is unknown.
static std::string explain(MLIRContext *context, StringRef message) {
  if (message.starts_with("custom op '"))
    return message.contains("is unknown") ? describeOps(context, getQuoted(message, "custom op '"))
                                          : std::string();
  if (message.starts_with("unregistered operation '"))
    return describeOps(context, getQuoted(message, "unregistered operation '"));
  if (message.starts_with("Dialect `"))
    return describeDialects(getQuoted(message, "Dialect `"));
  if (message.starts_with("operation being parsed with an unregistered dialect"))
    return kDialects.str();
  if (message == "expected non-function type" || message.contains("unknown type") ||
      message.contains("type created with unregistered dialect") ||
      message.contains("provides no type parsing hook"))
    return kTypes.str();
  return {};
}

/// The source before the place that a diagnostic is about, and from there on; nothing where it has
/// none.
static std::optional<std::pair<StringRef, StringRef>> splitSource(llvm::SourceMgr &sources,
                                                                  const Diagnostic &diagnostic) {
  auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (!loc)
    return std::nullopt;
  llvm::SMLoc place =
      sources.FindLocForLineAndColumn(sources.getMainFileID(), loc.getLine(), loc.getColumn());
  if (!place.isValid())
    return std::nullopt;
  StringRef source = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  size_t offset = place.getPointer() - source.data();
  return std::pair(source.take_front(offset), source.drop_front(offset));
}

/// The dialect of an op in quotes, `"stablehlo.add"(...)`, whose error stands after its name; empty
/// where that is not to be seen.
static StringRef findQuotedDialect(llvm::SourceMgr &sources, const Diagnostic &diagnostic) {
  if (!StringRef(diagnostic.str())
           .starts_with("operation being parsed with an unregistered dialect"))
    return {};
  auto source = splitSource(sources, diagnostic);
  if (!source)
    return {};
  auto [head, name] = source->first.rtrim("\"").rsplit('"');
  return name.contains('\n') ? StringRef() : name.split('.').first;
}

/// What can be said of a word at which an op in its own syntax should have ended: the op is the
/// last one that is named before it.
static std::string explainWord(llvm::SourceMgr &sources, const Diagnostic &diagnostic) {
  if (diagnostic.str() != "expected ':'")
    return {};
  auto source = splitSource(sources, diagnostic);
  if (!source)
    return {};
  auto isInWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  auto [before, rest] = *source;
  StringRef word = rest.ltrim().take_while(isInWord);
  size_t begin = before.rfind(" array.");
  if (word.empty() || begin == StringRef::npos)
    return {};
  StringRef name =
      before.drop_front(begin + 1).take_while([&](char c) { return isInWord(c) || c == '.'; });
  std::optional<RegisteredOperationName> op =
      RegisteredOperationName::lookup(name, diagnostic.getLocation().getContext());
  if (!op)
    return {};
  return ("'" + name + "' takes no '" + word + "' here; ").str() +
         (llvm::is_contained(llvm::map_range(op->getAttributeNames(),
                                             [](StringAttr known) { return known.getValue(); }),
                             word)
              ? "its attributes have an order, see docs/reference/array.md"
              : describeAttributes(*op, word));
}

UnknownNameHandler::UnknownNameHandler(llvm::SourceMgr &sources, MLIRContext *context)
    : ScopedDiagnosticHandler(context) {
  setHandler([&sources, context](Diagnostic &diagnostic) {
    std::string note;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      StringRef dialect = findQuotedDialect(sources, diagnostic);
      note = dialect.empty() ? explain(context, diagnostic.str()) : describeDialects(dialect);
      if (note.empty())
        note = explainWord(sources, diagnostic);
    }
    if (!note.empty())
      diagnostic.attachNote() << note;
    return failure(); // the next handler prints it
  });
}

} // namespace xc
