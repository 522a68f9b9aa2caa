//===- OpTable.cpp - Which ONNX ops there are importers for ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"
#include "compiler/Input/ONNX/Sequences.h"

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
          getRegionOps,      getFlexAttentionOps, getSequenceOps})
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

} // namespace xc::onnx
