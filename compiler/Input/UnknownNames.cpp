//===- UnknownNames.cpp - Say what is known where a name is unknown -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/UnknownNames.h"

#include "compiler/Dialect/Array/IR/NearestNames.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace xc {

static constexpr StringLiteral kInputForms =
    "xcompile reads array ops (docs/reference/array.md), StableHLO as JAX prints it, and TOSA or "
    "linalg on tensors as other compilers write them: dialects array, func, stablehlo, chlo, "
    "linalg, tensor, tosa, arith, math, affine, scf and tm_tensor";
/// Forms that models come in elsewhere, and what they are called.
static constexpr std::pair<StringLiteral, StringLiteral> kOtherForms[] = {
    {"hal", "IREE's form of linalg"},
    {"iree_linalg_ext", "IREE's form of linalg"},
    {"mhlo", "MHLO"},
    {"vhlo", "portable StableHLO"},
    {"onnx", "ONNX in MLIR"},
    {"torch", "Torch-MLIR"},
    {"util", "IREE's form of linalg"}};
/// What other array languages call ops of ours that have other names.
static constexpr std::pair<StringLiteral, StringLiteral> kOtherNames[] = {
    {"all", "reduce"},         {"any", "reduce"},
    {"astype", "convert"},     {"broadcast", "broadcast_in_dim"},
    {"cast", "convert"},       {"clip", "clamp"},
    {"concat", "concatenate"}, {"dot", "dot_general"},
    {"einsum", "dot_general"}, {"embedding", "take"},
    {"linear", "matmul"},      {"mm", "matmul"},
    {"permute", "transpose"},  {"power", "pow"},
    {"prod", "reduce"},        {"reduce_max", "reduce"},
    {"reduce_sum", "reduce"},  {"scan", "while"},
    {"sum", "reduce"},         {"where", "select"}};
const StringLiteral kKnownTypes =
    "known types are tensor<...> of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32 "
    "or f64, and index for sizes";

std::string describeDialects(StringRef dialect) {
  for (auto [name, form] : kOtherForms)
    if (dialect == name)
      return (form + " is not an input form; " + kInputForms).str();
  return kInputForms.str();
}

/// The op's name here, where other languages have their own for it.
static StringRef translateName(StringRef name) {
  for (auto [other, ours] : kOtherNames)
    if (name == other)
      return ours;
  return {};
}

std::string describeOps(MLIRContext *context, StringRef unknown) {
  auto [dialect, word] = unknown.split('.');
  context->getOrLoadDialect(dialect); // the parser has not, where it found no such op
  SmallVector<StringRef> known;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect)
      known.push_back(name.getStringRef().drop_front(dialect.size() + 1));
  if (known.empty())
    return describeDialects(dialect);
  bool isOurs = dialect == "array";
  StringRef other = isOurs ? translateName(word) : StringRef();
  std::string text;
  if (!other.empty())
    text = ("'" + word + "' is array." + other).str();
  else
    text = suggestNames(word, known);
  std::string page = isOurs ? "docs/reference/array.md lists all ops" : std::string();
  return text.empty() || page.empty() ? text + page : text + (other.empty() ? " " : "; ") + page;
}

std::string describeAttributes(OperationName op, StringRef unknown) {
  // How many operands of a kind there are is no attribute that one writes.
  SmallVector<StringRef> known;
  for (StringAttr name : op.getAttributeNames())
    if (name.getValue() != "operandSegmentSizes")
      known.push_back(name.getValue());
  if (known.empty())
    return "it has none";
  std::string text = suggestNames(unknown, known);
  if (!text.empty())
    text += " ";
  return text + "known are " + llvm::join(known, ", ");
}

} // namespace xc
