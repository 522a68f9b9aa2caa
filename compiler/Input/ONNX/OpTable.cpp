//===- OpTable.cpp - Which ONNX ops there are importers for ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"
#include "compiler/Input/ONNX/Sequences.h"

#include "llvm/ADT/StringSwitch.h"

#include <map>

namespace xc::onnx {

/// By domain and op, the importers by the version that they are for.
using Versions = std::map<int64_t, Importer>;

static const llvm::StringMap<Versions> &getTable() {
  static const llvm::StringMap<Versions> table = [] {
    llvm::StringMap<Versions> result;
    for (auto *family :
         {getElementwiseOps, getShapeOps,         getMovementOps,  getReductionOps,
          getContractionOps, getWindowOps,        getNormOps,      getIndexOps,
          getResizeOps,      getControlOps,       getRecurrentOps, getLinearAttentionOps,
          getQuantizedOps,   getMicrosoftOps,     getSignalOps,    getSamplingOps,
          getLossOps,        getRandomOps,        getTrainingOps,  getLinearAlgebraOps,
          getRegionOps,      getFlexAttentionOps, getSequenceOps,  getTreeOps})
      for (const OpEntry &entry : family())
        result[(entry.domain + "." + entry.op).str()][entry.since] = entry.importer;
    return result;
  }();
  return table;
}

Importer findImporter(llvm::StringRef domain, llvm::StringRef op, int64_t version, int64_t &since) {
  const llvm::StringMap<Versions> &table = getTable();
  auto it = table.find((domain + "." + op).str());
  since = 0;
  if (it == table.end())
    return nullptr;
  since = it->second.begin()->first;
  auto newer = it->second.upper_bound(version);
  return newer == it->second.begin() ? nullptr : std::prev(newer)->second;
}

llvm::StringRef whyNoImporter(llvm::StringRef domain, llvm::StringRef op) {
  if (!domain.empty())
    return "there are no array ops for it";
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Cases({"NonMaxSuppression", "NonZero", "Unique"},
             "how many elements it gives depends on data")
      .Case("ImageDecoder", "it reads a file, which is left to the program that has the file")
      .Cases({"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"},
             "it works on strings, and there are no arrays of them")
      .Default("there are no array ops for it");
}

} // namespace xc::onnx
