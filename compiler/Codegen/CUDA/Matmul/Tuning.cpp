//===- Tuning.cpp - Configurations that were measured ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/Tuning.h"

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::cuda {

static constexpr llvm::StringLiteral kShippedTuning =
#include "compiler/Codegen/CUDA/Matmul/Tuning/sm_90a.inc"
    ;

/// Whether `key` is of attention, or of one of its gradients.
static bool isOfAttention(ArrayRef<StringRef> key) {
  return key[1] == "attention" || key[1].starts_with("attention_gradient_of_");
}

/// Words of keys without what is fused: target, kind, types, sizes and order of a product, or sizes
/// and the indices of both operands and of the result of one with windows.
static constexpr size_t kProductWords = 5, kConvolutionWords = 7;

/// What is wrong with the form of `key`; empty if nothing is.
static std::string checkKey(ArrayRef<StringRef> key) {
  auto isPlain = [](ArrayRef<StringRef> words, size_t count) {
    return words.size() == count || (words.size() == count + 2 && words[count] == "fused" &&
                                     llvm::all_of(words[count + 1], llvm::isDigit));
  };
  bool isAttention = key.size() == kProductWords && isOfAttention(key),
       isProduct = isPlain(key, kProductWords) && key[1] == "matmul",
       isConvolution = isPlain(key, kConvolutionWords) && key[1] == "conv";
  if (!isAttention && !isProduct && !isConvolution)
    return "expected a key such as 'sm_90a matmul bf16*bf16>bf16 1x4096x4096x4096 nn', with "
           "'fused N' behind it or not, 'sm_90a conv bf16*bf16>bf16 8x30x30x64x3x3x64 "
           "a,b+e-1,c+f-1,g/8x30x30x64 d,e,f,g a,b,c,d', likewise, or 'sm_90a attention bf16 "
           "8x16x4096x4096x128x128 causal', got '" +
           llvm::join(key, " ") + "'";
  if (!findTarget(key[0]))
    return "expected a target out of " + listTargets() + ", got '" + key[0].str() + "'";
  return {};
}

/// What keeps products of `key` from `config`; empty if nothing does.
static std::string checkFit(ArrayRef<StringRef> key, Attribute config) {
  const Target &target = *findTarget(key[0]);
  if (isOfAttention(key)) {
    if (isa<AttentionMMAAttr>(config))
      return target.hasMMA16816 ? "" : "mma.sync of 16-bit types needs sm_80";
    if (!isa<AttentionAttr>(config))
      return "this is no configuration of attention";
    return target.hasWGMMA ? "" : "wgmma needs sm_90a";
  }
  StringRef factors = key[2].split('>').first;
  bool isHalf = factors == "bf16*bf16" || factors == "f16*f16", isTF32 = factors == "tf32*tf32",
       isSigned = factors == "i8*i8",
       isByte = isSigned || factors == "u8*u8" || factors == "i8*u8" || factors == "u8*i8";
  return llvm::TypeSwitch<Attribute, std::string>(config)
      .Case([&](MatmulFMAAttr) { return std::string(); })
      .Case([&](MatmulMMAAttr) -> std::string {
        if (!target.hasMMA16816)
          return "mma.sync needs sm_80 or later";
        if (factors == "f64*f64" && target.doubleMMA == DoubleMMA::None)
          return "mma.sync of f64 needs sm_80, sm_90 or sm_100a";
        return isHalf || isTF32 || isByte || factors == "f64*f64"
                   ? ""
                   : "mma.sync needs operands of f16, bf16, tf32, f64, i8 or u8";
      })
      .Case([&](MatmulWGMMAAttr) -> std::string {
        if (!target.hasWGMMA)
          return "wgmma needs sm_90a";
        return isHalf || isTF32 || isSigned ? "" : "wgmma needs operands of f16, bf16, tf32 or i8";
      })
      .Default([](Attribute) { return "this is no configuration of matrix products"; });
}

FailureOr<TuningTable> TuningTable::parse(MLIRContext *context, StringRef text,
                                          StringRef fileName) {
  context->getOrLoadDialect<CUDADialect>();
  TuningTable table;
  unsigned number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    Location loc = FileLineColLoc::get(context, fileName, ++number, 1);
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [name, value] = line.split(" = ");
    SmallVector<StringRef> key;
    name.split(key, ' ');
    if (std::string wrong = checkKey(key); !wrong.empty())
      return emitError(loc) << wrong;
    std::string reason;
    Attribute config;
    {
      ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
        reason = diagnostic.str();
        return success();
      });
      config = parseAttribute(value, context);
    }
    if (!config)
      return emitError(loc) << "expected a configuration, got '" << value << "': " << reason;
    if (std::string wrong = checkFit(key, config); !wrong.empty())
      return emitError(loc) << "expected a configuration that fits " << name << ", got " << config
                            << ": " << wrong;
    if (!table.entries.try_emplace(name, Entry{config, loc}).second)
      return emitError(loc) << "expected one configuration for " << name << ", got another one";
  }
  return table;
}

FailureOr<TuningTable> TuningTable::parseShipped(MLIRContext *context) {
  return parse(context, kShippedTuning, "Tuning/sm_90a.inc");
}

const TuningTable::Entry *TuningTable::lookup(StringRef key) const {
  auto found = entries.find(key);
  if (found == entries.end())
    found = entries.find(key.take_front(key.find(kFused)));
  return found == entries.end() ? nullptr : &found->second;
}

} // namespace xc::cuda
