//===- Contractions.cpp - ONNX's products of matrices and Einsum ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Contractions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

Value multiplyMatrices(NodeImport &n, Value a, Value b) {
  int64_t rankA = n.rankOf(a), rankB = n.rankOf(b);
  if (rankA == 0 || rankB == 0) {
    n.error("expected operands of rank 1 or more");
    return {};
  }
  // A vector is a row on the left, a column on the right, and the dim goes again.
  if (rankA == 1)
    a = n.expandDims(a, {0});
  if (rankB == 1)
    b = n.expandDims(b, {1});
  Value c = n.makeAs<MatMulOp>(n.elementOf(a), a, b, /*transpose_a=*/false, /*transpose_b=*/false,
                               /*allow_tf32=*/false);
  SmallVector<int64_t> added;
  if (rankA == 1)
    added.push_back(n.rankOf(c) - 2);
  if (rankB == 1)
    added.push_back(n.rankOf(c) - 1);
  return n.squeeze(c, added);
}

static Results importMatMul(NodeImport &n) { return {multiplyMatrices(n, n.input(0), n.input(1))}; }

static Results importGemm(NodeImport &n) {
  Value a = n.input(0), b = n.input(1);
  if (n.rankOf(a) != 2 || n.rankOf(b) != 2)
    return n.error("expected matrices, got ranks " + Twine(n.rankOf(a)) + " and " +
                   Twine(n.rankOf(b)));
  Value product = n.makeAs<MatMulOp>(n.elementOf(a), a, b, n.integer("transA", 0) != 0,
                                     n.integer("transB", 0) != 0, /*allow_tf32=*/false);
  double alpha = n.number("alpha", 1.0), beta = n.number("beta", 1.0);
  if (alpha != 1.0)
    product = n.mul(product, n.scalar(alpha, product));
  if (!n.has(2) || beta == 0.0)
    return {product};
  Value c = n.input(2);
  return {n.add(product, beta == 1.0 ? c : n.mul(c, n.scalar(beta, c)))};
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// A tensor whose dims have letters.
struct Term {
  Value value;
  std::string labels;
};

/// An equation: the letters of each operand and of the result, ellipses spelled out.
struct Equation {
  SmallVector<std::string> operands;
  std::string result;
};
} // namespace

/// Letters that stand for the dims of an ellipsis, counted from the last one.
static char ellipsisLabel(int64_t fromEnd) { return char(1 + fromEnd); }

static bool spellOut(NodeImport &n, StringRef text, int64_t rank, std::string &labels) {
  auto [before, after] = text.split("...");
  bool hasEllipsis = before.size() != text.size();
  int64_t count = hasEllipsis ? rank - int64_t(before.size() + after.size()) : 0;
  if (count < 0 || count > 16 || (!hasEllipsis && int64_t(text.size()) != rank)) {
    n.error("term '" + text + "' does not fit a tensor of rank " + Twine(rank));
    return false;
  }
  labels = before.str();
  for (int64_t i = count; i-- > 0;)
    labels += ellipsisLabel(i);
  labels += after.str();
  for (char label : labels)
    if (!llvm::isAlpha(label) && label > 16) {
      n.error("term '" + text + "' has letters that are none");
      return false;
    }
  return true;
}

static bool parseEquation(NodeImport &n, Equation &equation) {
  std::string text;
  for (char c : n.text("equation", ""))
    if (c != ' ')
      text += c;
  bool isExplicit = StringRef(text).contains("->");
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != n.getNumInputs()) {
    n.error("equation '" + text + "' has " + Twine(terms.size()) + " terms for " +
            Twine(n.getNumInputs()) + " inputs");
    return false;
  }
  int64_t mostDims = 0;
  std::string all;
  for (auto [index, term] : llvm::enumerate(terms)) {
    equation.operands.emplace_back();
    std::string &labels = equation.operands.back();
    if (!spellOut(n, term, n.rankOf(n.input(index)), labels))
      return false;
    all += labels;
    int64_t dims = llvm::count_if(labels, [](char c) { return c <= 16; });
    mostDims = std::max(mostDims, dims);
  }
  if (!isExplicit) {
    // Ellipsis first, then the letters that are there once, in their order.
    for (int64_t i = mostDims; i-- > 0;)
      equation.result += ellipsisLabel(i);
    std::string sorted = all;
    llvm::sort(sorted);
    for (char c : sorted)
      if (c > 16 && llvm::count(all, c) == 1)
        equation.result += c;
    return true;
  }
  auto [before, after] = right.split("...");
  equation.result = before.str();
  if (before.size() != right.size())
    for (int64_t i = mostDims; i-- > 0;)
      equation.result += ellipsisLabel(i);
  equation.result += after.str();
  for (char c : equation.result)
    if (!StringRef(all).contains(c)) {
      n.error("equation '" + text + "' has a letter in the result that no operand has");
      return false;
    }
  return true;
}

/// A letter that a term has twice is a diagonal.
static void takeDiagonals(NodeImport &n, Term &term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    size_t again = term.labels.find(term.labels[i], i + 1);
    if (again == std::string::npos)
      continue;
    int64_t rank = term.labels.size();
    SmallVector<int64_t> permutation;
    std::string labels;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != int64_t(i) && dim != int64_t(again)) {
        permutation.push_back(dim);
        labels += term.labels[dim];
      }
    permutation.append({int64_t(i), int64_t(again)});
    labels += term.labels[i];
    term.value = n.make<DiagonalOp>(n.transpose(term.value, permutation), int64_t(0));
    term.labels = labels;
    i = size_t(-1); // from the start again
  }
}

/// Sums over what nothing else needs.
static void sumOver(NodeImport &n, Term &term, StringRef needed) {
  SmallVector<int64_t> axes;
  std::string left;
  for (auto [dim, label] : llvm::enumerate(term.labels)) {
    if (needed.contains(label))
      left += label;
    else
      axes.push_back(dim);
  }
  term.value = n.reduce(ReduceKind::Sum, term.value, axes, /*keepdims=*/false);
  term.labels = left;
}

/// A dim of size 1 that the other term has larger is one to broadcast: it goes.
static void dropOnes(NodeImport &n, Term &term, const Term &other) {
  SmallVector<int64_t> axes;
  std::string left;
  for (auto [dim, label] : llvm::enumerate(term.labels)) {
    size_t place = other.labels.find(label);
    if (place != std::string::npos && n.dimOf(term.value, dim) == 1 &&
        n.dimOf(other.value, place) != 1)
      axes.push_back(dim);
    else
      left += label;
  }
  term.value = n.squeeze(term.value, axes);
  term.labels = left;
}

static Term multiply(NodeImport &n, Term a, Term b, StringRef needed) {
  takeDiagonals(n, a);
  takeDiagonals(n, b);
  dropOnes(n, a, b);
  dropOnes(n, b, a);
  sumOver(n, a, (needed + b.labels).str());
  sumOver(n, b, (needed + a.labels).str());
  SmallVector<int64_t> batchA, batchB, contractA, contractB;
  std::string batch, freeA, freeB;
  for (auto [dim, label] : llvm::enumerate(a.labels)) {
    size_t place = b.labels.find(label);
    if (place == std::string::npos) {
      freeA += label;
    } else if (needed.contains(label)) {
      batchA.push_back(dim);
      batchB.push_back(place);
      batch += label;
    } else {
      contractA.push_back(dim);
      contractB.push_back(place);
    }
  }
  for (char label : b.labels)
    if (a.labels.find(label) == std::string::npos)
      freeB += label;
  Value product = n.makeAs<DotGeneralOp>(
      n.elementOf(a.value), a.value, b.value, ArrayRef<int64_t>(batchA), ArrayRef<int64_t>(batchB),
      ArrayRef<int64_t>(contractA), ArrayRef<int64_t>(contractB), /*allow_tf32=*/false);
  return {product, batch + freeA + freeB};
}

static Results importEinsum(NodeImport &n) {
  Equation equation;
  if (n.getNumInputs() == 0 || !parseEquation(n, equation) || n.hasFailed())
    return n.error("expected inputs");
  Term term{n.input(0), equation.operands[0]};
  for (unsigned index = 1; index < n.getNumInputs(); ++index) {
    std::string needed = equation.result;
    for (const std::string &later : llvm::ArrayRef(equation.operands).drop_front(index + 1))
      needed += later;
    term = multiply(n, term, {n.input(index), equation.operands[index]}, needed);
  }
  takeDiagonals(n, term);
  sumOver(n, term, equation.result);
  SmallVector<int64_t> permutation;
  for (char label : equation.result) {
    size_t place = term.labels.find(label);
    if (place == std::string::npos || llvm::count(equation.result, label) != 1)
      return n.error("the result of the equation has a letter twice");
    permutation.push_back(place);
  }
  return {n.transpose(term.value, permutation)};
}

llvm::ArrayRef<OpEntry> getContractionOps() {
  static constexpr OpEntry kOps[] = {
      {"Einsum", 1, importEinsum},
      {"Gemm", 7, importGemm},
      {"MatMul", 1, importMatMul},
  };
  return kOps;
}

} // namespace xc::onnx
