//===- InputFile.cpp - Read what the compiler is given -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/InputFile.h"

#include "compiler/Input/Nesting.h"
#include "compiler/Input/RegularFile.h"
#include "schemas/module_header.h"
#include "tools/xcompile/BytecodeTrial.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace llvm;

namespace xc {

std::unique_ptr<MemoryBuffer> readInputFile(StringRef path, std::string &error) {
  if (path != "-" && isPipeOrDevice(path)) {
    error = ("cannot read '" + path + "': not a regular file; '-' reads standard input").str();
    return nullptr;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (buffer)
    return std::move(*buffer);
  error = ("cannot open input file '" + path + "': " + buffer.getError().message()).str();
  return nullptr;
}

static constexpr StringLiteral kExpected =
    "; expected array ops, StableHLO, TOSA or linalg on tensors as MLIR text or bytecode, or an "
    "ONNX model";

/// Files that models and their weights come in, by what they begin with.
static StringRef recogniseMagic(StringRef bytes) {
  static const std::pair<StringRef, StringRef> kMagics[] = {
      {StringRef(ModuleHeader::kMagic, sizeof(ModuleHeader::kMagic)),
       "a compiled module (xrun runs it, xdump shows it)"},
      {"\x93NUMPY", "an array of NumPy"},
      {"PK\x03\x04", "a zip archive, as PyTorch saves models"},
      {"\x89HDF", "an HDF5 file, as Keras saves models"},
      {"\x7f"
       "ELF",
       "a program or library (ELF)"}};
  for (auto [magic, form] : kMagics)
    if (bytes.starts_with(magic))
      return form;
  return {};
}

/// Files without a mark of their own, whose name tells.
static StringRef recogniseName(StringRef path) {
  return llvm::StringSwitch<StringRef>(sys::path::extension(path))
      .CaseLower(".safetensors", "a file of weights (xrun --parameters reads it)")
      .CasesLower({".pt", ".pth"}, "a model of PyTorch")
      .CasesLower({".pb", ".tflite"}, "a model of TensorFlow")
      .Default({});
}

/// Whether bytecode holds ops of StableHLO, or of its portable form, VHLO.
static bool isStableHLOBytecode(StringRef bytes) {
  // Names of dialects stand in its table of strings, which end with 0.
  return bytes.contains(StringRef("stablehlo\0", 10)) || bytes.contains(StringRef("vhlo\0", 5));
}

/// What the input at `path` is, and what reads it, if it is neither MLIR text nor bytecode, by its
/// first bytes: "is a compiled module; xrun runs it". Empty where it may be MLIR.
static std::string describeForeignInput(StringRef bytes, StringRef path) {
  if (StringRef form = recogniseMagic(bytes); !form.empty())
    return ("is " + form + kExpected).str();
  auto isBinary = [](char c) { return (c >= 0 && c < ' ' && !isSpace(c)) || c == '\x7f'; };
  size_t place = bytes.find_if(isBinary);
  if (place == StringRef::npos)
    return {};
  if (StringRef form = recogniseName(path); !form.empty())
    return ("is " + form + kExpected).str();
  return ("is no text: it has a byte of value " + Twine(unsigned(bytes[place])) + " at place " +
          Twine(place) + kExpected)
      .str();
}

/// What makes the reader of bytecode fail in a way of its own; empty where nothing does.
static std::string describeBytecode(StringRef bytes, StringRef path,
                                    const mlir::DialectRegistry &registry) {
  if (isStableHLOBytecode(bytes))
    return "it is StableHLO as bytecode; its text is read, which jax.jit(f).lower(x).as_text() or "
           "jax.export's mlir_module() prints";
  return tryBytecode(MemoryBufferRef(bytes, path), registry);
}

std::string findUnreadable(StringRef bytes, StringRef path, const mlir::DialectRegistry &registry) {
  std::string problem;
  if (mlir::isBytecode(MemoryBufferRef(bytes, path)))
    problem = describeBytecode(bytes, path, registry);
  else if (std::string form = describeForeignInput(bytes, path); !form.empty())
    problem = "it " + form;
  else if (std::optional<DeepNesting> nesting = findDeepNesting(bytes)) {
    StringRef before = bytes.take_front(nesting->place);
    // Without the source line, which can be as long as the brackets are deep.
    return (path + ":" + Twine(before.count('\n') + 1) + ":" +
            Twine(before.size() - (before.rfind('\n') + 1) + 1) + ": expected at most " +
            Twine(nesting->most) + " " + nesting->what + ", got more")
        .str();
  }
  return problem.empty() ? problem : ("cannot read '" + path + "': " + problem).str();
}

} // namespace xc
